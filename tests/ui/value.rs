//! `Value` is an unsafe trait: arrays of words and device code rely on the layout that it states.

#[derive(Clone, Copy, Debug, PartialEq)]
struct Mine(f64);

//~ the trait `Value` requires an `unsafe impl` declaration
impl sparring::algebra::Value for Mine {
    const TYPE: sparring::algebra::Type = sparring::algebra::Type::F32;
    type Word = sparring::algebra::WordOf<8, 1>;
}

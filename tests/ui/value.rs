//! That a type is a value is a promise: arrays of words, and device code, are taken for what it says.

#[derive(Clone, Copy, Debug, PartialEq)]
struct Mine(f64);

//~ the trait `Value` requires an `unsafe impl` declaration
impl sparring::algebra::Value for Mine {
    const TYPE: sparring::algebra::Type = sparring::algebra::Type::F32;
    type Word = sparring::algebra::WordOf<8, 1>;
}

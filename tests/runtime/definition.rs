//! Products and folds computed from their formulas, value by value.

use sparring::algebra::{Array, Blocks, Formula, Input, Slice, Type};
use sparring::num_complex::Complex;
use sparring::runtime::{Matrix, Monoid, Scalar, Semiring};

/// Room for one value.
fn room(ty: Type) -> Array {
    macro_rules! room {
        ($($variant:ident $zero:expr;)*) => {
            match ty {
                $(Type::$variant => Array::of(vec![$zero]),)*
                Type::Struct(_) => panic!("no struct"),
            }
        };
    }
    room! {
        Bool false; I8 0i8; I16 0i16; I32 0i32; I64 0i64; U8 0u8; U16 0u16; U32 0u32; U64 0u64; F32 0f32; F64 0f64;
        ComplexF32 Complex::<f32>::default(); ComplexF64 Complex::<f64>::default();
    }
}

/// The single value.
fn only(x: Slice<'_>) -> Scalar {
    macro_rules! only {
        ($($variant:ident $t:ty;)*) => {
            match x.ty() {
                $(Type::$variant => Scalar::from(x.get::<$t>().unwrap()[0]),)*
                Type::Struct(_) => panic!("no struct"),
            }
        };
    }
    only! {
        Bool bool; I8 i8; I16 i16; I32 i32; I64 i64; U8 u8; U16 u16; U32 u32; U64 u64; F32 f32; F64 f64;
        ComplexF32 Complex<f32>; ComplexF64 Complex<f64>;
    }
}

/// A formula applied to single values.
pub(crate) struct Plain(Blocks, Type);
impl Plain {
    pub(crate) fn new(f: &Formula) -> Self {
        Self(Blocks::new(f).unwrap(), f.ty())
    }
    pub(crate) fn of(&self, inputs: &[Slice<'_>]) -> Array {
        let mut out = room(self.1);
        let inputs: Vec<_> = inputs.iter().map(|x| Input::Scalar(*x)).collect();
        self.0.run(&inputs, &mut self.0.scratch().unwrap(), &mut out.slice_mut()).unwrap();
        out
    }
}

/// The entry (i, j) of A ⊕.⊗ B, or of A ⊕.⊗ x if B has one column, if it exists.
pub(crate) fn entry(
    ring: &Semiring,
    (add, mul): (&Plain, &Plain),
    (i, j): (usize, usize),
    a: &Matrix,
    b: &Matrix,
) -> Option<Array> {
    let (pa, pb) = (a.pattern().unwrap(), b.pattern().unwrap());
    let mut sum: Option<Array> = None;
    for (p, &k) in (pa.row_ptr()[i]..).zip(pa.row(i)) {
        let Some(q) = pb.row(k as usize).iter().position(|&column| column as usize == j) else { continue };
        let q = pb.row_ptr()[k as usize] + q;
        let place = [i as u64, u64::from(k), j as u64];
        let [i, k, j] = [0, 1, 2].map(|at| Slice::of(&place[at..=at]));
        let z = mul.of(&[a.values().unwrap().part(p..p + 1), b.values().unwrap().part(q..q + 1), i, k, j]);
        let before = sum.as_ref().map_or(ring.formula().add().identity().slice(), Array::slice);
        sum = Some(add.of(&[before, z.slice()]));
    }
    sum
}

/// e ⊕ (e ⊕ x(0) ⊕ x(1) ⊕ …), one value after the other; e for an empty fold.
pub(crate) fn fold(monoid: &Monoid, values: Slice<'_>) -> Scalar {
    let plain = Plain::new(monoid.formula().op());
    let identity = || monoid.formula().identity().slice();
    if values.is_empty() {
        return only(identity());
    }
    let mut sum = plain.of(&[identity(), values.part(0..1)]);
    for p in 1..values.len() {
        sum = plain.of(&[sum.slice(), values.part(p..p + 1)]);
    }
    only(plain.of(&[identity(), sum.slice()]).slice())
}

//! The loops of [`blocks`](super::blocks): one per function and types, with variants for scalar operands.

use num_traits::Float;

use super::{Function, Input};
use crate::algebra::{Bits, Num, Number, Real, Slice, SliceMut, Type, Value, for_each_type};

/// An operand of a step: a scalar, or at most a block of values.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a> {
    Scalar(Slice<'a>),
    Values(Slice<'a>),
}

impl<'a> Operand<'a> {
    /// The values; a single one for a scalar.
    #[inline(always)]
    pub(super) fn slice(&self) -> Slice<'a> {
        match self {
            Operand::Scalar(s) | Operand::Values(s) => *s,
        }
    }
    /// The values as `T`; the type was checked when the step was created.
    #[inline(always)]
    pub(super) fn get<T: Value>(&self) -> &'a [T] {
        let values = self.slice().get();
        debug_assert!(values.is_some(), "{} for {}", self.slice().ty(), T::TYPE);
        values.unwrap_or_default()
    }
    #[inline(always)]
    fn is_scalar(&self) -> bool {
        matches!(self, Operand::Scalar(_))
    }
}

impl<'a> From<Operand<'a>> for Input<'a> {
    #[inline(always)]
    fn from(x: Operand<'a>) -> Self {
        match x {
            Operand::Scalar(s) => Self::Scalar(s),
            Operand::Values(s) => Self::Values(s),
        }
    }
}

/// A loop over a block.
pub(super) type Kernel = fn(&[Operand<'_>], &mut SliceMut<'_>);

#[inline(always)]
fn out<'a, U: Value>(out: &'a mut SliceMut<'_>) -> &'a mut [U] {
    debug_assert!(out.ty() == U::TYPE);
    out.get().unwrap_or_default()
}

#[inline(always)]
fn unary<T: Value, U: Value>(x: &[Operand<'_>], to: &mut SliceMut<'_>, f: impl Fn(T) -> U) {
    out(to).iter_mut().zip(x[0].get()).for_each(|(o, &a)| *o = f(a));
}

/// Three loops: vector–vector, scalar–vector, vector–scalar.
#[inline(always)]
fn binary<T: Value, U: Value>(x: &[Operand<'_>], to: &mut SliceMut<'_>, f: impl Fn(T, T) -> U) {
    let (o, a, b) = (out(to), x[0].get::<T>(), x[1].get::<T>());
    match (x[0].is_scalar(), x[1].is_scalar(), a, b) {
        (true, _, &[a, ..], b) => o.iter_mut().zip(b).for_each(|(o, &b)| *o = f(a, b)),
        (_, true, a, &[b, ..]) => o.iter_mut().zip(a).for_each(|(o, &a)| *o = f(a, b)),
        (_, _, a, b) => o.iter_mut().zip(a.iter().zip(b)).for_each(|(o, (&a, &b))| *o = f(a, b)),
    }
}

/// One loop, for functions that are more expensive than the test for scalar operands.
#[inline(always)]
fn slow<T: Value, const N: usize>(x: &[Operand<'_>], to: &mut SliceMut<'_>, f: impl Fn([T; N]) -> T) {
    let values: [&[T]; N] = std::array::from_fn(|i| x[i].get::<T>());
    let step: [usize; N] = std::array::from_fn(|i| usize::from(!x[i].is_scalar()));
    for (at, o) in out(to).iter_mut().enumerate() {
        *o = f(std::array::from_fn(|i| values[i][at * step[i]]));
    }
}

/// `pick` of a condition and two values of at most 16 bytes.
#[inline(always)]
fn select<T: Value>(x: &[Operand<'_>], to: &mut SliceMut<'_>, pick: impl Fn(bool, T, T) -> T) {
    let (o, c, a, b) = (out::<T>(to), x[0].get::<bool>(), x[1].get::<T>(), x[2].get::<T>());
    // A scalar condition selects one side; the step is not scalar if the sides are vectors.
    if let (true, &[c, ..]) = (x[0].is_scalar(), c) {
        return to.copy_from(&x[if c { 1 } else { 2 }].slice());
    }
    match (x[1].is_scalar(), x[2].is_scalar(), a, b) {
        (true, true, &[a, ..], &[b, ..]) => o.iter_mut().zip(c).for_each(|(o, &c)| *o = pick(c, a, b)),
        (true, _, &[a, ..], b) => o.iter_mut().zip(c.iter().zip(b)).for_each(|(o, (&c, &b))| *o = pick(c, a, b)),
        (_, true, a, &[b, ..]) => o.iter_mut().zip(c.iter().zip(a)).for_each(|(o, (&c, &a))| *o = pick(c, a, b)),
        (_, _, a, b) => {
            o.iter_mut().zip(c.iter().zip(a.iter().zip(b))).for_each(|(o, (&c, (&a, &b)))| *o = pick(c, a, b));
        }
    }
}

/// Branch-free selection: the bits of the first if the condition holds, otherwise those of the second.
macro_rules! masked {
    ($c:expr, $a:expr, $b:expr, $t:ident) => {
        $b ^ (($a ^ $b) & $t::from($c).wrapping_neg())
    };
}

/// Runs `$then` with the type of `$ty`, if it is one of the listed types.
macro_rules! with {
    ($ty:expr, $T:ident, $then:expr, $($variant:ident $t:ty),*) => {
        match $ty {
            $(Type::$variant => { type $T = $t; Some($then) })*
            _ => None,
        }
    };
}
macro_rules! reals {
    ($ty:expr, $T:ident => $then:expr) => {
        for_each_type!(floats, with!($ty, $T, $then,))
    };
}
macro_rules! bits {
    ($ty:expr, $T:ident => $then:expr) => {
        for_each_type!(bits, with!($ty, $T, $then,))
    };
}
macro_rules! ordered {
    ($ty:expr, $T:ident => $then:expr) => {
        for_each_type!(ordered, with!($ty, $T, $then,))
    };
}
macro_rules! numbers {
    ($ty:expr, $T:ident => $then:expr) => {
        for_each_type!(numbers, with!($ty, $T, $then,))
    };
}

/// The loop of a function on operands of these types; `None` for structs, or if the function does not accept them.
pub(super) fn kernel(function: Function, types: &[Type], to: Type) -> Option<Kernel> {
    use Function as F;
    // `Function::result` defines the accepted operands.
    if function != F::Cast && function.result(types) != Some(to) {
        return None;
    }
    let t = *types.last()?;
    let kernel: Option<Kernel> = match function {
        F::Add => numbers!(t, T => |x, o| binary(x, o, <T as Number>::wrapping_add)),
        F::Sub => numbers!(t, T => |x, o| binary(x, o, <T as Number>::wrapping_sub)),
        F::Mul => numbers!(t, T => |x, o| binary(x, o, <T as Number>::wrapping_mul)),
        F::Div => numbers!(t, T => |x, o| binary(x, o, <T as Number>::total_div)),
        F::Neg => numbers!(t, T => |x, o| unary(x, o, <T as Number>::wrapping_neg)),
        F::Eq => numbers!(t, T => |x, o| binary(x, o, |a: T, b: T| a == b)),
        F::Ne => numbers!(t, T => |x, o| binary(x, o, |a: T, b: T| a != b)),
        // An unpredictable branch costs more than the evaluation of both sides.
        F::Select if t == Type::F64 => Some(|x, o| {
            select(x, o, |c, a: f64, b: f64| f64::from_bits(masked!(c, a.to_bits(), b.to_bits(), u64)));
        }),
        F::Select if t == Type::F32 => Some(|x, o| {
            select(x, o, |c, a: f32, b: f32| f32::from_bits(masked!(c, a.to_bits(), b.to_bits(), u32)));
        }),
        F::Select => numbers!(t, T => |x, o| select(x, o, |c, a: T, b: T| if c { a } else { b })),
        F::Min => ordered!(t, T => |x, o| binary(x, o, <T as Num>::minimum)),
        F::Max => ordered!(t, T => |x, o| binary(x, o, <T as Num>::maximum)),
        F::Abs => ordered!(t, T => |x, o| unary(x, o, <T as Num>::wrapping_abs)),
        F::AbsDiff => ordered!(t, T => |x, o| binary(x, o, <T as Num>::abs_diff)),
        F::Lt => ordered!(t, T => |x, o| binary(x, o, |a: T, b: T| PartialOrd::lt(&a, &b))),
        F::Le => ordered!(t, T => |x, o| binary(x, o, |a: T, b: T| PartialOrd::le(&a, &b))),
        F::Cast => return ordered!(t, T => cast::<T>(to)).flatten(),
        F::BitAnd => bits!(t, T => |x, o| binary(x, o, <T as Bits>::bit_and)),
        F::BitOr => bits!(t, T => |x, o| binary(x, o, <T as Bits>::bit_or)),
        F::BitXor => bits!(t, T => |x, o| binary(x, o, <T as Bits>::bit_xor)),
        F::BitNot => bits!(t, T => |x, o| unary(x, o, <T as Bits>::bit_not)),
        F::Sqrt => reals!(t, T => |x, o| unary(x, o, <T as Float>::sqrt)),
        F::Exp => reals!(t, T => |x, o| unary(x, o, <T as Float>::exp)),
        F::Ln => reals!(t, T => |x, o| unary(x, o, <T as Float>::ln)),
        F::Ln1p => reals!(t, T => |x, o| unary(x, o, <T as Float>::ln_1p)),
        F::XLnX => reals!(t, T => |x, o| unary(x, o, <T as Real>::x_ln_x)),
        F::Floor => reals!(t, T => |x, o| unary(x, o, <T as Float>::floor)),
        F::Ceil => reals!(t, T => |x, o| unary(x, o, <T as Float>::ceil)),
        F::Pow => reals!(t, T => |x, o| slow(x, o, |[a, b]: [T; 2]| a.powf(b))),
        F::MulAdd => reals!(t, T => |x, o| slow(x, o, |[a, b, c]: [T; 3]| a.mul_add(b, c))),
        F::Field(_) | F::Make | F::Device(_) => None,
    };
    kernel
}

fn cast<T: Num>(to: Type) -> Option<Kernel> {
    ordered!(to, U => |x, o| unary(x, o, <T as Num>::cast::<U>))
}

//! Built-in unary operators: the GraphBLAS C API 2.1 table, and the usual functions of a real.

use super::{Bits, Num, Number, Real, V, Value};
use crate::op;

op! { /// a.
pub Identity<T: Value> (a) -> T { a } }
op! { /// |a|, wrapping.
pub Abs<T: Num> (a) -> T { a.abs() } }
op! { /// −a, wrapping: the additive inverse.
pub Ainv<T: Number> (a) -> T { -a } }
op! { /// 1 / a, total for integers as division: the multiplicative inverse.
pub Minv<T: Number> (a) -> T { V::lit(T::ONE) / a } }
op! { /// ¬(a ≠ 0): logical inverse.
pub Lnot<T: Number> (a) -> bool { a.eq(V::lit(T::ZERO)) } }
op! { /// Every bit inverted.
pub Bnot<T: Bits> (a) -> T { !a } }
op! { /// 1 for every entry.
pub One<T: Number> (a) -> T { V::lit(T::ONE) } }
op! { /// a² .
pub Square<T: Number> (a) -> T { a * a } }

op! { /// √a.
pub Sqrt<T: Real> (a) -> T { a.sqrt() } }
op! { /// eᵃ.
pub Exp<T: Real> (a) -> T { a.exp() } }
op! { /// ln a.
pub Ln<T: Real> (a) -> T { a.ln() } }
op! { /// ln(1 + a).
pub Ln1p<T: Real> (a) -> T { a.ln_1p() } }
op! { /// Largest integer not above a.
pub Floor<T: Real> (a) -> T { a.floor() } }
op! { /// Smallest integer not below a.
pub Ceil<T: Real> (a) -> T { a.ceil() } }

op! { /// Conversion of numbers: wrapping between integers, saturating from floats, NaN becomes 0; to bool, a ≠ 0.
///
/// ```
/// use sparring::algebra::{Cast, Host, UnaryOp, V};
/// assert_eq!(Cast::<f64, u8>::new().apply::<Host>(V(-1.5)).0, 0);
/// assert_eq!(Cast::<i32, u8>::new().apply::<Host>(V(-1)).0, 255);
/// ```
pub Cast<T: Num, U: Num> (a: T) -> U { a.cast() } }

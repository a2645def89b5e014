//! Built-in binary operators: the GraphBLAS C API 2.1 table, and those for NAMMs and logarithms.
//!
//! Operators that are monoids are defined beside [`Monoid`](super::Monoid).

use std::marker::PhantomData;

use super::{Arith, BinaryOp, Bits, Num, Number, Parameterless, Real, V, Value};
use crate::op;

op! { /// a − b, wrapping (GraphBLAS `MINUS`).
pub Minus<T: Number> (a, b) -> T { a - b } }
op! { /// b − a, wrapping.
pub ReverseMinus<T: Number> (a, b) -> T { b - a } }
op! { /// a / b; total for integers: x/0 is 0, or the largest or smallest value by the sign of x (GraphBLAS `DIV`).
pub Div<T: Number> (a, b) -> T { a / b } }
op! { /// b / a, as [`Div`].
pub ReverseDiv<T: Number> (a, b) -> T { b / a } }
op! { /// aᵇ.
pub Pow<T: Real> (a, b) -> T { a.powf(b) } }

op! { /// |a − b|, right for unsigned integers too.
pub AbsDiff<T: Num> (a, b) -> T { a.abs_diff(b) } }
op! { /// (a − b)².
pub SquaredDiff<T: Num> (a, b) -> T { let d = a.abs_diff(b); d * d } }
op! { /// 1 where a ≠ b, else 0.
pub Mismatch<T: Number> (a, b) -> T { a.ne(b).select(V::lit(T::ONE), V::lit(T::ZERO)) } }

op! { /// a = b (GraphBLAS `EQ`).
pub Equal<T: Value> (a, b) -> bool { a.eq(b) } }
op! { /// a ≠ b (GraphBLAS `NE`).
pub NotEqual<T: Value> (a, b) -> bool { a.ne(b) } }
op! { /// a > b (GraphBLAS `GT`).
pub Greater<T: Num> (a, b) -> bool { b.lt(a) } }
op! { /// a < b (GraphBLAS `LT`).
pub Less<T: Num> (a, b) -> bool { a.lt(b) } }
op! { /// a ≥ b (GraphBLAS `GE`).
pub GreaterEqual<T: Num> (a, b) -> bool { b.le(a) } }
op! { /// a ≤ b (GraphBLAS `LE`).
pub LessEqual<T: Num> (a, b) -> bool { a.le(b) } }

op! { /// a ∧ ¬b, bit by bit: the difference of two sets.
pub AndNot<T: Bits> (a, b) -> T { a & !b } }

/// Operators that return one operand, or ignore both. By default both operands have the type of the result; the other
/// parameters allow an unread operand of another type.
macro_rules! keeps {
    ($($(#[$m:meta])* $name:ident<$t:ident: $bound:ident, $($p:ident),+> ($a:ident: $ta:ident, $b:ident: $tb:ident) [$($own:ident)+] { $body:expr })*) => {$(
        $(#[$m])*
        #[derive(Debug, PartialEq)]
        pub struct $name<$t, $($p = $t),+>(PhantomData<($t, $($p),+)>);
        impl<$t, $($p),+> Clone for $name<$t, $($p),+> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$t, $($p),+> Copy for $name<$t, $($p),+> {}
        impl<$t, $($p),+> Default for $name<$t, $($p),+> {
            #[inline(always)]
            fn default() -> Self {
                Self(PhantomData)
            }
        }
        impl<$t: $bound> $name<$($own),+> {
            /// The operator on operands of one type; `default()` gives it for any types.
            #[must_use]
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }
        impl<$t: $bound, $($p: Value),+> Parameterless for $name<$t, $($p),+> {
            const NEW: Self = Self(PhantomData);
        }
        impl<$t: $bound, $($p: Value),+> BinaryOp for $name<$t, $($p),+> {
            type A = $ta;
            type B = $tb;
            type Out = $t;
            #[inline(always)]
            #[allow(unused_variables)]
            fn apply<M: Arith>(self, $a: V<M, $ta>, $b: V<M, $tb>) -> V<M, $t> {
                $body
            }
        }
    )*};
}
keeps! {
    /// a (GraphBLAS `FIRST`).
    First<T: Value, B> (a: T, b: B) [T T] { a }
    /// b (GraphBLAS `SECOND`). `Second<f64, bool>` weights a pattern by the entries of B.
    Second<T: Value, A> (a: A, b: T) [T T] { b }
    /// 1 wherever both have an entry (GraphBLAS `ONEB`, also called pair).
    Pair<T: Number, A, B> (a: A, b: B) [T T T] { V::lit(T::ONE) }
}

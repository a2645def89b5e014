//! A semiring on one type as plain functions: what fused loops call.

use super::{BinaryOp, Host, Monoid, Ring, Semiring, V, Value};

/// A semiring whose ⊕ and ⊗ are operators on one type: every [`Ring`] of two such operators is one.
pub trait Arithmetic<T>: Semiring {
    /// Identity of ⊕.
    const ZERO: T;
    /// a ⊕ b.
    fn plus(self, a: T, b: T) -> T;
    /// a ⊗ b.
    fn times(self, a: T, b: T) -> T;
}

impl<T: Value, P: Monoid<Out = T>, X: BinaryOp<A = T, B = T, Out = T>> Arithmetic<T> for Ring<P, X> {
    const ZERO: T = P::IDENTITY;
    #[inline(always)]
    fn plus(self, a: T, b: T) -> T {
        self.0.apply::<Host>(V(a), V(b)).0
    }
    #[inline(always)]
    fn times(self, a: T, b: T) -> T {
        self.1.apply::<Host>(V(a), V(b)).0
    }
}

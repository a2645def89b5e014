//! A semiring on one type as plain functions, for fused loops.

use super::{Arith, BinaryOp, Host, Monoid, Ring, Semiring, V, Value};

/// A semiring whose ⊕ and ⊗ are operators on one type; implemented for every [`Ring`] of two such operators.
pub trait Arithmetic<T: Value>: Semiring {
    /// Identity of ⊕.
    const ZERO: T;
    /// a ⊕ b.
    fn plus(self, a: T, b: T) -> T;
    /// a ⊗ b.
    fn times(self, a: T, b: T) -> T;
    /// `sum` ⊕ (a ⊗ b) in any interpreter, as [`Monoid::fold`].
    fn fold_on<M: Arith>(self, sum: V<M, T>, a: V<M, T>, b: V<M, T>) -> V<M, T>;
    /// `sum` ⊕ (a ⊗ b); rounded once if ⊕ is + and ⊗ is × of floats.
    #[inline(always)]
    fn fold(self, sum: T, a: T, b: T) -> T {
        self.fold_on::<Host>(V(sum), V(a), V(b)).0
    }
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
    #[inline(always)]
    fn fold_on<M: Arith>(self, sum: V<M, T>, a: V<M, T>, b: V<M, T>) -> V<M, T> {
        self.0.fold(self.1, a, b, sum)
    }
}

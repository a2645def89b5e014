//! The algebraic laws as functions, for checks of built-in and custom operators.
//!
//! Each returns whether a law holds for the given values on the [`Host`]. The caller supplies the equality: [`exact`]
//! for operators that compare or wrap, [`within`] for rounded floats.
//! ```
//! use sparring::algebra::{Plus, laws};
//! sparring::op! { /// The mean, which is no monoid.
//! Mean<T: sparring::algebra::Real> (a, b) -> T {
//!         (a + b) / sparring::algebra::V::lit(T::from_f64(2.0))
//!     } identity T::ZERO }
//! assert!(laws::associative(Plus::<i8>::new(), [100, 100, -100], laws::exact));
//! assert!(!laws::identity(Mean::<f64>::new(), 1.0, laws::exact));
//! ```

use super::{At, BinaryOp, Contract, Host, Lhs, Monoid, MulOp, Namm, Num, Number, Out, Rhs, V, Value};

/// Equality, with NaN equal to NaN.
#[allow(clippy::eq_op)]
pub fn exact<T: Value>(x: T, y: T) -> bool {
    x == y || (x != x && y != y)
}

/// Equality up to `tolerance · max(|x|, |y|, scale)`; `scale` is the magnitude of the summands, for sums with
/// cancellation.
pub fn within<T: Num>(tolerance: f64, scale: f64) -> impl Fn(T, T) -> bool + Copy {
    move |x, y| {
        let (a, b) = (x.as_f64(), y.as_f64());
        exact(x, y) || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(scale)
    }
}

/// x ∘ y on the host.
#[inline]
pub fn apply<O: BinaryOp>(op: O, x: O::A, y: O::B) -> O::Out {
    op.apply::<Host>(V(x), V(y)).0
}

/// a ⊗ b on the host, at indices (0, 0, 0).
#[inline]
pub fn multiply<O: MulOp>(op: O, a: O::A, b: O::B) -> O::Out {
    op.mul::<Host>(V(a), V(b), At { i: V(0), k: V(0), j: V(0) }).0
}

/// e ⊕ x = x; folds that start at the identity rely on it.
pub fn left_identity<P: Monoid>(op: P, x: P::Out, same: impl Fn(P::Out, P::Out) -> bool) -> bool {
    same(apply(op, P::IDENTITY, x), x)
}

/// e ⊕ x = x = x ⊕ e.
pub fn identity<P: Monoid>(op: P, x: P::Out, same: impl Fn(P::Out, P::Out) -> bool) -> bool {
    left_identity(op, x, &same) && same(apply(op, x, P::IDENTITY), x)
}

/// (x ⊕ y) ⊕ z = x ⊕ (y ⊕ z).
pub fn associative<P: Monoid>(op: P, [x, y, z]: [P::Out; 3], same: impl Fn(P::Out, P::Out) -> bool) -> bool {
    same(apply(op, apply(op, x, y), z), apply(op, x, apply(op, y, z)))
}

/// x ⊕ y = y ⊕ x.
pub fn commutative<P: Monoid>(op: P, [x, y]: [P::Out; 2], same: impl Fn(P::Out, P::Out) -> bool) -> bool {
    same(apply(op, x, y), apply(op, y, x))
}

/// t ⊕ x = t = x ⊕ t, if the monoid has a terminal value t.
pub fn terminal<P: Monoid>(op: P, x: P::Out) -> bool {
    P::TERMINAL.is_none_or(|t| exact(apply(op, t, x), t) && exact(apply(op, x, t), t))
}

/// x ⊕ y = y, if the monoid declares it (`IS_LAST`).
pub fn last<P: Monoid>(op: P, [x, y]: [P::Out; 2]) -> bool {
    !P::IS_LAST || exact(apply(op, x, y), y)
}

/// a ⊗ (b ⊕ c) = (a ⊗ b) ⊕ (a ⊗ c).
pub fn left_distributive<R: Contract>(
    ring: R,
    a: Lhs<R>,
    [b, c]: [Out<R>; 2],
    same: impl Fn(Out<R>, Out<R>) -> bool,
) -> bool
where
    R::Mul: MulOp<B = Out<R>>,
{
    let (add, mul) = (ring.add(), ring.mul());
    same(multiply(mul, a, apply(add, b, c)), apply(add, multiply(mul, a, b), multiply(mul, a, c)))
}

/// (a ⊕ b) ⊗ c = (a ⊗ c) ⊕ (b ⊗ c).
pub fn right_distributive<R: Contract>(
    ring: R,
    [a, b]: [Out<R>; 2],
    c: Rhs<R>,
    same: impl Fn(Out<R>, Out<R>) -> bool,
) -> bool
where
    R::Mul: MulOp<A = Out<R>>,
{
    let (add, mul) = (ring.add(), ring.mul());
    same(multiply(mul, apply(add, a, b), c), apply(add, multiply(mul, a, c), multiply(mul, b, c)))
}

/// e ⊗ x = e, with e the identity of ⊕.
pub fn left_annihilates<R: Contract>(ring: R, x: Rhs<R>) -> bool
where
    R::Mul: MulOp<A = Out<R>>,
{
    let e = <R::Add as Monoid>::IDENTITY;
    exact(multiply(ring.mul(), e, x), e)
}

/// x ⊗ e = e, with e the identity of ⊕.
pub fn right_annihilates<R: Contract>(ring: R, x: Lhs<R>) -> bool
where
    R::Mul: MulOp<B = Out<R>>,
{
    let e = <R::Add as Monoid>::IDENTITY;
    exact(multiply(ring.mul(), x, e), e)
}

/// 0 ⊗ 0 = e, with e the identity of ⊕: indices at which neither operand has an entry contribute nothing.
pub fn union<N: Namm>(namm: N) -> bool
where
    Lhs<N>: Number,
    Rhs<N>: Number,
{
    exact(multiply(namm.mul(), Lhs::<N>::ZERO, Rhs::<N>::ZERO), <N::Add as Monoid>::IDENTITY)
}

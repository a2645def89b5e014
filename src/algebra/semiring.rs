//! Semirings and NAMMs: pairs (⊕, ⊗) as types. A new one takes an alias here and a line in `builtin.rs`.

use super::{
    AbsDiff, Any, Band, BinaryOp, Bor, Bxnor, Bxor, First, FirstI, FirstI1, Land, LogAddExp, Lor, Lxnor, Lxor, Max,
    MaxFromZero, Min, Mismatch, Monoid, MulOp, Pair, Parameterless, Plus, Second, SecondI, SecondI1, SecondJ, SecondJ1,
    SquaredDiff, Times,
};

/// A pair (⊕, ⊗).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pair of ⊕ and ⊗",
    label = "expected a semiring or a NAMM",
    note = "a semiring is `Ring(⊕, ⊗)`, a NAMM `Union(⊕, ⊗)`: ⊕ is a monoid of the type that ⊗ gives; both are operators, not closures: \
            `sparring::op!` writes one"
)]
pub trait Contract: Copy + Send + Sync + 'static {
    /// ⊕.
    type Add: Monoid;
    /// ⊗.
    type Mul: MulOp<Out = <Self::Add as BinaryOp>::Out>;
    /// ⊕.
    fn add(&self) -> Self::Add;
    /// ⊗.
    fn mul(&self) -> Self::Mul;
}

/// Type of the entries of A.
pub type Lhs<R> = <<R as Contract>::Mul as MulOp>::A;
/// Type of the entries of B.
pub type Rhs<R> = <<R as Contract>::Mul as MulOp>::B;
/// Type of the entries of the result.
pub type Out<R> = <<R as Contract>::Mul as MulOp>::Out;

/// A pair whose ⊗ is evaluated on the intersection of the operands' patterns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a semiring",
    label = "expected a semiring, `Ring(⊕, ⊗)`",
    note = "⊕ is a monoid of the type that ⊗ gives, such as `PlusTimes::<f64>::new()` or `Ring(Min::<f64>::new(), Name::new())`; both are \
            operators, not closures: `sparring::op!` writes one. A NAMM, `Union(⊕, ⊗)`, is for operations on the union of two patterns"
)]
pub trait Semiring: Contract {}
/// A pair with a non-annihilating ⊗ (a NAMM), evaluated on the union of the operands' patterns.
///
/// A NAMM is not a semiring, and a semiring kernel rejects it at compile time:
/// ```compile_fail
/// use sparring::algebra::{AbsDiff, Plus, Semiring, Union};
/// fn product<R: Semiring>(_: R) {}
/// product(Union(Plus::<f64>::new(), AbsDiff::<f64>::new()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a NAMM",
    label = "expected a NAMM, `Union(⊕, ⊗)`",
    note = "⊗ of a NAMM is visited where either operand has an entry, such as in `Manhattan::<f64>::new()`; a semiring, `Ring(⊕, ⊗)`, is for \
            products of matrices"
)]
pub trait Namm: Contract {}

/// The semiring (⊕, ⊗).
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Ring<Add, Mul>(pub Add, pub Mul);
/// The NAMM (⊕, ⊗): ⊗(0, 0) is the identity of ⊕.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Union<Add, Mul>(pub Add, pub Mul);

macro_rules! contract {
    ($kind:ident $role:ident) => {
        impl<P, X> $kind<P, X> {
            /// The pair of two operators that have no parameters.
            /// ```
            /// use sparring::algebra::{Manhattan, PlusTimes};
            /// const RING: PlusTimes<f64> = PlusTimes::new();
            /// let namm = Manhattan::<f64>::new();
            /// ```
            #[must_use]
            pub const fn new() -> Self
            where
                P: Parameterless,
                X: Parameterless,
            {
                Self(P::NEW, X::NEW)
            }
        }
        impl<P: Monoid, X: MulOp<Out = P::Out>> Contract for $kind<P, X> {
            type Add = P;
            type Mul = X;
            #[inline(always)]
            fn add(&self) -> P {
                self.0
            }
            #[inline(always)]
            fn mul(&self) -> X {
                self.1
            }
        }
        impl<P: Monoid, X: MulOp<Out = P::Out>> $role for $kind<P, X> {}
    };
}
contract!(Ring Semiring);
contract!(Union Namm);

// The GraphBLAS C API 2.1 predefines the first twelve on ten number types, and the four on bool.

/// Plus-times: ordinary linear algebra.
pub type PlusTimes<T> = Ring<Plus<T>, Times<T>>;
/// Min-plus, the tropical semiring: shortest paths.
pub type MinPlus<T> = Ring<Min<T>, Plus<T>>;
/// Max-plus: longest paths, schedules.
pub type MaxPlus<T> = Ring<Max<T>, Plus<T>>;
/// Min-times: the least probable path.
pub type MinTimes<T> = Ring<Min<T>, Times<T>>;
/// Max-times: the most probable path.
pub type MaxTimes<T> = Ring<Max<T>, Times<T>>;
/// Min-max: the path whose largest step is least.
pub type MinMax<T> = Ring<Min<T>, Max<T>>;
/// Max-min: the widest path.
pub type MaxMin<T> = Ring<Max<T>, Min<T>>;
/// Plus-min: size of the intersection of two multisets.
pub type PlusMin<T> = Ring<Plus<T>, Min<T>>;
/// Min-first: the minimum of A's values over common indices.
pub type MinFirst<T> = Ring<Min<T>, First<T>>;
/// Min-second: the minimum of B's values over common indices.
pub type MinSecond<T> = Ring<Min<T>, Second<T>>;
/// Max-first: the maximum of A's values over common indices.
pub type MaxFirst<T> = Ring<Max<T>, First<T>>;
/// Max-second: the maximum of B's values over common indices.
pub type MaxSecond<T> = Ring<Max<T>, Second<T>>;

/// Or-and: reachability. Entries of any number type count as true where they are not 0.
pub type LorLand<T = bool> = Ring<Lor<bool>, Land<T>>;
/// And-or, the dual of [`LorLand`].
pub type LandLor<T = bool> = Ring<Land<bool>, Lor<T>>;
/// Exclusive or-and: arithmetic modulo 2.
pub type LxorLand<T = bool> = Ring<Lxor<bool>, Land<T>>;
/// Equality-or, the dual of [`LxorLand`].
pub type LxnorLor<T = bool> = Ring<Lxnor<bool>, Lor<T>>;

/// Plus-first: the sum of A's values over common indices.
pub type PlusFirst<T> = Ring<Plus<T>, First<T>>;
/// Plus-second: the sum of B's values over common indices.
pub type PlusSecond<T> = Ring<Plus<T>, Second<T>>;
/// Plus-pair: the number of common indices.
pub type PlusPair<T> = Ring<Plus<T>, Pair<T>>;
/// Any-pair: the pattern of the product.
pub type AnyPair<T> = Ring<Any<T>, Pair<T>>;
/// Any-first: one of A's values.
pub type AnyFirst<T> = Ring<Any<T>, First<T>>;
/// Any-second: one of B's values.
pub type AnySecond<T> = Ring<Any<T>, Second<T>>;

/// The log semiring: plus-times on logarithms, (ln(eᵃ + eᵇ), a + b, −∞).
pub type LogPlus<T> = Ring<LogAddExp<T>, Plus<T>>;

/// Bitwise or-and: one boolean problem per bit of the integer.
pub type BorBand<T> = Ring<Bor<T>, Band<T>>;
/// Bitwise and-or.
pub type BandBor<T> = Ring<Band<T>, Bor<T>>;
/// Bitwise exclusive or-and.
pub type BxorBand<T> = Ring<Bxor<T>, Band<T>>;
/// Bitwise equality-or.
pub type BxnorBor<T> = Ring<Bxnor<T>, Bor<T>>;

/// Row of some participating entry of A.
pub type AnyFirstI<T, X = i64> = Ring<Any<X>, FirstI<T, T, X>>;
/// Some common contraction index: BFS parents.
pub type AnySecondI<T, X = i64> = Ring<Any<X>, SecondI<T, T, X>>;
/// Column of some participating entry of B.
pub type AnySecondJ<T, X = i64> = Ring<Any<X>, SecondJ<T, T, X>>;
/// [`AnyFirstI`] counted from 1.
pub type AnyFirstI1<T, X = i64> = Ring<Any<X>, FirstI1<T, T, X>>;
/// [`AnySecondI`] counted from 1.
pub type AnySecondI1<T, X = i64> = Ring<Any<X>, SecondI1<T, T, X>>;
/// [`AnySecondJ`] counted from 1.
pub type AnySecondJ1<T, X = i64> = Ring<Any<X>, SecondJ1<T, T, X>>;
/// Smallest contraction index: deterministic BFS parents.
pub type MinSecondI<T, X = i64> = Ring<Min<X>, SecondI<T, T, X>>;
/// Largest contraction index.
pub type MaxSecondI<T, X = i64> = Ring<Max<X>, SecondI<T, T, X>>;
/// [`MinSecondI`] counted from 1.
pub type MinSecondI1<T, X = i64> = Ring<Min<X>, SecondI1<T, T, X>>;
/// [`MaxSecondI`] counted from 1.
pub type MaxSecondI1<T, X = i64> = Ring<Max<X>, SecondI1<T, T, X>>;

/// Σ |a − b|.
pub type Manhattan<T> = Union<Plus<T>, AbsDiff<T>>;
/// Σ (a − b)².
pub type SquaredEuclidean<T> = Union<Plus<T>, SquaredDiff<T>>;
/// max |a − b| over [0, ∞) with identity 0, so that two empty rows have distance 0.
pub type Chebyshev<T> = Union<MaxFromZero<T>, AbsDiff<T>>;
/// Number of indices with a ≠ b.
pub type Hamming<T> = Union<Plus<T>, Mismatch<T>>;

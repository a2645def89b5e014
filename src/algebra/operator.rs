//! Operator traits, and the macro `op!`, which defines operators.

use super::{Arith, Number, V, Value};

/// A unary operator z = f(a), defined once for CPU and GPU.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a unary operator",
    label = "expected an operator z = f(a)",
    note = "an operator runs on a CPU and is printed for a GPU, which a closure cannot be: write \
            `sparring::op! {{ Name<T: Num> (a) -> T {{ a * a }} }}` and pass `Name::new()`"
)]
pub trait UnaryOp: Copy + Send + Sync + 'static {
    /// Operand.
    type A: Value;
    /// Result.
    type Out: Value;
    /// The formula.
    fn apply<M: Arith>(self, a: V<M, Self::A>) -> V<M, Self::Out>;
}

/// A binary operator z = a ∘ b, defined once for CPU and GPU.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a binary operator",
    label = "expected an operator z = a ∘ b",
    note = "an operator runs on a CPU and is printed for a GPU, which a closure cannot be: write \
            `sparring::op! {{ Name<T: Num> (a, b) -> T {{ a + 2 * b }} }}` and pass `Name::new()`"
)]
pub trait BinaryOp: Copy + Send + Sync + 'static {
    /// Left operand.
    type A: Value;
    /// Right operand.
    type B: Value;
    /// Result.
    type Out: Value;
    /// The formula.
    fn apply<M: Arith>(self, a: V<M, Self::A>, b: V<M, Self::B>) -> V<M, Self::Out>;
    /// (a ∘ b) + `sum`, a step of a sum of products; rounded once for × of floats, twice for other operators.
    #[inline(always)]
    fn add_to<M: Arith>(self, a: V<M, Self::A>, b: V<M, Self::B>, sum: V<M, Self::Out>) -> V<M, Self::Out>
    where
        Self::Out: Number,
    {
        self.apply(a, b) + sum
    }
}

/// The indices of an entry: row i, column j.
pub struct Place<M: Arith> {
    /// Row.
    pub i: V<M, u64>,
    /// Column; 0 for an entry of a vector.
    pub j: V<M, u64>,
}

/// An index-unary operator z = f(a, i, j, s) of an entry, its indices, and a scalar `s` given by the caller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index-unary operator",
    label = "expected an operator z = f(a, s, i, j)",
    note = "an operator runs on a CPU and is printed for a GPU, which a closure cannot be: write \
            `sparring::op! {{ Name<T: Num> (a, s) at (i, j) -> bool {{ a.gt(s) & i.lt(j) }} }}` and pass `Name::new()`"
)]
pub trait IndexUnaryOp: Copy + Send + Sync + 'static {
    /// Type of the entries.
    type A: Value;
    /// Type of the scalar.
    type S: Value;
    /// Result; `bool` for an operator that selects.
    type Out: Value;
    /// The formula.
    fn apply<M: Arith>(self, a: V<M, Self::A>, s: V<M, Self::S>, at: Place<M>) -> V<M, Self::Out>;
}

/// The indices of a product A(i, k) ⊗ B(k, j), a term of C(i, j).
pub struct At<M: Arith> {
    /// Row of C.
    pub i: V<M, u64>,
    /// Contraction index.
    pub k: V<M, u64>,
    /// Column of C.
    pub j: V<M, u64>,
}

/// A multiplicative operator ⊗: its operands and result may have three types, and it may depend on the indices of the
/// product.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be ⊗ of a semiring",
    label = "expected an operator a ⊗ b",
    note = "an operator runs on a CPU and is printed for a GPU, which a closure cannot be: write \
            `sparring::op! {{ Name<T: Num> (a, b) -> T {{ a + 2 * b }} }}`, or `(a, b) at (i, k, j)` to see where the product \
            happens, and pass `Name::new()`"
)]
pub trait MulOp: Copy + Send + Sync + 'static {
    /// Type of the entries of A.
    type A: Value;
    /// Type of the entries of B.
    type B: Value;
    /// Type of the product.
    type Out: Value;
    /// The formula.
    fn mul<M: Arith>(self, a: V<M, Self::A>, b: V<M, Self::B>, at: At<M>) -> V<M, Self::Out>;
}

/// An operator determined by its type; `op!` without parameters in braces defines one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has parameters, which `new()` does not know",
    label = "no operator without parameters",
    note = "put the semiring together of its operators: `Ring(Plus::new(), Name::new(2.0))`"
)]
pub trait Parameterless: Copy {
    /// The operator.
    const NEW: Self;
}

impl<O: BinaryOp> MulOp for O {
    type A = O::A;
    type B = O::B;
    type Out = O::Out;
    #[inline(always)]
    fn mul<M: Arith>(self, a: V<M, O::A>, b: V<M, O::B>, _: At<M>) -> V<M, O::Out> {
        self.apply(a, b)
    }
}

/// Defines an operator, and a monoid if an identity is given.
///
/// The body is ordinary Rust over [`V`]; the CPU runs it, and the GPU runs CUDA code traced from it. Values do not
/// support `if`: use [`V::select`]. Parameters become literals in the kernel. Number literals are allowed on either
/// side: `0.5 * a` for floats, `a + 1` for any number; [`V::lit`] makes a scalar of any other value. `let` is
/// supported.
///
/// | head | defines |
/// | --- | --- |
/// | `Name<T: Num> (a) -> T` | [`UnaryOp`] |
/// | `Name<T: Num> (a, b) -> T` | [`BinaryOp`]; with `identity e` (and `, terminal t`) also [`Monoid`](crate::algebra::Monoid) |
/// | `Name<T: Num> (a, b) at (i, k, j) -> T` | [`MulOp`] that depends on the indices of the product |
/// | `Name<T: Num> (a, s) at (i, j) -> bool` | [`IndexUnaryOp`] |
///
/// An operand without a type has the type of the first type parameter; `(a: A, b: f64)` gives other types, and then
/// the list `<…>` may have several type parameters, or be omitted. `{ p: T }` after the name adds parameters of
/// the operator itself.
/// ```
/// use sparring::algebra::{BinaryOp, Host, Num, Plus, Real, Ring, UnaryOp, V};
/// sparring::op! {
///     /// |a − b|^p.
///     pub PowDiff<T: Real> { p: T } (a, b) -> T { (a - b).abs().powf(p) }
/// }
/// sparring::op! {
///     /// a + b − ab, the probabilistic or.
///     pub ProbOr<T: Real> (a, b) -> T { a + b - a * b } identity T::ZERO, terminal T::ONE
/// }
/// sparring::op! {
///     /// Half the squared difference.
///     pub HalfSquared<T: Real> (a, b) -> T { let d = a - b; 0.5 * d * d }
/// }
/// sparring::op! {
///     /// a where a > 0, else 0.
///     pub Relu<T: Num> (a) -> T { a.max(V::lit(T::ZERO)) }
/// }
/// sparring::op! {
///     /// b scaled by a count.
///     pub Scale (a: u32, b: f64) -> f64 { a.cast::<f64>() * b }
/// }
/// sparring::op! {
///     /// a · b above the diagonal, else 0.
///     pub Above<T: Num> (a, b) at (i, k, j) -> T { i.lt(j).select(a * b, V::lit(T::ZERO)) }
/// }
/// assert_eq!(PowDiff::new(2.0).apply::<Host>(V(1.0), V(4.0)).0, 9.0);
/// assert_eq!(Relu::<i32>::new().apply::<Host>(V(-3)).0, 0);
/// let ring = Ring(Plus::<f64>::new(), Scale::new());
/// let other = Ring(ProbOr::<f64>::new(), Above::<f64>::new());
/// ```
#[macro_export]
macro_rules! op {
    // One operand.
    ($(#[$m:meta])* $vis:vis $name:ident<$t:ident: $($bound:ident)::+ $(+ $($bounds:ident)::+)*> $({ $($p:ident: $pt:ty),+ })? ($a:ident) -> $out:ty $body:block) => {
        $crate::op! { @struct [$(#[$m])*] [$vis] $name [$t: {$($bound)::+ $(+ $($bounds)::+)*}] [$($($p: $pt),+)?] }
        $crate::op! { @unary $name [$t: {$($bound)::+ $(+ $($bounds)::+)*}] [$($($p: $pt),+)?] ($a: $t) -> $out $body }
    };
    ($(#[$m:meta])* $vis:vis $name:ident $(<$($t:ident: $($bound:ident)::+ $(+ $($bounds:ident)::+)*),+>)? $({ $($p:ident: $pt:ty),+ })? ($a:ident: $ta:ty) -> $out:ty $body:block) => {
        $crate::op! { @struct [$(#[$m])*] [$vis] $name [$($($t: {$($bound)::+ $(+ $($bounds)::+)*}),+)?] [$($($p: $pt),+)?] }
        $crate::op! { @unary $name [$($($t: {$($bound)::+ $(+ $($bounds)::+)*}),+)?] [$($($p: $pt),+)?] ($a: $ta) -> $out $body }
    };
    // Two operands.
    ($(#[$m:meta])* $vis:vis $name:ident<$t:ident: $($bound:ident)::+ $(+ $($bounds:ident)::+)*> $({ $($p:ident: $pt:ty),+ })? ($a:ident, $b:ident) -> $out:ty
        $body:block $(identity $id:expr $(, terminal $term:expr)?)?) => {
        $crate::op! { @struct [$(#[$m])*] [$vis] $name [$t: {$($bound)::+ $(+ $($bounds)::+)*}] [$($($p: $pt),+)?] }
        $crate::op! { @binary $name [$t: {$($bound)::+ $(+ $($bounds)::+)*}] [$($($p: $pt),+)?] ($a: $t, $b: $t) -> $out $body }
        $crate::op! { @monoids $name [$t: {$($bound)::+ $(+ $($bounds)::+)*}] $out, $([$id $(, $term)?])? }
    };
    ($(#[$m:meta])* $vis:vis $name:ident $(<$($t:ident: $($bound:ident)::+ $(+ $($bounds:ident)::+)*),+>)? $({ $($p:ident: $pt:ty),+ })? ($a:ident: $ta:ty, $b:ident: $tb:ty) -> $out:ty
        $body:block $(identity $id:expr $(, terminal $term:expr)?)?) => {
        $crate::op! { @struct [$(#[$m])*] [$vis] $name [$($($t: {$($bound)::+ $(+ $($bounds)::+)*}),+)?] [$($($p: $pt),+)?] }
        $crate::op! { @binary $name [$($($t: {$($bound)::+ $(+ $($bounds)::+)*}),+)?] [$($($p: $pt),+)?] ($a: $ta, $b: $tb) -> $out $body }
        $crate::op! { @monoids $name [$($($t: {$($bound)::+ $(+ $($bounds)::+)*}),+)?] $out, $([$id $(, $term)?])? }
    };
    // Two operands and the indices of the product.
    ($(#[$m:meta])* $vis:vis $name:ident<$t:ident: $($bound:ident)::+ $(+ $($bounds:ident)::+)*> $({ $($p:ident: $pt:ty),+ })? ($a:ident, $b:ident) at ($i:ident, $k:ident, $j:ident) -> $out:ty $body:block) => {
        $crate::op! { @struct [$(#[$m])*] [$vis] $name [$t: {$($bound)::+ $(+ $($bounds)::+)*}] [$($($p: $pt),+)?] }
        $crate::op! { @mul $name [$t: {$($bound)::+ $(+ $($bounds)::+)*}] [$($($p: $pt),+)?] ($a: $t, $b: $t) ($i, $k, $j) -> $out $body }
    };
    ($(#[$m:meta])* $vis:vis $name:ident $(<$($t:ident: $($bound:ident)::+ $(+ $($bounds:ident)::+)*),+>)? $({ $($p:ident: $pt:ty),+ })? ($a:ident: $ta:ty, $b:ident: $tb:ty) at ($i:ident, $k:ident, $j:ident) -> $out:ty $body:block) => {
        $crate::op! { @struct [$(#[$m])*] [$vis] $name [$($($t: {$($bound)::+ $(+ $($bounds)::+)*}),+)?] [$($($p: $pt),+)?] }
        $crate::op! { @mul $name [$($($t: {$($bound)::+ $(+ $($bounds)::+)*}),+)?] [$($($p: $pt),+)?] ($a: $ta, $b: $tb) ($i, $k, $j) -> $out $body }
    };
    // An entry, a scalar and the indices of the entry.
    ($(#[$m:meta])* $vis:vis $name:ident<$t:ident: $($bound:ident)::+ $(+ $($bounds:ident)::+)*> $({ $($p:ident: $pt:ty),+ })? ($a:ident, $s:ident) at ($i:ident, $j:ident) -> $out:ty $body:block) => {
        $crate::op! { @struct [$(#[$m])*] [$vis] $name [$t: {$($bound)::+ $(+ $($bounds)::+)*}] [$($($p: $pt),+)?] }
        $crate::op! { @index $name [$t: {$($bound)::+ $(+ $($bounds)::+)*}] [$($($p: $pt),+)?] ($a: $t, $s: $t) ($i, $j) -> $out $body }
    };
    ($(#[$m:meta])* $vis:vis $name:ident $(<$($t:ident: $($bound:ident)::+ $(+ $($bounds:ident)::+)*),+>)? $({ $($p:ident: $pt:ty),+ })? ($a:ident: $ta:ty, $s:ident: $ts:ty) at ($i:ident, $j:ident) -> $out:ty $body:block) => {
        $crate::op! { @struct [$(#[$m])*] [$vis] $name [$($($t: {$($bound)::+ $(+ $($bounds)::+)*}),+)?] [$($($p: $pt),+)?] }
        $crate::op! { @index $name [$($($t: {$($bound)::+ $(+ $($bounds)::+)*}),+)?] [$($($p: $pt),+)?] ($a: $ta, $s: $ts) ($i, $j) -> $out $body }
    };

    (@struct [$(#[$m:meta])*] [$vis:vis] $name:ident [$($t:ident: {$($bound:tt)+}),*] [$($p:ident: $pt:ty),*]) => {
        $(#[$m])*
        #[derive(Clone, Copy, Default, Debug, PartialEq)]
        $vis struct $name<$($t),*> { $($p: $pt,)* _t: ::std::marker::PhantomData<($($t,)*)> }
        impl<$($t: $($bound)+),*> $name<$($t),*> {
            /// The operator.
            #[must_use]
            $vis const fn new($($p: $pt),*) -> Self { Self { $($p,)* _t: ::std::marker::PhantomData } }
        }
        $crate::op! { @parameters $name [$($t: {$($bound)+}),*] [$($p)*] }
    };
    (@parameters $name:ident [$($t:ident: {$($bound:tt)+}),*] []) => {
        impl<$($t: $($bound)+),*> $crate::algebra::Parameterless for $name<$($t),*> {
            const NEW: Self = Self::new();
        }
    };
    (@parameters $name:ident $g:tt [$($p:ident)+]) => {};
    (@unary $name:ident [$($t:ident: {$($bound:tt)+}),*] [$($p:ident: $pt:ty),*] ($a:ident: $ta:ty) -> $out:ty $body:block) => {
        impl<$($t: $($bound)+),*> $crate::algebra::UnaryOp for $name<$($t),*> {
            type A = $ta;
            type Out = $out;
            #[inline(always)]
            #[allow(unused_variables)]
            fn apply<M: $crate::algebra::Arith>(self, $a: $crate::algebra::V<M, $ta>) -> $crate::algebra::V<M, $out> {
                $(let $p = $crate::algebra::V::<M, $pt>::lit(self.$p);)*
                $body
            }
        }
    };
    (@binary $name:ident [$($t:ident: {$($bound:tt)+}),*] [$($p:ident: $pt:ty),*] ($a:ident: $ta:ty, $b:ident: $tb:ty) -> $out:ty $body:block) => {
        impl<$($t: $($bound)+),*> $crate::algebra::BinaryOp for $name<$($t),*> {
            type A = $ta;
            type B = $tb;
            type Out = $out;
            #[inline(always)]
            #[allow(unused_variables)]
            fn apply<M: $crate::algebra::Arith>(self, $a: $crate::algebra::V<M, $ta>, $b: $crate::algebra::V<M, $tb>) -> $crate::algebra::V<M, $out> {
                $(let $p = $crate::algebra::V::<M, $pt>::lit(self.$p);)*
                $body
            }
        }
    };
    (@mul $name:ident [$($t:ident: {$($bound:tt)+}),*] [$($p:ident: $pt:ty),*] ($a:ident: $ta:ty, $b:ident: $tb:ty) ($i:ident, $k:ident, $j:ident) -> $out:ty $body:block) => {
        impl<$($t: $($bound)+),*> $crate::algebra::MulOp for $name<$($t),*> {
            type A = $ta;
            type B = $tb;
            type Out = $out;
            #[inline(always)]
            #[allow(unused_variables)]
            fn mul<M: $crate::algebra::Arith>(
                self,
                $a: $crate::algebra::V<M, $ta>,
                $b: $crate::algebra::V<M, $tb>,
                at: $crate::algebra::At<M>,
            ) -> $crate::algebra::V<M, $out> {
                $(let $p = $crate::algebra::V::<M, $pt>::lit(self.$p);)*
                let ($i, $k, $j) = (at.i, at.k, at.j);
                $body
            }
        }
    };
    (@index $name:ident [$($t:ident: {$($bound:tt)+}),*] [$($p:ident: $pt:ty),*] ($a:ident: $ta:ty, $s:ident: $ts:ty) ($i:ident, $j:ident) -> $out:ty $body:block) => {
        impl<$($t: $($bound)+),*> $crate::algebra::IndexUnaryOp for $name<$($t),*> {
            type A = $ta;
            type S = $ts;
            type Out = $out;
            #[inline(always)]
            #[allow(unused_variables)]
            fn apply<M: $crate::algebra::Arith>(
                self,
                $a: $crate::algebra::V<M, $ta>,
                $s: $crate::algebra::V<M, $ts>,
                at: $crate::algebra::Place<M>,
            ) -> $crate::algebra::V<M, $out> {
                $(let $p = $crate::algebra::V::<M, $pt>::lit(self.$p);)*
                let ($i, $j) = (at.i, at.j);
                $body
            }
        }
    };
    (@monoids $name:ident $g:tt $out:ty,) => {};
    (@monoids $name:ident $g:tt $out:ty, [$id:expr $(, $term:expr)?]) => {
        $crate::op! { @monoid $name $g $out, $id $(, $term)? }
    };
    (@monoid $name:ident [$($t:ident: {$($bound:tt)+}),*] $out:ty, $id:expr $(, $term:expr)?) => {
        impl<$($t: $($bound)+),*> $crate::algebra::Monoid for $name<$($t),*> {
            const IDENTITY: $out = $id;
            $(const TERMINAL: ::std::option::Option<$out> = ::std::option::Option::Some($term);)?
        }
    };
}

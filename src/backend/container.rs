//! The common interface of matrices and vectors: entries, patterns, masks.

use std::ops::Not;

use super::kernels::Kernels;
use crate::algebra::{BinaryOp, Num, Second, Value};
use crate::sparse::MaskSpec;
use crate::{Index, Result};

/// Matrices or vectors: the primitives that operations and the write of their results require of both.
pub trait Kind<M: Kernels<I>, I: Index>: Sized {
    /// The matrix or vector type with values of type `T`.
    type Of<T: Value>: Container<M, I, Kind = Self, Value = T>;
    /// The pattern type.
    type Pattern: Clone;
    /// Whether an elementwise operation applies its mask to this operand.
    fn masks_operand<T: Value>(m: &M, x: &Self::Of<T>) -> bool;
    /// Rows and columns; (length, 1) for a vector.
    fn shape<T: Value>(m: &M, x: &Self::Of<T>) -> (usize, usize);
    /// Whether both share one storage.
    fn is_same<T: Value>(m: &M, x: &Self::Of<T>, y: &Self::Of<T>) -> bool;
    /// Whether the pattern shares the storage of x's pattern.
    fn is_own<T: Value>(m: &M, x: &Self::Of<T>, pattern: &Self::Pattern) -> bool;
    /// Whether t, whose entries the mask allows, is known to have an entry at every allowed index.
    fn fills<T: Value>(m: &M, t: &Self::Of<T>, mask: MaskSpec<'_, Self::Pattern>) -> bool;
    /// Keeps the entries that the mask allows.
    /// # Errors
    /// Those of the backend; [`Error::Shape`](crate::Error::Shape).
    fn retain<T: Value>(m: &M, x: &mut Self::Of<T>, mask: MaskSpec<'_, Self::Pattern>) -> Result<()>;
    /// Overwrites x by the entries of t; other entries of x are kept.
    /// # Errors
    /// Those of the backend; [`Error::Shape`](crate::Error::Shape).
    fn put<T: Value>(m: &M, x: &mut Self::Of<T>, t: Self::Of<T>) -> Result<()>;
    /// x = x ∘ t over the union of the patterns.
    /// # Errors
    /// Those of the backend; [`Error::Shape`](crate::Error::Shape).
    fn accumulate<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        m: &M,
        op: O,
        x: &mut Self::Of<T>,
        t: Self::Of<T>,
    ) -> Result<()>;
    /// x ∘ y over the union of the patterns.
    /// # Errors
    /// Those of the backend; [`Error::Shape`](crate::Error::Shape).
    fn ewise_add<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        m: &M,
        op: O,
        x: &Self::Of<T>,
        y: &Self::Of<T>,
    ) -> Result<Self::Of<T>>;
}

/// Matrices.
#[derive(Clone, Copy, Debug)]
pub struct Matrices;
/// Vectors.
#[derive(Clone, Copy, Debug)]
pub struct Vectors;

impl<M: Kernels<I>, I: Index> Kind<M, I> for Matrices {
    type Of<T: Value> = M::Matrix<T>;
    type Pattern = M::Pattern;
    fn shape<T: Value>(m: &M, x: &M::Matrix<T>) -> (usize, usize) {
        m.shape(x)
    }
    fn masks_operand<T: Value>(m: &M, x: &M::Matrix<T>) -> bool {
        m.masks_operand(x)
    }
    fn is_same<T: Value>(m: &M, x: &M::Matrix<T>, y: &M::Matrix<T>) -> bool {
        m.is_same_matrix(x, y)
    }
    fn is_own<T: Value>(_: &M, _: &M::Matrix<T>, _: &M::Pattern) -> bool {
        false
    }
    fn fills<T: Value>(_: &M, _: &M::Matrix<T>, _: MaskSpec<'_, M::Pattern>) -> bool {
        false
    }
    fn retain<T: Value>(m: &M, x: &mut M::Matrix<T>, mask: MaskSpec<'_, M::Pattern>) -> Result<()> {
        m.retain_matrix(x, mask)
    }
    fn put<T: Value>(m: &M, x: &mut M::Matrix<T>, t: M::Matrix<T>) -> Result<()> {
        Self::accumulate(m, Second::<T, T>::default(), x, t)
    }
    fn accumulate<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        m: &M,
        op: O,
        x: &mut M::Matrix<T>,
        t: M::Matrix<T>,
    ) -> Result<()> {
        m.accumulate_matrix(op, x, t)
    }
    fn ewise_add<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        m: &M,
        op: O,
        x: &M::Matrix<T>,
        y: &M::Matrix<T>,
    ) -> Result<M::Matrix<T>> {
        m.ewise_add_matrices(op, x, y)
    }
}

impl<M: Kernels<I>, I: Index> Kind<M, I> for Vectors {
    type Of<T: Value> = M::Vector<T>;
    type Pattern = M::VectorPattern;
    fn shape<T: Value>(m: &M, x: &M::Vector<T>) -> (usize, usize) {
        (m.len(x), 1)
    }
    fn masks_operand<T: Value>(_: &M, _: &M::Vector<T>) -> bool {
        M::MASKS_OPERANDS
    }
    fn is_same<T: Value>(m: &M, x: &M::Vector<T>, y: &M::Vector<T>) -> bool {
        m.is_same_vector(x, y)
    }
    fn is_own<T: Value>(m: &M, x: &M::Vector<T>, pattern: &M::VectorPattern) -> bool {
        m.is_own_pattern(x, pattern)
    }
    fn fills<T: Value>(m: &M, t: &M::Vector<T>, mask: MaskSpec<'_, M::VectorPattern>) -> bool {
        m.fills_mask(t, mask)
    }
    fn retain<T: Value>(m: &M, x: &mut M::Vector<T>, mask: MaskSpec<'_, M::VectorPattern>) -> Result<()> {
        m.retain_vector(x, mask)
    }
    fn put<T: Value>(m: &M, x: &mut M::Vector<T>, t: M::Vector<T>) -> Result<()> {
        m.put_vector(x, t)
    }
    fn accumulate<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        m: &M,
        op: O,
        x: &mut M::Vector<T>,
        t: M::Vector<T>,
    ) -> Result<()> {
        m.accumulate_vector(op, x, t)
    }
    fn ewise_add<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        m: &M,
        op: O,
        x: &M::Vector<T>,
        y: &M::Vector<T>,
    ) -> Result<M::Vector<T>> {
        m.ewise_add_vectors(op, x, y)
    }
}

/// A matrix or vector on backend `M`. Clones share storage.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a matrix or vector on the backend `{M}`",
    note = "`upload` and `upload_vector` copy a host matrix or vector to the backend"
)]
pub trait Container<M: Kernels<I>, I: Index>: Clone {
    /// [`Matrices`] or [`Vectors`].
    type Kind: Kind<M, I>;
    /// Type of its values.
    type Value: Value;
    /// Number of entries, stored zeros included ([`nnz`](super::Backend::nnz)).
    /// # Errors
    /// Those of the backend, which may have to count them.
    fn count(&self, m: &M) -> Result<usize>;
    /// The pattern of its entries.
    /// # Errors
    /// Those of the backend.
    fn entry_pattern(&self, m: &M) -> Result<<Self::Kind as Kind<M, I>>::Pattern>;
    /// The pattern of its nonzero values.
    /// # Errors
    /// Those of the backend.
    fn nonzero(&self, m: &M) -> Result<<Self::Kind as Kind<M, I>>::Pattern>
    where
        Self::Value: Num;
    /// A structural mask: the indices of its entries, for any values. `!x.structure()` is the complement.
    fn structure(&self) -> Structure<Self> {
        Structure(self.clone())
    }
}

/// A structural mask ([`Container::structure`]).
#[derive(Clone, Debug)]
pub struct Structure<C>(C);
/// The complement of a mask.
#[derive(Clone, Debug)]
pub struct Complement<C>(C);

impl<C> Not for Structure<C> {
    type Output = Complement<Structure<C>>;
    fn not(self) -> Self::Output {
        Complement(self)
    }
}
impl<C> Not for Complement<C> {
    type Output = C;
    fn not(self) -> C {
        self.0
    }
}

/// A mask: `&x`, the indices of the nonzero values of x (a valued mask); `x.structure()`, the indices of its entries (a
/// structural mask); or the complement, by `!x.structure()` or [`complement`](super::Build::complement).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a mask of this result",
    label = "expected `&x` (nonzero values of x), `x.structure()` (entries of x) or `!x.structure()`",
    note = "the mask of a matrix is a matrix on the same backend, that of a vector a vector; valued masks hold numbers"
)]
pub trait Mask<M: Kernels<I>, I: Index, K: Kind<M, I>> {
    /// The pattern of the mask, and whether it is complemented.
    /// # Errors
    /// Those of the backend.
    fn resolve(self, m: &M) -> Result<(K::Pattern, bool)>;
}
impl<M: Kernels<I>, I: Index, C: Container<M, I, Value: Num>> Mask<M, I, C::Kind> for &C {
    fn resolve(self, m: &M) -> Result<(<C::Kind as Kind<M, I>>::Pattern, bool)> {
        Ok((self.nonzero(m)?, false))
    }
}
impl<M: Kernels<I>, I: Index, C: Container<M, I>> Mask<M, I, C::Kind> for Structure<C> {
    fn resolve(self, m: &M) -> Result<(<C::Kind as Kind<M, I>>::Pattern, bool)> {
        Ok((self.0.entry_pattern(m)?, false))
    }
}
impl<M: Kernels<I>, I: Index, K: Kind<M, I>, C: Mask<M, I, K>> Mask<M, I, K> for Complement<C> {
    fn resolve(self, m: &M) -> Result<(K::Pattern, bool)> {
        let (pattern, complement) = self.0.resolve(m)?;
        Ok((pattern, !complement))
    }
}

//! Matrices and vectors as what operations have in common: entries at places, masks.

use std::ops::Not;

use super::Backend;
use crate::algebra::{BinaryOp, Num, Second, Value};
use crate::sparse::MaskSpec;
use crate::{Index, Result};

/// Matrices or vectors: what operations and the writing of their results need of either, so that it is told once.
pub trait Kind<M: Backend<I>, I: Index>: Sized {
    /// The matrix or vector of these values.
    type Of<T: Value>: Container<M, I, Kind = Self, Value = T>;
    /// Where one has entries.
    type Places: Clone;
    /// Whether a mask of an operation entry by entry is applied to this operand.
    fn masks_operand<T: Value>(m: &M, x: &Self::Of<T>) -> bool;
    /// Rows and columns; places and 1 of a vector.
    fn shape<T: Value>(m: &M, x: &Self::Of<T>) -> (usize, usize);
    /// Whether both are names of one matrix or vector.
    fn is_same<T: Value>(m: &M, x: &Self::Of<T>, y: &Self::Of<T>) -> bool;
    /// Whether the pattern is the one that x has, shared.
    fn is_own<T: Value>(m: &M, x: &Self::Of<T>, pattern: &Self::Places) -> bool;
    /// Whether t, whose entries the mask allows, is known to have one wherever it does.
    fn fills<T: Value>(m: &M, t: &Self::Of<T>, mask: MaskSpec<'_, Self::Places>) -> bool;
    /// Keeps the entries that the mask allows.
    /// # Errors
    /// Those of the machine; [`Error::Shape`](crate::Error::Shape).
    fn retain<T: Value>(m: &M, x: &mut Self::Of<T>, mask: MaskSpec<'_, Self::Places>) -> Result<()>;
    /// The entries of t, and elsewhere those of x.
    /// # Errors
    /// Those of the machine; [`Error::Shape`](crate::Error::Shape).
    fn put<T: Value>(m: &M, x: &mut Self::Of<T>, t: Self::Of<T>) -> Result<()>;
    /// x = x ∘ t where both have an entry; where one has, that entry.
    /// # Errors
    /// Those of the machine; [`Error::Shape`](crate::Error::Shape).
    fn accumulate<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        m: &M,
        op: O,
        x: &mut Self::Of<T>,
        t: Self::Of<T>,
    ) -> Result<()>;
    /// x ∘ y where both have an entry; where one has, that entry.
    /// # Errors
    /// Those of the machine; [`Error::Shape`](crate::Error::Shape).
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

impl<M: Backend<I>, I: Index> Kind<M, I> for Matrices {
    type Of<T: Value> = M::Matrix<T>;
    type Places = M::Pattern;
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

impl<M: Backend<I>, I: Index> Kind<M, I> for Vectors {
    type Of<T: Value> = M::Vector<T>;
    type Places = M::Places;
    fn shape<T: Value>(m: &M, x: &M::Vector<T>) -> (usize, usize) {
        (m.len(x), 1)
    }
    fn masks_operand<T: Value>(_: &M, _: &M::Vector<T>) -> bool {
        M::MASKS_OPERANDS
    }
    fn is_same<T: Value>(m: &M, x: &M::Vector<T>, y: &M::Vector<T>) -> bool {
        m.is_same_vector(x, y)
    }
    fn is_own<T: Value>(m: &M, x: &M::Vector<T>, pattern: &M::Places) -> bool {
        m.is_own_pattern(x, pattern)
    }
    fn fills<T: Value>(m: &M, t: &M::Vector<T>, mask: MaskSpec<'_, M::Places>) -> bool {
        m.fills_mask(t, mask)
    }
    fn retain<T: Value>(m: &M, x: &mut M::Vector<T>, mask: MaskSpec<'_, M::Places>) -> Result<()> {
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

/// A matrix or a vector on machine `M`. Clones share what they hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no matrix or vector on the machine `{M}`",
    note = "`upload` and `upload_vector` of the machine make one of a matrix or vector of the host"
)]
pub trait Container<M: Backend<I>, I: Index>: Clone {
    /// [`Matrices`] or [`Vectors`].
    type Kind: Kind<M, I>;
    /// Type of its values.
    type Value: Value;
    /// Entries, stored zeros included: what [`Backend::nnz`] gives.
    /// # Errors
    /// Those of the machine, which may have to count.
    fn count(&self, m: &M) -> Result<usize>;
    /// Where it has entries.
    /// # Errors
    /// Those of the machine.
    fn places(&self, m: &M) -> Result<<Self::Kind as Kind<M, I>>::Places>;
    /// Where its values are not 0.
    /// # Errors
    /// Those of the machine.
    fn nonzero(&self, m: &M) -> Result<<Self::Kind as Kind<M, I>>::Places>
    where
        Self::Value: Num;
    /// As a mask: the places where it has entries, whatever their values. `!x.structure()` are all other places.
    fn structure(&self) -> Structure<Self> {
        Structure(self.clone())
    }
}

/// The mask of all places with an entry: [`Container::structure`].
#[derive(Clone, Debug)]
pub struct Structure<C>(C);
/// The mask of all places that another mask has not.
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

/// The places at which results are written: `&x`, where x has a value that is not 0 (a valued mask); `x.structure()`,
/// where it has an entry (a structural mask); `!x.structure()`, or [`complement`](super::Build::complement) of either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no mask of this result",
    label = "give `&x` (where x is not 0), `x.structure()` (where x has an entry) or `!x.structure()`",
    note = "the mask of a matrix is a matrix on the same machine, that of a vector a vector; valued masks hold numbers"
)]
pub trait Mask<M: Backend<I>, I: Index, K: Kind<M, I>> {
    /// The places, and whether all others are meant.
    /// # Errors
    /// Those of the machine.
    fn resolve(self, m: &M) -> Result<(K::Places, bool)>;
}
impl<M: Backend<I>, I: Index, C: Container<M, I, Value: Num>> Mask<M, I, C::Kind> for &C {
    fn resolve(self, m: &M) -> Result<(<C::Kind as Kind<M, I>>::Places, bool)> {
        Ok((self.nonzero(m)?, false))
    }
}
impl<M: Backend<I>, I: Index, C: Container<M, I>> Mask<M, I, C::Kind> for Structure<C> {
    fn resolve(self, m: &M) -> Result<(<C::Kind as Kind<M, I>>::Places, bool)> {
        Ok((self.0.places(m)?, false))
    }
}
impl<M: Backend<I>, I: Index, K: Kind<M, I>, C: Mask<M, I, K>> Mask<M, I, K> for Complement<C> {
    fn resolve(self, m: &M) -> Result<(K::Places, bool)> {
        let (places, complement) = self.0.resolve(m)?;
        Ok((places, !complement))
    }
}

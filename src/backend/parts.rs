//! Submatrices: A(I, J), rows and columns of A as vectors, and C(I, J) ⊙= A.
//!
//! An assignment writes Z into C under mask and replace; Z is C with its submatrix (I, J) replaced by A, or by
//! C(I, J) ⊙ A. With T(I, J) = A:
//!
//! | | without accumulator | with ⊙ |
//! | --- | --- | --- |
//! | write | remove the entries of C in (I, J) that the mask allows; then insert T⟨M⟩ | C ⊙= T⟨M⟩ |
//! | replace | afterwards remove entries of C outside of the mask | first remove entries of C outside of the mask |
//!
//! Source: GraphBLAS C API 2.1, §4.3.6 and §4.3.7 (`GrB_extract`, `GrB_assign`).

use super::container::{Kind, Matrices, Vectors};
use super::indices::{Indices, Line};
use super::kernels::Kernels;
use super::operations::{Mask, Write, flipped, masked, no_target};
use super::write::{Accumulate, WriteMask, write};
use super::{Operation, TransposeA};
use crate::algebra::Value;
use crate::sparse::{IndexList, MaskSpec};
use crate::{Error, Index, Result};

/// A(I, J).
pub struct ExtractMatrix<T: Value, M: Kernels<I>, I: Index> {
    pub(super) a: M::Matrix<T>,
    pub(super) part: (IndexList, IndexList),
    pub(super) flip: bool,
}
impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for ExtractMatrix<T, M, I> {
    type Kind = Matrices;
    type Out = T;
    const NAME: &'static str = "extract";
    fn compute(self, m: &M, mask: Mask<'_, M::Pattern>) -> Result<M::Matrix<T>> {
        // A submatrix of Aᵀ is the transpose of a submatrix of A, so only that is transposed.
        let (rows, cols) = &self.part;
        let part = if self.flip { (cols, rows) } else { (rows, cols) };
        let t = m.extract_part(&self.a, part)?;
        masked::<M, I, Matrices, T>(m, flipped(m, t, self.flip)?, mask)
    }
}
impl<T: Value, M: Kernels<I>, I: Index> TransposeA for ExtractMatrix<T, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// A(i, J) or A(I, j), a vector.
pub struct ExtractLine<T: Value, M: Kernels<I>, I: Index> {
    pub(super) a: M::Matrix<T>,
    pub(super) line: Line,
}
impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for ExtractLine<T, M, I> {
    type Kind = Vectors;
    type Out = T;
    const NAME: &'static str = "extract";
    fn compute(self, m: &M, mask: Mask<'_, M::VectorPattern>) -> Result<M::Vector<T>> {
        masked::<M, I, Vectors, T>(m, m.extract_line(&self.a, &self.line)?, mask)
    }
}
impl<T: Value, M: Kernels<I>, I: Index> TransposeA for ExtractLine<T, M, I> {
    fn flip_a(&mut self) {
        self.line = self.line.clone().transposed();
    }
}

/// C(I, J) = A; other entries of C are kept.
pub struct AssignMatrix<T: Value, M: Kernels<I>, I: Index> {
    pub(super) a: M::Matrix<T>,
    pub(super) part: (IndexList, IndexList),
    pub(super) flip: bool,
}
impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for AssignMatrix<T, M, I> {
    type Kind = Matrices;
    type Out = T;
    const NAME: &'static str = "assign";
    fn compute(self, _: &M, _: Mask<'_, M::Pattern>) -> Result<M::Matrix<T>> {
        no_target()
    }
    fn write_into<A: Accumulate<T>>(
        self,
        m: &M,
        c: &mut M::Matrix<T>,
        mask: Write<M::Pattern>,
        accum: A,
    ) -> Result<()> {
        let Self { a, part: (rows, cols), flip } = self;
        let a = flipped(m, a, flip)?;
        if rows.is_all() && cols.is_all() || A::SOME {
            let t = if A::SOME { m.place_part(&a, (&rows, &cols), m.shape(c))? } else { a };
            let t = masked::<M, I, Matrices, T>(m, t, mask.as_ref().map(WriteMask::spec))?;
            return write::<M, I, Matrices, _, _>(m, Self::NAME, c, t, mask, accum);
        }
        m.assign_part(c, a, (&rows, &cols), mask.as_ref().map(WriteMask::spec))?;
        replaced::<M, I, Matrices, T>(m, c, mask)
    }
}
impl<T: Value, M: Kernels<I>, I: Index> TransposeA for AssignMatrix<T, M, I> {
    fn flip_a(&mut self) {
        self.flip = !self.flip;
    }
}

/// Removes entries outside of the mask, if replace is set.
fn replaced<M: Kernels<I>, I: Index, K: Kind<M, I>, T: Value>(
    m: &M,
    c: &mut K::Of<T>,
    mask: Write<K::Pattern>,
) -> Result<()> {
    match mask.filter(|mask| mask.replace) {
        Some(mask) => K::retain(m, c, mask.spec()),
        None => Ok(()),
    }
}

/// C(I, J) = x.
pub struct AssignScalarMatrix<T> {
    pub(super) x: T,
    pub(super) part: (IndexList, IndexList),
}
impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for AssignScalarMatrix<T> {
    type Kind = Matrices;
    type Out = T;
    const NAME: &'static str = "assign";
    fn compute(self, _: &M, _: Mask<'_, M::Pattern>) -> Result<M::Matrix<T>> {
        no_target()
    }
    /// T has an entry at every written index, so nothing has to be removed first.
    fn write_into<A: Accumulate<T>>(
        self,
        m: &M,
        c: &mut M::Matrix<T>,
        mask: Write<M::Pattern>,
        accum: A,
    ) -> Result<()> {
        let (shape, (rows, cols)) = (m.shape(c), &self.part);
        let is_all = rows.is_all() && cols.is_all();
        if let Some(WriteMask { pattern, complement: false, .. }) = mask.as_ref().filter(|_| is_all && !A::SOME) {
            m.fill_matrix(c, self.x, pattern)?;
            return replaced::<M, I, Matrices, T>(m, c, mask);
        }
        let t = match mask.as_ref().map(WriteMask::spec) {
            Some(spec) if !spec.complement => {
                let t = m.pattern_matrix(spec.pattern, self.x)?;
                if m.shape(&t) != shape {
                    return Err(Error::Shape { op: "mask", lhs: shape, rhs: m.shape(&t) });
                }
                if is_all { t } else { m.keep_part(&t, (rows, cols))? }
            }
            spec => {
                let t = m.constant_part(shape, self.x, (rows, cols))?;
                masked::<M, I, Matrices, T>(m, t, spec)?
            }
        };
        if A::SOME || is_all {
            return write::<M, I, Matrices, _, _>(m, "assign", c, t, mask, accum);
        }
        <Matrices as Kind<M, I>>::put(m, c, t)?;
        replaced::<M, I, Matrices, T>(m, c, mask)
    }
}

/// w(I) = x.
pub struct AssignScalarAt<'i, T, I> {
    pub(super) x: T,
    pub(super) indices: Indices<'i, I>,
}
impl<T: Value, M: Kernels<I>, I: Index> Operation<M, I> for AssignScalarAt<'_, T, I> {
    type Kind = Vectors;
    type Out = T;
    const NAME: &'static str = "assign";
    fn compute(self, _: &M, _: Mask<'_, M::VectorPattern>) -> Result<M::Vector<T>> {
        no_target()
    }
    fn write_into<A: Accumulate<T>>(
        self,
        m: &M,
        w: &mut M::Vector<T>,
        mask: Write<M::VectorPattern>,
        accum: A,
    ) -> Result<()> {
        let len = m.len(w);
        let pattern = m.index_pattern(&self.indices.distinct(len)?, len)?;
        let t = m.full_vector(len, self.x, Some(MaskSpec::new(&pattern, false)))?;
        let t = masked::<M, I, Vectors, T>(m, t, mask.as_ref().map(WriteMask::spec))?;
        if A::SOME {
            return write::<M, I, Vectors, _, _>(m, "assign", w, t, mask, accum);
        }
        <Vectors as Kind<M, I>>::put(m, w, t)?;
        replaced::<M, I, Vectors, T>(m, w, mask)
    }
}

//! Operations of [`Cpu`] on hypersparse matrices: the cost depends on the entries, not on the shape.
//!
//! Elementwise operations run on the union of the stored rows of both operands. Products run on the stored rows of A,
//! with columns renumbered to the stored rows of B. A vector is treated as a matrix of one row or column.

use std::sync::Arc;

use crate::algebra::{Host, IndexUnaryOp, Lhs, Monoid, Out, Place, Rhs, Semiring, V, Value};
use crate::ops;
use crate::par::{collected, filled};
use crate::sparse::{HyperRows, Indices, MaskSpec, MatrixPattern, Rows, VectorPattern, suits_hyper, union_of};
use crate::{Cpu, Csr, Error, Index, Pattern, Result, Vector};

/// Two matrices expanded to the same rows: the union of their stored rows.
pub(super) struct Aligned<A, B, I: Index> {
    nrows: usize,
    labels: Arc<Vec<I>>,
    pub(super) a: Csr<A, I>,
    pub(super) b: Csr<B, I>,
}

impl<A, B, I: Index> Aligned<A, B, I> {
    /// `None` if neither operand is hypersparse.
    /// # Errors
    /// [`Error::Shape`], [`Error::OutOfMemory`].
    pub(super) fn of(op: &'static str, a: &Csr<A, I>, b: &Csr<B, I>) -> Result<Option<Self>> {
        if a.as_hyper().is_none() && b.as_hyper().is_none() {
            return Ok(None);
        }
        if a.shape() != b.shape() {
            return Err(Error::Shape { op, lhs: a.shape(), rhs: b.shape() });
        }
        Self::of_rows(&a.to_hyper()?, &b.to_hyper()?).map(Some)
    }
    fn of_rows(a: &HyperRows<A, I>, b: &HyperRows<B, I>) -> Result<Self> {
        let labels = union_of(a.labels(), b.labels())?;
        let (nrows, of_a, of_b) = (a.shape().0, a.expanded(&labels)?, b.expanded(&labels)?);
        Ok(Self { nrows, labels: Arc::new(labels), a: Csr::from(of_a), b: Csr::from(of_b) })
    }
    /// The result of an operation on the two, with its rows labelled by the union.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn labelled<T>(&self, c: &Csr<T, I>) -> Result<Csr<T, I>> {
        c.labelled(self.nrows, Arc::clone(&self.labels))
    }
}

/// Applies the row-wise operation `f` to the stored rows of `a`; `None` if `a` is not hypersparse.
pub(super) fn each<T, U, I: Index>(
    a: &Csr<T, I>,
    f: impl FnOnce(&Csr<T, I>) -> Result<Csr<U, I>>,
) -> Result<Option<Csr<U, I>>> {
    let Some(rows) = a.as_hyper() else { return Ok(None) };
    f(&Csr::of_stored(rows))?.labelled(rows.shape().0, Arc::clone(rows.labels())).map(Some)
}

/// f(A, s, i, j) of each entry of the stored rows.
fn at_indices<O: IndexUnaryOp, I: Index>(op: O, rows: &HyperRows<O::A, I>, s: O::S) -> Result<Vec<O::Out>> {
    let stored = Csr::of_stored(rows);
    let at = |r: usize, j: usize| Place { i: V(rows.labels()[r].get() as u64), j: V(j as u64) };
    let values = stored.iter().map(|(r, j, x)| op.apply::<Host>(V(*x), V(s), at(r, j)).0);
    collected(stored.nnz(), values, "values")
}

/// Rows or columns per vector entry up to which a product uses compressed rows.
const ROWS_PER_ENTRY: usize = 16;

/// Whether a matrix–vector product uses the stored rows alone: the matrix is hypersparse or very wide, and its number
/// of rows or columns is large relative to nnz(x). Otherwise a pass over all rows and columns costs little more.
fn is_vast<T, U: Value, I: Index>(a: &Csr<T, I>, x: &Vector<U, I>) -> bool {
    let few =
        a.nrows().max(a.ncols()) / ROWS_PER_ENTRY <= x.nnz() && !matches!(x.pattern().indices(), Indices::List(_));
    (a.as_hyper().is_some() || a.ncols() >> 32 > 0) && !few
}

/// A vector as the only column of a matrix.
fn column<T: Value, I: Index>(x: &Vector<T, I>) -> Result<Csr<T, I>> {
    let (len, n) = (x.len(), x.nnz());
    let (labels, values) = x.to_sparse()?.into_parts();
    let pattern = Pattern::new(n, 1, (0..=n).collect(), filled(n, I::cast(0), "columns")?)?;
    Csr::with_pattern(Arc::new(pattern), values)?.labelled(len, Arc::new(labels))
}
/// A vector as the only row of a matrix.
fn row<T: Value, I: Index>(x: &Vector<T, I>) -> Result<Csr<T, I>> {
    let (len, n) = (x.len(), x.nnz());
    let (cols, values) = x.to_sparse()?.into_parts();
    Csr::new(1, len, vec![0, n], cols, values)
}

impl Cpu {
    /// The entries that the mask allows; `None` if neither A nor the mask is hypersparse.
    pub(super) fn apply_mask_hyper<T: Value, I: Index>(
        &self,
        a: &Csr<T, I>,
        mask: MaskSpec<'_, MatrixPattern<I>>,
    ) -> Result<Option<Csr<T, I>>> {
        if a.as_hyper().is_none() && mask.pattern.as_hyper().is_none() {
            return Ok(None);
        }
        let both = Aligned::of_rows(&a.to_hyper()?, &HyperRows::of_pattern(mask.pattern)?)?;
        both.labelled(&ops::apply_mask(self.threads(), &both.a, both.b.pattern(), mask.complement)?).map(Some)
    }
    /// f(A, s, i, j); `None` if A is not hypersparse.
    pub(super) fn apply_index_hyper<O: IndexUnaryOp, I: Index>(
        &self,
        op: O,
        a: &Csr<O::A, I>,
        s: O::S,
    ) -> Result<Option<Csr<O::Out, I>>> {
        let Some(rows) = a.as_hyper() else { return Ok(None) };
        each(a, |stored| Csr::with_pattern(Arc::clone(stored.pattern()), at_indices(op, rows, s)?))
    }
    /// The entries for which f(a, s, i, j) holds; `None` if A is not hypersparse.
    pub(super) fn select_hyper<O: IndexUnaryOp<Out = bool>, I: Index>(
        &self,
        op: O,
        a: &Csr<O::A, I>,
        s: O::S,
    ) -> Result<Option<Csr<O::A, I>>> {
        if a.as_hyper().is_none() {
            return Ok(None);
        }
        let sorted = each(a, |stored| stored.sorted(self.threads()))?;
        let Some(rows) = sorted.as_ref().and_then(Csr::as_hyper) else { return Ok(None) };
        let kept = at_indices(op, rows, s)?;
        let Rows { pattern, values } = rows.rows();
        let ptr = pattern.row_ptr();
        let (pattern, values) = ops::keep(self.threads(), pattern, values, &|rows, flags| {
            flags.copy_from_slice(&kept[ptr[rows.start]..ptr[rows.end]]);
        })?;
        let kept = Csr::with_pattern(Arc::new(pattern), values)?;
        kept.labelled(rows.shape().0, Arc::clone(rows.labels())).map(Some)
    }
    /// Aᵀ; `None` unless A or Aᵀ is hypersparse.
    pub(super) fn transpose_hyper<T: Value, I: Index>(&self, a: &Csr<T, I>) -> Result<Option<Csr<T, I>>> {
        let (nrows, ncols) = a.shape();
        if a.as_hyper().is_none() && (a.as_row_major().is_some() || !suits_hyper(ncols, a.nnz())) {
            return Ok(None);
        }
        crate::pattern::check_nrows::<I>(ncols)?;
        crate::pattern::check_ncols::<I>(nrows)?;
        let rows = a.to_hyper()?;
        let Rows { pattern, values } = rows.rows();
        // Columns are renumbered to their positions among the non-empty ones, and mapped back.
        let mut labels = collected(pattern.nnz(), pattern.col_idx().iter().copied(), "labels of columns")?;
        labels.sort_unstable();
        labels.dedup();
        let position = |j: &I| labels.binary_search(j).map_or(I::LAST, I::cast);
        let positions = collected(pattern.nnz(), pattern.col_idx().iter().map(position), "columns")?;
        let ptr = collected(pattern.nrows() + 1, pattern.row_ptr().iter().copied(), "row pointers")?;
        let among = Pattern::from_parts(pattern.nrows(), labels.len(), ptr, positions, pattern.is_sorted());
        let values = collected(values.len(), values.iter().copied(), "values")?;
        let (pattern, values) = Csr::with_pattern(Arc::new(among), values)?.transpose(self.threads())?.into_parts();
        let cols = collected(pattern.nnz(), pattern.col_idx().iter().map(|r| rows.labels()[r.get()]), "columns")?;
        let ptr = collected(pattern.nrows() + 1, pattern.row_ptr().iter().copied(), "row pointers")?;
        let pattern = Pattern::from_parts(labels.len(), nrows, ptr, cols, true);
        Csr::with_pattern(Arc::new(pattern), values)?.labelled(ncols, Arc::new(labels)).map(Some)
    }
    /// C = A ⊕.⊗ B, restricted to the mask; `None` if neither operand is hypersparse.
    pub(super) fn product_hyper<R: Semiring, I: Index>(
        &self,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
        mask: Option<MaskSpec<'_, MatrixPattern<I>>>,
    ) -> Result<Option<Csr<Out<R>, I>>> {
        if a.as_hyper().is_none() && b.as_hyper().is_none() {
            return Ok(None);
        }
        let c = self.product_of_stored(ring, a, b)?;
        Ok(Some(match mask {
            Some(mask) => super::Kernels::apply_mask_matrix(self, &c, mask.pattern, mask.complement)?,
            None => c,
        }))
    }
    fn product_of_stored<R: Semiring, I: Index>(
        &self,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
    ) -> Result<Csr<Out<R>, I>> {
        ops::mxm_hyper(self.threads(), self.budget, ring, &a.to_hyper_csr()?, &b.to_hyper_csr()?)?.try_into()
    }
    /// y = A ⊕.⊗ x; `None` unless it uses the stored rows alone ([`is_vast`]).
    pub(super) fn mxv_hyper<R: Semiring, I: Index>(
        &self,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        x: &Vector<Rhs<R>, I>,
        mask: Option<MaskSpec<'_, VectorPattern<I>>>,
    ) -> Result<Option<Vector<Out<R>, I>>> {
        if !is_vast(a, x) {
            return Ok(None);
        }
        if a.shape().1 != x.len() {
            return Err(Error::Shape { op: "mxv", lhs: a.shape(), rhs: (x.len(), 1) });
        }
        let c = self.product_of_stored(ring, a, &column(x)?)?;
        let (rows, len) = (c.to_hyper()?, a.nrows());
        let labels = collected(rows.labels().len(), rows.labels().iter().copied(), "indices")?;
        let values = collected(rows.nnz(), rows.rows().values.iter().copied(), "values")?;
        allowed(Vector::from_list(len, labels, values)?, mask).map(Some)
    }
    /// yᵀ = xᵀ ⊕.⊗ A; `None` unless it uses the stored rows alone ([`is_vast`]).
    pub(super) fn vxm_hyper<R: Semiring, I: Index>(
        &self,
        ring: R,
        x: &Vector<Lhs<R>, I>,
        a: &Csr<Rhs<R>, I>,
        mask: Option<MaskSpec<'_, VectorPattern<I>>>,
    ) -> Result<Option<Vector<Out<R>, I>>> {
        if !is_vast(a, x) {
            return Ok(None);
        }
        if a.shape().0 != x.len() {
            return Err(Error::Shape { op: "vxm", lhs: (1, x.len()), rhs: a.shape() });
        }
        let c = self.product_of_stored(ring, &row(x)?, a)?;
        let (pattern, values) = c.into_parts();
        let cols = collected(pattern.nnz(), pattern.col_idx().iter().copied(), "indices")?;
        allowed(Vector::from_list(pattern.ncols(), cols, values)?, mask).map(Some)
    }
    /// ⊕ over each non-empty row; `None` if A is not hypersparse.
    pub(super) fn reduce_rows_hyper<P: Monoid, I: Index>(
        &self,
        monoid: P,
        a: &Csr<P::Out, I>,
        mask: Option<MaskSpec<'_, VectorPattern<I>>>,
    ) -> Result<Option<Vector<P::Out, I>>> {
        let Some(rows) = a.as_hyper() else { return Ok(None) };
        let values = ops::reduce_rows(self.threads(), monoid, &Csr::of_stored(rows))?;
        let labels = collected(rows.labels().len(), rows.labels().iter().copied(), "indices")?;
        allowed(Vector::from_list(a.nrows(), labels, values)?, mask).map(Some)
    }
}

fn allowed<T: Value, I: Index>(
    mut y: Vector<T, I>,
    mask: Option<MaskSpec<'_, VectorPattern<I>>>,
) -> Result<Vector<T, I>> {
    if let Some(mask) = mask {
        y.retain(mask)?;
    }
    Ok(y)
}

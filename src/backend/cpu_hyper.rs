//! Operations of [`Cpu`] on matrices of hypersparse rows: what each costs follows from the entries, not from the shape.
//!
//! Operations entry by entry run on the rows that either operand stores, products on the stored rows of A with places
//! of the stored rows of B for columns. A vector is a matrix of one row or column there.

use std::sync::Arc;

use crate::algebra::{Host, IndexUnaryOp, Lhs, Monoid, Out, Place, Rhs, Semiring, V, Value};
use crate::ops;
use crate::par::{collected, filled};
use crate::sparse::{HyperRows, Indices, MaskSpec, MatrixPattern, Rows, VectorPattern, suits_hyper, union_of};
use crate::{Cpu, Csr, Error, Index, Pattern, Result, Vector};

/// Two matrices of the same rows: those that either stores.
pub(super) struct Aligned<A, B, I: Index> {
    nrows: usize,
    labels: Arc<Vec<I>>,
    pub(super) a: Csr<A, I>,
    pub(super) b: Csr<B, I>,
}

impl<A, B, I: Index> Aligned<A, B, I> {
    /// `None` if neither is of hypersparse rows.
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
    /// What an operation made of the two, in the rows that they are.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn labelled<T>(&self, c: &Csr<T, I>) -> Result<Csr<T, I>> {
        c.labelled(self.nrows, Arc::clone(&self.labels))
    }
}

/// What `f` makes, row by row, of the rows that `a` stores; `None` if it is not of hypersparse rows.
pub(super) fn each<T, U, I: Index>(
    a: &Csr<T, I>,
    f: impl FnOnce(&Csr<T, I>) -> Result<Csr<U, I>>,
) -> Result<Option<Csr<U, I>>> {
    let Some(rows) = a.as_hyper() else { return Ok(None) };
    f(&Csr::of_stored(rows))?.labelled(rows.shape().0, Arc::clone(rows.labels())).map(Some)
}

/// f(A, s, i, j) of each entry of the stored rows.
fn at_places<O: IndexUnaryOp, I: Index>(op: O, rows: &HyperRows<O::A, I>, s: O::S) -> Result<Vec<O::Out>> {
    let stored = Csr::of_stored(rows);
    let at = |r: usize, j: usize| Place { i: V(rows.labels()[r].get() as u64), j: V(j as u64) };
    let values = stored.iter().map(|(r, j, x)| op.apply::<Host>(V(*x), V(s), at(r, j)).0);
    collected(stored.nnz(), values, "values")
}

/// Rows and columns for each entry of a vector up to which a product goes by compressed rows.
const PLACES: usize = 16;

/// Whether a product of the matrix and the vector goes by the stored rows alone: the matrix is of hypersparse rows or
/// very wide, and neither its rows nor its columns are few beside the entries of x, which all of them are visited for
/// anyway.
fn is_vast<T, U: Value, I: Index>(a: &Csr<T, I>, x: &Vector<U, I>) -> bool {
    let few = a.nrows().max(a.ncols()) / PLACES <= x.nnz() && !matches!(x.pattern().indices(), Indices::List(_));
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
    /// The entries that the mask allows; `None` if neither is of hypersparse rows.
    pub(super) fn restrict_hyper<T: Value, I: Index>(
        &self,
        a: &Csr<T, I>,
        mask: MaskSpec<'_, MatrixPattern<I>>,
    ) -> Result<Option<Csr<T, I>>> {
        if a.as_hyper().is_none() && mask.pattern.as_hyper().is_none() {
            return Ok(None);
        }
        let both = Aligned::of_rows(&a.to_hyper()?, &HyperRows::of_pattern(mask.pattern)?)?;
        both.labelled(&ops::restrict(self.threads(), &both.a, both.b.pattern(), mask.complement)?).map(Some)
    }
    /// f(A, s, i, j); `None` if A is not of hypersparse rows.
    pub(super) fn apply_index_hyper<O: IndexUnaryOp, I: Index>(
        &self,
        op: O,
        a: &Csr<O::A, I>,
        s: O::S,
    ) -> Result<Option<Csr<O::Out, I>>> {
        let Some(rows) = a.as_hyper() else { return Ok(None) };
        each(a, |stored| Csr::with_pattern(Arc::clone(stored.pattern()), at_places(op, rows, s)?))
    }
    /// The entries for which f(a, s, i, j) holds; `None` if A is not of hypersparse rows.
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
        let kept = at_places(op, rows, s)?;
        let Rows { pattern, values } = rows.rows();
        let ptr = pattern.row_ptr();
        let (pattern, values) = ops::keep(self.threads(), pattern, values, &|rows, flags| {
            flags.copy_from_slice(&kept[ptr[rows.start]..ptr[rows.end]]);
        })?;
        let kept = Csr::with_pattern(Arc::new(pattern), values)?;
        kept.labelled(rows.shape().0, Arc::clone(rows.labels())).map(Some)
    }
    /// Aᵀ; `None` unless A, or its transpose, is of hypersparse rows.
    pub(super) fn transpose_hyper<T: Value, I: Index>(&self, a: &Csr<T, I>) -> Result<Option<Csr<T, I>>> {
        let (nrows, ncols) = a.shape();
        if a.as_hyper().is_none() && (a.as_places().is_some() || !suits_hyper(ncols, a.nnz())) {
            return Ok(None);
        }
        crate::pattern::check_nrows::<I>(ncols)?;
        crate::pattern::check_ncols::<I>(nrows)?;
        let rows = a.to_hyper()?;
        let Rows { pattern, values } = rows.rows();
        // Columns by their places among those that have entries, and back.
        let mut labels = collected(pattern.nnz(), pattern.col_idx().iter().copied(), "labels of columns")?;
        labels.sort_unstable();
        labels.dedup();
        let place = |j: &I| labels.binary_search(j).map_or(I::LAST, I::cast);
        let places = collected(pattern.nnz(), pattern.col_idx().iter().map(place), "columns")?;
        let ptr = collected(pattern.nrows() + 1, pattern.row_ptr().iter().copied(), "row pointers")?;
        let among = Pattern::from_parts(pattern.nrows(), labels.len(), ptr, places, pattern.is_sorted());
        let values = collected(values.len(), values.iter().copied(), "values")?;
        let (pattern, values) = Csr::with_pattern(Arc::new(among), values)?.transpose(self.threads())?.into_parts();
        let cols = collected(pattern.nnz(), pattern.col_idx().iter().map(|r| rows.labels()[r.get()]), "columns")?;
        let ptr = collected(pattern.nrows() + 1, pattern.row_ptr().iter().copied(), "row pointers")?;
        let pattern = Pattern::from_parts(labels.len(), nrows, ptr, cols, true);
        Csr::with_pattern(Arc::new(pattern), values)?.labelled(ncols, Arc::new(labels)).map(Some)
    }
    /// C = A ⊕.⊗ B, or what the mask leaves of it; `None` if neither is of hypersparse rows.
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
            Some(mask) => super::Backend::restrict_matrix(self, &c, mask.pattern, mask.complement)?,
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
    /// y = A ⊕.⊗ x; `None` unless it goes by the stored rows ([`is_vast`]).
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
    /// yᵀ = xᵀ ⊕.⊗ A; `None` unless it goes by the stored rows ([`is_vast`]).
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
    /// ⊕ over each row that has an entry; `None` if A is not of hypersparse rows.
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

//! Parts of matrices by products and by operations entry by entry, for machines that have no kernel of their own for
//! them.
//!
//! With P the matrix that has an entry (p, I(p)) for each index of a list, A(I, :) is P·A over any_second, and the
//! matrix whose rows I are those of A is Pᵀ·A. Columns likewise, from the right, over any_first.

use std::sync::Arc;

use super::Backend;
use super::container::{Container, Kind, Matrices};
use super::indices::{Line, list_of};
use crate::algebra::{Any, Diag, First, Monoid, Ring, Second, Value};
use crate::par::{collected, filled, note, zeros};
use crate::pattern::check_ncols;
use crate::sparse::{IndexList, MaskSpec, VectorPattern};
use crate::spgemm::Options;
use crate::{Csr, Error, Index, Pattern, Result, Vector};

type Part<'a> = (&'a IndexList, &'a IndexList);

/// P, with an entry (p, I(p)) for each index of a list of a dimension.
fn selection<M: Backend<I>, I: Index>(
    m: &M,
    name: &'static str,
    list: &IndexList,
    dimension: usize,
) -> Result<M::Matrix<bool>> {
    check_ncols::<I>(dimension)?;
    let cols = list_of::<I>(list, name, dimension)?;
    let row_ptr = collected(cols.len() + 1, 0..=cols.len(), "row pointers")?;
    ones(m, Pattern::from_parts(cols.len(), dimension, row_ptr, cols, true))
}

/// The square matrix with an entry (i, i) for each i of a list.
fn members<M: Backend<I>, I: Index>(
    m: &M,
    name: &'static str,
    list: &IndexList,
    dimension: usize,
) -> Result<M::Matrix<bool>> {
    check_ncols::<I>(dimension)?;
    list.check(name, dimension)?;
    let cols = VectorPattern::<I>::of_list(list, dimension)?.to_list()?;
    let mut row_ptr = zeros(dimension.saturating_add(1), "row pointers")?;
    cols.iter().for_each(|i| row_ptr[i.get() + 1] = 1);
    (0..dimension).for_each(|i| row_ptr[i + 1] += row_ptr[i]);
    ones(m, Pattern::from_parts(dimension, dimension, row_ptr, cols, true))
}

fn ones<M: Backend<I>, I: Index>(m: &M, pattern: Pattern<I>) -> Result<M::Matrix<bool>> {
    let values = filled(pattern.nnz(), true, "values")?;
    m.upload(&Csr::with_pattern(Arc::new(pattern), values)?)
}

/// `left`·A·`right`, each where it exists.
fn between<M: Backend<I>, I: Index, T: Value>(
    m: &M,
    left: Option<M::Matrix<bool>>,
    a: &M::Matrix<T>,
    right: Option<M::Matrix<bool>>,
) -> Result<M::Matrix<T>> {
    let (any, options) = (Any::<T>::new(), Options::default());
    note(|| "  by products with selection matrices: this machine has no kernel of its own for parts".into());
    let mut made = a.clone();
    if let Some(left) = left {
        made = m.product(Ring(any, Second::<T, bool>::default()), &left, &made, None, &options)?;
    }
    if let Some(right) = right {
        made = m.product(Ring(any, First::<T, bool>::default()), &made, &right, None, &options)?;
    }
    Ok(made)
}

/// A(I, J).
pub(super) fn extract<M: Backend<I>, I: Index, T: Value>(
    m: &M,
    a: &M::Matrix<T>,
    (rows, cols): Part<'_>,
) -> Result<M::Matrix<T>> {
    let (nrows, ncols) = m.shape(a);
    let left = (!rows.is_all()).then(|| selection(m, "rows", rows, nrows)).transpose()?;
    let right = (!cols.is_all()).then(|| m.transposed(&selection(m, "cols", cols, ncols)?)).transpose()?;
    between(m, left, a, right)
}

/// The matrix of this shape whose part (I, J) is A.
pub(super) fn place<M: Backend<I>, I: Index, T: Value>(
    m: &M,
    a: &M::Matrix<T>,
    (rows, cols): Part<'_>,
    (nrows, ncols): (usize, usize),
) -> Result<M::Matrix<T>> {
    let (of_rows, of_cols) = (rows.check("rows", nrows)?, cols.check("cols", ncols)?);
    if (of_rows.len(), of_cols.len()) != m.shape(a) {
        return Err(Error::Shape { op: "assign", lhs: (of_rows.len(), of_cols.len()), rhs: m.shape(a) });
    }
    of_rows.no_repeats("rows")?;
    of_cols.no_repeats("cols")?;
    let left = (!rows.is_all()).then(|| m.transposed(&selection(m, "rows", rows, nrows)?)).transpose()?;
    let right = (!cols.is_all()).then(|| selection(m, "cols", cols, ncols)).transpose()?;
    between(m, left, a, right)
}

/// The entries in (I, J).
pub(super) fn within<M: Backend<I>, I: Index, T: Value>(
    m: &M,
    a: &M::Matrix<T>,
    (rows, cols): Part<'_>,
) -> Result<M::Matrix<T>> {
    let (nrows, ncols) = m.shape(a);
    let left = (!rows.is_all()).then(|| members(m, "rows", rows, nrows)).transpose()?;
    let right = (!cols.is_all()).then(|| members(m, "cols", cols, ncols)).transpose()?;
    between(m, left, a, right)
}

/// A row or a column.
pub(super) fn line<M: Backend<I>, I: Index, T: Value>(m: &M, a: &M::Matrix<T>, line: &Line) -> Result<M::Vector<T>> {
    let (nrows, ncols) = m.shape(a);
    let unit = |name: &'static str, i: usize, n: usize| {
        IndexList::from(i..i.saturating_add(1)).check(name, n)?;
        m.upload_vector(&Vector::new(n, vec![I::cast(i)], vec![true])?)
    };
    let any = Any::<T>::new();
    let (whole, list) = match line {
        Line::Row(i, cols) => {
            (m.vxm_masked(Ring(any, Second::<T, bool>::default()), &unit("rows", *i, nrows)?, a, None)?, cols)
        }
        Line::Column(rows, j) => {
            (m.mxv_masked(Ring(any, First::<T, bool>::default()), a, &unit("cols", *j, ncols)?, None)?, rows)
        }
    };
    if list.is_all() {
        return Ok(whole);
    }
    m.extract_vector(&whole, &list_of(list, "indices", m.len(&whole))?)
}

/// C(I, J) = A where the mask allows; other entries of C stay.
pub(super) fn assign<M: Backend<I>, I: Index, T: Value>(
    m: &M,
    c: &mut M::Matrix<T>,
    a: M::Matrix<T>,
    (rows, cols): Part<'_>,
    mask: Option<MaskSpec<'_, M::Pattern>>,
) -> Result<()> {
    let shape = m.shape(c);
    let mut t = m.place_part(&a, (rows, cols), shape)?;
    drop(a);
    if let Some(mask) = mask {
        m.retain_matrix(&mut t, mask)?;
    }
    // Where T has an entry at every place of the part, it takes the place of what stands there.
    let places = rows.len(shape.0) as u128 * cols.len(shape.1) as u128;
    if mask.is_some() || m.nnz(&t)? as u128 != places {
        let mut replaced = m.keep_part(c, (rows, cols))?;
        if let Some(mask) = mask {
            m.retain_matrix(&mut replaced, mask)?;
        }
        if m.nnz(&replaced)? > 0 {
            let pattern = replaced.places(m)?;
            drop(replaced);
            m.retain_matrix(c, MaskSpec::new(&pattern, true))?;
        }
    }
    <Matrices as Kind<M, I>>::put(m, c, t)
}

/// The diagonal k: its entries stand in rows of their own.
pub(super) fn diagonal<M: Backend<I>, I: Index, T: Value>(m: &M, a: &M::Matrix<T>, k: i64) -> Result<M::Vector<T>> {
    let entries = m.select_matrix(Diag::<T>::new(), a, k)?;
    let line = m.reduce_rows_of(Any::<T>::new(), &entries, None)?;
    let ((first, _), len) = crate::ops::diagonal_of(m.shape(a), k);
    let first = first.min(m.len(&line));
    m.extract_vector(&line, &list_of(&IndexList::from(first..first + len), "indices", m.len(&line))?)
}

/// T(i) = u(p) ⊕ u(q) ⊕ … over the p, q, … with I(p) = I(q) = … = i: uᵀ·P.
pub(super) fn scatter<M: Backend<I>, I: Index, P: Monoid>(
    m: &M,
    monoid: P,
    u: &M::Vector<P::Out>,
    (indices, len): (&[I], usize),
    mask: Option<MaskSpec<'_, M::Places>>,
) -> Result<M::Vector<P::Out>> {
    check_ncols::<I>(len)?;
    let cols = collected(indices.len(), indices.iter().copied(), "column indices")?;
    let row_ptr = collected(cols.len() + 1, 0..=cols.len(), "row pointers")?;
    let p = ones(m, Pattern::new(cols.len(), len, row_ptr, cols)?)?;
    m.vxm_masked(Ring(monoid, First::<P::Out, bool>::default()), u, &p, mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;
    use crate::algebra::Plus;
    use crate::backend::aggregate;

    /// A matrix with entries at about one place in three.
    fn matrix(m: usize, n: usize, seed: u64) -> Csr<f64> {
        let entries = (0..m * n).map(|p| (p, (p as u64 + 1).wrapping_mul(seed | 1) >> 7));
        let kept = entries.filter(|(_, hash)| hash % 3 == 0);
        Csr::from_triplets(m, n, kept.map(|(p, hash)| (p / n, p % n, (hash % 7) as f64))).unwrap()
    }

    #[test]
    fn compositions_give_what_kernels_give() {
        let cpu = &Cpu::with_threads(2).unwrap();
        let lists = |n: usize| -> [IndexList; 5] {
            let backwards = IndexList::strided(n - 1, -2, n / 2);
            [IndexList::all(), (1..n - 1).into(), backwards, [2, 0, 1].into(), vec![].into()]
        };
        for (m, n, seed) in [(5, 9, 0x9e37_79b9), (8, 4, 0x1234_5677), (6, 6, 0xdead_beef)] {
            let a = &matrix(m, n, seed);
            assert!(a.nnz() > 0);
            for rows in &lists(m) {
                for cols in &lists(n) {
                    let part = (rows, cols);
                    assert_eq!(extract(cpu, a, part).unwrap(), cpu.extract_part(a, part).unwrap(), "{part:?}");
                    assert_eq!(within(cpu, a, part).unwrap(), cpu.keep_part(a, part).unwrap(), "{part:?}");
                    let b = &matrix(rows.len(m), cols.len(n), !seed);
                    let placed = place(cpu, b, part, (m, n)).unwrap();
                    assert_eq!(placed, cpu.place_part(b, part, (m, n)).unwrap(), "{part:?}");
                    let (mut c, mut d) = (a.clone(), a.clone());
                    assign(cpu, &mut c, b.clone(), part, None).unwrap();
                    Backend::<u32>::assign_part(cpu, &mut d, b.clone(), part, None).unwrap();
                    assert_eq!(c, d, "{part:?}");
                }
                let of = &Line::Column(rows.clone(), n - 1);
                assert_eq!(line(cpu, a, of).unwrap(), cpu.extract_line(a, of).unwrap(), "{of:?}");
            }
            for cols in lists(n) {
                let of = &Line::Row(m - 1, cols);
                assert_eq!(line(cpu, a, of).unwrap(), cpu.extract_line(a, of).unwrap(), "{of:?}");
            }
            for k in -10..10 {
                assert_eq!(diagonal(cpu, a, k).unwrap(), cpu.diagonal_of(a, k).unwrap(), "diagonal {k}");
            }
            let row = &cpu.extract_line(a, &Line::Row(1, IndexList::all())).unwrap();
            let repeats: Vec<u32> = (0..n as u32).map(|p| p / 2).collect();
            let to = (&repeats[..], n);
            let want = Backend::<u32>::scatter_fold(cpu, Plus::new(), row, to, None).unwrap();
            assert_eq!(scatter(cpu, Plus::new(), row, to, None).unwrap(), want);
            assert_eq!(aggregate::counts(cpu, a).unwrap(), cpu.row_counts(a).unwrap());
            for greatest in [false, true] {
                assert_eq!(aggregate::arg(cpu, a, greatest).unwrap(), cpu.row_arg(a, greatest).unwrap());
            }
        }
        let nan = Csr::<f64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 1], vec![f64::NAN, 1.0, f64::NAN]).unwrap();
        let want = Vector::new(2, vec![0], vec![1]).unwrap();
        assert_eq!(aggregate::arg(cpu, &nan, false).unwrap(), want);
        assert_eq!(cpu.row_arg(&nan, true).unwrap(), want);
    }
}

//! y = A ⊕.⊗ x for sparse x: y has an entry where row and vector share an index.

use std::ops::Range;

use super::blocks::{blocks, light_row_blocks};
use super::mxv::{rows, runs};
use super::vxm::vxm_list;
use crate::algebra::{At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, Rhs, Semiring, V, Value};
use crate::kernels::{fill, fill_found};
use crate::par::{Threads, collected, filled, note, zero_values};
use crate::sparse::{Bitmap, MaskSpec, VectorPattern, View, bit};
use crate::{Csr, Error, Index, Result, Vector};

/// `y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ …` over the k where A and x both have an entry, in the order of A's row, or in that of
/// [`mxv`](super::mxv()) if x is full, e the identity of ⊕. y has an entry if there is such a k and the mask allows it.
///
/// Cost: O(m + nnz(A)) time. If the mask allows at most one row in 16: O(entries of the mask and of the rows that it
/// allows), and O(n / 64 + nnz(x)) if x is a list and these entries outnumber that.
pub(crate) fn mxv_entries<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: &Vector<Rhs<R>, I>,
    mask: Option<MaskSpec<'_, VectorPattern<I>>>,
) -> Result<Vector<Out<R>, I>> {
    if a.ncols() != x.len() {
        return Err(Error::Shape { op: "mxv", lhs: a.shape(), rhs: (x.len(), 1) });
    }
    let m = a.nrows();
    mask.map_or(Ok(()), |mask| mask.check(m))?;
    let mask = mask.filter(|mask| mask.count() < m);
    if x.nnz() == 0 || mask.is_some_and(|mask| mask.count() == 0) {
        return Vector::empty(m);
    }
    let listed = mask.filter(|mask| mask.count() <= m / Vector::<Out<R>, I>::SPARSE);
    let listed = listed.map(|mask| mask.to_list()).transpose()?;
    let work = listed.as_ref().map_or(a.nnz(), |rows| rows.iter().map(|i| a.row(i.get()).0.len()).sum());
    let (bits, values);
    let entries = match x.view() {
        // Testing a bit is faster than searching a list, once the lookups outnumber the words of the bitmap.
        View::List(ks, xs) if work > x.len() / 64 => {
            let mut spread = zero_values(x.len(), "a bitmap vector")?;
            ks.iter().zip(xs).for_each(|(k, &x)| spread[k.get()] = x);
            (bits, values) = (x.pattern().to_bitmap()?, spread);
            View::Bitmap(bits.words(), &values)
        }
        entries => entries,
    };
    note(|| match (&listed, entries) {
        (Some(list), _) => format!(
            "  the {} rows that the mask allows, of {m}: at most one in {}",
            list.len(),
            Vector::<Out<R>, I>::SPARSE
        ),
        (None, View::Full(_)) => "  all rows, each folded whole: the vector is full".into(),
        (None, View::Bitmap(..)) => "  all rows, each entry looked up by a bit of the vector".into(),
        (None, View::List(..)) => "  all rows, each entry searched in the vector's list".into(),
    });
    match listed {
        Some(list) => listed_rows(threads, ring, a, entries, &list),
        None => all_rows(threads, ring, a, entries, mask),
    }
}

/// y(i) for the rows of a list.
fn listed_rows<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: View<'_, Rhs<R>, I>,
    list: &[I],
) -> Result<Vector<Out<R>, I>> {
    let mut before = filled(list.len() + 1, 0u64, "work of a product")?;
    for (p, i) in list.iter().enumerate() {
        before[p + 1] = before[p] + a.row(i.get()).0.len() as u64 + 1;
    }
    let blocks = blocks(list.len(), &|p| before[p])?;
    let identity = <R::Add as Monoid>::IDENTITY;
    let (y, found) = fill_found(threads, "mxv", &blocks, identity, &|block, y, found| {
        for ((i, y), found) in list[block].iter().zip(y).zip(found) {
            *found = row(ring, a, x, i.get(), y);
        }
    })?;
    let kept = |p: &usize| found[*p];
    let nnz = (0..list.len()).filter(kept).count();
    let indices = collected(nnz, (0..list.len()).filter(kept).map(|p| list[p]), "indices")?;
    let values = collected(nnz, (0..list.len()).filter(kept).map(|p| y[p]), "values")?;
    Vector::from_list(a.nrows(), indices, values)
}

/// y(i) for all rows, or those that the mask allows.
fn all_rows<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: View<'_, Rhs<R>, I>,
    mask: Option<MaskSpec<'_, VectorPattern<I>>>,
) -> Result<Vector<Out<R>, I>> {
    let (m, identity, blocks) = (a.nrows(), <R::Add as Monoid>::IDENTITY, light_row_blocks(a.pattern())?);
    let mask = mask.map(|mask| mask.effective());
    let allows = |i: usize| mask.is_none_or(|mask| mask.allows(i));
    let View::Full(x) = x else {
        let (y, found) = fill_found(threads, "mxv", &blocks, identity, &|block, y, found| {
            for ((i, y), found) in block.zip(y).zip(found).filter(|((i, _), _)| allows(*i)) {
                *found = row(ring, a, x, i, y);
            }
        })?;
        return Vector::from_bitmap(Bitmap::on(threads, "entries of a result", m, |i| i as u64, |i| found[i])?, y);
    };
    let found = Bitmap::of_rows(threads, "entries of a result", a.row_ptr())?;
    let y = fill(threads, "mxv", &blocks, &|i| i, identity, &|block, y| {
        let (first, allowed) = (block.start, |run: Range<usize>, y: &mut [Out<R>]| rows(ring, a, x, run, y));
        match mask {
            None => allowed(block, y),
            Some(_) => {
                runs(block, allows).for_each(|run| allowed(run.clone(), &mut y[run.start - first..run.end - first]))
            }
        }
    })?;
    if mask.is_none() && found.count() == m {
        return Vector::full(y);
    }
    let found = match mask {
        None => found,
        Some(_) => {
            let has = |i: usize| allows(i) && bit(found.words(), i);
            Bitmap::on(threads, "entries of a result", m, |i| i as u64, has)?
        }
    };
    Vector::from_bitmap(found, y)
}

/// Whether row i and x share an index; if so writes y(i), over an initial identity.
#[inline(always)]
fn row<R: Semiring, I: Index>(ring: R, a: &Csr<Lhs<R>, I>, x: View<'_, Rhs<R>, I>, i: usize, y: &mut Out<R>) -> bool {
    if let View::Full(x) = x {
        rows(ring, a, x, i..i + 1, std::slice::from_mut(y));
        return !a.row(i).0.is_empty();
    }
    let (add, mul, terminal) = (ring.add(), ring.mul(), <R::Add as Monoid>::TERMINAL);
    let ((ks, values), mut found) = (a.row(i), false);
    let product =
        |k: I, value, x| mul.mul::<Host>(V(value), V(x), At { i: V(i as u64), k: V(k.get() as u64), j: V(0) });
    if <R::Add as Monoid>::IS_LAST {
        let last = ks.iter().zip(values).rev().find_map(|(&k, &value)| Some((k, value, entry(x, k)?)));
        return last.map(|(k, value, x)| *y = product(k, value, x).0).is_some();
    }
    for (&k, &value) in ks.iter().zip(values) {
        let Some(x) = entry(x, k) else { continue };
        found = true;
        *y = add.apply::<Host>(V(*y), product(k, value, x)).0;
        if terminal == Some(*y) {
            break;
        }
    }
    found
}

/// x(k).
#[inline(always)]
fn entry<T: Value, I: Index>(x: View<'_, T, I>, k: I) -> Option<T> {
    match x {
        View::Bitmap(words, values) => bit(words, k.get()).then(|| values[k.get()]),
        View::List(ks, values) => ks.binary_search(&k).ok().map(|p| values[p]),
        View::Full(values) => Some(values[k.get()]),
    }
}

/// `y(j) = e ⊕ x(k) ⊗ A(k, j) ⊕ …` over the k where x and A both have an entry; see [`mxv_entries`].
pub(crate) fn vxm_entries<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    x: &Vector<Lhs<R>, I>,
    a: &Csr<Rhs<R>, I>,
    mask: Option<MaskSpec<'_, VectorPattern<I>>>,
) -> Result<Vector<Out<R>, I>> {
    let (columns, sums) = match x.view() {
        View::List(ks, xs) => vxm_list(threads, ring, x.len(), (ks, xs), a, mask)?,
        _ => {
            let x = x.to_sparse()?;
            vxm_list(threads, ring, x.len(), (x.indices(), x.values()), a, mask)?
        }
    };
    Vector::from_list(a.ncols(), columns, sums)
}

//! y = A ⊕.⊗ x where x has entries at some places: y has one where row and vector meet.

use super::blocks::row_blocks;
use super::mask::VectorMask;
use super::mxv::mxv;
use super::vxm::vxm;
use crate::algebra::{At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, Rhs, Semiring, V};
use crate::kernels::fill;
use crate::par::Threads;
use crate::sparse::vector_forms::cleared;
use crate::sparse::{BitmapVec, Form};
use crate::{Csr, Error, Index, Result, Vector};

use bitvec::slice::BitSlice;

/// The places of a result that are computed: those that are marked, or those that are not.
pub(crate) type Places<'a> = Option<(&'a BitSlice<u64>, bool)>;

fn check(places: Places<'_>, expected: usize) -> Result<()> {
    match places {
        Some((m, _)) if m.len() != expected => Err(Error::Length { what: "mask", found: m.len(), expected }),
        _ => Ok(()),
    }
}

/// The mask as the operations on dense vectors take it.
fn mask(places: Places<'_>) -> Option<VectorMask<'_>> {
    places.map(|(bits, complement)| VectorMask { bits, complement })
}

/// `y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ …` over the k for which both have an entry, in the order of A's row, or in that of [`mxv`] if x has
/// all, e the identity of ⊕; y has an entry where there is such a k and where the mask lets it through.
pub(crate) fn mxv_entries<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    x: &Vector<Rhs<R>, I>,
    places: Places<'_>,
) -> Result<Vector<Out<R>, I>> {
    if a.ncols() != x.len() {
        return Err(Error::Shape { op: "mxv", lhs: a.shape(), rhs: (x.len(), 1) });
    }
    check(places, a.nrows())?;
    let lets = |i: usize| places.is_none_or(|(m, complement)| m[i] != complement);
    if let Some(x) = x.as_full() {
        let y = mxv(threads, ring, a, x, mask(places))?;
        let empty = |i: usize| a.row_ptr()[i] == a.row_ptr()[i + 1];
        if places.is_none() && !(0..a.nrows()).any(empty) {
            return Vector::full(y);
        }
        let mut marks = cleared(y.len())?;
        for i in (0..y.len()).filter(|&i| lets(i) && !empty(i)) {
            marks.set(i, true);
        }
        return Vector::of(Form::Bitmap(BitmapVec::from_parts(marks, y)));
    }
    let list;
    let (marks, values) = match x.form() {
        Form::Bitmap(x) => (x.present(), x.values()),
        Form::Sparse(x) if x.nnz() > 0 => {
            list = x.to_bitmap()?;
            (list.present(), list.values())
        }
        _ => return Vector::empty(a.nrows()),
    };
    let (add, mul) = (ring.add(), ring.mul());
    let identity = <R::Add as Monoid>::IDENTITY;
    let found = fill(threads, "mxv", &row_blocks(a.pattern())?, &|i| i, identity, &|rows, y| {
        for (i, y) in rows.zip(y).filter(|(i, _)| lets(*i)) {
            let ((ks, xs), mut sum) = (a.row(i), identity);
            for (&k, &x) in ks.iter().zip(xs).filter(|(k, _)| marks[k.get()]) {
                let at = At { i: V(i as u64), k: V(k.get() as u64), j: V(0) };
                sum = add.apply::<Host>(V(sum), mul.mul::<Host>(V(x), V(values[k.get()]), at)).0;
            }
            *y = sum;
        }
    })?;
    let mut met = cleared(found.len())?;
    for i in (0..found.len()).filter(|&i| lets(i)) {
        met.set(i, a.row(i).0.iter().any(|k| marks[k.get()]));
    }
    Vector::of(Form::Bitmap(BitmapVec::from_parts(met, found)))
}

/// `y(j) = e ⊕ x(k) ⊗ A(k, j) ⊕ …`, likewise.
pub(crate) fn vxm_entries<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    x: &Vector<Lhs<R>, I>,
    a: &Csr<Rhs<R>, I>,
    places: Places<'_>,
) -> Result<Vector<Out<R>, I>> {
    check(places, a.ncols())?;
    let mask = mask(places);
    match x.form() {
        Form::Sparse(x) => vxm(threads, ring, x, a, mask)?,
        _ => vxm(threads, ring, &x.to_sparse()?, a, mask)?,
    }
    .try_into()
}

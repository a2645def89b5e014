//! Vectors: f(x), x ∘ y, products with matrices, folds.

use std::cmp::Ordering;

use bitvec::slice::BitSlice;
use bitvec::vec::BitVec;

use super::super::blocks::{blocks, row_blocks};
use super::super::ewise::{ABSENT, Places};
use super::super::vxm::vxm_words;
use super::entries::{OfOne, OfTwo, gathered};
use super::matrix::reduce;
use crate::algebra::{Array, Constant, Slice, Value};
use crate::kernels::{BLOCK, CompiledMonoid, CompiledOp, CompiledRing, Operand, fill_any, mxv_by_formula};
use crate::par::{Threads, collected, reserved};
use crate::sparse::vector_forms::{cleared, same_bits};
use crate::sparse::{BitmapVec, Form, SparseVec};
use crate::{Error, Pattern, Result, Vector};

/// Where a vector has entries.
#[derive(Clone, Copy)]
enum At<'a> {
    /// At these places, increasing; there are as many values.
    List(&'a [u32]),
    /// Where it is marked, of a value for each place.
    Marks(&'a BitSlice<u64>),
    /// Everywhere.
    All,
}

/// A vector whose type is forgotten, borrowed.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    len: usize,
    at: At<'a>,
    values: Slice<'a>,
}

impl<'a> View<'a> {
    pub(crate) fn of<T: Value>(v: &'a Vector<T>) -> Self {
        let (at, values) = match v.form() {
            Form::Full(values) => (At::All, &values[..]),
            Form::Sparse(v) => (At::List(v.indices()), v.values()),
            // No entry ever: there are no values either.
            Form::Bitmap(v) if v.values().is_empty() => (At::List(&[]), v.values()),
            Form::Bitmap(v) => (At::Marks(v.present()), v.values()),
        };
        Self { len: v.len(), at, values: Slice::of(values) }
    }
    /// Places, with or without an entry.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// Type of the values, and where they lie: as many as entries, or one for each place.
    pub(crate) fn values(&self) -> Slice<'a> {
        self.values
    }
    /// Which places have an entry.
    pub(crate) fn marks(&self) -> Result<BitVec<u64>> {
        let mut marks = cleared(self.len)?;
        match self.at {
            At::All => marks.fill(true),
            At::Marks(m) => marks.copy_from_bitslice(m),
            At::List(at) => at.iter().for_each(|&i| marks.set(i as usize, true)),
        }
        Ok(marks)
    }
    /// The places of its entries and the values there, as lists.
    pub(crate) fn entries(&self, threads: &Threads) -> Result<(Vec<u32>, Array)> {
        let places = match self.at {
            At::List(at) => collected(at.len(), at.iter().copied(), "indices")?,
            At::Marks(m) => collected(m.count_ones(), m.iter_ones().map(|i| i as u32), "indices")?,
            At::All => collected(self.len, (0..self.len).map(|i| i as u32), "indices")?,
        };
        let all = |n: usize| collected(n, 0..n, "positions");
        let at = match self.at {
            At::List(at) => all(at.len())?,
            At::All => all(self.len)?,
            At::Marks(_) => collected(places.len(), places.iter().map(|&i| i as usize), "positions")?,
        };
        Ok((places, gathered(threads, "entries", self.values, &at)?))
    }
    /// Other values in the places of its own.
    pub(crate) fn with(&self, values: Array) -> Result<AnyVector> {
        let at = match self.at {
            At::List(at) => Made::List(collected(at.len(), at.iter().copied(), "indices")?),
            At::Marks(marks) => Made::Marks(same_bits(marks)?),
            At::All => Made::All,
        };
        Ok(AnyVector { len: self.len, at, values })
    }
    /// The same entries, a value for each place; `None` if it has them.
    fn spread(&self) -> Result<Option<(BitVec<u64>, Array)>> {
        let At::List(at) = self.at else { return Ok(None) };
        let mut values = Array::zeros(self.values.ty(), self.len)?;
        values.slice_mut().scatter(&self.values, at.iter().map(|&i| i as usize));
        Ok(Some((self.marks()?, values)))
    }
    /// Calls `f` with a value for each place, and which of them are entries, unless all are.
    fn with_all<R>(&self, f: impl FnOnce(Slice<'_>, Option<&BitSlice<u64>>) -> Result<R>) -> Result<R> {
        match (self.at, self.spread()?) {
            (_, Some((marks, values))) => f(values.slice(), Some(&marks)),
            (At::Marks(marks), None) => f(self.values, Some(marks)),
            _ => f(self.values, None),
        }
    }
}

/// Where a vector that was made has entries.
#[derive(Debug)]
enum Made {
    List(Vec<u32>),
    Marks(BitVec<u64>),
    All,
}

/// A vector whose type is known at run time, made by an operation.
#[derive(Debug)]
pub(crate) struct AnyVector {
    len: usize,
    at: Made,
    values: Array,
}

impl AnyVector {
    /// Of `len` places, with these entries; places increase.
    pub(crate) fn list(len: usize, places: Vec<u32>, values: Array) -> Self {
        Self { len, at: Made::List(places), values }
    }
    /// Type of the values.
    pub(crate) fn values(&self) -> &Array {
        &self.values
    }
    /// As a vector of T.
    /// # Errors
    /// [`Error::Argument`] if its values are of another type; [`Error::OutOfMemory`].
    pub(crate) fn typed<T: Value>(self) -> Result<Vector<T>> {
        let values = self.values.into_vec::<T>().map_err(|values| Error::Argument {
            name: "vector",
            message: format!("its values are {}, not {}", values.ty(), T::TYPE),
        })?;
        match self.at {
            Made::All => Vector::full(values),
            Made::Marks(marks) => Vector::of(Form::Bitmap(BitmapVec::from_parts(marks, values))),
            Made::List(places) => Vector::of(Form::Sparse(SparseVec::new(self.len, places, values)?)),
        }
    }
}

/// c(i) = f(a(i), s, i, 0) where a has an entry.
pub(crate) fn apply_vector(threads: &Threads, f: &CompiledOp, a: View<'_>, s: &Constant) -> Result<AnyVector> {
    let of = OfOne::new(f, s)?;
    let place = |p: usize| match a.at {
        At::List(at) => (u64::from(at[p]), 0),
        _ => (p as u64, 0),
    };
    let blocks = blocks(a.values.len(), &|p| p as u64)?;
    let values = fill_any(f.ty(), threads, "apply", &blocks, &|p| p, &|block, out| {
        let values = a.values.part(block.clone());
        if of.reads_place {
            of.at(values, out, |p| place(block.start + p));
        } else {
            of.anywhere(values, out);
        }
    })?;
    a.with(values)
}

/// The places of the entries for which f(a(i), s, i, 0), a truth value, holds.
pub(crate) fn marks_where(threads: &Threads, f: &CompiledOp, a: View<'_>, s: &Constant) -> Result<BitVec<u64>> {
    let flags = apply_vector(threads, f, a, s)?;
    let mut marks = cleared(a.len)?;
    if let Some(flags) = flags.values.slice().get::<bool>() {
        match a.at {
            At::List(at) => at.iter().zip(flags).for_each(|(&i, &keep)| marks.set(i as usize, keep)),
            At::Marks(m) => m.iter_ones().for_each(|i| marks.set(i, flags[i])),
            At::All => flags.iter().enumerate().for_each(|(i, &keep)| marks.set(i, keep)),
        }
    }
    Ok(marks)
}

/// Positions in two lists: all of them (`union`), or those of both; and the places where they stand.
fn merged(a: &[u32], b: &[u32], union: bool) -> Result<(Vec<u32>, Vec<Places>)> {
    let most = if union { a.len() + b.len() } else { a.len().min(b.len()) };
    let (mut indices, mut places) = (reserved(most, "indices")?, reserved(most, "positions")?);
    let (mut p, mut q) = (0, 0);
    while p < a.len() || q < b.len() {
        let order = match (a.get(p), b.get(q)) {
            (Some(i), Some(j)) => i.cmp(j),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        let (i, place, (da, db)) = match order {
            Ordering::Less => (a[p], (p, ABSENT), (1, 0)),
            Ordering::Greater => (b[q], (ABSENT, q), (0, 1)),
            Ordering::Equal => (a[p], (p, q), (1, 1)),
        };
        if union || order == Ordering::Equal {
            indices.push(i);
            places.push(place);
        }
        (p, q) = (p + da, q + db);
    }
    Ok((indices, places))
}

/// c(i) = a(i) ∘ b(i) where both have an entry; with `union`, that of the one that has it elsewhere.
/// # Errors
/// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn ewise_vectors(
    threads: &Threads,
    op: &CompiledOp,
    (a, b): (View<'_>, View<'_>),
    union: bool,
) -> Result<AnyVector> {
    let name = if union { "ewise_add" } else { "ewise_mult" };
    if a.len != b.len {
        return Err(Error::Shape { op: name, lhs: (a.len, 1), rhs: (b.len, 1) });
    }
    let listed = |(indices, places): (Vec<u32>, Vec<Places>)| {
        let of = OfTwo::new(op, a.values, b.values)?;
        let blocks = blocks(places.len(), &|p| p as u64)?;
        let values = fill_any(op.ty(), threads, name, &blocks, &|p| p, &|block, out| {
            let first = block.start;
            for start in block.clone().step_by(BLOCK) {
                let part = start..block.end.min(start + BLOCK);
                of.meet(&places[part.clone()], &mut out.part(part.start - first..part.end - first));
            }
        })?;
        Ok(AnyVector::list(a.len, indices, values))
    };
    // A list asks the other vector for its places.
    let ask = |list: &[u32], other: At<'_>, place: &dyn Fn(usize, usize) -> Places| {
        let has = |i: usize| match other {
            At::Marks(marks) => marks[i],
            _ => true,
        };
        let (mut indices, mut places) = (reserved(list.len(), "indices")?, reserved(list.len(), "positions")?);
        for (p, &i) in list.iter().enumerate().filter(|(_, i)| has(**i as usize)) {
            indices.push(i);
            places.push(place(p, i as usize));
        }
        listed((indices, places))
    };
    match (a.at, b.at) {
        (At::List(x), At::List(y)) => return listed(merged(x, y, union)?),
        (At::List(x), y) if !union => return ask(x, y, &|p, i| (p, i)),
        (x, At::List(y)) if !union => return ask(y, x, &|q, i| (i, q)),
        _ => {}
    }
    a.with_all(|x, of_x| b.with_all(|y, of_y| everywhere(threads, op, (x, of_x), (y, of_y), union)))
}

/// Values and marks of a vector with a value for each place.
type Everywhere<'a> = (Slice<'a>, Option<&'a BitSlice<u64>>);

fn everywhere(
    threads: &Threads,
    op: &CompiledOp,
    (x, of_x): Everywhere<'_>,
    (y, of_y): Everywhere<'_>,
    union: bool,
) -> Result<AnyVector> {
    let name = if union { "ewise_add" } else { "ewise_mult" };
    let of = OfTwo::new(op, x, y)?;
    let marks = match (of_x, of_y) {
        (None, None) => None,
        (Some(m), None) | (None, Some(m)) => {
            if union {
                None
            } else {
                Some(same_bits(m)?)
            }
        }
        (Some(m), Some(n)) => {
            let mut marks = same_bits(m)?;
            if union {
                marks |= n;
            } else {
                marks &= n;
            }
            Some(marks)
        }
    };
    // Without marks, or at the places of both, also where neither has an entry: nobody looks at what stands there.
    let straight = !union || (of_x.is_none() && of_y.is_none());
    let has = |marks: Option<&BitSlice<u64>>, i: usize| marks.is_none_or(|m| m[i]);
    let values = fill_any(op.ty(), threads, name, &blocks(x.len(), &|i| i as u64)?, &|i| i, &|block, out| {
        if straight {
            return of.straight(block, out);
        }
        let (first, mut places) = (block.start, [(ABSENT, ABSENT); BLOCK]);
        for start in block.clone().step_by(BLOCK) {
            let part = start..block.end.min(start + BLOCK);
            for (place, i) in places.iter_mut().zip(part.clone()) {
                *place = (if has(of_x, i) { i } else { ABSENT }, if has(of_y, i) { i } else { ABSENT });
            }
            of.meet(&places[..part.len()], &mut out.part(part.start - first..part.end - first));
        }
    })?;
    Ok(AnyVector { len: x.len(), at: marks.map_or(Made::All, Made::Marks), values })
}

/// Which rows have entries.
pub(crate) fn rows_with_entries(a: &Pattern, values: Array) -> Result<AnyVector> {
    let mut marks = cleared(a.nrows())?;
    for (i, w) in a.row_ptr().windows(2).enumerate() {
        marks.set(i, w[0] < w[1]);
    }
    Ok(AnyVector { len: a.nrows(), at: Made::Marks(marks), values })
}

/// y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ … over the k for which both have an entry, in the order of A's row; y has an entry where there is
/// such a k.
/// # Errors
/// [`Error::Shape`]; [`Error::Argument`] if ⊗ takes other types; [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn mxv(threads: &Threads, ring: &CompiledRing, a: Operand<'_>, x: View<'_>) -> Result<AnyVector> {
    if a.pattern.ncols() != x.len {
        return Err(Error::Shape { op: "mxv", lhs: a.pattern.shape(), rhs: (x.len, 1) });
    }
    x.with_all(|values, marks| {
        let y = mxv_by_formula(threads, &row_blocks(a.pattern)?, ring, a, (values, marks))?;
        let Some(marks) = marks else { return rows_with_entries(a.pattern, y) };
        let mut met = cleared(a.pattern.nrows())?;
        for i in 0..a.pattern.nrows() {
            met.set(i, a.pattern.row(i).iter().any(|&k| marks[k as usize]));
        }
        Ok(AnyVector { len: y.len(), at: Made::Marks(met), values: y })
    })
}

/// y(j) = e ⊕ x(k) ⊗ A(k, j) ⊕ …, likewise, k increasing.
/// # Errors
/// As for [`mxv`].
pub(crate) fn vxm(threads: &Threads, ring: &CompiledRing, x: View<'_>, a: Operand<'_>) -> Result<AnyVector> {
    let (columns, sums) = match x.at {
        At::List(ks) => vxm_words(threads, ring, x.len, (ks, x.values), a)?,
        _ => {
            let (ks, xs) = x.entries(threads)?;
            vxm_words(threads, ring, x.len, (&ks, xs.slice()), a)?
        }
    };
    Ok(AnyVector::list(a.pattern.ncols(), columns, sums))
}

/// e ⊕ a(i) ⊕ … over the entries in order, as an array of one.
pub(crate) fn reduce_vector(threads: &Threads, monoid: &CompiledMonoid, a: View<'_>) -> Result<Array> {
    match a.at {
        At::Marks(_) => reduce(threads, monoid, a.entries(threads)?.1.slice()),
        _ => reduce(threads, monoid, a.values),
    }
}

//! Elementwise operations on vectors.
//!
//! Two lists are merged; a list is looked up in a vector of another form. If both store a value per index, the pattern
//! follows from their bitmaps, 64 indices at a time, and values are computed in blocks on all threads.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::blocks::blocks;
use crate::algebra::{BinaryOp, Host, IndexUnaryOp, Monoid, Number, Place, Slice, SliceMut, UnaryOp, V, Value};
use crate::kernels::{fill, folded};
use crate::par::{Threads, collected, note, reserved, zero_values};
use crate::sparse::{Bitmap, Combine, MaskSpec, VectorPattern, View, bit};
use crate::{Csr, Error, Index, Result, Vector};

/// One value per index, and the bitmap of entries unless all are present.
#[derive(Clone, Copy)]
struct Dense<'a, T> {
    bits: Option<&'a [u64]>,
    values: &'a [T],
}

impl<T: Copy> Dense<'_, T> {
    #[inline(always)]
    fn has(&self, i: usize) -> bool {
        self.bits.is_none_or(|bits| bit(bits, i))
    }
}

/// The vector in dense form, unless it is a list.
fn dense<T: Value, I: Index>(v: &Vector<T, I>) -> Option<Dense<'_, T>> {
    match v.view() {
        View::List(..) => None,
        View::Bitmap(bits, values) => Some(Dense { bits: Some(bits), values }),
        View::Full(values) => Some(Dense { bits: None, values }),
    }
}

fn check<T: Value, U: Value, I: Index>(op: &'static str, a: &Vector<T, I>, b: &Vector<U, I>) -> Result<()> {
    if a.len() == b.len() {
        return Ok(());
    }
    Err(Error::Shape { op, lhs: (a.len(), 1), rhs: (b.len(), 1) })
}

/// The vector with entries at `bits`, or full without, whose values `value` writes in blocks; `x` is a filler value.
fn make<T: Value, I: Index>(
    threads: &Threads,
    op: &'static str,
    len: usize,
    bits: Option<Bitmap>,
    x: T,
    value: &(dyn Fn(Range<usize>, &mut [T]) + Sync),
) -> Result<Vector<T, I>> {
    let values = fill(threads, op, &blocks(len, &|i| i as u64)?, &|i| i, x, value)?;
    match bits {
        None => Vector::full(values),
        Some(bits) => Vector::from_bitmap(bits, values),
    }
}

/// The union of bitmaps; `None` if either is full.
fn either(len: usize, a: Option<&[u64]>, b: Option<&[u64]>) -> Result<Option<Bitmap>> {
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    Bitmap::of(len, |at| a[at] | b[at]).map(Some)
}
/// The intersection of bitmaps; `None` if both are full.
fn both(len: usize, a: Option<&[u64]>, b: Option<&[u64]>) -> Result<Option<Bitmap>> {
    let word = |bits: Option<&[u64]>, at: usize| bits.map_or(!0, |bits| bits[at]);
    if a.is_none() && b.is_none() {
        return Ok(None);
    }
    Bitmap::of(len, |at| word(a, at) & word(b, at)).map(Some)
}

/// The operands at an index of the union.
enum Pair<A, B> {
    A(A),
    B(B),
    Both(A, B),
}

/// Indices and values of a list.
type List<'a, T, I> = (&'a [I], &'a [T]);

/// The union or the intersection of two lists, of length `len`.
fn merge<A: Value, B: Value, T: Value, I: Index>(
    len: usize,
    (ia, xa): List<'_, A, I>,
    (ib, xb): List<'_, B, I>,
    f: impl Fn(Pair<A, B>) -> Option<T>,
) -> Result<Vector<T, I>> {
    let most = ia.len() + ib.len();
    let (mut indices, mut values) = (reserved(most, "indices")?, reserved(most, "values")?);
    let (mut p, mut q) = (0, 0);
    while p < ia.len() || q < ib.len() {
        let order = match (ia.get(p), ib.get(q)) {
            (Some(i), Some(j)) => i.cmp(j),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        let (i, pair, (da, db)) = match order {
            Ordering::Less => (ia[p], Pair::A(xa[p]), (1, 0)),
            Ordering::Greater => (ib[q], Pair::B(xb[q]), (0, 1)),
            Ordering::Equal => (ia[p], Pair::Both(xa[p], xb[q]), (1, 1)),
        };
        (p, q) = (p + da, q + db);
        if let Some(x) = f(pair) {
            indices.push(i);
            values.push(x);
        }
    }
    Vector::from_list(len, indices, values)
}

/// The update x = x ∘ y of blocks of values.
pub(crate) fn joins<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
    op: O,
) -> impl Fn(&mut SliceMut<'_>, &Slice<'_>) + Sync {
    move |x, y| {
        let (Some(x), Some(y)) = (x.get::<T>(), y.get::<T>()) else { unreachable!("values of the operator's type") };
        for (x, &y) in x.iter_mut().zip(y) {
            *x = op.apply::<Host>(V(*x), V(y)).0;
        }
    }
}
/// [`joins`] with the operands swapped: x = y ∘ x.
fn joins_before<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(op: O) -> impl Fn(&mut SliceMut<'_>, &Slice<'_>) + Sync {
    move |x, y| {
        let (Some(x), Some(y)) = (x.get::<T>(), y.get::<T>()) else { unreachable!("values of the operator's type") };
        for (x, &y) in x.iter_mut().zip(y) {
            *x = op.apply::<Host>(V(y), V(*x)).0;
        }
    }
}

/// c(i) = a(i) ∘ b(i) where both have an entry; where one has, that entry.
pub(crate) fn ewise_add<T: Value, O: BinaryOp<A = T, B = T, Out = T>, I: Index>(
    threads: &Threads,
    op: O,
    a: &Vector<T, I>,
    b: &Vector<T, I>,
) -> Result<Vector<T, I>> {
    check("ewise_add", a, b)?;
    let (a, b) = (&a.settled()?, &b.settled()?);
    let f = |x, y| op.apply::<Host>(V(x), V(y)).0;
    let (x, y) = match (a.view(), b.view()) {
        (View::List(ia, xa), View::List(ib, xb)) => {
            note(|| "  two lists are merged".into());
            return merge(a.len(), (ia, xa), (ib, xb), |pair| {
                Some(match pair {
                    Pair::A(x) | Pair::B(x) => x,
                    Pair::Both(x, y) => f(x, y),
                })
            });
        }
        _ => match (dense(a), dense(b)) {
            (Some(x), Some(y)) => (x, y),
            // A list updates a copy of the other vector; two dense ones are computed at all indices, in blocks.
            (Some(_), _) => return joined(threads, a, b, &joins(op)),
            _ => return joined(threads, b, a, &joins_before(op)),
        },
    };
    let Some(&any) = y.values.first() else { return Ok(b.clone()) };
    let bits = either(a.len(), x.bits, y.bits)?;
    make(threads, "ewise_add", a.len(), bits, any, &|block, c| {
        if x.bits.is_none() && y.bits.is_none() {
            for ((c, &x), &y) in c.iter_mut().zip(&x.values[block.clone()]).zip(&y.values[block]) {
                *c = f(x, y);
            }
            return;
        }
        for (c, i) in c.iter_mut().zip(block) {
            *c = match (x.has(i), y.has(i)) {
                (true, true) => f(x.values[i], y.values[i]),
                (true, false) => x.values[i],
                _ => y.values[i],
            };
        }
    })
}

/// A dense vector combined with a list by the update `combine`.
fn joined<T: Value, I: Index>(
    threads: &Threads,
    a: &Vector<T, I>,
    b: &Vector<T, I>,
    combine: &Combine<'_>,
) -> Result<Vector<T, I>> {
    let mut c = a.clone();
    c.put_values(threads, b.pattern(), Slice::of(b.values()), Some(combine))?;
    Ok(c)
}

/// c(i) = a(i) ∘ b(i) where both have an entry.
pub(crate) fn ewise_mult<O: BinaryOp, I: Index>(
    threads: &Threads,
    op: O,
    a: &Vector<O::A, I>,
    b: &Vector<O::B, I>,
) -> Result<Vector<O::Out, I>> {
    check("ewise_mult", a, b)?;
    let f = |x, y| op.apply::<Host>(V(x), V(y)).0;
    // Looks up the indices of a list in a vector of another form.
    let looked_up = |a: &Vector<O::A, I>, b: &Vector<O::B, I>| match (a.view(), b.view()) {
        (View::List(ia, xa), View::List(ib, xb)) => Some(merge(a.len(), (ia, xa), (ib, xb), |pair| match pair {
            Pair::Both(x, y) => Some(f(x, y)),
            _ => None,
        })),
        (View::List(ia, xa), _) => Some(listed(a.len(), (ia, xa), |i, x| b.get(i).map(|&y| f(x, y)))),
        (_, View::List(ib, xb)) => Some(listed(a.len(), (ib, xb), |i, y| a.get(i).map(|&x| f(x, y)))),
        _ => None,
    };
    if let Some(made) = looked_up(a, b) {
        return made;
    }
    // A sparse bitmap is converted to a list first.
    let (a, b) = (&a.settled()?, &b.settled()?);
    if let Some(made) = looked_up(a, b) {
        return made;
    }
    let (x, y) = match (dense(a), dense(b)) {
        (Some(x), Some(y)) if !a.is_empty() => (x, y),
        _ => return Vector::empty(a.len()),
    };
    let bits = both(a.len(), x.bits, y.bits)?;
    make(threads, "ewise_mult", a.len(), bits, f(x.values[0], y.values[0]), &|block, c| {
        for ((c, &x), &y) in c.iter_mut().zip(&x.values[block.clone()]).zip(&y.values[block]) {
            *c = f(x, y);
        }
    })
}

/// The list of entries with values computed by `f`.
fn listed<A: Value, T: Value, I: Index>(
    len: usize,
    (is, xs): List<'_, A, I>,
    f: impl Fn(usize, A) -> Option<T>,
) -> Result<Vector<T, I>> {
    let (mut indices, mut values) = (reserved(is.len(), "indices")?, reserved(is.len(), "values")?);
    for (&i, &x) in is.iter().zip(xs) {
        if let Some(y) = f(i.get(), x) {
            indices.push(i);
            values.push(y);
        }
    }
    Vector::from_list(len, indices, values)
}

/// c(i) = a(i) ∘ b(i) where either has an entry, `for_a` and `for_b` replacing absent ones.
pub(crate) fn ewise_union<O: BinaryOp, I: Index>(
    threads: &Threads,
    op: O,
    (a, for_a): (&Vector<O::A, I>, O::A),
    (b, for_b): (&Vector<O::B, I>, O::B),
) -> Result<Vector<O::Out, I>> {
    check("ewise_union", a, b)?;
    let f = |x, y| op.apply::<Host>(V(x), V(y)).0;
    if let (View::List(ia, xa), View::List(ib, xb)) = (a.view(), b.view()) {
        return merge(a.len(), (ia, xa), (ib, xb), |pair| {
            Some(match pair {
                Pair::A(x) => f(x, for_b),
                Pair::B(y) => f(for_a, y),
                Pair::Both(x, y) => f(x, y),
            })
        });
    }
    let (of_a, of_b) = (spread(a)?, spread(b)?);
    let (x, y) = (of_a.dense(a), of_b.dense(b));
    let bits = either(a.len(), x.bits, y.bits)?;
    make(threads, "ewise_union", a.len(), bits, f(for_a, for_b), &|block, c| {
        for (c, i) in c.iter_mut().zip(block) {
            let x = if x.has(i) { x.values[i] } else { for_a };
            let y = if y.has(i) { y.values[i] } else { for_b };
            *c = f(x, y);
        }
    })
}

/// The values of a list in dense form; empty for any other vector, which is dense already.
struct Spread<T>(Option<(Bitmap, Vec<T>)>);
fn spread<T: Value, I: Index>(v: &Vector<T, I>) -> Result<Spread<T>> {
    let View::List(indices, values) = v.view() else { return Ok(Spread(None)) };
    let mut all = zero_values(v.len(), "a bitmap vector")?;
    indices.iter().zip(values).for_each(|(i, &x)| all[i.get()] = x);
    Ok(Spread(Some((v.pattern().to_bitmap()?, all))))
}
impl<T: Value> Spread<T> {
    fn dense<'a, I: Index>(&'a self, v: &'a Vector<T, I>) -> Dense<'a, T> {
        match &self.0 {
            Some((bits, values)) => Dense { bits: Some(bits.words()), values },
            None => dense(v).unwrap_or(Dense { bits: None, values: v.values() }),
        }
    }
}

/// c(i) = f(a(i), i), with the pattern of a.
fn map<A: Value, T: Value, I: Index>(
    threads: &Threads,
    op: &'static str,
    a: &Vector<A, I>,
    f: impl Fn(A, usize) -> T + Sync,
) -> Result<Vector<T, I>> {
    let a = &a.settled()?;
    // Entry p has index p unless the vector is a list.
    let values = a.values();
    let index = |p: usize| match a.view() {
        View::List(indices, _) => indices[p].get(),
        _ => p,
    };
    let Some(&first) = values.first() else { return Vector::empty(a.len()) };
    let values = fill(threads, op, &blocks(values.len(), &|p| p as u64)?, &|p| p, f(first, index(0)), &|block, c| {
        let xs = c.iter_mut().zip(&values[block.clone()]);
        match a.view() {
            View::List(is, _) => xs.zip(&is[block]).for_each(|((c, &x), i)| *c = f(x, i.get())),
            _ => xs.zip(block).for_each(|((c, &x), i)| *c = f(x, i)),
        }
    })?;
    Vector::of_values(Arc::clone(a.pattern()), Arc::new(values))
}

/// c(i) = f(a(i)) where a has an entry; c shares the pattern of a.
pub(crate) fn apply<O: UnaryOp, I: Index>(threads: &Threads, op: O, a: &Vector<O::A, I>) -> Result<Vector<O::Out, I>> {
    map(threads, "apply", a, |x, _| op.apply::<Host>(V(x)).0)
}

#[inline(always)]
fn at<O: IndexUnaryOp>(op: O, x: O::A, s: O::S, i: usize) -> O::Out {
    op.apply::<Host>(V(x), V(s), Place { i: V(i as u64), j: V(0) }).0
}

/// c(i) = f(a(i), s, i, 0) where a has an entry; c shares the pattern of a.
pub(crate) fn apply_index<O: IndexUnaryOp, I: Index>(
    threads: &Threads,
    op: O,
    a: &Vector<O::A, I>,
    s: O::S,
) -> Result<Vector<O::Out, I>> {
    map(threads, "apply", a, |x, i| at(op, x, s, i))
}

/// The entries for which f(a(i), s, i, 0) holds; shares the values of a unless it is a list.
pub(crate) fn select<O: IndexUnaryOp<Out = bool>, I: Index>(
    op: O,
    a: &Vector<O::A, I>,
    s: O::S,
) -> Result<Vector<O::A, I>> {
    a.filtered(|i, x| at(op, x, s, i))
}

/// The pattern of the nonzero values; the pattern itself if all are.
pub(crate) fn nonzero<T: Number, I: Index>(a: &Vector<T, I>) -> Result<Arc<VectorPattern<I>>> {
    a.pattern_where(|_, x| x != T::ZERO)
}

/// e ⊕ a(i) ⊕ … over the entries in order, e the identity of ⊕: the fold of [`reduce`](super::reduce) over a matrix of
/// one row.
pub(crate) fn reduce<M: Monoid, I: Index>(threads: &Threads, monoid: M, a: &Vector<M::Out, I>) -> Result<M::Out> {
    match a.view() {
        View::Full(x) | View::List(_, x) => super::reduce::fold_all(threads, monoid, x),
        View::Bitmap(..) => {
            let x = collected(a.nnz(), a.iter().map(|(_, x)| *x), "entries")?;
            super::reduce::fold_all(threads, monoid, &x)
        }
    }
}

/// y(i) = e ⊕ A(i, j) ⊕ … for the nonempty rows that the mask allows: the fold of
/// [`reduce_rows`](super::reduce_rows).
///
/// Cost: O(m + nnz(A)); if the mask allows at most one row in 16, O(entries of the mask and of these rows).
pub(crate) fn reduce_rows<M: Monoid, I: Index>(
    threads: &Threads,
    monoid: M,
    a: &Csr<M::Out, I>,
    mask: Option<MaskSpec<'_, VectorPattern<I>>>,
) -> Result<Vector<M::Out, I>> {
    let m = a.nrows();
    mask.map_or(Ok(()), |mask| mask.check(m))?;
    let has = |i: usize| a.row_ptr()[i] < a.row_ptr()[i + 1];
    if let Some(mask) = mask.filter(|mask| mask.count() <= m / Vector::<M::Out, I>::SPARSE) {
        let mut rows = mask.to_list()?;
        rows.retain(|i| has(i.get()));
        let values = collected(rows.len(), rows.iter().map(|i| folded(monoid, a.row(i.get()).1)), "values")?;
        return Vector::from_list(m, rows, values);
    }
    let y = super::reduce_rows(threads, monoid, a)?;
    let Some(mask) = mask.map(|mask| mask.effective()) else {
        return Vector::from_bitmap(Bitmap::of_rows(threads, "entries of a result", a.row_ptr())?, y);
    };
    let bits = Bitmap::of(m, |at| {
        let rows = 64 * at..m.min(64 * at + 64);
        rows.fold(0, |word, i| word | u64::from(has(i) && mask.allows(i)) << (i % 64))
    })?;
    Vector::from_bitmap(bits, y)
}

/// w(p) = v(indices(p)).
pub(crate) fn extract<T: Value, I: Index>(v: &Vector<T, I>, indices: &[I]) -> Result<Vector<T, I>> {
    let bound = v.len();
    if let Some(position) = indices.iter().position(|i| i.get() >= bound) {
        let index = indices[position].get() as u128;
        return Err(Error::IndexRange { axis: "vector", position, index, bound });
    }
    let found = || indices.iter().enumerate().filter_map(|(p, i)| Some((p, *v.get(i.get())?)));
    let n = found().count();
    let at = collected(n, found().map(|(p, _)| I::cast(p)), "indices")?;
    let values = collected(n, found().map(|(_, x)| x), "values")?;
    Vector::new(indices.len(), at, values)
}

/// w(indices(p)) = v(p), of length `len`, for distinct indices.
pub(crate) fn scatter<T: Value, I: Index>(v: &Vector<T, I>, indices: &[I], len: usize) -> Result<Vector<T, I>> {
    if v.len() != indices.len() {
        return Err(Error::Length { what: "indices of an assignment", found: indices.len(), expected: v.len() });
    }
    pattern_of(indices, len)?;
    let mut entries = collected(v.nnz(), v.iter().map(|(p, x)| (indices[p], *x)), "entries")?;
    if !entries.is_sorted_by_key(|e| e.0) {
        entries.sort_unstable_by_key(|e| e.0);
    }
    let values = collected(entries.len(), entries.iter().map(|e| e.1), "values")?;
    Vector::new(len, collected(entries.len(), entries.iter().map(|e| e.0), "indices")?, values)
}

/// The pattern of length `len` with these distinct indices, in any order.
///
/// Cost: O(k) time for k increasing indices, otherwise O(k log k).
/// # Errors
/// [`Error::IndexRange`], [`Error::Duplicate`], [`Error::OutOfMemory`].
pub(crate) fn pattern_of<I: Index>(indices: &[I], len: usize) -> Result<VectorPattern<I>> {
    if let Some(position) = indices.iter().position(|i| i.get() >= len) {
        let index = indices[position].get() as u128;
        return Err(Error::IndexRange { axis: "vector", position, index, bound: len });
    }
    let mut sorted = collected(indices.len(), indices.iter().copied(), "indices of an assignment")?;
    if !sorted.is_sorted() {
        sorted.sort_unstable();
    }
    match sorted.windows(2).find(|w| w[0] == w[1]) {
        Some(twice) => Err(Error::Duplicate { row: 0, column: twice[0].get() }),
        None => VectorPattern::new(len, sorted),
    }
}

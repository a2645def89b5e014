//! Operations on vectors, entry by entry.
//!
//! Two lists are merged. Everything else goes by marks: which places have an entry follows from the marks of the operands, 64
//! places at a time; values are then computed in blocks on all threads.

use std::cmp::Ordering;
use std::ops::Range;

use bitvec::slice::BitSlice;
use bitvec::vec::BitVec;

use super::blocks::blocks;
use crate::algebra::{BinaryOp, Host, IndexUnaryOp, Monoid, Place, UnaryOp, V, Value};
use crate::kernels::fill;
use crate::par::{Threads, collected, reserved};
use crate::sparse::vector_forms::cleared;
use crate::sparse::{BitmapVec, Form, SparseVec};
use crate::{Error, Index, Result, Vector};

/// A vector by marks: its values at all places, and which of them are entries; all, if there are no marks.
struct Marked<'a, T> {
    marks: Option<&'a BitSlice<u64>>,
    values: &'a [T],
}

impl<T: Copy> Marked<'_, T> {
    #[inline(always)]
    fn has(&self, i: usize) -> bool {
        self.marks.is_none_or(|marks| marks[i])
    }
}

/// Calls `f` with the vector by marks, made for the call if it is a list. A list without entries has no value to fill places
/// with, so `f` gets nothing.
fn marked<T: Value, I: Index, R>(v: &Vector<T, I>, f: impl FnOnce(Option<Marked<'_, T>>) -> Result<R>) -> Result<R> {
    match v.form() {
        Form::Full(values) => f(Some(Marked { marks: None, values })),
        Form::Bitmap(b) => f(Some(Marked { marks: Some(b.present()), values: b.values() })),
        Form::Sparse(list) if list.nnz() == 0 => f(None),
        Form::Sparse(list) => {
            let b = list.to_bitmap()?;
            f(Some(Marked { marks: Some(b.present()), values: b.values() }))
        }
    }
}

fn check<T: Value, U: Value, I: Index>(op: &'static str, a: &Vector<T, I>, b: &Vector<U, I>) -> Result<()> {
    if a.len() == b.len() {
        return Ok(());
    }
    Err(Error::Shape { op, lhs: (a.len(), 1), rhs: (b.len(), 1) })
}

/// The vector with entries at `marks`, all places if there are none, whose values `value` writes in blocks; `x` is any value.
fn make<T: Value, I: Index>(
    threads: &Threads,
    op: &'static str,
    len: usize,
    marks: Option<BitVec<u64>>,
    x: T,
    value: &(dyn Fn(Range<usize>, &mut [T]) + Sync),
) -> Result<Vector<T, I>> {
    let values = fill(threads, op, &blocks(len, &|i| i as u64)?, &|i| i, x, value)?;
    match marks {
        None => Vector::full(values),
        Some(marks) => Vector::of(Form::Bitmap(BitmapVec::from_parts(marks, values))),
    }
}

fn either(a: Option<&BitSlice<u64>>, b: Option<&BitSlice<u64>>) -> Result<Option<BitVec<u64>>> {
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    let mut marks = crate::sparse::vector_forms::same_bits(a)?;
    marks |= b;
    Ok(Some(marks))
}
fn both(a: Option<&BitSlice<u64>>, b: Option<&BitSlice<u64>>) -> Result<Option<BitVec<u64>>> {
    use crate::sparse::vector_forms::same_bits;
    Ok(match (a, b) {
        (None, None) => None,
        (Some(a), None) | (None, Some(a)) => Some(same_bits(a)?),
        (Some(a), Some(b)) => {
            let mut marks = same_bits(a)?;
            marks &= b;
            Some(marks)
        }
    })
}

/// What stands at a place of either vector.
enum Meet<A, B> {
    A(A),
    B(B),
    Both(A, B),
}

/// The union or the intersection of two lists.
fn merge<A: Value, B: Value, T: Value, I: Index>(
    a: &SparseVec<A, I>,
    b: &SparseVec<B, I>,
    f: impl Fn(Meet<A, B>) -> Option<T>,
) -> Result<Vector<T, I>> {
    let most = a.nnz() + b.nnz();
    let (mut indices, mut values) = (reserved(most, "indices")?, reserved(most, "values")?);
    let (mut p, mut q) = (0, 0);
    while p < a.nnz() || q < b.nnz() {
        let order = match (a.indices().get(p), b.indices().get(q)) {
            (Some(i), Some(j)) => i.cmp(j),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        let (i, meet, (da, db)) = match order {
            Ordering::Less => (a.indices()[p], Meet::A(a.values()[p]), (1, 0)),
            Ordering::Greater => (b.indices()[q], Meet::B(b.values()[q]), (0, 1)),
            Ordering::Equal => (a.indices()[p], Meet::Both(a.values()[p], b.values()[q]), (1, 1)),
        };
        (p, q) = (p + da, q + db);
        if let Some(x) = f(meet) {
            indices.push(i);
            values.push(x);
        }
    }
    Vector::of(Form::Sparse(SparseVec::from_parts(a.len(), indices, values)))
}

/// c(i) = a(i) ∘ b(i) where both have an entry; where one has, that entry.
pub(crate) fn ewise_add<T: Value, O: BinaryOp<A = T, B = T, Out = T>, I: Index>(
    threads: &Threads,
    op: O,
    a: &Vector<T, I>,
    b: &Vector<T, I>,
) -> Result<Vector<T, I>> {
    check("ewise_add", a, b)?;
    let f = |x, y| op.apply::<Host>(V(x), V(y)).0;
    if let (Form::Sparse(a), Form::Sparse(b)) = (a.form(), b.form()) {
        return merge(a, b, |meet| {
            Some(match meet {
                Meet::A(x) | Meet::B(x) => x,
                Meet::Both(x, y) => f(x, y),
            })
        });
    }
    marked(a, |x| {
        marked(b, |y| {
            let (Some(x), Some(y)) = (x, y) else { return Ok(if b.nnz() == 0 { a } else { b }.clone()) };
            let Some(&any) = y.values.first() else { return Ok(b.clone()) };
            let marks = either(x.marks, y.marks)?;
            make(threads, "ewise_add", a.len(), marks, any, &|block, c| {
                if x.marks.is_none() && y.marks.is_none() {
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
        })
    })
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
    match (a.form(), b.form()) {
        (Form::Sparse(a), Form::Sparse(b)) => merge(a, b, |meet| match meet {
            Meet::Both(x, y) => Some(f(x, y)),
            _ => None,
        }),
        // A list asks the other vector for its places.
        (Form::Sparse(list), _) => listed(list, |i, x| b.get(i).map(|&y| f(x, y))),
        (_, Form::Sparse(list)) => listed(list, |i, y| a.get(i).map(|&x| f(x, y))),
        _ => marked(a, |x| {
            marked(b, |y| {
                let (Some(x), Some(y)) = (x, y) else { return Vector::empty(a.len()) };
                if a.is_empty() {
                    return Vector::empty(0);
                }
                let marks = both(x.marks, y.marks)?;
                make(threads, "ewise_mult", a.len(), marks, f(x.values[0], y.values[0]), &|block, c| {
                    for ((c, &x), &y) in c.iter_mut().zip(&x.values[block.clone()]).zip(&y.values[block]) {
                        *c = f(x, y);
                    }
                })
            })
        }),
    }
}

/// The entries that `f` makes of those of a list.
fn listed<A: Value, T: Value, I: Index>(
    list: &SparseVec<A, I>,
    f: impl Fn(usize, A) -> Option<T>,
) -> Result<Vector<T, I>> {
    let (mut indices, mut values) = (reserved(list.nnz(), "indices")?, reserved(list.nnz(), "values")?);
    for (&i, &x) in list.indices().iter().zip(list.values()) {
        if let Some(y) = f(i.get(), x) {
            indices.push(i);
            values.push(y);
        }
    }
    Vector::of(Form::Sparse(SparseVec::from_parts(list.len(), indices, values)))
}

/// c(i) = a(i) ∘ b(i) where either has an entry, `for_a` and `for_b` standing for one that is missing.
pub(crate) fn ewise_union<O: BinaryOp, I: Index>(
    threads: &Threads,
    op: O,
    (a, for_a): (&Vector<O::A, I>, O::A),
    (b, for_b): (&Vector<O::B, I>, O::B),
) -> Result<Vector<O::Out, I>> {
    check("ewise_union", a, b)?;
    let f = |x, y| op.apply::<Host>(V(x), V(y)).0;
    if let (Form::Sparse(a), Form::Sparse(b)) = (a.form(), b.form()) {
        return merge(a, b, |meet| {
            Some(match meet {
                Meet::A(x) => f(x, for_b),
                Meet::B(y) => f(for_a, y),
                Meet::Both(x, y) => f(x, y),
            })
        });
    }
    marked(a, |x| {
        marked(b, |y| {
            let none = cleared(a.len())?;
            let marks = either(
                x.as_ref().map_or(Some(none.as_bitslice()), |x| x.marks),
                y.as_ref().map_or(Some(none.as_bitslice()), |y| y.marks),
            )?;
            make(threads, "ewise_union", a.len(), marks, f(for_a, for_b), &|block, c| {
                for (c, i) in c.iter_mut().zip(block) {
                    let x = x.as_ref().filter(|x| x.has(i)).map_or(for_a, |x| x.values[i]);
                    let y = y.as_ref().filter(|y| y.has(i)).map_or(for_b, |y| y.values[i]);
                    *c = f(x, y);
                }
            })
        })
    })
}

/// c(i) = f(a(i), i), with the marks of a.
fn map<A: Value, T: Value, I: Index>(
    threads: &Threads,
    op: &'static str,
    a: &Vector<A, I>,
    f: impl Fn(A, usize) -> T + Sync,
) -> Result<Vector<T, I>> {
    match a.form() {
        Form::Sparse(list) => listed(list, |i, x| Some(f(x, i))),
        _ if a.is_empty() => Vector::empty(0),
        _ => marked(a, |x| {
            let Some(x) = x else { return Vector::empty(a.len()) };
            let marks = x.marks.map(crate::sparse::vector_forms::same_bits).transpose()?;
            make(threads, op, a.len(), marks, f(x.values[0], 0), &|block, c| {
                for ((c, &x), i) in c.iter_mut().zip(&x.values[block.clone()]).zip(block) {
                    *c = f(x, i);
                }
            })
        }),
    }
}

/// c(i) = f(a(i)) where a has an entry.
pub(crate) fn apply<O: UnaryOp, I: Index>(threads: &Threads, op: O, a: &Vector<O::A, I>) -> Result<Vector<O::Out, I>> {
    map(threads, "apply", a, |x, _| op.apply::<Host>(V(x)).0)
}

#[inline(always)]
fn at<O: IndexUnaryOp>(op: O, x: O::A, s: O::S, i: usize) -> O::Out {
    op.apply::<Host>(V(x), V(s), Place { i: V(i as u64), j: V(0) }).0
}

/// c(i) = f(a(i), s, i, 0) where a has an entry.
pub(crate) fn apply_index<O: IndexUnaryOp, I: Index>(
    threads: &Threads,
    op: O,
    a: &Vector<O::A, I>,
    s: O::S,
) -> Result<Vector<O::Out, I>> {
    map(threads, "apply", a, |x, i| at(op, x, s, i))
}

/// The entries for which f(a(i), s, i, 0) holds.
pub(crate) fn select<O: IndexUnaryOp<Out = bool>, I: Index>(
    op: O,
    a: &Vector<O::A, I>,
    s: O::S,
) -> Result<Vector<O::A, I>> {
    match a.form() {
        Form::Sparse(list) => listed(list, |i, x| at(op, x, s, i).then_some(x)),
        _ => {
            let mut marks = cleared(a.len())?;
            for (i, &x) in a.iter() {
                marks.set(i, at(op, x, s, i));
            }
            a.kept(&marks)
        }
    }
}

/// Which entries are not 0.
pub(crate) fn nonzero<T: crate::algebra::Num, I: Index>(a: &Vector<T, I>) -> Result<BitVec<u64>> {
    let mut marks = cleared(a.len())?;
    for (i, _) in a.iter().filter(|(_, x)| **x != T::ZERO) {
        marks.set(i, true);
    }
    Ok(marks)
}

/// e ⊕ a(i) ⊕ … over the entries in order, e the identity of ⊕: the fold of [`reduce`](super::reduce) over a matrix of one
/// row.
pub(crate) fn reduce<M: Monoid, I: Index>(threads: &Threads, monoid: M, a: &Vector<M::Out, I>) -> Result<M::Out> {
    match a.form() {
        Form::Full(x) => super::reduce::fold_all(threads, monoid, x),
        Form::Sparse(list) => super::reduce::fold_all(threads, monoid, list.values()),
        Form::Bitmap(_) => {
            let x = collected(a.nnz(), a.iter().map(|(_, x)| *x), "entries")?;
            super::reduce::fold_all(threads, monoid, &x)
        }
    }
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

/// w(indices(p)) = v(p), of `len` places; no index twice.
pub(crate) fn scatter<T: Value, I: Index>(v: &Vector<T, I>, indices: &[I], len: usize) -> Result<Vector<T, I>> {
    if v.len() != indices.len() {
        return Err(Error::Length { what: "indices of an assignment", found: indices.len(), expected: v.len() });
    }
    marks(indices, len)?;
    let mut entries = collected(v.nnz(), v.iter().map(|(p, x)| (indices[p], *x)), "entries")?;
    entries.sort_unstable_by_key(|e| e.0);
    let values = collected(entries.len(), entries.iter().map(|e| e.1), "values")?;
    Vector::new(len, collected(entries.len(), entries.iter().map(|e| e.0), "indices")?, values)
}

/// The places `indices` of `len`, none of them twice.
pub(crate) fn marks<I: Index>(indices: &[I], len: usize) -> Result<BitVec<u64>> {
    let mut marks = cleared(len)?;
    for (position, i) in indices.iter().enumerate() {
        let i = i.get();
        if i >= len {
            return Err(Error::IndexRange { axis: "vector", position, index: i as u128, bound: len });
        }
        if marks.replace(i, true) {
            return Err(Error::Duplicate { row: 0, column: i });
        }
    }
    Ok(marks)
}

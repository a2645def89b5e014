//! In-place writes of a vector: merging entries, and restriction to a mask.
//!
//! The value type is erased, so the code is compiled once per index type.

use std::any::Any;
use std::sync::Arc;

use super::MaskSpec;
use super::bitmap::Bitmap;
use super::vector_dense::put_dense;
use super::vector_pattern::{Form, Indices, VectorPattern};
use super::vector_target::{Combine, Source, Target, shared, unshared};
use super::vector_writer::Writer;
use super::{copied, out_of_memory, reserved};
use crate::par::Threads;
use crate::{Error, Index, Result};

/// c = c ⊙ t. Where both have an entry, `combine` joins them, or t's replaces c's without it; elsewhere the existing
/// entry is kept.
///
/// Cost: O(nnz(t)), amortized, plus copies of shared storage. c is unchanged on error.
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn put<I: Index>(
    threads: &Threads,
    c: Target<'_, I>,
    t: Source<'_, I>,
    combine: Option<&Combine<'_>>,
) -> Result<()> {
    // Dispatched on concrete index types, so that programs use the code compiled into the library.
    let Target { pattern, values, moved } = c;
    if let (Some(to), Some(from)) = (same_mut(pattern), same(t.pattern)) {
        let (c, t) = (Target { pattern: to, values, moved }, Source { pattern: from, values: t.values });
        return put_u32(threads, c, t, combine);
    }
    match (same_mut(pattern), same(t.pattern)) {
        (Some(to), Some(from)) => {
            let (c, t) = (Target { pattern: to, values, moved }, Source { pattern: from, values: t.values });
            put_u64(threads, c, t, combine)
        }
        _ => unreachable!("indices are u32 or u64"),
    }
}
fn put_u32(threads: &Threads, c: Target<'_, u32>, t: Source<'_, u32>, combine: Option<&Combine<'_>>) -> Result<()> {
    put_of(threads, c, t, combine)
}
fn put_u64(threads: &Threads, c: Target<'_, u64>, t: Source<'_, u64>, combine: Option<&Combine<'_>>) -> Result<()> {
    put_of(threads, c, t, combine)
}

/// Keeps the entries that the mask allows; the mask has c's length.
///
/// Cost: O(min(nnz(c), nnz of the mask)), amortized, plus copies of shared storage; O(n / 64) if a full vector becomes
/// a bitmap.
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn retain<I: Index>(c: Target<'_, I>, mask: MaskSpec<'_, VectorPattern<I>>) -> Result<()> {
    let (Target { pattern, values, moved }, complement) = (c, mask.complement);
    if let (Some(pattern), Some(allowed)) = (same_mut(pattern), same(mask.pattern)) {
        return retain_u32(Target { pattern, values, moved }, MaskSpec { pattern: allowed, complement });
    }
    match (same_mut(pattern), same(mask.pattern)) {
        (Some(pattern), Some(allowed)) => {
            retain_u64(Target { pattern, values, moved }, MaskSpec { pattern: allowed, complement })
        }
        _ => unreachable!("indices are u32 or u64"),
    }
}
fn retain_u32(c: Target<'_, u32>, mask: MaskSpec<'_, VectorPattern<u32>>) -> Result<()> {
    retain_of(c, mask)
}
fn retain_u64(c: Target<'_, u64>, mask: MaskSpec<'_, VectorPattern<u64>>) -> Result<()> {
    retain_of(c, mask)
}

/// Converts to the form of a new vector with these entries.
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn conform<I: Index>(c: Target<'_, I>) -> Result<()> {
    let Target { pattern, values, moved } = c;
    if let Some(pattern) = same_mut(pattern) {
        return conform_u32(Target { pattern, values, moved });
    }
    match same_mut(pattern) {
        Some(pattern) => conform_u64(Target { pattern, values, moved }),
        None => unreachable!("indices are u32 or u64"),
    }
}
/// Converts a list to a bitmap.
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn spread<I: Index>(mut c: Target<'_, I>) -> Result<()> {
    c.spread()
}
fn conform_u32(mut c: Target<'_, u32>) -> Result<()> {
    c.conform()
}
fn conform_u64(mut c: Target<'_, u64>) -> Result<()> {
    c.conform()
}

/// `x` as a `B`, if `A` is `B`.
fn same<A: 'static, B: 'static>(x: &A) -> Option<&B> {
    (x as &dyn Any).downcast_ref()
}
fn same_mut<A: 'static, B: 'static>(x: &mut A) -> Option<&mut B> {
    (x as &mut dyn Any).downcast_mut()
}

fn put_of<I: Index>(
    threads: &Threads,
    mut c: Target<'_, I>,
    t: Source<'_, I>,
    combine: Option<&Combine<'_>>,
) -> Result<()> {
    if t.pattern.nnz() == 0 {
        return Ok(());
    }
    match (c.pattern.form(), t.pattern.indices()) {
        (Form::List(list), Indices::List(new)) => {
            let matches = Matches::new(list, new)?;
            let moves = matches.moves(list.len());
            if !c.suits_bitmap(matches.fresh.len(), moves) || c.spread().is_err() {
                return insert(c, new, &t, matches, combine);
            }
        }
        (Form::List(_), _) => c.spread()?,
        _ => {}
    }
    put_dense(threads, c, &t, combine)
}

/// Matches of a second list of indices in a list: pairs of a position in the list and a position in the second list.
struct Matches {
    /// Indices present in both.
    old: Vec<(usize, usize)>,
    /// New indices, with the position in the list before which each is inserted.
    fresh: Vec<(usize, usize)>,
}

impl Matches {
    /// Cost: O(m log(k / m)) comparisons for m indices and a list of k.
    fn new<I: Index>(list: &[I], indices: &[I]) -> Result<Self> {
        let pairs = || reserved(indices.len(), "positions");
        let (mut matches, mut from) = (Self { old: pairs()?, fresh: pairs()? }, 0);
        for (p, i) in indices.iter().enumerate() {
            from += first_from(&list[from..], i);
            let pairs = if list.get(from) == Some(i) { &mut matches.old } else { &mut matches.fresh };
            pairs.push((from, p));
        }
        Ok(matches)
    }
    /// Number of entries that an insertion writes into a list of `nnz`: the shifted and the inserted ones.
    fn moves(&self, nnz: usize) -> usize {
        self.fresh.first().map_or(0, |&(at, _)| nnz - at + self.fresh.len())
    }
}

/// Position of the first index that is not below `i`, by exponential search.
fn first_from<I: Index>(list: &[I], i: &I) -> usize {
    let mut end = 1;
    while end < list.len() && list[end - 1] < *i {
        end *= 2;
    }
    let (start, end) = (end / 2, end.min(list.len()));
    start + list[start..end].partition_point(|j| j < i)
}

/// Writes entries into a list.
fn insert<I: Index>(
    c: Target<'_, I>,
    new: &[I],
    t: &Source<'_, I>,
    mut matches: Matches,
    combine: Option<&Combine<'_>>,
) -> Result<()> {
    let Target { pattern, values, moved } = c;
    let (nnz, fresh) = (pattern.nnz(), matches.fresh.len());
    // Everything that can fail precedes the first change.
    let mut writer = Writer::new(t, combine)?;
    matches.old.iter_mut().for_each(|(_, p)| *p = writer.position(*p));
    let mut list = None;
    if fresh > 0 {
        let Form::List(indices) = unshared(pattern)?.form_mut() else { return Err(shared()) };
        indices.try_reserve(fresh).map_err(|_| out_of_memory::<I>("indices", nnz + fresh))?;
        list = Some(indices);
    }
    let values = values.unshared()?;
    if !values.try_reserve(fresh) {
        let bytes = (nnz + fresh) as u128 * t.values.ty().size() as u128;
        return Err(Error::OutOfMemory { what: "values", bytes });
    }
    writer.write(&mut values.slice_mut(), t.values, &matches.old);
    let Some(list) = list else { return Ok(()) };
    *moved = moved.saturating_add(matches.moves(nnz));
    list.resize(nnz + fresh, I::default());
    values.resize_zeroed(nnz + fresh);
    // Backwards, so that each entry is shifted once.
    let (mut end, mut values) = (nnz, values.slice_mut());
    for (left, &(at, p)) in matches.fresh.iter().enumerate().rev() {
        list.copy_within(at..end, at + left + 1);
        values.copy_within(at..end, at + left + 1);
        list[at + left] = new[p];
        values.copy_pairs(&t.values, &[(at + left, writer.position(p))]);
        end = at;
    }
    Ok(())
}

fn retain_of<I: Index>(mut c: Target<'_, I>, mask: MaskSpec<'_, VectorPattern<I>>) -> Result<()> {
    let (len, keep) = (c.pattern.len(), !mask.complement);
    let all = match mask.pattern.indices() {
        Indices::All => Some(keep),
        _ if mask.pattern.nnz() == 0 => Some(!keep),
        _ if std::ptr::eq(&**c.pattern, mask.pattern) => Some(keep),
        _ => None,
    };
    match (all, c.pattern.form(), mask.pattern.indices()) {
        (Some(true), ..) => Ok(()),
        (Some(false), ..) => c.gather(Vec::new(), std::iter::empty()),
        (_, Form::List(list), Indices::List(allowed)) if keep && allowed.len() < list.len() => {
            let Matches { old, .. } = Matches::new(list, allowed)?;
            let mut indices = reserved(old.len(), "indices")?;
            indices.extend(old.iter().map(|&(at, _)| list[at]));
            c.gather(indices, old.iter().map(|&(at, _)| at))
        }
        (_, Form::List(list), Indices::List(removed)) if !keep && removed.len() < list.len() => {
            let Matches { old, .. } = Matches::new(list, removed)?;
            remove(c, &old)
        }
        (_, Form::List(list), allowed) => {
            let mut removed = reserved(list.len(), "positions")?;
            let mut from = 0;
            for (p, i) in list.iter().enumerate() {
                let among = match allowed {
                    Indices::List(allowed) => {
                        from += first_from(&allowed[from..], i);
                        allowed.get(from) == Some(i)
                    }
                    _ => allowed.contains(i.get()),
                };
                if among != keep {
                    removed.push((p, 0));
                }
            }
            remove(c, &removed)
        }
        // A bitmap or a full vector, restricted to a list.
        (_, form, Indices::List(allowed)) if keep => {
            let mut indices = reserved(allowed.len(), "indices")?;
            match form {
                Form::Bitmap(bits) => indices.extend(allowed.iter().copied().filter(|i| bits.get(i.get()))),
                _ => indices.extend_from_slice(allowed),
            }
            let at = copied(&indices, "indices")?;
            c.gather(indices, at.iter().map(|i| i.get()))
        }
        (_, Form::Bitmap(_), allowed) => {
            let Form::Bitmap(bits) = unshared(c.pattern)?.form_mut() else { return Err(shared()) };
            match allowed {
                Indices::List(removed) => {
                    removed.iter().for_each(|i| _ = bits.remove(i.get()));
                    return Ok(());
                }
                Indices::Bitmap(words) => bits.map(|at, old| old & if keep { words[at] } else { !words[at] }),
                Indices::All => {}
            }
            c.settle()
        }
        (_, Form::Full, allowed) => {
            let mut bits = match allowed {
                Indices::Bitmap(words) => Bitmap::of(len, |at| if keep { words[at] } else { !words[at] })?,
                _ => Bitmap::of(len, |_| !0)?,
            };
            if let Indices::List(removed) = allowed {
                removed.iter().for_each(|i| _ = bits.remove(i.get()));
            }
            *c.pattern = Arc::new(VectorPattern::bitmap(bits));
            c.settle()
        }
    }
}

/// Removes the entries at increasing positions from a list.
fn remove<I: Index>(mut c: Target<'_, I>, removed: &[(usize, usize)]) -> Result<()> {
    let Some(&(start, _)) = removed.first() else { return Ok(()) };
    let nnz = c.pattern.nnz();
    let moves = nnz - start;
    if c.suits_bitmap(0, moves) && removed.len() < nnz / 2 {
        let pattern = Arc::clone(c.pattern);
        let Form::List(list) = pattern.form() else { return Err(shared()) };
        if c.spread().is_ok() {
            let Form::Bitmap(bits) = unshared(c.pattern)?.form_mut() else { return Err(shared()) };
            removed.iter().for_each(|&(p, _)| _ = bits.remove(list[p].get()));
            return Ok(());
        }
    }
    let Form::List(list) = unshared(c.pattern)?.form_mut() else { return Err(shared()) };
    let values = c.values.unshared()?;
    *c.moved = c.moved.saturating_add(moves);
    let mut to = start;
    let ends = removed.iter().skip(1).map(|p| p.0).chain([nnz]);
    for (&(at, _), end) in removed.iter().zip(ends) {
        list.copy_within(at + 1..end, to);
        values.slice_mut().copy_within(at + 1..end, to);
        to += end - at - 1;
    }
    list.truncate(to);
    values.resize_zeroed(to);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vector;

    fn is_list(v: &Vector<f64>) -> bool {
        matches!(v.pattern().form(), Form::List(_))
    }

    /// Insertions at the front shift all entries: the list becomes a bitmap once the shifts have cost as much.
    #[test]
    fn inserts_pay_for_a_bitmap() {
        let n = 1 << 14;
        let (mut first, mut last) = (Vector::<f64>::empty(n).unwrap(), Vector::<f64>::empty(n).unwrap());
        for entries in 1..2000 {
            first.set(n - entries, 1.0).unwrap();
            last.set(entries, 1.0).unwrap();
            assert_eq!(is_list(&first), entries * (entries + 1) / 2 <= n / 16, "{entries} entries");
            assert_eq!(is_list(&last), entries <= n / 16, "{entries} entries");
        }
        // Removals count as well.
        let mut v = Vector::<f64>::new(n, (0..1000).collect(), vec![1.0; 1000]).unwrap();
        v.remove(0).unwrap();
        assert!(is_list(&v));
        v.remove(1).unwrap();
        assert!(!is_list(&v) && v.nnz() == 998);
    }

    /// A bitmap becomes a list when a pass reads all of its words anyway, not at single removals.
    #[test]
    fn masks_make_lists_of_bitmaps() {
        let n = 1 << 14;
        let mut v = Vector::<f64>::constant(n, 1.0).unwrap();
        let third =
            VectorPattern::bitmap(VectorPattern::list(n, (0..n as u32).step_by(3).collect()).to_bitmap().unwrap());
        v.retain(MaskSpec::new(&third, false)).unwrap();
        assert!(!is_list(&v) && v.nnz() == n.div_ceil(3));
        for i in (600..n).step_by(3) {
            v.remove(i).unwrap();
        }
        assert!(!is_list(&v) && v.nnz() == 200);
        v.retain(MaskSpec::new(&third, false)).unwrap();
        assert!(is_list(&v) && v.nnz() == 200);
    }
}

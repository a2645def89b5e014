//! Column reductions straight from compressed rows: no transpose, and columns are bounds-checked on the way.

use std::sync::{Mutex, PoisonError};

use super::blocks::fill_words;
use super::by_formula::with_type;
use super::unfused::no_structs;
use super::{BLOCK, CompiledMonoid, Fold};
use crate::algebra::words::{from_words, words};
use crate::algebra::{Array, Slice, Word};
use crate::par::{Threads, collected, filled, reserved};
use crate::sparse::Bitmap;
use crate::{Error, Result};

/// Maximum number of parts.
const PARTS: usize = 8;
/// Minimum entries per part.
const PART: usize = 1 << 15;
/// Entries whose columns are bounds-checked together before they are folded.
const LOOKED: usize = 1 << 10;

/// y(j) = e ⊕ x(p) ⊕ … over the p with `columns[p]` = j, and a bitmap of the columns that occur.
///
/// The entries are cut into at most eight parts of equal length; their number depends on nnz and `ncols` alone. Each
/// part is folded in order, then the partial results are, so the result is bitwise the same for any number of threads.
/// Cost: O(nnz + ncols) time; memory for O(nnz + ncols) partial results.
/// # Errors
/// [`Error::IndexRange`] for a column that is not below `ncols`; [`Error::Argument`] if values are of another type;
/// [`Error::Unsupported`] for structs and for a ⊕ that returns its last operand; [`Error::OutOfMemory`],
/// [`Error::Cancelled`].
/// # Panics
/// If there is not one value for each column.
pub(crate) fn column_folds(
    threads: &Threads,
    monoid: &CompiledMonoid,
    ncols: usize,
    columns: &[u32],
    x: Slice<'_>,
) -> Result<(Array, Bitmap)> {
    assert_eq!(columns.len(), x.len(), "one value for each column");
    if monoid.formula().is_last() {
        let why = "parts of the entries are folded separately".into();
        return Err(Error::Unsupported { what: format!("{} over columns", monoid.text()), why });
    }
    with_type!(monoid.ty(), T => {
        let (fold, Some(x)) = (monoid.fold::<T>()?, x.get::<T>()) else { return Err(no_structs()) };
        let (y, present) = folds_of_words(threads, fold, ncols, columns, words(x))?;
        // SAFETY: each word is the identity or a fold of values of type T.
        Ok((Array::of(unsafe { from_words::<T>(y) }), present))
    }, Err(no_structs()))
}

/// Partial results with a byte flag for each column. Setting bits would chain each store to the previous one.
type Part<W> = (usize, Vec<W>, Vec<u8>);

fn folds_of_words<W: Word>(
    threads: &Threads,
    fold: &dyn Fold<W>,
    ncols: usize,
    columns: &[u32],
    x: &[W],
) -> Result<(Vec<W>, Bitmap)> {
    const OP: &str = "reduce_columns";
    let (nnz, e) = (x.len(), fold.identity());
    let parts = (nnz / ncols.max(PART / 2).saturating_mul(2)).clamp(1, PARTS);
    // A power of two balances the load.
    let parts = 1 << parts.ilog2();
    // `Fold::to_window` takes a power of two.
    let Some(window) = ncols.max(1).checked_next_power_of_two() else {
        return Err(crate::par::out_of_memory::<W>("results of columns", ncols));
    };
    let partial = Mutex::new(reserved::<Part<W>>(parts, OP)?);
    threads.for_each_of(
        OP,
        parts,
        || Ok(()),
        |(), part| {
            let (mut y, mut present) = (filled(window, e, OP)?, filled(window.max(64), 0u8, OP)?);
            let entries = share(nnz, parts, part)..share(nnz, parts, part + 1);
            for (js, x) in columns[entries.clone()].chunks(LOOKED).zip(x[entries].chunks(LOOKED)) {
                if !within(js, ncols) {
                    return Err(beyond(columns, ncols));
                }
                fold.to_window(&mut y, js, x);
                js.iter().for_each(|&j| present[j as usize] = 1);
            }
            partial.lock().unwrap_or_else(PoisonError::into_inner).push((part, y, present));
            Ok(())
        },
    )?;
    let mut partial = partial.into_inner().unwrap_or_else(PoisonError::into_inner);
    partial.sort_unstable_by_key(|(part, ..)| *part);
    let mut rest = partial.into_iter();
    let Some((_, mut first, mut present)) = rest.next() else { return Err(no_structs()) };
    let rest = rest.as_slice();
    for (.., more) in rest {
        present.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
    }
    let words = ncols.div_ceil(64);
    let present = collected(words, present.chunks_exact(64).take(words).map(bits), OP)?;
    if rest.is_empty() {
        first.truncate(ncols);
    } else {
        let blocks = crate::par::try_split(ncols, ncols.div_ceil(PART), |j| j as u64)?;
        first = fill_words(threads, OP, &blocks, &|j| j, e, &|block, y| {
            let (mut z, mut js) = ([e; BLOCK], [0; BLOCK]);
            js.iter_mut().zip(0..).for_each(|(to, j)| *to = j);
            for (y, at) in y.chunks_mut(BLOCK).zip(block.step_by(BLOCK)) {
                let (at, n) = (at..at + y.len(), y.len());
                z[..n].copy_from_slice(&first[at.clone()]);
                for (_, more, _) in rest {
                    fold.to_window(&mut z, &js[..n], &more[at.clone()]);
                }
                y.copy_from_slice(&z[..n]);
            }
        })?;
    }
    Ok((first, Bitmap::new(ncols, present)))
}

/// Whether all columns are below `ncols`.
fn within(js: &[u32], ncols: usize) -> bool {
    if ncols > 1 << 31 {
        return js.iter().all(|&j| (j as usize) < ncols);
    }
    // Branch-free: past the last column, either j or last − j is negative as a signed number.
    let last = (ncols as u32).wrapping_sub(1);
    js.iter().fold(0, |all, &j| all | j | last.wrapping_sub(j)) >> 31 == 0
}

/// Packs 64 byte flags, each 0 or 1, into a word.
fn bits(flags: &[u8]) -> u64 {
    // The product has byte b of eight at bit 56 + b, without carries.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    flags
        .as_chunks::<8>()
        .0
        .iter()
        .zip((0..64).step_by(8))
        .fold(0, |word, (&eight, at)| word | u64::from_le_bytes(eight).wrapping_mul(GATHER) >> 56 << at)
}

/// First entry of a part.
fn share(nnz: usize, parts: usize, part: usize) -> usize {
    nnz / parts * part + (nnz % parts).min(part)
}

/// The error that names the first column out of range.
#[cold]
fn beyond(columns: &[u32], ncols: usize) -> Error {
    let position = columns.iter().position(|&j| j as usize >= ncols).unwrap_or_default();
    let index = columns.get(position).map_or(0, |&j| u128::from(j));
    Error::IndexRange { axis: "column", position, index, bound: ncols }
}

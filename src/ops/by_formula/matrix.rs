//! Matrix operations: f(A), A ∘ B, folds.

use std::ops::Range;
use std::sync::Arc;

use super::super::blocks::{blocks, row_blocks};
use super::super::ewise::{PositionPair, UnionChunk, common_rows, is_one, union_words};
use super::super::reduce::PART;
use super::entries::{Ewise, OfOne, OfTwo};
use crate::algebra::{Array, Constant, Slice, SliceMut, Word};
use crate::kernels::{
    CompiledMonoid, CompiledOp, FromItems, Operand, Write, fill_any, fold_by_formula, folds_by_formula, listed_any,
};
use crate::par::{Threads, collected};
use crate::{Pattern, Result};

/// The values of C(i, j) = f(A(i, j), s, i, j), in the order of those of A.
pub(crate) fn apply(threads: &Threads, f: &CompiledOp, a: Operand<'_>, s: &Constant) -> Result<Array> {
    let of = OfOne::new(f, s)?;
    let (pattern, values) = (&**a.pattern, a.values);
    let row_ptr = pattern.row_ptr();
    if !of.is_positional {
        let blocks = blocks(values.len(), &|p| p as u64)?;
        return fill_any(f.ty(), threads, "apply", &blocks, &|p| p, &|block, out| of.anywhere(values.part(block), out));
    }
    fill_any(f.ty(), threads, "apply", &row_blocks(pattern)?, &|i| row_ptr[i], &|rows, out| {
        of.of_rows((pattern, values), rows, out);
    })
}

/// The entries of A that an operator selects, for [`Rearrange::Select`](super::Rearrange::Select).
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) for a formula that the CPU cannot run;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(crate) fn keeps<'a>(
    f: &'a CompiledOp,
    a: Operand<'a>,
    s: &'a Constant,
) -> Result<impl Fn(Range<usize>, &mut [bool]) + Sync + 'a> {
    let (of, a) = (OfOne::new(f, s)?, (&**a.pattern, a.values));
    Ok(move |rows: Range<usize>, kept: &mut [bool]| of.of_rows(a, rows, &mut SliceMut::of(kept)))
}

/// Two matrices to combine entry by entry.
struct Pair<'a> {
    threads: &'a Threads,
    op: &'static str,
    patterns: (&'a Pattern, &'a Pattern),
}

/// The union of their entries.
struct Either<'a>(Pair<'a>);
impl FromItems for Either<'_> {
    type Item = UnionChunk;
    type Structure = Pattern;
    fn make<W: Word>(&self, first: W, write: &Write<'_, UnionChunk, W>) -> Result<(Pattern, Vec<W>)> {
        union_words(self.0.threads, self.0.op, self.0.patterns, first, write)
    }
}

/// The intersection of their entries.
struct Both<'a>(Pair<'a>);
impl FromItems for Both<'_> {
    type Item = PositionPair;
    type Structure = Pattern;
    fn make<W: Word>(&self, first: W, write: &Write<'_, PositionPair, W>) -> Result<(Pattern, Vec<W>)> {
        common_rows(self.0.threads, self.0.op, self.0.patterns, first, write)
    }
}

/// C(i, j) = A(i, j) ∘ B(i, j) with the pattern that `ewise` prescribes. All rows are sorted. If A and B have the same
/// pattern, C shares it.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
/// [`Error::Cancelled`](crate::Error::Cancelled); [`Error::Unsupported`](crate::Error::Unsupported) if ∘ gives structs.
pub(crate) fn ewise(
    threads: &Threads,
    op: &CompiledOp,
    (a, b): (Operand<'_>, Operand<'_>),
    ewise: Ewise<'_>,
) -> Result<(Arc<Pattern>, Array)> {
    let name = ewise.name();
    let of = OfTwo::ewise(op, a.values, b.values, ewise)?;
    if is_one(threads, a.pattern, b.pattern)? {
        let blocks = blocks(a.values.len(), &|p| p as u64)?;
        let values = fill_any(op.ty(), threads, name, &blocks, &|p| p, &|block, out| of.aligned(block, out))?;
        return Ok((Arc::clone(a.pattern), values));
    }
    let pair = Pair { threads, op: name, patterns: (a.pattern, b.pattern) };
    let (pattern, values) = if ewise.is_union() {
        let write =
            |items: &[UnionChunk], out: &mut SliceMut<'_>| items.iter().for_each(|item| of.union_chunk(item, out));
        listed_any(op.ty(), &Either(pair), &write)?
    } else {
        listed_any(op.ty(), &Both(pair), &|positions, out| of.at_pairs(positions, out))?
    };
    Ok((Arc::new(pattern), values))
}

/// ⊕ over all values, as an array of one: the fold of [`reduce`](crate::ops::reduce), split at the same entries.
pub(crate) fn reduce(threads: &Threads, monoid: &CompiledMonoid, values: Slice<'_>) -> Result<Array> {
    if values.len() <= PART {
        return threads.alone("reduce", || fold_by_formula(monoid, values));
    }
    let parts = values.len().div_ceil(PART);
    let starts = collected(parts + 1, (0..=parts).map(|p| values.len().min(p * PART)), "parts of a fold")?;
    let of_parts =
        folds_by_formula(threads, "reduce", &blocks(parts, &|p| (p * PART) as u64)?, monoid, &starts, values)?;
    folds_by_formula(threads, "reduce", &blocks(1, &|p| p as u64)?, monoid, &[0, parts], of_parts.slice())
}

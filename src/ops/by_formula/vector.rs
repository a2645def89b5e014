//! Vector operations: f(x), x ∘ y, products with matrices, folds.

use std::cmp::Ordering;

use std::sync::Arc;

use super::super::blocks::{blocks, light_row_blocks, row_blocks};
use super::super::ewise::{ABSENT, PositionPair};
use super::super::vxm::vxm_words;
use super::entries::{Ewise, OfOne, OfTwo, gathered};
use super::matrix::reduce;
use crate::algebra::{Array, Constant, Input, Slice, SliceMut, Type, Value};
use crate::kernels::{
    BLOCK, CompiledMonoid, CompiledOp, CompiledRing, Operand, Rows, column_folds, fill, fill_any, folds_by_formula,
    mxv_by_formula,
};
use crate::par::{Threads, collected, filled, reserved};
use crate::sparse::{Bitmap, EffectiveMask, Indices, MaskSpec, VectorPattern, bit};
use crate::{Error, Index, Pattern, Result, Vector};

/// A type-erased vector, borrowed.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pattern: &'a Arc<VectorPattern>,
    values: Slice<'a>,
}

impl<'a> View<'a> {
    pub(crate) fn of<T: Value>(v: &'a Vector<T>) -> Self {
        Self { pattern: v.pattern(), values: Slice::of(v.values()) }
    }
    /// The pattern.
    pub(crate) fn pattern(&self) -> &'a Arc<VectorPattern> {
        self.pattern
    }
    /// The length, counting absent entries.
    pub(crate) fn len(&self) -> usize {
        self.pattern.len()
    }
    /// The values: one per entry of a list, otherwise one per index.
    pub(crate) fn values(&self) -> Slice<'a> {
        self.values
    }
    fn indices(&self) -> Indices<'a, u32> {
        self.pattern.indices()
    }
    /// The indices and values of its entries, as lists.
    pub(crate) fn entries(&self, threads: &Threads) -> Result<(Vec<u32>, Array)> {
        let indices = self.pattern.to_list()?;
        let positions = match self.indices() {
            Indices::Bitmap(_) => collected(indices.len(), indices.iter().map(|&i| i as usize), "positions"),
            _ => collected(indices.len(), 0..indices.len(), "positions"),
        }?;
        Ok((indices, gathered(threads, "entries", self.values, &positions)?))
    }
    /// A vector of other values on the same, shared pattern.
    pub(crate) fn with(&self, values: Array) -> AnyVector {
        AnyVector { pattern: ResultPattern::Pattern(Arc::clone(self.pattern)), values }
    }
    /// Calls `f` with one value per index, and the bitmap of entries unless all are present.
    fn with_dense<R>(&self, f: impl FnOnce(Slice<'_>, Option<&[u64]>) -> Result<R>) -> Result<R> {
        match self.indices() {
            Indices::All => f(self.values, None),
            Indices::Bitmap(words) => f(self.values, Some(words)),
            Indices::List(indices) => {
                let mut values = Array::zeros(self.values.ty(), self.len())?;
                values.slice_mut().scatter(&self.values, indices.iter().map(|&i| i as usize));
                f(values.slice(), Some(self.pattern.to_bitmap()?.words()))
            }
        }
    }
}

/// The pattern of a computed vector.
#[derive(Debug)]
enum ResultPattern {
    /// Length and indices; validated when the vector gets its type.
    List(usize, Vec<u32>),
    Pattern(Arc<VectorPattern>),
}

impl ResultPattern {
    /// The validated pattern of a vector with this number of values.
    fn checked(self, values: usize) -> Result<Arc<VectorPattern>> {
        match self {
            Self::Pattern(pattern) => Ok(pattern),
            Self::List(_, indices) if indices.len() != values => {
                Err(Error::Length { what: "values", found: values, expected: indices.len() })
            }
            Self::List(len, indices) => VectorPattern::new(len, indices).map(Arc::new),
        }
    }
}

fn mismatch(found: Type, expected: Type) -> Error {
    Error::Argument { name: "vector", message: format!("its values are {found}, not {expected}") }
}

/// A vector of a type known at run time, as computed by an operation.
#[derive(Debug)]
pub(crate) struct AnyVector {
    pattern: ResultPattern,
    values: Array,
}

impl AnyVector {
    /// A vector of length `len` with these entries; indices increase.
    pub(crate) fn list(len: usize, indices: Vec<u32>, values: Array) -> Self {
        Self { pattern: ResultPattern::List(len, indices), values }
    }
    /// A full vector.
    pub(crate) fn full(values: Array) -> Self {
        Self::of(VectorPattern::full(values.len()), values)
    }
    pub(super) fn of(pattern: VectorPattern, values: Array) -> Self {
        Self { pattern: ResultPattern::Pattern(Arc::new(pattern)), values }
    }
    /// The values.
    pub(crate) fn values(&self) -> &Array {
        &self.values
    }
    /// The vector with values of type T.
    /// # Errors
    /// [`Error::Argument`] if its values are of another type; [`Error::OutOfMemory`].
    pub(crate) fn typed<T: Value>(self) -> Result<Vector<T>> {
        let pattern = self.pattern.checked(self.values.slice().len())?;
        match self.values.into_vec::<T>() {
            Ok(values) => Vector::of_values(pattern, Arc::new(values)),
            Err(values) => Err(mismatch(values.ty(), T::TYPE)),
        }
    }
}

/// The update x = x ∘ y of blocks of values.
/// # Errors
/// [`Error::OutOfMemory`]; [`Error::Unsupported`] for a formula that the CPU cannot run.
pub(crate) fn joins(op: &CompiledOp) -> Result<impl Fn(&mut SliceMut<'_>, &Slice<'_>) + Sync> {
    let evaluator = op.evaluator()?;
    Ok(move |x: &mut SliceMut<'_>, y: &Slice<'_>| {
        evaluator.with(|blocks, workspace| {
            let [old, _] = &mut workspace.operands;
            for start in (0..y.len()).step_by(BLOCK) {
                let range = start..y.len().min(start + BLOCK);
                let n = range.len();
                old.slice_mut().part(0..n).copy_from(&x.as_slice().part(range.clone()));
                let inputs = [Input::Values(old.slice().part(0..n)), Input::Values(y.part(range.clone()))];
                blocks.run_trusted(&inputs, &mut workspace.scratch, &mut x.part(range));
            }
        });
    })
}

/// c(i) = f(a(i), s, i, 0) where a has an entry.
pub(crate) fn apply_vector(threads: &Threads, f: &CompiledOp, a: View<'_>, s: &Constant) -> Result<AnyVector> {
    let of = OfOne::new(f, s)?;
    let position = |p: usize| match a.indices() {
        Indices::List(indices) => (u64::from(indices[p]), 0),
        _ => (p as u64, 0),
    };
    let blocks = blocks(a.values.len(), &|p| p as u64)?;
    let values = fill_any(f.ty(), threads, "apply", &blocks, &|p| p, &|block, out| {
        let values = a.values.part(block.clone());
        if of.is_positional {
            of.at(values, out, |p| position(block.start + p));
        } else {
            of.anywhere(values, out);
        }
    })?;
    Ok(a.with(values))
}

/// The pattern of the entries for which f(a(i), s, i, 0) holds.
pub(crate) fn select_pattern(threads: &Threads, f: &CompiledOp, a: View<'_>, s: &Constant) -> Result<VectorPattern> {
    let flags = apply_vector(threads, f, a, s)?;
    let flags = flags.values.slice().get::<bool>().unwrap_or_default();
    let len = a.len();
    match a.indices() {
        Indices::List(indices) => {
            let mut selected = reserved(indices.len(), "indices")?;
            selected.extend(indices.iter().zip(flags).filter(|(_, keep)| **keep).map(|(i, _)| *i));
            VectorPattern::new(len, selected)
        }
        Indices::All => Ok(VectorPattern::bitmap(Bitmap::from_flags(flags)?)),
        Indices::Bitmap(words) => {
            let mut selected = Bitmap::from_flags(flags)?;
            selected.map(|at, word| word & words[at]);
            Ok(VectorPattern::bitmap(selected))
        }
    }
}

/// The union or intersection of two lists: indices, and positions in both.
fn merged(a: &[u32], b: &[u32], union: bool) -> Result<(Vec<u32>, Vec<PositionPair>)> {
    let most = if union { a.len() + b.len() } else { a.len().min(b.len()) };
    let (mut indices, mut positions) = (reserved(most, "indices")?, reserved(most, "positions")?);
    let (mut p, mut q) = (0, 0);
    while p < a.len() || q < b.len() {
        let order = match (a.get(p), b.get(q)) {
            (Some(i), Some(j)) => i.cmp(j),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        let (i, position, (da, db)) = match order {
            Ordering::Less => (a[p], (p, ABSENT), (1, 0)),
            Ordering::Greater => (b[q], (ABSENT, q), (0, 1)),
            Ordering::Equal => (a[p], (p, q), (1, 1)),
        };
        if union || order == Ordering::Equal {
            indices.push(i);
            positions.push(position);
        }
        (p, q) = (p + da, q + db);
    }
    Ok((indices, positions))
}

/// c(i) = a(i) ∘ b(i) with the pattern that `ewise` prescribes.
/// # Errors
/// [`Error::Shape`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn ewise_vectors(
    threads: &Threads,
    op: &CompiledOp,
    (a, b): (View<'_>, View<'_>),
    ewise: Ewise<'_>,
) -> Result<AnyVector> {
    let (name, union) = (ewise.name(), ewise.is_union());
    if a.len() != b.len() {
        return Err(Error::Shape { op: name, lhs: (a.len(), 1), rhs: (b.len(), 1) });
    }
    let listed = |(indices, positions): (Vec<u32>, Vec<PositionPair>)| {
        let of = OfTwo::ewise(op, a.values, b.values, ewise)?;
        let blocks = blocks(positions.len(), &|p| p as u64)?;
        let values = fill_any(op.ty(), threads, name, &blocks, &|p| p, &|block, out| {
            let first = block.start;
            for start in block.clone().step_by(BLOCK) {
                let part = start..block.end.min(start + BLOCK);
                of.at_pairs(&positions[part.clone()], &mut out.part(part.start - first..part.end - first));
            }
        })?;
        Ok(AnyVector::list(a.len(), indices, values))
    };
    // Looks up the indices of a list in the other vector.
    let look_up = |list: &[u32], other: Indices<'_, u32>, position: &dyn Fn(usize, usize) -> PositionPair| {
        let (mut indices, mut positions) = (reserved(list.len(), "indices")?, reserved(list.len(), "positions")?);
        for (p, &i) in list.iter().enumerate().filter(|(_, i)| other.contains(**i as usize)) {
            indices.push(i);
            positions.push(position(p, i as usize));
        }
        listed((indices, positions))
    };
    match (a.indices(), b.indices()) {
        (Indices::List(x), Indices::List(y)) => return listed(merged(x, y, union)?),
        (Indices::List(x), y) if !union => return look_up(x, y, &|p, i| (p, i)),
        (x, Indices::List(y)) if !union => return look_up(y, x, &|q, i| (i, q)),
        _ => {}
    }
    a.with_dense(|x, of_x| b.with_dense(|y, of_y| ewise_dense(threads, op, (x, of_x), (y, of_y), ewise)))
}

/// Values of a vector, one per index, and the bitmap of entries unless all are present.
type DenseView<'a> = (Slice<'a>, Option<&'a [u64]>);

fn ewise_dense(
    threads: &Threads,
    op: &CompiledOp,
    (x, of_x): DenseView<'_>,
    (y, of_y): DenseView<'_>,
    ewise: Ewise<'_>,
) -> Result<AnyVector> {
    let (name, union) = (ewise.name(), ewise.is_union());
    let of = OfTwo::ewise(op, x, y, ewise)?;
    let word = |bits: Option<&[u64]>, at: usize| bits.map_or(!0, |bits| bits[at]);
    let bits = match (of_x, of_y) {
        (None, None) => None,
        (Some(_), Some(_)) if union => Some(Bitmap::of(x.len(), |at| word(of_x, at) | word(of_y, at))?),
        _ if union => None,
        _ => Some(Bitmap::of(x.len(), |at| word(of_x, at) & word(of_y, at))?),
    };
    // Computed at every index if no value is copied: results at absent entries are never read.
    let aligned = !union || (of_x.is_none() && of_y.is_none());
    let has = |bits: Option<&[u64]>, i: usize| bits.is_none_or(|bits| bit(bits, i));
    let values = fill_any(op.ty(), threads, name, &blocks(x.len(), &|i| i as u64)?, &|i| i, &|block, out| {
        if aligned {
            return of.aligned(block, out);
        }
        let (first, mut positions) = (block.start, [(ABSENT, ABSENT); BLOCK]);
        for start in block.clone().step_by(BLOCK) {
            let part = start..block.end.min(start + BLOCK);
            for (position, i) in positions.iter_mut().zip(part.clone()) {
                *position = (if has(of_x, i) { i } else { ABSENT }, if has(of_y, i) { i } else { ABSENT });
            }
            of.at_pairs(&positions[..part.len()], &mut out.part(part.start - first..part.end - first));
        }
    })?;
    Ok(AnyVector::of(bits.map_or_else(|| VectorPattern::full(x.len()), VectorPattern::bitmap), values))
}

/// A vector of one value per row, with entries where the mask allows and `has` holds for the row.
fn masked_rows(
    threads: &Threads,
    a: &Pattern,
    values: Array,
    mask: Option<EffectiveMask<'_, u32>>,
    has: impl Fn(usize) -> bool + Sync,
) -> Result<AnyVector> {
    fn bits(threads: &Threads, a: &Pattern, has: impl Fn(usize) -> bool + Sync) -> Result<Bitmap> {
        Bitmap::on(threads, "entries of a result", a.nrows(), |i| (a.row_ptr()[i] / 4 + i) as u64, has)
    }
    let bits = match mask {
        None => bits(threads, a, has),
        Some(mask) => bits(threads, a, |i| mask.allows(i) && has(i)),
    }?;
    Ok(AnyVector::of(VectorPattern::bitmap(bits), values))
}

/// y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ … over the k where A and x both have an entry, in the order of A's row. y has an entry
/// if there is such a k and the mask allows it. Cost: that of [`mxv_entries`](crate::ops::mxv_entries).
/// # Errors
/// [`Error::Shape`]; [`Error::Length`] if the mask is not of length m; [`Error::Argument`] if ⊗ takes other types;
/// [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn mxv(
    threads: &Threads,
    ring: &CompiledRing,
    a: Operand<'_>,
    x: View<'_>,
    mask: Option<MaskSpec<'_, VectorPattern>>,
) -> Result<AnyVector> {
    if a.pattern.ncols() != x.len() {
        return Err(Error::Shape { op: "mxv", lhs: a.pattern.shape(), rhs: (x.len(), 1) });
    }
    let m = a.pattern.nrows();
    mask.map_or(Ok(()), |mask| mask.check(m))?;
    let mask = mask.filter(|mask| mask.count() < m);
    let listed = mask.filter(|mask| mask.count() <= m / SPARSE).map(|mask| mask.to_list()).transpose()?;
    if ring.formula().add().is_last() {
        return mxv_last(threads, ring, a, x, mask, listed.as_deref());
    }
    if let Some(list) = listed {
        return mxv_listed_rows(threads, ring, a, x, &list);
    }
    let (mask, ptr) = (mask.map(|mask| mask.effective()), a.pattern.row_ptr());
    x.with_dense(|values, bits| {
        let of_x = bits.map_or(Indices::All, Indices::Bitmap);
        let rows = mask.map_or(Rows::All, Rows::Allowed);
        let entries = (&**a.pattern, a.values);
        let y = mxv_by_formula(threads, &light_row_blocks(a.pattern)?, ring, entries, (values, of_x), rows)?;
        match bits {
            None if mask.is_none() => {
                let bits = Bitmap::of_rows(threads, "entries of a result", ptr)?;
                Ok(AnyVector::of(VectorPattern::bitmap(bits), y))
            }
            None => masked_rows(threads, a.pattern, y, mask, |i| ptr[i] < ptr[i + 1]),
            Some(bits) => {
                masked_rows(threads, a.pattern, y, mask, |i| a.pattern.row(i).iter().any(|&k| bit(bits, k as usize)))
            }
        }
    })
}

/// y = A ⊕.⊗ x on dense arrays: [`mxv`] with a full x; empty rows yield e. `x` has one value per column.
/// # Errors
/// Those of [`mxv`].
pub(crate) fn mxv_dense(threads: &Threads, ring: &CompiledRing, a: Operand<'_>, x: Slice<'_>) -> Result<Array> {
    mxv_of_entries(threads, ring, (a.pattern, a.values), x)
}

/// [`mxv_dense`] of rows that may have duplicates, each multiplied separately.
pub(crate) fn mxv_of_entries(
    threads: &Threads,
    ring: &CompiledRing,
    (a, values): (&Pattern, Slice<'_>),
    x: Slice<'_>,
) -> Result<Array> {
    mxv_by_formula(threads, &light_row_blocks(a)?, ring, (a, values), (x, Indices::All), Rows::All)
}

/// Density threshold, as a reciprocal: sparser results are computed from a list of indices.
const SPARSE: usize = Vector::<f64>::SPARSE;

/// y(i) for the rows of a list.
fn mxv_listed_rows(
    threads: &Threads,
    ring: &CompiledRing,
    a: Operand<'_>,
    x: View<'_>,
    list: &[u32],
) -> Result<AnyVector> {
    let rows = ExtractedRows::new(threads, "mxv", a, list)?;
    let mut cols = reserved(rows.values.slice().len(), "column indices")?;
    list.iter().for_each(|&i| cols.extend_from_slice(a.pattern.row(i as usize)));
    let listed = Pattern::from_parts(list.len(), x.len(), rows.starts, cols, a.pattern.is_sorted());
    let product = |values: Slice<'_>, of_x: Indices<'_, u32>| {
        let (blocks, entries) = (row_blocks(&listed)?, (&listed, rows.values.slice()));
        let y = mxv_by_formula(threads, &blocks, ring, entries, (values, of_x), Rows::Extracted(list))?;
        let found = |p: &usize| listed.row(*p).iter().any(|&k| of_x.contains(k as usize));
        let nnz = (0..list.len()).filter(found).count();
        let positions = collected(nnz, (0..list.len()).filter(found), "positions")?;
        let indices = collected(nnz, positions.iter().map(|&p| list[p]), "indices")?;
        let values = if nnz == list.len() { y } else { gathered(threads, "mxv", y.slice(), &positions)? };
        Ok(AnyVector::list(a.pattern.nrows(), indices, values))
    };
    // Testing a bit is faster than searching a list, once the lookups outnumber the words of the bitmap.
    match x.indices() {
        Indices::List(_) if listed.nnz() <= x.len() / 64 => product(x.values, x.indices()),
        _ => x.with_dense(|values, bits| product(values, bits.map_or(Indices::All, Indices::Bitmap))),
    }
}

/// y(i) for a ⊕ that returns its last operand: the last product of a row is searched from its end, and no other is
/// computed. The rows are those of the list `listed` if given, otherwise all that the mask allows.
fn mxv_last(
    threads: &Threads,
    ring: &CompiledRing,
    a: Operand<'_>,
    x: View<'_>,
    mask: Option<MaskSpec<'_, VectorPattern>>,
    listed: Option<&[u32]>,
) -> Result<AnyVector> {
    let (m, ptr) = (a.pattern.nrows(), a.pattern.row_ptr());
    let mask = mask.map(|mask| mask.effective());
    let product = |values: Slice<'_>, of_x: Indices<'_, u32>| {
        let last = |i: usize| {
            let p = a.pattern.row(i).iter().rposition(|&k| of_x.contains(k as usize));
            p.map_or(u64::MAX, |p| (ptr[i] + p) as u64)
        };
        let last_of_rows = match listed {
            Some(list) => {
                let mut work = filled(list.len() + 1, 0u64, "work of a product")?;
                for (p, &i) in list.iter().enumerate() {
                    work[p + 1] = work[p] + a.pattern.row(i as usize).len() as u64 + 1;
                }
                let blocks = blocks(list.len(), &|p| work[p])?;
                fill(threads, "mxv", &blocks, &|p| p, u64::MAX, &|block, to| {
                    list[block].iter().zip(to).for_each(|(&i, to)| *to = last(i as usize));
                })?
            }
            None => fill(threads, "mxv", &row_blocks(a.pattern)?, &|i| i, u64::MAX, &|block, to| {
                let allowed = block.zip(to).filter(|(i, _)| mask.is_none_or(|mask| mask.allows(*i)));
                allowed.for_each(|(i, to)| *to = last(i));
            })?,
        };
        let found = last_of_rows.iter().enumerate().filter(|(_, p)| **p != u64::MAX);
        let nnz = found.clone().count();
        let row = |p: usize| listed.map_or_else(|| u32::cast(p), |list| list[p]);
        let rows = collected(nnz, found.clone().map(|(p, _)| row(p)), "indices")?;
        let entries = collected(nnz, found.map(|(_, &p)| p as usize), "positions")?;
        let cols = collected(nnz, entries.iter().map(|&p| a.pattern.col_idx()[p]), "column indices")?;
        let starts = collected(nnz + 1, 0..=nnz, "row pointers")?;
        let of_a = gathered(threads, "mxv", a.values, &entries)?;
        let one_each = Pattern::from_parts(nnz, x.len(), starts, cols, true);
        let (blocks, found) = (row_blocks(&one_each)?, (&one_each, of_a.slice()));
        let y = mxv_by_formula(threads, &blocks, ring, found, (values, of_x), Rows::Extracted(&rows))?;
        Ok(AnyVector::list(m, rows, y))
    };
    let work = listed.map_or(a.pattern.nnz(), |list| list.iter().map(|&i| a.pattern.row(i as usize).len()).sum());
    match x.indices() {
        Indices::List(_) if work <= x.len() / 64 => product(x.values, x.indices()),
        _ => x.with_dense(|values, bits| product(values, bits.map_or(Indices::All, Indices::Bitmap))),
    }
}

/// Rows extracted from a matrix.
struct ExtractedRows {
    /// The start of each row, and the end of the last.
    starts: Vec<usize>,
    values: Array,
}

impl ExtractedRows {
    fn new(threads: &Threads, op: &'static str, a: Operand<'_>, list: &[u32]) -> Result<Self> {
        let ptr = a.pattern.row_ptr();
        let mut starts = filled(list.len() + 1, 0usize, "row pointers")?;
        for (p, &i) in list.iter().enumerate() {
            starts[p + 1] = starts[p] + ptr[i as usize + 1] - ptr[i as usize];
        }
        let blocks = blocks(list.len(), &|p| (starts[p] + p) as u64)?;
        let values = fill_any(a.values.ty(), threads, op, &blocks, &|p| starts[p], &|block, out| {
            let first = starts[block.start];
            for p in block {
                let row = a.values.part(ptr[list[p] as usize]..ptr[list[p] as usize + 1]);
                out.part(starts[p] - first..starts[p + 1] - first).copy_from(&row);
            }
        })?;
        Ok(Self { starts, values })
    }
}

/// y(i) = e ⊕ A(i, j) ⊕ … over the entries of row i in storage order, for nonempty rows that the mask allows.
///
/// Cost: O(m + nnz(A)); if the mask allows at most one row in 16, O(entries of the mask and of these rows).
/// # Errors
/// [`Error::Length`], [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn reduce_rows(
    threads: &Threads,
    monoid: &CompiledMonoid,
    a: Operand<'_>,
    mask: Option<MaskSpec<'_, VectorPattern>>,
) -> Result<AnyVector> {
    let (m, ptr) = (a.pattern.nrows(), a.pattern.row_ptr());
    mask.map_or(Ok(()), |mask| mask.check(m))?;
    let has = |i: usize| ptr[i] < ptr[i + 1];
    if let Some(mask) = mask.filter(|mask| mask.count() <= m / SPARSE) {
        let mut list = mask.to_list()?;
        list.retain(|&i| has(i as usize));
        let ExtractedRows { starts, values } = ExtractedRows::new(threads, "reduce_rows", a, &list)?;
        let blocks = blocks(list.len(), &|p| (starts[p] + p) as u64)?;
        let y = folds_by_formula(threads, "reduce_rows", &blocks, monoid, &starts, values.slice())?;
        return Ok(AnyVector::list(m, list, y));
    }
    let y = folds_by_formula(threads, "reduce_rows", &row_blocks(a.pattern)?, monoid, ptr, a.values)?;
    masked_rows(threads, a.pattern, y, mask.map(|mask| mask.effective()), has)
}

/// y(i) = e ⊕ x(p) ⊕ … over `row_ptr[i] ≤ p < row_ptr[i + 1]`, an entry if row i is nonempty.
/// # Panics
/// If row pointers decrease or exceed the values.
pub(crate) fn reduce_values_of_rows(
    threads: &Threads,
    monoid: &CompiledMonoid,
    row_ptr: &[usize],
    values: Slice<'_>,
) -> Result<AnyVector> {
    let blocks = blocks(row_ptr.len() - 1, &|i| (row_ptr[i] + i) as u64)?;
    let y = folds_by_formula(threads, "reduce_rows", &blocks, monoid, row_ptr, values)?;
    let bits = Bitmap::of_rows(threads, "entries of a result", row_ptr)?;
    Ok(AnyVector::of(VectorPattern::bitmap(bits), y))
}

/// y(j) = e ⊕ x(p) ⊕ … over the p with `columns[p]` = j, an entry if j occurs.
/// # Errors
/// As for [`column_folds`].
pub(crate) fn reduce_values_of_columns(
    threads: &Threads,
    monoid: &CompiledMonoid,
    ncols: usize,
    columns: &[u32],
    values: Slice<'_>,
) -> Result<AnyVector> {
    let (y, present) = column_folds(threads, monoid, ncols, columns, values)?;
    Ok(AnyVector::of(VectorPattern::bitmap(present), y))
}

/// y(j) = e ⊕ x(k) ⊗ A(k, j) ⊕ … over the k where x and A both have an entry, k increasing. y has an entry if there is
/// such a k and the mask allows it.
/// # Errors
/// As for [`mxv`].
pub(crate) fn vxm(
    threads: &Threads,
    ring: &CompiledRing,
    x: View<'_>,
    a: Operand<'_>,
    mask: Option<MaskSpec<'_, VectorPattern>>,
) -> Result<AnyVector> {
    let (columns, sums) = match x.indices() {
        Indices::List(ks) => vxm_words(threads, ring, x.len(), (ks, x.values), a, mask)?,
        Indices::All => vxm_words(threads, ring, x.len(), (&x.pattern.to_list()?, x.values), a, mask)?,
        Indices::Bitmap(_) => {
            let (ks, xs) = x.entries(threads)?;
            vxm_words(threads, ring, x.len(), (&ks, xs.slice()), a, mask)?
        }
    };
    Ok(AnyVector::list(a.pattern.ncols(), columns, sums))
}

/// e ⊕ a(i) ⊕ … over the entries in order, as an array of one.
pub(crate) fn reduce_vector(threads: &Threads, monoid: &CompiledMonoid, a: View<'_>) -> Result<Array> {
    match a.indices() {
        Indices::Bitmap(_) => reduce(threads, monoid, a.entries(threads)?.1.slice()),
        _ => reduce(threads, monoid, a.values),
    }
}

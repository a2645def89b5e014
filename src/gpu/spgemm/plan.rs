//! The plan of a product on the device: everything that follows from the patterns alone.

use std::sync::{Arc, Mutex, PoisonError};

use super::columns::{self, Bins, Columns};
use super::{Hits, Mask, values};
use crate::gpu::csr::Offsets;
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Shape, args};
use crate::gpu::memory::Buffer;
use crate::gpu::{Cuda, DeviceCsr, DevicePattern};
use crate::{Error, Result};

const SOURCE: Source = source!("spgemm_parts.cu");
const MAP: Source = source!("spgemm_map.cu");

/// The structure of C = A·B under our own policy: all of its pattern.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    a: Arc<DevicePattern>,
    b: Arc<DevicePattern>,
    c: Arc<DevicePattern>,
    lengths: Arc<Buffer<u32>>,
    flops: u64,
    max_row_flops: u64,
    why: Arc<str>,
    /// Rows in bins, by the entries of a part.
    rows: Arc<Mutex<RowsBySize>>,
    /// Multiplications of each row.
    work: Arc<Buffer<u32>>,
    /// The ranks of the products of rows that were sorted in registers.
    few: Option<Arc<Map>>,
    again: Arc<Mutex<Again>>,
}

/// Rows in bins, for each size of parts that was asked for.
type RowsBySize = Vec<(u32, Arc<Rows>)>;

/// What a plan that is used again knows.
#[derive(Debug, Default)]
enum Again {
    /// It was not used yet.
    #[default]
    Never,
    /// It was used once; the next use makes the map.
    Once,
    /// There is no map, for it would be too large.
    Without,
    /// The ranks of the products of the other short rows.
    Map(Arc<Map>),
}

/// For every product of C's short rows its entry within the row, in the order of the fold.
#[derive(Debug)]
pub(super) struct Map {
    /// Where a row's products begin.
    pub(super) place: Offsets,
    pub(super) ranks: Buffer<u8>,
}

/// Rows of C by length.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) bins: Bins,
    pub(super) parts: Option<Parts>,
    pub(super) long: Option<Parts>,
}

/// Long rows cut into parts: for each its row and its number within the row; first those whose columns lie close.
#[derive(Debug)]
pub(super) struct Parts {
    rows: Buffer<u32>,
    numbers: Buffer<u32>,
    close: usize,
}

impl Parts {
    /// Number of parts whose columns lie close, or of the others.
    pub(super) fn len(&self, close: bool) -> usize {
        if close { self.close } else { self.rows.len() - self.close }
    }
    /// Rows and numbers of either, as arguments.
    pub(super) fn lists(&self, close: bool) -> [Arg; 2] {
        let from = if close { 0 } else { self.close };
        [self.rows.from(from), self.numbers.from(from)]
    }
}

impl Plan {
    /// Multiplications.
    pub(super) fn flops(&self) -> u64 {
        self.flops
    }
    /// Most multiplications in a row.
    pub(super) fn max_row_flops(&self) -> u64 {
        self.max_row_flops
    }
    /// Where C has entries.
    pub(super) fn pattern(&self) -> &Arc<DevicePattern> {
        &self.c
    }
    /// What was chosen, and why.
    pub(super) fn explain(&self) -> &str {
        &self.why
    }
    /// The map of the rows that were sorted in registers.
    pub(super) fn few(&self) -> Option<&Map> {
        self.few.as_deref()
    }
    /// The patterns of A and B.
    pub(super) fn operands(&self) -> [&Arc<DevicePattern>; 2] {
        [&self.a, &self.b]
    }

    /// The map of products, from the second use on, if it takes no more than twice C's pattern and half of the free memory.
    pub(super) fn map(&self, cuda: &Cuda, lanes: u32) -> Result<Option<Arc<Map>>> {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        match &*again {
            Again::Never => {
                *again = Again::Once;
                Ok(None)
            }
            Again::Without => Ok(None),
            Again::Map(map) => Ok(Some(Arc::clone(map))),
            Again::Once => {
                let made = match self.make_map(cuda, lanes) {
                    Err(Error::DeviceMemory { .. } | Error::Budget { .. }) => None,
                    made => made?.map(Arc::new),
                };
                *again = made.clone().map_or(Again::Without, Again::Map);
                Ok(made)
            }
        }
    }
    fn make_map(&self, cuda: &Cuda, lanes: u32) -> Result<Option<Map>> {
        let rows = self.rows(cuda, values::part(8))?;
        let count = rows.bins.len(3);
        if count == 0 {
            return Ok(None);
        }
        let n = self.a.nrows as u32;
        let text = |place: &Offsets| {
            map_prefix([&self.a.row_ptr, &self.b.row_ptr, &self.c.row_ptr, place].map(Offsets::cuda), lanes)
        };
        let few = cuda.alloc::<u32>(self.a.nrows, "products of short rows")?;
        let program = cuda.program(MAP, &text(&self.c.row_ptr))?;
        let shape = Shape::for_each(self.a.nrows, 256)?;
        program.kernel("mapped_work")?.launch(shape, args![n, &*self.work, &*self.lengths, &few])?;
        let (place, total) = cuda.offsets(&few, "products of short rows")?;
        if total > (self.c.bytes() * 2).min(cuda.free_memory()? / 2) {
            return Ok(None);
        }
        let ranks = cuda.alloc::<u8>(usize::try_from(total).unwrap_or(usize::MAX), "ranks of products")?;
        let program = cuda.program(MAP, &text(&place))?;
        let (a, b, c) = (&self.a, &self.b, &self.c);
        let all = args![
            count as u32,
            rows.bins.list(3),
            &a.row_ptr,
            &a.col_idx,
            &b.row_ptr,
            &b.col_idx,
            &c.row_ptr,
            &c.col_idx,
            &place,
            &ranks
        ];
        let groups = 256 / lanes.max(8) as usize;
        program.kernel("map_128")?.launch(Shape::blocks(count.div_ceil(groups), 256, 0)?, all)?;
        Ok(Some(Map { place, ranks }))
    }

    /// Rows in bins and parts of `part` entries; made when first asked for.
    pub(super) fn rows(&self, cuda: &Cuda, part: u32) -> Result<Arc<Rows>> {
        let mut known = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rows)) = known.iter().find(|(p, _)| *p == part) {
            return Ok(Arc::clone(rows));
        }
        let made = Arc::new(values::rows(cuda, &self.work, &self.lengths, part, |list, n, entries| {
            let program = cuda.program(SOURCE, &prefix(&self.c.row_ptr))?;
            let counts = cuda.alloc::<u32>(n, "parts of long rows")?;
            let shape = Shape::for_each(n, 256)?;
            program.kernel("parts_count")?.launch(shape, args![n as u32, list, &self.c.row_ptr, entries, &counts])?;
            let offsets = match cuda.offsets(&counts, "parts of long rows")? {
                (Offsets::Small(offsets), _) => offsets,
                (Offsets::Large(_), needed) => {
                    let (what, max) = ("parts of long rows", u32::MAX.into());
                    return Err(Error::IndexOverflow { what, needed: needed.into(), max });
                }
            };
            let total = cuda.get_at(&offsets, n)?;
            let rows = cuda.alloc::<u32>(total as usize, "parts of long rows")?;
            let numbers = cuda.alloc::<u32>(total as usize, "parts of long rows")?;
            let ends = cuda.zeroed::<u32>(2, "parts of long rows")?;
            let c = &self.c;
            let cut = args![
                n as u32,
                list,
                &c.row_ptr,
                &c.col_idx,
                entries,
                values::NEAR_WORDS,
                &offsets,
                total,
                &ends,
                &rows,
                &numbers
            ];
            program.kernel("parts_fill")?.launch(shape, cut)?;
            let close = cuda.get_at(&ends, 0)? as usize;
            Ok(Parts { rows, numbers, close })
        })?);
        known.push((part, Arc::clone(&made)));
        Ok(made)
    }
}

/// Refuses operands that a plan for `a` and `b` was not made for.
pub(super) fn check(cuda: &Cuda, planned: [&Arc<DevicePattern>; 2], found: [&Arc<DevicePattern>; 2]) -> Result<()> {
    for (operand, (planned, found)) in ["A", "B"].into_iter().zip(planned.into_iter().zip(found)) {
        if !Arc::ptr_eq(planned, found) && !same(cuda, planned, found)? {
            return Err(Error::PatternChanged { operand, found: found.nnz, planned: planned.nnz });
        }
    }
    Ok(())
}

fn prefix(c: &Offsets) -> String {
    kept_prefix_of(c.cuda(), "unsigned int")
}

fn kept_prefix_of(c: &str, kept: &str) -> String {
    format!("typedef {c} OffsetC;\ntypedef {kept} OffsetK;\n")
}

fn map_prefix([a, b, c, p]: [&str; 4], lanes: u32) -> String {
    format!(
        "typedef {a} OffsetA;\ntypedef {b} OffsetB;\ntypedef {c} OffsetC;\ntypedef {p} OffsetP;\n#define GROUP {lanes}\n"
    )
}

/// Whether two patterns have the same entries in the same order.
fn same(cuda: &Cuda, x: &DevicePattern, y: &DevicePattern) -> Result<bool> {
    if x.shape() != y.shape() || x.nnz != y.nnz {
        return Ok(false);
    }
    let program = cuda.program(SOURCE, &prefix(&x.row_ptr))?;
    let differ = cuda.zeroed::<u32>(1, "a comparison of patterns")?;
    let compare = |words: usize, x: Arg, y: Arg| {
        program.kernel("compare")?.launch(Shape::for_each(words, 256)?, args![words as u64, x, y, &differ])
    };
    let words = (x.nrows + 1) * if matches!(x.row_ptr, Offsets::Small(_)) { 1 } else { 2 };
    compare(words, (&x.row_ptr).into(), (&y.row_ptr).into())?;
    compare(x.nnz, (&x.col_idx).into(), (&y.col_idx).into())?;
    Ok(cuda.get_at(&differ, 0)? == 0)
}

/// Refuses operands that do not fit together, or this device.
pub(super) fn check_shapes(a: &DevicePattern, b: &DevicePattern) -> Result<()> {
    if a.ncols != b.nrows {
        return Err(Error::Shape { op: "mxm", lhs: a.shape(), rhs: b.shape() });
    }
    // Rows are counted in 32 bits on the device.
    if u32::try_from(a.nrows).is_err() {
        return Err(Error::IndexOverflow { what: "rows on the device", needed: a.nrows as u128, max: u32::MAX.into() });
    }
    Ok(())
}

/// The plan of A·B, or of what a mask leaves of it.
pub(super) fn make(cuda: &Cuda, a: Arc<DevicePattern>, b: Arc<DevicePattern>, mask: Option<Mask<'_>>) -> Result<Plan> {
    check_shapes(&a, &b)?;
    let shape = (a.nrows, b.ncols);
    if let Some(mask) = mask
        && mask.pattern.shape() != shape
    {
        return Err(Error::Shape { op: "mxm mask", lhs: mask.pattern.shape(), rhs: shape });
    }
    let sorted_mask = match mask {
        Some(mask) if !mask.pattern.sorted => Some(cuda.sort_rows(mask.pattern)?),
        Some(mask) => Some(Arc::clone(mask.pattern)),
        None => None,
    };
    let work = columns::work(cuda, &a, &b)?;
    let mean = work.flops as f64 / a.nnz.max(1) as f64;
    let mut map = None;
    let (c, lengths, form) = match (mask, &sorted_mask) {
        (Some(mask), Some(pattern)) if !mask.complement => {
            let (c, lengths) = hits(cuda, &a, &b, pattern, &work)?;
            (c, lengths, "entries of the mask that the product meets".to_string())
        }
        _ => {
            let of = Columns::new(cuda, &a, &b, sorted_mask.as_deref(), &work)?;
            let form = format!(
                "rows by work: sorted in registers up to 64, hashed up to 768 words, bits beyond; {}",
                of.explain()
            );
            let columns::Found { row_ptr, lengths, columns, map: few } = of.find()?;
            map = few;
            (Arc::new(DevicePattern::new(shape, true, row_ptr, columns)), lengths, form)
        }
    };
    let why = format!("{form}; {} lanes on a row of B, whose mean is {mean:.1}", columns::group(mean));
    Ok(Plan {
        a,
        b,
        c,
        lengths: Arc::new(lengths),
        flops: work.flops,
        max_row_flops: work.most,
        why: why.into(),
        rows: Arc::default(),
        work: work.rows,
        few: map.map(Arc::new),
        again: Arc::default(),
    })
}

/// The entries of `mask` that A·B has, and the lengths of their rows: values of the mask's entries over any-pair, then
/// those that were met.
fn hits(
    cuda: &Cuda,
    a: &Arc<DevicePattern>,
    b: &Arc<DevicePattern>,
    mask: &Arc<DevicePattern>,
    work: &columns::Work,
) -> Result<(Arc<DevicePattern>, Buffer<u32>)> {
    let program = cuda.program(SOURCE, &prefix(&mask.row_ptr))?;
    // Any-pair looks at no value, so the patterns stand in for the matrices.
    let none = || Ok::<_, Error>(Arc::new(cuda.alloc::<bool>(0, "no values")?));
    let (left, right) =
        (DeviceCsr { pattern: Arc::clone(a), values: none()? }, DeviceCsr { pattern: Arc::clone(b), values: none()? });
    let flags = cuda.zeroed::<bool>(mask.nnz, "entries of the mask")?;
    let plan = Plan {
        a: Arc::clone(a),
        b: Arc::clone(b),
        c: Arc::clone(mask),
        lengths: Arc::new(lengths(cuda, mask)?),
        flops: work.flops,
        max_row_flops: work.most,
        why: "".into(),
        rows: Arc::default(),
        work: Arc::clone(&work.rows),
        few: None,
        again: Arc::default(),
    };
    values::fill(cuda, &plan, Hits::default(), &left, &right, &flags)?;
    let counts = cuda.alloc::<u32>(mask.nrows, "lengths of C's rows")?;
    let shape = Shape::for_each(mask.nrows * 32, 256)?;
    let rows = mask.nrows as u32;
    program.kernel("keep_count")?.launch(shape, args![rows, &mask.row_ptr, &flags, &counts])?;
    let (row_ptr, nnz) = cuda.offsets(&counts, "row pointers of C")?;
    let nnz = usize::try_from(nnz).unwrap_or(usize::MAX);
    if nnz == mask.nnz {
        return Ok((Arc::clone(mask), counts));
    }
    let col_idx = cuda.alloc::<u32>(nnz, "columns of C")?;
    let fill = cuda.program(SOURCE, &kept_prefix_of(mask.row_ptr.cuda(), row_ptr.cuda()))?;
    fill.kernel("keep_fill")?.launch(shape, args![rows, &mask.row_ptr, &mask.col_idx, &flags, &row_ptr, &col_idx])?;
    let c = DevicePattern::new((mask.nrows, mask.ncols), true, row_ptr, col_idx);
    Ok((Arc::new(c), counts))
}

/// Length of every row of a pattern.
fn lengths(cuda: &Cuda, of: &DevicePattern) -> Result<Buffer<u32>> {
    let program = cuda.program(SOURCE, &prefix(&of.row_ptr))?;
    let lengths = cuda.alloc::<u32>(of.nrows, "lengths of rows")?;
    let all = args![of.nrows as u32, &of.row_ptr, &lengths];
    program.kernel("row_lengths")?.launch(Shape::for_each(of.nrows, 256)?, all)?;
    Ok(lengths)
}

pub(super) fn programs() -> Vec<Unit> {
    let mut units = vec![];
    for t in ["unsigned int", "unsigned long long"] {
        units.push(Unit { source: SOURCE, prefix: kept_prefix_of(t, t), hot: &[] });
        units.push(Unit { source: MAP, prefix: map_prefix([t; 4], 8), hot: &["map_128"] });
    }
    units
}

//! Rows of C binned by work: the host side of `cuda/spgemm_rows.cu`.

use std::sync::Arc;

use crate::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Program, Shape, args};
use crate::gpu::pattern::Offsets;
use crate::gpu::scan::Scan;
use crate::gpu::{Cuda, DevicePattern};

pub(super) const SOURCE: Source = source!("spgemm_rows.cu");
pub(super) const SMALL: &str = "unsigned int";

/// The kernels that rows are binned for.
#[derive(Clone, Copy)]
pub(super) enum Stage {
    /// Counting: bins by multiplications and by words of the products.
    Count,
    /// Writing: bins by words of C.
    Fill,
    /// Values: bins by length; rows that are sorted in registers have bins of their own.
    Values,
}

/// Number of bins.
const BINS: usize = 8;

/// Rows of each bin: bin b has `0[b + 1] - 0[b]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts([u64; BINS + 1]);

impl Counts {
    /// From the number of rows of each bin.
    fn of(found: &[u64]) -> Self {
        let mut start = [0; BINS + 1];
        for (bin, n) in found.iter().take(BINS).enumerate() {
            start[bin + 1] = start[bin] + n;
        }
        Self(start)
    }
    pub(super) fn len(&self, bin: usize) -> usize {
        (self.0[bin + 1] - self.0[bin]) as usize
    }
}

/// Rows by bin.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    rows: Buffer<u32>,
    /// Start of the first bin's list.
    first: usize,
    counts: Counts,
}

impl Bins {
    pub(super) fn len(&self, bin: usize) -> usize {
        self.counts.len(bin)
    }
    /// The list of a bin, followed by those of the later bins, as an argument.
    pub(super) fn list(&self, bin: usize) -> Arg {
        self.rows.from(self.first + self.counts.0[bin] as usize)
    }
}

/// The row kernels, for the types of the row pointers of A, B and C and of the offsets of stored columns.
pub(super) fn program(cuda: &Cuda, types: [&'static str; 4]) -> Result<Arc<Program>> {
    cuda.program_of(SOURCE, Prefix::new("", &settings(types)))
}
/// Its prefix.
pub(super) fn settings([a, b, c, stored]: [&'static str; 4]) -> [Setting; 4] {
    [("OffsetA", a), ("OffsetB", b), ("OffsetC", c), ("OffsetK", stored)].map(|(name, of)| Setting::Type(name, of))
}

/// Multiplications of a row above which a block computes its values, given the multiplications of all rows. Where
/// products are few, the heaviest row sets the time; where they are many, warps have the higher throughput
/// (`benches/gpu_spgemm.rs`, values of a new plan with 1024, 2048 and 4096: polblogs, 6 · 10⁵ in all, 0.064, 0.074,
/// 0.109 ms; rajat01, 5 · 10⁶, 0.171, 0.150, 0.174; bcsstk16, 2 · 10⁷, 0.197, 0.200, 0.178).
fn heavy(flops: u64) -> u32 {
    match flops {
        0..0x10_0000 => 1024,
        0x10_0000..0x80_0000 => 2048,
        _ => 4096,
    }
}

/// Lanes that share a row of B, for rows of `mean` entries.
pub(super) fn group(mean: f64) -> u32 {
    match mean {
        m if m <= 4.0 => 4,
        m if m <= 8.0 => 8,
        m if m <= 16.0 => 16,
        _ => 32,
    }
}

/// Multiplications of every row, of all rows, of the heaviest row, and of the rows that are sorted in registers.
pub(super) struct Work {
    pub(super) rows: Buffer<u32>,
    pub(super) of_few: u64,
    pub(super) flops: u64,
    pub(super) most: u64,
    /// Rows in bins for counting.
    counts: Counts,
    /// Zeros for [`place`], and the index of the first.
    cursors: (Buffer<u64>, usize),
}

impl Work {
    /// Numbers in the kernel's `struct Totals`; one zero for each bin follows them.
    const TOTALS: usize = 3 + BINS;

    /// Starts counting the multiplications of A's rows with rows of B that begin at `b_ptr`. The kernel fills the
    /// arrays `to`. With `products`, the multiplications of each row, B's rows are rows of words and only the first
    /// array is filled. The totals are written to `totals`.
    fn count(
        cuda: &Cuda,
        a: &DevicePattern,
        b_ptr: &Offsets,
        products: Option<&Buffer<u32>>,
        to: [Option<&Buffer<u32>>; 4],
        totals: &Arg,
    ) -> Result<()> {
        let program = program(cuda, [a.row_ptr.cuda(), b_ptr.cuda(), SMALL, SMALL])?;
        let shape = all_rows(cuda, a.nrows.saturating_mul(8))?;
        let [rows, few, lengths, words] = to;
        let all = args![a.nrows as u32, &a.row_ptr, &a.col_idx, b_ptr, products, rows, few, lengths, words, totals];
        program.kernel("row_work")?.launch(shape, all)
    }
    fn found(rows: Buffer<u32>, totals: &[u64], cursors: (Buffer<u64>, usize)) -> Self {
        let (flops, most, of_few, counts) = (totals[0], totals[1], totals[2], Counts::of(&totals[3..]));
        Self { rows, of_few, flops, most, counts, cursors }
    }
    /// Rows in bins for counting, by the words of the products. Call it once: it uses up the zeros.
    pub(super) fn to_count(&self, cuda: &Cuda, a: &DevicePattern, of_words: &Self) -> Result<Bins> {
        let (cursors, first) = &of_words.cursors;
        let by = [&self.rows, &of_words.rows, &of_words.rows];
        let [bins] = place(cuda, a, Stage::Count, [of_words.counts], self.flops, by, &cursors.from(*first))?;
        Ok(bins)
    }

    /// The multiplications with words of B's rows instead of its `entries` entries; `words` has the number of words of
    /// each row. Also returns the start of each row's words, and their total number.
    pub(super) fn of_words(
        &self,
        cuda: &Cuda,
        a: &DevicePattern,
        words: &Buffer<u32>,
        entries: usize,
    ) -> Result<(Self, Offsets, u64)> {
        let scan = Scan::begin(cuda, words, entries as u64, Self::TOTALS + BINS)?;
        // No row of B has more words than entries.
        let ptr = scan.offsets(cuda, words, false, "words of B")?;
        let rows = cuda.alloc::<u32>(a.nrows, "words of each row")?;
        Self::count(cuda, a, &ptr, Some(&self.rows), [Some(&rows), None, None, None], &scan.beside(0))?;
        let (total, totals) = scan.get(cuda)?;
        Ok((Self::found(rows, &totals, scan.into_beside(Self::TOTALS)), ptr, total))
    }
}

/// What is known of C's rows before they are counted.
pub(super) struct RowArrays {
    /// Multiplications of rows that are sorted in registers, 0 for others.
    pub(super) few: Buffer<u32>,
    /// Lengths of C's rows, and their words: initialized to 0.
    pub(super) lengths: Buffer<u32>,
    pub(super) words: Buffer<u32>,
}

/// The multiplications of A's rows with rows of B.
pub(super) fn work(cuda: &Cuda, a: &DevicePattern, b: &DevicePattern) -> Result<(Work, RowArrays)> {
    let totals = cuda.zeroed::<u64>(Work::TOTALS + BINS, "multiplications in all")?;
    let rows = |what| cuda.alloc::<u32>(a.nrows, what);
    let made = rows("multiplications of each row")?;
    let few = rows("multiplications of short rows")?;
    let fresh = RowArrays { few, lengths: rows("lengths of C's rows")?, words: rows("words of C's rows")? };
    let to = [Some(&made), Some(&fresh.few), Some(&fresh.lengths), Some(&fresh.words)];
    Work::count(cuda, a, &b.row_ptr, None, to, &(&totals).into())?;
    let found = cuda.get(&totals, "multiplications in all")?;
    Ok((Work::found(made, &found, (totals, Work::TOTALS)), fresh))
}

/// Launch shape of kernels whose warps process rows in turn: enough blocks to fill the device.
fn all_rows(cuda: &Cuda, threads: usize) -> Result<Shape> {
    let most = cuda.limits().multiprocessors as usize * 8;
    Shape::blocks(threads.div_ceil(256).min(most), 256, 0)
}

/// Rows in bins for `stage`, or for it and the next; `counts` are the bins' sizes, `cursors` one zero for each bin.
fn place<const N: usize>(
    cuda: &Cuda,
    a: &DevicePattern,
    stage: Stage,
    counts: [Counts; N],
    flops: u64,
    [work, words, lengths]: [&Buffer<u32>; 3],
    cursors: &Arg,
) -> Result<[Bins; N]> {
    const { assert!(N == 1 || N == 2) };
    let nrows = words.len();
    let rows = cuda.alloc::<u32>(N * nrows, "bins of rows")?;
    let starts: Vec<Arg> = (0..2 * BINS).map(|at| counts[(at / BINS).min(N - 1)].0[at % BINS].into()).collect();
    let (name, starts) = (if N == 1 { "bin_place" } else { "bin_place_both" }, Arg::list(&starts));
    let all =
        args![stage as u32, heavy(flops), nrows as u32, &a.row_ptr, work, words, lengths, &starts, cursors, &rows];
    program(cuda, [a.row_ptr.cuda(), SMALL, SMALL, SMALL])?.kernel(name)?.launch(Shape::for_each(nrows, 1024)?, all)?;
    Ok(std::array::from_fn(|at| Bins { rows: rows.clone(), first: at * nrows, counts: counts[at] }))
}

/// Starts counting rows by bin, for the stages from `stage` to `last`, into `counters`.
fn count(
    cuda: &Cuda,
    a: &DevicePattern,
    [stage, last]: [Stage; 2],
    flops: u64,
    [work, words, lengths]: [&Buffer<u32>; 3],
    counters: &Arg,
) -> Result<()> {
    let nrows = lengths.len();
    let all = args![stage as u32, last as u32, heavy(flops), nrows as u32, &a.row_ptr, work, words, lengths, counters];
    program(cuda, [a.row_ptr.cuda(), SMALL, SMALL, SMALL])?.kernel("bin_count")?.launch(all_rows(cuda, nrows)?, all)
}

/// Rows in bins for values.
pub(super) fn for_values(
    cuda: &Cuda,
    a: &DevicePattern,
    flops: u64,
    work: &Buffer<u32>,
    lengths: &Buffer<u32>,
) -> Result<Bins> {
    let counters = cuda.zeroed::<u64>(2 * BINS, "bins of rows")?;
    let by = [work, lengths, lengths];
    count(cuda, a, [Stage::Values; 2], flops, by, &(&counters).into())?;
    let counts = Counts::of(&cuda.get(&counters, "bins of rows")?);
    let [bins] = place(cuda, a, Stage::Values, [counts], flops, by, &counters.from(BINS))?;
    Ok(bins)
}

/// C's row pointers and entries from the lengths of its rows, with its rows binned for writing by `words`, if any are
/// to be written, and for values. One wait in all.
pub(super) fn row_pointers(
    cuda: &Cuda,
    a: &DevicePattern,
    work: &Work,
    words: &Buffer<u32>,
    lengths: &Buffer<u32>,
) -> Result<(Offsets, u64, Option<Bins>, Bins)> {
    let scan = Scan::begin(cuda, lengths, work.flops, 4 * BINS)?;
    let by = [&work.rows, words, lengths];
    count(cuda, a, [Stage::Fill, Stage::Values], work.flops, by, &scan.beside(0))?;
    let (nnz, found) = scan.get(cuda)?;
    let counts = [Counts::of(&found), Counts::of(&found[BINS..])];
    let cursors = scan.beside(2 * BINS);
    let (to_fill, bins) = if (1..BINS).any(|bin| counts[0].len(bin) > 0) {
        let [to_fill, bins] = place(cuda, a, Stage::Fill, counts, work.flops, by, &cursors)?;
        (Some(to_fill), bins)
    } else {
        let [bins] = place(cuda, a, Stage::Values, [counts[1]], work.flops, by, &cursors)?;
        (None, bins)
    };
    let row_ptr = scan.offsets(cuda, lengths, u32::try_from(nnz).is_err(), "row pointers of C")?;
    Ok((row_ptr, nnz, to_fill, bins))
}

pub(super) fn programs() -> Vec<Unit> {
    [[SMALL; 4], ["unsigned long long"; 4]]
        .map(|types| Unit {
            source: SOURCE,
            prefix: Prefix::new("", &settings(types)).text(),
            hot: &["row_work", "pack_fill", "move_kept"],
        })
        .into()
}

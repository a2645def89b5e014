//! C's columns: the host side of `cuda/spgemm_columns.cu`.

use std::sync::Arc;

use crate::Result;
use crate::gpu::csr::Offsets;
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Program, Shape, args};
use crate::gpu::memory::Buffer;
use crate::gpu::{Cuda, DevicePattern};

const SOURCE: Source = source!("spgemm_columns.cu");

/// What rows are sorted into bins for.
#[derive(Clone, Copy)]
pub(super) enum Stage {
    Count,
    Fill,
    /// Values, where a block takes rows of at most so many entries whole.
    Values(u32),
}

/// Rows by bin: bin b is `rows[start[b]..start[b + 1]]`.
#[derive(Debug)]
pub(super) struct Bins {
    pub(super) rows: Buffer<u32>,
    pub(super) start: [u32; 9],
    /// The longest row, once lengths are known.
    pub(super) longest: u32,
}

impl Bins {
    pub(super) fn len(&self, bin: usize) -> usize {
        (self.start[bin + 1] - self.start[bin]) as usize
    }
    /// The list of a bin, as an argument.
    pub(super) fn list(&self, bin: usize) -> Arg {
        self.rows.from(self.start[bin] as usize)
    }
}

/// The patterns of a product and the program for them.
pub(super) struct Columns<'a> {
    cuda: &'a Cuda,
    a: &'a DevicePattern,
    b: &'a DevicePattern,
    complement: Option<&'a DevicePattern>,
    group: u32,
}

/// Text in front of the program.
fn prefix(a: &str, b: &str, c: &str, m: &str, group: u32, complement: bool) -> String {
    format!(
        "typedef {a} OffsetA;\ntypedef {b} OffsetB;\ntypedef {c} OffsetC;\ntypedef {m} OffsetM;\n\
         #define GROUP {group}\n#define COMPLEMENT {complement}\n"
    )
}

/// Lanes that share a row of B of `mean` entries.
pub(super) fn group(mean: f64) -> u32 {
    match mean {
        m if m <= 4.0 => 4,
        m if m <= 8.0 => 8,
        m if m <= 16.0 => 16,
        _ => 32,
    }
}

/// Multiplications of every row, of all, and of the heaviest.
pub(super) struct Work {
    pub(super) rows: Buffer<u32>,
    pub(super) flops: u64,
    pub(super) most: u64,
}

pub(super) fn work(cuda: &Cuda, a: &DevicePattern, b: &DevicePattern) -> Result<Work> {
    let program = cuda.program(SOURCE, &prefix(a.row_ptr.cuda(), b.row_ptr.cuda(), SMALL, SMALL, 32, false))?;
    let rows = cuda.alloc::<u32>(a.nrows, "multiplications of each row")?;
    let totals = cuda.zeroed::<u64>(2, "multiplications in all")?;
    let shape = Shape::for_each(a.nrows * 8, 256)?;
    let all = args![a.nrows as u32, &a.row_ptr, &a.col_idx, &b.row_ptr, &rows, &totals];
    program.kernel("row_work")?.launch(shape, all)?;
    let found = cuda.get(&totals, "multiplications in all")?;
    Ok(Work { rows, flops: found[0], most: found[1] })
}

const SMALL: &str = "unsigned int";

/// Rows in bins for `stage`.
pub(super) fn bins(
    cuda: &Cuda,
    stage: Stage,
    work: Option<&Buffer<u32>>,
    lengths: Option<&Buffer<u32>>,
    nrows: usize,
) -> Result<Bins> {
    let program = cuda.program(SOURCE, &prefix(SMALL, SMALL, SMALL, SMALL, 32, false))?;
    let (stage, whole) = match stage {
        Stage::Count => (0u32, 0),
        Stage::Fill => (1, 0),
        Stage::Values(whole) => (2, whole),
    };
    let counters = cuda.zeroed::<u32>(9, "bins of rows")?;
    let shape = Shape::for_each(nrows, 256)?;
    program.kernel("bin_count")?.launch(shape, args![stage, whole, nrows as u32, work, lengths, &counters])?;
    let found = cuda.get(&counters, "bins of rows")?;
    let mut start = [0u32; 9];
    for bin in 0..8 {
        start[bin + 1] = start[bin] + found[bin];
    }
    let rows = cuda.alloc::<u32>(nrows, "bins of rows")?;
    let cursors = cuda.put(&start, "bins of rows")?;
    program.kernel("bin_place")?.launch(shape, args![stage, whole, nrows as u32, work, lengths, &cursors, &rows])?;
    Ok(Bins { rows, start, longest: found[8] })
}

impl<'a> Columns<'a> {
    pub(super) fn new(
        cuda: &'a Cuda,
        a: &'a DevicePattern,
        b: &'a DevicePattern,
        complement: Option<&'a DevicePattern>,
        flops: u64,
    ) -> Self {
        Self { cuda, a, b, complement, group: group(flops as f64 / a.nnz.max(1) as f64) }
    }

    fn program(&self, c: &str) -> Result<Arc<Program>> {
        let m = self.complement.map_or(SMALL, |m| m.row_ptr.cuda());
        let text = prefix(self.a.row_ptr.cuda(), self.b.row_ptr.cuda(), c, m, self.group, self.complement.is_some());
        self.cuda.program(SOURCE, &text)
    }

    fn operands(&self) -> [Arg; 6] {
        let (m_ptr, m_col) = match self.complement {
            Some(m) => ((&m.row_ptr).into(), (&m.col_idx).into()),
            None => (Arg::null(), Arg::null()),
        };
        let (a, b) = (self.a, self.b);
        [(&a.row_ptr).into(), (&a.col_idx).into(), (&b.row_ptr).into(), (&b.col_idx).into(), m_ptr, m_col]
    }

    /// Runs each bin's kernel on its rows.
    fn run(&self, program: &Program, bins: &Bins, kernels: &[&str], out: &[Arg]) -> Result<()> {
        // Heavy rows first: what is left for the end should be small.
        for (bin, name) in kernels.iter().enumerate().rev() {
            let n = bins.len(bin + 1);
            if n == 0 {
                continue;
            }
            let list = bins.list(bin + 1);
            if name.ends_with("bits") {
                let block = if bin + 1 == 6 { 1024 } else { 256 };
                let window = self.window(block);
                let rest = args![self.b.ncols as u32, u32::from(self.b.sorted), window];
                let all = [&[list], &self.operands()[..], rest, out].concat();
                program.kernel(name)?.launch(Shape::blocks(n, block, window * 4)?, &all)?;
            } else {
                let block = if name.ends_with("32") || name.ends_with("64") { 256 } else { 128 };
                let all = [&[Arg::from(n as u32), list], &self.operands()[..], out].concat();
                program.kernel(name)?.launch(Shape::for_each(n * 32, block)?, &all)?;
            }
        }
        Ok(())
    }

    /// Words of columns that a block of `block` threads keeps bits for: all columns where they fit, but not more shared
    /// memory than lets the multiprocessor fill up with threads, if that covers a million columns.
    fn window(&self, block: u32) -> u32 {
        let limits = self.cuda.limits();
        let all = (self.b.ncols as u64).div_ceil(32).max(1);
        let even = u64::from(limits.shared_per_multiprocessor / (2048 / block)).saturating_sub(2048) / 4;
        let most = u64::from(limits.shared_per_block.saturating_sub(1024)) / 4;
        let window = all.min(even.max(32_768)).min(most);
        u32::try_from(window).unwrap_or(32_768)
    }

    /// Length of every row of C.
    pub(super) fn count(&self, work: &Work) -> Result<Buffer<u32>> {
        let bins = bins(self.cuda, Stage::Count, Some(&work.rows), None, self.a.nrows)?;
        let lengths = self.cuda.zeroed::<u32>(self.a.nrows, "lengths of C's rows")?;
        let kernels = ["count_32", "count_64", "count_256", "count_1024", "count_bits", "count_bits"];
        self.run(&*self.program(SMALL)?, &bins, &kernels, args![&lengths])?;
        Ok(lengths)
    }

    /// Columns of every row of C, at its row pointers.
    pub(super) fn fill(
        &self,
        work: &Work,
        lengths: &Buffer<u32>,
        row_ptr: &Offsets,
        nnz: usize,
    ) -> Result<Buffer<u32>> {
        let columns = self.cuda.alloc::<u32>(nnz, "columns of C")?;
        let bins = bins(self.cuda, Stage::Fill, Some(&work.rows), Some(lengths), self.a.nrows)?;
        let kernels = ["fill_32", "fill_64", "fill_128", "", "fill_bits", "fill_bits"];
        self.run(&*self.program(row_ptr.cuda())?, &bins, &kernels, args![row_ptr, &columns])?;
        Ok(columns)
    }
}

pub(super) fn programs() -> Vec<Unit> {
    let large = "unsigned long long";
    vec![
        Unit { source: SOURCE, prefix: prefix(SMALL, SMALL, SMALL, SMALL, 32, false), hot: HOT },
        Unit { source: SOURCE, prefix: prefix(SMALL, SMALL, large, SMALL, 8, false), hot: HOT },
        Unit { source: SOURCE, prefix: prefix(large, large, large, large, 8, true), hot: &[] },
    ]
}

const HOT: &[&str] =
    &["count_32", "count_64", "count_256", "count_1024", "count_bits", "fill_32", "fill_64", "fill_128", "fill_bits"];

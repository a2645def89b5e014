//! PageRank on a distributed graph, one process's part: y = Aᵀ x as in `mxv`, and `cuda/graph_rank.cu`.

use std::ops::Range;
use std::sync::Arc;

use super::super::Cuda;
use super::super::csr::{DevicePattern, RawCsr};
use super::super::defines::{Prefix, Setting};
use super::super::driver::DeviceArray;
use super::super::index::offsets;
use super::super::launch::{Arg, Program, Shape, args};
use super::super::memory::Buffer;
use super::super::vector_form::RawVector;
use super::rank::{BLOCK, SOURCE};
use crate::algebra::{Plus, Printed, Ring, Second, Slice, Type, printed_ring};
use crate::{Error, Result};

/// One process's part of a distributed graph and of its ranks, in the memory of its GPU.
///
/// The processes form a grid. Each has a block of the adjacency matrix and owns some of the vertices that are its rows.
/// In a step, [`multiply`](Self::multiply) computes a sum for each nonempty column of the block from [`x`](Self::x) at
/// its rows, which the processes of a grid row hold together. Then [`step`](Self::step) adds up the sums of all
/// processes for a vertex, in process order, and computes its new rank. The caller exchanges the arrays in between,
/// ordered after the work on the [stream](Cuda::stream).
#[derive(Debug)]
pub struct RankPart {
    cuda: Cuda,
    /// The transposed block, without its empty rows; its values are not read.
    turned: RawCsr,
    ring: Arc<Printed>,
    /// The nonempty columns of the block.
    columns: Buffer<u32>,
    /// The rows that this process owns.
    own: Range<usize>,
    degrees: Buffer<f64>,
    other_degrees: Buffer<f64>,
    x: Buffer<f64>,
    /// Sums of this process, followed by those of others.
    sums: Buffer<f64>,
    other_columns: Buffer<u32>,
    /// For each process that has sums for vertices of this one, their positions.
    at: Buffer<u32>,
    sources: usize,
    share: Buffer<f64>,
    jumps: Option<Buffer<f64>>,
    even: f64,
    drop_dangling: bool,
    ranks: Buffer<f64>,
    totals: Buffer<f64>,
    total: Buffer<f64>,
}

impl Cuda {
    fn rank_program(&self) -> Result<Arc<Program>> {
        self.program_of(SOURCE, Prefix::new("", &[Setting::Type("Offset", "unsigned int")]))
    }
    /// The part of a process with this block that owns the rows `own`; `parts` processes own all of them.
    pub(crate) fn rank_part(&self, block: &DevicePattern, own: Range<usize>, parts: usize) -> Result<RankPart> {
        let program = self.rank_program()?;
        let rows = block.nrows;
        let turned = self.transpose_pattern(block)?;
        let degrees = self.alloc::<f64>(rows, "degrees")?;
        let of_rows = program.kernel("part_rows")?;
        of_rows
            .launch(Shape::for_each(rows, 256)?, args![offsets(&block.row_ptr), rows as u64, &degrees, Arg::null()])?;
        let present = self.alloc::<u32>(turned.nrows, "nonempty columns")?;
        let each = Shape::for_each(turned.nrows, 256)?;
        of_rows.launch(each, args![offsets(&turned.row_ptr), turned.nrows as u64, Arg::null(), &present])?;
        let (before, count) = self.offsets(&present, "nonempty columns")?;
        let count = count as usize;
        let columns = self.alloc::<u32>(count, "nonempty columns")?;
        let starts = self.alloc_offsets(turned.row_ptr.is_large(), count + 1, "row pointers")?;
        let all = args![offsets(&turned.row_ptr), offsets(&before), turned.nrows as u64, &columns, offsets(&starts)];
        program.kernel("part_columns")?.launch(each, all)?;
        let pattern = DevicePattern::new((count, rows), true, starts, turned.col_idx);
        let values = self.alloc_raw(Type::Bool, pattern.nnz, "values of edges")?;
        let (len, blocks) = (own.len(), own.len().div_ceil(BLOCK));
        let x = self.alloc(rows, "passed ranks")?;
        Ok(RankPart {
            turned: RawCsr::new(pattern, values),
            ring: printed_ring(Ring(Plus::<f64>::new(), Second::<f64, bool>::default())),
            columns,
            degrees,
            other_degrees: self.alloc(parts.saturating_sub(1) * len, "degrees")?,
            x,
            sums: self.alloc(0, "sums")?,
            other_columns: self.alloc(0, "columns of other processes")?,
            at: self.alloc(0, "positions of sums")?,
            sources: 0,
            share: self.alloc(len, "shares of ranks")?,
            jumps: None,
            even: 0.0,
            drop_dangling: false,
            ranks: self.alloc(len, "ranks")?,
            totals: self.alloc(2 * blocks, "sums of blocks")?,
            total: self.zeroed(2, "a change of ranks")?,
            own,
            cuda: self.clone(),
        })
    }
}

fn array<T: crate::algebra::Value>(x: &Buffer<T>) -> DeviceArray {
    DeviceArray::own(x.at, x.len(), T::TYPE)
}

fn number(x: f64) -> Arg {
    Arg::value(Slice::of(&[x]))
}

impl RankPart {
    /// The nonempty columns of the block, increasing: u32.
    #[must_use]
    pub fn columns(&self) -> DeviceArray {
        array(&self.columns)
    }
    /// Number of these columns below each bound; waits for them.
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn below(&self, bounds: &[u32]) -> Result<Vec<usize>> {
        let (bounds, found) = (self.cuda.put(bounds, "bounds")?, self.cuda.alloc::<u64>(bounds.len(), "bounds")?);
        let all = args![&self.columns, self.columns.len() as u64, &bounds, bounds.len() as u64, &found];
        self.cuda.rank_program()?.kernel("part_below")?.launch(Shape::for_each(bounds.len(), 256)?, all)?;
        Ok(self.cuda.get(&found, "bounds")?.into_iter().map(|found| found as usize).collect())
    }
    /// Row degrees of the block: f64.
    #[must_use]
    pub fn degrees(&self) -> DeviceArray {
        array(&self.degrees)
    }
    /// Buffer for the degrees that the other processes of the grid row have for this one's vertices, concatenated.
    #[must_use]
    pub fn other_degrees(&self) -> DeviceArray {
        array(&self.other_degrees)
    }
    /// What vertices pass on along each edge, at the rows of the block: f64. This process writes its own.
    #[must_use]
    pub fn x(&self) -> DeviceArray {
        array(&self.x)
    }
    /// The rows that it owns.
    #[must_use]
    pub fn own(&self) -> Range<usize> {
        self.own.clone()
    }
    /// Allocates room for columns and sums of other processes, `others` in all.
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::DeviceMemory`], [`Error::Device`].
    pub fn expect(&mut self, others: usize) -> Result<()> {
        let all = self.columns.len().saturating_add(others);
        if all >= u32::MAX as usize {
            let max = u128::from(u32::MAX) - 1;
            return Err(Error::IndexOverflow { what: "sums of other processes", needed: all as u128, max });
        }
        self.sums = self.cuda.alloc(all, "sums")?;
        self.other_columns = self.cuda.alloc(others, "columns of other processes")?;
        Ok(())
    }
    /// Buffer for the columns of other processes, their lists concatenated.
    #[must_use]
    pub fn other_columns(&self) -> DeviceArray {
        array(&self.other_columns)
    }
    /// The sums of this process for its columns, followed by room for those of others for their lists: f64.
    #[must_use]
    pub fn sums(&self) -> DeviceArray {
        array(&self.sums)
    }
    /// Computes the initial ranks, after the columns and degrees of others have arrived or are ordered on the stream.
    /// `lists`, in process order, are ranges of this process's columns or, where the flag is set, of those of others;
    /// the last number is added, wrapping, to a column to obtain the vertex. Returns the rank of vertices without
    /// edges.
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Device`].
    pub fn begin(
        &mut self,
        lists: &[(Range<usize>, bool, u32)],
        damping: f64,
        drop_dangling: bool,
        (even, jumps): (f64, Option<&[f64]>),
    ) -> Result<f64> {
        let (cuda, program, len) = (self.cuda.clone(), self.cuda.rank_program()?, self.own.len());
        let lists: Vec<_> = lists.iter().filter(|list| !list.0.is_empty()).collect();
        self.sources = lists.len();
        self.at = cuda.alloc(lists.len() * len, "positions of sums")?;
        cuda.fill_bytes(&self.at, 0xff)?;
        let expect = program.kernel("part_expect")?;
        for (k, (range, other, shift)) in lists.into_iter().enumerate() {
            let (from, before) = if *other { (&self.other_columns, self.columns.len()) } else { (&self.columns, 0) };
            let first = (before + range.start) as u32;
            let all = args![from.from(range.start), range.len() as u64, *shift, first, self.at.from(k * len)];
            expect.launch(Shape::for_each(range.len(), 256)?, all)?;
        }
        let parts = self.other_degrees.len().checked_div(len).unwrap_or(0) as u32;
        let degrees = self.degrees.from(self.own.start);
        let all = args![degrees, &self.other_degrees, parts, len as u64, number(damping), &self.share];
        program.kernel("part_shares")?.launch(Shape::for_each(len, 256)?, all)?;
        self.jumps = jumps.map(|p| cuda.put(p, "personalization")).transpose()?;
        (self.even, self.drop_dangling) = (even, drop_dangling);
        Ok(self.moved(true, 0.0)?[1])
    }
    /// Computes the sums of this process from `x`.
    /// # Errors
    /// [`Error::Device`].
    pub fn multiply(&self) -> Result<()> {
        if self.columns.len() == 0 {
            return Ok(());
        }
        self.cuda.mxv_over(None, &self.ring, &self.turned, &self.x, None, &self.sums)
    }
    /// Computes new ranks `rest · p + sums` and what they pass on. Returns their total change, and the total rank of
    /// vertices without edges. Waits for both.
    /// # Errors
    /// [`Error::Device`].
    pub fn step(&self, rest: f64) -> Result<[f64; 2]> {
        self.moved(false, rest)
    }
    fn moved(&self, first: bool, rest: f64) -> Result<[f64; 2]> {
        let (program, len) = (self.cuda.rank_program()?, self.own.len());
        let blocks = len.div_ceil(BLOCK);
        let all = args![
            len as u64,
            u32::from(first),
            number(rest),
            number(self.even),
            self.jumps.as_deref(),
            &self.share,
            self.sources as u32,
            &self.at,
            &self.sums,
            &self.ranks,
            self.x.from(self.own.start),
            &self.totals
        ];
        program.kernel("part_step")?.launch(Shape::blocks(blocks, 256, 0)?, all)?;
        let drop = u32::from(self.drop_dangling);
        let all = args![blocks as u64, drop, &self.totals, &self.total];
        program.kernel("rank_total")?.launch(Shape::blocks(1, 1024, 0)?, all)?;
        let total = self.cuda.get(&self.total, "a change of ranks")?;
        Ok([total[0], total[1]])
    }
    /// The ranks.
    pub(crate) fn into_ranks(self) -> RawVector {
        RawVector::full(self.ranks.raw().clone())
    }
}

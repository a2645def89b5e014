//! Panels: the blocks of a grid row or column gathered into one matrix on each of its ranks.

use std::ops::Range;
use std::sync::Arc;

use sparring::algebra::Type;
use sparring::runtime::engine::values_of;
use sparring::runtime::{IndexList, Matrix, Op};
use sparring::{Cpu, Error, Pattern, Result};

use crate::blocks::Block;
use crate::cluster::Shared;
use crate::fold::Line;
use crate::link::Link;
use crate::wire::{broken, bytes, bytes_mut, raw, reserved, row_lengths, zeros};

impl Shared {
    /// A(i, ·): the blocks of this rank's grid row, side by side.
    pub(crate) fn row_panel(&self, a: &Block) -> Result<Matrix> {
        if self.row.size() == 1 {
            return Ok(a.block.clone());
        }
        let blocks = self.gathered_blocks(Line::Row, Ok(a.block.clone()))?;
        let row: Vec<&Matrix> = blocks.iter().collect();
        self.inner.upload(&self.inner.concat(&[&row])?)
    }
    /// A(·, j): the blocks of this rank's grid column, stacked.
    pub(crate) fn column_panel(&self, a: &Block) -> Result<Matrix> {
        if self.col.size() == 1 {
            return Ok(a.block.clone());
        }
        self.stacked(Ok(a.block.clone()))
    }
    /// A range of columns of A(·, j), relative to its first column.
    pub(crate) fn column_strip(&self, a: &Block, cols: Range<usize>) -> Result<Matrix> {
        self.stacked(self.inner.call(Op::Extract(&IndexList::all(), &IndexList::from(cols)), &a.block).eval())
    }
    fn stacked(&self, block: Result<Matrix>) -> Result<Matrix> {
        let blocks = self.gathered_blocks(Line::Column, block)?;
        let column: Vec<[&Matrix; 1]> = blocks.iter().map(|block| [block]).collect();
        let column: Vec<&[&Matrix]> = column.iter().map(|row| &row[..]).collect();
        self.inner.upload(&self.inner.concat(&column)?)
    }
    /// The blocks of all ranks of a line. A failed block or allocation on one rank is an error on all of them.
    fn gathered_blocks(&self, line: Line, block: Result<Matrix>) -> Result<Vec<Matrix>> {
        let link = self.line(line);
        #[cfg(all(feature = "cuda", feature = "mpi"))]
        if let Some(Some(gpus)) = self.gpus.as_ref().map(|lines| &lines[line as usize]) {
            return gpus.gathered(&**link, &self.inner, block);
        }
        let here = block.and_then(|block| block.download());
        let sizes = sizes(&**link, &here);
        // This rank's own error takes precedence over a failure notice of the others.
        let here = here?;
        let sizes = sizes?;
        let budget = self.inner.typed::<Cpu>().and_then(Cpu::budget);
        let pattern = here.pattern().ok_or_else(broken);
        let made = pattern.and_then(|pattern| {
            let lengths = row_lengths(pattern)?;
            let values = raw(here.values().ok_or_else(broken)?)?;
            Ok((BlockBuffers::of(here.ty(), &sizes, budget)?, lengths, pattern.col_idx(), values))
        });
        let all_ready = ready(&**link, made.is_ok());
        let (mut buffers, lengths, columns, values) = made?;
        all_ready?;
        link.spread(&[bytes(&lengths), bytes(columns), values], buffers.iter_mut().map(BlockBuffers::bytes).collect());
        let mut blocks = buffers.into_iter().map(BlockBuffers::matrix).collect::<Result<Vec<_>>>()?;
        blocks.insert(link.rank(), self.inner.upload(&here)?);
        Ok(blocks)
    }
}

/// Shape and number of entries.
pub(crate) type Size = ((usize, usize), usize);

/// The sizes of the blocks of the other ranks of a group, if every rank has its block. The closing handshake reports
/// the error of a rank without one.
pub(crate) fn sizes(link: &dyn Link, block: &Result<Matrix>) -> Result<Vec<Size>> {
    const NONE: [u64; 3] = [u64::MAX; 3];
    let of = |a: &Matrix| [a.shape().0 as u64, a.shape().1 as u64, a.nnz() as u64];
    let all = link.all_gather(block.as_ref().map_or(NONE, of).map(u64::to_le_bytes).as_flattened())?;
    let mut sizes = Vec::with_capacity(link.size());
    for bytes in all.iter() {
        let (words, _) = bytes.as_chunks::<8>();
        let &[m, n, nnz] = words else { return Err(broken()) };
        let [m, n, nnz] = [m, n, nnz].map(u64::from_le_bytes);
        if [m, n, nnz] == NONE {
            return Err(broken());
        }
        sizes.push(((m as usize, n as usize), nnz as usize));
    }
    sizes.remove(link.rank());
    Ok(sizes)
}

/// Handshake of a group: an error unless every rank has allocated its receive buffers.
pub(crate) fn ready(link: &dyn Link, yes: bool) -> Result<()> {
    let all = link.all_words([u64::from(!yes), 0]);
    if all.iter().all(|words| words[0] == 0) { Ok(()) } else { Err(broken()) }
}

/// Receive buffers for a block: row lengths, column indices, and the bytes of the values.
struct BlockBuffers {
    ty: Type,
    ncols: usize,
    lengths: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<u8>,
}

impl BlockBuffers {
    /// Buffers for blocks of these sizes, provided that they and the panel assembled from them fit the memory budget.
    fn of(ty: Type, sizes: &[Size], budget: Option<u64>) -> Result<Vec<Self>> {
        let bytes = |&((m, _), nnz): &Size| 4 * m as u128 + nnz as u128 * (4 + ty.size() as u128);
        let needed = 2 * sizes.iter().map(bytes).sum::<u128>();
        if let Some(budget) = budget.map(u128::from).filter(|budget| needed > *budget) {
            return Err(Error::Budget { what: "operands of other ranks", bytes: needed, budget });
        }
        let room = |&((m, ncols), nnz): &Size| {
            let values = nnz.checked_mul(ty.size()).ok_or_else(broken)?;
            Ok(Self { ty, ncols, lengths: zeros(m)?, columns: zeros(nnz)?, values: zeros(values)? })
        };
        sizes.iter().map(room).collect()
    }
    fn bytes(&mut self) -> [&mut [u8]; 3] {
        [bytes_mut(&mut self.lengths), bytes_mut(&mut self.columns), &mut self.values]
    }
    fn matrix(mut self) -> Result<Matrix> {
        let mut row_ptr = reserved(self.lengths.len() + 1, "row pointers")?;
        row_ptr.push(0);
        let mut end = 0;
        row_ptr.extend(self.lengths.iter().map(|&length| {
            end += length as usize;
            end
        }));
        let pattern = Pattern::from_unsorted(self.lengths.len(), self.ncols, row_ptr, self.columns)?;
        Matrix::new(Arc::new(pattern), values_of(self.ty, &mut self.values)?)
    }
}

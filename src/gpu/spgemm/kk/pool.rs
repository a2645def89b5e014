//! The memory pool of the second levels: see `cuda/kk.cuh`.

use std::sync::Arc;

use super::select;
use crate::algebra::Type;
use crate::gpu::Cuda;
use crate::gpu::buffer::{Buffer, RawBuffer};
use crate::{Error, Result};

const WHAT: &str = "second levels of accumulators";

/// Chunks of one size, each held by one warp or block at a time (many2many, §3.1.2 of the paper).
pub(super) struct Pool {
    pub(super) chunks: u32,
    /// Locks; all free initially.
    pub(super) locks: Buffer<u32>,
    /// Words that must be "none" in an empty accumulator; initialized so.
    pub(super) marks: Buffer<u32>,
    /// Uninitialized words.
    pub(super) words: Buffer<u32>,
    pub(super) values: Arc<RawBuffer>,
}

/// The arrays of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chunk {
    pub(super) marks: u64,
    pub(super) words: u64,
    pub(super) values: u64,
}

impl Pool {
    /// An empty pool, for first levels that hold every row of values of type `ty`.
    pub(super) fn none(cuda: &Cuda, ty: Type) -> Result<Self> {
        Self::of(cuda, ty, 0, Chunk::default())
    }
    /// Enough chunks for `at_a_time` holders, or `forced`, or fewer if memory is short: holders then wait for each
    /// other.
    pub(super) fn new(cuda: &Cuda, ty: Type, at_a_time: u64, forced: Option<usize>, chunk: Chunk) -> Result<Self> {
        let bytes = (chunk.marks.saturating_add(chunk.words))
            .saturating_mul(4)
            .saturating_add(chunk.values.saturating_mul(ty.size() as u64));
        let mut chunks = select::chunks(at_a_time, forced, bytes, cuda.free_memory()?);
        loop {
            match Self::of(cuda, ty, chunks, chunk) {
                // Less may be free than the driver reports, and the budget may allow less still.
                Err(Error::DeviceMemory { .. } | Error::Budget { .. }) if chunks > 1 => chunks /= 2,
                made => return made,
            }
        }
    }
    fn of(cuda: &Cuda, ty: Type, chunks: u32, chunk: Chunk) -> Result<Self> {
        let all = |each: u64| usize::try_from(u64::from(chunks).saturating_mul(each)).unwrap_or(usize::MAX);
        let marks = cuda.alloc(all(chunk.marks), WHAT)?;
        let words = cuda.alloc(all(chunk.words), WHAT)?;
        let values = cuda.alloc_raw(ty, all(chunk.values), WHAT)?;
        let locks = cuda.zeroed(chunks as usize, WHAT)?;
        cuda.fill_bytes(&marks, 0xff)?;
        Ok(Self { chunks, locks, marks, words, values })
    }
}

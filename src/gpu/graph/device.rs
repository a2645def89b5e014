//! The adjacency matrix of a graph on a device.

use std::sync::{Arc, OnceLock};

use super::super::Cuda;
use super::super::buffer::RawBuffer;
use super::super::csr::{DevicePattern, RawCsr};
use super::super::defines::{Prefix, Setting};
use super::super::jit::Source;
use super::super::launch::{Kernel, Program, Shape};
use super::super::memory::Buffer;
use crate::pattern::Pattern;
use crate::{Error, Result};

/// Threads per block of a kernel that stays resident for a whole search.
pub(super) const THREADS: u32 = 512;
/// Vertices and edges that one more of its blocks needs to pay off.
const WORK: usize = 1 << 12;
/// Lists of more edges than this may be split: the header's `LARGE`.
const LARGE: usize = 256;

/// The adjacency matrix of a graph on a device.
#[derive(Debug)]
pub(crate) struct DeviceGraph {
    pub(super) cuda: Cuda,
    pub(super) n: usize,
    pub(super) outgoing: Arc<DevicePattern>,
    /// Whether each edge is stored in the lists of both of its ends.
    pub(super) both: bool,
    incoming: OnceLock<Arc<DevicePattern>>,
    weights: OnceLock<Arc<RawBuffer>>,
    incoming_weights: OnceLock<Arc<RawBuffer>>,
}

impl DeviceGraph {
    /// Copies the sorted pattern; `both`: both directions of each edge are stored.
    pub(crate) fn new(cuda: &Cuda, pattern: &Arc<Pattern>, both: bool) -> Result<Self> {
        Ok(Self {
            cuda: cuda.clone(),
            n: pattern.nrows(),
            outgoing: cuda.shared_pattern(pattern)?,
            both,
            incoming: OnceLock::new(),
            weights: OnceLock::new(),
            incoming_weights: OnceLock::new(),
        })
    }
    /// Whether it resides in the memory of this device.
    pub(crate) fn is_on(&self, cuda: &Cuda) -> bool {
        self.cuda.shares_memory_with(cuda)
    }
    /// Edges by target; the first call sorts them on the device.
    pub(crate) fn incoming(&self) -> Result<&Arc<DevicePattern>> {
        if self.both {
            return Ok(&self.outgoing);
        }
        if let Some(found) = self.incoming.get() {
            return Ok(found);
        }
        let made = Arc::new(self.cuda.transpose_pattern(&self.outgoing)?);
        Ok(self.incoming.get_or_init(|| made))
    }
    /// The edge weights, uploaded from `host` on the first call.
    pub(super) fn weights(&self, host: &[f64]) -> Result<&Arc<RawBuffer>> {
        if let Some(found) = self.weights.get() {
            return Ok(found);
        }
        let made = Arc::clone(self.cuda.put(host, "weights of edges")?.raw());
        Ok(self.weights.get_or_init(|| made))
    }
    /// The weighted matrix of the edges by target.
    pub(super) fn incoming_weighted(&self, host: &[f64]) -> Result<RawCsr> {
        let weights = self.weights(host)?;
        if self.both {
            return Ok(RawCsr { pattern: Arc::clone(&self.outgoing), values: Arc::clone(weights) });
        }
        if let (Some(pattern), Some(values)) = (self.incoming.get(), self.incoming_weights.get()) {
            return Ok(RawCsr { pattern: Arc::clone(pattern), values: Arc::clone(values) });
        }
        let a = RawCsr { pattern: Arc::clone(&self.outgoing), values: Arc::clone(weights) };
        let made = self.cuda.transpose_raw(&a)?;
        Ok(RawCsr {
            pattern: Arc::clone(self.incoming.get_or_init(|| made.pattern)),
            values: Arc::clone(self.incoming_weights.get_or_init(|| made.values)),
        })
    }
    pub(super) fn nnz(&self) -> usize {
        self.outgoing.nnz
    }
    /// Upper bound on the pieces of long lists.
    pub(super) fn long_lists(&self) -> usize {
        self.nnz() / LARGE + 1
    }
    /// The program of a source file for the width of these row pointers.
    pub(super) fn program(&self, source: Source) -> Result<Arc<Program>> {
        self.cuda.program_of(source, Prefix::new("", &[Setting::Type("Offset", self.outgoing.row_ptr.cuda())]))
    }
    /// Resident blocks of a kernel that pay off for a graph of this size; `most` in all.
    pub(super) fn blocks_at_once(&self, kernel: &Kernel, most: usize) -> Result<usize> {
        let each = kernel.blocks_per_multiprocessor(THREADS, 0)?;
        let room = (each * self.cuda.limits().multiprocessors) as usize;
        if room == 0 {
            return Err(Error::Unsupported {
                what: "a cooperative kernel".into(),
                why: "a block of it does not fit a multiprocessor".into(),
            });
        }
        Ok(room.min(most.max(1)))
    }
    /// Launch shape of a kernel whose blocks process the whole graph cooperatively.
    pub(super) fn whole(&self, kernel: &Kernel) -> Result<Shape> {
        let blocks = self.blocks_at_once(kernel, (self.n + self.nnz()) / WORK)?;
        Shape::blocks(blocks, THREADS, 0)
    }
    /// An array for n vertices with all bits set.
    pub(super) fn all_ones(&self, len: usize, what: &'static str) -> Result<Buffer<u32>> {
        let made = self.cuda.alloc(len, what)?;
        self.cuda.fill_bytes(&made, 0xff)?;
        Ok(made)
    }
}

//! The plan of kkSpGEMM: the result of its symbolic phase.

use std::sync::{Arc, Mutex, OnceLock};

use super::select::{Method, RowStats};
use crate::gpu::DevicePattern;
use crate::gpu::pattern::Offsets;
use crate::spgemm::{Compression, KkSettings};

/// The results and choices of the symbolic phase.
#[derive(Clone, Debug)]
pub(in crate::gpu::spgemm) struct Plan {
    pub(in crate::gpu::spgemm) a: Arc<DevicePattern>,
    pub(in crate::gpu::spgemm) b: Arc<DevicePattern>,
    /// Row pointers of C.
    pub(super) row_ptr: Arc<Offsets>,
    pub(in crate::gpu::spgemm) nnz: usize,
    pub(in crate::gpu::spgemm) flops: u64,
    pub(in crate::gpu::spgemm) max_row_flops: u64,
    pub(in crate::gpu::spgemm) compression: Option<Compression>,
    pub(in crate::gpu::spgemm) why: Arc<str>,
    pub(super) method: Method,
    pub(super) rows: RowStats,
    pub(super) settings: KkSettings,
    pub(super) unsorted: bool,
    pub(super) c: Arc<FirstPattern>,
}

/// C's pattern, set by the first numeric phase; the lock is held while it is computed.
#[derive(Debug, Default)]
pub(super) struct FirstPattern {
    pub(super) pattern: OnceLock<Arc<DevicePattern>>,
    pub(super) first: Mutex<()>,
}

impl Plan {
    pub(in crate::gpu::spgemm) fn shape(&self) -> (usize, usize) {
        (self.a.nrows, self.b.ncols)
    }
    /// C's pattern, once a numeric phase has computed it.
    pub(in crate::gpu::spgemm) fn pattern(&self) -> Option<&Arc<DevicePattern>> {
        self.c.pattern.get()
    }
}

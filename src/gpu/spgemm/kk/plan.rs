//! What kkSpGEMM's symbolic phase knows of C.

use std::sync::{Arc, Mutex, OnceLock};

use super::select::{Method, Rows};
use crate::gpu::DevicePattern;
use crate::gpu::pattern::Offsets;
use crate::spgemm::{Compression, KkSettings};

/// What the symbolic phase found and decided.
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
    pub(super) rows: Rows,
    pub(super) settings: KkSettings,
    pub(super) unsorted: bool,
    pub(super) c: Arc<Found>,
}

/// C's pattern, once a numeric phase has found it; the lock is held by the one that looks for it.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) pattern: OnceLock<Arc<DevicePattern>>,
    pub(super) first: Mutex<()>,
}

impl Plan {
    pub(in crate::gpu::spgemm) fn shape(&self) -> (usize, usize) {
        (self.a.nrows, self.b.ncols)
    }
    /// Where C has entries, once a numeric phase has found out.
    pub(in crate::gpu::spgemm) fn pattern(&self) -> Option<&Arc<DevicePattern>> {
        self.c.pattern.get()
    }
}

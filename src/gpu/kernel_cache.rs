//! The cache of generated kernels: the text and launch shape for each combination of sizes.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;

use super::tiling::Tiling;

/// A generated kernel: its text, which follows the operator's, and its launch shape.
#[derive(Debug)]
pub(super) struct GeneratedKernel {
    pub(super) text: String,
    pub(super) threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub(super) shared: u32,
    /// Batch members that one block processes.
    pub(super) members: usize,
    /// The tiling that it was generated with.
    pub(super) tiling: Tiling,
}

/// By the numbers that determine the kernel. `None`: no kernel exists for them.
type Known = HashMap<Box<[u64]>, Option<Arc<GeneratedKernel>>>;

/// Kernels generated so far.
#[derive(Debug, Default)]
pub(super) struct KernelCache(Mutex<Known>);

impl KernelCache {
    /// The kernel for these numbers, generated once.
    pub(super) fn get(
        &self,
        numbers: &[u64],
        generate: impl FnOnce() -> Option<GeneratedKernel>,
    ) -> Option<Arc<GeneratedKernel>> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(numbers) {
            return known.clone();
        }
        let kernel = generate().map(Arc::new);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(numbers.into(), kernel.clone());
        kernel
    }
    /// Replaces the kernel for these numbers.
    pub(super) fn set(&self, numbers: &[u64], kernel: Arc<GeneratedKernel>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(numbers.into(), Some(kernel));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_kernel_is_cached() {
        let cache = KernelCache::default();
        let tiling = Tiling { rows: 1, columns: 1, times: 1, group: 1, turns: 1, prefetch: true, resident: 0 };
        let kernel = |members| GeneratedKernel { text: String::new(), threads: 1, shared: 0, members, tiling };
        assert_eq!(cache.get(&[1, 2], || Some(kernel(3))).map(|w| w.members), Some(3));
        assert_eq!(cache.get(&[1, 2], || unreachable!()).map(|w| w.members), Some(3));
        assert!(cache.get(&[1], || None).is_none() && cache.get(&[1], || Some(kernel(4))).is_none());
        cache.set(&[1], Arc::new(kernel(5)));
        assert_eq!(cache.get(&[1], || unreachable!()).map(|w| w.members), Some(5));
    }
}

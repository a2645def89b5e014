//! Tileable kernels, and the selection of their tiling.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::arrays::Change;
use crate::algebra::Printed;
use crate::gpu::defines::Prefix;
use crate::gpu::driver::Limits;
use crate::gpu::jit::Source;
use crate::gpu::kernel_cache::GeneratedKernel;
use crate::gpu::tiling::{Tiling, Tuning};
use crate::gpu::tuned::{Key, Platform};
use crate::gpu::{Cuda, cache, tuned};

/// A kernel for a batch of small tensors, compiled for their sizes.
pub(super) trait Tiled {
    /// Its source file.
    fn source(&self) -> Source;
    /// Everything that its programs depend on, except the tiling.
    fn numbers(&self) -> Vec<u64>;
    /// Batch size.
    fn batch(&self) -> usize;
    /// Extents and layouts, as far as the time depends on them.
    fn layout(&self) -> String;
    /// The default tiling; `None` if no tiling is valid for these sizes.
    fn rule(&self) -> Option<Tiling>;
    /// The program under a tiling; `None` if the tiling is invalid for these sizes or its block does not fit.
    fn program(&self, limits: &Limits, tiling: Tiling) -> Option<GeneratedKernel>;
    /// Tilings that fit a multiprocessor, predicted fastest first; `reads`: the result's old values are read.
    fn space(&self, limits: &Limits, reads: bool) -> Vec<Tiling>;
    /// The computation, and its threads.
    fn explain(&self, generated: &GeneratedKernel) -> String;
}

/// The parameters of compilation besides the sizes.
#[derive(Clone, Copy)]
pub(super) struct For<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) ring: &'a Printed,
    pub(super) change: &'a Change,
    /// Overrides the selection where it is valid for the sizes.
    pub(super) tiling: Option<Tiling>,
}

impl For<'_> {
    /// The selected program.
    pub(super) fn chosen(&self, kernel: &dyn Tiled) -> Option<Arc<GeneratedKernel>> {
        let (limits, known) = (self.cuda.limits(), self.cuda.kernel_cache());
        let rule = || kernel.program(limits, kernel.rule()?);
        if let Some(generated) = self.tiling.and_then(|tiling| kernel.program(limits, tiling)) {
            return Some(Arc::new(generated));
        }
        match self.cuda.tunes() {
            Tuning::Off => known.get(&kernel.numbers(), rule),
            Tuning::Kept => known.get(&self.numbers(kernel), || {
                let kept = self.key(kernel).and_then(|key| tuned::get(self.cuda.programs().cache(), &key));
                kept.and_then(|entry| kernel.program(limits, entry.tiling)).or_else(rule)
            }),
        }
    }
    /// The parameters that a lookup among tuned tilings depends on.
    pub(super) fn numbers(&self, kernel: &dyn Tiled) -> Vec<u64> {
        let mut numbers = kernel.numbers();
        let mut operator = DefaultHasher::new();
        self.ring.text.hash(&mut operator);
        let change = [u64::from(self.change.alpha), self.change.old.into()];
        numbers.extend([u64::from(bucket(kernel.batch())), operator.finish()].into_iter().chain(change));
        numbers
    }
    /// The key of the tuning cache; `None` without a compiler, whose version is part of it.
    pub(super) fn key(&self, kernel: &dyn Tiled) -> Option<Key> {
        Some(Key {
            machine: Platform::of(self.cuda)?,
            kernel: kernel.source().sum(),
            operator: cache::Key::of([self.ring.text.as_str()]).digits(),
            r#type: self.ring.out.name().into(),
            update: self.change.words(),
            layout: kernel.layout(),
            batch_bits: bucket(kernel.batch()),
        })
    }
    /// Passes the settings in front of the program's source to `then`.
    pub(super) fn prefix<T>(&self, generated: &GeneratedKernel, then: impl FnOnce(Prefix<'_>) -> T) -> T {
        let text = format!("{}{}", self.ring.text, generated.text);
        then(Prefix::new(&text, &self.change.settings()))
    }
}

/// Batch sizes of the same bit length share a tuning entry.
fn bucket(batch: usize) -> u32 {
    usize::BITS - batch.leading_zeros()
}

//! Kernels that may be cut in several ways, and which of them is taken.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::arrays::Change;
use crate::algebra::Printed;
use crate::gpu::driver::Limits;
use crate::gpu::front::Front;
use crate::gpu::jit::Source;
use crate::gpu::tiling::{Tiling, Tuning};
use crate::gpu::tuned::{Key, Machine};
use crate::gpu::worked::Worked;
use crate::gpu::{Cuda, cache, tuned};

/// A kernel for a batch of small tensors, compiled for their sizes.
pub(super) trait Tiled {
    /// The file of its program.
    fn source(&self) -> Source;
    /// All that its programs depend on, beside the tiling.
    fn numbers(&self) -> Vec<u64>;
    /// Members of the batch.
    fn batch(&self) -> usize;
    /// Extents, and how the tensors lie, as far as times depend on it.
    fn layout(&self) -> String;
    /// The tiling where none is asked for; `None` if there is none for these sizes.
    fn rule(&self) -> Option<Tiling>;
    /// The program under a tiling; `None` if it is none for these sizes or a block has no room for it.
    fn program(&self, limits: &Limits, tiling: Tiling) -> Option<Worked>;
    /// Tilings that a multiprocessor has room for, what a model finds fastest first; `reads`: the result's values are
    /// read.
    fn space(&self, limits: &Limits, reads: bool) -> Vec<Tiling>;
    /// What is computed, and by how many threads.
    fn explain(&self, worked: &Worked) -> String;
}

/// What a kernel is compiled for beside its sizes.
#[derive(Clone, Copy)]
pub(super) struct For<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) ring: &'a Printed,
    pub(super) change: &'a Change,
    /// Instead of what would be chosen, where it is one for the sizes.
    pub(super) tiling: Option<Tiling>,
}

impl For<'_> {
    /// The program that computes it.
    pub(super) fn chosen(&self, kernel: &dyn Tiled) -> Option<Arc<Worked>> {
        let (limits, known) = (self.cuda.limits(), self.cuda.worked());
        let rule = || kernel.program(limits, kernel.rule()?);
        if let Some(worked) = self.tiling.and_then(|tiling| kernel.program(limits, tiling)) {
            return Some(Arc::new(worked));
        }
        match self.cuda.tunes() {
            Tuning::Off => known.get(&kernel.numbers(), rule),
            Tuning::Kept => known.get(&self.numbers(kernel), || {
                let kept = self.key(kernel).and_then(|key| tuned::get(self.cuda.programs().cache(), &key));
                kept.and_then(|entry| kernel.program(limits, entry.tiling)).or_else(rule)
            }),
        }
    }
    /// What a choice among those that were found depends on.
    pub(super) fn numbers(&self, kernel: &dyn Tiled) -> Vec<u64> {
        let mut numbers = kernel.numbers();
        let mut operator = DefaultHasher::new();
        self.ring.text.hash(&mut operator);
        let change = [u64::from(self.change.alpha), self.change.old.into()];
        numbers.extend([u64::from(bucket(kernel.batch())), operator.finish()].into_iter().chain(change));
        numbers
    }
    /// The case as the files have it; `None` where there is no compiler, and so no version of one.
    pub(super) fn key(&self, kernel: &dyn Tiled) -> Option<Key> {
        Some(Key {
            machine: Machine::of(self.cuda)?,
            kernel: kernel.source().sum(),
            operator: cache::Key::of([self.ring.text.as_str()]).digits(),
            r#type: self.ring.out.name().into(),
            update: self.change.words(),
            layout: kernel.layout(),
            batch_bits: bucket(kernel.batch()),
        })
    }
    /// What stands in front of the program, behind which its file comes.
    pub(super) fn front<T>(&self, worked: &Worked, then: impl FnOnce(Front<'_>) -> T) -> T {
        let text = format!("{}{}", self.ring.text, worked.text);
        then(Front::new(&text, &self.change.settings()))
    }
}

/// Batches of so many bits are one case.
fn bucket(batch: usize) -> u32 {
    usize::BITS - batch.leading_zeros()
}

//! What kernels are given: the arrays of a step, and what becomes of the values that its result has.

use std::cell::RefCell;
use std::sync::Arc;

use crate::algebra::Printed;
use crate::gpu::Cuda;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::front::Setting;
use crate::gpu::tiling::{Tiling, TunedKernel};

/// What becomes of the values that C has, as kernels know it.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    pub(super) alpha: bool,
    /// 0: they are not read, 1: kept, 2: times β.
    pub(super) old: u32,
    /// α and β, if either is multiplied.
    pub(super) scalars: Option<Arc<RawBuffer>>,
}

impl Change {
    pub(super) fn settings(&self) -> Vec<Setting> {
        let alpha = self.alpha.then_some(Setting::Switch("ALPHA"));
        [Setting::Number("OLD", self.old)].into_iter().chain(alpha).collect()
    }
    /// As a formula.
    pub(super) fn words(&self) -> String {
        let old = ["C = ", "C = C + ", "C = b C + "].get(self.old as usize).copied().unwrap_or("C = ");
        format!("{old}{}", if self.alpha { "a A B" } else { "A B" })
    }
}

/// The arrays of one step.
pub(super) struct Operands<'a> {
    pub(super) a: &'a RawBuffer,
    pub(super) b: Option<&'a RawBuffer>,
    pub(super) c: &'a RawBuffer,
    pub(super) update: Change,
}

/// How kernels that can be tiled are.
#[derive(Clone, Copy, Debug)]
pub(super) enum How<'a> {
    /// As is chosen, or by this where it is one for the sizes.
    By(Option<Tiling>),
    /// By the fastest, which is found first.
    Tuned(&'a RefCell<Vec<TunedKernel>>),
}

/// A contraction of arrays on the device, whose values are of the ring's type.
pub(super) struct Contraction<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) ring: &'a Printed,
    pub(super) operands: &'a [&'a RawBuffer],
    pub(super) how: How<'a>,
    /// Whether cuBLAS may have large products.
    pub(super) library: bool,
}

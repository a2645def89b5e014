//! Kernel arguments: the arrays of a step, and how the result's old values enter.

use std::cell::RefCell;
use std::sync::Arc;

use crate::algebra::Printed;
use crate::gpu::Cuda;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::defines::Setting;
use crate::gpu::tiling::{Tiling, TunedKernel};

/// How kernels treat the old values of C.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    pub(super) alpha: bool,
    /// 0: not read, 1: retained, 2: multiplied by β.
    pub(super) old: u32,
    /// α and β, if either is applied.
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

/// How the tiling of a tileable kernel is selected.
#[derive(Clone, Copy, Debug)]
pub(super) enum How<'a> {
    /// The default choice, or this tiling where it is valid for the sizes.
    By(Option<Tiling>),
    /// The fastest, found by tuning first.
    Tuned(&'a RefCell<Vec<TunedKernel>>),
}

/// A contraction of device arrays whose values have the ring's type.
pub(super) struct Contraction<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) ring: &'a Printed,
    pub(super) operands: &'a [&'a RawBuffer],
    pub(super) how: How<'a>,
    /// Whether large products may go to cuBLAS.
    pub(super) library: bool,
}

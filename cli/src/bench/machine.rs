//! The devices on which products are measured.

use sparring::algebra::PlusTimes;
use sparring::backend::Backend;
use sparring::gpu::{self, DeviceCsr};
use sparring::spgemm::{self, Options};
use sparring::{Cpu, Csr, Cuda, Result};
use sparring_generate::{self as generate, Checks};

use crate::memory;

/// Plus-times products of matrices on a device.
pub(super) trait Machine {
    type Matrix;
    type Plan;
    fn plan(&self, a: &Self::Matrix, b: &Self::Matrix) -> Result<Self::Plan>;
    /// Single-use A·B, unsorted if `any_order`, if the machine has a dedicated algorithm.
    fn once(&self, a: &Self::Matrix, b: &Self::Matrix, any_order: bool) -> Result<Option<Self::Matrix>>;
    fn numeric(&self, plan: &Self::Plan, a: &Self::Matrix, b: &Self::Matrix) -> Result<Self::Matrix>;
    fn numeric_into(&self, plan: &Self::Plan, a: &Self::Matrix, b: &Self::Matrix, c: &mut Self::Matrix) -> Result<()>;
    /// Number of entries of the product, if the machine counts them without computing them.
    fn count(&self, a: &Self::Matrix, b: &Self::Matrix) -> Result<Option<usize>>;
    /// Waits until the device is idle.
    fn wait(&self) -> Result<()>;
    /// Resets the memory peak. Returns whether that is supported.
    fn forget_peak(&self) -> bool;
    fn peak(&self) -> Option<u64>;
    fn checks(&self, c: &Self::Matrix) -> Result<Checks>;
    fn nnz(c: &Self::Matrix) -> usize;
    /// Bytes of the arrays of the matrix.
    fn bytes(c: &Self::Matrix) -> u64;
    fn flops(plan: &Self::Plan) -> u64;
    fn explain(plan: &Self::Plan) -> String;
}

const RING: fn() -> PlusTimes<f64> = PlusTimes::default;

impl Machine for Cpu {
    type Matrix = Csr<f64>;
    type Plan = spgemm::Plan;

    fn plan(&self, a: &Csr<f64>, b: &Csr<f64>) -> Result<Self::Plan> {
        Backend::plan(self, a, b).eval()
    }
    fn once(&self, a: &Csr<f64>, b: &Csr<f64>, any_order: bool) -> Result<Option<Csr<f64>>> {
        self.mxm(RING(), a, b).options(Options { unsorted: any_order, ..Options::default() }).eval().map(Some)
    }
    fn numeric(&self, plan: &Self::Plan, a: &Csr<f64>, b: &Csr<f64>) -> Result<Csr<f64>> {
        self.mxm(RING(), a, b).plan(plan).eval()
    }
    fn numeric_into(&self, plan: &Self::Plan, a: &Csr<f64>, b: &Csr<f64>, c: &mut Csr<f64>) -> Result<()> {
        self.mxm(RING(), a, b).plan(plan).into(c)
    }
    fn count(&self, a: &Csr<f64>, b: &Csr<f64>) -> Result<Option<usize>> {
        Ok(Some(Backend::plan(self, a, b).count()?.nnz))
    }
    fn wait(&self) -> Result<()> {
        Ok(())
    }
    fn forget_peak(&self) -> bool {
        memory::forget_peak()
    }
    fn peak(&self) -> Option<u64> {
        memory::peak()
    }
    fn checks(&self, c: &Csr<f64>) -> Result<Checks> {
        Ok(generate::checks(c))
    }
    fn nnz(c: &Csr<f64>) -> usize {
        c.nnz()
    }
    fn bytes(c: &Csr<f64>) -> u64 {
        (size_of_val(c.row_ptr()) + size_of_val(c.col_idx()) + size_of_val(c.values())) as u64
    }
    fn flops(plan: &Self::Plan) -> u64 {
        plan.flops()
    }
    fn explain(plan: &Self::Plan) -> String {
        plan.explain()
    }
}

impl Machine for Cuda {
    type Matrix = DeviceCsr<f64>;
    type Plan = gpu::spgemm::Plan;

    fn plan(&self, a: &Self::Matrix, b: &Self::Matrix) -> Result<Self::Plan> {
        Backend::plan(self, a, b).eval()
    }
    fn once(&self, _: &Self::Matrix, _: &Self::Matrix, _: bool) -> Result<Option<Self::Matrix>> {
        Ok(None)
    }
    fn numeric(&self, plan: &Self::Plan, a: &Self::Matrix, b: &Self::Matrix) -> Result<Self::Matrix> {
        self.mxm(RING(), a, b).plan(plan).eval()
    }
    fn numeric_into(&self, plan: &Self::Plan, a: &Self::Matrix, b: &Self::Matrix, c: &mut Self::Matrix) -> Result<()> {
        self.mxm(RING(), a, b).plan(plan).into(c)
    }
    fn count(&self, _: &DeviceCsr<f64>, _: &DeviceCsr<f64>) -> Result<Option<usize>> {
        Ok(None)
    }
    fn wait(&self) -> Result<()> {
        self.synchronize()
    }
    fn forget_peak(&self) -> bool {
        self.reset_peak_memory().is_ok()
    }
    fn peak(&self) -> Option<u64> {
        self.peak_memory().ok()
    }
    fn checks(&self, c: &Self::Matrix) -> Result<Checks> {
        Ok(generate::checks(&self.download(c)?))
    }
    fn nnz(c: &Self::Matrix) -> usize {
        c.nnz()
    }
    fn bytes(c: &Self::Matrix) -> u64 {
        c.bytes()
    }
    fn flops(plan: &Self::Plan) -> u64 {
        plan.flops()
    }
    fn explain(plan: &Self::Plan) -> String {
        plan.explain()
    }
}

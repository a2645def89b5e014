//! Sparse tensors on the device, and their matricized products with Khatri–Rao products (MTTKRP).
//!
//! Entries are uploaded once, then sorted, partitioned and converted to the plan's form on the device. See
//! `cuda/tensor.cu` and `cuda/mttkrp.cu`.

mod entries;
mod form;
mod mttkrp;
mod partition;
mod schedule;
mod stored;
mod widths;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use entries::{RawTensor, check_sizes};
pub use form::{TensorBytes, TensorForm, TensorStats};
use mttkrp::Product;
pub use partition::loads_of;
use stored::{Entries, StoredEntries, once};

use super::buffer::RawBuffer;
use super::jit::Unit;
use super::vector::DeviceDense;
use super::{Cuda, memory::alone};
use crate::algebra::{MulOp, Printed, Rhs, Semiring, Slice, Type, Value, printed_ring};
use crate::par::note;
use crate::tensor::{Pattern, TensorRef};
use crate::{Error, Index, Result, Tensor};

/// A sparse tensor on the device, with its entries in their original order. Cloning copies no data.
#[derive(Clone, Debug)]
pub struct DeviceTensor<T> {
    raw: RawTensor,
    of: PhantomData<fn() -> T>,
}

impl<T: Value> DeviceTensor<T> {
    /// Number of modes.
    #[must_use]
    pub fn order(&self) -> usize {
        self.raw.dims.len()
    }
    /// Size of each mode.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.raw.dims
    }
    /// Entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.raw.nnz()
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.raw.bytes()
    }
}

impl<T: Value, I: Index> Entries for TensorRef<'_, T, I> {
    fn upload(&self, cuda: &Cuda, range: Range<usize>) -> Result<RawTensor> {
        let values = Slice::of(&self.values()[range.clone()]);
        cuda.upload_entries(self.pattern(), range, values)
    }
}

/// A tensor prepared for products over all of its modes, in one of the [forms](TensorForm), for any semiring on its
/// values.
///
/// # Example
/// ```no_run
/// use sparring::prelude::*;
/// use sparring::{Dense, Tensor};
/// let cuda = Cuda::new(0)?;
/// // x(0, 0, 0) = 2 and x(1, 2, 3) = 5, of 2 × 3 × 4.
/// let x = Tensor::<f64>::new(vec![2, 3, 4], vec![vec![0, 1], vec![0, 2], vec![0, 3]], vec![2.0, 5.0])?;
/// let ready = cuda.mttkrp_plan(&x, None)?;
/// println!("{}", ready.explain());
/// let ones = |rows| cuda.upload_dense(&Dense::new(rows, 16, vec![1.0; 16 * rows])?);
/// let factors = [ones(2)?, ones(3)?, ones(4)?];
/// let v = cuda.download_dense(&ready.mttkrp(PlusTimes::<f64>::default(), &factors, 0)?)?;
/// assert_eq!(v.row(1), [5.0; 16]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub struct DeviceMttkrp<'a, T> {
    cuda: Cuda,
    stats: TensorStats,
    value: Type,
    form: TensorForm,
    why: &'static str,
    kept: StoredEntries<'a>,
    of: PhantomData<fn() -> T>,
}

impl<T> std::fmt::Debug for DeviceMttkrp<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeviceMttkrp").field("stats", &self.stats).field("form", &self.form).finish_non_exhaustive()
    }
}

impl Cuda {
    /// Uploads the tensor, with its entries in their order; duplicates and explicit zeros remain entries.
    /// # Errors
    /// [`Error::IndexOverflow`] for a mode of more than 2³¹ indices, and for more than 2³² − 2¹⁶ entries, which
    /// [`mttkrp_plan`](Self::mttkrp_plan) takes in parts; [`Error::DeviceMemory`], [`Error::Device`].
    pub fn tensor<T: Value, I: Index>(&self, x: &Tensor<T, I>) -> Result<DeviceTensor<T>> {
        let raw = self.upload_entries(x.pattern(), 0..x.nnz(), Slice::of(x.values()))?;
        Ok(DeviceTensor { raw, of: PhantomData })
    }

    /// Prepares a host tensor. It is uploaded once, in the requested form, or by default in the first of
    /// [`TensorForm::Copies`] and [`TensorForm::Permuted`] that fits the available memory. If neither fits, it is
    /// uploaded in parts for each product.
    ///
    /// The plan borrows `&x` or shares an `Arc<Tensor>`; only parts read it again. Cost: one stable radix sort of the
    /// entries per mode, on the device.
    /// # Errors
    /// [`Error::IndexOverflow`] for a mode of more than 2³¹ indices, and for more than 2³² − 2¹⁶ entries in any form
    /// but parts; [`Error::DeviceMemory`], [`Error::Budget`], [`Error::Device`].
    pub fn mttkrp_plan<'a, T: Value, I: Index>(
        &self,
        x: impl Into<TensorRef<'a, T, I>>,
        form: Option<TensorForm>,
    ) -> Result<DeviceMttkrp<'a, T>> {
        let x = x.into();
        let stats = self.stats_of(x.dims(), x.nnz(), T::TYPE, 0)?;
        let (form, why) = form.map_or_else(|| form::choose(&stats), |form| (form, "requested"));
        let kept = match form {
            TensorForm::Parts => {
                check_sizes(x.dims(), 0)?;
                StoredEntries::Parts(Box::new(x), stats.nnz, stats.part())
            }
            form => {
                let there = self.upload_entries(x.pattern(), 0..x.nnz(), Slice::of(x.values()))?;
                StoredEntries::new(self, &there, form)?
            }
        };
        Ok(DeviceMttkrp { cuda: self.clone(), stats, value: T::TYPE, form, why, kept, of: PhantomData })
    }

    /// Prepares a tensor on the device, as [`mttkrp_plan`](Self::mttkrp_plan) does.
    /// # Errors
    /// Those of [`mttkrp_plan`](Self::mttkrp_plan); [`Error::Unsupported`] for [`TensorForm::Parts`], whose entries
    /// come from the host.
    pub fn mttkrp_plan_of<T: Value>(
        &self,
        x: &DeviceTensor<T>,
        form: Option<TensorForm>,
    ) -> Result<DeviceMttkrp<'static, T>> {
        let stats = self.stats_of(x.dims(), x.nnz(), T::TYPE, x.bytes())?;
        let (form, why) = match form.map_or_else(|| form::choose(&stats), |form| (form, "requested")) {
            (TensorForm::Parts, "requested") => {
                let (what, why) = ("parts of a device tensor".into(), "parts are uploaded from the host".into());
                return Err(Error::Unsupported { what, why });
            }
            // The entries are on the device already, so parts make no sense. The smallest form reports how much memory
            // it lacks.
            (TensorForm::Parts, why) => (TensorForm::Permuted, why),
            chosen => chosen,
        };
        let kept = StoredEntries::new(self, &x.raw, form)?;
        Ok(DeviceMttkrp { cuda: self.clone(), stats, value: T::TYPE, form, why, kept, of: PhantomData })
    }

    /// Figures of a tensor, `there` bytes of which are already on the device.
    fn stats_of(&self, dims: &[usize], nnz: usize, value: Type, there: u64) -> Result<TensorStats> {
        let room = self.device().room()?.saturating_add(there);
        Ok(TensorStats { dims: dims.to_vec(), nnz, value_bytes: value.size(), room })
    }
}

impl<T: Value> DeviceMttkrp<'_, T> {
    /// Size of each mode.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.stats.dims
    }
    /// Entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.stats.nnz
    }
    /// Storage form of its entries.
    #[must_use]
    pub fn form(&self) -> TensorForm {
        self.form
    }
    /// The form, the reason for it, and its bytes.
    #[must_use]
    pub fn explain(&self) -> String {
        let bytes = self.stats.bytes(self.form);
        format!(
            "mttkrp: {}, {}; {} bytes, at most {} during construction",
            self.form.name(),
            self.why,
            self.bytes(),
            bytes.made
        )
    }
    /// The figures that determined the form.
    #[must_use]
    pub fn stats(&self) -> &TensorStats {
        &self.stats
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.kept.bytes()
    }
    /// Entries per partition of a mode; empty if the form is not partitioned.
    /// # Errors
    /// [`Error::Device`].
    pub fn partitions(&self, mode: usize) -> Result<Vec<u32>> {
        match self.kept.loads(mode) {
            Some(loads) => self.cuda.get(loads, "entries of partitions"),
            None => Ok(vec![]),
        }
    }

    /// `V(i, r) = ⊕ over the entries x of index i in `mode`: x ⊗ A_a(i_a, r) ⊗ A_b(i_b, r) …`, the other modes in
    /// increasing order; the identity of ⊕ for an index without entries.
    ///
    /// Shapes: factor m is `dims[m]` × R, that of `mode` is not read; V is `dims[mode]` × R. The fold order of a row
    /// depends on the tensor alone (in parts: also on the available memory; remapped: also on the number of
    /// multiprocessors). Pieces of a row are folded in sequence, so every run gives the same bits, without atomics.
    /// Copies and permuted records give the same bits.
    /// # Errors
    /// [`Error::Argument`] for a mode out of range; [`Error::Dims`], [`Error::Shape`] for factors that do not fit;
    /// [`Error::Unsupported`] for a positional ⊗; [`Error::Compile`], [`Error::NoCompiler`], [`Error::DeviceMemory`],
    /// [`Error::Device`].
    pub fn mttkrp<R: Semiring<Mul: MulOp<A = T, Out = T>>>(
        &self,
        ring: R,
        factors: &[DeviceDense<Rhs<R>>],
        mode: usize,
    ) -> Result<DeviceDense<T>> {
        let shape = check(self.dims(), &shapes(factors), mode)?;
        self.note(mode, shape.1);
        let v = self.cuda.unset(shape)?;
        self.multiply(&printed_ring(ring), &buffers(factors), mode, shape.1, v.values.raw())?;
        Ok(v)
    }
    /// [`mttkrp`](Self::mttkrp) into an existing matrix.
    /// # Errors
    /// Those of [`mttkrp`](Self::mttkrp); [`Error::Shape`] for a result of another shape, [`Error::Argument`] if its
    /// array is shared.
    pub fn mttkrp_into<R: Semiring<Mul: MulOp<A = T, Out = T>>>(
        &self,
        ring: R,
        factors: &[DeviceDense<Rhs<R>>],
        mode: usize,
        v: &mut DeviceDense<T>,
    ) -> Result<()> {
        let lhs = check(self.dims(), &shapes(factors), mode)?;
        if v.shape() != lhs {
            return Err(Error::Shape { op: "the result of mttkrp", lhs, rhs: v.shape() });
        }
        alone(v.values.raw_mut(), "v")?;
        self.note(mode, lhs.1);
        self.multiply(&printed_ring(ring), &buffers(factors), mode, lhs.1, v.values.raw())
    }

    /// [`mttkrp`](Self::mttkrp) of factors that were checked, row-major.
    pub(crate) fn mttkrp_raw<R: Semiring<Mul: MulOp<A = T, Out = T>>>(
        &self,
        ring: R,
        factors: &[&RawBuffer],
        rank: usize,
        mode: usize,
    ) -> Result<Arc<RawBuffer>> {
        self.note(mode, rank);
        let len = result_len((self.dims()[mode], rank))?;
        let v = self.cuda.alloc_raw(T::TYPE, len, "the result of mttkrp")?;
        self.multiply(&printed_ring(ring), factors, mode, rank, &v)?;
        Ok(v)
    }

    fn note(&self, mode: usize, rank: usize) {
        note(|| {
            let dims: Vec<String> = self.dims().iter().map(ToString::to_string).collect();
            let (dims, nnz, on) = (dims.join("×"), self.nnz(), self.cuda.limits().ordinal);
            let head =
                format!("mttkrp on cuda:{on}: {dims} with {nnz} entries of {}, mode {mode}, {rank} columns", T::TYPE);
            format!("{head}\n  {}", self.explain())
        });
    }

    /// The product into `out`, which is large enough; factors have the shapes and types that `ring` and the tensor
    /// require.
    pub(crate) fn multiply(
        &self,
        ring: &Printed,
        factors: &[&RawBuffer],
        mode: usize,
        rank: usize,
        out: &RawBuffer,
    ) -> Result<()> {
        if check_product(ring, rank)? && out.len() > 0 {
            let product = Product { cuda: &self.cuda, ring, dims: self.dims(), mode, factors, rank, out };
            self.kept.multiply(self.value, &product)?;
        }
        Ok(())
    }
}

impl Cuda {
    /// [`DeviceMttkrp::mttkrp`] once, without a plan: entries are sorted for it, and nothing is cached.
    /// # Errors
    /// Those of [`DeviceMttkrp::mttkrp`].
    pub fn mttkrp<R: Semiring<Mul: MulOp<A = T, Out = T>>, T: Value>(
        &self,
        ring: R,
        x: &DeviceTensor<T>,
        factors: &[DeviceDense<Rhs<R>>],
        mode: usize,
    ) -> Result<DeviceDense<T>> {
        let shape = check(x.dims(), &shapes(factors), mode)?;
        let v = self.unset(shape)?;
        let ring = &*printed_ring(ring);
        if check_product(ring, shape.1)? && v.values.len() > 0 {
            let (dims, factors, out) = (x.dims(), &buffers(factors)[..], &**v.values.raw());
            let product = Product { cuda: self, ring, dims, mode, factors, rank: shape.1, out };
            once(&x.raw, TensorForm::Permuted, &product)?;
        }
        Ok(v)
    }
    /// [`mttkrp`](Self::mttkrp) over a semiring whose type is known at run time, of entries and factors that were
    /// checked.
    pub(crate) fn mttkrp_raw<I: Index>(
        &self,
        ring: &Printed,
        (x, values): (Pattern<'_, I>, Slice<'_>),
        (factors, rank): (&[&RawBuffer], usize),
        mode: usize,
    ) -> Result<Arc<RawBuffer>> {
        let out = self.alloc_raw(values.ty(), result_len((x.dims[mode], rank))?, "the result of mttkrp")?;
        if check_product(ring, rank)? && out.len() > 0 {
            let (dims, range) = (x.dims, 0..values.len());
            let product = Product { cuda: self, ring, dims, mode, factors, rank, out: &out };
            once(&self.upload_entries(x, range, values)?, TensorForm::Permuted, &product)?;
        }
        Ok(out)
    }
    /// An uninitialized matrix.
    fn unset<T: Value>(&self, (nrows, ncols): (usize, usize)) -> Result<DeviceDense<T>> {
        let values = self.alloc(result_len((nrows, ncols))?, "the result of mttkrp")?;
        Ok(DeviceDense { nrows, ncols, values })
    }
}

/// Number of values of a result of this shape.
fn result_len((nrows, ncols): (usize, usize)) -> Result<usize> {
    let (needed, max) = (nrows as u128 * ncols as u128, usize::MAX as u128);
    nrows.checked_mul(ncols).ok_or(Error::IndexOverflow { what: "number of values", needed, max })
}

/// Rows and columns of the product for `mode` of a tensor of `dims` with factors of these shapes.
fn check(dims: &[usize], factors: &[(usize, usize)], mode: usize) -> Result<(usize, usize)> {
    crate::tensor::check_mode(dims.len(), "mode", mode)?;
    if factors.len() != dims.len() || (0..dims.len()).any(|m| m != mode && factors[m].0 != dims[m]) {
        let rhs = factors.iter().map(|f| f.0).collect();
        return Err(Error::Dims { op: "mttkrp", lhs: dims.to_vec(), rhs });
    }
    // The rank comes from another mode's factor; a tensor of order 1 has only its own.
    let first = factors[usize::from(mode == 0 && dims.len() > 1)];
    match factors.iter().enumerate().find(|&(m, f)| m != mode && f.1 != first.1) {
        Some((_, &rhs)) => Err(Error::Shape { op: "factors of mttkrp", lhs: first, rhs }),
        None => Ok((dims[mode], first.1)),
    }
}
/// Rejects products without a kernel; returns whether there are columns.
fn check_product(ring: &Printed, rank: usize) -> Result<bool> {
    if ring.text.contains("reads_place = true") {
        let why = "an entry of a tensor has more than two indices".into();
        return Err(Error::Unsupported { what: "a positional ⊗ in mttkrp".into(), why });
    }
    if u32::try_from(rank).is_err() {
        let (needed, max) = (rank as u128, u32::MAX.into());
        return Err(Error::IndexOverflow { what: "columns of factors on the device", needed, max });
    }
    Ok(rank > 0)
}

fn shapes<T: Value>(factors: &[DeviceDense<T>]) -> Vec<(usize, usize)> {
    factors.iter().map(DeviceDense::shape).collect()
}
fn buffers<T: Value>(factors: &[DeviceDense<T>]) -> Vec<&RawBuffer> {
    factors.iter().map(|f| &**f.values.raw()).collect()
}

/// Programs to compile without a device.
pub(super) fn programs() -> Vec<Unit> {
    [entries::programs(), mttkrp::programs()].into_iter().flatten().collect()
}

//! The builder of device contractions, with the options of the CPU's.

use std::cell::RefCell;
use std::sync::Arc;

use super::action::Action;
use super::arrays::{Change, Contraction, How, Operands};
use super::batch::DeviceBatch;
use super::launch::explain;
use super::matrices::Matrices;
use super::steps::Steps;
use super::strided::Strided;
use super::tiled::{For, Tiled};
use crate::Result;
use crate::algebra::{Arithmetic, Printed, Value, printed_arithmetic};
use crate::contract::{Arrangement, Einsum, Layout, Old, RowMajor, Update, Viewed, check_disjoint, fits, shapes};
use crate::gpu::Cuda;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::memory::alone;
use crate::gpu::tiling::{Tiling, TunedKernel};
use crate::par::note;

impl Cuda {
    /// `C(r…) = ⊕ x₁(…) ⊗ x₂(…) ⊗ …` of tensors on this device. The expression, the order of pairs and the order of
    /// every fold are those of [`Cpu::einsum`](crate::Cpu::einsum), and so are the bits, unless cuBLAS computes.
    ///
    /// Large matrix products of f32 or f64 over + and ×, single or batched, go to cuBLAS where it is installed: those
    /// with at least 16 rows, columns and terms, at least 48 of one of them, and at least 2²⁰ multiplications in all.
    /// The library is looked up by the system's loader, in a CUDA toolkit, among Python's packages, or by
    /// `SPARRING_CUBLAS`. It rounds in an order of its own, f32 in full precision, and holds some 32 MiB of device
    /// memory outside the budget. [`same_bits`](DeviceEinsum::same_bits) disables it; without it, this library's
    /// kernels compute all products.
    ///
    /// Each pair is one kernel. A batch of small matrices whose members have no gaps, in any index order, gets a kernel
    /// compiled for its sizes: A, B and C are read once and C is written once, at memory bandwidth for up to 32 rows
    /// and columns. Large products use tiles in shared memory. Everything else, and small work, runs one thread per
    /// element of C and reads operands as often as they are needed. The shape of such a compiled kernel is a
    /// [`Tiling`]: the rule's, or the one that [`tune`](DeviceEinsum::tune) found.
    ///
    /// # Example
    /// ```no_run
    /// use sparring::{Cuda, algebra::PlusTimes, contract::{Einsum, Layout, View}};
    /// let cuda = Cuda::new(0)?;
    /// let numbers = vec![1.0; 100_000 * 16];
    /// let x = cuda.upload_batch(&View::new(&numbers, Layout::row_major(&[4, 4])?.batched(100_000)?)?)?;
    /// let products = Einsum::new("ij,jk->ik", &[x.clone(), x])?;
    /// let y = cuda.einsum(PlusTimes::new(), products).eval()?;
    /// assert_eq!(cuda.download_batch(&y)?.values()[0], 4.0);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// Source: Abdelfattah et al. 2016, §4 and §5.
    pub fn einsum<'a, A: Arithmetic<T>, T: Value>(
        &'a self,
        ring: A,
        einsum: Einsum<'a, T, DeviceBatch<T>>,
    ) -> DeviceEinsum<'a, A, T> {
        DeviceEinsum { cuda: self, ring, einsum, update: Update::PLAIN, tiling: None, library: true }
    }
}

impl Cuda {
    /// [`einsum`](Self::einsum) of arrays and a semiring whose type is known at run time, row-major, tensors in sequence.
    /// # Errors
    /// Those of [`DeviceEinsum::eval`].
    pub(crate) fn einsum_raw<V: Viewed<Value = ()>>(
        &self,
        ring: &Printed,
        einsum: &Einsum<'_, (), V>,
        operands: &[&RawBuffer],
    ) -> Result<Arc<RawBuffer>> {
        let layout = einsum.row_major()?;
        shapes(einsum, &layout)?;
        let out = self.alloc_raw(ring.out, layout.array_len(), "einsum")?;
        let contraction = Contraction { cuda: self, ring, operands, how: How::By(None), library: true };
        let update = Change::default();
        if let Some(action) = Action::of(einsum, &layout, ring.out.size())
            && contraction.action(&action, &out, &update)?
        {
            note(|| format!("einsum on cuda:{}: {}, an action", self.limits().ordinal, einsum.text()));
            return Ok(out);
        }
        let steps = Steps::new(einsum, &layout)?;
        note(|| {
            let case = For { cuda: self, ring, change: &update, tiling: None };
            let words = explain(case, &steps, true);
            let ordinal = self.limits().ordinal;
            format!("einsum on cuda:{ordinal}: {} of {}\n  {}", einsum.text(), ring.out, words.replace('\n', "\n  "))
        });
        contraction.run(&steps, &out, &update)?;
        Ok(out)
    }
}

/// Builder of a contraction on a device; [`eval`](Self::eval) or [`into`](Self::into) start it.
#[must_use = "nothing is computed before `eval` or `into`"]
#[derive(Debug)]
pub struct DeviceEinsum<'a, A, T> {
    cuda: &'a Cuda,
    ring: A,
    einsum: Einsum<'a, T, DeviceBatch<T>>,
    update: Update<T>,
    tiling: Option<Tiling>,
    library: bool,
}

impl<A: Arithmetic<T>, T: Value> DeviceEinsum<'_, A, T> {
    /// Scales the fold: α ⊗ (⊕ …).
    pub fn alpha(mut self, alpha: T) -> Self {
        self.update.alpha = Some(alpha);
        self
    }
    /// [`into`](Self::into) computes C = (β ⊗ C) ⊕ the contraction. With the identity of ⊕ (0 for + and ×), C is
    /// overwritten and not read.
    pub fn beta(mut self, beta: T) -> Self {
        self.update.old = Old::scaled::<A>(beta);
        self
    }
    /// [`into`](Self::into) computes C = C ⊕ the contraction.
    pub fn accumulate(mut self) -> Self {
        self.update.old = Old::Added;
        self
    }
    /// Uses only kernels that fold in the CPU's order, with its bits, even where cuBLAS would be faster.
    pub fn same_bits(mut self) -> Self {
        self.library = false;
        self
    }
    /// Pairs of operands in contraction order, as on the CPU.
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn path(&self) -> Result<Vec<(usize, usize)>> {
        Ok(Steps::new(&self.einsum, &self.einsum.row_major()?)?.pairs)
    }
    /// Bytes of device memory for the intermediate tensors of [`eval`](Self::eval), all of them together.
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn workspace_bytes(&self) -> Result<u128> {
        let steps = Steps::new(&self.einsum, &self.einsum.row_major()?)?;
        Ok(steps.between.iter().map(|&len| len as u128 * size_of::<T>() as u128).sum())
    }
    /// The kernels of [`eval`](Self::eval), one line each.
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn explain(&self) -> Result<String> {
        self.explain_in(&self.einsum.row_major()?)
    }
    fn explain_in(&self, layout: &Layout) -> Result<String> {
        let (ring, change) = (&*printed_arithmetic::<T, A>(self.ring), self.change());
        let case = For { cuda: self.cuda, ring, change: &change, tiling: self.tiling };
        let action = Action::of(&self.einsum, layout, size_of::<T>());
        if let Some(words) = action.and_then(|action| Some(Tiled::explain(&action, &*case.chosen(&action)?))) {
            return Ok(words);
        }
        Ok(explain(case, &Steps::new(&self.einsum, layout)?, self.library && self.tiling.is_none()))
    }
    /// The contraction as new tensors, row-major and consecutive. If C is to be read, it counts as the identity of ⊕.
    /// # Errors
    /// [`Error::IndexOverflow`](crate::Error::IndexOverflow), [`Error::OutOfMemory`](crate::Error::OutOfMemory);
    /// [`Error::DeviceMemory`](crate::Error::DeviceMemory), [`Error::Budget`](crate::Error::Budget);
    /// [`Error::Compile`](crate::Error::Compile), [`Error::NoCompiler`](crate::Error::NoCompiler),
    /// [`Error::Device`](crate::Error::Device), also for operands of another device.
    pub fn eval(self) -> Result<DeviceBatch<T>> {
        self.eval_in(&RowMajor)
    }
    /// The contraction as new tensors under the layout that this rule gives, as on the CPU
    /// ([`EinsumBuilder::eval_in`](crate::backend::EinsumBuilder::eval_in)).
    /// # Errors
    /// As [`into`](Self::into) with such a layout, and those of the rule.
    pub fn eval_in(self, by: &dyn Arrangement) -> Result<DeviceBatch<T>> {
        let layout = self.einsum.arranged(by)?;
        shapes(&self.einsum, &layout)?;
        let (elements, len) = (layout.elements(), layout.array_len());
        fits(&layout, len)?;
        check_disjoint(&layout)?;
        let out = DeviceBatch::of(self.cuda.alloc::<T>(len, "einsum")?, layout);
        // Gaps between elements are initialized as well.
        if elements > 0 && (self.update.old != Old::Ignored || len > elements) {
            let zero = self.cuda.put(&[A::ZERO], "einsum")?;
            let on = Operands { a: &zero, b: None, c: &out.values, update: Change::default() };
            let ring = &*printed_arithmetic::<T, A>(self.ring);
            let contraction = Contraction { cuda: self.cuda, ring, operands: &[], how: How::By(None), library: false };
            Strided::filled(len).run(&contraction, &on)?;
        }
        self.run(&out, How::By(self.tiling))?;
        Ok(out)
    }
    /// The contraction into `out`.
    /// # Errors
    /// [`Error::Dims`](crate::Error::Dims) if `out` has other extents, [`Error::Length`](crate::Error::Length) if its
    /// batch size differs; [`Error::Argument`](crate::Error::Argument) if its layout may address an element twice, or
    /// if another value shares its array; otherwise as [`eval`](Self::eval).
    pub fn into(self, out: &mut DeviceBatch<T>) -> Result<()> {
        self.fits(out)?;
        self.run(out, How::By(self.tiling))
    }
    /// Finds the fastest tiling of each tileable kernel on these operands and caches it for [`Tuning::Kept`]. A model
    /// ranks the tilings that fit a multiprocessor; the sixty predicted fastest are compiled and timed in turns. All
    /// tilings give the same bits. The contents of `out` are meaningless afterwards: the kernels ran many times.
    ///
    /// Cost: a few seconds, most of it compilation on all processors. Kernels with one thread per element of C have no
    /// tilings.
    /// # Example
    /// See [`Cuda::tuning`].
    /// # Errors
    /// As [`into`](Self::into).
    ///
    /// Source: Abdelfattah et al. 2016, Figure 2.
    ///
    /// [`Tuning::Kept`]: crate::gpu::Tuning::Kept
    pub fn tune(self, out: &mut DeviceBatch<T>) -> Result<Vec<TunedKernel>> {
        self.fits(out)?;
        let found = RefCell::new(vec![]);
        self.run(out, How::Tuned(&found))?;
        Ok(found.into_inner())
    }
    /// Forces this tiling where it is valid for a kernel.
    pub(in crate::gpu) fn tiled(mut self, tiling: Tiling) -> Self {
        self.tiling = Some(tiling);
        self
    }
    /// All tilings of the kernels, concatenated.
    pub(in crate::gpu) fn tilings(&self) -> Result<Vec<Tiling>> {
        let layout = self.einsum.row_major()?;
        let (limits, reads) = (self.cuda.limits(), self.update.old != Old::Ignored);
        if let Some(action) = Action::of(&self.einsum, &layout, size_of::<T>()) {
            return Ok(action.space(limits, reads));
        }
        let steps = Steps::new(&self.einsum, &layout)?;
        let kernels = steps.list.iter().filter_map(|step| Matrices::of(step, &steps.extents, size_of::<T>()));
        Ok(kernels.flat_map(|kernel| kernel.space(limits, reads)).collect())
    }
    /// Rejects results of the wrong shape.
    fn fits(&self, out: &mut DeviceBatch<T>) -> Result<()> {
        shapes(&self.einsum, out.layout())?;
        check_disjoint(out.layout())?;
        alone(out.values.raw_mut(), "out")
    }
    /// How C is updated, without α and β.
    fn change(&self) -> Change {
        let old = match self.update.old {
            Old::Ignored => 0,
            Old::Added => 1,
            Old::Scaled(_) => 2,
        };
        Change { alpha: self.update.alpha.is_some(), old, scalars: None }
    }
    /// Computes into a result that has the contraction's extents and no element twice.
    fn run(&self, out: &DeviceBatch<T>, how: How<'_>) -> Result<()> {
        note(|| {
            let words = self.explain_in(out.layout()).unwrap_or_default();
            format!(
                "einsum on cuda:{}: {} of {}\n  {}",
                self.cuda.limits().ordinal,
                self.einsum.text(),
                T::TYPE,
                words.trim_end().replace('\n', "\n  ")
            )
        });
        let beta = if let Old::Scaled(beta) = self.update.old { Some(beta) } else { None };
        let alpha = self.update.alpha;
        let scalars = match alpha.or(beta) {
            Some(_) => {
                let both = [alpha.unwrap_or(A::ZERO), beta.unwrap_or(A::ZERO)];
                Some(self.cuda.put(&both, "einsum")?.raw().clone())
            }
            None => None,
        };
        let operands: Vec<&RawBuffer> = self.einsum.operands().iter().map(|x| &**x.values.raw()).collect();
        let ring = &*printed_arithmetic::<T, A>(self.ring);
        let contraction = Contraction { cuda: self.cuda, ring, operands: &operands, how, library: self.library };
        let update = Change { scalars, ..self.change() };
        if let Some(action) = Action::of(&self.einsum, out.layout(), size_of::<T>())
            && contraction.action(&action, &out.values, &update)?
        {
            return Ok(());
        }
        // Done only here: an action needs no pair order, and finding that of eight operands searches thousands.
        contraction.run(&Steps::new(&self.einsum, out.layout())?, &out.values, &update)
    }
}

//! Contractions of tensors on the device, asked for as on the processor.

use std::cell::RefCell;

use super::action::Action;
use super::arrays::{Change, Contraction, How, Operands};
use super::batch::DeviceBatch;
use super::launch::explain;
use super::matrices::Matrices;
use super::steps::Steps;
use super::strided::Strided;
use super::tiled::{For, Tiled};
use crate::Result;
use crate::algebra::{Arithmetic, Value, printed_arithmetic};
use crate::contract::{Arrangement, Einsum, Layout, Old, RowMajor, Update, apart, fits, shapes};
use crate::gpu::Cuda;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::memory::alone;
use crate::gpu::tiling::{Tiling, TunedKernel};
use crate::par::note;

impl Cuda {
    /// `C(r…) = ⊕ x₁(…) ⊗ x₂(…) ⊗ …` of tensors on this device: the expression, the order of pairs and the order of
    /// every fold are those of [`Cpu::einsum`](crate::Cpu::einsum), and so are the bits, unless cuBLAS computes.
    ///
    /// Products of large matrices of f32 or f64 over + and ×, one or a batch of them (rows, columns and terms at least 16,
    /// one of them at least 48, 2²⁰ multiplications in all), go to cuBLAS where that is found: by the system's loader, in
    /// a CUDA toolkit, among Python's packages, or by `SPARRING_CUBLAS`. It rounds in an order of its own, f32 in full
    /// precision, and keeps some 32 MiB of the device's memory beside a budget. [`same_bits`](DeviceEinsum::same_bits)
    /// does without it, and so does a machine where it is not found.
    ///
    /// Each pair is a kernel. Where it is a batch of small matrices, whose members have no gaps, in any order of their
    /// indices, it is compiled for their sizes: A, B and C are read once and C is written once, at the speed of memory
    /// for up to 32 rows and columns. Large products go by tiles in shared memory. Everything else, and what is small,
    /// takes a thread for each element of C, and reads operands as often as they are needed. How such a kernel is cut is
    /// a [`Tiling`]: a rule's, or what [`tune`](DeviceEinsum::tune) found.
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

/// A contraction on a device that is asked for; [`eval`](Self::eval) or [`into`](Self::into) start it.
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
    /// α ⊗ what is folded.
    pub fn alpha(mut self, alpha: T) -> Self {
        self.update.alpha = Some(alpha);
        self
    }
    /// [`into`](Self::into) makes C = (β ⊗ C) ⊕ the contraction. The identity of ⊕ (0 of + and ×) forgets C, which is
    /// not read then.
    pub fn beta(mut self, beta: T) -> Self {
        self.update.old = Old::times::<A>(beta);
        self
    }
    /// [`into`](Self::into) makes C = C ⊕ the contraction.
    pub fn accumulate(mut self) -> Self {
        self.update.old = Old::Kept;
        self
    }
    /// By kernels that fold in the order of the processor, with its bits, where cuBLAS would be faster.
    pub fn same_bits(mut self) -> Self {
        self.library = false;
        self
    }
    /// Pairs of operands in the order in which they are contracted, as on the processor.
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn path(&self) -> Result<Vec<(usize, usize)>> {
        Ok(Steps::new(&self.einsum, &self.einsum.row_major()?)?.pairs)
    }
    /// Bytes of device memory for tensors between pairs, all of them together, as [`eval`](Self::eval) has it.
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn workspace_bytes(&self) -> Result<u128> {
        let steps = Steps::new(&self.einsum, &self.einsum.row_major()?)?;
        Ok(steps.between.iter().map(|&len| len as u128 * size_of::<T>() as u128).sum())
    }
    /// What each kernel computes, a line for each, as [`eval`](Self::eval) has it.
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
    /// The contraction as new tensors, row-major, one behind the other; C counts as the identity of ⊕ where it is to be
    /// read.
    /// # Errors
    /// [`Error::IndexOverflow`](crate::Error::IndexOverflow), [`Error::OutOfMemory`](crate::Error::OutOfMemory);
    /// [`Error::DeviceMemory`](crate::Error::DeviceMemory), [`Error::Budget`](crate::Error::Budget);
    /// [`Error::Compile`](crate::Error::Compile), [`Error::NoCompiler`](crate::Error::NoCompiler),
    /// [`Error::Device`](crate::Error::Device), also for operands of another device.
    pub fn eval(self) -> Result<DeviceBatch<T>> {
        self.eval_in(&RowMajor)
    }
    /// The contraction as new tensors that lie as this rule says, as on the processor
    /// ([`AskedEinsum::eval_in`](crate::backend::AskedEinsum::eval_in)).
    /// # Errors
    /// As [`into`](Self::into) with such a layout, those of the rule among them.
    pub fn eval_in(self, by: &dyn Arrangement) -> Result<DeviceBatch<T>> {
        let layout = self.einsum.arranged(by)?;
        shapes(&self.einsum, &layout)?;
        let (elements, len) = (layout.elements(), layout.array_len());
        fits(&layout, len)?;
        apart(&layout)?;
        let out = DeviceBatch::of(self.cuda.alloc::<T>(len, "einsum")?, layout);
        // Also what lies between elements has a value.
        if elements > 0 && (self.update.old != Old::Gone || len > elements) {
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
    /// [`Error::Dims`](crate::Error::Dims) if `out` has other extents, [`Error::Length`](crate::Error::Length) if it
    /// has not as many tensors; [`Error::Argument`](crate::Error::Argument) if an index of its layout may name an
    /// element twice, or if another value shares its array; otherwise as [`eval`](Self::eval).
    pub fn into(self, out: &mut DeviceBatch<T>) -> Result<()> {
        self.fits(out)?;
        self.run(out, How::By(self.tiling))
    }
    /// Finds the fastest tiling of each kernel that can be tiled, on these operands, and keeps it for [`Tuning::Kept`]:
    /// of those that a multiprocessor has room for, the sixty that a model finds fastest are compiled and run in turns.
    /// The bits of results are the same under all. What `out` holds afterwards is of no use: kernels ran many times.
    ///
    /// Cost: a few seconds, most of it compilation on all processors. What takes a thread for each element of C is not
    /// tiled.
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
    /// By this tiling, where it is one for a kernel.
    pub(in crate::gpu) fn tiled(mut self, tiling: Tiling) -> Self {
        self.tiling = Some(tiling);
        self
    }
    /// All tilings of the kernels, one after the other.
    pub(in crate::gpu) fn tilings(&self) -> Result<Vec<Tiling>> {
        let layout = self.einsum.row_major()?;
        let (limits, reads) = (self.cuda.limits(), self.update.old != Old::Gone);
        if let Some(action) = Action::of(&self.einsum, &layout, size_of::<T>()) {
            return Ok(action.space(limits, reads));
        }
        let steps = Steps::new(&self.einsum, &layout)?;
        let kernels = steps.list.iter().filter_map(|step| Matrices::of(step, &steps.extents, size_of::<T>()));
        Ok(kernels.flat_map(|kernel| kernel.space(limits, reads)).collect())
    }
    /// Refuses what cannot be the result.
    fn fits(&self, out: &mut DeviceBatch<T>) -> Result<()> {
        shapes(&self.einsum, out.layout())?;
        apart(out.layout())?;
        alone(out.values.raw_mut(), "out")
    }
    /// What becomes of C, without the numbers.
    fn change(&self) -> Change {
        let old = match self.update.old {
            Old::Gone => 0,
            Old::Kept => 1,
            Old::Times(_) => 2,
        };
        Change { alpha: self.update.alpha.is_some(), old, scalars: None }
    }
    /// Into a result that has the extents of the contraction and no element twice.
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
        let beta = if let Old::Times(beta) = self.update.old { Some(beta) } else { None };
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
        // Not before: an action needs no order of its operands, and that of eight is sought among thousands.
        contraction.run(&Steps::new(&self.einsum, out.layout())?, &out.values, &update)
    }
}

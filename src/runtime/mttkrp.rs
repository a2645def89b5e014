//! MTTKRP and decompositions of sparse tensors whose types are known at run time.

use std::sync::Arc;

use super::tensor::{Storage, with_entries};
use super::{Machine, Semiring, Tensor};
#[cfg(feature = "cuda")]
use crate::Cuda;
use crate::algebra::{Array, PlusTimes, Real, Slice, Type};
use crate::factor::{CpAls, CpFit};
#[cfg(feature = "cuda")]
use crate::gpu::{DeviceMttkrp, TensorForm};
use crate::par::{Threads, filled, note};
use crate::tensor::{Mttkrp, MttkrpCache, Variant, check_any_factors, check_mode, mttkrp_any};
use crate::{Cpu, Error, Index, Result};
#[cfg(feature = "cuda")]
use crate::{Dense, par::collected};

/// V = X₍ₙ₎ (⊙ₘ Aₘ) for one tensor and one rank, over + and ×, prepared; over ∨ and ∧ for bools.
///
/// It can be shared by threads. See [`Machine::mttkrp_plan`].
#[derive(Debug)]
pub struct MttkrpPlan {
    machine: Machine,
    x: Tensor,
    rank: usize,
    prepared: Prepared,
}

/// The strategy of the products.
#[derive(Debug)]
enum Prepared {
    F32(Mttkrp<'static, f32>),
    F64(Mttkrp<'static, f64>),
    WideF64(Mttkrp<'static, f64, u64>),
    #[cfg(feature = "cuda")]
    GpuF32(DeviceMttkrp<'static, f32>),
    #[cfg(feature = "cuda")]
    GpuF64(DeviceMttkrp<'static, f64>),
    /// The loops for any semiring.
    ByName(Semiring),
}

impl Machine {
    /// `V(i, r) = ⊕ x ⊗ A₁(i₁, r) ⊗ …` over the entries of `x` with index i in `mode`, for any semiring: row-major,
    /// with a row of `rank` columns for each i. ⊗ goes from left to right in the order of the modes, ⊕ in the order of
    /// the entries. `factors` are row-major, one per mode; that of `mode` is not read.
    ///
    /// Cost: O(d·rank·nnz), plus sorting the entries by `mode`. [`mttkrp_plan`](Self::mttkrp_plan) has specialized
    /// loops for + and × on floats; [`Cpu::mttkrp`] fuses those of a statically typed semiring.
    /// ```
    /// use sparring::algebra::{Slice, Type};
    /// use sparring::runtime::{Machine, Semiring, Tensor};
    /// let x = sparring::Tensor::<i32>::new(vec![2, 2], vec![vec![0, 0, 1], vec![0, 1, 1]], vec![1, 2, 3])?;
    /// let ring = Semiring::new("min, a + 2*b", Type::I32)?;
    /// let (nothing, a) = (Slice::of::<i32>(&[]), Slice::of(&[10i32, 20]));
    /// let v = Machine::from(sparring::Cpu::new()).mttkrp(&ring, &Tensor::from(x), &[nothing, a], 1, 0)?;
    /// assert_eq!(v.slice().get::<i32>(), Some(&[21, 43][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Argument`] if there is no such mode, or factors are of another type than the tensor; [`Error::Length`]
    /// if a factor does not have one row per index of its mode; [`Error::Unsupported`] if the semiring is not on values
    /// of this type, if its ⊗ is positional, and on a GPU; [`Error::Budget`], [`Error::OutOfMemory`],
    /// [`Error::Cancelled`].
    pub fn mttkrp(
        &self,
        ring: &Semiring,
        x: &Tensor,
        factors: &[Slice<'_>],
        rank: usize,
        mode: usize,
    ) -> Result<Array> {
        let cpu = self.processor("mttkrp", ring)?;
        note(|| format!("mttkrp: {}, mode {mode}, {rank} columns", x.described()));
        with_entries!(x, (places, values) => {
            mttkrp_any(cpu.threads(), ring.compiled(), (places, values), (factors, rank), mode, cpu.budget())
        })
    }

    /// The data shared by products of `x` with factors of `rank` columns, for each mode, or for a single product of
    /// mode `only`. For floats: copies or permutations of the tensor, chosen by its shape and the memory budget, or by
    /// `variant`. For other types: none; their products are those of [`mttkrp`](Self::mttkrp).
    ///
    /// On a GPU the tensor is uploaded and sorted there; for a single product, or if it does not fit, entries are
    /// processed in parts. A GPU supports floats, and the variants that `gpu::TensorForm` converts.
    /// ```
    /// use sparring::algebra::Slice;
    /// use sparring::runtime::{Machine, Tensor};
    /// let x = sparring::Tensor::<f32>::new(vec![2, 2], vec![vec![0, 0, 1], vec![0, 1, 1]], vec![1.0, 2.0, 3.0])?;
    /// let plan = Machine::from(sparring::Cpu::new()).mttkrp_plan(&x.into(), 1, None, None)?;
    /// let v = plan.eval(&[Slice::of::<f32>(&[]), Slice::of(&[10f32, 20.0])], 0)?;
    /// assert_eq!(v.slice().get::<f32>(), Some(&[50.0, 60.0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Argument`] if there is no mode `only`; [`Error::Unsupported`] for a variant of non-float values, of f32
    /// with 64-bit indices, or that a GPU lacks, and for non-float values on a GPU; [`Error::Budget`] and
    /// [`Error::OutOfMemory`], before memory is taken; those of the machine.
    pub fn mttkrp_plan(
        &self,
        x: &Tensor,
        rank: usize,
        variant: Option<Variant>,
        only: Option<usize>,
    ) -> Result<MttkrpPlan> {
        if let Some(mode) = only {
            check_mode(x.dims().len(), "mode", mode)?;
        }
        let prepared = match self.typed::<Cpu>() {
            Some(cpu) => on_cpu(cpu, x, rank, variant, only)?,
            None => self.on_gpu(x, variant, only)?,
        };
        Ok(MttkrpPlan { machine: self.clone(), x: x.clone(), rank, prepared })
    }
    #[cfg(feature = "cuda")]
    fn on_gpu(&self, x: &Tensor, variant: Option<Variant>, only: Option<usize>) -> Result<Prepared> {
        let Some(cuda) = self.typed::<Cuda>() else { return Err(self.no_products(x)) };
        // Nothing is retained for a single product: entries are processed in parts, usually one.
        let form = match (variant, only) {
            (None, Some(_)) => Some(TensorForm::Parts),
            (variant, _) => variant.map(TensorForm::try_from).transpose()?,
        };
        Ok(match &x.0 {
            Storage::F32(x) => Prepared::GpuF32(cuda.mttkrp_plan(Arc::clone(x), form)?),
            Storage::F64(x) => Prepared::GpuF64(cuda.mttkrp_plan(Arc::clone(x), form)?),
            Storage::WideF64(x) => Prepared::GpuF64(cuda.mttkrp_plan(Arc::clone(x), form)?),
            _ => return Err(self.no_products(x)),
        })
    }
    #[cfg(not(feature = "cuda"))]
    fn on_gpu(&self, x: &Tensor, _: Option<Variant>, _: Option<usize>) -> Result<Prepared> {
        Err(self.no_products(x))
    }
    fn no_products(&self, x: &Tensor) -> Error {
        let what = format!("mttkrp of {} on {}", x.ty(), self.name());
        Error::Unsupported { what, why: "a GPU supports f32 and f64, with modes of up to 2³¹ indices".into() }
    }

    /// [`CpAls::run`] for a tensor whose type is known at run time: f64, or f32 converted to f64.
    /// # Errors
    /// [`Error::Unsupported`] for non-float values; those of [`CpAls::run`].
    pub fn cp_als(&self, als: &CpAls<'_, f64>, x: &Tensor) -> Result<CpFit<f64>> {
        let x = match x.ty() {
            Type::F32 | Type::F64 => x.cast(Type::F64)?,
            ty => {
                let why = "CP supports f32 and f64; convert by `cast`".into();
                return Err(Error::Unsupported { what: format!("CP of a tensor of {ty}"), why });
            }
        };
        macro_rules! run {
            ($machine:expr) => {
                match &x.0 {
                    Storage::F64(x) => als.run($machine, &**x),
                    Storage::WideF64(x) => als.run($machine, &**x),
                    _ => unreachable!("its values are f64"),
                }
            };
        }
        if let Some(cpu) = self.typed::<Cpu>() {
            return run!(cpu);
        }
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.typed::<Cuda>() {
            return run!(cuda);
        }
        if let Some((narrow, wide)) = self.engine().cp() {
            return match &x.0 {
                Storage::F64(x) => als.run(&narrow, &**x),
                Storage::WideF64(x) => als.run(&wide, &**x),
                _ => unreachable!("its values are f64"),
            };
        }
        let why = "only CPUs and GPUs support it".into();
        Err(Error::Unsupported { what: format!("CP on {}", self.name()), why })
    }
}

fn on_cpu(cpu: &Cpu, x: &Tensor, rank: usize, variant: Option<Variant>, only: Option<usize>) -> Result<Prepared> {
    // Memory of a product beyond the plan: its result.
    let rows = only.map_or_else(|| x.dims().iter().copied().max().unwrap_or(0), |mode| x.dims()[mode]);
    let bytes = rows as u128 * rank as u128 * x.ty().size() as u128;
    let left = cpu.left(u64::try_from(bytes).unwrap_or(u64::MAX))?;
    let threads = cpu.threads();
    Ok(match &x.0 {
        Storage::F32(x) => Prepared::F32(Mttkrp::new(threads, Arc::clone(x).into(), rank, only, variant, left)?),
        Storage::F64(x) => Prepared::F64(Mttkrp::new(threads, Arc::clone(x).into(), rank, only, variant, left)?),
        Storage::WideF64(x) => {
            Prepared::WideF64(Mttkrp::new(threads, Arc::clone(x).into(), rank, only, variant, left)?)
        }
        Storage::Narrow(_) | Storage::Wide(_) => {
            let ty = x.ty();
            if let Some(variant) = variant {
                let what = format!("the variant {variant} of a product of {ty}");
                let why = "variants support f64, and f32 with 32-bit indices: modes of less than 2³² indices".into();
                return Err(Error::Unsupported { what, why });
            }
            Prepared::ByName(Semiring::new(if ty == Type::Bool { "lor_land" } else { "plus_times" }, ty)?)
        }
    })
}

impl MttkrpPlan {
    /// The tensor.
    #[must_use]
    pub fn tensor(&self) -> &Tensor {
        &self.x
    }
    /// Columns of the factors.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }
    /// V for `mode`, row-major; `factors` are row-major, one per mode, and that of `mode` is not read. Bitwise the same
    /// for any number of threads, except with variants A and B; variants differ by rounding.
    /// # Errors
    /// As [`Machine::mttkrp`]; [`Error::Argument`] if the plan was made for another mode only.
    pub fn eval(&self, factors: &[Slice<'_>], mode: usize) -> Result<Array> {
        let (machine, dims, rank) = (&self.machine, self.x.dims(), self.rank);
        check_any_factors((dims, rank), factors, self.x.ty(), mode)?;
        if !machine.is_gpu() {
            note(|| format!("mttkrp: {}, mode {mode}, {rank} columns", self.x.described()));
        }
        let current = Threads::current();
        let threads = machine.threads().unwrap_or(&current);
        match &self.prepared {
            Prepared::F32(plan) => by_plan(threads, plan, (factors, rank), mode),
            Prepared::F64(plan) => by_plan(threads, plan, (factors, rank), mode),
            Prepared::WideF64(plan) => by_plan(threads, plan, (factors, rank), mode),
            #[cfg(feature = "cuda")]
            Prepared::GpuF32(plan) => by_gpu(machine, plan, (factors, rank), mode),
            #[cfg(feature = "cuda")]
            Prepared::GpuF64(plan) => by_gpu(machine, plan, (factors, rank), mode),
            Prepared::ByName(ring) => with_entries!(self.x, (places, values) => {
                let budget = machine.typed::<Cpu>().and_then(Cpu::budget);
                mttkrp_any(threads, ring.compiled(), (places, values), (factors, rank), mode, budget)
            }),
        }
    }
    /// The choices and their reasons, a line for the tensor and one for each mode.
    #[must_use]
    pub fn explain(&self) -> String {
        match &self.prepared {
            Prepared::F32(plan) => plan.explain(),
            Prepared::F64(plan) => plan.explain(),
            Prepared::WideF64(plan) => plan.explain(),
            #[cfg(feature = "cuda")]
            Prepared::GpuF32(plan) => plan.explain(),
            #[cfg(feature = "cuda")]
            Prepared::GpuF64(plan) => plan.explain(),
            Prepared::ByName(ring) => {
                format!("mttkrp: {ring} on {}, generic loops: the entries are sorted for each product\n", self.x.ty())
            }
        }
    }
}

/// Runs the typed loops; the factors are of type T and have the right lengths.
fn by_plan<T: Real, I: Index>(
    threads: &Threads,
    plan: &Mttkrp<'_, T, I>,
    (factors, rank): (&[Slice<'_>], usize),
    mode: usize,
) -> Result<Array> {
    note(|| format!("  {}", plan.how(mode)));
    let factors: Vec<&[T]> =
        factors.iter().enumerate().map(|(m, x)| if m == mode { &[][..] } else { typed(x) }).collect();
    let mut v = filled(plan.tensor().dims()[mode] * rank, T::ZERO, "mttkrp")?;
    plan.product(threads, PlusTimes::<T>::new(), (&factors, rank), mode, &mut v, &mut MttkrpCache::default())?;
    Ok(Array::of(v))
}
fn typed<'a, T: Real>(x: &Slice<'a>) -> &'a [T] {
    x.get().unwrap_or_else(|| unreachable!("factor types were checked"))
}

#[cfg(feature = "cuda")]
fn by_gpu<T: Real>(
    machine: &Machine,
    plan: &DeviceMttkrp<'_, T>,
    (factors, rank): (&[Slice<'_>], usize),
    mode: usize,
) -> Result<Array> {
    let Some(cuda) = machine.typed::<Cuda>() else { unreachable!("the plan is on a GPU") };
    let sent = |(m, x): (usize, &Slice<'_>)| {
        let x: &[T] = if m == mode { &[] } else { typed(x) };
        let rows = if m == mode { 0 } else { plan.dims()[m] };
        cuda.upload_dense(&Dense::new(rows, rank, collected(x.len(), x.iter().copied(), "factors")?)?)
    };
    let factors = factors.iter().enumerate().map(sent).collect::<Result<Vec<_>>>()?;
    let v = cuda.download_dense(&plan.mttkrp(PlusTimes::<T>::new(), &factors, mode)?)?;
    Ok(Array::of(v.into_values()))
}

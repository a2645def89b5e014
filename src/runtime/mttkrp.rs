//! MTTKRP and decompositions of sparse tensors whose types are known at run time.

use std::sync::Arc;

#[cfg(feature = "cuda")]
use super::engine::Engine;
use super::tensor::{Storage, with_entries};
use super::{Machine, Semiring, Tensor, Vector};
#[cfg(feature = "cuda")]
use crate::Cuda;
use crate::algebra::{Array, PlusTimes, Real, Slice, Type};
use crate::factor::{CpAls, CpFit};
#[cfg(feature = "cuda")]
use crate::gpu::{DeviceMttkrp, RawBuffer, RawVector, TensorForm};
#[cfg(feature = "cuda")]
use crate::kernels::check_dense;
use crate::par::{Threads, filled, note};
use crate::tensor::{Mttkrp, MttkrpCache, Variant, check_any_factors, check_mode, mttkrp_any};
use crate::{Cpu, Error, Index, Result};

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
    /// the entries; a GPU folds pieces of long rows. `factors` are row-major, one per mode; that of `mode` is not read.
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
    /// of this type, or if its ⊗ is positional; [`Error::Budget`], [`Error::OutOfMemory`], [`Error::Cancelled`]; those
    /// of the machine.
    pub fn mttkrp(
        &self,
        ring: &Semiring,
        x: &Tensor,
        factors: &[Slice<'_>],
        rank: usize,
        mode: usize,
    ) -> Result<Array> {
        note(|| format!("mttkrp: {}, mode {mode}, {rank} columns", x.described()));
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.typed::<Cuda>() {
            let found = mttkrp_on_gpu(cuda, ring, x, (factors.iter().map(|f| (f.ty(), f.len())), rank), mode, |m| {
                cuda.put_raw(factors[m], "a factor of mttkrp")
            })?;
            return cuda.get_raw(&found, "the result of mttkrp");
        }
        let cpu = self.processor("mttkrp", ring)?;
        with_entries!(x, (places, values) => {
            mttkrp_any(cpu.threads(), ring.compiled(), (places, values), (factors, rank), mode, cpu.budget())
        })
    }

    /// [`mttkrp`](Self::mttkrp) with factors that are full vectors, row-major, on any machine; V as a full vector on this
    /// one. Factors and V on a GPU are not copied.
    /// # Errors
    /// As [`mttkrp`](Self::mttkrp); [`Error::Argument`] if a vector lacks an entry.
    pub fn mttkrp_vectors(
        &self,
        ring: &Semiring,
        x: &Tensor,
        factors: &[Vector],
        rank: usize,
        mode: usize,
    ) -> Result<Vector> {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.typed::<Cuda>() {
            note(|| format!("mttkrp: {}, mode {mode}, {rank} columns", x.described()));
            let given = (factors.iter().map(|f| (f.ty(), f.len())), rank);
            let found = mttkrp_on_gpu(cuda, ring, x, given, mode, |m| cuda.full_values(&factors[m]))?;
            return Ok(cuda.keep_vector(RawVector::full(found)));
        }
        let here = on_host(factors, mode)?;
        Vector::full(self.mttkrp(ring, x, &slices(&here), rank, mode)?)
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
        check_any_factors((dims, rank), factors.iter().map(|f| (f.ty(), f.len())), self.x.ty(), mode)?;
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
            Prepared::GpuF32(_) | Prepared::GpuF64(_) => {
                let Some(cuda) = machine.typed::<Cuda>() else { unreachable!("the plan is on a GPU") };
                let v = self.on_gpu(cuda, |m| cuda.put_raw(factors[m], "a factor of mttkrp"), mode)?;
                cuda.get_raw(&v, "the result of mttkrp")
            }
            Prepared::ByName(ring) => with_entries!(self.x, (places, values) => {
                let budget = machine.typed::<Cpu>().and_then(Cpu::budget);
                mttkrp_any(threads, ring.compiled(), (places, values), (factors, rank), mode, budget)
            }),
        }
    }
    /// [`eval`](Self::eval) with factors that are full vectors, row-major, on any machine; V as a full vector on that of
    /// the plan. Factors and V on the GPU of the plan are not copied.
    /// ```
    /// use sparring::algebra::{Array, Type};
    /// use sparring::runtime::{Machine, Scalar, Tensor, Vector};
    /// let x = sparring::Tensor::<f32>::new(vec![2, 2], vec![vec![0, 0, 1], vec![0, 1, 1]], vec![1.0, 2.0, 3.0])?;
    /// let plan = Machine::from(sparring::Cpu::new()).mttkrp_plan(&x.into(), 1, None, None)?;
    /// let a = Vector::full(Array::of(vec![10f32, 20.0]))?;
    /// let v = plan.eval_vectors(&[Vector::empty(Type::F32, 0)?, a], 0)?;
    /// assert_eq!((v.len(), v.get(0)?), (2, Some(Scalar::from(50f32))));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// As [`eval`](Self::eval); [`Error::Argument`] if a vector lacks an entry.
    pub fn eval_vectors(&self, factors: &[Vector], mode: usize) -> Result<Vector> {
        let (dims, ty) = (self.x.dims(), self.x.ty());
        check_any_factors((dims, self.rank), factors.iter().map(|f| (f.ty(), f.len())), ty, mode)?;
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.machine.typed::<Cuda>() {
            let v = self.on_gpu(cuda, |m| cuda.full_values(&factors[m]), mode)?;
            return Ok(cuda.keep_vector(RawVector::full(v)));
        }
        let here = on_host(factors, mode)?;
        Vector::full(self.eval(&slices(&here), mode)?)
    }
    /// V on the GPU; `factor` gives the values there of the factor of another mode.
    #[cfg(feature = "cuda")]
    fn on_gpu(
        &self,
        cuda: &Cuda,
        factor: impl Fn(usize) -> Result<Arc<RawBuffer>>,
        mode: usize,
    ) -> Result<Arc<RawBuffer>> {
        let factors = factors_there(cuda, &self.x, mode, factor)?;
        let factors: Vec<_> = factors.iter().map(|x| &**x).collect();
        match &self.prepared {
            Prepared::GpuF32(plan) => plan.mttkrp_raw(PlusTimes::new(), &factors, self.rank, mode),
            Prepared::GpuF64(plan) => plan.mttkrp_raw(PlusTimes::new(), &factors, self.rank, mode),
            _ => unreachable!("the plan is on a GPU"),
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

/// Values of the factors in host memory; none of that of `mode`, which is not read.
fn on_host(factors: &[Vector], mode: usize) -> Result<Vec<Option<Array>>> {
    let here = |(m, x): (usize, &Vector)| if m == mode { Ok(None) } else { x.full_values().map(Some) };
    factors.iter().enumerate().map(here).collect()
}
fn slices(values: &[Option<Array>]) -> Vec<Slice<'_>> {
    let none = Slice::of::<u8>(&[]);
    values.iter().map(|x| x.as_ref().map_or(none, Array::slice)).collect()
}

/// One product on a GPU; `given` has the type and number of values of each factor, and `factor` its values there.
#[cfg(feature = "cuda")]
fn mttkrp_on_gpu(
    cuda: &Cuda,
    ring: &Semiring,
    x: &Tensor,
    (given, rank): (impl ExactSizeIterator<Item = (Type, usize)>, usize),
    mode: usize,
    factor: impl Fn(usize) -> Result<Arc<RawBuffer>>,
) -> Result<Arc<RawBuffer>> {
    check_any_factors((x.dims(), rank), given, x.ty(), mode)?;
    check_dense(ring.compiled(), "mttkrp", x.ty())?;
    cuda.check_host_function(ring.host_function())?;
    let printed = ring.printed();
    if [printed.a, printed.b, printed.out] != [x.ty(); 3] {
        let why = format!("a GPU needs ⊗ of two values of {} that gives one", x.ty());
        return Err(Error::Unsupported { what: format!("mttkrp over {ring} on {}", Engine::name(cuda)), why });
    }
    let factors = factors_there(cuda, x, mode, factor)?;
    let factors: Vec<_> = factors.iter().map(|f| &**f).collect();
    with_entries!(x, (places, values) => {
        cuda.mttkrp_raw(printed, (places, values), (&factors, rank), mode)
    })
}

/// The values of each factor on the GPU; none of that of `mode`, which is not read.
#[cfg(feature = "cuda")]
fn factors_there(
    cuda: &Cuda,
    x: &Tensor,
    mode: usize,
    factor: impl Fn(usize) -> Result<Arc<RawBuffer>>,
) -> Result<Vec<Arc<RawBuffer>>> {
    let given = |m| if m == mode { cuda.alloc_raw(x.ty(), 0, "no factor") } else { factor(m) };
    (0..x.dims().len()).map(given).collect()
}

//! A processor or a GPU, and products on it.

#[cfg(feature = "cuda")]
use std::sync::Arc;

use super::{Matrix, Semiring, Sum};
#[cfg(feature = "cuda")]
use crate::algebra::{Formula, MonoidFormula, Printable, Type, printed};
use crate::backend::Backend;
#[cfg(feature = "cuda")]
use crate::gpu::{Cuda, DevicePattern, spgemm as device};
use crate::graph::{TriangleMethod, Triangles, triangles, triangles_per_edge, triangles_per_vertex};
use crate::spgemm::{self, Options};
use crate::{Cpu, Error, Result};

/// Where products are computed.
#[derive(Debug)]
pub enum Machine {
    /// The processor.
    Cpu(Cpu),
    /// A GPU.
    #[cfg(feature = "cuda")]
    Cuda(Cuda),
}

impl From<Cpu> for Machine {
    fn from(cpu: Cpu) -> Self {
        Self::Cpu(cpu)
    }
}
#[cfg(feature = "cuda")]
impl From<Cuda> for Machine {
    fn from(cuda: Cuda) -> Self {
        Self::Cuda(cuda)
    }
}

/// The structure of C = A·B, on the machine that made it.
#[derive(Clone, Debug)]
pub enum Plan {
    /// On the processor.
    Host(spgemm::Plan),
    /// On a GPU.
    #[cfg(feature = "cuda")]
    Device(device::Plan),
}

/// Figures of a product, as far as they were counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// Multiplications.
    pub flops: u64,
    /// Most multiplications in a row.
    pub max_row_flops: u64,
    /// Longest row of C; not on a GPU.
    pub max_row_nnz: Option<usize>,
    /// Entries of C.
    pub nnz: usize,
    /// Multiplications left after compression over those before.
    pub cf: Option<f64>,
    /// Largest row bound after compression over that before.
    pub cmrf: Option<f64>,
}

impl Plan {
    /// Multiplications.
    #[must_use]
    pub fn flops(&self) -> u64 {
        match self {
            Self::Host(plan) => plan.flops(),
            #[cfg(feature = "cuda")]
            Self::Device(plan) => plan.flops(),
        }
    }
    /// Entries of C.
    #[must_use]
    pub fn nnz(&self) -> usize {
        match self {
            Self::Host(plan) => plan.nnz(),
            #[cfg(feature = "cuda")]
            Self::Device(plan) => plan.nnz(),
        }
    }
    /// Rows and columns of C.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Host(plan) => plan.shape(),
            #[cfg(feature = "cuda")]
            Self::Device(plan) => plan.shape(),
        }
    }
    /// What was chosen, and why.
    #[must_use]
    pub fn explain(&self) -> String {
        match self {
            Self::Host(plan) => plan.explain(),
            #[cfg(feature = "cuda")]
            Self::Device(plan) => plan.explain(),
        }
    }
    /// Figures of the product.
    #[must_use]
    pub fn stats(&self) -> Stats {
        match self {
            Self::Host(plan) => {
                let &spgemm::Stats { flops, max_row_flops, max_row_nnz, nnz, cf, cmrf } = plan.stats();
                Stats { flops, max_row_flops, max_row_nnz: Some(max_row_nnz), nnz, cf, cmrf }
            }
            #[cfg(feature = "cuda")]
            Self::Device(plan) => Stats {
                flops: plan.flops(),
                max_row_flops: plan.max_row_flops(),
                max_row_nnz: None,
                nnz: plan.nnz(),
                cf: plan.compression().map(|c| c.cf),
                cmrf: plan.compression().map(|c| c.cmrf),
            },
        }
    }
    fn host(&self) -> Result<&spgemm::Plan> {
        match self {
            Self::Host(plan) => Ok(plan),
            #[cfg(feature = "cuda")]
            Self::Device(_) => Err(elsewhere()),
        }
    }
    #[cfg(feature = "cuda")]
    fn device(&self) -> Result<&device::Plan> {
        match self {
            Self::Device(plan) => Ok(plan),
            Self::Host(_) => Err(elsewhere()),
        }
    }
}

/// The pattern on the device.
#[cfg(feature = "cuda")]
fn pattern_on(cuda: &Cuda, a: &Matrix) -> Result<Arc<DevicePattern>> {
    match a.device() {
        Some(raw) => Ok(Arc::clone(&raw.pattern)),
        None => cuda.shared_pattern(a.operand()?.pattern),
    }
}

#[cfg(feature = "cuda")]
fn elsewhere() -> Error {
    Error::Argument { name: "plan", message: "it was made on another machine".into() }
}

impl Machine {
    /// The matrix on this machine; itself if it is there, else by way of the processor's memory.
    /// # Errors
    /// Those of the machines.
    pub fn upload(&self, a: &Matrix) -> Result<Matrix> {
        match self {
            _ if self.holds(a) => Ok(a.clone()),
            Self::Cpu(_) => a.download(),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => Ok(Matrix::on_device(cuda, self.there(a)?.into_owned())),
        }
    }
    /// Symbolic phase of C = A·B; values and their types do not matter.
    /// # Errors
    /// Those of the machine; [`Error::Shape`].
    pub fn plan(&self, a: &Matrix, b: &Matrix, options: &Options) -> Result<Plan> {
        self.plan_masked(a, b, None, options)
    }
    /// Symbolic phase of C⟨M⟩ = A·B: only where the mask has an entry, whatever its value, or where it has none (`true`).
    /// # Errors
    /// Those of [`plan`](Self::plan).
    pub fn plan_masked(
        &self,
        a: &Matrix,
        b: &Matrix,
        mask: Option<(&Matrix, bool)>,
        options: &Options,
    ) -> Result<Plan> {
        match self {
            Self::Cpu(cpu) => {
                let (a, b) = (a.operand()?, b.operand()?);
                let mask = mask.map(|(mask, complement)| Ok::<_, Error>((mask.operand()?.pattern, complement)));
                Ok(Plan::Host(cpu.symbolic(a.pattern, b.pattern, mask.transpose()?, options)?))
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => {
                // Of matrices of the host only the structure is sent.
                let mask = mask.map(|(mask, complement)| Ok::<_, Error>((pattern_on(cuda, mask)?, complement)));
                let mask = mask.transpose()?;
                let mask = mask.as_ref().map(|(mask, complement)| (mask, *complement));
                Ok(Plan::Device(device::plan_of(cuda, pattern_on(cuda, a)?, pattern_on(cuda, b)?, mask, options)?))
            }
        }
    }
    /// Numeric phase: values of C = A ⊕.⊗ B for a plan of this machine.
    /// # Errors
    /// Those of the machine; [`Error::Argument`] if ⊗ takes other types; [`Error::PatternChanged`].
    pub fn numeric(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        match self {
            Self::Cpu(cpu) => {
                let (a, b) = (a.operand()?, b.operand()?);
                let (budget, plan) = (cpu.budget(), plan.host()?);
                let (pattern, values) = spgemm::numeric_any(cpu.threads(), budget, plan, ring.compiled(), a, b)?;
                Matrix::new(pattern, values)
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => {
                let (a, b) = (self.there(a)?, self.there(b)?);
                Ok(Matrix::on_device(cuda, cuda.numeric_raw(plan.device()?, ring.printed(), &a, &b)?))
            }
        }
    }
    /// Numeric phase into `c`, which the plan made before; in place where nobody else holds it, else in memory of its own.
    /// # Errors
    /// Those of [`numeric`](Self::numeric); [`Error::Argument`] if the semiring gives another type than that of `c`, or `c` is
    /// on another machine. `c` is then as it was.
    pub fn numeric_into(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix, c: &mut Matrix) -> Result<()> {
        if c.ty() != ring.ty() {
            let message = format!("the semiring gives {}, these values are {}", ring.ty(), c.ty());
            return Err(Error::Argument { name: "c", message });
        }
        match self {
            Self::Cpu(cpu) => {
                let (operands, plan) = ((a.operand()?, b.operand()?), plan.host()?);
                if let Some((pattern, mut values)) = c.unshared() {
                    let ring = ring.compiled();
                    let (threads, budget) = (cpu.threads(), cpu.budget());
                    return spgemm::numeric_any_into(threads, budget, plan, ring, operands, &pattern, &mut values);
                }
                // Someone else holds its values, perhaps this very call: they keep theirs.
                plan.check_result(c.operand()?.pattern)?;
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => {
                let (a, b, plan) = (self.there(a)?, self.there(b)?, plan.device()?);
                let Some(c) = c.device_mut() else {
                    let message = "it is in the processor's memory; upload it".into();
                    return Err(Error::Argument { name: "c", message });
                };
                let pattern = Arc::clone(&c.pattern);
                if Arc::get_mut(&mut c.values).is_some() {
                    return cuda.numeric_into_raw(plan, ring.printed(), &a, &b, &pattern, &mut c.values);
                }
                plan.check_result(&pattern)?;
            }
        }
        *c = self.numeric(plan, ring, a, b)?;
        Ok(())
    }
    /// Sum of the values: in their order on the processor ([`Matrix::sum`]); on a GPU in an order of its own, the same in every
    /// run, of integers modulo 2⁶⁴.
    /// # Errors
    /// Those of the machine; [`Error::Unsupported`] for structs.
    pub fn sum(&self, a: &Matrix) -> Result<Sum> {
        #[cfg(feature = "cuda")]
        if let (Self::Cuda(cuda), Some(raw)) = (self, a.device()) {
            let wide = match a.ty() {
                Type::F32 | Type::F64 => Type::F64,
                Type::ComplexF32 | Type::ComplexF64 => return a.download()?.sum(),
                _ => Type::I64,
            };
            let convert = Formula::parse(&format!("{wide}(a)"), &[("a", a.ty())], Some(wide))?;
            let values = cuda.apply_raw(&printed(Printable::Op(convert)), raw)?.values;
            let plus = MonoidFormula::named("plus", wide)?;
            let plus = printed(Printable::Monoid(plus.op().clone(), plus.identity().clone()));
            let sum = cuda.get_raw(&cuda.fold_raw(&plus, &values)?, "a sum")?;
            let (integer, real) = (sum.slice().get::<i64>(), sum.slice().get::<f64>());
            return Ok(match (integer, real) {
                (Some(&[x, ..]), _) => Sum::Integer(x.into()),
                (_, Some(&[x, ..])) => Sum::Real(x),
                _ => Sum::Integer(0),
            });
        }
        a.sum()
    }
    /// C = A ⊕.⊗ B.
    /// # Errors
    /// Those of [`plan`](Self::plan) and [`numeric`](Self::numeric).
    pub fn mxm(&self, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        self.numeric(&self.plan(a, b, &Options::default())?, ring, a, b)
    }
    /// Triangles of the simple undirected graph under a square matrix: direction, loops, repeated edges and values do not matter.
    /// # Errors
    /// Those of [`triangles`].
    pub fn triangles(&self, a: &Matrix, method: TriangleMethod) -> Result<Triangles> {
        match self {
            Self::Cpu(cpu) => triangles(cpu, &**a.operand()?.pattern, method),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => triangles(cuda, &*pattern_on(cuda, a)?, method),
        }
    }
    /// In how many of these triangles each vertex is.
    /// # Errors
    /// Those of [`triangles_per_vertex`].
    pub fn triangles_per_vertex(&self, a: &Matrix) -> Result<Vec<u64>> {
        match self {
            Self::Cpu(cpu) => triangles_per_vertex(cpu, &**a.operand()?.pattern),
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => triangles_per_vertex(cuda, &*pattern_on(cuda, a)?),
        }
    }
    /// In how many of these triangles each edge is: a symmetric matrix of u64.
    /// # Errors
    /// Those of [`triangles_per_edge`].
    pub fn triangles_per_edge(&self, a: &Matrix) -> Result<Matrix> {
        Ok(match self {
            Self::Cpu(cpu) => triangles_per_edge(cpu, a.operand()?.pattern)?,
            #[cfg(feature = "cuda")]
            Self::Cuda(cuda) => triangles_per_edge(cuda, &*pattern_on(cuda, a)?)?,
        }
        .into())
    }
}

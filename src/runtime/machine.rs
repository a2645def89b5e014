//! A machine on which operations run: the processor, a GPU, or any other engine.

use std::any::Any;
use std::sync::Arc;

use super::engine::{Call, Engine, MaskSpec, Op, Operand, TriangleEngine};
use super::{Matrix, Plan, Product, Semiring, Sum, Vector};
#[cfg(feature = "cuda")]
use crate::Cuda;
use crate::graph::{TriangleMethod, Triangles};
use crate::par::{Threads, note};
use crate::spgemm::Options;
use crate::{Cpu, Error, Result};

/// Where operations run. A clone is another name for the same machine.
#[derive(Clone, Debug)]
pub struct Machine(Arc<dyn Engine>);

impl From<Cpu> for Machine {
    fn from(cpu: Cpu) -> Self {
        Self(Arc::new(cpu))
    }
}
#[cfg(feature = "cuda")]
impl From<Cuda> for Machine {
    fn from(cuda: Cuda) -> Self {
        Self(Arc::new(cuda))
    }
}

impl Machine {
    /// The processor with a pool of `threads` threads, 0: one for each processor that the process may use. Operations
    /// refuse to take more than `memory_budget` bytes.
    /// # Errors
    /// [`Error::Threads`].
    pub fn cpu(threads: usize, memory_budget: Option<u64>) -> Result<Self> {
        let cpu = if threads == 0 { Cpu::new() } else { Cpu::with_threads(threads)? };
        Ok(match memory_budget {
            Some(bytes) => cpu.memory_budget(bytes),
            None => cpu,
        }
        .into())
    }
    /// GPU number `ordinal`. Operations refuse to take more than `memory_budget` bytes of its memory.
    /// # Errors
    /// [`Error::NoDevice`], which says what is missing: the driver, a device of that number, or the feature `cuda`.
    pub fn cuda(ordinal: usize, memory_budget: Option<u64>) -> Result<Self> {
        #[cfg(feature = "cuda")]
        {
            let cuda = Cuda::new(ordinal)?;
            Ok(match memory_budget {
                Some(bytes) => cuda.memory_budget(bytes),
                None => cuda,
            }
            .into())
        }
        #[cfg(not(feature = "cuda"))]
        {
            _ = memory_budget;
            Err(Error::NoDevice { ordinal, why: "the library was built without the feature cuda".into() })
        }
    }
    /// GPUs that the driver has; 0 where there is no driver, and without the feature `cuda`.
    #[must_use]
    pub fn gpus() -> usize {
        #[cfg(feature = "cuda")]
        {
            Cuda::count()
        }
        #[cfg(not(feature = "cuda"))]
        {
            0
        }
    }
    /// The machine that an engine of another crate is.
    pub fn from_engine(engine: impl Engine) -> Self {
        Self(Arc::new(engine))
    }
    /// What runs its operations.
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        &*self.0
    }
    /// The machine by its type: a `Cpu`, a `Cuda`, or an engine of another crate.
    #[must_use]
    pub fn typed<M: Any>(&self) -> Option<&M> {
        (self.engine() as &dyn Any).downcast_ref()
    }
    /// Whether it is a GPU.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        #[cfg(feature = "cuda")]
        {
            self.typed::<Cuda>().is_some()
        }
        #[cfg(not(feature = "cuda"))]
        {
            false
        }
    }
    /// `cpu`, or `cuda:0` and so on.
    #[must_use]
    pub fn name(&self) -> String {
        self.engine().name()
    }
    /// What it is, in words that begin with its name.
    #[must_use]
    pub fn describe(&self) -> String {
        self.engine().describe()
    }
    /// Its pool of threads, if it is the processor.
    #[must_use]
    pub fn threads(&self) -> Option<&Threads> {
        self.engine().threads()
    }
    /// Waits until it has done all that it was asked for.
    /// # Errors
    /// [`Error::Device`], of an operation before.
    pub fn wait(&self) -> Result<()> {
        self.engine().wait()
    }
    /// Whether the plan is one of its own.
    #[must_use]
    pub fn made(&self, plan: &Plan) -> bool {
        self.engine().made(plan)
    }
    /// The matrix on this machine; itself if it is there, else by way of the processor's memory.
    /// # Errors
    /// Those of the machines.
    pub fn upload(&self, a: &Matrix) -> Result<Matrix> {
        if self.engine().holds(a.into()) { Ok(a.clone()) } else { self.engine().upload(a.into())?.try_into() }
    }
    /// The vector on this machine; itself if it is there, else by way of the processor's memory.
    /// # Errors
    /// Those of the machines.
    pub fn upload_vector(&self, x: &Vector) -> Result<Vector> {
        if self.engine().holds(x.into()) { Ok(x.clone()) } else { self.engine().upload(x.into())?.try_into() }
    }
    /// Symbolic phase of C = A·B; values and their types do not matter.
    /// # Errors
    /// Those of the machine; [`Error::Shape`].
    pub fn plan(&self, a: &Matrix, b: &Matrix, options: &Options) -> Result<Plan> {
        self.plan_masked(a, b, None, options)
    }
    /// Symbolic phase of C⟨M⟩ = A·B: only where the mask has an entry, whatever its value, or where it has none
    /// (`true`).
    /// # Errors
    /// Those of [`plan`](Self::plan).
    pub fn plan_masked(
        &self,
        a: &Matrix,
        b: &Matrix,
        mask: Option<(&Matrix, bool)>,
        options: &Options,
    ) -> Result<Plan> {
        let mask = mask.map(|(m, complement)| MaskSpec { structure: Operand::Matrix(m), complement });
        self.note_call("symbolic", &[Some(a.into()), Some(b.into())]);
        let plan = self.engine().symbolic(a, b, mask, options)?;
        note(|| format!("  {}", plan.explain()));
        Ok(plan)
    }
    /// Numeric phase: values of C = A ⊕.⊗ B for a plan of this machine.
    /// # Errors
    /// Those of the machine; [`Error::Argument`] if ⊗ takes other types; [`Error::PatternChanged`].
    pub fn numeric(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        self.note_call("numeric", &[Some(a.into()), Some(b.into())]);
        note(|| format!("  {}", plan.explain()));
        self.engine().numeric(plan, ring, a, b)
    }
    /// Numeric phase into `c`, which the plan made before; in place where nobody else holds it, else in memory of its
    /// own.
    /// # Errors
    /// Those of [`numeric`](Self::numeric); [`Error::Argument`] if the semiring gives another type than that of `c`, or
    /// `c` is on another machine. `c` is then as it was.
    pub fn numeric_into(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix, c: &mut Matrix) -> Result<()> {
        if c.ty() != ring.ty() {
            let message = format!("the semiring gives {}, these values are {}", ring.ty(), c.ty());
            return Err(Error::Argument { name: "c", message });
        }
        self.note_call("numeric", &[Some(a.into()), Some(b.into()), Some((&*c).into())]);
        note(|| format!("  {}", plan.explain()));
        self.engine().numeric_into(plan, ring, a, b, c)
    }
    /// Sum of the values: in their order on the processor ([`Matrix::sum`]); on a GPU in an order of its own, the same
    /// in every run, of integers modulo 2⁶⁴.
    /// # Errors
    /// Those of the machine; [`Error::Unsupported`] for structs.
    pub fn sum(&self, a: &Matrix) -> Result<Sum> {
        self.engine().sum(a)
    }
    /// C = A ⊕.⊗ B.
    /// # Errors
    /// Those of [`mxm_with`](Self::mxm_with).
    pub fn mxm(&self, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        self.run(&Call::binary(Op::Mxm(ring, &Options::default()), a, b))?.try_into()
    }
    /// C⟨M⟩ = A ⊕.⊗ B for one use: only where the mask has an entry, whatever its value, or where it has none (`true`).
    ///
    /// Shapes: `a` m×k, `b` k×n, mask and result m×n. On the processor the algorithm, its cost and the bits of the
    /// result are those of [`Backend::mxm`](crate::backend::Backend::mxm), in one pass where that is faster; on a GPU
    /// the product is planned and computed. For several products of one structure see
    /// [`plan_masked`](Self::plan_masked).
    /// # Errors
    /// Those of [`plan_masked`](Self::plan_masked) and [`numeric`](Self::numeric).
    /// # Example
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{Machine, Matrix, Semiring};
    /// use sparring::spgemm::Options;
    /// use sparring::{Cpu, Csr};
    /// let a = Matrix::from(Csr::<i64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1, 2, 3])?);
    /// let (cpu, ring) = (Machine::from(Cpu::new()), Semiring::new("plus_times", Type::I64)?);
    /// let inside = cpu.mxm_with(&ring, &a, &a, Some((&a, false)), &Options::default())?;
    /// let outside = cpu.mxm_with(&ring, &a, &a, Some((&a, true)), &Options::default())?;
    /// assert_eq!((inside.matrix().nnz(), outside.matrix().nnz(), inside.flops()), (3, 1, 5));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn mxm_with(
        &self,
        ring: &Semiring,
        a: &Matrix,
        b: &Matrix,
        mask: Option<(&Matrix, bool)>,
        options: &Options,
    ) -> Result<Product> {
        let mask = mask.map(|(m, complement)| MaskSpec { structure: Operand::Matrix(m), complement });
        self.note_call("mxm", &[Some(a.into()), Some(b.into())]);
        self.engine().product(ring, a, b, mask, options)
    }
    fn counting(&self) -> Result<&dyn TriangleEngine> {
        self.engine().triangles().ok_or_else(|| Error::Unsupported {
            what: format!("counts of triangles on {}", self.name()),
            why: "this engine has none".into(),
        })
    }
    /// Triangles of the simple undirected graph under a square matrix: direction, loops, repeated edges and values do
    /// not matter.
    /// # Errors
    /// Those of [`triangles`](crate::graph::triangles).
    pub fn triangles(&self, a: &Matrix, method: TriangleMethod) -> Result<Triangles> {
        self.counting()?.count(a, method)
    }
    /// In how many of these triangles each vertex is.
    /// # Errors
    /// Those of [`triangles_per_vertex`](crate::graph::triangles_per_vertex).
    pub fn triangles_per_vertex(&self, a: &Matrix) -> Result<Vec<u64>> {
        self.counting()?.per_vertex(a)
    }
    /// In how many of these triangles each edge is: a symmetric matrix of u64.
    /// # Errors
    /// Those of [`triangles_per_edge`](crate::graph::triangles_per_edge).
    pub fn triangles_per_edge(&self, a: &Matrix) -> Result<Matrix> {
        self.counting()?.per_edge(a)
    }
}

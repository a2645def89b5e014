//! A machine that runs operations: the CPU, a GPU, or another engine.

use std::any::Any;
use std::sync::Arc;

use super::engine::{Call, Engine, MaskSpec, Op, Operand, TriangleEngine};
use super::{Matrix, Plan, Product, Semiring};
#[cfg(feature = "cuda")]
use crate::Cuda;
use crate::graph::{TriangleMethod, Triangles};
use crate::par::{Threads, note};
use crate::spgemm::Options;
use crate::{Cpu, Error, Result};

/// A machine that runs operations. Clones share it.
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
    /// The CPU with a pool of `threads` threads; 0 means one per processor available to the process. Operations that
    /// would take more than `memory_budget` bytes fail.
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
    /// GPU number `ordinal`. Operations that would take more than `memory_budget` bytes of its memory fail.
    /// # Errors
    /// [`Error::NoDevice`], which names the missing part: the driver, a device of that number, or the feature `cuda`.
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
    /// The number of GPUs that the driver reports; 0 without a driver or without the feature `cuda`.
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
    /// The machine backed by an engine of another crate.
    pub fn from_engine(engine: impl Engine) -> Self {
        Self(Arc::new(engine))
    }
    /// The engine that runs its operations.
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        &*self.0
    }
    /// The concrete engine: a `Cpu`, a `Cuda`, or an engine of another crate.
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
    /// A description that begins with the name.
    #[must_use]
    pub fn describe(&self) -> String {
        self.engine().describe()
    }
    /// Its thread pool, if it is the CPU.
    #[must_use]
    pub fn threads(&self) -> Option<&Threads> {
        self.engine().threads()
    }
    /// Waits until all pending operations have finished.
    /// # Errors
    /// [`Error::Device`], of a pending operation.
    pub fn wait(&self) -> Result<()> {
        self.engine().wait()
    }
    /// Whether this machine made the plan.
    #[must_use]
    pub fn made(&self, plan: &Plan) -> bool {
        self.engine().made(plan)
    }
    /// Symbolic phase of C = A·B; ignores values and their types.
    /// # Errors
    /// Those of the machine; [`Error::Shape`].
    pub fn plan(&self, a: &Matrix, b: &Matrix, options: &Options) -> Result<Plan> {
        self.plan_masked(a, b, None, options)
    }
    /// Symbolic phase of C⟨M⟩ = A·B with a structural mask, complemented if the flag is set.
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
    /// Numeric phase into `c`, an earlier result of the plan; in place if no other handle shares it, otherwise in new
    /// memory.
    /// # Errors
    /// Those of [`numeric`](Self::numeric); [`Error::Argument`] if the semiring gives another type than that of `c`, or
    /// `c` is on another machine. `c` is unchanged on error.
    pub fn numeric_into(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix, c: &mut Matrix) -> Result<()> {
        if c.ty() != ring.ty() {
            let message = format!("the semiring gives {}, these values are {}", ring.ty(), c.ty());
            return Err(Error::Argument { name: "c", message });
        }
        self.note_call("numeric", &[Some(a.into()), Some(b.into()), Some((&*c).into())]);
        note(|| format!("  {}", plan.explain()));
        self.engine().numeric_into(plan, ring, a, b, c)
    }
    /// C = A ⊕.⊗ B.
    /// # Errors
    /// Those of [`mxm_with`](Self::mxm_with).
    pub fn mxm(&self, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        self.run(&Call::binary(Op::Mxm(ring, &Options::default()), a, b))?.try_into()
    }
    /// C⟨M⟩ = A ⊕.⊗ B for a single use, with a structural mask, complemented if the flag is set.
    ///
    /// Shapes: `a` m×k, `b` k×n, mask and result m×n. On the CPU the algorithm, its cost and the result, bitwise, are
    /// those of [`Backend::mxm`](crate::backend::Backend::mxm), in one pass if that is faster; on a GPU the product is
    /// planned and computed. For several products with one structure see [`plan_masked`](Self::plan_masked).
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
        self.note_call("mxm", &[Some(a.into()), Some(b.into())]);
        if let Some(product) = self.product_wide(ring, (a, b), mask, options) {
            return product;
        }
        let mask = mask.map(|(m, complement)| MaskSpec { structure: Operand::Matrix(m), complement });
        self.engine().product(ring, a, b, mask, options)
    }
    fn counting(&self) -> Result<&dyn TriangleEngine> {
        self.engine().triangles().ok_or_else(|| Error::Unsupported {
            what: format!("counts of triangles on {}", self.name()),
            why: "this engine has none".into(),
        })
    }
    /// The number of triangles of the simple undirected graph of a square matrix: edge directions, self-loops, repeated
    /// edges and values are ignored.
    /// # Errors
    /// Those of [`triangles`](crate::graph::triangles).
    pub fn triangles(&self, a: &Matrix, method: TriangleMethod) -> Result<Triangles> {
        self.counting()?.count(a, method)
    }
    /// The number of these triangles at each vertex.
    /// # Errors
    /// Those of [`triangles_per_vertex`](crate::graph::triangles_per_vertex).
    pub fn triangles_per_vertex(&self, a: &Matrix) -> Result<Vec<u64>> {
        self.counting()?.per_vertex(a)
    }
    /// The number of these triangles at each edge: a symmetric matrix of u64.
    /// # Errors
    /// Those of [`triangles_per_edge`](crate::graph::triangles_per_edge).
    pub fn triangles_per_edge(&self, a: &Matrix) -> Result<Matrix> {
        self.counting()?.per_edge(a)
    }
}

//! GPUs behind the border: matrices and plans that are there. `no_gpu.rs` stands in for this file without the feature
//! `cuda`.

use std::any::Any;
use std::sync::Arc;

use sparring::distance::{Float, Neighbours};
use sparring::gpu::{DeviceCsr, Operand, spgemm};
use sparring::graph::{TriangleMethod, Triangles, triangles};
use sparring::spgemm::{Compression, Options};
use sparring::{Cuda, Result};
use sparring_named::{DeviceMatrix, plan_on_device};

use crate::distances::{Question, no_distances};
use crate::guard::{Fail, Fallible};
use crate::matrix::{Data, SparringType, Stored, each, of_real};

/// Most bytes of distances that are fetched at a time, unless a row has more.
const BLOCK_BYTES: usize = 1 << 30;

/// A GPU that C has opened.
pub(crate) struct Gpu {
    cuda: Cuda,
}

/// A matrix there.
#[derive(Debug)]
pub(crate) struct GpuMatrix {
    gpu: Arc<Gpu>,
    matrix: DeviceMatrix,
}

/// The structure of a product there.
pub(crate) struct GpuPlan {
    gpu: Arc<Gpu>,
    plan: spgemm::Plan,
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.cuda.fmt(f)
    }
}

/// The error that something is on another device; `name` is the argument.
fn elsewhere(name: &'static str, found: &Gpu, gpu: &Gpu) -> Fail {
    let message = if found.name() == gpu.name() {
        format!("it belongs to another SparringDevice of {}", gpu.name())
    } else {
        format!("it is on {}, not on {}", found.name(), gpu.name())
    };
    Fail::argument(name, message)
}

impl Gpu {
    pub(crate) fn open(ordinal: usize, budget: Option<u64>) -> Result<Arc<Self>> {
        let cuda = Cuda::new(ordinal)?;
        Ok(Arc::new(Self { cuda: budget.map_or(cuda.clone(), |bytes| cuda.memory_budget(bytes)) }))
    }
    pub(crate) fn count() -> usize {
        Cuda::count()
    }
    /// As `sparring_device_new` has it.
    pub(crate) fn name(&self) -> String {
        format!("cuda:{}", self.cuda.limits().ordinal)
    }
    pub(crate) fn describe(&self) -> String {
        let l = self.cuda.limits();
        let (major, minor) = l.capability;
        format!(
            "{}, {}, capability {major}.{minor}, {} multiprocessors, {} bytes of memory",
            self.name(),
            l.name,
            l.multiprocessors,
            l.memory
        )
    }
    pub(crate) fn wait(&self) -> Result<()> {
        self.cuda.synchronize()
    }
    /// The matrix on this GPU, sent there if it is on the host.
    pub(crate) fn matrix(self: &Arc<Self>, name: &'static str, m: &Stored) -> Fallible<GpuMatrix> {
        match m {
            Stored::Device(m) => {
                m.check(name, self)?;
                Ok(GpuMatrix { gpu: Arc::clone(self), matrix: m.matrix.clone() })
            }
            Stored::Host(m) => {
                let matrix = each!(m, m => DeviceMatrix::from(self.cuda.upload(m)?));
                Ok(GpuMatrix { gpu: Arc::clone(self), matrix })
            }
        }
    }
    /// The plan of a product. Of matrices of the host only the structure is sent.
    pub(crate) fn plan(self: &Arc<Self>, a: &Stored, b: &Stored, options: &Options) -> Fallible<GpuPlan> {
        let pattern = |name, m: &Stored| match m {
            Stored::Host(m) => Ok(each!(m, m => m.pattern_on(&self.cuda))?),
            Stored::Device(m) => m.check(name, self).map(|()| Arc::clone(m.matrix.pattern())),
        };
        let plan = plan_on_device(&self.cuda, &pattern("a", a)?, &pattern("b", b)?, options)?;
        Ok(GpuPlan { gpu: Arc::clone(self), plan })
    }
    /// Of a matrix of the host only the structure is sent.
    pub(crate) fn triangles(self: &Arc<Self>, a: &Stored, method: TriangleMethod) -> Fallible<Triangles> {
        match a {
            Stored::Host(a) => Ok(each!(a, a => triangles(&self.cuda, a, method))?),
            Stored::Device(a) => {
                a.check("a", self)?;
                Ok(triangles(&self.cuda, &**a.matrix.pattern(), method)?)
            }
        }
    }
    /// X and Y of a question, sent if they are on the host.
    fn rows<T: Float>(self: &Arc<Self>, question: &Question) -> Fallible<(DeviceCsr<T>, Option<DeviceCsr<T>>)> {
        let typed = |name, m: &Stored| {
            let matrix = self.matrix(name, m)?.matrix;
            let any: &dyn Any = match &matrix {
                DeviceMatrix::Bool(m) => m,
                DeviceMatrix::Int64(m) => m,
                DeviceMatrix::Float(m) => m,
                DeviceMatrix::Double(m) => m,
            };
            any.downcast_ref::<DeviceCsr<T>>().cloned().ok_or_else(|| no_distances(m.value_type()))
        };
        let x = typed("x", &question.x)?;
        let y = match &question.y {
            Some(y) if Arc::ptr_eq(y, &question.x) => Some(x.clone()),
            Some(y) => Some(typed("y", y)?),
            None => None,
        };
        Ok((x, y))
    }
    /// All distances from `m` rows, handed to `each` with the number of their first row.
    pub(crate) fn pairwise<T: Float>(
        self: &Arc<Self>,
        question: &Question,
        m: usize,
        each: impl FnMut(usize, &[T]) -> Result<()>,
    ) -> Fallible<String> {
        let (x, y) = self.rows::<T>(question)?;
        // Blocks are large, because among the rows of X alone a single one takes half of the work.
        let rows = BLOCK_BYTES / (m * size_of::<T>()).max(1);
        let asked = self.cuda.distances(question.metric, &x).to(y.as_ref()).options(question.options);
        Ok(asked.blocks(rows.max(1), each)?)
    }
    pub(crate) fn knn<T: Float>(self: &Arc<Self>, question: &Question, k: usize) -> Fallible<Neighbours<T>> {
        let (x, y) = self.rows::<T>(question)?;
        Ok(self.cuda.neighbours(question.metric, &x).to(y.as_ref()).options(question.options).k(k).eval()?)
    }
    pub(crate) fn radius(self: &Arc<Self>, question: &Question, radius: f64) -> Fallible<GpuMatrix> {
        let matrix = of_real!(question.value_type(), T => {
            let (x, y) = self.rows::<T>(question)?;
            let asked = self.cuda.neighbours(question.metric, &x).to(y.as_ref()).options(question.options);
            DeviceMatrix::from(asked.radius(radius).eval()?)
        });
        Ok(GpuMatrix { gpu: Arc::clone(self), matrix })
    }
}

impl GpuMatrix {
    pub(crate) fn device(&self) -> String {
        self.gpu.name()
    }
    /// Refuses a matrix that is not on `gpu`.
    pub(crate) fn check(&self, name: &'static str, gpu: &Arc<Gpu>) -> Fallible {
        if Arc::ptr_eq(&self.gpu, gpu) { Ok(()) } else { Err(elsewhere(name, &self.gpu, gpu)) }
    }
    pub(crate) fn shape(&self) -> (usize, usize) {
        self.matrix.shape()
    }
    pub(crate) fn nnz(&self) -> usize {
        self.matrix.nnz()
    }
    pub(crate) fn value_type(&self) -> SparringType {
        match self.matrix {
            DeviceMatrix::Bool(_) => SparringType::SPARRING_BOOL,
            DeviceMatrix::Int64(_) => SparringType::SPARRING_I64,
            DeviceMatrix::Float(_) => SparringType::SPARRING_F32,
            DeviceMatrix::Double(_) => SparringType::SPARRING_F64,
        }
    }
    pub(crate) fn download(&self) -> Result<Data> {
        Ok(self.matrix.download(&self.gpu.cuda)?.into())
    }
    /// Whether both were made by one plan.
    pub(crate) fn has_pattern_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.matrix.pattern(), other.matrix.pattern())
    }
}

impl GpuPlan {
    pub(crate) fn device(&self) -> String {
        self.gpu.name()
    }
    /// Refuses a plan that was not made on `gpu`.
    pub(crate) fn check(&self, gpu: &Arc<Gpu>) -> Fallible {
        if Arc::ptr_eq(&self.gpu, gpu) { Ok(()) } else { Err(elsewhere("plan", &self.gpu, gpu)) }
    }
    pub(crate) fn flops(&self) -> u64 {
        self.plan.flops()
    }
    pub(crate) fn max_row_flops(&self) -> u64 {
        self.plan.max_row_flops()
    }
    pub(crate) fn nnz(&self) -> usize {
        self.plan.nnz()
    }
    pub(crate) fn compression(&self) -> Option<&Compression> {
        self.plan.compression()
    }
    pub(crate) fn explain(&self) -> String {
        self.plan.explain()
    }
    pub(crate) fn numeric(&self, semiring: &str, a: &GpuMatrix, b: &GpuMatrix) -> Result<GpuMatrix> {
        let matrix = DeviceMatrix::numeric(&self.gpu.cuda, &self.plan, semiring, &a.matrix, &b.matrix)?;
        Ok(GpuMatrix { gpu: Arc::clone(&self.gpu), matrix })
    }
    /// Into a matrix of this plan that nobody else holds.
    pub(crate) fn numeric_into(&self, semiring: &str, a: &GpuMatrix, b: &GpuMatrix, c: &mut GpuMatrix) -> Fallible {
        c.check("c", &self.gpu)?;
        Ok(DeviceMatrix::numeric_into(&self.gpu.cuda, &self.plan, semiring, &a.matrix, &b.matrix, &mut c.matrix)?)
    }
}

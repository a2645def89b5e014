//! A GPU as an [`Engine`].

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use super::{Call, DistanceEngine, Engine, MaskSpec, Object, Op, Operand, TriangleEngine, unfit};
use crate::algebra::{Array, Formula, MonoidFormula, Printable, Slice, SliceMut, Type, print_once};
use crate::backend::DistanceBackend;
use crate::contract::Einsum;
use crate::distance::{Float, Measure, Options as DistanceOptions};
use crate::gpu::{
    DeviceArray, DeviceCsr, DeviceIndex, DevicePattern, DeviceVectorPattern, RankPart, RawBuffer, RawCsr, RawVector,
    spgemm as device,
};
use crate::graph::{TriangleMethod, Triangles, triangles, triangles_per_edge, triangles_per_vertex};
use crate::ops::Pairing;
use crate::par::note;
use crate::runtime::Machine;
use crate::runtime::dense_view::{DenseSource, DenseView};
use crate::runtime::distances::{Comparison, Neighbours, with_float};
use crate::runtime::index::{EngineIndex, RowIndex};
use crate::runtime::matrix::{Matrix, Sum};
use crate::runtime::plan::{EnginePlan, Plan, Stats};
use crate::runtime::remote::Remote;
use crate::runtime::scalar::Scalar;
use crate::runtime::semiring::Semiring;
use crate::runtime::vector::Vector;
use crate::sparse::IndexList;
use crate::spgemm::Options;
use crate::{Cuda, Error, Result};

/// Operators that are associative.
const ASSOCIATIVE: [&str; 12] =
    ["plus", "times", "min", "max", "lor", "land", "lxor", "lxnor", "bor", "band", "bxor", "bxnor"];
/// Maximum bytes of distances fetched at a time; at least one row is.
const BLOCK_BYTES: usize = 1 << 30;

/// A matrix or a vector on a GPU.
#[derive(Clone, Debug)]
struct OnDevice<X> {
    raw: X,
    cuda: Cuda,
}

fn named(cuda: &Cuda) -> String {
    format!("cuda:{}", cuda.limits().ordinal)
}

/// The common interface of matrices and vectors on a GPU.
trait DeviceObject: Any + Clone + Debug + Send + Sync {
    fn values(&self) -> &Arc<RawBuffer>;
    fn shape(&self) -> (usize, usize);
    fn nnz(&self, cuda: &Cuda) -> Result<usize>;
    fn download(&self, cuda: &Cuda) -> Result<Box<dyn Any>>;
    fn index_list(&self, _: &Cuda) -> Result<Option<IndexList>> {
        Ok(None)
    }
}

impl DeviceObject for RawCsr {
    fn values(&self) -> &Arc<RawBuffer> {
        &self.values
    }
    fn shape(&self) -> (usize, usize) {
        self.shape()
    }
    fn nnz(&self, _: &Cuda) -> Result<usize> {
        Ok(self.nnz())
    }
    fn download(&self, cuda: &Cuda) -> Result<Box<dyn Any>> {
        let (pattern, values) = cuda.download_raw(self)?;
        Ok(Box::new(Matrix::new(pattern, values)?))
    }
}
impl DeviceObject for RawVector {
    fn values(&self) -> &Arc<RawBuffer> {
        &self.values
    }
    fn shape(&self) -> (usize, usize) {
        (self.len, 1)
    }
    fn nnz(&self, cuda: &Cuda) -> Result<usize> {
        cuda.vector_nnz_raw(self)
    }
    fn download(&self, cuda: &Cuda) -> Result<Box<dyn Any>> {
        let (indices, values) = cuda.entries_raw(self)?;
        let indices = cuda.get(&indices, "indices of a vector")?;
        let values = cuda.get_raw(&values, "values of a vector")?;
        Ok(Box::new(Vector::new(self.len, indices, values)?))
    }
    fn index_list(&self, cuda: &Cuda) -> Result<Option<IndexList>> {
        cuda.index_list_raw(self)
    }
}

impl<X: DeviceObject> Remote for OnDevice<X> {
    fn engine(&self) -> String {
        named(&self.cuda)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
    fn another(&self) -> Box<dyn Remote> {
        Box::new(self.clone())
    }
    fn is(&self, other: &dyn Remote) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| Arc::ptr_eq(self.raw.values(), other.raw.values()))
    }
    fn ty(&self) -> Type {
        self.raw.values().ty()
    }
    fn shape(&self) -> (usize, usize) {
        self.raw.shape()
    }
    fn nnz(&self) -> Result<usize> {
        self.raw.nnz(&self.cuda)
    }
    fn download(&self) -> Result<Box<dyn Any>> {
        self.raw.download(&self.cuda)
    }
    fn index_list(&self) -> Result<Option<IndexList>> {
        self.raw.index_list(&self.cuda)
    }
}

impl Machine {
    /// The GPU; an error on any other machine.
    fn gpu(&self) -> Result<&Cuda> {
        let message = || format!("arrays on a GPU for {}", self.name());
        self.typed().ok_or_else(|| Error::Unsupported { what: message(), why: "it is not a GPU".into() })
    }
    /// The matrix of device arrays owned by the caller: row pointers and columns of i32 or u32, columns increasing
    /// within each row, and values. They are copied within the device after all pending work on it.
    ///
    /// Cost: O(nrows + nnz).
    /// # Errors
    /// [`Error::Argument`] for arrays that form no such matrix or lie in other memory; [`Error::Length`];
    /// [`Error::Unsupported`] on the CPU; [`Error::DeviceMemory`], [`Error::Device`].
    pub fn matrix_from_device(
        &self,
        shape: (usize, usize),
        row_ptr: &DeviceArray,
        col_idx: &DeviceArray,
        values: &DeviceArray,
    ) -> Result<Matrix> {
        let cuda = self.gpu()?;
        Ok(cuda.keep(cuda.adopt(shape, row_ptr, col_idx, values)?))
    }
    /// The full vector of such an array.
    /// # Errors
    /// As for [`matrix_from_device`](Self::matrix_from_device).
    pub fn vector_from_device(&self, values: &DeviceArray) -> Result<Vector> {
        let cuda = self.gpu()?;
        Ok(cuda.keep_vector(cuda.adopt_vector(values)?))
    }
    /// Row pointers (u32; u64 for 2³² entries or more), columns (u32) and values of a matrix in this GPU's memory. They
    /// live as long as the matrix or a clone of it, and must not be written.
    /// # Errors
    /// [`Error::Unsupported`] on the CPU; [`Error::Argument`] for a matrix in other memory; [`Error::Device`].
    pub fn device_arrays(&self, a: &Matrix) -> Result<[DeviceArray; 3]> {
        let cuda = self.gpu()?;
        let Some(raw) = cuda.held::<RawCsr>(a.as_remote()) else { return Err(not_here(a.machine())) };
        cuda.arrays_of(raw)
    }
    /// Calls `read` with the arrays of a matrix in this GPU's memory, as in [`device_arrays`](Self::device_arrays),
    /// with columns increasing within each row. The arrays live until `read` returns.
    ///
    /// Cost: a copy of a matrix whose rows are unsorted.
    /// # Errors
    /// As for [`device_arrays`](Self::device_arrays); those of `read`.
    pub fn with_device_arrays<T>(&self, a: &Matrix, read: impl FnOnce(&[DeviceArray; 3]) -> Result<T>) -> Result<T> {
        let cuda = self.gpu()?;
        let Some(raw) = cuda.held::<RawCsr>(a.as_remote()) else { return Err(not_here(a.machine())) };
        cuda.with_arrays(raw, read)
    }
    /// Matrices with values of type `ty`, of these shapes and numbers of entries. `fill` writes their arrays, which lie
    /// in this GPU's memory as those of [`device_arrays`](Self::device_arrays) do, and returns after writing them.
    ///
    /// Cost: O(nrows + nnz) for checks.
    /// # Errors
    /// [`Error::Argument`] if the filled arrays form no such matrix; [`Error::Unsupported`] on the CPU;
    /// [`Error::DeviceMemory`], before `fill` is called; those of `fill`; [`Error::Device`].
    pub fn matrices_filled(
        &self,
        ty: Type,
        sizes: &[((usize, usize), usize)],
        fill: impl FnOnce(&[[DeviceArray; 3]]) -> Result<()>,
    ) -> Result<Vec<Matrix>> {
        let cuda = self.gpu()?;
        Ok(cuda.filled(ty, sizes, fill)?.into_iter().map(|raw| cuda.keep(raw)).collect())
    }
    /// A process's part of a PageRank computation: its block of the adjacency matrix of a graph, in which the rows
    /// `own` are its vertices; `parts` processes hold all vertices.
    ///
    /// Cost: sorting the block by columns.
    /// # Errors
    /// As for [`device_arrays`](Self::device_arrays); [`Error::DeviceMemory`].
    pub fn rank_part(&self, block: &Matrix, own: std::ops::Range<usize>, parts: usize) -> Result<RankPart> {
        let cuda = self.gpu()?;
        let Some(raw) = cuda.held::<RawCsr>(block.as_remote()) else { return Err(not_here(block.machine())) };
        cuda.rank_part(&raw.pattern, own, parts)
    }
    /// The ranks of the vertices of a process.
    /// # Errors
    /// [`Error::Unsupported`] on the CPU.
    pub fn ranks_of(&self, part: RankPart) -> Result<Vector> {
        let cuda = self.gpu()?;
        Ok(cuda.keep_vector(part.into_ranks()))
    }
    /// The values of a full vector in this GPU's memory, as in [`device_arrays`](Self::device_arrays); `None` if not
    /// full.
    /// # Errors
    /// As for [`device_arrays`](Self::device_arrays).
    pub fn device_array(&self, x: &Vector) -> Result<Option<DeviceArray>> {
        let cuda = self.gpu()?;
        let Some(raw) = cuda.held::<RawVector>(x.as_remote()) else { return Err(not_here(x.machine())) };
        cuda.array_of(raw)
    }
}

/// An object on another GPU, or on the same one opened separately.
fn on_another<X: 'static>(remote: Option<&dyn Remote>) -> Option<&OnDevice<X>> {
    remote?.as_any().downcast_ref()
}

fn not_here(machine: String) -> Error {
    Error::Argument { name: "operand", message: format!("it is on {machine}") }
}

impl Cuda {
    fn keep(&self, raw: RawCsr) -> Matrix {
        let nnz = raw.nnz();
        Matrix::remote(Box::new(OnDevice { raw, cuda: self.clone() }), nnz)
    }
    pub(in crate::runtime) fn keep_vector(&self, raw: RawVector) -> Vector {
        Vector::remote(Box::new(OnDevice { raw, cuda: self.clone() }))
    }
    /// The values of a vector with an entry at each index, in this GPU's memory.
    pub(in crate::runtime) fn full_values(&self, x: &Vector) -> Result<Arc<RawBuffer>> {
        match self.vector(x)?.full_values() {
            Some(values) => Ok(Arc::clone(values)),
            None => self.put_raw(x.full_values()?.slice(), "values of a vector"),
        }
    }
    /// An object in this GPU's memory.
    fn held<'a, X: 'static>(&self, remote: Option<&'a dyn Remote>) -> Option<&'a X> {
        let there: &OnDevice<X> = remote?.as_any().downcast_ref()?;
        self.shares_memory_with(&there.cuda).then_some(&there.raw)
    }
    /// The matrix in this GPU's memory, uploaded if needed; a matrix on another GPU is copied directly if the two have
    /// peer access.
    fn matrix<'a>(&self, a: &'a Matrix) -> Result<Cow<'a, RawCsr>> {
        if let Some(raw) = self.held(a.as_remote()) {
            return Ok(Cow::Borrowed(raw));
        }
        if let Some(there) = on_another::<RawCsr>(a.as_remote())
            && let Some(raw) = self.matrix_from(&there.cuda, &there.raw)?
        {
            return Ok(Cow::Owned(raw));
        }
        let here = a.download()?;
        let here = here.operand()?;
        Ok(Cow::Owned(self.upload_raw(here.pattern, here.values)?))
    }
    fn vector<'a>(&self, x: &'a Vector) -> Result<Cow<'a, RawVector>> {
        if let Some(raw) = self.held(x.as_remote()) {
            return Ok(Cow::Borrowed(raw));
        }
        if let Some(there) = on_another::<RawVector>(x.as_remote())
            && let Some(raw) = self.vector_from(&there.cuda, &there.raw)?
        {
            return Ok(Cow::Owned(raw));
        }
        let (places, values) = x.download()?.entries()?;
        Ok(Cow::Owned(if places.len() == x.len() {
            self.upload_full_raw(values.slice())?
        } else {
            self.upload_list_raw(x.len(), &places, values.slice())?
        }))
    }
    /// A contraction, as a full vector on the device.
    fn contracted(&self, ring: &Semiring, einsum: &Einsum<'_, (), DenseView<'_>>) -> Result<Vector> {
        self.check_host_function(ring.host_function())?;
        let views = einsum.operands();
        let ty = DenseView::common_type(views)?;
        let (mul, count) = (ring.formula().mul(), views.len());
        let refused = if ["i", "k", "j"].iter().any(|name| mul.reads(name)) {
            Some("its product depends on indices of entries")
        } else if count > 1 && !mul.is_symmetric("a", "b") {
            Some("a GPU exchanges operands, and its product is not known to be commutative")
        } else if count > 2 && !mul.name().is_some_and(|name| ASSOCIATIVE.contains(&name)) {
            Some("a GPU contracts three operands in any order, and its product is not known to be associative")
        } else {
            None
        };
        if let Some(why) = refused {
            let what = format!("a contraction over {ring} on {}", Engine::name(self));
            return Err(Error::Unsupported { what, why: why.into() });
        }
        let printed = ring.printed_arithmetic();
        if [printed.a, printed.b, printed.out] != [ty; 3] {
            let what = format!("a contraction of {ty} over {ring} on {}", Engine::name(self));
            let why = format!("a GPU needs ⊗ of two values of {ty} that gives one");
            return Err(Error::Unsupported { what, why });
        }
        let array = |x: &DenseView<'_>| match x.source() {
            DenseSource::Host(values) => self.put_raw(*values, "einsum"),
            DenseSource::Vector(x) => self.full_values(x),
        };
        let arrays = views.iter().map(array).collect::<Result<Vec<_>>>()?;
        let arrays: Vec<_> = arrays.iter().map(|x| &**x).collect();
        Ok(self.keep_vector(RawVector::full(self.einsum_raw(&printed, einsum, &arrays)?)))
    }
    /// The pattern on the device; a host matrix uploads only its structure.
    fn pattern(&self, a: &Matrix) -> Result<Arc<DevicePattern>> {
        match self.held::<RawCsr>(a.as_remote()) {
            Some(raw) => Ok(Arc::clone(&raw.pattern)),
            None => self.shared_pattern(a.download()?.operand()?.pattern),
        }
    }
    /// The mask of a vector.
    fn mask_entries(&self, mask: Option<MaskSpec<'_>>) -> Result<Option<(DeviceVectorPattern, bool)>> {
        match mask {
            None => Ok(None),
            Some(MaskSpec { structure: Operand::Vector(m), complement }) => {
                Ok(Some((DeviceVectorPattern(self.vector(m)?.into_owned()), complement)))
            }
            Some(_) => Err(unfit()),
        }
    }
    fn of_matrix(&self, op: Op<'_>, a: &Matrix) -> Result<Object> {
        let a = self.matrix(a)?;
        Ok(match op {
            Op::Apply(f) => {
                let s = f.scalar()?;
                let made = match f.printed() {
                    (op, false) => self.apply_raw(op, &a),
                    (op, true) => self.apply_at_raw(op, &a, s.slice()),
                };
                self.keep(made?).into()
            }
            Op::Select(f) => self.keep(self.select_raw(f.printed_at(), &a, f.scalar()?.slice())?).into(),
            Op::Reduce(monoid) => {
                let sum = self.fold_raw(monoid.printed(), &a.values)?;
                Scalar::only(self.get_raw(&sum, "a fold")?.slice())?.into()
            }
            Op::ReduceRows(monoid) => self.keep_vector(self.reduce_rows_vector(monoid.printed(), &a)?).into(),
            Op::Transpose => self.keep(self.transpose_raw(&a)?).into(),
            Op::Identity => self.keep(a.into_owned()).into(),
            Op::Extract(rows, cols) => self.keep(self.extract_raw(&a, (rows, cols))?).into(),
            Op::ExtractColumn(rows, j) => self.keep_vector(self.extract_column_raw(&a, rows, j)?).into(),
            Op::ExtractRow(i, cols) => self.keep_vector(self.extract_row_raw(&a, i, cols)?).into(),
            Op::Place(rows, cols, shape) => self.keep(self.place_raw(&a, (rows, cols), shape)?).into(),
            Op::Within(rows, cols) => self.keep(self.within_raw(&a, (rows, cols))?).into(),
            Op::Diagonal(k) => self.keep_vector(self.diagonal_raw(&a, k)?).into(),
            _ => return Err(unfit()),
        })
    }
    fn of_vector(&self, op: Op<'_>, x: &Vector) -> Result<Object> {
        let x = self.vector(x)?;
        Ok(match op {
            Op::Apply(f) => {
                let s = f.scalar()?;
                let made = match f.printed() {
                    (op, false) => self.vector_apply_raw(op, &x),
                    (op, true) => self.vector_apply_at_raw(op, &x, s.slice()),
                };
                self.keep_vector(made?).into()
            }
            Op::Select(f) => self.keep_vector(self.vector_select_raw(f.printed_at(), &x, f.scalar()?.slice())?).into(),
            Op::Reduce(monoid) => {
                let sum = self.vector_reduce_raw(monoid.printed(), &x)?;
                Scalar::only(self.get_raw(&sum, "a fold")?.slice())?.into()
            }
            Op::Identity => self.keep_vector(x.into_owned()).into(),
            Op::Extract(list, all) if all.is_all() => self.keep_vector(self.vector_part_raw(&x, list)?).into(),
            Op::Place(list, _, (len, _)) => self.keep_vector(self.vector_place_raw(&x, list, len)?).into(),
            Op::Within(list, _) => self.keep_vector(self.vector_within_raw(&x, list)?).into(),
            Op::Scatter(list, len, dup) => {
                let ring = Semiring::new(&format!("{dup}, a"), x.ty())?;
                self.keep_vector(self.vector_scatter_raw(ring.printed(), &x, list, len)?).into()
            }
            Op::Diag(k) => self.keep(self.diagonal_matrix_raw(&x, k)?).into(),
            _ => return Err(unfit()),
        })
    }
    /// The values that replace absent entries of a union, on the device.
    fn fills_of(&self, for_a: &Scalar, for_b: &Scalar) -> Result<[Arc<RawBuffer>; 2]> {
        let fill = |s: &Scalar| self.scalar(s.constant().slice(), s.ty());
        Ok([fill(for_a)?, fill(for_b)?])
    }
    /// The entries of a result that the mask allows.
    fn allowed(&self, made: Object, mask: MaskSpec<'_>) -> Result<Object> {
        Ok(match (made, mask.structure) {
            (Object::Matrix(a), Operand::Matrix(m)) => {
                let m = self.pattern(m)?;
                self.keep(self.apply_mask_raw(&*self.matrix(&a)?, &m, mask.complement)?).into()
            }
            (Object::Vector(x), Operand::Vector(m)) => {
                let m = self.vector(m)?;
                self.keep_vector(self.vector_apply_mask_raw(&*self.vector(&x)?, &m, mask.complement)?).into()
            }
            _ => return Err(unfit()),
        })
    }
}

fn by_ref(mask: &Option<(DeviceVectorPattern, bool)>) -> Option<(&DeviceVectorPattern, bool)> {
    mask.as_ref().map(|(places, complement)| (places, *complement))
}

impl Engine for Cuda {
    fn name(&self) -> String {
        named(self)
    }
    fn describe(&self) -> String {
        let (l, (major, minor)) = (self.limits(), self.limits().capability);
        let (name, units, memory) = (&l.name, l.multiprocessors, l.memory);
        format!(
            "{}, {name}, capability {major}.{minor}, {units} multiprocessors, {memory} bytes of memory",
            named(self)
        )
    }
    fn wait(&self) -> Result<()> {
        self.synchronize()
    }
    fn check_host_function(&self, name: Option<&str>) -> Result<()> {
        name.map_or(Ok(()), |name| {
            Err(Error::Unsupported {
                what: format!("the host function {name} on {}", named(self)),
                why: "a GPU cannot call it; it can run an operator given as a formula".into(),
            })
        })
    }
    fn holds(&self, x: Operand<'_>) -> bool {
        match x {
            Operand::Matrix(a) => self.held::<RawCsr>(a.as_remote()).is_some(),
            Operand::Vector(x) => self.held::<RawVector>(x.as_remote()).is_some(),
        }
    }
    fn made(&self, plan: &Plan) -> bool {
        plan.of::<device::Plan>().is_ok_and(|plan| plan.array().is_on(self.device()))
    }
    fn upload(&self, x: Operand<'_>) -> Result<Object> {
        Ok(match x {
            Operand::Matrix(a) => self.keep(self.matrix(a)?.into_owned()).into(),
            Operand::Vector(x) => self.keep_vector(self.vector(x)?.into_owned()).into(),
        })
    }
    fn run(&self, call: &Call<'_>) -> Result<Object> {
        self.check_host_function(call.op.host_function())?;
        let made: Object = match (call.op, call.a, call.b) {
            (Op::Mxm(ring, options), Operand::Matrix(a), Some(Operand::Matrix(b))) => {
                let plan = self.symbolic(a, b, call.mask, options)?;
                note(|| format!("  {}", plan.explain()));
                return Ok(self.numeric(&plan, ring, a, b)?.into());
            }
            (Op::Mxv(ring), Operand::Matrix(a), Some(Operand::Vector(x))) => {
                let (a, x, mask) = (self.matrix(a)?, self.vector(x)?, self.mask_entries(call.mask)?);
                return Ok(self.keep_vector(self.mxv_vector(ring.printed(), &a, &x, by_ref(&mask))?).into());
            }
            (Op::Vxm(ring), Operand::Vector(x), Some(Operand::Matrix(a))) => {
                let (x, a, mask) = (self.vector(x)?, self.matrix(a)?, self.mask_entries(call.mask)?);
                return Ok(self.keep_vector(self.vxm_vector(ring.printed(), &x, &a, by_ref(&mask))?).into());
            }
            (Op::EwiseAdd(op), Operand::Matrix(a), Some(Operand::Matrix(b))) => {
                self.keep(self.ewise_add_raw(op.printed(), None, &*self.matrix(a)?, &*self.matrix(b)?)?).into()
            }
            (Op::Pairs(pairing, op), Operand::Matrix(a), Some(Operand::Matrix(b))) => {
                self.keep(self.pairs_raw(pairing, op.printed(), &*self.matrix(a)?, &*self.matrix(b)?)?).into()
            }
            (Op::EwiseAdd(op), Operand::Vector(x), Some(Operand::Vector(y))) => {
                let (x, y) = (self.vector(x)?, self.vector(y)?);
                self.keep_vector(self.vector_ewise_add_raw(op.printed(), None, &x, &y)?).into()
            }
            (Op::Pairs(Pairing::EwiseMult, op), Operand::Vector(x), Some(Operand::Vector(y))) => {
                let (x, y) = (self.vector(x)?, self.vector(y)?);
                self.keep_vector(self.vector_ewise_mult_raw(op.printed(), &x, &y)?).into()
            }
            (Op::EwiseUnion(op, for_a, for_b), Operand::Matrix(a), Some(Operand::Matrix(b))) => {
                let fills = self.fills_of(for_a, for_b)?;
                let fills = Some(fills.each_ref().map(|fill| &**fill));
                self.keep(self.ewise_add_raw(op.printed(), fills, &*self.matrix(a)?, &*self.matrix(b)?)?).into()
            }
            (Op::EwiseUnion(op, for_a, for_b), Operand::Vector(x), Some(Operand::Vector(y))) => {
                let (fills, x, y) = (self.fills_of(for_a, for_b)?, self.vector(x)?, self.vector(y)?);
                let fills = Some(fills.each_ref().map(|fill| &**fill));
                self.keep_vector(self.vector_ewise_add_raw(op.printed(), fills, &x, &y)?).into()
            }
            (op, Operand::Matrix(a), None) => self.of_matrix(op, a)?,
            (op, Operand::Vector(x), None) => self.of_vector(op, x)?,
            _ => return Err(unfit()),
        };
        match call.mask {
            None => Ok(made),
            Some(mask) => self.allowed(made, mask),
        }
    }
    fn symbolic(&self, a: &Matrix, b: &Matrix, mask: Option<MaskSpec<'_>>, options: &Options) -> Result<Plan> {
        let mask = match mask {
            None => None,
            Some(MaskSpec { structure: Operand::Matrix(m), complement }) => Some((self.pattern(m)?, complement)),
            Some(_) => return Err(unfit()),
        };
        let mask = mask.as_ref().map(|(mask, complement)| (mask, *complement));
        Ok(Plan::new(device::plan_of(self, self.pattern(a)?, self.pattern(b)?, mask, options)?))
    }
    fn numeric(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        self.check_host_function(ring.host_function())?;
        let (a, b) = (self.matrix(a)?, self.matrix(b)?);
        Ok(self.keep(self.numeric_raw(plan.of()?, ring.printed(), &a, &b)?))
    }
    fn numeric_into(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix, c: &mut Matrix) -> Result<()> {
        self.check_host_function(ring.host_function())?;
        {
            let (a, b, plan) = (self.matrix(a)?, self.matrix(b)?, plan.of()?);
            let there = c.remote_mut().and_then(|(c, _)| c.as_any_mut().downcast_mut::<OnDevice<RawCsr>>());
            let Some(OnDevice { raw: c, .. }) = there else {
                let message = "it is in the processor's memory; upload it".into();
                return Err(Error::Argument { name: "c", message });
            };
            let pattern = Arc::clone(&c.pattern);
            if Arc::get_mut(&mut c.values).is_some() {
                return self.numeric_into_raw(plan, ring.printed(), &a, &b, &pattern, &mut c.values);
            }
            plan.check_result(&pattern)?;
        }
        *c = self.numeric(plan, ring, a, b)?;
        Ok(())
    }
    fn spmm(&self, ring: &Semiring, a: &Matrix, x: Slice<'_>, columns: usize) -> Result<Array> {
        self.check_host_function(ring.host_function())?;
        let (a, x) = (self.matrix(a)?, self.put_raw(x, "the dense matrix of spmm")?);
        let y = self.alloc_raw(ring.ty(), a.pattern.nrows * columns, "the result of spmm")?;
        self.spmm_raw(ring.printed(), &a, columns, &x, &y)?;
        self.get_raw(&y, "the result of spmm")
    }
    fn spmm_vector(&self, ring: &Semiring, a: &Matrix, x: &Vector, columns: usize) -> Option<Result<Vector>> {
        let product = || {
            self.check_host_function(ring.host_function())?;
            let (a, x) = (self.matrix(a)?, self.full_values(x)?);
            let y = self.alloc_raw(ring.ty(), a.pattern.nrows * columns, "the result of spmm")?;
            self.spmm_raw(ring.printed(), &a, columns, &x, &y)?;
            Ok(self.keep_vector(RawVector::full(y)))
        };
        Some(product())
    }
    fn einsum(&self, ring: &Semiring, einsum: &Einsum<'_, (), DenseView<'_>>) -> Option<Result<Vector>> {
        Some(self.contracted(ring, einsum))
    }
    fn assign(
        &self,
        c: &mut Matrix,
        a: &Matrix,
        part: (&IndexList, &IndexList),
        mask: Option<(&Matrix, bool)>,
    ) -> Option<Result<()>> {
        let assigned = || {
            let mask = mask.map(|(m, complement)| Ok::<_, Error>((self.pattern(m)?, complement))).transpose()?;
            let mask = mask.as_ref().map(|(m, complement)| (m, *complement));
            Ok(self.keep(self.assign_raw(&*self.matrix(c)?, &*self.matrix(a)?, part, mask)?))
        };
        Some(match assigned() {
            Ok(made) => {
                *c = made;
                Ok(())
            }
            Err(e) => Err(e),
        })
    }
    fn constant(&self, s: &Scalar, part: (&IndexList, &IndexList), shape: (usize, usize)) -> Option<Result<Matrix>> {
        Some(self.constant_raw(s.constant().slice(), part, shape).map(|made| self.keep(made)))
    }
    fn full(&self, s: &Scalar, len: usize) -> Option<Result<Vector>> {
        let s = s.constant().slice();
        let nothing = self.upload_list_raw(len, &[], s.part(0..0));
        Some(nothing.and_then(|nothing| self.to_full_raw(&nothing, s)).map(|full| self.keep_vector(full)))
    }
    fn line_matrix(&self, x: &Vector, is_row: bool) -> Option<Result<Matrix>> {
        Some(self.vector(x).and_then(|x| self.vector_matrix_raw(&x, is_row)).map(|made| self.keep(made)))
    }
    fn concat(&self, blocks: &[&[&Matrix]], shape: (usize, usize, usize)) -> Option<Result<Matrix>> {
        let ty = blocks.first()?.first()?.ty();
        let there = |row: &&[&Matrix]| row.iter().map(|a| Ok(self.matrix(a)?.into_owned())).collect();
        let blocks: Result<Vec<Vec<RawCsr>>> = blocks.iter().map(there).collect();
        Some(blocks.and_then(|blocks| self.concat_raw(&blocks, shape, ty)).map(|made| self.keep(made)))
    }
    fn row_counts(&self, a: &Matrix) -> Result<Vector> {
        Ok(self.keep_vector(self.row_counts_raw(&*self.pattern(a)?)?))
    }
    fn best_of_rows(&self, a: &Matrix, greatest: bool) -> Result<Vector> {
        Ok(self.keep_vector(self.best_of_rows_raw(&*self.matrix(a)?, greatest)?))
    }
    fn column_counts(&self, a: &Matrix) -> Option<Result<Vector>> {
        let counts = self.pattern(a).and_then(|pattern| self.column_counts_raw(&pattern));
        Some(counts.map(|counts| self.keep_vector(counts)))
    }
    fn sum(&self, a: &Matrix) -> Result<Sum> {
        let Some(raw) = self.held::<RawCsr>(a.as_remote()) else { return a.sum() };
        let wide = match a.ty() {
            Type::F32 | Type::F64 => Type::F64,
            Type::ComplexF32 | Type::ComplexF64 => return a.download()?.sum(),
            _ => Type::I64,
        };
        let convert = Formula::parse(&format!("{wide}(a)"), &[("a", a.ty())], Some(wide))?;
        let values = self.apply_raw(&print_once(Printable::Op(convert)), raw)?.values;
        let plus = MonoidFormula::named("plus", wide)?;
        let plus = print_once(Printable::Monoid(plus.op().clone(), plus.identity().clone()));
        let sum = self.get_raw(&self.fold_raw(&plus, &values)?, "a sum")?;
        let (integer, real) = (sum.slice().get::<i64>(), sum.slice().get::<f64>());
        Ok(match (integer, real) {
            (Some(&[x, ..]), _) => Sum::Integer(x.into()),
            (_, Some(&[x, ..])) => Sum::Real(x),
            _ => Sum::Integer(0),
        })
    }
    fn triangles(&self) -> Option<&dyn TriangleEngine> {
        Some(self)
    }
    fn distances(&self) -> Option<&dyn DistanceEngine> {
        Some(self)
    }
}

impl EnginePlan for device::Plan {
    fn engine(&self) -> String {
        format!("cuda:{}", self.array().ordinal())
    }
    fn shape(&self) -> (usize, usize) {
        device::Plan::shape(self)
    }
    fn explain(&self) -> String {
        device::Plan::explain(self)
    }
    fn stats(&self) -> Stats {
        let compression = self.compression();
        Stats {
            flops: self.flops(),
            max_row_flops: self.max_row_flops(),
            max_row_nnz: None,
            nnz: self.nnz(),
            cf: compression.map(|c| c.cf),
            cmrf: compression.map(|c| c.cmrf),
        }
    }
}

impl TriangleEngine for Cuda {
    fn count(&self, a: &Matrix, method: TriangleMethod) -> Result<Triangles> {
        triangles(self, &*self.pattern(a)?, method)
    }
    fn per_vertex(&self, a: &Matrix) -> Result<Vec<u64>> {
        triangles_per_vertex(self, &*self.pattern(a)?)
    }
    fn per_edge(&self, a: &Matrix) -> Result<Matrix> {
        Ok(triangles_per_edge(self, &*self.pattern(a)?)?.into())
    }
}

impl Cuda {
    fn typed<T: Float>(&self, a: &Matrix) -> Result<DeviceCsr<T>> {
        self.matrix(a)?.into_owned().typed()
    }
    fn rows<T: Float>(&self, comparison: &Comparison) -> Result<(DeviceCsr<T>, Option<DeviceCsr<T>>)> {
        Ok((self.typed(&comparison.x)?, comparison.y.as_ref().map(|y| self.typed(y)).transpose()?))
    }
}

impl DistanceEngine for Cuda {
    fn all(&self, comparison: &Comparison, out: &mut SliceMut<'_>) -> Result<String> {
        with_float!(comparison.x.ty(), T => {
            let (x, y) = self.rows::<T>(comparison)?;
            let Some(out) = out.get::<T>() else { return Err(unfit()) };
            let m = comparison.shape().1;
            // Blocks are large: for the rows of X among themselves, a single block takes half the work.
            let rows = BLOCK_BYTES / (m * size_of::<T>()).max(1);
            let all = DistanceBackend::distances(self, Arc::clone(&comparison.measure), &x).to(y.as_ref());
            all.options(comparison.options).blocks(rows.max(1), |first, rows| {
                out[first * m..][..rows.len()].copy_from_slice(rows);
                Ok(())
            })
        })
    }
    fn nearest(&self, comparison: &Comparison, k: usize) -> Result<Neighbours> {
        with_float!(comparison.x.ty(), T => {
            let (x, y) = self.rows::<T>(comparison)?;
            let near = self.neighbours(Arc::clone(&comparison.measure), &x).to(y.as_ref()).options(comparison.options);
            Ok(near.k(k).eval()?.into())
        })
    }
    fn within(&self, comparison: &Comparison, radius: f64) -> Result<Matrix> {
        with_float!(comparison.x.ty(), T => {
            let (x, y) = self.rows::<T>(comparison)?;
            let near = self.neighbours(Arc::clone(&comparison.measure), &x).to(y.as_ref()).options(comparison.options);
            Ok(self.keep(near.radius(radius).eval()?.raw()))
        })
    }
    fn index(&self, measure: Arc<dyn Measure>, y: &Matrix, options: DistanceOptions) -> Result<RowIndex> {
        with_float!(y.ty(), T => Ok(RowIndex::new(self.index_of::<T>(measure, self.typed(y)?, options)?)))
    }
    fn load_index(&self, path: &Path, ty: Type) -> Result<RowIndex> {
        with_float!(ty, T => Ok(RowIndex::new(Cuda::load_index::<T>(self, path)?)))
    }
    fn nearest_of(&self, index: &RowIndex, x: &Matrix, k: usize) -> Result<Neighbours> {
        with_float!(index.ty(), T => Ok(index.on::<DeviceIndex<T>>()?.knn(&self.typed(x)?, k)?.into()))
    }
    fn within_of(&self, index: &RowIndex, x: &Matrix, radius: f64) -> Result<Matrix> {
        with_float!(index.ty(), T => {
            let found = index.on::<DeviceIndex<T>>()?.radius(&self.typed(x)?, radius)?;
            Ok(self.keep(found.raw()))
        })
    }
}

impl<T: Float> EngineIndex for DeviceIndex<T> {
    fn shape(&self) -> (usize, usize) {
        self.shape()
    }
    fn ty(&self) -> Type {
        T::TYPE
    }
    fn save(&self, path: &Path) -> Result<()> {
        self.save(path)
    }
}

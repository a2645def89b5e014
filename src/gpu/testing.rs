//! For this library's own tests and benches; not part of its interface. Public under the feature `testing`.

use super::assign::Assigned;
use super::jit::{self, Source, Unit};
use super::launch::{Arg, Shape, args};
use super::pattern::Offsets;
use super::{
    Cuda, DeviceCsr, DeviceDense, DeviceEinsum, DevicePattern, DeviceVector, Tiling, TriangleCount, adopt, aggregate,
    apply, apply_mask, assemble, assign, contract, cp, distance, ewise, graph, index, kronecker, naive_union, part,
    reduce, rows, scan, spgemm, spmm, spmspv, spmspv_block, spmv, spmv_columns, tensor, transpose, triangles, union,
    vector_ops,
};
use crate::algebra::{
    Arithmetic, BinaryOp, Lhs, Namm, Num, Out, Rhs, Semiring, Slice, Type, UnaryOp, Value, define_types, emit_binary,
    emit_unary, printed_ring,
};
use crate::{Error, Result};

pub use super::spmv_plan::{SpmvKind, SpmvStats};
pub use super::tensor::loads_of;
pub use super::triangles::Stage;
pub use super::union_plan::{UnionStats, UnionStrategy, choose as choose_union};
pub use naive_union::{NaiveKind, naive_union_mxm};

/// A program compiled for the test of all kernels.
#[derive(Debug)]
pub struct Compiled {
    /// File of the program, and the first line of its prefix that distinguishes it.
    pub name: String,
    /// Kernels that must not spill.
    pub hot: &'static [&'static str],
    /// Machine code.
    pub image: Vec<u8>,
    /// The compiler's log.
    pub log: String,
}

/// Every program of the library, with representative types. Each file with kernels has a line here.
fn units() -> Vec<Unit> {
    let all = [
        adopt::programs(),
        aggregate::programs(),
        apply::programs(),
        assemble::programs(),
        assign::programs(),
        contract::programs(),
        cp::programs(),
        distance::programs(),
        ewise::programs(),
        graph::programs(),
        index::programs(),
        kronecker::programs(),
        naive_union::programs(),
        part::programs(),
        reduce::programs(),
        apply_mask::programs(),
        rows::programs(),
        scan::programs(),
        spgemm::programs(),
        spmm::programs(),
        spmspv::programs(),
        spmspv_block::programs(),
        spmv::programs(),
        spmv_columns::programs(),
        tensor::programs(),
        transpose::programs(),
        triangles::programs(),
        union::programs(),
        vector_ops::programs(),
    ];
    all.into_iter().flatten().collect()
}

/// Compiles every program of the library for the architecture `sm`.
/// # Errors
/// [`Error::Compile`] for the first failure, [`Error::NoCompiler`].
pub fn compile_all(sm: u32) -> Result<Vec<Compiled>> {
    let compile = |unit: Unit| {
        let compiled = jit::compile(unit.source, &unit.prefix, sm)?;
        let name = format!("{} [{}]", unit.source.name, unit.prefix.lines().next().unwrap_or_default());
        Ok(Compiled { name, hot: unit.hot, image: compiled.image, log: compiled.log })
    };
    units().into_iter().map(compile).collect()
}

/// Architectures that this host's compiler supports, increasing.
/// # Errors
/// [`Error::NoCompiler`].
pub fn architectures() -> Result<Vec<u32>> {
    Ok(super::nvrtc::Nvrtc::get()?.archs().to_vec())
}

/// The file of programs that consist of their prefix alone.
const SOURCE: Source = Source { name: "testing", text: "" };

/// Scalar functions as one program, each applied to every element of an array. On the device their names start with
/// `f_`, to avoid keywords of C++.
#[derive(Debug, Default)]
pub struct Functions {
    types: Vec<Type>,
    text: String,
}

impl Functions {
    /// Adds `out[i] = op(a[i])` under that name.
    pub fn unary<O: UnaryOp>(&mut self, name: &str, op: O) {
        self.types.extend([O::A::TYPE, O::Out::TYPE]);
        self.text += &emit_unary(&format!("f_{name}"), op);
        self.text += &format!(
            "KERNEL(map_{name}, const {}* a, {}* out, unsigned long long n) {{\n  \
             const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;\n  \
             if (i < n) out[i] = f_{name}(a[i]);\n}}\n",
            O::A::CUDA,
            O::Out::CUDA
        );
    }
    /// Adds `out[i] = op(a[i], b[i])` under that name.
    pub fn binary<O: BinaryOp>(&mut self, name: &str, op: O) {
        self.types.extend([O::A::TYPE, O::B::TYPE, O::Out::TYPE]);
        self.text += &emit_binary(&format!("f_{name}"), op);
        self.text += &format!(
            "KERNEL(map_{name}, const {}* a, const {}* b, {}* out, unsigned long long n) {{\n  \
             const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;\n  \
             if (i < n) out[i] = f_{name}(a[i], b[i]);\n}}\n",
            O::A::CUDA,
            O::B::CUDA,
            O::Out::CUDA
        );
    }
    fn program(&self) -> String {
        define_types(&self.types) + &self.text
    }
    fn run<U: Value>(&self, cuda: &Cuda, name: &str, n: usize, operands: &[Arg]) -> Result<Vec<U>> {
        let out = cuda.alloc::<U>(n, "results")?;
        let arguments = [operands, args![&out, n as u64]].concat();
        let kernel = cuda.program(SOURCE, &self.program())?.kernel(&format!("map_{name}"))?;
        kernel.launch(Shape::for_each(n, 256)?, &arguments)?;
        cuda.get(&out, "results")
    }
    /// The function `name` of every element.
    /// # Errors
    /// [`Error::Compile`], [`Error::Device`].
    pub fn run1<A: Value, U: Value>(&self, cuda: &Cuda, name: &str, a: &[A]) -> Result<Vec<U>> {
        let a = cuda.put(a, "operands")?;
        self.run(cuda, name, a.len(), args![&a])
    }
    /// The function `name` of every pair of elements.
    /// # Errors
    /// [`Error::Compile`], [`Error::Device`].
    pub fn run2<A: Value, B: Value, U: Value>(&self, cuda: &Cuda, name: &str, a: &[A], b: &[B]) -> Result<Vec<U>> {
        let (a, b) = (cuda.put(a, "operands")?, cuda.put(b, "operands")?);
        self.run(cuda, name, a.len(), args![&a, &b])
    }
    /// Compiles it for an architecture, without a device.
    /// # Errors
    /// [`Error::Compile`], [`Error::NoCompiler`].
    pub fn compile(&self, sm: u32) -> Result<()> {
        jit::compile(SOURCE, &self.program(), sm).map(|_| ())
    }
}

/// A kernel that adds, and one that traps.
const KERNELS: &str = "KERNEL(add_one, unsigned int* x, unsigned long long n) {
  const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}
KERNEL(fail, unsigned int* x, unsigned long long n) {
  if (threadIdx.x == n) asm(\"trap;\");
}
";

/// The error of a kernel that traps on the device after another one succeeded. The process cannot use the device
/// afterwards.
/// # Errors
/// [`Error::Device`], always.
pub fn fail(cuda: &Cuda) -> Result<()> {
    let program = cuda.program(SOURCE, KERNELS)?;
    let x = cuda.zeroed::<u32>(1, "counts")?;
    program.kernel("add_one")?.launch(Shape::for_each(1, 32)?, args![&x, 1u64])?;
    program.kernel("fail")?.launch(Shape::for_each(1, 32)?, args![&x, 0u64])?;
    cuda.synchronize()
}

/// A launch with too few arguments.
/// # Errors
/// [`Error::Device`], always.
pub fn too_few_arguments(cuda: &Cuda) -> Result<()> {
    cuda.program(SOURCE, KERNELS)?.kernel("add_one")?.launch(Shape::for_each(1, 32)?, args![1u64])
}

/// A program that does not compile.
/// # Errors
/// [`Error::Compile`], always; [`Error::NoCompiler`].
pub fn wrong_program() -> Result<()> {
    jit::compile(SOURCE, "KERNEL(wrong, unsigned int* x) { nonsense(); }\n", 90).map(|_| ())
}

/// Allocates `bytes` bytes of device memory and frees them.
/// # Errors
/// [`Error::DeviceMemory`], [`Error::Budget`], [`Error::Device`].
pub fn take(cuda: &Cuda, bytes: usize) -> Result<()> {
    cuda.alloc::<u8>(bytes, "a trial").map(|_| ())
}

/// All tilings of the kernels of a contraction with a row-major result.
/// # Errors
/// Those of `explain`.
pub fn tilings<A: Arithmetic<T>, T: Value>(einsum: &DeviceEinsum<'_, A, T>) -> Result<Vec<Tiling>> {
    einsum.tilings()
}
/// The contraction with this tiling, if it fits a kernel.
pub fn tiled<'a, A: Arithmetic<T>, T: Value>(einsum: DeviceEinsum<'a, A, T>, tiling: Tiling) -> DeviceEinsum<'a, A, T> {
    einsum.tiled(tiling)
}

/// The matrix with 64-bit row pointers, which matrices of fewer than 2³² entries normally do not have.
/// # Errors
/// [`Error::DeviceMemory`], [`Error::OutOfMemory`], [`Error::Device`].
pub fn with_wide_rows<T: Value>(cuda: &Cuda, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
    let (p, what) = (a.pattern(), "row pointers");
    let Offsets::Small(row_ptr) = &p.row_ptr else { return Ok(a.clone()) };
    let wide: Vec<u64> = cuda.get(row_ptr, what)?.into_iter().map(u64::from).collect();
    let row_ptr = Offsets::Large(cuda.put(&wide, what)?);
    let pattern = DevicePattern::new(p.shape(), p.is_sorted(), row_ptr, p.col_idx.clone());
    Ok(DeviceCsr::new(pattern, a.values.clone()))
}

/// y(i) = ⊕_k A(i, k) ⊗ x(k) by the given strategy, or a chosen one, into an existing vector. Empty rows yield the
/// identity, and so do rows that the mask excludes: where it is false or, complemented, where it is true. All vectors
/// are full. For benches, and for tests of each strategy.
/// # Errors
/// Those of `mxv`; [`Error::Argument`] if y's values are shared.
pub fn mxv_into<R: Semiring>(
    cuda: &Cuda,
    kind: Option<SpmvKind>,
    ring: R,
    a: &DeviceCsr<Lhs<R>>,
    x: &DeviceVector<Rhs<R>>,
    mask: Option<(&DeviceVector<bool>, bool)>,
    y: &mut DeviceVector<Out<R>>,
) -> Result<()> {
    if !x.is_full() || !y.is_full() || mask.is_some_and(|(mask, _)| !mask.is_full()) {
        return Err(Error::Argument { name: "x, y or mask", message: "the vector is not full".into() });
    }
    let mask = mask.map(|(mask, complement)| (&*mask.raw().values, complement));
    cuda.mxv_raw(kind, &printed_ring(ring), &a.raw(), &x.raw().values, mask, &mut y.raw_mut().values)
}

/// The strategy of `mxv` for matrices of this pattern, and the reason. The first call for a pattern reads its row
/// pointers.
/// # Errors
/// [`Error::Device`] and those of compiling a program.
pub fn mxv_choice(cuda: &Cuda, pattern: &DevicePattern) -> Result<(SpmvStats, SpmvKind, &'static str)> {
    cuda.mxv_choice(pattern)
}

/// [`Cuda::union_mxm`] with the given layout of rows in shared memory.
/// # Errors
/// Those of [`Cuda::union_mxm`], and [`Error::Unsupported`] for [`UnionStrategy::Dense`] with more columns than fit
/// into shared memory.
pub fn union_mxm_with<N: Namm>(
    cuda: &Cuda,
    namm: N,
    a: &DeviceCsr<Lhs<N>>,
    b: &DeviceCsr<Rhs<N>>,
    strategy: UnionStrategy,
) -> Result<DeviceDense<Out<N>>>
where
    Lhs<N>: Num,
    Rhs<N>: Num,
{
    cuda.union_mxm_with(namm, a, b, strategy)
}
/// The layout of rows in shared memory that [`Cuda::union_mxm`] chooses, and the reason. The first call for a pattern
/// reads its row pointers.
/// # Errors
/// [`Error::Compile`], [`Error::NoCompiler`], [`Error::DeviceMemory`], [`Error::Device`].
pub fn union_choice<N: Namm>(
    cuda: &Cuda,
    namm: N,
    a: &DeviceCsr<Lhs<N>>,
    b: &DeviceCsr<Rhs<N>>,
) -> Result<(UnionStats, UnionStrategy, &'static str)> {
    cuda.union_choice(namm, a, b)
}
/// `C(i,j) = ⊕_k A(i,k) ⊗ B(j,k)` over the common columns of both rows: one pass, the paper's method for distances
/// based on inner products. ⊕ must have a two-sided identity.
/// # Errors
/// Those of [`union_mxm_with`].
pub fn row_products_with<R: Semiring>(
    cuda: &Cuda,
    ring: R,
    a: &DeviceCsr<Lhs<R>>,
    b: &DeviceCsr<Rhs<R>>,
    strategy: Option<UnionStrategy>,
) -> Result<DeviceDense<Out<R>>> {
    cuda.row_products_with(ring, a, b, strategy)
}

/// [`Cuda::count_triangles`], with the time of each stage. Allocations and waits for sizes count towards the stage that
/// follows.
/// # Errors
/// Those of [`Cuda::count_triangles`].
pub fn count_triangles_timed(cuda: &Cuda, pattern: &DevicePattern) -> Result<(TriangleCount, Vec<Stage>)> {
    cuda.count_triangles_timed(pattern)
}

/// w(places(k)) = u(k): where u has no entry, w loses its entry. Of equal indices the last one wins. Without `places`,
/// w = u.
/// # Errors
/// [`Error::IndexRange`], [`Error::Length`], [`Error::Device`].
pub fn assign<T: Value>(
    cuda: &Cuda,
    w: &mut DeviceVector<T>,
    places: Option<&[u32]>,
    u: &DeviceVector<T>,
) -> Result<()> {
    cuda.vector_assign_raw(w.raw_mut(), places, &Assigned::Vector(u.raw()))
}
/// w(places(k)) = x; without `places`, everywhere.
/// # Errors
/// Those of `assign`.
pub fn assign_scalar<T: Value>(cuda: &Cuda, w: &mut DeviceVector<T>, places: Option<&[u32]>, x: T) -> Result<()> {
    cuda.vector_assign_raw(w.raw_mut(), places, &Assigned::Scalar(Slice::of(&[x])))
}

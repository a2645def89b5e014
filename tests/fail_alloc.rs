//! Out of memory is an error, never an abort: each large allocation of an operation fails once.
//!
//! This program's allocator refuses the n-th allocation of at least [`LARGE`] bytes, for n = 0, 1, 2 …, until the
//! operation makes fewer. Each run must give the right result or `Error::OutOfMemory`, and all memory must be freed. A
//! second round also refuses every allocation after the n-th. Every run is a process of its own, so that an abort is
//! detected, named and traced instead of ending the test.
//!
//! Some allocations are not refused, because Rust's standard library and rayon end the process there by design: small
//! ones (an `Arc`, a message, a thread's job) and those of threads outside the operation. Operations therefore run
//! inside a pool of two threads, both of which are watched. Memory that the library maps directly from the system
//! bypasses the allocator and is not covered by this test.

// A global allocator requires `unsafe`; this one forwards everything to the system's.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use common::data;
use sparring::algebra::{Abs, Manhattan, Max, MaxFromZero, Plus, PlusTimes, Slice, SquaredDiff, Tril, Type, Union};
use sparring::backend::{Backend, Container, Kernels};
use sparring::contract;
use sparring::distance::{Formula, Measure, Metric};
use sparring::factor::CpAls;
use sparring::graph::{
    Graph, GraphKind, Iteration, PageRankOptions, TriangleMethod, all_pairs_shortest_paths,
    asynchronous_label_propagation, average_clustering, bellman_ford, betweenness, betweenness_centrality, bfs,
    bfs_levels, bfs_parents, bfs_tree, bipartite_matching, closeness_centrality, connected_components, core_numbers,
    dependencies, eigenvector_centrality, greedy_coloring, harmonic_centrality, hits, k_truss, katz_centrality,
    label_propagation, leiden, local_clustering, louvain, maximal_independent_set, minimum_spanning_forest, modularity,
    multi_source_bfs, pagerank, sampled_betweenness, sssp, sssp_distances, sssp_tree, strongly_connected_components,
    topological_order, transitivity, triangles, triangles_per_edge, triangles_per_vertex, truss_numbers,
};
use sparring::io::{
    CsvOptions, Duplicates, EdgeOptions, FrosttOptions, Labels, NumpyOptions, Repeated, SvmlightOptions, WriteOptions,
    parse_csv_with, parse_edges_with, parse_frostt_with, parse_npy_array_with, parse_npy_with, parse_npz_with,
    parse_svmlight_with, write_csv_to, write_frostt_to, write_matrix_market_to, write_npy_to, write_npz_to,
    write_svmlight_to,
};
use sparring::num_complex::Complex;
use sparring::par::Threads;
use sparring::runtime::{EinsumUpdate, Machine, Semiring};
use sparring::sparse::Dense;
use sparring::spgemm::{Accumulator, Compress, Options, Policy};
use sparring::tensor::{AnyTensor, MttkrpCache, Variant};
use sparring::{Coo, Cpu, Csr, Error, Pattern, Tensor, Vector};

/// Smallest allocation counted, in bytes. It exceeds an `Arc`, a message, a job of the pool and crossbeam's record of a
/// thread (2304 bytes, allocated when the thread first looks for work), and is below every array of the matrices used
/// here.
const LARGE: usize = 2400;

/// Large allocations still granted.
static GRANTED: AtomicI64 = AtomicI64::new(i64::MAX);
/// Whether all later allocations are refused too.
static STAY: AtomicBool = AtomicBool::new(false);
/// Whether to print where an allocation was refused.
static TRACE: AtomicBool = AtomicBool::new(false);
static REFUSED: AtomicU64 = AtomicU64::new(0);
/// Bytes of large allocations in use.
static LIVE: AtomicI64 = AtomicI64::new(0);
thread_local! {
    /// Whether this thread belongs to the operation.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

struct Failing;

impl Failing {
    fn refuses(size: usize) -> bool {
        if size < LARGE || !WATCHED.get() {
            return false;
        }
        let left = GRANTED.fetch_sub(1, Ordering::SeqCst);
        let refused = left == 0 || left < 0 && STAY.load(Ordering::SeqCst);
        if refused {
            REFUSED.fetch_add(1, Ordering::SeqCst);
            if TRACE.load(Ordering::SeqCst) {
                WATCHED.set(false);
                eprintln!("refused {size} bytes:\n{}", std::backtrace::Backtrace::force_capture());
                WATCHED.set(true);
            }
        }
        refused
    }
    fn count(size: usize, sign: i64) {
        if size >= LARGE {
            LIVE.fetch_add(sign * size as i64, Ordering::SeqCst);
        }
    }
}

// SAFETY: every call goes to `System` unchanged or returns null, which the contract allows; counting touches only
// atomics and a thread-local without destructor.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Self::refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: forwards the caller's guarantee.
        let p = unsafe { System.alloc(layout) };
        if !p.is_null() {
            Self::count(layout.size(), 1);
        }
        p
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Self::refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: forwards the caller's guarantee.
        let p = unsafe { System.alloc_zeroed(layout) };
        if !p.is_null() {
            Self::count(layout.size(), 1);
        }
        p
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        Self::count(layout.size(), -1);
        // SAFETY: forwards the caller's guarantee.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && Self::refuses(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: forwards the caller's guarantee.
        let q = unsafe { System.realloc(p, layout, size) };
        if !q.is_null() {
            Self::count(layout.size(), -1);
            Self::count(size, 1);
        }
        q
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// Inputs of the operations, built before anything is refused.
struct Inputs {
    a: Csr<f64>,
    shuffled: (Vec<usize>, Vec<u32>, Vec<f64>),
    coo: Coo<f64>,
    /// With enough entries that lists of tasks and of row blocks are large allocations.
    busy: Csr<f64>,
    dense: Vector<f64>,
    sparse: Vector<f64>,
    /// A vector with many entries, one with few, and a matrix with more columns than one window of the accumulator.
    wide: (Vector<f64>, Vector<f64>, Csr<f64>),
    /// Rows to compare: few, and enough that their keys take a large allocation.
    rows: [Csr<f64>; 2],
    /// Text of a tensor.
    frostt: Vec<u8>,
    /// The same matrix in CSV, in svmlight, as edges, and as an array and a matrix of NumPy and SciPy.
    files: [Vec<u8>; 5],
    /// Two of four modes have few pairs of indices, so that a tree shares them.
    tensor: Tensor<f64>,
    graphs: Graphs,
}

/// Graphs whose arrays are large allocations.
struct Graphs {
    plain: Graph,
    weighted: Graph,
    /// Directed: with edges both ways, and with edges to larger vertices only.
    directed: Graph,
    acyclic: Graph,
    /// A circle with so few vertices that all-pairs algorithms are fast.
    small: [Graph; 2],
}

impl Graphs {
    fn new(a: &Csr<f64>, busy: &Csr<f64>) -> Result<Self, Error> {
        let cpu = Cpu::new();
        let positive = a.map(|x| x.abs() + 1.0)?;
        let n = 320;
        let two = |v: u32| ((v + 1) % 320, (v + 319) % 320);
        let ends = (0..n as u32).map(two).flat_map(|(u, w)| [u.min(w), u.max(w)]).collect();
        let small = Csr::new(n, n, (0..=n).map(|v| 2 * v).collect(), ends, vec![0.5; 2 * n])?;
        Ok(Self {
            plain: Graph::new(&cpu, a, GraphKind::Undirected)?,
            weighted: Graph::weighted(&cpu, &positive, GraphKind::Undirected)?,
            directed: Graph::weighted(&cpu, busy, GraphKind::Directed)?,
            acyclic: Graph::new(&cpu, &a.strict_upper(&Threads::caller())?, GraphKind::Directed)?,
            small: [
                Graph::new(&cpu, &small, GraphKind::Undirected)?,
                Graph::weighted(&cpu, &small, GraphKind::Undirected)?,
            ],
        })
    }
}

/// A matrix in five formats.
fn files(a: &Csr<f64>) -> [Vec<u8>; 5] {
    let mut files: [Vec<u8>; 5] = Default::default();
    let (pattern, values, options) = (a.pattern(), sparring::algebra::Slice::of(a.values()), WriteOptions::new());
    write_csv_to(&mut files[0], pattern, values, &options).expect("text");
    write_svmlight_to(&mut files[1], pattern, values, &Labels::default(), &options).expect("text");
    let rows = (0..a.nrows()).flat_map(|i| a.pattern().row(i).iter().map(move |j| format!("{i} {j} 0.5\n")));
    files[2] = rows.collect::<String>().into_bytes();
    write_npy_to(&mut files[3], pattern, values).expect("an array");
    write_npz_to(&mut files[4], pattern, values).expect("an archive");
    files
}

/// Counts the bytes written and discards them.
struct CountedText(u64);
impl std::io::Write for CountedText {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn total(scores: &[f64]) -> u64 {
    (1e3 * scores.iter().filter(|x| x.is_finite()).sum::<f64>()) as u64
}

fn count(numbers: &[u32]) -> u64 {
    numbers.iter().map(|&x| u64::from(x)).sum()
}

/// Options for iterations that end soon.
const SOON: Iteration = Iteration { tolerance: 1e-2, max_iterations: 10_000 };

type Operation = fn(&Inputs) -> Result<u64, Error>;

#[allow(clippy::needless_update)] // Options may grow.
fn mxm(x: &Inputs, policy: Policy, accumulator: Accumulator, compress: Compress, unsorted: bool) -> Result<u64, Error> {
    let options = Options { policy, accumulator, compress, unsorted, ..Options::default() };
    let c = Cpu::new().mxm(PlusTimes::<f64>::default(), &x.a, &x.a).options(options).eval()?;
    Ok(c.nnz() as u64)
}

/// The nearest rows of `y`, or of `x`, all distances, and the rows within 1/2, for one measure.
/// All products of a sweep, planned.
fn mttkrp(x: &Inputs, variant: Variant) -> Result<u64, Error> {
    let (cpu, mut kept) = (Cpu::new(), MttkrpCache::default());
    let plan = cpu.mttkrp_plan(&x.tensor, 4, Some(variant))?;
    let factor = |&n: &usize| Dense::filled(n, 4, 1.0);
    let factors = x.tensor.dims().iter().map(factor).collect::<Result<Vec<_>, _>>()?;
    let mut sum = 0.0;
    for mode in 0..x.tensor.order() {
        let mut v = Dense::filled(x.tensor.dims()[mode], 4, 0.0)?;
        cpu.mttkrp(PlusTimes::new(), &x.tensor, &factors, mode).plan(&plan).sweep(&mut kept).into(&mut v)?;
        sum += v.values().iter().sum::<f64>();
    }
    Ok(sum as u64)
}
fn distances(measure: impl Measure + Clone, x: &Csr<f64>, y: Option<&Csr<f64>>) -> Result<u64, Error> {
    let cpu = Cpu::new();
    let near = cpu.neighbours(measure.clone(), x).to(y).k(9).eval()?;
    let all = cpu.distances(measure.clone(), x).to(y).eval()?;
    let inside = cpu.neighbours(measure, x).to(y).radius(0.5).eval()?;
    Ok(near.indices().iter().map(|&j| u64::from(j)).sum::<u64>() + (all.values().len() + inside.nnz()) as u64)
}

/// Name and operation; the number it returns must not depend on which allocations fail.
const OPERATIONS: &[(&str, Operation)] = &[
    ("mttkrp, no copy", |x| mttkrp(x, Variant::Single)),
    ("mttkrp, permutations", |x| mttkrp(x, Variant::C)),
    ("mttkrp, copies", |x| mttkrp(x, Variant::Copies)),
    ("mttkrp, tree", |x| mttkrp(x, Variant::Tree)),
    ("mttkrp, linearized", |x| mttkrp(x, Variant::Linear)),
    ("mttkrp, locks", |x| mttkrp(x, Variant::B)),
    ("cp", |x| Ok(CpAls::new(4).sweeps(2).tol(0.0).run(&Cpu::new(), &x.tensor)?.fits.len() as u64)),
    ("Pattern::empty", |_| Ok(Pattern::<u32>::empty(5000, 5000)?.nrows() as u64)),
    ("Csr::empty", |_| Ok(Csr::<f64>::empty(5000, 5000)?.nrows() as u64)),
    ("Pattern::from_unsorted", |x| {
        // The copies belong to the caller, so they are not refused.
        WATCHED.set(false);
        let (row_ptr, cols, values) = x.shuffled.clone();
        WATCHED.set(true);
        Ok(Csr::from_unsorted(3, 4000, row_ptr, cols, values)?.nnz() as u64)
    }),
    ("Coo::to_csr", |x| Ok(x.coo.to_csr(Plus::new())?.nnz() as u64)),
    ("spmm by name", |x| {
        WATCHED.set(false);
        let (ones, a) = (vec![1.0; 4 * x.a.ncols()], sparring::runtime::Matrix::from(x.a.clone()));
        let ring = Semiring::new("min_plus", Type::F64)?;
        let cpu = Machine::from(Cpu::new());
        // The first call compiles its loops, which stay cached.
        cpu.spmm(&ring, &a, Slice::of(&ones), 4).eval()?;
        WATCHED.set(true);
        Ok(cpu.spmm(&ring, &a, Slice::of(&ones), 4).eval()?.len() as u64)
    }),
    ("Csr::deserialize", |x| {
        WATCHED.set(false);
        let mut bytes = vec![];
        x.a.serialize(&mut bytes)?;
        WATCHED.set(true);
        Ok(Csr::<f64>::deserialize(&mut &bytes[..])?.nnz() as u64)
    }),
    ("transpose", |x| Ok(x.a.transpose(&Threads::current())?.nnz() as u64)),
    ("to_dense", |x| Ok(x.a.to_dense(&Threads::current(), 0.0)?.values().len() as u64)),
    ("map", |x| Ok(x.a.map(|y| y * 2.0)?.nnz() as u64)),
    ("Coo::to_csr_unique", |x| Ok(x.coo.to_csr_unique()?.nnz() as u64)),
    ("mxm", |x| mxm(x, Policy::Auto, Accumulator::Auto, Compress::Auto, false)),
    ("mxm unsorted", |x| mxm(x, Policy::Auto, Accumulator::Auto, Compress::Auto, true)),
    ("mxm kkSpGEMM", |x| mxm(x, Policy::KkSpGemm, Accumulator::Auto, Compress::Auto, false)),
    ("mxm linked list", |x| mxm(x, Policy::Auto, Accumulator::LinkedList, Compress::Off, false)),
    ("mxm linked list, compressed", |x| mxm(x, Policy::Auto, Accumulator::LinkedList, Compress::On, false)),
    ("mxm linear probe", |x| mxm(x, Policy::Auto, Accumulator::LinearProbe, Compress::Off, false)),
    ("mxm linear probe, compressed", |x| mxm(x, Policy::Auto, Accumulator::LinearProbe, Compress::On, true)),
    ("mxm dense", |x| mxm(x, Policy::Auto, Accumulator::Dense, Compress::Off, false)),
    ("mxm dense, compressed", |x| mxm(x, Policy::Auto, Accumulator::Dense, Compress::On, false)),
    ("mxm of many tasks", |x| Ok(Cpu::new().mxm(PlusTimes::<f64>::default(), &x.busy, &x.busy).eval()?.nnz() as u64)),
    ("mxm kkSpGEMM of many tasks", |x| {
        let options = Options { policy: Policy::KkSpGemm, ..Options::default() };
        Ok(Cpu::new().mxm(PlusTimes::<f64>::default(), &x.busy, &x.busy).options(options).eval()?.nnz() as u64)
    }),
    ("einsum", |_| {
        WATCHED.set(false);
        let x = vec![1.0; 90_000];
        WATCHED.set(true);
        // Two steps for each of several blocks, and a hoisted one; packed columns.
        let b = contract::View::new(&x, contract::Layout::row_major(&[60, 30, 30])?)?;
        let m = contract::View::new(&x, contract::Layout::row_major(&[30, 30])?)?;
        let einsum = contract::Einsum::new("bij,kj,lk,bil->bi", &[b.clone(), m.clone(), m, b])?;
        Ok(Cpu::new().einsum(PlusTimes::new(), einsum).eval()?.values().len() as u64)
    }),
    ("einsum of large tensors", |_| {
        WATCHED.set(false);
        let x = vec![1.0; 90_000];
        WATCHED.set(true);
        // Packed blocks, one of them after another step; partial folds, of blocks and of a single result.
        let view = |m, n| contract::View::new(&x, contract::Layout::row_major(&[m, n])?);
        let chain = contract::Einsum::new("ij,jk,kl->il", &[view(2, 260)?, view(260, 300)?, view(300, 300)?])?;
        let mut values = Cpu::new().einsum(PlusTimes::new(), chain).eval()?.values().len();
        for text in ["ki,kj->ij", "ki,kj->", "ki,kj->i"] {
            let einsum = contract::Einsum::new(text, &[view(4000, 22)?, view(4000, 21)?])?;
            values += Cpu::new().einsum(PlusTimes::new(), einsum).eval()?.values().len();
        }
        Ok(values as u64)
    }),
    ("einsum and mttkrp over semirings known at run time", |x| {
        WATCHED.set(false);
        let (ring, wide) = (Semiring::new("min, a + 2*b", Type::F64)?, Semiring::new("min, a + 2*b", Type::F32)?);
        let (numbers, singles) = (vec![1.0; 90_000], vec![1.0f32; 90_000]);
        let machine = Machine::from(Cpu::new());
        // The first call compiles its loops, which stay cached.
        let one = contract::AnyView::new(Slice::of(&numbers[..1]), contract::Layout::row_major(&[1])?)?;
        machine.einsum(&ring, &contract::Einsum::new("i,i->", &[one.clone(), one])?)?;
        let one = contract::AnyView::new(Slice::of(&singles[..1]), contract::Layout::row_major(&[1])?)?;
        machine.einsum(&wide, &contract::Einsum::new("i,i->", &[one.clone(), one])?)?;
        let tensor = sparring::runtime::Tensor::from(x.tensor.clone());
        tensor.wrapping_cast(Type::I32)?.summed(&Threads::current())?;
        WATCHED.set(true);
        let b = contract::AnyView::new(Slice::of(&singles), contract::Layout::row_major(&[60, 30, 50])?)?;
        let m = contract::AnyView::new(Slice::of(&singles), contract::Layout::row_major(&[50, 50])?)?;
        let einsum = contract::Einsum::new("bij,jk,kl->bl", &[b, m.clone(), m])?;
        let update = EinsumUpdate { alpha: Some(2f32.into()), c: Some(Slice::of(&singles[..3000])), beta: None };
        let c = machine.einsum_with(&wide, &einsum, &update)?;
        let factors = x.tensor.dims().iter().map(|&n| Dense::filled(n, 4, 1.0)).collect::<Result<Vec<_>, _>>()?;
        let factors: Vec<Slice<'_>> = factors.iter().map(|f| Slice::of(f.values())).collect();
        let v = machine.mttkrp(&ring, &tensor, &factors, 4, 0)?;
        let v = v.len() + machine.mttkrp_plan(&tensor, 4, None, Some(1))?.eval(&factors, 1)?.len();
        let summed = tensor.wrapping_cast(Type::I32)?.summed(&Threads::current())?.nnz();
        Ok((c.len() + v + summed) as u64)
    }),
    ("einsum of groups", |_| {
        WATCHED.set(false);
        let (x, mut y) = (vec![1.0; 3600], vec![0.0; 3600]);
        WATCHED.set(true);
        let square = contract::Layout::row_major(&[3, 3])?;
        let (mut a, mut c) = (contract::Group::new(square.clone())?, contract::GroupMut::new(square.clone())?);
        for (x, y) in x.chunks(9).zip(y.chunks_mut(9)) {
            a.push(contract::View::new(x, square.clone())?)?;
            c.push(contract::ViewMut::new(y, square.clone())?)?;
        }
        let a = a.view();
        Cpu::new().einsum(PlusTimes::new(), contract::Einsum::new("ij,jk->ik", &[a.clone(), a])?).into_group(&mut c)?;
        Ok(y.iter().sum::<f64>() as u64)
    }),
    ("operations on many blocks", |x| {
        let b = Cpu::new().apply(Abs::new(), &x.busy).eval()?;
        let c = Cpu::new().select(Tril::new(), &b, 0).eval()?;
        let d = Cpu::new().ewise_add(Plus::new(), &b, &c).eval()?;
        Ok(d.nnz() as u64 + Cpu::new().reduce_rows(Plus::new(), &d).eval()?.len() as u64)
    }),
    ("write_matrix_market_to", |x| {
        let mut out = CountedText(0);
        write_matrix_market_to(&mut out, &x.a, &WriteOptions::new())?;
        write_matrix_market_to(&mut out, &x.a.map(|y| Complex::new(*y, 1.0 / 3.0))?, &WriteOptions::new())?;
        Ok(out.0)
    }),
    ("FROSTT, read and written", |x| {
        let mut out = CountedText(0);
        for duplicates in [Duplicates::Sum, Duplicates::Keep] {
            let options = FrosttOptions::new().duplicates(duplicates).piece_bytes(1 << 15);
            let AnyTensor::Narrow(y) = parse_frostt_with::<f64>(&x.frostt, "text", &options)? else { return Ok(0) };
            write_frostt_to(&mut out, &y, &WriteOptions::new())?;
        }
        Ok(out.0)
    }),
    ("tables, svmlight and graphs, read and written", |x| {
        let mut out = CountedText(0);
        let options = WriteOptions::new();
        let table = parse_csv_with(&x.files[0], "csv", &CsvOptions::new().piece_bytes(1 << 14))?;
        write_csv_to(&mut out, &table.pattern, table.values.slice(), &options)?;
        let rows = parse_svmlight_with(&x.files[1], "svm", &SvmlightOptions::new().piece_bytes(1 << 14))?;
        write_svmlight_to(&mut out, &rows.pattern, rows.values.slice(), &rows.labels, &options)?;
        let edges = EdgeOptions::new().piece_bytes(1 << 14).undirected(true).repeated(Repeated::Sum);
        let graph = parse_edges_with(&x.files[2], "edges", &edges)?;
        let ids = parse_edges_with(&x.files[2], "edges", &edges.renumber(true))?;
        Ok(out.0 + (graph.pattern.nnz() + ids.ids.len()) as u64)
    }),
    ("arrays of NumPy and SciPy, read and written", |x| {
        let mut out = CountedText(0);
        let options = NumpyOptions::new();
        let array = parse_npy_with(&x.files[3], "npy", &options)?;
        write_npy_to(&mut out, &array.pattern, array.values.slice())?;
        let matrix = parse_npz_with(&x.files[4], "npz", &options)?;
        write_npz_to(&mut out, &matrix.pattern, matrix.values.slice())?;
        Ok(out.0 + parse_npy_array_with(&x.files[3], "npy", &options)?.values.len() as u64)
    }),
    #[cfg(feature = "hdf5")]
    ("a MAT-file of version 7.3", |_| {
        use sparring::io::{MatlabOptions, parse_mat_with};
        let file = include_bytes!("golden/mat/packed73.mat");
        let read = |name| parse_mat_with(file, "mat", &MatlabOptions::new().variable(name));
        Ok((read("W")?.pattern.nnz() + read("D")?.pattern.nnz()) as u64)
    }),
    ("plan and numeric twice", |x| {
        let cpu = Cpu::new();
        let ring = PlusTimes::<f64>::default();
        let plan = cpu.plan(&x.a, &x.a).eval()?;
        let mut c = cpu.mxm(ring, &x.a, &x.a).plan(&plan).eval()?;
        cpu.mxm(ring, &x.a, &x.a).plan(&plan).into(&mut c)?;
        Ok(c.nnz() as u64)
    }),
    ("mxm masked", |x| {
        Ok(Cpu::new().mxm(PlusTimes::<f64>::default(), &x.a, &x.a).mask(x.a.structure()).eval()?.nnz() as u64)
    }),
    ("mxm masked by the complement", |x| {
        let product = Cpu::new();
        let product = product.mxm(PlusTimes::<f64>::default(), &x.a, &x.a).mask(x.a.structure()).complement();
        Ok(product.eval()?.nnz() as u64)
    }),
    ("mxv", |x| Ok(Cpu::new().mxv(PlusTimes::<f64>::default(), &x.a, &x.dense).eval()?.nnz() as u64)),
    ("spmm", |x| {
        let dense = Dense::filled(x.a.ncols(), 2, 1.0)?;
        let y = Cpu::new().spmm_product(PlusTimes::<f64>::default(), &x.a, &dense)?;
        Ok(y.values().len() as u64)
    }),
    ("vxm", |x| Ok(Cpu::new().vxm(PlusTimes::<f64>::default(), &x.sparse, &x.a).eval()?.nnz() as u64)),
    ("vxm of many columns", |x| {
        let (many, _, a) = &x.wide;
        Ok(Cpu::new().vxm(PlusTimes::<f64>::default(), many, a).eval()?.nnz() as u64)
    }),
    ("vxm of few products", |x| {
        let (_, few, a) = &x.wide;
        Ok(Cpu::new().vxm(PlusTimes::<f64>::default(), few, a).eval()?.nnz() as u64)
    }),
    ("ewise_add", |x| {
        let b = x.a.select(&Threads::current(), |i, j, _| (i + j) % 2 == 0)?;
        Ok(Cpu::new().ewise_add(Plus::new(), &x.a, &b).eval()?.nnz() as u64)
    }),
    ("ewise_mult", |x| {
        let b = x.a.select(&Threads::current(), |i, j, _| (i + j) % 2 == 0)?;
        Ok(Cpu::new().ewise_mult(Plus::new(), &x.a, &b).eval()?.nnz() as u64)
    }),
    ("kronecker", |x| {
        let small = Csr::<f64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 3.0])?;
        Ok(Cpu::new().kronecker(Plus::new(), &small, &x.a).eval()?.nnz() as u64)
    }),
    ("ewise_add of one pattern", |x| Ok(Cpu::new().ewise_add(Plus::new(), &x.a, &x.a).eval()?.nnz() as u64)),
    ("apply", |x| Ok(Cpu::new().apply(Abs::new(), &x.a).eval()?.nnz() as u64)),
    ("select", |x| Ok(Cpu::new().select(Tril::new(), &x.a, 0).eval()?.nnz() as u64)),
    ("reduce_rows", |x| Ok(Cpu::new().reduce_rows(Plus::new(), &x.a).eval()?.len() as u64)),
    ("reduce", |x| Ok(Cpu::new().reduce(Max::new(), &x.a).eval()? as u64)),
    ("parts taken and assigned", |x| {
        let (cpu, (m, n)) = (Cpu::new(), x.a.shape());
        let backwards = sparring::sparse::IndexList::strided(n - 1, -1, n);
        let part = cpu.extract_matrix(&x.a, .., &backwards).eval()?;
        let mut c = cpu.extract_matrix(&x.a, 0..m, ..).eval()?;
        cpu.assign_matrix(&part, 0..m, &backwards).mask(!part.structure()).replace().into(&mut c)?;
        cpu.assign_scalar_matrix(1.0, 0..1, 0..n).accum(Plus::new()).into(&mut c)?;
        cpu.extract_row(&x.a, 0, ..).into_row(&mut c, m - 1)?;
        Ok(c.nnz() as u64)
    }),
    ("repeats, diagonals, blocks and numbers of rows", |x| {
        let (cpu, (m, n)) = (Cpu::new(), x.a.shape());
        let to: Vec<u32> = {
            WATCHED.set(false);
            let to = (0..x.dense.len() as u32).map(|p| p / 2).collect();
            WATCHED.set(true);
            to
        };
        let t = cpu.scatter(Plus::new(), &x.dense, &to, x.dense.len()).eval()?;
        let d = cpu.diag(&t, 1).eval()?;
        let c = cpu.concat(&[&[&x.a, &x.a]])?;
        let c = cpu.resize(&c, m, n)?;
        let counts = cpu.count_rows(&c).transpose_a().eval()?.nnz() + cpu.argmin_rows(&c).transpose_a().eval()?.nnz();
        Ok((cpu.diagonal(&d, 1).eval()?.nnz() + counts) as u64)
    }),
    ("entries set and removed", |x| {
        let (mut a, n) = (x.a.clone(), x.a.ncols());
        for j in 0..n {
            a.set(j % 3, j, 1.0)?;
        }
        for j in (0..n).step_by(2) {
            a.remove(j % 3, j)?;
        }
        Ok(Cpu::new().apply(Abs::new(), &a).eval()?.nnz() as u64)
    }),
    ("bfs_levels", |x| Ok(bfs_levels(&Cpu::new(), &x.a, None, 0)?.into_iter().flatten().map(u64::from).sum())),
    ("union_mxm", |x| Ok(Cpu::new().union_mxm(Manhattan::<f64>::default(), &x.a, &x.a)?.values().len() as u64)),
    ("union_spmv", |x| Ok(Cpu::new().union_spmv(Manhattan::<f64>::default(), &x.a, &x.sparse)?.len() as u64)),
    ("union_spmv of a full vector", |x| {
        Ok(Cpu::new().union_spmv(Manhattan::<f64>::default(), &x.a, &x.dense)?.len() as u64)
    }),
    ("distances in one pass", |x| distances(Metric::Manhattan, &x.rows[0], Some(&x.rows[1]))),
    ("distances in one pass, among themselves", |x| distances(Metric::Cosine, &x.rows[1], None)),
    ("distances in one pass, not symmetric", |x| distances(Metric::Kl, &x.rows[0], Some(&x.rows[1]))),
    ("distances by Chebyshev", |x| distances(Metric::Chebyshev, &x.rows[0], Some(&x.rows[1]))),
    ("distances in two passes", |x| {
        let namm = Union(MaxFromZero::<f64>::new(), SquaredDiff::<f64>::new());
        distances(namm, &x.rows[0], Some(&x.rows[1]))
    }),
    ("distances by a formula", |x| {
        let formula = Formula::new("|a-b|", |a: f64, b: f64| (a - b).abs());
        distances(formula, &x.rows[0], Some(&x.rows[1]))
    }),
    ("distances by a formula that is text", |x| {
        let formula = Formula::parse("abs(a-b)")?;
        distances(formula, &x.rows[0], Some(&x.rows[1]))
    }),
    ("distances in blocks of rows", |x| {
        let (cpu, mut places) = (Cpu::new(), 0);
        let (x, y) = (&x.rows[1], Some(&x.rows[0]));
        cpu.distances(Metric::Cosine, x).to(y).blocks(200, |_, d| {
            places += d.len() as u64;
            Ok(())
        })?;
        Ok(places)
    }),
    ("triangles", |x| Ok(triangles(&Cpu::new(), &x.a, TriangleMethod::Auto)?.count)),
    ("triangles masked", |x| Ok(triangles(&Cpu::new(), &x.a, TriangleMethod::Masked)?.count)),
    ("triangles direct", |x| Ok(triangles(&Cpu::new(), &x.a, TriangleMethod::Direct)?.count)),
    ("triangles per vertex", |x| Ok(triangles_per_vertex(&Cpu::new(), &x.a)?.iter().sum())),
    ("triangles per edge", |x| Ok(triangles_per_edge(&Cpu::new(), &x.a)?.values().iter().sum())),
    ("graphs", |x| {
        let kind = GraphKind::of(&Cpu::new(), &x.a)?;
        let (g, h) =
            (Graph::weighted(&Cpu::new(), &x.a, kind)?, Graph::new(&Cpu::new(), &x.busy, GraphKind::Directed)?);
        h.prepare(&Cpu::new())?;
        Ok((g.edges() + h.edges()) as u64)
    }),
    ("bfs of graphs", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs);
        let tree = bfs_tree(&cpu, &g.directed, 0)?;
        Ok(count(&bfs(&cpu, &g.plain, 7)?) + count(&tree.levels) + count(&tree.parents))
    }),
    ("multi_source_bfs", |x| Ok(count(&multi_source_bfs(&Cpu::new(), &x.graphs.plain, &[0, 9, 900])?))),
    ("shortest paths", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs);
        let (tree, by_rounds) = (sssp_tree(&cpu, &g.directed, 0)?, bellman_ford(&cpu, &g.weighted, 0)?);
        let way = tree.path(2999).map_or(0, |way| way.len() as u64);
        Ok(total(&sssp(&cpu, &g.weighted, 7)?) + total(&tree.distances) + total(&by_rounds.distances) + way)
    }),
    ("all_pairs_shortest_paths", |x| {
        let [plain, weighted] = &x.graphs.small;
        let cpu = Cpu::new();
        Ok(total(&all_pairs_shortest_paths(&cpu, plain)?) + total(&all_pairs_shortest_paths(&cpu, weighted)?))
    }),
    ("components", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs);
        let weak = count(&connected_components(&cpu, &g.plain)?) + count(&connected_components(&cpu, &g.directed)?);
        Ok(weak + count(&strongly_connected_components(&cpu, &g.directed)?))
    }),
    ("pagerank and hits", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs);
        let options = PageRankOptions { tolerance: 1e-2, ..PageRankOptions::default() };
        let ranks = pagerank(&cpu, &g.directed, &options)?;
        let found = hits(&cpu, &g.directed, SOON)?;
        Ok(total(&ranks.ranks) + total(&found.hubs) + total(&found.authorities))
    }),
    ("eigenvector and Katz centrality", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs.plain);
        Ok(total(&eigenvector_centrality(&cpu, g, SOON)?) + total(&katz_centrality(&cpu, g, 0.01, 1.0, SOON)?))
    }),
    ("betweenness", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs);
        let all = g.small.iter().map(|g| Ok(total(&betweenness_centrality(&cpu, g, false)?)));
        let all: u64 = all.sum::<Result<u64, Error>>()?;
        let sampled = total(&sampled_betweenness(&cpu, &g.weighted, 2, 1, false)?);
        Ok(all + sampled + total(&dependencies(&cpu, &g.directed, &[0, 1])?))
    }),
    ("betweenness by operations", |x| {
        let at = Cpu::new().transpose(&x.a).eval()?;
        Ok(total(&betweenness(&Cpu::new(), &x.a, &at, &[0, 1])?))
    }),
    ("sssp_distances", |x| {
        let found = sssp_distances(&Cpu::new(), &x.a.map(|w| w.abs() + 1.0)?, 0, None)?;
        Ok(found.into_iter().filter(|d| d.is_finite()).sum::<f64>() as u64)
    }),
    ("bfs_parents", |x| Ok(bfs_parents(&Cpu::new(), &x.a, None, 0)?.into_iter().flatten().map(u64::from).sum())),
    ("closeness and harmonic centrality", |x| {
        let (cpu, [plain, weighted]) = (Cpu::new(), &x.graphs.small);
        Ok(total(&closeness_centrality(&cpu, weighted)?) + total(&harmonic_centrality(&cpu, plain)?))
    }),
    ("clustering", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs.plain);
        let mean = 1e3 * (average_clustering(&cpu, g)? + transitivity(&cpu, g)?);
        Ok(total(&local_clustering(&cpu, g)?) + mean as u64)
    }),
    ("cores and trusses", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs.plain);
        let (cores, numbers) = (count(&core_numbers(&cpu, g)?), count(&truss_numbers(&cpu, g)?.numbers));
        Ok(cores + numbers + k_truss(&cpu, g, 3)?.len() as u64)
    }),
    ("Louvain and Leiden", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs);
        let found = leiden(&cpu, &g.weighted, 1.0, 2, 0)?;
        let quality = modularity(&cpu, &g.plain, &found.labels, 1.0)?;
        Ok(count(&louvain(&cpu, &g.plain, 1.0, 0)?.labels) + count(&found.labels) + (1e3 * quality) as u64)
    }),
    ("label propagation", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs.directed);
        let one = asynchronous_label_propagation(&cpu, g, 3)?;
        Ok(count(&label_propagation(&cpu, g, 3)?.labels) + count(&one.labels))
    }),
    ("sets, colors and forests", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs);
        let (set, colors) = (maximal_independent_set(&cpu, &g.plain)?, greedy_coloring(&cpu, &g.plain)?.colors);
        Ok(count(&set) + count(&colors) + minimum_spanning_forest(&cpu, &g.weighted)?.edges.len() as u64)
    }),
    ("matchings and orders", |x| {
        let (cpu, g) = (Cpu::new(), &x.graphs);
        let order = topological_order(&cpu, &g.acyclic)?;
        Ok(bipartite_matching(&cpu, x.busy.pattern())?.size as u64 + u64::from(order[0]))
    }),
    ("triangles compressed", |x| Ok(triangles(&Cpu::new(), &x.a, TriangleMethod::Compressed)?.count)),
];

// Exit codes that the parent distinguishes; 101 is a panic, a signal an abort.
const NOT_REACHED: i32 = 10;
const REFUSED_CLEANLY: i32 = 11;
const SURVIVED: i32 = 12;
const LEAK: i32 = 13;
const WRONG_ERROR: i32 = 14;
const WRONG_RESULT: i32 = 15;

/// One run in a separate process: `operation` with the `n`-th large allocation refused.
fn run(operation: Operation, n: i64) -> i32 {
    let a = data::named("jagmesh7");
    let mut rows = vec![];
    for (i, _, _) in a.iter() {
        rows.push(i as u32);
    }
    let coo = Coo::new(a.nrows(), a.ncols(), rows, a.col_idx().to_vec(), a.values().to_vec()).expect("entries");
    let backwards: Vec<u32> = (0..4000).rev().collect();
    let ones = |n: usize, step| {
        let indices: Vec<u32> = (0..n as u32).step_by(step).collect();
        let values = vec![1.0; indices.len()];
        Vector::new(n, indices, values).expect("a vector")
    };
    let cols: Vec<u32> = (0..1024).map(|p| p * 150).collect();
    let wide = Csr::new(64, 200_000, (0..=64).map(|i| 16 * i).collect(), cols, vec![1.0; 1024]).expect("a matrix");
    let cols = (0..60_000u32).map(|p| p / 20 + 3 * (p % 20)).collect();
    let busy = Csr::new(3000, 3060, (0..=3000).map(|i| 20 * i).collect(), cols, vec![0.5; 60_000]).expect("a matrix");
    let busy = busy
        .select(&Threads::caller(), |_, j, _| j < 3000)
        .and_then(|a| Csr::new(3000, 3000, a.row_ptr().to_vec(), a.col_idx().to_vec(), a.values().to_vec()))
        .expect("a matrix");
    let rows = |n: usize| {
        let cols = (0..2 * n as u32).map(|p| p / 2 % 100 + p % 2 * 100).collect();
        // A stored zero, so that the rows are copied without it.
        let values = (0..2 * n).map(|p| f64::from(p > 0)).collect();
        Csr::new(n, 200, (0..=n).map(|i| 2 * i).collect(), cols, values).expect("a matrix")
    };
    // Unsorted entries with duplicates.
    let line = |e: usize| format!("{} {} {} 0.5\n", e * 7919 % 4000 + 1, e % 50 + 1, e % 3 + 1);
    let frostt = (0..3000).chain(0..100).map(line).collect::<String>().into_bytes();
    let list = |step: usize, n: usize| (0..3000).map(|e| (e * step % n) as u32).collect();
    let lists = vec![list(1, 50), list(1, 3), list(7919, 700), list(31, 600)];
    let inputs = Inputs {
        files: files(&rows(600)),
        frostt,
        tensor: Tensor::new(vec![50, 3, 700, 600], lists, vec![0.5; 3000]).expect("a tensor"),
        rows: [rows(10), rows(301)],
        shuffled: (vec![0, 0, 4000, 4000], backwards, vec![1.0; 4000]),
        coo,
        graphs: Graphs::new(&a, &busy).expect("graphs"),
        busy,
        dense: Vector::full(vec![1.0; a.nrows()]).expect("a vector"),
        sparse: ones(a.nrows(), 1),
        wide: (ones(64, 1), ones(64, 4), wide),
        a,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(|_| WATCHED.set(true))
        .build()
        .expect("a pool of two");
    // Runs once on each thread without refusals, so that per-process and per-thread state exists.
    let made = pool.broadcast(|_| operation(&inputs).expect("a result when there is memory"));
    let want = made[0];
    assert_eq!(made, [want; 2]);
    let before = LIVE.load(Ordering::SeqCst);
    REFUSED.store(0, Ordering::SeqCst);
    GRANTED.store(n, Ordering::SeqCst);
    let found = pool.install(|| operation(&inputs));
    GRANTED.store(i64::MAX, Ordering::SeqCst);
    let refused = REFUSED.load(Ordering::SeqCst) > 0;
    let leaked = LIVE.load(Ordering::SeqCst) - before;
    if leaked != 0 {
        eprintln!("{leaked} bytes were not returned");
        return LEAK;
    }
    match found {
        Err(Error::OutOfMemory { bytes, .. }) if refused && bytes > 0 => REFUSED_CLEANLY,
        Err(e) => {
            eprintln!("{e:?} (refused: {refused})");
            WRONG_ERROR
        }
        Ok(x) if x != want => {
            eprintln!("{x}, expected {want}");
            WRONG_RESULT
        }
        Ok(_) if refused => SURVIVED,
        Ok(_) => NOT_REACHED,
    }
}

/// Runs `operation` number `which` in a child; its exit code (None: killed by a signal) and its standard error.
fn child(which: usize, n: i64, stay: bool, trace: bool) -> (Option<i32>, String) {
    let out = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "each_allocation_may_fail", "--nocapture"])
        .env("SPARRING_FAIL_ALLOC", format!("{which} {n} {} {}", u8::from(stay), u8::from(trace)))
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("a child");
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// The library's own frames in a trace, innermost first.
fn places(trace: &str) -> String {
    let own = trace.lines().filter_map(|l| l.trim().strip_prefix("at ./src/"));
    own.take(3).map(|place| format!(" src/{place}")).collect()
}

#[test]
fn each_allocation_may_fail() {
    if let Ok(order) = std::env::var("SPARRING_FAIL_ALLOC") {
        let order: Vec<i64> = order.split(' ').map(|w| w.parse().expect("a number")).collect();
        STAY.store(order[2] == 1, Ordering::SeqCst);
        TRACE.store(order[3] == 1, Ordering::SeqCst);
        std::process::exit(run(OPERATIONS[order[0] as usize].1, order[1]));
    }
    let mut wrong = String::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut refusals = 0;
    for (which, (name, _)) in OPERATIONS.iter().enumerate() {
        for stay in [false, true] {
            for n in 0.. {
                assert!(n < 2000, "{name}: more than 2000 large allocations");
                let (code, said) = child(which, n, stay, false);
                match code {
                    Some(NOT_REACHED) => break,
                    Some(REFUSED_CLEANLY | SURVIVED) => refusals += 1,
                    other => {
                        let end = match other {
                            None => "aborted".to_string(),
                            Some(LEAK) => "leaked".into(),
                            Some(101) => "panicked".into(),
                            Some(c) => format!("ended with {c}"),
                        };
                        let last = said.lines().rfind(|l| !l.is_empty() && !l.starts_with("note:")).unwrap_or_default();
                        let (_, trace) = child(which, n, stay, true);
                        let places = places(&trace);
                        // Many refusals end in the same line of code: it is reported once, for the first of them.
                        let innermost = places.split_whitespace().next().unwrap_or_default().to_string();
                        if seen.insert((end.clone(), innermost)) {
                            let _ = writeln!(wrong, "{name}, allocation {n} refused: {end}: {last}\n   {places}");
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(refusals > OPERATIONS.len() as u64, "only {refusals} allocations were refused: is the allocator in place?");
}

//! Every error can be produced through the public API, and its text names the numbers.

mod common;

use std::ops::ControlFlow;

use common::data;
use sparring::algebra::{Formula, PlusTimes, RingFormula, Type};
use sparring::backend::Backend;
use sparring::contract::{Einsum, Layout, View};
use sparring::graph::{TriangleMethod, triangles};
use sparring::par::Threads;
use sparring::runtime::{IndexList, Machine, Matrix, Op};
use sparring::tensor::Kruskal;
use sparring::{Coo, Cpu, Csr, Dense, Error, Pattern, Tensor};

/// The text of the error, which must contain each of `words`.
fn says<T>(found: Result<T, Error>, words: &[&str]) -> Error {
    let error = found.err().expect("an error");
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{text:?} does not name {word:?}");
    }
    error
}
fn matrix(nrows: usize, ncols: usize) -> Csr<f64> {
    Csr::empty(nrows, ncols).expect("an empty matrix")
}

#[test]
fn shape() {
    let cpu = Cpu::new();
    let found = cpu.mxm(PlusTimes::<f64>::default(), &matrix(3, 4), &matrix(5, 6)).eval();
    assert!(matches!(says(found, &["mxm", "3×4", "5×6"]), Error::Shape { lhs: (3, 4), rhs: (5, 6), .. }));
}

#[test]
fn not_square() {
    let found = triangles(&Cpu::new(), &matrix(3, 4), TriangleMethod::Auto);
    assert!(matches!(says(found, &["triangles", "3×4", "square"]), Error::NotSquare { .. }));
}

#[test]
fn index_overflow() {
    let found = Pattern::<u32>::empty(1, usize::MAX);
    let bound = u32::MAX.to_string();
    assert!(matches!(says(found, &[&usize::MAX.to_string(), &bound]), Error::IndexOverflow { .. }));
    let found = Coo::<f64>::new(1 << 40, 1, vec![], vec![], vec![]);
    assert!(matches!(says(found, &["1099511627776", &bound]), Error::IndexOverflow { .. }));
}

#[test]
fn out_of_memory() {
    // Row pointers larger than the address space are refused without an attempt to allocate.
    let found = Pattern::<u32>::empty(usize::MAX / 4, 1);
    assert!(matches!(says(found, &["out of memory", "bytes", "row pointers"]), Error::OutOfMemory { .. }));
    assert!(matches!(says(Pattern::<u32>::empty(usize::MAX, 1), &["out of memory"]), Error::OutOfMemory { .. }));
}

#[test]
fn budget() {
    let a = data::named("west0479");
    let cpu = Cpu::new().memory_budget(1000);
    let found = cpu.mxm(PlusTimes::<f64>::default(), &a, &a).eval();
    assert!(matches!(says(found, &["budget", "1000 bytes"]), Error::Budget { budget: 1000, .. }));
}

#[test]
fn length() {
    let found = Csr::<f64>::new(2, 2, vec![0, 1], vec![0], vec![1.0]);
    assert!(matches!(says(found, &["row_ptr", "2", "3"]), Error::Length { found: 2, expected: 3, .. }));
    let found = Csr::<f64>::new(1, 2, vec![0, 1], vec![0], vec![]);
    assert!(matches!(says(found, &["values", "0", "1"]), Error::Length { found: 0, expected: 1, .. }));
    let found = Coo::<f64>::new(2, 2, vec![0], vec![], vec![1.0]);
    assert!(matches!(says(found, &["columns", "0", "1"]), Error::Length { .. }));
}

#[test]
fn row_pointer() {
    let new = |row_ptr: &[usize]| Csr::<f64>::new(2, 2, row_ptr.to_vec(), vec![0, 1], vec![1.0; 2]);
    assert!(matches!(says(new(&[1, 1, 2]), &["row_ptr[0]", "1"]), Error::RowPointer { row: 0, found: 1, .. }));
    assert!(matches!(says(new(&[0, 2, 1]), &["row_ptr[2]", "at least 2"]), Error::RowPointer { row: 2, found: 1, .. }));
    assert!(matches!(says(new(&[0, 1, 9]), &["row_ptr[2]", "9", "2"]), Error::RowPointer { row: 2, found: 9, .. }));
}

#[test]
fn index_range() {
    let found = Csr::<f64>::new(1, 2, vec![0, 1], vec![2], vec![1.0]);
    assert!(matches!(says(found, &["entry 0", "column", "2"]), Error::IndexRange { axis: "column", bound: 2, .. }));
    let found = Coo::<f64>::new(2, 2, vec![0, 7], vec![0, 0], vec![1.0; 2]);
    assert!(matches!(says(found, &["entry 1", "row", "7", "2"]), Error::IndexRange { axis: "row", index: 7, .. }));
}

#[test]
fn not_sorted() {
    let found = Csr::<f64>::new(1, 3, vec![0, 2], vec![2, 1], vec![1.0; 2]);
    assert!(matches!(says(found, &["row 0", "column 1", "position 1"]), Error::NotSorted { .. }));
}

#[test]
fn duplicate() {
    let found = Csr::<f64>::new(1, 3, vec![0, 2], vec![2, 2], vec![1.0; 2]);
    assert!(matches!(says(found, &["(0, 2)", "twice"]), Error::Duplicate { row: 0, column: 2 }));
    let found = Csr::<f64>::from_unsorted(1, 3, vec![0, 3], vec![2, 0, 2], vec![1.0; 3]);
    assert!(matches!(says(found, &["(0, 2)"]), Error::Duplicate { row: 0, column: 2 }));
    let found = Coo::<f64>::new(2, 2, vec![1, 0, 1], vec![1, 0, 1], vec![1.0; 3]).and_then(|c| c.to_csr_unique());
    assert!(matches!(says(found, &["(1, 1)"]), Error::Duplicate { row: 1, column: 1 }));
}

#[test]
fn index_lists() {
    let found = IndexList::from(vec![0, 7]).to_vec("rows", 5);
    assert!(matches!(says(found, &["rows", "7", "position 1", "5"]), Error::ListIndex { index: 7, position: 1, .. }));
    let (cpu, all, twice) = (Machine::from(Cpu::new()), IndexList::all(), IndexList::from(vec![1, 1]));
    let a = Matrix::from(Csr::<f64>::eye(2).expect("a matrix"));
    let found = cpu.call(Op::Assign(&twice, &all), &a).into(&mut a.clone());
    assert!(matches!(says(found, &["rows", "index 1", "twice"]), Error::RepeatedIndex { index: 1, .. }));
}

#[test]
fn tensors() {
    let x = Tensor::<f64>::new(vec![2, 2], vec![vec![1, 1], vec![0, 0]], vec![1.0; 2]).expect("a tensor");
    assert!(matches!(says(x.distinct(&Threads::current()), &["[1, 0]", "twice"]), Error::Repeated { .. }));
    let of = |n: usize| Kruskal::new(vec![1.0], vec![Dense::filled(n, 1, 1.0).expect("a factor")]).expect("a model");
    assert!(matches!(says(of(2).inner(&of(3)), &["inner product", "[2]", "[3]"]), Error::Dims { .. }));
}

#[test]
fn pattern_changed() {
    let cpu = Cpu::new();
    let a = data::named("karate");
    let plan = cpu.plan(&a, &a).eval().expect("a plan");
    let found = cpu.mxm(PlusTimes::<f64>::default(), &a, &matrix(34, 34)).plan(&plan).eval();
    assert!(matches!(says(found, &["operand B", "0 entries", "156"]), Error::PatternChanged { .. }));
}

#[test]
fn argument() {
    let found = Cpu::with_threads(0).map(|_| ());
    assert!(matches!(says(found, &["threads", "0"]), Error::Argument { name: "threads", .. }));
    assert!(matches!(says(Cpu::with_threads(100_000).map(|_| ()), &["100000"]), Error::Argument { .. }));
}

#[test]
fn formula() {
    let parameters = [("a", Type::F64), ("b", Type::F64)];
    let found = Formula::parse("abs(a - c) / 2", &parameters, None);
    let error = says(found, &["no parameter c", "there are a, b", "\n  abs(a - c) / 2\n          ^"]);
    assert!(matches!(error, Error::Formula { at: 8, .. }));
    let found = RingFormula::parse("a - b identity 0, a * b", Type::I32, Type::I32);
    assert!(matches!(says(found, &["⊕", "0 ⊕ x is -1, not x, for x = 1"]), Error::Argument { name: "⊕", .. }));
}

#[test]
fn expression() {
    let square = View::new(&[1.0; 4], Layout::row_major(&[2, 2]).expect("a layout")).expect("a view");
    let found = Einsum::new("ij,jk->il", &[square.clone(), square]);
    let error = says(found, &["no operand has this index", "\n  ij,jk->il\n          ^"]);
    assert!(matches!(error, Error::Expression { at: 8, .. }));
}

#[test]
fn cancelled() {
    let a = data::named("wiki-Vote");
    let before = a.clone();
    let cpu = Cpu::with_threads(2).expect("threads").on_progress(|p| {
        assert!(p.done <= p.total, "{p:?}");
        ControlFlow::Break(())
    });
    let found = cpu.mxm(PlusTimes::<f64>::default(), &a, &a).eval();
    assert!(matches!(says(found, &["cancelled"]), Error::Cancelled { .. }));
    assert_eq!(a, before, "inputs stay untouched");
    // The same Cpu works again after the interrupt is cleared.
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counted = std::sync::Arc::clone(&calls);
    let cpu = Cpu::with_threads(2).expect("threads").on_progress(move |_| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        ControlFlow::Continue(())
    });
    let c = cpu.mxm(PlusTimes::<f64>::default(), &a, &a).eval().expect("a product");
    assert!(c.nnz() > 0 && calls.load(std::sync::atomic::Ordering::Relaxed) > 0);
}

/// Errors that only files, other systems or other arguments can cause: their texts, from the numbers.
#[test]
fn texts_of_the_rest() {
    let text = Error::Parse { file: "a.mtx".into(), line: 3, column: 7, message: "not a number".into() }.to_string();
    assert_eq!(text, "a.mtx:3:7: not a number");
    let text = Error::Unsupported { what: "complex".into(), why: "values are real".into() }.to_string();
    assert!(text.contains("complex") && text.contains("values are real"));
    let source = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
    let error = Error::Io { path: "b.mtx".into(), source };
    assert!(error.to_string().contains("b.mtx") && error.to_string().contains("no such file"));
    assert!(std::error::Error::source(&error).is_some());
    let text = Error::Threads { threads: 9, message: "no".into() }.to_string();
    assert!(text.contains('9') && text.contains("no"));
}

#[test]
#[cfg(feature = "cuda")]
fn no_device() {
    // With a driver, there are fewer devices; without one, the error says so.
    let found = sparring::Cuda::new(1000).map(|_| ());
    assert!(matches!(says(found, &["no GPU 1000", "driver"]), Error::NoDevice { ordinal: 1000, .. }));
}

#[test]
#[cfg(feature = "testing")]
fn compile() {
    match sparring::gpu::testing::wrong_program() {
        Err(Error::NoCompiler { why }) => println!("skipped: no NVRTC: {why}"),
        found => {
            let error = says(found, &["testing does not compile", "nonsense", "   2 extern \"C\""]);
            assert!(matches!(error, Error::Compile { .. }));
        }
    }
}

/// Device errors, some of which only a faulty device would cause (the others: tests/gpu_runtime.rs).
#[test]
fn texts_of_devices() {
    let text = Error::NoCompiler { why: "libnvrtc.so.13 is not there".into() }.to_string();
    assert!(text.contains("no compiler") && text.contains("libnvrtc.so.13"));
    let text =
        Error::Device { what: "kernel scan on 3 blocks".into(), message: "misaligned address".into() }.to_string();
    assert_eq!(text, "kernel scan on 3 blocks: misaligned address");
    let text = Error::DeviceMemory { what: "values", bytes: 1 << 40, free: 77 }.to_string();
    assert!(text.contains("1099511627776 bytes") && text.contains("values") && text.contains("77 bytes are free"));
}

//! A memory budget bounds C and scratch together, as measured by a counting allocator. Without a budget, a product that
//! the machine cannot hold is refused before it starts.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};

use common::counting::{Counting, allocations, alone, live, peak};
use common::{data, identical};
use sparring::algebra::{Arith, BinaryOp, MinPlus, Plus, PlusTimes, Ring, V};
use sparring::backend::{Backend, Container};
use sparring::spgemm::{Accumulator, Compress, Options, Policy};
use sparring::tensor::Variant;
use sparring::{Cpu, Csr, Dense, Error, Tensor};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory not counted against a budget: jobs of the pool, messages, row ranges before the tasks are known.
const SLACK: u64 = 48 << 10;

fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |n| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    }
}

/// `nrows` rows of about `d` entries in `ncols` columns, and one row with a hundred times as many.
fn matrix(seed: u64, nrows: usize, ncols: usize, d: usize) -> Csr<f64> {
    let mut below = random(seed);
    let (mut row_ptr, mut cols) = (vec![0], vec![]);
    for i in 0..nrows {
        let n = if i == 3 { 100 * d } else { below(2 * d + 1) };
        let row: std::collections::BTreeSet<u32> = (0..n).map(|_| below(ncols) as u32).collect();
        cols.extend(row);
        row_ptr.push(cols.len());
    }
    let values = (0..cols.len()).map(|p| 1.0 + (p % 7) as f64 / 3.0).collect();
    Csr::new(nrows, ncols, row_ptr, cols, values).expect("a matrix")
}

/// The mask of a product, and whether it is complemented.
type Mask<'a> = Option<(&'a Csr<f64>, bool)>;

fn product(cpu: &Cpu, a: &Csr<f64>, b: &Csr<f64>, mask: Mask<'_>, options: &Options) -> Result<Csr<f64>, Error> {
    let product = cpu.mxm(PlusTimes::<f64>::default(), a, b).options(options.clone());
    match mask {
        None => product.eval(),
        Some((mask, false)) => product.mask(mask.structure()).eval(),
        Some((mask, true)) => product.mask(mask.structure()).complement().eval(),
    }
}

/// For budgets from almost nothing to plenty: the product is refused or gives the same bits, and it stays within the
/// budget.
fn holds(name: &str, a: &Csr<f64>, b: &Csr<f64>, mask: Mask<'_>, options: &Options) {
    let want = product(&Cpu::with_threads(2).expect("threads"), a, b, mask, options).expect("a product");
    for threads in [1, 3] {
        let (mut refused, mut made) = (0, 0);
        for step in 0..50 {
            let budget = (1000.0 * 1.6_f64.powi(step)) as u64;
            let cpu = Cpu::with_threads(threads).expect("threads").memory_budget(budget);
            let (found, bytes) = peak(|| product(&cpu, a, b, mask, options));
            let about = format!("{name}, {threads} threads, {options:?}, {budget} bytes allowed");
            assert!(bytes <= budget + SLACK, "{about}, {bytes} taken, {:?}", found.map(|c| c.nnz()));
            match found {
                Ok(c) => {
                    assert!(identical(&c, &want), "{about}");
                    made += 1;
                }
                Err(Error::Budget { bytes, budget: told, .. }) => {
                    assert!(bytes > told && told == u128::from(budget) && made == 0, "{about}: {bytes} needed, {made}");
                    refused += 1;
                }
                Err(e) => panic!("{about}: {e}"),
            }
            if made == 6 {
                break;
            }
        }
        assert!(refused > 3 && made > 3, "{name}, {threads} threads, {options:?}: {refused} refused, {made} made");
    }
}

fn all_options() -> Vec<Options> {
    let mut all = vec![];
    for policy in [Policy::Auto, Policy::KkSpGemm] {
        for accumulator in [Accumulator::Auto, Accumulator::LinkedList, Accumulator::LinearProbe, Accumulator::Dense] {
            for compress in [Compress::Auto, Compress::On, Compress::Off] {
                all.push(Options { policy, accumulator, compress, ..Options::default() });
            }
        }
    }
    all
}

#[test]
fn a_product_takes_no_more_than_it_may() {
    let _alone = alone();
    let (a, b) = (matrix(1, 1500, 1200, 6), matrix(2, 1200, 40_000, 9));
    let narrow = matrix(3, 1200, 300, 9);
    for options in all_options() {
        holds("wide", &a, &b, None, &options);
        holds("narrow", &a, &narrow, None, &options);
    }
    let options = Options::default();
    for complement in [false, true] {
        holds("masked", &a, &b, Some((&matrix(4, 1500, 40_000, 20), complement)), &options);
        holds("masked and narrow", &a, &narrow, Some((&matrix(5, 1500, 300, 5), complement)), &options);
    }
}

/// The scratch per thread for the columns of C depends on the budget, not only on the number of columns.
#[test]
fn many_columns_cost_no_memory_that_is_not_allowed() {
    let _alone = alone();
    let (a, b) = (matrix(1, 300, 200, 3), matrix(2, 200, 500_000_000, 8));
    let options = Options::default();
    holds("hypersparse", &a, &b, None, &options);
    let five = Cpu::with_threads(2).expect("threads").memory_budget(5_000_000);
    assert!(product(&five, &a, &b, None, &options).is_ok(), "columns are sorted where bits have no room");
    let dense = Options { accumulator: Accumulator::Dense, ..Options::default() };
    let (refused, bytes) = peak(|| product(&five, &a, &b, None, &dense));
    assert!(matches!(refused, Err(Error::Budget { bytes, .. }) if bytes > 1_000_000_000), "{refused:?}");
    assert!(bytes < 5_000_000 + SLACK, "{bytes}");

    let b = matrix(2, 200, 4_000_000_000, 8);
    let mask = matrix(5, 300, 4_000_000_000, 9);
    for complement in [false, true] {
        holds("hypersparse mask", &a, &b, Some((&mask, complement)), &options);
        // Also with so many flops that a byte map of the columns would be used.
        let wide = matrix(2, 200, 3_000_000, 8);
        holds("mask", &a, &wide, Some((&matrix(6, 300, 3_000_000, 700), complement)), &options);
    }
}

/// A full first row and a full first column: few entries, but a full product.
fn arrow(n: usize) -> Csr<f64> {
    let row_ptr = (0..=n).map(|i| if i == 0 { 0 } else { n + i - 1 }).collect();
    let cols: Vec<u32> = (0..n as u32).chain(std::iter::repeat_n(0, n - 1)).collect();
    let values = vec![1.0; cols.len()];
    Csr::new(n, n, row_ptr, cols, values).expect("an arrow")
}

/// 4·10¹² entries take 16 TB for the column indices alone.
#[test]
fn what_the_machine_cannot_hold_is_refused_before_it_is_begun() {
    let _alone = alone();
    let a = arrow(2_000_000);
    let cpu = Cpu::with_threads(2).expect("threads");
    let (found, bytes) = peak(|| cpu.mxm(PlusTimes::<f64>::default(), &a, &a).eval().map(|c| c.nnz()));
    assert!(matches!(found, Err(Error::OutOfMemory { bytes, .. }) if bytes > 1 << 43), "{found:?}");
    assert!(bytes < 200 << 20, "{bytes} bytes were taken");
    // A complemented mask leaves at least the entries that it does not exclude.
    let (found, bytes) =
        peak(|| cpu.mxm(PlusTimes::<f64>::default(), &a, &a).mask(!a.structure()).eval().map(|c| c.nnz()));
    assert!(matches!(found, Err(Error::OutOfMemory { bytes, .. }) if bytes > 1 << 43), "{found:?}");
    assert!(bytes < 300 << 20, "{bytes} bytes were taken");
    // The count is exact, too: under a budget it is reported to the byte.
    let a = arrow(3000);
    let nnz = cpu.mxm(PlusTimes::<f64>::default(), &a, &a).eval().expect("a small one").nnz();
    assert_eq!(nnz, 9_000_000);
    let tight = Cpu::with_threads(2).expect("threads").memory_budget(30_000_000);
    let found = tight.plan(&a, &a).eval().map(|plan| plan.nnz());
    assert!(matches!(found, Err(Error::Budget { bytes: 36_000_000..37_000_000, .. })), "{found:?}");
}

/// Numeric products into an existing matrix need scratch alone, which is bounded as well.
#[test]
fn values_in_place_take_scratch_alone() {
    let _alone = alone();
    let a = data::named("jagmesh7");
    let cpu = Cpu::with_threads(2).expect("threads");
    let ring = PlusTimes::<f64>::default();
    for options in [Options::default(), Options { accumulator: Accumulator::Dense, ..Options::default() }] {
        let plan = cpu.plan(&a, &a).options(&options).eval().expect("a plan");
        let mut c = cpu.mxm(ring, &a, &a).plan(&plan).eval().expect("a product");
        let want = c.clone();
        let mut c2 = Csr::new(c.nrows(), c.ncols(), c.row_ptr().to_vec(), c.col_idx().to_vec(), vec![0.0; c.nnz()])
            .expect("the same pattern");
        let none = Cpu::with_threads(2).expect("threads").memory_budget(10);
        let refused = none.mxm(ring, &a, &a).plan(&plan).into(&mut c2);
        assert!(matches!(refused, Err(Error::Budget { budget: 10, .. })), "{refused:?}");
        let some = Cpu::with_threads(2).expect("threads").memory_budget(300_000);
        let ((), bytes) = peak(|| some.mxm(ring, &a, &a).plan(&plan).into(&mut c2).expect("enough"));
        assert!(bytes <= 300_000 + SLACK && identical(&c2, &want), "{bytes}");
        cpu.mxm(ring, &a, &a).plan(&plan).into(&mut c).expect("in place");
    }
}

/// Planned products sort nothing: they take less memory than the smallest permutation of the entries, at 4 bytes each.
#[test]
fn a_plan_of_a_tensor_sorts_once() {
    const NNZ: usize = 400_000;
    const RANK: usize = 2;
    let _alone = alone();
    let (mut below, dims) = (random(7), [300, 200, 100, 20]);
    let lists = dims.map(|n| (0..NNZ).map(|_| below(n) as u32).collect::<Vec<_>>());
    let values = (0..NNZ).map(|e| (e % 11) as f64).collect();
    let x = std::sync::Arc::new(Tensor::new(dims.to_vec(), lists.to_vec(), values).expect("a tensor"));
    let factors = dims.map(|n| Dense::filled(n, RANK, 0.5).expect("a factor"));
    let cpu = Cpu::with_threads(2).expect("threads");
    for variant in [Variant::C, Variant::Copies, Variant::Tree, Variant::Linear] {
        let (plan, made) = peak(|| cpu.mttkrp_plan(std::sync::Arc::clone(&x), RANK, Some(variant)).expect("a plan"));
        assert!(made > 4 * NNZ as u64, "{variant}: {made} bytes for {}", plan.explain());
        for mode in [0, 1, 2, 3, 0] {
            let product = || cpu.mttkrp(PlusTimes::new(), plan.tensor(), &factors, mode).plan(&plan).eval();
            let (v, taken) = peak(|| product().expect("a product"));
            assert!(v.shape() == (dims[mode], RANK) && taken < 3 * NNZ as u64, "{variant}, mode {mode}: {taken} bytes");
        }
    }
}

/// Number of multiplications until one panics.
static LEFT: AtomicI64 = AtomicI64::new(0);

#[derive(Clone, Copy, Debug)]
struct Fails;

impl BinaryOp for Fails {
    type A = f64;
    type B = f64;
    type Out = f64;
    fn apply<M: Arith>(self, a: V<M, f64>, b: V<M, f64>) -> V<M, f64> {
        assert!(LEFT.fetch_sub(1, Ordering::SeqCst) > 0, "planted");
        a * b
    }
}

/// A phase with fewer threads frees the scratch of the phases before it.
#[test]
fn a_plan_lets_go_of_scratch_for_more_threads() {
    let _alone = alone();
    let (a, b) = (matrix(1, 24_000, 200, 3), matrix(2, 200, 1_000_000, 8));
    let ring = PlusTimes::<f64>::default();
    let [one, eight] = [1, 8].map(|threads| Cpu::with_threads(threads).expect("threads"));
    let plan = one.plan(&a, &b).eval().expect("a plan");
    let mut c = one.mxm(ring, &a, &b).plan(&plan).eval().expect("a product");
    let own = live();
    // Threads pick up work dynamically, so the number of active threads is unknown; more work activates all of them
    // sooner.
    let mut most = 0;
    for _ in 0..200 {
        eight.mxm(ring, &a, &b).plan(&plan).into(&mut c).expect("in place");
        most = most.max(live() - own);
        if most > 2 << 21 {
            break;
        }
    }
    assert!(most > 2 << 20, "only one thread has worked: {most}");
    one.mxm(ring, &a, &b).plan(&plan).into(&mut c).expect("in place");
    assert!(live() - own <= SLACK as i64, "{} bytes more are kept", live() - own);
}

/// Per-thread scratch stays with the plan, also for another semiring with values of the same size, and after a panic.
#[test]
fn a_plan_keeps_the_scratch_of_its_phases() {
    let _alone = alone();
    let (a, b) = (matrix(1, 12_000, 200, 3), matrix(2, 200, 2_000_000, 8));
    // Every second entry of the product.
    let all = Cpu::new().mxm(PlusTimes::<f64>::default(), &a, &b).eval().expect("a product");
    let half: Vec<_> = all.iter().step_by(2).map(|(i, j, _)| (i, j as u32)).collect();
    let row_ptr = (0..=12_000).map(|r| half.partition_point(|&(i, _)| i < r)).collect();
    let mask = Csr::new(12_000, 2_000_000, row_ptr, half.iter().map(|e| e.1).collect(), vec![1.0; half.len()])
        .expect("a mask");
    let (ring, least) = (PlusTimes::<f64>::default(), MinPlus::<f64>::default());
    for (threads, masked) in [(1, false), (2, false), (1, true), (2, true)] {
        let cpu = Cpu::with_threads(threads).expect("threads");
        let plan = || cpu.plan(&a, &b);
        let plan = if masked { plan().mask(mask.structure()).eval() } else { plan().eval() }.expect("a plan");
        let (c, first) = peak(|| cpu.mxm(ring, &a, &b).plan(&plan).eval().expect("a product"));
        let mut again = c.clone();
        again.values_mut().fill(f64::NAN);
        let least_of = cpu.mxm(least, &a, &b).plan(&plan).eval().expect("a product");
        let want = match masked {
            false => cpu.mxm(least, &a, &b).eval(),
            true => cpu.mxm(least, &a, &b).mask(mask.structure()).eval(),
        }
        .expect("a product");
        assert!(identical(&least_of, &want), "{threads} threads, masked: {masked}");
        LEFT.store(200, Ordering::SeqCst);
        let failing = Ring(Plus::<f64>::new(), Fails);
        let failed = catch_unwind(AssertUnwindSafe(|| cpu.mxm(failing, &a, &b).plan(&plan).eval().map(|_| ())));
        assert!(failed.is_err());
        let ((), second) = peak(|| cpu.mxm(ring, &a, &b).plan(&plan).into(&mut again).expect("in place"));
        assert!(identical(&again, &c), "{threads} threads, masked: {masked}");
        // Threads pick up work dynamically: a thread's scratch is allocated at its first task.
        for _ in 0..50 {
            cpu.mxm(ring, &a, &b).plan(&plan).into(&mut again).expect("in place");
        }
        let ((), third) = peak(|| cpu.mxm(ring, &a, &b).plan(&plan).into(&mut again).expect("in place"));
        assert!(identical(&again, &c), "{threads} threads, masked: {masked}");
        // Per thread, for the column count rounded up to a power of two: a two-byte index per column and the window of
        // doubles; under a mask, four bytes per column.
        let tables = threads as u64 * if masked { 4 << 21 } else { (2 << 21) + (8 << 14) };
        assert!(
            first > 4_000_000 && second <= tables + SLACK && third <= SLACK,
            "{first}, then {second}, then {third}"
        );
    }
}

/// Parsing, law checks and compilation of loops happen once. The second lookup allocates nothing, and the second call
/// only its result, so neither can have repeated the work.
#[test]
fn operators_by_name_are_made_once() {
    use sparring::algebra::Type;
    use sparring::runtime::{self, Machine, Matrix, Monoid, Semiring, UnaryOp, Vector};
    let _alone = alone();
    let cpu = Machine::from(Cpu::with_threads(1).unwrap());
    let a = Csr::<f64>::new(4, 4, vec![0, 2, 5, 8, 10], vec![0, 1, 0, 1, 2, 1, 2, 3, 2, 3], vec![0.5; 10]).unwrap();
    let x = sparring::Vector::<f64>::full(vec![0.25; 4]).unwrap();
    let (a, x) = (Matrix::from(a), Vector::from(x));
    // Row pointers, columns, values, bitmap, and the objects that own them.
    const RESULT: (i64, u64) = (16, 2048);
    let second = |what: &str, call: &dyn Fn()| {
        call();
        let (((), calls), bytes) = peak(|| allocations(call));
        assert!(calls <= RESULT.0 && bytes <= RESULT.1, "{what}: {calls} allocations, {bytes} bytes");
    };
    for text in
        ["plus_times", "max_second", "times_reverse_minus", "min, a + 2*b", "a + b - a*b identity 0, abs(a - b)"]
    {
        let ring = Semiring::new(text, Type::F64).unwrap();
        let (again, calls) = allocations(|| Semiring::new(text, Type::F64).unwrap());
        assert_eq!((calls, &again), (0, &ring), "{text}");
        second(&format!("mxm {text}"), &|| drop(cpu.mxm(&ring, &a, &a).unwrap()));
        second(&format!("mxv {text}"), &|| drop(cpu.mxv(&ring, &a, &x).unwrap()));
        second(&format!("vxm {text}"), &|| drop(cpu.vxm(&ring, &x, &a).unwrap()));
    }
    for text in ["max", "a + b - a*b identity 0"] {
        let monoid = Monoid::new(text, Type::F64).unwrap();
        assert_eq!(allocations(|| Monoid::new(text, Type::F64).unwrap()), (monoid.clone(), 0));
        second(&format!("reduce {text}"), &|| drop(cpu.reduce(&monoid, &a).unwrap()));
    }
    for text in ["minus", "a + 2*b"] {
        let op = runtime::BinaryOp::new(text, Type::F64).unwrap();
        assert_eq!(allocations(|| runtime::BinaryOp::new(text, Type::F64).unwrap()), (op.clone(), 0));
        second(&format!("ewise_add {text}"), &|| drop(cpu.ewise_add(&op, &a, &a).unwrap()));
    }
    for text in ["abs", "a * a > 2"] {
        let op = UnaryOp::new(text, Type::F64).unwrap();
        assert_eq!(allocations(|| UnaryOp::new(text, Type::F64).unwrap()), (op.clone(), 0));
        second(&format!("apply {text}"), &|| drop(cpu.apply(&op, &a).unwrap()));
    }
}

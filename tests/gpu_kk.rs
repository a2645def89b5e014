//! kkSpGEMM on the GPU: every accumulator, compressed or not, with undersized first levels and single-chunk pools,
//! gives the same entries and the same bits as the CPU.
#![cfg(feature = "cuda")]

mod common;

use std::sync::Arc;

use common::arbitrary::{AnyPair, AnyPattern, Draw, Rng, rows};
use common::gpu::cuda;
use common::rings::{CountPaths, Detour, SumPlaces, SumWhere};
use common::{Same, check, check_invariants, golden, identical};
use sparring::algebra::{Lhs, Min, MinPlus, Out, PlusPair, PlusTimes, Rhs, Ring, SecondIndex, Semiring};
use sparring::backend::{Backend, Kernels};
use sparring::gpu::DeviceCsr;
use sparring::spgemm::{Accumulator, Compress, KkSettings, Options, Policy};
use sparring::{Cpu, Csr, Cuda, Error};

type Outcome = Result<(), String>;
/// min over k: the first vertex through which an entry is reached.
type MinSecond = Ring<Min<u64>, SecondIndex<f64, f64, u64>>;

fn text(e: Error) -> String {
    e.to_string()
}

/// Whether the two matrices have identical arrays.
fn equal<T: sparring::algebra::Value + Same>(found: &Csr<T>, want: &Csr<T>) -> Outcome {
    check_invariants(found)?;
    if found.pattern() != want.pattern() {
        return Err(format!("the pattern has {} entries, expected {}", found.nnz(), want.nnz()));
    }
    match found.values().iter().zip(want.values()).position(|(x, y)| !x.same(y)) {
        Some(p) => Err(format!("value {p} is {:?}, expected {:?}", found.values()[p], want.values()[p])),
        None => Ok(()),
    }
}

fn kk() -> Options {
    Options { policy: Policy::KkSpGemm, ..Options::default() }
}

/// Every accumulator × compression × first level (chosen, none, tiny, small) × pool (enough chunks, one).
fn all_options() -> Vec<Options> {
    let mut all = vec![];
    for accumulator in [Accumulator::Auto, Accumulator::LinkedList, Accumulator::LinearProbe] {
        for compress in [Compress::Auto, Compress::On, Compress::Off] {
            for (first_level, max_occupancy) in [(None, 0.5), (Some(0), 0.5), (Some(3), 1.0), (Some(64), 0.3)] {
                for chunks in [None, Some(1)] {
                    let kk = KkSettings { first_level, max_occupancy, chunks, ..KkSettings::default() };
                    all.push(Options { policy: Policy::KkSpGemm, accumulator, compress, unsorted: false, kk });
                }
            }
        }
    }
    all
}

/// A·B with `options` equals `want`: at the first and later uses of a plan, in place, and unsorted.
fn by<R: Semiring>(
    cuda: &Cuda,
    ring: R,
    a: &DeviceCsr<Lhs<R>>,
    b: &DeviceCsr<Rhs<R>>,
    want: &Csr<Out<R>>,
    options: &Options,
) -> Outcome
where
    Out<R>: Same,
{
    let down = |c: &DeviceCsr<Out<R>>| cuda.download(c).map_err(text);
    let plan = cuda.plan(a, b).options(options).eval().map_err(text)?;
    let about = |e: String| format!("{e}\n{options:?}\n{}", plan.explain());
    if plan.nnz() != want.nnz() {
        return Err(about(format!("{} entries, expected {}", plan.nnz(), want.nnz())));
    }
    let mut c = cuda.mxm(ring, a, b).plan(&plan).eval().map_err(text)?;
    equal(&down(&c)?, want).map_err(|e| about(format!("found: {e}")))?;
    let again = cuda.mxm(ring, a, b).plan(&plan).eval().map_err(text)?;
    equal(&down(&again)?, want).map_err(|e| about(format!("known: {e}")))?;
    cuda.mxm(ring, a, b).plan(&plan).into(&mut c).map_err(text)?;
    equal(&down(&c)?, want).map_err(|e| about(format!("in place: {e}")))?;

    let plan = cuda.plan(a, b).options(&Options { unsorted: true, ..options.clone() }).eval().map_err(text)?;
    for state in ["found", "known"] {
        let c = cuda.mxm(ring, a, b).plan(&plan).eval().map_err(text)?;
        let sorted = cuda.sorted(&c).map_err(text)?;
        equal(&down(&sorted)?, want).map_err(|e| about(format!("unsorted, {state}: {e}")))?;
    }
    Ok(())
}

/// One in `every` combination of options, from number `from` on, for these operands.
fn ways<R: Semiring>(cuda: &Cuda, ring: R, pair: &AnyPair, from: usize, every: usize) -> Outcome
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    let (a, b) = (pair.a::<Lhs<R>>(), pair.b::<Rhs<R>>());
    let want = Cpu::with_threads(2).map_err(text)?.mxm(ring, &a, &b).eval().map_err(text)?;
    let (a, b) = (cuda.upload(&a).map_err(text)?, cuda.upload(&b).map_err(text)?);
    all_options().iter().skip(from % every).step_by(every).try_for_each(|o| by(cuda, ring, &a, &b, &want, o))
}

/// Random and awkward operands, `times` of them.
fn many<R: Semiring + Default>(times: u64)
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    let cuda = cuda();
    for seed in 0..times {
        let mut g = quickcheck::Gen::new(60);
        let mut pair: AnyPair = quickcheck::Arbitrary::arbitrary(&mut g);
        if seed % 3 == 0 {
            pair.a.shuffle = seed | 1;
        }
        // 7 is coprime to the 72 combinations, so that all are used.
        ways(&cuda, R::default(), &pair, seed as usize, 7).unwrap_or_else(|e| panic!("case {seed}: {e}\n{pair:?}"));
    }
}

macro_rules! as_on_cpu {
    ($($name:ident: $ring:ty;)*) => {$(
        #[test]
        #[ignore = "needs a GPU"]
        fn $name() { many::<$ring>(28) }
    )*};
}
as_on_cpu! {
    plus_times_f64: PlusTimes<f64>;
    plus_times_f32: PlusTimes<f32>;
    plus_times_i64: PlusTimes<i64>;
    min_plus: MinPlus<f64>;
    boolean: PlusTimes<bool>;
    plus_pair: PlusPair<i64>;
    positional: MinSecond;
    places: SumPlaces;
    a_users_struct: CountPaths;
    a_wide_struct: Detour;
    three_value_types: SumWhere;
}

fn pair(a: AnyPattern, b: AnyPattern, seed: u64) -> AnyPair {
    let mask = AnyPattern { ncols: b.ncols, rows: vec![vec![]; a.nrows()], shuffle: 0 };
    AnyPair { a, b, mask, seed }
}

/// Every combination, for rows of C of all lengths and vectors of 2 to 32 lanes.
#[test]
#[ignore = "needs a GPU"]
fn rows_of_every_weight() {
    let cuda = cuda();
    let mut rng = Rng(21);
    for (n, mean, heavy) in [(300, 1, 5), (400, 4, 60), (700, 12, 200), (900, 20, 700), (1500, 30, 1400)] {
        for shuffle in [0, 9] {
            let mut a = rows(&mut rng, n, n, mean.min(12), heavy.min(300));
            let mut b = rows(&mut rng, n, n, mean, heavy);
            (a.shuffle, b.shuffle) = (shuffle, shuffle);
            let case = pair(a, b, n as u64);
            ways(&cuda, PlusTimes::<f64>::default(), &case, 0, 1).unwrap_or_else(|e| panic!("{n} {mean}: {e}"));
            ways(&cuda, Detour::default(), &case, n, 5).unwrap_or_else(|e| panic!("{n} {mean}: {e}"));
        }
    }
}

/// Many more rows that need a second level than chunks, widely spaced columns, and long rows.
#[test]
#[ignore = "needs a GPU"]
fn long_rows_and_wide_matrices() {
    let cuda = cuda();
    let mut rng = Rng(22);
    for (nrows, inner, ncols, mean, heavy) in
        [(1200, 40, 20_000, 60, 9000), (200, 60, 3_000_000, 100, 5000), (60, 300, 12_000_000, 500, 4000)]
    {
        let a = rows(&mut rng, nrows, inner, 6, inner);
        let mut b = rows(&mut rng, inner, ncols, mean, heavy);
        b.rows[0].push(ncols as u32 - 1);
        b.rows[0].dedup();
        let case = pair(a, b, 3);
        ways(&cuda, PlusTimes::<f64>::default(), &case, 0, 5).unwrap_or_else(|e| panic!("{ncols} columns: {e}"));
        ways(&cuda, CountPaths::default(), &case, 3, 11).unwrap_or_else(|e| panic!("{ncols} columns: {e}"));
    }
}

/// All products of a row fall into one column: no parallelism within the row.
#[test]
#[ignore = "needs a GPU"]
fn one_column() {
    let cuda = cuda();
    let a = AnyPattern { ncols: 3000, rows: vec![(0..3000).collect(), vec![], vec![7]], shuffle: 5 };
    let b = AnyPattern { ncols: 40, rows: vec![vec![39]; 3000], shuffle: 0 };
    ways(&cuda, PlusTimes::<f64>::default(), &pair(a, b, 8), 0, 1).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
#[ignore = "needs a GPU"]
fn golden_products() {
    let cuda = cuda();
    for options in all_options().into_iter().step_by(5) {
        fn run<R: Semiring>(cuda: &Cuda, ring: R, a: &Csr<Lhs<R>>, b: &Csr<Rhs<R>>, o: &Options) -> Csr<Out<R>> {
            let (a, b) = (cuda.upload(a).expect("a"), cuda.upload(b).expect("b"));
            cuda.download(&cuda.mxm(ring, &a, &b).options(o.clone()).eval().expect("a product")).expect("c")
        }
        for golden::Case { name, ring, a, b, c: want } in golden::cases() {
            let c = match ring.as_str() {
                "plus_times" => run(&cuda, PlusTimes::<f64>::default(), &a, &b, &options),
                "min_plus" => run(&cuda, MinPlus::<f64>::default(), &a, &b, &options),
                "plus_pair" => run(&cuda, PlusPair::<f64>::default(), &a, &b, &options),
                "lor_land" => {
                    let truth = |x: &Csr<f64>| x.map(|&x| x != 0.0).expect("memory");
                    let c = run(&cuda, PlusTimes::<bool>::default(), &truth(&a), &truth(&b), &options);
                    c.map(|&x| f64::from(u8::from(x))).expect("memory")
                }
                "min_secondi" => run(&cuda, MinSecond::default(), &a, &b, &options).map(|&k| k as f64).expect("memory"),
                other => panic!("{name}: no ring {other}"),
            };
            check(&c, &want, true).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn empty_shapes() {
    let cuda = cuda();
    for (m, k, n) in [(0, 0, 0), (0, 5, 3), (4, 0, 3), (4, 5, 0), (0, 0, 7), (7, 0, 0), (1, 1, 1), (3, 4, 5)] {
        let empty = |m, n| cuda.upload(&Csr::<f64>::empty(m, n).expect("a matrix")).expect("memory");
        let (a, b) = (empty(m, k), empty(k, n));
        for options in all_options() {
            let c = cuda.mxm(PlusTimes::<f64>::default(), &a, &b).options(options).eval().expect("a product");
            assert_eq!((c.shape(), c.nnz()), ((m, n), 0));
        }
    }
}

/// One plan for two semirings whose values differ in size, hence in first levels: the pattern is the same.
#[test]
#[ignore = "needs a GPU"]
fn reuse_over_another_ring() {
    let cuda = cuda();
    let cpu = Cpu::new();
    let mut rng = Rng(23);
    let case = pair(rows(&mut rng, 300, 300, 8, 150), rows(&mut rng, 300, 300, 8, 150), 1);
    let want = cpu.mxm(Detour::default(), &case.a::<f64>(), &case.b::<f64>()).eval().expect("values");
    let (a, b) = (cuda.upload(&case.a::<f64>()).expect("a"), cuda.upload(&case.b::<f64>()).expect("b"));
    for accumulator in [Accumulator::LinkedList, Accumulator::LinearProbe] {
        for unsorted in [false, true] {
            let options = Options { accumulator, unsorted, ..kk() };
            let plan = cuda.plan(&a, &b).options(&options).eval().expect("a plan");
            assert!(plan.pattern().is_none(), "columns are not known yet");
            let first = cuda.mxm(PlusTimes::<f64>::default(), &a, &b).plan(&plan).eval().expect("values");
            let second = cuda.mxm(Detour::default(), &a, &b).plan(&plan).eval().expect("values");
            assert!(plan.pattern().is_some());
            assert!(Arc::ptr_eq(first.pattern(), second.pattern()), "two copies of one pattern");
            if !unsorted {
                let second = cuda.download(&second).expect("c");
                equal(&second, &want).unwrap_or_else(|e| panic!("{accumulator:?}: {e}"));
            }
        }
    }
    // The order of linked lists is deterministic, even unsorted.
    let options = Options { accumulator: Accumulator::LinkedList, unsorted: true, ..kk() };
    let run = || -> Csr<f64> {
        let c = cuda.mxm(PlusTimes::<f64>::default(), &a, &b).options(options.clone()).eval().expect("a product");
        cuda.download(&c).expect("c")
    };
    let (x, y) = (run(), run());
    assert!(identical(&x, &y), "another run, another order");
}

#[test]
#[ignore = "needs a GPU"]
fn figures_and_reasons_are_told() {
    let cuda = cuda();
    let mut rng = Rng(24);
    // Rows of B are runs of columns, so that they compress well.
    let runs = AnyPattern { ncols: 600, rows: vec![(64..128).collect(); 50], shuffle: 0 };
    let case = pair(rows(&mut rng, 200, 50, 1, 5), runs, 1);
    let (a, b) = (case.a::<f64>(), case.b::<f64>());
    let (on_a, on_b) = (cuda.upload(&a).expect("a"), cuda.upload(&b).expect("b"));
    let plan = |options: &Options| cuda.plan(&on_a, &on_b).options(options).eval().expect("a plan");
    let (ours, few) = (plan(&Options::default()), plan(&Options { compress: Compress::Off, ..kk() }));
    let plan = plan(&kk());
    let saved = *plan.compression().expect("it was counted");
    let want =
        sparring::spgemm::compression(Cpu::new().threads(), a.pattern(), b.pattern()).expect("figures of the CPU");
    assert_eq!(saved, want);
    assert!(saved.cf < 0.04, "{saved:?}");
    let why = plan.explain();
    assert!(why.starts_with("kkSpGEMM: kk") && why.contains("32 lanes") && why.contains("(CF 0.03 <= 0.85)"), "{why}");
    assert!(why.ends_with("; rows sorted at the end"), "{why}");
    assert!(few.compression().is_none());
    assert!(few.explain().contains("not compressed (forced)"), "{}", few.explain());
    assert!(!ours.explain().contains("kk") && ours.pattern().is_some(), "{}", ours.explain());
}

#[test]
#[ignore = "needs a GPU"]
fn what_makes_no_sense_is_refused() {
    let cuda = cuda();
    let up = |a: Csr<f64>| cuda.upload(&a).expect("memory");
    let empty = |m, n| up(Csr::empty(m, n).expect("a matrix"));
    let planned = |a: &DeviceCsr<f64>, b: &DeviceCsr<f64>, options: &Options| cuda.plan(a, b).options(options).eval();
    let (a, b) = (empty(3, 4), empty(5, 6));
    assert!(matches!(planned(&a, &b, &kk()), Err(Error::Shape { op: "mxm", lhs: (3, 4), rhs: (5, 6) })));
    let b = empty(4, 6);
    let dense = Options { accumulator: Accumulator::Dense, ..kk() };
    let refused = planned(&a, &b, &dense).expect_err("a dense accumulator").to_string();
    assert!(refused.contains("dense accumulator") && refused.contains("LinkedList"), "{refused}");
    let packed = Options { compress: Compress::On, ..Options::default() };
    assert!(matches!(planned(&a, &b, &packed), Err(Error::Unsupported { .. })));
    let none = Options { kk: KkSettings { chunks: Some(0), ..KkSettings::default() }, ..kk() };
    assert!(matches!(planned(&a, &b, &none), Err(Error::Argument { name: "chunks", .. })));
    // A plan recognizes its operands and its own results.
    let a = up(Csr::new(2, 2, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]).expect("a"));
    let moved = up(Csr::new(2, 2, vec![0, 1, 2], vec![1, 1], vec![1.0, 2.0]).expect("moved"));
    let ring = PlusTimes::<f64>::default();
    let plan = planned(&a, &a, &kk()).expect("a plan");
    let refused = cuda.mxm(ring, &moved, &a).plan(&plan).eval();
    assert!(matches!(refused, Err(Error::PatternChanged { operand: "A", .. })));
    let mut other = cuda.mxm(ring, &a, &a).eval().expect("a product");
    let refused = cuda.numeric_into(&plan, ring, &a, &a, &mut other);
    assert!(matches!(refused, Err(Error::PatternChanged { operand: "C", .. })), "{refused:?}");
    // A chain overwrites the result of another plan.
    cuda.mxm(ring, &a, &a).plan(&plan).into(&mut other).expect("values");
    assert_eq!(cuda.download::<f64, u32>(&other).expect("c").values(), [1.0, 4.0]);
}

/// A pool that exceeds memory is reduced. One long row makes its chunks large, and many rows need one.
#[test]
#[ignore = "needs a GPU"]
fn a_pool_keeps_to_the_budget() {
    let cuda = cuda();
    let mut rng = Rng(25);
    let mut b = rows(&mut rng, 61, 200_000, 2000, 2000);
    b.rows[60] = (0..300).collect();
    let mut a = AnyPattern { ncols: 61, rows: vec![vec![60]; 600], shuffle: 0 };
    a.rows[300] = (0..60).collect();
    let case = pair(a, b, 1);
    let (a, b) = (case.a::<f64>(), case.b::<f64>());
    let ring = PlusTimes::<f64>::default();
    let want = Cpu::new().mxm(ring, &a, &b).eval().expect("a product");
    let (a, b) = (cuda.upload(&a).expect("a"), cuda.upload(&b).expect("b"));
    // Memory for C and for sorting it, and a little for the pool, which would prefer more than a gigabyte.
    let budget = cuda.used_memory().expect("a figure") + 100 * want.nnz() as u64 + (16 << 20);
    let cuda = cuda.memory_budget(budget);
    for accumulator in [Accumulator::LinkedList, Accumulator::LinearProbe] {
        let kk = KkSettings { first_level: Some(16), ..KkSettings::default() };
        let c = cuda.mxm(ring, &a, &b).options(Options { accumulator, kk, ..Options::default() }).eval();
        let c: Csr<f64> = cuda.download(&c.unwrap_or_else(|e| panic!("{accumulator:?}: {e}"))).expect("c");
        equal(&c, &want).unwrap_or_else(|e| panic!("{accumulator:?}: {e}"));
    }
}

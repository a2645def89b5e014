//! Products of sparse matrices compared with the textbook: every accumulator, compression, policy and row order.

mod common;
#[path = "spgemm/figures.rs"]
mod figures;
#[path = "spgemm/masked.rs"]
mod masked;
#[path = "spgemm/refused.rs"]
mod refused;
#[path = "spgemm/shapes.rs"]
mod shapes;

use std::sync::Arc;

use common::arbitrary::{AnyPair, AnyPattern, Draw, Rng};
use common::rings::{CountPaths, SumPlaces, SumWhere};
use common::{Same, check, reference};
use quickcheck::quickcheck;
use shapes::of_rows;
use sparring::algebra::{Lhs, Min, MinPlus, Monoid, Out, PlusPair, PlusTimes, Rhs, Ring, SecondIndex, Semiring};
use sparring::backend::Backend;
use sparring::spgemm::{Accumulator, Compress, Options, Policy};
use sparring::{Cpu, Csr, Error, Pattern};

type Outcome = Result<(), String>;
/// min over k: the first vertex through which an entry is reached.
type MinSecond = Ring<Min<u64>, SecondIndex<f64, f64, u64>>;

#[allow(clippy::needless_update)] // Options may grow; these four are what is forced here.
fn options(policy: Policy, accumulator: Accumulator, compress: Compress, unsorted: bool) -> Options {
    Options { policy, accumulator, compress, unsorted, ..Options::default() }
}

/// Every combination of forced options; explicit accumulators belong to kkSpGEMM, so our own policy takes only `Auto`.
fn all_options() -> Vec<Options> {
    let mut all = vec![];
    for (policy, accumulator) in [
        (Policy::Auto, Accumulator::Auto),
        (Policy::KkSpGemm, Accumulator::Auto),
        (Policy::KkSpGemm, Accumulator::LinkedList),
        (Policy::KkSpGemm, Accumulator::LinearProbe),
        (Policy::KkSpGemm, Accumulator::Dense),
    ] {
        for compress in [Compress::Auto, Compress::On, Compress::Off] {
            for unsorted in [false, true] {
                all.push(options(policy, accumulator, compress, unsorted));
            }
        }
    }
    all
}

fn text(e: Error) -> String {
    e.to_string()
}

/// A·B over `ring` with every combination of options, compared with the textbook.
fn is_the_definition<R: Semiring>(ring: R, pair: &AnyPair) -> Outcome
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    let cpu = Cpu::with_threads(2).map_err(text)?;
    let (a, b) = (pair.a::<Lhs<R>>(), pair.b::<Rhs<R>>());
    let want = reference::mxm(ring, &a, &b);
    for o in all_options() {
        let c = cpu.mxm(ring, &a, &b).options(o.clone()).eval().map_err(text)?;
        check(&c, &want, !o.unsorted).map_err(|e| format!("{o:?}: {e}"))?;
    }
    Ok(())
}

macro_rules! definition {
    ($($name:ident: $ring:ty;)*) => {quickcheck! {$(
        fn $name(pair: AnyPair) -> Outcome { is_the_definition(<$ring>::default(), &pair) }
    )*}};
}
definition! {
    plus_times_f64_is_the_definition: PlusTimes<f64>;
    plus_times_i64_is_the_definition: PlusTimes<i64>;
    min_plus_is_the_definition: MinPlus<f64>;
    boolean_is_the_definition: PlusTimes<bool>;
    plus_pair_is_the_definition: PlusPair<i64>;
    positional_is_the_definition: MinSecond;
    places_are_the_definition: SumPlaces;
    a_users_struct_is_the_definition: CountPaths;
    three_value_types_are_the_definition: SumWhere;
}

quickcheck! {
    /// Unsorted rows of A: exact values, because folds follow the order of A's row.
    fn shuffled_rows_of_a_give_the_same_entries(pair: AnyPair) -> Outcome {
        let mut pair = pair;
        pair.a.shuffle = pair.seed | 1;
        is_the_definition(PlusTimes::<i64>::default(), &pair)?;
        is_the_definition(CountPaths::default(), &pair)
    }

    /// One plan, several products: new values, another ring, the same pattern.
    fn reuse_equals_fresh_products(pair: AnyPair) -> Outcome {
        let cpu = Cpu::with_threads(2).map_err(text)?;
        for o in all_options() {
            let (a, b) = (pair.a::<f64>(), pair.b::<f64>());
            let plan = cpu.plan(&a, &b).options(&o).eval().map_err(text)?;
            let first = cpu.mxm(PlusTimes::<f64>::default(), &a, &b).plan(&plan).eval().map_err(text)?;
            check(&first, &reference::mxm(PlusTimes::<f64>::default(), &a, &b), !o.unsorted)?;

            let (a2, b2) = (a.map(|x| x * 3.0 + 1.0).map_err(text)?, b.map(|x| -x).map_err(text)?);
            let second = cpu.mxm(PlusTimes::<f64>::default(), &a2, &b2).plan(&plan).eval().map_err(text)?;
            check(&second, &reference::mxm(PlusTimes::<f64>::default(), &a2, &b2), !o.unsorted)?;

            let third = cpu.mxm(MinPlus::<f64>::default(), &a, &b).plan(&plan).eval().map_err(text)?;
            check(&third, &reference::mxm(MinPlus::<f64>::default(), &a, &b), !o.unsorted)?;

            let mut into = first;
            let pattern = Arc::clone(into.pattern());
            cpu.mxm(PlusTimes::<f64>::default(), &a2, &b2).plan(&plan).into(&mut into).map_err(text)?;
            check(&into, &reference::mxm(PlusTimes::<f64>::default(), &a2, &b2), !o.unsorted)?;
            if !Arc::ptr_eq(&pattern, into.pattern()) {
                return Err(format!("{o:?}: numeric_into replaced the pattern"));
            }
        }
        Ok(())
    }

    /// The figures of a plan, recounted.
    fn figures_are_counted_right(pair: AnyPair) -> Outcome {
        let cpu = Cpu::new();
        let (a, b) = (pair.a::<f64>(), pair.b::<f64>());
        let flops = reference::row_flops(a.pattern(), b.pattern());
        let c = reference::mxm(PlusTimes::<f64>::default(), &a, &b);
        for o in all_options() {
            let plan = cpu.plan(&a, &b).options(&o).eval().map_err(text)?;
            let s = plan.stats();
            let counted = cpu.plan(&a, &b).options(&o).count().map_err(text)?;
            if counted != *s {
                return Err(format!("{o:?}: counted {counted:?}, planned {s:?}"));
            }
            let found = (s.flops, plan.flops(), s.max_row_flops, s.max_row_nnz, s.nnz, plan.nnz());
            let sum = flops.iter().sum();
            let want = (sum, sum, flops.iter().copied().max().unwrap_or(0), c.max_row_nnz(), c.entries.len(), c.entries.len());
            if found != want {
                return Err(format!("{o:?}: {found:?}, counted {want:?}"));
            }
            if plan.explain().is_empty() {
                return Err("a plan that explains nothing".into());
            }
        }
        Ok(())
    }

    /// 64-bit columns give the same results as 32-bit ones.
    fn wide_indices_change_nothing(pair: AnyPair) -> Outcome {
        let wide = |x: &Csr<f64>| {
            let cols = x.col_idx().iter().map(|&j| u64::from(j)).collect();
            Csr::<f64, u64>::from_unsorted(x.nrows(), x.ncols(), x.row_ptr().to_vec(), cols, x.values().to_vec())
        };
        let (a, b) = (pair.a::<f64>(), pair.b::<f64>());
        let (wa, wb) = (wide(&a).map_err(text)?, wide(&b).map_err(text)?);
        let want = reference::mxm(PlusTimes::<f64>::default(), &a, &b);
        for o in all_options() {
            let c = Cpu::new().mxm(PlusTimes::<f64>::default(), &wa, &wb).options(o.clone()).eval().map_err(text)?;
            check(&c, &want, !o.unsorted).map_err(|e| format!("{o:?}: {e}"))?;
        }
        Ok(())
    }
}

/// CF covers all multiplications, however many entries A has.
#[test]
fn the_part_that_remains_is_that_of_all_of_a() {
    // 100 000 entries, each times a row of 16 columns in a single word.
    let a = of_rows(200, vec![(0..200).collect(); 500]);
    let b = of_rows(64, vec![(8..24).collect(); 200]);
    let on = options(Policy::Auto, Accumulator::Auto, Compress::On, false);
    let said = Cpu::new().plan(&a, &b).options(&on).eval().expect("a plan").explain();
    assert!(said.contains("64 columns to a word, CF 0.06"), "{said}");
}

/// Every shape without entries.
#[test]
fn empty_shapes_multiply() {
    let cpu = Cpu::with_threads(2).expect("threads");
    for (m, k, n) in [(0, 0, 0), (0, 5, 3), (4, 0, 3), (4, 5, 0), (0, 0, 7), (7, 0, 0), (1, 1, 1), (3, 4, 5)] {
        let a = Csr::<f64>::empty(m, k).expect("a");
        let b = Csr::<f64>::empty(k, n).expect("b");
        let mask = Pattern::<u32>::empty(m, n).expect("mask");
        for o in all_options() {
            let c = cpu.mxm(PlusTimes::<f64>::default(), &a, &b).options(o.clone()).eval().expect("a product");
            assert_eq!((c.shape(), c.nnz()), ((m, n), 0), "{o:?}");
        }
        for complement in [false, true] {
            for o in masked::all_options(complement) {
                let p = cpu.mxm(PlusTimes::<f64>::default(), &a, &b).options(o.clone()).mask(mask.clone());
                let c = if complement { p.complement() } else { p }.eval().expect("a masked product");
                assert_eq!((c.shape(), c.nnz()), ((m, n), 0), "{o:?}");
            }
        }
    }
}

/// An option is applied and shown by the plan, or it is refused.
#[test]
fn options_are_followed_or_refused() {
    let cpu = Cpu::with_threads(2).expect("threads");
    let a = AnyPattern::of_shape(&mut Rng(5), 40, 40).matrix::<f64>(1);
    let plan = |o: &Options| cpu.plan(&a, &a).options(o).eval().expect("a plan").explain();
    for o in all_options() {
        let said = plan(&o);
        let theirs = o.policy == Policy::KkSpGemm;
        assert_eq!(said.starts_with("auto: "), !theirs, "{o:?}: {said}");
        match o.accumulator {
            Accumulator::Auto => assert!(!theirs || said.contains("dense numeric (k 40 < 250,000)"), "{said}"),
            Accumulator::LinkedList => assert!(said.contains("LL numeric (forced)"), "{said}"),
            Accumulator::LinearProbe => assert!(said.contains("LP numeric (forced)"), "{said}"),
            Accumulator::Dense => assert!(said.contains("dense numeric (forced)"), "{said}"),
        }
        match o.compress {
            Compress::Auto => {}
            Compress::On => assert!(said.contains("compressed (") && !said.contains("not compressed"), "{said}"),
            Compress::Off => assert!(said.contains("not compressed") || said.contains("B uncompressed"), "{said}"),
        }
        let order = if theirs { "rows sorted at the end" } else { "rows sorted, though unsorted rows were allowed" };
        assert_eq!(said.contains(order), o.unsorted != theirs, "{o:?}: {said}");
    }
    for accumulator in [Accumulator::LinkedList, Accumulator::LinearProbe, Accumulator::Dense] {
        let ours = options(Policy::Auto, accumulator, Compress::Auto, false);
        let theirs = plan(&Options { policy: Policy::KkSpGemm, ..ours.clone() });
        assert_eq!(plan(&ours), format!("accumulators of {theirs}"));
    }
    let mask = a.pattern().clone();
    for complement in [false, true] {
        let masked = |o: Options| {
            let p = cpu.mxm(PlusTimes::<f64>::default(), &a, &a).options(o).mask(mask.clone());
            if complement { p.complement() } else { p }.eval()
        };
        for (o, name) in [
            (options(Policy::KkSpGemm, Accumulator::Auto, Compress::Auto, false), "policy"),
            (options(Policy::Auto, Accumulator::LinkedList, Compress::Auto, false), "accumulator"),
            (options(Policy::Auto, Accumulator::Auto, Compress::On, false), "compress"),
        ] {
            match masked(o) {
                Err(Error::Argument { name: found, .. }) => assert_eq!(found, name),
                Ok(_) => assert!(complement && name == "compress", "{name}"),
                Err(e) => panic!("{e}"),
            }
        }
    }
}

/// Stored zeros and zeros by cancellation are entries; a sum starts at +0, so no entry is −0.
#[test]
fn zeros_stay_entries() {
    let a = Csr::<f64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1.0, 1.0, -0.0]).expect("a");
    let b = Csr::<f64>::new(2, 1, vec![0, 1, 2], vec![0, 0], vec![5.0, -5.0]).expect("b");
    for o in all_options() {
        let c = Cpu::new().mxm(PlusTimes::<f64>::default(), &a, &b).options(o).eval().expect("a product");
        assert_eq!(c.nnz(), 2);
        assert!(c.values().iter().all(|x| x.to_bits() == 0), "{:?}", c.values());
    }
}

/// Folds start at the identity of ⊕, so a user-defined monoid must state it correctly for these tests to be meaningful.
#[test]
fn the_users_monoid_has_an_identity() {
    let mut rng = Rng(1);
    for _ in 0..100 {
        let x = common::rings::Paths::draw(&mut rng);
        let e = <common::rings::Either as Monoid>::IDENTITY;
        let f = |a, b| {
            use sparring::algebra::{BinaryOp, Host, V};
            common::rings::Either::new().apply::<Host>(V(a), V(b)).0
        };
        assert_eq!((f(e, x), f(x, e)), (x, x));
    }
}

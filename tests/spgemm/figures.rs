//! Products with known results: worked out by hand, published, or listed with the data.

use std::collections::BTreeMap;

use sparring::algebra::{Lhs, MinPlus, Out, PlusPair, PlusTimes, Rhs, Semiring};
use sparring::backend::Backend;
use sparring::spgemm::{Accumulator, Compress, Options, Policy};
use sparring::{Cpu, Csr};

use crate::common::{check, data, golden, reference};
use crate::{MinSecond, all_options, options};

/// Small products written out by hand, with every combination of options.
#[test]
fn golden_products() {
    let mut rings = BTreeMap::new();
    for golden::Case { name, ring, a, b, c: want } in golden::cases() {
        *rings.entry(ring.clone()).or_insert(0) += 1;
        fn run<R: Semiring>(ring: R, a: &Csr<Lhs<R>>, b: &Csr<Rhs<R>>, o: &Options) -> Csr<Out<R>> {
            Cpu::new().mxm(ring, a, b).options(o.clone()).eval().expect("a product")
        }
        for o in all_options() {
            let c = match ring.as_str() {
                "plus_times" => run(PlusTimes::<f64>::default(), &a, &b, &o),
                "min_plus" => run(MinPlus::<f64>::default(), &a, &b, &o),
                "plus_pair" => run(PlusPair::<f64>::default(), &a, &b, &o),
                "lor_land" => {
                    let truth = |x: &Csr<f64>| x.map(|&x| x != 0.0).expect("memory");
                    let c = run(PlusTimes::<bool>::default(), &truth(&a), &truth(&b), &o);
                    c.map(|&x| f64::from(u8::from(x))).expect("memory")
                }
                "min_secondi" => run(MinSecond::default(), &a, &b, &o).map(|&k| k as f64).expect("memory"),
                other => panic!("{name}: no ring {other}"),
            };
            check(&c, &want, !o.unsorted).unwrap_or_else(|e| panic!("{name}, {o:?}: {e}"));
        }
    }
    assert_eq!(rings.len(), 5, "each ring has a case: {rings:?}");
}

/// Figures of A·A compared with known ones; CF and CMRF where known.
fn figures_are_the_known_ones(fact: &data::Fact) {
    let a = fact.read();
    assert_eq!(a.nnz() as u64, fact.number("nnz"), "{}", fact.name());
    let cpu = Cpu::with_threads(2).expect("threads");
    let plan = cpu
        .plan(&a, &a)
        .options(&options(Policy::KkSpGemm, Accumulator::Auto, Compress::On, false))
        .eval()
        .expect("a plan");
    let s = plan.stats();
    let found = [s.flops, s.max_row_flops, s.max_row_nnz as u64, s.nnz as u64];
    assert_eq!(found, ["fm", "maxrf", "maxrs", "nnzC"].map(|f| fact.number(f)), "{}", fact.name());
    for (figure, known) in [(s.cf, fact.fraction("cf")), (s.cmrf, fact.fraction("cmrf"))] {
        if let Some(known) = known {
            let figure = figure.unwrap_or_else(|| panic!("{}: compression on, but not counted", fact.name()));
            assert!((figure - known).abs() <= 0.005 + 1e-12, "{}: {figure}, published {known}", fact.name());
        }
    }
    // The same pattern by another algorithm; and the values: the sum of C is that of A·(A·1).
    let other = cpu
        .plan(&a, &a)
        .options(&options(Policy::Auto, Accumulator::Auto, Compress::Off, false))
        .eval()
        .expect("a plan");
    assert_eq!(other.nnz() as u64, fact.number("nnzC"), "{}", fact.name());
    drop(plan);
    let ones = a.map(|_| 1i64).expect("memory");
    let c = cpu.mxm(PlusTimes::<i64>::default(), &ones, &ones).plan(&other).eval().expect("a product");
    assert_eq!(c.values().iter().sum::<i64>() as u64, fact.number("fm"), "{}", fact.name());
    assert!(c.pattern().is_sorted());
}

macro_rules! known {
    ($($name:ident: $file:literal;)*) => {$(
        #[test]
        fn $name() {
            let facts = data::facts();
            let fact = facts.iter().find(|f| f.name() == $file).expect("listed in data/index.json");
            figures_are_the_known_ones(fact);
        }
    )*};
}
known! {
    figures_of_ca_hepph: "ca-HepPh.mtx.gz";
    figures_of_cnr_2000: "cnr-2000.mtx.gz";
    figures_of_email_enron: "email-Enron.mtx.gz";
}

#[test]
fn figures_of_the_small_files() {
    let small = data::facts().into_iter().filter(|f| f.is_square() && f.number("fm") < 30_000_000);
    assert!(small.inspect(figures_are_the_known_ones).count() >= 5);
}

/// A·Aᵀ of a rectangular matrix.
#[test]
fn a_rectangular_file_times_its_transpose() {
    let facts = data::facts();
    let fact = facts.iter().find(|f| !f.is_tensor() && !f.is_square()).expect("a rectangular file");
    let a = fact.read();
    let t = reference::transpose(&a);
    let mut row_ptr = vec![0; a.ncols() + 1];
    for &(i, _) in t.entries.keys() {
        row_ptr[i + 1] += 1;
    }
    (0..a.ncols()).for_each(|i| row_ptr[i + 1] += row_ptr[i]);
    let cols = t.entries.keys().map(|&(_, j)| j as u32).collect();
    let at = Csr::<f64>::new(a.ncols(), a.nrows(), row_ptr, cols, t.entries.values().copied().collect()).expect("Aᵀ");
    let want = reference::mxm(PlusTimes::<f64>::default(), &a, &at);
    assert_eq!(want.entries.len() as u64, fact.number("nnzC"));
    for o in all_options() {
        let c = Cpu::new().mxm(PlusTimes::<f64>::default(), &a, &at).options(o.clone()).eval().expect("a product");
        check(&c, &want, !o.unsorted).unwrap_or_else(|e| panic!("{o:?}: {e}"));
    }
}

#[test]
fn figures_of_the_collection() {
    for fact in data::collection().iter().filter(|f| f.is_square()) {
        figures_are_the_known_ones(fact);
    }
}

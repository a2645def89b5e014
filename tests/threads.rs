//! Results do not depend on the number of threads: bitwise equality for 1, 2, 3 and 8.

mod common;

use common::arbitrary::{AnyGraph, AnyPair, AnyPattern, Draw, Rng};
use common::rings::CountPaths;
use common::{Same, data, identical};
use quickcheck::quickcheck;
use sparring::algebra::{Lhs, MinPlus, Out, PlusTimes, Rhs, Semiring};
use sparring::backend::Backend;
use sparring::graph::{TriangleMethod, triangles};
use sparring::spgemm::{Accumulator, Options};
use sparring::{Cpu, Csr, Error};

const THREADS: [usize; 4] = [1, 2, 3, 8];
const ACCUMULATORS: [Accumulator; 4] =
    [Accumulator::Auto, Accumulator::LinkedList, Accumulator::LinearProbe, Accumulator::Dense];

fn cpu(threads: usize) -> Cpu {
    Cpu::with_threads(threads).expect("threads")
}

/// One product on every number of threads, all the same arrays, plans' figures included.
fn the_same_on_all<R: Semiring>(ring: R, a: &Csr<Lhs<R>>, b: &Csr<Rhs<R>>, options: &Options) -> Result<(), String>
where
    Out<R>: Same,
{
    let run = |threads| -> Result<_, Error> {
        let cpu = cpu(threads);
        let plan = cpu.plan(a, b).options(options).eval()?;
        Ok((
            plan.stats().clone(),
            cpu.mxm(ring, a, b).plan(&plan).eval()?,
            cpu.mxm(ring, a, b).options(options.clone()).eval()?,
        ))
    };
    let text = |e: Error| e.to_string();
    let (stats, planned, direct) = run(1).map_err(text)?;
    for threads in THREADS {
        let (s, p, d) = run(threads).map_err(text)?;
        if s != stats || !identical(&p, &planned) || !identical(&d, &direct) {
            return Err(format!("{options:?}: {threads} threads differ from 1"));
        }
    }
    Ok(())
}

#[allow(clippy::needless_update)] // Options may grow.
fn all_options() -> impl Iterator<Item = Options> {
    ACCUMULATORS
        .into_iter()
        .flat_map(|accumulator| [false, true].map(|unsorted| Options { accumulator, unsorted, ..Options::default() }))
}

quickcheck! {
    fn products_are_the_same_bits(pair: AnyPair) -> Result<(), String> {
        for o in all_options() {
            the_same_on_all(PlusTimes::<f64>::default(), &pair.a(), &pair.b(), &o)?;
            the_same_on_all(MinPlus::<f64>::default(), &pair.a(), &pair.b(), &o)?;
            the_same_on_all(CountPaths::default(), &pair.a(), &pair.b(), &o)?;
        }
        Ok(())
    }

    fn masked_products_are_the_same_bits(pair: AnyPair) -> bool {
        let (a, b) = (pair.a::<f64>(), pair.b::<f64>());
        let mask = pair.mask.pattern();
        [false, true].into_iter().all(|complement| {
            let run = |threads| {
                let cpu = cpu(threads);
                let p = cpu.mxm(PlusTimes::<f64>::default(), &a, &b).mask(mask.clone());
                if complement { p.complement() } else { p }.eval().expect("a product")
            };
            let one = run(1);
            THREADS.into_iter().all(|t| identical(&one, &run(t)))
        })
    }

    fn triangles_are_the_same_number(graph: AnyGraph) -> bool {
        let a = graph.0.matrix::<f64>(0);
        [TriangleMethod::Auto, TriangleMethod::Masked, TriangleMethod::Compressed].into_iter().all(|method| {
            let run = |threads| triangles(&cpu(threads), &a, method).expect("a count").count;
            THREADS.into_iter().all(|t| run(1) == run(t))
        })
    }
}

/// A graph large enough to be split among threads for real, with sums that another order would round differently.
#[test]
fn a_real_graph_is_the_same_bits() {
    let graph = data::named("wiki-Vote");
    let mut rng = Rng(11);
    let values = (0..graph.nnz()).map(|_| (rng.next() >> 11) as f64 * 2f64.powi(-53) + 0.5).collect();
    let a = Csr::with_pattern(graph.pattern().clone(), values).expect("values");
    for o in all_options() {
        the_same_on_all(PlusTimes::<f64>::default(), &a, &a, &o).unwrap();
    }
}

/// One row carries nearly all the work: however it is shared out, its folds run in the order of k.
#[test]
fn one_heavy_row_is_the_same_bits() {
    let n = 20_000;
    let mut rng = Rng(3);
    let mut rows: Vec<Vec<u32>> = (0..n).map(|_| (0..6).map(|_| rng.below(n) as u32).collect()).collect();
    rows[7777] = (0..n as u32).collect();
    for row in &mut rows {
        row.sort_unstable();
        row.dedup();
    }
    let pattern = AnyPattern { ncols: n, rows, shuffle: 0 };
    let values = (0..pattern.rows.iter().map(Vec::len).sum()).map(|i| f64::draw(&mut Rng(i as u64))).collect();
    let a = Csr::with_pattern(pattern.pattern(), values).expect("values");
    for o in all_options() {
        the_same_on_all(PlusTimes::<f64>::default(), &a, &a, &o).unwrap();
    }
}

/// What goes between threads may.
#[test]
fn values_may_go_between_threads() {
    fn both<T: Send + Sync>() {}
    both::<Cpu>();
    both::<Csr<f64>>();
    both::<Csr<f64, u64>>();
    both::<sparring::Coo<f64>>();
    both::<sparring::Pattern>();
    both::<sparring::spgemm::Plan>();
    both::<Error>();
}

/// Several callers share one `Cpu`, and a caller may be inside another pool.
#[test]
fn one_cpu_serves_many_callers() {
    let cpu = cpu(3);
    let a = data::named("west0479");
    let want = cpu.mxm(PlusTimes::<f64>::default(), &a, &a).eval().expect("a product");
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for _ in 0..5 {
                    let c = cpu.mxm(PlusTimes::<f64>::default(), &a, &a).eval().expect("a product");
                    assert!(identical(&c, &want));
                }
            });
        }
    });
    let inside = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    let c = inside.install(|| Cpu::new().mxm(PlusTimes::<f64>::default(), &a, &a).eval().expect("a product"));
    assert!(identical(&c, &want));
    let c = inside.install(|| cpu.mxm(PlusTimes::<f64>::default(), &a, &a).eval().expect("a product"));
    assert!(identical(&c, &want));
}

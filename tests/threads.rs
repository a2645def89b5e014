//! Results do not depend on the number of threads: bitwise equality for 1, 2, 3 and 8 threads.

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

/// One product with every number of threads: identical arrays, including the figures of the plans.
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
        [TriangleMethod::Auto, TriangleMethod::Masked, TriangleMethod::Compressed, TriangleMethod::Direct].into_iter().all(|method| {
            let run = |threads| triangles(&cpu(threads), &a, method).expect("a count").count;
            THREADS.into_iter().all(|t| run(1) == run(t))
        })
    }
}

/// A graph large enough to be split among threads, with sums that would round differently in another order.
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

/// One row carries nearly all the work: however it is split, its folds run in the order of k.
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

/// Types that cross threads are `Send` and `Sync`.
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

/// A tridiagonal matrix, larger than one task.
fn many_rows() -> Csr<f64> {
    let n = 40_000u32;
    let rows = (0..n).map(|i| i.saturating_sub(1)..(i + 2).min(n));
    let row_ptr = std::iter::once(0).chain(rows.clone().scan(0, |end, row| {
        *end += row.len();
        Some(*end)
    }));
    let cols: Vec<u32> = rows.clone().flatten().collect();
    let values = (0..cols.len()).map(|p| 1.0 + p as f64 / 7.0).collect();
    Csr::new(n as usize, n as usize, row_ptr.collect(), cols, values).expect("a matrix")
}

fn square(cpu: &Cpu, a: &Csr<f64>) -> Csr<f64> {
    cpu.mxm(PlusTimes::<f64>::default(), a, a).eval().expect("a product")
}

/// Exit status of a forked child, within twenty seconds.
#[cfg(target_os = "linux")]
fn in_child(work: impl FnOnce() -> bool) -> Option<i32> {
    // SAFETY: 1. the child calls nothing that the C library forbids after `fork`: glibc makes its allocator usable;
    //         2. it ends by `_exit`, so no code of the parent runs twice.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::alarm(20);
            let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(false);
            libc::_exit(if worked { 0 } else { 1 });
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
    }
}

/// The parent's threads do not exist in the child; waiting for them would never end.
#[test]
#[cfg(target_os = "linux")]
fn a_child_of_fork_has_threads_of_its_own() {
    let a = many_rows();
    let (two, here) = (cpu(2), Cpu::new());
    let want = square(&two, &a);
    assert!(identical(&square(&here, &a), &want));
    let all = || {
        let new = cpu(2);
        [&two, &here, &new].map(|cpu| identical(&square(cpu, &a), &want)).iter().all(|&same| same)
            && (two.threads().count(), new.threads().count()) == (2, 2)
    };
    assert_eq!(in_child(all), Some(0));
    // And in a child of the child.
    assert_eq!(in_child(|| all() && in_child(all) == Some(0)), Some(0));
    // A pool that was never used, and one that is dropped in the child.
    let (fresh, dropped, same) = (cpu(3), cpu(2), |c: &Csr<f64>| identical(c, &want));
    let a = &a;
    assert_eq!(
        in_child(move || {
            drop(dropped);
            same(&square(&fresh, a))
        }),
        Some(0)
    );
    assert!(all(), "the parent's are as they were");
}

/// Threads cannot be created: explicit requests fail, and other calls run on the caller's thread.
#[test]
fn threads_that_cannot_be_had() {
    const CHILD: &str = "SPARRING_TEST_WITHOUT_THREADS";
    let name = "threads_that_cannot_be_had";
    if std::env::var_os(CHILD).is_none() {
        let out = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", name, "--nocapture", "--test-threads=1"])
            // A stack larger than the address space.
            .envs([(CHILD, "1"), ("RUST_MIN_STACK", "140737488355328")])
            .output()
            .expect("a child");
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && String::from_utf8_lossy(&out.stdout).contains("1 passed"), "{said}");
        return;
    }
    let a = many_rows();
    let refused = Cpu::with_threads(2).map(|_| ());
    assert!(matches!(refused, Err(Error::Threads { threads: 2, .. })), "{refused:?}");
    let here = Cpu::new();
    assert_eq!(here.threads().count(), 1);
    let c = square(&here, &a);
    assert_eq!(c.nnz(), 5 * a.nrows() - 6);
    // Code that uses rayon's current pool runs on the caller's thread.
    let mut text = Vec::new();
    sparring::io::write_matrix_market_to(&mut text, &c, &sparring::io::WriteOptions::new()).expect("text");
    let read = sparring::io::parse_matrix_market(&text, "text").expect("a file").coo::<f64>().expect("entries");
    assert!(identical(&read.to_csr(sparring::algebra::Plus::new()).expect("rows"), &c));
    assert_eq!(here.threads().install(|| rayon::join(|| 1, || 2)), (1, 2));
}

/// Running on the caller's thread starts no threads.
#[test]
#[cfg(target_os = "linux")]
fn the_callers_thread_starts_no_others() {
    const CHILD: &str = "SPARRING_TEST_CALLER";
    if std::env::var_os(CHILD).is_none() {
        let out = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "the_callers_thread_starts_no_others", "--test-threads=1"])
            .env(CHILD, "1")
            .output()
            .expect("a child");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
        return;
    }
    let threads = || std::fs::read_dir("/proc/self/task").expect("threads").count();
    let before = threads();
    let (a, caller) = (many_rows(), sparring::par::Threads::caller());
    assert_eq!(caller.count(), 1);
    assert_eq!(a.transpose(&caller).expect("a transpose").nnz(), a.nnz());
    let (nrows, cols, values) = (a.nrows(), a.col_idx().to_vec(), a.values().to_vec());
    let rows = a.iter().map(|(i, _, _)| i as u32).collect();
    let made =
        sparring::runtime::Matrix::from_coo(&caller, nrows, nrows, rows, cols, sparring::algebra::Array::of(values));
    assert_eq!(made.expect("a matrix").nnz(), a.nnz());
    assert_eq!(threads(), before);
    let _ = square(&Cpu::new(), &a);
    assert!(threads() > before || std::thread::available_parallelism().is_ok_and(|n| n.get() == 1));
}

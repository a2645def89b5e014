//! Products A·A, phase by phase, and the savings of compressing the columns of B.
//!
//! ```sh
//! cargo bench --bench spgemm                                        # a few cases, some minutes
//! SPARRING_BENCH=rmat14,data/cnr-2000.mtx.gz cargo bench --bench spgemm
//! SPARRING_BENCH=all cargo bench --bench spgemm -- symbolic         # all generated cases and all files of data/
//! ```
//! Elements per second are floating-point operations per second, two per multiplication in every group,
//! so that phases can be compared. `RAYON_NUM_THREADS` sets the threads.
//!
//! | group | measures |
//! | --- | --- |
//! | `sorted`, `unsorted` | plan and values, as for a product used once |
//! | `symbolic` | the plan alone, as chosen |
//! | `symbolic, compressed`, `symbolic, uncompressed` | the plan with the choice forced; CF is printed for each case |
//! | `numeric only` | values recomputed in a matrix built by the plan |
//! | `numeric only, own operators` | `numeric only` with + and × defined by `op!` |
//! | `kkSpGEMM, sorted` | as `sorted`, by the paper's policy |
//!
//! The two forced groups reproduce the comparison of Deveci, Trott, Rajamanickam 2018, §4.1: compression pays where CF
//! is small, and not where it is close to 1.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sparring::algebra::{Num, PlusTimes, Ring};
use sparring::backend::Backend;
use sparring::spgemm::{Compress, Options, Policy, compression};
use sparring::{Cpu, Csr, io};
use sparring_generate as generate;

/// Short rows, long rows, a regular mesh, a web graph: seconds each, not minutes.
const FEW: [&str; 5] = ["data/bcsstk16.mtx.gz", "data/ca-HepPh.mtx.gz", "tc_rmat10", "lap2d_1000", "web18"];

fn names() -> Vec<String> {
    match std::env::var("SPARRING_BENCH").as_deref() {
        Err(_) | Ok("") => FEW.map(String::from).into(),
        Ok("all") => {
            let mut files: Vec<String> = std::fs::read_dir("data")
                .into_iter()
                .flatten()
                .filter_map(|entry| Some(format!("data/{}", entry.ok()?.file_name().to_str()?)))
                .filter(|name| name.ends_with(".mtx.gz"))
                .collect();
            files.sort();
            // R·A·P has three matrices; examples/rap.rs and `sparring bench` measure it.
            files
                .into_iter()
                .chain(generate::SPGEMM.iter().filter(|n| **n != "rap100").map(|n| n.to_string()))
                .collect()
        }
        Ok(list) => list.split(',').map(String::from).collect(),
    }
}

/// The matrix, which must be square for A·A to exist.
fn load(name: &str) -> Option<Csr<f64>> {
    let a = if name.contains(".mtx") {
        io::read_matrix_market(name).and_then(|file| file.csr())
    } else {
        generate::matrix(name)
    };
    let a = a.unwrap_or_else(|e| panic!("{name}: {e}"));
    (a.nrows() == a.ncols()).then_some(a)
}

sparring::op! {
    /// a + b, user-defined.
    Sum<T: Num> (a, b) -> T { a + b } identity T::ZERO
}
sparring::op! {
    /// a · b, user-defined.
    Product<T: Num> (a, b) -> T { a * b }
}

fn spgemm(c: &mut Criterion) {
    let cpu = Cpu::new();
    let ring = PlusTimes::<f64>::default();
    let own = Ring(Sum::<f64>::new(), Product::<f64>::new());
    println!("{} threads", cpu.threads().count());
    for name in names() {
        let Some(a) = load(&name) else {
            println!("{name}: not square, left out");
            continue;
        };
        let with = |compress, unsorted| Options { compress, unsorted, ..Options::default() };
        let sorted = with(Compress::Auto, false);
        let plan = cpu.plan(&a, &a).options(&sorted).eval().unwrap();
        let stats = plan.stats();
        let cf = compression(cpu.threads(), a.pattern(), a.pattern()).unwrap().cf;
        println!("{name}: fm {}, |C| {}, CF {cf:.3}; chosen: {}", stats.flops, stats.nnz, plan.explain());

        let mut group = |phase: &str, run: &mut dyn FnMut()| {
            let mut group = c.benchmark_group(format!("spgemm/{phase}"));
            group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
            group.throughput(Throughput::Elements(2 * stats.flops));
            group.bench_function(BenchmarkId::from_parameter(&name), |t| t.iter(&mut *run));
        };
        for (phase, options) in [("sorted", with(Compress::Auto, false)), ("unsorted", with(Compress::Auto, true))] {
            group(phase, &mut || drop(cpu.mxm(ring, &a, &a).options(options.clone()).eval().unwrap()));
        }
        for (phase, compress) in [
            ("symbolic", Compress::Auto),
            ("symbolic, compressed", Compress::On),
            ("symbolic, uncompressed", Compress::Off),
        ] {
            let options = with(compress, false);
            group(phase, &mut || drop(cpu.plan(&a, &a).options(&options).eval().unwrap()));
        }
        let mut product = cpu.mxm(ring, &a, &a).plan(&plan).eval().unwrap();
        group("numeric only", &mut || cpu.mxm(ring, &a, &a).plan(&plan).into(&mut product).unwrap());
        group("numeric only, own operators", &mut || cpu.mxm(own, &a, &a).plan(&plan).into(&mut product).unwrap());
        let theirs = Options { policy: Policy::KkSpGemm, ..Options::default() };
        group("kkSpGEMM, sorted", &mut || drop(cpu.mxm(ring, &a, &a).options(theirs.clone()).eval().unwrap()));
    }
}

criterion_group!(benches, spgemm);
criterion_main!(benches);

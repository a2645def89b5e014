//! Triangle counting, total time: symmetry check, ordering by degree, construction of L, and intersections.
//!
//! `throughput` is entries of the matrix per second. `RAYON_NUM_THREADS` sets the threads; rivals on the same graphs
//! are measured by benches/compare.

use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sparring::graph::{TriangleMethod, triangles};
use sparring::{Cpu, Csr, io};
use sparring_generate as generate;

/// The files as they are stored, cnr-2000 also as the symmetric graph under it, and generated graphs.
fn graphs() -> Vec<(&'static str, Csr<f64>)> {
    let file = |name: &str| -> Csr<f64> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name).with_extension("mtx.gz");
        io::read_matrix_market(path).and_then(|m| m.csr()).expect("a graph of data/")
    };
    let generated = |name: &str| generate::matrix(name).expect("a generated graph");
    let web = file("cnr-2000");
    let symmetric = generate::bench_spgemm::symmetrized(&web).expect("memory");
    let mut graphs = vec![("email-Enron", file("email-Enron")), ("cnr-2000", web), ("cnr-2000, symmetric", symmetric)];
    graphs.extend(
        ["tc_rmat16", "tc_rmat17", "tc_rmat18", "stencil27_60", "lap2d_1000", "er18d8"].map(|n| (n, generated(n))),
    );
    graphs
}

fn count(c: &mut Criterion) {
    let cpu = Cpu::new();
    println!("{} threads", cpu.threads().count());
    let mut group = c.benchmark_group("triangles (Wolf et al. 2017)");
    group.sample_size(15).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for (name, a) in graphs() {
        let found = triangles(&cpu, &a, TriangleMethod::Auto).expect("memory");
        println!("{name}: {} triangles, {}", found.count, found.method);
        group.throughput(Throughput::Elements(a.nnz() as u64));
        for method in [TriangleMethod::Auto, TriangleMethod::Direct, TriangleMethod::Compressed, TriangleMethod::Masked]
        {
            group.bench_with_input(BenchmarkId::new(format!("{method:?}"), name), &a, |t, a| {
                t.iter(|| triangles(&cpu, a, method).expect("memory").count);
            });
        }
    }
    group.finish();
}

criterion_group!(benches, count);
criterion_main!(benches);

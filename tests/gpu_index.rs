//! An index resident on the GPU: queries give the bits of preparing both sides; saved by one device, loaded by another.
#![cfg(feature = "cuda")]

mod common;

use std::time::Instant;

use common::distances::large;
use common::gpu::cuda;
use sparring::algebra::{AbsDiff, MaxFromZero, Union};
use sparring::distance::{Formula, Measure, Metric, Options, Precision};
use sparring::runtime::{Machine, Matrix};
use sparring::{Cpu, Csr, Cuda, Error};

fn same(cuda: &Cuda, measure: impl Measure + Clone + 'static, x: &Csr<f64>, y: &Csr<f64>, o: Options) {
    let name = measure.name();
    let index = cuda.index(measure.clone(), y, o).expect("an index");
    assert_eq!(index.shape(), y.shape());
    // Queried repeatedly, with rows from the host and from the device.
    for _ in 0..2 {
        for k in [1, 10, 50] {
            let found = index.knn(x, k).expect("neighbours");
            let right = cuda.neighbours(measure.clone(), x).to(y).options(o).k(k).eval().expect("neighbours");
            assert_eq!((found.indices(), found.distances()), (right.indices(), right.distances()), "{name}");
            let there = index.knn(&cuda.upload(x).expect("rows"), k).expect("neighbours");
            assert_eq!(there.indices(), right.indices(), "{name}");
        }
        let all = cuda.download_dense(&index.rows(x).expect("rows").all().expect("distances")).expect("distances");
        let right = cuda.distances(measure.clone(), x).to(y).options(o).eval().expect("distances");
        assert_eq!(all, cuda.download_dense(&right).expect("distances"), "{name}");
        let radius = all.values()[all.values().len() / 3];
        let found: Csr<f64> = cuda.download(&index.radius(x, radius).expect("neighbours")).expect("neighbours");
        let right = cuda.neighbours(measure.clone(), x).to(y).options(o).radius(radius).eval().expect("neighbours");
        assert_eq!(found, cuda.download(&right).expect("neighbours"), "{name}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn an_index_has_the_bits_of_preparing_both() {
    let cuda = cuda();
    let (x, y) = (large(17, 90), large(2500, 90));
    let o = Options::default();
    for metric in [Metric::Cosine, Metric::Euclidean, Metric::Jaccard, Metric::Kl, Metric::Chebyshev, Metric::Dot] {
        same(&cuda, metric, &x, &y, o);
    }
    same(&cuda, Metric::Correlation, &x, &y, Options { precision: Precision::Entries, ..o });
    same(&cuda, Formula::parse("abs(a-b) / (a+b+1)").expect("a formula"), &x, &y, o);
    same(&cuda, Union(MaxFromZero::new(), AbsDiff::<f64>::new()), &large(9, 30), &large(300, 30), o);
    let index = cuda.index(Metric::Manhattan, &y, o).expect("an index");
    assert!(matches!(index.knn(&large(3, 91), 1), Err(Error::Shape { .. })));
    let own = Options { exclude_self: true, ..o };
    assert!(matches!(cuda.index(Metric::Manhattan, &y, own), Err(Error::Argument { name: "exclude_self", .. })));
    let huge = x.map(|v| v * 1e200).expect("rows");
    assert!(matches!(cuda.index(Metric::Euclidean, &huge, o), Err(Error::Unsupported { .. })));
}

#[test]
#[ignore = "needs a GPU"]
fn saved_by_one_machine_and_loaded_by_another() {
    let (cuda, cpu) = (cuda(), Cpu::new());
    let y = large(200, 40);
    let (mut here, mut there) = (vec![], vec![]);
    cpu.index(Metric::Manhattan, &y, Options::default()).expect("an index").save_to(&mut here).expect("a file");
    cuda.index(Metric::Manhattan, &y, Options::default()).expect("an index").save_to(&mut there).expect("a file");
    assert_eq!(here, there);
    let on_device = cuda.load_index_from::<f64>(&mut &here[..]).expect("an index").knn(&y, 4).expect("neighbours");
    let on_host = cpu.load_index_from::<f64, u32>(&mut &there[..]).expect("an index").knn(&cpu, &y, 4).expect("same");
    assert_eq!(on_device.indices(), on_host.indices());
    // Through the run-time API, as C uses it.
    let (machine, matrix) = (Machine::from(cuda), Matrix::from(y));
    let index = machine.index(std::sync::Arc::new(Metric::Manhattan), &matrix, Options::default()).expect("an index");
    assert_eq!(machine.knn_of_index(&index, &matrix, 4).expect("neighbours").indices(), on_host.indices());
    let other = Machine::from(cpu).knn_of_index(&index, &matrix, 4).unwrap_err().to_string();
    assert!(other.contains("another machine"), "{other}");
}

/// Prints the cost of a query, with and without an index.
#[test]
#[ignore = "needs a GPU"]
fn asked_in_small_batches() {
    let cuda = cuda();
    let y = large(80_000, 300);
    for n in [1, 100] {
        let x = large(n, 300);
        let index = cuda.index(Metric::Cosine, &y, Options::default()).expect("an index");
        let y = cuda.upload(&y).expect("rows");
        let x = cuda.upload(&x).expect("rows");
        let least = |f: &dyn Fn() -> Vec<u32>| {
            f();
            let time = |_| {
                let t = Instant::now();
                f();
                t.elapsed().as_secs_f64() * 1e3
            };
            (0..5).map(time).fold(f64::INFINITY, f64::min)
        };
        let kept = least(&|| index.knn(&x, 10).expect("neighbours").indices().to_vec());
        let anew =
            least(&|| cuda.neighbours(Metric::Cosine, &x).to(&y).k(10).eval().expect("neighbours").indices().to_vec());
        println!("{n} rows against 80000: {kept:.3} ms of an index, {anew:.3} ms without");
    }
}

//! A budget bounds the memory of distances: results and scratch, measured by the allocator.

mod common;

use common::counting::{Counting, alone, peak};
use common::distances::{all, large, nearest, within};
use sparring::algebra::{AbsDiff, MaxFromZero, Union};
use sparring::distance::{Formula, Measure, Metric, Options, Precision};
use sparring::{Cpu, Csr, Error, Result};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Not counted by budgets: tasks, messages, names, per-thread state.
const SMALL: i64 = 96 << 10;

/// Peak memory of `f` in bytes, and whether a budget refused it.
fn taken<R>(f: impl FnOnce() -> Result<R>) -> (i64, bool) {
    let (refused, bytes) = peak(|| match f() {
        Ok(_) => false,
        Err(Error::Budget { .. }) => true,
        Err(e) => panic!("{e}"),
    });
    (bytes as i64, refused)
}

/// Every task under budgets from little to plenty: memory stays within the budget, and plenty suffices.
fn check<T: sparring::distance::Float>(measure: impl Measure + Clone, x: &Csr<T>, y: Option<&Csr<T>>) {
    let name = measure.name();
    for threads in [1, 2] {
        let cpu = Cpu::with_threads(threads).expect("threads");
        let mut enough = [false; 3];
        for budget in (8..30).map(|e| (2 + e % 2) << (e - 1)) {
            let options = Options {
                memory_budget: Some(budget),
                precision: Precision::Entries,
                unchecked: false,
                ..Options::default()
            };
            let tasks: [(&str, &dyn Fn() -> Result<()>); 3] = [
                ("all", &|| all(&cpu, measure.clone(), x, y, &options).map(drop)),
                ("nearest", &|| nearest(&cpu, measure.clone(), 8, x, y, &options).map(drop)),
                ("within", &|| within(&cpu, measure.clone(), f64::INFINITY, x, y, &options).map(drop)),
            ];
            for ((task, run), enough) in tasks.iter().zip(&mut enough) {
                let (bytes, refused) = taken(run);
                assert!(bytes <= budget as i64 + SMALL, "{name}, {task}, {threads} threads: {bytes} of {budget} bytes");
                assert!(!(refused && *enough), "{name}, {task}: more is not enough");
                *enough |= !refused;
            }
        }
        assert_eq!(enough, [true; 3], "{name}");
    }
}

/// Stored zeros are removed in a copy, which is refused before it is allocated.
#[test]
fn a_copy_without_stored_zeros_counts() {
    let _alone = alone();
    let (n, m) = (200, 400u32);
    let values = (0..80_000).map(|p| f64::from(p % 3)).collect();
    let zeros =
        Csr::<f64>::new(n, 400, (0..=n).map(|i| 400 * i).collect(), (0..80_000).map(|p| p % m).collect(), values);
    let (zeros, options) = (zeros.expect("rows"), Options { memory_budget: Some(100_000), ..Options::default() });
    let cpu = Cpu::with_threads(1).expect("threads");
    let (bytes, refused) = taken(|| nearest(&cpu, Metric::Manhattan, 3, &zeros, None, &options));
    assert!(refused && bytes <= 100_000 + SMALL, "{bytes}");
}

#[test]
fn budgets_hold() {
    let _alone = alone();
    // Creates threads and their state beforehand.
    for threads in [1, 2] {
        let x = large(40, 10);
        nearest(&Cpu::with_threads(threads).expect("threads"), Metric::Dot, 3, &x, None, &Options::default())
            .expect("rows");
    }
    let (x, y) = (large(2300, 60), large(1100, 60));
    let single = |a: &Csr<f64>| a.map(|&v| v as f32).expect("f32");
    for metric in [Metric::Cosine, Metric::Kl, Metric::Chebyshev, Metric::Correlation] {
        check(metric, &x, None);
    }
    check(Metric::Manhattan, &x, Some(&y));
    check(Metric::Euclidean, &single(&x), Some(&single(&y)));
    check(Union(MaxFromZero::new(), AbsDiff::<f64>::new()), &large(500, 60), None);
    check(Formula::new("|a-b|", |a: f64, b: f64| (a - b).abs()), &large(900, 60), None);
    // Few entries in many columns, and one nearly full row.
    let ncols = 50_000;
    let columns = y.col_idx().iter().map(|&j| j * 800).collect();
    let spread = Csr::<f64>::new(1100, ncols, y.row_ptr().to_vec(), columns, y.values().to_vec()).expect("rows");
    check(Metric::Manhattan, &spread, None);
    check(Metric::Chebyshev, &spread, None);
}

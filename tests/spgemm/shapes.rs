//! Products of unusual shapes compared with the textbook: very wide, very tall, skewed, with repeated rows or few
//! entries.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quickcheck::QuickCheck;
use sparring::algebra::{Lhs, MinPlus, Out, Plus, PlusTimes, Rhs, Semiring, Value};
use sparring::backend::Backend;
use sparring::sparse::{Builder, HyperCsr};
use sparring::spgemm::{Accumulator, Compress, Policy};
use sparring::{Cpu, Csr, Error, Isa};

use crate::common::arbitrary::{AnyPair, AnyPattern, Draw, Rng};
use crate::common::rings::{CountPaths, SumPlaces, SumWhere};
use crate::common::{Same, check, reference};
use crate::{MinSecond, Outcome, all_options, is_the_definition, masked, options};

/// Few entries among millions of columns: tables must not be sized by the columns alone.
#[test]
fn very_wide_matrices_are_the_definition() {
    fn wide(seed: u64) -> Outcome {
        let mut rng = Rng(seed);
        let n = 3_000_000;
        let b = AnyPattern {
            ncols: n,
            rows: (0..50)
                .map(|i| {
                    let mut row: Vec<u32> = (0..rng.below(60)).map(|_| rng.below(n) as u32).collect();
                    // Runs at word boundaries and at the very last column.
                    row.extend([0, 31, 32, 63, 64, n as u32 - 1].iter().filter(|_| i % 3 == 0));
                    row.sort_unstable();
                    row.dedup();
                    row
                })
                .collect(),
            shuffle: 0,
        };
        let a = AnyPattern::of_shape(&mut rng, 40, 50);
        let mask = AnyPattern { ncols: n, rows: vec![vec![0, 32, 64]; 40], shuffle: 0 };
        let pair = AnyPair { a, b, mask, seed };
        is_the_definition(PlusTimes::<f64>::default(), &pair)
    }
    QuickCheck::new().tests(4).quickcheck(wide as fn(u64) -> Outcome);
}

/// Rows much heavier than the rest, which must be split among threads, and tables that overflow.
#[test]
fn heavy_rows_are_the_definition() {
    let mut rng = Rng(5);
    let n = 3000;
    let mut rows: Vec<Vec<u32>> = (0..n).map(|i| vec![i as u32, (i as u32 * 7 + 1) % n as u32]).collect();
    rows[17] = (0..n as u32).filter(|_| rng.below(3) > 0).collect();
    rows[18] = (0..n as u32).collect();
    for row in &mut rows {
        row.sort_unstable();
        row.dedup();
    }
    let heavy = AnyPattern { ncols: n, rows, shuffle: 0 };
    let a: Csr<f64> = heavy.matrix(1);
    let want = reference::mxm(PlusTimes::<f64>::default(), &a, &a);
    for threads in [1, 4] {
        let cpu = Cpu::with_threads(threads).expect("threads");
        for o in all_options() {
            let c = cpu.mxm(PlusTimes::<f64>::default(), &a, &a).options(o.clone()).eval().expect("a product");
            check(&c, &want, !o.unsorted).unwrap_or_else(|e| panic!("{threads} threads, {o:?}: {e}"));
        }
    }
}

/// The matrix with these rows; values follow from the indices.
pub(super) fn of_rows(ncols: usize, rows: Vec<Vec<u32>>) -> Csr<f64> {
    AnyPattern { ncols, rows, shuffle: 0 }.matrix(7)
}

/// Products with many rows that repeat the previous row, shifted, and some that nearly do.
pub(super) fn that_repeat() -> Vec<[Csr<f64>; 2]> {
    let band = |n: u32, reach: u32| -> Vec<Vec<u32>> {
        (0..n).map(|i| (i.saturating_sub(reach)..(i + reach + 1).min(n)).collect()).collect()
    };
    let grid = |w: u32, h: u32| -> Vec<Vec<u32>> {
        let near = |i: u32| [i.wrapping_sub(w), i.wrapping_sub(1), i, i + 1, i + w].into_iter().filter(|&j| j < w * h);
        (0..w * h).map(|i| near(i).collect()).collect()
    };
    let blocks =
        |n: u32| -> Vec<Vec<u32>> { (0..n).map(|i| (i / 3 * 3..i / 3 * 3 + 3).chain([n, n + 1]).collect()).collect() };
    let mut shapes = vec![band(90, 1), band(120, 9), band(150, 40), grid(17, 13)];
    for mut rows in [band(100, 2), band(100, 20)] {
        for i in (5..100).step_by(7) {
            // One column fewer, one more, and one replaced.
            match i % 3 {
                0 => drop(rows[i].pop()),
                1 => rows[i].insert(0, 0),
                _ => rows[i][1] += 50,
            }
            rows[i].sort_unstable();
            rows[i].dedup();
            rows[i].retain(|&j| j < 100);
        }
        shapes.push(rows);
    }
    let mut matrices: Vec<[Csr<f64>; 2]> =
        shapes.into_iter().map(|rows| of_rows(rows.len(), rows)).map(|a| [a.clone(), a]).collect();
    // A with equal rows; B with two equal consecutive rows; a row of B shifted by a different distance than the first.
    matrices.push([of_rows(92, blocks(90)), of_rows(200, (0..92).map(|i| vec![i / 2, i / 2 + 7, 150]).collect())]);
    matrices.push([of_rows(40, band(40, 1)), of_rows(200, (0..40).map(|i| vec![3 * i, 3 * i + 1 + i % 2]).collect())]);
    matrices.push([
        of_rows(40, band(40, 1)),
        of_rows(200, (0..40).map(|i| if i % 4 == 0 { vec![] } else { vec![i] }).collect()),
    ]);
    // Rows of B shifted by one column, and the last ones by two.
    let start = |i: u32| i + i.saturating_sub(110);
    let moved = (0..120).map(|i| vec![start(i), start(i) + 3]).collect();
    matrices.push([of_rows(120, band(120, 1)), of_rows(300, moved)]);
    matrices
}

/// Rows of C that repeat the previous row, shifted or not: on grids, in blocks of equal rows, and where a single entry
/// of A, a single entry of a row of B, or the distance of a single row of B differs.
#[test]
fn rows_that_repeat_are_the_definition() {
    let cpu = Cpu::with_threads(2).expect("threads");
    let ring = PlusTimes::<f64>::default();
    let mut repeats = 0;
    for [a, b] in &that_repeat() {
        let want = reference::mxm(ring, a, b);
        for o in all_options() {
            let c = cpu.mxm(ring, a, b).options(o.clone()).eval().expect("a product");
            check(&c, &want, !o.unsorted).unwrap_or_else(|e| panic!("{o:?}: {e}"));
            let plan = cpu.plan(a, b).options(&o).eval().expect("a plan");
            assert_eq!(cpu.plan(a, b).options(&o).count().expect("a count"), *plan.stats(), "{o:?}");
            repeats += usize::from(plan.explain().contains("the previous row"));
        }
    }
    assert!(repeats >= 4, "{repeats}");
}

/// Rows whose products are sorted in one register: zero to sixteen products, many repeated columns, empty and unsorted
/// rows of B, and a few longer rows that take another kernel.
#[test]
fn rows_of_few_products_are_the_definition() {
    fn check_rows<R: Semiring>(ring: R, [a, b]: &[AnyPattern; 2], way: &str)
    where
        Lhs<R>: Draw,
        Rhs<R>: Draw,
        Out<R>: Same,
    {
        let (a, b) = (a.matrix::<Lhs<R>>(3), b.matrix::<Rhs<R>>(4));
        let ways = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&ways);
        let cpu = Cpu::with_threads(2).expect("threads").on_progress(move |p| {
            seen.fetch_or(if p.op == "mxm" { 1 } else { 2 }, Ordering::Relaxed);
            ControlFlow::Continue(())
        });
        let c = cpu.mxm(ring, &a, &b).eval().expect("a product");
        check(&c, &reference::mxm(ring, &a, &b), true).unwrap_or_else(|e| panic!("{way}: {e}"));
        if Isa::running() == Isa::Avx512 {
            assert_eq!(ways.load(Ordering::Relaxed), 1, "{way}: not in one pass");
        }
    }
    let mut rng = Rng(11);
    for (columns, longer) in [(3, 0), (40, 0), (5000, 0), (40, 12), (5000, 12)] {
        let n = 600;
        let mut row = |len: usize, ncols: usize| {
            let mut row: Vec<u32> = (0..len).map(|_| rng.below(ncols) as u32).collect();
            row.sort_unstable();
            row.dedup();
            row
        };
        // Rows of B have up to four entries, the last ten rows forty.
        let b: Vec<Vec<u32>> = (0..n).map(|k| row(if k < n - 10 { k % 5 } else { 40 }, columns)).collect();
        let mut a: Vec<Vec<u32>> = (0..n).map(|i| row(i % 7, n - 10)).collect();
        for (i, row) in a.iter_mut().enumerate() {
            let products = |row: &[u32]| row.iter().map(|&k| b[k as usize].len()).sum::<usize>();
            while products(row) > 16 {
                row.pop();
            }
            // As many as one register holds, from few rows of B or from sixteen.
            match i % 50 {
                3 => *row = vec![4, 9, 14, 19],
                4 => *row = (0..16).map(|k| 5 * k + 1).collect(),
                5 if longer > 0 && i / 50 < longer => row.extend([n as u32 - 3, n as u32 - 2]),
                _ => {}
            }
        }
        let most = a.iter().map(|row| row.iter().map(|&k| b[k as usize].len()).sum::<usize>()).max();
        assert!(columns < 40 || longer > 0 || most == Some(16), "{most:?} products");
        for shuffle in [0, 1] {
            let way = format!("{columns} columns, {longer} longer rows, shuffle {shuffle}");
            let pair = [
                AnyPattern { ncols: n, rows: a.clone(), shuffle: 0 },
                AnyPattern { ncols: columns, rows: b.clone(), shuffle },
            ];
            check_rows(PlusTimes::<f64>::default(), &pair, &way);
            check_rows(MinPlus::<f64>::default(), &pair, &way);
            check_rows(PlusTimes::<bool>::default(), &pair, &way);
            check_rows(MinSecond::default(), &pair, &way);
            check_rows(SumPlaces::default(), &pair, &way);
            check_rows(CountPaths::default(), &pair, &way);
            check_rows(SumWhere::default(), &pair, &way);
        }
    }
}

/// Products in which each entry of C is a single term: diagonals with and without gaps, permutations, repeated row
/// selections; combined with rows of zero to many entries, sorted and unsorted.
#[test]
fn single_products_are_the_definition() {
    /// `one`: whether the plan detects it, for sorted and for unsorted products.
    fn check_rows<R: Semiring>(ring: R, [a, b]: &[AnyPattern; 2], one: [bool; 2], way: &str)
    where
        Lhs<R>: Draw,
        Rhs<R>: Draw,
        Out<R>: Same,
    {
        let (a, b) = (a.matrix::<Lhs<R>>(5), b.matrix::<Rhs<R>>(6));
        let want = reference::mxm(ring, &a, &b);
        for threads in [1, 2, 3] {
            let cpu = Cpu::with_threads(threads).expect("threads");
            for unsorted in [false, true] {
                let options = options(Policy::Auto, Accumulator::Auto, Compress::Auto, unsorted);
                let (c, how) = cpu.mxm(ring, &a, &b).options(options).explain().expect("a product");
                check(&c, &want, !unsorted).unwrap_or_else(|e| panic!("{way}: {e}"));
                let said = how.contains("each entry of C is one product");
                assert_eq!(said, one[usize::from(unsorted)], "{way}: {how}");
            }
        }
    }
    let (n, mut rng) = (700, Rng(17));
    let sparse: Vec<Vec<u32>> = (0..n)
        .map(|i| {
            let len = [0, 1, 2, 3, 4, 5, 7, 8, 9, 30, 64, 65, 200][i % 13];
            BTreeSet::from_iter((0..len).map(|_| rng.below(n) as u32)).into_iter().collect()
        })
        .collect();
    let diagonal: Vec<Vec<u32>> = (0..n as u32).map(|i| vec![i]).collect();
    let gaps: Vec<Vec<u32>> = (0..n as u32).map(|i| if i % 5 == 3 { vec![] } else { vec![i] }).collect();
    let mut permutation = diagonal.clone();
    (1..n).for_each(|i| permutation.swap(i, rng.below(i + 1)));
    let taken: Vec<Vec<u32>> = (0..3 * n as u32 / 2).map(|i| vec![i * i % n as u32]).collect();
    // The columns of a diagonal, in the first half two in every other row.
    let step = |i: u32| if i.is_multiple_of(2) { vec![i, i + 1] } else { vec![] };
    let stairs: Vec<Vec<u32>> = (0..n as u32).map(|i| if i < n as u32 / 2 { step(i) } else { vec![i] }).collect();
    let narrow: Vec<Vec<u32>> = (0..n as u32).map(|i| vec![i % 3]).collect();
    let cases = [
        ("diagonal times sparse", [&diagonal, &sparse]),
        ("sparse times diagonal", [&sparse, &diagonal]),
        ("gaps times sparse", [&gaps, &sparse]),
        ("permutation times sparse", [&permutation, &sparse]),
        ("rows taken", [&taken, &sparse]),
        ("diagonal times diagonal", [&diagonal, &diagonal]),
        ("permutation times a few columns", [&permutation, &narrow]),
        ("no diagonal", [&stairs, &sparse]),
    ];
    for (name, [a, b]) in cases {
        for shuffle in [0, 1] {
            let way = format!("{name}, shuffle {shuffle}");
            let of = |rows: &[Vec<u32>]| AnyPattern { ncols: n, rows: rows.to_vec(), shuffle };
            let pair = [of(a), of(b)];
            // Unsorted rows stay unsorted.
            let long = |rows: &[Vec<u32>]| rows.iter().any(|row| row.len() > 1);
            let one = if name == "no diagonal" { [false; 2] } else { [shuffle == 0 || !long(a) && !long(b), true] };
            check_rows(PlusTimes::<f64>::default(), &pair, one, &way);
            check_rows(MinPlus::<f64>::default(), &pair, one, &way);
            check_rows(PlusTimes::<bool>::default(), &pair, one, &way);
            check_rows(MinSecond::default(), &pair, one, &way);
            check_rows(SumPlaces::default(), &pair, one, &way);
            check_rows(CountPaths::default(), &pair, one, &way);
        }
    }
}

/// The product of stored rows equals that of all rows, also where ⊗ is positional, where A refers to rows of B that are
/// not stored, and where rows of C are empty.
#[test]
fn hypersparse_products_are_the_definition() {
    fn check<R: Semiring>(ring: R, [m, k, n]: [usize; 3], seed: u64)
    where
        Lhs<R>: Draw,
        Rhs<R>: Draw,
        Out<R>: Same,
    {
        let mut rng = Rng(seed);
        let mut matrix = |nrows: usize, ncols: usize| {
            let mut rows = vec![vec![]; nrows];
            for row in &mut rows {
                let stored = rng.below(4) == 0;
                *row = (0..ncols as u32).filter(|_| stored && rng.below(8) == 0).collect();
            }
            AnyPattern { ncols, rows, shuffle: 0 }
        };
        let (a, b): (Csr<Lhs<R>>, Csr<Rhs<R>>) = (matrix(m, k).matrix(1), matrix(k, n).matrix(2));
        let want = reference::mxm(ring, &a, &b);
        for threads in [1, 3] {
            let cpu = Cpu::with_threads(threads).expect("threads");
            let c = cpu.mxm(ring, &hyper(&a), &hyper(&b)).eval().expect("a product");
            crate::common::check(&c, &want, true).unwrap_or_else(|e| panic!("{m}, {k}, {n}: {e}"));
        }
    }
    fn hyper<T: Value>(a: &Csr<T>) -> Csr<T> {
        let rows: Vec<u32> = (0..a.nrows() as u32).filter(|&i| !a.row(i as usize).0.is_empty()).collect();
        let ptr = std::iter::once(0).chain(rows.iter().map(|&i| a.row_ptr()[i as usize + 1])).collect();
        let compact = Csr::new(rows.len(), a.ncols(), ptr, a.col_idx().to_vec(), a.values().to_vec());
        let a = HyperCsr::new(a.nrows(), rows, compact.expect("rows")).expect("a matrix");
        Csr::try_from(a).expect("a matrix")
    }
    for (seed, shape) in
        [[40, 40, 40], [70, 30, 50], [1, 9, 9], [20, 0, 5], [0, 3, 3], [30, 200, 3000]].into_iter().enumerate()
    {
        check(PlusTimes::<f64>::default(), shape, seed as u64 + 1);
        check(MinSecond::default(), shape, seed as u64 + 20);
        check(SumPlaces::default(), shape, seed as u64 + 40);
    }
    // No allocation is proportional to the number of rows.
    let n = 4_000_000_000;
    let mut a = Builder::<f64>::new(n, n).expect("a builder");
    for i in 0..1000 {
        a.push(i * 4_000_000, (i + 1) % 1000 * 4_000_000, 2.0).expect("an entry");
    }
    let a = Csr::try_from(a.finish_hyper(Plus::new()).expect("a matrix")).expect("a matrix");
    let (cpu, ring) = (Cpu::new().memory_budget(1 << 20), PlusTimes::<f64>::default());
    let c = cpu.mxm(ring, &a, &a).eval().expect("a product");
    assert!((0..1000).all(|i| c.get(i * 4_000_000, (i + 2) % 1000 * 4_000_000) == Some(&4.0)) && c.nnz() == 1000);
    let error = cpu.mxm(ring, &a, &hyper(&of_rows(3, vec![vec![0]]))).eval();
    assert!(matches!(error, Err(Error::Shape { op: "mxm", lhs: (4_000_000_000, 4_000_000_000), rhs: (1, 3) })));
}

/// A row with more than 2²⁰ multiplications is split by columns into one task per part. Rows before and after it reuse
/// the per-thread tables that the parts leave behind; where a part is wider than a window, an index table maps its
/// columns.
#[test]
fn rows_cut_by_columns_are_the_definition() {
    let k = 1100;
    for (n, step) in [(1500, 1), (1 << 20, 1048)] {
        // Most rows are empty, so that the mean row is short.
        let mut rows = vec![vec![3, 500], (0..k as u32).collect(), vec![0, 1, 1099], vec![700]];
        rows.resize(1500, vec![]);
        let a = of_rows(k, rows);
        let b = of_rows(n, (0..k as u32).map(|k| (0..1000).map(|j| j * step + k % 7 * 71).collect()).collect());
        let want = reference::mxm(PlusTimes::<f64>::default(), &a, &b);
        // One in three of each row's columns, and some columns that it does not have.
        let mask = (0..a.nrows()).map(|i| {
            let all = want.entries.range((i, 0)..(i + 1, 0)).map(|(&(_, j), _)| j as u32).step_by(3);
            let mut row: Vec<u32> = all.flat_map(|j| [j, (j + 1000).min(n as u32 - 1)]).collect();
            row.sort_unstable();
            row.dedup();
            row
        });
        let mask = of_rows(n, mask.collect()).pattern().clone();
        for threads in [1, 3] {
            let tasks = Arc::new(AtomicU64::new(0));
            let seen = Arc::clone(&tasks);
            let cpu = Cpu::with_threads(threads).expect("threads").on_progress(move |p| {
                if ["numeric", "mxm"].contains(&p.op) {
                    seen.store(p.total, Ordering::Relaxed);
                }
                ControlFlow::Continue(())
            });
            for o in all_options().into_iter().filter(|o| !o.unsorted || o.policy == Policy::Auto) {
                let c = cpu.mxm(PlusTimes::<f64>::default(), &a, &b).options(o.clone()).eval().expect("a product");
                check(&c, &want, !o.unsorted).unwrap_or_else(|e| panic!("{n} columns, {threads} threads, {o:?}: {e}"));
                let tasks = tasks.load(Ordering::Relaxed);
                assert!(o.policy == Policy::KkSpGemm || tasks >= 32, "{tasks} tasks: no row was cut");
            }
            masked::is_the_definition(&cpu, (&a, &b), &mask);
        }
    }
}

/// AᵀA of tall A: rows of C are full after a few rows of B, or never, because no row has the last column or only the
/// last row has it.
#[test]
fn tall_products_are_the_definition() {
    let (k, n) = (3000, 70);
    let rows = |width: u32, last: bool| -> Vec<Vec<u32>> {
        let mut rows: Vec<Vec<u32>> = (0..k).map(|i| (0..9).map(|t| (i * 7 + t * t * 3) % width).collect()).collect();
        if last {
            rows.push(vec![n - 1]);
        }
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
        }
        rows
    };
    for (name, rows) in
        [("full", rows(n, false)), ("one lacks", rows(n - 1, false)), ("one at last", rows(n - 1, true))]
    {
        let b = of_rows(n as usize, rows);
        let a = of_rows(b.nrows(), vec![(0..b.nrows() as u32).collect(), vec![5], (0..2000).collect(), vec![]]);
        let want = reference::mxm(PlusTimes::<f64>::default(), &a, &b);
        for threads in [1, 3] {
            let cpu = Cpu::with_threads(threads).expect("threads");
            for o in all_options() {
                let c = cpu.mxm(PlusTimes::<f64>::default(), &a, &b).options(o.clone()).eval().expect("a product");
                check(&c, &want, !o.unsorted).unwrap_or_else(|e| panic!("{name}, {threads} threads, {o:?}: {e}"));
            }
        }
    }
}

/// Too many columns for a direct table: indices are searched, and columns are sorted where a bitmap would be too large.
#[test]
fn b_wider_than_every_table_is_the_definition() {
    let mut rng = Rng(11);
    for n in [300_000_000, 600_000_000] {
        let mut row = |most: usize| {
            let mut row: Vec<u32> = (0..rng.below(most)).map(|_| rng.below(n) as u32).collect();
            // Columns that rows share, and the very last.
            row.extend((0..rng.below(9)).map(|_| [0, 63, 64, n as u32 / 2, n as u32 - 1][rng.below(5)]));
            row.sort_unstable();
            row.dedup();
            row
        };
        let b = of_rows(n, (0..50).map(|_| row(40)).collect());
        let mask = (0..40).map(|i| BTreeSet::from_iter([b.row(i).0, b.row(i + 7).0].concat()).into_iter().collect());
        let mask = of_rows(n, mask.collect());
        // Rows with up to a few hundred multiplications, over many rows of B and over one.
        let a = (0..40).map(|i| (0..50).filter(|k| (k * 7 + i) % (1 + i % 12) == 0).take(45).collect());
        let a = of_rows(50, a.collect());
        let want = reference::mxm(PlusTimes::<f64>::default(), &a, &b);
        let cpu = Cpu::with_threads(2).expect("threads");
        for compress in [Compress::Auto, Compress::On, Compress::Off] {
            let o = options(Policy::Auto, Accumulator::Auto, compress, false);
            let c = cpu.mxm(PlusTimes::<f64>::default(), &a, &b).options(o).eval().expect("a product");
            check(&c, &want, true).unwrap_or_else(|e| panic!("{n} columns, {compress:?}: {e}"));
        }
        masked::is_the_definition(&cpu, (&a, &b), mask.pattern());
    }
}

/// Rows with so few columns over so wide a range that scanning a bitmap takes longer than sorting, in a product with
/// many such rows.
#[test]
fn rows_that_reach_far_are_the_definition() {
    let (mut rng, n) = (Rng(12), 60_000_000);
    let mut row = |k: u32| {
        let mut row: Vec<u32> = (0..16).map(|_| rng.below(n) as u32).collect();
        // Columns that rows share, and both ends.
        row.extend([0, n as u32 - 1, 64 + k % 5, 30_000_000 + k % 3]);
        row.sort_unstable();
        row.dedup();
        row
    };
    let b = of_rows(n, (0..60).map(&mut row).collect());
    let a = of_rows(60, (0..1300).map(|i| (0..10).map(|t| (i % 6 + 6 * t) % 60).collect()).collect());
    let want = reference::mxm(PlusTimes::<f64>::default(), &a, &b);
    let cpu = Cpu::with_threads(2).expect("threads");
    for compress in [Compress::Auto, Compress::Off] {
        let o = options(Policy::Auto, Accumulator::Auto, compress, false);
        let c = cpu.mxm(PlusTimes::<f64>::default(), &a, &b).options(o.clone()).eval().expect("a product");
        check(&c, &want, true).unwrap_or_else(|e| panic!("{compress:?}: {e}"));
        assert_eq!(cpu.plan(&a, &b).options(&o).count().expect("a count").nnz, c.nnz());
    }
}

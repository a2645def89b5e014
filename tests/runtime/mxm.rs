//! One-off products: masked, complemented and unsorted, with fused semirings, other named semirings and formulas, each
//! compared with the textbook and with its plan.

use sparring::algebra::{MaxSecond, MinPlus, MulOp, Out, PlusTimes, Semiring as Typed, Value};
use sparring::prelude::*;
use sparring::runtime::{Machine, Matrix, Semiring};
use sparring::spgemm::Options;

use super::operands::{machines, same};
use super::textbook;
use crate::common::arbitrary::{AnyPattern, Draw, Rng};
use crate::common::rings::SumPlaces;

/// Rows with few products, more, and many; the last is cut by columns.
fn shapes() -> Vec<[AnyPattern; 3]> {
    let mut rng = Rng(5);
    let mut of = |n: usize, mean: usize, ncols: usize, shuffle: u64| {
        let mut row = |len: usize| {
            let mut row: Vec<u32> = (0..len).map(|_| rng.below(ncols) as u32).collect();
            row.sort_unstable();
            row.dedup();
            row
        };
        AnyPattern { ncols, rows: (0..n).map(|i| row((i * 7 + i / 11) % (2 * mean + 1))).collect(), shuffle }
    };
    vec![
        // At most sixteen products per row, columns rarely or often equal.
        [of(150, 1, 150, 0), of(150, 2, 9000, 0), of(150, 90, 9000, 0)],
        [of(150, 1, 150, 0), of(150, 2, 40, 0), of(150, 9, 40, 0)],
        // Up to a few hundred products, each column two or three times, unsorted rows of B.
        [of(90, 3, 60, 0), of(60, 9, 80, 3), of(90, 40, 80, 0)],
        [of(60, 20, 60, 0), of(60, 30, 300, 3), of(60, 30, 300, 0)],
        // More products than a block, and rows of B longer than a block.
        [of(30, 12, 40, 0), of(40, 190, 700, 0), of(30, 300, 700, 0)],
        // A mask disjoint from all products, and one that contains them all.
        [of(40, 2, 40, 0), of(40, 2, 40, 0), AnyPattern { ncols: 40, rows: vec![vec![]; 40], shuffle: 0 }],
        [of(40, 2, 40, 0), of(40, 2, 40, 0), AnyPattern { ncols: 40, rows: vec![(0..40).collect(); 40], shuffle: 0 }],
    ]
}

fn kept<T: Value>(c: &Csr<T>, mask: &Csr<bool>, complement: bool) -> Matrix {
    let has = |i: usize, j: u32| mask.row(i).0.contains(&j) != complement;
    let (mut row_ptr, mut cols, mut values) = (vec![0], vec![], vec![]);
    for i in 0..c.nrows() {
        for (&j, &x) in c.row(i).0.iter().zip(c.row(i).1).filter(|&(&j, _)| has(i, j)) {
            cols.push(j);
            values.push(x);
        }
        row_ptr.push(cols.len());
    }
    Csr::new(c.nrows(), c.ncols(), row_ptr, cols, values).unwrap().into()
}

/// The matrix with its rows sorted.
fn sorted<T: Value>(c: &Matrix) -> Matrix {
    let c = c.csr::<T>().unwrap();
    let (mut cols, mut values) = (vec![], vec![]);
    for i in 0..c.nrows() {
        let mut row: Vec<_> = c.row(i).0.iter().zip(c.row(i).1).collect();
        row.sort_by_key(|(j, _)| **j);
        cols.extend(row.iter().map(|(j, _)| **j));
        values.extend(row.iter().map(|(_, x)| **x));
    }
    Csr::new(c.nrows(), c.ncols(), c.row_ptr().to_vec(), cols, values).unwrap().into()
}

/// Number of products computed in one pass, and number whose rows came out unsorted.
#[derive(Default)]
struct Seen {
    one_pass: usize,
    unsorted: usize,
}

fn compare<R: Typed, T: Draw>(ring: R, names: &[&str], machines: &[Machine], seen: &mut Seen)
where
    R::Mul: MulOp<A = T, B = T>,
{
    let textbook = textbook::erased(ring);
    for [a, b, mask] in shapes() {
        let (a, b, mask) = (a.matrix::<T>(1), b.matrix::<T>(2), mask.matrix::<bool>(3));
        let c = textbook.mxm(&a, &b);
        let (ra, rb, rmask) = (Matrix::from(a), Matrix::from(b), Matrix::from(mask.clone()));
        for name in names {
            let any = Semiring::new(name, T::TYPE).unwrap();
            for (n, m) in machines.iter().enumerate() {
                let what = format!("{name} over {}, machine {n}", T::TYPE);
                for only in [None, Some((&rmask, false)), Some((&rmask, true))] {
                    let want = only.map_or_else(|| Matrix::from(c.clone()), |(_, not)| kept(&c, &mask, not));
                    let product = m.mxm_with(&any, &ra, &rb, only, &Options::default()).unwrap();
                    let found = product.matrix().download().unwrap();
                    same(&found, &want, &format!("{what}, mask {:?}", only.map(|m| m.1)));
                    seen.one_pass += usize::from(product.explain().contains("one pass"));
                    let plan = m.plan_masked(&ra, &rb, only, &Options::default()).unwrap();
                    assert_eq!(product.flops(), plan.flops(), "{what}");
                    same(&m.numeric(&plan, &any, &ra, &rb).unwrap().download().unwrap(), &want, &what);
                    let unsorted = Options { unsorted: true, ..Options::default() };
                    let found = m.mxm_with(&any, &ra, &rb, only, &unsorted).unwrap().matrix().download().unwrap();
                    seen.unsorted += usize::from(!found.pattern().unwrap().is_sorted());
                    same(&sorted::<Out<R>>(&found), &want, &format!("{what}, unsorted"));
                }
            }
        }
    }
}

#[test]
fn products_for_one_use_are_those_of_the_textbook() {
    let machines = machines();
    let mut seen = Seen::default();
    compare(
        PlusTimes::<f64>::new(),
        &["plus_times", "plus, a * b", "a + b + 0 identity 0, a * b"],
        &machines,
        &mut seen,
    );
    assert!(seen.one_pass > 0 && seen.unsorted > 0, "{} in one pass, {} unsorted", seen.one_pass, seen.unsorted);
    let mut seen = Seen::default();
    compare(MinPlus::<i32>::new(), &["min_plus", "min, a + b"], &machines, &mut seen);
    compare(MaxSecond::<f64>::new(), &["max_second"], &machines[1..], &mut seen);
    compare(SumPlaces::default(), &["plus, i * 1000000007 + k * 1000003 + j"], &machines[1..], &mut seen);
}

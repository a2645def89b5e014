//! Matrices with far more rows and columns than entries. Every operation, under every mask, agrees with a map of
//! entries, and takes no memory for empty rows.

mod common;

use std::collections::BTreeMap;

use common::arbitrary::Rng;
use sparring::algebra::{Ainv, First, FirstI, Identity, Minus, RowIndex, SecondI, ValueGt};
use sparring::backend::Container;
use sparring::distance::Metric;
use sparring::prelude::*;
use sparring::sparse::{Builder, MatrixForm};
use sparring::{Csr, Error, Index};

type Entries = BTreeMap<(usize, usize), i64>;
type Places = BTreeMap<usize, i64>;

/// Indices that may have entries: few, so that matrices overlap, and far apart.
fn spread(n: usize, at: usize) -> usize {
    [0, 1, n / 3, n / 2, n / 2 + 1, n - 1][at]
}

fn draw<I: Index>(rng: &mut Rng, n: usize, most: usize) -> Csr<i64, I> {
    let mut a = Builder::<i64, I>::new(n, n).unwrap();
    for _ in 0..rng.below(most + 1) {
        a.push(spread(n, rng.below(6)), spread(n, rng.below(6)), rng.below(9) as i64 - 3).unwrap();
    }
    let a = a.finish(Plus::new()).unwrap();
    assert_eq!(a.form(), MatrixForm::Hypersparse);
    a
}
fn draw_vector<I: Index>(rng: &mut Rng, n: usize) -> Vector<i64, I> {
    let at: Vec<usize> = (0..6).filter(|_| rng.below(2) == 0).map(|p| spread(n, p)).collect();
    let values = at.iter().map(|_| rng.below(9) as i64 - 3).collect();
    Vector::new(n, at.into_iter().map(I::cast).collect(), values).unwrap()
}

/// The entries, read without building row pointers.
fn entries<T: Value + std::fmt::Debug, I: Index>(a: &Csr<T, I>) -> BTreeMap<(usize, usize), T> {
    let n = a.shape().0;
    let places = (0..6).flat_map(|i| (0..6).map(move |j| (spread(n, i), spread(n, j))));
    let found: BTreeMap<_, _> = places.filter_map(|(i, j)| Some(((i, j), *a.get(i, j)?))).collect();
    assert_eq!((found.len(), a.form()), (a.nnz(), MatrixForm::Hypersparse));
    assert!(a.iter().map(|(i, j, x)| ((i, j), *x)).eq(found.iter().map(|(at, x)| (*at, *x))));
    assert_eq!((a.values().len(), a.col_idx().len(), a == &a.clone()), (found.len(), found.len(), true));
    for i in (0..6).map(|i| spread(n, i)).chain([2, n - 2]) {
        let among = found.range((i, 0)..=(i, usize::MAX));
        assert_eq!(a.row(i).1.to_vec(), among.map(|e| *e.1).collect::<Vec<_>>());
    }
    found
}
fn places<T: Value, I: Index>(x: &Vector<T, I>) -> BTreeMap<usize, T> {
    x.iter().map(|(i, v)| (i, *v)).collect()
}

fn union(a: &Entries, b: &Entries, f: impl Fn(Option<i64>, Option<i64>) -> Option<i64>) -> Entries {
    let keys = a.keys().chain(b.keys());
    keys.filter_map(|&at| Some((at, f(a.get(&at).copied(), b.get(&at).copied())?))).collect()
}
fn product(a: &Entries, b: &Entries, f: impl Fn(i64, i64, (usize, usize, usize)) -> i64) -> Entries {
    let mut c = Entries::new();
    for (&(i, k), &x) in a {
        for (&(_, j), &y) in b.range((k, 0)..=(k, usize::MAX)) {
            *c.entry((i, j)).or_insert(0) += f(x, y, (i, k, j));
        }
    }
    c
}

fn every_operation<I: Index>(cpu: &Cpu, n: usize, seed: u64) {
    let rng = &mut Rng(seed);
    let (a, b, mask): (Csr<i64, I>, Csr<i64, I>, Csr<i64, I>) = (draw(rng, n, 9), draw(rng, n, 30), draw(rng, n, 20));
    let (x, y) = (draw_vector::<I>(rng, n), draw_vector::<I>(rng, n));
    let (of_a, of_b, of_mask) = (entries(&a), entries(&b), entries(&mask));
    let allow = |c: &Entries, keep: &dyn Fn(&(usize, usize)) -> bool| -> Entries {
        c.iter().filter(|e| keep(e.0)).map(|e| (*e.0, *e.1)).collect()
    };
    macro_rules! check {
        ($chain:expr, $want:expr) => {{
            let want: Entries = $want;
            assert_eq!(entries(&$chain.eval().unwrap()), want, "{n} from {seed}");
            let among = allow(&want, &|at| of_mask.contains_key(at));
            assert_eq!(entries(&$chain.mask(mask.structure()).eval().unwrap()), among);
            let others = allow(&want, &|at| !of_mask.contains_key(at));
            assert_eq!(entries(&$chain.mask(!mask.structure()).eval().unwrap()), others);
            let valued = allow(&want, &|at| of_mask.get(at).is_some_and(|x| *x != 0));
            assert_eq!(entries(&$chain.mask(&mask).eval().unwrap()), valued);
            // Written into an existing matrix.
            let mut c = b.clone();
            $chain.mask(!mask.structure()).accum(Minus::new()).into(&mut c).unwrap();
            assert_eq!(entries(&c), union(&of_b, &others, |x, y| x.zip(y).map(|(x, y)| x - y).or(x).or(y)));
            $chain.mask(mask.structure()).replace().into(&mut c).unwrap();
            assert_eq!(entries(&c), among);
        }};
    }
    check!(cpu.ewise_add(Minus::new(), &a, &b), union(&of_a, &of_b, |x, y| x.zip(y).map(|(x, y)| x - y).or(x).or(y)));
    check!(cpu.ewise_mult(Minus::new(), &a, &b), union(&of_a, &of_b, |x, y| Some(x? - y?)));
    check!(
        cpu.ewise_union(Minus::new(), &a, 7, &b, 5),
        union(&of_a, &of_b, |x, y| x.or(y).map(|_| x.unwrap_or(7) - y.unwrap_or(5)))
    );
    check!(cpu.apply(Ainv::new(), &a), of_a.iter().map(|(at, x)| (*at, -x)).collect());
    check!(cpu.apply_index(RowIndex::<i64, i64>::new(), &a, 3), of_a.keys().map(|at| (*at, at.0 as i64 + 3)).collect());
    check!(cpu.select(ValueGt::new(), &a, 1), of_a.iter().filter(|e| *e.1 > 1).map(|e| (*e.0, *e.1)).collect());
    check!(cpu.transpose(&a), of_a.iter().map(|((i, j), x)| ((*j, *i), *x)).collect());
    check!(cpu.mxm(PlusTimes::<i64>::default(), &a, &b), product(&of_a, &of_b, |x, y, _| x * y));
    let transposed: Entries = of_b.iter().map(|((i, j), x)| ((*j, *i), *x)).collect();
    check!(cpu.mxm(PlusTimes::<i64>::default(), &a, &b).transpose_b(), product(&of_a, &transposed, |x, y, _| x * y));
    // A positional ⊗.
    let second = Ring(Plus::<i64>::new(), SecondI::<i64, i64, i64>::new());
    check!(cpu.mxm(second, &a, &b), product(&of_a, &of_b, |_, _, (_, k, _)| k as i64));
    let first = Ring(Plus::<i64>::new(), FirstI::<i64, i64, i64>::new());
    check!(cpu.mxm(first, &a, &b), product(&of_a, &of_b, |_, _, (i, ..)| i as i64));

    assert_eq!(cpu.reduce(Plus::new(), &a).eval().unwrap(), of_a.values().sum::<i64>());
    let (of_x, of_y) = (places(&x), places(&y));
    let filtered = |v: &Places, keep: bool| -> Places {
        v.iter().filter(|e| of_y.contains_key(e.0) == keep).map(|e| (*e.0, *e.1)).collect()
    };
    macro_rules! check_vector {
        ($chain:expr, $want:expr) => {{
            let want: Places = $want;
            assert_eq!(places(&$chain.eval().unwrap()), want);
            assert_eq!(places(&$chain.mask(y.structure()).eval().unwrap()), filtered(&want, true));
            assert_eq!(places(&$chain.mask(!y.structure()).eval().unwrap()), filtered(&want, false));
        }};
    }
    let column: Entries = of_x.iter().map(|(i, x)| ((*i, 0), *x)).collect();
    let row: Entries = of_x.iter().map(|(i, x)| ((0, *i), *x)).collect();
    let by_rows = |c: Entries| c.into_iter().map(|((i, _), x)| (i, x)).collect();
    let by_columns = |c: Entries| c.into_iter().map(|((_, j), x)| (j, x)).collect();
    check_vector!(cpu.mxv(PlusTimes::<i64>::default(), &a, &x), by_rows(product(&of_a, &column, |x, y, _| x * y)));
    check_vector!(cpu.vxm(PlusTimes::<i64>::default(), &x, &a), by_columns(product(&row, &of_a, |x, y, _| x * y)));
    check_vector!(cpu.vxm(second, &x, &a), by_columns(product(&row, &of_a, |_, _, (_, k, _)| k as i64)));
    let mut sums = Places::new();
    of_a.iter().for_each(|((i, _), x)| *sums.entry(*i).or_insert(0) += x);
    check_vector!(cpu.reduce_rows(Plus::new(), &a), sums);
}

#[test]
fn every_operation_is_that_of_a_map() {
    for seed in 0..40 {
        let cpu = Cpu::with_threads(1 + seed as usize % 3).unwrap();
        every_operation::<u32>(&cpu, 1 << 20, seed);
        every_operation::<u32>(&cpu, 4_000_000_000, seed);
        every_operation::<u64>(&cpu, 1 << 60, seed);
    }
}

/// Matrices of 2⁶⁰ × 2⁶⁰ with few entries: an operation that would need row pointers reports the bytes.
#[test]
fn no_row_pointers_are_made() {
    let n = 1 << 60;
    let a = Csr::<f64, u64>::empty(n, n).unwrap();
    assert_eq!((a.nnz(), a.form(), a.get(n - 1, 0)), (0, MatrixForm::Hypersparse, None));
    let cpu = Cpu::new();
    let sum = cpu.ewise_add(Plus::new(), &a, &a).eval().unwrap();
    assert_eq!(sum.nnz(), 0);
    match a.compressed() {
        Err(Error::OutOfMemory { what, bytes }) => assert_eq!((what, bytes), ("row pointers", 8 * ((1 << 60) + 1))),
        other => panic!("{other:?}"),
    }
    let ring = PlusTimes::<f64>::default();
    assert!(matches!(cpu.plan(&a, &a).eval(), Err(Error::OutOfMemory { .. })));
    assert_eq!(cpu.mxm(ring, &a, &a).eval().unwrap().nnz(), 0);
    let wide = Csr::<f64, u64>::empty(3, n).unwrap();
    assert_eq!(cpu.transpose(&wide).eval().unwrap().shape(), (n, 3));
    assert!(matches!(cpu.mxm(ring, &wide, &wide).eval(), Err(Error::Shape { .. })));
    assert_eq!(cpu.mxm(ring, &wide, &a).eval().unwrap().shape(), (3, n));
    // The run-time type reports its figures without row pointers.
    let named = sparring::runtime::Matrix::from(Csr::<f64>::empty(4_000_000_000, 7).unwrap());
    assert_eq!((named.shape(), named.nnz(), named.ty()), ((4_000_000_000, 7), 0, f64::TYPE));
    assert_eq!(named.csr::<f64>().unwrap().form(), MatrixForm::Hypersparse);
    // Few rows, all of them stored.
    let wide = Csr::<f64, u64>::new(2, n, vec![0, 2, 3], vec![5, n as u64 - 1, 5], vec![2.0, 3.0, 4.0]).unwrap();
    let x = Vector::<f64, u64>::new(n, vec![5, 6], vec![10.0, 1.0]).unwrap();
    let y = cpu.mxv(ring, &wide, &x).eval().unwrap();
    assert_eq!(y.as_full(), Some(&[20.0, 40.0][..]));
    let z = cpu.vxm(ring, &y, &wide).eval().unwrap();
    assert_eq!((z.nnz(), z.get(5), z.get(n - 1)), (2, Some(&200.0), Some(&60.0)));
    let t = cpu.transpose(&wide).eval().unwrap();
    assert_eq!((t.form(), t.get(5, 1), t.nnz()), (MatrixForm::Hypersparse, Some(&4.0), 3));
    assert_eq!(cpu.reduce_rows(Plus::new(), &wide).transpose_a().eval().unwrap().get(5), Some(&6.0));
}

/// Small operands in other forms combined with hypersparse ones of the same shape; duplicates are reported by their
/// indices in the matrix.
#[test]
fn forms_meet() {
    let (cpu, n) = (Cpu::new(), 1 << 20);
    let at = |k: u32| Csr::<f64>::new(n, 5, (0..=n).map(|i| usize::from(i > 7)).collect(), vec![k], vec![1.0]).unwrap();
    let mut hyper = Builder::<f64>::new(n, 5).unwrap();
    hyper.push(7, 2, 5.0).unwrap();
    hyper.push(n - 1, 3, 6.0).unwrap();
    let hyper = hyper.finish(Plus::new()).unwrap();
    assert_eq!((at(2).form(), hyper.form()), (MatrixForm::Rows, MatrixForm::Hypersparse));
    for (a, b) in [(&at(2), &hyper), (&hyper, &at(2))] {
        let c = cpu.ewise_add(Plus::new(), a, b).eval().unwrap();
        assert_eq!((c.nnz(), c.get(7, 2), c.get(n - 1, 3)), (2, Some(&6.0), Some(&6.0)));
        let c = cpu.apply(Identity::new(), a).mask(b.structure()).eval().unwrap();
        assert_eq!((c.nnz(), c.get(7, 2)), (1, a.get(7, 2)));
    }
    let c =
        cpu.mxm(Ring(Plus::<f64>::new(), First::<f64, f64>::default()), &hyper, &at(1)).transpose_b().eval().unwrap();
    assert_eq!(c.nnz(), 0);
    // The rows are the same in both forms.
    assert_eq!(hyper.row(7), (&[2][..], &[5.0][..]));
    assert_eq!(hyper.row_ptr()[8..n], vec![1; n - 8]);
    let mut twice = Builder::<f64, u64>::new(1 << 60, 9).unwrap();
    twice.push(1 << 59, 4, 1.0).unwrap();
    twice.push(1 << 59, 4, 1.0).unwrap();
    assert!(matches!(twice.unique(), Err(Error::Duplicate { row, column: 4 }) if row == 1 << 59));
}

/// A vector with an entry at every index, or at many, times the stored rows.
#[test]
fn dense_vectors_meet_hypersparse_rows() {
    let (cpu, n, rng) = (Cpu::new(), 1 << 20, &mut Rng(71));
    let mut a = Builder::<i64>::new(n, n).unwrap();
    let of_a: Entries = (0..500).map(|_| ((rng.below(n), rng.below(n)), rng.below(9) as i64)).collect();
    of_a.iter().for_each(|(&(i, j), &v)| a.push(i, j, v).unwrap());
    let a = a.finish(Plus::new()).unwrap();
    assert_eq!(a.form(), MatrixForm::Hypersparse);
    let values: Vec<i64> = (0..n as i64).map(|i| i % 7 - 3).collect();
    let full = Vector::<i64>::full(values.clone()).unwrap();
    let even: Vec<u32> = (0..n as u32).step_by(2).collect();
    let half = Vector::<i64>::new(n, even, values.iter().copied().step_by(2).collect()).unwrap();
    let (mut seen, ring) = (Vector::<bool>::empty(n).unwrap(), PlusTimes::<i64>::new());
    (0..n).step_by(3).for_each(|i| _ = seen.set(i, true).unwrap());
    for x in [&full, &half] {
        let (mut by_rows, mut by_cols) = (Places::new(), Places::new());
        for (&(i, j), v) in &of_a {
            if let Some(x) = x.get(j) {
                *by_rows.entry(i).or_insert(0) += v * x;
            }
            if let Some(x) = x.get(i) {
                *by_cols.entry(j).or_insert(0) += v * x;
            }
        }
        assert_eq!(places(&cpu.mxv(ring, &a, x).eval().unwrap()), by_rows);
        assert_eq!(places(&cpu.vxm(ring, x, &a).eval().unwrap()), by_cols);
        let masked = cpu.mxv(ring, &a, x).mask(!seen.structure()).eval().unwrap();
        by_rows.retain(|i, _| i % 3 != 0);
        assert_eq!(places(&masked), by_rows);
    }
}

/// Each entry of a hypersparse matrix with each entry of a small one.
#[test]
fn kronecker_products_are_hypersparse() {
    let (cpu, n) = (Cpu::new(), 1usize << 40);
    let mut a = Builder::<i64, u64>::new(n, n).unwrap();
    a.push(3, n - 1, 2).unwrap();
    a.push(n - 1, 0, 5).unwrap();
    let a = a.finish(Plus::new()).unwrap();
    let b = Csr::<i64, u64>::new(3, 2, vec![0, 1, 1, 2], vec![1, 0], vec![7, 11]).unwrap();
    let c = cpu.kronecker(Minus::new(), &a, &b).eval().unwrap();
    assert_eq!((c.shape(), c.nnz(), c.form()), ((3 * n, 2 * n), 4, MatrixForm::Hypersparse));
    for ((i, j), (k, l), want) in
        [((3, n - 1), (0, 1), -5), ((3, n - 1), (2, 0), -9), ((n - 1, 0), (0, 1), -2), ((n - 1, 0), (2, 0), -6)]
    {
        assert_eq!(c.get(3 * i + k, 2 * j + l), Some(&want));
    }
    let c = cpu.kronecker(Minus::new(), &b, &a).eval().unwrap();
    assert_eq!((c.get(2 * n + 3, n - 1), c.get(n - 1, n), c.nnz()), (Some(&9), Some(&2), 4));
    assert!(matches!(cpu.kronecker(Minus::new(), &a, &a).eval(), Err(Error::IndexOverflow { .. })));
}

/// Single updates are buffered beside the rows, and merged when these are read.
#[test]
fn entries_are_set_and_removed() {
    let (rng, n) = (&mut Rng(5), 1 << 60);
    let mut a: Csr<i64, u64> = draw(rng, n, 10);
    let mut want = entries(&a);
    let before = (a.clone(), want.clone());
    for step in 0..300 {
        let (i, j) = (spread(n, rng.below(6)), spread(n, rng.below(6)));
        if rng.below(2) == 0 {
            assert_eq!(a.set(i, j, step).unwrap(), want.insert((i, j), step));
        } else {
            assert_eq!(a.remove(i, j).unwrap(), want.remove(&(i, j)));
        }
        assert_eq!((a.nnz(), a.get(i, j), a.form()), (want.len(), want.get(&(i, j)), MatrixForm::Hypersparse));
        if step % 7 == 0 {
            assert_eq!(entries(&a), want, "step {step}");
            let (rows, cols, values) = a.extract_tuples().unwrap();
            let tuples = rows.iter().zip(&cols).map(|(i, j)| (*i as usize, *j as usize)).zip(values);
            assert!(tuples.eq(want.iter().map(|(at, x)| (*at, *x))));
        }
    }
    assert_eq!(entries(&before.0), before.1);
    assert!(matches!(a.set(n, 0, 1), Err(Error::IndexRange { axis: "row", .. })));
    assert!(matches!(a.set(0, n, 1), Err(Error::IndexRange { axis: "column", .. })));
    assert_eq!(a.remove(n, n).unwrap(), None);
}

/// Submatrices, diagonals and row aggregates.
#[test]
fn parts_are_those_of_a_map() {
    let (cpu, rng, n) = (Cpu::with_threads(2).unwrap(), &mut Rng(6), 1 << 60);
    for _ in 0..20 {
        let a: Csr<i64, u64> = draw(rng, n, 12);
        let want = entries(&a);
        // All rows are extracted, so no row list is stored.
        let cols: Vec<usize> = (0..6).map(|at| spread(n, at)).rev().collect();
        let c = cpu.extract_matrix(&a, .., cols.clone()).eval().unwrap();
        let found: Entries = c.iter().map(|(i, q, x)| ((i, cols[q]), *x)).collect();
        assert_eq!((found, c.shape()), (want.clone(), (n, 6)));
        let k = (n / 2) as i64;
        let on = |k: i64| want.iter().filter(move |((i, j), _)| *j as i64 - *i as i64 == k);
        for k in [0, 1, k, -k] {
            let diagonal = places(&cpu.diagonal(&a, k).eval().unwrap());
            assert_eq!(diagonal, on(k).map(|((i, j), x)| (*i.min(j), *x)).collect::<Places>());
        }
        let mut counts = Places::new();
        want.keys().for_each(|(i, _)| *counts.entry(*i).or_default() += 1);
        assert_eq!(places(&cpu.count_rows(&a).eval().unwrap()), counts);
        let least = |i: usize| {
            let row = want.range((i, 0)..=(i, usize::MAX));
            row.min_by_key(|((_, j), x)| (**x, *j)).map(|((_, j), _)| *j as i64)
        };
        let argmin = counts.keys().filter_map(|&i| Some((i, least(i)?))).collect::<Places>();
        assert_eq!(places(&cpu.argmin_rows(&a).eval().unwrap()), argmin);
    }
}

/// Row labels have the type of the columns: an entry beyond its range is refused when it is set, not when it is read.
#[test]
fn an_entry_has_a_row_that_its_type_of_index_holds() {
    let (last, nrows) = (u32::MAX as usize, 1usize << 33);
    let mut a = Csr::<f64>::empty(nrows, 3).unwrap();
    assert_eq!(a.set(last, 1, 5.0).unwrap(), None);
    match a.set(last + 1, 1, 5.0) {
        Err(Error::IndexOverflow { needed, max, .. }) => assert_eq!((needed, max), (1 << 32, (1 << 32) - 1)),
        other => panic!("{other:?}"),
    }
    assert_eq!(a.remove(last + 1, 1).unwrap(), None);
    assert_eq!((a.nnz(), a.get(last, 1), a.get(0, 1)), (1, Some(&5.0), None));
}

/// Distances need compressed rows, whose row pointers may exceed memory.
#[test]
fn distances_of_rows_without_room_are_refused() {
    let (cpu, narrow) = (Cpu::new(), Csr::<f64, u64>::empty(3, 4).unwrap());
    let tall = Csr::<f64, u64>::empty(1 << 60, 4).unwrap();
    for (x, y) in [(&tall, &narrow), (&narrow, &tall)] {
        let near = cpu.neighbours(Metric::Euclidean, x).to(y).k(1).eval();
        assert!(matches!(near, Err(Error::OutOfMemory { .. })), "{near:?}");
        let within = cpu.neighbours(Metric::Manhattan, x).to(y).radius(1.0).eval();
        assert!(matches!(within, Err(Error::OutOfMemory { .. })), "{within:?}");
    }
}

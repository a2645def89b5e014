//! Reductions of raw compressed arrays, compared with those of matrices and with plain loops.

use sparring::algebra::{Slice, Type};
use sparring::runtime::{Machine, Matrix, Monoid, Op, Vector};
use sparring::{Csr, Error};

/// Columns in no order; some repeated within a row, some in no row.
fn columns_of(nnz: usize, ncols: usize) -> Vec<u32> {
    (0..nnz).map(|p| (p * p % 1_000_003 * 7 % ncols / 2 * 2) as u32).collect()
}

#[test]
fn columns_are_folded_where_they_lie() {
    // One part and several; fewer columns than bits in a word, and more columns than entries.
    for (nnz, ncols) in [(0, 0), (0, 5), (1, 1), (900, 1), (900, 100), (900, 5000), (70_000, 90), (300_000, 20_000)] {
        let columns = columns_of(nnz, ncols.max(1));
        let exact: Vec<i64> = (0..nnz as i64).map(|p| p % 1000 - 500).collect();
        let reals: Vec<f64> = exact.iter().map(|&x| x as f64 / 3.0).collect();
        let mut want = vec![None; ncols];
        for (&j, &x) in columns.iter().zip(&exact) {
            let sum = &mut want[j as usize];
            *sum = Some(sum.map_or(x, |sum| sum + x));
        }
        let mut bits: Option<Vec<u64>> = None;
        for threads in [1, 2, 3] {
            let cpu = Machine::cpu(threads, None).unwrap();
            let plus = Monoid::new("plus", Type::I64).unwrap();
            let y = cpu.reduce_values_of_columns(&plus, ncols, &columns, Slice::of(&exact)).unwrap();
            let y = y.typed::<i64>().unwrap();
            let found: Vec<Option<i64>> = (0..ncols).map(|j| y.get(j).copied()).collect();
            assert_eq!(found, want, "{nnz} in {ncols} columns");
            let plus = Monoid::new("plus", Type::F64).unwrap();
            let y = cpu.reduce_values_of_columns(&plus, ncols, &columns, Slice::of(&reals)).unwrap();
            let y = y.typed::<f64>().unwrap();
            let found: Vec<u64> = (0..ncols).map(|j| y.get(j).map_or(1, |x| x.to_bits())).collect();
            let near = |j: usize| y.get(j).map_or(0.0, |y| (y - want[j].unwrap_or(0) as f64 / 3.0).abs());
            assert!((0..ncols).all(|j| near(j) < 1e-6));
            assert_eq!(*bits.get_or_insert_with(|| found.clone()), found, "{threads} threads");
        }
        // A formula, which is folded in blocks.
        let most = Monoid::new("max(a, b) identity -1000", Type::I64).unwrap();
        let cpu = Machine::cpu(2, None).unwrap();
        let y = cpu.reduce_values_of_columns(&most, ncols, &columns, Slice::of(&exact)).unwrap();
        let y = y.typed::<i64>().unwrap();
        let mut want = vec![None; ncols];
        for (&j, &x) in columns.iter().zip(&exact) {
            let most = &mut want[j as usize];
            *most = (*most).max(Some(x));
        }
        assert_eq!((0..ncols).map(|j| y.get(j).copied()).collect::<Vec<_>>(), want);
    }
}

#[test]
fn rows_and_all_are_those_of_the_matrix() {
    let (cpu, nnz) = (Machine::cpu(2, None).unwrap(), 100_000);
    let row_ptr: Vec<usize> = (0..=1000).map(|i| nnz * i / 1000 / 300 * 300).chain([nnz]).collect();
    let (columns, x): (Vec<u32>, Vec<f64>) = (0..nnz).map(|p| ((p % 300) as u32, 1.0 / (p + 1) as f64)).unzip();
    let a = Matrix::from(Csr::<f64>::from_unsorted(1001, 400, row_ptr.clone(), columns, x.clone()).unwrap());
    let plus = Monoid::new("plus", Type::F64).unwrap();
    assert_eq!(cpu.reduce_values(&plus, Slice::of(&x)).unwrap(), cpu.reduce(&plus, &a).unwrap());
    let (y, want) = (
        cpu.reduce_values_of_rows(&plus, &row_ptr, Slice::of(&x)).unwrap(),
        cpu.call(Op::ReduceRows(&plus), &a).eval::<Vector>().unwrap(),
    );
    let (found, want) = (y.entries().unwrap(), want.entries().unwrap());
    assert!(found.0 == want.0 && found.1.slice().get::<f64>() == want.1.slice().get::<f64>());
}

#[test]
fn wrong_arrays_are_refused() {
    let (cpu, plus) = (Machine::cpu(2, None).unwrap(), Monoid::new("plus", Type::F64).unwrap());
    let x = [1.0f64, 2.0, 3.0];
    let rows = |row_ptr: &[usize]| cpu.reduce_values_of_rows(&plus, row_ptr, Slice::of(&x)).unwrap_err();
    assert!(matches!(rows(&[]), Error::Length { found: 0, .. }));
    assert!(matches!(rows(&[1, 3]), Error::RowPointer { row: 0, found: 1, .. }));
    assert!(matches!(rows(&[0, usize::MAX, 3]), Error::RowPointer { row: 2, found: 3, .. }));
    assert!(matches!(rows(&[0, 2]), Error::RowPointer { row: 1, found: 2, .. }));
    let of = |columns: &[u32]| cpu.reduce_values_of_columns(&plus, 3, columns, Slice::of(&x)).unwrap_err();
    assert!(matches!(of(&[0, 1]), Error::Length { found: 3, expected: 2, .. }));
    assert!(matches!(of(&[0, 3, u32::MAX]), Error::IndexRange { position: 1, index: 3, bound: 3, .. }));
    let single = Monoid::new("plus", Type::F32).unwrap();
    assert!(matches!(cpu.reduce_values(&single, Slice::of(&x)).unwrap_err(), Error::Argument { .. }));
    let any = Monoid::new("any", Type::F64).unwrap();
    let last = cpu.reduce_values_of_columns(&any, 3, &[0, 1, 2], Slice::of(&x)).unwrap_err();
    assert!(matches!(last, Error::Unsupported { .. }), "{last}");
}

//! Kronecker products by name and by formulas, compared with loops over all pairs of entries.

use std::collections::BTreeMap;

use sparring::algebra::{Minus, Type, Value};
use sparring::prelude::*;
use sparring::runtime::{BinaryOp, Machine, Matrix, Op, Pairing};

use super::operands::{machines, pairs, same_matrix};
use crate::common::arbitrary::{AnyPattern, Draw, Rng};

/// A ⊗ B by `f`, rows sorted.
fn plain<T: Draw, U: Value>(a: &Csr<T>, b: &Csr<T>, f: &dyn Fn(T, T) -> U) -> Csr<U> {
    let (p, q) = b.shape();
    let mut rows = vec![BTreeMap::new(); a.nrows() * p];
    for (i, j, &x) in a.iter() {
        for (k, l, &y) in b.iter() {
            rows[i * p + k].insert((j * q + l) as u32, f(x, y));
        }
    }
    let mut row_ptr = vec![0];
    rows.iter().for_each(|row| row_ptr.push(row_ptr[row_ptr.len() - 1] + row.len()));
    let (cols, values) = rows.into_iter().flatten().unzip();
    Csr::new(a.nrows() * p, a.ncols() * q, row_ptr, cols, values).unwrap()
}

fn compare<T: Draw, U: Value>(text: &str, f: &dyn Fn(T, T) -> U) {
    let op = BinaryOp::new(text, T::TYPE).unwrap();
    let mut rng = Rng(4);
    // Small ones of all kinds, and rows of A times rows of B that are longer than a block.
    let mut operands: Vec<(Csr<T>, Csr<T>)> = (0..12)
        .map(|seed| {
            let mut of = |n: usize| {
                let (m, n) = (rng.below(n), rng.below(n));
                AnyPattern::of_shape(&mut rng, m, n).matrix::<T>(seed)
            };
            (of(9), of(12))
        })
        .collect();
    let wide = pairs::<T>(3).into_iter().map(|p| p.0).find(|a| a.shape() == (1, 700)).unwrap();
    operands.extend(operands.clone().into_iter().take(4).map(|(a, _)| (a, wide.clone())));
    for (a, b) in operands {
        let (ra, rb, want) = (Matrix::from(a.clone()), Matrix::from(b.clone()), plain(&a, &b, f));
        for m in machines() {
            let c = m.kronecker(&op, &ra, &rb).unwrap().download().unwrap();
            same_matrix(&c, &want, &format!("{text} over {}", T::TYPE));
        }
    }
}

#[test]
fn kronecker_products_by_name_are_the_loops() {
    compare::<f64, _>("times", &|x, y| x * y);
    compare::<i64, _>("a - 2*b", &|x, y| x.wrapping_sub(y.wrapping_mul(2)));
    compare::<u8, _>("a < b", &|x, y| x < y);
    compare::<f32, _>("second", &|_, y| y);
}

/// Mask, accumulator and transposes, into an operand: equal to the typed chain.
#[test]
fn kronecker_products_are_written_as_others_are() {
    let cpu = Cpu::with_threads(2).unwrap();
    let times = BinaryOp::new("times", Type::I64).unwrap();
    let plus = BinaryOp::new("plus", Type::I64).unwrap();
    let kronecker = Op::Pairs(Pairing::Kronecker, &times);
    let mut rng = Rng(9);
    for seed in 0..10 {
        let mut of = |m: usize, n: usize| AnyPattern::of_shape(&mut rng, m, n).matrix::<i64>(seed);
        let (a, b, mask) = (of(1, 1), of(6, 7), of(6, 7));
        let (ra, rb, rmask) = (Matrix::from(a.clone()), Matrix::from(b.clone()), Matrix::from(mask.clone()));
        for m in machines() {
            let (mut c, mut rc) = (b.clone(), rb.clone());
            let chain = cpu.kronecker(sparring::algebra::Times::<i64>::new(), &a, &c).mask(&mask).complement();
            chain.accum(sparring::algebra::Plus::new()).into(&mut c).unwrap();
            m.call(kronecker, (&ra, &rc)).mask(&rmask).complement().accum(&plus).into(&mut rc).unwrap();
            same_matrix(&rc.download().unwrap(), &c, "into its right operand");
            let want = cpu.kronecker(sparring::algebra::Times::<i64>::new(), &b, &mask).transpose_a().eval().unwrap();
            let found: Matrix = m.call(kronecker, (&rb, &rmask)).transpose_a().eval().unwrap();
            same_matrix(&found.download().unwrap(), &want, "transposed");
        }
    }
    let m = &machines()[0];
    let x = sparring::runtime::Vector::from(sparring::Vector::<i64>::full(vec![1, 2]).unwrap());
    assert!(m.call(kronecker, (&x, &x)).eval::<sparring::runtime::Vector>().is_err(), "vectors");
    let a = Matrix::from(Csr::<f64>::empty(2, 2).unwrap());
    let e = m.kronecker(&times, &a, &a).unwrap_err().to_string();
    assert_eq!(e, "a: its values are f64, but times takes i64");
}

fn of_lens(ncols: usize, lens: &[usize]) -> Csr<f64> {
    let ptr = std::iter::once(0).chain(lens.iter().scan(0, |end, len| {
        *end += len;
        Some(*end)
    }));
    let cols: Vec<u32> = lens.iter().flat_map(|&len| (0..len).map(move |p| (p * ncols / len) as u32)).collect();
    let values = (0..cols.len()).map(|p| 1.0 / (p + 3) as f64).collect();
    Csr::new(lens.len(), ncols, ptr.collect(), cols, values).unwrap()
}

/// B with few entries and with many, empty rows, rows of A longer than an operator block: bitwise the typed loops.
#[test]
fn products_by_name_are_those_by_types() {
    // Operators compute blocks of so many values.
    const BLOCK: usize = 128;
    let one = Cpu::with_threads(1).unwrap();
    let mut lens: Vec<usize> = (0..900).map(|i| [2, 0, 5, 1, 0, 0, 40][i % 7]).collect();
    (lens[3], lens[4], lens[899]) = (BLOCK, 3 * BLOCK + 1, 0);
    let of_a = [of_lens(1000, &lens), of_lens(7, &[3]), of_lens(1, &[0, 1, 0, 0]), of_lens(5, &[0, 0])];
    let of_b: [&[usize]; 9] =
        [&[1], &[2, 2], &[0, 3, 0, 1], &[4, 0, 5], &[0, 0, 16], &[16, 1], &[15, 1], &[0, 40, 3], &[0, 0]];
    let minus = BinaryOp::new("minus", Type::F64).unwrap();
    for (a, b) in of_a.iter().flat_map(|a| of_b.iter().map(move |lens| (a, of_lens(50, lens)))) {
        let want = one.kronecker(Minus::<f64>::new(), a, &b).eval().unwrap();
        for threads in [1, 2, 3] {
            let machine = Machine::from(Cpu::with_threads(threads).unwrap());
            let (x, y) = (Matrix::from(a.clone()), Matrix::from(b.clone()));
            let c: Matrix = machine.call(Op::Pairs(Pairing::Kronecker, &minus), (&x, &y)).eval().unwrap();
            assert_eq!(c.csr::<f64>().unwrap(), &want, "{:?} and {:?}", a.shape(), b.row_ptr());
        }
    }
}

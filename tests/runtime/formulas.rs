//! Formulas on matrices and vectors, compared with loops over the entries.

use std::collections::BTreeMap;

use sparring::algebra::Type;
use sparring::prelude::Csr;
use sparring::runtime::{BinaryOp, Matrix, Monoid, Scalar, Semiring, UnaryOp, Vector};

use super::operands::{is_cpu, machines, pairs, same_matrix, same_vector, vectors};

/// The entries as a table.
fn cells(a: &Csr<i64>) -> BTreeMap<(usize, usize), i64> {
    a.iter().map(|(i, j, x)| ((i, j), *x)).collect()
}
/// The table as a matrix.
fn matrix(shape: (usize, usize), cells: &BTreeMap<(usize, usize), i64>) -> Csr<i64> {
    let mut row_ptr = vec![0; shape.0 + 1];
    cells.keys().for_each(|(i, _)| row_ptr[i + 1] += 1);
    (0..shape.0).for_each(|i| row_ptr[i + 1] += row_ptr[i]);
    let cols = cells.keys().map(|c| c.1 as u32).collect();
    Csr::new(shape.0, shape.1, row_ptr, cols, cells.values().copied().collect()).unwrap()
}
fn vector(len: usize, cells: &BTreeMap<usize, i64>) -> sparring::Vector<i64> {
    sparring::Vector::new(len, cells.keys().map(|&i| i as u32).collect(), cells.values().copied().collect()).unwrap()
}

#[test]
fn formulas_are_what_they_say() {
    let twice = BinaryOp::new("a + 2*b", Type::I64).unwrap();
    let place = UnaryOp::new("a*a - i64(i) + 3*i64(j)", Type::I64).unwrap();
    let some = UnaryOp::between("(i < j) & (a > s)", Type::I64, Type::I64).unwrap().with(2i64).unwrap();
    let ring = Semiring::new("max, a + 2*b + i64(k)", Type::I64).unwrap();
    let fold = Monoid::new("if a < b then b else a identity -9223372036854775808", Type::I64).unwrap();
    for m in machines() {
        for (a, b) in pairs::<i64>(21) {
            let (ca, cb, shape) = (cells(&a), cells(&b), a.shape());
            let (ra, rb) = (Matrix::from(a.clone()), Matrix::from(b.clone()));
            let f = |x: i64, y: i64| x.wrapping_add(2i64.wrapping_mul(y));
            let mut union = cb.clone();
            for (p, x) in &ca {
                union.entry(*p).and_modify(|y| *y = f(*x, *y)).or_insert(*x);
            }
            same_matrix(&m.ewise_add(&twice, &ra, &rb).unwrap(), &matrix(shape, &union), "a + 2b, union");
            let both = ca.iter().filter_map(|(p, x)| Some((*p, f(*x, *cb.get(p)?)))).collect();
            same_matrix(&m.ewise_mult(&twice, &ra, &rb).unwrap(), &matrix(shape, &both), "a + 2b, both");
            let at = |(i, j): (usize, usize), x: i64| {
                x.wrapping_mul(x).wrapping_sub(i as i64).wrapping_add(3i64.wrapping_mul(j as i64))
            };
            let applied = ca.iter().map(|(p, x)| (*p, at(*p, *x))).collect();
            same_matrix(&m.apply(&place, &ra).unwrap(), &matrix(shape, &applied), "of the place");
            let kept = cb.iter().filter(|((i, j), x)| i < j && **x > 2).map(|(p, x)| (*p, *x)).collect();
            same_matrix(&m.select(&some, &rb).unwrap(), &matrix(shape, &kept), "above, and more than 2");

            for x in vectors::<i64>(22, shape.1) {
                let mut y = BTreeMap::new();
                for (&(i, k), &v) in &ca {
                    if let Some(&w) = x.get(k) {
                        let z = f(v, w).wrapping_add(k as i64);
                        y.entry(i).and_modify(|y: &mut i64| *y = z.max(*y)).or_insert(z);
                    }
                }
                let rx = Vector::from(x.clone());
                same_vector(&m.mxv(&ring, &ra, &rx).unwrap(), &vector(shape.0, &y), "max, a + 2b + k");
                let places: BTreeMap<_, _> = x.iter().map(|(i, v)| (i, at((i, 0), *v))).collect();
                same_vector(&m.apply(&place, &rx).unwrap(), &vector(shape.1, &places), "of the place");
                let none = m.select(&some, &rx).unwrap().nvals().unwrap();
                assert_eq!(none, 0, "column 0 is above no row");
                let most = x.iter().map(|e| *e.1).max().unwrap_or(i64::MIN);
                assert_eq!(m.reduce(&fold, &rx).unwrap(), Scalar::from(most));
            }
            for x in vectors::<i64>(23, shape.0) {
                let mut y = BTreeMap::new();
                for (&(k, j), &v) in &cb {
                    if let Some(&w) = x.get(k) {
                        let z = f(w, v).wrapping_add(k as i64);
                        y.entry(j).and_modify(|y: &mut i64| *y = z.max(*y)).or_insert(z);
                    }
                }
                same_vector(&m.vxm(&ring, &x.into(), &rb).unwrap(), &vector(shape.1, &y), "vxm: max, a + 2b + k");
            }
            let mut rows = BTreeMap::new();
            ca.iter().for_each(|(p, &x)| {
                rows.entry(p.0).and_modify(|y: &mut i64| *y = x.max(*y)).or_insert(x);
            });
            same_vector(&m.reduce_rows(&fold, &ra).unwrap(), &vector(shape.0, &rows), "largest of a row");
            assert_eq!(m.reduce(&fold, &ra).unwrap(), Scalar::from(ca.values().copied().max().unwrap_or(i64::MIN)));
        }
    }
}

#[test]
fn operands_and_results_may_differ_in_type() {
    let op = BinaryOp::between("f64(a) * b", Type::U8, Type::F64).unwrap();
    assert_eq!((op.takes(), op.ty()), ((Type::U8, Type::F64), Type::F64));
    let ring = Semiring::between("plus, f64(a) * b", Type::U8, Type::F64).unwrap();
    for m in machines() {
        for (n, (a, _)) in pairs::<u8>(31).into_iter().enumerate() {
            let b = a.map(|x| f64::from(*x) / 4.0).unwrap();
            let want = a.map(|x| f64::from(*x) * (f64::from(*x) / 4.0)).unwrap();
            let (ra, rb) = (Matrix::from(a.clone()), Matrix::from(b));
            let c = m.ewise_mult(&op, &ra, &rb).unwrap();
            let sorted = sparring::par::Threads::current();
            same_matrix(&c, &want.sorted(&sorted).unwrap(), "u8 and f64");
            let x = vectors::<f64>(n as u64, a.ncols()).remove(2);
            let y = m.mxv(&ring, &ra, &x.clone().into()).unwrap();
            assert_eq!((y.ty(), y.len()), (Type::F64, a.nrows()));
            if is_cpu(&m) {
                let mut want = BTreeMap::<usize, f64>::new();
                for (i, k, v) in a.iter() {
                    if let Some(w) = x.get(k) {
                        *want.entry(i).or_insert(0.0) += f64::from(*v) * w;
                    }
                }
                let (at, values) = (want.keys().map(|&i| i as u32).collect(), want.values().copied().collect());
                same_vector(&y, &sparring::Vector::new(a.nrows(), at, values).unwrap(), "u8 times f64");
            }
        }
    }
}

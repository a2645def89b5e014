//! Calls on small matrices, which bypass plans, blocks and pools.

use std::ops::ControlFlow;
use std::sync::Arc;

use sparring::Pattern;
use sparring::algebra::{Array, Type};
use sparring::prelude::*;
use sparring::runtime::{Machine, Matrix, Monoid, Semiring, Vector};
use sparring::spgemm::Options;

use super::definition::{Plain, entry, fold};
use super::operands::{same, same_values, vectors};
use crate::common::arbitrary::{AnyPattern, Rng, rows};

const TEXTS: [&str; 8] = [
    "plus_times",
    "min_plus",
    "max_second",
    "plus_secondi",
    "any_firsti",
    "plus, a * f64(i) - b * f64(k) + f64(j)",
    "a + b - a*b identity 0, abs(a - b)",
    "lor, (a > b)",
];

/// The entries of A ⊕.⊗ B by the definition.
fn entries(ring: &Semiring, a: &Matrix, b: &Matrix) -> Vec<(usize, usize, Array)> {
    let plain = (&Plain::new(ring.formula().add().op()), &Plain::new(ring.formula().mul()));
    let places = (0..a.shape().0).flat_map(|i| (0..b.shape().1).map(move |j| (i, j)));
    places.filter_map(|(i, j)| Some((i, j, entry(ring, plain, (i, j), a, b)?))).collect()
}

/// Whether a matrix has these entries in this order, bit for bit.
fn check<'e>(found: &Matrix, want: impl Iterator<Item = &'e (usize, usize, Array)>, what: &str) {
    let (pattern, values) = (found.pattern().unwrap(), found.values().unwrap());
    let rows = (0..pattern.nrows()).flat_map(|i| pattern.row(i).iter().map(move |&j| (i, j as usize)));
    let mut found = rows.enumerate();
    for (i, j, x) in want {
        let (p, at) = found.next().unwrap_or_else(|| panic!("{what}: ({i}, {j}) is missing"));
        assert_eq!(at, (*i, *j), "{what}");
        same_values(values.part(p..p + 1), x.slice(), what);
    }
    assert_eq!(found.next(), None, "{what}");
}

/// A vector as a one-column or one-row matrix.
fn as_matrix(x: &Vector, column: bool) -> Matrix {
    let (places, values) = x.entries().unwrap();
    let pattern = if column {
        let before = |i: usize| places.partition_point(|&p| (p as usize) < i);
        Pattern::new(x.len(), 1, (0..=x.len()).map(before).collect(), vec![0; places.len()])
    } else {
        Pattern::new(1, x.len(), vec![0, places.len()], places)
    };
    Matrix::new(Arc::new(pattern.unwrap()), values).unwrap()
}

/// Matrix–matrix products under masks of all kinds, and products with vectors in all forms; both operands may be the
/// same object.
#[test]
fn small_products_are_the_definition() {
    let cpu = Machine::from(Cpu::with_threads(2).unwrap());
    let mut rng = Rng(19);
    let mut seen = 0;
    for (m, k, n) in [(0, 3, 4), (4, 0, 3), (3, 4, 0), (0, 0, 0), (1, 1, 1), (5, 5, 5), (9, 7, 30), (2, 3, 150)] {
        for _ in 0..3 {
            let seed = rng.next();
            let a = Matrix::from(AnyPattern::of_shape(&mut rng, m, k).matrix::<f64>(seed));
            let b = Matrix::from(AnyPattern::of_shape(&mut rng, k, n).matrix::<f64>(!seed));
            let pairs = if m == k { vec![(&a, &b), (&a, &a)] } else { vec![(&a, &b)] };
            for text in TEXTS {
                let ring = Semiring::new(text, Type::F64).unwrap();
                for &(a, b) in &pairs {
                    let want = entries(&ring, a, b);
                    let what = format!("{text} of {:?} and {:?}", a.shape(), b.shape());
                    check(&cpu.mxm(&ring, a, b).unwrap(), want.iter(), &what);
                    let random = AnyPattern::of_shape(&mut rng, m, b.shape().1).pattern();
                    let none = Arc::new(Pattern::new(m, b.shape().1, vec![0; m + 1], vec![]).unwrap());
                    for mask in [random, none] {
                        let marks = Matrix::from(Csr::<i8>::with_pattern(mask.clone(), vec![0; mask.nnz()]).unwrap());
                        for complement in [false, true] {
                            let mask_of = Some((&marks, complement));
                            let c = cpu.mxm_with(&ring, a, b, mask_of, &Options::default()).unwrap().into_matrix();
                            let allowed =
                                |&&(i, j, _): &&(usize, usize, Array)| mask.row(i).contains(&(j as u32)) != complement;
                            check(&c, want.iter().filter(allowed), &format!("{what}, complement {complement}"));
                        }
                    }
                    seen += want.len();
                }
                let vector = |entries: Vec<(usize, usize, Array)>, y: Vector, column: bool, what: &str| {
                    check(&as_matrix(&y, column), entries.iter(), what);
                };
                // Floating-point products with full vectors use eight partial sums, joined at the end.
                let in_order = if text == "plus_times" { 3 } else { 4 };
                for x in vectors::<f64>(seed, k).into_iter().take(in_order).map(Vector::from) {
                    let want = entries(&ring, &a, &as_matrix(&x, true));
                    vector(want, cpu.mxv(&ring, &a, &x).unwrap(), true, &format!("mxv {text} of {m}×{k}"));
                }
                for x in vectors::<f64>(seed, m).into_iter().map(Vector::from) {
                    let want = entries(&ring, &as_matrix(&x, false), &a);
                    vector(want, cpu.vxm(&ring, &x, &a).unwrap(), false, &format!("vxm {text} of {m}×{k}"));
                }
            }
            for text in ["max", "times", "logaddexp", "a + b - a*b identity 0"] {
                let monoid = Monoid::new(text, Type::F64).unwrap();
                let what = format!("reduce {text} of {m}×{k}");
                assert_eq!(cpu.reduce(&monoid, &a).unwrap(), fold(&monoid, a.values().unwrap()), "{what}");
            }
        }
    }
    assert!(seen > 2000, "{seen} entries");
}

/// Small products bypass the plan and give the same bits as with one, also at the limits of the small case.
#[test]
fn small_products_are_those_of_a_plan() {
    let cpu = Machine::from(Cpu::with_threads(2).unwrap());
    let mut rng = Rng(11);
    let mut pairs: Vec<(Csr<f64>, Csr<f64>)> = vec![];
    for (m, k, n) in [(0, 3, 4), (4, 0, 3), (3, 4, 0), (1, 1, 1), (9, 7, 300), (60, 5, 8), (1000, 3, 2), (1100, 3, 2)] {
        for _ in 0..4 {
            let (a, b) = (AnyPattern::of_shape(&mut rng, m, k), AnyPattern::of_shape(&mut rng, k, n));
            let seed = rng.next();
            pairs.push((a.matrix(seed), b.matrix(!seed)));
        }
    }
    // Rows with 127 to 129 products, alone and after others.
    for n in [127, 128, 129] {
        let wide = |rows: usize, n: usize| {
            let cols = (0..rows).flat_map(|_| 0..n as u32).collect();
            let values = (0..rows * n).map(|p| 0.1 * p as f64 - 3.0).collect();
            Csr::<f64>::new(rows, n, (0..=rows).map(|r| r * n).collect(), cols, values).unwrap()
        };
        pairs.push((wide(1, 1), wide(1, n)));
        pairs.push((wide(3, 1), wide(1, n)));
        pairs.push((wide(3, 2), wide(2, n / 2 + 1)));
        let mixed = rows(&mut rng, 12, n, 3, 9);
        pairs.push((wide(5, 12), mixed.matrix(7)));
    }
    for (c, (a, b)) in pairs.into_iter().enumerate() {
        let (a, b) = (Matrix::from(a), Matrix::from(b));
        for text in TEXTS {
            let ring = Semiring::new(text, Type::F64).unwrap();
            let plan = cpu.plan(&a, &b, &Options::default()).unwrap();
            let want = cpu.numeric(&plan, &ring, &a, &b).unwrap();
            same(&cpu.mxm(&ring, &a, &b).unwrap(), &want, &format!("pair {c}: {text}"));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_of_small_matrices_too() {
    let cpu = Machine::from(Cpu::with_threads(1).unwrap());
    let a = Csr::<f64>::new(4, 4, vec![0, 2, 5, 5, 7], vec![0, 1, 0, 1, 2, 1, 3], vec![1.0; 7]).unwrap();
    let a = Matrix::from(a);
    let ring = Semiring::new("min_plus", Type::F64).unwrap();
    let narrow = Matrix::from(Csr::<f64>::new(2, 4, vec![0, 1, 1], vec![0], vec![1.0]).unwrap());
    assert!(matches!(cpu.mxm(&ring, &a, &narrow), Err(Error::Shape { op: "mxm", lhs: (4, 4), rhs: (2, 4) })));
    let e = cpu.mxm(&ring, &a, &a.cast(Type::F32).unwrap()).unwrap_err().to_string();
    assert_eq!(e, "b: its values are f32, but ⊗ takes f64");
}

/// A small call is one unit of progress, after which the callback may stop it.
#[test]
fn small_calls_can_be_stopped() {
    let stop = Machine::from(Cpu::with_threads(1).unwrap().on_progress(|p| {
        assert_eq!((p.done, p.total), (1, 1));
        ControlFlow::Break(())
    }));
    let a = Matrix::from(Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![1.0, 2.0]).unwrap());
    let x = Vector::from(sparring::Vector::<f64>::full(vec![1.0, 2.0]).unwrap());
    for text in ["plus_times", "a + b - a*b identity 0, abs(a - b)"] {
        let ring = Semiring::new(text, Type::F64).unwrap();
        assert!(matches!(stop.mxm(&ring, &a, &a), Err(Error::Cancelled { op: "mxm", done: 1, total: 1 })), "{text}");
        assert!(matches!(stop.mxv(&ring, &a, &x), Err(Error::Cancelled { op: "mxv", .. })), "{text}");
    }
    let max = Monoid::new("max", Type::F64).unwrap();
    assert!(matches!(stop.reduce(&max, &a), Err(Error::Cancelled { op: "reduce", done: 1, total: 1 })));
}

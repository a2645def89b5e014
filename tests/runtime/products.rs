//! Products with vectors and folds by name are those by types.

use sparring::algebra::dynamic::{MONOIDS, MonoidVisitor, Named, SEMIRINGS, SemiringVisitor};
use sparring::algebra::{BinaryOp, Monoid, MulOp, Num, Out, Slice, Type, Value};
use sparring::algebra::{MaxFirst, MinSecondI, Plus, PlusTimes, Ring, Semiring as SemiringType};
use sparring::num_complex::Complex;
use sparring::prelude::*;
use sparring::runtime::{self, Machine, Matrix};

use super::operands::{is_cpu, machines, pairs, same, same_values, same_vector, vectors};
use super::textbook;
use crate::common::arbitrary::{AnyPattern, Draw};

/// What the products are compared on: a matrix and a vector for each of its sides.
fn cases<T: Draw>() -> Vec<(Csr<T>, sparring::Vector<T>, sparring::Vector<T>)> {
    let mut cases = vec![];
    for (n, (a, b)) in pairs::<T>(7).into_iter().enumerate() {
        let (xs, ys) = (vectors(n as u64, a.ncols()), vectors(!(n as u64), a.nrows()));
        // Each matrix with vectors of two forms.
        for f in [n % 4, (n + 2) % 4] {
            cases.push((if f < 2 { a.clone() } else { b.clone() }, xs[f].clone(), ys[f].clone()));
        }
    }
    cases
}

fn compare<T: Draw, R>(ring: R, name: &str, machines: &[Machine])
where
    R: SemiringType,
    R::Mul: MulOp<A = T, B = T>,
{
    compare_with(&textbook::erased(ring), name, machines);
}

fn compare_with<T: Draw, U: Value>(ring: &textbook::Ring<T, U>, name: &str, machines: &[Machine]) {
    let any = runtime::Semiring::new(name, T::TYPE).unwrap();
    assert_eq!(any.to_string(), name);
    for (a, x, y) in cases::<T>() {
        let (by_row, by_column) = (ring.mxv(&a, &x), ring.vxm(&y, &a));
        let (a, x, y) = (Matrix::from(a), runtime::Vector::from(x), runtime::Vector::from(y));
        for m in machines {
            // Which of the values is any one's own choice, and a GPU's `mxv` folds long rows in another order.
            let exact = is_cpu(m) || !(name.starts_with("any") || name.starts_with("log"));
            let sums = is_cpu(m) || !matches!(any.ty(), Type::F32 | Type::F64);
            if exact && sums {
                same_vector(&m.mxv(&any, &a, &x).unwrap(), &by_row, &format!("mxv {name} over {}", T::TYPE));
            }
            if exact {
                same_vector(&m.vxm(&any, &y, &a).unwrap(), &by_column, &format!("vxm {name} over {}", T::TYPE));
            }
        }
    }
}

struct ByTypes<'a>(&'a str, &'a [Machine]);
impl<T: Num + Draw> SemiringVisitor<T> for ByTypes<'_> {
    type Output = ();
    fn visit<R>(self, ring: R)
    where
        R: SemiringType,
        R::Mul: MulOp<A = T, B = T>,
        Out<R>: Num,
    {
        compare(ring, self.0, self.1);
    }
}

fn every_name<T: Named + Draw>(machines: &[Machine]) -> usize {
    let names = SEMIRINGS.iter().filter(|row| row.values().contains(&T::TYPE)).map(|row| row.name);
    names.map(|name| T::semiring(name, ByTypes(name, machines)).unwrap()).count()
}

#[test]
fn every_semiring_with_vectors_is_the_one_by_types() {
    let machines = machines();
    let mut names = every_name::<f64>(&machines[..2]) + every_name::<i64>(&machines[2..3]);
    names +=
        every_name::<bool>(&machines[1..2]) + every_name::<u8>(&machines[1..2]) + every_name::<f32>(&machines[3..]);
    macro_rules! others {
        ($($t:ty)*) => {$(
            compare(PlusTimes::<$t>::new(), "plus_times", &machines[1..]);
            compare(MaxFirst::<$t>::new(), "max_first", &machines[1..2]);
            compare(MinSecondI::<$t>::new(), "min_secondi", &machines[1..2]);
            names += 3;
        )*};
    }
    others! { i8 i16 i32 u16 u32 u64 f64 }
    compare(PlusTimes::<Complex<f64>>::new(), "plus_times", &machines[..4]);
    compare(PlusTimes::<Complex<f32>>::new(), "plus_times", &machines[..1]);
    println!("{} semirings with vectors on {} machines", names + 2, machines.len());
}

struct Folds<'a>(&'a str, &'a [Machine]);
impl<T: Num + Draw> MonoidVisitor<T> for Folds<'_> {
    type Output = ();
    fn visit<P: Monoid + BinaryOp<Out = T>>(self, monoid: P) {
        let cpu = Cpu::with_threads(1).unwrap();
        let any = runtime::Monoid::new(self.0, T::TYPE).unwrap();
        assert_eq!((any.ty(), any.identity()), (T::TYPE, P::IDENTITY.into()));
        let real = matches!(T::TYPE, Type::F32 | Type::F64);
        for (a, b) in pairs::<T>(11) {
            let what = format!("{} over {}", self.0, T::TYPE);
            let rows = cpu.reduce_rows(monoid, &b).eval().unwrap();
            let x = vectors::<T>(5, a.ncols());
            let (of_a, of_x) = (
                cpu.reduce(monoid, &a).eval().unwrap(),
                [0, 1, 2, 3].map(|f| cpu.reduce(monoid, &x[f]).eval().unwrap()),
            );
            let (a, b) = (Matrix::from(a), Matrix::from(b));
            for m in self.1 {
                // A GPU folds in an order of its own.
                if !is_cpu(m) && (self.0 == "any" || real) {
                    continue;
                }
                same_vector(&m.reduce_rows(&any, &b).unwrap(), &rows, &what);
                let is = |found: runtime::Scalar, want: T| {
                    same_values(Slice::of(&[found.get::<T>().unwrap()]), Slice::of(&[want]), &what);
                };
                is(m.reduce(&any, &a).unwrap(), of_a);
                for (x, want) in x.iter().zip(of_x) {
                    is(m.reduce(&any, &runtime::Vector::from(x.clone())).unwrap(), want);
                }
            }
        }
    }
}

fn every_fold<T: Named + Draw>(machines: &[Machine]) -> usize {
    let names = MONOIDS.iter().filter(|row| row.values().contains(&T::TYPE)).map(|row| row.name);
    names.map(|name| T::monoid(name, Folds(name, machines)).unwrap()).count()
}

#[test]
fn every_fold_is_the_one_by_types() {
    let machines = machines();
    let mut folds = 0;
    macro_rules! types {
        ($($t:ty)*) => {$( folds += every_fold::<$t>(&machines); )*};
    }
    types! { bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
    println!("{folds} monoids on {} machines", machines.len());
    assert!(folds > 80, "{folds}");
}

/// Sums of floats, each rounded: the fold is cut after the same entries as by types, whatever the form of a vector.
#[test]
fn long_folds_are_cut_at_the_same_entries() {
    let n = 50_000;
    let value = |p: usize| 1.0 / (p as f64 + 3.0) - 0.001;
    let row_ptr = vec![0, 3, 3, n];
    let cols = (0..3).chain(0..n as u32 - 3).collect();
    let a = Csr::new(3, n, row_ptr, cols, (0..n).map(value).collect()).unwrap();
    let plus = runtime::Monoid::new("plus", Type::F64).unwrap();
    let by_formula = runtime::Monoid::new("a + b identity 0", Type::F64).unwrap();
    let cpu = Cpu::with_threads(1).unwrap();
    let want = cpu.reduce(Plus::new(), &a).eval().unwrap();
    let rows = cpu.reduce_rows(Plus::new(), &a).eval().unwrap();
    assert_ne!(want, a.values().iter().fold(0.0, |x, y| x + y), "cut or not is the same here");
    let lists = [1, 2, 20].map(|step| {
        let at: Vec<u32> = (0..n as u32).step_by(step).collect();
        let values = at.iter().map(|&p| value(p as usize)).collect();
        sparring::Vector::new(n, at, values).unwrap()
    });
    for m in machines().iter().filter(|m| is_cpu(m)) {
        let ra = Matrix::from(a.clone());
        for op in [&plus, &by_formula] {
            assert_eq!(m.reduce(op, &ra).unwrap(), want.into(), "{op}");
            same_vector(&m.reduce_rows(op, &ra).unwrap(), &rows, &op.to_string());
            for x in &lists {
                let want = cpu.reduce(Plus::new(), x).eval().unwrap();
                assert_eq!(m.reduce(op, &runtime::Vector::from(x.clone())).unwrap(), want.into(), "{op}");
            }
        }
    }
}

/// Parts of a row that is cut by columns fold what is theirs, through a window or a table of places.
#[test]
fn rows_cut_by_columns_are_those_by_types() {
    let k = 1100;
    for (n, step) in [(1500, 1), (1 << 20, 1048)] {
        let a = AnyPattern { ncols: k, rows: vec![vec![3, 500], (0..k as u32).collect(), vec![0, 1099]], shuffle: 0 };
        let rows = (0..k as u32).map(|k| (0..1000).map(|j| j * step + k % 7 * 71).collect());
        let b = AnyPattern { ncols: n, rows: rows.collect(), shuffle: 0 };
        let (a, b) = (a.matrix::<f64>(7), b.matrix::<f64>(8));
        // By fused loops, by two loops, and by an ⊕ that is a formula.
        let times = Cpu::new().mxm(PlusTimes::<f64>::default(), &a, &b).eval().unwrap();
        let plus = Cpu::new().mxm(Ring(Plus::<f64>::new(), Plus::<f64>::new()), &a, &b).eval().unwrap();
        let (times, plus) = (Matrix::from(times), Matrix::from(plus));
        let (a, b) = (Matrix::from(a), Matrix::from(b));
        for (text, want) in [("plus_times", &times), ("plus, a + b", &plus), ("a + b + 0 identity 0, a + b", &plus)] {
            let ring = runtime::Semiring::new(text, Type::F64).unwrap();
            for threads in [1, 3] {
                let m = Machine::from(Cpu::with_threads(threads).unwrap());
                same(&m.mxm(&ring, &a, &b).unwrap(), want, &format!("{text}, {n} columns, {threads} threads"));
            }
        }
    }
}

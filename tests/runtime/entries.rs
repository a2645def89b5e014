//! Operators entry by entry, selections and transposes by name are those by types.

use sparring::algebra::*;
use sparring::backend::Backend;
use sparring::num_complex::Complex;
use sparring::prelude::{Cpu, Csr};
use sparring::runtime::{self, Machine, Matrix, Scalar};

use super::operands::{is_cpu, machines, pairs, same_matrix, same_vector, vectors};
use crate::common::arbitrary::Draw;

fn binary<T: Draw, O: BinaryOp<A = T, B = T>>(op: O, name: &str, machines: &[Machine]) {
    let cpu = Cpu::with_threads(1).unwrap();
    let any = runtime::BinaryOp::new(name, T::TYPE).unwrap();
    let what = format!("{name} over {}", T::TYPE);
    for (a, b) in pairs::<T>(3) {
        let want = cpu.ewise_mult(op, &a, &b).eval().unwrap();
        let (a, b) = (Matrix::from(a), Matrix::from(b));
        for m in machines {
            same_matrix(&m.ewise_mult(&any, &a, &b).unwrap(), &want, &what);
        }
    }
    for len in [0, 1, 500] {
        for (x, y) in
            vectors::<T>(1, len).iter().flat_map(|x| vectors::<T>(2, len).into_iter().map(move |y| (x.clone(), y)))
        {
            let want = cpu.ewise_mult(op, &x, &y).eval().unwrap();
            let (x, y) = (runtime::Vector::from(x), runtime::Vector::from(y));
            for m in machines {
                same_vector(&m.ewise_mult(&any, &x, &y).unwrap(), &want, &what);
            }
        }
    }
}

/// Where entries of one operand alone stand as they are.
fn union<T: Draw, O: BinaryOp<A = T, B = T, Out = T>>(op: O, name: &str, machines: &[Machine]) {
    let cpu = Cpu::with_threads(1).unwrap();
    let any = runtime::BinaryOp::new(name, T::TYPE).unwrap();
    let what = format!("{name} over {}, on the union", T::TYPE);
    for (a, b) in pairs::<T>(4) {
        let want = cpu.ewise_add(op, &a, &b).eval().unwrap();
        let (a, b) = (Matrix::from(a), Matrix::from(b));
        for m in machines {
            same_matrix(&m.ewise_add(&any, &a, &b).unwrap(), &want, &what);
        }
    }
    for len in [0, 1, 500] {
        for (x, y) in
            vectors::<T>(1, len).iter().flat_map(|x| vectors::<T>(2, len).into_iter().map(move |y| (x.clone(), y)))
        {
            let want = cpu.ewise_add(op, &x, &y).eval().unwrap();
            let (x, y) = (runtime::Vector::from(x), runtime::Vector::from(y));
            for m in machines {
                same_vector(&m.ewise_add(&any, &x, &y).unwrap(), &want, &what);
            }
        }
    }
}

fn unary<T: Draw, O: UnaryOp<A = T>>(op: O, name: &str, machines: &[Machine]) {
    let cpu = Cpu::with_threads(1).unwrap();
    let any = runtime::UnaryOp::new(name, T::TYPE).unwrap();
    let what = format!("{name} over {}", T::TYPE);
    for (_, a) in pairs::<T>(5) {
        let (want, rows) = (cpu.apply(op, &a).eval().unwrap(), Matrix::from(a.clone()));
        for m in machines {
            same_matrix(&m.apply(&any, &rows).unwrap(), &want, &what);
        }
    }
    for x in [0, 1, 500].into_iter().flat_map(|len| vectors::<T>(6, len)) {
        let (want, x) = (cpu.apply(op, &x).eval().unwrap(), runtime::Vector::from(x));
        for m in machines {
            same_vector(&m.apply(&any, &x).unwrap(), &want, &what);
        }
    }
}

fn index<T: Draw, O: IndexUnaryOp<A = T>>(op: O, s: O::S, name: &str, machines: &[Machine]) {
    let cpu = Cpu::with_threads(1).unwrap();
    let any = runtime::UnaryOp::new(name, T::TYPE).unwrap().with(s).unwrap();
    let what = format!("{name} over {}, applied", T::TYPE);
    for (_, a) in pairs::<T>(8) {
        let (want, a) = (cpu.apply_index(op, &a, s).eval().unwrap(), Matrix::from(a));
        for m in machines {
            same_matrix(&m.apply(&any, &a).unwrap(), &want, &what);
        }
    }
    for x in [0, 1, 500].into_iter().flat_map(|len| vectors::<T>(6, len)) {
        let (want, x) = (cpu.apply_index(op, &x, s).eval().unwrap(), runtime::Vector::from(x));
        for m in machines {
            same_vector(&m.apply(&any, &x).unwrap(), &want, &what);
        }
    }
}

fn select<T: Draw, O: IndexUnaryOp<A = T, Out = bool>>(op: O, s: O::S, name: &str, machines: &[Machine]) {
    let cpu = Cpu::with_threads(1).unwrap();
    let any = runtime::UnaryOp::new(name, T::TYPE).unwrap().with(s).unwrap();
    let what = format!("{name} over {}", T::TYPE);
    for (_, a) in pairs::<T>(8) {
        let (want, a) = (cpu.select(op, &a, s).eval().unwrap(), Matrix::from(a));
        for m in machines {
            same_matrix(&m.select(&any, &a).unwrap(), &want, &what);
        }
    }
    for x in [0, 1, 500].into_iter().flat_map(|len| vectors::<T>(6, len)) {
        let (want, x) = (cpu.select(op, &x, s).eval().unwrap(), runtime::Vector::from(x));
        for m in machines {
            same_vector(&m.select(&any, &x).unwrap(), &want, &what);
        }
    }
}

/// Operators by their names: `each!(f, machines, T: Plus plus, …)`.
macro_rules! each {
    ($f:ident, $m:expr, $t:ty: $($op:ident $name:ident),*) => { $( $f($op::<$t>::new(), stringify!($name), $m); )* };
}

/// On all numbers of one type.
fn ordered<T: Num + Draw>(machines: &[Machine]) {
    each!(union, machines, T: Plus plus, Minus minus, ReverseMinus reverse_minus, Times times, Div div, ReverseDiv reverse_div,
        Min min, Max max, AbsDiff abs_diff);
    binary(Less::<T>::new(), "lt", machines);
    binary(First::<T, T>::new(), "first", machines);
    unary(Cast::<T, bool>::new(), "a != 0", machines);
    each!(unary, machines, T: Identity identity, Abs abs, Ainv ainv, Minv minv, Lnot lnot, One one, Square square);
    for s in [0, -1, 3] {
        select(Tril::<T>::new(), s, "tril", machines);
        select(Offdiag::<T>::new(), s, "offdiag", machines);
        select(ColLe::<T>::new(), s, "col_le", machines);
        select(RowGt::<T>::new(), s, "row_gt", machines);
    }
    select(ValueGt::<T>::new(), T::ONE, "value_gt", machines);
    select(ValueEq::<T>::new(), T::ZERO, "value_eq", machines);
    index(DiagIndex::<T, i64>::new(), 5, "diag_index", machines);
    index(ColIndex::<T, i64>::new(), i64::MAX, "col_index", machines);
    index(ValueLe::<T>::new(), T::ONE, "value_le", machines);
}

fn transposes<T: Draw>(machines: &[Machine]) {
    for (a, b) in pairs::<T>(9) {
        for a in [a, b] {
            let (want, a) = (Cpu::with_threads(1).unwrap().transpose(&a).eval().unwrap(), Matrix::from(a));
            for m in machines {
                same_matrix(&m.transpose(&a).unwrap(), &want, "transpose");
            }
        }
    }
}

#[test]
fn operators_by_name_are_those_by_types() {
    let machines = machines();
    macro_rules! types {
        ($($t:ty)*) => {$( ordered::<$t>(&machines[1..]); transposes::<$t>(&machines); )*};
    }
    types! { bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
    each!(union, &machines, i32: Bor bor, Band band, Bxor bxor, Bxnor bxnor);
    each!(union, &machines, bool: Lor lor, Land land, Lxor lxor, Lxnor lxnor);
    unary(Bnot::<u16>::new(), "bnot", &machines);
    // Roots are rounded; other functions have last bits of their own on a GPU.
    each!(unary, &machines, f64: Sqrt sqrt, Floor floor, Ceil ceil);
    let cpus: Vec<Machine> = machines.into_iter().filter(is_cpu).collect();
    each!(unary, &cpus, f32: Exp exp, Ln ln, Ln1p ln_1p);
    union(Pow::<f64>::new(), "pow", &cpus);
    each!(union, &cpus, Complex<f64>: Plus plus, Minus minus, Times times, Div div);
    each!(unary, &cpus, Complex<f32>: Ainv ainv, Minv minv, Square square);
    transposes::<Complex<f64>>(&cpus);
}

#[test]
fn scalars_stand_on_either_side() {
    let minus = runtime::BinaryOp::new("minus", Type::I32).unwrap();
    let a = Matrix::from(Csr::<i32>::new(1, 2, vec![0, 2], vec![0, 1], vec![7, 8]).unwrap());
    for m in machines() {
        let values = |op: runtime::UnaryOp| m.apply(&op, &a).unwrap().download().unwrap();
        assert_eq!(values(minus.with_first(10).unwrap()).csr::<i32>().unwrap().values(), [3, 2]);
        assert_eq!(values(minus.with_second(10).unwrap()).csr::<i32>().unwrap().values(), [-3, -2]);
    }
    assert_eq!(Scalar::from(true).cast(Type::ComplexF32).unwrap().get(), Some(Complex::new(1f32, 0.0)));
}

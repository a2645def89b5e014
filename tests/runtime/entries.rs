//! Elementwise operators, selections and transposes by name equal the typed ones.

use sparring::algebra::*;
use sparring::num_complex::Complex;
use sparring::prelude::Csr;
use sparring::runtime::{self, Machine, Matrix, Scalar};

use super::operands::{is_cpu, machines, pairs, same_matrix, same_vector, vectors};
use super::textbook::{self, Tabled};
use crate::common::arbitrary::Draw;

fn binary<T: Draw, O: BinaryOp<A = T, B = T>>(op: O, name: &str, machines: &[Machine]) {
    on_both::<T, O::Out>(name, machines, &|x, y| op.apply::<Host>(V(x), V(y)).0);
}

/// Operators for which entries of a single operand are copied unchanged.
fn union<T: Draw, O: BinaryOp<A = T, B = T, Out = T>>(op: O, name: &str, machines: &[Machine]) {
    on_either::<T>(name, machines, &|x, y| op.apply::<Host>(V(x), V(y)).0);
}

fn unary<T: Draw, O: UnaryOp<A = T>>(op: O, name: &str, machines: &[Machine]) {
    let any = runtime::UnaryOp::new(name, T::TYPE).unwrap();
    applied::<T, O::Out>(&any, machines, &|x, _| op.apply::<Host>(V(x)).0);
}

fn index<T: Draw, O: IndexUnaryOp<A = T>>(op: O, s: O::S, name: &str, machines: &[Machine]) {
    let any = runtime::UnaryOp::new(name, T::TYPE).unwrap().with(s).unwrap();
    applied::<T, O::Out>(&any, machines, &|x, at| op.apply::<Host>(V(x), V(s), place(at)).0);
}

fn select<T: Draw, O: IndexUnaryOp<A = T, Out = bool>>(op: O, s: O::S, name: &str, machines: &[Machine]) {
    let any = runtime::UnaryOp::new(name, T::TYPE).unwrap().with(s).unwrap();
    selected::<T>(&any, machines, &|x, at| op.apply::<Host>(V(x), V(s), place(at)).0);
}

fn place((i, j): (usize, usize)) -> Place<Host> {
    Place { i: V(i as u64), j: V(j as u64) }
}

// Compiled per type, not per operator.

type At = (usize, usize);

/// Vectors in all forms and of several lengths.
fn vectors_of_all<T: Draw>(seed: u64) -> impl Iterator<Item = sparring::Vector<T>> {
    [0, 1, 500].into_iter().flat_map(move |len| vectors::<T>(seed, len))
}

/// Pairs of vectors in all forms and of several lengths.
fn pairs_of_vectors<T: Draw>() -> impl Iterator<Item = (sparring::Vector<T>, sparring::Vector<T>)> {
    let pairs = |len| {
        let (xs, ys) = (vectors::<T>(1, len), vectors::<T>(2, len));
        xs.into_iter().flat_map(move |x| ys.clone().into_iter().map(move |y| (x.clone(), y)))
    };
    [0, 1, 500].into_iter().flat_map(pairs)
}

fn on_both<T: Draw, U: Value>(name: &str, machines: &[Machine], op: &dyn Fn(T, T) -> U) {
    let any = runtime::BinaryOp::new(name, T::TYPE).unwrap();
    let what = format!("{name} over {}", T::TYPE);
    for (a, b) in pairs::<T>(3) {
        let want = textbook::intersection(&a, &b, op);
        let (a, b) = (Matrix::from(a), Matrix::from(b));
        for m in machines {
            same_matrix(&m.ewise_mult(&any, &a, &b).unwrap(), &want, &what);
        }
    }
    for (x, y) in pairs_of_vectors::<T>() {
        let want = textbook::intersection(&x, &y, op);
        let (x, y) = (runtime::Vector::from(x), runtime::Vector::from(y));
        for m in machines {
            same_vector(&m.ewise_mult(&any, &x, &y).unwrap(), &want, &what);
        }
    }
}

fn on_either<T: Draw>(name: &str, machines: &[Machine], op: &dyn Fn(T, T) -> T) {
    let any = runtime::BinaryOp::new(name, T::TYPE).unwrap();
    let what = format!("{name} over {}, on the union", T::TYPE);
    for (a, b) in pairs::<T>(4) {
        let want = textbook::union(&a, &b, op);
        let (a, b) = (Matrix::from(a), Matrix::from(b));
        for m in machines {
            same_matrix(&m.ewise_add(&any, &a, &b).unwrap(), &want, &what);
        }
    }
    for (x, y) in pairs_of_vectors::<T>() {
        let want = textbook::union(&x, &y, op);
        let (x, y) = (runtime::Vector::from(x), runtime::Vector::from(y));
        for m in machines {
            same_vector(&m.ewise_add(&any, &x, &y).unwrap(), &want, &what);
        }
    }
}

fn applied<T: Draw, U: Value>(any: &runtime::UnaryOp, machines: &[Machine], op: &dyn Fn(T, At) -> U) {
    let what = format!("{any} over {}, applied", T::TYPE);
    for (_, a) in pairs::<T>(8) {
        let (want, a) = (a.kept(&|x, at| Some(op(x, at))), Matrix::from(a));
        for m in machines {
            same_matrix(&m.apply(any, &a).unwrap(), &want, &what);
        }
    }
    for x in vectors_of_all::<T>(6) {
        let (want, x) = (x.kept(&|x, at| Some(op(x, at))), runtime::Vector::from(x));
        for m in machines {
            same_vector(&m.apply(any, &x).unwrap(), &want, &what);
        }
    }
}

fn selected<T: Draw>(any: &runtime::UnaryOp, machines: &[Machine], keeps: &dyn Fn(T, At) -> bool) {
    let what = format!("{any} over {}, selected", T::TYPE);
    for (_, a) in pairs::<T>(8) {
        // select sorts its rows.
        let (want, a) = (textbook::filtered(&a, keeps), Matrix::from(a));
        for m in machines {
            same_matrix(&m.select(any, &a).unwrap(), &want, &what);
        }
    }
    for x in vectors_of_all::<T>(6) {
        let (want, x) = (x.kept(&|x, at| keeps(x, at).then_some(x)), runtime::Vector::from(x));
        for m in machines {
            same_vector(&m.select(any, &x).unwrap(), &want, &what);
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
            let (want, a) = (textbook::transposed(&a), Matrix::from(a));
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
    // Roots are correctly rounded; other functions may differ in the last bits on a GPU.
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

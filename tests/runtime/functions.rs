//! User-defined function operators, by their types: the same results as the operators of those names.

use sparring::algebra::{Formula, HostCall, Type, Value};
use sparring::num_complex::Complex;
use sparring::prelude::*;
use sparring::runtime::{BinaryOp, Machine, Matrix, Monoid, Op, Scalar, Semiring, UnaryOp, Vector};
use sparring::spgemm::Options;

use super::common::arbitrary::{AnyPattern, Draw, Rng};
use super::operands::same;

fn operands<T: Draw>(seed: u64) -> (Matrix, Matrix) {
    let mut rng = Rng(seed);
    let (a, b) = (AnyPattern::of_shape(&mut rng, 40, 300), AnyPattern::of_shape(&mut rng, 300, 200));
    (a.matrix::<T>(seed).into(), b.matrix::<T>(!seed).into())
}

/// One or three threads, because functions run on all of them.
fn machines() -> [Machine; 2] {
    [1, 3].map(|n| Machine::from(Cpu::with_threads(n).expect("threads")))
}

/// Every operation with two operators and with their names, on values of one type.
fn checked<T: Draw + Value>(
    seed: u64,
    (add, plus, identity): (&str, BinaryOp, T),
    (mul, times): (&str, BinaryOp),
    s: T,
) {
    let ty = T::TYPE;
    let ring = Semiring::of(&Monoid::of(&plus, identity).unwrap(), &times).unwrap();
    let named = Semiring::new(&format!("{add}_{mul}"), ty).unwrap();
    let of_names = (BinaryOp::new(add, ty).unwrap(), BinaryOp::new(mul, ty).unwrap());
    let (fold, of_name) = (Monoid::of(&plus, identity).unwrap(), Monoid::new(add, ty).unwrap());
    let (a, b) = operands::<T>(seed);
    for m in machines() {
        same(&m.mxm(&ring, &a, &b).unwrap(), &m.mxm(&named, &a, &b).unwrap(), &format!("{add}_{mul} of {ty}"));
        let (first, second) = (times.with_first(s).unwrap(), times.with_second(s).unwrap());
        let want = (of_names.1.with_first(s).unwrap(), of_names.1.with_second(s).unwrap());
        same(&m.apply(&first, &a).unwrap(), &m.apply(&want.0, &a).unwrap(), &format!("{mul} of {ty}, first"));
        same(&m.apply(&second, &a).unwrap(), &m.apply(&want.1, &a).unwrap(), &format!("{mul} of {ty}, second"));
        let union = |f: &BinaryOp| m.ewise_add(f, &a, &a.clone()).unwrap();
        same(&union(&plus), &union(&of_names.0), &format!("{add} of {ty}"));
        assert_eq!(m.reduce(&fold, &a).unwrap(), m.reduce(&of_name, &a).unwrap());
        // Accumulated under a mask.
        let into = |ring: &Semiring, f: &BinaryOp| {
            let mut c = m.mxm(&named, &a, &b).unwrap();
            let mask = m.select(&UnaryOp::new("i < j", ty).unwrap(), &c).unwrap();
            let options = Options::default();
            let call = m.call(Op::Mxm(ring, &options), (&a, &b)).mask(&mask).structure().replace();
            call.accum(f).into(&mut c).unwrap();
            c
        };
        same(&into(&ring, &plus), &into(&named, &of_names.0), &format!("{add}_{mul} of {ty}, accumulated"));
    }
}

#[test]
fn functions_give_the_bits_of_names() {
    let min = BinaryOp::from_fn("least", |a: f64, b: f64| if b < a { b } else { a });
    checked(1, ("min", min, f64::INFINITY), ("plus", BinaryOp::from_fn("sum", |a: f64, b: f64| a + b)), 2.5);
    let plus = BinaryOp::from_fn("sum", i32::wrapping_add);
    checked(2, ("plus", plus, 0), ("times", BinaryOp::from_fn("product", i32::wrapping_mul)), -3);
    let max = BinaryOp::from_fn("most", |a: u8, b: u8| a.max(b));
    checked(3, ("max", max, 0u8), ("minus", BinaryOp::from_fn("less", u8::wrapping_sub)), 7);
    let or = BinaryOp::from_fn("or", |a: bool, b: bool| a | b);
    checked(4, ("lor", or, false), ("land", BinaryOp::from_fn("and", |a: bool, b: bool| a & b)), true);
}

#[test]
fn complex_numbers_and_several_types() {
    type C = Complex<f64>;
    let m = Machine::from(Cpu::new());
    let turned = UnaryOp::from_fn("turned", |z: C| z.re * 2.0 - z.im);
    let x = Vector::from(sparring::Vector::<C>::full(vec![C::new(1.0, 2.0), C::new(0.5, 0.0)]).unwrap());
    assert_eq!(m.apply(&turned, &x).unwrap().typed::<f64>().unwrap().to_dense(9.0).unwrap(), [0.0, 1.0]);
    let at =
        UnaryOp::from_index_fn("at", |a: f64, i: u64, j: u64, s: i8| (i + 10 * j) as f32 + a as f32 + f32::from(s));
    let a = Matrix::from(Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![0.5, 0.25, 0.125]).unwrap());
    let found = m.apply(&at.with(-1i8).unwrap(), &a).unwrap();
    assert_eq!(found.csr::<f32>().unwrap().values(), [-0.5, 19.25, 10.125]);
    let error = m.apply(&at, &a).unwrap_err().to_string();
    assert!(error.contains("at reads a scalar"), "{error}");
    let power = BinaryOp::from_fn("power", |a: f32, b: i16| a.powi(b.into()));
    assert_eq!((power.takes(), power.ty(), power.to_string()), ((Type::F32, Type::I16), Type::F32, "power".into()));
    assert_eq!(power.eval(&2f32.into(), &3i16.into()).unwrap(), Scalar::from(8f32));
    assert_eq!(power.formula().to_string(), "power(a, b)");
}

#[test]
fn equal_are_clones_of_one() {
    let make = || BinaryOp::from_fn("sum", |a: i64, b: i64| a + b);
    let (one, other) = (make(), make());
    assert_eq!(one, one.clone());
    assert_ne!(one, other);
    let ring = |op: &BinaryOp| Semiring::of(&Monoid::of(op, 0i64).unwrap(), op).unwrap();
    assert_eq!(ring(&one), ring(&one));
    assert_ne!(ring(&one), ring(&other));
    assert_ne!(one.with_first(1i64).unwrap(), other.with_first(1i64).unwrap());
}

#[test]
fn what_does_not_fit_is_refused() {
    let plus = BinaryOp::from_fn("sum", |a: i64, b: i64| a + b);
    let says = |e: sparring::Error| e.to_string();
    let mixed = BinaryOp::from_fn("scaled", |a: i64, b: f64| a as f64 * b);
    let e = Monoid::of(&mixed, 1.0).map_err(says).unwrap_err();
    assert!(e.contains("a monoid takes the type that it returns, f64, but this one takes i64 and f64"), "{e}");
    let e = Monoid::of(&plus, 1.0).map_err(says).unwrap_err();
    assert!(e.contains("it is f64, but the operator is on i64"), "{e}");
    let e = Semiring::of(&Monoid::of(&plus, 0i64).unwrap(), &mixed).map_err(says).unwrap_err();
    assert!(e.contains("⊗ gives f64, but ⊕ takes i64"), "{e}");
    let three = HostCall::new("three", &[Type::I8; 3], Type::I8, |_, _| ());
    let e = BinaryOp::from_host(three.clone()).map_err(says).unwrap_err();
    assert!(e.contains("three takes 3 operands, the operator has two, a and b"), "{e}");
    assert!(UnaryOp::from_host(three.clone()).is_err());
    let of = [("a".into(), Type::I8), ("b".into(), Type::I16)];
    let e = Formula::of_host(three.clone(), &of, &["a", "b", "a"]).map_err(says).unwrap_err();
    assert!(e.contains("three takes i8, and b is no such parameter"), "{e}");
    let e = Formula::of_host(three, &of, &["a"]).map_err(says).unwrap_err();
    assert!(e.contains("three takes 3, of 1 to 4 that a function may have; 1 are given"), "{e}");
    let five = HostCall::new("five", &[Type::I8; 5], Type::I8, |_, _| ());
    assert!(Formula::of_host(five, &of, &["a"; 5]).is_err());
}

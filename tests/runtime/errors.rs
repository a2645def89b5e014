//! Mismatched arguments are refused, and the message names the mismatch.

use sparring::Error;
use sparring::algebra::Type;
use sparring::prelude::{Cpu, Csr};
use sparring::runtime::{BinaryOp, Machine, Matrix, Monoid, Scalar, Semiring, UnaryOp, Vector};

use super::operands::machines;

#[test]
fn types_that_do_not_meet_are_both_named() {
    let (f, i) = (Matrix::from(Csr::<f64>::empty(2, 3).unwrap()), Matrix::from(Csr::<i64>::empty(2, 3).unwrap()));
    let x = Vector::from(sparring::Vector::<i64>::empty(3).unwrap());
    let plus = BinaryOp::new("plus", Type::F64).unwrap();
    for m in machines() {
        let text = |e: Error| e.to_string();
        assert_eq!(text(m.ewise_add(&plus, &f, &i).unwrap_err()), "b: its values are i64, but plus takes f64");
        assert_eq!(text(m.ewise_mult(&plus, &i, &f).unwrap_err()), "a: its values are i64, but plus takes f64");
        let lt = BinaryOp::new("lt", Type::I64).unwrap();
        let e = text(m.ewise_add(&lt, &i, &i).unwrap_err());
        assert!(e.contains("takes i64 and i64 and gives bool"), "{e}");
        assert_eq!(m.ewise_mult(&lt, &i, &i).unwrap().ty(), Type::Bool);
        let abs = UnaryOp::new("abs", Type::F32).unwrap();
        assert_eq!(text(m.apply(&abs, &i).unwrap_err()), "a: its values are i64, but abs takes f32");
        assert_eq!(text(m.apply(&abs, &x).unwrap_err()), "a: its values are i64, but abs takes f32");
        let e = text(m.select(&UnaryOp::new("a + 1", Type::I64).unwrap(), &x).unwrap_err());
        assert_eq!(e, "op: a selection operator gives bool, but a + 1 gives i64");
        let e = text(m.select(&UnaryOp::new("tril", Type::I64).unwrap(), &i).unwrap_err());
        assert_eq!(e, "s: tril reads a scalar: set it by `with`");
        let sum = Monoid::new("plus", Type::U8).unwrap();
        assert_eq!(text(m.reduce(&sum, &x).unwrap_err()), "a: its values are i64, but plus takes u8");
        assert_eq!(text(m.reduce_rows(&sum, &f).unwrap_err()), "a: its values are f64, but plus takes u8");
    }
    let m = Machine::from(Cpu::new());
    let ring = Semiring::new("plus_times", Type::F64).unwrap();
    let e = m.mxv(&ring, &f, &x).unwrap_err().to_string();
    assert_eq!(e, "b: its values are i64, but ⊗ takes f64");
    let e = UnaryOp::new("value_gt", Type::I64).unwrap().with(1.0).unwrap_err().to_string();
    assert_eq!(e, "s: the scalar is f64, but value_gt takes one of i64");
    assert_eq!(UnaryOp::new("value_gt", Type::I64).unwrap().takes_scalar(), Some(Type::I64));
}

#[test]
fn names_that_are_none_list_those_that_are() {
    let e = BinaryOp::new("plsu", Type::I8).unwrap_err().to_string();
    assert!(e.contains("plsu") && e.contains("i8 has plus, minus"), "{e}");
    let e = UnaryOp::new("sqrt", Type::I8).unwrap_err().to_string();
    assert!(e.contains("sqrt") && e.contains("abs") && e.contains("tril"), "{e}");
    let e = BinaryOp::new("a + * b", Type::I8).unwrap_err().to_string();
    assert!(e.contains('^'), "{e}");
    let e = Monoid::new("a - b identity 0", Type::I8).unwrap_err().to_string();
    assert!(e.contains("for x"), "{e}");
    assert!(Scalar::parse("300", Type::U8).unwrap_err().to_string().contains("300 is no u8"));
    assert!(Scalar::parse("1 + 1", Type::U8).is_err());
    assert_eq!(Scalar::parse("-inf", Type::F32).unwrap(), Scalar::from(f32::NEG_INFINITY));
}

#[test]
fn shapes_that_do_not_meet_are_refused() {
    let (a, b) = (Matrix::from(Csr::<f64>::empty(2, 3).unwrap()), Matrix::from(Csr::<f64>::empty(3, 2).unwrap()));
    let x = Vector::from(sparring::Vector::<f64>::empty(2).unwrap());
    let y = Vector::from(sparring::Vector::<f64>::full(vec![1.0; 3]).unwrap());
    let (plus, ring) = (BinaryOp::new("plus", Type::F64).unwrap(), Semiring::new("plus_times", Type::F64).unwrap());
    for m in machines() {
        assert!(matches!(m.ewise_add(&plus, &a, &b), Err(Error::Shape { lhs: (2, 3), rhs: (3, 2), .. })));
        assert!(matches!(m.ewise_mult(&plus, &a, &b), Err(Error::Shape { lhs: (2, 3), rhs: (3, 2), .. })));
        assert!(matches!(m.ewise_add(&plus, &x, &y), Err(Error::Shape { lhs: (2, 1), rhs: (3, 1), .. })));
        assert!(matches!(m.ewise_mult(&plus, &y, &x), Err(Error::Shape { lhs: (3, 1), rhs: (2, 1), .. })));
        assert!(matches!(m.mxv(&ring, &a, &x), Err(Error::Shape { lhs: (2, 3), .. })));
        assert!(matches!(m.vxm(&ring, &y, &a), Err(Error::Shape { rhs: (2, 3), .. })));
        assert_eq!(m.mxv(&ring, &a, &y).unwrap().nvals().unwrap(), 0);
    }
}

sparring::value! {
    /// Of two fields.
    struct Step {
        /// One.
        length: f64,
        /// Other.
        count: u32,
    }
}

#[test]
fn structs_are_moved_and_computed_with_as_far_as_loops_know_them() {
    let step = |length, count| Step { length, count };
    let values = vec![step(1.0, 1), step(2.0, 2), step(3.0, 3)];
    let typed = Csr::new(2, 2, vec![0, 1, 3], vec![1, 0, 1], values).unwrap();
    let a = Matrix::from(typed.clone());
    let m = Machine::from(Cpu::with_threads(2).unwrap());
    let t = m.transpose(&a).unwrap();
    assert_eq!(t.csr::<Step>(), Some(&typed.transpose(&sparring::par::Threads::current()).unwrap()));
    let kept = m.select(&UnaryOp::between("(a.count > 1) & (i == j)", a.ty(), Type::Bool).unwrap(), &a).unwrap();
    assert_eq!(kept.csr::<Step>().unwrap().values(), [step(3.0, 3)]);
    // A scalar that a formula does not read may have any type, even a struct.
    let kept = m.select(&UnaryOp::new("a.count > 2", a.ty()).unwrap(), &a).unwrap();
    assert_eq!(kept.csr::<Step>().unwrap().values(), [step(3.0, 3)]);
    let lengths = m.apply(&UnaryOp::between("2.0 * a.length", a.ty(), Type::Bool).unwrap(), &a).unwrap();
    assert_eq!(lengths.csr::<f64>().unwrap().values(), [2.0, 4.0, 6.0]);
    // Products of struct fields are numbers.
    let ring = Semiring::between("plus, a.length * f64(b.count)", a.ty(), a.ty()).unwrap();
    let c = m.mxm(&ring, &a, &a).unwrap();
    assert_eq!(c.csr::<f64>().unwrap().values(), [2.0, 3.0, 6.0, 2.0 + 9.0]);
    let x = Vector::from(sparring::Vector::full(vec![step(0.5, 10), step(0.25, 100)]).unwrap());
    let y = m.mxv(&ring, &a, &x).unwrap();
    assert_eq!(y.typed::<f64>().unwrap().as_full(), Some(&[100.0, 20.0 + 300.0][..]));
    // A struct result is refused with a message.
    let whole = m.apply(&UnaryOp::between("a", a.ty(), Type::Bool).unwrap(), &a);
    assert!(matches!(whole, Err(Error::Unsupported { .. })));
}

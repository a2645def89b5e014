//! A snippet for each public trait of `algebra`.

use sparring::algebra::*;
use sparring::num_complex::Complex;

fn unary<O: UnaryOp>(_: O) {}
fn binary<O: BinaryOp>(_: O) {}
fn mul<O: MulOp>(_: O) {}
fn index<O: IndexUnaryOp>(_: O) {}
fn monoid<O: Monoid>(_: O) {}
fn contract<R: Contract>(_: R) {}
fn semiring<R: Semiring>(_: R) {}
fn namm<R: Namm>(_: R) {}
fn value<T: Value>() {}
fn number<T: Number>() {}
fn num<T: Num>() {}
fn real<T: Real>() {}
fn int<T: Int>() {}
fn bits<T: Bits>() {}
fn arith<M: Arith>() {}

sparring::op! { /// a to the p.
Power<T: Real> { p: T } (a, b) -> T { a.powf(p) + b } identity T::ZERO }

//~ is not a unary operator
//~ `sparring::op! { Name<T: Num> (a) -> T { a * a } }` and pass `Name::new()`
fn closure_as_unary() {
    unary(|a: f64| a * a);
}
//~ is not a binary operator
//~ an operator runs on a CPU and is printed for a GPU, which a closure cannot be
fn closure_as_binary() {
    binary(|a: f64, b: f64| a + b);
}
//~ `sparring::op! { Name<T: Num> (a, b) -> T { a + 2 * b } }`
fn closure_as_mul() {
    mul(|a: f64, b: f64| a * b);
}
//~ is not an index-unary operator
//~ `sparring::op! { Name<T: Num> (a, s) at (i, j) -> bool { a.gt(s) & i.lt(j) } }`
fn closure_as_index() {
    index(|a: f64, s: f64| a > s);
}
//~ Minus<f64>` is not a monoid
//~ give the operator its identity
fn operator_as_monoid() {
    monoid(Minus::<f64>::new());
}
//~ is not a pair of ⊕ and ⊗
fn operator_as_contract() {
    contract(Plus::<f64>::new());
}
//~ Times<f64>` is not a semiring
//~ expected a semiring, `Ring(⊕, ⊗)`
fn operator_as_semiring() {
    semiring(Times::<f64>::new());
}
//~ is not a NAMM
//~ expected a NAMM, `Union(⊕, ⊗)`
fn semiring_as_namm() {
    namm(PlusTimes::<f64>::new());
}
//~ `String` cannot be the value of a sparse matrix
//~ `sparring::value! { struct Name { field: f64 } }` makes one of a struct
fn string_as_value() {
    value::<String>();
}
//~ `char` does not support arithmetic
fn char_as_number() {
    number::<char>();
}
//~ is not an ordered number
//~ complex numbers and structs have no order
fn complex_as_num() {
    num::<Complex<f64>>();
}
//~ `i32` is not a real number
//~ convert with `Cast`, or with `.cast::<f64>()` in the formula
fn integer_as_real() {
    real::<i32>();
}
//~ `bool` is not an integer
fn bool_as_int() {
    int::<bool>();
}
//~ `f64` has no bits to combine
fn float_as_bits() {
    bits::<f64>();
}
//~ `f64` does not interpret operator bodies
fn float_as_arith() {
    arith::<f64>();
}
//~ has parameters, which `new()` does not know
//~ `Ring(Plus::new(), Name::new(2.0))`
fn parameters_forgotten() {
    let _ = Ring::<Power<f64>, Times<f64>>::new();
}

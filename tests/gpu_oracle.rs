//! A GPU follows the specification: the cases of `oracle/`, through the typed and the run-time API, as on the CPU.

#![cfg(feature = "cuda")]

#[path = "oracle/functions.rs"]
mod functions;
#[path = "common/gpu.rs"]
mod gpu;
#[path = "oracle/names.rs"]
mod names;
#[path = "oracle/objects.rs"]
mod objects;
#[path = "oracle/tally.rs"]
mod tally;
#[path = "oracle/typed.rs"]
mod typed;
#[path = "oracle/wide.rs"]
mod wide;

use gpu::cuda;
use names::Names;
use typed::Types;

#[test]
#[ignore = "needs a GPU"]
fn random_calls_by_name() {
    tally::random("by name, GPU", &mut Names::new(cuda()), 11, 4);
}

#[test]
#[ignore = "needs a GPU"]
fn small_calls_by_name() {
    tally::small("by name, GPU", &mut Names::new(cuda()), 4001);
}

/// A host function is refused in every operation; the same operator as a textual formula is accepted.
#[test]
#[ignore = "needs a GPU"]
fn functions_of_the_host_are_refused() {
    use sparring::algebra::Type;
    use sparring::runtime::{BinaryOp, Machine, Matrix, Monoid, Op, Semiring};
    let gpu = Machine::from(cuda());
    let plus = BinaryOp::from_fn("sum", |a: f64, b: f64| a + b);
    let sum = Monoid::of(&plus, 0.0).expect("a monoid");
    let ring = Semiring::of(&sum, &plus).expect("a semiring");
    let a = Matrix::from(sparring::Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![1.0, 2.0]).expect("a matrix"));
    let bound = plus.with_first(1.0).expect("an operator");
    let mut c = gpu.upload(&a).expect("sent");
    let calls = [
        gpu.mxm(&ring, &a, &a).map(drop),
        gpu.ewise_add(&plus, &a, &a).map(drop),
        gpu.apply(&bound, &a).map(drop),
        gpu.reduce(&sum, &a).map(drop),
        gpu.call(Op::Identity, &a).accum(&plus).into(&mut c),
        gpu.call(Op::EwiseUnion(&plus, &1.0.into(), &1.0.into()), (&a, &a)).eval::<Matrix>().map(drop),
    ];
    for call in calls {
        let error = call.expect_err("it is no device code").to_string();
        assert!(error.contains("the host function sum on cuda:0") && error.contains("formula"), "{error}");
    }
    let by_text = BinaryOp::new("a + b", Type::F64).expect("a formula");
    assert!(gpu.ewise_add(&by_text, &a, &a).is_ok());
}

#[test]
#[ignore = "needs a GPU"]
fn random_calls_by_types() {
    tally::random("by types, GPU", &mut Types::new(&cuda()), 12, 10);
}

#[test]
#[ignore = "needs a GPU"]
fn small_calls_by_types() {
    tally::small("by types, GPU", &mut Types::new(&cuda()), 8009);
}

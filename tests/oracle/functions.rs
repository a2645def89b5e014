//! Named operators as user-defined functions: the same values, computed by one call per block.

use sparring::Result;
use sparring::algebra::{Blocks, Formula, HostCall, Input, Parameter, SliceMut, Type};
use sparring::runtime::{BinaryOp, Monoid, Scalar, Semiring, UnaryOp};

/// The formula parameters that a function takes, in its order.
fn host(name: &str, formula: &Formula, order: &[&str]) -> Result<HostCall> {
    let blocks = Blocks::new(formula)?;
    let place = |p: &Parameter| order.iter().position(|name| *name == p.0);
    let places: Vec<Option<usize>> = formula.parameters().iter().map(place).collect();
    let ty = |name: &&str| formula.parameters().iter().find(|p| p.0 == *name).map_or(Type::U64, |p| p.1);
    let takes: Vec<Type> = order.iter().map(ty).collect();
    Ok(HostCall::new(name, &takes, formula.ty(), move |inputs: &[Input<'_>], out: &mut SliceMut<'_>| {
        // Unread parameters may have any type.
        let inputs: Vec<Input<'_>> = places.iter().map(|p| inputs[p.unwrap_or(0)]).collect();
        blocks.run(&inputs, &mut blocks.scratch().expect("memory"), out).expect("a run");
    }))
}

pub(crate) fn binary(name: &str, ty: Type) -> Result<BinaryOp> {
    BinaryOp::from_host(host(name, BinaryOp::new(name, ty)?.formula(), &["a", "b"])?)
}
pub(crate) fn unary(name: &str, ty: Type) -> Result<UnaryOp> {
    let op = UnaryOp::new(name, ty)?;
    let f = op.formula();
    let whole = f.reads("s") || f.reads("i") || f.reads("j");
    UnaryOp::from_host(host(name, f, if whole { &["a", "i", "j", "s"] } else { &["a"] })?)
}
pub(crate) fn monoid(name: &str, ty: Type) -> Result<Monoid> {
    let monoid = Monoid::new(name, ty)?;
    let identity: Scalar = monoid.identity();
    Monoid::of(&BinaryOp::from_host(host(name, monoid.formula().op(), &["a", "b"])?)?, identity)
}
/// The semiring, if ⊗ is not positional.
pub(crate) fn semiring(add: &str, mul: &str, ty: Type) -> Result<Semiring> {
    let named = Semiring::new(&format!("{add}_{mul}"), ty)?;
    let f = named.formula().mul();
    if ["i", "k", "j"].iter().any(|place| f.reads(place)) {
        return Ok(named);
    }
    let mul = BinaryOp::from_host(host(mul, f, &["a", "b"])?)?;
    Semiring::of(&monoid(add, mul.ty())?, &mul)
}

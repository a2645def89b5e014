//! The tracing interpreter: it records an operator's body as a [`Formula`].
//!
//! Every operation of a body adds a node to the formula, unless an equal node exists: formulas are pure.

use std::cell::RefCell;
use std::marker::PhantomData;

use super::arith::Builtin;
use super::formula::{Builder, Parameter};
use super::{
    Arith, Arithmetic, At, BinaryOp, Constant, DeviceFunction, Formula, Function, IndexUnaryOp, MulOp, Num, Place,
    Type, UnaryOp, V, Value,
};

thread_local!(static BUILDER: RefCell<Builder> = RefCell::new(Builder::default()));

/// The tracing interpreter, which records a formula.
#[derive(Clone, Copy, Debug)]
pub struct Trace;

/// A scalar of a formula being recorded.
#[derive(Debug)]
pub struct Recorded<T>(usize, PhantomData<T>);
impl<T> Recorded<T> {
    /// Its number in the formula.
    pub(crate) fn node(self) -> usize {
        self.0
    }
}
impl<T> Clone for Recorded<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Recorded<T> {}

// The recording functions are not generic, so they are compiled once.

#[inline(never)]
fn call_node(function: Function, operands: &[usize], ty: Type) -> usize {
    BUILDER.with_borrow_mut(|b| b.call(function, operands, ty))
}

#[inline(never)]
fn constant_node(x: Constant) -> usize {
    BUILDER.with_borrow_mut(|b| b.constant(x))
}

#[inline(never)]
fn parameter_node(name: &str, ty: Type) -> usize {
    BUILDER.with_borrow_mut(|b| {
        let node = b.parameter(name).unwrap_or_else(|| panic!("{name} is no parameter"));
        assert!(b.ty(node) == ty, "{name} is a {}, not a {ty}", b.ty(node));
        node
    })
}

fn call<U: Value>(function: Function, operands: &[usize]) -> Recorded<U> {
    Recorded(call_node(function, operands, U::TYPE), PhantomData)
}

impl Arith for Trace {
    type Repr<T: Value> = Recorded<T>;
    fn lit<T: Value>(x: T) -> Recorded<T> {
        Recorded(constant_node(Constant::of(x)), PhantomData)
    }
    fn op1<T: Value, U: Value>(f: Builtin, _: impl Fn(T) -> U, a: Recorded<T>) -> Recorded<U> {
        call(f.0, &[a.0])
    }
    fn op2<T: Value, S: Value, U: Value>(
        f: Builtin,
        _: impl Fn(T, S) -> U,
        a: Recorded<T>,
        b: Recorded<S>,
    ) -> Recorded<U> {
        call(f.0, &[a.0, b.0])
    }
    fn op3<T: Value, S: Value, R: Value, U: Value>(
        f: Builtin,
        _: impl Fn(T, S, R) -> U,
        a: Recorded<T>,
        b: Recorded<S>,
        c: Recorded<R>,
    ) -> Recorded<U> {
        call(f.0, &[a.0, b.0, c.0])
    }
    fn select<T: Value>(c: Recorded<bool>, a: Recorded<T>, b: Recorded<T>) -> Recorded<T> {
        call(Function::Select, &[c.0, a.0, b.0])
    }
    fn cast<T: Num, U: Num>(_: impl Fn(T) -> U, a: Recorded<T>) -> Recorded<U> {
        call(Function::Cast, &[a.0])
    }
}

impl Trace {
    /// The parameter of this name of the formula being recorded.
    ///
    /// # Panics
    /// If the formula has no parameter of this name and type.
    pub(crate) fn parameter<T: Value>(name: &str) -> V<Self, T> {
        V(Recorded(parameter_node(name, T::TYPE), PhantomData))
    }
}

/// Restores the outer formula when a nested recording ends or panics.
struct Outer(Option<Builder>);
impl Drop for Outer {
    fn drop(&mut self) {
        if let Some(outer) = self.0.take() {
            BUILDER.set(outer);
        }
    }
}

/// The formula that `body` computes of the parameters.
pub(crate) fn record<U: Value>(parameters: Vec<Parameter>, body: impl Fn() -> V<Trace, U>) -> Formula {
    record_node(parameters, &|| body().0.0)
}

/// [`record`] with a body that returns the node of its result.
#[inline(never)]
pub(crate) fn record_node(parameters: Vec<Parameter>, body: &dyn Fn() -> usize) -> Formula {
    // A body may record another formula.
    let _outer = Outer(Some(BUILDER.replace(Builder::new(parameters))));
    let result = body();
    BUILDER.take().finish(result)
}

fn named(parameters: &[(&'static str, Type)]) -> Vec<Parameter> {
    parameters.iter().map(|&(name, ty)| (name.into(), ty)).collect()
}

impl Formula {
    /// z = f(a): parameter `a`.
    #[must_use]
    pub fn of_unary<O: UnaryOp>(op: O) -> Self {
        record(named(&[("a", O::A::TYPE)]), || op.apply::<Trace>(Trace::parameter("a")))
    }
    /// z = a ∘ b: parameters `a` and `b`.
    #[must_use]
    pub fn of_binary<O: BinaryOp>(op: O) -> Self {
        let parameters = named(&[("a", O::A::TYPE), ("b", O::B::TYPE)]);
        record(parameters, || op.apply::<Trace>(Trace::parameter("a"), Trace::parameter("b")))
    }
    /// ⊗: parameters `a`, `b`, and the indices `i`, `k`, `j`, which are u64.
    #[must_use]
    pub fn of_mul<O: MulOp>(op: O) -> Self {
        let parameters =
            named(&[("a", O::A::TYPE), ("b", O::B::TYPE), ("i", u64::TYPE), ("k", u64::TYPE), ("j", u64::TYPE)]);
        record(parameters, || {
            let at = At { i: Trace::parameter("i"), k: Trace::parameter("k"), j: Trace::parameter("j") };
            op.mul::<Trace>(Trace::parameter("a"), Trace::parameter("b"), at)
        })
    }
    /// `sum` ⊕ (a ⊗ b): parameters `sum`, `a`, `b`.
    #[must_use]
    pub fn of_fold<T: Value, A: Arithmetic<T>>(ring: A) -> Self {
        let parameters = named(&[("sum", T::TYPE), ("a", T::TYPE), ("b", T::TYPE)]);
        record(parameters, || {
            ring.fold_on::<Trace>(Trace::parameter("sum"), Trace::parameter("a"), Trace::parameter("b"))
        })
    }
    /// z = f(a, s, i, j): the entry `a`, the scalar `s`, and the indices `i` and `j`, which are u64.
    #[must_use]
    pub fn of_index_unary<O: IndexUnaryOp>(op: O) -> Self {
        let parameters = named(&[("a", O::A::TYPE), ("s", O::S::TYPE), ("i", u64::TYPE), ("j", u64::TYPE)]);
        record(parameters, || {
            let at = Place { i: Trace::parameter("i"), j: Trace::parameter("j") };
            op.apply::<Trace>(Trace::parameter("a"), Trace::parameter("s"), at)
        })
    }
}

/// A call of a custom device function.
impl<const N: usize> From<DeviceFunction<N>> for Builtin {
    fn from(f: DeviceFunction<N>) -> Self {
        Builtin(Function::Device(f.call()))
    }
}

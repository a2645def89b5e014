//! Operators as device code, printed once and cached.
//!
//! A kernel launch needs only the text of an operator and its types, so the host side of a kernel takes a [`Printed`]
//! and is not generic.

use std::any::TypeId;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use super::{Arithmetic, BinaryOp, Constant, Contract, Formula, IndexUnaryOp, Monoid, Type, UnaryOp, Value, emit};

/// The text of an operator, which precedes the kernel source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    /// CUDA C++: `struct Ring`, `struct Op` or `struct Monoid`, after the definitions that it uses.
    pub(crate) text: String,
    /// Type of the left or only operand.
    pub(crate) a: Type,
    /// Type of the right operand, or of the scalar of an index-unary operator.
    pub(crate) b: Type,
    /// Type of the result.
    pub(crate) out: Type,
}

/// An operator parameter of a kernel; the key of the cache.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Printable {
    /// ⊕, its identity, ⊗: `struct Ring`.
    Ring(Formula, Constant, Formula),
    /// ⊕, its identity, ⊗, and a step of a fold of products, `sum ⊕ (a ⊗ b)` without one: `struct Ring` with `fold`.
    Arithmetic(Formula, Constant, Formula, Option<Formula>),
    /// ⊕ and its identity: `struct Monoid`.
    Monoid(Formula, Constant),
    /// An operator of one, or of two operands: `struct Op`.
    Op(Formula),
    /// An index-unary operator: `struct Op`.
    IndexOp(Formula),
}

type Cache<K> = RwLock<Option<HashMap<K, Arc<Printed>>>>;
/// Texts by operator, and by type for operators without parameters, which then need not be traced.
static PRINTED: Cache<Printable> = RwLock::new(None);
static TYPES: Cache<(TypeId, &'static str)> = RwLock::new(None);

/// The cached value of the key; computed by `make` and inserted if absent.
fn cached<K: Eq + Hash>(map: &Cache<K>, key: K, make: impl FnOnce(&K) -> Arc<Printed>) -> Arc<Printed> {
    let known = map.read().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(|map| map.get(&key).cloned());
    known.unwrap_or_else(|| {
        let made = make(&key);
        let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(map.get_or_insert_default().entry(key).or_insert(made))
    })
}

/// The text of formulas; printed once.
pub(crate) fn print_once(what: Printable) -> Arc<Printed> {
    cached(&PRINTED, what, |what| {
        let (text, f) = match what {
            Printable::Ring(add, identity, mul) => (emit::contract("Ring", add, identity, mul), mul),
            Printable::Arithmetic(add, identity, mul, fold) => {
                (emit::arithmetic("Ring", add, identity, mul, fold.as_ref()), mul)
            }
            Printable::Monoid(add, identity) => (emit::monoid(add, identity), add),
            Printable::Op(f) => (emit::operator(&["A", "B"], f), f),
            Printable::IndexOp(f) => (emit::operator(&["A", "S"], f), f),
        };
        let (a, b) = (f.parameters()[0].1, f.parameters().get(1).unwrap_or(&f.parameters()[0]).1);
        Arc::new(Printed { text, a, b, out: f.ty() })
    })
}

/// The text of an operator of type `O`.
fn once<O: 'static>(kind: &'static str, trace: impl FnOnce() -> Printable) -> Arc<Printed> {
    if size_of::<O>() > 0 {
        return print_once(trace());
    }
    cached(&TYPES, (TypeId::of::<O>(), kind), |_| print_once(trace()))
}

/// `struct Ring` of a semiring or NAMM.
pub(crate) fn printed_ring<R: Contract>(ring: R) -> Arc<Printed> {
    once::<R>("ring", || {
        let identity = Constant::of(<R::Add as Monoid>::IDENTITY);
        Printable::Ring(Formula::of_binary(ring.add()), identity, Formula::of_mul(ring.mul()))
    })
}
/// `struct Ring` with `fold(sum, a, b)`, which is `sum` ⊕ (a ⊗ b) rounded as [`Arithmetic::fold`] rounds it.
pub(crate) fn printed_arithmetic<T: Value, A: Arithmetic<T>>(ring: A) -> Arc<Printed> {
    once::<A>("arithmetic", || {
        let (add, mul) = (Formula::of_binary(ring.add()), Formula::of_mul(ring.mul()));
        Printable::Arithmetic(add, Constant::of(A::ZERO), mul, Some(Formula::of_fold(ring)))
    })
}
/// `struct Monoid`.
pub(crate) fn printed_monoid<M: Monoid>(monoid: M) -> Arc<Printed> {
    once::<M>("monoid", || Printable::Monoid(Formula::of_binary(monoid), Constant::of(M::IDENTITY)))
}
/// `struct Op` of a binary operator.
pub(crate) fn printed_binary<O: BinaryOp>(op: O) -> Arc<Printed> {
    once::<O>("binary", || Printable::Op(Formula::of_binary(op)))
}
/// `struct Op` of a unary operator.
pub(crate) fn printed_unary<O: UnaryOp>(op: O) -> Arc<Printed> {
    once::<O>("unary", || Printable::Op(Formula::of_unary(op)))
}
/// `struct Op` of an index-unary operator.
pub(crate) fn printed_index_unary<O: IndexUnaryOp>(op: O) -> Arc<Printed> {
    once::<O>("index unary", || Printable::IndexOp(Formula::of_index_unary(op)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::{Host, MinPlus, Plus, Real, V};

    crate::op! { /// (a · p) + b.
    Scaled<T: Real> { p: T } (a, b) -> T { a * p + b } }

    #[test]
    fn a_second_call_prints_nothing() {
        let first = printed_ring(MinPlus::<f32>::default());
        assert!(Arc::ptr_eq(&first, &printed_ring(MinPlus::<f32>::default())));
        assert!(!Arc::ptr_eq(&first, &printed_ring(MinPlus::<f64>::default())));
        assert_eq!((first.a, first.b, first.out), (Type::F32, Type::F32, Type::F32));
        assert_eq!(first.text, emit::emit_contract(MinPlus::<f32>::default()));
        // Operators with different parameters have different entries.
        let half = printed_binary(Scaled::new(0.5));
        assert!(Arc::ptr_eq(&half, &printed_binary(Scaled::new(0.5))));
        assert!(!Arc::ptr_eq(&half, &printed_binary(Scaled::new(0.25))));
        assert_eq!(half.text, emit::emit_binary_op(Scaled::new(0.5)));
        let op = Scaled::new(2.0);
        assert_eq!(BinaryOp::apply::<Host>(op, V(3.0), V(1.0)).0, 7.0);
        // A monoid and an operator of the same formula have different texts.
        assert_ne!(printed_monoid(Plus::<f32>::new()).text, printed_binary(Plus::<f32>::new()).text);
    }
}

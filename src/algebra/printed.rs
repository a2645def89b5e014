//! Operators as device code: printed once, not for each call.
//!
//! What launches kernels needs of an operator its text and the types that it computes with, and nothing else, so the host side
//! of a kernel takes a [`Printed`] and is not generic.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::{
    BinaryOp, Contract, IndexUnaryOp, Lhs, Monoid, Out, Rhs, Type, UnaryOp, Value, emit_binary_op, emit_contract,
    emit_index_unary_op, emit_monoid, emit_unary_op,
};

/// An operator as text in front of a kernel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    /// CUDA C++: `struct Ring`, `struct Op` or `struct Monoid`, and what it needs.
    pub(crate) text: String,
    /// Type of the left or only operand.
    pub(crate) a: Type,
    /// Type of the right operand, or of the scalar beside the only one.
    pub(crate) b: Type,
    /// Type of the result.
    pub(crate) out: Type,
}

/// Texts of operators without parameters, which their type tells apart.
static KNOWN: RwLock<Option<HashMap<(TypeId, &'static str), Arc<Printed>>>> = RwLock::new(None);

/// The text that was made before for an operator of this type, or else what `print` makes.
fn once<O: 'static>(kind: &'static str, print: impl FnOnce() -> Printed) -> Arc<Printed> {
    if size_of::<O>() > 0 {
        return Arc::new(print());
    }
    let key = (TypeId::of::<O>(), kind);
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(|map| map.get(&key).cloned());
    known.unwrap_or_else(|| {
        let printed = Arc::new(print());
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.get_or_insert_default().entry(key).or_insert(printed))
    })
}

/// `struct Ring` of a semiring or NAMM.
pub(crate) fn printed_ring<R: Contract>(ring: R) -> Arc<Printed> {
    once::<R>("ring", || Printed {
        text: emit_contract(ring),
        a: Lhs::<R>::TYPE,
        b: Rhs::<R>::TYPE,
        out: Out::<R>::TYPE,
    })
}
/// `struct Monoid`.
pub(crate) fn printed_monoid<M: Monoid>(monoid: M) -> Arc<Printed> {
    let t = M::Out::TYPE;
    once::<M>("monoid", || Printed { text: emit_monoid(monoid), a: t, b: t, out: t })
}
/// `struct Op` of a binary operator.
pub(crate) fn printed_binary<O: BinaryOp>(op: O) -> Arc<Printed> {
    once::<O>("binary", || Printed { text: emit_binary_op(op), a: O::A::TYPE, b: O::B::TYPE, out: O::Out::TYPE })
}
/// `struct Op` of a unary operator.
pub(crate) fn printed_unary<O: UnaryOp>(op: O) -> Arc<Printed> {
    once::<O>("unary", || Printed { text: emit_unary_op(op), a: O::A::TYPE, b: O::A::TYPE, out: O::Out::TYPE })
}
/// `struct Op` of an index-unary operator.
pub(crate) fn printed_index_unary<O: IndexUnaryOp>(op: O) -> Arc<Printed> {
    once::<O>("index unary", || Printed {
        text: emit_index_unary_op(op),
        a: O::A::TYPE,
        b: O::S::TYPE,
        out: O::Out::TYPE,
    })
}

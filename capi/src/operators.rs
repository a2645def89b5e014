//! Operators and monoids by name or formula.

use std::ffi::c_char;

use sparring::runtime::{BinaryOp, Monoid, UnaryOp};

use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::memory::{NewHandle, text, write, write_text};
use crate::scalar::SparringScalar;
use crate::semirings::of_name;
use crate::status::SparringStatus;
use crate::types::{code, type_of};

/// z = a ∘ b for values of given types, parsed and compiled once. It may be shared between threads.
pub struct SparringBinaryOp {
    pub(crate) op: BinaryOp,
}

/// z = f(a), or f(a, s, i, j) of an entry, a scalar s, and the row i and column j of the entry. It may be shared
/// between threads.
pub struct SparringUnaryOp {
    pub(crate) op: UnaryOp,
    /// Whether its scalar is set.
    pub(crate) bound: bool,
}

/// ⊕ with its identity. It may be shared between threads.
pub struct SparringMonoid {
    pub(crate) monoid: Monoid,
}

impl Object for SparringBinaryOp {
    const NAME: &'static str = "SparringBinaryOp";
}
impl Object for SparringUnaryOp {
    const NAME: &'static str = "SparringUnaryOp";
}
impl Object for SparringMonoid {
    const NAME: &'static str = "SparringMonoid";
}

/// An operator by name, such as "plus", "min", "second", "times", or by a formula of a and b, such as "a + 2*b" or
/// "a < b". Operands have the types `a_type` and `b_type`, both a SparringType. A named operator takes the same type
/// for both: SPARRING_TYPE if it does not exist for that type. A formula may take two types. `*op` receives the handle,
/// NULL on failure; free it with sparring_binary_op_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_binary_op_new(
    text: *const c_char,
    a_type: u32,
    b_type: u32,
    op: *mut *mut SparringBinaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `op` points to room for a handle, and `text` to text ended by a zero.
        let (out, text) = unsafe { (NewHandle::at(op, "op")?, self::text(text, "text")?) };
        let (a, b) = (type_of("a_type", a_type)?, type_of("b_type", b_type)?);
        let op = if a == b { BinaryOp::new(text, a) } else { BinaryOp::between(text, a, b) };
        let op = op.map_err(|e| of_name(e, "text", |ty| BinaryOp::new(text, ty).is_ok()))?;
        out.give(SparringBinaryOp { op })
    })
}

/// Type of its results, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_binary_op_type(op: *const SparringBinaryOp, r#type: *mut u32) -> SparringStatus {
    ffi!({
        let ty = code(handle(op, "op")?.op.ty());
        // SAFETY: by the contract `type` points to room for a number.
        unsafe { write(r#type, ty, "type") }
    })
}

/// Its name or formula: UTF-8 text written to `buffer` of `capacity` bytes as by sparring_plan_explain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_binary_op_describe(
    op: *const SparringBinaryOp,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let words = handle(op, "op")?.op.to_string();
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&words, buffer, capacity, length) }
    })
}

/// The operator f(x) = s ∘ x, or x ∘ s, for a scalar of the operand type.
/// # Safety
/// `unary` is NULL or points to room for a handle.
unsafe fn bind(
    op: *const SparringBinaryOp,
    scalar: *const SparringScalar,
    unary: *mut *mut SparringUnaryOp,
    first: bool,
) -> Fallible {
    // SAFETY: the caller's promise.
    let out = unsafe { NewHandle::at(unary, "unary")? };
    let (op, scalar) = (handle(op, "op")?, handle(scalar, "scalar")?);
    let (a, b) = op.op.takes();
    scalar.is_of("scalar", if first { a } else { b }, "the operand's")?;
    let s = scalar.value("scalar")?;
    let op = if first { op.op.with_first(s)? } else { op.op.with_second(s)? };
    out.give(SparringUnaryOp { op, bound: true })
}

/// The operator f(x) = s ∘ x, where s is the current value of the scalar, of the type of a. `*unary` receives the
/// handle, NULL on failure; free it with sparring_unary_op_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_binary_op_bind_first(
    op: *const SparringBinaryOp,
    scalar: *const SparringScalar,
    unary: *mut *mut SparringUnaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above.
        unsafe { bind(op, scalar, unary, true) }
    })
}

/// The operator f(x) = x ∘ s, where s is the current value of the scalar, of the type of b. `*unary` receives the
/// handle, NULL on failure; free it with sparring_unary_op_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_binary_op_bind_second(
    op: *const SparringBinaryOp,
    scalar: *const SparringScalar,
    unary: *mut *mut SparringUnaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above.
        unsafe { bind(op, scalar, unary, false) }
    })
}

/// Frees an operator; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_binary_op_free(op: *mut SparringBinaryOp) -> SparringStatus {
    ffi!({ release(op, "op") })
}

/// An operator by name, such as "abs", "ainv" or "tril", or by a formula of a, s, i and j, such as "a*a", "a > s" or
/// "i < j": a is an entry, s a scalar, i and j the row and column of the entry, of SPARRING_U64 (j is 0 in a vector).
/// Entries have the type `type`. The scalar of a formula has the type `s_type`, or `type` if that is 0; a named
/// operator has a fixed scalar type ("tril": SPARRING_I64), and `s_type` is that type, or 0. If the operator reads a
/// scalar, set it by sparring_unary_op_with before use. `*op` receives the handle, NULL on failure; free it with
/// sparring_unary_op_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_unary_op_new(
    text: *const c_char,
    r#type: u32,
    s_type: u32,
    op: *mut *mut SparringUnaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `op` points to room for a handle, and `text` to text ended by a zero.
        let (out, text) = unsafe { (NewHandle::at(op, "op")?, self::text(text, "text")?) };
        let ty = type_of("type", r#type)?;
        let s = if s_type == 0 { None } else { Some(type_of("s_type", s_type)?) };
        let plain = UnaryOp::new(text, ty);
        let op = match (plain, s) {
            (Ok(op), Some(s)) if op.takes_scalar().is_some_and(|own| own != s) => UnaryOp::between(text, ty, s),
            // A formula may be valid only with a scalar of that type.
            (Err(sparring::Error::Formula { .. }), Some(s)) if s != ty => UnaryOp::between(text, ty, s),
            (plain, _) => plain,
        };
        let op = op.map_err(|e| of_name(e, "text", |ty| UnaryOp::new(text, ty).is_ok()))?;
        out.give(SparringUnaryOp { op, bound: false })
    })
}

/// The same operator with s set to the current value of the scalar; `op` needs a scalar and has none yet. `*bound`
/// receives the handle, NULL on failure; free it with sparring_unary_op_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_unary_op_with(
    op: *const SparringUnaryOp,
    scalar: *const SparringScalar,
    bound: *mut *mut SparringUnaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `bound` points to room for a handle.
        let out = unsafe { NewHandle::at(bound, "bound")? };
        let (op, scalar) = (handle(op, "op")?, handle(scalar, "scalar")?);
        if op.bound {
            return Err(Fail::argument("op", format!("{} already has its scalar", op.op)));
        }
        let Some(takes) = op.op.takes_scalar() else {
            return Err(Fail::argument("op", format!("{} takes no scalar", op.op)));
        };
        scalar.is_of("scalar", takes, "the operator's")?;
        out.give(SparringUnaryOp { op: op.op.with(scalar.value("scalar")?)?, bound: true })
    })
}

/// Type of its results, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_unary_op_type(op: *const SparringUnaryOp, r#type: *mut u32) -> SparringStatus {
    ffi!({
        let ty = code(handle(op, "op")?.op.ty());
        // SAFETY: by the contract `type` points to room for a number.
        unsafe { write(r#type, ty, "type") }
    })
}

/// Its name or formula: UTF-8 text written to `buffer` of `capacity` bytes as by sparring_plan_explain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_unary_op_describe(
    op: *const SparringUnaryOp,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let words = handle(op, "op")?.op.to_string();
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&words, buffer, capacity, length) }
    })
}

/// Frees an operator; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_unary_op_free(op: *mut SparringUnaryOp) -> SparringStatus {
    ffi!({ release(op, "op") })
}

/// A monoid by name, such as "plus", "max" or "lor", or by a formula with its identity, such as
/// "a + b - a*b identity 0", over values of `type`, a SparringType. The monoid laws are tested on many values:
/// SPARRING_ARGUMENT reports a counterexample. `*monoid` receives the handle, NULL on failure; free it with
/// sparring_monoid_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_monoid_new(
    text: *const c_char,
    r#type: u32,
    monoid: *mut *mut SparringMonoid,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `monoid` points to room for a handle, and `text` to text ended by a zero.
        let (out, text) = unsafe { (NewHandle::at(monoid, "monoid")?, self::text(text, "text")?) };
        let monoid = Monoid::new(text, type_of("type", r#type)?);
        let monoid = monoid.map_err(|e| of_name(e, "text", |ty| Monoid::new(text, ty).is_ok()))?;
        out.give(SparringMonoid { monoid })
    })
}

/// Type of its values, a SparringType.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_monoid_type(monoid: *const SparringMonoid, r#type: *mut u32) -> SparringStatus {
    ffi!({
        let ty = code(handle(monoid, "monoid")?.monoid.ty());
        // SAFETY: by the contract `type` points to room for a number.
        unsafe { write(r#type, ty, "type") }
    })
}

/// Its identity, e with e ⊕ x = x, written to `scalar`, which has its type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_monoid_identity(
    monoid: *const SparringMonoid,
    scalar: *mut SparringScalar,
) -> SparringStatus {
    ffi!({
        let (monoid, scalar) = (handle(monoid, "monoid")?, handle(scalar, "scalar")?);
        scalar.is_of("scalar", monoid.monoid.ty(), "the monoid's")?;
        scalar.put(Some(monoid.monoid.identity()));
        Ok(())
    })
}

/// Its name or formula: UTF-8 text written to `buffer` of `capacity` bytes as by sparring_plan_explain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_monoid_describe(
    monoid: *const SparringMonoid,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let words = handle(monoid, "monoid")?.monoid.to_string();
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&words, buffer, capacity, length) }
    })
}

/// Frees a monoid; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_monoid_free(monoid: *mut SparringMonoid) -> SparringStatus {
    ffi!({ release(monoid, "monoid") })
}

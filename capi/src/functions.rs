//! User-defined operators, and monoids and semirings of operators.

use std::ffi::{c_char, c_void};

use sparring::algebra::{HostCall, Input, SliceMut, Type};
use sparring::runtime::{BinaryOp, Monoid, Semiring, UnaryOp};

use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::memory::{NewHandle, text};
use crate::operators::{SparringBinaryOp, SparringMonoid, SparringUnaryOp};
use crate::scalar::SparringScalar;
use crate::semirings::SparringSemiring;
use crate::status::SparringStatus;
use crate::types::type_of;

/// Called once with the context when the last object that uses the function is dropped.
type Release = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// The context of a function, until the last object that uses it is dropped.
struct Context {
    context: *mut c_void,
    release: Release,
}

// SAFETY: the context is only passed to the caller's functions; the caller promised that any thread may call them,
// several at a time.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    fn get(&self) -> *mut c_void {
        self.context
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the function and the context that belong together, called once, by the caller's contract from any
            // thread.
            unsafe { release(self.context) };
        }
    }
}

/// Operands of a function: an address and a stride, 0 bytes for a broadcast value.
#[derive(Clone, Copy)]
struct OperandArray(*const u8, usize);

impl OperandArray {
    fn of(input: &Input<'_>) -> Self {
        let values = input.slice();
        Self(values.as_ptr(), if matches!(input, Input::Values(_)) { values.ty().size() } else { 0 })
    }
    /// The operand of result `at`.
    fn at(self, at: usize) -> *const c_void {
        self.0.wrapping_add(at * self.1).cast()
    }
}

/// Calls `call` for each result with its number and its address.
fn each(out: &mut SliceMut<'_>, call: impl Fn(usize, *mut c_void)) {
    if let Some(truths) = out.get::<bool>() {
        for (at, truth) in truths.iter_mut().enumerate() {
            // C may write any byte as a bool.
            let mut byte = 0u8;
            call(at, (&raw mut byte).cast());
            *truth = byte != 0;
        }
        return;
    }
    let (z, size) = (out.as_mut_ptr(), out.ty().size());
    for at in 0..out.len() {
        call(at, z.wrapping_add(at * size).cast());
    }
}

/// The function z = f(x) that `call` computes from addresses.
fn unary(
    name: &str,
    x: Type,
    z: Type,
    call: impl Fn(*mut c_void, *const c_void) + Send + Sync + 'static,
) -> Fallible<UnaryOp> {
    let call = HostCall::new(name, &[x], z, move |inputs, out| {
        let x = OperandArray::of(&inputs[0]);
        each(out, |at, z| call(z, x.at(at)));
    });
    Ok(UnaryOp::from_host(call)?)
}

/// The same for z = f(x, i, j, s).
fn index_unary(
    name: &str,
    (x, s): (Type, Type),
    z: Type,
    call: impl Fn(*mut c_void, *const c_void, u64, u64, *const c_void) + Send + Sync + 'static,
) -> Fallible<UnaryOp> {
    let call = HostCall::new(name, &[x, Type::U64, Type::U64, s], z, move |inputs, out| {
        let (x, s) = (OperandArray::of(&inputs[0]), OperandArray::of(&inputs[3]));
        let index = |p: usize, at: usize| match inputs[p] {
            Input::Scalar(one) => one.get::<u64>().map_or(0, |one| one[0]),
            Input::Values(all) => all.get::<u64>().map_or(0, |all| all[at]),
        };
        each(out, |at, z| call(z, x.at(at), index(1, at), index(2, at), s.at(at)));
    });
    Ok(UnaryOp::from_host(call)?)
}

/// The same for z = f(x, y).
fn binary(
    name: &str,
    (x, y): (Type, Type),
    z: Type,
    call: impl Fn(*mut c_void, *const c_void, *const c_void) + Send + Sync + 'static,
) -> Fallible<BinaryOp> {
    let call = HostCall::new(name, &[x, y], z, move |inputs, out| {
        let (x, y) = (OperandArray::of(&inputs[0]), OperandArray::of(&inputs[1]));
        each(out, |at, z| call(z, x.at(at), y.at(at)));
    });
    Ok(BinaryOp::from_host(call)?)
}

/// The name of a function.
/// # Safety
/// As for [`text`], if it is not NULL.
unsafe fn named<'a>(name: *const c_char) -> Fallible<&'a str> {
    if name.is_null() {
        return Ok("function");
    }
    // SAFETY: the caller's promise.
    unsafe { text(name, "name") }
}

/// A user-defined operator z = f(x): the function reads an `x_type` at `x` and writes a `z_type` to `z`, both a
/// SparringType; the two addresses differ. `name` is used in messages and may be NULL.
///
/// The function is called once per value, from several threads at a time. It depends only on `x`, returns normally, and
/// calls no function of this library; exceptions, longjmp and writes elsewhere are undefined behaviour. It works
/// wherever an operator is accepted on the processor; a GPU cannot call it (SPARRING_UNSUPPORTED), but runs the same
/// operator given as a formula. Two operators are equal if one was made from the other. `*op` receives the handle, NULL
/// on failure; free it with sparring_unary_op_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_unary_op_from_function(
    f: Option<unsafe extern "C" fn(z: *mut c_void, x: *const c_void)>,
    name: *const c_char,
    z_type: u32,
    x_type: u32,
    op: *mut *mut SparringUnaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `op` points to room for a handle, and `name` to text ended by a zero or to
        // nothing.
        let (out, name) = unsafe { (NewHandle::at(op, "op")?, named(name)?) };
        let (z, x) = (type_of("z_type", z_type)?, type_of("x_type", x_type)?);
        let f = f.ok_or_else(|| Fail::null("f"))?;
        // SAFETY: a value of the type, and room for one, as the contract says of the function.
        let op = unary(name, x, z, move |z, x| unsafe { f(z, x) })?;
        out.give(SparringUnaryOp { op, bound: false })
    })
}

/// The same for a function with a context of yours, its first argument. `release` is called once with the context, by
/// any thread, when the operator and everything made from it are freed; it may be NULL. On failure it is not called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_unary_op_from_closure(
    f: Option<unsafe extern "C" fn(context: *mut c_void, z: *mut c_void, x: *const c_void)>,
    context: *mut c_void,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
    name: *const c_char,
    z_type: u32,
    x_type: u32,
    op: *mut *mut SparringUnaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: as for sparring_unary_op_from_function.
        let (out, name) = unsafe { (NewHandle::at(op, "op")?, named(name)?) };
        let (z, x) = (type_of("z_type", z_type)?, type_of("x_type", x_type)?);
        let f = f.ok_or_else(|| Fail::null("f"))?;
        let context = Context { context, release };
        // SAFETY: as there; the context is the function's.
        let op = unary(name, x, z, move |z, x| unsafe { f(context.get(), z, x) })?;
        out.give(SparringUnaryOp { op, bound: false })
    })
}

/// A user-defined operator z = f(x, i, j, s) of an entry, its row, its column (0 in a vector) and a scalar, like
/// GrB_IndexUnaryOp. For select, `z_type` is SPARRING_BOOL. Set its scalar, of `s_type`, by sparring_unary_op_with
/// before use. sparring_unary_op_from_function lists the requirements on the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_unary_op_from_index_function(
    f: Option<unsafe extern "C" fn(z: *mut c_void, x: *const c_void, i: u64, j: u64, s: *const c_void)>,
    name: *const c_char,
    z_type: u32,
    x_type: u32,
    s_type: u32,
    op: *mut *mut SparringUnaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: as for sparring_unary_op_from_function.
        let (out, name) = unsafe { (NewHandle::at(op, "op")?, named(name)?) };
        let (z, x, s) = (type_of("z_type", z_type)?, type_of("x_type", x_type)?, type_of("s_type", s_type)?);
        let f = f.ok_or_else(|| Fail::null("f"))?;
        // SAFETY: as there.
        let op = index_unary(name, (x, s), z, move |z, x, i, j, s| unsafe { f(z, x, i, j, s) })?;
        out.give(SparringUnaryOp { op, bound: false })
    })
}

/// The same for a function with a context of yours, as for sparring_unary_op_from_closure.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "a function, its context and its types")]
pub unsafe extern "C" fn sparring_unary_op_from_index_closure(
    f: Option<
        unsafe extern "C" fn(context: *mut c_void, z: *mut c_void, x: *const c_void, i: u64, j: u64, s: *const c_void),
    >,
    context: *mut c_void,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
    name: *const c_char,
    z_type: u32,
    x_type: u32,
    s_type: u32,
    op: *mut *mut SparringUnaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: as for sparring_unary_op_from_function.
        let (out, name) = unsafe { (NewHandle::at(op, "op")?, named(name)?) };
        let (z, x, s) = (type_of("z_type", z_type)?, type_of("x_type", x_type)?, type_of("s_type", s_type)?);
        let f = f.ok_or_else(|| Fail::null("f"))?;
        let context = Context { context, release };
        // SAFETY: as there; the context is the function's.
        let op = index_unary(name, (x, s), z, move |z, x, i, j, s| unsafe { f(context.get(), z, x, i, j, s) })?;
        out.give(SparringUnaryOp { op, bound: false })
    })
}

/// A user-defined operator z = f(x, y): the function reads an `x_type` at `x` and a `y_type` at `y` and writes a
/// `z_type` to `z`, like GrB_BinaryOp. sparring_unary_op_from_function lists the requirements on the function. `*op`
/// receives the handle, NULL on failure; free it with sparring_binary_op_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_binary_op_from_function(
    f: Option<unsafe extern "C" fn(z: *mut c_void, x: *const c_void, y: *const c_void)>,
    name: *const c_char,
    z_type: u32,
    x_type: u32,
    y_type: u32,
    op: *mut *mut SparringBinaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: as for sparring_unary_op_from_function.
        let (out, name) = unsafe { (NewHandle::at(op, "op")?, named(name)?) };
        let (z, x, y) = (type_of("z_type", z_type)?, type_of("x_type", x_type)?, type_of("y_type", y_type)?);
        let f = f.ok_or_else(|| Fail::null("f"))?;
        // SAFETY: as there.
        out.give(SparringBinaryOp { op: binary(name, (x, y), z, move |z, x, y| unsafe { f(z, x, y) })? })
    })
}

/// The same for a function with a context of yours, as for sparring_unary_op_from_closure.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "a function, its context and its types")]
pub unsafe extern "C" fn sparring_binary_op_from_closure(
    f: Option<unsafe extern "C" fn(context: *mut c_void, z: *mut c_void, x: *const c_void, y: *const c_void)>,
    context: *mut c_void,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
    name: *const c_char,
    z_type: u32,
    x_type: u32,
    y_type: u32,
    op: *mut *mut SparringBinaryOp,
) -> SparringStatus {
    ffi!({
        // SAFETY: as for sparring_unary_op_from_function.
        let (out, name) = unsafe { (NewHandle::at(op, "op")?, named(name)?) };
        let (z, x, y) = (type_of("z_type", z_type)?, type_of("x_type", x_type)?, type_of("y_type", y_type)?);
        let f = f.ok_or_else(|| Fail::null("f"))?;
        let context = Context { context, release };
        // SAFETY: as there; the context is the function's.
        let op = binary(name, (x, y), z, move |z, x, y| unsafe { f(context.get(), z, x, y) })?;
        out.give(SparringBinaryOp { op })
    })
}

/// The monoid of an operator with equal operand and result types, and its identity, the current value of the scalar.
/// The monoid laws are tested on many values, and SPARRING_ARGUMENT reports a counterexample; user-defined functions
/// are not tested, because they may be monoids only on your values. `*monoid` receives the handle, NULL on failure;
/// free it with sparring_monoid_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_monoid_from_op(
    op: *const SparringBinaryOp,
    identity: *const SparringScalar,
    monoid: *mut *mut SparringMonoid,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `monoid` points to room for a handle.
        let out = unsafe { NewHandle::at(monoid, "monoid")? };
        let (op, identity) = (handle(op, "op")?, handle(identity, "identity")?);
        let (a, b) = op.op.takes();
        if (a, b) != (op.op.ty(), op.op.ty()) {
            let [a, b, gives] = [a, b, op.op.ty()].map(crate::types::named);
            let message = format!("{} takes {a} and {b} and returns {gives}, a monoid needs a single type", op.op);
            return Err(Fail::of_type("op", message));
        }
        identity.is_of("identity", a, "the operator's")?;
        let monoid = Monoid::of(&op.op, identity.value("identity")?).map_err(|e| Fail::from(e).naming("op"))?;
        out.give(SparringMonoid { monoid })
    })
}

/// The semiring of a monoid and an operator with the monoid's type as its result. Its products take A of the operator's
/// first type and B of its second. `*ring` receives the handle, NULL on failure; free it with sparring_semiring_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_semiring_from_ops(
    add: *const SparringMonoid,
    mul: *const SparringBinaryOp,
    ring: *mut *mut SparringSemiring,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `ring` points to room for a handle.
        let out = unsafe { NewHandle::at(ring, "ring")? };
        let (add, mul) = (handle(add, "add")?, handle(mul, "mul")?);
        let (gives, takes) = (mul.op.ty(), add.monoid.ty());
        if gives != takes {
            let [gives, takes] = [gives, takes].map(crate::types::named);
            return Err(Fail::of_type("mul", format!("{} gives {gives}, {} takes {takes}", mul.op, add.monoid)));
        }
        let (a, b) = mul.op.takes();
        out.give(SparringSemiring::new(Semiring::of(&add.monoid, &mul.op)?, [a, b]))
    })
}

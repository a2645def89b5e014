//! User-defined operators, through raw pointers.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::functions::*;
use crate::semirings::*;

type Word = *const c_void;

unsafe extern "C" fn add(z: *mut c_void, x: Word, y: Word) {
    unsafe { *z.cast::<i64>() = *x.cast::<i64>() + *y.cast::<i64>() };
}
unsafe extern "C" fn least(z: *mut c_void, x: Word, y: Word) {
    unsafe { *z.cast::<i64>() = (*x.cast::<i64>()).min(*y.cast::<i64>()) };
}
/// A bool of an arbitrary byte, as in C.
unsafe extern "C" fn differ(z: *mut c_void, x: Word, y: Word) {
    unsafe { *z.cast::<u8>() = 6 * u8::from(*x.cast::<i64>() != *y.cast::<i64>()) };
}
/// a·b of two types, both different from the result type.
unsafe extern "C" fn scaled(z: *mut c_void, x: Word, y: Word) {
    unsafe { *z.cast::<f64>() = f64::from(*x.cast::<i16>()) * f64::from(*y.cast::<f32>()) };
}
unsafe extern "C" fn conj(z: *mut c_void, x: Word) {
    let [re, im] = unsafe { *x.cast::<[f64; 2]>() };
    unsafe { *z.cast() = [re, -im] };
}
/// Entries on or below the diagonal `s`.
unsafe extern "C" fn below(z: *mut c_void, _: Word, i: u64, j: u64, s: Word) {
    unsafe { *z.cast::<u8>() = u8::from(j as i64 <= i as i64 + i64::from(*s.cast::<i32>())) };
}
static RELEASED: AtomicUsize = AtomicUsize::new(0);
unsafe extern "C" fn release(context: *mut c_void) {
    RELEASED.fetch_add(*unsafe { Box::from_raw(context.cast::<usize>()) }, Ordering::Relaxed);
}
unsafe extern "C" fn shifted(context: *mut c_void, z: *mut c_void, x: Word, y: Word) {
    unsafe { *z.cast::<i64>() = *x.cast::<i64>() + *y.cast::<i64>() + *context.cast::<usize>() as i64 };
}

type Binary = unsafe extern "C" fn(*mut c_void, Word, Word);

#[track_caller]
fn function(f: Binary, z: SparringType, x: SparringType, y: SparringType) -> *mut SparringBinaryOp {
    let mut op = null_mut();
    let [z, x, y] = [z, x, y].map(|ty| ty as u32);
    ok(unsafe { sparring_binary_op_from_function(Some(f), c"mine".as_ptr(), z, x, y, &mut op) });
    op
}

#[test]
fn functions_compute_what_names_do() {
    let cpu = cpu(2, 0);
    let i64s = SPARRING_I64;
    let (plus, min) = (function(add, i64s, i64s, i64s), function(least, i64s, i64s, i64s));
    let (top, mut most, mut ring) = (scalar(i64s, i64::MAX), null_mut(), null_mut());
    ok(unsafe { sparring_monoid_from_op(min, top, &mut most) });
    ok(unsafe { sparring_semiring_from_ops(most, plus, &mut ring) });
    let a = csr(i64s, 2, 2, &[0, 2, 3], &[0, 1, 1], &[1i64, 2, 3]);
    let c = csr(i64s, 2, 2, &[0, 1, 1], &[0], &[100i64]);
    ok(unsafe { sparring_matrix_mxm(cpu, c, null(), plus, ring, a, a, null()) });
    assert_eq!(copy::<i64>(c), (vec![0, 2, 3], vec![0, 1, 1], vec![102, 3, 6]));
    let (mut ty, mut name) = (0, [0 as c_char; 16]);
    ok(unsafe { sparring_semiring_describe(ring, name.as_mut_ptr(), 16, null_mut()) });
    assert_eq!(text(name.as_ptr()), "mine, mine");
    // A reduction.
    let s = empty_scalar(i64s);
    ok(unsafe { sparring_matrix_reduce_scalar(cpu, s, null(), most, a) });
    assert_eq!(value::<i64>(s), Some(1));
    // Three types, and bool.
    let mixed = function(scaled, SPARRING_F64, SPARRING_I16, SPARRING_F32);
    let (x, y) = (vector(SPARRING_I16, 3, &[0, 2], &[2i16, 3]), vector(SPARRING_F32, 3, &[2], &[0.5f32]));
    let z = vector::<f64>(SPARRING_F64, 3, &[], &[]);
    ok(unsafe { sparring_vector_ewise_mult(cpu, z, null(), null(), mixed, x, y, null()) });
    assert_eq!(entries::<f64>(z), (vec![2], vec![1.5]));
    let unlike = function(differ, SPARRING_BOOL, i64s, i64s);
    ok(unsafe { sparring_binary_op_type(unlike, &mut ty) });
    assert_eq!(ty, SPARRING_BOOL as u32);
    let (one, mut is_not_one, truths) = (scalar(i64s, 1i64), null_mut(), null_mut::<SparringMatrix>());
    ok(unsafe { sparring_binary_op_bind_second(unlike, one, &mut is_not_one) });
    let mut truths = truths;
    ok(unsafe { sparring_matrix_new(SPARRING_BOOL as u32, 2, 2, &mut truths) });
    ok(unsafe { sparring_matrix_apply(cpu, truths, null(), null(), is_not_one, a, null()) });
    assert_eq!(copy::<u8>(truths).2, [0, 1, 1]);
    ok(unsafe { sparring_matrix_select(cpu, c, null(), null(), is_not_one, a, null()) });
    assert_eq!(copy::<i64>(c).2, [2, 3]);
    // Functions of an entry, and of an entry, its indices and a scalar.
    let mut of_one = null_mut();
    let z_ty = SPARRING_COMPLEX_F64 as u32;
    ok(unsafe { sparring_unary_op_from_function(Some(conj), null(), z_ty, z_ty, &mut of_one) });
    ok(unsafe { sparring_unary_op_describe(of_one, name.as_mut_ptr(), 16, null_mut()) });
    assert_eq!(text(name.as_ptr()), "function");
    let w = vector(SPARRING_COMPLEX_F64, 2, &[1], &[[1.0f64, 2.0]]);
    ok(unsafe { sparring_vector_apply(cpu, w, null(), null(), of_one, w, null()) });
    assert_eq!(entries::<[f64; 2]>(w).1, [[1.0, -2.0]]);
    let (mut tril, mut diagonal) = (null_mut(), null_mut());
    let (truth, i32s, i64_ty) = (SPARRING_BOOL as u32, SPARRING_I32, i64s as u32);
    let f = Some(below as unsafe extern "C" fn(*mut c_void, Word, u64, u64, Word));
    ok(unsafe { sparring_unary_op_from_index_function(f, null(), truth, i64_ty, i32s as u32, &mut tril) });
    let e = unsafe { sparring_matrix_select(cpu, c, null(), null(), tril, a, null()) };
    assert!(refused(e, SPARRING_ARGUMENT).starts_with("op: function needs a scalar"));
    let zero = scalar(i32s, 0i32);
    ok(unsafe { sparring_unary_op_with(tril, zero, &mut diagonal) });
    ok(unsafe { sparring_matrix_select(cpu, c, null(), null(), diagonal, a, null()) });
    assert_eq!(copy::<i64>(c), (vec![0, 1, 2], vec![0, 1], vec![1, 3]));
    for op in [plus, min, mixed, unlike] {
        ok(sparring_binary_op_free(op));
    }
    for op in [is_not_one, of_one, tril, diagonal] {
        ok(sparring_unary_op_free(op));
    }
    for s in [top, s, one, zero] {
        ok(sparring_scalar_free(s));
    }
    for v in [x, y, z, w] {
        ok(sparring_vector_free(v));
    }
    for m in [a, c, truths] {
        ok(sparring_matrix_free(m));
    }
    ok(sparring_monoid_free(most));
    ok(sparring_semiring_free(ring));
    ok(sparring_device_free(cpu));
}

/// The context is released with the last object that uses the function.
#[test]
fn a_context_is_released_once() {
    let (cpu, i64s) = (cpu(1, 0), SPARRING_I64 as u32);
    let mut op = null_mut();
    let context = Box::into_raw(Box::new(7usize)).cast();
    let f = Some(shifted as unsafe extern "C" fn(*mut c_void, *mut c_void, Word, Word));
    // On failure, the context stays with the caller.
    let e = unsafe { sparring_binary_op_from_closure(f, context, Some(release), null(), i64s, i64s, 99, &mut op) };
    assert!(refused(e, SPARRING_ARGUMENT).starts_with("y_type: 99 is none of"));
    assert_eq!(RELEASED.load(Ordering::Relaxed), 0);
    ok(unsafe { sparring_binary_op_from_closure(f, context, Some(release), null(), i64s, i64s, i64s, &mut op) });
    let (s, mut bound) = (scalar(SPARRING_I64, 5i64), null_mut());
    ok(unsafe { sparring_binary_op_bind_first(op, s, &mut bound) });
    ok(sparring_binary_op_free(op));
    assert_eq!(RELEASED.load(Ordering::Relaxed), 0);
    let x = vector(SPARRING_I64, 1, &[0], &[1i64]);
    ok(unsafe { sparring_vector_apply(cpu, x, null(), null(), bound, x, null()) });
    assert_eq!(entries::<i64>(x).1, [13]);
    ok(sparring_unary_op_free(bound));
    assert_eq!(RELEASED.load(Ordering::Relaxed), 7);
    ok(sparring_vector_free(x));
    ok(sparring_scalar_free(s));
    ok(sparring_device_free(cpu));
}

#[test]
fn wrong_functions_are_refused() {
    let i64s = SPARRING_I64 as u32;
    let mut op = 16 as *mut SparringBinaryOp;
    let status = unsafe { sparring_binary_op_from_function(None, null(), i64s, i64s, i64s, &mut op) };
    assert_eq!(refused(status, SPARRING_NULL_POINTER), "f is NULL");
    assert!(op.is_null());
    let types = [(0, i64s, i64s, "z_type"), (i64s, 77, i64s, "x_type"), (i64s, i64s, u32::MAX, "y_type")];
    for (z, x, y, name) in types {
        let status = unsafe { sparring_binary_op_from_function(Some(add), null(), z, x, y, &mut op) };
        assert!(refused(status, SPARRING_ARGUMENT).starts_with(name));
    }
    let status = unsafe { sparring_binary_op_from_function(Some(add), c"\xff".as_ptr(), i64s, i64s, i64s, &mut op) };
    assert_eq!(refused(status, SPARRING_ARGUMENT), "name: not UTF-8 after 0 bytes");
    let status = unsafe { sparring_binary_op_from_function(Some(add), null(), i64s, i64s, i64s, null_mut()) };
    assert_eq!(refused(status, SPARRING_NULL_POINTER), "op is NULL");
    let (none, mut unary) = (null_mut(), 16 as *mut SparringUnaryOp);
    let e = unsafe { sparring_binary_op_from_closure(None, none, None, null(), i64s, i64s, i64s, &mut op) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "f is NULL");
    let e = unsafe { sparring_unary_op_from_function(None, null(), i64s, i64s, &mut unary) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "f is NULL");
    let e = unsafe { sparring_unary_op_from_closure(None, none, None, null(), i64s, i64s, &mut unary) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "f is NULL");
    let e = unsafe { sparring_unary_op_from_index_function(None, null(), i64s, i64s, i64s, &mut unary) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "f is NULL");
    let e = unsafe { sparring_unary_op_from_index_closure(None, none, None, null(), i64s, i64s, 0, &mut unary) };
    assert!(refused(e, SPARRING_ARGUMENT).starts_with("s_type: 0 is none of"));
    assert!(unary.is_null());

    // Monoids and semirings of operators.
    let (plus, mixed) =
        (binary(c"plus", SPARRING_I64, SPARRING_I64), function(scaled, SPARRING_F64, SPARRING_I16, SPARRING_F32));
    let (zero, one, half) = (scalar(SPARRING_I64, 0i64), scalar(SPARRING_I64, 1i64), scalar(SPARRING_F64, 0.5f64));
    let mut made = null_mut();
    let mut new = |op: *const SparringBinaryOp, s: *const SparringScalar| {
        let status = unsafe { sparring_monoid_from_op(op, s, &mut made) };
        assert_eq!(made.is_null(), status != SPARRING_OK);
        status
    };
    assert_eq!(refused(new(null(), zero), SPARRING_NULL_POINTER), "op is NULL");
    assert_eq!(refused(new(plus, null()), SPARRING_NULL_POINTER), "identity is NULL");
    let e = refused(new(plus, plus.cast_const().cast()), SPARRING_INVALID_HANDLE);
    assert_eq!(e, "identity: a SparringScalar is needed, the handle is of a SparringBinaryOp");
    assert_eq!(
        refused(new(plus, half), SPARRING_TYPE),
        "identity: it is of SPARRING_F64, the operator's type is SPARRING_I64"
    );
    let e = refused(new(mixed, half), SPARRING_TYPE);
    assert!(e.starts_with("op: mine takes SPARRING_I16 and SPARRING_F32 and returns SPARRING_F64"), "{e}");
    let e = refused(new(plus, one), SPARRING_ARGUMENT);
    assert!(e.starts_with("op: ") && e.contains("1 ⊕ x is 2, not x, for x = 1"), "{e}");
    let empty = empty_scalar(SPARRING_I64);
    assert_eq!(refused(new(plus, empty), SPARRING_NO_VALUE), "identity: the scalar is empty");
    ok(new(plus, zero));
    let mut ring = null_mut();
    let status = unsafe { sparring_semiring_from_ops(made, mixed, &mut ring) };
    assert_eq!(refused(status, SPARRING_TYPE), "mul: mine gives SPARRING_F64, plus takes SPARRING_I64");
    assert!(ring.is_null());
    let status = unsafe { sparring_semiring_from_ops(null(), plus, &mut ring) };
    assert_eq!(refused(status, SPARRING_NULL_POINTER), "add is NULL");
    ok(unsafe { sparring_semiring_from_ops(made, plus, &mut ring) });
    // Equal to the named semiring, whose loops it uses.
    let mut name = [0 as c_char; 16];
    ok(unsafe { sparring_semiring_describe(ring, name.as_mut_ptr(), 16, null_mut()) });
    assert_eq!(text(name.as_ptr()), "plus_plus");
    ok(sparring_semiring_free(ring));
    ok(sparring_monoid_free(made));
    ok(sparring_binary_op_free(mixed));
    let status = unsafe { sparring_monoid_from_op(mixed, half, &mut made) };
    assert!(refused(status, SPARRING_INVALID_HANDLE).contains("freed, or never one"));
    ok(sparring_binary_op_free(plus));
    for s in [zero, one, half, empty] {
        ok(sparring_scalar_free(s));
    }
}

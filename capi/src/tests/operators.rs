//! Operators and monoids through the C API.

use super::*;

#[test]
fn operators_are_made_by_name_and_by_formula() {
    let mut ty = 0;
    let mut name = [0 as c_char; 16];
    let less = binary(c"a < f64(b)", SPARRING_F64, SPARRING_I32);
    ok(unsafe { sparring_binary_op_type(less, &mut ty) });
    ok(unsafe { sparring_binary_op_describe(less, name.as_mut_ptr(), 16, null_mut()) });
    assert_eq!((ty, text(name.as_ptr()).as_str()), (SPARRING_BOOL as u32, "a < f64(b)"));
    let abs = unary(c"abs", SPARRING_I64, 0);
    ok(unsafe { sparring_unary_op_type(abs, &mut ty) });
    ok(unsafe { sparring_unary_op_describe(abs, name.as_mut_ptr(), 16, null_mut()) });
    assert_eq!((ty, text(name.as_ptr()).as_str()), (SPARRING_I64 as u32, "abs"));
    let most = monoid(c"max", SPARRING_I8);
    ok(unsafe { sparring_monoid_type(most, &mut ty) });
    ok(unsafe { sparring_monoid_describe(most, name.as_mut_ptr(), 16, null_mut()) });
    assert_eq!((ty, text(name.as_ptr()).as_str()), (SPARRING_I8 as u32, "max"));
    let s = empty_scalar(SPARRING_I8);
    ok(unsafe { sparring_monoid_identity(most, s) });
    assert_eq!(value::<i8>(s), Some(i8::MIN));
    ok(sparring_binary_op_free(less));
    ok(sparring_unary_op_free(abs));
    ok(sparring_monoid_free(most));
    ok(sparring_scalar_free(s));
}

#[test]
fn what_is_no_operator_is_refused() {
    let mut op = 16 as *mut SparringBinaryOp;
    let mut new = |text: *const c_char, a: u32, b: u32| {
        let status = unsafe { sparring_binary_op_new(text, a, b, &mut op) };
        assert!(op.is_null());
        status
    };
    let (f64, i64, z) = (SPARRING_F64 as u32, SPARRING_I64 as u32, SPARRING_COMPLEX_F64 as u32);
    assert!(refused(new(c"pluss".as_ptr(), f64, f64), SPARRING_ARGUMENT).starts_with("text: "));
    assert!(refused(new(c"min".as_ptr(), z, z), SPARRING_TYPE).starts_with("text: "));
    assert!(refused(new(c"a + ".as_ptr(), f64, f64), SPARRING_FORMULA).starts_with("text: "));
    assert!(refused(new(c"plus".as_ptr(), f64, i64), SPARRING_FORMULA).starts_with("text: "));
    assert!(refused(new(c"plus".as_ptr(), f64, 0), SPARRING_ARGUMENT).starts_with("b_type: 0"));
    assert_eq!(refused(new(null(), f64, f64), SPARRING_NULL_POINTER), "text is NULL");
    let mut monoid = null_mut();
    let status = unsafe { sparring_monoid_new(c"a - b identity 0".as_ptr(), f64, &mut monoid) };
    let e = refused(status, SPARRING_ARGUMENT);
    assert!(monoid.is_null() && e.starts_with("text: "), "{e}");
    let status = unsafe { sparring_monoid_new(c"minus".as_ptr(), f64, &mut monoid) };
    assert!(refused(status, SPARRING_ARGUMENT).starts_with("text: "));
    let mut unary = null_mut();
    let status = unsafe { sparring_unary_op_new(c"abss".as_ptr(), f64, 0, &mut unary) };
    assert!(refused(status, SPARRING_ARGUMENT).starts_with("text: "));
    let status = unsafe { sparring_unary_op_new(c"a + b".as_ptr(), f64, 0, &mut unary) };
    assert!(refused(status, SPARRING_FORMULA).starts_with("text: "));
    let status = unsafe { sparring_unary_op_new(c"abs".as_ptr(), f64, 77, &mut unary) };
    assert!(refused(status, SPARRING_ARGUMENT).starts_with("s_type: 77"));
    assert!(unary.is_null());
    ok(sparring_binary_op_free(null_mut()));
    ok(sparring_unary_op_free(null_mut()));
    ok(sparring_monoid_free(null_mut()));
    let s = empty_scalar(SPARRING_I8);
    let plus = super::monoid(c"plus", SPARRING_F64);
    let e = refused(unsafe { sparring_monoid_identity(plus, s) }, SPARRING_TYPE);
    assert_eq!(e, "scalar: it is of SPARRING_I8, the monoid's type is SPARRING_F64");
    ok(sparring_scalar_free(s));
    ok(sparring_monoid_free(plus));
    refused(sparring_monoid_free(plus), SPARRING_INVALID_HANDLE);
}

#[test]
fn scalars_are_bound() {
    let cpu = cpu(1, 0);
    let x = vector(SPARRING_I32, 3, &[0, 2], &[7i32, 9]);
    let minus = binary(c"minus", SPARRING_I32, SPARRING_I32);
    let ten = scalar(SPARRING_I32, 10i32);
    let (mut first, mut second, mut above) = (null_mut(), null_mut(), null_mut());
    ok(unsafe { sparring_binary_op_bind_first(minus, ten, &mut first) });
    ok(unsafe { sparring_binary_op_bind_second(minus, ten, &mut second) });
    // The value at the time of the call is bound.
    ok(unsafe { sparring_scalar_set(ten, [8i32].as_ptr().cast()) });
    let apply = |f| {
        let y = vector::<i32>(SPARRING_I32, 3, &[], &[]);
        ok(unsafe { sparring_vector_apply(cpu, y, null(), null(), f, x, null()) });
        let found = entries::<i32>(y).1;
        ok(sparring_vector_free(y));
        found
    };
    assert_eq!((apply(first), apply(second)), (vec![3, 1], vec![-3, -1]));
    // A formula with a scalar of another type, and a named operator with a fixed scalar type.
    let scaled = unary(c"i32(f64(a) * s)", SPARRING_I32, SPARRING_F64 as u32);
    let half = scalar(SPARRING_F64, 0.5f64);
    ok(unsafe { sparring_unary_op_with(scaled, half, &mut above) });
    assert_eq!(apply(above), [3, 4]);
    ok(sparring_unary_op_free(above));
    let y = vector::<i32>(SPARRING_I32, 3, &[], &[]);
    let status = unsafe { sparring_vector_apply(cpu, y, null(), null(), scaled, x, null()) };
    let e = refused(status, SPARRING_ARGUMENT);
    assert!(e.starts_with("op: ") && e.ends_with("needs a scalar, set it by sparring_unary_op_with"), "{e}");
    let e = refused(unsafe { sparring_unary_op_with(scaled, ten, &mut above) }, SPARRING_TYPE);
    assert_eq!(e, "scalar: it is of SPARRING_I32, the operator's type is SPARRING_F64");
    let e = refused(unsafe { sparring_unary_op_with(first, ten, &mut above) }, SPARRING_ARGUMENT);
    assert_eq!(e, "op: minus already has its scalar");
    let e = refused(unsafe { sparring_binary_op_bind_first(minus, half, &mut above) }, SPARRING_TYPE);
    assert_eq!(e, "scalar: it is of SPARRING_F64, the operand's type is SPARRING_I32");
    ok(unsafe { sparring_scalar_set(ten, null()) });
    let e = refused(unsafe { sparring_binary_op_bind_second(minus, ten, &mut above) }, SPARRING_NO_VALUE);
    assert_eq!(e, "scalar: the scalar is empty");
    let tril = unary(c"tril", SPARRING_I32, SPARRING_I64 as u32);
    let e = refused(unsafe { sparring_unary_op_with(tril, half, &mut above) }, SPARRING_TYPE);
    assert_eq!(e, "scalar: it is of SPARRING_F64, the operator's type is SPARRING_I64");
    for f in [first, second, scaled, tril] {
        ok(sparring_unary_op_free(f));
    }
    for s in [ten, half] {
        ok(sparring_scalar_free(s));
    }
    for v in [x, y] {
        ok(sparring_vector_free(v));
    }
    ok(sparring_binary_op_free(minus));
    ok(sparring_device_free(cpu));
}

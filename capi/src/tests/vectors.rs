//! Vectors and scalars through the C API.

use super::*;

#[test]
fn a_vector_has_the_entries_given() {
    let v = vector(SPARRING_F64, 5, &[4, 1], &[2.5f64, 1.5]);
    let (mut ty, mut len, mut nvals) = (0, 0, 0);
    ok(unsafe { sparring_vector_type(v, &mut ty) });
    ok(unsafe { sparring_vector_len(v, &mut len) });
    ok(unsafe { sparring_vector_nvals(v, &mut nvals) });
    assert_eq!((ty, len, nvals), (SPARRING_F64 as u32, 5, 2));
    assert_eq!(entries::<f64>(v), (vec![1, 4], vec![1.5, 2.5]));
    // Duplicates are summed, in the given order.
    let sums = vector(SPARRING_I8, 3, &[2, 0, 2], &[100i8, 1, 27]);
    assert_eq!(entries::<i8>(sums), (vec![0, 2], vec![1, 127]));
    // Every nonzero byte is true, and true or true is true.
    let truths = vector(SPARRING_BOOL, 3, &[1, 0, 1], &[7u8, 0, 1]);
    assert_eq!(entries::<u8>(truths), (vec![0, 1], vec![0, 1]));
    let none = vector::<f32>(SPARRING_F32, 3, &[], &[]);
    assert_eq!(entries::<f32>(none), (vec![], vec![]));
    for v in [v, sums, truths, none] {
        ok(sparring_vector_free(v));
    }
    let mut dense = null_mut();
    ok(unsafe { sparring_vector_from_dense(SPARRING_U16 as u32, [7u16, 0].as_ptr().cast(), 2, &mut dense) });
    assert_eq!(entries::<u16>(dense), (vec![0, 1], vec![7, 0]));
    ok(sparring_vector_free(dense));
    let mut empty = null_mut();
    ok(unsafe { sparring_vector_new(SPARRING_COMPLEX_F64 as u32, 9, &mut empty) });
    assert_eq!(entries::<[f64; 2]>(empty), (vec![], vec![]));
    ok(sparring_vector_free(empty));
}

#[test]
fn what_makes_no_vector_is_refused() {
    let mut v = 16 as *mut SparringVector;
    let (indices, values) = ([0u64, 5], [1.0f64, 2.0]);
    let mut from = |ty, len, indices: *const u64, values: *const f64, nvals| {
        let status = unsafe { sparring_vector_from_entries(ty, len, indices, values.cast(), nvals, &mut v) };
        assert!(v.is_null());
        status
    };
    let f64 = SPARRING_F64 as u32;
    let e = refused(from(f64, 5, indices.as_ptr(), values.as_ptr(), 2), SPARRING_INDEX_RANGE);
    assert_eq!(e, "indices[1] is 5, not below the length, which is 5");
    assert!(refused(from(99, 5, indices.as_ptr(), values.as_ptr(), 2), SPARRING_ARGUMENT).starts_with("type: 99"));
    assert_eq!(refused(from(f64, 9, null(), values.as_ptr(), 2), SPARRING_NULL_POINTER), "indices is NULL");
    assert_eq!(refused(from(f64, 9, indices.as_ptr(), null(), 2), SPARRING_NULL_POINTER), "values is NULL");
    let e = refused(from(f64, (1 << 60) + 1, indices.as_ptr(), values.as_ptr(), 2), SPARRING_INDEX_OVERFLOW);
    assert!(e.starts_with("len: ") && e.contains("1152921504606846977"), "{e}");
    refused(from(f64, 9, indices.as_ptr(), values.as_ptr(), u64::MAX), SPARRING_INDEX_OVERFLOW);
    let sums = [127i8, 1];
    let status = unsafe {
        sparring_vector_from_entries(SPARRING_I8 as u32, 2, [1, 1].as_ptr(), sums.as_ptr().cast(), 2, &mut v)
    };
    let e = refused(status, SPARRING_UNSUPPORTED);
    assert!(e.starts_with("values: ") && e.contains("i8"), "{e}");
    let e = refused(unsafe { sparring_vector_new(f64, u64::MAX, &mut v) }, SPARRING_INDEX_OVERFLOW);
    assert!(e.starts_with("len: "), "{e}");
    assert_eq!(refused(unsafe { sparring_vector_new(f64, 1, null_mut()) }, SPARRING_NULL_POINTER), "vector is NULL");
    let status = unsafe { sparring_vector_from_dense(f64, null(), 1, &mut v) };
    assert_eq!(refused(status, SPARRING_NULL_POINTER), "values is NULL");
    refused(
        unsafe { sparring_vector_from_dense(f64, values.as_ptr().cast(), u64::MAX, &mut v) },
        SPARRING_INDEX_OVERFLOW,
    );
    // Handles of another kind, freed handles, and insufficient capacity.
    let a = small();
    let e = refused(unsafe { sparring_vector_len(a.cast(), &mut 0) }, SPARRING_INVALID_HANDLE);
    assert_eq!(e, "vector: a SparringVector is needed, the handle is of a SparringMatrix");
    ok(sparring_matrix_free(a));
    let x = vector(SPARRING_F64, 5, &[1, 4], &[1.0, 2.0]);
    let mut room = [0u64; 1];
    let status = unsafe { sparring_vector_entries(x, room.as_mut_ptr(), null_mut(), 1) };
    assert!(refused(status, SPARRING_LENGTH).contains("expected 2"));
    ok(sparring_vector_free(x));
    refused(sparring_vector_free(x), SPARRING_INVALID_HANDLE);
    refused(unsafe { sparring_vector_nvals(x, &mut 0) }, SPARRING_INVALID_HANDLE);
    ok(sparring_vector_free(null_mut()));
}

#[test]
fn single_values_and_none() {
    let x = vector(SPARRING_I32, 3, &[1], &[-7i32]);
    let s = empty_scalar(SPARRING_I32);
    ok(unsafe { sparring_vector_get(x, 1, s) });
    assert_eq!(value::<i32>(s), Some(-7));
    ok(unsafe { sparring_vector_get(x, 0, s) });
    assert_eq!(value::<i32>(s), None);
    let mut room = 5i32;
    let e = refused(unsafe { sparring_scalar_get(s, (&raw mut room).cast()) }, SPARRING_NO_VALUE);
    assert_eq!((e.as_str(), room), ("scalar: the scalar is empty", 5));
    let e = refused(unsafe { sparring_vector_get(x, 3, s) }, SPARRING_INDEX_RANGE);
    assert_eq!(e, "i is 3, not below the length, which is 3");
    let other = empty_scalar(SPARRING_I64);
    let e = refused(unsafe { sparring_vector_get(x, 1, other) }, SPARRING_TYPE);
    assert_eq!(e, "scalar: it is of SPARRING_I64, the vector's type is SPARRING_I32");
    ok(unsafe { sparring_scalar_set(s, (&raw const room).cast()) });
    assert_eq!(value::<i32>(s), Some(5));
    assert_eq!(refused(unsafe { sparring_scalar_get(s, null_mut()) }, SPARRING_NULL_POINTER), "value is NULL");
    ok(unsafe { sparring_scalar_set(s, null()) });
    assert_eq!(value::<i32>(s), None);
    let mut ty = 0;
    ok(unsafe { sparring_scalar_type(s, &mut ty) });
    assert_eq!(ty, SPARRING_I32 as u32);
    let mut none = null_mut();
    assert!(refused(unsafe { sparring_scalar_new(0, null(), &mut none) }, SPARRING_ARGUMENT).starts_with("type: 0"));
    // Of matrices.
    let (a, d) = (small(), empty_scalar(SPARRING_F64));
    ok(unsafe { sparring_matrix_get(a, 1, 2, d) });
    assert_eq!(value::<f64>(d), Some(3.0));
    ok(unsafe { sparring_matrix_get(a, 1, 1, d) });
    assert_eq!(value::<f64>(d), None);
    let e = refused(unsafe { sparring_matrix_get(a, 2, 0, d) }, SPARRING_INDEX_RANGE);
    assert_eq!(e, "i is 2, not below nrows, which is 2");
    let e = refused(unsafe { sparring_matrix_get(a, 0, 1 << 50, d) }, SPARRING_INDEX_RANGE);
    assert!(e.starts_with("j is 1125899906842624, not below ncols"), "{e}");
    assert!(refused(unsafe { sparring_matrix_get(a, 0, 0, s) }, SPARRING_TYPE).starts_with("scalar: "));
    for s in [s, other, d] {
        ok(sparring_scalar_free(s));
    }
    ok(sparring_vector_free(x));
    ok(sparring_matrix_free(a));
}

#[test]
fn copies_live_on_their_own() {
    let cpu = cpu(1, 0);
    let x = vector(SPARRING_F64, 3, &[0, 2], &[1.0, -2.5]);
    let (mut copy, mut there, mut ints) = (null_mut(), null_mut(), null_mut());
    ok(unsafe { sparring_vector_dup(x, &mut copy) });
    ok(unsafe { sparring_vector_to(cpu, x, &mut there) });
    ok(unsafe { sparring_vector_clear(cpu, x) });
    assert!(entries::<f64>(x).0.is_empty());
    let mut name = [0 as c_char; 8];
    ok(unsafe { sparring_vector_device(there, name.as_mut_ptr(), 8, null_mut()) });
    assert_eq!(text(name.as_ptr()), "cpu");
    for v in [copy, there] {
        assert_eq!(entries::<f64>(v), (vec![0, 2], vec![1.0, -2.5]));
    }
    let e = refused(unsafe { sparring_vector_cast(copy, SPARRING_I8 as u32, 0, &mut ints) }, SPARRING_UNSUPPORTED);
    assert!(e.starts_with("vector: ") && e.contains("entry 2, -2.5"), "{e}");
    ok(unsafe { sparring_vector_cast(copy, SPARRING_I8 as u32, 1, &mut ints) });
    assert_eq!(entries::<i8>(ints).1, [1, -2]);
    for v in [x, copy, there, ints] {
        ok(sparring_vector_free(v));
    }
    // Matrices likewise.
    let (a, mut b, mut c) = (small(), null_mut(), null_mut());
    ok(unsafe { sparring_matrix_dup(a, &mut b) });
    ok(unsafe { sparring_matrix_clear(cpu, a) });
    assert_eq!((copy_of(a).2, copy_of(b).2), (vec![], vec![2.0, 1.0, 3.0]));
    ok(unsafe { sparring_matrix_cast(b, SPARRING_U8 as u32, 0, &mut c) });
    assert_eq!(super::copy::<u8>(c).2, [2, 1, 3]);
    let mut huge = null_mut();
    ok(unsafe { sparring_matrix_new(SPARRING_F64 as u32, 1 << 50, 3, &mut huge) });
    let mut nnz = 1;
    ok(unsafe { sparring_matrix_nnz(huge, &mut nnz) });
    assert_eq!(nnz, 0);
    let mut none = null_mut();
    let e = refused(
        unsafe { sparring_matrix_new(SPARRING_F64 as u32, 3, (1 << 60) + 1, &mut none) },
        SPARRING_INDEX_OVERFLOW,
    );
    assert!(none.is_null() && e.starts_with("ncols: "), "{e}");
    for m in [a, b, c, huge] {
        ok(sparring_matrix_free(m));
    }
    ok(sparring_device_free(cpu));
}

fn copy_of(m: *const SparringMatrix) -> (Vec<u64>, Vec<u32>, Vec<f64>) {
    super::copy(m)
}

//! Matrices over caller-owned arrays.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::foreign::SparringForeign::*;
use crate::foreign::*;

/// Counts in the context.
unsafe extern "C" fn count(context: *mut c_void) {
    let counter = unsafe { &*context.cast::<AtomicU32>() };
    counter.fetch_add(1, Ordering::SeqCst);
}

/// The 2×3 matrix of these arrays.
fn lend<P, J, X>(
    types: [u32; 3],
    (p, j, x): (&[P], &[J], &[X]),
    flags: u32,
    counter: &AtomicU32,
) -> (SparringStatus, *mut SparringMatrix) {
    let mut m = 16 as *mut SparringMatrix;
    let context = std::ptr::from_ref(counter).cast_mut().cast();
    let [ty, of_p, of_j] = types;
    let (p, j, v) = (p.as_ptr().cast(), j.as_ptr().cast(), x.as_ptr().cast());
    let nnz = x.len() as u64;
    let status = unsafe {
        sparring_matrix_from_foreign(ty, 2, 3, nnz, of_p, p, of_j, j, v, flags, Some(count), context, &mut m)
    };
    assert_eq!(m.is_null(), status != SPARRING_OK);
    (status, m)
}

const F64: u32 = SPARRING_F64 as u32;
const I32: u32 = SPARRING_I32 as u32;
const I64: u32 = SPARRING_I64 as u32;
const U32: u32 = SPARRING_U32 as u32;
const U64: u32 = SPARRING_U64 as u32;

#[test]
fn arrays_of_scipy_are_read_where_they_are_and_released_once() {
    let x = [1.5f64, -2.0, 3.0];
    let check = |(status, m): (SparringStatus, *mut SparringMatrix), released: &AtomicU32| {
        ok(status);
        let mut lent = null();
        ok(unsafe { sparring_matrix_borrow(m, null_mut(), null_mut(), &mut lent) });
        assert_eq!(lent, x.as_ptr().cast());
        assert_eq!(copy::<f64>(m), (vec![0, 1, 3], vec![1, 0, 2], x.to_vec()));
        assert_eq!(released.load(Ordering::SeqCst), 0);
        ok(sparring_matrix_free(m));
        assert_eq!(released.load(Ordering::SeqCst), 1);
    };
    for flags in [0, SPARRING_UNCHECKED as u32, SPARRING_UNCHECKED as u32 | SPARRING_SORTED_ROWS as u32] {
        let n = AtomicU32::new(0);
        check(lend([F64, I32, I32], (&[0i32, 1, 3], &[1i32, 0, 2], &x), flags, &n), &n);
        let n = AtomicU32::new(0);
        check(lend([F64, I64, I32], (&[0i64, 1, 3], &[1i32, 0, 2], &x), flags, &n), &n);
        let n = AtomicU32::new(0);
        check(lend([F64, U64, U32], (&[0u64, 1, 3], &[1u32, 0, 2], &x), flags, &n), &n);
        let n = AtomicU32::new(0);
        check(lend([F64, I64, I64], (&[0i64, 1, 3], &[1i64, 0, 2], &x), flags, &n), &n);
        let n = AtomicU32::new(0);
        check(lend([F64, I64, U64], (&[0i64, 1, 3], &[1u64, 0, 2], &x), flags, &n), &n);
    }
}

#[test]
fn arrays_that_are_null_are_named() {
    let (p, j, x) = ([0i64, 1], [0i32], [2.0f64]);
    let arrays = [p.as_ptr().cast::<c_void>(), j.as_ptr().cast(), x.as_ptr().cast()];
    for (at, name) in ["row_ptr", "col_idx", "values"].into_iter().enumerate() {
        let mut m = 16 as *mut SparringMatrix;
        let [p, j, x] = std::array::from_fn(|k| if k == at { null() } else { arrays[k] });
        let status =
            unsafe { sparring_matrix_from_foreign(F64, 1, 1, 1, I64, p, I32, j, x, 0, None, null_mut(), &mut m) };
        assert_eq!((refused(status, SPARRING_NULL_POINTER), m), (format!("{name} is NULL"), null_mut()));
    }
    let [p, j, x] = arrays;
    let out = null_mut();
    let status = unsafe { sparring_matrix_from_foreign(F64, 1, 1, 1, I64, p, I32, j, x, 0, None, null_mut(), out) };
    assert_eq!(refused(status, SPARRING_NULL_POINTER), "matrix is NULL");
}

#[test]
fn a_result_that_shares_them_keeps_them() {
    let (p, j, x, n) = ([0i64, 1, 2], [0i32, 1], [2.0f64, 3.0], AtomicU32::new(0));
    let (status, m) = lend([F64, I64, I32], (&p, &j, &x), 0, &n);
    ok(status);
    let mut there = null_mut();
    let device = cpu(1, 0);
    ok(unsafe { sparring_matrix_to(device, m, &mut there) });
    ok(sparring_matrix_free(m));
    assert_eq!(n.load(Ordering::SeqCst), 0);
    assert_eq!(copy::<f64>(there), (vec![0, 1, 2], vec![0, 1], vec![2.0, 3.0]));
    ok(sparring_matrix_free(there));
    ok(sparring_device_free(device));
    assert_eq!(n.load(Ordering::SeqCst), 1);
}

#[test]
fn what_is_wrong_is_refused_and_stays_the_callers() {
    let x = [1.0f64, 2.0, 3.0];
    let n = AtomicU32::new(0);
    let says = |(status, _): (SparringStatus, *mut SparringMatrix), want: SparringStatus, text: &str| {
        let message = refused(status, want);
        assert!(message.contains(text), "{message}");
    };
    says(
        lend([F64, I64, I32], (&[0i64, 1, 3], &[1i32, -4, 2], &x), 0, &n),
        SPARRING_ARGUMENT,
        "col_idx: number 1 is -4",
    );
    says(lend([F64, I64, I32], (&[0i64, 1, 3], &[1i32, 0, 3], &x), 0, &n), SPARRING_INDEX_RANGE, "col_idx[2] is 3");
    says(lend([F64, I64, I32], (&[0i64, 2, 1], &[1i32, 0, 2], &x), 0, &n), SPARRING_ROW_POINTER, "row_ptr[2] is 1");
    says(
        lend([F64, I32, I32], (&[0i32, -1, 3], &[1i32, 0, 2], &x), 0, &n),
        SPARRING_ARGUMENT,
        "row_ptr: number 1 is -1",
    );
    says(lend([F64, I64, I32], (&[0i64, 1, 3], &[1i32, 2, 2], &x), 0, &n), SPARRING_DUPLICATE, "col_idx");
    says(lend([F64, F64, I32], (&[0i64, 1, 3], &[1i32, 0, 2], &x), 0, &n), SPARRING_TYPE, "row_ptr: SPARRING_F64");
    says(lend([F64, I64, F64], (&[0i64, 1, 3], &[1.0, 0.0, 2.0], &x), 0, &n), SPARRING_TYPE, "col_idx: SPARRING_F64");
    // Also with the flag SPARRING_UNCHECKED.
    for flags in [0, SPARRING_UNCHECKED as u32] {
        for (wide, text) in [(1 << 32, "col_idx: number 1 is 4294967296"), (-1, "col_idx: number 1 is -1")] {
            let columns = [1i64, wide, 2];
            says(lend([F64, I64, I64], (&[0i64, 1, 3], &columns, &x), flags, &n), SPARRING_ARGUMENT, text);
        }
    }
    says(lend([F64, I64, I32], (&[0i64, 1, 3], &[1i32, 0, 2], &x), 4, &n), SPARRING_ARGUMENT, "flags: 4");
    says(lend([F64, I64, I32], (&[0i64, 1, 3], &[1i32, 0, 2], &x), 2, &n), SPARRING_ARGUMENT, "SPARRING_UNCHECKED");
    let of_bool = SPARRING_BOOL as u32;
    says(
        lend([of_bool, I64, I32], (&[0i64, 1, 3], &[1i32, 0, 2], &[1u8, 0, 7]), 0, &n),
        SPARRING_ARGUMENT,
        "byte 2 is 7",
    );
    assert_eq!(n.load(Ordering::SeqCst), 0, "released what it had not taken");
    let (status, m) = lend([of_bool, I64, I32], (&[0i64, 1, 3], &[1i32, 0, 2], &[1u8, 0, 1]), 0, &n);
    ok(status);
    ok(sparring_matrix_free(m));
    assert_eq!(n.load(Ordering::SeqCst), 1);
}

//! Arrays filled by C, and matrices made from them.

use sparring::num_complex::Complex;

use super::*;
use crate::arrays::*;
use crate::handle::sparring_handles_alive;

/// Library-owned arrays, and their addresses.
struct Room<T> {
    arrays: *mut SparringArrays,
    row_ptr: *mut u64,
    col_idx: *mut u32,
    values: *mut T,
}

fn room<T>(ty: SparringType, nrows: u64, ncols: u64, nnz: u64) -> (SparringStatus, Room<T>) {
    let odd = 16 as *mut c_void;
    let (mut arrays, mut p, mut j, mut x) = (odd.cast(), odd.cast(), odd.cast(), odd);
    let status = unsafe { sparring_arrays_new(ty as u32, nrows, ncols, nnz, &mut p, &mut j, &mut x, &mut arrays) };
    let failed = status != SPARRING_OK;
    assert_eq!([arrays.is_null(), p.is_null(), j.is_null(), x.is_null()], [failed; 4]);
    (status, Room { arrays, row_ptr: p, col_idx: j, values: x.cast() })
}

/// Fills arrays of two rows and three entries.
fn filled<T: Clone>(ty: SparringType, p: [u64; 3], j: [u32; 3], x: &[T; 3]) -> Room<T> {
    let (status, room) = room::<T>(ty, 2, 3, 3);
    ok(status);
    unsafe {
        assert_eq!(std::slice::from_raw_parts(room.row_ptr, 3), [0; 3]);
        assert_eq!(std::slice::from_raw_parts(room.col_idx, 3), [0; 3]);
        let bytes = std::slice::from_raw_parts(room.values.cast::<u8>(), 3 * size_of::<T>());
        assert!(bytes.iter().all(|&byte| byte == 0));
        std::slice::from_raw_parts_mut(room.row_ptr, 3).copy_from_slice(&p);
        std::slice::from_raw_parts_mut(room.col_idx, 3).copy_from_slice(&j);
        std::slice::from_raw_parts_mut(room.values, 3).clone_from_slice(x);
    }
    room
}

fn matrix(arrays: *mut SparringArrays) -> (SparringStatus, *mut SparringMatrix) {
    let mut m = 16 as *mut SparringMatrix;
    let status = unsafe { sparring_matrix_from_arrays(arrays, &mut m) };
    assert_eq!(m.is_null(), status != SPARRING_OK);
    (status, m)
}

#[test]
fn arrays_of_every_type_become_a_matrix_where_they_are() {
    fn stays<T: Default + Clone + PartialEq + std::fmt::Debug>(ty: SparringType, x: &[T; 3], becomes: [T; 3]) {
        let room = filled(ty, [0, 1, 3], [1, 0, 2], x);
        let (status, m) = matrix(room.arrays);
        ok(status);
        let (mut p, mut j, mut lent) = (null(), null(), null());
        ok(unsafe { sparring_matrix_borrow(m, &mut p, &mut j, &mut lent) });
        // No copy, also for bool, whose bytes are validated.
        assert_eq!(
            (p, j, lent),
            (room.row_ptr.cast_const(), room.col_idx.cast_const(), room.values.cast_const().cast())
        );
        assert_eq!(copy::<T>(m), (vec![0, 1, 3], vec![1, 0, 2], becomes.to_vec()));
        // The handle of the arrays was consumed.
        refused(matrix(room.arrays).0, SPARRING_INVALID_HANDLE);
        refused(sparring_arrays_free(room.arrays), SPARRING_INVALID_HANDLE);
        ok(sparring_matrix_free(m));
    }
    stays::<u8>(SPARRING_BOOL, &[1, 0, 200], [1, 0, 1]);
    stays::<u8>(SPARRING_U8, &[1, 0, 200], [1, 0, 200]);
    macro_rules! numbers {
        ($($code:ident $t:ty),*) => {$( stays::<$t>($code, &[1 as $t, 0 as $t, 3 as $t], [1 as $t, 0 as $t, 3 as $t]); )*};
    }
    numbers!(SPARRING_I8 i8, SPARRING_I16 i16, SPARRING_U16 u16, SPARRING_I32 i32, SPARRING_U32 u32, SPARRING_I64 i64);
    numbers!(SPARRING_U64 u64, SPARRING_F32 f32, SPARRING_F64 f64);
    let z = [Complex::new(1.5f64, -2.0), Complex::default(), Complex::new(0.0, 1.0)];
    stays(SPARRING_COMPLEX_F64, &z, z);
    let z = [Complex::new(1.5f32, -2.0), Complex::default(), Complex::new(0.0, 1.0)];
    stays(SPARRING_COMPLEX_F32, &z, z);
}

#[test]
fn what_is_wrong_in_arrays_is_refused_and_frees_them() {
    let x = [1.0f64; 3];
    for (p, j, status, words) in [
        ([0, 2, 1], [0, 1, 2], SPARRING_ROW_POINTER, "row_ptr[2] is 1, expected at least 2"),
        ([0, u64::MAX, 3], [0, 1, 2], SPARRING_ROW_POINTER, "row_ptr[2] is 3, expected at least 18446744073709551615"),
        ([0, 1, 2], [0, 1, 2], SPARRING_ROW_POINTER, "row_ptr[2] is 2, expected 3, the number of entries"),
        ([0, 1, 3], [0, 1, 3], SPARRING_INDEX_RANGE, "col_idx[2] is 3, not below ncols, which is 3"),
        ([0, 1, 3], [0, 1, 1], SPARRING_DUPLICATE, "col_idx: entry (1, 1) is given twice"),
    ] {
        let room = filled(SPARRING_F64, p, j, &x);
        assert_eq!(refused(matrix(room.arrays).0, status), words);
        assert!(refused(sparring_arrays_free(room.arrays), SPARRING_INVALID_HANDLE).starts_with("arrays: "));
    }
    // Without an output for the handle, nothing happens.
    let room = filled(SPARRING_F64, [0, 1, 3], [0, 1, 2], &x);
    let e = unsafe { sparring_matrix_from_arrays(room.arrays, null_mut()) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "matrix is NULL");
    assert_eq!(refused(matrix(null_mut()).0, SPARRING_NULL_POINTER), "arrays is NULL");
    let alive = sparring_handles_alive();
    assert!(alive >= 1);
    ok(sparring_arrays_free(room.arrays));
    ok(sparring_arrays_free(null_mut()));
}

#[test]
fn arrays_that_cannot_be_are_refused() {
    for (nrows, nnz) in [(u64::MAX, 1), (1 << 61, 1), (1, u64::MAX), (1, 1 << 61)] {
        refused(room::<f64>(SPARRING_F64, nrows, 1, nnz).0, SPARRING_INDEX_OVERFLOW);
    }
    refused(room::<f64>(SPARRING_F64, 1, 1, 1 << 45).0, SPARRING_OUT_OF_MEMORY);
    let (mut p, mut j, mut x, mut arrays) = (null_mut(), null_mut(), null_mut(), null_mut());
    let e = unsafe { sparring_arrays_new(14, 1, 1, 1, &mut p, &mut j, &mut x, &mut arrays) };
    assert!(refused(e, SPARRING_ARGUMENT).starts_with("type: 14 is none of"));
    let ty = SPARRING_F64 as u32;
    for (name, e) in [
        ("row_ptr", unsafe { sparring_arrays_new(ty, 1, 1, 1, null_mut(), &mut j, &mut x, &mut arrays) }),
        ("col_idx", unsafe { sparring_arrays_new(ty, 1, 1, 1, &mut p, null_mut(), &mut x, &mut arrays) }),
        ("values", unsafe { sparring_arrays_new(ty, 1, 1, 1, &mut p, &mut j, null_mut(), &mut arrays) }),
        ("arrays", unsafe { sparring_arrays_new(ty, 1, 1, 1, &mut p, &mut j, &mut x, null_mut()) }),
    ] {
        assert_eq!(e, SPARRING_NULL_POINTER, "{name}");
    }
    // Empty arrays need no values.
    let (status, empty) = room::<f64>(SPARRING_F64, 0, 0, 0);
    ok(status);
    let (status, m) = matrix(empty.arrays);
    ok(status);
    assert_eq!(copy::<f64>(m), (vec![0], vec![], vec![]));
    ok(sparring_matrix_free(m));
}

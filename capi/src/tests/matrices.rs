//! Matrices from arrays, and back.

use super::*;

fn from_csr(
    ty: u32,
    shape: (u64, u64),
    p: *const u64,
    j: *const u32,
    x: *const c_void,
    nnz: u64,
) -> (SparringStatus, *mut SparringMatrix) {
    let mut m = 16 as *mut SparringMatrix;
    let status = unsafe { sparring_matrix_from_csr(ty, shape.0, shape.1, p, j, x, nnz, &mut m) };
    assert_eq!(m.is_null(), status != SPARRING_OK);
    (status, m)
}

fn from_coo<T>(
    ty: SparringType,
    shape: (u64, u64),
    i: &[u32],
    j: &[u32],
    x: &[T],
) -> (SparringStatus, *mut SparringMatrix) {
    assert!(i.len() == j.len() && i.len() == x.len());
    let mut m = 16 as *mut SparringMatrix;
    let (len, x) = (i.len() as u64, x.as_ptr().cast());
    let status =
        unsafe { sparring_matrix_from_coo(ty as u32, shape.0, shape.1, i.as_ptr(), j.as_ptr(), x, len, &mut m) };
    assert_eq!(m.is_null(), status != SPARRING_OK);
    (status, m)
}

#[test]
fn every_type_goes_in_and_out() {
    fn there_and_back<T: Default + Clone + PartialEq + std::fmt::Debug>(ty: SparringType, x: &[T; 3]) {
        let m = csr(ty, 2, 3, &[0, 1, 3], &[1, 0, 2], x);
        assert_eq!(copy::<T>(m), (vec![0, 1, 3], vec![1, 0, 2], x.to_vec()));
        let mut found = 0;
        ok(unsafe { sparring_matrix_type(m, &mut found) });
        assert_eq!(found, ty as u32);
        ok(sparring_matrix_free(m));
    }
    there_and_back(SPARRING_F64, &[1.5, -0.0, f64::INFINITY]);
    there_and_back(SPARRING_F32, &[1.5f32, 0.0, f32::MIN]);
    there_and_back(SPARRING_I64, &[i64::MIN, 0, i64::MAX]);
    // Every nonzero byte is true.
    let m = csr(SPARRING_BOOL, 2, 3, &[0, 1, 3], &[1, 0, 2], &[0u8, 1, 255]);
    assert_eq!(copy::<u8>(m).2, [0, 1, 1]);
    ok(sparring_matrix_free(m));
}

#[test]
fn empty_matrices_need_no_arrays() {
    let p = [0u64; 3];
    let (status, m) = from_csr(SPARRING_F64 as u32, (2, 0), p.as_ptr(), null(), null(), 0);
    ok(status);
    assert_eq!(copy::<f64>(m), (vec![0, 0, 0], vec![], vec![]));
    ok(sparring_matrix_free(m));
    let (status, m) = from_coo::<f64>(SPARRING_F64, (0, 5), &[], &[], &[]);
    ok(status);
    assert_eq!(copy::<f64>(m), (vec![0], vec![], vec![]));
    ok(sparring_matrix_free(m));
}

#[test]
fn columns_may_come_in_any_order_but_not_twice() {
    let m = csr(SPARRING_F64, 1, 3, &[0, 3], &[2, 0, 1], &[3.0, 1.0, 2.0]);
    assert_eq!(copy::<f64>(m), (vec![0, 3], vec![2, 0, 1], vec![3.0, 1.0, 2.0]));
    ok(sparring_matrix_free(m));
    let (p, j, x) = ([0u64, 2], [1u32, 1], [1.0f64, 2.0]);
    let (status, _) = from_csr(SPARRING_F64 as u32, (1, 3), p.as_ptr(), j.as_ptr(), x.as_ptr().cast(), 2);
    assert_eq!(refused(status, SPARRING_DUPLICATE), "col_idx: entry (0, 1) is given twice");
}

#[test]
fn wrong_rows_are_refused() {
    let x = [1.0f64; 2];
    let try_csr = |p: [u64; 3], j: [u32; 2], status| {
        let (found, _) = from_csr(SPARRING_F64 as u32, (2, 3), p.as_ptr(), j.as_ptr(), x.as_ptr().cast(), 2);
        refused(found, status)
    };
    assert_eq!(try_csr([1, 1, 2], [0, 1], SPARRING_ROW_POINTER), "row_ptr[0] is 1, expected 0");
    assert_eq!(try_csr([0, 3, 2], [0, 1], SPARRING_ROW_POINTER), "row_ptr[2] is 2, expected at least 3");
    try_csr([0, 1, 3], [0, 1], SPARRING_ROW_POINTER);
    try_csr([0, u64::MAX, 2], [0, 1], SPARRING_ROW_POINTER);
    assert_eq!(try_csr([0, 1, 2], [0, 3], SPARRING_INDEX_RANGE), "col_idx[1] is 3, not below ncols, which is 3");
}

#[test]
fn wrong_arguments_are_refused() {
    let (p, j, x) = ([0u64, 1], [0u32], [1.0f64, 2.0]);
    let f64 = SPARRING_F64 as u32;
    let (p, j, x) = (p.as_ptr(), j.as_ptr(), x.as_ptr().cast::<c_void>());
    let (status, _) = from_csr(14, (1, 1), p, j, x, 1);
    let e = refused(status, SPARRING_ARGUMENT);
    assert_eq!(e, "type: 14 is none of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13");
    for (name, (p, j, x)) in [("row_ptr", (null(), j, x)), ("col_idx", (p, null(), x)), ("values", (p, j, null()))] {
        let (status, _) = from_csr(f64, (1, 1), p, j, x, 1);
        assert_eq!(refused(status, SPARRING_NULL_POINTER), format!("{name} is NULL"));
    }
    let odd = x.cast::<u8>().wrapping_add(1).cast();
    let (status, _) = from_csr(f64, (1, 1), p, j, odd, 1);
    assert!(refused(status, SPARRING_ARGUMENT).ends_with("is not a multiple of 8"));
    // Bytes need no alignment.
    let (status, m) = from_csr(SPARRING_BOOL as u32, (1, 1), p, j, odd, 1);
    ok(status);
    ok(sparring_matrix_free(m));
    // Impossible lengths.
    for nrows in [u64::MAX, u64::MAX - 1, 1 << 62] {
        let (status, _) = from_csr(f64, (nrows, 1), p, j, x, 1);
        refused(status, SPARRING_INDEX_OVERFLOW);
    }
    let (status, _) = from_csr(f64, (1, 1), p, j, x, 1 << 62);
    refused(status, SPARRING_INDEX_OVERFLOW);
    let (status, _) = from_csr(f64, (1, u64::MAX), p, j, x, 1);
    assert!(refused(status, SPARRING_INDEX_OVERFLOW).starts_with("ncols: "));
    let null_out = unsafe { sparring_matrix_from_csr(f64, 1, 1, p, j, x, 1, null_mut()) };
    assert_eq!(refused(null_out, SPARRING_NULL_POINTER), "matrix is NULL");
}

#[test]
fn coordinates_are_sorted_and_summed() {
    let (status, m) = from_coo(SPARRING_F64, (3, 3), &[2, 0, 2, 0], &[1, 2, 1, 0], &[1.0, 2.0, 0.5, 4.0]);
    ok(status);
    assert_eq!(copy::<f64>(m), (vec![0, 2, 2, 3], vec![0, 2, 1], vec![4.0, 2.0, 1.5]));
    ok(sparring_matrix_free(m));
    let (status, m) = from_coo(SPARRING_I64, (1, 1), &[0, 0], &[0, 0], &[i64::MAX, 1]);
    assert!(m.is_null());
    let line = refused(status, SPARRING_UNSUPPORTED);
    assert!(line.contains("sum of the repeated entries (1, 1) as i64"), "{line}");
    let (status, m) = from_coo(SPARRING_BOOL, (1, 2), &[0, 0, 0], &[0, 0, 1], &[0u8, 2, 0]);
    ok(status);
    assert_eq!(copy::<u8>(m).2, [1, 0]);
    ok(sparring_matrix_free(m));
}

#[test]
fn wrong_coordinates_are_refused() {
    let (status, _) = from_coo(SPARRING_F64, (2, 2), &[0, 2], &[0, 0], &[1.0, 2.0]);
    assert_eq!(refused(status, SPARRING_INDEX_RANGE), "rows[1] is 2, not below nrows, which is 2");
    let (status, _) = from_coo(SPARRING_F64, (2, 2), &[0, 1], &[0, 5], &[1.0, 2.0]);
    assert_eq!(refused(status, SPARRING_INDEX_RANGE), "cols[1] is 5, not below ncols, which is 2");
    let (i, x) = ([0u32], [1.0f64]);
    for (name, (rows, cols, values)) in [
        ("rows", (null(), i.as_ptr(), x.as_ptr())),
        ("cols", (i.as_ptr(), null(), x.as_ptr())),
        ("values", (i.as_ptr(), i.as_ptr(), null())),
    ] {
        let mut m = null_mut();
        let status =
            unsafe { sparring_matrix_from_coo(SPARRING_F64 as u32, 1, 1, rows, cols, values.cast(), 1, &mut m) };
        assert_eq!(refused(status, SPARRING_NULL_POINTER), format!("{name} is NULL"));
    }
    let i = i.as_ptr();
    let status = unsafe { sparring_matrix_from_coo(SPARRING_F64 as u32, 1, 1, i, i, x.as_ptr().cast(), 1, null_mut()) };
    refused(status, SPARRING_NULL_POINTER);
}

#[test]
fn copying_needs_room_and_skips_what_is_not_wanted() {
    let m = small();
    let (mut p, mut j, mut x) = ([9u64; 3], [9u32; 3], [9.0f64; 3]);
    let e = refused(unsafe { sparring_matrix_copy(m, p.as_mut_ptr(), 2, null_mut(), null_mut(), 0) }, SPARRING_LENGTH);
    assert_eq!(e, "row_ptr: length is 2, expected 3");
    let e = refused(unsafe { sparring_matrix_copy(m, null_mut(), 0, j.as_mut_ptr(), null_mut(), 2) }, SPARRING_LENGTH);
    assert_eq!(e, "col_idx: length is 2, expected 3");
    let values = x.as_mut_ptr().cast();
    let e = refused(unsafe { sparring_matrix_copy(m, null_mut(), 0, null_mut(), values, 2) }, SPARRING_LENGTH);
    assert_eq!(e, "values: length is 2, expected 3");
    assert_eq!((p, j, x), ([9; 3], [9; 3], [9.0; 3]), "nothing is written into too little room");
    ok(unsafe { sparring_matrix_copy(m, null_mut(), 0, null_mut(), null_mut(), 0) });
    ok(unsafe { sparring_matrix_copy(m, null_mut(), 0, null_mut(), values, u64::MAX) });
    assert_eq!((p, j, x), ([9; 3], [9; 3], [2.0, 1.0, 3.0]));
    refused(unsafe { sparring_matrix_copy(null(), null_mut(), 0, null_mut(), null_mut(), 0) }, SPARRING_NULL_POINTER);
    ok(sparring_matrix_free(m));
}

#[test]
fn borrowed_arrays_are_the_matrix() {
    let m = small();
    let (mut p, mut j, mut x) = (null(), null(), null());
    ok(unsafe { sparring_matrix_borrow(m, &mut p, &mut j, &mut x) });
    let (p, j) = unsafe { (std::slice::from_raw_parts(p, 3), std::slice::from_raw_parts(j, 3)) };
    assert_eq!((p, j), ([0u64, 1, 3].as_slice(), [1u32, 0, 2].as_slice()));
    assert_eq!(unsafe { std::slice::from_raw_parts(x.cast::<f64>(), 3) }, [2.0, 1.0, 3.0]);
    ok(unsafe { sparring_matrix_borrow(m, null_mut(), null_mut(), null_mut()) });
    refused(unsafe { sparring_matrix_borrow(null(), null_mut(), null_mut(), null_mut()) }, SPARRING_NULL_POINTER);
    ok(sparring_matrix_free(m));
}

#[test]
fn questions_need_room_for_answers() {
    let m = small();
    let mut n = 0u64;
    let e = refused(unsafe { sparring_matrix_shape(m, null_mut(), &mut n) }, SPARRING_NULL_POINTER);
    assert_eq!(e, "nrows is NULL");
    let e = refused(unsafe { sparring_matrix_shape(m, &mut n, null_mut()) }, SPARRING_NULL_POINTER);
    assert_eq!(e, "ncols is NULL");
    assert_eq!(refused(unsafe { sparring_matrix_nnz(m, null_mut()) }, SPARRING_NULL_POINTER), "nnz is NULL");
    assert_eq!(refused(unsafe { sparring_matrix_type(m, null_mut()) }, SPARRING_NULL_POINTER), "type is NULL");
    ok(sparring_matrix_free(m));
}

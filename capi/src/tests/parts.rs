//! Extract, assign, scatter, blocks, diagonals, aggregates, resizing and duplicates, through the C API.

use super::*;
use crate::assign::*;
use crate::operation::SparringDescriptor;
use crate::parts::*;
use crate::semirings::{sparring_semiring_free, sparring_semiring_new};

fn list(list: &[u64]) -> SparringIndices {
    SparringIndices { list: list.as_ptr(), len: list.len() as u64, start: 0, step: 0 }
}

/// An empty matrix of int32_t.
fn new(nrows: u64, ncols: u64) -> *mut SparringMatrix {
    let mut m = null_mut();
    ok(unsafe { sparring_matrix_new(SPARRING_I32 as u32, nrows, ncols, &mut m) });
    m
}

fn ints(len: u64, indices: &[u64], values: &[i32]) -> *mut SparringVector {
    vector(SPARRING_I32, len, indices, values)
}

/// [1 . 2; . 3 .; 4 . 5].
fn square() -> *mut SparringMatrix {
    csr(SPARRING_I32, 3, 3, &[0, 2, 3, 5], &[0, 2, 1, 0, 2], &[1i32, 2, 3, 4, 5])
}

#[test]
fn parts_are_extracted() {
    let (cpu, a, n, o) = (cpu(1, 0), square(), null(), null());
    let (two, back) = (new(2, 2), SparringIndices { list: null(), len: 2, start: 2, step: -2 });
    ok(unsafe { sparring_matrix_extract(cpu, two, n, o, a, &list(&[2, 2]), &back, null()) });
    assert_eq!(copy::<i32>(two), (vec![0, 2, 4], vec![0, 1, 0, 1], vec![5, 4, 5, 4]));
    let x = ints(3, &[], &[]);
    ok(unsafe { sparring_vector_extract_column(cpu, x, null(), o, a, null(), 2, null()) });
    assert_eq!(entries::<i32>(x), (vec![0, 2], vec![2, 5]));
    ok(unsafe { sparring_vector_extract_row(cpu, x, null(), o, a, 2, &list(&[2, 0, 1]), null()) });
    assert_eq!(entries::<i32>(x), (vec![0, 1], vec![5, 4]));
    let y = ints(2, &[], &[]);
    ok(unsafe { sparring_vector_extract(cpu, y, null(), o, x, &list(&[1, 2]), null()) });
    assert_eq!(entries::<i32>(y), (vec![0], vec![4]));

    let beyond = list(&[1, 3]);
    let e =
        refused(unsafe { sparring_matrix_extract(cpu, two, n, o, a, &beyond, &beyond, null()) }, SPARRING_INDEX_RANGE);
    assert_eq!(e, "rows: index 3 at position 1 of the list, of a dimension of 3");
    let d = SparringDescriptor { transpose_a: 1, ..Default::default() };
    let cols = unsafe { sparring_matrix_extract(cpu, two, n, o, a, &list(&[0, 1]), &beyond, &d) };
    assert!(refused(cols, SPARRING_INDEX_RANGE).starts_with("cols: index 3 at position 1"));
    let e = refused(unsafe { sparring_matrix_extract(cpu, two, n, o, a, null(), &back, null()) }, SPARRING_SHAPE);
    assert_eq!(e, "c: it is 2×2, the result is 3×2");
    let status = unsafe { sparring_vector_extract_column(cpu, x, null(), o, a, null(), 3, null()) };
    assert_eq!(refused(status, SPARRING_INDEX_RANGE), "j is 3, not below the number of columns, which is 3");
    let status = unsafe { sparring_vector_extract_row(cpu, y, null(), o, a, 0, &beyond, null()) };
    assert!(refused(status, SPARRING_INDEX_RANGE).starts_with("cols: index 3"));
    let status = unsafe { sparring_vector_extract(cpu, y, null(), o, x, &list(&[1, u64::MAX]), null()) };
    assert!(refused(status, SPARRING_INDEX_RANGE).starts_with("indices: index "));
    let huge = SparringIndices { len: u64::MAX, ..list(&[0]) };
    refused(unsafe { sparring_vector_extract(cpu, y, null(), o, x, &huge, null()) }, SPARRING_INDEX_OVERFLOW);
    let none = SparringIndices { list: null(), len: u64::MAX, start: 0, step: 1 };
    refused(unsafe { sparring_vector_extract(cpu, y, null(), o, x, &none, null()) }, SPARRING_SHAPE);
    for m in [a, two] {
        ok(sparring_matrix_free(m));
    }
    for v in [x, y] {
        ok(sparring_vector_free(v));
    }
    ok(sparring_device_free(cpu));
}

#[test]
fn parts_are_assigned() {
    let (cpu, c, n, o) = (cpu(1, 0), square(), null(), null());
    let small = csr(SPARRING_I32, 1, 2, &[0, 1], &[1], &[9i32]);
    // c(0, (0, 1)) = (., 9).
    ok(unsafe { sparring_matrix_assign(cpu, c, n, o, small, &list(&[0]), &list(&[0, 1]), null()) });
    assert_eq!(copy::<i32>(c), (vec![0, 2, 3, 5], vec![1, 2, 1, 0, 2], vec![9, 2, 3, 4, 5]));
    let (x, s) = (ints(3, &[0, 1], &[7, 8]), scalar(SPARRING_I32, 6i32));
    ok(unsafe { sparring_matrix_assign_column(cpu, c, null(), o, x, null(), 2, null()) });
    ok(unsafe { sparring_matrix_assign_row(cpu, c, null(), o, x, 2, &list(&[2, 1, 0]), null()) });
    assert_eq!(copy::<i32>(c), (vec![0, 2, 4, 6], vec![1, 2, 1, 2, 1, 2], vec![9, 7, 3, 8, 8, 7]));
    ok(unsafe { sparring_matrix_assign_scalar(cpu, c, n, o, s, &list(&[1]), null(), null()) });
    assert_eq!(copy::<i32>(c).2, [9, 7, 6, 6, 6, 8, 7]);
    let plus = binary(c"plus", SPARRING_I32, SPARRING_I32);
    let y = ints(1, &[0], &[100]);
    ok(unsafe { sparring_vector_assign(cpu, x, null(), plus, y, &list(&[1]), null()) });
    ok(unsafe { sparring_vector_assign_scalar(cpu, x, null(), o, s, &list(&[2]), null()) });
    assert_eq!(entries::<i32>(x), (vec![0, 1, 2], vec![7, 108, 6]));
    // Duplicate indices are rejected, except by a scatter with an operator.
    let twice = list(&[1, 1, 0]);
    let e = refused(unsafe { sparring_vector_assign(cpu, x, null(), o, x, &twice, null()) }, SPARRING_DUPLICATE);
    assert!(e.starts_with("indices: index 1 is in the list twice"), "{e}");
    ok(unsafe { sparring_vector_scatter(cpu, x, null(), o, plus, x, &twice, null()) });
    assert_eq!(entries::<i32>(x), (vec![0, 1], vec![6, 115]));

    let status = unsafe { sparring_matrix_assign(cpu, c, n, o, small, &list(&[0, 1]), &list(&[0, 1]), null()) };
    assert_eq!(refused(status, SPARRING_SHAPE), "a: it is 1×2, the part of c is 2×2");
    let status = unsafe { sparring_matrix_assign_row(cpu, c, null(), o, x, 3, null(), null()) };
    assert_eq!(refused(status, SPARRING_INDEX_RANGE), "i is 3, not below the number of rows, which is 3");
    let status = unsafe { sparring_matrix_assign_column(cpu, c, y, o, x, null(), 1, null()) };
    assert_eq!(refused(status, SPARRING_SHAPE), "mask: it is 1×1, a column of c is 3×1");
    let status = unsafe { sparring_matrix_assign_column(cpu, c, null(), o, y, &list(&[5]), 1, null()) };
    assert!(refused(status, SPARRING_INDEX_RANGE).starts_with("rows: index 5 at position 0"));
    let status = unsafe { sparring_vector_scatter(cpu, x, null(), o, plus, y, &twice, null()) };
    assert_eq!(refused(status, SPARRING_SHAPE), "a: it is 1×1, the part of c is 3×1");
    ok(unsafe { sparring_scalar_set(s, null()) });
    let status = unsafe { sparring_matrix_assign_scalar(cpu, c, n, o, s, null(), null(), null()) };
    assert_eq!(refused(status, SPARRING_NO_VALUE), "scalar: the scalar is empty");
    let real = scalar(SPARRING_F64, 1.0f64);
    let status = unsafe { sparring_vector_assign_scalar(cpu, x, null(), o, real, null(), null()) };
    assert!(refused(status, SPARRING_TYPE).starts_with("c: values are SPARRING_I32, those of the result SPARRING_F64"));
    for m in [c, small] {
        ok(sparring_matrix_free(m));
    }
    for v in [x, y] {
        ok(sparring_vector_free(v));
    }
    for s in [s, real] {
        ok(sparring_scalar_free(s));
    }
    ok(sparring_binary_op_free(plus));
    ok(sparring_device_free(cpu));
}

#[test]
fn unions_diagonals_and_aggregates() {
    let (cpu, a, o) = (cpu(1, 0), square(), null());
    let minus = binary(c"minus", SPARRING_I32, SPARRING_I32);
    let (x, y) = (ints(3, &[0, 1], &[5, 6]), ints(3, &[1, 2], &[1, 2]));
    let (ten, real, s) = (scalar(SPARRING_I32, 10i32), scalar(SPARRING_F64, 1.0f64), empty_scalar(SPARRING_I32));
    let z = ints(3, &[], &[]);
    ok(unsafe { sparring_vector_ewise_union(cpu, z, null(), o, minus, x, ten, y, ten, null()) });
    assert_eq!(entries::<i32>(z).1, [-5, 5, 8]);
    let c = new(3, 3);
    let d = SparringDescriptor { transpose_b: 1, ..Default::default() };
    ok(unsafe { sparring_matrix_ewise_union(cpu, c, null(), o, minus, a, ten, a, ten, &d) });
    assert_eq!(copy::<i32>(c).2, [0, -2, 0, 2, 0]);
    let status = unsafe { sparring_vector_ewise_union(cpu, z, null(), o, minus, x, real, y, ten, null()) };
    assert_eq!(refused(status, SPARRING_TYPE), "alpha: it is of SPARRING_F64, the operand's type is SPARRING_I32");
    let status = unsafe { sparring_vector_ewise_union(cpu, z, null(), o, minus, x, ten, y, s, null()) };
    assert_eq!(refused(status, SPARRING_NO_VALUE), "beta: the scalar is empty");

    ok(unsafe { sparring_vector_diagonal(cpu, z, null(), o, a, 0, null()) });
    assert_eq!(entries::<i32>(z).1, [1, 3, 5]);
    let one = ints(1, &[], &[]);
    ok(unsafe { sparring_vector_diagonal(cpu, one, null(), o, a, -2, null()) });
    assert_eq!(entries::<i32>(one).1, [4]);
    let wide = new(4, 4);
    ok(unsafe { sparring_matrix_diag(cpu, wide, null(), o, z, 1, null()) });
    assert_eq!(copy::<i32>(wide), (vec![0, 1, 2, 3, 3], vec![1, 2, 3], vec![1, 3, 5]));
    let status = unsafe { sparring_matrix_diag(cpu, wide, null(), o, z, i64::MIN, null()) };
    assert!(matches!(status, SPARRING_SHAPE | SPARRING_INDEX_OVERFLOW));
    let status = unsafe { sparring_vector_diagonal(cpu, z, null(), o, a, 1, null()) };
    assert_eq!(refused(status, SPARRING_SHAPE), "c: it is 3×1, the result is 2×1");

    let of = |aggregate: SparringAggregate, d: *const SparringDescriptor| {
        let c = vector::<i64>(SPARRING_I64, 3, &[], &[]);
        ok(unsafe { sparring_vector_aggregate(cpu, c, null(), o, aggregate as u32, a, d) });
        let found = entries::<i64>(c).1;
        ok(sparring_vector_free(c));
        found
    };
    let t = SparringDescriptor { transpose_a: 1, ..Default::default() };
    assert_eq!(of(SparringAggregate::SPARRING_COUNT, null()), [2, 1, 2]);
    assert_eq!(of(SparringAggregate::SPARRING_ARGMAX, null()), [2, 1, 2]);
    assert_eq!(of(SparringAggregate::SPARRING_ARGMIN, &t), [0, 1, 0]);
    let means = vector::<f64>(SPARRING_F64, 3, &[], &[]);
    let mean = SparringAggregate::SPARRING_MEAN as u32;
    ok(unsafe { sparring_vector_aggregate(cpu, means, null(), o, mean, a, null()) });
    assert_eq!(entries::<f64>(means).1, [1.5, 3.0, 4.5]);
    let status = unsafe { sparring_vector_aggregate(cpu, z, null(), o, mean, a, null()) };
    assert!(refused(status, SPARRING_TYPE).starts_with("c: values are SPARRING_I32"));
    let status = unsafe { sparring_vector_aggregate(cpu, z, null(), o, 9, a, null()) };
    assert!(refused(status, SPARRING_ARGUMENT).starts_with("aggregate: 9 is none of 1, 2, 3, 4"));
    for m in [a, c, wide] {
        ok(sparring_matrix_free(m));
    }
    for v in [x, y, z, one, means] {
        ok(sparring_vector_free(v));
    }
    for s in [ten, real, s] {
        ok(sparring_scalar_free(s));
    }
    ok(sparring_binary_op_free(minus));
    ok(sparring_device_free(cpu));
}

#[test]
fn blocks_sizes_and_single_entries() {
    let (cpu, a) = (cpu(1, 0), square());
    let (blocks, mut whole) = ([a.cast_const(); 4], null_mut());
    ok(unsafe { sparring_matrix_concat(cpu, blocks.as_ptr(), 2, 2, &mut whole) });
    let mut nnz = 0;
    ok(unsafe { sparring_matrix_nnz(whole, &mut nnz) });
    assert_eq!(nnz, 20);
    let (rows, cols, mut parts) = ([2u64, 4], [6u64], [null_mut(); 2]);
    let split = |rows: &[u64], parts: &mut [*mut SparringMatrix; 2]| unsafe {
        sparring_matrix_split(cpu, whole, rows.as_ptr(), 2, cols.as_ptr(), 1, parts.as_mut_ptr())
    };
    ok(split(&rows, &mut parts));
    assert_eq!(copy::<i32>(parts[0]).2, [1, 2, 1, 2, 3, 3]);
    for m in parts {
        ok(sparring_matrix_free(m));
    }
    let e = refused(split(&[2, 5], &mut parts), SPARRING_ARGUMENT);
    assert!(e.starts_with("row_lens: ") && parts[0].is_null(), "{e}");
    let other = small();
    let (mixed, mut none) = ([a.cast_const(), other.cast_const()], null_mut());
    let status = unsafe { sparring_matrix_concat(cpu, mixed.as_ptr(), 1, 2, &mut none) };
    assert!(status != SPARRING_OK && none.is_null());
    let status = unsafe { sparring_matrix_concat(cpu, null(), 0, 0, &mut none) };
    assert!(refused(status, SPARRING_ARGUMENT).starts_with("blocks: "));
    let status = unsafe { sparring_matrix_concat(cpu, blocks.as_ptr(), u64::MAX, 2, &mut none) };
    assert_ne!(status, SPARRING_OK);

    ok(unsafe { sparring_matrix_resize(cpu, whole, 1, 4) });
    assert_eq!(copy::<i32>(whole), (vec![0, 3], vec![0, 2, 3], vec![1, 2, 1]));
    let e = refused(unsafe { sparring_matrix_resize(cpu, whole, 1, u64::MAX) }, SPARRING_INDEX_OVERFLOW);
    assert!(e.starts_with("ncols") || e.contains("columns"), "{e}");
    let (x, s) = (ints(5, &[0, 4], &[1, 2]), scalar(SPARRING_I32, 7i32));
    ok(unsafe { sparring_vector_resize(cpu, x, 3) });
    ok(unsafe { sparring_vector_set(x, 2, s) });
    ok(unsafe { sparring_scalar_set(s, null()) });
    ok(unsafe { sparring_vector_set(x, 0, s) });
    assert_eq!(entries::<i32>(x), (vec![2], vec![7]));
    let e = refused(unsafe { sparring_vector_set(x, 3, s) }, SPARRING_INDEX_RANGE);
    assert_eq!(e, "i is 3, not below the length, which is 3");
    let e = refused(unsafe { sparring_vector_resize(cpu, x, u64::MAX) }, SPARRING_INDEX_OVERFLOW);
    let set = |i, j, s| unsafe { sparring_matrix_set(whole, i, j, s) };
    let (nine, single) = (scalar(SPARRING_I32, 9i32), scalar(SPARRING_F32, 9f32));
    ok(set(0, 3, nine));
    ok(set(0, 1, nine));
    ok(set(0, 2, s));
    assert_eq!(copy::<i32>(whole), (vec![0, 3], vec![0, 1, 3], vec![1, 9, 9]));
    assert_eq!(refused(set(1, 0, nine), SPARRING_INDEX_RANGE), "i is 1, not below nrows, which is 1");
    assert!(refused(set(0, u64::MAX, s), SPARRING_INDEX_RANGE).ends_with("not below ncols, which is 4"));
    assert!(refused(set(0, 0, single), SPARRING_TYPE).starts_with("scalar: "));
    ok(sparring_scalar_free(nine));
    ok(sparring_scalar_free(single));
    assert!(e.starts_with("len: "), "{e}");
    for m in [a, other, whole] {
        ok(sparring_matrix_free(m));
    }
    ok(sparring_vector_free(x));
    ok(sparring_scalar_free(s));
    ok(sparring_device_free(cpu));
}

#[test]
fn repeated_entries_are_joined_or_refused() {
    let minus = binary(c"minus", SPARRING_I32, SPARRING_I32);
    let less = binary(c"a < b", SPARRING_I32, SPARRING_I32);
    let (rows, cols, values) = ([1u32, 0, 1], [0u32, 1, 0], [10i32, 1, 3]);
    let (i32, mut m, mut v) = (SPARRING_I32 as u32, null_mut(), null_mut());
    let mut build = |dup: *const SparringBinaryOp| unsafe {
        let values = values.as_ptr().cast();
        sparring_matrix_build(i32, 2, 2, rows.as_ptr(), cols.as_ptr(), values, 3, dup, &mut m)
    };
    let e = refused(build(null()), SPARRING_DUPLICATE);
    assert!(e.starts_with("cols: "), "{e}");
    assert!(refused(build(less), SPARRING_TYPE).starts_with("dup: a < b takes "));
    ok(build(minus));
    assert_eq!(copy::<i32>(m), (vec![0, 1, 2], vec![1, 0], vec![1, 7]));
    ok(sparring_matrix_free(m));
    let mut build = |indices: &[u64], dup: *const SparringBinaryOp| unsafe {
        sparring_vector_build(i32, 4, indices.as_ptr(), values.as_ptr().cast(), 3, dup, &mut v)
    };
    let e = refused(build(&[3, 1, 3], null()), SPARRING_DUPLICATE);
    assert!(e.starts_with("indices: index 3 is in the list twice"), "{e}");
    assert!(refused(build(&[3, 4, 3], minus), SPARRING_INDEX_RANGE).starts_with("indices: index 4 at position 1"));
    ok(build(&[3, 1, 3], minus));
    assert_eq!(entries::<i32>(v), (vec![1, 3], vec![1, 7]));
    ok(sparring_vector_free(v));
    for op in [minus, less] {
        ok(sparring_binary_op_free(op));
    }
}

#[test]
fn dimensions_of_2_to_the_60_hold_a_few_entries() {
    const N: u64 = 1 << 60;
    let (cpu, plus) = (cpu(2, 0), binary(c"plus", SPARRING_I32, SPARRING_I32));
    let build = |n: u64, rows: &[u64], cols: &[u64], values: &[i32], m: &mut *mut SparringMatrix| unsafe {
        let (i, j, x, len) = (rows.as_ptr(), cols.as_ptr(), values.as_ptr().cast(), values.len() as u64);
        sparring_matrix_build_wide(SPARRING_I32 as u32, n, n, i, j, x, len, plus, m)
    };
    let (mut a, mut none) = (null_mut(), null_mut());
    ok(build(N, &[N - 1, 5, N - 1], &[5, N - 1, 5], &[2, 3, 5], &mut a));
    refused(build(N + 1, &[0], &[0], &[1], &mut none), SPARRING_INDEX_OVERFLOW);
    refused(build(N, &[N], &[0], &[1], &mut none), SPARRING_INDEX_RANGE);
    let (mut m, mut n) = (0, 0);
    ok(unsafe { sparring_matrix_shape(a, &mut m, &mut n) });
    assert_eq!((m, n), (N, N));
    let read = |m: *const SparringMatrix| {
        let (mut i, mut j, mut x) = ([0u64; 2], [0u64; 2], [0i32; 2]);
        let (to_i, to_j, to_x) = (i.as_mut_ptr(), j.as_mut_ptr(), x.as_mut_ptr().cast());
        refused(unsafe { sparring_matrix_entries(m, to_i, null_mut(), null_mut(), 1) }, SPARRING_LENGTH);
        ok(unsafe { sparring_matrix_entries(m, to_i, to_j, to_x, 2) });
        (i, j, x)
    };
    assert_eq!(read(a), ([5, N - 1], [N - 1, 5], [3, 7]));
    // C += A·A, whose two entries are on the diagonal.
    let mut ring = null_mut();
    ok(unsafe { sparring_semiring_new(c"plus_times".as_ptr(), SPARRING_I32 as u32, SPARRING_I32 as u32, &mut ring) });
    let c = new(N, N);
    for _ in 0..2 {
        ok(unsafe { sparring_matrix_mxm(cpu, c, null(), plus, ring, a, a, null()) });
    }
    assert_eq!(read(c), ([5, N - 1], [5, N - 1], [42, 42]));
    for m in [a, c] {
        ok(sparring_matrix_free(m));
    }
    ok(sparring_binary_op_free(plus));
    ok(sparring_semiring_free(ring));
    ok(sparring_device_free(cpu));
}

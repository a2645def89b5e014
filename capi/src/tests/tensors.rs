//! Tensors: conversion from and to arrays and files, CP.

use std::cell::RefCell;

use super::files::File;
use super::*;
use crate::cp::*;
use crate::matrix_market::SparringWriteOptions;
use crate::tensor::SparringDuplicates::*;
use crate::tensor::*;

/// Lists of indices, and their addresses.
pub(super) fn addresses<T>(lists: &[Vec<T>]) -> Vec<*const T> {
    lists.iter().map(|list| list.as_ptr()).collect()
}

fn made<T>(ty: u32, dims: &[u64], lists: &[Vec<u64>], values: &[T]) -> (SparringStatus, *mut SparringTensor) {
    let (mut x, lists) = (16 as *mut SparringTensor, addresses(lists));
    let (order, nnz) = (dims.len() as u64, values.len() as u64);
    let (dims, lists, values) = (dims.as_ptr(), lists.as_ptr(), values.as_ptr().cast());
    let status = unsafe { sparring_tensor_from_coo(ty, order, dims, lists, values, nnz, &mut x) };
    assert_eq!(x.is_null(), status != SPARRING_OK);
    (status, x)
}

#[track_caller]
pub(super) fn coo(dims: &[u64], lists: &[Vec<u64>], values: &[f64]) -> *mut SparringTensor {
    typed(SPARRING_F64 as u32, dims, lists, values)
}

/// The same with values of another type.
#[track_caller]
pub(super) fn typed<T>(ty: u32, dims: &[u64], lists: &[Vec<u64>], values: &[T]) -> *mut SparringTensor {
    let (status, x) = made(ty, dims, lists, values);
    ok(status);
    x
}

/// Dimensions, lists of indices and values, copied out.
#[track_caller]
fn parts(x: *const SparringTensor) -> (Vec<u64>, Vec<Vec<u64>>, Vec<f64>) {
    assert_eq!(type_of(x), SPARRING_F64 as u32);
    parts_of(x)
}

fn type_of(x: *const SparringTensor) -> u32 {
    let mut ty = 0;
    ok(unsafe { sparring_tensor_type(x, &mut ty) });
    ty
}

/// The same of values of type `T`, which is the tensor's.
#[track_caller]
fn parts_of<T: Clone + Default>(x: *const SparringTensor) -> (Vec<u64>, Vec<Vec<u64>>, Vec<T>) {
    let (mut order, mut nnz) = (0, 0);
    ok(unsafe { sparring_tensor_order(x, &mut order) });
    ok(unsafe { sparring_tensor_nnz(x, &mut nnz) });
    let mut dims = vec![0; order as usize];
    ok(unsafe { sparring_tensor_dims(x, dims.as_mut_ptr(), order) });
    let (mut lists, mut values) = (vec![vec![u64::MAX; nnz as usize]; dims.len()], vec![T::default(); nnz as usize]);
    let to: Vec<_> = lists.iter_mut().map(|list| list.as_mut_ptr()).collect();
    ok(unsafe { sparring_tensor_copy(x, to.as_ptr(), values.as_mut_ptr().cast(), nnz) });
    (dims, lists, values)
}

pub(super) fn free(tensors: &[*mut SparringTensor]) {
    tensors.iter().for_each(|&x| ok(sparring_tensor_free(x)));
}

/// GenTen's unit test: 2 × 3 × 4, exactly of rank 2.
pub(super) fn genten() -> *mut SparringTensor {
    let lists = [
        vec![0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1],
        vec![0, 0, 1, 1, 2, 0, 2, 0, 0, 1, 1],
        vec![0, 0, 0, 0, 0, 1, 1, 3, 3, 3, 3],
    ];
    let mut values = vec![1.0; 11];
    values[0] = 2.0;
    coo(&[2, 3, 4], &lists, &values)
}

/// Its initial factors.
pub(super) fn start() -> Vec<Vec<f64>> {
    vec![vec![0.8, 0.5, 0.2, 0.5], vec![0.5, 0.5, 0.1, 0.5, 0.5, 0.1], vec![0.7, 0.7, 0.7, 0.1, 0.1, 0.1, 0.1, 0.7]]
}

fn ones() -> *mut SparringTensor {
    let list = |shift: u32| (0..27u64).map(|e| e / 3u64.pow(shift) % 3).collect();
    coo(&[3, 3, 3], &[list(2), list(1), list(0)], &[1.0; 27])
}

#[test]
fn tensors_from_arrays_and_back() {
    let lists = [vec![2, 0, 2, 1], vec![1, 0, 1, 3]];
    let x = coo(&[3, 4], &lists, &[1.0, 2.0, 4.0, 0.0]);
    assert_eq!(parts(x), (vec![3, 4], lists.to_vec(), vec![1.0, 2.0, 4.0, 0.0]));
    let (cpu, mut summed) = (cpu(2, 0), null_mut());
    ok(unsafe { sparring_tensor_summed(cpu, x, &mut summed) });
    let expected = (vec![3, 4], vec![vec![0, 1, 2], vec![0, 3, 1]], vec![2.0, 0.0, 5.0]);
    assert_eq!(parts(summed), expected);
    // NULL arrays, and arrays that are too short.
    let mut second = vec![9; 3];
    ok(unsafe { sparring_tensor_copy(summed, [null_mut(), second.as_mut_ptr()].as_ptr(), null_mut(), 3) });
    assert_eq!(second, [0, 3, 1]);
    ok(unsafe { sparring_tensor_copy(summed, null(), null_mut(), 0) });
    let e = unsafe { sparring_tensor_copy(summed, [null_mut(), second.as_mut_ptr()].as_ptr(), null_mut(), 2) };
    assert_eq!(refused(e, SPARRING_LENGTH), "indices: length is 2, expected 3");
    let e = unsafe { sparring_tensor_copy(summed, null(), [0.0; 3].as_mut_ptr().cast(), 2) };
    assert_eq!(refused(e, SPARRING_LENGTH), "values: length is 2, expected 3");
    let mut dims = [7; 2];
    let e = unsafe { sparring_tensor_dims(summed, dims.as_mut_ptr(), 1) };
    assert_eq!(refused(e, SPARRING_LENGTH), "dims: length is 1, expected 2");
    assert_eq!(dims, [7; 2]);

    // Without entries; with indices beyond 32 bits, and dimensions that are just within.
    let empty = coo(&[0, 5, 1 << 40], &[vec![], vec![], vec![]], &[]);
    assert_eq!(parts(empty), (vec![0, 5, 1 << 40], vec![vec![]; 3], vec![]));
    let dims = [5];
    let mut bare = null_mut();
    ok(unsafe { sparring_tensor_from_coo(SPARRING_F64 as u32, 1, dims.as_ptr(), null(), null(), 0, &mut bare) });
    assert_eq!(parts(bare), (vec![5], vec![vec![]], vec![]));
    for last in [u64::from(u32::MAX) - 1, u64::from(u32::MAX), 1 << 62] {
        let lists = [vec![last, 0, last], vec![1, 0, 1]];
        let wide = coo(&[last + 1, 2], &lists, &[1.0, 2.0, 3.0]);
        assert_eq!(parts(wide), (vec![last + 1, 2], lists.to_vec(), vec![1.0, 2.0, 3.0]));
        let mut sorted = null_mut();
        ok(unsafe { sparring_tensor_summed(cpu, wide, &mut sorted) });
        assert_eq!(parts(sorted).1, [vec![0, last], vec![0, 1]]);
        free(&[wide, sorted]);
    }
    let most = coo(&[1; 255], &vec![vec![0]; 255], &[3.0]);
    assert_eq!(parts(most).0.len(), 255);
    free(&[x, summed, empty, bare, most]);
    ok(sparring_device_free(cpu));
}

#[test]
fn wrong_arrays_are_refused() {
    let wrong = |dims: &[u64], lists: &[Vec<u64>], status| {
        let values = vec![1.0; lists.first().map_or(0, Vec::len)];
        refused(made(SPARRING_F64 as u32, dims, lists, &values).0, status)
    };
    let e = wrong(&[], &[], SPARRING_ARGUMENT);
    assert_eq!(e, "order: a tensor has 1 to 255 modes, not 0");
    assert!(wrong(&[1; 256], &vec![vec![0]; 256], SPARRING_ARGUMENT).contains("not 256"));
    let lists = [vec![0, 1], vec![2, 3]];
    assert_eq!(wrong(&[2, 3], &lists, SPARRING_INDEX_RANGE), "indices[1][1] is 3, not below dims[1], which is 3");
    // An index that would be valid if truncated to 32 bits.
    let e = wrong(&[2, 3], &[vec![0, 1 << 32], vec![0, 0]], SPARRING_INDEX_RANGE);
    assert_eq!(e, "indices[0][1] is 4294967296, not below dims[0], which is 2");
    let e = wrong(&[2, u64::MAX], &lists, SPARRING_INDEX_OVERFLOW);
    assert!(e.starts_with("dims: mode 1: 18446744073709551615 does not fit"), "{e}");

    let (dims, list, values) = ([2u64, 2], [0u64, 1], [1.0, 2.0]);
    let (some, none) = ([list.as_ptr(), list.as_ptr()], [list.as_ptr(), null()]);
    let mut x = null_mut();
    let f64s = SPARRING_F64 as u32;
    let mut call =
        |dims, indices, values, nnz| unsafe { sparring_tensor_from_coo(f64s, 2, dims, indices, values, nnz, &mut x) };
    let (d, v) = (dims.as_ptr(), values.as_ptr().cast());
    assert_eq!(refused(call(null(), some.as_ptr(), v, 2), SPARRING_NULL_POINTER), "dims is NULL");
    assert_eq!(refused(call(d, null(), v, 2), SPARRING_NULL_POINTER), "indices is NULL");
    assert_eq!(refused(call(d, some.as_ptr(), null(), 2), SPARRING_NULL_POINTER), "values is NULL");
    assert_eq!(refused(call(d, none.as_ptr(), v, 2), SPARRING_NULL_POINTER), "indices[1] is NULL");
    let odd = [list.as_ptr(), list.as_ptr().wrapping_byte_add(1)];
    assert!(refused(call(d, odd.as_ptr(), v, 1), SPARRING_ARGUMENT).starts_with("indices[1]: the address "));
    refused(call(d, some.as_ptr(), v, u64::MAX), SPARRING_INDEX_OVERFLOW);
    assert!(x.is_null());
    // Handles of other kinds.
    let x = genten();
    let e = refused(unsafe { sparring_matrix_nnz(x.cast(), &mut 0) }, SPARRING_INVALID_HANDLE);
    assert_eq!(e, "matrix: a SparringMatrix is needed, the handle is of a SparringTensor");
    free(&[x, null_mut()]);
    refused(unsafe { sparring_tensor_nnz(x, &mut 0) }, SPARRING_INVALID_HANDLE);
}

fn read(path: &CStr, options: &SparringTensorReadOptions) -> (SparringStatus, *mut SparringTensor) {
    read_as(SPARRING_F64 as u32, path, options)
}

fn read_as(ty: u32, path: &CStr, options: &SparringTensorReadOptions) -> (SparringStatus, *mut SparringTensor) {
    let (cpu, mut x) = (cpu(2, 0), 16 as *mut SparringTensor);
    let status = unsafe { sparring_tensor_read(cpu, ty, path.as_ptr(), options, &mut x) };
    assert_eq!(x.is_null(), status != SPARRING_OK);
    if status == SPARRING_OK {
        ok(sparring_device_free(cpu));
    }
    (status, x)
}

#[test]
fn files_with_every_option() {
    let file = File::new("t.tns", b"# three\n3 1 2 0.5\n1 1 1 4\n3 1 2 1.5\n");
    let plain = SparringTensorReadOptions::default();
    let take = |options: &SparringTensorReadOptions| {
        let (status, x) = read(&file.1, options);
        ok(status);
        let found = parts(x);
        free(&[x]);
        found
    };
    assert_eq!(take(&plain), (vec![3, 1, 2], vec![vec![0, 2], vec![0, 0], vec![0, 1]], vec![4.0, 2.0]));
    let kept = SparringTensorReadOptions { duplicates: SPARRING_DUPLICATES_KEEP as u32, ..plain };
    assert_eq!(take(&kept).2, [0.5, 4.0, 1.5]);
    let lengths = [3u64, 2, 5];
    let dims = SparringTensorReadOptions { dims: lengths.as_ptr(), order: 3, max_bytes: 1000, ..plain };
    assert_eq!(take(&dims).0, lengths);
    let no_values = SparringTensorReadOptions { no_values: 1, ..plain };
    let four = File::new("four.tns", b"1 2 1 4 # behind\n1 2 1 3\n");
    let (status, x) = read(&four.1, &SparringTensorReadOptions { lenient: 1, ..no_values });
    ok(status);
    assert_eq!((parts(x).0, parts(x).2), (vec![1, 2, 1, 4], vec![1.0, 1.0]));
    free(&[x]);
    refused(read(&four.1, &no_values).0, SPARRING_PARSE);

    let wrong = |options, status| refused(read(&file.1, &options).0, status);
    let refuse = SparringTensorReadOptions { duplicates: SPARRING_DUPLICATES_REFUSE as u32, ..plain };
    assert!(wrong(refuse, SPARRING_PARSE).contains("t.tns:4:1: entry (3, 1, 2) is in the file already, in line 2"));
    let e = wrong(SparringTensorReadOptions { duplicates: 3, ..plain }, SPARRING_ARGUMENT);
    assert_eq!(e, "options.duplicates: 3 is none of 0, 1, 2");
    assert!(wrong(SparringTensorReadOptions { max_bytes: 10, ..plain }, SPARRING_BUDGET).contains("10 bytes"));
    let e = wrong(SparringTensorReadOptions { order: 3, ..plain }, SPARRING_NULL_POINTER);
    assert_eq!(e, "options.dims is NULL");
    let e = wrong(SparringTensorReadOptions { order: 0, ..dims }, SPARRING_ARGUMENT);
    assert_eq!(e, "options.order: a tensor has 1 to 255 modes, not 0");
    wrong(SparringTensorReadOptions { order: 2, ..dims }, SPARRING_PARSE);
    let (short, long) = ([2u64, 2, 5], [u64::MAX; 3]);
    assert!(wrong(SparringTensorReadOptions { dims: short.as_ptr(), ..dims }, SPARRING_PARSE).contains("t.tns:2:1: "));
    let e = wrong(SparringTensorReadOptions { dims: long.as_ptr(), ..dims }, SPARRING_INDEX_OVERFLOW);
    assert!(e.starts_with("options.dims: mode 0: "), "{e}");
    let e = refused(read(c"no/such/file.tns", &plain).0, SPARRING_IO);
    assert!(e.starts_with("no/such/file.tns: "), "{e}");
    let bad = File::new("bad.tns", b"1 1 1 4\n1 0 1 4\n");
    assert!(refused(read(&bad.1, &plain).0, SPARRING_PARSE).contains("bad.tns:2:3: "));
}

/// Every type of C from arrays and back, sorted and summed, written and read again.
#[test]
fn tensors_of_every_type() {
    use sparring::num_complex::Complex;
    fn check<T: Copy + Default + PartialEq + std::fmt::Debug>(ty: u32, [a, b, c, sum]: [T; 4], is_real: bool) {
        let (cpu, file) = (cpu(2, 0), File::new(&format!("type{ty}.tns"), b"old"));
        for last in [3, 1 << 40] {
            let lists = [vec![last, 0, last], vec![1, 0, 1]];
            let x = typed(ty, &[last + 1, 2], &lists, &[a, b, c]);
            assert_eq!((type_of(x), parts_of(x)), (ty, (vec![last + 1, 2], lists.to_vec(), vec![a, b, c])));
            let mut y = null_mut();
            ok(unsafe { sparring_tensor_summed(cpu, x, &mut y) });
            let summed = (vec![last + 1, 2], vec![vec![0, last], vec![0, 1]], vec![b, sum]);
            assert_eq!((type_of(y), parts_of(y)), (ty, summed.clone()));
            let written = unsafe { sparring_tensor_write(cpu, x, file.1.as_ptr(), null()) };
            if is_real {
                ok(written);
                let (status, again) = read_as(ty, &file.1, &SparringTensorReadOptions::default());
                ok(status);
                assert_eq!((type_of(again), parts_of(again)), (ty, summed));
                free(&[again]);
            } else {
                let e = refused(written, SPARRING_UNSUPPORTED);
                assert!(e.contains("its values are real numbers"), "{e}");
            }
            free(&[x, y]);
        }
        ok(sparring_device_free(cpu));
    }
    check(SPARRING_BOOL as u32, [1u8, 0, 0, 1], true);
    check(SPARRING_I8 as u32, [-128i8, 5, 127, -1], true);
    check(SPARRING_U8 as u32, [200u8, 5, 55, 255], true);
    check(SPARRING_I16 as u32, [-30_000i16, 5, 7, -29_993], true);
    check(SPARRING_U16 as u32, [60_000u16, 5, 7, 60_007], true);
    check(SPARRING_I32 as u32, [i32::MIN, 5, 7, i32::MIN + 7], true);
    check(SPARRING_U32 as u32, [u32::MAX - 7, 5, 7, u32::MAX], true);
    check(SPARRING_I64 as u32, [1i64 << 52, 5, -7, (1 << 52) - 7], true);
    check(SPARRING_U64 as u32, [1u64 << 52, 5, 7, (1 << 52) + 7], true);
    check(SPARRING_F32 as u32, [0.1f32, 5.0, 0.2, 0.1 + 0.2], true);
    check(SPARRING_F64 as u32, [0.1f64, 5.0, 0.2, 0.1 + 0.2], true);
    let c = |re, im| Complex::new(re, im);
    check(SPARRING_COMPLEX_F32 as u32, [c(1f32, 2.0), c(5.0, 0.0), c(0.5, -1.0), c(1.5, 1.0)], false);
    let c = |re, im| Complex::new(re, im);
    check(SPARRING_COMPLEX_F64 as u32, [c(1f64, 2.0), c(5.0, 0.0), c(0.5, -1.0), c(1.5, 1.0)], false);
}

#[test]
fn tensors_of_other_types_from_files_and_casts() {
    let plain = SparringTensorReadOptions::default();
    let file = File::new("cast.tns", b"1 1 3\n2 1 -2.5\n1 1 0\n");
    let wrong = |ty, path: &CStr| refused(read_as(ty, path, &plain).0, SPARRING_UNSUPPORTED);
    let e = wrong(SPARRING_I32 as u32, &file.1);
    assert!(e.contains("entry 1, -2.5 as i64 is not supported"), "{e}");
    let (status, x) = read_as(SPARRING_COMPLEX_F32 as u32, &file.1, &plain);
    ok(status);
    assert_eq!(parts_of::<[f32; 2]>(x).2, [[3.0, 0.0], [-2.5, 0.0]]);
    free(&[x]);
    // Sums have the type; an unrepresentable sum is rejected, like a value.
    let sums = File::new("sums.tns", b"1 100\n1 100\n");
    assert!(wrong(SPARRING_I8 as u32, &sums.1).contains("entry 0, 200 as i8"));
    let large = File::new("large.tns", b"1 1\n2 9007199254740993\n");
    assert!(wrong(SPARRING_U64 as u32, &large.1).contains("exact only below 2^53"));
    for ty in [0, 14, u32::MAX] {
        refused(read_as(ty, &file.1, &plain).0, SPARRING_ARGUMENT);
        refused(made(ty, &[1], &[vec![0]], &[1u64, 2]).0, SPARRING_ARGUMENT);
    }

    let x = typed(SPARRING_I32 as u32, &[2, 2], &[vec![0, 1], vec![1, 0]], &[300i32, -1]);
    let cast = |x, ty, wrap| {
        let mut there = 16 as *mut SparringTensor;
        let status = unsafe { sparring_tensor_cast(x, ty, wrap, &mut there) };
        assert_eq!(there.is_null(), status != SPARRING_OK);
        (status, there)
    };
    let e = refused(cast(x, SPARRING_U8 as u32, 0).0, SPARRING_UNSUPPORTED);
    assert!(e.contains("entry 0, 300 as u8"), "{e}");
    let (status, wrapped) = cast(x, SPARRING_U8 as u32, 1);
    ok(status);
    assert_eq!(parts_of::<u8>(wrapped), (vec![2, 2], vec![vec![0, 1], vec![1, 0]], vec![44, 255]));
    refused(cast(x, 99, 0).0, SPARRING_ARGUMENT);
    assert_eq!(refused(cast(null(), 1, 0).0, SPARRING_NULL_POINTER), "tensor is NULL");
    refused(unsafe { sparring_tensor_cast(x, 1, 0, null_mut()) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_tensor_type(x, null_mut()) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_tensor_type(null(), &mut 0) }, SPARRING_NULL_POINTER);
    free(&[x, wrapped]);
    refused(cast(x, 1, 0).0, SPARRING_INVALID_HANDLE);
    refused(unsafe { sparring_tensor_type(x, &mut 0) }, SPARRING_INVALID_HANDLE);
}

#[test]
fn decompositions_are_of_floats() {
    let (x, cpu, mut floats) = (genten(), cpu(2, 0), null_mut());
    ok(unsafe { sparring_tensor_cast(x, SPARRING_F32 as u32, 0, &mut floats) });
    let o = SparringCpOptions { sweeps: 5, all_sweeps: 1, seed: 3, ..Default::default() };
    let (mut of_doubles, mut of_floats) = (Found::empty(x, 2), Found::empty(x, 2));
    ok(of_doubles.run(cpu, x, &o));
    ok(of_floats.run(cpu, floats, &o));
    assert_eq!((of_doubles.weights, of_doubles.factors), (of_floats.weights, of_floats.factors));
    let mut integers = null_mut();
    ok(unsafe { sparring_tensor_cast(x, SPARRING_I16 as u32, 0, &mut integers) });
    let e = refused(Found::empty(x, 2).run(cpu, integers, &o), SPARRING_TYPE);
    assert_eq!(e, "tensor: it is of SPARRING_I16, CP needs SPARRING_F32 or SPARRING_F64");
    free(&[x, floats, integers]);
    ok(sparring_device_free(cpu));
}

#[test]
fn what_is_written_is_read_again() {
    let lists = [vec![0, 1 << 33, 2], vec![1, 0, 0]];
    let x = coo(&[1 << 34, 2], &lists, &[0.1, f64::MIN_POSITIVE, -3.0]);
    let cpu = cpu(2, 0);
    let write = |path: &CStr, options| unsafe { sparring_tensor_write(cpu, x, path.as_ptr(), options) };
    let kept = SparringTensorReadOptions { duplicates: SPARRING_DUPLICATES_KEEP as u32, ..Default::default() };
    for name in ["w.tns", "w.tns.gz"] {
        let file = File::new(name, b"old");
        ok(write(&file.1, null()));
        assert_eq!(std::fs::read(&file.0).unwrap().starts_with(&[0x1f, 0x8b]), name.ends_with(".gz"));
        let (status, again) = read(&file.1, &kept);
        ok(status);
        assert_eq!(parts(again).1, lists);
        assert_eq!(parts(again).2, parts(x).2);
        free(&[again]);
    }
    let file = File::new("w2.tns", b"old");
    ok(write(&file.1, &SparringWriteOptions { symmetric: 0, pattern_only: 1 }));
    assert_eq!(std::fs::read_to_string(&file.0).unwrap(), "1 2\n8589934593 1\n3 1\n");
    let e = refused(write(&file.1, &SparringWriteOptions { symmetric: 1, pattern_only: 0 }), SPARRING_ARGUMENT);
    assert!(e.starts_with("options.symmetric: "), "{e}");
    let e = refused(write(c"no/such/folder/a.tns", null()), SPARRING_IO);
    assert!(e.starts_with("no/such/folder/a.tns: "), "{e}");
    free(&[x]);
    ok(sparring_device_free(cpu));
}

/// Weights, factors and results of [`sparring_cp_als`].
struct Found {
    weights: Vec<f64>,
    factors: Vec<Vec<f64>>,
    fit: SparringCpFit,
}

impl Found {
    fn empty(x: *const SparringTensor, rank: usize) -> Self {
        let factors = parts(x).0.iter().map(|&n| vec![f64::NAN; n as usize * rank]).collect();
        Self { weights: vec![f64::NAN; rank], factors, fit: SparringCpFit::default() }
    }
    fn run(
        &mut self,
        device: *const SparringDevice,
        x: *const SparringTensor,
        o: *const SparringCpOptions,
    ) -> SparringStatus {
        let to: Vec<_> = self.factors.iter_mut().map(|f| f.as_mut_ptr()).collect();
        let (rank, weights, mut words, mut length) =
            (self.weights.len() as u64, self.weights.as_mut_ptr(), [0; 500], 0);
        let status = unsafe {
            sparring_cp_als(
                device,
                x,
                rank,
                o,
                weights,
                to.as_ptr(),
                &mut self.fit,
                words.as_mut_ptr(),
                500,
                &mut length,
            )
        };
        if status == SPARRING_OK {
            let words = text(words.as_ptr());
            assert_eq!((words.starts_with("mttkrp: "), words.len() as u64), (true, length), "{words}");
        }
        status
    }
}

#[test]
fn a_published_decomposition() {
    let (x, cpu) = (genten(), cpu(2, 0));
    let warm = || {
        let mut found = Found::empty(x, 2);
        (found.weights, found.factors) = (vec![1.0; 2], start());
        found
    };
    for (sweeps, fit) in [
        (1, 0.932788856502),
        (2, 0.984366843905),
        (3, 0.992954863337),
        (5, 0.997046348153),
        (10, 0.999295506077),
        (20, 0.999956708723),
    ] {
        for variant in 0..=6 {
            let o = SparringCpOptions { sweeps, all_sweeps: 1, warm_start: 1, variant, ..Default::default() };
            let mut found = warm();
            ok(found.run(cpu, x, &o));
            assert!((found.fit.fit - fit).abs() < 1e-11, "{sweeps} {variant}: {}", found.fit.fit);
            assert_eq!((found.fit.sweeps, found.fit.converged, found.fit.start), (sweeps, 0, 0));
        }
    }
    let mut found = warm();
    ok(found.run(cpu, x, &SparringCpOptions { tolerance: 1e-6, warm_start: 1, ..Default::default() }));
    assert_eq!((found.fit.sweeps, found.fit.converged, found.fit.singular), (30, 1, 0));
    assert!((found.fit.fit - 0.999997334875).abs() < 1e-10);
    assert!(found.fit.seconds >= found.fit.mttkrp_seconds && found.fit.setup_seconds > 0.0);
    let h = 0.5f64.sqrt();
    let exact = [&[h, 1.0, h, 0.0][..], &[h, h, h, 0.0, 0.0, h], &[h, h, 0.0, h, 0.0, 0.0, h, 0.0]];
    for (found, exact) in found.factors.iter().zip(exact) {
        assert!(found.iter().zip(exact).all(|(a, b)| (a - b).abs() < 5e-3), "{found:?}");
    }
    assert!((found.weights[0] - 8f64.sqrt()).abs() < 1e-3 && (found.weights[1] - 2.0).abs() < 1e-3);
    // Starting from the result, it ends at once.
    let o = SparringCpOptions { warm_start: 1, ..Default::default() };
    ok(found.run(cpu, x, &o));
    assert_eq!((found.fit.sweeps, found.fit.converged), (2, 1));
    free(&[x]);
    ok(sparring_device_free(cpu));
}

#[test]
fn a_singular_system_has_the_solution_of_minimum_norm() {
    let (x, cpu) = (ones(), cpu(1, 0));
    for (rank, weight) in [(2, 2.59807621), (4, 1.29903811), (8, 0.64951905)] {
        let mut found = Found::empty(x, rank);
        let o = SparringCpOptions { seed: 7, sweeps: 10, all_sweeps: 1, ..Default::default() };
        ok(found.run(cpu, x, &o));
        assert!((found.fit.fit - 1.0).abs() < 1e-7 && found.fit.singular > 0, "{:?}", found.fit);
        assert!(found.weights.iter().all(|w| (w - weight).abs() < 1e-7), "{:?}", found.weights);
    }
    free(&[x]);
    ok(sparring_device_free(cpu));
}

#[test]
fn every_option_of_a_decomposition() {
    let (x, one) = (genten(), cpu(1, 0));
    let run = |device, o: &SparringCpOptions| {
        let mut found = Found::empty(x, 3);
        ok(found.run(device, x, o));
        found
    };
    // Zeroed options equal NULL; seeds and starts matter; bitwise identical for any number of threads.
    let plain = SparringCpOptions::default();
    let mut none = Found::empty(x, 3);
    ok(none.run(one, x, null()));
    let first = run(one, &plain);
    assert_eq!((&first.weights, &first.factors), (&none.weights, &none.factors));
    let named = run(one, &SparringCpOptions { sweeps: 100, tolerance: 1e-4, starts: 1, ..plain });
    assert_eq!((&first.weights, &first.factors), (&named.weights, &named.factors));
    let three = cpu(3, 0);
    assert_eq!(run(three, &plain).factors, first.factors);
    let best = run(one, &SparringCpOptions { starts: 5, ..plain });
    let each: Vec<_> = (0..5).map(|seed| run(one, &SparringCpOptions { seed, ..plain }).fit.fit).collect();
    assert!(each.windows(2).any(|w| w[0] != w[1]));
    assert_eq!(best.fit.fit, each.iter().copied().fold(0.0, f64::max));
    assert_eq!(best.fit.fit, each[best.fit.start as usize]);
    let held = run(one, &SparringCpOptions { ridge: 0.5, ..plain });
    assert!(held.fit.fit < first.fit.fit - 1e-3, "{} {}", held.fit.fit, first.fit.fit);
    let signs = coo(&[2, 2], &[vec![0, 1], vec![0, 1]], &[1.0, -1.0]);
    let mut found = Found::empty(signs, 1);
    ok(found.run(one, signs, &SparringCpOptions { nonnegative: 1, tolerance: 1e-9, ..plain }));
    assert!(found.factors.iter().flatten().all(|&a| a >= 0.0));
    assert!((found.fit.fit - (1.0 - 0.5f64.sqrt())).abs() < 1e-6, "{}", found.fit.fit);

    let wrong = |o, status| {
        let mut found = Found::empty(x, 3);
        let e = refused(found.run(one, x, &o), status);
        // Unchanged.
        assert!(found.weights.iter().chain(found.factors.iter().flatten()).all(|v| v.is_nan()));
        e
    };
    let e = wrong(SparringCpOptions { tolerance: -1.0, ..plain }, SPARRING_ARGUMENT);
    assert!(e.starts_with("options.tolerance: -1 "), "{e}");
    assert!(
        wrong(SparringCpOptions { tolerance: f64::NAN, ..plain }, SPARRING_ARGUMENT).starts_with("options.tolerance")
    );
    let e = wrong(SparringCpOptions { ridge: -0.5, ..plain }, SPARRING_ARGUMENT);
    assert!(e.starts_with("options.ridge: -0.5 "), "{e}");
    let e = wrong(SparringCpOptions { variant: 9, ..plain }, SPARRING_ARGUMENT);
    assert!(e.starts_with("options.variant: 9 is none of"), "{e}");
    // A model of NaNs.
    let e = wrong(SparringCpOptions { warm_start: 1, ..plain }, SPARRING_ARGUMENT);
    assert!(e.starts_with("factors: "), "{e}");
    free(&[x, signs]);
    ok(sparring_device_free(one));
    ok(sparring_device_free(three));
}

#[test]
fn a_callback_sees_every_sweep_and_may_stop() {
    struct Seen {
        sweeps: RefCell<Vec<SparringSweep>>,
        tensor: *mut SparringTensor,
        until: u64,
    }
    unsafe extern "C" fn watch(sweep: *const SparringSweep, context: *mut c_void) -> i32 {
        let (sweep, seen) = unsafe { (*sweep, &*context.cast::<Seen>()) };
        seen.sweeps.borrow_mut().push(sweep);
        // The callback may call the library and fail: the message is that of its call, not of the enclosing one.
        let mut nnz = 0;
        assert_eq!(unsafe { sparring_tensor_nnz(seen.tensor, &mut nnz) }, SPARRING_OK);
        assert_eq!(unsafe { sparring_tensor_nnz(null(), &mut nnz) }, SPARRING_NULL_POINTER);
        i32::from(sweep.start == 1 && sweep.number == seen.until) * -5
    }
    let (x, cpu) = (genten(), cpu(1, 0));
    let run = |until| {
        let mut seen = Seen { sweeps: RefCell::default(), tensor: x, until };
        let context = (&raw mut seen).cast();
        let o = SparringCpOptions {
            starts: 3,
            sweeps: 4,
            all_sweeps: 1,
            on_sweep: Some(watch),
            context,
            ..Default::default()
        };
        let mut found = Found::empty(x, 2);
        ok(found.run(cpu, x, &o));
        (found, seen.sweeps.into_inner())
    };
    let (found, seen) = run(0);
    let numbers: Vec<_> = seen.iter().map(|s| (s.start, s.number)).collect();
    assert_eq!(numbers, (0..3).flat_map(|s| (1..=4).map(move |n| (s, n))).collect::<Vec<_>>());
    let last = seen.iter().rfind(|s| s.start == found.fit.start).unwrap();
    assert_eq!((last.fit, last.number), (found.fit.fit, found.fit.sweeps));
    for pair in seen.windows(2).filter(|pair| pair[0].start == pair[1].start) {
        assert_eq!(pair[1].change, pair[1].fit - pair[0].fit);
        assert!(pair[1].seconds >= pair[0].seconds);
    }
    assert_eq!(seen[0].change, seen[0].fit);
    let (found, seen) = run(2);
    assert_eq!((seen.len(), found.fit.converged), (6, 0));
    assert!(found.weights.iter().all(|w| w.is_finite()));
    free(&[x]);
    ok(sparring_device_free(cpu));
}

#[test]
fn wrong_decompositions_are_refused() {
    let (x, one) = (genten(), cpu(1, 0));
    let mut found = Found::empty(x, 2);
    let to: Vec<_> = found.factors.iter_mut().map(|f| f.as_mut_ptr()).collect();
    let (weights, fit) = (found.weights.as_mut_ptr(), &raw mut found.fit);
    let call = |device, x, rank, weights, factors: *const *mut f64, fit| unsafe {
        sparring_cp_als(device, x, rank, null(), weights, factors, fit, null_mut(), 0, null_mut())
    };
    ok(call(one, x, 2, weights, to.as_ptr(), fit));
    assert_eq!(refused(call(null(), x, 2, weights, to.as_ptr(), fit), SPARRING_NULL_POINTER), "device is NULL");
    assert_eq!(refused(call(one, null(), 2, weights, to.as_ptr(), fit), SPARRING_NULL_POINTER), "tensor is NULL");
    assert_eq!(refused(call(one, x, 2, null_mut(), to.as_ptr(), fit), SPARRING_NULL_POINTER), "weights is NULL");
    assert_eq!(refused(call(one, x, 2, weights, null(), fit), SPARRING_NULL_POINTER), "factors is NULL");
    assert_eq!(refused(call(one, x, 2, weights, to.as_ptr(), null_mut()), SPARRING_NULL_POINTER), "fit is NULL");
    let missing = [to[0], null_mut(), to[2]];
    let e = refused(call(one, x, 2, weights, missing.as_ptr(), fit), SPARRING_NULL_POINTER);
    assert_eq!(e, "factors[1] is NULL");
    assert_eq!(refused(call(one, x, 0, weights, to.as_ptr(), fit), SPARRING_ARGUMENT), "rank: 0 is not at least 1");
    for rank in [1 << 60, u64::MAX] {
        assert!(refused(call(one, x, rank, weights, to.as_ptr(), fit), SPARRING_INDEX_OVERFLOW).starts_with("rank: "));
    }
    let none = coo(&[0, 0], &[vec![], vec![]], &[]);
    let nothing = [null_mut(); 2];
    refused(call(one, none, 1 << 59, weights, nothing.as_ptr(), fit), SPARRING_OUT_OF_MEMORY);
    let little = cpu(1, 300);
    refused(call(little, x, 2, weights, to.as_ptr(), fit), SPARRING_BUDGET);
    let infinite = coo(&[1, 1], &[vec![0], vec![0]], &[f64::INFINITY]);
    let e = refused(call(one, infinite, 1, weights, to.as_ptr(), fit), SPARRING_ARGUMENT);
    assert!(e.starts_with("tensor: the norm "), "{e}");
    free(&[x, none, infinite]);
    ok(sparring_device_free(one));
    ok(sparring_device_free(little));
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_decomposes_as_the_processor_does() {
    let (gpu, cpu, x) = (super::devices::gpu(), cpu(2, 0), genten());
    let options = SparringCpOptions { seed: 7, all_sweeps: 1, sweeps: 5, ..SparringCpOptions::default() };
    let fit = |device| {
        let mut found = Found::empty(x, 2);
        ok(found.run(device, x, &raw const options));
        found.fit.fit
    };
    assert!((fit(gpu) - fit(cpu)).abs() <= 1e-9);
    // Reading and sorting run on the processor for any device.
    let mut summed = null_mut();
    ok(unsafe { sparring_tensor_summed(gpu, x, &mut summed) });
    free(&[x, summed]);
    ok(sparring_device_free(gpu));
    ok(sparring_device_free(cpu));
}

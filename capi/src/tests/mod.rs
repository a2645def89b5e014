//! Every function as called from C: success, and each kind of failure.
//!
//! Called as C calls them, through raw pointers. The C programs in `tests/` do the same through the header.

// SAFETY, for the whole of these tests: pointers come from references and slices of the lengths given, from handles,
// or are NULL or invalid where the function promises to reject them without reading.
#![allow(clippy::undocumented_unsafe_blocks)]

mod arrays;
mod border;
mod devices;
mod distances;
mod einsum;
mod files;
mod foreign;
mod formats;
mod functions;
mod graphs;
mod matrices;
mod mttkrp;
mod operations;
mod operators;
mod oracle;
mod parts;
mod products;
mod tensors;
mod triangles;
mod vectors;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

use crate::device::*;
use crate::guard::*;
use crate::matrix::*;
use crate::operations::*;
use crate::operators::*;
use crate::scalar::*;
use crate::status::SparringStatus::{self, *};
use crate::types::SparringType::{self, *};
use crate::vector::*;

fn text(p: *const c_char) -> String {
    unsafe { CStr::from_ptr(p) }.to_str().expect("UTF-8").to_owned()
}

/// The message of the last call, which must have failed with `status`.
#[track_caller]
fn refused(found: SparringStatus, status: SparringStatus) -> String {
    let message = text(sparring_last_error());
    assert_eq!(found, status, "{message}");
    assert!(!message.is_empty());
    message
}

#[track_caller]
fn ok(status: SparringStatus) {
    assert_eq!(status, SPARRING_OK, "{}", text(sparring_last_error()));
    assert_eq!(text(sparring_last_error()), "");
}

fn cpu(threads: u32, budget: u64) -> *mut SparringDevice {
    let mut cpu = null_mut();
    ok(unsafe { sparring_device_new(c"cpu".as_ptr(), threads, budget, &mut cpu) });
    cpu
}

/// A CSR matrix of any type.
#[track_caller]
fn csr<T>(
    ty: SparringType,
    nrows: u64,
    ncols: u64,
    row_ptr: &[u64],
    cols: &[u32],
    values: &[T],
) -> *mut SparringMatrix {
    assert_eq!((row_ptr.len() as u64, cols.len()), (nrows + 1, values.len()));
    let mut m = null_mut();
    let (values, nnz) = (values.as_ptr().cast::<c_void>(), cols.len() as u64);
    let (row_ptr, cols) = (row_ptr.as_ptr(), cols.as_ptr());
    ok(unsafe { sparring_matrix_from_csr(ty as u32, nrows, ncols, row_ptr, cols, values, nnz, &mut m) });
    m
}

/// Row pointers, columns and values, copied out.
#[track_caller]
fn copy<T: Default + Clone>(m: *const SparringMatrix) -> (Vec<u64>, Vec<u32>, Vec<T>) {
    let (mut nrows, mut ncols, mut nnz) = (0, 0, 0);
    ok(unsafe { sparring_matrix_shape(m, &mut nrows, &mut ncols) });
    ok(unsafe { sparring_matrix_nnz(m, &mut nnz) });
    let (mut p, mut j) = (vec![0; nrows as usize + 1], vec![0; nnz as usize]);
    let mut x = vec![T::default(); nnz as usize];
    let values = x.as_mut_ptr().cast();
    ok(unsafe { sparring_matrix_copy(m, p.as_mut_ptr(), nrows + 1, j.as_mut_ptr(), values, nnz) });
    (p, j, x)
}

/// [0 2 0; 1 0 3] as doubles.
fn small() -> *mut SparringMatrix {
    csr(SPARRING_F64, 2, 3, &[0, 1, 3], &[1, 0, 2], &[2.0, 1.0, 3.0])
}

/// A vector of any type.
#[track_caller]
fn vector<T>(ty: SparringType, len: u64, indices: &[u64], values: &[T]) -> *mut SparringVector {
    assert_eq!(indices.len(), values.len());
    let (mut v, nvals) = (null_mut(), indices.len() as u64);
    let (indices, values) = (indices.as_ptr(), values.as_ptr().cast());
    ok(unsafe { sparring_vector_from_entries(ty as u32, len, indices, values, nvals, &mut v) });
    v
}

/// Indices and values, copied out.
#[track_caller]
fn entries<T: Default + Clone>(v: *const SparringVector) -> (Vec<u64>, Vec<T>) {
    let mut nvals = 0;
    ok(unsafe { sparring_vector_nvals(v, &mut nvals) });
    let (mut i, mut x) = (vec![0; nvals as usize], vec![T::default(); nvals as usize]);
    ok(unsafe { sparring_vector_entries(v, i.as_mut_ptr(), x.as_mut_ptr().cast(), nvals) });
    (i, x)
}

fn empty_scalar(ty: SparringType) -> *mut SparringScalar {
    let mut s = null_mut();
    ok(unsafe { sparring_scalar_new(ty as u32, null(), &mut s) });
    s
}

fn scalar<T>(ty: SparringType, value: T) -> *mut SparringScalar {
    let mut s = null_mut();
    ok(unsafe { sparring_scalar_new(ty as u32, (&raw const value).cast(), &mut s) });
    s
}

/// The value of a scalar that has one.
fn value<T: Default>(s: *const SparringScalar) -> Option<T> {
    let (mut nvals, mut value) = (0, T::default());
    ok(unsafe { sparring_scalar_nvals(s, &mut nvals) });
    (nvals == 1).then(|| {
        ok(unsafe { sparring_scalar_get(s, (&raw mut value).cast()) });
        value
    })
}

#[track_caller]
fn binary(name: &CStr, a: SparringType, b: SparringType) -> *mut SparringBinaryOp {
    let mut op = null_mut();
    ok(unsafe { sparring_binary_op_new(name.as_ptr(), a as u32, b as u32, &mut op) });
    op
}

#[track_caller]
fn unary(name: &CStr, ty: SparringType, s: u32) -> *mut SparringUnaryOp {
    let mut op = null_mut();
    ok(unsafe { sparring_unary_op_new(name.as_ptr(), ty as u32, s, &mut op) });
    op
}

#[track_caller]
fn monoid(name: &CStr, ty: SparringType) -> *mut SparringMonoid {
    let mut monoid = null_mut();
    ok(unsafe { sparring_monoid_new(name.as_ptr(), ty as u32, &mut monoid) });
    monoid
}

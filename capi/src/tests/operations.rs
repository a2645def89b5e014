//! GraphBLAS operations through the C API.

use super::*;
use crate::dense::sparring_matrix_spmm;
use crate::explain::{sparring_explain, sparring_explanation};
use crate::operation::SparringDescriptor;
use crate::semirings::{SparringSemiring, sparring_semiring_free, sparring_semiring_new};

fn ring(name: &CStr, a: SparringType, b: SparringType) -> *mut SparringSemiring {
    let mut ring = null_mut();
    ok(unsafe { sparring_semiring_new(name.as_ptr(), a as u32, b as u32, &mut ring) });
    ring
}

fn new(ty: SparringType, nrows: u64, ncols: u64) -> *mut SparringMatrix {
    let mut m = null_mut();
    ok(unsafe { sparring_matrix_new(ty as u32, nrows, ncols, &mut m) });
    m
}

/// The entries of a matrix of int64_t as (row, column, value).
#[track_caller]
fn triplets(m: *const SparringMatrix) -> Vec<(usize, u32, i64)> {
    let (p, j, x) = copy::<i64>(m);
    let row = |at: usize| p.iter().rposition(|&start| start as usize <= at).unwrap();
    j.into_iter().zip(x).enumerate().map(|(at, (j, x))| (row(at), j, x)).collect()
}

/// The operands of the tests below, all int64_t.
struct Things {
    cpu: *mut SparringDevice,
    /// [1 2; . 3].
    a: *mut SparringMatrix,
    /// [. 10; 20 30].
    b: *mut SparringMatrix,
    /// (5, .) and (7, 11).
    x: *mut SparringVector,
    y: *mut SparringVector,
    ring: *mut SparringSemiring,
    plus: *mut SparringBinaryOp,
    minus: *mut SparringBinaryOp,
    square: *mut SparringUnaryOp,
    below: *mut SparringUnaryOp,
    sum: *mut SparringMonoid,
}

impl Things {
    fn new() -> Self {
        Self {
            cpu: cpu(2, 0),
            a: csr(SPARRING_I64, 2, 2, &[0, 2, 3], &[0, 1, 1], &[1i64, 2, 3]),
            b: csr(SPARRING_I64, 2, 2, &[0, 1, 3], &[1, 0, 1], &[10i64, 20, 30]),
            x: vector(SPARRING_I64, 2, &[0], &[5i64]),
            y: vector(SPARRING_I64, 2, &[0, 1], &[7i64, 11]),
            ring: ring(c"plus_times", SPARRING_I64, SPARRING_I64),
            plus: binary(c"plus", SPARRING_I64, SPARRING_I64),
            minus: binary(c"minus", SPARRING_I64, SPARRING_I64),
            square: unary(c"a * a", SPARRING_I64, 0),
            below: unary(c"a < 3", SPARRING_I64, 0),
            sum: monoid(c"plus", SPARRING_I64),
        }
    }
    /// The output of a call into an empty 2×2 matrix.
    #[track_caller]
    fn matrix(&self, call: impl FnOnce(*mut SparringMatrix) -> SparringStatus) -> Vec<(usize, u32, i64)> {
        let c = new(SPARRING_I64, 2, 2);
        ok(call(c));
        let found = triplets(c);
        ok(sparring_matrix_free(c));
        found
    }
    /// The output of a call into an empty vector of length 2.
    #[track_caller]
    fn vector(&self, call: impl FnOnce(*mut SparringVector) -> SparringStatus) -> Vec<(u64, i64)> {
        let c = vector::<i64>(SPARRING_I64, 2, &[], &[]);
        ok(call(c));
        let (i, x) = entries::<i64>(c);
        ok(sparring_vector_free(c));
        i.into_iter().zip(x).collect()
    }
}

impl Drop for Things {
    fn drop(&mut self) {
        ok(sparring_matrix_free(self.a));
        ok(sparring_matrix_free(self.b));
        ok(sparring_vector_free(self.x));
        ok(sparring_vector_free(self.y));
        ok(sparring_semiring_free(self.ring));
        ok(sparring_binary_op_free(self.plus));
        ok(sparring_binary_op_free(self.minus));
        ok(sparring_unary_op_free(self.square));
        ok(sparring_unary_op_free(self.below));
        ok(sparring_monoid_free(self.sum));
        ok(sparring_device_free(self.cpu));
    }
}

const TRANSPOSE_A: SparringDescriptor =
    SparringDescriptor { structure: 0, complement: 0, replace: 0, transpose_a: 1, transpose_b: 0, transposed: null() };
const TRANSPOSE_B: SparringDescriptor = SparringDescriptor { transpose_a: 0, transpose_b: 1, ..TRANSPOSE_A };

#[test]
fn every_operation_on_matrices_computes() {
    let t = Things::new();
    let (cpu, a, b, n, o) = (t.cpu, t.a, t.b, null(), null());
    let call = |c| unsafe { sparring_matrix_mxm(cpu, c, n, o, t.ring, a, b, null()) };
    assert_eq!(t.matrix(call), [(0, 0, 40), (0, 1, 70), (1, 0, 60), (1, 1, 90)]);
    let call = |c| unsafe { sparring_matrix_mxm(cpu, c, n, o, t.ring, a, b, &TRANSPOSE_B) };
    assert_eq!(t.matrix(call), [(0, 0, 20), (0, 1, 80), (1, 0, 30), (1, 1, 90)]);
    let call = |c| unsafe { sparring_matrix_ewise_add(cpu, c, n, o, t.minus, a, b, null()) };
    assert_eq!(t.matrix(call), [(0, 0, 1), (0, 1, -8), (1, 0, 20), (1, 1, -27)]);
    let call = |c| unsafe { sparring_matrix_ewise_mult(cpu, c, n, o, t.minus, a, b, &TRANSPOSE_A) };
    assert_eq!(t.matrix(call), [(1, 0, -18), (1, 1, -27)]);
    let call = |c| unsafe { sparring_matrix_apply(cpu, c, n, o, t.square, a, null()) };
    assert_eq!(t.matrix(call), [(0, 0, 1), (0, 1, 4), (1, 1, 9)]);
    let call = |c| unsafe { sparring_matrix_select(cpu, c, n, o, t.below, a, &TRANSPOSE_A) };
    assert_eq!(t.matrix(call), [(0, 0, 1), (1, 0, 2)]);
    let call = |c| unsafe { sparring_matrix_transpose(cpu, c, n, o, a, null()) };
    assert_eq!(t.matrix(call), [(0, 0, 1), (1, 0, 2), (1, 1, 3)]);
    let call = |c| unsafe { sparring_matrix_transpose(cpu, c, n, o, a, &TRANSPOSE_A) };
    assert_eq!(t.matrix(call), [(0, 0, 1), (0, 1, 2), (1, 1, 3)]);
    let call = |c| unsafe { sparring_matrix_update(cpu, c, n, o, a, null()) };
    assert_eq!(t.matrix(call), [(0, 0, 1), (0, 1, 2), (1, 1, 3)]);
    let (row, c) = (csr(SPARRING_I64, 1, 2, &[0, 2], &[0, 1], &[1i64, 2]), new(SPARRING_I64, 2, 4));
    ok(unsafe { sparring_matrix_kronecker(cpu, c, n, o, t.plus, row, b, null()) });
    assert_eq!(triplets(c), [(0, 1, 11), (0, 3, 12), (1, 0, 21), (1, 1, 31), (1, 2, 22), (1, 3, 32)]);
    ok(sparring_matrix_free(row));
    ok(sparring_matrix_free(c));
}

#[test]
fn every_operation_on_vectors_computes() {
    let t = Things::new();
    let (cpu, a, x, y, n, o) = (t.cpu, t.a, t.x, t.y, null(), null());
    let call = |c| unsafe { sparring_vector_mxv(cpu, c, n, o, t.ring, a, y, null()) };
    assert_eq!(t.vector(call), [(0, 29), (1, 33)]);
    let call = |c| unsafe { sparring_vector_mxv(cpu, c, n, o, t.ring, a, x, null()) };
    assert_eq!(t.vector(call), [(0, 5)]);
    let call = |c| unsafe { sparring_vector_vxm(cpu, c, n, o, t.ring, y, a, null()) };
    assert_eq!(t.vector(call), [(0, 7), (1, 47)]);
    let call = |c| unsafe { sparring_vector_vxm(cpu, c, n, o, t.ring, y, a, &TRANSPOSE_B) };
    assert_eq!(t.vector(call), [(0, 29), (1, 33)]);
    let call = |c| unsafe { sparring_vector_ewise_add(cpu, c, n, o, t.minus, x, y, null()) };
    assert_eq!(t.vector(call), [(0, -2), (1, 11)]);
    let call = |c| unsafe { sparring_vector_ewise_mult(cpu, c, n, o, t.minus, x, y, null()) };
    assert_eq!(t.vector(call), [(0, -2)]);
    let call = |c| unsafe { sparring_vector_apply(cpu, c, n, o, t.square, y, null()) };
    assert_eq!(t.vector(call), [(0, 49), (1, 121)]);
    let odd = unary(c"a > 7", SPARRING_I64, 0);
    let call = |c| unsafe { sparring_vector_select(cpu, c, n, o, odd, y, null()) };
    assert_eq!(t.vector(call), [(1, 11)]);
    ok(sparring_unary_op_free(odd));
    let call = |c| unsafe { sparring_vector_reduce(cpu, c, n, o, t.sum, a, null()) };
    assert_eq!(t.vector(call), [(0, 3), (1, 3)]);
    let call = |c| unsafe { sparring_vector_reduce(cpu, c, n, o, t.sum, a, &TRANSPOSE_A) };
    assert_eq!(t.vector(call), [(0, 1), (1, 5)]);
    let call = |c| unsafe { sparring_vector_update(cpu, c, n, o, y, null()) };
    assert_eq!(t.vector(call), [(0, 7), (1, 11)]);
}

/// c⟨mask⟩ ⊙= t for c = (100, 200, .), t = (1, ., 3) and a mask of (0, 1, 1), by the definition.
#[test]
fn masks_accumulators_and_replace_are_those_of_graphblas() {
    let t = Things::new();
    let source = vector(SPARRING_I64, 4, &[0, 2, 3], &[1i64, 3, 4]);
    // A stored zero at 0, and no entry at 3.
    let mask = vector(SPARRING_I64, 4, &[0, 1, 2], &[0i64, 9, 9]);
    let before = [Some(100), Some(200), None, Some(400)];
    let of_t = [Some(1), None, Some(3), Some(4)];
    for choice in 0..32u32 {
        let bit = |k: u32| choice >> k & 1;
        let d = SparringDescriptor { structure: bit(0), complement: bit(1), replace: bit(2), ..Default::default() };
        let (masked, accumulated) = (bit(3) == 1, bit(4) == 1);
        if !masked && d.complement == 1 {
            continue;
        }
        let allows = |i: usize| {
            let named = if d.structure == 1 { i < 3 } else { i == 1 || i == 2 };
            !masked || named != (d.complement == 1)
        };
        let expected: Vec<(u64, i64)> = (0..4usize)
            .filter_map(|i| {
                let written = match (accumulated, before[i], of_t[i]) {
                    (false, _, t) => t,
                    (true, Some(c), Some(t)) => Some(c - t),
                    (true, c, t) => c.or(t),
                };
                let kept = if masked && d.replace == 1 { None } else { before[i] };
                Some((i as u64, if allows(i) { written } else { kept }?))
            })
            .collect();
        let c = vector(SPARRING_I64, 4, &[0, 1, 3], &[100i64, 200, 400]);
        let (mask, accum) = (if masked { mask } else { null_mut() }, if accumulated { t.minus } else { null_mut() });
        ok(unsafe { sparring_vector_update(t.cpu, c, mask, accum, source, &d) });
        let (i, x) = entries::<i64>(c);
        assert_eq!(i.into_iter().zip(x).collect::<Vec<_>>(), expected, "{d:?}, {masked}, {accumulated}");
        ok(sparring_vector_free(c));
    }
    // The result may be an operand and the mask, of vectors and of matrices.
    ok(unsafe { sparring_vector_ewise_add(t.cpu, source, source, t.plus, t.plus, source, source, null()) });
    assert_eq!(entries::<i64>(source), (vec![0, 2, 3], vec![3, 9, 12]));
    ok(unsafe { sparring_matrix_mxm(t.cpu, t.a, t.a, null(), t.ring, t.a, t.a, null()) });
    assert_eq!(triplets(t.a), [(0, 0, 1), (0, 1, 8), (1, 1, 9)]);
    for v in [source, mask] {
        ok(sparring_vector_free(v));
    }
}

#[test]
fn folds_to_a_scalar_tell_nothing_from_the_identity() {
    let t = Things::new();
    let s = empty_scalar(SPARRING_I64);
    ok(unsafe { sparring_matrix_reduce_scalar(t.cpu, s, null(), t.sum, t.a) });
    assert_eq!(value::<i64>(s), Some(6));
    ok(unsafe { sparring_vector_reduce_scalar(t.cpu, s, t.minus, t.sum, t.y) });
    assert_eq!(value::<i64>(s), Some(6 - 18));
    // An empty reduction leaves an accumulated scalar unchanged, and empties another.
    let none = vector::<i64>(SPARRING_I64, 2, &[], &[]);
    ok(unsafe { sparring_vector_reduce_scalar(t.cpu, s, t.minus, t.sum, none) });
    assert_eq!(value::<i64>(s), Some(-12));
    ok(unsafe { sparring_vector_reduce_scalar(t.cpu, s, null(), t.sum, none) });
    assert_eq!(value::<i64>(s), None);
    // An empty scalar takes the result.
    ok(unsafe { sparring_vector_reduce_scalar(t.cpu, s, t.minus, t.sum, t.y) });
    assert_eq!(value::<i64>(s), Some(18));
    let real = empty_scalar(SPARRING_F64);
    let e = refused(unsafe { sparring_vector_reduce_scalar(t.cpu, real, null(), t.sum, t.y) }, SPARRING_TYPE);
    assert_eq!(e, "scalar: it is of SPARRING_F64, the monoid's type is SPARRING_I64");
    let sum = monoid(c"plus", SPARRING_F64);
    let e = refused(unsafe { sparring_matrix_reduce_scalar(t.cpu, real, null(), sum, t.a) }, SPARRING_TYPE);
    assert_eq!(e, "a: values are SPARRING_I64, those of plus SPARRING_F64");
    let less = binary(c"a < b", SPARRING_I64, SPARRING_I64);
    let e = refused(unsafe { sparring_matrix_reduce_scalar(t.cpu, s, less, t.sum, t.a) }, SPARRING_TYPE);
    assert!(e.starts_with("accum: a < b takes SPARRING_I64 and SPARRING_I64 and returns SPARRING_BOOL"), "{e}");
    ok(sparring_binary_op_free(less));
    ok(sparring_monoid_free(sum));
    ok(sparring_vector_free(none));
    for s in [s, real] {
        ok(sparring_scalar_free(s));
    }
}

#[test]
fn what_does_not_fit_is_refused_by_its_name() {
    let t = Things::new();
    let c = new(SPARRING_I64, 2, 2);
    let mut said = Vec::new();
    let mut says = |status: SparringStatus, expected: SparringStatus, words: &str| {
        let message = refused(status, expected);
        assert!(message.starts_with(words), "{message:?} is not: {words}");
        said.push(message);
    };
    let f = small();
    let wide = new(SPARRING_I64, 2, 3);
    let long = vector::<i64>(SPARRING_I64, 3, &[], &[]);
    unsafe {
        // Types.
        let call = sparring_matrix_mxm(t.cpu, c, null(), null(), t.ring, t.a, f, null());
        says(call, SPARRING_TYPE, "b: values are SPARRING_F64, those of plus_times SPARRING_I64");
        let call = sparring_matrix_ewise_add(t.cpu, c, null(), null(), t.plus, f, t.a, null());
        says(call, SPARRING_TYPE, "a: values are SPARRING_F64, those of plus SPARRING_I64");
        let call = sparring_matrix_update(t.cpu, f, null(), null(), t.a, null());
        says(call, SPARRING_TYPE, "c: values are SPARRING_F64, those of the result SPARRING_I64");
        let call = sparring_matrix_select(t.cpu, c, null(), null(), t.square, t.a, null());
        says(call, SPARRING_TYPE, "op: a * a returns SPARRING_I64, but select needs SPARRING_BOOL");
        let less = binary(c"a < b", SPARRING_I64, SPARRING_I64);
        let call = sparring_matrix_ewise_add(t.cpu, c, null(), null(), less, t.a, t.a, null());
        says(call, SPARRING_TYPE, "op: a < b takes SPARRING_I64 and SPARRING_I64 and returns SPARRING_BOOL");
        let call = sparring_matrix_update(t.cpu, c, null(), less, t.a, null());
        says(call, SPARRING_TYPE, "accum: a < b takes SPARRING_I64 and SPARRING_I64 and returns SPARRING_BOOL");
        ok(sparring_binary_op_free(less));
        // Shapes: of operands, of the result, of the mask.
        let call = sparring_matrix_mxm(t.cpu, c, null(), null(), t.ring, wide, t.a, null());
        says(call, SPARRING_SHAPE, "mxm: shapes do not agree: a is 2×3, b is 2×2");
        let call = sparring_matrix_ewise_mult(t.cpu, c, null(), null(), t.plus, t.a, wide, null());
        says(call, SPARRING_SHAPE, "ewise_mult: shapes do not agree: a is 2×2, b is 2×3");
        let call = sparring_matrix_mxm(t.cpu, c, null(), null(), t.ring, t.a, wide, null());
        says(call, SPARRING_SHAPE, "c: it is 2×2, the result is 2×3");
        let call = sparring_matrix_kronecker(t.cpu, c, null(), null(), t.plus, t.a, t.a, null());
        says(call, SPARRING_SHAPE, "c: it is 2×2, the result is 4×4");
        let call = sparring_matrix_transpose(t.cpu, wide, null(), null(), wide, null());
        says(call, SPARRING_SHAPE, "c: it is 2×3, the result is 3×2");
        let call = sparring_matrix_update(t.cpu, c, wide, null(), t.a, null());
        says(call, SPARRING_SHAPE, "mask: it is 2×3, c is 2×2");
        let call = sparring_vector_mxv(t.cpu, t.x, null(), null(), t.ring, t.a, long, null());
        says(call, SPARRING_SHAPE, "mxv: shapes do not agree: a is 2×2, b is 3×1");
        let call = sparring_vector_vxm(t.cpu, t.x, null(), null(), t.ring, long, t.a, null());
        says(call, SPARRING_SHAPE, "vxm: shapes do not agree: a is ");
        let call = sparring_vector_reduce(t.cpu, long, null(), null(), t.sum, wide, null());
        says(call, SPARRING_SHAPE, "c: it is 3×1, the result is 2×1");
        // Descriptors.
        let call = sparring_vector_vxm(t.cpu, t.x, null(), null(), t.ring, t.y, t.a, &TRANSPOSE_A);
        says(call, SPARRING_ARGUMENT, "descriptor: transpose_a is set, but a is not a matrix");
        let call = sparring_matrix_apply(t.cpu, c, null(), null(), t.square, t.a, &TRANSPOSE_B);
        says(call, SPARRING_ARGUMENT, "descriptor: transpose_b is set, but there is no b");
        let outside = SparringDescriptor { complement: 1, ..Default::default() };
        says(sparring_matrix_update(t.cpu, c, null(), null(), t.a, &outside), SPARRING_ARGUMENT, "mask: ");
        let with = |transposed| SparringDescriptor { transposed, ..Default::default() };
        let mxv = |d: SparringDescriptor| sparring_vector_mxv(t.cpu, t.x, null(), null(), t.ring, t.a, t.x, &d);
        let said = "transposed: it is 2×3 with 0 entries, the transpose is 2×2 with 3";
        says(mxv(with(wide)), SPARRING_ARGUMENT, said);
        let said = "transposed: a SparringMatrix is needed, the handle is of a SparringVector";
        says(mxv(with(t.x.cast())), SPARRING_INVALID_HANDLE, said);
        let call = sparring_matrix_transpose(t.cpu, c, null(), null(), t.a, &with(t.a));
        says(call, SPARRING_ARGUMENT, "transposed: transpose takes none");
        // Impossible sizes.
        let huge = new(SPARRING_I64, 2, 1 << 30);
        let call = sparring_matrix_kronecker(t.cpu, c, null(), null(), t.plus, huge, huge, null());
        says(call, SPARRING_SHAPE, "c: it is 2×2, the result is 4×1152921504606846976");
        ok(sparring_matrix_free(huge));
        // Handles.
        let call = sparring_matrix_mxm(null(), c, null(), null(), t.ring, t.a, t.a, null());
        says(call, SPARRING_NULL_POINTER, "device is NULL");
        let call = sparring_matrix_mxm(t.cpu, c, t.x.cast(), null(), t.ring, t.a, t.a, null());
        says(call, SPARRING_INVALID_HANDLE, "mask: a SparringMatrix is needed, the handle is of a SparringVector");
        let call = sparring_matrix_mxm(t.cpu, c, null(), t.ring.cast(), t.ring, t.a, t.a, null());
        says(call, SPARRING_INVALID_HANDLE, "accum: a SparringBinaryOp is needed, the handle is of a SparringSemiring");
        let call = sparring_vector_mxv(t.cpu, t.a.cast(), null(), null(), t.ring, t.a, t.x, null());
        says(call, SPARRING_INVALID_HANDLE, "c: a SparringVector is needed, the handle is of a SparringMatrix");
    }
    assert!(triplets(c).is_empty(), "a failed call leaves c as it was");
    for m in [c, f, wide] {
        ok(sparring_matrix_free(m));
    }
    ok(sparring_vector_free(long));
}

#[test]
fn threads_write_and_read_one_vector() {
    let t = Things::new();
    let c = vector(SPARRING_I64, 1000, &[], &[0i64; 0]);
    let one = vector(SPARRING_I64, 1000, &(0..1000).collect::<Vec<_>>(), &[1i64; 1000]);
    let (cpu, plus, addresses) = (t.cpu.addr(), t.plus.addr(), (c.addr(), one.addr()));
    let of = std::ptr::without_provenance_mut::<SparringVector>;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(move || {
                for _ in 0..20 {
                    let (cpu, plus) = (std::ptr::without_provenance(cpu), std::ptr::without_provenance(plus));
                    ok(unsafe { sparring_vector_update(cpu, of(addresses.0), null(), plus, of(addresses.1), null()) });
                    let mut values = vec![0i64; 1000];
                    let out = values.as_mut_ptr().cast();
                    ok(unsafe { sparring_vector_entries(of(addresses.0), null_mut(), out, 1000) });
                    assert!(values.iter().all(|x| *x == values[0]), "half of a write was seen");
                }
            });
        }
    });
    assert_eq!(entries::<i64>(c).1, [60; 1000]);
    for v in [c, one] {
        ok(sparring_vector_free(v));
    }
}

/// Explains what `calls` runs.
fn explained(calls: impl FnOnce()) -> String {
    ok(sparring_explain(1));
    calls();
    ok(sparring_explain(0));
    let mut length = 0;
    ok(unsafe { sparring_explanation(null_mut(), 0, &mut length) });
    let mut buffer = vec![0; length as usize + 1];
    ok(unsafe { sparring_explanation(buffer.as_mut_ptr(), length + 1, null_mut()) });
    text(buffer.as_ptr())
}

#[test]
fn calls_explain_what_they_run() {
    let t = Things::new();
    let (c, y) = (new(SPARRING_I64, 2, 2), vector::<i64>(SPARRING_I64, 2, &[], &[]));
    let mxm = || ok(unsafe { sparring_matrix_mxm(t.cpu, c, null(), null(), t.ring, t.a, t.b, null()) });
    mxm();
    let how = explained(|| {
        mxm();
        ok(unsafe { sparring_vector_mxv(t.cpu, y, t.x, t.plus, t.ring, t.a, t.y, null()) });
        let shape = unsafe { sparring_matrix_mxm(t.cpu, c, null(), null(), t.ring, t.a, null(), null()) };
        refused(shape, SPARRING_NULL_POINTER);
    });
    let heads: Vec<&str> = how.lines().filter(|line| !line.starts_with(' ')).collect();
    let (a, b) = ("2×2 with 3 entries as compressed rows", "length 2 with 2 entries as a full vector");
    assert_eq!(heads[0], format!("mxm: {a}; {a}"), "{how}");
    assert!(heads.contains(&&*format!("mxv: {a}; {b}")), "{how}");
    // The lines below a heading explain what ran.
    assert!(how.lines().nth(1).is_some_and(|line| line.starts_with("  ")), "{how}");
    // Nothing is recorded when recording is off, and a restart discards earlier records.
    mxm();
    assert_eq!(explained(|| {}), "");
    ok(sparring_explain(1));
    std::thread::scope(|scope| scope.spawn(|| assert_eq!(explained(|| {}), "")).join()).unwrap();
    let again = explained(mxm);
    assert!(again.starts_with("mxm: ") && !again.contains("mxv"), "{again}");
    let mut length = 0;
    let mut four = [1; 4];
    ok(unsafe { sparring_explanation(four.as_mut_ptr(), 4, &mut length) });
    assert_eq!((text(four.as_ptr()), length), ("mxm".into(), again.len() as u64));
    refused(unsafe { sparring_explanation(null_mut(), 1, null_mut()) }, SPARRING_NULL_POINTER);
    ok(sparring_matrix_free(c));
    ok(sparring_vector_free(y));
}

/// y ⊙= A ⊕.⊗ X of two columns.
fn spmm(
    t: &Things,
    y: &mut [i64],
    accum: *const SparringBinaryOp,
    x: &[i64],
    d: *const SparringDescriptor,
) -> SparringStatus {
    let (y, y_len, of_x) = (y.as_mut_ptr().cast(), y.len() as u64, SPARRING_I64 as u32);
    let (x, x_len) = (x.as_ptr().cast(), x.len() as u64);
    unsafe { sparring_matrix_spmm(t.cpu, y, y_len, accum, t.ring, t.a, of_x, x, x_len, 2, d) }
}

#[test]
fn a_sparse_matrix_times_a_dense_one() {
    let t = Things::new();
    let mut y = [-1; 4];
    ok(spmm(&t, &mut y, null(), &[1, 10, 2, 20], null()));
    assert_eq!(y, [5, 50, 6, 60]);
    ok(spmm(&t, &mut y, t.minus, &[1, 10, 2, 20], &TRANSPOSE_A));
    assert_eq!(y, [4, 40, -2, -20]);
    let how = explained(|| ok(spmm(&t, &mut y, null(), &[0; 4], null())));
    assert!(how.starts_with("spmm: 2×2 with 3 entries as compressed rows; 2×2 dense\n  "), "{how}");
    assert_eq!(refused(spmm(&t, &mut y, null(), &[0; 3], null()), SPARRING_LENGTH), "x: length is 3, expected 4");
    assert_eq!(refused(spmm(&t, &mut y[..2], null(), &[0; 4], null()), SPARRING_LENGTH), "y: length is 2, expected 4");
    let e = refused(spmm(&t, &mut y, null(), &[0; 4], &TRANSPOSE_B), SPARRING_ARGUMENT);
    assert_eq!(e, "descriptor: for a dense result, only transpose_a may be set");
    let call = |y: *mut c_void, x: *const c_void, ty: u32, len: u64, columns: u64| unsafe {
        sparring_matrix_spmm(t.cpu, y, len, null(), t.ring, t.a, ty, x, len, columns, null())
    };
    let (at, i64s) = (y.as_mut_ptr().cast(), SPARRING_I64 as u32);
    let e = refused(call(at, at, SPARRING_F64 as u32, 4, 2), SPARRING_TYPE);
    assert_eq!(e, "x_type: values are SPARRING_F64, those of plus_times SPARRING_I64");
    refused(call(null_mut(), at, i64s, 4, 2), SPARRING_NULL_POINTER);
    refused(call(at, null(), i64s, 4, 2), SPARRING_NULL_POINTER);
    refused(call(at, at, i64s, 4, u64::MAX), SPARRING_INDEX_OVERFLOW);
    ok(call(null_mut(), null(), i64s, 0, 0));
    assert_eq!(y, [0; 4]);
}

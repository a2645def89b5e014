//! Distances and neighbours through the C API, with results computed by hand.

use super::devices::{free, gpu, to, words};
use super::*;
use crate::distances::*;

/// (1 0 2 0), (0 3 2 0), (1 0 0 4).
fn three() -> *mut SparringMatrix {
    csr(SPARRING_F64, 3, 4, &[0, 2, 4, 6], &[0, 2, 1, 2, 0, 3], &[1.0, 2.0, 3.0, 2.0, 1.0, 4.0])
}

/// A row without entries, and (1 0 2 0).
fn two() -> *mut SparringMatrix {
    csr(SPARRING_F64, 2, 4, &[0, 0, 2], &[0, 2], &[1.0, 2.0])
}

/// The points 0, 1, 2, 1 of a line: ties at distance 1.
fn line() -> *mut SparringMatrix {
    csr(SPARRING_F64, 4, 1, &[0, 0, 1, 2, 3], &[0, 0, 0], &[1.0, 2.0, 1.0])
}

/// Among [`three`] and from them to [`two`], by `manhattan`.
const AMONG: [f64; 9] = [0.0, 4.0, 6.0, 4.0, 0.0, 10.0, 6.0, 10.0, 0.0];
const TO_TWO: [f64; 6] = [3.0, 0.0, 5.0, 4.0, 5.0, 6.0];

#[test]
fn a_formula_is_a_metric() {
    let (cpu, x) = (cpu(2, 0), three());
    let (status, d) = pairs::<f64>(cpu, c"abs(a-b)", (x, null()), None, 9);
    ok(status);
    assert_eq!(d, AMONG);
    let (status, _) = pairs::<f64>(cpu, c"abs(a-", (x, null()), None, 9);
    assert!(refused(status, SPARRING_FORMULA).contains('^'));
    let (status, _) = pairs::<f64>(cpu, c"a*b + 1", (x, null()), None, 9);
    assert!(refused(status, SPARRING_ARGUMENT).contains('1'));
    ok(sparring_matrix_free(x));
    ok(sparring_device_free(cpu));
}

type Matrix = *const SparringMatrix;
type Given = Option<SparringDistanceOptions>;

fn pointer(options: &Given) -> *const SparringDistanceOptions {
    options.as_ref().map_or(null(), std::ptr::from_ref)
}

fn pairs<T: Default + Clone>(
    device: *const SparringDevice,
    metric: &CStr,
    (x, y): (Matrix, Matrix),
    options: Given,
    len: usize,
) -> (SparringStatus, Vec<T>) {
    let mut d = vec![T::default(); len];
    let (p, options) = (d.as_mut_ptr().cast(), pointer(&options));
    let len = len as u64;
    let metric = metric.as_ptr();
    (unsafe { sparring_pairwise(device, metric, x, y, options, p, len, null_mut(), 0, null_mut()) }, d)
}

/// Neighbours of each row: indices and distances.
#[track_caller]
fn near(
    device: *const SparringDevice,
    k: u64,
    (x, y): (Matrix, Matrix),
    options: Given,
    len: usize,
) -> (u64, Vec<u32>, Vec<f64>) {
    let (mut ids, mut d, mut found) = (vec![99; len], vec![99.0; len], 99);
    let (i, p, metric) = (ids.as_mut_ptr(), d.as_mut_ptr().cast(), c"manhattan".as_ptr());
    let options = pointer(&options);
    let len = len as u64;
    ok(unsafe { sparring_knn(device, metric, k, x, y, options, i, p, len, &mut found, null_mut(), 0, null_mut()) });
    (found, ids, d)
}

fn graph(
    device: *const SparringDevice,
    k: u64,
    (x, y): (Matrix, Matrix),
    options: Given,
) -> (SparringStatus, *mut SparringMatrix) {
    let mut m = 16 as *mut SparringMatrix;
    let e = unsafe { sparring_knn_graph(device, c"manhattan".as_ptr(), k, x, y, pointer(&options), &mut m) };
    assert_eq!(m.is_null(), e != SPARRING_OK);
    (e, m)
}

fn within(
    device: *const SparringDevice,
    radius: f64,
    (x, y): (Matrix, Matrix),
    options: Given,
) -> (SparringStatus, *mut SparringMatrix) {
    let mut m = 16 as *mut SparringMatrix;
    let e = unsafe { sparring_radius(device, c"manhattan".as_ptr(), radius, x, y, pointer(&options), &mut m) };
    assert_eq!(m.is_null(), e != SPARRING_OK);
    (e, m)
}

fn others() -> Given {
    Some(SparringDistanceOptions { exclude_self: 1, ..Default::default() })
}

/// The contents of a copy, which is freed.
#[track_caller]
fn taken((status, m): (SparringStatus, *mut SparringMatrix)) -> (Vec<u64>, Vec<u32>, Vec<f64>) {
    ok(status);
    let found = copy(m);
    ok(sparring_matrix_free(m));
    found
}

#[test]
fn metrics_have_names() {
    let names: Vec<_> = (0..sparring_metric_count()).map(|i| text(sparring_metric_name(i))).collect();
    assert_eq!((names.len(), &names[0][..]), (26, "cosine"));
    assert!(sparring_metric_name(26).is_null() && sparring_metric_name(u64::MAX).is_null());
    // All names are accepted.
    let (cpu, x) = (cpu(1, 0), three());
    for i in 0..sparring_metric_count() {
        let name = unsafe { CStr::from_ptr(sparring_metric_name(i)) };
        let p = if name == c"minkowski" { 3.0 } else { 0.0 };
        let options = Some(SparringDistanceOptions { p, ..Default::default() });
        let (e, d) = pairs::<f64>(cpu, name, (x, null()), options, 9);
        ok(e);
        // Entries in common columns are equal here.
        assert!(d.iter().any(|&d| d != 0.0) || name == c"kl_intersection", "{name:?}");
    }
    free(&[x]);
    ok(sparring_device_free(cpu));
}

#[test]
fn all_distances_row_after_row() {
    let (cpu, x, y) = (cpu(2, 0), three(), two());
    let (e, d) = pairs::<f64>(cpu, c"manhattan", (x, null()), None, 9);
    ok(e);
    assert_eq!(d, AMONG);
    // By an alias, between two matrices, and into a larger array.
    let (e, d) = pairs::<f64>(cpu, c"l1", (x, y), None, 8);
    ok(e);
    assert_eq!(d, [&TO_TWO[..], &[0.0; 2]].concat());
    let floats = csr(SPARRING_F32, 3, 4, &[0, 2, 4, 6], &[0, 2, 1, 2, 0, 3], &[1f32, 2.0, 3.0, 2.0, 1.0, 4.0]);
    let (e, d) = pairs::<f32>(cpu, c"manhattan", (floats, null()), None, 9);
    ok(e);
    assert_eq!(d, AMONG.map(|d| d as f32));
    // The explanation, truncated.
    let (mut d, mut said, mut length) = ([0.0; 9], [1 as c_char; 200], 0);
    let p = d.as_mut_ptr().cast();
    let (dot, said_at) = (c"dot".as_ptr(), said.as_mut_ptr());
    ok(unsafe { sparring_pairwise(cpu, dot, x, null(), null(), p, 9, said_at, 200, &mut length) });
    assert_eq!(d, [5.0, 4.0, 1.0, 4.0, 13.0, 0.0, 1.0, 0.0, 17.0]);
    let whole = text(said.as_ptr());
    assert!(whole.len() as u64 == length && whole.contains("one pass"), "{whole}");
    // No rows, and no output array.
    let none = csr::<f64>(SPARRING_F64, 0, 4, &[0], &[], &[]);
    ok(unsafe { sparring_pairwise(cpu, dot, none, x, null(), null_mut(), 0, null_mut(), 0, null_mut()) });
    ok(unsafe { sparring_pairwise(cpu, dot, x, none, null(), null_mut(), 0, null_mut(), 0, null_mut()) });
    free(&[x, y, floats, none]);
    ok(sparring_device_free(cpu));
}

#[test]
fn options_say_how() {
    let cpu = cpu(1, 0);
    let one = |metric, x, options| {
        let (e, d) = pairs::<f64>(cpu, metric, (x, null()), Some(options), 4);
        ok(e);
        d[1]
    };
    let given = SparringDistanceOptions::default;
    // A row of a Pythagorean kind, 27 + 64 + 125 = 216, from one without entries.
    let cubes = csr(SPARRING_F64, 2, 3, &[0, 3, 3], &[0, 1, 2], &[3.0, 4.0, 5.0]);
    let d = one(c"minkowski", cubes, SparringDistanceOptions { p: 3.0, ..given() });
    assert!((d - 6.0).abs() < 1e-12, "{d}");
    assert_eq!(one(c"minkowski", cubes, SparringDistanceOptions { p: f64::INFINITY, ..given() }), 5.0);
    // Rows that differ by a factor.
    let scaled = csr(SPARRING_F64, 2, 1, &[0, 1, 2], &[0, 0], &[4.0, 9.0]);
    let normalize = |normalize| SparringDistanceOptions { normalize, ..given() };
    for (metric, zero) in [(c"hellinger", [false, true, false]), (c"jensenshannon", [true, true, false])] {
        for (code, zero) in (0..).zip(zero) {
            assert_eq!(one(metric, scaled, normalize(code)) == 0.0, zero, "{metric:?}, {code}");
        }
    }
    assert!((one(c"hellinger", scaled, given()) - 0.5f64.sqrt()).abs() < 1e-15);
    // 1 + 2⁻²⁴ + 2⁻²⁴ is 1 in float.
    let e = (-24f32).exp2();
    let small = csr(SPARRING_F32, 2, 3, &[0, 3, 6], &[0, 1, 2, 0, 1, 2], &[1.0, e, e, 1f32, 1.0, 1.0]);
    for (precision, expected) in [(0, 1.0 + 2.0 * e), (1, 1.0)] {
        let options = Some(SparringDistanceOptions { precision, ..given() });
        let (status, d) = pairs::<f32>(cpu, c"dot", (small, null()), options, 4);
        ok(status);
        assert_eq!(d[1], expected);
    }
    // Entries outside the metric's domain.
    let negative = csr(SPARRING_F64, 2, 1, &[0, 1, 2], &[0, 0], &[4.0, -9.0]);
    let message = refused(pairs::<f64>(cpu, c"hellinger", (negative, null()), None, 4).0, SPARRING_ARGUMENT);
    assert!(message.contains("row 1"), "{message}");
    assert!(one(c"hellinger", negative, SparringDistanceOptions { unchecked: 1, ..given() }).is_nan());
    free(&[cubes, scaled, small, negative]);
    ok(sparring_device_free(cpu));
}

#[test]
fn neighbours_at_equal_distance_come_in_order() {
    let (cpu, x) = (cpu(2, 0), line());
    let alone: (Matrix, Matrix) = (x, null());
    let ids = vec![0, 1, 3, 1, 3, 0, 2, 1, 3, 1, 3, 0];
    let distances = vec![0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
    assert_eq!(near(cpu, 3, alone, None, 12), (3, ids, distances));
    let ids = vec![1, 3, 3, 0, 1, 3, 1, 0];
    let distances = vec![1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0];
    assert_eq!(near(cpu, 2, alone, others(), 8), (2, ids, distances));
    // Fewer neighbours than requested, with the stride of the actual number.
    let (found, ids, _) = near(cpu, u64::MAX, alone, others(), 12);
    assert_eq!((found, &ids[..]), (3, &[1, 3, 2, 3, 0, 2, 1, 3, 0, 1, 0, 2][..]));
    assert_eq!(near(cpu, 0, alone, None, 0), (0, vec![], vec![]));
    // To other rows: 0 and 2 are equidistant from 1.
    let y = csr(SPARRING_F64, 2, 1, &[0, 1, 1], &[0], &[2.0]);
    assert_eq!(near(cpu, 1, (x, y), None, 4), (1, vec![1, 0, 0, 0], vec![0.0, 1.0, 0.0, 1.0]));
    // Only indices, only distances, and the explanation.
    let (mut ids, mut d, mut found, mut length) = ([9; 4], [9.0; 4], 0, 0);
    let (name, out) = (c"sqeuclidean".as_ptr(), d.as_mut_ptr().cast());
    let (i, none) = (ids.as_mut_ptr(), null_mut());
    ok(unsafe { sparring_knn(cpu, name, 1, x, y, null(), i, null_mut(), 4, &mut found, none, 0, none.cast()) });
    ok(unsafe { sparring_knn(cpu, name, 1, x, y, null(), null_mut(), out, 4, &mut found, none, 0, &mut length) });
    assert_eq!((ids, d, found), ([1, 0, 0, 0], [0.0, 1.0, 0.0, 1.0], 1));
    assert!(length > 20);
    free(&[x, y]);
    ok(sparring_device_free(cpu));
}

#[test]
fn neighbours_as_matrices() {
    let (cpu, x, y) = (cpu(2, 0), line(), csr(SPARRING_F64, 2, 1, &[0, 1, 1], &[0], &[2.0]));
    // Columns in order, not nearest first; a distance of 0 is an entry.
    let found = taken(graph(cpu, 2, (x, null()), others()));
    let columns = vec![1, 3, 0, 3, 1, 3, 0, 1];
    assert_eq!(found, (vec![0, 2, 4, 6, 8], columns, vec![1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0]));
    let found = taken(graph(cpu, 1, (x, y), None));
    assert_eq!(found, (vec![0, 1, 2, 3, 4], vec![1, 0, 0, 0], vec![0.0, 1.0, 0.0, 1.0]));

    let found = taken(within(cpu, 0.5, (x, null()), None));
    assert_eq!(found, (vec![0, 1, 3, 4, 6], vec![0, 1, 3, 2, 1, 3], vec![0.0; 6]));
    // The radius itself is within.
    let found = taken(within(cpu, 1.0, (x, null()), others()));
    let columns = vec![1, 3, 0, 2, 3, 1, 3, 0, 1, 2];
    assert_eq!(found, (vec![0, 2, 5, 7, 10], columns, vec![1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0]));
    let found = taken(within(cpu, -1.0, (x, y), None));
    assert_eq!(found, (vec![0; 5], vec![], vec![]));
    // A similarity: at least the radius.
    let mut m = null_mut();
    ok(unsafe { sparring_radius(cpu, c"dot".as_ptr(), 2.0, x, y, null(), &mut m) });
    assert_eq!(taken((SPARRING_OK, m)), (vec![0, 0, 1, 2, 3], vec![0, 0, 0], vec![2.0, 4.0, 2.0]));
    free(&[x, y]);
    ok(sparring_device_free(cpu));
}

/// The status of every function that compares rows, with sufficient output arrays.
fn each(
    device: *const SparringDevice,
    metric: *const c_char,
    (x, y): (Matrix, Matrix),
    options: Given,
) -> [SparringStatus; 4] {
    let o = pointer(&options);
    let (mut d, mut ids, mut found) = ([0.0; 16], [0; 16], 0);
    let (p, i, none) = (d.as_mut_ptr().cast::<c_void>(), ids.as_mut_ptr(), null_mut());
    let (mut a, mut b) = (16 as *mut SparringMatrix, 16 as *mut SparringMatrix);
    let statuses = unsafe {
        [
            sparring_radius(device, metric, 1.0, x, y, o, &mut b),
            sparring_knn_graph(device, metric, 2, x, y, o, &mut a),
            sparring_knn(device, metric, 2, x, y, o, i, p, 16, &mut found, none, 0, null_mut()),
            sparring_pairwise(device, metric, x, y, o, p, 16, none, 0, null_mut()),
        ]
    };
    assert!(a.is_null() && b.is_null());
    statuses
}

/// The message with which every function fails with this status.
#[track_caller]
fn all_refused(
    device: *const SparringDevice,
    metric: &CStr,
    rows: (Matrix, Matrix),
    options: Given,
    status: SparringStatus,
) -> String {
    let found = each(device, metric.as_ptr(), rows, options);
    let message = text(sparring_last_error());
    assert_eq!(found, [status; 4], "{message}");
    message
}

#[test]
fn wrong_questions_are_refused() {
    let (cpu, x, y) = (cpu(1, 0), three(), line());
    let ints = csr(SPARRING_I64, 3, 4, &[0, 0, 0, 1], &[0], &[1i64]);
    let floats = csr(SPARRING_F32, 1, 4, &[0, 1], &[0], &[1f32]);
    let rows: (Matrix, Matrix) = (x, null());
    let given = SparringDistanceOptions::default;
    let metric = c"manhattan";

    let e = all_refused(cpu, c"manhatten", rows, None, SPARRING_ARGUMENT);
    assert!(e.starts_with("metric: there is no \"manhatten\"; there are cosine, "), "{e}");
    let e = all_refused(cpu, c"minkowski", rows, None, SPARRING_ARGUMENT);
    assert_eq!(e, "options.p: minkowski needs a p of at least 1");
    for p in [0.5, f64::NAN] {
        let options = Some(SparringDistanceOptions { p, ..given() });
        let e = all_refused(cpu, c"minkowski", rows, options, SPARRING_ARGUMENT);
        assert_eq!(e, format!("options.p: {p} is below 1, where Minkowski is no distance"));
    }
    let options = Some(SparringDistanceOptions { p: 2.0, ..given() });
    let e = all_refused(cpu, metric, rows, options, SPARRING_ARGUMENT);
    assert_eq!(e, "options.p: manhattan has no parameter, but p is 2");
    let options = Some(SparringDistanceOptions { normalize: 3, ..given() });
    assert_eq!(all_refused(cpu, metric, rows, options, SPARRING_ARGUMENT), "options.normalize: 3 is none of 0, 1, 2");
    let options = Some(SparringDistanceOptions { precision: 2, ..given() });
    assert_eq!(all_refused(cpu, metric, rows, options, SPARRING_ARGUMENT), "options.precision: 2 is none of 0, 1");

    let e = all_refused(cpu, metric, (x, y), None, SPARRING_SHAPE);
    assert_eq!(e, "pairwise: shapes do not agree: x is 3×4, y is 4×1");
    let e = all_refused(cpu, metric, (x, floats), None, SPARRING_TYPE);
    assert_eq!(e, "y: values are SPARRING_F32, those of x are SPARRING_F64");
    for (x, y) in [(ints, null()), (ints, ints)] {
        let e = all_refused(cpu, metric, (x, y), None, SPARRING_TYPE);
        assert_eq!(e, "x: values are SPARRING_I64, distances are between rows of SPARRING_F32 or SPARRING_F64");
    }
    let e = all_refused(cpu, metric, (x, x), others(), SPARRING_ARGUMENT);
    assert!(e.starts_with("options.exclude_self: "), "{e}");
    let nan = csr(SPARRING_F64, 2, 1, &[0, 1, 2], &[0, 0], &[1.0, f64::NAN]);
    let e = all_refused(cpu, metric, (nan, null()), None, SPARRING_ARGUMENT);
    assert!(e.starts_with("x: row 1"), "{e}");
    let one = csr(SPARRING_F64, 1, 1, &[0, 1], &[0], &[1.0]);
    let e = all_refused(cpu, metric, (one, nan), None, SPARRING_ARGUMENT);
    assert!(e.starts_with("y: row 1"), "{e}");
    assert_eq!(refused(within(cpu, f64::NAN, rows, None).0, SPARRING_ARGUMENT), "radius: it is NaN");

    // Pointers.
    assert_eq!(all_refused(cpu, metric, (null(), y), None, SPARRING_NULL_POINTER), "x is NULL");
    assert_eq!(all_refused(null(), metric, rows, None, SPARRING_NULL_POINTER), "device is NULL");
    all_refused(cpu, metric, (cpu.cast(), null()), None, SPARRING_INVALID_HANDLE);
    let e = all_refused(cpu, metric, (x, cpu.cast()), None, SPARRING_INVALID_HANDLE);
    assert_eq!(e, "y: a SparringMatrix is needed, the handle is of a SparringDevice");
    all_refused(x.cast(), metric, rows, None, SPARRING_INVALID_HANDLE);
    assert_eq!(each(cpu, null(), rows, None), [SPARRING_NULL_POINTER; 4]);
    assert_eq!(text(sparring_last_error()), "metric is NULL");
    let name = metric.as_ptr();
    let e = unsafe { sparring_knn_graph(cpu, name, 1, x, null(), null(), null_mut()) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "graph is NULL");
    let e = unsafe { sparring_radius(cpu, name, 1.0, x, null(), null(), null_mut()) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "within is NULL");
    let none = null_mut();
    let e = unsafe {
        sparring_knn(cpu, name, 1, x, null(), null(), null_mut(), none, 0, null_mut(), null_mut(), 0, null_mut())
    };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "found is NULL");
    let pairs_at = |p, buffer| unsafe {
        sparring_pairwise(cpu, name, x, null(), null(), p, 9, buffer, if buffer.is_null() { 5 } else { 0 }, null_mut())
    };
    assert_eq!(refused(pairs_at(none, null_mut()), SPARRING_NULL_POINTER), "distances is NULL");
    assert!(refused(pairs_at(20 as *mut c_void, null_mut()), SPARRING_ARGUMENT).contains("multiple of 8"));
    let mut room = [0.0; 9];
    assert_eq!(refused(pairs_at(room.as_mut_ptr().cast(), null_mut()), SPARRING_NULL_POINTER), "buffer is NULL");
    free(&[x, y, ints, floats, nan, one]);
    ok(sparring_device_free(cpu));
}

#[test]
fn short_room_is_refused_with_numbers() {
    let (cpu, x) = (cpu(1, 0), line());
    let e = refused(pairs::<f64>(cpu, c"manhattan", (x, null()), None, 15).0, SPARRING_LENGTH);
    assert_eq!(e, "distances: length is 15, expected 16");
    let (mut ids, mut d, mut found) = ([9; 11], [9.0; 11], 9);
    let mut run = |ids: *mut u32, d: *mut c_void| unsafe {
        let name = c"manhattan".as_ptr();
        sparring_knn(cpu, name, 3, x, null(), null(), ids, d, 11, &mut found, null_mut(), 0, null_mut())
    };
    let e = refused(run(ids.as_mut_ptr(), null_mut()), SPARRING_LENGTH);
    assert_eq!(e, "ids: length is 11, expected 12");
    let e = refused(run(null_mut(), d.as_mut_ptr().cast()), SPARRING_LENGTH);
    assert_eq!(e, "distances: length is 11, expected 12");
    ok(run(null_mut(), null_mut()));
    assert_eq!((ids, d, found), ([9; 11], [9.0; 11], 3));
    free(&[x]);
    ok(sparring_device_free(cpu));
}

#[test]
fn budgets_are_kept() {
    // All distances of 1000 rows take 8 MB; the smaller of the two budgets applies.
    let row_ptr: Vec<u64> = (0..=1000).collect();
    let rows = csr(SPARRING_F64, 1000, 1, &row_ptr, &[0; 1000], &[1.0; 1000]);
    for (device, option, counts) in
        [(1u64 << 20, 0, 1 << 20), (0, 1000, 1000), (1 << 20, 1000, 1000), (1000, 1 << 20, 1000)]
    {
        let cpu = cpu(1, device);
        let options = Some(SparringDistanceOptions { memory_budget: option, ..Default::default() });
        let (e, _) = pairs::<f64>(cpu, c"manhattan", (rows, null()), options, 1_000_000);
        let e = refused(e, SPARRING_BUDGET);
        assert!(e.contains(&counts.to_string()), "{e}");
        if counts == 1000 {
            refused(graph(cpu, 10, (rows, null()), options).0, SPARRING_BUDGET);
        }
        refused(within(cpu, 1.0, (rows, null()), options).0, SPARRING_BUDGET);
        ok(sparring_device_free(cpu));
    }
    free(&[rows]);
}

#[test]
#[ignore = "needs a GPU"]
fn distances_on_a_gpu() {
    let gpu = gpu();
    let (cpu, x, y, points) = (cpu(1, 0), three(), two(), line());
    let (x_there, y_there, points_there) = (to(gpu, x), to(gpu, y), to(gpu, points));
    // Operands on the host, on the GPU, and mixed.
    for (x, y) in [(x, y), (x_there, y), (x, y_there), (x_there, y_there)] {
        let (e, d) = pairs::<f64>(gpu, c"manhattan", (x, null()), None, 9);
        ok(e);
        assert_eq!(d, AMONG);
        let (e, d) = pairs::<f64>(gpu, c"manhattan", (x, y), None, 6);
        ok(e);
        assert_eq!(d, TO_TWO);
        let (e, d) = pairs::<f64>(gpu, c"manhattan", (x, x), None, 9);
        ok(e);
        assert_eq!(d, AMONG);
    }
    let (mut d, mut length) = ([0.0; 9], 0);
    let p = d.as_mut_ptr().cast();
    ok(unsafe { sparring_pairwise(gpu, c"dot".as_ptr(), x, null(), null(), p, 9, null_mut(), 0, &mut length) });
    assert!(length > 20 && d[8] == 17.0);
    let none = csr::<f64>(SPARRING_F64, 0, 4, &[0], &[], &[]);
    let dot = c"dot".as_ptr();
    ok(unsafe { sparring_pairwise(gpu, dot, none, x, null(), null_mut(), 0, null_mut(), 0, null_mut()) });
    ok(unsafe { sparring_pairwise(gpu, dot, x, none, null(), null_mut(), 0, null_mut(), 0, null_mut()) });
    for rows in [points, points_there] {
        let alone: (Matrix, Matrix) = (rows, null());
        assert_eq!(near(gpu, 3, alone, None, 12), near(cpu, 3, (points, null()), None, 12));
        assert_eq!(near(gpu, 9, alone, others(), 12), near(cpu, 9, (points, null()), others(), 12));
        let made = [graph(gpu, 2, alone, others()), within(gpu, 1.0, alone, others())];
        let want = [graph(cpu, 2, (points, null()), others()), within(cpu, 1.0, (points, null()), others())];
        for ((status, made), want) in made.into_iter().zip(want) {
            ok(status);
            assert_eq!(words(made, sparring_matrix_device), words(rows, sparring_matrix_device));
            assert_eq!(taken((SPARRING_OK, to(cpu, made))), taken(want));
            free(&[made]);
        }
    }
    let e = all_refused(cpu, c"manhattan", (x_there, null()), None, SPARRING_ARGUMENT);
    assert_eq!(e, "x: the matrix is on cuda:0; sparring_matrix_to copies it to \"cpu\"");
    let e = all_refused(cpu, c"manhattan", (x, y_there), None, SPARRING_ARGUMENT);
    assert!(e.starts_with("y: the matrix is on cuda:0"), "{e}");
    all_refused(gpu, c"manhattan", (x_there, points_there), None, SPARRING_SHAPE);
    let ints = csr(SPARRING_I64, 3, 4, &[0, 0, 0, 1], &[0], &[1i64]);
    all_refused(gpu, c"manhattan", (ints, null()), None, SPARRING_TYPE);
    all_refused(gpu, c"manhattan", (x, x), others(), SPARRING_ARGUMENT);
    let options = Some(SparringDistanceOptions { memory_budget: 100, ..Default::default() });
    all_refused(gpu, c"manhattan", (x_there, null()), options, SPARRING_BUDGET);
    refused(within(gpu, f64::NAN, (x, null()), None).0, SPARRING_ARGUMENT);
    let e = refused(pairs::<f64>(gpu, c"manhattan", (x, null()), None, 8).0, SPARRING_LENGTH);
    assert_eq!(e, "distances: length is 8, expected 9");
    free(&[x, y, points, x_there, y_there, points_there, none, ints]);
    ok(sparring_device_free(cpu));
    ok(sparring_device_free(gpu));
}

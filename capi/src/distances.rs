//! Distances and nearest neighbours between rows of matrices, with metrics by name.

use std::ffi::{CString, c_char, c_void};
use std::sync::{Arc, LazyLock};

use sparring::Error;
use sparring::algebra::{SliceMut, Type};
use sparring::distance::{AnyMetric, Measure, Metric, Options, Precision};
use sparring::runtime::{Comparison, Matrix, Neighbours};

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix::SparringMatrix;
use crate::memory::{NewHandle, choice, fits, input, output, room, size, text, write, write_text};
use crate::sparse::Sparse;
use crate::status::SparringStatus;
use crate::types::{named, same_type};

/// Whether rows are divided by their sums before comparison.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringNormalize {
    /// Only for "jensenshannon".
    SPARRING_NORMALIZE_AUTO = 0,
    /// For "hellinger", "jensenshannon", "kl" and "kl_intersection".
    SPARRING_NORMALIZE_ON = 1,
    /// Never.
    SPARRING_NORMALIZE_OFF = 2,
}

/// Precision of the computation of distances. Results always have the type of the matrices.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringPrecision {
    /// double, whatever the type of the entries.
    SPARRING_PRECISION_DOUBLE = 0,
    /// The type of the entries: float for float.
    SPARRING_PRECISION_ENTRIES = 1,
}

/// Options of distances. All zero (`SparringDistanceOptions o = {0};`) are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SparringDistanceOptions {
    /// The exponent p ≥ 1 of "minkowski"; 0 for every other metric.
    pub p: f64,
    /// Limit in bytes for results, including those in your arrays, and workspace together: SPARRING_BUDGET beyond. 0:
    /// the budget of the device, which always applies. For a GPU this is device memory.
    pub memory_budget: u64,
    /// A SparringNormalize.
    pub normalize: u32,
    /// A SparringPrecision.
    pub precision: u32,
    /// Not 0: skips the check for entries outside the metric's domain. Distances of such rows are then NaN or
    /// meaningless.
    pub unchecked: u32,
    /// Not 0: a row is not its own neighbour. Only if `y` is NULL.
    pub exclude_self: u32,
}

/// # Safety
/// `p` is NULL, or points to options not written during the call.
unsafe fn options(p: *const SparringDistanceOptions) -> Fallible<(Option<f64>, Options)> {
    use {SparringNormalize::*, SparringPrecision::*};
    let o = if p.is_null() {
        SparringDistanceOptions::default()
    } else {
        // SAFETY: the caller's promise; every bit pattern is a SparringDistanceOptions.
        let given = unsafe { input(p, 1, "options")? };
        given[0]
    };
    let normalize = [
        (SPARRING_NORMALIZE_AUTO as u32, None),
        (SPARRING_NORMALIZE_ON as u32, Some(true)),
        (SPARRING_NORMALIZE_OFF as u32, Some(false)),
    ];
    let precisions = [
        (SPARRING_PRECISION_DOUBLE as u32, Precision::Double),
        (SPARRING_PRECISION_ENTRIES as u32, Precision::Entries),
    ];
    let options = Options {
        normalize: choice("options.normalize", o.normalize, &normalize)?,
        precision: choice("options.precision", o.precision, &precisions)?,
        unchecked: o.unchecked != 0,
        exclude_self: o.exclude_self != 0,
        memory_budget: (o.memory_budget != 0).then_some(o.memory_budget),
        ..Options::default()
    };
    Ok(((o.p != 0.0).then_some(o.p), options))
}

/// The metric and its options.
/// # Safety
/// `metric` is NULL or text ended by a zero, and `options` as for [`options`].
pub(crate) unsafe fn measure(
    metric: *const c_char,
    options: *const SparringDistanceOptions,
) -> Fallible<(AnyMetric, Options)> {
    // SAFETY: the caller's promise.
    let (name, (p, options)) = unsafe { (text(metric, "metric")?, self::options(options)?) };
    let measure = AnyMetric::named(name, p).map_err(|e| match e {
        Error::Argument { name: "p", message } => Fail::argument("options.p", message),
        other => Fail::from(other).naming("metric"),
    })?;
    Ok((measure, options))
}

/// The comparison: rows, metric and options.
/// # Safety
/// `metric` is NULL or text ended by a zero, and `options` as for [`options`].
unsafe fn comparison(
    op: &'static str,
    device: &SparringDevice,
    metric: *const c_char,
    x: *const SparringMatrix,
    y: *const SparringMatrix,
    options: *const SparringDistanceOptions,
) -> Fallible<Comparison> {
    // SAFETY: the caller's promise.
    let (measure, options) = unsafe { measure(metric, options)? };
    let measure = Arc::new(measure);
    let x = handle(x, "x")?.snapshot();
    let y = if y.is_null() { None } else { Some(handle(y, "y")?.snapshot()) };
    for (name, m) in std::iter::once(("x", &x)).chain(y.as_ref().map(|y| ("y", y))) {
        device.takes(name, m)?;
    }
    if let Some(y) = &y {
        same_type(("y", y), ("x", &x))?;
        // Checked before the number of distances is computed.
        if y.shape().1 != x.shape().1 {
            return Err(Fail::of_operands(Error::Shape { op, lhs: x.shape(), rhs: y.shape() }, "x", "y"));
        }
    }
    if !matches!(x.ty(), Type::F32 | Type::F64) {
        let message =
            format!("values are {}, distances are between rows of SPARRING_F32 or SPARRING_F64", named(x.ty()));
        return Err(Fail::of_type("x", message));
    }
    Ok(Comparison { measure, x, y, options })
}

/// The error of a comparison, with the argument names of the C API.
fn of_rows(e: Error, comparison: &Comparison) -> Fail {
    match e {
        Error::Argument { name: "entries", message } => Fail::argument(refused(comparison), message),
        Error::Argument { name: "exclude_self", message } => Fail::argument("options.exclude_self", message),
        // "radius" and the matrices have the same names in C.
        Error::Argument { .. } => e.into(),
        Error::Shape { .. } => Fail::of_operands(e, "x", "y"),
        other => Fail::from(other).naming("x"),
    }
}

/// The matrix with entries outside the metric's domain.
fn refused(comparison: &Comparison) -> &'static str {
    let domain = comparison.measure.domain();
    let within = |m: &Matrix| {
        let floats = m.csr::<f32>().map(|m| m.values().iter().all(|&v| domain.takes(v)));
        floats.or_else(|| m.csr::<f64>().map(|m| m.values().iter().all(|&v| domain.takes(v))))
    };
    match (within(&comparison.x), comparison.y.as_ref().map(within)) {
        (_, None) | (Some(false), _) | (None, Some(Some(true))) => "x",
        (Some(true), _) | (None, Some(Some(false))) => "y",
        // Both are on a GPU.
        (None, Some(None)) => "x, y",
    }
}

/// n·m, checked.
pub(crate) fn checked_product(what: &'static str, n: usize, m: usize) -> Fallible<usize> {
    let (needed, max) = (n as u128 * m as u128, usize::MAX as u128);
    n.checked_mul(m).ok_or_else(|| Error::IndexOverflow { what, needed, max }.into())
}

/// Writes neighbours to the caller's arrays.
/// # Safety
/// `ids` and `distances`, if not NULL, have `len` elements, those of distances of the matrices' type; `buffer` has
/// `capacity` bytes; `length` is NULL or points to room for a number, as `found` does.
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub(crate) unsafe fn neighbours_out(
    near: &Neighbours,
    ids: *mut u32,
    distances: *mut c_void,
    len: u64,
    found: *mut u64,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> Fallible {
    let found_distances = near.distances();
    // SAFETY: the caller's promise.
    unsafe {
        output(near.indices(), ids, len, "ids")?;
        if let Some(x) = found_distances.get::<f32>() {
            output(x, distances.cast::<f32>(), len, "distances")?;
        }
        if let Some(x) = found_distances.get::<f64>() {
            output(x, distances.cast::<f64>(), len, "distances")?;
        }
        write_text(near.explain(), buffer, capacity, length)?;
        write(found, near.k() as u64, "found")
    }
}

static NAMES: LazyLock<Vec<CString>> =
    LazyLock::new(|| Metric::ALL.iter().filter_map(|metric| CString::new(metric.name()).ok()).collect());

/// Number of metrics available by name in sparring_pairwise, sparring_knn and sparring_radius.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_metric_count() -> u64 {
    Metric::ALL.len() as u64
}

/// Name of a metric, for `index` from 0 to sparring_metric_count() - 1, or NULL beyond: "cosine", "euclidean",
/// "jaccard" and so on. "minkowski" needs the `p` of SparringDistanceOptions; "dot" is a similarity: larger is nearer.
/// The text is constant; do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_metric_name(index: u64) -> *const c_char {
    let name = usize::try_from(index).ok().and_then(|i| NAMES.get(i));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// D(i, j) = d(X(i, :), Y(j, :)): all distances between the rows of `x`, n×k, and of `y`, m×k, or between the rows of
/// `x` if `y` is NULL. Both have the same type, SPARRING_F32 or SPARRING_F64: SPARRING_TYPE otherwise. The metric is
/// given by name (see sparring_metric_name), or as a formula of a and b, such as "abs(a-b)/(a+b+1)", which is summed
/// over the columns in which either row has an entry. Entries outside the metric's domain are an error that names the
/// row. `options` may be NULL. `distances` has room for `distances_len` values of the matrices' type, and receives n·m
/// of them in row-major order; SPARRING_LENGTH before any computation if it is too short. The algorithm, and why it was
/// chosen, is written to `buffer` as by sparring_plan_explain (`capacity` 0 and `length` NULL to omit it). On a GPU the
/// last bits of sums may differ from the processor's, and results of more than 1 GiB are transferred in blocks of rows,
/// so they need not fit in device memory.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_pairwise(
    device: *const SparringDevice,
    metric: *const c_char,
    x: *const SparringMatrix,
    y: *const SparringMatrix,
    options: *const SparringDistanceOptions,
    distances: *mut c_void,
    distances_len: u64,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let device = handle(device, "device")?;
        // SAFETY: by the contract above `metric` points to text ended by a zero, and `options` to options or to
        // nothing.
        let comparison = unsafe { comparison("pairwise", &device, metric, x, y, options)? };
        let (n, m) = comparison.shape();
        let expected = checked_product("distances", n, m)?;
        // SAFETY: by the contract above `distances` has room for `distances_len` elements of this type, of which zeros
        // are values.
        let explain = unsafe {
            if comparison.x.ty() == Type::F32 {
                let out = room(distances.cast::<f32>(), expected, distances_len, "distances")?;
                device.machine.distances_into(&comparison, &mut SliceMut::of(out))
            } else {
                let out = room(distances.cast::<f64>(), expected, distances_len, "distances")?;
                device.machine.distances_into(&comparison, &mut SliceMut::of(out))
            }
        };
        let explain = explain.map_err(|e| of_rows(e, &comparison))?;
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { write_text(&explain, buffer, capacity, length) }
    })
}

/// The `k` nearest rows of `y` for each of the n rows of `x`, or of `x` itself if `y` is NULL (each row is then among
/// its own neighbours, unless `exclude_self`). Never stores all distances. Matrices, `metric` and `options` as for
/// sparring_pairwise. `*found` receives the number of neighbours per row: `k`, or the number of rows if smaller. The
/// neighbours of row i, nearest first, are `ids[p]` at `distances[p]` for p from i·found to (i + 1)·found - 1; ties are
/// ordered by row number. `ids` and `distances` have room for `len` elements each and receive n·found, distances in the
/// matrices' type; SPARRING_LENGTH before any computation if they are too short. Either may be NULL to omit it. The
/// algorithm, and why it was chosen, is written to `buffer` as by sparring_plan_explain (`capacity` 0 and `length` NULL
/// to omit it).
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "arrays come with their lengths")]
pub unsafe extern "C" fn sparring_knn(
    device: *const SparringDevice,
    metric: *const c_char,
    k: u64,
    x: *const SparringMatrix,
    y: *const SparringMatrix,
    options: *const SparringDistanceOptions,
    ids: *mut u32,
    distances: *mut c_void,
    len: u64,
    found: *mut u64,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `found` points to room for a number.
        unsafe { write(found, 0, "found")? };
        let device = handle(device, "device")?;
        // SAFETY: by the contract above `metric` points to text ended by a zero, and `options` to options or to
        // nothing.
        let comparison = unsafe { comparison("knn", &device, metric, x, y, options)? };
        let k = size(k, "k")?;
        let expected = checked_product("ids, distances", comparison.shape().0, comparison.neighbours(k))?;
        for (wanted, name) in [(!ids.is_null(), "ids"), (!distances.is_null(), "distances")] {
            if wanted {
                fits(expected, len, name)?;
            }
        }
        let near = device.machine.neighbours(&comparison, k).map_err(|e| of_rows(e, &comparison))?;
        // SAFETY: by the contract above both arrays, if not NULL, have `len` elements, those of distances of the
        // matrices' type; `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number, as
        // `found` does.
        unsafe { neighbours_out(&near, ids, distances, len, found, buffer, capacity, length) }
    })
}

/// The nearest neighbour graph: the result of sparring_knn as an n×m matrix, with an entry (i, j) for each neighbour j
/// of row i whose value is the distance, possibly 0. Columns are sorted. On a GPU the result is on the device of `x`.
/// `*graph` receives the handle of a new matrix, NULL on failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_knn_graph(
    device: *const SparringDevice,
    metric: *const c_char,
    k: u64,
    x: *const SparringMatrix,
    y: *const SparringMatrix,
    options: *const SparringDistanceOptions,
    graph: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `graph` points to room for a handle.
        let out = unsafe { NewHandle::at(graph, "graph")? };
        let device = handle(device, "device")?;
        // SAFETY: by the contract above `metric` points to text ended by a zero, and `options` to options or to
        // nothing.
        let comparison = unsafe { comparison("knn", &device, metric, x, y, options)? };
        let k = size(k, "k")?;
        let graph = device.machine.neighbours(&comparison, k).map_err(|e| of_rows(e, &comparison))?.graph()?;
        out.give(if comparison.x.is_on_host() { graph } else { device.machine.upload(&graph)? }.into())
    })
}

/// The rows of `y`, or of `x` if `y` is NULL, within distance `radius` of each row of `x` (for "dot", a similarity: at
/// least `radius`), as an n×m matrix: an entry (i, j) for each neighbour, whose value is the distance, possibly 0.
/// Columns are sorted. Matrices, `metric` and `options` as for sparring_pairwise. A NaN radius is SPARRING_ARGUMENT. On
/// a GPU the result is on the device of `x`. `*within` receives the handle of a new matrix, NULL on failure; free it
/// with sparring_matrix_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_radius(
    device: *const SparringDevice,
    metric: *const c_char,
    radius: f64,
    x: *const SparringMatrix,
    y: *const SparringMatrix,
    options: *const SparringDistanceOptions,
    within: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `within` points to room for a handle.
        let out = unsafe { NewHandle::at(within, "within")? };
        let device = handle(device, "device")?;
        // SAFETY: by the contract above `metric` points to text ended by a zero, and `options` to options or to
        // nothing.
        let comparison = unsafe { comparison("radius", &device, metric, x, y, options)? };
        let within = device.machine.within(&comparison, radius).map_err(|e| of_rows(e, &comparison))?;
        out.give(if comparison.x.is_on_host() { within.download()? } else { within }.into())
    })
}

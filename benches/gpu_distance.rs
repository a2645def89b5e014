//! Distances and nearest neighbours on the GPU, for generated sets of vectors in single precision.
//!
//! ```sh
//! cargo bench --features testing --bench gpu_distance -- [--only CASE] [--metric NAME,NAME|all] [--reps N] [--k N]
//!     [--single] [--self] [--sizes small|full] [--queries N] [--baselines]
//!     [--baseline-rows N] [--limit-ms N] [--describe]
//! ```
//! X is a copy of the first `--queries` rows of Y. By default, the 15 metrics of the paper are measured, with KL
//! both as in the paper and in its usual form; `all` is every metric of the library.
//!
//! **Small** (the default): one JSON line per case and metric. Times are median milliseconds by the wall clock, device
//! idle before and after: preparation of rows already on the device (check, norms, entries, transpose, index); all
//! distances of prepared rows into an existing matrix; both together, with allocation and release of the result; the k
//! nearest neighbours of prepared rows, downloaded to the host; and these with preparation. Each time is also given as
//! billions of pairs per second. The line names the algorithm and three floors, the largest of which is `floor_ms`:
//! products at the shared memory rate without bank conflicts, entries of Y read from the L2 cache at 5.5 TB/s (assumed,
//! not measured), and the result written at 4.0 TB/s. `--single` sums in f32. `--self` compares Y with itself, half of
//! the pairs where the metric is symmetric (floors are those of all pairs).
//!
//! **Full**: only nearest neighbours, at the sizes of the paper's Table 2, for the first `--queries` rows (8192). In
//! the line, `of` is the total number of rows, and `seconds_all` the time for all of them: measured if all are queries,
//! else as described by `seconds_all_is`. Shapes, mean degrees and roughly the share of pairs with a common column are
//! the paper's, but degrees spread less than in the real sets: by a factor of 7, not up to 24,000 entries.
//!
//! `--baselines` measures other kernels in the same run, in f32 on the same matrices on the device:
//! - `paper`: Nolet et al. §3.3. Where the metric is an expanded product, this is one pass of the hybrid CSR + COO
//!   kernel into a dense result, without the norms and the finalizer that it would also need; else their two passes
//!   over the union. Each layout of a row in shared memory is tried on some rows, and the fastest is measured.
//! - `naive_iterate`, `naive_sort`: §3.2.2 and §3.2.1, for metrics that need the union, for KL and for dot.
//!
//! A baseline gets as many rows of X as fit into `--limit-ms` (2000), at most `--baseline-rows`. Rates are compared:
//! `ratio` is its time per pair over ours with preparation, `ratio_prepared` over ours without. At full size, ours
//! finds neighbours, while a baseline only writes distances.
//!
//! `--describe` prints the sets, without a device.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::time::Instant;

use serde_json::{Value, json};
use sparring::algebra::{AbsDiff, MaxFromZero, Mismatch, Monoid, MulOp, Plus, Real, Ring, Times, Union};
use sparring::distance::{CanberraDiff, JensenShannonDiff, KlTerm, Lesser, Metric, Options, PowDiff, Precision};
use sparring::gpu::testing::{NaiveKind, UnionStrategy, naive_union_mxm, row_products_with, union_mxm_with};
use sparring::gpu::{DeviceCsr, DeviceDense};
use sparring::sparse::Dense;
use sparring::{Csr, Cuda, Error, Result};
use sparring_generate::{self as generate, gen_py};

/// The 15 metrics of the paper; KL in its form and in the usual one.
const METRICS: [Metric; 16] = [
    Metric::Dot,
    Metric::Cosine,
    Metric::Correlation,
    Metric::Euclidean,
    Metric::Hellinger,
    Metric::Jaccard,
    Metric::Dice,
    Metric::RussellRao,
    Metric::KlIntersection,
    Metric::Kl,
    Metric::Manhattan,
    Metric::Canberra,
    Metric::Hamming,
    Metric::Minkowski(3.0),
    Metric::JensenShannon,
    Metric::Chebyshev,
];

/// Rows, columns, degree, seed and skew for [`gen_py::docs`].
type Shape = (u64, u64, u64, u64, f64);
/// The paper's Table 2. Degrees reproduce its densities; skews approximate the share of pairs with a common column:
/// MovieLens 57 %, NY Times 98 %, scRNA 100 %, 3-grams of SEC Edgar 24 to 43 %.
const FULL: [(&str, Shape); 4] = [
    ("movielens", (283_228, 193_886, 132, 51, 1.8)),
    ("edgar", (663_000, 858_000, 8, 81, 5.5)),
    ("nytimes", (299_752, 102_660, 320, 61, 1.8)),
    ("scrna", (66_000, 26_485, 2_620, 71, 0.5)),
];

/// Measurement options.
struct How {
    reps: usize,
    k: usize,
    single: bool,
    own: bool,
    baselines: bool,
    baseline_rows: usize,
    limit_ms: f64,
}

/// The vectors to compare.
struct Set {
    name: String,
    x: Csr<f32>,
    y: Csr<f32>,
    /// Number of common columns over all pairs of rows of X and Y.
    products: f64,
    generated_s: f64,
}

/// Wall-clock milliseconds of `work`, including the wait for the device, and its result.
fn once<T>(cuda: &Cuda, mut work: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
    cuda.synchronize()?;
    let start = Instant::now();
    let result = work()?;
    cuda.synchronize()?;
    Ok((start.elapsed().as_secs_f64() * 1e3, result))
}

/// Median milliseconds of `work`; the first run does not count unless it takes seconds.
fn wall<T>(cuda: &Cuda, reps: usize, mut work: impl FnMut() -> Result<T>) -> Result<f64> {
    let (first, _) = once(cuda, &mut work)?;
    let mut times = vec![];
    let mut spent = first;
    while times.len() < reps && (spent < 3000.0 || times.is_empty() && first < 3000.0) {
        let (ms, _) = once(cuda, &mut work)?;
        times.push(ms);
        spent += ms;
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied().unwrap_or(first))
}

/// The first rows of `a`.
fn first_rows(a: &Csr<f32>, count: usize) -> Result<Csr<f32>> {
    let end = a.row_ptr()[count];
    Csr::new(count, a.ncols(), a.row_ptr()[..=count].to_vec(), a.col_idx()[..end].to_vec(), a.values()[..end].to_vec())
}

fn products(x: &Csr<f32>, y: &Csr<f32>) -> f64 {
    let mut rows_with = vec![0u64; y.ncols()];
    y.col_idx().iter().for_each(|&j| rows_with[j as usize] += 1);
    x.col_idx().iter().map(|&j| rows_with[j as usize]).sum::<u64>() as f64
}

/// Billions of pairs per second.
fn rate(pairs: f64, ms: f64) -> f64 {
    pairs / ms / 1e6
}

/// Adds the fields of `more` to `line`.
fn extend(line: &mut Value, more: Value) {
    if let (Value::Object(line), Value::Object(more)) = (line, more) {
        line.extend(more);
    }
}

/// The floors in milliseconds: shared memory, L2 cache, the result.
fn floors(cuda: &Cuda, set: &Set, single: bool, pairs: f64) -> [f64; 3] {
    let accumulator = if single { 4.0 } else { 8.0 };
    // 128 bytes per cycle and multiprocessor; each multiplication reads and writes its sum.
    let shared_rate = f64::from(cuda.limits().multiprocessors) * 1.755e9 * 128.0 / (2.0 * accumulator);
    let l2 = set.products * (4.0 + accumulator) / 5.5e12;
    [set.products / shared_rate * 1e3, l2 * 1e3, pairs * 4.0 / 4.0e12 * 1e3]
}

fn options(how: &How) -> Options {
    Options { precision: if how.single { Precision::Entries } else { Precision::Double }, ..Options::default() }
}

/// The fields common to all lines of a set.
fn head(set: &Set, metric: Metric, how: &How, (n, m): (usize, usize)) -> Value {
    json!({
        "op": "distance", "case": set.name, "metric": metric.name(), "lib": "sparring", "n": n, "m": m,
        "ncols": set.y.ncols(), "nnz_x": set.x.nnz(), "nnz_y": set.y.nnz(), "single": how.single, "self": how.own,
        "products": set.products, "products_per_pair": set.products / (n as f64 * m as f64), "k": how.k,
    })
}

/// Our times at a size whose result fits the device. Returns billions of pairs per second with and without preparation,
/// and the distances.
fn measure(cuda: &Cuda, set: &Set, metric: Metric, how: &How) -> Result<([f64; 2], Dense<f32>)> {
    let options = options(how);
    let x = cuda.upload(&set.x)?;
    let y = if how.own { None } else { Some(cuda.upload(&set.y)?) };
    let y = y.as_ref();
    let search = || cuda.neighbours(metric, &x).to(y).options(options).k(how.k).eval();
    let prepared = || cuda.neighbours(metric, &x).to(y).options(options).prepare();
    let start = Instant::now();
    let rows = prepared()?;
    let mut out = rows.all()?;
    cuda.synchronize()?;
    let first = start.elapsed().as_secs_f64() * 1e3;
    let prepare = wall(cuda, how.reps, &prepared)?;
    let pairwise = wall(cuda, how.reps, || rows.all_into(&mut out))?;
    let total = wall(cuda, how.reps, || cuda.distances(metric, &x).to(y).options(options).eval())?;
    let knn = wall(cuda, how.reps, || rows.nearest(how.k))?;
    let knn_total = wall(cuda, how.reps, &search)?;
    let d: Dense<f32> = cuda.download_dense(&out)?;
    let checksum: f64 = d.values().iter().map(|&v| f64::from(v)).filter(|v| v.is_finite()).sum();

    let (n, m) = rows.shape();
    let pairs = n as f64 * m as f64;
    let [shared, l2, result] = floors(cuda, set, how.single, pairs);
    let (floor, knn_floor) = (shared.max(l2).max(result), shared.max(l2));
    let mut line = head(set, metric, how, (n, m));
    extend(
        &mut line,
        json!({
            "first_ms": first, "prepare_ms": prepare, "pairwise_ms": pairwise, "total_ms": total,
            "knn_ms": knn, "knn_total_ms": knn_total,
            "gpairs": rate(pairs, pairwise), "gpairs_total": rate(pairs, total),
            "gpairs_knn": rate(pairs, knn), "gpairs_knn_total": rate(pairs, knn_total),
            "knn_over_pairwise": knn / pairwise, "gproducts": set.products / pairwise / 1e6,
            "floor_shared_ms": shared, "floor_l2_ms": l2, "floor_result_ms": result,
            "floor_ms": floor, "over_floor": pairwise / floor, "knn_over_floor": knn / knn_floor,
            "checksum": checksum, "chosen": rows.explain(), "device": cuda.limits().name,
        }),
    );
    println!("{line}");
    Ok(([rate(pairs, total), rate(pairs, pairwise)], d))
}

/// Our times at full size: neighbours of some rows among all rows.
fn measure_full(cuda: &Cuda, set: &Set, metric: Metric, how: &How) -> Result<[f64; 2]> {
    let options = options(how);
    let whole = set.x.nrows() == set.y.nrows();
    let x = cuda.upload(&set.x)?;
    let y = if whole { None } else { Some(cuda.upload(&set.y)?) };
    let y = y.as_ref();
    let search = || cuda.neighbours(metric, &x).to(y).options(options).k(how.k).eval();
    let prepared = || cuda.neighbours(metric, &x).to(y).options(options).prepare();
    cuda.reset_peak_memory()?;
    let start = Instant::now();
    let near = search()?;
    let first = start.elapsed().as_secs_f64() * 1e3;
    let peak = cuda.peak_memory()?;
    let prepare = wall(cuda, how.reps, &prepared)?;
    let rows = prepared()?;
    let knn = wall(cuda, how.reps, || rows.nearest(how.k))?;
    let (n, m) = rows.shape();
    drop(rows);
    let total = wall(cuda, how.reps, &search)?;
    let checksum: f64 = near.distances().iter().map(|&v| f64::from(v)).filter(|v| v.is_finite()).sum();

    let pairs = n as f64 * m as f64;
    let [shared, l2, _] = floors(cuda, set, how.single, pairs);
    let floor = shared.max(l2);
    let all = if whole { total } else { prepare + knn * (m as f64 / n as f64) } / 1e3;
    let mut line = head(set, metric, how, (n, m));
    extend(
        &mut line,
        json!({
            "sizes": "full", "queries": n, "of": m, "generated_s": set.generated_s,
            "first_ms": first, "prepare_ms": prepare, "knn_ms": knn, "knn_total_ms": total,
            "gpairs_knn": rate(pairs, knn), "gpairs_knn_total": rate(pairs, total), "gproducts": set.products / knn / 1e6,
            "floor_shared_ms": shared, "floor_l2_ms": l2, "floor_ms": floor, "knn_over_floor": knn / floor,
            "seconds": total / 1e3, "seconds_all": all,
            "seconds_all_is": if whole { "measured" } else { "extrapolated: preparation + neighbours · of / queries" },
            "peak_mb": peak as f64 / 1e6, "checksum": checksum, "chosen": near.explain, "device": cuda.limits().name,
        }),
    );
    println!("{line}");
    Ok([rate(pairs, total), rate(pairs, knn)])
}

/// The time of a baseline, and its number of rows of X.
#[derive(Clone)]
struct Taken {
    baseline: &'static str,
    rows: usize,
    ms: f64,
    chosen: String,
    tried: Value,
    /// The distances of the first row, if they need no finalizer.
    first_row: Vec<f64>,
}

/// A baseline for some rows of X.
type RunBy<'a, W, K> = dyn Fn(&DeviceCsr<W>, K) -> Result<DeviceDense<W>> + 'a;
/// A metric with measured baselines, and their times.
type Measured = (&'static str, Vec<Taken>);
/// Cache of measurements: metrics whose baselines are the same kernels share them.
type Known = HashMap<(TypeId, bool), Measured>;

/// Runs the baselines of a metric.
struct Baselines<'a> {
    cuda: &'a Cuda,
    set: &'a Set,
    how: &'a How,
    metric: Metric,
    known: &'a mut Known,
}

impl Baselines<'_> {
    /// Number of rows of X that `run` processes within the time limit, and their milliseconds.
    fn bounded<W: Real>(
        &self,
        limit_ms: f64,
        reps: usize,
        run: &dyn Fn(&DeviceCsr<W>) -> Result<DeviceDense<W>>,
    ) -> Result<(usize, f64, Vec<f64>)> {
        // Limits results to 8 GB.
        let most = (8 << 30) / (4 * self.set.y.nrows()).max(1);
        let most = most.min(self.how.baseline_rows).min(self.set.x.nrows());
        let mut rows = most.min(16);
        loop {
            let x = self.cuda.upload(&first_rows(&self.set.x, rows)?)?;
            let Some(x) = (&x as &dyn Any).downcast_ref::<DeviceCsr<W>>() else {
                let why = "baselines are measured in f32".into();
                return Err(Error::Unsupported { what: format!("{} in another type", self.metric), why });
            };
            drop(run(x)?);
            let (ms, out) = once(self.cuda, || run(x))?;
            let wanted = (rows as f64 * 0.8 * limit_ms / ms) as usize;
            if rows == most || wanted < 2 * rows {
                let m = self.set.y.nrows();
                let first_row = self.cuda.download_dense(&out)?;
                let first_row = first_row.values()[..m].iter().map(|v| v.as_f64()).collect();
                drop(out);
                let ms = if reps > 1 { wall(self.cuda, reps, || run(x))? } else { ms };
                return Ok((rows, ms, first_row));
            }
            rows = wanted.min(most).min(64 * rows);
        }
    }

    /// The paper's kernels, with each layout of a row tried.
    fn paper<W: Real>(&self, run: &RunBy<'_, W, UnionStrategy>) -> Result<Option<Taken>> {
        let mut tried = json!({});
        let mut best: Option<(f64, UnionStrategy)> = None;
        for strategy in [UnionStrategy::Dense, UnionStrategy::Hash] {
            let name = format!("{strategy:?}").to_lowercase();
            match self.bounded(self.how.limit_ms / 8.0, 1, &|x| run(x, strategy)) {
                Ok((rows, ms, _)) => {
                    let gpairs = rate(rows as f64 * self.set.y.nrows() as f64, ms);
                    extend(&mut tried, json!({ name: gpairs }));
                    if best.is_none_or(|(most, _)| gpairs > most) {
                        best = Some((gpairs, strategy));
                    }
                }
                Err(Error::Unsupported { why, .. }) => extend(&mut tried, json!({ name: why })),
                Err(e) => return Err(e),
            }
        }
        let Some((_, strategy)) = best else { return Ok(None) };
        let (rows, ms, first_row) = self.bounded(self.how.limit_ms, self.how.reps, &|x| run(x, strategy))?;
        Ok(Some(Taken { baseline: "paper", rows, ms, chosen: format!("{strategy:?}"), tried, first_row }))
    }

    fn naive<W: Real>(&self, kind: NaiveKind, run: &RunBy<'_, W, NaiveKind>) -> Result<Option<Taken>> {
        let baseline = match kind {
            NaiveKind::IterateSorted => "naive_iterate",
            NaiveKind::ExpandSortContract => "naive_sort",
        };
        match self.bounded(self.how.limit_ms, 1, &|x| run(x, kind)) {
            Ok((rows, ms, first_row)) => {
                Ok(Some(Taken { baseline, rows, ms, chosen: format!("{kind:?}"), tried: Value::Null, first_row }))
            }
            Err(Error::Unsupported { why, .. }) => {
                let line = json!({ "op": "baseline", "baseline": baseline, "case": self.set.name,
                    "metric": self.metric.name(), "unsupported": why });
                println!("{line}");
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Y on the device, as numbers of type `W`.
    fn y<W: Real>(&self) -> Result<DeviceCsr<W>> {
        let y = self.cuda.upload(&self.set.y)?;
        (&y as &dyn Any).downcast_ref::<DeviceCsr<W>>().cloned().ok_or_else(|| Error::Unsupported {
            what: format!("{} in another type", self.metric),
            why: "baselines are measured in f32".into(),
        })
    }

    fn both_naive<W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>>(
        &self,
        namm: Union<P, X>,
        y: &DeviceCsr<W>,
    ) -> Result<Vec<Taken>> {
        let mut all = vec![];
        for kind in [NaiveKind::IterateSorted, NaiveKind::ExpandSortContract] {
            all.extend(self.naive::<W>(kind, &|x, kind| naive_union_mxm(self.cuda, namm, x, y, kind))?);
        }
        Ok(all)
    }

    fn union<W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>>(
        self,
        namm: Union<P, X>,
    ) -> Result<Measured> {
        let y = self.y::<W>()?;
        let paper = self.paper::<W>(&|x, strategy| union_mxm_with(self.cuda, namm, x, &y, strategy))?;
        let naive = self.both_naive(namm, &y)?;
        Ok((self.metric.entry().name, paper.into_iter().chain(naive).collect()))
    }
}

impl Baselines<'_> {
    /// Products over common columns with ⊗ `term`; with `exact`, the naive kernels too.
    fn products<X: MulOp<A = f32, B = f32, Out = f32>>(self, term: X) -> Result<Measured> {
        self.products_and(term, None::<Times<f32>>)
    }
    fn products_and<X, E>(self, term: X, exact: Option<E>) -> Result<Measured>
    where
        X: MulOp<A = f32, B = f32, Out = f32>,
        E: MulOp<A = f32, B = f32, Out = f32>,
    {
        let key = (TypeId::of::<X>(), exact.is_some());
        // A metric measured with naive kernels also has the paper's.
        if let Some((of, taken)) = self.known.get(&key).or_else(|| self.known.get(&(key.0, true))) {
            let taken = taken.iter().filter(|t| exact.is_some() || t.baseline == "paper").cloned().collect();
            return Ok((of, taken));
        }
        let y = self.y::<f32>()?;
        let ring = Ring(Plus::<f32>::new(), term);
        let run = |x: &DeviceCsr<f32>, strategy| row_products_with(self.cuda, ring, x, &y, Some(strategy));
        let mut all: Vec<_> = self.paper::<f32>(&run)?.into_iter().collect();
        if let Some(exact) = exact {
            all.extend(self.both_naive(Union(Plus::<f32>::new(), exact), &y)?);
        }
        let found = (self.metric.entry().name, all);
        self.known.insert(key, found.clone());
        Ok(found)
    }
    /// The metric with measured baselines, and their times. A ⊗ that 0 does not annihilate takes two passes over the
    /// union.
    fn run(self) -> Result<Measured> {
        use Metric as M;
        let plus = Plus::<f32>::new();
        match self.metric {
            M::Manhattan => self.union(Union(plus, AbsDiff::new())),
            M::Canberra => self.union(Union(plus, CanberraDiff::new())),
            M::Hamming | M::HammingCount => self.union(Union(plus, Mismatch::new())),
            M::Minkowski(p) if p == p.trunc() => self.union(Union(plus, PowDiff::<f32, u32>::new(p as u32))),
            M::Minkowski(p) => self.union(Union(plus, PowDiff::<f32, f64>::new(p))),
            M::JensenShannon => self.union(Union(plus, JensenShannonDiff::new())),
            M::Chebyshev => self.union(Union(MaxFromZero::<f32>::new(), AbsDiff::new())),
            M::Dot => self.products_and(Times::new(), Some(Times::new())),
            M::Kl => self.products_and(Times::new(), Some(KlTerm::new())),
            M::KlIntersection => self.products_and(KlTerm::new(), Some(KlTerm::new())),
            M::BrayCurtis | M::Ruzicka => self.products(Lesser::new()),
            _ => self.products(Times::new()),
        }
    }
}

/// Baselines of a metric compared with `ours`, billions of pairs per second with and without preparation.
fn compare(
    cuda: &Cuda,
    set: &Set,
    metric: Metric,
    how: &How,
    known: &mut Known,
    ours: [f64; 2],
    distances: Option<&Dense<f32>>,
) -> Result<()> {
    let (of, all) = Baselines { cuda, set, how, metric, known }.run()?;
    for taken in all {
        let m = set.y.nrows();
        let pairs = taken.rows as f64 * m as f64;
        let gpairs = rate(pairs, taken.ms);
        // Sums that need no finalizer.
        let plain = matches!(metric, Metric::Dot | Metric::Manhattan | Metric::Canberra | Metric::Chebyshev);
        let agrees = distances.filter(|_| plain).map(|d| {
            let close = |(&a, &b): (&f64, &f32)| (a - f64::from(b)).abs() <= 1e-3 * (1.0 + a.abs());
            taken.first_row.len() == m && taken.first_row.iter().zip(d.row(0)).all(close)
        });
        let line = json!({
            "op": "baseline", "baseline": taken.baseline, "case": set.name, "metric": metric.name(), "measured_as": of,
            "rows": taken.rows, "n": set.x.nrows(), "m": m, "ms": taken.ms, "gpairs": gpairs,
            "ratio": ours[0] / gpairs, "ratio_prepared": ours[1] / gpairs, "ours_single": how.single, "agrees": agrees,
            "without": if plain { "nothing" } else { "norms and finalizer that it would need" },
            "chosen": taken.chosen, "tried_gpairs": taken.tried,
        });
        println!("{line}");
    }
    Ok(())
}

/// Runs all sets.
fn sets(
    full: bool,
    only: &str,
    own: bool,
    queries: Option<usize>,
    mut each: impl FnMut(&Set) -> Result<()>,
) -> Result<()> {
    let mut one = |name: &str, queries: usize, make: &dyn Fn() -> Result<Csr<f64>>| {
        if !name.contains(only) {
            return Ok(());
        }
        let start = Instant::now();
        let y = make()?.map(|&x| x as f32)?;
        let generated_s = start.elapsed().as_secs_f64();
        let x = if own || queries >= y.nrows() { y.clone() } else { first_rows(&y, queries)? };
        let products = products(&x, &y);
        each(&Set { name: name.into(), x, y, products, generated_s })
    };
    if full {
        for (name, (nrows, ncols, degree, seed, skew)) in FULL {
            one(name, queries.unwrap_or(8192), &|| gen_py::docs(nrows, ncols, degree, seed, skew))?;
        }
    } else {
        for &name in generate::DISTANCE {
            let queries = queries.or(generate::queries(name)).unwrap_or(usize::MAX);
            one(name, queries, &|| generate::matrix(name))?;
        }
    }
    Ok(())
}

/// The metrics of a list of names: `all` for every metric, and those of the paper without a list.
fn metrics(names: Option<&String>) -> Result<Vec<Metric>> {
    let named = |name: &str| Metric::named(name, (name == "minkowski").then_some(3.0));
    match names.map(String::as_str) {
        None => Ok(METRICS.into()),
        Some("all") => Ok(Metric::ALL.into()),
        Some(names) => names.split(',').map(named).collect(),
    }
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let after = |flag: &str| args.iter().position(|a| a == flag).and_then(|i| args.get(i + 1));
    let number = |flag: &str| after(flag).and_then(|n| n.parse::<usize>().ok());
    let has = |flag: &str| args.iter().any(|a| a == flag);
    let full = after("--sizes").is_some_and(|s| s == "full");
    let how = How {
        reps: number("--reps").unwrap_or(if full { 3 } else { 7 }),
        k: number("--k").unwrap_or(10),
        single: has("--single"),
        own: has("--self") && !full,
        baselines: has("--baselines"),
        baseline_rows: number("--baseline-rows").unwrap_or(usize::MAX),
        limit_ms: number("--limit-ms").map_or(2000.0, |ms| ms as f64),
    };
    let metrics = metrics(after("--metric"))?;
    let (only, queries) = (after("--only").map_or("", |s| s), number("--queries"));
    if has("--describe") {
        return sets(full, only, how.own, queries, |set| {
            let (n, (m, ncols)) = (set.x.nrows(), set.y.shape());
            let line = json!({
                "case": set.name, "n": n, "m": m, "ncols": ncols, "nnz_x": set.x.nnz(), "nnz_y": set.y.nnz(),
                "mean_row": set.y.nnz() as f64 / m as f64, "products_per_pair": set.products / (n as f64 * m as f64),
                "generated_s": set.generated_s,
            });
            println!("{line}");
            Ok(())
        });
    }
    let cuda = Cuda::new(0)?;
    sets(full, only, how.own, queries, |set| {
        let mut known = Known::new();
        for &metric in &metrics {
            let (ours, distances) = if full {
                (measure_full(&cuda, set, metric, &how)?, None)
            } else {
                let (ours, distances) = measure(&cuda, set, metric, &how)?;
                (ours, Some(distances))
            };
            if how.baselines {
                compare(&cuda, set, metric, &how, &mut known, ours, distances.as_ref())?;
            }
        }
        cuda.trim()?;
        Ok(())
    })
}

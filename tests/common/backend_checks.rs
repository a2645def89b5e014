//! Checks that every backend must pass: operations compared with the textbook, through the trait that graph algorithms
//! use.
//!
//! Where a backend may fold in its own order, the caller says how results are compared: [`Compare`].

use sparring::algebra::*;
use sparring::backend::{Backend, Container};
use sparring::distance::Metric;
use sparring::graph::bfs_levels;
use sparring::par::Threads;
use sparring::sparse::SparseVec;
use sparring::{Cpu, Csr, Error, Vector};

use super::arbitrary::{AnyPair, AnyPattern, Draw, Rng};
use super::rings::{CountPaths, Either, Paths, SumPlaces};
use super::{Same, check, check_invariants, identical, reference};

pub(crate) type Outcome = Result<(), String>;

pub(crate) fn text(e: Error) -> String {
    e.to_string()
}

/// Whether a result is acceptable: arguments are `found`, `want`, and the folded values.
pub(crate) type Compare<T> = fn(&T, &T, &[T]) -> bool;

/// Bitwise: the same fold order, or ⊕ is exact in any order.
pub(crate) fn bit_for_bit<T: Same>(found: &T, want: &T, _: &[T]) -> bool {
    found.same(want)
}
/// Sums in any order. A sum of n terms t is within (n − 1)·ε/2·Σ|t| of the exact sum, to first order; hence two sums
/// differ by at most n·ε·Σ|t|. Source: Higham 2002, "Accuracy and Stability of Numerical Algorithms", §4.2.
pub(crate) fn sum_in_any_order(found: &f64, want: &f64, terms: &[f64]) -> bool {
    let size: f64 = terms.iter().filter(|t| t.is_finite()).map(|t| t.abs()).sum();
    // Finite terms may overflow in one order and not in another. Infinite terms and NaN give the same result in any
    // order.
    found.same(want)
        || terms.len() > 1 && (size.is_infinite() || (found - want).abs() <= terms.len() as f64 * f64::EPSILON * size)
}
/// Minima and maxima: the fold order shows only in the sign of a zero.
pub(crate) fn same_number(found: &f64, want: &f64, _: &[f64]) -> bool {
    found == want
}
/// `Any` gives one of the folded values.
pub(crate) fn one_of_them<T: Same>(found: &T, want: &T, terms: &[T]) -> bool {
    if terms.is_empty() { found.same(want) } else { terms.iter().any(|t| found.same(t)) }
}

/// A dense vector; another seed gives other values.
pub(crate) fn dense<T: Draw>(len: usize, seed: u64) -> Vec<T> {
    (0..len).map(|i| T::draw(&mut Rng(seed ^ i as u64))).collect()
}
/// A sparse vector: one row of an awkward matrix.
pub(crate) fn sparse<T: Draw>(len: usize, seed: u64) -> SparseVec<T> {
    let row: Csr<T> = AnyPattern::of_shape(&mut Rng(seed), 1, len).matrix(seed);
    SparseVec::new(len, row.col_idx().to_vec(), row.values().to_vec()).expect("a vector")
}

pub(crate) fn check_vector<T: Same>(found: &[T], want: &[T]) -> Outcome {
    let same = found.len() == want.len() && found.iter().zip(want).all(|(x, y)| x.same(y));
    if same { Ok(()) } else { Err(format!("{found:?}, expected {want:?}")) }
}
pub(crate) fn check_sparse<T: Value + Same>(found: SparseVec<T>, want: &reference::Table<T>) -> Outcome {
    // Rebuilt from its parts, so that the invariant is checked.
    let (n, (indices, values)) = (found.len(), found.into_parts());
    let row = SparseVec::new(n, indices, values).map_err(text)?;
    check(&Csr::from_row_vectors(n, &[row]).map_err(text)?, want, true)
}
/// A full vector on the device.
fn up<B: Backend, T: Value>(on: &B, x: &[T]) -> Result<B::Vector<T>, Error> {
    on.upload_vector(&Vector::full(x.to_vec())?)
}
/// A vector with few entries on the device.
fn up_list<B: Backend, T: Value>(on: &B, x: &SparseVec<T>) -> Result<B::Vector<T>, Error> {
    on.upload_vector(&Vector::new(x.len(), x.indices().to_vec(), x.values().to_vec())?)
}
/// A downloaded vector, `absent` where it has no entry.
fn down<B: Backend, T: Value>(on: &B, x: &B::Vector<T>, absent: T) -> Result<Vec<T>, Error> {
    on.download_vector(x)?.to_dense(absent)
}
fn down_list<B: Backend, T: Value>(on: &B, x: &B::Vector<T>) -> Result<SparseVec<T>, Error> {
    on.download_vector(x)?.to_sparse()
}
/// Entries exactly where `has` holds.
fn check_places<T: Value>(x: &Vector<T>, has: impl Fn(usize) -> bool) -> Outcome {
    match (0..x.len()).find(|&i| x.get(i).is_some() != has(i)) {
        Some(i) => Err(format!("place {i}: {:?}", x.get(i))),
        None => Ok(()),
    }
}

/// Row folds; `terms(i)` are the values folded for row i.
fn check_folds<T: Same>(
    found: &[T],
    want: &[T],
    compare: impl Fn(&T, &T, &[T]) -> bool,
    terms: impl Fn(usize) -> Vec<T>,
) -> Outcome {
    if found.len() != want.len() {
        return Err(format!("{} values, expected {}", found.len(), want.len()));
    }
    match (0..want.len()).find(|&i| !compare(&found[i], &want[i], &terms(i))) {
        Some(i) => Err(format!("row {i} is {:?}, expected {:?} of {:?}", found[i], want[i], terms(i))),
        None => Ok(()),
    }
}

/// No mask, a mask, and its complement.
fn masks(len: usize, seed: u64) -> Vec<Option<(Vec<bool>, bool)>> {
    let bits: Vec<bool> = dense(len, seed);
    vec![None, Some((bits.clone(), false)), Some((bits, true))]
}
fn lets(mask: &Option<(Vec<bool>, bool)>) -> impl Fn(usize) -> bool + '_ {
    move |i| mask.as_ref().is_none_or(|(bits, complement)| bits[i] != *complement)
}

/// As `compare`, or floating-point sums in another order: a product with a transposed matrix folds in the order of the
/// product with the other orientation.
fn transposed<T: Same + 'static>(compare: Compare<T>, found: &T, want: &T, terms: &[T]) -> bool {
    fn float(x: &dyn std::any::Any) -> Option<f64> {
        x.downcast_ref().copied()
    }
    let sum = || {
        let terms = terms.iter().map(|x| float(x)).collect::<Option<Vec<_>>>()?;
        Some(sum_in_any_order(&float(found)?, &float(want)?, &terms))
    };
    compare(found, want, terms) || sum() == Some(true)
}

/// A·x and xᵀ·B, masked and unmasked, also for matrices given by their transposes. `compare` is for A·x and for
/// xᵀ·(Bᵀ)ᵀ; every backend folds xᵀ·B in the order of k.
pub(crate) fn products<B: Backend, R: Semiring>(
    on: &B,
    ring: R,
    a: &Csr<Lhs<R>>,
    b: &Csr<Rhs<R>>,
    seed: u64,
    compare: Compare<Out<R>>,
) -> Outcome
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    let run = || -> Result<Outcome, Error> {
        let (x, left) = (dense::<Rhs<R>>(a.ncols(), seed), sparse::<Lhs<R>>(b.nrows(), seed));
        let (on_a, on_b) = (on.upload(a)?, on.upload(b)?);
        let (on_x, on_left) = (up(on, &x)?, up_list(on, &left)?);
        let term = |i: usize, (&k, &value): (&u32, &Lhs<R>)| {
            let at = At { i: V(i as u64), k: V(u64::from(k)), j: V(0) };
            ring.mul().mul::<Host>(V(value), V(x[k as usize]), at).0
        };
        let (on_at, on_bt) = (on.transpose(&on_a).eval()?, on.transpose(&on_b).eval()?);
        // Rows of the doubly transposed matrix are sorted.
        let flips = |mask: Option<(Vec<bool>, bool)>| [(mask.clone(), false), (mask, a.pattern().is_sorted())];
        for (mask, flip) in masks(a.nrows(), !seed).into_iter().flat_map(flips) {
            let product = on.mxv(ring, if flip { &on_at } else { &on_a }, &on_x);
            let product = if flip { product.transpose_a() } else { product };
            let y = match &mask {
                None => product.eval()?,
                Some((bits, false)) => product.mask(&up(on, bits)?).eval()?,
                Some((bits, true)) => product.mask(&up(on, bits)?).complement().eval()?,
            };
            let host = on.download_vector(&y)?;
            if let Err(e) = check_places(&host, |i| lets(&mask)(i) && !a.row(i).0.is_empty()) {
                return Ok(Err(format!("mxv, mask {mask:?}, transposed {flip}: {e}")));
            }
            let want = reference::mxv(ring, a, &x, lets(&mask));
            let terms = |i: usize| {
                let (ks, values) = a.row(i);
                if lets(&mask)(i) { ks.iter().zip(values).map(|entry| term(i, entry)).collect() } else { vec![] }
            };
            let found = host.to_dense(<R::Add as Monoid>::IDENTITY)?;
            let same = |x: &_, y: &_, of: &[_]| if flip { transposed(compare, x, y, of) } else { compare(x, y, of) };
            if let Err(e) = check_folds(&found, &want, same, terms) {
                return Ok(Err(format!("mxv, mask {mask:?}, transposed {flip}: {e}")));
            }
        }
        for mask in masks(b.ncols(), !seed) {
            let product = on.vxm(ring, &on_left, &on_b);
            let y = match &mask {
                None => product.eval()?,
                Some((bits, false)) => product.mask(&up(on, bits)?).eval()?,
                Some((bits, true)) => product.mask(&up(on, bits)?).complement().eval()?,
            };
            let want = reference::vxm(ring, &left, b, lets(&mask));
            let nnz = on.nnz(&y)?;
            if nnz != want.entries.len() {
                return Ok(Err(format!("vxm: {nnz} entries, expected {}", want.entries.len())));
            }
            if let Err(e) = check_sparse(down_list(on, &y)?, &want) {
                return Ok(Err(format!("vxm, mask {mask:?}: {e}")));
            }
            let product = on.vxm(ring, &on_left, &on_bt).transpose_b();
            let y = match &mask {
                None => product.eval()?,
                Some((bits, false)) => product.mask(&up(on, bits)?).eval()?,
                Some((bits, true)) => product.mask(&up(on, bits)?).complement().eval()?,
            };
            let y = down_list(on, &y)?;
            let places: Vec<_> = y.indices().iter().map(|&j| (0, j as usize)).collect();
            if places != want.entries.keys().copied().collect::<Vec<_>>() {
                return Ok(Err(format!("vxm of a transpose, mask {mask:?}: entries at {places:?}")));
            }
            let terms = |p: usize| {
                let j = y.indices()[p];
                let of = left.indices().iter().zip(left.values()).filter_map(|(&k, &x)| {
                    let (js, values) = b.row(k as usize);
                    let q = js.iter().position(|l| *l == j)?;
                    let at = At { i: V(0), k: V(u64::from(k)), j: V(u64::from(j)) };
                    Some(ring.mul().mul::<Host>(V(x), V(values[q]), at).0)
                });
                of.collect()
            };
            let sums: Vec<_> = want.entries.values().copied().collect();
            let same = |x: &_, y: &_, of: &[_]| transposed(compare, x, y, of);
            if let Err(e) = check_folds(y.values(), &sums, same, terms) {
                return Ok(Err(format!("vxm of a transpose, mask {mask:?}: {e}")));
            }
        }
        Ok(Ok(()))
    };
    run().map_err(text)?
}

/// A·B, also under a mask and its complement; the mask has values of another type.
pub(crate) fn masked_products<B: Backend, R: Semiring>(on: &B, ring: R, pair: &AnyPair) -> Outcome
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    let (a, b, mask) = (pair.a(), pair.b(), pair.mask.matrix::<bool>(1));
    let up = || Ok((on.upload(&a)?, on.upload(&b)?, on.upload(&mask)?));
    let (on_a, on_b, on_mask) = up().map_err(text)?;
    let get = |c: Result<B::Matrix<Out<R>>, Error>| c.and_then(|c| on.download(&c)).map_err(text);
    check(&get(on.mxm(ring, &on_a, &on_b).eval())?, &reference::mxm(ring, &a, &b), true)?;
    for complement in [false, true] {
        let want = reference::masked(ring, &a, &b, mask.pattern(), complement);
        let product = on.mxm(ring, &on_a, &on_b).mask(on_mask.structure());
        let found = if complement { product.complement().eval() } else { product.eval() };
        check(&get(found)?, &want, true).map_err(|e| format!("mask, {complement}: {e}"))?;
    }
    Ok(())
}

/// Two matrices of one shape, some with shuffled rows.
fn two_alike(pair: &AnyPair) -> (AnyPattern, AnyPattern) {
    let mut rng = Rng(pair.seed);
    let a = pair.mask.clone();
    let mut b = AnyPattern::of_shape(&mut rng, a.nrows(), a.ncols);
    if rng.below(3) == 0 {
        b.shuffle = rng.next() | 1;
    }
    (a, b)
}

sparring::op! {
    /// a where b holds, else 0: two operand types and a third result type.
    Where (a: u8, b: bool) -> i64 { b.select(a.cast::<i64>(), V::lit(0)) }
}
sparring::op! {
    /// Depends on value, position and scalar.
    Mixed (a: f64, s: u64) at (i, j) -> bool { (i * V::lit(7) + j * V::lit(3)).lt(s) | a.lt(V::lit(0.0)) }
}

/// Unions, intersections, functions, selections, transposes.
pub(crate) fn entry_by_entry<B: Backend>(on: &B, pair: &AnyPair) -> Outcome {
    let (pa, pb) = two_alike(pair);
    let fail = |what: &'static str| move |e: String| format!("{what}: {e}");
    macro_rules! get {
        ($e:expr) => {
            $e.map_err(text)?
        };
    }
    // With either operand first, for floats and for structs.
    let (a, b) = (pa.matrix::<f64>(pair.seed), pb.matrix::<f64>(!pair.seed));
    let (x, y) = (get!(on.upload(&a)), get!(on.upload(&b)));
    let c = get!(on.download(&get!(on.ewise_add(Minus::new(), &x, &y).eval())));
    check(&c, &reference::union(Minus::new(), &a, &b), true).map_err(fail("union"))?;
    let c = get!(on.download(&get!(on.ewise_mult(Minus::new(), &y, &x).eval())));
    check(&c, &reference::intersection(Minus::new(), &b, &a), true).map_err(fail("intersection"))?;
    // Both with the same pattern.
    let twice = get!(on.upload(&get!(a.map(|x| x + x))));
    let c = get!(on.download(&get!(on.ewise_add(Times::new(), &x, &twice).eval())));
    check(&c, &reference::union(Times::new(), &a, &get!(a.map(|x| x + x))), true).map_err(fail("union with itself"))?;
    let c = get!(on.download(&get!(on.ewise_mult(Less::new(), &x, &twice).eval())));
    let want = reference::intersection(Less::new(), &a, &get!(a.map(|x| x + x)));
    check(&c, &want, true).map_err(fail("intersection with itself"))?;

    let (pa_, pb_) = (pa.matrix::<Paths>(pair.seed), pb.matrix::<Paths>(!pair.seed));
    let c = get!(on.ewise_add(Either::new(), &get!(on.upload(&pa_)), &get!(on.upload(&pb_))).eval());
    check(&get!(on.download(&c)), &reference::union(Either::new(), &pa_, &pb_), true)
        .map_err(fail("union of structs"))?;
    let (u, v) = (pa.matrix::<u8>(pair.seed), pb.matrix::<bool>(!pair.seed));
    let c = get!(on.ewise_mult(Where::new(), &get!(on.upload(&u)), &get!(on.upload(&v))).eval());
    let want = reference::intersection(Where::new(), &u, &v);
    check(&get!(on.download(&c)), &want, true).map_err(fail("intersection of two types"))?;

    // apply keeps the order of rows; select sorts them.
    let c = get!(on.download(&get!(on.apply(Cast::<f64, i64>::new(), &x).eval())));
    let want = get!(a.map(|&x| x as i64));
    if !identical(&c, &want) {
        return Err(format!("apply: {c:?}, expected {want:?}"));
    }
    for s in [0, 20, u64::MAX] {
        let c = get!(on.download(&get!(on.select(Mixed::new(), &x, s).eval())));
        check(&c, &reference::select(Mixed::new(), &a, s), true).map_err(fail("select"))?;
    }
    for s in [-3, 0, 5] {
        let c = get!(on.download(&get!(on.select(Tril::new(), &x, s).eval())));
        check(&c, &reference::select(Tril::new(), &a, s), true).map_err(fail("tril"))?;
    }
    let t = get!(on.transpose(&x).eval());
    let nnz = get!(on.nnz(&t));
    if on.shape(&t) != (a.ncols(), a.nrows()) || nnz != a.nnz() {
        return Err(format!("transpose: {:?} with {nnz} entries", on.shape(&t)));
    }
    check(&get!(on.download(&t)), &reference::transpose(&a), true).map_err(fail("transpose"))
}

/// A ⊗ B of awkward small matrices: plain, transposed, masked, and into existing matrices.
pub(crate) fn kronecker_products<B: Backend>(on: &B, seed: u64) -> Outcome {
    let mut rng = Rng(seed);
    let mut small = || {
        let (m, n) = (rng.below(9), rng.below(9));
        let mut p = AnyPattern::of_shape(&mut rng, m, n);
        p.shuffle = if rng.below(3) == 0 { rng.next() | 1 } else { 0 };
        p
    };
    let (pa, pb) = (small(), small());
    let (a, b) = (pa.matrix::<f64>(seed), pb.matrix::<f64>(!seed));
    let (u, v) = (pa.matrix::<u8>(seed), pb.matrix::<bool>(!seed));
    let sorted = a.nnz() * b.nnz() == 0 || a.pattern().is_sorted() && b.pattern().is_sorted();
    let run = || -> Result<Outcome, Error> {
        let (x, y) = (on.upload(&a)?, on.upload(&b)?);
        let c = on.kronecker(Minus::<f64>::new(), &x, &y).eval()?;
        let want = reference::kronecker(Minus::<f64>::new(), &a, &b);
        let mut checked = check(&on.download(&c)?, &want, sorted);
        let d = on.kronecker(Where::new(), &on.upload(&u)?, &on.upload(&v)?).eval()?;
        checked = checked.and(check(&on.download(&d)?, &reference::kronecker(Where::new(), &u, &v), sorted));
        let t = on.kronecker(Minus::<f64>::new(), &x, &y).transpose_a().transpose_b().eval()?;
        checked = checked.and(check(&on.download(&t)?, &reference::transpose(&on.download(&c)?), true));
        // Under masks and into an existing matrix of the same shape.
        let (m, n) = want.shape;
        let (mask, old) =
            (AnyPattern::of_shape(&mut Rng(!seed), m, n).matrix::<i64>(1), AnyPattern::of_shape(&mut Rng(7), m, n));
        let (old, is_mask) = (old.matrix::<f64>(2), reference::table(&mask).entries);
        let on_mask = on.upload(&mask)?;
        for complement in [false, true] {
            let chain = || on.kronecker(Minus::<f64>::new(), &x, &y).mask(on_mask.structure());
            let chain = || if complement { chain().complement() } else { chain() };
            let lets = |i: usize, j: usize| is_mask.contains_key(&(i, j)) != complement;
            let allowed = want.clone().filter(lets);
            // Under a mask, rows of an unsorted operand may come out unsorted.
            let masked = on.download(&chain().eval()?)?.sorted(&Threads::current())?;
            checked = checked.and(check(&masked, &allowed, true));
            let mut into = on.upload(&old)?;
            chain().accum(Plus::<f64>::new()).replace().into(&mut into)?;
            let mut both = reference::table(&old).filter(lets);
            for (at, z) in &allowed.entries {
                both.entries.entry(*at).and_modify(|x| *x += z).or_insert(*z);
            }
            checked = checked.and(check(&on.download(&into)?, &both, true));
        }
        Ok(checked)
    };
    run().map_err(text)?
}

/// Row folds and total folds.
pub(crate) fn folds<B: Backend, M: Monoid<Out: Draw + Same>>(
    on: &B,
    monoid: M,
    a: &Csr<M::Out>,
    compare: Compare<M::Out>,
) -> Outcome {
    let x = on.upload(a).map_err(text)?;
    let rows = on.reduce_rows(monoid, &x).eval().and_then(|y| down(on, &y, M::IDENTITY)).map_err(text)?;
    let want: Vec<_> = (0..a.nrows()).map(|i| reference::folded(monoid, a.row(i).1.iter().copied())).collect();
    check_folds(&rows, &want, compare, |i| a.row(i).1.to_vec()).map_err(|e| format!("rows: {e}"))?;
    let parts = a.values().chunks(1 << 14).map(|part| reference::folded(monoid, part.iter().copied()));
    let (found, want) = (on.reduce(monoid, &x).eval().map_err(text)?, reference::folded(monoid, parts));
    if compare(&found, &want, a.values()) { Ok(()) } else { Err(format!("all: {found:?}, expected {want:?}")) }
}

/// w(i) = x where a sparse vector has an entry.
pub(crate) fn assignments<B: Backend>(on: &B, pair: &AnyPair) -> Outcome {
    fn of<B: Backend, T: Draw + Same, S: Draw>(on: &B, n: usize, seed: u64) -> Outcome {
        let (mut want, places) = (dense::<T>(n, seed), sparse::<S>(n, seed));
        let mut w = up(on, &want).map_err(text)?;
        let on_places = up_list(on, &places).map_err(text)?;
        for x in dense::<T>(2, !seed) {
            on.assign_scalar(x).mask(on_places.structure()).into(&mut w).map_err(text)?;
            places.indices().iter().for_each(|&i| want[i as usize] = x);
            check_vector(on.download_vector(&w).map_err(text)?.as_full().expect("all places"), &want)
                .map_err(|e| format!("assign: {e}"))?;
        }
        Ok(())
    }
    of::<B, bool, f64>(on, pair.b.ncols, pair.seed)?;
    of::<B, Paths, bool>(on, pair.b.ncols, pair.seed)?;
    of::<B, f64, Paths>(on, pair.b.ncols, pair.seed)
}

/// Upload followed by download is the identity.
pub(crate) fn round_trips<B: Backend>(on: &B, pair: &AnyPair) -> Outcome {
    let run = || -> Result<bool, Error> {
        let (b, x, v) = (pair.b::<f64>(), dense::<Paths>(pair.b.ncols, 1), sparse::<u8>(pair.b.ncols, 2));
        let matrix = on.upload(&b)?;
        Ok(identical(&on.download(&matrix)?, &b)
            && (on.shape(&matrix), on.nnz(&matrix)?) == (b.shape(), b.nnz())
            && on.download_vector(&up(on, &x)?)?.as_full() == Some(&x[..])
            && down_list(on, &up_list(on, &v)?)? == v)
    };
    if run().map_err(text)? { Ok(()) } else { Err("not what went up".into()) }
}

/// A matrix with this pattern, large enough to be split among many threads. Its sums would round differently in another
/// order.
pub(crate) fn with_sums(graph: &Csr<f64>) -> Csr<f64> {
    let mut rng = Rng(11);
    let values = (0..graph.nnz()).map(|_| (rng.next() >> 11) as f64 * 2f64.powi(-53) + 0.5).collect();
    Csr::with_pattern(graph.pattern().clone(), values).expect("values")
}

/// A·x and xᵀ·A for a full, a sparse and an empty x, elementwise operations with Aᵀ, and folds of a large square
/// matrix.
pub(crate) fn large_matrix<B: Backend>(on: &B, a: &Csr<f64>, sum: Compare<f64>) -> Outcome {
    let (n, ring) = (a.nrows(), PlusTimes::<f64>::default());
    let x: Vec<f64> = (0..n).map(|i| 1.0 / (i + 1) as f64).collect();
    let of_half: Vec<u32> = (0..n as u32).filter(|i| i % 2 == 1).collect();
    let few: Vec<u32> = (0..n as u32).step_by(500).collect();
    let vector = |at: &[u32]| SparseVec::new(n, at.to_vec(), at.iter().map(|&i| x[i as usize]).collect()).expect("x");
    let on_a = on.upload(a).map_err(text)?;
    let on_t = on.transpose(&on_a).eval().map_err(text)?;
    let t = on.download(&on_t).map_err(text)?;
    check(&t, &reference::transpose(a), true)?;

    let y = up(on, &x).and_then(|x| on.mxv(ring, &on_a, &x).eval()).and_then(|y| down(on, &y, 0.0));
    let terms = |i| {
        let (ks, values): (&[u32], &[f64]) = a.row(i);
        ks.iter().zip(values).map(|(&k, value)| value * x[k as usize]).collect()
    };
    check_folds(&y.map_err(text)?, &reference::mxv(ring, a, &x, |_| true), sum, terms)?;
    for x in [vector(&of_half), vector(&few), vector(&[])] {
        let y = up_list(on, &x).and_then(|x| on.vxm(ring, &x, &on_a).eval()).and_then(|y| down_list(on, &y));
        check_sparse(y.map_err(text)?, &reference::vxm(ring, &x, a, |_| true))?;
    }
    let c = on.ewise_add(Minus::new(), &on_a, &on_t).eval().and_then(|c| on.download(&c)).map_err(text)?;
    check(&c, &reference::union(Minus::new(), a, &t), true)?;
    let c = on.ewise_mult(Minus::new(), &on_a, &on_t).eval().and_then(|c| on.download(&c)).map_err(text)?;
    check(&c, &reference::intersection(Minus::new(), a, &t), true)?;
    let c = on.select(ValueGt::new(), &on_a, 1.0).eval().and_then(|c| on.download(&c)).map_err(text)?;
    check(&c, &reference::select(ValueGt::new(), a, 1.0), true)?;
    folds(on, Plus::<f64>::new(), a, sum)?;
    folds(on, Max::<f64>::new(), a, bit_for_bit)
}

/// Few entries among very many columns: a product must not touch memory proportional to the columns.
pub(crate) fn very_wide_matrices<B: Backend>(on: &B, sum: Compare<f64>) -> Outcome {
    let n = 300_000;
    let of = |seed| {
        let mut rng = Rng(seed);
        let mut rows: Vec<Vec<u32>> =
            (0..200).map(|_| (0..rng.below(60)).map(|_| rng.below(n) as u32).collect()).collect();
        rows.iter_mut().step_by(3).for_each(|row| row.extend([0, 63, 64, 16_383, 16_384, n as u32 - 1]));
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
        }
        let b = AnyPattern { ncols: n, rows, shuffle: seed % 2 };
        let a = AnyPattern::of_shape(&mut rng, 3, 7);
        products(on, PlusTimes::<f64>::default(), &a.matrix(1), &b.matrix(2), seed, sum)?;
        products(on, SumPlaces::default(), &a.matrix(1), &b.matrix(2), seed, bit_for_bit)?;
        products(on, CountPaths::default(), &a.matrix(1), &b.matrix(2), seed, bit_for_bit)
    };
    (0..12).try_for_each(|seed| {
        of(seed).map_err(|e| format!("seed {seed}: {}", e.split("expected").last().unwrap_or_default()))
    })
}

/// Many products per column, few and many in total. The fold runs in the order of k, which shows in sums that would
/// round differently in another order and in the last value folded.
pub(crate) fn sums_of_a_wide_product<B: Backend>(on: &B) -> Outcome {
    let (n, m) = (300_000, 4000);
    let mut rng = Rng(7);
    let (mut row_ptr, mut cols) = (vec![0], vec![]);
    for _ in 0..m {
        let mut row: Vec<u32> = (0..20).map(|_| (rng.below(64) * 4681) as u32).collect();
        row.sort_unstable();
        row.dedup();
        cols.extend(row);
        row_ptr.push(cols.len());
    }
    let values = (0..cols.len()).map(|_| (rng.next() >> 11) as f64 * 2f64.powi(-53) + 0.5).collect();
    let a = Csr::<f64>::new(m, n, row_ptr, cols, values).map_err(text)?;
    let on_a = on.upload(&a).map_err(text)?;
    for step in [1, 20, 200] {
        let at: Vec<u32> = (0..m as u32).step_by(step).collect();
        let values = at.iter().map(|&k| 1.0 / f64::from(k + 1)).collect();
        let x = SparseVec::new(m, at, values).map_err(text)?;
        let on_x = up_list(on, &x).map_err(text)?;
        let in_steps = |e: String| format!("every {step}th entry: {e}");
        let ring = PlusTimes::<f64>::default();
        let y = on.vxm(ring, &on_x, &on_a).eval().and_then(|y| down_list(on, &y)).map_err(text)?;
        check_sparse(y, &reference::vxm(ring, &x, &a, |_| true)).map_err(in_steps)?;
        let ring = AnySecond::<f64>::default();
        let y = on.vxm(ring, &on_x, &on_a).eval().and_then(|y| down_list(on, &y)).map_err(text)?;
        check_sparse(y, &reference::vxm(ring, &x, &a, |_| true)).map_err(in_steps)?;
    }
    Ok(())
}

/// Every shape without entries.
pub(crate) fn empty_shapes<B: Backend>(on: &B) -> Result<(), Error> {
    let ring = PlusTimes::<f64>::default();
    for (m, n) in [(0, 0), (0, 5), (4, 0), (1, 1), (3, 4)] {
        let a = on.upload(&Csr::<f64>::empty(m, n)?)?;
        let y = on.download_vector(&on.mxv(ring, &a, &up(on, &vec![1.0; n])?).eval()?)?;
        assert_eq!((y.len(), y.nnz()), (m, 0));
        let y = on.download_vector(&on.vxm(ring, &up(on, &vec![1.0; m])?, &a).eval()?)?;
        assert_eq!((y.len(), y.nnz()), (n, 0));
        let results = [
            on.ewise_add(Plus::new(), &a, &a).eval()?,
            on.ewise_mult(Plus::new(), &a, &a).eval()?,
            on.apply(Abs::new(), &a).eval()?,
            on.select(Tril::new(), &a, 0).eval()?,
            on.transpose(&on.transpose(&a).eval()?).eval()?,
            on.mxm(ring, &a, &on.upload(&Csr::empty(n, n)?)?).eval()?,
            on.mxm(ring, &a, &on.upload(&Csr::empty(n, n)?)?).mask(!a.structure()).eval()?,
        ];
        for c in results {
            assert_eq!((on.shape(&c), on.nnz(&c)?), ((m, n), 0));
            check_invariants(&on.download(&c)?).unwrap_or_else(|e| panic!("{m}×{n}: {e}"));
        }
        assert_eq!(on.nnz(&on.reduce_rows(Plus::new(), &a).eval()?)?, 0);
        assert_eq!(on.reduce(Min::new(), &a).eval()?, f64::INFINITY);
    }
    Ok(())
}

/// Operands of mismatched shapes are refused, with their shapes.
pub(crate) fn what_does_not_fit_is_refused<B: Backend>(on: &B) -> Result<(), Error> {
    let ring = PlusTimes::<f64>::default();
    let (a, b) = (on.upload(&Csr::<f64>::empty(3, 4)?)?, on.upload(&Csr::<f64>::empty(4, 3)?)?);
    let (three, four) = (up(on, &[1.0; 3])?, up(on, &[1.0; 4])?);
    let x = on.upload_vector(&Vector::<f64>::empty(4)?)?;
    let nine = up(on, &[true; 9])?;
    let shapes = [
        ("mxm", on.mxm(ring, &a, &a).eval().err(), (3, 4), (3, 4)),
        ("mxv", on.mxv(ring, &a, &three).eval().err(), (3, 4), (3, 1)),
        ("vxm", on.vxm(ring, &x, &a).eval().err(), (1, 4), (3, 4)),
        ("ewise_add", on.ewise_add(Plus::new(), &a, &b).eval().err(), (3, 4), (4, 3)),
        ("ewise_mult", on.ewise_mult(Plus::new(), &a, &b).eval().err(), (3, 4), (4, 3)),
    ];
    for (name, e, left, right) in shapes {
        match e {
            Some(Error::Shape { op, lhs, rhs }) => assert_eq!((op, lhs, rhs), (name, left, right)),
            e => panic!("{name}: {e:?}"),
        }
    }
    let e = on.mxm(ring, &a, &b).mask(&a).eval().err();
    assert!(matches!(e, Some(Error::Shape { .. })), "a mask of another shape: {e:?}");
    let lengths = [
        (on.mxv(ring, &a, &four).mask(!nine.structure()).eval().err(), 9, 3),
        (on.vxm(ring, &x, &b).mask(!nine.structure()).eval().err(), 9, 3),
        (on.assign_scalar(1).mask(x.structure()).into(&mut up(on, &[0; 3])?).err(), 4, 3),
    ];
    for (e, len, fits) in lengths {
        assert!(matches!(e, Some(Error::Length { found, expected, .. }) if (found, expected) == (len, fits)), "{e:?}");
    }
    Ok(())
}

/// A sum starts at +0, and a stored zero is an entry.
pub(crate) fn zeros_stay_entries<B: Backend>(on: &B) -> Result<(), Error> {
    let ring = PlusTimes::<f64>::default();
    let a = Csr::<f64>::new(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![-0.0, 1.0, -1.0])?;
    let on_a = on.upload(&a)?;
    let y = down(on, &on.mxv(ring, &on_a, &up(on, &[1.0, 1.0])?).eval()?, 7.0)?;
    assert_eq!(y.iter().map(|y| y.to_bits()).collect::<Vec<_>>(), [0, 0]);
    let x = up(on, &[0.0, 1.0])?;
    let y = down_list(on, &on.vxm(ring, &x, &on_a).eval()?)?;
    assert_eq!((y.indices(), y.values()), (&[0, 1][..], &[1.0, -1.0][..]));
    assert_eq!(on.nnz(&on.ewise_add(Plus::new(), &on_a, &on.upload(&a.map(|x| -x)?)?).eval()?)?, 3);
    Ok(())
}

/// Breadth-first levels equal those of a queue.
pub(crate) fn levels<B: Backend>(on: &B, a: &Csr<f64>, source: usize) -> Outcome {
    let found = on.upload(a).and_then(|a| bfs_levels(on, &a, None, source)).map_err(text)?;
    let want = reference::levels(a.pattern(), source);
    match (0..want.len().max(found.len())).find(|&i| found.get(i) != want.get(i)) {
        Some(i) => Err(format!("from {source}: vertex {i} is at {:?}, expected {:?}", found.get(i), want.get(i))),
        None => Ok(()),
    }
}

/// 0 → 1 → … → n − 1: as many levels as vertices, and a last vertex without out-edges.
pub(crate) fn path(n: u32) -> Csr<f64> {
    let rows = (0..n).map(|i| if i + 1 < n { vec![i + 1] } else { vec![] }).collect();
    AnyPattern { ncols: n as usize, rows, shuffle: 0 }.matrix(0)
}

/// Distances, neighbours and radius search compared with the CPU: among the rows of X, and from X to Y. Neighbours are
/// compared by their distances, because rounding may exchange them.
pub(crate) fn distances<B: Backend>(on: &B, x: &Csr<f64>, y: &Csr<f64>) -> Outcome {
    let (cpu, near) = (Cpu::new(), |a: f64, b: f64| a == b || (a - b).abs() <= 1e-11 * (1.0 + b.abs()));
    let (there_x, there_y) = (on.upload(x).map_err(text)?, on.upload(y).map_err(text)?);
    for metric in [Metric::Euclidean, Metric::Chebyshev, Metric::Jaccard, Metric::Kl, Metric::Dot] {
        for (host, there) in [(None, None), (Some(y), Some(&there_y))] {
            let want = cpu.distances(metric, x).to(host).unchecked().eval().map_err(text)?;
            let found = on.distances(metric, &there_x).to(there).unchecked().eval();
            let found = found.and_then(|d| on.download_dense(&d)).map_err(text)?;
            let same =
                found.shape() == want.shape() && found.values().iter().zip(want.values()).all(|(&a, &b)| near(a, b));
            if !same {
                return Err(format!("{metric}: {found:?}, expected {want:?}"));
            }
            let want = cpu.neighbours(metric, x).to(host).unchecked().k(3).eval().map_err(text)?;
            let found = on.neighbours(metric, &there_x).to(there).unchecked().k(3).eval().map_err(text)?;
            let same = (found.nrows(), found.k()) == (want.nrows(), want.k())
                && found.distances().iter().zip(want.distances()).all(|(&a, &b)| near(a, b));
            if !same {
                return Err(format!("{metric}: {found:?}, expected {want:?}"));
            }
            // Midway between two distances, where rounding moves none across the radius.
            let radius = 1.0 + 1.0 / 256.0;
            let want: Csr<f64> = cpu.neighbours(metric, x).to(host).unchecked().radius(radius).eval().map_err(text)?;
            let found = on.neighbours(metric, &there_x).to(there).unchecked().radius(radius).eval();
            let found = found.and_then(|c| on.download(&c)).map_err(text)?;
            check_invariants(&found)?;
            let same = found.pattern() == want.pattern()
                && found.values().iter().zip(want.values()).all(|(&a, &b)| near(a, b));
            if !same {
                return Err(format!("{metric} within {radius}: {found:?}, expected {want:?}"));
            }
        }
    }
    Ok(())
}

//! Operations with vectors and entry by entry against the textbook, through the trait that graph algorithms use.
//!
//! Functions here are generic in the backend; `Cpu` runs them on 1, 2, 3 and 8 threads.

mod common;

use std::ops::ControlFlow;

use common::arbitrary::{AnyPair, AnyPattern, Draw, Rng};
use common::rings::{CountPaths, Either, Paths, SumPlaces, SumWhere};
use common::{Same, check, check_invariants, data, identical, reference};
use quickcheck::quickcheck;
use sparring::algebra::*;
use sparring::backend::Backend;
use sparring::ops;
use sparring::par::Threads;
use sparring::sparse::{Dense, SparseVec};
use sparring::{Cpu, Csr, Error};

type Outcome = Result<(), String>;
const THREADS: [usize; 4] = [1, 2, 3, 8];

fn text(e: Error) -> String {
    e.to_string()
}
fn cpu(threads: usize) -> Cpu {
    Cpu::with_threads(threads).expect("threads")
}

/// Runs a check on every number of threads.
fn on_all(run: impl Fn(&Cpu) -> Outcome) -> Outcome {
    THREADS.into_iter().try_for_each(|n| run(&cpu(n)).map_err(|e| format!("{n} threads: {e}")))
}

/// A dense vector, other values for another seed.
fn dense<T: Draw>(len: usize, seed: u64) -> Vec<T> {
    (0..len).map(|i| T::draw(&mut Rng(seed ^ i as u64))).collect()
}
/// A sparse vector: one row of an awkward matrix.
fn sparse<T: Draw>(len: usize, seed: u64) -> SparseVec<T> {
    let row: Csr<T> = AnyPattern::of_shape(&mut Rng(seed), 1, len).matrix(seed);
    SparseVec::new(len, row.col_idx().to_vec(), row.values().to_vec()).expect("a vector")
}

fn check_vector<T: Same>(found: &[T], want: &[T]) -> Outcome {
    let same = found.len() == want.len() && found.iter().zip(want).all(|(x, y)| x.same(y));
    if same { Ok(()) } else { Err(format!("{found:?}, expected {want:?}")) }
}
fn check_sparse<T: Value + Same>(found: SparseVec<T>, want: &reference::Table<T>) -> Outcome {
    // Built again from its parts, so that the invariant is checked and not believed.
    let (n, (indices, values)) = (found.len(), found.into_parts());
    let row = SparseVec::new(n, indices, values).map_err(text)?;
    check(&Csr::from_row_vectors(n, &[row]).map_err(text)?, want, true)
}

/// No mask, a mask and its complement.
fn masks(len: usize, seed: u64) -> Vec<Option<(Vec<bool>, bool)>> {
    let bits: Vec<bool> = dense(len, seed);
    vec![None, Some((bits.clone(), false)), Some((bits, true))]
}
fn lets(mask: &Option<(Vec<bool>, bool)>) -> impl Fn(usize) -> bool + '_ {
    move |i| mask.as_ref().is_none_or(|(bits, complement)| bits[i] != *complement)
}

/// A·x, xᵀ·B with and without masks.
fn products<B: Backend, R: Semiring>(on: &B, ring: R, a: &Csr<Lhs<R>>, b: &Csr<Rhs<R>>, seed: u64) -> Outcome
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    let run = || -> Result<Outcome, Error> {
        let (x, left) = (dense::<Rhs<R>>(a.ncols(), seed), sparse::<Lhs<R>>(b.nrows(), seed));
        let (on_a, on_b) = (on.upload(a)?, on.upload(b)?);
        let (on_x, on_left) = (on.upload_vector(&x)?, on.upload_sparse(&left)?);
        for mask in masks(a.nrows(), !seed) {
            let bits = mask.as_ref().map(|(bits, c)| Ok((on.upload_vector(bits)?, *c))).transpose()?;
            let y = on.mxv(ring, &on_a, &on_x, bits.as_ref().map(|(bits, c)| (bits, *c)))?;
            let want = reference::mxv(ring, a, &x, lets(&mask));
            if let Err(e) = check_vector(&on.download_vector(&y)?, &want) {
                return Ok(Err(format!("mxv, mask {mask:?}: {e}")));
            }
        }
        for mask in masks(b.ncols(), !seed) {
            let bits = mask.as_ref().map(|(bits, c)| Ok((on.upload_vector(bits)?, *c))).transpose()?;
            let y = on.vxm(ring, &on_left, &on_b, bits.as_ref().map(|(bits, c)| (bits, *c)))?;
            let want = reference::vxm(ring, &left, b, lets(&mask));
            if on.nnz_sparse(&y) != want.entries.len() {
                return Ok(Err(format!("vxm: {} entries, expected {}", on.nnz_sparse(&y), want.entries.len())));
            }
            if let Err(e) = check_sparse(on.download_sparse(&y)?, &want) {
                return Ok(Err(format!("vxm, mask {mask:?}: {e}")));
            }
        }
        Ok(Ok(()))
    };
    run().map_err(text)?
}

fn products_are_the_definition<R: Semiring>(ring: R, pair: &AnyPair) -> Outcome
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    let (a, b) = (pair.a::<Lhs<R>>(), pair.b::<Rhs<R>>());
    let x = dense::<Rhs<R>>(a.ncols() * 3, pair.seed);
    let x = Dense::new(a.ncols(), 3, x).map_err(text)?;
    let want = reference::mxd(ring, &a, &x);
    on_all(|cpu| {
        products(cpu, ring, &a, &b, pair.seed)?;
        let y = ops::mxd(cpu.threads(), ring, &a, &x).map_err(text)?;
        check_vector(y.values(), want.values()).map_err(|e| format!("mxd: {e}"))
    })
}

macro_rules! definition {
    ($($name:ident: $ring:ty;)*) => {quickcheck! {$(
        fn $name(pair: AnyPair) -> Outcome { products_are_the_definition(<$ring>::default(), &pair) }
    )*}};
}
definition! {
    plus_times_is_the_definition: PlusTimes<f64>;
    min_plus_is_the_definition: MinPlus<f64>;
    max_min_stops_where_it_may: MaxMin<i64>;
    boolean_is_the_definition: LorLand;
    any_is_the_last_one: AnySecond<i64>;
    parents_are_the_definition: MinSecondI<f64, u64>;
    places_are_the_definition: SumPlaces;
    a_users_struct_is_the_definition: CountPaths;
    three_value_types_are_the_definition: SumWhere;
}

/// Two matrices of one shape, in shuffled rows sometimes.
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
    /// a where b holds, else 0: two types in, a third out.
    Where (a: u8, b: bool) -> i64 { b.select(a.cast::<i64>(), V::lit(0)) }
}
sparring::op! {
    /// Looks at everything: value, place and scalar.
    Mixed (a: f64, s: u64) at (i, j) -> bool { (i * V::lit(7) + j * V::lit(3)).below(s) | a.below(V::lit(0.0)) }
}

fn entry_by_entry<B: Backend>(on: &B, pair: &AnyPair) -> Outcome {
    let (pa, pb) = two_alike(pair);
    let fail = |what: &'static str| move |e: String| format!("{what}: {e}");
    macro_rules! get {
        ($e:expr) => {
            $e.map_err(text)?
        };
    }
    // Either operand first, of floats and of structs.
    let (a, b) = (pa.matrix::<f64>(pair.seed), pb.matrix::<f64>(!pair.seed));
    let (x, y) = (get!(on.upload(&a)), get!(on.upload(&b)));
    let c = get!(on.download(&get!(on.ewise_union(Minus::new(), &x, &y))));
    check(&c, &reference::union(Minus::new(), &a, &b), true).map_err(fail("union"))?;
    let c = get!(on.download(&get!(on.ewise_intersection(Minus::new(), &y, &x))));
    check(&c, &reference::intersection(Minus::new(), &b, &a), true).map_err(fail("intersection"))?;
    // Of one pattern.
    let twice = get!(on.upload(&get!(a.map(|x| x + x))));
    let c = get!(on.download(&get!(on.ewise_union(Times::new(), &x, &twice))));
    check(&c, &reference::union(Times::new(), &a, &get!(a.map(|x| x + x))), true).map_err(fail("union with itself"))?;
    let c = get!(on.download(&get!(on.ewise_intersection(Less::new(), &x, &twice))));
    let want = reference::intersection(Less::new(), &a, &get!(a.map(|x| x + x)));
    check(&c, &want, true).map_err(fail("intersection with itself"))?;

    let (pa_, pb_) = (pa.matrix::<Paths>(pair.seed), pb.matrix::<Paths>(!pair.seed));
    let c = get!(on.ewise_union(Either::new(), &get!(on.upload(&pa_)), &get!(on.upload(&pb_))));
    check(&get!(on.download(&c)), &reference::union(Either::new(), &pa_, &pb_), true)
        .map_err(fail("union of structs"))?;
    let (u, v) = (pa.matrix::<u8>(pair.seed), pb.matrix::<bool>(!pair.seed));
    let c = get!(on.ewise_intersection(Where::new(), &get!(on.upload(&u)), &get!(on.upload(&v))));
    let want = reference::intersection(Where::new(), &u, &v);
    check(&get!(on.download(&c)), &want, true).map_err(fail("intersection of two types"))?;

    // apply keeps the order of rows, select sorts them.
    let c = get!(on.download(&get!(on.apply(Cast::<f64, i64>::new(), &x))));
    let want = get!(a.map(|&x| x as i64));
    if !identical(&c, &want) {
        return Err(format!("apply: {c:?}, expected {want:?}"));
    }
    for s in [0, 20, u64::MAX] {
        let c = get!(on.download(&get!(on.select(Mixed::new(), &x, s))));
        check(&c, &reference::select(Mixed::new(), &a, s), true).map_err(fail("select"))?;
    }
    for s in [-3, 0, 5] {
        let c = get!(on.download(&get!(on.select(Tril::new(), &x, s))));
        check(&c, &reference::select(Tril::new(), &a, s), true).map_err(fail("tril"))?;
    }
    let t = get!(on.transpose(&x));
    if on.shape(&t) != (a.ncols(), a.nrows()) || on.nnz(&t) != a.nnz() {
        return Err(format!("transpose: {:?} with {} entries", on.shape(&t), on.nnz(&t)));
    }
    check(&get!(on.download(&t)), &reference::transpose(&a), true).map_err(fail("transpose"))
}

fn folds<B: Backend, M: Monoid<Out: Draw + Same>>(on: &B, monoid: M, a: &Csr<M::Out>) -> Outcome {
    let x = on.upload(a).map_err(text)?;
    let rows = on.download_vector(&on.reduce_rows(monoid, &x).map_err(text)?).map_err(text)?;
    let want: Vec<_> = (0..a.nrows()).map(|i| reference::fold(monoid, a.row(i).1.iter().copied())).collect();
    check_vector(&rows, &want).map_err(|e| format!("rows: {e}"))?;
    let parts = a.values().chunks(1 << 14).map(|part| reference::fold(monoid, part.iter().copied()));
    check_vector(&[on.reduce(monoid, &x).map_err(text)?], &[reference::fold(monoid, parts)])
}

quickcheck! {
    fn entry_by_entry_is_the_definition(pair: AnyPair) -> Outcome {
        on_all(|cpu| entry_by_entry(cpu, &pair))
    }

    fn folds_are_the_definition(pair: AnyPair) -> Outcome {
        on_all(|cpu| {
            folds(cpu, Plus::<f64>::new(), &pair.b())?;
            folds(cpu, Min::<f64>::new(), &pair.b())?;
            folds(cpu, Any::<i64>::new(), &pair.b())?;
            folds(cpu, Lor::<bool>::new(), &pair.b())?;
            folds(cpu, Band::<u8>::new(), &pair.b())?;
            folds(cpu, Either::new(), &pair.b())
        })
    }

    /// Rows of A in any order: the fold runs in that order.
    fn rows_are_folded_as_stored(pair: AnyPair) -> Outcome {
        let mut pair = pair;
        pair.a.shuffle = pair.seed | 1;
        products_are_the_definition(PlusTimes::<f64>::default(), &pair)
    }

    /// What the trait calls mxm is the product of the chain, masks of any type of values.
    fn masked_products_through_the_trait(pair: AnyPair) -> Outcome {
        let (a, b, mask) = (pair.a::<f64>(), pair.b::<f64>(), pair.mask.matrix::<bool>(1));
        let (cpu, ring) = (cpu(2), PlusTimes::<f64>::default());
        let on: &dyn Fn(_) -> _ = &|mask| Backend::mxm::<_, bool>(&cpu, ring, &a, &b, mask).map_err(text);
        check(&on(None)?, &reference::mxm(ring, &a, &b), true)?;
        for complement in [false, true] {
            let want = reference::masked(ring, &a, &b, mask.pattern(), complement);
            check(&on(Some((&mask, complement)))?, &want, true)?;
        }
        Ok(())
    }

    fn what_goes_up_comes_down(pair: AnyPair) -> bool {
        fn round<B: Backend>(on: &B, pair: &AnyPair) -> Result<bool, Error> {
            let (b, x, v) = (pair.b::<f64>(), dense::<Paths>(pair.b.ncols, 1), sparse::<u8>(pair.b.ncols, 2));
            let matrix = on.upload(&b)?;
            Ok(identical(&on.download(&matrix)?, &b)
                && (on.shape(&matrix), on.nnz(&matrix)) == (b.shape(), b.nnz())
                && on.download_vector(&on.upload_vector(&x)?)? == x
                && on.download_sparse(&on.upload_sparse(&v)?)? == v)
        }
        round(&cpu(1), &pair).expect("memory")
    }
}

/// A matrix large enough to be split among threads for real, with sums that another order would round differently.
fn large() -> Csr<f64> {
    let graph = data::named("wiki-Vote");
    let mut rng = Rng(11);
    let values = (0..graph.nnz()).map(|_| (rng.next() >> 11) as f64 * 2f64.powi(-53) + 0.5).collect();
    Csr::with_pattern(graph.pattern().clone(), values).expect("values")
}

#[test]
fn a_large_matrix_is_the_definition() {
    let a = large();
    let (n, ring) = (a.nrows(), PlusTimes::<f64>::default());
    let x: Vec<f64> = (0..n).map(|i| 1.0 / (i + 1) as f64).collect();
    let of_half: Vec<u32> = (0..n as u32).filter(|i| i % 2 == 1).collect();
    let few: Vec<u32> = (0..n as u32).step_by(500).collect();
    let vector = |at: &[u32]| SparseVec::new(n, at.to_vec(), at.iter().map(|&i| x[i as usize]).collect()).expect("x");
    let t = reference::transpose(&a);
    let t = a.transpose(&Threads::current()).map(|c| check(&c, &t, true).map(|()| c)).expect("memory").expect("Aᵀ");
    on_all(|cpu| {
        check_vector(
            &ops::mxv(cpu.threads(), ring, &a, &x, None).map_err(text)?,
            &reference::mxv(ring, &a, &x, |_| true),
        )?;
        for x in [vector(&of_half), vector(&few), vector(&[])] {
            let want = reference::vxm(ring, &x, &a, |_| true);
            check_sparse(ops::vxm(cpu.threads(), ring, &x, &a, None).map_err(text)?, &want)?;
        }
        let c = ops::ewise_union(cpu.threads(), Minus::new(), &a, &t).map_err(text)?;
        check(&c, &reference::union(Minus::new(), &a, &t), true)?;
        let c = ops::ewise_intersection(cpu.threads(), Minus::new(), &a, &t).map_err(text)?;
        check(&c, &reference::intersection(Minus::new(), &a, &t), true)?;
        let c = ops::select(cpu.threads(), ValueGt::new(), &a, 1.0).map_err(text)?;
        check(&c, &reference::select(ValueGt::new(), &a, 1.0), true)?;
        folds(cpu, Plus::<f64>::new(), &a)?;
        folds(cpu, Max::<f64>::new(), &a)?;
        let x = Dense::new(n, 2, x.iter().flat_map(|x| [*x, -x]).collect()).map_err(text)?;
        let y = ops::mxd(cpu.threads(), ring, &a, &x).map_err(text)?;
        check_vector(y.values(), reference::mxd(ring, &a, &x).values())
    })
    .unwrap();
}

/// Few entries among so many columns that nothing of their number is touched for each product.
#[test]
fn very_wide_matrices_are_the_definition() {
    let n = 300_000;
    for seed in 0..12 {
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
        on_all(|cpu| {
            products(cpu, PlusTimes::<f64>::default(), &a.matrix(1), &b.matrix(2), seed)?;
            products(cpu, SumPlaces::default(), &a.matrix(1), &b.matrix(2), seed)?;
            products(cpu, CountPaths::default(), &a.matrix(1), &b.matrix(2), seed)
        })
        .unwrap_or_else(|e| panic!("seed {seed}: {}", e.split("expected").last().unwrap_or_default()));
    }
}

/// Many products of one column, few and many in all: the fold runs in the order of k, seen by sums that another order
/// would round differently and by the last value met.
#[test]
fn sums_of_a_wide_product_are_in_order() {
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
    let a = Csr::<f64>::new(m, n, row_ptr, cols, values).expect("a");
    for step in [1, 20, 200] {
        let at: Vec<u32> = (0..m as u32).step_by(step).collect();
        let values = at.iter().map(|&k| 1.0 / f64::from(k + 1)).collect();
        let x = SparseVec::new(m, at, values).expect("x");
        let sums = reference::vxm(PlusTimes::<f64>::default(), &x, &a, |_| true);
        let last = reference::vxm(AnySecond::<f64>::default(), &x, &a, |_| true);
        on_all(|cpu| {
            let ring = PlusTimes::<f64>::default();
            check_sparse(ops::vxm(cpu.threads(), ring, &x, &a, None).map_err(text)?, &sums)?;
            let ring = AnySecond::<f64>::default();
            check_sparse(ops::vxm(cpu.threads(), ring, &x, &a, None).map_err(text)?, &last)
        })
        .unwrap_or_else(|e| panic!("every {step}th entry: {e}"));
    }
}

/// Every shape with nothing in it.
#[test]
fn empty_shapes() {
    let (threads, ring) = (&Threads::new(2).expect("threads"), PlusTimes::<f64>::default());
    for (m, n) in [(0, 0), (0, 5), (4, 0), (1, 1), (3, 4)] {
        let a = Csr::<f64>::empty(m, n).expect("a");
        assert_eq!(ops::mxv(threads, ring, &a, &vec![1.0; n], None).expect("y"), vec![0.0; m]);
        let x = SparseVec::from_dense(&vec![1.0; m], |_| true).expect("x");
        let y = ops::vxm(threads, ring, &x, &a, None).expect("y");
        assert_eq!((y.len(), y.nnz()), (n, 0));
        for width in [0, 2] {
            let x = Dense::filled(n, width, 1.0).expect("x");
            assert_eq!(ops::mxd(threads, ring, &a, &x).expect("y"), Dense::filled(m, width, 0.0).expect("0"));
        }
        let results = [
            ops::ewise_union(threads, Plus::new(), &a, &Csr::empty(m, n).expect("b")).expect("c"),
            ops::ewise_intersection(threads, Plus::new(), &a, &Csr::empty(m, n).expect("b")).expect("c"),
            ops::apply(threads, Abs::new(), &a).expect("c"),
            ops::select(threads, Tril::new(), &a, 0).expect("c"),
        ];
        for c in results {
            assert_eq!((c.shape(), c.nnz()), ((m, n), 0));
            check_invariants(&c).unwrap();
        }
        assert_eq!(ops::reduce_rows(threads, Plus::new(), &a).expect("y"), vec![0.0; m]);
        assert_eq!(ops::reduce(threads, Min::new(), &a).expect("y"), f64::INFINITY);
    }
}

/// Patterns that are shared stay shared.
#[test]
fn patterns_are_shared() {
    let (threads, a) = (&Threads::current(), large());
    let b = a.map(|x| x + 1.0).expect("b");
    let shares = |c: &Csr<f64>| std::sync::Arc::ptr_eq(c.pattern(), a.pattern());
    assert!(shares(&ops::apply(threads, Abs::new(), &a).expect("c")));
    assert!(shares(&ops::ewise_union(threads, Plus::new(), &a, &b).expect("c")));
    assert!(shares(&ops::ewise_intersection(threads, Plus::new(), &a, &b).expect("c")));
    assert!(shares(&Backend::upload(&Cpu::new(), &a).expect("c")));
}

#[test]
fn what_does_not_fit_is_refused() {
    let (threads, ring) = (&Threads::current(), PlusTimes::<f64>::default());
    let a = Csr::<f64>::empty(3, 4).expect("a");
    let b = Csr::<f64>::empty(4, 3).expect("b");
    let x = SparseVec::<f64>::new(4, vec![], vec![]).expect("x");
    let bits = [true; 9];
    let mask = Some(ops::VectorMask { bits: &bits, complement: true });
    let says = |e: Error, words: [&str; 2]| {
        let text = e.to_string();
        assert!(words.iter().all(|w| text.contains(w)), "{text}");
        e
    };
    let e = says(ops::mxv(threads, ring, &a, &[1.0; 3], None).unwrap_err(), ["mxv", "3×1"]);
    assert!(matches!(e, Error::Shape { lhs: (3, 4), rhs: (3, 1), .. }));
    let e = says(ops::mxv(threads, ring, &a, &[1.0; 4], mask).unwrap_err(), ["mask", "9"]);
    assert!(matches!(e, Error::Length { found: 9, expected: 3, .. }));
    let e = says(ops::vxm(threads, ring, &x, &a, None).unwrap_err(), ["vxm", "1×4"]);
    assert!(matches!(e, Error::Shape { lhs: (1, 4), rhs: (3, 4), .. }));
    let e = says(ops::vxm(threads, ring, &x, &b, mask).unwrap_err(), ["mask", "9"]);
    assert!(matches!(e, Error::Length { found: 9, expected: 3, .. }));
    let dense = Dense::filled(3, 2, 1.0).expect("x");
    let e = says(ops::mxd(threads, ring, &a, &dense).unwrap_err(), ["mxd", "3×2"]);
    assert!(matches!(e, Error::Shape { lhs: (3, 4), rhs: (3, 2), .. }));
    let e = says(ops::ewise_union(threads, Plus::new(), &a, &b).unwrap_err(), ["ewise_union", "4×3"]);
    assert!(matches!(e, Error::Shape { lhs: (3, 4), rhs: (4, 3), .. }));
    let e = says(ops::ewise_intersection(threads, Plus::new(), &a, &b).unwrap_err(), ["ewise_intersection", "4×3"]);
    assert!(matches!(e, Error::Shape { .. }));
    let e = says(ops::assign(&mut [0; 3], &x, 1).unwrap_err(), ["4", "3"]);
    assert!(matches!(e, Error::Length { found: 4, expected: 3, .. }));
    // Memory that no machine has: X is of no column, Y would be.
    let tall = Csr::<f64>::empty(1 << 20, 0).expect("a");
    let wide = Dense::<f64>::new(0, usize::MAX / 2, vec![]).expect("x");
    assert!(matches!(ops::mxd(threads, ring, &tall, &wide), Err(Error::OutOfMemory { .. })));
}

/// Each operation reports its progress, and stops when it is told to.
#[test]
fn the_caller_may_stop_it() {
    let (a, ring) = (large(), PlusTimes::<f64>::default());
    let b = a.transpose(&Threads::current()).expect("b");
    let x = SparseVec::from_dense(&vec![1.0; a.nrows()], |_| true).expect("x");
    let dense = Dense::filled(a.ncols(), 2, 1.0).expect("x");
    let stop = Threads::new(2).expect("threads").on_progress(|p| {
        assert!(p.done <= p.total && !p.op.is_empty());
        ControlFlow::Break(())
    });
    let found = [
        ops::mxv(&stop, ring, &a, &vec![1.0; a.ncols()], None).err(),
        ops::vxm(&stop, ring, &x, &a, None).err(),
        ops::mxd(&stop, ring, &a, &dense).err(),
        ops::ewise_union(&stop, Plus::new(), &a, &b).err(),
        ops::ewise_intersection(&stop, Plus::new(), &a, &b).err(),
        ops::apply(&stop, Abs::new(), &a).err(),
        ops::select(&stop, Tril::new(), &a, 0).err(),
        ops::reduce_rows(&stop, Plus::new(), &a).err(),
        ops::reduce(&stop, Plus::new(), &a).err(),
    ];
    for (which, e) in found.iter().enumerate() {
        assert!(matches!(e, Some(Error::Cancelled { .. })), "operation {which}: {e:?}");
    }
}

/// A sum starts at +0 and a stored zero is an entry.
#[test]
fn zeros_stay_entries() {
    let threads = &Threads::current();
    let a = Csr::<f64>::new(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![-0.0, 1.0, -1.0]).expect("a");
    let y = ops::mxv(threads, PlusTimes::<f64>::default(), &a, &[1.0, 1.0], None).expect("y");
    assert_eq!(y.iter().map(|y| y.to_bits()).collect::<Vec<_>>(), [0, 0]);
    let x = SparseVec::new(2, vec![0, 1], vec![0.0, 1.0]).expect("x");
    let y = ops::vxm(threads, PlusTimes::<f64>::default(), &x, &a, None).expect("y");
    assert_eq!((y.indices(), y.values()), (&[0, 1][..], &[1.0, -1.0][..]));
    let c = ops::ewise_union(threads, Plus::new(), &a, &a.map(|x| -x).expect("b")).expect("c");
    assert_eq!(c.nnz(), 3);
}

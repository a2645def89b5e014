//! The GPU through the trait that graph algorithms use: the checks of `tests/ops.rs` and `tests/bfs.rs` for the CPU,
//! and R·A·P by reused plans.
//!
//! Floats that the GPU folds in a tree are compared numerically: sums within n·ε·Σ|t|, minima and maxima up to the sign
//! of zero. All other results are compared bit for bit.
#![cfg(feature = "cuda")]

mod common;

use common::arbitrary::{AnyGraph, AnyPair, AnyPattern, Draw, Rng};
use common::backend_checks::*;
use common::gpu::cuda;
use common::rings::{CountPaths, Either, SumPlaces, SumWhere};
use common::{Same, identical};
use quickcheck::{Arbitrary, Gen};
use sparring::algebra::*;
use sparring::backend::{Backend, Container, Kernels};
use sparring::gpu::DeviceCsr;
use sparring::graph::bfs_levels;
use sparring::{Cpu, Csr, Cuda, Error, Vector};

/// Needs no GPU.
#[test]
fn comparisons_tell_right_from_wrong() {
    let terms: Vec<f64> = (1..1000).map(|i| 1.0 / f64::from(i)).collect();
    let (up, down) = (terms.iter().sum::<f64>(), terms.iter().rev().sum::<f64>());
    assert!(!up.same(&down) && sum_in_any_order(&up, &down, &terms));
    assert!(!sum_in_any_order(&(up + 1e-9), &up, &terms) && !sum_in_any_order(&-0.0, &0.0, &[0.0]));
    assert!(!sum_in_any_order(&1.0, &f64::INFINITY, &[f64::INFINITY, 1.0]));
    assert!(!sum_in_any_order(&1.0, &f64::NAN, &[f64::NAN, 1.0]) && !sum_in_any_order(&f64::NAN, &2.0, &[1.0, 1.0]));
    assert!(sum_in_any_order(&f64::INFINITY, &f64::MAX, &[f64::MAX, f64::MAX, -f64::MAX]));
    assert!(same_number(&0.0, &-0.0, &[]) && !same_number(&1.0, &2.0, &[]));
    assert!(one_of_them(&2, &1, &[1, 2i64]) && !one_of_them(&3, &1, &[1, 2i64]) && !one_of_them(&3i64, &1, &[]));
}

/// Runs a check on random and awkward operands.
fn many(check: impl Fn(&Cuda, &AnyPair) -> Outcome) {
    let cuda = cuda();
    for round in 0..60 {
        let pair = AnyPair::arbitrary(&mut Gen::new(60));
        check(&cuda, &pair).unwrap_or_else(|e| panic!("round {round}: {e}\n{pair:?}"));
    }
}

fn products_of<R: Semiring + Default>(compare: Compare<Out<R>>)
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    many(|cuda, pair| {
        let mut pair = pair.clone();
        // In half of the cases, A has unsorted rows: the fold runs in stored order, or as a tree over it.
        pair.a.shuffle = if pair.seed % 2 == 0 { 0 } else { pair.seed };
        products(cuda, R::default(), &pair.a(), &pair.b(), pair.seed, compare)
    });
}

macro_rules! products {
    ($($name:ident: $ring:ty, $compare:expr;)*) => {$(
        #[test]
        #[ignore = "needs a GPU"]
        fn $name() { products_of::<$ring>($compare) }
    )*};
}
products! {
    plus_times_is_the_definition: PlusTimes<f64>, sum_in_any_order;
    plus_times_of_integers_is_the_definition: PlusTimes<i64>, bit_for_bit;
    min_plus_is_the_definition: MinPlus<f64>, same_number;
    max_min_is_the_definition: MaxMin<i64>, bit_for_bit;
    boolean_is_the_definition: LorLand, bit_for_bit;
    any_is_one_of_them: AnySecond<i64>, one_of_them;
    parents_are_the_definition: MinSecondI<f64, u64>, bit_for_bit;
    places_are_the_definition: SumPlaces, bit_for_bit;
    a_users_struct_is_the_definition: CountPaths, bit_for_bit;
    three_value_types_are_the_definition: SumWhere, bit_for_bit;
}

#[test]
#[ignore = "needs a GPU"]
fn masked_products_through_the_trait() {
    many(|cuda, pair| {
        masked_products(cuda, PlusTimes::<f64>::default(), pair)?;
        masked_products(cuda, CountPaths::default(), pair)
    });
}

#[test]
#[ignore = "needs a GPU"]
fn kronecker_products_are_the_definition() {
    let cuda = cuda();
    for seed in 0..60 {
        kronecker_products(&cuda, seed).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn entry_by_entry_is_the_definition() {
    many(entry_by_entry);
}

#[test]
#[ignore = "needs a GPU"]
fn folds_are_the_definition() {
    many(|cuda, pair| {
        folds(cuda, Plus::<f64>::new(), &pair.b(), sum_in_any_order)?;
        folds(cuda, Min::<f64>::new(), &pair.b(), same_number)?;
        folds(cuda, Any::<i64>::new(), &pair.b(), one_of_them)?;
        folds(cuda, Lor::<bool>::new(), &pair.b(), bit_for_bit)?;
        folds(cuda, Band::<u8>::new(), &pair.b(), bit_for_bit)?;
        folds(cuda, Either::new(), &pair.b(), bit_for_bit)
    });
}

#[test]
#[ignore = "needs a GPU"]
fn places_of_a_sparse_vector_are_assigned() {
    many(assignments);
}

#[test]
#[ignore = "needs a GPU"]
fn what_goes_up_comes_down() {
    many(round_trips);
}

/// A graph of `n` vertices and about `edges` edges: a few vertices have most of the edges, and one is adjacent to every
/// second vertex.
fn skewed(n: usize, edges: usize, seed: u64) -> Csr<f64> {
    let mut rng = Rng(seed);
    let mut rows = vec![vec![]; n];
    for _ in 0..edges {
        let mut end = || [rng.below(n), rng.below(n), rng.below(n)].into_iter().min().unwrap_or_default();
        let (from, to) = (end(), end());
        rows[from].push(to as u32);
    }
    rows[n / 2].extend((0..n as u32).step_by(2));
    for row in &mut rows {
        row.sort_unstable();
        row.dedup();
    }
    AnyPattern { ncols: n, rows, shuffle: 0 }.matrix(seed)
}

#[test]
#[ignore = "needs a GPU"]
fn a_large_matrix_is_the_definition() {
    let cuda = cuda();
    large_matrix(&cuda, &with_sums(&skewed(8000, 100_000, 5)), sum_in_any_order).unwrap();
}

#[test]
#[ignore = "needs a GPU"]
fn very_wide_matrices_are_the_definition() {
    let cuda = cuda();
    very_wide_matrices(&cuda, sum_in_any_order).unwrap();
}

#[test]
#[ignore = "needs a GPU"]
fn sums_of_a_wide_product_are_in_order() {
    let cuda = cuda();
    sums_of_a_wide_product(&cuda).unwrap();
}

#[test]
#[ignore = "needs a GPU"]
fn small_things_are_as_on_the_cpu() {
    let cuda = cuda();
    empty_shapes(&cuda).expect("operations on nothing");
    what_does_not_fit_is_refused(&cuda).expect("operands");
    zeros_stay_entries(&cuda).expect("small operations");
}

#[test]
#[ignore = "needs a GPU"]
fn levels_are_those_of_a_queue() {
    let cuda = cuda();
    for seed in 0..80 {
        let a: Csr<f64> = AnyGraph::arbitrary(&mut Gen::new(60)).0.matrix(seed);
        if a.nrows() > 0 {
            levels(&cuda, &a, seed as usize * 31 % a.nrows()).unwrap_or_else(|e| panic!("{e}\n{a:?}"));
        }
    }
}

/// A skewed graph with few levels, a grid with many, and a path with as many levels as vertices.
#[test]
#[ignore = "needs a GPU"]
fn levels_of_large_graphs() {
    let cuda = cuda();
    let a = skewed(100_000, 1_000_000, 3);
    for source in [0, 50_000, 99_999] {
        levels(&cuda, &a, source).unwrap();
    }
    let side = 200;
    let neighbours = |v: u32| {
        let (x, y) = (v % side, v / side);
        let mut row = vec![];
        row.extend((y > 0).then(|| v - side));
        row.extend((x > 0).then(|| v - 1));
        row.extend((x + 1 < side).then_some(v + 1));
        row.extend((y + 1 < side).then_some(v + side));
        row
    };
    let rows = (0..side * side).map(neighbours).collect();
    let grid = AnyPattern { ncols: (side * side) as usize, rows, shuffle: 0 }.matrix(1);
    levels(&cuda, &grid, 0).unwrap();
    levels(&cuda, &grid, (side * side / 2 + side / 2) as usize).unwrap();
    levels(&cuda, &path(500), 0).unwrap();
    levels(&cuda, &path(500), 499).unwrap();
}

/// Rounds that relax all edges, and BFS parents level by level. Frontiers have one entry, more entries than a block
/// processes, or most vertices as a bitmap; each step is bitwise equal to the CPU.
#[test]
#[ignore = "needs a GPU"]
fn steps_of_large_graphs_have_the_bits_of_the_processor() {
    fn relaxed<B: Backend>(m: &B, a: &B::Matrix<f64>, d: &B::Vector<f64>) -> Result<B::Vector<f64>, Error> {
        let mut d = d.clone();
        m.vxm(MinPlus::new(), &d, a).accum(Min::new()).into(&mut d)?;
        Ok(d)
    }
    fn step<B: Backend>(
        m: &B,
        a: &B::Matrix<f64>,
        (q, parent): (&mut B::Vector<i64>, &mut B::Vector<i64>),
    ) -> Result<usize, Error> {
        let least = Ring(Min::<i64>::new(), SecondI::new());
        m.apply(Identity::new(), &*q).mask(q.structure()).into(parent)?;
        m.vxm(least, &*q, a).mask(!parent.structure()).replace().into(q)?;
        m.nnz(&*q)
    }
    let (cuda, cpu) = (cuda(), Cpu::new());
    let mut rng = Rng(8);
    for (graph, source) in [(skewed(100_000, 400_000, 3), 7u32), (path(3000), 0), (skewed(60_000, 60_000, 4), 0)] {
        let n = graph.nrows();
        let weights = (0..graph.nnz()).map(|_| 1.0 + rng.below(64) as f64 / 8.0).collect();
        let graph = Csr::with_pattern(graph.pattern().clone(), weights).unwrap();
        let there = cuda.upload(&graph).unwrap();
        let start = Vector::new(n, vec![source], vec![0.0]).unwrap();
        let (mut d, mut on_d) = (start.clone(), cuda.upload_vector(&start).unwrap());
        for round in 0..40 {
            d = relaxed(&cpu, &graph, &d).unwrap();
            on_d = relaxed(&cuda, &there, &on_d).unwrap();
            assert_eq!(cuda.download_vector(&on_d).unwrap(), d, "round {round}");
        }
        let start = Vector::new(n, vec![source], vec![i64::from(source)]).unwrap();
        let none = Vector::<i64>::empty(n).unwrap();
        let (mut q, mut parent) = (start.clone(), none.clone());
        let mut on_q = cuda.upload_vector(&start).unwrap();
        let mut on_parent = cuda.upload_vector(&none).unwrap();
        for level in 0..40 {
            let left = step(&cpu, &graph, (&mut q, &mut parent)).unwrap();
            assert_eq!(step(&cuda, &there, (&mut on_q, &mut on_parent)).unwrap(), left, "level {level}");
            assert_eq!(cuda.download_vector(&on_q).unwrap(), q, "level {level}");
            assert_eq!(cuda.download_vector(&on_parent).unwrap(), parent, "level {level}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn what_is_no_graph_or_no_vertex_is_refused() {
    let cuda = cuda();
    let up = |m, n| cuda.upload(&Csr::<f64>::empty(m, n).expect("a")).expect("memory");
    let e = bfs_levels(&cuda, &up(3, 4), None, 0).unwrap_err();
    assert!(matches!(e, Error::NotSquare { op: "bfs_levels", nrows: 3, ncols: 4 }), "{e}");
    let e = bfs_levels(&cuda, &up(3, 3), None, 3).unwrap_err();
    assert!(matches!(e, Error::Argument { name: "source", .. }), "{e}");
}

/// R·(A·P) of a multigrid method, with changing values of A.
struct Multigrid {
    a: Csr<f64>,
    p: Csr<f64>,
}

impl Multigrid {
    /// A grid of side² points with an entry for each point and its neighbours; each point depends on one to three
    /// coarse points. The sums would round differently in another order.
    fn new(side: usize) -> Self {
        let mut rng = Rng(side as u64);
        let rows = (0..side * side).map(|v| {
            let (x, y) = (v % side, v / side);
            let steps = [(0, -1), (-1, 0), (0, 0), (1, 0), (0, 1)];
            let at = |(dx, dy)| Some((x.checked_add_signed(dx)?, y.checked_add_signed(dy)?));
            let places = steps.into_iter().filter_map(at).filter(|&(x, y)| x < side && y < side);
            places.map(|(x, y)| (y * side + x) as u32).collect()
        });
        let a = AnyPattern { ncols: side * side, rows: rows.collect(), shuffle: 0 };
        let coarse = side * side / 9 + 1;
        let hangs_on = (0..side * side).map(|v| {
            let mut row: Vec<u32> = (0..1 + rng.below(3)).map(|s| ((v / 9 + s * 7) % coarse) as u32).collect();
            row.sort_unstable();
            row.dedup();
            row
        });
        let p = AnyPattern { ncols: coarse, rows: hangs_on.collect(), shuffle: 0 };
        let (a, p) = (a.matrix(1), p.matrix(2));
        Self { a: Self::with_values(&a, 1), p: Self::with_values(&p, 2) }
    }
    /// New values for the same pattern, none of them special.
    fn with_values(a: &Csr<f64>, seed: u64) -> Csr<f64> {
        let mut rng = Rng(seed);
        let values = (0..a.nnz()).map(|_| (rng.next() >> 11) as f64 * 2f64.powi(-52) - 1.0).collect();
        Csr::with_pattern(a.pattern().clone(), values).expect("values")
    }
}

/// R·(A·P) on any backend.
fn galerkin<B: Backend, R>(on: &B, ring: R, a: &Csr<f64>, p: &Csr<f64>) -> Result<Csr<f64>, Error>
where
    R: Semiring<Mul: MulOp<A = f64, B = f64>, Add: Monoid<Out = f64>>,
{
    let (a, p) = (on.upload(a)?, on.upload(p)?);
    let ap = on.mxm(ring, &a, &p).eval()?;
    on.download(&on.mxm(ring, &p, &ap).transpose_a().eval()?)
}

#[test]
#[ignore = "needs a GPU"]
fn plans_of_rap_serve_changed_values_and_other_semirings() {
    let cuda = cuda();
    let run = || -> Result<(), Error> {
        let (cpu, ring) = (Cpu::new(), PlusTimes::<f64>::default());
        let Multigrid { a: first, p } = Multigrid::new(90);
        let (on_a, on_p) = (cuda.upload(&first)?, cuda.upload(&p)?);
        let on_r = cuda.transpose(&on_p).eval()?;
        let plan_ap = cuda.plan(&on_a, &on_p).eval()?;
        let mut ap = cuda.mxm(ring, &on_a, &on_p).plan(&plan_ap).eval()?;
        let plan_rap = cuda.plan(&on_r, &ap).eval()?;
        let mut rap = cuda.mxm(ring, &on_r, &ap).plan(&plan_rap).eval()?;
        for step in 0..4 {
            let a = Multigrid::with_values(&first, step);
            // A's pattern is on the device already.
            let on_a = cuda.upload(&a)?;
            cuda.mxm(ring, &on_a, &on_p).plan(&plan_ap).into(&mut ap)?;
            cuda.mxm(ring, &on_r, &ap).plan(&plan_rap).into(&mut rap)?;
            assert!(identical::<f64, u32>(&cuda.download(&rap)?, &galerkin(&cpu, ring, &a, &p)?), "step {step}");
        }
        let other = MinPlus::<f64>::default();
        let ap: DeviceCsr<f64> = cuda.mxm(other, &on_a, &on_p).plan(&plan_ap).eval()?;
        let rap = cuda.mxm(other, &on_r, &ap).plan(&plan_rap).eval()?;
        assert!(identical::<f64, u32>(&cuda.download(&rap)?, &galerkin(&cpu, other, &first, &p)?));
        // The same without plans, in code generic over the backend.
        assert!(identical(&galerkin(&cuda, ring, &first, &p)?, &galerkin(&cpu, ring, &first, &p)?));
        let e = cuda.mxm(ring, &on_a, &on_r).plan(&plan_ap).into(&mut ap.clone()).unwrap_err();
        assert!(matches!(e, Error::PatternChanged { operand: "B", .. }), "{e}");
        Ok(())
    };
    run().unwrap();
}

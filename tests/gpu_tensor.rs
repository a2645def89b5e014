//! Sparse tensors on the GPU: MTTKRP in every form compared with the definition, in double precision.

mod common;

use common::arbitrary::Rng;
use common::gpu::cuda;
use sparring::algebra::{Array, Host, MinPlus, Monoid, Num, PlusTimes, Real, Type, V, Value};
use sparring::gpu::{DeviceMttkrp, TensorForm, testing};
use sparring::runtime::{self, Machine};
use sparring::{Cpu, Cuda, Dense, Error, Tensor};

/// Forms whose results depend bitwise only on the order of the entries.
const FORMS: [TensorForm; 4] = TensorForm::ALL;

fn draw(rng: &mut Rng, n: usize, skew: i32) -> u32 {
    let u = rng.below(1 << 20) as f64 / f64::from(1 << 20);
    ((n as f64 * u.powi(skew)) as usize).min(n - 1) as u32
}

/// `nnz` entries with these dimensions, denser at low indices for larger `skew`, sorted or not; every tenth value is a
/// stored zero.
fn tensor(dims: &[usize], nnz: usize, skew: i32, sorted: bool, seed: u64) -> Tensor<f64> {
    let mut rng = Rng(seed);
    let mut places: Vec<Vec<u32>> = (0..nnz).map(|_| dims.iter().map(|&n| draw(&mut rng, n, skew)).collect()).collect();
    if sorted {
        places.sort();
    }
    let columns = (0..dims.len()).map(|m| places.iter().map(|p| p[m]).collect()).collect();
    let values = (0..nnz).map(|e| if e % 10 == 9 { 0.0 } else { 0.25 + rng.below(1000) as f64 / 1000.0 }).collect();
    Tensor::new(dims.to_vec(), columns, values).unwrap()
}

fn factors(dims: &[usize], rank: usize, seed: u64) -> Vec<Dense<f64>> {
    let mut rng = Rng(seed);
    let mut values = |n: usize| (0..n).map(|_| 0.1 + rng.below(1000) as f64 / 1000.0).collect();
    dims.iter().map(|&n| Dense::new(n, rank, values(n * rank)).unwrap()).collect()
}

/// The definition, entry by entry.
fn reference(x: &Tensor<f64>, factors: &[Dense<f64>], mode: usize) -> Vec<f64> {
    let rank = factors[0].ncols();
    let mut v = vec![0.0; x.dims()[mode] * rank];
    for e in 0..x.nnz() {
        for r in 0..rank {
            let others = (0..x.order()).filter(|&m| m != mode);
            let product = others.fold(x.values()[e], |p, m| p * factors[m].row(x.indices(m)[e] as usize)[r]);
            v[x.indices(mode)[e] as usize * rank + r] += product;
        }
    }
    v
}

fn cast<T: Num>(x: &Tensor<f64>) -> Tensor<T> {
    x.with_values(x.values().iter().map(|&v| T::from_f64(v)).collect()).unwrap()
}
fn cast_all<T: Num>(factors: &[Dense<f64>]) -> Vec<Dense<T>> {
    let cast = |f: &Dense<f64>| Dense::new(f.nrows(), f.ncols(), f.values().iter().map(|&v| T::from_f64(v)).collect());
    factors.iter().map(|f| cast(f).unwrap()).collect()
}
/// Rounded to the type.
fn rounded<T: Num>(factors: &[Dense<f64>]) -> Vec<Dense<f64>> {
    let round = |f: &Dense<f64>| {
        Dense::new(f.nrows(), f.ncols(), f.values().iter().map(|&v| T::from_f64(v).as_f64()).collect())
    };
    factors.iter().map(|f| round(f).unwrap()).collect()
}

/// Largest relative difference to the reference: all terms are positive.
fn error<T: Num>(found: &[T], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let relative =
        |(x, &y): (&T, &f64)| if x.as_f64() == y { 0.0 } else { (x.as_f64() - y).abs() / y.abs().max(1e-300) };
    found.iter().zip(expected).map(relative).fold(0.0, f64::max)
}

fn products<T: Real>(cuda: &Cuda, plan: &DeviceMttkrp<'_, T>, factors: &[Dense<T>]) -> Vec<Vec<T>>
where
    PlusTimes<T>: Default,
{
    let there: Vec<_> = factors.iter().map(|f| cuda.upload_dense(f).unwrap()).collect();
    let modes = 0..plan.dims().len();
    let product = |mode| cuda.download_dense(&plan.mttkrp(PlusTimes::<T>::default(), &there, mode).unwrap()).unwrap();
    modes.map(|mode| product(mode).into_values()).collect()
}

fn bits<T: Real>(all: &[Vec<T>]) -> Vec<u64> {
    all.iter().flatten().map(|x| x.as_f64().to_bits()).collect()
}

/// All forms and modes compared with the definition; two runs, copies and permuted records give the same bits.
fn check<T: Real>(cuda: &Cuda, x: &Tensor<f64>, rank: usize, bound: f64) {
    let (x, wide) = (cast::<T>(x), x);
    let wide = wide.with_values(x.values().iter().map(|v| v.as_f64()).collect()).unwrap();
    let factors = factors(x.dims(), rank, 7 + rank as u64);
    let (narrow, exact) = (cast_all::<T>(&factors), rounded::<T>(&factors));
    let expected: Vec<_> = (0..x.order()).map(|mode| reference(&wide, &exact, mode)).collect();
    let mut first = None;
    for form in FORMS {
        let plan = cuda.mttkrp_plan(&x, Some(form)).unwrap();
        let found = products(cuda, &plan, &narrow);
        for (mode, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let error = error(found, expected);
            assert!(
                error <= bound,
                "{:?} {} entries, rank {rank}, {form:?}, mode {mode}: {error:e}",
                x.dims(),
                x.nnz()
            );
        }
        assert!(bits(&found) == bits(&products(cuda, &plan, &narrow)), "{form:?}: other bits the second time");
        let again = cuda.mttkrp_plan(&x, Some(form)).unwrap();
        assert!(bits(&found) == bits(&products(cuda, &again, &narrow)), "{form:?}: other bits from another plan");
        match form {
            TensorForm::Copies => first = Some(bits(&found)),
            TensorForm::Permuted => {
                assert!(first.as_ref() == Some(&bits(&found)), "permuted records differ from copies")
            }
            _ => {}
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn every_form_is_the_definition_for_every_rank() {
    let cuda = cuda();
    let x = tensor(&[50, 300, 41], 20_000, 2, true, 1);
    for rank in [1, 2, 3, 4, 5, 8, 15, 16, 24, 31, 32, 33, 48, 64, 96, 100, 130] {
        check::<f32>(&cuda, &x, rank, 1e-6);
        check::<f64>(&cuda, &x, rank, 1e-13);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn every_form_is_the_definition_for_every_order() {
    let cuda = cuda();
    let orders: [&[usize]; 9] = [
        &[700],
        &[60, 900],
        &[33, 44, 55],
        &[20, 30, 2, 17],
        &[165, 11, 2, 10, 9],
        &[9, 8, 7, 6, 5, 4],
        &[5, 4, 3, 2, 3, 4, 5, 1],
        &[3; 12],
        &[2; 20],
    ];
    for (at, dims) in orders.iter().enumerate() {
        for sorted in [true, false] {
            let x = tensor(dims, 9_000, 1, sorted, at as u64);
            for rank in [1, 16, 32] {
                check::<f32>(&cuda, &x, rank, 2e-6);
                check::<f64>(&cuda, &x, rank, 1e-13);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn awkward_tensors() {
    let cuda = cuda();
    // One entry; none; one huge row; a row for each entry; most slices empty; a mode of dimension 1.
    let one = Tensor::<f64>::new(vec![3, 4, 5], vec![vec![2], vec![0], vec![4]], vec![1.5]).unwrap();
    check::<f64>(&cuda, &one, 5, 1e-15);
    check::<f32>(&cuda, &Tensor::empty(vec![3, 4, 5]).unwrap(), 32, 0.0);
    check::<f32>(&cuda, &Tensor::empty(vec![0, 4, 0]).unwrap(), 32, 0.0);
    check::<f64>(&cuda, &Tensor::empty(vec![7]).unwrap(), 3, 0.0);
    let mut huge = tensor(&[40, 1000, 1000], 60_000, 1, false, 3).into_parts();
    huge.1[0].iter_mut().skip(1000).for_each(|i| *i = 17);
    let huge = Tensor::new(huge.0, huge.1, huge.2).unwrap();
    for rank in [1, 3, 32, 100] {
        check::<f32>(&cuda, &huge, rank, 1e-6);
        check::<f64>(&cuda, &huge, rank, 1e-13);
    }
    let thin = tensor(&[1_000_000, 1, 2_000_000], 30_000, 1, true, 4);
    check::<f32>(&cuda, &thin, 16, 1e-6);
    // All dimensions 1: a single sum.
    check::<f32>(&cuda, &tensor(&[1, 1, 1], 100_000, 1, true, 5), 32, 1e-6);
    // Rank 0, and errors that report their numbers.
    let plan = cuda.mttkrp_plan(&one, None).unwrap();
    let there = |rank: usize, dims: [usize; 3]| {
        dims.map(|n| cuda.upload_dense(&Dense::new(n, rank, vec![1.0; n * rank]).unwrap()).unwrap())
    };
    let ring = PlusTimes::<f64>::default();
    assert_eq!(plan.mttkrp(ring, &there(0, [3, 4, 5]), 1).unwrap().shape(), (4, 0));
    assert!(matches!(plan.mttkrp(ring, &there(2, [3, 4, 6]), 1), Err(Error::Dims { .. })));
    assert!(matches!(plan.mttkrp(ring, &there(2, [6, 4, 5]), 1), Err(Error::Dims { .. })));
    // The factor of the output mode is not read, whatever its shape.
    assert_eq!(plan.mttkrp(ring, &there(2, [3, 0, 5]), 1).unwrap().shape(), (4, 2));
    let mut uneven = there(2, [3, 4, 5]);
    let [other, _, _] = there(3, [3, 4, 5]);
    uneven[0] = other;
    assert_eq!(plan.mttkrp(ring, &uneven, 0).unwrap().shape(), (3, 2));
    assert!(matches!(plan.mttkrp(ring, &there(2, [3, 4, 5])[..2], 1), Err(Error::Dims { .. })));
    let mut uneven = there(2, [3, 4, 5]);
    let [_, _, longer] = there(3, [3, 4, 5]);
    uneven[2] = longer;
    assert!(matches!(plan.mttkrp(ring, &uneven, 1), Err(Error::Shape { .. })));
    assert!(matches!(plan.mttkrp(ring, &there(2, [3, 4, 5]), 3), Err(Error::Argument { .. })));
    let mut v = cuda.upload_dense(&Dense::new(4, 3, vec![0.0; 12]).unwrap()).unwrap();
    assert!(matches!(plan.mttkrp_into(ring, &there(2, [3, 4, 5]), 1, &mut v), Err(Error::Shape { .. })));
}

#[test]
#[ignore = "needs a GPU"]
fn short_modes_are_as_exact_as_long_ones() {
    let cuda = cuda();
    // Rows with more than a million entries each: naive f32 sums would have errors of 1e-2.
    let x = tensor(&[16_543, 1137, 2, 100, 89], 2_600_000, 1, true, 41);
    check::<f32>(&cuda, &x, 8, 1e-6);
    check::<f64>(&cuda, &x, 3, 1e-13);
}

#[test]
#[ignore = "needs a GPU"]
fn modes_in_any_order() {
    let cuda = cuda();
    let x = tensor(&[30, 40, 50, 3], 20_000, 1, true, 6);
    let factors = factors(x.dims(), 16, 8);
    let there: Vec<_> = factors.iter().map(|f| cuda.upload_dense(f).unwrap()).collect();
    let ring = PlusTimes::<f64>::default();
    for form in FORMS {
        let plan = cuda.mttkrp_plan(&x, Some(form)).unwrap();
        for mode in [2, 2, 0, 3, 1, 1, 0, 3] {
            let v = cuda.download_dense(&plan.mttkrp(ring, &there, mode).unwrap()).unwrap();
            let error = error(v.values(), &reference(&x, &factors, mode));
            assert!(error <= 1e-13, "{form:?}, mode {mode}: {error:e}");
        }
    }
}

/// The definition over a semiring, folded in the order of the entries.
fn over<T: Value, R>(ring: R, x: &Tensor<T>, factors: &[Dense<T>], mode: usize) -> Vec<T>
where
    R: sparring::algebra::Semiring<Add: Monoid<Out = T>, Mul: sparring::algebra::MulOp<A = T, B = T, Out = T>>,
{
    use sparring::algebra::{At, BinaryOp, MulOp};
    let rank = factors[0].ncols();
    let mut v = vec![<R::Add as Monoid>::IDENTITY; x.dims()[mode] * rank];
    for e in 0..x.nnz() {
        for r in 0..rank {
            let others = (0..x.order()).filter(|&m| m != mode);
            let at = || At { i: V(0), k: V(0), j: V(0) };
            let term = others.fold(x.values()[e], |p, m| {
                ring.mul().mul::<Host>(V(p), V(factors[m].row(x.indices(m)[e] as usize)[r]), at()).0
            });
            let to = &mut v[x.indices(mode)[e] as usize * rank + r];
            *to = ring.add().apply::<Host>(V(*to), V(term)).0;
        }
    }
    v
}

#[test]
#[ignore = "needs a GPU"]
fn over_other_semirings() {
    let cuda = cuda();
    let wide = tensor(&[50, 60, 70], 30_000, 2, true, 9);
    let factors = factors(wide.dims(), 17, 10);
    let there: Vec<_> = factors.iter().map(|f| cuda.upload_dense(f).unwrap()).collect();
    let ring = MinPlus::<f64>::default();
    let whole = |f: &Dense<f64>| {
        Dense::new(f.nrows(), f.ncols(), f.values().iter().map(|v| (v * 100.0) as i8).collect()).unwrap()
    };
    let small: Vec<Dense<i8>> = factors.iter().map(whole).collect();
    let small_there: Vec<_> = small.iter().map(|f| cuda.upload_dense(f).unwrap()).collect();
    let bytes = wide.with_values(wide.values().iter().map(|v| (v * 50.0) as i8).collect()).unwrap();
    for form in FORMS {
        let plan = cuda.mttkrp_plan(&wide, Some(form)).unwrap();
        let bytes_plan = cuda.mttkrp_plan(&bytes, Some(form)).unwrap();
        for mode in 0..3 {
            let v = cuda.download_dense(&plan.mttkrp(ring, &there, mode).unwrap()).unwrap();
            assert_eq!(v.values(), over(ring, &wide, &factors, mode), "{form:?}, mode {mode}");
            // Small integers wrap in the same way.
            let ring = PlusTimes::<i8>::default();
            let v = cuda.download_dense(&bytes_plan.mttkrp(ring, &small_there, mode).unwrap()).unwrap();
            assert_eq!(v.values(), over(ring, &bytes, &small, mode), "{form:?}, mode {mode}, i8");
        }
    }
    let positional = sparring::algebra::Ring(sparring::algebra::Min::<u64>::new(), sparring::algebra::FirstI::new());
    let x = wide.with_values(vec![1u64; wide.nnz()]).unwrap();
    let ones: Vec<_> =
        x.dims().iter().map(|&n| cuda.upload_dense(&Dense::new(n, 1, vec![1u64; n]).unwrap()).unwrap()).collect();
    let refused = cuda.mttkrp_plan(&x, None).unwrap().mttkrp(positional, &ones, 0);
    assert!(matches!(refused, Err(Error::Unsupported { .. })));
}

/// Loads of partitions under greedy assignment: items in decreasing order go to the least loaded partition.
fn least_filled(sizes: &[u32], partitions: usize) -> Vec<u32> {
    use std::cmp::Reverse;
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable_by_key(|&s| Reverse(s));
    let mut heap: std::collections::BinaryHeap<_> = (0..partitions).map(|_| Reverse(0u32)).collect();
    for size in sizes {
        let Reverse(load) = heap.pop().unwrap();
        heap.push(Reverse(load + size));
    }
    let mut loads: Vec<u32> = heap.into_iter().map(|Reverse(load)| load).collect();
    loads.sort_unstable();
    loads
}

#[test]
#[ignore = "needs a GPU"]
fn partitions_are_those_of_the_least_filled_rule() {
    let cuda = cuda();
    let mut rng = Rng(12);
    for (items, partitions, skew) in
        [(1, 1, 1), (5, 3, 1), (100, 7, 3), (5000, 64, 6), (20_000, 528, 9), (9000, 1024, 2), (3, 1024, 1), (0, 4, 1)]
    {
        let sizes: Vec<u32> = (0..items).map(|_| 1 + draw(&mut rng, 5000, skew)).collect();
        let (part_of, mut loads) = testing::loads_of(&cuda, &sizes, partitions).unwrap();
        let mut sums = vec![0; partitions];
        for (&part, &size) in part_of.iter().zip(&sizes) {
            sums[part as usize] += size;
        }
        assert_eq!(sums, loads);
        loads.sort_unstable();
        assert_eq!(loads, least_filled(&sizes, partitions), "{items} on {partitions}");
        // Graham's bound, with the mean and the largest item as lower bounds of the optimum.
        let total: u64 = sizes.iter().map(|&s| u64::from(s)).sum();
        let best = total.div_ceil(partitions as u64).max(sizes.iter().copied().max().unwrap_or(0).into());
        assert!(3 * u64::from(*loads.last().unwrap()) <= 4 * best, "{items} on {partitions}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn partitions_of_a_tensor_are_level() {
    let cuda = cuda();
    let x = tensor(&[20_000, 300, 2], 1_500_000, 3, true, 13);
    let plan = cuda.mttkrp_plan(&x, Some(TensorForm::Remapped)).unwrap();
    for mode in 0..3 {
        let loads = plan.partitions(mode).unwrap();
        assert!(loads.len() > 100, "{}", loads.len());
        assert_eq!(loads.iter().map(|&l| l as usize).sum::<usize>(), x.nnz());
        let (most, mean) = (*loads.iter().max().unwrap() as f64, x.nnz() as f64 / loads.len() as f64);
        assert!(most <= 4.0 / 3.0 * mean + 1.0, "mode {mode}: {most} of {mean}");
    }
    assert_eq!(cuda.mttkrp_plan(&x, None).unwrap().partitions(0).unwrap(), [0u32; 0]);
}

#[test]
#[ignore = "needs a GPU"]
fn what_does_not_fit_goes_in_parts() {
    let x = tensor(&[3000, 2000, 10], 400_000, 1, true, 14);
    let factors = factors(x.dims(), 16, 15);
    let there = |cuda: &Cuda| factors.iter().map(|f| cuda.upload_dense(f).unwrap()).collect::<Vec<_>>();
    let expected: Vec<_> = (0..3).map(|mode| reference(&x, &factors, mode)).collect();
    let mut forms = vec![];
    for megabytes in [100, 34, 10, 4] {
        let cuda = cuda().memory_budget(megabytes << 20);
        let there = there(&cuda);
        let plan = cuda.mttkrp_plan(&x, None).unwrap();
        forms.push(plan.form());
        for (mode, expected) in expected.iter().enumerate() {
            let v = cuda.download_dense(&plan.mttkrp(PlusTimes::<f64>::default(), &there, mode).unwrap()).unwrap();
            assert!(error(v.values(), expected) <= 1e-13, "{megabytes} MiB, mode {mode}");
        }
    }
    assert_eq!(forms, [TensorForm::Copies, TensorForm::Permuted, TensorForm::Parts, TensorForm::Parts]);
    // An explicitly requested form that does not fit is refused.
    let cuda = cuda().memory_budget(10 << 20);
    assert!(matches!(cuda.mttkrp_plan(&x, Some(TensorForm::Copies)), Err(Error::Budget { .. })));
}

#[test]
#[ignore = "needs a GPU"]
fn from_the_device_and_with_wide_indices() {
    let cuda = cuda();
    let x = tensor(&[30, 40, 50], 5000, 1, true, 16);
    let wide: Tensor<f64, u64> = x.cast().unwrap();
    let there = cuda.tensor(&wide).unwrap();
    assert_eq!((there.dims(), there.nnz(), there.order(), there.bytes()), (&[30, 40, 50][..], 5000, 3, 5000 * 20));
    let factors = factors(x.dims(), 8, 17);
    let plan = cuda.mttkrp_plan_of(&there, None).unwrap();
    assert_eq!(plan.form(), TensorForm::Copies);
    // A one-off product without a plan.
    let sent: Vec<_> = factors.iter().map(|f| cuda.upload_dense(f).unwrap()).collect();
    let once = |mode| cuda.mttkrp(PlusTimes::<f64>::default(), &there, &sent, mode);
    let at_once: Vec<_> = (0..3).map(|mode| cuda.download_dense(&once(mode).unwrap()).unwrap().into_values()).collect();
    assert_eq!(bits(&at_once), bits(&products(&cuda, &plan, &factors)));
    assert!(matches!(once(3), Err(Error::Argument { .. })));
    drop(there);
    let host = cuda.mttkrp_plan(&x, None).unwrap();
    assert_eq!(bits(&products(&cuda, &plan, &factors)), bits(&products(&cuda, &host, &factors)));
    assert!(plan.explain().starts_with("mttkrp: copies, a copy per mode fits"), "{}", plan.explain());
    assert!(plan.bytes() as u128 <= plan.stats().bytes(TensorForm::Copies).kept, "{} {:?}", plan.bytes(), plan.stats());
    let long = Tensor::<f64, u64>::new(vec![1 << 33, 2], vec![vec![5], vec![1]], vec![1.0]).unwrap();
    assert!(matches!(cuda.tensor(&long), Err(Error::IndexOverflow { .. })));
    assert!(matches!(cuda.mttkrp_plan(&long, Some(TensorForm::Parts)), Err(Error::IndexOverflow { .. })));
}

/// The values of a full vector.
fn values(v: &runtime::Vector) -> Array {
    v.download().unwrap().entries().unwrap().1
}
/// Integers of any type.
fn numbers(x: Array) -> Vec<f64> {
    let wide = runtime::Vector::full(x).unwrap().wrapping_cast(Type::F64).unwrap();
    values(&wide).slice().get::<f64>().unwrap().to_vec()
}

/// Products over a semiring known at run time: small integers, so that the order of folds does not matter.
#[test]
#[ignore = "needs a GPU"]
fn semirings_and_types_known_at_run_time_equal_the_processors() {
    let (here, there) = (Machine::from(Cpu::new()), Machine::from(cuda()));
    let mut rng = Rng(23);
    for (k, dims) in [vec![30, 40, 50], vec![9, 4, 7, 3], vec![1000, 2], vec![6]].into_iter().enumerate() {
        let nnz = [3000, 200, 1500, 4][k];
        let columns: Vec<Vec<u32>> = dims.iter().map(|&n| (0..nnz).map(|_| draw(&mut rng, n, 2)).collect()).collect();
        let x = Tensor::new(dims.clone(), columns, (0..nnz).map(|_| 1.0 + rng.below(3) as f64).collect()).unwrap();
        let x: runtime::Tensor = if k % 2 == 0 { x.into() } else { x.cast::<u64>().unwrap().into() };
        for (ty, ring) in [
            (Type::F64, "plus_times"),
            (Type::F64, "min_plus"),
            (Type::F32, "max, a + 2*b"),
            (Type::I8, "plus_times"),
            (Type::U64, "max_times"),
            (Type::I32, "plus, a * b + 1"),
            (Type::Bool, "lor_land"),
        ] {
            let (x, named) = (x.cast(ty).unwrap(), runtime::Semiring::new(ring, ty).unwrap());
            let rank = [5, 1, 40, 0][k];
            let factor = |n: usize| {
                let values: Vec<f64> = (0..n * rank).map(|e| (e % 3) as f64).collect();
                runtime::Vector::full(Array::of(values)).unwrap().cast(ty).unwrap()
            };
            let factors: Vec<_> = dims.iter().map(|&n| factor(n)).collect();
            let held: Vec<_> = factors.iter().map(values).collect();
            let slices: Vec<_> = held.iter().map(Array::slice).collect();
            let sent: Vec<_> = factors.iter().map(|f| there.upload_vector(f).unwrap()).collect();
            for mode in 0..dims.len() {
                let expected = numbers(here.mttkrp(&named, &x, &slices, rank, mode).unwrap());
                let context = format!("{dims:?}, {ty} over {ring}, mode {mode}");
                assert_eq!(numbers(there.mttkrp(&named, &x, &slices, rank, mode).unwrap()), expected, "{context}");
                let stayed = there.mttkrp_vectors(&named, &x, &sent, rank, mode).unwrap();
                assert!(!stayed.is_on_host());
                assert_eq!(numbers(values(&stayed)), expected, "{context}");
                if matches!(ty, Type::F64 | Type::F32) && ring == "plus_times" {
                    let plan = there.mttkrp_plan(&x, rank, None, None).unwrap();
                    assert_eq!(numbers(plan.eval(&slices, mode).unwrap()), expected, "{context}");
                    assert_eq!(numbers(values(&plan.eval_vectors(&sent, mode).unwrap())), expected, "{context}");
                    assert!(plan.eval_vectors(&sent[1..], mode).is_err());
                }
            }
        }
        let named = runtime::Semiring::new("plus_first", Type::F64).unwrap();
        let short = runtime::Vector::empty(Type::F64, dims[0]).unwrap();
        let factors = vec![short; dims.len()];
        assert!(there.mttkrp_vectors(&named, &x, &factors, 1, dims.len() - 1).is_err() || dims.len() == 1);
    }
}

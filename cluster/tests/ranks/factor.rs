//! Distributed CP-ALS compared with one CPU.

use std::ops::ControlFlow;

use sparring::algebra::{Array, Real};
use sparring::factor::{CpAls, CpFit};
use sparring::runtime::{Machine, Tensor as AnyTensor};
use sparring::tensor::{Kruskal, Pcg64, Tensor};
use sparring::{Cpu, Dense, Index};
use sparring_cluster::Cluster;

use crate::products::Draw;

/// Entries of a low-rank tensor at random positions, denser at small indices.
pub(crate) fn drawn<T: Real, I: Index>(dims: &[usize], entries: usize, seed: u64) -> Tensor<T, I> {
    let (mut draw, mut rng) = (Draw::new(seed), Pcg64::new(seed));
    let factors = dims.iter().map(|&n| {
        let values = (0..n * 2).map(|_| T::from_f64(rng.unit() + 0.1)).collect();
        Dense::new(n, 2, values).unwrap()
    });
    let model = Kruskal::new(vec![T::ONE; 2], factors.collect()).unwrap();
    let indices = dims.iter().map(|&n| (0..entries).map(|_| I::cast(draw.below(n) * draw.below(n) / n)).collect());
    let indices: Vec<Vec<I>> = indices.collect();
    let places = Tensor::new(dims.to_vec(), indices.clone(), vec![T::ONE; entries]).unwrap();
    let mut values = model.values_at(&places).unwrap();
    values.iter_mut().for_each(|x| *x = *x + T::from_f64(0.01 * draw.real()));
    Tensor::new(dims.to_vec(), indices, values).unwrap()
}

fn same<T: Real, I: Index>(cluster: &Cluster, als: &CpAls<'_, T>, x: &Tensor<T, I>, close: f64, what: &str) {
    let (here, there) = (als.run(&Cpu::with_threads(1).unwrap(), x).unwrap(), als.run(cluster, x).unwrap());
    let what = format!("{what} {:?} on {} ranks: {}", x.dims(), cluster.size(), there.explain);
    self::close(&here, &there, close, &what);
    if cluster.size() == 1 {
        assert_eq!(here.model, there.model, "{what}: bits");
    }
}

/// Checks that sweeps, fits and models agree up to rounding.
pub(crate) fn close<T: Real>(here: &CpFit<T>, there: &CpFit<T>, close: f64, what: &str) {
    assert_eq!(here.fits.len(), there.fits.len(), "{what}");
    // For an exact fit, ‖X − M‖² is a rounding error, and the fit depends on its square root.
    let apart = |(a, b): (&f64, &f64)| (a - b).abs().min(((1.0 - a).powi(2) - (1.0 - b).powi(2)).abs());
    let worst = here.fits.iter().zip(&there.fits).map(apart).fold(0.0, f64::max);
    assert!(worst <= close, "{what}: {worst:e}, {:?} {:?}", here.fits, there.fits);
    assert!((here.start, here.converged) == (there.start, there.converged), "{what}");
    let near = |a: T, b: T| (a.as_f64() - b.as_f64()).abs() <= 1e3 * close * (1.0 + a.as_f64().abs());
    let weights = here.model.weights().iter().zip(there.model.weights());
    assert!(weights.clone().all(|(&a, &b)| near(a, b)), "{what}: {:?}", weights.collect::<Vec<_>>());
    for (a, b) in here.model.factors().iter().zip(there.model.factors()) {
        assert_eq!(a.shape(), b.shape());
        assert!(a.values().iter().zip(b.values()).all(|(&a, &b)| near(a, b)), "{what}");
    }
}

pub(crate) fn all(cluster: &Cluster) {
    for (case, (dims, entries)) in [
        (vec![30, 20, 10], 900),
        (vec![5, 200, 6], 900),
        (vec![9, 8, 7, 6], 700),
        (vec![1, 1, 50], 30),
        (vec![40, 40], 300),
        (vec![5], 4),
    ]
    .into_iter()
    .enumerate()
    {
        let seed = case as u64 + 3;
        let als = || CpAls::new(2).sweeps(8).tol(0.0).seed(seed);
        same(cluster, &als(), &drawn::<f64, u32>(&dims, entries, seed), 1e-10, "f64");
        same(cluster, &als(), &drawn::<f64, u64>(&dims, entries, seed), 1e-10, "f64 of u64");
        // Every rank with a partial row adds one rounding.
        same(cluster, &CpAls::new(2).sweeps(5).tol(0.0), &drawn::<f32, u32>(&dims, entries, seed), 2e-6, "f32");
        same(cluster, &als().nonnegative(true), &drawn::<f64, u32>(&dims, entries, seed), 1e-10, "nonnegative");
        same(cluster, &als().ridge(0.1).starts(2), &drawn::<f64, u32>(&dims, entries, seed), 1e-10, "ridge");
    }
    let als = || CpAls::new(3).sweeps(4);
    same(cluster, &als(), &Tensor::<f64, u32>::empty(vec![4, 3, 2]).unwrap(), 1e-10, "empty");
    same(cluster, &als(), &Tensor::<f64, u32>::empty(vec![0, 3, 2]).unwrap(), 1e-10, "a mode of 0");
    let one = Tensor::<f64, u32>::new(vec![4, 3, 2], vec![vec![2], vec![1], vec![0]], vec![5.0]).unwrap();
    same(cluster, &als(), &one, 1e-10, "one entry");
    stops(cluster);
    by_type(cluster);
    // Invalid arguments are errors on all ranks.
    assert!(CpAls::new(0).run(cluster, &one).is_err());
    let wrong = Tensor::<f64, u32>::new(vec![2], vec![vec![1]], vec![f64::NAN]).unwrap();
    assert!(als().run(cluster, &wrong).is_err());
}

/// A stop request of one rank stops all.
fn stops(cluster: &Cluster) {
    let x = drawn::<f64, u32>(&[20, 20, 20], 400, 8);
    let is_last = cluster.rank() + 1 == cluster.size();
    let watch = |sweep: sparring::factor::Sweep| {
        if is_last && sweep.number == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = CpAls::new(2).sweeps(9).tol(0.0).on_sweep(watch).run(cluster, &x).unwrap();
    assert_eq!(found.fits.len(), 3);
}

/// A tensor of run-time type, with indices of either width.
fn by_type(cluster: &Cluster) {
    let (cpu, many) = (Machine::from(Cpu::with_threads(1).unwrap()), Machine::from(cluster.clone()));
    let x = drawn::<f64, u32>(&[9, 8, 7], 200, 4);
    for n in [9, 1 << 33] {
        let wide = (0..3).map(|m| x.indices(m).iter().map(|&i| u64::from(i)).collect()).collect();
        let x = AnyTensor::new::<u64>(vec![n, 8, 7], wide, Array::of(x.values().to_vec()));
        if n > 9 {
            // Factors of this size cannot be allocated.
            assert!(many.cp_als(&CpAls::new(1 << 20), &x.unwrap()).is_err());
            continue;
        }
        let (x, als) = (x.unwrap(), CpAls::new(2).sweeps(5).tol(0.0));
        let (here, there) = (cpu.cp_als(&als, &x).unwrap(), many.cp_als(&als, &x).unwrap());
        assert!((here.fit - there.fit).abs() < 1e-10, "{} {}", here.fit, there.fit);
    }
}

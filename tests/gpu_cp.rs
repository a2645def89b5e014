//! CP-ALS on the GPU: published fits, singular systems, and results within stated bounds of the CPU's.
#![cfg(feature = "cuda")]

mod common;

use common::arbitrary::Rng;
use common::gpu::cuda;
use common::tensors::{GENTEN_FITS, close, genten, ones};
use sparring::algebra::Real;
use sparring::factor::{CpAls, CpFit, InForm};
use sparring::gpu::TensorForm;
use sparring::tensor::{Tensor, Variant};
use sparring::{Cpu, Cuda, Error};

fn random(rng: &mut Rng, dims: &[usize], nnz: usize) -> Tensor<f64> {
    let indices = dims.iter().map(|&n| (0..nnz).map(|_| rng.below(n) as u32).collect()).collect();
    let values = (0..nnz).map(|_| rng.below(9) as f64 - 3.0).collect();
    let x = Tensor::<f64>::new(dims.to_vec(), indices, values).unwrap();
    x.summed(&sparring::par::Threads::current(), sparring::algebra::Plus::new()).unwrap()
}
fn bits<T: Real>(found: &CpFit<T>) -> Vec<u64> {
    let values = found.model.factors().iter().flat_map(|f| f.values()).chain(found.model.weights());
    values.map(|v| v.as_f64().to_bits()).chain(found.fits.iter().map(|f| f.to_bits())).collect()
}
/// Runs on the GPU in each form, twice, with the same bits.
fn in_all_forms<T: Real>(cuda: &Cuda, als: &CpAls<'_, T>, x: &Tensor<T>) -> Vec<CpFit<T>> {
    let run = |form| {
        let machine = InForm { cuda, form };
        let found = als.run(&machine, x).unwrap_or_else(|e| panic!("{form:?}: {e}"));
        assert!(bits(&found) == bits(&als.run(&machine, x).unwrap()), "{form:?}: other bits the second time");
        found
    };
    TensorForm::ALL.map(run).into()
}

/// GenTen's unit test, 2 × 3 × 4, exactly of rank 2: fits and weights as GenTen, pyttb and TensorLy print them.
#[test]
#[ignore = "needs a GPU"]
fn a_published_run() {
    let cuda = cuda();
    let (x, start) = genten();
    for found in in_all_forms(&cuda, &CpAls::new(2).guess(start.clone()).sweeps(20).tol(0.0), &x) {
        for (sweep, fit) in GENTEN_FITS {
            assert!(
                close(found.fits[sweep - 1], fit, if sweep < 10 { 1e-12 } else { 1e-11 }),
                "{sweep}: {}",
                found.fits[sweep - 1]
            );
        }
        assert!(
            found.model.weights().iter().zip([2.82859275, 1.99983436]).all(|(&w, e)| close(w, e, 1e-8)),
            "{:?}",
            found.model
        );
    }
    let found = CpAls::new(2).guess(start).tol(1e-6).run(&cuda, &x).unwrap();
    assert_eq!((found.fits.len(), found.converged, found.singular), (30, true, 0));
}

/// All components become equal: Υ is singular from then on, and the weights have minimum norm.
#[test]
#[ignore = "needs a GPU"]
fn a_singular_system_has_the_solution_of_minimum_norm() {
    let cuda = cuda();
    for (rank, weight) in [(2, 2.59807621), (4, 1.29903811), (8, 0.64951905)] {
        let found = CpAls::new(rank).seed(7).sweeps(10).tol(0.0).run(&cuda, &ones(&[3, 3, 3])).unwrap();
        assert!(
            close(found.fit, 1.0, 1e-7) && found.singular > 0,
            "{rank}: {} after {} singular systems",
            found.fit,
            found.singular
        );
        assert!(found.model.weights().iter().all(|&w| close(w, weight, 1e-6)), "{rank}: {:?}", found.model.weights());
    }
    let single = ones(&[3, 3, 3]);
    let single = single.with_values(vec![1f32; single.nnz()]).unwrap();
    let found = CpAls::<f32>::new(4).seed(7).sweeps(10).tol(0.0).run(&cuda, &single).unwrap();
    assert!(close(found.fit, 1.0, 1e-3) && found.singular > 0, "{found:?}");
}

/// The same for ranks whose matrices fit shared memory and for larger ones.
#[test]
#[ignore = "needs a GPU"]
fn large_singular_systems() {
    let cuda = cuda();
    for rank in [33, 100, 130] {
        let found = CpAls::new(rank).seed(7).sweeps(5).tol(0.0).run(&cuda, &ones(&[3, 3, 3])).unwrap();
        assert!(close(found.fit, 1.0, 1e-7) && found.singular > 0, "{rank}: {} {}", found.fit, found.singular);
        let weight = 27f64.sqrt() / rank as f64;
        assert!(found.model.weights().iter().all(|&w| close(w, weight, 1e-6)), "{rank}: {:?}", found.model.weights());
    }
}

/// Fits of real measurements that other programs found from the same initial guess.
#[test]
#[ignore = "needs a GPU"]
fn fits_of_amino_acids() {
    let cuda = cuda();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("aminoacid.tns.gz");
    std::fs::write(&path, include_bytes!("../data/aminoacid.tns.gz")).unwrap();
    let x = sparring::io::read_frostt::<f64>(&path).unwrap().narrow().unwrap();
    for (rank, sweeps, fit) in [
        (1, 10, 0.4032588304),
        (2, 50, 0.6363172933),
        (3, 10, 0.9415659207),
        (3, 50, 0.9748052476),
        (3, 500, 0.9749514828),
        (4, 50, 0.9753318283),
        (5, 50, 0.9781842634),
    ] {
        let found = CpAls::new(rank).seed(7).sweeps(sweeps).tol(0.0).run(&cuda, &x).unwrap();
        assert!(close(found.fit, fit, 1e-10), "rank {rank}, {sweeps} sweeps: {}, known {fit}", found.fit);
    }
}

/// Orders 1 to 8, ranks above every mode, and large ranks: fits equal the CPU's where systems are regular, and never
/// decrease.
#[test]
#[ignore = "needs a GPU"]
fn fits_are_those_of_the_processor() {
    let cuda = cuda();
    let mut rng = Rng(1);
    let mut compared = 0;
    for dims in [&[9][..], &[40, 60], &[50, 40, 60], &[20, 30, 2, 40], &[30, 20, 20, 3, 20], &[8, 7, 6, 5, 4, 3, 2, 1]]
    {
        for rank in [1, 2, 5, 9, 32, 40] {
            let x = random(&mut rng, dims, 2500);
            let als = || CpAls::new(rank).seed(3).sweeps(12).tol(0.0);
            let (here, there) = (als().run(&Cpu::new(), &x).unwrap(), als().run(&cuda, &x).unwrap());
            let what = format!("{dims:?} rank {rank}: {:?} {:?}", here.fits, there.fits);
            let slack = 1e-7 * (1.0 + there.model.weights()[0] / x.norm());
            assert!(there.fits.windows(2).all(|w| w[1] >= w[0] - slack), "{what}");
            if here.singular == 0 && there.singular == 0 {
                assert!(here.fits.iter().zip(&there.fits).all(|(a, b)| close(*a, *b, 1e-9 + slack)), "{what}");
                compared += 1;
            } else {
                assert!(there.singular > 0 && here.singular > 0, "{what}: {} {}", here.singular, there.singular);
            }
        }
    }
    assert!(compared >= 12, "{compared}");
}

#[test]
#[ignore = "needs a GPU"]
fn single_precision_and_every_form() {
    let cuda = cuda();
    let x = random(&mut Rng(2), &[300, 40, 500], 60_000);
    let wide = CpAls::new(16).seed(5).sweeps(8).tol(0.0).run(&Cpu::new(), &x).unwrap();
    let single = x.with_values(x.values().iter().map(|&v| v as f32).collect()).unwrap();
    for found in in_all_forms(&cuda, &CpAls::<f32>::new(16).seed(5).sweeps(8).tol(0.0), &single) {
        assert!(
            found.fits.iter().zip(&wide.fits).all(|(a, b)| close(*a, *b, 1e-5)),
            "{:?} {:?}",
            found.fits,
            wide.fits
        );
    }
    for found in in_all_forms(&cuda, &CpAls::new(16).seed(5).sweeps(8).tol(0.0), &x) {
        assert!(
            found.fits.iter().zip(&wide.fits).all(|(a, b)| close(*a, *b, 1e-9)),
            "{:?} {:?}",
            found.fits,
            wide.fits
        );
    }
}

#[test]
#[ignore = "needs a GPU"]
fn constraints_starts_and_refusals() {
    let cuda = cuda();
    let mut rng = Rng(4);
    for seed in 0..4 {
        let x = random(&mut rng, &[26, 15, 34], 600);
        let als = || CpAls::new(7).seed(seed).nonnegative(true).sweeps(20).tol(0.0);
        let (here, there) = (als().run(&Cpu::new(), &x).unwrap(), als().run(&cuda, &x).unwrap());
        assert!(there.model.factors().iter().all(|f| f.values().iter().all(|&a| a >= 0.0)));
        assert!(there.fits.windows(2).all(|w| w[1] >= w[0] - 1e-9), "{:?}", there.fits);
        assert!(close(here.fits[0], there.fits[0], 1e-9), "{:?} {:?}", here.fits, there.fits);
        let als = || CpAls::new(7).seed(seed).ridge(0.5).sweeps(20).tol(0.0);
        let (here, there) = (als().run(&Cpu::new(), &x).unwrap(), als().run(&cuda, &x).unwrap());
        assert!(
            here.fits.iter().zip(&there.fits).all(|(a, b)| close(*a, *b, 1e-9)),
            "{:?} {:?}",
            here.fits,
            there.fits
        );
    }
    let x = random(&mut rng, &[6, 7, 8], 100);
    let one = |seed| CpAls::new(4).seed(seed).run(&cuda, &x).unwrap();
    let best = (10..14).map(one).max_by(|a, b| a.fit.total_cmp(&b.fit)).unwrap();
    let found = CpAls::new(4).seed(10).starts(4).run(&cuda, &x).unwrap();
    assert_eq!((found.fit, &found.model), (best.fit, &best.model));
    let by_c = CpAls::new(4).seed(10).variant(Variant::C).run(&cuda, &x).unwrap();
    assert!(by_c.explain.starts_with("mttkrp: permuted, requested") && by_c.fits == one(10).fits, "{}", by_c.explain);
    assert!(matches!(CpAls::new(4).variant(Variant::A).run(&cuda, &x), Err(Error::Unsupported { .. })));
    assert!(matches!(CpAls::new(2000).run(&cuda, &x), Err(Error::Unsupported { .. })));
    // An empty tensor and one of stored zeros only: the fitted model is zero.
    for x in [Tensor::<f64>::empty(vec![3, 4]).unwrap(), Tensor::new(vec![2], vec![vec![1]], vec![0.0]).unwrap()] {
        let found = CpAls::new(2).run(&cuda, &x).unwrap();
        assert!(found.fit == 1.0 && found.model.norm() == 0.0, "{found:?}");
    }
    let small = Cuda::new(0).unwrap().memory_budget(10_000);
    assert!(matches!(CpAls::new(20).run(&small, &x), Err(Error::Budget { .. })));
    let far = Tensor::<f64>::new(vec![2, 2], vec![vec![0, 1], vec![0, 1]], vec![1e200, 1e-200]).unwrap();
    assert!(CpAls::new(1).run(&cuda, &far).map_or(true, |f| f.fit.is_finite()));
}

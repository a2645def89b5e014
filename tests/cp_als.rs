//! CP-ALS: published fits, singular systems, constraints, initial guesses, callbacks, threads.

mod common;

use std::cell::RefCell;
use std::ops::ControlFlow;

use common::arbitrary::Rng;
use common::data::{self, Fact};
use common::tensors::{GENTEN_FITS, close, dense, genten, ones};
use sparring::factor::{CpAls, CpFit, Sweep};
use sparring::tensor::{AnyTensor, Kruskal, Tensor, Variant};
use sparring::{Cpu, Error, Index};

/// Fits and weights as GenTen, pyttb and TensorLy print them.
#[test]
fn a_published_run() {
    let (x, start) = genten();
    for (mode, expected) in [
        (0, &[1.88, 1.88, 0.48, 1.4][..]),
        (1, &[1.92, 1.8, 0.8, 1.4, 1.12, 0.4]),
        (2, &[1.4, 1.3, 0.8, 0.3, 0.0, 0.0, 0.6, 1.0]),
    ] {
        let v = Cpu::new().mttkrp(sparring::algebra::PlusTimes::new(), &x, start.factors(), mode).eval().unwrap();
        assert!(v.values().iter().zip(expected).all(|(&v, &e)| close(v, e, 1e-14)), "mode {mode}: {v:?}");
    }
    let run = |sweeps| CpAls::new(2).guess(start.clone()).sweeps(sweeps).tol(0.0).run(&Cpu::new(), &x).unwrap();
    let fits = run(20).fits;
    for (sweep, fit) in GENTEN_FITS {
        // All printed digits. The residual of the last two, 4·10⁻⁵ of the norm, is a difference of squares near 14.
        let tolerance = if sweep < 10 { 1e-12 } else { 1e-11 };
        assert!(close(fits[sweep - 1], fit, tolerance), "{sweep}: {}", fits[sweep - 1]);
    }
    for (sweeps, weights) in
        [(1, [2.87689639, 1.97270194]), (10, [2.83111885, 1.99730646]), (20, [2.82859275, 1.99983436])]
    {
        let found = run(sweeps);
        assert!(found.model.weights().iter().zip(weights).all(|(&w, e)| close(w, e, 1e-8)), "{:?}", found.model);
    }
    let found = CpAls::new(2).guess(start.clone()).tol(1e-6).run(&Cpu::new(), &x).unwrap();
    assert_eq!((found.fits.len(), found.converged, found.singular), (30, true, 0));
    assert!(close(found.fit, 0.999997334875, 1e-10), "{}", found.fit);
    let h = 0.5f64.sqrt();
    let exact = Kruskal::new(
        vec![8f64.sqrt(), 2.0],
        vec![
            dense(2, &[h, 1.0, h, 0.0]),
            dense(3, &[h, h, h, 0.0, 0.0, h]),
            dense(4, &[h, h, 0.0, h, 0.0, 0.0, h, 0.0]),
        ],
    );
    assert!(found.model.match_score(&exact.unwrap(), true).unwrap() > 0.999);
}

/// The output of `read_frostt` decomposes directly, with the same bits as its tensor.
#[test]
fn a_tensor_of_either_width() {
    let (x, _) = genten();
    let als = CpAls::new(2).seed(3);
    let found = als.run(&Cpu::new(), &x).unwrap();
    let (narrow, wide) = (AnyTensor::Narrow(x.clone()), AnyTensor::Wide(x.cast::<u64>().unwrap()));
    for any in [narrow, wide] {
        let other = als.run(&Cpu::new(), &any).unwrap();
        assert_eq!((other.model, other.fits), (found.model.clone(), found.fits.clone()));
    }
}

/// All components become equal: Υ is singular from then on, and the weights have minimum norm.
#[test]
fn a_singular_system_has_the_solution_of_minimum_norm() {
    for (rank, weight) in [(2, 2.59807621), (4, 1.29903811), (8, 0.64951905)] {
        for seed in [7, 8] {
            let found = CpAls::new(rank).seed(seed).sweeps(10).tol(0.0).run(&Cpu::new(), &ones(&[3, 3, 3])).unwrap();
            assert!(close(found.fit, 1.0, 1e-7) && found.singular > 0, "{rank}: {found:?}");
            assert!(found.model.weights().iter().all(|&w| close(w, weight, 1e-7)), "{:?}", found.model.weights());
        }
    }
}

fn random<I: Index>(rng: &mut Rng, dims: &[usize], nnz: usize) -> Tensor<f64, I> {
    let indices = dims.iter().map(|&n| (0..nnz).map(|_| I::cast(rng.below(n))).collect()).collect();
    let values = (0..nnz).map(|_| rng.below(9) as f64 - 3.0).collect();
    let x = Tensor::new(dims.to_vec(), indices, values).unwrap();
    x.summed(&sparring::par::Threads::current(), sparring::algebra::Plus::new()).unwrap()
}

/// The fit by its definition, from dense arrays.
fn fit_of(x: &Tensor<f64>, model: &Kruskal<f64>) -> f64 {
    let (x, m) = (x.to_dense(sparring::algebra::Plus::new()).unwrap(), model.to_dense().unwrap());
    let of = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    1.0 - of(&mut x.iter().zip(&m).map(|(a, b)| a - b)) / of(&mut x.iter().copied())
}

/// Orders 1 to 8, ranks above every mode: fits equal those of dense arrays and never decrease, singular or not.
#[test]
fn fits_are_right_and_never_fall() {
    let mut rng = Rng(1);
    for dims in [&[9][..], &[4, 6], &[5, 4, 6], &[2, 3, 2, 4], &[3, 2, 2, 3, 2], &[2, 2, 1, 2, 2, 1, 2, 2]] {
        for rank in [1, 2, 5, 9] {
            for seed in 0..25 {
                let x: Tensor<f64> = random(&mut rng, dims, 25);
                let found = CpAls::new(rank).seed(seed).sweeps(30).tol(0.0).run(&Cpu::new(), &x).unwrap();
                let what = format!("{dims:?} rank {rank} seed {seed}: {:?}", found.fits);
                // The residual is the root of a difference of numbers as large as the squared norms: half of the digits
                // are lost.
                let large = found.model.weights()[0] / x.norm();
                let slack = 1e-7 * (1.0 + large);
                assert!(found.fits.windows(2).all(|w| w[1] >= w[0] - slack), "{what}");
                assert!(found.fits.iter().all(|&f| (-slack..=1.0).contains(&f)), "{what}");
                assert!(close(found.fit, fit_of(&x, &found.model), slack), "{what}, {}", fit_of(&x, &found.model));
                if dims.len() == 1 {
                    assert!(close(found.fit, 1.0, 1e-7), "{what}");
                }
            }
        }
    }
}

/// Duplicate entries count as their sum, in every variant.
#[test]
fn repeated_entries_count_once() {
    let mut rng = Rng(21);
    let threads = sparring::par::Threads::current();
    for case in 0..60 {
        let dims = [&[3, 4][..], &[3, 2, 4], &[2, 3, 2, 2]][case % 3];
        let nnz = 12 + case;
        let indices = dims.iter().map(|&n| (0..nnz).map(|_| rng.below(n) as u32).collect()).collect();
        let values = (0..nnz).map(|_| rng.below(9) as f64 - 3.0).collect();
        let x = Tensor::<f64>::new(dims.to_vec(), indices, values).unwrap();
        let once = x.summed(&threads, sparring::algebra::Plus::new()).unwrap();
        assert!(once.nnz() < x.nnz());
        let run = |x: &Tensor<f64>| CpAls::new(2).seed(case as u64).sweeps(9).tol(0.0).run(&Cpu::new(), x).unwrap();
        let found = run(&x);
        assert_eq!(found.fits, run(&once).fits);
        assert!(close(found.fit, fit_of(&x, &found.model), 1e-6), "{} {}", found.fit, fit_of(&x, &found.model));
    }
    // 3 and −1 at one position, 1 at another.
    let x = Tensor::<f64>::new(vec![2, 2], vec![vec![0, 0, 1], vec![0, 0, 1]], vec![3.0, -1.0, 1.0]).unwrap();
    let found = CpAls::new(1).tol(1e-12).run(&Cpu::new(), &x).unwrap();
    assert!(
        close(found.fit, 1.0 - 0.2f64.sqrt(), 1e-6) && close(found.fit, fit_of(&x, &found.model), 1e-6),
        "{found:?}"
    );
}

/// A tensor and its multiples have the same fit, that of the returned model, at both ends of the range.
#[test]
fn the_scale_of_a_tensor_does_not_show() {
    let x: Tensor<f64> = random(&mut Rng(22), &[4, 5, 3], 30);
    let run = |x: &Tensor<f64>| CpAls::new(2).seed(1).sweeps(40).tol(0.0).run(&Cpu::new(), x);
    let scaled = |s: f64| x.with_values(x.values().iter().map(|v| v * s).collect()).unwrap();
    let plain = run(&x).unwrap();
    for s in [1e-300, 1e-200, 1e-170, 1e-162, 1e-155, 1e-100, 1e-80, 1e-70, 1e70, 1e100, 1e155, 1e200, 1e300] {
        let y = scaled(s);
        let found = run(&y).unwrap();
        assert!(close(found.fit, plain.fit, 1e-9), "{s}: {} {}", found.fit, plain.fit);
        let back = found.model.weights().iter().map(|w| w / s).collect();
        let model = Kruskal::new(back, found.model.factors().to_vec()).unwrap();
        assert!(close(found.fit, fit_of(&x, &model), 1e-9), "{s}: {} {}", found.fit, fit_of(&x, &model));
        assert!(found.model.weights()[0] > s, "a model of zeros");
    }
    // Entries with few bits, whose sums of squares overflow although the entries do not.
    let found = run(&scaled(1e-318)).unwrap();
    assert!(close(found.fit, plain.fit, 1e-3) && found.model.weights()[0] > 0.0, "{} {}", found.fit, plain.fit);
    let e = run(&scaled(3e307)).map(|f| f.model.weights()[0]);
    assert!(e.as_ref().map_or_else(|e| matches!(e, Error::Argument { name: "x", .. }), |w| w.is_finite()), "{e:?}");
    // In f32, where products of the model's factors leave the range sooner.
    let narrow = |s: f32| x.with_values(x.values().iter().map(|&v| v as f32 * s).collect()).unwrap();
    let run = |x: &Tensor<f32>| CpAls::new(2).seed(1).sweeps(40).tol(0.0).run(&Cpu::new(), x).unwrap();
    let plain = run(&narrow(1.0)).fit;
    for s in [1e-37, 1e-30, 1e-20, 1e-10, 1e10, 1e20, 1e30, 1e36] {
        let found = run(&narrow(s));
        assert!((found.fit - plain).abs() < 1e-3 && found.model.weights()[0] > s, "{s}: {} {plain}", found.fit);
    }
    // An initial guess has the tensor's scale: starting from the model found ends where it began.
    let y = scaled(1e-200);
    let found = CpAls::new(2).seed(1).sweeps(40).tol(0.0).run(&Cpu::new(), &y).unwrap();
    let again = CpAls::new(2).guess(found.model.clone()).sweeps(1).nonnegative(false).run(&Cpu::new(), &y).unwrap();
    assert!(again.fit > found.fit - 1e-9);
}

/// A model of exact rank is recovered, in every variant, in f32 and with wide indices.
#[test]
fn a_planted_model_is_found() {
    let dims = [9, 8, 7];
    let mut rng = Rng(2);
    let mut real = || (rng.next() >> 11) as f64 / (1u64 << 53) as f64;
    let factors = dims.iter().map(|&n| dense(n, &(0..n * 3).map(|_| real()).collect::<Vec<_>>())).collect();
    let planted = Kruskal::new(vec![3.0, 2.0, 1.0], factors).unwrap();
    let x = Tensor::<f64>::from_dense(dims.to_vec(), &planted.to_dense().unwrap(), 0.0).unwrap();
    let als = || CpAls::new(3).starts(4).sweeps(2000).tol(1e-12);
    let found = als().run(&Cpu::new(), &x).unwrap();
    assert!(found.fit > 0.9999, "{found:?}");
    assert!(found.model.match_score(&planted, true).unwrap() > 0.99);
    for variant in Variant::ALL {
        let again =
            als().starts(1).sweeps(5).tol(0.0).variant(variant).run(&Cpu::with_threads(1).unwrap(), &x).unwrap();
        let first = als().starts(1).sweeps(5).tol(0.0).run(&Cpu::new(), &x.cast::<u64>().unwrap()).unwrap();
        assert!(again.fits.iter().zip(&first.fits).all(|(a, b)| close(*a, *b, 1e-10)), "{variant}");
    }
    let single = x.with_values(x.values().iter().map(|&v| v as f32).collect()).unwrap();
    let found = CpAls::<f32>::new(3).starts(4).sweeps(500).tol(1e-7).run(&Cpu::new(), &single).unwrap();
    assert!(found.fit > 0.999, "{}", found.fit);
}

#[test]
fn threads_do_not_show() {
    let x: Tensor<f64> = random(&mut Rng(3), &[900, 30, 700], 40_000);
    let bits = |found: &CpFit<f64>| -> Vec<u64> {
        let values = found.model.factors().iter().flat_map(|f| f.values());
        values.chain(found.model.weights()).chain(&found.fits).map(|v| v.to_bits()).collect()
    };
    let run = |threads| CpAls::new(5).sweeps(4).tol(0.0).run(&Cpu::with_threads(threads).unwrap(), &x).unwrap();
    let expected = bits(&run(1));
    for threads in [2, 3, 8] {
        assert_eq!(bits(&run(threads)), expected, "{threads}");
    }
}

/// Nonnegative CP of a tensor with negative parts: no negative element, fits that never decrease, and the optimum of
/// rank 1.
#[test]
fn without_negative_elements() {
    let mut rng = Rng(4);
    for seed in 0..6 {
        let x: Tensor<f64> = random(&mut rng, &[6, 5, 4], 60);
        let found = CpAls::new(3).seed(seed).nonnegative(true).sweeps(60).tol(0.0).run(&Cpu::new(), &x).unwrap();
        assert!(found.model.factors().iter().all(|f| f.values().iter().all(|&a| a >= 0.0)));
        assert!(found.fits.windows(2).all(|w| w[1] >= w[0] - 1e-9), "{:?}", found.fits);
        assert!(close(found.fit, fit_of(&x, &found.model), 1e-7));
    }
    // ⟨X, M⟩ counts only where x = 1: the model is that entry.
    let x = Tensor::<f64>::new(vec![2, 2], vec![vec![0, 1], vec![0, 1]], vec![1.0, -1.0]).unwrap();
    let found = CpAls::new(1).nonnegative(true).tol(1e-9).run(&Cpu::new(), &x).unwrap();
    assert!(close(found.fit, 1.0 - 0.5f64.sqrt(), 1e-6) && close(found.model.to_dense().unwrap()[0], 1.0, 1e-4));
}

/// With a ridge of ρ the factor of a vector is x / (1 + ρ).
#[test]
fn with_a_ridge() {
    let x = Tensor::<f64>::new(vec![3], vec![vec![0, 2]], vec![3.0, 4.0]).unwrap();
    let found = CpAls::new(1).ridge(0.25).sweeps(1).run(&Cpu::new(), &x).unwrap();
    assert!(close(found.model.weights()[0], 4.0, 1e-14) && close(found.fit, 0.8, 1e-14) && found.singular == 0);
    let x = ones(&[3, 3, 3]);
    let weights = |ridge| CpAls::new(2).ridge(ridge).sweeps(20).tol(0.0).run(&Cpu::new(), &x).unwrap();
    assert!(weights(1e-3).singular == 0 && weights(0.1).fit < weights(1e-3).fit);
}

#[test]
fn starts_sweeps_and_guesses() {
    let x: Tensor<f64> = random(&mut Rng(5), &[6, 7, 8], 100);
    let cpu = Cpu::new();
    let one = |seed| CpAls::new(4).seed(seed).run(&cpu, &x).unwrap();
    let best = (10..14).map(one).max_by(|a, b| a.fit.total_cmp(&b.fit)).unwrap();
    let found = CpAls::new(4).seed(10).starts(4).run(&cpu, &x).unwrap();
    assert_eq!((found.fit, &found.model), (best.fit, &best.model));
    assert_eq!(one(10 + found.start as u64).fits, found.fits);

    let seen = RefCell::new(Vec::new());
    let watch = |sweep: Sweep| {
        seen.borrow_mut().push(sweep);
        if sweep.number == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let stopped = CpAls::new(4).tol(0.0).starts(5).on_sweep(watch).run(&cpu, &x).unwrap();
    assert_eq!((stopped.fits.len(), stopped.converged, stopped.start), (3, false, 0));
    let seen = seen.into_inner();
    assert_eq!(seen.iter().map(|s| s.fit).collect::<Vec<_>>(), stopped.fits);
    assert!(seen[0].change == seen[0].fit && seen[2].change == seen[2].fit - seen[1].fit && seen[1].start == 0);
    let timed = CpAls::new(4).tol(0.0).time_limit(std::time::Duration::ZERO).run(&cpu, &x).unwrap();
    assert_eq!(timed.fits.len(), 1);

    // Restarting from a model keeps its fit.
    let more = CpAls::new(4).guess(stopped.model.clone()).sweeps(1).run(&cpu, &x).unwrap();
    assert!(more.fit >= stopped.fit);
    let other = CpAls::new(3).guess(stopped.model.clone()).run(&cpu, &x).unwrap_err();
    assert!(matches!(other, Error::Shape { .. }));
    let y: Tensor<f64> = random(&mut Rng(5), &[6, 7, 9], 10);
    assert!(matches!(CpAls::new(4).guess(stopped.model).run(&cpu, &y), Err(Error::Dims { .. })));
}

#[test]
fn what_is_no_question_is_refused() {
    let x: Tensor<f64> = random(&mut Rng(6), &[3, 4], 5);
    let cpu = Cpu::new();
    let wrong = |als: CpAls<'_>, name: &str| {
        let e = als.run(&cpu, &x).unwrap_err();
        assert!(matches!(&e, Error::Argument { name: found, .. } if *found == name), "{e}");
    };
    wrong(CpAls::new(0), "rank");
    wrong(CpAls::new(1).sweeps(0), "sweeps");
    wrong(CpAls::new(1).starts(0), "starts");
    wrong(CpAls::new(1).tol(f64::NAN), "tolerance");
    wrong(CpAls::new(1).ridge(-1.0), "ridge");
    for bad in [f64::NAN, f64::INFINITY] {
        let x = Tensor::<f64>::new(vec![2, 2], vec![vec![0], vec![1]], vec![bad]).unwrap();
        assert!(matches!(CpAls::new(1).run(&cpu, &x), Err(Error::Argument { name: "x", .. })));
    }
    let budget = Cpu::new().memory_budget(100);
    assert!(matches!(CpAls::new(2).run(&budget, &x), Err(Error::Budget { budget: 100, .. })));
    // R × R matrices count too, also for ranks too large for any array.
    let budget = Cpu::new().memory_budget(1_000_000);
    assert!(matches!(CpAls::new(200).run(&budget, &x), Err(Error::Budget { budget: 1_000_000, .. })));
    // Refused before the factors are allocated: at this rank they take 3.2 GB.
    let began = std::time::Instant::now();
    let budget = Cpu::new().memory_budget(100_000_000);
    assert!(matches!(CpAls::new(100_000_000).run(&budget, &x), Err(Error::Budget { what: "the factors of CP", .. })));
    assert!(began.elapsed().as_secs_f64() < 0.5);
    let none = Tensor::<f64>::empty(vec![0, 0]).unwrap();
    for rank in [1 << 20, 1 << 40, 1 << 59] {
        let e = CpAls::new(rank).run(&cpu, &none).unwrap_err();
        assert!(matches!(&e, Error::OutOfMemory { .. }), "{e}");
    }
    // An empty tensor and one of stored zeros only: the fitted model is zero.
    for x in [Tensor::<f64>::empty(vec![3, 4]).unwrap(), Tensor::new(vec![2], vec![vec![1]], vec![0.0]).unwrap()] {
        let found = CpAls::new(2).run(&cpu, &x).unwrap();
        assert!(found.fit == 1.0 && found.model.norm() == 0.0, "{found:?}");
    }
    let far = Tensor::<f64>::new(vec![2, 2], vec![vec![0, 1], vec![0, 1]], vec![1e200, 1e-200]).unwrap();
    let found = CpAls::new(1).run(&cpu, &far);
    assert!(found.as_ref().map_or(true, |f| f.fit.is_finite()), "{found:?}");
}

fn fits_of(fact: &Fact) {
    let x = sparring::io::read_frostt::<f64>(&fact.path).unwrap().narrow().expect("32 bits");
    for (rank, seed, sweeps, fit) in fact.fits() {
        let found = CpAls::new(rank).seed(seed).sweeps(sweeps).tol(0.0).run(&Cpu::new(), &x).unwrap();
        // Ten digits are known.
        assert!(
            close(found.fit, fit, 1e-10),
            "{}: rank {rank}, {sweeps} sweeps: {}, known {fit}",
            fact.name(),
            found.fit
        );
    }
}

/// Fits of real tensors that other programs found from the same initial guess.
#[test]
fn fits_of_real_tensors() {
    let tensors: Vec<Fact> = data::facts().into_iter().filter(Fact::is_tensor).collect();
    assert!(tensors.iter().any(|f| f.name() == "aminoacid.tns.gz" && f.fits().len() > 10));
    tensors.iter().for_each(fits_of);
}

#[test]
fn fits_of_the_collections_tensors() {
    data::collection().iter().filter(|f| f.is_tensor()).for_each(fits_of);
}

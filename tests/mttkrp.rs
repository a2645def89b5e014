//! MTTKRP: every variant on every awkward tensor against the formula, any semiring, any number of threads, budgets.

mod common;

use std::sync::Arc;

use common::arbitrary::Rng;
use sparring::algebra::{Max, MinPlus, Plus, PlusTimes, Ring, Times, Value};
use sparring::par::Threads;
use sparring::tensor::{Arithmetic, Kept, Mttkrp, Shape, Tensor, Variant, choose};
use sparring::{Cpu, Dense, Error, Index};

/// The formula, entry by entry.
fn textbook<T: Value, I: Index, A: Arithmetic<T>>(
    ring: A,
    x: &Tensor<T, I>,
    factors: &[Dense<T>],
    mode: usize,
) -> Vec<T> {
    let rank = factors[0].ncols();
    let mut out = vec![A::ZERO; x.dims()[mode] * rank];
    for (place, &value) in x.iter() {
        for r in 0..rank {
            let others = (0..x.order()).filter(|&m| m != mode);
            let product = others.fold(value, |p, m| ring.times(p, factors[m].row(place[m])[r]));
            let sum = &mut out[place[mode] * rank + r];
            *sum = ring.plus(*sum, product);
        }
    }
    out
}

/// Small whole numbers: every order of the sums gives the same bits.
fn whole(rng: &mut Rng) -> f64 {
    rng.below(7) as f64 - 3.0
}

fn tensor<I: Index>(rng: &mut Rng, dims: &[usize], nnz: usize, sorted: bool) -> Tensor<f64, I> {
    let nnz = if dims.contains(&0) { 0 } else { nnz };
    // Half of the entries crowd at the low indices, and some slices stay empty.
    let index = |rng: &mut Rng, n: usize| if rng.below(2) == 0 { rng.below(n.div_ceil(4)) } else { rng.below(n) };
    let indices = dims.iter().map(|&n| (0..nnz).map(|_| I::cast(index(rng, n))).collect()).collect();
    let x = Tensor::new(dims.to_vec(), indices, (0..nnz).map(|_| whole(rng)).collect()).unwrap();
    if sorted { x.summed(&Threads::current(), Plus::new()).unwrap() } else { x }
}

fn factors(rng: &mut Rng, dims: &[usize], rank: usize) -> Vec<Dense<f64>> {
    dims.iter().map(|&n| Dense::new(n, rank, (0..n * rank).map(|_| whole(rng)).collect()).unwrap()).collect()
}

const SHAPES: [(&[usize], usize); 12] = [
    (&[7], 20),
    (&[3, 0, 2], 0),
    (&[5, 9], 30),
    (&[2, 3, 4], 11),
    (&[1, 1, 1], 1),
    (&[300, 2, 40], 20_000),
    (&[40, 50, 60], 9_000),
    (&[20, 9, 11, 30], 15_000),
    (&[60, 50, 2, 7, 5], 12_000),
    (&[900, 3, 4, 2, 700], 9_000),
    (&[3, 2, 4, 2, 3, 2, 3, 2], 5_000),
    (&[2, 70_000, 3], 10_000),
];
const RANKS: [usize; 12] = [1, 2, 3, 5, 8, 15, 16, 24, 31, 32, 33, 71];

#[test]
fn every_variant_is_the_formula() {
    let mut rng = Rng(1);
    for (s, (dims, nnz)) in SHAPES.into_iter().enumerate() {
        for sorted in [false, true] {
            let x: Tensor<f64> = tensor(&mut rng, dims, nnz, sorted);
            let ranks = if nnz > 1000 { &RANKS[s % 6 * 2..][..2] } else { &RANKS[..] };
            for &rank in ranks {
                let factors = factors(&mut rng, dims, rank);
                for variant in Variant::ALL {
                    let cpu = Cpu::with_threads(3).unwrap();
                    let plan = cpu.mttkrp_plan(&x, rank, Some(variant)).unwrap();
                    let mut kept = Kept::default();
                    for mode in 0..x.order() {
                        let expected = textbook(PlusTimes::<f64>::new(), &x, &factors, mode);
                        let what = format!("{dims:?} sorted {sorted} rank {rank} {variant} mode {mode}");
                        let asked = || cpu.mttkrp(PlusTimes::new(), &x, &factors, mode);
                        assert_eq!(asked().plan(&plan).eval().unwrap().values(), expected, "{what}");
                        let mut out = Dense::filled(dims[mode], rank, f64::NAN).unwrap();
                        asked().plan(&plan).sweep(&mut kept).into(&mut out).unwrap();
                        assert_eq!(out.values(), expected, "{what}, in a sweep");
                        assert_eq!(asked().variant(variant).eval().unwrap().values(), expected, "{what}, alone");
                    }
                }
            }
        }
    }
}

/// Tropical semirings, integers that wrap, truth values; wide indices.
#[test]
fn any_semiring() {
    let mut rng = Rng(2);
    for (dims, nnz) in [(&[6, 5, 4][..], 60), (&[30, 4, 50, 3], 20_000)] {
        let x: Tensor<f64, u64> = tensor(&mut rng, dims, nnz, false);
        let f = factors(&mut rng, dims, 9);
        let cpu = Cpu::new();
        let integers = x.with_values(x.values().iter().map(|&v| v as i64).collect()).unwrap();
        let of =
            |f: &Dense<f64>| Dense::new(f.nrows(), f.ncols(), f.values().iter().map(|&v| v as i64).collect()).unwrap();
        let g: Vec<Dense<i64>> = f.iter().map(of).collect();
        for variant in Variant::ALL {
            for mode in 0..dims.len() {
                let tropical = cpu.mttkrp(MinPlus::<f64>::new(), &x, &f, mode).variant(variant).eval().unwrap();
                assert_eq!(tropical.values(), textbook(MinPlus::<f64>::new(), &x, &f, mode), "{variant}");
                let wrapping =
                    cpu.mttkrp(PlusTimes::<i64>::new(), &integers, &g, mode).variant(variant).eval().unwrap();
                assert_eq!(wrapping.values(), textbook(PlusTimes::<i64>::new(), &integers, &g, mode), "{variant}");
                let plan = cpu.mttkrp_plan(&integers, 9, Some(variant)).unwrap();
                let largest =
                    cpu.mttkrp(Ring(Max::<i64>::new(), Plus::new()), &integers, &g, mode).plan(&plan).eval().unwrap();
                assert_eq!(
                    largest.values(),
                    textbook(Ring(Max::<i64>::new(), Plus::new()), &integers, &g, mode),
                    "{variant}"
                );
            }
        }
    }
    let x = Tensor::<bool>::new(vec![2, 2], vec![vec![1, 1], vec![0, 1]], vec![true, true]).unwrap();
    let f = vec![Dense::filled(2, 1, false).unwrap(), Dense::new(2, 1, vec![false, true]).unwrap()];
    assert_eq!(
        Cpu::new().mttkrp(Ring(Plus::<bool>::new(), Times::new()), &x, &f, 0).eval().unwrap().values(),
        [false, true]
    );
}

/// Values whose sums depend on their order: the same bits for any number of threads, and in a sweep.
#[test]
fn threads_do_not_show() {
    let mut rng = Rng(3);
    let mut real = || (rng.next() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    let mut draw = Rng(4);
    for dims in [&[500, 2, 300][..], &[100, 70, 3, 5, 40]] {
        let mut x: Tensor<f64> = tensor(&mut draw, dims, 60_000, false);
        x.values_mut().fill_with(&mut real);
        let f: Vec<_> =
            dims.iter().map(|&n| Dense::new(n, 19, (0..n * 19).map(|_| real()).collect()).unwrap()).collect();
        for variant in [Variant::C, Variant::Copies, Variant::Tree, Variant::Linear, Variant::Single] {
            let mut bits: Option<Vec<Vec<u64>>> = None;
            for threads in [1, 2, 3, 8] {
                let cpu = Cpu::with_threads(threads).unwrap();
                let plan = cpu.mttkrp_plan(&x, 19, Some(variant)).unwrap();
                let mut kept = Kept::default();
                let found: Vec<Vec<u64>> = (0..dims.len())
                    .map(|mode| {
                        let v = cpu.mttkrp(PlusTimes::new(), &x, &f, mode).plan(&plan).eval().unwrap();
                        let mut swept = Dense::filled(dims[mode], 19, 0.0).unwrap();
                        let asked = cpu.mttkrp(PlusTimes::new(), &x, &f, mode).plan(&plan);
                        asked.sweep(&mut kept).into(&mut swept).unwrap();
                        assert_eq!(v, swept);
                        v.values().iter().map(|v| v.to_bits()).collect()
                    })
                    .collect();
                assert_eq!(bits.get_or_insert_with(|| found.clone()), &found, "{variant}, {threads} threads");
            }
        }
    }
}

/// A sweep keeps what a group of modes shares: the factors outside are read when it begins, not later.
#[test]
fn a_sweep_keeps_what_modes_share() {
    let mut rng = Rng(5);
    let dims = [5, 4, 300, 200];
    let x: Tensor<f64> = tensor(&mut rng, &dims, 30_000, true);
    let mut f = factors(&mut rng, &dims, 4);
    let cpu = Cpu::new();
    let plan = cpu.mttkrp_plan(&x, 4, None).unwrap();
    assert_eq!(plan.choice().variant, Variant::Tree, "{}", plan.explain());
    assert!(plan.choice().groups.contains(&(0..2)) && plan.explain().contains("20 nodes"), "{}", plan.explain());
    let mut kept = Kept::default();
    for mode in 0..4 {
        let mut out = Dense::filled(dims[mode], 4, 0.0).unwrap();
        cpu.mttkrp(PlusTimes::new(), &x, &f, mode).plan(&plan).sweep(&mut kept).into(&mut out).unwrap();
        assert_eq!(out.values(), textbook(PlusTimes::<f64>::new(), &x, &f, mode), "mode {mode}");
        f[mode] = factors(&mut rng, &dims, 4).swap_remove(mode);
    }
    // Mode 1 with what mode 0 kept, and another factor of mode 3: the old one counts.
    let of = |f: &[Dense<f64>], mode: usize, kept: &mut Kept<f64>| {
        let mut out = Dense::filled(dims[mode], 4, 0.0).unwrap();
        cpu.mttkrp(PlusTimes::new(), &x, f, mode).plan(&plan).sweep(kept).into(&mut out).unwrap();
        out
    };
    of(&f, 0, &mut kept);
    let before = of(&f, 1, &mut kept);
    f[3] = factors(&mut rng, &dims, 4).swap_remove(3);
    assert_eq!(of(&f, 1, &mut kept), before);
    assert_ne!(of(&f, 1, &mut Kept::default()), before);
}

#[test]
fn budgets_choose_and_refuse() {
    let mut rng = Rng(6);
    let x: Tensor<f64> = tensor(&mut rng, &[50, 60, 70], 20_000, false);
    let f = factors(&mut rng, &[50, 60, 70], 8);
    let mut seen = vec![];
    for budget in [1u64 << 30, 1_000_000, 600_000, 1000] {
        let cpu = Cpu::new().memory_budget(budget);
        match cpu.mttkrp_plan(&x, 8, None) {
            Ok(plan) => {
                assert!(
                    plan.choice().bytes <= budget.into() && plan.bytes() <= plan.choice().bytes,
                    "{}",
                    plan.explain()
                );
                seen.push(plan.choice().variant);
                let v = cpu.mttkrp(PlusTimes::new(), &x, &f, 1).plan(&plan).eval().unwrap();
                assert_eq!(v.values(), textbook(PlusTimes::<f64>::new(), &x, &f, 1));
            }
            Err(e) => assert!(matches!(e, Error::Budget { budget: 1000, .. }), "{e}"),
        }
    }
    assert_eq!(seen, [Variant::Copies, Variant::Linear, Variant::Single]);
    // What the caller holds for the product counts with it.
    let cpu = Cpu::new().memory_budget(50_000_000);
    let asked = |beside| cpu.mttkrp(PlusTimes::new(), &x, &f, 1).beside(beside).eval();
    assert!(asked(40_000_000).is_ok());
    for beside in [49_999_999, 50_000_001, u64::MAX] {
        let e = asked(beside).unwrap_err();
        assert!(matches!(e, Error::Budget { .. }), "{e}");
    }
    for variant in Variant::ALL {
        let (cpu, shape) = (Cpu::new(), Shape::of(&x, 8));
        let plan = cpu.mttkrp_plan(&x, 8, Some(variant)).unwrap();
        assert!(plan.bytes() <= choose(&shape, Some(variant), None).unwrap().bytes, "{}", plan.explain());
    }
}

/// A plan that shares its tensor lives on, and counts what its products take to the budget.
#[test]
fn a_plan_may_share_its_tensor() {
    let mut rng = Rng(8);
    let x: Arc<Tensor<f64>> = Arc::new(tensor(&mut rng, &[50, 60, 70], 20_000, false));
    let f = factors(&mut rng, &[50, 60, 70], 8);
    let want: Vec<_> = (0..3).map(|mode| textbook(PlusTimes::<f64>::new(), &x, &f, mode)).collect();
    let cpu = Cpu::new();
    for variant in Variant::ALL {
        let plan: Mttkrp<'static, f64> = cpu.mttkrp_plan(Arc::clone(&x), 8, Some(variant)).unwrap();
        let other = std::thread::spawn(move || [0, 1, 2].map(|mode| product_of_ones(&plan, mode)));
        assert_eq!(other.join().unwrap().map(|v| v.shape()), [(50, 8), (60, 8), (70, 8)]);
    }
    let plan = cpu.mttkrp_plan(x, 8, None).unwrap();
    for (mode, want) in want.iter().enumerate() {
        let v = cpu.mttkrp(PlusTimes::new(), plan.tensor(), &f, mode).plan(&plan).eval().unwrap();
        assert_eq!(v.values(), want);
    }
    let tight = Cpu::new().memory_budget(1_000_000);
    let chosen = |beside| tight.mttkrp_plan_beside(plan.tensor(), 8, None, beside).map(|plan| plan.choice().variant);
    assert_eq!((chosen(0).unwrap(), chosen(400_000).unwrap()), (Variant::Linear, Variant::Single));
    assert!(matches!(chosen(1_000_001), Err(Error::Budget { bytes: 1_000_001, budget: 1_000_000, .. })));
}

/// V for factors of ones.
fn product_of_ones(plan: &Mttkrp<'static, f64>, mode: usize) -> Dense<f64> {
    let x = plan.tensor();
    let ones: Vec<_> = x.dims().iter().map(|&n| Dense::filled(n, 8, 1.0).unwrap()).collect();
    Cpu::new().mttkrp(PlusTimes::new(), x, &ones, mode).plan(plan).eval().unwrap()
}

/// Sixteen times so many rows would be 6 GB; a permutation is read instead, and counted with its pointers.
#[test]
fn a_mode_longer_than_its_entries_takes_no_rows() {
    let mut rng = Rng(9);
    let dims = [3_000_000, 5, 7];
    let x: Tensor<f64> = tensor(&mut rng, &dims, 1000, false);
    let shape = Shape::of(&x, 16);
    let f = factors(&mut rng, &dims, 16);
    for variant in [Variant::Single, Variant::Linear] {
        let bytes = choose(&shape, Some(variant), None).unwrap().bytes;
        let cpu = Cpu::new().memory_budget(bytes.try_into().unwrap());
        let plan = cpu.mttkrp_plan(&x, 16, Some(variant)).unwrap();
        assert!(plan.explain().contains("a permutation") && plan.explain().contains("rows of stretches"));
        assert!((24_000_000..25_000_000).contains(&bytes) && plan.bytes() <= bytes, "{bytes}: {}", plan.explain());
        for mode in [1, 2] {
            let v = cpu.mttkrp(PlusTimes::new(), &x, &f, mode).plan(&plan).eval().unwrap();
            assert_eq!(v.values(), textbook(PlusTimes::<f64>::new(), &x, &f, mode));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut rng = Rng(7);
    let x: Tensor<f64> = tensor(&mut rng, &[5, 6, 7], 40, false);
    let y = x.clone();
    let f = factors(&mut rng, &[5, 6, 7], 3);
    let cpu = Cpu::new();
    let ask = |f: &[Dense<f64>], mode| cpu.mttkrp(PlusTimes::new(), &x, f, mode).eval().unwrap_err();
    assert!(ask(&f, 3).to_string().contains("mode 3"));
    assert!(matches!(ask(&f[..2], 0), Error::Dims { .. }));
    let mut wrong = f.clone();
    wrong[2] = factors(&mut rng, &[8], 3).remove(0);
    assert!(ask(&wrong, 0).to_string().contains("[5, 6, 8]"));
    assert!(cpu.mttkrp(PlusTimes::new(), &x, &wrong, 2).eval().is_ok(), "the factor of the mode is not read");
    wrong[2] = factors(&mut rng, &[7], 2).remove(0);
    assert!(matches!(ask(&wrong, 0), Error::Shape { .. }));
    let mut out = Dense::filled(6, 3, 0.0).unwrap();
    assert!(matches!(cpu.mttkrp(PlusTimes::new(), &x, &f, 0).into(&mut out), Err(Error::Shape { .. })));
    let plan = cpu.mttkrp_plan(&y, 3, None).unwrap();
    assert!(
        cpu.mttkrp(PlusTimes::new(), &x, &f, 0).plan(&plan).eval().unwrap_err().to_string().contains("another tensor")
    );
    // Rank 0, and lengths that no memory holds.
    let none = factors(&mut rng, &[5, 6, 7], 0);
    assert_eq!(cpu.mttkrp(PlusTimes::new(), &x, &none, 0).eval().unwrap().shape(), (5, 0));
    let far = Tensor::<f64, u64>::new(vec![1 << 50, 2], vec![vec![7], vec![1]], vec![1.0]).unwrap();
    let f = vec![Dense::filled(0, 3, 0.0).unwrap(), Dense::filled(2, 3, 1.0).unwrap()];
    assert!(matches!(cpu.mttkrp(PlusTimes::new(), &far, &f, 0).eval(), Err(Error::OutOfMemory { .. })));
    assert!(matches!(cpu.mttkrp_plan(&far, 3, Some(Variant::Copies)), Err(Error::OutOfMemory { .. })));
}

/// ⊗ goes from left to right in the order of the modes: 'a + 2*b' tells one order from another.
#[test]
fn semirings_known_at_run_time_give_the_definition() {
    use sparring::algebra::Type;
    use sparring::runtime::{Machine, Semiring};
    let mut rng = Rng(71);
    let machines = [1, 3].map(|n| Machine::from(Cpu::with_threads(n).unwrap()));
    for (dims, nnz) in SHAPES {
        let x = tensor::<u32>(&mut rng, dims, nnz.min(3000), false);
        for rank in [0, 1, 5, 130] {
            let factors = factors(&mut rng, dims, rank);
            for mode in 0..dims.len() {
                let by = |zero: f64, plus: fn(f64, f64) -> f64, times: fn(f64, f64) -> f64| {
                    let mut out = vec![zero; dims[mode] * rank];
                    for (place, &value) in x.iter() {
                        for r in 0..rank {
                            let others = (0..dims.len()).filter(|&m| m != mode);
                            let product = others.fold(value, |p, m| times(p, factors[m].row(place[m])[r]));
                            let sum = &mut out[place[mode] * rank + r];
                            *sum = plus(*sum, product);
                        }
                    }
                    out
                };
                for machine in &machines {
                    let found = |ring: &str| {
                        let ring = Semiring::new(ring, Type::F64).unwrap();
                        machine.mttkrp(&ring, &x, &factors, mode).unwrap().values().to_vec()
                    };
                    assert_eq!(found("plus_times"), by(0.0, |a, b| a + b, |a, b| a * b), "{dims:?} {mode} {rank}");
                    let want = by(f64::INFINITY, f64::min, |a, b| a + 2.0 * b);
                    assert_eq!(found("min, a + 2*b"), want, "{dims:?} {mode} {rank}");
                }
            }
        }
    }
    let x = tensor::<u32>(&mut rng, &[2, 3], 4, false);
    let ring = Semiring::new("plus_times", Type::F64).unwrap();
    let wrong = machines[0].mttkrp(&ring, &x, &factors(&mut rng, &[2, 4], 2), 0).unwrap_err();
    assert!(matches!(wrong, Error::Dims { .. }), "{wrong}");
    let budget = Machine::from(Cpu::new().memory_budget(10));
    let refused = budget.mttkrp(&ring, &x, &factors(&mut rng, &[2, 3], 2), 0).unwrap_err();
    assert!(matches!(refused, Error::Budget { .. }), "{refused}");
}

//! MTTKRP: every variant on every awkward tensor compared with the formula, for any semiring, any number of threads,
//! and budgets.

mod common;

use std::sync::Arc;

use common::arbitrary::Rng;
use sparring::algebra::{Array, Max, MinPlus, Plus, PlusTimes, Ring, Slice, Times, Type, Value};
use sparring::factor::CpAls;
use sparring::par::Threads;
use sparring::runtime::{self, Machine, Semiring};
use sparring::tensor::{Arithmetic, Mttkrp, MttkrpCache, Shape, Tensor, Variant, choose};
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

/// Small integers: every order of the sums gives the same bits.
fn whole(rng: &mut Rng) -> f64 {
    rng.below(7) as f64 - 3.0
}

fn tensor<I: Index>(rng: &mut Rng, dims: &[usize], nnz: usize, sorted: bool) -> Tensor<f64, I> {
    let nnz = if dims.contains(&0) { 0 } else { nnz };
    // Half of the entries crowd at low indices, and some slices stay empty.
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
                    let mut kept = MttkrpCache::default();
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

/// Values whose sums depend on their order: the same bits for any number of threads, and within a sweep.
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
                let mut kept = MttkrpCache::default();
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

/// A sweep caches the partial products that a group of modes shares: factors outside the group are read when it starts,
/// not later.
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
    let mut kept = MttkrpCache::default();
    for mode in 0..4 {
        let mut out = Dense::filled(dims[mode], 4, 0.0).unwrap();
        cpu.mttkrp(PlusTimes::new(), &x, &f, mode).plan(&plan).sweep(&mut kept).into(&mut out).unwrap();
        assert_eq!(out.values(), textbook(PlusTimes::<f64>::new(), &x, &f, mode), "mode {mode}");
        f[mode] = factors(&mut rng, &dims, 4).swap_remove(mode);
    }
    // Mode 1 with the cache of mode 0 and another factor of mode 3: the old factor applies.
    let of = |f: &[Dense<f64>], mode: usize, kept: &mut MttkrpCache<f64>| {
        let mut out = Dense::filled(dims[mode], 4, 0.0).unwrap();
        cpu.mttkrp(PlusTimes::new(), &x, f, mode).plan(&plan).sweep(kept).into(&mut out).unwrap();
        out
    };
    of(&f, 0, &mut kept);
    let before = of(&f, 1, &mut kept);
    f[3] = factors(&mut rng, &dims, 4).swap_remove(3);
    assert_eq!(of(&f, 1, &mut kept), before);
    assert_ne!(of(&f, 1, &mut MttkrpCache::default()), before);
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
    // The caller's own memory counts towards the budget.
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

/// A plan that shares its tensor outlives the caller's handle, and counts the memory of its products towards the
/// budget.
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

/// V for factors filled with ones.
fn product_of_ones(plan: &Mttkrp<'static, f64>, mode: usize) -> Dense<f64> {
    let x = plan.tensor();
    let ones: Vec<_> = x.dims().iter().map(|&n| Dense::filled(n, 8, 1.0).unwrap()).collect();
    Cpu::new().mttkrp(PlusTimes::new(), x, &ones, mode).plan(plan).eval().unwrap()
}

/// Padded rows would take 6 GB; a permutation is used instead, and counted with its pointers.
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
        assert!(plan.explain().contains("a permutation") && plan.explain().contains("rows of segments"));
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
    // Rank 0, and sizes beyond any memory.
    let none = factors(&mut rng, &[5, 6, 7], 0);
    assert_eq!(cpu.mttkrp(PlusTimes::new(), &x, &none, 0).eval().unwrap().shape(), (5, 0));
    let far = Tensor::<f64, u64>::new(vec![1 << 50, 2], vec![vec![7], vec![1]], vec![1.0]).unwrap();
    let f = vec![Dense::filled(0, 3, 0.0).unwrap(), Dense::filled(2, 3, 1.0).unwrap()];
    assert!(matches!(cpu.mttkrp(PlusTimes::new(), &far, &f, 0).eval(), Err(Error::OutOfMemory { .. })));
    assert!(matches!(cpu.mttkrp_plan(&far, 3, Some(Variant::Copies)), Err(Error::OutOfMemory { .. })));
}

/// Conversions from and to f64.
type Casts<T> = (fn(f64) -> T, fn(T) -> f64);

/// Run-time products of a tensor and factors converted to T: over `ring`, or by a plan without one.
fn by_name<T: Value>(
    machine: &Machine,
    ring: Option<&str>,
    x: &runtime::Tensor,
    (factors, rank, mode): (&[Dense<f64>], usize, usize),
    (of, back): Casts<T>,
) -> Vec<f64> {
    let x = x.cast(T::TYPE).unwrap();
    let factors: Vec<Vec<T>> = factors.iter().map(|f| f.values().iter().map(|&x| of(x)).collect()).collect();
    // The factor of the output mode is not read.
    let factors: Vec<Slice<'_>> =
        factors.iter().enumerate().map(|(m, f)| Slice::of(if m == mode { &[] } else { &f[..] })).collect();
    let product = |ring| machine.mttkrp(&Semiring::new(ring, T::TYPE).unwrap(), &x, &factors, rank, mode).unwrap();
    let plan = |variant, only| machine.mttkrp_plan(&x, rank, variant, only).unwrap().eval(&factors, mode).unwrap();
    // The same factors as full vectors.
    let vectors: Vec<_> =
        factors.iter().map(|f| runtime::Vector::full(Array::of(f.get::<T>().unwrap().to_vec())).unwrap()).collect();
    let values = |v: runtime::Vector| v.entries().unwrap().1;
    let all: Vec<Array> = match ring {
        Some(text) => {
            let ring = Semiring::new(text, T::TYPE).unwrap();
            vec![product(text), values(machine.mttkrp_vectors(&ring, &x, &vectors, rank, mode).unwrap())]
        }
        None => {
            let narrow = x.indices::<u32>(0).is_some();
            let has_variants = T::TYPE == Type::F64 || T::TYPE == Type::F32 && narrow;
            let variants = if has_variants { &Variant::ALL[..] } else { &[] };
            let by_variant = variants.iter().map(|&variant| plan(Some(variant), None));
            let of_vectors = machine.mttkrp_plan(&x, rank, None, None).unwrap().eval_vectors(&vectors, mode).unwrap();
            [plan(None, None), plan(None, Some(mode)), values(of_vectors)].into_iter().chain(by_variant).collect()
        }
    };
    let mut all = all.iter().map(|v| v.slice().get::<T>().unwrap().iter().map(|&x| back(x)).collect::<Vec<_>>());
    let first = all.next().unwrap();
    assert!(all.all(|v| v == first));
    first
}

/// ⊗ applies from left to right in the order of the modes: 'a + 2*b' distinguishes the orders.
#[test]
fn semirings_and_types_known_at_run_time_give_the_definition() {
    let mut rng = Rng(71);
    let machines = [1, 3].map(|n| Machine::from(Cpu::with_threads(n).unwrap()));
    for (k, (dims, nnz)) in SHAPES.into_iter().enumerate() {
        let x = tensor::<u32>(&mut rng, dims, nnz.min(3000), false);
        // Every other tensor has 64-bit indices.
        let named: runtime::Tensor = if k % 2 == 0 { x.clone().into() } else { x.cast::<u64>().unwrap().into() };
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
                let sums = by(0.0, |a, b| a + b, |a, b| a * b);
                let least = by(f64::INFINITY, f64::min, |a, b| a + 2.0 * b);
                let call = (&factors[..], rank, mode);
                for machine in &machines {
                    let tropical = by_name::<f64>(machine, Some("min, a + 2*b"), &named, call, (|x| x, |x| x));
                    assert_eq!(tropical, least, "{dims:?} {mode} {rank}");
                    // The loops of all types handle ranks alike.
                    let doubles = by_name::<f64>(machine, Some("plus_times"), &named, call, (|x| x, |x| x));
                    assert_eq!(doubles, sums, "{dims:?} {mode} {rank}");
                    for ring in [Some("plus_times"), None].into_iter().filter(|_| rank == 5) {
                        let doubles = by_name::<f64>(machine, ring, &named, call, (|x| x, |x| x));
                        let floats = by_name::<f32>(machine, ring, &named, call, (|x| x as f32, f64::from));
                        let integers = by_name::<i64>(machine, ring, &named, call, (|x| x as i64, |x| x as f64));
                        assert_eq!([&doubles, &floats, &integers], [&sums; 3], "{dims:?} {mode} {rank}");
                    }
                }
            }
        }
    }
}

#[test]
fn wrong_products_by_name_are_refused() {
    let (cpu, ring) = (Machine::from(Cpu::new()), Semiring::new("plus_times", Type::F64).unwrap());
    let x: runtime::Tensor = tensor::<u32>(&mut Rng(3), &[2, 3], 4, false).into();
    let (ones, floats) = ([1.0; 8], [1f32; 6]);
    let product = |a: Slice<'_>, mode| cpu.mttkrp(&ring, &x, &[Slice::of(&ones[..4]), a], 2, mode).unwrap_err();
    assert!(matches!(product(Slice::of(&ones), 0), Error::Length { found: 8, expected: 6, .. }));
    let e = product(Slice::of(&floats), 0).to_string();
    assert_eq!(e, "factors: values of the tensor are f64, those of factor 1 are f32");
    assert!(matches!(product(Slice::of(&ones[..6]), 2), Error::Argument { name: "mode", .. }));
    let few = cpu.mttkrp(&ring, &x, &[Slice::of(&ones[..4])], 2, 0).unwrap_err();
    assert!(matches!(few, Error::Length { what: "factors", .. }), "{few}");
    let budget = Machine::from(Cpu::new().memory_budget(10));
    let both = [Slice::of(&ones[..4]), Slice::of(&ones[..6])];
    assert!(matches!(budget.mttkrp(&ring, &x, &both, 2, 0).unwrap_err(), Error::Budget { .. }));
    assert!(matches!(budget.mttkrp_plan(&x, 2, None, None).unwrap_err(), Error::Budget { .. }));
    assert!(cpu.mttkrp_plan(&x, 2, None, Some(2)).is_err());
    let once = cpu.mttkrp_plan(&x, 2, None, Some(0)).unwrap();
    assert!(once.eval(&both, 0).is_ok() && once.eval(&both, 1).is_err());
    let integers = x.cast(Type::I8).unwrap();
    let e = cpu.mttkrp(&ring, &integers, &[Slice::of(&[0i8; 4]), Slice::of(&[0i8; 6])], 2, 0).unwrap_err();
    assert!(matches!(e, Error::Unsupported { .. }), "{e}");
    let e = cpu.mttkrp_plan(&integers, 2, Some(Variant::Tree), None).unwrap_err().to_string();
    assert!(e.starts_with("the variant tree of a product of i8 is not supported: "), "{e}");
    let e = cpu.cp_als(&CpAls::new(1), &integers).unwrap_err().to_string();
    assert!(e.starts_with("CP of a tensor of i8 is not supported: "), "{e}");
}

/// A run-time tensor of any type is sorted and summed as the typed one.
#[test]
fn sums_by_name_are_those_by_types() {
    let mut rng = Rng(5);
    for (dims, nnz) in SHAPES {
        for threads in [1, 3].map(|n| Threads::new(n).unwrap()) {
            let x = tensor::<u32>(&mut rng, dims, nnz, false);
            let want = x.summed(&threads, Plus::new()).unwrap();
            for ty in [Type::F64, Type::F32, Type::I32, Type::ComplexF32] {
                let found = runtime::Tensor::from(x.clone()).cast(ty).unwrap().summed(&threads).unwrap();
                let indices = |m| found.indices::<u32>(m).unwrap();
                assert_eq!((found.ty(), found.dims(), found.nnz()), (ty, dims, want.nnz()));
                assert!((0..dims.len()).all(|m| indices(m) == want.indices(m)), "{dims:?}");
                if ty != Type::ComplexF32 {
                    let values = found.cast(Type::F64).unwrap();
                    assert_eq!(values.values().get::<f64>(), Some(want.values()), "{dims:?} {ty}");
                }
            }
        }
    }
}

/// Two indices of mode 1 for each of mode 0: few pairs, but more possible ones than a table takes.
#[test]
fn modes_that_depend_on_each_other_share_a_copy() {
    let (mut rng, dims, n) = (Rng(12), [400, 400, 30, 6], 12_000);
    let mut indices = vec![vec![0u32; n]; 4];
    for e in 0..n {
        let i = rng.below(dims[0]);
        let place = [i, (7 * i + 13 * rng.below(2)) % dims[1], rng.below(dims[2]), rng.below(dims[3])];
        indices.iter_mut().zip(place).for_each(|(list, k)| list[e] = k as u32);
    }
    let values = (0..n).map(|_| whole(&mut rng)).collect();
    let x = Tensor::new(dims.to_vec(), indices, values).unwrap().summed(&Threads::current(), Plus::new()).unwrap();
    let (f, cpu) = (factors(&mut rng, &dims, 8), Cpu::with_threads(2).unwrap());
    let plan = cpu.mttkrp_plan(&x, 8, Some(Variant::Tree)).unwrap();
    let how = plan.explain();
    assert!(how.contains("800 nodes"), "{how}");
    for mode in 0..4 {
        let y = cpu.mttkrp(PlusTimes::new(), &x, &f, mode).plan(&plan).eval().unwrap();
        assert_eq!(y.values(), textbook(PlusTimes::<f64>::new(), &x, &f, mode), "mode {mode}");
    }
}

/// The fibre of a slice ends with it, though that of the next slice has the same index.
#[test]
fn each_slice_has_fibres_of_its_own() {
    let x = tensor::<u32>(&mut Rng(13), &[40, 1, 500], 9_000, true);
    let plan = Cpu::new().mttkrp_plan(&x, 8, Some(Variant::Copies)).unwrap();
    assert!(plan.explain().contains("mode 0: a copy with 40 fibres"), "{}", plan.explain());
}

#[test]
fn products_explain_themselves() {
    let x = tensor::<u32>(&mut Rng(9), &[4, 5, 6], 50, true);
    let (f, cpu) = (factors(&mut Rng(8), &[4, 5, 6], 3), Cpu::new());
    let asked = || cpu.mttkrp(PlusTimes::new(), &x, &f, 1);
    let (v, how) = asked().explain().unwrap();
    assert_eq!(v, asked().eval().unwrap());
    let head = format!("mttkrp: 4×5×6 with {} entries of f64, mode 1, 3 columns\n  ", x.nnz());
    assert!(how.starts_with(&format!("{head}single, a copy does not pay for one product: ")), "{how}");
    let plan = cpu.mttkrp_plan(&x, 3, None).unwrap();
    let (_, how) = asked().plan(&plan).explain().unwrap();
    assert!(how.starts_with(&format!("{head}copies, ")) && how.ends_with(" fibres"), "{how}");
}

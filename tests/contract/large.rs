//! Contractions of large tensors: packed blocks, long folds, matrix–matrix and matrix–vector products.

use super::*;
use sparring::algebra::{AnyPair, MaxTimes};

/// An expression, the extents of its letters, and the plan's name for the algorithm.
type Expression = (&'static str, &'static [(char, usize)], &'static str);

const CASES: [Expression; 17] = [
    ("ij,jk->ik", &[('i', 67), ('j', 401), ('k', 389)], "packed blocks"),
    ("ji,kj->ki", &[('i', 97), ('j', 1400), ('k', 101)], "packed blocks"),
    ("ij,jk->ik", &[('i', 2), ('j', 257), ('k', 521)], "packed blocks"),
    ("ij,jk->ik", &[('i', 5), ('j', 19), ('k', 2003)], "packed blocks"),
    ("bij,bjk->bik", &[('b', 2), ('i', 33), ('j', 4001), ('k', 34)], "packed blocks"),
    ("ijb,jkb->ibk", &[('b', 3), ('i', 7), ('j', 181), ('k', 193)], "packed blocks"),
    ("abcd,abce->de", &[('a', 11), ('b', 13), ('c', 31), ('d', 29), ('e', 31)], "folds in 3 parts"),
    ("ji,jk->ik", &[('i', 3), ('j', 40_009), ('k', 5)], "packed blocks"),
    ("i,i->", &[('i', 300_007)], "terms distributed over 32 sums"),
    ("i->", &[('i', 70_001)], "terms distributed over 32 sums"),
    ("ij,ij->i", &[('i', 1031), ('j', 67)], "terms distributed over 32 sums"),
    ("ij,ij->j", &[('i', 1031), ('j', 67)], "results side by side"),
    ("ij->j", &[('i', 70_001), ('j', 3)], "results side by side"),
    ("i,ij->j", &[('i', 257), ('j', 1033)], "results side by side"),
    ("ij,j->i", &[('i', 257), ('j', 1033)], "terms distributed over 32 sums"),
    ("iij,ji->", &[('i', 211), ('j', 173)], "folds of"),
    ("ij,jk,kl->il", &[('i', 2), ('j', 131), ('k', 257), ('l', 129)], "large"),
];

fn extents(word: &str, of: &[(char, usize)]) -> Vec<usize> {
    word.chars().map(|c| of.iter().find(|e| e.0 == c).expect("a letter").1).collect()
}

fn all<T: Value, A: Arithmetic<T>>(seed: u64, ring: A, algebra: &Algebra<T>, row_major: bool) {
    let cpus = machines();
    let mut random = Rng(seed);
    for (t, (text, of, named)) in CASES.into_iter().enumerate() {
        let (left, right) = text.split_once("->").expect("an arrow");
        let make = |random: &mut Rng, word: &str, read: bool| match row_major {
            true => Layout::row_major(&extents(word, of)).expect("a layout"),
            false => layout(random, &extents(word, of), 1, read),
        };
        let layouts: Vec<Layout> = left.split(',').map(|word| make(&mut random, word, true)).collect();
        let arrays: Vec<Vec<T>> = layouts.iter().map(|l| array(&mut random, l, algebra.number)).collect();
        let views: Vec<View<'_, T>> =
            layouts.iter().zip(&arrays).map(|(l, a)| View::new(a, l.clone()).expect("a view")).collect();
        let out = make(&mut random, right, false);
        let update = [Update::Assign, Update::Add, Update::Beta((algebra.number)(2))][random.below(3)];
        let alpha = (random.below(2) == 0).then(|| (algebra.number)(3));
        if row_major {
            let how = cpus[1].einsum(ring, Einsum::new(text, &views).unwrap()).explain().unwrap();
            assert!(how.contains(named) && how.contains("large: each step by all threads"), "{how}");
        }
        // The textbook takes longer than all thread counts together.
        let case = Case { text, operands: &views, out: &out, alpha, update };
        compare(&cpus[t % 3..t % 3 + 2], ring, algebra, case, &mut random);
    }
}

#[test]
fn large_tensors_give_the_textbook() {
    all(41, PlusTimes::new(), &F64, true);
    all(42, PlusTimes::new(), &F32, false);
    all(43, PlusTimes::new(), &I64, false);
    all(44, MinPlus::new(), &TROPICAL, false);
    all(45, LorLand::new(), &LOGIC, false);
}

/// Numbers whose sum changes with any other order of additions.
fn rounds(random: &mut Rng) -> f64 {
    random.below(1 << 20) as f64 / 3e5 - 1.7
}

fn bits<A: Arithmetic<f64>>(ring: A, text: &str, of: &[(char, usize)]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut random = Rng(46);
    let words: Vec<&str> = text.split_once("->").expect("an arrow").0.split(',').collect();
    let layouts: Vec<Layout> = words.iter().map(|w| Layout::row_major(&extents(w, of)).expect("a layout")).collect();
    let arrays: Vec<Vec<f64>> =
        layouts.iter().map(|l| (0..l.elements()).map(|_| rounds(&mut random)).collect()).collect();
    let views: Vec<View<'_, f64>> =
        layouts.iter().zip(&arrays).map(|(l, a)| View::new(a, l.clone()).expect("a view")).collect();
    let found: Vec<Vec<u64>> = machines()
        .iter()
        .map(|cpu| {
            let c = cpu.einsum(ring, Einsum::new(text, &views).expect("an expression")).eval().expect(text);
            c.values().iter().map(|x| x.to_bits()).collect()
        })
        .collect();
    assert!(found.iter().all(|other| *other == found[0]), "{text} {of:?}");
    (arrays, found[0].iter().map(|&b| f64::from_bits(b)).collect())
}

/// Joins adjacent sums until one is left.
fn joined(mut sums: Vec<f64>) -> f64 {
    while sums.len() > 1 {
        sums = sums.chunks(2).map(|two| if two.len() == 2 { two[0] + two[1] } else { two[0] }).collect();
    }
    sums[0]
}

/// The bits that the documentation guarantees: on every processor, for any number of threads.
#[test]
fn bits_follow_from_sizes() {
    let ring = PlusTimes::<f64>::new();
    // Blocks: one fold in index order, each step rounded once.
    let (m, n, k) = (70, 400, 450);
    let (x, found) = bits(ring, "ij,jk->ik", &[('i', m), ('j', k), ('k', n)]);
    for (i, j) in [(0, 0), (m - 1, n - 1), (63, 255), (64, 256), (17, 399)] {
        let wanted = (0..k).fold(0.0, |sum, t| f64::mul_add(x[0][i * k + t], x[1][t * n + j], sum));
        assert_eq!(found[i * n + j].to_bits(), wanted.to_bits(), "{i} {j}");
    }
    // Contiguous results: one fold, in order.
    let (m, n) = (1100, 1500);
    let (x, found) = bits(ring, "i,ij->j", &[('i', m), ('j', n)]);
    let wanted = (0..m).fold(0.0, |sum, t| f64::mul_add(x[0][t], x[1][t * n + 700], sum));
    assert_eq!(found[700].to_bits(), wanted.to_bits());
    // A single result: parts of equal length, each with 32 interleaved sums.
    let n = 100_003;
    let (x, found) = bits(ring, "i,i->", &[('i', n)]);
    let part = n.div_ceil(n >> 15).next_multiple_of(32);
    let parts = x[0].chunks(part).zip(x[1].chunks(part)).map(|(x, y)| {
        let mut sums = vec![0.0; 32];
        x.iter().zip(y).enumerate().for_each(|(t, (x, y))| sums[t % 32] = f64::mul_add(*x, *y, sums[t % 32]));
        joined(sums)
    });
    assert_eq!(found[0].to_bits(), joined(parts.collect()).to_bits());
    // A small result: partial folds, each in order.
    let (m, n, k) = (20, 30, 9001);
    let (x, found) = bits(ring, "ki,kj->ij", &[('i', m), ('j', n), ('k', k)]);
    let part = k.div_ceil((m * n * k) >> 20);
    for (i, j) in [(0, 0), (19, 29), (7, 16)] {
        let fold = |first: usize| {
            (first..k.min(first + part)).fold(0.0, |sum, t| f64::mul_add(x[0][t * m + i], x[1][t * n + j], sum))
        };
        let wanted = joined((0..k).step_by(part).map(fold).collect());
        assert_eq!(found[i * n + j].to_bits(), wanted.to_bits(), "{i} {j}");
    }
    // Sums over a single operand.
    bits(ring, "ij->j", &[('i', 100_001), ('j', 5)]);
    bits(ring, "ij->i", &[('i', 3), ('j', 50_001)]);
    bits(ring, "ij,jk,kl->il", &[('i', 150), ('j', 220), ('k', 240), ('l', 230)]);
    bits(MaxTimes::new(), "ij,jk->ik", &[('i', 70), ('j', 400), ('k', 450)]);
}

/// NaN and infinities reach exactly the results that depend on them.
#[test]
fn nan_and_infinity_stay_where_they_belong() {
    let (m, n, k) = (37, 411, 203);
    let (mut a, mut b) = (vec![1.0; m * k], vec![1.0; k * n]);
    (a[5 * k + 100], a[36 * k + 202], b[100 * n + 410]) = (f64::NAN, f64::INFINITY, f64::INFINITY);
    let view = |x, extents: &[usize]| View::new(x, Layout::row_major(extents).unwrap()).unwrap();
    let einsum = Einsum::new("ij,jk->ik", &[view(&a, &[m, k]), view(&b, &[k, n])]).unwrap();
    let c = Cpu::with_threads(2).unwrap().einsum(PlusTimes::new(), einsum.clone()).eval().unwrap();
    for (at, &x) in c.values().iter().enumerate() {
        let wanted = match (at / n, at % n) {
            (5, _) => f64::NAN,
            (36, _) | (_, 410) => f64::INFINITY,
            _ => k as f64,
        };
        assert!(x == wanted || x.is_nan() && wanted.is_nan(), "{at}: {x}");
    }
    let sums = Einsum::new("ij->i", &[view(&b, &[k, n])]).unwrap();
    let sums = Cpu::new().einsum(PlusTimes::new(), sums).eval().unwrap();
    assert!(sums.values().iter().enumerate().all(|(i, &x)| x == if i == 100 { f64::INFINITY } else { n as f64 }));
}

/// An operator with only a left identity supplies a value, but no identity.
#[test]
fn any_value_is_one_of_them() {
    let x = vec![7.0; 100_003];
    let cpu = Cpu::with_threads(3).unwrap();
    let view = View::new(&x, Layout::row_major(&[x.len()]).unwrap()).unwrap();
    let einsum = Einsum::new("i,i->", &[view.clone(), view.clone()]).unwrap();
    assert_eq!(cpu.einsum(AnyPair::<f64>::new(), einsum).eval().unwrap().values(), [1.0]);
    let einsum = Einsum::new("i->", &[view]).unwrap();
    assert_eq!(cpu.einsum(AnyPair::<f64>::new(), einsum).eval().unwrap().values(), [7.0]);
}

/// Byte counts are reported, and smaller blocks keep large steps within a budget.
#[test]
fn memory_is_told_and_a_budget_kept() {
    let n = 400;
    let x = vec![1.0; n * n];
    let view = View::new(&x, Layout::row_major(&[n, n]).unwrap()).unwrap();
    let einsum = Einsum::new("ij,jk->ik", &[view.clone(), view]).unwrap();
    let cpu = Cpu::with_threads(2).unwrap();
    let bytes = cpu.einsum(PlusTimes::new(), einsum.clone()).workspace_bytes().unwrap();
    assert!((300_000..8_000_000).contains(&bytes), "{bytes}");
    let own = (n * n * 8) as u64;
    let found = Cpu::with_threads(2).unwrap().memory_budget(own + 100_000);
    let c = found.einsum(PlusTimes::new(), einsum.clone()).eval().unwrap();
    assert!(c.values().iter().all(|&x| x == n as f64));
    let whole = Cpu::with_threads(2).unwrap().memory_budget(own + bytes as u64);
    assert_eq!(whole.einsum(PlusTimes::new(), einsum).eval().unwrap().values(), c.values());
}

#[test]
fn a_caller_may_stop_large_steps() {
    let x = vec![1.0; 400 * 400];
    let view = View::new(&x, Layout::row_major(&[400, 400]).unwrap()).unwrap();
    let cpu = Cpu::with_threads(2).unwrap().on_progress(|_| std::ops::ControlFlow::Break(()));
    for text in ["ij,jk->ik", "ij,ij->", "ij,ij->i"] {
        let einsum = Einsum::new(text, &[view.clone(), view.clone()]).unwrap();
        says(cpu.einsum(PlusTimes::new(), einsum).eval(), &["einsum", "cancelled"]);
    }
}

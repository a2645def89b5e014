//! Contractions compared with loops over all indices: random expressions, layouts, updates and types, for any number of
//! threads.

#[path = "contract/any.rs"]
mod any;
mod common;
#[path = "contract/groups.rs"]
mod groups;
#[path = "contract/large.rs"]
mod large;
#[path = "contract/mass.rs"]
mod mass;
#[path = "contract/plan.rs"]
mod plan;
#[path = "contract/shapes.rs"]
mod shapes;
#[path = "contract/textbook.rs"]
mod textbook;

use common::arbitrary::Rng;
use common::layouts::{self, layout};
use num_complex::Complex;
use sparring::algebra::{Arithmetic, LorLand, MaxPlus, MinPlus, PlusTimes, Value};
use sparring::contract::{Batch, Einsum, Layout, View, ViewMut};
use sparring::{Cpu, Error, einsum};
use textbook::Textbook;

/// How C is updated.
#[derive(Clone, Copy, Debug)]
enum Update<T> {
    Assign,
    Add,
    Beta(T),
}

/// An algebra written out plainly, independent of the library's.
struct Algebra<T> {
    zero: T,
    plus: fn(T, T) -> T,
    times: fn(T, T) -> T,
    number: fn(i64) -> T,
    /// A fill value for C where it must not be read.
    rubbish: T,
    /// Zero annihilates, so folds may be empty.
    annihilates: bool,
}

/// Numbers small enough that f32 adds them exactly, in any order.
const F64: Algebra<f64> = Algebra {
    zero: 0.0,
    plus: |a, b| a + b,
    times: |a, b| a * b,
    number: |i| i as f64,
    rubbish: f64::NAN,
    annihilates: true,
};
const F32: Algebra<f32> = Algebra {
    zero: 0.0,
    plus: |a, b| a + b,
    times: |a, b| a * b,
    number: |i| i as f32,
    rubbish: f32::NAN,
    annihilates: true,
};
const I64: Algebra<i64> = Algebra {
    zero: 0,
    plus: i64::wrapping_add,
    times: i64::wrapping_mul,
    number: |i| (i << 61) | i,
    rubbish: i64::MAX,
    annihilates: true,
};
const COMPLEX: Algebra<Complex<f64>> = Algebra {
    zero: Complex::new(0.0, 0.0),
    plus: |a, b| a + b,
    times: |a, b| a * b,
    number: |i| Complex::new(i as f64, 1.0 - i as f64),
    rubbish: Complex::new(f64::NAN, 0.0),
    annihilates: true,
};
const TROPICAL: Algebra<f64> = Algebra {
    zero: f64::INFINITY,
    plus: f64::min,
    times: |a, b| a + b,
    number: |i| i as f64,
    rubbish: f64::NEG_INFINITY,
    annihilates: true,
};
const SCHEDULE: Algebra<i32> = Algebra {
    zero: i32::MIN,
    plus: |a, b| a.max(b),
    times: i32::wrapping_add,
    number: |i| i as i32,
    rubbish: i32::MAX,
    // The smallest integer wraps.
    annihilates: false,
};
const LOGIC: Algebra<bool> = Algebra {
    zero: false,
    plus: |a, b| a | b,
    times: |a, b| a & b,
    number: |i| i % 3 == 0,
    rubbish: true,
    annihilates: true,
};

/// Thread counts used for every result.
fn machines() -> [Cpu; 4] {
    [1, 2, 3, 8].map(|n| Cpu::with_threads(n).expect("threads"))
}

/// A contraction: C, with layout `out`, is updated according to `alpha` and `update`.
struct Case<'a, T> {
    text: &'a str,
    operands: &'a [View<'a, T>],
    out: &'a Layout,
    alpha: Option<T>,
    update: Update<T>,
}

/// One contraction with several thread counts, compared with the textbook.
fn compare<T: Value, A: Arithmetic<T>>(
    cpus: &[Cpu],
    ring: A,
    algebra: &Algebra<T>,
    case: Case<'_, T>,
    random: &mut Rng,
) {
    let einsum = Einsum::new(case.text, case.operands).unwrap_or_else(|e| panic!("{e}"));
    compare_made(cpus, ring, algebra, case, &einsum, random);
}

/// The same, for an expression built another way.
fn compare_made<T: Value, A: Arithmetic<T>>(
    cpus: &[Cpu],
    ring: A,
    algebra: &Algebra<T>,
    case: Case<'_, T>,
    einsum: &Einsum<'_, T>,
    random: &mut Rng,
) {
    let Case { text, operands, out, alpha, update } = case;
    let Algebra { zero, plus, times, .. } = *algebra;
    let book = Textbook::read(text, operands);
    let len = out.strides().iter().zip(out.extents()).map(|(s, e)| s.unsigned_abs() * e).sum::<usize>()
        + out.batch_stride().unsigned_abs() * out.batch()
        + out.offset()
        + 1;
    let reads = !matches!(update, Update::Assign) && !matches!(update, Update::Beta(b) if b == zero);
    let start: Vec<T> =
        (0..len).map(|_| if reads { (algebra.number)(random.below(7) as i64 - 3) } else { algebra.rubbish }).collect();
    let mut wanted = start.clone();
    book.each(&book.result, |b, index| {
        let sum = book.fold(operands, b, index, zero, plus, times);
        let new = alpha.map_or(sum, |alpha| times(alpha, sum));
        let at = out.position(b, index).expect("a position");
        wanted[at] = match update {
            Update::Add => plus(wanted[at], new),
            Update::Beta(beta) if beta != zero => plus(times(beta, wanted[at]), new),
            _ => new,
        };
    });
    for cpu in cpus {
        let mut found = start.clone();
        let mut asked = cpu.einsum(ring, einsum.clone());
        if let Some(alpha) = alpha {
            asked = asked.alpha(alpha);
        }
        asked = match update {
            Update::Assign => asked,
            Update::Add => asked.accumulate(),
            Update::Beta(beta) => asked.beta(beta),
        };
        let path = asked.path().expect("a path");
        asked
            .into(&mut ViewMut::new(&mut found, out.clone()).expect("a result"))
            .unwrap_or_else(|e| panic!("{text}: {e}"));
        for (at, (f, w)) in found.iter().zip(&wanted).enumerate() {
            assert!(
                f == w || [f, w].iter().all(|x| format!("{x:?}").contains("NaN")),
                "{text} by {path:?}, {} threads, element {at} is {f:?}, not {w:?}; {update:?} α {alpha:?}\nC: {out:?}\n{:?}",
                cpu.threads().count(),
                operands.iter().map(View::layout).collect::<Vec<_>>()
            );
        }
    }
}

/// An array of small numbers for a layout.
fn array<T>(random: &mut Rng, layout: &Layout, number: fn(i64) -> T) -> Vec<T> {
    layouts::array(layout, || number(random.below(7) as i64 - 3))
}

fn random_cases<T: Value, A: Arithmetic<T>>(seed: u64, cases: usize, ring: A, algebra: &Algebra<T>) {
    let cpus = machines();
    let mut random = Rng(seed);
    for case in 0..cases {
        let count = match random.below(12) {
            0..3 => 1,
            3..8 => 2,
            8..10 => 3,
            10 => 4,
            _ => 9,
        };
        let (letters, largest) =
            if count == 9 { (3, 2) } else { (1 + random.below(5), [3, 5, 9, 40][random.below(4)]) };
        let batch = [1, 1, 0, 2, 3, 17][random.below(6)];
        let empty = algebra.annihilates && random.below(15) == 0;
        let extents = layouts::extents(&mut random, letters, largest, batch, empty);
        let names = random.order(52);
        let name =
            |k: usize| char::from(if names[k] < 26 { b'a' + names[k] as u8 } else { b'A' + names[k] as u8 - 26 });
        let (text, terms, result) = layouts::expression(&mut random, count, letters, name);
        let own: Vec<usize> = terms.iter().map(|_| if random.below(3) == 0 { 1 } else { batch }).collect();
        let shared = own.iter().copied().find(|&b| b != 1).unwrap_or(1);
        let layouts: Vec<Layout> = terms
            .iter()
            .zip(&own)
            .map(|(t, &b)| layout(&mut random, &t.iter().map(|&k| extents[k]).collect::<Vec<_>>(), b, true))
            .collect();
        let arrays: Vec<Vec<T>> = layouts.iter().map(|l| array(&mut random, l, algebra.number)).collect();
        let views: Vec<View<'_, T>> =
            layouts.iter().zip(&arrays).map(|(l, a)| View::new(a, l.clone()).expect("a view")).collect();
        let out = layout(&mut random, &result.iter().map(|&k| extents[k]).collect::<Vec<_>>(), shared, false);
        let alpha = (random.below(2) == 0).then(|| (algebra.number)(random.below(5) as i64 - 2));
        let update = match random.below(4) {
            0 => Update::Add,
            1 => Update::Beta((algebra.number)(random.below(5) as i64 - 2)),
            2 => Update::Beta(algebra.zero),
            _ => Update::Assign,
        };
        // Thread pools cost more than such small contractions, so all thread counts run only now and then.
        let some = if case % 16 == 0 { &cpus[..] } else { &cpus[case % 2..=case % 2] };
        compare(some, ring, algebra, Case { text: &text, operands: &views, out: &out, alpha, update }, &mut random);
    }
}

#[test]
fn random_expressions_of_f64() {
    random_cases(1, 2500, PlusTimes::new(), &F64);
}
#[test]
fn random_expressions_of_f32() {
    random_cases(2, 1500, PlusTimes::new(), &F32);
}
#[test]
fn random_expressions_of_integers_that_wrap() {
    random_cases(3, 2500, PlusTimes::new(), &I64);
}
#[test]
fn random_expressions_over_tropical_semirings() {
    random_cases(4, 2500, MinPlus::new(), &TROPICAL);
    random_cases(5, 1000, MaxPlus::new(), &SCHEDULE);
}
#[test]
fn random_expressions_of_truth_values() {
    random_cases(6, 1000, LorLand::new(), &LOGIC);
}

/// Square matrices of every size in every layout, in as many blocks as threads need; each operand is also shared by the
/// batch.
#[test]
fn products_of_matrices_of_every_size() {
    let cpus = machines();
    let mut random = Rng(7);
    for n in 1..=34 {
        let batch = (40_000 / (n * n)).clamp(5, 2600);
        let make = |kind: usize| match kind {
            0 => Layout::row_major(&[n, n]).and_then(|l| l.batched(batch)),
            1 => Layout::column_major(&[n, n]).and_then(|l| l.batched(batch)),
            2 => Layout::interleaved(&[n, n], batch),
            _ => Layout::row_major(&[n, n]).and_then(|l| l.broadcast(batch)),
        };
        // All three in the same layout, and two at random.
        let mixed = [random.below(4), random.below(4), random.below(3)];
        for [a, b, c] in [[0; 3], [1; 3], [2; 3], mixed] {
            let layouts = [a, b].map(|kind| make(kind).expect("a layout"));
            let out = make(c).expect("a layout");
            let arrays = [0, 1].map(|k| array(&mut random, &layouts[k], F32.number));
            let views = [0, 1].map(|k| View::new(&arrays[k], layouts[k].clone()).expect("a view"));
            let update = [Update::Assign, Update::Add, Update::Beta(2.0)][random.below(3)];
            let some = &cpus[n % 3..n % 3 + 2];
            let case = Case { text: "ij,jk->ik", operands: &views, out: &out, alpha: None, update };
            compare(some, PlusTimes::new(), &F32, case, &mut random);
        }
    }
}

/// Rectangles, their transposes, one operand shared by the batch through its letters, matrix–vector products, and
/// elementwise products.
#[test]
fn products_of_rectangles() {
    let cpus = machines();
    let mut random = Rng(8);
    let texts = [
        "bij,bjk->bik",
        "bji,bjk->bik",
        "bij,bkj->bki",
        "bij,jk->bik",
        "ij,bjk->bki",
        "bij,bj->bi",
        "bij,bij->bij",
        "bij,bij->b",
    ];
    for (i, j, k) in [(1, 1, 7), (3, 4, 5), (5, 3, 2), (6, 5, 6), (7, 9, 33), (40, 2, 3), (2, 40, 17), (9, 8, 25)] {
        for text in texts {
            let batch = 90_000 / (i * k + i * j);
            let of = |word: &str| {
                let extent = |c| match c {
                    'b' => batch,
                    'i' => i,
                    'j' => j,
                    _ => k,
                };
                word.chars().map(extent).collect::<Vec<_>>()
            };
            let (left, right) = text.split_once("->").expect("an arrow");
            let layouts: Vec<Layout> = left.split(',').map(|w| Layout::row_major(&of(w)).expect("a layout")).collect();
            let arrays: Vec<Vec<f64>> = layouts.iter().map(|l| array(&mut random, l, F64.number)).collect();
            let views: Vec<View<'_, f64>> =
                layouts.iter().zip(&arrays).map(|(l, a)| View::new(a, l.clone()).expect("a view")).collect();
            let out = Layout::row_major(&of(right)).expect("a layout");
            let case = Case { text, operands: &views, out: &out, alpha: None, update: Update::Assign };
            compare(&cpus[1..3], PlusTimes::new(), &F64, case, &mut random);
        }
    }
}

/// The paper's kernels, and its operators as one expression each: several steps per block of elements.
#[test]
fn finite_elements() {
    let cpus = machines();
    let mut random = Rng(9);
    let (q, d, elements) = (4, 3, 700);
    for (text, sizes) in [
        ("isj,ksl->ijkl", &[d, q, d, d, q, d][..]),
        ("isj,ksl->iklj", &[d, q, d, d, q, d]),
        ("si,sj,ksl->kilj", &[q, d, q, d, d, q, d]),
        ("ai,bj,eij->eab", &[q, d, q, d, elements, d, d]),
        ("ai,bj,ck,eijk->eabc", &[q, d, q, d, q, d, elements, d, d, d]),
        ("qi,qj,rk,rl,qr->ikjl", &[q, d, q, d, q, d, q, d, q, q]),
        ("qi,rj,eqr,qk,rl,ekl->eij", &[q, d, q, d, 90, q, q, q, d, q, d, 90, d, d]),
    ] {
        let left = text.split_once("->").expect("an arrow").0;
        let mut sizes = sizes.iter().copied();
        let layouts: Vec<Layout> = left
            .split(',')
            .map(|w| Layout::row_major(&sizes.by_ref().take(w.len()).collect::<Vec<_>>()).expect("a layout"))
            .collect();
        let arrays: Vec<Vec<f64>> = layouts.iter().map(|l| array(&mut random, l, F64.number)).collect();
        let views: Vec<View<'_, f64>> =
            layouts.iter().zip(&arrays).map(|(l, a)| View::new(a, l.clone()).expect("a view")).collect();
        let (extents, _) = Einsum::new(text, &views).expect("an expression").result();
        let out = Layout::row_major(&extents).expect("a layout");
        let case = Case { text, operands: &views, out: &out, alpha: None, update: Update::Assign };
        compare(&cpus, PlusTimes::new(), &F64, case, &mut random);
    }
}

/// Sums that round: the same bits for any number of threads, and close to the textbook.
#[test]
fn rounding_does_not_depend_on_threads() {
    let mut random = Rng(10);
    let cpus = machines();
    for (text, extents) in [
        ("bij,bjk->bik", [vec![3000, 5, 7], vec![3000, 7, 6]]),
        ("bij,jk->bik", [vec![3000, 5, 7], vec![7, 6]]),
        ("ijb,jkb->ikb", [vec![5, 7, 3001], vec![7, 6, 3001]]),
        ("bij,bjk->bki", [vec![90, 33, 40], vec![90, 40, 35]]),
    ] {
        let arrays = extents.map(|e| (Layout::row_major(&e).expect("a layout"), e.iter().product::<usize>()));
        let arrays =
            arrays.map(|(l, n)| (l, (0..n).map(|_| random.below(1 << 20) as f64 / 3e5 - 1.7).collect::<Vec<_>>()));
        let views = [0, 1].map(|k| View::new(&arrays[k].1, arrays[k].0.clone()).expect("a view"));
        let found: Vec<Batch<f64>> = cpus
            .iter()
            .map(|cpu| {
                cpu.einsum(PlusTimes::new(), Einsum::new(text, &views).expect("an expression")).eval().expect(text)
            })
            .collect();
        for other in &found[1..] {
            assert!(found[0].values().iter().zip(other.values()).all(|(a, b)| a.to_bits() == b.to_bits()), "{text}");
        }
        // One fold in index order, from 0, each step rounded once: bitwise equal.
        let book = Textbook::read(text, &views);
        let view = found[0].view();
        book.each(&book.result, |b, index| {
            let step = |sum, factors: &mut dyn Iterator<Item = f64>| {
                let (a, b) = (factors.next().expect("A"), factors.next().expect("B"));
                a.mul_add(b, sum)
            };
            let wanted = book.fold_by(&views, b, index, 0.0, step);
            let value: &f64 = view.get(b, index).expect("an element");
            assert_eq!(value.to_bits(), wanted.to_bits(), "{text} {index:?}");
        });
    }
}

/// The text of an error, which contains each of `words`.
#[track_caller]
fn says<T>(found: Result<T, Error>, words: &[&str]) {
    let text = found.err().expect("an error").to_string();
    words.iter().for_each(|word| assert!(text.contains(word), "{text:?} does not name {word:?}"));
}

#[test]
fn what_does_not_fit_is_refused_with_its_numbers() {
    let x = vec![1.0; 24];
    let view = |extents: &[usize]| View::new(&x, Layout::row_major(extents).expect("a layout")).expect("a view");
    let (a, b) = (view(&[2, 3]), view(&[4, 2]));
    says(
        Einsum::new("ij,jk->ik", &[a.clone(), b.clone()]),
        &["j has 4 values in operand 1, 3 in operand 0", "\n  ij,jk->ik\n     ^"],
    );
    says(Einsum::new("ijk,jk->ik", &[a.clone(), b.clone()]), &["operand 0 has 3 letters and 2 indices", "\n  ^"]);
    says(Einsum::new("ij,jk->ik", std::slice::from_ref(&a)), &["2 operands are named, 1 are given", "\n     ^"]);
    says(Einsum::new("ij->ij", &[a.clone(), b.clone()]), &["1 operands are named, 2 are given", "\n    ^"]);
    says(Einsum::new("ij;jk->ik", &[a.clone(), b.clone()]), &["expected a letter", "\n    ^"]);
    says(Einsum::new("ij,jk->ii", &[a.clone(), b.clone()]), &["twice", "\n          ^"]);
    says(Einsum::new("ij,jk", &[a.clone(), b.clone()]), &["expected `->`"]);
    let batches = [3, 4]
        .map(|n| View::new(&x, Layout::row_major(&[2]).and_then(|l| l.batched(n)).expect("a layout")).expect("a view"));
    says(Einsum::new("i,i->i", &batches), &["batch", "4", "3"]);

    let cpu = Cpu::new();
    let mut y = vec![0.0; 24];
    let square = || Einsum::new("ij->ji", std::slice::from_ref(&a)).expect("an expression");
    let mut out = ViewMut::new(&mut y, Layout::row_major(&[2, 3]).expect("a layout")).expect("a result");
    says(cpu.einsum(PlusTimes::new(), square()).into(&mut out), &["einsum", "[3, 2]", "[2, 3]"]);
    let two = Layout::row_major(&[3, 2]).and_then(|l| l.batched(2)).expect("a layout");
    says(
        cpu.einsum(PlusTimes::new(), square()).into(&mut ViewMut::new(&mut y, two).expect("a result")),
        &["batch", "2", "1"],
    );
    let small = Cpu::new().memory_budget(40);
    says(small.einsum(PlusTimes::new(), square()).eval(), &["budget", "einsum", "40"]);
    assert!(small.einsum(PlusTimes::new(), square()).workspace_bytes().expect("bytes") > 40);
}

#[test]
fn layouts_are_checked() {
    let max = usize::MAX;
    says(Layout::row_major(&[max, max, 2]), &["strides of a layout", &(2 * max as u128).to_string()]);
    says(Layout::column_major(&[max, 2]), &["strides of a layout", &max.to_string()]);
    says(Layout::new(&[max, 2], &[0, 0], 0), &["elements of a layout"]);
    says(Layout::new(&[max, max, max], &[isize::MIN; 3], 0), &["before the array"]);
    says(Layout::new(&[max, max, max], &[isize::MAX; 3], max), &["places of a layout"]);
    says(Layout::new(&[3], &[-2], 3), &["[3]", "[-2]", "offset 3", "1 before the array"]);
    says(Layout::new(&[3], &[], 0), &["strides", "0", "1"]);
    says(Layout::row_major(&[2]).and_then(|l| l.strided(3, -1)), &["3 tensors -1 apart"]);
    says(Layout::interleaved(&[max], max), &["of a layout"]);
    // No elements, whatever the other extents: no address is used.
    let empty = Layout::row_major(&[1 << 40, 1 << 40, 0]).expect("a layout");
    assert_eq!((empty.elements(), empty.position(0, &[0, 0, 0])), (0, None));
    assert!(View::<f64>::new(&[], empty).is_ok());

    let layout = Layout::row_major(&[2, 3, 4]).expect("a layout");
    assert_eq!(layout.reshape(&[6, 4]).expect("joined").strides(), [4, 1]);
    assert_eq!(layout.reshape(&[2, 1, 3, 2, 2]).expect("split").strides()[2..], [4, 2, 1]);
    assert_eq!(layout.reshape(&[24]).expect("a vector").strides(), [1]);
    says(layout.reshape(&[5, 5]), &["[2, 3, 4]", "[5, 5]", "number of elements"]);
    says(layout.permute(&[1, 0, 2]).and_then(|l| l.reshape(&[6, 4])), &["would have to be moved"]);
    says(layout.permute(&[0, 0, 1]), &["[0, 0, 1]", "3 indices"]);
    says(layout.permute(&[0, 1, 3]), &["[0, 1, 3]"]);
    // From the paper: a tensor of four indices read as a matrix, with the first index fastest.
    let tensor = Layout::column_major(&[2, 3, 4, 5]).expect("a layout");
    assert_eq!(tensor.reshape_columns(&[6, 20]).expect("a matrix"), Layout::column_major(&[6, 20]).expect("a layout"));

    let mut y = vec![0.0; 30];
    says(ViewMut::new(&mut y, Layout::new(&[2, 3], &[2, 1], 0).expect("a layout")), &["[2, 3]", "[2, 1]", "reach 2"]);
    says(ViewMut::new(&mut y, Layout::new(&[3], &[-1], 2).expect("a layout")), &["[-1]", "positive"]);
    says(
        ViewMut::new(&mut y, Layout::row_major(&[3]).and_then(|l| l.broadcast(2)).expect("a layout")),
        &["2 tensors 0 apart"],
    );
    says(ViewMut::new(&mut y, Layout::row_major(&[31]).expect("a layout")), &["30", "31"]);
    says(
        View::new(&y, Layout::row_major(&[2]).expect("a layout")).and_then(View::ranked::<2>),
        &["indices of a view", "1", "2"],
    );
}

/// Reshaped and permuted layouts address the elements that they should.
#[test]
fn views_move_nothing() {
    let mut random = Rng(11);
    let (mut moved, mut kept) = (0, 0);
    for _ in 0..2000 {
        let extents: Vec<usize> = (0..random.below(5)).map(|_| 1 + random.below(4)).collect();
        let from = layout(&mut random, &extents, 2, true);
        let n: usize = extents.iter().product();
        let mut other = vec![];
        let mut left = n;
        while left > 1 {
            let divisors: Vec<usize> = (1..=left).filter(|d| left.is_multiple_of(*d)).collect();
            let d = divisors[random.below(divisors.len())];
            other.push(d);
            left /= d;
        }
        let Ok(to) = from.reshape(&other) else {
            moved += 1;
            continue;
        };
        kept += 1;
        for e in 0..n {
            let index = |extents: &[usize]| {
                let mut rest = e;
                let mut index: Vec<usize> = extents.iter().rev().map(|x| (rest % x, rest /= x).0).collect();
                index.reverse();
                index
            };
            assert_eq!(from.position(1, &index(&extents)), to.position(1, &index(&other)), "{from:?} as {other:?}");
        }
    }
    assert!(moved > 100 && kept > 100, "{moved} would move, {kept} stay");
}

/// An array that cannot be allocated, a path with its cost, and indices summed before any product.
#[test]
fn memory_and_paths() {
    let cpu = Cpu::with_threads(2).expect("threads");
    let one = [1.0];
    let far = View::new(&one, Layout::new(&[1 << 50], &[0], 0).expect("a layout")).expect("a view");
    says(
        cpu.einsum(PlusTimes::new(), Einsum::new("i->i", std::slice::from_ref(&far)).expect("text")).eval(),
        &["out of memory"],
    );
    says(
        cpu.einsum(PlusTimes::new(), Einsum::new("i,i->", &[far.clone(), far]).expect("text")).eval(),
        &["out of memory"],
    );

    // A chain that is cheaper from the right.
    let x = vec![1.0; 10_000];
    let view = |m, n| View::new(&x, Layout::row_major(&[m, n]).expect("a layout")).expect("a view");
    let chain = Einsum::new("ij,jk,kl->il", &[view(10, 100), view(100, 100), view(100, 1)]).expect("text");
    let asked = cpu.einsum(PlusTimes::new(), chain);
    assert_eq!(asked.path().expect("a path"), [(1, 2), (0, 3)]);
    let bytes = asked.workspace_bytes().expect("bytes");
    assert!((800..100_000).contains(&bytes), "{bytes}");
    assert!(asked.eval().expect("a product").values().iter().all(|&v| v == 10_000.0));
    // Sums over indices of a single operand come first: the full loop would take 10¹² steps.
    let (n, vector) = (100, View::new(&x, Layout::row_major(&[100, 100]).expect("a layout")).expect("a view"));
    let sums = Einsum::new("ab,cd,ef->", &[vector.clone(), vector.clone(), vector]).expect("text");
    assert_eq!(cpu.einsum(PlusTimes::new(), sums).eval().expect("a sum").values(), [f64::from(n * n).powi(3)]);
}

#[test]
fn checked_by_the_compiler() {
    let cpu = Cpu::new();
    let numbers: Vec<i64> = (0..24).collect();
    let b =
        View::new(&numbers, Layout::row_major(&[2, 3, 4]).expect("a layout")).and_then(View::ranked::<3>).expect("b");
    let c = View::new(&numbers, Layout::row_major(&[4, 3]).expect("a layout")).and_then(View::ranked::<2>).expect("c");
    let found =
        cpu.einsum(PlusTimes::new(), einsum!("ijk,kj->i", b, c).expect("an expression")).eval().expect("a product");
    let text = Einsum::new("ijk,kj->i", &[b.view().clone(), c.view().clone()]).expect("an expression");
    assert_eq!(found, cpu.einsum(PlusTimes::new(), text).eval().expect("a product"));
    assert_eq!(found.values()[0], (0..3).flat_map(|j| (0..4).map(move |k| (j * 4 + k) * (k * 3 + j))).sum::<i64>());
    says(einsum!("ij,ji->", c, c), &["values"]);
}

#[test]
fn a_caller_may_stop_it() {
    let x = vec![1.0f32; 300_000];
    let vector = View::new(&x, Layout::row_major(&[300_000]).expect("a layout")).expect("a view");
    let cpu = Cpu::with_threads(2).expect("threads").on_progress(|_| std::ops::ControlFlow::Break(()));
    says(cpu.einsum(PlusTimes::new(), Einsum::new("i->i", &[vector]).expect("text")).eval(), &["einsum", "cancelled"]);
}

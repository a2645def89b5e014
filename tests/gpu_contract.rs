//! Contractions on the GPU are bitwise equal to the CPU, which `tests/contract.rs` compares with loops over all
//! indices, for folds of up to 128 terms. Longer folds form a tree: exact sums give the same bits, and rounded sums
//! have smaller errors.

mod common;

use std::fmt::Debug;

use common::arbitrary::Rng;
use common::gpu::cuda;
use common::layouts::{self, layout};
use num_complex::Complex;
use sparring::algebra::{Arithmetic, Array, LorLand, MaxPlus, MinPlus, PlusTimes, Slice, Value};
use sparring::contract::{
    Any, AnyView, Arrangement, ColumnMajor, Einsum, Fixed, Group, Interleaved, Layout, Mass, View, ViewMut, bound,
};
use sparring::gpu::testing::{tiled, tilings};
use sparring::gpu::{DeviceBatch, DeviceEinsum, Tiling, Tuning};
use sparring::runtime::{DenseView, Machine, Semiring, Vector};
use sparring::{Cpu, Cuda, Error, einsum};

/// How C is updated.
#[derive(Clone, Copy, Debug)]
enum Update<T> {
    Assign,
    Add,
    Beta(T),
}

/// Values of a type, including some that round.
trait Sample: Value {
    fn of(random: &mut Rng) -> Self;
    /// A fill value for C where it must not be read.
    const RUBBISH: Self;
}
macro_rules! sample {
    ($($t:ty, $rubbish:expr, |$x:ident| $of:expr;)*) => {$(
        impl Sample for $t {
            fn of(random: &mut Rng) -> Self {
                let $x = random.below(1 << 20) as i64 - (1 << 19);
                $of
            }
            const RUBBISH: Self = $rubbish;
        }
    )*};
}
sample! {
    f64, f64::NAN, |x| x as f64 / 3e5;
    f32, f32::NAN, |x| x as f32 / 3e5;
    i64, i64::MAX, |x| (x << 45) | x;
    i32, i32::MAX, |x| x as i32;
    i8, i8::MAX, |x| x as i8;
    bool, true, |x| x % 3 == 0;
    Complex<f64>, Complex::new(f64::NAN, 0.0), |x| Complex::new(x as f64 / 3e5, 1.0 - x as f64 / 5e5);
}

/// An array for the layout.
fn array<T: Sample>(random: &mut Rng, layout: &Layout) -> Vec<T> {
    layouts::array(layout, || T::of(random))
}

/// Bitwise equal, or both NaN.
#[track_caller]
fn same<T: Value>(found: &[T], wanted: &[T], what: impl Fn() -> String) {
    assert_eq!(found.len(), wanted.len(), "{}", what());
    for (at, (f, w)) in found.iter().zip(wanted).enumerate() {
        // Zeros of either sign are equal but print differently.
        let zero = *f == *w && format!("{f:?}").contains("0.0");
        let equal = *f == *w && !zero || format!("{f:?}") == format!("{w:?}");
        assert!(equal, "element {at} is {f:?}, not {w:?}: {}", what());
    }
}

/// A contraction into an array with layout `out`.
struct Case<'a, T> {
    text: &'a str,
    operands: &'a [View<'a, T>],
    out: &'a Layout,
    alpha: Option<T>,
    update: Update<T>,
}

/// Compares the contraction on CPU and GPU; returns the GPU's explanation.
#[track_caller]
fn compare<T: Sample, A: Arithmetic<T> + Debug>(cuda: &Cuda, ring: A, case: &Case<'_, T>, random: &mut Rng) -> String {
    compare_by(cuda, ring, case, random, false)
}

/// The same; with `library`, cuBLAS may compute, which requires values that do not round.
#[track_caller]
fn compare_by<T: Sample, A: Arithmetic<T> + Debug>(
    cuda: &Cuda,
    ring: A,
    case: &Case<'_, T>,
    random: &mut Rng,
    library: bool,
) -> String {
    let Case { text, operands, out, alpha, update } = *case;
    let mut start: Vec<T> = array(random, out);
    if matches!(update, Update::Assign) || matches!(update, Update::Beta(beta) if beta == A::ZERO) {
        start.fill(T::RUBBISH);
    }
    let mut wanted = start.clone();
    let cpu = Cpu::with_threads(2).expect("threads");
    let mut asked = cpu.einsum(ring, Einsum::new(text, operands).expect("an expression"));
    let there: Vec<DeviceBatch<T>> = operands.iter().map(|x| cuda.upload_batch(x).expect("a batch")).collect();
    let mut asked_there = cuda.einsum(ring, Einsum::new(text, &there).expect("an expression"));
    if !library {
        asked_there = asked_there.same_bits();
    }
    assert_eq!(asked.path().expect("a path"), asked_there.path().expect("a path"), "{text}");
    if let Some(alpha) = alpha {
        (asked, asked_there) = (asked.alpha(alpha), asked_there.alpha(alpha));
    }
    (asked, asked_there) = match update {
        Update::Assign => (asked, asked_there),
        Update::Add => (asked.accumulate(), asked_there.accumulate()),
        Update::Beta(beta) => (asked.beta(beta), asked_there.beta(beta)),
    };
    let said = asked_there.explain().expect("words");
    asked.into(&mut ViewMut::new(&mut wanted, out.clone()).expect("a result")).expect(text);
    let mut found = cuda.upload_batch(&View::new(&start, out.clone()).expect("a view")).expect("a batch");
    asked_there.into(&mut found).expect(text);
    let what = || {
        let layouts: Vec<_> = operands.iter().map(View::layout).collect();
        format!("{text}, {ring:?}, α {alpha:?}, {update:?}\n{said}\nC: {out:?}\n{layouts:?}")
    };
    same(cuda.download_batch(&found).expect("a result").values(), &wanted, what);
    said
}

fn random_cases<T: Sample, A: Arithmetic<T> + Debug>(seed: u64, cases: usize, ring: A) {
    let cuda = cuda();
    let mut random = Rng(seed);
    for _ in 0..cases {
        let count = [1, 1, 2, 2, 2, 2, 3, 4][random.below(8)];
        let (letters, largest) = (1 + random.below(5), [3, 5, 9, 40][random.below(4)]);
        let batch = [1, 1, 0, 2, 3, 17][random.below(6)];
        let empty = random.below(15) == 0;
        let mut extents = layouts::extents(&mut random, letters, largest, batch, empty);
        let name = |k: usize| char::from(b'a' + k as u8);
        let (text, terms, result) = layouts::expression(&mut random, count, letters, name);
        // Chains: trees sum in another order, which shows where sums round.
        while extents.iter().enumerate().filter(|(k, _)| !result.contains(k)).map(|(_, e)| *e).product::<usize>() > 128
        {
            extents.iter_mut().for_each(|e| *e = (*e / 2).max(1));
        }
        let own: Vec<usize> = terms.iter().map(|_| if random.below(3) == 0 { 1 } else { batch }).collect();
        let shared = own.iter().copied().find(|&b| b != 1).unwrap_or(1);
        let of = |t: &[usize]| t.iter().map(|&k| extents[k]).collect::<Vec<_>>();
        let layouts: Vec<Layout> = terms.iter().zip(&own).map(|(t, &b)| layout(&mut random, &of(t), b, true)).collect();
        let arrays: Vec<Vec<T>> = layouts.iter().map(|l| array(&mut random, l)).collect();
        let views: Vec<View<'_, T>> =
            layouts.iter().zip(&arrays).map(|(l, a)| View::new(a, l.clone()).expect("a view")).collect();
        let out = layout(&mut random, &of(&result), shared, false);
        let alpha = (random.below(2) == 0).then(|| T::of(&mut random));
        let update = match random.below(4) {
            0 => Update::Add,
            1 => Update::Beta(T::of(&mut random)),
            2 => Update::Beta(A::ZERO),
            _ => Update::Assign,
        };
        compare(&cuda, ring, &Case { text: &text, operands: &views, out: &out, alpha, update }, &mut random);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn random_expressions() {
    random_cases::<f64, _>(1, 400, PlusTimes::new());
    random_cases::<f32, _>(2, 200, PlusTimes::new());
    random_cases::<i64, _>(3, 300, PlusTimes::new());
    random_cases::<f64, _>(4, 200, MinPlus::new());
    random_cases::<bool, _>(5, 100, LorLand::new());
    random_cases::<Complex<f64>, _>(6, 100, PlusTimes::new());
}

/// Tensors given by letters, with `b` large enough that a specialized program pays off.
fn letters<T: Sample, A: Arithmetic<T> + Debug>(
    cuda: &Cuda,
    ring: A,
    text: &str,
    extent: impl Fn(char) -> usize,
    update: Update<T>,
    random: &mut Rng,
) -> String {
    let (left, right) = text.split_once("->").expect("an arrow");
    let of = |word: &str| Layout::row_major(&word.chars().map(&extent).collect::<Vec<_>>()).expect("a layout");
    let layouts: Vec<Layout> = left.split(',').map(of).collect();
    let arrays: Vec<Vec<T>> = layouts.iter().map(|l| array(random, l)).collect();
    let views: Vec<View<'_, T>> =
        layouts.iter().zip(&arrays).map(|(l, a)| View::new(a, l.clone()).expect("a view")).collect();
    let alpha = matches!(update, Update::Beta(_)).then(|| T::of(random));
    compare(cuda, ring, &Case { text, operands: &views, out: &of(right), alpha, update }, random)
}

/// Squares of every size, plain and transposed, each with a batch that ends in a partial block.
#[test]
#[ignore = "needs a GPU"]
fn squares_of_every_size() {
    let cuda = cuda();
    let mut random = Rng(7);
    for n in 1..=40 {
        let batch = 70_000 / (n * n) + 40 + n % 7;
        let extent = |c| if c == 'b' { batch } else { n };
        let text =
            ["bij,bjk->bik", "bji,bjk->bik", "bij,bkj->bik", "bji,bkj->bki", "bij,jk->bik", "ji,bkj->bik"][n % 6];
        let said = [
            letters::<f64, _>(&cuda, PlusTimes::new(), "bij,bjk->bik", extent, Update::Add, &mut random),
            letters::<f32, _>(&cuda, PlusTimes::new(), "bij,bjk->bik", extent, Update::Assign, &mut random),
            letters::<f32, _>(&cuda, PlusTimes::new(), text, extent, Update::Beta(-0.5), &mut random),
            letters::<f64, _>(&cuda, MinPlus::new(), text, extent, Update::Add, &mut random),
        ];
        assert!(said.iter().all(|s| s.contains("matrices")), "{n}: {said:?}");
    }
}

/// Rectangles, several row and column indices, transposes within members, other types.
#[test]
#[ignore = "needs a GPU"]
fn members_in_any_order() {
    let cuda = cuda();
    let mut random = Rng(8);
    let texts = [
        "bij,bjk->bik",
        "bji,bjk->bik",
        "bij,bkj->bki",
        "bij,jk->bik",
        "ij,bjk->bki",
        "bisj,bksl->bijkl",
        "bisj,bksl->biklj",
        "bisj,bslk->bjkil",
        "bijs,bskt->bikjt",
        "bistj,bktsl->bijkl",
        "bij,bj->bi",
        "bi,bk->bik",
    ];
    for (case, &(i, j, k)) in
        [(3, 4, 5), (5, 3, 2), (7, 9, 13), (6, 5, 6), (20, 2, 3), (2, 24, 7), (4, 4, 8), (1, 8, 8)].iter().enumerate()
    {
        for (number, text) in texts.iter().enumerate() {
            let extent = |c| match c {
                'b' => 9001 + case,
                'i' => i,
                'j' => j,
                'k' => k,
                's' => 4,
                't' => 3,
                _ => 2,
            };
            let f64s = letters::<f64, _>(&cuda, PlusTimes::new(), text, extent, Update::Add, &mut random);
            assert!(number >= 10 || f64s.contains("matrices"), "{text} {i} {j} {k}: {f64s}");
            match (case + number) % 4 {
                0 => letters::<i8, _>(&cuda, PlusTimes::new(), text, extent, Update::Beta(3), &mut random),
                1 => letters::<i32, _>(&cuda, MaxPlus::new(), text, extent, Update::Add, &mut random),
                2 => letters::<bool, _>(&cuda, LorLand::new(), text, extent, Update::Add, &mut random),
                _ => letters::<Complex<f64>, _>(&cuda, PlusTimes::new(), text, extent, Update::Assign, &mut random),
            };
        }
    }
}

/// Batches at any offset, with gaps or running backwards; results with gaps.
#[test]
#[ignore = "needs a GPU"]
fn batches_that_lie_anywhere() {
    let cuda = cuda();
    let mut random = Rng(9);
    for n in [2usize, 3, 4, 6, 8, 12, 16] {
        let (batch, size) = (70_000 / (n * n) + 9, (n * n) as isize);
        for (offset, gap) in [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2), (4, 4), (3, 13)] {
            let square = |offset: usize| Layout::new(&[n, n], &[n as isize, 1], offset).expect("a layout");
            let ahead = square(offset).strided(batch, size + gap).expect("a layout");
            let back = square(offset + batch * (n * n + gap as usize)).strided(batch, -size - gap).expect("a layout");
            let one = square(offset).broadcast(batch).expect("a layout");
            for layouts in [[&ahead, &ahead], [&back, &ahead], [&ahead, &one], [&one, &back]] {
                let arrays: [Vec<f32>; 2] = layouts.map(|l| array(&mut random, l));
                let views = [0, 1].map(|k| View::new(&arrays[k], layouts[k].clone()).expect("a view"));
                let update = [Update::Assign, Update::Add, Update::Beta(0.5)][random.below(3)];
                let case = Case { text: "ij,jk->ik", operands: &views, out: &ahead, alpha: None, update };
                let said = compare(&cuda, PlusTimes::new(), &case, &mut random);
                assert!(said.contains("matrices"), "{said}");
            }
        }
    }
}

/// The paper's kernels and operators as one expression each: several steps.
#[test]
#[ignore = "needs a GPU"]
fn several_operands() {
    let cuda = cuda();
    let mut random = Rng(10);
    let extent = |c: char, e: usize| match c {
        'e' => e,
        'a'..='d' | 'q' | 'r' => 4,
        _ => 3,
    };
    for text in [
        "isj,ksl->ijkl",
        "si,sj,ksl->kilj",
        "ai,bj,eij->eab",
        "ai,bj,ck,eijk->eabc",
        "qi,rj,eqr,qk,rl,ekl->eij",
        "ei,ej->ij",
        "eii->e",
        "eij->ji",
        "ei,fj->",
    ] {
        // Chains of up to 128 terms; integers in trees of any length.
        letters::<f64, _>(&cuda, PlusTimes::new(), text, |c| extent(c, 41), Update::Add, &mut random);
        letters::<i64, _>(&cuda, PlusTimes::new(), text, |c| extent(c, 3001), Update::Assign, &mut random);
    }
}

/// C is not read where its old value is irrelevant, and counts as the identity where there is none.
#[test]
#[ignore = "needs a GPU"]
fn updates() {
    let cuda = cuda();
    let (a, b) = (vec![1.0f64; 16 * 20_000], vec![f64::INFINITY; 16]);
    let a = View::new(&a, Layout::row_major(&[4, 4]).and_then(|l| l.batched(20_000)).expect("a layout")).expect("a");
    let b = View::new(&b, Layout::row_major(&[4, 4]).expect("a layout")).expect("b");
    let [a, b] = [a, b].map(|x| cuda.upload_batch(&x).expect("a batch"));
    let of = || Einsum::new("ij,jk->ik", &[a.clone(), a.clone()]).expect("an expression");
    let ask = || cuda.einsum(PlusTimes::new(), of());
    let all = |x: DeviceBatch<f64>| cuda.download_batch(&x).expect("a result").values().to_vec();
    assert!(all(ask().eval().expect("a product")).iter().all(|&x| x == 4.0));
    assert!(all(ask().alpha(0.5).accumulate().eval().expect("a product")).iter().all(|&x| x == 2.0));
    assert!(all(ask().beta(3.0).eval().expect("a product")).iter().all(|&x| x == 4.0));
    let nan = vec![f64::NAN; 16 * 20_000];
    let mut c = cuda.upload_batch(&View::new(&nan, a.layout().clone()).expect("a view")).expect("a batch");
    ask().beta(0.0).into(&mut c).expect("a product");
    assert!(all(c.clone()).iter().all(|&x| x == 4.0), "β = 0 does not read C");
    // 0 · ∞ is NaN: C = β ⊗ 0 ⊕ … is NaN, as on the CPU.
    let infinite = cuda.einsum(PlusTimes::new(), Einsum::new("ij,jk->ik", &[a.clone(), b]).expect("an expression"));
    assert!(all(infinite.beta(f64::INFINITY).eval().expect("a product")).iter().all(|x| x.is_nan()));
    // A shared array is not written.
    let shared = c.clone();
    says(ask().into(&mut c), &["a clone shares its values"]);
    drop(shared);
    ask().accumulate().into(&mut c).expect("a product");
    assert!(all(c).iter().all(|&x| x == 8.0));
}

/// A layout with gaps: every other element of a row is skipped.
struct Sparse;
impl Arrangement for Sparse {
    fn layout(&self, extents: &[usize], batch: usize) -> sparring::Result<Layout> {
        let dense = Layout::row_major(extents)?;
        let strides: Vec<isize> = dense.strides().iter().map(|s| 2 * s).collect();
        Layout::new(extents, &strides, 3)?.strided(batch, 2 * dense.array_len() as isize)
    }
}

/// Results in a chosen layout, including the gaps between their elements.
#[test]
#[ignore = "needs a GPU"]
fn results_lie_as_a_rule_says() {
    let (cuda, cpu) = (cuda(), Cpu::with_threads(2).expect("threads"));
    let mut random = Rng(13);
    for n in [3, 4, 8] {
        let shape = Layout::row_major(&[n, n]).and_then(|l| l.batched(5000)).expect("a layout");
        let x: Vec<f64> = array(&mut random, &shape);
        let x = View::new(&x, shape).expect("a view");
        let there = cuda.upload_batch(&x).expect("a batch");
        for by in [&ColumnMajor as &dyn Arrangement, &Interleaved, &Sparse] {
            let wanted =
                || cpu.einsum(PlusTimes::new(), Einsum::new("ij,jk->ik", &[x.clone(), x.clone()]).expect("text"));
            let found = || {
                cuda.einsum(PlusTimes::new(), Einsum::new("ij,jk->ik", &[there.clone(), there.clone()]).expect("text"))
            };
            for (wanted, found) in [
                (wanted().eval_in(by), found().eval_in(by)),
                (wanted().accumulate().eval_in(by), found().accumulate().eval_in(by)),
            ] {
                let (wanted, found) = (wanted.expect("a product"), found.expect("a product"));
                let found = cuda.download_batch(&found).expect("a result");
                assert_eq!(wanted.view().layout(), found.view().layout());
                same(found.values(), wanted.values(), || format!("{n}: {:?}", found.view().layout()));
            }
        }
    }
}

/// Empty results, and folds over nothing.
#[test]
#[ignore = "needs a GPU"]
fn nothing() {
    let cuda = cuda();
    let mut random = Rng(11);
    for (text, zero) in
        [("bij,bjk->bik", 'b'), ("bij,bjk->bik", 'i'), ("bij,bjk->bik", 'j'), ("ij->", 'j'), ("ij->ij", 'i')]
    {
        let extent = |c| if c == zero { 0 } else { 3 };
        letters::<f64, _>(&cuda, PlusTimes::new(), text, extent, Update::Assign, &mut random);
        letters::<f64, _>(&cuda, MinPlus::new(), text, extent, Update::Add, &mut random);
    }
    let none =
        View::new(&[1.0f32; 4], Layout::row_major(&[2, 2]).and_then(|l| l.batched(0)).expect("a layout")).expect("x");
    let none = cuda.upload_batch(&none).expect("a batch");
    let asked = cuda.einsum(PlusTimes::new(), Einsum::new("ij,jk->ik", &[none.clone(), none]).expect("an expression"));
    assert!(cuda.download_batch(&asked.eval().expect("nothing")).expect("nothing").values().is_empty());
}

/// The action of mass operators in one pass, close to the CPU, which sums in another order.
#[test]
#[ignore = "needs a GPU"]
fn actions() {
    let cuda = cuda();
    let mut random = Rng(12);
    action::<f64>(&cuda, 1e-13, &mut random);
    action::<f32>(&cuda, 2e-5, &mut random);
}

fn action<T: Sample + sparring::algebra::Real>(cuda: &Cuda, tolerance: f64, random: &mut Rng) {
    let ring = || PlusTimes::<T>::default();
    let cpu = Cpu::with_threads(2).expect("threads");
    for (d, q) in (1..=9).map(|d| (d, d + 1)).chain([(3, 3), (4, 2), (2, 7)]) {
        let elements = 1000 / (d * d) + 131;
        let layout =
            |extents: &[usize], batch| Layout::row_major(extents).and_then(|l| l.batched(batch)).expect("a layout");
        let layouts = [layout(&[q, d], 1), layout(&[q; 3], elements), layout(&[d; 3], elements)];
        let arrays: [Vec<T>; 3] = [0, 1, 2].map(|k| array(random, &layouts[k]));
        let views = [0, 1, 2].map(|k| View::new(&arrays[k], layouts[k].clone()).expect("a view"));
        let wanted = cpu.einsum(
            ring(),
            Mass::new(3, views[0].clone()).expect("a mass").action(&views[1], &views[2]).expect("an action"),
        );
        let wanted = wanted.alpha(T::from_f64(1.5)).eval().expect("an action");
        let there = views.map(|x| cuda.upload_batch(&x).expect("a batch"));
        let asked = cuda.einsum(
            ring(),
            Mass::new(3, there[0].clone()).expect("a mass").action(&there[1], &there[2]).expect("an action"),
        );
        assert!(asked.explain().expect("words").contains("the action of a mass operator"));
        let mut found = asked.alpha(T::from_f64(1.5)).eval().expect("an action");
        let far = |found: &DeviceBatch<T>, times: f64| {
            let found = cuda.download_batch(found).expect("a result");
            let scale = wanted.values().iter().map(|x| x.as_f64().abs()).fold(0.0, f64::max);
            let each = found.values().iter().zip(wanted.values());
            each.map(|(f, w)| (f.as_f64() - times * w.as_f64()).abs() / scale).fold(0.0, f64::max)
        };
        assert!(far(&found, 1.0) < tolerance, "{d} {q}: {}", far(&found, 1.0));
        // Accumulated with weight 3/2, twice: U = 2U + 1.5 M V, then U + 1.5 M V.
        let again = || {
            cuda.einsum(
                ring(),
                Mass::new(3, there[0].clone()).expect("a mass").action(&there[1], &there[2]).expect("an action"),
            )
            .alpha(T::from_f64(1.5))
        };
        again().beta(T::from_f64(2.0)).into(&mut found).expect("an action");
        again().accumulate().into(&mut found).expect("an action");
        assert!(far(&found, 4.0) < 4.0 * tolerance, "{d} {q}: {}", far(&found, 4.0));
    }
}

/// Largest number of tilings tried per case; `SPARRING_TILINGS` overrides it.
const TILINGS: usize = 40;

/// The result under every tiling, or a sample of them, is bitwise equal to that of the default tiling.
fn same_under_all<'a, T: Sample>(
    cuda: &Cuda,
    ask: impl Fn() -> DeviceEinsum<'a, PlusTimes<T>, T> + Sync,
    out: &DeviceBatch<T>,
) where
    PlusTimes<T>: Arithmetic<T>,
{
    let start = cuda.download_batch(out).expect("values");
    let by = |tiling: Option<Tiling>| {
        let mut out = cuda.upload_batch(&start.view()).expect("a batch");
        let asked = tiling.map_or_else(&ask, |tiling| tiled(ask(), tiling));
        let said = asked.explain().expect("words");
        asked.into(&mut out).expect("a result");
        (cuda.download_batch(&out).expect("a result").values().to_vec(), said)
    };
    let (wanted, said) = by(None);
    let all = tilings(&ask()).expect("tilings");
    let most = std::env::var("SPARRING_TILINGS").ok().and_then(|n| n.parse().ok()).unwrap_or(TILINGS);
    let some: Vec<Tiling> = all.iter().copied().step_by(all.len().div_ceil(most).max(1)).collect();
    println!("{} of {} tilings: {said}", some.len(), all.len());
    assert!(some.len() > 5, "{said}");
    // Compiled in parallel.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for first in 0..threads {
            let (by, some, wanted) = (&by, &some, &wanted);
            scope.spawn(move || {
                for &tiling in some.iter().skip(first).step_by(threads) {
                    let (found, said) = by(Some(tiling));
                    same(&found, wanted, || format!("{tiling}: {said}"));
                    assert!(said.contains(&format!(" for {} of them", tiling.slab())), "{tiling}: {said}");
                }
            });
        }
    });
}

/// Long folds, with every number of results, along every stride.
#[test]
#[ignore = "needs a GPU"]
fn long_folds() {
    fn all<T: Sample, A: Arithmetic<T> + Debug>(ring: A, value: fn(usize) -> T) {
        let cuda = cuda();
        let mut random = Rng(7);
        for (text, extents) in [
            ("i->", vec![1_000_003]),
            ("i->", vec![129]),
            ("i,i->", vec![300_000]),
            ("ij->", vec![700, 900]),
            ("ij->i", vec![3, 100_001]),
            ("ij->j", vec![100_001, 3]),
            ("ij->j", vec![5000, 130]),
            ("ij->i", vec![200_000, 4]),
            ("ijk->j", vec![300, 7, 200]),
            ("ijkl->", vec![20, 30, 7, 40]),
            ("ik,kj->ij", vec![3, 70_000, 2]),
            ("i,j,ij->", vec![800, 900]),
            ("ij,ji->", vec![500, 600]),
            ("ii->", vec![3000]),
        ] {
            let letters: Vec<char> = text.split("->").next().unwrap_or("").chars().filter(|c| *c != ',').collect();
            let mut named: Vec<char> = vec![];
            letters.iter().for_each(|c| {
                if !named.contains(c) {
                    named.push(*c)
                }
            });
            let extent = |c: char| extents[named.iter().position(|n| *n == c).expect("a letter")];
            let (terms, result) = text.split_once("->").expect("an arrow");
            let layouts: Vec<Layout> = terms
                .split(',')
                .map(|t| layout(&mut random, &t.chars().map(extent).collect::<Vec<_>>(), 1, true))
                .collect();
            let arrays: Vec<Vec<T>> =
                layouts.iter().map(|l| layouts::array(l, || value(random.below(1 << 20)))).collect();
            let views: Vec<View<'_, T>> =
                layouts.iter().zip(&arrays).map(|(l, a)| View::new(a, l.clone()).expect("a view")).collect();
            let out = layout(&mut random, &result.chars().map(extent).collect::<Vec<_>>(), 1, false);
            for update in [Update::Assign, Update::Add, Update::Beta(value(1))] {
                let case = Case { text, operands: &views, out: &out, alpha: Some(value(2)), update };
                compare(&cuda, ring, &case, &mut random);
            }
        }
    }
    // Small integers: no sum rounds.
    all::<f64, _>(PlusTimes::new(), |x| (x % 5) as f64 - 2.0);
    all::<f32, _>(MaxPlus::new(), |x| (x % 1000) as f32);
    all::<i64, _>(PlusTimes::new(), |x| (x as i64) << 40);
    all::<bool, _>(LorLand::new(), |x| x % 1000 == 0);
}

/// Large products over any semiring, with the CPU's fold order, so that rounded sums are bitwise equal.
#[test]
#[ignore = "needs a GPU"]
fn large_products_by_tiles() {
    fn all<T: Sample, A: Arithmetic<T> + Debug>(ring: A) {
        let (cuda, mut random) = (cuda(), Rng(29));
        for (text, extents, shapes) in [
            ("ij,jk->ik", vec![300, 70, 290], ["ij", "jk", "ik"]),
            ("ij,kj->ki", vec![257, 50, 513], ["ij", "kj", "ki"]),
            ("ji,jk->ik", vec![1100, 33, 1030], ["ji", "jk", "ik"]),
            ("bij,bjk->bik", vec![40, 64, 50, 100], ["bij", "bjk", "bik"]),
        ] {
            let mut named: Vec<char> = vec![];
            for c in text.split("->").next().unwrap_or("").chars().filter(char::is_ascii_alphabetic) {
                if !named.contains(&c) {
                    named.push(c);
                }
            }
            let of = |t: &str| -> Vec<usize> {
                t.chars().map(|c| extents[named.iter().position(|n| *n == c).expect("a letter")]).collect()
            };
            let layouts = shapes.map(|t| Layout::row_major(&of(t)).expect("a layout"));
            let arrays: Vec<Vec<T>> = layouts[..2].iter().map(|l| array(&mut random, l)).collect();
            let views: Vec<View<'_, T>> =
                layouts.iter().zip(&arrays).map(|(l, a)| View::new(a, l.clone()).expect("a view")).collect();
            for update in [Update::Assign, Update::Add, Update::Beta(T::of(&mut random))] {
                let alpha = matches!(update, Update::Add).then(|| T::of(&mut random));
                let case = Case { text, operands: &views, out: &layouts[2], alpha, update };
                let said = compare(&cuda, ring, &case, &mut random);
                assert!(said.contains("by tiles of"), "{text}: {said}");
            }
        }
    }
    all::<f64, _>(PlusTimes::new());
    all::<f32, _>(MinPlus::new());
    all::<f64, _>(MaxPlus::new());
    all::<i64, _>(PlusTimes::new());
    all::<i8, _>(MaxPlus::new());
    all::<bool, _>(LorLand::new());
    all::<Complex<f64>, _>(PlusTimes::new());
}

/// Large products of numbers in any layout, by cuBLAS: sums of small integers, which do not round.
#[test]
#[ignore = "needs a GPU"]
fn large_products_are_those_of_cublas() {
    fn all<T: Sample, A: Arithmetic<T> + Debug>(ring: A, value: fn(usize) -> T) {
        let (cuda, mut random) = (cuda(), Rng(23));
        let permuted = |random: &mut Rng, extents: &[usize]| {
            // Dense, with permuted axes.
            let mut order: Vec<usize> = (0..extents.len()).collect();
            for k in (1..order.len()).rev() {
                order.swap(k, random.below(k + 1));
            }
            let (mut strides, mut stride) = (vec![0; extents.len()], 1);
            for &k in &order {
                strides[k] = stride;
                stride *= extents[k] as isize;
            }
            Layout::new(extents, &strides, random.below(5)).expect("a layout")
        };
        let (mut by_library, mut cases) = (0, 0);
        for (text, extents) in [
            ("ij,jk->ik", vec![130, 200, 70]),
            ("ij,kj->ik", vec![16, 3000, 90]),
            ("ij,kj->ki", vec![257, 129, 65]),
            ("bij,bjk->bik", vec![7, 64, 50, 100]),
            ("abcd,abed->abce", vec![2, 5, 64, 96, 70]),
            ("abcd,abce->de", vec![10, 20, 6, 50, 60]),
            ("ij,jk,kl->il", vec![200, 150, 120, 160]),
            ("ij,j->i", vec![1100, 1300]),
            ("bj,bjk->bk", vec![3, 400, 1000]),
        ] {
            let mut named: Vec<char> = vec![];
            for c in text.split("->").next().unwrap_or("").chars().filter(char::is_ascii_alphabetic) {
                if !named.contains(&c) {
                    named.push(c);
                }
            }
            let extent = |c: char| extents[named.iter().position(|n| *n == c).expect("a letter")];
            let (terms, result) = text.split_once("->").expect("an arrow");
            for (round, update) in
                [Update::Assign, Update::Add, Update::Beta(value(3)), Update::Assign].iter().enumerate()
            {
                let of = |random: &mut Rng, t: &str| {
                    let extents: Vec<usize> = t.chars().map(extent).collect();
                    if round == 0 { Layout::row_major(&extents).expect("a layout") } else { permuted(random, &extents) }
                };
                let layouts: Vec<Layout> = terms.split(',').map(|t| of(&mut random, t)).collect();
                let arrays: Vec<Vec<T>> =
                    layouts.iter().map(|l| layouts::array(l, || value(random.below(1 << 20)))).collect();
                let views: Vec<View<'_, T>> =
                    layouts.iter().zip(&arrays).map(|(l, a)| View::new(a, l.clone()).expect("a view")).collect();
                let (out, alpha) = (of(&mut random, result), (round % 2 == 1).then(|| value(4)));
                let case = Case { text, operands: &views, out: &out, alpha, update: *update };
                let said = compare_by(&cuda, ring, &case, &mut random, true);
                by_library += usize::from(said.contains("cuBLAS"));
                cases += 1;
                compare(&cuda, ring, &case, &mut random);
                assert!(round > 0 || said.contains("cuBLAS"), "{text}: {said}");
            }
        }
        println!("{by_library} of {cases} by cuBLAS");
        assert!(by_library > cases / 2, "{by_library} of {cases}");
    }
    all::<f64, _>(PlusTimes::new(), |x| (x % 5) as f64 - 2.0);
    all::<f32, _>(PlusTimes::new(), |x| (x % 5) as f32 - 2.0);
}

/// Long sums of f32 have errors below 2 units in the last place.
#[test]
#[ignore = "needs a GPU"]
fn long_sums_of_f32_keep_their_digits() {
    let cuda = cuda();
    let mut random = Rng(11);
    let mut values = |n: usize| (0..n).map(|_| (random.below(1 << 20) as f32 + 1.0) / (1 << 20) as f32).collect();
    let (i, j) = (2000, 1500);
    let (a, b, ab): (Vec<f32>, Vec<f32>, Vec<f32>) = (values(i), values(j), values(i * j));
    let exact: f64 =
        (0..i).map(|r| (0..j).map(|c| f64::from(a[r]) * f64::from(b[c]) * f64::from(ab[r * j + c])).sum::<f64>()).sum();
    let sum: f64 = ab.iter().map(|x| f64::from(*x)).sum();
    let of = |values: &[f32], extents: &[usize]| {
        let layout = Layout::row_major(extents).expect("a layout");
        cuda.upload_batch(&View::new(values, layout).expect("a view")).expect("a batch")
    };
    let result = |text: &str, operands: &[DeviceBatch<f32>]| {
        let asked = cuda.einsum(PlusTimes::new(), Einsum::new(text, operands).expect("an expression"));
        f64::from(cuda.download_batch(&asked.eval().expect("a result")).expect("values").values()[0])
    };
    let error = |found: f64, exact: f64| (found - exact).abs() / exact;
    let all = error(result("i,j,ij->", &[of(&a, &[i]), of(&b, &[j]), of(&ab, &[i, j])]), exact);
    let one = error(result("ij->", &[of(&ab, &[i, j])]), sum);
    println!("relative errors: i,j,ij-> {all:.2e}, ij-> {one:.2e}");
    assert!(all < 2.4e-7 && one < 2.4e-7, "{all:e} {one:e}");
}

/// Contractions by name, of arrays of the host and of vectors on the GPU, have the bits of those of the processor.
/// Values are small whole numbers: the processor rounds products and sums by themselves where few products are asked
/// for.
#[test]
#[ignore = "needs a GPU"]
fn contractions_by_name() {
    fn all<T: Sample>(names: &[&str], value: fn(usize) -> T) {
        let cuda = cuda();
        let (cpu, gpu) = (Machine::from(Cpu::new()), Machine::from(cuda));
        let mut random = Rng(31);
        for (text, shapes) in [
            ("ij,jk->ik", vec![vec![5, 40], vec![40, 7]]),
            ("ij,jk->ik", vec![vec![90, 100], vec![100, 80]]),
            ("bij,bjk->bik", vec![vec![70, 4, 4], vec![70, 4, 4]]),
            ("ij->j", vec![vec![60, 9]]),
            ("i,i->", vec![vec![100], vec![100]]),
            ("ij,j,k->ik", vec![vec![6, 7], vec![7], vec![3]]),
            ("ij->ji", vec![vec![5, 4]]),
            ("->", vec![vec![]]),
            ("i->i", vec![vec![0]]),
        ] {
            let arrays: Vec<Vec<T>> =
                shapes.iter().map(|s| (0..s.iter().product()).map(|_| value(random.below(9))).collect()).collect();
            let layout = |shape: &Vec<usize>| Layout::row_major(shape).expect("a layout");
            let views: Vec<AnyView<'_>> = (arrays.iter().zip(&shapes))
                .map(|(a, s)| AnyView::new(Slice::of(a), layout(s)).expect("a view"))
                .collect();
            let einsum = Einsum::new(text, &views).expect("an expression");
            let vectors: Vec<Vector> = (arrays.iter())
                .map(|a| gpu.upload_vector(&Vector::full(Array::of(a.clone())).expect("a vector")).expect("memory"))
                .collect();
            let held: Vec<DenseView<'_>> =
                (vectors.iter().zip(&shapes)).map(|(x, s)| DenseView::vector(x, layout(s)).expect("a view")).collect();
            let of_held = Einsum::new(text, &held).expect("an expression");
            for name in names {
                let ring = Semiring::new(name, T::TYPE).expect("a semiring");
                // The order of three operands matters.
                if shapes.len() > 2 && name.contains("abs") {
                    assert!(matches!(gpu.einsum(&ring, &einsum), Err(Error::Unsupported { .. })));
                    continue;
                }
                let wanted = cpu.einsum(&ring, &einsum).expect("a result");
                let wanted = wanted.slice().get::<T>().expect("values").to_vec();
                let what = || format!("{name} of {:?}: {text}", T::TYPE);
                same(gpu.einsum(&ring, &einsum).expect("a result").slice().get::<T>().expect("values"), &wanted, what);
                let found = gpu.einsum_vectors(&ring, &of_held).expect("a result");
                assert!(!found.is_on_host() && found.len() == wanted.len());
                let found = found.download().expect("memory").entries().expect("entries").1;
                same(found.slice().get::<T>().expect("values"), &wanted, what);
                let found = cpu.einsum_vectors(&ring, &of_held).expect("a result").entries().expect("entries").1;
                same(found.slice().get::<T>().expect("values"), &wanted, what);
            }
        }
        let x = [value(1)];
        let view = AnyView::new(Slice::of(&x), Layout::row_major(&[1]).expect("a layout")).expect("a view");
        let einsum = Einsum::new("i,i->i", &[view.clone(), view]).expect("an expression");
        for name in ["plus_secondi", "max, a - 2 * b", "plus_first"] {
            if let Ok(ring) = Semiring::new(name, T::TYPE) {
                assert!(matches!(gpu.einsum(&ring, &einsum), Err(Error::Unsupported { .. })), "{name}");
            }
        }
    }
    all::<f64>(&["plus_times", "min_plus", "max, abs(a - b)"], |x| x as f64 - 4.0);
    all::<f32>(&["plus_times", "max_times"], |x| x as f32 - 4.0);
    all::<i64>(&["plus_times", "min_max"], |x| (x as i64) << 58);
    all::<i8>(&["plus_times", "bxor_band"], |x| (x as i8).wrapping_mul(29));
    all::<bool>(&["lor_land"], |x| x > 6);
    all::<Complex<f64>>(&["plus_times"], |x| Complex::new(x as f64 - 4.0, 2.0 - x as f64));
}

/// Reductions fold in an order that depends on the extents of indices alone, neighbors fused where strides let them:
/// loads of several neighboring values give the bits of single loads.
#[test]
#[ignore = "needs a GPU"]
fn reductions_of_every_layout_have_the_same_bits() {
    fn all<T: Sample + sparring::algebra::Real>(tolerance: f64) {
        let (cuda, mut random) = (cuda(), Rng(23));
        for (text, extents) in [
            ("i->", vec![1 << 20]),
            ("i->", vec![(1 << 20) + 4]),
            ("i->", vec![99_999]),
            ("i,i->", vec![1 << 18]),
            ("i,i->", vec![130_002]),
            ("ij->i", vec![64, 8192]),
            ("ij->i", vec![3, 40_004]),
            ("ij->i", vec![20_000, 132]),
            ("ij->i", vec![2, 200_000]),
            ("ij->j", vec![8192, 64]),
            ("ij->j", vec![3000, 12]),
            ("ij->j", vec![132, 20_000]),
            ("ij->j", vec![257, 2]),
            ("ij,ij->i", vec![64, 8192]),
            ("ij,ij->j", vec![4096, 64]),
            ("ijk->j", vec![64, 32, 512]),
            ("ijk->j", vec![70, 5, 8]),
            ("ijk->ik", vec![32, 260, 64]),
            ("ijk->ik", vec![7, 129, 4]),
        ] {
            let n: usize = extents.iter().product();
            let (terms, result) = text.split_once("->").expect("an arrow");
            let values: Vec<Vec<T>> = terms.split(',').map(|_| (0..n).map(|_| T::of(&mut random)).collect()).collect();
            // Extents of the array that holds the tensor, and where it begins.
            let found: Vec<Vec<T>> = [(0, 0), (4, 4), (1, 0), (0, 1), (2, 2)]
                .into_iter()
                .map(|(padding, offset)| {
                    let mut strides = vec![1isize; extents.len()];
                    for d in (1..extents.len()).rev() {
                        strides[d - 1] = strides[d] * (extents[d] + padding) as isize;
                    }
                    let layout = Layout::new(&extents, &strides, offset).expect("a layout");
                    let operands: Vec<DeviceBatch<T>> = values
                        .iter()
                        .map(|values| {
                            let mut array = vec![T::RUBBISH; layout.array_len()];
                            for (at, value) in values.iter().enumerate() {
                                let (mut rest, mut index) = (at, vec![0; extents.len()]);
                                for d in (0..extents.len()).rev() {
                                    (index[d], rest) = (rest % extents[d], rest / extents[d]);
                                }
                                array[layout.position(0, &index).expect("an element")] = *value;
                            }
                            let view = View::new(&array, layout.clone()).expect("a view");
                            cuda.upload_batch(&view).expect("a batch")
                        })
                        .collect();
                    let einsum = Einsum::new(text, &operands).expect("an expression");
                    let made = cuda.einsum(PlusTimes::<T>::new(), einsum).eval().expect("a result");
                    cuda.download_batch(&made).expect("values").values().to_vec()
                })
                .collect();
            for other in &found[1..] {
                same(other, &found[0], || format!("{text} of {extents:?}"));
            }
            let letters: Vec<char> = terms.chars().take_while(|c| *c != ',').collect();
            let kept: Vec<usize> = result.chars().filter_map(|c| letters.iter().position(|l| *l == c)).collect();
            let (mut exact, mut size) = (vec![0.0; found[0].len()], vec![0.0; found[0].len()]);
            for at in 0..n {
                let (mut rest, mut index) = (at, vec![0; extents.len()]);
                for d in (0..extents.len()).rev() {
                    (index[d], rest) = (rest % extents[d], rest / extents[d]);
                }
                let to = kept.iter().fold(0, |to, &d| to * extents[d] + index[d]);
                let term: f64 = values.iter().map(|v| v[at].as_f64()).product();
                exact[to] += term;
                size[to] += term.abs();
            }
            for ((found, exact), size) in found[0].iter().zip(&exact).zip(&size) {
                assert!(
                    (found.as_f64() - exact).abs() <= tolerance * size,
                    "{text} of {extents:?}: {found:?}, not {exact}"
                );
            }
        }
    }
    all::<f32>(1e-6);
    all::<f64>(1e-14);
}

/// Kernels with other tilings compute the same bits.
#[test]
#[ignore = "needs a GPU"]
fn every_tiling_has_the_same_bits() {
    fn squares<T: Sample + sparring::algebra::Num>(cuda: &Cuda, text: &str, n: usize, random: &mut Rng) {
        let layout = Layout::row_major(&[n, n]).and_then(|l| l.batched(70_000 / (n * n) + 41)).expect("a layout");
        let [a, b, c] = [(); 3].map(|()| {
            let values: Vec<T> = array(random, &layout);
            cuda.upload_batch(&View::new(&values, layout.clone()).expect("a view")).expect("a batch")
        });
        let operands = [a, b];
        let ask = || cuda.einsum(PlusTimes::<T>::default(), Einsum::new(text, &operands).expect("text")).accumulate();
        same_under_all(cuda, ask, &c);
    }
    fn action<T: Sample + sparring::algebra::Num>(cuda: &Cuda, d: usize, q: usize, random: &mut Rng) {
        let elements = 700;
        let layouts = [(q, d, 1), (q, q, elements), (d, d, elements)].map(|(i, j, batch)| {
            let extents = if batch == 1 { vec![i, j] } else { vec![i; 3] };
            Layout::row_major(&extents).and_then(|l| l.batched(batch)).expect("a layout")
        });
        let [basis, w, v] = layouts.map(|layout| {
            let values: Vec<T> = array(random, &layout);
            cuda.upload_batch(&View::new(&values, layout).expect("a view")).expect("a batch")
        });
        let einsum = Mass::new(3, basis).expect("a mass").action(&w, &v).expect("an action");
        same_under_all(cuda, || cuda.einsum(PlusTimes::<T>::default(), einsum.clone()).accumulate(), &v);
    }
    // Single-use programs are not cached.
    let cuda = cuda().cache_folder(None);
    let mut random = Rng(13);
    squares::<f32>(&cuda, "ij,jk->ik", 2, &mut random);
    squares::<f64>(&cuda, "ij,jk->ik", 3, &mut random);
    squares::<f32>(&cuda, "ij,kj->ik", 5, &mut random);
    squares::<f64>(&cuda, "ji,jk->ki", 6, &mut random);
    squares::<f64>(&cuda, "ij,jk->ik", 8, &mut random);
    squares::<i64>(&cuda, "ij,jk->ik", 12, &mut random);
    squares::<f32>(&cuda, "ij,jk->ik", 16, &mut random);
    squares::<f64>(&cuda, "ij,kj->ik", 24, &mut random);
    action::<f32>(&cuda, 3, 4, &mut random);
    action::<f64>(&cuda, 5, 6, &mut random);
    action::<f64>(&cuda, 4, 3, &mut random);
}

/// Tuning results apply to other `Cuda` values and processes that enable them; damaged files are ignored.
#[test]
#[ignore = "needs a GPU"]
fn what_tuning_found_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = |name: &str, tuning| cuda().cache_folder(Some(folder.path().join(name))).tuning(tuning);
    let values = vec![1.5f32; 9 * 400_000];
    let layout = Layout::row_major(&[3, 3]).and_then(|l| l.batched(400_000)).expect("a layout");
    let put = |cuda: &Cuda| cuda.upload_batch(&View::new(&values, layout.clone()).expect("a view")).expect("a batch");
    let files = |name: &str| {
        let all = std::fs::read_dir(folder.path().join(name)).expect("a folder").map(|f| f.expect("a file").path());
        all.filter(|path| path.extension().is_some_and(|e| e == "tuning")).collect::<Vec<_>>()
    };
    let words = |cuda: &Cuda| {
        let x = put(cuda);
        let asked = cuda.einsum(PlusTimes::<f32>::new(), Einsum::new("ij,jk->ik", &[x.clone(), x]).expect("text"));
        let said = asked.explain().expect("words");
        let found = cuda.download_batch(&asked.eval().expect("a product")).expect("there");
        assert!(found.values().iter().all(|&x| x == 6.75));
        said
    };
    let first = open("a", Tuning::Kept);
    let rule = words(&first);
    let x = put(&first);
    let mut out = put(&first);
    let einsum = || Einsum::new("ij,jk->ik", &[x.clone(), x.clone()]).expect("text");
    let [found] = &first.einsum(PlusTimes::<f32>::new(), einsum()).tune(&mut out).expect("tuned")[..] else {
        panic!("one kernel");
    };
    assert_eq!(found.what, rule);
    assert!(found.best_ms <= found.rule_ms && found.best_ms > 0.0 && found.total_s >= found.compile_s, "{found:?}");
    assert!((2..=60).contains(&found.tried) && found.tried <= found.possible, "{found:?}");
    let members = format!(" for {} of them", found.best.slab());
    assert!(words(&first).contains(&members), "this value takes it");
    let [file] = &files("a")[..] else { panic!("one file") };
    assert!(words(&open("a", Tuning::Kept)).contains(&members), "another value takes it");
    assert_eq!(words(&open("a", Tuning::Off)), rule, "only if it asks for it");
    // Into another folder. A different tiling is substituted there and used, because it is valid.
    let list = folder.path().join("list.json");
    assert_eq!(first.export_tuning(&list).expect("written"), 1);
    let second = open("b", Tuning::Kept);
    let text = std::fs::read_to_string(&list).expect("text");
    let with = |group: usize| {
        let from = format!("\"group\": {}", found.best.group);
        assert!(text.contains(&from), "{text}");
        std::fs::write(&list, text.replace(&from, &format!("\"group\": {group}"))).expect("written");
        assert_eq!(second.import_tuning(&list).expect("read"), 1);
        words(&open("b", Tuning::Kept))
    };
    assert!(with(4).contains(&format!(" for {} of them", 4 * found.best.turns)));
    assert_eq!(with(100_000), rule, "what is no tiling is the rule's");
    std::fs::write(file, "{").expect("written");
    assert_eq!(words(&open("a", Tuning::Kept)), rule);
    let none = cuda().cache_folder(None).tuning(Tuning::Kept);
    assert_eq!(words(&none), rule);
    assert!(none.import_tuning(&list).is_err());
}

/// The text of an error, which contains each of `words`.
#[track_caller]
fn says<T>(found: Result<T, Error>, words: &[&str]) {
    let text = found.err().expect("an error").to_string();
    words.iter().for_each(|word| assert!(text.contains(word), "{text:?} does not name {word:?}"));
}

#[test]
#[ignore = "needs a GPU"]
fn what_does_not_fit_is_refused() {
    let cuda = cuda();
    let x = vec![1.0f64; 24];
    let put = |layout: Layout| cuda.upload_batch(&View::new(&x, layout).expect("a view")).expect("a batch");
    let a = put(Layout::row_major(&[2, 3]).expect("a layout"));
    let ask = || cuda.einsum(PlusTimes::new(), Einsum::new("ij->ji", std::slice::from_ref(&a)).expect("an expression"));
    says(Einsum::new("ij,jk->ik", &[a.clone(), a.clone()]), &["j has 2 values in operand 1, 3 in operand 0"]);
    says(ask().into(&mut put(Layout::row_major(&[2, 3]).expect("a layout"))), &["einsum", "[3, 2]", "[2, 3]"]);
    let two = Layout::row_major(&[3, 2]).and_then(|l| l.batched(2)).expect("a layout");
    says(ask().into(&mut put(two)), &["batch", "2", "1"]);
    says(
        ask().into(&mut put(Layout::new(&[3, 2], &[1, 1], 0).expect("a layout"))),
        &["may overlap elements of others"],
    );
    says(a.clone().with_layout(Layout::row_major(&[25]).expect("a layout")), &["24", "25"]);
    let other = Cuda::new(0).expect("a device");
    says(
        other.einsum(PlusTimes::new(), Einsum::new("ij->ji", std::slice::from_ref(&a)).expect("an expression")).eval(),
        &["another `Cuda`"],
    );
    let mut group = Group::new(Layout::row_major(&[2, 3]).expect("a layout")).expect("a group");
    for _ in 0..2 {
        group.push(View::new(&x, Layout::row_major(&[2, 3]).expect("a layout")).expect("a view")).expect("one more");
    }
    let group = group.view();
    says(cuda.upload_batch(&group), &["a group of 2 tensors", "one array"]);
    says(a.clone().with_layout(group.layout().clone()), &["one of 2 tensors"]);
    says(a.clone().shaped::<(Fixed<2>, Fixed<4>)>(), &["index 1 has 3 values, and 4"]);
    let r = a.clone().ranked::<2>().expect("two indices");
    let s = a.clone().shaped::<(Any, Fixed<3>)>().expect("three columns");
    let product = cuda.einsum(PlusTimes::new(), einsum!("ij,kj->ik", r, s).expect("an expression"));
    assert_eq!(cuda.download_batch(&product.eval().expect("a product")).expect("there").values(), [3.0; 4]);
    let product = cuda.einsum(PlusTimes::new(), einsum!("ij,kj->ik", r, r).expect("an expression"));
    assert_eq!(cuda.download_batch(&product.eval().expect("a product")).expect("there").values(), [3.0; 4]);
    let chain = ["ij,jk,kl->il", "ij,jk,kl,lm->im"].map(|text| {
        let square = put(Layout::row_major(&[4, 4]).expect("a layout"));
        let operands = vec![square; text.matches(',').count() + 1];
        let einsum = Einsum::new(text, &operands).expect("an expression");
        assert!(bound(&einsum, false).expect("a bound").operations > 0.0);
        cuda.einsum(PlusTimes::new(), einsum).workspace_bytes().expect("bytes")
    });
    assert_eq!(chain, [128, 256]);
    let small = Cuda::new(0).expect("a device").memory_budget(1000);
    let x =
        small.upload_batch(&View::new(&x, Layout::row_major(&[24]).expect("a layout")).expect("x")).expect("a batch");
    says(
        small.einsum(PlusTimes::new(), Einsum::new("i,j->ij", &[x.clone(), x]).expect("text")).eval(),
        &["budget", "1000"],
    );
}

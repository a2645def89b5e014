//! The kernels against each other: every form of a semiring gives the same row, bitwise.

use super::fold::Typed;
use super::fold_blocks::{Blocks, Combine};
use super::listed::StagedVector;
use super::staged::{BLOCK, MulRow, Staged};
use super::staged_rows::{Rows, StagedRows, fold_rows};
use super::*;
use crate::algebra::words::{into_words, value, values, values_mut, word};
use crate::algebra::*;
use crate::sparse::{Indices, MaskSpec, SparseVec, VectorPattern};
use crate::{Csr, Index, Pattern};

mod rowwise;
use rowwise::Rowwise;

struct Random(u64);
impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
    /// Rows of up to `most` entries, some empty; unsorted if `mixed`.
    fn matrix<T: Num>(&mut self, n: usize, most: usize, mixed: bool) -> Csr<T> {
        let (mut row_ptr, mut cols) = (vec![0], vec![]);
        for i in 0..n {
            let len = if i % 7 == 3 { 0 } else { self.below(most + 1) };
            let mut row: Vec<u32> = (0..len).map(|_| self.below(n) as u32).collect();
            row.sort_unstable();
            row.dedup();
            if mixed {
                for p in (1..row.len()).rev() {
                    row.swap(p, self.below(p + 1));
                }
            }
            cols.extend(row);
            row_ptr.push(cols.len());
        }
        let values = (0..cols.len()).map(|_| T::from_f64(self.below(1000) as f64 / 7.0 - 70.0)).collect();
        Csr::from_unsorted(n, n, row_ptr, cols, values).unwrap()
    }
}

/// Some rows through the window, overwriting values.
fn by_window<W: Word>(kernel: &dyn Multiply<W, u32>, rows: &RowsOfC<'_, u32>, window: &mut [W], values: &mut [W]) {
    let (n, window) = (values.len(), std::sync::Mutex::new(window));
    let work = |(): &mut (), _: usize, slots: &mut crate::par::OutputSlice<'_, W>| {
        let rows = RowsOfC { rows: rows.rows.clone(), c: rows.c, part: rows.part };
        kernel.by_window(rows, &mut window.lock().unwrap(), slots);
        Ok(())
    };
    crate::par::overwrite_blocks(
        values,
        &crate::par::Threads::current(),
        "test",
        1,
        |block| block * n,
        || Ok(()),
        work,
    )
    .unwrap();
}

/// All rows by every loop of a kernel, as words.
fn rows<W: Word>(kernel: &dyn Multiply<W, u32>, n: usize) -> Vec<Vec<W>> {
    let all = || vec![kernel.identity(); n.next_power_of_two()];
    let (short, long): (Vec<u16>, Vec<u32>) =
        ((0..n.next_power_of_two() as u16).collect(), (0..n.next_power_of_two() as u32).collect());
    // Every third column has no position.
    let holes: Vec<u32> = (0..n.next_power_of_two() as u32).map(|j| if j % 3 == 0 { u32::MAX } else { j }).collect();
    let c = Pattern::new(n, n, (0..=n).map(|i| i * n).collect(), (0..n * n).map(|p| (p % n) as u32).collect()).unwrap();
    let half = n / 3..n / 2;
    let mut found = vec![];
    for part in [None, Some(&half)] {
        for i in 0..n {
            let row = RowOfA { i, part };
            let mut window = all();
            let mut values = vec![kernel.identity(); part.map_or(n, |p| p.len())];
            by_window(kernel, &RowsOfC { rows: i..i + 1, c: &c, part }, &mut window, &mut values);
            found.push(values);
            let mut values = all();
            kernel.to_short_positions(row, &mut values, &short);
            found.push(values);
            for positions in [&long, &holes] {
                let mut values = all();
                kernel.to_positions(row, &mut values, positions);
                found.push(values);
            }
        }
    }
    let mut values = vec![kernel.identity(); n * n];
    by_window(kernel, &RowsOfC { rows: 0..n, c: &c, part: None }, &mut all(), &mut values);
    found.push(values);
    let (a, b) = kernel.patterns();
    for i in 0..n {
        let mut values = all();
        for p in a.row_ptr()[i]..a.row_ptr()[i + 1] {
            let k = a.col_idx()[p].get();
            let slots: Vec<usize> = b.row(k).iter().map(|j| j.get()).collect();
            kernel.to_slots(i, p, b.row_ptr()[k], &mut values, &slots);
        }
        // The same in two calls per row, the first of which ends within a row of B.
        let entries = a.row_ptr()[i]..a.row_ptr()[i + 1];
        let q = |p: usize| b.row_ptr()[a.col_idx()[p].get()];
        let each = entries.clone().flat_map(|p| {
            let row = b.row(a.col_idx()[p].get());
            row.iter().enumerate().map(move |(t, j)| (p, q(p) + t, j.get()))
        });
        let (at, mut again): (Vec<_>, _) = (each.collect(), all());
        for run in at.chunks(at.len().div_ceil(2).max(1)) {
            let slots: Vec<usize> = run.iter().map(|product| product.2).collect();
            kernel.to_slots(i, run[0].0, run[0].1, &mut again, &slots);
        }
        found.push(values);
        found.push(again);
    }
    found
}

/// ⊕ by blocks, of an operator given by its type.
struct ByBlocks<M>(M);
// SAFETY: the type is the monoid's.
unsafe impl<M: Monoid> Combine<<M::Out as Value>::Word> for ByBlocks<M> {
    fn combine(&self, zs: &mut [<M::Out as Value>::Word], xs: &[<M::Out as Value>::Word]) {
        assert!(zs.len() == xs.len() && zs.len() <= BLOCK);
        // SAFETY: words of this type.
        let (zs, xs) = unsafe { (values_mut::<M::Out>(zs), values::<M::Out>(xs)) };
        for (z, &x) in zs.iter_mut().zip(xs) {
            *z = self.0.apply::<Host>(V(*z), V(x)).0;
        }
    }
}
fn by_blocks<M: Monoid>(monoid: M) -> Blocks<<M::Out as Value>::Word, ByBlocks<M>> {
    // SAFETY: words of the monoid's type.
    unsafe {
        Blocks::new(ByBlocks(monoid), word(M::IDENTITY), M::TERMINAL.map(word), |x, y| {
            value::<M::Out>(x) == value::<M::Out>(y)
        })
    }
}

fn all_forms_agree<R: Semiring>(ring: R, a: &Csr<Lhs<R>>, b: &Csr<Rhs<R>>, bits: impl Fn(Out<R>) -> u64) {
    let n = a.nrows();
    let bits = |rows: Vec<Vec<<Out<R> as Value>::Word>>| -> Vec<Vec<u64>> {
        // SAFETY: the kernels below are on this type.
        rows.into_iter().map(|r| r.into_iter().map(|w| bits(unsafe { value(w) })).collect()).collect()
    };
    let want = bits(rows(&Products::new(ring, a, b), n));
    let mul: &dyn MulRow<_> = &Rowwise(ring.mul());
    let folds: [&dyn Fold<_>; 2] = [&Typed(ring.add()), &by_blocks(ring.add())];
    for fold in folds {
        let (a, b) = ((a.pattern(), Slice::of(a.values())), (b.pattern(), Slice::of(b.values())));
        // SAFETY: the semiring's operators and its operands.
        let staged = unsafe { Staged::new(a, b, fold, mul) };
        assert!(bits(rows(&staged, n)) == want);
    }
}

#[test]
fn every_form_of_a_semiring_gives_the_same_bits() {
    let mut random = Random(1);
    for (n, most, mixed) in [(1, 1, false), (20, 4, false), (40, 40, true), (300, 290, false), (300, 9, true)] {
        let (a, b) = (random.matrix::<f64>(n, 6, mixed), random.matrix::<f64>(n, most, mixed));
        all_forms_agree(PlusTimes::<f64>::default(), &a, &b, f64::to_bits);
        all_forms_agree(MinSecondI::<f64>::default(), &a, &b, |x| x as u64);
        all_forms_agree(LorLand::<f64>::default(), &a, &b, u64::from);
        let (a, b) = (random.matrix::<i8>(n, 6, mixed), random.matrix::<i8>(n, most, mixed));
        all_forms_agree(Ring(Any::<i8>::new(), Times::<i8>::new()), &a, &b, |x| x as u64);
    }
}

#[test]
fn built_in_monoids_are_found_by_name_and_type() {
    let plus = builtin::builtin::<<f64 as Value>::Word>("plus", Type::F64).unwrap();
    let (mut z, x) = (into_words(vec![1.0, 2.0]), into_words(vec![0.5, 0.25]));
    plus.to_slots(&mut z, &[0, 1], &x);
    // SAFETY: words of doubles.
    unsafe {
        assert_eq!(values::<f64>(&z), [1.5, 2.25]);
        assert_eq!(value::<f64>(plus.dot(z[0], &x)), 2.25);
    }
    assert!(builtin::builtin::<<f32 as Value>::Word>("plus", Type::F64).is_none(), "a word of another size");
    assert!(builtin::builtin::<<f64 as Value>::Word>("bor", Type::F64).is_none(), "not on floats");
    assert!(builtin::builtin::<<f64 as Value>::Word>("minus", Type::F64).is_none(), "no monoid");
    let lor = builtin::builtin::<<bool as Value>::Word>("lor", Type::Bool).unwrap();
    assert!(lor.is_terminal(word(true)) && !lor.is_terminal(word(false)));
    let mut number = 0;
    for name in [
        "plus",
        "times",
        "min",
        "max",
        "max_from_zero",
        "any",
        "bor",
        "band",
        "bxor",
        "bxnor",
        "logaddexp",
        "lor",
        "land",
        "lxor",
        "lxnor",
    ] {
        for ty in Type::ALL {
            let found = match ty.size() {
                1 => builtin::builtin::<<u8 as Value>::Word>(name, *ty).is_some(),
                2 => builtin::builtin::<<u16 as Value>::Word>(name, *ty).is_some(),
                4 => builtin::builtin::<<u32 as Value>::Word>(name, *ty).is_some(),
                _ => builtin::builtin::<<u64 as Value>::Word>(name, *ty).is_some(),
            };
            number += usize::from(found);
        }
    }
    assert_eq!(number, 5 * 10 + 11 + 4 * 8 + 2 + 4);
}

#[test]
fn lists_and_dots_fold_in_order() {
    let list: Vec<(u32, f64)> = vec![(105, 0.1), (101, 0.2), (105, 0.3), (105, 1e300), (140, 2.0)];
    let list: Vec<_> = list.into_iter().map(|(j, z)| (j, word(z))).collect();
    let folds: [&dyn Fold<_>; 2] = [&Typed(Plus::<f64>::new()), &by_blocks(Plus::<f64>::new())];
    for fold in folds {
        let (mut window, mut present) = (vec![fold.identity(); 64], [0u64]);
        fold.to_present(&list, 100, &mut window, &mut present);
        assert_eq!(present[0], 1 << 5 | 1 << 1 | 1 << 40);
        // SAFETY: words of doubles.
        let window = unsafe { values::<f64>(&window) };
        assert_eq!((window[5], window[1], window[40]), (0.0 + 0.1 + 0.3 + 1e300, 0.2, 2.0));
    }
}

#[test]
fn lists_of_products_are_the_same_in_two_steps() {
    let mut random = Random(2);
    for most in [6, 280] {
        let a = random.matrix::<f64>(300, most, false);
        let x = SparseVec::new(300, (0..100u32).map(|p| 3 * p).collect(), (0..100).map(|p| 0.1 * p as f64).collect())
            .unwrap();
        let pattern = VectorPattern::new(300, (0..300).step_by(5).collect()).unwrap();
        let mask = |complement| Some(MaskSpec::new(&pattern, complement).effective());
        for mask in [None, mask(false), mask(true)] {
            let ring = MinPlus::<f64>::default();
            let fused = VectorProducts { ring, x: (x.indices(), x.values()), a: &a, mask };
            let (xs, values) = ((x.indices(), Slice::of(x.values())), (&**a.pattern(), Slice::of(a.values())));
            let (fold, mul) = (Typed(ring.0), Rowwise(ring.1));
            // SAFETY: the semiring's operators and its operands.
            let staged = unsafe { StagedVector::new(xs, values, &fold, &mul, mask) };
            let list = |kernel: &dyn Listed<<f64 as Value>::Word, u32>| -> Vec<(u32, u64)> {
                let mut list = vec![];
                kernel.append(10..90, &mut list);
                // SAFETY: words of doubles.
                list.into_iter().map(|(j, z)| (j, unsafe { value::<f64>(z) }.to_bits())).collect()
            };
            assert!(!list(&fused).is_empty());
            assert_eq!(list(&fused), list(&staged));
        }
    }
}

#[test]
fn products_with_a_vector_and_folds_are_the_same_in_two_steps() {
    let mut random = Random(3);
    let threads = crate::par::Threads::new(1).unwrap();
    for most in [6, 290] {
        let a = random.matrix::<f64>(300, most, true);
        let x: Vec<f64> = (0..300).map(|k| 0.3 * k as f64 - 40.0).collect();
        // In order; `PlusTimes` of floats has partial sums.
        let ring = Ring(Plus::<f64>::new(), Minus::<f64>::new());
        let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).fold(0.0, |sum, (&k, y)| sum + (y - x[k as usize]));
        let want: Vec<f64> = (0..300).map(row).collect();
        let fold = Typed(ring.0);
        let mul = Rowwise(ring.1);
        // SAFETY: the semiring's operators and its operands.
        let staged = unsafe {
            StagedRows::new(
                (&**a.pattern(), Slice::of(a.values())),
                (Slice::of(&x), Indices::All),
                &fold,
                &mul,
                Rows::All,
            )
        };
        let mut y = vec![Fold::identity(&fold); 300];
        staged.rows(0..300, &mut y);
        // SAFETY: words of doubles.
        assert_eq!(unsafe { values::<f64>(&y) }, want);
        let want = crate::ops::reduce_rows(&threads, Plus::new(), &a).unwrap();
        let mut y = vec![Fold::identity(&fold); 300];
        let values_of_a = into_words(a.values().to_vec());
        fold_rows(&fold, a.row_ptr(), &values_of_a, 0..300, &mut y);
        // SAFETY: as above.
        assert_eq!(unsafe { values::<f64>(&y) }, want);
    }
    // A fold that may stop early, and a subset of the rows.
    let a = random.matrix::<f64>(300, 290, false);
    let x: Vec<f64> = (0..300).map(|k| f64::from(k % 9 == 0)).collect();
    let ring = LorLand::<f64>::default();
    let any = |i: usize| a.row(i).0.iter().zip(a.row(i).1).any(|(&k, y)| *y != 0.0 && x[k as usize] != 0.0);
    let want: Vec<bool> = (0..300).map(any).collect();
    let (fold, mul) = (Typed(ring.0), Rowwise(ring.1));
    // SAFETY: as above.
    let staged = unsafe {
        StagedRows::new((&**a.pattern(), Slice::of(a.values())), (Slice::of(&x), Indices::All), &fold, &mul, Rows::All)
    };
    let mut y = vec![Fold::identity(&fold); 300];
    staged.rows(17..290, &mut y[17..290]);
    // SAFETY: words of truth values.
    assert!(unsafe { values::<bool>(&y) }.iter().enumerate().all(|(i, &y)| y == ((17..290).contains(&i) && want[i])));
}

/// Times of unfused kernels over fused loops:
/// `cargo test --release --lib kernels::tests::timing -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn timing() {
    crate::op! { /// (a − b)² / (a + b + 1).
    Odd<T: Real> (a, b) -> T { { let d = a - b; d * d / (a + b + V::lit(T::ONE)) } } }
    fn time<W: Word>(kernel: &dyn Multiply<W, u32>, c: &Pattern, window: usize) -> f64 {
        let mut window = vec![kernel.identity(); window];
        let mut values = vec![kernel.identity(); c.nnz()];
        let positions: Vec<u32> = (0..c.ncols() as u32).collect();
        let mut least = f64::MAX;
        for _ in 0..15 {
            let start = std::time::Instant::now();
            if window.len() > 1 {
                by_window(kernel, &RowsOfC { rows: 0..c.nrows(), c, part: None }, &mut window, &mut values);
            } else {
                let mut dense = vec![kernel.identity(); c.ncols()];
                (0..c.nrows()).for_each(|i| kernel.to_positions(RowOfA { i, part: None }, &mut dense, &positions));
            }
            least = least.min(start.elapsed().as_secs_f64());
        }
        least
    }
    fn compare<M: Monoid<Out = f64>, X: MulOp<A = f64, B = f64, Out = f64>>(
        name: &str,
        ring: Ring<M, X>,
        a: &Csr<f64>,
        c: &Pattern,
    ) {
        let (fold, mul) = (Typed(ring.0), Rowwise(ring.1));
        let blocks = by_blocks(ring.0);
        let operand = || (a.pattern(), Slice::of(a.values()));
        // SAFETY: the semiring's operators and its operands.
        let (staged, gathered) = unsafe {
            (Staged::new(operand(), operand(), &fold, &mul), Staged::new(operand(), operand(), &blocks, &mul))
        };
        for window in [1 << 14, 1] {
            let fused = time(&Products::new(ring, a, a), c, window);
            let (staged, gathered) = (time(&staged, c, window) / fused, time(&gathered, c, window) / fused);
            println!(
                "{name} window {window}: fused {:.2} ms, staged {staged:.2}, folded by blocks {gathered:.2}",
                fused * 1e3
            );
        }
    }
    use sparring_generate::{bench_spgemm, matrix};
    let er = bench_spgemm::er(1 << 12, 8, 2).unwrap();
    let band = bench_spgemm::banded(4000, 27).unwrap();
    for (name, a) in [("er12d8", er), ("rmat10d16", matrix("tc_rmat10").unwrap()), ("band27", band)] {
        // The generator's matrices are types of the library compiled without tests.
        let (row_ptr, cols) = (a.row_ptr().to_vec(), a.col_idx().to_vec());
        let a = Csr::new(a.nrows(), a.ncols(), row_ptr, cols, a.values().to_vec()).unwrap();
        let t = crate::par::Threads::new(1).unwrap();
        let (options, p) = (crate::spgemm::Options::default(), a.pattern());
        let request = crate::spgemm::Request { options: &options, budget: None, mask: None };
        let plan = crate::spgemm::symbolic(&t, p, p, &request).unwrap();
        let c = plan.pattern().unwrap();
        compare(&format!("{name} plus_times"), PlusTimes::<f64>::default(), &a, c);
        compare(&format!("{name} min_plus"), MinPlus::<f64>::default(), &a, c);
        compare(&format!("{name} odd"), Ring(Plus::<f64>::new(), Odd::new()), &a, c);
    }
}

/// Sums of rows of any length, alone and with NaN behind them, against the documented order of `reduce_rows`.
#[test]
fn a_fold_ends_with_its_row() {
    let mut random = Random(5);
    for len in 0..120 {
        let xs: Vec<f64> = (0..len).map(|_| 1.0 / (1 + random.below(1000)) as f64 - 0.25).collect();
        let mut sums = [0.0; 16];
        xs.iter().enumerate().for_each(|(p, x)| sums[p % 16] += x);
        let mut sums = sums.to_vec();
        while sums.len() > 1 {
            sums = sums.chunks(2).map(|pair| pair[0] + pair[1]).collect();
        }
        let want = if len > 16 { sums[0] } else { xs.iter().fold(0.0, |z, x| z + x) };
        for behind in [0, 1, 15, 16, 40] {
            let more = [&xs[..], &vec![f64::NAN; behind]].concat();
            let found = folded_first(Plus::<f64>::new(), &more, len);
            assert_eq!(found.to_bits(), want.to_bits(), "{len} values, {behind} behind");
            let most = folded_first(Max::<f64>::new(), &more, len);
            assert_eq!(most, xs.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        }
    }
}

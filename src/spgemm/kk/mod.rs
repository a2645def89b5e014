//! kkSpGEMM: the product as in its paper.
//!
//! [`symbolic`] compresses B if that saves enough work, and finds the length of every row of C. In the numeric phase,
//! [`columns`] gathers the columns of each row in an accumulator, once. [`numeric`] and [`numeric_into`] then look up
//! the position of each product in it, once for every set of values. A thread processes a block of rows one after
//! another (the paper's Thread-Sequential scheme, the one for CPUs).
//!
//! Source: Deveci, Trott, Rajamanickam 2018, Algorithms 2 and 3, §3.

mod columns;
mod found;
mod numeric;
mod sort;
mod symbolic;

pub(super) use columns::columns;
pub(super) use found::Symbolic;
pub(super) use numeric::{numeric, numeric_into, scratch};
pub(super) use symbolic::symbolic;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::budget::Budget;
    use super::found::whole_rows;
    use super::*;
    use crate::algebra::{
        At, BinaryOp, Host, Lhs, MinPlus, Monoid, MulOp, Out, PlusTimes, Rhs, Semiring, V, Value, Word,
    };
    use crate::algebra::{MinSecondI, Num, Plus, Ring, Times};
    use crate::kernels::{self, Multiply, Products};
    use crate::par::Threads;
    use crate::spgemm::select::Kind;
    use crate::spgemm::{Accumulator, Compress, KkSettings, Options, Policy, PoolMode};
    use crate::{Csr, Error, Index, Pattern, Result};

    /// The numeric phases: into new memory, or into an existing result.
    struct Phase<'a, I: Index> {
        threads: &'a Threads,
        found: &'a Symbolic,
        c: Option<&'a Pattern<I>>,
    }
    impl<I: Index> kernels::Numeric<I> for Phase<'_, I> {
        type Structure = Vec<I>;
        fn make<W: Word>(&self, products: &dyn Multiply<W, I>) -> Result<(Vec<I>, Vec<W>)> {
            let ((a, b), found) = (products.patterns(), self.found);
            let cols = columns(self.threads, found, (a, b))?;
            let c = Pattern::from_unsorted(a.nrows(), b.ncols(), found.row_ptr.clone(), cols)?;
            let values = numeric(self.threads, found, products, &c)?;
            Ok((c.col_idx().to_vec(), values))
        }
    }
    impl<I: Index> kernels::NumericInto<I> for Phase<'_, I> {
        fn numeric_into<W: Word>(&self, products: &dyn Multiply<W, I>, values: &mut [W]) -> Result<()> {
            numeric_into(self.threads, self.found, products, self.c.unwrap(), values)
        }
    }

    struct Random(u64);
    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % n
        }
        /// Rows of up to `most` entries, every fifth empty, clustered or spread out; shuffled if `mixed`.
        fn pattern<I: Index>(&mut self, nrows: usize, ncols: usize, most: usize, mixed: bool) -> Pattern<I> {
            let (mut row_ptr, mut cols) = (vec![0], vec![]);
            for i in 0..nrows {
                let n = if ncols == 0 || i % 5 == 4 { 0 } else { self.below(most + 1) };
                let (first, width) = if i % 2 == 0 { (self.below(ncols.max(1)), 12) } else { (0, ncols.max(1)) };
                let row: BTreeSet<usize> = (0..n).map(|_| (first + self.below(width)).min(ncols - 1)).collect();
                let mut row: Vec<I> = row.into_iter().map(|j| I::new(j).unwrap()).collect();
                if mixed {
                    for p in (1..row.len()).rev() {
                        row.swap(p, self.below(p + 1));
                    }
                }
                cols.extend(row);
                row_ptr.push(cols.len());
            }
            Pattern::from_unsorted(nrows, ncols, row_ptr, cols).unwrap()
        }
        /// Non-integer values, so that the order of a sum shows in its bits.
        fn matrix<T: Num, I: Index>(&mut self, pattern: &Pattern<I>) -> Csr<T, I> {
            let values = (0..pattern.nnz()).map(|_| T::from_f64(self.below(1000) as f64 / 7.0 - 70.0)).collect();
            Csr::with_pattern(std::sync::Arc::new(pattern.clone()), values).unwrap()
        }
    }

    /// The definition: a fold from the identity, in the order of the row of A.
    fn reference<R: Semiring, I: Index>(
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
    ) -> Vec<BTreeMap<usize, Out<R>>> {
        let row = |i| {
            let mut row = BTreeMap::new();
            let (cols, values) = a.row(i);
            for (k, &x) in cols.iter().zip(values) {
                let (cols, values) = b.row(k.get());
                for (j, &y) in cols.iter().zip(values) {
                    let at = At { i: V(i as u64), k: V(k.get() as u64), j: V(j.get() as u64) };
                    let z = row.entry(j.get()).or_insert(<R::Add as Monoid>::IDENTITY);
                    *z = ring.add().apply::<Host>(V(*z), ring.mul().mul::<Host>(V(x), V(y), at)).0;
                }
            }
            row
        };
        (0..a.nrows()).map(row).collect()
    }

    fn all_options() -> Vec<Options> {
        let mut all = vec![];
        for accumulator in [Accumulator::Auto, Accumulator::LinkedList, Accumulator::LinearProbe, Accumulator::Dense] {
            for compress in [Compress::Auto, Compress::On, Compress::Off] {
                for (first_level, max_occupancy) in
                    [(None, 0.5), (Some(0), 0.5), (Some(2), 1.0), (Some(4), 0.5), (Some(64), 0.3), (None, 0.9)]
                {
                    for (pool, chunks) in [
                        (PoolMode::One2One, None),
                        (PoolMode::One2One, Some(1)),
                        (PoolMode::Many2Many, Some(1)),
                        (PoolMode::Many2Many, Some(2)),
                        (PoolMode::Many2Many, Some(1000)),
                    ] {
                        // Dense below 20 columns and lists above, so `Auto` exercises both.
                        let kk = KkSettings {
                            first_level,
                            max_occupancy,
                            pool,
                            chunks,
                            dense_columns: 20,
                            ..KkSettings::default()
                        };
                        all.push(Options { policy: Policy::KkSpGemm, accumulator, compress, unsorted: false, kk });
                    }
                }
            }
        }
        all
    }

    /// The product by one set of options, twice: into new memory, and into the same pattern with reversed rows.
    #[expect(clippy::type_complexity, reason = "two matrices")]
    fn is_the_definition<R: Semiring, I: Index>(
        threads: &Threads,
        ring: R,
        (a, b): (&Csr<Lhs<R>, I>, &Csr<Rhs<R>, I>),
        want: &[BTreeMap<usize, Out<R>>],
        options: &Options,
        same: impl Fn(Out<R>, Out<R>) -> bool,
    ) {
        let about = format!("{} threads, {options:?}", threads.count());
        let s = symbolic(threads, a.pattern(), b.pattern(), options, &mut Budget::new(None)).unwrap();
        let lens: Vec<usize> = s.row_ptr.windows(2).map(|w| w[1] - w[0]).collect();
        assert_eq!(lens, want.iter().map(BTreeMap::len).collect::<Vec<_>>(), "{about}");
        assert_eq!(s.max_row_nnz, lens.iter().copied().max().unwrap_or(0));

        let (cols, values) =
            kernels::numeric(&Products::new(ring, a, b), &Phase { threads, found: &s, c: None }).unwrap();
        let check = |cols: &[I], values: &[Out<R>]| {
            for (i, row) in want.iter().enumerate() {
                let range = s.row_ptr[i]..s.row_ptr[i + 1];
                let found: BTreeMap<_, _> =
                    cols[range.clone()].iter().map(|j| j.get()).zip(values[range].iter().copied()).collect();
                assert_eq!(found.len(), row.len(), "row {i}, {about}");
                for (j, z) in row {
                    assert!(same(found[j], *z), "row {i}, column {j}: {:?}, not {z:?}, {about}", found[j]);
                }
            }
        };
        check(&cols, &values);
        if !options.unsorted {
            assert!(s.row_ptr.windows(2).all(|w| cols[w[0]..w[1]].is_sorted()), "{about}");
        }
        let mut turned = cols;
        s.row_ptr.windows(2).for_each(|w| turned[w[0]..w[1]].reverse());
        let c = Pattern::from_unsorted(a.nrows(), b.ncols(), s.row_ptr.clone(), turned).unwrap();
        let mut values = vec![<R::Add as Monoid>::IDENTITY; c.nnz()];
        kernels::numeric_into(&Products::new(ring, a, b), &Phase { threads, found: &s, c: Some(&c) }, &mut values)
            .unwrap();
        check(c.col_idx(), &values);
    }

    fn check_all_options<R: Semiring, I: Index>(
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
        same: impl Fn(Out<R>, Out<R>) -> bool + Copy,
    ) {
        let want = reference(ring, a, b);
        let pools: Vec<Threads> = [1, 2, 3, 8].map(|n| Threads::new(n).unwrap()).into();
        for (n, options) in all_options().into_iter().enumerate() {
            // Every thread count is paired with every setting, but not in every combination.
            for unsorted in [false, true] {
                let threads = &pools[(n + usize::from(unsorted)) % pools.len()];
                is_the_definition(threads, ring, (a, b), &want, &Options { unsorted, ..options.clone() }, same);
            }
        }
    }

    fn bits(x: f64, y: f64) -> bool {
        x.to_bits() == y.to_bits()
    }
    fn equal<T: Value>(x: T, y: T) -> bool {
        x == y
    }

    #[test]
    fn every_option_gives_the_definition_bitwise() {
        let mut random = Random(1);
        for (mixed, (m, k, n)) in [
            (false, (60, 40, 150)),
            (true, (40, 60, 15)),
            (true, (30, 50, 700)),
            (false, (20, 20, 1)),
            (true, (9, 5, 33)),
        ] {
            let (pa, pb) = (random.pattern::<u32>(m, k, 9, mixed), random.pattern::<u32>(k, n, 30, mixed));
            let (a, b) = (random.matrix(&pa), random.matrix(&pb));
            check_all_options(PlusTimes::<f64>::default(), &a, &b, bits);
        }
        let (pa, pb) = (random.pattern::<u32>(50, 40, 9, true), random.pattern::<u32>(40, 90, 20, true));
        check_all_options(MinPlus::<f64>::default(), &random.matrix(&pa), &random.matrix(&pb), bits);
        // An identity other than zero, and an operator that depends on positions.
        check_all_options(
            Ring(Times::<i64>::new(), Plus::<i64>::new()),
            &random.matrix(&pa),
            &random.matrix(&pb),
            equal,
        );
        check_all_options(MinSecondI::<f64>::default(), &random.matrix(&pa), &random.matrix(&pb), equal);
    }

    #[test]
    fn wide_indices_and_very_wide_matrices() {
        let mut random = Random(2);
        let n = 1 << 40;
        let (pa, pb) = (random.pattern::<u64>(30, 20, 9, true), random.pattern::<u64>(20, n, 20, true));
        let (a, b) = (random.matrix::<f64, _>(&pa), random.matrix::<f64, _>(&pb));
        let want = reference(PlusTimes::<f64>::default(), &a, &b);
        let threads = Threads::new(2).unwrap();
        for compress in [Compress::Auto, Compress::On, Compress::Off] {
            for accumulator in [Accumulator::Auto, Accumulator::LinkedList, Accumulator::LinearProbe] {
                let options = Options { policy: Policy::KkSpGemm, accumulator, compress, ..Options::default() };
                is_the_definition(&threads, PlusTimes::<f64>::default(), (&a, &b), &want, &options, bits);
            }
        }
        let pb = random.pattern::<u64>(20, 200, 20, true);
        check_all_options(PlusTimes::<f64>::default(), &a, &random.matrix(&pb), bits);
    }

    #[test]
    fn empty_shapes() {
        for (m, k, n) in [(0, 0, 0), (0, 5, 3), (4, 0, 3), (4, 5, 0), (3, 4, 5)] {
            let (a, b) = (Csr::<f64>::empty(m, k).unwrap(), Csr::<f64>::empty(k, n).unwrap());
            check_all_options(PlusTimes::<f64>::default(), &a, &b, bits);
        }
    }

    /// A row so heavy that other policies would split it by columns.
    #[test]
    fn a_huge_row_stays_whole() {
        let n = 2000;
        let all = || 0..n as u32;
        let row_ptr = |heavy: usize| (0..=n).map(|i| if i == 0 { 0 } else { heavy + i - 1 }).collect::<Vec<_>>();
        let pa = Pattern::new(n, n, row_ptr(n), all().chain((1..n as u32).rev()).collect()).unwrap();
        let pb = Pattern::new(
            n,
            n,
            (0..=n).map(|i| i * 1200).collect(),
            all().flat_map(|i| (0..1200).map(move |j| j + i % 800)).collect(),
        )
        .unwrap();
        let mut random = Random(3);
        let (a, b) = (random.matrix::<f64, _>(&pa), random.matrix::<f64, _>(&pb));
        let work = super::super::tasks::cut(&Threads::new(1).unwrap(), &pa, &pb).unwrap();
        assert!(work.tasks.iter().any(|t| t.cols.is_some()), "the case is too light");
        let tasks = whole_rows(&work).unwrap();
        assert!(tasks.iter().flat_map(Clone::clone).eq(0..n), "{tasks:?}");
        let want = reference(PlusTimes::<f64>::default(), &a, &b);
        let threads = Threads::new(2).unwrap();
        for accumulator in [Accumulator::LinkedList, Accumulator::LinearProbe, Accumulator::Dense] {
            for first_level in [None, Some(100)] {
                let kk =
                    KkSettings { first_level, pool: PoolMode::Many2Many, chunks: Some(1), ..KkSettings::default() };
                let options = Options { policy: Policy::KkSpGemm, accumulator, kk, ..Options::default() };
                is_the_definition(&threads, PlusTimes::<f64>::default(), (&a, &b), &want, &options, bits);
            }
        }
    }

    #[test]
    fn a_second_level_is_used_and_reasons_are_given() {
        let mut random = Random(4);
        let (a, b) = (random.pattern::<u32>(30, 30, 9, false), random.pattern::<u32>(30, 640, 30, false));
        let threads = Threads::new(2).unwrap();
        let with = |options: Options| symbolic(&threads, &a, &b, &options, &mut Budget::new(None)).unwrap();
        let kk = Options { policy: Policy::KkSpGemm, ..Options::default() };
        let s = with(kk.clone());
        let cf = s.cf.unwrap();
        assert_eq!((s.symbolic, s.numeric, s.words.is_some()), (Kind::Dense, Kind::Dense, true));
        assert_eq!(
            s.reasons,
            format!(
                "kkSpGEMM: dense numeric (k 640 < 250,000), dense symbolic (k/32 20 < 250,000), compressed (CF {cf:.2} \
                 <= 0.85); rows sorted at the end"
            )
        );
        let s = with(Options { kk: KkSettings { dense_columns: 640, ..kk.kk.clone() }, ..kk.clone() });
        assert!(
            s.reasons.starts_with("kkSpGEMM: LL numeric (k 640 >= 640), narrow rows by windows, "),
            "{}",
            s.reasons
        );
        // 20 words are below a cutoff that 640 columns exceed.
        let s = with(Options { kk: KkSettings { dense_columns: 21, ..kk.kk.clone() }, ..kk.clone() });
        assert_eq!(s.symbolic, Kind::Dense);
        assert!(s.reasons.contains("k/32 20 < 21"), "{}", s.reasons);
        let s = with(Options { compress: Compress::Off, accumulator: Accumulator::LinearProbe, ..kk.clone() });
        assert_eq!((s.cf, s.cmrf, s.words, s.numeric), (None, None, None, Kind::LinearProbe));
        let s = with(Options { kk: KkSettings { compress_cutoff: 0.01, ..kk.kk.clone() }, ..kk.clone() });
        assert!(s.words.is_none() && s.cf.is_some());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let threads = Threads::new(1).unwrap();
        let (a, b) = (Csr::<f64>::empty(3, 4).unwrap(), Csr::<f64>::empty(5, 6).unwrap());
        let found = symbolic(&threads, a.pattern(), b.pattern(), &Options::default(), &mut Budget::new(None));
        assert!(matches!(found, Err(Error::Shape { op: "mxm", lhs: (3, 4), rhs: (5, 6) })));
        let none = Options { kk: KkSettings { chunks: Some(0), ..KkSettings::default() }, ..Options::default() };
        let b = Csr::<f64>::empty(4, 6).unwrap();
        let found = symbolic(&threads, a.pattern(), b.pattern(), &none, &mut Budget::new(None));
        assert!(matches!(found, Err(Error::Argument { name: "chunks", .. })));
        let s = symbolic(&threads, a.pattern(), b.pattern(), &Options::default(), &mut Budget::new(None)).unwrap();
        let other = Pattern::<u32>::new(3, 6, vec![0, 1, 1, 1], vec![2]).unwrap();
        let ring = PlusTimes::<f64>::default();
        let found = kernels::numeric_into(
            &Products::new(ring, &a, &b),
            &Phase { threads: &threads, found: &s, c: Some(&other) },
            &mut [0.0],
        );
        assert!(matches!(found, Err(Error::PatternChanged { operand: "C", found: 1, planned: 0 })));
        let none = Pattern::<u32>::empty(3, 6).unwrap();
        let found = kernels::numeric_into(
            &Products::new(ring, &a, &b),
            &Phase { threads: &threads, found: &s, c: Some(&none) },
            &mut [0.0],
        );
        assert!(matches!(found, Err(Error::Length { found: 1, expected: 0, .. })));
        // A dense accumulator for 2^40 columns.
        let wide = Csr::<f64, u64>::empty(4, 1 << 50).unwrap();
        let a = Csr::<f64, u64>::empty(3, 4).unwrap();
        let options = Options { accumulator: Accumulator::Dense, compress: Compress::Off, ..Options::default() };
        let found = symbolic(&threads, a.pattern(), wide.pattern(), &options, &mut Budget::new(None));
        assert!(matches!(found, Err(Error::OutOfMemory { .. })));
    }
}

//! Awkward matrices: empty ones, one huge row, dense blocks, runs, shuffled rows, extreme values.

use quickcheck::{Arbitrary, Gen};
use sparring::algebra::Value;
use sparring::num_complex::Complex;
use sparring::{Csr, Pattern};
use std::sync::Arc;

use super::rings::Paths;

/// A small random generator (splitmix64): values follow from a seed and not from the order of the tests.
#[derive(Clone, Debug)]
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// A number below `n`; 0 for n = 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }
    /// A random element of the list.
    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    /// `0..n` in random order.
    pub(crate) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        self.shuffle(&mut order);
        order
    }
    fn shuffle<T>(&mut self, list: &mut [T]) {
        for p in (1..list.len()).rev() {
            list.swap(p, self.below(p + 1));
        }
    }
}

/// A value type with random values that provoke errors.
pub(crate) trait Draw: Value {
    /// One value, often an awkward one.
    fn draw(rng: &mut Rng) -> Self;
}
impl Draw for f64 {
    fn draw(rng: &mut Rng) -> Self {
        if rng.below(4) > 0 {
            // Inexact sums: a fold in another order gives other bits.
            return (rng.next() >> 11) as f64 * 2f64.powi(-50) - 4.0;
        }
        rng.pick(&[
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MIN_POSITIVE,
            f64::MAX,
            5e-324,
        ])
    }
}
impl Draw for f32 {
    fn draw(rng: &mut Rng) -> Self {
        f64::draw(rng) as f32
    }
}
impl Draw for i64 {
    fn draw(rng: &mut Rng) -> Self {
        if rng.below(3) > 0 { rng.next() as i64 % 100 } else { rng.pick(&[0, 1, -1, i64::MIN, i64::MAX, i64::MIN + 1]) }
    }
}
impl Draw for u64 {
    fn draw(rng: &mut Rng) -> Self {
        if rng.below(3) > 0 { rng.next() % 100 } else { rng.pick(&[0, 1, u64::MAX]) }
    }
}
macro_rules! any_bits {
    ($($t:ty)*) => {$(
        impl Draw for $t {
            fn draw(rng: &mut Rng) -> Self {
                rng.next() as $t
            }
        }
    )*};
}
any_bits! { u8 i8 i16 u16 i32 u32 }
impl Draw for Complex<f64> {
    fn draw(rng: &mut Rng) -> Self {
        Complex::new(f64::draw(rng), f64::draw(rng))
    }
}
impl Draw for Complex<f32> {
    fn draw(rng: &mut Rng) -> Self {
        Complex::new(f32::draw(rng), f32::draw(rng))
    }
}
impl Draw for bool {
    fn draw(rng: &mut Rng) -> Self {
        rng.below(3) > 0
    }
}
impl Draw for Paths {
    fn draw(rng: &mut Rng) -> Self {
        Paths { length: rng.pick(&[0, 1, 1, 2, 3, u32::MAX]), count: rng.pick(&[0, 1, 1, 2, u32::MAX]) }
    }
}

/// Column indices by row, sorted and distinct.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnyPattern {
    pub(crate) ncols: usize,
    pub(crate) rows: Vec<Vec<u32>>,
    /// Rows are stored in a shuffled order if this is not 0.
    pub(crate) shuffle: u64,
}

impl AnyPattern {
    /// A random pattern of this shape.
    pub(crate) fn of_shape(rng: &mut Rng, nrows: usize, ncols: usize) -> Self {
        let mut rows = vec![vec![]; nrows];
        if nrows > 0 && ncols > 0 {
            match rng.below(8) {
                // Empty.
                0 => {}
                // Scattered, with many empty rows.
                1 | 2 => {
                    for row in &mut rows {
                        for _ in 0..rng.pick(&[0, 0, 1, 2, 5]) {
                            row.push(rng.below(ncols) as u32);
                        }
                    }
                }
                // One huge row among short ones.
                3 => {
                    for row in &mut rows {
                        row.push(rng.below(ncols) as u32);
                    }
                    let huge = rng.below(nrows);
                    rows[huge] = (0..ncols as u32).filter(|_| rng.below(8) > 0).collect();
                }
                // One huge column.
                4 => {
                    let column = rng.below(ncols) as u32;
                    for row in &mut rows {
                        row.push(column);
                        row.push(rng.below(ncols) as u32);
                    }
                }
                // Small dense blocks on the diagonal.
                5 => {
                    let size = 1 + rng.below(9);
                    for (i, row) in rows.iter_mut().enumerate() {
                        let first = i / size * size;
                        row.extend((first..(first + size).min(ncols)).map(|j| j as u32));
                    }
                }
                // Runs of columns shared by neighbouring rows and some distant columns, as in web graphs.
                6 => {
                    let mut start = 0;
                    for (i, row) in rows.iter_mut().enumerate() {
                        if i % 4 == 0 {
                            start = rng.below(ncols);
                        }
                        row.extend((start..(start + 1 + rng.below(40)).min(ncols)).map(|j| j as u32));
                        row.push(rng.below(ncols) as u32);
                    }
                }
                // Full, or full in the left columns.
                _ => rows.fill((0..ncols.min(34) as u32).collect()),
            }
        }
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
        }
        Self { ncols, rows, shuffle: 0 }
    }
    pub(crate) fn nrows(&self) -> usize {
        self.rows.len()
    }
    /// The pattern in the library's format.
    pub(crate) fn pattern(&self) -> Arc<Pattern> {
        let mut rng = Rng(self.shuffle);
        let mut rows = self.rows.clone();
        if self.shuffle != 0 {
            rows.iter_mut().for_each(|row| rng.shuffle(row));
        }
        let mut row_ptr = vec![0];
        for row in &rows {
            row_ptr.push(row_ptr[row_ptr.len() - 1] + row.len());
        }
        Arc::new(Pattern::from_unsorted(self.nrows(), self.ncols, row_ptr, rows.concat()).expect("a legal pattern"))
    }
    /// A matrix with this pattern and values that follow from `seed`; shuffling permutes values and columns together.
    pub(crate) fn matrix<T: Draw>(&self, seed: u64) -> Csr<T> {
        let pattern = self.pattern();
        let values = (0..pattern.nrows())
            .flat_map(|i| pattern.row(i).iter().map(move |&j| (i, j)).collect::<Vec<_>>())
            .map(|(i, j)| T::draw(&mut Rng(seed ^ ((i as u64) << 32) ^ u64::from(j))))
            .collect();
        Csr::with_pattern(pattern, values).expect("one value per entry")
    }
    /// The same pattern with fewer entries: half of the rows emptied, then single rows, then half of a row.
    fn smaller(&self) -> Vec<Self> {
        let n = self.nrows();
        let mut out = vec![];
        let mut without = |range: std::ops::Range<usize>| {
            if self.rows[range.clone()].iter().any(|r| !r.is_empty()) {
                let mut p = self.clone();
                p.rows[range].fill(vec![]);
                out.push(p);
            }
        };
        without(0..n / 2);
        without(n / 2..n);
        (0..n).for_each(|i| without(i..i + 1));
        for i in (0..n).filter(|&i| self.rows[i].len() > 1) {
            let half = self.rows[i].len() / 2;
            for part in [&self.rows[i][half..], &self.rows[i][..half]] {
                let mut p = self.clone();
                p.rows[i] = part.to_vec();
                out.push(p);
            }
        }
        out
    }
}

/// Two conformable matrices, a mask with the product's shape, and a seed for the values.
#[derive(Clone, Debug)]
pub(crate) struct AnyPair {
    pub(crate) a: AnyPattern,
    pub(crate) b: AnyPattern,
    pub(crate) mask: AnyPattern,
    pub(crate) seed: u64,
}

impl AnyPair {
    pub(crate) fn a<T: Draw>(&self) -> Csr<T> {
        self.a.matrix(self.seed)
    }
    pub(crate) fn b<T: Draw>(&self) -> Csr<T> {
        self.b.matrix(!self.seed)
    }
    /// A dimension: 0 or 1, about a machine word or a cache line of columns, or a few hundred.
    fn dimension(rng: &mut Rng) -> usize {
        match rng.below(6) {
            0 => rng.below(2),
            1 => rng.pick(&[31, 32, 33, 63, 64, 65, 127, 128, 129]),
            2 => rng.below(400),
            _ => 1 + rng.below(40),
        }
    }
}

impl Arbitrary for AnyPair {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut rng = Rng(u64::arbitrary(g));
        // Few rows, because the cost of a test is the textbook's dense table of C.
        let (m, k, n) = (Self::dimension(&mut rng).min(70), Self::dimension(&mut rng), Self::dimension(&mut rng));
        let a = AnyPattern::of_shape(&mut rng, m, k);
        let mut b = AnyPattern::of_shape(&mut rng, k, n);
        let mut mask = AnyPattern::of_shape(&mut rng, m, n);
        // A keeps its rows sorted: the library folds in the stored order of k within A's rows, the textbook in
        // increasing order. Shuffled rows of A have a test of their own with exact values.
        if rng.below(3) == 0 {
            b.shuffle = rng.next() | 1;
        }
        if rng.below(3) == 0 {
            mask.shuffle = rng.next() | 1;
        }
        Self { a, b, mask, seed: rng.next() }
    }
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let mut out = vec![];
        out.extend(self.a.smaller().into_iter().map(|a| Self { a, ..self.clone() }));
        out.extend(self.b.smaller().into_iter().map(|b| Self { b, ..self.clone() }));
        out.extend(self.mask.smaller().into_iter().map(|mask| Self { mask, ..self.clone() }));
        Box::new(out.into_iter())
    }
}

/// A square pattern: a graph, possibly directed, possibly with self-loops.
#[derive(Clone, Debug)]
pub(crate) struct AnyGraph(pub(crate) AnyPattern);

impl Arbitrary for AnyGraph {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut rng = Rng(u64::arbitrary(g));
        let n = rng.pick(&[0, 1, 2, 3, 5, 17, 40, 64, 65, 90]);
        let mut p = AnyPattern::of_shape(&mut rng, n, n);
        if rng.below(2) == 0 {
            // Undirected, with both directions stored as in files.
            for i in 0..n {
                for j in p.rows[i].clone() {
                    p.rows[j as usize].push(i as u32);
                }
            }
            for row in &mut p.rows {
                row.sort_unstable();
                row.dedup();
            }
        }
        if rng.below(3) == 0 {
            p.shuffle = rng.next() | 1;
        }
        Self(p)
    }
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        Box::new(self.0.smaller().into_iter().map(Self))
    }
}

/// Random rows of about `mean` entries; every 17th row has `heavy` entries.
pub(crate) fn rows(rng: &mut Rng, nrows: usize, ncols: usize, mean: usize, heavy: usize) -> AnyPattern {
    let rows = (0..nrows)
        .map(|i| {
            let n = if i % 17 == 3 { heavy } else { rng.below(2 * mean + 1) };
            let mut row: Vec<u32> = (0..n).map(|_| rng.below(ncols) as u32).collect();
            row.sort_unstable();
            row.dedup();
            row
        })
        .collect();
    AnyPattern { ncols, rows, shuffle: 0 }
}

//! Loops over the rows of factors: eight columns at a time, whose sums stay in registers.

use crate::algebra::Real;
use crate::simd::Work;

/// Columns that are computed together.
const WIDTH: usize = 8;
/// Rows that are computed together.
const TALL: usize = 4;

/// The first columns of blocks of `width` that cover `rank` columns. The last two blocks may overlap.
fn blocks(rank: usize, width: usize) -> impl Iterator<Item = usize> + Clone {
    (0..rank).step_by(width).map(move |first| first.min(rank.saturating_sub(width)))
}

/// `N` columns of a row, in f64, with zeros past its end.
#[inline(always)]
fn columns<T: Real, const N: usize>(row: &[T], first: usize) -> [f64; N] {
    match row.get(first..).and_then(|rest| rest.first_chunk::<N>()) {
        Some(whole) => whole.map(|x| x.as_f64()),
        None => {
            let mut some = [0.0; N];
            some.iter_mut().zip(row.get(first..).unwrap_or_default()).for_each(|(to, x)| *to = x.as_f64());
            some
        }
    }
}

/// sum += x · row.
#[inline(always)]
fn add(sum: &mut [f64; WIDTH], x: f64, row: &[f64; WIDTH]) {
    sum.iter_mut().zip(row).for_each(|(sum, y)| *sum += x * y);
}

/// `sums(r, s)` = Σ a(i, r) a(i, s) over the rows i of `a` in their order, for a row-major R × R matrix.
pub(super) struct Gram<'a, 's, T> {
    pub(super) a: &'a [T],
    pub(super) rank: usize,
    pub(super) sums: &'s mut [f64],
}
impl<T: Real> Work for Gram<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { a, rank, sums } = self;
        for r in blocks(rank, TALL) {
            // The tiles that reach the diagonal; the rest is symmetric.
            for s in blocks(rank, WIDTH).filter(|s| s + WIDTH > r) {
                let [mut p, mut q, mut u, mut v] = [[0.0; WIDTH]; TALL];
                for row in a.chunks_exact(rank) {
                    let (x, y) = (columns::<T, TALL>(row, r), columns(row, s));
                    add(&mut p, x[0], &y);
                    add(&mut q, x[1], &y);
                    add(&mut u, x[2], &y);
                    add(&mut v, x[3], &y);
                }
                for (r, sum) in (r..rank).zip([p, q, u, v]) {
                    for (s, sum) in (s..rank).zip(sum) {
                        sums[r * rank + s] = sum;
                        sums[s * rank + r] = sum;
                    }
                }
            }
        }
    }
}

/// A square matrix whose rows are padded with zeros to a multiple of [`WIDTH`].
pub(super) struct Padded {
    rank: usize,
    values: Vec<f64>,
}
impl Padded {
    pub(super) fn new(rank: usize, matrix: &[f64]) -> crate::Result<Self> {
        let stride = rank.next_multiple_of(WIDTH);
        let mut values = crate::par::filled(rank * stride, 0.0, "a system of CP")?;
        for (to, row) in values.chunks_mut(stride.max(1)).zip(matrix.chunks(rank.max(1))) {
            to[..rank].copy_from_slice(row);
        }
        Ok(Self { rank, values })
    }
}

/// `a` = V M: each row in f64, terms in the order of the rows of M.
pub(super) struct Times<'a, 'v, T> {
    pub(super) a: &'a mut [T],
    pub(super) v: &'v [T],
    pub(super) matrix: &'v Padded,
}
impl<T: Real> Work for Times<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { a, v, matrix: Padded { rank, values } } = self;
        let (rank, stride) = (*rank, rank.next_multiple_of(WIDTH));
        for (a, v) in a.chunks_mut(TALL * rank).zip(v.chunks(TALL * rank)) {
            let last = v.len() / rank - 1;
            // Repeats the last row at the end.
            let row = |i: usize| &v[i.min(last) * rank..][..rank];
            let (x, y, z, w) = (row(0), row(1), row(2), row(3));
            for first in blocks(rank, WIDTH) {
                let [mut p, mut q, mut s, mut t] = [[0.0; WIDTH]; TALL];
                for k in 0..rank {
                    let Some(m) = values[k * stride + first..].first_chunk::<WIDTH>() else { break };
                    add(&mut p, x[k].as_f64(), m);
                    add(&mut q, y[k].as_f64(), m);
                    add(&mut s, z[k].as_f64(), m);
                    add(&mut t, w[k].as_f64(), m);
                }
                for (a, sum) in a.chunks_exact_mut(rank).zip([p, q, s, t]) {
                    match a[first..].first_chunk_mut::<WIDTH>() {
                        Some(a) => *a = sum.map(T::from_f64),
                        None => a[first..].iter_mut().zip(sum).for_each(|(a, x)| *a = T::from_f64(x)),
                    }
                }
            }
        }
    }
}

/// `sums(r)` = Σ a(i, r) v(i, r) over the rows in their order.
pub(super) struct Dots<'a, 's, T> {
    pub(super) a: &'a [T],
    pub(super) v: &'a [T],
    pub(super) sums: &'s mut [f64],
}
impl<T: Real> Work for Dots<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let (rank, sums) = (self.sums.len(), self.sums);
        for first in blocks(rank, WIDTH) {
            let mut sum = [0.0; WIDTH];
            for (a, v) in self.a.chunks_exact(rank).zip(self.v.chunks_exact(rank)) {
                let (x, y): ([f64; WIDTH], [f64; WIDTH]) = (columns(a, first), columns(v, first));
                for ((sum, x), y) in sum.iter_mut().zip(x).zip(y) {
                    *sum += x * y;
                }
            }
            sums[first..].iter_mut().zip(sum).for_each(|(to, sum)| *to = sum);
        }
    }
}

/// Divides each column by its norm unless that is 0.
pub(super) struct Divide<'a, 'n, T> {
    pub(super) a: &'a mut [T],
    /// 1 in the place of 0.
    pub(super) norms: &'n [T],
}
impl<T: Real> Work for Divide<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for row in self.a.chunks_exact_mut(self.norms.len().max(1)) {
            row.iter_mut().zip(self.norms).for_each(|(x, &n)| *x = *x / n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::dispatch_work;

    /// Integers, so that sums are exact, for ranks around the widths and any number of rows.
    #[test]
    fn rows_in_registers_equal_the_formulas() {
        fn draw<T: Real>(n: usize, seed: usize) -> Vec<T> {
            (0..n).map(|i| T::from_f64(((i * 31 + seed * 17) % 23) as f64 - 11.0)).collect()
        }
        fn check<T: Real>() {
            for rank in (1..=19).chain([32, 33]) {
                for rows in [0, 1, 3, 4, 5, 9] {
                    let (a, v) = (draw::<T>(rows * rank, 1), draw::<T>(rows * rank, 2));
                    let at = |x: &[T], i: usize, r: usize| x[i * rank + r].as_f64();
                    let mut sums = vec![0.0; rank * rank];
                    dispatch_work(Gram { a: &a, rank, sums: &mut sums });
                    for (p, &sum) in sums.iter().enumerate() {
                        let terms = (0..rows).map(|i| at(&a, i, p / rank) * at(&a, i, p % rank));
                        assert_eq!(sum, terms.sum::<f64>(), "gram, rank {rank}, {rows} rows");
                    }
                    let mut dots = vec![0.0; rank];
                    dispatch_work(Dots { a: &a, v: &v, sums: &mut dots });
                    for (r, &sum) in dots.iter().enumerate() {
                        assert_eq!(
                            sum,
                            (0..rows).map(|i| at(&a, i, r) * at(&v, i, r)).sum::<f64>(),
                            "dots, rank {rank}"
                        );
                    }
                    let matrix = draw::<f64>(rank * rank, 3);
                    let mut out = a.clone();
                    let padded = Padded::new(rank, &matrix).unwrap();
                    dispatch_work(Times { a: &mut out, v: &v, matrix: &padded });
                    for (p, x) in out.iter().enumerate() {
                        let terms = (0..rank).map(|k| at(&v, p / rank, k) * matrix[k * rank + p % rank]);
                        assert_eq!(x.as_f64(), terms.sum::<f64>(), "times, rank {rank}, {rows} rows");
                    }
                    let norms = draw::<T>(rank, 4).into_iter().map(|n| if n == T::ZERO { T::ONE } else { n });
                    let norms: Vec<T> = norms.collect();
                    let mut out = a.clone();
                    dispatch_work(Divide { a: &mut out, norms: &norms });
                    assert!(out.iter().zip(&a).enumerate().all(|(p, (x, &y))| *x == y / norms[p % rank]));
                }
            }
        }
        check::<f64>();
        check::<f32>();
    }
}

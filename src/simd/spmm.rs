//! Y = A·X for floats with + and ×, with dense, row-major X and Y: the sums of a row of Y stay in registers while the
//! entries of the row of A are read.
//!
//! Each Y(i, j) starts at 0 and adds the rounded products A(i, k)·X(k, j) in the stored order of row i's entries, so
//! the result is bitwise that of a plain loop.

#[cfg(target_arch = "x86_64")]
mod x86;

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::Pattern;

/// Bytes of X from which on its rows are prefetched: a smaller X stays in a core's cache, where prefetching costs up to
/// a quarter of the time.
#[cfg(target_arch = "x86_64")]
const PREFETCHED: usize = 2 << 20;
/// Bytes of Y from which on non-temporal stores are used. They save reading each line before it is written: 20 to 30 %
/// of the time of a grid of 10⁶ rows. A smaller result may still be cached when it is read next.
#[cfg(target_arch = "x86_64")]
const STREAMED: usize = 32 << 20;

/// Some rows of Y, or some columns of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpmmPart {
    pub(crate) rows: Range<usize>,
    pub(crate) columns: Range<usize>,
}

/// f32 or f64.
#[cfg(target_arch = "x86_64")]
pub(crate) trait SpmmFloat: x86::Loops + Copy + Send + Sync {}
/// f32 or f64.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) trait SpmmFloat: Copy + Send + Sync {}
impl SpmmFloat for f32 {}
impl SpmmFloat for f64 {}

/// Whether this process runs with vector loops for [`spmm_part`].
pub(crate) fn has_spmm() -> bool {
    cfg!(target_arch = "x86_64") && super::register() >= 32
}

/// Computes a part of Y, which is contiguous in `y`; X and Y have `n` columns.
/// # Panics
/// If this process [has no loop](has_spmm); if there is not one value per entry, X or `y` have other sizes, or the part
/// is out of range or spans several rows of some columns.
pub(crate) fn spmm_part<T: SpmmFloat>(
    (a, values): (&Pattern, &[T]),
    (x, n): (&[T], usize),
    part: &SpmmPart,
    y: &mut [MaybeUninit<T>],
) {
    let SpmmPart { rows, columns } = part;
    assert!(has_spmm() && values.len() == a.nnz() && a.ncols().checked_mul(n) == Some(x.len()));
    assert!(rows.start <= rows.end && rows.end <= a.nrows() && columns.start <= columns.end && columns.end <= n);
    assert!(columns.len() == n || rows.len() == 1);
    assert!(rows.len().checked_mul(columns.len()) == Some(y.len()));
    if y.is_empty() {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    {
        let line = 64 / size_of::<T>();
        let large = a.nrows().saturating_mul(n).saturating_mul(size_of::<T>()) >= STREAMED;
        let task = x86::Task {
            row_ptr: a.row_ptr(),
            columns: a.col_idx(),
            values,
            x,
            n,
            rows: rows.clone(),
            part: columns.clone(),
            prefetch: size_of_val(x) >= PREFETCHED,
            // Non-temporal stores write whole lines, 16 bytes at a time.
            stream: large && n.is_multiple_of(line) && columns.len() == n && y.as_ptr().addr().is_multiple_of(16),
            y: y.as_mut_ptr().cast(),
        };
        // SAFETY: 1. The processor has AVX2 or AVX-512. 2. The rows and columns exist, `row_ptr` never decreases and
        // ends at the number of entries (Pattern's invariants), which is the number of values; columns of A are below
        // `ncols` (Pattern's invariant), the number of X's rows of n values. 3. `y` has one value per element of the
        // part, and is borrowed mutably. 4. With `stream`, rows are whole lines, and `y` starts at a multiple of 16
        // bytes.
        unsafe {
            if super::register() == 64 {
                T::v4(&task);
            } else {
                T::v3(&task);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 0 to 40 entries, sorted and not, with zeros of both signs, infinity and NaN.
    fn case() -> (Pattern, Vec<f64>) {
        let (nrows, ncols) = (57, 211);
        let (mut row_ptr, mut columns) = (vec![0], vec![]);
        for i in 0..nrows {
            columns.extend((0..i * 7 % 41).map(|t| ((i * 31 + t * 17) % ncols) as u32));
            row_ptr.push(columns.len());
        }
        let values = (0..columns.len()).map(odd).collect();
        (Pattern::from_unsorted(nrows, ncols, row_ptr, columns).unwrap(), values)
    }
    fn odd(p: usize) -> f64 {
        match p % 97 {
            0 => -0.0,
            50 if p > 900 => f64::INFINITY,
            51 if p > 950 => f64::NAN,
            _ => ((p * 2_654_435_761) % 1009) as f64 / 64.0 - 7.5,
        }
    }

    fn check<T: SpmmFloat + std::ops::Add<Output = T> + std::ops::Mul<Output = T> + Into<f64>>(from: fn(f64) -> T) {
        let (a, values) = case();
        let values: Vec<T> = values.into_iter().map(from).collect();
        for n in (1..=20).chain([24, 31, 32, 33, 47, 64, 65, 100, 128, 130, 200, 300]) {
            // Rows of X start anywhere in a cache line.
            let all: Vec<T> = (0..a.ncols() * n + n % 5).map(|p| from(odd(3 * p + 1))).collect();
            let x = &all[n % 5..];
            let want = |i: usize, j: usize| {
                let entries = a.row_ptr()[i]..a.row_ptr()[i + 1];
                entries.fold(from(0.0), |sum, p| sum + values[p] * x[a.col_idx()[p] as usize * n + j])
            };
            let some = n / 3..n - n / 4;
            for part in [(0..a.nrows(), 0..n), (3..5, 0..n), (40..41, some), (40..41, 0..1), (7..7, 0..n)] {
                let part = SpmmPart { rows: part.0, columns: part.1 };
                let mut y = vec![MaybeUninit::new(from(5.0)); part.rows.len() * part.columns.len()];
                spmm_part((&a, &values), (x, n), &part, &mut y);
                let mut y = y.into_iter();
                for i in part.rows.clone() {
                    for j in part.columns.clone() {
                        // SAFETY: all elements were initialized before.
                        let (y, want): (f64, f64) =
                            (unsafe { y.next().unwrap().assume_init() }.into(), want(i, j).into());
                        assert!(y.to_bits() == want.to_bits() || y.is_nan() && want.is_nan(), "({i}, {j}) of {n}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_width_has_the_bits_of_a_plain_loop() {
        if has_spmm() {
            check::<f64>(|x| x);
            check::<f32>(|x| x as f32);
        }
    }

    /// More than [`STREAMED`] bytes of Y and [`PREFETCHED`] of X.
    #[test]
    fn slow_large_results_have_the_same_bits() {
        if !has_spmm() {
            return;
        }
        let (m, k, n) = (140_000, 9000, 32);
        let row_ptr = (0..=m).map(|i| i / 3).collect();
        let a = Pattern::new(m, k, row_ptr, (0..m / 3).map(|p| (p % k) as u32).collect()).unwrap();
        let values: Vec<f64> = (0..a.nnz()).map(|p| p as f64).collect();
        // Streamed if Y starts at a multiple of 16 bytes, wherever X starts.
        for (of_x, of_y) in [(0, 0), (2, 0), (4, 2), (1, 0), (0, 1), (1, 1)] {
            let mut x = vec![0.0; k * n + 16];
            let at = x.as_ptr().align_offset(64) + of_x;
            x[at..][..k * n].iter_mut().enumerate().for_each(|(p, x)| *x = p as f64);
            let mut y = vec![MaybeUninit::new(5.0); m * n + 16];
            let to = y.as_ptr().align_offset(64) + of_y;
            let y = &mut y[to..][..m * n];
            spmm_part((&a, &values), (&x[at..][..k * n], n), &SpmmPart { rows: 0..m, columns: 0..n }, y);
            for (i, y) in y.chunks_exact(n).enumerate() {
                for (j, y) in y.iter().enumerate() {
                    let want = if (i + 1) % 3 == 0 { (i / 3) as f64 * (i / 3 % k * n + j) as f64 } else { 0.0 };
                    // SAFETY: all elements were initialized before.
                    assert_eq!(unsafe { y.assume_init() }, want);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn a_short_matrix_is_refused() {
        let (a, values) = case();
        let x = vec![0.0; a.ncols() * 3 - 1];
        let part = SpmmPart { rows: 0..1, columns: 0..3 };
        spmm_part((&a, &values), (&x, 3), &part, &mut [MaybeUninit::new(0.0); 3]);
    }
}

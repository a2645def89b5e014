//! y = A·x for floats with + and ×: each row is folded into eight sums, since a single chain of additions would be
//! bound by their latency.
//!
//! Sum s of a row adds its entries s, s + 8, s + 16, … in order, from 0 on; the row is ((s₀ + s₁) + (s₂ + s₃)) + ((s₄ +
//! s₅) + (s₆ + s₇)). Products are rounded before they are added. This is the definition on every processor and for
//! every index type, so results are bitwise the same.

#[cfg(target_arch = "x86_64")]
mod v3;
#[cfg(target_arch = "x86_64")]
mod v4;

use std::any::TypeId;
use std::marker::PhantomData;
use std::ops::{Add, Mul, Range};

use super::dispatch;
use crate::algebra::{Lhs, Out, Plus, PlusTimes, Rhs, Ring, Semiring, Times, TransposedMul};
use crate::{Index, Pattern};

/// Sums of a row.
const SUMS: usize = 8;
/// Prefetch distance in entries, applied per eight entries and at the end of each row: the hardware prefetcher stops at
/// page boundaries. It saves a tenth of the time of short rows, and a third of that of rows of 27.
#[cfg(target_arch = "x86_64")]
const PREFETCH_DISTANCE: usize = 384;

/// Proof that a semiring is + and × on f32 or f64, operands exchanged or not.
#[derive(Clone, Copy)]
pub(crate) struct FloatRows<R>(PhantomData<R>);

/// [`PlusTimes`] of a transposed product.
type Exchanged<T> = Ring<Plus<T>, TransposedMul<Times<T>>>;

impl<R: Semiring> FloatRows<R> {
    pub(crate) fn new(_: R) -> Option<Self> {
        let ring = TypeId::of::<R>();
        let is = |floats: [TypeId; 2]| floats.contains(&ring);
        let floats = is([TypeId::of::<PlusTimes<f32>>(), TypeId::of::<Exchanged<f32>>()])
            || is([TypeId::of::<PlusTimes<f64>>(), TypeId::of::<Exchanged<f64>>()]);
        floats.then_some(Self(PhantomData))
    }

    /// Computes y(i) for some rows, overwriting `y`.
    /// # Panics
    /// If there is not one value per entry and per column, or not one y per row.
    pub(crate) fn rows<I: Index>(
        self,
        (a, values): (&Pattern<I>, &[Lhs<R>]),
        x: &[Rhs<R>],
        rows: Range<usize>,
        y: &mut [Out<R>],
    ) {
        if TypeId::of::<Out<R>>() == TypeId::of::<f64>() {
            // SAFETY: R is + and × on f64 (`new`), whose three types are f64.
            unsafe { float_rows::<f64, I>((a, cast(values)), cast(x), rows, cast_mut(y)) }
        } else {
            // SAFETY: R is + and × on f32 (`new`), whose three types are f32.
            unsafe { float_rows::<f32, I>((a, cast(values)), cast(x), rows, cast_mut(y)) }
        }
    }
}

/// # Safety
/// T and U are the same type.
unsafe fn cast<T, U>(values: &[T]) -> &[U] {
    // SAFETY: by the caller's promise a cast to the same type.
    unsafe { &*(std::ptr::from_ref(values) as *const [U]) }
}

/// # Safety
/// T and U are the same type.
unsafe fn cast_mut<T, U>(values: &mut [T]) -> &mut [U] {
    // SAFETY: by the caller's promise a cast to the same type.
    unsafe { &mut *(std::ptr::from_mut(values) as *mut [U]) }
}

/// f32 or f64.
#[cfg(target_arch = "x86_64")]
trait Float: V3 + V4 + Copy + Default + Add<Output = Self> + Mul<Output = Self> + 'static {}
#[cfg(not(target_arch = "x86_64"))]
trait Float: Copy + Default + Add<Output = Self> + Mul<Output = Self> + 'static {}
impl Float for f32 {}
impl Float for f64 {}

/// The loop of AVX2.
#[cfg(target_arch = "x86_64")]
trait V3: Sized {
    /// # Safety
    /// As [`scalar`]; the processor has AVX2.
    unsafe fn v3(matrix: Rows<'_, u32, Self>, x: &[Self], rows: Range<usize>, y: &mut [Self]);
}

/// The loop of AVX-512.
#[cfg(target_arch = "x86_64")]
trait V4: Sized {
    /// # Safety
    /// As [`scalar`]; the processor has AVX-512; x has at most 2³¹ values.
    unsafe fn v4<const GATHERS: bool>(matrix: Rows<'_, u32, Self>, x: &[Self], rows: Range<usize>, y: &mut [Self]);
}

/// Compressed rows: `row_ptr` delimits columns and values.
#[derive(Clone, Copy)]
struct Rows<'a, I, T> {
    row_ptr: &'a [usize],
    columns: &'a [I],
    values: &'a [T],
}

fn float_rows<T: Float, I: Index>((a, values): (&Pattern<I>, &[T]), x: &[T], rows: Range<usize>, y: &mut [T]) {
    assert!(values.len() == a.nnz() && x.len() == a.ncols());
    assert!(rows.start <= rows.end && rows.end <= a.nrows() && y.len() == rows.len());
    #[cfg(target_arch = "x86_64")]
    if super::register() >= 32 && TypeId::of::<I>() == TypeId::of::<u32>() {
        // SAFETY: I is u32.
        let columns = unsafe { cast::<I, u32>(a.col_idx()) };
        let matrix = Rows { row_ptr: a.row_ptr(), columns, values };
        // SAFETY: as below; the processor has AVX2 or AVX-512.
        return unsafe {
            match super::register() {
                64 if x.len() > 1 << 31 => T::v3(matrix, x, rows, y),
                64 if gathers() => T::v4::<true>(matrix, x, rows, y),
                64 => T::v4::<false>(matrix, x, rows, y),
                _ => T::v3(matrix, x, rows, y),
            }
        };
    }
    let matrix = Rows { row_ptr: a.row_ptr(), columns: a.col_idx(), values };
    // SAFETY: the rows exist, `row_ptr` never decreases and ends at the number of columns (Pattern's invariants), which
    // is the number of values; columns are below `ncols` (Pattern's invariant), the length of x.
    dispatch(|| unsafe { scalar(matrix, x, rows, y) });
}

/// Whether the processor gathers eight values faster than eight loads do: Intel processors with AVX512-FP16. No other
/// vendor has it, and no earlier Intel processor, whose gathers are slow since their security fix (2023).
///
/// Whole products, two threads, with loads and with gathers (ms): rows of 27 in a band 1.80, 1.32, of 1 to 80 1.50,
/// 1.27, of about 8 at random 1.68, 1.44 on a Xeon of 2023; 2.03, 2.29, 1.51, 1.91, 1.38, 1.68 on an EPYC.
#[cfg(target_arch = "x86_64")]
fn gathers() -> bool {
    static FOUND: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    // A safe function from some Rust version on.
    #[allow(unused_unsafe)]
    *FOUND.get_or_init(|| {
        // SAFETY: every 64-bit processor has the instruction, and those with AVX-512 have leaf 7.
        let (maker, features) = unsafe { (std::arch::x86_64::__cpuid(0), std::arch::x86_64::__cpuid_count(7, 0)) };
        // "Genu"; AVX512-FP16.
        maker.ebx == u32::from_le_bytes(*b"Genu") && maker.eax >= 7 && features.edx >> 23 & 1 == 1
    })
}

/// # Safety
/// The rows `rows` of `row_ptr` delimit existing columns and values, and the columns are indices of x. `y` has one
/// value per row.
#[inline(always)]
unsafe fn scalar<T: Float, I: Index>(matrix: Rows<'_, I, T>, x: &[T], rows: Range<usize>, y: &mut [T]) {
    let Rows { row_ptr, columns, values } = matrix;
    for (i, y) in rows.zip(y) {
        // SAFETY: the row exists, with its columns and values.
        let (columns, values) = unsafe {
            let row = *row_ptr.get_unchecked(i)..*row_ptr.get_unchecked(i + 1);
            (columns.get_unchecked(row.clone()), values.get_unchecked(row))
        };
        // SAFETY: columns are indices of x.
        let at = |k: &I| unsafe { *x.get_unchecked(k.get()) };
        let mut sums = [T::default(); SUMS];
        let ((columns, last), (values, last_values)) = (columns.as_chunks::<SUMS>(), values.as_chunks::<SUMS>());
        for (columns, values) in columns.iter().zip(values) {
            for ((sum, k), &value) in sums.iter_mut().zip(columns).zip(values) {
                *sum = *sum + value * at(k);
            }
        }
        for ((sum, k), &value) in sums.iter_mut().zip(last).zip(last_values) {
            *sum = *sum + value * at(k);
        }
        let [a, b, c, d, e, f, g, h] = sums;
        *y = ((a + b) + (c + d)) + ((e + f) + (g + h));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of given lengths and one of 1100, with zeros of both signs, infinity and NaN.
    fn case(len_of: impl Fn(usize) -> usize) -> (Pattern<u32>, Vec<f64>, Vec<f64>) {
        let (nrows, ncols) = (603, 1100);
        let (mut row_ptr, mut columns) = (vec![0], vec![]);
        for i in 0..nrows {
            let len = if i == 100 { ncols } else { len_of(i) };
            let mut row: Vec<u32> =
                (0..len).map(|t| ((i * 31 + t * if len == ncols { 1 } else { 17 }) % ncols) as u32).collect();
            row.sort_unstable();
            row.dedup();
            columns.extend(row);
            row_ptr.push(columns.len());
        }
        let odd = |p: usize| match p % 97 {
            0 => -0.0,
            50 if p > 3000 => f64::INFINITY,
            51 if p > 3500 => f64::NAN,
            _ => ((p * 2_654_435_761) % 1009) as f64 / 64.0 - 7.5,
        };
        let values = (0..columns.len()).map(odd).collect();
        (Pattern::new(nrows, ncols, row_ptr, columns).unwrap(), values, (0..ncols).map(|k| odd(3 * k + 1)).collect())
    }

    /// The definition.
    fn sum<T: Float>(products: impl Iterator<Item = T>) -> T {
        let mut s = [T::default(); SUMS];
        for (t, z) in products.enumerate() {
            s[t % SUMS] = s[t % SUMS] + z;
        }
        ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
    }

    #[test]
    fn every_loop_has_the_bits_of_the_definition() {
        for most in [41, 18, 6] {
            every_loop_has_them_on(&case(|i| i * 7 % most));
        }
        for len in 0..=17 {
            every_loop_has_them_on(&case(|_| len));
        }
        assert!(FloatRows::new(crate::algebra::MinPlus::<f64>::default()).is_none());
    }

    fn every_loop_has_them_on((a, values, x): &(Pattern<u32>, Vec<f64>, Vec<f64>)) {
        let (values32, x32): (Vec<f32>, Vec<f32>) =
            (values.iter().map(|&v| v as f32).collect(), x.iter().map(|&v| v as f32).collect());
        let wide = Pattern::<u64>::new(
            a.nrows(),
            a.ncols(),
            a.row_ptr().to_vec(),
            a.col_idx().iter().map(|&k| u64::from(k)).collect(),
        )
        .unwrap();
        for rows in [0..a.nrows(), 0..0, 3..4, 5..13, 2..99, 95..110, 600..603] {
            let (mut y, mut of_wide) = (vec![1.0; rows.len()], vec![2.0; rows.len()]);
            let mut y32 = vec![3.0f32; rows.len()];
            let ring = FloatRows::new(PlusTimes::<f64>::default()).unwrap();
            ring.rows((a, &values[..]), x, rows.clone(), &mut y);
            #[cfg(target_arch = "x86_64")]
            if crate::simd::register() == 64 {
                let matrix = Rows { row_ptr: a.row_ptr(), columns: a.col_idx(), values: &values[..] };
                let (mut other, way) = (vec![5.0; rows.len()], |gathers, y: &mut [f64]| {
                    // SAFETY: the processor has AVX-512; rows, columns and values are those of a pattern, and x has one
                    // value per column.
                    unsafe {
                        if gathers {
                            f64::v4::<true>(matrix, x, rows.clone(), y);
                        } else {
                            f64::v4::<false>(matrix, x, rows.clone(), y);
                        }
                    }
                });
                way(!gathers(), &mut other);
                assert!(y.iter().zip(&other).all(|(y, z)| y.to_bits() == z.to_bits() || y.is_nan() && z.is_nan()));
            }
            ring.rows((&wide, values), x, rows.clone(), &mut of_wide);
            let ring = FloatRows::new(PlusTimes::<f32>::default()).unwrap();
            ring.rows((a, &values32), &x32, rows.clone(), &mut y32);
            #[cfg(target_arch = "x86_64")]
            if crate::simd::register() >= 32 {
                let matrix = Rows { row_ptr: a.row_ptr(), columns: a.col_idx(), values: &values[..] };
                let of32 = Rows { row_ptr: a.row_ptr(), columns: a.col_idx(), values: &values32[..] };
                let (mut other, mut other32) = (vec![5.0; rows.len()], vec![5.0f32; rows.len()]);
                // SAFETY: the processor has AVX2; rows, columns and values are those of a pattern, and x has one value
                // per column.
                unsafe {
                    f64::v3(matrix, x, rows.clone(), &mut other);
                    f32::v3(of32, &x32, rows.clone(), &mut other32);
                }
                assert!(y.iter().zip(&other).all(|(y, z)| y.to_bits() == z.to_bits() || y.is_nan() && z.is_nan()));
                assert!(y32.iter().zip(&other32).all(|(y, z)| y.to_bits() == z.to_bits() || y.is_nan() && z.is_nan()));
            }
            for (at, i) in rows.enumerate() {
                let (start, ks) = (a.row_ptr()[i], a.row(i));
                let want = sum(ks.iter().enumerate().map(|(t, &k)| values[start + t] * x[k as usize]));
                let same = |z: f64| z.to_bits() == want.to_bits() || z.is_nan() && want.is_nan();
                assert!(same(y[at]) && same(of_wide[at]), "row {i}: {} and {}, not {want}", y[at], of_wide[at]);
                let want = sum(ks.iter().enumerate().map(|(t, &k)| values32[start + t] * x32[k as usize]));
                assert!(y32[at].to_bits() == want.to_bits() || y32[at].is_nan() && want.is_nan(), "row {i}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn a_short_vector_is_refused() {
        let (a, values, x) = case(|i| i * 7 % 41);
        let ring = FloatRows::new(PlusTimes::<f64>::default()).unwrap();
        ring.rows((&a, &values), &x[1..], 0..1, &mut [0.0]);
    }
}

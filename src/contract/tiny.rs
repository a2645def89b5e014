//! C(l) = A(l)·B(l) for row-major squares of one to sixteen rows, all sizes known at compile time.

use crate::algebra::{Arithmetic, Value};
use crate::simd::{Work, dispatch_wide, prefetch_at};

use super::ahead::{line, steps_ahead};
use super::product::{Arrays, Offsets, matrices, tiles};
use super::update::Update;

/// The products of `n` × `n` matrices at the offsets `l`; `contiguous` if they follow one another in all arrays. CPUs
/// without wide registers use the general loops.
pub(super) fn tiny<T: Value, A: Arithmetic<T>>(
    ring: A,
    arrays: Arrays<'_, T>,
    offsets: Offsets<'_>,
    update: Update<T>,
    (n, contiguous): (usize, bool),
) {
    let l = offsets.l;
    let mut arrays = arrays;
    if n == 2 && contiguous && tiles(ring, &mut arrays, offsets, Some(2), update, true) {
        return;
    }
    macro_rules! sizes {
        ($($n:literal $nn:literal;)*) => {
            match n {
                $($n => dispatch_wide(Tiny::<T, A, $n, $nn> { ring, arrays, l, update }).map_err(|tiny| tiny.arrays),)*
                _ => Err(arrays),
            }
        };
    }
    let left = sizes!(1 1; 2 4; 3 9; 4 16; 5 25; 6 36; 7 49; 8 64; 9 81; 10 100; 11 121; 12 144; 13 169; 14 196; 15 225; 16 256;);
    if let Err(arrays) = left {
        matrices(ring, arrays, offsets, update, &mut []);
    }
}

/// N rows, and N².
struct Tiny<'a, T, A, const N: usize, const NN: usize> {
    ring: A,
    arrays: Arrays<'a, T>,
    l: &'a [[usize; 3]],
    update: Update<T>,
}

impl<T: Value, A: Arithmetic<T>, const N: usize, const NN: usize> Work for Tiny<'_, T, A, N, NN> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { ring, arrays: Arrays { a: (a, a_base), b: (b, b_base), c }, l, update } = self;
        let next = steps_ahead::<T>(l, NN);
        let ahead = |data: *const T, at: usize, t: usize| data.wrapping_add(at.wrapping_add(next[t]));
        for &[la, lb, lc] in l {
            let (la, lb) = (a_base.wrapping_add(la), b_base.wrapping_add(lb));
            let next = [ahead(a.as_ptr(), la, 0), ahead(b.as_ptr(), lb, 1), ahead(c.as_ptr(), lc, 2)];
            // Prefetches the cache lines that begin in row i.
            let prefetch_row = |i: usize| {
                let mut at = (i * N).next_multiple_of(line::<T>());
                while at < (i + 1) * N {
                    for next in next {
                        prefetch_at(next.wrapping_add(at));
                    }
                    at += line::<T>();
                }
            };
            // Offsets are read from memory and bounds-checked: otherwise the compiler could vectorize this loop with
            // gathers and scatters.
            let (a, b): (&[T; NN], &[T; NN]) = (matrix(a, la), matrix(b, lb));
            let c: &mut [T; NN] = c[lc..].first_chunk_mut().expect("a matrix of the result");
            let (c, a, b) = (c.as_chunks_mut::<N>().0, a.as_chunks::<N>().0, b.as_chunks::<N>().0);
            // Sums are named variables, so that all stay in registers; four rows share each row of B that is read.
            macro_rules! rows {
                ($first:expr; $($i:literal $row:ident)*) => {{
                    $(let mut $row = [A::ZERO; N];)*
                    for (k, b) in b.iter().enumerate() {
                        $(for (sum, &y) in $row.iter_mut().zip(b) {
                            *sum = ring.fold(*sum, a[$first + $i][k], y);
                        })*
                    }
                    $(prefetch_row($first + $i);
                    update.apply(ring, &mut $row, || c[$first + $i]);
                    c[$first + $i] = $row;)*
                }};
            }
            // Not where the last columns of four rows would be merged into one register, which the compiler then has to
            // split.
            let by_four = if N.is_multiple_of(2) || size_of::<T>() <= 4 { N / 4 } else { 0 };
            for i in (0..by_four).map(|i| 4 * i) {
                rows!(i; 0 r_0 1 r_1 2 r_2 3 r_3);
            }
            for i in 4 * by_four..N {
                rows!(i; 0 r_0);
            }
        }
    }
}

#[inline(always)]
fn matrix<T, const NN: usize>(data: &[T], at: usize) -> &[T; NN] {
    data[at..].first_chunk().expect("a matrix of an operand")
}

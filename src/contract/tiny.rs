//! C(l) = A(l)·B(l) for row-major squares of one to sixteen rows, all sizes known to the compiler.

use crate::algebra::{Arithmetic, Value};
use crate::simd::{Work, dispatch_wide, prefetch_at};

use super::ahead::{line, steps_ahead};
use super::product::{Arrays, Places, matrices, tiles};
use super::update::Update;

/// The products of `n` × `n` matrices at the places `l`; whether each follows the one before in all arrays. On a
/// processor without wide registers these are as any others: it needs no loops of its own.
pub(super) fn tiny<T: Value, A: Arithmetic<T>>(
    ring: A,
    arrays: Arrays<'_, T>,
    places: Places<'_>,
    update: Update<T>,
    (n, beside): (usize, bool),
) {
    let l = places.l;
    let mut arrays = arrays;
    if n == 2 && beside && tiles(ring, &mut arrays, places, Some(2), update, true) {
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
        matrices(ring, arrays, places, update, &mut []);
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
            // The lines that begin in row i.
            let ask = |i: usize| {
                let mut at = (i * N).next_multiple_of(line::<T>());
                while at < (i + 1) * N {
                    for next in next {
                        prefetch_at(next.wrapping_add(at));
                    }
                    at += line::<T>();
                }
            };
            // Places are read from memory and compared with the arrays: the compiler could otherwise make lanes of this
            // loop, which gather and scatter.
            let (a, b): (&[T; NN], &[T; NN]) = (matrix(a, la), matrix(b, lb));
            let c: &mut [T; NN] = c[lc..].first_chunk_mut().expect("a matrix of the result");
            let (c, a, b) = (c.as_chunks_mut::<N>().0, a.as_chunks::<N>().0, b.as_chunks::<N>().0);
            // Each sum has a name, so that all stay in registers; four rows meet each row of B that is read.
            macro_rules! rows {
                ($first:expr; $($i:literal $row:ident)*) => {{
                    $(let mut $row = [A::ZERO; N];)*
                    for (k, b) in b.iter().enumerate() {
                        $(for (sum, &y) in $row.iter_mut().zip(b) {
                            *sum = ring.fold(*sum, a[$first + $i][k], y);
                        })*
                    }
                    $(ask($first + $i);
                    update.apply(ring, &mut $row, || c[$first + $i]);
                    c[$first + $i] = $row;)*
                }};
            }
            // Not where the last columns of four rows make a register of the compiler's, which it then has to take
            // apart.
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

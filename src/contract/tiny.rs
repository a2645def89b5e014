//! C(l) = A(l)·B(l) for row-major squares of one to sixteen rows, all sizes known to the compiler.

use crate::algebra::{Arithmetic, Value};
use crate::simd::{Work, dispatch_work};

use super::product::Arrays;
use super::update::Update;

/// The products of `n` × `n` matrices at the places `l`.
pub(super) fn tiny<T: Value, A: Arithmetic<T>>(
    ring: A,
    arrays: Arrays<'_, T>,
    l: &[[usize; 3]],
    update: Update<T>,
    n: usize,
) {
    macro_rules! sizes {
        ($($n:literal $nn:literal;)*) => {
            match n {
                $($n => dispatch_work(Tiny::<T, A, $n, $nn> { ring, arrays, l, update }),)*
                _ => unreachable!("more rows than a plan gives"),
            }
        };
    }
    sizes!(1 1; 2 4; 3 9; 4 16; 5 25; 6 36; 7 49; 8 64; 9 81; 10 100; 11 121; 12 144; 13 169; 14 196; 15 225; 16 256;);
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
        for &[la, lb, lc] in l {
            // Places are read from memory and compared with the arrays: the compiler could otherwise make lanes of this loop, which
            // gather and scatter.
            let a: &[T; NN] = matrix(a, a_base.wrapping_add(la));
            let b: &[T; NN] = matrix(b, b_base.wrapping_add(lb));
            let c: &mut [T; NN] = c[lc..].first_chunk_mut().expect("a matrix of the result");
            for (c, a) in c.as_chunks_mut::<N>().0.iter_mut().zip(a.as_chunks::<N>().0) {
                let mut row = [A::ZERO; N];
                for (&x, b) in a.iter().zip(b.as_chunks::<N>().0) {
                    for (sum, &y) in row.iter_mut().zip(b) {
                        *sum = ring.fold(*sum, x, y);
                    }
                }
                update.apply(ring, &mut row, || *c);
                *c = row;
            }
        }
    }
}

#[inline(always)]
fn matrix<T, const NN: usize>(data: &[T], at: usize) -> &[T; NN] {
    data[at..].first_chunk().expect("a matrix of an operand")
}

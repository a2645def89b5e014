//! C(l) = A(l)·B(l) for row-major squares of one to eight rows, all sizes known to the compiler.

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
    match n {
        1 => dispatch_work(Tiny::<T, A, 1, 1> { ring, arrays, l, update }),
        2 => dispatch_work(Tiny::<T, A, 2, 4> { ring, arrays, l, update }),
        3 => dispatch_work(Tiny::<T, A, 3, 9> { ring, arrays, l, update }),
        4 => dispatch_work(Tiny::<T, A, 4, 16> { ring, arrays, l, update }),
        5 => dispatch_work(Tiny::<T, A, 5, 25> { ring, arrays, l, update }),
        6 => dispatch_work(Tiny::<T, A, 6, 36> { ring, arrays, l, update }),
        7 => dispatch_work(Tiny::<T, A, 7, 49> { ring, arrays, l, update }),
        _ => dispatch_work(Tiny::<T, A, 8, 64> { ring, arrays, l, update }),
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
                        *sum = ring.plus(*sum, ring.times(x, y));
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

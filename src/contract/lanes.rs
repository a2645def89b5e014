//! C(l, m, n, v) = ⊕ₖ A(l, m, k, v) ⊗ B(l, k, n, v) with v contiguous in all three: interleaved batches of matrices,
//! and elementwise products.

use crate::algebra::{Arithmetic, Value};
use crate::simd::{Work, dispatch_work};

use super::product::{Arrays, Offsets};
use super::update::Update;

/// Computes all of C, for `count` values of v.
pub(super) fn lanes<T: Value, A: Arithmetic<T>>(
    ring: A,
    arrays: Arrays<'_, T>,
    offsets: Offsets<'_>,
    update: Update<T>,
    count: usize,
) {
    let Arrays { a, b, c } = arrays;
    for &[la, lb, lc] in offsets.l {
        let mut v = 0;
        while v < count {
            macro_rules! block {
                ($n:literal) => {{
                    let (a, b) =
                        ((a.0, a.1.wrapping_add(la).wrapping_add(v)), (b.0, b.1.wrapping_add(lb).wrapping_add(v)));
                    dispatch_work(Block::<T, A, $n> { ring, a, b, c: (&mut *c, lc.wrapping_add(v)), offsets, update });
                    v += $n;
                }};
            }
            match count - v {
                32.. => block!(32),
                8.. => block!(8),
                _ => block!(1),
            }
        }
    }
}

struct Block<'a, 'c, T, A, const B: usize> {
    ring: A,
    a: (&'a [T], usize),
    b: (&'a [T], usize),
    c: (&'c mut [T], usize),
    offsets: Offsets<'a>,
    update: Update<T>,
}

impl<T: Value, A: Arithmetic<T>, const B: usize> Work for Block<'_, '_, T, A, B> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { ring, a: (a, a_at), b: (b, b_at), c: (c, c_at), offsets: Offsets { m, n, k, .. }, update } = self;
        for &[ma, mc] in m {
            for &[nb, nc] in n {
                let (a_at, b_at) = (a_at.wrapping_add(ma), b_at.wrapping_add(nb));
                let mut sums = [A::ZERO; B];
                for &[ka, kb] in k {
                    let x: &[T; B] = side_by_side(a, a_at.wrapping_add(ka));
                    let y: &[T; B] = side_by_side(b, b_at.wrapping_add(kb));
                    for ((sum, &x), &y) in sums.iter_mut().zip(x).zip(y) {
                        *sum = ring.fold(*sum, x, y);
                    }
                }
                let at = c_at.wrapping_add(mc).wrapping_add(nc);
                let c: &mut [T; B] = c[at..].first_chunk_mut().expect("lanes of the result");
                update.apply(ring, &mut sums, || *c);
                *c = sums;
            }
        }
    }
}

#[inline(always)]
fn side_by_side<T, const B: usize>(data: &[T], at: usize) -> &[T; B] {
    data[at..].first_chunk().expect("lanes of an operand")
}

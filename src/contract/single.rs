//! C(o) = ⊕ₖ A(o, k): traces, sums, diagonals, permutations.

use crate::algebra::{Arithmetic, Value};

use super::update::Update;

/// Folds of one operand; `run` is the extent and the stride of the last folded index.
pub(super) fn single<T: Value, A: Arithmetic<T>>(
    ring: A,
    (a, base): (&[T], usize),
    c: &mut [T],
    (o, k): (&[[usize; 2]], &[[usize; 1]]),
    run: (usize, isize),
    update: Update<T>,
) {
    for &[oa, oc] in o {
        let mut sum = A::ZERO;
        for &[ka] in k {
            let mut at = base.wrapping_add(oa).wrapping_add(ka);
            for _ in 0..run.0 {
                sum = ring.plus(sum, a[at]);
                at = at.wrapping_add(run.1 as usize);
            }
        }
        let mut value = [sum];
        update.apply(ring, &mut value, || [c[oc]]);
        c[oc] = value[0];
    }
}

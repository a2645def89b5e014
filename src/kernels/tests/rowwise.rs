//! ⊗ given by its type, as a value that multiplies product by product.

use super::super::staged::{Factors, MulRow, Multiplier, Pieces};
use super::super::staged_rows::{MulPairs, PairMultiplier, Pairs};
use crate::algebra::words::word;
use crate::algebra::{At, Host, MulOp, V, Value};

/// ⊗ given by its type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rowwise<M>(pub(super) M);

type Word<M> = <<M as MulOp>::Out as Value>::Word;

impl<M: MulOp> Rowwise<M> {
    fn product(&self, (i, k, j): (usize, usize, u32), x: M::A, y: M::B) -> Word<M> {
        let at = At { i: V(i as u64), k: V(k as u64), j: V(u64::from(j)) };
        word(self.0.mul::<Host>(V(x), V(y), at).0)
    }
}

impl<M: MulOp> Multiplier<Word<M>> for Rowwise<M> {
    fn multiply(&mut self, f: Factors<'_>, out: &mut [Word<M>]) {
        let (x, ys) = (f.x.get::<M::A>().unwrap()[0], f.ys.get::<M::B>().unwrap());
        assert!(ys.len() == out.len() && f.js.len() == out.len());
        for ((z, &y), &j) in out.iter_mut().zip(ys).zip(f.js) {
            *z = self.product((f.i, f.k, j), x, y);
        }
    }
    fn multiply_pieces(&mut self, f: Pieces<'_>, out: &mut [Word<M>]) {
        let (xs, ys) = (f.xs.get::<M::A>().unwrap(), f.ys.get::<M::B>().unwrap());
        assert!(f.js.len() == out.len() && f.pieces.iter().map(|piece| piece.n).sum::<usize>() == out.len());
        let each = f.pieces.iter().flat_map(|piece| (piece.q..piece.q + piece.n).map(move |q| (piece, q)));
        for ((z, (piece, q)), &j) in out.iter_mut().zip(each).zip(f.js) {
            *z = self.product((piece.i, piece.k, j), xs[piece.p], ys[q]);
        }
    }
}

// SAFETY: the words written are those of values of type `M::Out`. Factors of other types than the operator's cause a
// panic.
unsafe impl<M: MulOp> MulRow<Word<M>> for Rowwise<M> {
    fn with(&self, work: &mut dyn FnMut(&mut dyn Multiplier<Word<M>>)) {
        work(&mut { *self });
    }
}

// SAFETY: as above.
unsafe impl<M: MulOp> MulPairs<Word<M>> for Rowwise<M> {
    fn with(&self, work: &mut dyn FnMut(&mut PairMultiplier<'_, Word<M>>)) {
        work(&mut |f: Pairs<'_>, out: &mut [Word<M>]| {
            let (values, x) = (f.values.get::<M::A>().unwrap(), f.x.get::<M::B>().unwrap());
            assert!(values.len() == out.len() && f.ks.len() == out.len());
            let rows = f.rows_of_entries().collect::<Vec<_>>();
            for ((((z, &value), &k), p), i) in out.iter_mut().zip(values).zip(f.ks).zip(f.positions()).zip(rows) {
                if let Some(&x) = x.get(p) {
                    *z = self.product((i, k as usize, 0), value, x);
                }
            }
        });
    }
}

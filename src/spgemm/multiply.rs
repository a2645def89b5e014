//! What a product computes, apart from where it puts it.
//!
//! A semiring makes types, and there are many of them. All that the numeric phases do beside ⊕ and ⊗ is compiled once
//! for a type of values; it reaches the loops over products, which are compiled for each semiring, through
//! [`Multiply`]: once per task of ours, once per row of B in kkSpGEMM's.

use std::sync::Arc;

use super::tasks::Task;
use super::values::RowFiller;
use crate::algebra::{At, BinaryOp, Host, Lhs, Monoid, MulOp, Out, Rhs, Semiring, V};
use crate::par::Slots;
use crate::simd::prefetch;
use crate::{Csr, Index, Pattern};

/// Entries of A ahead of the current one whose rows of B are asked for.
const AHEAD: usize = 8;

/// The products a(i, k) ⊗ b(k, j), summed by ⊕ to values of type `T`.
pub(super) trait Multiply<T, I: Index>: Sync {
    /// Patterns of A and B.
    fn patterns(&self) -> (&Arc<Pattern<I>>, &Arc<Pattern<I>>);
    /// The identity of ⊕.
    fn identity(&self) -> T;
    /// `values[slots[s]]` ⊕= a(i, k) ⊗ b(k, j), with entry `p` of A, which is in row `i`, and entry `q` + s of B.
    fn fold(&self, values: &mut [T], slots: &[usize], i: usize, p: usize, q: usize);
    /// Values of `task` for the columns of `c`, in their order.
    fn fill(&self, filler: &mut RowFiller<T>, c: &Pattern<I>, task: &Task, slots: &mut Slots<'_, T>);
}

/// A semiring and its operands.
pub(super) struct Products<'a, R: Semiring, I: Index> {
    pub ring: R,
    pub a: &'a Csr<Lhs<R>, I>,
    pub b: &'a Csr<Rhs<R>, I>,
}

impl<R: Semiring, I: Index> Multiply<Out<R>, I> for Products<'_, R, I> {
    fn patterns(&self) -> (&Arc<Pattern<I>>, &Arc<Pattern<I>>) {
        (self.a.pattern(), self.b.pattern())
    }
    fn identity(&self) -> Out<R> {
        <R::Add as Monoid>::IDENTITY
    }
    #[inline(never)]
    fn fold(&self, values: &mut [Out<R>], slots: &[usize], i: usize, p: usize, q: usize) {
        let (add, mul) = (self.ring.add(), self.ring.mul());
        let (ks, b) = (self.a.col_idx(), self.b);
        if let Some(k) = ks.get(p + AHEAD) {
            prefetch(b.values(), b.row_ptr()[k.get()]);
        }
        let (k, x) = (ks[p], self.a.values()[p]);
        let entries = q..q + slots.len();
        for ((&j, &y), &slot) in b.col_idx()[entries.clone()].iter().zip(&b.values()[entries]).zip(slots) {
            let at = At { i: V(i as u64), k: V(k.get() as u64), j: V(j.get() as u64) };
            let z = &mut values[slot];
            *z = add.apply::<Host>(V(*z), mul.mul::<Host>(V(x), V(y), at)).0;
        }
    }
    fn fill(&self, filler: &mut RowFiller<Out<R>>, c: &Pattern<I>, task: &Task, slots: &mut Slots<'_, Out<R>>) {
        filler.fill(self, c, task, slots);
    }
}

//! [`Cpu`] as a [`Backend`]: matrices and vectors are those of the host, operations those of [`ops`].

use std::sync::Arc;

use super::Backend;
use super::container::{Container, Mask, Matrices, Vectors};
use crate::algebra::{
    BinaryOp, BindFirst, BindSecond, IndexUnaryOp, Lhs, Monoid, Num, Out, Rhs, Second, Semiring, UnaryOp, Value,
};
use crate::ops::{self, vector};
use crate::par::filled;
use crate::sparse::{MaskSpec, VectorPattern, copied};
use crate::spgemm::{self, Options, Plan, Request};
use crate::{Cpu, Csr, Dense, Index, Pattern, Result, Vector};

impl<T: Value, I: Index> Container<Cpu, I> for Csr<T, I> {
    type Kind = Matrices;
    type Value = T;
    fn count(&self, _: &Cpu) -> Result<usize> {
        Ok(self.nnz())
    }
    fn places(&self, _: &Cpu) -> Result<Arc<Pattern<I>>> {
        Ok(Arc::clone(self.pattern()))
    }
    fn nonzero(&self, m: &Cpu) -> Result<Arc<Pattern<I>>>
    where
        T: Num,
    {
        m.nonzero_matrix(self)
    }
}

/// A pattern is a structural mask.
impl<I: Index> Mask<Cpu, I, Matrices> for Arc<Pattern<I>> {
    fn resolve(self, _: &Cpu) -> Result<(Arc<Pattern<I>>, bool)> {
        Ok((self, false))
    }
}
impl<I: Index> Mask<Cpu, I, Matrices> for Pattern<I> {
    fn resolve(self, _: &Cpu) -> Result<(Arc<Pattern<I>>, bool)> {
        Ok((Arc::new(self), false))
    }
}

/// A pattern is a structural mask.
impl<I: Index> Mask<Cpu, I, Vectors> for Arc<VectorPattern<I>> {
    fn resolve(self, _: &Cpu) -> Result<(Arc<VectorPattern<I>>, bool)> {
        Ok((self, false))
    }
}
impl<I: Index> Mask<Cpu, I, Vectors> for VectorPattern<I> {
    fn resolve(self, _: &Cpu) -> Result<(Arc<VectorPattern<I>>, bool)> {
        Ok((Arc::new(self), false))
    }
}

impl<T: Value, I: Index> Container<Cpu, I> for Vector<T, I> {
    type Kind = Vectors;
    type Value = T;
    fn count(&self, _: &Cpu) -> Result<usize> {
        Ok(self.nnz())
    }
    fn places(&self, _: &Cpu) -> Result<Arc<VectorPattern<I>>> {
        Ok(Arc::clone(self.pattern()))
    }
    fn nonzero(&self, m: &Cpu) -> Result<Arc<VectorPattern<I>>>
    where
        T: Num,
    {
        m.nonzero_vector(self)
    }
}

/// A mask, its pattern not shared.
fn of<'a, I: Index>(mask: MaskSpec<'a, Arc<VectorPattern<I>>>) -> MaskSpec<'a, VectorPattern<I>> {
    MaskSpec::new(mask.pattern, mask.complement)
}

/// Bit for bit the same for any number of threads. Copies of a matrix or a vector share what they hold.
impl<I: Index> Backend<I> for Cpu {
    type Matrix<T: Value> = Csr<T, I>;
    type Vector<T: Value> = Vector<T, I>;
    type Dense<T: Value> = Dense<T>;
    type Pattern = Arc<Pattern<I>>;
    type Places = Arc<VectorPattern<I>>;
    type Plan = Plan<I>;

    fn upload<T: Value>(&self, a: &Csr<T, I>) -> Result<Csr<T, I>> {
        Ok(a.clone())
    }
    fn download<T: Value>(&self, a: &Csr<T, I>) -> Result<Csr<T, I>> {
        Ok(a.clone())
    }
    fn upload_vector<T: Value>(&self, x: &Vector<T, I>) -> Result<Vector<T, I>> {
        Ok(x.clone())
    }
    fn download_vector<T: Value>(&self, x: &Vector<T, I>) -> Result<Vector<T, I>> {
        Ok(x.clone())
    }
    fn upload_dense<T: Value>(&self, a: &Dense<T>) -> Result<Dense<T>> {
        Dense::new(a.nrows(), a.ncols(), copied(a.values(), "a dense matrix")?)
    }
    fn download_dense<T: Value>(&self, a: &Dense<T>) -> Result<Dense<T>> {
        Dense::new(a.nrows(), a.ncols(), copied(a.values(), "a dense matrix")?)
    }

    fn shape<T: Value>(&self, a: &Csr<T, I>) -> (usize, usize) {
        a.shape()
    }
    fn len<T: Value>(&self, x: &Vector<T, I>) -> usize {
        x.len()
    }

    fn symbolic(
        &self,
        a: &Arc<Pattern<I>>,
        b: &Arc<Pattern<I>>,
        mask: Option<(&Arc<Pattern<I>>, bool)>,
        options: &Options,
    ) -> Result<Plan<I>> {
        let mask = mask.map(|(pattern, complement)| (&**pattern, complement));
        spgemm::symbolic(self.threads(), a, b, &Request { options, budget: self.budget, mask })
    }
    fn product<R: Semiring>(
        &self,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
        mask: Option<(&Arc<Pattern<I>>, bool)>,
        options: &Options,
    ) -> Result<Csr<Out<R>, I>> {
        let mask = mask.map(|(pattern, complement)| (&**pattern, complement));
        spgemm::mxm(self.threads(), &Request { options, budget: self.budget, mask }, ring, a, b)
    }
    fn numeric<R: Semiring>(
        &self,
        plan: &Plan<I>,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
    ) -> Result<Csr<Out<R>, I>> {
        spgemm::numeric(self.threads(), self.budget, plan, ring, a, b)
    }
    fn is_of_plan<T: Value>(&self, plan: &Plan<I>, c: &Csr<T, I>) -> bool {
        plan.pattern().is_some_and(|pattern| Arc::ptr_eq(pattern, c.pattern()) || pattern == c.pattern())
    }
    fn numeric_into<R: Semiring>(
        &self,
        plan: &Plan<I>,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
        c: &mut Csr<Out<R>, I>,
    ) -> Result<()> {
        if c.unshared_mut().is_none() {
            // Someone else holds its values, perhaps this very call: they keep theirs.
            plan.check_result(c.pattern())?;
            *c = spgemm::numeric(self.threads(), self.budget, plan, ring, a, b)?;
            return Ok(());
        }
        spgemm::numeric_into(self.threads(), self.budget, plan, ring, a, b, c)
    }
    fn mxv_masked<R: Semiring>(
        &self,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        x: &Vector<Rhs<R>, I>,
        mask: Option<MaskSpec<'_, Arc<VectorPattern<I>>>>,
    ) -> Result<Vector<Out<R>, I>> {
        ops::mxv_entries(self.threads(), ring, a, x, mask.map(of))
    }
    fn vxm_masked<R: Semiring>(
        &self,
        ring: R,
        x: &Vector<Lhs<R>, I>,
        a: &Csr<Rhs<R>, I>,
        mask: Option<MaskSpec<'_, Arc<VectorPattern<I>>>>,
    ) -> Result<Vector<Out<R>, I>> {
        ops::vxm_entries(self.threads(), ring, x, a, mask.map(of))
    }
    fn mxd<R: Semiring>(&self, ring: R, a: &Csr<Lhs<R>, I>, x: &Dense<Rhs<R>>) -> Result<Dense<Out<R>>> {
        ops::mxd(self.threads(), ring, a, x)
    }
    fn transposed<T: Value>(&self, a: &Csr<T, I>) -> Result<Csr<T, I>> {
        a.transpose(self.threads())
    }
    fn reduce_rows_of<P: Monoid>(
        &self,
        monoid: P,
        a: &Csr<P::Out, I>,
        mask: Option<MaskSpec<'_, Arc<VectorPattern<I>>>>,
    ) -> Result<Vector<P::Out, I>> {
        vector::reduce_rows(self.threads(), monoid, a, mask.map(of))
    }

    fn nonzero_matrix<T: Num>(&self, a: &Csr<T, I>) -> Result<Arc<Pattern<I>>> {
        ops::nonzero(self.threads(), a)
    }
    fn restrict_matrix<T: Value>(&self, a: &Csr<T, I>, mask: &Arc<Pattern<I>>, complement: bool) -> Result<Csr<T, I>> {
        ops::restrict(self.threads(), a, mask, complement)
    }
    fn ewise_add_matrices<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        a: &Csr<T, I>,
        b: &Csr<T, I>,
    ) -> Result<Csr<T, I>> {
        ops::ewise_add(self.threads(), op, a, b)
    }
    fn pairs<O: BinaryOp>(
        &self,
        pairing: ops::Pairing,
        op: O,
        a: &Csr<O::A, I>,
        b: &Csr<O::B, I>,
    ) -> Result<Csr<O::Out, I>> {
        pairing.typed(self.threads(), op, a, b)
    }
    fn ewise_union_matrices<O: BinaryOp>(
        &self,
        op: O,
        (a, for_a): (&Csr<O::A, I>, O::A),
        (b, for_b): (&Csr<O::B, I>, O::B),
    ) -> Result<Csr<O::Out, I>> {
        let threads = self.threads();
        let both = ops::ewise_mult(threads, op, a, b)?;
        let of_a = ops::apply(threads, BindSecond(op, for_b), &ops::restrict(threads, a, b.pattern(), true)?)?;
        let of_b = ops::apply(threads, BindFirst(op, for_a), &ops::restrict(threads, b, a.pattern(), true)?)?;
        // No two of the three have an entry at the same place.
        let either = Second::<O::Out, O::Out>::default();
        ops::ewise_add(threads, either, &both, &ops::ewise_add(threads, either, &of_a, &of_b)?)
    }
    fn apply_matrix<O: UnaryOp>(&self, op: O, a: &Csr<O::A, I>) -> Result<Csr<O::Out, I>> {
        ops::apply(self.threads(), op, a)
    }
    fn apply_index_matrix<O: IndexUnaryOp>(&self, op: O, a: &Csr<O::A, I>, s: O::S) -> Result<Csr<O::Out, I>> {
        ops::apply_index(self.threads(), op, a, s)
    }
    fn select_matrix<O: IndexUnaryOp<Out = bool>>(&self, op: O, a: &Csr<O::A, I>, s: O::S) -> Result<Csr<O::A, I>> {
        ops::select(self.threads(), op, a, s)
    }
    fn reduce_matrix<P: Monoid>(&self, monoid: P, a: &Csr<P::Out, I>) -> Result<P::Out> {
        ops::reduce(self.threads(), monoid, a)
    }

    fn nonzero_vector<T: Num>(&self, x: &Vector<T, I>) -> Result<Arc<VectorPattern<I>>> {
        vector::nonzero(x)
    }
    fn restrict_vector<T: Value>(
        &self,
        x: &Vector<T, I>,
        mask: MaskSpec<'_, Arc<VectorPattern<I>>>,
    ) -> Result<Vector<T, I>> {
        x.retained(of(mask))
    }
    fn ewise_add_vectors<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &Vector<T, I>,
        y: &Vector<T, I>,
    ) -> Result<Vector<T, I>> {
        vector::ewise_add(self.threads(), op, x, y)
    }
    fn ewise_mult_vectors<O: BinaryOp>(
        &self,
        op: O,
        x: &Vector<O::A, I>,
        y: &Vector<O::B, I>,
    ) -> Result<Vector<O::Out, I>> {
        vector::ewise_mult(self.threads(), op, x, y)
    }
    fn ewise_union_vectors<O: BinaryOp>(
        &self,
        op: O,
        x: (&Vector<O::A, I>, O::A),
        y: (&Vector<O::B, I>, O::B),
    ) -> Result<Vector<O::Out, I>> {
        vector::ewise_union(self.threads(), op, x, y)
    }
    fn apply_vector<O: UnaryOp>(&self, op: O, x: &Vector<O::A, I>) -> Result<Vector<O::Out, I>> {
        vector::apply(self.threads(), op, x)
    }
    fn apply_index_vector<O: IndexUnaryOp>(&self, op: O, x: &Vector<O::A, I>, s: O::S) -> Result<Vector<O::Out, I>> {
        vector::apply_index(self.threads(), op, x, s)
    }
    fn select_vector<O: IndexUnaryOp<Out = bool>>(
        &self,
        op: O,
        x: &Vector<O::A, I>,
        s: O::S,
    ) -> Result<Vector<O::A, I>> {
        vector::select(op, x, s)
    }
    fn reduce_vector<P: Monoid>(&self, monoid: P, x: &Vector<P::Out, I>) -> Result<P::Out> {
        vector::reduce(self.threads(), monoid, x)
    }
    fn extract_vector<T: Value>(&self, v: &Vector<T, I>, indices: &[I]) -> Result<Vector<T, I>> {
        vector::extract(v, indices)
    }
    fn scatter_vector<T: Value>(&self, v: &Vector<T, I>, indices: &[I], len: usize) -> Result<Vector<T, I>> {
        vector::scatter(v, indices, len)
    }
    fn index_pattern(&self, indices: &[I], len: usize) -> Result<Arc<VectorPattern<I>>> {
        vector::pattern_of(indices, len).map(Arc::new)
    }
    fn full_vector<T: Value>(
        &self,
        len: usize,
        x: T,
        mask: Option<MaskSpec<'_, Arc<VectorPattern<I>>>>,
    ) -> Result<Vector<T, I>> {
        let Some(mask) = mask else { return Vector::constant(len, x) };
        of(mask).check(len)?;
        let pattern = of(mask).complemented()?.map_or_else(|| Arc::clone(mask.pattern), Arc::new);
        let values = filled(pattern.values(), x, "a vector")?;
        Vector::of_values(pattern, Arc::new(values))
    }

    const MASKS_OPERANDS: bool = true;
    fn is_same_vector<T: Value>(&self, x: &Vector<T, I>, y: &Vector<T, I>) -> bool {
        x.is_same(y)
    }
    fn is_own_pattern<T: Value>(&self, x: &Vector<T, I>, pattern: &Arc<VectorPattern<I>>) -> bool {
        Arc::ptr_eq(x.pattern(), pattern)
    }
    fn fills_mask<T: Value>(&self, t: &Vector<T, I>, mask: MaskSpec<'_, Arc<VectorPattern<I>>>) -> bool {
        t.nnz() == of(mask).count()
    }
    fn retain_vector<T: Value>(&self, x: &mut Vector<T, I>, mask: MaskSpec<'_, Arc<VectorPattern<I>>>) -> Result<()> {
        x.retain(of(mask))
    }
    fn put_vector<T: Value>(&self, x: &mut Vector<T, I>, t: Vector<T, I>) -> Result<()> {
        x.put(self.threads(), t, None)
    }
    fn accumulate_vector<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &mut Vector<T, I>,
        t: Vector<T, I>,
    ) -> Result<()> {
        x.put(self.threads(), t, Some(&vector::joins(op)))
    }
    fn assign_masked<T: Value>(
        &self,
        w: &mut Vector<T, I>,
        x: T,
        mask: MaskSpec<'_, Arc<VectorPattern<I>>>,
    ) -> Result<()> {
        of(mask).check(w.len())?;
        w.put_scalar(self.threads(), x, of(mask))
    }
}

//! The [`Kernels`] of [`Cpu`]: host matrices and vectors, and the operations of [`ops`].

use std::sync::Arc;

use super::Kernels;
use super::container::{Container, Mask, Matrices, Vectors};
use super::cpu_hyper::{Aligned, each};
use super::indices::Line;
use crate::algebra::{
    BinaryOp, BindFirst, BindSecond, Host, IndexUnaryOp, Lhs, Monoid, Num, Out, Rhs, Second, Semiring, UnaryOp, V,
    Value,
};
use crate::ops::{self, Direction, vector};
use crate::par::{filled, note};
use crate::sparse::{Described, IndexList, MaskSpec, MatrixPattern, VectorPattern, copied};
use crate::spgemm::{self, Options, Plan, Request};
use crate::{Cpu, Csr, Dense, Error, Index, Pattern, Result, Vector};

impl<T: Value, I: Index> Container<Cpu, I> for Csr<T, I> {
    type Kind = Matrices;
    type Value = T;
    fn count(&self, _: &Cpu) -> Result<usize> {
        Ok(self.nnz())
    }
    fn entry_pattern(&self, _: &Cpu) -> Result<MatrixPattern<I>> {
        Ok(self.settled()?.matrix_pattern())
    }
    fn nonzero(&self, m: &Cpu) -> Result<MatrixPattern<I>>
    where
        T: Num,
    {
        m.nonzero_matrix(self)
    }
}

/// A pattern is a structural mask.
impl<I: Index> Mask<Cpu, I, Matrices> for MatrixPattern<I> {
    fn resolve(self, _: &Cpu) -> Result<(Self, bool)> {
        Ok((self, false))
    }
}
impl<I: Index> Mask<Cpu, I, Matrices> for Arc<Pattern<I>> {
    fn resolve(self, _: &Cpu) -> Result<(MatrixPattern<I>, bool)> {
        Ok((self.into(), false))
    }
}
impl<I: Index> Mask<Cpu, I, Matrices> for Pattern<I> {
    fn resolve(self, _: &Cpu) -> Result<(MatrixPattern<I>, bool)> {
        Ok((Arc::new(self).into(), false))
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
    fn entry_pattern(&self, _: &Cpu) -> Result<Arc<VectorPattern<I>>> {
        Ok(Arc::clone(self.pattern()))
    }
    fn nonzero(&self, m: &Cpu) -> Result<Arc<VectorPattern<I>>>
    where
        T: Num,
    {
        m.nonzero_vector(self)
    }
}

/// The mask with a plain reference to its pattern.
fn of<'a, I: Index>(mask: MaskSpec<'a, Arc<VectorPattern<I>>>) -> MaskSpec<'a, VectorPattern<I>> {
    MaskSpec::new(mask.pattern, mask.complement)
}

/// Notes an operation and its operands for [`explain`](super::Build::explain).
macro_rules! noted {
    ($op:expr $(, $x:expr)*) => {
        note(|| {
            let operands: &[String] = &[$($x.described()),*];
            format!("{}: {}", $op, operands.join("; "))
        })
    };
}

/// Rejects a mask of another shape.
fn check<I: Index>(shape: (usize, usize), mask: &MatrixPattern<I>) -> Result<()> {
    if shape == mask.shape() { Ok(()) } else { Err(Error::Shape { op: "mask", lhs: shape, rhs: mask.shape() }) }
}

/// The entries of two operands in row-major order.
type Pair<A, B, I> = (Vector<A, I>, Vector<B, I>);

impl Cpu {
    /// Both operands in row-major order, if at least one of them is stored so.
    fn both_row_major<A: Value, B: Value, I: Index>(
        &self,
        op: &'static str,
        a: &Csr<A, I>,
        b: &Csr<B, I>,
    ) -> Result<Option<Pair<A, B, I>>> {
        if a.settled()?.as_row_major().is_none() && b.settled()?.as_row_major().is_none() {
            return Ok(None);
        }
        if a.shape() != b.shape() {
            return Err(Error::Shape { op, lhs: a.shape(), rhs: b.shape() });
        }
        Ok(Some((a.to_row_major(self.threads())?, b.to_row_major(self.threads())?)))
    }
}

/// Results are bitwise identical for any number of threads. Clones of a matrix or vector share storage.
impl<I: Index> Kernels<I> for Cpu {
    type Matrix<T: Value> = Csr<T, I>;
    type Vector<T: Value> = Vector<T, I>;
    type Dense<T: Value> = Dense<T>;
    type Pattern = MatrixPattern<I>;
    type VectorPattern = Arc<VectorPattern<I>>;
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
        a: &MatrixPattern<I>,
        b: &MatrixPattern<I>,
        mask: Option<(&MatrixPattern<I>, bool)>,
        options: &Options,
    ) -> Result<Plan<I>> {
        let allowed = mask.map(|mask| mask.0.rows()).transpose()?;
        let mask = allowed.as_ref().zip(mask).map(|(pattern, mask)| (&***pattern, mask.1));
        let (a, b) = (a.rows()?, b.rows()?);
        spgemm::symbolic(self.threads(), &a, &b, &Request { options, budget: self.budget, mask })
    }
    fn product<R: Semiring>(
        &self,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
        mask: Option<(&MatrixPattern<I>, bool)>,
        options: &Options,
    ) -> Result<Csr<Out<R>, I>> {
        noted!("mxm", a, b);
        let spec = mask.map(|(pattern, complement)| MaskSpec::new(pattern, complement));
        if let Some(c) = self.product_hyper(ring, a, b, spec)? {
            return Ok(c);
        }
        let (a, b, mut request) =
            (a.compressed()?, b.compressed()?, Request { options, budget: self.budget, mask: None });
        // A complemented mask does not reduce the visited products, so its bitmap is applied to the finished result.
        if let Some((pattern, true)) = mask
            && pattern.as_row_major().is_some()
        {
            let c = spgemm::mxm(self.threads(), &request, ring, a, b)?;
            return self.apply_mask_matrix(&c, pattern, true);
        }
        let allowed = mask.map(|mask| mask.0.rows()).transpose()?;
        request.mask = allowed.as_ref().zip(mask).map(|(pattern, mask)| (&***pattern, mask.1));
        spgemm::mxm(self.threads(), &request, ring, a, b)
    }
    fn numeric<R: Semiring>(
        &self,
        plan: &Plan<I>,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
    ) -> Result<Csr<Out<R>, I>> {
        noted!("mxm by a plan", a, b);
        spgemm::numeric(self.threads(), self.budget, plan, ring, a.compressed()?, b.compressed()?)
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
            // The values are shared, perhaps with an operand of this call, so new ones are allocated.
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
        noted!("mxv", a, x);
        match self.mxv_hyper(ring, a, x, mask.map(of))? {
            Some(y) => Ok(y),
            None => ops::mxv_entries(self.threads(), ring, a.compressed()?, x, mask.map(of)),
        }
    }
    fn vxm_masked<R: Semiring>(
        &self,
        ring: R,
        x: &Vector<Lhs<R>, I>,
        a: &Csr<Rhs<R>, I>,
        mask: Option<MaskSpec<'_, Arc<VectorPattern<I>>>>,
    ) -> Result<Vector<Out<R>, I>> {
        noted!("vxm", x, a);
        match self.vxm_hyper(ring, x, a, mask.map(of))? {
            Some(y) => Ok(y),
            None => ops::vxm_entries(self.threads(), ring, x, a.compressed()?, mask.map(of)),
        }
    }
    fn is_by_rows<T: Value, X: Value>(
        &self,
        at: &Csr<T, I>,
        x: &Vector<X, I>,
        mask: Option<MaskSpec<'_, Arc<VectorPattern<I>>>>,
        stops: bool,
    ) -> Result<bool> {
        if at.as_hyper().is_some() {
            return Ok(false);
        }
        let (len, rows) = at.shape();
        let allowed = mask.map_or(rows, |mask| of(mask).count());
        let products = ops::products(at.compressed()?.pattern(), x.pattern());
        Ok(Direction { rows, allowed, nnz: at.nnz(), len, entries: x.nnz(), products, stops }.is_by_rows())
    }
    fn spmm_product<R: Semiring>(&self, ring: R, a: &Csr<Lhs<R>, I>, x: &Dense<Rhs<R>>) -> Result<Dense<Out<R>>> {
        noted!("spmm", a, x);
        ops::spmm(self.threads(), ring, a.compressed()?, x)
    }
    fn spmm_product_into<R: Semiring>(
        &self,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        x: &Dense<Rhs<R>>,
        y: &mut Dense<Out<R>>,
    ) -> Result<()> {
        noted!("spmm", a, x);
        ops::spmm_into(self.threads(), ring, a.compressed()?, x, y)
    }
    fn dense_shape<T: Value>(&self, a: &Dense<T>) -> (usize, usize) {
        a.shape()
    }
    fn accumulate_dense<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        y: &mut Dense<T>,
        t: Dense<T>,
    ) -> Result<()> {
        y.values_mut().iter_mut().zip(t.values()).for_each(|(y, &t)| *y = op.apply::<Host>(V(*y), V(t)).0);
        Ok(())
    }
    fn transposed<T: Value>(&self, a: &Csr<T, I>) -> Result<Csr<T, I>> {
        noted!("transpose", a);
        match self.transpose_hyper(a)? {
            Some(c) => Ok(c),
            None => a.compressed()?.transpose(self.threads()),
        }
    }
    fn reduce_rows_of<P: Monoid>(
        &self,
        monoid: P,
        a: &Csr<P::Out, I>,
        mask: Option<MaskSpec<'_, Arc<VectorPattern<I>>>>,
    ) -> Result<Vector<P::Out, I>> {
        noted!("reduce_rows", a);
        match self.reduce_rows_hyper(monoid, a, mask.map(of))? {
            Some(y) => Ok(y),
            None => vector::reduce_rows(self.threads(), monoid, a.compressed()?, mask.map(of)),
        }
    }

    fn nonzero_matrix<T: Num>(&self, a: &Csr<T, I>) -> Result<MatrixPattern<I>> {
        if let Some(rows) = a.settled()?.as_hyper() {
            let stored = Csr::of_stored(rows);
            let kept = ops::nonzero(self.threads(), &stored)?;
            let units = Csr::with_pattern(Arc::clone(&kept), vec![(); kept.nnz()])?;
            return Ok(units.labelled(a.nrows(), Arc::clone(rows.labels()))?.matrix_pattern());
        }
        match a.as_row_major() {
            Some(x) => Ok(MatrixPattern::of_row_major(a.shape(), vector::nonzero(x)?)),
            None => Ok(ops::nonzero(self.threads(), a)?.into()),
        }
    }
    fn apply_mask_matrix<T: Value>(
        &self,
        a: &Csr<T, I>,
        mask: &MatrixPattern<I>,
        complement: bool,
    ) -> Result<Csr<T, I>> {
        noted!("mask", a);
        check(a.shape(), mask)?;
        if let Some(c) = self.apply_mask_hyper(a.settled()?, MaskSpec::new(mask, complement))? {
            return Ok(c);
        }
        if a.as_row_major().is_none() && mask.as_row_major().is_none() {
            return ops::apply_mask(self.threads(), a, &*mask.rows()?, complement);
        }
        let (x, allowed) = (a.to_row_major(self.threads())?, mask.row_major(self.threads())?);
        Csr::from_row_major(a.shape(), x.retained(MaskSpec::new(&allowed, complement))?)
    }
    fn ewise_add_matrices<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        a: &Csr<T, I>,
        b: &Csr<T, I>,
    ) -> Result<Csr<T, I>> {
        noted!("ewise_add", a, b);
        if let Some(both) = Aligned::of("ewise_add", a, b)? {
            return both.labelled(&self.ewise_add_matrices(op, &both.a, &both.b)?);
        }
        match self.both_row_major("ewise_add", a, b)? {
            Some((x, y)) => Csr::from_row_major(a.shape(), vector::ewise_add(self.threads(), op, &x, &y)?),
            None => ops::ewise_add(self.threads(), op, a, b),
        }
    }
    fn pairs<O: BinaryOp>(
        &self,
        pairing: ops::Pairing,
        op: O,
        a: &Csr<O::A, I>,
        b: &Csr<O::B, I>,
    ) -> Result<Csr<O::Out, I>> {
        noted!(pairing.name(), a, b);
        if pairing == ops::Pairing::EwiseMult {
            if let Some(both) = Aligned::of(pairing.name(), a, b)? {
                return both.labelled(&self.pairs(pairing, op, &both.a, &both.b)?);
            }
            if let Some((x, y)) = self.both_row_major(pairing.name(), a, b)? {
                return Csr::from_row_major(a.shape(), vector::ewise_mult(self.threads(), op, &x, &y)?);
            }
        }
        pairing.typed(self.threads(), op, a, b)
    }
    fn ewise_union_matrices<O: BinaryOp>(
        &self,
        op: O,
        (a, for_a): (&Csr<O::A, I>, O::A),
        (b, for_b): (&Csr<O::B, I>, O::B),
    ) -> Result<Csr<O::Out, I>> {
        noted!("ewise_union", a, b);
        let threads = self.threads();
        if let Some(both) = Aligned::of("ewise_union", a, b)? {
            return both.labelled(&self.ewise_union_matrices(op, (&both.a, for_a), (&both.b, for_b))?);
        }
        if let Some((x, y)) = self.both_row_major("ewise_union", a, b)? {
            return Csr::from_row_major(a.shape(), vector::ewise_union(threads, op, (&x, for_a), (&y, for_b))?);
        }
        let both = ops::ewise_mult(threads, op, a, b)?;
        let of_a = ops::apply(threads, BindSecond(op, for_b), &ops::apply_mask(threads, a, b.pattern(), true)?)?;
        let of_b = ops::apply(threads, BindFirst(op, for_a), &ops::apply_mask(threads, b, a.pattern(), true)?)?;
        // The three patterns are disjoint.
        let either = Second::<O::Out, O::Out>::default();
        ops::ewise_add(threads, either, &both, &ops::ewise_add(threads, either, &of_a, &of_b)?)
    }
    fn apply_matrix<O: UnaryOp>(&self, op: O, a: &Csr<O::A, I>) -> Result<Csr<O::Out, I>> {
        noted!("apply", a);
        if let Some(c) = each(a.settled()?, |rows| ops::apply(self.threads(), op, rows))? {
            return Ok(c);
        }
        match a.as_row_major() {
            Some(x) => Csr::from_row_major(a.shape(), vector::apply(self.threads(), op, x)?),
            None => ops::apply(self.threads(), op, a),
        }
    }
    fn apply_index_matrix<O: IndexUnaryOp>(&self, op: O, a: &Csr<O::A, I>, s: O::S) -> Result<Csr<O::Out, I>> {
        noted!("apply_index", a);
        match self.apply_index_hyper(op, a, s)? {
            Some(c) => Ok(c),
            None => ops::apply_index(self.threads(), op, a.compressed()?, s),
        }
    }
    fn select_matrix<O: IndexUnaryOp<Out = bool>>(&self, op: O, a: &Csr<O::A, I>, s: O::S) -> Result<Csr<O::A, I>> {
        noted!("select", a);
        match self.select_hyper(op, a, s)? {
            Some(c) => Ok(c),
            None => self.selected(op, a.compressed()?, s),
        }
    }
    fn reduce_matrix<P: Monoid>(&self, monoid: P, a: &Csr<P::Out, I>) -> Result<P::Out> {
        noted!("reduce", a);
        if let Some(rows) = a.settled()?.as_hyper() {
            return ops::reduce(self.threads(), monoid, &Csr::of_stored(rows));
        }
        match a.as_row_major() {
            Some(x) => vector::reduce(self.threads(), monoid, x),
            None => ops::reduce(self.threads(), monoid, a),
        }
    }
    fn masks_operand<T: Value>(&self, a: &Csr<T, I>) -> bool {
        a.as_row_major().is_some()
    }
    fn is_same_matrix<T: Value>(&self, a: &Csr<T, I>, b: &Csr<T, I>) -> bool {
        a.is_same(b)
    }
    fn retain_matrix<T: Value>(&self, a: &mut Csr<T, I>, mask: MaskSpec<'_, MatrixPattern<I>>) -> Result<()> {
        noted!("remove what the mask does not allow", a);
        check(a.shape(), mask.pattern)?;
        if a.retain(self.threads(), mask)? {
            note(|| "  in place, by position".into());
        } else {
            *a = self.apply_mask_matrix(a, mask.pattern, mask.complement)?;
        }
        Ok(())
    }
    fn accumulate_matrix<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        c: &mut Csr<T, I>,
        t: Csr<T, I>,
    ) -> Result<()> {
        noted!("write into", c, t);
        if c.put(self.threads(), &t, &vector::joins(op))? {
            note(|| "  in place, by position".into());
        } else {
            note(|| "  not in place: the union is a new matrix".into());
            let joined = self.ewise_add_matrices(op, c, &t)?;
            c.replace(joined);
        }
        Ok(())
    }

    fn nonzero_vector<T: Num>(&self, x: &Vector<T, I>) -> Result<Arc<VectorPattern<I>>> {
        vector::nonzero(x)
    }
    fn apply_mask_vector<T: Value>(
        &self,
        x: &Vector<T, I>,
        mask: MaskSpec<'_, Arc<VectorPattern<I>>>,
    ) -> Result<Vector<T, I>> {
        noted!("mask", x);
        x.retained(of(mask))
    }
    fn ewise_add_vectors<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &Vector<T, I>,
        y: &Vector<T, I>,
    ) -> Result<Vector<T, I>> {
        noted!("ewise_add", x, y);
        vector::ewise_add(self.threads(), op, x, y)
    }
    fn ewise_mult_vectors<O: BinaryOp>(
        &self,
        op: O,
        x: &Vector<O::A, I>,
        y: &Vector<O::B, I>,
    ) -> Result<Vector<O::Out, I>> {
        noted!("ewise_mult", x, y);
        vector::ewise_mult(self.threads(), op, x, y)
    }
    fn ewise_union_vectors<O: BinaryOp>(
        &self,
        op: O,
        x: (&Vector<O::A, I>, O::A),
        y: (&Vector<O::B, I>, O::B),
    ) -> Result<Vector<O::Out, I>> {
        noted!("ewise_union", x.0, y.0);
        vector::ewise_union(self.threads(), op, x, y)
    }
    fn apply_vector<O: UnaryOp>(&self, op: O, x: &Vector<O::A, I>) -> Result<Vector<O::Out, I>> {
        noted!("apply", x);
        vector::apply(self.threads(), op, x)
    }
    fn apply_index_vector<O: IndexUnaryOp>(&self, op: O, x: &Vector<O::A, I>, s: O::S) -> Result<Vector<O::Out, I>> {
        noted!("apply_index", x);
        vector::apply_index(self.threads(), op, x, s)
    }
    fn select_vector<O: IndexUnaryOp<Out = bool>>(
        &self,
        op: O,
        x: &Vector<O::A, I>,
        s: O::S,
    ) -> Result<Vector<O::A, I>> {
        noted!("select", x);
        vector::select(op, x, s)
    }
    fn reduce_vector<P: Monoid>(&self, monoid: P, x: &Vector<P::Out, I>) -> Result<P::Out> {
        noted!("reduce", x);
        vector::reduce(self.threads(), monoid, x)
    }
    fn extract_vector<T: Value>(&self, v: &Vector<T, I>, indices: &[I]) -> Result<Vector<T, I>> {
        noted!("extract", v);
        vector::extract(v, indices)
    }
    fn scatter_vector<T: Value>(&self, v: &Vector<T, I>, indices: &[I], len: usize) -> Result<Vector<T, I>> {
        noted!("assign", v);
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

    fn pattern_matrix<T: Value>(&self, pattern: &MatrixPattern<I>, x: T) -> Result<Csr<T, I>> {
        self.of_pattern(pattern, x)
    }
    fn fill_matrix<T: Value>(&self, c: &mut Csr<T, I>, x: T, pattern: &MatrixPattern<I>) -> Result<()> {
        noted!("assign", c);
        self.filled(c, x, pattern)
    }
    fn extract_part<T: Value>(&self, a: &Csr<T, I>, part: (&IndexList, &IndexList)) -> Result<Csr<T, I>> {
        noted!("extract", a);
        self.extracted(a, part)
    }
    fn place_part<T: Value>(
        &self,
        a: &Csr<T, I>,
        part: (&IndexList, &IndexList),
        shape: (usize, usize),
    ) -> Result<Csr<T, I>> {
        noted!("place", a);
        self.placed(a, part, shape)
    }
    fn keep_part<T: Value>(&self, a: &Csr<T, I>, part: (&IndexList, &IndexList)) -> Result<Csr<T, I>> {
        noted!("part", a);
        self.within(a, part)
    }
    fn extract_line<T: Value>(&self, a: &Csr<T, I>, line: &Line) -> Result<Vector<T, I>> {
        noted!("extract a line", a);
        let (rows, cols) = line.part();
        self.line_of(a, (&rows, &cols))
    }
    fn assign_part<T: Value>(
        &self,
        c: &mut Csr<T, I>,
        a: Csr<T, I>,
        part: (&IndexList, &IndexList),
        mask: Option<MaskSpec<'_, MatrixPattern<I>>>,
    ) -> Result<()> {
        noted!("assign", c, a);
        self.assigned(c, a, part, mask)
    }

    fn concat_blocks<T: Value>(&self, blocks: &[&[&Csr<T, I>]]) -> Result<Csr<T, I>> {
        self.joined(blocks)
    }
    fn diagonal_matrix<T: Value>(&self, v: &Vector<T, I>, k: i64) -> Result<Csr<T, I>> {
        self.of_diagonal(v, k)
    }
    fn diagonal_of<T: Value>(&self, a: &Csr<T, I>, k: i64) -> Result<Vector<T, I>> {
        noted!("diagonal", a);
        self.diagonal(a, k)
    }
    fn scatter_fold<P: Monoid>(
        &self,
        monoid: P,
        u: &Vector<P::Out, I>,
        to: (&[I], usize),
        mask: Option<MaskSpec<'_, Arc<VectorPattern<I>>>>,
    ) -> Result<Vector<P::Out, I>> {
        noted!("scatter", u);
        self.scattered(monoid, u, to, mask.map(of))
    }
    fn row_counts<T: Value>(&self, a: &Csr<T, I>) -> Result<Vector<i64, I>> {
        noted!("count", a);
        self.counted(a)
    }
    fn column_counts<T: Value>(&self, a: &Csr<T, I>) -> Result<Vector<i64, I>> {
        if let Some(counts) = self.counted_columns(a)? {
            noted!("count", a);
            return Ok(counts);
        }
        self.row_counts(&Kernels::transposed(self, a)?)
    }
    fn row_arg<T: Num>(&self, a: &Csr<T, I>, greatest: bool) -> Result<Vector<i64, I>> {
        noted!(if greatest { "argmax" } else { "argmin" }, a);
        self.arg_of_rows(a, greatest)
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
        noted!("remove what the mask does not allow", x);
        x.retain(of(mask))
    }
    fn put_vector<T: Value>(&self, x: &mut Vector<T, I>, t: Vector<T, I>) -> Result<()> {
        noted!("write into", x, t);
        x.put(self.threads(), t, None)
    }
    fn accumulate_vector<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &mut Vector<T, I>,
        t: Vector<T, I>,
    ) -> Result<()> {
        noted!("accumulate into", x, t);
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

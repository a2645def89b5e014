//! The [`Kernels`] of [`Cuda`]: matrices and vectors are those of the device. The operations forward to the sibling
//! files, which take printed operators and arrays whose types are known at run time.

use std::sync::Arc;

use super::assign::Assigned;
use super::buffer::{Buffer, RawBuffer};
use super::csr::RawCsr;
use super::pattern::DevicePattern;
use super::spgemm::{Plan, plan_of};
use super::spmspv_block::ByBlock;
use super::vector_form::{Form, RawVector};
use super::vector_ops::row_as_list;
use super::{Cuda, DeviceCsr, DeviceDense, DeviceVector};
use crate::algebra::{
    Any, BinaryOp, First, IndexUnaryOp, Lhs, Monoid, Num, Out, Pair, Printed, Rhs, Ring, Semiring, Slice, Type,
    UnaryOp, Value, printed_binary, printed_index_unary, printed_monoid, printed_ring, printed_unary,
};
use crate::backend::{Container, Kernels, Line, Mask, Matrices, Vectors};
use crate::ops::{Pairing, concat_shape};
use crate::par::collected;
use crate::sparse::{IndexList, MaskSpec};
use crate::spgemm::Options;
use crate::{Csr, Dense, Error, Result, Vector};

impl<T: Value> Container<Cuda, u32> for DeviceCsr<T> {
    type Kind = Matrices;
    type Value = T;
    fn count(&self, _: &Cuda) -> Result<usize> {
        Ok(self.nnz())
    }
    fn entry_pattern(&self, _: &Cuda) -> Result<Arc<DevicePattern>> {
        Ok(Arc::clone(self.pattern()))
    }
    fn nonzero(&self, m: &Cuda) -> Result<Arc<DevicePattern>>
    where
        T: Num,
    {
        m.nonzero_matrix(self)
    }
}

/// The pattern of a vector on the device.
#[derive(Clone, Debug)]
pub struct DeviceVectorPattern(pub(crate) RawVector);

impl<T: Value> Container<Cuda, u32> for DeviceVector<T> {
    type Kind = Vectors;
    type Value = T;
    fn count(&self, m: &Cuda) -> Result<usize> {
        m.vector_nnz_raw(self.raw())
    }
    fn entry_pattern(&self, _: &Cuda) -> Result<DeviceVectorPattern> {
        Ok(DeviceVectorPattern(self.raw().clone()))
    }
    fn nonzero(&self, m: &Cuda) -> Result<DeviceVectorPattern>
    where
        T: Num,
    {
        m.nonzero_vector(self)
    }
}

/// A pattern is a structural mask.
impl Mask<Cuda, u32, Matrices> for Arc<DevicePattern> {
    fn resolve(self, _: &Cuda) -> Result<(Arc<DevicePattern>, bool)> {
        Ok((self, false))
    }
}

/// The rows of a pattern that have entries; `None` if all do.
struct RowsWithEntries(Option<Buffer<bool>>);

impl Cuda {
    /// The rows that have entries, determined once for a pattern.
    fn rows_with_entries(&self, p: &Arc<DevicePattern>) -> Result<Option<Buffer<bool>>> {
        let found = p.facts.get_or_make(|| {
            // Only the presence of a result matters; the values are never read.
            let any = printed_ring(Ring(Any::<bool>::new(), Pair::<bool, bool, bool>::default()));
            let a = RawCsr { pattern: Arc::clone(p), values: self.alloc_raw(Type::Bool, p.nnz, "entries of rows")? };
            let x = self.alloc_raw(Type::Bool, p.ncols, "entries of rows")?;
            let mut rows = self.alloc_raw(Type::Bool, p.nrows, "entries of rows")?;
            self.mxv_raw(None, &any, &a, &x, None, &mut rows)?;
            let v = RawVector::bitmap(Buffer::of(rows)?, self.alloc_raw(Type::Bool, p.nrows, "entries of rows")?);
            let all = self.vector_nnz_raw(&v)? == p.nrows;
            Ok(RowsWithEntries(if all { None } else { v.present().cloned() }))
        })?;
        Ok(found.0.clone())
    }
    /// One value for each row as a vector with entries for the non-empty rows.
    fn of_rows(&self, p: &Arc<DevicePattern>, values: Arc<RawBuffer>) -> Result<RawVector> {
        Ok(match self.rows_with_entries(p)? {
            None => RawVector::full(values),
            Some(rows) => RawVector::bitmap(rows, values),
        })
    }
    /// The pattern of a mask as an array of booleans.
    fn bools(&self, pattern: &DeviceVectorPattern) -> Result<Buffer<bool>> {
        match &pattern.0.form {
            Form::Full => self.filled_bitmap(pattern.0.len),
            Form::Bitmap(present) => Ok(present.flags.clone()),
            Form::List(list) => self.present_of(pattern.0.len, list),
        }
    }
    /// y = A ⊕.⊗ x, for an operator whose types are known at run time.
    pub(crate) fn mxv_vector(
        &self,
        ring: &Printed,
        a: &RawCsr,
        x: &RawVector,
        mask: Option<(&DeviceVectorPattern, bool)>,
    ) -> Result<RawVector> {
        let (nrows, ncols) = a.shape();
        if x.len != ncols {
            return Err(Error::Shape { op: "mxv", lhs: (nrows, ncols), rhs: (x.len, 1) });
        }
        check(mask, nrows)?;
        let y = if matches!(x.form, Form::Full) {
            let bools =
                mask.map(|(pattern, complement)| Ok::<_, Error>((self.bools(pattern)?, complement))).transpose()?;
            let hint = bools.as_ref().map(|(bools, complement)| (&**bools.raw(), *complement));
            let mut values = self.alloc_raw(ring.out, nrows, "the result of mxv")?;
            self.mxv_raw(None, ring, a, &x.values, hint, &mut values)?;
            self.of_rows(&a.pattern, values)?
        } else {
            // A product of matrices visits only the common entries, in the order of A's rows.
            let x = self.transpose_raw(&self.as_row(x)?)?;
            let plan = plan_of(self, Arc::clone(&a.pattern), Arc::clone(&x.pattern), None, &Options::default())?;
            row_as_list(self.transpose_raw(&self.numeric_raw(&plan, ring, a, &x)?)?)
        };
        self.masked(y, mask)
    }
    /// yᵀ = xᵀ ⊕.⊗ A, likewise.
    pub(crate) fn vxm_vector(
        &self,
        ring: &Printed,
        x: &RawVector,
        a: &RawCsr,
        mask: Option<(&DeviceVectorPattern, bool)>,
    ) -> Result<RawVector> {
        let (nrows, ncols) = a.shape();
        if x.len != nrows {
            return Err(Error::Shape { op: "vxm", lhs: (1, x.len), rhs: (nrows, ncols) });
        }
        check(mask, ncols)?;
        x.values.check("the vector of vxm", ring.a)?;
        a.values.check("the matrix of vxm", ring.b)?;
        let form = mask.map(|(pattern, complement)| (&pattern.0.form, complement));
        let nothing = || {
            let (indices, values) = (self.alloc(0, "indices of vxm")?, self.alloc_raw(ring.out, 0, "values of vxm")?);
            Ok(RawVector::list(ncols, indices, values))
        };
        if a.nnz() == 0
            || x.indices().is_some_and(|indices| indices.len() == 0)
            || matches!(form, Some((Form::Full, true)))
        {
            return nothing();
        }
        let bools = || mask.map(|(pattern, complement)| Ok::<_, Error>((self.bools(pattern)?, complement))).transpose();
        if x.indices().is_none() {
            let bools = bools()?;
            let mask = bools.as_ref().map(|(bools, complement)| (&**bools.raw(), *complement));
            if let Some(y) = self.vxm_by_columns(ring, x, a, mask)? {
                return Ok(y);
            }
        }
        let entries = self.entries_raw(x)?;
        if entries.0.len() == 0 {
            return nothing();
        }
        let (indices, values) = match self.vxm_by_block(ring, &entries, a, form)? {
            ByBlock::Entries(found) => found,
            ByBlock::TooMany(products) => {
                let bools = bools()?;
                let mask = bools.as_ref().map(|(bools, complement)| (&**bools.raw(), *complement));
                self.vxm_sorted(ring, &entries, a, mask, products)?
            }
        };
        Ok(RawVector::list(ncols, indices, values))
    }
    /// y(i) = e ⊕ A(i, j) ⊕ …, with entries for the non-empty rows.
    pub(crate) fn reduce_rows_vector(&self, monoid: &Printed, a: &RawCsr) -> Result<RawVector> {
        self.of_rows(&a.pattern, self.reduce_rows_raw(monoid, a)?)
    }
    /// The fills for absent entries of a union, on the device.
    fn fills<T: Value, U: Value>(&self, for_a: T, for_b: U) -> Result<[Arc<RawBuffer>; 2]> {
        Ok([self.scalar(Slice::of(&[for_a]), T::TYPE)?, self.scalar(Slice::of(&[for_b]), U::TYPE)?])
    }
    fn masked(&self, y: RawVector, mask: Option<(&DeviceVectorPattern, bool)>) -> Result<RawVector> {
        match mask {
            None => Ok(y),
            Some((pattern, complement)) => self.vector_apply_mask_raw(&y, &pattern.0, complement),
        }
    }
}

/// A mask's pattern, and whether it is complemented.
fn parts(mask: MaskSpec<'_, DeviceVectorPattern>) -> (&DeviceVectorPattern, bool) {
    (mask.pattern, mask.complement)
}

fn check(mask: Option<(&DeviceVectorPattern, bool)>, expected: usize) -> Result<()> {
    match mask {
        Some((pattern, _)) if pattern.0.len != expected => {
            Err(Error::Length { what: "mask", found: pattern.0.len, expected })
        }
        _ => Ok(()),
    }
}

/// The results of [`Cpu`](crate::Cpu), and the same in every run; [`gpu`](crate::gpu#operations) gives each operation's
/// cost, and says where floats differ in their last bits.
/// # Errors
/// Beside those of the operations: [`Error::DeviceMemory`] with the bytes that are missing, [`Error::Compile`] for an
/// operator whose text does not compile, [`Error::NoCompiler`], [`Error::Device`]; [`Error::IndexOverflow`] for
/// dimensions of 2³² or more, or 2³² products of `vxm`.
impl Kernels for Cuda {
    type Matrix<T: Value> = DeviceCsr<T>;
    type Vector<T: Value> = DeviceVector<T>;
    type Dense<T: Value> = DeviceDense<T>;
    type Pattern = Arc<DevicePattern>;
    type VectorPattern = DeviceVectorPattern;
    type Plan = Plan;

    fn upload<T: Value>(&self, a: &Csr<T>) -> Result<DeviceCsr<T>> {
        Cuda::upload(self, a)
    }
    fn download<T: Value>(&self, a: &DeviceCsr<T>) -> Result<Csr<T>> {
        Cuda::download(self, a)
    }
    fn upload_vector<T: Value>(&self, x: &Vector<T>) -> Result<DeviceVector<T>> {
        match x.as_full() {
            Some(values) => self.upload_full(values),
            None => self.upload_list(&x.to_sparse()?),
        }
    }
    fn download_vector<T: Value>(&self, x: &DeviceVector<T>) -> Result<Vector<T>> {
        if x.is_full() {
            return Vector::full(self.get(&Buffer::of(Arc::clone(&x.raw().values))?, "values of a vector")?);
        }
        self.download_list(x)?.try_into()
    }
    fn upload_dense<T: Value>(&self, a: &Dense<T>) -> Result<DeviceDense<T>> {
        Cuda::upload_dense(self, a)
    }
    fn download_dense<T: Value>(&self, a: &DeviceDense<T>) -> Result<Dense<T>> {
        Cuda::download_dense(self, a)
    }
    fn shape<T: Value>(&self, a: &DeviceCsr<T>) -> (usize, usize) {
        a.shape()
    }
    fn len<T: Value>(&self, x: &DeviceVector<T>) -> usize {
        x.len()
    }

    fn symbolic(
        &self,
        a: &Arc<DevicePattern>,
        b: &Arc<DevicePattern>,
        mask: Option<(&Arc<DevicePattern>, bool)>,
        options: &Options,
    ) -> Result<Plan> {
        plan_of(self, Arc::clone(a), Arc::clone(b), mask, options)
    }
    fn numeric<R: Semiring>(
        &self,
        plan: &Plan,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        b: &DeviceCsr<Rhs<R>>,
    ) -> Result<DeviceCsr<Out<R>>> {
        self.numeric_raw(plan, &printed_ring(ring), &a.raw(), &b.raw())?.typed()
    }
    fn is_of_plan<T: Value>(&self, plan: &Plan, c: &DeviceCsr<T>) -> bool {
        plan.pattern().is_some_and(|planned| Arc::ptr_eq(planned, c.pattern()))
    }
    fn numeric_into<R: Semiring>(
        &self,
        plan: &Plan,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        b: &DeviceCsr<Rhs<R>>,
        c: &mut DeviceCsr<Out<R>>,
    ) -> Result<()> {
        let ring = printed_ring(ring);
        if Arc::get_mut(c.values.raw_mut()).is_none() {
            // The values are shared, perhaps with an operand of this call: write to a new array.
            *c = self.numeric_raw(plan, &ring, &a.raw(), &b.raw())?.typed()?;
            return Ok(());
        }
        self.numeric_into_raw(plan, &ring, &a.raw(), &b.raw(), &c.pattern, c.values.raw_mut())
    }
    fn mxv_masked<R: Semiring>(
        &self,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        x: &DeviceVector<Rhs<R>>,
        mask: Option<MaskSpec<'_, DeviceVectorPattern>>,
    ) -> Result<DeviceVector<Out<R>>> {
        self.mxv_vector(&printed_ring(ring), &a.raw(), x.raw(), mask.map(parts))?.typed()
    }
    fn vxm_masked<R: Semiring>(
        &self,
        ring: R,
        x: &DeviceVector<Lhs<R>>,
        a: &DeviceCsr<Rhs<R>>,
        mask: Option<MaskSpec<'_, DeviceVectorPattern>>,
    ) -> Result<DeviceVector<Out<R>>> {
        self.vxm_vector(&printed_ring(ring), x.raw(), &a.raw(), mask.map(parts))?.typed()
    }
    fn spmm_product<R: Semiring>(
        &self,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        x: &DeviceDense<Rhs<R>>,
    ) -> Result<DeviceDense<Out<R>>> {
        Cuda::spmm_product(self, ring, a, x)
    }
    fn dense_shape<T: Value>(&self, a: &DeviceDense<T>) -> (usize, usize) {
        a.shape()
    }
    fn accumulate_dense<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        y: &mut DeviceDense<T>,
        t: DeviceDense<T>,
    ) -> Result<()> {
        // As full vectors.
        let full = |x: &DeviceDense<T>| RawVector::full(Arc::clone(x.values.raw()));
        let joined = self.vector_ewise_add_raw(&printed_binary(op), None, &full(y), &full(&t))?;
        y.values = Buffer::of(joined.values)?;
        Ok(())
    }
    fn transposed<T: Value>(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        self.transpose_raw(&a.raw())?.typed()
    }
    fn reduce_rows_of<P: Monoid>(
        &self,
        monoid: P,
        a: &DeviceCsr<P::Out>,
        mask: Option<MaskSpec<'_, DeviceVectorPattern>>,
    ) -> Result<DeviceVector<P::Out>> {
        let mask = mask.map(parts);
        check(mask, a.shape().0)?;
        self.masked(self.reduce_rows_vector(&printed_monoid(monoid), &a.raw())?, mask)?.typed()
    }

    fn nonzero_matrix<T: Num>(&self, a: &DeviceCsr<T>) -> Result<Arc<DevicePattern>> {
        self.nonzero_raw(&a.raw())
    }
    fn apply_mask_matrix<T: Value>(
        &self,
        a: &DeviceCsr<T>,
        mask: &Arc<DevicePattern>,
        complement: bool,
    ) -> Result<DeviceCsr<T>> {
        self.apply_mask_raw(&a.raw(), mask, complement)?.typed()
    }
    fn ewise_add_matrices<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        a: &DeviceCsr<T>,
        b: &DeviceCsr<T>,
    ) -> Result<DeviceCsr<T>> {
        self.ewise_add_raw(&printed_binary(op), None, &a.raw(), &b.raw())?.typed()
    }
    fn pairs<O: BinaryOp>(
        &self,
        pairing: Pairing,
        op: O,
        a: &DeviceCsr<O::A>,
        b: &DeviceCsr<O::B>,
    ) -> Result<DeviceCsr<O::Out>> {
        self.pairs_raw(pairing, &printed_binary(op), &a.raw(), &b.raw())?.typed()
    }
    fn ewise_union_matrices<O: BinaryOp>(
        &self,
        op: O,
        (a, for_a): (&DeviceCsr<O::A>, O::A),
        (b, for_b): (&DeviceCsr<O::B>, O::B),
    ) -> Result<DeviceCsr<O::Out>> {
        let fills = self.fills(for_a, for_b)?;
        self.ewise_add_raw(&printed_binary(op), Some(fills.each_ref().map(|x| &**x)), &a.raw(), &b.raw())?.typed()
    }
    fn apply_matrix<O: UnaryOp>(&self, op: O, a: &DeviceCsr<O::A>) -> Result<DeviceCsr<O::Out>> {
        self.apply_raw(&printed_unary(op), &a.raw())?.typed()
    }
    fn apply_index_matrix<O: IndexUnaryOp>(&self, op: O, a: &DeviceCsr<O::A>, s: O::S) -> Result<DeviceCsr<O::Out>> {
        self.apply_at_raw(&printed_index_unary(op), &a.raw(), Slice::of(&[s]))?.typed()
    }
    fn select_matrix<O: IndexUnaryOp<Out = bool>>(
        &self,
        op: O,
        a: &DeviceCsr<O::A>,
        s: O::S,
    ) -> Result<DeviceCsr<O::A>> {
        self.select_raw(&printed_index_unary(op), &a.raw(), Slice::of(&[s]))?.typed()
    }
    fn reduce_matrix<P: Monoid>(&self, monoid: P, a: &DeviceCsr<P::Out>) -> Result<P::Out> {
        self.fold_buffer(monoid, &a.values)
    }

    fn nonzero_vector<T: Num>(&self, x: &DeviceVector<T>) -> Result<DeviceVectorPattern> {
        Ok(DeviceVectorPattern(self.vector_nonzero_raw(x.raw())?))
    }
    fn apply_mask_vector<T: Value>(
        &self,
        x: &DeviceVector<T>,
        mask: MaskSpec<'_, DeviceVectorPattern>,
    ) -> Result<DeviceVector<T>> {
        check(Some(parts(mask)), x.len())?;
        self.vector_apply_mask_raw(x.raw(), &mask.pattern.0, mask.complement)?.typed()
    }
    fn ewise_add_vectors<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &DeviceVector<T>,
        y: &DeviceVector<T>,
    ) -> Result<DeviceVector<T>> {
        self.vector_ewise_add_raw(&printed_binary(op), None, x.raw(), y.raw())?.typed()
    }
    fn ewise_mult_vectors<O: BinaryOp>(
        &self,
        op: O,
        x: &DeviceVector<O::A>,
        y: &DeviceVector<O::B>,
    ) -> Result<DeviceVector<O::Out>> {
        self.vector_ewise_mult_raw(&printed_binary(op), x.raw(), y.raw())?.typed()
    }
    fn ewise_union_vectors<O: BinaryOp>(
        &self,
        op: O,
        (x, for_x): (&DeviceVector<O::A>, O::A),
        (y, for_y): (&DeviceVector<O::B>, O::B),
    ) -> Result<DeviceVector<O::Out>> {
        let fills = self.fills(for_x, for_y)?;
        self.vector_ewise_add_raw(&printed_binary(op), Some(fills.each_ref().map(|x| &**x)), x.raw(), y.raw())?.typed()
    }
    fn apply_vector<O: UnaryOp>(&self, op: O, x: &DeviceVector<O::A>) -> Result<DeviceVector<O::Out>> {
        self.vector_apply_raw(&printed_unary(op), x.raw())?.typed()
    }
    fn apply_index_vector<O: IndexUnaryOp>(
        &self,
        op: O,
        x: &DeviceVector<O::A>,
        s: O::S,
    ) -> Result<DeviceVector<O::Out>> {
        self.vector_apply_at_raw(&printed_index_unary(op), x.raw(), Slice::of(&[s]))?.typed()
    }
    fn select_vector<O: IndexUnaryOp<Out = bool>>(
        &self,
        op: O,
        x: &DeviceVector<O::A>,
        s: O::S,
    ) -> Result<DeviceVector<O::A>> {
        self.vector_select_raw(&printed_index_unary(op), x.raw(), Slice::of(&[s]))?.typed()
    }
    fn reduce_vector<P: Monoid>(&self, monoid: P, x: &DeviceVector<P::Out>) -> Result<P::Out> {
        self.get_at(&Buffer::of(self.vector_reduce_raw(&printed_monoid(monoid), x.raw())?)?, 0)
    }
    fn extract_vector<T: Value>(&self, v: &DeviceVector<T>, indices: &[u32]) -> Result<DeviceVector<T>> {
        self.vector_extract_raw(v.raw(), indices)?.typed()
    }
    fn extract_listed<T: Value>(&self, v: &DeviceVector<T>, list: &IndexList) -> Result<DeviceVector<T>> {
        self.vector_part_raw(v.raw(), list)?.typed()
    }
    fn scatter_vector<T: Value>(&self, v: &DeviceVector<T>, indices: &[u32], len: usize) -> Result<DeviceVector<T>> {
        if v.len() != indices.len() {
            return Err(Error::Length { what: "indices of an assignment", found: indices.len(), expected: v.len() });
        }
        crate::ops::vector::pattern_of(indices, len)?;
        let mut w = self.upload_list_raw(len, &[], Slice::of::<T>(&[]))?;
        self.vector_assign_raw(&mut w, Some(indices), &Assigned::Vector(v.raw()))?;
        w.typed()
    }
    fn index_pattern(&self, indices: &[u32], len: usize) -> Result<DeviceVectorPattern> {
        crate::ops::vector::pattern_of(indices, len)?;
        let mut sorted = collected(indices.len(), indices.iter().copied(), "indices of an assignment")?;
        sorted.sort_unstable();
        let marks = crate::par::filled(sorted.len(), true, "indices of an assignment")?;
        Ok(DeviceVectorPattern(self.upload_list_raw(len, &sorted, Slice::of(&marks))?))
    }
    fn full_vector<T: Value>(
        &self,
        len: usize,
        x: T,
        mask: Option<MaskSpec<'_, DeviceVectorPattern>>,
    ) -> Result<DeviceVector<T>> {
        let mask = mask.map(parts);
        check(mask, len)?;
        let nothing = self.upload_list_raw(len, &[], Slice::of::<T>(&[]))?;
        let full = self.to_full_raw(&nothing, Slice::of(&[x]))?;
        self.masked(full, mask)?.typed()
    }
    fn pattern_matrix<T: Value>(&self, pattern: &Arc<DevicePattern>, x: T) -> Result<DeviceCsr<T>> {
        let nothing = self.upload_list_raw(pattern.nnz(), &[], Slice::of::<T>(&[]))?;
        let values = self.to_full_raw(&nothing, Slice::of(&[x]))?.values;
        RawCsr { pattern: Arc::clone(pattern), values }.typed()
    }
    fn assign_masked<T: Value>(
        &self,
        w: &mut DeviceVector<T>,
        x: T,
        mask: MaskSpec<'_, DeviceVectorPattern>,
    ) -> Result<()> {
        check(Some(parts(mask)), w.len())?;
        self.vector_assign_masked_raw(w.raw_mut(), &mask.pattern.0, mask.complement, Slice::of(&[x]))
    }

    fn extract_part<T: Value>(&self, a: &DeviceCsr<T>, part: (&IndexList, &IndexList)) -> Result<DeviceCsr<T>> {
        self.extract_raw(&a.raw(), part)?.typed()
    }
    fn place_part<T: Value>(
        &self,
        a: &DeviceCsr<T>,
        part: (&IndexList, &IndexList),
        shape: (usize, usize),
    ) -> Result<DeviceCsr<T>> {
        self.place_raw(&a.raw(), part, shape)?.typed()
    }
    fn constant_part<T: Value>(
        &self,
        shape: (usize, usize),
        x: T,
        part: (&IndexList, &IndexList),
    ) -> Result<DeviceCsr<T>> {
        self.constant_raw(Slice::of(&[x]), part, shape)?.typed()
    }
    fn keep_part<T: Value>(&self, a: &DeviceCsr<T>, part: (&IndexList, &IndexList)) -> Result<DeviceCsr<T>> {
        self.within_raw(&a.raw(), part)?.typed()
    }
    fn extract_line<T: Value>(&self, a: &DeviceCsr<T>, line: &Line) -> Result<DeviceVector<T>> {
        match line {
            Line::Row(i, cols) => self.extract_row_raw(&a.raw(), *i, cols)?.typed(),
            Line::Column(rows, j) => self.extract_column_raw(&a.raw(), rows, *j)?.typed(),
        }
    }
    fn assign_part<T: Value>(
        &self,
        c: &mut DeviceCsr<T>,
        a: DeviceCsr<T>,
        part: (&IndexList, &IndexList),
        mask: Option<MaskSpec<'_, Arc<DevicePattern>>>,
    ) -> Result<()> {
        let mask = mask.map(|mask| (mask.pattern, mask.complement));
        *c = self.assign_raw(&c.raw(), &a.raw(), part, mask)?.typed()?;
        Ok(())
    }
    fn diagonal_matrix<T: Value>(&self, v: &DeviceVector<T>, k: i64) -> Result<DeviceCsr<T>> {
        self.diagonal_matrix_raw(v.raw(), k)?.typed()
    }
    fn diagonal_of<T: Value>(&self, a: &DeviceCsr<T>, k: i64) -> Result<DeviceVector<T>> {
        self.diagonal_raw(&a.raw(), k)?.typed()
    }
    fn concat_blocks<T: Value>(&self, blocks: &[&[&DeviceCsr<T>]]) -> Result<DeviceCsr<T>> {
        let shapes = blocks.iter().map(|row| row.iter().map(|a| (a.shape(), a.nnz())).collect());
        let shape = concat_shape::<u32>(&shapes.collect::<Vec<Vec<_>>>())?;
        let blocks: Vec<Vec<_>> = blocks.iter().map(|row| row.iter().map(|a| a.raw()).collect()).collect();
        self.concat_raw(&blocks, shape, T::TYPE)?.typed()
    }
    fn scatter_fold<P: Monoid>(
        &self,
        monoid: P,
        u: &DeviceVector<P::Out>,
        (indices, len): (&[u32], usize),
        mask: Option<MaskSpec<'_, DeviceVectorPattern>>,
    ) -> Result<DeviceVector<P::Out>> {
        if u.len() != indices.len() {
            return Err(Error::Length { what: "indices of a scatter", found: indices.len(), expected: u.len() });
        }
        let mask = mask.map(parts);
        check(mask, len)?;
        let ring = printed_ring(Ring(monoid, First::<P::Out, bool>::default()));
        let folds = self.vector_fold_raw(&ring, u.raw(), &self.upload_indices(len, indices)?, len)?;
        self.masked(folds, mask)?.typed()
    }
    fn row_counts<T: Value>(&self, a: &DeviceCsr<T>) -> Result<DeviceVector<i64>> {
        self.row_counts_raw(a.pattern())?.typed()
    }
    fn column_counts<T: Value>(&self, a: &DeviceCsr<T>) -> Result<DeviceVector<i64>> {
        self.column_counts_raw(a.pattern())?.typed()
    }
    fn row_arg<T: Num>(&self, a: &DeviceCsr<T>, greatest: bool) -> Result<DeviceVector<i64>> {
        self.best_of_rows_raw(&a.raw(), greatest)?.typed()
    }
}

//! What a machine brings: its storage and its kernels.

use super::{Container, DistanceBackend, Line, Matrices, Vectors, indices};
use crate::algebra::{BinaryOp, IndexUnaryOp, Lhs, Monoid, Num, Out, Rhs, Second, Semiring, UnaryOp, Value};
use crate::ops::{Direction, Pairing};
use crate::sparse::{IndexList, MaskSpec};
use crate::spgemm::Options;
use crate::{Csr, Dense, Index, Result, Vector};

/// Storage and kernels of a machine. Everything in [`Backend`](super::Backend) is implemented on top of them, once for
/// all machines.
///
/// # Errors
/// As for [`Backend`](super::Backend).
pub trait Kernels<I: Index = u32>:
    Sized
    + DistanceBackend<
        f32,
        <Self as Kernels<I>>::Matrix<f32>,
        Distances = <Self as Kernels<I>>::Dense<f32>,
        Graph = <Self as Kernels<I>>::Matrix<f32>,
    > + DistanceBackend<
        f64,
        <Self as Kernels<I>>::Matrix<f64>,
        Distances = <Self as Kernels<I>>::Dense<f64>,
        Graph = <Self as Kernels<I>>::Matrix<f64>,
    >
{
    /// A sparse matrix on this backend.
    type Matrix<T: Value>: Container<Self, I, Kind = Matrices, Value = T>;
    /// A vector on this backend.
    type Vector<T: Value>: Container<Self, I, Kind = Vectors, Value = T>;
    /// A dense matrix on this backend.
    type Dense<T: Value>;
    /// The pattern of a matrix.
    type Pattern: Clone;
    /// The pattern of a vector.
    type VectorPattern: Clone;
    /// The plan of a product: its structure.
    type Plan: Clone;

    /// A copy of the matrix on this backend.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn upload<T: Value>(&self, a: &Csr<T, I>) -> Result<Self::Matrix<T>>;
    /// A copy of the matrix in host memory.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn download<T: Value>(&self, a: &Self::Matrix<T>) -> Result<Csr<T, I>>;
    /// A copy of the vector on this backend.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn upload_vector<T: Value>(&self, x: &Vector<T, I>) -> Result<Self::Vector<T>>;
    /// A copy of the vector in host memory.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn download_vector<T: Value>(&self, x: &Self::Vector<T>) -> Result<Vector<T, I>>;
    /// A copy of the dense matrix on this backend.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn upload_dense<T: Value>(&self, a: &Dense<T>) -> Result<Self::Dense<T>>;
    /// A copy of the dense matrix in host memory.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn download_dense<T: Value>(&self, a: &Self::Dense<T>) -> Result<Dense<T>>;

    /// Rows and columns.
    fn shape<T: Value>(&self, a: &Self::Matrix<T>) -> (usize, usize);
    /// Length of a vector.
    fn len<T: Value>(&self, x: &Self::Vector<T>) -> usize;

    /// Rows and columns of a dense matrix.
    fn dense_shape<T: Value>(&self, a: &Self::Dense<T>) -> (usize, usize);

    /// The structure of C = A·B, restricted to the mask or its complement.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn symbolic(
        &self,
        a: &Self::Pattern,
        b: &Self::Pattern,
        mask: Option<(&Self::Pattern, bool)>,
        options: &Options,
    ) -> Result<Self::Plan>;
    /// C = A ⊕.⊗ B, restricted to the mask, without a reusable plan. Backends with a one-pass algorithm override this.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn product<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        b: &Self::Matrix<Rhs<R>>,
        mask: Option<(&Self::Pattern, bool)>,
        options: &Options,
    ) -> Result<Self::Matrix<Out<R>>> {
        self.numeric(&self.symbolic(&a.entry_pattern(self)?, &b.entry_pattern(self)?, mask, options)?, ring, a, b)
    }
    /// Values of C for a plan.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::PatternChanged`](crate::Error::PatternChanged).
    fn numeric<R: Semiring>(
        &self,
        plan: &Self::Plan,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        b: &Self::Matrix<Rhs<R>>,
    ) -> Result<Self::Matrix<Out<R>>>;
    /// Whether the matrix has the structure of the plan, so that its values can be computed in place.
    fn is_of_plan<T: Value>(&self, plan: &Self::Plan, c: &Self::Matrix<T>) -> bool;
    /// Values of C in place.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::PatternChanged`](crate::Error::PatternChanged).
    fn numeric_into<R: Semiring>(
        &self,
        plan: &Self::Plan,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        b: &Self::Matrix<Rhs<R>>,
        c: &mut Self::Matrix<Out<R>>,
    ) -> Result<()>;
    /// y = A ⊕.⊗ x where the mask allows.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn mxv_masked<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        x: &Self::Vector<Rhs<R>>,
        mask: Option<MaskSpec<'_, Self::VectorPattern>>,
    ) -> Result<Self::Vector<Out<R>>>;
    /// yᵀ = xᵀ ⊕.⊗ A where the mask allows.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn vxm_masked<R: Semiring>(
        &self,
        ring: R,
        x: &Self::Vector<Lhs<R>>,
        a: &Self::Matrix<Rhs<R>>,
        mask: Option<MaskSpec<'_, Self::VectorPattern>>,
    ) -> Result<Self::Vector<Out<R>>>;
    /// Whether y = A ⊕.⊗ x is cheaper by rows of A that the mask allows (pull) than by rows of Aᵀ at the indices of x
    /// (push). `at` is Aᵀ; `stops` tells whether the fold of a row is expected to end at its first product.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn is_by_rows<T: Value, X: Value>(
        &self,
        at: &Self::Matrix<T>,
        x: &Self::Vector<X>,
        _mask: Option<MaskSpec<'_, Self::VectorPattern>>,
        _stops: bool,
    ) -> Result<bool> {
        let ((len, rows), nnz, entries) = (self.shape(at), at.count(self)?, x.count(self)?);
        Ok(Direction::estimated((rows, nnz), (len, entries)).is_by_rows())
    }
    /// Y = A ⊕.⊗ X, both dense; an empty row of A gives a row of the identity of ⊕.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn spmm_product<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        x: &Self::Dense<Rhs<R>>,
    ) -> Result<Self::Dense<Out<R>>>;
    /// [`spmm_product`](Self::spmm_product) that overwrites `y`, in place if the backend supports it.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::Shape`](crate::Error::Shape) if `y` has another shape. After
    /// [`Error::Cancelled`](crate::Error::Cancelled) some values may be overwritten.
    fn spmm_product_into<R: Semiring>(
        &self,
        ring: R,
        a: &Self::Matrix<Lhs<R>>,
        x: &Self::Dense<Rhs<R>>,
        y: &mut Self::Dense<Out<R>>,
    ) -> Result<()> {
        let t = self.spmm_product(ring, a, x)?;
        let (lhs, rhs) = (self.dense_shape(y), self.dense_shape(&t));
        if lhs != rhs {
            return Err(crate::Error::Shape { op: "spmm", lhs, rhs });
        }
        *y = t;
        Ok(())
    }
    /// y = y ∘ t, elementwise, for dense matrices of one shape.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn accumulate_dense<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        y: &mut Self::Dense<T>,
        t: Self::Dense<T>,
    ) -> Result<()>;
    /// Aᵀ; rows sorted.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn transposed<T: Value>(&self, a: &Self::Matrix<T>) -> Result<Self::Matrix<T>>;
    /// ⊕ over each non-empty row that the mask allows.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn reduce_rows_of<P: Monoid>(
        &self,
        monoid: P,
        a: &Self::Matrix<P::Out>,
        mask: Option<MaskSpec<'_, Self::VectorPattern>>,
    ) -> Result<Self::Vector<P::Out>>;

    /// The pattern of the nonzero values.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn nonzero_matrix<T: Num>(&self, a: &Self::Matrix<T>) -> Result<Self::Pattern>;
    /// The entries that the mask, or its complement, allows.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn apply_mask_matrix<T: Value>(
        &self,
        a: &Self::Matrix<T>,
        mask: &Self::Pattern,
        complement: bool,
    ) -> Result<Self::Matrix<T>>;
    /// A ∘ B over the union of the patterns; an entry without a counterpart is kept.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn ewise_add_matrices<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        a: &Self::Matrix<T>,
        b: &Self::Matrix<T>,
    ) -> Result<Self::Matrix<T>>;
    /// A ∘ B for the pairs of entries selected by the pairing.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn pairs<O: BinaryOp>(
        &self,
        pairing: Pairing,
        op: O,
        a: &Self::Matrix<O::A>,
        b: &Self::Matrix<O::B>,
    ) -> Result<Self::Matrix<O::Out>>;
    /// A ∘ B over the union of the patterns; the given values replace missing entries.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn ewise_union_matrices<O: BinaryOp>(
        &self,
        op: O,
        a: (&Self::Matrix<O::A>, O::A),
        b: (&Self::Matrix<O::B>, O::B),
    ) -> Result<Self::Matrix<O::Out>>;
    /// f(A).
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn apply_matrix<O: UnaryOp>(&self, op: O, a: &Self::Matrix<O::A>) -> Result<Self::Matrix<O::Out>>;
    /// f(A, s, i, j).
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn apply_index_matrix<O: IndexUnaryOp>(
        &self,
        op: O,
        a: &Self::Matrix<O::A>,
        s: O::S,
    ) -> Result<Self::Matrix<O::Out>>;
    /// The entries for which f(a, s, i, j) holds.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn select_matrix<O: IndexUnaryOp<Out = bool>>(
        &self,
        op: O,
        a: &Self::Matrix<O::A>,
        s: O::S,
    ) -> Result<Self::Matrix<O::A>>;
    /// ⊕ over all entries.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn reduce_matrix<P: Monoid>(&self, monoid: P, a: &Self::Matrix<P::Out>) -> Result<P::Out>;

    /// The pattern of the nonzero values.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn nonzero_vector<T: Num>(&self, x: &Self::Vector<T>) -> Result<Self::VectorPattern>;
    /// The entries that the mask allows.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn apply_mask_vector<T: Value>(
        &self,
        x: &Self::Vector<T>,
        mask: MaskSpec<'_, Self::VectorPattern>,
    ) -> Result<Self::Vector<T>>;
    /// x ∘ y over the union of the patterns; an entry without a counterpart is kept.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn ewise_add_vectors<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &Self::Vector<T>,
        y: &Self::Vector<T>,
    ) -> Result<Self::Vector<T>>;
    /// x ∘ y over the intersection of the patterns.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn ewise_mult_vectors<O: BinaryOp>(
        &self,
        op: O,
        x: &Self::Vector<O::A>,
        y: &Self::Vector<O::B>,
    ) -> Result<Self::Vector<O::Out>>;
    /// x ∘ y over the union of the patterns; the given values replace missing entries.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn ewise_union_vectors<O: BinaryOp>(
        &self,
        op: O,
        x: (&Self::Vector<O::A>, O::A),
        y: (&Self::Vector<O::B>, O::B),
    ) -> Result<Self::Vector<O::Out>>;
    /// f(x).
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn apply_vector<O: UnaryOp>(&self, op: O, x: &Self::Vector<O::A>) -> Result<Self::Vector<O::Out>>;
    /// f(x, s, i, 0).
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn apply_index_vector<O: IndexUnaryOp>(
        &self,
        op: O,
        x: &Self::Vector<O::A>,
        s: O::S,
    ) -> Result<Self::Vector<O::Out>>;
    /// The entries for which f(x, s, i, 0) holds.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn select_vector<O: IndexUnaryOp<Out = bool>>(
        &self,
        op: O,
        x: &Self::Vector<O::A>,
        s: O::S,
    ) -> Result<Self::Vector<O::A>>;
    /// ⊕ over all entries.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn reduce_vector<P: Monoid>(&self, monoid: P, x: &Self::Vector<P::Out>) -> Result<P::Out>;
    /// w(p) = v(indices(p)).
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::IndexRange`](crate::Error::IndexRange).
    fn extract_vector<T: Value>(&self, v: &Self::Vector<T>, indices: &[I]) -> Result<Self::Vector<T>>;
    /// [`extract_vector`](Self::extract_vector) with an index list. Backends that cache lists in device memory override
    /// this.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::ListIndex`](crate::Error::ListIndex).
    fn extract_listed<T: Value>(&self, v: &Self::Vector<T>, list: &IndexList) -> Result<Self::Vector<T>> {
        self.extract_vector(v, &indices::list_of(list, "indices", self.len(v))?)
    }
    /// The vector of length `len` with w(indices(p)) = v(p).
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::IndexRange`](crate::Error::IndexRange),
    /// [`Error::Duplicate`](crate::Error::Duplicate).
    fn scatter_vector<T: Value>(&self, v: &Self::Vector<T>, indices: &[I], len: usize) -> Result<Self::Vector<T>>;
    /// The pattern of `indices`, of length `len`.
    /// # Errors
    /// As for [`scatter_vector`](Self::scatter_vector).
    fn index_pattern(&self, indices: &[I], len: usize) -> Result<Self::VectorPattern>;
    /// The vector with `x` where the mask allows; full without a mask.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn full_vector<T: Value>(
        &self,
        len: usize,
        x: T,
        mask: Option<MaskSpec<'_, Self::VectorPattern>>,
    ) -> Result<Self::Vector<T>>;

    /// The matrix with `x` at the entries of a pattern.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn pattern_matrix<T: Value>(&self, pattern: &Self::Pattern, x: T) -> Result<Self::Matrix<T>>;
    /// A(I, J).
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::ListIndex`](crate::Error::ListIndex).
    fn extract_part<T: Value>(&self, a: &Self::Matrix<T>, part: (&IndexList, &IndexList)) -> Result<Self::Matrix<T>>;
    /// The matrix of this shape whose submatrix (I, J) is A.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::ListIndex`](crate::Error::ListIndex),
    /// [`Error::RepeatedIndex`](crate::Error::RepeatedIndex).
    fn place_part<T: Value>(
        &self,
        a: &Self::Matrix<T>,
        part: (&IndexList, &IndexList),
        shape: (usize, usize),
    ) -> Result<Self::Matrix<T>>;
    /// The matrix of this shape with one value at each (i, j) of I × J; the lists may repeat indices.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::ListIndex`](crate::Error::ListIndex).
    fn constant_part<T: Value>(
        &self,
        shape: (usize, usize),
        x: T,
        part: (&IndexList, &IndexList),
    ) -> Result<Self::Matrix<T>> {
        self.upload(&Csr::constant_at(shape, x, part)?)
    }
    /// The entries A(i, j) with i in I and j in J.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::ListIndex`](crate::Error::ListIndex).
    fn keep_part<T: Value>(&self, a: &Self::Matrix<T>, part: (&IndexList, &IndexList)) -> Result<Self::Matrix<T>>;
    /// C(i, j) = x at the entries of a pattern of C's shape; other entries are kept.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::Shape`](crate::Error::Shape).
    fn fill_matrix<T: Value>(&self, c: &mut Self::Matrix<T>, x: T, pattern: &Self::Pattern) -> Result<()> {
        let (t, lhs) = (self.pattern_matrix(pattern, x)?, self.shape(c));
        if self.shape(&t) != lhs {
            return Err(crate::Error::Shape { op: "mask", lhs, rhs: self.shape(&t) });
        }
        self.accumulate_matrix(Second::<T, T>::default(), c, t)
    }
    /// A row or column of A, restricted to an index list.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::ListIndex`](crate::Error::ListIndex).
    fn extract_line<T: Value>(&self, a: &Self::Matrix<T>, line: &Line) -> Result<Self::Vector<T>>;
    /// C(I, J) = A where the mask allows; other entries of C are kept.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::ListIndex`](crate::Error::ListIndex),
    /// [`Error::RepeatedIndex`](crate::Error::RepeatedIndex).
    fn assign_part<T: Value>(
        &self,
        c: &mut Self::Matrix<T>,
        a: Self::Matrix<T>,
        part: (&IndexList, &IndexList),
        mask: Option<MaskSpec<'_, Self::Pattern>>,
    ) -> Result<()>;

    /// The matrix that the blocks make up.
    /// # Errors
    /// As for [`Backend::concat`](super::Backend::concat).
    fn concat_blocks<T: Value>(&self, blocks: &[&[&Self::Matrix<T>]]) -> Result<Self::Matrix<T>>;
    /// The square matrix whose diagonal k is v.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::IndexOverflow`](crate::Error::IndexOverflow).
    fn diagonal_matrix<T: Value>(&self, v: &Self::Vector<T>, k: i64) -> Result<Self::Matrix<T>>;
    /// The diagonal k of A.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn diagonal_of<T: Value>(&self, a: &Self::Matrix<T>, k: i64) -> Result<Self::Vector<T>>;
    /// T(i) = u(p) ⊕ u(q) ⊕ … over the p, q, … whose target index is i, where the mask allows; `to` has the target
    /// indices and the length of T.
    /// # Errors
    /// See [`Backend`](super::Backend); [`Error::IndexRange`](crate::Error::IndexRange).
    fn scatter_fold<P: Monoid>(
        &self,
        monoid: P,
        u: &Self::Vector<P::Out>,
        to: (&[I], usize),
        mask: Option<MaskSpec<'_, Self::VectorPattern>>,
    ) -> Result<Self::Vector<P::Out>>;
    /// Number of entries of each non-empty row.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn row_counts<T: Value>(&self, a: &Self::Matrix<T>) -> Result<Self::Vector<i64>>;
    /// Number of entries of each non-empty column. Backends that count columns without a transpose override this.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn column_counts<T: Value>(&self, a: &Self::Matrix<T>) -> Result<Self::Vector<i64>> {
        self.row_counts(&self.transposed(a)?)
    }
    /// The column of the first minimum or maximum of each row.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn row_arg<T: Num>(&self, a: &Self::Matrix<T>, greatest: bool) -> Result<Self::Vector<i64>>;

    /// Whether elementwise operations on vectors apply their mask to the operands: for backends where this costs at
    /// most O(nnz of the mask).
    const MASKS_OPERANDS: bool = false;
    /// Whether an elementwise operation applies its mask to this operand, which should cost at most O(nnz of the mask).
    fn masks_operand<T: Value>(&self, _: &Self::Matrix<T>) -> bool {
        false
    }
    /// Whether both share one storage; an operation between them can then be written in place.
    fn is_same_matrix<T: Value>(&self, _: &Self::Matrix<T>, _: &Self::Matrix<T>) -> bool {
        false
    }
    /// Keeps the entries that the mask allows. Backends that write in place override this and the next method.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn retain_matrix<T: Value>(&self, x: &mut Self::Matrix<T>, mask: MaskSpec<'_, Self::Pattern>) -> Result<()> {
        *x = self.apply_mask_matrix(x, mask.pattern, mask.complement)?;
        Ok(())
    }
    /// x = x ∘ t over the union of the patterns; an entry without a counterpart is kept.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn accumulate_matrix<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &mut Self::Matrix<T>,
        t: Self::Matrix<T>,
    ) -> Result<()> {
        *x = self.ewise_add_matrices(op, x, &t)?;
        Ok(())
    }
    /// Whether both share one storage; an operation between them can then be written in place.
    fn is_same_vector<T: Value>(&self, _: &Self::Vector<T>, _: &Self::Vector<T>) -> bool {
        false
    }
    /// Whether the pattern shares the storage of x's pattern.
    fn is_own_pattern<T: Value>(&self, _: &Self::Vector<T>, _: &Self::VectorPattern) -> bool {
        false
    }
    /// Whether t, whose entries the mask allows, is known to have an entry at every allowed index.
    fn fills_mask<T: Value>(&self, _: &Self::Vector<T>, _: MaskSpec<'_, Self::VectorPattern>) -> bool {
        false
    }
    /// Keeps the entries that the mask allows. Backends that write in place override this and the next three methods.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn retain_vector<T: Value>(&self, x: &mut Self::Vector<T>, mask: MaskSpec<'_, Self::VectorPattern>) -> Result<()> {
        *x = self.apply_mask_vector(x, mask)?;
        Ok(())
    }
    /// Overwrites x by the entries of t; other entries of x are kept.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn put_vector<T: Value>(&self, x: &mut Self::Vector<T>, t: Self::Vector<T>) -> Result<()> {
        self.accumulate_vector(Second::<T, T>::default(), x, t)
    }
    /// x = x ∘ t over the union of the patterns; an entry without a counterpart is kept.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn accumulate_vector<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        x: &mut Self::Vector<T>,
        t: Self::Vector<T>,
    ) -> Result<()> {
        *x = self.ewise_add_vectors(op, x, &t)?;
        Ok(())
    }
    /// w(i) = `x` where the mask allows; other entries are kept.
    /// # Errors
    /// See [`Backend`](super::Backend).
    fn assign_masked<T: Value>(
        &self,
        w: &mut Self::Vector<T>,
        x: T,
        mask: MaskSpec<'_, Self::VectorPattern>,
    ) -> Result<()> {
        let t = self.full_vector(self.len(w), x, Some(mask))?;
        self.put_vector(w, t)
    }
}

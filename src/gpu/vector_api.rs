//! Operations on vectors of a type: [`DeviceVector`].

use super::Cuda;
use super::buffer::Buffer;
use super::vector_form::DeviceVector;
use super::vector_ops::Assigned;
use crate::Result;
use crate::algebra::{
    BinaryOp, IndexUnaryOp, Monoid, Slice, UnaryOp, Value, printed_binary, printed_index_unary, printed_monoid,
    printed_unary,
};

impl Cuda {
    /// w(i) = u(i) ∘ v(i) where both have an entry.
    ///
    /// Cost: O(n) kernels; of a list and a vector of another form, O(nnz) of the list; of two lists, a binary search for each
    /// entry of u.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape); [`Error::DeviceMemory`](crate::Error::DeviceMemory),
    /// [`Error::Compile`](crate::Error::Compile), [`Error::Device`](crate::Error::Device).
    pub fn vector_ewise_mult<O: BinaryOp>(
        &self,
        op: O,
        u: &DeviceVector<O::A>,
        v: &DeviceVector<O::B>,
    ) -> Result<DeviceVector<O::Out>> {
        self.vector_ewise_mult_raw(&printed_binary(op), u.raw(), v.raw())?.typed()
    }
    /// w(i) = u(i) ∘ v(i) where both have an entry, and the entry of the one that has it elsewhere.
    ///
    /// Cost: O(n) kernels; of two lists, a binary search for each entry.
    /// # Errors
    /// Those of [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_ewise_add<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        u: &DeviceVector<T>,
        v: &DeviceVector<T>,
    ) -> Result<DeviceVector<T>> {
        self.vector_ewise_add_raw(&printed_binary(op), None, u.raw(), v.raw())?.typed()
    }
    /// w(i) = u(i) ∘ v(i) where either has an entry, `u_fill` or `v_fill` in place of the one that is absent.
    ///
    /// Cost: that of [`vector_ewise_add`](Self::vector_ewise_add). Other fills compile nothing anew.
    /// # Errors
    /// Those of [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_ewise_union<O: BinaryOp>(
        &self,
        op: O,
        u: &DeviceVector<O::A>,
        u_fill: O::A,
        v: &DeviceVector<O::B>,
        v_fill: O::B,
    ) -> Result<DeviceVector<O::Out>> {
        let what = "what stands in for absent entries";
        let (of_u, of_v) = (self.put(&[u_fill], what)?, self.put(&[v_fill], what)?);
        self.vector_ewise_add_raw(&printed_binary(op), Some([&of_u, &of_v]), u.raw(), v.raw())?.typed()
    }
    /// w(i) = f(u(i)) at the places of u.
    /// # Errors
    /// Those of [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_apply<O: UnaryOp>(&self, op: O, u: &DeviceVector<O::A>) -> Result<DeviceVector<O::Out>> {
        self.vector_apply_raw(&printed_unary(op), u.raw())?.typed()
    }
    /// w(i) = f(u(i), s, i, 0) at the places of u. Another `s` compiles nothing anew.
    /// # Errors
    /// Those of [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_apply_at<O: IndexUnaryOp>(
        &self,
        op: O,
        u: &DeviceVector<O::A>,
        s: O::S,
    ) -> Result<DeviceVector<O::Out>> {
        self.vector_apply_at_raw(&printed_index_unary(op), u.raw(), Slice::of(&[s]))?.typed()
    }
    /// The entries of u for which f(u(i), s, i, 0) holds. Another `s` compiles nothing anew.
    /// # Errors
    /// Those of [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_select<O: IndexUnaryOp<Out = bool>>(
        &self,
        op: O,
        u: &DeviceVector<O::A>,
        s: O::S,
    ) -> Result<DeviceVector<O::A>> {
        self.vector_select_raw(&printed_index_unary(op), u.raw(), Slice::of(&[s]))?.typed()
    }
    /// e ⊕ all entries of u, e the identity of ⊕, in the order of [`reduce`](Self::reduce): it depends on the number of
    /// entries alone, not on the vector's form.
    /// # Errors
    /// Those of [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_reduce<M: Monoid>(&self, monoid: M, u: &DeviceVector<M::Out>) -> Result<M::Out> {
        self.get_at(&Buffer::of(self.vector_reduce_raw(&printed_monoid(monoid), u.raw())?)?, 0)
    }
    /// The entries of v at the places of a mask, or with `complement` at the others. The mask's values do not matter.
    ///
    /// Cost: O(n) kernels; of a list, or of a mask that is one, O(nnz) of it.
    /// # Errors
    /// Those of [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_restrict<T: Value, S: Value>(
        &self,
        v: &DeviceVector<T>,
        mask: &DeviceVector<S>,
        complement: bool,
    ) -> Result<DeviceVector<T>> {
        self.vector_restrict_raw(v.raw(), mask.raw(), complement)?.typed()
    }
    /// The entries of v whose value is not 0: what a mask that goes by values means. NaN is not 0.
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for structs; those of
    /// [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_nonzero<T: Value>(&self, v: &DeviceVector<T>) -> Result<DeviceVector<T>> {
        self.vector_nonzero_raw(v.raw())?.typed()
    }
    /// w(k) = v(places(k)), where v has that entry. Places may come in any order and more than once.
    /// # Errors
    /// [`Error::IndexRange`](crate::Error::IndexRange); those of [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_extract<T: Value>(&self, v: &DeviceVector<T>, places: &[u32]) -> Result<DeviceVector<T>> {
        self.vector_extract_raw(v.raw(), places)?.typed()
    }
    /// w(places(k)) = u(k): where u has no entry, w has none then. Of equal places the last counts. Without places, w = u.
    /// # Errors
    /// [`Error::IndexRange`](crate::Error::IndexRange), [`Error::Length`](crate::Error::Length); those of
    /// [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_assign<T: Value>(
        &self,
        w: &mut DeviceVector<T>,
        places: Option<&[u32]>,
        u: &DeviceVector<T>,
    ) -> Result<()> {
        self.vector_assign_raw(w.raw_mut(), places, &Assigned::Vector(u.raw()))
    }
    /// w(places(k)) = x; without places, everywhere.
    /// # Errors
    /// Those of [`vector_assign`](Self::vector_assign).
    pub fn vector_assign_scalar<T: Value>(&self, w: &mut DeviceVector<T>, places: Option<&[u32]>, x: T) -> Result<()> {
        self.vector_assign_raw(w.raw_mut(), places, &Assigned::Scalar(Slice::of(&[x])))
    }
    /// w(i) = x at the places of a mask, or with `complement` at the others. The mask's values do not matter.
    ///
    /// Cost: O(nnz) of a mask that is a list, if w is none and no one shares its values; else O(n).
    /// # Errors
    /// Those of [`vector_ewise_mult`](Self::vector_ewise_mult).
    pub fn vector_assign_where<T: Value, S: Value>(
        &self,
        w: &mut DeviceVector<T>,
        mask: &DeviceVector<S>,
        complement: bool,
        x: T,
    ) -> Result<()> {
        self.vector_assign_where_raw(w.raw_mut(), mask.raw(), complement, Slice::of(&[x]))
    }
}

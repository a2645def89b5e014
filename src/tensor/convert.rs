//! Conversions of tensors to and from matrices and dense arrays; slices and permutations.

use super::coo::{check_dims, mode_name};
use super::order::check_mode;
use super::{AnyTensor, Tensor};
use crate::algebra::{Host, Monoid, Real, V, Value};
use crate::par::{Threads, collected, filled, out_of_memory};
use crate::{Coo, Csr, Error, Index, Result};

impl<T: Value, I: Index> Tensor<T, I> {
    /// The matricized tensor: the indices in `rows` determine the row of an entry, those in `cols` its column; together
    /// they are all modes. The first of several modes varies fastest: row = Σₖ i(rows\[k\]) · Πₗ₍ₗ﹤ₖ₎ n(rows\[l\]).
    /// `duplicates` folds duplicate entries.
    ///
    /// With `rows` = \[n\] and `cols` the other modes in increasing order it is X₍ₙ₎ of Kolda and Bader 2009, §2.4.
    /// # Errors
    /// [`Error::Argument`] if a mode is missing or given twice; [`Error::IndexOverflow`] if the number of columns does
    /// not fit `J` or that of rows does not fit `usize`; [`Error::OutOfMemory`].
    pub fn matricize<J: Index, O: Monoid<Out = T>>(
        &self,
        rows: &[usize],
        cols: &[usize],
        duplicates: O,
    ) -> Result<Csr<T, J>> {
        let both: Vec<usize> = rows.iter().chain(cols).copied().collect();
        self.check_all_modes(&both)?;
        let (nrows, ncols) = (product(self.dims(), rows, usize::MAX)?, product(self.dims(), cols, J::MAX_LEN)?);
        // More rows than `J` can index: convert through 64-bit indices.
        if nrows <= J::MAX_LEN {
            return Coo::<T, J>::new(nrows, ncols, self.joined(rows)?, self.joined(cols)?, self.copied_values()?)?
                .to_csr(duplicates);
        }
        let wide = Coo::<T, u64>::new(nrows, ncols, self.joined(rows)?, self.joined(cols)?, self.copied_values()?)?
            .to_csr(duplicates)?
            .into_compressed()?;
        let cols = wide.col_idx().iter().map(|j| J::cast(j.get()));
        let cols = collected(wide.nnz(), cols, "column indices")?;
        Csr::new(nrows, ncols, wide.row_ptr().to_vec(), cols, wide.values().to_vec())
    }

    /// The tensor of dimensions `dims` whose matricization by `rows` and `cols` is `a`: the inverse of
    /// [`matricize`](Self::matricize).
    /// # Errors
    /// [`Error::Argument`] if a mode is missing or given twice; [`Error::Shape`] if the shape of `a` does not match the
    /// dimensions; [`Error::IndexOverflow`] if a dimension does not fit `I`; [`Error::OutOfMemory`].
    pub fn from_matrix<J: Index>(a: &Csr<T, J>, dims: Vec<usize>, rows: &[usize], cols: &[usize]) -> Result<Self> {
        let mut x = Self::empty(dims)?;
        let both: Vec<usize> = rows.iter().chain(cols).copied().collect();
        x.check_all_modes(&both)?;
        let shape = (product(x.dims(), rows, usize::MAX)?, product(x.dims(), cols, usize::MAX)?);
        if shape != a.shape() {
            return Err(Error::Shape { op: "tensor of a matrix", lhs: shape, rhs: a.shape() });
        }
        let mut indices = Vec::with_capacity(x.order());
        for _ in 0..x.order() {
            indices.push(filled(a.nnz(), I::default(), "a tensor's indices")?);
        }
        for (e, (i, j, _)) in a.iter().enumerate() {
            for (modes, mut rest) in [(rows, i), (cols, j)] {
                for &mode in modes {
                    indices[mode][e] = I::cast(rest % x.dims()[mode]);
                    rest /= x.dims()[mode];
                }
            }
        }
        x = Self::from_parts(x.dims().to_vec(), indices, collected(a.nnz(), a.values().iter().copied(), "values")?);
        Ok(x)
    }

    /// The entries whose index in `mode` is `index`, a tensor of order d − 1.
    /// # Errors
    /// [`Error::Argument`] if there is no such mode or the tensor has only one; [`Error::IndexRange`] if `index` is not
    /// below the dimension; [`Error::OutOfMemory`].
    pub fn slice(&self, mode: usize, index: usize) -> Result<Self> {
        check_mode(self.order(), "mode", mode)?;
        if self.order() == 1 {
            return Err(Error::Argument { name: "mode", message: "a tensor of order 1 has no slices".to_owned() });
        }
        let bound = self.dims()[mode];
        if index >= bound {
            return Err(Error::IndexRange { axis: mode_name(mode), position: 0, index: index as u128, bound });
        }
        let found = || self.indices(mode).iter().enumerate().filter(|(_, i)| i.get() == index).map(|(e, _)| e);
        let positions = collected(found().count(), found(), "a slice")?;
        let (mut dims, mut indices, values) = self.gathered(&Threads::current(), &positions)?.into_parts();
        dims.remove(mode);
        indices.remove(mode);
        Ok(Self::from_parts(dims, indices, values))
    }

    /// The tensor with permuted modes: mode k of the result is mode `modes[k]` of this one.
    /// # Errors
    /// [`Error::Argument`] if a mode is missing or given twice; [`Error::OutOfMemory`].
    pub fn permuted(&self, modes: &[usize]) -> Result<Self> {
        self.check_all_modes(modes)?;
        let dims = modes.iter().map(|&m| self.dims()[m]).collect();
        let copy = |list: &[I]| collected(list.len(), list.iter().copied(), "a tensor's indices");
        let indices = modes.iter().map(|&m| copy(self.indices(m))).collect::<Result<_>>()?;
        Ok(Self::from_parts(dims, indices, self.copied_values()?))
    }

    /// All elements, the last mode varying fastest. Elements without an entry are the identity of `add`, which also
    /// folds duplicate entries.
    /// # Errors
    /// [`Error::OutOfMemory`] if there are too many elements.
    pub fn to_dense<O: Monoid<Out = T>>(&self, add: O) -> Result<Vec<T>> {
        let len = product(self.dims(), &(0..self.order()).collect::<Vec<_>>(), usize::MAX)
            .map_err(|_| out_of_memory::<T>("a dense tensor", usize::MAX))?;
        let mut dense = filled(len, O::IDENTITY, "a dense tensor")?;
        for (e, x) in self.values().iter().enumerate() {
            let at = self.all_indices().iter().zip(self.dims()).fold(0, |at, (list, &n)| at * n + list[e].get());
            dense[at] = add.apply::<Host>(V(dense[at]), V(*x)).0;
        }
        Ok(dense)
    }

    /// From all elements of a dense tensor, the last mode varying fastest; elements equal to `absent` are not stored.
    /// # Errors
    /// Those of [`new`](Self::new); [`Error::Length`] if `dense` has not one value for each element.
    pub fn from_dense(dims: Vec<usize>, dense: &[T], absent: T) -> Result<Self> {
        check_dims::<I>(&dims)?;
        let expected = product(&dims, &(0..dims.len()).collect::<Vec<_>>(), usize::MAX)?;
        if dense.len() != expected {
            return Err(Error::Length { what: "values", found: dense.len(), expected });
        }
        let entries = || dense.iter().enumerate().filter(|(_, x)| **x != absent);
        let nnz = entries().count();
        let mut indices = Vec::with_capacity(dims.len());
        let mut step = expected;
        for &n in &dims {
            step = step.checked_div(n).unwrap_or(0);
            let list = entries().map(|(at, _)| I::cast(at / step.max(1) % n.max(1)));
            indices.push(collected(nnz, list, "a tensor's indices")?);
        }
        let values = collected(nnz, entries().map(|(_, x)| *x), "values")?;
        Ok(Self::from_parts(dims, indices, values))
    }

    /// With 32-bit indices if the dimensions fit them, with 64-bit indices otherwise.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn any(self) -> Result<AnyTensor<T>> {
        if check_dims::<u32>(self.dims()).is_ok() {
            Ok(AnyTensor::Narrow(self.cast()?))
        } else {
            Ok(AnyTensor::Wide(self.cast()?))
        }
    }

    /// With indices of type `J`.
    /// # Errors
    /// [`Error::IndexOverflow`] if a dimension does not fit; [`Error::OutOfMemory`].
    pub fn cast<J: Index>(&self) -> Result<Tensor<T, J>> {
        check_dims::<J>(self.dims())?;
        let cast = |list: &Vec<I>| collected(list.len(), list.iter().map(|i| J::cast(i.get())), "a tensor's indices");
        let indices = self.all_indices().iter().map(cast).collect::<Result<_>>()?;
        Ok(Tensor::from_parts(self.dims().to_vec(), indices, self.copied_values()?))
    }

    fn copied_values(&self) -> Result<Vec<T>> {
        collected(self.nnz(), self.values().iter().copied(), "values")
    }

    /// The linear index of each entry over `modes`, the first mode varying fastest.
    fn joined<J: Index>(&self, modes: &[usize]) -> Result<Vec<J>> {
        let mut joined = filled(self.nnz(), J::default(), "joined indices")?;
        let mut step = 1;
        for &mode in modes {
            for (to, i) in joined.iter_mut().zip(self.indices(mode)) {
                *to = J::cast(to.get() + step * i.get());
            }
            step = step.saturating_mul(self.dims()[mode]);
        }
        Ok(joined)
    }

    fn check_all_modes(&self, modes: &[usize]) -> Result<()> {
        self.check_modes("modes", modes)?;
        if modes.len() != self.order() {
            let message = format!("{} of a tensor's {} modes are given", modes.len(), self.order());
            return Err(Error::Argument { name: "modes", message });
        }
        Ok(())
    }
}

impl<T: Real, I: Index> Tensor<T, I> {
    /// ‖X‖ = √Σ x², provided that no entry is a duplicate. Intermediate results neither overflow nor underflow.
    #[must_use]
    pub fn norm(&self) -> T {
        scaled_norm(self.values())
    }
}

/// √Σ x²; where the squares could overflow or underflow, values are first scaled by the largest one.
pub(crate) fn scaled_norm<T: Real>(values: &[T]) -> T {
    let plain = squares(values, T::ONE).sqrt();
    if plain.is_normal() && plain < T::max_value().sqrt() {
        return plain;
    }
    let largest = values.iter().fold(T::ZERO, |m, x| if x.abs() > m || x.is_nan() { x.abs() } else { m });
    if largest == T::ZERO || !largest.is_finite() { largest } else { largest * squares(values, largest).sqrt() }
}

/// Σ (x / scale)², pairwise over blocks: rounding errors stay small and the order of addition is fixed.
fn squares<T: Real>(values: &[T], scale: T) -> T {
    const BLOCK: usize = 256;
    if values.len() <= BLOCK {
        return values.iter().fold(T::ZERO, |sum, &x| sum + (x / scale) * (x / scale));
    }
    let (low, high) = values.split_at((values.len() / 2).next_multiple_of(BLOCK));
    squares(low, scale) + squares(high, scale)
}

/// The product of the dimensions of `modes`.
/// # Errors
/// [`Error::IndexOverflow`] if it is above `max`.
fn product(dims: &[usize], modes: &[usize], max: usize) -> Result<usize> {
    let product = modes.iter().try_fold(1u128, |n, &m| n.checked_mul(dims[m] as u128)).unwrap_or(u128::MAX);
    match usize::try_from(product) {
        Ok(n) if n <= max => Ok(n),
        _ => Err(Error::IndexOverflow { what: "product of dimensions", needed: product, max: max as u128 }),
    }
}

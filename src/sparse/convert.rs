//! Conversions between formats. Stored zeros remain entries.

use std::sync::Arc;

use super::parts::{build_rows, cut, row_blocks};
use super::{Dense, SparseVec, copied, reserved};
use crate::algebra::Value;
use crate::par::{Threads, collected, filled, for_each_part};
use crate::pattern::{check_ncols, check_nrows};
use crate::{Coo, Csr, Error, Index, Pattern, Result};

impl<T: Value, I: Index> Csr<T, I> {
    /// The entries in coordinate form, row by row.
    /// # Errors
    /// [`Error::IndexOverflow`] if nrows does not fit `I`, [`Error::OutOfMemory`].
    pub fn to_coo(&self) -> Result<Coo<T, I>> {
        let (rows, cols, values) = self.extract_tuples()?;
        Coo::new(self.nrows(), self.ncols(), rows, cols, values)
    }

    /// Rows, columns and values of the entries, row by row (`GrB_Matrix_extractTuples`).
    ///
    /// Cost: O(nrows + nnz), O(nnz) for a hypersparse matrix.
    /// ```
    /// use sparring::Csr;
    /// let a = Csr::<f64>::new(2, 3, vec![0, 1, 3], vec![2, 0, 1], vec![5.0, 6.0, 7.0])?;
    /// assert_eq!(a.extract_tuples()?, (vec![0, 1, 1], vec![2, 0, 1], vec![5.0, 6.0, 7.0]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::IndexOverflow`] if nrows does not fit `I`, [`Error::OutOfMemory`].
    pub fn extract_tuples(&self) -> Result<(Vec<I>, Vec<I>, Vec<T>)> {
        check_nrows::<I>(self.nrows())?;
        let mut rows = reserved(self.nnz(), "row indices")?;
        if let Some(stored) = self.settled()?.as_hyper() {
            let ptr = stored.rows().pattern.row_ptr();
            for (r, &label) in stored.labels().iter().enumerate() {
                rows.resize(ptr[r + 1], label);
            }
        } else {
            let ptr = self.compressed()?.row_ptr();
            for i in 0..self.nrows() {
                rows.resize(ptr[i + 1], I::cast(i));
            }
        }
        Ok((rows, copied(self.col_idx(), "column indices")?, copied(self.values(), "values")?))
    }

    /// The dense matrix, with `absent` where there is no entry.
    /// # Errors
    /// [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::{Csr, par::Threads};
    /// let a = Csr::<f64>::new(1, 3, vec![0, 1], vec![1], vec![2.0])?;
    /// let d = a.to_dense(&Threads::current(), f64::INFINITY)?;
    /// assert_eq!(d.row(0), [f64::INFINITY, 2.0, f64::INFINITY]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn to_dense(&self, threads: &Threads, absent: T) -> Result<Dense<T>> {
        let mut dense = Dense::filled(self.nrows(), self.ncols(), absent)?;
        let blocks = row_blocks(threads, self.nrows(), |i| (self.row_ptr()[i] + i) as u64)?;
        let lens = blocks.iter().map(|b| b.len() * self.ncols());
        let slices = cut(dense.values_mut(), blocks.len(), lens)?;
        let parts = collected(blocks.len(), blocks.iter().zip(slices), "parts of an array")?;
        for_each_part(
            threads,
            parts,
            || Ok(()),
            |(), (block, values_out): (&std::ops::Range<usize>, &mut [T])| {
                for i in block.clone() {
                    let row = &mut values_out[(i - block.start) * self.ncols()..];
                    let (cols, values) = self.row(i);
                    cols.iter().zip(values).for_each(|(j, x)| row[j.get()] = *x);
                }
                Ok(())
            },
        )?;
        Ok(dense)
    }

    /// The entries x of `dense` for which `keep(&x)` holds.
    /// # Errors
    /// [`Error::IndexOverflow`] if ncols does not fit `I`, [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::{Csr, par::Threads, sparse::Dense};
    /// let d = Dense::new(1, 3, vec![0.0, 2.0, 0.0])?;
    /// let a = Csr::<f64>::from_dense(&Threads::current(), &d, |x| *x != 0.0)?;
    /// assert_eq!(a.row(0), (&[1][..], &[2.0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn from_dense(threads: &Threads, dense: &Dense<T>, keep: impl Fn(&T) -> bool + Sync) -> Result<Self> {
        check_ncols::<I>(dense.ncols())?;
        let kept = |i: usize| dense.row(i).iter().enumerate().filter(|(_, x)| keep(x));
        let (pattern, values) = build_rows(
            threads,
            dense.shape(),
            |i| (i * (dense.ncols() + 1)) as u64,
            dense.values().first().copied(),
            || Ok(()),
            |(), i| Ok(kept(i).count()),
            |(), i, cols, values| {
                for ((c, v), (j, x)) in cols.iter_mut().zip(values).zip(kept(i)) {
                    (*c, *v) = (I::cast(j), *x);
                }
                Ok(())
            },
        )?;
        Csr::with_pattern(Arc::new(pattern), values)
    }

    /// Row `i` as a vector, its indices sorted.
    /// # Errors
    /// [`Error::IndexRange`], [`Error::OutOfMemory`].
    pub fn row_vector(&self, i: usize) -> Result<SparseVec<T, I>> {
        if i >= self.nrows() {
            return Err(Error::IndexRange { axis: "row", position: 0, index: i as u128, bound: self.nrows() });
        }
        let (cols, values) = self.row(i);
        let (mut cols, mut values) = (copied(cols, "indices")?, copied(values, "values")?);
        let mut scratch = super::sort::Scratch::default();
        scratch.sort_row_if_needed(&Threads::current(), self.ncols(), &mut cols, &mut values)?;
        Ok(SparseVec::from_parts(self.ncols(), cols, values))
    }

    /// The matrix whose rows are `rows`, each of length ncols.
    /// # Errors
    /// [`Error::Length`] for a vector of another length, [`Error::IndexOverflow`], [`Error::OutOfMemory`].
    /// # Example
    /// ```
    /// use sparring::{Csr, sparse::SparseVec};
    /// let v = SparseVec::<f64>::new(3, vec![2], vec![1.0])?;
    /// let a = Csr::from_row_vectors(3, &[v.clone(), v.clone()])?;
    /// assert_eq!((a.shape(), a.row_vector(1)?), ((2, 3), v));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn from_row_vectors(ncols: usize, rows: &[SparseVec<T, I>]) -> Result<Self> {
        check_ncols::<I>(ncols)?;
        if let Some(v) = rows.iter().find(|v| v.len() != ncols) {
            return Err(Error::Length { what: "row vector", found: v.len(), expected: ncols });
        }
        let mut row_ptr = filled(rows.len() + 1, 0usize, "row pointers")?;
        for (i, v) in rows.iter().enumerate() {
            row_ptr[i + 1] = row_ptr[i] + v.nnz();
        }
        let nnz = row_ptr[rows.len()];
        let (mut cols, mut values) = (reserved(nnz, "column indices")?, reserved(nnz, "values")?);
        for v in rows {
            cols.extend_from_slice(v.indices());
            values.extend_from_slice(v.values());
        }
        Csr::with_pattern(Arc::new(Pattern::from_parts(rows.len(), ncols, row_ptr, cols, true)), values)
    }
}

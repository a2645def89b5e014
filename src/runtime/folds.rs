//! Reductions of raw compressed arrays: each validates only the arrays it reads.

use super::operator::check;
use super::{Machine, Monoid, Scalar, Vector};
use crate::algebra::Slice;
use crate::ops::by_formula;
use crate::par::note;
use crate::{Cpu, Error, Result};

impl Machine {
    /// ⊕ over an array: bitwise the [`reduce`](Self::reduce) of a matrix with these values.
    ///
    /// Cost: O(values). CPU only.
    /// # Errors
    /// [`Error::Argument`] if ⊕ is on another type; [`Error::Unsupported`] on a GPU; [`Error::OutOfMemory`],
    /// [`Error::Cancelled`].
    pub fn reduce_values(&self, monoid: &Monoid, values: Slice<'_>) -> Result<Scalar> {
        let cpu = self.folds(monoid, values)?;
        note(|| format!("reduce: {} values", values.len()));
        Scalar::only(by_formula::reduce(cpu.threads(), monoid.compiled(), values)?.slice())
    }
    /// `y(i) = e ⊕ x(p) ⊕ …` over `row_ptr[i] ≤ p < row_ptr[i + 1]`, an entry if row i is nonempty: bitwise
    /// [`reduce_rows`](Self::reduce_rows), without reading columns.
    ///
    /// Shapes: m + 1 row pointers, result m. Cost: O(m + values). CPU only.
    /// ```
    /// use sparring::Cpu;
    /// use sparring::algebra::{Slice, Type};
    /// use sparring::runtime::{Machine, Monoid};
    /// let (cpu, plus) = (Machine::from(Cpu::new()), Monoid::new("plus", Type::I32)?);
    /// let y = cpu.reduce_values_of_rows(&plus, &[0, 2, 2, 3], Slice::of(&[1i32, 2, 4]))?;
    /// assert_eq!(y.entries()?.0, [0, 2]);
    /// assert_eq!(y.entries()?.1.slice().get::<i32>(), Some(&[3, 4][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Length`] without a row pointer; [`Error::RowPointer`] if row pointers do not begin with 0, decrease, or
    /// do not end with the number of values; those of [`reduce_values`](Self::reduce_values).
    pub fn reduce_values_of_rows(&self, monoid: &Monoid, row_ptr: &[usize], values: Slice<'_>) -> Result<Vector> {
        let cpu = self.folds(monoid, values)?;
        check_row_pointers(row_ptr, values.len())?;
        note(|| format!("reduce_rows: {} rows of {} values", row_ptr.len() - 1, values.len()));
        Vector::of(by_formula::reduce_values_of_rows(cpu.threads(), monoid.compiled(), row_ptr, values)?)
    }
    /// `y(j) = e ⊕ x(p) ⊕ …` over the p with `columns[p]` = j, an entry if j occurs.
    ///
    /// The entries are cut into at most eight parts of equal length, whose number depends on the numbers of entries and
    /// columns alone.
    /// Each part is folded in order, then the partial results are, so the result is bitwise the same for any number of
    /// threads. If ⊕ rounds, [`reduce_rows`](Self::reduce_rows) of the transpose may round differently. Shapes:
    /// `columns` and `values` of one length, result of length `ncols`. Cost: O(values + ncols) time. CPU only.
    /// ```
    /// use sparring::Cpu;
    /// use sparring::algebra::{Slice, Type};
    /// use sparring::runtime::{Machine, Monoid};
    /// let (cpu, plus) = (Machine::from(Cpu::new()), Monoid::new("plus", Type::I32)?);
    /// let y = cpu.reduce_values_of_columns(&plus, 3, &[2, 0, 2], Slice::of(&[1i32, 2, 4]))?;
    /// assert_eq!(y.entries()?.0, [0, 2]);
    /// assert_eq!(y.entries()?.1.slice().get::<i32>(), Some(&[2, 5][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Length`] if there is not one value per column; [`Error::IndexRange`] for the first column not below
    /// `ncols`; [`Error::Unsupported`] for a ⊕ that returns its last operand; those of
    /// [`reduce_values`](Self::reduce_values).
    pub fn reduce_values_of_columns(
        &self,
        monoid: &Monoid,
        ncols: usize,
        columns: &[u32],
        values: Slice<'_>,
    ) -> Result<Vector> {
        let cpu = self.folds(monoid, values)?;
        let (found, expected) = (values.len(), columns.len());
        if found != expected {
            return Err(Error::Length { what: "values", found, expected });
        }
        note(|| format!("reduce_columns: {ncols} columns of {found} values"));
        Vector::of(by_formula::reduce_values_of_columns(cpu.threads(), monoid.compiled(), ncols, columns, values)?)
    }
    /// The CPU backend, if the values are of the monoid's type; otherwise an error.
    fn folds(&self, monoid: &Monoid, values: Slice<'_>) -> Result<&Cpu> {
        check("values", monoid, monoid.ty(), values.ty())?;
        self.typed::<Cpu>().ok_or_else(|| Error::Unsupported {
            what: format!("a fold of an array on {}", self.name()),
            why: "the array is in host memory".into(),
        })
    }
}

/// Validates row pointers of `nnz` entries.
fn check_row_pointers(row_ptr: &[usize], nnz: usize) -> Result<()> {
    let Some((&last, _)) = row_ptr.split_last() else {
        return Err(Error::Length { what: "row_ptr", found: 0, expected: 1 });
    };
    let refused = |row: usize, expected: String| Error::RowPointer { row, found: row_ptr[row], expected };
    if row_ptr[0] != 0 {
        return Err(refused(0, "0".into()));
    }
    // Branch-free on valid input.
    if !row_ptr.windows(2).fold(true, |all, w| all & (w[0] <= w[1])) {
        let row = row_ptr.windows(2).position(|w| w[0] > w[1]).unwrap_or_default();
        return Err(refused(row + 1, format!("at least {}", row_ptr[row])));
    }
    if last != nnz {
        return Err(refused(row_ptr.len() - 1, format!("{nnz}, the number of entries")));
    }
    Ok(())
}

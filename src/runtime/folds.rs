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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;
    use crate::algebra::Type;
    use crate::runtime::{Matrix, Op};

    /// Columns in no order; some repeated within a row, some in no row.
    fn places(nnz: usize, ncols: usize) -> Vec<u32> {
        (0..nnz).map(|p| (p * p % 1_000_003 * 7 % ncols / 2 * 2) as u32).collect()
    }

    #[test]
    fn columns_are_folded_where_they_lie() {
        // One part and several; fewer columns than bits in a word, and more columns than entries.
        for (nnz, ncols) in [(0, 0), (0, 5), (1, 1), (900, 1), (900, 100), (900, 5000), (70_000, 90), (300_000, 20_000)]
        {
            let columns = places(nnz, ncols.max(1));
            let exact: Vec<i64> = (0..nnz as i64).map(|p| p % 1000 - 500).collect();
            let reals: Vec<f64> = exact.iter().map(|&x| x as f64 / 3.0).collect();
            let mut want = vec![None; ncols];
            for (&j, &x) in columns.iter().zip(&exact) {
                let sum = &mut want[j as usize];
                *sum = Some(sum.map_or(x, |sum| sum + x));
            }
            let mut bits: Option<Vec<u64>> = None;
            for threads in [1, 2, 3] {
                let cpu = Machine::cpu(threads, None).unwrap();
                let plus = Monoid::new("plus", Type::I64).unwrap();
                let y = cpu.reduce_values_of_columns(&plus, ncols, &columns, Slice::of(&exact)).unwrap();
                let y = y.typed::<i64>().unwrap();
                let found: Vec<Option<i64>> = (0..ncols).map(|j| y.get(j).copied()).collect();
                assert_eq!(found, want, "{nnz} in {ncols} columns");
                let plus = Monoid::new("plus", Type::F64).unwrap();
                let y = cpu.reduce_values_of_columns(&plus, ncols, &columns, Slice::of(&reals)).unwrap();
                let y = y.typed::<f64>().unwrap();
                let found: Vec<u64> = (0..ncols).map(|j| y.get(j).map_or(1, |x| x.to_bits())).collect();
                let near = |j: usize| y.get(j).map_or(0.0, |y| (y - want[j].unwrap_or(0) as f64 / 3.0).abs());
                assert!((0..ncols).all(|j| near(j) < 1e-6));
                assert_eq!(*bits.get_or_insert_with(|| found.clone()), found, "{threads} threads");
            }
            // A formula, which is folded in blocks.
            let most = Monoid::new("max(a, b) identity -1000", Type::I64).unwrap();
            let cpu = Machine::cpu(2, None).unwrap();
            let y = cpu.reduce_values_of_columns(&most, ncols, &columns, Slice::of(&exact)).unwrap();
            let y = y.typed::<i64>().unwrap();
            let mut want = vec![None; ncols];
            for (&j, &x) in columns.iter().zip(&exact) {
                let most = &mut want[j as usize];
                *most = (*most).max(Some(x));
            }
            assert_eq!((0..ncols).map(|j| y.get(j).copied()).collect::<Vec<_>>(), want);
        }
    }

    #[test]
    fn rows_and_all_are_those_of_the_matrix() {
        let (cpu, nnz) = (Machine::cpu(2, None).unwrap(), 100_000);
        let row_ptr: Vec<usize> = (0..=1000).map(|i| nnz * i / 1000 / 300 * 300).chain([nnz]).collect();
        let (columns, x): (Vec<u32>, Vec<f64>) = (0..nnz).map(|p| ((p % 300) as u32, 1.0 / (p + 1) as f64)).unzip();
        let a = Matrix::from(Csr::<f64>::from_unsorted(1001, 400, row_ptr.clone(), columns, x.clone()).unwrap());
        let plus = Monoid::new("plus", Type::F64).unwrap();
        assert_eq!(cpu.reduce_values(&plus, Slice::of(&x)).unwrap(), cpu.reduce(&plus, &a).unwrap());
        let (y, want) = (
            cpu.reduce_values_of_rows(&plus, &row_ptr, Slice::of(&x)).unwrap(),
            cpu.call(Op::ReduceRows(&plus), &a).eval::<Vector>().unwrap(),
        );
        let (found, want) = (y.entries().unwrap(), want.entries().unwrap());
        assert!(found.0 == want.0 && found.1.slice().get::<f64>() == want.1.slice().get::<f64>());
    }

    #[test]
    fn wrong_arrays_are_refused() {
        let (cpu, plus) = (Machine::cpu(2, None).unwrap(), Monoid::new("plus", Type::F64).unwrap());
        let x = [1.0f64, 2.0, 3.0];
        let rows = |row_ptr: &[usize]| cpu.reduce_values_of_rows(&plus, row_ptr, Slice::of(&x)).unwrap_err();
        assert!(matches!(rows(&[]), Error::Length { found: 0, .. }));
        assert!(matches!(rows(&[1, 3]), Error::RowPointer { row: 0, found: 1, .. }));
        assert!(matches!(rows(&[0, usize::MAX, 3]), Error::RowPointer { row: 2, found: 3, .. }));
        assert!(matches!(rows(&[0, 2]), Error::RowPointer { row: 1, found: 2, .. }));
        let of = |columns: &[u32]| cpu.reduce_values_of_columns(&plus, 3, columns, Slice::of(&x)).unwrap_err();
        assert!(matches!(of(&[0, 1]), Error::Length { found: 3, expected: 2, .. }));
        assert!(matches!(of(&[0, 3, u32::MAX]), Error::IndexRange { position: 1, index: 3, bound: 3, .. }));
        let single = Monoid::new("plus", Type::F32).unwrap();
        assert!(matches!(cpu.reduce_values(&single, Slice::of(&x)).unwrap_err(), Error::Argument { .. }));
        let any = Monoid::new("any", Type::F64).unwrap();
        let last = cpu.reduce_values_of_columns(&any, 3, &[0, 1, 2], Slice::of(&x)).unwrap_err();
        assert!(matches!(last, Error::Unsupported { .. }), "{last}");
    }
}

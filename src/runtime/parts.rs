//! Matrices and vectors of parts, and parts of them: blocks, other sizes, single entries.

use std::sync::Arc;

use super::engine::{Call, Op};
use super::operator::check;
use super::{BinaryOp, IndexList, Machine, Matrix, Scalar, Vector};
use crate::algebra::Array;
use crate::kernels::zeros_any;
use crate::ops::by_formula::{self, AnyVector};
use crate::par::{Threads, reserved, zeros};
use crate::sparse::{Combine, MaskSpec, VectorPattern};
use crate::{Error, Index, Pattern, Result};

impl Machine {
    /// The block matrix of these rows of blocks, each row as many as the others (`GxB_Matrix_concat`). Blocks of one row
    /// have the same number of rows, those of one column the same number of columns. The result is on this machine.
    ///
    /// Cost: O(entries + rows), on the processor.
    /// ```
    /// use sparring::runtime::{Machine, Matrix};
    /// use sparring::{Cpu, Csr};
    /// let cpu = Machine::from(Cpu::new());
    /// let a = Matrix::from(Csr::<i32>::new(1, 2, vec![0, 1], vec![1], vec![5])?);
    /// let c = cpu.concat(&[&[&a, &a], &[&a, &a]])?;
    /// assert_eq!((c.shape(), c.csr::<i32>().unwrap().col_idx()), ((2, 4), &[1, 3, 1, 3][..]));
    /// assert_eq!(cpu.split(&c, &[1, 1], &[2, 2])?[1][0].nnz(), 1);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Shape`] for blocks that do not fit, [`Error::Argument`] for other types or no blocks;
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`] and those of the machine.
    pub fn concat(&self, blocks: &[&[&Matrix]]) -> Result<Matrix> {
        let made = concat(&here(blocks)?)?;
        self.upload(&made)
    }
    /// The blocks of so many rows and columns (`GxB_Matrix_split`).
    /// # Errors
    /// [`Error::Argument`] unless the numbers add up to the shape; those of the machine.
    pub fn split(&self, a: &Matrix, nrows: &[usize], ncols: &[usize]) -> Result<Vec<Vec<Matrix>>> {
        let ranges = |name: &'static str, lens: &[usize], n: usize| {
            let total = lens.iter().try_fold(0usize, |sum, len| sum.checked_add(*len));
            if total != Some(n) {
                let message = format!("blocks of {lens:?} do not add up to {n}");
                return Err(Error::Argument { name, message });
            }
            let mut start = 0;
            let range = |&len: &usize| {
                start += len;
                IndexList::from(start - len..start)
            };
            Ok(lens.iter().map(range).collect::<Vec<_>>())
        };
        let (rows, cols) = (ranges("nrows", nrows, a.shape().0)?, ranges("ncols", ncols, a.shape().1)?);
        let block = |rows, cols| self.run(&Call::unary(Op::Extract(rows, cols), a))?.try_into();
        rows.iter().map(|rows| cols.iter().map(|cols| block(rows, cols)).collect()).collect()
    }
    /// The matrix with another number of rows and columns: entries outside are gone, new places have none
    /// (`GrB_Matrix_resize`).
    ///
    /// Cost: O(entries + rows).
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`] and those of the machine.
    pub fn resize(&self, a: &Matrix, nrows: usize, ncols: usize) -> Result<Matrix> {
        let (m, n) = a.shape();
        let (rows, cols) = (IndexList::from(0..m.min(nrows)), IndexList::from(0..n.min(ncols)));
        let mut made = a.clone();
        if nrows < m || ncols < n {
            made = self.run(&Call::unary(Op::Extract(&rows, &cols), &made))?.try_into()?;
        }
        if ncols > u32::MAX_LEN {
            return Err(Error::IndexOverflow { what: "columns", needed: ncols as u128, max: u32::MAX_LEN as u128 });
        }
        if nrows > m || ncols > n {
            made = self.run(&Call::unary(Op::Place(&rows, &cols, (nrows, ncols)), &made))?.try_into()?;
        }
        Ok(made)
    }
    /// The vector with another number of places, likewise.
    /// # Errors
    /// As for [`resize`](Self::resize).
    pub fn resize_vector(&self, x: &Vector, len: usize) -> Result<Vector> {
        let list = IndexList::from(0..x.len().min(len));
        if len < x.len() {
            return self.run(&Call::unary(Op::Extract(&list, &IndexList::all()), x))?.try_into();
        }
        self.run(&Call::unary(Op::Place(&list, &IndexList::all(), (len, 1)), x))?.try_into()
    }
}

/// The blocks in this memory, their rows sorted.
fn here(blocks: &[&[&Matrix]]) -> Result<Vec<Vec<Matrix>>> {
    let threads = Threads::current();
    let block = |a: &&Matrix| a.download()?.sorted(&threads);
    blocks.iter().map(|row| row.iter().map(block).collect()).collect()
}

fn concat(blocks: &[Vec<Matrix>]) -> Result<Matrix> {
    let Some(first) = blocks.first().filter(|row| !row.is_empty()) else {
        return Err(Error::Argument { name: "blocks", message: "there are none".into() });
    };
    let ty = first[0].ty();
    for row in blocks {
        if row.len() != first.len() {
            let message = format!("a row has {} of them, the first has {}", row.len(), first.len());
            return Err(Error::Argument { name: "blocks", message });
        }
        for (block, above) in row.iter().zip(first) {
            let expected = (row[0].shape().0, above.shape().1);
            if block.shape() != expected {
                return Err(Error::Shape { op: "concat", lhs: expected, rhs: block.shape() });
            }
            if block.ty() != ty {
                let message = format!("one is {}, the first is {ty}", block.ty());
                return Err(Error::Argument { name: "blocks", message });
            }
        }
    }
    let total = |lens: &mut dyn Iterator<Item = usize>| lens.fold(0u128, |sum, len| sum + len as u128);
    let nrows = total(&mut blocks.iter().map(|row| row[0].shape().0));
    let ncols = total(&mut first.iter().map(|block| block.shape().1));
    let nnz = total(&mut blocks.iter().flatten().map(Matrix::nnz));
    let fits = |what, needed: u128, max: usize| {
        let max = max as u128;
        if needed <= max { Ok(needed as usize) } else { Err(Error::IndexOverflow { what, needed, max }) }
    };
    let (nrows, ncols) =
        (fits("rows of blocks", nrows, isize::MAX as usize)?, fits("columns of blocks", ncols, u32::MAX_LEN)?);
    let nnz = fits("entries of blocks", nnz, isize::MAX as usize)?;
    let (mut row_ptr, mut cols) = (zeros(nrows + 1, "row pointers")?, reserved(nnz, "column indices")?);
    let mut values = zeros_any(ty, nnz)?;
    let mut top = 0;
    for row in blocks {
        let rows = row[0].shape().0;
        for i in 0..rows {
            let mut left = 0;
            for block in row {
                let operand = block.operand()?;
                let (js, p) = (operand.pattern.row(i), operand.pattern.row_ptr()[i]);
                values
                    .slice_mut()
                    .part(cols.len()..cols.len() + js.len())
                    .copy_from(&operand.values.part(p..p + js.len()));
                cols.extend(js.iter().map(|j| j + u32::cast(left)));
                left += block.shape().1;
            }
            row_ptr[top + i + 1] = cols.len();
        }
        top += rows;
    }
    Matrix::new(Arc::new(Pattern::from_parts(nrows, ncols, row_ptr, cols, true)), values)
}

impl Vector {
    /// Gives a place the value (`GrB_Vector_setElement`). The vector is in the processor's memory.
    ///
    /// Cost: that of a write of one entry, amortized.
    /// # Errors
    /// [`Error::Argument`] for a place outside, a value of another type, a vector on a GPU; [`Error::OutOfMemory`].
    pub fn set(&mut self, i: usize, x: impl Into<Scalar>) -> Result<()> {
        self.check_place(i)?;
        let x = x.into();
        if x.ty() != self.ty() {
            let message = format!("it is {}, the vector's values are {}", x.ty(), self.ty());
            return Err(Error::Argument { name: "x", message });
        }
        let one = Self::constant_at(&x, &(i..i + 1).into(), self.len())?;
        self.put(&Threads::current(), &one, None::<&Combine<'_>>)
    }
    /// Removes the entry at a place, if there is one (`GrB_Vector_removeElement`).
    /// # Errors
    /// As for [`set`](Self::set).
    pub fn remove(&mut self, i: usize) -> Result<()> {
        self.check_place(i)?;
        let one = VectorPattern::list(self.len(), vec![u32::cast(i)]);
        self.retain(MaskSpec::new(&one, true))
    }
    fn check_place(&self, i: usize) -> Result<()> {
        if i < self.len() {
            return Ok(());
        }
        Err(Error::Argument { name: "i", message: format!("{i} is not below {}", self.len()) })
    }
    /// Of `len` places with these entries, in any order; those of one place are joined by `dup` in the order given, or
    /// are an error without it (`GrB_Vector_build`).
    /// # Errors
    /// [`Error::ListIndex`]; [`Error::RepeatedIndex`] without `dup`; [`Error::Argument`] if it is on another type;
    /// [`Error::Length`], [`Error::OutOfMemory`]; [`Error::Unsupported`] for structs.
    pub fn build(
        threads: &Threads,
        len: usize,
        (indices, values): (Vec<usize>, Array),
        dup: Option<&BinaryOp>,
    ) -> Result<Self> {
        if indices.len() != values.len() {
            return Err(Error::Length { what: "values", found: values.len(), expected: indices.len() });
        }
        let full = Self::of(AnyVector::full(values))?;
        let (view, list) = (full.view()?, indices.into());
        Self::of(match dup {
            None => by_formula::place_vector(threads, view, &list, len)?,
            Some(dup) => {
                let (a, b) = dup.takes();
                [a, b, dup.ty()].iter().try_for_each(|&takes| check("values", dup, takes, full.ty()))?;
                by_formula::fold_places(threads, view, &list, len, dup.compiled())?
            }
        })
    }
}

impl Vector {
    /// The matrix of one column that it is.
    ///
    /// Cost: O(places), of a vector on a GPU that of downloading it; the matrix is in the processor's memory.
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Unsupported`] for structs; those of the machine.
    pub fn to_column(&self) -> Result<Matrix> {
        Matrix::from_places((self.len(), 1), &self.download()?)
    }
}

impl Matrix {
    /// The vector that a matrix of one row or one column is.
    ///
    /// Cost: O(rows + entries), of a matrix on a GPU that of downloading it; the vector is in the processor's memory.
    /// # Errors
    /// [`Error::Argument`] for a matrix of more rows and columns, with the shape; [`Error::OutOfMemory`] and those of
    /// the machine.
    pub fn to_vector(&self) -> Result<Vector> {
        let (m, n) = self.shape();
        if m != 1 && n != 1 {
            let message = format!("it is {m}×{n}; a vector is a matrix of one row or one column");
            return Err(Error::Argument { name: "a", message });
        }
        self.download()?.places(&Threads::current())
    }
}

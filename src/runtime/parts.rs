//! Block matrices, splitting, resizing, and edits of single entries.

use std::sync::Arc;

use super::engine::{Call, Op, Operand};
use super::operator::check;
use super::wide::{Wide, is_wide};
use super::{BinaryOp, IndexList, Machine, Matrix, Scalar, Vector};
use crate::algebra::Array;
use crate::ops::by_formula::{self, AnyVector};
use crate::ops::{block_ranges, concat_blocks, concat_shape};
use crate::par::{Threads, collected};
use crate::sparse::{Combine, MaskSpec, VectorPattern};
use crate::{Error, Index, Result};

impl Machine {
    /// The block matrix of these rows of blocks, all with the same number of blocks (`GxB_Matrix_concat`). Blocks of
    /// one row have the same number of rows, those of one column the same number of columns. The result is on this
    /// machine.
    ///
    /// Cost: O(entries + rows).
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
    /// [`Error::Shape`] for nonconforming blocks, [`Error::Argument`] for other types or no blocks;
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`] and those of the machine.
    pub fn concat(&self, blocks: &[&[&Matrix]]) -> Result<Matrix> {
        let shape = block_shape(blocks)?;
        let has_wide = || blocks.iter().copied().flatten().any(|&a| Wide::of(a).is_some());
        if is_wide(shape.0) || is_wide(shape.1) || has_wide() {
            return self.concat_wide(blocks, (shape.0, shape.1));
        }
        if let Some(result) = self.engine().concat(blocks, shape) {
            return result;
        }
        let current = Threads::current();
        let threads = self.engine().threads().unwrap_or(&current);
        let all: Vec<Option<Operand<'_>>> = blocks.iter().flat_map(|row| row.iter()).map(|&a| Some(a.into())).collect();
        self.note_call("concat", &all);
        let result = concat(threads, &here(threads, blocks)?, shape)?;
        self.upload(&result)
    }
    /// The blocks with these numbers of rows and columns (`GxB_Matrix_split`).
    /// # Errors
    /// [`Error::Argument`] unless the numbers add up to the shape; those of the machine.
    pub fn split(&self, a: &Matrix, nrows: &[usize], ncols: &[usize]) -> Result<Vec<Vec<Matrix>>> {
        let (rows, cols) = (block_ranges("nrows", nrows, a.shape().0)?, block_ranges("ncols", ncols, a.shape().1)?);
        let block = |rows, cols| self.run(&Call::unary(Op::Extract(rows, cols), a))?.try_into();
        rows.iter().map(|rows| cols.iter().map(|cols| block(rows, cols)).collect()).collect()
    }
    /// The matrix resized: entries outside the new shape are dropped, new positions are empty
    /// (`GrB_Matrix_resize`).
    ///
    /// Cost: O(entries + rows).
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`] and those of the machine.
    pub fn resize(&self, a: &Matrix, nrows: usize, ncols: usize) -> Result<Matrix> {
        let (m, n) = a.shape();
        let (rows, cols) = (IndexList::from(0..m.min(nrows)), IndexList::from(0..n.min(ncols)));
        let mut resized = a.clone();
        if nrows < m || ncols < n {
            resized = self.run(&Call::unary(Op::Extract(&rows, &cols), &resized))?.try_into()?;
        }
        if nrows > m || ncols > n {
            resized = self.run(&Call::unary(Op::Place(&rows, &cols, (nrows, ncols)), &resized))?.try_into()?;
        }
        Ok(resized)
    }
    /// The vector resized: entries beyond the new length are dropped.
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

/// The blocks in host memory, with sorted rows.
fn here(threads: &Threads, blocks: &[&[&Matrix]]) -> Result<Vec<Vec<Matrix>>> {
    let block = |a: &&Matrix| a.download()?.sorted(threads);
    blocks.iter().map(|row| row.iter().map(block).collect()).collect()
}

/// Rows, columns and entries of a block matrix; checks that its blocks are of one type.
fn block_shape(blocks: &[&[&Matrix]]) -> Result<(usize, usize, usize)> {
    let of_all = |row: &&[&Matrix]| row.iter().map(|a| (a.shape(), a.nnz())).collect();
    let shape = concat_shape::<u64>(&blocks.iter().map(of_all).collect::<Vec<_>>())?;
    let ty = blocks[0][0].ty();
    match blocks.iter().copied().flatten().find(|block| block.ty() != ty) {
        None => Ok(shape),
        Some(block) => {
            Err(Error::Argument { name: "blocks", message: format!("one is {}, the first is {ty}", block.ty()) })
        }
    }
}

fn concat(threads: &Threads, blocks: &[Vec<Matrix>], shape: (usize, usize, usize)) -> Result<Matrix> {
    let operand = |a| Matrix::operand(a).map(|a| (&**a.pattern, a.values));
    let operands = blocks.iter().map(|row| row.iter().map(operand).collect()).collect::<Result<Vec<Vec<_>>>>()?;
    let (pattern, values) = concat_blocks(threads, &operands, shape)?;
    Matrix::new(Arc::new(pattern), values)
}

impl Vector {
    /// Sets the entry at an index (`GrB_Vector_setElement`). The vector is in host memory.
    ///
    /// Cost: that of a write of one entry, amortized.
    /// # Errors
    /// [`Error::Argument`] for an index out of range, a value of another type, a vector on a GPU;
    /// [`Error::OutOfMemory`].
    pub fn set(&mut self, i: usize, x: impl Into<Scalar>) -> Result<()> {
        self.check_index(i)?;
        let x = x.into();
        if x.ty() != self.ty() {
            let message = format!("it is {}, the vector's values are {}", x.ty(), self.ty());
            return Err(Error::Argument { name: "x", message });
        }
        if let Some(done) = self.edit_wide(i, Some(&x)) {
            return done;
        }
        let one = Self::constant_at(&x, &(i..i + 1).into(), self.len())?;
        self.put(&Threads::current(), &one, None::<&Combine<'_>>)
    }
    /// Removes the entry at an index, if it exists (`GrB_Vector_removeElement`).
    /// # Errors
    /// As for [`set`](Self::set).
    pub fn remove(&mut self, i: usize) -> Result<()> {
        self.check_index(i)?;
        if let Some(done) = self.edit_wide(i, None) {
            return done;
        }
        let one = VectorPattern::list(self.len(), vec![u32::cast(i)]);
        self.retain(MaskSpec::new(&one, true))
    }
    fn check_index(&self, i: usize) -> Result<()> {
        if i < self.len() {
            return Ok(());
        }
        Err(Error::Argument { name: "i", message: format!("{i} is not below {}", self.len()) })
    }
    /// The vector of length `len` with these entries, in any order. Duplicates are combined by `dup` in the given
    /// order, or are an error without it (`GrB_Vector_build`).
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
        if is_wide(len) {
            return Self::of_indices(len, &indices, |len, ranks| {
                let ranks = collected(ranks.len(), ranks.iter().map(|&rank| rank as usize), "indices")?;
                Self::build(threads, len, (ranks, values), dup)
            });
        }
        let full = Self::of(AnyVector::full(values))?;
        let (view, list) = (full.view()?, indices.into());
        Self::of(match dup {
            None => by_formula::place_vector(threads, view, &list, len)?,
            Some(dup) => {
                let (a, b) = dup.takes();
                [a, b, dup.ty()].iter().try_for_each(|&takes| check("values", dup, takes, full.ty()))?;
                by_formula::scatter_fold(threads, view, &list, len, dup.compiled())?
            }
        })
    }
}

impl Vector {
    /// The vector as a matrix of one column.
    ///
    /// Cost: O(length), plus the download of a vector on a GPU; the matrix is in host memory.
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Unsupported`] for structs; those of the machine.
    pub fn to_column(&self) -> Result<Matrix> {
        match Wide::of(self) {
            Some(wide) => wide.to_column(),
            None => Matrix::from_row_major((self.len(), 1), &self.download()?),
        }
    }
}

impl Matrix {
    /// The matrix of one row or one column as a vector.
    ///
    /// Cost: O(rows + entries), plus the download of a matrix on a GPU; the vector is in host memory.
    /// # Errors
    /// [`Error::Argument`] for a matrix of more rows and columns, with the shape; [`Error::OutOfMemory`] and those of
    /// the machine.
    pub fn to_vector(&self) -> Result<Vector> {
        let (m, n) = self.shape();
        if m != 1 && n != 1 {
            let message = format!("it is {m}×{n}; a vector is a matrix of one row or one column");
            return Err(Error::Argument { name: "a", message });
        }
        if let Some(wide) = Wide::of(self) {
            return wide.to_vector();
        }
        self.download()?.places(&Threads::current())
    }
}

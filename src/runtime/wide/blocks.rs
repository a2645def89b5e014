//! Block matrices of wide blocks, and vectors as matrices of one row or one column.

use super::labels::{Labels, check_dimension};
use super::object::Wide;
use crate::Result;
use crate::runtime::engine::{Call, Op};
use crate::runtime::{BinaryOp, IndexList, Machine, Matrix, Vector};

impl Machine {
    /// The block matrix of conforming blocks of one type, of which one or the result is wide: the union of the blocks,
    /// each at its place.
    pub(in crate::runtime) fn concat_wide(&self, blocks: &[&[&Matrix]], shape: (usize, usize)) -> Result<Matrix> {
        check_dimension("number of rows", shape.0 as u128)?;
        check_dimension("number of columns", shape.1 as u128)?;
        let mut made = Matrix::empty(blocks[0][0].ty(), shape.0, shape.1)?;
        let second = BinaryOp::new("second", made.ty())?;
        let mut row = 0;
        for blocks in blocks {
            let mut col = 0;
            for block in *blocks {
                let (rows, cols) = (row..row + block.shape().0, col..col + block.shape().1);
                col = cols.end;
                let (rows, cols) = (IndexList::from(rows), IndexList::from(cols));
                let placed: Matrix = self.run(&Call::unary(Op::Place(&rows, &cols, shape), *block))?.try_into()?;
                made = self.ewise_add(&second, &made, &placed)?;
            }
            row += blocks.first().map_or(0, |block| block.shape().0);
        }
        Ok(made)
    }
}

impl Wide {
    /// A wide vector as a matrix of one column.
    pub(in crate::runtime) fn to_column(&self) -> Result<Matrix> {
        self.with(self.vector()?.to_column()?.into())?.try_into()
    }
    /// A wide matrix of one row or one column as a vector.
    pub(in crate::runtime) fn to_vector(&self) -> Result<Vector> {
        let inner = self.matrix()?.to_vector()?;
        let axis = usize::from(self.shape.0 == 1);
        let shape = (self.shape.0.max(self.shape.1), 1);
        let labels = [self.labels[axis].clone(), Labels::default()];
        Self { shape, labels, inner: super::object::Inner::Vector(inner) }.into_object()?.try_into()
    }
}

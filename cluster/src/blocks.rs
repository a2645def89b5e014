//! Distributed objects: blocks of matrices and pieces of vectors, each on the local device of its rank.

use std::any::Any;
use std::sync::Arc;

use sparring::algebra::Type;
use sparring::runtime::engine::Remote;
use sparring::runtime::{IndexList, Machine, Matrix, Op, Vector};
use sparring::{Cpu, Result};

use crate::cluster::Shared;
use crate::wire::{matrix_bytes, matrix_of};

/// A distributed matrix, with this rank's block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) shared: Arc<Shared>,
    pub(crate) shape: (usize, usize),
    pub(crate) nnz: usize,
    pub(crate) block: Matrix,
}

/// A distributed vector, with this rank's piece, which may be empty.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) shared: Arc<Shared>,
    pub(crate) len: usize,
    pub(crate) nnz: usize,
    pub(crate) piece: Vector,
}

impl From<Block> for Matrix {
    fn from(a: Block) -> Self {
        let nnz = a.nnz;
        Matrix::remote(Box::new(a), nnz)
    }
}
impl From<Piece> for Vector {
    fn from(x: Piece) -> Self {
        Vector::remote(Box::new(x))
    }
}

fn host() -> Machine {
    Machine::from(Cpu::new())
}

impl Block {
    /// This rank's block of a replicated matrix.
    pub(crate) fn of(shared: &Arc<Shared>, a: &Matrix) -> Result<Matrix> {
        let (rows, cols) = shared.grid.block(a.shape());
        let here = a.download()?;
        let block: Matrix = if shared.world.size() == 1 {
            here
        } else {
            host().call(Op::Extract(&IndexList::from(rows), &IndexList::from(cols)), &here).eval()?
        };
        shared.inner.upload(&block)
    }
    /// The block with values of another type, in host memory. Errors name entries by their global indices.
    pub(crate) fn cast(&self, ty: Type) -> Result<Matrix> {
        let here = self.block.download()?;
        here.cast(ty).map_err(|error| {
            let (rows, cols) = self.shared.grid.block(self.shape);
            let place = Op::Place(&IndexList::from(rows), &IndexList::from(cols), self.shape);
            let placed: Result<Matrix> = host().call(place, &here).eval();
            placed.and_then(|placed| placed.cast(ty)).err().unwrap_or(error)
        })
    }
    /// Gathers the whole matrix on every rank. Collective.
    fn whole(&self) -> Result<Matrix> {
        if self.shared.world.size() == 1 {
            return self.block.download();
        }
        let shared = &self.shared;
        let (made, _) = shared.together("download of a matrix", || {
            let ((), all) = shared.world.gather(matrix_bytes(&self.block).map(|bytes| ((), bytes)))?;
            let blocks = all.iter().map(|bytes| matrix_of(self.block.ty(), bytes)).collect::<Result<Vec<_>>>()?;
            let rows: Vec<Vec<&Matrix>> =
                blocks.chunks(shared.grid.shape().1).map(|row| row.iter().collect()).collect();
            let rows: Vec<&[&Matrix]> = rows.iter().map(Vec::as_slice).collect();
            Ok((host().concat(&rows)?, 0))
        })?;
        Ok(made)
    }
}

impl Piece {
    /// This rank's piece of a replicated vector.
    pub(crate) fn of(shared: &Arc<Shared>, x: &Vector) -> Result<Vector> {
        let here = x.download()?;
        let piece: Vector = if shared.world.size() == 1 {
            here
        } else {
            let range = IndexList::from(shared.grid.piece(here.len()));
            host().call(Op::Extract(&range, &IndexList::all()), &here).eval()?
        };
        shared.inner.upload_vector(&piece)
    }
    /// Gathers the whole vector on every rank. Collective.
    fn whole(&self) -> Result<Vector> {
        if self.shared.world.size() == 1 {
            return self.piece.download();
        }
        let shared = &self.shared;
        Ok(shared.together("download of a vector", || Ok((shared.whole(self.len, &self.piece)?, 0)))?.0)
    }
}

macro_rules! remote {
    ($($kind:ident |$x:ident| $shape:expr, $part:ident, $is:expr;)*) => {$(
        impl Remote for $kind {
            fn engine(&self) -> String {
                "cluster".into()
            }
            fn as_any(&self) -> &dyn Any {
                self
            }
            fn as_any_mut(&mut self) -> &mut dyn Any {
                self
            }
            fn another(&self) -> Box<dyn Remote> {
                Box::new(self.clone())
            }
            fn is(&self, other: &dyn Remote) -> bool {
                let is: fn(&$kind, &$kind) -> bool = $is;
                other.as_any().downcast_ref::<Self>().is_some_and(|other| is(self, other))
            }
            fn ty(&self) -> Type {
                self.$part.ty()
            }
            fn shape(&self) -> (usize, usize) {
                let $x = self;
                $shape
            }
            fn nnz(&self) -> Result<usize> {
                Ok(self.nnz)
            }
            fn download(&self) -> Result<Box<dyn Any>> {
                Ok(Box::new(self.whole()?))
            }
            fn index_list(&self) -> Result<Option<IndexList>> {
                Ok(None)
            }
        }
    )*};
}
remote! {
    Block |a| a.shape, block, |a, b| a.block.is(&b.block);
    Piece |x| (x.len, 1), piece, |a, b| std::ptr::eq(a, b);
}

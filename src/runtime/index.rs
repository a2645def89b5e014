//! Rows that are kept on a machine, to be asked for neighbours as often as wanted.

use std::path::Path;
use std::sync::Arc;

use super::distances::Neighbours;
use super::{Machine, Matrix};
use crate::algebra::Type;
use crate::distance::{Float, Measure, NeighbourIndex, Options, index_file};
#[cfg(feature = "cuda")]
use crate::gpu::DeviceIndex;
use crate::{Csr, Error, Result};

/// Rows of Y prepared for a measure and indexed once, of f32 or f64, on the machine that made it.
///
/// ```
/// use std::sync::Arc;
/// use sparring::distance::{Metric, Options};
/// use sparring::runtime::{Machine, Matrix};
/// use sparring::{Cpu, Csr};
/// let y = Matrix::from(Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?);
/// let machine = Machine::from(Cpu::new());
/// let index = machine.index(Arc::new(Metric::Cosine), &y, Options::default())?;
/// assert_eq!(machine.knn_of_index(&index, &y, 2)?.indices(), [0, 2, 1, 2, 2, 0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Debug)]
pub struct RowIndex(Kept);

#[derive(Debug)]
enum Kept {
    F32(NeighbourIndex<f32>),
    F64(NeighbourIndex<f64>),
    #[cfg(feature = "cuda")]
    DeviceF32(DeviceIndex<f32>),
    #[cfg(feature = "cuda")]
    DeviceF64(DeviceIndex<f64>),
}

impl RowIndex {
    /// Rows and columns of Y.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match &self.0 {
            Kept::F32(index) => index.shape(),
            Kept::F64(index) => index.shape(),
            #[cfg(feature = "cuda")]
            Kept::DeviceF32(index) => index.shape(),
            #[cfg(feature = "cuda")]
            Kept::DeviceF64(index) => index.shape(),
        }
    }
    /// The type of its values, and of those of the rows that ask.
    #[must_use]
    pub fn ty(&self) -> Type {
        match &self.0 {
            Kept::F32(_) => Type::F32,
            Kept::F64(_) => Type::F64,
            #[cfg(feature = "cuda")]
            Kept::DeviceF32(_) => Type::F32,
            #[cfg(feature = "cuda")]
            Kept::DeviceF64(_) => Type::F64,
        }
    }
    /// Writes it to a file, as [`NeighbourIndex::save`] does.
    /// # Errors
    /// Those of [`NeighbourIndex::save`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        match &self.0 {
            Kept::F32(index) => index.save(path),
            Kept::F64(index) => index.save(path),
            #[cfg(feature = "cuda")]
            Kept::DeviceF32(index) => index.save(path),
            #[cfg(feature = "cuda")]
            Kept::DeviceF64(index) => index.save(path),
        }
    }
}

fn no_distance(ty: Type) -> Error {
    Error::Unsupported { what: format!("a distance between rows of {ty}"), why: "they must be f32 or f64".into() }
}

fn on_host<'a, T: Float>(name: &'static str, m: &'a Matrix, of: Type) -> Result<&'a Csr<T>> {
    m.csr().ok_or_else(|| {
        let there = || format!("it is on {}; download it", m.machine());
        let message =
            if m.ty() == of { there() } else { format!("its values are {}, those of the index {of}", m.ty()) };
        Error::Argument { name, message }
    })
}

/// An index was made on another machine.
#[cfg(feature = "cuda")]
fn elsewhere() -> Error {
    Error::Argument { name: "index", message: "it was made on another machine".into() }
}

impl Machine {
    /// Rows of Y, of f32 or f64, prepared for a measure and indexed.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Unsupported`] unless Y is of f32 or f64.
    pub fn index(&self, measure: Arc<dyn Measure>, y: &Matrix, options: Options) -> Result<RowIndex> {
        let ty = y.ty();
        Ok(RowIndex(match (self, ty) {
            (Self::Cpu(cpu), Type::F32) => Kept::F32(cpu.index(measure, on_host("y", y, ty)?, options)?),
            (Self::Cpu(cpu), Type::F64) => Kept::F64(cpu.index(measure, on_host("y", y, ty)?, options)?),
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Type::F32) => {
                Kept::DeviceF32(cuda.index_of(measure, self.there(y)?.into_owned().typed()?, options)?)
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Type::F64) => {
                Kept::DeviceF64(cuda.index_of(measure, self.there(y)?.into_owned().typed()?, options)?)
            }
            (_, ty) => return Err(no_distance(ty)),
        }))
    }
    /// The index that was saved to a file, by whichever machine.
    /// # Errors
    /// Those of [`Cpu::load_index`](crate::Cpu::load_index), and of [`index`](Self::index).
    pub fn load_index(&self, path: impl AsRef<Path>) -> Result<RowIndex> {
        let path = path.as_ref();
        Ok(RowIndex(match (self, index_file::type_of(path)?) {
            (Self::Cpu(cpu), Type::F32) => Kept::F32(cpu.load_index(path)?),
            (Self::Cpu(cpu), _) => Kept::F64(cpu.load_index(path)?),
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Type::F32) => Kept::DeviceF32(cuda.load_index(path)?),
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), _) => Kept::DeviceF64(cuda.load_index(path)?),
        }))
    }
    /// The `k` nearest rows of an index for each row of X.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Argument`] for X of another type, or an index of another
    /// machine.
    pub fn knn_of_index(&self, index: &RowIndex, x: &Matrix, k: usize) -> Result<Neighbours> {
        Ok(match (self, &index.0) {
            (Self::Cpu(cpu), Kept::F32(index)) => index.knn(cpu, on_host("x", x, Type::F32)?, k)?.into(),
            (Self::Cpu(cpu), Kept::F64(index)) => index.knn(cpu, on_host("x", x, Type::F64)?, k)?.into(),
            #[cfg(feature = "cuda")]
            (Self::Cuda(_), Kept::DeviceF32(index)) => {
                index.knn(&self.there(x)?.into_owned().typed::<f32>()?, k)?.into()
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(_), Kept::DeviceF64(index)) => {
                index.knn(&self.there(x)?.into_owned().typed::<f64>()?, k)?.into()
            }
            #[cfg(feature = "cuda")]
            _ => return Err(elsewhere()),
        })
    }
    /// The rows of an index at most `radius` away from each row of X, as [`within`](Self::within) has them.
    /// # Errors
    /// Those of [`knn_of_index`](Self::knn_of_index); [`Error::Argument`] for a radius that is NaN.
    pub fn radius_of_index(&self, index: &RowIndex, x: &Matrix, radius: f64) -> Result<Matrix> {
        Ok(match (self, &index.0) {
            (Self::Cpu(cpu), Kept::F32(index)) => index.radius(cpu, on_host("x", x, Type::F32)?, radius)?.into(),
            (Self::Cpu(cpu), Kept::F64(index)) => index.radius(cpu, on_host("x", x, Type::F64)?, radius)?.into(),
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Kept::DeviceF32(index)) => {
                let x = self.there(x)?.into_owned().typed::<f32>()?;
                Matrix::on_device(cuda, index.radius(&x, radius)?.raw())
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(cuda), Kept::DeviceF64(index)) => {
                let x = self.there(x)?.into_owned().typed::<f64>()?;
                Matrix::on_device(cuda, index.radius(&x, radius)?.raw())
            }
            #[cfg(feature = "cuda")]
            _ => return Err(elsewhere()),
        })
    }
}

//! Distances and neighbours between the rows of matrices of f32 or f64.

use std::sync::Arc;

use crate::algebra::{Slice, SliceMut, Type};
use crate::distance::{self, Float, Measure, Options};
use crate::runtime::{Machine, Matrix};
use crate::{Error, Result};

/// Most bytes of distances that are fetched from a GPU at a time, unless a row has more.
#[cfg(feature = "cuda")]
const BLOCK_BYTES: usize = 1 << 30;

/// Which rows are compared, and how.
///
/// ```
/// use std::sync::Arc;
/// use sparring::distance::{Metric, Options};
/// use sparring::runtime::{Comparison, Machine, Matrix};
/// use sparring::{Cpu, Csr};
/// let x = Matrix::from(Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?);
/// let measure = Arc::new(Metric::Cosine);
/// let asked = Comparison { measure, x, y: None, options: Options { exclude_self: true, ..Options::default() } };
/// let near = Machine::from(Cpu::new()).neighbours(&asked, 1)?;
/// assert_eq!(near.indices(), [2, 2, 0]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone)]
pub struct Comparison {
    /// By what.
    pub measure: Arc<dyn Measure>,
    /// X, of f32 or f64.
    pub x: Matrix,
    /// Y, of the same type; without it the rows of X are compared among themselves.
    pub y: Option<Matrix>,
    /// Settings.
    pub options: Options,
}

impl std::fmt::Debug for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} of {:?} and {:?}: {:?}",
            self.measure.name(),
            self.x.shape(),
            self.y.as_ref().map(Matrix::shape),
            self.options
        )
    }
}

/// The nearest rows of each row, with distances of f32 or f64.
#[derive(Clone, Debug)]
pub struct Neighbours(Found);

#[derive(Clone, Debug)]
enum Found {
    F32(distance::Neighbours<f32>),
    F64(distance::Neighbours<f64>),
}

impl From<distance::Neighbours<f32>> for Found {
    fn from(near: distance::Neighbours<f32>) -> Self {
        Self::F32(near)
    }
}
impl From<distance::Neighbours<f64>> for Found {
    fn from(near: distance::Neighbours<f64>) -> Self {
        Self::F64(near)
    }
}

impl From<distance::Neighbours<f32>> for Neighbours {
    fn from(near: distance::Neighbours<f32>) -> Self {
        Self(near.into())
    }
}
impl From<distance::Neighbours<f64>> for Neighbours {
    fn from(near: distance::Neighbours<f64>) -> Self {
        Self(near.into())
    }
}

macro_rules! with_found {
    ($found:expr, $near:ident => $body:expr) => {
        match $found {
            Found::F32($near) => $body,
            Found::F64($near) => $body,
        }
    };
}

impl Neighbours {
    /// Neighbours of each row: what was asked for, or as many as there are.
    #[must_use]
    pub fn k(&self) -> usize {
        with_found!(&self.0, near => near.k())
    }
    /// Numbers of the neighbours, k for each row, the nearest first.
    #[must_use]
    pub fn indices(&self) -> &[u32] {
        with_found!(&self.0, near => near.indices())
    }
    /// Distances to them, in the type of the matrices.
    #[must_use]
    pub fn distances(&self) -> Slice<'_> {
        with_found!(&self.0, near => Slice::of(near.distances()))
    }
    /// What ran, and why.
    #[must_use]
    pub fn explain(&self) -> &str {
        with_found!(&self.0, near => &near.explain)
    }
    /// The graph of neighbours, nrows(X) × nrows(Y): an entry for each neighbour, its value the distance.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn graph(&self) -> Result<Matrix> {
        Ok(with_found!(&self.0, near => near.to_csr()?.into()))
    }
}

/// Runs the body with `$T` the type of that name, of those that have distances.
macro_rules! with_float {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            Type::F32 => {
                type $T = f32;
                $body
            }
            Type::F64 => {
                type $T = f64;
                $body
            }
            other => Err(Error::Unsupported {
                what: format!("a distance between rows of {other}"),
                why: "they must be f32 or f64".into(),
            }),
        }
    };
}

impl Comparison {
    fn check(&self, op: &'static str) -> Result<Type> {
        let ty = self.x.ty();
        if let Some(y) = &self.y {
            if y.ty() != ty {
                let message = format!("its values are {}, those of x {ty}", y.ty());
                return Err(Error::Argument { name: "y", message });
            }
            // Before anyone counts the distances between rows that have none.
            if y.shape().1 != self.x.shape().1 {
                return Err(Error::Shape { op, lhs: self.x.shape(), rhs: y.shape() });
            }
        }
        Ok(ty)
    }
    /// Rows of X and of Y: as many as all distances have rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.x.shape().0, self.y.as_ref().unwrap_or(&self.x).shape().0)
    }
    /// Neighbours that a row has where `k` are asked for.
    #[must_use]
    pub fn neighbours(&self, k: usize) -> usize {
        k.min(self.shape().1.saturating_sub(usize::from(self.options.exclude_self)))
    }
}

/// X and Y in the processor's memory.
type Host<'a, T> = (&'a crate::Csr<T>, Option<&'a crate::Csr<T>>);

fn on_host<T: Float>(question: &Comparison) -> Result<Host<'_, T>> {
    fn typed<'a, T: Float>(name: &'static str, m: &'a Matrix) -> Result<&'a crate::Csr<T>> {
        let message = || format!("it is on {}; download it", m.machine());
        m.csr().ok_or_else(|| Error::Argument { name, message: message() })
    }
    Ok((typed("x", &question.x)?, question.y.as_ref().map(|y| typed("y", y)).transpose()?))
}

/// X and Y in the memory of a GPU.
#[cfg(feature = "cuda")]
type There<T> = (crate::gpu::DeviceCsr<T>, Option<crate::gpu::DeviceCsr<T>>);

#[cfg(feature = "cuda")]
fn on_device<T: Float>(machine: &Machine, question: &Comparison) -> Result<There<T>> {
    let typed = |m: &Matrix| machine.there(m)?.into_owned().typed::<T>();
    Ok((typed(&question.x)?, question.y.as_ref().map(typed).transpose()?))
}

impl Machine {
    /// D(i, j) = d(X(i, :), Y(j, :)), row after row into `distances`, of the type of the matrices; what ran, and why.
    ///
    /// A GPU sends them in blocks of rows of at most 1 GiB: all of them need not fit there.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Length`] if there is no room for as many; [`Error::Unsupported`] unless X is of f32 or f64.
    pub fn distances_into(&self, question: &Comparison, distances: &mut SliceMut<'_>) -> Result<String> {
        let ty = question.check("distances")?;
        let (n, m) = question.shape();
        let (options, measure) = (question.options, Arc::clone(&question.measure));
        with_float!(ty, T => {
            let (found, of) = (distances.len(), distances.ty());
            let Some(out) = distances.get::<T>() else {
                let message = format!("room for values of {of}, distances are {ty}");
                return Err(Error::Argument { name: "distances", message });
            };
            let needed = n as u128 * m as u128;
            let overflow = || Error::IndexOverflow { what: "distances", needed, max: usize::MAX as u128 };
            let expected = n.checked_mul(m).ok_or_else(overflow)?;
            if found != expected {
                return Err(Error::Length { what: "distances", found, expected });
            }
            match self {
                Machine::Cpu(cpu) => {
                    let (x, y) = on_host::<T>(question)?;
                    cpu.distances(measure, x).to(y).options(options).into(out)
                }
                #[cfg(feature = "cuda")]
                Machine::Cuda(cuda) => {
                    let (x, y) = on_device::<T>(self, question)?;
                    // Blocks are large, because among the rows of X alone a single one takes half of the work.
                    let rows = BLOCK_BYTES / (m * size_of::<T>()).max(1);
                    cuda.distances(measure, &x).to(y.as_ref()).options(options).blocks(rows.max(1), |first, rows| {
                        out[first * m..][..rows.len()].copy_from_slice(rows);
                        Ok(())
                    })
                }
            }
        })
    }
    /// The `k` nearest rows of Y for each row of X, nearest first, at equal distance in order of their numbers. Never holds all
    /// distances.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Unsupported`] unless X is of f32 or f64.
    pub fn neighbours(&self, question: &Comparison, k: usize) -> Result<Neighbours> {
        let ty = question.check("neighbours")?;
        let (options, measure) = (question.options, Arc::clone(&question.measure));
        with_float!(ty, T => {
            let near = match self {
                Machine::Cpu(cpu) => {
                    let (x, y) = on_host::<T>(question)?;
                    cpu.neighbours(measure, x).to(y).options(options).k(k).eval()?
                }
                #[cfg(feature = "cuda")]
                Machine::Cuda(cuda) => {
                    let (x, y) = on_device::<T>(self, question)?;
                    cuda.neighbours(measure, &x).to(y.as_ref()).options(options).k(k).eval()?
                }
            };
            Ok(Neighbours(near.into()))
        })
    }
    /// The rows of Y at most `radius` away from each row of X, for a similarity those at least so near: an entry for each, its
    /// value the distance, 0 too. On the machine.
    /// # Errors
    /// See [`DistanceBackend`](crate::backend::DistanceBackend); [`Error::Argument`] for a radius that is NaN; [`Error::Unsupported`] unless X is of f32 or f64.
    pub fn within(&self, question: &Comparison, radius: f64) -> Result<Matrix> {
        let ty = question.check("radius")?;
        let (options, measure) = (question.options, Arc::clone(&question.measure));
        with_float!(ty, T => match self {
            Machine::Cpu(cpu) => {
                let (x, y) = on_host::<T>(question)?;
                Ok(cpu.neighbours(measure, x).to(y).options(options).radius(radius).eval()?.into())
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(cuda) => {
                let (x, y) = on_device::<T>(self, question)?;
                let found = cuda.neighbours(measure, &x).to(y.as_ref()).options(options).radius(radius).eval()?;
                Ok(Matrix::on_device(cuda, found.raw()))
            }
        })
    }
}

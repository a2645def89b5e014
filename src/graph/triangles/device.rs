//! Triangles on a GPU: uploads and the choice of method.

use super::{TriangleCounter, TriangleMethod, Triangles};
use crate::algebra::Value;
use crate::gpu::{DeviceCsr, DevicePattern};
use crate::{Csr, Cuda, Error, Index, Result};

impl TriangleCounter<DevicePattern> for Cuda {
    fn count(&self, a: &DevicePattern, method: TriangleMethod) -> Result<Triangles> {
        check(a.shape(), method)?;
        let found = self.count_triangles(a)?;
        Ok(Triangles { count: found.count, method: found.method })
    }
    fn per_vertex(&self, a: &DevicePattern) -> Result<Vec<u64>> {
        Err(refused(a.shape(), "triangles_per_vertex"))
    }
    type PerEdge = Csr<u64>;
    fn per_edge(&self, a: &DevicePattern) -> Result<Csr<u64>> {
        Err(refused(a.shape(), "triangles_per_edge"))
    }
}

impl<T: Value> TriangleCounter<DeviceCsr<T>> for Cuda {
    fn count(&self, a: &DeviceCsr<T>, method: TriangleMethod) -> Result<Triangles> {
        TriangleCounter::<DevicePattern>::count(self, a.pattern(), method)
    }
    fn per_vertex(&self, a: &DeviceCsr<T>) -> Result<Vec<u64>> {
        Err(refused(a.shape(), "triangles_per_vertex"))
    }
    type PerEdge = Csr<u64>;
    fn per_edge(&self, a: &DeviceCsr<T>) -> Result<Csr<u64>> {
        Err(refused(a.shape(), "triangles_per_edge"))
    }
}

impl<T: Value, I: Index> TriangleCounter<Csr<T, I>> for Cuda {
    /// Uploads only the pattern.
    fn count(&self, a: &Csr<T, I>, method: TriangleMethod) -> Result<Triangles> {
        check(a.shape(), method)?;
        TriangleCounter::<DevicePattern>::count(self, &self.upload_pattern(a.pattern())?, method)
    }
    fn per_vertex(&self, a: &Csr<T, I>) -> Result<Vec<u64>> {
        Err(refused(a.shape(), "triangles_per_vertex"))
    }
    type PerEdge = Csr<u64, I>;
    fn per_edge(&self, a: &Csr<T, I>) -> Result<Csr<u64, I>> {
        Err(refused(a.shape(), "triangles_per_edge"))
    }
}

/// Rejects unsupported input before any upload.
fn check((nrows, ncols): (usize, usize), method: TriangleMethod) -> Result<()> {
    if nrows != ncols {
        return Err(Error::NotSquare { op: "triangles", nrows, ncols });
    }
    match method {
        TriangleMethod::Auto | TriangleMethod::Compressed => Ok(()),
        TriangleMethod::Masked | TriangleMethod::Direct => Err(Error::Unsupported {
            what: format!("TriangleMethod::{method:?} on a GPU"),
            why: "a GPU looks up neighbors without forming a product; use Auto".into(),
        }),
    }
}

/// The error of counts per vertex or edge, which a GPU does not support.
pub(crate) fn refused((nrows, ncols): (usize, usize), op: &'static str) -> Error {
    if nrows != ncols {
        return Error::NotSquare { op, nrows, ncols };
    }
    Error::Unsupported { what: format!("{op} on a GPU"), why: "a GPU counts only all triangles; use a Cpu".into() }
}

//! Triangles on a GPU: what is sent there, and which method that is.

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
}

impl<T: Value> TriangleCounter<DeviceCsr<T>> for Cuda {
    fn count(&self, a: &DeviceCsr<T>, method: TriangleMethod) -> Result<Triangles> {
        TriangleCounter::<DevicePattern>::count(self, a.pattern(), method)
    }
}

impl<T: Value, I: Index> TriangleCounter<Csr<T, I>> for Cuda {
    /// Values stay where they are: only the pattern is sent.
    fn count(&self, a: &Csr<T, I>, method: TriangleMethod) -> Result<Triangles> {
        check(a.shape(), method)?;
        TriangleCounter::<DevicePattern>::count(self, &self.upload_pattern(a.pattern())?, method)
    }
}

/// Refuses before anything is sent.
fn check((nrows, ncols): (usize, usize), method: TriangleMethod) -> Result<()> {
    if nrows != ncols {
        return Err(Error::NotSquare { op: "triangles", nrows, ncols });
    }
    match method {
        TriangleMethod::Auto | TriangleMethod::Compressed => Ok(()),
        TriangleMethod::Masked => Err(Error::Unsupported {
            what: "TriangleMethod::Masked on a GPU".into(),
            why: "a GPU looks neighbours up without forming a product; ask for Auto".into(),
        }),
    }
}

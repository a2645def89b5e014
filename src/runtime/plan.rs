//! The structure of a product, on the machine that made it.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

#[cfg(feature = "cuda")]
use crate::gpu::spgemm as device;
use crate::spgemm;
use crate::{Error, Result};

/// The structure of C = A·B, on the machine that made it.
#[derive(Clone, Debug)]
pub enum Plan {
    /// On the CPU.
    Host(spgemm::Plan),
    /// On a GPU.
    #[cfg(feature = "cuda")]
    Device(device::Plan),
    /// On an engine of another crate.
    Remote(Arc<dyn RemotePlan>),
}

/// The structure of a product, as made by an engine of another crate.
pub trait RemotePlan: Any + Debug + Send + Sync {
    /// Name of the engine.
    fn engine(&self) -> String;
    /// For downcasting by its engine.
    fn as_any(&self) -> &dyn Any;
    /// Rows and columns of C.
    fn shape(&self) -> (usize, usize);
    /// The choices and their reasons.
    fn explain(&self) -> String;
    /// Statistics of the product.
    fn stats(&self) -> Stats;
}

/// Statistics of a product, as far as known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// Multiplications.
    pub flops: u64,
    /// Maximum multiplications in a row.
    pub max_row_flops: u64,
    /// Longest row of C; not on a GPU.
    pub max_row_nnz: Option<usize>,
    /// Entries of C.
    pub nnz: usize,
    /// Compression factor: multiplications after compression over those before.
    pub cf: Option<f64>,
    /// Compression factor of the maximum row bound.
    pub cmrf: Option<f64>,
}

impl Plan {
    /// Multiplications.
    #[must_use]
    pub fn flops(&self) -> u64 {
        match self {
            Self::Host(plan) => plan.flops(),
            #[cfg(feature = "cuda")]
            Self::Device(plan) => plan.flops(),
            Self::Remote(plan) => plan.stats().flops,
        }
    }
    /// Entries of C.
    #[must_use]
    pub fn nnz(&self) -> usize {
        match self {
            Self::Host(plan) => plan.nnz(),
            #[cfg(feature = "cuda")]
            Self::Device(plan) => plan.nnz(),
            Self::Remote(plan) => plan.stats().nnz,
        }
    }
    /// Rows and columns of C.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Host(plan) => plan.shape(),
            #[cfg(feature = "cuda")]
            Self::Device(plan) => plan.shape(),
            Self::Remote(plan) => plan.shape(),
        }
    }
    /// The choices and their reasons.
    #[must_use]
    pub fn explain(&self) -> String {
        match self {
            Self::Host(plan) => plan.explain(),
            #[cfg(feature = "cuda")]
            Self::Device(plan) => plan.explain(),
            Self::Remote(plan) => plan.explain(),
        }
    }
    /// Statistics of the product.
    #[must_use]
    pub fn stats(&self) -> Stats {
        match self {
            Self::Host(plan) => {
                let &spgemm::Stats { flops, max_row_flops, max_row_nnz, nnz, cf, cmrf } = plan.stats();
                Stats { flops, max_row_flops, max_row_nnz: Some(max_row_nnz), nnz, cf, cmrf }
            }
            #[cfg(feature = "cuda")]
            Self::Device(plan) => Stats {
                flops: plan.flops(),
                max_row_flops: plan.max_row_flops(),
                max_row_nnz: None,
                nnz: plan.nnz(),
                cf: plan.compression().map(|c| c.cf),
                cmrf: plan.compression().map(|c| c.cmrf),
            },
            Self::Remote(plan) => plan.stats(),
        }
    }
    pub(super) fn host(&self) -> Result<&spgemm::Plan> {
        match self {
            Self::Host(plan) => Ok(plan),
            _ => Err(elsewhere()),
        }
    }
    #[cfg(feature = "cuda")]
    pub(super) fn device(&self) -> Result<&device::Plan> {
        match self {
            Self::Device(plan) => Ok(plan),
            _ => Err(elsewhere()),
        }
    }
}

fn elsewhere() -> Error {
    Error::Argument { name: "plan", message: "it was made on another machine".into() }
}

impl Plan {
    /// Name of the machine that made it, as of [`Machine::name`](super::Machine::name).
    #[must_use]
    pub fn machine(&self) -> String {
        match self {
            Self::Host(_) => "cpu".into(),
            #[cfg(feature = "cuda")]
            Self::Device(plan) => format!("cuda:{}", plan.array().ordinal()),
            Self::Remote(plan) => plan.engine(),
        }
    }
}

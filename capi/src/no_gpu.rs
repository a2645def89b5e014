//! `gpu.rs` without the feature `cuda`: there is no GPU, and nothing can be on one.

use std::sync::Arc;

use sparring::distance::{Float, Neighbours};
use sparring::graph::{TriangleMethod, Triangles};
use sparring::spgemm::{Compression, Options};
use sparring::{Error, Result};

use crate::distances::Question;
use crate::guard::Fallible;
use crate::matrix::{Data, SparringType, Stored};

#[derive(Debug)]
pub(crate) enum Gpu {}
#[derive(Debug)]
pub(crate) enum GpuMatrix {}
pub(crate) enum GpuPlan {}

impl Gpu {
    pub(crate) fn open(ordinal: usize, _: Option<u64>) -> Result<Arc<Self>> {
        Err(Error::NoDevice { ordinal, why: "the library was built without the feature cuda".into() })
    }
    pub(crate) fn count() -> usize {
        0
    }
    pub(crate) fn describe(&self) -> String {
        match *self {}
    }
    pub(crate) fn wait(&self) -> Result<()> {
        match *self {}
    }
    pub(crate) fn matrix(self: &Arc<Self>, _: &'static str, _: &Stored) -> Fallible<GpuMatrix> {
        match **self {}
    }
    pub(crate) fn plan(self: &Arc<Self>, _: &Stored, _: &Stored, _: &Options) -> Fallible<GpuPlan> {
        match **self {}
    }
    pub(crate) fn triangles(self: &Arc<Self>, _: &Stored, _: TriangleMethod) -> Fallible<Triangles> {
        match **self {}
    }
    pub(crate) fn pairwise<T: Float>(
        self: &Arc<Self>,
        _: &Question,
        _: usize,
        _: impl FnMut(usize, &[T]) -> Result<()>,
    ) -> Fallible<String> {
        match **self {}
    }
    pub(crate) fn knn<T: Float>(self: &Arc<Self>, _: &Question, _: usize) -> Fallible<Neighbours<T>> {
        match **self {}
    }
    pub(crate) fn radius(self: &Arc<Self>, _: &Question, _: f64) -> Fallible<GpuMatrix> {
        match **self {}
    }
}

impl GpuMatrix {
    pub(crate) fn device(&self) -> String {
        match *self {}
    }
    pub(crate) fn check(&self, _: &'static str, _: &Arc<Gpu>) -> Fallible {
        match *self {}
    }
    pub(crate) fn shape(&self) -> (usize, usize) {
        match *self {}
    }
    pub(crate) fn nnz(&self) -> usize {
        match *self {}
    }
    pub(crate) fn value_type(&self) -> SparringType {
        match *self {}
    }
    pub(crate) fn download(&self) -> Result<Data> {
        match *self {}
    }
    pub(crate) fn has_pattern_of(&self, _: &Self) -> bool {
        match *self {}
    }
}

impl GpuPlan {
    pub(crate) fn device(&self) -> String {
        match *self {}
    }
    pub(crate) fn check(&self, _: &Arc<Gpu>) -> Fallible {
        match *self {}
    }
    pub(crate) fn flops(&self) -> u64 {
        match *self {}
    }
    pub(crate) fn max_row_flops(&self) -> u64 {
        match *self {}
    }
    pub(crate) fn nnz(&self) -> usize {
        match *self {}
    }
    pub(crate) fn compression(&self) -> Option<&Compression> {
        match *self {}
    }
    pub(crate) fn explain(&self) -> String {
        match *self {}
    }
    pub(crate) fn numeric(&self, _: &str, _: &GpuMatrix, _: &GpuMatrix) -> Result<GpuMatrix> {
        match *self {}
    }
    pub(crate) fn numeric_into(&self, _: &str, _: &GpuMatrix, _: &GpuMatrix, _: &mut GpuMatrix) -> Fallible {
        match *self {}
    }
}

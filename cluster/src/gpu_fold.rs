//! Redistribution and folds of vectors between GPUs, as one-row matrices: the counterpart of `fold.rs` without staging
//! through the host.

use std::ops::Range;
use std::sync::Arc;

use sparring::Result;
use sparring::runtime::{BinaryOp, IndexList, Matrix, Op, Vector};

use crate::cluster::Shared;
use crate::fold::{Line, added};
use crate::nccl::Gpus;
use crate::wire::broken;

impl Shared {
    /// Whether data is exchanged between GPUs by NCCL.
    pub(crate) fn by_gpus(&self) -> bool {
        self.gpus.is_some()
    }
    /// The NCCL group of a line, or of all ranks; `None` for a group of one.
    pub(crate) fn group(&self, line: Option<Line>) -> Option<&Arc<Gpus>> {
        self.gpus.as_ref()?[line.map_or(2, |line| line as usize)].as_ref()
    }
    /// A vector as a one-row matrix.
    pub(crate) fn as_row(&self, x: &Vector) -> Result<Matrix> {
        self.inner.engine().line_matrix(x, true).ok_or_else(broken)?
    }
    fn as_vector(&self, row: &Matrix) -> Result<Vector> {
        self.inner.call(Op::ExtractRow(0, &IndexList::all()), row).eval()
    }
    /// The concatenation of one-row matrices, as a vector.
    pub(crate) fn side_by_side(&self, rows: &[Matrix]) -> Result<Vector> {
        let rows: Vec<&Matrix> = rows.iter().collect();
        self.as_vector(&self.inner.upload(&self.inner.concat(&[&rows])?)?)
    }
    /// Parts of a vector, as one-row matrices.
    fn cut(&self, x: &Vector, ranges: &[Range<usize>]) -> Result<Vec<Matrix>> {
        let part = |range: &Range<usize>| {
            let list = IndexList::from(range.clone());
            self.as_row(&self.inner.call(Op::Extract(&list, &IndexList::all()), x).eval()?)
        };
        ranges.iter().map(part).collect()
    }
    /// [`redistributed`](Self::redistributed) by NCCL: `ranges` of the local part go to each rank, and the parts
    /// received from each rank fill the ranges `comes` of the new local part.
    pub(crate) fn redistributed_by_gpus(
        &self,
        x: Result<Vector>,
        ranges: &[Range<usize>],
        comes: &[Range<usize>],
    ) -> Result<Vector> {
        let gpus = self.group(None).ok_or_else(broken)?;
        let shapes: Vec<_> = comes.iter().map(|range| (1, range.len())).collect();
        let got = gpus.exchanged(&*self.world, &self.inner, x.and_then(|x| self.cut(&x, ranges)), &shapes)?;
        let ty = got.first().ok_or_else(broken)?.ty();
        // Column parts are not contiguous in rank order.
        let some = comes.iter().zip(got).filter(|(range, _)| !range.is_empty());
        let mut parts: Vec<(usize, Matrix)> = some.map(|(range, row)| (range.start, row)).collect();
        parts.sort_by_key(|part| part.0);
        if parts.is_empty() {
            return self.inner.upload_vector(&Vector::empty(ty, 0)?);
        }
        self.side_by_side(&parts.into_iter().map(|part| part.1).collect::<Vec<_>>())
    }
    /// Gathers the parts of a vector along a line.
    pub(crate) fn gathered_by_gpus(&self, line: Line, part: Result<Vector>) -> Result<Vector> {
        let Some(gpus) = self.group(Some(line)) else { return part };
        let row = part.and_then(|part| self.as_row(&part));
        self.side_by_side(&gpus.gathered(&**self.line(line), &self.inner, row)?)
    }
    /// The ⊕-sum of the line's vectors over this rank's part, in the order of the line.
    pub(crate) fn folded_by_gpus(
        &self,
        line: Line,
        add: &BinaryOp,
        part: Result<Vector>,
        ranges: &[Range<usize>],
    ) -> Result<Vector> {
        let Some(gpus) = self.group(Some(line)) else { return part };
        let link = self.line(line);
        let shapes = vec![(1, ranges[link.rank()].len()); link.size()];
        let rows = gpus.exchanged(&**link, &self.inner, part.and_then(|x| self.cut(&x, ranges)), &shapes)?;
        let sum = added(&self.inner, add, rows.iter().map(|row| self.as_vector(row)))?;
        sum.ok_or_else(broken)
    }
}

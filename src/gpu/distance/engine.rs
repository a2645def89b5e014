//! The common interface of the algorithms that compute keys, for three tasks: all distances, nearest neighbours, and
//! neighbours within a radius.

use std::ops::Range;
use std::sync::Arc;

use super::rows::Clean;
use crate::algebra::Type;
use crate::gpu::Cuda;
use crate::gpu::buffer::{Buffer, RawBuffer};
use crate::gpu::csr::RawCsr;
use crate::gpu::launch::{Program, Shape, args};
use crate::{Error, Result};

/// The longest list that fits registers, and the longest in shared memory.
const IN_REGISTERS: usize = 32;
const IN_SHARED: usize = 1024;

/// Sizes of a comparison: rows of X and Y, columns, entries of X and Y.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) nrows: (usize, usize),
    pub(super) ncols: usize,
    pub(super) nnz: (usize, usize),
}

/// Consecutive rows of a matrix.
pub(super) struct Part {
    pub(super) rows: Clean,
    /// Global index of the first one.
    pub(super) first: usize,
}

/// Prepared rows, ready to be compared. Distances have the type of the entries.
pub(super) trait Ready: Send + Sync {
    /// The algorithm, and why it was chosen.
    fn explain(&self) -> String;
    /// Writes the distances from these rows of X to all rows of Y into `out`, row by row.
    fn pairs(&self, cuda: &Cuda, rows: Range<usize>, out: &RawBuffer) -> Result<()>;
    /// The `k` nearest rows of Y for each row of X, for `k` ≥ 1. A list with fewer neighbours has empty slots at its
    /// end.
    fn nearest(&self, cuda: &Cuda, k: usize, exclude_self: bool) -> Result<Lists>;
    /// The program that merges and decodes the lists of [`nearest`](Self::nearest).
    fn nearest_program(&self, cuda: &Cuda, k: usize) -> Result<Arc<Program>>;
    /// Pairs within a radius. Calls `allows` with the bytes of the result as soon as they are known.
    fn within(&self, cuda: &Cuda, radius: &Radius, allows: &dyn Fn(u128) -> Result<()>) -> Result<RawCsr>;
}

/// The radius of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Radius {
    pub(super) radius: f64,
    pub(super) similarity: bool,
    pub(super) exclude_self: bool,
}

impl Radius {
    /// The program text that selects it.
    pub(super) fn text(similarity: bool, large: bool) -> String {
        format!(
            "#define RADIUS\n#define SIMILARITY {similarity}\ntypedef {} OffsetC;\n",
            if large { "unsigned long long" } else { "unsigned int" }
        )
    }
}

/// `a` · `b`, as the number of neighbour counts.
pub(super) fn counts(a: usize, b: usize) -> Result<usize> {
    let (needed, max) = (a as u128 * b as u128, usize::MAX as u128);
    a.checked_mul(b).ok_or(Error::IndexOverflow { what: "counts of neighbours", needed, max })
}

/// The nearest rows of Y for each row of X: k keys per row, encoded as order-preserving integers, and k indices.
pub(super) struct Lists {
    pub(super) codes: Buffer<u64>,
    pub(super) ids: Buffer<u32>,
}

impl Lists {
    /// Bytes per neighbour.
    pub(super) const BYTES: u128 = 12;

    /// The program text for lists of `k`; the largest keys come first if `largest`.
    pub(super) fn text(k: usize, largest: bool) -> String {
        format!(
            "#define NEAREST\n#define K_IN_REGISTERS {}\n#define IN_SHARED {}\n#define LARGEST {largest}\n",
            u8::from(k <= IN_REGISTERS),
            k > IN_REGISTERS && k <= IN_SHARED
        )
    }
    /// Bytes of shared memory per list.
    pub(super) fn shared(k: usize) -> u32 {
        if k > IN_REGISTERS && k <= IN_SHARED { 12 * k as u32 } else { 0 }
    }
    /// Uninitialized lists of `k` for these rows.
    pub(super) fn new(cuda: &Cuda, rows: usize, k: usize) -> Result<Self> {
        let (needed, max) = (rows as u128 * k as u128, usize::MAX as u128);
        let slots = rows.checked_mul(k).ok_or(Error::IndexOverflow { what: "neighbours", needed, max })?;
        Ok(Self { codes: cuda.alloc(slots, "keys of neighbours")?, ids: cuda.alloc(slots, "neighbours")? })
    }
    /// Each row has `parts` lists. Writes the k nearest of all of them to `to`, from row `first` on.
    pub(super) fn merge_into(
        &self,
        program: &Program,
        [rows, k, parts]: [usize; 3],
        to: &Self,
        first: usize,
    ) -> Result<()> {
        let (codes, ids) = (to.codes.from(first * k), to.ids.from(first * k));
        let arguments = &[args![rows as u64, k as u32, parts as u32, &self.codes, &self.ids], &[codes, ids][..]];
        program.kernel("nearest_of_parts")?.launch(Shape::blocks(rows, 32, Self::shared(k))?, &arguments.concat())
    }
    /// The k nearest of both; all indices in `behind` exceed those in `self`.
    pub(super) fn join(&self, cuda: &Cuda, program: &Program, [rows, k]: [usize; 2], behind: &Self) -> Result<Self> {
        let all = Self::new(cuda, rows, k)?;
        let (a, b) = (args![&self.codes, &self.ids], args![&behind.codes, &behind.ids]);
        let arguments = [args![rows as u64, k as u32], &a[..], &b[..], args![&all.codes, &all.ids]].concat();
        program.kernel("join_lists")?.launch(Shape::blocks(rows, 32, Self::shared(k))?, &arguments)?;
        Ok(all)
    }
    /// The distances of the keys, in the type that the program returns.
    pub(super) fn distances(&self, cuda: &Cuda, program: &Program, of: Type) -> Result<Arc<RawBuffer>> {
        let n = self.codes.len();
        let distances = cuda.alloc_raw(of, n, "distances of neighbours")?;
        program.kernel("distances_of")?.launch(Shape::for_each(n, 256)?, args![&self.codes, n as u64, &distances])?;
        Ok(distances)
    }
}

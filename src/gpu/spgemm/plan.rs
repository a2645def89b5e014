//! The plan of a product on the device: everything that follows from the patterns alone.

use std::sync::{Arc, Mutex, PoisonError};

use super::bins::{self, Bins, Work};
use super::folds::Folds;
use super::lists::Lists;
use super::map::{Made, Map};
use super::parts::{self, Cut};
use crate::gpu::buffer::Buffer;
use crate::gpu::{Cuda, DevicePattern};
use crate::{Error, Result};

/// The structure of C = A·B under our own policy: all of its pattern.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    a: Arc<DevicePattern>,
    b: Arc<DevicePattern>,
    c: Arc<DevicePattern>,
    lengths: Buffer<u32>,
    /// C lacks columns of the product.
    masked: bool,
    flops: u64,
    max_row_flops: u64,
    why: Arc<str>,
    /// Rows in bins for values.
    rows: Arc<Mutex<Rows>>,
    /// Multiplications of each row.
    work: Buffer<u32>,
    /// The ranks of the products of rows that were sorted in registers.
    few: Option<Arc<Map>>,
    again: Arc<Mutex<Again>>,
}

/// Rows in bins for values, as far as they were asked for.
#[derive(Debug, Default)]
struct Rows {
    bins: Option<Bins>,
    /// Those that are cut, for each size of parts.
    cut: Vec<(u32, Option<Arc<Cut>>)>,
}

/// What a plan that is used again knows.
#[derive(Debug, Default)]
enum Again {
    /// It was not used yet.
    #[default]
    Never,
    /// It was used once; the next use finds out more.
    Once,
    /// It was used twice.
    Known(Kept),
}

/// Where the products go that are not told with the columns: none where that would take too much memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    /// The ranks of the products of the other short rows.
    pub(super) map: Option<Arc<Map>>,
    /// The products of longer rows.
    pub(super) lists: Option<Arc<Lists>>,
    /// Instead of all these, the products of each entry.
    pub(super) folds: Option<Arc<Folds>>,
}

/// Short rows from which on the shortest are computed by a thread each, in a kernel of their own.
pub(super) const MANY_ROWS: usize = 1 << 16;
/// Multiplications up to which the products of each entry are kept (`benches/gpu_spgemm.rs`: rgg_n_2_15_s0, of 3.5 ·
/// 10⁶, 0.041 to 0.036 ms; wiki-Vote, of 4.5 · 10⁶, 0.045 to 0.054).
const SMALL: u64 = 1 << 22;

impl Plan {
    /// The plan of a product of A and B whose result has the pattern C, with rows of these lengths, in these bins for
    /// values if they are known; `masked` if it lacks columns of the product.
    pub(super) fn new(
        [a, b, c]: [&Arc<DevicePattern>; 3],
        (lengths, bins): (Buffer<u32>, Option<Bins>),
        masked: bool,
        work: &Work,
        few: Option<Map>,
        why: String,
    ) -> Self {
        Self {
            a: Arc::clone(a),
            b: Arc::clone(b),
            c: Arc::clone(c),
            lengths,
            masked,
            flops: work.flops,
            max_row_flops: work.most,
            why: why.into(),
            rows: Arc::new(Mutex::new(Rows { bins, cut: vec![] })),
            work: work.rows.clone(),
            few: few.map(Arc::new),
            again: Arc::default(),
        }
    }
    /// Multiplications.
    pub(super) fn flops(&self) -> u64 {
        self.flops
    }
    /// Most multiplications in a row.
    pub(super) fn max_row_flops(&self) -> u64 {
        self.max_row_flops
    }
    /// Where C has entries.
    pub(super) fn pattern(&self) -> &Arc<DevicePattern> {
        &self.c
    }
    /// What was chosen, and why.
    pub(super) fn explain(&self) -> &str {
        &self.why
    }
    /// The map of the rows that were sorted in registers.
    pub(super) fn few(&self) -> Option<&Map> {
        self.few.as_deref()
    }
    /// The patterns of A and B.
    pub(super) fn operands(&self) -> [&Arc<DevicePattern>; 2] {
        [&self.a, &self.b]
    }

    /// Where products go, from the second use on.
    pub(super) fn kept(&self, cuda: &Cuda, lanes: u32) -> Result<Kept> {
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = match &*again {
            Again::Never => {
                *again = Again::Once;
                return Ok(Kept::default());
            }
            Again::Known(kept) => return Ok(kept.clone()),
            Again::Once => {
                let (patterns, bins) = ([&*self.a, &*self.b, &*self.c], &self.bins(cuda)?);
                let from = Made { patterns, bins, lengths: &self.lengths, work: &self.work };
                // Where all rows are short, and few, their map makes one kernel too.
                let one = self.few.is_some() && (3..=5).all(|bin| bins.len(bin) == 0) && self.c.nrows < MANY_ROWS;
                let small = self.flops <= SMALL && !one;
                let folds = if small { affordable(Folds::make(cuda, &from, self.flops))? } else { None };
                if folds.is_some() {
                    Kept { folds, ..Kept::default() }
                } else {
                    // Lists of all products, numbered in 32 bits.
                    let listed = !self.masked && u32::try_from(self.max_row_flops).is_ok();
                    let lists = if listed { affordable(Lists::make(cuda, &from, self.flops))? } else { None };
                    Kept { map: affordable(Map::make(cuda, &from, lanes))?, lists, folds }
                }
            }
        };
        *again = Again::Known(kept.clone());
        Ok(kept)
    }

    /// Rows in bins; made when first asked for.
    pub(super) fn bins(&self, cuda: &Cuda) -> Result<Bins> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bins) = &rows.bins {
            return Ok(bins.clone());
        }
        let made = bins::for_values(cuda, &self.a, self.flops, &self.work, &self.lengths)?;
        rows.bins = Some(made.clone());
        Ok(made)
    }
    /// The longer rows in parts of `part` entries; made when first asked for.
    pub(super) fn cut(&self, cuda: &Cuda, bins: &Bins, part: u32) -> Result<Option<Arc<Cut>>> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, cut)) = rows.cut.iter().find(|(p, _)| *p == part) {
            return Ok(cut.clone());
        }
        let made = parts::cut(cuda, &self.c, bins, part)?.map(Arc::new);
        rows.cut.push((part, made.clone()));
        Ok(made)
    }
}

/// What was made, or none where memory does not allow it.
fn affordable<T>(made: Result<Option<T>>) -> Result<Option<Arc<T>>> {
    match made {
        Err(Error::DeviceMemory { .. } | Error::Budget { .. }) => Ok(None),
        made => Ok(made?.map(Arc::new)),
    }
}

/// Refuses operands that a plan for `a` and `b` was not made for.
pub(super) fn check(cuda: &Cuda, planned: [&Arc<DevicePattern>; 2], found: [&Arc<DevicePattern>; 2]) -> Result<()> {
    for (operand, (planned, found)) in ["A", "B"].into_iter().zip(planned.into_iter().zip(found)) {
        if !Arc::ptr_eq(planned, found) && !parts::same(cuda, planned, found)? {
            return Err(Error::PatternChanged { operand, found: found.nnz, planned: planned.nnz });
        }
    }
    Ok(())
}

//! The plan of a product on the device: everything that follows from the patterns alone.

use std::sync::{Arc, Mutex, PoisonError};

use super::bins::{self, Bins, Work};
use super::folds::Folds;
use super::lists::Lists;
use super::map::{Map, MapInputs};
use super::parts::{self, Cut};
use crate::gpu::buffer::Buffer;
use crate::gpu::{Cuda, DevicePattern};
use crate::{Error, Result};

/// The structure of C = A·B under our own policy: its whole pattern.
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
    /// Rows binned for values.
    rows: Arc<Mutex<RowBins>>,
    /// Multiplications of each row.
    work: Buffer<u32>,
    /// The ranks of the products of rows that were sorted in registers.
    few: Option<Arc<Map>>,
    reuse: Arc<Mutex<Reuse>>,
}

/// Rows binned for values, computed on first use.
#[derive(Debug, Default)]
struct RowBins {
    bins: Option<Bins>,
    /// Split rows, for each part size in use.
    cut: Vec<(u32, Option<Arc<Cut>>)>,
}

/// What a plan records over its uses.
#[derive(Debug, Default)]
enum Reuse {
    /// Not used yet.
    #[default]
    Unused,
    /// Used once; the next use records more.
    UsedOnce,
    /// Used at least twice.
    Mapped(ProductMaps),
}

/// Destinations of the products beyond those computed with the columns; `None` where they would take too much memory.
#[derive(Clone, Debug, Default)]
pub(super) struct ProductMaps {
    /// The ranks of the products of the other short rows.
    pub(super) map: Option<Arc<Map>>,
    /// The products of longer rows.
    pub(super) lists: Option<Arc<Lists>>,
    /// Instead of all these, the products grouped by entry of C.
    pub(super) folds: Option<Arc<Folds>>,
}

/// Short rows from which on the shortest are computed by one thread each, in a kernel of their own.
pub(super) const MANY_ROWS: usize = 1 << 16;
/// Multiplications up to which products are grouped by entry (`benches/gpu_spgemm.rs`: rgg_n_2_15_s0, of 3.5 · 10⁶,
/// 0.041 to 0.036 ms; wiki-Vote, of 4.5 · 10⁶, 0.045 to 0.054).
const SMALL: u64 = 1 << 22;

impl Plan {
    /// The plan of a product of A and B with the pattern C, given C's row lengths, and its rows binned for values if
    /// they are known; `masked` if C lacks columns of the product.
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
            rows: Arc::new(Mutex::new(RowBins { bins, cut: vec![] })),
            work: work.rows.clone(),
            few: few.map(Arc::new),
            reuse: Arc::default(),
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
    /// C's pattern.
    pub(super) fn pattern(&self) -> &Arc<DevicePattern> {
        &self.c
    }
    /// The choices, and their reasons.
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

    /// The destinations of products, from the second use on.
    pub(super) fn product_maps(&self, cuda: &Cuda, lanes: u32) -> Result<ProductMaps> {
        let mut reuse = self.reuse.lock().unwrap_or_else(PoisonError::into_inner);
        let maps = match &*reuse {
            Reuse::Unused => {
                *reuse = Reuse::UsedOnce;
                return Ok(ProductMaps::default());
            }
            Reuse::Mapped(maps) => return Ok(maps.clone()),
            Reuse::UsedOnce => {
                let (patterns, bins) = ([&*self.a, &*self.b, &*self.c], &self.bins(cuda)?);
                let from = MapInputs { patterns, bins, lengths: &self.lengths, work: &self.work };
                // If all rows are short and there are few, their map needs only one kernel too.
                let one = self.few.is_some() && (3..=5).all(|bin| bins.len(bin) == 0) && self.c.nrows < MANY_ROWS;
                let small = self.flops <= SMALL && !one;
                let folds = if small { affordable(Folds::make(cuda, &from, self.flops))? } else { None };
                if folds.is_some() {
                    ProductMaps { folds, ..ProductMaps::default() }
                } else {
                    // Lists cover all products, numbered in 32 bits.
                    let listed = !self.masked && u32::try_from(self.max_row_flops).is_ok();
                    let lists = if listed { affordable(Lists::make(cuda, &from, self.flops))? } else { None };
                    ProductMaps { map: affordable(Map::make(cuda, &from, lanes))?, lists, folds }
                }
            }
        };
        *reuse = Reuse::Mapped(maps.clone());
        Ok(maps)
    }

    /// Rows binned for values; computed on first use.
    pub(super) fn bins(&self, cuda: &Cuda) -> Result<Bins> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bins) = &rows.bins {
            return Ok(bins.clone());
        }
        let made = bins::for_values(cuda, &self.a, self.flops, &self.work, &self.lengths)?;
        rows.bins = Some(made.clone());
        Ok(made)
    }
    /// The longer rows split into parts of `part` entries; computed on first use.
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

/// The result, or `None` if memory does not allow it.
fn affordable<T>(made: Result<Option<T>>) -> Result<Option<Arc<T>>> {
    match made {
        Err(Error::DeviceMemory { .. } | Error::Budget { .. }) => Ok(None),
        made => Ok(made?.map(Arc::new)),
    }
}

/// An error for operands with other patterns than those of the plan.
pub(super) fn check(cuda: &Cuda, planned: [&Arc<DevicePattern>; 2], found: [&Arc<DevicePattern>; 2]) -> Result<()> {
    for (operand, (planned, found)) in ["A", "B"].into_iter().zip(planned.into_iter().zip(found)) {
        if !Arc::ptr_eq(planned, found) && !parts::same(cuda, planned, found)? {
            return Err(Error::PatternChanged { operand, found: found.nnz, planned: planned.nnz });
        }
    }
    Ok(())
}

//! The algorithm of a measure on the device: the text of a pass, or that of a NAMM.

use std::sync::Arc;

use super::blocks::{self, TwoPass};
use super::engine::{Part, Ready, Sizes};
use super::pairs::{self, IndexedRows, OnePass};
use super::pass::{Keeps, Pass};
use crate::algebra::{Printed, Type};
use crate::distance::{self, Float, PassOf, QuerySpec, Search, Typed};
use crate::gpu::Cuda;
use crate::{Error, Result};

/// The algorithm of a measure.
pub(super) enum Algorithm {
    /// One pass over common columns.
    One(Pass),
    /// Two passes over the union.
    Two(Arc<Printed>),
}

/// Cached rows of Y, for later rows of X.
pub(super) struct CachedRows {
    rows: CachedForm,
    /// The smallest and the largest magnitude.
    magnitudes: [f64; 2],
}

enum CachedForm {
    One(IndexedRows),
    Two(Part),
}

impl Algorithm {
    /// The algorithm for this query and entry type.
    /// # Errors
    /// [`Error::Argument`] for a parameter outside its domain; [`Error::Unsupported`] for a formula without GPU text.
    pub(super) fn new(question: &QuerySpec<'_>, entries: Type) -> Result<Self> {
        let distance::Strategy(way) = question.measure.strategy(&question.options, entries)?;
        let largest = question.measure.is_similarity();
        // Entries that are not finite define no order; the pairs that share a column are not counted against a budget.
        let options = &question.options;
        let tiles = options.unchecked || options.memory_budget.is_some();
        let search = if tiles { Search::Tiles } else { options.search };
        let way = match way {
            Typed::F32(pass) => Self::of(&pass, largest, search),
            Typed::F64(pass) => Self::of(&pass, largest, search),
        };
        let what = || question.measure.name();
        way.ok_or_else(|| Error::Unsupported { what: what(), why: "it has no GPU text".into() })
    }
    fn of<W: Float>(pass: &PassOf<W>, largest: bool, search: Search) -> Option<Self> {
        Some(match pass {
            PassOf::One(loops) => {
                let facts = loops.facts();
                let keeps = if facts.counts { Keeps::NormsAndCounts } else { Keeps::Norms };
                let invariance = loops.invariance();
                Self::One(Pass {
                    text: loops.text()?,
                    of: W::TYPE,
                    keeps,
                    symmetric: facts.symmetric,
                    invariance,
                    largest,
                    ring: loops.ring(),
                    apart: facts.disjoint_order,
                    search,
                })
            }
            PassOf::Chebyshev => Self::One(Pass::chebyshev::<W>()),
            PassOf::Two(folds) => Self::Two(folds.printed()),
        })
    }
    /// Whether rows with this many entries of these magnitudes need no rescaling.
    pub(super) fn fits(&self, magnitudes: [f64; 2], entries: usize) -> bool {
        match self {
            Self::One(pass) => distance::fits(pass.of, pass.invariance, magnitudes, entries),
            Self::Two(_) => true,
        }
    }
    /// Bytes for the rows of X, and for those of Y with everything else, during a comparison. `most` is the budget,
    /// `entries` the type of the matrices.
    pub(super) fn bytes(&self, sizes: &Sizes, entries: Type, most: Option<u64>) -> [u128; 2] {
        match self {
            Self::One(pass) => pairs::bytes(pass, sizes),
            Self::Two(namm) => blocks::bytes(namm, sizes, entries, most),
        }
    }
    /// Prepares and indexes rows of Y, for later rows of X.
    pub(super) fn cache_rows(&self, cuda: &Cuda, y: Part) -> Result<CachedRows> {
        let magnitudes = y.rows.magnitudes;
        let rows = match self {
            Self::One(pass) => CachedForm::One(IndexedRows::new(cuda, pass, &y)?),
            Self::Two(_) => CachedForm::Two(y),
        };
        Ok(CachedRows { rows, magnitudes })
    }
    /// Whether the cached rows need no rescaling, for this many entries in all.
    pub(super) fn fits_cached(&self, cached: &CachedRows, entries: usize) -> bool {
        self.fits(cached.magnitudes, entries)
    }
    /// Prepares rows of X against cached rows of Y.
    pub(super) fn ready_with_cached(
        &self,
        cuda: &Cuda,
        x: &Part,
        cached: &CachedRows,
        most: Option<u64>,
    ) -> Result<Box<dyn Ready>> {
        Ok(match (self, &cached.rows) {
            (Self::One(pass), CachedForm::One(index)) => Box::new(OnePass::with_index(cuda, pass, x, index)?),
            (Self::Two(namm), CachedForm::Two(y)) => Box::new(TwoPass::new(cuda, namm, x, Some(y), most)?),
            _ => {
                let (what, why) = ("an index".into(), "it was built for another measure".into());
                return Err(Error::Unsupported { what, why });
            }
        })
    }
    /// Prepares rows. Without `y`, those of `x` are compared among themselves; with `same`, both are rows of one
    /// matrix.
    pub(super) fn ready(
        &self,
        cuda: &Cuda,
        x: &Part,
        y: Option<&Part>,
        same: bool,
        most: Option<u64>,
    ) -> Result<Box<dyn Ready>> {
        Ok(match self {
            Self::One(pass) => Box::new(OnePass::new(cuda, pass, x, y, same)?),
            Self::Two(namm) => Box::new(TwoPass::new(cuda, namm, x, y, most)?),
        })
    }
}

//! How a measure is computed on the device: the text of a pass, or that of a NAMM.

use std::sync::Arc;

use super::blocks::{self, TwoPass};
use super::engine::{Part, Ready, Sizes};
use super::pairs::{self, Answers, OnePass};
use super::pass::{Keeps, Pass};
use crate::algebra::{Printed, Type};
use crate::distance::{self, Float, PassOf, Question, Search, Typed};
use crate::gpu::Cuda;
use crate::{Error, Result};

/// How a measure is computed.
pub(super) enum Way {
    /// One pass over common columns.
    One(Pass),
    /// Two passes over the union.
    Two(Arc<Printed>),
}

/// Rows of Y, for rows of X that come later.
pub(super) struct Kept {
    rows: KeptRows,
    /// The smallest magnitude and the largest.
    magnitudes: [f64; 2],
}

enum KeptRows {
    One(Answers),
    Two(Part),
}

impl Way {
    /// How what is asked of entries of that type is computed.
    /// # Errors
    /// [`Error::Argument`] for a parameter outside its domain; [`Error::Unsupported`] for a formula without text for a
    /// GPU.
    pub(super) fn new(question: &Question<'_>, entries: Type) -> Result<Self> {
        let distance::Way(way) = question.measure.way(&question.options, entries)?;
        let largest = question.measure.is_similarity();
        // Entries that are not finite make no order; what rows share is not counted for a budget.
        let options = &question.options;
        let tiles = options.unchecked || options.memory_budget.is_some();
        let search = if tiles { Search::Tiles } else { options.search };
        let way = match way {
            Typed::F32(pass) => Self::of(&pass, largest, search),
            Typed::F64(pass) => Self::of(&pass, largest, search),
        };
        let what = || question.measure.name();
        way.ok_or_else(|| Error::Unsupported { what: what(), why: "it has no text that a GPU compiles".into() })
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
                    apart: facts.apart,
                    search,
                })
            }
            PassOf::Chebyshev => Self::One(Pass::chebyshev::<W>()),
            PassOf::Two(folds) => Self::Two(folds.printed()),
        })
    }
    /// Whether rows with entries of these magnitudes, so many, are compared without scaling them.
    pub(super) fn fits(&self, magnitudes: [f64; 2], entries: usize) -> bool {
        match self {
            Self::One(pass) => distance::fits(pass.of, pass.invariance, magnitudes, entries),
            Self::Two(_) => true,
        }
    }
    /// Bytes that rows of X take while they are compared, and those of Y with everything else; `most` is a budget,
    /// `entries` the type of the matrices.
    pub(super) fn bytes(&self, sizes: &Sizes, entries: Type, most: Option<u64>) -> [u128; 2] {
        match self {
            Self::One(pass) => pairs::bytes(pass, sizes),
            Self::Two(namm) => blocks::bytes(namm, sizes, entries, most),
        }
    }
    /// Prepares and indexes rows of Y, for rows of X that come later.
    pub(super) fn keep(&self, cuda: &Cuda, y: Part) -> Result<Kept> {
        let magnitudes = y.rows.magnitudes;
        let rows = match self {
            Self::One(pass) => KeptRows::One(Answers::new(cuda, pass, &y)?),
            Self::Two(_) => KeptRows::Two(y),
        };
        Ok(Kept { rows, magnitudes })
    }
    /// Whether kept rows are compared without scaling them, where there are so many entries in all.
    pub(super) fn fits_kept(&self, kept: &Kept, entries: usize) -> bool {
        self.fits(kept.magnitudes, entries)
    }
    /// Prepares rows of X against those that are kept.
    pub(super) fn ready_of_kept(
        &self,
        cuda: &Cuda,
        x: &Part,
        kept: &Kept,
        most: Option<u64>,
    ) -> Result<Box<dyn Ready>> {
        Ok(match (self, &kept.rows) {
            (Self::One(pass), KeptRows::One(answers)) => Box::new(OnePass::asking(cuda, pass, x, answers)?),
            (Self::Two(namm), KeptRows::Two(y)) => Box::new(TwoPass::new(cuda, namm, x, Some(y), most)?),
            _ => {
                let (what, why) = ("an index".into(), "it was made for another measure".into());
                return Err(Error::Unsupported { what, why });
            }
        })
    }
    /// Prepares rows. Without `y` those of `x` are compared among themselves; with `same`, both are rows of one matrix.
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

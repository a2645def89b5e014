//! One pass over common columns, in words that do not depend on its measure.

use std::sync::Arc;

use crate::algebra::{AbsDiff, MaxFromZero, Printed, Real, Type, Union, emit_contract_as};
use crate::distance::{Apart, Invariance, Search};

/// One pass over common columns.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// `struct Exact` and `struct Recipe` in CUDA, and `struct Ring` or `CHEBYSHEV`.
    pub(super) text: Arc<str>,
    /// What it is computed in, f32 or f64.
    pub(super) of: Type,
    /// What is kept beside the entries.
    pub(super) keeps: Keeps,
    /// d(x, y) = d(y, x), and rows are prepared in the same way on either side.
    pub(super) symmetric: bool,
    /// What may be done to rows so that sums neither overflow nor cancel.
    pub(super) invariance: Invariance,
    /// Neighbours are those of the largest.
    pub(super) largest: bool,
    /// + and ⊗, for products whose values are the sums.
    pub(super) ring: Option<Arc<Printed>>,
    /// What is known of rows that share no column.
    pub(super) apart: Apart,
    /// How neighbours are looked for.
    pub(super) search: Search,
}

/// What is kept beside the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Two norms of each row; a pair keeps a sum.
    Norms,
    /// Two norms of each row; a pair keeps a sum and the number of common columns.
    NormsAndCounts,
    /// Ranks of entries and the largest magnitudes of each row; a pair keeps a maximum and two masks.
    Ranks,
}

impl Pass {
    /// Bytes of shared memory of a pair.
    pub(super) fn bytes_of_pair(&self) -> u32 {
        let sum = self.of.size() as u32;
        match self.keeps {
            Keeps::Norms => sum,
            Keeps::NormsAndCounts => sum + 4,
            Keeps::Ranks => sum + 8,
        }
    }
    /// Whether a part of ⊗ is computed once for an entry of X, since it takes long.
    pub(super) fn splits(&self) -> bool {
        self.text.contains("struct Split {")
    }
    /// The pass of the largest difference.
    pub(super) fn chebyshev<W: Real>() -> Self {
        let exact = emit_contract_as("Exact", Union(MaxFromZero::<W>::new(), AbsDiff::<W>::new()));
        let w = W::CUDA;
        let recipe = format!(
            "struct Recipe {{\n  using W = {w};\n  static constexpr bool zero_self = true;\n  \
             static __device__ {w} finish({w} key) {{ return key; }}\n}};\n"
        );
        Self {
            text: format!("#define CHEBYSHEV\n{exact}{recipe}").into(),
            of: W::TYPE,
            keeps: Keeps::Ranks,
            symmetric: true,
            invariance: Invariance::None,
            largest: false,
            ring: None,
            apart: Apart::Unknown,
            search: Search::Tiles,
        }
    }
}

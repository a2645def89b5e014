//! A pass over common columns, as program text and facts independent of the measure.

use std::sync::Arc;

use crate::algebra::{AbsDiff, MaxFromZero, Printed, Real, Type, Union, emit_contract_as};
use crate::distance::{DisjointOrder, Invariance, Search};

/// A pass over common columns.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// CUDA text of `struct Exact`, `struct Recipe`, and `struct Ring` or `CHEBYSHEV`.
    pub(super) text: Arc<str>,
    /// Type of computation, f32 or f64.
    pub(super) of: Type,
    /// The data stored beside the entries.
    pub(super) keeps: Keeps,
    /// d(x, y) = d(y, x), and both sides are prepared in the same way.
    pub(super) symmetric: bool,
    /// Transformations of rows that avoid overflow and cancellation of sums.
    pub(super) invariance: Invariance,
    /// Whether the largest keys are nearest.
    pub(super) largest: bool,
    /// The operators + and ⊗, for products whose values are the sums.
    pub(super) ring: Option<Arc<Printed>>,
    /// How the distances of rows that share no column are ordered.
    pub(super) apart: DisjointOrder,
    /// Search strategy for neighbours.
    pub(super) search: Search,
}

/// The data stored beside the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Two norms per row; a pair holds a sum.
    Norms,
    /// Two norms per row; a pair holds a sum and the number of common columns.
    NormsAndCounts,
    /// Ranks of entries and the largest magnitudes of each row; a pair holds a maximum and two bitmaps.
    Ranks,
}

impl Pass {
    /// Bytes of shared memory per pair.
    pub(super) fn bytes_of_pair(&self) -> u32 {
        let sum = self.of.size() as u32;
        match self.keeps {
            Keeps::Norms => sum,
            Keeps::NormsAndCounts => sum + 4,
            Keeps::Ranks => sum + 8,
        }
    }
    /// Whether an expensive part of ⊗ is computed once per entry of X.
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
            apart: DisjointOrder::Unknown,
            search: Search::Tiles,
        }
    }
}

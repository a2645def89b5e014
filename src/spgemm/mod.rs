//! SpGEMM: C = A ⊕.⊗ B in two phases. The plan comes from the patterns; the numeric phase fills in values for any
//! semiring.

mod accumulator;
mod budget;
mod choice;
mod columns;
mod kk;
mod masked;
mod one_pass;
mod plan;
mod pool;
mod product;
mod product_finder;
mod scratch_cache;
mod select;
mod shifted_operand;
mod shifted_rows;
mod small;
mod stats;
mod tasks;
mod values;

pub(crate) use one_pass::{MxmInfo, mxm, mxm_any};
pub use plan::{Plan, Stats};
pub(crate) use plan::{Request, count, numeric, numeric_any, numeric_any_into, numeric_into, symbolic};
#[cfg(feature = "cuda")]
pub(crate) use select::compresses;
pub use select::{Accumulator, Compress, KkSettings, Options, Policy, PoolMode};
pub use stats::{Compression, compression};

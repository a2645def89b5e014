//! Guides with tested examples: [`examples`], [`graphs`], [`program`] and, with the feature `cuda`, `gpu`.

#[doc = include_str!("../docs/examples.md")]
pub mod examples {}

#[cfg(feature = "cuda")]
#[doc = include_str!("../docs/gpu.md")]
pub mod gpu {}

#[doc = include_str!("../docs/graphs.md")]
pub mod graphs {}

#[doc = include_str!("../docs/program.md")]
pub mod program {}

//! Formulas as data: small typed graphs that can be compared, hashed, recognized by name, printed as CUDA, evaluated in
//! blocks, and parsed.

mod blocks;
mod device;
mod function;
mod graph;
mod host;
mod kernels;
mod laws;
pub mod operators;
mod parse;
pub(crate) mod print;
mod semiring;
mod split;
mod symmetry;
mod text;
mod typing;

pub use blocks::{BLOCK, Blocks, Scratch};
pub use device::{DeviceCall, DeviceFunction};
pub use function::Function;
pub(crate) use graph::Builder;
pub use graph::{Formula, Parameter};
pub use host::{HostCall, Input};
pub(crate) use semiring::name as name_in;
pub use semiring::{MonoidFormula, RingFormula};

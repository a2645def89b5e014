//! Contractions of dense tensors on the device.
//!
//! | file | holds |
//! | --- | --- |
//! | `batch` | device arrays under a layout; upload and download |
//! | `asked` | the builder of a contraction: options, result |
//! | `steps`, `axes` | one kernel per pair of operands, and the indices that it runs over |
//! | `arrays`, `launch` | kernel arguments; launches in stream order |
//! | `matrices`, `strided`, `action` | the compiled programs: small matrices, any strides, mass operators |
//! | `large`, `numbers`, `tiles` | large products: recognition, cuBLAS for f32 and f64, tiles for all other rings |
//! | `tiled`, `space`, `model`, `tune` | tileable kernels: the search space, a cost model, the tuner |
//! | `units` | programs for the test that compiles all kernels |
//! | `banks` | bank conflicts of shared memory |

mod action;
mod arrays;
mod axes;
mod banks;
mod batch;
mod einsum;
mod large;
mod launch;
mod matrices;
mod model;
mod numbers;
mod space;
mod steps;
mod strided;
mod tiled;
mod tiles;
mod tune;
mod units;

pub use batch::DeviceBatch;
pub use einsum::DeviceEinsum;
pub(super) use units::programs;

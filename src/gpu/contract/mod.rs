//! Contractions of dense tensors on the device.
//!
//! | file | holds |
//! | --- | --- |
//! | `batch` | arrays under a layout, and how they get there and back |
//! | `asked` | a contraction, its options, its result |
//! | `steps`, `axes` | a kernel for each pair of operands, and the indices that it goes through |
//! | `arrays`, `launch` | what a kernel is given; the kernels, one after the other |
//! | `matrices`, `strided`, `action` | what is compiled, and with which numbers: small matrices, any strides, mass operators |
//! | `large`, `numbers`, `tiles` | large products: what they are, those of f32 and f64 that cuBLAS has, all others by tiles |
//! | `tiled`, `space`, `model`, `tune` | kernels that can be cut in several ways; which ways there are, how fast they should be, and which is the fastest |
//! | `units` | programs for the test that compiles all |
//! | `banks` | what reading shared memory costs |

mod action;
mod arrays;
mod asked;
mod axes;
mod banks;
mod batch;
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

pub use asked::DeviceEinsum;
pub use batch::DeviceBatch;
pub(super) use units::programs;

//! Matrices and tensors generated from hashes alone: the same bits in any language, on any platform.
//!
//! Every number is a hash of a seed and a counter, or the next draw of a generator, so benchmarks need no files and
//! their results can be compared across libraries. There are three families, named after the scripts that generate the
//! same arrays in Python for the other libraries; they share shapes, not hashes:
//!
//! | module | hash | value of an entry |
//! | --- | --- | --- |
//! | [`bench_spgemm`] | `splitmix64(counter + seed)` | a hash of its row and column |
//! | [`gen_py`] | `mix(seed·G + (counter + 1)·K)` | a hash of its position in row order |
//! | [`bench_tensor`] | numpy's generator PCG64 | drawn in entry order |
//!
//! [`graphs`] has graphs with the hash of the first family, whose values are edge weights. [`bench_contract`] has dense
//! arrays of draws of PCG64.
//!
//! [`case`], [`matrix`] and [`tensor`] look them up by name; [`fingerprint`], [`tensor_fingerprint`], [`checks`] and
//! [`expected`] compare them and their products with those of other programs.
//!
//! The few draws that use the platform's `pow` are truncated to integers, so a last-bit difference is visible only if
//! it crosses an integer.
//! ```
//! let a = sparring_generate::matrix("tc_rmat10")?;
//! assert_eq!((a.nrows(), a.nnz()), (1024, 21008));
//! # Ok::<(), sparring::Error>(())
//! ```

pub mod bench_contract;
pub mod bench_spgemm;
pub mod bench_tensor;
mod cases;
mod check;
pub mod gen_py;
pub mod graphs;
mod keys;
mod memory;
mod numpy;
mod places;
mod shapes;

pub use cases::{
    Case, DISTANCE, GEN_PY, GEN_PY_TENSORS, GRAPHS, Product, SPGEMM, TENSORS, TRIANGLES, case, check_name, is_product,
    matrix, queries, tensor,
};
pub use check::{Checks, checks, expected, fingerprint};
pub use places::tensor_fingerprint;
pub use shapes::SHAPES;

/// One step of splitmix64 from the state `x`.
#[must_use]
#[inline]
pub fn splitmix64(x: u64) -> u64 {
    mix(x.wrapping_add(0x9E37_79B9_7F4A_7C15))
}

/// The finalizer of splitmix64: a bijection of 64-bit words.
#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The upper 53 bits of `x` as a number in [0, 1).
#[inline]
fn unit(x: u64) -> f64 {
    (x >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

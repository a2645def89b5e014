//! Matrices and tensors made from a hash alone: the same bits in any language, on any machine.
//!
//! Every number is a hash of a seed and a counter, or the next of a generator, so a benchmark needs no files and its
//! results can be compared across libraries. There are three families, after the scripts that make the same arrays in
//! Python for the other libraries; they share shapes, not hashes:
//!
//! | module | hash | value of an entry |
//! | --- | --- | --- |
//! | [`bench_spgemm`] | `splitmix64(counter + seed)` | a hash of its row and column |
//! | [`gen_py`] | `mix(seed·G + (counter + 1)·K)` | a hash of its position in row order |
//! | [`bench_tensor`] | those of numpy's generator PCG64 | drawn in the order of the entries |
//!
//! [`graphs`] has graphs of the first family's hash, whose values are weights of edges. [`bench_contract`] has dense
//! arrays of that generator's numbers.
//!
//! [`case`], [`matrix`] and [`tensor`] find them by name; [`fingerprint`], [`tensor_fingerprint`], [`checks`] and
//! [`expected`] compare them and their products with what other programs have.
//!
//! Draws are truncated to integers after the few steps that call the platform's `pow`, so a last-bit
//! difference there would have to fall on an integer to be seen.
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

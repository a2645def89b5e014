//! The arrays of `bench_contract.py`: consecutive draws of numpy's `default_rng(12345).random`.

use super::memory::collected;
use super::numpy::Generator;
use sparring::Result;

/// Seed of every case.
const SEED: u64 = 12345;
const ARRAYS: &str = "arrays of a contraction";

macro_rules! arrays {
    ($($t:ty, $random:ident, $gemm:ident, $elements:ident;)*) => {$(
        /// A, B and C, each a batch of n × n row-major matrices of (u − ½) / n.
        /// # Errors
        /// [`Error::OutOfMemory`](sparring::Error::OutOfMemory).
        pub fn $gemm(n: usize, batch: usize) -> Result<[Vec<$t>; 3]> {
            let mut rng = Generator::new(SEED);
            let len = n.saturating_mul(n).saturating_mul(batch);
            let mut one = || collected(len, std::iter::repeat_with(|| (rng.$random() - 0.5) / n as $t), ARRAYS);
            Ok([one()?, one()?, one()?])
        }
        /// The basis B of Q points × D functions (u − 0.4), weights of `batch` elements with Q points in each of `dims`
        /// directions (u + ½), and values of D functions in each direction (u − ½).
        /// # Errors
        /// [`Error::OutOfMemory`](sparring::Error::OutOfMemory).
        pub fn $elements(dims: u32, d: usize, q: usize, batch: usize) -> Result<[Vec<$t>; 3]> {
            let mut rng = Generator::new(SEED);
            let mut one = |len, shift: $t| collected(len, std::iter::repeat_with(|| rng.$random() + shift), ARRAYS);
            let of = |n: usize| n.saturating_pow(dims).saturating_mul(batch);
            Ok([one(q.saturating_mul(d), -0.4)?, one(of(q), 0.5)?, one(of(d), -0.5)?])
        }
    )*};
}
arrays! {
    f64, random, gemm, elements;
    f32, random32, gemm_f32, elements_f32;
}

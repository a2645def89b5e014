//! Products of two factors whose shapes are hard for row-wise load balancing: diagonals, permutations,
//! single rows and columns, tall matrices times their transposes.

use super::bench_spgemm::{er, lap2d, value};
use super::keys::from_keys;
use super::memory::{reserved, sort};
use super::splitmix64;
use sparring::par::Threads;
use sparring::{Csr, Result};

/// Names of the products.
pub const SHAPES: &[&str] =
    &["diagonal", "scaled_rows", "scaled_columns", "permuted", "dot", "outer", "long_row", "tall30", "tall8", "tall1"];

/// Dimension of the diagonals and permutations, equal to that of `lap2d_1000`.
const N: u64 = 1_000_000;

/// The factors of the product called `name`, or `None` if it is none of [`SHAPES`].
///
/// | name | factors |
/// | --- | --- |
/// | `diagonal` | two diagonals of 10⁶ |
/// | `scaled_rows`, `scaled_columns` | a diagonal times `lap2d_1000`, and `lap2d_1000` times a diagonal |
/// | `permuted` | the permutation of 10⁶ rows that sorts the hashes of their numbers, times `lap2d_1000` |
/// | `dot`, `outer` | 1 × 10⁶ times 10⁶ × 1; 2000 × 1 times 1 × 2000; full |
/// | `long_row` | a full row of 250,000 times as many rows of 8 |
/// | `tall30`, `tall8`, `tall1` | Aᵀ·A: full 50,000 × 30; a quarter full 2·10⁶ × 8; full 3·10⁶ × 1 |
/// # Errors
/// [`sparring::Error::OutOfMemory`].
pub(super) fn factors(name: &str) -> Result<Option<[Csr<f64>; 2]>> {
    Ok(Some(match name {
        "diagonal" => [diagonal()?, diagonal()?],
        "scaled_rows" => [diagonal()?, lap2d(1000)?],
        "scaled_columns" => [lap2d(1000)?, diagonal()?],
        "permuted" => [permutation()?, lap2d(1000)?],
        "dot" => [full(1, N)?, full(N, 1)?],
        "outer" => [full(2000, 1)?, full(1, 2000)?],
        "long_row" => [full(1, 250_000)?, er(250_000, 8, 2)?],
        "tall30" => by_transpose(full(50_000, 30)?)?,
        "tall8" => by_transpose(filtered(2_000_000, 8, |key| splitmix64(key).is_multiple_of(4))?)?,
        "tall1" => by_transpose(full(3_000_000, 1)?)?,
        _ => return Ok(None),
    }))
}

/// The matrix of the entries whose keys satisfy `keep`.
fn filtered(nrows: u64, ncols: u64, keep: impl Fn(u64) -> bool) -> Result<Csr<f64>> {
    let mut keys = reserved((nrows * ncols) as usize, "entries of a generated matrix")?;
    keys.extend((0..nrows * ncols).filter(|key| keep(*key)));
    from_keys(nrows, ncols, keys, value)
}
fn full(nrows: u64, ncols: u64) -> Result<Csr<f64>> {
    filtered(nrows, ncols, |_| true)
}
fn diagonal() -> Result<Csr<f64>> {
    let mut keys = reserved(N as usize, "entries of a generated matrix")?;
    keys.extend((0..N).map(|i| i * N + i));
    from_keys(N, N, keys, value)
}
/// Row r has the entry 1 in the column whose number has the r-th smallest hash.
fn permutation() -> Result<Csr<f64>> {
    let mut hashes = reserved(N as usize, "entries of a generated matrix")?;
    // The lower bits store the number, which also breaks ties.
    hashes.extend((0..N).map(|i| splitmix64(i) >> 20 << 20 | i));
    sort(&mut hashes);
    let columns = hashes.into_iter().map(|hash| (hash % (1 << 20)) as u32).collect();
    Csr::new(N as usize, N as usize, (0..=N as usize).collect(), columns, vec![1.0; N as usize])
}
fn by_transpose(a: Csr<f64>) -> Result<[Csr<f64>; 2]> {
    Ok([a.transpose(&Threads::caller())?, a])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint;

    /// Fingerprints from `benches/compare/cases.py`.
    #[test]
    fn factors_have_the_bits_of_the_python_script() {
        let bits = |name| factors(name).unwrap().unwrap().map(|a| fingerprint(&a));
        assert_eq!(bits("permuted")[0], [0x929d_ea12_801a_fb7c, 0x2c9f_b4eb_74f8_4e33, 0x0615_b344_eed2_d3d8]);
        let outer = [
            [0xe83d_2d84_53cf_d268, 0xb2d3_cbc3_a8ca_085d, 0xa28a_7b55_4212_ed41],
            [0xfe07_ea9e_30a8_f4dc, 0x82db_eeac_44df_e06e, 0xf36c_9335_4302_871c],
        ];
        assert_eq!(bits("outer"), outer);
        assert_eq!(bits("tall30")[1], [0xb282_ff1a_8d22_67c0, 0x67eb_508d_1e71_83ab, 0x1090_2da3_ef55_ddf8]);
        assert_eq!(bits("diagonal")[0], [0x929d_ea12_801a_fb7c, 0xf9d8_dd85_e66c_2809, 0xa9cd_438c_68e7_5698]);
        assert!(factors("lap2d_1000").unwrap().is_none());
    }
}

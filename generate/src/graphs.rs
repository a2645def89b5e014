//! Undirected graphs of the kinds in the GAP benchmark: both directions of each edge, no self-loops, duplicates
//! dropped. The value of an entry is the [`weight`] of its edge.
//!
//! Source: Beamer, Asanović, Patterson 2015.

use super::bench_spgemm::Rmat;
use super::keys::{check_size, cross, from_keys, stencil_keys};
use super::memory::reserved;
use super::splitmix64;
use sparring::{Csr, Result};

/// Draws per vertex.
const EDGE_FACTOR: u64 = 16;
/// Seed of [`urand`].
const SEED: u64 = 4;

/// The weight of the edge between `i` and `j` of a graph of `n` vertices: 1 + splitmix64(min(i, j)·n + max(i, j)) mod
/// 255, an integer from 1 to 255.
#[must_use]
#[inline]
pub fn weight(n: u64, i: u64, j: u64) -> f64 {
    (1 + splitmix64(i.min(j).wrapping_mul(n).wrapping_add(i.max(j))) % 255) as f64
}

/// GAP's Kronecker graph: [`Rmat::new`] with 16 draws for each of 2^scale vertices.
/// # Errors
/// [`sparring::Error::Argument`] for a scale above 31, [`sparring::Error::OutOfMemory`].
pub fn kron(scale: u32) -> Result<Csr<f64>> {
    let keys = Rmat::new(scale, EDGE_FACTOR).keys()?;
    weighted(1 << scale, keys)
}

/// GAP's uniform random graph: 16 draws for each of 2^scale vertices, both ends of an edge uniform.
/// # Errors
/// Those of [`kron`].
pub fn urand(scale: u32) -> Result<Csr<f64>> {
    check_size("scale", scale.into(), 31)?;
    let (n, draws) = (1u64 << scale, EDGE_FACTOR << scale);
    let mut keys = reserved(2 * draws as usize, "the draws of a generated matrix")?;
    let end = |t: u64| splitmix64(t.wrapping_add(SEED << 40)) % n;
    for (i, j) in (0..draws).map(|e| (end(2 * e), end(2 * e + 1))).filter(|(i, j)| i != j) {
        keys.extend([i * n + j, j * n + i]);
    }
    weighted(n, keys)
}

/// A k × k grid graph.
/// # Errors
/// [`sparring::Error::Argument`] for a k above 46,340, [`sparring::Error::OutOfMemory`].
pub fn grid(k: u64) -> Result<Csr<f64>> {
    check_size("k", k, 46_340)?;
    let mut offsets = cross(2);
    offsets.retain(|offset| *offset != [0; 3]);
    weighted(k * k, stencil_keys([1, k, k], &offsets)?)
}

fn weighted(n: u64, keys: Vec<u64>) -> Result<Csr<f64>> {
    from_keys(n, n, keys, |_, i, j| weight(n, i, j))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint;

    /// Fingerprints of the graphs of the Python script.
    #[test]
    fn small_graphs_have_the_bits_of_the_script() {
        #[rustfmt::skip]
        let cases = [
            (kron(6), 64, 766, [0x4c940770240579ca, 0x60f59593e917bb64, 0x52563e1ccef55472]),
            (urand(6), 64, 1544, [0x45e978ee28dacd59, 0x9503e4aa687b8af0, 0x043a594bdb85d241]),
            (grid(7), 49, 168, [0x78c019c81f91083c, 0x41dacb0d2955681d, 0x9756946dc9e7fc67]),
        ];
        for (a, n, nnz, bits) in cases {
            let a = a.unwrap();
            assert_eq!((a.shape(), a.nnz()), ((n, n), nnz));
            assert_eq!(fingerprint(&a), bits);
            assert!(a.iter().all(|(i, j, x)| i != j && a.get(j, i) == Some(x) && (1.0..=255.0).contains(x)));
        }
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert_eq!(urand(0).unwrap_err().to_string(), "scale: 0 is not between 1 and 31");
        for refused in [kron(0), kron(40), urand(40), grid(0), grid(50_000)] {
            assert!(refused.is_err());
        }
    }
}

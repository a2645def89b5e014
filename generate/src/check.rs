//! Fingerprints and checksums, by which two programs verify that they have the same matrix or product.

use super::splitmix64;
use sparring::{Csr, Error, Result};

/// Hashes of the row pointers, the columns and the bits of the values: Σₚ s(s(p) xor wₚ) mod 2⁶⁴, with s
/// splitmix64 and wₚ the p-th number as a 64-bit word. Different matrices almost certainly differ.
pub fn fingerprint(a: &Csr<f64>) -> [u64; 3] {
    [
        hash(a.row_ptr().iter().map(|&p| p as u64)),
        hash(a.col_idx().iter().map(|&j| j.into())),
        hash(a.values().iter().map(|x| x.to_bits())),
    ]
}

pub(super) fn hash(words: impl Iterator<Item = u64>) -> u64 {
    (0..).zip(words).fold(0, |sum, (p, w)| sum.wrapping_add(splitmix64(splitmix64(p) ^ w)))
}

/// Checksums of a matrix, independent of the order within rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checks {
    /// Σ C(i, j).
    pub sum: f64,
    /// Σ u(i) C(i, j) v(j), with u(i) = 1 + splitmix64(i) mod 16 and v(j) = 1 + splitmix64(j + 2³²) mod 16.
    pub wsum: f64,
    /// The same sums over absolute values |C(i, j)|, or over absolute values of the terms of C: the scale of rounding
    /// errors.
    pub sizes: [f64; 2],
}

impl Checks {
    /// Whether the sums agree within 10⁻⁹ of the sums of absolute values, because terms may cancel.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        let [sum, wsum] = [0, 1].map(|i| 1e-9 * self.sizes[i].max(other.sizes[i]));
        (self.sum - other.sum).abs() <= sum && (self.wsum - other.wsum).abs() <= wsum
    }
}

fn left_weight(i: usize) -> f64 {
    (1 + splitmix64(i as u64) % 16) as f64
}
fn right_weight(j: usize) -> f64 {
    (1 + splitmix64((j as u64).wrapping_add(1 << 32)) % 16) as f64
}

/// The checksums of `c`.
#[must_use]
pub fn checks(c: &Csr<f64>) -> Checks {
    let v: Vec<f64> = (0..c.ncols()).map(right_weight).collect();
    let weighted = |of: fn(f64) -> f64| -> f64 {
        (0..c.nrows())
            .map(|i| {
                let (cols, values) = c.row(i);
                left_weight(i) * cols.iter().zip(values).map(|(&j, x)| of(*x) * v[j as usize]).sum::<f64>()
            })
            .sum()
    };
    let sizes = [c.values().iter().map(|x| x.abs()).sum(), weighted(f64::abs)];
    Checks { sum: c.values().iter().sum(), wsum: weighted(|x| x), sizes }
}

/// The checksums of the plus-times product of `factors`, computed without forming it, by matrix-vector products from
/// the right.
/// # Errors
/// [`Error::Shape`] if adjacent factors do not conform; [`Error::Argument`] if there are no factors.
pub fn expected(factors: &[&Csr<f64>]) -> Result<Checks> {
    let Some(last) = factors.last() else {
        return Err(Error::Argument { name: "factors", message: "a product needs at least one matrix".into() });
    };
    let mut shape = last.shape();
    for a in factors.iter().rev().skip(1) {
        if a.ncols() != shape.0 {
            return Err(Error::Shape { op: "expected", lhs: a.shape(), rhs: shape });
        }
        shape = a.shape();
    }
    // Σ and Σ u(i) x(i) of the product with a vector.
    let sums = |of: fn(f64) -> f64| {
        let (mut ones, mut weighted) =
            (vec![1.0; last.ncols()], (0..last.ncols()).map(right_weight).collect::<Vec<_>>());
        for a in factors.iter().rev() {
            (ones, weighted) = (times(a, &ones, of), times(a, &weighted, of));
        }
        [ones.iter().sum(), weighted.iter().enumerate().map(|(i, x)| left_weight(i) * x).sum::<f64>()]
    };
    let [sum, wsum] = sums(|x| x);
    Ok(Checks { sum, wsum, sizes: sums(f64::abs) })
}

fn times(a: &Csr<f64>, x: &[f64], of: fn(f64) -> f64) -> Vec<f64> {
    (0..a.nrows())
        .map(|i| {
            let (cols, values) = a.row(i);
            cols.iter().zip(values).map(|(&j, y)| of(*y) * x[j as usize]).sum()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_spgemm::galerkin;
    use sparring::Cpu;
    use sparring::algebra::PlusTimes;
    use sparring::backend::Backend;

    #[test]
    fn a_product_has_the_checksums_expected_of_it() {
        let [r, a, p] = galerkin(6).unwrap();
        let cpu = Cpu::new();
        let ap = cpu.mxm(PlusTimes::<f64>::default(), &a, &p).eval().unwrap();
        let rap = cpu.mxm(PlusTimes::<f64>::default(), &r, &ap).eval().unwrap();
        assert!(checks(&rap).agrees(&expected(&[&r, &a, &p]).unwrap()));
        let mut wrong = rap.clone();
        wrong.values_mut().swap(0, 1);
        assert!(!checks(&wrong).agrees(&checks(&rap)));
        // Cancellation leaves rounding errors of the size of the terms.
        let cancels = Csr::new(1, 2, vec![0, 2], vec![0, 1], vec![1e16, -1e16 + 2.0]).unwrap();
        let off = Csr::new(1, 2, vec![0, 2], vec![0, 1], vec![1e16, -1e16 + 4.0]).unwrap();
        assert!(checks(&cancels).agrees(&checks(&off)));
        assert!(expected(&[&a, &r]).is_err() && expected(&[]).is_err());
    }

    #[test]
    fn a_fingerprint_sees_order_and_bits() {
        let a = |x, y| Csr::new(1, 2, vec![0, 2], vec![0, 1], vec![x, y]).unwrap();
        assert_ne!(fingerprint(&a(1.0, 2.0)), fingerprint(&a(2.0, 1.0)));
        assert_ne!(fingerprint(&a(0.0, 2.0)), fingerprint(&a(-0.0, 2.0)));
    }
}

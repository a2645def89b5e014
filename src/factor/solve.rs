//! The R × R systems of CP-ALS: symmetric, and singular where components coincide.

use faer::linalg::solvers::{DenseSolveCore, Llt, SelfAdjointEigen};
use faer::{Mat, Side};

use crate::{Error, Result};

/// Eigenvalues below this fraction of the largest count as zero.
const CUT: f64 = 1e-12;
/// If the smallest diagonal element of the Cholesky factor is below this fraction of the largest, eigenvalues decide.
/// After a small diagonal element p, rounding leaves √ε / p of an element that should be zero, so singularity is
/// certain to be detected for p > ε^¼.
const REGULAR: f64 = 1e-3;

/// The pseudo-inverse of a symmetric positive semidefinite matrix of order `n`, row-major, and whether the matrix is
/// singular.
/// # Errors
/// [`Error::Argument`] if an element is not finite, or the eigenvalues do not converge.
pub(crate) fn pseudo_inverse(n: usize, a: &[f64]) -> Result<(Vec<f64>, bool)> {
    let failed = |message: &str| Error::Argument { name: "factors", message: message.to_owned() };
    if !a.iter().all(|x| x.is_finite()) {
        return Err(failed("their Gram matrices overflow f64: scale the tensor"));
    }
    if n == 0 {
        return Ok((Vec::new(), false));
    }
    let matrix = Mat::from_fn(n, n, |i, j| (a[i * n + j] + a[j * n + i]) / 2.0);
    if let Ok(cholesky) = Llt::new(matrix.as_ref(), Side::Lower) {
        let diagonal = (0..n).map(|i| cholesky.L()[(i, i)]);
        let largest = diagonal.clone().fold(0.0, f64::max);
        if diagonal.fold(f64::INFINITY, f64::min) > REGULAR * largest {
            let inverse = cholesky.inverse();
            return Ok(((0..n * n).map(|at| inverse[(at / n, at % n)]).collect(), false));
        }
    }
    let eigen = SelfAdjointEigen::new(matrix.as_ref(), Side::Lower)
        .map_err(|_| failed("the eigenvalue iteration did not converge"))?;
    let (values, vectors) = (eigen.S(), eigen.U());
    let largest = (0..n).map(|k| values[k]).fold(0.0, f64::max);
    let retained: Vec<usize> = (0..n).filter(|&k| values[k] > CUT * largest).collect();
    let mut inverse = vec![0.0; n * n];
    for &k in &retained {
        for i in 0..n {
            let scaled = vectors[(i, k)] / values[k];
            for (j, x) in inverse[i * n..][..n].iter_mut().enumerate() {
                *x += scaled * vectors[(j, k)];
            }
        }
    }
    Ok((inverse, retained.len() < n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
        (0..n * n).map(|at| (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum()).collect()
    }
    fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
        a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance)
    }

    #[test]
    fn inverses() {
        let a = [4.0, 1.0, 0.5, 1.0, 3.0, 0.25, 0.5, 0.25, 2.0];
        let (inverse, singular) = pseudo_inverse(3, &a).unwrap();
        assert!(!singular && close(&product(3, &a, &inverse), &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 1e-15));
        assert_eq!(pseudo_inverse(0, &[]).unwrap(), (vec![], false));
        assert!(pseudo_inverse(1, &[f64::NAN]).is_err());
    }

    /// The four Moore–Penrose equations, on matrices of deficient rank.
    #[test]
    fn pseudo_inverses() {
        let n = 5;
        for rank in 0..5 {
            let rows: Vec<f64> = (0..rank * n).map(|k| ((k * k * 7 + k * 3) % 11) as f64 - 5.0).collect();
            let a: Vec<f64> =
                (0..n * n).map(|at| (0..rank).map(|k| rows[k * n + at / n] * rows[k * n + at % n]).sum()).collect();
            let (b, singular) = pseudo_inverse(n, &a).unwrap();
            assert!(singular);
            assert!(close(&product(n, &product(n, &a, &b), &a), &a, 1e-10));
            assert!(close(&product(n, &product(n, &b, &a), &b), &b, 1e-10));
            let ab = product(n, &a, &b);
            assert!((0..n * n).all(|at| (ab[at] - ab[at % n * n + at / n]).abs() < 1e-10));
        }
        // Matrices of rank 4, in which a small pivot before the last one hides a last pivot that should be zero.
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / 16_777_216.0 - 0.5
        };
        for _ in 0..20_000 {
            let rows: Vec<f64> = (0..4 * n).map(|_| draw()).collect();
            let a: Vec<f64> =
                (0..n * n).map(|at| (0..4).map(|k| rows[k * n + at / n] * rows[k * n + at % n]).sum()).collect();
            assert!(pseudo_inverse(n, &a).unwrap().1);
        }
        let (ones, singular) = pseudo_inverse(4, &[1.0; 16]).unwrap();
        assert!(singular && close(&ones, &[1.0 / 16.0; 16], 1e-15));
    }

    /// Independent columns of very different norms are not singular.
    #[test]
    fn scales_are_no_singularity() {
        let (inverse, singular) = pseudo_inverse(2, &[1.0, 0.0, 0.0, 1e-11]).unwrap();
        assert!(!singular && (inverse[3] / 1e11 - 1.0).abs() < 1e-4);
    }
}

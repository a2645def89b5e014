//! Tensors with known decompositions.

use sparring::Dense;
use sparring::tensor::{Kruskal, Tensor};

pub(crate) fn dense(nrows: usize, values: &[f64]) -> Dense<f64> {
    Dense::new(nrows, values.len() / nrows, values.to_vec()).expect("a matrix")
}

pub(crate) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

/// Every element is 1.
pub(crate) fn ones(dims: &[usize]) -> Tensor<f64> {
    Tensor::from_dense(dims.to_vec(), &vec![1.0; dims.iter().product()], 0.0).expect("a tensor")
}

/// GenTen's unit test: 2 × 3 × 4, exactly of rank 2, and its initial guess.
pub(crate) fn genten() -> (Tensor<f64>, Kruskal<f64>) {
    let places = [
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [1, 1, 0],
        [0, 2, 0],
        [0, 0, 1],
        [0, 2, 1],
        [0, 0, 3],
        [1, 0, 3],
        [0, 1, 3],
        [1, 1, 3],
    ];
    let indices = (0..3).map(|m| places.iter().map(|p| p[m]).collect()).collect();
    let mut values = vec![1.0; 11];
    values[0] = 2.0;
    let start = vec![
        dense(2, &[0.8, 0.5, 0.2, 0.5]),
        dense(3, &[0.5, 0.5, 0.1, 0.5, 0.5, 0.1]),
        dense(4, &[0.7, 0.7, 0.7, 0.1, 0.1, 0.1, 0.1, 0.7]),
    ];
    let x = Tensor::new(vec![2, 3, 4], indices, values).expect("a tensor");
    (x, Kruskal::new(vec![1.0; 2], start).expect("a start"))
}

/// The fits of [`genten`] that GenTen, pyttb and TensorLy print after given numbers of sweeps.
pub(crate) const GENTEN_FITS: [(usize, f64); 6] = [
    (1, 0.932788856502),
    (2, 0.984366843905),
    (3, 0.992954863337),
    (5, 0.997046348153),
    (10, 0.999295506077),
    (20, 0.999956708723),
];

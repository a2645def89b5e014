//! A mesh drawn from its connectivity: rows of a matrix, their nearest neighbours by Jaccard distance, a layout, a
//! picture.
//!
//! The file has the connectivity of a mesh, but no coordinates. Points whose rows share columns
//! are close to each other; the nearest-neighbour graph, laid out by its smoothest functions (the first
//! eigenvectors of its normalized Laplacian after the constant one), recovers the mesh.
//!
//! ```sh
//! cargo run --release --example neighbours -- neighbours.svg
//! ```

use std::error::Error;
use std::path::PathBuf;

use plotters::prelude::{BLACK, Circle, IntoDrawingArea, PathElement, RGBColor, SVGBackend, WHITE};
use sparring::algebra::PlusTimes;
use sparring::backend::Kernels;
use sparring::distance::Metric;
use sparring::sparse::Dense;
use sparring::{Cpu, Csr, io};

/// Dimension of the subspace iteration, and number of its steps.
const WIDTH: usize = 12;
const STEPS: usize = 400;
const SIDE: f64 = 900.0;

fn main() -> Result<(), Box<dyn Error>> {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let path = given.clone().unwrap_or_else(|| std::env::temp_dir().join("sparring-neighbours.svg"));
    let cpu = Cpu::new();
    let mesh: Csr<f64> = io::read_matrix_market("data/jagmesh7.mtx.gz")?.csr()?;

    let near = cpu.neighbours(Metric::Jaccard, &mesh).exclude_self().k(6).eval()?;
    println!("{} rows, {}", mesh.nrows(), near.explain);
    let n = mesh.nrows();
    let columns = (0..n).flat_map(|i| near.row(i).0).copied().collect::<Vec<_>>();
    let k = columns.len() / n;
    let graph = Csr::<f64>::from_unsorted(n, n, (0..=n).map(|i| i * k).collect(), columns, vec![1.0; n * k])?;
    // i and j are neighbours if either is among the nearest of the other.
    let edges = graph.pattern().symmetrized(cpu.threads())?;
    let at = layout(&cpu, &edges)?;

    let lengths: Vec<f64> = pairs(&edges).map(|(i, j)| (at[i].0 - at[j].0).hypot(at[i].1 - at[j].1)).collect();
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    println!("{} edges of mean length {mean:.3} in a picture of side 1", lengths.len());
    // About one half in a random layout.
    assert!(mean < 0.05, "neighbours lie apart: {mean}");

    draw(&path, &edges, &at)?;
    println!("drawn: {}", path.display());
    if given.is_none() {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Edges, each once.
fn pairs(edges: &sparring::Pattern<u32>) -> impl Iterator<Item = (usize, usize)> {
    (0..edges.nrows()).flat_map(|i| edges.row(i).iter().map(move |&j| (i, j as usize)).filter(|(i, j)| i < j))
}

/// Vertex coordinates, scaled to [0, 1] along the longer axis: D^-½ times the second and third eigenvector of
/// S = D^-½ A D^-½, where D has the degrees.
fn layout(cpu: &Cpu, edges: &sparring::Pattern<u32>) -> sparring::Result<Vec<(f64, f64)>> {
    let n = edges.nrows();
    let scale: Vec<f64> = (0..n).map(|i| 1.0 / (edges.row(i).len().max(1) as f64).sqrt()).collect();
    let values = (0..n).flat_map(|i| edges.row(i).iter().map(|&j| scale[i] * scale[j as usize]).collect::<Vec<_>>());
    let s = Csr::new(n, n, edges.row_ptr().to_vec(), edges.col_idx().to_vec(), values.collect())?;
    let times = |x: &Dense<f64>| cpu.spmm_product(PlusTimes::<f64>::default(), &s, x);
    // Orthogonal iteration with (1 + S) / 2, whose eigenvalues are those of S mapped to [0, 1].
    let mut x = Dense::filled(n, WIDTH, 0.0)?;
    for (e, value) in x.values_mut().iter_mut().enumerate() {
        *value = sparring_generate::splitmix64(e as u64) as f64 / u64::MAX as f64 - 0.5;
    }
    for step in 0..STEPS {
        if step % 10 == 0 {
            orthonormalize(&mut x);
        }
        let y = times(&x)?;
        for (x, y) in x.values_mut().iter_mut().zip(y.values()) {
            *x = (*x + y) / 2.0;
        }
    }
    orthonormalize(&mut x);
    // Rayleigh–Ritz: combines the columns by the eigenvectors of Xᵀ S X.
    let y = times(&x)?;
    let small = std::array::from_fn(|a| std::array::from_fn(|b| (0..n).map(|i| x.row(i)[a] * y.row(i)[b]).sum()));
    let vectors = largest_eigenvectors(small);
    let coordinate = |i: usize, v: usize| scale[i] * x.row(i).iter().zip(&vectors[v]).map(|(x, y)| x * y).sum::<f64>();
    let mut at: Vec<(f64, f64)> = (0..n).map(|i| (coordinate(i, 1), coordinate(i, 2))).collect();
    let least = at.iter().fold((f64::INFINITY, f64::INFINITY), |a, b| (a.0.min(b.0), a.1.min(b.1)));
    let most = at.iter().fold((f64::NEG_INFINITY, f64::NEG_INFINITY), |a, b| (a.0.max(b.0), a.1.max(b.1)));
    let side = (most.0 - least.0).max(most.1 - least.1);
    at.iter_mut().for_each(|p| *p = ((p.0 - least.0) / side, (p.1 - least.1) / side));
    Ok(at)
}

/// Gram–Schmidt orthonormalization of the columns.
fn orthonormalize(x: &mut Dense<f64>) {
    for a in 0..x.ncols() {
        for b in 0..a {
            let product: f64 = (0..x.nrows()).map(|i| x.row(i)[a] * x.row(i)[b]).sum();
            (0..x.nrows()).for_each(|i| x.row_mut(i)[a] -= product * x.row(i)[b]);
        }
        let length = (0..x.nrows()).map(|i| x.row(i)[a].powi(2)).sum::<f64>().sqrt();
        (0..x.nrows()).for_each(|i| x.row_mut(i)[a] /= length);
    }
}

/// Eigenvectors of a symmetric matrix by Jacobi rotations, in order of decreasing eigenvalue.
fn largest_eigenvectors(mut a: [[f64; WIDTH]; WIDTH]) -> Vec<[f64; WIDTH]> {
    let mut v: [[f64; WIDTH]; WIDTH] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for _ in 0..20 {
        for p in 0..WIDTH {
            for q in p + 1..WIDTH {
                let (sin, cos) = ((2.0 * a[p][q]).atan2(a[q][q] - a[p][p]) / 2.0).sin_cos();
                let turn = |x: f64, y: f64| (cos * x - sin * y, sin * x + cos * y);
                for row in &mut a {
                    (row[p], row[q]) = turn(row[p], row[q]);
                }
                for j in 0..WIDTH {
                    (a[p][j], a[q][j]) = turn(a[p][j], a[q][j]);
                    (v[p][j], v[q][j]) = turn(v[p][j], v[q][j]);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..WIDTH).collect();
    order.sort_by(|&p, &q| a[q][q].total_cmp(&a[p][p]));
    order.into_iter().map(|p| v[p]).collect()
}

/// The graph as an SVG file.
fn draw(path: &std::path::Path, edges: &sparring::Pattern<u32>, at: &[(f64, f64)]) -> Result<(), Box<dyn Error>> {
    let margin = 30.0;
    let place = |i: usize| ((margin + at[i].0 * SIDE) as i32, (margin + at[i].1 * SIDE) as i32);
    let side = (SIDE + 2.0 * margin) as u32;
    let area = SVGBackend::new(path, (side, side)).into_drawing_area();
    area.fill(&WHITE)?;
    for (i, j) in pairs(edges) {
        area.draw(&PathElement::new([place(i), place(j)], RGBColor(110, 150, 200)))?;
    }
    for i in 0..at.len() {
        area.draw(&Circle::new(place(i), 2, BLACK))?;
    }
    area.present()?;
    Ok(())
}

//! Construction of a matrix from draws: keys `row · ncols + column`, sorted, duplicates dropped, values by a rule.

use super::memory::{reserved, sort};
use sparring::{Csr, Error, Result};

/// The matrix with the pattern of the keys; entry `p` (in row order) at (i, j) is `value(p, i, j)`.
pub(super) fn from_keys(
    nrows: u64,
    ncols: u64,
    mut keys: Vec<u64>,
    value: impl Fn(u64, u64, u64) -> f64,
) -> Result<Csr<f64>> {
    if !keys.is_sorted() {
        sort(&mut keys);
    }
    keys.dedup();
    let mut row_ptr = reserved(nrows as usize + 1, "row pointers")?;
    let mut col_idx = reserved(keys.len(), "column indices")?;
    let mut values = reserved(keys.len(), "values")?;
    row_ptr.push(0);
    for (p, key) in keys.into_iter().enumerate() {
        let (i, j) = (key / ncols, key % ncols);
        row_ptr.resize(i as usize + 1, p);
        col_idx.push(j as u32);
        values.push(value(p as u64, i, j));
    }
    row_ptr.resize(nrows as usize + 1, col_idx.len());
    Csr::new(nrows as usize, ncols as usize, row_ptr, col_idx, values)
}

/// Keys of the stencil `offsets` on a grid of nx × ny × nz points, points numbered with z fastest.
pub(super) fn stencil_keys(dims: [u64; 3], offsets: &[[i64; 3]]) -> Result<Vec<u64>> {
    let n = dims.iter().product::<u64>();
    let mut keys = reserved(n as usize * offsets.len(), "the draws of a generated matrix")?;
    let shifted = |at: u64, by: i64, size: u64| at.checked_add_signed(by).filter(|&to| to < size);
    for i in 0..n {
        let [x, y, z] = [i / dims[2] / dims[1], i / dims[2] % dims[1], i % dims[2]];
        for [a, b, c] in offsets {
            let to = (shifted(x, *a, dims[0]), shifted(y, *b, dims[1]), shifted(z, *c, dims[2]));
            if let (Some(x), Some(y), Some(z)) = to {
                keys.push(i * n + (x * dims[1] + y) * dims[2] + z);
            }
        }
    }
    Ok(keys)
}

/// Offsets of a point and its neighbours along the last `axes` axes.
pub(super) fn cross(axes: usize) -> Vec<[i64; 3]> {
    let mut offsets = vec![[0; 3]];
    for axis in 3 - axes..3 {
        for step in [-1, 1] {
            let mut offset = [0; 3];
            offset[axis] = step;
            offsets.push(offset);
        }
    }
    offsets.sort_unstable();
    offsets
}

/// Offsets of a point and its 26 neighbours.
pub(super) fn cube() -> Vec<[i64; 3]> {
    let steps = || -1..=1;
    steps().flat_map(|a| steps().flat_map(move |b| steps().map(move |c| [a, b, c]))).collect()
}

/// An error unless the size is from 1 to `max`, by which callers keep indices within 32 bits.
pub(super) fn check_size(name: &'static str, size: u64, max: u64) -> Result<()> {
    if (1..=max).contains(&size) {
        return Ok(());
    }
    Err(Error::Argument { name, message: format!("{size} is not between 1 and {max}") })
}

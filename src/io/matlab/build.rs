//! Shared by all versions of MAT-files: the choice of a variable, and the assembly of a matrix.

use crate::algebra::Array;
use crate::io::labeled::LabeledMatrix;
use crate::io::matrix_market::MarketValue;
use crate::io::text::push;
use crate::par::{Threads, collected};
use crate::sparse::sums::summed;
use crate::{Coo, Result};

/// The message for a dense complex matrix.
pub(super) const DENSE_COMPLEX: &str = "dense complex matrices are not read; save it as a sparse one";
/// The message for a dense integer matrix.
pub(super) const DENSE_INTEGERS: &str = "dense matrices of integers are not read; save it as double";

/// Position of the variable of this name, or of the default one. Variables are given by name and whether they are
/// sparse. The default is the only sparse matrix, the only dense one if none is sparse, or else `Problem.A`.
/// # Errors
/// A message if there is no such variable, or no default.
pub(super) fn choose(variables: &[(&str, bool)], wanted: Option<&str>) -> Result<usize, String> {
    let all = |sparse: bool| (0..variables.len()).filter(move |&k| variables[k].1 == sparse);
    let names = || {
        let names: Vec<&str> = variables.iter().map(|&(name, _)| name).take(20).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let found = match wanted {
        Some(wanted) => variables.iter().position(|&(name, _)| name == wanted),
        None => match (all(true).count(), all(false).count()) {
            (1, _) => all(true).next(),
            (0, 1) => all(false).next(),
            // The matrix of a file of the SuiteSparse collection.
            _ => all(true).find(|&k| variables[k].0 == "Problem.A"),
        },
    };
    found.ok_or_else(|| match wanted {
        Some(wanted) => format!("it has no matrix {wanted}; its matrices: {}", names()),
        None if variables.is_empty() => "it has no matrix of numbers".to_owned(),
        None => format!("it has several matrices, one of which is to be named (--variable): {}", names()),
    })
}

/// Element types of dense matrices.
#[derive(Clone, Copy)]
pub(super) enum Elements {
    F64,
    F32,
    Bool,
}

/// The matrix of these elements, given in column-major order; zeros are not stored, −0 is an entry.
pub(super) fn of_columns(
    threads: &Threads,
    name: &str,
    shape: (usize, usize),
    values: &[f64],
    elements: Elements,
) -> Result<LabeledMatrix> {
    let (mut rows, mut cols, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (j, column) in values.chunks(shape.0.max(1)).enumerate() {
        for (i, &x) in column.iter().enumerate().filter(|(_, x)| x.to_bits() != 0) {
            push(&mut rows, i as u32, "indices")?;
            push(&mut cols, j as u32, "indices")?;
            push(&mut kept, x, "values")?;
        }
    }
    let indices = (rows, cols);
    match elements {
        Elements::F64 => compress(threads, name, shape, indices, kept),
        Elements::F32 => {
            let values = collected(kept.len(), kept.iter().map(|&x| x as f32), "values")?;
            compress(threads, name, shape, indices, values)
        }
        Elements::Bool => {
            let values = collected(kept.len(), kept.iter().map(|&x| x != 0.0), "values")?;
            compress(threads, name, shape, indices, values)
        }
    }
}

/// The matrix of these entries; duplicates are summed.
pub(super) fn compress<T: MarketValue>(
    threads: &Threads,
    name: &str,
    (nrows, ncols): (usize, usize),
    (rows, cols): (Vec<u32>, Vec<u32>),
    values: Vec<T>,
) -> Result<LabeledMatrix> {
    let coo = Coo::from_parts(nrows, ncols, rows, cols, values);
    let (pattern, values) = summed(threads, &coo, name, T::checked_repeated)?.into_parts();
    Ok(LabeledMatrix::new(pattern, Array::of(values)))
}

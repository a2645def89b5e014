//! Sparse matrices of SciPy (`scipy.sparse.save_npz`): an archive with an array each for the format, the shape, the values and
//! where they are. Read from CSR, CSC and COO, written as CSR.

use std::io::Write;

use sparring::algebra::Slice;
use sparring::runtime::Matrix;
use sparring::{Error, Pattern, Result};

use super::npy::{Array, list};
use super::stop::{Stop, broken};
use super::values::{matrix, narrow, not_held, with_kind, with_values};
use super::zip::{Archive, entry};

/// Deflate makes no more than 1,032 bytes of one.
const MOST: usize = 1032;

pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Matrix> {
    let array = |of: &str| -> Result<Array> {
        let found = entry(bytes, &format!("{of}.npy"), bytes.len().saturating_mul(MOST));
        let found = found.map_err(|source| Error::Io { path: name.into(), source })?;
        let found = found.ok_or_else(|| broken(name, format!("it has no {of}, as a sparse matrix of SciPy has")))?;
        Array::parse(name, &found)
    };
    let format = array("format")?.elements;
    // Of bytes, or of characters of four bytes.
    let format = String::from_utf8_lossy(&format).replace('\0', "");
    let shape = array("shape")?.indices(name)?;
    let [nrows, ncols] = shape[..] else { return Err(broken(name, "its shape is not that of a matrix")) };
    let data = array("data")?;
    let narrowed = |all: Vec<usize>| all.into_iter().map(narrow).collect::<Result<Vec<u32>>>();
    let (rows, cols) = match format.as_str() {
        "coo" => (narrowed(array("row")?.indices(name)?)?, narrowed(array("col")?.indices(name)?)?),
        "csr" | "csc" => {
            let (ends, minor) = (array("indptr")?.indices(name)?, narrowed(array("indices")?.indices(name)?)?);
            let lines = if format == "csr" { nrows } else { ncols };
            let right = ends.len() == lines + 1 && ends[0] == 0 && ends[lines] == minor.len() && ends.is_sorted();
            if !right {
                return Err(broken(name, "its row pointers do not fit its shape and entries"));
            }
            let mut major = sparring::par::filled(minor.len(), 0u32, "indices")?;
            for (line, ends) in ends.windows(2).enumerate() {
                major[ends[0]..ends[1]].fill(narrow(line)?);
            }
            if format == "csr" { (major, minor) } else { (minor, major) }
        }
        other => return Err(broken(name, format!("matrices of the format {other} are not read; save it as CSR"))),
    };
    with_kind!(
        data.kind.as_str(),
        T => matrix((nrows, ncols), (rows, cols, data.values::<T>(name)?.collect())),
        Err(broken(name, format!("its values are of the type {}", data.kind)))
    )
}

pub(super) fn write(out: &mut dyn Write, pattern: &Pattern, values: Slice<'_>) -> Result<(), Stop> {
    let mut archive = Archive::new(out);
    // Readers want both lists of indices in one type.
    let narrow = i32::try_from(pattern.nnz().max(pattern.ncols())).is_ok();
    let (columns, ends) = (pattern.col_idx().iter(), pattern.row_ptr().iter());
    if narrow {
        archive.add("indices.npy", &list(columns.map(|&j| j as i32)))?;
        archive.add("indptr.npy", &list(ends.map(|&p| p as i32)))?;
    } else {
        archive.add("indices.npy", &list(columns.map(|&j| i64::from(j))))?;
        archive.add("indptr.npy", &list(ends.map(|&p| p as i64)))?;
    }
    archive.add("format.npy", &super::npy::word("csr"))?;
    let (nrows, ncols) = pattern.shape();
    archive.add("shape.npy", &list([nrows as i64, ncols as i64].into_iter()))?;
    let data = (|| with_values!(values, x => Some(list(x.iter().copied())), None))();
    let data = data.ok_or_else(|| not_held(values, "a matrix of SciPy"))?;
    archive.add("data.npy", &data)?;
    Ok(archive.finish()?)
}

/// Matrices under their names, for `numpy.load`; one of a single row is a list.
pub(crate) fn arrays(out: &mut dyn Write, arrays: &[(String, (usize, usize), &[f64])]) -> std::io::Result<()> {
    let mut archive = Archive::new(out);
    for (name, (nrows, ncols), values) in arrays {
        let bytes = if *nrows == 1 { list(values.iter().copied()) } else { super::npy::table(*nrows, *ncols, values) };
        archive.add(&format!("{name}.npy"), &bytes)?;
    }
    archive.finish()
}

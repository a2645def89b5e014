//! MAT-files of version 7.3: HDF5 files in which each variable is a group or a dataset with MATLAB's attributes.
//!
//! | variable | stored as |
//! | --- | --- |
//! | sparse | a group with the attribute `MATLAB_sparse` (number of rows) and the datasets `data` (values), `ir` (row indices) and `jc` (column pointers) |
//! | dense | a two-dimensional dataset, the transpose of the matrix |
//! | structure | a group of the class `struct`, with an object per field |
//!
//! The supported subset of HDF5: superblocks of versions 0 to 3, object headers of versions 1 and 2, symbol tables and
//! link messages, compact and contiguous datasets and those chunked by a version 1 B-tree, the filters deflate and
//! shuffle. Errors name the unsupported feature. Allocations are bounded by the size of the file: deflate has a maximum
//! compression ratio, and everything else is stored uncompressed.
//!
//! Source: The HDF Group, *HDF5 File Format Specification*, version 3.0. MATLAB's attributes have no specification; the
//! tests read files of this layout written by h5py.

mod bytes;
mod dataset;
mod group;
mod object;
mod types;

use num_complex::Complex;

use super::build::{self, DENSE_COMPLEX, DENSE_INTEGERS, choose, compress, of_columns};
use super::elements::{Element, reals};
use super::options::MatlabOptions;
use crate::io::labeled::{LabeledMatrix, check_shape};
use crate::io::text::{check_size, push};
use crate::par::{Threads, collected, filled};
use crate::{Error, Result};
use bytes::{CUT, Fault, File, Parsed, uint};
use dataset::{Budget, Elements};
use object::{DATASPACE, Object};
use types::{Datatype, Number};

/// Maximum nesting depth of structures.
const DEPTH: usize = 8;

/// Reads a matrix from the bytes of a file; `name` appears in errors.
pub(super) fn parse(bytes: &[u8], name: &str, options: &MatlabOptions<'_>) -> Result<LabeledMatrix> {
    let here = Threads::current();
    let threads = options.common.threads.unwrap_or(&here);
    let run = || {
        let (file, root) = File::open(bytes)?;
        let budget = Budget { taken: 0, most: options.common.max_bytes };
        let mut reader = Reader { file, name, threads, budget, variables: Vec::new() };
        let root = Object::open(&reader.file, root)?;
        for (name, address) in group::links(&reader.file, &root)? {
            // Skips `#refs#`, the targets of references, and `#subsystem#`, MATLAB objects.
            if !name.starts_with(b"#") {
                reader.look(address, String::from_utf8_lossy(name).into_owned(), 0)?;
            }
        }
        reader.chosen(options.variable)
    };
    run().map_err(|fault| match fault {
        Fault::Failed(e) => e,
        Fault::Wrong(why) => Error::Unsupported { what: format!("the file {name}"), why: why.into_owned() },
    })
}

/// MATLAB class of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Double,
    Single,
    Logical,
    /// The only integer class whose matrices are listed, as in version 5; dense ones are then rejected.
    Uint8,
}

impl Class {
    fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"double" => Self::Double,
            b"single" => Self::Single,
            b"logical" => Self::Logical,
            b"uint8" => Self::Uint8,
            _ => return None,
        })
    }
}

/// A matrix: a variable, or a field of one.
struct Variable<'a> {
    name: String,
    object: Object<'a>,
    class: Class,
    /// Number of rows of a sparse matrix; `None` for a dense one.
    nrows: Option<u64>,
}

struct Reader<'a> {
    file: File<'a>,
    name: &'a str,
    threads: &'a Threads,
    budget: Budget,
    variables: Vec<Variable<'a>>,
}

impl<'a> Reader<'a> {
    /// Records the matrices in an object: the object itself, or the fields of a structure.
    fn look(&mut self, address: u64, name: String, depth: usize) -> Parsed<()> {
        let object = Object::open(&self.file, address)?;
        let Some(class) = types::text(&object, "MATLAB_class")? else { return Ok(()) };
        let nrows = types::number(&object, "MATLAB_sparse")?;
        let is_dataset = object.has(DATASPACE);
        if let Some(class) = Class::of(class) {
            // The dataset of an empty matrix has its dimensions as elements.
            let dense = is_dataset
                && (types::number(&object, "MATLAB_empty")?.is_some_and(|empty| empty != 0)
                    || types::shape(&object)?.len() == 2);
            if nrows.is_some() || dense {
                push(&mut self.variables, Variable { name, object, class, nrows }, "variables of a MAT-file")?;
            }
        } else if class == b"struct" && !is_dataset && depth < DEPTH {
            for (field, address) in group::links(&self.file, &object)? {
                self.look(address, format!("{name}.{}", String::from_utf8_lossy(field)), depth + 1)?;
            }
        }
        Ok(())
    }

    /// The matrix of this name, or the default one.
    fn chosen(mut self, wanted: Option<&str>) -> Parsed<LabeledMatrix> {
        let names: Vec<_> = self.variables.iter().map(|v| (&*v.name, v.nrows.is_some())).collect();
        let found = choose(&names, wanted)?;
        let found = self.variables.swap_remove(found);
        let read = match found.nrows {
            Some(nrows) => self.sparse(&found, nrows),
            None => self.dense(&found),
        };
        read.map_err(|fault| match fault {
            Fault::Wrong(why) if why != CUT => Fault::from(format!("{}: {why}", found.name)),
            fault => fault,
        })
    }

    /// Reads a sparse matrix, stored as CSC.
    fn sparse(&mut self, found: &Variable<'a>, nrows: u64) -> Parsed<LabeledMatrix> {
        const POINTERS: &str = "its column pointers do not fit its entries";
        let links = group::links(&self.file, &found.object)?;
        let mut part = |name| match group::find(&links, name) {
            Some(address) => dataset::read(&self.file, &Object::open(&self.file, address)?, &mut self.budget).map(Some),
            None => Ok(None),
        };
        let (starts, rows, values) = (part("jc")?.ok_or("it lacks its column pointers")?, part("ir")?, part("data")?);
        let starts = integers(&starts)?;
        let shape = shape(nrows, (starts.len() as u64).checked_sub(1).ok_or(POINTERS)?)?;
        // The result has a row pointer for each declared row.
        check_size("a MAT-file", nrows.saturating_mul(size_of::<usize>() as u64), self.budget.most)?;
        let nnz = starts.clone().last().unwrap_or(0);
        let increasing = starts.clone().zip(starts.clone().skip(1)).all(|(a, b)| a <= b);
        let room = rows.as_ref().map(integers).transpose()?.map_or(0, |rows| rows.len());
        if starts.clone().next() != Some(0) || !increasing || nnz > room as u64 {
            return Err(POINTERS.into());
        }
        // Allocated space after the last entry belongs to no column.
        let nnz = nnz as usize;
        let mut cols = filled(nnz, 0u32, "indices")?;
        for (j, (start, end)) in starts.clone().zip(starts.skip(1)).enumerate() {
            cols[start as usize..end as usize].fill(j as u32);
        }
        let Some((rows, values)) = rows.zip(values).filter(|_| nnz > 0) else {
            if nnz > 0 {
                return Err("it lacks its values".into());
            }
            return self.entries(found.class, shape, (Vec::new(), Vec::new()), None);
        };
        let list = integers(&rows)?.take(nnz);
        if let Some(row) = list.clone().find(|&i| i >= nrows) {
            return Err(format!("row {row} is not below {nrows}").into());
        }
        let rows = collected(nnz, list.map(|i| i as u32), "indices")?;
        if !(1..nnz).all(|e| cols[e - 1] < cols[e] || rows[e - 1] < rows[e]) {
            return Err("the rows of a column do not increase".into());
        }
        self.entries(found.class, shape, (rows, cols), Some(&values))
    }

    /// The matrix of these entries, with the value type of its class.
    fn entries(
        &self,
        class: Class,
        shape: (usize, usize),
        indices: (Vec<u32>, Vec<u32>),
        values: Option<&Elements<'_>>,
    ) -> Parsed<LabeledMatrix> {
        let nnz = indices.0.len();
        let (number, complex) = match values.map(|values| values.datatype) {
            Some(Datatype::Number(number)) => (Some(number), false),
            Some(Datatype::Complex(number)) => (Some(number), true),
            None => (None, false),
            _ => return Err("its values are no numbers".into()),
        };
        let numbers = match (number, values) {
            (Some(number), Some(values)) => {
                let len = nnz * number.bytes * if complex { 2 } else { 1 };
                real(number, values.bytes.get(..len).ok_or("it has fewer values than entries")?)?
            }
            _ => Vec::new(),
        };
        let (threads, name) = (self.threads, self.name);
        let pairs = numbers.chunks_exact(2);
        Ok(match (class, complex) {
            (Class::Single, true) => {
                let values = collected(nnz, pairs.map(|x| Complex::new(x[0] as f32, x[1] as f32)), "values")?;
                compress(threads, name, shape, indices, values)
            }
            (_, true) => {
                let values = collected(nnz, pairs.map(|x| Complex::new(x[0], x[1])), "values")?;
                compress(threads, name, shape, indices, values)
            }
            (Class::Single, _) => {
                compress(threads, name, shape, indices, collected(nnz, numbers.iter().map(|&x| x as f32), "values")?)
            }
            (Class::Logical, _) => {
                compress(threads, name, shape, indices, collected(nnz, numbers.iter().map(|&x| x != 0.0), "values")?)
            }
            _ => compress(threads, name, shape, indices, numbers),
        }?)
    }

    /// Reads a dense matrix, in column-major order: its columns are the rows of the dataset.
    fn dense(&mut self, found: &Variable<'a>) -> Parsed<LabeledMatrix> {
        let values = dataset::read(&self.file, &found.object, &mut self.budget)?;
        let elements = match found.class {
            Class::Double => build::Elements::F64,
            Class::Single => build::Elements::F32,
            Class::Logical => build::Elements::Bool,
            Class::Uint8 => return Err(DENSE_INTEGERS.into()),
        };
        if types::number(&found.object, "MATLAB_empty")?.is_some_and(|empty| empty != 0) {
            let dims: Vec<u64> = integers(&values)?.take(3).collect();
            return match dims[..] {
                [nrows, ncols] if nrows == 0 || ncols == 0 => {
                    Ok(of_columns(self.threads, self.name, shape(nrows, ncols)?, &[], elements)?)
                }
                _ => Err("it is empty, and its dimensions are not two with a zero".into()),
            };
        }
        let &[ncols, nrows] = &values.dims[..] else { return Err(CUT.into()) };
        let shape = shape(nrows, ncols)?;
        match values.datatype {
            Datatype::Number(number) => {
                Ok(of_columns(self.threads, self.name, shape, &real(number, &values.bytes)?, elements)?)
            }
            Datatype::Complex(_) => Err(DENSE_COMPLEX.into()),
            _ => Err("its elements are no numbers".into()),
        }
    }
}

/// The shape, after a check that it fits 32-bit indices.
fn shape(nrows: u64, ncols: u64) -> Parsed<(usize, usize)> {
    let shape = (usize::try_from(nrows).map_err(|_| CUT)?, usize::try_from(ncols).map_err(|_| CUT)?);
    check_shape(shape.0, shape.1)?;
    Ok(shape)
}

/// Converts numbers of any type to f64.
fn real(number: Number, bytes: &[u8]) -> Parsed<Vec<f64>> {
    Ok(reals(Element { kind: number.code, bytes }, number.big_endian)?)
}

/// The elements as unsigned integers. A negative one is an error.
fn integers<'e>(elements: &'e Elements<'_>) -> Parsed<impl ExactSizeIterator<Item = u64> + Clone + 'e> {
    match elements.datatype {
        Datatype::Number(number) if !number.is_float() => {
            let all = elements.bytes.chunks_exact(number.bytes);
            if all.clone().any(|bytes| number.unsigned(bytes).is_none()) {
                return Err("its indices are negative".into());
            }
            Ok(all.map(move |bytes| uint(bytes, number.big_endian)))
        }
        _ => Err("its indices are no whole numbers".into()),
    }
}

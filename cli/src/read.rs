//! Where matrices come from: files, and names of generated ones. All reading is here.

use std::sync::Arc;

use clap::Args;
use sparring::algebra::Type;
use sparring::io::{
    FrosttOptions, MatrixFile, ReadOptions, read_frostt_from, read_frostt_with, read_matrix_market_from,
    read_matrix_market_with,
};
use sparring::par::Threads;
use sparring::runtime::Matrix;
use sparring::tensor::AnyTensor;
use sparring::{Csr, Error, Result};
use sparring_generate as generate;

use crate::formats::{self, Array, STANDARD};
use crate::{near, size};

/// How files are read.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct Reading {
    /// Refuse files with more text than this, unpacked: 500M, 2G
    #[arg(long, global = true, value_name = "SIZE", value_parser = size::parse, help_heading = "Every command takes")]
    max_bytes: Option<u64>,
    /// Also read Matrix Market files that other programs write and the format leaves open: both triangles of a symmetric matrix,
    /// values in a pattern, skew patterns, garbage behind gzip
    #[arg(long, global = true, help_heading = "Every command takes")]
    lenient: bool,
}

impl Reading {
    fn options(&self) -> ReadOptions<'static> {
        ReadOptions::new().max_bytes(self.most()).lenient(self.lenient)
    }
    fn most(&self) -> u64 {
        self.max_bytes.unwrap_or(u64::MAX)
    }
    /// The tensor of a FROSTT file; repeated entries are added up.
    pub(crate) fn frostt(&self, name: &str) -> Result<AnyTensor<f64>> {
        let options = FrosttOptions::new().max_bytes(self.most()).lenient(self.lenient);
        if name == STANDARD {
            return read_frostt_from(&mut std::io::stdin().lock(), "standard input", &options);
        }
        read_frostt_with(name, &options)
    }
    /// The array of a file of NumPy's.
    pub(crate) fn array(&self, name: &str) -> Result<Array> {
        formats::array(name, self.most())
    }
    fn matrix_market(&self, name: &str) -> Result<MatrixFile> {
        if name == STANDARD {
            return read_matrix_market_from(&mut std::io::stdin().lock(), "standard input", &self.options());
        }
        read_matrix_market_with(name, &self.options())
    }
}

/// A matrix and what its file says about it.
pub(crate) struct Source {
    pub(crate) field: &'static str,
    pub(crate) symmetry: &'static str,
    pub(crate) layout: &'static str,
    /// Entries in the file, before symmetry is expanded.
    pub(crate) stored: usize,
    pub(crate) matrix: Csr<f64>,
}

/// The name of the generated matrix that `argument` asks for, if it does.
pub(crate) fn generated(argument: &str) -> Option<&str> {
    argument.strip_prefix("gen:")
}

/// The argument without `sym:`, which asks for the undirected graph under the matrix.
fn symmetrized(argument: &str) -> Option<&str> {
    argument.strip_prefix("sym:")
}

/// Refuses what [`load`] could not even begin with: unknown names, files that cannot be opened.
pub(crate) fn check(argument: &str) -> Result<()> {
    if let Some(argument) = symmetrized(argument) {
        return check(argument);
    }
    match generated(argument) {
        Some(name) => near::generated(name, generate::check_name(name)),
        None if argument == STANDARD => Ok(()),
        None => match std::fs::File::open(argument) {
            Ok(_) => Ok(()),
            Err(source) => Err(Error::Io { path: argument.into(), source }),
        },
    }
}

/// The matrix in the file `argument`, or the generated one if it begins with `gen:`. With `sym:` in front, the
/// pattern of A + Aᵀ without the diagonal, all ones.
pub(crate) fn load(argument: &str, how: &Reading) -> Result<Source> {
    if let Some(argument) = symmetrized(argument) {
        let mut source = load(argument, how)?;
        let pattern = source.matrix.pattern().symmetrized(&Threads::current())?;
        let ones = vec![1.0; pattern.nnz()];
        source.matrix = Csr::with_pattern(Arc::new(pattern), ones)?;
        return Ok(source);
    }
    if let Some(name) = generated(argument) {
        let matrix = near::generated(name, generate::matrix(name))?;
        return Ok(Source { field: "real", symmetry: "general", layout: "generated", stored: matrix.nnz(), matrix });
    }
    if let Some(matrix) = formats::read(argument, how.most())? {
        let field = matrix.ty().name();
        let matrix = matrix.cast(Type::F64)?;
        let Some(matrix) = matrix.csr::<f64>().cloned() else { unreachable!("it is of f64 and in memory") };
        return Ok(Source { field, symmetry: "general", layout: "coordinate", stored: matrix.nnz(), matrix });
    }
    let file = how.matrix_market(argument)?;
    let header = &file.header;
    Ok(Source {
        field: header.field.name(),
        symmetry: header.symmetry.name(),
        layout: header.layout.name(),
        stored: header.stored,
        matrix: file.csr::<f64>()?,
    })
}

/// The same as values of a type, or in the file's own: integers as i64 (u64 where they are beyond it), patterns as bool, complex numbers as
/// such. Repeated entries are added up in the type that is given.
pub(crate) fn load_any(argument: &str, how: &Reading, ty: Option<Type>) -> Result<Matrix> {
    let cast = |matrix: Matrix| ty.map_or(Ok(matrix.clone()), |ty| matrix.cast(ty));
    if symmetrized(argument).is_some() || generated(argument).is_some() {
        return cast(load(argument, how)?.matrix.into());
    }
    if let Some(matrix) = formats::read(argument, how.most())? {
        return cast(matrix);
    }
    let file = how.matrix_market(argument)?;
    let (pattern, values) = match ty {
        Some(ty) => file.of_type(ty, &Threads::current())?,
        None => file.any()?,
    };
    Matrix::new(pattern, values)
}

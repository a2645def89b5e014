//! Input: matrices from files, and generated matrices by name.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use sparring::algebra::Type;
use sparring::io::{
    CsvOptions, EdgeOptions, FrosttOptions, LabeledMatrix, MatlabOptions, MatrixFile, NpyArray, NumpyOptions,
    ReadOptions, Repeated, SvmlightOptions, read_csv_from, read_csv_with, read_dimacs_from, read_dimacs_with,
    read_edges_from, read_edges_with, read_frostt_from, read_frostt_with, read_mat_from, read_mat_with,
    read_matrix_market_from, read_matrix_market_with, read_metis_from, read_metis_with, read_npy_array_from,
    read_npy_array_with, read_npy_from, read_npy_with, read_npz_from, read_npz_with, read_svmlight_from,
    read_svmlight_with,
};
use sparring::par::Threads;
use sparring::runtime::Matrix;
use sparring::tensor::AnyTensor;
use sparring::{Csr, Error, Result};
use sparring_generate as generate;

use crate::failure::STDIN;
use crate::formats::{Format, STANDARD, kind_to_read, to_file};
use crate::{size, suggest};

const HEADING: &str = "Reading files";

/// Options for reading files.
#[derive(Args, Clone, Default)]
pub(crate) struct Reading {
    /// Format of every input file, whatever its name; also of standard input
    #[arg(long, global = true, value_name = "KIND", help_heading = HEADING)]
    format: Option<Format>,
    /// Reject files larger than this, uncompressed: 500M, 2G
    #[arg(long, global = true, value_name = "SIZE", value_parser = size::parse, help_heading = HEADING)]
    max_bytes: Option<u64>,
    /// Also accept common deviations from the Matrix Market format: both triangles of a symmetric matrix, values in a
    /// pattern, skew patterns, 3.0 for an integer, comments among the entries, one % before the banner, trailing
    /// garbage after gzip data; and edges with several weights
    #[arg(long, global = true, help_heading = HEADING)]
    lenient: bool,
    /// The first line of a table is a header
    #[arg(long, global = true, conflicts_with = "no_header", help_heading = HEADING)]
    header: bool,
    /// The first line of a table is a row
    #[arg(long, global = true, help_heading = HEADING)]
    no_header: bool,
    /// Delimiter of a table: a character, tab or space [default: ,]
    #[arg(long, global = true, value_name = "CHAR", value_parser = delimiter, help_heading = HEADING)]
    delimiter: Option<u8>,
    /// Columns of svmlight, vertices of an edge list or indices of a tensor are numbered from 0
    #[arg(long, global = true, conflicts_with = "one_based", help_heading = HEADING)]
    zero_based: bool,
    /// They are numbered from 1
    #[arg(long, global = true, help_heading = HEADING)]
    one_based: bool,
    /// Number of columns of an svmlight matrix [default: the largest column]
    #[arg(long, global = true, value_name = "N", help_heading = HEADING)]
    columns: Option<usize>,
    /// Matrix of a MAT-file: A, or Problem.A inside a structure [default: the only matrix, or Problem.A]
    #[arg(long, global = true, value_name = "NAME", help_heading = HEADING)]
    variable: Option<String>,
    /// Write the labels of svmlight to this file, one per line; or accept words as vertices of an edge list, and
    /// write them to this file in the order of their numbers
    #[arg(long, global = true, value_name = "FILE", help_heading = HEADING)]
    labels: Option<String>,
    /// Each edge of a list is undirected
    #[arg(long, global = true, conflicts_with = "directed", help_heading = HEADING)]
    undirected: bool,
    /// Each edge of a list is directed, whatever the file says
    #[arg(long, global = true, help_heading = HEADING)]
    directed: bool,
    /// Edges of a list connect two sets of vertices, rows and columns
    #[arg(long, global = true, help_heading = HEADING)]
    bipartite: bool,
    /// Renumber the vertices of an edge list, any integers, in increasing order, and write the mapping to this file
    #[arg(long, global = true, value_name = "FILE", help_heading = HEADING)]
    renumber: Option<String>,
    /// Combine the weights of duplicate edges: sum, min or max [default: duplicates are an error]
    #[arg(long, global = true, value_name = "NAME", value_parser = repeated, help_heading = HEADING)]
    repeated: Option<Repeated>,
}

/// A delimiter, by name or literally.
fn delimiter(text: &str) -> std::result::Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        text => match text.as_bytes() {
            [one] => Ok(*one),
            _ => Err("it is neither one character nor tab or space".into()),
        },
    }
}

fn repeated(text: &str) -> std::result::Result<Repeated, String> {
    match text {
        "sum" => Ok(Repeated::Sum),
        "min" => Ok(Repeated::Min),
        "max" => Ok(Repeated::Max),
        _ => Err("it is none of sum, min and max".into()),
    }
}

/// The value of a pair of opposite options, if one was given.
fn either(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}

/// Reads standard input or a file.
macro_rules! read_by {
    ($name:expr, $from:ident, $with:ident, $options:expr) => {
        if $name == STANDARD { $from(&mut std::io::stdin().lock(), STDIN, $options) } else { $with($name, $options) }
    };
}

/// Error message for a second file on standard output.
pub(crate) const ONE_OUTPUT: &str = "standard output takes one file, and two are to go there";

impl Reading {
    pub(crate) fn most(&self) -> u64 {
        self.max_bytes.unwrap_or(u64::MAX)
    }
    /// Whether names or labels go to standard output.
    pub(crate) fn takes_stdout(&self) -> Result<bool> {
        let goes = |name: &Option<String>| name.as_deref() == Some(STANDARD);
        match (goes(&self.labels), goes(&self.renumber)) {
            (true, true) => Err(Error::Argument { name: "-", message: ONE_OUTPUT.into() }),
            (labels, numbers) => Ok(labels || numbers),
        }
    }
    /// The format of a file, and its name.
    fn format<'a>(&self, name: &'a str) -> (Format, &'a str) {
        let (format, name) = split_kind(name);
        (format.or(self.format).unwrap_or_else(|| kind_to_read(name)), name)
    }
    /// Rejects an ambiguous file, an edge list or a table, where a graph is expected.
    pub(crate) fn check_graph(&self, argument: &str) -> Result<()> {
        let (format, name) = split_kind(symmetrized(argument).unwrap_or(argument));
        if format.or(self.format).is_some() || kind_to_read(name) != Format::Csv {
            return Ok(());
        }
        let message = format!("'{name}' may be an edge list or a table; use edges:{name} or csv:{name}");
        Err(Error::Argument { name: "file", message })
    }
    /// The given options, and the formats they apply to.
    fn given(&self) -> Vec<(&'static str, &'static [Format])> {
        use Format::{Csv, Dimacs, Edges, Frostt, Mat, Metis, Svmlight};
        let all = Format::value_variants();
        let options: [(&str, bool, &[Format]); 16] = [
            ("--format", self.format.is_some(), all),
            ("--max-bytes", self.max_bytes.is_some(), all),
            ("--lenient", self.lenient, all),
            ("--header", self.header, &[Csv]),
            ("--no-header", self.no_header, &[Csv]),
            ("--delimiter", self.delimiter.is_some(), &[Csv]),
            ("--zero-based", self.zero_based, &[Svmlight, Edges, Frostt]),
            ("--one-based", self.one_based, &[Svmlight, Edges, Frostt]),
            ("--columns", self.columns.is_some(), &[Svmlight]),
            ("--variable", self.variable.is_some(), &[Mat]),
            ("--labels", self.labels.is_some(), &[Svmlight, Edges]),
            ("--undirected", self.undirected, &[Edges]),
            ("--directed", self.directed, &[Edges]),
            ("--bipartite", self.bipartite, &[Edges]),
            ("--renumber", self.renumber.is_some(), &[Edges]),
            ("--repeated", self.repeated.is_some(), &[Edges, Dimacs, Metis]),
        ];
        options.into_iter().filter(|option| option.1).map(|(name, _, kinds)| (name, kinds)).collect()
    }
    /// Rejects options that apply to none of the files, and a single names file for several inputs. The format of a
    /// file is the given one, else `what`, else that of its name.
    pub(crate) fn check(&self, files: &[&str], what: Option<Format>) -> Result<()> {
        let of = |argument| {
            let (format, name) = split_kind(symmetrized(argument).unwrap_or(argument));
            (format.or(self.format).or(what).unwrap_or_else(|| kind_to_read(name)), name)
        };
        let files: Vec<(Format, &str)> =
            files.iter().map(|&name| of(name)).filter(|(_, name)| generated(name).is_none()).collect();
        for (name, kinds) in self.given() {
            if files.iter().any(|(format, _)| kinds.contains(format)) {
                continue;
            }
            let kinds = match kinds.len() {
                0..6 => kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", "),
                _ => "any kind".to_owned(),
            };
            let here: Vec<_> = files.iter().map(|(format, file)| format!("{file} is {}", format.name())).collect();
            let here = if here.is_empty() { "none is read".to_owned() } else { here.join(", ") };
            let message = format!("it applies to files of {kinds}, and here {here}");
            return Err(Error::Argument { name, message });
        }
        let named = |name, kinds: &[Format]| {
            let files: Vec<_> = files.iter().filter(|(format, _)| kinds.contains(format)).map(|file| file.1).collect();
            if files.len() < 2 {
                return Ok(());
            }
            let message = format!("{} would write to one file; convert them first", files.join(" and "));
            Err(Error::Argument { name, message })
        };
        if self.labels.is_some() {
            named("--labels", &[Format::Svmlight, Format::Edges])?;
        }
        if self.renumber.is_some() {
            named("--renumber", &[Format::Edges])?;
        }
        Ok(())
    }
    /// The tensor of a FROSTT file; duplicate entries are summed.
    pub(crate) fn frostt(&self, name: &str) -> Result<AnyTensor<f64>> {
        let (format, name) = split_kind(name);
        if let Some(other) = format.or(self.format).filter(|&format| format != Format::Frostt) {
            let message = format!("a tensor is read from a FROSTT file, tns, not from {}", other.name());
            return Err(Error::Argument { name: "--format", message });
        }
        let options = self.frostt_options();
        read_by!(name, read_frostt_from, read_frostt_with, &options)
    }
    /// The array of a NumPy file.
    pub(crate) fn array(&self, name: &str) -> Result<NpyArray> {
        let options = NumpyOptions::new().max_bytes(self.most());
        let unsaid = name == STANDARD && self.format.is_none();
        let (format, name) = self.format(name);
        let format = if unsaid { Format::Npy } else { format };
        if format != Format::Npy {
            let message = format!("'{name}' ends in neither .npy nor .npy.gz");
            return Err(Error::Argument { name: "operand", message });
        }
        read_by!(name, read_npy_array_from, read_npy_array_with, &options)
    }
    fn matrix_market(&self, name: &str) -> Result<MatrixFile> {
        let options = ReadOptions::new().max_bytes(self.most()).lenient(self.lenient);
        let (_, name) = split_kind(name);
        read_by!(name, read_matrix_market_from, read_matrix_market_with, &options)
    }
    /// A matrix from a file in another format than Matrix Market; `None` if it is, or may be, Matrix Market.
    fn other(&self, name: &str) -> Result<Option<LabeledMatrix>> {
        let (most, lenient) = (self.most(), self.lenient);
        let (format, name) = self.format(name);
        let read = match format {
            Format::MatrixMarket | Format::Tsv | Format::Json | Format::Ktensor => return Ok(None),
            Format::Frostt => {
                let message = format!("'{name}' is a tensor, which sparring tensor-info and sparring cp read");
                return Err(Error::Argument { name: "file", message });
            }
            Format::Npy => {
                let options = NumpyOptions::new().max_bytes(most).lenient(lenient);
                read_by!(name, read_npy_from, read_npy_with, &options)?
            }
            Format::Npz => {
                let options = NumpyOptions::new().max_bytes(most).lenient(lenient);
                read_by!(name, read_npz_from, read_npz_with, &options)?
            }
            Format::Mat => {
                let mut options = MatlabOptions::new().max_bytes(most).lenient(lenient);
                if let Some(variable) = &self.variable {
                    options = options.variable(variable);
                }
                read_by!(name, read_mat_from, read_mat_with, &options)?
            }
            Format::Csv => {
                let mut options = CsvOptions::new().max_bytes(most).lenient(lenient);
                if let Some(header) = either(self.header, self.no_header) {
                    options = options.header(header);
                }
                if let Some(delimiter) = self.delimiter {
                    options = options.delimiter(delimiter);
                }
                read_by!(name, read_csv_from, read_csv_with, &options)?
            }
            Format::Svmlight => {
                let mut options = SvmlightOptions::new().max_bytes(most).lenient(lenient).zero_based(self.zero_based);
                if let Some(columns) = self.columns {
                    options = options.columns(columns);
                }
                read_by!(name, read_svmlight_from, read_svmlight_with, &options)?
            }
            format @ (Format::Edges | Format::Dimacs | Format::Metis) => {
                let options = self.edges(format);
                match format {
                    Format::Dimacs => read_by!(name, read_dimacs_from, read_dimacs_with, &options)?,
                    Format::Metis => read_by!(name, read_metis_from, read_metis_with, &options)?,
                    _ => read_by!(name, read_edges_from, read_edges_with, &options)?,
                }
            }
        };
        self.write_names(&read)?;
        Ok(Some(read))
    }
    /// The options for reading a graph of this format.
    fn edges(&self, format: Format) -> EdgeOptions<'static> {
        let mut options = EdgeOptions::new().max_bytes(self.most()).lenient(self.lenient).bipartite(self.bipartite);
        options = options.renumber(self.renumber.is_some()).named(self.labels.is_some() && format == Format::Edges);
        options = options.repeated(self.repeated.unwrap_or_default());
        if let Some(zero_based) = either(self.zero_based, self.one_based) {
            options = options.zero_based(zero_based);
        }
        if let Some(undirected) = either(self.undirected, self.directed) {
            options = options.undirected(undirected);
        }
        options
    }
    /// The file of an argument that the processes of a job can read in parallel, and how.
    #[cfg(feature = "cluster")]
    pub(crate) fn by_parts<'a>(&self, argument: &'a str) -> Option<(&'a str, ByParts)> {
        if generated(argument).is_some() || symmetrized(argument).is_some() {
            return None;
        }
        match self.format(argument) {
            (_, STANDARD) => None,
            (Format::MatrixMarket, path) if !self.lenient && self.max_bytes.is_none() => {
                Some((path, ByParts::MatrixMarket))
            }
            (Format::Edges, path) if self.labels.is_none() && self.renumber.is_none() => {
                Some((path, ByParts::Edges(self.edges(Format::Edges))))
            }
            (Format::Dimacs, path) => Some((path, ByParts::Dimacs(self.edges(Format::Dimacs)))),
            _ => None,
        }
    }
    /// The same for a tensor.
    #[cfg(feature = "cluster")]
    pub(crate) fn tensor_by_parts<'a>(&self, argument: &'a str) -> Option<(&'a str, FrosttOptions<'static>)> {
        let (format, path) = split_kind(argument);
        let is_other = format.or(self.format).is_some_and(|format| format != Format::Frostt);
        (generated(argument).is_none() && path != STANDARD && !is_other).then_some((path, self.frostt_options()))
    }
    fn frostt_options(&self) -> FrosttOptions<'static> {
        FrosttOptions::new().max_bytes(self.most()).lenient(self.lenient).zero_based(self.zero_based)
    }
    /// Writes labels and vertex numbers, if requested.
    fn write_names(&self, read: &LabeledMatrix) -> Result<()> {
        if let Some(name) = self.labels.as_ref().filter(|_| !read.labels.is_empty()) {
            to_file(name, None, |out| Ok(read.labels.iter().try_for_each(|label| writeln!(out, "{label}"))?))?;
        }
        if let Some(name) = self.renumber.as_ref().filter(|_| !read.ids.is_empty()) {
            let lines = read.ids.iter().enumerate();
            to_file(name, None, |out| {
                writeln!(out, "# vertex, from 0, and its number in the file")?;
                Ok(lines.into_iter().try_for_each(|(i, id)| writeln!(out, "{i}\t{id}"))?)
            })?;
        }
        Ok(())
    }
}

/// Formats that processes of a job read in parallel.
#[cfg(feature = "cluster")]
pub(crate) enum ByParts {
    MatrixMarket,
    Edges(EdgeOptions<'static>),
    Dimacs(EdgeOptions<'static>),
}

/// A matrix and the metadata of its file.
pub(crate) struct Source {
    pub(crate) field: &'static str,
    pub(crate) symmetry: &'static str,
    pub(crate) layout: &'static str,
    /// Entries in the file, before expanding symmetry.
    pub(crate) stored: usize,
    pub(crate) matrix: Csr<f64>,
}

/// The name of the generated matrix in `argument`, if it is one.
pub(crate) fn generated(argument: &str) -> Option<&str> {
    argument.strip_prefix("gen:")
}

/// The argument without the prefix `sym:`, which selects the undirected graph of the matrix.
fn symmetrized(argument: &str) -> Option<&str> {
    argument.strip_prefix("sym:")
}

/// Splits `KIND:FILE` into the format and the file.
pub(crate) fn split_kind(argument: &str) -> (Option<Format>, &str) {
    let split = argument.split_once(':').and_then(|(kind, file)| Some((Format::from_str(kind, false).ok()?, file)));
    split.map_or((None, argument), |(format, file)| (Some(format), file))
}

/// Rejects what [`load`] could not open: unknown names, inaccessible files.
pub(crate) fn check(argument: &str) -> Result<()> {
    if let Some(argument) = symmetrized(argument) {
        return check(argument);
    }
    match generated(argument) {
        Some(name) => suggest::generated(name, generate::check_name(name)),
        None => match split_kind(argument).1 {
            STANDARD => Ok(()),
            file => match std::fs::File::open(file) {
                Ok(_) => Ok(()),
                Err(source) => Err(Error::Io { path: file.into(), source }),
            },
        },
    }
}

/// The matrix in the file `argument`, or the generated one after `gen:`. With the prefix `sym:`, the pattern of
/// A + Aᵀ without the diagonal, all ones.
pub(crate) fn load(argument: &str, how: &Reading) -> Result<Source> {
    if let Some(argument) = symmetrized(argument) {
        let mut source = load(argument, how)?;
        let pattern = source.matrix.pattern().symmetrized(&Threads::current())?;
        let ones = vec![1.0; pattern.nnz()];
        source.matrix = Csr::with_pattern(Arc::new(pattern), ones)?;
        return Ok(source);
    }
    if let Some(name) = generated(argument) {
        let matrix = suggest::generated(name, generate::matrix(name))?;
        return Ok(Source { field: "real", symmetry: "general", layout: "generated", stored: matrix.nnz(), matrix });
    }
    if let Some(file) = how.other(argument)? {
        let matrix = Matrix::new(file.pattern, file.values)?;
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

/// The same with values of type `ty`, by default the type of the file: i64 for integers (u64 beyond its range), bool
/// for patterns, complex for complex. Duplicate entries are summed in the given type.
pub(crate) fn load_any(argument: &str, how: &Reading, ty: Option<Type>) -> Result<Matrix> {
    let cast = |matrix: Matrix| ty.map_or(Ok(matrix.clone()), |ty| matrix.cast(ty));
    if symmetrized(argument).is_some() || generated(argument).is_some() {
        return cast(load(argument, how)?.matrix.into());
    }
    if let Some(file) = how.other(argument)? {
        return cast(Matrix::new(file.pattern, file.values)?);
    }
    let file = how.matrix_market(argument)?;
    let (pattern, values) = match ty {
        Some(ty) => file.of_type(ty, &Threads::current())?,
        None => file.any()?,
    };
    Matrix::new(pattern, values)
}

//! Output: files, whose format follows from their names, or standard output.

use std::io::Write;

use clap::{Args, ValueEnum};
use sparring::Result;
use sparring::runtime::Matrix;

use crate::context::Context;
use crate::formats::{self, Format, Kind, STANDARD, Stop};

/// The format of `--output`, if not given by the name.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct Writing {
    /// Format of the result, whatever the file name; also for standard output
    #[arg(long, value_enum, value_name = "KIND", requires = "output")]
    output_format: Option<Written>,
}

impl Writing {
    /// Whether no format was given.
    pub(crate) fn is_default(self) -> bool {
        self.output_format.is_none()
    }
}

/// Output formats.
#[derive(Clone, Copy, ValueEnum)]
enum Written {
    /// Matrix Market
    Mtx,
    /// Dense NumPy array
    Npy,
    /// SciPy sparse matrix, or NumPy arrays
    Npz,
    /// Table of numbers
    Csv,
    /// svmlight
    Svm,
    /// Tab-separated neighbours
    Tsv,
    /// Model of cp
    Json,
}

impl From<Written> for Format {
    fn from(written: Written) -> Self {
        match written {
            Written::Mtx => Self::MatrixMarket,
            Written::Npy => Self::Npy,
            Written::Npz => Self::Npz,
            Written::Csv => Self::Csv,
            Written::Svm => Self::Svmlight,
            Written::Tsv => Self::Tsv,
            Written::Json => Self::Json,
        }
    }
}

/// An output file, checked before anything is read or computed.
#[derive(Clone)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

impl Output {
    /// The output for the name of `--output`, in one of the formats, the first of which is the default for standard
    /// output. Standard output then carries only the result.
    pub(crate) fn new(
        context: &Context,
        name: Option<&String>,
        writing: Writing,
        formats: &[Format],
    ) -> Result<Option<Self>> {
        let Some(name) = name else { return Ok(None) };
        let kind = formats::kind_to_write(name, writing.output_format.map(Format::from), formats)?;
        if name == STANDARD {
            context.give_up_stdout()?;
        }
        Ok(Some(Self { name: name.clone(), kind }))
    }
    /// Writes the file with `body`, and shows progress. In a job, only the first process writes.
    pub(crate) fn write(&self, context: &Context, body: impl FnOnce(&mut dyn Write) -> Result<(), Stop>) -> Result<()> {
        if context.is_silent() {
            return Ok(());
        }
        context.progress.stage(format!("writing {}", self.name));
        formats::to_file(&self.name, self.kind.packed, |out| body(&mut context.progress.counted(out)))
    }
    /// The same for a result that is computed while it is written; the progress shown is that of the computation.
    pub(crate) fn write_made(&self, body: impl FnOnce(&mut dyn Write) -> Result<(), Stop>) -> Result<()> {
        formats::to_file(&self.name, self.kind.packed, body)
    }
    /// Writes a matrix. In a job, each process writes its block, or the first process writes everything if the format
    /// does not allow blocks.
    pub(crate) fn save(&self, context: &Context, a: &Matrix) -> Result<()> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = context.cluster()
            && (self.kind.format == Format::MatrixMarket && self.kind.packed.is_none() && self.name != STANDARD)
            && cluster.machine().engine().holds(a.into())
        {
            context.progress.stage(format!("writing {}", self.name));
            return cluster.write_matrix_market(&self.name, a);
        }
        let a = &a.download()?;
        self.write(context, |out| formats::write(out, self.kind.format, a))
    }
}

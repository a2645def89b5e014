//! Where results go: files whose names say what they are, or standard output.

use std::io::Write;

use clap::{Args, ValueEnum};
use sparring::Result;
use sparring::runtime::Matrix;

use crate::context::Context;
use crate::formats::{self, Format, Kind, STANDARD, Stop};

/// What `--output` writes, whatever the name says.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct Writing {
    /// Write the result as this kind of file, whatever its name; also to standard output
    #[arg(long, value_enum, value_name = "KIND", requires = "output")]
    output_format: Option<Written>,
}

impl Writing {
    /// Whether nothing was asked for.
    pub(crate) fn is_default(self) -> bool {
        self.output_format.is_none()
    }
}

/// Kinds of files that are written.
#[derive(Clone, Copy, ValueEnum)]
enum Written {
    /// Matrix Market
    Mtx,
    /// A dense array of NumPy
    Npy,
    /// A sparse matrix of SciPy, or arrays of NumPy
    Npz,
    /// A table of numbers
    Csv,
    /// Lines of a label and column:value
    Svm,
    /// Lines of numbers with tabs between: neighbours
    Tsv,
    /// A model of cp
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

/// What is to be written, checked before anything is read or computed.
#[derive(Clone)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

impl Output {
    /// For a name of `--output`, one of the formats, of which the first is that of standard output; that is then the
    /// result's alone.
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
    /// Lets `body` write the file, and shows how far it is. Of the processes of a job the first does.
    pub(crate) fn write(&self, context: &Context, body: impl FnOnce(&mut dyn Write) -> Result<(), Stop>) -> Result<()> {
        if context.is_silent() {
            return Ok(());
        }
        context.progress.stage(format!("writing {}", self.name));
        formats::to_file(&self.name, self.kind.packed, |out| body(&mut context.progress.counted(out)))
    }
    /// The same of what is computed while it is written, and shows that.
    pub(crate) fn write_made(&self, body: impl FnOnce(&mut dyn Write) -> Result<(), Stop>) -> Result<()> {
        formats::to_file(&self.name, self.kind.packed, body)
    }
    /// Writes a matrix. Of the processes of a job each writes its block, or the first all of it, where the kind of file
    /// has no room for blocks.
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

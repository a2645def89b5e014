//! Where results go: files whose names say what they are, or standard output.

use sparring::Result;
use sparring::runtime::Matrix;

use crate::context::Context;
use crate::formats::{self, Format, Kind, STANDARD};

/// What is to be written, checked before anything is read or computed.
#[derive(Clone)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

impl Output {
    /// For a name of `--output`, one of the formats; standard output is then the matrix's alone.
    pub(crate) fn new(context: &Context, name: Option<&String>, formats: &[Format]) -> Result<Option<Self>> {
        let Some(name) = name else { return Ok(None) };
        let kind = formats::kind_to_write(name, formats)?;
        if name == STANDARD {
            context.give_up_stdout();
        }
        Ok(Some(Self { name: name.clone(), kind }))
    }
    /// Writes a matrix that is in the processor's memory.
    pub(crate) fn save(&self, context: &Context, a: &Matrix) -> Result<()> {
        context.progress.stage(format!("writing {}", self.name));
        formats::write(&self.name, a)
    }
}

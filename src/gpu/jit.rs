//! Programs compiled at run time, by NVRTC, for exactly the device at hand.
//!
//! A program is one file of `cuda/` with a prefix in front: the printed `struct Ring`, types, constants. The headers of
//! `cuda/` go along in memory, so neither a toolkit nor a file is needed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::driver::{Device, failed};
use super::launch::Program;
use super::nvrtc::{Failure, Input, Nvrtc, Output};
use crate::{Error, Result};

/// A file of `cuda/`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its text.
    pub(crate) text: &'static str,
}

/// The file of `cuda/` called `$name`.
macro_rules! source {
    ($name:literal) => {
        $crate::gpu::jit::Source { name: $name, text: include_str!(concat!("../../cuda/", $name)) }
    };
}
pub(crate) use source;

/// Headers that every program may include.
const HEADERS: [Source; 2] = [source!("prelude.cuh"), source!("parts.cuh")];

/// A compiled program.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    /// Machine code, or PTX that ends with a zero byte.
    pub(crate) image: Vec<u8>,
    /// What the compiler said: registers and spills of each kernel.
    pub(crate) log: String,
}

/// A program for the tests that compile all of them.
pub(crate) struct Unit {
    pub(crate) source: Source,
    /// A representative prefix.
    pub(crate) prefix: String,
    /// Kernels that must not spill.
    pub(crate) hot: &'static [&'static str],
}

/// What is compiled for: an architecture, say 90.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Its machine code.
    Code(u32),
    /// PTX, which the driver compiles for any architecture not older.
    Ptx(u32),
}

impl Target {
    /// Machine code where the compiler knows the architecture; else PTX for the newest that it knows and the device can
    /// run.
    fn of(sm: u32, known: &[u32]) -> Option<Self> {
        if known.contains(&sm) {
            return Some(Self::Code(sm));
        }
        known.iter().copied().filter(|&k| k <= sm).max().map(Self::Ptx)
    }
    fn options(self) -> Vec<String> {
        let mut options = vec![match self {
            Self::Code(sm) => format!("--gpu-architecture=sm_{sm}"),
            Self::Ptx(sm) => format!("--gpu-architecture=compute_{sm}"),
        }];
        options.extend(["--std=c++17".into(), "--device-as-default-execution-space".into()]);
        // Sums and products are rounded one by one, on the host and here.
        options.push("--fmad=false".into());
        if matches!(self, Self::Code(_)) {
            options.push("--ptxas-options=-v".into());
        }
        options
    }
}

/// Compiles `prefix` and `source` for the architecture `sm`. Needs no device.
/// # Errors
/// [`Error::Compile`] with the compiler's words and the program with line numbers; [`Error::NoCompiler`].
pub(crate) fn compile(source: Source, prefix: &str, sm: u32) -> Result<Compiled> {
    let nvrtc = Nvrtc::get()?;
    let target = target(nvrtc, sm)?;
    compile_for(nvrtc, source, &text(source, prefix), target)
}

fn target(nvrtc: &Nvrtc, sm: u32) -> Result<Target> {
    Target::of(sm, nvrtc.archs()).ok_or_else(|| Error::NoCompiler {
        why: format!("NVRTC {:?} compiles for {:?}, not for sm_{sm}", nvrtc.version(), nvrtc.archs()),
    })
}

/// The whole text of a program.
fn text(source: Source, prefix: &str) -> String {
    format!("#include \"prelude.cuh\"\n{prefix}{}", source.text)
}

fn compile_for(nvrtc: &Nvrtc, source: Source, text: &str, target: Target) -> Result<Compiled> {
    let input = Input {
        name: source.name,
        text,
        headers: &HEADERS.map(|h| (h.name, h.text)),
        options: &target.options(),
        ptx: matches!(target, Target::Ptx(_)),
    };
    match nvrtc.compile(&input) {
        Ok(Output { image, log }) => Ok(Compiled { image, log }),
        Err(Failure::Program(log)) => {
            Err(Error::Compile { program: source.name.into(), log, source_text: numbered(text) })
        }
        Err(Failure::Library(why)) => Err(Error::NoCompiler { why }),
    }
}

/// The text with its lines numbered, as the compiler counts them.
fn numbered(text: &str) -> String {
    text.lines().enumerate().map(|(i, line)| format!("{:4} {line}\n", i + 1)).collect()
}

/// Programs compiled and loaded so far.
#[derive(Default)]
pub(crate) struct Programs {
    loaded: Mutex<HashMap<(&'static str, String), Arc<Program>>>,
}

impl Programs {
    /// The program, compiled if it is not here.
    pub(crate) fn get(&self, device: &Arc<Device>, source: Source, prefix: &str) -> Result<Arc<Program>> {
        let key = (source.name, prefix.to_string());
        if let Some(program) = self.loaded.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(program));
        }
        let (major, minor) = device.limits().capability;
        let compiled = compile(source, prefix, major * 10 + minor)?;
        let module = device.load(&compiled.image).map_err(failed(format!("loading {}", source.name)))?;
        let program = Arc::new(Program::new(module));
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&program));
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_newer_than_the_compiler_gets_text_for_the_driver() {
        let known = [75, 80, 90, 100];
        assert_eq!(Target::of(90, &known), Some(Target::Code(90)));
        assert_eq!(Target::of(86, &known), Some(Target::Ptx(80)));
        assert_eq!(Target::of(130, &known), Some(Target::Ptx(100)));
        assert_eq!(Target::of(70, &known), None, "older than all that it knows");
        assert_eq!(Target::Ptx(100).options()[0], "--gpu-architecture=compute_100");
    }
}

//! Programs compiled at run time, by NVRTC, for exactly the device at hand.
//!
//! A program is one file of `cuda/` with a prefix in front: the printed `struct Ring`, types, constants. The headers of
//! `cuda/` go along in memory, so neither a toolkit nor a file is needed.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::nvrtc::{result as nvrtc, sys};

use super::driver::{Device, failed};
use super::launch::Program;
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

/// A program with a prefix that stands for those of its callers, to be compiled where there is no device.
pub(crate) struct Unit {
    pub source: Source,
    pub prefix: String,
    /// Kernels that must not spill registers.
    pub hot: &'static [&'static str],
}

/// Headers that every program may include.
const HEADERS: [Source; 2] = [source!("prelude.cuh"), source!("parts.cuh")];

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The machine code.
    pub cubin: Vec<u8>,
    /// What the compiler said: registers and spills of each kernel.
    pub log: String,
}

/// Options for the architecture `sm`, say 90.
fn options(sm: u32) -> Vec<String> {
    vec![
        format!("--gpu-architecture=sm_{sm}"),
        "--std=c++17".into(),
        "--device-as-default-execution-space".into(),
        // Sums and products are rounded one by one, on the host and here.
        "--fmad=false".into(),
        "--ptxas-options=-v".into(),
    ]
}

/// Compiles `prefix` and `source` for the architecture `sm`. Needs no device.
/// # Errors
/// [`Error::Compile`] with the compiler's words and the program with line numbers; [`Error::NoCompiler`].
pub(crate) fn compile(source: Source, prefix: &str, sm: u32) -> Result<Compiled> {
    // SAFETY: it opens a library by name and closes it. Without it, cudarc's first call would panic.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::NoCompiler { why: "NVRTC's library libnvrtc.so is not found".into() });
    }
    let text = format!("#include \"prelude.cuh\"\n{prefix}{}", source.text);
    let refuse = |log: String| Error::Compile { program: source.name.into(), log, source_text: numbered(&text) };
    let c = |s: &str| CString::new(s).map_err(|e| refuse(e.to_string()));
    let (program_text, name) = (c(&text)?, c(source.name)?);
    let header_names = HEADERS.iter().map(|h| c(h.name)).collect::<Result<Vec<_>>>()?;
    let header_texts = HEADERS.iter().map(|h| c(h.text)).collect::<Result<Vec<_>>>()?;
    let names: Vec<_> = header_names.iter().map(|h| h.as_ptr()).collect();
    let texts: Vec<_> = header_texts.iter().map(|h| h.as_ptr()).collect();

    let mut program: sys::nvrtcProgram = std::ptr::null_mut();
    // SAFETY: all strings outlive the program, which is destroyed at the end of this function.
    let made = unsafe {
        sys::nvrtcCreateProgram(
            &raw mut program,
            program_text.as_ptr(),
            name.as_ptr(),
            i32::try_from(HEADERS.len()).unwrap_or(0),
            texts.as_ptr(),
            names.as_ptr(),
        )
    };
    made.result().map_err(|e| refuse(e.to_string()))?;
    // SAFETY: the program was made above and is not destroyed yet.
    let done = unsafe { nvrtc::compile_program(program, &options(sm)) };
    // SAFETY: as above; the log ends with a zero byte.
    let log = unsafe { nvrtc::get_program_log(program) }
        .map(|log| unsafe { CStr::from_ptr(log.as_ptr()) }.to_string_lossy().into_owned())
        .unwrap_or_default();
    let cubin = done.map_err(|e| refuse(format!("{e}: {log}"))).and_then(|()| {
        let mut bytes = 0;
        // SAFETY: the program is compiled; the buffer has the size that NVRTC asks for.
        unsafe {
            sys::nvrtcGetCUBINSize(program, &raw mut bytes).result().map_err(|e| refuse(e.to_string()))?;
            let mut cubin = vec![0u8; bytes];
            sys::nvrtcGetCUBIN(program, cubin.as_mut_ptr().cast()).result().map_err(|e| refuse(e.to_string()))?;
            Ok(cubin)
        }
    });
    // SAFETY: destroyed once.
    let _ = unsafe { nvrtc::destroy_program(program) };
    Ok(Compiled { cubin: cubin?, log })
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
        let module = device.load(&compiled.cubin).map_err(failed(format!("loading {}", source.name)))?;
        let program = Arc::new(Program::new(module));
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&program));
        Ok(program)
    }
}

//! For this library's own tests; no part of its interface.

use super::jit::{self, Unit};
use super::scan;
use crate::Result;

/// A program compiled for the test of all kernels.
#[derive(Debug)]
pub struct Compiled {
    /// File of the program, and the first line of its prefix that tells it from others.
    pub name: String,
    /// Kernels that must not spill.
    pub hot: &'static [&'static str],
    /// Bytes of machine code.
    pub bytes: usize,
    /// What the compiler said.
    pub log: String,
}

/// Every program of the library with representative types. A file with kernels has a line here.
fn units() -> Vec<Unit> {
    [scan::programs()].into_iter().flatten().collect()
}

/// Compiles every program of the library for the architecture `sm`.
/// # Errors
/// [`Error::Compile`](crate::Error::Compile) for the first that does not compile, [`Error::NoCompiler`](crate::Error::NoCompiler).
pub fn compile_all(sm: u32) -> Result<Vec<Compiled>> {
    let compile = |unit: Unit| {
        let compiled = jit::compile(unit.source, &unit.prefix, sm)?;
        let name = format!("{} [{}]", unit.source.name, unit.prefix.lines().next().unwrap_or_default());
        Ok(Compiled { name, hot: unit.hot, bytes: compiled.image.len(), log: compiled.log })
    };
    units().into_iter().map(compile).collect()
}

/// Architectures that the compiler of this machine makes code for, increasing.
/// # Errors
/// [`Error::NoCompiler`](crate::Error::NoCompiler).
pub fn architectures() -> Result<Vec<u32>> {
    Ok(super::nvrtc::Nvrtc::get()?.archs().to_vec())
}

//! Equal functions kept once: an argument of the linker, for the build scripts of the libraries for C and for Python.

use std::env::var;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Functions of the same instructions, as loops for types of one size are, are kept once: 250 kB. Linkers other than
/// LLD, which Rust has brought for x86-64 Linux since 1.90, may not know it.
const FOLD: &str = "-Wl,--icf=all";

/// Links the shared library so, where the linker can.
pub(crate) fn equal_functions() {
    where_known(FOLD);
}

/// Links the shared library with an argument, where the linker knows it.
pub(crate) fn where_known(argument: &str) {
    let target = |what: &str| var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    let is_unix = target("FAMILY").split(',').any(|family| family == "unix");
    if is_unix && target("VENDOR") != "apple" && target("OS") != "android" && links_with(argument) {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}

/// Whether an empty library can be linked with an argument.
fn links_with(argument: &str) -> bool {
    let folder = PathBuf::from(var("OUT_DIR").unwrap_or_default());
    let (source, library) = (folder.join("empty.rs"), folder.join("libempty.so"));
    let mut compiler = Command::new(var("RUSTC").unwrap_or_else(|_| "rustc".into()));
    compiler.args(["--crate-type=cdylib", "-Cpanic=abort", "--target", &var("TARGET").unwrap_or_default()]);
    if let Ok(linker) = var("RUSTC_LINKER") {
        compiler.arg(format!("-Clinker={linker}"));
    }
    compiler.arg(format!("-Clink-arg={argument}")).arg("-o").arg(library).arg(&source);
    std::fs::write(&source, "").is_ok()
        && compiler.stderr(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

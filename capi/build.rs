//! Gives the shared library the name that programs ask the loader for.

use std::env::var;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Raised when a program that was built before could no longer run with the library: a function or a field of a struct
/// gone, or of another type. `scripts/install` reads it here.
const ABI: &str = "0";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |what: &str| var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("VENDOR") == "apple" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libsparring.{ABI}.dylib");
    } else if target("FAMILY").split(',').any(|family| family == "unix") && target("OS") != "android" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libsparring.so.{ABI}");
        if links_with(FOLD) {
            println!("cargo::rustc-cdylib-link-arg={FOLD}");
        }
    }
}

/// Functions of the same instructions, as loops for types of one size are, are kept once: 250 kB. Linkers other than
/// LLD, which Rust has brought for x86-64 Linux since 1.90, may not know it.
const FOLD: &str = "-Wl,--icf=all";

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

//! Gives the shared library the name that programs ask the loader for.

#[path = "build/fold.rs"]
mod fold;

use std::env::var;

/// Raised when a program that was built before could no longer run with the library: a function or a field of a struct
/// gone, or of another type. `scripts/install` reads it here.
const ABI: &str = "0";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/fold.rs");
    let target = |what: &str| var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("VENDOR") == "apple" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libsparring.{ABI}.dylib");
    } else if target("FAMILY").split(',').any(|family| family == "unix") && target("OS") != "android" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libsparring.so.{ABI}");
    }
    fold::equal_functions();
}

//! Links the extension module as the library for C is linked.

#[path = "../capi/build/fold.rs"]
mod fold;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../capi/build/fold.rs");
    fold::equal_functions();
}

//! Compiler messages for mistakes in user-defined operators: they contain the sentence with the fix.
//!
//! Each snippet is a function of one program, which is compiled against the library that this test was built with. The
//! comment above it holds the expected message.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The most recently built library beside this test.
fn library() -> PathBuf {
    let folder = std::env::current_exe().expect("this test").parent().expect("its folder").to_path_buf();
    let is_library = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("libsparring-") && name.ends_with(".rlib")
    };
    let files = std::fs::read_dir(&folder).expect("a folder").filter_map(|entry| Some(entry.ok()?.path()));
    let age = |path: &PathBuf| path.metadata().and_then(|m| m.modified()).expect("a time");
    files.filter(|path| is_library(path)).max_by_key(age).expect("the library")
}

/// The compiler chooses spaces and line ends.
fn words(text: &str) -> String {
    text.split_whitespace().filter(|word| !["|", "=", "//"].contains(word)).collect::<Vec<_>>().join(" ")
}

/// Compiles the file; every comment `//~ text` must occur in the compiler's output.
fn says(file: &str) {
    let library = library();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui").join(file);
    let out = std::env::temp_dir().join(format!("sparring-messages-{}-{file}", std::process::id()));
    std::fs::create_dir_all(&out).expect("a folder");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(compiler)
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--cap-lints=allow", "--color=never"])
        .arg("--extern")
        .arg(format!("sparring={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", library.parent().expect("its folder").display()))
        .arg("--out-dir")
        .arg(&out)
        .arg(&source)
        .output();
    std::fs::remove_dir_all(&out).expect("the folder goes");
    let said = match said {
        Ok(said) => said,
        Err(e) => return println!("skipped: no compiler: {e}"),
    };
    let (said, failed) = (String::from_utf8_lossy(&said.stderr).into_owned(), !said.status.success());
    assert!(failed, "{file} compiles");
    let all = words(&said);
    let text = std::fs::read_to_string(&source).expect("the snippets");
    let lines: Vec<_> = text.lines().filter_map(|line| line.trim_start().strip_prefix("//~ ")).collect();
    let unsaid: Vec<_> = lines.iter().filter(|line| !all.contains(&words(line))).collect();
    assert!(!lines.is_empty(), "{file} expects nothing");
    assert!(unsaid.is_empty(), "{file}: the compiler says\n{said}\nbut not {unsaid:#?}");
}

#[test]
fn traits_say_what_to_write() {
    says("traits.rs");
}

#[test]
fn device_functions_are_checked_when_they_are_made() {
    says("device.rs");
}

#[test]
fn what_is_trusted_takes_a_promise_or_is_not_to_be_had() {
    says("value.rs");
    says("par.rs");
}

/// `--emit=metadata` is what `cargo check` does.
#[test]
fn extents_that_differ_are_told_without_making_code() {
    says("einsum.rs");
}

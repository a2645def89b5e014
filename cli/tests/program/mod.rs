//! The program as the tests run it.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A file private to this test.
pub(crate) fn file(name: &str, text: &str) -> String {
    let path = scratch(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().into()
}

pub(crate) fn sparring(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sparring")).args(arguments).output().unwrap()
}

/// Standard output of a run that must succeed and write nothing else.
#[track_caller]
pub(crate) fn text(arguments: &[&str]) -> String {
    let output = sparring(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The single JSON object printed with `--json`.
#[track_caller]
pub(crate) fn json(arguments: &[&str]) -> Value {
    let value: Value = serde_json::from_str(&text(&[arguments, &["--json"]].concat())).unwrap();
    assert!(value.is_object());
    value
}

/// The JSON objects printed with `--json`, one per line.
#[track_caller]
pub(crate) fn lines(arguments: &[&str]) -> Vec<Value> {
    text(&[arguments, &["--json"]].concat()).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Standard error of a run that must end with this exit code and an empty standard output.
#[track_caller]
pub(crate) fn failed(arguments: &[&str], code: i32) -> String {
    let output = sparring(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{arguments:?}: {stderr}");
    stderr
}

/// Standard error of a run that must end with exit code 2 and an empty standard output.
#[track_caller]
pub(crate) fn refused(arguments: &[&str]) -> String {
    failed(arguments, 2)
}

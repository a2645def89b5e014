//! Limits of a command's resources: memory and threads.

mod program;

use std::fmt::Write;
use std::process::{Command, Output};

use program::{failed, file, json, refused};

/// 2000 rows with four columns each.
fn matrix(name: &str) -> String {
    let mut text = String::from("%%MatrixMarket matrix coordinate real general\n2000 2000 8000\n");
    for i in 0..2000 {
        for k in 0..4 {
            let _ = writeln!(text, "{} {} 1.5", i + 1, (i * 3 + k * 500) % 2000 + 1);
        }
    }
    file(name, &text)
}

/// All pairs of eight million rows are 512 TB; k-nearest neighbours take far less, unless the graph is written as a
/// dense table.
#[cfg(target_os = "linux")]
#[test]
fn a_result_is_no_larger_than_its_disk() {
    let many = file("disk.mtx", "%%MatrixMarket matrix coordinate real general\n8000000 1 1\n1 1 1\n");
    for (command, end, bytes) in [
        (&["distances"][..], "npy", "512,000,000,000,128"),
        (&["distances"], "csv", "128,000,000,000,000"),
        (&["distances"], "mtx", "128,000,000,000,000"),
        (&["knn", "-k", "1"], "npy", "512,000,000,000,128"),
    ] {
        let name = program::scratch(&format!("disk-out.{end}"));
        let name = name.to_str().unwrap();
        let said = failed(&[command, &[&many, "--metric", "euclidean", "-o", name]].concat(), 2);
        assert!(said.contains(&format!("takes {bytes} bytes at least, and its disk has ")), "{said}");
        assert!(said.contains(" bytes free") && !std::path::Path::new(name).exists(), "{said}");
    }
}

#[test]
fn a_budget_is_kept_by_every_command_that_computes() {
    let a = matrix("budget-of-all.mtx");
    for command in [
        &["mxm"][..],
        &["info", "--product"],
        &["knn", "--k", "2", "--metric", "cosine"],
        &["radius", "--radius", "0.1", "--metric", "cosine"],
        &["distances", "--metric", "cosine"],
    ] {
        let with = |budget: &'static str| [command, &[&a, "--memory-budget", budget]].concat();
        let said = failed(&with("1K"), 1);
        assert!(said.contains("the budget is 1024 bytes"), "{said}");
        json(&with("1G"));
        json(&with("300m"));
    }
    for wrong in ["2X", "G", "-1", "1.5"] {
        assert!(refused(&["mxm", &a, &format!("--memory-budget={wrong}")]).contains("--memory-budget"));
    }
    for command in [&["triangles", &a][..], &["info", &a], &["metrics"], &["man"]] {
        assert!(refused(&[command, &["--memory-budget", "1G"]].concat()).contains("--memory-budget"));
    }
}

/// A stack larger than the address space: no thread can be created.
fn without_threads(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_sparring"));
    program.args(arguments).env("RUST_MIN_STACK", "140737488355328").output().unwrap()
}

#[test]
fn where_threads_cannot_be_had_one_does_it_all() {
    let a = matrix("without-threads.mtx");
    for command in [
        &["mxm"][..],
        &["mxm", "--semiring", "min_plus"],
        &["info"],
        &["triangles"],
        &["knn", "--k", "2", "--metric", "l1"],
    ] {
        let output = without_threads(&[command, &[&a]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {said}");
        let output = without_threads(&[command, &[&a, "--threads", "2"]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {said}");
        assert!(said.contains("2 threads"), "{said}");
    }
}

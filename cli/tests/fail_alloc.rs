//! Out of memory ends a command with a message and exit code 1, never with a panic or an abort. A preloaded allocator
//! refuses one large request, each in turn.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod program;

use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use program::scratch;

/// Smallest request refused, in bytes: more than arguments, messages and jobs take, less than any array here.
const LARGE: &str = "46000";

/// The allocator, if a compiler is available.
fn allocator() -> Option<String> {
    let library = scratch("libfail_once.so").to_str()?.to_owned();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/preload/fail_once.c");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let made = Command::new(compiler).args(["-shared", "-fPIC", "-O1", source, "-o", &library]).status();
    made.is_ok_and(|status| status.success()).then_some(library)
}

/// A matrix of `n` rows with sixteen entries each, as text.
fn matrix(name: &str, n: usize) -> String {
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n", 16 * n);
    for i in 0..n {
        for k in 0..16 {
            let _ = writeln!(text, "{} {} {}.5", i + 1, (i * 7 + k * k * 31) % n + 1, k + 1);
        }
    }
    program::file(name, &text)
}

/// An `n` × `n` array of ones.
fn array(name: &str, n: usize) -> String {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {n}), }}\n");
    let len = (header.len() as u16).to_le_bytes();
    let bytes = [b"\x93NUMPY\x01\x00", &len[..], header.as_bytes(), &1f64.to_le_bytes().repeat(n * n)].concat();
    let path = scratch(name);
    std::fs::write(&path, bytes).expect("a file");
    path.to_str().expect("a name").into()
}

#[test]
fn every_command_survives_a_refusal() {
    let Some(allocator) = allocator() else { return println!("skipped: no C compiler") };
    let (a, few) = (matrix("refused.mtx", 6000), matrix("refused-few.mtx", 800));
    let made = scratch("refused-made.mtx").to_str().unwrap().to_owned();
    let (array, product) = (array("refused.npy", 90), scratch("refused-made.npy").to_str().unwrap().to_owned());
    let kinds =
        ["csv", "svm", "npy", "npz"].map(|end| scratch(&format!("refused-few.{end}")).to_str().unwrap().to_owned());
    for name in &kinds {
        program::json(&["convert", &few, name]);
    }
    let outputs = ["csv", "svm", "npz"].map(|end| scratch(&format!("refused-made.{end}")).to_str().unwrap().to_owned());
    let edges = (0..9000).map(|e| format!("{} {} 0.5\n", e % 6000, e * 7 % 5000)).collect::<String>();
    let (edges, map) = (program::file("refused.edges", &edges), scratch("refused.map").to_str().unwrap().to_owned());
    let of = |name: &str| scratch(&format!("refused-{name}")).to_str().unwrap().to_owned();
    let entries = (0..9000).map(|e| format!("{} {} {} 0.5\n", e % 3000 + 1, e * 7 % 2500 + 1, e % 3 + 1));
    let tensor = program::file("refused.tns", &entries.collect::<String>());
    let small =
        program::file("refused-small.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
    let tiny = matrix("refused-tiny.mtx", 120);
    let labels = (0..6000).map(|v| format!("{}\n", v % 7)).collect::<String>();
    let column =
        program::file("refused-column.mtx", &format!("%%MatrixMarket matrix array integer general\n6000 1\n{labels}"));
    let commands: &[&[&str]] = &[
        &["convert", &kinds[0], &outputs[0]],
        &["convert", &kinds[1], &outputs[1], "--labels", &map],
        &["convert", &kinds[2], &product],
        &["convert", &kinds[3], &outputs[2]],
        &["convert", &edges, &made, "--undirected", "--renumber", &map, "--repeated", "max"],
        &["einsum", "ij,jk->ik", &array, &array, "-o", &product],
        &["einsum", "ij,kj,lk->il", &array, &array, &array, "--accumulate", &array, "--semiring", "min_plus"],
        &["info", &a],
        &["pagerank", &a, "--top", "3", "--plot", &of("ranks.svg"), "-o", &of("ranks.npy")],
        &["betweenness", &a, "--samples", "2"],
        &["bfs", &a, "--source", "0,7", "-o", &of("levels.csv")],
        &["apsp", &tiny, "-o", &of("pairs.npz"), "--plot", &of("far.svg")],
        &["modularity", &a, "--communities", &column, "-o", &of("labels.npy")],
        &["leiden", &a, "--kind", "undirected", "--plot", &of("communities.svg")],
        &["triangles", &a],
        &["mxm", &a, "-o", &made],
        &["mxm", &a, "--semiring", "min_plus", "--policy", "kkspgemm"],
        &["knn", &few, "--k", "5", "--metric", "cosine"],
        &["distances", &few, "--metric", "manhattan", "-o", &made],
        &["einsum", "ij,jk", &array, &array, "--semiring", "min, a + 2*b", "--accumulate", &array, "-o", &made],
        &["cp", &tensor, "--rank", "3", "--sweeps", "2", "-o", &of("model.json")],
        &["cp", &tensor, "--rank", "3", "--sweeps", "2", "-o", &of("model.npz")],
        &["cp", &tensor, "--rank", "3", "--sweeps", "2", "-o", &of("model")],
        &["cp", &tensor, "--rank", "3", "--sweeps", "2", "--plot", &of("model.svg")],
        &["cp", &tensor, "--rank", "3", "--sweeps", "2", "--plot", &of("model.png")],
        &["mttkrp", &tensor, "--rank", "9", "-o", &of("v.npy")],
        &["mttkrp", &tensor, "--rank", "9", "--semiring", "min, a + 2*b", "-o", &of("v.csv.gz")],
        &["knn", &few, "--k", "5", "--metric", "cosine", "--save-index", &of("few.idx"), "-o", &of("near.tsv")],
        &["knn", &few, "--k", "5", "--metric", "l1", "-o", &of("near.npz"), "--plot", &of("near.png")],
        &["radius", &few, "--radius", "0.9", "--metric", "cosine", "-o", &of("within.csv")],
        &["distances", &few, "--metric", "l1", "-o", &of("d.npy"), "--plot", &of("d.svg")],
        &["distances", &few, "--metric", "a - 3*b", "-o", &of("d.csv")],
        &["info", &few, "--product", "--plot", &of("few.png")],
        &["info", &few, "--plot", &of("few.svg"), "--spy", &of("spy.png")],
        &["triangles", &few, "--per", "vertex", "-o", &of("t.svm")],
        &["triangles", &few, "--per", "edge", "-o", &of("t.mtx.gz")],
        &["kronecker", &small, &few, "-o", &of("k.npz")],
        &["concat", &few, &few, "--across", "1", "-o", &of("k.npz")],
        &["transpose", &few, &of("few-t.csv")],
        &["mxm", &few, "-o", &of("product.csv")],
        &["mxm", &few, "-o", &of("product.npy")],
        &["tensor-info", &tensor],
        &["semirings"],
        &["metrics"],
    ];
    let mut wrong = String::new();
    for command in commands {
        let run = |n: usize| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_sparring"));
            program.args(*command);
            // Commands that print a list need no threads.
            if command.len() > 1 {
                program.args(["--threads", "2"]);
            }
            let output =
                program.envs([("LD_PRELOAD", &*allocator), ("FAIL_FROM", LARGE)]).env("FAIL_AT", n.to_string());
            output.output().expect("the program")
        };
        let mut refused = 0;
        for n in 0..2000 {
            let output = run(n);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if !said.contains("[refused]") {
                assert_eq!(output.status.code(), Some(0), "{command:?}: {said}");
                break;
            }
            refused += 1;
            let well = match output.status.code() {
                // Allocations for estimates and optional caches may fail without consequences.
                Some(0) => true,
                Some(1) => said.contains("memory"),
                _ => false,
            };
            if !well {
                let _ = writeln!(
                    wrong,
                    "{command:?}, request {n}: {:?} {:?}\n{said}",
                    output.status.code(),
                    output.status.signal()
                );
            }
        }
        let lists = command.len() == 1;
        assert!(lists || refused > 3, "{command:?}: {refused} requests were refused: is the allocator loaded?");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

//! `SPARRING_ISA` and `--isa`: invalid values, the reported set, and bitwise equal results under every instruction set.

mod program;

use std::process::{Command, Output};

use program::{file, scratch};
use serde_json::{Value, json};

const SETS: [&str; 3] = ["scalar", "avx2", "avx512"];

/// The program with or without the variable.
fn under(isa: Option<&str>, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_sparring"));
    match isa {
        Some(isa) => program.env("SPARRING_ISA", isa),
        None => program.env_remove("SPARRING_ISA"),
    };
    program.args(arguments).output().unwrap()
}

#[track_caller]
fn succeeded(output: Output) -> String {
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn refused(output: Output) -> String {
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    String::from_utf8(output.stderr).unwrap()
}

fn processor(isa: Option<&str>) -> [String; 2] {
    let found: Value = serde_json::from_str(&succeeded(under(isa, &["devices", "--json"]))).unwrap();
    ["isa", "isa_best"].map(|key| found["processor"][key].as_str().unwrap().to_owned())
}

/// The instruction sets of this processor, the best one last.
fn available() -> Vec<&'static str> {
    let [_, best] = processor(None);
    let last = SETS.iter().position(|isa| *isa == best).unwrap();
    SETS[..=last].to_vec()
}

#[test]
fn the_variable_lowers_the_instruction_set() {
    let available = available();
    let best = available[available.len() - 1];
    for unset in [None, Some("")] {
        assert_eq!(processor(unset), [best, best]);
    }
    for isa in SETS {
        let devices = under(Some(isa), &["devices"]);
        if !available.contains(&isa) {
            let said = format!("SPARRING_ISA: this processor does not have {isa}, only {}\n", available.join(", "));
            assert!(refused(devices).ends_with(&said));
            continue;
        }
        assert_eq!(processor(Some(isa)), [isa, best]);
        let lowered = if isa == best { String::new() } else { format!(", lowered from {best}") };
        let said = succeeded(devices);
        assert!(said.starts_with(&format!("cpu      {isa}{lowered}   ")), "{said}");
    }
    for isa in &available {
        // The option overrides the variable.
        for variable in [None, Some("scalar")] {
            let found = succeeded(under(variable, &["--isa", isa, "devices", "--json"]));
            let found: Value = serde_json::from_str(&found).unwrap();
            assert_eq!((&found["processor"]["isa"], &found["processor"]["isa_best"]), (&json!(isa), &json!(best)));
        }
        for command in [&["mxm", "gen:tc_rmat10"][..], &["bench", "mxv", "--case", "tc_rmat10", "--repeat", "1"]] {
            let output = under(None, &[command, &["--json", "--isa", isa]].concat());
            let line: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(line["isa"], json!(isa), "{command:?}");
        }
    }
    let said = refused(under(None, &["devices", "--isa", "sse2"]));
    assert!(said.contains("it is scalar, avx2, avx512"), "{said}");
    for isa in SETS.iter().filter(|isa| !available.contains(isa)) {
        let said = format!("isa: this processor does not have {isa}, only {}\n", available.join(", "));
        assert!(refused(under(None, &["devices", "--isa", isa])).ends_with(&said));
    }
    for word in ["sse2", "AVX2", "avx2 "] {
        let said = refused(under(Some(word), &["semirings"]));
        assert!(said.ends_with(&format!("SPARRING_ISA: '{word}' is none of scalar, avx2, avx512\n")), "{said}");
    }
}

/// Rows with about two thirds of their entries, whose sums round.
fn dense() -> String {
    let (nrows, ncols) = (70, 90);
    let entries: Vec<_> = (0..nrows * ncols)
        .map(|p| (p, p * 2_654_435_761usize % 4093))
        .filter(|(_, draw)| draw % 3 != 0)
        .map(|(p, draw)| format!("{} {} {}.{draw}", p / ncols + 1, p % ncols + 1, draw % 7))
        .collect();
    let head = format!("%%MatrixMarket matrix coordinate real general\n{nrows} {ncols} {}\n", entries.len());
    file("isa-dense.mtx", &(head + &entries.join("\n") + "\n"))
}

#[test]
fn results_are_the_same_bits_under_every_instruction_set() {
    let (available, dense) = (available(), dense());
    let [sparse, tensor] =
        ["west0479.mtx.gz", "aminoacid.tns.gz"].map(|name| format!("{}/../data/{name}", env!("CARGO_MANIFEST_DIR")));
    let array = scratch("isa-distances.npy").to_str().unwrap().to_owned();
    let commands: [(&[&str], &str); 9] = [
        (&["distances", &dense, "--metric", "cosine"], "isa-distances.npy"),
        (&["distances", &sparse, "--metric", "manhattan"], "isa-far.npy"),
        (&["knn", "gen:tc_rmat10", "--k", "5", "--metric", "euclidean"], "isa-near.tsv"),
        (&["mxm", &sparse], "isa-product.mtx"),
        (&["mxm", "gen:tc_rmat10", "--semiring", "min_plus"], "isa-shortest.mtx"),
        (&["mxm", "gen:tc_rmat10", "--mask", "gen:tc_rmat10"], "isa-masked.mtx"),
        (&["triangles", "gen:tc_rmat10", "--per", "vertex"], "isa-triangles.npy"),
        (&["einsum", "ij,jk->ik", &array, &array], "isa-chain.npy"),
        (&["cp", &tensor, "--rank", "3", "--seed", "7", "--sweeps", "3"], "isa-model.json"),
    ];
    for (command, name) in commands {
        let out = scratch(name);
        let mut first: Option<Vec<u8>> = None;
        for isa in &available {
            let output = under(Some(isa), &[command, &["-o", out.to_str().unwrap()]].concat());
            assert_eq!(output.status.code(), Some(0), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
            let found = std::fs::read(&out).unwrap();
            assert!(!found.is_empty());
            match &first {
                None => first = Some(found),
                Some(first) => assert!(*first == found, "{command:?}: {isa} differs from scalar"),
            }
        }
    }
}

//! The program's self-description: examples that run, man pages, completions, and one vocabulary of JSON.

mod program;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::{json, refused, scratch, text};
use serde_json::Value;

const COMMANDS: [&str; 55] = [
    "info",
    "triangles",
    "bfs",
    "sssp",
    "components",
    "scc",
    "apsp",
    "pagerank",
    "betweenness",
    "closeness",
    "eigenvector",
    "hits",
    "kcore",
    "ktruss",
    "louvain",
    "leiden",
    "clustering",
    "mis",
    "color",
    "cdlp",
    "msf",
    "matching",
    "toposort",
    "modularity",
    "mxm",
    "kronecker",
    "mxv",
    "spmm",
    "ewise",
    "apply",
    "select",
    "reduce",
    "extract",
    "assign",
    "scatter",
    "diag",
    "concat",
    "resize",
    "knn",
    "radius",
    "distances",
    "einsum",
    "tune",
    "cp",
    "mttkrp",
    "tensor-info",
    "convert",
    "transpose",
    "semirings",
    "metrics",
    "devices",
    "keys",
    "bench",
    "completions",
    "man",
];

/// A folder with the files used by examples.
fn folder(name: &str) -> PathBuf {
    let folder = scratch(name);
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    write("a.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n1 2 2\n2 3 3\n3 1 4\n");
    write("b.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 5\n2 2 6\n3 2 7\n");
    write("places.mtx", b"%%MatrixMarket matrix array integer general\n3 1\n2\n0\n2\n");
    write("x.mtx", b"%%MatrixMarket matrix array real general\n3 1\n1\n10\n100\n");
    write("graph.txt", b"0 1\n1 2\n2 0\n2 3\n");
    write("points.csv", b"1,2,3\n4,5,6\n7,8,10\n1,0,1\n");
    write(
        "x.tns",
        b"1 1 1 2\n2 1 1 1\n1 2 1 1\n2 2 1 1\n1 3 1 1\n1 1 2 1\n1 3 2 1\n1 1 4 1\n2 1 4 1\n1 2 4 1\n2 2 4 1\n",
    );
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n";
    let numbers: Vec<u8> = [1.0f64, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    write(
        "x.npy",
        &[b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &numbers].concat(),
    );
    folder
}

/// The lines after `Examples:` in the help of a command.
fn examples(command: &str) -> Vec<String> {
    let help = text(&[command, "--help"]);
    let (_, examples) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{command}: {help}"));
    examples.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(Into::into).collect()
}

fn shell(folder: &Path, line: &str) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_sparring")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    Command::new("sh").args(["-c", line]).current_dir(folder).env("PATH", path).output().unwrap()
}

#[test]
fn every_help_ends_with_two_examples_that_run() {
    let folder = folder("examples");
    let listed = text(&["--help"]);
    for command in COMMANDS {
        assert!(listed.contains(&format!("\n  {command} ")), "{command}");
        let lines = examples(command);
        assert_eq!(lines.len(), 2, "{command}: {lines:?}");
        for line in lines {
            let out = shell(&folder, &line);
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            // Without a GPU, it reports that.
            let gpu = command == "tune" && out.status.code() == Some(1) && said.contains("GPU");
            assert!(out.status.success() || gpu, "{line}: {said}");
        }
    }
    for made in [
        "c.npz",
        "k.mtx",
        "sum.mtx",
        "lower.mtx",
        "best.mtx",
        "part.mtx",
        "assigned.mtx",
        "scattered.mtx",
        "diagonal.mtx",
        "beside.mtx",
        "less.mtx",
        "y.mtx",
        "near.tsv",
        "points.idx",
        "d.npy",
        "d.svg",
        "y.npy",
        "model.json",
        "model.png",
        "v.npy",
        "graph.png",
        "frontier.svg",
        "tree.mtx",
        "lengths.npy",
        "parts.mtx",
        "parts.svg",
        "distances.npy",
        "eccentricity.svg",
        "ranks.mtx",
        "between.svg",
        "near.npy",
        "katz.mtx",
        "cores.mtx",
        "cores.svg",
        "truss.mtx",
        "sizes.svg",
        "communities.mtx",
        "local.mtx",
        "set.mtx",
        "colors.npy",
        "communities.svg",
        "labels.mtx",
        "forest.mtx",
        "pairs.mtx",
        "order.mtx",
        "groups.npy",
        "a.npz",
        "at.mtx",
        "sparring.bash",
        "sparring.1",
    ] {
        assert!(std::fs::metadata(folder.join(made)).is_ok_and(|file| file.len() > 50), "{made}");
    }
}

/// Documented keys.
fn documented() -> Vec<String> {
    let listed = json(&["keys"]);
    let keys = listed["keys"].as_array().unwrap();
    keys.iter()
        .flat_map(|key| key["key"].as_str().unwrap().split(", ").map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

fn matches(pattern: &str, key: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            key.len() > before.len() + after.len() && key.starts_with(before) && key.ends_with(after)
        }
        None => pattern == key,
    }
}

#[test]
fn json_has_one_vocabulary() {
    let folder = folder("vocabulary");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (a, points, x, tensor) = (at("a.mtx"), at("points.csv"), at("x.npy"), at("x.tns"));
    let (out, graph, labels) = (at("out.mtx"), at("graph.txt"), at("places.mtx"));
    let commands: Vec<Vec<&str>> = vec![
        vec!["info", &a, "--product"],
        vec!["triangles", &graph, "--undirected"],
        vec!["triangles", &graph, "--per", "edge"],
        vec!["bfs", &a, "--source", "0"],
        vec!["bfs", &a, "--source", "0,2"],
        vec!["apsp", &a],
        vec!["modularity", &a, "--communities", &labels],
        vec!["sssp", &a, "--source", "0", "--to", "2"],
        vec!["scc", &a],
        vec!["pagerank", &a, "--top", "2"],
        vec!["betweenness", &a],
        vec!["kcore", &a],
        vec!["ktruss", &a],
        vec!["leiden", &a, "--kind", "undirected"],
        vec!["cdlp", &a],
        vec!["matching", &a],
        vec!["mis", &a],
        vec!["color", &a],
        vec!["msf", &a, "--kind", "undirected"],
        vec!["clustering", &a, "--kind", "undirected"],
        vec!["mxm", &a, "--explain"],
        vec!["kronecker", &a],
        vec!["ewise", &a, &a, "--op", "plus"],
        vec!["reduce", &a],
        vec!["reduce", &a, "--of", "rows"],
        vec!["extract", &a],
        vec!["assign", &a, "--value", "1"],
        vec!["concat", &a, &a],
        vec!["knn", &points, "-k", "2", "--metric", "minkowski", "--p", "3"],
        vec!["radius", &points, "--radius", "3", "--metric", "l1"],
        vec!["distances", &points, "--metric", "kl", "--normalize", "-o", &out],
        vec!["einsum", "ij,jk->ik", &x, &x],
        vec!["cp", &tensor, "--rank", "2"],
        vec!["mttkrp", &tensor],
        vec!["tensor-info", &tensor],
        vec!["convert", &a, &out],
        vec!["transpose", &a, &out],
        vec!["semirings"],
        vec!["metrics"],
        vec!["devices"],
        vec!["keys"],
        vec!["bench", "--case", "tc_rmat10", "--repeat", "1"],
        vec!["bench", "read", "--case", &a, "--repeat", "1"],
        vec!["bench", "mxv", "--case", "tc_rmat10", "--repeat", "1"],
        vec!["bench", "reduce", "--case", "tc_rmat10", "--repeat", "1"],
        vec!["bench", "masked", "--case", "tc_rmat10", "--repeat", "1"],
        vec!["bench", "doors", "--case", "tc_rmat10", "--repeat", "1"],
        vec!["bench", "bfs", "--case", "tc_rmat10", "--repeat", "1"],
        vec!["bench", "graph", "--case", "tc_rmat10", "--repeat", "1"],
        vec!["bench", "mttkrp", "--case", &tensor, "--repeat", "1", "--rank", "2"],
        vec!["bench", "contract", "--case", "gemm", "--n", "2", "--batch", "20", "--repeat", "1"],
        vec!["bench", "distance", "--case", &a, "--metric", "cosine", "--repeat", "1"],
    ];
    let (known, mut kinds) = (documented(), BTreeMap::<String, (char, String)>::new());
    for command in &commands {
        for line in text(&[&command[..], &["--json"]].concat()).lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let line = line.as_object().unwrap();
            let mut keys = line.keys().map(String::as_str);
            assert_eq!((keys.next(), keys.next()), (Some("version"), Some("command")), "{command:?}");
            assert_eq!((&line["version"], &line["command"]), (&env!("CARGO_PKG_VERSION").into(), &command[0].into()));
            for (key, value) in line {
                assert!(known.iter().any(|pattern| matches(pattern, key)), "{command:?}: {key} is not among the keys");
                // Each key has a single kind of value.
                let kind = match value {
                    Value::Null => continue,
                    Value::Number(_) => 'n',
                    Value::String(_) => 's',
                    Value::Bool(_) => 'b',
                    Value::Array(_) => 'a',
                    Value::Object(_) => 'o',
                };
                let first = kinds.entry(key.clone()).or_insert((kind, command.join(" ")));
                assert!(first.0 == kind || key == "sum", "{key}: {} and {command:?}", first.1);
                let time = key.contains("_ms") || key.ends_with("time") || key.ends_with("seconds") || key == "ms";
                assert!(!time || key.ends_with("_ms"), "{command:?}: {key}");
            }
        }
    }
    // Words that would be synonyms of existing keys.
    for word in ["rows", "cols", "columns", "n", "m", "entries", "ms", "shape", "dtype", "checksum", "GBs", "fm"] {
        assert!(!kinds.contains_key(word) && !known.iter().any(|key| key == word), "{word}");
    }
}

#[test]
fn the_list_of_keys_stands_in_a_file_too() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/JSON.md")).unwrap();
    let listed = json(&["keys"]);
    for key in listed["keys"].as_array().unwrap() {
        let (key, means) = (key["key"].as_str().unwrap(), key["means"].as_str().unwrap());
        let row = format!("| `{key}` | {} |", means.replace('|', "\\|"));
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn pages_have_the_sections_that_readers_look_for() {
    for command in COMMANDS {
        let page = text(&["man", command]);
        for section in ["NAME", "SYNOPSIS", "EXAMPLES", "\"EXIT STATUS\"", "ENVIRONMENT"] {
            assert!(page.contains(&format!("\n.SH {section}\n")), "{command}: {section}");
        }
        assert!(page.contains("SPARRING\\_ISA") || page.contains("SPARRING_ISA"), "{command}");
        for example in examples(command) {
            assert!(page.contains(&example.replace('-', "\\-")), "{command}: {example}");
        }
    }
    assert!(text(&["man"]).contains(".SH SUBCOMMANDS\n"));
    assert!(refused(&["man", "nothing"]).contains("there is no 'nothing'"));
}

#[test]
fn completions_know_values() {
    let bash = text(&["completions", "bash"]);
    for values in ["cosine", "min_plus", "complex_f64", "rmat14", "remapped", "cuda:0", "kkspgemm"] {
        assert!(bash.contains(values), "{values}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(text(&["completions", shell]).contains("cosine"), "{shell}");
    }
}

#[test]
fn commands_have_the_options_that_mean_something_to_them() {
    for (command, absent, present) in [
        ("semirings", &["--threads", "--memory-budget", "--lenient", "--header"][..], &["--json"][..]),
        ("man", &["--json", "--threads", "--format"], &[]),
        ("einsum", &["--header", "--undirected", "--labels"], &["--threads", "--memory-budget", "--max-bytes"]),
        ("cp", &["--header", "--undirected"], &["--zero-based", "--lenient", "--max-bytes"]),
        ("triangles", &["--memory-budget"], &["--undirected", "--threads"]),
        ("mxm", &[], &["--undirected", "--header", "--memory-budget", "--output-format"]),
    ] {
        let help = text(&[command, "--help"]);
        absent.iter().for_each(|option| assert!(!help.contains(&format!("{option} ")), "{command} {option}"));
        present.iter().for_each(|option| assert!(help.contains(option), "{command} {option}"));
    }
    let said = refused(&["semirings", "--lenient"]);
    assert_eq!(said, "sparring: option: --lenient does not apply to sparring semirings\n");
    assert!(refused(&["--header", "cp", "x.tns", "--rank", "2"]).contains("--header does not apply to sparring cp"));
    // Before the command as well as after it.
    assert_eq!(json(&["--threads", "1", "devices"])["processor"]["threads"], 1);
}

//! `--device`: invalid values, the message without a GPU, and results on a GPU.
//!
//! The tested program is the one built with this test, or the one named by `SPARRING_PROGRAM`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

const AMINOACID: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/aminoacid.tns.gz");

fn program() -> OsString {
    std::env::var_os("SPARRING_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_sparring").into())
}

fn sparring(arguments: &[&str]) -> Output {
    Command::new(program()).args(arguments).output().unwrap()
}

/// Standard error of a run that must end with this exit code and an empty standard output.
#[track_caller]
fn failed(arguments: &[&str], code: i32) -> String {
    let output = sparring(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{arguments:?}: {stderr}");
    stderr
}

/// Standard output of a run that must succeed and write nothing else.
#[track_caller]
fn text(arguments: &[&str]) -> String {
    let output = sparring(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(&[arguments, &["--json"]].concat())).unwrap()
}

#[test]
fn a_gpu_that_is_not_there_is_named_and_counts_as_the_machines_failure() {
    for arguments in [
        &["mxm", "gen:tc_rmat10"][..],
        &["triangles", "gen:tc_rmat10"],
        &["knn", "gen:tc_rmat10", "--k", "3", "--metric", "cosine"],
        &["distances", "gen:tc_rmat10", "--metric", "cosine"],
        &["cp", AMINOACID, "--rank", "2"],
        &["bench", "--case", "tc_rmat10"],
        &["bench", "distance", "--case", "tc_rmat10"],
        &["bench", "contract", "--case", "gemm"],
        &["einsum", "ij->", "no-such-file.npy"],
        &["tune", "--n", "2"],
        &["tune", "--import", "no-such-file.json"],
    ] {
        for more in [&[][..], &["--json"]] {
            let said = failed(&[arguments, &["--device", "cuda:4000"], more].concat(), 1);
            assert!(said.starts_with("sparring: no GPU 4000: "), "{said}");
            assert_eq!(said.matches('\n').count(), 1, "{said}");
        }
    }
    let listed = json(&["devices"]);
    if listed["devices"].as_array().unwrap().is_empty() {
        let said = failed(&["mxm", "no-such-file.mtx", "--device", "cuda:0"], 1);
        assert!(said.starts_with("sparring: no GPU 0: "), "before anything is read: {said}");
        assert_eq!(said, format!("sparring: {}\n", listed["missing"].as_str().unwrap()));
    }
}

#[test]
fn what_a_gpu_does_not_have_is_refused_not_ignored() {
    for (arguments, said) in [
        (&["mxm", "a", "--accumulator", "dense"][..], "--accumulator dense on a GPU is not supported: "),
        (
            &["mxm", "a", "--policy", "kkspgemm", "--accumulator", "dense"],
            "--accumulator dense on a GPU is not supported: ",
        ),
        (&["mxm", "a", "--compress", "on"], "--compress on a GPU is not supported: "),
        (&["mxm", "a", "--threads", "2"], "--threads on a GPU is not supported: "),
        (&["triangles", "a", "--method", "masked"], "--method on a GPU is not supported: "),
        (&["bench", "--fresh-memory"], "--fresh-memory on a GPU is not supported: "),
        (&["bench", "distance", "--fresh-memory"], "--fresh-memory on a GPU is not supported: "),
        (&["knn", "a", "--k", "3", "--metric", "cosine", "--threads", "2"], "--threads on a GPU is not supported: "),
        (&["distances", "a", "--metric", "cosine", "--threads", "2"], "--threads on a GPU is not supported: "),
        (&["einsum", "ij->", "a.npy", "--threads", "2"], "--threads on a GPU is not supported: "),
        (&["tune", "--threads", "2"], "option: --threads does not apply to sparring tune"),
        (&["bench", "contract", "--fresh-memory"], "--fresh-memory on a GPU is not supported: "),
    ] {
        let line = failed(&[arguments, &["--device", "cuda:0"]].concat(), 2);
        assert!(line.starts_with(&format!("sparring: {said}")), "{arguments:?}: {line}");
        assert_eq!(line.matches('\n').count(), 1, "{line}");
    }
    for arguments in [&["info", "a"][..], &["semirings"], &["devices"], &["convert", "a", "b.mtx"]] {
        let said = failed(&[arguments, &["--device", "cuda:0"]].concat(), 2);
        assert!(said.contains("unexpected argument '--device'"), "{said}");
    }
    for wrong in ["gpu", "cuda", "cuda:", "cuda:x", "cuda:-1"] {
        let said = failed(&["mxm", "a", "--device", wrong], 2);
        assert!(said.contains("it is 'cpu', or 'cuda:N'"), "{said}");
    }
    assert!(text(&["mxm", "--help"]).contains("cuda:N"));
    for (arguments, said) in [
        (&["tune", "--device", "cpu"][..], "tune on the processor is not supported: "),
        (&["tune", "ij->i"], "--extents"),
        (&["tune", "--extents", "i=3"], "<EXPRESSION>"),
        (&["tune", "--accumulate"], "<EXPRESSION>"),
        (&["tune", "ij->i", "--extents", "i=3,jk=4"], "'jk=4' is not a letter with a number"),
        (&["tune", "--n", "33"], "33 is not in 1..=32"),
        (&["tune", "--n", "2", "--order", "0"], "0 is not in 1..=14"),
        (&["tune", "--floats", "f16"], "f16"),
        (&["tune", "--mb", "0"], "0 is not in 1.."),
    ] {
        let line = failed(arguments, 2);
        assert!(line.contains(said), "{arguments:?}: {line}");
    }
}

#[test]
fn the_processor_is_a_device() {
    let found = json(&["mxm", "gen:tc_rmat10", "--device", "cpu", "--threads", "1"]);
    assert_eq!((found["device"].as_str(), found["threads"].as_u64()), (Some("cpu"), Some(1)));
    assert!(found.get("upload_ms").is_none());
    assert_eq!(json(&["triangles", "gen:tc_rmat10", "--device", "cpu"])["device"], "cpu");
}

#[test]
fn devices_are_listed_or_what_is_missing() {
    let (found, said) = (json(&["devices"]), text(&["devices"]));
    let devices = found["devices"].as_array().unwrap();
    assert_eq!(devices.is_empty(), found["missing"].is_string());
    assert_ne!(found["compiler"].is_string(), found["compiler_missing"].is_string());
    let processor = &found["processor"];
    let (isa, threads) = (processor["isa"].as_str().unwrap(), processor["threads"].as_u64().unwrap());
    assert!(said.starts_with(&format!("cpu      {isa}")), "{said}");
    assert!(said.contains(&format!("   {threads} threads\n")), "{said}");
    if devices.is_empty() {
        assert!(said.contains("\nno GPU 0: "), "{said}");
    }
    for (n, device) in devices.iter().enumerate() {
        assert_eq!(device["device"], format!("cuda:{n}"));
        assert!(said.contains(&format!("cuda:{n}   {}", device["name"].as_str().unwrap())), "{said}");
        for key in ["multiprocessors", "memory_bytes", "free_bytes"] {
            assert!(device[key].as_u64().unwrap() > 0, "{device}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn products_are_those_of_the_processor() {
    let on =
        |device, semiring| json(&["mxm", "gen:tc_rmat10", "--semiring", semiring, "--device", device, "--explain"]);
    for semiring in ["plus_times", "min_plus", "lor_land", "any_secondi", "plus_pair"] {
        let (gpu, cpu) = (on("cuda:0", semiring), on("cpu", semiring));
        for key in ["nrows", "ncols", "nnz", "flops"] {
            assert_eq!(gpu[key], cpu[key], "{semiring} {key}");
        }
        let (x, y) = (gpu["sum"].as_f64().unwrap(), cpu["sum"].as_f64().unwrap());
        assert!((x - y).abs() <= 1e-9 * y.abs(), "{semiring}: {x}, not {y}");
        for key in ["upload_ms", "first_ms", "symbolic_ms", "numeric_ms", "reuse_ms"] {
            assert!(gpu[key].as_f64().unwrap() > 0.0, "{key}: {gpu}");
        }
        assert_eq!((gpu["device"].as_str(), gpu["summed_on"].as_str()), (Some("cuda:0"), Some("device")));
        assert!(gpu["device_peak_bytes"].as_u64().unwrap() > 0 && gpu["download_ms"].is_null(), "{gpu}");
        assert!(gpu.get("threads").is_none());
    }
    let said = text(&["mxm", "gen:tc_rmat10", "--device", "cuda:0", "--repeat", "3"]);
    assert!(
        said.contains("\nsent ") && said.contains(", again ") && said.contains(" in the device's order\n"),
        "{said}"
    );
}

/// A program compiled by another process runs without a compiler; all others fail.
#[test]
#[ignore = "needs a GPU"]
fn kept_programs_need_no_compiler() {
    let kept = folder("kept-programs");
    let run = |semiring: &str, compiler: Option<&str>| {
        let mut program = Command::new(program());
        program.args(["mxm", "gen:tc_rmat10", "--device", "cuda:0", "--json", "--semiring", semiring]);
        program.env("SPARRING_CACHE", &kept);
        compiler.map(|compiler| program.env("SPARRING_NVRTC", compiler));
        let output = program.output().unwrap();
        let line = serde_json::from_slice::<Value>(&output.stdout).map(|line| line["sum"].clone());
        (output.status.code(), line.ok(), String::from_utf8(output.stderr).unwrap())
    };
    let nowhere = Some("/nowhere/libnvrtc.so");
    let (code, _, said) = run("plus_times", nowhere);
    assert!(code == Some(1) && said.contains("/nowhere/libnvrtc.so"), "{said}");
    let compiled = run("plus_times", None);
    assert_eq!(compiled.0, Some(0), "{}", compiled.2);
    assert_eq!(run("plus_times", nowhere), compiled);
    assert_eq!(run("max_min", nowhere).0, Some(1), "never compiled");
}

#[test]
#[ignore = "needs a GPU"]
fn products_by_the_papers_policy_are_those_of_the_processor() {
    let cpu = json(&["mxm", "gen:tc_rmat10", "--semiring", "plus_pair"]);
    for (options, said) in [
        (&["--policy", "kkspgemm"][..], "kkSpGEMM: "),
        (&["--policy", "kkspgemm", "--compress", "on"], "kkSpGEMM: "),
        (&["--accumulator", "ll"], "kkmem (LL, forced)"),
        (&["--accumulator", "lp", "--compress", "on"], "kklp (LP, forced)"),
        (&["--accumulator", "lp", "--compress", "off", "--unsorted"], "kklp (LP, forced)"),
        // Options that permit what our own policy never does.
        (&["--unsorted"], ""),
        (&["--compress", "off"], ""),
    ] {
        let arguments = ["mxm", "gen:tc_rmat10", "--semiring", "plus_pair", "--device", "cuda:0"];
        let found = json(&[&arguments, options].concat());
        for key in ["nrows", "ncols", "nnz", "flops", "sum"] {
            assert_eq!(found[key], cpu[key], "{options:?} {key}");
        }
        let chosen = found["chosen"].as_str().unwrap();
        assert!(chosen.contains(said) && (said.is_empty() != chosen.contains("kkSpGEMM")), "{options:?}: {chosen}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_product_that_is_written_has_the_bits_of_the_processors() {
    let file =
        |name: &str| -> PathBuf { std::env::temp_dir().join(format!("sparring-{}-{name}.mtx", std::process::id())) };
    let (here, there) = (file("cpu"), file("cuda"));
    let write = |device, path: &PathBuf| {
        json(&["mxm", "gen:tc_rmat10", "sym:gen:tc_rmat10", "--device", device, "-o", path.to_str().unwrap()])
    };
    let (cpu, gpu) = (write("cpu", &here), write("cuda:0", &there));
    let same = std::fs::read(&here).unwrap() == std::fs::read(&there).unwrap();
    for path in [here, there] {
        std::fs::remove_file(path).unwrap();
    }
    assert!(same && cpu["sum"] == gpu["sum"]);
    assert!(gpu["download_ms"].as_f64().unwrap() > 0.0 && gpu["summed_on"] == "host", "{gpu}");
}

/// Whether two sums of many distances agree up to rounding.
fn close(x: &Value, y: &Value) -> bool {
    let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
    (x - y).abs() <= 1e-9 * y.abs()
}

#[test]
#[ignore = "needs a GPU"]
fn neighbours_and_distances_are_those_of_the_processor() {
    let x = "gen:tc_rmat10";
    for metric in ["cosine", "manhattan", "chebyshev", "jaccard", "kl", "abs(a-b) / (a+b+1)", "a - 3*b"] {
        for more in [&[][..], &["--to", "gen:tc_rmat10"]] {
            let on = |command: &[&str], device| {
                json(&[command, &[x, "--metric", metric, "--device", device], more].concat())
            };
            for command in [&["knn", "--k", "5"][..], &["distances"]] {
                let (gpu, cpu) = (on(command, "cuda:0"), on(command, "cpu"));
                assert!(close(&gpu["sum"], &cpu["sum"]), "{command:?} {metric}: {gpu}, not {cpu}");
                for (key, _) in cpu.as_object().unwrap().iter().filter(|(key, _)| *key != "threads") {
                    assert!(gpu.get(key).is_some(), "{key}: {gpu}");
                }
                assert!(gpu.get("threads").is_none() && gpu["device"] == "cuda:0", "{gpu}");
                assert!(
                    gpu["compute_ms"].as_f64().unwrap() > 0.0 && gpu["peak_growth_bytes"].as_u64().unwrap() > 0,
                    "{gpu}"
                );
                assert!(gpu["chosen"].as_str().unwrap().starts_with("one pass over common columns"), "{gpu}");
            }
        }
    }
    let said = text(&["knn", x, "--k", "2", "--metric", "cosine", "--device", "cuda:0"]);
    assert!(said.contains(", sent ") && said.contains(", first ") && said.contains(", peak growth "), "{said}");
    let refused = ["--metric", "cosine", "--device", "cuda:0", "--memory-budget", "1000"];
    for command in [&["knn", x, "--k", "2"][..], &["distances", x]] {
        let said = failed(&[command, &refused].concat(), 1);
        assert!(said.contains("the budget is 1000 bytes"), "{said}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn distances_that_are_written_in_parts_are_the_same() {
    let file = |name: &str| std::env::temp_dir().join(format!("sparring-{}-{name}.mtx", std::process::id()));
    let (all, parts, near) = (file("all"), file("parts"), file("near"));
    for metric in ["manhattan", "kl"] {
        let write = |path: &PathBuf, more: &[&str]| {
            let path = path.to_str().unwrap();
            let asked = ["distances", "gen:tc_rmat10", "--metric", metric, "--device", "cuda:0", "-o", path];
            json(&[&asked, more].concat())
        };
        // The distances alone are 8 MiB, the rows about 1 MiB.
        let (whole, some) = (write(&all, &[]), write(&parts, &["--memory-budget", "4000000"]));
        assert!(close(&whole["sum"], &some["sum"]), "{metric}: {whole}, {some}");
        let [whole, some] = [&all, &parts].map(|path| std::fs::read_to_string(path).unwrap());
        let number = |line: &str| line.parse::<f64>().unwrap();
        assert_eq!(whole.lines().count(), some.lines().count());
        for (place, (x, y)) in whole.lines().zip(some.lines()).enumerate().filter(|(_, (x, y))| x != y) {
            assert!((number(x) - number(y)).abs() <= 1e-9, "{metric}, line {place}: {x} and {y}");
        }
    }
    let asked = ["knn", "gen:tc_rmat10", "--k", "3", "--metric", "l1", "--device", "cuda:0", "-o"];
    json(&[&asked, &[near.to_str().unwrap()][..]].concat());
    let found = json(&["info", near.to_str().unwrap()]);
    for path in [all, parts, near] {
        std::fs::remove_file(path).unwrap();
    }
    assert_eq!((found["nrows"].as_u64(), found["nnz"].as_u64()), (Some(1024), Some(3072)));
}

#[test]
#[ignore = "needs a GPU"]
fn measured_distances_are_those_of_the_processor() {
    let bench = |device: &str, more: &[&str]| -> Vec<Value> {
        let asked = ["bench", "distance", "--case", "tc_rmat10", "--repeat", "2", "--json", "--device", device];
        text(&[&asked, more].concat()).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    for more in [
        &["--metric", "cosine", "chebyshev", "kl"][..],
        &["--task", "pairwise"],
        &["--queries", "100", "--entries", "f32"],
        &["--task", "pairwise", "--queries", "100", "--rows", "500"],
    ] {
        let (gpu, cpu) = (bench("cuda:0", more), bench("cpu", more));
        assert_eq!(gpu.len(), cpu.len());
        for (gpu, cpu) in gpu.iter().zip(&cpu) {
            for key in ["task", "metric", "nrows", "to_nrows", "ncols", "nnz", "pairs", "type"] {
                assert_eq!(gpu[key], cpu[key], "{key}");
            }
            for key in ["sum", "nonempty_sum"] {
                assert!(close(&gpu[key], &cpu[key]), "{key}: {gpu}, not {cpu}");
            }
            let ms = |key: &str| gpu[key].as_f64().unwrap();
            assert!(0.0 < ms("prepared_ms") && ms("prepared_min_ms") <= ms("prepared_ms"), "{gpu}");
            assert!(ms("prepared_min_ms") < ms("compute_ms") && ms("peak_growth_bytes") > 0.0, "{gpu}");
            assert!(gpu.get("threads").is_none() && gpu["chosen"].is_string(), "{gpu}");
        }
    }
    let said = text(&["bench", "distance", "--case", "tc_rmat10", "--repeat", "1", "--device", "cuda:0"]);
    assert!(said.lines().count() == 4 && said.starts_with("case  "), "{said}");
}

#[test]
#[ignore = "needs a GPU"]
fn triangles_and_measurements_are_those_of_the_processor() {
    let found = json(&["triangles", "gen:tc_rmat10", "--device", "cuda:0"]);
    assert_eq!((found["triangles"].as_u64(), found["device"].as_str()), (Some(75_185), Some("cuda:0")));
    assert!(found["compute_ms"].as_f64().unwrap() > 0.0 && found["device_peak_bytes"].as_u64().unwrap() > 0, "{found}");
    assert!(text(&["triangles", "gen:tc_rmat10", "--device", "cuda:0"]).starts_with("75,185 triangles   read "));
    let lines = text(&["bench", "--case", "tc_rmat10", "--repeat", "2", "--json", "--device", "cuda:0"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines[0]["nnz"].as_u64(), lines[1]["triangles"].as_u64()), (Some(451_447), Some(75_185)));
    for key in ["compute_ms", "symbolic_ms", "numeric_ms", "reuse_ms", "peak_bytes"] {
        assert!(lines[0][key].as_f64().unwrap() > 0.0, "{key}: {}", lines[0]);
    }
    assert!(lines[0].get("unsorted_ms").is_none() && lines[0]["device"] == "cuda:0");
    let said = failed(&["triangles", "no-such-file.mtx", "--device", "cuda:0"], 2);
    assert!(said.starts_with("sparring: no-such-file.mtx: No such file"), "{said}");
}

#[test]
#[ignore = "needs a GPU"]
fn a_decomposition_is_the_processors() {
    for more in [&[][..], &["--ridge", "1"], &["--nonneg"]] {
        let arguments =
            [&["cp", AMINOACID, "--rank", "3", "--seed", "7", "--tol", "0", "--sweeps", "30"], more].concat();
        let (expected, found) = (json(&arguments), json(&[&arguments[..], &["--device", "cuda:0"]].concat()));
        assert_eq!((found["device"].as_str(), &found["sweeps"]), (Some("cuda:0"), &expected["sweeps"]));
        assert!(close(&found["fit"], &expected["fit"]), "{more:?}: {} {}", found["fit"], expected["fit"]);
        for (x, y) in found["weights"].as_array().unwrap().iter().zip(expected["weights"].as_array().unwrap()) {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            assert!((x - y).abs() <= 1e-6 * y.abs(), "{more:?}: {x} {y}");
        }
        for key in ["mttkrp_ms", "setup_ms", "compute_ms"] {
            assert!(found[key].as_f64().unwrap() > 0.0, "{key}: {found}");
        }
    }
    let variant = |name| ["cp", AMINOACID, "--rank", "2", "--variant", name, "--device", "cuda:0"];
    assert!(json(&variant("c"))["chosen"].as_str().unwrap().starts_with("mttkrp: permuted, requested; "));
    assert!(failed(&variant("tree"), 2).starts_with("sparring: the variant tree on a GPU is not supported: "));
}

/// A NumPy file in a folder.
fn array(folder: &std::path::Path, name: &str, shape: &str, values: &[f64]) -> String {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
    let len = (header.len() as u16).to_le_bytes();
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let path = folder.join(name);
    std::fs::write(&path, [b"\x93NUMPY\x01\x00", &len[..], header.as_bytes(), &bytes].concat()).unwrap();
    path.to_str().unwrap().into()
}

/// The folder for files of a test.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("sparring-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

#[test]
#[ignore = "needs a GPU"]
fn contractions_are_those_of_the_processor() {
    let folder = folder("einsum");
    let values: Vec<f64> = (0..24_000).map(|x| f64::from(x % 1000) / 7.0 - 50.0).collect();
    let [a, c] = ["a.npy", "c.npy"].map(|name| array(&folder, name, "(1500, 4, 4)", &values));
    for more in [
        &[][..],
        &["--semiring", "min_plus"],
        &["--alpha", "0.5", "--accumulate", &c],
        &["--accumulate", &c, "--beta", "-2", "--repeat", "3"],
    ] {
        let [(there, x), (here, y)] = ["cuda:0", "cpu"].map(|device| {
            let out = folder.join(format!("{}.npy", &device[..3]));
            let files = ["einsum", "bij,bkj->bik", &a, &a, "-o", out.to_str().unwrap(), "--device", device];
            (json(&[&files, more].concat()), std::fs::read(&out).unwrap())
        });
        assert!(x == y, "{more:?}: other bits");
        for key in ["dims", "path", "type", "bytes", "semiring", "repeat"] {
            assert_eq!(there[key], here[key], "{key}");
        }
        for key in ["compute_ms", "gb_s", "copy_gb_s", "pct_copy", "upload_ms", "first_ms", "download_ms"] {
            assert!(there[key].as_f64().unwrap() > 0.0, "{key}: {there}");
        }
        assert_eq!((there["device"].as_str(), there.get("threads")), (Some("cuda:0"), None));
    }
    let said = text(&["einsum", "bij,bjk->bik", &a, &a, "--device", "cuda:0"]);
    assert!(said.contains("   sent ") && said.contains(" % of a copy, which moves "), "{said}");
    let said = text(&["einsum", "bij->", &a, "--device", "cuda:0", "--memory-budget", "1M"]);
    assert!(said.contains("the memory budget has no room to measure a copy"), "{said}");
    // The CPU's sums for these cases in the script.
    let bench = |device| {
        let arguments =
            ["bench", "contract", "--case", "gemm,act3d,asm2d", "--n", "3", "--order", "2", "--batch", "300"];
        let more = ["--fem-mb", "1", "--floats", "f64", "--repeat", "2", "--json", "--device", device];
        let lines: Vec<Value> =
            text(&[&arguments[..], &more].concat()).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        lines
    };
    for (there, here) in bench("cuda:0").iter().zip(bench("cpu")) {
        for key in ["case", "size", "batch", "bytes"] {
            assert_eq!(there[key], here[key], "{key}");
        }
        for key in ["sum", "wsum"] {
            let (x, y) = (there[key].as_f64().unwrap(), here[key].as_f64().unwrap());
            assert!((x - y).abs() < 1e-9 * y.abs().max(1.0), "{key}: {x} {y}");
        }
        assert!(there["pct_copy"].as_f64().unwrap() > 0.0 && there["kernels"].is_string(), "{there}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
#[ignore = "needs a GPU"]
fn tuning_is_kept_for_later_runs() {
    let folder = folder("tune");
    let list = folder.join("list.json");
    let list = list.to_str().unwrap();
    let program = || std::env::var_os("SPARRING_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_sparring").into());
    let lines = |cache: &str, arguments: &[&str]| {
        let output =
            Command::new(program()).env("SPARRING_CACHE", folder.join(cache)).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let found: Vec<Value> =
        lines("a", &["tune", "--n", "3", "--order", "2", "--mb", "20", "--floats", "f32", "--json"])
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
    assert_eq!(found.len(), 2);
    for (line, case) in found.iter().zip(["gemm", "action"]) {
        assert_eq!((line["case"].as_str(), line["type"].as_str()), (Some(case), Some("f32")), "{line}");
        assert!(line["tuned_ms"].as_f64() <= line["rule_ms"].as_f64() && line["tried"].as_u64() > Some(1), "{line}");
        assert!(
            line["pct_bound"].as_f64().unwrap() > 0.0 && line["tiling"].as_str().unwrap().contains("members a block")
        );
    }
    let said =
        lines("a", &["tune", "bij,bjk->bik", "--extents", "b=20000,i=4,j=4,k=4", "--floats", "f64", "--export", list]);
    assert!(said.starts_with("case ") && said.contains("bij,bjk->bik   f64 "), "{said}");
    assert!(said.ends_with(&format!("3 cases written to {list}\n")), "{said}");
    assert_eq!(lines("b", &["tune", "--import", list]), format!("3 cases imported from {list}\n"));
    let said = lines("b", &["tune", "bii->b", "--extents", "b=100,i=4", "--floats", "f64"]);
    assert!(said.contains("a thread for each element: nothing to tune"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

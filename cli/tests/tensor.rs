//! The commands `cp`, `tensor-info` and `bench mttkrp`: published figures, files, texts, exit codes.

mod program;

use program::{failed, file, json, lines, refused, scratch, sparring, text};

/// GenTen's 2 × 3 × 4 tensor, exactly of rank 2.
const TENSOR: &str =
    "1 1 1 2\n2 1 1 1\n1 2 1 1\n2 2 1 1\n1 3 1 1\n1 1 2 1\n1 3 2 1\n1 1 4 1\n2 1 4 1\n1 2 4 1\n2 2 4 1\n";

fn amino() -> String {
    format!("{}/../data/aminoacid.tns.gz", env!("CARGO_MANIFEST_DIR"))
}

fn path(name: &str) -> String {
    scratch(name).to_str().unwrap().into()
}

#[test]
fn a_published_decomposition() {
    let found = json(&["cp", &amino(), "--rank", "3", "--seed", "7", "--sweeps", "50", "--tol", "0"]);
    let fit = found["fit"].as_f64().unwrap();
    assert!((fit - 0.9748052476).abs() < 1e-9, "{fit}");
    assert_eq!((found["sweeps"].as_u64(), found["converged"].as_bool()), (Some(50), Some(false)));
    assert_eq!((found["nnz"].as_u64(), found["fits"].as_array().unwrap().len()), (Some(61_305), 50));
    for key in ["setup_ms", "mttkrp_ms", "compute_ms", "read_ms"] {
        assert!(found[key].as_f64().unwrap() > 0.0, "{key}");
    }
    let said = text(&["cp", &amino(), "--rank", "3", "--seed", "7", "--tol", "1e-6"]);
    assert!(said.starts_with("5 × 201 × 61   61,305 entries   rank 3\nfit 0.97"), "{said}");
    assert!(said.contains(" sweeps, converged\nweights 33") && said.contains("\nmttkrp: copies"), "{said}");
}

#[test]
fn models_are_written_read_and_drawn() {
    let (x, model, arrays) = (file("cp.tns", TENSOR), path("model.json"), path("model.npz"));
    let first = json(&["cp", &x, "-r", "2", "--seed", "3", "-o", &model, "--sweeps", "5", "--tol", "0"]);
    let saved: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&model).unwrap()).unwrap();
    assert_eq!(saved["weights"], first["weights"]);
    let shapes: Vec<usize> = saved["factors"].as_array().unwrap().iter().map(|f| f.as_array().unwrap().len()).collect();
    assert_eq!(shapes, [2, 3, 4]);
    let more = json(&["cp", &x, "-r", "2", "--resume", &model, "--sweeps", "1", "-o", &arrays]);
    assert!(more["fit"].as_f64() >= first["fit"].as_f64());
    let bytes = std::fs::read(&arrays).unwrap();
    assert!(
        bytes.starts_with(b"PK")
            && ["weights.npy", "factor0.npy", "factor2.npy"]
                .iter()
                .all(|name| { bytes.windows(name.len()).any(|w| w == name.as_bytes()) })
    );
    let (folder, plot) = (path("model"), path("fit.svg"));
    text(&["cp", &x, "-r", "2", "-o", &folder, "--plot", &plot, "--nonneg", "--starts", "3"]);
    let table = std::fs::read_to_string(scratch("model/factor1.csv")).unwrap();
    assert_eq!((table.lines().count(), table.lines().next().unwrap().split(',').count()), (3, 2));
    assert!(std::fs::read_to_string(scratch("model/weights.csv")).unwrap().lines().count() == 1);
    let svg = std::fs::read_to_string(plot).unwrap();
    assert!(svg.contains("1 - fit by sweep") && svg.contains("mode 2: elements"), "{svg}");

    // Named axes, a legend with weights, and integer ticks for the sweeps.
    for word in ["sweep", "1 - fit", "index", "element", "component, weight"] {
        assert!(svg.lines().any(|line| line.trim() == word), "{word}: {svg}");
    }
    assert!(svg.contains("#0072B2") && svg.contains("#D55E00"), "{svg}");
    let png = path("fit.png");
    text(&["cp", &x, "-r", "2", "--plot", &png]);
    let picture = std::fs::read(&png).unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n") && picture.len() > 5000, "{}", picture.len());

    // A model in the Tensor Toolbox format is the same model.
    let toolbox = path("model.ktensor");
    text(&["cp", &x, "-r", "2", "-o", &toolbox]);
    assert!(std::fs::read_to_string(&toolbox).unwrap().starts_with("ktensor\n3\n"));
    let resumed = |from: &str| json(&["cp", &x, "-r", "2", "--resume", from, "--sweeps", "1"])["fit"].clone();
    let model_again = path("model-again.json");
    text(&["cp", &x, "-r", "2", "-o", &model_again]);
    assert_eq!(resumed(&toolbox), resumed(&model_again));

    // Compressed files too; --max-bytes also applies to the model.
    for end in ["json.gz", "json.zst", "ktensor.gz", "ktensor.zst"] {
        let packed = path(&format!("model-packed.{end}"));
        text(&["cp", &x, "-r", "2", "-o", &packed]);
        assert_eq!(resumed(&packed), resumed(&toolbox), "{end}");
    }
    for name in [&model_again, &toolbox, &path("model-packed.json.gz")] {
        let unpacked = if name.ends_with("gz") { &model_again } else { name };
        let bytes = std::fs::metadata(unpacked).unwrap().len();
        let limited = |most: u64| {
            let most = most.to_string();
            sparring(&["cp", &x, "-r", "2", "--resume", name, "--sweeps", "1", "--max-bytes", &most])
        };
        let said = String::from_utf8(limited(bytes - 1).stderr).unwrap();
        assert!(said.contains("a file") && said.contains(&(bytes - 1).to_string()), "{name}: {said}");
        assert!(limited(bytes.max(TENSOR.len() as u64)).status.success(), "{name}");
    }

    let wrong = file("wrong.json", r#"{"weights": [1.0, 2.0], "factors": [[[1.0]]]}"#);
    assert!(refused(&["cp", &x, "-r", "2", "--resume", &wrong]).contains("row 0 of a factor has 1 columns, not 2"));
    assert!(refused(&["cp", &x, "-r", "3", "--resume", &model]).contains("shapes do not agree"));
    assert!(
        refused(&["cp", &x, "-r", "2", "-o", &path("model.mtx")]).contains(".json, .ktensor, .npz, or into a folder")
    );
    assert!(refused(&["cp", &x, "-r", "2", "--plot", "fit.gif"]).contains("neither .svg nor .png"));
}

#[test]
fn every_way_gives_the_same_fit() {
    let x = file("ways.tns", TENSOR);
    let fit = |more: &[&str]| {
        let found = json(&[&["cp", &x, "-r", "2", "--seed", "1", "--sweeps", "8", "--tol", "0"], more].concat());
        (found["fit"].as_f64().unwrap() * 1e9).round()
    };
    let expected = fit(&[]);
    for variant in ["a", "b", "c", "copies", "tree", "linear", "single"] {
        assert_eq!(fit(&["--variant", variant, "--threads", "3"]), expected, "{variant}");
    }
    assert!(fit(&["--ridge", "50"]) < expected);
    assert!(refused(&["cp", &x, "-r", "2", "--variant", "d"]).contains("copies, tree, linear, single"));
}

#[test]
fn what_is_wrong_is_named() {
    let x = file("named.tns", TENSOR);
    assert!(refused(&["cp", &x, "-r", "0"]).contains("rank"));
    assert!(refused(&["cp", &x, "-r", "1", "--tol=-1"]).contains("tolerance"));
    assert!(refused(&["cp", &x]).contains("--rank"));
    assert!(refused(&["cp", &x, "-r", "1", "--time-limit=-3"]).contains("-3"));
    assert!(failed(&["cp", &x, "-r", "2", "--memory-budget", "100"], 1).contains("the budget is 100 bytes"));
    let bad = file("bad.tns", "1 1 1 2\n1 0 1 3\n");
    assert!(refused(&["cp", &bad, "-r", "1"]).contains("bad.tns:2:3"));
    assert!(refused(&["tensor-info", "gen:ubre"]).contains("did you mean uber?"));
    assert!(refused(&["tensor-info", "/no/such.tns"]).contains("/no/such.tns"));
}

#[test]
fn figures_of_a_tensor() {
    let x = file("info.tns", &format!("{TENSOR}2 3 4 0\n1 1 1 2\n"));
    let found = json(&["tensor-info", &x]);
    assert_eq!(found["dims"], serde_json::json!([2, 3, 4]));
    assert_eq!((found["nnz"].as_u64(), found["zeros"].as_u64()), (Some(12), Some(1)));
    assert_eq!((found["slices"].clone(), found["norm2"].as_f64()), (serde_json::json!([2, 3, 3]), Some(26.0)));
    assert_eq!(found["fibres"], serde_json::json!([8, 5, 6]));
    assert_eq!(found["variant"], "copies");
    let said = text(&["tensor-info", &amino(), "--rank", "32"]);
    assert!(said.contains("mode 2: 61 of 61 slices, 1,005 fibres of 61.00 entries"), "{said}");
    assert!(said.contains("mttkrp of rank 32: copies, at most "), "{said}");
    let small = json(&["tensor-info", &amino(), "--memory-budget", "2M"]);
    assert!(small["variant"] != "copies" && small["variant_bytes"].as_u64().unwrap() <= 2 << 20, "{small}");
}

#[test]
fn sweeps_are_measured() {
    let x = file("bench.tns", TENSOR);
    let found = lines(&["bench", "mttkrp", "--case", &x, "--rank", "2,5", "--variant", "c,copies", "--repeat", "2"]);
    assert_eq!(found.len(), 4);
    for line in &found {
        assert_eq!((line["op"].as_str(), line["nnz"].as_u64()), (Some("mttkrp"), Some(11)));
        assert!(
            line["compute_min_ms"].as_f64() <= line["compute_ms"].as_f64() && line["triad_gb_s"].as_f64() > Some(0.0),
            "{line}"
        );
    }
    let sums = |line: &serde_json::Value| -> Vec<f64> {
        line["mttkrp_sums"].as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).collect()
    };
    assert!(sums(&found[0]).iter().zip(sums(&found[1])).all(|(a, b)| (a - b).abs() < 1e-12 * b));
    assert!(refused(&["bench", "spgemm", "--rank", "3"]).contains("bench mttkrp"));
    let shown = sparring(&["bench", "mttkrp", "--case", &x, "--rank", "3", "--repeat", "1"]);
    assert!(String::from_utf8(shown.stdout).unwrap().contains("variant"));
}

/// Weights far below 1 are printed with significant digits.
#[test]
fn a_model_of_small_entries_is_shown_as_such() {
    let x = file("small.tns", "1 1 1e-200\n2 2 3e-200\n");
    let said = text(&["cp", &x, "--rank", "1"]);
    assert!(said.lines().any(|line| line.starts_with("weights 2.9999") && line.contains("e-200")), "{said}");
}

/// v(i, r) of [2 0; 1 3], with factors for both modes.
#[test]
fn a_product_with_factors_over_any_semiring() {
    let x = file("mttkrp.tns", "1 1 2\n2 1 1\n2 2 3\n");
    let (a, b) = (file("mttkrp-a.csv", "1,10\n2,20\n"), file("mttkrp-b.csv", "5,6\n7,8\n"));
    let out = path("mttkrp.csv");
    let product = |more: &[&str]| {
        text(&[&["mttkrp", &x, "--factors", &a, &b, "-o", &out], more].concat());
        std::fs::read_to_string(&out).unwrap()
    };
    assert_eq!(product(&[]), "10.0,12.0\n26.0,30.0\n");
    assert_eq!(product(&["--mode", "1"]), "4.0,40.0\n6.0,60.0\n");
    assert_eq!(product(&["--semiring", "min, a + 2*b"]), "12.0,14.0\n11.0,13.0\n");
    assert_eq!(product(&["--semiring", "max_plus"]), "7.0,8.0\n10.0,11.0\n");
    let found = json(&["mttkrp", &x, "--rank", "3", "--seed", "5", "--repeat", "2"]);
    assert_eq!((&found["nrows"], &found["ncols"], &found["rank"]), (&2.into(), &3.into(), &3.into()));
    // The initial factors of cp.
    let again = json(&["mttkrp", &x, "--rank", "3", "--seed", "5", "--threads", "3"]);
    assert_eq!(found["sum"], again["sum"]);
    assert!(refused(&["mttkrp", &x, "--mode", "2"]).contains("mode"));
    assert!(refused(&["mttkrp", &x, "--factors", &a]).contains("mttkrp"));
    assert!(refused(&["mttkrp", &x, "--semiring", "min_plsu"]).contains("did you mean min_plus?"));
    // A model of cp, with weights absorbed in the factors that are read.
    let model = file("mttkrp.json", r#"{"weights":[2.0],"factors":[[[1.0],[2.0]],[[5.0],[7.0]]]}"#);
    for (mode, sum) in [("0", 2.0 * (10.0 + 26.0)), ("1", 2.0 * (4.0 + 6.0))] {
        assert_eq!(json(&["mttkrp", &x, "--factors", &model, "--mode", mode])["sum"], sum);
    }
    let shown = sparring(&["mttkrp", &x, "--factors", &a, &b, "-o", "-", "--output-format", "mtx"]);
    assert!(String::from_utf8_lossy(&shown.stdout).ends_with("\n2 2 4\n1 1 10.0\n1 2 12.0\n2 1 26.0\n2 2 30.0\n"));
}

#[test]
fn models_come_and_go_by_standard_streams() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let x = file("pipe.tns", TENSOR);
    let made = sparring(&["cp", &x, "-r", "2", "-o", "-", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&made.stderr).unwrap();
    let model: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(told["weights"], model["weights"]);
    let arrays = sparring(&["cp", &x, "-r", "2", "-o", "-", "--output-format", "npz"]);
    assert!(arrays.stdout.starts_with(b"PK"));
    let mut again = Command::new(env!("CARGO_BIN_EXE_sparring"))
        .args(["cp", &x, "-r", "2", "--resume", "-", "--sweeps", "1", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    again.stdin.take().unwrap().write_all(&made.stdout).unwrap();
    let again: serde_json::Value = serde_json::from_slice(&again.wait_with_output().unwrap().stdout).unwrap();
    assert!(again["fit"].as_f64() >= Some(told["fit"].as_f64().unwrap() - 1e-12), "{again}");
    assert!(refused(&["cp", &x, "-r", "2", "-o", "-", "--output-format", "csv"]).contains(".npz"));
}

#[test]
fn a_variant_is_one_of_its_machine() {
    let x = file("machine.tns", TENSOR);
    let said = refused(&["cp", &x, "-r", "2", "--variant", "parts"]);
    assert!(said.contains("parts is only for a GPU; the processor has a, b, c"), "{said}");
}

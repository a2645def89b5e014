//! The commands `knn`, `distances`, `metrics` and `bench distance`: results worked out by hand, texts, exit codes.

mod program;

use program::{failed, file, json, lines, refused, scratch, sparring, text};

/// [1 2 0 0], [0 2 3 0], an empty row, [4 0 0 5]; one stored zero, which must not matter.
const ROWS: &str =
    "%%MatrixMarket matrix coordinate real general\n4 4 7\n1 1 1\n1 2 2\n2 2 2\n2 3 3\n2 4 0\n4 1 4\n4 4 5\n";
/// [1 1 0 0], [0 2 3 1].
const OTHERS: &str = "%%MatrixMarket matrix coordinate real general\n2 4 5\n1 1 1\n1 2 1\n2 2 2\n2 3 3\n2 4 1\n";
/// Manhattan distances of [`ROWS`].
const MANHATTAN: [[f64; 4]; 4] =
    [[0.0, 4.0, 3.0, 10.0], [4.0, 0.0, 5.0, 14.0], [3.0, 5.0, 0.0, 9.0], [10.0, 14.0, 9.0, 0.0]];

fn path(name: &str) -> String {
    scratch(name).to_str().unwrap().into()
}

#[test]
fn neighbours_are_written_as_lines_counted_from_one() {
    let (x, out) = (file("knn.mtx", ROWS), path("knn.tsv"));
    for threads in ["1", "3"] {
        let found = json(&["knn", &x, "--k", "2", "--metric", "manhattan", "-o", &out, "--threads", threads]);
        assert_eq!(
            (found["k"].as_u64(), found["pairs"].as_u64(), found["sum"].as_f64()),
            (Some(2), Some(16), Some(19.0))
        );
        let written = std::fs::read_to_string(&out).unwrap();
        let wanted = "# row\tneighbour\tdistance; rows are counted from 1\n\
                      1\t1\t0.0\n1\t3\t3.0\n2\t2\t0.0\n2\t1\t4.0\n3\t3\t0.0\n3\t1\t3.0\n4\t4\t0.0\n4\t3\t9.0\n";
        assert_eq!(written, wanted);
    }
    json(&["knn", &x, "--k", "1", "--metric", "l1", "-o", &out, "--exclude-self"]);
    let written = std::fs::read_to_string(&out).unwrap();
    assert!(written.ends_with("from 1\n1\t3\t3.0\n2\t1\t4.0\n3\t1\t3.0\n4\t3\t9.0\n"), "{written}");
    let said = text(&["knn", &x, "--k", "2", "--metric", "manhattan"]);
    assert!(said.starts_with("4 × 4 among themselves: 2 nearest by manhattan   read 0."), "{said}");
    assert!(said.contains(" million pairs/s") && said.contains("\nchosen: ") && said.lines().count() == 2, "{said}");
    assert!(text(&["knn", "--help"]).contains("number rows from 1"));
}

#[test]
fn neighbours_are_written_as_a_graph() {
    let x = file("graph.mtx", ROWS);
    for name in ["graph-out.mtx", "graph-out.mtx.gz"] {
        let out = path(name);
        let found = json(&["knn", &x, "--k", "10", "--metric", "manhattan", "-o", &out]);
        // There are only four rows.
        assert_eq!((found["k"].as_u64(), found["sum"].as_f64()), (Some(4), Some(90.0)));
        let read = json(&["info", &out]);
        assert_eq!(
            (read["nrows"].as_u64(), read["ncols"].as_u64(), read["nnz"].as_u64()),
            (Some(4), Some(4), Some(16))
        );
        assert_eq!(read["layout"], "coordinate");
    }
    let written = std::fs::read_to_string(path("graph-out.mtx")).unwrap();
    assert!(written.contains("\n2 1 4.0\n2 2 0.0\n2 3 5.0\n2 4 14.0\n"), "{written}");
}

/// Cosine distances of names: each name is its own nearest neighbour. Names that share columns with fewer than ten
/// others are filled up with the lowest indices, at distance exactly 1.
#[test]
fn neighbours_of_real_names() {
    let x = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/sec-names-3gram.mtx.gz");
    let index = include_str!("../../data/index.json");
    let index: Vec<serde_json::Value> = serde_json::from_str(index).unwrap();
    let facts = &index.iter().find(|fact| fact["file"] == "sec-names-3gram.mtx.gz").unwrap()["facts"];
    let out = path("names.tsv");
    let found = json(&["knn", x, "--k", "10", "--metric", "cosine", "-o", &out]);
    for (key, fact) in [("nrows", "rows"), ("ncols", "cols"), ("nnz", "nnz")] {
        assert_eq!(found[key], facts[fact], "{key}");
    }
    // Results of scikit-learn 1.9; it leaves about 1e-12 between a row and itself.
    assert!((found["sum"].as_f64().unwrap() - 42_878.650_556_6).abs() < 1e-6, "{found}");
    let written = std::fs::read_to_string(&out).unwrap();
    let neighbours: Vec<(usize, usize, f64)> = written
        .lines()
        .skip(1)
        .map(|line| {
            let mut words = line.split('\t');
            let mut index = || words.next().unwrap().parse().unwrap();
            (index(), index(), words.next().unwrap().parse().unwrap())
        })
        .collect();
    assert_eq!(neighbours.len(), 10 * 7919);
    for (i, row) in neighbours.chunks(10).enumerate() {
        assert_eq!(row[0], (i + 1, i + 1, 0.0));
        // In order of distance, ties by index.
        assert!(row[1..].is_sorted_by(|a, b| a.0 == b.0 && (a.2, a.1) < (b.2, b.1)), "{row:?}");
        // All names differ, and no weight is negative.
        assert!(row[1..].iter().all(|&(_, _, d)| 0.0 < d && d <= 1.0), "{row:?}");
    }
    // This name shares a character n-gram with only four others.
    let few = &neighbours[5881 * 10..5882 * 10];
    assert_eq!(Vec::from_iter(few.iter().map(|n| n.1)), [5882, 5879, 5830, 5880, 5881, 1, 2, 3, 4, 5]);
    assert!(few[4].2 < 0.87 && few[5..].iter().all(|n| n.2 == 1.0), "{few:?}");
}

#[test]
fn neighbours_in_another_matrix() {
    let (x, y, out) = (file("to-x.mtx", ROWS), file("to-y.mtx", OTHERS), path("to.tsv"));
    let found = json(&["knn", &x, "--to", &y, "--k", "1", "--metric", "manhattan", "-o", &out]);
    for (key, value) in [("nrows", 4), ("to_nrows", 2), ("ncols", 4), ("nnz", 7), ("to_nnz", 5), ("pairs", 8), ("k", 1)]
    {
        assert_eq!(found[key], value, "{key}");
    }
    let written = std::fs::read_to_string(&out).unwrap();
    assert!(written.ends_with("from 1\n1\t1\t1.0\n2\t2\t1.0\n3\t1\t2.0\n4\t1\t9.0\n"), "{written}");
    let said = text(&["knn", &x, "--to", &y, "--k", "1", "--metric", "dot"]);
    assert!(said.starts_with("4 × 4 to 2 × 4: 1 nearest by dot   read "), "{said}");
}

#[test]
fn an_index_is_saved_and_asked() {
    let (x, y, out) = (file("index-x.mtx", ROWS), file("index-y.mtx", OTHERS), path("index.tsv"));
    let kept = path("rows.index");
    let knn = ["knn", &x, "--k", "1", "-o", &out];
    let ask = |more: &[&str]| (json(&[&knn, more].concat()), std::fs::read_to_string(&out).unwrap());
    let (found, wanted) = ask(&["--metric", "minkowski", "--p", "3", "--to", &y, "--save-index", &kept]);
    assert!(found["to_nrows"] == 2 && std::fs::metadata(&kept).unwrap().len() > 0);
    let (found, written) = ask(&["--metric", "minkowski", "--p", "3", "--index", &kept]);
    assert!(found["to_nrows"] == 2 && found["pairs"] == 8 && written == wanted, "{written}");
    // Distances among X, by a formula.
    let (_, wanted) = ask(&["--metric", "abs(a-b) / (a+b+1)", "--save-index", &kept]);
    assert_eq!(ask(&["--metric", "abs(a-b) / (a+b+1)", "--index", &kept]).1, wanted);
    for (more, said) in [
        (&["--metric", "cosine", "--index", &kept][..], "is an index for"),
        (&["--metric", "abs(a-b) / (a+b+1)", "--unchecked", "--index", &kept], "other settings"),
        (&["--metric", "cosine", "--index", &x], "does not begin as an index does"),
        (&["--metric", "cosine", "--index", "no-such.index"], "no-such.index"),
        (&["--metric", "cosine", "--save-index", "no-such-folder/rows.index"], "no-such-folder"),
        (&["--metric", "cosine", "--index", &kept, "--to", &y], "--to"),
        (&["--metric", "cosine", "--index", &kept, "--save-index", &kept], "--save-index"),
    ] {
        let line = refused(&[&knn, more].concat());
        assert!(line.contains(said), "{more:?}: {line}");
    }
}

/// The elements of an array file, column by column.
fn array(path: &str) -> (String, Vec<f64>) {
    let written = std::fs::read_to_string(path).unwrap();
    let mut rest = written.lines().filter(|line| !line.starts_with('%'));
    (rest.next().unwrap().into(), rest.map(|line| line.parse().unwrap()).collect())
}

#[test]
fn distances_are_written_as_an_array() {
    let (x, y, out) = (file("all.mtx", ROWS), file("all-y.mtx", OTHERS), path("all-out.mtx"));
    let found = json(&["distances", &x, "--metric", "manhattan", "-o", &out]);
    assert_eq!((found["sum"].as_f64(), found["pairs"].as_u64()), (Some(90.0), Some(16)));
    assert!(found["write_ms"].is_f64() && found["compute_ms"].is_f64() && found["chosen"].is_string());
    assert_eq!(array(&out), ("4 4".into(), MANHATTAN.concat()));
    assert!(std::fs::read_to_string(&out).unwrap().contains("\n% distances of rows by manhattan\n"));
    let read = json(&["info", &out]);
    assert_eq!((read["layout"].as_str(), read["field"].as_str()), (Some("array"), Some("real")));
    // Column-major: the four distances from the first row of Y, then those from the second.
    let found = json(&["distances", &x, "--to", &y, "--metric", "manhattan", "-o", &out]);
    assert_eq!(array(&out), ("4 2".into(), vec![1.0, 5.0, 2.0, 9.0, 5.0, 1.0, 6.0, 13.0]));
    assert_eq!(found["sum"], 42.0);
    let said = text(&["distances", &x, "--metric", "manhattan"]);
    assert!(said.starts_with("4 × 4 among themselves: manhattan   sum 90   read 0."), "{said}");
    assert!(json(&["distances", &x, "--metric", "manhattan"])["write_ms"].is_null());
}

#[test]
fn a_distance_that_is_not_symmetric_has_x_in_its_rows() {
    let (x, y, out) = (file("kl-x.mtx", ROWS), file("kl-y.mtx", OTHERS), path("kl-out.mtx"));
    json(&["distances", &x, "--to", &y, "--metric", "kl", "-o", &out]);
    let (size, values) = array(&out);
    let inf = f64::INFINITY;
    // [1 2] from [1 1]: 2 ln 2. [0 2 3] from [0 2 3 1]: 0.
    assert_eq!(size, "4 2");
    let wanted = [2.0 * 2.0f64.ln(), inf, 0.0, inf, inf, 0.0, 0.0, inf];
    for (at, (found, wanted)) in values.iter().zip(wanted).enumerate() {
        assert!(*found == wanted || (found - wanted).abs() < 1e-12, "{at}: {found}, not {wanted}");
    }
    json(&["distances", &y, "--to", &x, "--metric", "kl_intersection", "-o", &out]);
    let (size, values) = array(&out);
    assert_eq!((size.as_str(), values.len()), ("2 4", 8));
    assert!((values[0] + 2.0f64.ln()).abs() < 1e-12, "{values:?}");
}

#[test]
fn a_budget_makes_parts_of_all_distances_not_other_numbers() {
    let (all, parts) = (path("all-at-once.mtx"), path("in-parts.mtx"));
    for metric in ["manhattan", "kl"] {
        for to in [&[][..], &["--to", "gen:tc_rmat10"]] {
            let ask = |out: &str, more: &[&str]| {
                json(&[&["distances", "gen:tc_rmat10", "--metric", metric, "-o", out], to, more].concat())
            };
            let whole = ask(&all, &[]);
            // The distances alone are 8 MiB.
            let some = ask(&parts, &["--memory-budget", "5M", "--threads", "2"]);
            assert_eq!(whole["sum"], some["sum"], "{metric}");
            assert!(std::fs::read(&all).unwrap() == std::fs::read(&parts).unwrap(), "{metric}, {to:?}");
        }
    }
}

#[test]
fn every_metric_listed_can_be_used() {
    let x = file("metrics.mtx", ROWS);
    let listed = json(&["metrics"]);
    let listed = listed["metrics"].as_array().unwrap();
    let said = text(&["metrics"]);
    assert!(listed.len() >= 15);
    for row in listed {
        let name = row["name"].as_str().unwrap();
        for key in ["formula", "product", "norms", "takes", "empty_rows"] {
            assert!(!row[key].as_str().unwrap().is_empty(), "{name} {key}");
        }
        assert!(said.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}");
        let p: &[&str] = if name == "minkowski" { &["--p", "3"] } else { &[] };
        let near = json(&[&["knn", &x, "--k", "4", "--metric", name], p].concat());
        let all = json(&[&["distances", &x, "--metric", name], p].concat());
        assert_eq!((near["metric"].as_str(), near["k"].as_u64()), (Some(name), Some(4)));
        let [near, all] = [near, all].map(|found| found["sum"].as_f64().unwrap());
        assert!((near - all).abs() <= 1e-12 * all.abs(), "{name}: {near} {all}");
        for alias in row["aliases"].as_array().unwrap() {
            json(&[&["distances", &x, "--metric", alias.as_str().unwrap()], p].concat());
        }
    }
}

#[test]
fn a_metric_may_be_a_formula() {
    let (x, y, out) = (file("formula.mtx", ROWS), file("formula-y.mtx", OTHERS), path("formula-out.mtx"));
    let found = json(&["distances", &x, "--metric", " abs(a - b)", "-o", &out]);
    assert_eq!((found["metric"].as_str(), found["sum"].as_f64()), (Some("abs(a - b)"), Some(90.0)));
    assert_eq!((found.get("p"), found["pairs"].as_u64()), (None, Some(16)));
    assert_eq!(array(&out), ("4 4".into(), MANHATTAN.concat()));
    assert!(std::fs::read_to_string(&out).unwrap().contains("\n% distances of rows by abs(a - b)\n"));
    // Not symmetric: [1 2 0 0] to [1 1 0 0] is 3 − 2·2, in the row of x.
    json(&["distances", &x, "--to", &y, "--metric", "a - 2*b", "-o", &out]);
    assert_eq!(array(&out), ("4 2".into(), vec![-1.0, 1.0, -4.0, 5.0, -9.0, -7.0, -12.0, -3.0]));
    for threads in ["1", "3"] {
        let found = json(&["knn", &x, "--k", "2", "--metric", "abs(a-b)", "--threads", threads]);
        assert_eq!((found["metric"].as_str(), found["sum"].as_f64()), (Some("abs(a-b)"), Some(19.0)));
    }
    let said = text(&["knn", &x, "--k", "2", "--metric", "abs(a-b) / (a+b+1)"]);
    assert!(said.starts_with("4 × 4 among themselves: 2 nearest by abs(a-b) / (a+b+1)   read 0."), "{said}");
    let said = text(&["metrics"]);
    assert!(said.ends_with(": --metric \"abs(a-b) / (a+b+1)\"\n"), "{said}");
    let found = lines(&["bench", "distance", "--case", &x, "--repeat", "1", "--metric", "l1,max(a, b) - min(a, b)"]);
    let found: Vec<_> = found.iter().map(|l| (l["metric"].as_str().unwrap(), l["sum"].as_f64())).collect();
    assert_eq!(found, [("manhattan", Some(90.0)), ("max(a, b) - min(a, b)", Some(90.0))]);
}

#[test]
fn what_is_wrong_in_a_formula_is_pointed_at() {
    let x = file("pointed.mtx", ROWS);
    for command in [&["knn", "--k", "2"][..], &["distances"]] {
        let said = |more: &[&str]| refused(&[command, &[&x, "--metric"], more].concat());
        let parameter = "sparring: formula: there is no parameter c; there are a, b\n  abs(a-c) / 2\n        ^\n";
        assert_eq!(said(&["abs(a-c) / 2"]), parameter);
        assert!(said(&["a & b"]).contains("& does not take (f64, f64)\n  a & b\n  ^"), "{}", said(&["a & b"]));
        for (more, words) in [
            (&["abs(a-b) + 1"][..], "sparring: metric: abs(a-b) + 1: 0 ⊗ 0 is 1, not 0, "),
            (&["(a-b) / (a+b)"], "0 ⊗ 0 is NaN, not 0"),
            (&["abs(a-b)", "--p", "3"], "sparring: p: a formula has no parameters but a and b, but p is 3"),
            (&["abs"], "sparring: metric: there is no \"abs\"; there are cosine, "),
        ] {
            let line = said(more);
            assert!(line.contains(words) && line.matches('\n').count() == 1, "{line}");
        }
    }
}

#[test]
fn settings_change_what_they_say() {
    let x = file("settings.mtx", ROWS);
    let sum = |arguments: &[&str]| json(&[&["distances", &x, "--metric"], arguments].concat())["sum"].as_f64().unwrap();
    assert_eq!(sum(&["minkowski", "--p", "1"]), 90.0);
    assert_eq!(sum(&["minkowski", "--p", "inf"]), sum(&["chebyshev"]));
    assert_ne!(sum(&["jensenshannon"]), sum(&["jensenshannon", "--no-normalize"]));
    assert_ne!(sum(&["hellinger"]), sum(&["hellinger", "--normalize"]));
    assert_eq!(sum(&["hellinger"]), sum(&["hellinger", "--no-normalize"]));
    let found = json(&["distances", &x, "--metric", "minkowski", "--p", "3"]);
    assert_eq!((found["p"].as_f64(), found.get("normalize")), (Some(3.0), None));
    let found = json(&["knn", &x, "--k", "1", "--metric", "hellinger", "--normalize"]);
    assert_eq!(found["normalize"], true);
    assert_eq!((found["device"].as_str(), found.get("first_ms")), (Some("cpu"), None));
    for key in ["compute_ms", "read_ms", "threads", "search_bytes", "chosen", "peak_growth_bytes"] {
        assert!(found.get(key).is_some(), "{key}");
    }
}

#[test]
fn wrong_questions_are_refused_in_one_line() {
    let x = file("wrong-x.mtx", ROWS);
    let negative = file("wrong-negative.mtx", &ROWS.replace("2 3 3\n", "2 3 -3\n"));
    let narrow = file("wrong-narrow.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    for (arguments, said) in [
        (&[&x, "--metric", "cosin"][..], "metric: there is no \"cosin\"; there are cosine, correlation, dot, "),
        (&[&x, "--metric", "minkowski"], "p: minkowski needs a p"),
        (&[&x, "--metric", "minkowski", "--p", "0.5"], "p: 0.5 is below 1"),
        (&[&x, "--metric", "cosine", "--p", "2"], "p: cosine has no parameter, but p is 2"),
        (
            &[&negative, "--metric", "hellinger"],
            "entries: row 1, column 2 holds -3.0, but the metric takes finite numbers that are not negative (rows and columns are \
             counted from 0)",
        ),
        (&[&x, "--to", &narrow, "--metric", "cosine"], ": shapes do not agree: lhs is 4×4, rhs is 2×3"),
        (&["no-such-file.mtx", "--metric", "cosine"], "no-such-file.mtx: No such file"),
        (&[&x, "--to", "no-such-file.mtx", "--metric", "cosine"], "no-such-file.mtx: No such file"),
        (&["gen:nothing", "--metric", "cosine"], "case: no generated matrix is called 'nothing'"),
        (&[&x, "--metric", "cosine", "-o", "no-such-folder/out.mtx"], "no-such-folder/out.mtx: No such file"),
        (&[&x, "--metric", "cosine", "-o", "no-such-folder/out.npy"], "no-such-folder/out.npy: No such file"),
    ] {
        for command in [&["knn", "--k", "2"][..], &["distances"]] {
            for json in [&[][..], &["--json"]] {
                let line = refused(&[command, arguments, json].concat());
                assert!(line.starts_with("sparring: ") && line.contains(said), "{arguments:?}: {line}");
                assert_eq!(line.matches('\n').count(), 1, "{line}");
            }
        }
    }
    let line = refused(&["knn", &x, "--k", "2", "--metric", "cosine", "-o", "no-such-folder/out.tsv"]);
    assert!(line.starts_with("sparring: no-such-folder/out.tsv: No such file"), "{line}");
    // Where requested, entries are not checked.
    json(&["distances", &negative, "--metric", "hellinger", "--unchecked"]);
    assert!(json(&["distances", &negative, "--metric", "manhattan"])["sum"].as_f64().unwrap() > 0.0);
}

#[test]
fn wrong_usage_ends_with_2() {
    let x = file("usage.mtx", ROWS);
    for arguments in [
        &["knn", &x, "--metric", "cosine"][..],
        &["knn", &x, "--k", "3"],
        &["knn", &x, "--k", "0", "--metric", "cosine"],
        &["knn", &x, "--k", "3", "--metric", "cosine", "--to", &x, "--exclude-self"],
        &["distances", &x],
        &["distances", &x, "--metric", "hellinger", "--normalize", "--no-normalize"],
        &["bench", "distance", "--task", "cakes"],
        &["bench", "distance", "--metric", "cosin"],
        &["bench", "spgemm", "--metric", "cosine", "--case", "tc_rmat10"],
    ] {
        assert!(!refused(arguments).is_empty());
    }
}

#[test]
fn memory_is_bounded_by_a_setting() {
    let x = file("budget.mtx", ROWS);
    let said = failed(&["knn", &x, "--k", "2", "--metric", "cosine", "--memory-budget", "100"], 1);
    assert!(said.starts_with("sparring: ") && said.contains("100"), "{said}");
    let said = failed(&["distances", &x, "--metric", "cosine", "--memory-budget", "100"], 1);
    assert!(said.starts_with("sparring: ") && said.contains("100"), "{said}");
    json(&["knn", &x, "--k", "2", "--metric", "cosine", "--memory-budget", "100000000"]);
}

#[test]
fn bench_measures_tasks_and_metrics() {
    let x = file("bench-distance.mtx", ROWS);
    let bench = |more: &[&str]| {
        let found = lines(&[&["bench", "distance", "--case", &x, "--repeat", "2", "--threads", "2"], more].concat());
        for line in &found {
            assert_eq!((line["op"].as_str(), line["case"].as_str()), (Some("distance"), Some(x.as_str())));
            assert!(
                0.0 < line["compute_min_ms"].as_f64().unwrap()
                    && line["compute_min_ms"].as_f64() <= line["compute_ms"].as_f64()
            );
            assert!(line["gpairs_s"].as_f64().unwrap() > 0.0 && line["chosen"].is_string(), "{line}");
            assert_eq!((line["threads"].as_u64(), line.get("prepared_ms")), (Some(2), None));
        }
        found
    };
    let found = bench(&["--metric", "manhattan,dot", "minkowski"]);
    let names: Vec<_> = found.iter().map(|line| line["metric"].as_str().unwrap()).collect();
    assert_eq!(names, ["manhattan", "dot", "minkowski"]);
    // Fewer rows than the default k = 10: all distances.
    assert_eq!((found[0]["task"].as_str(), found[0]["sum"].as_f64()), (Some("knn"), Some(90.0)));
    // Without the empty row: its own distances sum to 17, counted once.
    assert_eq!((found[0]["nonempty_sum"].as_f64(), found[0]["k"].as_u64()), (Some(73.0), Some(10)));
    assert_eq!(found[2]["p"], 3.0);
    // All pairs: without the empty row's distances, counted twice.
    let found = &bench(&["--metric", "manhattan", "--task", "pairwise"])[0];
    assert_eq!((found["sum"].as_f64(), found["nonempty_sum"].as_f64()), (Some(90.0), Some(56.0)));
    assert_eq!((found["pairs"].as_u64(), found.get("k")), (Some(16), None));
    // The first two of the first three rows as queries.
    let found = &bench(&["--metric", "manhattan", "--task", "pairwise", "--rows", "3", "--queries", "2"])[0];
    assert_eq!((found["sum"].as_f64(), found["pairs"].as_u64()), (Some(16.0), Some(6)));
    let found = &bench(&["--metric", "euclidean", "--entries", "f32", "--precision", "entries", "--k", "1"])[0];
    assert_eq!((found["sum"].as_f64(), found["type"].as_str()), (Some(0.0), Some("f32")));
    let said = text(&["bench", "distance", "--case", &x, "--repeat", "1"]);
    assert!(said.lines().count() == 4 && said.starts_with("case  "), "{said}");
}

#[test]
fn the_published_sets_are_cases() {
    let found =
        &lines(&["bench", "distance", "--case", "movielens_like", "--rows", "300", "--queries", "20", "--repeat", "1"])
            [0];
    assert_eq!(
        (found["nrows"].as_u64(), found["to_nrows"].as_u64(), found["ncols"].as_u64()),
        (Some(20), Some(300), Some(26_744))
    );
}

#[test]
fn histograms_are_drawn() {
    let x = file("histogram.mtx", "%%MatrixMarket matrix coordinate real general\n4 2 4\n1 1 1\n2 1 2\n3 2 3\n4 1 9\n");
    let (svg, png) = (scratch("histogram.svg"), scratch("histogram.png"));
    text(&["distances", &x, "--metric", "l1", "--plot", svg.to_str().unwrap()]);
    let drawn = std::fs::read_to_string(&svg).unwrap();
    for word in ["distance", "pairs"] {
        assert!(drawn.lines().any(|line| line.trim() == word), "{word}: {drawn}");
    }
    text(&["knn", &x, "-k", "2", "--metric", "l1", "--plot", png.to_str().unwrap()]);
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    assert!(refused(&["knn", &x, "-k", "2", "--metric", "l1", "--plot", "x.pdf"]).contains("neither .svg nor .png"));
}

#[test]
fn distances_are_written_as_any_table() {
    let x = file("tables.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n");
    let y = file("tables-y.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 4\n3 2 5\n");
    let out = scratch("tables.csv");
    // The second metric is not symmetric: it is computed by rows and transposed.
    for (metric, table) in
        [("l1", "3.0,1.0,6.0\n6.0,2.0,3.0\n".to_owned()), ("a - 3*b", "-11.0,1.0,-14.0\n-10.0,2.0,-13.0\n".into())]
    {
        text(&["distances", &x, "--to", &y, "--metric", metric, "-o", out.to_str().unwrap()]);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), table, "{metric}");
    }
    let piped = sparring(&["knn", &x, "-k", "1", "--metric", "l1", "-o", "-", "--output-format", "tsv"]);
    assert!(String::from_utf8_lossy(&piped.stdout).ends_with("\n1\t1\t0.0\n2\t2\t0.0\n"), "{piped:?}");
}

//! The command line as users see it: exit codes, texts, JSON.

mod program;

use std::path::Path;
use std::process::{Command, Stdio};

use program::{file, json, refused, scratch, sparring, text};
use serde_json::Value;

/// Four vertices, all connected: four triangles.
const COMPLETE: &str = "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 6\n2 1\n3 1\n4 1\n3 2\n4 2\n4 3\n";
/// [1 2; 0 3].
const SMALL: &str = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.0\n1 2 2.0\n2 2 3.0\n";
/// 2 × 3, its second row empty.
const WIDE: &str = "%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 1 4\n1 3 5\n";

#[test]
fn triangles_of_a_complete_graph() {
    let k4 = file("triangles.mtx", COMPLETE);
    let said = text(&["triangles", &k4]);
    assert!(said.starts_with("4 triangles   read 0.") && said.contains(" s, counted 0."), "{said}");
    assert!(said.contains("   method: ") && said.lines().count() == 1, "{said}");
    for method in ["auto", "masked", "compressed", "direct"] {
        let found = json(&["triangles", &k4, "--method", method]);
        assert_eq!(found["triangles"], 4);
        assert!(found["read_ms"].is_f64() && found["compute_ms"].is_f64() && found["method"].is_string(), "{found}");
    }
}

/// Patterns have Boolean values for semirings on Booleans, else ones. Operands of two types are promoted to the
/// smallest type that holds both.
#[test]
fn a_product_has_a_type_that_loses_nothing() {
    let k4 = file("types_k4.mtx", COMPLETE);
    for (semiring, ty, sum) in
        [("plus_times", "i64", 36), ("min_plus", "i64", 32), ("lor_land", "bool", 16), ("min, a + 2*b", "i64", 48)]
    {
        let found = json(&["mxm", &k4, "--semiring", semiring]);
        assert_eq!((&found["type"], &found["sum"]), (&ty.into(), &sum.into()), "{semiring}");
        let said = text(&["mxm", &k4, "--semiring", semiring]);
        assert_eq!(said.contains("pattern entries as 1"), ty == "i64", "{said}");
    }
    let one = |name: &str, field: &str, value: &str| {
        file(name, &format!("%%MatrixMarket matrix coordinate {field} general\n1 1 1\n1 1 {value}\n"))
    };
    let (small, exact) =
        (one("types_i.mtx", "integer", "33554433"), one("types_53.mtx", "integer", "9007199254740993"));
    let (real, part) = (one("types_r.mtx", "real", "1"), one("types_c.mtx", "complex", "1 2"));
    let found = json(&["mxm", &small, &real]);
    assert_eq!((&found["type"], &found["sum"]), (&"f64".into(), &33554433.0.into()));
    assert_eq!(json(&["mxm", &small, &part])["type"], "complex_f64");
    for (a, b) in [(&exact, &real), (&real, &exact), (&part, &exact)] {
        assert!(refused(&["mxm", a, b]).contains("no type holds the values of both; use --type"));
        assert!(refused(&["kronecker", a, b]).contains("use --type"));
    }
    assert_eq!(json(&["mxm", &exact, &real, "--type", "f64"])["sum"], 9007199254740992.0);
}

#[test]
fn a_kronecker_product_has_each_pair_of_entries() {
    let row = file("kron_a.mtx", "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 1\n1 2 2\n");
    let swap = file("kron_b.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 3\n2 1 4\n");
    let said = text(&["kronecker", &row, &swap]);
    assert!(said.starts_with("2 × 4, 4 entries of i64 by times   read "), "{said}");
    assert!(said.trim_end().ends_with("sum 21"), "{said}");
    let out = sparring(&["kronecker", &row, &swap, "--op", "a + 10*b", "-o", "-"]);
    let written = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && written.ends_with("2 4 4\n1 2 31\n1 4 32\n2 1 41\n2 3 42\n"), "{written}");
    let found = json(&["kronecker", "gen:tc_rmat10", &row, "--type", "f32"]);
    assert_eq!((&found["nrows"], &found["type"], &found["operator"]), (&1024.into(), &"f32".into(), &"times".into()));
    // Patterns have Boolean values for Boolean operators, else ones.
    let pattern = file("kron_p.mtx", COMPLETE);
    let found = json(&["kronecker", &pattern]);
    assert_eq!((&found["type"], &found["operator"], &found["sum"]), (&"i64".into(), &"times".into(), &144.into()));
    assert!(text(&["kronecker", &pattern]).contains(" by times, pattern entries as 1 "));
    assert_eq!(json(&["kronecker", &pattern, "--op", "land"])["type"], "bool");
    let out = sparring(&["kronecker", &row, "--op", "tims"]);
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn triangles_of_each_vertex_and_of_each_edge() {
    let k4 = file("triangles_per.mtx", COMPLETE);
    let said = text(&["triangles", &k4, "--per", "vertex"]);
    assert!(said.starts_with("4 triangles, at most 3 per vertex   read 0."), "{said}");
    let found = json(&["triangles", &k4, "--per", "edge"]);
    assert_eq!((&found["triangles"], &found["per"], &found["most"]), (&4.into(), &"edge".into(), &2.into()));
    // The report then goes to standard error.
    let written = |per: &str| {
        let out = sparring(&["triangles", &k4, "--per", per, "-o", "-"]);
        assert!(out.status.success() && String::from_utf8_lossy(&out.stderr).starts_with("4 triangles, at most "));
        String::from_utf8(out.stdout).unwrap()
    };
    let vertices = written("vertex");
    assert_eq!(
        vertices.lines().skip_while(|l| l.starts_with('%')).collect::<Vec<_>>(),
        ["4 1 4", "1 1 3", "2 1 3", "3 1 3", "4 1 3"]
    );
    let edges = written("edge");
    assert_eq!(edges.lines().skip_while(|l| l.starts_with('%')).count(), 1 + 12);
    assert!(edges.lines().skip_while(|l| l.starts_with('%')).skip(1).all(|l| l.ends_with(" 2")), "{edges}");
}

#[test]
fn counts_are_grouped_and_do_not_depend_on_threads() {
    for threads in ["1", "2", "3"] {
        let said = text(&["--threads", threads, "triangles", "gen:tc_rmat10"]);
        assert!(said.starts_with("75,185 triangles   "), "{said}");
    }
}

#[test]
fn a_real_graph_has_the_published_number_of_triangles() {
    let Ok(data) = std::env::var("SPARRING_DATA") else {
        println!("skipped: SPARRING_DATA is not set");
        return;
    };
    let said = text(&["triangles", &format!("{data}/ca-HepPh.mtx.gz")]);
    assert!(said.starts_with("3,358,499 triangles   "), "{said}");
}

#[test]
fn info_says_what_the_file_says_and_what_follows() {
    let k4 = file("info.mtx", COMPLETE);
    let said = text(&["info", &k4]);
    assert!(said.contains("4 × 4   coordinate pattern symmetric\n"), "{said}");
    assert!(said.contains("min 3, mean 3.00, max 3, empty 0\n"), "{said}");
    let found = json(&["info", &k4]);
    assert!(found.get("flops").is_none() && !said.contains("|C|"), "{said}");
    assert!(text(&["info", &k4, "--product"]).contains("\nA·A      fm 36   maxrf 9 "), "{said}");
    let found = json(&["info", &k4, "--product"]);
    for (key, value) in [("nrows", 4), ("ncols", 4), ("nnz", 12), ("stored", 6), ("row_nnz_max", 3), ("empty_rows", 0)]
    {
        assert_eq!(found[key], value, "{key}");
    }
    for (key, value) in [("flops", 36), ("row_flops_max", 9), ("product_row_nnz_max", 4), ("product_nnz", 16)] {
        assert_eq!(found[key], value, "{key}");
    }
    assert_eq!([&found["field"], &found["symmetry"], &found["product"]], ["pattern", "symmetric", "A*A"]);
    assert!(found.get("cf").is_some() && found.get("cmrf").is_some());
}

#[test]
fn info_multiplies_by_the_transpose_where_it_must() {
    let wide = file("info-wide.mtx", WIDE);
    let found = json(&["info", &wide, "--product"]);
    assert_eq!([&found["product"], &found["field"]], ["A*A'", "integer"]);
    assert_eq!((found["flops"].as_u64(), found["product_nnz"].as_u64()), (Some(2), Some(1)));
    assert_eq!((found["row_nnz_min"].as_u64(), found["empty_rows"].as_u64()), (Some(0), Some(1)));
    assert!(text(&["info", &wide, "--product"]).contains("A·Aᵀ"));
}

/// Width and height of a PNG file, from its first chunk.
fn picture(path: &Path) -> (u32, u32) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn spy_draws_small_and_large_and_empty_matrices() {
    let out = scratch("spy.png");
    let draw = |matrix: &str| {
        text(&["info", matrix, "--spy", out.to_str().unwrap()]);
        (picture(&out), std::fs::read(&out).unwrap())
    };
    let (size, one) = draw(&file("spy-1.mtx", WIDE));
    assert_eq!(size, (798, 532));
    let (_, other) = draw(&file("spy-2.mtx", &WIDE.replace("1 1 4", "2 1 4")));
    assert_ne!(one, other);
    assert_eq!(draw("gen:tc_rmat10").0, (512, 512));
    assert_eq!(draw(&file("spy-3.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 0\n")).0, (800, 800));
    let gif = refused(&["info", "gen:tc_rmat10", "--spy", "x.gif"]);
    assert_eq!(gif, "sparring: spy: 'x.gif' does not end in .png\n");
}

#[test]
fn info_draws_entries_and_degrees() {
    let (svg, png) = (scratch("info.svg"), scratch("info.png"));
    let wide = file("info-plot.mtx", WIDE);
    text(&["info", &wide, "--plot", svg.to_str().unwrap()]);
    let drawn = std::fs::read_to_string(&svg).unwrap();
    for word in ["column", "row", "entries", "rows", "2 × 3, 2 entries", "entries of a row; 1 row is empty"] {
        assert!(drawn.lines().any(|line| line.trim() == word), "{word}: {drawn}");
    }
    text(&["info", "gen:tc_rmat10", "--plot", png.to_str().unwrap()]);
    assert_eq!(picture(&png), (1240, 620));
    let gif = refused(&["info", "gen:tc_rmat10", "--plot", "x.gif"]);
    assert_eq!(gif, "sparring: --plot: 'x.gif' ends in neither .svg nor .png\n");
}

#[test]
fn mxm_multiplies_over_a_semiring_by_name() {
    let a = file("mxm.mtx", SMALL);
    let found = json(&["mxm", &a]);
    for (key, value) in [("nrows", 2), ("ncols", 2), ("nnz", 3), ("flops", 4)] {
        assert_eq!(found[key], value, "{key}");
    }
    // [1 8; 0 9].
    assert_eq!(found["sum"], 18.0);
    let phases = ["symbolic_ms", "numeric_ms", "reuse_ms", "planned"];
    assert!(
        found["compute_ms"].is_f64() && found["chosen"].is_string() && phases.iter().all(|key| found[key].is_null())
    );
    let found = json(&["mxm", &a, "--explain"]);
    assert!(
        found["compute_ms"].is_f64()
            && phases[..3].iter().all(|key| found[key].is_f64())
            && found["planned"].is_string()
    );
    // Least sums: [2 3; - 6], largest: [2 5; - 6].
    assert_eq!(json(&["mxm", &a, "--semiring", "min_plus"])["sum"], 11.0);
    assert_eq!(json(&["mxm", &a, "--semiring", "max_plus"])["sum"], 13.0);
    let wide = file("mxm-wide.mtx", WIDE);
    let found = json(&["mxm", &a, &wide, "--repeat", "3", "--threads", "2"]);
    assert_eq!((found["ncols"].as_u64(), found["sum"].as_f64()), (Some(3), Some(9.0)));
    let said = text(&["mxm", &a]);
    assert!(
        said.starts_with("2 × 2, 3 entries of f64 from 4 multiplications over plus_times\nmultiplied in 0."),
        "{said}"
    );
    assert!(!said.contains("again") && !said.contains("planned"), "{said}");
    for more in [&["--repeat", "2"][..], &["--explain"]] {
        let said = text(&[&["mxm", &a][..], more].concat());
        assert!(said.contains(", again 0.") && said.contains("\nplanned: auto: columns by bitmap"), "{said}");
    }
}

#[test]
fn mxm_takes_every_option() {
    let a = file("options.mtx", SMALL);
    for (option, values) in [
        ("--policy", &["auto", "kkspgemm"][..]),
        ("--accumulator", &["auto", "ll", "lp", "dense"]),
        ("--compress", &["auto", "on", "off"]),
    ] {
        for value in values {
            assert_eq!(json(&["mxm", &a, option, value])["sum"], 18.0, "{option} {value}");
        }
    }
    // A row of ones times a matrix that reverses the order of its columns; rows with few products are always sorted.
    let entries = |entry: &dyn Fn(usize) -> String| (1..=300).map(entry).collect::<String>();
    let head = "%%MatrixMarket matrix coordinate integer general";
    let row = file("options-row.mtx", &format!("{head}\n1 300 300\n{}", entries(&|j| format!("1 {j} 1\n"))));
    let turn = entries(&|i| format!("{i} {} 1\n", 301 - i));
    let turn = file("options-turn.mtx", &format!("{head}\n300 300 300\n{turn}"));
    let out = scratch("options-out.mtx");
    let out = out.to_str().unwrap();
    let columns = |more: &[&str]| -> Vec<String> {
        assert_eq!(json(&[&["mxm", &row, &turn, "-o", out], more].concat())["sum"], 300);
        let written = std::fs::read_to_string(out).unwrap();
        let entries = written.lines().filter(|line| line.starts_with("1 ") && !line.starts_with("1 300 300"));
        entries.map(|line| line.split(' ').nth(1).unwrap().to_string()).collect()
    };
    let (sorted, unsorted) = (columns(&[]), columns(&["--unsorted"]));
    assert_eq!((sorted.len(), &*sorted[0], &*unsorted[0]), (300, "1", "300"), "{unsorted:?}");
    assert!(unsorted.iter().eq(sorted.iter().rev()));
}

#[test]
fn mxm_writes_what_can_be_read_again() {
    let a = file("again.mtx", &SMALL.replace("2.0", "0.1"));
    let out = scratch("again-out.mtx");
    let out = out.to_str().unwrap();
    let made = json(&["mxm", &a, "-o", out]);
    let read = json(&["info", out]);
    assert_eq!(read["nnz"], made["nnz"]);
    // (A²)·A and A·(A²) have the same sum; both use every bit written.
    let [left, right] = [json(&["mxm", out, &a]), json(&["mxm", &a, out])];
    let (left, right) = (left["sum"].as_f64().unwrap(), right["sum"].as_f64().unwrap());
    assert!((left - right).abs() < 1e-12 && (left - (1.0 + 1.3 + 27.0)).abs() < 1e-12, "{left} {right}");
}

#[test]
fn mxm_multiplies_over_a_semiring_of_formulas() {
    let formula = ["--semiring", "min, a + 2*b"];
    let a = file("formulas.mtx", SMALL);
    // [3 5; - 9].
    assert_eq!(json(&[&["mxm", &a][..], &formula].concat())["sum"], 17.0);
    let ways = file("formulas-of-a-pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n");
    assert_eq!(json(&[&["mxm", &ways, "--type", "i64"][..], &formula].concat())["sum"], 6);
    assert_eq!(json(&[&["mxm", &ways][..], &formula].concat())["sum"], 6);
    // The value is not Boolean: the error points at it.
    let said = refused(&[&["mxm", &ways, "--type", "bool"][..], &formula].concat());
    assert!(said.lines().any(|line| line.trim() == "^"), "{said}");
}

#[test]
fn every_semiring_listed_can_be_used() {
    let a = file("semirings.mtx", SMALL);
    let listed = json(&["semirings"]);
    let listed = listed["semirings"].as_array().unwrap();
    let said = text(&["semirings"]);
    assert!(listed.len() >= 4);
    for row in listed {
        let name = row["name"].as_str().unwrap();
        assert!(said.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}");
        let types = row["types"].as_array().unwrap();
        let value = if types.iter().any(|name| name == "f64") { "f64" } else { types[0].as_str().unwrap() };
        assert_eq!(json(&["mxm", &a, "--semiring", name, "--type", value])["nnz"], 3, "{name}");
    }
}

/// Semirings defined from 0 up are listed as such, and values below 0 cause a warning.
#[test]
fn values_outside_a_semiring_are_told_of() {
    let of = |name: &str| {
        let listed = json(&["semirings"]);
        let rows = listed["semirings"].as_array().unwrap().clone();
        rows.iter().find(|row| row["name"] == name).unwrap()["domain"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (of("max_times"), of("min_times"), of("max_plus")),
        ("from 0 up".into(), "from 0 up".into(), "all".into())
    );
    assert!(text(&["semirings"]).contains("most probable path, values from 0 up"));
    let one = |name: &str, value: &str| {
        file(name, &format!("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 {value}\n"))
    };
    let (above, below) = (one("domain_1.mtx", "2"), one("domain_2.mtx", "-2"));
    let warned = |arguments: &[&str]| {
        let out = sparring(arguments);
        assert!(out.status.success());
        String::from_utf8_lossy(&out.stderr).starts_with("warning: ")
    };
    assert!(warned(&["mxm", &above, &below, "--semiring", "max_times"]));
    assert!(!warned(&["mxm", &above, "--semiring", "max_times"]) && !warned(&["mxm", &below]));
}

#[test]
fn wrong_input_is_named_in_one_line() {
    let short = file("short.mtx", &SMALL.replace("2 2 3\n", "2 2 4\n"));
    let index = file("index.mtx", &SMALL.replace("1 2 2.0", "1 3 2.0"));
    let wide = file("wrong-wide.mtx", WIDE);
    let a = file("wrong.mtx", SMALL);
    for (arguments, said) in [
        (&["triangles", "no-such-file.mtx"][..], "no-such-file.mtx: No such file"),
        (&["info", &short], &format!("{short}:")),
        (&["info", &index], &format!("{index}:4:")),
        (&["triangles", &wide], "triangles: the matrix must be square, but it is 2×3"),
        (&["mxm", &wide], "mxm: shapes do not agree: lhs is 2×3, rhs is 2×3"),
        (&["mxm", &a, "--semiring", "times_plum"], "semiring 'times_plum' over f64 is not supported"),
        (&["mxm", &a, "-o", "no-such-folder/out.mtx"], "no-such-folder/out.mtx: No such file"),
        (&["info", &a, "--spy", "no-such-folder/out.png"], "no-such-folder/out.png: No such file"),
        (&["info", "gen:nothing"], "case: no generated matrix is called 'nothing'"),
        (&["bench", "--case", "tc_rmat10", "no-such-file.mtx"], "no-such-file.mtx: No such file"),
        (&["bench", "--case", "tc_rmat10", "nothing"], "case: no generated matrix is called 'nothing'"),
        (&["devices", "--threads", "0"], "threads: 0 is not between 1 and 4096"),
    ] {
        for json in [&[][..], &["--json"]] {
            let arguments = [arguments, json].concat();
            let line = refused(&arguments);
            assert!(line.starts_with(&format!("sparring: {said}")), "{arguments:?}: {line}");
            assert_eq!(line.matches('\n').count(), 1, "{line}");
        }
    }
}

/// Three lines that declare 34 GB of row pointers, for a process limited to 8 GB.
#[cfg(target_os = "linux")]
#[test]
fn a_declared_size_beyond_memory_is_refused() {
    let path = file("huge.mtx", "%%MatrixMarket matrix coordinate real general\n4294967290 3 1\n1 1 1.0\n");
    for command in ["info", "triangles", "mxm"] {
        let script = format!("ulimit -v 8000000; exec {} {command} '{path}'", env!("CARGO_BIN_EXE_sparring"));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!(said, "sparring: out of memory: 34359738328 bytes are needed for row pointers\n");
    }
}

#[test]
fn wrong_usage_ends_with_2_and_help_with_0() {
    for arguments in [
        &[][..],
        &["dance"],
        &["triangles"],
        &["mxm", "a", "--accumulator", "abacus"],
        &["mxm", "a", "--repeat", "0"],
        &["bench", "cakes"],
        &["info", "a", "--threads", "many"],
    ] {
        assert!(!refused(arguments).is_empty());
    }
    assert!(text(&["--help"]).contains("triangles"));
    assert!(text(&["mxm", "--help"]).contains("kkspgemm"));
    assert_eq!(text(&["--version"]), format!("sparring {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn bench_gives_a_json_line_a_case() {
    let k4 = file("bench.mtx", COMPLETE);
    let lines = text(&["bench", "spgemm", "--case", "tc_rmat10", &k4, "--repeat", "2", "--json", "--threads", "2"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), lines[1]["case"].as_str()), (2, Some(k4.as_str())));
    let first = &lines[0];
    assert_eq!((first["case"].as_str(), first["threads"].as_u64()), (Some("tc_rmat10"), Some(2)));
    // As in the Python script.
    assert_eq!((first["flops"].as_u64(), first["nnz"].as_u64()), (Some(2_066_674), Some(451_447)));
    for (key, value) in [("sum", 2_068_600.151_000_059_6), ("wsum", 151_898_884.286_490_8)] {
        let found = first[key].as_f64().unwrap();
        assert!((found / value - 1.0).abs() < 1e-9, "{key} {found}");
    }
    for kind in ["compute_", "symbolic_", "numeric_", "reuse_", "unsorted_"] {
        let [median, minimum] = ["ms", "min_ms"].map(|end| first[format!("{kind}{end}")].as_f64().unwrap());
        assert!(0.0 < minimum && minimum <= median, "{kind}");
    }
    assert!(first["chosen"].is_string());
}

#[test]
fn bench_reads_files() {
    let k4 = file("bench_read.mtx", COMPLETE);
    let found = json(&["bench", "read", "--case", &k4, "--repeat", "2"]);
    assert_eq!((&found["op"], &found["case"], &found["nnz"]), (&"read".into(), &k4.as_str().into(), &12.into()));
    assert_eq!(found["bytes"], COMPLETE.len());
    assert!(found["compute_ms"].is_f64() && found["compute_min_ms"].is_f64() && found["mb_s"].is_f64(), "{found}");
    let said = text(&["bench", "read", "--case", &k4, "--repeat", "1", "--fresh-memory"]);
    assert!(said.lines().count() == 2 && said.contains("bench_read.mtx"), "{said}");
}

#[test]
fn bench_counts_triangles_and_takes_both_kinds_by_default() {
    let found = json(&["bench", "triangles", "--case", "tc_rmat10", "--repeat", "1"]);
    assert_eq!((found["triangles"].as_u64(), found["case"].as_str()), (Some(75_185), Some("tc_rmat10")));
    assert!(found["compute_ms"].as_f64() >= found["compute_min_ms"].as_f64() && found["method"].is_string());
    let said = text(&["bench", "--case", "tc_rmat10", "--repeat", "1"]);
    assert_eq!(said.lines().count(), 4, "{said}");
    assert!(said.contains("451,447") && said.contains("75,185"), "{said}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_sparring"))
        .args(["semirings"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_sparring")).arg("semirings").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.starts_with(b"sparring: standard output: No space left"));
}

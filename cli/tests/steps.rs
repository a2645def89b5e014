//! Single operations from the shell: their output, and refused calls.

mod program;

use program::{failed, file, json, refused, sparring, text};
use serde_json::json;

/// [1 2; 0 3], in a file named after the test.
fn small(name: &str) -> String {
    file(name, "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.0\n1 2 2.0\n2 2 3.0\n")
}

/// The entry lines that a command writes, integers without a decimal point.
#[track_caller]
fn entries(arguments: &[&str]) -> Vec<String> {
    let out = sparring(&[arguments, &["-o", "-"]].concat());
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{arguments:?}: {said}");
    let written = String::from_utf8(out.stdout).unwrap();
    written
        .lines()
        .skip_while(|line| line.starts_with('%'))
        .skip(1)
        .map(|line| line.trim_end_matches(".0").to_owned())
        .collect()
}

#[test]
fn entries_are_joined_where_they_are_wanted() {
    let a = small("steps_a.mtx");
    let b = file("steps_b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 10\n2 1 20\n");
    let both = |more: &[&str]| entries(&[&["ewise", &a, &b, "--op", "minus"], more].concat());
    assert_eq!(both(&[]), ["1 1 -9"]);
    assert_eq!(both(&["--on", "either"]), ["1 1 -9", "1 2 2", "2 1 20", "2 2 3"]);
    assert_eq!(both(&["--on", "union", "--alpha", "-1", "--beta", "100"]), ["1 1 -9", "1 2 -98", "2 1 -21", "2 2 -97"]);
    assert_eq!(both(&["--on", "either", "--mask", &a, "--complement"]), ["2 1 20"]);
    assert!(refused(&["ewise", &a, &b, "--op", "minos"]).contains("minos"));
}

#[test]
fn entries_are_mapped_and_selected() {
    let a = small("steps_map.mtx");
    assert_eq!(entries(&["apply", &a, "--op", "a*a + f64(j)"]), ["1 1 1", "1 2 5", "2 2 10"]);
    assert_eq!(entries(&["select", &a, "--op", "tril", "--scalar", "0"]), ["1 1 1", "2 2 3"]);
    assert_eq!(entries(&["select", &a, "--op", "a > s", "--scalar", "1.5"]), ["1 2 2", "2 2 3"]);
    assert!(refused(&["select", &a, "--op", "tril"]).contains("--scalar: tril needs a scalar of type i64"));
    assert!(refused(&["select", &a, "--op", "a > 1", "--scalar", "1"]).contains("takes no scalar"));
    assert!(refused(&["select", &a, "--op", "abs"]).contains("bool"));
}

#[test]
fn entries_are_folded() {
    let a = small("steps_fold.mtx");
    assert!(text(&["reduce", &a]).starts_with("6 of f64 by plus   read "));
    assert_eq!(json(&["reduce", &a, "--op", "max"])["value"], "3");
    assert_eq!(entries(&["reduce", &a, "--of", "rows"]), ["1 1 3", "2 1 3"]);
    assert_eq!(entries(&["reduce", &a, "--of", "columns"]), ["1 1 1", "2 1 5"]);
    assert_eq!(entries(&["reduce", &a, "--of", "columns", "--op", "argmax"]), ["1 1 0", "2 1 1"]);
    assert_eq!(entries(&["reduce", &a, "--of", "rows", "--op", "mean"]), ["1 1 1.5", "2 1 3"]);
    assert!(refused(&["reduce", &a, "--op", "argmax"]).contains("--of rows"));
    assert!(refused(&["reduce", &a, "--mask", &a]).contains("--of rows"));
}

#[test]
fn rows_and_columns_are_taken() {
    let a = small("steps_part.mtx");
    assert_eq!(entries(&["extract", &a, "--rows", "::-1", "--cols", "1,1"]), ["1 1 3", "1 2 3", "2 1 2", "2 2 2"]);
    assert_eq!(json(&["extract", &a, "--rows", "0:1"])["nrows"], 1);
    let said = refused(&["extract", &a, "--rows", "0:3"]);
    assert!(said.contains("rows: index 2 at position 2 of the list, of a dimension of 2"), "{said}");
    assert!(refused(&["extract", &a, "--cols", "1:x"]).contains("--cols"));
}

#[test]
fn a_vector_is_multiplied() {
    let a = small("steps_mxv.mtx");
    let x = file("steps_x.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n10\n");
    assert_eq!(entries(&["mxv", &a, &x]), ["1 1 21", "2 1 30"]);
    assert_eq!(entries(&["mxv", &a, &x, "--transpose"]), ["1 1 1", "2 1 32"]);
    assert_eq!(entries(&["mxv", &a, &x, "--semiring", "min_plus"]), ["1 1 2", "2 1 13"]);
    assert!(refused(&["mxv", &a, &a]).contains("2×2"));
}

#[test]
fn a_dense_matrix_is_multiplied() {
    let a = small("steps_spmm.mtx");
    let x = file("steps_spmm_x.csv", "1,0,10\n4,0,100\n");
    assert_eq!(entries(&["spmm", &a, &x]), ["1 1 9", "1 2 0", "1 3 210", "2 1 12", "2 2 0", "2 3 300"]);
    assert_eq!(entries(&["spmm", &a, &x, "--transpose"]), ["1 1 1", "1 2 0", "1 3 10", "2 1 14", "2 2 0", "2 3 320"]);
    assert_eq!(
        entries(&["spmm", &a, &x, "--semiring", "min_plus"]),
        ["1 1 2", "1 2 1", "1 3 11", "2 1 7", "2 2 3", "2 3 103"]
    );
    // A sparse X is 0 where it has no entry; an empty row of A gives the identity of ⊕.
    let b = file("steps_spmm_b.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 5\n");
    assert_eq!(entries(&["spmm", &b, &b]), ["1 1 0", "1 2 0", "2 1 0", "2 2 0"]);
    let max = entries(&["spmm", &b, &b, "--semiring", "max_plus", "--type", "i8"]);
    assert_eq!(max, ["1 1 5", "1 2 5", "2 1 -128", "2 2 -128"]);
    let mask = file("steps_spmm_m.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n");
    assert_eq!(entries(&["spmm", &a, &x, "--mask", &mask]), ["1 3 210", "2 1 12"]);
    let found = json(&["spmm", &a, &x, "--type", "i64"]);
    assert_eq!((&found["type"], &found["nnz"], &found["sum"]), (&"i64".into(), &6.into(), &531.into()));
    assert!(refused(&["spmm", &a, "no.npy"]).contains("no.npy"));
    let three = file("steps_spmm_3.csv", "1\n2\n3\n");
    assert!(refused(&["spmm", &a, &three]).contains("lhs is 2×2, rhs is 3×1"));
    assert!(refused(&["spmm", &a, &x, "--semiring", "min_pls"]).contains("min_pls"));
}

#[test]
fn parts_are_written() {
    let a = small("steps_assign.mtx");
    let b = file("steps_assign_b.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 10\n");
    assert_eq!(entries(&["assign", &a, &b, "--rows", "0"]), ["1 1 10", "2 2 3"]);
    assert_eq!(entries(&["assign", &a, &b, "--rows", "1", "--cols", "::-1"]), ["1 1 1", "1 2 2", "2 2 10"]);
    assert_eq!(entries(&["assign", &a, &b, "--rows", "0", "--accum", "minus"]), ["1 1 -9", "1 2 2", "2 2 3"]);
    assert_eq!(
        entries(&["assign", &a, "--value", "-5", "--mask", &a, "--complement"]),
        ["1 1 1", "1 2 2", "2 1 -5", "2 2 3"]
    );
    assert_eq!(
        entries(&["assign", &a, "--value", "7", "--rows", "1", "--mask", &a, "--replace"]),
        ["1 1 1", "1 2 2", "2 2 7"]
    );
    let found = json(&["assign", &a, "--value", "2"]);
    assert_eq!((&found["operator"], &found["sum"]), (&"assign".into(), &8.0.into()));
    assert!(refused(&["assign", &a, &b]).contains("2×2"));
    assert!(refused(&["assign", &a]).contains("<A>"));
    assert!(refused(&["assign", &a, "--value", "x"]).contains("no parameter x"));
    assert!(refused(&["assign", &a, "--value", "1", "--replace"]).contains("--mask"));
}

#[test]
fn entries_are_scattered() {
    let u = file("steps_u.mtx", "%%MatrixMarket matrix array integer general\n3 1\n1\n10\n100\n");
    let at = file("steps_at.mtx", "%%MatrixMarket matrix array integer general\n1 3\n3\n0\n3\n");
    assert_eq!(entries(&["scatter", &u, "--to", "1,0,1", "--len", "3"]), ["1 1 10", "2 1 101"]);
    assert_eq!(entries(&["scatter", &u, &at, "--len", "4", "--op", "minus"]), ["1 1 10", "4 1 -99"]);
    assert!(refused(&["scatter", &u, &at, "--len", "3"]).contains("index 3 at position 0"));
    assert!(refused(&["scatter", &u, "--to", "0,1", "--len", "3"]).contains("3"));
    assert!(refused(&["scatter", &u, "--len", "3"]).contains("<PLACES>"));
}

#[test]
fn matrices_are_put_together() {
    let a = small("steps_blocks.mtx");
    let x = file("steps_diag.mtx", "%%MatrixMarket matrix array real general\n2 1\n5\n6\n");
    assert_eq!(entries(&["diag", &x]), ["1 1 5", "2 2 6"]);
    assert_eq!(entries(&["diag", &x, "--diagonal", "-1"]), ["2 1 5", "3 2 6"]);
    assert_eq!(entries(&["diag", &a, "--extract"]), ["1 1 1", "2 1 3"]);
    assert_eq!(entries(&["diag", &a, "--extract", "--diagonal", "1"]), ["1 1 2"]);
    assert!(refused(&["diag", &a]).contains("2×2"));
    assert_eq!(entries(&["concat", &a, &x]), ["1 1 1", "1 2 2", "1 3 5", "2 2 3", "2 3 6"]);
    assert_eq!(entries(&["concat", &x, &x, "--across", "1"]), ["1 1 5", "2 1 6", "3 1 5", "4 1 6"]);
    assert_eq!(json(&["concat", &a, &a, &a, &a, "--across", "2"])["ncols"], 4);
    assert_eq!(entries(&["concat", &a, "--mask", &a, "--complement"]), [""; 0]);
    assert!(refused(&["concat", &a, &a, &a, "--across", "2"]).contains("--across: 3 matrices with 2 per row"));
    assert_eq!(entries(&["resize", &a, "--ncols", "1"]), ["1 1 1"]);
    let found = json(&["resize", &a, "--nrows", "5", "--ncols", "1"]);
    assert_eq!((&found["nrows"], &found["ncols"], &found["nnz"]), (&5.into(), &1.into(), &1.into()));
    assert!(refused(&["resize", &a]).contains("--nrows"));
}

/// The elements of a NumPy array file, as words of this many bytes.
fn npy(path: &str, size: usize) -> (String, Vec<u64>) {
    let bytes = std::fs::read(path).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let words = bytes[start..].chunks(size).map(|word| word.iter().rev().fold(0, |x, &byte| x << 8 | u64::from(byte)));
    (String::from_utf8_lossy(&bytes[10..start]).into_owned(), words.collect())
}

/// 0 → 1 → 2 → 0 and 2 → 3, with weights 1, 2, 4 and 8.
fn ring(name: &str) -> String {
    file(name, "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 2 1\n2 3 2\n3 1 4\n3 4 8\n")
}

#[test]
fn distances_of_all_pairs_are_written_and_bounded() {
    let a = ring("steps_apsp.mtx");
    let found = json(&["apsp", &a]);
    assert_eq!([&found["reached"], &found["longest"], &found["sum"]], [&json!(9), &json!(11.0), &json!(50.0)]);
    assert!(
        text(&["apsp", &a]).starts_with("9 pairs of vertices are connected, path length at most 11, on average 5.55")
    );
    let out = file("steps_apsp.npy", "");
    json(&["apsp", &a, "-o", &out]);
    let (header, words) = npy(&out, 8);
    let row: Vec<f64> = words[4..8].iter().map(|&word| f64::from_bits(word)).collect();
    assert!(header.contains("'fortran_order': False, 'shape': (4, 4)"), "{header}");
    assert_eq!((row, f64::from_bits(words[12])), (vec![6.0, 0.0, 2.0, 10.0], f64::INFINITY));
    assert_eq!(entries(&["apsp", &a])[12..], ["4 4 0"]);
    // 4 × 4 doubles are 128 bytes; conversion to a sparse matrix stores them again, with indices.
    json(&["apsp", &a, "--memory-budget", "128"]);
    let said = failed(&["apsp", &a, "--memory-budget", "127"], 1);
    assert_eq!(said, "sparring: memory budget: the result needs 128 bytes, the budget is 127 bytes\n");
    if cfg!(target_os = "linux") {
        let head = "%%MatrixMarket matrix coordinate real general";
        let large = file("steps_apsp_large.mtx", &format!("{head}\n1000000 1000000 1\n1 2 1\n"));
        let said = failed(&["apsp", &large], 1);
        assert_eq!(said, "sparring: out of memory: 8000000000000 bytes are needed for the result\n");
    }
    assert!(refused(&["sssp", &a, "--source", "0", "--memory-budget", "1G"]).contains("in proportion to the graph"));
}

#[test]
fn searches_from_several_sources_are_columns() {
    let a = ring("steps_sources.mtx");
    let found = json(&["bfs", &a, "--source", "0,3"]);
    assert_eq!([&found["sources"], &found["reached"], &found["depth"]], [&json!([0, 3]), &json!(5), &json!(3)]);
    assert_eq!([&json(&["bfs", &a, "--source", "3"])["source"], &found["source"]], [&json!(3), &json!(null)]);
    assert!(text(&["bfs", &a, "--source", "0,3"]).starts_with("5 of 2 × 4 vertices reached from 2 sources, at most 3"));
    assert_eq!(entries(&["bfs", &a, "--source", "0,3"]), ["1 1 0", "2 1 1", "3 1 2", "4 1 3", "4 2 0"]);
    let out = file("steps_sources.npy", "");
    json(&["bfs", &a, "--source", "0", "--source", "3", "-o", &out]);
    let far = u64::from(u32::MAX);
    let (header, words) = npy(&out, 4);
    assert!(header.contains("'fortran_order': True, 'shape': (4, 2)"), "{header}");
    assert_eq!(words, [0, 1, 2, 3, far, far, far, 0]);
    let table = file("steps_sources.csv", "");
    json(&["bfs", &a, "--source", "0,3", "-o", &table]);
    let lines = std::fs::read_to_string(&table).unwrap();
    assert_eq!(lines, format!("0,{far}\n1,{far}\n2,{far}\n3,0\n"));
    json(&["bfs", &a, "--source", "3", "-o", &out]);
    assert_eq!(npy(&out, 4).1, [far, far, far, 0]);
    json(&["mis", &a, "-o", &out]);
    assert!(npy(&out, 4).1.iter().all(|&member| member < 2));
    assert!(refused(&["bfs", &a, "--source", "0,3", "--parents"]).contains("--parents: a breadth-first tree needs"));
    assert!(refused(&["bfs", &a, "--source", "0,4"]).contains("sources: vertex 4 of a graph of 4"));
    assert!(refused(&["bfs", &a]).contains("--source"));
}

#[test]
fn communities_in_a_file_are_judged() {
    let a = ring("steps_modularity.mtx");
    let labels = file("steps_labels.csv", "-7\n-7\n-7\n2.5\n");
    let judged = ["modularity", &a, "--kind", "undirected", "--communities", &labels];
    let found = json(&[&judged[..], &["--weighted"]].concat());
    assert!((found["modularity"].as_f64().unwrap() + 128.0 / 900.0).abs() < 1e-12, "{found}");
    assert_eq!([&found["communities"], &found["largest"]], [&json!(2), &json!(3)]);
    assert!(text(&judged).starts_with("2 communities of modularity -0.03125"), "{}", text(&judged));
    assert_eq!(entries(&judged), ["1 1 0", "2 1 0", "3 1 0", "4 1 1"]);
    let made = file("steps_made.npz", "");
    let leiden = json(&["leiden", &a, "--kind", "undirected", "--weighted", "-o", &made]);
    let again = json(&["modularity", &a, "--kind", "undirected", "--weighted", "--communities", &made]);
    let [left, right] = [leiden, again].map(|found| found["modularity"].as_f64().unwrap());
    assert!((left - right).abs() < 1e-12, "{left} {right}");
    let short = file("steps_short.csv", "1\n2\n");
    let said = refused(&["modularity", &a, "--communities", &short]);
    assert!(said.contains("--communities: ") && said.contains("2×1, but the graph has 4 vertices"), "{said}");
    assert!(
        refused(&["modularity", &a, "--communities", "no-such-file.mtx"]).contains("no-such-file.mtx: No such file")
    );
}

#[test]
fn communities_are_drawn() {
    let data = |name: &str| format!("{}/../data/{name}.mtx.gz", env!("CARGO_MANIFEST_DIR"));
    let (club, votes, svg) = (data("karate"), data("wiki-Vote"), file("steps_drawn.svg", ""));
    let drawn = |words: &[&str]| {
        text(&[words, &["--kind", "undirected", "--plot", &svg]].concat());
        std::fs::read_to_string(&svg).unwrap()
    };
    let picture = drawn(&["leiden", &club]);
    assert!(picture.contains("34 vertices, 78 edges, 4 parts"), "{picture}");
    // A disc and its border for each vertex, a line for each edge.
    let count = |of: &str| picture.matches(of).count();
    assert_eq!((count("<circle"), count("<polyline")), (2 * 34, 78));
    assert_eq!(drawn(&["leiden", &club]), picture, "the same picture again");
    let circles = drawn(&["louvain", &votes]);
    assert!(circles.contains("area by vertices") && circles.contains("7,115 vertices"), "{circles}");
    assert!(drawn(&["leiden", &club, "--plot-kind", "sizes"]).contains("rank of the community"));
    assert!(drawn(&["components", &club]).contains("rank of the component"));
    let whole = drawn(&["components", &club, "--plot-kind", "drawing"]);
    assert!(whole.contains("78 edges, 1 part") && !whole.contains("1 parts"), "{whole}");
    let png = file("steps_drawn.png", "");
    text(&["cdlp", &club, "--plot", &png]);
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    assert!(refused(&["leiden", &club, "--plot-kind", "sizes"]).contains("--plot <FILE>"));
    assert!(refused(&["kcore", &club, "--plot", &svg, "--plot-kind", "sizes"]).contains("--plot-kind"));
}

#[test]
fn rows_are_matched_with_columns_of_another_number() {
    // Row 0 has columns 0 and 1; rows 1 and 2 have only column 0.
    let head = "%%MatrixMarket matrix coordinate pattern general";
    let tall = file("steps_tall.mtx", &format!("{head}\n3 2 4\n1 1\n1 2\n2 1\n3 1\n"));
    let found = json(&["matching", &tall]);
    assert_eq!([&found["nrows"], &found["ncols"], &found["size"]], [&json!(3), &json!(2), &json!(2)]);
    assert_eq!((&found["kind"], &found["edges"]), (&json!("bipartite"), &json!(4)));
    assert!(text(&["matching", &tall]).starts_with("2 pairs   bipartite: 3 × 2 vertices, 4 edges   read"));
    assert_eq!(entries(&["matching", &tall]), ["1 1 1", "2 1 0"]);
    let wide = file("steps_wide.mtx", &format!("{head}\n2 3 4\n1 1\n2 1\n1 2\n1 3\n"));
    let out = file("steps_pairs.npy", "");
    assert_eq!(json(&["matching", &wide, "-o", &out])["size"], 2);
    assert_eq!(npy(&out, 4).1, [1, 0]);
    assert!(json(&["matching", &ring("steps_matching.mtx")]).get("ncols").is_none());
    assert!(refused(&["matching", &wide, "--kind", "directed"]).contains("2×3"));
    assert!(refused(&["kcore", &wide]).contains("2×3"));
}

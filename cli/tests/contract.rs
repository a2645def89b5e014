//! The commands `einsum` and `bench contract`: results, layouts of arrays, texts, exit codes.

mod program;

use program::{failed, json, lines, refused, scratch, sparring, text};
use serde_json::json as value;

/// A NumPy array file.
fn array(name: &str, descr: &str, by_columns: bool, shape: &str, bytes: &[u8]) -> String {
    let order = if by_columns { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let path = scratch(name);
    let len = (header.len() as u16).to_le_bytes();
    std::fs::write(&path, [b"\x93NUMPY\x01\x00", &len[..], header.as_bytes(), bytes].concat()).unwrap();
    path.to_str().unwrap().into()
}

fn doubles(name: &str, shape: &str, values: &[f64]) -> String {
    array(name, "<f8", false, shape, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

fn path(name: &str) -> String {
    scratch(name).to_str().unwrap().into()
}

/// The header of a written file, and its elements.
fn read(path: &str) -> (String, Vec<f64>) {
    let bytes = std::fs::read(path).unwrap();
    let len = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8(bytes[10..10 + len].to_vec()).unwrap();
    assert_eq!((10 + len) % 64, 0);
    let elements = bytes[10 + len..].chunks(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect();
    (header.trim().into(), elements)
}

const A: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 1.0, 0.0];
const B: [f64; 8] = [5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0];
/// Two products of 2 × 2 matrices.
const C: [f64; 8] = [19.0, 22.0, 43.0, 50.0, 3.0, 4.0, 1.0, 2.0];

/// Type, rows, and NumPy's sums of the result for the script's arrays of 300 matrices.
const EXPECTED_GEMM: [(&str, u64, f64, f64); 4] = [
    ("f64", 2, -4.30027148179116, -3.5568467153831422),
    ("f64", 5, 1.3259921159680137, 2.682562460641171),
    ("f32", 2, 3.1226778929121792, 1.6581712849006132),
    ("f32", 5, -7.112623528984841, -3.0404771426428576),
];
/// Case, order, elements, and NumPy's sums.
const EXPECTED_ELEMENTS: [(&str, u64, u64, f64, f64); 7] = [
    ("act2d", 2, 3672, -42.0918409779623, -18.61677675500323),
    ("act2d", 5, 1032, 153.59422109714043, 46.74399176691286),
    ("act3d", 2, 1056, -13.902819843939954, -7.7311445852789245),
    ("act3d", 5, 160, -246.66202483290857, -133.68516662765205),
    ("asm2d", 2, 1288, 1306.7917759648035, 647.2292311813969),
    ("asm2d", 5, 88, 7760.293642549581, 3839.072279630619),
    ("asm3d", 2, 152, 155.83710991996978, 76.92119026391231),
];

#[test]
fn batches_of_products() {
    let (a, b, c) = (doubles("ein-a.npy", "(2, 2, 2)", &A), doubles("ein-b.npy", "(2, 2, 2)", &B), path("ein-c.npy"));
    let found = json(&["einsum", "bij,bjk->bik", &a, &b, "-o", &c, "--threads", "2"]);
    assert_eq!(read(&c), ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2), }".into(), C.to_vec()));
    for (key, expected) in [
        ("dims", value!([2, 2, 2])),
        ("sum", value!(144.0)),
        ("path", value!([[0, 1]])),
        ("type", value!("f64")),
        ("semiring", value!("plus_times")),
        ("bytes", value!(192)),
        ("threads", value!(2)),
    ] {
        assert_eq!(found[key], expected, "{key}");
    }
    for key in ["compute_ms", "gb_s", "stream_gb_s", "pct_stream"] {
        assert!(found[key].as_f64().unwrap() > 0.0, "{key}: {found}");
    }
    assert!(found["workspace_bytes"].is_u64());
    let said = text(&["einsum", "bij,bjk->bik", &a, &b]);
    assert!(said.starts_with("2 × 2 × 2 of f64 over plus_times   sum 144\npath 0·1   workspace "), "{said}");
    assert!(said.contains(" GB/s: ") && said.contains(" % of c += a·b, which moves "), "{said}");
    // Written and read again, compressed; a single element.
    let packed = path("ein-c.npy.gz");
    text(&["einsum", "bij->jib", &c, "-o", &packed]);
    let whole = text(&["einsum", "jib->", &packed]);
    assert!(whole.starts_with("one element of f64 over plus_times   sum 144\npath one operand"), "{whole}");
}

#[test]
fn names_choose_the_semiring() {
    let (a, b, c) =
        (doubles("ring-a.npy", "(2, 2, 2)", &A), doubles("ring-b.npy", "(2, 2, 2)", &B), path("ring-c.npy"));
    let by = |f: fn(f64, f64) -> f64, g: fn(f64, f64) -> f64| {
        let at = |x: &[f64; 8], b: usize, i: usize, j: usize| x[4 * b + 2 * i + j];
        let one = |p: usize| {
            let (b, i, k) = (p / 4, p / 2 % 2, p % 2);
            f(g(at(&A, b, i, 0), at(&B, b, 0, k)), g(at(&A, b, i, 1), at(&B, b, 1, k)))
        };
        (0..8).map(one).collect::<Vec<_>>()
    };
    for (name, expected) in [
        ("plus_times", C.to_vec()),
        ("min_plus", by(f64::min, |a, b| a + b)),
        ("tropical", by(f64::min, |a, b| a + b)),
        ("max_plus", by(f64::max, |a, b| a + b)),
        ("max_times", by(f64::max, |a, b| a * b)),
        ("min_max", by(f64::min, f64::max)),
        ("max_min", by(f64::max, f64::min)),
    ] {
        text(&["einsum", "bij,bjk->bik", &a, &b, "-o", &c, "--semiring", name]);
        assert_eq!(read(&c).1, expected, "{name}");
    }
    let why = refused(&["einsum", "bij,bjk->bik", &a, &b, "--semiring", "min_plsu"]);
    assert!(why.contains("min_plsu") && why.contains("did you mean min_plus?"), "{why}");
}

#[test]
fn results_are_scaled_and_accumulated_by_columns_too() {
    let bytes = |x: &[f64]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    // [1 2 3; 4 5 6] in column-major order; the array to accumulate to is column-major too.
    let a = array("order-a.npy", "<f8", true, "(2, 3)", &bytes(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    let start = array("order-start.npy", "<f8", true, "(3, 2)", &bytes(&[10.0, 20.0, 30.0, 40.0, 50.0, 60.0]));
    let c = path("order-c.npy");
    text(&["einsum", "ij->ji", &a, "-o", &c]);
    assert_eq!(read(&c).1, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let found = json(&["einsum", "ij->ji", &a, "--alpha", "-2", "--accumulate", &start, "-o", &c, "--repeat", "3"]);
    let (header, elements) = read(&c);
    assert_eq!(header, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }");
    assert_eq!(elements, [8.0, 16.0, 24.0, 32.0, 40.0, 48.0]);
    // Operand, accumulated array, and result.
    assert_eq!((found["bytes"].as_u64(), found["repeat"].as_u64()), (Some(18 * 8), Some(3)));
    text(&["einsum", "ij->ji", &a, "--beta", "0.5", "--accumulate", &start, "-o", &c]);
    assert_eq!(read(&c).1, [6.0, 12.0, 18.0, 24.0, 30.0, 36.0]);
    let list = doubles("order-list.npy", "(3,)", &[1.0, 2.0, 3.0]);
    text(&["einsum", "i->i", &list, "-o", &c]);
    assert_eq!(read(&c), ("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }".into(), vec![1.0, 2.0, 3.0]));
    // Big-endian.
    let high = array("order-high.npy", ">f8", false, "(1, 2)", &[1.5f64.to_be_bytes(), 2f64.to_be_bytes()].concat());
    assert_eq!(json(&["einsum", "ij->", &high])["sum"], 3.5);
}

#[test]
fn elements_of_other_types() {
    let ints: Vec<u8> = [i64::MAX, 1, 2, 3].iter().flat_map(|x| x.to_le_bytes()).collect();
    let ints = array("type-i8.npy", "<i8", false, "(2, 2)", &ints);
    let found = json(&["einsum", "ij->i", &ints]);
    // Sums of i64 wrap, the reported total does not.
    assert_eq!((found["type"].as_str(), found["sum"].as_i64()), (Some("i64"), Some(i64::MIN + 5)));
    let truth = array("type-b1.npy", "|b1", false, "(2, 2)", &[1, 0, 0, 0]);
    let found = json(&["einsum", "ij,jk->ik", &truth, &truth, "--semiring", "lor_land"]);
    assert_eq!((found["type"].as_str(), found["sum"].as_i64()), (Some("bool"), Some(1)));
    let singles: Vec<u8> = [0.5f32, 1.5].iter().flat_map(|x| x.to_le_bytes()).collect();
    let singles = array("type-f4.npy", "<f4", false, "(2,)", &singles);
    let found = json(&["einsum", "i,i->", &singles, &singles, "--alpha", "2"]);
    assert_eq!((found["type"].as_str(), found["sum"].as_f64()), (Some("f32"), Some(5.0)));
    let why = refused(&["einsum", "i,jk->", &singles, &ints]);
    assert!(why.contains("type-i8.npy has elements of the type i8") && why.contains("of the type f4"), "{why}");
    let small = array("type-i2.npy", "<i2", false, "(1,)", &[1, 0]);
    let found = json(&["einsum", "i,j->ij", &small, &small, "--alpha", "7"]);
    assert_eq!((found["type"].as_str(), found["sum"].as_i64()), (Some("i16"), Some(7)));
    assert!(refused(&["einsum", "i->", &small, "--alpha", "0.5"]).contains("--alpha: '0.5' is not a valid i16"));
    assert!(refused(&["einsum", "ij->", &ints, "--alpha", "0.5"]).contains("--alpha: '0.5' is not a valid i64"));
}

#[test]
fn what_is_wrong_is_named() {
    let (a, b) = (doubles("bad-a.npy", "(2, 2, 2)", &A), doubles("bad-b.npy", "(4, 2)", &B));
    let why = refused(&["einsum", "bij,bjk->bil", &a, &a]);
    assert!(why.ends_with("no operand has this index of the result\n  bij,bjk->bil\n             ^\n"), "{why}");
    let why = refused(&["einsum", "bij,bjk->bik", &a, &b]);
    assert!(why.contains("operand 1 has 3 letters and 2 indices\n"), "{why}");
    let why = refused(&["einsum", "bij,kj->bik", &a, &a]);
    assert!(why.contains("operand 1 has 2 letters and 3 indices"), "{why}");
    let why = refused(&["einsum", "bij,bk->ik", &a, &b]);
    assert!(why.contains("b has 4 values in operand 1, 2 in operand 0"), "{why}");
    assert!(refused(&["einsum", "bij->", &a, &a]).contains("1 operands are named, 2 are given"));
    assert!(refused(&["einsum", "ij->ji", &b, "--accumulate", &b]).contains("[2, 4]"));
    assert!(refused(&["einsum", "ij->ij", &b, "--beta", "2"]).contains("--accumulate"));
    assert!(refused(&["einsum", "ij->", "no/such.npy"]).contains("no/such.npy: "));
    assert!(refused(&["einsum", "ij->", "a.mtx"]).contains("'a.mtx' ends in neither .npy nor .npy.gz"));
    assert!(refused(&["einsum", "ij->", &b, "-o", "c.txt"]).contains("'c.txt' ends in none of .mtx"));
    assert!(refused(&["einsum", "ij->"]).contains("<FILE>"));
    let short = array("bad-short.npy", "<f8", false, "(2, 2)", &[0; 31]);
    assert!(refused(&["einsum", "ij->", &short]).contains("31 bytes are no array of shape [2, 2]"));
    let cut = path("bad-cut.npy");
    std::fs::write(&cut, b"\x93NUMPY\x01\x00\x09").unwrap();
    assert!(refused(&["einsum", "ij->", &cut]).contains("bad-cut.npy is not supported: it is no array of NumPy"));
    assert!(failed(&["einsum", "ij->", &b, "--max-bytes", "100"], 1).contains("the budget is 100 bytes"));
    let why = failed(&["einsum", "ij,kl->ijkl", &b, &b, "--memory-budget", "300"], 1);
    assert!(why.contains("einsum") && why.contains("300"), "{why}");
    // Enough for the result, but not for the bandwidth measurement.
    let said = text(&["einsum", "ij,kl->ijkl", &b, &b, "--memory-budget", "100K"]);
    assert!(said.contains("the memory budget has no room"), "{said}");
}

#[test]
fn arrays_without_elements() {
    let (none, b) = (doubles("none.npy", "(0, 2)", &[]), doubles("none-b.npy", "(4, 2)", &B));
    let c = path("none-c.npy");
    let found = json(&["einsum", "ij,kj->ik", &none, &b, "-o", &c]);
    assert_eq!((found["dims"].clone(), found["sum"].as_f64()), (value!([0, 4]), Some(0.0)));
    assert_eq!(read(&c).1, [0.0; 0]);
    text(&["einsum", "ij,kl->jk", &none, &b, "-o", &c, "--semiring", "min_plus"]);
    assert_eq!(read(&c).1, [f64::INFINITY; 8]);
}

#[test]
fn contractions_are_measured() {
    let small = ["--repeat", "2", "--threads", "2"];
    let bench = |more: &[&str]| lines(&[&["bench", "contract"], more, &small].concat());
    let found = bench(&["--case", "gemm", "--n", "2,5", "--batch", "300"]);
    assert_eq!(found.len(), 4);
    for (line, (ty, size, sum, wsum)) in found.iter().zip(EXPECTED_GEMM) {
        assert_eq!((line["op"].as_str(), line["type"].as_str()), (Some("contract"), Some(ty)));
        assert_eq!((line["size"].as_u64(), line["batch"].as_u64()), (Some(size), Some(300)));
        let near = |key: &str, x: f64, tolerance: f64| (line[key].as_f64().unwrap() - x).abs() < tolerance;
        let tolerance = if ty == "f64" { 1e-11 } else { 1e-4 };
        assert!(near("sum", sum, tolerance) && near("wsum", wsum, tolerance), "{line}");
        assert!(
            line["compute_min_ms"].as_f64() <= line["compute_ms"].as_f64() && line["pct_stream"].as_f64() > Some(0.0),
            "{line}"
        );
    }
    let found = bench(&["--case", "act2d,act3d,asm2d,asm3d", "--order", "2,5", "--fem-mb", "1", "--floats", "f64"]);
    assert_eq!(found.len(), 7);
    for (line, (case, size, batch, sum, wsum)) in found.iter().zip(EXPECTED_ELEMENTS) {
        assert_eq!((line["case"].as_str(), line["size"].as_u64()), (Some(case), Some(size)));
        assert_eq!(line["batch"].as_u64(), Some(batch), "{case}");
        let near = |key: &str, x: f64| (line[key].as_f64().unwrap() - x).abs() < 1e-9 * x.abs();
        assert!(near("sum", sum) && near("wsum", wsum), "{line}");
    }
    assert!(refused(&["bench", "contract", "--case", "gem"]).contains("no contraction is called 'gem'"));
    assert!(refused(&["bench", "contract", "--case", "gemm", "--n", "0"]).contains("--n: 0 is not in 1 to 64"));
    assert!(refused(&["bench", "contract", "--batch", "many"]).contains("neither a number nor auto"));
    assert!(refused(&["bench", "mttkrp", "--n", "3"]).contains("bench contract"));
    let shown = sparring(&["bench", "contract", "--case", "gemm", "--n", "3", "--batch", "20", "--floats", "f32"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.starts_with("case ") && shown.contains("gemm   f32    3         20 "), "{shown}");
}

/// Elements of an i64 or f64 file.
fn numbers<T>(path: &str, of: fn([u8; 8]) -> T) -> Vec<T> {
    let bytes = std::fs::read(path).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[start..].chunks(8).map(|x| of(x.try_into().unwrap())).collect()
}

#[test]
fn any_semiring_and_expressions_as_numpy_reads_them() {
    let (a, b) = (doubles("any-a.npy", "(2, 2, 2)", &A), doubles("any-b.npy", "(2, 2, 2)", &B));
    let c = path("any-c.npy");
    let over = |ring: &str| text(&["einsum", "bij,bjk->bik", &a, &b, "-o", &c, "--semiring", ring]);
    over("min, a + 2*b");
    let at = |x: &[f64; 8], b: usize, i: usize, j: usize| x[4 * b + 2 * i + j];
    let want = |f: fn(f64, f64) -> f64, g: fn(f64, f64) -> f64| -> Vec<f64> {
        let one = |p: usize| {
            let (b, i, k) = (p / 4, p / 2 % 2, p % 2);
            f(g(at(&A, b, i, 0), at(&B, b, 0, k)), g(at(&A, b, i, 1), at(&B, b, 1, k)))
        };
        (0..8).map(one).collect()
    };
    assert_eq!(read(&c).1, want(f64::min, |a, b| a + 2.0 * b));
    over("max_first");
    assert_eq!(read(&c).1, want(f64::max, |a, _| a));
    // `...`, an implicit result, indices of extent 1.
    for expression in ["...ij,...jk", "...ij,...jk->...ik"] {
        text(&["einsum", expression, &a, &b, "-o", &c]);
        assert_eq!(read(&c).1, C, "{expression}");
    }
    // b occurs in both operands, so it is summed.
    text(&["einsum", "bij,bjk", &a, &b, "-o", &c]);
    assert_eq!(read(&c).1, [22.0, 26.0, 44.0, 52.0]);
    let (row, column) =
        (doubles("any-row.npy", "(1, 3)", &[1., 2., 3.]), doubles("any-col.npy", "(2, 1)", &[10., 20.]));
    text(&["einsum", "ij,ij", &row, &column, "-o", &c]);
    assert_eq!(read(&c), ("{'descr': '<f8', 'fortran_order': False, 'shape': (), }".into(), vec![180.0]));
    text(&["einsum", "...,...", &row, &column, "-o", &c]);
    assert_eq!(read(&c).1, [10.0, 20.0, 30.0, 20.0, 40.0, 60.0]);
    let why = refused(&["einsum", "...i->i", &row]);
    assert!(why.contains("the result needs `...`"), "{why}");
    // Small integers wrap in their own type.
    let bytes = array("any-u1.npy", "|u1", false, "(3,)", &[200, 100, 1]);
    let found = json(&["einsum", "i,i->i", &bytes, &bytes]);
    assert_eq!(
        (found["type"].as_str(), found["sum"].as_u64()),
        (Some("u8"), Some(u64::from(200u8.wrapping_mul(200)) + 16 + 1))
    );
    // α, β and the array to accumulate to, which is column-major.
    let ints = |name: &str, by_columns, x: &[i32]| {
        array(name, "<i4", by_columns, "(2, 2)", &x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
    };
    let (x, start) = (ints("any-i4.npy", false, &[1, 2, 3, 4]), ints("any-start.npy", true, &[10, 20, 30, 40]));
    let table = path("any-out.csv");
    text(&["einsum", "ij->ij", &x, "--alpha", "2", "--beta", "-1", "--accumulate", &start, "-o", &table]);
    assert_eq!(std::fs::read_to_string(&table).unwrap(), "-8,-26\n-14,-32\n");
    let why = refused(&["einsum", "bij->bij", &a, "-o", &table]);
    assert!(why.contains("a result of 3 indices is written as .npy"), "{why}");
}

#[test]
fn arrays_come_and_go_by_standard_streams() {
    use std::process::{Command, Stdio};
    let a = doubles("pipe-a.npy", "(2, 2)", &A[..4]);
    let run = |arguments: &[&str], input: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_sparring"));
        program.args(arguments).stdin(std::fs::File::open(input).unwrap()).stderr(Stdio::piped());
        program.output().unwrap()
    };
    let out = run(&["einsum", "ij,jk->ik", "-", &a, "-o", "-"], &a);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success() && said.starts_with("2 × 2 of f64 over plus_times   sum 54"), "{said}");
    let made = path("pipe-c.npy");
    std::fs::write(&made, &out.stdout).unwrap();
    assert_eq!(numbers(&made, f64::from_le_bytes), [7.0, 10.0, 15.0, 22.0]);
    let out = run(&["einsum", "ij,jk->ik", "-", &a, "-o", "-", "--output-format", "csv", "--json"], &a);
    assert_eq!(String::from_utf8_lossy(&out.stdout), "7.0,10.0\n15.0,22.0\n");
    let line: serde_json::Value = serde_json::from_slice(&out.stderr).unwrap();
    assert_eq!((&line["command"], &line["sum"]), (&value!("einsum"), &value!(54.0)));
}

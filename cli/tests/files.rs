//! Files of every kind, standard input and output, leftovers of interrupted and failed writes, and files that would
//! fill the memory.

mod program;

use std::io::{Cursor, Write};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use program::{failed, file, json, refused, scratch, text};
use zip::write::{SimpleFileOptions, ZipWriter};

/// [1.5 0 −2; 0 0 4], with an empty column.
const SMALL: &str = "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1.5\n1 3 -2.0\n2 3 4.0\n";

fn path(name: &str) -> String {
    scratch(name).to_str().unwrap().into()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A zip archive with these files.
fn zipped(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Runs the program with this standard input; returns exit code, standard output and standard error.
fn fed(arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sparring"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may reject the input before its end.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, err)
}

#[test]
fn every_kind_of_file_is_written_and_read_again() {
    let a = file("kinds.mtx", SMALL);
    let ends =
        "mtx mtx.gz mtx.zst mm npz npy npy.gz npy.zst csv CSV csv.gz csv.ZST svm svmlight.gz svmlight.zst libsvm";
    for end in ends.split(' ') {
        let (there, back) = (path(&format!("kinds-there.{end}")), path("kinds-back.mtx"));
        let found = json(&["convert", &a, &there]);
        assert_eq!((found["nnz"].as_u64(), found["type"].as_str()), (Some(3), Some("f64")), "{end}");
        let written = std::fs::read(&there).unwrap();
        assert_eq!(written.starts_with(&[0x1f, 0x8b]), end.ends_with("gz"), "{end}");
        assert_eq!(written.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]), end.to_lowercase().ends_with("zst"), "{end}");
        json(&["convert", &there, &back]);
        assert_eq!(std::fs::read_to_string(&back).unwrap(), SMALL, "{end}");
        assert_eq!(json(&["info", &there])["nnz"], 3, "{end}");
    }
    assert_eq!(std::fs::read_to_string(path("kinds-there.csv")).unwrap(), "1.5,0,-2.0\n0,0,4.0\n");
    assert_eq!(std::fs::read_to_string(path("kinds-there.svm")).unwrap(), "0 1:1.5 3:-2.0\n0 3:4.0\n");
    let array = std::fs::read(path("kinds-there.npy")).unwrap();
    let header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
    assert!(array.starts_with(header) && array.len() == 128 + 6 * 8 && array[127] == b'\n');
}

/// Version 7.3 as well, by the names of variables and fields.
#[test]
fn mat_files_are_read() {
    let mat = |name: &str| format!("{}/../tests/golden/mat/{name}", env!("CARGO_MANIFEST_DIR"));
    for (name, variable) in [("problem.mat", "Problem.A"), ("problem73.mat", "Problem.A"), ("several73.mat", "A")] {
        let back = path("mat-back.mtx");
        json(&["convert", &mat(name), &back, "--variable", variable]);
        let written = std::fs::read_to_string(&back).unwrap();
        assert!(written.ends_with("\n2 3 3\n1 1 1.0\n1 3 -2.5\n2 3 4.0\n"), "{name}: {written}");
    }
    let said = failed(&["info", &mat("packed73.mat"), "--variable", "W", "--max-bytes", "100K"], 1);
    assert!(said.contains("240000 bytes"), "{said}");
}

/// A picture or an index must be the only output on standard output.
#[test]
fn pictures_and_indexes_go_to_standard_output() {
    let a = file("piped.mtx", SMALL);
    let knn = ["knn", &a, "-k", "1", "--metric", "l1"];
    for command in [&["info", &a][..], &["distances", &a, "--metric", "l1"], &knn, &["bfs", &a, "--source", "0"]] {
        let square = file("piped-square.mtx", &SMALL.replace("2 3 3", "3 3 3"));
        let command: Vec<&str> = command.iter().map(|word| if *word == a { &*square } else { *word }).collect();
        let (code, out, err) = fed(&[&command[..], &["--plot", "-"]].concat(), b"");
        assert!(code == Some(0) && out.starts_with("<svg") && out.trim_end().ends_with("</svg>"), "{command:?}: {err}");
        assert!(!err.is_empty() && !err.contains("<svg"), "{command:?}: {err}");
    }
    let index = program::sparring(&[&knn[..], &["--save-index", "-"]].concat());
    let (saved, other) = (path("piped.index"), path("piped-other.index"));
    std::fs::write(&saved, &index.stdout).unwrap();
    let direct = json(&[&knn[..], &["--save-index", &other]].concat());
    assert_eq!(std::fs::read(&other).unwrap(), index.stdout);
    assert_eq!(json(&[&knn[..], &["--index", &saved]].concat())["sum"], direct["sum"]);
    let svm = file("piped.svm", "1 1:2\n");
    for both in [
        &[&knn[..], &["--save-index", "-", "-o", "-"]].concat()[..],
        &[&knn[..], &["--save-index", "-", "--plot", "-"]].concat(),
        &["distances", &a, "--metric", "l1", "--plot", "-", "-o", "-"],
        &["convert", &svm, "-", "--labels", "-"],
    ] {
        assert!(refused(both).contains("standard output takes one file, and two are to go there"), "{both:?}");
    }
}

#[test]
fn types_are_kept() {
    for (field, entries, ty) in [
        ("integer", "1 1 9007199254740993\n2 2 -5\n", "i64"),
        ("unsigned-integer", "1 1 18446744073709551615\n2 2 5\n", "u64"),
        ("pattern", "1 1\n2 2\n", "bool"),
        ("complex", "1 1 0.5 -1.0\n2 2 2.0 3.0\n", "complex64"),
    ] {
        let written = format!("%%MatrixMarket matrix coordinate {field} general\n2 2 2\n{entries}");
        let a = file("types.mtx", &written);
        for end in ["npz", "npy"] {
            let (there, back) = (path(&format!("types-there.{end}")), path("types-back.mtx"));
            json(&["convert", &a, &there]);
            let found = json(&["convert", &there, &back]);
            assert!(found["type"].as_str() == Some(ty) || field == "complex", "{found}");
            assert_eq!(std::fs::read_to_string(&back).unwrap(), written, "{field} {end}");
        }
    }
    let complex = file("types-c.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n");
    for end in ["csv", "svm"] {
        assert!(refused(&["convert", &complex, &path(&format!("types-c.{end}"))]).contains("it holds real numbers"));
    }
    let a = file("types-cast.mtx", SMALL);
    let (cast, why) = (path("types-cast.csv"), refused(&["convert", &a, &path("types-cast.csv"), "--type", "i32"]));
    assert!(why.contains("entry 1, value 1.5, as i32"), "{why}");
    json(&["convert", &a, &cast, "--type", "i32", "--wrapping"]);
    assert_eq!(std::fs::read_to_string(&cast).unwrap(), "1,0,-2\n0,0,4\n");
    // Of every kind of file, and of sums of duplicates.
    json(&["convert", &a, &path("types-cast.npz")]);
    for (from, ty, says) in [
        ("types-cast.npz", "i32", "entry (0, 0), 1.5 as i32"),
        ("types-cast.npz", "u8", "entry (0, 0), 1.5 as u8"),
        ("types-300.mtx", "i8", "entry 1, value 300, as i8"),
        ("types-300.mtx", "u64", "entry 2, value -1, as u64"),
        ("types-large.mtx", "f32", "entry 1, value 1e39, as f32"),
        ("types-large.mtx", "i64", "entry 1, value 1e39, as i64"),
        ("types-nan.mtx", "i8", "entry 1, value NaN, as i8"),
        ("types-sum.mtx", "i64", "the sum of the repeated entries (1, 1) as i64"),
        ("types-sum.mtx", "i8", "entry 1, value 9223372036854775807, as i8"),
        ("types-bytes.mtx", "i8", "the sum of the repeated entries (1, 1) as i8"),
    ] {
        let whole = |field: &str, entries: &str| {
            let n = entries.lines().count();
            format!("%%MatrixMarket matrix coordinate {field} general\n2 2 {n}\n{entries}")
        };
        file("types-300.mtx", &whole("integer", "1 1 300\n2 2 -1\n"));
        file("types-large.mtx", &whole("real", "1 1 1e39\n"));
        file("types-nan.mtx", &whole("real", "1 1 nan\n"));
        file("types-sum.mtx", &whole("integer", "1 1 9223372036854775807\n2 2 1\n1 1 1\n"));
        file("types-bytes.mtx", &whole("integer", "1 1 100\n1 1 100\n"));
        let why = refused(&["convert", &path(from), &cast, "--type", ty]);
        assert!(why.contains(says), "{why}");
    }
    json(&["convert", &path("types-sum.mtx"), &cast, "--type", "f64"]);
    assert_eq!(std::fs::read_to_string(&cast).unwrap(), "9.223372036854776e+18,0\n0,1.0\n");
    assert!(refused(&["convert", &path("types-sum.mtx"), &cast]).contains("as i64"));
}

#[test]
fn what_other_programs_write_is_read() {
    let read_with = |name: &str, bytes: &[u8], more: &[&str]| {
        std::fs::write(scratch(name), bytes).unwrap();
        text(&[&["convert", &path(name), &path("others.csv")], more].concat());
        std::fs::read_to_string(path("others.csv")).unwrap()
    };
    let read = |name: &str, bytes: &[u8]| read_with(name, bytes, &[]);
    let headed = |bytes: &[u8]| read_with("head.csv", bytes, &["--header"]);
    assert_eq!(headed(b"# note\r\n\"x\", y\r\n 1,2e1\r\n\r\n0,-3\r\n"), "1.0,20.0\n0,-3.0\n");
    // Columns from 0, labels, comments, query ids.
    let zero = b"1 qid:3 0:5 2:7 # note\n\n-1.5\n+1 1:2\n";
    let labels = path("zero.labels");
    let found = read_with("zero.svm", zero, &["--zero-based", "--labels", &labels]);
    assert_eq!(found, "5.0,0,7.0\n0,0,0\n0,2.0,0\n");
    assert_eq!(std::fs::read_to_string(labels).unwrap(), "1\n-1.5\n+1\n");
    // Column-major and big-endian; one-dimensional.
    let header = |text: &str| [b"\x93NUMPY\x01\x00\x46\x00", format!("{text:69}\n").as_bytes()].concat();
    let numbers: Vec<u8> = [1i16, 2, 3, 0].iter().flat_map(|x| x.to_be_bytes()).collect();
    let array = [header("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }"), numbers.clone()].concat();
    assert_eq!(read("order.npy", &array), "1,3\n2,0\n");
    let array = [header("{'descr': '>i2', 'fortran_order': False, 'shape': (4,), }"), numbers].concat();
    assert_eq!(read("one.npy", &array), "1\n2\n3\n0\n");
    // −0 is an entry, and the parts of a big-endian complex number are swapped separately.
    assert_eq!(read("minus.csv", b"-0,1\n0,2\n"), "-0.0,1.0\n0,2.0\n");
    let parts: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    let complex = [header("{'descr': '>c16', 'fortran_order': False, 'shape': (1, 1), }"), parts].concat();
    std::fs::write(scratch("complex.npy"), complex).unwrap();
    text(&["convert", &path("complex.npy"), &path("complex.mtx")]);
    let complex = std::fs::read_to_string(path("complex.mtx")).unwrap();
    assert_eq!(complex, "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1.5 -2.0\n");
    // [1.5 0 −2; 0 0 4] in compressed columns.
    let part = |name: &str, descr: &str, shape: &str, bytes: Vec<u8>| {
        let header = header(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"));
        (format!("{name}.npy"), [header, bytes].concat())
    };
    let integers = |all: &[i32]| all.iter().flat_map(|x| x.to_le_bytes()).collect();
    let columns = zipped(&[
        part("format", "|S3", "()", b"csc".to_vec()),
        part("shape", "<i4", "(2,)", integers(&[2, 3])),
        part("indptr", "<i4", "(4,)", integers(&[0, 1, 1, 3])),
        part("indices", "<i4", "(3,)", integers(&[0, 0, 1])),
        part("data", "<f8", "(3,)", [1.5f64, -2.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect()),
    ]);
    assert_eq!(read("columns.npz", &columns), "1.5,0,-2.0\n0,0,4.0\n");
    for (name, bytes, said) in [
        ("bad.csv", &b"1,2\n3\n"[..], "bad.csv:2:2: the line has 1 columns, the first has 2"),
        ("bad-2.csv", b"1,2\n3,x\n", "bad-2.csv:2:3: column 2 is no number: \"x\""),
        ("bad.svm", b"1 1:2\n1 3=4\n", "bad.svm:2:3: expected column:value, found \"3=4\""),
        ("bad.npy", b"\x93NUMPY\x01\x00", "it is no array of NumPy"),
        ("cut.npy", &array[..array.len() - 1], "are no array of shape [4] of i2"),
        ("bad.npz", b"PK\x03\x04", "it is no zip archive"),
        ("bad.mtx", b"\x28\xb5\x2f\xfd", "zstd: the header of a frame is wrong or cut off"),
        ("bad.tsv", b"1\t2\n", "say which: --zero-based or --one-based"),
        ("bad.tns", b"1 1 1 2\n", "is a tensor, which sparring tensor-info and sparring cp read"),
        ("bad.gr", b"p sp 2 1\na 1 3 1\n", "bad.gr:2:5: vertex 3 is not from 1 to 2"),
    ] {
        std::fs::write(scratch(name), bytes).unwrap();
        let line = refused(&["info", &path(name)]);
        assert!(line.contains(said) && line.contains(name), "{line}");
    }
}

#[test]
fn outputs_of_other_names_are_refused_before_anything_is_read() {
    for command in [
        &["mxm", "gone.mtx", "-o"][..],
        &["convert", "gone.mtx"],
        &["transpose", "gone.mtx"],
        &["knn", "gone.mtx", "--k", "1", "--metric", "l1", "-o"],
        &["radius", "gone.mtx", "--radius", "1", "--metric", "l1", "-o"],
        &["distances", "gone.mtx", "--metric", "l1", "-o"],
    ] {
        for name in ["out.txt", "out", "out.gz", "out.parquet", "out.gr"] {
            let line = refused(&[command, &[name]].concat());
            assert!(line.starts_with(&format!("sparring: output: '{name}' ends in none of .mtx, ")), "{line}");
        }
    }
}

#[test]
fn a_dash_is_standard_input_and_output() {
    let (code, out, err) = fed(&["convert", "-", "-"], SMALL.as_bytes());
    assert_eq!((code, out.as_str()), (Some(0), SMALL));
    assert!(err.starts_with("2 × 3, 3 entries of f64"), "{err}");
    let (code, out, err) = fed(&["transpose", "-", "-", "--json"], &gzip(SMALL.as_bytes()));
    assert_eq!((code, out.lines().nth(1)), (Some(0), Some("3 2 3")));
    assert!(err.contains("\"command\":\"transpose\",\"nrows\":3,"), "{err}");
    let (code, out, _) = fed(&["info", "-"], SMALL.as_bytes());
    assert!(code == Some(0) && out.contains("2 × 3"), "{out}");
    let (code, out, err) = fed(&["info", "-"], SMALL.replace("1 3", "1 4").as_bytes());
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.starts_with("sparring: standard input:4:3: column index"), "{err}");
    let (code, _, err) = fed(&["mxm", "-", "-"], SMALL.as_bytes());
    assert_eq!((code, err.as_str()), (Some(2), "sparring: file: standard input can be read once\n"));
    let x = file("dash.mtx", SMALL);
    let (code, out, _) = fed(&["distances", &x, "--metric", "l1", "-o", "-"], b"");
    assert!(code == Some(0) && out.ends_with("\n2 2\n0.0\n7.5\n7.5\n0.0\n"), "{out}");
    let (code, out, _) = fed(&["knn", &x, "--k", "1", "--metric", "l1", "-o", "-"], b"");
    assert!(code == Some(0) && out.ends_with("\n2 2 2\n1 1 0.0\n2 2 0.0\n"), "{out}");
}

#[test]
fn distances_are_written_as_an_array_of_numpy() {
    let (x, out) = (file("npy-x.mtx", SMALL), path("npy-out.npy"));
    json(&["distances", &x, "--metric", "l1", "-o", &out]);
    let written = std::fs::read(&out).unwrap();
    assert!(written.starts_with(b"\x93NUMPY") && written.len() == 128 + 4 * 8);
    text(&["convert", &out, &path("npy-out.csv")]);
    assert_eq!(std::fs::read_to_string(path("npy-out.csv")).unwrap(), "0,7.5\n7.5,0\n");
}

#[test]
fn products_take_transposes_and_masks() {
    let (a, out) = (file("masked.mtx", SMALL), path("masked.csv"));
    let product = |more: &[&str]| {
        text(&[&["mxm", &a, "-o", &out], more].concat());
        std::fs::read_to_string(&out).unwrap()
    };
    assert_eq!(product(&["--transpose-b"]), "6.25,-8.0\n-8.0,16.0\n");
    assert_eq!(product(&["--transpose-a"]), "2.25,0,-3.0\n0,0,0\n-3.0,0,20.0\n");
    let mask = file("mask.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2\n");
    assert_eq!(product(&["--transpose-b", "--mask", &mask]), "0,-8.0\n0,16.0\n");
    assert_eq!(product(&["--transpose-b", "--mask", &mask, "--complement"]), "6.25,0\n-8.0,0\n");
    assert!(refused(&["mxm", &a, "--transpose-b", "--complement"]).contains("--mask"));
    assert!(refused(&["mxm", &a, "--transpose-b", "--mask", &a]).contains("mxm mask: shapes do not agree"));
}

#[test]
fn neighbours_within_a_radius() {
    let x = file("radius.mtx", SMALL);
    let out = path("radius-out.mtx");
    let found = json(&["radius", &x, "--radius", "7.5", "--metric", "manhattan", "-o", &out]);
    assert_eq!((found["neighbours"].as_u64(), found["sum"].as_f64()), (Some(4), Some(15.0)));
    assert!(std::fs::read_to_string(&out).unwrap().ends_with("2 2 4\n1 1 0.0\n1 2 7.5\n2 1 7.5\n2 2 0.0\n"));
    let found = json(&["radius", &x, "-r", "7", "--metric", "manhattan", "--exclude-self"]);
    assert_eq!(found["neighbours"], 0);
    assert!(
        text(&["radius", &x, "-r", "7", "--metric", "l1"])
            .starts_with("2 × 3 among themselves: 2 neighbours within 7 ")
    );
    assert_eq!(refused(&["radius", &x, "-r", "nan", "--metric", "l1"]), "sparring: radius: it is not a number\n");
}

#[test]
fn names_that_are_not_known_are_guessed() {
    let x = file("guess.mtx", SMALL);
    for (arguments, near) in [
        (&["knn", &x, "--k", "1", "--metric", "cosin"][..], "; did you mean cosine?"),
        (&["mxm", &x, "--transpose-b", "--semiring", "plus_time"], "; did you mean plus_times?"),
        (&["info", "gen:lap2d_100"], "; did you mean lap2d_1000?"),
    ] {
        let line = refused(arguments);
        assert!(line.trim_end().ends_with(near) && line.lines().count() == 1, "{line}");
    }
    assert!(refused(&["infos", &x]).contains("'info'"));
}

#[test]
fn shells_and_man_are_told() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(text(&["completions", shell]).contains("sparring"), "{shell}");
    }
    let page = text(&["man"]);
    assert!(page.contains(".TH sparring 1") && page.contains(".SH \"EXIT STATUS\""), "{page}");
    assert!(text(&["man", "mxm"]).contains("transpose"));
    assert!(refused(&["man", "dance"]).contains("there is no 'dance'; there are info, "));
    let help = text(&["mxm", "--help"]);
    let place = |word: &str| help.find(word).unwrap_or_else(|| panic!("{word}: {help}"));
    assert!(place("--semiring") < place("--threads") && place("--device") < place("--threads"));
    assert!(text(&["--help"]).contains("Exit codes:\n  0  Success"));
    assert!(!text(&["info", "--help"]).contains("--device"));
    assert!(refused(&["info", "a", "--device", "cpu"]).contains("--device"));
}

/// A command killed while writing leaves the old file unchanged.
#[cfg(unix)]
#[test]
fn an_interrupted_output_leaves_what_was_there() {
    let folder = scratch("interrupted");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let out = folder.join("out.mtx");
    std::fs::write(&out, "before").unwrap();
    let question = ["distances", "gen:rmat14", "--metric", "l1", "--memory-budget", "50M", "-o", out.to_str().unwrap()];
    let mut child = Command::new(env!("CARGO_BIN_EXE_sparring")).args(question).stdout(Stdio::null()).spawn().unwrap();
    let unfinished = || {
        let names = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap());
        names.filter(|e| e.path() != out).any(|e| e.metadata().is_ok_and(|about| about.len() > 0))
    };
    while !unfinished() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success() && !child.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "before");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_the_machines_fault_everywhere() {
    let x = file("full.mtx", SMALL);
    let full = |end: &str| {
        let link = scratch(&format!("full-{}.{end}", std::process::id()));
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink("/dev/full", &link).unwrap();
        link.to_str().unwrap().to_owned()
    };
    for end in ["mtx", "mtx.gz", "npz", "npy", "csv", "svm"] {
        let said = failed(&["convert", &x, &full(end)], 1);
        assert!(said.contains("No space left"), "{said}");
    }
    for arguments in [
        &["knn", &x, "--k", "1", "--metric", "l1", "-o", &full("tsv")][..],
        &["distances", &x, "--metric", "l1", "-o", &full("mtx")],
        &["distances", &x, "--metric", "l1", "-o", &full("npy")],
        &["info", &x, "--spy", &full("png")],
    ] {
        let said = failed(arguments, 1);
        assert!(said.contains("No space left"), "{said}");
    }
}

/// Files of some megabytes that unpack to gigabytes, for a process with less memory.
#[cfg(target_os = "linux")]
#[test]
fn a_small_file_does_not_fill_the_memory() {
    let megabyte = |byte: &[u8]| gzip(&byte.repeat((1 << 20) / byte.len()));
    let banner = gzip(b"%%MatrixMarket matrix coordinate real general\n");
    let entries = gzip(b"%%MatrixMarket matrix coordinate real general\n9 9 1\n");
    for (name, bytes, said, code) in [
        ("bomb-x.mtx.gz", megabyte(b"x").repeat(4096), "expected %%MatrixMarket, found \"xxxx", 2),
        ("bomb-blank.mtx.gz", [banner.clone(), megabyte(b" ").repeat(4096)].concat(), "the line has more than", 2),
        ("bomb-lines.mtx.gz", [banner, megabyte(b"\n").repeat(400)].concat(), "max-bytes", 2),
        ("bomb-line.csv.gz", megabyte(b"a").repeat(1024), "the line has more than", 2),
        ("bomb-lines.csv.gz", megabyte(b"\n").repeat(400), "max-bytes", 2),
        ("bomb-entries.mtx.gz", [entries, megabyte(b"1 1 1\n").repeat(400)].concat(), "after the last", 2),
    ] {
        std::fs::write(scratch(name), bytes).unwrap();
        let limited = if said == "max-bytes" { "--max-bytes 100M" } else { "" };
        let (said, code) = if limited.is_empty() { (said, code) } else { ("budget is 104857600 bytes", 1) };
        let program = env!("CARGO_BIN_EXE_sparring");
        let script = format!("ulimit -v 900000; exec {program} info '{}' --threads 2 {limited}", path(name));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{name}: {err}");
        assert!(err.contains(said), "{name}: {err}");
        std::fs::remove_file(scratch(name)).unwrap();
    }
}

#[test]
fn files_of_others_are_read_leniently() {
    let both = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 5\n1 2 5\n";
    let a = file("both.mtx", both);
    assert!(refused(&["info", &a]).contains("read it leniently"));
    assert_eq!(json(&["info", &a, "--lenient"])["nnz"], 2);
    assert!(failed(&["info", &a, "--max-bytes", "10"], 1).contains("the budget is 10 bytes"));
    assert_eq!(json(&["info", &a, "--lenient", "--max-bytes", "1K"])["nnz"], 2);
    assert!(refused(&["info", &a, "--max-bytes", "many"]).contains("such as 500000, 64K"));
}

/// Small files with one ambiguity each, and the expected results.
#[test]
fn what_a_file_leaves_open_is_decided_by_an_option_or_refused() {
    let put = |name: &str, bytes: &[u8]| {
        std::fs::write(scratch(name), bytes).unwrap();
        path(name)
    };
    let read = |name: &str, bytes: &[u8], more: &[&str]| {
        let (from, to) = (put(name, bytes), path("open.mtx"));
        text(&[&["convert", &from, &to], more].concat());
        let written = std::fs::read_to_string(to).unwrap();
        written.split_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(read("open-bom.csv", b"\xef\xbb\xbf5,0\n0,7\n", &[]), "2 2 2\n1 1 5.0\n2 2 7.0\n");
    assert_eq!(read("open-semi.csv", b"1;2\n", &["--delimiter", ";"]), "1 2 2\n1 1 1.0\n1 2 2.0\n");
    assert_eq!(read("open-tab.csv", b"1\t2\n", &["--delimiter", "tab"]), "1 2 2\n1 1 1.0\n1 2 2.0\n");
    assert_eq!(read("open-wide.svm", b"1 1:1 3:1\n", &["--columns", "5"]), "1 5 2\n1 1 1.0\n1 3 1.0\n");
    assert_eq!(read("open-snap.txt", b"# a\n0\t1\n1\t2\n2\t0\n", &[]), "3 3 3\n1 2\n2 3\n3 1\n");
    assert_eq!(read("open-edges.csv", b"0,1\n1,2\n2,0\n", &["--format", "edges"]), "3 3 3\n1 2\n2 3\n3 1\n");
    assert_eq!(read("open-one.el", b"1 2\n", &["--one-based", "--undirected"]), "2 2 2\n1 2\n2 1\n");
    let map = path("open.map");
    assert_eq!(read("open-any.edges", b"9,-4,0.5\n", &["--renumber", &map]), "2 2 1\n2 1 0.5\n");
    assert!(std::fs::read_to_string(map).unwrap().ends_with("\n0\t-4\n1\t9\n"));
    assert_eq!(read("open.gr", b"c x\np sp 2 1\na 1 2 7\n", &[]), "2 2 1\n1 2 7\n");
    assert_eq!(read("open.graph", b"2 1 1\n2 5\n1 5\n", &[]), "2 2 2\n1 2 5\n2 1 5\n");
    let market = b"\n %MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 3.0\n% note\n1 2 4\n";
    assert_eq!(read("open.mtx2.mtx", market, &["--lenient"]), "1 2 2\n1 1 3\n1 2 4\n");
    for (name, bytes, said) in [
        (
            "open-na.csv",
            &b"NA,1\n2,3\n"[..],
            ":1:1: column 1 is no number: \"NA\"; is the first line a heading (--header), or",
        ),
        ("open-true.csv", b"TRUE,FALSE\n", "(--no-header)"),
        ("open-semi.csv", b"1;2\n", "if ';' stands between the cells, say so: --delimiter ';'"),
        ("open-quoted.csv", b"1,2\n\"1,5\",2\n", ":2:2: column 1 is no number: \"1,5\""),
        ("open-empty.csv", b"1,2\n3,\n", ":2:3: column 2 is empty"),
        ("open-prose.csv", b"It is a truth universally acknowledged, that\n", "no number: \"It is a truth"),
        ("open-zero.svm", b"1 0:1\n", ":1:3: column 0: columns count from 1"),
        ("open-place.svm", b"1 1:2 3:x\n", ":1:7: expected column:value"),
        ("open-one.el", b"1 2\n", "say which: --zero-based or --one-based"),
        ("open-twice.el", b"0 1 2\n0 1 3\n", "--repeated sum, min or max"),
        ("open-cr.mtx", b"%%MatrixMarket matrix coordinate real general\r2 2 1\r1 2 3\r", "lines end with CR"),
    ] {
        let line = refused(&["info", &put(name, bytes)]);
        assert!(line.contains(said), "{line}");
    }
    let header = put("open-header.tns", b"# extended\n3 2\n2 3 4\n1 1 1 1.0\n2 3 4 2.5\n");
    let found = json(&["tensor-info", &header]);
    assert_eq!((&found["dims"], &found["nnz"]), (&serde_json::json!([2, 3, 4]), &serde_json::json!(2)));
    let zero = put("open-zero.tns", b"0 0 0 1.0\n1 2 3 2.5\n");
    assert_eq!(json(&["tensor-info", &zero, "--zero-based"])["dims"], serde_json::json!([2, 3, 4]));
    assert!(refused(&["tensor-info", &zero]).contains("--zero-based"));
    let wide = put("open-5.svm", b"1 1:1 5:1\n");
    let near = ["knn", &path("open-wide.svm"), "--to", &wide, "--k", "1", "--metric", "l1", "--columns", "5"];
    assert_eq!(json(&near)["ncols"], 5);
}

#[test]
fn standard_input_is_whatever_it_is_said_to_be() {
    for (kind, bytes) in [
        ("csv", &b"1.5,0,-2\n0,0,4\n"[..]),
        ("svm", b"0 1:1.5 3:-2\n0 3:4\n"),
        ("edges", b"0 0 1.5\n0 2 -2\n1 2 4\n"),
        ("mtx", SMALL.as_bytes()),
    ] {
        let more: &[&str] = if kind == "edges" { &["--bipartite"] } else { &[] };
        let (code, out, err) = fed(&[&["convert", "-", "-", "--format", kind], more].concat(), bytes);
        assert_eq!((code, out.as_str()), (Some(0), SMALL), "{kind}: {err}");
    }
    let a = file("said.mtx", SMALL);
    for end in ["npz", "npy"] {
        let there = path(&format!("said.{end}"));
        json(&["convert", &a, &there]);
        let (code, out, err) = fed(&["convert", "-", "-", "--format", end], &std::fs::read(there).unwrap());
        assert_eq!((code, out.as_str()), (Some(0), SMALL), "{end}: {err}");
    }
}

/// A stream without line ends is not read until memory runs out.
#[cfg(target_os = "linux")]
#[test]
fn an_endless_line_is_refused() {
    for command in ["tensor-info", "info", "info --format csv", "info --format svm", "info --format edges"] {
        for input in ["/dev/zero", "- < /dev/zero"] {
            let program = env!("CARGO_BIN_EXE_sparring");
            let script = format!("ulimit -v 900000; exec {program} {command} --threads 2 {input}");
            let output = Command::new("sh").args(["-c", &script]).output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{script}: {err}");
            assert!(err.contains("the line has more than") || err.contains("expected"), "{script}: {err}");
        }
    }
}

/// An option that no file can use is refused, and so is one output file for two names.
#[test]
fn reading_options_mean_something() {
    let (a, list, rows) =
        (file("mean.mtx", SMALL), file("mean.edges", "0 1\n1 2\n"), file("mean.svm", "1 1:2\n0 2:3\n"));
    let table = file("mean.csv", "a,b\n1,2\n3,4\n");
    let names = path("mean.names");
    for option in
        ["--header", "--no-header", "--zero-based", "--one-based", "--undirected", "--directed", "--bipartite"]
    {
        let line = refused(&["info", &a, option]);
        assert!(line.contains(option) && line.contains("mean.mtx is mtx"), "{line}");
    }
    for (option, value) in [
        ("--delimiter", ";"),
        ("--columns", "3"),
        ("--labels", &*names),
        ("--renumber", &*names),
        ("--repeated", "sum"),
    ] {
        let line = refused(&["info", &a, option, value]);
        assert!(line.contains(option) && line.contains("mean.mtx is mtx"), "{line}");
    }
    assert!(refused(&["semirings", "--header"]).contains("--header does not apply to sparring semirings"));
    assert!(refused(&["info", "gen:rmat8", "--lenient"]).contains("none is read"));
    // One of two files can use it.
    text(&["distances", &rows, "--to", &table, "--metric", "manhattan", "--header", "-o", &path("mean.npy")]);
    let line = refused(&["distances", &rows, "--to", &rows, "--metric", "manhattan", "--labels", &names]);
    assert!(line.contains("--labels") && line.contains("one file"), "{line}");
    // The format of each file can be given.
    let plain = file("mean-rows.txt", "1 1:2\n0 2:3\n");
    text(&[
        "distances",
        &format!("svm:{plain}"),
        "--to",
        &table,
        "--metric",
        "manhattan",
        "--header",
        "-o",
        &path("m.npy"),
    ]);
    let (code, out, err) = fed(&["info", "edges:-", "--json"], b"0 1\n1 2\n");
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("\"nnz\":2"), "{out}");
    let line = refused(&["tensor-info", &format!("csv:{table}")]);
    assert!(line.contains("not from csv"), "{line}");
    text(&["triangles", &list, "--undirected"]);
    // A table can be read as an edge list.
    let edges = file("mean-edges.csv", "0,1\n1,2\n2,0\n");
    let line = refused(&["triangles", &edges]);
    assert!(line.contains("use edges:") && line.contains("or csv:"), "{line}");
    assert_eq!(json(&["triangles", &format!("edges:{edges}"), "--undirected"])["triangles"], 1);
    assert_eq!(json(&["triangles", &edges, "--format", "edges"])["triangles"], 1);
}

#[test]
fn vertices_may_have_names() {
    let (list, names) = (file("named.edges", "ada bea 2\nbea cleo 3\n"), path("named.txt"));
    let back = path("named.mtx");
    text(&["convert", &list, &back, "--undirected", "--labels", &names]);
    assert_eq!(std::fs::read_to_string(names).unwrap(), "ada\nbea\ncleo\n");
    let found = std::fs::read_to_string(back).unwrap();
    assert!(found.ends_with("3 3 4\n1 2 2.0\n2 1 2.0\n2 3 3.0\n3 2 3.0\n"), "{found}");
    assert!(refused(&["info", &list]).contains("names are read by --labels"));
}

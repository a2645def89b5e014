//! The program with `--cluster`, if `SPARRING_PROGRAM` names one: the same results on any number of ranks.

use std::path::{Path, PathBuf};
use std::time::Duration;

fn run(program: &Path, ranks: usize, arguments: &[&str]) -> std::process::Output {
    let mut command = crate::mpirun(ranks, program);
    command.args(["--cluster", "--threads", "1"]).args(arguments);
    crate::waited(command, &format!("sparring {}, {ranks} ranks", arguments[0]), Duration::from_secs(60))
}

/// The text after a key in a line of JSON, up to the next comma.
fn figure(line: &str, key: &str) -> String {
    let at = line.find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("no {key} in {line}")) + key.len() + 3;
    line[at..].split([',', '}']).next().unwrap_or_default().into()
}

/// Checks that ranks write the lines of a single process, in any order.
fn same_files(program: &Path, folder: &Path, ending: &str, arguments: &[&str]) {
    let (many, one) = (folder.join(format!("many{ending}")), folder.join(format!("one{ending}")));
    let with = |path: &Path| [arguments, &["-o", path.to_str().expect("a path")]].concat().join("\n");
    let (of_many, of_one) = (with(&many), with(&one));
    let out = run(program, 3, &of_many.split('\n').collect::<Vec<_>>());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let alone = std::process::Command::new(program).args(of_one.split('\n')).output().expect("the program");
    assert!(alone.status.success());
    let lines = |path: &Path| {
        let text = std::fs::read_to_string(path).expect("a file");
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines(&many), lines(&one), "{arguments:?}");
}

pub(crate) fn job() {
    let Ok(program) = std::env::var("SPARRING_PROGRAM") else {
        println!("skipped: SPARRING_PROGRAM names no program with --cluster");
        return;
    };
    let (program, data) = (PathBuf::from(program), Path::new(env!("CARGO_MANIFEST_DIR")).join("../data"));
    let karate = data.join("karate.mtx.gz");
    let karate = karate.to_str().expect("a path");
    let folder = std::env::temp_dir().join(format!("sparring-ranks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let plain = folder.join("a.mtx");
    let plain = plain.to_str().expect("a path");
    let vector = folder.join("x.mtx");
    std::fs::write(&vector, "%%MatrixMarket matrix array real general\n34 1\n".to_owned() + &"1\n0\n".repeat(17))
        .expect("a file");
    let vector = vector.to_str().expect("a path");
    // Written by all ranks together, read by parts.
    let made = run(&program, 4, &["mxm", karate, "-o", plain]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    same_files(&program, &folder, ".mtx", &["mxm", karate]);
    for arguments in [
        &["ewise", plain, karate, "--op", "plus", "--on", "either"][..],
        &["select", plain, "--op", "i < j"],
        &["mxm", plain, "--transpose-a", "--mask", karate, "--type", "f32"],
        &["reduce", karate, "--of", "rows", "--mask", vector],
        &["mxv", plain, vector],
        &["extract", karate, "--rows", "::-1"],
    ] {
        same_files(&program, &folder, ".mtx", arguments);
    }
    let nearest = ["knn", karate, "-k", "3", "--metric", "cosine"];
    same_files(&program, &folder, ".mtx", &nearest);
    same_files(&program, &folder, ".tsv", &nearest);
    let wrong = folder.join("wrong.mtx");
    let text = std::fs::read_to_string(plain).expect("a file");
    std::fs::write(&wrong, text.trim_end().to_owned() + "x\n").expect("a file");
    let wrong = wrong.to_str().expect("a path");
    // The last entry is no integer.
    let half = folder.join("half.mtx");
    let text = "%%MatrixMarket matrix coordinate real general\n9 9 9\n".to_owned()
        + &(1..10).map(|k| format!("{k} {k} {}\n", if k < 9 { "1" } else { "0.5" })).collect::<String>();
    std::fs::write(&half, text).expect("a file");
    let half = half.to_str().expect("a path");
    let list = folder.join("a.edges");
    let edges: String = (0..90).map(|k| format!("{}\t{}\n", k * 7 % 31, k * 5 % 29)).collect();
    std::fs::write(&list, format!("# a list of edges\n{edges}")).expect("a file");
    let list = list.to_str().expect("a path");
    let tensor = data.join("aminoacid.tns.gz");
    let tensor = tensor.to_str().expect("a path");
    for ranks in [1, 3, 4] {
        for (arguments, key) in [
            (&["mxm", karate, "--json"][..], "sum"),
            (&["mxm", plain, "--semiring", "min_plus", "--json"], "nnz"),
            (&["bfs", karate, "--source", "0", "--json"], "depth"),
            (&["components", karate, "--json"], "components"),
            (&["sssp", plain, "--source", "0", "--json"], "reached"),
            (&["triangles", karate, "--json"], "triangles"),
            (&["pagerank", karate, "--top", "1", "--json"], "iterations"),
            (&[&nearest[..], &["--json"]].concat(), "sum"),
            (&["components", list, "--json"], "components"),
            (&["kronecker", list, plain, "--op", "min", "--json"], "sum"),
            (&["reduce", karate, "--json"], "value"),
            (&["bfs", list, "--undirected", "--source", "0", "--json"], "depth"),
            (&["cp", tensor, "--rank", "2", "--sweeps", "9", "--tol", "0", "--json"], "sweeps"),
        ] {
            let out = run(&program, ranks, arguments);
            let (text, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
            assert!(out.status.success(), "{arguments:?} on {ranks} ranks: {errors}");
            assert_eq!(text.lines().count(), 1, "one rank speaks: {text}");
            // As in a single process.
            let alone = std::process::Command::new(&program).args(arguments).output().expect("the program");
            let expected = figure(&String::from_utf8_lossy(&alone.stdout), key);
            assert_eq!(figure(&text, key), expected, "{arguments:?}: {text}");
            assert_eq!(figure(&text, "ranks"), ranks.to_string());
        }
        // The error of a line is that of a single process, whichever rank reads the line.
        for arguments in
            [&["ewise", wrong, karate, "--op", "plus"][..], &["mxm", wrong], &["mxm", half, "--type", "i8"]]
        {
            let alone = std::process::Command::new(&program).args(arguments).output().expect("the program");
            let (expected, out) = (String::from_utf8_lossy(&alone.stderr), run(&program, ranks, arguments));
            let errors = String::from_utf8_lossy(&out.stderr);
            assert!(!out.status.success() && errors.contains(expected.trim_end()), "{expected}{errors}");
        }
        let out = run(&program, ranks, &["pagerank", "/no/such/file.mtx"]);
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && errors.matches("sparring: ").count() == 1, "{errors}");
    }
    std::fs::remove_dir_all(&folder).expect("a folder");
}

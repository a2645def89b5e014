//! Parallel reading and writing of files, compared with one CPU.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sparring::algebra::{Array, Type};
use sparring::io::{
    EdgeOptions, Repeated, WriteOptions, parse_dimacs_with, parse_edges_with, parse_matrix_market,
    write_matrix_market_any_to,
};
use sparring::num_complex::Complex;
use sparring::par::Threads;
use sparring::runtime::Matrix;
use sparring_cluster::Cluster;

use crate::products::{Draw, same};

/// A directory shared by all ranks of the job, and by no other job.
pub(crate) fn folder(cluster: &Cluster) -> PathBuf {
    let path = std::env::temp_dir().join(format!("sparring-files-{}", std::os::unix::process::parent_id()));
    let made = if cluster.rank() == 0 { fs::create_dir_all(&path) } else { Ok(()) };
    cluster.agree("a folder", made.map_err(|e| io(&path, e))).unwrap();
    path
}

fn io(path: &Path, source: std::io::Error) -> sparring::Error {
    sparring::Error::Io { path: path.display().to_string(), source }
}

/// A barrier.
pub(crate) fn together(cluster: &Cluster) {
    cluster.agree("together", Ok(())).unwrap();
}

pub(crate) fn put(cluster: &Cluster, path: &Path, text: &[u8]) {
    together(cluster);
    let made = if cluster.rank() == 0 { fs::write(path, text) } else { Ok(()) };
    cluster.agree("a file", made.map_err(|e| io(path, e))).unwrap();
}

/// The text as gzip, in two members.
pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let packed = |text: &[u8]| {
        let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        to.write_all(text).unwrap();
        to.finish().unwrap()
    };
    let (first, second) = text.split_at(text.len() / 3);
    [packed(first), packed(second)].concat()
}

pub(crate) fn all(cluster: &Cluster) {
    let folder = folder(cluster);
    markets(cluster, &folder);
    casts(cluster);
    edges(cluster, &folder);
    arcs(cluster, &folder);
    blocks(cluster, &folder);
    writing(cluster, &folder);
    failures(cluster, &folder);
    together(cluster);
    if cluster.rank() == 0 {
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// Texts that are hard for a parallel reader.
fn markets(cluster: &Cluster, folder: &Path) {
    let path = folder.join("a.mtx");
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let lines: String = (0..40).map(|k| format!("{} {} {}.5\n", k % 9 + 1, k / 9 + 1, "3".repeat(k % 7 + 1))).collect();
    let commented = lines.replace("\n3 ", "\n% in the middle\n\n3 ");
    let mut texts = vec![
        format!("{head}9 9 40\n{lines}"),
        format!("{head}9 9 40\n{}", lines.trim_end()),
        format!("{head}% of all kinds\n\n9 9 40\n{}", lines.replace("\n3 ", "\n\n3 ")).replace('\n', "\r\n"),
        format!("{head}2 2 1\n1 1 {}", "1".repeat(300)),
        format!("{head}% {}\n2 3 1\n2 3 1e-3", "long ".repeat(3000)),
        format!("{head}0 0 0\n"),
        format!("{head}5 4 0\n\n\n"),
        format!("{head}1 1 1\n1 1 1"),
        // Duplicates are summed.
        format!("{head}3 3 4\n1 1 1\n2 2 1\n1 1 2\n3 3 1\n"),
        "%%MatrixMarket matrix coordinate integer symmetric\n4 4 3\n1 1 5\n4 1 -2\n3 2 9".into(),
        "%%MatrixMarket matrix coordinate pattern general\n4 4 3\n1 1\n4 1\n3 2\n".into(),
        "%%MatrixMarket matrix coordinate pattern general\n3 3 5\n1 1\n2 2\n1 1\n1 1\n3 1\n".into(),
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n".into(),
        // Refused, whichever rank sees it.
        format!("{head}9 9 40\n{commented}"),
        format!("{head}9 9 41\n{lines}"),
        format!("{head}9 9 40\n{}", lines.replace("9 4 ", "9 x ")),
        format!("{head}9 9 40\n{}", lines.replace("9 4 ", "9 44 ")),
        "no file of that kind".into(),
        String::new(),
    ];
    texts.push(texts[0].replace("real", "complex").replace(".5\n", ".5 -1\n"));
    let whole = "%%MatrixMarket matrix coordinate integer general\n9 1 3\n1 1 1\n9 1 9223372036854775808\n5 1 ";
    texts.extend([format!("{whole}3\n"), format!("{whole}-3\n")]);
    for (case, text) in texts.iter().enumerate().flat_map(|(case, text)| [(2 * case, text), (2 * case + 1, text)]) {
        let packed = if case % 2 == 1 { gzip(text.as_bytes()) } else { text.as_bytes().to_vec() };
        put(cluster, &path, &packed);
        let here = parse_matrix_market(text.as_bytes(), &path.display().to_string()).and_then(|file| file.any());
        let there = cluster.read_matrix_market(&path);
        match (here, there) {
            (Ok((pattern, values)), Ok(there)) => {
                same(&format!("text {case}"), &Matrix::new(pattern, values).unwrap(), &there);
            }
            (Err(here), Err(there)) => {
                let (here, there) = (here.to_string(), there.to_string());
                // Each rank reports its own first error.
                let reason = |text: &str| text.rsplit(": ").next().map(String::from);
                let counts = ["entries", "i64", "u64"].iter().any(|word| here.contains(word) || there.contains(word));
                assert!(reason(&here) == reason(&there) || counts, "{case}: {here}\n{there}");
            }
            (here, there) => panic!("text {case}: {:?} and {:?}", here.map(drop), there.map(drop)),
        }
        for ty in [Type::F32, Type::I64, Type::Bool, Type::U8] {
            let here =
                parse_matrix_market(text.as_bytes(), "it").and_then(|file| file.of_type(ty, &Threads::current()));
            match (here, cluster.read_matrix_market_as(&path, ty)) {
                (Ok((pattern, values)), Ok(there)) => {
                    same(&format!("text {case} of {ty}"), &Matrix::new(pattern, values).unwrap(), &there);
                }
                (Err(_), Err(_)) => {}
                // Negative numbers and numbers beyond i64 on different ranks have no common type, but are converted.
                (Err(here), Ok(_)) if here.to_string().contains("unsigned whole number") => {}
                (here, there) => panic!("text {case} of {ty}: {:?} and {:?}", here.map(drop), there.map(drop)),
            }
        }
    }
    together(cluster);
}

/// Conversions, whose errors name the entry of the whole matrix.
fn casts(cluster: &Cluster) {
    let mut draw = Draw::new(5);
    let a = draw.matrix((30, 20), 200);
    let there = cluster.machine().upload(&a).unwrap();
    for ty in [Type::F32, Type::ComplexF64, Type::F64] {
        same(&format!("as {ty}"), &a.cast(ty).unwrap(), &cluster.cast(&there, ty).unwrap());
    }
    let last = a.nnz() - 1;
    let values = (0..a.nnz()).map(|k| if k == last { 0.5 } else { 1.0 }).collect::<Vec<f64>>();
    let a = with_values(&a, Array::of(values));
    let (here, there) = (a.cast(Type::I8), cluster.cast(&cluster.machine().upload(&a).unwrap(), Type::I8));
    assert_eq!(here.unwrap_err().to_string(), there.unwrap_err().to_string());
}

/// Edge lists of all kinds, both those read by parts and those read whole.
fn edges(cluster: &Cluster, folder: &Path) {
    let path = folder.join("a.el");
    let name = path.display().to_string();
    let lines: String = (0..60).map(|k| format!("{} {}\n", 7 * k % 23, 5 * k % 19)).collect();
    let weighted: String =
        (0..60).map(|k| format!("{} {},{}.25\n", 7 * k % 23 + 1, 60 + k, "1".repeat(k % 6 + 1))).collect();
    let texts = [
        lines.clone(),
        format!("# of all\n# kinds\n\n{lines}"),
        lines.trim_end().into(),
        lines.replace('\n', "\r\n"),
        lines.replace("\n1", "\n# in the middle\n% sym\n\n1"),
        weighted.clone(),
        format!("% asym weighted\n{weighted}"),
        format!("% sym unweighted\n{}", lines.replace("0", "3")),
        format!("% bip\n{weighted}"),
        // No vertex 0.
        weighted.replace("\n", "\n\n"),
        format!("# {}\n0 1", "long ".repeat(3000)),
        "0 0".into(),
        "5 5\n".into(),
        // Duplicates with weights.
        format!("0 1 5\n{weighted}0 1 2\n7 7 1\n"),
        // Refused, whichever rank sees it.
        format!("{lines}1 x\n"),
        format!("{lines}1 2 3\n"),
        format!("{weighted}1 2\n"),
        format!("{lines}-1 2\n"),
        format!("{}1 2 3 4\n", weighted),
        "# no edges\n".into(),
        String::new(),
    ];
    let plain = EdgeOptions::new();
    let options = [
        plain,
        plain.zero_based(true),
        plain.zero_based(false),
        plain.undirected(true),
        plain.zero_based(true).undirected(true).repeated(Repeated::Max),
        plain.zero_based(true).repeated(Repeated::Sum),
        plain.zero_based(true).repeated(Repeated::Min),
        plain.zero_based(true).bipartite(true).repeated(Repeated::Sum),
        plain.renumber(true).repeated(Repeated::Sum),
        plain.named(true).repeated(Repeated::Sum),
        plain.renumber(true).bipartite(true),
        plain.max_bytes(1),
    ];
    let mut read = 0;
    for (case, text) in texts.iter().enumerate().flat_map(|(case, text)| [(2 * case, text), (2 * case + 1, text)]) {
        let packed = if case % 2 == 1 { gzip(text.as_bytes()) } else { text.as_bytes().to_vec() };
        put(cluster, &path, &packed);
        for (number, options) in options.iter().enumerate() {
            let what = format!("edges {case}, options {number}");
            match (parse_edges_with(text.as_bytes(), &name, options), cluster.read_edges(&path, options)) {
                (Ok(here), Ok(there)) => {
                    read += 1;
                    same(&what, &Matrix::new(here.pattern, here.values).unwrap(), &there);
                }
                (Err(here), Err(there)) => {
                    let (here, there) = (here.to_string(), there.to_string());
                    // Rank 0 reports the first error of the file with its line; others may report their own.
                    let is_same = there == here
                        || there.starts_with("rank ") && there.ends_with(&here)
                        || cluster.rank() > 0 && there.starts_with(&format!("{name}:"));
                    let both = |word: &str| here.contains(word) && there.contains(word);
                    let is_other = both("more than once") || both("budget");
                    assert!(is_same || is_other, "{what}: {here}\n{there}");
                }
                (here, there) => panic!("{what}: {:?} and {:?}", here.map(drop), there.map(drop)),
            }
        }
    }
    assert!(read > 60, "{read}");
    together(cluster);
}

/// DIMACS graphs.
fn arcs(cluster: &Cluster, folder: &Path) {
    let path = folder.join("a.gr");
    let name = path.display().to_string();
    let lines: String = (0..60).map(|k| format!("a {} {} {}\n", 7 * k % 23 + 1, 5 * k % 19 + 1, k * k - 40)).collect();
    let texts = [
        format!("c all\nc kinds\np sp 23 60\n{lines}"),
        format!("\nc {}\n p sp 23 60 \n{}", "long ".repeat(3000), lines.replace("\na 1 ", "\nc in the middle\n\na 1 ")),
        format!("p sp 23 60\n{}", lines.trim_end()).replace('\n', "\r\n"),
        "p sp 4 0\n".into(),
        "p sp 2 1\na 2 1 9".into(),
        // Refused, whichever rank sees it.
        format!("p sp 23 61\n{lines}"),
        format!("p sp 22 60\n{lines}"),
        format!("p sp 23 60\n{}", lines.replacen("a 12 ", "b 12 ", 1)),
        format!("p sp 23 60\n{}", lines.replacen("a 12 ", "a x ", 1)),
        format!("p sp 23 61\n{lines}{}", lines.lines().next().unwrap()),
        format!("p aux 23 60\n{lines}"),
        String::new(),
    ];
    for (case, text) in texts.iter().enumerate() {
        for packed in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            put(cluster, &path, &packed);
            for options in [EdgeOptions::new(), EdgeOptions::new().repeated(Repeated::Sum)] {
                let what = format!("arcs {case}");
                match (parse_dimacs_with(text.as_bytes(), &name, &options), cluster.read_dimacs(&path, &options)) {
                    (Ok(here), Ok(there)) => same(&what, &Matrix::new(here.pattern, here.values).unwrap(), &there),
                    (Err(here), Err(there)) => {
                        let (here, there) = (here.to_string(), there.to_string());
                        let own = cluster.rank() > 0 && there.starts_with(&format!("{name}:"));
                        assert!(own || there.ends_with(&here) || here.contains("declares"), "{what}: {here}\n{there}");
                    }
                    (here, there) => panic!("{what}: {:?} and {:?}", here.map(drop), there.map(drop)),
                }
            }
        }
    }
    together(cluster);
}

/// Compressed text of several blocks.
fn blocks(cluster: &Cluster, folder: &Path) {
    let path = folder.join("large.gz");
    let line = |k: usize| format!("{} {} {}\n", k * 7919 % 3001 + 1, k * 104_729 % 2999 + 1, k % 1000);
    let lines: String = (0..700_000).map(line).collect();
    assert!(lines.len() > 2 << 22);
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n3001 2999 700000\n{lines}");
    put(cluster, &path, &gzip(text.as_bytes()));
    let (pattern, values) = parse_matrix_market(text.as_bytes(), "it").unwrap().any().unwrap();
    same("blocks", &Matrix::new(pattern, values).unwrap(), &cluster.read_matrix_market(&path).unwrap());
    // Errors have the line number of the file.
    text.replace_range(text.len() - 3.., "x y\n");
    put(cluster, &path, &gzip(text.as_bytes()));
    let message = cluster.read_matrix_market(&path).unwrap_err().to_string();
    assert!(message.contains(":700002:"), "{message}");
    put(cluster, &path, &gzip(lines.as_bytes()));
    let options = EdgeOptions::new().zero_based(false).repeated(Repeated::Sum);
    let here = parse_edges_with(lines.as_bytes(), "it", &options).unwrap();
    same("edges", &Matrix::new(here.pattern, here.values).unwrap(), &cluster.read_edges(&path, &options).unwrap());
    let cut = gzip(lines.as_bytes());
    put(cluster, &path, &cut[..cut.len() - 9]);
    assert!(cluster.read_edges(&path, &options).is_err());
    together(cluster);
}

/// The text written by one CPU.
fn text_of(a: &Matrix) -> String {
    let mut text = Vec::new();
    let (pattern, values) = (a.pattern().unwrap(), a.values().unwrap());
    write_matrix_market_any_to(&mut text, pattern, values, &WriteOptions::new()).unwrap();
    String::from_utf8(text).unwrap()
}

fn with_values(a: &Matrix, values: Array) -> Matrix {
    Matrix::new(a.pattern().unwrap().clone(), values).unwrap()
}

fn writing(cluster: &Cluster, folder: &Path) {
    let machine = cluster.machine();
    let path = folder.join("b.mtx");
    for (case, (shape, entries)) in
        [((0, 0), 0), ((5, 3), 0), ((1, 1), 1), ((3, 2), 4), ((2, 700), 90), ((60, 50), 400)].into_iter().enumerate()
    {
        let mut draw = Draw::new(case as u64 + 60);
        let a = draw.matrix(shape, entries);
        let n = a.nnz();
        let mut kinds: Vec<Matrix> = vec![a.clone()];
        let odd = [0.1, -0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX, 1.0 / 3.0, f64::NAN];
        kinds.push(with_values(&a, Array::of((0..n).map(|k| odd[k % 8]).collect::<Vec<f64>>())));
        kinds.push(with_values(&a, Array::of((0..n).map(|k| k as f32 / 3.0).collect::<Vec<f32>>())));
        kinds.push(with_values(&a, Array::of((0..n).map(|k| i64::MIN + k as i64).collect::<Vec<i64>>())));
        kinds.push(with_values(&a, Array::of(vec![true; n])));
        // The values of one rank determine the field of the file.
        kinds.push(with_values(&a, Array::of((0..n).map(|k| k + 1 < n).collect::<Vec<bool>>())));
        kinds.push(with_values(&a, Array::of((0..n).map(|k| k as u64).collect::<Vec<u64>>())));
        kinds.push(with_values(&a, Array::of((0..n).map(|k| if k == 0 { u64::MAX } else { 1 }).collect::<Vec<u64>>())));
        kinds.push(with_values(&a, Array::of((0..n).map(|k| Complex::new(k as f64, -0.5)).collect::<Vec<_>>())));
        for a in &kinds {
            let what = format!("{} of {shape:?}", a.ty());
            let there = machine.upload(a).unwrap();
            cluster.write_matrix_market(&path, &there).unwrap();
            let expected = text_of(a);
            let found = fs::read_to_string(&path).unwrap();
            let lines = |text: &str| {
                let (head, mut lines) = (text.lines().take(2).map(String::from).collect::<Vec<_>>(), Vec::new());
                lines.extend(text.lines().skip(2).map(String::from));
                lines.sort_unstable();
                (head, lines)
            };
            assert_eq!(lines(&found), lines(&expected), "{what}");
            assert_eq!(found.len(), expected.len(), "{what}");
            let again = cluster.read_matrix_market(&path).unwrap();
            let (pattern, values) = parse_matrix_market(expected.as_bytes(), "it").unwrap().any().unwrap();
            same(&what, &Matrix::new(pattern, values).unwrap(), &again);
            // Wait until all ranks have read the file before it is overwritten.
            together(cluster);
        }
        // A replicated matrix.
        cluster.write_matrix_market(&path, &a).unwrap();
        same("host", &a, &cluster.read_matrix_market(&path).unwrap());
        let packed = folder.join("b.mtx.gz");
        cluster.write_matrix_market(&packed, &machine.upload(&a).unwrap()).unwrap();
        same("packed", &a, &cluster.read_matrix_market(&packed).unwrap());
        together(cluster);
    }
}

fn failures(cluster: &Cluster, folder: &Path) {
    let last = cluster.size() - 1;
    let is_last = cluster.rank() == last;
    let a = cluster.machine().upload(&Draw::new(2).matrix((40, 40), 300)).unwrap();
    let path = folder.join("c.mtx");
    put(cluster, &path, b"before");
    // One rank sees another directory.
    let own = if is_last { folder.join("missing/c.mtx") } else { path.clone() };
    let named = |message: String| {
        assert!(message.contains("missing") && (is_last || message.contains(&format!("rank {last}"))), "{message}");
    };
    named(cluster.write_matrix_market(&own, &a).unwrap_err().to_string());
    named(cluster.read_matrix_market(&own).map(drop).unwrap_err().to_string());
    together(cluster);
    assert_eq!(fs::read(&path).unwrap(), b"before", "as it was");
    let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.ends_with(".part")));
    for wrong in [Path::new("/dev/full"), Path::new("/no/such/folder/a.mtx"), folder] {
        assert!(cluster.write_matrix_market(wrong, &a).is_err(), "{wrong:?}");
    }
    cluster.write_matrix_market("/dev/null", &a).unwrap();
    // All ranks get the error and remain usable.
    together(cluster);
    cluster.write_matrix_market(&path, &a).unwrap();
    assert_eq!(cluster.read_matrix_market(&path).unwrap().nnz(), a.nnz());
    assert_eq!(a.ty(), Type::F64);
    together(cluster);
}

//! The data files and their known facts, through a minimal reader that shares no code with the library's.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use sparring::algebra::Plus;
use sparring::{Coo, Csr};

/// A data file and its known facts.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub(crate) path: PathBuf,
    facts: Json,
    pub(crate) kind: String,
}

impl Fact {
    /// A required number.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.facts[name].as_u64().unwrap_or_else(|| panic!("{}: no {name} in index.json", self.name()))
    }
    /// A fraction, if known.
    pub(crate) fn fraction(&self, name: &str) -> Option<f64> {
        self.facts[name].as_f64()
    }
    /// Required numbers.
    pub(crate) fn numbers(&self, name: &str) -> Vec<u64> {
        let list = self.facts[name].as_array().map(|list| list.iter().map(Json::as_u64).collect());
        list.flatten().unwrap_or_else(|| panic!("{}: no {name} in index.json", self.name()))
    }
    /// Known decompositions of a tensor: rank, seed, sweeps, fit.
    pub(crate) fn fits(&self) -> Vec<(usize, u64, usize, f64)> {
        let known = self.facts["cp"].as_array().map_or(&[][..], Vec::as_slice);
        let fit = |cp: &Json| {
            let number = |name: &str| cp[name].as_u64();
            Some((number("rank")? as usize, number("seed")?, number("sweeps")? as usize, cp["fit"].as_f64()?))
        };
        known.iter().map(|cp| fit(cp).unwrap_or_else(|| panic!("{}: {cp}", self.name()))).collect()
    }
    pub(crate) fn is_tensor(&self) -> bool {
        self.kind == "tensor"
    }
    /// Number of triangles, if it is a graph.
    pub(crate) fn triangles(&self) -> Option<u64> {
        self.facts["tri"].as_u64()
    }
    /// Whether the matrix is square.
    pub(crate) fn is_square(&self) -> bool {
        !self.is_tensor() && self.number("rows") == self.number("cols")
    }
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
    /// The matrix, with symmetric halves mirrored.
    pub(crate) fn read(&self) -> Csr<f64> {
        read(&self.path)
    }
}

/// The folder of data in the source tree.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

/// Facts of the files in the source tree.
pub(crate) fn facts() -> Vec<Fact> {
    index(&folder())
}

/// Facts of the larger collection that `SPARRING_DATA` points at; prints a note if it is not set.
pub(crate) fn collection() -> Vec<Fact> {
    match std::env::var_os("SPARRING_DATA") {
        Some(folder) => index(Path::new(&folder)),
        None => {
            eprintln!("skipped: SPARRING_DATA is not set, so only the files in data/ are checked");
            Vec::new()
        }
    }
}

fn index(folder: &Path) -> Vec<Fact> {
    let path = folder.join("index.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let list: Vec<Json> = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert!(!list.is_empty(), "{} lists nothing", path.display());
    list.into_iter()
        .map(|mut d| Fact {
            path: folder.join(d["file"].as_str().expect("a file name")),
            kind: d["kind"].as_str().expect("a kind").into(),
            facts: d["facts"].take(),
        })
        .collect()
}

/// A matrix of `data/`, by its name without extensions.
pub(crate) fn named(name: &str) -> Csr<f64> {
    read(&folder().join(format!("{name}.mtx.gz")))
}

/// Reads Matrix Market text in coordinate format, symmetric halves mirrored; trusts the file.
fn read(path: &Path) -> Csr<f64> {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let mut lines = text.lines();
    let header = lines.next().expect("a header");
    let symmetric = header.ends_with("symmetric");
    assert!(header.starts_with("%%MatrixMarket matrix coordinate") && (symmetric || header.ends_with("general")));
    let mut lines = lines.filter(|l| !l.starts_with('%') && !l.trim().is_empty());
    let size: Vec<usize> =
        lines.next().expect("sizes").split_whitespace().map(|w| w.parse().expect("a size")).collect();
    let (mut rows, mut cols, mut values) = (vec![], vec![], vec![]);
    for line in lines {
        let mut words = line.split_ascii_whitespace();
        let mut index = || words.next().expect("an index").parse::<u32>().expect("an index") - 1;
        let (i, j) = (index(), index());
        let x: f64 = words.next().map_or(1.0, |w| w.parse().expect("a value"));
        rows.push(i);
        cols.push(j);
        values.push(x);
        if symmetric && i != j {
            rows.push(j);
            cols.push(i);
            values.push(x);
        }
    }
    Coo::new(size[0], size[1], rows, cols, values).expect("entries in range").to_csr(Plus::new()).expect("memory")
}

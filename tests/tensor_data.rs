//! Tensors of `data/`, and of the collection that `SPARRING_DATA` names, compared with their known facts.

mod common;

use std::collections::BTreeMap;
use std::io::Read;

use common::data::{self, Fact};
use sparring::io::{Duplicates, FrosttOptions, WriteOptions, read_frostt, read_frostt_with, write_frostt};
use sparring::tensor::Tensor;

/// Indices and values, by plain splitting of lines and words; trusts the file.
fn plain(fact: &Fact) -> Vec<(Vec<u32>, f64)> {
    let mut text = String::new();
    let file = std::fs::File::open(&fact.path).unwrap_or_else(|e| panic!("{}: {e}", fact.path.display()));
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let (place, value) = line.trim().rsplit_once(' ').expect("a value");
            let index = |word: &str| word.parse::<u32>().expect("an index") - 1;
            (place.split_ascii_whitespace().map(index).collect(), value.parse().expect("a value"))
        })
        .collect()
}

/// Number of distinct index tuples without `mode`.
fn fibres(x: &Tensor<f64>, mode: usize) -> u64 {
    let mut places: Vec<Vec<u32>> =
        (0..x.nnz()).map(|e| (0..x.order()).filter(|&m| m != mode).map(|m| x.indices(m)[e]).collect()).collect();
    places.sort_unstable();
    places.dedup();
    places.len() as u64
}

fn known(fact: &Fact) {
    let name = fact.name();
    let x = read_frostt::<f64>(&fact.path).unwrap().narrow().expect("32 bits");
    let dims: Vec<u64> = x.dims().iter().map(|&n| n as u64).collect();
    assert_eq!((dims, x.nnz() as u64), (fact.numbers("dims"), fact.number("nnz")), "{name}");
    // The entries, bit for bit, in file order, which is sorted.
    let want = plain(fact);
    assert_eq!(want.len(), x.nnz(), "{name}");
    for (e, (place, value)) in want.iter().enumerate() {
        assert!((0..x.order()).all(|m| x.indices(m)[e] == place[m]), "{name}: entry {e} is at {:?}", x.coordinates(e));
        assert_eq!(x.values()[e].to_bits(), value.to_bits(), "{name}: entry {e}");
    }
    // No entry occurs twice.
    let strict = read_frostt_with::<f64>(&fact.path, &FrosttOptions::new().duplicates(Duplicates::Refuse)).unwrap();
    assert!(strict.narrow() == Some(x.clone()), "{name}");

    let values = x.values();
    assert_eq!(values.iter().filter(|x| **x < 0.0).count() as u64, fact.number("neg"), "{name}");
    let near = |found: f64, want: f64| (found - want).abs() <= 1e-12 * want.abs();
    assert!(near(values.iter().sum(), fact.fraction("sum").expect("a sum")), "{name}");
    let norm2: f64 = values.iter().map(|x| x * x).sum();
    if let Some(want) = fact.fraction("norm2") {
        assert!(near(norm2, want), "{name}: {norm2}, expected {want}");
        assert_eq!(values.iter().filter(|x| **x == 0.0).count() as u64, fact.number("zeros"), "{name}");
    } else {
        assert!(near(norm2.sqrt(), fact.fraction("norm").expect("a norm")), "{name}: {norm2}");
    }
    for mode in 0..x.order() {
        let mut slices: BTreeMap<u32, u64> = BTreeMap::new();
        x.indices(mode).iter().for_each(|&i| *slices.entry(i).or_default() += 1);
        assert_eq!(slices.len() as u64, fact.numbers("nonempty")[mode], "{name}, mode {mode}");
        assert_eq!(slices.values().max(), Some(&fact.numbers("maxslice")[mode]), "{name}, mode {mode}");
        assert_eq!(fibres(&x, mode), fact.numbers("fibers")[mode], "{name}, mode {mode}");
    }

    // Written and read again without change.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.tns.gz");
    write_frostt(&path, &x, &WriteOptions::new()).unwrap();
    assert!(read_frostt::<f64>(&path).unwrap().narrow() == Some(x), "{name}");
}

#[test]
fn tensors_have_the_facts_of_their_index() {
    let tensors: Vec<Fact> = data::facts().into_iter().filter(Fact::is_tensor).collect();
    assert!(tensors.len() >= 5 && tensors.iter().any(|f| f.name() == "aminoacid.tns.gz"));
    tensors.iter().for_each(known);
    // Other tests check the decompositions; each tensor must list some.
    assert!(tensors.iter().all(|f| f.fits().len() >= 2 && f.fits().iter().all(|fit| 0.0 < fit.3 && fit.3 < 1.0)));
}

#[test]
fn tensors_of_the_collection_have_the_facts_of_their_index() {
    data::collection().iter().filter(|f| f.is_tensor()).for_each(known);
}

/// The same facts as integers: knowledge graphs are patterns, and counts are exact.
#[test]
fn tensors_of_counts_are_read_as_integers() {
    for name in ["nations", "kinships", "enron-5", "WN18RR"] {
        let path = data::folder().join(format!("{name}.tns.gz"));
        let (reals, counts) = (read_frostt::<f64>(&path).unwrap(), read_frostt::<u16>(&path).unwrap());
        assert!(reals.values().iter().zip(counts.values()).all(|(x, n)| *x == f64::from(*n)), "{name}");
    }
    let refused = read_frostt::<i32>(data::folder().join("aminoacid.tns.gz")).unwrap_err().to_string();
    assert!(refused.contains("aminoacid.tns.gz:") && refused.ends_with("does not fit i32"), "{refused}");
}

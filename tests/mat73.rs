//! MAT-files of version 7.3: accepted files, rejected files with reasons, and mutated files.
//!
//! `tests/golden/mat/v73.py` writes the files.

#![cfg(feature = "hdf5")]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::arbitrary::Rng;
use common::counting::{self, Counting};
use sparring::io::{LabeledMatrix, MatlabOptions, parse_mat_with, read_mat_with};
use sparring::num_complex::Complex;
use sparring::{Csr, Error, Result};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn path(name: &str) -> String {
    format!("{}/tests/golden/mat/{name}", env!("CARGO_MANIFEST_DIR"))
}
fn file(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}
fn read(name: &str, variable: &str) -> Result<LabeledMatrix> {
    read_mat_with(path(name), &MatlabOptions::new().variable(variable))
}

#[test]
fn matrices_are_read() {
    let _alone = counting::alone();
    let a = Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 2], vec![1.0, -2.5, 4.0]).unwrap();
    let plain = MatlabOptions::new();
    for name in ["one73.mat", "problem73.mat"] {
        assert_eq!(parse_mat_with(&file(name), name, &plain).unwrap().csr::<f64>().unwrap(), a, "{name}");
    }
    for (name, variable) in [
        ("one73.mat", "A"),
        ("several73.mat", "A"),
        ("problem73.mat", "Problem.A"),
        ("latest73.mat", "Problem.A"),
        ("latest73.mat", "Big"),
    ] {
        assert_eq!(read(name, variable).unwrap().csr::<f64>().unwrap(), a, "{name} {variable}");
    }
    let several = |variable| read("several73.mat", variable).unwrap();
    let pattern = |a: &LabeledMatrix| (a.pattern.shape(), a.pattern.row_ptr().to_vec(), a.pattern.col_idx().to_vec());
    let logical = several("L").csr::<bool>().unwrap();
    assert_eq!(logical, Csr::new(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![true; 3]).unwrap());
    let complex = several("Z").csr::<Complex<f64>>().unwrap();
    assert_eq!((complex.pattern().col_idx(), complex.values().len()), (&[1, 0][..], 2));
    assert_eq!(complex.values(), [Complex::new(1.0, -2.0), Complex::new(0.0, 0.5)]);
    assert_eq!(several("F").csr::<f32>().unwrap().values(), [1.5, 3.0]);
    assert_eq!(pattern(&several("Empty")), ((4, 3), vec![0; 5], vec![]));
    assert_eq!(pattern(&read("problem73.mat", "Problem.Zeros").unwrap()), ((2, 3), vec![0; 3], vec![]));
    assert_eq!(pattern(&several("None")), ((0, 3), vec![0], vec![]));
    let dense = several("D");
    assert_eq!(pattern(&dense), ((2, 3), vec![0, 2, 4], vec![0, 2, 1, 2]));
    let dense = dense.csr::<f64>().unwrap();
    assert_eq!(dense.values(), [1.0, -0.0, 2.5, 3.0]);
    assert!(dense.values()[1].is_sign_negative());
    assert_eq!(several("S").csr::<f32>().unwrap().values(), [1.5, -2.0, 7.0]);
    assert_eq!(several("B").csr::<bool>().unwrap().nnz(), 3);
    assert_eq!(read("problem73.mat", "Problem.aux.b").unwrap().csr::<f64>().unwrap().values(), [1.0, 2.0]);
}

/// Chunked data, with and without deflate and shuffle, gives the result of the version 5 reader.
#[test]
fn version_5_holds_the_same() {
    let _alone = counting::alone();
    let five = |variable| read("same5.mat", variable).unwrap().csr::<f64>().unwrap();
    for (name, variable, same) in [
        ("packed73.mat", "M", "M"),
        ("packed73.mat", "D", "D"),
        ("packed73.mat", "P", "D"),
        ("packed73.mat", "W", "W"),
        ("latest73.mat", "M", "M"),
    ] {
        let (found, expected) = (read(name, variable).unwrap().csr::<f64>().unwrap(), five(same));
        assert!(expected.nnz() >= 120);
        assert_eq!(found, expected, "{name} {variable}");
    }
}

#[test]
fn what_is_not_read_is_refused() {
    let _alone = counting::alone();
    for (name, variable, said) in [
        ("several73.mat", "", "it has no matrix ; its matrices: A, B, C, D, Empty, F, L, None, S, U, Z"),
        ("several73.mat", "C", "C: dense complex matrices are not read"),
        ("several73.mat", "U", "U: dense matrices of integers are not read"),
        ("several73.mat", "I", "no matrix I"),
        ("several73.mat", "note", "no matrix note"),
        ("problem73.mat", "cell", "no matrix cell; its matrices: Problem.A, Problem.Zeros, Problem.aux.b"),
        ("wrong73.mat", "Unsorted", "Unsorted: the rows of a column do not increase"),
        ("wrong73.mat", "Twice", "Twice: the rows of a column do not increase"),
        ("wrong73.mat", "Outside", "Outside: row 2 is not below 2"),
        ("wrong73.mat", "Short", "Short: its column pointers do not fit its entries"),
        ("wrong73.mat", "Falling", "Falling: its column pointers do not fit its entries"),
        ("wrong73.mat", "Late", "Late: its column pointers do not fit its entries"),
        ("wrong73.mat", "Real", "Real: its indices are no whole numbers"),
        ("wrong73.mat", "Negative", "Negative: its indices are negative"),
        ("wrong73.mat", "Few", "Few: it has fewer values than entries"),
        ("wrong73.mat", "Pointers", "Pointers: it lacks its column pointers"),
        ("wrong73.mat", "Filter", "Filter: a dataset is packed by filter 32000; deflate and shuffle are read"),
        ("wrong73.mat", "Holes", "Holes: a dataset of it lacks chunks"),
        ("wrong73.mat", "Plain", "no matrix Plain"),
    ] {
        let line = read(name, variable).unwrap_err().to_string();
        assert!(line.contains(said), "{line}");
    }
    let plain = MatlabOptions::new();
    let several = parse_mat_with(&file("several73.mat"), "a", &plain).unwrap_err().to_string();
    assert!(several.contains("one of which is to be named (--variable): A, B"), "{several}");
    for cut in [19, 128, 511, 512, 600, 1500, 3000] {
        let line = parse_mat_with(&file("one73.mat")[..cut], "a", &plain).unwrap_err().to_string();
        assert!(line.contains("it was cut or damaged"), "{cut}: {line}");
    }
}

/// Chunks and declared rows beyond the limit are refused before memory is allocated.
#[test]
fn a_limit_is_that_of_the_unpacked_bytes() {
    let _alone = counting::alone();
    let packed = file("packed73.mat");
    let options = MatlabOptions::new().variable("W").max_bytes(200_000);
    assert!(packed.len() < 100_000);
    let (result, peak) = counting::peak(|| parse_mat_with(&packed, "a", &options));
    let line = result.unwrap_err();
    assert!(matches!(line, Error::Budget { bytes: 240_000, budget: 200_000, .. }), "{line}");
    assert!(peak < 100_000, "{peak} bytes");
    parse_mat_with(&packed, "a", &options.max_bytes(240_000)).unwrap();

    let mut rows = file("one73.mat");
    let at = rows.windows(13).position(|name| name == b"MATLAB_sparse").unwrap();
    let value = at + rows[at..].windows(8).position(|value| value == 2u64.to_le_bytes()).unwrap();
    rows[value..value + 8].copy_from_slice(&2_000_000_000u64.to_le_bytes());
    let line = parse_mat_with(&rows, "a", &MatlabOptions::new().max_bytes(1 << 20)).unwrap_err();
    assert!(matches!(line, Error::Budget { bytes: 16_000_000_000, .. }), "{line}");
}

/// Changes a few bytes, or moves parts of the file.
fn mutated(random: &mut Rng, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..1 + random.below(4) {
        let at = 512 + random.below(bytes.len() - 511);
        let to = (at + 1 + random.below(8)).min(bytes.len());
        match random.below(8) {
            0 if random.below(4) == 0 => bytes.truncate(at),
            0 => drop(bytes.drain(at..to)),
            1 => {
                // An address copied from elsewhere.
                let from = 512 + random.below(bytes.len() - 511);
                let copy = bytes[from..(from + 8).min(bytes.len())].to_vec();
                let len = copy.len().min(bytes.len() - at.min(bytes.len()));
                bytes[at..at + len].copy_from_slice(&copy[..len]);
            }
            2 => bytes[at..to].fill(0xff),
            3 => bytes[at..to].fill(0),
            4 => bytes[at..to].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1)),
            _ => bytes[at..to].iter_mut().take(1).for_each(|byte| *byte = random.next() as u8),
        }
        if bytes.len() < 600 {
            break;
        }
    }
    bytes
}

#[test]
fn mutated_files_neither_panic_nor_fill_the_memory() {
    const ROUNDS: u64 = 40_000;
    const MOST: u64 = 1 << 20;
    let _alone = counting::alone();
    let seeds: Vec<(Vec<u8>, &[&str])> = vec![
        (file("one73.mat"), &["A"]),
        (file("several73.mat"), &["A", "Z", "Empty", "D", "S", "None"]),
        (file("problem73.mat"), &["Problem.A", "Problem.aux.b"]),
        (file("packed73.mat"), &["M", "D", "W", "P"]),
        (file("latest73.mat"), &["M", "Big", "Problem.A"]),
    ];
    let rounds = std::env::var("SPARRING_FUZZ_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    let (mut accepted, mut most) = (0, 0);
    for round in 0..rounds {
        let random = &mut Rng(round);
        let (seed, names) = &seeds[random.below(seeds.len())];
        let input = mutated(random, seed.clone());
        let options = MatlabOptions::new().variable(random.pick(names)).max_bytes(MOST);
        let (result, peak) =
            counting::peak(|| catch_unwind(AssertUnwindSafe(|| parse_mat_with(&input, "fuzz", &options))));
        most = most.max(peak);
        match result {
            Ok(Ok(found)) => {
                assert!(found.pattern.row_ptr().is_sorted());
                accepted += 1;
            }
            Ok(Err(e)) => assert!(!matches!(e, Error::OutOfMemory { .. }), "round {round}: {e}"),
            Err(_) => panic!("round {round}"),
        }
    }
    println!("{rounds} files, {accepted} accepted, {most} bytes at most");
    assert!(accepted * 20 > rounds, "{accepted} accepted");
    // The stored elements, read as f64 and as entries, and the matrix.
    assert!(most < 8 * MOST, "{most} bytes");
}

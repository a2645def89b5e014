//! Bounded fuzzing of the readers of tables, svmlight, graphs, and files of NumPy and SciPy: valid files, mutated.
//!
//! No input may panic. A text is accepted, or rejected for the same reason, whatever the pieces, the threads and the
//! compression. Accepted text keeps its content: a row per line, no line lost, and the same matrix after a round trip.
//! Seeds are fixed, so a failure repeats; `SPARRING_FUZZ_SECONDS` extends the run, with fresh seeds after the fixed
//! ones.

mod common;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use common::arbitrary::Rng;
use flate2::Compression;
use flate2::write::GzEncoder;
use sparring::algebra::Slice;
use sparring::io::{
    CsvOptions, EdgeOptions, LabeledMatrix, MatlabOptions, NumpyOptions, SvmlightOptions, WriteOptions, parse_csv_with,
    parse_dimacs_with, parse_edges_with, parse_mat_with, parse_metis_with, parse_npy_array_with, parse_npy_with,
    parse_npz_with, parse_svmlight_with, write_csv_to, write_npy_to, write_npz_to, write_svmlight_to,
};
use sparring::num_complex::Complex;
use sparring::par::Threads;
use sparring::runtime;
use sparring::sparse::HyperCsr;
use sparring::{Csr, Error, Result, Vector};

const FIXED_ROUNDS: u64 = 20_000;

/// Numbering of the formats in this test.
const CSV: usize = 0;
const SVM: usize = 1;
const EDGES: usize = 2;
const DIMACS: usize = 3;
const METIS: usize = 4;
const NAMED: usize = 5;

const SEEDS: &[(usize, &str)] = &[
    (CSV, "1,0,-2.5\n0,1e3,nan\n# note\n\n-0,.5,3\n"),
    (CSV, "\u{feff}\"1\", 2\r\n3,\"4\"\r\n"),
    (SVM, "1 1:0.5 3:-2 # note\n-1 qid:3 2:1e-3\n\n+1\n0.5 7:1 2:2\n"),
    (SVM, "1,2 1:1\r\n3 2:2\r\n"),
    (EDGES, "# a comment\n0 1\n1\t2\n2 0\n"),
    (EDGES, "% asym positive\n1,2,0.5\n2,3,1\n"),
    (EDGES, "% sym unweighted\n1 2\n2 3\n"),
    (NAMED, "# names\nada bea\nbea,cleo\n1 zoë\n"),
    (NAMED, "ada bea 0.5\nbea ada 2\n"),
    (DIMACS, "c note\np sp 3 2\na 1 2 17\na 3 1 5\n"),
    (METIS, "% note\n4 3\n2 3\n1\n1 4\n3\n"),
    (METIS, "2 1 11\n9 2 5\n9 1 5\n"),
];

const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    ",",
    ";",
    ":",
    "\"",
    "\"\"",
    "#",
    "%",
    "-",
    "+",
    ".",
    "e",
    "0",
    "1",
    "2",
    "1:1 ",
    "0:1 ",
    "NA",
    "nan",
    "inf",
    "TRUE",
    "1e308",
    "1e309",
    "4294967295",
    "4294967296",
    "9223372036854775808",
    "\u{feff}",
    "\0",
    "\u{fffd}",
    "0x1",
    "1d0",
    "a ",
    "c ",
    "p sp ",
    "% bip\n",
    "qid:1 ",
    "\n\n",
    "%%MatrixMarket",
];

fn mutated(random: &mut Rng, mut text: Vec<u8>, words: bool) -> Vec<u8> {
    for _ in 0..random.below(5) {
        let at = random.below(text.len() + 1);
        let to = (at + random.below(8)).min(text.len());
        match random.below(if words { 9 } else { 5 }) {
            0 if random.below(4) == 0 => text.truncate(at),
            0 | 1 => drop(text.drain(at..to)),
            2 => {
                if let Some(byte) = text.get_mut(at) {
                    *byte = random.next() as u8;
                }
            }
            3 => {
                let copy = text[at..to].to_vec();
                let put = random.below(text.len() + 1);
                text.splice(put..put, copy);
            }
            4..=6 => {
                if let Some(p) = text[at..].iter().position(u8::is_ascii_digit) {
                    text[at + p] = b'0' + random.below(10) as u8;
                }
            }
            _ => drop(text.splice(at..at, WORDS[random.below(WORDS.len())].bytes())),
        }
    }
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// Compressed by zstd, after a skippable frame.
#[cfg(feature = "zstd")]
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    for part in [first, rest] {
        packed.extend(ruzstd::encoding::compress_to_vec(part, ruzstd::encoding::CompressionLevel::Fastest));
    }
    packed
}
#[cfg(not(feature = "zstd"))]
fn zstd(bytes: &[u8]) -> Vec<u8> {
    gzip(bytes)
}

fn read(format: usize, bytes: &[u8], threads: &Threads, piece: usize) -> Result<LabeledMatrix> {
    const MOST: u64 = 1 << 20;
    let edges = EdgeOptions::new().threads(threads).piece_bytes(piece).max_bytes(MOST);
    match format {
        CSV => parse_csv_with(bytes, "fuzz", &CsvOptions::new().threads(threads).piece_bytes(piece).max_bytes(MOST)),
        SVM => {
            let options = SvmlightOptions::new().threads(threads).piece_bytes(piece).max_bytes(MOST);
            parse_svmlight_with(bytes, "fuzz", &options)
        }
        NAMED => parse_edges_with(bytes, "fuzz", &edges.named(true)),
        EDGES => parse_edges_with(bytes, "fuzz", &edges),
        DIMACS => parse_dimacs_with(bytes, "fuzz", &edges),
        _ => parse_metis_with(bytes, "fuzz", &edges),
    }
}

/// The complete result as text.
fn shown(file: &LabeledMatrix) -> String {
    format!("{:?} {:?} {:?} {:?}", file.pattern, file.values, file.labels, file.ids)
}

/// Checks one text, and returns whether it was accepted.
fn check(format: usize, bytes: &[u8], pools: &[Threads]) -> bool {
    let whole = read(format, bytes, &pools[0], 1 << 20);
    let told = |found: &Result<LabeledMatrix>| found.as_ref().map(shown).map_err(ToString::to_string);
    let want = told(&whole);
    let packed = gzip(bytes);
    for other in [
        read(format, bytes, &pools[1], 1),
        read(format, &packed, &pools[0], 1 << 20),
        read(format, &packed, &pools[1], 3),
        // Compression takes as long as everything else.
        if bytes.len().is_multiple_of(32) {
            read(format, &zstd(bytes), &pools[1], 3)
        } else {
            read(format, bytes, &pools[1], 2)
        },
    ] {
        assert_eq!(told(&other), want);
    }
    let file = match whole {
        Ok(file) => file,
        Err(e) => {
            assert!(!matches!(e, Error::OutOfMemory { .. }), "{e}");
            return false;
        }
    };
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = &*String::from_utf8_lossy(text);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let options = WriteOptions::new();
    let (pattern, values) = (&file.pattern, file.values.slice());
    let mut written = Vec::new();
    let again = match format {
        CSV => {
            // A row per line, and in every cell its number.
            if text.is_ascii() && !text.contains(['"', '\u{b}', '\u{c}']) {
                let cells =
                    |line: &str| line.split(',').map(|x| x.trim().to_lowercase().replace('d', "e")).collect::<Vec<_>>();
                let rows: Vec<Vec<String>> = lines().map(cells).collect();
                assert_eq!(pattern.shape(), (rows.len(), rows[0].len()));
                let a = Csr::with_pattern(pattern.clone(), values.get::<f64>().unwrap().to_vec()).unwrap();
                for (i, row) in rows.iter().enumerate() {
                    for (j, cell) in row.iter().enumerate() {
                        let want: f64 = cell.parse().unwrap();
                        let found = a.get(i, j).copied().unwrap_or(0.0);
                        assert!(found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan()), "{cell}");
                    }
                }
            }
            write_csv_to(&mut written, pattern, values, &options).unwrap();
            read(CSV, &written, &pools[0], 64).unwrap()
        }
        SVM => {
            assert!(!text.is_ascii() || pattern.nrows() == lines().count() || text.contains(['\u{b}', '\u{c}']));
            write_svmlight_to(&mut written, pattern, values, &file.labels, &options).unwrap();
            read(SVM, &written, &pools[0], 64).unwrap()
        }
        _ => {
            assert!(pattern.row_ptr().is_sorted());
            return true;
        }
    };
    let nan = |text: String| text.replace("-nan", "nan").replace("-NaN", "NaN");
    assert_eq!(nan(shown(&again)), nan(shown(&file)));
    true
}

#[test]
fn mutated_texts_are_refused_or_keep_what_they_say() {
    let seconds = std::env::var("SPARRING_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let until = Instant::now() + Duration::from_secs(seconds);
    let pools = [1, 3].map(|n| Threads::new(n).unwrap());
    for (format, seed) in SEEDS {
        assert!(check(*format, seed.as_bytes(), &pools), "{seed}");
    }
    let (mut accepted, mut round) = (0, 0);
    while round < FIXED_ROUNDS || Instant::now() < until {
        let random = &mut Rng(round);
        let (format, seed) = SEEDS[random.below(SEEDS.len())];
        let input = mutated(random, seed.as_bytes().to_vec(), true);
        match catch_unwind(AssertUnwindSafe(|| check(format, &input, &pools))) {
            Ok(kept) => accepted += u64::from(kept),
            Err(_) => panic!("round {round}, format {format}: {}", input.escape_ascii()),
        }
        round += 1;
    }
    println!("{round} inputs, {accepted} accepted");
    assert!(accepted * 20 > round, "{accepted} of {round} accepted");
}

/// MAT-files, plain and compressed, with one matrix and with structures.
#[test]
fn mutated_mat_files_do_not_panic() {
    let file = |name: &str| std::fs::read(format!("{}/tests/golden/mat/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let seeds = ["one.mat", "packed.mat", "two.mat", "problem.mat", "dense.mat"].map(file);
    let options = MatlabOptions::new().max_bytes(1 << 20);
    let mut accepted = 0;
    for round in 0..FIXED_ROUNDS {
        let random = &mut Rng(round);
        let seed = seeds[random.below(seeds.len())].clone();
        let input = mutated(random, seed, false);
        let named = if random.below(2) == 0 { options.variable("A") } else { options };
        match catch_unwind(AssertUnwindSafe(|| parse_mat_with(&input, "fuzz", &named))) {
            Ok(Ok(found)) => {
                assert!(found.pattern.row_ptr().is_sorted());
                accepted += 1;
            }
            Ok(Err(e)) => assert!(!matches!(e, Error::OutOfMemory { .. }), "{e}"),
            Err(_) => panic!("round {round}: {}", input.escape_ascii()),
        }
    }
    assert!(accepted * 20 > FIXED_ROUNDS, "{accepted} accepted");
}

#[test]
fn mutated_arrays_do_not_panic() {
    let a = Csr::<f64>::new(3, 4, vec![0, 2, 2, 4], vec![0, 3, 1, 2], vec![1.0, -0.0, 2.5, 3.0]).unwrap();
    let (mut array, mut matrix) = (Vec::new(), Vec::new());
    write_npy_to(&mut array, a.pattern(), Slice::of(a.values())).unwrap();
    write_npz_to(&mut matrix, a.pattern(), Slice::of(a.values())).unwrap();
    let options = NumpyOptions::new().max_bytes(1 << 20);
    let mut accepted = 0;
    for round in 0..FIXED_ROUNDS {
        let random = &mut Rng(round);
        let of_array = random.below(2) == 0;
        let seed = if of_array { &array } else { &matrix };
        let input = mutated(random, seed.clone(), false);
        let input = match random.below(32) {
            0..4 => gzip(&input),
            4 => mutated(random, zstd(&input), false),
            _ => input,
        };
        let run = || {
            if of_array {
                let dense = parse_npy_array_with(&input, "fuzz", &options);
                let sparse = parse_npy_with(&input, "fuzz", &options);
                dense.is_ok() && sparse.is_ok()
            } else {
                // Checksums of members guarantee that the content is as written.
                parse_npz_with(&input, "fuzz", &options).is_ok_and(|file| {
                    assert_eq!(file.csr::<f64>().unwrap(), a);
                    true
                })
            }
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(kept) => accepted += u64::from(kept),
            Err(_) => panic!("round {round}: {}", input.escape_ascii()),
        }
    }
    assert!(accepted * 20 > FIXED_ROUNDS, "{accepted} accepted");
}

/// Serialized matrices and vectors of every form.
fn serialized() -> Vec<Vec<u8>> {
    let mut all = vec![vec![]; 7];
    let rows = Csr::<f64>::from_unsorted(3, 4, vec![0, 2, 2, 4], vec![3, 0, 1, 2], vec![1.0, -0.0, f64::NAN, 3.0]);
    rows.unwrap().serialize(&mut all[0]).unwrap();
    let few =
        HyperCsr::new(1 << 31, vec![7, 1 << 30], Csr::<i8>::new(2, 9, vec![0, 1, 2], vec![8, 0], vec![-1, 2]).unwrap());
    Csr::try_from(few.unwrap()).unwrap().serialize(&mut all[1]).unwrap();
    Csr::<bool, u64>::new(1, 2, vec![0, 2], vec![0, 1], vec![true, false]).unwrap().serialize(&mut all[2]).unwrap();
    Vector::<u16>::new(9, vec![2, 8], vec![1, 2]).unwrap().serialize(&mut all[3]).unwrap();
    Vector::<Complex<f32>>::full(vec![Complex::new(1.0, -2.0); 3]).unwrap().serialize(&mut all[4]).unwrap();
    Csr::<i64>::constant((2, 3), 7).unwrap().serialize(&mut all[5]).unwrap();
    Vector::<bool>::full(vec![true, false]).unwrap().serialize(&mut all[6]).unwrap();
    all
}

/// Deserializes a matrix or a vector of run-time type, and serializes it again.
fn deserialized(mut bytes: &[u8]) -> Result<Vec<u8>> {
    let mut again = vec![];
    if bytes.starts_with(b"SPARRVEC") {
        runtime::Vector::deserialize(&mut bytes)?.serialize(&mut again)?;
    } else {
        runtime::Matrix::deserialize(&mut bytes)?.serialize(&mut again)?;
    }
    Ok(again)
}

/// Recomputes the checksum of changed bytes.
fn repaired(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(body) = bytes.len().checked_sub(8) {
        let fold = |z: u64, &byte: &u8| (z ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let check = bytes[..body].iter().fold(0xcbf2_9ce4_8422_2325, fold);
        bytes[body..].copy_from_slice(&check.to_le_bytes());
    }
    bytes
}

#[test]
fn mutated_serializations_do_not_panic() {
    let seeds = serialized();
    for seed in &seeds {
        // 8-byte columns come back as 4-byte ones.
        let again = deserialized(seed).unwrap();
        assert!(again == *seed || seed[12] == 8, "{}", seed.escape_ascii());
        assert_eq!(deserialized(&again).unwrap(), again);
        assert_eq!(&repaired(seed.clone()), seed);
    }
    let mut accepted = 0;
    for round in 0..FIXED_ROUNDS {
        let random = &mut Rng(round);
        let seed = seeds[random.below(seeds.len())].clone();
        let input = mutated(random, seed, false);
        let input = if random.below(4) > 0 { repaired(input) } else { input };
        match catch_unwind(AssertUnwindSafe(|| {
            deserialized(&input).map(|again| deserialized(&again).unwrap() == again)
        })) {
            Ok(Ok(same)) => {
                assert!(same, "{}", input.escape_ascii());
                accepted += 1;
            }
            Ok(Err(e)) => assert!(!matches!(e, Error::OutOfMemory { .. }), "{e}: {}", input.escape_ascii()),
            Err(_) => panic!("round {round}: {}", input.escape_ascii()),
        }
    }
    assert!(accepted * 20 > FIXED_ROUNDS, "{accepted} accepted");
}

#[test]
fn damaged_serializations_are_told_with_numbers() {
    let seeds = serialized();
    let [matrix, few, vector, full] = [0, 1, 3, 4].map(|k| &seeds[k]);
    let with = |seed: &[u8], at: usize, bytes: &[u8]| {
        let mut changed = seed.to_vec();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    let huge = |seed: &[u8], at: usize| repaired(with(seed, at, &(u64::MAX >> 1).to_le_bytes()));
    for (bytes, says) in [
        (matrix[..50].to_vec(), "the file ends at byte 50, in the number of entries: 6 more are expected"),
        (with(matrix, 0, b"x"), "the file does not begin as a matrix does"),
        (with(matrix, 8, &[9]), "version 9, this library reads version 1"),
        (repaired(with(matrix, 12, &[5])), "indices of 5 bytes, not 4 or 8"),
        (repaired(with(matrix, 13, &[2])), "form 2, 0, 0; known are 0 and 1"),
        (repaired(with(matrix, 16, b"f63")), "values of the type \"f63\""),
        (huge(matrix, 32), "in the row pointers"),
        (huge(matrix, 40), "9223372036854775807 does not fit, the largest possible is 4294967295"),
        (huge(matrix, 48), "in the indices"),
        (repaired(with(matrix, 64, &[9])), "a row pointer is 9, there are 4 entries"),
        (repaired(with(matrix, 88, &[200])), "an index is 200, of a dimension of 4"),
        (with(matrix, 110, &[1]), "the file is corrupt: its checksum is 0x"),
        (huge(few, 56), "stored rows, of 2147483648"),
        (repaired(with(few, 64, &[0, 0, 0, 0x70])), "follows"),
        (huge(vector, 40), "entries, of length 9"),
        (huge(full, 32), "3 entries, of length 9223372036854775807"),
        (repaired(with(&huge(full, 32), 40, &(u64::MAX >> 1).to_le_bytes())), "in the values"),
        (repaired(with(&seeds[6], 48, &[3])), "a value is 3, no bool"),
    ] {
        let e = deserialized(&bytes).unwrap_err().to_string();
        assert!(e.contains(says), "{e}, expected {says}");
    }
    let e = Csr::<f32>::deserialize(&mut &matrix[..]).unwrap_err().to_string();
    assert!(e.contains("its values are f64, requested as f32"), "{e}");
    // Several objects in succession.
    let mut two: &[u8] = &[&vector[..], full].concat();
    assert_eq!(Vector::<u16>::deserialize(&mut two).unwrap().nnz(), 2);
    assert_eq!(Vector::<Complex<f32>>::deserialize(&mut two).unwrap().as_full().unwrap()[2], Complex::new(1.0, -2.0));
    assert!(two.is_empty());
}

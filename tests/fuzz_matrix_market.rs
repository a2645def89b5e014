//! Bounded fuzzing of the Matrix Market reader: valid files, mutated.
//!
//! No input may panic. An accepted input must keep the reader's guarantees: as many entries as declared, indices in
//! range, the same result for any threads and pieces, and the same matrix after a round trip. Seeds are fixed, so a
//! failure repeats; `SPARRING_FUZZ_SECONDS` extends the run, with fresh seeds after the fixed ones. A failing input is
//! printed escaped.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use sparring::algebra::Type;
use sparring::io::{
    Field, Layout, ReadOptions, Symmetry, WriteOptions, parse_matrix_market_with, read_matrix_market_with,
    write_matrix_market_any_to, write_matrix_market_to,
};
use sparring::num_complex::Complex;
use sparring::par::Threads;
use sparring::{Error, Result};

const FIXED_ROUNDS: u64 = 20_000;

const SEEDS: &[&str] = &[
    "%%MatrixMarket matrix coordinate real general\n% note\n3 4 4\n1 1 1.5\n3 4 -2e-3\n2 2 nan\n3 1 inf\n",
    "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 5\n3 1 -7\n3 2 9223372036854775807\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\r\n\r\n4 4 3\r\n2 1\r\n3 3\r\n4 1\r\n",
    "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 4\n3 2 -1\n",
    "%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 2\n1 1 18446744073709551615\n2 2 0\n",
    "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n",
    "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
    "%%MatrixMarket matrix array double skew-symmetric\n3 3\n1\n2\n3\n",
    "%%MatrixMarket matrix coordinate double hermitian\n2 2 1\n2 1 .5\n",
    "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
    "%%MatrixMarket matrix coordinate complex hermitian\n3 3 3\n1 1 1 0\n2 1 1 -2.5\n3 2 nan inf\n",
    "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 -1\n3 0\n",
    "%%MatrixMarket matrix array complex skew-symmetric\n2 2\n2 -1\n",
    "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 18446744073709551615\n2 2 0\n",
    "%%MatrixMarket matrix coordinate pattern general\n5000000000 5000000000 1\n5000000000 1\n",
    "%%MatrixMarket matrix coordinate real general\n0 0 0\n",
];

/// Fragments inserted by mutations: words and numbers at the limits of validity.
const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "%",
    "-",
    "+",
    ".",
    "e",
    "0",
    "1",
    "2",
    "3",
    "1\n",
    "1 1\n",
    "1 1 1\n",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e309",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "-9223372036854775808",
    "real",
    "integer",
    "pattern",
    "complex",
    "general",
    "symmetric",
    "skew-symmetric",
    "hermitian",
    "array",
    "coordinate",
    "\0",
    "\u{fffd}",
    "0x1",
    "1d0",
    "%%MatrixMarket",
    "% c\n",
    "\n\n",
];

struct Random(u64);
impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn mutated(random: &mut Random) -> Vec<u8> {
    let mut text = SEEDS[random.below(SEEDS.len())].as_bytes().to_vec();
    let most = random.below(5);
    for _ in 0..=random.below(most) {
        // Mostly after the banner, where more inputs stay valid.
        let banner = text.iter().position(|&b| b == b'\n').unwrap_or(0);
        let from = if random.below(4) == 0 { 0 } else { banner };
        let at = from + random.below(text.len() - from + 1);
        let to = (at + random.below(8)).min(text.len());
        match random.below(10) {
            0 => text.truncate(at),
            1 => drop(text.drain(at..to)),
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
            4 => {
                // Duplicates or removes a whole line.
                let from = text[..at].iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1);
                let end = text[from..].iter().position(|&b| b == b'\n').map_or(text.len(), |p| from + p + 1);
                let line = text[from..end].to_vec();
                if random.below(2) == 0 { drop(text.drain(from..end)) } else { drop(text.splice(end..end, line)) }
            }
            5..=7 => {
                // Replaces a digit by another, which often keeps the file valid.
                if let Some(p) = text[at..].iter().position(u8::is_ascii_digit) {
                    text[at + p] = b'0' + random.below(10) as u8;
                }
            }
            8 => drop(text.splice(at..to, WORDS[random.below(WORDS.len())].bytes())),
            _ => drop(text.splice(at..at, WORDS[random.below(WORDS.len())].bytes())),
        }
    }
    match random.below(16) {
        0 => gzip(&text),
        1 => {
            let mut packed = gzip(&text);
            let at = random.below(packed.len());
            packed[at] ^= 1 << random.below(8);
            packed
        }
        _ => text,
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// Checks one input, and returns whether it was accepted.
fn check(bytes: &[u8], pools: &[Threads]) -> bool {
    // A mutated gzip file may claim any size, so its text is bounded.
    let options = |pool, piece| ReadOptions::new().threads(pool).piece_bytes(piece).max_bytes(1 << 20);
    let whole = parse_matrix_market_with(bytes, "fuzz", &options(&pools[0], 1 << 20));
    let pieces = parse_matrix_market_with(bytes, "fuzz", &options(&pools[1], 1));
    // From a file, whose pieces are parsed while it is read.
    let mut stored = tempfile::NamedTempFile::new().unwrap();
    stored.write_all(bytes).unwrap();
    let (path, name) = (stored.path(), stored.path().display().to_string());
    let file = read_matrix_market_with(path, &options(&pools[1], 40)).map_err(|e| e.to_string().replace(&name, "fuzz"));
    let (whole, pieces) = match (whole, pieces) {
        (Ok(a), Ok(b)) => {
            let file = file.unwrap_or_else(|e| panic!("from a file: {e}"));
            let [x, y] = [&a, &file].map(|f| format!("{:?}", f.coo_with::<Complex<f64>, u64>(&pools[0]).unwrap()));
            assert_eq!((a.header, x), (file.header, y));
            (a, b)
        }
        (Err(a), Err(b)) => {
            assert_eq!(a.to_string(), b.to_string());
            assert_eq!(file.map(|_| ()), Err(a.to_string()));
            assert!(!matches!(a, Error::OutOfMemory { .. }), "{a}");
            return false;
        }
        (a, b) => panic!("in one piece {a:?}, in many {b:?}"),
    };
    let h = whole.header;
    assert_eq!(h, pieces.header);
    assert_eq!(whole.entries.len(), h.stored);
    assert!(h.symmetry == Symmetry::General || h.nrows == h.ncols);
    if h.layout == Layout::Array && h.symmetry == Symmetry::General {
        assert_eq!(h.stored, h.nrows * h.ncols);
    }
    // Real numbers are complex numbers without imaginary part, so every field is compared.
    let a = whole.coo_with::<Complex<f64>, u64>(&pools[1]).unwrap();
    let b = pieces.coo_with::<Complex<f64>, u64>(&pools[0]).unwrap();
    let bits = |x: &[Complex<f64>]| x.iter().map(|x| [x.re.to_bits(), x.im.to_bits()]).collect::<Vec<_>>();
    let ((rows, cols, values), (r, c, v)) = (a.parts(), b.parts());
    assert_eq!((rows, cols, bits(values)), (r, c, bits(v)));
    assert!(rows.iter().all(|&i| i < h.nrows as u64) && cols.iter().all(|&j| j < h.ncols as u64));
    // Narrow types give a value or an error.
    let _: Result<_> = whole.coo::<i8>();
    let _: Result<_> = whole.coo::<bool>();
    let _: Result<_> = whole.coo::<u64>();
    let _: Result<_> = whole.coo::<f64>();

    // Row pointers also take memory for rows without entries.
    if h.nrows < 10_000 && h.ncols < 10_000 {
        let again = |text: &[u8]| parse_matrix_market_with(text, "again", &options(&pools[0], 64)).unwrap();
        let same = |x: f64, y: f64| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
        let a = whole.csr::<Complex<f64>>().unwrap();
        let mut text = Vec::new();
        write_matrix_market_to(&mut text, &a, &WriteOptions::new()).unwrap();
        let b = again(&text).csr::<Complex<f64>>().unwrap();
        assert_eq!(a.pattern(), b.pattern());
        assert!(a.values().iter().zip(b.values()).all(|(x, y)| same(x.re, y.re) && same(x.im, y.im)));
        if h.field != Field::Complex {
            let a = whole.csr::<f64>().unwrap();
            let mut text = Vec::new();
            write_matrix_market_to(&mut text, &a, &WriteOptions::new()).unwrap();
            let b = again(&text).csr::<f64>().unwrap();
            assert_eq!(a.pattern(), b.pattern());
            assert!(a.values().iter().zip(b.values()).all(|(&x, &y)| same(x, y)));
        }
        // Two round trips in the file's own type: the second read gives the first's result. The smallest integer has no
        // negative, so a skew-symmetric file may have no matrix.
        if let Ok((pattern, values)) = whole.any() {
            let mut texts = [Vec::new(), Vec::new()];
            write_matrix_market_any_to(&mut texts[0], &pattern, values.slice(), &WriteOptions::new()).unwrap();
            let (pattern, values) = again(&texts[0]).any().unwrap();
            write_matrix_market_any_to(&mut texts[1], &pattern, values.slice(), &WriteOptions::new()).unwrap();
            assert!(texts[0] == texts[1]);
        } else {
            assert_eq!((h.symmetry, whole.value_type()), (Symmetry::SkewSymmetric, Type::I64));
        }
    }
    true
}

#[test]
fn mutated_files_are_refused_or_keep_the_promises() {
    let seconds = std::env::var("SPARRING_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let until = Instant::now() + Duration::from_secs(seconds);
    let pools = [1, 3].map(|n| Threads::new(n).unwrap());
    for seed in SEEDS {
        assert!(check(seed.as_bytes(), &pools), "{seed}");
    }
    let (mut accepted, mut round) = (0, 0);
    while round < FIXED_ROUNDS || Instant::now() < until {
        let input = mutated(&mut Random(round));
        match catch_unwind(AssertUnwindSafe(|| check(&input, &pools))) {
            Ok(kept) => accepted += u64::from(kept),
            Err(_) => panic!("round {round}: {}", input.escape_ascii()),
        }
        round += 1;
    }
    println!("{round} inputs, {accepted} accepted");
    // Mutations that never give a valid file would test only the errors.
    assert!(accepted * 20 > round, "{accepted} of {round} accepted");
}

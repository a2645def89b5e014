//! FROSTT files: accepted and rejected input, error positions, and round trips.

mod common;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::Write;

use common::Same;
use common::arbitrary::Rng;
use flate2::Compression;
use flate2::write::GzEncoder;
use quickcheck::{Arbitrary, Gen, QuickCheck};
use sparring::io::{
    Duplicates, FrosttOptions, FrosttValue, WriteOptions, parse_frostt, parse_frostt_with, read_frostt,
    read_frostt_from, read_frostt_with, write_frostt, write_frostt_any, write_frostt_to,
};
use sparring::par::Threads;
use sparring::tensor::{AnyTensor, Tensor};
use sparring::{Error, Index};

/// Dimensions, and entries (indices from 0, value) in stored order.
type Entries<T> = (Vec<usize>, Vec<(Vec<usize>, T)>);

fn entries<T: FrosttValue>(x: &AnyTensor<T>) -> Entries<T> {
    fn of<T: FrosttValue, I: Index>(x: &Tensor<T, I>) -> Vec<(Vec<usize>, T)> {
        x.iter().map(|(place, x)| (place, *x)).collect()
    }
    match x {
        AnyTensor::Narrow(x) => (x.dims().to_vec(), of(x)),
        AnyTensor::Wide(x) => (x.dims().to_vec(), of(x)),
    }
}

fn same<T: Same>((dims, xs): &Entries<T>, (other, ys): &Entries<T>) -> bool {
    dims == other && xs.len() == ys.len() && xs.iter().zip(ys).all(|((i, x), (j, y))| i == j && x.same(y))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// The file, parsed with every number of threads, in pieces down to one line, compressed or not: all must agree.
fn parse_with<T: FrosttValue + Same>(text: &[u8], options: FrosttOptions<'_>) -> Result<AnyTensor<T>, Error> {
    let whole = parse_frostt_with::<T>(text, "t.tns", &options);
    let packed = gzip(text);
    for n in [1, 2, 3, 8] {
        let threads = Threads::new(n).unwrap();
        for bytes in [1, 2, 7, 64, 1 << 20] {
            for text in [text, &packed] {
                let options = options.threads(&threads).piece_bytes(bytes);
                let pieces = parse_frostt_with::<T>(text, "t.tns", &options);
                match (&whole, &pieces) {
                    (Ok(a), Ok(b)) => {
                        assert!(same(&entries(a), &entries(b)), "{n} threads, {bytes} bytes: {a:?} and {b:?}");
                        assert_eq!(matches!(a, AnyTensor::Wide(_)), matches!(b, AnyTensor::Wide(_)));
                    }
                    (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string(), "{n} threads, {bytes} bytes"),
                    _ => panic!("{n} threads, {bytes} bytes: {whole:?} and {pieces:?}"),
                }
            }
        }
    }
    whole
}

fn parse<T: FrosttValue + Same>(text: impl AsRef<[u8]>) -> Result<AnyTensor<T>, Error> {
    parse_with(text.as_ref(), FrosttOptions::new())
}

/// Parsed with duplicates kept.
fn kept(text: &str) -> Entries<f64> {
    entries(&parse_with(text.as_bytes(), FrosttOptions::new().duplicates(Duplicates::Keep)).unwrap())
}

fn refused<T: FrosttValue + Same>(text: &[u8], options: FrosttOptions<'_>) -> (u64, u64, String) {
    match parse_with::<T>(text, options) {
        Err(Error::Parse { file, line, column, message }) => {
            assert_eq!((file.as_str(), message.matches('\n').count()), ("t.tns", 0), "{message}");
            (line, column, message)
        }
        other => panic!("{}: {other:?}", text.escape_ascii()),
    }
}

#[test]
fn layout_of_the_text_is_free_where_the_format_leaves_it_free() {
    let texts = [
        "1 2 3 0.5\n4 1 1 -1e2\n",
        "1 2 3 0.5\n4 1 1 -1e2",
        "# comment\n\n1 2 3 .5\n#\n   # another\n \t\n4 1 1 -100.\n\n",
        "\t1  2\t3 +0.5 \r\n\r\n04 001 1 -1D+2\r\n",
        "1 2 3 5e-1\r\n4 1 1 -100\r",
        "#1 1 1 1\n1 2 3 0.5\n#4 4 4 4 4\n4 1 1 -100\n# the end",
    ];
    let want = (vec![4, 2, 3], vec![(vec![0, 1, 2], 0.5), (vec![3, 0, 0], -100.0)]);
    for text in texts {
        assert_eq!(kept(text), want, "{text:?}");
    }
    // Comments may be in any encoding.
    assert_eq!(parse::<f64>(b"# F\xfcr M\xfcller\n1 1 1\n").unwrap().nnz(), 1);
}

#[test]
fn every_order_from_1_to_255() {
    for order in [1, 2, 3, 4, 5, 8, 64, 254, 255] {
        let line = |i: usize| (0..order).map(|m| format!("{} ", (i * (m + 1)) % 7 + 1)).collect::<String>() + "2\n";
        let text: String = (0..20).map(line).collect();
        let x = parse_with::<f64>(text.as_bytes(), FrosttOptions::new().duplicates(Duplicates::Keep)).unwrap();
        let (dims, found) = entries(&x);
        assert_eq!((x.order(), dims.len(), found.len()), (order, order, 20));
        for (i, (place, x)) in found.iter().enumerate() {
            assert!(*x == 2.0 && (0..order).all(|m| place[m] == (i * (m + 1)) % 7), "{place:?}");
        }
    }
    let line = "1 ".repeat(256);
    let (line, column, message) = refused::<f64>(format!("# c\n {line} 1\n").as_bytes(), FrosttOptions::new());
    assert_eq!((line, column, message.as_str()), (2, 2, "the entry has 256 indices, and a tensor at most 255 modes"));
}

#[test]
fn not_a_number_and_infinity_are_values() {
    let (_, found) = kept("1 nan\n2 -NaN\n3 inf\n4 -Infinity\n5 1e-999\n6 -0\n");
    assert!(found[0].1.is_nan() && found[1].1.is_nan());
    assert_eq!((found[2].1, found[3].1, found[4].1), (f64::INFINITY, f64::NEG_INFINITY, 0.0));
    assert!(found[5].1.to_bits() == (-0.0f64).to_bits());
}

#[test]
fn what_is_malformed_is_refused_where_it_is() {
    let three = ": an entry is i_1 i_2 i_3 value, as the first entry says";
    let cases: &[(&str, u64, u64, &str)] = &[
        ("", 1, 1, "the file has no entries, and dimensions are not given"),
        ("\n\n", 3, 1, "the file has no entries"),
        ("# only\n # comments", 2, 12, "the file has no entries"),
        (" \r\n ", 2, 2, "the file has no entries"),
        ("7\n1 1 1\n", 1, 1, "expected an index and a value, found \"7\" alone"),
        ("x\n", 1, 1, "expected an index and a value, found \"x\" alone"),
        ("1 2 3 4\n1 2 3\n", 2, 6, &format!("expected a real number, found the end of the line{three}")),
        ("1 2 3 4\n1 2\n", 2, 4, &format!("expected index i_3, found the end of the line{three}")),
        ("1 2 3 4\n1 2 \t \r\n", 2, 7, "expected index i_3, found the end of the line"),
        ("1 2 3 4\n1 2", 2, 4, "expected index i_3, found the end of the file"),
        ("1 2 3 4\n1 2 0.5\n", 2, 5, &format!("expected index i_3, found \"0.5\"{three}")),
        ("1 2 3 4\n1 2 3 4 5\n", 2, 9, &format!("expected the end of the line, found \"5\"{three}")),
        ("1 2 3 4\n1 2 3 4 # five\n", 2, 9, "found \"#\": comments have lines of their own"),
        ("1 4 # five\n", 1, 5, "expected index i_3, found \"#\": an entry is i_1 i_2 i_3 value"),
        ("1 2\n1 2 3\n", 2, 5, "found \"3\": an entry is i_1 value, as"),
        ("1 1 2\n1 2\n", 2, 4, "found the end of the line: an entry is i_1 i_2 value, as"),
        ("1 1 1 1 2\n1 2\n", 2, 4, "expected index i_3, found the end of the line: an entry is i_1 … i_4 value, as"),
        ("1 1 1 1\n0 1 1 1\n1 0 1 1\n", 2, 1, "index i_1 is 0: FROSTT counts from 1"),
        ("3 3\n2 3 4\n1 1 1 1.0\n2 3 4 2.5\n", 5, 1, "the header declares 3 entries, and the file has 2"),
        ("3 2\n2 3 4\n1 1 1 1.0\n2 3 5 2.5\n", 4, 5, "index i_3 is \"5\", beyond the size 4"),
        ("sptensor\n2\n2 x\n", 3, 1, "expected the dimensions of an sptensor, found \"2\""),
        ("sptensor\n2\n2 2\n1\n1 1 1 1\n", 5, 7, "found \"1\": an entry is i_1 i_2 value, as the dimensions"),
        ("1 1 1 1\n1 1 00 1\n", 2, 5, "index i_3 is 0"),
        ("-1 1 1 1\n", 1, 1, "expected index i_1, found \"-1\""),
        ("1 +1 1 1\n", 1, 3, "expected index i_2, found \"+1\""),
        ("1 1.0 1 1\n", 1, 3, "expected index i_2, found \"1.0\""),
        ("1,1,1,1\n", 1, 1, "expected an index and a value, found \"1,1,1,1\" alone"),
        ("1 1,1 1\n", 1, 3, "expected index i_2, found \"1,1\""),
        ("1 1 1 1\n1 1 1 one\n", 2, 7, "expected a real number, found \"one\""),
        ("1 1 1 1\n1 1 1 1e\n", 2, 7, "expected a real number, found \"1e\""),
        ("1 1 1 1\n1 1 1 0x10\n", 2, 7, "expected a real number, found \"0x10\""),
        ("1 1 1 1\n1 1 1 nan(0)\n", 2, 7, "expected a real number"),
        ("1 1 1 1\n1 1 1 1e309\n", 2, 7, "\"1e309\" is beyond the range of a 64-bit real number"),
        ("1 1 1 1\n1 1 1 -1D999\n", 2, 7, "is beyond the range"),
        ("1 18446744073709551616 1\n", 1, 3, "is \"18446744073709551616\", and the largest possible is 9223372036854"),
        ("1 18446744073709551615 1\n", 1, 3, "index i_2 is \"18446744073709551615\", and the largest possible"),
        ("1 9223372036854775808 1\n", 1, 3, "and the largest possible is 9223372036854775807"),
        ("1 99999999999999999999999 1\n", 1, 3, "and the largest possible"),
        ("1 1\r1 1\n", 1, 4, "expected index i_3"),
        ("1 1 1\n1 1 1\r5\n", 2, 6, "expected the end of the line"),
        ("1 1 1\n1 1\0 1\n", 2, 3, "expected index i_2, found \"1\\x00\""),
        ("% comment\n1 1 1\n", 1, 1, "expected index i_1, found \"%\""),
        ("% comment of five words\n", 1, 1, "expected index i_1, found \"%\": an entry is i_1 … i_4 value"),
        ("\n# c\n \t 1 x 1\n", 3, 6, "expected index i_2, found \"x\""),
        // The first error is reported, not the worst.
        ("1 1 1\n1 x 1\n0 0 0\n\n1 1 1 1 1 1\n", 2, 3, "expected index i_2"),
        ("4294967297 1 1\n1 x 1\n", 2, 3, "expected index i_2"),
        ("1 1 1\n1 1 1 1\n4294967297 1 1\n", 2, 7, "expected the end of the line"),
    ];
    for (text, line, column, message) in cases {
        let (l, c, m) = refused::<f64>(text.as_bytes(), FrosttOptions::new());
        assert_eq!((l, c), (*line, *column), "{text:?}: {m}");
        assert!(m.contains(message), "{text:?}: {m}");
    }
    let error = parse_frostt::<f64>(b"1 1 1\n1 \xff\xfe 1\n", "a/b.tns").unwrap_err().to_string();
    assert!(error.starts_with("a/b.tns:2:3: expected index i_2, found \"\\xff\\xfe\""), "{error}");
}

#[test]
fn dimensions_may_be_given() {
    let given = |dims| FrosttOptions::new().dims(dims);
    let x = parse_with::<f64>(b"1 2 3 4\n", given(&[5, 6, 7])).unwrap();
    assert_eq!(entries(&x), (vec![5, 6, 7], vec![(vec![0, 1, 2], 4.0)]));
    for text in ["", "# nothing\n"] {
        assert_eq!(entries(&parse_with::<f64>(text.as_bytes(), given(&[5, 0])).unwrap()), (vec![5, 0], vec![]));
    }
    // Wide dimensions with narrow indices, and the reverse.
    assert!(matches!(parse_with::<f64>(b"1 1\n", given(&[1 << 33])), Ok(AnyTensor::Wide(_))));
    assert!(matches!(parse_with::<f64>(b"4294967295 1\n", FrosttOptions::new()), Ok(AnyTensor::Narrow(_))));
    for (text, dims, line, column, message) in [
        ("1 2 3 4\n5 1 8 1\n", &[5, 6, 7][..], 2, 5, "index i_3 is \"8\", beyond the size 7 of its mode"),
        ("4294967297 1\n", &[5], 1, 1, "index i_1 is \"4294967297\", beyond the size 5"),
        ("99999999999999999999 1\n", &[5], 1, 1, "index i_1 is \"99999999999999999999\", beyond the size 5"),
        ("8589934593 1\n", &[1 << 33], 1, 1, "beyond the size 8589934592"),
        ("0 1\n", &[5], 1, 1, "index i_1 is 0"),
        ("1 1\n", &[0], 1, 1, "index i_1 is \"1\", beyond the size 0 of its mode"),
        (
            "1 2 3 4\n",
            &[5, 5],
            1,
            7,
            "expected the end of the line, found \"4\": an entry is i_1 i_2 value, as the dimensions that are given say",
        ),
        ("7\n", &[9, 9], 1, 2, "expected index i_2, found the end of the line: an entry is i_1 i_2 value, as the dim"),
    ] {
        let (l, c, m) = refused::<f64>(text.as_bytes(), given(dims));
        assert_eq!((l, c), (line, column), "{text:?}: {m}");
        assert!(m.contains(message), "{text:?}: {m}");
    }
    let wrong = |dims| parse_frostt_with::<f64>(b"1 1 1\n", "t", &given(dims)).unwrap_err().to_string();
    assert_eq!(wrong(&[]), "dims: a tensor has 1 to 255 modes, not 0");
    assert_eq!(wrong(&[1; 256]), "dims: a tensor has 1 to 255 modes, not 256");
    assert!(wrong(&[usize::MAX]).contains("does not fit"));
}

#[test]
fn files_without_values_are_ones() {
    let options = FrosttOptions::new().values(false);
    let x = parse_with::<u8>(b"# head relation tail\n3 1 2\n1 2 2\n", options.duplicates(Duplicates::Keep)).unwrap();
    assert_eq!(entries(&x), (vec![3, 2, 2], vec![(vec![2, 0, 1], 1), (vec![0, 1, 1], 1)]));
    assert_eq!(entries(&parse_with::<bool>(b"7\n", options).unwrap()), (vec![7], vec![(vec![6], true)]));
    // Written twice, it sums to 2, as in any other file.
    assert_eq!(parse_with::<f64>(b"1 1\n1 1\n", options).unwrap().values(), [2.0]);
    let (line, column, message) = refused::<f64>(b"1 2 3\n1 2 0.5\n", options);
    assert_eq!((line, column), (2, 5));
    assert_eq!(message, "expected index i_3, found \"0.5\": an entry is i_1 i_2 i_3, as the first entry says");
    assert_eq!(refused::<f64>(b"1 2\n1 2 3\n", options).1, 5);
}

#[test]
fn repeated_entries_follow_the_rule() {
    let text = "# c\n2 1 8\n1 1 1\n\n2 1 0.25\n1 2 4\n2 1 -0.5\n1 1 1\n";
    let of = |duplicates| parse_with::<f64>(text.as_bytes(), FrosttOptions::new().duplicates(duplicates));
    let sum = entries(&of(Duplicates::Sum).unwrap());
    assert_eq!(sum, (vec![2, 2], vec![(vec![0, 0], 2.0), (vec![0, 1], 4.0), (vec![1, 0], 7.75)]));
    assert_eq!(of(Duplicates::Keep).unwrap().values(), [8.0, 1.0, 0.25, 4.0, -0.5, 1.0]);
    let error = of(Duplicates::Refuse).unwrap_err().to_string();
    assert_eq!(error, "t.tns:5:1: entry (2, 1) is in the file already, in line 2");
    assert_eq!(Duplicates::default(), Duplicates::Sum);
    // The error names the first duplicate, not the first entry that is duplicated.
    let (line, _, message) =
        refused::<f64>(b"1 1\n2 1\n# c\n  2 1\n1 1\n", FrosttOptions::new().duplicates(Duplicates::Refuse));
    assert_eq!((line, message.as_str()), (4, "entry (2) is in the file already, in line 2"));
    let many = "1 ".repeat(9) + "1\n";
    let error =
        parse_with::<f64>((many.clone() + &many).as_bytes(), FrosttOptions::new().duplicates(Duplicates::Refuse));
    assert!(error.unwrap_err().to_string().contains("entry (1, 1, 1, 1, 1, 1, 1, 1, …) is in"));
    // Sums follow the order of the file; integers that overflow are rejected.
    assert_eq!(parse::<f64>("1 1e16\n1 1\n1 -1e16\n").unwrap().values(), [0.0]);
    assert_eq!(parse::<u8>("1 200\n1 55\n").unwrap().values(), [255]);
    let error = parse::<u8>("1 200\n1 56\n").unwrap_err().to_string();
    assert!(error.contains("a sum of repeated entries as u8"), "{error}");
    assert_eq!(parse::<bool>("1 0\n1 1\n2 0\n").unwrap().values(), [true, false]);
    // Without duplicates, the order of the file is kept unless sorting is requested.
    let x = parse_with::<f64>(b"2 1\n1 2\n", FrosttOptions::new().duplicates(Duplicates::Refuse)).unwrap();
    assert_eq!(x.values(), [1.0, 2.0]);
    assert_eq!(parse::<f64>("2 1\n1 2\n").unwrap().values(), [2.0, 1.0]);
}

/// Sorting by keys of 64 and 128 bits, and by indices that fit neither, compared with a table.
#[test]
fn sums_are_those_of_a_table_whatever_the_width() {
    let mut rng = Rng(11);
    for (order, size) in [(1, 40), (3, 4), (2, 1 << 40), (3, 1 << 45), (5, 1 << 30), (40, 300), (255, 2)] {
        let places: Vec<Vec<usize>> =
            (0..200).map(|_| (0..order).map(|_| [1, 2, size - 1, size][rng.below(4)]).collect()).collect();
        let mut text = String::new();
        let mut table: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        for _ in 0..600 {
            let (place, x) = (&places[rng.below(200)], f64::from(rng.below(1000) as u32) * 0.1);
            *table.entry(place.iter().map(|i| i - 1).collect()).or_insert(0.0) += x;
            let words: String = place.iter().map(|i| format!("{i} ")).collect();
            text += &format!("{words}{x}\n");
        }
        let options = FrosttOptions::new();
        let (_, found) = entries(&parse_frostt_with::<f64>(text.as_bytes(), "t.tns", &options).unwrap());
        assert_eq!(found, table.into_iter().collect::<Vec<_>>(), "{order} modes of {size}");
        let refuse = parse_frostt_with::<f64>(text.as_bytes(), "t.tns", &options.duplicates(Duplicates::Refuse));
        assert!(refuse.unwrap_err().to_string().contains("is in the file already"));
    }
}

#[test]
fn integers_do_not_pass_through_floating_point() {
    let text = "1 9007199254740993\n2 9223372036854775807\n3 -9223372036854775808\n4 3.0\n5 1e3\n";
    let want = [9_007_199_254_740_993, i64::MAX, i64::MIN, 3, 1000];
    assert_eq!(parse::<i64>(text).unwrap().values(), want);
    assert_eq!(parse::<u64>("1 18446744073709551615\n").unwrap().values(), [u64::MAX]);
    assert_eq!(parse::<f64>(text).unwrap().values(), want.map(|x| x as f64));
    for (text, line, column, word) in
        [("1 1\n1 0.5\n", 2, 3, "0.5"), ("1 256\n", 1, 3, "256"), ("1 1\n2 -1\n", 2, 3, "-1"), ("1 nan\n", 1, 3, "nan")]
    {
        let found = refused::<u8>(text.as_bytes(), FrosttOptions::new());
        assert_eq!(found, (line, column, format!("the value \"{word}\" does not fit u8")));
    }
    let found = refused::<f32>(b"1 3.4e38\n2 3.5e38\n", FrosttOptions::new());
    assert_eq!(found, (2, 3, "the value \"3.5e38\" does not fit f32".to_owned()));
}

#[test]
fn indices_beyond_32_bits_are_kept() {
    let last = (1u64 << 63) - 1;
    let text = format!("1 4294967296 1 0.5\n4294967297 1 1 2\n3 {last} 1 4\n");
    let x = parse_with::<f64>(text.as_bytes(), FrosttOptions::new().duplicates(Duplicates::Keep)).unwrap();
    let AnyTensor::Wide(wide) = &x else { panic!("{x:?}") };
    assert_eq!(wide.dims(), [4_294_967_297, last as usize, 1]);
    assert_eq!((wide.indices(0), wide.indices(1)), (&[0, 4_294_967_296, 2][..], &[4_294_967_295, 0, last - 1][..]));
    // The largest dimension for 32-bit indices, and the next.
    assert!(matches!(parse::<f64>("4294967295 1\n"), Ok(AnyTensor::Narrow(x)) if x.indices(0) == [4_294_967_294]));
    assert!(
        matches!(parse::<f64>("1 1\n4294967296 1\n"), Ok(AnyTensor::Wide(x)) if x.indices(0) == [0, 4_294_967_295])
    );
}

#[test]
fn other_formats_are_named() {
    for (bytes, words) in [
        (
            &b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n"[..],
            "Matrix Market file, a matrix, which info",
        ),
        (
            b"%%matrixmarket matrix array real general\n1 1\n1\n",
            "Matrix Market file, a matrix, which info and convert read",
        ),
        (b"ktensor\n3\n5 201 61\n", "a file of the Tensor Toolbox, of which sptensor is read here"),
        (b"\xef\xbb\xbf1 1 1\n", "byte-order mark; remove"),
        (b"\xff\xfe1\x001\0", "UTF-16; convert it"),
        #[cfg(not(feature = "zstd"))]
        (b"\x28\xb5\x2f\xfd\x04\x58", "compressed by zstd; unpack it first"),
        (b"\xfd7zXZ\0\0\x04", "compressed by xz; unpack it first"),
        (b"BZh91AY&SY", "compressed by bzip2; unpack it first"),
        (b"PK\x03\x04\0", "a zip archive; unpack it first"),
    ] {
        let (line, column, message) = refused::<f64>(bytes, FrosttOptions::new());
        assert_eq!((line, column), (1, 1));
        assert!(
            message.starts_with("expected the entries of a tensor, found \"") && message.contains(words),
            "{message}"
        );
        // Not even an endless reader is read further.
        let mut endless = std::io::Read::chain(bytes, std::io::repeat(b' '));
        let error = read_frostt_from::<f64>(&mut endless, "endless", &FrosttOptions::new()).unwrap_err().to_string();
        assert!(error.starts_with("endless:1:1: ") && error.contains(words), "{error}");
    }
}

#[test]
fn compressed_text_is_known_by_its_bytes() {
    let text = b"# c\n1 2 0.5\n2 1 -3\n";
    let plain = entries(&parse::<f64>(text).unwrap());
    let of = |bytes: &[u8], lenient| parse_frostt_with::<f64>(bytes, "t.tns", &FrosttOptions::new().lenient(lenient));
    // Gzip members that split a line.
    for at in 0..text.len() {
        let both = [gzip(&text[..at]), gzip(&text[at..])].concat();
        assert_eq!(entries(&of(&both, false).unwrap()), plain);
        assert_eq!(entries(&of(&[&both[..], &[0; 100]].concat(), false).unwrap()), plain);
    }
    let packed = gzip(text);
    let garbage = [&packed[..], b"junk"].concat();
    assert_eq!(
        of(&garbage, false).unwrap_err().to_string(),
        "t.tns: 4 bytes behind the compressed text are not gzip; read it leniently to leave them out"
    );
    assert_eq!(entries(&of(&garbage, true).unwrap()), plain);
    // Truncated or damaged: an error, never part of the tensor.
    for at in 2..packed.len() {
        assert!(matches!(of(&packed[..at], false), Err(Error::Io { .. } | Error::Parse { .. })), "{at} bytes");
    }
    let mut broken = packed.clone();
    let middle = packed.len() / 2;
    broken[middle] ^= 4;
    assert!(of(&broken, false).is_err());
}

#[test]
fn comments_behind_entries_are_taken_leniently() {
    let lenient = FrosttOptions::new().lenient(true);
    let x = parse_with::<f64>(b"1 2 3 # a\n2 1 4#b\n# c\n2 2 5  #\n", lenient);
    let (line, column, _) = match x {
        Err(Error::Parse { line, column, message, .. }) => (line, column, message),
        other => panic!("{other:?}"),
    };
    // A value extends to the end of its word, so `4#b` is invalid.
    assert_eq!((line, column), (2, 5));
    let x = parse_with::<f64>(b"1 2 3 # a 7 7\n2 1 4 #b\n# c\n2 2 5  #\n", lenient).unwrap();
    assert_eq!((x.order(), x.values()), (2, &[3.0, 4.0, 5.0][..]));
}

#[test]
fn text_beyond_the_limit_is_refused() {
    let text = "1 1 1\n".repeat(1000);
    let of = |bytes: &[u8], most| parse_frostt_with::<f64>(bytes, "t", &FrosttOptions::new().max_bytes(most));
    for bytes in [text.as_bytes(), &gzip(text.as_bytes())] {
        assert_eq!(of(bytes, 6000).unwrap().values(), [1000.0]);
        for most in [0, 1, 5, 5999] {
            let error = of(bytes, most).unwrap_err();
            assert!(matches!(error, Error::Budget { budget, .. } if budget == u128::from(most)), "{error}");
            assert!(error.to_string().starts_with("memory budget: text of a FROSTT file needs "), "{error}");
        }
    }
    // A few bytes that expand to many.
    let bomb = gzip(&vec![b'\n'; 50 << 20]);
    assert!(matches!(of(&bomb, 1 << 20).unwrap_err(), Error::Budget { .. }));
    let endless = &mut std::io::repeat(b'\n');
    let error = read_frostt_from::<f64>(endless, "endless", &FrosttOptions::new().max_bytes(1 << 20)).unwrap_err();
    assert!(matches!(error, Error::Budget { .. }));
}

#[test]
fn a_line_without_an_end_is_refused() {
    let long = vec![b'1'; (16 << 20) + 1];
    for text in [long.clone(), [&b"# "[..], &long].concat(), [b"1 1 1\n", &long[..]].concat()] {
        for bytes in [gzip(&text), text] {
            let error = parse_frostt::<f64>(&bytes, "t").unwrap_err().to_string();
            assert!(error.ends_with("the line has more than 16777216 bytes"), "{error}");
        }
    }
}

fn round_trip<T: FrosttValue + Same, I: Index>(x: &Tensor<T, I>) {
    let mut texts = Vec::new();
    for n in [1, 3] {
        let threads = Threads::new(n).unwrap();
        let mut text = Vec::new();
        write_frostt_to(&mut text, x, &WriteOptions::new().threads(&threads)).unwrap();
        texts.push(text);
    }
    assert!(texts[0] == texts[1]);
    let options = FrosttOptions::new().dims(x.dims()).duplicates(Duplicates::Keep);
    let again = parse_frostt_with::<T>(&texts[0], "t.tns", &options).unwrap();
    let own: Entries<T> = (x.dims().to_vec(), x.iter().map(|(place, x)| (place, *x)).collect());
    assert!(same(&entries(&again), &own));
}

#[test]
fn writing_and_reading_gives_the_same_bits() {
    let mut rng = Rng(5);
    for order in [1, 2, 3, 5, 20] {
        let n = 500;
        let dims = vec![1000; order];
        let mut draw = || (0..order).map(|_| (0..n).map(|_| rng.below(1000) as u32).collect()).collect::<Vec<Vec<_>>>();
        let (a, b, c, d) = (draw(), draw(), draw(), draw());
        let bits: Vec<u64> = (0..n).map(|_| rng.next()).collect();
        round_trip(&Tensor::new(dims.clone(), a, bits.iter().map(|&x| f64::from_bits(x)).collect()).unwrap());
        round_trip(&Tensor::new(dims.clone(), b, bits.iter().map(|&x| f32::from_bits(x as u32)).collect()).unwrap());
        round_trip(&Tensor::new(dims.clone(), c, bits.iter().map(|&x| x as i64).collect()).unwrap());
        round_trip(&Tensor::new(dims, d, bits).unwrap());
    }
    let edges = [0.0, -0.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.1, 1e23];
    let wide = (1u64 << 63) - 2;
    let indices: Vec<u64> = (0..10).map(|e| [0, 1 << 32, (1 << 32) - 1, wide][e % 4]).collect();
    round_trip(&Tensor::new(vec![isize::MAX as usize], vec![indices], edges.to_vec()).unwrap());
    round_trip(&Tensor::<f64>::empty(vec![3, 0]).unwrap());
}

#[test]
fn the_written_text_is_plain() {
    let x = Tensor::<f64>::new(vec![5, 12], vec![vec![0, 4, 0], vec![11, 0, 11]], vec![0.5, -3.0, 1e300]).unwrap();
    let text = |options: &WriteOptions<'_>| {
        let mut text = Vec::new();
        write_frostt_to(&mut text, &x, options).map(|()| String::from_utf8(text).unwrap())
    };
    assert_eq!(text(&WriteOptions::new()).unwrap(), "1 12 0.5\n5 1 -3.0\n1 12 1e+300\n");
    let comment = "from\r\nsomewhere\n\nelse";
    assert_eq!(
        text(&WriteOptions::new().comment(comment).pattern_only()).unwrap(),
        "# from\n# somewhere\n# else\n1 12\n5 1\n1 12\n"
    );
    let error = text(&WriteOptions::new().symmetric()).unwrap_err().to_string();
    assert_eq!(error, "options: a tensor is written with all its entries");
}

#[test]
fn files_of_many_parts_are_written_part_by_part() {
    let n = 200_000u32;
    let indices = vec![(0..n).collect(), (0..n).map(|e| e % 7).collect()];
    let x = Tensor::<u32>::new(vec![n as usize, 7], indices, (0..n).map(|e| e ^ 5).collect()).unwrap();
    round_trip(&x);
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = (folder.path().join("x.tns"), folder.path().join("x.tns.gz"));
    write_frostt(&plain, &x, &WriteOptions::new()).unwrap();
    write_frostt_any(&packed, &AnyTensor::Narrow(x.clone()), &WriteOptions::new().comment("many")).unwrap();
    let bytes = |path| std::fs::read(path).unwrap();
    assert!(bytes(&packed).starts_with(&[0x1f, 0x8b]) && bytes(&packed).len() < bytes(&plain).len());
    for path in [&plain, &packed] {
        assert_eq!(read_frostt::<u32>(path).unwrap(), AnyTensor::Narrow(x.clone()));
        let keep = FrosttOptions::new().duplicates(Duplicates::Keep).piece_bytes(5000);
        assert_eq!(read_frostt_with::<u32>(path, &keep).unwrap(), AnyTensor::Narrow(x.clone()));
        let mut file = std::fs::File::open(path).unwrap();
        assert_eq!(read_frostt_from::<u32>(&mut file, "file", &keep).unwrap().nnz(), x.nnz());
    }
}

#[test]
fn a_file_is_there_whole_or_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tns");
    std::fs::write(&path, "1 1\n").unwrap();
    let x = Tensor::<f64>::new(vec![2], vec![vec![1]], vec![2.5]).unwrap();
    assert!(write_frostt(&path, &x, &WriteOptions::new().symmetric()).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"1 1\n");
    write_frostt(&path, &x, &WriteOptions::new()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"2 2.5\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = folder.path().join("no").join("x.tns");
    assert!(matches!(write_frostt(&nowhere, &x, &WriteOptions::new()), Err(Error::Io { .. })));
    assert!(matches!(read_frostt::<f64>(&nowhere), Err(Error::Io { path, .. }) if path.contains("x.tns")));
}

// ---- comparison with a minimal reader

/// Indices from 0, value, line and column.
type Found = (Vec<u64>, f64, (u64, u64));

/// The result of a plain reader: the entries in file order, each with its line and column, or the position of the
/// error.
fn textbook(text: &[u8], values: bool, dims: Option<&[usize]>) -> Result<Vec<Found>, (u64, u64)> {
    let number = |word: &[u8]| -> Option<f64> {
        let mut word = std::str::from_utf8(word).ok()?.to_owned();
        if word.chars().filter(char::is_ascii_alphabetic).count() == 1 {
            word = word.replace(['d', 'D'], "e");
        }
        let x: f64 = word.parse().ok()?;
        (x.is_finite() || !word.contains(|c: char| c.is_ascii_digit())).then_some(x)
    };
    let mut order = dims.map(<[usize]>::len);
    let mut found = Vec::new();
    for (number_of_line, line) in (1..).zip(text.split(|&b| b == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Words and their columns; a carriage return that ends no line is a word of its own and invalid.
        let mut words: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut open = false;
        for (column, &b) in (1..).zip(line) {
            match (b, words.last_mut()) {
                (b' ' | b'\t', _) => open = false,
                (b'\r', _) => {
                    words.push((column, vec![b]));
                    open = false;
                }
                (_, Some(word)) if open => word.1.push(b),
                _ => {
                    words.push((column, vec![b]));
                    open = true;
                }
            }
        }
        let Some((start, first)) = words.first() else { continue };
        if first.starts_with(b"#") {
            continue;
        }
        let end = line.len() as u64 + 1;
        let at = |w: usize| (number_of_line, words.get(w).map_or(end, |word| word.0));
        let order = match order {
            Some(order) => order,
            None => {
                let numbers = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
                let indices = numbers.saturating_sub(values.into());
                if !(1..=255).contains(&indices) {
                    return Err((number_of_line, *start));
                }
                *order.insert(indices)
            }
        };
        let mut place = Vec::new();
        for mode in 0..order {
            let word = words.get(mode).map_or(&b""[..], |word| &word.1);
            let bound = dims.map_or(i64::MAX as u64, |dims| dims[mode] as u64);
            let index = std::str::from_utf8(word).ok().filter(|w| w.bytes().all(|b| b.is_ascii_digit()));
            match index.and_then(|w| w.parse::<u64>().ok()) {
                Some(i) if 1 <= i && i <= bound => place.push(i - 1),
                _ => return Err(at(mode)),
            }
        }
        let value = if values { words.get(order).and_then(|word| number(&word.1)) } else { Some(1.0) };
        let Some(value) = value else { return Err(at(order)) };
        if words.len() > order + usize::from(values) {
            return Err(at(order + usize::from(values)));
        }
        found.push((place, value, at(0)));
    }
    if found.is_empty() && dims.is_none() {
        let line = text.iter().filter(|&&b| b == b'\n').count() as u64 + 1;
        let last = text.rsplit(|&b| b == b'\n').next().unwrap_or_default();
        return Err((line, last.len() as u64 + 1));
    }
    Ok(found)
}

const SEEDS: &[&str] = &[
    "# a comment\n1 2 3 0.5\n4 1 1 -1e2\n\n1 2 3 2\n3 3 3 nan\n",
    "1 1 1 1\n1 1 2 1\n1 2 1 1\n2 1 1 1\n# c\n2 2 2 1e3\n",
    "5 4\n4 3\n\n3 2\n2 1\n1 0\n2 7\n",
    "1 2 3 4 5 6\n6 5 4 3 2 1\r\n1 1 1 1 1 1\r\n \r\n",
    "4294967296 1 1\n1 4294967295 2\n7 7 inf\n",
    "2 2 1D2\n1 2 -.5d-1\n2 1 +3.\n",
];
const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "#",
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
    "1 1 1 1\n",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e309",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "\0",
    "\u{fffd}",
    "0x1",
    "1d0",
    "# c\n",
    "\n\n",
    "\u{c}",
    "0.1",
];

#[derive(Clone)]
struct Text(Vec<u8>);
impl Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}
impl Arbitrary for Text {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut rng = Rng(u64::arbitrary(g));
        let mut text = rng.pick(SEEDS).as_bytes().to_vec();
        for _ in 0..rng.below(5) {
            let at = rng.below(text.len() + 1);
            let to = (at + rng.below(8)).min(text.len());
            match rng.below(10) {
                0 => text.truncate(at),
                1 => drop(text.drain(at..to)),
                2 => {
                    if let Some(byte) = text.get_mut(at) {
                        *byte = rng.next() as u8;
                    }
                }
                3 => {
                    // Duplicates or removes a whole line.
                    let from = text[..at].iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1);
                    let end = text[from..].iter().position(|&b| b == b'\n').map_or(text.len(), |p| from + p + 1);
                    let line = text[from..end].to_vec();
                    if rng.below(2) == 0 { drop(text.drain(from..end)) } else { drop(text.splice(end..end, line)) }
                }
                4..=6 => {
                    // Replaces a digit by another, which often keeps the file valid.
                    if let Some(p) = text[at..].iter().position(u8::is_ascii_digit) {
                        text[at + p] = b'0' + rng.below(10) as u8;
                    }
                }
                7 => drop(text.splice(at..to, rng.pick(WORDS).bytes())),
                _ => drop(text.splice(at..at, rng.pick(WORDS).bytes())),
            }
        }
        Self(text)
    }
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        Box::new(self.0.shrink().map(Self))
    }
}

/// Whether the first lines are an order, that many dimensions, and an entry with as many indices.
fn has_header(text: &[u8]) -> bool {
    let lines = text.split(|&b| b == b'\n').map(|line| String::from_utf8_lossy(line).into_owned());
    let words = |line: String| line.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<_> = lines.map(words).filter(|w| w.first().is_some_and(|w| !w.starts_with('#'))).take(3).collect();
    let whole = |words: &[String]| words.iter().all(|word| word.parse::<usize>().is_ok());
    let [first, second, third] = &lines[..] else { return false };
    first.len() <= 2
        && whole(first)
        && whole(second)
        && first[0].parse() == Ok(second.len())
        && third.len() == second.len() + 1
        && whole(&third[..second.len()])
}

/// A mutated file gives the entries of the plain reader, or an error at the same position: with any number of threads,
/// in pieces, compressed, with duplicates kept, summed and rejected.
#[test]
fn mutated_files_are_what_a_plain_reader_makes_of_them() {
    fn property(text: Text, values: bool, given: u8, piece: u8) -> bool {
        let lists = [&[3, 3, 3][..], &[9, 9], &[2], &[6, 6, 6, 6, 6, 6], &[1 << 40, 1 << 40]];
        let dims = lists.get(usize::from(given) % 16).copied();
        // The plain reader does not support headers.
        if dims.is_none() && values && has_header(&text.0) {
            return true;
        }
        let want = textbook(&text.0, values, dims);
        let threads = [1, 3].map(|n| Threads::new(n).unwrap());
        let packed = gzip(&text.0);
        for (bytes, threads) in [(&text.0, &threads[0]), (&text.0, &threads[1]), (&packed, &threads[1])] {
            let mut options = FrosttOptions::new().values(values).threads(threads).piece_bytes(1 + usize::from(piece));
            if let Some(dims) = dims {
                options = options.dims(dims);
            }
            for duplicates in [Duplicates::Keep, Duplicates::Sum, Duplicates::Refuse] {
                let found = parse_frostt_with::<f64>(bytes, "fuzz", &options.duplicates(duplicates));
                match (&want, found) {
                    (Err(place), Err(Error::Parse { line, column, message, .. })) => {
                        assert_eq!((line, column), *place, "{message}");
                    }
                    (Ok(want), found) => compare(want, dims, found, duplicates),
                    (want, found) => panic!("{found:?}, expected {want:?}"),
                }
            }
        }
        // Other types give a tensor or an error.
        let _ = parse_frostt_with::<u8>(&text.0, "fuzz", &FrosttOptions::new());
        let _ = parse_frostt_with::<i64>(&text.0, "fuzz", &FrosttOptions::new());
        true
    }
    QuickCheck::new().tests(3000).quickcheck(property as fn(Text, bool, u8, u8) -> bool);
    // Mutations that never give a valid file would test only the errors.
    let mut g = Gen::new(100);
    let legal = (0..1000).filter(|_| textbook(&Text::arbitrary(&mut g).0, true, None).is_ok()).count();
    println!("{legal} of 1000 mutated files are legal");
    assert!((100..900).contains(&legal));
}

fn compare(want: &[Found], dims: Option<&[usize]>, found: Result<AnyTensor<f64>, Error>, duplicates: Duplicates) {
    let order = want.first().map_or(0, |e| e.0.len());
    let largest = (0..order).map(|m| want.iter().map(|e| e.0[m] as usize + 1).max().unwrap_or(0)).collect();
    let dims = dims.map_or(largest, <[usize]>::to_vec);
    let place = |place: &[u64]| place.iter().map(|&i| i as usize).collect::<Vec<_>>();
    let mut seen = BTreeMap::new();
    let mut sums: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
    let mut repeat = None;
    for (p, x, at) in want {
        sums.entry(place(p)).and_modify(|sum| *sum += x).or_insert(*x);
        if seen.insert(p, at).is_some() && repeat.is_none() {
            repeat = Some(*at);
        }
    }
    let all = || want.iter().map(|(p, x, _)| (place(p), *x)).collect();
    match (duplicates, repeat) {
        (Duplicates::Refuse, Some(place)) => {
            assert!(matches!(found, Err(Error::Parse { line, column, .. }) if (line, column) == place), "{found:?}");
        }
        (Duplicates::Sum, _) => assert!(same(&entries(&found.unwrap()), &(dims, sums.into_iter().collect()))),
        _ => assert!(same(&entries(&found.unwrap()), &(dims, all()))),
    }
}

#[test]
fn indices_count_from_zero_where_that_is_said() {
    let options = FrosttOptions::new().zero_based(true).duplicates(Duplicates::Refuse);
    let x = parse_frostt_with::<f64>(b"0 0 1 0.5\n1 2 3 4\n", "a", &options).unwrap().narrow().unwrap();
    assert_eq!((x.dims(), x.indices(2)), (&[2, 3, 4][..], &[1, 3][..]));
    let wide = parse_frostt_with::<f64>(b"4294967296 0 1\n", "a", &options).unwrap();
    assert_eq!(wide.dims(), [4_294_967_297, 1]);
    let narrow = parse_frostt_with::<f64>(b"4294967294 0 1\n", "a", &options).unwrap();
    assert_eq!(narrow.dims(), [4_294_967_295, 1]);
    let twice = parse_frostt_with::<f64>(b"0 1 2\n0 1 3\n", "a", &options).unwrap_err().to_string();
    assert!(twice.starts_with("a:2:1: entry (0, 1) is in the file already"), "{twice}");
    let beyond = parse_frostt_with::<f64>(b"0 2 2\n", "a", &options.dims(&[1, 2])).unwrap_err().to_string();
    assert!(beyond.starts_with("a:1:3: index i_2 is \"2\", beyond the size 2"), "{beyond}");
}

/// Headers give the dimensions, plain and compressed, and the number of entries is checked.
#[test]
fn headers_of_other_programs_are_read() {
    let wide = format!("sptensor\n3\n2 3 9\n2000\n{}", "1 1 1 0.5\n2 3 4 2.5\n".repeat(1000));
    for (text, dims, sum) in [
        ("# extended\n3 2\n2 3 4\n1 1 1 1.0\n2 3 4 2.5\n", [2, 3, 4], 3.5),
        ("# ParTI\n3\n5 5 5\n1 1 1 1.0\n", [5, 5, 5], 1.0),
        ("sptensor\n3\n5 201 61\n1\n1 1 1 -4\n", [5, 201, 61], -4.0),
        ("sptensor\n3\n5 201 61\n0\n", [5, 201, 61], 0.0),
        (&*wide, [2, 3, 9], 3000.0),
    ] {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        for bytes in [text.as_bytes(), &packed.finish().unwrap()] {
            let options = FrosttOptions::new().piece_bytes(7);
            let x = parse_frostt_with::<f64>(bytes, "t", &options).unwrap().narrow().unwrap();
            assert_eq!((x.dims(), x.values().iter().sum::<f64>()), (&dims[..], sum), "{text}");
        }
    }
    let given = FrosttOptions::new().dims(&[2, 2]);
    let line = parse_frostt_with::<f64>(b"sptensor\n2\n3 3\n1\n1 1 1\n", "t", &given).unwrap_err().to_string();
    assert!(line.contains("the header of t says [3, 3], and [2, 2] is given"), "{line}");
}

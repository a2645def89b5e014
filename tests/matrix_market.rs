//! Matrix Market files: accepted and rejected input, error positions, and round trips.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use sparring::algebra::{Any, Array, Max, Num, Slice, Type, Value};
use sparring::io::{
    Field, Header, Layout, MarketValue, MatrixFile, ReadOptions, Symmetry, WriteOptions, parse_matrix_market,
    parse_matrix_market_with, read_matrix_market, read_matrix_market_from, read_matrix_market_with,
    write_matrix_market, write_matrix_market_any, write_matrix_market_any_to, write_matrix_market_array,
    write_matrix_market_columns, write_matrix_market_to,
};
use sparring::num_complex::Complex;
use sparring::par::Threads;
use sparring::{Csr, Error, Index};

/// The text, parsed from memory and from a file with every number of threads and with pieces down to one line; all must
/// agree.
fn parse(text: impl AsRef<[u8]>) -> Result<MatrixFile, Error> {
    let text = text.as_ref();
    let whole = parse_matrix_market(text, "t.mtx");
    let mut stored = tempfile::NamedTempFile::new().unwrap();
    stored.write_all(text).unwrap();
    let path = stored.path().display().to_string();
    if let Ok(file) = &whole {
        rows_are_those_of_the_coordinates(file);
    }
    for n in [1, 2, 3, 8] {
        let threads = Threads::new(n).unwrap();
        for bytes in [1, 7, 64] {
            let options = ReadOptions::new().threads(&threads).piece_bytes(bytes);
            let pieces = parse_matrix_market_with(text, "t.mtx", &options);
            match (&whole, &pieces) {
                (Ok(a), Ok(b)) => {
                    assert_eq!(a.header, b.header);
                    assert_eq!(complex_triples(a), complex_triples(b));
                    assert_eq!(a.value_type(), b.value_type());
                }
                (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
                _ => panic!("{n} threads, {bytes} bytes: {whole:?} and {pieces:?}"),
            }
            match (&whole, &read_matrix_market_with(stored.path(), &options)) {
                (Ok(a), Ok(b)) => {
                    assert_eq!((a.header, a.value_type()), (b.header, b.value_type()));
                    assert_eq!(complex_triples(a), complex_triples(b));
                    rows_are_those_of_the_coordinates(b);
                }
                (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string().replace(&path, "t.mtx")),
                (a, b) => panic!("{n} threads, {bytes} bytes: {a:?} and {b:?} from a file"),
            }
        }
    }
    whole
}

/// Expanded entries in file order; values as bits, so that NaN and −0 are compared too.
fn triples<T: MarketValue + Num>(file: &MatrixFile) -> Vec<(u32, u32, u64)> {
    let coo = file.coo::<T>().unwrap();
    let (rows, cols, values) = coo.parts();
    rows.iter().zip(cols).zip(values).map(|((&i, &j), x)| (i, j, x.as_f64().to_bits())).collect()
}

/// As [`triples`], for every field: a real number counts as complex.
fn complex_triples(file: &MatrixFile) -> Vec<(u32, u32, [u64; 2])> {
    let coo = file.coo::<Complex<f64>>().unwrap();
    let (rows, cols, values) = coo.parts();
    rows.iter().zip(cols).zip(values).map(|((&i, &j), x)| (i, j, [x.re.to_bits(), x.im.to_bits()])).collect()
}

/// Compressed rows, by whichever algorithm, compared with coordinates sorted one by one and summed in file order.
fn rows_are_those_of_the_coordinates(file: &MatrixFile) {
    let coo = file.coo::<Complex<f64>>().unwrap();
    let (rows, cols, values) = coo.parts();
    let mut want = std::collections::BTreeMap::<(u32, u32), Complex<f64>>::new();
    for ((&i, &j), &x) in rows.iter().zip(cols).zip(values) {
        want.entry((i, j)).and_modify(|sum| *sum += x).or_insert(x);
    }
    let a = file.csr::<Complex<f64>>().unwrap();
    let bits = |x: &Complex<f64>| [x.re.to_bits(), x.im.to_bits()];
    let found: Vec<_> = a.iter().map(|(i, j, x)| ((i as u32, j as u32), bits(x))).collect();
    assert_eq!(found, want.iter().map(|(&place, x)| (place, bits(x))).collect::<Vec<_>>());
    assert!(a.pattern().is_sorted());
}

/// Entries by rows, by columns, nearly sorted, with one duplicate, in both triangles and in one: all algorithms for
/// compressed rows.
#[test]
fn entries_in_every_order() {
    let n = 23usize;
    let below = |i: usize, j: usize| (i * 7 + j * 3) % 5 < 2;
    for symmetry in ["general", "symmetric", "skew-symmetric", "hermitian"] {
        let mut places: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
        places.retain(|&(i, j)| below(i, j) && (symmetry == "general" || j < i || (symmetry == "symmetric" && i == j)));
        let by_rows = places.clone();
        places.sort_by_key(|&(i, j)| (j, i));
        let by_columns = places.clone();
        let upper: Vec<_> = by_rows.iter().map(|&(i, j)| (j, i)).collect();
        let mut swapped = by_columns.clone();
        swapped.swap(5, 6);
        let mut twice = by_rows.clone();
        twice.insert(8, twice[7]);
        let mut late = by_columns.clone();
        late.push(by_columns[0]);
        for places in [by_rows, by_columns, upper, swapped, twice, late, vec![]] {
            for field in ["real", "integer", "pattern", "complex"] {
                let mut text =
                    format!("%%MatrixMarket matrix coordinate {field} {symmetry}\n{n} {n} {}\n", places.len());
                for (e, (i, j)) in places.iter().enumerate() {
                    let value = match field {
                        "real" => format!(" {}.{}", e % 13, e % 7),
                        "integer" => format!(" -{e}"),
                        "complex" => format!(" {e} -0.5"),
                        _ => String::new(),
                    };
                    text += &format!("{} {}{value}\n", i + 1, j + 1);
                }
                // A pattern cannot be skew-symmetric, and the diagonal of a Hermitian matrix is real.
                let _ = parse(&text);
            }
        }
    }
}

/// Piece boundaries may cut lines, blanks, line ends and the header.
#[test]
fn pieces_of_a_file_are_cut_anywhere() {
    let mut text = "%%MatrixMarket matrix coordinate real general\r\n% note\n\n30 30 40\n".to_owned();
    for e in 0..40 {
        text += &format!(
            "{} \t{} {}e-{}{}",
            e % 30 + 1,
            e * 7 % 30 + 1,
            e * 1_234_567,
            e % 3,
            ["\n", "\r\n", " \n\n", "\n \t\n"][e % 4]
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.mtx");
    let want = parse(&text).unwrap();
    for (name, text) in [("whole", text.clone()), ("without its last line end", text.trim_end().to_owned())] {
        std::fs::write(&path, &text).unwrap();
        for bytes in 1..text.len() + 2 {
            let file = read_matrix_market_with(&path, &ReadOptions::new().piece_bytes(bytes)).unwrap();
            assert_eq!(triples::<f64>(&file), triples::<f64>(&want), "{name}, {bytes}");
        }
    }
    // The first error of the file is reported, as for text in memory.
    for at in (70..text.len()).step_by(3) {
        let mut wrong = text.clone().into_bytes();
        wrong[at] = b'x';
        std::fs::write(&path, &wrong).unwrap();
        let want = parse_matrix_market(&wrong, &path.display().to_string()).map(|_| ()).map_err(|e| e.to_string());
        for bytes in [1, 5, 100] {
            let found = read_matrix_market_with(&path, &ReadOptions::new().piece_bytes(bytes));
            assert_eq!(found.map(|_| ()).map_err(|e| e.to_string()), want);
        }
    }
    let wanted = ReadOptions::new().piece_bytes(9).max_bytes(text.len() as u64 - 1);
    std::fs::write(&path, &text).unwrap();
    assert!(matches!(read_matrix_market_with(&path, &wanted), Err(Error::Budget { .. })));
    assert!(read_matrix_market_with(&path, &wanted.max_bytes(text.len() as u64)).is_ok());
}

fn dense<T: MarketValue>(text: &str) -> Vec<Vec<Option<T>>> {
    let a = parse(text).unwrap().csr::<T>().unwrap();
    (0..a.nrows()).map(|i| (0..a.ncols()).map(|j| a.get(i, j).copied()).collect()).collect()
}

const REAL: &str = "%%MatrixMarket matrix coordinate real general\n";

#[test]
fn every_symmetry_and_field_means_what_the_format_says() {
    let lower = "2 2 2\n1 1 4\n2 1 -3\n";
    for (kind, upper) in [("general", None), ("symmetric", Some(-3.0)), ("hermitian", Some(-3.0))] {
        for field in ["real", "double", "integer"] {
            let text = format!("%%MatrixMarket matrix coordinate {field} {kind}\n{lower}");
            assert_eq!(dense::<f64>(&text), [[Some(4.0), upper], [Some(-3.0), None]], "{text}");
        }
    }
    let text = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 -3\n3 2 5\n";
    assert_eq!(dense::<i64>(text), [[None, Some(3), None], [Some(-3), None, Some(-5)], [None, Some(5), None]]);
    let text = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n";
    assert_eq!(dense::<f64>(text), [[None, Some(1.0)], [Some(1.0), Some(1.0)]]);
    assert_eq!(dense::<bool>(text), [[None, Some(true)], [Some(true), Some(true)]]);
    assert_eq!(dense::<u8>(text), [[None, Some(1)], [Some(1), Some(1)]]);
    let text = "%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 18446744073709551615\n";
    assert_eq!(dense::<u64>(text), [[Some(u64::MAX)]]);
}

#[test]
fn arrays_go_by_columns_and_leave_out_the_upper_triangle() {
    let some = |rows: &[&[f64]]| rows.iter().map(|r| r.iter().map(|&x| Some(x)).collect()).collect::<Vec<Vec<_>>>();
    let text = "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n0\n";
    assert_eq!(dense::<f64>(text), some(&[&[1.0, 3.0, 5.0], &[2.0, 4.0, 0.0]]));
    let text = "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n";
    assert_eq!(dense::<f64>(text), some(&[&[1.0, 2.0, 3.0], &[2.0, 4.0, 5.0], &[3.0, 5.0, 6.0]]));
    let text = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n";
    assert_eq!(
        dense::<f64>(text),
        [[None, Some(-1.0), Some(-2.0)], [Some(1.0), None, Some(-3.0)], [Some(2.0), Some(3.0), None]]
    );
    for text in ["array real general\n0 0\n", "array real skew-symmetric\n1 1\n", "array integer symmetric\n0 0\n"] {
        assert_eq!(parse(format!("%%MatrixMarket matrix {text}")).unwrap().entries.len(), 0);
    }
}

#[test]
fn layout_of_the_text_is_free_where_the_format_leaves_it_free() {
    let texts = [
        "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 0.5\n2 3 -1e2\n",
        "%%matrixmarket MATRIX Coordinate REAL General\n2 3 2\n1 2 0.5\n2 3 -1e2",
        "%%MatrixMarket matrix coordinate real general\r\n% note\r\n\r\n2 3 2\r\n1 2 .5\r\n2 3 -100.\r\n",
        "%%MatrixMarket\tmatrix  coordinate real general \n%\n%%\n  % indented\n \t\n 2\t3  2 \n\n 1  2\t+0.5 \n\n02 003 -1E+2\t\n \n\n",
        "%%MatrixMarket matrix coordinate real general\r\n2 3 2\r\n1 2 5e-1\r\n2 3 -100\r",
    ];
    for text in texts {
        let file = parse(text).unwrap();
        let (layout, field, symmetry) = (Layout::Coordinate, Field::Real, Symmetry::General);
        assert_eq!(file.header, Header { layout, field, symmetry, nrows: 2, ncols: 3, stored: 2 });
        assert_eq!(triples::<f64>(&file), [(0, 1, 0.5f64.to_bits()), (1, 2, (-100f64).to_bits())], "{text:?}");
    }
    // Comments may be in any encoding, because author names are.
    let latin1 = b"%%MatrixMarket matrix coordinate pattern general\n% F\xfcr M\xfcller\n1 1 1\n1 1\n";
    assert_eq!(parse(latin1).unwrap().entries.len(), 1);
    assert_eq!(parse(REAL.to_owned() + "0 0 0").unwrap().csr::<f64>().unwrap().shape(), (0, 0));
    assert_eq!(parse(REAL.to_owned() + "0 7 0\n\n").unwrap().csr::<f64>().unwrap().shape(), (0, 7));
}

#[test]
fn not_a_number_and_infinity_are_read_as_scipy_writes_them() {
    let file = parse(REAL.to_owned() + "1 4 4\n1 1 nan\n1 2 inf\n1 3 -inf\n1 4 Infinity\n").unwrap();
    let a = file.csr::<f64>().unwrap();
    assert!(a.values()[0].is_nan());
    assert_eq!(a.values()[1..], [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY]);
    let text = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 nan\n";
    assert_eq!(parse(text).unwrap_err().to_string(), "t.mtx:3:5: expected a whole number, found \"nan\"");
}

#[test]
fn repeated_entries_follow_the_rule() {
    let file = parse(REAL.to_owned() + "2 2 4\n2 1 1\n1 1 8\n2 1 4\n2 1 2\n").unwrap();
    assert_eq!(file.csr::<f64>().unwrap().get(1, 0), Some(&7.0));
    assert_eq!(file.csr_with::<f64, u32, _>(Max::new()).unwrap().get(1, 0), Some(&4.0));
    assert_eq!(file.csr_with::<f64, u64, _>(Any::new()).unwrap().get(1, 0), Some(&2.0));
    assert_eq!(file.csr::<f64>().unwrap().nnz(), 2);
    let text = "%%MatrixMarket matrix coordinate pattern general\n1 1 2\n1 1\n1 1\n";
    assert_eq!(dense::<i32>(text), [[Some(2)]]);
    assert_eq!(dense::<bool>(text), [[Some(true)]]);
}

#[test]
fn integers_do_not_pass_through_floating_point() {
    let text = "%%MatrixMarket matrix coordinate integer general\n1 3 3\n1 1 9007199254740993\n1 2 9223372036854775807\n1 3 -9223372036854775808\n";
    assert_eq!(dense::<i64>(text), [[Some(9_007_199_254_740_993), Some(i64::MAX), Some(i64::MIN)]]);
    let file = parse(text).unwrap();
    assert_eq!(
        file.csr::<i32>().unwrap_err().to_string(),
        "t.mtx: entry 1, value 9007199254740993, as i32 is not supported: \
         the type does not hold it or its mirror image; read the matrix as a wider type"
    );
    assert!(
        file.csr::<u64>().unwrap_err().to_string().starts_with("t.mtx: entry 3, value -9223372036854775808, as u64")
    );
    // −i64::MIN does not exist.
    let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 4\n3 1 -9223372036854775808\n";
    assert!(
        parse_matrix_market(skew.as_bytes(), "t").unwrap().csr::<i64>().unwrap_err().to_string().contains("entry 2")
    );
    // As a float it does (found by fuzzing).
    assert_eq!(dense::<f64>(skew)[0], [None, Some(-4.0), Some(2f64.powi(63))]);
    let real = parse(REAL.to_owned() + "1 2 2\n1 1 3\n1 2 0.5\n").unwrap();
    assert!(real.csr::<i64>().unwrap_err().to_string().starts_with("t.mtx: entry 2, value 0.5, as i64"));
    assert_eq!(real.csr::<bool>().unwrap().values(), [true, true]);
}

#[test]
fn what_is_malformed_is_refused_where_it_is() {
    let sym = "%%MatrixMarket matrix coordinate real symmetric\n";
    let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n";
    let pattern = "%%MatrixMarket matrix coordinate pattern general\n";
    let array = "%%MatrixMarket matrix array real general\n";
    let cases: &[(&str, &str, u64, u64, &str)] = &[
        ("", "", 1, 1, "the file is empty"),
        ("", "\n", 1, 1, "expected %%MatrixMarket, found the end of the line"),
        ("", "%MatrixMarket matrix coordinate real general\n1 1 0\n", 1, 1, "expected %%MatrixMarket, found \"%Matrix"),
        ("", "%%MatrixMarketmatrix coordinate real general\n1 1 0\n", 1, 1, "expected %%MatrixMarket"),
        ("", "%%MatrixMarket", 1, 15, "expected matrix, found the end of the file"),
        ("", "%%MatrixMarket vector coordinate real general\n", 1, 16, "expected matrix, found \"vector\""),
        ("", "%%MatrixMarket matrix sparse real general\n", 1, 23, "expected coordinate, array, found \"sparse\""),
        ("", "%%MatrixMarket matrix coordinate float general\n", 1, 34, "found \"float\""),
        ("", "%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, 38, "found the end of the line"),
        (
            "",
            "%%MatrixMarket matrix coordinate real lower\n1 1 0\n",
            1,
            39,
            "skew-symmetric, hermitian, found \"lower\"",
        ),
        (
            "",
            "%%MatrixMarket matrix coordinate real general x\n1 1 0\n",
            1,
            47,
            "expected the end of the line, found \"x\"",
        ),
        ("", "%%MatrixMarket matrix array pattern general\n1 1\n", 1, 29, "an array has no pattern"),
        ("", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n", 1, 42, "a pattern matrix cannot be skew"),
        ("", "%%MatrixMarket matrix coordinate pattern hermitian\n", 1, 42, "a pattern matrix cannot be hermitian"),
        ("", "%%MatrixMarket matrix coordinate unsigned-integer skew-symmetric\n", 1, 51, "cannot be skew"),
        (REAL, "", 2, 1, "expected the size line, found the end of the file"),
        (REAL, "% only comments\n\n", 4, 1, "expected the size line"),
        (REAL, "2 2\n", 2, 4, "expected the number of entries, found the end of the line"),
        (REAL, "2 2 0 0\n", 2, 7, "expected the end of the line, found \"0\""),
        (REAL, "2 x 1\n", 2, 3, "expected the number of columns, found \"x\""),
        (REAL, "-2 2 1\n", 2, 1, "expected the number of rows, found \"-2\""),
        (REAL, "2.0 2 1\n", 2, 1, "expected the number of rows, found \"2.0\""),
        (REAL, "2 2 99999999999999999999\n", 2, 5, "number of entries \"99999999999999999999\" is too large"),
        (REAL, "9223372036854775808 2 1\n", 2, 1, "is too large"),
        (REAL, "3 3 9000000000000000000\n1 1 1\n", 4, 1, "declares 9000000000000000000 entries, the file ends after 1"),
        (REAL, "3 3 2\n1 1 1\n", 4, 1, "the size line declares 2 entries, the file ends after 1"),
        (REAL, "3 3 2\n1 1 1", 3, 6, "the size line declares 2 entries, the file ends after 1"),
        (REAL, "3 3 1\n1 1 1\n\n 2 2 2\n", 5, 2, "the size line declares 1 entries, found \"2\" after the last"),
        (REAL, "3 3 1\n1 1 1\nhello\n", 4, 1, "found \"hello\" after the last"),
        (REAL, "3 3 0\n1 1 1\n", 3, 1, "the size line declares 0 entries"),
        (REAL, "3 3 1\n1 1 1\n9 9 9\n0 0 0\n", 4, 1, "found \"9\" after the last"),
        (REAL, "3 3 2\n0 1 1\n1 0 1\n", 3, 1, "row index 0: Matrix Market counts from 1"),
        (REAL, "3 3 2\n1 1 1\n1 0 1\n", 4, 3, "column index 0"),
        (REAL, "3 4 1\n4 1 1\n", 3, 1, "row index \"4\" is beyond the 3 rows of the size line"),
        (REAL, "4 3 1\n4 4 1\n", 3, 3, "column index \"4\" is beyond the 3 columns"),
        (REAL, "4 3 1\n18446744073709551617 1 1\n", 3, 1, "row index \"18446744073709551617\" is beyond"),
        (REAL, "4 3 1\n4294967297 1 1\n", 3, 1, "is beyond the 4 rows"),
        (REAL, "0 0 1\n1 1 1\n", 3, 1, "is beyond the 0 rows"),
        (REAL, "3 3 1\n-1 1 1\n", 3, 1, "expected the row index, found \"-1\""),
        (REAL, "3 3 1\n1.0 1 1\n", 3, 1, "expected the row index"),
        (REAL, "3 3 1\n1,1,1\n", 3, 1, "expected the row index, found \"1,1,1\""),
        (REAL, "3 3 1\n1 \n", 3, 3, "expected the column index, found the end of the line"),
        (REAL, "3 3 1\n1 2\n", 3, 4, "expected a real number, found the end of the line"),
        (REAL, "3 3 1\n1\n2\n3\n", 3, 2, "expected the column index"),
        (REAL, "3 3 1\n1 2 3 4\n", 3, 7, "expected the end of the line, found \"4\""),
        (REAL, "3 3 1\n1 2 1e\n", 3, 5, "expected a real number, found \"1e\""),
        (REAL, "3 3 1\n1 2 1e999\n", 3, 5, "beyond the range"),
        (REAL, "3 3 1\n1 2 0x10\n", 3, 5, "expected a real number"),
        (REAL, "3 3 1\n1 2 nanny\n", 3, 5, "expected a real number, found \"nanny\""),
        (REAL, "3 3 1\n1 2 3\r4\n", 3, 6, "expected the end of the line"),
        (REAL, "3 3 1\n% late\n1 2 3\n", 3, 1, "comments end at the size line"),
        (REAL, "3 3 1\n1 2 3 % late\n", 3, 7, "expected the end of the line"),
        (REAL, "3 3 2\n1 2 3\0\n", 3, 5, "expected a real number"),
        (pattern, "3 3 1\n1 2 1\n", 3, 5, "expected the end of the line, found \"1\""),
        (pattern, "3 3 1\n1 2x\n", 3, 3, "expected the column index, found \"2x\""),
        (sym, "2 3 1\n1 1 1\n", 2, 1, "a symmetric matrix must be square, but it is 2×3"),
        (sym, "3 3 2\n2 1 1\n1 2 1\n", 4, 1, "entry (1, 2) is above the diagonal, and (2, 1) is in the"),
        (skew, "3 3 2\n2 1 1\n2 2 7\n", 4, 1, "entry (2, 2) is not 0: the diagonal of a skew-symmetric matrix is"),
        (skew, "3 3 2\n1 2 1\n2 1 1\n", 3, 1, "entry (1, 2) is above the diagonal, and (2, 1) is in the file too"),
        (skew, "3 3 1\n1 2 -9223372036854775808\n", 3, 5, "its negative does not fit"),
        (skew, "3 3 1\n2 1 9223372036854775808\n", 3, 5, "does not fit a 64-bit signed integer"),
        (array, "4000000000 4000000000\n", 2, 11, "an array of 4000000000×4000000000 elements is too large"),
        (array, "2 2 4\n1\n2\n3\n4\n", 2, 5, "expected the end of the line"),
        (array, "2 2\n1\n2\n3\n", 6, 1, "declares 4 entries, the file ends after 3"),
        (array, "2 2\n1\n2\n3\n4\n5\n", 7, 1, "declares 4 entries, found \"5\" after the last"),
        (array, "2 2\n1 2\n3 4\n", 3, 3, "expected the end of the line"),
        (array, "1000000000 1000000000\n1\n", 4, 1, "the file ends after 1"),
    ];
    for (banner, rest, line, column, message) in cases {
        let text = format!("{banner}{rest}");
        let error = parse(&text).expect_err(&text);
        let shown = error.to_string();
        let Error::Parse { file, line: l, column: c, message: m } = error else { panic!("{text:?}: {shown}") };
        assert_eq!((file.as_str(), l, c), ("t.mtx", *line, *column), "{text:?}: {m}");
        assert!(m.contains(message), "{text:?}: {m}");
        assert_eq!(shown, format!("t.mtx:{line}:{column}: {m}"));
    }
    let raw: &[&[u8]] = &[b"\xff\xfe%\0", b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 \xff\xff\n"];
    for text in raw {
        assert!(parse(text).unwrap_err().to_string().contains("\\xff"));
    }
}

fn c(re: f64, im: f64) -> Option<Complex<f64>> {
    Some(Complex { re, im })
}

#[test]
fn complex_matrices_of_every_symmetry() {
    let lower = "2 2 2\n1 1 4 0\n2 1 -3 0.5\n";
    for (kind, upper) in
        [("general", None), ("symmetric", c(-3.0, 0.5)), ("Hermitian", c(-3.0, -0.5)), ("SYMMETRIC", c(-3.0, 0.5))]
    {
        let text = format!("%%MatrixMarket matrix coordinate Complex {kind}\n{lower}");
        assert_eq!(dense(&text), [[c(4.0, 0.0), upper], [c(-3.0, 0.5), None]], "{text}");
    }
    let text = "%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 -3 0.5\n";
    assert_eq!(dense(text), [[None, c(3.0, -0.5)], [c(-3.0, 0.5), None]]);
    // Symmetric complex matrices accept any value, also on the diagonal.
    let text = "%%MatrixMarket matrix coordinate complex symmetric\n1 1 1\n1 1 1 2\n";
    assert_eq!(dense(text), [[c(1.0, 2.0)]]);
    // As single precision, and as real numbers where imaginary parts are zero.
    let text = "%%MatrixMarket matrix coordinate complex general\n1 2 2\n1 1 0.1 inf\n1 2 5 0\n";
    assert_eq!(dense(text)[0][0], Some(Complex { re: 0.1f32, im: f32::INFINITY }));
    let file = parse(text).unwrap();
    assert_eq!((file.header.field, file.entries.field()), (Field::Complex, Field::Complex));
    let refused = file.csr::<f64>().unwrap_err().to_string();
    assert!(
        refused.starts_with("t.mtx: entry 1, value Complex { re: 0.1, im: inf }, as f64 is not supported"),
        "{refused}"
    );
    assert_eq!(file.csr::<bool>().unwrap().values(), [true, true]);
    let real = parse("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 7 0\n").unwrap();
    assert_eq!((real.csr::<f64>().unwrap().values(), real.csr::<u8>().unwrap().values()), (&[7.0][..], &[7][..]));
    // Duplicates are summed; other fields convert to complex.
    let text = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 1 1\n2 1 2 3\n";
    assert_eq!(dense(text), [[None, c(3.0, -4.0)], [c(3.0, 4.0), None]]);
    assert_eq!(dense("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n"), [[c(1.0, 0.0)]]);
    assert_eq!(dense("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -2\n"), [[c(-2.0, 0.0)]]);
}

#[test]
fn complex_arrays_of_every_symmetry() {
    let text = "%%MatrixMarket matrix array complex general\n1 2\n1 2\n3\t-4\n";
    assert_eq!(dense(text), [[c(1.0, 2.0), c(3.0, -4.0)]]);
    let lower = "3 3\n1 0\n2 2\n3 3\n4 0\n5 5\n6 0\n";
    let text = format!("%%MatrixMarket matrix array complex hermitian\n{lower}");
    assert_eq!(
        dense(&text),
        [
            [c(1.0, 0.0), c(2.0, -2.0), c(3.0, -3.0)],
            [c(2.0, 2.0), c(4.0, 0.0), c(5.0, -5.0)],
            [c(3.0, 3.0), c(5.0, 5.0), c(6.0, 0.0)]
        ]
    );
    let text = format!("%%MatrixMarket matrix array complex symmetric\n{lower}");
    assert_eq!(dense(&text)[0], [c(1.0, 0.0), c(2.0, 2.0), c(3.0, 3.0)]);
    let text = "%%MatrixMarket matrix array complex skew-symmetric\n2 2\n1 2\n";
    assert_eq!(dense(text), [[None, c(-1.0, -2.0)], [c(1.0, 2.0), None]]);
}

#[test]
fn what_is_wrong_in_a_complex_file_is_refused_where_it_is() {
    let general = "%%MatrixMarket matrix coordinate complex general\n";
    let hermitian = "%%MatrixMarket matrix coordinate complex hermitian\n";
    let array = "%%MatrixMarket matrix array complex hermitian\n";
    let cases: &[(&str, &str, u64, u64, &str)] = &[
        (general, "1 1 1\n1 1 1\n", 3, 6, "expected a real number as the imaginary part, found the end of the line"),
        (general, "1 1 1\n1 1\n", 3, 4, "expected a real number, found the end of the line"),
        (general, "1 1 1\n1 1 1 x\n", 3, 7, "expected a real number, found \"x\""),
        (general, "1 1 1\n1 1 1+2i\n", 3, 5, "expected a real number, found \"1+2i\""),
        (general, "1 1 1\n1 1 1 1e999\n", 3, 7, "beyond the range"),
        (general, "1 1 1\n1 1 1 2 3\n", 3, 9, "expected the end of the line, found \"3\""),
        (hermitian, "2 2 2\n2 1 1 1\n2 2 1 -0.5\n", 4, 5, "entry (2, 2) has an imaginary part: the diagonal of a herm"),
        (hermitian, "2 2 1\n1 1 1 nan\n", 3, 5, "entry (1, 1) has an imaginary part"),
        (
            hermitian,
            "2 2 2\n2 1 1 0\n1 2 1 0\n",
            4,
            1,
            "entry (1, 2) is above the diagonal, and (2, 1) is in the file too",
        ),
        (hermitian, "2 3 1\n1 1 1 0\n", 2, 1, "a hermitian matrix must be square"),
        (array, "3 3\n1 0\n2 2\n\n3 3\n 4 1\n5 5\n6 1\n", 7, 2, "entry (2, 2) has an imaginary part"),
        (array, "2 2\n1 1\nx\n", 3, 1, "entry (1, 1) has an imaginary part"),
        (array, "2 2\n1 0\nx\n3 1\n", 4, 1, "expected a real number, found \"x\""),
        (array, "2 2\n1 0\n2 2\n3 1\n4 4\n", 5, 1, "entry (2, 2) has an imaginary part"),
        (array, "2 2\n1 0\n2 2\n3 0\n4 4\n", 6, 1, "found \"4\" after the last"),
    ];
    for (banner, rest, line, column, message) in cases {
        for packed in [false, true] {
            let text = format!("{banner}{rest}");
            let bytes = if packed { gzip(text.as_bytes()) } else { text.clone().into_bytes() };
            let error = parse(&bytes).expect_err(&text);
            let Error::Parse { line: l, column: c, message: m, .. } = error else { panic!("{text:?}: {error}") };
            assert_eq!((l, c), (*line, *column), "{text:?}: {m}");
            assert!(m.contains(message), "{text:?}: {m}");
        }
    }
}

/// The matrix in the file's own type.
fn own<T: Value>(text: &str) -> Vec<T> {
    let file = parse(text).unwrap();
    assert_eq!(file.value_type(), T::TYPE, "{text}");
    let (pattern, values) = file.any().unwrap();
    assert_eq!((values.ty(), values.len()), (T::TYPE, pattern.nnz()));
    values.into_vec().unwrap()
}

#[test]
fn a_file_is_read_in_its_own_type() {
    let text = |field: &str, entries: &str| format!("%%MatrixMarket matrix coordinate {field}\n{entries}");
    // 2⁵³ + 1 is not representable in f64.
    assert_eq!(own::<i64>(&text("integer general", "1 2 2\n1 1 9007199254740993\n1 2 -1\n")), [9007199254740993, -1]);
    assert_eq!(own::<i64>(&text("integer symmetric", "2 2 1\n2 1 9007199254740993\n")), [9007199254740993; 2]);
    assert_eq!(
        own::<i64>(&text("integer skew-symmetric", "2 2 1\n2 1 9007199254740993\n")),
        [-9007199254740993, 9007199254740993]
    );
    assert_eq!(own::<i64>(&text("integer general", "1 1 2\n1 1 9007199254740993\n1 1 1\n")), [9007199254740994]);
    let large = "1 2 2\n1 1 18446744073709551615\n1 2 0\n";
    assert_eq!(own::<u64>(&text("integer general", large)), [u64::MAX, 0]);
    assert_eq!(own::<u64>(&text("unsigned-integer general", "1 1 1\n1 1 3\n")), [3]);
    assert_eq!(own::<u64>("%%MatrixMarket matrix array integer general\n1 2\n1\n9223372036854775808\n"), [1, 1 << 63]);
    assert_eq!(own::<bool>(&text("pattern symmetric", "2 2 3\n2 1\n2 1\n2 2\n")), [true; 3]);
    assert_eq!(own::<f64>(&text("double general", "1 1 2\n1 1 0.5\n1 1 1\n")), [1.5]);
    assert_eq!(
        own::<Complex<f64>>(&text("complex hermitian", "2 2 1\n2 1 1 2\n")),
        [c(1.0, -2.0), c(1.0, 2.0)].map(Option::unwrap)
    );
    // The header keeps the field declared in the file.
    let file = parse(text("integer general", large)).unwrap();
    assert_eq!((file.header.field, file.entries.field()), (Field::Integer, Field::Unsigned));
    assert_eq!(
        file.csr::<i64>().unwrap_err().to_string().split(" is not").next(),
        Some("t.mtx: entry 1, value 18446744073709551615, as i64")
    );
    assert_eq!(
        parse_matrix_market(&gzip(text("integer general", large).as_bytes()), "t").unwrap().value_type(),
        Type::U64
    );
    let wide = text("pattern general", "5 8589934592 1\n1 8589934592\n");
    let wide = parse_matrix_market(wide.as_bytes(), "t").unwrap();
    assert!(matches!(wide.any(), Err(Error::IndexOverflow { .. })));
    let (pattern, _) = wide.any_with::<u64>(&Threads::current()).unwrap();
    assert_eq!(pattern.row(0), [8_589_934_591]);
}

#[test]
fn integers_beyond_every_type_are_refused_at_the_first_that_fits_none() {
    let text = |entries: &str| {
        let n = entries.lines().count();
        let text = format!("%%MatrixMarket matrix coordinate integer general\n9 9 {n}\n{entries}");
        parse(text).unwrap_err().to_string()
    };
    let large = "1 1 9223372036854775808\n";
    assert_eq!(
        text(&format!("1 2 -1\n1 1 1\n{large}2 2 x\n")),
        "t.mtx:5:5: \"9223372036854775808\" does not fit a 64-bit signed integer"
    );
    assert_eq!(text(&format!("1 1 1\n{large}1 2 -1\n")), "t.mtx:5:5: expected an unsigned whole number, found \"-1\"");
    assert_eq!(
        text(&format!("{large}1 2 18446744073709551616\n")),
        "t.mtx:4:5: \"18446744073709551616\" does not fit a 64-bit unsigned integer"
    );
    assert_eq!(text(&format!("{large}10 1 1\n")), "t.mtx:4:1: row index \"10\" is beyond the 9 rows of the size line");
    assert_eq!(text("1 1 1\n1 2 0.5\n"), "t.mtx:4:5: expected a whole number, found \"0.5\"");
}

#[test]
fn a_value_type_of_ones_own_is_read_and_written() {
    sparring::value! {
        struct Tenths { n: i64 }
    }
    impl MarketValue for Tenths {
        const ONE: Self = Self { n: 10 };
        fn from_real(x: f64) -> Option<Self> {
            Some(Self { n: (x * 10.0).round() as i64 })
        }
        fn from_integer(x: i64) -> Option<Self> {
            x.checked_mul(10).map(|n| Self { n })
        }
        fn from_unsigned(_: u64) -> Option<Self> {
            None
        }
        fn repeated(self, again: Self) -> Self {
            Self { n: self.n + again.n }
        }
        fn field(_: &[Self]) -> Field {
            Field::Real
        }
        fn write(self, text: &mut Vec<u8>) {
            text.extend_from_slice(format!("{}.{}", self.n / 10, self.n % 10).as_bytes());
        }
    }
    let a = Csr::<Tenths>::new(1, 2, vec![0, 2], vec![0, 1], vec![Tenths { n: 15 }, Tenths { n: 20 }]).unwrap();
    let mut text = Vec::new();
    write_matrix_market_to(&mut text, &a, &WriteOptions::new()).unwrap();
    assert_eq!(text, b"%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 1.5\n1 2 2.0\n");
    assert_eq!(parse(text).unwrap().coo::<Tenths>().unwrap().parts().2, [Tenths { n: 15 }, Tenths { n: 20 }]);
    // A complex entry with zero imaginary part reads as real, unless the type says otherwise.
    let text = "%%MatrixMarket matrix coordinate complex general\n1 1 2\n1 1 0.5 0\n1 1 0.1 0\n";
    assert_eq!(parse(text).unwrap().csr::<Tenths>().unwrap().values(), [Tenths { n: 6 }]);
    // A user-defined type known only at run time has no text form.
    let refused = write_matrix_market_any_to(&mut Vec::new(), a.pattern(), Slice::of(a.values()), &WriteOptions::new());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "writing values of the type Tenths is not supported: Matrix Market has numbers alone; write each field as a \
         matrix, or implement MarketValue"
    );
}

struct Random(u64);
impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn csr<T: MarketValue, I: Index>(&mut self, value: impl Fn(u64) -> T) -> Csr<T, I> {
        let (nrows, ncols) = (self.below(40), self.below(40));
        let mut row_ptr = vec![0];
        let (mut cols, mut values) = (vec![], vec![]);
        for _ in 0..nrows {
            let dense = self.below(8) == 0;
            for j in 0..ncols {
                if dense || self.below(10) == 0 {
                    cols.push(I::cast(j));
                    values.push(value(self.next()));
                }
            }
            row_ptr.push(cols.len());
        }
        Csr::new(nrows, ncols, row_ptr, cols, values).unwrap()
    }
}

/// Writes and reads random matrices of one type, statically typed and run-time typed; `bits` distinguishes all values.
fn round_trip<T: MarketValue>(value: impl Fn(u64) -> T + Copy, bits: impl Fn(&T) -> u128) {
    let threads = [1, 2, 3].map(|n| Threads::new(n).unwrap());
    let mut random = Random(7);
    for round in 0..60 {
        let a = random.csr::<T, u32>(value);
        let mut text = Vec::new();
        let options = WriteOptions::new().threads(&threads[round % 3]);
        write_matrix_market_to(&mut text, &a, &options).unwrap();
        let mut again = Vec::new();
        write_matrix_market_any_to(&mut again, a.pattern(), Slice::of(a.values()), &options).unwrap();
        assert!(again == text);
        let options = ReadOptions::new().threads(&threads[round % 2]).piece_bytes(100);
        for file in [parse_matrix_market_with(&text, "t", &options).unwrap(), parse(&text).unwrap()] {
            let b = file.csr::<T>().unwrap();
            assert_eq!(a.pattern(), b.pattern());
            assert!(a.values().iter().map(&bits).eq(b.values().iter().map(&bits)), "{}", text.escape_ascii());
            // In the file's own type, the widest of its kind, it is written as the same text.
            let (pattern, values) = file.any_with::<u64>(&threads[1]).unwrap();
            let mut own = Vec::new();
            write_matrix_market_any_to(&mut own, &pattern, values.slice(), &WriteOptions::new()).unwrap();
            // An f32 has shorter text than its value widened to f64.
            assert!(own == text || [Type::F32, Type::ComplexF32].contains(&T::TYPE), "{}", text.escape_ascii());
        }
    }
}

#[test]
fn writing_and_reading_gives_the_same_bits() {
    // Random bits cover all magnitudes, subnormals and infinities; NaN payloads are not preserved.
    let double = |r| if f64::from_bits(r).is_nan() { -0.0 } else { f64::from_bits(r) };
    let single = |r: u64| if f32::from_bits(r as u32).is_nan() { f32::NAN } else { f32::from_bits(r as u32) };
    round_trip(double, |x| x.to_bits().into());
    round_trip(single, |x| x.to_bits().into());
    round_trip(
        |r| Complex { re: double(r), im: double(r.rotate_left(17).wrapping_mul(5)) },
        |x| u128::from(x.re.to_bits()) << 64 | u128::from(x.im.to_bits()),
    );
    round_trip(
        |r| Complex { re: single(r), im: single(r >> 32) },
        |x| u128::from(x.re.to_bits()) << 64 | u128::from(x.im.to_bits()),
    );
    round_trip(|r| r as f64 / 8.0, |x| x.to_bits().into());
    round_trip(|r| (r % 1000) as f64 / 100.0, |x| x.to_bits().into());
    round_trip(|r| r as i64, |x| *x as u128);
    round_trip(|r| r as i32, |x| *x as u128);
    round_trip(|r| r as i16, |x| *x as u128);
    round_trip(|r| r as i8, |x| *x as u128);
    round_trip(|r| r, |x| (*x).into());
    round_trip(|r| r >> 1, |x| (*x).into());
    round_trip(|r| r as u32, |x| (*x).into());
    round_trip(|r| r as u16, |x| (*x).into());
    round_trip(|r| r as u8, |x| (*x).into());
    round_trip(|r| r % 5 > 0, |x| (*x).into());
    round_trip(|_| true, |x| (*x).into());
}

#[test]
fn a_type_known_at_run_time_is_written_as_the_file_had_it() {
    for (field, entries) in [
        ("integer", "2 2 2\n1 1 9007199254740993\n2 1 -5\n"),
        ("unsigned-integer", "2 2 2\n1 1 18446744073709551615\n2 1 5\n"),
        ("pattern", "2 2 2\n1 1\n2 1\n"),
        ("real", "2 2 2\n1 1 0.5\n2 1 nan\n"),
        ("complex", "2 2 2\n1 1 0.5 -1.0\n2 1 nan inf\n"),
    ] {
        let text = format!("%%MatrixMarket matrix coordinate {field} general\n{entries}");
        let (pattern, values) = parse(&text).unwrap().any().unwrap();
        let mut again = Vec::new();
        write_matrix_market_any_to(&mut again, &pattern, values.slice(), &WriteOptions::new()).unwrap();
        assert_eq!(String::from_utf8(again).unwrap(), text);
        let short =
            write_matrix_market_any_to(&mut Vec::new(), &pattern, values.slice().part(0..1), &WriteOptions::new());
        assert_eq!(short.unwrap_err().to_string(), "values: length is 1, expected 2");
    }
    let dir = tempfile::tempdir().unwrap();
    let (pattern, _) =
        parse("%%MatrixMarket matrix coordinate pattern general\n1 2 2\n1 1\n1 2\n").unwrap().any().unwrap();
    let values = Array::of(vec![true, false]);
    let path = dir.path().join("truth.mtx.gz");
    write_matrix_market_any(&path, &pattern, values.slice(), &WriteOptions::new()).unwrap();
    let file = read_matrix_market(&path).unwrap();
    assert_eq!((file.value_type(), file.csr::<bool>().unwrap().values()), (Type::I64, &[true, false][..]));
}

fn written<T: MarketValue>(a: &Csr<T>, options: &WriteOptions<'_>) -> String {
    let mut text = Vec::new();
    write_matrix_market_to(&mut text, a, options).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn the_written_text_is_plain() {
    let a = Csr::<f64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![0.1, -1.0, -1.0]).unwrap();
    let options = WriteOptions::new().comment("two lines\nhere");
    let expected =
        "%%MatrixMarket matrix coordinate real general\n% two lines\n% here\n2 2 3\n1 1 0.1\n1 2 -1.0\n2 1 -1.0\n";
    assert_eq!(written(&a, &options), expected);
    let expected = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 0.1\n2 1 -1.0\n";
    assert_eq!(written(&a, &WriteOptions::new().symmetric()), expected);
    assert_eq!(parse(expected).unwrap().csr::<f64>().unwrap(), a);
    let expected = "%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 1\n1 2\n2 1\n";
    assert_eq!(written(&a, &WriteOptions::new().pattern_only()), expected);
    assert_eq!(written(&a.map(|_| true).unwrap(), &WriteOptions::new()), expected);
    assert!(
        written(&a.map(|x| *x > 0.0).unwrap(), &WriteOptions::new())
            .ends_with("integer general\n2 2 3\n1 1 1\n1 2 0\n2 1 0\n")
    );
    assert!(written(&a.map(|_| u64::MAX).unwrap(), &WriteOptions::new()).contains("unsigned-integer"));
    assert!(
        written(&a.map(|_| f64::NAN).unwrap(), &WriteOptions::new().symmetric()).ends_with("2 2 2\n1 1 nan\n2 1 nan\n")
    );
}

/// Text is written in waves of four parts per thread.
#[test]
fn files_of_many_parts_are_written_part_by_part() {
    let n = 1300;
    let cols: Vec<u32> = (0..n).flat_map(|i| (0..130).map(move |j| j * 10 + i % 10)).collect();
    let values = (0..cols.len()).map(|p| p as i64).collect();
    let a = Csr::<i64>::new(n as usize, 1300, (0..=n as usize).map(|i| 130 * i).collect(), cols, values).unwrap();
    let threads = [1, 3].map(|n| Threads::new(n).unwrap());
    let [one, other] = [0, 1].map(|t| written(&a, &WriteOptions::new().threads(&threads[t])));
    assert!(one == other && one.lines().count() == 2 + a.nnz(), "{} lines", one.lines().count());
    assert!(parse_matrix_market(one.as_bytes(), "t").unwrap().csr::<i64>().unwrap() == a);
}

#[test]
fn only_a_symmetric_matrix_is_written_as_one() {
    let refused = |nrows, ncols, row_ptr: &[usize], cols: &[u32], values: &[f64]| {
        let a = Csr::<f64>::new(nrows, ncols, row_ptr.to_vec(), cols.to_vec(), values.to_vec()).unwrap();
        let error = write_matrix_market_to(&mut Vec::new(), &a, &WriteOptions::new().symmetric()).unwrap_err();
        error.to_string()
    };
    assert_eq!(refused(1, 2, &[0, 0], &[], &[]), "symmetric: the matrix is 1×2");
    assert_eq!(refused(2, 2, &[0, 1, 1], &[1], &[3.5]), "symmetric: entry (0, 1) is 3.5, entry (1, 0) is absent");
    assert_eq!(
        refused(2, 2, &[0, 1, 2], &[1, 0], &[0.0, -0.0]),
        "symmetric: entry (0, 1) is 0.0, entry (1, 0) is -0.0"
    );
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn compressed_text_is_known_by_its_bytes() {
    let text = REAL.to_owned() + "2 2 2\n1 1 1.5\n2 2 2.5\n";
    let plain = triples::<f64>(&parse(&text).unwrap());
    let packed = gzip(text.as_bytes());
    assert_eq!(triples::<f64>(&parse(&packed).unwrap()), plain);
    // Several gzip members, cut in the middle of a line, as parallel compressors write them.
    let (one, two) = text.as_bytes().split_at(55);
    let members = [gzip(one), gzip(b""), gzip(two)].concat();
    assert_eq!(triples::<f64>(&parse(&members).unwrap()), plain);
    let broken = gzip((REAL.to_owned() + "2 2 2\n1 1 1.5\n2 x 2.5\n").as_bytes());
    assert_eq!(parse(&broken).unwrap_err().to_string(), "t.mtx:4:3: expected the column index, found \"x\"");
    for cut in 2..packed.len() {
        let error = parse_matrix_market(&packed[..cut], "t.mtx").unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{cut}: {error}");
    }
    let mut flipped = packed.clone();
    let crc = flipped.len() - 6;
    flipped[crc] ^= 1;
    assert!(parse(&flipped).is_err());
    assert!(parse([&packed[..], b"junk"].concat()).is_err());
}

#[test]
fn upper_entries_stand_for_lower_ones() {
    let text = |kind: &str, entries: &str| {
        let n = entries.lines().count();
        format!("%%MatrixMarket matrix coordinate {kind}\n3 3 {n}\n{entries}")
    };
    for (kind, upper, lower) in [
        ("real symmetric", "1 1 4\n1 2 -3\n2 3 5\n", "1 1 4\n2 1 -3\n3 2 5\n"),
        // Some entries above, some below, none mirrored; duplicates as usual.
        ("integer symmetric", "1 2 -3\n3 1 7\n1 2 5\n3 3 1\n", "2 1 -3\n3 1 7\n2 1 5\n3 3 1\n"),
        ("integer skew-symmetric", "1 2 -3\n3 2 5\n2 2 0\n", "2 1 3\n3 2 5\n2 2 0\n"),
        ("real skew-symmetric", "1 2 -3\n3 3 -0.0\n", "2 1 3\n3 3 -0.0\n"),
        ("complex hermitian", "1 2 3 4\n2 2 1 0\n", "2 1 3 -4\n2 2 1 0\n"),
        ("complex skew-symmetric", "1 2 3 4\n2 2 0 0\n", "2 1 -3 -4\n2 2 0 0\n"),
        ("complex symmetric", "1 3 3 4\n", "3 1 3 4\n"),
        ("pattern symmetric", "1 3\n2 2\n", "3 1\n2 2\n"),
    ] {
        let (upper, lower) = (text(kind, upper), text(kind, lower));
        assert_eq!(complex_triples(&parse(&upper).unwrap()), complex_triples(&parse(&lower).unwrap()), "{kind}");
        let packed = parse(gzip(upper.as_bytes())).unwrap();
        assert_eq!(complex_triples(&packed), complex_triples(&parse(&lower).unwrap()), "{kind}");
    }
    // Entries in both triangles are ambiguous, so they would be summed.
    let both =
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n2 1 5\n3 2 1\n\n1 3 8\n 1 2 6\n1 2 7\n".to_owned();
    let message = "t.mtx:7:2: entry (1, 2) is above the diagonal, and (2, 1) is in the file too: a symmetric file stores one \
                   triangle; read it leniently to leave out this one";
    for bytes in [both.clone().into_bytes(), gzip(both.as_bytes())] {
        assert_eq!(parse(&bytes).unwrap_err().to_string(), message);
        let file = lenient(&bytes).unwrap();
        let a = file.csr::<f64>().unwrap();
        assert_eq!((a.nnz(), a.get(0, 1), a.get(1, 0)), (6, Some(&5.0), Some(&5.0)));
        assert_eq!((a.get(0, 2), a.get(2, 1)), (Some(&8.0), Some(&1.0)));
    }
}

/// Reads leniently, in one piece and in many.
fn lenient(bytes: &[u8]) -> Result<MatrixFile, Error> {
    let options = ReadOptions::new().lenient(true);
    let whole = parse_matrix_market_with(bytes, "t.mtx", &options);
    let pieces = parse_matrix_market_with(bytes, "t.mtx", &options.piece_bytes(1));
    match (&whole, &pieces) {
        (Ok(a), Ok(b)) => assert_eq!(complex_triples(a), complex_triples(b)),
        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
        _ => panic!("{whole:?} and {pieces:?}"),
    }
    whole
}

#[test]
fn what_others_write_is_read_leniently() {
    let text = |kind: &str, entries: &str| {
        let n = entries.lines().count();
        format!("%%MatrixMarket matrix coordinate {kind}\n3 3 {n}\n{entries}")
    };
    let positions = complex_triples(&parse(text("pattern general", "2 1\n3 2\n")).unwrap());
    for values in ["2 1 5\n3 2 1e9\n", "2 1 0.5\t-1\n3 2\n", "2 1 nan\n3 2 1D3 0 \n"] {
        let text = text("pattern general", values);
        assert!(parse(&text).unwrap_err().to_string().contains("expected the end of the line"));
        assert_eq!(complex_triples(&lenient(text.as_bytes()).unwrap()), positions, "{values}");
    }
    for values in ["2 1 x\n3 2\n", "2 1 1 2 3\n3 2\n"] {
        assert!(lenient(text("pattern general", values).as_bytes()).unwrap_err().to_string().starts_with("t.mtx:3:"));
    }
    let symmetric = complex_triples(&parse(text("pattern symmetric", "2 1\n3 3\n")).unwrap());
    for kind in ["pattern skew-symmetric", "pattern hermitian"] {
        let text = text(kind, "2 1\n3 3\n");
        assert!(parse(&text).unwrap_err().to_string().contains("a pattern matrix cannot be"));
        assert_eq!(complex_triples(&lenient(text.as_bytes()).unwrap()), symmetric);
    }
    // Required values may not be missing, and values must fit the symmetry.
    assert!(lenient(text("real general", "1 1 1 1\n").as_bytes()).is_err());
    assert!(lenient(text("real skew-symmetric", "1 1 1\n").as_bytes()).is_err());
}

#[test]
fn fortran_writes_exponents_with_d() {
    let file = parse(REAL.to_owned() + "1 3 3\n1 1 1D5\n1 2 -0.25d-01\n1 3 2.5E1\n").unwrap();
    assert_eq!(file.csr::<f64>().unwrap().values(), [1e5, -0.025, 25.0]);
    let text = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1D0 -2.5D+2\n";
    assert_eq!(dense(text), [[c(1.0, -250.0)]]);
    let error = parse(REAL.to_owned() + "1 1 1\n1 1 1D\n").unwrap_err();
    assert_eq!(error.to_string(), "t.mtx:3:5: expected a real number, found \"1D\"");
}

#[test]
fn other_formats_are_named() {
    for (bytes, words) in [
        (&b"\xef\xbb\xbf%%MatrixMarket matrix coordinate real general\n0 0 0\n"[..], "byte-order mark; remove"),
        (b"\xff\xfe%\0%\0", "UTF-16; convert it"),
        #[cfg(not(feature = "zstd"))]
        (b"\x28\xb5\x2f\xfd\x04\x58", "compressed by zstd; unpack it first"),
        (b"\xfd7zXZ\0\0\x04", "compressed by xz; unpack it first"),
        (b"BZh91AY&SY", "compressed by bzip2; unpack it first"),
        (b"# comment\n1 1 1 5.0\n2 2 2 1.0\n", "a tensor, which tensor-info and cp read"),
    ] {
        for bytes in [bytes.to_vec(), gzip(bytes)] {
            let error = parse(&bytes).unwrap_err().to_string();
            assert!(
                error.starts_with("t.mtx:1:1: expected %%MatrixMarket, found \"") && error.contains(words),
                "{error}"
            );
            assert_eq!(error.matches('\n').count(), 0);
        }
    }
    let error = parse("a,b,c\n1,2,3\n").unwrap_err().to_string();
    assert_eq!(error, "t.mtx:1:1: expected %%MatrixMarket, found \"a,b,c\"");
}

#[test]
fn what_follows_compressed_text_is_zeros_or_named() {
    let text = REAL.to_owned() + "2 2 2\n1 1 1.5\n2 2 2.5\n";
    let plain = triples::<f64>(&parse(&text).unwrap());
    let packed = gzip(text.as_bytes());
    for zeros in [1, 8, 100_000] {
        assert_eq!(triples::<f64>(&parse([&packed[..], &vec![0; zeros]].concat()).unwrap()), plain);
    }
    let garbage = [&packed[..], b"\0junk"].concat();
    let error = parse(&garbage).unwrap_err().to_string();
    assert_eq!(error, "t.mtx: 5 bytes behind the compressed text are not gzip; read it leniently to leave them out");
    assert_eq!(triples::<f64>(&lenient(&garbage).unwrap()), plain);
    // A gzip header without data indicates a truncated file.
    assert!(lenient(&[&packed[..], &[0x1f, 0x8b, 8]].concat()).is_err());
}

/// The last member is broken, so decompressing all members fails there.
#[test]
fn compressed_text_that_is_no_matrix_is_not_decompressed() {
    let blank = gzip(&vec![b' '; 1 << 20]);
    let broken = |first: &str| [gzip(first.as_bytes()), blank.repeat(100), b"\x1f\x8b".to_vec()].concat();
    let read = |bytes: &[u8], piece| {
        let options = ReadOptions::new().piece_bytes(piece);
        parse_matrix_market_with(bytes, "t", &options).unwrap_err().to_string()
    };
    for piece in [1 << 16, 1 << 20, usize::MAX] {
        assert!(read(&broken("x"), piece).starts_with("t:1:1: expected %%MatrixMarket, found \"x\""));
        let long = "the line has more than 16777216 bytes";
        assert_eq!(read(&broken("%%MatrixMarket matrix coordinate real"), piece), format!("t:1:1: {long}"));
        assert_eq!(read(&broken(&(REAL.to_owned() + "% a comment")), piece), format!("t:2:1: {long}"));
        assert_eq!(read(&broken(&(REAL.to_owned() + "3 3 3\n1 1 1\n2 2 2")), piece), format!("t:4:1: {long}"));
    }
    let plain = REAL.to_owned() + "3 3 3\n1 1 1\n" + &" ".repeat(17 << 20) + "\n";
    assert_eq!(read(plain.as_bytes(), 1 << 20), "t:4:1: the line has more than 16777216 bytes");
    // There may be many comments.
    let comments = REAL.to_owned() + &"% note\n".repeat(200_000) + "1 1 1\n1 1 5\n";
    let a = parse_matrix_market(&gzip(comments.as_bytes()), "t").unwrap().csr::<f64>().unwrap();
    assert_eq!(a.values(), [5.0]);
    let none = REAL.to_owned() + &"% note\n".repeat(200_000);
    for bytes in [none.clone().into_bytes(), gzip(none.as_bytes())] {
        let error = parse_matrix_market(&bytes, "t").unwrap_err().to_string();
        assert_eq!(error, "t:200002:1: expected the size line, found the end of the file");
    }
}

#[test]
fn a_file_is_read_from_whatever_can_be_read() {
    let text = REAL.to_owned() + "2 2 2\n1 1 1.5\n2 2 2.5\n";
    let plain = triples::<f64>(&parse(&text).unwrap());
    let limit = ReadOptions::new().max_bytes(text.len() as u64);
    for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
        let file = read_matrix_market_from(&mut &bytes[..], "input", &limit).unwrap();
        assert_eq!(triples::<f64>(&file), plain);
        let less = limit.max_bytes(text.len() as u64 - 1);
        let error = read_matrix_market_from(&mut &bytes[..], "input", &less).unwrap_err();
        assert!(matches!(error, Error::Budget { .. }), "{error}");
    }
    // An invalid stream is not read to its end, which may not exist.
    let error = read_matrix_market_from(&mut std::io::repeat(b'x'), "input", &ReadOptions::new()).unwrap_err();
    assert!(error.to_string().starts_with("input:1:1: expected %%MatrixMarket"), "{error}");
    let mut endless = REAL.as_bytes().chain(std::io::repeat(b'\n'));
    let error = read_matrix_market_from(&mut endless, "input", &limit).unwrap_err();
    assert!(matches!(error, Error::Budget { .. }), "{error}");
}

#[test]
fn a_limit_on_the_text_holds_after_decompression() {
    let text = REAL.to_owned() + &"\n".repeat(1 << 20);
    for bytes in [gzip(text.as_bytes()), text.into_bytes()] {
        let error = parse_matrix_market_with(&bytes, "t", &ReadOptions::new().max_bytes(1000)).unwrap_err();
        assert!(matches!(error, Error::Budget { budget: 1000, .. }), "{error}");
    }
}

#[test]
fn files_are_written_and_read_by_name() {
    let dir = std::env::temp_dir().join(format!("sparring-mm-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let a = Random(3).csr::<f64, u32>(|r| r as f64 / 64.0);
    for name in ["a.mtx", "a.mtx.gz"] {
        let path = dir.join(name);
        write_matrix_market(&path, &a, &WriteOptions::new()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]), name.ends_with("gz"));
        assert_eq!(read_matrix_market(&path).unwrap().csr::<f64>().unwrap(), a);
        // The reader ignores the file name.
        std::fs::rename(&path, dir.join("other")).unwrap();
        assert_eq!(read_matrix_market(dir.join("other")).unwrap().csr::<f64>().unwrap(), a);
    }
    let path = dir.join("array.mtx");
    write_matrix_market_array(&path, 2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.5], &WriteOptions::new()).unwrap();
    let b = read_matrix_market(&path).unwrap();
    assert_eq!((b.header.layout, b.header.nrows, b.header.ncols), (Layout::Array, 2, 3));
    assert_eq!(b.csr::<f64>().unwrap().values(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.5]);
    let error = write_matrix_market_array(&path, 2, 2, &[1.0], &WriteOptions::new()).unwrap_err();
    assert_eq!(error.to_string(), "elements of an array: length is 1, expected 4");
    std::fs::remove_dir_all(&dir).unwrap();
    let error = read_matrix_market(dir.join("gone.mtx")).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if path.ends_with("gone.mtx")), "{error}");
}

#[test]
fn arrays_written_in_pieces_are_those_written_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, pieces) = (dir.path().join("whole.mtx"), dir.path().join("pieces.mtx"));
    let options = WriteOptions::new().comment("distances");
    let mut values: Vec<f64> = (0..7 * 30_000).map(|e| f64::from(e) / 7.0 - 1e4).collect();
    values[..5].copy_from_slice(&[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
    write_matrix_market_array(&whole, 30_000, 7, &values, &options).unwrap();
    let read = read_matrix_market(&whole).unwrap().csr::<f64>().unwrap();
    for length in [values.len(), 100_001, 12_345] {
        let columns = |write: &mut dyn FnMut(&[f64]) -> Result<(), Error>| {
            write(&[])?;
            values.chunks(length).try_for_each(write)
        };
        write_matrix_market_columns(&pieces, 30_000, 7, &options, columns).unwrap();
        assert!(std::fs::read(&whole).unwrap() == std::fs::read(&pieces).unwrap(), "{length}");
    }
    let header = read_matrix_market(&pieces).unwrap().header;
    assert_eq!((header.layout, header.field, header.nrows, header.ncols), (Layout::Array, Field::Real, 30_000, 7));
    for (at, value) in values.iter().enumerate() {
        let (row, column) = (at % 30_000, at / 30_000);
        let found = read.get(row, column).unwrap();
        assert!(found.to_bits() == value.to_bits() || (found.is_nan() && value.is_nan()), "{row} {column}");
    }
    let packed = dir.path().join("pieces.mtx.gz");
    write_matrix_market_columns::<f64>(&packed, 0, 3, &WriteOptions::new(), |_| Ok(())).unwrap();
    assert_eq!(read_matrix_market(&packed).unwrap().header.nrows, 0);
}

#[test]
fn arrays_in_pieces_have_all_their_elements_and_one_field() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mtx");
    let write = |pieces: &[&[u64]], options| {
        let columns = |write: &mut dyn FnMut(&[u64]) -> _| pieces.iter().try_for_each(|piece| write(piece));
        write_matrix_market_columns(&path, 2, 2, options, columns).map_err(|e| e.to_string())
    };
    let plain = WriteOptions::new();
    assert_eq!(write(&[&[1, 2], &[3], &[4]], &plain), Ok(()));
    assert_eq!(std::fs::read(&path).unwrap(), b"%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n");
    let wrong = |found| Err(format!("elements of an array: length is {found}, expected 4"));
    assert_eq!(write(&[&[1, 2, 3]], &plain), wrong(3));
    assert_eq!(write(&[&[1, 2, 3], &[4, 5]], &plain), wrong(5));
    let large = write(&[&[1, 2], &[3, u64::MAX]], &plain);
    assert_eq!(large.unwrap_err(), "columns: a value does not fit the field integer, in which the file began");
    assert!(write(&[], &WriteOptions::new().symmetric()).unwrap_err().starts_with("options: "));
    let stop = Error::Cancelled { op: "distances", done: 1, total: 2 };
    let stopped =
        write_matrix_market_columns(&path, 2, 2, &plain, |_: &mut dyn FnMut(&[f64]) -> _| Err(stop)).unwrap_err();
    assert!(matches!(stopped, Error::Cancelled { op: "distances", .. }), "{stopped}");
    let gone = dir.path().join("gone").join("a.mtx");
    let error = write_matrix_market_columns::<f64>(&gone, 1, 1, &plain, |write| write(&[1.0])).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if path.ends_with("a.mtx")), "{error}");
}

#[test]
fn dimensions_beyond_32_bits_need_wide_indices() {
    let text = REAL.to_owned() + "2 8589934592 1\n2 8589934592 1.5\n";
    let file = parse_matrix_market(text.as_bytes(), "t").unwrap();
    assert_eq!(
        file.csr::<f64>().unwrap_err().to_string(),
        "number of columns: 8589934592 does not fit, the largest possible is 4294967295"
    );
    let coo = file.coo_with::<f64, u64>(&Threads::current()).unwrap();
    assert_eq!(coo.parts(), (&[1u64][..], &[8_589_934_591u64][..], &[1.5][..]));
}

/// Every file of the data folder has the facts that two other readers agreed on.
#[test]
fn real_files_have_the_facts_of_their_index() {
    let Some(dir) = std::env::var_os("SPARRING_DATA").map(std::path::PathBuf::from) else {
        println!("skipped: SPARRING_DATA is not set");
        return;
    };
    let index = std::fs::read(dir.join("index.json")).unwrap();
    let index: serde_json::Value = serde_json::from_slice(&index).unwrap();
    let mut seen = 0;
    for entry in index.as_array().unwrap() {
        let name = entry["file"].as_str().unwrap();
        if !name.ends_with(".mtx.gz") {
            continue;
        }
        seen += 1;
        let facts = &entry["facts"];
        let number = |key: &str| facts[key].as_u64().unwrap_or_else(|| panic!("{name}: {key}")) as usize;
        let file = read_matrix_market(dir.join(name)).unwrap();
        let h = file.header;
        assert_eq!((h.nrows, h.ncols, h.stored), (number("rows"), number("cols"), number("stored")), "{name}");
        assert_eq!(
            (h.field.name(), h.symmetry.name()),
            (facts["field"].as_str().unwrap(), facts["symm"].as_str().unwrap())
        );
        assert_eq!(file.entries.len(), h.stored, "{name}");
        let a = file.csr::<f64>().unwrap();
        assert_eq!(a.nnz(), number("nnz"), "{name}");
        let rows = || a.row_ptr().windows(2).map(|w| w[1] - w[0]);
        assert_eq!(rows().max().unwrap(), number("maxrow"), "{name}");
        assert_eq!(rows().filter(|&n| n == 0).count(), number("emptyrows"), "{name}");
        // Zeros are counted in the file, all other facts in the matrix.
        let in_file = |i, j| h.symmetry == Symmetry::General || j <= i;
        assert_eq!(a.iter().filter(|&(i, j, x)| *x == 0.0 && in_file(i, j)).count(), number("zeros"), "{name}");
        assert_eq!(a.iter().filter(|(i, j, _)| i == j).count(), number("diag"), "{name}");
        let norm = a.values().iter().map(|x| x * x).sum::<f64>().sqrt();
        let expected = facts["norm"].as_f64().unwrap();
        assert!((norm - expected).abs() <= 1e-12 * expected, "{name}: {norm} and {expected}");
        // Small files also go through the writer.
        if a.nnz() < 100_000 {
            let mut text = Vec::new();
            let options = WriteOptions::new();
            let options = if h.symmetry == Symmetry::Symmetric { options.symmetric() } else { options };
            write_matrix_market_to(&mut text, &a, &options).unwrap();
            assert_eq!(parse_matrix_market(&text, name).unwrap().csr::<f64>().unwrap(), a, "{name}");
        }
    }
    assert!(seen >= 50, "{seen} files");
}

#[test]
fn compressed_text_of_many_pieces_is_the_plain_text() {
    let mut random = Random(11);
    let mut text = String::from("%%MatrixMarket matrix coordinate integer general\n% note\n5000 7000 30000\n");
    for _ in 0..30_000 {
        text += &format!("{} {} {}\n", random.below(5000) + 1, random.below(7000) + 1, random.next() as i64);
    }
    let plain = triples::<f64>(&parse_matrix_market(text.as_bytes(), "t").unwrap());
    let threads = [1, 2, 3, 8].map(|n| Threads::new(n).unwrap());
    let read = |text: &[u8], threads, piece| {
        let options = ReadOptions::new().threads(threads).piece_bytes(piece).max_bytes(text.len() as u64);
        parse_matrix_market_with(&gzip(text), "t", &options)
    };
    for threads in &threads {
        for piece in [1, 1000, 1 << 14, 1 << 20] {
            assert!(triples::<f64>(&read(text.as_bytes(), threads, piece).unwrap()) == plain);
        }
        // Without its last line end, one entry short, one too many, and wrong far behind the first piece.
        assert!(triples::<f64>(&read(text.trim_end().as_bytes(), threads, 1000).unwrap()) == plain);
        let last = text.trim_end().rfind('\n').unwrap() + 1;
        let error = read(&text.as_bytes()[..last], threads, 1000).unwrap_err();
        assert_eq!(error.to_string(), "t:30003:1: the size line declares 30000 entries, the file ends after 29999");
        let error = read((text.clone() + "1 1 1\n").as_bytes(), threads, 1000).unwrap_err();
        assert_eq!(error.to_string(), "t:30004:1: the size line declares 30000 entries, found \"1\" after the last");
        let error = read((text[..last].to_owned() + "0 1 1\n").as_bytes(), threads, 1000).unwrap_err();
        assert_eq!(error.to_string(), "t:30003:1: row index 0: Matrix Market counts from 1");
    }
    let mut packed = gzip(text.as_bytes());
    let crc = packed.len() - 6;
    packed[crc] ^= 1;
    assert!(matches!(parse_matrix_market(&packed, "t"), Err(Error::Io { .. })));
    let limit = ReadOptions::new().max_bytes(text.len() as u64 - 1);
    assert!(matches!(parse_matrix_market_with(&gzip(text.as_bytes()), "t", &limit), Err(Error::Budget { .. })));
}

#[test]
fn what_networkrepository_and_others_write_is_read_leniently() {
    let read = |text: &str, lenient: bool| {
        let options = ReadOptions::new().lenient(lenient).piece_bytes(8);
        let plain = parse_matrix_market_with(text.as_bytes(), "a", &options).map_err(|e| e.to_string());
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        let packed = parse_matrix_market_with(&packed.finish().unwrap(), "a", &options).map_err(|e| e.to_string());
        assert_eq!(plain.as_ref().err(), packed.as_ref().err());
        let values = |file: MatrixFile| file.csr::<i64>().unwrap().values().to_vec();
        assert_eq!(plain.clone().map(values), packed.map(values));
        plain.map(values)
    };
    let comment = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 3\n% note\n2 2 4\n% end\n";
    assert_eq!(read(comment, true), Ok(vec![3, 4]));
    assert!(
        read(comment, false).unwrap_err().starts_with("a:4:1: comments end at the size line, expected an entry; read")
    );
    let more = format!("{comment}2 1 9\n");
    assert!(read(&more, true).unwrap_err().starts_with("a:7:1: the size line declares 2 entries, found \"2\" after"));
    let percent = "%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n";
    assert_eq!(read(percent, true), Ok(vec![1]));
    assert!(read(percent, false).unwrap_err().contains("one % is missing; read it leniently (--lenient)"));
    let real = "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 3.0\n1 2 -2e1\n";
    assert_eq!(read(real, true), Ok(vec![3, -20]));
    assert!(read(real, false).unwrap_err().starts_with("a:3:5: expected a whole number"));
    assert!(read(&real.replace("3.0", "3.5"), true).unwrap_err().starts_with("a:3:5: expected a whole number"));
    assert!(read(&real.replace("3.0", "9007199254740993.0"), true).is_err());
    let blank = " \n %%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 7\n";
    assert_eq!((read(blank, false), read(blank, true)), (Ok(vec![7]), Ok(vec![7])));
    let cr = "%%MatrixMarket matrix coordinate real general\r2 2 1\r1 2 3\r";
    assert!(read(cr, false).unwrap_err().contains("lines end with CR alone; convert them to LF"));
    for (text, said) in [
        ("# u v\n0 1\n", "an edge list, which is read as edges (--format edges)"),
        ("1 2 3 4\n", "a tensor, which tensor-info and cp read"),
    ] {
        assert!(read(text, false).unwrap_err().contains(said), "{text}");
    }
}

#[test]
fn comments_of_a_header_do_not_hide_a_line_without_an_end() {
    let text = [b"%%MatrixMarket matrix coordinate real general\n%".to_vec(), vec![b'a'; 17 << 20]].concat();
    let line = read_matrix_market_from(&mut &text[..], "a", &ReadOptions::new()).unwrap_err().to_string();
    assert!(line.starts_with("a:2:1: the line has more than"), "{line}");
}

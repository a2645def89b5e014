//! Tables, svmlight, graphs, NumPy arrays and SciPy matrices: accepted and rejected input, error positions, and round
//! trips.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use sparring::algebra::{Slice, Type};
use sparring::io::{
    CsvOptions, EdgeOptions, LabeledMatrix, Labels, MatlabOptions, NumpyOptions, Repeated, SvmlightOptions,
    WriteOptions, parse_csv_with, parse_dimacs_with, parse_edges_with, parse_ktensor, parse_mat_with, parse_metis_with,
    parse_npy_array_with, parse_npy_with, parse_npz_with, parse_svmlight_with, read_csv_from, read_ktensor,
    write_csv_to, write_ktensor, write_ktensor_to, write_npy_array_to, write_npy_to, write_npz_to, write_svmlight_to,
};
use sparring::num_complex::Complex;
use sparring::tensor::Kruskal;
use sparring::{Csr, Dense, Error, Result};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A shape, and entries as (row, column, value).
type Entries = (usize, usize, Vec<(usize, u32, f64)>);
/// The same without values.
type Places = (usize, usize, Vec<(usize, u32)>);

fn entries(file: LabeledMatrix) -> Entries {
    let (n, m) = file.pattern.shape();
    let a = file.csr::<f64>().unwrap();
    let row = |i: usize| a.pattern().row(i).iter().map(move |&j| (i, j));
    (n, m, (0..n).flat_map(row).zip(a.values()).map(|((i, j), &x)| (i, j, x)).collect())
}

/// The result of `read` for a text, plain and compressed, in one piece and in many; all must agree.
fn told<T: std::fmt::Debug>(text: &[u8], read: impl Fn(&[u8], usize) -> Result<T>) -> Result<T, String> {
    let packed = gzip(text);
    let mut all = [(text, 1 << 20), (text, 1), (&packed[..], 1 << 20), (&packed[..], 7)]
        .map(|(bytes, piece)| read(bytes, piece).map_err(|e| e.to_string()));
    for other in &all[1..] {
        assert_eq!(format!("{:?}", all[0]), format!("{other:?}"), "{}", text.escape_ascii());
    }
    std::mem::replace(&mut all[0], Err(String::new()))
}

fn csv(text: &[u8], options: CsvOptions<'_>) -> Result<Entries, String> {
    told(text, |bytes, piece| Ok(entries(parse_csv_with(bytes, "a", &options.piece_bytes(piece))?)))
}

#[test]
fn a_table_is_read_as_it_is_said_to_be() {
    let plain = CsvOptions::new();
    let both = Ok((2, 2, vec![(0, 0, 5.0), (1, 1, 7.0)]));
    for text in ["5,0\n0,7\n", "\u{feff}5,0\n0,7", "# x\r\n 5 ,\"0\"\r\n\r\n0,7\r\n", "5e0,+0\n.0,7.\n"] {
        assert_eq!(csv(text.as_bytes(), plain), both, "{text}");
    }
    assert_eq!(csv(b"a,\"b,c\"\n5,0\n0,7\n", plain.header(true)), both);
    assert_eq!(csv(b"1,2\n5,0\n0,7\n", plain.header(true)), both);
    assert_eq!(csv(b"5;0\n0;7\n", plain.delimiter(b';')), both);
    assert_eq!(csv(b" 5  0\n0\t 7 \n", plain.delimiter(b' ')), both);
    assert_eq!(csv(b"5\t0\n0\t7\n", plain.delimiter(b'\t')), both);
    assert_eq!(csv(b"-0,nan\n", plain).map(|(n, m, all)| (n, m, all.len())), Ok((1, 2, 2)));
    let names = parse_csv_with(b"\"a \"\"b\"\"\", c\n1,2\n", "a", &plain.header(true)).unwrap().columns;
    assert_eq!(names.iter().collect::<Vec<_>>(), ["a \"b\"", "c"]);
}

#[test]
fn a_table_that_is_open_or_wrong_is_refused_with_its_place() {
    let plain = CsvOptions::new();
    for (text, said) in [
        ("NA,1\n2,3\n", "a:1:1: column 1 is no number: \"NA\"; is the first line a heading (--header), or"),
        ("1,NA\n2,3\n", "a:1:3: column 2 is no number: \"NA\"; is the first line a heading"),
        (",1\n2,3\n", "a:1:1: column 1 is empty; is the first"),
        ("1,2\nNA,3\n", "a:2:1: column 1 is no number: \"NA\""),
        ("1,2\n3,\n", "a:2:3: column 2 is empty"),
        ("1,2\n3,TRUE\n", "a:2:3: column 2 is no number: \"TRUE\""),
        ("1,2\n3\n", "a:2:2: the line has 1 columns, the first has 2"),
        ("1,2\n3,4,5\n", "a:2:5: the line has more than the 2 columns of the first"),
        ("1;2\n", "a:1:1: column 1 is no number: \"1;2\"; if ';' stands between the cells, say so: --delimiter ';'"),
        ("x;y\n1;2\n", "--delimiter ';'"),
        ("1\t2\n", "--delimiter tab"),
        ("1 2\n", "--delimiter ' '"),
        ("1,2\n3;4\n", "a:2:1: column 1 is no number: \"3;4\"; if ';'"),
        ("1,2\n\"3,4\",5\n", "a:2:2: column 1 is no number: \"3,4\""),
        ("1,2\n\"3,4\n", "a:2:1: a quoted cell does not end in its line"),
        ("1,1e999\n", "a:1:3: \"1e999\" is beyond the range"),
        ("Call me Ishmael. Some years ago, never mind\n", "column 1 is no number: \"Call me Ishmael. Some years ago\""),
        ("", "a:1:1: the file has no rows"),
        ("# note\n\n", "a:3:1: the file has no rows"),
        ("%%MatrixMarket matrix\n", "Matrix Market, which is read as mtx"),
        ("1,2\r3,4\r", "a:1:4: lines end with CR alone"),
    ] {
        let line = csv(text.as_bytes(), plain).unwrap_err();
        assert!(line.contains(said), "{text:?}: {line}");
    }
    assert!(csv(b"a,b\n1,2\n", plain.header(false)).unwrap_err().ends_with("a:1:1: column 1 is no number: \"a\""));
    assert!(matches!(
        parse_csv_with(b"1", "a", &plain.delimiter(b'1')),
        Err(Error::Argument { name: "delimiter", .. })
    ));
    let limited = parse_csv_with(&gzip(&b"1,2\n".repeat(1000)), "a", &plain.max_bytes(3999));
    assert!(matches!(limited, Err(Error::Budget { budget: 3999, .. })));
}

/// Endless text without line ends: only as much as needed is read.
struct Endless(u64);
impl std::io::Read for Endless {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        to.fill(b'1');
        self.0 += to.len() as u64;
        assert!(self.0 < 64 << 20, "it reads on");
        Ok(to.len())
    }
}

#[test]
fn a_line_that_does_not_end_is_refused_early() {
    let line = read_csv_from(&mut Endless(0), "a", &CsvOptions::new()).unwrap_err().to_string();
    assert!(line.contains("the line has more than 16777216 bytes"), "{line}");
    let packed = gzip(&vec![b'a'; 40 << 20]);
    let line = parse_csv_with(&packed, "a", &CsvOptions::new()).unwrap_err().to_string();
    assert!(line.contains("a:1:1: "), "{line}");
}

fn svm(text: &[u8], options: SvmlightOptions<'_>) -> Result<Entries, String> {
    told(text, |bytes, piece| Ok(entries(parse_svmlight_with(bytes, "a", &options.piece_bytes(piece))?)))
}

#[test]
fn svmlight_counts_from_one_unless_it_is_said() {
    let plain = SvmlightOptions::new();
    assert_eq!(svm(b"1 1:5 3:7 # x\n\n-1\n", plain), Ok((2, 3, vec![(0, 0, 5.0), (0, 2, 7.0)])));
    assert_eq!(svm(b"1 3:7 1:5\n", plain.columns(5)), Ok((1, 5, vec![(0, 0, 5.0), (0, 2, 7.0)])));
    assert_eq!(svm(b"1 qid:7 1:5 2:0\n", plain.zero_based(true)), Ok((1, 3, vec![(0, 1, 5.0), (0, 2, 0.0)])));
    assert_eq!(svm(b"", plain.columns(5)), Ok((0, 5, vec![])));
    for (text, said) in [
        ("1 0:1\n", "a:1:3: column 0: columns count from 1; if here they count from 0, say so: --zero-based"),
        ("1 1:2 3:x\n", "a:1:7: expected column:value, found \"3:x\""),
        ("1 1:2\n1 2\n", "a:2:3: expected column:value, found \"2\""),
        ("1:2\n", "a:1:1: expected a label, which is a number, found \"1:2\""),
        ("spam 1:2\n", "a:1:1: expected a label"),
        ("1 qid:x 1:2\n", "a:1:3: expected qid:number"),
        ("1 2:3 2:4\n", "a:1:1: column 2 is in the line twice"),
        ("1 4294967297:1\n", "is beyond the largest number of columns"),
        ("1 1:1e999\n", "a:1:5: \"1e999\" is beyond the range"),
        ("", "a:1:1: the file has no rows"),
    ] {
        let line = svm(text.as_bytes(), plain).unwrap_err();
        assert!(line.contains(said), "{text:?}: {line}");
    }
    assert!(svm(b"1 6:1\n", plain.columns(5)).unwrap_err().contains("a:1:3: column \"6\" is beyond the 5 columns"));
    let labels = parse_svmlight_with(b"+1 1:1\n2,3 1:1\n", "a", &plain).unwrap().labels;
    assert_eq!(labels.iter().collect::<Vec<_>>(), ["+1", "2,3"]);
}

/// Row and column counts of edge lists.
fn edges(text: &str, options: EdgeOptions<'_>) -> Result<Places, String> {
    told(text.as_bytes(), |bytes, piece| {
        let graph = parse_edges_with(bytes, "a", &options.piece_bytes(piece))?;
        let (n, m) = graph.pattern.shape();
        Ok((n, m, (0..n).flat_map(|i| graph.pattern.row(i).iter().map(move |&j| (i, j))).collect()))
    })
}

#[test]
fn edge_lists_are_read_by_what_they_and_options_say() {
    let plain = EdgeOptions::new();
    let triangle = Ok((3, 3, vec![(0, 1), (1, 2), (2, 0)]));
    for text in [
        "# a\n0\t1\n1\t2\n2\t0\n",
        "0,1\n1, 2\n2 0",
        "% asym unweighted\r\n1 2\r\n2 3\r\n3 1\r\n",
        "0 1 5\n1 2 6\n2 0 7\n",
    ] {
        assert_eq!(edges(text, plain), triangle, "{text}");
    }
    assert_eq!(edges("1 2\n2 3\n3 1\n", plain.zero_based(false)), triangle);
    assert_eq!(edges("1 2\n", plain.zero_based(true)), Ok((3, 3, vec![(1, 2)])));
    assert_eq!(edges("0 1\n1 1\n", plain.undirected(true)), Ok((2, 2, vec![(0, 1), (1, 0), (1, 1)])));
    assert_eq!(edges("% sym unweighted\n1 2\n", plain), Ok((2, 2, vec![(0, 1), (1, 0)])));
    assert_eq!(edges("% sym unweighted\n1 2\n", plain.undirected(false)), Ok((2, 2, vec![(0, 1)])));
    assert_eq!(edges("% sym unweighted\n1 5\n", plain.bipartite(true)), Ok((1, 5, vec![(0, 4)])));
    assert_eq!(edges("% bip unweighted\n1 5\n", plain), Ok((1, 5, vec![(0, 4)])));
    assert_eq!(edges("0 4\n", plain.bipartite(true)), Ok((1, 5, vec![(0, 4)])));
    assert_eq!(edges("70000000000 -3\n-3 -3\n", plain.renumber(true)), Ok((2, 2, vec![(0, 0), (1, 0)])));
    assert_eq!(
        edges("bob ada\nada zoë\nbob bob\n", plain.named(true).undirected(true)),
        Ok((3, 3, vec![(0, 0), (0, 1), (1, 0), (1, 2), (2, 1)]))
    );
    assert_eq!(edges("0 1 2 99\n", plain.lenient(true)), Ok((2, 2, vec![(0, 1)])));
    // Without weights, an edge may be repeated.
    assert_eq!(edges("0 1\n0 1\n", plain), Ok((2, 2, vec![(0, 1)])));
    for (repeated, sum) in [(Repeated::Sum, 7.0), (Repeated::Min, 3.0), (Repeated::Max, 4.0)] {
        let graph = parse_edges_with(b"0 1 3\n0 1 4\n", "a", &plain.repeated(repeated)).unwrap();
        assert_eq!(graph.csr::<f64>().unwrap().values(), [sum]);
    }
    for (text, options, said) in [
        (
            "1 2\n",
            plain,
            "it has no vertex 0, so that vertices may count from 0 or from 1; say which: --zero-based or --one-based",
        ),
        ("0 1\n", plain.zero_based(false), "a:1:1: vertex 0: vertices count from 1; if here"),
        (
            "0 1 3\n0 1 4\n",
            plain,
            "the edge 0 1 stands there more than once, with weights; say which counts: --repeated",
        ),
        ("0 1 3\n1 0 3\n", plain.undirected(true), "more than once, with weights"),
        ("0 1\n1 2 5\n", plain, "a:2:1: the edge has a weight, and the first has none"),
        ("0 1 5\n1 2\n", plain, "a:2:1: the edge has no weight"),
        ("0 1 5 9\n", plain, "a:1:7: \"9\" stands behind a weight"),
        ("0 1\n7\n", plain, "a:2:1: expected an edge, which is two vertices, found \"7\""),
        ("0 -1\n", plain, "a:1:3: vertex -1: a vertex is not negative"),
        ("0 99999999999\n", plain, "--renumber"),
        ("\"ada b\" bob\n", plain.named(true), "a:1:1: expected the name of a vertex, found a quote"),
        ("ada bob 1\nada bob 2\n", plain.named(true), "the edge ada bob stands there more than once"),
        ("ada bob\n", plain.named(true).renumber(true), "renumber"),
        ("ada bob\n", plain.named(true).bipartite(true), "two sets"),
        (
            "alice bob\n",
            plain,
            "a:1:1: expected a vertex, which is a whole number, found \"alice\"; names are read by --labels",
        ),
        ("# none\n", plain, "a:2:1: the file has no edges"),
    ] {
        let line = edges(text, options).unwrap_err();
        assert!(line.contains(said), "{text:?}: {line}");
    }
}

#[test]
fn graphs_of_dimacs_and_metis_are_counted() {
    let plain = EdgeOptions::new();
    let dimacs = |text: &str| {
        told(text.as_bytes(), |bytes, piece| {
            let a = parse_dimacs_with(bytes, "a", &plain.piece_bytes(piece))?.csr::<i64>()?;
            Ok((a.shape(), a.values().to_vec()))
        })
    };
    assert_eq!(dimacs("c x\np sp 3 2\na 1 2 17\nc y\na 3 1 5\n"), Ok(((3, 3), vec![17, 5])));
    for (text, said) in [
        ("p sp 3 2\na 1 2 17\n", "declares 2 arcs, the file has 1"),
        ("p sp 3 1\na 1 4 17\n", "a:2:5: vertex 4 is not from 1 to 3"),
        ("p sp 3 1\na 0 1 17\n", "a:2:3: vertex 0"),
        ("p sp 3 1\na 1 2 1.5\n", "a:2:7: expected a weight"),
        ("p edge 3 1\ne 1 2\n", "a:1:1: expected the line p sp"),
        ("p sp 3 2\na 1 2 1\na 1 2 2\n", "the edge 1 2 stands there more than once"),
        ("c x\n", "expected the line p sp, found the end of the file"),
    ] {
        let line = dimacs(text).unwrap_err();
        assert!(line.contains(said), "{text:?}: {line}");
    }
    let metis = |text: &str| {
        told(text.as_bytes(), |bytes, piece| {
            let graph = parse_metis_with(bytes, "a", &plain.piece_bytes(piece))?;
            let (pattern, ty) = (graph.pattern.clone(), graph.values.ty());
            Ok((pattern.shape(), pattern.row_ptr().to_vec(), pattern.col_idx().to_vec(), ty))
        })
    };
    assert_eq!(metis("% x\n3 1\n2\n1\n\n"), Ok(((3, 3), vec![0, 1, 2, 2], vec![1, 0], Type::Bool)));
    assert_eq!(metis("2 1 11 2\n9 9 2 5\n9 9 1 5\n\n\n"), Ok(((2, 2), vec![0, 1, 2], vec![1, 0], Type::I64)));
    for (text, said) in [
        ("3 1\n2\n1\n", "declares 3 vertices, the file has lines for 2"),
        ("2 1\n2\n1\n1\n", "declares 2 vertices, the file has lines for 3"),
        ("2 1\n2\n\n", "declares 1 edges, each of which stands at both its vertices, and the file has 1"),
        ("2 1\n3\n1\n", "a:2:1: neighbour 3 is not from 1 to 2"),
        ("2 1 1\n2\n1 5\n", "a:2:1: neighbour 2 has no weight"),
        ("2 1 7\n2\n1\n", "a:1:1: expected n m [fmt [ncon]]"),
        ("2 1\n2 2\n1\n", "a:2:1: neighbour 2 is in the line twice"),
    ] {
        let line = metis(text).unwrap_err();
        assert!(line.contains(said), "{text:?}: {line}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    let options = WriteOptions::new().comment("note");
    let a = Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 2], vec![0.1, -2.0, 1e300]).unwrap();
    let (pattern, values) = (a.pattern(), Slice::of(a.values()));
    let mut bytes = Vec::new();
    write_csv_to(&mut bytes, pattern, values, &options).unwrap();
    assert_eq!(String::from_utf8_lossy(&bytes), "# note\n0.1,0,-2.0\n0,0,1e+300\n");
    assert_eq!(parse_csv_with(&bytes, "a", &CsvOptions::new()).unwrap().csr::<f64>().unwrap(), a);
    let labels = parse_svmlight_with(b"-1\n+1\n", "a", &SvmlightOptions::new().columns(3)).unwrap().labels;
    bytes.clear();
    write_svmlight_to(&mut bytes, pattern, values, &labels, &options).unwrap();
    let again = parse_svmlight_with(&bytes, "a", &SvmlightOptions::new()).unwrap();
    assert_eq!((&again.labels, again.labels.get(1)), (&labels, Some("+1")));
    assert_eq!(again.csr::<f64>().unwrap(), a);
    let none = Csr::<f64>::empty(3, 0).unwrap();
    assert!(write_csv_to(&mut bytes, none.pattern(), Slice::of::<f64>(&[]), &options).is_err());
    let complex = vec![Complex::new(1.0f32, 2.0); 3];
    assert!(write_svmlight_to(&mut bytes, pattern, Slice::of(&complex), &Labels::default(), &options).is_err());
    macro_rules! of_type {
        ($($t:ty: $x:expr),*) => {$({
            let a = Csr::<$t>::new(2, 3, vec![0, 2, 3], vec![0, 2, 2], $x).unwrap();
            let (mut array, mut matrix) = (Vec::new(), Vec::new());
            write_npy_to(&mut array, a.pattern(), Slice::of(a.values())).unwrap();
            write_npz_to(&mut matrix, a.pattern(), Slice::of(a.values())).unwrap();
            let options = NumpyOptions::new();
            assert_eq!(parse_npy_with(&array, "a", &options).unwrap().csr::<$t>().unwrap(), a);
            assert_eq!(parse_npy_with(&gzip(&array), "a", &options).unwrap().csr::<$t>().unwrap(), a);
            assert_eq!(parse_npz_with(&matrix, "a", &options).unwrap().csr::<$t>().unwrap(), a);
            let dense = parse_npy_array_with(&array, "a", &options).unwrap();
            assert_eq!((&dense.shape[..], dense.fortran_order, dense.values.ty()), (&[2, 3][..], false, a.values()[0].ty()));
            let mut again = Vec::new();
            write_npy_array_to(&mut again, &dense.shape, false, dense.values.slice()).unwrap();
            assert_eq!(again, array);
        })*};
    }
    trait Typed {
        fn ty(&self) -> Type;
    }
    impl<T: sparring::algebra::Value> Typed for T {
        fn ty(&self) -> Type {
            T::TYPE
        }
    }
    let c = |re, im| Complex::new(re, im);
    of_type! {
        bool: vec![true; 3], i8: vec![1, -2, 127], i16: vec![1, -2, 3], i32: vec![1, -2, 3], i64: vec![1, i64::MIN, 3],
        u8: vec![1, 2, 255], u16: vec![1, 2, 3], u32: vec![1, 2, 3], u64: vec![1, 2, u64::MAX],
        f32: vec![0.5, -0.0, 1e-40], f64: vec![0.1, -0.0, f64::INFINITY],
        Complex<f32>: vec![Complex::new(0.0, 1.0); 3], Complex<f64>: vec![c(1.0, 2.0), c(-0.0, 0.0), c(0.0, -1.0)]
    }
}

/// An array with this type, order and shape.
fn array(descr: &str, fortran: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), bytes].concat()
}

/// An archive with uncompressed members.
fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let name = format!("{name}.npy");
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let size = content.len() as u32;
        let about = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 33, 0][..],
            &crc.sum().to_le_bytes(),
            &size.to_le_bytes(),
            &size.to_le_bytes(),
            &(name.len() as u16).to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        let at = (bytes.len() as u32).to_le_bytes();
        directory.extend([b"PK\x01\x02\x14\0", &about[..], &[0; 10], &at, name.as_bytes()].concat());
        bytes.extend([b"PK\x03\x04", &about[..], name.as_bytes(), content].concat());
    }
    let (count, start) = (members.len() as u16, bytes.len() as u32);
    bytes.extend_from_slice(&directory);
    bytes.extend([b"PK\x05\x06\0\0\0\0", &count.to_le_bytes()[..], &count.to_le_bytes()].concat());
    bytes.extend([&(directory.len() as u32).to_le_bytes()[..], &start.to_le_bytes(), &[0, 0]].concat());
    bytes
}

fn longs(x: &[i64]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_le_bytes()).collect()
}
fn ints(x: &[i32]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_le_bytes()).collect()
}
fn floats(x: &[f64]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A SciPy matrix with this format and shape.
fn scipy(format: &str, shape: [i64; 2], members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut all = vec![
        ("format", array("|S3", false, "()", format.as_bytes())),
        ("shape", array("<i8", false, "(2,)", &longs(&shape))),
    ];
    all.extend_from_slice(members);
    archive(&all)
}

fn npz(bytes: &[u8]) -> Result<Entries> {
    Ok(entries(parse_npz_with(bytes, "a", &NumpyOptions::new())?))
}

#[test]
fn every_format_of_scipy_is_read() {
    let list = |x: &[i32]| array("<i4", false, &format!("({},)", x.len()), &ints(x));
    let data = |x: &[f64]| array("<f8", false, &format!("({},)", x.len()), &floats(x));
    let want = (2, 3, vec![(0, 0, 1.5), (0, 2, -2.0), (1, 2, 4.0)]);
    let csr = |indptr: &[i32], indices: &[i32], x: &[f64]| {
        scipy("csr", [2, 3], &[("indptr", list(indptr)), ("indices", list(indices)), ("data", data(x))])
    };
    assert_eq!(npz(&csr(&[0, 2, 3], &[0, 2, 2], &[1.5, -2.0, 4.0])).unwrap(), want);
    // Unsorted, with spare space behind the last entry, and summed.
    assert_eq!(npz(&csr(&[0, 2, 3], &[2, 0, 2, 9], &[-2.0, 1.5, 4.0, 7.0])).unwrap(), want);
    assert_eq!(npz(&csr(&[0, 3, 4], &[2, 0, 2, 2], &[-3.0, 1.5, 1.0, 4.0])).unwrap(), want);
    let csc = [("indptr", list(&[0, 1, 1, 3])), ("indices", list(&[0, 0, 1])), ("data", data(&[1.5, -2.0, 4.0]))];
    assert_eq!(npz(&scipy("csc", [2, 3], &csc)).unwrap(), want);
    let coo = [("row", list(&[1, 0, 0])), ("col", list(&[2, 0, 2])), ("data", data(&[4.0, 1.5, -2.0]))];
    assert_eq!(npz(&scipy("coo", [2, 3], &coo)).unwrap(), want);
    for (fortran, coords) in [(false, [1, 0, 0, 2, 0, 2]), (true, [1, 2, 0, 0, 0, 2])] {
        let coords = array("<i8", fortran, "(2, 3)", &longs(&coords));
        let coo = [("coords", coords), ("data", data(&[4.0, 1.5, -2.0]))];
        assert_eq!(npz(&scipy("coo", [2, 3], &coo)).unwrap(), want);
    }
    // Blocks of 1×3 and 2×1, whose zeros are entries.
    for (fortran, x) in [(false, [1.0, 2.0, 3.0, 4.0]), (true, [1.0, 3.0, 2.0, 4.0])] {
        let blocks = array("<f8", fortran, "(2, 2, 1)", &floats(&x));
        let bsr = [("indptr", list(&[0, 2])), ("indices", list(&[0, 2])), ("data", blocks)];
        let all = vec![(0, 0, 1.0), (0, 2, 3.0), (1, 0, 2.0), (1, 2, 4.0)];
        assert_eq!(npz(&scipy("bsr", [2, 3], &bsr)).unwrap(), (2, 3, all), "{fortran}");
    }
    // Diagonals 0 and 1, with elements indexed by column, and −1, with one zero.
    let dia = [
        ("offsets", list(&[0, 1, -1])),
        ("data", array("<f8", false, "(3, 3)", &floats(&[1.0, 2.0, 9.0, 9.0, 5.0, 6.0, 0.0, 9.0, 9.0]))),
    ];
    let all = vec![(0, 0, 1.0), (0, 1, 5.0), (1, 1, 2.0), (1, 2, 6.0)];
    assert_eq!(npz(&scipy("dia", [2, 3], &dia)).unwrap(), (2, 3, all));
    // Unicode strings, and big-endian bytes.
    let word: Vec<u8> = "csr".chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
    let high = archive(&[
        ("format", array(">U3", false, "()", &word)),
        ("shape", array(">i8", false, "(2,)", &[2i64, 3].iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<_>>())),
        ("indptr", array(">i4", false, "(3,)", &[0i32, 2, 3].iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<_>>())),
        ("indices", list(&[0, 2, 2])),
        (
            "data",
            array(">f8", false, "(3,)", &[1.5f64, -2.0, 4.0].iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<_>>()),
        ),
    ]);
    assert_eq!(npz(&high).unwrap(), want);
}

#[test]
fn archives_that_are_wrong_are_refused() {
    let list = |x: &[i32]| array("<i4", false, &format!("({},)", x.len()), &ints(x));
    let data = |x: &[f64]| array("<f8", false, &format!("({},)", x.len()), &floats(x));
    let csr = |indptr: &[i32], indices: &[i32], x: &[f64]| {
        scipy("csr", [2, 3], &[("indptr", list(indptr)), ("indices", list(indices)), ("data", data(x))])
    };
    for (bytes, said) in [
        (csr(&[0, 2], &[0, 2], &[1.0, 2.0]), "its row pointers do not fit"),
        (csr(&[0, 2, 1], &[0, 2], &[1.0, 2.0]), "its row pointers do not fit"),
        (csr(&[0, 1, 3], &[0, 2], &[1.0, 2.0]), "its row pointers do not fit"),
        (csr(&[1, 1, 2], &[0, 2], &[1.0, 2.0]), "its row pointers do not fit"),
        (csr(&[0, 1, 2], &[0, 3], &[1.0, 2.0]), "its index 3 is not from 0 below 3"),
        (csr(&[0, 1, 2], &[0, -1], &[1.0, 2.0]), "its index -1 is not from 0"),
        (csr(&[0, 1, 2], &[0, 1, 2], &[1.0, 2.0]), "its row pointers do not fit"),
        (scipy("lil", [2, 3], &[("data", data(&[1.0]))]), "of the format lil are not read"),
        (scipy("csr", [2, -3], &[("data", data(&[1.0]))]), "its shape [2, -3]"),
        (scipy("csr", [2, 3], &[("data", data(&[1.0])), ("data", data(&[2.0]))]), "it has data.npy twice"),
        (scipy("csr", [2, 3], &[("data", array("<f2", false, "(1,)", &[0, 0]))]), "of the type f2"),
        (scipy("csr", [2, 3], &[]), "it has no data"),
        (
            scipy(
                "dia",
                [2, 2],
                &[("offsets", list(&[0, 0])), ("data", array("<f8", false, "(2, 1)", &floats(&[1.0, 2.0])))],
            ),
            "its offsets",
        ),
        (
            scipy("bsr", [3, 3], &[("data", array("<f8", false, "(1, 2, 2)", &floats(&[0.0; 4])))]),
            "blocks of 2×2 do not make",
        ),
        (b"PK\x03\x04".to_vec(), "it is no zip archive"),
        (b"1,2\n".to_vec(), "it is no zip archive"),
    ] {
        let line = npz(&bytes).unwrap_err().to_string();
        assert!(line.contains(said), "{said}: {line}");
    }
    // Declared or not, no more than the limit is unpacked.
    let a = Csr::<f64>::new(1, 100_000, vec![0, 100_000], (0..100_000).collect(), vec![1.0; 100_000]).unwrap();
    let mut bytes = Vec::new();
    write_npz_to(&mut bytes, a.pattern(), Slice::of(a.values())).unwrap();
    assert!(bytes.len() < 500_000, "{}", bytes.len());
    let limited = parse_npz_with(&bytes, "a", &NumpyOptions::new().max_bytes(500_000));
    assert!(matches!(limited, Err(Error::Budget { budget: 500_000, .. })), "{limited:?}");
    let shapes = ["(3,)", "(2, 2)", "()", "(2, 2, 2)", "(18446744073709551615, 18446744073709551615)", "(-1, 2)", "2"];
    for shape in shapes {
        let line =
            parse_npy_with(&array("<f8", false, shape, &floats(&[1.0, 2.0])), "a", &NumpyOptions::new()).unwrap_err();
        assert!(
            line.to_string().starts_with("the file a: ")
                || matches!(line, Error::IndexOverflow { .. } | Error::Unsupported { .. })
        );
    }
}

/// A file written by the program zstd, with its checksum.
#[cfg(feature = "zstd")]
#[test]
fn files_compressed_by_zstd_are_read() {
    let mut packed = [
        0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x61, 0x00, 0x00, 0x23, 0x20, 0x61, 0x0a, 0x30, 0x20, 0x31, 0x0a, 0x31,
        0x20, 0x32, 0x0a, 0x78, 0x82, 0x6a, 0xac,
    ];
    let read = |bytes: &[u8]| parse_edges_with(bytes, "a", &EdgeOptions::new()).map(|graph| graph.pattern.nnz());
    assert_eq!(read(&packed).unwrap(), 2);
    for cut in [5, 12, 20, 23] {
        read(&packed[..cut]).expect_err("it is cut off");
    }
    packed[14] = b'2';
    let line = read(&packed).unwrap_err().to_string();
    assert!(line.contains("checksum"), "{line}");
}

/// Files written under a name that ends in `.zst` are read again; large text shrinks.
#[cfg(feature = "zstd")]
#[test]
fn files_are_compressed_by_zstd() {
    use sparring::io;
    let n = 50_000u32;
    let cols = (0..n).map(|i| i * 7919 % 10).collect();
    let values = (0..n).map(|i| f64::from(i % 1000) + 0.5).collect();
    let a = Csr::<f64>::new(n as usize, 10, (0..=n as usize).collect(), cols, values).unwrap();
    let (pattern, slice, options) = (a.pattern(), Slice::of(a.values()), WriteOptions::new());
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let same = |read: Result<LabeledMatrix>| assert_eq!(read.unwrap().csr::<f64>().unwrap(), a);
    io::write_csv(path("a.csv.zst"), pattern, slice, &options).unwrap();
    same(io::read_csv_with(path("a.csv.zst"), &CsvOptions::new()));
    io::write_svmlight(path("a.svm.ZST"), pattern, slice, &Labels::default(), &options).unwrap();
    same(io::read_svmlight_with(path("a.svm.ZST"), &SvmlightOptions::new().columns(10)));
    io::write_npy(path("a.npy.zst"), pattern, slice).unwrap();
    same(io::read_npy_with(path("a.npy.zst"), &NumpyOptions::new()));
    io::write_matrix_market(path("a.mtx.zst"), &a, &options).unwrap();
    assert_eq!(io::read_matrix_market(path("a.mtx.zst")).unwrap().csr::<f64>().unwrap(), a);
    io::write_matrix_market(path("a.mtx"), &a, &options).unwrap();
    let bytes = |name: &str| std::fs::metadata(path(name)).unwrap().len();
    assert!(bytes("a.mtx.zst") * 2 < bytes("a.mtx"), "{} of {}", bytes("a.mtx.zst"), bytes("a.mtx"));
    let packed = std::fs::read(path("a.mtx.zst")).unwrap();
    assert!(packed.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
}

/// Without the feature, a name that ends in `.zst` would be misleading.
#[cfg(not(feature = "zstd"))]
#[test]
fn files_are_not_compressed_by_zstd() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx.zst");
    let a = Csr::<f64>::new(1, 1, vec![0, 1], vec![0], vec![1.0]).unwrap();
    let line = sparring::io::write_matrix_market(&path, &a, &WriteOptions::new()).unwrap_err().to_string();
    assert!(line.contains("needs the feature zstd; use .gz"), "{line}");
    assert!(!path.exists());
}

/// Files written by SciPy's `savemat`: A = [1 0 −2.5; 0 0 4], L = [1 0; 1 1] logical, Z complex, Problem = {A, Zeros}.
#[test]
fn matlab_files_are_read() {
    let file = |name: &str| std::fs::read(format!("{}/tests/golden/mat/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let plain = MatlabOptions::new();
    let a = Csr::<f64>::new(2, 3, vec![0, 2, 3], vec![0, 2, 2], vec![1.0, -2.5, 4.0]).unwrap();
    for (name, options) in [
        ("one.mat", plain),
        ("packed.mat", plain),
        ("problem.mat", plain),
        ("problem.mat", plain.variable("Problem.A")),
        ("two.mat", plain.variable("A")),
    ] {
        assert_eq!(parse_mat_with(&file(name), name, &options).unwrap().csr::<f64>().unwrap(), a, "{name}");
    }
    let two = file("two.mat");
    let logical = parse_mat_with(&two, "two", &plain.variable("L")).unwrap().csr::<bool>().unwrap();
    assert_eq!(logical, Csr::new(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![true; 3]).unwrap());
    let complex = parse_mat_with(&two, "two", &plain.variable("Z")).unwrap().csr::<Complex<f64>>().unwrap();
    assert_eq!(complex.values(), [Complex::new(1.0, 2.0), Complex::new(0.0, -1.0)]);
    let dense = parse_mat_with(&file("dense.mat"), "dense", &plain).unwrap().csr::<f64>().unwrap();
    assert_eq!(dense, Csr::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![1.5, 2.0]).unwrap());
    for (bytes, options, said) in [
        (two.clone(), plain, "several matrices, one of which is to be named (--variable): A, L, Z"),
        (two.clone(), plain.variable("B"), "no matrix B; its matrices: A, L, Z"),
        (file("cell.mat"), plain, "no matrix of numbers"),
        (two[..two.len() - 9].to_vec(), plain, "cut or damaged"),
        #[cfg(not(feature = "hdf5"))]
        (b"MATLAB 7.3 MAT-file".to_vec(), plain, "version 7.3, which is HDF5 and read with the feature hdf5 alone"),
        (b"1,2".to_vec(), plain, "no MAT-file"),
        (file("packed.mat"), plain.max_bytes(250), "budget"),
    ] {
        let line = parse_mat_with(&bytes, "a", &options).unwrap_err().to_string();
        assert!(line.contains(said), "{line}");
    }
}

/// Models in the Tensor Toolbox format keep every bit, and errors are reported with their positions.
#[test]
fn kruskal_tensors_are_read_and_written() {
    let factor = |n: usize, at: f64| Dense::new(n, 2, (0..2 * n).map(|e| at / (e as f64 + 0.3)).collect()).unwrap();
    let model = Kruskal::new(vec![1e300, 1e-300], vec![factor(3, 1.0), factor(1, -2.5), factor(4, 1e-9)]).unwrap();
    let mut text = Vec::new();
    write_ktensor_to(&mut text, &model).unwrap();
    for bytes in [text.clone(), gzip(&text), String::from_utf8(text).unwrap().replace('\n', " \r\n ").into_bytes()] {
        assert_eq!(parse_ktensor(&bytes, "m").unwrap(), model);
    }
    // Compressed by name, plain otherwise.
    let folder = tempfile::tempdir().unwrap();
    for (name, magic) in [("m.ktensor", &b"ktensor"[..]), ("m.ktensor.gz", &[0x1f, 0x8b]), ("m.GZ", &[0x1f, 0x8b])] {
        let path = folder.path().join(name);
        write_ktensor(&path, &model).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(magic), "{name}");
        assert_eq!(read_ktensor(&path).unwrap(), model, "{name}");
    }
    for (text, said) in [
        ("sptensor\n", "Tensor Toolbox"),
        ("ktensor\n0\n", "m:2:2: a Kruskal tensor has 1 to 255 modes, not 0"),
        ("ktensor\n1\n2\nx\n", "m:4:1: expected the rank, found \"x\""),
        ("ktensor\n1\n2\n1\n1\nmatrix\n2\n3 1\n", "factor 0 is 3×1, and should be 2×1"),
        ("ktensor\n1\n2\n1\n1\nmatrix\n2\n2 1\n1\n", "expected an element of a factor"),
        ("ktensor\n1\n9999999999\n9999999999\n1\n", "expected a weight"),
        ("ktensor\n1\n1\n1\n1\nmatrix\n2\n1 1\n1 7\n", "m:9:3: expected the end of the text, found \"7\""),
    ] {
        let line = parse_ktensor(text.as_bytes(), "m").unwrap_err().to_string();
        assert!(line.contains(said), "{text:?}: {line}");
    }
}

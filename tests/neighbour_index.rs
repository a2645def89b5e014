//! An index of rows: queries give the bits of preparing both sides; saving and loading; damaged files.

mod common;

use common::distances::{large, metrics, options};
use quickcheck::{Arbitrary, Gen};
use sparring::distance::{AnyMetric, Float, Formula, Measure, Metric, NeighbourIndex, Options, Precision, Search};
use sparring::{Cpu, Csr, Error};

/// Columns of `large` multiplied by `step`: many columns, few of them shared.
fn spread(nrows: usize, ncols: usize, step: u32) -> Csr<f64> {
    let x = large(nrows, ncols);
    let columns = x.col_idx().iter().map(|&j| j * step).collect();
    Csr::new(nrows, ncols * step as usize, x.row_ptr().to_vec(), columns, x.values().to_vec()).expect("rows")
}

/// Some rows of a matrix.
fn part<T: Float>(a: &Csr<T>, rows: std::ops::Range<usize>) -> Csr<T> {
    let ptr = &a.row_ptr()[rows.start..=rows.end];
    let range = ptr[0]..ptr[ptr.len() - 1];
    let row_ptr = ptr.iter().map(|&p| p - ptr[0]).collect();
    let (columns, values) = (a.col_idx()[range.clone()].to_vec(), a.values()[range].to_vec());
    Csr::new(rows.len(), a.ncols(), row_ptr, columns, values).expect("rows")
}

/// Compares queries of the index with preparing both sides, for every search algorithm.
fn same<T: Float>(measure: impl Measure + Clone + 'static, x: &Csr<T>, y: &Csr<T>, o: Options) {
    let bits = |d: &[T]| d.iter().map(|d| d.as_f64().to_bits()).collect::<Vec<_>>();
    let name = format!("{} {o:?}", measure.name());
    for threads in [1, 2] {
        let cpu = Cpu::with_threads(threads).expect("threads");
        for search in [Search::Auto, Search::Tiles, Search::Shared] {
            let o = Options { search, ..o };
            let index = cpu.index(measure.clone(), y, o).expect("an index");
            for x in [part(x, 0..1), part(x, 3..9), part(x, 5..5), x.clone()] {
                for k in [1, 5, y.nrows() + 1] {
                    let found = index.knn(&cpu, &x, k).expect("neighbours");
                    let right = cpu.neighbours(measure.clone(), &x).to(y).options(o).k(k).eval().expect("neighbours");
                    assert_eq!(found.indices(), right.indices(), "{name}, {k}");
                    assert_eq!(bits(found.distances()), bits(right.distances()), "{name}, {k}");
                }
                let d = index.rows(&cpu, &x).expect("rows").all().expect("distances");
                let right = cpu.distances(measure.clone(), &x).to(y).options(o).eval().expect("distances");
                assert_eq!(bits(d.values()), bits(right.values()), "{name}");
                let middle = d.values().get(d.values().len() / 2).map_or(0.0, |d| d.as_f64());
                for radius in [0.0, middle, f64::INFINITY].into_iter().filter(|r| !r.is_nan()) {
                    let found = index.radius(&cpu, &x, radius).expect("neighbours");
                    let asked = cpu.neighbours(measure.clone(), &x).to(y).options(o);
                    let right = asked.radius(radius).eval().expect("neighbours");
                    assert_eq!(
                        (found.row_ptr(), found.col_idx()),
                        (right.row_ptr(), right.col_idx()),
                        "{name}, {radius}"
                    );
                    assert_eq!(bits(found.values()), bits(right.values()), "{name}, {radius}");
                }
            }
        }
    }
}

#[test]
fn an_index_has_the_bits_of_preparing_both() {
    let (x, y) = (large(20, 40), large(70, 40));
    for (metric, normalize) in metrics() {
        same(metric, &x, &y, options(normalize));
    }
    same(Formula::new("|a-b|", |a: f64, b: f64| (a - b).abs()), &x, &y, Options::default());
    same(Formula::parse("abs(a-b) / (a+b+1)").expect("a formula"), &x, &y, Options::default());
    let single = |a: &Csr<f64>| a.map(|&v| v as f32).expect("f32");
    for metric in [Metric::Euclidean, Metric::Jaccard, Metric::Correlation] {
        same(metric, &single(&x), &single(&y), Options { precision: Precision::Entries, ..options(None) });
    }
}

/// Many more columns than entries, some columns of X absent in Y; rows of X and Y that overlap little.
#[test]
fn columns_that_few_rows_have() {
    let (x, y) = (spread(20, 40, 50_021), spread(70, 31, 50_021));
    let y = Csr::new(70, x.ncols(), y.row_ptr().to_vec(), y.col_idx().to_vec(), y.values().to_vec()).expect("rows");
    for metric in
        [Metric::Cosine, Metric::Euclidean, Metric::Jaccard, Metric::Correlation, Metric::Chebyshev, Metric::Kl]
    {
        same(metric, &x, &y, options(None));
    }
}

/// Rows that need scaling, of Y, of X, or only together.
#[test]
fn rows_that_must_be_scaled() {
    let (x, y) = (large(12, 20), large(30, 20));
    let times = |a: &Csr<f64>, s: f64| a.map(|&v| v * s).expect("rows");
    for metric in [Metric::Euclidean, Metric::Cosine, Metric::Manhattan, Metric::Minkowski(5.0), Metric::JensenShannon]
    {
        for (of_x, of_y) in [(1.0, 1e200), (1e200, 1.0), (1e-160, 1.0), (1e-200, 1e-200), (1e-130, 1e130)] {
            same(metric, &times(&x, of_x), &times(&y, of_y), options(None));
        }
    }
    let far = |a: &Csr<f64>| {
        let full = (0..a.nrows()).flat_map(|i| (0..20).map(move |j| 1e9 + ((i * 7 + j * 3) % 5) as f64)).collect();
        let columns = (0..a.nrows()).flat_map(|_| 0..20).collect();
        Csr::new(a.nrows(), 20, (0..=a.nrows()).map(|i| 20 * i).collect(), columns, full).expect("rows")
    };
    same(Metric::Correlation, &far(&x), &y, options(None));
    same(Metric::Correlation, &x, &far(&y), options(None));
}

#[test]
fn a_few_rows_ask_all_of_y_without_tiles() {
    let cpu = Cpu::with_threads(2).expect("threads");
    let (x, y) = (large(3, 60), large(900, 60));
    for metric in [Metric::Cosine, Metric::Correlation] {
        let index = cpu.index(metric, &y, Options::default()).expect("an index");
        assert!(index.bytes() > 0);
        let how = index.knn(&cpu, &part(&x, 0..1), 4).expect("neighbours").explain;
        assert!(how.contains("prebuilt"), "{metric}: {how}");
    }
    let formula = cpu.index(Metric::Chebyshev, &y, Options::default()).expect("an index");
    assert_eq!(formula.bytes(), 0, "prepared with X");
}

#[test]
fn what_an_index_refuses() {
    let cpu = Cpu::with_threads(1).expect("threads");
    let y = large(30, 20);
    let index = cpu.index(Metric::Manhattan, &y, Options::default()).expect("an index");
    let error = index.knn(&cpu, &large(3, 21), 1).unwrap_err().to_string();
    assert!(error.contains("3×21") && error.contains("30×20"), "{error}");
    assert!(matches!(index.radius(&cpu, &y, f64::NAN), Err(Error::Argument { name: "radius", .. })));
    let own = Options { exclude_self: true, ..Options::default() };
    assert!(matches!(cpu.index(Metric::Manhattan, &y, own), Err(Error::Argument { name: "exclude_self", .. })));
    let little = Options { memory_budget: Some(100), ..Options::default() };
    assert!(matches!(cpu.index(Metric::Manhattan, &y, little), Err(Error::Budget { .. })));
    let nan = y.map(|_| f64::NAN).expect("rows");
    assert!(matches!(index.knn(&cpu, &nan, 1), Err(Error::Argument { name: "entries", .. })));
}

fn saved<T: Float>(index: &NeighbourIndex<T>) -> Vec<u8> {
    let mut file = vec![];
    index.save_to(&mut file).expect("a file");
    file
}

#[test]
fn saved_and_loaded() {
    let cpu = Cpu::with_threads(1).expect("threads");
    let (x, y) = (large(9, 30), large(50, 30));
    let formula: AnyMetric = "abs(a-b) / (a+b+1)".parse().expect("a formula");
    let all = Metric::ALL.map(AnyMetric::Named).into_iter().chain([formula]);
    for measure in all {
        let o = Options { precision: Precision::Entries, ..Options::default() };
        let index = cpu.index(measure.clone(), &y, o).expect("an index");
        let file = saved(&index);
        let loaded: NeighbourIndex<f64> = cpu.load_index_from(&mut &file[..]).expect("an index");
        assert_eq!(
            (loaded.measure().name(), loaded.options().precision),
            (Measure::name(&measure), Precision::Entries)
        );
        assert_eq!((loaded.matrix(), saved(&loaded)), (index.matrix(), file));
        let (found, right) = (loaded.knn(&cpu, &x, 4).expect("found"), index.knn(&cpu, &x, 4).expect("found"));
        assert_eq!(found.indices(), right.indices());
    }
    // Options, f32, and 64-bit columns.
    let single: Csr<f32> = y.map(|&v| v as f32).expect("f32");
    let o = Options { normalize: Some(true), unchecked: true, ..Options::default() };
    let file = saved(&cpu.index(Metric::Hellinger, &single, o).expect("an index"));
    let loaded: NeighbourIndex<f32> = cpu.load_index_from(&mut &file[..]).expect("an index");
    assert_eq!((loaded.options().normalize, loaded.options().unchecked), (Some(true), true));
    let error = cpu.load_index_from::<f64, u32>(&mut &file[..]).unwrap_err().to_string();
    assert!(error.contains("values of 4 bytes"), "{error}");
    let columns = y.col_idx().iter().map(|&c| u64::from(c)).collect();
    let wide = Csr::<f64, u64>::new(50, 30, y.row_ptr().to_vec(), columns, y.values().to_vec()).expect("rows");
    let index = cpu.index(Metric::Dot, &wide, Options::default()).expect("an index");
    let mut file = vec![];
    index.save_to(&mut file).expect("a file");
    let loaded: NeighbourIndex<f64, u64> = cpu.load_index_from(&mut &file[..]).expect("an index");
    assert_eq!(loaded.matrix(), &wide);
    // Named files; unwritable paths.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.index");
    index.save(&path).expect("a file");
    assert_eq!(std::fs::read(&path).expect("a file"), file);
    assert_eq!(cpu.load_index::<f64, u64>(&path).expect("an index").shape(), (50, 30));
    let error = cpu.load_index::<f64, u32>(&path).unwrap_err().to_string();
    assert!(error.contains("rows.index") && error.contains("columns of 8"), "{error}");
    assert!(matches!(cpu.load_index::<f64, u32>(folder.path().join("none")), Err(Error::Io { .. })));
    let closure = Formula::new("mine", |a: f64, b: f64| (a - b).abs());
    let index = cpu.index(closure, &y, Options::default()).expect("an index");
    let error = index.save_to(&mut vec![]).unwrap_err().to_string();
    assert!(error.contains("mine") && error.contains("no name"), "{error}");
    // A failed write leaves the old file, and no temporary one.
    let error = index.save(&path).unwrap_err().to_string();
    assert!(error.contains("rows.index") || error.contains("mine"), "{error}");
    assert_eq!(std::fs::read(&path).expect("a file"), file);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    let error = index.save(folder.path().join("none").join("rows.index")).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

/// FNV-1a, so that code behind the checksum is reached too.
fn checked(file: &mut [u8]) {
    let end = file.len() - 8;
    let mut check = 0xcbf2_9ce4_8422_2325u64;
    for &byte in &file[..end] {
        check = (check ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    file[end..].copy_from_slice(&check.to_le_bytes());
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    let cpu = Cpu::with_threads(1).expect("threads");
    let y = large(12, 10);
    let file = saved(&cpu.index(Metric::Minkowski(3.0), &y, Options::default()).expect("an index"));
    let load = |file: &[u8]| cpu.load_index_from::<f64, u32>(&mut &file[..]);
    assert!(load(&file).is_ok());
    // Truncated at any length.
    for len in 0..file.len() {
        let error = load(&file[..len]).unwrap_err().to_string();
        assert!(error.contains("the file ends at byte") && error.contains("more are expected"), "{len}: {error}");
    }
    // Trailing bytes are rejected.
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("index-behind");
    std::fs::write(&path, &file).expect("a file");
    assert!(cpu.load_index::<f64, u32>(&path).is_ok());
    std::fs::write(&path, [&file[..], b"x"].concat()).expect("a file");
    let error = cpu.load_index::<f64, u32>(&path).unwrap_err().to_string();
    assert!(error.contains(&format!(":1:{}: trailing bytes", file.len() + 1)), "{error}");
    // Any flipped bit.
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut file = file.clone();
            file[at] ^= 1 << bit;
            assert!(load(&file).is_err(), "byte {at}, bit {bit}");
            assert!(matches!(load(&file[..at]), Err(Error::Parse { line: 1, .. })));
        }
    }
    // Random bytes with a valid checksum: an error, or an index that answers.
    let mut g = Gen::new(64);
    let mut answered = 0;
    for _ in 0..4000 {
        let mut file = file.clone();
        for _ in 0..1 + usize::arbitrary(&mut g) % 3 {
            let at = usize::arbitrary(&mut g) % (file.len() - 8);
            file[at] = u8::arbitrary(&mut g);
        }
        checked(&mut file);
        if let Ok(index) = load(&file) {
            answered += usize::from(index.knn(&cpu, index.matrix(), 3).is_ok());
        }
    }
    assert!(answered > 100, "{answered}");
    let says = |at: usize, byte: u8, words: &[&str]| {
        let mut file = file.clone();
        file[at] = byte;
        checked(&mut file);
        let error = load(&file).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    says(0, b'x', &["does not begin"]);
    says(8, 9, &["version 9", "version 1"]);
    says(14, 3, &["normalize is 3"]);
    says(15, 255, &["flags are 255"]);
    says(30, 1, &["name", "65536"]);
}

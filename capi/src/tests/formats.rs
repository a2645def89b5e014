//! Matrices from files of every format, and into them.

use super::files::File;
use super::*;
use crate::files::SparringAnswer::*;
use crate::files::SparringFormat::*;
use crate::files::*;

struct Reader(*mut SparringDevice);

impl Reader {
    /// Reads a file: the status, the matrix and the labels, both NULL on failure.
    fn read(
        &self,
        (format, ty): (u32, u32),
        path: &CStr,
        options: Option<&SparringFileOptions>,
    ) -> (SparringStatus, *mut SparringMatrix, *mut SparringLabels) {
        let (mut m, mut labels) = (16 as *mut SparringMatrix, 16 as *mut SparringLabels);
        let o = options.map_or(null(), |o| &raw const *o);
        let status = unsafe { sparring_matrix_read_file(self.0, format, ty, path.as_ptr(), o, &mut labels, &mut m) };
        assert_eq!((m.is_null(), labels.is_null()), (status != SPARRING_OK, status != SPARRING_OK));
        (status, m, labels)
    }
    #[track_caller]
    fn good(
        &self,
        format: SparringFormat,
        ty: u32,
        path: &CStr,
        o: SparringFileOptions,
    ) -> (*mut SparringMatrix, *mut SparringLabels) {
        let (status, m, labels) = self.read((format as u32, ty), path, Some(&o));
        ok(status);
        (m, labels)
    }
    #[track_caller]
    fn bad(
        &self,
        format: SparringFormat,
        ty: u32,
        path: &CStr,
        o: SparringFileOptions,
        status: SparringStatus,
    ) -> String {
        refused(self.read((format as u32, ty), path, Some(&o)).0, status)
    }
}

fn said(
    f: unsafe extern "C" fn(*const SparringLabels, u64, *mut c_char, u64, *mut u64) -> SparringStatus,
    labels: *const SparringLabels,
    at: u64,
) -> String {
    let mut buffer = [0 as c_char; 32];
    ok(unsafe { f(labels, at, buffer.as_mut_ptr(), 32, null_mut()) });
    text(buffer.as_ptr())
}

fn counts(labels: *const SparringLabels) -> [u64; 3] {
    let [mut rows, mut columns, mut ids] = [9; 3];
    ok(unsafe { sparring_labels_counts(labels, &mut rows, &mut columns, &mut ids) });
    [rows, columns, ids]
}

fn ty(m: *const SparringMatrix) -> u32 {
    let mut ty = 0;
    ok(unsafe { sparring_matrix_type(m, &mut ty) });
    ty
}

#[test]
fn every_format_is_read() {
    let reader = Reader(cpu(2, 0));
    let o = SparringFileOptions::default();
    let free = |(m, labels)| {
        ok(sparring_matrix_free(m));
        ok(sparring_labels_free(labels));
    };
    // A table, with delimiter and header.
    let table = File::new("f.csv", b"x;y z\n1.5;0\n0;70\n");
    let how = SparringFileOptions { header: SPARRING_YES as u32, delimiter: u32::from(b';'), ..o };
    let (m, labels) = reader.good(SPARRING_CSV, 0, &table.1, how);
    assert_eq!((copy::<f64>(m), ty(m)), ((vec![0, 1, 2], vec![0, 1], vec![1.5, 70.0]), SPARRING_F64 as u32));
    assert_eq!(counts(labels), [0, 2, 0]);
    assert_eq!(said(sparring_labels_column, labels, 1), "y z");
    let e = unsafe { sparring_labels_column(labels, 2, null_mut(), 0, null_mut()) };
    assert_eq!(refused(e, SPARRING_INDEX_RANGE), "at is 2, not below the number of names of columns, which is 2");
    free((m, labels));
    let e = reader.bad(SPARRING_CSV, SPARRING_I32 as u32, &table.1, how, SPARRING_TYPE);
    assert!(e.starts_with("type: ") && e.contains("entry (0, 0), 1.5 as i32"), "{e}");
    let e = reader.bad(
        SPARRING_CSV,
        0,
        &table.1,
        SparringFileOptions { header: SPARRING_NO as u32, ..how },
        SPARRING_PARSE,
    );
    assert!(e.contains("f.csv:1:1: "), "{e}");

    // Rows with labels.
    let rows = File::new("f.svm", b"+1 1:0.5 3:2\n-1 2:7\n");
    let (m, labels) =
        reader.good(SPARRING_SVMLIGHT, SPARRING_F32 as u32, &rows.1, SparringFileOptions { columns: 5, ..o });
    let (mut nrows, mut ncols, mut numbers) = (0, 0, [0.0; 2]);
    ok(unsafe { sparring_matrix_shape(m, &mut nrows, &mut ncols) });
    assert_eq!((nrows, ncols, copy::<f32>(m).2), (2, 5, vec![0.5, 2.0, 7.0]));
    assert_eq!((counts(labels), said(sparring_labels_row, labels, 0)), ([2, 0, 0], "+1".into()));
    ok(unsafe { sparring_labels_numbers(labels, numbers.as_mut_ptr(), 2) });
    assert_eq!(numbers, [1.0, -1.0]);
    let e = unsafe { sparring_labels_numbers(labels, numbers.as_mut_ptr(), 1) };
    assert_eq!(refused(e, SPARRING_LENGTH), "numbers: length is 1, expected 2");
    let e = unsafe { sparring_labels_numbers(labels, null_mut(), 2) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "numbers is NULL");
    free((m, labels));
    let zero = SparringFileOptions { zero_based: SPARRING_YES as u32, ..o };
    let (m, labels) = reader.good(SPARRING_SVMLIGHT, 0, &rows.1, zero);
    assert_eq!(copy::<f64>(m).1, [1, 3, 2]);
    free((m, labels));

    // Edges between vertex numbers, arbitrary integers, and words.
    let edges = File::new("f.el", b"10 -5\n-5 7\n");
    let how = SparringFileOptions { renumber: 1, undirected: SPARRING_YES as u32, ..o };
    let (m, labels) = reader.good(SPARRING_EDGES, 0, &edges.1, how);
    let mut ids = [0; 3];
    ok(unsafe { sparring_labels_ids(labels, ids.as_mut_ptr(), 3) });
    assert_eq!((copy::<u8>(m).2.len(), ids, ty(m)), (4, [-5, 7, 10], SPARRING_BOOL as u32));
    refused(unsafe { sparring_labels_ids(labels, ids.as_mut_ptr(), 2) }, SPARRING_LENGTH);
    refused(unsafe { sparring_labels_ids(labels, null_mut(), 3) }, SPARRING_NULL_POINTER);
    free((m, labels));
    let words = File::new("g.el", b"ada bea 2\nbea cleo 3\nada bea 5\n");
    let named = SparringFileOptions { named: 1, ..o };
    let e = reader.bad(SPARRING_EDGES, 0, &words.1, named, SPARRING_UNSUPPORTED);
    assert!(e.starts_with("path: ") && e.contains("the edge ada bea stands there more than once"), "{e}");
    let how = SparringFileOptions { repeated: SparringRepeated::SPARRING_REPEATED_MAX as u32, ..named };
    let (m, labels) = reader.good(SPARRING_EDGES, SPARRING_I64 as u32, &words.1, how);
    assert_eq!((copy::<i64>(m).2, said(sparring_labels_row, labels, 2)), (vec![5, 3], "cleo".into()));
    let e = unsafe { sparring_labels_numbers(labels, numbers.as_mut_ptr(), 2) };
    assert_eq!(refused(e, SPARRING_PARSE), "labels: that of row 0, 'ada', is not a number");
    free((m, labels));

    // DIMACS and METIS graphs.
    let dimacs = File::new("f.gr", b"p sp 2 1\na 1 2 7\n");
    let (m, labels) = reader.good(SPARRING_DIMACS, SPARRING_U8 as u32, &dimacs.1, o);
    assert_eq!(copy::<u8>(m), (vec![0, 1, 1], vec![1], vec![7]));
    free((m, labels));
    let metis = File::new("f.graph", b"2 1\n2\n1\n");
    let (m, labels) = reader.good(SPARRING_METIS, 0, &metis.1, o);
    assert_eq!(copy::<u8>(m), (vec![0, 1, 2], vec![1, 0], vec![1, 1]));
    free((m, labels));

    // MAT-files and Matrix Market, in the type of the file.
    let mat = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/mat/two.mat");
    let mat = std::ffi::CString::new(mat).unwrap();
    let how = SparringFileOptions { variable: c"Z".as_ptr(), ..o };
    let (m, labels) = reader.good(SPARRING_MAT, 0, &mat, how);
    assert_eq!((copy::<[f64; 2]>(m).2, ty(m)), (vec![[1.0, 2.0], [0.0, -1.0]], SPARRING_COMPLEX_F64 as u32));
    free((m, labels));
    assert!(reader.bad(SPARRING_MAT, 0, &mat, o, SPARRING_UNSUPPORTED).contains("A, L, Z"));
    let market = File::new("f.mtx", b"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 7\n");
    let (m, labels) = reader.good(SPARRING_MATRIX_MARKET, 0, &market.1, o);
    assert_eq!((copy::<i64>(m).2, ty(m), counts(labels)), (vec![7], SPARRING_I64 as u32, [0; 3]));
    free((m, labels));
    let (m, labels) = reader.good(SPARRING_MATRIX_MARKET, SPARRING_F32 as u32, &market.1, o);
    assert_eq!(copy::<f32>(m).2, [7.0]);
    free((m, labels));
    ok(sparring_device_free(reader.0));
}

#[test]
fn what_is_written_in_a_format_is_read_again() {
    let reader = Reader(cpu(2, 0));
    let m = csr(SPARRING_F64, 2, 3, &[0, 1, 3], &[1, 0, 2], &[0.1, -1.0, 2.5]);
    let (mut labels, numbers) = (null_mut(), [1.0, -0.25]);
    ok(unsafe { sparring_labels_from_numbers(numbers.as_ptr(), 2, &mut labels) });
    let write = |format: u32, labels: *const SparringLabels, path: &CStr| unsafe {
        sparring_matrix_write_file(reader.0, format, m, labels, path.as_ptr())
    };
    let formats = [
        (SPARRING_MATRIX_MARKET, "w.mtx.gz"),
        (SPARRING_CSV, "w.csv.gz"),
        (SPARRING_SVMLIGHT, "w.svm"),
        (SPARRING_NPY, "w.npy"),
        (SPARRING_NPZ, "w.npz"),
    ];
    for (format, name) in formats {
        let file = File::new(name, b"old");
        let own = if format == SPARRING_SVMLIGHT { labels } else { null_mut() };
        ok(write(format as u32, own, &file.1));
        let (again, beside) = reader.good(format, 0, &file.1, SparringFileOptions::default());
        assert_eq!(copy::<f64>(again), copy::<f64>(m), "{name}");
        if format == SPARRING_SVMLIGHT {
            let mut found = [0.0; 2];
            ok(unsafe { sparring_labels_numbers(beside, found.as_mut_ptr(), 2) });
            assert_eq!(found, numbers);
        }
        ok(sparring_matrix_free(again));
        ok(sparring_labels_free(beside));
    }
    let file = File::new("w.bad", b"old");
    let e = refused(write(SPARRING_CSV as u32, labels, &file.1), SPARRING_ARGUMENT);
    assert_eq!(e, "labels: SPARRING_CSV has none");
    let e = refused(write(SPARRING_METIS as u32, null(), &file.1), SPARRING_UNSUPPORTED);
    assert_eq!(e, "format: SPARRING_METIS is not supported: it is read only");
    let e = refused(write(88, null(), &file.1), SPARRING_ARGUMENT);
    assert!(e.starts_with("format: 88 is none of 1, 2"), "{e}");
    let mut three = null_mut();
    ok(unsafe { sparring_labels_from_numbers([1.0; 3].as_ptr(), 3, &mut three) });
    let e = refused(write(SPARRING_SVMLIGHT as u32, three, &file.1), SPARRING_LENGTH);
    assert_eq!(e, "labels: length is 3, expected 2");
    assert_eq!(std::fs::read(&file.0).unwrap(), b"old");
    refused(write(SPARRING_NPZ as u32, null(), c"no/such/folder/a.npz"), SPARRING_IO);
    let mut none = 16 as *mut SparringLabels;
    let e = unsafe { sparring_labels_from_numbers([1.0, f64::NAN].as_ptr(), 2, &mut none) };
    assert_eq!(refused(e, SPARRING_ARGUMENT), "numbers: number 1 is NaN, but labels must be finite");
    let e = unsafe { sparring_labels_from_numbers(null(), 2, &mut none) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "numbers is NULL");
    refused(unsafe { sparring_labels_from_numbers([1.0].as_ptr(), u64::MAX, &mut none) }, SPARRING_INDEX_OVERFLOW);
    assert!(none.is_null());
    for labels in [labels, three] {
        ok(sparring_labels_free(labels));
    }
    refused(sparring_labels_free(three), SPARRING_INVALID_HANDLE);
    ok(sparring_matrix_free(m));
    ok(sparring_device_free(reader.0));
}

#[test]
fn options_of_other_formats_are_refused() {
    let reader = Reader(cpu(1, 0));
    let o = SparringFileOptions::default();
    let text = c"x".as_ptr();
    for (format, options, says) in [
        (SPARRING_MAT, SparringFileOptions { header: 1, ..o }, "options.header: SPARRING_MAT has no option header"),
        (SPARRING_CSV, SparringFileOptions { columns: 3, ..o }, "options.columns: SPARRING_CSV has no option columns"),
        (
            SPARRING_NPZ,
            SparringFileOptions { variable: text, ..o },
            "options.variable: SPARRING_NPZ has no option variable",
        ),
        (SPARRING_METIS, SparringFileOptions { named: 1, ..o }, "options.named: SPARRING_METIS has no option named"),
        (SPARRING_CSV, SparringFileOptions { header: 3, ..o }, "options.header: 3 is none of 0, 1, 2"),
        (SPARRING_CSV, SparringFileOptions { delimiter: 300, ..o }, "options.delimiter: 300 is not an ASCII character"),
        (SPARRING_EDGES, SparringFileOptions { repeated: 9, ..o }, "options.repeated: 9 is none of 0, 1, 2, 3"),
        (SPARRING_EDGES, SparringFileOptions { undirected: 9, ..o }, "options.undirected: 9 is none of 0, 1, 2"),
    ] {
        assert_eq!(reader.bad(format, 0, c"no/such/file", options, SPARRING_ARGUMENT), says);
    }
    let e = reader.bad(SPARRING_SVMLIGHT, 0, c"no/such/file", o, SPARRING_IO);
    assert!(e.starts_with("no/such/file: "), "{e}");
    let table = File::new("l.csv", b"1,2\n3,4\n");
    let e = reader.bad(SPARRING_CSV, 0, &table.1, SparringFileOptions { max_bytes: 3, ..o }, SPARRING_BUDGET);
    assert!(e.contains("the budget is 3 bytes"), "{e}");
    assert!(refused(reader.read((0, 0), &table.1, None).0, SPARRING_ARGUMENT).starts_with("format: 0 is none of"));
    let e = refused(reader.read((SPARRING_CSV as u32, 77), &table.1, None).0, SPARRING_ARGUMENT);
    assert!(e.starts_with("type: 77 is none of"), "{e}");
    // Labels may be NULL.
    let mut m = null_mut();
    let path = table.1.as_ptr();
    let csv = SPARRING_CSV as u32;
    ok(unsafe { sparring_matrix_read_file(reader.0, csv, 0, path, null(), null_mut(), &mut m) });
    ok(sparring_matrix_free(m));
    ok(sparring_device_free(reader.0));
}

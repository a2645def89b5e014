//! Matrices from files.

use std::io::Write;

use super::*;
use crate::matrix_market::{
    SparringReadOptions, SparringWriteOptions, sparring_matrix_read, sparring_matrix_read_with, sparring_matrix_write,
};
use crate::serialize::*;

const TEXT: &str = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 5\n3 3 0\n3 2 -2\n";

/// A temporary file, and its path for C.
pub(super) struct File(pub(super) std::path::PathBuf, pub(super) std::ffi::CString);

impl File {
    pub(super) fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("sparring-capi-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let c = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        Self(path, c)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn read(path: &CStr, ty: u32) -> (SparringStatus, *mut SparringMatrix) {
    let cpu = cpu(2, 0);
    let mut m = 16 as *mut SparringMatrix;
    let status = unsafe { sparring_matrix_read(cpu, ty, path.as_ptr(), &mut m) };
    assert_eq!(m.is_null(), status != SPARRING_OK);
    if status == SPARRING_OK {
        ok(sparring_device_free(cpu));
    }
    (status, m)
}

#[test]
fn files_are_read_as_any_type_compressed_or_not() {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(TEXT.as_bytes()).unwrap();
    let files = [File::new("a.mtx", TEXT.as_bytes()), File::new("a.mtx.gz", &gz.finish().unwrap())];
    for File(_, path) in &files {
        let (p, j) = (vec![0u64, 1, 3, 5], vec![1u32, 0, 2, 1, 2]);
        let (status, m) = read(path, SPARRING_F64 as u32);
        ok(status);
        assert_eq!(copy::<f64>(m), (p.clone(), j.clone(), vec![5.0, 5.0, -2.0, -2.0, 0.0]));
        ok(sparring_matrix_free(m));
        let (status, m) = read(path, SPARRING_I64 as u32);
        ok(status);
        assert_eq!(copy::<i64>(m), (p.clone(), j.clone(), vec![5, 5, -2, -2, 0]));
        ok(sparring_matrix_free(m));
        let (status, m) = read(path, SPARRING_BOOL as u32);
        ok(status);
        assert_eq!(copy::<u8>(m), (p, j, vec![1, 1, 1, 1, 0]));
        ok(sparring_matrix_free(m));
    }
}

#[test]
fn a_file_is_read_with_a_limit_and_leniently() {
    let both = File::new("both.mtx", b"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 5\n1 2 5\n");
    let cpu = cpu(1, 0);
    let read = |max_bytes, lenient| {
        let (options, mut m) = (SparringReadOptions { max_bytes, lenient }, null_mut());
        let ty = SPARRING_F64 as u32;
        let status = unsafe { sparring_matrix_read_with(cpu, ty, both.1.as_ptr(), &options, &mut m) };
        assert_eq!(m.is_null(), status != SPARRING_OK);
        if status == SPARRING_OK {
            ok(sparring_matrix_free(m));
        }
        status
    };
    refused(read(0, 0), SPARRING_PARSE);
    ok(read(0, 1));
    ok(read(1000, 1));
    assert!(refused(read(20, 1), SPARRING_BUDGET).contains("the budget is 20 bytes"));
    let mut m = null_mut();
    let status = unsafe { sparring_matrix_read_with(cpu, SPARRING_F64 as u32, both.1.as_ptr(), null(), &mut m) };
    refused(status, SPARRING_PARSE);
    ok(sparring_device_free(cpu));
}

#[test]
fn what_is_written_is_read_again() {
    let cpu = cpu(2, 0);
    let write = |m, path: &CStr, options| unsafe { sparring_matrix_write(cpu, m, path.as_ptr(), options) };
    let m = csr(SPARRING_F64, 2, 2, &[0, 1, 3], &[1, 0, 1], &[0.1, 0.1, f64::MIN_POSITIVE]);
    for name in ["w.mtx", "w.mtx.gz"] {
        let file = File::new(name, b"old");
        ok(write(m, &file.1, null()));
        let packed = std::fs::read(&file.0).unwrap().starts_with(&[0x1f, 0x8b]);
        assert_eq!(packed, name.ends_with(".gz"));
        let (status, again) = read(&file.1, SPARRING_F64 as u32);
        ok(status);
        assert_eq!(copy::<f64>(again), copy::<f64>(m));
        ok(sparring_matrix_free(again));
    }
    let file = File::new("w2.mtx", b"old");
    let options = |symmetric, pattern_only| SparringWriteOptions { symmetric, pattern_only };
    ok(write(m, &file.1, &options(1, 1)));
    let text = std::fs::read_to_string(&file.0).unwrap();
    assert_eq!(text, "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n");
    // A failed write leaves the file unchanged.
    let skewed = small();
    let e = refused(write(skewed, &file.1, &options(1, 0)), SPARRING_ARGUMENT);
    assert!(e.starts_with("options.symmetric: "), "{e}");
    assert_eq!(std::fs::read_to_string(&file.0).unwrap(), text);
    let e = refused(write(m, c"no/such/folder/a.mtx", null()), SPARRING_IO);
    assert!(e.starts_with("no/such/folder/a.mtx: "), "{e}");
    assert_eq!(
        refused(unsafe { sparring_matrix_write(cpu, m, null(), null()) }, SPARRING_NULL_POINTER),
        "path is NULL"
    );
    assert_eq!(refused(write(null(), &file.1, null()), SPARRING_NULL_POINTER), "matrix is NULL");
    let e = unsafe { sparring_matrix_write(null(), m, file.1.as_ptr(), null()) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "device is NULL");
    for m in [m, skewed] {
        ok(sparring_matrix_free(m));
    }
    ok(sparring_device_free(cpu));
}

#[test]
fn wrong_files_are_refused() {
    let bad = File::new("bad.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n");
    assert!(refused(read(&bad.1, SPARRING_F64 as u32).0, SPARRING_PARSE).contains("bad.mtx:3:1: "));
    let half = File::new("half.mtx", b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.5\n");
    let e = refused(read(&half.1, SPARRING_I64 as u32).0, SPARRING_TYPE);
    assert!(e.starts_with("type: "), "{e}");
    assert!(refused(read(c"no/such/file.mtx", SPARRING_F64 as u32).0, SPARRING_IO).starts_with("no/such/file.mtx: "));
    assert!(refused(read(c"no/such/file.mtx", 0).0, SPARRING_ARGUMENT).starts_with("type: 0 is none of"));
    refused(read(c"\xff", SPARRING_F64 as u32).0, SPARRING_ARGUMENT);
    let cpu = cpu(1, 0);
    let mut m = null_mut();
    let ty = SPARRING_F64 as u32;
    assert_eq!(
        refused(unsafe { sparring_matrix_read(cpu, ty, null(), &mut m) }, SPARRING_NULL_POINTER),
        "path is NULL"
    );
    refused(unsafe { sparring_matrix_read(null(), ty, c"x".as_ptr(), &mut m) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_matrix_read(cpu, ty, c"x".as_ptr(), null_mut()) }, SPARRING_NULL_POINTER);
    ok(sparring_device_free(cpu));
}

#[test]
fn matrices_and_vectors_become_bytes_and_come_back() {
    let (a, v) = (small(), vector(SPARRING_U8, 9, &[3, 7], &[5u8, 6]));
    let (mut of_a, mut of_v) = (null_mut(), null_mut());
    ok(unsafe { sparring_matrix_serialize(a, &mut of_a) });
    ok(unsafe { sparring_vector_serialize(v, &mut of_v) });
    let bytes = |of: *const SparringBytes| {
        let (mut data, mut len) = (null(), 0);
        ok(unsafe { sparring_bytes_get(of, &mut data, &mut len) });
        unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len as usize) }.to_vec()
    };
    let (of_matrix, of_vector) = (bytes(of_a), bytes(of_v));
    ok(sparring_bytes_free(of_a));
    ok(sparring_bytes_free(of_v));
    refused(unsafe { sparring_bytes_get(of_a, &mut null(), &mut 0) }, SPARRING_INVALID_HANDLE);
    let (mut b, mut w) = (null_mut(), null_mut());
    let matrix = |bytes: &[u8], b: &mut *mut SparringMatrix| unsafe {
        sparring_matrix_deserialize(bytes.as_ptr().cast(), bytes.len() as u64, b)
    };
    ok(matrix(&of_matrix, &mut b));
    ok(unsafe { sparring_vector_deserialize(of_vector.as_ptr().cast(), of_vector.len() as u64, &mut w) });
    assert_eq!((copy::<f64>(b), entries::<u8>(w)), (copy::<f64>(a), entries::<u8>(v)));
    let mut none = null_mut();
    let said = refused(matrix(&of_matrix[..60], &mut none), SPARRING_PARSE);
    assert!(said.contains("the file ends at byte 60, in the row pointers"), "{said}");
    assert!(refused(matrix(&of_vector, &mut none), SPARRING_PARSE).contains("does not begin as a matrix does"));
    let mut longer = of_matrix.clone();
    longer.push(0);
    let (said, len) = (refused(matrix(&longer, &mut none), SPARRING_ARGUMENT), of_matrix.len());
    assert_eq!(said, format!("len: {}, but the serialized data ends after {len} bytes", len + 1));
    refused(unsafe { sparring_matrix_deserialize(null(), 1, &mut none) }, SPARRING_NULL_POINTER);
    refused(unsafe { sparring_matrix_deserialize(null(), 0, &mut none) }, SPARRING_PARSE);
    refused(unsafe { sparring_matrix_serialize(a, null_mut()) }, SPARRING_NULL_POINTER);
    assert!(none.is_null());
    for m in [a, b] {
        ok(sparring_matrix_free(m));
    }
    for v in [v, w] {
        ok(sparring_vector_free(v));
    }
}

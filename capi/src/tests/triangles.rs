//! Triangles through the C API.

use super::*;
use crate::triangles::SparringTriangleMethod::*;
use crate::triangles::{sparring_triangles, sparring_triangles_per_edge, sparring_triangles_per_vertex};

/// The complete graph of n vertices, each edge once.
fn complete(n: u32) -> *mut SparringMatrix {
    let cols: Vec<u32> = (0..n).flat_map(|i| i + 1..n).collect();
    let mut row_ptr = vec![0];
    row_ptr.extend((0..n as u64).scan(0, |p, i| {
        *p += n as u64 - 1 - i;
        Some(*p)
    }));
    csr(SPARRING_I64, n.into(), n.into(), &row_ptr, &cols, &vec![1i64; cols.len()])
}

#[test]
fn every_method_counts_the_same() {
    let cpu = cpu(2, 0);
    for n in [0u32, 1, 2, 3, 7, 70] {
        let g = complete(n);
        for method in [
            SPARRING_TRIANGLES_AUTO,
            SPARRING_TRIANGLES_MASKED,
            SPARRING_TRIANGLES_COMPRESSED,
            SPARRING_TRIANGLES_DIRECT,
        ] {
            let mut count = 99;
            ok(unsafe { sparring_triangles(cpu, g, method as u32, &mut count, null_mut(), 0, null_mut()) });
            let n = u64::from(n);
            assert_eq!(count, n * n.saturating_sub(1) * n.saturating_sub(2) / 6);
        }
        ok(sparring_matrix_free(g));
    }
    ok(sparring_device_free(cpu));
}

#[test]
fn the_method_is_told_as_far_as_it_fits() {
    let (cpu, g) = (cpu(1, 0), complete(4));
    let (mut count, mut length, mut buffer) = (0, 0, [1 as c_char; 200]);
    ok(unsafe { sparring_triangles(cpu, g, 0, &mut count, buffer.as_mut_ptr(), 200, &mut length) });
    let whole = text(buffer.as_ptr());
    assert_eq!((count, whole.len() as u64), (4, length));
    ok(unsafe { sparring_triangles(cpu, g, 0, &mut count, buffer.as_mut_ptr(), 5, &mut length) });
    assert_eq!((text(buffer.as_ptr()), length), (whole[..4].to_owned(), whole.len() as u64));
    let e = unsafe { sparring_triangles(cpu, g, 0, &mut count, null_mut(), 5, null_mut()) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "buffer is NULL");
    ok(sparring_matrix_free(g));
    ok(sparring_device_free(cpu));
}

#[test]
fn wrong_graphs_are_refused() {
    let (cpu, m, g) = (cpu(1, 0), small(), complete(3));
    let mut count = 0;
    let mut run = |cpu: *const _, m: *const _, method| unsafe {
        sparring_triangles(cpu, m, method, &mut count, null_mut(), 0, null_mut())
    };
    assert_eq!(refused(run(cpu, m, 0), SPARRING_NOT_SQUARE), "a: triangles: the matrix must be square, but it is 2×3");
    assert_eq!(refused(run(cpu, g, 4), SPARRING_ARGUMENT), "method: 4 is none of 0, 1, 2, 3");
    refused(run(null(), g, 0), SPARRING_NULL_POINTER);
    assert_eq!(refused(run(cpu, null(), 0), SPARRING_NULL_POINTER), "a is NULL");
    refused(run(g.cast(), g, 0), SPARRING_INVALID_HANDLE);
    let e = unsafe { sparring_triangles(cpu, g, 0, null_mut(), null_mut(), 0, null_mut()) };
    assert_eq!(refused(e, SPARRING_NULL_POINTER), "count is NULL");
    for m in [m, g] {
        ok(sparring_matrix_free(m));
    }
    ok(sparring_device_free(cpu));
}

#[test]
fn counts_for_vertices_and_edges() {
    let (cpu, wide) = (cpu(2, 0), small());
    for n in [0u32, 1, 2, 3, 7] {
        let g = complete(n);
        let mut counts = vec![9; n as usize + 1];
        ok(unsafe { sparring_triangles_per_vertex(cpu, g, counts.as_mut_ptr(), counts.len() as u64) });
        let n = u64::from(n);
        let others = n.saturating_sub(1) * n.saturating_sub(2) / 2;
        assert!(counts[..n as usize].iter().all(|&c| c == others) && counts[n as usize] == 9, "{counts:?}");
        let mut edges = null_mut();
        ok(unsafe { sparring_triangles_per_edge(cpu, g, &mut edges) });
        let (mut ty, mut nnz) = (0, 0);
        ok(unsafe { sparring_matrix_type(edges, &mut ty) });
        ok(unsafe { sparring_matrix_nnz(edges, &mut nnz) });
        assert_eq!((ty, nnz), (SPARRING_U64 as u32, n * n.saturating_sub(1)));
        ok(sparring_matrix_free(edges));
        if n > 0 {
            let e = unsafe { sparring_triangles_per_vertex(cpu, g, counts.as_mut_ptr(), n - 1) };
            refused(e, SPARRING_LENGTH);
            let e = unsafe { sparring_triangles_per_vertex(cpu, g, null_mut(), n) };
            assert_eq!(refused(e, SPARRING_NULL_POINTER), "counts is NULL");
        }
        ok(sparring_matrix_free(g));
    }
    let (mut counts, mut edges) = ([0; 2], null_mut());
    let e = unsafe { sparring_triangles_per_vertex(cpu, wide, counts.as_mut_ptr(), 2) };
    assert_eq!(refused(e, SPARRING_NOT_SQUARE), "a: triangles_per_vertex: the matrix must be square, but it is 2×3");
    refused(unsafe { sparring_triangles_per_edge(cpu, wide, &mut edges) }, SPARRING_NOT_SQUARE);
    assert!(edges.is_null());
    refused(unsafe { sparring_triangles_per_edge(cpu, wide, null_mut()) }, SPARRING_NULL_POINTER);
    ok(sparring_matrix_free(wide));
    ok(sparring_device_free(cpu));
}

//! Graphs through the C API.

use super::*;
use crate::graph::SparringGraphKind::*;
use crate::graph::*;
use crate::graph_structure::*;

/// 0 → 1 → 2 → 0, 2 → 3 of weights 1, 2, 4 and 8.
fn loops(ty: SparringType) -> *mut SparringMatrix {
    let (ptr, cols) = ([0, 1, 2, 4, 4], [1, 2, 0, 3]);
    match ty {
        SPARRING_F64 => csr(ty, 4, 4, &ptr, &cols, &[1.0f64, 2.0, 4.0, 8.0]),
        _ => csr(SPARRING_I32, 4, 4, &ptr, &cols, &[1i32, 2, 4, 8]),
    }
}

fn graph(
    cpu: *const SparringDevice,
    a: *const SparringMatrix,
    kind: SparringGraphKind,
    weighted: u32,
) -> *mut SparringGraph {
    let mut g = null_mut();
    ok(unsafe { sparring_graph_new(cpu, a, kind as u32, weighted, &mut g) });
    g
}

#[test]
fn a_graph_answers_every_question() {
    let cpu = cpu(2, 0);
    for ty in [SPARRING_F64, SPARRING_I32] {
        let a = loops(ty);
        let (g, both) = (graph(cpu, a, SPARRING_GRAPH_AUTO, 1), graph(cpu, a, SPARRING_GRAPH_UNDIRECTED, 1));
        ok(sparring_matrix_free(a));
        let mut info = SparringGraphInfo { vertices: 0, edges: 0, self_loops: 9, kind: 0, weighted: 0 };
        ok(unsafe { sparring_graph_info(g, &mut info) });
        assert_eq!((info.vertices, info.edges, info.self_loops, info.kind, info.weighted), (4, 4, 0, 1, 1));
        ok(unsafe { sparring_graph_info(both, &mut info) });
        assert_eq!((info.edges, info.kind), (4, 2));
        ok(sparring_graph_prepare(cpu, g));
        let (mut x, mut y, mut d, mut e) = ([7u32; 4], [7u32; 4], [0.0; 4], [0.0; 4]);
        ok(unsafe { sparring_graph_bfs(cpu, g, 1, x.as_mut_ptr(), null_mut(), 4) });
        assert_eq!(x, [2, 0, 1, 2]);
        ok(unsafe { sparring_graph_bfs(cpu, g, 3, null_mut(), y.as_mut_ptr(), 4) });
        assert_eq!(y, [u32::MAX, u32::MAX, u32::MAX, 3]);
        ok(unsafe { sparring_graph_sssp(cpu, g, 0, 0, d.as_mut_ptr(), null_mut(), 4) });
        assert_eq!(d, [0.0, 1.0, 3.0, 11.0]);
        ok(unsafe { sparring_graph_sssp(cpu, g, 0, 1, d.as_mut_ptr(), y.as_mut_ptr(), 4) });
        assert_eq!((d, y), ([0.0, 1.0, 3.0, 11.0], [0, 0, 1, 2]));
        ok(unsafe { sparring_graph_components(cpu, g, 0, x.as_mut_ptr(), 4) });
        assert_eq!(x, [0; 4]);
        ok(unsafe { sparring_graph_components(cpu, g, 1, x.as_mut_ptr(), 4) });
        assert_eq!(x, [0, 0, 0, 3]);
        let (mut steps, mut change) = (0, 9.0);
        ok(unsafe { sparring_graph_pagerank(cpu, g, null(), d.as_mut_ptr(), 4, &mut steps, &mut change) });
        assert!((d.iter().sum::<f64>() - 1.0).abs() < 1e-12 && steps > 0 && change < 1e-6, "{d:?} {steps} {change}");
        let to = [0.0, 0.0, 0.0, 1.0];
        let mut options = SparringPageRankOptions {
            damping: 0.5,
            tolerance: 1e-9,
            max_iterations: 200,
            drop_dangling: 0,
            personalization: to.as_ptr(),
        };
        ok(unsafe { sparring_graph_pagerank(cpu, g, &options, d.as_mut_ptr(), 4, null_mut(), null_mut()) });
        assert!((d[3] - 1.0).abs() < 1e-9, "{d:?}");
        options.damping = 2.0;
        let bad = unsafe { sparring_graph_pagerank(cpu, g, &options, d.as_mut_ptr(), 4, null_mut(), null_mut()) };
        assert!(refused(bad, SPARRING_ARGUMENT).contains("damping: 2"));
        ok(unsafe { sparring_graph_betweenness(cpu, g, 0, 0, 0, d.as_mut_ptr(), 4) });
        assert_eq!(d, [1.0, 2.0, 3.0, 0.0]);
        ok(unsafe { sparring_graph_betweenness(cpu, g, 4, 3, 1, e.as_mut_ptr(), 4) });
        assert_eq!(e, d.map(|x| x / 6.0));
        ok(unsafe { sparring_graph_dependencies(cpu, g, [0, 1].as_ptr(), 2, d.as_mut_ptr(), 4) });
        assert_eq!(d, [0.0, 2.0, 3.0, 0.0]);
        ok(unsafe { sparring_graph_closeness(cpu, g, 1, d.as_mut_ptr(), 4) });
        assert_eq!(d[3], 1.0 / 8.0 + 1.0 / 10.0 + 1.0 / 11.0);
        ok(unsafe { sparring_graph_closeness(cpu, g, 0, d.as_mut_ptr(), 4) });
        assert_eq!(d[3], 3.0 / 29.0);
        ok(unsafe { sparring_graph_eigenvector(cpu, both, 1e-9, 1000, d.as_mut_ptr(), 4) });
        assert!((d.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12, "{d:?}");
        ok(unsafe { sparring_graph_katz(cpu, g, 0.01, 1.0, 1e-9, 1000, d.as_mut_ptr(), 4) });
        assert!(d[3] > d[0], "{d:?}");
        ok(unsafe { sparring_graph_hits(cpu, g, 1e-9, 1000, d.as_mut_ptr(), e.as_mut_ptr(), 4) });
        assert!(
            (d.iter().sum::<f64>() - 1.0).abs() < 1e-9 && (e.iter().sum::<f64>() - 1.0).abs() < 1e-9,
            "{d:?} {e:?}"
        );
        ok(unsafe { sparring_graph_core_numbers(cpu, both, x.as_mut_ptr(), 4) });
        assert_eq!(x, [2, 2, 2, 1]);
        let (mut average, mut whole) = (0.0, 0.0);
        ok(unsafe { sparring_graph_clustering(cpu, both, d.as_mut_ptr(), 4, &mut average, &mut whole) });
        assert_eq!((d, whole), ([1.0, 1.0, 1.0 / 3.0, 0.0], 0.6));
        assert!((average - 7.0 / 12.0).abs() < 1e-15);
        let mut count = 0u64;
        ok(unsafe { sparring_graph_independent_set(cpu, both, x.as_mut_ptr(), 4, &mut count) });
        assert!((1..=2).contains(&count), "{count}");
        let mut colors = 0;
        ok(unsafe { sparring_graph_color(cpu, both, x.as_mut_ptr(), 4, &mut colors) });
        assert_eq!(colors, 3);
        ok(unsafe { sparring_graph_label_propagation(cpu, both, 10, 0, x.as_mut_ptr(), 4, null_mut()) });
        ok(unsafe { sparring_graph_label_propagation(cpu, both, u64::MAX, 1, x.as_mut_ptr(), 4, null_mut()) });
        let (mut from, mut to, mut weight) = ([0u32; 4], [0u32; 4], 0.0);
        ok(unsafe {
            sparring_graph_spanning_forest(cpu, both, from.as_mut_ptr(), to.as_mut_ptr(), 4, &mut count, &mut weight)
        });
        assert_eq!((count, weight), (3, 11.0));
        ok(unsafe { sparring_graph_matching(cpu, g, x.as_mut_ptr(), 4, &mut count) });
        assert_eq!((count, x[3]), (3, u32::MAX));
        let mut modularity = 9.0;
        for rounds in [0, 2] {
            ok(unsafe {
                sparring_graph_communities(cpu, both, 1.0, rounds, 7, x.as_mut_ptr(), 4, &mut count, &mut modularity)
            });
            assert!((1..=2).contains(&count) && (-0.5..1.0).contains(&modularity), "{count} {modularity}");
        }
        ok(unsafe { sparring_graph_truss(cpu, both, 3, null_mut(), null_mut(), 0, &mut count) });
        assert_eq!(count, 3);
        ok(unsafe { sparring_graph_truss(cpu, both, 3, from.as_mut_ptr(), to.as_mut_ptr(), 4, &mut count) });
        assert_eq!((&from[..3], &to[..3]), (&[0, 0, 1][..], &[1, 2, 2][..]));
        let cycle = unsafe { sparring_graph_topological_order(cpu, g, x.as_mut_ptr(), 4) };
        assert!(refused(cycle, SPARRING_ARGUMENT).contains("cycle"));
        for g in [g, both] {
            ok(sparring_graph_free(g));
        }
    }
    ok(sparring_device_free(cpu));
}

#[test]
fn what_is_no_graph_or_has_no_room_is_refused() {
    let cpu = cpu(1, 0);
    let (a, mut g) = (loops(SPARRING_F64), null_mut());
    let e = unsafe { sparring_graph_new(cpu, a, 5, 0, &mut g) };
    assert!(refused(e, SPARRING_ARGUMENT).contains("kind: 5"));
    assert!(g.is_null());
    let wide = csr(SPARRING_F64, 1, 2, &[0, 1], &[1], &[1.0f64]);
    let e = unsafe { sparring_graph_new(cpu, wide, 0, 0, &mut g) };
    assert!(refused(e, SPARRING_NOT_SQUARE).contains("1×2"));
    let two = csr(SPARRING_F64, 2, 2, &[0, 1, 2], &[1, 0], &[1.0f64, 2.0]);
    let e = unsafe { sparring_graph_new(cpu, two, 2, 1, &mut g) };
    assert!(refused(e, SPARRING_ARGUMENT).contains("(0, 1) has two: 1 and 2"));
    let large = csr(SPARRING_I64, 1, 1, &[0, 1], &[0], &[(1i64 << 53) + 1]);
    let e = unsafe { sparring_graph_new(cpu, large, 1, 1, &mut g) };
    assert!(refused(e, SPARRING_ARGUMENT).contains("has no double"));
    let g = graph(cpu, a, SPARRING_GRAPH_DIRECTED, 0);
    let mut x = [0u32; 4];
    let e = unsafe { sparring_graph_bfs(cpu, g, 0, x.as_mut_ptr(), null_mut(), 3) };
    assert!(refused(e, SPARRING_LENGTH).contains("levels: length is 3, expected 4"));
    let e = unsafe { sparring_graph_bfs(cpu, g, 4, x.as_mut_ptr(), null_mut(), 4) };
    assert!(refused(e, SPARRING_ARGUMENT).contains("vertex 4 of a graph of 4"));
    let e = unsafe { sparring_graph_components(null(), g, 0, x.as_mut_ptr(), 4) };
    assert!(refused(e, SPARRING_NULL_POINTER).contains("device"));
    for m in [a, wide, two, large] {
        ok(sparring_matrix_free(m));
    }
    ok(sparring_graph_free(g));
    ok(sparring_graph_free(null_mut()));
    assert!(refused(sparring_graph_free(g), SPARRING_INVALID_HANDLE).contains("SparringGraph"));
    ok(sparring_device_free(cpu));
}

#[test]
fn tables_of_sources_pairs_and_edges_are_written() {
    let cpu = cpu(2, 0);
    let a = loops(SPARRING_F64);
    let (g, both) = (graph(cpu, a, SPARRING_GRAPH_AUTO, 1), graph(cpu, a, SPARRING_GRAPH_UNDIRECTED, 1));
    const FAR: u32 = u32::MAX;
    let mut levels = [7u32; 12];
    ok(unsafe { sparring_graph_multi_source_bfs(cpu, g, [0, 3, 2].as_ptr(), 3, levels.as_mut_ptr(), 12) });
    assert_eq!(levels, [0, 1, 2, 3, FAR, FAR, FAR, 0, 1, 2, 0, 1]);
    ok(unsafe { sparring_graph_multi_source_bfs(cpu, g, null(), 0, null_mut(), 0) });
    let e = unsafe { sparring_graph_multi_source_bfs(cpu, g, [0, 3, 2].as_ptr(), 3, levels.as_mut_ptr(), 11) };
    assert!(refused(e, SPARRING_LENGTH).contains("levels: length is 11, expected 12"));
    let e = unsafe { sparring_graph_multi_source_bfs(cpu, g, [0, 4].as_ptr(), 2, levels.as_mut_ptr(), 12) };
    assert!(refused(e, SPARRING_ARGUMENT).contains("sources: vertex 4 of a graph of 4"));

    let (mut d, inf) = ([9.0; 16], f64::INFINITY);
    ok(unsafe { sparring_graph_all_pairs(cpu, g, d.as_mut_ptr(), 16) });
    assert_eq!(d, [0.0, 1.0, 3.0, 11.0, 6.0, 0.0, 2.0, 10.0, 4.0, 5.0, 0.0, 8.0, inf, inf, inf, 0.0]);
    let e = unsafe { sparring_graph_all_pairs(cpu, g, d.as_mut_ptr(), 15) };
    assert!(refused(e, SPARRING_LENGTH).contains("distances: length is 15, expected 16"));

    let (mut from, mut to, mut numbers, mut count) = ([9u32; 4], [9u32; 4], [9u32; 4], 0);
    ok(unsafe { sparring_graph_truss_numbers(cpu, g, null_mut(), null_mut(), null_mut(), 0, &mut count) });
    assert_eq!(count, 4);
    ok(unsafe {
        sparring_graph_truss_numbers(cpu, both, from.as_mut_ptr(), to.as_mut_ptr(), numbers.as_mut_ptr(), 4, null_mut())
    });
    assert_eq!((from, to, numbers), ([0, 0, 1, 2], [1, 2, 2, 3], [3, 3, 3, 2]));
    let e =
        unsafe { sparring_graph_truss_numbers(cpu, both, from.as_mut_ptr(), null_mut(), null_mut(), 3, null_mut()) };
    assert!(refused(e, SPARRING_LENGTH).contains("sources: length is 3, expected 4"));
    for handle in [g, both] {
        ok(sparring_graph_free(handle));
    }
    ok(sparring_matrix_free(a));
    ok(sparring_device_free(cpu));
}

#[test]
fn communities_are_judged_and_graphs_given_back() {
    let cpu = cpu(1, 0);
    let a = loops(SPARRING_I32);
    let (both, plain) = (graph(cpu, a, SPARRING_GRAPH_UNDIRECTED, 1), graph(cpu, a, SPARRING_GRAPH_DIRECTED, 0));
    let (mut labels, mut found, mut again) = ([7u32; 4], 9.0, 9.0);
    ok(unsafe { sparring_graph_modularity(cpu, both, [0, 0, 0, 1].as_ptr(), 4, 1.0, &mut found) });
    assert!((found + 128.0 / 900.0).abs() < 1e-12, "{found}");
    ok(unsafe { sparring_graph_communities(cpu, both, 1.0, 2, 0, labels.as_mut_ptr(), 4, null_mut(), &mut found) });
    ok(unsafe { sparring_graph_modularity(cpu, both, labels.as_ptr(), 4, 1.0, &mut again) });
    assert!((found - again).abs() < 1e-12, "{found} {again}");
    let e = unsafe { sparring_graph_modularity(cpu, both, labels.as_ptr(), 3, 1.0, &mut again) };
    assert!(refused(e, SPARRING_LENGTH).contains("communities: length is 3, expected 4"));
    let e = unsafe { sparring_graph_modularity(cpu, both, [0, 9, 0, 0].as_ptr(), 4, 1.0, &mut again) };
    assert!(refused(e, SPARRING_ARGUMENT).contains("communities: vertex 1 has label 9, which is not below 4"));
    let e = unsafe { sparring_graph_modularity(cpu, both, labels.as_ptr(), 4, f64::NAN, &mut again) };
    assert!(refused(e, SPARRING_ARGUMENT).contains("resolution"));

    let (mut m, mut ptr, mut cols, mut values) = (null_mut(), [9u64; 5], [9u32; 8], [9.0f64; 8]);
    ok(unsafe { sparring_graph_matrix(both, &mut m) });
    ok(unsafe { sparring_matrix_copy(m, ptr.as_mut_ptr(), 5, cols.as_mut_ptr(), values.as_mut_ptr().cast(), 8) });
    assert_eq!((ptr, cols), ([0, 2, 4, 7, 8], [1, 2, 0, 2, 0, 1, 3, 2]));
    assert_eq!(values, [1.0, 4.0, 1.0, 2.0, 4.0, 2.0, 8.0, 8.0]);
    ok(sparring_matrix_free(m));
    ok(unsafe { sparring_graph_matrix(plain, &mut m) });
    let (mut ty, mut nnz) = (0, 0);
    ok(unsafe { sparring_matrix_type(m, &mut ty) });
    ok(unsafe { sparring_matrix_nnz(m, &mut nnz) });
    assert_eq!((ty, nnz), (SPARRING_BOOL as u32, 4));
    for m in [m, a] {
        ok(sparring_matrix_free(m));
    }
    for g in [both, plain] {
        ok(sparring_graph_free(g));
    }
    ok(sparring_device_free(cpu));
}

#[test]
fn rows_are_matched_with_columns_of_another_number() {
    let cpu = cpu(1, 0);
    // Row 0 takes columns 0 and 1, row 1 and row 2 column 0 alone.
    let a = csr(SPARRING_F64, 3, 2, &[0, 2, 3, 4], &[0, 1, 0, 0], &[1.0f64; 4]);
    let (mut rows, mut columns, mut count) = ([7u32; 3], [7u32; 2], 0);
    ok(unsafe { sparring_matching(cpu, a, rows.as_mut_ptr(), 3, columns.as_mut_ptr(), 2, &mut count) });
    assert_eq!((rows, columns, count), ([1, 0, u32::MAX], [1, 0], 2));
    ok(unsafe { sparring_matching(cpu, a, null_mut(), 0, null_mut(), 0, &mut count) });
    let e = unsafe { sparring_matching(cpu, a, rows.as_mut_ptr(), 3, columns.as_mut_ptr(), 1, null_mut()) };
    assert!(refused(e, SPARRING_LENGTH).contains("columns: length is 1, expected 2"));
    ok(sparring_matrix_free(a));
    ok(sparring_device_free(cpu));
}

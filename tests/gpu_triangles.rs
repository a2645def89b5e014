//! Triangle counts on a GPU, compared with known counts, the CPU and the textbook.

mod common;

use common::arbitrary::{AnyGraph, AnyPattern, Rng};
use common::gpu::cuda;
use common::reference;
use quickcheck::{Arbitrary, Gen};
use sparring::graph::{TriangleMethod, triangles, triangles_per_edge, triangles_per_vertex};
use sparring::{Cpu, Csr, Cuda, Error, Pattern, io};
use sparring_generate as generate;

fn count(cuda: &Cuda, a: &Csr<f64>) -> u64 {
    let found = triangles(cuda, a, TriangleMethod::Auto).unwrap_or_else(|e| panic!("{e}"));
    assert!(!found.method.is_empty());
    found.count
}

/// The matrix with these rows; `shuffle` permutes their columns, and 0 leaves them sorted.
fn matrix(n: usize, rows: Vec<Vec<u32>>, shuffle: u64) -> Csr<f64> {
    AnyPattern { ncols: n, rows, shuffle }.matrix(0)
}

/// Rows of the directed edges, without duplicates.
fn rows(n: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Vec<Vec<u32>> {
    let mut rows = vec![vec![]; n];
    edges.into_iter().for_each(|(i, j)| rows[i as usize].push(j));
    for row in &mut rows {
        row.sort_unstable();
        row.dedup();
    }
    rows
}

#[test]
#[ignore = "needs a GPU"]
fn known_counts_of_the_files_at_hand() {
    let cuda = cuda();
    let facts: Vec<serde_json::Value> = serde_json::from_str(include_str!("../data/index.json")).expect("index.json");
    let files: [(&str, &[u8]); 6] = [
        ("karate.mtx.gz", include_bytes!("../data/karate.mtx.gz")),
        ("jagmesh7.mtx.gz", include_bytes!("../data/jagmesh7.mtx.gz")),
        ("ca-HepPh.mtx.gz", include_bytes!("../data/ca-HepPh.mtx.gz")),
        ("wiki-Vote.mtx.gz", include_bytes!("../data/wiki-Vote.mtx.gz")),
        ("email-Enron.mtx.gz", include_bytes!("../data/email-Enron.mtx.gz")),
        ("cnr-2000.mtx.gz", include_bytes!("../data/cnr-2000.mtx.gz")),
    ];
    for (name, bytes) in files {
        let fact = facts.iter().find(|f| f["file"] == name).unwrap_or_else(|| panic!("{name} is not in index.json"));
        let want = fact["facts"]["tri"].as_u64().expect("a count");
        let a: Csr<f64> = io::parse_matrix_market(bytes, name).and_then(|m| m.csr()).expect("a matrix");
        assert_eq!(count(&cuda, &a), want, "{name}");
        // Already on the device, the whole matrix or its pattern; repeated, because lists are filled in a different
        // order each time.
        let there = cuda.upload(&a).expect("device memory");
        for _ in 0..3 {
            let found = triangles(&cuda, &there, TriangleMethod::Compressed).expect("a count");
            assert_eq!(found.count, want, "{name}, a matrix on the device");
        }
        let pattern: &sparring::gpu::DevicePattern = there.pattern();
        assert_eq!(triangles(&cuda, pattern, TriangleMethod::Auto).expect("a count").count, want, "{name}, a pattern");
        let (found, stages) = sparring::gpu::testing::count_triangles_timed(&cuda, pattern).expect("a count");
        assert_eq!(found.count, want, "{name}, with times");
        assert!(stages.len() >= 9 && stages.iter().all(|s| s.ms >= 0.0), "{stages:?}");
    }
}

/// Directed, symmetric, with self-loops, with empty rows, shuffled.
#[test]
#[ignore = "needs a GPU"]
fn random_graphs_have_the_textbooks_count() {
    let cuda = cuda();
    let mut g = Gen::new(50);
    for seed in 0..300 {
        let graph = AnyGraph::arbitrary(&mut g);
        let a: Csr<f64> = graph.0.matrix(seed);
        assert_eq!(count(&cuda, &a), reference::triangles(a.pattern()), "{graph:?}");
    }
}

/// Larger, with hubs, edges stored once or in both directions; compared with the CPU.
#[test]
#[ignore = "needs a GPU"]
fn random_graphs_have_the_cpus_count() {
    let cuda = cuda();
    let mut rng = Rng(11);
    for case in 0..24 {
        let n = rng.pick(&[300usize, 1000, 4096, 20_000]);
        let mut edges = vec![];
        for _ in 0..rng.pick(&[2_000, 30_000, 120_000]) {
            // The minimum of several draws makes low indices hubs.
            let near = |rng: &mut Rng| (0..1 + case % 4).map(|_| rng.below(n)).min().unwrap_or(0) as u32;
            let (i, j) = (near(&mut rng), near(&mut rng));
            edges.push((i, j));
            match case % 3 {
                0 => edges.push((j, i)),
                1 if rng.below(2) == 0 => edges.push((j, i)),
                _ => {}
            }
        }
        for shuffle in [0, rng.next() | 1] {
            let a = matrix(n, rows(n, edges.iter().copied()), shuffle);
            let want = triangles(&Cpu::new(), &a, TriangleMethod::Auto).expect("memory").count;
            assert_eq!(count(&cuda, &a), want, "case {case}: n = {n}, {} entries, shuffle {shuffle}", a.nnz());
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn generated_graphs_have_the_cpus_count() {
    let cuda = cuda();
    for name in ["tc_rmat10", "tc_rmat16", "er18d8", "stencil27_60"] {
        let a = generate::matrix(name).expect("a generated graph");
        let want = triangles(&Cpu::new(), &a, TriangleMethod::Auto).expect("memory").count;
        assert_eq!(count(&cuda, &a), want, "{name}");
    }
}

/// n(n−1)(n−2)/6, whichever half is stored, with and without the diagonal; the algorithm changes at lists of 31, 32 and
/// 33.
#[test]
#[ignore = "needs a GPU"]
fn complete_graphs() {
    let cuda = cuda();
    for n in [1u32, 2, 3, 4, 31, 32, 33, 34, 35, 64, 65, 300] {
        let want = u64::from(n) * u64::from(n - 1) * u64::from(n.saturating_sub(2)) / 6;
        let keeps: [fn(u32, u32) -> bool; 5] =
            [|i, j| i > j, |i, j| i < j, |i, j| i != j, |_, _| true, |i, j| i > j || (i + j) % 3 == 0];
        for keep in keeps {
            for shuffle in [0, 5] {
                let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| keep(i, j));
                let a = matrix(n as usize, rows(n as usize, all), shuffle);
                assert_eq!(count(&cuda, &a), want, "n = {n}, shuffle {shuffle}");
            }
        }
    }
}

/// Too many vertices for a bitmap, so they are hashed; lists longer than one hash table.
#[test]
#[ignore = "needs a GPU"]
fn many_vertices_and_long_lists() {
    let cuda = cuda();
    for (n, k, apart) in
        [(600_000usize, 300u32, 1999u32), (5_000_000, 300, 16_384), (2_000_000, 1500, 1), (1500, 1500, 1)]
    {
        let edges = (0..k).flat_map(|i| (0..i).map(move |j| (i * apart, j * apart)));
        let a = matrix(n, rows(n, edges), 0);
        let k = u64::from(k);
        assert_eq!(count(&cuda, &a), k * (k - 1) * (k - 2) / 6, "{k} of {n} vertices");
    }
    let mut rng = Rng(7);
    let n = 700_000;
    let hubs: Vec<u32> = (0..400).map(|_| rng.below(n) as u32).collect();
    let edges: Vec<_> = (0..150_000)
        .map(|_| (rng.pick(&hubs), if rng.below(3) == 0 { rng.below(n) as u32 } else { rng.pick(&hubs) }))
        .collect();
    for shuffle in [0, 9] {
        let a = matrix(n, rows(n, edges.iter().copied()), shuffle);
        let want = triangles(&Cpu::new(), &a, TriangleMethod::Auto).expect("memory").count;
        assert!(want > 0);
        assert_eq!(count(&cuda, &a), want, "hubs, shuffle {shuffle}");
    }
}

/// A star has no triangles although its centre is adjacent to all; with a rim, it is a wheel.
#[test]
#[ignore = "needs a GPU"]
fn hubs() {
    let cuda = cuda();
    let n = 100_000u32;
    let rim = |i: u32| if i + 1 < n { i + 1 } else { 1 };
    let star = || (1..n).map(|i| (0, i));
    let wheel = || star().chain((1..n).map(|i| (i, rim(i))));
    for shuffle in [0, 3] {
        let made = |edges: &mut dyn Iterator<Item = (u32, u32)>| matrix(n as usize, rows(n as usize, edges), shuffle);
        assert_eq!(count(&cuda, &made(&mut star())), 0);
        assert_eq!(count(&cuda, &made(&mut star().map(|(i, j)| (j, i)))), 0);
        assert_eq!(count(&cuda, &made(&mut wheel())), u64::from(n) - 1);
        assert_eq!(count(&cuda, &made(&mut wheel().chain(wheel().map(|(i, j)| (j, i))))), u64::from(n) - 1);
    }
    // Books: two adjacent hubs, joined to all other vertices, so that all intersect with the same list.
    let book = (2..n).flat_map(|i| [(0, i), (i, 1)]).chain([(1, 0)]);
    assert_eq!(count(&cuda, &matrix(n as usize, rows(n as usize, book), 0)), u64::from(n) - 2);
}

/// 300 vertices adjacent to one another and to all of 40 000 others: many partners of one centre, over many tiles.
#[test]
#[ignore = "needs a GPU"]
fn a_dense_core() {
    let cuda = cuda();
    let (core, n) = (300u32, 40_300u32);
    let edges = (0..core).flat_map(|i| (0..i).map(move |j| (i, j)));
    let spokes = (core..n).flat_map(|v| (0..40).map(move |t| (v, (v * 7 + t * 7) % core)));
    let a = matrix(n as usize, rows(n as usize, edges.chain(spokes)), 0);
    let want = triangles(&Cpu::new(), &a, TriangleMethod::Auto).expect("memory").count;
    assert_eq!(count(&cuda, &a), want);
}

#[test]
#[ignore = "needs a GPU"]
fn no_entries_no_triangles() {
    let cuda = cuda();
    for n in [0, 1, 5, 100_000] {
        assert_eq!(count(&cuda, &Csr::empty(n, n).expect("empty")), 0);
    }
    // Only the diagonal; a path; a single edge in the last of many rows.
    assert_eq!(count(&cuda, &matrix(40, (0..40).map(|i| vec![i]).collect(), 0)), 0);
    assert_eq!(count(&cuda, &matrix(40, (0..40).map(|i| vec![(i + 1) % 40]).collect(), 0)), 0);
    let mut last = vec![vec![]; 70_000];
    last[69_999] = vec![3, 69_998];
    last[3] = vec![69_998];
    assert_eq!(count(&cuda, &matrix(70_000, last, 0)), 1);
}

/// 64-bit columns on the host.
#[test]
#[ignore = "needs a GPU"]
fn wide_columns() {
    let cuda = cuda();
    let p = Pattern::<u64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3]).expect("a pattern");
    let a = Csr::with_pattern(std::sync::Arc::new(p), vec![0.0, f64::NAN, -1.0, 1.0]).expect("a");
    assert_eq!(triangles(&cuda, &a, TriangleMethod::Auto).expect("a count").count, 1);
}

#[test]
#[ignore = "needs a GPU"]
fn what_is_refused() {
    let cuda = cuda();
    let oblong = Csr::<f64>::empty(3, 4).expect("empty");
    for method in [TriangleMethod::Auto, TriangleMethod::Masked, TriangleMethod::Compressed] {
        let found = triangles(&cuda, &oblong, method);
        assert!(matches!(found, Err(Error::NotSquare { nrows: 3, ncols: 4, .. })), "{found:?}");
    }
    let there = cuda.upload(&oblong).expect("device memory");
    let found = triangles(&cuda, &there, TriangleMethod::Auto);
    assert!(matches!(found, Err(Error::NotSquare { nrows: 3, ncols: 4, .. })), "{found:?}");
    let none = Csr::<f64>::empty(3, 3).expect("empty");
    for found in [triangles_per_vertex(&cuda, &none).map(drop), triangles_per_edge(&cuda, &none).map(drop)] {
        assert!(matches!(&found, Err(Error::Unsupported { what, .. }) if what.ends_with("on a GPU")), "{found:?}");
    }
    let found = triangles(&cuda, &none, TriangleMethod::Masked);
    let Err(Error::Unsupported { what, why }) = found else { panic!("{found:?}") };
    assert!(what.contains("Masked") && why.contains("Auto"), "{what}; {why}");
}

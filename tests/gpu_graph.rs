//! Graph algorithms on a GPU compared with those of the CPU, which the textbook tests check: the same bits, or, where
//! doubles are added, the same numbers within rounding and the same bits in every run.

#[path = "common/gpu.rs"]
mod gpu;
#[path = "graph/common.rs"]
mod graphs;

use gpu::cuda;
use graphs::{Sample, large, samples};
use sparring::graph::{
    Graph, GraphKind, PageRankOptions, bfs, bfs_tree, connected_components, dependencies, label_propagation, pagerank,
    sampled_betweenness, sssp, sssp_tree,
};
use sparring::runtime::Machine;
use sparring::{Cpu, Csr, Cuda, Error};

fn unweighted(sample: &Sample) -> Sample {
    Sample { weights: None, ..sample.clone() }
}

/// A few vertices, including the first and the last.
fn sources(n: usize) -> Vec<usize> {
    let mut found = vec![0, n / 3, n / 2, n - 1];
    found.dedup();
    found
}

fn grid(width: usize, height: usize) -> Sample {
    let at = move |x, y| y * width + x;
    let rows = (0..height).flat_map(move |y| (1..width).map(move |x| (at(x - 1, y), at(x, y))));
    let columns = (1..height).flat_map(move |y| (0..width).map(move |x| (at(x, y - 1), at(x, y))));
    Sample::new("a grid", width * height, GraphKind::Undirected, &rows.chain(columns).collect::<Vec<_>>())
}

fn close(name: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    let largest = expected.iter().fold(1e-300, |a: f64, b| a.max(b.abs()));
    for (v, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= 1e-12 * largest.max(y.abs()), "{name}: vertex {v}: {x}, not {y}");
    }
}

/// Every algorithm with a bitwise unique result.
fn compare(cuda: &Cuda, cpu: &Cpu, name: &str, g: &Graph) {
    let n = g.vertices();
    g.prepare(cuda).unwrap();
    assert_eq!(connected_components(cuda, g).unwrap(), connected_components(cpu, g).unwrap(), "{name}: components");
    for iterations in [1, 2, 3, 10] {
        let expected = label_propagation(cpu, g, iterations).unwrap();
        assert_eq!(label_propagation(cuda, g, iterations).unwrap(), expected, "{name}: {iterations} of labels");
    }
    if n == 0 {
        return;
    }
    for source in sources(n) {
        assert_eq!(bfs(cuda, g, source).unwrap(), bfs(cpu, g, source).unwrap(), "{name}: bfs from {source}");
        assert_eq!(bfs_tree(cuda, g, source).unwrap(), bfs_tree(cpu, g, source).unwrap(), "{name}: tree of {source}");
        assert_eq!(sssp(cuda, g, source).unwrap(), sssp(cpu, g, source).unwrap(), "{name}: sssp from {source}");
        assert_eq!(sssp_tree(cuda, g, source).unwrap(), sssp_tree(cpu, g, source).unwrap(), "{name}: sssp_tree");
    }
    for drop_dangling in [false, true] {
        let personalization = drop_dangling.then(|| (0..n).map(|v| (v % 3) as f64).map(|x| x + 0.5).collect());
        let options = PageRankOptions {
            tolerance: 1e-10,
            max_iterations: 1000,
            personalization,
            drop_dangling,
            ..PageRankOptions::default()
        };
        let (found, expected) = (pagerank(cuda, g, &options).unwrap(), pagerank(cpu, g, &options).unwrap());
        close(&format!("{name}: pagerank"), &found.ranks, &expected.ranks);
        assert_eq!(found, pagerank(cuda, g, &options).unwrap(), "{name}: pagerank again");
        assert!(found.iterations.abs_diff(expected.iterations) <= 1, "{name}: steps of pagerank");
    }
    if !g.is_weighted() {
        let of = sources(n);
        let (found, expected) = (dependencies(cuda, g, &of).unwrap(), dependencies(cpu, g, &of).unwrap());
        close(&format!("{name}: dependencies"), &found, &expected);
        assert_eq!(found, dependencies(cuda, g, &of).unwrap(), "{name}: dependencies again");
        let all: Vec<_> = (0..n.min(600)).collect();
        let (found, expected) = (dependencies(cuda, g, &all).unwrap(), dependencies(cpu, g, &all).unwrap());
        close(&format!("{name}: dependencies on many"), &found, &expected);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn small_graphs_of_every_kind() {
    let (cuda, cpu) = (cuda(), Cpu::new());
    for sample in samples() {
        compare(&cuda, &cpu, &sample.name, &sample.graph(&cpu));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn graphs_with_hubs() {
    let (cuda, cpu) = (cuda(), Cpu::new());
    for kind in [GraphKind::Undirected, GraphKind::Directed] {
        for (scale, degree) in [(10, 4), (14, 16)] {
            let sample = large(scale, degree, kind, 7).weighted(u64::from(scale));
            compare(&cuda, &cpu, &sample.name, &sample.graph(&cpu));
            compare(&cuda, &cpu, &sample.name, &unweighted(&sample).graph(&cpu));
        }
        // Lists with more edges than one work item, in either direction, and a label table in global memory.
        let n = 40_000;
        let star: Vec<_> = (1..n).map(|v| (0, v)).chain((2..n).map(|v| (v, 1))).collect();
        let sample = Sample::new(&format!("two hubs, {kind}"), n, kind, &star);
        compare(&cuda, &cpu, &sample.name, &sample.graph(&cpu));
        let sample = sample.weighted(3);
        compare(&cuda, &cpu, &sample.name, &sample.graph(&cpu));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn long_graphs() {
    let (cuda, cpu) = (cuda(), Cpu::new());
    let path: Vec<_> = (1..3000).map(|v| (v - 1, v)).collect();
    for kind in [GraphKind::Undirected, GraphKind::Directed] {
        let sample = Sample::new(&format!("a path, {kind}"), 3000, kind, &path);
        compare(&cuda, &cpu, &sample.name, &sample.graph(&cpu));
        let sample = sample.weighted(5);
        compare(&cuda, &cpu, &sample.name, &sample.graph(&cpu));
    }
    compare(&cuda, &cpu, "a grid", &grid(120, 90).graph(&cpu));
}

/// From corner to corner of a k×k square there are more than 2¹⁰²⁴ shortest paths for k ≥ 520.
#[test]
#[ignore = "needs a GPU"]
fn numbers_of_paths_beyond_a_double() {
    let (cuda, cpu) = (cuda(), Cpu::new());
    let g = grid(540, 540).graph(&cpu);
    let corner_and_centre = [0, 540 * 270 + 270];
    let found = dependencies(&cuda, &g, &corner_and_centre).unwrap();
    close("a large grid", &found, &dependencies(&cpu, &g, &corner_and_centre).unwrap());
    assert!(found.iter().all(|x| x.is_finite()));
}

#[test]
#[ignore = "needs a GPU"]
fn weights_of_every_size() {
    let (cuda, cpu) = (cuda(), Cpu::new());
    let mut sample = large(12, 8, GraphKind::Directed, 11);
    let mut rng = graphs::Rng(5);
    for exponents in [600, 60, 6] {
        let weight = |_| (rng.below(1000) as f64) * 2f64.powi(rng.below(exponents) as i32 - exponents as i32 / 2);
        sample.weights = Some(sample.edges.iter().map(weight).collect());
        let g = sample.graph(&cpu);
        for source in sources(g.vertices()) {
            assert_eq!(sssp(&cuda, &g, source).unwrap(), sssp(&cpu, &g, source).unwrap(), "2^±{}", exponents / 2);
        }
    }
    for special in [0.0, f64::INFINITY, 1e308, 5e-324] {
        sample.weights = Some((0..sample.edges.len()).map(|e| if e % 3 == 0 { special } else { 1.5 }).collect());
        let g = sample.graph(&cpu);
        assert_eq!(sssp(&cuda, &g, 0).unwrap(), sssp(&cpu, &g, 0).unwrap(), "{special}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn what_is_refused() {
    let (cuda, cpu) = (cuda(), Cpu::new());
    let sample = large(8, 4, GraphKind::Directed, 1).weighted(1);
    let g = sample.graph(&cpu);
    let n = g.vertices();
    assert!(matches!(bfs(&cuda, &g, n), Err(Error::Argument { name: "source", .. })));
    assert!(matches!(dependencies(&cuda, &g, &[n]), Err(Error::Argument { name: "sources", .. })));
    let none = PageRankOptions { max_iterations: 1, tolerance: 1e-30, ..PageRankOptions::default() };
    assert!(matches!(pagerank(&cuda, &g, &none), Err(Error::Argument { name: "max_iterations", .. })));
    let positive = Csr::<f64>::new(2, 2, vec![0, 1, 1], vec![1], vec![2.0]).unwrap();
    let positive = Graph::weighted(&cpu, &positive, GraphKind::Directed).unwrap();
    assert!(matches!(dependencies(&cuda, &positive, &[0]), Err(Error::Unsupported { .. })));
    let little = Cuda::new(0).unwrap().memory_budget(1 << 10);
    assert!(matches!(bfs(&little, &g, 0), Err(Error::Budget { .. } | Error::DeviceMemory { .. })));
}

/// A graph caches its copy on one device; the run-time engine gives the same results.
#[test]
#[ignore = "needs a GPU"]
fn machines_and_devices() {
    let cpu = Cpu::new();
    let g = large(10, 8, GraphKind::Undirected, 2).graph(&cpu);
    g.prepare(&cpu).unwrap();
    let expected = bfs(&cpu, &g, 1).unwrap();
    for _ in 0..2 {
        for machine in [Machine::cuda(0, None).unwrap(), Machine::from(cuda())] {
            g.prepare(&machine).unwrap();
            assert_eq!(bfs(&machine, &g, 1).unwrap(), expected);
        }
    }
    assert_eq!(sampled_betweenness(&cuda(), &g, 5, 1, true).unwrap().len(), g.vertices());
}

//! Distributed graph algorithms compared with one CPU.

use sparring::algebra::{Array, Type};
use sparring::graph::{Graph, GraphKind, PageRankOptions};
use sparring::par::Threads;
use sparring::runtime::{BinaryOp, Machine, Matrix, UnaryOp};
use sparring::{Cpu, Result, graph as of_cpu};
use sparring_cluster::{Cluster, graph};

use crate::products::{Draw, same};

pub(crate) fn all(cluster: &Cluster) {
    let (cpu, many) = (Cpu::with_threads(1).unwrap(), Machine::from(cluster.clone()));
    for (n, edges) in [(1, 0), (2, 1), (10, 12), (11, 20), (17, 40), (23, 60), (100, 150), (500, 4000), (64, 1000)] {
        let a = Draw::new(n as u64 + 5).matrix((n, n), edges);
        let g = a.graph(&cpu, Some(GraphKind::Directed), false).unwrap();
        one(&cpu, &many, &a, &g, n / 3);
    }
    graphs(&cpu, &many);
    paths(&cpu, &many);
    let threads = Cluster::new(Cpu::with_threads(3).unwrap()).unwrap();
    larger(&cpu, &many, &Machine::from(threads));
    refused(&many);
    let a = Draw::new(9).matrix((3, 4), 3);
    assert!(graph::bfs_levels(&many, &a, 0).is_err());
    let a = Draw::new(9).matrix((4, 4), 3);
    assert!(graph::bfs_levels(&many, &a, 4).unwrap_err().to_string().contains("vertex 4 of a graph of 4"));
}

fn one(cpu: &Cpu, many: &Machine, a: &Matrix, g: &Graph, source: usize) {
    let n = a.shape().0;
    let levels = graph::bfs_levels(many, a, source).unwrap().download().unwrap();
    let levels = levels.typed::<u32>().unwrap().to_dense(of_cpu::UNREACHED).unwrap();
    assert_eq!(levels, of_cpu::bfs(cpu, g, source).unwrap(), "levels of {n}");
    let parents = graph::bfs_parents(many, a, source).unwrap().download().unwrap();
    let parents = parents.typed::<u64>().unwrap().to_dense(u64::MAX).unwrap();
    for v in 0..n {
        match levels[v] {
            of_cpu::UNREACHED => assert_eq!(parents[v], u64::MAX),
            0 => assert_eq!(parents[v], source as u64),
            level => {
                let first = (0..n).find(|&u| levels[u] == level - 1 && g.neighbors(u).contains(&(v as u32)));
                assert_eq!(Some(parents[v] as usize), first, "parent of {v}");
            }
        }
    }
    let options = PageRankOptions { tolerance: 1e-10, max_iterations: 500, ..PageRankOptions::default() };
    let here = of_cpu::pagerank(cpu, g, &options).unwrap();
    let there = graph::pagerank(many, a, &options).unwrap();
    let ranks = there.ranks.download().unwrap().typed::<f64>().unwrap().to_dense(0.0).unwrap();
    assert_eq!(here.iterations, there.iterations);
    assert!(here.ranks.iter().zip(&ranks).all(|(x, y)| (x - y).abs() < 1e-12), "ranks of {n}");
    assert_eq!(components(many, a), of_cpu::connected_components(cpu, g).unwrap(), "components of {n}");
    let one = Machine::from(Cpu::with_threads(1).unwrap());
    let weights = one.apply(&UnaryOp::new("a*a", Type::F64).unwrap(), a).unwrap();
    assert_eq!(lengths(many, &weights, source).unwrap(), lengths_of(cpu, &weights, source).unwrap(), "lengths of {n}");
    let here = one.triangles(a, Default::default()).unwrap();
    assert_eq!(here.count, many.triangles(a, Default::default()).unwrap().count, "triangles of {n}");
    assert_eq!(one.triangles_per_vertex(a).unwrap(), many.triangles_per_vertex(a).unwrap());
    same("triangles of edges", &one.triangles_per_edge(a).unwrap(), &many.triangles_per_edge(a).unwrap());
}

fn components(machine: &Machine, a: &Matrix) -> Vec<u32> {
    let found = graph::connected_components(machine, a).unwrap().download().unwrap();
    found.typed::<u64>().unwrap().as_full().unwrap().iter().map(|&x| x as u32).collect()
}

fn lengths(machine: &Machine, a: &Matrix, source: usize) -> Result<Vec<f64>> {
    let found = graph::sssp(machine, a, source)?.download()?;
    found.typed::<f64>().unwrap().to_dense(f64::INFINITY)
}

/// Shortest path lengths on one CPU, for weights of any sign.
fn lengths_of(cpu: &Cpu, a: &Matrix, source: usize) -> Result<Vec<f64>> {
    let g = a.graph(cpu, Some(GraphKind::Directed), true)?;
    of_cpu::sssp(cpu, &g, source).or_else(|_| Ok(of_cpu::bellman_ford(cpu, &g, source)?.distances))
}

/// The graph of these edges without duplicates; Booleans or small integers.
fn of_edges(n: usize, edges: &[(u32, u32)], truth: bool) -> Matrix {
    let (rows, cols) = edges.iter().copied().unzip();
    let values = if truth { Array::of(vec![false; edges.len()]) } else { Array::of(vec![0i8; edges.len()]) };
    let last = BinaryOp::new("second", values.ty()).unwrap();
    Matrix::build(&Threads::current(), (n, n), (rows, cols, values), Some(&last)).unwrap()
}

/// Triangles by three nested loops: total and per vertex.
fn triangles_of(n: usize, edges: &[(u32, u32)]) -> (u64, Vec<u64>) {
    let mut joined = vec![vec![false; n]; n];
    for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
        (joined[u as usize][v as usize], joined[v as usize][u as usize]) = (true, true);
    }
    let (mut count, mut of) = (0, vec![0; n]);
    for u in 0..n {
        for v in (0..u).filter(|&v| joined[u][v]) {
            for w in (0..v).filter(|&w| joined[u][w] && joined[v][w]) {
                count += 1;
                [u, v, w].iter().for_each(|&x| of[x] += 1);
            }
        }
    }
    (count, of)
}

/// Small graphs: corner cases.
fn graphs(cpu: &Cpu, many: &Machine) {
    let complete = |vertices: std::ops::Range<u32>| {
        let all = vertices.clone();
        all.flat_map(move |u| vertices.clone().filter(move |v| *v != u).map(move |v| (u, v))).collect::<Vec<_>>()
    };
    let star = |n: u32| (1..n).map(|v| (0, v)).collect::<Vec<_>>();
    let pieces = [complete(3..7), complete(20..25), vec![(8, 8), (9, 9), (10, 11)]].concat();
    let wheel = [star(12), (1..12).map(|v| (v, v % 11 + 1)).collect()].concat();
    let both: Vec<_> = wheel.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
    let down: Vec<_> = complete(0..9).into_iter().filter(|(u, v)| u > v).collect();
    let cases = [
        ("no vertices", 0, vec![]),
        ("a vertex", 1, vec![]),
        ("a loop", 1, vec![(0, 0)]),
        ("an edge", 2, vec![(1, 0)]),
        ("no edges", 17, vec![]),
        ("loops", 13, (0..13).map(|v| (v, v)).collect()),
        ("a triangle one way round", 3, vec![(0, 1), (1, 2), (2, 0)]),
        ("a triangle with loops", 3, vec![(0, 1), (1, 2), (0, 2), (0, 0), (2, 2)]),
        ("a star", 40, star(40)),
        ("a star inwards", 40, star(40).into_iter().map(|(u, v)| (v, u)).collect()),
        ("a wheel", 12, wheel),
        ("a wheel both ways", 12, both),
        ("downwards", 9, down),
        ("complete", 30, complete(0..30)),
        ("pieces and vertices alone", 41, pieces),
    ];
    for (what, n, edges) in &cases {
        let (count, of) = triangles_of(*n, edges);
        for truth in [false, true] {
            let a = of_edges(*n, edges, truth);
            let found = many.triangles(&a, Default::default()).unwrap();
            assert_eq!(found.count, count, "triangles of {what}");
            assert_eq!(many.triangles_per_vertex(&a).unwrap(), of, "triangles of vertices of {what}");
            ranked(cpu, many, &a, what);
            let g = a.graph(cpu, Some(GraphKind::Directed), false).unwrap();
            assert_eq!(components(many, &a), of_cpu::connected_components(cpu, &g).unwrap(), "components of {what}");
        }
    }
}

/// PageRank with every option, compared with one CPU.
fn ranked(cpu: &Cpu, many: &Machine, a: &Matrix, what: &str) -> Vec<f64> {
    let (n, g) = (a.shape().0, a.graph(cpu, Some(GraphKind::Directed), false).unwrap());
    let mut last = vec![];
    for (drop_dangling, personal) in [(false, false), (true, false), (false, true), (true, true)] {
        let personalization = (personal && n > 0).then(|| (0..n).map(|v| (v % 3) as f64 + f64::from(v == 0)).collect());
        let options =
            PageRankOptions { damping: 0.8, tolerance: 1e-9, max_iterations: 500, personalization, drop_dangling };
        let here = of_cpu::pagerank(cpu, &g, &options).unwrap();
        let there = graph::pagerank(many, a, &options).unwrap();
        last = there.ranks.download().unwrap().typed::<f64>().unwrap().to_dense(0.0).unwrap();
        assert_eq!((here.iterations, here.ranks.len()), (there.iterations, last.len()), "{what}");
        assert!(here.ranks.iter().zip(&last).all(|(x, y)| (x - y).abs() < 1e-12), "ranks of {what}");
    }
    last
}

/// Hubs with hundreds of neighbors and isolated vertices, with one and with three threads per rank.
fn larger(cpu: &Cpu, many: &Machine, threads: &Machine) {
    let (one, mut draw, n) = (Machine::from(Cpu::with_threads(1).unwrap()), Draw::new(77), 30_000);
    let mut end = || {
        let x = draw.below(n) as u64 * draw.below(n) as u64 / n as u64;
        (x * x / n as u64) as u32
    };
    let edges: Vec<_> = (0..120_000).map(|_| (end(), end())).collect();
    let a = of_edges(n, &edges, false);
    let by_one = ranked(cpu, many, &a, "many vertices");
    assert!(by_one == ranked(cpu, threads, &a, "many vertices"), "threads change ranks");
    let count = one.triangles(&a, Default::default()).unwrap().count;
    assert_eq!(many.triangles(&a, Default::default()).unwrap().count, count);
    assert_eq!(threads.triangles(&a, Default::default()).unwrap().count, count);
    assert!(count > 1000);
    let g = a.graph(cpu, Some(GraphKind::Directed), false).unwrap();
    let known = |machine: &Machine| {
        let levels = graph::bfs_levels(machine, &a, 0).unwrap().download().unwrap();
        let parents = graph::bfs_parents(machine, &a, 0).unwrap().download().unwrap();
        let levels = levels.typed::<u32>().unwrap().to_dense(of_cpu::UNREACHED).unwrap();
        (levels, parents.typed::<u64>().unwrap().to_dense(u64::MAX).unwrap())
    };
    let labels = of_cpu::connected_components(cpu, &g).unwrap();
    assert!(components(many, &a) == labels && components(threads, &a) == labels, "components of many vertices");
    let part = "f64(i * 7919 + j * 104729) / 997";
    let spread = format!("{part} - floor({part})");
    for (what, f) in
        [("spread", &*spread), ("ones", "f64(1)"), ("zeros", "f64(0)"), ("signed", "f64(j) - f64(i) + 0.5")]
    {
        let weights = UnaryOp::between(f, a.ty(), Type::F64).and_then(|f| one.apply(&f, &a)).unwrap();
        // Signed weights on an acyclic graph.
        let weights = if what == "signed" { downwards(&one, &weights) } else { weights };
        let expected = lengths_of(cpu, &weights, 0).unwrap();
        assert!(lengths(many, &weights, 0).unwrap() == expected, "lengths of {what}");
        assert!(lengths(threads, &weights, 0).unwrap() == expected, "threads change lengths of {what}");
    }
    let (levels, parents) = known(many);
    assert_eq!(levels, of_cpu::bfs(cpu, &g, 0).unwrap());
    assert!(known(threads) == (levels, parents), "threads change a search");
}

/// The edges to larger vertices.
fn downwards(one: &Machine, a: &Matrix) -> Matrix {
    one.select(&UnaryOp::new("i < j", Type::F64).unwrap(), a).unwrap()
}

/// Long paths in a scattered vertex order, and extreme weights.
fn paths(cpu: &Cpu, many: &Machine) {
    for n in [2u32, 3, 50, 1000] {
        // 371 is coprime to every n.
        let vertex = |k: u32| k * 371 % n;
        for (what, edges) in [
            ("upwards", (1..n).map(|v| (v - 1, v)).collect::<Vec<_>>()),
            ("downwards", (1..n).map(|v| (v, v - 1)).collect()),
            ("mixed", (1..n).map(|k| (vertex(k - 1), vertex(k))).collect()),
            ("pairs", (0..n / 2).map(|k| (k, n - 1 - k)).collect()),
            ("stars", (1..n).map(|v| (v, v - v % 10)).collect()),
        ] {
            let a = of_edges(n as usize, &edges, false);
            let g = a.graph(cpu, Some(GraphKind::Directed), false).unwrap();
            assert_eq!(components(many, &a), of_cpu::connected_components(cpu, &g).unwrap(), "{what}, {n}");
            let f = UnaryOp::between("exp(f64(i) - f64(j)) - 1", a.ty(), Type::F64).unwrap();
            let weights = Machine::from(Cpu::with_threads(1).unwrap()).apply(&f, &a).unwrap();
            match lengths_of(cpu, &weights, 0) {
                Ok(expected) => assert_eq!(lengths(many, &weights, 0).unwrap(), expected, "lengths of {what}, {n}"),
                Err(_) => assert!(lengths(many, &weights, 0).unwrap_err().to_string().contains("negative length")),
            }
        }
    }
    let weighted = |edges: &[(u32, u32, f64)]| {
        let (rows, cols) = edges.iter().map(|e| (e.0, e.1)).unzip();
        let values = Array::of(edges.iter().map(|e| e.2).collect::<Vec<_>>());
        Matrix::build(&Threads::current(), (6, 6), (rows, cols, values), None).unwrap()
    };
    let (huge, none) = (f64::MAX, f64::INFINITY);
    for edges in [
        vec![(0, 1, huge), (1, 2, huge), (0, 3, none), (3, 4, 1.0), (0, 5, 5e-324)],
        vec![(0, 1, -0.0), (1, 2, 0.0), (2, 0, -0.0), (2, 3, -5.0), (3, 4, 2.0)],
        vec![(0, 1, -none), (1, 2, none), (1, 3, 1.0), (0, 4, 2.0), (4, 3, -huge)],
    ] {
        let a = weighted(&edges);
        assert_eq!(lengths(many, &a, 0).unwrap(), lengths_of(cpu, &a, 0).unwrap(), "{edges:?}");
    }
    let cycle = weighted(&[(0, 1, 1.0), (1, 2, -3.0), (2, 1, 2.0), (3, 4, 1.0)]);
    assert!(lengths(many, &cycle, 0).unwrap_err().to_string().contains("negative length"));
    assert_eq!(lengths(many, &cycle, 3).unwrap()[4], 1.0);
    assert!(lengths(many, &weighted(&[(0, 1, 1.0), (4, 5, f64::NAN)]), 0).unwrap_err().to_string().contains("weight"));
}

/// Invalid arguments are errors on all ranks, which remain usable.
fn refused(many: &Machine) {
    let square = of_edges(5, &[(0, 1), (1, 2)], true);
    let wide = Draw::new(9).matrix((3, 4), 3);
    assert!(graph::pagerank(many, &wide, &PageRankOptions::default()).is_err());
    assert!(many.triangles(&wide, Default::default()).is_err());
    assert!(many.triangles_per_edge(&wide).is_err());
    let said = |options: PageRankOptions| graph::pagerank(many, &square, &options).unwrap_err().to_string();
    let with = |p: &[f64]| PageRankOptions { personalization: Some(p.to_vec()), ..PageRankOptions::default() };
    assert!(said(with(&[1.0; 4])).contains("personalization"));
    assert!(said(with(&[0.0; 5])).contains("adds up to 0"));
    assert!(said(with(&[1.0, 1.0, -1.0, 1.0, 1.0])).contains("vertex 2"));
    assert!(said(PageRankOptions { max_iterations: 1, ..PageRankOptions::default() }).contains("in step 1"));
    assert!(said(PageRankOptions { damping: 1.0, ..PageRankOptions::default() }).contains("damping"));
    assert!(said(PageRankOptions { tolerance: f64::NAN, ..PageRankOptions::default() }).contains("tolerance"));
}

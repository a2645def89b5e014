//! Graph algorithms on all ranks beside those of one processor.

use sparring::algebra::Type;
use sparring::graph::{Graph, GraphKind, PageRankOptions};
use sparring::runtime::{Machine, Matrix};
use sparring::{Cpu, graph as of_cpu};
use sparring_cluster::{Cluster, graph};

use crate::products::{Draw, same};

pub(crate) fn all(cluster: &Cluster) {
    let (cpu, many) = (Cpu::with_threads(1).unwrap(), Machine::from(cluster.clone()));
    for (n, edges) in [(1, 0), (2, 1), (10, 12), (11, 20), (17, 40), (23, 60), (100, 150), (500, 4000), (64, 1000)] {
        let a = Draw::new(n as u64 + 5).matrix((n, n), edges);
        let g = a.graph(&cpu, Some(GraphKind::Directed), false).unwrap();
        one(&cpu, &many, &a, &g, n / 3);
    }
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
    let found = graph::connected_components(many, a).unwrap().download().unwrap();
    let found: Vec<u32> = found.typed::<u64>().unwrap().to_dense(0).unwrap().iter().map(|&x| x as u32).collect();
    let expected = of_cpu::connected_components(cpu, g).unwrap();
    assert_eq!(found, expected, "components of {n}");
    let one = Machine::from(Cpu::with_threads(1).unwrap());
    let weights = one.apply(&sparring::runtime::UnaryOp::new("a*a", Type::F64).unwrap(), a).unwrap();
    let weighted = weights.graph(cpu, Some(GraphKind::Directed), true).unwrap();
    let lengths = graph::sssp(many, &weights, source).unwrap().download().unwrap();
    let lengths = lengths.typed::<f64>().unwrap().to_dense(f64::INFINITY).unwrap();
    let expected = of_cpu::sssp(cpu, &weighted, source).unwrap();
    assert!(lengths.iter().zip(&expected).all(|(x, y)| x == y || (x - y).abs() < 1e-12), "lengths of {n}");
    let here = one.triangles(a, Default::default()).unwrap();
    assert_eq!(here.count, many.triangles(a, Default::default()).unwrap().count, "triangles of {n}");
    assert_eq!(one.triangles_per_vertex(a).unwrap(), many.triangles_per_vertex(a).unwrap());
    same("triangles of edges", &one.triangles_per_edge(a).unwrap(), &many.triangles_per_edge(a).unwrap());
}

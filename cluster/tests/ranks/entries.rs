//! Assembly of entries from all ranks, and permutations, compared with one CPU.

use sparring::algebra::{Array, Type};
use sparring::par::Threads;
use sparring::runtime::{BinaryOp, Machine, Matrix};
use sparring::{Cpu, Csr, Error, Result};
use sparring_cluster::{Cluster, Permutation, Rmat, graph};

use crate::products::{Draw, same, same_vector};

sparring::value! {
    /// A struct value.
    struct Met {
        /// A number.
        value: f64,
        /// A tag.
        at: u32,
    }
}

/// Structs are rejected by every operation that sends them, on every rank.
fn structs(cluster: &Cluster) {
    let (many, met) = (cluster.machine(), |n: usize| vec![Met { value: 1.5, at: 7 }; n]);
    let a = Matrix::from(Csr::new(9, 9, (0..=9).collect(), (0..9).collect(), met(9)).unwrap());
    let path = std::env::temp_dir().join(format!("sparring-structs-{}.mtx", std::os::unix::process::parent_id()));
    let is_refused = |what: &str, made: Result<()>| {
        assert!(matches!(made, Err(Error::Unsupported { .. })), "{what}: {made:?}");
    };
    is_refused("build", cluster.build((9, 9), (vec![0], vec![0], Array::of(met(1))), None).map(drop));
    is_refused("write", cluster.write_matrix_market(&path, &a));
    let p = Permutation::new(9, 1);
    is_refused("permuted", cluster.permuted(&a, &p, &p).map(drop));
    // One rank contributes no entries.
    if cluster.size() > 1 {
        is_refused("transpose", many.transpose(&a).and_then(|a| a.download()).map(drop));
        let message = many.upload(&a).and_then(|a| a.download()).unwrap_err().to_string();
        assert!(message.contains("messages are of numbers"), "{message}");
    }
    cluster.agree("all go on", Ok(())).unwrap();
}

pub(crate) fn all(cluster: &Cluster) {
    structs(cluster);
    let (rank, ranks) = (cluster.rank(), cluster.size());
    let plus = BinaryOp::new("plus", Type::F64).unwrap();
    for (case, (m, n, count)) in
        [(0, 0, 0), (3, 0, 0), (1, 1, 5), (2, 3, 9), (40, 30, 200), (500, 7, 900)].into_iter().enumerate()
    {
        let mut draw = Draw::new(case as u64 + 80);
        let entries: Vec<(u32, u32, f64)> =
            (0..count).map(|_| (draw.below(m) as u32, draw.below(n) as u32, draw.below(100) as f64)).collect();
        let of = |entries: &[(u32, u32, f64)]| {
            let (rows, cols) = (entries.iter().map(|e| e.0).collect(), entries.iter().map(|e| e.1).collect());
            (rows, cols, Array::of(entries.iter().map(|e| e.2).collect::<Vec<f64>>()))
        };
        let here = Matrix::build(&Threads::current(), (m, n), of(&entries), Some(&plus)).unwrap();
        let mine = &entries[count * rank / ranks..count * (rank + 1) / ranks];
        same("build", &here, &cluster.build((m, n), of(mine), Some(&plus)).unwrap());
        // One rank contributes all entries.
        let mine = if rank + 1 == ranks { &entries[..] } else { &[] };
        let there = cluster.build((m, n), of(mine), Some(&plus)).unwrap();
        same("build", &here, &there);
        let (p, q) = (Permutation::new(m, 3), Permutation::new(n, 4));
        let b = cluster.permuted(&there, &p, &q).unwrap().download().unwrap();
        assert_eq!(b.nnz(), here.nnz());
        let (a, b) = (here.csr::<f64>().unwrap(), b.csr::<f64>().unwrap());
        assert!(a.iter().all(|(i, j, x)| b.get(p.image(i), q.image(j)) == Some(x)), "{m}×{n}");
        let x = draw.vector(m, m / 2);
        let moved: Vec<(u32, f64)> = x.typed::<f64>().unwrap().iter().map(|(i, x)| (p.image(i) as u32, *x)).collect();
        let mut moved = moved;
        moved.sort_unstable_by_key(|e| e.0);
        let (places, values) = moved.into_iter().unzip::<u32, f64, Vec<_>, Vec<_>>();
        let y = sparring::runtime::Vector::new(m, places, Array::of(values)).unwrap();
        same_vector("back", &x, &cluster.permuted_back(&y, &p).unwrap());
        assert!(cluster.permuted(&there, &Permutation::new(m + 1, 3), &q).is_err());
    }
    // Relabeling vertices does not change the graph.
    let a = Draw::new(4).matrix((60, 60), 200);
    let p = Permutation::new(60, 11);
    let b = cluster.permuted(&a, &p, &p).unwrap();
    let many = cluster.machine();
    let levels = graph::bfs_levels(&Machine::from(Cpu::new()), &a, 5).unwrap();
    let there = graph::bfs_levels(&many, &b, p.image(5)).unwrap();
    same_vector("levels", &levels, &cluster.permuted_back(&there, &p).unwrap());
    // The same graph on any number of ranks.
    let alone = Cluster::alone(Cpu::with_threads(2).unwrap());
    for options in [Rmat::new(), Rmat::new().shuffled(false).undirected(true), Rmat::new().quadrants(0.3, 0.3, 0.2)] {
        for (scale, factor, seed) in [(0, 1, 0), (3, 0, 1), (7, 8, 2)] {
            let graph = |cluster: &Cluster| cluster.rmat(scale, factor, seed, &options).unwrap();
            same("R-MAT", &graph(&alone).download().unwrap(), &graph(cluster));
        }
    }
    // Several rounds of messages.
    let graph = |cluster: &Cluster| cluster.rmat(17, 24, 3, &Rmat::new()).unwrap();
    same("R-MAT", &graph(&alone).download().unwrap(), &graph(cluster));
    for (shape, count) in [((0, 5), 0), ((1, 1), 9), ((300, 7), 900)] {
        let here = alone.uniform(shape, count, 5).unwrap().download().unwrap();
        same("uniform", &here, &cluster.uniform(shape, count, 5).unwrap());
        assert!(cluster.uniform((0, 5), 1, 5).is_err());
    }
    // An invalid contribution of one rank is an error on all.
    let is_last = rank + 1 == ranks;
    let wrong = (vec![if is_last { 9 } else { 0 }], vec![0], Array::of(vec![1.0]));
    let message = cluster.build((9, 9), wrong, Some(&plus)).unwrap_err().to_string();
    assert!(message.contains("row index 9 is not below 9"), "{message}");
    let short = (vec![0], vec![0], Array::of(vec![1.0; if is_last { 2 } else { 1 }]));
    assert!(cluster.build((9, 9), short, Some(&plus)).is_err());
    if ranks > 1 {
        let twice = cluster.build((9, 9), (vec![0], vec![0], Array::of(vec![1.0])), None);
        assert!(matches!(twice, Err(Error::Duplicate { .. } | Error::Device { .. })));
        // Contributions of different types.
        let values = if is_last { Array::of(vec![1i64]) } else { Array::of(vec![1.0]) };
        assert!(cluster.build((9, 9), (vec![0], vec![0], values), Some(&plus)).is_err());
    }
}

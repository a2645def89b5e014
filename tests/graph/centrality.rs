//! Centralities compared with dense sums and enumerated paths.

use sparring::graph::{
    Graph, GraphKind, Iteration, PageRankOptions, betweenness_centrality, closeness_centrality, dependencies,
    eigenvector_centrality, harmonic_centrality, hits, katz_centrality, pagerank, sampled_betweenness,
};
use sparring::{Cpu, Csr, Error};

use crate::common::{Sample, by_threads, grid, large, samples};

fn close(name: &str, found: &[f64], want: &[f64]) {
    assert_eq!(found.len(), want.len(), "{name}");
    for (v, (x, y)) in found.iter().zip(want).enumerate() {
        assert!((x - y).abs() <= 1e-9 * (1.0 + y.abs()), "{name}: vertex {v} has {x}, not {y}");
    }
}

/// Samples with positive weights, as edge lengths must be.
fn positive() -> Vec<Sample> {
    let mut all = samples();
    for sample in &mut all {
        sample.weights.iter_mut().flatten().for_each(|w| *w += 0.5);
    }
    all
}

/// Shortest path lengths and counts, in dense tables.
fn paths(sample: &Sample) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let (n, a) = (sample.n, sample.dense());
    let mut d = vec![vec![f64::INFINITY; n]; n];
    for i in 0..n {
        for j in 0..n {
            d[i][j] = if i == j { 0.0 } else { a[i][j].unwrap_or(f64::INFINITY) };
        }
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                d[i][j] = d[i][j].min(d[i][k] + d[k][j]);
            }
        }
    }
    let mut count = vec![vec![0.0; n]; n];
    for s in 0..n {
        let mut order: Vec<usize> = (0..n).filter(|&v| d[s][v].is_finite()).collect();
        order.sort_by(|&u, &v| d[s][u].total_cmp(&d[s][v]));
        count[s][s] = 1.0;
        for &v in order.iter().filter(|&&v| v != s) {
            let before = (0..n).filter(|&u| u != v && a[u][v].is_some_and(|w| d[s][u] + w == d[s][v]));
            count[s][v] = before.map(|u| count[s][u]).sum();
        }
    }
    (d, count)
}

#[test]
fn betweenness_is_the_sum_over_pairs() {
    for sample in positive() {
        let (n, (d, count)) = (sample.n, paths(&sample));
        let part = |s: usize, v: usize| -> f64 {
            let others = (0..n).filter(|&t| t != v && t != s && v != s && d[s][v] + d[v][t] == d[s][t]);
            others.filter(|&t| d[s][t].is_finite()).map(|t| count[s][v] * count[v][t] / count[s][t]).sum()
        };
        let all = |v: usize| (0..n).map(|s| part(s, v)).sum::<f64>() / if sample.is_directed() { 1.0 } else { 2.0 };
        let want: Vec<f64> = (0..n).map(all).collect();
        let found = by_threads(&sample.name, |cpu| betweenness_centrality(cpu, &sample.graph(cpu), false).unwrap());
        close(&sample.name, &found, &want);
        let cpu = Cpu::new();
        let g = sample.graph(&cpu);
        if n > 2 {
            let pairs = ((n - 1) * (n - 2)) as f64 / if sample.is_directed() { 1.0 } else { 2.0 };
            let parts: Vec<f64> = want.iter().map(|x| x / pairs).collect();
            close(&sample.name, &betweenness_centrality(&cpu, &g, true).unwrap(), &parts);
            close(&sample.name, &sampled_betweenness(&cpu, &g, n, 5, false).unwrap(), &want);
            let some: Vec<f64> = (0..n).map(|v| part(0, v) + part(2, v) + part(0, v)).collect();
            close(&sample.name, &dependencies(&cpu, &g, &[0, 2, 0]).unwrap(), &some);
        }
    }
}

/// An edge of infinite weight connects nothing.
#[test]
fn infinite_weights_are_no_edges() {
    for sample in positive().into_iter().filter(|sample| sample.weights.is_some()) {
        let (mut with, mut without) = (sample.clone(), sample.clone());
        let cut = |e: usize| e.is_multiple_of(3);
        with.weights.iter_mut().flatten().enumerate().for_each(|(e, w)| *w = if cut(e) { f64::INFINITY } else { *w });
        let kept = || (0..sample.edges.len()).filter(|&e| !cut(e));
        without.edges = kept().map(|e| sample.edges[e]).collect();
        without.weights = sample.weights.as_ref().map(|w| kept().map(|e| w[e]).collect());
        let cpu = Cpu::new();
        let of = |sample: &Sample| {
            let g = sample.graph(&cpu);
            let scores = [betweenness_centrality(&cpu, &g, false), closeness_centrality(&cpu, &g)];
            scores.map(|scores| scores.unwrap())
        };
        assert_eq!(of(&with), of(&without), "{}", sample.name);
    }
}

/// Levels processed in either direction, and path counts beyond the range of doubles.
#[test]
fn betweenness_of_large_graphs_is_that_of_small_steps() {
    for kind in [GraphKind::Directed, GraphKind::Undirected] {
        let sample = large(10, 10, kind, 8);
        let found = by_threads(&sample.name, |cpu| dependencies(cpu, &sample.graph(cpu), &[1, 2, 3]).unwrap());
        // The same graph with unit weights takes the weighted algorithm.
        let weighted = Sample { weights: Some(vec![1.0; sample.edges.len()]), ..sample };
        let cpu = Cpu::new();
        close(&weighted.name, &dependencies(&cpu, &weighted.graph(&cpu), &[1, 2, 3]).unwrap(), &found);
    }
    // A chain of diamonds: 2ᵏ paths lead from the first vertex to the end of the k-th diamond, and its two branches
    // share the dependencies of everything beyond.
    let k = 1500;
    let edges: Vec<_> = (0..k)
        .flat_map(|i| [(3 * i, 3 * i + 1), (3 * i, 3 * i + 2), (3 * i + 1, 3 * i + 3), (3 * i + 2, 3 * i + 3)])
        .collect();
    let chain = Sample::new("diamonds", 3 * k + 1, GraphKind::Directed, &edges);
    let found = by_threads("diamonds", |cpu| dependencies(cpu, &chain.graph(cpu), &[0]).unwrap());
    let behind = |i: usize| (3 * (k - i)) as f64;
    for i in 1..k {
        let (way, end) = (found[3 * i + 1], found[3 * i]);
        assert!((end - behind(i)).abs() < 1e-6 * behind(i), "{i}: {end}");
        assert!((way - (1.0 + behind(i + 1)) / 2.0).abs() < 1e-6 * behind(i), "{i}: {way}");
    }
}

#[test]
fn closeness_is_the_mean_of_distances() {
    for sample in positive() {
        let (n, (d, _)) = (sample.n, paths(&sample));
        let to = |v: usize| (0..n).map(|u| d[u][v]).filter(move |x| x.is_finite() && *x > 0.0).collect::<Vec<_>>();
        let closeness: Vec<f64> = (0..n)
            .map(|v| match to(v) {
                to if to.is_empty() => 0.0,
                to => (to.len() as f64).powi(2) / (n - 1) as f64 / to.iter().sum::<f64>(),
            })
            .collect();
        let harmonic: Vec<f64> = (0..n).map(|v| to(v).iter().map(|x| 1.0 / x).sum()).collect();
        let found = by_threads(&sample.name, |cpu| {
            let g = sample.graph(cpu);
            (closeness_centrality(cpu, &g).unwrap(), harmonic_centrality(cpu, &g).unwrap())
        });
        close(&sample.name, &found.0, &closeness);
        close(&sample.name, &found.1, &harmonic);
    }
    // More sources than a batch, and several groups of batches.
    let sample = large(11, 6, GraphKind::Directed, 4);
    let found = by_threads(&sample.name, |cpu| harmonic_centrality(cpu, &sample.graph(cpu)).unwrap());
    let weighted = Sample { weights: Some(vec![1.0; sample.edges.len()]), ..sample };
    close(
        "by weights",
        &by_threads("by weights", |cpu| harmonic_centrality(cpu, &weighted.graph(cpu)).unwrap()),
        &found,
    );
}

/// Fixed points: one more step of the definition changes nothing.
#[test]
fn ranks_and_eigenvectors_are_fixed_points() {
    let until = Iteration { tolerance: 1e-12, max_iterations: 100_000 };
    for sample in samples() {
        let (n, a) = (sample.n, sample.dense());
        let w = |u: usize, v: usize| a[u][v].unwrap_or(0.0);
        let strength: Vec<f64> = (0..n).map(|u| (0..n).map(|v| w(u, v)).sum()).collect();
        let sum_in = |x: &[f64], v: usize| (0..n).map(|u| x[u] * w(u, v)).sum::<f64>();
        for personalized in [false, true] {
            for drop_dangling in [false, true] {
                let p: Vec<f64> = (0..n).map(|v| if personalized { (v % 3) as f64 } else { 1.0 }).collect();
                let total: f64 = p.iter().sum();
                if total == 0.0 {
                    continue;
                }
                let options = PageRankOptions {
                    tolerance: 1e-13,
                    max_iterations: 1000,
                    personalization: personalized.then(|| p.clone()),
                    drop_dangling,
                    ..Default::default()
                };
                let found = by_threads(&sample.name, |cpu| pagerank(cpu, &sample.graph(cpu), &options).unwrap()).ranks;
                let lost: f64 = (0..n).filter(|&u| strength[u] == 0.0 && !drop_dangling).map(|u| found[u]).sum();
                let share: Vec<f64> =
                    (0..n).map(|u| if strength[u] > 0.0 { found[u] / strength[u] } else { 0.0 }).collect();
                let step: Vec<f64> =
                    (0..n).map(|v| (0.15 + 0.85 * lost) * p[v] / total + 0.85 * sum_in(&share, v)).collect();
                close(&sample.name, &found, &step);
                if !drop_dangling {
                    close(&sample.name, &[found.iter().sum()], &[1.0]);
                }
            }
        }
        let katz = by_threads(&sample.name, |cpu| katz_centrality(cpu, &sample.graph(cpu), 1e-3, 1.0, until).unwrap());
        let plain: Vec<f64> = {
            let mut x = vec![0.0; n];
            for _ in 0..300 {
                x = (0..n).map(|v| 1e-3 * sum_in(&x, v) + 1.0).collect();
            }
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().map(|x| x / norm).collect()
        };
        close(&sample.name, &katz, &plain);
        // Where the largest eigenvalue is not dominant, the iteration converges slowly.
        let few = Iteration { tolerance: 1e-11, max_iterations: 3000 };
        let name = &sample.name;
        if let Ok(x) =
            by_threads(name, |cpu| eigenvector_centrality(cpu, &sample.graph(cpu), few).map_err(|e| e.to_string()))
        {
            let norm = x.iter().map(|x| x * x).sum::<f64>();
            assert!(n == 0 || (norm - 1.0).abs() < 1e-12, "{name}: {norm}");
            let step: Vec<f64> = (0..n).map(|v| x[v] + sum_in(&x, v)).collect();
            let length = step.iter().map(|x| x * x).sum::<f64>().sqrt();
            close(name, &step.iter().map(|x| x / length).collect::<Vec<_>>(), &x);
        }
        if let Ok(found) = by_threads(name, |cpu| hits(cpu, &sample.graph(cpu), few).map_err(|e| e.to_string())) {
            let authorities: Vec<f64> = (0..n).map(|v| sum_in(&found.hubs, v)).collect();
            let total: f64 = authorities.iter().sum();
            if total > 0.0 {
                close(name, &authorities.iter().map(|x| x / total).collect::<Vec<_>>(), &found.authorities);
                close(name, &[found.hubs.iter().sum(), found.authorities.iter().sum()], &[1.0, 1.0]);
            }
        }
    }
}

/// The eigenvector of a grid is known; the power method would take thousands of steps.
#[test]
fn eigenvectors_of_grids_are_products_of_sines() {
    let (m, k) = (60, 45);
    let grid = grid(m, k);
    let sine = |i: usize, n: usize| ((i + 1) as f64 * std::f64::consts::PI / (n + 1) as f64).sin();
    let product: Vec<f64> = (0..m * k).map(|v| sine(v / k, m) * sine(v % k, k)).collect();
    let norm = product.iter().map(|x| x * x).sum::<f64>().sqrt();
    let until = Iteration { tolerance: 1e-9, max_iterations: 400 };
    let found = by_threads("a grid", |cpu| eigenvector_centrality(cpu, &grid.graph(cpu), until).unwrap());
    for (v, (x, y)) in found.iter().zip(&product).enumerate() {
        assert!((x - y / norm).abs() < 1e-8, "vertex {v} has {x}, not {}", y / norm);
    }
    let cpu = Cpu::new();
    let few = Iteration { tolerance: 1e-9, max_iterations: 20 };
    let refused = eigenvector_centrality(&cpu, &grid.graph(&cpu), few).unwrap_err().to_string();
    assert!(refused.contains("20 steps"), "{refused}");
}

#[test]
fn large_graphs_have_the_same_scores_on_any_number_of_threads() {
    for kind in [GraphKind::Directed, GraphKind::Undirected] {
        let sample = large(14, 8, kind, 6);
        by_threads(&sample.name, |cpu| {
            let g = sample.graph(cpu);
            let ranks = pagerank(cpu, &g, &PageRankOptions::default()).unwrap();
            (
                ranks,
                eigenvector_centrality(cpu, &g, Iteration::default()).unwrap(),
                hits(cpu, &g, Iteration::default()).unwrap(),
            )
        });
    }
}

#[test]
fn what_has_no_meaning_is_refused() {
    let cpu = Cpu::new();
    let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 3], vec![1, 2, 0], vec![1.0, -2.0, 0.0]).unwrap();
    let g = Graph::weighted(&cpu, &a, GraphKind::Directed).unwrap();
    let bare = Graph::new(&cpu, &a, GraphKind::Directed).unwrap();
    let ranks = |options: PageRankOptions| pagerank(&cpu, &bare, &options).unwrap_err().to_string();
    let plain = PageRankOptions::default();
    for (e, what) in [
        (ranks(PageRankOptions { damping: 1.0, ..plain.clone() }), "damping: 1 is not in [0, 1)"),
        (ranks(PageRankOptions { damping: f64::NAN, ..plain.clone() }), "damping"),
        (ranks(PageRankOptions { tolerance: f64::NAN, ..plain.clone() }), "NaN is not positive"),
        (ranks(PageRankOptions { tolerance: 0.0, ..plain.clone() }), "tolerance: 0 is not positive"),
        (ranks(PageRankOptions { personalization: Some(vec![1.0]), ..plain.clone() }), "length is 1, expected 3"),
        (ranks(PageRankOptions { personalization: Some(vec![0.0; 3]), ..plain.clone() }), "adds up to 0"),
        (ranks(PageRankOptions { personalization: Some(vec![0.0, -1.0, 1.0]), ..plain.clone() }), "vertex 1 is -1"),
        (ranks(PageRankOptions { personalization: Some(vec![1.0, 0.0, 0.0]), max_iterations: 2, ..plain }), "step 2"),
        (betweenness_centrality(&cpu, &g, false).unwrap_err().to_string(), "edge (1, 2) is -2, and must be positive"),
        (closeness_centrality(&cpu, &g).unwrap_err().to_string(), "must not be negative"),
        (hits(&cpu, &g, Iteration::default()).unwrap_err().to_string(), "must not be negative"),
        (katz_centrality(&cpu, &bare, 2.0, 1.0, Iteration::default()).unwrap_err().to_string(), "katz_centrality"),
        (katz_centrality(&cpu, &bare, -0.1, 1.0, Iteration::default()).unwrap_err().to_string(), "alpha"),
        (sampled_betweenness(&cpu, &bare, 0, 0, false).unwrap_err().to_string(), "0 of a graph of 3"),
        (sampled_betweenness(&cpu, &bare, 4, 0, false).unwrap_err().to_string(), "4 of a graph of 3"),
        (dependencies(&cpu, &bare, &[3]).unwrap_err().to_string(), "vertex 3 of a graph of 3"),
    ] {
        assert!(e.contains(what), "{e} does not say {what}");
    }
    let tiny = Csr::<f64>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1e30, 1.0]).unwrap();
    let e = betweenness_centrality(&cpu, &Graph::weighted(&cpu, &tiny, GraphKind::Directed).unwrap(), false);
    assert!(matches!(e, Err(Error::Argument { name: "weight", .. })), "{e:?}");
}

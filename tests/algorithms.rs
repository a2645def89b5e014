//! Textbook algorithms, one line of code per line of mathematics, on every engine; each is checked against a plain
//! version.
//!
//! Sources: Kepner, Gilbert (eds.) 2011, "Graph Algorithms in the Language of Linear Algebra"; Brandes 2001
//! (betweenness); Beamer, Asanović, Patterson 2015 (PageRank as in the GAP benchmark).

use sparring::algebra::{AbsDiff, Div, One};
use sparring::graph::{betweenness, bfs_levels, bfs_parents, sssp_distances};
use sparring::prelude::*;

/// Shortest path lengths, by relaxing all edges n − 1 times (Bellman–Ford).
fn shortest_paths<B: Backend>(m: &B, a: &B::Matrix<f64>, source: u32) -> Result<Vector<f64>> {
    let n = m.shape(a).0;
    let mut d = m.upload_vector(&Vector::new(n, vec![source], vec![0.0])?)?;
    for _ in 1..n {
        m.vxm(MinPlus::new(), &d, a).accum(Min::new()).into(&mut d)?;
    }
    m.download_vector(&d)
}

/// PageRank with damping 0.85, until the total change is below 1e-12; `at` is the transposed link matrix.
fn pagerank<B: Backend>(m: &B, a: &B::Matrix<f64>, at: &B::Matrix<f64>) -> Result<Vector<f64>> {
    let (n, damping) = (m.shape(a).0, 0.85);
    let mut r = m.upload_vector(&Vector::constant(n, 1.0 / n as f64)?)?;
    let ones = m.apply(One::new(), a).eval()?;
    let degree = m.reduce_rows(Plus::new(), &ones).eval()?;
    let scaled = m.apply_index(Scaled::new(), &degree, 1.0 / damping).eval()?;
    for _ in 0..200 {
        let t = r.clone();
        let w = m.ewise_mult(Div::new(), &t, &scaled).eval()?;
        m.assign_scalar((1.0 - damping) / n as f64).into(&mut r)?;
        m.mxv(PlusSecond::new(), at, &w).accum(Plus::new()).into(&mut r)?;
        let change = m.ewise_mult(AbsDiff::new(), &t, &r).eval()?;
        if m.reduce(Plus::new(), &change).eval()? < 1e-12 {
            break;
        }
    }
    m.download_vector(&r)
}

sparring::op! {
    /// a s.
    pub Scaled<T: Real> (a, s) at (i, j) -> T { a * s }
}

/// Local clustering coefficient of vertices with at least two neighbours: the fraction of pairs of neighbours that are
/// adjacent.
fn local_clustering<B: Backend>(m: &B, a: &B::Matrix<f64>) -> Result<Vector<f64>> {
    let c = m.mxm(PlusPair::<f64>::new(), a, a).mask(a.structure()).eval()?;
    let triangles = m.reduce_rows(Plus::new(), &c).eval()?;
    let ones = m.apply(One::new(), a).eval()?;
    let degree = m.reduce_rows(Plus::new(), &ones).eval()?;
    let pairs = m.apply(Pairs::new(), &degree).eval()?;
    m.download_vector(&m.ewise_mult(Div::new(), &triangles, &pairs).eval()?)
}

sparring::op! {
    /// d (d − 1).
    pub Pairs<T: Real> (d) -> T { d * (d - V::lit(T::ONE)) }
}

/// A weighted graph with 60 vertices, some of them isolated; with `both`, edges go both ways.
fn graph(seed: u64, both: bool) -> Csr<f64> {
    let mut state = seed;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let (mut rows, mut cols, mut weights) = (vec![], vec![], vec![]);
    for _ in 0..150 {
        let (i, j, w) = (next(55) as u32, next(55) as u32, 1.0 + next(9) as f64);
        if i == j {
            continue;
        }
        for (i, j) in if both { vec![(i, j), (j, i)] } else { vec![(i, j)] } {
            rows.push(i);
            cols.push(j);
            weights.push(w);
        }
    }
    Coo::new(60, 60, rows, cols, weights).unwrap().to_csr(Min::new()).unwrap()
}

fn close(found: &Vector<f64>, want: &[Option<f64>]) {
    assert_eq!(found.len(), want.len());
    for (i, want) in want.iter().enumerate() {
        match (found.get(i), want) {
            (Some(x), Some(y)) => assert!((x - y).abs() <= 1e-9 * (1.0 + y.abs()), "place {i}: {x}, not {y}"),
            (x, y) => assert_eq!(x, y.as_ref(), "place {i}"),
        }
    }
}

mod textbook {
    use super::*;

    pub(super) fn levels(a: &Csr<f64>, source: usize) -> Vec<Option<usize>> {
        let mut level = vec![None; a.nrows()];
        level[source] = Some(0);
        let mut queue = std::collections::VecDeque::from([source]);
        while let Some(i) = queue.pop_front() {
            for j in a.row(i).0.iter().map(|&j| j as usize) {
                if level[j].is_none() {
                    level[j] = level[i].map(|l| l + 1);
                    queue.push_back(j);
                }
            }
        }
        level
    }
    pub(super) fn parents(a: &Csr<f64>, source: usize) -> Vec<Option<u32>> {
        let level = levels(a, source);
        let parent = |j: usize| {
            if j == source {
                return Some(j as u32);
            }
            let before = |i: &usize| level[*i].map(|l| l + 1) == level[j] && a.get(*i, j).is_some();
            level[j]?;
            (0..a.nrows()).find(before).map(|i| i as u32)
        };
        (0..a.nrows()).map(parent).collect()
    }
    pub(super) fn distances(a: &Csr<f64>, source: usize) -> Vec<Option<f64>> {
        let mut d: Vec<Option<f64>> = vec![None; a.nrows()];
        d[source] = Some(0.0);
        for _ in 0..a.nrows() {
            for (i, j, w) in a.iter() {
                if let Some(through) = d[i].map(|x| x + w) {
                    d[j] = Some(d[j].map_or(through, |x| x.min(through)));
                }
            }
        }
        d
    }
    pub(super) fn ranks(a: &Csr<f64>) -> Vec<Option<f64>> {
        let n = a.nrows();
        let mut r = vec![1.0 / n as f64; n];
        for _ in 0..300 {
            let mut next = vec![0.15 / n as f64; n];
            for (i, j, _) in a.iter() {
                next[j] += 0.85 * r[i] / a.row(i).0.len() as f64;
            }
            r = next;
        }
        r.into_iter().map(Some).collect()
    }
    pub(super) fn betweenness(a: &Csr<f64>, sources: &[usize]) -> Vec<Option<f64>> {
        let n = a.nrows();
        let mut centrality = vec![0.0; n];
        for &s in sources {
            let level = levels(a, s);
            let mut order: Vec<usize> = (0..n).filter(|&v| level[v].is_some()).collect();
            order.sort_by_key(|&v| level[v]);
            let follows = |i: usize, j: usize| level[j] == level[i].map(|l| l + 1);
            let mut paths = vec![0.0; n];
            paths[s] = 1.0;
            for &i in &order {
                for j in a.row(i).0.iter().map(|&j| j as usize).filter(|&j| follows(i, j)) {
                    paths[j] += paths[i];
                }
            }
            let mut depends = vec![0.0; n];
            for &i in order.iter().rev() {
                for j in a.row(i).0.iter().map(|&j| j as usize).filter(|&j| follows(i, j)) {
                    depends[i] += paths[i] / paths[j] * (1.0 + depends[j]);
                }
            }
            (0..n).filter(|&v| v != s).for_each(|v| centrality[v] += depends[v]);
        }
        centrality.into_iter().map(Some).collect()
    }
    pub(super) fn clustering(a: &Csr<f64>) -> Vec<Option<f64>> {
        let of = |i: usize| {
            let near = a.row(i).0;
            let pairs = near.iter().flat_map(|&j| near.iter().map(move |&k| (j, k))).filter(|(j, k)| j != k);
            let (mut all, mut joined) = (0.0, 0.0);
            for (j, k) in pairs {
                all += 1.0;
                joined += f64::from(u8::from(a.get(j as usize, k as usize).is_some()));
            }
            joined / all
        };
        // A vertex whose edges lie in no triangle has no entry in the product.
        (0..a.nrows()).map(|i| Some(of(i)).filter(|x| *x > 0.0)).collect()
    }
}

fn all_algorithms<B: Backend>(m: &B) {
    for seed in 1..5 {
        let (one_way, both_ways) = (graph(seed, false), graph(seed, true));
        let (a, at) = (m.upload(&one_way).unwrap(), m.upload(&one_way).unwrap());
        let at = m.transpose(&at).eval().unwrap();
        for source in [0, 7, 59] {
            for at in [None, Some(&at)] {
                let found = bfs_parents(m, &a, at, source as usize).unwrap();
                assert_eq!(found, textbook::parents(&one_way, source as usize));
                let found = bfs_levels(m, &a, at, source as usize).unwrap();
                let want = textbook::levels(&one_way, source as usize);
                assert!(found.iter().map(|l| l.map(|l| l as usize)).eq(want));
            }
            let want = textbook::distances(&one_way, source as usize);
            close(&shortest_paths(m, &a, source).unwrap(), &want);
            let want: Vec<_> = want.into_iter().map(|d| d.unwrap_or(f64::INFINITY)).collect();
            for delta in [None, Some(0.1), Some(2.0), Some(1e9), Some(1e-300)] {
                assert_eq!(sssp_distances(m, &a, source as usize, delta).unwrap(), want, "Δ = {delta:?}");
            }
        }
        close(&pagerank(m, &a, &at).unwrap(), &textbook::ranks(&one_way));
        let sources = [0, 3, 11, 58];
        close(
            &Vector::full(betweenness(m, &a, &at, &sources).unwrap()).unwrap(),
            &textbook::betweenness(&one_way, &sources),
        );
        let u = m.upload(&both_ways).unwrap();
        close(&local_clustering(m, &u).unwrap(), &textbook::clustering(&both_ways));
    }
}

/// Weights that are not lengths are rejected, and lengths beyond the last bucket terminate.
#[test]
fn lengths_at_the_edge() {
    let cpu = Cpu::with_threads(2).unwrap();
    let path = |w: [f64; 2]| Csr::<f64>::new(4, 4, vec![0, 1, 2, 2, 2], vec![1, 2], w.to_vec()).unwrap();
    let found = |w, delta| sssp_distances(&cpu, &path(w), 0, delta);
    assert_eq!(found([1e300, 1e300], Some(1e-300)).unwrap(), [0.0, 1e300, 2e300, f64::INFINITY]);
    assert_eq!(found([1.0, f64::INFINITY], None).unwrap(), [0.0, 1.0, f64::INFINITY, f64::INFINITY]);
    assert_eq!(found([0.0, 0.0], None).unwrap(), [0.0, 0.0, 0.0, f64::INFINITY]);
    let far = found([f64::MAX, f64::MAX], None).unwrap();
    assert_eq!(far, [0.0, f64::MAX, f64::INFINITY, f64::INFINITY]);
    let refused = |w, delta, text: &str| {
        let e = found(w, delta).unwrap_err().to_string();
        assert!(e.contains(text), "{e}");
    };
    refused([1.0, -2.0], None, "the least is -2");
    refused([1.0, f64::NAN], None, "NaN");
    refused([f64::NAN, 1.0], None, "NaN");
    for delta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused([1.0, 1.0], Some(delta), "width of a bucket");
    }
    assert!(sssp_distances(&cpu, &path([1.0, 1.0]), 4, None).is_err());
    let lone = Csr::<f64>::empty(1, 1).unwrap();
    assert_eq!(sssp_distances(&cpu, &lone, 0, None).unwrap(), [0.0]);
}

#[test]
fn on_the_processor() {
    all_algorithms(&Cpu::new());
    all_algorithms(&Cpu::with_threads(3).unwrap());
}

#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs a GPU"]
fn on_a_gpu() {
    all_algorithms(&Cuda::new(0).unwrap());
}

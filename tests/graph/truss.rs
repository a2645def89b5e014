//! Trusses and truss numbers.

use sparring::graph::{GraphKind, k_truss, truss_numbers};

use super::common::{Sample, by_threads, large, samples};

/// Edges in fewer than k − 2 triangles are removed one by one.
fn textbook(s: &Sample, k: usize) -> Vec<(u32, u32)> {
    let mut a = s.simple();
    let pairs: Vec<_> = (0..s.n).flat_map(|i| (i + 1..s.n).map(move |j| (i, j))).collect();
    let triangles = |a: &[Vec<bool>], i: usize, j: usize| a[i].iter().zip(&a[j]).filter(|x| *x.0 && *x.1).count();
    while let Some(&(i, j)) = pairs.iter().find(|&&(i, j)| a[i][j] && triangles(&a, i, j) + 2 < k) {
        a[i][j] = false;
        a[j][i] = false;
    }
    pairs.into_iter().filter(|&(i, j)| a[i][j]).map(|(i, j)| (i as u32, j as u32)).collect()
}

#[test]
fn trusses_are_the_definition() {
    for s in samples().iter().filter(|s| s.weights.is_none()) {
        let found = by_threads(&s.name, |cpu| truss_numbers(cpu, &s.graph(cpu)).unwrap());
        let most = found.numbers.iter().copied().max().unwrap_or(2);
        assert!(found.edges.len() == found.numbers.len() && found.edges.is_sorted(), "{}", s.name);
        for k in 0..=most + 1 {
            let want = textbook(s, k as usize);
            let truss = by_threads(&s.name, |cpu| k_truss(cpu, &s.graph(cpu), k).unwrap());
            assert_eq!(truss, want, "{}: {k}", s.name);
            let edges = found.edges.iter().zip(&found.numbers).filter(|x| *x.1 >= k).map(|x| *x.0);
            assert!(edges.eq(want), "{}: {k}", s.name);
        }
    }
}

/// Hubs, whose rows are searched, and long cascades: each truss is its own truss, and the truss numbers agree.
#[test]
fn trusses_of_a_large_graph_agree() {
    let s = large(11, 12, GraphKind::Undirected, 6);
    let found = by_threads(&s.name, |cpu| truss_numbers(cpu, &s.graph(cpu)).unwrap());
    let most = found.numbers.iter().copied().max().unwrap();
    assert!(most > 10);
    for k in [3, 4, 5, most, most + 1] {
        let truss = by_threads(&s.name, |cpu| k_truss(cpu, &s.graph(cpu), k).unwrap());
        let edges = found.edges.iter().zip(&found.numbers).filter(|x| *x.1 >= k).map(|x| *x.0);
        assert!(edges.eq(truss.iter().copied()), "{k}");
        let mut rows = vec![vec![]; s.n];
        for &(i, j) in &truss {
            rows[i as usize].push(j);
            rows[j as usize].push(i);
        }
        rows.iter_mut().for_each(|row| row.sort_unstable());
        for &(i, j) in &truss {
            let common = rows[i as usize].iter().filter(|w| rows[j as usize].binary_search(w).is_ok()).count();
            assert!(common + 2 >= k as usize, "{k}: ({i}, {j}) in {common}");
        }
    }
}

//! Maximum matchings of rows and columns.

use sparring::Pattern;
use sparring::graph::{UNMATCHED, bipartite_matching};

use super::common::{Rng, by_threads};

/// The size of a maximum matching, by augmenting paths row by row (Kuhn 1955).
fn textbook(a: &Pattern) -> usize {
    fn augment(a: &Pattern, i: usize, seen: &mut [bool], rows: &mut [Option<usize>]) -> bool {
        a.row(i).iter().any(|&j| {
            let j = j as usize;
            let new = !std::mem::replace(&mut seen[j], true);
            let found = new && rows[j].is_none_or(|row| augment(a, row, seen, rows));
            if found {
                rows[j] = Some(i);
            }
            found
        })
    }
    let mut rows = vec![None; a.ncols()];
    (0..a.nrows()).filter(|&i| augment(a, i, &mut vec![false; a.ncols()], &mut rows)).count()
}

fn check(a: &Pattern, what: &str) {
    let found = by_threads(what, |cpu| bipartite_matching(cpu, a).unwrap());
    assert_eq!(found.size, textbook(a), "{what}");
    let pairs = found.rows.iter().enumerate().filter(|x| *x.1 != UNMATCHED);
    assert_eq!(pairs.clone().count(), found.size, "{what}");
    for (i, &j) in pairs {
        assert!(a.row(i).contains(&j) && found.cols[j as usize] == i as u32, "{what}: ({i}, {j})");
    }
    assert_eq!(found.cols.iter().filter(|&&i| i != UNMATCHED).count(), found.size, "{what}");
    assert_eq!((found.rows.len(), found.cols.len()), a.shape(), "{what}");
}

fn pattern(nrows: usize, ncols: usize, draws: impl IntoIterator<Item = (usize, usize)>) -> Pattern {
    let mut entries: Vec<_> = draws.into_iter().collect();
    entries.sort_unstable();
    entries.dedup();
    let mut ptr = vec![0; nrows + 1];
    entries.iter().for_each(|e| ptr[e.0 + 1] += 1);
    (0..nrows).for_each(|i| ptr[i + 1] += ptr[i]);
    Pattern::new(nrows, ncols, ptr, entries.iter().map(|e| e.1 as u32).collect()).unwrap()
}

#[test]
fn matchings_are_maximum() {
    let mut rng = Rng(12);
    for case in 0..300 {
        let (nrows, ncols) = (rng.below(40), rng.below(40));
        let draws = if nrows * ncols == 0 { 0 } else { rng.below(1 + 3 * nrows) };
        let a = pattern(nrows, ncols, (0..draws).map(|_| (rng.below(nrows), rng.below(ncols))));
        check(&a, &format!("case {case}: {nrows}×{ncols}"));
    }
}

/// Greedy matching takes the wrong column each time, and one long augmenting path repairs it.
#[test]
fn long_paths_are_found() {
    let n = 500;
    // Row i has columns i and i + 1, and rows are matched from the last one on; the last row has only the first column.
    let chain = (0..n).flat_map(|i| [(i, i), (i, i + 1)]).filter(|e| e.1 < n).chain([(n, 0)]);
    check(&pattern(n + 1, n, chain), "a chain with a row too many");
    let chain = (0..n).flat_map(|i| [(i, i), (i, i + 1)]).chain([(n, 0)]);
    check(&pattern(n + 1, n + 1, chain), "a chain");
}

/// Chains of rows and columns with a single entry, and hubs.
#[test]
fn matchings_of_large_patterns_are_maximum() {
    let mut rng = Rng(4);
    for (case, draws) in [600, 1000, 2000].into_iter().enumerate() {
        let mut skewed = || {
            let most = 1 + rng.below(1000);
            rng.below(most)
        };
        check(&pattern(1000, 1000, (0..draws).map(|_| (skewed(), skewed()))), &format!("large case {case}"));
    }
}

#[test]
fn rows_that_compete_lose() {
    check(&pattern(50, 3, (0..50).flat_map(|i| (0..3).map(move |j| (i, j)))), "many rows");
    check(&pattern(3, 50, (0..3).flat_map(|i| (0..50).map(move |j| (i, j)))), "many columns");
    check(&pattern(4, 4, []), "no entries");
}

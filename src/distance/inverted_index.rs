//! Inverted-index (output-sensitive) kNN, for rows of which most pairs share no column. Each row of X queries all of Y
//! at once and examines the rows that share a column; the others follow in order of their norms, as many as needed.

use super::best::{TopK, put};
use super::engine::{Engine, Ranking, Whole, query_blocks};
use super::float::Float;
use crate::Result;
use crate::par::{Threads, UninitOutput};

/// The `k` nearest rows of Y for each row of X, and their distances; there are at least `k`.
pub(super) fn nearest<T: Float>(
    threads: &Threads,
    engine: &dyn Engine,
    whole: &dyn Whole,
    ranking: &Ranking<'_>,
    k: usize,
    exclude_self: bool,
) -> Result<(Vec<u32>, Vec<T>)> {
    let n = engine.nrows().0;
    let blocks = query_blocks(engine, threads)?;
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end) * k;
    UninitOutput::new(n.saturating_mul(k), "neighbours")?.fill_with(
        UninitOutput::new(n.saturating_mul(k), "distances")?,
        threads,
        "nearest neighbours",
        blocks.len(),
        end,
        || Ok((whole.row_query()?, TopK::new(k)?)),
        |(query, best), b, indices, distances| {
            let mut together = blocks[b].start;
            for i in blocks[b].clone() {
                let skip = exclude_self.then_some(i as u32);
                best.clear();
                if i >= together {
                    together = i + query.query_together(i..blocks[b].end);
                }
                if i < together {
                    query.select_row(i);
                    query.all(&mut |first, keys| best.offer_all(ranking, first as u32, keys, skip));
                    put(best.sorted(), ranking, indices, distances);
                    continue;
                }
                let rare = query.query_rare(i).is_some_and(|least| {
                    query.touched(&mut |rows, keys| best.offer(ranking, rows, keys, skip));
                    let enough = best.is_settled(ranking, least);
                    query.record_outcome(enough);
                    enough
                });
                if !rare {
                    best.clear();
                    query.query(i);
                    if query.is_ordered() {
                        query.touched(&mut |rows, keys| best.offer(ranking, rows, keys, skip));
                        query.others(&mut |key, rows| best.others(ranking, key, rows, skip));
                    } else {
                        query.all(&mut |first, keys| best.offer_all(ranking, first as u32, keys, skip));
                    }
                }
                put(best.sorted(), ranking, indices, distances);
            }
            Ok(())
        },
    )
}

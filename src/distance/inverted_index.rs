//! Inverted-index (output-sensitive) kNN, for rows of which most pairs share no column: each row of X queries all of Y
//! at once, and examines the rows that share a column; the others follow in order of their norms, as many as needed.

use super::best::{Best, put};
use super::engine::{Engine, Far, Whole, query_blocks};
use super::float::Float;
use crate::Result;
use crate::par::{Fresh, Threads};

/// The `k` nearest rows of Y for each row of X, of which there are as many: their numbers, and distances to them.
pub(super) fn nearest<T: Float>(
    threads: &Threads,
    engine: &dyn Engine,
    whole: &dyn Whole,
    far: &Far<'_>,
    k: usize,
    exclude_self: bool,
) -> Result<(Vec<u32>, Vec<T>)> {
    let n = engine.nrows().0;
    let blocks = query_blocks(engine, threads)?;
    let end = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end) * k;
    Fresh::new(n.saturating_mul(k), "neighbours")?.fill_with(
        Fresh::new(n.saturating_mul(k), "distances")?,
        threads,
        "nearest neighbours",
        blocks.len(),
        end,
        || Ok((whole.row_query()?, Best::new(k)?)),
        |(query, best), b, indices, distances| {
            let mut together = blocks[b].start;
            for i in blocks[b].clone() {
                let skip = exclude_self.then_some(i as u32);
                best.clear();
                if i >= together {
                    together = i + query.query_together(i..blocks[b].end);
                }
                if i < together {
                    query.turn_to(i);
                    query.all(&mut |first, keys| best.offer_all(far, first as u32, keys, skip));
                    put(best.sorted(), far, indices, distances);
                    continue;
                }
                let rare = query.query_rare(i).is_some_and(|least| {
                    query.touched(&mut |rows, keys| best.offer(far, rows, keys, skip));
                    let enough = best.is_settled(far, least);
                    query.was_enough(enough);
                    enough
                });
                if !rare {
                    best.clear();
                    query.query(i);
                    if query.is_ordered() {
                        query.touched(&mut |rows, keys| best.offer(far, rows, keys, skip));
                        query.others(&mut |key, rows| best.others(far, key, rows, skip));
                    } else {
                        query.all(&mut |first, keys| best.offer_all(far, first as u32, keys, skip));
                    }
                }
                put(best.sorted(), far, indices, distances);
            }
            Ok(())
        },
    )
}

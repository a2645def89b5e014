//! The nearest rows where most pairs share no column: each row of X asks all of Y at once, and looks at the rows that it meets; the others
//! follow in order of their norms, as many as are wanted.

use super::engine::{Engine, Far, Whole, query_blocks};
use super::float::Float;
use crate::Result;
use crate::par::{Fresh, Threads, reserved};

/// A candidate: how far, which, its key.
type Candidate = (f64, u32, f64);

/// Whether `a` is farther than `b`. NaN is farther than anything else.
fn farther(a: Candidate, b: Candidate) -> bool {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).is_gt()
}

/// The k nearest of the candidates of one row, which may come in any order.
struct Best {
    k: usize,
    /// The farthest on top.
    heap: Vec<Candidate>,
    /// A key whose distance is beyond that of the top; NaN while none is known.
    bound: f64,
}

impl Best {
    fn new(k: usize) -> Result<Self> {
        Ok(Self { k, heap: reserved(k, "neighbours")?, bound: f64::NAN })
    }
    fn clear(&mut self) {
        self.heap.clear();
        self.bound = f64::NAN;
    }
    fn is_full(&self) -> bool {
        self.heap.len() == self.k
    }
    /// Whether a key is beyond what may be taken.
    #[inline(always)]
    fn is_beyond(&self, key: f64) -> bool {
        key >= self.bound
    }
    /// Takes candidates if they are near enough.
    fn offer(&mut self, far: &Far<'_>, rows: &[u32], keys: &[f64], skip: Option<u32>) {
        for (rows, keys) in rows.chunks(64).zip(keys.chunks(64)) {
            // Most are refused.
            if keys.iter().fold(true, |all, &key| all & self.is_beyond(key)) {
                continue;
            }
            for (&j, &key) in rows.iter().zip(keys) {
                if !self.is_beyond(key) && Some(j) != skip {
                    self.look_at(far, key, j);
                }
            }
        }
    }
    /// The same for rows from `first` on.
    fn offer_all(&mut self, far: &Far<'_>, first: u32, keys: &[f64], skip: Option<u32>) {
        let mut rows = [0; 64];
        for (first, keys) in (first..).step_by(64).zip(keys.chunks(64)) {
            rows.iter_mut().zip(first..).for_each(|(row, j)| *row = j);
            self.offer(far, &rows[..keys.len()], keys, skip);
        }
    }
    /// Takes a candidate if it is near enough; its distance is computed only where its key does not tell.
    fn look_at(&mut self, far: &Far<'_>, key: f64, j: u32) {
        if self.is_full() {
            let Some(&top) = self.heap.first() else { return };
            // A larger key is at least as far.
            if key >= top.2 && j > top.1 {
                return;
            }
            let distance = if key == top.2 { top.0 } else { far.of(key) };
            self.take((distance, j, key));
        } else {
            self.take((far.of(key), j, key));
        }
    }
    /// Takes a candidate if it is near enough: whether it did.
    fn take(&mut self, new: Candidate) -> bool {
        if !self.is_full() {
            let mut at = self.heap.len();
            self.heap.push(new);
            while at > 0 && farther(self.heap[at], self.heap[(at - 1) / 2]) {
                self.heap.swap(at, (at - 1) / 2);
                at = (at - 1) / 2;
            }
            return true;
        }
        let Some(&top) = self.heap.first() else { return false };
        if !farther(top, new) {
            if new.0.total_cmp(&top.0).is_gt() {
                self.bound = self.bound.min(new.2);
            }
            return false;
        }
        let heap = &mut self.heap;
        heap[0] = new;
        let mut at = 0;
        while 2 * at + 1 < heap.len() {
            let mut child = 2 * at + 1;
            if child + 1 < heap.len() && farther(heap[child + 1], heap[child]) {
                child += 1;
            }
            if !farther(heap[child], heap[at]) {
                break;
            }
            heap.swap(at, child);
            at = child;
        }
        if top.0.total_cmp(&heap[0].0).is_gt() {
            self.bound = self.bound.min(top.2);
        }
        true
    }
    /// Takes rows that share no column with the one that asks: of one key, in order. Whether there may be more.
    fn others(&mut self, far: &Far<'_>, key: f64, rows: &mut dyn Iterator<Item = u32>, skip: Option<u32>) -> bool {
        if self.is_full() && self.is_beyond(key) {
            return false;
        }
        let distance = far.of(key);
        if self.is_full() && self.heap.first().is_none_or(|top| distance.total_cmp(&top.0).is_gt()) {
            return false;
        }
        for j in rows.filter(|&j| Some(j) != skip) {
            // Those behind it have the same key, and larger numbers.
            if !self.take((distance, j, key)) {
                break;
            }
        }
        true
    }
}

/// Bytes of candidates for each thread.
pub(super) fn bytes(threads: &Threads, k: usize) -> u64 {
    (threads.count() * k * size_of::<Candidate>()) as u64
}

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
        || Ok((whole.asker()?, Best::new(k)?)),
        |(asker, best), b, indices, distances| {
            for i in blocks[b].clone() {
                let skip = exclude_self.then_some(i as u32);
                best.clear();
                asker.ask(i);
                if asker.is_ordered() {
                    asker.met(&mut |rows, keys| best.offer(far, rows, keys, skip));
                    asker.others(&mut |key, rows| best.others(far, key, rows, skip));
                } else {
                    asker.all(&mut |first, keys| best.offer_all(far, first as u32, keys, skip));
                }
                best.heap.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                for (slot, &(_, j, _)) in indices.take(k, 0u32).iter_mut().zip(&best.heap) {
                    *slot = j;
                }
                for (slot, &(d, ..)) in distances.take(k, T::ZERO).iter_mut().zip(&best.heap) {
                    *slot = T::from_f64(far.signed(d));
                }
            }
            Ok(())
        },
    )
}

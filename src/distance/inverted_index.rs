//! Inverted-index (output-sensitive) kNN, for rows of which most pairs share no column: each row of X queries all of Y
//! at once, and examines the rows that share a column; the others follow in order of their norms, as many as needed.

use super::engine::{Engine, Far, Whole, query_blocks};
use super::float::Float;
use crate::Result;
use crate::par::{Fresh, Threads, reserved};
use crate::simd::{Work, dispatch_work};

/// A candidate as a number: how far, then which. NaN is farther than anything else.
fn code(far: f64, j: u32) -> u128 {
    let bits = far.to_bits();
    let bits = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
    u128::from(bits) << 32 | u128::from(j)
}

/// The distance of a candidate, and which it is.
fn of_code(code: u128) -> (f64, u32) {
    let bits = (code >> 32) as u64;
    let bits = if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits };
    (f64::from_bits(bits), code as u32)
}

/// Keys that are looked at together.
const BLOCK: usize = 64;

/// Parts of candidates of which each has its least key.
const PARTS: usize = 16;

/// A number that at least `count` of the keys do not exceed: place i is of part i modulo so many; the least of each,
/// and of those the one that so many do not exceed. NaN is in no part; ∞ if there are fewer.
struct Nearest<'a> {
    keys: &'a [f64],
    count: usize,
}

impl Work for Nearest<'_> {
    type Out = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        let mut least = [f64::INFINITY; PARTS];
        let lesser = |(least, &key): (&mut f64, &f64)| *least = if key < *least { key } else { *least };
        let (whole, rest) = self.keys.as_chunks::<PARTS>();
        whole.iter().for_each(|keys| least.iter_mut().zip(keys).for_each(lesser));
        least.iter_mut().zip(rest).for_each(lesser);
        let mut not_above = [0u64; PARTS];
        for x in least {
            not_above.iter_mut().zip(&least).for_each(|(n, &y)| *n += u64::from(x <= y));
        }
        let enough = |(&x, &n): (&f64, &u64)| if n >= self.count as u64 { x } else { f64::INFINITY };
        let mut nth = [f64::INFINITY; 4];
        for (least, not_above) in least.chunks(4).zip(not_above.chunks(4)) {
            nth.iter_mut().zip(least.iter().zip(not_above)).for_each(|(nth, of)| lesser((nth, &enough(of))));
        }
        nth.into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// Whether a key is known to be too far: nothing is if NaN is what is beyond.
#[inline(always)]
fn is_beyond(key: f64, beyond: f64) -> bool {
    key >= beyond
}

/// The k nearest of the candidates of one row, which may come in any order.
struct Best {
    k: usize,
    /// Those that may be among them, more than k now and then.
    codes: Vec<u128>,
    /// Most of these.
    room: usize,
    /// The k-th of those that were there when it was looked for; above it is none.
    bound: u128,
    /// A key whose distance is beyond that; NaN while none is known.
    beyond: f64,
}

impl Best {
    fn new(k: usize) -> Result<Self> {
        let room = room(k);
        Ok(Self { k, codes: reserved(room, "neighbours")?, room, bound: u128::MAX, beyond: f64::NAN })
    }
    fn clear(&mut self) {
        self.codes.clear();
        (self.bound, self.beyond) = (u128::MAX, f64::NAN);
    }
    /// Takes a candidate that is not beyond the bound.
    #[inline(always)]
    fn push(&mut self, code: u128) {
        if self.codes.len() == self.room {
            self.fewer();
            if code > self.bound {
                return;
            }
        }
        self.codes.push(code);
    }
    /// Leaves the k nearest of those that are there, if there are as many: whether there are.
    fn fewer(&mut self) -> bool {
        let Some(last) = self.k.checked_sub(1) else {
            self.codes.clear();
            self.bound = 0;
            return true;
        };
        if self.codes.len() <= last {
            return false;
        }
        let (_, &mut bound, _) = self.codes.select_nth_unstable(last);
        self.codes.truncate(self.k);
        self.bound = bound;
        true
    }
    /// Whether all that is taken is nearer than any row of a key above `least`.
    fn is_settled(&mut self, far: &Far<'_>, least: f64) -> bool {
        self.fewer() && !of_code(self.bound).0.is_nan() && code(far.of(least), 0) >> 32 > self.bound >> 32
    }
    /// Takes candidates if they are near enough.
    fn offer(&mut self, far: &Far<'_>, rows: &[u32], keys: &[f64], skip: Option<u32>) {
        if self.beyond.is_nan() {
            self.foresee(far, keys, self.k + usize::from(skip.is_some()));
        }
        for (rows, keys) in rows.chunks(BLOCK).zip(keys.chunks(BLOCK)) {
            if keys.iter().fold(true, |all, &key| all & is_beyond(key, self.beyond)) {
                continue;
            }
            let (mut near, mut distances, mut len) = ([0u8; BLOCK], [0.0; BLOCK], 0);
            for (place, &key) in (0..).zip(keys) {
                (near[len], distances[len]) = (place, key);
                len += usize::from(!is_beyond(key, self.beyond));
            }
            let distances = &mut distances[..len];
            far.of_all(distances);
            for (&place, &distance) in near.iter().zip(&*distances) {
                let j = rows[usize::from(place)];
                let code = code(distance, j);
                if code <= self.bound {
                    if Some(j) != skip {
                        self.push(code);
                    }
                } else if code >> 32 > self.bound >> 32 {
                    self.beyond = self.beyond.min(keys[usize::from(place)]);
                }
            }
        }
    }
    /// Finds a bound for the nearest `count` of candidates that have not been looked at, from their keys alone: of
    /// parts of them the least each, and of those as many.
    fn foresee(&mut self, far: &Far<'_>, keys: &[f64], count: usize) {
        if count == 0 || count > PARTS || keys.len() < 2 * count {
            return;
        }
        let least = dispatch_work(Nearest { keys, count });
        // What is above it by so little may still be as far.
        let mut distances = [least, least + least.abs() * 1e-6 + f64::MIN_POSITIVE];
        let above = distances[1];
        far.of_all(&mut distances);
        let [distance, next] = distances;
        if distance < next {
            self.bound = self.bound.min(code(distance, u32::MAX));
            self.beyond = above;
        }
    }
    /// The same for rows from `first` on.
    fn offer_all(&mut self, far: &Far<'_>, first: u32, keys: &[f64], skip: Option<u32>) {
        let mut rows = [0; BLOCK];
        for (first, keys) in (first..).step_by(BLOCK).zip(keys.chunks(BLOCK)) {
            rows.iter_mut().zip(first..).for_each(|(row, j)| *row = j);
            self.offer(far, &rows[..keys.len()], keys, skip);
        }
    }
    /// Takes rows that share no column with the one that asks: of one key, in order. Whether there may be more.
    fn others(&mut self, far: &Far<'_>, key: f64, rows: &mut dyn Iterator<Item = u32>, skip: Option<u32>) -> bool {
        let distance = far.of(key);
        if code(distance, 0) > self.bound || self.fewer() && code(distance, 0) > self.bound {
            return false;
        }
        // Of one distance the first are the nearest.
        for j in rows.filter(|&j| Some(j) != skip).take(self.k) {
            let code = code(distance, j);
            if code > self.bound {
                break;
            }
            self.push(code);
        }
        true
    }
    /// The k nearest, in order.
    fn sorted(&mut self) -> &[u128] {
        // Few more than k are sorted sooner than parted.
        if self.codes.len() > 2 * self.k.max(PARTS) {
            self.fewer();
        }
        self.codes.sort_unstable();
        self.codes.truncate(self.k);
        &self.codes
    }
}

/// Candidates that are kept where so many are wanted.
fn room(k: usize) -> usize {
    k.saturating_mul(2).max(2 * BLOCK)
}

/// Bytes of candidates for each thread.
pub(super) fn bytes(threads: &Threads, k: usize) -> u64 {
    (threads.count() * size_of::<u128>()) as u64 * room(k) as u64
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
        || Ok((whole.row_query()?, Best::new(k)?)),
        |(query, best), b, indices, distances| {
            for i in blocks[b].clone() {
                let skip = exclude_self.then_some(i as u32);
                best.clear();
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
                let found = best.sorted();
                for (slot, &code) in indices.take(k, 0u32).iter_mut().zip(found) {
                    *slot = of_code(code).1;
                }
                for (slot, &code) in distances.take(k, T::ZERO).iter_mut().zip(found) {
                    *slot = T::from_f64(far.signed(of_code(code).0));
                }
            }
            Ok(())
        },
    )
}

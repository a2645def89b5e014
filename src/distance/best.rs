//! The k nearest of the candidates of one row: a buffer collects more than k, and selection reduces it to k when it is
//! full.

use super::engine::Ranking;
use super::float::Float;
use crate::Result;
use crate::par::{OutputSlice, reserved};
use crate::simd::{Work, dispatch_work};

/// A candidate as a sortable number: distance first, then row. NaN is farther than anything else.
pub(super) fn code(distance: f64, j: u32) -> u128 {
    let bits = distance.to_bits();
    let bits = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
    u128::from(bits) << 32 | u128::from(j)
}

/// The distance and the row of a candidate.
pub(super) fn of_code(code: u128) -> (f64, u32) {
    let bits = (code >> 32) as u64;
    let bits = if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits };
    (f64::from_bits(bits), code as u32)
}

/// Keys that are tested together.
const BLOCK: usize = 64;

/// Groups of candidates, each of which contributes its least key.
const PARTS: usize = 16;

/// An upper bound on the `count`-th smallest key: key i belongs to group i modulo [`PARTS`], and the bound is the
/// `count`-th smallest of the groups' least keys. NaN is in no group; ∞ if there are too few.
struct UpperBound<'a> {
    keys: &'a [f64],
    count: usize,
}

impl Work for UpperBound<'_> {
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

/// Whether a key is certainly too far; never if `beyond` is NaN.
#[inline(always)]
fn is_beyond(key: f64, beyond: f64) -> bool {
    key >= beyond
}

/// The start of the first [`BLOCK`] of keys that may hold one near enough, or the end.
struct FirstNear<'a> {
    keys: &'a [f64],
    beyond: f64,
}

impl Work for FirstNear<'_> {
    type Out = usize;
    #[inline(always)]
    fn run(self) -> usize {
        let Self { keys, beyond } = self;
        let mut blocks = keys.chunks(BLOCK);
        let skipped = blocks.position(|keys| !keys.iter().fold(true, |all, &key| all & is_beyond(key, beyond)));
        skipped.map_or(keys.len(), |blocks| blocks * BLOCK)
    }
}

/// The k nearest of the candidates of one row, which may come in any order.
pub(super) struct TopK {
    k: usize,
    /// Candidates so far; at times more than k.
    codes: Vec<u128>,
    /// Capacity of `codes`.
    room: usize,
    /// The k-th smallest code at the last selection; larger ones are refused.
    bound: u128,
    /// A key whose distance is beyond `bound`; NaN while none is known.
    beyond: f64,
}

impl TopK {
    pub(super) fn new(k: usize) -> Result<Self> {
        let room = room(k);
        Ok(Self { k, codes: reserved(room, "neighbours")?, room, bound: u128::MAX, beyond: f64::NAN })
    }
    pub(super) fn clear(&mut self) {
        self.codes.clear();
        (self.bound, self.beyond) = (u128::MAX, f64::NAN);
    }
    /// Takes the nearest rows found earlier, before any other candidate.
    pub(super) fn resume(&mut self, codes: &[u128]) {
        self.codes.extend_from_slice(codes);
        // The last is the farthest.
        if let Some(&last) = codes.get(self.k.wrapping_sub(1)) {
            self.bound = last;
        }
    }
    /// Takes a candidate that is not beyond the bound.
    #[inline(always)]
    fn push(&mut self, code: u128) {
        if self.codes.len() == self.room {
            self.shrink();
            if code > self.bound {
                return;
            }
        }
        self.codes.push(code);
    }
    /// Reduces the candidates to the k nearest; returns whether there are as many.
    fn shrink(&mut self) -> bool {
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
    /// Whether all k candidates are nearer than any row with a key above `least`.
    pub(super) fn is_settled(&mut self, ranking: &Ranking<'_>, least: f64) -> bool {
        self.shrink() && !of_code(self.bound).0.is_nan() && code(ranking.of(least), 0) >> 32 > self.bound >> 32
    }
    /// Takes the candidates that are near enough.
    pub(super) fn offer(&mut self, ranking: &Ranking<'_>, rows: &[u32], keys: &[f64], skip: Option<u32>) {
        self.offer_each(ranking, |position| rows[position], keys, skip);
    }
    /// The same for rows from `first` on.
    pub(super) fn offer_all(&mut self, ranking: &Ranking<'_>, first: u32, keys: &[f64], skip: Option<u32>) {
        self.offer_each(ranking, |position| first + position as u32, keys, skip);
    }
    fn offer_each(&mut self, ranking: &Ranking<'_>, row: impl Fn(usize) -> u32, keys: &[f64], skip: Option<u32>) {
        if self.beyond.is_nan() {
            self.preselect(ranking, keys, self.k + usize::from(skip.is_some()));
        }
        let mut first = 0;
        loop {
            let near = FirstNear { keys: &keys[first..], beyond: self.beyond };
            first += if near.keys.len() > BLOCK { dispatch_work(near) } else { near.run() };
            let keys = &keys[first..keys.len().min(first + BLOCK)];
            if keys.is_empty() {
                return;
            }
            let (mut near, mut distances, mut len) = ([0u8; BLOCK], [0.0; BLOCK], 0);
            for (position, &key) in (0..).zip(keys) {
                (near[len], distances[len]) = (position, key);
                len += usize::from(!is_beyond(key, self.beyond));
            }
            let distances = &mut distances[..len];
            ranking.of_all(distances);
            for (&position, &distance) in near.iter().zip(&*distances) {
                let j = row(first + usize::from(position));
                let code = code(distance, j);
                if code <= self.bound {
                    if Some(j) != skip {
                        self.push(code);
                    }
                } else if code >> 32 > self.bound >> 32 {
                    self.beyond = self.beyond.min(keys[usize::from(position)]);
                }
            }
            first += keys.len();
        }
    }
    /// Finds a bound for the nearest `count` candidates from their keys alone, before any is examined: see
    /// [`UpperBound`].
    fn preselect(&mut self, ranking: &Ranking<'_>, keys: &[f64], count: usize) {
        if count == 0 || count > PARTS || keys.len() < 2 * count {
            return;
        }
        let least = dispatch_work(UpperBound { keys, count });
        // A key slightly above it may still have the same distance.
        let mut distances = [least, least + least.abs() * 1e-6 + f64::MIN_POSITIVE];
        let above = distances[1];
        ranking.of_all(&mut distances);
        let [distance, next] = distances;
        if distance < next {
            self.bound = self.bound.min(code(distance, u32::MAX));
            self.beyond = above;
        }
    }
    /// Takes rows that share no column with the query; all have one key, and they come in order. Returns whether more
    /// may be needed.
    pub(super) fn others(
        &mut self,
        ranking: &Ranking<'_>,
        key: f64,
        rows: &mut dyn Iterator<Item = u32>,
        skip: Option<u32>,
    ) -> bool {
        let distance = ranking.of(key);
        // Selection costs as much as taking some candidates.
        let is_full = self.codes.len() >= self.k + if self.bound == u128::MAX { 0 } else { self.k / 8 };
        if code(distance, 0) > self.bound || is_full && self.shrink() && code(distance, 0) > self.bound {
            return false;
        }
        // At equal distance the first rows rank nearest.
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
    pub(super) fn sorted(&mut self) -> &[u128] {
        // A few more than k are sorted faster than partitioned.
        if self.codes.len() > self.k + self.k.max(4 * PARTS) / 4 {
            self.shrink();
        }
        self.codes.sort_unstable();
        self.codes.truncate(self.k);
        &self.codes
    }
}

/// Most candidates that are held for `k` neighbours.
fn room(k: usize) -> usize {
    k.saturating_mul(2).max(2 * BLOCK)
}

/// Bytes of the candidates of a row.
pub(super) fn bytes(k: usize) -> u64 {
    (size_of::<u128>() as u64).saturating_mul(room(k) as u64)
}

/// Writes the nearest rows of a row and their distances.
pub(super) fn put<T: Float>(
    codes: &[u128],
    ranking: &Ranking<'_>,
    indices: &mut OutputSlice<'_, u32>,
    distances: &mut OutputSlice<'_, T>,
) {
    for (slot, &code) in indices.take(codes.len(), 0u32).iter_mut().zip(codes) {
        *slot = of_code(code).1;
    }
    for (slot, &code) in distances.take(codes.len(), T::ZERO).iter_mut().zip(codes) {
        *slot = T::from_f64(ranking.signed(of_code(code).0));
    }
}

//! The inner loops: entries stream past while one block of columns of the sum stays in registers.
//!
//! Blocks are the paper's TinyVec with a compile-time length (Phipps and Kolda 2019, §3.2). A row of R values is cut
//! into blocks of 32, then one each of 24, 16, 8, 4, 2 and 1 as they fit, so no loop has a length unknown at compile
//! time.

use std::ops::Range;

use crate::algebra::{Arithmetic, Value};
use crate::simd::{Work, dispatch_wide, prefetch};

/// Entries whose products are folded: initial values, and the factor rows by which they are multiplied.
pub(super) trait Entries<T>: Sync {
    /// Initial value of entry `e` in columns `c..c + B`.
    fn start<const B: usize>(&self, e: usize, c: usize) -> [T; B];
    /// Row of the `k`-th factor for entry `e`.
    fn row(&self, e: usize, k: usize) -> usize;
}

/// Scalars interleaved with their indices: a copy of the tensor in some order.
pub(super) struct Interleaved<'a, T, I> {
    pub(super) values: &'a [T],
    /// `stride` indices per entry.
    pub(super) indices: &'a [I],
    pub(super) stride: usize,
}
impl<T: Value, I: crate::Index> Entries<T> for Interleaved<'_, T, I> {
    #[inline(always)]
    fn start<const B: usize>(&self, e: usize, _: usize) -> [T; B] {
        [self.values[e]; B]
    }
    #[inline(always)]
    fn row(&self, e: usize, k: usize) -> usize {
        self.indices[e * self.stride + k].get()
    }
}

/// Scalars of the tensor itself, in stored order or through a permutation.
pub(super) struct Through<'a, T, I> {
    pub(super) order: Option<&'a [I]>,
    pub(super) values: &'a [T],
    /// Index lists of the modes multiplied by.
    pub(super) indices: &'a [&'a [I]],
}
impl<T: Value, I: crate::Index> Through<'_, T, I> {
    #[inline(always)]
    fn number(&self, e: usize) -> usize {
        self.order.map_or(e, |order| order[e].get())
    }
}
impl<T: Value, I: crate::Index> Entries<T> for Through<'_, T, I> {
    #[inline(always)]
    fn start<const B: usize>(&self, e: usize, _: usize) -> [T; B] {
        [self.values[self.number(e)]; B]
    }
    #[inline(always)]
    fn row(&self, e: usize, k: usize) -> usize {
        self.indices[k][self.number(e)].get()
    }
}

/// Rows of partial products, in stored order or through a permutation.
pub(super) struct Partials<'a, T, I> {
    pub(super) order: Option<&'a [I]>,
    pub(super) rows: &'a [T],
    pub(super) rank: usize,
    /// Index lists of the modes multiplied by.
    pub(super) indices: &'a [&'a [I]],
}
impl<T: Value, I: crate::Index> Partials<'_, T, I> {
    #[inline(always)]
    fn number(&self, e: usize) -> usize {
        self.order.map_or(e, |order| order[e].get())
    }
}
impl<T: Value, I: crate::Index> Entries<T> for Partials<'_, T, I> {
    #[inline(always)]
    fn start<const B: usize>(&self, e: usize, c: usize) -> [T; B] {
        *columns(self.rows, self.number(e) * self.rank + c)
    }
    #[inline(always)]
    fn row(&self, e: usize, k: usize) -> usize {
        self.indices[k][self.number(e)].get()
    }
}

/// Elements `at..at + B` of a row-major array.
#[inline(always)]
fn columns<T, const B: usize>(rows: &[T], at: usize) -> &[T; B] {
    rows[at..].first_chunk().expect("a row of a factor")
}

/// A segment of the entries and the nodes to which they belong.
pub(super) struct Segment<'a, T> {
    /// Entries of node k: `ptr[k]..ptr[k + 1]`.
    pub(super) ptr: &'a [usize],
    /// The entries that this call folds.
    pub(super) entries: Range<usize>,
    /// The node of the first entry.
    pub(super) first: usize,
    /// Rows of the nodes that begin in this segment, from node `from` on, each filled with the identity.
    pub(super) from: usize,
    pub(super) rows: &'a mut [T],
    /// The row of the node that began in an earlier segment, if there is one.
    pub(super) head: &'a mut [T],
}

/// The factors of the product, row-major.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a, T> {
    pub(super) factors: &'a [&'a [T]],
    pub(super) rank: usize,
}

/// Runs `$body` for each block of columns, with `$b` its constant length and `$c` its first column.
macro_rules! blocks {
    ($rank:expr, $c:ident, $b:ident => $body:expr) => {
        blocks!($rank, $c, $b in 32 24 16 8 4 2 => $body)
    };
    ($rank:expr, $c:ident, $b:ident in $($length:literal)* => $body:expr) => {{
        let mut $c = 0;
        while $c < $rank {
            match $rank - $c {
                $($length.. => {
                    const $b: usize = $length;
                    $body;
                    $c += $b;
                })*
                _ => {
                    const $b: usize = 1;
                    $body;
                    $c += $b;
                }
            }
        }
    }};
}
/// Runs the work on blocks of columns with the CPU's widest instructions. Without wide registers a block of 8 fills the
/// registers, so only 8, 2 and 1 are compiled. A column's sum is the same in any block.
macro_rules! dispatch_blocks {
    ($rank:expr, $c:ident, $b:ident => $work:expr) => {{
        let wide = 'wide: {
            blocks!($rank, $c, $b => if dispatch_wide($work).is_err() {
                break 'wide false;
            });
            true
        };
        if !wide {
            blocks!($rank, $c, $b in 8 2 => $work.run());
        }
    }};
}
pub(super) use blocks;

/// Folds each node's entries: row(node) = ⊕ₑ start(e) ⊗ ⊗ₖ factor k(row(e, k)).
pub(super) fn fold<T: Value, A: Arithmetic<T>, E: Entries<T>>(
    ring: A,
    entries: &E,
    factors: Factors<'_, T>,
    segment: &mut Segment<'_, T>,
) {
    dispatch_blocks!(factors.rank, c, B => Flat::<T, A, E, B> { ring, entries, factors, segment: &mut *segment, c });
}

/// As [`fold`]. A fibre, the entries from one of `fibres` to the next, shares all rows but the last, which are
/// multiplied once.
pub(super) fn fold_fibres<T: Value, A: Arithmetic<T>, I: crate::Index>(
    ring: A,
    entries: &Interleaved<'_, T, I>,
    fibres: &[u32],
    factors: Factors<'_, T>,
    segment: &mut Segment<'_, T>,
) {
    dispatch_blocks!(factors.rank, c, B => Hoisted::<T, A, I, B> {
        ring, entries, fibres, factors, segment: &mut *segment, c
    });
}

struct Flat<'a, 's, 'o, T, A, E, const B: usize> {
    ring: A,
    entries: &'a E,
    factors: Factors<'a, T>,
    segment: &'s mut Segment<'o, T>,
    c: usize,
}

/// Prefetch distance in entries.
const AHEAD: usize = 12;

/// Whether rows of this many bytes in total are worth prefetching: they exceed a core's private cache.
fn exceeds_cache(bytes: usize) -> bool {
    bytes > 1 << 20
}

impl<T: Value, A: Arithmetic<T>, E: Entries<T>, const B: usize> Work for Flat<'_, '_, '_, T, A, E, B> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { ring, entries, factors: Factors { factors, rank }, segment, c } = self;
        let (end, mut node) = (segment.entries.end, segment.first);
        let mut e = segment.entries.start;
        let (last, prefetches) =
            (end.saturating_sub(1), exceeds_cache(factors.iter().map(|f| size_of_val(&f[..])).sum()));
        while e < end {
            let stop = segment.ptr[node + 1].min(end);
            if e < stop {
                let mut sum = [A::ZERO; B];
                // Specialized for the usual numbers of factors, so that loops have constant length.
                match *factors {
                    [a] => {
                        for e in e..stop {
                            let x = entries.start::<B>(e, c);
                            multiply_last(ring, &mut sum, &x, a, entries.row(e, 0) * rank + c);
                        }
                    }
                    [a, b] => {
                        for e in e..stop {
                            let mut x = entries.start::<B>(e, c);
                            let (i, j) = (entries.row(e, 0) * rank + c, entries.row(e, 1) * rank + c);
                            if prefetches {
                                let next = (e + AHEAD).min(last);
                                prefetch_columns::<T, B>(a, entries.row(next, 0) * rank + c);
                                prefetch_columns::<T, B>(b, entries.row(next, 1) * rank + c);
                            }
                            multiply(ring, &mut x, a, i);
                            multiply_last(ring, &mut sum, &x, b, j);
                        }
                    }
                    [ref before @ .., leaf] => {
                        for e in e..stop {
                            let mut x = entries.start::<B>(e, c);
                            if prefetches {
                                let next = (e + AHEAD).min(last);
                                for (k, factor) in factors.iter().enumerate() {
                                    prefetch_columns::<T, B>(factor, entries.row(next, k) * rank + c);
                                }
                            }
                            for (k, factor) in before.iter().enumerate() {
                                multiply(ring, &mut x, factor, entries.row(e, k) * rank + c);
                            }
                            multiply_last(ring, &mut sum, &x, leaf, entries.row(e, before.len()) * rank + c);
                        }
                    }
                    [] => (e..stop).for_each(|e| add(ring, &mut sum, &entries.start::<B>(e, c))),
                }
                store(segment, node, c, rank, &sum);
                e = stop;
            }
            node += 1;
        }
    }
}

struct Hoisted<'a, 's, 'o, T, A, I, const B: usize> {
    ring: A,
    entries: &'a Interleaved<'a, T, I>,
    fibres: &'a [u32],
    factors: Factors<'a, T>,
    segment: &'s mut Segment<'o, T>,
    c: usize,
}

impl<T: Value, A: Arithmetic<T>, I: crate::Index, const B: usize> Work for Hoisted<'_, '_, '_, T, A, I, B> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { ring, entries, fibres, factors: Factors { factors, rank }, segment, c } = self;
        let Some((leaf, prefix)) = factors.split_last() else { return };
        let (last_mode, prefetches) = (prefix.len(), exceeds_cache(size_of_val(&leaf[..])));
        let (end, mut node) = (segment.entries.end, segment.first);
        let mut e = segment.entries.start;
        let mut fibre = fibres.partition_point(|&start| start as usize <= e).saturating_sub(1);
        while e < end {
            let stop = segment.ptr[node + 1].min(end);
            let mut sum = [A::ZERO; B];
            let any = e < stop;
            while e < stop {
                // A fibre lies within one node.
                let last = (fibres[fibre + 1] as usize).min(stop);
                let mut x = [A::ZERO; B];
                for e in e..last {
                    let row = columns::<T, B>(leaf, entries.row(e, last_mode) * rank + c);
                    if prefetches {
                        prefetch_columns::<T, B>(leaf, entries.row((e + AHEAD).min(end - 1), last_mode) * rank + c);
                    }
                    let value = entries.values[e];
                    for (x, &a) in x.iter_mut().zip(row) {
                        *x = ring.fold(*x, value, a);
                    }
                }
                match prefix {
                    [before @ .., nearest] => {
                        for (k, factor) in before.iter().enumerate() {
                            multiply(ring, &mut x, factor, entries.row(e, k) * rank + c);
                        }
                        multiply_last(ring, &mut sum, &x, nearest, entries.row(e, before.len()) * rank + c);
                    }
                    [] => add(ring, &mut sum, &x),
                }
                fibre += usize::from(last == fibres[fibre + 1] as usize);
                e = last;
            }
            if any {
                store(segment, node, c, rank, &sum);
            }
            node += 1;
        }
    }
}

/// Prefetches the cache lines of columns `at..at + B`.
#[inline(always)]
fn prefetch_columns<T, const B: usize>(factor: &[T], at: usize) {
    let line = (64 / size_of::<T>().max(1)).max(1);
    for k in 0..B.div_ceil(line) {
        prefetch(factor, at + k * line);
    }
}

/// x ⊗= a row of a factor.
#[inline(always)]
fn multiply<T: Value, A: Arithmetic<T>, const B: usize>(ring: A, x: &mut [T; B], factor: &[T], at: usize) {
    for (x, &a) in x.iter_mut().zip(columns::<T, B>(factor, at)) {
        *x = ring.times(*x, a);
    }
}

/// sum ⊕= x ⊗ a row of a factor.
#[inline(always)]
fn multiply_last<T: Value, A: Arithmetic<T>, const B: usize>(
    ring: A,
    sum: &mut [T; B],
    x: &[T; B],
    factor: &[T],
    at: usize,
) {
    for ((sum, &x), &a) in sum.iter_mut().zip(x).zip(columns::<T, B>(factor, at)) {
        *sum = ring.fold(*sum, x, a);
    }
}

/// sum ⊕= x.
#[inline(always)]
fn add<T: Value, A: Arithmetic<T>, const B: usize>(ring: A, sum: &mut [T; B], x: &[T; B]) {
    for (sum, &x) in sum.iter_mut().zip(x) {
        *sum = ring.plus(*sum, x);
    }
}

/// Stores a node's sum in its row of the result or in `head`.
#[inline(always)]
fn store<T: Value, const B: usize>(segment: &mut Segment<'_, T>, node: usize, c: usize, rank: usize, sum: &[T; B]) {
    let row = match node.checked_sub(segment.from) {
        Some(k) => &mut segment.rows[k * rank..],
        None => &mut *segment.head,
    };
    row[c..c + B].copy_from_slice(sum);
}

/// Accumulates the products of the entries in `range` in the rows of `buffer`, whose first row has index `from`:
/// buffer(row) ⊕= start(e) ⊗ ⊗ₖ factor k(row(e, k)).
pub(super) fn scatter<T: Value, A: Arithmetic<T>, E: Entries<T>, I: crate::Index>(
    ring: A,
    entries: &E,
    factors: Factors<'_, T>,
    range: Range<usize>,
    (rows, from): (&[I], usize),
    buffer: &mut [T],
) {
    dispatch_blocks!(factors.rank, c, B => Scatter::<T, A, E, I, B> {
        ring, entries, factors, range: range.clone(), rows, from, buffer: &mut *buffer, c
    });
}

struct Scatter<'a, 'o, T, A, E, I, const B: usize> {
    ring: A,
    entries: &'a E,
    factors: Factors<'a, T>,
    range: Range<usize>,
    rows: &'a [I],
    from: usize,
    buffer: &'o mut [T],
    c: usize,
}
impl<T: Value, A: Arithmetic<T>, E: Entries<T>, I: crate::Index, const B: usize> Work
    for Scatter<'_, '_, T, A, E, I, B>
{
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { ring, entries, factors: Factors { factors, rank }, range, rows, from, buffer, c } = self;
        let prefetches =
            exceeds_cache(factors.iter().map(|f| size_of_val(&f[..])).sum::<usize>() + size_of_val(&buffer[..]));
        for e in range.clone() {
            if prefetches {
                let next = (e + AHEAD).min(range.end - 1);
                for (k, factor) in factors.iter().enumerate() {
                    prefetch_columns::<T, B>(factor, entries.row(next, k) * rank + c);
                }
                prefetch_columns::<T, B>(buffer, (rows[next].get() - from) * rank + c);
            }
            let mut x = entries.start::<B>(e, c);
            let at = (rows[e].get() - from) * rank + c;
            let row: &mut [T; B] = buffer[at..].first_chunk_mut().expect("a row of a buffer");
            match factors {
                [before @ .., leaf] => {
                    for (k, factor) in before.iter().enumerate() {
                        multiply(ring, &mut x, factor, entries.row(e, k) * rank + c);
                    }
                    multiply_last(ring, row, &x, leaf, entries.row(e, before.len()) * rank + c);
                }
                [] => add(ring, row, &x),
            }
        }
    }
}

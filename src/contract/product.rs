//! C(l, m, n) = ⊕ₖ A(l, m, k) ⊗ B(l, k, n) with any strides: register tiles of eight rows by up to 16 columns of C.
//!
//! A row of B is read at the full width of the block, past the last column if the array continues; the extra results
//! are not stored. Only at the end of an array, or where columns are not contiguous, are values gathered one by one:
//! once per matrix, if it has enough rows.

use crate::algebra::{Arithmetic, Value};
use crate::simd::{Matrices, Tiles, Work, dispatch_wide, dispatch_work, register};

use super::ahead::{Ahead, steps_ahead};
use super::plan::{COLUMNS, follow};
use super::update::{Old, Update};

/// Values of the matrices that are processed before the next ones, where they have more columns than a block.
const GROUP: usize = 3072;

/// Least contiguous columns that vector kernels take by themselves, if there are others.
const RUN: usize = 8;

/// The arrays and their base offsets; C begins at its 0.
pub(super) struct Arrays<'a, T> {
    pub(super) a: (&'a [T], usize),
    pub(super) b: (&'a [T], usize),
    pub(super) c: &'a mut [T],
}

/// Offsets of a block: see [`Product`](super::plan::Product).
#[derive(Clone, Copy)]
pub(super) struct Offsets<'a> {
    pub(super) l: &'a [[usize; 3]],
    pub(super) m: &'a [[usize; 2]],
    pub(super) n: &'a [[usize; 2]],
    pub(super) k: &'a [[usize; 2]],
}

/// All columns, by blocks; `tile` is the buffer of packed columns, empty if they are not packed.
pub(super) fn matrices<T: Value, A: Arithmetic<T>>(
    ring: A,
    arrays: Arrays<'_, T>,
    offsets: Offsets<'_>,
    update: Update<T>,
    tile: &mut [T],
) {
    let Offsets { l, m, n, k } = offsets;
    if m.is_empty() || n.is_empty() {
        return;
    }
    let mut arrays = arrays;
    if by_tiles(ring, &mut arrays, offsets, update) || by_packed_tiles(ring, &mut arrays, offsets, update, tile) {
        return;
    }
    let Arrays { a, b, c } = arrays;
    // Sums of eight rows take half of the registers: there are 32 of 64 bytes, or 16 narrower ones.
    let bytes = if register() == 64 { 128 } else { register() };
    let widest = (bytes / size_of::<T>().max(1)).clamp(4, COLUMNS);
    let sizes = [(m, k), (k, n), (m, n)].map(|(x, y)| x.len().saturating_mul(y.len()));
    let largest = sizes.into_iter().max().unwrap_or(0);
    let next = steps_ahead::<T>(l, largest);
    // All columns of some matrices before the next ones, which would evict them from the first-level cache.
    let group = if n.len() > widest { GROUP / sizes.into_iter().fold(1, usize::saturating_add) } else { l.len() };
    for l in l.chunks(group.max(1)) {
        for (t, columns) in n.chunks(widest).enumerate() {
            let range = t * widest..t * widest + columns.len();
            let steps = m.len().div_ceil(8).saturating_mul(k.len());
            let ahead = Ahead::new(next, largest, range, n.len(), steps);
            let arrays = Arrays { a, b, c: &mut *c };
            let offsets = Offsets { l, n: columns, ..offsets };
            match columns.len() {
                9.. => block::<T, A, 16>(ring, arrays, offsets, update, tile, ahead),
                5.. => block::<T, A, 8>(ring, arrays, offsets, update, tile, ahead),
                _ => block::<T, A, 4>(ring, arrays, offsets, update, tile, ahead),
            }
        }
    }
}

/// The same by vector kernels, a run of contiguous columns after another; false, with nothing done, if there are no
/// kernels or runs are short.
fn by_tiles<T: Value, A: Arithmetic<T>>(
    ring: A,
    arrays: &mut Arrays<'_, T>,
    offsets: Offsets<'_>,
    update: Update<T>,
) -> bool {
    let Offsets { n, k, .. } = offsets;
    let runs = || n.chunk_by(|x, y| (0..2).all(|t| y[t] == x[t].wrapping_add(1)));
    if runs().any(|run| run.len() < RUN.min(n.len())) {
        return false;
    }
    let step = stride(k, 1);
    runs().all(|n| tiles(ring, arrays, Offsets { n, ..offsets }, step, update, false))
}

/// The same for columns of B that are not contiguous, packed for one matrix after another; false, with nothing done, if
/// `tile` is too small for them, or those of C are not contiguous either.
fn by_packed_tiles<T: Value, A: Arithmetic<T>>(
    ring: A,
    arrays: &mut Arrays<'_, T>,
    offsets: Offsets<'_>,
    update: Update<T>,
    tile: &mut [T],
) -> bool {
    let Offsets { l, m, n, k } = offsets;
    if k.is_empty() || tile.len() < k.len() * COLUMNS || Tiles::new(ring).is_none() || !follow(n, 1) {
        return false;
    }
    let mut columns = [[0; 2]; COLUMNS];
    for &[la, lb, lc] in l {
        for n in n.chunks(COLUMNS) {
            dispatch_work(Pack { b: arrays.b.0, at: arrays.b.1.wrapping_add(lb), n, k, tile: &mut *tile });
            for (t, (to, &[_, column])) in columns.iter_mut().zip(n).enumerate() {
                *to = [t, column];
            }
            let offsets = Offsets { l: &[[la, 0, lc]], m, n: &columns[..n.len()], k };
            let mut arrays = Arrays { a: arrays.a, b: (&*tile, 0), c: &mut *arrays.c };
            if !tiles(ring, &mut arrays, offsets, Some(COLUMNS), update, false) {
                return false;
            }
        }
    }
    true
}

/// Packs the columns `n` of a matrix of B: `COLUMNS` values for each k.
struct Pack<'a, 't, T> {
    b: &'a [T],
    at: usize,
    n: &'a [[usize; 2]],
    k: &'a [[usize; 2]],
    tile: &'t mut [T],
}
impl<T: Value> Work for Pack<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { b, at, n, k, tile } = self;
        let rows = &mut tile.as_chunks_mut::<COLUMNS>().0[..k.len()];
        if !follow(k, 1) {
            for (row, &[_, kb]) in rows.iter_mut().zip(k) {
                let at = at.wrapping_add(kb);
                row.iter_mut().zip(n).for_each(|(to, n)| *to = b[at.wrapping_add(n[0])]);
            }
            return;
        }
        // Four columns at a time, whose values are contiguous, and four values of each.
        let at = at.wrapping_add(k[0][1]);
        for (q, four) in n.chunks(4).enumerate() {
            let column = |i: usize| &b[at.wrapping_add(four[i.min(four.len() - 1)][0])..][..k.len()];
            let columns = [column(0), column(1), column(2), column(3)];
            let (whole, rest) = rows.as_chunks_mut::<4>();
            for (s, to) in whole.iter_mut().enumerate() {
                let [Some(w), Some(x), Some(y), Some(z)] = columns.map(|c| c[4 * s..].first_chunk::<4>()) else {
                    break;
                };
                for (t, to) in to.iter_mut().enumerate() {
                    to.as_chunks_mut::<4>().0[q] = [w[t], x[t], y[t], z[t]];
                }
            }
            let done = 4 * whole.len();
            for (t, to) in rest.iter_mut().enumerate() {
                to.as_chunks_mut::<4>().0[q] = columns.map(|c| c[done + t]);
            }
        }
    }
}

/// The same by vector kernels, if there are any for the type, the ring, the CPU and these offsets. `contiguous`:
/// two-row squares that follow one another in all arrays.
pub(super) fn tiles<T: Value, A: Arithmetic<T>>(
    ring: A,
    Arrays { a, b, c }: &mut Arrays<'_, T>,
    Offsets { l, m, n, k }: Offsets<'_>,
    step: Option<usize>,
    update: Update<T>,
    contiguous: bool,
) -> bool {
    let suits = |tiles: &Tiles<T>| follow(n, 0) && follow(n, 1) && (!contiguous || tiles.two_by_two());
    let Some(tiles) = Tiles::new(ring).filter(suits) else { return false };
    let forwards = |step: &usize| *step <= isize::MAX as usize;
    let (Some(ka), Some(kb)) = (stride(k, 0).filter(forwards), step.filter(forwards)) else { return false };
    let size = [(m, k), (k, n), (m, n)].map(|(x, y)| x.len().saturating_mul(y.len())).into_iter().max().unwrap_or(0);
    let mut matrices = Matrices {
        a: a.0,
        b: b.0,
        c,
        l,
        base: [a.1, b.1.wrapping_add(n[0][0]), n[0][1]],
        m,
        columns: n.len(),
        terms: k.len(),
        steps: [ka, kb],
        alpha: update.alpha,
        old: match update.old {
            Old::Ignored => None,
            Old::Added => Some(None),
            Old::Scaled(beta) => Some(Some(beta)),
        },
        ahead: (steps_ahead::<T>(l, size), size),
    };
    tiles.multiply(&mut matrices, contiguous);
    true
}

/// Up to B columns of all matrices.
fn block<T: Value, A: Arithmetic<T>, const B: usize>(
    ring: A,
    Arrays { a, b, c }: Arrays<'_, T>,
    offsets: Offsets<'_>,
    update: Update<T>,
    tile: &mut [T],
    ahead: Ahead,
) {
    let Offsets { l, n, k, .. } = offsets;
    let width = n.len();
    // Where nothing is folded, A and B may be empty.
    let straight = follow(n, 1) && follow(k, 0) && !k.is_empty();
    if !follow(n, 0) {
        if tile.len() < k.len() * B {
            return Block::<T, A, B> { ring, a, b, c, offsets, update, packed: false }.best();
        }
        let mut columns = [[0; 2]; B];
        for (t, (to, &[_, column])) in columns.iter_mut().zip(n).enumerate() {
            *to = [t, column];
        }
        for &[la, lb, lc] in l {
            for (row, &[_, kb]) in tile.chunks_exact_mut(B).zip(k) {
                row.copy_from_slice(&gather::<T, B>(b.0, b.1.wrapping_add(lb).wrapping_add(kb), n, 0));
            }
            // The tile holds the matrix of B, B columns per row.
            let offsets = Offsets { l: &[[la, 0, lc]], n: &columns[..width], ..offsets };
            let mut arrays = Arrays { a, b: (&*tile, 0), c: &mut *c };
            if !tiles(ring, &mut arrays, offsets, Some(B), update, false) {
                let Arrays { a, b, c } = arrays;
                let block = Block::<T, A, B> { ring, a, b, c, offsets, update, packed: true };
                if straight { block.straight(B, ahead) } else { block.best() }
            }
        }
        return;
    }
    // Rows of B are `step` apart, and the matching values of A are contiguous, so both are walked in one loop. Except
    // at the end of the array, where a full-width row would be out of bounds.
    let step = if straight { stride(k, 1) } else { None };
    let reaches = |l: &[usize; 3]| {
        let last = step.and_then(|step| step.checked_mul(k.len().saturating_sub(1))?.checked_add(B));
        let rows = b.0.len().saturating_sub(b.1.wrapping_add(l[1]).wrapping_add(n[0][0]));
        last.is_some_and(|last| last <= rows)
    };
    for l in l.chunk_by(|x, y| reaches(x) == reaches(y)) {
        let offsets = Offsets { l, ..offsets };
        let c = &mut *c;
        let block = Block::<T, A, B> { ring, a, b, c, offsets, update, packed: false };
        match step.filter(|_| reaches(&l[0])) {
            Some(step) => block.straight(step, ahead),
            None => block.best(),
        }
    }
}

/// Rows of B `step` apart, all within the array; values of A and columns of C contiguous.
struct Straight<'a, 'c, T, A, const B: usize> {
    block: Block<'a, 'c, T, A, B>,
    step: usize,
    ahead: Ahead,
}

/// Eight rows, or four. Sums are named variables: an array of them would be kept in memory where the compiler does not
/// unroll its loop.
macro_rules! by_rows {
    ($m:ident, $rows:ident) => {{
        let mut first = 0;
        while first < $m.len() {
            if $m.len() - first > 4 {
                $rows!(first; 0 s_0 x_0 1 s_1 x_1 2 s_2 x_2 3 s_3 x_3 4 s_4 x_4 5 s_5 x_5 6 s_6 x_6 7 s_7 x_7);
                first += 8;
            } else {
                $rows!(first; 0 s_0 x_0 1 s_1 x_1 2 s_2 x_2 3 s_3 x_3);
                first += 4;
            }
        }
    }};
}

impl<T: Value, A: Arithmetic<T>, const B: usize> Work for Straight<'_, '_, T, A, B> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { block, step, ahead } = self;
        let Block { ring, a: (a, a_base), b: (b, b_base), c, offsets: Offsets { l, m, n, k }, update, .. } = block;
        let ([first_b, column], last) = (n[0], m.len() - 1);
        for &[la, lb, lc] in l {
            let (a_at, b_at) = (a_base.wrapping_add(la), b_base.wrapping_add(lb));
            let all = b.get(b_at.wrapping_add(first_b)..).unwrap_or_default();
            let mut ahead = ahead.lines([a, b, &*c], [a_at, b_at, lc]);
            macro_rules! rows {
                ($first:ident; $($i:literal $sum:ident $x:ident)*) => {{
                    // Repeats the last row at the end.
                    $(let $x = &a[a_at.wrapping_add(m[($first + $i).min(last)][0])..][..k.len()];)*
                    $(let mut $sum = [A::ZERO; B];)*
                    let mut rows = all;
                    for i in 0..k.len() {
                        let Some(row) = rows.first_chunk::<B>() else { break };
                        ahead.prefetch_next();
                        $(add(ring, &mut $sum, $x[i], row);)*
                        rows = rows.get(step..).unwrap_or_default();
                    }
                    if n.len() == B {
                        $(if let Some(row) = m.get($first + $i) {
                            let row = &mut c[lc.wrapping_add(row[1]).wrapping_add(column)..];
                            let row: &mut [T; B] = row.first_chunk_mut().expect("a row of the result");
                            let mut sum = $sum;
                            update.apply(ring, &mut sum, || *row);
                            *row = sum;
                        })*
                    } else {
                        store(ring, &mut [$($sum),*], &m[$first..], (n, true), (&mut *c, lc), update);
                    }
                }};
            }
            by_rows!(m, rows);
        }
    }
}

/// General offsets; a row of B is read at full width where the array continues.
struct Block<'a, 'c, T, A, const B: usize> {
    ring: A,
    a: (&'a [T], usize),
    b: (&'a [T], usize),
    c: &'c mut [T],
    offsets: Offsets<'a>,
    update: Update<T>,
    /// B is packed: rows in sequence, B columns each.
    packed: bool,
}

impl<T: Value, A: Arithmetic<T>, const B: usize> Block<'_, '_, T, A, B> {
    /// Not inlined, because it contains the loops for CPUs without wide registers.
    #[inline(never)]
    fn best(self) {
        dispatch_work(self);
    }

    /// Processors without wide registers use the general loops.
    fn straight(self, step: usize, ahead: Ahead) {
        if let Err(Straight { block, .. }) = dispatch_wide(Straight { block: self, step, ahead }) {
            block.best();
        }
    }
}

impl<T: Value, A: Arithmetic<T>, const B: usize> Work for Block<'_, '_, T, A, B> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { ring, a: (a, a_base), b: (b, b_base), c, offsets: Offsets { l, m, n, k }, update, packed } = self;
        let (b_follows, c_follows) = (follow(n, 0), follow(n, 1));
        let (first_column, last) = (n[0], m.len() - 1);
        for &[la, lb, lc] in l {
            let (a_at, b_at) = (a_base.wrapping_add(la), b_base.wrapping_add(lb));
            macro_rules! rows {
                ($first:ident; $($i:literal $sum:ident $x:ident)*) => {{
                    $(let $x = a_at.wrapping_add(m[($first + $i).min(last)][0]);)*
                    $(let mut $sum = [A::ZERO; B];)*
                    for (t, &[ka, kb]) in k.iter().enumerate() {
                        // Read in place; gathering is the exception.
                        let collected;
                        let from = b_at.wrapping_add(if packed { t * B } else { kb });
                        let row = match chunk::<T, B>(b, from.wrapping_add(first_column[0]), b_follows) {
                            Some(row) => row,
                            None => {
                                collected = gather(b, from, n, 0);
                                &collected
                            }
                        };
                        $(add(ring, &mut $sum, a[$x.wrapping_add(ka)], row);)*
                    }
                    store(ring, &mut [$($sum),*], &m[$first..], (n, c_follows), (&mut *c, lc), update);
                }};
            }
            by_rows!(m, rows);
        }
    }
}

/// Stores the sums of rows `m` to columns `n`, which are fewer than B or not contiguous. Not inlined: its handling of
/// partial sums would force them out of registers.
#[inline(never)]
fn store<T: Value, A: Arithmetic<T>, const B: usize>(
    ring: A,
    sums: &mut [[T; B]],
    m: &[[usize; 2]],
    (n, follows): (&[[usize; 2]], bool),
    (c, at): (&mut [T], usize),
    update: Update<T>,
) {
    let Some(&[_, column]) = n.first() else { return };
    for (sum, row) in sums.iter_mut().zip(m) {
        let at = at.wrapping_add(row[1]);
        if follows {
            let row = &mut c[at.wrapping_add(column)..][..n.len()];
            update.apply(ring, sum, || {
                let mut old = [A::ZERO; B];
                pieces(&mut old, row);
                old
            });
            pieces(row, sum);
        } else {
            update.apply(ring, sum, || gather(c, at, n, 1));
            for (&value, offset) in sum.iter().zip(n) {
                c[at.wrapping_add(offset[1])] = value;
            }
        }
    }
}

/// The stride of the offsets in tensor `t`, if it is constant.
fn stride(offsets: &[[usize; 2]], t: usize) -> Option<usize> {
    let [first, second, ..] = offsets else { return Some(0) };
    let step = second[t].wrapping_sub(first[t]);
    offsets.windows(2).all(|w| w[1][t].wrapping_sub(w[0][t]) == step).then_some(step)
}

/// sum ⊕= x ⊗ row.
#[inline(always)]
fn add<T: Value, A: Arithmetic<T>, const B: usize>(ring: A, sum: &mut [T; B], x: T, row: &[T; B]) {
    for (sum, &y) in sum.iter_mut().zip(row) {
        *sum = ring.fold(*sum, x, y);
    }
}

/// A full-width row, if columns are contiguous and the array is long enough.
#[inline(always)]
fn chunk<T, const B: usize>(data: &[T], at: usize, follows: bool) -> Option<&[T; B]> {
    if follows { data.get(at..)?.first_chunk() } else { None }
}

/// Gathers the values of columns `n`, padded with the first one.
#[inline(never)]
fn gather<T: Copy, const B: usize>(data: &[T], at: usize, n: &[[usize; 2]], t: usize) -> [T; B] {
    let mut row = [data[at.wrapping_add(n[0][t])]; B];
    for (value, offset) in row.iter_mut().zip(n) {
        *value = data[at.wrapping_add(offset[t])];
    }
    row
}

/// Copies the common prefix, at most sixteen values, as two possibly overlapping pieces of constant length: a copy of
/// unknown length is a call.
#[inline(always)]
fn pieces<T: Copy>(to: &mut [T], from: &[T]) {
    let width = to.len().min(from.len());
    let (to, from) = (&mut to[..width], &from[..width]);
    macro_rules! by {
        ($($p:literal)*) => {$(
            if width >= $p {
                if let (Some(to), Some(from)) = (to.first_chunk_mut::<$p>(), from.first_chunk::<$p>()) {
                    *to = *from;
                }
                if let (Some(to), Some(from)) = (to.last_chunk_mut::<$p>(), from.last_chunk::<$p>()) {
                    *to = *from;
                }
                return;
            }
        )*};
    }
    by!(16 8 4 2 1);
}

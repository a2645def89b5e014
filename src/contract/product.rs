//! C(l, m, n) = ⊕ₖ A(l, m, k) ⊗ B(l, k, n) with any strides: eight rows by up to 16 columns of C in registers.
//!
//! A row of B is read as wide as the block, beyond the last column if the array goes on there: what that computes is not stored.
//! Only at the end of an array, or where columns do not lie side by side, are values collected one by one; once for a matrix, if it has
//! rows enough.

use crate::algebra::{Arithmetic, Value};
use crate::simd::{Work, dispatch_work, register};

use super::plan::{COLUMNS, follow};
use super::update::Update;

/// The arrays and the places in them; C begins at its 0.
pub(super) struct Arrays<'a, T> {
    pub(super) a: (&'a [T], usize),
    pub(super) b: (&'a [T], usize),
    pub(super) c: &'a mut [T],
}

/// Offsets of a block: see [`Product`](super::plan::Product).
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) l: &'a [[usize; 3]],
    pub(super) m: &'a [[usize; 2]],
    pub(super) n: &'a [[usize; 2]],
    pub(super) k: &'a [[usize; 2]],
}

/// All columns, by blocks; `tile` holds packed columns, and is empty if they are not to be packed.
pub(super) fn matrices<T: Value, A: Arithmetic<T>>(
    ring: A,
    arrays: Arrays<'_, T>,
    places: Places<'_>,
    update: Update<T>,
    tile: &mut [T],
) {
    let Arrays { a, b, c } = arrays;
    // Sums of eight rows in half of the registers: of 64 bytes there are 32, of fewer 16.
    let bytes = if register() == 64 { 128 } else { register() };
    let widest = (bytes / size_of::<T>().max(1)).clamp(4, COLUMNS);
    for columns in places.n.chunks(widest) {
        let places = Places { n: columns, ..places };
        macro_rules! block {
            ($n:literal) => {
                dispatch_work(Block::<T, A, $n> { ring, a, b, c: &mut *c, places, update, tile: &mut *tile })
            };
        }
        match columns.len() {
            9.. => block!(16),
            5.. => block!(8),
            _ => block!(4),
        }
    }
}

struct Block<'a, 'c, T, A, const B: usize> {
    ring: A,
    a: (&'a [T], usize),
    b: (&'a [T], usize),
    c: &'c mut [T],
    places: Places<'a>,
    update: Update<T>,
    tile: &'c mut [T],
}

impl<T: Value, A: Arithmetic<T>, const B: usize> Work for Block<'_, '_, T, A, B> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let Self { ring, a: (a, a_base), b: (b, b_base), c, places: Places { l, m, n, k }, update, tile } = self;
        let (b_follows, c_follows) = (follow(n, 0), follow(n, 1));
        let packed = !b_follows && tile.len() >= k.len() * B;
        let (Some(last), Some(first_column)) = (m.len().checked_sub(1), n.first()) else { return };
        // Rows of B lie so far apart, and the values of A that meet them follow each other: one walk through both.
        let step = if packed { Some(B) } else { stride(k, 1).filter(|_| b_follows) };
        let step = step.filter(|_| follow(k, 0));
        for &[la, lb, lc] in l {
            let (a_at, b_at) = (a_base.wrapping_add(la), b_base.wrapping_add(lb));
            if packed {
                for (row, &[_, kb]) in tile.chunks_exact_mut(B).zip(k) {
                    row.copy_from_slice(&collect::<T, B>(b, b_at.wrapping_add(kb), n, 0));
                }
            }
            let (rows, rows_at, follows) =
                if packed { (&*tile, 0, true) } else { (b, b_at.wrapping_add(first_column[0]), b_follows) };
            let straight = step.and_then(|step| {
                let rows = rows.get(rows_at..).filter(|rows| reaches(rows.len(), step, k.len(), B))?;
                Some((rows, step))
            });
            // Each sum has a name: an array of rows would be kept in memory where the compiler does not unroll the loop over it.
            macro_rules! rows {
                ($first:ident; $($i:literal $sum:ident $x:ident)*) => {{
                    // The last row once more where there are no more.
                    $(let $x = a_at.wrapping_add(m[($first + $i).min(last)][0]);)*
                    $(let mut $sum = [A::ZERO; B];)*
                    let walk = straight.and_then(|walk| Some((walk, ($(a.get($x..)?.get(..k.len())?,)*))));
                    match walk {
                        Some(((mut rows, step), ($($x,)*))) => {
                            for i in 0..k.len() {
                                let Some(row) = rows.first_chunk::<B>() else { break };
                                $(add(ring, &mut $sum, $x[i], row);)*
                                rows = rows.get(step..).unwrap_or_default();
                            }
                        }
                        None => {
                            for (i, &[ka, kb]) in k.iter().enumerate() {
                                let from = if packed { i * B } else { rows_at.wrapping_add(kb) };
                                // Where it lies, and no copy: what is collected is the exception.
                                let collected;
                                let row = match chunk::<T, B>(rows, from, follows) {
                                    Some(row) => row,
                                    None => {
                                        collected = collect(b, b_at.wrapping_add(kb), n, 0);
                                        &collected
                                    }
                                };
                                $(add(ring, &mut $sum, a[$x.wrapping_add(ka)], row);)*
                            }
                        }
                    }
                    $(if let Some(row) = m.get($first + $i) {
                        let at = lc.wrapping_add(row[1]);
                        // A copy: pieces of it are stored from memory, and the sum itself is to stay in registers.
                        let mut values = $sum;
                        update.apply(ring, &mut values, || {
                            match chunk::<T, B>(c, at.wrapping_add(first_column[1]), c_follows) {
                                Some(old) => *old,
                                None => collect(c, at, n, 1),
                            }
                        });
                        store(c, at, &values, n, c_follows);
                    })*
                }};
            }
            let mut first = 0;
            while first <= last {
                if last - first >= 4 {
                    rows!(first; 0 s_0 x_0 1 s_1 x_1 2 s_2 x_2 3 s_3 x_3 4 s_4 x_4 5 s_5 x_5 6 s_6 x_6 7 s_7 x_7);
                    first += 8;
                } else {
                    rows!(first; 0 s_0 x_0 1 s_1 x_1 2 s_2 x_2 3 s_3 x_3);
                    first += 4;
                }
            }
        }
    }
}

/// How far places in tensor `t` are apart, if it is always as far, and forwards.
fn stride(places: &[[usize; 2]], t: usize) -> Option<usize> {
    let [first, second, ..] = places else { return Some(0) };
    let step = second[t].wrapping_sub(first[t]);
    places.windows(2).all(|w| w[1][t].wrapping_sub(w[0][t]) == step).then_some(step)
}

/// Whether `rows` rows of `width` values, `step` apart, are within `len`.
fn reaches(len: usize, step: usize, rows: usize, width: usize) -> bool {
    let last = step.checked_mul(rows.saturating_sub(1)).and_then(|at| at.checked_add(width));
    last.is_some_and(|last| last <= len)
}

/// sum ⊕= x ⊗ row.
#[inline(always)]
fn add<T: Value, A: Arithmetic<T>, const B: usize>(ring: A, sum: &mut [T; B], x: T, row: &[T; B]) {
    for (sum, &y) in sum.iter_mut().zip(row) {
        *sum = ring.fold(*sum, x, y);
    }
}

/// As many values side by side, if the columns are so and the array is long enough.
#[inline(always)]
fn chunk<T, const B: usize>(data: &[T], at: usize, follows: bool) -> Option<&[T; B]> {
    if follows { data.get(at..)?.first_chunk() } else { None }
}

/// The values of columns `n`, one by one; the first one where there are no more columns.
#[inline(never)]
fn collect<T: Copy, const B: usize>(data: &[T], at: usize, n: &[[usize; 2]], t: usize) -> [T; B] {
    let mut row = [data[at.wrapping_add(n[0][t])]; B];
    for (value, place) in row.iter_mut().zip(n) {
        *value = data[at.wrapping_add(place[t])];
    }
    row
}

/// Puts the first values of a block in their columns.
#[inline(always)]
fn store<T: Copy, const B: usize>(c: &mut [T], at: usize, values: &[T; B], n: &[[usize; 2]], follows: bool) {
    if !follows {
        for (&value, place) in values.iter().zip(n) {
            c[at.wrapping_add(place[1])] = value;
        }
        return;
    }
    let row = &mut c[at.wrapping_add(n[0][1])..][..n.len()];
    if let Some(row) = row.first_chunk_mut::<B>() {
        *row = *values;
        return;
    }
    // Two pieces of a known length that meet or overlap: a copy of unknown length is a call.
    macro_rules! pieces {
        ($($p:literal)*) => {$(
            if row.len() >= $p {
                let last = values.get(row.len() - $p..).and_then(|values| values.first_chunk::<$p>());
                if let (Some(to), Some(from)) = (row.first_chunk_mut::<$p>(), values.first_chunk::<$p>()) {
                    *to = *from;
                }
                if let (Some(to), Some(from)) = (row.last_chunk_mut::<$p>(), last) {
                    *to = *from;
                }
                return;
            }
        )*};
    }
    pieces!(8 4 2 1);
}

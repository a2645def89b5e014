//! The action of a mass operator, one index at a time. As many elements as fit a register are processed side by side.

use super::plan::{Action, lanes};
use super::side::Side;
use super::update::Update;
use crate::algebra::{Arithmetic, Value};
use crate::simd::{Work, dispatch_work, prefetch, transpose_block};

/// The arrays, and the offset of the block's first element in each.
pub(super) struct Fields<'a, T> {
    pub(super) basis: (&'a [T], usize),
    pub(super) weights: (&'a [T], usize),
    pub(super) v: (&'a [T], usize),
    pub(super) u: &'a mut [T],
}

/// Most outputs of a line that are computed together.
const MOST: usize = 6;

impl Action {
    /// Applies the operator to `count` elements.
    pub(super) fn run<T: Value, A: Arithmetic<T>>(
        &self,
        ring: A,
        fields: Fields<'_, T>,
        count: usize,
        update: Update<T>,
        room: &mut [T],
    ) {
        dispatch_work(Elements { ring, action: self, fields, count, update, room });
    }
}

struct Elements<'a, 'c, T, A> {
    ring: A,
    action: &'a Action,
    fields: Fields<'c, T>,
    count: usize,
    update: Update<T>,
    room: &'c mut [T],
}

impl<T: Value, A: Arithmetic<T>> Work for Elements<'_, '_, T, A> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        self.run_in::<16>();
    }
    #[inline(always)]
    fn run_in<const BYTES: usize>(self) {
        match const { lanes(BYTES, size_of::<T>()) } {
            16 => self.by::<16>(),
            8 => self.by::<8>(),
            _ => self.by::<4>(),
        }
    }
}

impl<'c, T: Value, A: Arithmetic<T>> Elements<'_, 'c, T, A> {
    /// W elements at a time.
    #[inline(always)]
    fn by<const W: usize>(self) {
        let Self { ring, action, fields: Fields { basis, weights, v, u }, count, update, room } = self;
        let Action { directions, points, dofs, .. } = *action;
        let (forward, room) = room.split_at_mut(points * dofs);
        let (backward, room) = room.split_at_mut(points * dofs);
        for (t, &[offset]) in action.basis.1.of(0).iter().enumerate() {
            let value = basis.0[basis.1.wrapping_add(offset)];
            let (point, dof) = (t / dofs, t % dofs);
            (forward[dof * points + point], backward[point * dofs + dof]) = (value, value);
        }
        let (lines, _) = room.as_chunks_mut::<W>();
        let (mut x, mut y) = lines.split_at_mut(lines.len() / 2);
        let at =
            |t: usize, base: usize, side: &Side| base.wrapping_add((t as isize).wrapping_mul(side.stride) as usize);
        let [w_offsets, v_offsets, u_offsets] = [&action.weights.1, &action.v.1, &action.u.1].map(|table| {
            let offsets = table.of(0);
            (offsets, without_gaps(offsets))
        });
        // Inputs and outputs of a line, and the number of lines: to the points, then back.
        let sizes = |pass: usize| {
            let (ins, outs) = if pass < directions { (dofs, points) } else { (points, dofs) };
            let done = (pass % directions) as u32;
            (ins, outs, ins.pow(directions as u32 - 1 - done) * outs.pow(done))
        };
        let tiles_of = |(_, outs, lines): (usize, usize, usize)| outs.div_ceil(MOST) * lines.div_ceil(2);
        let tiles: usize = (0..2 * directions).map(|pass| tiles_of(sizes(pass))).sum();
        let mut starts = [0; W];
        for first in (0..count).step_by(W) {
            // Repeats the last element at the end.
            let of = |e: usize| (first + e).min(count - 1);
            for (e, start) in starts.iter_mut().enumerate() {
                *start = at(of(e), v.1, &action.v.0);
            }
            gather(x, v_offsets, v.0, &starts);
            let mut ahead = Ahead { lists: [&[], &[]], at: 0, each: 0 };
            if first + 2 * W <= count && v_offsets.1 && w_offsets.1 {
                // Prefetches the inputs of the next elements.
                let of = |(data, base): (&'c [T], usize), side: &Side| {
                    data.get(at(first + W, base, side)..at(first + 2 * W, base, side)).unwrap_or_default()
                };
                ahead.lists = [of(v, &action.v.0), of(weights, &action.weights.0)];
                ahead.each = ahead.lines().div_ceil(tiles);
            }
            // To the points and back, one index at a time: the first is contracted and comes back as the last.
            for pass in 0..2 * directions {
                if pass == directions {
                    for (e, start) in starts.iter_mut().enumerate() {
                        *start = at(of(e), weights.1, &action.weights.0);
                    }
                    gather(y, w_offsets, weights.0, &starts);
                    for (x, w) in x.iter_mut().zip(&*y).take(w_offsets.0.len()) {
                        // Copies, because the compiler does not see that x and w are disjoint.
                        let (mut product, w) = (*x, *w);
                        for (x, &w) in product.iter_mut().zip(&w) {
                            *x = ring.times(w, *x);
                        }
                        *x = product;
                    }
                }
                let (ins, outs, rest) = sizes(pass);
                let c = if pass < directions { &*forward } else { &*backward };
                contract(ring, c, (ins, outs), rest, x, y, &mut ahead);
                (x, y) = (y, x);
            }
            store(ring, update, x, u_offsets, &mut u[first * action.u.0..], (action.u.0, W.min(count - first)));
        }
    }
}

/// Whether the offsets of an element are contiguous from 0 on.
fn without_gaps(offsets: &[[usize; 1]]) -> bool {
    offsets.iter().enumerate().all(|(t, &[offset])| offset == t)
}

/// Gathers the same offsets of W elements side by side.
#[inline(always)]
fn gather<T: Value, const W: usize>(
    to: &mut [[T; W]],
    (offsets, whole): (&[[usize; 1]], bool),
    from: &[T],
    starts: &[usize; W],
) {
    let contiguous = starts.windows(2).all(|w| w[1] == w[0].wrapping_add(1));
    let mut done = 0;
    if whole && !contiguous {
        for (t, block) in to[..offsets.len()].as_chunks_mut::<W>().0.iter_mut().enumerate() {
            for (line, &start) in block.iter_mut().zip(starts) {
                *line = *from[start.wrapping_add(t * W)..].first_chunk().expect("a block of an element");
            }
            transpose_block(block);
            done += W;
        }
    }
    for (to, &[offset]) in to.iter_mut().zip(offsets).skip(done) {
        if contiguous && let Some(values) = from[starts[0].wrapping_add(offset)..].first_chunk() {
            *to = *values;
        } else {
            for (to, &start) in to.iter_mut().zip(starts) {
                *to = from[start.wrapping_add(offset)];
            }
        }
    }
}

/// Stores the values of the first `count` elements, which are `step` apart.
#[inline(always)]
fn store<T: Value, A: Arithmetic<T>, const W: usize>(
    ring: A,
    update: Update<T>,
    x: &[[T; W]],
    (offsets, whole): (&[[usize; 1]], bool),
    u: &mut [T],
    (step, count): (usize, usize),
) {
    let mut done = 0;
    if whole {
        for block in x[..offsets.len()].as_chunks::<W>().0 {
            let mut rows = *block;
            transpose_block(&mut rows);
            for (e, row) in rows.iter_mut().enumerate().take(count) {
                let u: &mut [T; W] = u[e * step + done..].first_chunk_mut().expect("a block of an element");
                update.apply(ring, row, || *u);
                *u = *row;
            }
            done += W;
        }
    }
    for e in 0..count {
        let u = &mut u[e * step..];
        for (x, &[offset]) in x.iter().zip(offsets).skip(done) {
            let mut value = [x[e]];
            update.apply(ring, &mut value, || [u[offset]]);
            u[offset] = value[0];
        }
    }
}

/// to(i, q) = ⊕ⱼ c(j, q) ⊗ from(j, i), `rest` values of i.
#[inline(always)]
fn contract<T: Value, A: Arithmetic<T>, const W: usize>(
    ring: A,
    c: &[T],
    (ins, outs): (usize, usize),
    rest: usize,
    from: &[[T; W]],
    to: &mut [[T; W]],
    ahead: &mut Ahead<'_, T>,
) {
    // Each sum is a named variable: an array of them would be kept in memory where the compiler does not unroll its
    // loop.
    macro_rules! tile {
        ($q:ident $block:literal: $($r:literal $s:ident $t:ident)*) => {{
            let mut i = 0;
            while i + 2 <= rest {
                $(let (mut $s, mut $t) = ([A::ZERO; W], [A::ZERO; W]);)*
                for (c, x) in c[$q..].chunks(outs).zip(from[i..].chunks(rest)).take(ins) {
                    let (Some(c), Some([x, y])) = (c.first_chunk::<$block>(), x.first_chunk()) else { break };
                    $(add(ring, &mut $s, c[$r], x);
                    add(ring, &mut $t, c[$r], y);)*
                }
                let to: &mut [[T; W]] = &mut to[i * outs + $q..][..outs + $block];
                $(to[$r] = $s;
                to[outs + $r] = $t;)*
                i += 2;
                ahead.prefetch();
            }
            if i < rest {
                $(let mut $s = [A::ZERO; W];)*
                for (c, x) in c[$q..].chunks(outs).zip(from[i..].chunks(rest)).take(ins) {
                    let (Some(c), Some([x])) = (c.first_chunk::<$block>(), x.first_chunk()) else { break };
                    $(add(ring, &mut $s, c[$r], x);)*
                }
                let to: &mut [[T; W]] = &mut to[i * outs + $q..][..$block];
                $(to[$r] = $s;)*
            }
        }};
    }
    let mut q = 0;
    while q < outs {
        // Balanced blocks.
        let block = (outs - q).div_ceil((outs - q).div_ceil(MOST));
        match block {
            1 => tile!(q 1: 0 s_0 t_0),
            2 => tile!(q 2: 0 s_0 t_0 1 s_1 t_1),
            3 => tile!(q 3: 0 s_0 t_0 1 s_1 t_1 2 s_2 t_2),
            4 => tile!(q 4: 0 s_0 t_0 1 s_1 t_1 2 s_2 t_2 3 s_3 t_3),
            5 => tile!(q 5: 0 s_0 t_0 1 s_1 t_1 2 s_2 t_2 3 s_3 t_3 4 s_4 t_4),
            _ => tile!(q 6: 0 s_0 t_0 1 s_1 t_1 2 s_2 t_2 3 s_3 t_3 4 s_4 t_4 5 s_5 t_5),
        }
        q += block;
    }
}

/// Memory to prefetch.
struct Ahead<'a, T> {
    lists: [&'a [T]; 2],
    /// Cache lines prefetched so far.
    at: usize,
    /// Cache lines per tile.
    each: usize,
}

impl<T> Ahead<'_, T> {
    /// Values of a cache line.
    const LINE: usize = if size_of::<T>() < 64 { 64 / if size_of::<T>() == 0 { 1 } else { size_of::<T>() } } else { 1 };

    fn lines(&self) -> usize {
        self.lists.iter().map(|list| list.len().div_ceil(Self::LINE)).sum()
    }
    #[inline(always)]
    fn prefetch(&mut self) {
        for _ in 0..self.each {
            let offset = self.at * Self::LINE;
            let [first, second] = self.lists;
            match offset.checked_sub(first.len().next_multiple_of(Self::LINE)) {
                None => prefetch(first, offset),
                Some(offset) => prefetch(second, offset),
            }
            self.at += 1;
        }
    }
}

/// sum ⊕= c ⊗ x.
#[inline(always)]
fn add<T: Value, A: Arithmetic<T>, const W: usize>(ring: A, sum: &mut [T; W], c: T, x: &[T; W]) {
    for (sum, &x) in sum.iter_mut().zip(x) {
        *sum = ring.fold(*sum, c, x);
    }
}

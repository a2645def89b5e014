//! Programs to compile without a device.

use std::marker::PhantomData;

use super::action::{self, Action};
use super::arrays::Change;
use super::matrices::{self, Matrices};
use super::steps::Steps;
use super::strided;
use super::tiles::{self, Tiles};
use crate::algebra::{MaxPlus, MinPlus, PlusTimes, Printed, Value, printed_arithmetic};
use crate::contract::{Einsum, Layout, Mass, Viewed};
use crate::gpu::defines::Prefix;
use crate::gpu::jit::Unit;
use crate::gpu::tiling::Tiling;

/// Shared memory available to a block on every architecture.
const ROOM: usize = 48 << 10;

/// Row-major tensors without storage: only their layout matters.
#[derive(Clone)]
struct Nowhere<T>(Layout, PhantomData<T>);

impl<T: Value> Viewed for Nowhere<T> {
    type Value = T;
    fn layout(&self) -> &Layout {
        &self.0
    }
}
fn nowhere<T: Value>(extents: &[usize], batch: usize) -> Option<Nowhere<T>> {
    Some(Nowhere(Layout::row_major(extents).ok()?.batched(batch).ok()?, PhantomData))
}

/// The steps of `"bij,bjk->bik"` and the like, for these sizes of i, j, k.
pub(super) fn steps<T: Value>(text: &str, sizes: [usize; 3]) -> Option<Steps> {
    let extent = |c: char| match c {
        'i' => sizes[0],
        'j' => sizes[1],
        'k' => sizes[2],
        _ => 1 << 16,
    };
    let (left, right) = text.split_once("->")?;
    let of = |word: &str| nowhere::<T>(&word.chars().map(extent).collect::<Vec<_>>(), 1);
    let operands = left.split(',').map(of).collect::<Option<Vec<_>>>()?;
    let einsum = Einsum::new(text, &operands).ok()?;
    let out = Layout::row_major(&right.chars().map(extent).collect::<Vec<_>>()).ok()?;
    Steps::new(&einsum, &out).ok()
}
/// The same as small matrices.
pub(super) fn matrices<T: Value>(text: &str, sizes: [usize; 3]) -> Option<Matrices> {
    let steps = steps::<T>(text, sizes)?;
    Matrices::of(&steps.list[0], &steps.extents, size_of::<T>())
}
fn large<T: Value>(ring: &Printed, text: &str, sizes: [usize; 3]) -> Option<Unit> {
    let steps = steps::<T>(text, sizes)?;
    let tiles = Tiles::of(&steps.list[0], &steps.extents, size_of::<T>())?;
    let prefix = Prefix::new(&ring.text, &tiles.settings()).text();
    Some(Unit { source: tiles::SOURCE, prefix, hot: &["tiles"] })
}

/// Their program, under the rule's tiling as `change` modifies it.
fn tiled<T: Value>(
    ring: &Printed,
    text: &str,
    sizes: [usize; 3],
    update: &Change,
    change: impl Fn(Tiling) -> Tiling,
) -> Option<Unit> {
    let matrices = matrices::<T>(text, sizes)?;
    let program = matrices.program(ROOM, change(matrices.rule()?))?;
    let text = format!("{}{}", ring.text, program.text);
    Some(Unit { source: matrices::SOURCE, prefix: Prefix::new(&text, &update.settings()).text(), hot: &["contract"] })
}
fn product<T: Value>(ring: &Printed, text: &str, sizes: [usize; 3], update: &Change) -> Option<Unit> {
    tiled::<T>(ring, text, sizes, update, |rule| rule)
}

fn action<T: Value>(ring: &Printed, p: usize, change: impl Fn(Tiling) -> Tiling) -> Option<Unit> {
    let (d, q, elements) = (p + 1, p + 2, 1 << 16);
    let mass = Mass::new(3, nowhere::<T>(&[q, d], 1)?).ok()?;
    let (w, v) = (nowhere::<T>(&[q; 3], elements)?, nowhere::<T>(&[d; 3], elements)?);
    let einsum = mass.action(&w, &v).ok()?;
    let action = Action::of(&einsum, v.layout(), size_of::<T>())?;
    let program = action.program(ROOM, change(action.rule()))?;
    let text = format!("{}{}", ring.text, program.text);
    let settings = Change::default().settings();
    Some(Unit { source: action::SOURCE, prefix: Prefix::new(&text, &settings).text(), hot: &["mass_action"] })
}

fn strided(ring: &Printed, out: usize, folded: usize, single: bool) -> Unit {
    let settings = strided::settings(out, folded, single);
    Unit {
        source: strided::SOURCE,
        prefix: Prefix::new(&ring.text, &settings).text(),
        hot: &["strided", "strided_parts", "strided_wide", "strided_across"],
    }
}

/// All programs with representative settings, for the test that compiles all.
pub(in crate::gpu) fn programs() -> Vec<Unit> {
    let (f32, f64) = (&*printed_arithmetic(PlusTimes::<f32>::new()), &*printed_arithmetic(PlusTimes::<f64>::new()));
    let least = &*printed_arithmetic(MinPlus::<f64>::new());
    let (i8, logic) =
        (&*printed_arithmetic(MaxPlus::<i8>::new()), &*printed_arithmetic(crate::algebra::LorLand::new()));
    let (plain, kept, scaled) =
        (Change::default(), Change { old: 1, ..Change::default() }, Change { alpha: true, old: 2, scalars: None });
    let mut all = vec![];
    for n in [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 28, 32] {
        all.push(product::<f64>(f64, "bij,bjk->bik", [n; 3], &kept));
        all.push(product::<f32>(f32, "bij,bjk->bik", [n; 3], &kept));
    }
    for text in ["bji,bjk->bik", "bij,bkj->bik", "bji,bkj->bki", "bij,jk->bik", "ij,bjk->bik"] {
        all.push(product::<f64>(f64, text, [8, 6, 12], &scaled));
        all.push(product::<f32>(f32, text, [5, 7, 3], &plain));
    }
    all.push(product::<f64>(least, "bij,bjk->bik", [16; 3], &kept));
    all.push(product::<i8>(i8, "bij,bjk->bik", [5, 4, 16], &scaled));
    all.push(product::<bool>(logic, "bij,bjk->bik", [9, 9, 9], &kept));
    all.extend([large::<f32>(f32, "ij,jk->ik", [4096; 3]), large::<f64>(f64, "ij,kj->ik", [4096; 3])]);
    all.extend([large::<f64>(least, "ji,jk->ki", [600; 3]), large::<i8>(i8, "ij,jk->ik", [2048; 3])]);
    for p in 2..=8 {
        all.extend([action::<f64>(f64, p, |rule| rule), action::<f32>(f32, p, |rule| rule)]);
    }
    all.push(action::<f32>(f32, 2, |rule| Tiling { turns: 3, ..rule }));
    all.push(action::<f64>(f64, 5, |rule| Tiling { group: 3, resident: 2, ..rule }));
    for n in [3, 8, 24] {
        all.push(tiled::<f64>(f64, "bij,bjk->bik", [n; 3], &kept, |rule| Tiling { prefetch: false, turns: 3, ..rule }));
        all.push(tiled::<f32>(f32, "bij,bjk->bik", [n; 3], &scaled, |rule| Tiling { rows: 3, resident: 2, ..rule }));
    }
    for (out, folded, single) in [(1, 1, false), (4, 2, false), (2, 1, true), (64, 64, true)] {
        all.push(Some(strided(f64, out, folded, single)));
        all.push(Some(strided(logic, out, folded, single)));
    }
    all.into_iter().flatten().collect()
}

//! The action of a mass operator on hexahedra, in one pass: see `cuda/action.cu`.

use std::fmt::Write;
use std::ops::RangeInclusive;

use super::arrays::Change;
use super::banks::{AT_ONCE, turns};
use super::model::{Load, Room};
use super::tiled::Tiled;
use crate::contract::{Einsum, Layout, Viewed};
use crate::gpu::buffer::RawBuffer;
use crate::gpu::driver::Limits;
use crate::gpu::jit::{Source, source};
use crate::gpu::kernel_cache::GeneratedKernel;
use crate::gpu::launch::{Program, Shape, args};
use crate::gpu::tiling::Tiling;
use crate::{Error, Result};

pub(super) const SOURCE: Source = source!("action.cu");

/// Target threads per block for the rule. On an H200, 192 to 384 are within a tenth of each other
/// (benches/results/2026-11-23-h200-contract.md). Up to `MANY` where more elements make copies whole 16-byte words.
const THREADS: usize = 256;
const MANY: usize = 400;
/// For lines of this many f64 values, the compiler leaves registers for 1024 threads per multiprocessor, and blocks
/// have about `FEW` threads: 3 to 4 % faster. For lines of at least `LONG_F32` f32 values, it leaves registers for 512
/// threads, and a block processes two groups: 3 % faster (benches/results/2026-11-23-h200-tune.md).
const LONG: RangeInclusive<usize> = 7..=9;
const FEW: usize = 160;
const LONG_F32: usize = 10;
/// Upper bound on functions and points per line: the lines of a thread are held in registers.
const MOST: usize = 16;
/// Upper bounds on threads per block and on consecutive elements per thread group.
const LARGEST: usize = 512;
const TURNS: usize = 8;

/// Sizes, and the offsets of the first values of B, W, V and U.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Action {
    dofs: usize,
    points: usize,
    elements: usize,
    first: [usize; 4],
    /// Bytes per value.
    size: usize,
}

/// Whether the layout is row-major with consecutive tensors.
fn contiguous(layout: &Layout) -> bool {
    let dense = Layout::row_major(layout.extents()).and_then(|dense| dense.batched(layout.batch()));
    let alone = layout.batch() <= 1;
    dense.is_ok_and(|d| d.strides() == layout.strides() && (alone || d.batch_stride() == layout.batch_stride()))
}

impl Action {
    /// Recognizes a mass action in three directions with row-major operands and result; `None` for any other
    /// contraction.
    pub(super) fn of<T, V: Viewed>(einsum: &Einsum<'_, T, V>, out: &Layout, size: usize) -> Option<Self> {
        let (Some(3), [basis, _, _, w, _, _, _, v]) = (einsum.action(), einsum.operands()) else { return None };
        let layouts = [basis.layout(), w.layout(), v.layout(), out];
        let elements = out.batch();
        let [points, dofs] = *basis.layout().extents() else { return None };
        let fits = layouts.iter().all(|l| contiguous(l))
            && layouts[1..].iter().all(|l| l.batch() == elements)
            && elements > 0
            && [dofs, points].iter().all(|n| (1..=MOST).contains(n));
        fits.then(|| Self { dofs, points, elements, first: layouts.map(Layout::offset), size })
    }

    /// Most lines of an element in any direction: the threads per element.
    fn lines(&self) -> usize {
        self.dofs.max(self.points).pow(2)
    }
    /// The default tiling: as many elements as fill about [`THREADS`] threads, rounded up to whole 16-byte copies
    /// unless that takes more than [`MANY`] threads.
    pub(super) fn rule(&self) -> Tiling {
        let (lines, long) = (self.lines(), self.points.max(self.dofs));
        let with =
            |group: usize| Tiling { rows: 1, columns: 1, times: 1, group, turns: 1, prefetch: false, resident: 0 };
        let blocks = |of: usize, group: usize| of.div_ceil((group * lines).next_multiple_of(32));
        if self.size == 8 && LONG.contains(&long) {
            let group = ((FEW + lines / 2) / lines).max(1);
            return Tiling { resident: blocks(1024, group), ..with(group) };
        }
        let some = (THREADS / lines).max(1);
        let whole = (1..=AT_ONCE).find(|n| (n * self.points.pow(3) * self.size).is_multiple_of(AT_ONCE)).unwrap_or(1);
        let group = Some(some.next_multiple_of(whole)).filter(|n| n * lines <= MANY).unwrap_or(some);
        if self.size == 4 && long >= LONG_F32 {
            return Tiling { turns: 2, resident: blocks(512, group), ..with(group) };
        }
        with(group)
    }
    fn fits(&self, tiling: Tiling) -> bool {
        let Tiling { rows, columns, times, group, turns, prefetch, resident } = tiling;
        let threads = group.saturating_mul(self.lines());
        let lines = [rows, columns, times] == [1; 3] && !prefetch;
        lines && (1..=LARGEST).contains(&threads) && (1..=TURNS).contains(&turns) && resident <= 32
    }

    /// The program under a tiling; `None` if the block does not fit.
    pub(super) fn program(&self, room: usize, tiling: Tiling) -> Option<GeneratedKernel> {
        if !self.fits(tiling) {
            return None;
        }
        let (d, q, size) = (self.dofs, self.points, self.size);
        let (threads, here) = (tiling.group * self.lines(), tiling.slab());
        let lanes = |count: usize| 0..(here * count).min(32);
        let cost = |offsets: &[usize]| turns(&offsets.iter().map(|at| at * size).collect::<Vec<_>>(), size);
        // Pitches under which a warp reads lines in few turns: [q][j][k] by (q, k), [q][r][k] by (q, r) and by (q, k).
        let by = |pitch: usize, count: usize, step: usize| {
            lanes(q * count).map(|t| t / count * pitch + t % count * step).collect::<Vec<_>>()
        };
        let near = (d * d..d * d + 17).min_by_key(|&near| (cost(&by(near, d, 1)), near)).unwrap_or(d * d);
        let pairs = (d..d + 4).flat_map(|line| (q * line..q * line + 17).map(move |far| (far, line)));
        let worth = |&(far, line): &(usize, usize)| (cost(&by(far, q, line)) + cost(&by(far, d, 1)), far, line);
        let (far, line) = pairs.min_by_key(worth).unwrap_or((q * d, d));
        let aligned = |chunk: &usize| {
            chunk.is_multiple_of(size)
                && (here * q.pow(3) * size).is_multiple_of(*chunk)
                && (self.first[1] * size).is_multiple_of(*chunk)
        };
        let chunk = [16, 8, 4].into_iter().find(aligned).unwrap_or(size);
        let unit = if size.is_power_of_two() { (AT_ONCE / size).max(1) } else { 1 };
        let along = unit.min(4).min(1 << q.trailing_zeros());
        let row = |pitch: usize| {
            let offsets: Vec<usize> = lanes(q * q).map(|t| t * pitch * size).collect();
            (turns(&offsets, along * size), pitch)
        };
        let rows = (q * size).is_multiple_of(AT_ONCE) && chunk == AT_ONCE;
        let (run, pitch) = if rows {
            (q, [q, q + unit].into_iter().min_by_key(|&p| row(p)).unwrap_or(q))
        } else {
            (q.pow(3), q.pow(3))
        };
        let weights = (here * (q.pow(3) / run * pitch) * size).next_multiple_of(AT_ONCE);
        let shared = weights + here * q * (near + far) * size;
        let mut text = tiling.bounds(threads);
        for (name, x) in [
            ("D", d),
            ("Q", q),
            ("ELEMENTS", here),
            ("THREADS", threads),
            ("NEAR", near),
            ("FAR", far),
            ("LINE", line),
            ("CHUNK", chunk),
            ("W_RUN", run),
            ("W_PITCH", pitch),
            ("W_ALONG", along),
        ] {
            // Writing to a string is infallible.
            let _ = writeln!(text, "constexpr unsigned int {name} = {x};");
        }
        let generated = GeneratedKernel { text, threads: threads as u32, shared: shared as u32, members: here, tiling };
        (shared <= room).then_some(generated)
    }

    /// Resources of a block under the tiling.
    fn load(&self, tiling: Tiling) -> Option<Load> {
        let generated = self.program(usize::MAX, tiling)?;
        let (d, q, words, turns) = (self.dofs, self.points, self.size.div_ceil(4), tiling.turns);
        let element = (2 * d.pow(3) + q.pow(3)) * self.size;
        let folds = 2 * (q * d.pow(3) + q.pow(2) * d.pow(2) + q.pow(3) * d);
        let between = 2 * (q * d * d + q * q * d + q * d * q) + q.pow(3);
        let of_a_thread = |all: usize| (all * words * generated.members) as f64 / generated.threads as f64;
        Some(Load {
            threads: generated.threads as usize,
            shared: generated.shared as usize,
            registers: 24 + words * 2 * q.max(d),
            blocks: self.elements.div_ceil(generated.members),
            ahead: generated.members * (d.pow(3) + q.pow(3)) * self.size,
            bytes: generated.members * element,
            folds: of_a_thread(folds),
            shared_words: of_a_thread(between),
            overhead: 80.0 + 20.0 * turns as f64,
        })
    }

    /// Launches the action with a compiled program. B is operand 0, W operand 3, V operand 7.
    pub(super) fn start(
        &self,
        generated: &GeneratedKernel,
        program: &Program,
        operands: &[&RawBuffer],
        out: &RawBuffer,
        update: &Change,
    ) -> Result<()> {
        let [basis, w, v, u] = self.first;
        let &[b, _, _, of_w, _, _, _, of_v] = operands else {
            return Err(Error::Length { what: "operands of an action", found: operands.len(), expected: 8 });
        };
        program.fill("basis", b, basis)?;
        let shape = Shape::blocks(self.elements.div_ceil(generated.members), generated.threads, generated.shared)?;
        let arguments = args![of_v.from(v), of_w.from(w), out.from(u), self.elements as u64, update.scalars.as_deref()];
        program.kernel("mass_action")?.launch(shape, arguments)
    }
}

impl Tiled for Action {
    fn source(&self) -> Source {
        SOURCE
    }
    fn numbers(&self) -> Vec<u64> {
        [self.dofs, self.points, self.first[1] % AT_ONCE, self.size].map(|x| x as u64).into()
    }
    fn batch(&self) -> usize {
        self.elements
    }
    fn layout(&self) -> String {
        format!("{} values and {} points; weights from {}", self.dofs, self.points, self.first[1] % AT_ONCE)
    }
    fn rule(&self) -> Option<Tiling> {
        Some(self.rule())
    }
    fn program(&self, limits: &Limits, tiling: Tiling) -> Option<GeneratedKernel> {
        self.program(limits.shared_per_block as usize, tiling)
    }
    fn space(&self, limits: &Limits, _reads: bool) -> Vec<Tiling> {
        let most = LARGEST / self.lines();
        let groups = (1..=most).filter(|group| group * self.lines() >= 64 || *group == most);
        // Fewer registers let more blocks wait for memory at a time.
        let all = groups.flat_map(|group| {
            let threads = (group * self.lines()).next_multiple_of(32);
            let resident = [0, 512usize.div_ceil(threads), 1024usize.div_ceil(threads), 1536usize.div_ceil(threads)];
            let with = move |turns| resident.map(|resident| Tiling { group, turns, resident, ..self.rule() });
            [1, 2, 3, 4].into_iter().flat_map(with)
        });
        Room::of(limits).ranked(all.filter_map(|of| Some((of, self.load(of)?))))
    }
    fn explain(&self, generated: &GeneratedKernel) -> String {
        let (GeneratedKernel { threads, shared, members, .. }, Self { dofs: d, points: q, elements, .. }) =
            (generated, self);
        format!(
            "the action of a mass operator on {elements} elements of {d}³ values and {q}³ points: {threads} threads and {shared} bytes of \
             shared memory for {members} of them"
        )
    }
}

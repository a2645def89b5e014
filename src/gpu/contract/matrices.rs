//! Batches of small matrices, in any index order: see `cuda/contract.cu`.

use std::fmt::Write;

use super::arrays::Operands;
use super::axes::{Axis, In, joined, values};
use super::banks::{AT_ONCE, turns};
use super::steps::Step;
use crate::Result;
use crate::contract::INDICES;
use crate::gpu::arg::Arg;
use crate::gpu::jit::{Source, source};
use crate::gpu::kernel_cache::GeneratedKernel;
use crate::gpu::launch::{Program, Shape, args};
use crate::gpu::tiling::Tiling;

pub(super) const SOURCE: Source = source!("contract.cu");

/// Targets of the rule: threads per block, and bytes of A and B per block. On an H200, 64 to 256 threads and 4 to 16
/// KiB are within 3 % of each other for 2 to 32 rows (benches/results/2026-11-23-h200-contract.md).
const THREADS: usize = 128;
const SLAB: usize = 8192;
/// Upper bound on threads per block where more threads align the block's end with a memory line, or leave a smaller
/// share of its warps idle; the ratio of a block's lanes to its threads above which the latter counts; and the bytes of
/// a line.
const MANY: usize = 288;
const IDLE: f64 = 1.08;
pub(super) const LINE: usize = 128;
/// Upper bound on threads per block.
pub(super) const MOST: usize = 512;
/// Upper bounds on rows, columns and groups of members per thread.
pub(super) const ROWS: usize = 16;
pub(super) const TIMES: usize = 4;
pub(super) const TURNS: usize = 8;
/// Upper bound on rows, columns or folded values of a member.
const LARGEST: usize = 1 << 12;
/// Elements read and written from which compiling a dedicated program pays.
const WORTH: usize = 1 << 16;

/// `C(b, m, n) = ⊕ₖ A(b, m, k) ⊗ B(b, k, n)`: a batch along the index of the largest stride in C, and row, column and
/// folded indices. The members of A and of B have no gaps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrices {
    pub(super) batch: Axis,
    pub(super) m: Vec<Axis>,
    pub(super) n: Vec<Axis>,
    pub(super) k: Vec<Axis>,
    pub(super) bases: [usize; 3],
    /// Bytes per value.
    pub(super) size: usize,
}

/// How the threads of a block share one of the two operands in shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shared {
    /// Elements per member.
    size: usize,
    /// One member serves the whole batch; the members are not consecutive.
    one: bool,
    gaps: bool,
    /// Bytes per copy.
    chunk: usize,
    /// Layout in shared memory: the length of a run in elements, the pitch of runs, the pitch of members.
    run: usize,
    pitch: usize,
    apart: usize,
}

impl Shared {
    /// Offset of element `e` of a member.
    fn offset(&self, e: usize) -> usize {
        e / self.run * self.pitch + e % self.run
    }
    fn bytes(&self, members: usize, size: usize) -> usize {
        let members = if self.one { 1 } else { members };
        (members * self.apart * size).next_multiple_of(AT_ONCE)
    }
}

/// Assignment of threads to elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tile {
    pub(super) of: Tiling,
    /// Threads per member along columns and rows.
    pub(super) x: usize,
    pub(super) y: usize,
}

impl Tile {
    pub(super) fn threads(&self) -> usize {
        self.x * self.y * self.of.group
    }
    /// Column, row and member of each lane of the first warp.
    fn lanes(self) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..self.threads().min(32)).map(move |t| (t % self.x, t / self.x % self.y, t / (self.x * self.y)))
    }
}

/// Layout of a block's members in its shared memory.
pub(super) struct Slab {
    a: Shared,
    b: Shared,
    /// Vector widths of reads: along the folded index for each operand, and along the columns of B.
    pub(super) along: [usize; 2],
    pub(super) across: usize,
    /// Bytes of shared memory.
    pub(super) shared: usize,
}

/// Offset in tensor `t` of the i-th combination of some indices, the last fastest.
fn offset_of(axes: &[Axis], t: usize, mut i: usize) -> usize {
    let mut at = 0;
    for axis in axes.iter().rev() {
        at += i % axis.extent * axis.strides[t] as usize;
        i /= axis.extent;
    }
    at
}

/// Elements of a tensor with these indices, if it stores them without gaps.
fn dense<'a>(axes: impl Iterator<Item = &'a Axis>, t: usize) -> Option<usize> {
    let mut axes: Vec<(isize, usize)> = axes.map(|axis| (axis.strides[t], axis.extent)).collect();
    axes.sort_unstable();
    axes.into_iter().try_fold(1usize, |size, (stride, extent)| {
        if usize::try_from(stride).ok()? == size { size.checked_mul(extent) } else { None }
    })
}

/// The largest power of two up to `most` that divides all of these.
pub(super) fn divisor(most: usize, of: impl IntoIterator<Item = usize>) -> usize {
    of.into_iter().fold(most, |v, x| if x == 0 { v } else { v.min(1 << x.trailing_zeros().min(8)) })
}

impl Matrices {
    /// Recognizes such a batch.
    pub(super) fn of(step: &Step, extents: &[usize; INDICES], size: usize) -> Option<Self> {
        step.b.as_ref()?;
        let out = step.out(extents);
        let (mut batch, mut first) = (*out.first()?, 1);
        while let Some(both) = out.get(first).filter(|_| batch.of == In::Both).and_then(|axis| batch.joined(axis)) {
            (batch, first) = (both, first + 1);
        }
        let rest = joined(&out[first..]);
        let of = |of: In| rest.iter().filter(|axis| axis.of == of).copied().collect::<Vec<_>>();
        let found =
            Self { batch, m: of(In::A), n: of(In::B), k: joined(&step.folded(extents)), bases: step.bases(), size };
        let (m, n, k) = found.sizes();
        let small = (1..=LARGEST).contains(&m) && (1..=LARGEST).contains(&n) && (1..=LARGEST).contains(&k);
        let fits = of(In::Both).is_empty() && found.k.iter().all(|axis| axis.of == In::Both);
        if !small || !fits {
            return None;
        }
        let (a, b) = (dense(found.m.iter().chain(&found.k), 0)?, dense(found.k.iter().chain(&found.n), 1)?);
        let reach: u128 = rest.iter().map(|axis| axis.extent as u128 * axis.strides[2] as u128).sum();
        let elements = (a + b + m * n).saturating_mul(batch.extent);
        (reach < 1 << 31 && elements >= WORTH).then_some(found)
    }
    pub(super) fn sizes(&self) -> (usize, usize, usize) {
        let all = |axes| values(axes).unwrap_or(usize::MAX);
        (all(&self.m), all(&self.n), all(&self.k))
    }
    /// Values per 16 bytes, if their size allows aligned vectors.
    fn unit(&self) -> usize {
        if self.size.is_power_of_two() { (AT_ONCE / self.size).max(1) } else { 1 }
    }
    /// Whether neighbors along the last of `axes` are adjacent in tensor `t`.
    fn close(axes: &[Axis], t: usize) -> bool {
        axes.last().is_some_and(|axis| axis.strides[t] == 1)
    }
    /// Neighbors along the folded index per vector read.
    fn along(&self, t: usize) -> usize {
        let last = self.k.last().filter(|_| Self::close(&self.k, t));
        divisor(self.unit().min(4), [last.map_or(1, |axis| axis.extent)])
    }
    /// Adjacent columns per thread: as many as are adjacent and aligned in C, and adjacent in B.
    pub(super) fn across(&self) -> usize {
        let Some((last, rest)) = self.n.split_last().filter(|_| Self::close(&self.n, 2)) else { return 1 };
        let others = rest.iter().chain(&self.m).chain([&self.batch]).map(|axis| axis.strides[2].unsigned_abs());
        divisor(self.unit().min(4), others.chain([last.extent, self.bases[2]]))
    }

    /// The default tiling.
    pub(super) fn rule(&self) -> Option<Tiling> {
        let (m, n, _) = self.sizes();
        // Where B is contiguous along k, the columns of a thread are spread out, so that its reads fall into different
        // banks.
        let (vec, vecs) =
            if Self::close(&self.n, 1) { (self.across(), 1) } else { (1, divisor(self.unit().min(4), [n])) };
        let mut rows = match m {
            ..=4 => 1,
            ..=10 if m % 2 == 0 || m % 3 != 0 => 2,
            11.. if m % 4 == 0 || m % 3 != 0 => 4,
            _ => 3,
        };
        while m.div_ceil(rows) * (n / (vec * vecs)) > MOST && rows < 8 {
            rows = (2 * rows).min(8);
        }
        let alone = Tiling { rows, columns: vec, times: vecs, group: 1, turns: 1, prefetch: true, resident: 0 };
        Some(self.grouped(alone, self.tile(alone)?.threads()))
    }

    /// The rule's number of members per block, each taking `threads` threads. Groups hold whole 16-byte copies, and
    /// there are enough groups for blocks to meet at the ends of memory lines. Lines written in part by two blocks cost
    /// 4 to 13 % (squares of 3 and 9 rows: benches/results/2026-11-23-h200-tune.md).
    fn grouped(&self, tiling: Tiling, threads: usize) -> Tiling {
        let (whole, line, member) = (self.multiple(AT_ONCE, 2), self.multiple(LINE, 3), self.member().max(1));
        let turns = |group: usize| (SLAB + group * member / 2).div_euclid(group * member).clamp(1, 4);
        if line > 1 {
            // The power of two nearest to the target thread count; doubled if that leaves a smaller share of the warps
            // idle.
            let idle = |group: usize| (group * threads).next_multiple_of(32) as f64 / (group * threads) as f64;
            let power = 1usize << (THREADS as f64 / threads as f64).max(1.0).log2().round() as u32;
            // Many large members wait too long: 22 × 22 matrices of f64 take a quarter longer with four at once than
            // with two.
            let fits = 2 * power * threads <= MANY && 2 * power * member <= 7 * SLAB / 2;
            let double = fits && idle(power) > IDLE && idle(2 * power) < idle(power);
            let power = if double { 2 * power } else { power };
            if power >= line {
                return Tiling { group: power, turns: turns(power), ..tiling };
            }
            let groups = [power, 2 * power].into_iter().filter(|group| *group == power || group * threads <= MANY);
            // A whole line, or half of one and so on, unless that many members far exceed a slab.
            let halves =
                std::iter::successors(Some(line), |half| Some(half / 2)).take_while(|half| *half > 1 && *half >= whole);
            let mut fitting = halves
                .filter(|half| half * member <= 4 * SLAB)
                .flat_map(|half| groups.clone().map(move |group| (group, half / group)))
                .filter(|(_, turns)| (1..=4).contains(turns));
            if let Some((group, turns)) = fitting.next() {
                return Tiling { group, turns, ..tiling };
            }
        }
        // Rounded up where that adds few threads, because 4-byte copies are four times as many.
        let group = match (THREADS / threads).max(1) {
            some if some >= whole => some / whole * whole,
            _ if whole * threads <= 2 * THREADS => whole,
            few => few,
        };
        Tiling { group, turns: turns(group), ..tiling }
    }
    /// Elements per member of A and of B.
    pub(super) fn sides(&self) -> [(usize, usize); 2] {
        let (m, n, k) = self.sizes();
        [(0, m * k), (1, k * n)]
    }
    /// The smallest number of members that is a multiple of `bytes` in each of the first `tensors` tensors whose
    /// members are consecutive.
    pub(super) fn multiple(&self, bytes: usize, tensors: usize) -> usize {
        let (m, n, _) = self.sizes();
        let [a, b] = self.sides();
        let contiguous = |&(t, size): &(usize, usize)| self.batch.strides[t] == size as isize;
        let needed = |(_, size): (usize, usize)| bytes / divisor(bytes, [size * self.size]);
        [a, b, (2, m * n)].into_iter().take(tensors).filter(contiguous).map(needed).max().unwrap_or(1)
    }
    /// Bytes of A and B that belong to one member alone.
    pub(super) fn member(&self) -> usize {
        let each = |(t, size)| if self.batch.strides[t] == 0 { 0 } else { size * self.size };
        self.sides().into_iter().map(each).sum()
    }

    /// The thread assignment under a tiling, if it is valid for these sizes.
    pub(super) fn tile(&self, of: Tiling) -> Option<Tile> {
        let (m, n, _) = self.sizes();
        let (across, Tiling { rows, columns, times, group, turns, .. }) = (self.across(), of);
        let within = |x: usize, most: usize| (1..=most).contains(&x);
        let fits = within(rows, ROWS.min(m.max(1)))
            && within(times, TIMES)
            && within(turns, TURNS)
            && within(group, MOST)
            && columns.is_power_of_two()
            && columns <= across
            && n.is_multiple_of(columns * times);
        let tile = fits.then(|| Tile { of, x: n / (columns * times), y: m.div_ceil(rows) })?;
        (within(tile.threads(), MOST) && of.resident <= 32).then_some(tile)
    }
    /// Layout of a slab in shared memory.
    pub(super) fn slab(&self, tile: Tile) -> Slab {
        let (m, _, _) = self.sizes();
        let [(_, a_size), (_, b_size)] = self.sides();
        let columns = tile.of.columns;
        let across = if Self::close(&self.n, 1) { columns } else { 1 };
        let along = [self.along(0), if across > 1 { 1 } else { self.along(1) }];
        let a = self.shared(0, a_size, [&self.m, &self.k], tile, |_, y| offset_of(&self.m, 0, y.min(m - 1)), along[0]);
        let column = |x: usize, _| offset_of(&self.n, 1, x * columns);
        let b = self.shared(1, b_size, [&self.k, &self.n], tile, column, along[1] * across);
        let slab = tile.of.slab();
        Slab { a, b, along, across, shared: a.bytes(slab, self.size) + b.bytes(slab, self.size) }
    }

    /// Layout in shared memory of operand `t`, of `size` elements per member: the one that the first lanes read in the
    /// fewest turns, then the smallest. `read`: the column and row offsets at which lanes read in a member, and the
    /// width of a read in elements.
    fn shared(
        &self,
        t: usize,
        size: usize,
        axes: [&[Axis]; 2],
        tile: Tile,
        read: impl Fn(usize, usize) -> usize,
        width: usize,
    ) -> Shared {
        let stride = self.batch.strides[t];
        let (one, gaps) = (stride == 0, stride != 0 && stride != size as isize);
        let bytes = |elements: usize| elements.wrapping_mul(self.size);
        let reach = if gaps { size } else { size * tile.of.slab() };
        let aligned = |chunk: &usize| {
            let whole = |elements: usize| bytes(elements).is_multiple_of(*chunk);
            let follow = !gaps || whole(stride.unsigned_abs());
            chunk.is_multiple_of(self.size) && whole(self.bases[t]) && (one || whole(reach) && follow)
        };
        let chunk = [16, 8, 4].into_iter().find(aligned).unwrap_or(self.size);
        let run = axes.iter().flat_map(|a| a.iter()).find(|axis| axis.strides[t] == 1).map_or(size, |axis| axis.extent);
        let unit = self.unit();
        let members = if bytes(size).is_multiple_of(chunk) && AT_ONCE.is_multiple_of(self.size) { 4 } else { 1 };
        let runs = if members > 1 && bytes(run).is_multiple_of(chunk) && run < size { 2 } else { 1 };
        let plain = Shared { size, one, gaps, chunk, run: size, pitch: size, apart: size };
        let candidates = (0..runs).flat_map(|r| (0..members).map(move |m| (r, m))).map(|(r, m)| {
            let whole = if r > 0 {
                Shared { run, pitch: run + unit, apart: size / run * (run + unit), ..plain }
            } else {
                plain
            };
            Shared { apart: whole.apart + m * unit, ..whole }
        });
        let cost = |shared: &Shared| {
            let member = |g: usize| if one { 0 } else { g * shared.apart };
            let offsets: Vec<usize> =
                tile.lanes().map(|(x, y, g)| bytes(member(g) + shared.offset(read(x, y)))).collect();
            (turns(&offsets, bytes(width)), shared.apart)
        };
        candidates.min_by_key(cost).unwrap_or(plain)
    }

    /// The program under a tiling and its launch shape; `None` if the block does not fit.
    pub(super) fn program(&self, room: usize, tiling: Tiling) -> Option<GeneratedKernel> {
        let (m, _, k) = self.sizes();
        let tile = self.tile(tiling)?;
        let Slab { a, b, along, across, shared } = self.slab(tile);
        let mut text = tiling.bounds(tile.threads());
        let sides = [("A", a, along[0]), ("B", b, along[1])];
        let all = [
            ("M", m),
            ("K", k),
            ("TX", tile.x),
            ("TY", tile.y),
            ("ROWS", tiling.rows),
            ("VEC", tiling.columns),
            ("VECS", tiling.times),
            ("GROUP", tiling.group),
            ("TURNS", tiling.turns),
            ("PREFETCH", tiling.prefetch.into()),
            ("THREADS", tile.threads()),
            ("B_ACROSS", across),
        ];
        let constant = |text: &mut String, name: &str, x: usize| {
            // Writing to a string is infallible.
            let _ = writeln!(text, "constexpr unsigned int {name} = {x};");
        };
        all.into_iter().for_each(|(name, x)| constant(&mut text, name, x));
        for (name, side, along) in sides {
            for (what, x) in [
                ("SIZE", side.size),
                ("RUN", side.run),
                ("PITCH", side.pitch),
                ("APART", side.apart),
                ("CHUNK", side.chunk),
                ("ONE", side.one.into()),
                ("GAPS", side.gaps.into()),
                ("ALONG", along),
            ] {
                constant(&mut text, &format!("{name}_{what}"), x);
            }
        }
        let in_a = |stride: usize| a.offset(stride);
        let in_b = |stride: usize| b.offset(stride);
        for (name, axes, t, stride) in [
            ("a_m", &self.m, 0, &in_a as &dyn Fn(usize) -> usize),
            ("a_k", &self.k, 0, &in_a),
            ("b_k", &self.k, 1, &in_b),
            ("b_n", &self.n, 1, &in_b),
            ("c_m", &self.m, 2, &|stride| stride),
            ("c_n", &self.n, 2, &|stride| stride),
        ] {
            function(&mut text, name, axes, |axis| stride(axis.strides[t] as usize));
        }
        (shared <= room).then_some(GeneratedKernel {
            text,
            shared: shared as u32,
            threads: tile.threads() as u32,
            members: tiling.slab(),
            tiling,
        })
    }

    /// Launches the step with a compiled program.
    pub(super) fn start(&self, generated: &GeneratedKernel, program: &Program, on: &Operands<'_>) -> Result<()> {
        let shape = Shape::blocks(self.batch.extent.div_ceil(generated.members), generated.threads, generated.shared)?;
        let [a, b, c] = self.batch.strides.map(|stride| stride as u64);
        let (count, scalars) = (self.batch.extent as u64, on.update.scalars.as_deref());
        let of_b = on.b.map_or_else(Arg::null, |buffer| buffer.from(self.bases[1]));
        let arguments = args![on.a.from(self.bases[0]), of_b, on.c.from(self.bases[2]), a, b, c, count, scalars];
        program.kernel("contract")?.launch(shape, arguments)
    }
    /// The computation, and its threads.
    pub(super) fn explain(&self, program: &GeneratedKernel) -> String {
        let ((m, n, k), b) = (self.sizes(), self.batch.extent);
        let GeneratedKernel { threads, members, shared, .. } = program;
        format!(
            "{b} products of {m}×{k} by {k}×{n} matrices: {threads} threads and {shared} bytes of shared memory for {members} of them"
        )
    }
}

/// Emits `name(i)`: the offset of the i-th combination of some indices, the last fastest.
fn function(text: &mut String, name: &str, axes: &[Axis], stride: impl Fn(&Axis) -> usize) {
    let mut inner = 1;
    let mut terms = vec![];
    for (position, axis) in axes.iter().enumerate().rev() {
        let mut term = if inner == 1 { "i".to_string() } else { format!("i / {inner}") };
        if position > 0 {
            term += &format!(" % {}", axis.extent);
        }
        terms.push(format!("{term} * {}", stride(axis)));
        inner *= axis.extent;
    }
    let sum = if terms.is_empty() { "0".to_string() } else { terms.join(" + ") };
    let _ = writeln!(text, "__device__ constexpr unsigned int {name}(unsigned int i) {{ return {sum}; }}");
}

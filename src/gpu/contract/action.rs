//! The action of a mass operator on hexahedra, in one pass: see `cuda/action.cu`.

use std::fmt::Write;
use std::sync::Arc;

use super::arrays::{Change, Contraction};
use super::banks::{AT_ONCE, turns};
use crate::contract::{Einsum, Layout, Viewed};
use crate::gpu::Cuda;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::front::Front;
use crate::gpu::jit::{Source, source};
use crate::gpu::launch::{Shape, args};
use crate::gpu::worked::Worked;
use crate::{Error, Result};

pub(super) const SOURCE: Source = source!("action.cu");

/// Threads of a block, about. On an H200 192 to 384 are within a tenth of each other (benches/results/2026-11-23-h200-contract.md).
const THREADS: usize = 256;
const MANY: usize = 400;
/// Functions and points of a line, at most: the lines of a thread are in registers.
const MOST: usize = 16;

/// Sizes, and where the first values of B, W, V and U lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Action {
    dofs: usize,
    points: usize,
    elements: usize,
    first: [usize; 4],
}

/// Row-major, one tensor behind the other.
fn contiguous(layout: &Layout) -> bool {
    let dense = Layout::row_major(layout.extents()).and_then(|dense| dense.batched(layout.batch()));
    let alone = layout.batch() <= 1;
    dense.is_ok_and(|d| d.strides() == layout.strides() && (alone || d.batch_stride() == layout.batch_stride()))
}

impl Action {
    /// The contraction as such an action, if it is one in three directions whose operands and result are row-major.
    pub(super) fn of<T, V: Viewed>(einsum: &Einsum<'_, T, V>, out: &Layout) -> Option<Self> {
        let (Some(3), [basis, _, _, w, _, _, _, v]) = (einsum.action(), einsum.operands()) else { return None };
        let layouts = [basis.layout(), w.layout(), v.layout(), out];
        let elements = out.batch();
        let [points, dofs] = *basis.layout().extents() else { return None };
        let fits = layouts.iter().all(|l| contiguous(l))
            && layouts[1..].iter().all(|l| l.batch() == elements)
            && elements > 0
            && [dofs, points].iter().all(|n| (1..=MOST).contains(n));
        fits.then(|| Self { dofs, points, elements, first: layouts.map(Layout::offset) })
    }

    /// The program for values of so many bytes.
    pub(super) fn program(&self, size: usize) -> Worked {
        let (d, q) = (self.dofs, self.points);
        let lines = (d.max(q)).pow(2);
        // So many elements that copies of 16 bytes are whole, if they are not too many threads.
        let some = (THREADS / lines).max(1);
        let whole = (1..=AT_ONCE).find(|n| (n * q.pow(3) * size).is_multiple_of(AT_ONCE)).unwrap_or(1);
        let here = Some(some.next_multiple_of(whole)).filter(|n| n * lines <= MANY).unwrap_or(some);
        let lanes = |count: usize| 0..(here * count).min(32);
        let cost = |places: &[usize]| turns(&places.iter().map(|at| at * size).collect::<Vec<_>>(), size);
        // Pitches under which lines are read in few turns: of [q][j][k] by (q, k), of [q][r][k] by (q, r) and by (q, k).
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
            let places: Vec<usize> = lanes(q * q).map(|t| t * pitch * size).collect();
            (turns(&places, along * size), pitch)
        };
        let rows = (q * size).is_multiple_of(AT_ONCE) && chunk == AT_ONCE;
        let (run, pitch) = if rows {
            (q, [q, q + unit].into_iter().min_by_key(|&p| row(p)).unwrap_or(q))
        } else {
            (q.pow(3), q.pow(3))
        };
        let weights = (here * (q.pow(3) / run * pitch) * size).next_multiple_of(AT_ONCE);
        let shared = weights + here * q * (near + far) * size;
        let mut text = String::new();
        for (name, x) in [
            ("D", d),
            ("Q", q),
            ("ELEMENTS", here),
            ("THREADS", here * lines),
            ("NEAR", near),
            ("FAR", far),
            ("LINE", line),
            ("CHUNK", chunk),
            ("W_RUN", run),
            ("W_PITCH", pitch),
            ("W_ALONG", along),
        ] {
            // Writing to a string does not fail.
            let _ = writeln!(text, "constexpr unsigned int {name} = {x};");
        }
        Worked { text, threads: (here * lines) as u32, shared: shared as u32, members: here }
    }

    fn worked(&self, cuda: &Cuda, size: usize) -> Option<Arc<Worked>> {
        let numbers = [self.dofs, self.points, self.first[1] % AT_ONCE, size].map(|x| x as u64);
        let most = cuda.limits().shared_per_block;
        cuda.worked().get(&numbers, || Some(self.program(size)).filter(|program| program.shared <= most))
    }
    /// What is computed, and by how many threads, if a block has room for an element.
    pub(super) fn explain(&self, cuda: &Cuda, size: usize) -> Option<String> {
        let program = self.worked(cuda, size)?;
        let (Worked { threads, shared, members, .. }, Self { dofs: d, points: q, elements, .. }) = (&*program, self);
        Some(format!(
            "the action of a mass operator on {elements} elements of {d}³ values and {q}³ points: {threads} threads and {shared} bytes of \
             shared memory for {members} of them"
        ))
    }

    /// The action on the device, B being operand 0, W operand 3 and V operand 7; false if an element is too large for a block.
    pub(super) fn run(&self, contraction: &Contraction<'_>, out: &RawBuffer, update: &Change) -> Result<bool> {
        let Some(worked) = self.worked(contraction.cuda, contraction.ring.out.size()) else { return Ok(false) };
        let text = format!("{}{}", contraction.ring.text, worked.text);
        let program = contraction.cuda.program_of(SOURCE, Front::new(&text, &update.settings()))?;
        let [basis, w, v, u] = self.first;
        let &[b, _, _, of_w, _, _, _, of_v] = contraction.operands else {
            return Err(Error::Length {
                what: "operands of an action",
                found: contraction.operands.len(),
                expected: 8,
            });
        };
        program.fill("basis", b, basis)?;
        let shape = Shape::blocks(self.elements.div_ceil(worked.members), worked.threads, worked.shared)?;
        let arguments = args![of_v.from(v), of_w.from(w), out.from(u), self.elements as u64, update.scalars.as_deref()];
        program.kernel("mass_action")?.launch(shape, arguments)?;
        Ok(true)
    }
}

//! Steps of arbitrary strides: see `cuda/strided.cu`. A thread folds one element of C, or a share of its terms where C
//! has few elements. Up to 128 terms are folded in one chain, as on the CPU; more are folded in a fixed tree, because
//! f32 sums of 10⁶ terms in one chain lose two digits.

use std::sync::Arc;

use super::arrays::{Change, Contraction, Operands};
use super::axes::{Axis, joined, values};
use super::steps::Step;
use crate::contract::INDICES;
use crate::gpu::arg::Arg;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, source};
use crate::gpu::launch::{Shape, args};
use crate::{Error, Result};

pub(super) const SOURCE: Source = source!("strided.cu");

/// Terms of an element that one thread folds in a chain: `SHORT` in `cuda/strided.cu`.
const SHORT: usize = 128;
/// Fewest terms of a part, and parts that keep a device busy.
const LEAST: usize = 32;
const BUSY: usize = 1 << 19;
/// Least parts of an element with many terms, so that neighboring threads read a cache line of neighboring terms. Of
/// products, only for so many elements as [`BUSY`]: their terms, and so the parts, can be far more than values.
const LINE: usize = 32;
/// Threads of a block: `WIDE` in `cuda/strided.cu`.
const WIDE: u32 = 256;
/// Most groups that one thread folds.
const FEW: usize = 8;

/// Division of an element's terms: the last folded index is dealt cyclically to `lanes`, the others are split into
/// `shares`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parts {
    lanes: usize,
    shares: usize,
}

impl Parts {
    /// The division for `count` elements; `None` if there are few terms.
    fn of(count: usize, folded: &[Axis], single: bool) -> Option<Self> {
        let (last, others) = folded.split_last()?;
        let others = values(others)?;
        let terms = others.checked_mul(last.extent).filter(|&terms| terms > SHORT)?;
        let line = if single || count <= BUSY { LINE } else { 1 };
        let wanted = (BUSY / count.max(1)).max(line).min(terms / LEAST).max(1);
        let lanes = (1 << wanted.ilog2()).min(last.extent);
        (wanted > 1).then(|| Self { lanes, shares: (wanted / lanes).min(others) }).filter(|p| p.all() > 1)
    }
    fn all(self) -> usize {
        self.lanes * self.shares
    }
    /// Parts that are folded together first, by halves: a power of two.
    fn group(self) -> usize {
        1 << self.all().trailing_zeros().min(WIDE.ilog2())
    }
}

/// Indices of C, folded indices, and the offsets of A, B and C.
pub(super) struct Strided {
    out: Vec<Axis>,
    folded: Vec<Axis>,
    bases: [usize; 3],
    /// Whether there is no B.
    single: bool,
}

impl Strided {
    pub(super) fn of(step: &Step, extents: &[usize; INDICES]) -> Self {
        let (out, folded) = (joined(&step.out(extents)), joined(&step.folded(extents)));
        Self { out, folded, bases: step.bases(), single: step.b.is_none() }
    }
    /// Broadcasts the single element of A to the `len` contiguous elements of C.
    pub(super) fn filled(len: usize) -> Self {
        let out = vec![Axis { extent: len, strides: [0, 0, 1], of: super::axes::In::A }];
        Self { out, folded: vec![], bases: [0; 3], single: true }
    }

    /// The computation in words.
    pub(super) fn explain(&self) -> String {
        let all = |axes: &[Axis]| axes.iter().map(|axis| axis.extent.to_string()).collect::<Vec<_>>().join("×");
        let (out, folded) = (all(&self.out), all(&self.folded));
        match values(&self.out).and_then(|count| Parts::of(count, &self.folded, self.single)) {
            Some(parts) => format!("{} parts for each element: indices [{out}], folded [{folded}]", parts.all()),
            None => format!("a thread for each element: indices [{out}], folded [{folded}]"),
        }
    }

    pub(super) fn run(&self, contraction: &Contraction<'_>, on: &Operands<'_>) -> Result<()> {
        // C is already allocated, so its size does not overflow.
        let count = values(&self.out).ok_or(Error::OutOfMemory { what: "einsum", bytes: u128::MAX })?;
        let (out, folded) = (padded(&self.out), padded(&self.folded));
        let settings = settings(out.len(), folded.len(), on.b.is_none());
        let program = contraction.cuda.program_of(SOURCE, Prefix::new(&contraction.ring.text, &settings))?;
        let extents = |axes: &[Axis]| axes.iter().map(|axis| axis.extent as u64).collect::<Vec<_>>();
        let strides = |axes: &[Axis], t: usize| axes.iter().map(|axis| axis.strides[t] as u64).collect::<Vec<_>>();
        let words = [
            extents(&out),
            strides(&out, 0),
            strides(&out, 1),
            strides(&out, 2),
            extents(&folded),
            strides(&folded, 0),
            strides(&folded, 1),
        ];
        let indices = Arg::list(&words.concat().into_iter().map(Arg::from).collect::<Vec<_>>());
        let b = on.b.map_or_else(Arg::null, |b| b.from(self.bases[1]));
        let (a, c) = (on.a.from(self.bases[0]), on.c.from(self.bases[2]));
        let Change { alpha, old, ref scalars } = on.update;
        let Some(parts) = Parts::of(count, &self.folded, self.single) else {
            let arguments = args![a, b, c, count as u64, indices, u32::from(alpha), old, scalars.as_deref()];
            return program.kernel("strided")?.launch(Shape::for_each(count, 256)?, arguments);
        };
        let (all, group) = (parts.all(), parts.group());
        let parts_of = |n: usize| contraction.cuda.alloc_raw(contraction.ring.out, n, "parts of sums");
        let groups = parts_of(count * (all / group))?;
        let (lanes, shares) = (parts.lanes as u32, parts.shares as u32);
        let width = width(contraction.ring.out.size());
        let numbers = |of: &Arc<RawBuffer>| {
            args![a.clone(), b.clone(), of, count as u64, indices.clone(), lanes, shares].to_vec()
        };
        // Neighboring threads take the dimension that is closer in A: the next element's term, or the next term.
        let stride = |axes: &[Axis]| axes.last().map_or(usize::MAX, |axis| axis.strides[0].unsigned_abs());
        if count > 1 && stride(&self.out) < stride(&self.folded) {
            let is_wide = width > 1 && self.is_wide(&self.out, &self.folded, width);
            let sums = parts_of(count * all)?;
            let threads = Shape::for_each(count * all / if is_wide { width } else { 1 }, WIDE)?;
            let arguments = [numbers(&sums), args![u32::from(is_wide)].to_vec()].concat();
            program.kernel("strided_across")?.launch(threads, &arguments)?;
            let arguments = args![&sums, &groups, count as u64, (all / group) as u32, group as u32];
            let threads = Shape::for_each(count * (all / group), WIDE)?;
            program.kernel("strided_groups_across")?.launch(threads, arguments)?;
        } else if width > 1 && parts.lanes.is_multiple_of(width) && self.is_wide(&self.folded, &self.out, width) {
            let threads = Shape::for_each(count * (all / width), WIDE)?;
            let arguments = [numbers(&groups), args![group as u32].to_vec()].concat();
            program.kernel("strided_wide")?.launch(threads, &arguments)?;
        } else {
            let sums = if group == 1 { Arc::clone(&groups) } else { parts_of(count * all)? };
            let threads = Shape::for_each(count * all, WIDE)?;
            program.kernel("strided_parts")?.launch(threads, &numbers(&sums))?;
            if group > 1 {
                let arguments = args![&sums, &groups, (count * all) as u64, group as u32];
                program.kernel("strided_groups")?.launch(threads, arguments)?;
            }
        }
        let all = all / group;
        let (kernel, shape) = if all <= FEW {
            ("strided_few", Shape::for_each(count, WIDE)?)
        } else {
            ("strided_join", Shape::blocks(count, WIDE, 0)?)
        };
        let arguments = args![&groups, c, count as u64, indices, all as u32, u32::from(alpha), old, scalars.as_deref()];
        program.kernel(kernel)?.launch(shape, arguments)
    }
    /// Whether a thread can load `width` neighboring values of the last index of `inner` at once.
    fn is_wide(&self, inner: &[Axis], outer: &[Axis], width: usize) -> bool {
        let Some((last, others)) = inner.split_last() else { return false };
        let fits = |n: isize| n % width as isize == 0;
        last.extent.is_multiple_of(width)
            && (0..if self.single { 1 } else { 2 }).all(|t| {
                last.strides[t] == 1
                    && self.bases[t].is_multiple_of(width)
                    && others.iter().chain(outer).all(|axis| fits(axis.strides[t]))
            })
    }
}

/// Neighboring values of `bytes` bytes that one load takes: `WIDTH` in `cuda/strided.cu`.
fn width(bytes: usize) -> usize {
    match bytes {
        0..=4 => 4,
        8 => 2,
        _ => 1,
    }
}

/// The settings of the program for these numbers of indices.
pub(super) fn settings(out: usize, folded: usize, single: bool) -> Vec<Setting> {
    let sizes = [Setting::Constant("OUT", out as u32), Setting::Constant("FOLDED", folded as u32)];
    sizes.into_iter().chain(single.then_some(Setting::Switch("SINGLE"))).collect()
}

/// Pads the indices to a power of two with leading extents of 1, so that few programs serve all.
fn padded(axes: &[Axis]) -> Vec<Axis> {
    let more = axes.len().max(1).next_power_of_two() - axes.len();
    let one = Axis { extent: 1, strides: [0; 3], of: super::axes::In::Both };
    std::iter::repeat_n(one, more).chain(axes.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::axes::In;
    use super::*;

    /// Every term belongs to a part, no part is empty, and elements are split where a device would idle.
    #[test]
    fn parts_share_out_all_terms() {
        let axis = |extent| Axis { extent, strides: [1; 3], of: In::A };
        for (count, folded) in [(1, vec![1 << 20]), (1, vec![3000, 3]), (5, vec![7, 100_000]), (1, vec![64, 2, 5, 9])] {
            let axes: Vec<Axis> = folded.iter().map(|&n| axis(n)).collect();
            let parts = Parts::of(count, &axes, true).expect("parts");
            let (last, others) = (folded[folded.len() - 1], folded[..folded.len() - 1].iter().product::<usize>());
            assert!(parts.lanes <= last && parts.shares <= others && count * parts.all() <= BUSY, "{parts:?}");
            assert!(parts.all().is_multiple_of(parts.group()) && parts.group().is_power_of_two(), "{parts:?}");
        }
        assert_eq!(Parts::of(1, &[axis(16), axis(8)], true), None, "a chain");
        assert_eq!(Parts::of(2 * BUSY, &[axis(4000)], false), None, "products enough");
        assert_eq!(Parts::of(2 * BUSY, &[axis(4000)], true), Some(Parts { lanes: LINE, shares: 1 }), "a cache line");
        assert_eq!(Parts::of(1, &[], true), None);
        assert_eq!(Parts::of(1, &[axis(0)], true), None);
    }
}

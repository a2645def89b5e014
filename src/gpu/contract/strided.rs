//! Steps of arbitrary strides: see `cuda/strided.cu`. A thread folds one element of C, or a share of its terms where C
//! has few elements. Up to 128 terms are folded in one chain, as on the CPU; more are folded in a fixed tree, because
//! f32 sums of 10⁶ terms in one chain lose two digits.

use super::arrays::{Change, Contraction, Operands};
use super::axes::{Axis, joined, values};
use super::steps::Step;
use crate::contract::INDICES;
use crate::gpu::arg::Arg;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, source};
use crate::gpu::launch::{Shape, args};
use crate::{Error, Result};

pub(super) const SOURCE: Source = source!("strided.cu");

/// Terms of an element that one thread folds in a chain: `SHORT` in `cuda/strided.cu`.
const SHORT: usize = 128;
/// Fewest terms per thread, and threads that keep a device busy.
const LEAST: usize = 32;
const BUSY: usize = 1 << 17;
/// Threads that fold the partial results of an element.
const WIDE: u32 = 256;

/// Division of an element's terms: the last folded index is dealt cyclically to `lanes`, the others are split into
/// `shares`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Parts {
    lanes: usize,
    shares: usize,
}

impl Parts {
    /// The division for `count` elements; `None` if one thread per element keeps the device busy, or there are few
    /// terms.
    fn of(count: usize, folded: &[Axis]) -> Option<Self> {
        let (last, others) = folded.split_last()?;
        let others = values(others)?;
        let terms = others.checked_mul(last.extent).filter(|&terms| terms > SHORT)?;
        let wanted = (BUSY / count.max(1)).min(terms / LEAST);
        let lanes = wanted.min(last.extent);
        (wanted > 1).then(|| Self { lanes, shares: (wanted / lanes).min(others) }).filter(|p| p.all() > 1)
    }
    fn all(self) -> usize {
        self.lanes * self.shares
    }
}

/// Indices of C, folded indices, and the offsets of A, B and C.
pub(super) struct Strided {
    out: Vec<Axis>,
    folded: Vec<Axis>,
    bases: [usize; 3],
}

impl Strided {
    pub(super) fn of(step: &Step, extents: &[usize; INDICES]) -> Self {
        let (out, folded) = (joined(&step.out(extents)), joined(&step.folded(extents)));
        Self { out, folded, bases: step.bases() }
    }
    /// Broadcasts the single element of A to the `len` contiguous elements of C.
    pub(super) fn filled(len: usize) -> Self {
        let out = vec![Axis { extent: len, strides: [0, 0, 1], of: super::axes::In::A }];
        Self { out, folded: vec![], bases: [0; 3] }
    }

    /// The computation in words.
    pub(super) fn explain(&self) -> String {
        let all = |axes: &[Axis]| axes.iter().map(|axis| axis.extent.to_string()).collect::<Vec<_>>().join("×");
        let (out, folded) = (all(&self.out), all(&self.folded));
        match values(&self.out).and_then(|count| Parts::of(count, &self.folded)) {
            Some(parts) => format!("{} threads for each element: indices [{out}], folded [{folded}]", parts.all()),
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
        let Some(parts) = Parts::of(count, &self.folded) else {
            let arguments = args![a, b, c, count as u64, indices, u32::from(alpha), old, scalars.as_deref()];
            return program.kernel("strided")?.launch(Shape::for_each(count, 256)?, arguments);
        };
        let all = parts.all();
        let sums = contraction.cuda.alloc_raw(contraction.ring.out, count * all, "parts of sums")?;
        // Neighboring threads take the dimension that is closer in A: the next element's term, or the next term.
        let stride = |axes: &[Axis]| axes.last().map_or(usize::MAX, |axis| axis.strides[0].unsigned_abs());
        let across = count > 1 && stride(&self.out) < stride(&self.folded);
        let (lanes, shares) = (parts.lanes as u32, parts.shares as u32);
        let arguments = args![a, b, &sums, count as u64, indices.clone(), lanes, shares, u32::from(across)];
        program.kernel("strided_parts")?.launch(Shape::for_each(count * all, 256)?, arguments)?;
        let arguments = args![&sums, c, count as u64, indices, all as u32, u32::from(alpha), old, scalars.as_deref()];
        program.kernel("strided_join")?.launch(Shape::blocks(count, WIDE, 0)?, arguments)
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
            let parts = Parts::of(count, &axes).expect("parts");
            let (last, others) = (folded[folded.len() - 1], folded[..folded.len() - 1].iter().product::<usize>());
            assert!(parts.lanes <= last && parts.shares <= others && count * parts.all() <= BUSY, "{parts:?}");
        }
        assert_eq!(Parts::of(1, &[axis(16), axis(8)]), None, "a chain");
        assert_eq!(Parts::of(BUSY, &[axis(4000)]), None, "elements enough");
        assert_eq!(Parts::of(1, &[]), None);
        assert_eq!(Parts::of(1, &[axis(0)]), None);
    }
}

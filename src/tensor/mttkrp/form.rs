//! A copy of the tensor whose entries stand in the order of the rows that they are folded to.

use super::lanes::{Beside, Factors, fold, fold_fibres};
use super::rows::segments;
use crate::algebra::{Arithmetic, Value};
use crate::par::{Digit, Grouped, Threads, append_blocks, collected, filled, for_each_part, grouped, out_of_memory};
use crate::tensor::Tensor;
use crate::{Index, Result};

/// Entries grouped by node, the other modes' indices beside the values; where many entries in turn share all indices
/// but the last, the rows of these are met once for the whole fibre.
#[derive(Debug)]
pub(super) struct Form<T, I> {
    /// Modes whose factors the entries meet, in their order.
    pub(super) modes: Vec<usize>,
    /// Entries of node k: `ptr[k]..ptr[k + 1]`.
    pub(super) ptr: Vec<usize>,
    values: Vec<T>,
    /// Of all `modes` for each entry.
    indices: Vec<I>,
    /// Where runs of entries begin that share all indices but the last, if they are few; and the number of entries.
    fibres: Option<Vec<u32>>,
}

/// Fibres pay from here on: so many for a hundred entries.
const FIBRES_PERCENT: usize = 60;
/// A task's entries when a form is made.
const PIECE: usize = 1 << 15;

impl<T: Value, I: Index> Form<T, I> {
    /// Entries grouped by their number in `keys`, below `nodes`.
    pub(super) fn new<K: Index>(
        threads: &Threads,
        x: &Tensor<T, I>,
        keys: &[K],
        nodes: usize,
        modes: Vec<usize>,
    ) -> Result<Self> {
        let lists: Vec<&[I]> = modes.iter().map(|&m| x.indices(m)).collect();
        let values = x.values();
        let copy: Grouped<I, T> = grouped(threads, keys, Digit::whole(nodes), modes.len(), |e, list, value| {
            for of_mode in &lists {
                list.copy(&[of_mode[e]]);
            }
            value.copy(&[values[e]]);
        })?;
        Self { modes, ptr: copy.ptr, values: copy.values, indices: copy.lists, fibres: None }.with_fibres(threads)
    }

    /// Finds fibres, and keeps where they begin if they are few.
    fn with_fibres(mut self, threads: &Threads) -> Result<Self> {
        let (n, width) = (self.values.len(), self.modes.len());
        if width < 2 || u32::try_from(n).is_err() {
            return Ok(self);
        }
        let (indices, ptr) = (&self.indices, &self.ptr);
        let differs = |e: usize| {
            let (before, here) = (&indices[(e - 1) * width..][..width - 1], &indices[e * width..][..width - 1]);
            before.iter().zip(here).any(|(a, b)| a != b)
        };
        let mut starts = append_blocks(
            threads,
            "mttkrp setup",
            n.div_ceil(PIECE),
            n * FIBRES_PERCENT / 100 + 1,
            || Ok(()),
            |(), piece, starts: &mut Vec<u32>| {
                let range = piece * PIECE..n.min((piece + 1) * PIECE);
                starts.try_reserve(range.len()).map_err(|_| out_of_memory::<u32>("fibres", range.len()))?;
                let mut node = ptr.partition_point(|&p| p < range.start);
                for e in range {
                    while ptr[node] < e {
                        node += 1;
                    }
                    if ptr[node] == e || differs(e) {
                        starts.push(e as u32);
                    }
                }
                Ok(())
            },
        )?;
        if starts.len() * 100 <= n * FIBRES_PERCENT {
            starts.try_reserve(1).map_err(|_| out_of_memory::<u32>("fibres", starts.len() + 1))?;
            starts.push(n as u32);
            self.fibres = Some(starts);
        }
        Ok(self)
    }

    /// Fibres, if they are kept.
    pub(super) fn fibres(&self) -> Option<usize> {
        self.fibres.as_ref().map(|ptr| ptr.len() - 1)
    }

    /// Bytes that it keeps.
    pub(super) fn bytes(&self) -> u128 {
        let fibres = self.fibres.as_ref().map_or(0, |ptr| size_of_val(&ptr[..]));
        let rest = size_of_val(&self.ptr[..]) + size_of_val(&self.values[..]) + size_of_val(&self.indices[..]);
        (fibres + rest) as u128
    }

    /// `out`(node) = ⊕ over its entries of x ⊗ the rows of `factors`, one factor for each of `modes`.
    pub(super) fn fold<A: Arithmetic<T>>(
        &self,
        threads: &Threads,
        ring: A,
        factors: Factors<'_, T>,
        out: &mut [T],
    ) -> Result<()> {
        let entries = Beside { values: &self.values, indices: &self.indices, stride: self.modes.len() };
        segments(
            threads,
            &self.ptr,
            factors.rank,
            A::ZERO,
            out,
            |a, b| ring.plus(a, b),
            |stretch| match &self.fibres {
                Some(fibres) => fold_fibres(ring, &entries, fibres, factors, stretch),
                None => fold(ring, &entries, factors, stretch),
            },
        )
    }
}

/// A list of `stride` elements for each of `n` records, filled by all threads.
pub(super) fn strided<I: Index>(
    threads: &Threads,
    n: usize,
    stride: usize,
    of: impl Fn(usize, usize) -> I + Sync,
) -> Result<Vec<I>> {
    let mut list = filled(n * stride, I::default(), "indices of a tensor")?;
    let piece = PIECE * stride.max(1);
    let parts = collected(list.len().div_ceil(piece), list.chunks_mut(piece).enumerate(), "parts")?;
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (part, list)| {
            for (record, list) in (part * PIECE..).zip(list.chunks_mut(stride.max(1))) {
                list.iter_mut().enumerate().for_each(|(k, to)| *to = of(record, k));
            }
            Ok(())
        },
    )?;
    Ok(list)
}

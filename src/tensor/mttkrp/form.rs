//! A copy of the tensor, its entries sorted by the result row to which they contribute.

use super::lanes::{Factors, Interleaved, fold, fold_fibres};
use super::rows::segments;
use crate::algebra::{Arithmetic, Value};
use crate::par::{Digit, Grouped, Threads, append_blocks, collected, filled, for_each_part, grouped, out_of_memory};
use crate::tensor::Tensor;
use crate::{Index, Result};

/// Entries grouped by node, with the indices of the other modes next to the values. Where many successive entries share
/// all indices but the last, their rows are multiplied once for the whole fibre.
#[derive(Debug)]
pub(super) struct Form<T, I> {
    /// Modes whose factors the entries are multiplied by, in order.
    pub(super) modes: Vec<usize>,
    /// Entries of node k: `ptr[k]..ptr[k + 1]`.
    pub(super) ptr: Vec<usize>,
    values: Vec<T>,
    /// Indices of each entry in `modes`.
    indices: Vec<I>,
    /// Starts of the fibres, runs of entries that share all indices but the last, and the number of entries; only if
    /// fibres are few.
    fibres: Option<Vec<u32>>,
}

/// Fibres pay up to this number for a hundred entries.
const FIBRES_PERCENT: usize = 60;
/// Entries per task during construction.
const PIECE: usize = 1 << 15;

impl<T: Value, I: Index> Form<T, I> {
    /// Groups the entries by their node in `keys`, below `nodes`.
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

    /// Finds the fibres and stores their starts if they are few.
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

    /// Number of fibres, if they are stored.
    pub(super) fn fibres(&self) -> Option<usize> {
        self.fibres.as_ref().map(|ptr| ptr.len() - 1)
    }

    /// Bytes allocated.
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
        let entries = Interleaved { values: &self.values, indices: &self.indices, stride: self.modes.len() };
        segments(
            threads,
            &self.ptr,
            factors.rank,
            A::ZERO,
            out,
            |a, b| ring.plus(a, b),
            |segment| match &self.fibres {
                Some(fibres) => fold_fibres(ring, &entries, fibres, factors, segment),
                None => fold(ring, &entries, factors, segment),
            },
        )
    }
}

/// A list with `stride` elements for each of `n` records, filled in parallel.
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

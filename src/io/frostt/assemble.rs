//! Concatenation of parsed blocks into a tensor.

use super::block::{Block, IndexLists};
use crate::algebra::Value;
use crate::par::{OutputSlice, Threads, UninitOutput, collected};
use crate::tensor::{AnyTensor, Tensor};
use crate::{Index, Result};

/// The tensor of all blocks, in order.
pub(super) fn tensor<T: Value>(
    blocks: Vec<Block<T>>,
    order: usize,
    dims: Option<&[usize]>,
    threads: &Threads,
) -> Result<AnyTensor<T>> {
    let largest = |mode: usize| blocks.iter().map(|block| block.dims[mode]).max().unwrap_or(0);
    let dims = dims.map_or_else(|| (0..order).map(largest).collect(), <[usize]>::to_vec);
    Ok(if dims.iter().all(|&n| n <= u32::MAX_LEN) {
        AnyTensor::Narrow(joined(blocks, dims, threads)?)
    } else {
        AnyTensor::Wide(joined(blocks, dims, threads)?)
    })
}

const OP: &str = "reading a tensor";
const INDICES: &str = "a tensor's indices";

/// Concatenates one mode at a time and frees its blocks, so that at most one index list is in memory twice.
fn joined<T: Value, I: Index>(mut blocks: Vec<Block<T>>, dims: Vec<usize>, threads: &Threads) -> Result<Tensor<T, I>> {
    let ends = blocks.iter().scan(0, |end, block| {
        *end += block.values.len();
        Some(*end)
    });
    let ends = collected(blocks.len() + 1, std::iter::once(0).chain(ends), "blocks of a file")?;
    let total = ends.last().copied().unwrap_or(0);
    let mut indices = Vec::with_capacity(dims.len());
    for mode in 0..dims.len() {
        indices.push(UninitOutput::new(total, INDICES)?.fill(
            threads,
            OP,
            blocks.len(),
            |b| ends[b],
            || Ok(()),
            |(), b, slots| {
                match &blocks[b].indices {
                    IndexLists::Narrow(lists) => copy(slots, &lists[mode]),
                    IndexLists::Wide(lists) => copy(slots, &lists[mode]),
                }
                Ok(())
            },
        )?);
        blocks.iter_mut().for_each(|block| block.indices.free(mode));
    }
    let values = UninitOutput::new(total, "values")?.fill(
        threads,
        OP,
        blocks.len(),
        |b| ends[b],
        || Ok(()),
        |(), b, slots| {
            slots.copy(&blocks[b].values);
            Ok(())
        },
    )?;
    Ok(Tensor::from_parts(dims, indices, values))
}

fn copy<I: Index, J: Index>(slots: &mut OutputSlice<'_, I>, list: &[J]) {
    let to = slots.take(list.len(), I::default());
    to.iter_mut().zip(list).for_each(|(to, i)| *to = I::cast(i.get()));
}

//! Entries above the diagonal of files that store one triangle.
//!
//! The format specifies the lower triangle; many programs write the upper one, some write both. The parser mirrors an
//! entry (i, j) above the diagonal to (j, i) and records it. The matrix is the same, unless the file also has (j, i).
//! Then it is ambiguous whether the two should be summed: an error, except in lenient mode, which discards the entry
//! above the diagonal.

use super::banner::Symmetry;
use super::block::{AnyIndices, Block, Values, with_indices, with_values};
use crate::Result;
use crate::par::{filled, reserved};

/// A conflicting entry: its number in the file, from 0, and a message.
pub(super) type Conflict = (usize, String);

/// Resolves the entries stored above the diagonal; `Ok(Err(…))` is the first whose mirror image is in the file too.
pub(super) fn settle(blocks: &mut [Block], symmetry: Symmetry, lenient: bool) -> Result<Result<(), Conflict>> {
    let settled = one_of_two(blocks, symmetry, lenient);
    blocks.iter_mut().for_each(|block| block.above = Vec::new());
    settled
}

fn one_of_two(blocks: &mut [Block], symmetry: Symmetry, lenient: bool) -> Result<Result<(), Conflict>> {
    let above: usize = blocks.iter().map(|b| b.above.len()).sum();
    // Nearly always, the file has none or only such entries.
    if above == 0 || above == blocks.iter().map(|b| b.indices.off_diagonal()).sum::<usize>() {
        return Ok(Ok(()));
    }
    let position = |b: &Block, e: u32| b.indices.at(e as usize);
    let mut mirrored = reserved(above, "entries above the diagonal")?;
    mirrored.extend(blocks.iter().flat_map(|b| b.above.iter().map(move |&e| position(b, e))));
    mirrored.sort_unstable();
    mirrored.dedup();
    let mut duplicate = filled(mirrored.len(), false, "entries above the diagonal")?;
    for block in &*blocks {
        let mut above = block.above.iter().peekable();
        for e in 0..block.len() as u32 {
            if above.next_if_eq(&&e).is_none()
                && let Ok(found) = mirrored.binary_search(&position(block, e))
            {
                duplicate[found] = true;
            }
        }
    }
    let is_duplicate = |b: &Block, e| mirrored.binary_search(&position(b, e)).is_ok_and(|found| duplicate[found]);
    let mut before = 0;
    for block in blocks {
        if lenient {
            let removed: Vec<u32> = crate::par::collected(
                block.above.len(),
                block.above.iter().copied().filter(|&e| is_duplicate(block, e)),
                "entries above the diagonal",
            )?;
            with_indices!(&mut block.indices, indices => {
                remove(&mut indices.rows, &removed);
                remove(&mut indices.cols, &removed);
            });
            with_values!(&mut block.values, values => remove(values, &removed));
        } else if let Some(&e) = block.above.iter().find(|&&e| is_duplicate(block, e)) {
            let (i, j) = position(block, e);
            let (i, j) = (i + 1, j + 1);
            let message = format!(
                "entry ({j}, {i}) is above the diagonal, and ({i}, {j}) is in the file too: a {symmetry} file stores one \
                 triangle; read it leniently to leave out this one"
            );
            return Ok(Err((before + e as usize, message)));
        }
        before += block.len();
    }
    Ok(Ok(()))
}

/// Removes the elements at these increasing positions.
fn remove<T>(list: &mut Vec<T>, removed: &[u32]) {
    let mut removed = removed.iter().peekable();
    let mut at = 0u32;
    list.retain(|_| {
        let keep = removed.next_if_eq(&&at).is_none();
        at += 1;
        keep
    });
}

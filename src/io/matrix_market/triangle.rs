//! Entries above the diagonal of files that store one triangle.
//!
//! The format has the lower triangle; many programs write the upper one, some write both. Parsing turns an entry (i, j)
//! above the diagonal into its mirror image (j, i) and remembers it. That is the same matrix, unless (j, i) stands in
//! the file too: then it is not clear whether the two are to be added up, and only lenient reading goes on, without
//! those above.

use super::banner::Symmetry;
use super::block::{Block, Places, Values, with_places, with_values};
use crate::Result;
use crate::par::{filled, reserved};

/// Why an entry cannot be taken: its number in the file, from 0, and a message.
pub(super) type Twice = (usize, String);

/// Settles the entries that stood above the diagonal; `Ok(Err(…))` is the first that stands below it too.
pub(super) fn settle(blocks: &mut [Block], symmetry: Symmetry, lenient: bool) -> Result<Result<(), Twice>> {
    let settled = one_of_two(blocks, symmetry, lenient);
    blocks.iter_mut().for_each(|block| block.above = Vec::new());
    settled
}

fn one_of_two(blocks: &mut [Block], symmetry: Symmetry, lenient: bool) -> Result<Result<(), Twice>> {
    let above: usize = blocks.iter().map(|b| b.above.len()).sum();
    // Nearly always: no such entries, or no others.
    if above == 0 || above == blocks.iter().map(|b| b.places.off_diagonal()).sum::<usize>() {
        return Ok(Ok(()));
    }
    let place = |b: &Block, e: u32| b.places.at(e as usize);
    let mut places = reserved(above, "entries above the diagonal")?;
    places.extend(blocks.iter().flat_map(|b| b.above.iter().map(move |&e| place(b, e))));
    places.sort_unstable();
    places.dedup();
    let mut twice = filled(places.len(), false, "entries above the diagonal")?;
    for block in &*blocks {
        let mut above = block.above.iter().peekable();
        for e in 0..block.len() as u32 {
            if above.next_if_eq(&&e).is_none()
                && let Ok(found) = places.binary_search(&place(block, e))
            {
                twice[found] = true;
            }
        }
    }
    let stands_twice = |b: &Block, e| places.binary_search(&place(b, e)).is_ok_and(|found| twice[found]);
    let mut before = 0;
    for block in blocks {
        if lenient {
            let gone: Vec<u32> = crate::par::collected(
                block.above.len(),
                block.above.iter().copied().filter(|&e| stands_twice(block, e)),
                "entries above the diagonal",
            )?;
            with_places!(&mut block.places, places => {
                remove(&mut places.rows, &gone);
                remove(&mut places.cols, &gone);
            });
            with_values!(&mut block.values, values => remove(values, &gone));
        } else if let Some(&e) = block.above.iter().find(|&&e| stands_twice(block, e)) {
            let (i, j) = place(block, e);
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

/// Removes the elements at these places, which increase.
fn remove<T>(list: &mut Vec<T>, gone: &[u32]) {
    let mut gone = gone.iter().peekable();
    let mut at = 0u32;
    list.retain(|_| {
        let keep = gone.next_if_eq(&&at).is_none();
        at += 1;
        keep
    });
}

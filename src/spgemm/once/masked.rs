//! Under a mask: the products of a row that count are gathered in a list; then they alone are computed, and the columns of the mask that
//! were met are the row of C.
//!
//! Source: Milaković et al. 2022 (mask as accumulator).

use std::sync::{Mutex, PoisonError};

use crate::algebra::Word;
use crate::kernels::{Multiply, columns_of_row};
use crate::par::{Threads, append_both, filled, out_of_memory};
use crate::simd::{self, dispatch_work};
use crate::spgemm::listing::Listing;
use crate::spgemm::tasks::{Task, Work};
use crate::{Index, Pattern, Result};

/// Columns and values of C⟨M⟩, and how many each row has, by tasks.
pub(super) fn rows<W: Word, I: Index>(
    threads: &Threads,
    products: &dyn Multiply<W, I>,
    mask: &Pattern<I>,
    work: &Work,
    lens: &[Mutex<&mut [usize]>],
) -> Result<(Vec<I>, Vec<W>)> {
    let (_, b) = products.patterns();
    let hint = usize::try_from(work.flops).unwrap_or(usize::MAX).min(mask.nnz());
    let state = || Ok((Listing::new::<I>(b.ncols())?, filled(mask.longest_row(), false, "a row under a mask")?));
    append_both(threads, "mxm", work.tasks.len(), hint, state, |listing, t, cols, values| {
        let (task, mut lens) = (&work.tasks[t], lens[t].lock().unwrap_or_else(PoisonError::into_inner));
        dispatch_work(Rows { products, mask, task, listing, lens: &mut lens, cols, values })
    })
}

/// The rows of a task, under a mask.
struct Rows<'a, 't, W, I: Index> {
    products: &'a dyn Multiply<W, I>,
    mask: &'a Pattern<I>,
    task: &'t Task,
    /// And for each slot whether a product met it: none between rows.
    listing: &'t mut (Listing, Vec<bool>),
    lens: &'t mut [usize],
    cols: &'t mut Vec<I>,
    values: &'t mut Vec<W>,
}

impl<W: Word, I: Index> simd::Work for Rows<'_, '_, W, I> {
    type Out = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        let Self { products, mask, task, listing: (listing, met), cols, values, .. } = self;
        let ((a, b), identity, part) = (products.patterns(), products.identity(), task.cols.as_ref());
        let most = match part {
            None => mask.row_ptr()[task.rows.end] - mask.row_ptr()[task.rows.start],
            Some(_) => columns_of_row(mask, task.rows.start, part).len(),
        };
        lengthen(cols, most, I::default())?;
        lengthen(values, most, identity)?;
        let mut n = 0;
        for (i, len) in task.rows.clone().zip(self.lens) {
            let masked = columns_of_row(mask, i, part);
            if masked.is_empty() || a.row(i).is_empty() {
                *len = 0;
                continue;
            }
            let row = &mut values[n..n + masked.len()];
            row.fill(identity);
            listing.row((a, b), i, part, masked, |hits| {
                hits.each().2.iter().for_each(|&s| met[s as usize] = true);
                products.to_hits(i, hits, row);
            });
            // Those that were met move together, by comparisons that nothing waits for.
            let from = n;
            for (s, (j, met)) in masked.iter().zip(&mut *met).enumerate() {
                (cols[n], values[n]) = (*j, values[from + s]);
                n += usize::from(std::mem::take(met));
            }
            *len = n - from;
        }
        cols.truncate(n);
        values.truncate(n);
        Ok(())
    }
}

/// Makes an empty vector `len` long.
fn lengthen<T: Copy>(vec: &mut Vec<T>, len: usize, x: T) -> Result<()> {
    vec.try_reserve(len).map_err(|_| out_of_memory::<T>("a block of C", len))?;
    vec.resize(len, x);
    Ok(())
}

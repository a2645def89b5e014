//! Under a mask: the products of a row that count are gathered in a list; then they alone are computed, and the columns
//! of the mask that a product touches are the row of C.
//!
//! Source: Milaković et al. 2022 (mask as accumulator).

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::algebra::Word;
use crate::kernels::{OneByOne, columns_of_row};
use crate::par::{Threads, append_both, filled, out_of_memory};
use crate::simd::{self, LANES, RowsOf, Sixteen, dispatch_work};
use crate::spgemm::product_finder::ProductFinder;
use crate::spgemm::shifted_operand::ShiftedOperandRows;
use crate::spgemm::shifted_rows::{self, Operands, ShiftedRows};
use crate::spgemm::tasks::{Task, Work};
use crate::{Index, Pattern, Result};

/// Columns and values of C⟨M⟩, and how many each row has, by tasks.
pub(super) fn rows<W: Word, I: Index>(
    threads: &Threads,
    products: &dyn OneByOne<W, I>,
    mask: &Pattern<I>,
    work: &Work,
    lens: &[Mutex<&mut [usize]>],
) -> Result<(Vec<I>, Vec<W>)> {
    let (a, b) = products.patterns();
    let step = shifted_rows::repeats(a, b);
    let shifted = match step.filter(|&step| ShiftedOperandRows::is_worth(b, step, work.flops)) {
        Some(step) => Some(ShiftedOperandRows::find(threads, b, step)?),
        None => None,
    };
    let of = Operands { a, b, packed: None, shifted_b: shifted.as_ref() };
    let hint = usize::try_from(work.flops).unwrap_or(usize::MAX).min(mask.nnz());
    let state = || Ok((ProductFinder::new::<I>(b.ncols())?, filled(mask.longest_row(), false, "a row under a mask")?));
    append_both(threads, "mxm", work.tasks.len(), hint, state, |finder, t, cols, values| {
        let (task, mut lens) = (&work.tasks[t], lens[t].lock().unwrap_or_else(PoisonError::into_inner));
        let shifted = (step.is_some() && task.cols.is_none()).then(|| ShiftedRows::new::<I>(task.rows.start));
        let misses = Misses::of::<I>(&task.cols, b);
        dispatch_work(Rows { products, of, shifted, misses, mask, task, finder, lens: &mut lens, cols, values })
    })
}

/// The rows of a task, under a mask.
struct Rows<'a, 't, W, I: Index> {
    products: &'a dyn OneByOne<W, I>,
    of: Operands<'a, I>,
    /// Where most rows are shifted.
    shifted: Option<ShiftedRows>,
    misses: Misses,
    mask: &'a Pattern<I>,
    task: &'t Task,
    /// And for each slot whether a product touched it: none between rows.
    finder: &'t mut (ProductFinder, Vec<bool>),
    lens: &'t mut [usize],
    cols: &'t mut Vec<I>,
    values: &'t mut Vec<W>,
}

impl<W: Word, I: Index> simd::Work for Rows<'_, '_, W, I> {
    type Out = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        let Self { products, of, mut shifted, mut misses, mask, task, finder: (finder, touched), cols, values, .. } =
            self;
        let (Operands { a, b, .. }, identity, part) = (of, products.identity(), task.cols.as_ref());
        let most = match part {
            None => mask.row_ptr()[task.rows.end] - mask.row_ptr()[task.rows.start],
            Some(_) => columns_of_row(mask, task.rows.start, part).len(),
        };
        lengthen(cols, most, I::default())?;
        lengthen(values, most, identity)?;
        // `listed` is the row whose products were listed last, and whether all its columns were touched.
        let (mut n, mut listed) = (0, None);
        for (i, len) in task.rows.clone().zip(self.lens) {
            let masked = columns_of_row(mask, i, part);
            if masked.is_empty() || a.row(i).is_empty() {
                *len = 0;
                continue;
            }
            if misses.row(b, a.row(i), masked) {
                *len = 0;
                continue;
            }
            let row = &mut values[n..n + masked.len()];
            row.fill(identity);
            let before = listed.filter(|&(l, _)| l + 1 == i).zip(shifted.as_mut());
            let again = before.and_then(|((l, all), shifted)| {
                let by = shifted.shift(of, i)?;
                let found =
                    shifted.by.is(masked, mask.row(l), by).then(|| finder.shifted(b, (a.row(i), a.row(l))))??;
                products.fold_masked(i, found, row);
                mark(touched, if all { &[] } else { found.each().2 });
                Some(all)
            });
            if again.is_none() {
                finder.row((a, b), i, part, masked, |found| {
                    mark(touched, found.each().2);
                    products.fold_masked(i, found, row);
                });
            }
            let from = n;
            if again == Some(true) {
                cols[n..n + masked.len()].copy_from_slice(masked);
                n += masked.len();
            } else {
                // Touched columns are compacted, branch-free.
                for (s, (j, touched)) in masked.iter().zip(&mut *touched).enumerate() {
                    (cols[n], values[n]) = (*j, values[from + s]);
                    n += usize::from(std::mem::take(touched));
                }
            }
            *len = n - from;
            listed = Some((i, *len == masked.len()));
        }
        cols.truncate(n);
        values.truncate(n);
        Ok(())
    }
}

/// Rows whose mask no product meets, as those of a graph without triangles: few products are compared with it in one
/// register, as long as half of the rows are such.
struct Misses {
    by: Option<Sixteen>,
    asked: usize,
    missed: usize,
}

impl Misses {
    /// Rows of a task that is these columns of B.
    fn of<I: Index>(part: &Option<Range<usize>>, b: &Pattern<I>) -> Self {
        Self { by: Sixteen::of::<I>(b.ncols()).filter(|_| part.is_none()), asked: 0, missed: 0 }
    }
    /// Whether rows `ks` of B are seen to have none of `cols`.
    #[inline(always)]
    fn row<I: Index>(&mut self, b: &Pattern<I>, ks: &[I], cols: &[I]) -> bool {
        const FIRST: usize = 32;
        let Some(by) = self.by.filter(|_| ks.len() <= LANES && cols.len() <= LANES) else { return false };
        if self.asked >= FIRST && self.missed * 2 < self.asked {
            return false;
        }
        let missed = by.meets(RowsOf::without_values(b), ks, cols) == Some(false);
        self.asked += 1;
        self.missed += usize::from(missed);
        missed
    }
}

/// Marks some slots as touched.
#[inline(always)]
fn mark(touched: &mut [bool], slots: &[u32]) {
    slots.iter().for_each(|&s| touched[s as usize] = true);
}

/// Makes an empty vector `len` long.
fn lengthen<T: Copy>(vec: &mut Vec<T>, len: usize, x: T) -> Result<()> {
    vec.try_reserve(len).map_err(|_| out_of_memory::<T>("a block of C", len))?;
    vec.resize(len, x);
    Ok(())
}

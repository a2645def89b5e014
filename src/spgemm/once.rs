//! A product in one pass, for one use: columns and values together, under a mask, or where rows may be in any order.
//!
//! Under a mask the products of a row that count are gathered in a list; then they alone are computed, and the columns of the mask that
//! were met are the row of C. Where any order will do, columns get their places as they are met.
//! Source: Milaković et al. 2022 (mask as accumulator); Gustavson 1978.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use super::Compress;
use super::choice;
use super::columns::{self, extend};
use super::listing::Listing;
use super::plan::{Phase, Request, symbolic};
use super::product::Lengths;
use super::tasks::{self, Task, Work};
use crate::algebra::{Lhs, Out, Rhs, Semiring, Word};
use crate::kernels::{self, Multiply, Products, RowOfA, columns_of_row};
use crate::par::{Threads, append_both, filled, out_of_memory};
use crate::simd::{self, Met, dispatch_work};
use crate::{Csr, Index, Pattern, Result};

/// C = A ⊕.⊗ B, or C⟨M⟩, for one use: what [`symbolic`] and [`numeric`](super::numeric) give, in less time under a mask that is no
/// complement, and where [rows may be in any order](super::Options::unsorted): there they are in that in which their columns are met.
///
/// Shapes, errors and values are theirs. Cost under such a mask: O(flops + nnz(M)) time and O(nnz(C)) memory; per thread four bytes for
/// each column of B, a byte for each entry of the mask's longest row, and a column and a value for each entry that the mask has in the
/// rows of a task. Unsorted: O(flops) time and O(nnz(C)) memory; per thread four bytes for each column of B, and a column and a value for
/// each entry of C in the rows of a task. Progress is that of one operation, "mxm". The way and its cost are those of the two with a
/// budget, with compression or an accumulator asked for, where B has many more columns than there is work, and for a mask whose rows are
/// not sorted.
/// # Errors
/// Those of the two.
pub fn mxm<R: Semiring, I: Index>(
    threads: &Threads,
    request: &Request<'_, I>,
    ring: R,
    a: &Csr<Lhs<R>, I>,
    b: &Csr<Rhs<R>, I>,
) -> Result<Csr<Out<R>, I>> {
    let (c, values) = kernels::numeric(&Products::new(ring, a, b), &Once { threads, request })?;
    Csr::with_pattern(c, values)
}

/// Entries of the table for each multiplication and entry of the mask from which on filling it takes longer than all else.
const WIDE: u64 = 16;

/// A product for one use.
struct Once<'a, I: Index> {
    threads: &'a Threads,
    request: &'a Request<'a, I>,
}

impl<I: Index> Once<'_, I> {
    /// Whether what is asked for can be had in one pass.
    fn is_for_one_pass(&self) -> bool {
        let Request { mask, options, .. } = self.request;
        match mask {
            Some((mask, complement)) => !complement && mask.is_sorted(),
            None => options.unsorted && options.compress != Compress::On && !self.request.is_theirs(),
        }
    }
    /// Whether columns are to get their places as they are met.
    fn meets(&self, (a, b): (&Pattern<I>, &Pattern<I>), work: &Work) -> Result<bool> {
        let mean = work.flops as f64 / a.nrows().max(1) as f64;
        Ok(choice::short_rows(mean)
            && columns::repeats(a, b).is_none()
            && choice::seldom(columns::products_a_column(a, b, work.flops)?))
    }
}

impl<I: Index> kernels::Numeric<I> for Once<'_, I> {
    type Found = Arc<Pattern<I>>;

    fn make<W: Word>(&self, products: &dyn Multiply<W, I>) -> Result<(Arc<Pattern<I>>, Vec<W>)> {
        let Self { threads, request } = *self;
        let (a, b) = products.patterns();
        request.check(a, b)?;
        if request.budget.is_none() && products.is_typed() && Listing::suits((a, b)) && self.is_for_one_pass() {
            let work = tasks::cut(threads, a, b)?;
            let mask = request.mask.map(|(mask, _)| mask);
            let wide = b.ncols() as u64 / WIDE > work.flops.saturating_add(mask.map_or(0, |mask| mask.nnz() as u64));
            if !wide && (mask.is_some() || self.meets((a, b), &work)?) {
                let (c, values) = product(threads, products, mask, &work)?;
                return Ok((Arc::new(c), values));
            }
        }
        let plan = symbolic(threads, a, b, request)?;
        Phase { threads, budget: request.budget, plan: &plan }.make(products)
    }
}

/// C's structure and values, by tasks.
fn product<W: Word, I: Index>(
    threads: &Threads,
    products: &dyn Multiply<W, I>,
    mask: Option<&Pattern<I>>,
    work: &Work,
) -> Result<(Pattern<I>, Vec<W>)> {
    let (a, b) = products.patterns();
    let (mut lens, sorted) = (Lengths::new(a.nrows(), work)?, AtomicBool::new(true));
    let (cols, values) = {
        let (lens, tasks) = (lens.of_tasks(work)?, &work.tasks[..]);
        let lens = |t: usize| lens[t].lock().unwrap_or_else(PoisonError::into_inner);
        let hint = usize::try_from(work.flops).unwrap_or(usize::MAX);
        if let Some(mask) = mask {
            let state =
                || Ok((Listing::new::<I>(b.ncols())?, filled(mask.longest_row(), false, "a row under a mask")?));
            append_both(threads, "mxm", tasks.len(), hint.min(mask.nnz()), state, |listing, t, cols, values| {
                let mut lens = lens(t);
                dispatch_work(Rows { products, mask, task: &tasks[t], listing, lens: &mut lens, cols, values })
            })?
        } else {
            // While a row of B is met there is a place for each of its columns, whether it has one before or not.
            let most = usize::try_from(work.max_row_flops).unwrap_or(usize::MAX).min(b.ncols() + b.longest_row());
            let identity = products.identity();
            let state = || Ok((Met::new(b.ncols(), most)?, filled(most, identity, "sums of a row")?));
            append_both(threads, "mxm", tasks.len(), hint, state, |(met, sums), t, cols, values| {
                let Task { rows, cols: part } = &tasks[t];
                for (i, len) in rows.clone().zip(&mut **lens(t)) {
                    met.clear();
                    products.to_met(RowOfA { i, part: part.as_ref() }, met, sums);
                    *len = met.cols().len();
                    extend(cols, met.cols())?;
                    extend(values, &sums[..*len])?;
                    sums[..*len].fill(identity);
                    if sorted.load(Ordering::Relaxed) && !met.cols().is_sorted() {
                        sorted.store(false, Ordering::Relaxed);
                    }
                }
                Ok(())
            })?
        }
    };
    let (row_ptr, _) = lens.into_row_ptr(threads, work)?;
    Ok((Pattern::from_parts(a.nrows(), b.ncols(), row_ptr, cols, sorted.into_inner()), values))
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

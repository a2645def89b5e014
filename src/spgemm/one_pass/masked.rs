//! Masked one-pass product: the products of a row that the mask allows are listed and computed. The mask's columns
//! touched by a product are the row of C.
//!
//! Source: Milaković et al. 2022 (mask as accumulator).

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::algebra::Word;
use crate::kernels::{OneByOne, RowsOfC, columns_of_row};
use crate::par::{OutputSlice, Threads, append_both, filled, out_of_memory};
use crate::simd::{self, LANES, RowsOf, Sixteen, dispatch_work};
use crate::spgemm::product_finder::ProductFinder;
use crate::spgemm::shifted_operand::ShiftedOperandRows;
use crate::spgemm::shifted_rows::{self, Operands, ShiftedRows};
use crate::spgemm::tasks::{Task, Work};
use crate::{Index, Pattern, Result};

/// Columns and values of C⟨M⟩, and the length of each row, by tasks.
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
    let state = || {
        let touched = filled(mask.longest_row(), false, "a row under a mask")?;
        Ok(State { finder: ProductFinder::new::<I>(b.ncols())?, touched, window: vec![] })
    };
    append_both(threads, "mxm", work.tasks.len(), hint, state, |state, t, cols, values| {
        let (task, mut lens) = (&work.tasks[t], lens[t].lock().unwrap_or_else(PoisonError::into_inner));
        let shifted = (step.is_some() && task.cols.is_none()).then(|| ShiftedRows::new::<I>(task.rows.start));
        let misses = MissFilter::of::<I>(&task.cols, b);
        dispatch_work(Rows { products, of, shifted, misses, mask, task, state, lens: &mut lens, cols, values })
    })
}

/// The scratch of a thread.
struct State<W> {
    finder: ProductFinder,
    /// For each slot whether a product touched it; all false between rows.
    touched: Vec<bool>,
    /// A dense accumulator, which holds the identity between rows; empty until a row needs it.
    window: Vec<W>,
}

/// The rows of a task, under a mask.
struct Rows<'a, 't, W, I: Index> {
    products: &'a dyn OneByOne<W, I>,
    of: Operands<'a, I>,
    /// Where most rows are shifted.
    shifted: Option<ShiftedRows>,
    misses: MissFilter,
    mask: &'a Pattern<I>,
    task: &'t Task,
    state: &'t mut State<W>,
    lens: &'t mut [usize],
    cols: &'t mut Vec<I>,
    values: &'t mut Vec<W>,
}

impl<W: Word, I: Index> simd::Work for Rows<'_, '_, W, I> {
    type Out = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        let Self { products, of, mut shifted, mut misses, mask, task, state, cols, values, .. } = self;
        let State { finder, touched, window } = state;
        let (Operands { a, b, .. }, identity, part) = (of, products.identity(), task.cols.as_ref());
        let most = match part {
            None => mask.row_ptr()[task.rows.end] - mask.row_ptr()[task.rows.start],
            Some(_) => columns_of_row(mask, task.rows.start, part).len(),
        };
        lengthen(cols, most, I::default())?;
        lengthen(values, most, identity)?;
        // `listed` is the last row whose products were listed, and whether all its columns were touched.
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
            let before = listed.filter(|&(l, _)| l + 1 == i).zip(shifted.as_mut());
            let reused = before.and_then(|((l, all), shifted)| {
                let by = shifted.shift(of, i)?;
                let found =
                    shifted.by.is(masked, mask.row(l), by).then(|| finder.shifted(b, (a.row(i), a.row(l))))??;
                row.fill(identity);
                products.fold_masked(i, found, row);
                mark(touched, if all { &[] } else { found.each().2 });
                Some(all)
            });
            let span = if reused.is_none() && part.is_none() { covered(a, b, i, masked) } else { None };
            if let Some(span) = span {
                if window.is_empty() {
                    lengthen(window, b.ncols().clamp(1, WINDOW).next_power_of_two(), identity)?;
                }
                products.by_window(RowsOfC { rows: i..i + 1, c: mask, part }, window, &mut OutputSlice::of(row));
                clear(window, span, identity);
                cols[n..n + masked.len()].copy_from_slice(masked);
                n += masked.len();
                *len = masked.len();
                listed = None;
                continue;
            }
            if reused.is_none() {
                row.fill(identity);
                finder.row((a, b), i, part, masked, |found| {
                    mark(touched, found.each().2);
                    products.fold_masked(i, found, row);
                });
            }
            let from = n;
            if reused == Some(true) {
                cols[n..n + masked.len()].copy_from_slice(masked);
                n += masked.len();
            } else {
                // Compacts the touched columns, branch-free.
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

/// The column range of the products of row `i`, if computing all of them takes less time than finding those that the
/// mask allows. It does where the mask's row equals row `i` of B, A has an entry on the diagonal of the row (so the
/// range contains the mask's columns), and products are many relative to the range. Rows of structural and mesh
/// matrices are such, with A, B and the mask being one matrix.
#[inline(always)]
fn covered<I: Index>(a: &Pattern<I>, b: &Pattern<I>, i: usize, masked: &[I]) -> Option<Range<usize>> {
    let suits = masked.len() >= DENSE && i < b.nrows() && b.is_sorted() && b.row(i) == masked;
    if !suits || !a.row(i).iter().any(|k| k.get() == i) {
        return None;
    }
    let (mut start, mut end, mut flops) = (usize::MAX, 0, 0);
    for k in a.row(i) {
        let row = b.row(k.get());
        let (Some(first), Some(last)) = (row.first(), row.last()) else { continue };
        (start, end) = (start.min(first.get()), end.max(last.get() + 1));
        if end - start > WINDOW {
            return None;
        }
        flops += row.len();
    }
    (end.saturating_sub(start) <= flops * CLEARED).then_some(start..end)
}

/// Resets a range of columns to the identity.
fn clear<W: Copy>(window: &mut [W], span: Range<usize>, identity: W) {
    let start = span.start & (window.len() - 1);
    let (before, behind) = window.split_at_mut(start);
    let here = behind.len().min(span.len());
    behind[..here].fill(identity);
    before[..span.len() - here].fill(identity);
}

/// Widest range of the dense accumulator.
const WINDOW: usize = 1 << 14;
/// Shortest mask row that is tested.
const DENSE: usize = 8;
/// Columns cleared in the time of one product.
const CLEARED: usize = 2;

/// Finds rows whose mask no product hits, as in graphs without triangles. The few products of a row are compared with
/// its mask in one register, as long as at least half of the rows are such.
struct MissFilter {
    by: Option<Sixteen>,
    tested: usize,
    missed: usize,
}

impl MissFilter {
    /// For a task; unused where it is a range of columns of B.
    fn of<I: Index>(part: &Option<Range<usize>>, b: &Pattern<I>) -> Self {
        Self { by: Sixteen::of::<I>(b.ncols()).filter(|_| part.is_none()), tested: 0, missed: 0 }
    }
    /// Whether rows `ks` of B certainly have none of `cols`.
    #[inline(always)]
    fn row<I: Index>(&mut self, b: &Pattern<I>, ks: &[I], cols: &[I]) -> bool {
        const FIRST: usize = 32;
        let Some(by) = self.by.filter(|_| ks.len() <= LANES && cols.len() <= LANES) else { return false };
        if self.tested >= FIRST && self.missed * 2 < self.tested {
            return false;
        }
        let missed = by.intersects(RowsOf::without_values(b), ks, cols) == Some(false);
        self.tested += 1;
        self.missed += usize::from(missed);
        missed
    }
}

/// Marks slots as touched.
#[inline(always)]
fn mark(touched: &mut [bool], slots: &[u32]) {
    slots.iter().for_each(|&s| touched[s as usize] = true);
}

/// Resizes an empty vector to `len`.
fn lengthen<T: Copy>(vec: &mut Vec<T>, len: usize, x: T) -> Result<()> {
    vec.try_reserve(len).map_err(|_| out_of_memory::<T>("a block of C", len))?;
    vec.resize(len, x);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;
    use crate::algebra::{MinPlus, PlusTimes};
    use crate::spgemm::{Options, Request, mxm};

    /// Bands in which some rows lack their diagonal or have far-off entries: within the dense accumulator, at its end
    /// and beyond it. Under their own pattern and a part of it, the result equals the whole product at the masked
    /// positions, bit for bit.
    #[test]
    fn rows_by_a_dense_accumulator_are_those_of_the_product() {
        for (n, wide) in [(1, 4), (9, 6), (50, 6), (200, 30), (if cfg!(miri) { 60 } else { WINDOW + 100 }, 8)] {
            let row = |i: usize| {
                let band =
                    (i.saturating_sub(wide)..n.min(i + wide + 1)).filter(move |&j| j != i || !i.is_multiple_of(5));
                band.chain((i % 11 == 3 && i + wide + 1 < n).then_some(n - 1)).map(|j| j as u32)
            };
            let (mut ptr, mut cols) = (vec![0], vec![]);
            for i in 0..n {
                cols.extend(row(i));
                ptr.push(cols.len());
            }
            let values = (0..cols.len()).map(|e| 0.1 + (e * 7 % 13) as f64).collect();
            let a = Csr::<f64>::new(n, n, ptr, cols, values).unwrap();
            let threads = Threads::new(2).unwrap();
            let part = a.pattern().select(&threads, |i, j| (i + j) % 3 > 0).unwrap();
            let options = Options::default();
            let by = |mask| Request { options: &options, budget: None, mask };
            macro_rules! check {
                ($ring:ty, $mask:expr) => {
                    let whole = mxm(&threads, &by(None), <$ring>::default(), &a, &a).unwrap();
                    let c = mxm(&threads, &by(Some(($mask, false))), <$ring>::default(), &a, &a).unwrap();
                    for i in 0..n {
                        let of = |c: &Csr<f64>| -> Vec<(u32, u64)> {
                            c.row(i).0.iter().copied().zip(c.row(i).1.iter().map(|z| z.to_bits())).collect()
                        };
                        let mut want = of(&whole);
                        want.retain(|(j, _)| $mask.row(i).contains(j));
                        assert_eq!(of(&c), want, "row {i} of {n}");
                    }
                };
            }
            for mask in [a.pattern().as_ref(), &part] {
                check!(PlusTimes<f64>, mask);
                check!(MinPlus<f64>, mask);
            }
        }
    }

    #[test]
    fn the_dense_accumulator_is_cleared_around_its_end() {
        for (span, want) in
            [(0..0, [1; 8]), (2..5, [1, 1, 0, 0, 0, 1, 1, 1]), (14..18, [0, 0, 1, 1, 1, 1, 0, 0]), (8..16, [0; 8])]
        {
            let mut window = [1; 8];
            clear(&mut window, span, 0);
            assert_eq!(window, want);
        }
    }
}

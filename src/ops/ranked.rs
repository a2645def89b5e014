//! Sums of a short list of products by column, in column order, without sorting the list.
//!
//! A bitmap of the columns is retained from one product to the next, all 0 between them, so the cost of a product
//! depends on the length of its list: a search along a path of a million vertices takes a million steps of a few
//! entries each.

use std::cell::RefCell;

use super::blocks::room;
use crate::algebra::Word;
use crate::kernels::Listed;
use crate::par::{filled, reserved};
use crate::sparse::{ones, out_of_memory};
use crate::{Index, Result};

/// Maximum number of columns: their bits and ranks take 13 MiB, retained by each calling thread.
pub(super) const COLUMNS: usize = 1 << 26;

/// A bitmap of touched columns with ranks; empty between uses.
#[derive(Default)]
struct RankedBitmap {
    /// One bit per column.
    columns: Vec<u64>,
    /// One bit per word of `columns`, set if it is nonzero.
    words: Vec<u64>,
    /// Number of touched columns before each word, if it is nonzero.
    before: Vec<u32>,
    /// Length of the part of `words` in use.
    used: usize,
}

thread_local!(static CACHE: RefCell<RankedBitmap> = RefCell::default());

impl RankedBitmap {
    /// Resizes for `n` columns.
    fn fit(&mut self, n: usize) -> Result<()> {
        self.used = 0;
        grow(&mut self.columns, n.div_ceil(64))?;
        grow(&mut self.words, n.div_ceil(64 * 64))?;
        grow(&mut self.before, n.div_ceil(64))?;
        self.used = n.div_ceil(64 * 64);
        Ok(())
    }
    /// Sets the bits of the columns, and returns the number of bits newly set.
    fn mark<W, I: Index>(&mut self, list: &[(I, W)]) -> usize {
        let mut count = 0;
        for (j, _) in list {
            let (w, bit) = (j.get() / 64, 1 << (j.get() % 64));
            count += usize::from(self.columns[w] & bit == 0);
            self.columns[w] |= bit;
            self.words[w / 64] |= 1 << (w % 64);
        }
        count
    }
    /// Appends the touched columns, increasing.
    fn list<I: Index>(&mut self, columns: &mut Vec<I>) {
        for w in ones(&self.words[..self.used]) {
            // The list of products is shorter than 2³².
            self.before[w] = columns.len() as u32;
            let mut bits = self.columns[w];
            while bits != 0 {
                columns.push(I::cast(64 * w + bits.trailing_zeros() as usize));
                bits &= bits - 1;
            }
        }
    }
    /// The rank of a touched column among the touched columns.
    #[inline(always)]
    fn rank(&self, j: usize) -> usize {
        let below = self.columns[j / 64] & ((1 << (j % 64)) - 1);
        self.before[j / 64] as usize + below.count_ones() as usize
    }
    /// Clears all bits.
    fn clear(&mut self) {
        for w in ones(&self.words[..self.used]) {
            self.columns[w] = 0;
        }
        self.words[..self.used].fill(0);
    }
    /// The touched columns and their sums, for products in `n` columns.
    fn sums<W: Word, I: Index>(
        &mut self,
        products: &dyn Listed<W, I>,
        list: &mut [(I, W)],
        n: usize,
    ) -> Result<(Vec<I>, Vec<W>)> {
        self.fit(n)?;
        let count = self.mark(list);
        let mut columns = reserved(count, "indices")?;
        self.list(&mut columns);
        for (j, _) in list.iter_mut() {
            *j = I::cast(self.rank(j.get()));
        }
        let mut sums = filled(count, products.identity(), "values")?;
        let mut present = filled(count.div_ceil(64), 0, "a bitmap")?;
        products.fold(list, 0, &mut sums, &mut present);
        Ok((columns, sums))
    }
}

fn grow<T: Copy + Default>(v: &mut Vec<T>, len: usize) -> Result<()> {
    if v.len() < len {
        v.try_reserve_exact(len - v.len()).map_err(|_| out_of_memory::<T>("a bitmap of columns", len))?;
        v.resize(len, T::default());
    }
    Ok(())
}

/// Columns and their sums, for the `flops` products of the first `entries` entries of x, in `n` columns.
///
/// Cost: O(flops + n / 4096) time and O(flops + n / 5) bytes; each sum folds in the order of the list.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(super) fn sums<W: Word, I: Index>(
    products: &dyn Listed<W, I>,
    entries: usize,
    flops: usize,
    n: usize,
) -> Result<(Vec<I>, Vec<W>)> {
    let mut list = Vec::new();
    room(&mut list, flops, "products of a vector and a matrix")?;
    products.append(0..entries, &mut list);
    // Taken out of the thread local, so that a panic drops a half-cleared bitmap.
    let mut bitmap = CACHE.take();
    let sums = bitmap.sums(products, &mut list, n);
    bitmap.clear();
    CACHE.set(bitmap);
    sums
}

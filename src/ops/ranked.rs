//! Sums of a short list of products by column, in the order of columns, without sorting it.
//!
//! A bit for each column is kept from one product to the next and is 0 between them, so a product costs what its list
//! does: a search along a path of a million vertices takes a million steps of a few entries each.

use std::cell::RefCell;

use super::blocks::room;
use crate::algebra::Word;
use crate::kernels::Listed;
use crate::par::{filled, reserved};
use crate::sparse::{ones, out_of_memory};
use crate::{Index, Result};

/// Columns at most: their bits and ranks take 13 MiB, kept by each thread that asked.
pub(super) const COLUMNS: usize = 1 << 26;

/// Columns that are marked; none between two uses.
#[derive(Default)]
struct Marks {
    /// A bit for each column.
    columns: Vec<u64>,
    /// A bit for each word of `columns` that is not 0.
    words: Vec<u64>,
    /// Columns marked in the words before each one, where it is not 0.
    before: Vec<u32>,
    /// Words of `words` that the columns of this use take.
    used: usize,
}

thread_local!(static KEPT: RefCell<Marks> = RefCell::default());

impl Marks {
    /// Makes room for `n` columns.
    fn fit(&mut self, n: usize) -> Result<()> {
        self.used = 0;
        grow(&mut self.columns, n.div_ceil(64))?;
        grow(&mut self.words, n.div_ceil(64 * 64))?;
        grow(&mut self.before, n.div_ceil(64))?;
        self.used = n.div_ceil(64 * 64);
        Ok(())
    }
    /// Marks columns; how many they are.
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
    /// Appends the marked columns, increasing.
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
    /// Position of a marked column among them.
    #[inline(always)]
    fn rank(&self, j: usize) -> usize {
        let below = self.columns[j / 64] & ((1 << (j % 64)) - 1);
        self.before[j / 64] as usize + below.count_ones() as usize
    }
    /// Takes all marks away.
    fn clear(&mut self) {
        for w in ones(&self.words[..self.used]) {
            self.columns[w] = 0;
        }
        self.words[..self.used].fill(0);
    }
    /// The marked columns and their sums, for products in `n` columns.
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
        v.try_reserve_exact(len - v.len()).map_err(|_| out_of_memory::<T>("marks of columns", len))?;
        v.resize(len, T::default());
    }
    Ok(())
}

/// Columns and their sums, of `flops` products of the first `entries` entries of x, in `n` columns.
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
    // What a panic leaves is not kept.
    let mut marks = KEPT.take();
    let made = marks.sums(products, &mut list, n);
    marks.clear();
    KEPT.set(marks);
    made
}

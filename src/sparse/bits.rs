//! Compressed bit rows: a pattern with 32 or 64 columns to a word.
//!
//! Row i is a list of pairs (column-set index s, bit set w): bit b of w stands for column s·COLUMNS + b.
//! Unions and intersections of rows then work on whole words, and popcounts give lengths.
//! Construction has two phases, so that a caller can count, and stop if compression would not pay.
//!
//! Source: Deveci, Trott, Rajamanickam 2018, §3.1 (32 columns to a word, count then fill).

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr};

use super::parts::{build_rows, count_rows, fill_rows};
use super::sort::room;
use crate::par::Threads;
use crate::{Index, Pattern, Result};

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A set of 32 or 64 columns.
pub trait Word:
    sealed::Sealed + Copy + Eq + Default + Debug + BitAnd<Output = Self> + BitOr<Output = Self> + Send + Sync + 'static
{
    /// Columns in a word, a power of two.
    const COLUMNS: usize;
    /// log₂ of [`COLUMNS`](Self::COLUMNS): column j lies in set `j >> SHIFT`.
    const SHIFT: u32;
    /// The set {b}, `b` < COLUMNS.
    fn bit(b: usize) -> Self;
    /// Number of columns in the set.
    fn count(self) -> u32;
    /// The smallest column of the set, COLUMNS if it is empty.
    fn lowest(self) -> usize;
    /// The set without its smallest column.
    #[must_use]
    fn without_lowest(self) -> Self;
}

macro_rules! word {
    ($($t:ident $shift:literal)*) => {$(
        impl Word for $t {
            const COLUMNS: usize = 1 << $shift;
            const SHIFT: u32 = $shift;
            #[inline(always)] fn bit(b: usize) -> Self { debug_assert!(b < Self::COLUMNS); 1 << b }
            #[inline(always)] fn count(self) -> u32 { self.count_ones() }
            #[inline(always)] fn lowest(self) -> usize { self.trailing_zeros() as usize }
            #[inline(always)] fn without_lowest(self) -> Self { self & self.wrapping_sub(1) }
        }
    )*};
}
word! { u32 5 u64 6 }

/// A pattern in compressed bit rows; column-set indices increase within each row, no word is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitRows<W: Word = u64, I: Index = u32> {
    ncols: usize,
    sets: Pattern<I>,
    words: Vec<W>,
}

/// The result of the first phase: the number of pairs of each row.
#[derive(Clone, Debug)]
pub struct BitCounts<'a, W: Word = u64, I: Index = u32> {
    pattern: &'a Pattern<I>,
    row_ptr: Vec<usize>,
    _word: PhantomData<W>,
}

/// Calls `f(s, w)` for each pair of row `i`, s increasing. An unsorted row is sorted in `scratch` first.
#[inline(always)]
fn pairs<W: Word, I: Index>(
    pattern: &Pattern<I>,
    scratch: &mut Vec<I>,
    i: usize,
    mut f: impl FnMut(usize, W),
) -> Result<()> {
    let mut cols = pattern.row(i);
    if !pattern.is_sorted() {
        room(scratch, cols.len())?;
        scratch.extend_from_slice(cols);
        scratch.sort_unstable();
        cols = scratch;
    }
    let Some(first) = cols.first() else { return Ok(()) };
    let (mut set, mut word) = (first.get() >> W::SHIFT, W::default());
    for j in cols {
        let s = j.get() >> W::SHIFT;
        if s != set {
            f(set, word);
            (set, word) = (s, W::default());
        }
        word = word | W::bit(j.get() & (W::COLUMNS - 1));
    }
    f(set, word);
    Ok(())
}

impl<'a, W: Word, I: Index> BitCounts<'a, W, I> {
    /// Total number of pairs.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.row_ptr[self.row_ptr.len() - 1]
    }
    /// Row pointers of the compressed rows.
    #[must_use]
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }
    /// Bytes allocated by the second phase.
    pub(crate) fn fill_bytes(&self) -> u128 {
        self.pairs() as u128 * (size_of::<I>() + size_of::<W>()) as u128
    }
    /// The second phase: the pairs themselves; O(nnz) for sorted rows.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn fill(self, threads: &Threads) -> Result<BitRows<W, I>> {
        let a = self.pattern;
        let (sets, words) = fill_rows(
            threads,
            a.ncols().div_ceil(W::COLUMNS),
            self.row_ptr,
            |i| (a.row_ptr()[i] + i) as u64,
            Some(W::default()),
            || Ok(Vec::new()),
            |scratch, i, sets: &mut [I], words| {
                let mut slots = sets.iter_mut().zip(words);
                pairs(a, scratch, i, |s, w| {
                    if let Some((set, word)) = slots.next() {
                        (*set, *word) = (I::cast(s), w);
                    }
                })
            },
        )?;
        Ok(BitRows { ncols: a.ncols(), sets, words })
    }
}

impl<W: Word, I: Index> BitRows<W, I> {
    /// The first phase: pairs in each row of `pattern`; O(nnz) for sorted rows, O(d log d) for an unsorted one.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    /// # Example
    /// ```
    /// use sparring::{Pattern, par::Threads, sparse::BitRows};
    /// let threads = Threads::current();
    /// let a = Pattern::<u32>::new(1, 100, vec![0, 3], vec![1, 3, 70])?;
    /// let counts = BitRows::<u32>::count(&threads, &a)?;
    /// assert_eq!(counts.pairs(), 2);
    /// let bits = counts.fill(&threads)?;
    /// assert_eq!(bits.row(0), (&[0, 2][..], &[0b1010, 1 << 6][..]));
    /// assert_eq!(bits.row_nnz(0), 3);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn count<'a>(threads: &Threads, pattern: &'a Pattern<I>) -> Result<BitCounts<'a, W, I>> {
        let row_ptr = count_rows(
            threads,
            pattern.nrows(),
            |i| (pattern.row_ptr()[i] + i) as u64,
            || Ok(Vec::new()),
            |scratch, i| {
                let mut n = 0;
                pairs(pattern, scratch, i, |_, _: W| n += 1)?;
                Ok(n)
            },
        )?;
        Ok(BitCounts { pattern, row_ptr, _word: PhantomData })
    }
    /// Bytes allocated by the first phase: row pointers, and one row per thread for sorting.
    pub(crate) fn count_bytes(threads: &Threads, pattern: &Pattern<I>) -> u128 {
        let row = if pattern.is_sorted() { 0 } else { pattern.longest_row() };
        (pattern.nrows() as u128 + 1) * size_of::<usize>() as u128
            + threads.count() as u128 * row as u128 * size_of::<I>() as u128
    }
    /// Both phases.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new(threads: &Threads, pattern: &Pattern<I>) -> Result<Self> {
        Self::count(threads, pattern)?.fill(threads)
    }

    /// Rows.
    #[inline]
    pub fn nrows(&self) -> usize {
        self.sets.nrows()
    }
    /// Columns of the pattern.
    #[inline]
    pub fn ncols(&self) -> usize {
        self.ncols
    }
    /// Total number of pairs.
    #[inline]
    pub fn pairs(&self) -> usize {
        self.words.len()
    }
    /// The pattern of the pairs; its columns are column-set indices.
    #[inline]
    pub fn sets(&self) -> &Pattern<I> {
        &self.sets
    }
    /// Bit sets, row by row.
    #[inline]
    pub fn words(&self) -> &[W] {
        &self.words
    }
    /// Column-set indices and bit sets of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[I], &[W]) {
        let range = self.sets.row_ptr()[i]..self.sets.row_ptr()[i + 1];
        (&self.sets.col_idx()[range.clone()], &self.words[range])
    }
    /// Entries of row `i`: the popcount of its words.
    #[inline]
    pub fn row_nnz(&self, i: usize) -> usize {
        self.row(i).1.iter().map(|w| w.count() as usize).sum()
    }
    /// Columns of row `i`, increasing.
    pub fn columns(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let (sets, words) = self.row(i);
        sets.iter().zip(words).flat_map(|(s, w)| {
            std::iter::successors(Some(*w), |w| Some(w.without_lowest()))
                .take_while(|w| *w != W::default())
                .map(move |w| (s.get() << W::SHIFT) + w.lowest())
        })
    }
    /// The pattern again, rows sorted.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn to_pattern(&self, threads: &Threads) -> Result<Pattern<I>> {
        let (pattern, _) = build_rows(
            threads,
            (self.nrows(), self.ncols),
            |i| (self.sets.row_ptr()[i] + i) as u64,
            Some(()),
            || Ok(()),
            |(), i| Ok(self.row_nnz(i)),
            |(), i, cols, _| {
                cols.iter_mut().zip(self.columns(i)).for_each(|(c, j)| *c = I::cast(j));
                Ok(())
            },
        )?;
        Ok(pattern)
    }
}

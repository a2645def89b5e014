//! Bitmaps: one bit per index of a vector.

use crate::Result;
use crate::par::{OutputSlice, Threads, UninitOutput, try_split, zero_words};
use crate::simd::dispatch;

/// One bit per index, 64 to a word, with a cached popcount.
///
/// Invariant: bits from `len` on are 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bitmap {
    len: usize,
    words: Vec<u64>,
    count: usize,
}

/// Whether bit `i` is set.
/// # Panics
/// If the word is out of range.
#[inline(always)]
pub(crate) fn bit(words: &[u64], i: usize) -> bool {
    words[i / 64] >> (i % 64) & 1 != 0
}

/// Indices of the set bits, increasing.
pub(crate) fn ones(words: &[u64]) -> Ones<'_> {
    Ones { words, at: 0, bits: words.first().copied().unwrap_or(0) }
}

/// The iterator of [`ones`].
#[derive(Clone, Debug)]
pub(crate) struct Ones<'a> {
    words: &'a [u64],
    at: usize,
    bits: u64,
}

impl Iterator for Ones<'_> {
    type Item = usize;
    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            self.at += 1;
            self.bits = *self.words.get(self.at)?;
        }
        let i = 64 * self.at + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(i)
    }
}

/// Word `at` with all bits set for indices below `len`.
#[inline(always)]
pub(crate) fn word_of_all(len: usize, at: usize) -> u64 {
    match len - 64 * at {
        left @ ..64 => (1 << left) - 1,
        _ => !0,
    }
}

/// Sets bit i of the zeroed words if row i, `row_ptr[i]..row_ptr[i + 1]`, has entries.
#[inline(always)]
fn words_of_rows(row_ptr: &[usize], words: &mut [u64]) {
    for (at, word) in words.iter_mut().enumerate() {
        let rows = &row_ptr[64 * at..row_ptr.len().min(64 * at + 65)];
        *word = rows.windows(2).enumerate().fold(0, |word, (b, row)| word | u64::from(row[0] != row[1]) << b);
    }
}

impl Bitmap {
    /// A bitmap of `len` bits, none set.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn empty(len: usize) -> Result<Self> {
        Ok(Self { len, words: zero_words(len.div_ceil(64), "a bitmap")?, count: 0 })
    }
    /// From the words `word(at)`; bits from `len` on are cleared.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn of(len: usize, mut word: impl FnMut(usize) -> u64) -> Result<Self> {
        let words = len.div_ceil(64);
        Ok(Self::new(
            len,
            crate::par::collected(words, (0..words).map(|at| word(at) & word_of_all(len, at)), "a bitmap")?,
        ))
    }
    /// Bit i is `has(i)`, in parallel; `work(i)` is the work of the bits before i.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Cancelled`](crate::Error::Cancelled).
    pub(crate) fn on(
        threads: &Threads,
        op: &'static str,
        len: usize,
        work: impl Fn(usize) -> u64,
        has: impl Fn(usize) -> bool + Sync,
    ) -> Result<Self> {
        let word = |at: usize| (64 * at..len.min(64 * at + 64)).fold(0, |word, i| word | u64::from(has(i)) << (i % 64));
        let words = |first: usize, words: &mut [u64]| words.iter_mut().zip(first..).for_each(|(to, at)| *to = word(at));
        Self::of_words(threads, op, len, work, words)
    }
    /// The bitmap of non-empty rows.
    /// # Errors
    /// As for [`on`](Self::on).
    pub(crate) fn of_rows(threads: &Threads, op: &'static str, row_ptr: &[usize]) -> Result<Self> {
        let len = row_ptr.len() - 1;
        let words = |first: usize, words: &mut [u64]| dispatch(|| words_of_rows(&row_ptr[64 * first..], words));
        Self::of_words(threads, op, len, |i| (i / 4) as u64, words)
    }
    /// From words that `write(first, words)` writes over zeros, in parallel; bits from `len` on are cleared.
    fn of_words(
        threads: &Threads,
        op: &'static str,
        len: usize,
        work: impl Fn(usize) -> u64,
        write: impl Fn(usize, &mut [u64]) + Sync,
    ) -> Result<Self> {
        /// Work per block of words: enough to make the cost of scheduling negligible.
        const BLOCK: u64 = 1 << 15;
        let (parts, count) = ((work(len) / BLOCK).clamp(1, 1024) as usize, len.div_ceil(64));
        if parts == 1 {
            let mut words = zero_words(count, "a bitmap")?;
            write(0, &mut words);
            return Ok(Self::new(len, words));
        }
        let blocks = try_split(count, parts, |at| work(len.min(64 * at)))?;
        let end = |t: usize| t.checked_sub(1).map_or(0, |t| blocks[t].end);
        let fill = |(): &mut (), t: usize, slots: &mut OutputSlice<'_, u64>| {
            write(end(t), slots.rest(0));
            Ok(())
        };
        Ok(Self::new(len, UninitOutput::new(count, "a bitmap")?.fill(threads, op, blocks.len(), end, || Ok(()), fill)?))
    }
    /// Bit i is `flags[i]`.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn from_flags(flags: &[bool]) -> Result<Self> {
        Self::of(flags.len(), |at| {
            let flags = &flags[64 * at..flags.len().min(64 * at + 64)];
            flags.iter().enumerate().fold(0, |word, (b, &flag)| word | u64::from(flag) << b)
        })
    }
    /// From words whose bits from `len` on are 0.
    pub(crate) fn new(len: usize, words: Vec<u64>) -> Self {
        debug_assert!(words.len() == len.div_ceil(64));
        debug_assert!(words.last().is_none_or(|last| last & !word_of_all(len, words.len() - 1) == 0));
        let count = words.iter().map(|w| w.count_ones() as usize).sum();
        Self { len, words, count }
    }
    pub(crate) fn try_clone(&self) -> Result<Self> {
        Ok(Self { words: super::copied(&self.words, "a bitmap")?, ..*self })
    }
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// Number of set bits.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
    /// Whether `i` is below the length and bit `i` is set.
    #[inline]
    pub(crate) fn get(&self, i: usize) -> bool {
        i < self.len && bit(&self.words, i)
    }
    /// Sets bit `i`; true if it was clear.
    pub(crate) fn insert(&mut self, i: usize) -> bool {
        debug_assert!(i < self.len);
        let (word, bit) = (&mut self.words[i / 64], 1 << (i % 64));
        let new = *word & bit == 0;
        *word |= bit;
        self.count += usize::from(new);
        new
    }
    /// Clears bit `i`; true if it was set.
    pub(crate) fn remove(&mut self, i: usize) -> bool {
        debug_assert!(i < self.len);
        let (word, bit) = (&mut self.words[i / 64], 1 << (i % 64));
        let was = *word & bit != 0;
        *word &= !bit;
        self.count -= usize::from(was);
        was
    }
    /// Replaces word `at` by `word(at, bits)`, whose bits from `len` on must be 0.
    pub(crate) fn map(&mut self, mut word: impl FnMut(usize, u64) -> u64) {
        let mut count = 0;
        for (at, bits) in self.words.iter_mut().enumerate() {
            *bits = word(at, *bits);
            count += bits.count_ones() as usize;
        }
        debug_assert!(self.words.last().is_none_or(|last| last & !word_of_all(self.len, self.words.len() - 1) == 0));
        self.count = count;
    }
    /// Lets `write` set bits of the words; it returns the number of newly set bits.
    pub(crate) fn insert_by(&mut self, write: impl FnOnce(&mut [u64]) -> Result<usize>) -> Result<()> {
        self.count += write(&mut self.words)?;
        debug_assert!(self.count == self.words.iter().map(|w| w.count_ones() as usize).sum::<usize>());
        Ok(())
    }
}

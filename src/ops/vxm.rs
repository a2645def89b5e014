//! yᵀ = xᵀ ⊕.⊗ A: a sparse vector times a sparse matrix, by the rows of A selected by x.
//!
//! | strategy | |
//! | --- | --- |
//! | ranked | products are listed, their columns marked in a bitmap, and folded at the ranks of their columns |
//! | sorted | products are listed, sorted by column, and folded |
//! | direct | products are folded into a dense accumulator of the length of y |
//! | by columns | each thread folds the products of a range of columns into its own dense accumulator |
//! | grouped | products are listed block by block of x, each block grouped by column range; then each range gathers its products, block after block, in a dense window |
//!
//! Every strategy folds the products of a column in the order of k, so the results are bitwise the same, and the choice
//! may depend on the number of threads.
//! Source: Azad, Buluç 2017, "A work-efficient parallel sparse matrix-sparse vector multiplication algorithm" (products
//! in buckets of rows, a sparse accumulator for each bucket); the fold order is ours.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::blocks::{blocks, room};
use super::ranked;
use crate::algebra::{Array, Lhs, Out, Rhs, Semiring, Slice, Word, precompiled};
use crate::kernels::{CACHED, CompiledRing, Listed, Operand, Part, Sums, VectorProducts, sums, sums_by_formula};
use crate::par::{Threads, UninitOutput, append_blocks, collected, filled, note, reserved};
use crate::simd::{EntriesWithin, RowsOf, within};
use crate::sparse::{Bitmap, EffectiveMask, Indices, MaskSpec, VectorPattern, ones};
use crate::{Csr, Error, Index, Pattern, Result};

/// Products that go to a dense accumulator at a time, so that they stay in the L1 cache.
const PIECE: usize = 1 << 10;
/// Columns of a window: 128 KiB of doubles, which stay in the L2 cache.
const WINDOW: usize = 1 << 14;
/// Prefetch distance, in entries of x: the rows of A they select are prefetched.
const AHEAD: usize = 8;
/// Maximum number of column ranges.
const RANGES: usize = 512;

/// `y(j) = e ⊕ x(k) ⊗ A(k, j) ⊕ …` over the k where x and A both have an entry, k increasing, `e` the identity of ⊕. y
/// has an entry if there is such a k and the mask allows it.
///
/// Shapes: `x` k, `a` k×n, result n. A positional ⊗ sees (0, k, j). Cost, with f the entries of the rows of A selected
/// by x: O(nnz(x) + f) time if f is below 2¹⁶ and n at most 2²⁶, O(nnz(x) + f log f) for very few of very many columns,
/// O(nnz(x) + f + n/64) otherwise; O(nnz(x) + f) memory, and O(n) if n is below 2¹⁷ and f above n/16, or n at most 2²⁰
/// per thread and f above n/8. The vector has length `len` and values `xs` at the indices `ks`; the result is columns
/// and sums.
/// # Errors
/// [`Error::Shape`]; [`Error::Length`] if the mask is not of length n; [`Error::OutOfMemory`], [`Error::Cancelled`].
pub(crate) fn vxm_list<R: Semiring, I: Index>(
    threads: &Threads,
    ring: R,
    len: usize,
    (ks, xs): (&[I], &[Lhs<R>]),
    a: &Csr<Rhs<R>, I>,
    mask: Option<MaskSpec<'_, VectorPattern<I>>>,
) -> Result<(Vec<I>, Vec<Out<R>>)> {
    if len != a.nrows() {
        return Err(Error::Shape { op: "vxm", lhs: (1, len), rhs: a.shape() });
    }
    mask.map_or(Ok(()), |mask| mask.check(a.ncols()))?;
    if mask.is_some_and(|mask| mask.count() == 0) {
        return Ok((Vec::new(), Vec::new()));
    }
    let before = work_before(ks, a.pattern())?;
    let mut bits = None;
    let mask = mask.map(|mask| searched(mask, before[ks.len()], &mut bits)).transpose()?;
    let strategy = Product { threads, before: &before, ks, a: a.pattern(), mask };
    sums(&VectorProducts { ring, x: (ks, xs), a, mask }, &strategy)
}

/// The mask for the loops over at most `flops` products: a list is converted to a bitmap if that takes fewer steps than
/// the products, because testing a bit is faster than searching a list.
fn searched<'a, I: Index>(
    mask: MaskSpec<'a, VectorPattern<I>>,
    flops: u64,
    bits: &'a mut Option<Bitmap>,
) -> Result<EffectiveMask<'a, I>> {
    match mask.effective() {
        EffectiveMask { indices: Indices::List(_), complement } if flops > mask.pattern.len() as u64 / 64 => {
            let words = bits.insert(mask.pattern.to_bitmap()?).words();
            Ok(EffectiveMask { indices: Indices::Bitmap(words), complement })
        }
        mask => Ok(mask),
    }
}

/// [`vxm_list`] over a semiring known at run time, for a vector of length `len` with entries at the indices `ks`:
/// columns and sums.
/// # Errors
/// As for [`vxm_list`]; [`Error::Argument`] if ⊗ takes other types, [`Error::Unsupported`] for structs.
pub(crate) fn vxm_words(
    threads: &Threads,
    ring: &CompiledRing,
    len: usize,
    (ks, xs): (&[u32], Slice<'_>),
    a: Operand<'_>,
    mask: Option<MaskSpec<'_, VectorPattern>>,
) -> Result<(Vec<u32>, Array)> {
    if len != a.pattern.nrows() {
        return Err(Error::Shape { op: "vxm", lhs: (1, len), rhs: a.pattern.shape() });
    }
    mask.map_or(Ok(()), |mask| mask.check(a.pattern.ncols()))?;
    let before = work_before(ks, a.pattern)?;
    let mut bits = None;
    let mask = mask.map(|mask| searched(mask, before[ks.len()], &mut bits)).transpose()?;
    sums_by_formula(ring, (ks, xs), a, mask, &Product { threads, before: &before, ks, a: a.pattern, mask })
}

/// Prefix sums over the entries of x of the work: one, plus the length of the row of A.
fn work_before<I: Index>(ks: &[I], a: &Pattern<I>) -> Result<Vec<u64>> {
    let mut before = filled(ks.len() + 1, 0u64, "work of a product")?;
    for (p, k) in ks.iter().enumerate() {
        before[p + 1] = before[p] + a.row(k.get()).len() as u64 + 1;
    }
    Ok(before)
}

/// A product.
struct Product<'a, I: Index> {
    threads: &'a Threads,
    /// Prefix sums of the work over the entries of x.
    before: &'a [u64],
    /// Indices of the entries of x.
    ks: &'a [I],
    a: &'a Pattern<I>,
    mask: Option<EffectiveMask<'a, I>>,
}

impl<I: Index> Sums<I> for Product<'_, I> {
    fn make<W: Word>(&self, products: &dyn Listed<W, I>) -> Result<(Vec<I>, Vec<W>)> {
        let make: Make<W, I> = precompiled!(word made: Make<W, I>);
        make(self, products)
    }
}
type Make<W, I> = fn(&Product<'_, I>, &dyn Listed<W, I>) -> Result<(Vec<I>, Vec<W>)>;

fn made<W: Word, I: Index>(product: &Product<'_, I>, products: &dyn Listed<W, I>) -> Result<(Vec<I>, Vec<W>)> {
    product.sums(products)
}

impl<I: Index> Product<'_, I> {
    /// Picks a strategy and runs it.
    fn sums<W: Word>(&self, products: &dyn Listed<W, I>) -> Result<(Vec<I>, Vec<W>)> {
        let &Self { threads, before, a, .. } = self;
        let n = a.ncols();
        let entries = before.len() - 1;
        let flops = usize::try_from(before[entries]).unwrap_or(usize::MAX) - entries;
        let blocks = blocks(entries, &|p| before[p])?;
        let list = List { threads, before, blocks: &blocks, flops, products };
        let workers = threads.count().min(blocks.len());
        let is_short = blocks.len() <= 1 && suits_ranks(flops, n);
        // Each thread reads all rows, so a small product takes several threads as long as one.
        let ranges = if flops < ALONE && n <= COLUMNS { 1 } else { workers };
        if !is_short && a.is_sorted() && suits_columns(flops, n, entries, ranges) {
            note(|| format!("  {flops} products into {n} columns: by columns, a range for each of {ranges} threads"));
            return self.by_columns(products, ranges);
        }
        let strategy = if is_short { Strategy::Ranked } else { choose(flops, n, workers) };
        note(|| {
            format!(
                "  {flops} products into {n} columns: {}",
                match strategy {
                    Strategy::Ranked => "listed, and folded at the ranks of their columns, as they are few",
                    Strategy::Sorted => "listed, sorted and folded, as they are very few",
                    Strategy::Direct => "into a dense accumulator, as the columns are few",
                    Strategy::Grouped => "grouped by ranges of columns, each gathered in a window",
                }
            )
        });
        let sums = match strategy {
            Strategy::Ranked => return ranked::sums(products, entries, flops, n),
            Strategy::Sorted => list.sorted(),
            Strategy::Direct => list.direct(n),
            Strategy::Grouped => list.grouped(n),
        }?;
        unzip(threads, &sums)
    }
}

/// Whether to fold `flops` products of one block of x at the ranks of their columns. With fewer than one product in 2¹⁴
/// columns, or very few, sorting takes as long as testing a bit per 4096 columns. From one in 2 on, a dense accumulator
/// is as fast.
fn suits_ranks(flops: usize, n: usize) -> bool {
    n <= ranked::COLUMNS && flops >= (n >> 14).max(16) && flops <= n / 2
}

/// Maximum number of columns of one thread's accumulator: 8 MiB of doubles.
const COLUMNS: usize = 1 << 20;
/// Maximum number of products that one thread folds alone.
const ALONE: usize = 1 << 18;

/// Whether threads should split a product of `flops` products, `entries` rows of A and `n` columns by column ranges: if
/// a dense accumulator pays off, and scanning all rows costs a thread less than its own products.
fn suits_columns(flops: usize, n: usize, entries: usize, workers: usize) -> bool {
    flops >= n / 8 && n / workers.max(1) <= COLUMNS && workers * entries <= 2 * flops
}

/// A column range that starts at a multiple of 64: its sums, the bitmap of columns that have one, and their number.
struct Gathered<W> {
    cols: Range<usize>,
    window: Vec<W>,
    bits: Vec<u64>,
    count: usize,
}

impl<I: Index> Product<'_, I> {
    /// Columns of y and their sums, by `parts` column ranges in parallel.
    fn by_columns<W: Word>(&self, products: &dyn Listed<W, I>, parts: usize) -> Result<(Vec<I>, Vec<W>)> {
        let (n, parts) = (self.a.ncols(), parts.max(1));
        let start = |r: usize| if r == parts { n } else { (n as u128 * r as u128 / parts as u128) as usize / 64 * 64 };
        let found = Mutex::new(reserved(parts, SUMS)?);
        let work = |(): &mut (), r| {
            let gathered = self.gather(products, start(r)..start(r + 1))?;
            found.lock().unwrap_or_else(PoisonError::into_inner).push(gathered);
            Ok(())
        };
        self.threads.for_each_of("vxm: sums", parts, || Ok(()), work)?;
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_unstable_by_key(|g| (g.cols.start, g.cols.end));
        let starts: Vec<usize> = collected(
            parts + 1,
            std::iter::once(0).chain(found.iter().scan(0, |sum, g| {
                *sum += g.count;
                Some(*sum)
            })),
            SUMS,
        )?;
        UninitOutput::new(starts[parts], "indices")?.fill_with(
            UninitOutput::new(starts[parts], "values")?,
            self.threads,
            "vxm: result",
            parts,
            |r| starts[r],
            || Ok(()),
            |(), r, indices, values| {
                let Gathered { cols, window, bits, .. } = &found[r];
                let mask = window.len() - 1;
                let (indices, values) =
                    (indices.take(found[r].count, I::default()), values.take(found[r].count, products.identity()));
                for ((index, value), b) in indices.iter_mut().zip(values).zip(ones(bits)) {
                    let j = cols.start + b;
                    (*index, *value) = (I::cast(j), window[j & mask]);
                }
                Ok(())
            },
        )
    }

    /// The sums of the columns `cols`.
    fn gather<W: Word>(&self, products: &dyn Listed<W, I>, cols: Range<usize>) -> Result<Gathered<W>> {
        let width = cols.len().next_power_of_two().max(64);
        let mut window = filled(width, products.identity(), "a dense accumulator")?;
        let mut present = filled(width, 0u8, "a dense accumulator")?;
        // Rows are short: branches on their lengths and cut positions would dominate.
        if products.has_each() && self.before[self.ks.len()] <= (EntriesWithin::SHORT / 2 * self.ks.len()) as u64 {
            self.add_entries(products, &cols, (&mut window, &mut present));
        } else {
            self.add_rows(0..self.ks.len(), products, &cols, (&mut window, &mut present));
        }
        let words = cols.clone().step_by(64).map(|first| {
            let at = first & (width - 1);
            self.allowed(word_of(&present[at..at + 64]), first)
        });
        let bits = collected(cols.len().div_ceil(64), words, "a bitmap")?;
        let count = bits.iter().map(|word| word.count_ones() as usize).sum();
        Ok(Gathered { cols, window, bits, count })
    }

    /// Folds the products of the columns `cols` into a window, entry by entry for short rows.
    fn add_entries<W: Word>(
        &self,
        products: &dyn Listed<W, I>,
        cols: &Range<usize>,
        (window, present): (&mut [W], &mut [u8]),
    ) {
        let (rows, mut list, mut p) = (RowsOf::without_values(self.a), EntriesWithin::new::<I>(), 0);
        while p < self.ks.len() {
            let listed = list.fill(&rows, &self.ks[p..], cols);
            products.add_each(p, list.list(), window, present);
            p += listed;
            let long = self.ks[p..].iter().take_while(|k| rows.row(k.get()).0.len() > EntriesWithin::SHORT).count();
            if long > 0 {
                self.add_rows(p..p + long, products, cols, (&mut *window, &mut *present));
                p += long;
            }
        }
    }

    /// Folds the products of the columns `cols` into a window, row by row, for some entries of x.
    fn add_rows<W: Word>(
        &self,
        of_x: Range<usize>,
        products: &dyn Listed<W, I>,
        cols: &Range<usize>,
        (window, present): (&mut [W], &mut [u8]),
    ) {
        const ROWS: usize = 64;
        let (row_ptr, mask) = (self.a.row_ptr(), window.len() - 1);
        let (rows, far) = (RowsOf::without_values(self.a), self.a.nnz() > CACHED);
        let mut parts: [Part; ROWS] = std::array::from_fn(|_| Part { of_x: 0, of_a: 0..0 });
        for (c, ks) in self.ks[of_x.clone()].chunks(ROWS).enumerate() {
            let mut len = 0;
            for (p, k) in ks.iter().enumerate() {
                if let Some(k) = self.ks.get(of_x.start + c * ROWS + p + AHEAD) {
                    if far { rows.prefetch_all(k.get()) } else { rows.prefetch(k.get()) }
                }
                let js = rows.row(k.get()).0;
                let part = match js {
                    [first, .., last] | [first @ last] if first.get() < cols.end && last.get() >= cols.start => {
                        if first.get() >= cols.start && last.get() < cols.end { 0..js.len() } else { within(js, cols) }
                    }
                    _ => continue,
                };
                let q = row_ptr[k.get()];
                for j in &js[part.clone()] {
                    present[j.get() & mask] = 1;
                }
                parts[len] = Part { of_x: of_x.start + c * ROWS + p, of_a: q + part.start..q + part.end };
                len += 1;
            }
            products.add(&parts[..len], window);
        }
    }

    /// The bits of `word`, 64 columns from `first` on, a multiple of 64, that the mask allows.
    #[inline(always)]
    fn allowed(&self, word: u64, first: usize) -> u64 {
        let Some(EffectiveMask { indices, complement }) = self.mask else { return word };
        let has = match indices {
            _ if word == 0 => return 0,
            Indices::Bitmap(words) => words[first / 64],
            Indices::All => !0,
            Indices::List(_) => ones(&[word]).filter(|b| indices.contains(first + b)).fold(0, |has, b| has | 1 << b),
        };
        word & if complement { !has } else { has }
    }
}

/// Packs 64 bytes, each 0 or 1, into a word.
#[inline(always)]
fn word_of(bytes: &[u8]) -> u64 {
    bytes.chunks_exact(8).enumerate().fold(0, |word, (c, bytes)| {
        let eight = bytes.iter().rev().fold(0u64, |eight, &b| eight << 8 | u64::from(b));
        // The byte of weight 2^8i goes to bit 56 + i.
        word | (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * c)
    })
}

/// Strategies to sum the products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    Ranked,
    Sorted,
    Direct,
    Grouped,
}

/// The strategy for `flops` products in `n` columns, with `threads` threads that have work.
///
/// µs per strategy, plus-times on f64, 8 random entries per row, one thread of a loaded machine:
///
/// | n | products | sorted | grouped | direct |
/// | --- | --- | --- | --- | --- |
/// | 10⁴ | 2048 | 40 | 14 | 10 |
/// | 10⁵ | 512 | 9 | 10 | 18 |
/// | 10⁵ | 8192 | 180 | 64 | 57 |
/// | 10⁵ | 524 274 | 33 500 | 3360 | 1990 |
/// | 10⁶ | 512 | 9 | 17 | 156 |
/// | 10⁶ | 524 288 | 46 200 | 10 000 | 14 200 |
/// | 10⁷ | 8192 | 184 | 204 | 9710 |
///
/// With two threads, grouped did not beat direct where it lost with one thread (10⁵ columns, 1800 against 3700 µs).
/// That it does with more than four is a guess.
fn choose(flops: usize, n: usize, threads: usize) -> Strategy {
    if n <= 1 << 17 && flops >= n / 16 && threads <= 4 {
        Strategy::Direct
    } else if flops < (n / 1024).max(512) {
        Strategy::Sorted
    } else {
        Strategy::Grouped
    }
}

/// Products (j, z), and the starts of the list's parts.
type Grouped<W, I> = (Vec<(I, W)>, Vec<usize>);

/// Lists the products of a vector and a matrix.
struct List<'a, W, I> {
    threads: &'a Threads,
    before: &'a [u64],
    /// Ranges of entries of x.
    blocks: &'a [Range<usize>],
    flops: usize,
    products: &'a dyn Listed<W, I>,
}

impl<W: Word, I: Index> List<'_, W, I> {
    /// The number of products of the entries `of_x` of x.
    fn flops_of(&self, of_x: &Range<usize>) -> usize {
        (self.before[of_x.end] - self.before[of_x.start]) as usize - of_x.len()
    }

    /// Columns and their sums, by sorting.
    fn sorted(&self) -> Result<Vec<(I, W)>> {
        let list = append_blocks(
            self.threads,
            "vxm: products",
            self.blocks.len(),
            self.flops,
            || Ok(()),
            |(), t, list| {
                room(list, self.flops_of(&self.blocks[t]), PRODUCTS)?;
                self.products.append(self.blocks[t].clone(), list);
                Ok(())
            },
        )?;
        // Keys include the position and are therefore distinct: an unstable sort is stable.
        let mut keys = reserved(list.len(), PRODUCTS)?;
        keys.extend(list.iter().enumerate().map(|(p, e)| (e.0, p)));
        self.threads.sort(&mut keys);
        let mut sums: Vec<(I, W)> = reserved(list.len(), PRODUCTS)?;
        for run in keys.chunk_by(|x, y| x.0 == y.0) {
            let mut sum = [self.products.identity()];
            for &(j, p) in run {
                self.products.fold(&list[p..=p], j.get(), &mut sum, &mut [0]);
            }
            sums.push((run[0].0, sum[0]));
        }
        Ok(sums)
    }

    /// Columns and their sums, in one dense accumulator.
    fn direct(&self, n: usize) -> Result<Vec<(I, W)>> {
        append_blocks(
            self.threads,
            "vxm: products",
            1,
            self.flops.min(n),
            || Ok(()),
            |(), _, sums| {
                let mut window = filled(n, self.products.identity(), "a dense accumulator")?;
                let mut present = filled(n.div_ceil(64), 0, "a dense accumulator")?;
                let (mut list, mut p, entries) = (Vec::new(), 0, self.before.len() - 1);
                while p < entries {
                    let full = self.before[p] + PIECE as u64;
                    let of_x = p..p + self.before[p..=entries].partition_point(|&b| b <= full).max(2) - 1;
                    p = of_x.end;
                    room(&mut list, self.flops_of(&of_x), PRODUCTS)?;
                    self.products.append(of_x, &mut list);
                    self.products.fold(&list, 0, &mut window, &mut present);
                }
                room(sums, present.iter().map(|b: &u64| b.count_ones() as usize).sum(), SUMS)?;
                self.read_off(0, &mut window, &mut present, sums);
                Ok(())
            },
        )
    }

    /// Columns and their sums, by column ranges.
    fn grouped(&self, n: usize) -> Result<Vec<(I, W)>> {
        let wanted = (n / WINDOW).max(self.flops >> 17).clamp(1, RANGES);
        let shift = (0..usize::BITS).find(|&s| (n - 1) >> s < wanted).unwrap_or(usize::BITS - 1);
        let ranges = ((n - 1) >> shift) + 1;
        let (list, starts) = self.by_range(shift, ranges)?;
        let width = n.min(1 << shift);
        append_blocks(
            self.threads,
            "vxm: sums",
            ranges,
            list.len().min(n),
            || Ok((filled(width, self.products.identity(), "a window")?, filled(width.div_ceil(64), 0, "a window")?)),
            |(window, present), r, sums| {
                let parts =
                    || (0..self.blocks.len()).map(|t| &list[starts[t * ranges + r]..starts[t * ranges + r + 1]]);
                for part in parts() {
                    self.products.fold(part, r << shift, window, present);
                }
                room(sums, parts().map(<[_]>::len).sum::<usize>().min(width), SUMS)?;
                self.read_off(r << shift, window, present, sums);
                Ok(())
            },
        )
    }

    /// The products, block by block of x, each block grouped by ranges of 2^shift columns, stably; and the start of
    /// range r of block t, at t·ranges + r.
    fn by_range(&self, shift: u32, ranges: usize) -> Result<Grouped<W, I>> {
        let mut starts = filled(self.blocks.len() * ranges + 1, 0usize, "ranges of columns")?;
        let mut of_blocks = reserved(self.blocks.len(), "ranges of columns")?;
        of_blocks.extend(starts[1..].chunks_mut(ranges).map(Mutex::new));
        let list = append_blocks(
            self.threads,
            "vxm: products",
            self.blocks.len(),
            self.flops,
            || Ok((Vec::new(), filled(ranges, 0usize, "ranges of columns")?)),
            |(list, at), t, grouped| {
                let flops = self.flops_of(&self.blocks[t]);
                room(list, flops, PRODUCTS)?;
                self.products.append(self.blocks[t].clone(), list);
                let mut counts = of_blocks[t].lock().unwrap_or_else(PoisonError::into_inner);
                for (j, _) in list.iter() {
                    counts[j.get() >> shift] += 1;
                }
                let mut sum = 0;
                for (at, count) in at.iter_mut().zip(counts.iter()) {
                    *at = sum;
                    sum += count;
                }
                if let Some(&any) = list.first() {
                    room(grouped, list.len(), PRODUCTS)?;
                    grouped.resize(list.len(), any);
                    for &product in list.iter() {
                        let at = &mut at[product.0.get() >> shift];
                        grouped[*at] = product;
                        *at += 1;
                    }
                }
                Ok(())
            },
        )?;
        drop(of_blocks);
        for p in 1..starts.len() {
            starts[p] += starts[p - 1];
        }
        Ok((list, starts))
    }

    /// Moves the present columns of the window to `sums`, increasing, and resets the window.
    fn read_off(&self, first: usize, window: &mut [W], present: &mut [u64], sums: &mut Vec<(I, W)>) {
        let identity = self.products.identity();
        for (word, bits) in present.iter_mut().enumerate() {
            while *bits != 0 {
                let w = 64 * word + bits.trailing_zeros() as usize;
                sums.push((I::cast(first + w), std::mem::replace(&mut window[w], identity)));
                *bits &= *bits - 1;
            }
        }
    }
}

const PRODUCTS: &str = "products of a vector and a matrix";
const SUMS: &str = "a product of a vector and a matrix";

/// Indices and values of a list.
fn unzip<W: Word, I: Index>(threads: &Threads, list: &[(I, W)]) -> Result<(Vec<I>, Vec<W>)> {
    let blocks = blocks(list.len(), &|p| p as u64)?;
    let start = |b: usize| b.checked_sub(1).map_or(0, |b| blocks[b].end);
    UninitOutput::new(list.len(), "indices")?.fill_with(
        UninitOutput::new(list.len(), "values")?,
        threads,
        "vxm: result",
        blocks.len(),
        start,
        || Ok(()),
        |(), b, indices, values| {
            let list = &list[blocks[b].clone()];
            if let Some(&(j, x)) = list.first() {
                let (indices, values) = (indices.take(list.len(), j), values.take(list.len(), x));
                for ((to_index, to_value), &(j, x)) in indices.iter_mut().zip(values).zip(list) {
                    (*to_index, *to_value) = (j, x);
                }
            }
            Ok(())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::words::value;
    use crate::algebra::{PlusTimes, Value};

    #[test]
    fn the_choice_follows_the_table() {
        assert_eq!(choose(2048, 10_000, 1), Strategy::Direct);
        assert_eq!(choose(524_274, 100_000, 4), Strategy::Direct);
        assert_eq!(choose(524_274, 100_000, 5), Strategy::Grouped);
        assert_eq!(choose(511, 100_000, 1), Strategy::Sorted);
        assert_eq!(choose(512, 100_000, 1), Strategy::Grouped);
        assert_eq!(choose(524_288, 1_000_000, 1), Strategy::Grouped);
        assert_eq!(choose(8192, 10_000_000, 1), Strategy::Sorted);
        assert_eq!(choose(0, 0, 1), Strategy::Direct);
        assert!(suits_ranks(610, 10_000_000) && !suits_ranks(609, 10_000_000));
        assert!(suits_ranks(16, 100) && !suits_ranks(15, 100));
        assert!(suits_ranks(5000, 10_000) && !suits_ranks(5001, 10_000));
        assert!(suits_ranks(60_000, ranked::COLUMNS) && !suits_ranks(60_000, ranked::COLUMNS + 1));
        assert!(suits_columns(1000, 8000, 2000, 1) && !suits_columns(999, 8000, 1000, 1));
        assert!(suits_columns(1 << 22, 2 << 20, 1 << 18, 2) && !suits_columns(1 << 22, (2 << 20) + 2, 1 << 18, 2));
        assert!(suits_columns(8000, 8000, 1000, 16) && !suits_columns(8000, 8000, 1001, 16));
    }

    /// All strategies give the same bits, for any number of windows.
    #[test]
    fn all_ways_agree() {
        for n in [1, 63, 64, 65, 1000, 40_000, 9_000_000] {
            let rows = 300;
            let mut state = n as u64;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as usize
            };
            let (mut row_ptr, mut cols) = (vec![0], vec![]);
            for _ in 0..rows {
                // Rows of 40,000 columns are short except for one in sixteen; those of 1000 are all longer.
                let len = match next() % 16 {
                    0 => next() % 300,
                    _ if n == 1000 => 70 + next() % 60,
                    _ => next() % 40,
                };
                let mut row: Vec<u32> = (0..len).map(|_| (next() % n) as u32).collect();
                row.sort_unstable();
                row.dedup();
                cols.extend(row);
                row_ptr.push(cols.len());
            }
            let values = (0..cols.len()).map(|p| 1.0 / (p + 1) as f64).collect();
            let a = Csr::<f64>::new(rows, n, row_ptr, cols, values).unwrap();
            let ks: Vec<u32> = (0..rows as u32).collect();
            let xs: Vec<f64> = (0..rows).map(|k| 0.1 + k as f64).collect();
            let before: Vec<u64> = (0..=rows).map(|k| (a.row_ptr()[k] + k) as u64).collect();
            let ring = PlusTimes::<f64>::default();
            let products = VectorProducts { ring, x: (&ks, &xs), a: &a, mask: None };
            for threads in [1, 3] {
                let threads = &Threads::new(threads).unwrap();
                for parts in [1, 7] {
                    let blocks = crate::par::split(rows, parts, |p| before[p]);
                    let list = List { threads, before: &before, blocks: &blocks, flops: a.nnz(), products: &products };
                    let bits = |sums: Vec<(u32, <f64 as Value>::Word)>| -> Vec<(u32, u64)> {
                        // SAFETY: words of doubles, from the kernel.
                        let double = |z| unsafe { value::<f64>(z) };
                        sums.into_iter().map(|(j, z)| (j, double(z).to_bits())).collect()
                    };
                    let want = bits(list.sorted().unwrap());
                    assert_eq!(bits(list.grouped(n).unwrap()), want);
                    assert_eq!(bits(list.direct(n).unwrap()), want);
                    let (columns, values) = ranked::sums(&products, rows, a.nnz(), n).unwrap();
                    assert_eq!(bits(columns.into_iter().zip(values).collect()), want);
                    let list = VectorPattern::<u32>::new(n, (0..n as u32).step_by(3).collect()).unwrap();
                    let bitmap = VectorPattern::<u32>::bitmap(list.to_bitmap().unwrap());
                    let specs = [&list, &bitmap].map(|p| [false, true].map(|c| MaskSpec::new(p, c)));
                    for mask in specs.into_iter().flatten().map(Some).chain([None]) {
                        let mask = mask.map(|mask| mask.effective());
                        let strategy = Product { threads, before: &before, ks: &ks, a: a.pattern(), mask };
                        let (columns, sums) = strategy.by_columns(&products, parts).unwrap();
                        let allows = |j: u32| mask.is_none_or(|mask| mask.allows(j as usize));
                        let want: Vec<_> = want.iter().copied().filter(|&(j, _)| allows(j)).collect();
                        assert_eq!(bits(columns.into_iter().zip(sums).collect()), want);
                    }
                }
            }
        }
    }
}

//! The entries of a matrix as rows are compared: checked, sorted, without zeros, with 32-bit column indices.

use std::any::Any;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::domain::Domain;
use super::float::{Float, Form, Typed};
use crate::par::{Threads, collected, reserved};
use crate::{Csr, Error, Index, Pattern, Result};

/// A matrix with column indices of either type.
pub(crate) enum RowsOf<'a, T> {
    Narrow(&'a Csr<T, u32>),
    Wide(&'a Csr<T, u64>),
}

impl<T> Clone for RowsOf<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for RowsOf<'_, T> {}

impl<'a, T: Float> RowsOf<'a, T> {
    /// Compressed rows; a matrix in another form is converted.
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Unsupported`] for column indices of another type, which do not exist.
    pub(crate) fn new<I: Index>(a: &'a Csr<T, I>) -> Result<Self> {
        let any: &'a dyn Any = a.compressed()?;
        let narrow = any.downcast_ref().map(Self::Narrow);
        let what =
            || Error::Unsupported { what: "a distance between rows".into(), why: "columns are u32 or u64".into() };
        narrow.or_else(|| any.downcast_ref().map(Self::Wide)).ok_or_else(what)
    }
}

/// The nonzero entries of a matrix, as numbers of type `W`, rows sorted by column; borrowed where the matrix has them
/// in that form.
#[derive(Clone, Debug)]
pub(crate) struct Entries<'a, W: Clone> {
    pub(crate) pattern: Arc<Pattern<u32>>,
    pub(crate) values: Cow<'a, [W]>,
    /// Columns of the matrix, including those that the pattern leaves out.
    ncols: usize,
    /// Numbers of the columns of the pattern, if it leaves some out.
    numbers: Option<Arc<Vec<u32>>>,
    /// Bytes that are not the caller's.
    own: u64,
}

/// Empty columns are left out above this many columns, and this many per entry, so that data stored by column takes
/// about as much memory as data stored by entry.
const COLUMNS: usize = 1 << 16;
const COLUMNS_OF_ENTRY: usize = 4;

/// Whether so few of the columns can have entries that data by column is better stored for those alone.
fn few_columns(ncols: usize, entries: usize) -> bool {
    ncols > COLUMNS.max(entries.saturating_mul(COLUMNS_OF_ENTRY))
}

/// Values as a [`Form`].
struct Values<'a>(PhantomData<&'a ()>);

impl<'a> Form for Values<'a> {
    type Of<T: Float> = Cow<'a, [T]>;
}

impl<'a, T: Float> Entries<'a, T> {
    /// Checks the entries of a matrix against `domain` unless `unchecked`. Copies, where needed, count against the
    /// budget.
    /// # Errors
    /// [`Error::Argument`] for an entry outside the domain; [`Error::IndexOverflow`] if columns do not fit
    /// u32; [`Error::Budget`].
    pub(crate) fn new(
        threads: &Threads,
        a: RowsOf<'a, T>,
        domain: Domain,
        unchecked: bool,
        budget: Option<u64>,
    ) -> Result<Self> {
        match a {
            RowsOf::Narrow(a) => Self::checked(threads, a, domain, unchecked, budget, |p| Ok(Arc::clone(p))),
            RowsOf::Wide(a) => Self::checked(threads, a, domain, unchecked, budget, |p| {
                let columns = collected(p.nnz(), p.col_idx().iter().map(|j| j.get() as u32), "columns")?;
                let row_ptr = collected(p.nrows() + 1, p.row_ptr().iter().copied(), "row pointers")?;
                Ok(Arc::new(Pattern::new(p.nrows(), p.ncols(), row_ptr, columns)?))
            }),
        }
    }
    fn checked<I: Index>(
        threads: &Threads,
        a: &'a Csr<T, I>,
        domain: Domain,
        unchecked: bool,
        budget: Option<u64>,
        narrow: impl Fn(&Arc<Pattern<I>>) -> Result<Arc<Pattern<u32>>>,
    ) -> Result<Self> {
        let max = u32::MAX as usize;
        if a.ncols() > max {
            return Err(Error::IndexOverflow { what: "columns", needed: a.ncols() as u128, max: max as u128 });
        }
        let [refused, gaps] = [const { AtomicBool::new(false) }; 2];
        let look = |values: &[T]| {
            let (mut takes, mut full) = (true, true);
            // Chunks that fit the cache: two short branch-free loops.
            for values in values.chunks(1024) {
                takes &= unchecked | values.iter().fold(true, |all, &x| all & domain.takes(x));
                full &= values.iter().fold(true, |all, &x| all & (x != T::ZERO));
            }
            refused.fetch_or(!takes, Ordering::Relaxed);
            gaps.fetch_or(!full, Ordering::Relaxed);
        };
        in_parts(threads, a.values(), &look)?;
        let (refused, full) = (refused.into_inner(), !gaps.into_inner());
        if refused {
            let at = a.values().iter().position(|&x| !domain.takes(x)).unwrap_or_default();
            let row = a.pattern().row_ptr().partition_point(|&p| p <= at) - 1;
            let (column, value) = (a.pattern().col_idx()[at].get(), a.values()[at]);
            return Err(domain.refuses(value, row, column));
        }
        let (rows, columns) = (8 * (a.nrows() as u64 + 1), 4 * a.nnz() as u64);
        let narrowed = if size_of::<I>() == 4 { 0 } else { rows + columns };
        let (ncols, numbers) = (a.ncols(), None);
        if full && a.pattern().is_sorted() {
            within("a copy of the rows", narrowed, budget)?;
            let (pattern, values) = (narrow(a.pattern())?, Cow::Borrowed(a.values()));
            return Ok(Self { pattern, values, ncols, numbers, own: narrowed });
        }
        let selected = rows + (size_of::<I>() + size_of::<T>()) as u64 * a.nnz() as u64;
        within("a copy of the rows", narrowed + selected, budget)?;
        let (pattern, values) = a.select(threads, |_, _, &x| x != T::ZERO)?.into_parts();
        let own = narrowed + selected;
        Ok(Self { pattern: narrow(&pattern)?, values: Cow::Owned(values), ncols, numbers, own })
    }
    /// Rows that are already sorted and without zeros.
    #[cfg(feature = "cuda")]
    pub(crate) fn borrowed(a: &'a Csr<T>) -> Self {
        let (pattern, values) = (Arc::clone(a.pattern()), Cow::Borrowed(a.values()));
        Self { pattern, values, ncols: a.ncols(), numbers: None, own: 0 }
    }
    /// Rows of two matrices, or of one, with the same number of columns; drops the empty columns if they are most of
    /// them.
    /// # Errors
    /// [`Error::Budget`]; [`Error::OutOfMemory`].
    pub(crate) fn of_used_columns(x: Self, y: Option<Self>, budget: Option<u64>) -> Result<(Self, Option<Self>)> {
        let entries = x.values.len() + y.as_ref().map_or(0, |y| y.values.len());
        if !few_columns(x.ncols, entries) {
            return Ok((x, y));
        }
        within("columns", 8 * entries as u64, budget)?;
        let mut used = reserved(entries, "columns")?;
        let sides = [Some(&x), y.as_ref()].into_iter().flatten();
        sides.for_each(|side| used.extend_from_slice(side.pattern.col_idx()));
        used.sort_unstable();
        used.dedup();
        let numbers = Arc::new(used);
        let renumbered = |a: Self| -> Result<Self> {
            let p = &a.pattern;
            let position = |j: &u32| numbers.partition_point(|used| used < j) as u32;
            let columns = collected(p.nnz(), p.col_idx().iter().map(position), "columns")?;
            let row_ptr = collected(p.nrows() + 1, p.row_ptr().iter().copied(), "row pointers")?;
            let own = a.own + 8 * row_ptr.len() as u64 + 8 * columns.len() as u64;
            let pattern = Arc::new(Pattern::new(p.nrows(), numbers.len(), row_ptr, columns)?);
            Ok(Self { pattern, numbers: Some(Arc::clone(&numbers)), own, ..a })
        };
        Ok((renumbered(x)?, y.map(renumbered).transpose()?))
    }
    /// Converted to another type.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn cast<W: Float>(self) -> Result<Entries<'a, W>> {
        fn cast<T: Float, W: Float>(values: &[T]) -> Result<Vec<W>> {
            collected(values.len(), values.iter().map(|x| x.cast::<W>()), "entries")
        }
        let Self { pattern, values, ncols, numbers, own } = self;
        let cast_bytes = if T::TYPE == W::TYPE { 0 } else { (values.len() * size_of::<W>()) as u64 };
        let values = match W::from_typed::<Values<'a>>(T::into_typed::<Values<'a>>(values)) {
            Ok(values) => values,
            Err(Typed::F32(values)) => Cow::Owned(cast(&values)?),
            Err(Typed::F64(values)) => Cow::Owned(cast(&values)?),
        };
        Ok(Entries { pattern, values, ncols, numbers, own: own + cast_bytes })
    }
}

impl<'a, W: Clone> Entries<'a, W> {
    /// The same pattern with other values.
    pub(crate) fn with_values<'b, V: Clone>(&self, values: Vec<V>) -> Entries<'b, V> {
        let own = self.own + size_of_val(&*values) as u64;
        Entries {
            pattern: Arc::clone(&self.pattern),
            values: values.into(),
            ncols: self.ncols,
            numbers: self.numbers.clone(),
            own,
        }
    }
    /// The same number of columns, none left out, with other entries.
    pub(crate) fn with_entries(&self, pattern: Pattern<u32>, values: Vec<W>) -> Self {
        debug_assert!(self.numbers.is_none() && pattern.ncols() == self.ncols);
        let own = self.own + (size_of_val(&*values) + 4 * values.len() + 8 * pattern.nrows()) as u64;
        Self { pattern: Arc::new(pattern), values: values.into(), ncols: self.ncols, numbers: None, own }
    }
    /// Bytes that are not the caller's.
    pub(crate) fn bytes(&self) -> u64 {
        self.own
    }
    /// The number in the matrix of column `c` of the pattern.
    #[inline(always)]
    pub(crate) fn number(&self, c: u32) -> u32 {
        self.numbers.as_ref().map_or(c, |numbers| numbers[c as usize])
    }
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[W]) {
        let range = self.pattern.row_ptr()[i]..self.pattern.row_ptr()[i + 1];
        (&self.pattern.col_idx()[range.clone()], &self.values[range])
    }
    pub(crate) fn nrows(&self) -> usize {
        self.pattern.nrows()
    }
    /// Most entries of any block of `rows` consecutive rows, the blocks beginning at multiples of `rows`.
    pub(crate) fn most_entries(&self, rows: usize) -> usize {
        let row_ptr = self.pattern.row_ptr();
        let firsts = (0..self.nrows()).step_by(rows.max(1));
        firsts.map(|first| row_ptr[(first + rows).min(self.nrows())] - row_ptr[first]).max().unwrap_or(0)
    }
    /// Columns of the matrix.
    pub(crate) fn ncols(&self) -> usize {
        self.ncols
    }
    /// Whether most columns of the pattern are empty.
    pub(crate) fn has_few_columns(&self) -> bool {
        few_columns(self.width(), self.values.len())
    }
    /// Columns of the pattern, which leaves empty ones out if they are most.
    pub(crate) fn width(&self) -> usize {
        self.pattern.ncols()
    }
}

/// Applies `look` to all values, in chunks and in no order.
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn in_parts<T: Sync>(threads: &Threads, values: &[T], look: &(dyn Fn(&[T]) + Sync)) -> Result<()> {
    // About what one thread processes before another is awake.
    const PART: usize = 1 << 15;
    threads.for_each(
        values.len().div_ceil(PART),
        || Ok(()),
        |(), part| {
            look(&values[part * PART..values.len().min((part + 1) * PART)]);
            Ok(())
        },
    )
}

/// Refuses `bytes` that exceed the budget.
/// # Errors
/// [`Error::Budget`].
pub(crate) fn within(what: &'static str, bytes: u64, budget: Option<u64>) -> Result<()> {
    match budget {
        Some(budget) if bytes > budget => Err(Error::Budget { what, bytes: bytes.into(), budget: budget.into() }),
        _ => Ok(()),
    }
}

//! The entries of a matrix as rows are compared: checked, sorted, without zeros, whatever its columns were counted with.

use std::any::Any;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use super::domain::Domain;
use super::float::{Float, Form, Typed};
use crate::par::{Threads, collected};
use crate::{Csr, Error, Index, Pattern, Result};

/// A matrix, whatever its columns are counted with.
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
    /// # Errors
    /// [`Error::Unsupported`] for columns of a third type, of which there is none.
    pub(crate) fn new<I: Index>(a: &'a Csr<T, I>) -> Result<Self> {
        let any: &'a dyn Any = a;
        let narrow = any.downcast_ref().map(Self::Narrow);
        let what =
            || Error::Unsupported { what: "a distance between rows".into(), why: "columns are u32 or u64".into() };
        narrow.or_else(|| any.downcast_ref().map(Self::Wide)).ok_or_else(what)
    }
}

/// The entries of a matrix that are not 0, as numbers of type `W`, rows in order of their columns; borrowed where the matrix
/// has them so.
#[derive(Clone, Debug)]
pub(crate) struct Entries<'a, W: Clone> {
    pub(crate) pattern: Arc<Pattern<u32>>,
    pub(crate) values: Cow<'a, [W]>,
}

/// Values as a [`Form`].
struct Values<'a>(PhantomData<&'a ()>);

impl<'a> Form for Values<'a> {
    type Of<T: Float> = Cow<'a, [T]>;
}

impl<'a, T: Float> Entries<'a, T> {
    /// Checks the entries of a matrix against `domain` unless `unchecked`.
    /// # Errors
    /// [`Error::Argument`] for an entry that the domain does not have; [`Error::IndexOverflow`] if columns do not fit u32.
    pub(crate) fn new(threads: &Threads, a: RowsOf<'a, T>, domain: Domain, unchecked: bool) -> Result<Self> {
        match a {
            RowsOf::Narrow(a) => Self::checked(threads, a, domain, unchecked, |p| Ok(Arc::clone(p))),
            RowsOf::Wide(a) => Self::checked(threads, a, domain, unchecked, |p| {
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
        narrow: impl Fn(&Arc<Pattern<I>>) -> Result<Arc<Pattern<u32>>>,
    ) -> Result<Self> {
        let max = u32::MAX as usize;
        if a.ncols() > max {
            return Err(Error::IndexOverflow { what: "columns", needed: a.ncols() as u128, max: max as u128 });
        }
        let both = |(takes, full), &x: &T| (takes & (unchecked | domain.takes(x)), full & (x != T::ZERO));
        let (takes, full) = a.values().iter().fold((true, true), both);
        if !takes {
            let at = a.values().iter().position(|&x| !domain.takes(x)).unwrap_or_default();
            let row = a.pattern().row_ptr().partition_point(|&p| p <= at) - 1;
            let (column, value) = (a.pattern().col_idx()[at].get(), a.values()[at]);
            return Err(domain.refuses(value, row, column));
        }
        if full && a.pattern().is_sorted() {
            return Ok(Self { pattern: narrow(a.pattern())?, values: Cow::Borrowed(a.values()) });
        }
        let (pattern, values) = a.select(threads, |_, _, &x| x != T::ZERO)?.into_parts();
        Ok(Self { pattern: narrow(&pattern)?, values: Cow::Owned(values) })
    }
    /// As numbers of another type.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn cast<W: Float>(self) -> Result<Entries<'a, W>> {
        fn cast<T: Float, W: Float>(values: &[T]) -> Result<Vec<W>> {
            collected(values.len(), values.iter().map(|x| x.cast::<W>()), "entries")
        }
        let values = match W::take::<Values<'a>>(T::tell::<Values<'a>>(self.values)) {
            Ok(values) => values,
            Err(Typed::F32(values)) => Cow::Owned(cast(&values)?),
            Err(Typed::F64(values)) => Cow::Owned(cast(&values)?),
        };
        Ok(Entries { pattern: self.pattern, values })
    }
}

impl<W: Clone> Entries<'_, W> {
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[W]) {
        let range = self.pattern.row_ptr()[i]..self.pattern.row_ptr()[i + 1];
        (&self.pattern.col_idx()[range.clone()], &self.values[range])
    }
    pub(crate) fn nrows(&self) -> usize {
        self.pattern.nrows()
    }
    pub(crate) fn ncols(&self) -> usize {
        self.pattern.ncols()
    }
}

//! What is to be compared on the device, and what a budget says to it.

use std::ops::Range;

use super::engine::{Lists, Part, Sizes};
use super::way::Way;
use crate::algebra::{Type, Value};
use crate::distance::Question;
use crate::gpu::Cuda;
use crate::gpu::csr::{Operand, RawCsr};
use crate::{Error, Result};

/// A matrix that may be on the host or on the device.
pub(super) trait Source {
    /// Rows, columns and entries.
    fn sizes(&self, cuda: &Cuda) -> Result<[usize; 3]>;
    /// The row pointers, on the host.
    fn row_ptr(&self, cuda: &Cuda) -> Result<Vec<usize>>;
    /// Some of the rows on the device.
    fn rows(&self, cuda: &Cuda, rows: Range<usize>) -> Result<RawCsr>;
    /// All rows on the device.
    fn all(&self, cuda: &Cuda) -> Result<RawCsr>;
}

/// An operand whose entries are of type `T`.
pub(super) struct Of<'a, T, A>(&'a A, std::marker::PhantomData<T>);

impl<'a, T, A> Of<'a, T, A> {
    pub(super) fn new(a: &'a A) -> Self {
        Self(a, std::marker::PhantomData)
    }
}

impl<T: Value, A: Operand<T>> Source for Of<'_, T, A> {
    fn sizes(&self, cuda: &Cuda) -> Result<[usize; 3]> {
        self.0.sizes(cuda)
    }
    fn row_ptr(&self, cuda: &Cuda) -> Result<Vec<usize>> {
        self.0.row_ptr(cuda)
    }
    fn rows(&self, cuda: &Cuda, rows: Range<usize>) -> Result<RawCsr> {
        Ok(self.0.rows_to_device(cuda, rows)?.raw())
    }
    fn all(&self, cuda: &Cuda) -> Result<RawCsr> {
        Ok(self.0.to_device(cuda)?.raw())
    }
}

/// Two matrices, or one, that can be compared, and what is asked of them.
pub(super) struct Given<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) question: &'a Question<'a>,
    pub(super) x: &'a dyn Source,
    pub(super) y: Option<&'a dyn Source>,
    /// Type of the entries.
    pub(super) of: Type,
    pub(super) sizes: Sizes,
    pub(super) way: Way,
}

impl<'a> Given<'a> {
    /// # Errors
    /// [`Error::Shape`] for rows of different lengths; [`Error::Argument`] for `exclude_self` with Y.
    pub(super) fn new(
        cuda: &'a Cuda,
        question: &'a Question<'a>,
        of: Type,
        x: &'a dyn Source,
        y: Option<&'a dyn Source>,
    ) -> Result<Self> {
        let [n, ncols, nnz] = x.sizes(cuda)?;
        let of_y = y.map(|y| y.sizes(cuda)).transpose()?;
        question.check((n, ncols), of_y.map(|[m, ncols, _]| (m, ncols)))?;
        let [m, _, nnz_y] = of_y.unwrap_or([n, ncols, nnz]);
        let sizes = Sizes { nrows: (n, m), ncols, nnz: (nnz, nnz_y) };
        Ok(Self { cuda, question, x, y, of, sizes, way: Way::new(question, of)? })
    }
    /// The matrix whose rows answer.
    pub(super) fn answers(&self) -> &'a dyn Source {
        self.y.unwrap_or(self.x)
    }
    /// Some rows, checked and without zeros.
    pub(super) fn part(&self, a: &dyn Source, rows: &Range<usize>) -> Result<Part> {
        self.clean(&a.rows(self.cuda, rows.clone())?, rows.start)
    }
    /// All rows, checked and without zeros.
    pub(super) fn whole(&self, a: &dyn Source) -> Result<Part> {
        self.clean(&a.all(self.cuda)?, 0)
    }
    fn clean(&self, a: &RawCsr, first: usize) -> Result<Part> {
        let Question { measure, options, .. } = self.question;
        let rows = self.cuda.clean_rows(a, first, measure.domain(), options.unchecked)?;
        let [least, most] = rows.magnitudes;
        if !self.way.fits(rows.magnitudes, self.entries()) {
            let what = format!("{} on a GPU of entries from {least:e} to {most:e}", measure.name());
            return Err(self.beyond(what));
        }
        Ok(Part { rows, first })
    }
    /// Entries of both.
    pub(super) fn entries(&self) -> usize {
        self.sizes.nnz.0.saturating_add(self.sizes.nnz.1)
    }
    /// The error for rows that would have to be scaled.
    pub(super) fn beyond(&self, what: String) -> Error {
        Error::Unsupported { what, why: "their powers overflow or vanish; the processor scales such rows".into() }
    }
    /// What results and prepared rows may take together.
    pub(super) fn budget(&self) -> Budget {
        let (options, most) = (&self.question.options, self.question.options.memory_budget);
        Budget {
            nrows: self.sizes.nrows,
            entry: self.of.size(),
            prepared: self.way.bytes(&self.sizes, self.of, most).iter().sum(),
            exclude_self: options.exclude_self,
            most,
        }
    }
}

/// Neighbours that a row has among `m` where `k` are asked for.
pub(super) fn neighbours(m: usize, k: usize, exclude_self: bool) -> usize {
    k.min(m.saturating_sub(usize::from(exclude_self)))
}

/// What will be asked of rows, as far as it counts for a budget.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    Nothing,
    /// Distances of so many rows at a time.
    Pairs(usize),
    /// So many neighbours.
    Nearest(usize),
}

/// What results and prepared rows may take together.
pub(super) struct Budget {
    pub(super) nrows: (usize, usize),
    /// Bytes of a distance.
    entry: usize,
    /// Bytes of the prepared rows.
    prepared: u128,
    pub(super) exclude_self: bool,
    most: Option<u64>,
}

impl Budget {
    /// Neighbours that a row has where `k` are asked for.
    pub(super) fn neighbours(&self, k: usize) -> usize {
        neighbours(self.nrows.1, k, self.exclude_self)
    }
    /// What is asked for, and the bytes that it takes with the prepared rows.
    pub(super) fn bytes(&self, wanted: Wanted) -> (&'static str, u128) {
        let (n, m) = self.nrows;
        let entry = self.entry as u128;
        let (what, result) = match wanted {
            Wanted::Nothing => ("prepared rows", 0),
            Wanted::Pairs(rows) if rows < n => ("a block of distances", rows as u128 * m as u128 * entry),
            Wanted::Pairs(_) => ("all distances", n as u128 * m as u128 * entry),
            Wanted::Nearest(k) => {
                ("nearest neighbours", n as u128 * self.neighbours(k) as u128 * (Lists::BYTES + entry))
            }
        };
        (what, result + self.prepared)
    }
    pub(super) fn allows(&self, wanted: Wanted) -> Result<()> {
        let (what, bytes) = self.bytes(wanted);
        self.held(what, bytes)
    }
    /// Refuses a result of so many bytes if the budget does.
    pub(super) fn allows_result(&self, what: &'static str, result: u128) -> Result<()> {
        self.held(what, result + self.prepared)
    }
    /// Holds bytes against the budget.
    fn held(&self, what: &'static str, bytes: u128) -> Result<()> {
        match self.most.map(u128::from) {
            Some(budget) if bytes > budget => Err(Error::Budget { what, bytes, budget }),
            _ => Ok(()),
        }
    }
}

//! The matrices to be compared on the device, and their memory budget.

use std::ops::Range;

use super::algorithm::Algorithm;
use super::engine::{Lists, Part, Sizes};
use crate::algebra::{Type, Value};
use crate::distance::QuerySpec;
use crate::gpu::Cuda;
use crate::gpu::csr::{Operand, RawCsr};
use crate::{Error, Result};

/// A matrix on the host or on the device.
pub(super) trait Source {
    /// Rows, columns and entries.
    fn sizes(&self, cuda: &Cuda) -> Result<[usize; 3]>;
    /// The row pointers, on the host.
    fn row_ptr(&self, cuda: &Cuda) -> Result<Vec<usize>>;
    /// Copies some of the rows to the device.
    fn rows(&self, cuda: &Cuda, rows: Range<usize>) -> Result<RawCsr>;
    /// Copies all rows to the device.
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

/// One or two matrices to be compared, and the query.
pub(super) struct Given<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) question: &'a QuerySpec<'a>,
    pub(super) x: &'a dyn Source,
    pub(super) y: Option<&'a dyn Source>,
    /// Type of the entries.
    pub(super) of: Type,
    pub(super) sizes: Sizes,
    pub(super) way: Algorithm,
}

impl<'a> Given<'a> {
    /// # Errors
    /// [`Error::Shape`] for rows of different lengths; [`Error::Argument`] for `exclude_self` with Y.
    pub(super) fn new(
        cuda: &'a Cuda,
        question: &'a QuerySpec<'a>,
        of: Type,
        x: &'a dyn Source,
        y: Option<&'a dyn Source>,
    ) -> Result<Self> {
        let [n, ncols, nnz] = x.sizes(cuda)?;
        let of_y = y.map(|y| y.sizes(cuda)).transpose()?;
        question.check((n, ncols), of_y.map(|[m, ncols, _]| (m, ncols)))?;
        let [m, _, nnz_y] = of_y.unwrap_or([n, ncols, nnz]);
        let sizes = Sizes { nrows: (n, m), ncols, nnz: (nnz, nnz_y) };
        Ok(Self { cuda, question, x, y, of, sizes, way: Algorithm::new(question, of)? })
    }
    /// The matrix that is searched: Y, or X if there is no Y.
    pub(super) fn searched(&self) -> &'a dyn Source {
        self.y.unwrap_or(self.x)
    }
    /// Some rows, validated and without stored zeros.
    pub(super) fn part(&self, a: &dyn Source, rows: &Range<usize>) -> Result<Part> {
        self.clean(&a.rows(self.cuda, rows.clone())?, rows.start)
    }
    /// All rows, validated and without stored zeros.
    pub(super) fn whole(&self, a: &dyn Source) -> Result<Part> {
        self.clean(&a.all(self.cuda)?, 0)
    }
    fn clean(&self, a: &RawCsr, first: usize) -> Result<Part> {
        let QuerySpec { measure, options, .. } = self.question;
        let rows = self.cuda.clean_rows(a, first, measure.domain(), options.unchecked)?;
        let [least, most] = rows.magnitudes;
        if !self.way.fits(rows.magnitudes, self.entries()) {
            let what = format!("{} on a GPU of entries from {least:e} to {most:e}", measure.name());
            return Err(self.beyond(what));
        }
        Ok(Part { rows, first })
    }
    /// Entries of both matrices.
    pub(super) fn entries(&self) -> usize {
        self.sizes.nnz.0.saturating_add(self.sizes.nnz.1)
    }
    /// The error for rows that would need rescaling.
    pub(super) fn beyond(&self, what: String) -> Error {
        Error::Unsupported { what, why: "their powers overflow or underflow; the CPU rescales such rows".into() }
    }
    /// The bytes that results and prepared rows may take together.
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

/// Neighbours of a row among `m` rows, for a search of `k`.
pub(super) fn neighbours(m: usize, k: usize, exclude_self: bool) -> usize {
    k.min(m.saturating_sub(usize::from(exclude_self)))
}

/// The result that prepared rows will be used for, as far as it counts against the budget.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    Nothing,
    /// Distances, this many rows at a time.
    Pairs(usize),
    /// This many neighbours.
    Nearest(usize),
}

/// The bytes that results and prepared rows may take together.
pub(super) struct Budget {
    pub(super) nrows: (usize, usize),
    /// Bytes per distance.
    entry: usize,
    /// Bytes of the prepared rows.
    prepared: u128,
    pub(super) exclude_self: bool,
    most: Option<u64>,
}

impl Budget {
    /// Neighbours per row for a search of `k`.
    pub(super) fn neighbours(&self, k: usize) -> usize {
        neighbours(self.nrows.1, k, self.exclude_self)
    }
    /// The task, and its bytes with the prepared rows.
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
    /// Fails if a result of this size exceeds the budget.
    pub(super) fn allows_result(&self, what: &'static str, result: u128) -> Result<()> {
        self.held(what, result + self.prepared)
    }
    /// Checks bytes against the budget.
    fn held(&self, what: &'static str, bytes: u128) -> Result<()> {
        match self.most.map(u128::from) {
            Some(budget) if bytes > budget => Err(Error::Budget { what, bytes, budget }),
            _ => Ok(()),
        }
    }
}

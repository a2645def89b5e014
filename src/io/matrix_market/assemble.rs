//! From the blocks that threads have parsed to one list of entries, symmetry expanded.

use num_complex::Complex;
use rayon::prelude::*;

use super::banner::{Field, Symmetry};
use super::header::Header;
use super::scalar::Scalar;
use super::value::MarketValue;
use crate::algebra::Monoid;
use crate::par::{Threads, filled};
use crate::{Coo, Csr, Error, Index, Result};

/// A Matrix Market file in memory: what its header says, and its entries as they stand in it.
///
/// The value type is chosen when a matrix is made of it: by name, or as the file has it ([`any`](Self::any)).
/// ```
/// use sparring::algebra::Max;
/// use sparring::io::parse_matrix_market;
/// let text = b"%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 5\n3 1 7\n3 1 2\n";
/// let file = parse_matrix_market(text, "example")?;
/// let a = file.csr::<i64>()?;
/// assert_eq!((a.get(2, 0), a.get(0, 2), a.nnz()), (Some(&9), Some(&9), 3));
/// let b = file.csr_with::<f64, u64, _>(Max::new())?;
/// assert_eq!(b.get(0, 2), Some(&7.0));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MatrixFile {
    /// What the header says.
    pub header: Header,
    /// The entries, before symmetry is expanded.
    pub entries: Entries,
}

/// The entries of a file, in the order of the file.
#[derive(Clone, Debug)]
pub struct Entries(pub(super) Width);

/// Indices are as wide as the larger dimension needs.
#[derive(Clone, Debug)]
pub(super) enum Width {
    Narrow(Fields<u32>),
    Wide(Fields<u64>),
}

/// Blocks of the type that the field calls for.
#[derive(Clone, Debug)]
pub(super) enum Fields<I> {
    Real(Vec<Block<I, f64>>),
    Integer(Vec<Block<I, i64>>),
    Unsigned(Vec<Block<I, u64>>),
    Pattern(Vec<Block<I, ()>>),
    Complex(Vec<Block<I, Complex<f64>>>),
}

/// Consecutive entries, indices from 0.
#[derive(Clone, Debug)]
pub(super) struct Block<I, X> {
    pub(super) rows: Vec<I>,
    pub(super) cols: Vec<I>,
    pub(super) values: Vec<X>,
}

/// Runs `$body` with `$blocks` of whatever type `$entries` has.
macro_rules! with_blocks {
    ($entries:expr, $blocks:ident => $body:expr) => {
        match &$entries.0 {
            Width::Narrow(Fields::Real($blocks)) => $body,
            Width::Narrow(Fields::Integer($blocks)) => $body,
            Width::Narrow(Fields::Unsigned($blocks)) => $body,
            Width::Narrow(Fields::Pattern($blocks)) => $body,
            Width::Narrow(Fields::Complex($blocks)) => $body,
            Width::Wide(Fields::Real($blocks)) => $body,
            Width::Wide(Fields::Integer($blocks)) => $body,
            Width::Wide(Fields::Unsigned($blocks)) => $body,
            Width::Wide(Fields::Pattern($blocks)) => $body,
            Width::Wide(Fields::Complex($blocks)) => $body,
        }
    };
}

impl Entries {
    /// Entries in the file, repeats counted.
    #[must_use]
    pub fn len(&self) -> usize {
        with_blocks!(self, blocks => blocks.iter().map(|b| b.values.len()).sum())
    }
    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Type of the entries; of an `integer` file with an entry beyond i64 it is [`Field::Unsigned`].
    #[must_use]
    pub fn field(&self) -> Field {
        match &self.0 {
            Width::Narrow(Fields::Real(_)) | Width::Wide(Fields::Real(_)) => Field::Real,
            Width::Narrow(Fields::Integer(_)) | Width::Wide(Fields::Integer(_)) => Field::Integer,
            Width::Narrow(Fields::Unsigned(_)) | Width::Wide(Fields::Unsigned(_)) => Field::Unsigned,
            Width::Narrow(Fields::Pattern(_)) | Width::Wide(Fields::Pattern(_)) => Field::Pattern,
            Width::Narrow(Fields::Complex(_)) | Width::Wide(Fields::Complex(_)) => Field::Complex,
        }
    }
}

impl MatrixFile {
    /// The matrix, symmetry expanded, repeated entries added up ([`MarketValue::repeated`]) in the order of the file.
    ///
    /// A pattern entry is 1, or true. Stored zeros stay entries. Cost: O(entries + nrows + ncols).
    /// # Errors
    /// Those of [`coo_with`](Self::coo_with).
    pub fn csr<T: MarketValue>(&self) -> Result<Csr<T>> {
        self.summed(&Threads::current())
    }

    /// [`csr`](Self::csr) with indices of type `I`, on `threads`.
    pub(super) fn summed<T: MarketValue, I: Index>(&self, threads: &Threads) -> Result<Csr<T, I>> {
        self.coo_with(threads)?.compress(threads, Some(T::repeated))
    }

    /// The matrix, symmetry expanded, repeated entries folded by `duplicates` in the order of the file.
    /// # Errors
    /// Those of [`coo_with`](Self::coo_with).
    pub fn csr_with<T: MarketValue, I: Index, O: Monoid<Out = T>>(&self, duplicates: O) -> Result<Csr<T, I>> {
        self.coo_with(&Threads::current())?.to_csr(duplicates)
    }

    /// The entries, symmetry expanded.
    /// # Errors
    /// Those of [`coo_with`](Self::coo_with).
    pub fn coo<T: MarketValue>(&self) -> Result<Coo<T>> {
        self.coo_with(&Threads::current())
    }

    /// The entries with indices of type `I`, symmetry expanded: first those of the file, then the mirror images
    /// of those off the diagonal, both in the order of the file. Work is shared by `threads`.
    /// # Errors
    /// [`Error::IndexOverflow`] if a dimension does not fit `I`; [`Error::Unsupported`] if `T` does not hold a
    /// value, naming the first such entry; [`Error::OutOfMemory`].
    pub fn coo_with<T: MarketValue, I: Index>(&self, threads: &Threads) -> Result<Coo<T, I>> {
        let Header { nrows, ncols, .. } = self.header;
        // The largest dimension decides before indices are narrowed.
        for (what, len) in [("number of rows", nrows), ("number of columns", ncols)] {
            if len > I::MAX_LEN {
                return Err(Error::IndexOverflow { what, needed: len as u128, max: I::MAX_LEN as u128 });
            }
        }
        let (rows, cols, values) =
            with_blocks!(self.entries, blocks => assemble(blocks, self.header.symmetry, threads))?;
        Ok(Coo::from_parts(nrows, ncols, rows, cols, values))
    }
}

/// Where the entries of one block and their mirror images go.
struct Part<'a, T, I> {
    rows: &'a mut [I],
    cols: &'a mut [I],
    values: &'a mut [T],
}

impl<'a, T, I> Part<'a, T, I> {
    /// The first `n` places; the rest stays here.
    fn take(&mut self, n: usize) -> Self {
        let Part { rows, cols, values } =
            std::mem::replace(self, Part { rows: &mut [], cols: &mut [], values: &mut [] });
        let (rows, r) = rows.split_at_mut(n);
        let (cols, c) = cols.split_at_mut(n);
        let (values, v) = values.split_at_mut(n);
        *self = Part { rows: r, cols: c, values: v };
        Part { rows, cols, values }
    }
}

type Lists<T, I> = (Vec<I>, Vec<I>, Vec<T>);

fn assemble<J: Index, X: Scalar, T: MarketValue, I: Index>(
    blocks: &[Block<J, X>],
    symmetry: Symmetry,
    threads: &Threads,
) -> Result<Lists<T, I>> {
    let mirrored: Vec<usize> = if symmetry == Symmetry::General {
        vec![0; blocks.len()]
    } else {
        let off_diagonal = |b: &Block<J, X>| b.rows.iter().zip(&b.cols).filter(|(i, j)| i != j).count();
        threads.install(|| blocks.par_iter().map(off_diagonal).collect())
    };
    let direct: usize = blocks.iter().map(|b| b.values.len()).sum();
    let total = direct + mirrored.iter().sum::<usize>();
    let mut rows = filled(total, I::cast(0), "row indices")?;
    let mut cols = filled(total, I::cast(0), "column indices")?;
    let mut values = filled(total, T::ONE, "values")?;

    let mut mirrors = Part { rows: &mut rows, cols: &mut cols, values: &mut values };
    let mut direct = mirrors.take(direct);
    let jobs: Vec<_> =
        blocks.iter().zip(&mirrored).map(|(b, &m)| (b, direct.take(b.values.len()), mirrors.take(m))).collect();
    let refused: Vec<Option<usize>> =
        threads.install(|| jobs.into_par_iter().map(|(block, to, mirror)| copy(block, to, mirror, symmetry)).collect());

    let mut before = 0;
    for (block, refused) in blocks.iter().zip(refused) {
        if let Some(e) = refused {
            return Err(Error::Unsupported {
                what: format!("entry {}, value {:?}, as {}", before + e + 1, block.values[e], T::TYPE),
                why: "the type does not hold it or its mirror image; read the matrix as a wider type".to_owned(),
            });
        }
        before += block.values.len();
    }
    Ok((rows, cols, values))
}

/// Copies a block and its mirror image; gives the first entry whose value `T` does not hold.
fn copy<J: Index, X: Scalar, T: MarketValue, I: Index>(
    block: &Block<J, X>,
    to: Part<'_, T, I>,
    mirror: Part<'_, T, I>,
    symmetry: Symmetry,
) -> Option<usize> {
    for (to, from) in to.rows.iter_mut().zip(&block.rows) {
        *to = I::cast(from.get());
    }
    for (to, from) in to.cols.iter_mut().zip(&block.cols) {
        *to = I::cast(from.get());
    }
    for (e, (to, from)) in to.values.iter_mut().zip(&block.values).enumerate() {
        match from.to() {
            Some(x) => *to = x,
            None => return Some(e),
        }
    }
    let off_diagonal = (0..block.values.len()).filter(|&e| block.rows[e] != block.cols[e]);
    let places = mirror.rows.iter_mut().zip(mirror.cols).zip(mirror.values);
    for (((row, col), value), e) in places.zip(off_diagonal) {
        *row = I::cast(block.cols[e].get());
        *col = I::cast(block.rows[e].get());
        match block.values[e].mirrored_to(symmetry) {
            Some(x) => *value = x,
            None => return Some(e),
        }
    }
    None
}

//! Assembly of parsed blocks into a matrix, with symmetry expanded.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::banner::{Field, Symmetry};
use super::block::{AnyIndices, Block, Indices, Values, with_indices, with_values};
use super::header::Header;
use super::order::Order;
use super::scalar::Scalar;
use super::value::MarketValue;
use crate::algebra::words::{Fold, Moves, moved};
use crate::algebra::{Monoid, Type, Word};
use crate::par::{Threads, UninitOutput, collected, for_each_part, reserved, scattered};
use crate::sparse::sums::summed;
use crate::{Coo, Csr, Error, Index, Pattern, Result};

const OP: &str = "read_matrix_market";

/// A Matrix Market file in memory: its header, and its entries as stored in the file.
///
/// The value type is chosen on conversion to a matrix: explicitly, or as in the file ([`any`](Self::any)).
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
    /// The header.
    pub header: Header,
    /// The entries, before symmetry is expanded.
    pub entries: Entries,
    /// Name in errors.
    pub(super) name: String,
}

/// The entries of a file, in file order, as parsed blocks.
#[derive(Clone, Debug)]
pub struct Entries {
    pub(super) field: Field,
    pub(super) blocks: Vec<Block>,
}

impl Entries {
    /// Number of entries in the file, duplicates included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.iter().map(Block::len).sum()
    }
    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Field of the entries; [`Field::Unsigned`] for an `integer` file with an entry beyond i64.
    #[must_use]
    pub fn field(&self) -> Field {
        self.field
    }
}

impl MatrixFile {
    /// The matrix, with symmetry expanded and duplicates summed ([`MarketValue::checked_repeated`]) in file order.
    ///
    /// A pattern entry is 1, or true. Explicit zeros are kept. Cost: O(entries + nrows + ncols).
    /// # Errors
    /// Those of [`coo_with`](Self::coo_with); [`Error::Unsupported`] if a sum overflows `T`.
    pub fn csr<T: MarketValue>(&self) -> Result<Csr<T>> {
        self.summed(&Threads::current())
    }

    /// [`csr`](Self::csr) with indices of type `I`, on `threads`.
    pub(super) fn summed<T: MarketValue, I: Index>(&self, threads: &Threads) -> Result<Csr<T, I>> {
        if let Some(a) = self.in_order(threads)? {
            return Ok(a);
        }
        summed(threads, &self.coo_with::<T, I>(threads)?, &self.name, T::checked_repeated)
    }

    /// The matrix, with symmetry expanded and duplicates folded by `duplicates` in file order.
    /// # Errors
    /// Those of [`coo_with`](Self::coo_with).
    pub fn csr_with<T: MarketValue, I: Index, O: Monoid<Out = T>>(&self, duplicates: O) -> Result<Csr<T, I>> {
        self.coo_with(&Threads::current())?.to_csr(duplicates)
    }

    /// The entries, with symmetry expanded.
    /// # Errors
    /// Those of [`coo_with`](Self::coo_with).
    pub fn coo<T: MarketValue>(&self) -> Result<Coo<T>> {
        self.coo_with(&Threads::current())
    }

    /// The entries with indices of type `I` and symmetry expanded: first those of the file, then the mirror images of
    /// the off-diagonal ones, both in file order. Runs on `threads`.
    /// # Errors
    /// [`Error::IndexOverflow`] if a dimension does not fit `I`; [`Error::Unsupported`] if `T` cannot represent a
    /// value, naming the first such entry; [`Error::OutOfMemory`].
    pub fn coo_with<T: MarketValue, I: Index>(&self, threads: &Threads) -> Result<Coo<T, I>> {
        self.fits::<I>()?;
        let Header { nrows, ncols, .. } = self.header;
        let mirrored = match self.header.symmetry {
            Symmetry::General => Vec::new(),
            _ => self.off_diagonal(threads)?,
        };
        let (rows, cols) = self.indices(&mirrored, threads)?;
        let values = self.values(&mirrored, threads)?;
        Ok(Coo::from_parts(nrows, ncols, rows, cols, values))
    }

    /// Builds CSR directly, without sorting, if the entries are sorted by rows or by columns and have no duplicates.
    ///
    /// This also works for a file of one triangle: in row r, the entries on and below the diagonal come in column r or
    /// before, and the mirror images of column r follow them.
    fn in_order<T: MarketValue, I: Index>(&self, threads: &Threads) -> Result<Option<Csr<T, I>>> {
        let mirrored = match self.header.symmetry {
            Symmetry::General => false,
            Symmetry::Symmetric => true,
            // Mirror images have different values.
            Symmetry::SkewSymmetric | Symmetry::Hermitian => return Ok(None),
        };
        // Excludes two rare cases: an index type other than that of the blocks, and far more rows than entries, where
        // counting rows would dominate.
        let shape = (self.header.nrows, self.header.ncols);
        let blocks = &self.entries.blocks;
        let mut lists: Vec<&Indices<I>> = reserved(blocks.len(), "lists of entries")?;
        lists.extend(
            blocks.iter().filter_map(|b| with_indices!(&b.indices, p => (p as &dyn Any).downcast_ref::<Indices<I>>())),
        );
        if lists.len() < blocks.len() || shape.0 / 4 > self.entries.len() {
            return Ok(None);
        }
        let order = Order::of_lists(lists.iter().map(|b| (b.order, &b.rows[..], &b.cols[..])));
        if !order.by_rows && !order.by_columns {
            return Ok(None);
        }
        self.fits::<I>()?;
        let values: Vec<T> = self.values(&[], threads)?;
        let blocks = &lists[..];
        let (pattern, values) = moved(ToRows { threads, shape, blocks, mirrored }, &values, None::<fn(T, T) -> T>)?;
        Ok(Some(Csr::with_pattern(Arc::new(pattern), values)?))
    }

    /// An error if a dimension does not fit `I`.
    fn fits<I: Index>(&self) -> Result<()> {
        let Header { nrows, ncols, .. } = self.header;
        // Checked once for the dimensions, before indices are narrowed.
        for (what, len) in [("number of rows", nrows), ("number of columns", ncols)] {
            if len > I::MAX_LEN {
                return Err(Error::IndexOverflow { what, needed: len as u128, max: I::MAX_LEN as u128 });
            }
        }
        Ok(())
    }
}

/// Scatters sorted entries into CSR.
struct ToRows<'a, I> {
    threads: &'a Threads,
    shape: (usize, usize),
    blocks: &'a [&'a Indices<I>],
    mirrored: bool,
}
impl<I: Index> Moves for ToRows<'_, I> {
    type Structure = Pattern<I>;
    fn run<W: Word>(self, values: &[W], _: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        let lists = self.blocks.iter().map(|b| (&b.rows[..], &b.cols[..]));
        let lists = collected(self.blocks.len(), lists, "lists of entries")?;
        let (nrows, ncols) = self.shape;
        let (row_ptr, cols, values) = scattered(self.threads, nrows, &lists, values, self.mirrored)?;
        Ok((Pattern::from_parts(nrows, ncols, row_ptr, cols, true), values))
    }
}

impl MatrixFile {
    /// The positions of the off-diagonal entries of each block, which have a mirror image.
    fn off_diagonal(&self, threads: &Threads) -> Result<Vec<Vec<u32>>> {
        let blocks = &self.entries.blocks;
        let mut found: Vec<Vec<u32>> = reserved(blocks.len(), "mirror images")?;
        found.resize_with(blocks.len(), Vec::new);
        for_each_part(
            threads,
            blocks.iter().zip(&mut found).collect(),
            || Ok(()),
            |(), (block, found)| {
                // The size of a piece of text bounds the number of its entries.
                debug_assert!(u32::try_from(block.len()).is_ok());
                *found = reserved(block.indices.off_diagonal(), "mirror images")?;
                with_indices!(&block.indices, indices => {
                    let pairs = (0u32..).zip(indices.rows.iter().zip(&indices.cols));
                    found.extend(pairs.filter(|(_, (i, j))| i != j).map(|(e, _)| e));
                });
                Ok(())
            },
        )?;
        Ok(found)
    }

    /// Offsets in a list of all entries: of the entries of each block, then of the mirror images of each block, if
    /// there are any, and the end.
    fn starts(&self, mirrored: &[Vec<u32>]) -> Result<Vec<usize>> {
        let blocks = &self.entries.blocks;
        let mut starts = reserved(blocks.len() + mirrored.len() + 1, "blocks of a file")?;
        let mut start = 0;
        for len in blocks.iter().map(Block::len).chain(mirrored.iter().map(Vec::len)) {
            starts.push(start);
            start += len;
        }
        starts.push(start);
        Ok(starts)
    }
    /// The block of part `p` of such a list, and the entries whose mirror images form the part, if it is a part of
    /// mirror images.
    fn part<'a>(&'a self, p: usize, mirrored: &'a [Vec<u32>]) -> (usize, &'a Block, Option<&'a [u32]>) {
        let blocks = &self.entries.blocks;
        let b = p % blocks.len();
        (b, &blocks[b], (p != b).then(|| &mirrored[b][..]))
    }

    /// Row and column indices of all entries, then of the mirror images.
    fn indices<I: Index>(&self, mirrored: &[Vec<u32>], threads: &Threads) -> Result<(Vec<I>, Vec<I>)> {
        let starts = self.starts(mirrored)?;
        let (parts, len) = (starts.len() - 1, starts[starts.len() - 1]);
        UninitOutput::new(len, "row indices")?.fill_with(
            UninitOutput::new(len, "column indices")?,
            threads,
            OP,
            parts,
            |p| starts[p],
            || Ok(()),
            |(), p, rows, cols| {
                let (_, block, which) = self.part(p, mirrored);
                let (rows, cols) = (rows.rest(I::default()), cols.rest(I::default()));
                with_indices!(&block.indices, from => match which {
                    None => {
                        rows.iter_mut().zip(&from.rows).for_each(|(to, i)| *to = I::cast(i.get()));
                        cols.iter_mut().zip(&from.cols).for_each(|(to, j)| *to = I::cast(j.get()));
                    }
                    Some(which) => {
                        for ((row, col), &e) in rows.iter_mut().zip(cols).zip(which) {
                            (*row, *col) = (I::cast(from.cols[e as usize].get()), I::cast(from.rows[e as usize].get()));
                        }
                    }
                });
                Ok(())
            },
        )
    }

    /// Values of all entries, then of the mirror images.
    fn values<T: MarketValue>(&self, mirrored: &[Vec<u32>], threads: &Threads) -> Result<Vec<T>> {
        let starts = self.starts(mirrored)?;
        let (parts, len) = (starts.len() - 1, starts[starts.len() - 1]);
        let refused = AtomicUsize::new(usize::MAX);
        let values = UninitOutput::new(len, "values")?.fill(
            threads,
            OP,
            parts,
            |p| starts[p],
            || Ok(()),
            |(), p, slots| {
                let (b, block, which) = self.part(p, mirrored);
                let to = slots.rest(T::ONE);
                let symmetry = self.header.symmetry;
                if let Some(e) = with_values!(&block.values, from => converted(from, which, symmetry, to)) {
                    refused.fetch_min(starts[b] + e, Ordering::Relaxed);
                }
                Ok(())
            },
        )?;
        match refused.into_inner() {
            usize::MAX => Ok(values),
            e => Err(self.not_held(e, T::TYPE)),
        }
    }

    /// The error that `ty` cannot represent the value of an entry, numbered from 0.
    fn not_held(&self, entry: usize, ty: Type) -> Error {
        let mut e = entry;
        let mut value = String::new();
        for block in &self.entries.blocks {
            if e < block.len() {
                value = with_values!(&block.values, list => format!("{:?}", list[e]));
                break;
            }
            e -= block.len();
        }
        Error::Unsupported {
            what: format!("{}: entry {}, value {value}, as {ty}", self.name, entry + 1),
            why: "the type does not hold it or its mirror image; read the matrix as a wider type".to_owned(),
        }
    }
}

/// Converts the values of a block, or the mirror images of `which` of them; returns the first entry whose value `T`
/// cannot represent.
fn converted<X: Scalar, T: MarketValue>(
    from: &[X],
    which: Option<&[u32]>,
    symmetry: Symmetry,
    to: &mut [T],
) -> Option<usize> {
    let Some(which) = which else {
        for (e, (to, x)) in to.iter_mut().zip(from).enumerate() {
            match x.to() {
                Some(x) => *to = x,
                None => return Some(e),
            }
        }
        return None;
    };
    for (to, &e) in to.iter_mut().zip(which) {
        match from[e as usize].mirrored_to(symmetry) {
            Some(x) => *to = x,
            None => return Some(e as usize),
        }
    }
    None
}

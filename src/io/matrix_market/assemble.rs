//! From the blocks that threads have parsed to one list of entries, symmetry expanded.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::banner::{Field, Symmetry};
use super::block::{Block, Indices, Places, Values, with_places, with_values};
use super::header::Header;
use super::order::Order;
use super::scalar::Scalar;
use super::value::MarketValue;
use crate::algebra::words::{Fold, Moves, moved};
use crate::algebra::{Monoid, Type, Word};
use crate::par::{Fresh, Threads, collected, for_each_part, reserved, scattered};
use crate::sparse::sums::summed;
use crate::{Coo, Csr, Error, Index, Pattern, Result};

const OP: &str = "read_matrix_market";

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
    /// As errors call it.
    pub(super) name: String,
}

/// The entries of a file, in the order of the file, in blocks that threads have parsed.
#[derive(Clone, Debug)]
pub struct Entries {
    pub(super) field: Field,
    pub(super) blocks: Vec<Block>,
}

impl Entries {
    /// Entries in the file, repeats counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.iter().map(Block::len).sum()
    }
    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Type of the entries; of an `integer` file with an entry beyond i64 it is [`Field::Unsigned`].
    #[must_use]
    pub fn field(&self) -> Field {
        self.field
    }
}

impl MatrixFile {
    /// The matrix, symmetry expanded, repeated entries added up ([`MarketValue::checked_repeated`]) in the order of the
    /// file.
    ///
    /// A pattern entry is 1, or true. Stored zeros stay entries. Cost: O(entries + nrows + ncols).
    /// # Errors
    /// Those of [`coo_with`](Self::coo_with); [`Error::Unsupported`] if `T` does not hold a sum.
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

    /// Compressed rows, if the entries come by rows or by columns, none twice: each goes straight to its place.
    ///
    /// That holds for a file of one triangle too: of row r, those below the diagonal come in column r or before, the
    /// mirror images of column r after them.
    fn in_order<T: MarketValue, I: Index>(&self, threads: &Threads) -> Result<Option<Csr<T, I>>> {
        let mirrored = match self.header.symmetry {
            Symmetry::General => false,
            Symmetry::Symmetric => true,
            // Mirror images have values of their own.
            Symmetry::SkewSymmetric | Symmetry::Hermitian => return Ok(None),
        };
        // Narrow indices for a matrix of wide ones are rare, and so are far more rows than entries, for which counts of
        // rows would be most of the work.
        let shape = (self.header.nrows, self.header.ncols);
        let blocks = &self.entries.blocks;
        let mut lists: Vec<&Indices<I>> = reserved(blocks.len(), "lists of entries")?;
        lists.extend(
            blocks.iter().filter_map(|b| with_places!(&b.places, p => (p as &dyn Any).downcast_ref::<Indices<I>>())),
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

    /// Refuses indices too narrow for a dimension.
    fn fits<I: Index>(&self) -> Result<()> {
        let Header { nrows, ncols, .. } = self.header;
        // The largest dimension decides before indices are narrowed.
        for (what, len) in [("number of rows", nrows), ("number of columns", ncols)] {
            if len > I::MAX_LEN {
                return Err(Error::IndexOverflow { what, needed: len as u128, max: I::MAX_LEN as u128 });
            }
        }
        Ok(())
    }
}

/// Entries that come in order become compressed rows.
struct ToRows<'a, I> {
    threads: &'a Threads,
    shape: (usize, usize),
    blocks: &'a [&'a Indices<I>],
    mirrored: bool,
}
impl<I: Index> Moves for ToRows<'_, I> {
    type Found = Pattern<I>;
    fn run<W: Word>(self, values: &[W], _: Option<Fold<'_, W>>) -> Result<(Pattern<I>, Vec<W>)> {
        let lists = self.blocks.iter().map(|b| (&b.rows[..], &b.cols[..]));
        let lists = collected(self.blocks.len(), lists, "lists of entries")?;
        let (nrows, ncols) = self.shape;
        let (row_ptr, cols, values) = scattered(self.threads, nrows, &lists, values, self.mirrored)?;
        Ok((Pattern::from_parts(nrows, ncols, row_ptr, cols, true), values))
    }
}

impl MatrixFile {
    /// For each block, which of its entries have a mirror image.
    fn off_diagonal(&self, threads: &Threads) -> Result<Vec<Vec<u32>>> {
        let blocks = &self.entries.blocks;
        let mut found: Vec<Vec<u32>> = reserved(blocks.len(), "mirror images")?;
        found.resize_with(blocks.len(), Vec::new);
        for_each_part(
            threads,
            blocks.iter().zip(&mut found).collect(),
            || Ok(()),
            |(), (block, found)| {
                // Pieces of text are not as long as to have more entries.
                debug_assert!(u32::try_from(block.len()).is_ok());
                *found = reserved(block.places.off_diagonal(), "mirror images")?;
                with_places!(&block.places, places => {
                    let pairs = (0u32..).zip(places.rows.iter().zip(&places.cols));
                    found.extend(pairs.filter(|(_, (i, j))| i != j).map(|(e, _)| e));
                });
                Ok(())
            },
        )?;
        Ok(found)
    }

    /// Where in a list of all entries those of each block begin, then the mirror images of each, if there are any; and
    /// the end.
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
    /// The block of which part `p` of such a list is, and which of its entries have their images there, if it is one of
    /// images.
    fn part<'a>(&'a self, p: usize, mirrored: &'a [Vec<u32>]) -> (usize, &'a Block, Option<&'a [u32]>) {
        let blocks = &self.entries.blocks;
        let b = p % blocks.len();
        (b, &blocks[b], (p != b).then(|| &mirrored[b][..]))
    }

    /// Rows and columns of all entries, then those of the mirror images.
    fn indices<I: Index>(&self, mirrored: &[Vec<u32>], threads: &Threads) -> Result<(Vec<I>, Vec<I>)> {
        let starts = self.starts(mirrored)?;
        let (parts, len) = (starts.len() - 1, starts[starts.len() - 1]);
        Fresh::new(len, "row indices")?.fill_with(
            Fresh::new(len, "column indices")?,
            threads,
            OP,
            parts,
            |p| starts[p],
            || Ok(()),
            |(), p, rows, cols| {
                let (_, block, which) = self.part(p, mirrored);
                let (rows, cols) = (rows.rest(I::default()), cols.rest(I::default()));
                with_places!(&block.places, from => match which {
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

    /// Values of all entries, then those of the mirror images.
    fn values<T: MarketValue>(&self, mirrored: &[Vec<u32>], threads: &Threads) -> Result<Vec<T>> {
        let starts = self.starts(mirrored)?;
        let (parts, len) = (starts.len() - 1, starts[starts.len() - 1]);
        let refused = AtomicUsize::new(usize::MAX);
        let values = Fresh::new(len, "values")?.fill(
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

    /// The error that a type does not hold the value of an entry, which counts from 0.
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

/// Converts the values of a block, or the mirror images of `which` of them; gives the first entry whose value `T` does
/// not hold.
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

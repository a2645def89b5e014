//! From the blocks that threads have parsed to one list of entries, symmetry expanded.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use num_complex::Complex;

use super::banner::{Field, Symmetry};
use super::header::Header;
use super::order::Order;
use super::scalar::Scalar;
use super::value::MarketValue;
use crate::algebra::words::{Fold, Moves, moved};
use crate::algebra::{Monoid, Word};
use crate::par::{Fresh, Threads, collected, filled, for_each_part, reserved, scattered};
use crate::{Coo, Csr, Error, Index, Pattern, Result};

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
    pub(super) places: Places,
    pub(super) values: Fields,
}

/// Indices are as wide as the larger dimension needs.
#[derive(Clone, Debug)]
pub(super) enum Places {
    Narrow(Vec<Indices<u32>>),
    Wide(Vec<Indices<u64>>),
}

/// Rows and columns of consecutive entries, from 0.
#[derive(Clone, Debug)]
pub(super) struct Indices<J> {
    pub(super) rows: Vec<J>,
    pub(super) cols: Vec<J>,
    pub(super) order: Order,
}

/// Blocks of the type that the field calls for.
#[derive(Clone, Debug)]
pub(super) enum Fields {
    Real(Vec<Vec<f64>>),
    Integer(Vec<Vec<i64>>),
    Unsigned(Vec<Vec<u64>>),
    Pattern(Vec<Vec<()>>),
    Complex(Vec<Vec<Complex<f64>>>),
}

/// Runs `$body` with `$blocks` of whatever type `$places` has.
macro_rules! with_places {
    ($places:expr, $blocks:ident => $body:expr) => {
        match &$places {
            Places::Narrow($blocks) => $body,
            Places::Wide($blocks) => $body,
        }
    };
}
/// Runs `$body` with `$blocks` of whatever type `$values` has.
macro_rules! with_values {
    ($values:expr, $blocks:ident => $body:expr) => {
        match &$values {
            Fields::Real($blocks) => $body,
            Fields::Integer($blocks) => $body,
            Fields::Unsigned($blocks) => $body,
            Fields::Pattern($blocks) => $body,
            Fields::Complex($blocks) => $body,
        }
    };
}

impl Entries {
    /// Entries in the file, repeats counted.
    #[must_use]
    pub fn len(&self) -> usize {
        with_values!(self.values, blocks => blocks.iter().map(Vec::len).sum())
    }
    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Type of the entries; of an `integer` file with an entry beyond i64 it is [`Field::Unsigned`].
    #[must_use]
    pub fn field(&self) -> Field {
        match self.values {
            Fields::Real(_) => Field::Real,
            Fields::Integer(_) => Field::Integer,
            Fields::Unsigned(_) => Field::Unsigned,
            Fields::Pattern(_) => Field::Pattern,
            Fields::Complex(_) => Field::Complex,
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
        if let Some(a) = self.in_order(threads)? {
            return Ok(a);
        }
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
        self.fits::<I>()?;
        let Header { nrows, ncols, .. } = self.header;
        let Entries { places, values } = &self.entries;
        let mirrored = match self.header.symmetry {
            Symmetry::General => None,
            _ => Some(with_places!(*places, blocks => off_diagonal(blocks, threads))?),
        };
        let (rows, cols) = with_places!(*places, blocks => indices(blocks, mirrored.as_deref(), threads))?;
        let symmetry = self.header.symmetry;
        let values =
            with_values!(*values, blocks => expanded(&self.name, blocks, mirrored.as_deref(), symmetry, threads))?;
        Ok(Coo::from_parts(nrows, ncols, rows, cols, values))
    }

    /// Compressed rows, if the entries come by rows or by columns, none twice: each goes straight to its place.
    ///
    /// That holds for a file of one triangle too: of row r, those below the diagonal come in column r or before, the mirror images of
    /// column r after them.
    fn in_order<T: MarketValue, I: Index>(&self, threads: &Threads) -> Result<Option<Csr<T, I>>> {
        let Entries { places, values } = &self.entries;
        let mirrored = match self.header.symmetry {
            Symmetry::General => false,
            Symmetry::Symmetric => true,
            // Mirror images have values of their own.
            Symmetry::SkewSymmetric | Symmetry::Hermitian => return Ok(None),
        };
        let order = with_places!(*places, blocks => Order::of_lists(blocks.iter().map(|b| (b.order, &b.rows[..], &b.cols[..]))));
        if !order.by_rows && !order.by_columns {
            return Ok(None);
        }
        self.fits::<I>()?;
        // Narrow indices for a matrix of wide ones are rare, and so are far more rows than entries, for which counts of rows would be
        // most of the work.
        let blocks: &dyn Any = with_places!(*places, blocks => blocks);
        let shape = (self.header.nrows, self.header.ncols);
        let Some(blocks) = blocks.downcast_ref::<Vec<Indices<I>>>().filter(|_| shape.0 / 4 <= self.entries.len())
        else {
            return Ok(None);
        };
        let values: Vec<T> = with_values!(*values, blocks => converted(&self.name, blocks, threads))?;
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
    blocks: &'a [Indices<I>],
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

// What is generic in the type of the indices is apart from what is generic in that of the values: their sum is compiled,
// and not their product.

/// For each block, which of its entries have a mirror image.
fn off_diagonal<J: Index>(blocks: &[Indices<J>], threads: &Threads) -> Result<Vec<Vec<u32>>> {
    let of = |block: &Indices<J>| -> Result<Vec<u32>> {
        // Pieces of text are not as long as to have more entries.
        debug_assert!(u32::try_from(block.rows.len()).is_ok());
        let pairs = block.rows.iter().zip(&block.cols);
        let mut found = reserved(pairs.clone().filter(|(i, j)| i != j).count(), "mirror images")?;
        found.extend((0u32..).zip(pairs).filter(|(_, (i, j))| i != j).map(|(e, _)| e));
        Ok(found)
    };
    let mut found: Vec<Vec<u32>> = reserved(blocks.len(), "mirror images")?;
    found.resize_with(blocks.len(), Vec::new);
    for_each_part(
        threads,
        blocks.iter().zip(&mut found).collect(),
        || Ok(()),
        |(), (block, found)| {
            *found = of(block)?;
            Ok(())
        },
    )?;
    Ok(found)
}

/// A list of one value per entry, cut into the parts of each block: those of its entries, those of their mirror images.
fn parts<'a, Y>(
    mut list: &'a mut [Y],
    lens: impl Iterator<Item = usize> + Clone,
    mirrored: Option<&[Vec<u32>]>,
) -> Vec<(&'a mut [Y], &'a mut [Y])> {
    let mut take = |n: usize| {
        let (head, tail) = std::mem::take(&mut list).split_at_mut(n);
        list = tail;
        head
    };
    let direct: Vec<_> = lens.map(&mut take).collect();
    let images: Vec<_> = (0..direct.len()).map(|b| take(mirrored.map_or(0, |m| m[b].len()))).collect();
    direct.into_iter().zip(images).collect()
}

/// Entries and mirror images.
fn total(lens: impl Iterator<Item = usize>, mirrored: Option<&[Vec<u32>]>) -> usize {
    lens.sum::<usize>() + mirrored.map_or(0, |m| m.iter().map(Vec::len).sum())
}

/// Rows and columns of all entries, then those of the mirror images.
fn indices<J: Index, I: Index>(
    blocks: &[Indices<J>],
    mirrored: Option<&[Vec<u32>]>,
    threads: &Threads,
) -> Result<(Vec<I>, Vec<I>)> {
    let lens = blocks.iter().map(|b| b.rows.len());
    let total = total(lens.clone(), mirrored);
    let mut rows = filled(total, I::cast(0), "row indices")?;
    let mut cols = filled(total, I::cast(0), "column indices")?;
    let jobs: Vec<_> = parts(&mut rows, lens.clone(), mirrored)
        .into_iter()
        .zip(parts(&mut cols, lens, mirrored))
        .enumerate()
        .collect();
    let copy = |to: &mut [I], image: &mut [I], from: &[J], opposite: &[J], which: &[u32]| {
        for (to, from) in to.iter_mut().zip(from) {
            *to = I::cast(from.get());
        }
        for (to, &e) in image.iter_mut().zip(which) {
            *to = I::cast(opposite[e as usize].get());
        }
    };
    for_each_part(
        threads,
        jobs,
        || Ok(()),
        |(), (b, (row, col))| {
            let (block, which) = (&blocks[b], mirrored.map_or(&[][..], |m| &m[b]));
            copy(row.0, row.1, &block.rows, &block.cols, which);
            copy(col.0, col.1, &block.cols, &block.rows, which);
            Ok(())
        },
    )?;
    Ok((rows, cols))
}

/// Values of all entries, then those of the mirror images.
fn expanded<X: Scalar, T: MarketValue>(
    name: &str,
    blocks: &[Vec<X>],
    mirrored: Option<&[Vec<u32>]>,
    symmetry: Symmetry,
    threads: &Threads,
) -> Result<Vec<T>> {
    let lens = blocks.iter().map(Vec::len);
    let mut values = filled(total(lens.clone(), mirrored), T::ONE, "values")?;
    let mut refused: Vec<Option<usize>> = filled(blocks.len(), None, "blocks of a file")?;
    let jobs: Vec<_> = parts(&mut values, lens, mirrored).into_iter().zip(&mut refused).enumerate().collect();
    // Copies a block and its mirror image; gives the first entry whose value `T` does not hold.
    let copy = |b: usize, to: &mut [T], image: &mut [T]| -> Option<usize> {
        for (e, (to, from)) in to.iter_mut().zip(&blocks[b]).enumerate() {
            match from.to() {
                Some(x) => *to = x,
                None => return Some(e),
            }
        }
        for (to, &e) in image.iter_mut().zip(mirrored.map_or(&[][..], |m| &m[b])) {
            match blocks[b][e as usize].mirrored_to(symmetry) {
                Some(x) => *to = x,
                None => return Some(e as usize),
            }
        }
        None
    };
    for_each_part(
        threads,
        jobs,
        || Ok(()),
        |(), (b, ((to, image), refused))| {
            *refused = copy(b, to, image);
            Ok(())
        },
    )?;
    let mut before = 0;
    for (block, refused) in blocks.iter().zip(refused) {
        if let Some(e) = refused {
            return Err(not_held::<X, T>(name, before + e, block[e]));
        }
        before += block.len();
    }
    Ok(values)
}

/// Values of all entries.
fn converted<X: Scalar, T: MarketValue>(name: &str, blocks: &[Vec<X>], threads: &Threads) -> Result<Vec<T>> {
    let mut before = reserved(blocks.len() + 1, "blocks of a file")?;
    before.push(0);
    for block in blocks {
        before.push(before.last().map_or(0, |n| n + block.len()));
    }
    let refused = AtomicUsize::new(usize::MAX);
    let values = Fresh::new(before[blocks.len()], "values")?.fill(
        threads,
        "read_matrix_market",
        blocks.len(),
        |b| before[b],
        || Ok(()),
        |(), b, slots| {
            for (e, (to, from)) in slots.rest(T::ONE).iter_mut().zip(&blocks[b]).enumerate() {
                match from.to() {
                    Some(x) => *to = x,
                    None => {
                        refused.fetch_min(before[b] + e, Ordering::Relaxed);
                        break;
                    }
                }
            }
            Ok(())
        },
    )?;
    let first = refused.into_inner();
    if first < values.len() {
        let b = before.partition_point(|&n| n <= first) - 1;
        return Err(not_held::<X, T>(name, first, blocks[b][first - before[b]]));
    }
    Ok(values)
}

/// The error that `T` does not hold the value of an entry, which counts from 0.
fn not_held<X: Scalar, T: MarketValue>(name: &str, entry: usize, value: X) -> Error {
    Error::Unsupported {
        what: format!("{name}: entry {}, value {value:?}, as {}", entry + 1, T::TYPE),
        why: "the type does not hold it or its mirror image; read the matrix as a wider type".to_owned(),
    }
}

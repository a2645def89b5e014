//! Which of A and Aᵀ a product with a vector goes by, where both are at hand.

use crate::par::note;
use crate::sparse::{Indices, VectorPattern, ones};
use crate::{Error, Index, Pattern, Result, Vector};

/// y = A ⊕.⊗ x by the rows of A that the mask allows, or by the rows of Aᵀ that x names.
///
/// Sources: Beamer, Asanović, Patterson 2012, "Direction-optimizing breadth-first search"; Yang, Buluç, Owens 2018,
/// "Implementing push-pull efficiently in GraphBLAS".
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direction {
    /// Rows of A, and how many of them the mask allows.
    pub rows: usize,
    pub allowed: usize,
    /// Entries of A.
    pub nnz: usize,
    /// Places of x, and how many have an entry.
    pub len: usize,
    pub entries: usize,
    /// Entries of the rows of Aᵀ that x names.
    pub products: u64,
    /// Whether the fold of a row ends with its first product.
    pub stops: bool,
}

impl Direction {
    /// Time of a row of A, of an entry that is looked up in x, and of a product that is put in its place: what the choice
    /// weighs, in units of its own.
    const ROW: f64 = 1.0;
    const LOOKED: f64 = 1.0;
    const PUT: f64 = 2.0;

    /// The choice for rows that are alike and no mask, the fold of a row ending nowhere: A has so many rows and entries,
    /// x so many places and entries.
    pub(crate) fn estimated((rows, nnz): (usize, usize), (len, entries): (usize, usize)) -> Self {
        let products = (nnz as f64 / len.max(1) as f64 * entries as f64) as u64;
        Self { rows, allowed: rows, nnz, len, entries, products, stops: false }
    }
    /// Whether it goes by the rows of A.
    pub(crate) fn is_by_rows(self) -> bool {
        let Self { rows, allowed, nnz, len, entries, products, stops } = self;
        let whole = nnz as f64 / rows.max(1) as f64;
        // One entry in so many meets one of x.
        let first = len as f64 / entries.max(1) as f64;
        let looked = allowed as f64 * if stops { whole.min(first) } else { whole };
        // Few rows are gone through by a list of them.
        let gone_through = if allowed <= rows / Vector::<f64>::SPARSE { allowed } else { rows };
        let by_rows = Self::ROW * gone_through as f64 + Self::LOOKED * looked;
        let by_entries = Self::PUT * products as f64;
        note(|| {
            format!(
                "  by {}: about {looked:.0} entries to look up in {allowed} of {rows} rows, or {products} products",
                if by_rows < by_entries { "rows that the mask allows" } else { "entries of the vector" },
            )
        });
        by_rows < by_entries
    }
}

/// Entries of the rows of a matrix that a vector names.
///
/// Cost: O(entries of the vector), and of a bitmap O(its places / 64).
pub(crate) fn products<I: Index>(at: &Pattern<I>, x: &VectorPattern<I>) -> u64 {
    let row = |k: usize| at.row(k).len() as u64;
    match x.indices() {
        Indices::All => at.nnz() as u64,
        Indices::List(ks) => ks.iter().map(|k| row(k.get())).sum(),
        Indices::Bitmap(words) => ones(words).map(row).sum(),
    }
}

/// Refuses a matrix that cannot be the transpose of another, by the shapes of the two and how many entries they have.
/// # Errors
/// [`Error::Argument`].
pub(crate) fn check_transpose(a: ((usize, usize), usize), at: ((usize, usize), usize)) -> Result<()> {
    let ((m, n), nnz) = a;
    if at == ((n, m), nnz) {
        return Ok(());
    }
    let ((rows, cols), entries) = at;
    let message = format!("it is {rows}×{cols} with {entries} entries, the transpose is {n}×{m} with {nnz}");
    Err(Error::Argument { name: "transpose", message })
}

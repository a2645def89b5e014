//! Push or pull: the choice between A and Aᵀ for a product with a vector, if both are available.

use crate::par::note;
use crate::sparse::{Indices, VectorPattern, ones};
use crate::{Error, Index, Pattern, Result, Vector};

/// y = A ⊕.⊗ x by the rows of A that the mask allows (pull), or by the rows of Aᵀ selected by x (push).
///
/// Sources: Beamer, Asanović, Patterson 2012, "Direction-optimizing breadth-first search"; Yang, Buluç, Owens 2018,
/// "Implementing push-pull efficiently in GraphBLAS".
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direction {
    /// Rows of A, and the number that the mask allows.
    pub rows: usize,
    pub allowed: usize,
    /// Entries of A.
    pub nnz: usize,
    /// Length of x, and its number of entries.
    pub len: usize,
    pub entries: usize,
    /// Entries of the rows of Aᵀ selected by x.
    pub products: u64,
    /// Whether the fold of a row stops at its first product.
    pub stops: bool,
}

impl Direction {
    /// Relative cost of a row of A, of an entry looked up in x, and of a product scattered to its index.
    const ROW: f64 = 1.0;
    const LOOKUP: f64 = 1.0;
    const SCATTER: f64 = 2.0;

    /// The choice without a mask or early exit, for rows of uniform length: A has this many rows and entries, x this
    /// length and number of entries.
    pub(crate) fn estimated((rows, nnz): (usize, usize), (len, entries): (usize, usize)) -> Self {
        let products = (nnz as f64 / len.max(1) as f64 * entries as f64) as u64;
        Self { rows, allowed: rows, nnz, len, entries, products, stops: false }
    }
    /// Whether to pull, by the rows of A.
    pub(crate) fn is_by_rows(self) -> bool {
        let Self { rows, allowed, nnz, len, entries, products, stops } = self;
        let whole = nnz as f64 / rows.max(1) as f64;
        // Expected number of entries of A up to the first that is paired with one of x.
        let first = len as f64 / entries.max(1) as f64;
        let looked = allowed as f64 * if stops { whole.min(first) } else { whole };
        // Few allowed rows are visited through a list of them.
        let visited = if allowed <= rows / Vector::<f64>::SPARSE { allowed } else { rows };
        let by_rows = Self::ROW * visited as f64 + Self::LOOKUP * looked;
        let by_entries = Self::SCATTER * products as f64;
        note(|| {
            format!(
                "  by {}: about {looked:.0} entries to look up in {allowed} of {rows} rows, or {products} products",
                if by_rows < by_entries { "rows that the mask allows" } else { "entries of the vector" },
            )
        });
        by_rows < by_entries
    }
}

/// The number of entries in the rows of a matrix selected by a vector.
///
/// Cost: O(entries of the vector); for a bitmap also O(length / 64).
pub(crate) fn products<I: Index>(at: &Pattern<I>, x: &VectorPattern<I>) -> u64 {
    let row = |k: usize| at.row(k).len() as u64;
    match x.indices() {
        Indices::All => at.nnz() as u64,
        Indices::List(ks) => ks.iter().map(|k| row(k.get())).sum(),
        Indices::Bitmap(words) => ones(words).map(row).sum(),
    }
}

/// Rejects a matrix that cannot be the transpose of another, by shapes and numbers of entries.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::Bitmap;

    #[test]
    fn products_are_counted_in_every_form() {
        let at = Pattern::<u32>::new(4, 5, vec![0, 2, 2, 5, 6], vec![0, 1, 2, 3, 4, 0]).unwrap();
        for (ks, count) in [(vec![], 0), (vec![0], 2), (vec![1, 3], 1), (vec![0, 2, 3], 6)] {
            let mut bits = Bitmap::empty(4).unwrap();
            ks.iter().for_each(|&k| _ = bits.insert(k as usize));
            assert_eq!(products(&at, &VectorPattern::list(4, ks)), count);
            assert_eq!(products(&at, &VectorPattern::bitmap(bits)), count);
        }
        assert_eq!(products(&at, &VectorPattern::full(4)), 6);
    }
}

//! Matrices as text.

use std::fmt;

use super::csr::Csr;
use crate::Index;
use crate::algebra::Value;

/// Largest number of rows and columns shown as a table; larger matrices are shown as a list of entries.
const SHOWN: usize = 16;
/// Largest number of entries shown in a list.
const LISTED: usize = 20;

/// A matrix of at most 16 rows and columns is shown as a table, with `·` where there is no entry; a larger one as its
/// shape and first entries, one per line. The precision of the format applies to the values.
///
/// ```
/// use sparring::Csr;
/// let a = Csr::<f64>::from_triplets(2, 3, [(0, 0, 1.5), (1, 2, -20.0)])?;
/// assert_eq!(a.to_string(), "1.5 ·   ·\n  · · -20");
/// assert_eq!(format!("{a:.1}"), "1.5 ·     ·\n  · · -20.0");
/// # Ok::<(), sparring::Error>(())
/// ```
impl<T: Value + fmt::Display, I: Index> fmt::Display for Csr<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (m, n) = self.shape();
        let precision = f.precision();
        let text = |x: &T| match precision {
            Some(digits) => format!("{x:.digits$}"),
            None => x.to_string(),
        };
        if m > SHOWN || n > SHOWN {
            write!(f, "{m} × {n}, {} entries", self.nnz())?;
            for (i, j, x) in self.iter().take(LISTED) {
                write!(f, "\n({i}, {j}) {}", text(x))?;
            }
            return if self.nnz() > LISTED { f.write_str("\n…") } else { Ok(()) };
        }
        let cells: Vec<Vec<String>> =
            (0..m).map(|i| (0..n).map(|j| self.get(i, j).map_or_else(|| "·".into(), text)).collect()).collect();
        let widths: Vec<usize> =
            (0..n).map(|j| cells.iter().map(|row| row[j].chars().count()).max().unwrap_or(0)).collect();
        for (i, row) in cells.iter().enumerate() {
            let line: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
            write!(f, "{}{}", if i > 0 { "\n" } else { "" }, line.join(" "))?;
        }
        Ok(())
    }
}

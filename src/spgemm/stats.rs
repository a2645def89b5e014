//! The savings of compression, from the patterns alone.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::par::{Threads, try_split};
use crate::sparse::{BitCounts, BitRows};
use crate::{Error, Index, Pattern, Result};

/// Work and longest rows of A·B before and after compression of B to 32 columns a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compression {
    /// Multiplications, fm.
    pub fm: u64,
    /// Most multiplications in a row, maxrf.
    pub max_row_flops: u64,
    /// Insertions of words that replace the multiplications.
    pub compressed_fm: u64,
    /// Most insertions of words in a row.
    pub compressed_max_row: u64,
    /// CF: the fraction of the multiplications that remains, compressed_fm / fm; 1 if there are none.
    pub cf: f64,
    /// CMRF: the fraction of the row-length bound that remains,
    /// min(compressed_max_row, ⌈k/32⌉) / min(max_row_flops, k) for k columns; 1 if rows are empty.
    pub cmrf: f64,
}

/// CF and CMRF of A·B; B is counted but not compressed. Cost: O(nnz(A) + nnz(B)) for sorted rows of B.
/// # Errors
/// [`Error::Shape`]; [`Error::OutOfMemory`].
///
/// Source: Deveci, Trott, Rajamanickam 2018, §3.2. CMRF is as in its Table 3, where no bound exceeds the number of
/// columns: the quotient of the plain maxima does not reproduce the table.
pub fn compression<I: Index>(threads: &Threads, a: &Pattern<I>, b: &Pattern<I>) -> Result<Compression> {
    if a.ncols() != b.nrows() {
        return Err(Error::Shape { op: "mxm", lhs: a.shape(), rhs: b.shape() });
    }
    compression_by(threads, a, b, &BitRows::<u32, I>::count(threads, b)?)
}

/// As [`compression`], from existing counts of B.
pub(super) fn compression_by<I: Index>(
    threads: &Threads,
    a: &Pattern<I>,
    b: &Pattern<I>,
    counts: &BitCounts<'_, u32, I>,
) -> Result<Compression> {
    let sums = [const { AtomicU64::new(0) }; 4];
    let [fm, max_row_flops, compressed_fm, compressed_max_row] = &sums;
    let (plain, words) = (b.row_ptr(), counts.row_ptr());
    let groups = try_split(a.nrows(), (a.nnz() / 4096).clamp(1, 1024), |i| (a.row_ptr()[i] + i) as u64)?;
    threads.for_each(
        groups.len(),
        || Ok(()),
        |(), g| {
            let (mut sum, mut most) = ([0u64; 2], [0u64; 2]);
            for i in groups[g].clone() {
                let mut row = [0u64; 2];
                for k in a.row(i) {
                    let k = k.get();
                    row[0] += (plain[k + 1] - plain[k]) as u64;
                    row[1] += (words[k + 1] - words[k]) as u64;
                }
                for p in 0..2 {
                    sum[p] += row[p];
                    most[p] = most[p].max(row[p]);
                }
            }
            fm.fetch_add(sum[0], Ordering::Relaxed);
            max_row_flops.fetch_max(most[0], Ordering::Relaxed);
            compressed_fm.fetch_add(sum[1], Ordering::Relaxed);
            compressed_max_row.fetch_max(most[1], Ordering::Relaxed);
            Ok(())
        },
    )?;
    let [fm, max_row_flops, compressed_fm, compressed_max_row] = sums.map(AtomicU64::into_inner);
    let k = b.ncols() as u64;
    let part = |x: u64, of: u64| if of == 0 { 1.0 } else { x as f64 / of as f64 };
    Ok(Compression {
        fm,
        max_row_flops,
        compressed_fm,
        compressed_max_row,
        cf: part(compressed_fm, fm),
        cmrf: part(compressed_max_row.min(k.div_ceil(32)), max_row_flops.min(k)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 3 of the paper: fm, maxrf, CF and CMRF of the squares.
    #[test]
    fn figures_of_the_paper_come_out() {
        for (name, fm, max_row_flops, cf, cmrf) in
            [("ca-HepPh", 30_793_000, 93_923, "0.73", "0.03"), ("cnr-2000", 96_065_788, 34_537, "0.18", "0.19")]
        {
            let path = format!("{}/data/{name}.mtx.gz", env!("CARGO_MANIFEST_DIR"));
            let a = crate::io::read_matrix_market(path).unwrap().csr::<f64>().unwrap();
            let s = compression(&Threads::new(2).unwrap(), a.pattern(), a.pattern()).unwrap();
            assert_eq!((s.fm, s.max_row_flops), (fm, max_row_flops), "{name}");
            assert_eq!((format!("{:.2}", s.cf), format!("{:.2}", s.cmrf)), (cf.into(), cmrf.into()), "{name}: {s:?}");
        }
    }

    #[test]
    fn a_small_case_by_hand() {
        let threads = Threads::new(1).unwrap();
        // B has rows of 3, 2 and 0 columns in 1, 2 and 0 words.
        let b = Pattern::<u32>::new(3, 40, vec![0, 3, 5, 5], vec![0, 1, 31, 5, 39]).unwrap();
        let a = Pattern::<u32>::new(2, 3, vec![0, 3, 4], vec![0, 1, 2, 1]).unwrap();
        let s = compression(&threads, &a, &b).unwrap();
        assert_eq!((s.fm, s.max_row_flops, s.compressed_fm, s.compressed_max_row), (7, 5, 5, 3));
        assert_eq!((s.cf, s.cmrf), (5.0 / 7.0, 2.0 / 5.0));
        let none = Pattern::<u32>::empty(40, 7).unwrap();
        let s = compression(&threads, &b, &none).unwrap();
        assert_eq!((s.fm, s.cf, s.cmrf), (0, 1.0, 1.0));
        assert!(matches!(compression(&threads, &a, &a), Err(Error::Shape { op: "mxm", .. })));
    }
}

//! Selection rules of our own policy: pure functions, and the reasons that `explain` reports.

use std::fmt;

use super::Compress;
use crate::simd::SHORT;

/// Compression is used if at most this fraction of the multiplications remains, with 64 columns to a word.
///
/// Measured with plans on one thread, compressed against not (ms): wins on rmat14 (CF 0.35: 100, 143), email-Enron
/// (0.27: 57, 80), wiki-Vote (0.43: 5.7, 6.5) and ca-HepPh (0.58: 23.6, 25.2); loses on cond-mat-2005 (0.64: 35.3,
/// 29.6) and er18d8 (1.0).
const CUTOFF: f64 = 0.6;

/// Whether to count B's words at all.
///
/// Rows with fewer multiplications than `SHORT` are mostly sorted in registers, which beats reading words (web18, 110 a
/// row and CF 0.37: 79 ms against 94). Counting also does not pay where A reads a small part of B, because it scans all
/// of B (4 rows of some hundred entries each times a road network: 0.5 ms of 0.6).
pub(super) fn worth_counting(forced: Compress, mean_row_flops: f64, flops: u64, entries_of_b: usize) -> bool {
    match forced {
        Compress::On => true,
        Compress::Off => false,
        Compress::Auto => mean_row_flops >= SHORT as f64 && flops >= entries_of_b as u64,
    }
}

/// Whether compressed B is used; `cf` is the fraction of the multiplications that remains.
pub(super) fn compression_pays(cf: f64) -> bool {
    cf <= CUTOFF
}

/// Mean flops per row, and flops per entry of C, above which two passes win (unsorted output).
///
/// Sparse accumulator against two passes, one thread (ms): road network 3.6, 5.3; p2p-Gnutella31 3.2, 5.2; web18 130,
/// 220; cond-mat-2005 26, 50; memplus 17, 21; cnr-2000 179, 216; email-Enron (1400 a row) 114, 137. The accumulator
/// loses on bcsstk16 (3900 a row, 24 a column) 18.7, 12.9; rmat14 (7100 a row) 315, 269; and stencil27_60 (5.5 a
/// column) 192, 188.
const UNSORTED_ROW_FLOPS: f64 = 3000.0;
const MOST_COMPRESSION: f64 = 5.0;

/// The same for sorted output, and the least compression ratio: below it the accumulator saves too little sorting.
///
/// Two passes against one, two threads (ms): A·P of smoothed aggregation (21 products a row, 3.3 a column) 80, 60;
/// delaunay_n16 (38, 1.8) 8.0, 7.2; bayer10 (49, 1.6) 1.9, 1.7. One pass loses on er18d8 (64, 1.0) 95, 97 to 121; web18
/// (110, 1.3) 101, 102; and memplus (540, 1.9) 10, 16.
const SORTED_ROW_FLOPS: f64 = 64.0;
const LEAST_COMPRESSION: f64 = 1.5;

/// Whether rows are short enough for a sparse accumulator, in a product for one use. Skipped on structured grids, where
/// each row is the previous one shifted: their columns cost nothing to find (lap2d_1000: 78 ms, 71 in two passes).
pub(super) fn short_rows(mean_row_flops: f64, in_order: bool) -> bool {
    mean_row_flops < if in_order { SORTED_ROW_FLOPS } else { UNSORTED_ROW_FLOPS }
}

/// Whether the compression ratio is below the cutoff.
pub(super) fn compresses_little(ratio: f64, in_order: bool) -> bool {
    ratio < MOST_COMPRESSION && (!in_order || ratio >= LEAST_COMPRESSION)
}

/// Whether rows are sorted together with their products in one register, given the mean flops per row and the fraction
/// of rows of at most sixteen products. Longer rows are slower this way, so they must be rare. (Road network, 4 a row,
/// two threads: 3.9 ms in two passes, 2.5 here. Fractions other than 0.9 were not tried.)
pub(super) fn sorts_in_register(mean_row_flops: f64, short: impl FnOnce() -> f64) -> bool {
    mean_row_flops <= 16.0 && short() >= 0.9
}

/// Whether rows are so short that one pass wins only with a register sort (or compare), be it in order or under a mask.
/// Without one, two phases are faster.
///
/// One pass against two phases, one thread, an EPYC restricted to AVX2 (ms): luxembourg_osm (4.5 a row) A·A in order
/// 11.4, 6.9, masked 5.3, 3.1. One pass wins on p2p-Gnutella31 (9) in order 6.9, 10.6; wing (15) masked 5.5, 7.2;
/// bcspwr10 masked 0.61, 0.98.
pub(super) fn needs_register(mean_row_flops: f64) -> bool {
    mean_row_flops < 6.0
}

/// Whether the few columns of a mask row are compared with the columns of all products, instead of being entered in a
/// table. Pays where the table exceeds the first-level cache and rows of B are long enough to fill registers.
///
/// Masked A·A by table and by comparison, two threads, on a Xeon and on an EPYC with AVX-512 (ms): er18d8 (2¹⁸ columns,
/// 8 in a row) 48, 32 and 56, 30; web18 57, 52 and 49, 44; cond-mat-2005 11.3, 11.1 and 12.9, 11.1. Comparison loses on
/// luxembourg_osm (2 in a row) 2.7, 3.3 on the Xeon; lap2d_1000 (5) 55, 62; memplus (18 thousand columns) 5.1, 5.6.
pub(super) fn compares((nrows, ncols): (usize, usize), nnz: usize) -> bool {
    ncols > 1 << 15 && nnz >= 6 * nrows
}

/// The one-pass algorithm chosen for a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnePass {
    /// The products allowed by the mask are listed, then computed.
    Masked,
    /// Each entry of C is one product: a factor is diagonal, or no row of A has two entries.
    OneProduct,
    /// Rows of at most sixteen products are sorted with their products in a register.
    ShortRows,
    /// Products are summed in a sparse accumulator, whose columns are sorted afterwards or left unsorted.
    Accumulator { in_order: bool },
    /// A tiny product, computed without any analysis.
    Small,
}

impl fmt::Display for OnePass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Masked => "auto: one pass; the products allowed by the mask are listed, then computed",
            Self::OneProduct => "auto: one pass; each entry of C is one product",
            Self::ShortRows => "auto: one pass; rows of at most 16 products are sorted in registers",
            Self::Accumulator { in_order: true } => "auto: one pass by a sparse accumulator; rows sorted at the end",
            Self::Accumulator { in_order: false } => "auto: one pass by a sparse accumulator; rows unsorted",
            Self::Small => "auto: one pass; too few products to be worth an analysis",
        })
    }
}

/// The choices for a product in two phases.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub mean_row_flops: f64,
    /// Fraction of the multiplications that remains with 64 columns to a word, if counted.
    pub cf: Option<f64>,
    pub packed: bool,
    /// Most rows equal the previous row, shifted by some columns.
    pub repeats: bool,
    pub masked: bool,
    /// The mask is complemented, so most products count.
    pub complement: bool,
    /// Rows may be unsorted.
    pub unsorted: bool,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.masked {
            write!(f, "auto: columns from the mask, values by position")?;
        } else {
            write!(f, "auto: columns by bitmap, sorted in registers up to {SHORT}; values by window or position")?;
        }
        match (self.packed, self.cf) {
            (true, Some(cf)) => write!(f, "; B compressed (64 columns to a word, CF {cf:.2})"),
            _ if self.repeats => write!(f, "; B uncompressed (most rows are the previous row, shifted)"),
            (_, Some(cf)) => write!(f, "; B uncompressed (64 columns to a word, CF {cf:.2} > {CUTOFF})"),
            _ => write!(f, "; B uncompressed (mean row {:.0} multiplications)", self.mean_row_flops),
        }?;
        if self.unsorted { write!(f, "; rows sorted, though unsorted rows were allowed") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule() {
        assert!(worth_counting(Compress::On, 1.0, 1, 9) && !worth_counting(Compress::Off, 1e9, 9, 1));
        assert!(!worth_counting(Compress::Auto, 127.0, 9, 9) && worth_counting(Compress::Auto, 128.0, 9, 9));
        assert!(!worth_counting(Compress::Auto, 128.0, 8, 9));
        assert!(needs_register(5.9) && !needs_register(6.0));
        assert!(compression_pays(0.6) && !compression_pays(0.61));
        assert!(compares((9, 1 << 16), 54) && !compares((9, 1 << 16), 53) && !compares((9, 1 << 15), 54));
        assert!(sorts_in_register(16.0, || 0.9) && !sorts_in_register(3.0, || 0.89));
        assert!(!sorts_in_register(16.5, || unreachable!("long rows must not be sampled")));
        assert!(
            short_rows(2999.0, false)
                && !short_rows(3000.0, false)
                && compresses_little(1.0, false)
                && !compresses_little(5.0, false)
        );
        assert!(
            short_rows(63.0, true)
                && !short_rows(64.0, true)
                && compresses_little(1.5, true)
                && !compresses_little(1.4, true)
                && !compresses_little(5.0, true)
        );
        let choice = Choice {
            mean_row_flops: 300.0,
            cf: Some(0.25),
            packed: true,
            repeats: false,
            masked: false,
            complement: false,
            unsorted: true,
        };
        assert!(choice.to_string().ends_with("CF 0.25); rows sorted, though unsorted rows were allowed"), "{choice}");
        let choice = Choice { cf: None, packed: false, repeats: true, unsorted: false, ..choice };
        assert!(choice.to_string().ends_with("(most rows are the previous row, shifted)"), "{choice}");
    }
}

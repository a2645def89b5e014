//! Inner loops of the products, behind safe functions.
//!
//! Each function checks once the conditions that its loop relies on. Vector instructions are chosen at run time, in
//! [`isa`] alone, by the processor's features; the scalar version is the reference for tests.

mod accumulator;
mod common;
mod emit;
mod forward;
mod intersect;
mod isa;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod listed;
mod masked_products;
mod rows;
mod scatter;
mod shifted;
mod sort;
mod spmm;
mod spmv;
mod tiles;
mod transpose_block;
mod union;
mod wedges;

pub(crate) use crate::par::{prefetch, prefetch_at};
pub(crate) use accumulator::SparseAccumulator;
pub(crate) use common::{COMMON_SLACK, RowCommon};
pub(crate) use emit::{SLACK, emit_columns, emit_flagged, emit_sets, take_count, take_count_flagged};
pub(crate) use forward::{Oriented, Span, count_forward, mirrored};
pub(crate) use intersect::{count_intersections, labels_below, load_packed, packed_row, push_packed, set_bits};
pub use isa::Isa;
pub(crate) use isa::register;
#[cfg(target_arch = "x86_64")]
use isa::{has_v3, has_v4, has_vbmi2, has_vpopcntdq};
pub(crate) use listed::EntriesWithin;
pub(crate) use masked_products::{MASKED_AT_ONCE, MaskedProducts, NONE};
pub(crate) use rows::{RowsOf, within};
pub(crate) use scatter::{
    count_new, or_bits, or_bits_flagged, or_words, or_words_flagged, scatter, scatter_at, scatter_lane,
    scatter_positions,
};
pub(crate) use shifted::Shift;
pub(crate) use sort::{LANES, SHORT, ShortList, Sixteen, SortedColumns};
pub(crate) use spmm::{SpmmFloat, SpmmPart, has_spmm, spmm_part};
pub(crate) use spmv::FloatRows;
pub(crate) use tiles::{CacheLines, Matrices, Tiles};
pub(crate) use transpose_block::transpose_block;
pub(crate) use union::{RowUnion, parts};
pub(crate) use wedges::close_wedges;

/// The positions of the bits set in a byte, in order, padded with zeros.
#[cfg(target_arch = "x86_64")]
static SET_BITS: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut n, mut bit) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                places[byte][n] = bit as u8;
                n += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    places
};

/// Whether the processor has vector population counts.
pub(crate) fn counts_bits() -> bool {
    #[cfg(target_arch = "x86_64")]
    return has_vpopcntdq();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// A computation for [`dispatch_work`].
pub(crate) trait Work {
    /// Its result.
    type Out;
    /// Runs the computation. Must be `#[inline(always)]`, and so must everything that its inner loops call: functions
    /// that are not inlined are compiled for the baseline. (A closure passed to [`dispatch`] is inlined only if the
    /// compiler considers it small.)
    fn run(self) -> Self::Out;
    /// The same, compiled for registers of `BYTES` bytes: for loops of that width.
    #[inline(always)]
    fn run_in<const BYTES: usize>(self) -> Self::Out
    where
        Self: Sized,
    {
        self.run()
    }
}

/// `work`, compiled for x86-64-v4 (AVX-512).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
fn v4<W: Work>(work: W) -> W::Out {
    work.run_in::<64>()
}

/// Like [`dispatch`], for a computation too large to be inlined by default.
#[inline(always)]
pub(crate) fn dispatch_work<W: Work>(work: W) -> W::Out {
    dispatch_wide(work).unwrap_or_else(|work| work.run())
}

/// Like [`dispatch_work`], except that the work is returned if x86-64 runs with the baseline of the build
/// ([`Isa::Scalar`]).
#[inline(always)]
pub(crate) fn dispatch_wide<W: Work>(work: W) -> Result<W::Out, W> {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
        fn v3<W: Work>(work: W) -> W::Out {
            work.run_in::<32>()
        }
        if has_v4() {
            // SAFETY: `has_v4` checked for every feature that `v4` enables.
            return Ok(unsafe { v4(work) });
        }
        if has_v3() {
            // SAFETY: `has_v3` checked for every feature that `v3` enables.
            return Ok(unsafe { v3(work) });
        }
        Err(work)
    }
    #[cfg(not(target_arch = "x86_64"))]
    Ok(work.run())
}

/// Runs `f` compiled for the instruction set of this process ([`Isa::running`]): x86-64-v4 (AVX-512), v3 (AVX2), or the
/// baseline of the build. Rust never fuses a multiplication with an addition on its own, so results are bitwise the
/// same.
#[inline(always)]
pub(crate) fn dispatch<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
        fn v4<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
        fn v3<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        if has_v4() {
            // SAFETY: `has_v4` checked for every feature that `v4` enables.
            return unsafe { v4(f) };
        }
        if has_v3() {
            // SAFETY: `has_v3` checked for every feature that `v3` enables.
            return unsafe { v3(f) };
        }
    }
    f()
}

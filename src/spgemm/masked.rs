//! The pattern of a masked product: only what the mask lets through is ever collected.
//!
//! A row of the mask marks its columns; the rows of B then turn marks into hits. Nothing outside the mask is
//! stored, and the numeric phase multiplies only where C has an entry.
//! Source: Milaković et al. 2022 (mask as accumulator); Wolf et al. 2017 (masked products for triangles).

use super::columns::{ColumnFinder, Operands};
use super::product::collect;
use super::tasks::Work;
use crate::par::{Threads, filled};
use crate::simd::RowsOf;
use crate::{Index, Pattern, Result};

const IN_MASK: u8 = 1;
const HIT: u8 = 2;

/// The pattern of C⟨M⟩ = A·B, or of C⟨¬M⟩ if `complement`. The mask's rows are sorted.
///
/// Cost: O(flops + nnz(M)); a row that the mask leaves nothing of costs nothing.
pub(super) fn structure<I: Index>(
    threads: &Threads,
    of: Operands<'_, I>,
    mask: &Pattern<I>,
    complement: bool,
    work: &Work,
) -> Result<Pattern<I>> {
    let state = || -> Result<(Vec<u8>, ColumnFinder<I>)> {
        let finder = ColumnFinder::new(of, if complement { work.max_row_flops } else { 0 })?;
        Ok((filled(of.b.ncols(), 0, "marks of a mask")?, finder))
    };
    collect(threads, of, work, state, |(marks, finder), i, part, out| {
        let masked = mask.row(i);
        if complement {
            let n = finder.find(of, i, part);
            set(marks, masked, IN_MASK);
            out.extend(finder.cols[..n].iter().filter(|j| marks[j.get()] == 0));
        } else if !masked.is_empty() {
            set(marks, masked, IN_MASK);
            let b = RowsOf::without_values(of.b);
            for k in of.a.row(i) {
                for j in b.row(k.get()).0 {
                    let mark = &mut marks[j.get()];
                    *mark |= (*mark & IN_MASK) << 1;
                }
            }
            let inside = |j: &&I| part.is_none_or(|p| p.contains(&j.get()));
            out.extend(masked.iter().filter(inside).filter(|j| marks[j.get()] & HIT != 0));
        }
        set(marks, masked, 0);
    })
}

fn set<I: Index>(marks: &mut [u8], cols: &[I], mark: u8) {
    for j in cols {
        marks[j.get()] = mark;
    }
}

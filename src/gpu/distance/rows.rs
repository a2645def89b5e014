//! Rows made ready on the device: see `cuda/distance_check.cu` and `cuda/distance_rows.cu`.

use std::sync::Arc;

use super::way::{Keeps, Pass};
use crate::algebra::{Cast, Real, ValueNe};
use crate::distance::{Domain, Side};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Shape, args};
use crate::gpu::memory::Buffer;
use crate::gpu::{Cuda, DeviceCsr};
use crate::{Error, Result};

const CHECK: Source = source!("distance_check.cu");
const ROWS: Source = source!("distance_rows.cu");
const RANKS: Source = source!("distance_ranks.cu");
/// Magnitudes that are kept of a row.
const HEAD: usize = 32;
/// Entries of a row that one warp still takes.
const LONG: u64 = 1024;

/// Rows without stored zeros, columns increasing.
#[derive(Clone)]
pub(super) struct Clean<T> {
    pub(super) matrix: DeviceCsr<T>,
    /// Most entries in a row.
    pub(super) longest: u64,
}

/// Rows that are prepared for a pass.
pub(super) struct Rows<W> {
    pub(super) matrix: DeviceCsr<W>,
    pub(super) beside: Beside<W>,
}

/// What is kept beside the entries.
pub(super) enum Beside<W> {
    Norms(Buffer<W>, Buffer<W>),
    Ranks { of_entries: Buffer<u8>, heads: Buffer<W> },
}

impl<W: Real> Rows<W> {
    pub(super) fn nrows(&self) -> usize {
        self.matrix.pattern.nrows
    }
    pub(super) fn offset(&self) -> &'static str {
        self.matrix.pattern.row_ptr.cuda()
    }
    /// What a kernel is given of them.
    pub(super) fn args(&self) -> [Arg; 5] {
        let p = &*self.matrix.pattern;
        let (beside, of_row): (Arg, Arg) = match &self.beside {
            Beside::Norms(first, second) => (first.into(), second.into()),
            Beside::Ranks { of_entries, heads } => (of_entries.into(), heads.into()),
        };
        [(&p.row_ptr).into(), (&p.col_idx).into(), (&*self.matrix.values).into(), beside, of_row]
    }
}

fn check_prefix<T: Real>(offset: &str, domain: Domain) -> String {
    let non_negative = u8::from(domain == Domain::NonNegative);
    format!("typedef {} T;\ntypedef {offset} Offset;\n#define NON_NEGATIVE {non_negative}\n", T::CUDA)
}

fn ranks_prefix<W: Real>(offset: &str) -> String {
    format!("typedef {} W;\ntypedef {offset} Offset;\n#define K_IN_REGISTERS 1\n", W::CUDA)
}

fn rows_prefix<T: Real>(recipe: &str, offset: &str, side: Side) -> String {
    let side = match side {
        Side::X => "_x",
        Side::Y => "_y",
    };
    format!("{recipe}typedef {} T;\ntypedef {offset} Offset;\n#define SIDE {side}\n", T::CUDA)
}

impl Cuda {
    /// `a` with its rows sorted and without stored zeros, checked against `domain` unless `unchecked`. Its first row has
    /// the number `first`.
    /// # Errors
    /// [`Error::Argument`] for an entry that the domain does not have.
    pub(super) fn clean_rows<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        first: usize,
        domain: Domain,
        unchecked: bool,
    ) -> Result<Clean<T>> {
        let matrix = self.sorted(a)?;
        let p = &*matrix.pattern;
        let found = self.put(&[u64::MAX, 0, 0], "what is known of the entries")?;
        let program = self.program(CHECK, &check_prefix::<T>(p.row_ptr.cuda(), domain))?;
        let blocks = p.nnz.max(p.nrows).div_ceil(256).min(16 * self.limits().multiprocessors as usize);
        program.kernel("check_entries")?.launch(
            Shape::blocks(blocks, 256, 0)?,
            args![&p.row_ptr, &*matrix.values, p.nrows as u64, p.nnz as u64, &found],
        )?;
        let found = self.get(&found, "what is known of the entries")?;
        let (bad, zeros, longest) = (found[0], found[1], found[2]);
        if !unchecked && bad != u64::MAX {
            return Err(self.refused(&matrix, first, domain, bad as usize)?);
        }
        if zeros == 0 {
            return Ok(Clean { matrix, longest });
        }
        Ok(Clean { matrix: self.select(ValueNe::<T>::new(), &matrix, T::ZERO)?, longest })
    }

    /// The error for entry `at` of `a`, whose first row has the number `first`.
    fn refused<T: Real>(&self, a: &DeviceCsr<T>, first: usize, domain: Domain, at: usize) -> Result<Error> {
        let p = &*a.pattern;
        // The last row that starts at or before the entry holds it.
        let (mut row, mut to) = (0, p.nrows - 1);
        while row < to {
            let middle = to - (to - row) / 2;
            if self.row_start(p, middle)? <= at { row = middle } else { to = middle - 1 }
        }
        let (column, value) = (self.get_at(&p.col_idx, at)?, self.get_at(&a.values, at)?);
        Ok(domain.refuses(value, first + row, column as usize))
    }

    /// What a pass makes of the rows of one side.
    pub(super) fn prepare_rows<T: Real, W: Real>(&self, pass: &Pass, side: Side, a: &Clean<T>) -> Result<Rows<W>> {
        if pass.keeps == Keeps::Ranks {
            return self.rank_rows(&a.matrix);
        }
        let p = &a.matrix.pattern;
        let entries = self.alloc::<W>(p.nnz, "prepared entries")?;
        let norms = [self.alloc::<W>(p.nrows, "norms of rows")?, self.alloc::<W>(p.nrows, "norms of rows")?];
        let program = self.program(ROWS, &rows_prefix::<T>(&pass.text, p.row_ptr.cuda(), side))?;
        let (nrows, ncols) = (p.nrows as u64, p.ncols as u64);
        let arguments = args![&p.row_ptr, &*a.matrix.values, nrows, ncols, &entries, &norms[0], &norms[1]];
        program.kernel("prepare_rows")?.launch(Shape::blocks(p.nrows.div_ceil(8), 256, 0)?, arguments)?;
        if a.longest > LONG {
            program.kernel("prepare_long_rows")?.launch(Shape::blocks(p.nrows, 256, 0)?, arguments)?;
        }
        let [first, second] = norms;
        let matrix = DeviceCsr { pattern: Arc::clone(p), values: entries };
        Ok(Rows { matrix, beside: Beside::Norms(first, second) })
    }

    /// Rows with the ranks of their entries.
    fn rank_rows<T: Real, W: Real>(&self, a: &DeviceCsr<T>) -> Result<Rows<W>> {
        let matrix = self.apply(Cast::<T, W>::new(), a)?;
        let p = &*matrix.pattern;
        let of_entries = self.alloc::<u8>(p.nnz, "ranks of entries")?;
        let heads = self.alloc::<W>(p.nrows.saturating_mul(HEAD), "the largest entries of rows")?;
        let program = self.program(RANKS, &ranks_prefix::<W>(p.row_ptr.cuda()))?;
        program.kernel("rank_entries")?.launch(
            Shape::blocks(p.nrows.div_ceil(8), 256, 0)?,
            args![&p.row_ptr, &*matrix.values, p.nrows as u64, &of_entries, &heads],
        )?;
        Ok(Rows { matrix, beside: Beside::Ranks { of_entries, heads } })
    }
}

/// The programs of this file, as they are used.
pub(super) fn programs() -> Vec<Unit> {
    use crate::distance::{Correlation, JensenShannon, emit_recipe};
    let (small, large) = ("unsigned int", "unsigned long long");
    let check = |prefix| Unit { source: CHECK, prefix, hot: &["check_entries"] };
    let rows = |prefix| Unit { source: ROWS, prefix, hot: &["prepare_rows", "prepare_long_rows"] };
    vec![
        check(check_prefix::<f32>(small, Domain::NonNegative)),
        check(check_prefix::<f64>(large, Domain::Reals)),
        rows(rows_prefix::<f32>(&emit_recipe(Correlation::<f64>::new()), small, Side::X)),
        rows(rows_prefix::<f64>(&emit_recipe(JensenShannon::<f64>::new(true)), large, Side::Y)),
        rows(rows_prefix::<f32>(&emit_recipe(Correlation::<f32>::new()), small, Side::Y)),
        Unit { source: RANKS, prefix: ranks_prefix::<f64>(small), hot: &["rank_entries"] },
        Unit { source: RANKS, prefix: ranks_prefix::<f32>(large), hot: &["rank_entries"] },
    ]
}

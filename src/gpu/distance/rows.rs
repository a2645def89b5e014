//! Preparation of rows on the device: see `cuda/distance_check.cu` and `cuda/distance_rows.cu`.

use std::sync::Arc;

use super::pass::{Keeps, Pass};
use crate::algebra::{Cast, Num, Printed, Slice, Type, ValueNe, printed_index_unary, printed_unary};
use crate::distance::{CENTRE_RATIO, Domain, Float, Invariance, Side, centred_rows};
use crate::gpu::Cuda;
use crate::gpu::buffer::{Buffer, RawBuffer};
use crate::gpu::csr::RawCsr;
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Shape, args};
use crate::{Csr, Error, Result};

const CHECK: Source = source!("distance_check.cu");
const ROWS: Source = source!("distance_rows.cu");
const RANKS: Source = source!("distance_ranks.cu");
/// Magnitudes stored per row.
const HEAD: usize = 32;
/// Longest row that a single warp handles.
const LONG: u64 = 1024;

/// Rows without stored zeros, with increasing columns.
#[derive(Clone)]
pub(super) struct Clean {
    pub(super) matrix: RawCsr,
    /// Length of the longest row.
    pub(super) longest: u64,
    /// The smallest nonzero magnitude, and the largest finite one.
    pub(super) magnitudes: [f64; 2],
}

/// Rows prepared for a pass.
pub(super) struct Rows {
    pub(super) matrix: RawCsr,
    pub(super) beside: Beside,
}

/// The data stored beside the entries.
pub(super) enum Beside {
    Norms(Arc<RawBuffer>, Arc<RawBuffer>),
    Ranks { of_entries: Arc<RawBuffer>, heads: Arc<RawBuffer> },
}

impl Rows {
    pub(super) fn nrows(&self) -> usize {
        self.matrix.pattern.nrows
    }
    pub(super) fn offset(&self) -> &'static str {
        self.matrix.pattern.row_ptr.cuda()
    }
    /// The kernel arguments for these rows.
    pub(super) fn args(&self) -> [Arg; 5] {
        let p = &*self.matrix.pattern;
        let (beside, of_row): (Arg, Arg) = match &self.beside {
            Beside::Norms(first, second) => (first.into(), second.into()),
            Beside::Ranks { of_entries, heads } => (of_entries.into(), heads.into()),
        };
        [(&p.row_ptr).into(), (&p.col_idx).into(), (&self.matrix.values).into(), beside, of_row]
    }
}

fn check_prefix(of: Type, offset: &str, domain: Domain) -> String {
    let non_negative = u8::from(domain == Domain::NonNegative);
    format!("typedef {} T;\ntypedef {offset} Offset;\n#define NON_NEGATIVE {non_negative}\n", of.cuda())
}

fn ranks_prefix(of: Type, offset: &str) -> String {
    format!("typedef {} W;\ntypedef {offset} Offset;\n#define K_IN_REGISTERS 1\n", of.cuda())
}

fn rows_prefix(recipe: &str, of: Type, offset: &str, side: Side) -> String {
    let side = match side {
        Side::X => "_x",
        Side::Y => "_y",
    };
    format!("{recipe}typedef {} T;\ntypedef {offset} Offset;\n#define SIDE {side}\n", of.cuda())
}

/// The conversion of entries of type `from` to type `to`.
fn cast(from: Type, to: Type) -> Arc<Printed> {
    match (from, to) {
        (Type::F32, Type::F32) => printed_unary(Cast::<f32, f32>::new()),
        (Type::F32, _) => printed_unary(Cast::<f32, f64>::new()),
        (_, Type::F32) => printed_unary(Cast::<f64, f32>::new()),
        (_, _) => printed_unary(Cast::<f64, f64>::new()),
    }
}

impl Cuda {
    /// Converts entries to another type.
    pub(super) fn cast_rows(&self, a: &RawCsr, to: Type) -> Result<RawCsr> {
        self.apply_raw(&cast(a.ty(), to), a)
    }

    /// `a` with its rows sorted and without stored zeros, checked against `domain` unless `unchecked`. `first` is the
    /// index of its first row in messages.
    /// # Errors
    /// [`Error::Argument`] for an entry outside the domain.
    pub(super) fn clean_rows(&self, a: &RawCsr, first: usize, domain: Domain, unchecked: bool) -> Result<Clean> {
        let matrix = self.sorted_raw(a)?;
        let p = &*matrix.pattern;
        let found = self.put(&[u64::MAX, 0, 0, 0, u64::MAX], "facts about the entries")?;
        let program = self.program(CHECK, &check_prefix(a.ty(), p.row_ptr.cuda(), domain))?;
        let blocks = p.nnz.max(p.nrows).div_ceil(256).min(16 * self.limits().multiprocessors as usize);
        program.kernel("check_entries")?.launch(
            Shape::blocks(blocks, 256, 0)?,
            args![&p.row_ptr, &matrix.values, p.nrows as u64, p.nnz as u64, &found],
        )?;
        let found = self.get(&found, "facts about the entries")?;
        let (bad, zeros, longest) = (found[0], found[1], found[2]);
        // Without nonzero entries, both are 1.
        let magnitudes = [found[4], found[3]].map(|bits| if found[3] == 0 { 1.0 } else { f64::from_bits(bits) });
        if !unchecked && bad != u64::MAX {
            return Err(self.refused(&matrix, first, domain, bad as usize)?);
        }
        if zeros == 0 {
            return Ok(Clean { matrix, longest, magnitudes });
        }
        let matrix = match a.ty() {
            Type::F32 => self.select_raw(&printed_index_unary(ValueNe::<f32>::new()), &matrix, Slice::of(&[0f32]))?,
            _ => self.select_raw(&printed_index_unary(ValueNe::<f64>::new()), &matrix, Slice::of(&[0f64]))?,
        };
        Ok(Clean { matrix, longest, magnitudes })
    }

    /// The error for entry `at` of `a`, whose first row has the index `first`.
    fn refused(&self, a: &RawCsr, first: usize, domain: Domain, at: usize) -> Result<Error> {
        let p = &*a.pattern;
        // The last row that starts at or before the entry contains it.
        let (mut row, mut to) = (0, p.nrows - 1);
        while row < to {
            let middle = to - (to - row) / 2;
            if self.row_start(p, middle)? <= at { row = middle } else { to = middle - 1 }
        }
        fn value<T: Num>(cuda: &Cuda, values: &Arc<RawBuffer>, at: usize) -> Result<T> {
            cuda.get_at(&Buffer::<T>::of(Arc::clone(values))?, at)
        }
        let (row, column) = (first + row, self.get_at(&p.col_idx, at)? as usize);
        Ok(match a.ty() {
            Type::F32 => domain.refuses(value::<f32>(self, &a.values, at)?, row, column),
            _ => domain.refuses(value::<f64>(self, &a.values, at)?, row, column),
        })
    }

    /// Prepares the rows of one side for a pass.
    pub(super) fn prepare_rows(&self, pass: &Pass, side: Side, a: &Clean) -> Result<Rows> {
        if pass.keeps == Keeps::Ranks {
            return self.rank_rows(&a.matrix, pass.of);
        }
        let rows = self.prepare_by_norms(pass, side, a)?;
        if pass.invariance != Invariance::RowsAndMeans || !self.any_far(pass, &rows)? {
            return Ok(rows);
        }
        let centred = match (a.matrix.ty(), pass.of) {
            (Type::F32, Type::F32) => self.centred::<f32, f32>(a)?,
            (Type::F32, _) => self.centred::<f32, f64>(a)?,
            (_, Type::F32) => self.centred::<f64, f32>(a)?,
            (_, _) => self.centred::<f64, f64>(a)?,
        };
        self.prepare_by_norms(pass, side, &centred)
    }

    /// Whether some row's mean is so large relative to its spread that the rows have to be centred. The first norm is
    /// their quotient. Rows that appear constant may be such rows.
    fn any_far(&self, pass: &Pass, rows: &Rows) -> Result<bool> {
        fn any<W: Float>(cuda: &Cuda, mean: &Arc<RawBuffer>, constant: &Arc<RawBuffer>) -> Result<bool> {
            let [mean, constant] = [mean, constant].map(|norm| Buffer::<W>::of(Arc::clone(norm)));
            let means = cuda.get(&mean?, "means of rows")?;
            let constants = cuda.get(&constant?, "constant rows")?;
            let far = |x: &W| x.as_f64() * x.as_f64() > CENTRE_RATIO;
            Ok(means.iter().any(far) || constants.iter().any(|x| *x != W::ZERO))
        }
        let Beside::Norms(mean, constant) = &rows.beside else { return Ok(false) };
        if pass.of == Type::F32 { any::<f32>(self, mean, constant) } else { any::<f64>(self, mean, constant) }
    }

    /// The rows, centred on the host, because few matrices need it.
    fn centred<T: Float, W: Float>(&self, a: &Clean) -> Result<Clean> {
        let rows: Csr<T> = self.download(&a.matrix.clone().typed::<T>()?)?;
        let rows: Csr<W> = centred_rows(&rows)?;
        let longest = (0..rows.nrows()).map(|i| rows.row(i).0.len() as u64).max().unwrap_or(0);
        Ok(Clean { matrix: self.upload(&rows)?.raw(), longest, magnitudes: a.magnitudes })
    }

    fn prepare_by_norms(&self, pass: &Pass, side: Side, a: &Clean) -> Result<Rows> {
        let p = &a.matrix.pattern;
        let entries = self.alloc_raw(pass.of, p.nnz, "prepared entries")?;
        let norms =
            [self.alloc_raw(pass.of, p.nrows, "norms of rows")?, self.alloc_raw(pass.of, p.nrows, "norms of rows")?];
        let program = self.program(ROWS, &rows_prefix(&pass.text, a.matrix.ty(), p.row_ptr.cuda(), side))?;
        let (nrows, ncols) = (p.nrows as u64, p.ncols as u64);
        let arguments = args![&p.row_ptr, &a.matrix.values, nrows, ncols, &entries, &norms[0], &norms[1]];
        program.kernel("prepare_rows")?.launch(Shape::blocks(p.nrows.div_ceil(8), 256, 0)?, arguments)?;
        if a.longest > LONG {
            program.kernel("prepare_long_rows")?.launch(Shape::blocks(p.nrows, 256, 0)?, arguments)?;
        }
        let [first, second] = norms;
        let matrix = RawCsr { pattern: Arc::clone(p), values: entries };
        Ok(Rows { matrix, beside: Beside::Norms(first, second) })
    }

    /// Rows with the ranks of their entries.
    fn rank_rows(&self, a: &RawCsr, of: Type) -> Result<Rows> {
        let matrix = self.cast_rows(a, of)?;
        let p = &*matrix.pattern;
        let of_entries = self.alloc_raw(Type::U8, p.nnz, "ranks of entries")?;
        let heads = self.alloc_raw(of, p.nrows.saturating_mul(HEAD), "the largest entries of rows")?;
        let program = self.program(RANKS, &ranks_prefix(of, p.row_ptr.cuda()))?;
        program.kernel("rank_entries")?.launch(
            Shape::blocks(p.nrows.div_ceil(8), 256, 0)?,
            args![&p.row_ptr, &matrix.values, p.nrows as u64, &of_entries, &heads],
        )?;
        Ok(Rows { matrix, beside: Beside::Ranks { of_entries, heads } })
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(super) fn programs() -> Vec<Unit> {
    use crate::distance::{Correlation, JensenShannon, emit_recipe};
    let (small, large) = ("unsigned int", "unsigned long long");
    let check = |prefix| Unit { source: CHECK, prefix, hot: &["check_entries"] };
    let rows = |prefix| Unit { source: ROWS, prefix, hot: &["prepare_rows", "prepare_long_rows"] };
    vec![
        check(check_prefix(Type::F32, small, Domain::NonNegative)),
        check(check_prefix(Type::F64, large, Domain::Reals)),
        rows(rows_prefix(&emit_recipe(Correlation::<f64>::new()), Type::F32, small, Side::X)),
        rows(rows_prefix(&emit_recipe(JensenShannon::<f64>::new(true)), Type::F64, large, Side::Y)),
        rows(rows_prefix(&emit_recipe(Correlation::<f32>::new()), Type::F32, small, Side::Y)),
        Unit { source: RANKS, prefix: ranks_prefix(Type::F64, small), hot: &["rank_entries"] },
        Unit { source: RANKS, prefix: ranks_prefix(Type::F32, large), hot: &["rank_entries"] },
    ]
}

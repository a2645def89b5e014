//! C = A ∘ B entry by entry, over the intersection or the union of two patterns: see `cuda/ewise.cu`.

use super::Cuda;
use super::buffer::{RawBuffer, same_type};
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::{DevicePattern, Offsets};
use super::rows::tiles;
use crate::algebra::Printed;
use crate::{Error, Result};

const SOURCE: Source = source!("ewise.cu");
const SMALL: &str = "unsigned int";

/// The pattern of the result.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Intersection,
    Union,
    /// The union, with fills for absent operands.
    Filled,
}

/// The intersection of the patterns of A and B.
struct Matches {
    /// For each entry of A, the position of its column in the same row of B, or where it would be inserted.
    positions: Offsets,
    /// For each entry of A, and for the end: the number of earlier entries of A that are also in B.
    before: Offsets,
    /// Entries of the intersection.
    both: usize,
}

/// The types of the offsets of A, B, `before` and C, and the pattern of the result.
fn settings(over: Over, [a, b, before, c]: [&'static str; 4]) -> Vec<Setting> {
    let offsets = [("OffsetA", a), ("OffsetB", b), ("OffsetBoth", before), ("OffsetC", c)];
    let mut settings: Vec<_> = offsets.map(|(name, of)| Setting::Type(name, of)).into();
    settings.extend(match over {
        Over::Intersection => &[][..],
        Over::Union => &[Setting::Switch("UNION")],
        Over::Filled => &[Setting::Switch("UNION"), Setting::Switch("FILLED")],
    });
    settings
}

/// The fills for absent operands of a union: for A, and for B.
pub(crate) type Fills<'a> = [&'a RawBuffer; 2];

impl Cuda {
    fn matches(&self, op: &Printed, over: Over, a: &DevicePattern, b: &DevicePattern) -> Result<Matches> {
        // This pass depends on the type of neither `before` nor C. It uses the program that most matrices go on with.
        let settings = settings(over, [a.row_ptr.cuda(), b.row_ptr.cuda(), SMALL, SMALL]);
        let program = self.program_of(SOURCE, Prefix::new(&op.text, &settings))?;
        let positions = self.alloc_offsets(b.row_ptr.is_large(), a.nnz, "positions in the other matrix")?;
        let found = self.alloc::<u32>(a.nnz, "entries that both matrices have")?;
        program.kernel("find_in_b")?.launch(
            tiles(a.nnz)?,
            args![&a.row_ptr, &a.col_idx, a.nnz as u64, a.nrows as u64, &b.row_ptr, &b.col_idx, &positions, &found],
        )?;
        let (before, both) = self.offsets(&found, "counts of entries that both matrices have")?;
        Ok(Matches { positions, before, both: both as usize })
    }

    /// C(i, j) = A(i, j) ∘ B(i, j) wherever both have an entry; rows sorted.
    ///
    /// Shapes: `a`, `b` and the result m×n. Cost: a binary search in a row of B for each entry of A, balanced for any
    /// distribution of row lengths, and about 12 bytes an entry of A beside the result; operands with unsorted rows are
    /// sorted first. Each value is computed once, so the result is bitwise the CPU's.
    pub(crate) fn ewise_mult_raw(&self, op: &Printed, a: &RawCsr, b: &RawCsr) -> Result<RawCsr> {
        same_shape("ewise_mult", a.shape(), b.shape())?;
        a.values.check("the left matrix", op.a)?;
        b.values.check("the right matrix", op.b)?;
        let (a, b) = (self.sorted_raw(a)?, self.sorted_raw(b)?);
        let (ap, bp) = (&*a.pattern, &*b.pattern);
        let Matches { positions, before, both } = self.matches(op, Over::Intersection, ap, bp)?;

        let row_ptr = self.alloc_offsets(before.is_large(), ap.nrows + 1, "row pointers of an intersection")?;
        let col_idx = self.alloc::<u32>(both, "columns of an intersection")?;
        let values = self.alloc_raw(op.out, both, "values of an intersection")?;
        let types = [ap.row_ptr.cuda(), bp.row_ptr.cuda(), before.cuda(), row_ptr.cuda()];
        let program = self.program_of(SOURCE, Prefix::new(&op.text, &settings(Over::Intersection, types)))?;
        program
            .kernel("intersection_rows")?
            .launch(Shape::for_each(ap.nrows + 1, 256)?, args![&ap.row_ptr, ap.nrows as u64, &before, &row_ptr])?;
        program.kernel("intersection_fill")?.launch(
            Shape::for_each(ap.nnz, 256)?,
            args![&ap.col_idx, &a.values, ap.nnz as u64, &b.values, &positions, &before, &col_idx, &values],
        )?;
        let (nrows, ncols) = (ap.nrows, ap.ncols);
        let pattern = DevicePattern::new((nrows, ncols), true, row_ptr, col_idx);
        Ok(RawCsr::new(pattern, values))
    }

    /// C(i, j) = A(i, j) ∘ B(i, j) where both have an entry, elsewhere the entry that exists, or with fills that entry
    /// ∘ a fill; rows sorted.
    ///
    /// Shapes: `a`, `b` and the result m×n. Cost: a binary search in a row of the other matrix for each entry, balanced
    /// for any distribution of row lengths, and about 12 bytes an entry of A beside the result; operands with unsorted
    /// rows are sorted first. Other fills do not recompile. The result is bitwise the CPU's.
    pub(crate) fn ewise_add_raw(
        &self,
        op: &Printed,
        fills: Option<Fills<'_>>,
        a: &RawCsr,
        b: &RawCsr,
    ) -> Result<RawCsr> {
        same_shape("ewise_add", a.shape(), b.shape())?;
        a.values.check("the left matrix", op.a)?;
        b.values.check("the right matrix", op.b)?;
        check_union(op, fills)?;
        let over = if fills.is_some() { Over::Filled } else { Over::Union };
        let (a, b) = (self.sorted_raw(a)?, self.sorted_raw(b)?);
        let (ap, bp) = (&*a.pattern, &*b.pattern);
        let Matches { positions, before, both } = self.matches(op, over, ap, bp)?;

        let nnz = ap.nnz + bp.nnz - both;
        let row_ptr = self.alloc_offsets(u32::try_from(nnz).is_err(), ap.nrows + 1, "row pointers of a union")?;
        let col_idx = self.alloc::<u32>(nnz, "columns of a union")?;
        let values = self.alloc_raw(op.out, nnz, "values of a union")?;
        let types = [ap.row_ptr.cuda(), bp.row_ptr.cuda(), before.cuda(), row_ptr.cuda()];
        let program = self.program_of(SOURCE, Prefix::new(&op.text, &settings(over, types)))?;
        let [a_fill, b_fill] = fills.map_or([None; 2], |fills| fills.map(Some));
        program.kernel("union_rows")?.launch(
            Shape::for_each(ap.nrows + 1, 256)?,
            args![&ap.row_ptr, &bp.row_ptr, ap.nrows as u64, &before, &row_ptr],
        )?;
        program.kernel("union_from_a")?.launch(
            Shape::for_each(ap.nnz, 256)?,
            args![&ap.col_idx, &a.values, ap.nnz as u64, &b.values, b_fill, &positions, &before, &col_idx, &values],
        )?;
        program.kernel("union_from_b")?.launch(
            tiles(bp.nnz)?,
            args![
                &bp.row_ptr,
                &bp.col_idx,
                &b.values,
                bp.nnz as u64,
                bp.nrows as u64,
                &ap.row_ptr,
                &ap.col_idx,
                a_fill,
                &before,
                &col_idx,
                &values
            ],
        )?;
        let (nrows, ncols) = (ap.nrows, ap.ncols);
        let pattern = DevicePattern::new((nrows, ncols), true, row_ptr, col_idx);
        Ok(RawCsr::new(pattern, values))
    }
}

/// An error for types that do not fit a union: without fills, results include unmodified entries of both operands.
pub(super) fn check_union(op: &Printed, fills: Option<Fills<'_>>) -> Result<()> {
    let Some([a, b]) = fills else {
        same_type("the left operand of a union", op.a, op.out)?;
        return same_type("the right operand of a union", op.b, op.out);
    };
    a.check("the fill for the left operand", op.a)?;
    b.check("the fill for the right operand", op.b)
}

fn same_shape(op: &'static str, lhs: (usize, usize), rhs: (usize, usize)) -> Result<()> {
    if lhs == rhs { Ok(()) } else { Err(Error::Shape { op, lhs, rhs }) }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::{Less, Min, Plus, printed_binary};
    let large = "unsigned long long";
    let unit = |op: &Printed, over, types| Unit {
        source: SOURCE,
        prefix: Prefix::new(&op.text, &settings(over, types)).text(),
        hot: match over {
            Over::Union | Over::Filled => &["find_in_b", "union_from_a", "union_from_b"],
            Over::Intersection => &["find_in_b", "intersection_fill"],
        },
    };
    let less = printed_binary(Less::<f32>::new());
    vec![
        unit(&printed_binary(Plus::<f64>::new()), Over::Union, [SMALL; 4]),
        unit(&printed_binary(Min::<i8>::new()), Over::Union, [SMALL, large, SMALL, large]),
        unit(&less, Over::Filled, [SMALL; 4]),
        unit(&less, Over::Intersection, [SMALL; 4]),
        unit(&less, Over::Intersection, [large, SMALL, SMALL, SMALL]),
    ]
}

//! C = A ∘ B entry by entry, over the intersection or the union of two patterns: see `cuda/ewise.cu`.

use std::sync::Arc;

use super::csr::Offsets;
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::rows::tiles;
use super::{Cuda, DeviceCsr, DevicePattern};
use crate::algebra::{BinaryOp, Value, emit_binary_op};
use crate::{Error, Result};

const SOURCE: Source = source!("ewise.cu");
const SMALL: &str = "unsigned int";

/// Which places the result has.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Intersection,
    Union,
}

/// Where entries of A meet those of B.
struct Matches {
    /// For each entry of A: where its column stands, or would stand, in the same row of B.
    places: Offsets,
    /// For each entry of A and for its end: entries of A before it that B has as well.
    before: Offsets,
    /// Entries that both have.
    both: usize,
}

/// The text in front: the operator, the types of the offsets of A, B, `before` and C.
fn prefix(op: &str, over: Over, [a, b, before, c]: [&str; 4]) -> String {
    let union = if over == Over::Union { "#define UNION\n" } else { "" };
    format!(
        "{op}{union}typedef {a} OffsetA;\ntypedef {b} OffsetB;\ntypedef {before} OffsetBoth;\ntypedef {c} OffsetC;\n"
    )
}

impl Cuda {
    fn matches(&self, op: &str, over: Over, a: &DevicePattern, b: &DevicePattern) -> Result<Matches> {
        // This pass knows neither `before` nor C. It takes the program that most matrices go on with.
        let program = self.program(SOURCE, &prefix(op, over, [a.row_ptr.cuda(), b.row_ptr.cuda(), SMALL, SMALL]))?;
        let places = self.alloc_offsets(b.row_ptr.is_large(), a.nnz, "places in the other matrix")?;
        let found = self.alloc::<u32>(a.nnz, "entries that both matrices have")?;
        program.kernel("find_in_b")?.launch(
            tiles(a.nnz)?,
            args![&a.row_ptr, &a.col_idx, a.nnz as u64, a.nrows as u64, &b.row_ptr, &b.col_idx, &places, &found],
        )?;
        let (before, both) = self.offsets(&found, "counts of entries that both matrices have")?;
        Ok(Matches { places, before, both: both as usize })
    }

    /// C(i, j) = A(i, j) ∘ B(i, j) wherever both have an entry; rows sorted.
    ///
    /// Shapes: `a`, `b` and the result m×n. Cost: a binary search in a row of B for each entry of A, however the entries
    /// spread over rows, and about 12 bytes an entry of A beside the result; operands with unsorted rows are sorted first.
    /// Each value is computed once: the bits of the CPU.
    /// # Errors
    /// [`Error::Shape`]; [`Error::DeviceMemory`], [`Error::Compile`], [`Error::Device`].
    /// # Example
    /// ```no_run
    /// use sparring::{Csr, Cuda, algebra::Times};
    /// let cuda = Cuda::new(0)?;
    /// let a = cuda.upload(&Csr::<f64>::new(1, 3, vec![0, 2], vec![0, 1], vec![2.0, 3.0])?)?;
    /// let b = cuda.upload(&Csr::<f64>::new(1, 3, vec![0, 2], vec![1, 2], vec![5.0, 7.0])?)?;
    /// let c: Csr<f64> = cuda.download(&cuda.ewise_intersection(Times::<f64>::new(), &a, &b)?)?;
    /// assert_eq!(c.row(0), (&[1][..], &[15.0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn ewise_intersection<O: BinaryOp>(
        &self,
        op: O,
        a: &DeviceCsr<O::A>,
        b: &DeviceCsr<O::B>,
    ) -> Result<DeviceCsr<O::Out>> {
        same_shape("ewise_intersection", a.shape(), b.shape())?;
        let (a, b) = (self.sorted(a)?, self.sorted(b)?);
        let (ap, bp) = (&*a.pattern, &*b.pattern);
        let op = emit_binary_op(op);
        let Matches { places, before, both } = self.matches(&op, Over::Intersection, ap, bp)?;

        let row_ptr = self.alloc_offsets(before.is_large(), ap.nrows + 1, "row pointers of an intersection")?;
        let col_idx = self.alloc::<u32>(both, "columns of an intersection")?;
        let values = self.alloc::<O::Out>(both, "values of an intersection")?;
        let types = [ap.row_ptr.cuda(), bp.row_ptr.cuda(), before.cuda(), row_ptr.cuda()];
        let program = self.program(SOURCE, &prefix(&op, Over::Intersection, types))?;
        program
            .kernel("intersection_rows")?
            .launch(Shape::for_each(ap.nrows + 1, 256)?, args![&ap.row_ptr, ap.nrows as u64, &before, &row_ptr])?;
        program.kernel("intersection_fill")?.launch(
            Shape::for_each(ap.nnz, 256)?,
            args![&ap.col_idx, &*a.values, ap.nnz as u64, &*b.values, &places, &before, &col_idx, &values],
        )?;
        let (nrows, ncols) = (ap.nrows, ap.ncols);
        let pattern = DevicePattern::new((nrows, ncols), true, row_ptr, col_idx);
        Ok(DeviceCsr { pattern: Arc::new(pattern), values: Arc::new(values) })
    }

    /// C(i, j) = A(i, j) ∘ B(i, j) where both have an entry, and the entry of the one that has it elsewhere; rows sorted.
    ///
    /// Shapes: `a`, `b` and the result m×n. Cost: a binary search in a row of the other matrix for each entry, however
    /// the entries spread over rows, and about 12 bytes an entry of A beside the result; operands with unsorted rows are
    /// sorted first. The bits of the CPU.
    /// # Errors
    /// [`Error::Shape`]; [`Error::DeviceMemory`], [`Error::Compile`], [`Error::Device`].
    /// # Example
    /// ```no_run
    /// use sparring::{Csr, Cuda, algebra::Minus};
    /// let cuda = Cuda::new(0)?;
    /// let a = cuda.upload(&Csr::<f64>::new(1, 3, vec![0, 2], vec![0, 1], vec![2.0, 3.0])?)?;
    /// let b = cuda.upload(&Csr::<f64>::new(1, 3, vec![0, 2], vec![1, 2], vec![5.0, 7.0])?)?;
    /// let c: Csr<f64> = cuda.download(&cuda.ewise_union(Minus::<f64>::new(), &a, &b)?)?;
    /// assert_eq!(c.row(0), (&[0, 1, 2][..], &[2.0, -2.0, 7.0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn ewise_union<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(
        &self,
        op: O,
        a: &DeviceCsr<T>,
        b: &DeviceCsr<T>,
    ) -> Result<DeviceCsr<T>> {
        same_shape("ewise_union", a.shape(), b.shape())?;
        let (a, b) = (self.sorted(a)?, self.sorted(b)?);
        let (ap, bp) = (&*a.pattern, &*b.pattern);
        let op = emit_binary_op(op);
        let Matches { places, before, both } = self.matches(&op, Over::Union, ap, bp)?;

        let nnz = ap.nnz + bp.nnz - both;
        let row_ptr = self.alloc_offsets(u32::try_from(nnz).is_err(), ap.nrows + 1, "row pointers of a union")?;
        let col_idx = self.alloc::<u32>(nnz, "columns of a union")?;
        let values = self.alloc::<T>(nnz, "values of a union")?;
        let types = [ap.row_ptr.cuda(), bp.row_ptr.cuda(), before.cuda(), row_ptr.cuda()];
        let program = self.program(SOURCE, &prefix(&op, Over::Union, types))?;
        program.kernel("union_rows")?.launch(
            Shape::for_each(ap.nrows + 1, 256)?,
            args![&ap.row_ptr, &bp.row_ptr, ap.nrows as u64, &before, &row_ptr],
        )?;
        program.kernel("union_from_a")?.launch(
            Shape::for_each(ap.nnz, 256)?,
            args![&ap.col_idx, &*a.values, ap.nnz as u64, &*b.values, &places, &before, &col_idx, &values],
        )?;
        program.kernel("union_from_b")?.launch(
            tiles(bp.nnz)?,
            args![
                &bp.row_ptr,
                &bp.col_idx,
                &*b.values,
                bp.nnz as u64,
                bp.nrows as u64,
                &ap.row_ptr,
                &ap.col_idx,
                &before,
                &col_idx,
                &values
            ],
        )?;
        let (nrows, ncols) = (ap.nrows, ap.ncols);
        let pattern = DevicePattern::new((nrows, ncols), true, row_ptr, col_idx);
        Ok(DeviceCsr { pattern: Arc::new(pattern), values: Arc::new(values) })
    }
}

fn same_shape(op: &'static str, lhs: (usize, usize), rhs: (usize, usize)) -> Result<()> {
    if lhs == rhs { Ok(()) } else { Err(Error::Shape { op, lhs, rhs }) }
}

/// The programs of this file, as they are used.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::{Less, Min, Plus};
    let large = "unsigned long long";
    let unit = |op: &str, over, types| Unit {
        source: SOURCE,
        prefix: prefix(op, over, types),
        hot: if over == Over::Union {
            &["find_in_b", "union_from_a", "union_from_b"]
        } else {
            &["find_in_b", "intersection_fill"]
        },
    };
    vec![
        unit(&emit_binary_op(Plus::<f64>::new()), Over::Union, [SMALL; 4]),
        unit(&emit_binary_op(Min::<i8>::new()), Over::Union, [SMALL, large, SMALL, large]),
        unit(&emit_binary_op(Less::<f32>::new()), Over::Intersection, [SMALL; 4]),
        unit(&emit_binary_op(Less::<f32>::new()), Over::Intersection, [large, SMALL, SMALL, SMALL]),
    ]
}

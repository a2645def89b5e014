//! A function of every entry, and the entries that a function keeps: see `cuda/apply.cu`.

use std::sync::Arc;

use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::rows::tiles;
use super::{Cuda, DeviceCsr, DevicePattern};
use crate::Result;
use crate::algebra::{IndexUnaryOp, UnaryOp, emit_index_unary_op, emit_unary_op};

const SOURCE: Source = source!("apply.cu");
const SMALL: &str = "unsigned int";

fn select_prefix(op: &str, a: &str, c: &str) -> String {
    format!("#define SELECT\n{op}typedef {a} OffsetA;\ntypedef {c} OffsetC;\n")
}

impl Cuda {
    /// C(i, j) = f(A(i, j)) for every entry; C shares A's pattern.
    ///
    /// Cost: reads and writes each value once. The bits of the CPU, except for functions such as `exp` and `ln`, whose
    /// last bits differ between machines.
    /// # Errors
    /// [`Error::DeviceMemory`](crate::Error::DeviceMemory), [`Error::Compile`](crate::Error::Compile),
    /// [`Error::Device`](crate::Error::Device).
    /// # Example
    /// ```no_run
    /// use sparring::{Csr, Cuda, algebra::Square};
    /// let cuda = Cuda::new(0)?;
    /// let a = cuda.upload(&Csr::<f64>::new(1, 3, vec![0, 2], vec![0, 1], vec![2.0, 3.0])?)?;
    /// let c: Csr<f64> = cuda.download(&cuda.apply(Square::<f64>::new(), &a)?)?;
    /// assert_eq!(c.values(), [4.0, 9.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn apply<O: UnaryOp>(&self, op: O, a: &DeviceCsr<O::A>) -> Result<DeviceCsr<O::Out>> {
        let values = self.alloc::<O::Out>(a.nnz(), "values of a function of a matrix")?;
        let program = self.program(SOURCE, &emit_unary_op(op))?;
        let shape = Shape::for_each(a.nnz(), 256)?;
        program.kernel("apply_values")?.launch(shape, args![&*a.values, a.nnz() as u64, &values])?;
        Ok(DeviceCsr { pattern: Arc::clone(&a.pattern), values: Arc::new(values) })
    }

    /// The entries of A for which f(A(i, j), s, i, j) holds; rows sorted.
    ///
    /// Cost: reads the entries twice, and 8 bytes an entry beside the result; what is left of a matrix whose rows are
    /// not sorted is sorted then. Another `s` compiles nothing anew.
    /// # Errors
    /// [`Error::DeviceMemory`](crate::Error::DeviceMemory), [`Error::Compile`](crate::Error::Compile),
    /// [`Error::Device`](crate::Error::Device).
    /// # Example
    /// ```no_run
    /// use sparring::{Csr, Cuda, algebra::Tril};
    /// let cuda = Cuda::new(0)?;
    /// let a = cuda.upload(&Csr::<f64>::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, 2.0, 3.0, 4.0])?)?;
    /// let below: Csr<f64> = cuda.download(&cuda.select(Tril::<f64>::new(), &a, -1)?)?;
    /// assert_eq!(below.values(), [3.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn select<O: IndexUnaryOp<Out = bool>>(&self, op: O, a: &DeviceCsr<O::A>, s: O::S) -> Result<DeviceCsr<O::A>> {
        let p = &*a.pattern;
        let op = emit_index_unary_op(op);
        let scalar = self.put(&[s], "the scalar of a selection")?;
        let kept = self.alloc::<u32>(p.nnz, "marks of a selection")?;
        // Marking does not know C. It takes the program that most matrices go on with.
        let program = self.program(SOURCE, &select_prefix(&op, p.row_ptr.cuda(), SMALL))?;
        program.kernel("mark")?.launch(
            tiles(p.nnz)?,
            args![&p.row_ptr, &p.col_idx, &*a.values, p.nrows as u64, p.nnz as u64, &scalar, &kept],
        )?;
        let (before, nnz) = self.offsets(&kept, "places of a selection")?;
        let nnz = nnz as usize;

        let row_ptr = self.alloc_offsets(before.is_large(), p.nrows + 1, "row pointers of a selection")?;
        let col_idx = self.alloc::<u32>(nnz, "columns of a selection")?;
        let values = self.alloc::<O::A>(nnz, "values of a selection")?;
        let program = self.program(SOURCE, &select_prefix(&op, p.row_ptr.cuda(), before.cuda()))?;
        program
            .kernel("select_rows")?
            .launch(Shape::for_each(p.nrows + 1, 256)?, args![&p.row_ptr, p.nrows as u64, &before, &row_ptr])?;
        program.kernel("select_fill")?.launch(
            Shape::for_each(p.nnz, 256)?,
            args![&p.col_idx, &*a.values, p.nnz as u64, &before, &col_idx, &values],
        )?;
        let pattern = DevicePattern::new((p.nrows, p.ncols), p.sorted, row_ptr, col_idx);
        self.sorted(&DeviceCsr { pattern: Arc::new(pattern), values: Arc::new(values) })
    }
}

/// The programs of this file, as they are used.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::{Cast, Exp, Tril, ValueGt};
    let large = "unsigned long long";
    let apply = |prefix| Unit { source: SOURCE, prefix, hot: &["apply_values"] };
    let select =
        |op: &str, a, c| Unit { source: SOURCE, prefix: select_prefix(op, a, c), hot: &["mark", "select_fill"] };
    vec![
        apply(emit_unary_op(Exp::<f64>::new())),
        apply(emit_unary_op(Cast::<f32, bool>::new())),
        select(&emit_index_unary_op(Tril::<f64>::new()), SMALL, SMALL),
        select(&emit_index_unary_op(ValueGt::<u8>::new()), large, SMALL),
        select(&emit_index_unary_op(ValueGt::<f32>::new()), large, large),
    ]
}

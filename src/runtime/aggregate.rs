//! Numbers that tell of the entries of rows, made of operations that every engine has.

use super::engine::{Aggregate, Call, Object, Op, Operand};
use super::{BinaryOp, Machine, Matrix, Monoid, Semiring, UnaryOp, Vector};
use crate::algebra::Type;
use crate::spgemm::Options;
use crate::{Error, Result};

impl Machine {
    /// One number for each row that has entries.
    ///
    /// Cost on the processor: O(m) for [`Aggregate::Count`], O(m + nnz) for the others, [`Aggregate::Mean`] in two passes.
    /// On another machine O(m + nnz), [`Aggregate::ArgMin`] and [`Aggregate::ArgMax`] in five passes.
    pub(super) fn aggregate(&self, aggregate: Aggregate, call: &Call<'_>) -> Result<Object> {
        let Operand::Matrix(a) = call.a else {
            let message = "rows of a matrix are aggregated, and it is a vector".into();
            return Err(Error::Argument { name: "a", message });
        };
        let made = match (self.engine().aggregate(aggregate, a), aggregate) {
            (Some(made), _) => made?,
            (None, Aggregate::Count) => self.counts(a)?,
            (None, Aggregate::Mean) => {
                let reals = self.apply(&UnaryOp::new("f64(a)", a.ty())?, a)?;
                let sums = self.reduce_rows(&Monoid::new("plus", Type::F64)?, &reals)?;
                let counts = self.counts(a)?;
                self.ewise_mult(&BinaryOp::between("a / f64(b)", Type::F64, Type::I64)?, &sums, &counts)?
            }
            (None, Aggregate::ArgMin) => self.column_of("min", a)?,
            (None, Aggregate::ArgMax) => self.column_of("max", a)?,
        };
        match call.mask {
            None => Ok(made.into()),
            Some(mask) => self.run(&Call::unary(Op::Identity, &made).mask(mask.structure, mask.complement)),
        }
    }
    fn counts(&self, a: &Matrix) -> Result<Vector> {
        let one = UnaryOp::between("s", a.ty(), Type::I64)?.with(1i64)?;
        self.reduce_rows(&Monoid::new("plus", Type::I64)?, &self.apply(&one, a)?)
    }
    /// The first column of each row whose value is what the monoid makes of the row.
    fn column_of(&self, monoid: &str, a: &Matrix) -> Result<Vector> {
        let ends = self.reduce_rows(&Monoid::new(monoid, a.ty())?, a)?;
        let ends: Matrix = self.call(Op::Diag(0), &ends).eval()?;
        let ring = Semiring::new("lor, a == b", a.ty())?;
        let options = Options::default();
        let is_end: Matrix = self.run(&Call::binary(Op::Mxm(&ring, &options), &ends, a))?.try_into()?;
        let ends = self.select(&UnaryOp::new("a", Type::Bool)?, &is_end)?;
        let columns = self.apply(&UnaryOp::new("i64(j)", Type::Bool)?, &ends)?;
        self.reduce_rows(&Monoid::new("min", Type::I64)?, &columns)
    }
}

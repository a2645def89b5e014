//! Numbers that tell of the entries of rows.

use super::engine::{Aggregate, Call, Object, Op, Operand};
use super::{BinaryOp, Machine, Monoid, UnaryOp};
use crate::algebra::Type;
use crate::{Error, Result};

impl Machine {
    /// One number for each row that has entries.
    ///
    /// Cost: O(m) for [`Aggregate::Count`], O(m + nnz) for the others, [`Aggregate::Mean`] in two passes.
    pub(super) fn aggregate(&self, aggregate: Aggregate, call: &Call<'_>) -> Result<Object> {
        let Operand::Matrix(a) = call.a else {
            let message = "rows of a matrix are aggregated, and it is a vector".into();
            return Err(Error::Argument { name: "a", message });
        };
        let engine = self.engine();
        let made = match aggregate {
            Aggregate::Count => engine.row_counts(a)?,
            Aggregate::Mean => {
                let reals = self.apply(&UnaryOp::new("f64(a)", a.ty())?, a)?;
                let sums = self.reduce_rows(&Monoid::new("plus", Type::F64)?, &reals)?;
                self.ewise_mult(&BinaryOp::between("a / f64(b)", Type::F64, Type::I64)?, &sums, &engine.row_counts(a)?)?
            }
            Aggregate::ArgMin => engine.best_of_rows(a, false)?,
            Aggregate::ArgMax => engine.best_of_rows(a, true)?,
        };
        match call.mask {
            None => Ok(made.into()),
            Some(mask) => self.run(&Call::unary(Op::Identity, &made).mask(mask.structure, mask.complement)),
        }
    }
}

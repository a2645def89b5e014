//! Row statistics of matrices.

use super::engine::{Aggregate, Call, Object, Op, Operand};
use super::{BinaryOp, Machine, Monoid, UnaryOp};
use crate::algebra::Type;
use crate::{Error, Result};

impl Machine {
    /// A statistic of each nonempty row.
    ///
    /// Cost: O(m) for [`Aggregate::Count`], O(m + nnz) for the others, [`Aggregate::Mean`] in two passes.
    pub(super) fn aggregate(&self, aggregate: Aggregate, call: &Call<'_>) -> Result<Object> {
        let Operand::Matrix(a) = call.a else {
            let message = "only matrices are aggregated, not vectors".into();
            return Err(Error::Argument { name: "a", message });
        };
        let engine = self.engine();
        let result = match aggregate {
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
            None => Ok(result.into()),
            Some(mask) => self.run(&Call::unary(Op::Identity, &result).mask(mask.structure, mask.complement)),
        }
    }
}

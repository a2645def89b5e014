//! Mask and accumulator semantics for matrices and vectors whose types are known at run time.

use std::sync::Arc;

use super::engine::{Call, Op, Operand};
use super::{BinaryOp, Collection, Machine};
use crate::Result;
use crate::algebra::Type;
use crate::backend::WriteOps;
use crate::sparse::MaskSpec;

/// Matrices or vectors on a machine, of types known at run time, combined by an operator; masks are structural.
pub(super) struct On<'m> {
    pub(super) machine: &'m Machine,
    pub(super) ty: Type,
    pub(super) accum: Option<&'m BinaryOp>,
}
impl On<'_> {
    fn joined<X: Collection>(&self, op: Option<&BinaryOp>, x: &mut X, t: &X) -> Result<()> {
        if let Some(done) = x.put_by(self.machine, t, op) {
            return done;
        }
        *x = match op {
            Some(op) => self.machine.ewise_add(op, x, t)?,
            None => self.machine.ewise_add(&BinaryOp::new("second", self.ty)?, x, t)?,
        };
        Ok(())
    }
}
impl<X: Collection> WriteOps<X, X> for On<'_> {
    fn shape(&self, x: &X) -> (usize, usize) {
        x.shape_of()
    }
    fn is_own(&self, x: &X, mask: &X) -> bool {
        let (Operand::Vector(x), Operand::Vector(m)) = (x.operand_of(), mask.operand_of()) else { return false };
        matches!((x.view(), m.view()), (Ok(x), Ok(m)) if Arc::ptr_eq(x.pattern(), m.pattern()))
    }
    fn fills(&self, t: &X, mask: MaskSpec<'_, X>) -> bool {
        let (Operand::Vector(t), Operand::Vector(m)) = (t.operand_of(), mask.pattern.operand_of()) else {
            return false;
        };
        // Counting may block on another machine.
        let (true, Ok(entries), Ok(of_mask)) = (t.is_on_host() && m.is_on_host(), t.nvals(), m.nvals()) else {
            return false;
        };
        entries == if mask.complement { t.len() - of_mask } else { of_mask }
    }
    fn retain(&self, x: &mut X, mask: MaskSpec<'_, X>) -> Result<()> {
        if let Some(done) = x.retain_by(self.machine, mask.pattern, mask.complement) {
            return done;
        }
        *x = {
            let call = Call::unary(Op::Identity, x.operand_of()).mask(mask.pattern.operand_of(), mask.complement);
            X::from_object(self.machine.run(&call)?)?
        };
        Ok(())
    }
    fn put(&self, x: &mut X, t: X) -> Result<()> {
        self.joined(None, x, &t)
    }
    fn accumulate(&self, x: &mut X, t: X) -> Result<()> {
        self.joined(self.accum, x, &t)
    }
}

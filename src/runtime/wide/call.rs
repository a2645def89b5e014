//! Operations with wide dimensions: the ordinary operation on compacted index spaces.

use super::labels::is_wide;
use super::object::{Inner, Wide, shape_of};
use super::spaces::Compact;
use crate::Result;
use crate::runtime::engine::{Call, MaskSpec, Object, Op, Operand};
use crate::runtime::operation::Operands;
use crate::runtime::{Collection, Machine, Matrix, Operation, Pairing, Product, Semiring};
use crate::spgemm::Options;

impl Operation<'_> {
    /// Whether an object is wide, or the result will be.
    pub(in crate::runtime) fn is_wide(&self, c: Option<Operand<'_>>) -> bool {
        let objects = [&self.operands.0, &self.operands.1, &self.mask];
        let operands = objects.into_iter().flatten().filter_map(|x| x.operand().ok());
        let shape = |x: &Option<Object>| x.as_ref().and_then(|x| x.operand().ok()).map_or((0, 0), shape_of);
        operands.chain(c).any(|x| Wide::of(x).is_some())
            || makes_wide(self.op, shape(&self.operands.0), shape(&self.operands.1))
    }
    /// T⟨M⟩.
    pub(in crate::runtime) fn eval_wide(self) -> Result<Object> {
        if let Some(t) = self.by_index()? {
            return self.written(t).eval_object();
        }
        if let Some((ring, operands)) = self.by_values()? {
            return self.over(&ring, operands).eval_wide();
        }
        if self.positional().is_some() && self.mask.is_some() {
            return self.unmasked().and_then(|t| self.written(t).eval_object());
        }
        let mut compact = Compact::of(&self, None)?;
        let ranks = self.on_ranks(&mut compact).eval_object()?;
        compact.labeled(&self, ranks)
    }
    /// C⟨M, r⟩ ⊙= T.
    pub(in crate::runtime) fn into_wide<X: Collection>(self, c: &mut X) -> Result<()> {
        if let Some(t) = self.by_index()? {
            return self.written(t).into(c);
        }
        if let Some((ring, operands)) = self.by_values()? {
            return self.over(&ring, operands).into_wide(c);
        }
        if self.positional().is_some() {
            return self.unmasked().and_then(|t| self.written(t).into(c));
        }
        let mut compact = Compact::of(&self, Some(c.operand_of()))?;
        let Some(ranks) = compact.objects[4].take() else { return Ok(()) };
        let mut ranks = X::from_object(ranks)?;
        self.on_ranks(&mut compact).into(&mut ranks)?;
        *c = X::from_object(compact.labeled(&self, Inner::from(ranks.operand_of()).into())?)?;
        Ok(())
    }
    /// T, for a semiring that reads indices: other objects could compact a dimension that A and B do not.
    fn unmasked(&self) -> Result<Object> {
        let Self { machine, op, transpose, .. } = *self;
        Operation { transpose, ..machine.call(op, self.operands.clone()) }.eval_object()
    }
    /// The operation on ranks.
    fn on_ranks<'s>(&'s self, compact: &'s mut Compact) -> Operation<'s> {
        let [a, b, mask, twin, _] = std::mem::take(&mut compact.objects);
        let (operands, twin) = (Operands(a, b), twin.and_then(|at| at.try_into().ok()));
        let Self { machine, transpose, structure, complement, replace, accum, .. } = *self;
        let op = compact.op(self.op);
        Operation { machine, op, operands, transpose, mask, structure, complement, replace, accum, twin }
    }
    /// The write of a result T.
    fn written(self, t: Object) -> Self {
        Self { op: Op::Identity, operands: Operands(Some(t), None), transpose: [false; 2], twin: None, ..self }
    }
    /// The product over another semiring.
    fn over<'s>(&'s self, ring: &'s Semiring, operands: Operands) -> Operation<'s> {
        let op = match self.op {
            Op::Mxm(_, options) => Op::Mxm(ring, options),
            Op::Mxv(_) => Op::Mxv(ring),
            Op::Vxm(_) => Op::Vxm(ring),
            op => op,
        };
        Operation { op, operands, twin: None, ..self.clone() }
    }
}

/// Whether the result of an operation on ordinary operands of these shapes is wide.
fn makes_wide(op: Op<'_>, a: (usize, usize), b: (usize, usize)) -> bool {
    match op {
        Op::Place(_, _, shape) => is_wide(shape.0) || is_wide(shape.1),
        Op::Scatter(_, len, _) => is_wide(len),
        Op::Diag(k) => a.0.checked_add(k.unsigned_abs() as usize).is_none_or(is_wide),
        Op::Pairs(pairing, _) if pairing != Pairing::EwiseMult => {
            let wide = |m: usize, n: usize| m.checked_mul(n).is_none_or(is_wide);
            wide(a.0, b.0) || wide(a.1, b.1)
        }
        _ => false,
    }
}

impl Machine {
    /// The result of a call with a wide dimension; `None` for any other.
    pub(in crate::runtime) fn run_wide(&self, call: &Call<'_>) -> Option<Result<Object>> {
        let object = |x: Operand<'_>| Object::from(Inner::from(x));
        let is_wide = [Some(call.a), call.b, call.mask.map(|mask| mask.structure)];
        let shape = |x: Option<Operand<'_>>| x.map_or((0, 0), shape_of);
        if !is_wide.into_iter().flatten().any(|x| Wide::of(x).is_some())
            && !makes_wide(call.op, shape(Some(call.a)), shape(call.b))
        {
            return None;
        }
        let mut operation = self.call(call.op, Operands(Some(object(call.a)), call.b.map(object)));
        if let Some(mask) = call.mask {
            operation.mask = Some(object(mask.structure));
            (operation.structure, operation.complement) = (true, mask.complement);
        }
        Some(operation.eval_wide())
    }
    /// The product for a single use, if a dimension is wide.
    pub(in crate::runtime) fn product_wide(
        &self,
        ring: &Semiring,
        (a, b): (&Matrix, &Matrix),
        mask: Option<(&Matrix, bool)>,
        options: &Options,
    ) -> Option<Result<Product>> {
        let mut operation = self.call(Op::Mxm(ring, options), (a, b)).structure();
        if let Some((mask, complement)) = mask {
            operation = operation.mask(mask);
            operation.complement = complement;
        }
        operation.is_wide(None).then(|| operation.product())
    }
}

impl Operation<'_> {
    /// The product with the facts of its computation.
    fn product(self) -> Result<Product> {
        if let Some((ring, operands)) = self.by_values()? {
            return self.over(&ring, operands).product();
        }
        let compact = Compact::of(&self, None)?;
        let matrix = |x: &Option<Object>| -> Result<Option<Matrix>> { x.clone().map(Matrix::try_from).transpose() };
        let [a, b, mask, ..] = &compact.objects;
        let (a, b, mask) = (matrix(a)?, matrix(b)?, matrix(mask)?);
        let (Op::Mxm(ring, options), Some(a), Some(b)) = (self.op, a, b) else {
            return Err(crate::runtime::engine::unfit());
        };
        let mask = mask.as_ref().map(|mask| MaskSpec { structure: mask.into(), complement: self.complement });
        let product = self.machine.engine().product(ring, &a, &b, mask, options)?;
        let made = compact.labeled(&self, product.matrix().clone().into())?.try_into()?;
        Ok(product.with_matrix(made))
    }
}

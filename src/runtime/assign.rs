//! `C(I, J)⟨M, r⟩ ⊙= A`: assignment to a part of a result. Its semantics are defined here, once, for every engine.
//!
//! Z is C with its part (I, J) replaced by A, or by C(I, J) ⊙ A; then C⟨M, r⟩ = Z. With T(I, J) = A:
//!
//! | | without accumulator | with ⊙ |
//! | --- | --- | --- |
//! | assign | C loses its entries in (I, J) that the mask allows, then gains T⟨M⟩ | C ⊙= T⟨M⟩ |
//! | replace | afterwards C loses the entries outside the mask | beforehand C loses the entries outside the mask |
//!
//! Source: GraphBLAS C API 2.1, §4.3.7 (`GrB_assign`).

use super::engine::{Call, Object, Op, Operand};
use super::operation::{Operation, no_operand, same_type};
use super::vector::Vector;
use super::write::On;
use super::{Collection, Machine, Matrix, Scalar, UnaryOp};
use crate::backend::{WriteMask, WriteOps, write_with};
use crate::sparse::{IndexList, MaskSpec};
use crate::{Error, Result};

/// The part (I, J) of a result; for a vector J is all.
#[derive(Clone, Copy)]
struct Part<'a> {
    rows: &'a IndexList,
    cols: &'a IndexList,
    shape: (usize, usize),
}

impl Part<'_> {
    fn is_all(&self) -> bool {
        self.rows.is_all() && self.cols.is_all()
    }
    /// The number of its positions, counting repeats.
    fn len(&self) -> u128 {
        self.rows.len(self.shape.0) as u128 * self.cols.len(self.shape.1) as u128
    }
}

impl Operation<'_> {
    /// Runs the operation, one that [assigns](Op::assigns), into `c`.
    pub(super) fn assign<X: Collection>(mut self, c: &mut X) -> Result<()> {
        let shape = c.shape_of();
        let is_vector = matches!(c.operand_of(), Operand::Vector(_));
        if let (Op::Assign(_, cols) | Op::AssignScalar(_, _, cols), true) = (self.op, is_vector)
            && !cols.is_all()
        {
            let message = "a vector has no columns: give IndexList::all()".into();
            return Err(Error::Argument { name: "cols", message });
        }
        if self.transpose[0] && !matches!(self.op, Op::Assign(..)) {
            let message = "a vector or a scalar is assigned, and matrices are transposed".into();
            return Err(Error::Argument { name: "a", message });
        }
        match self.op {
            Op::Assign(rows, cols) => {
                let a = self.operands.0.take().ok_or_else(no_operand)?;
                let a = if self.transpose[0] { self.transposed(&a)? } else { a };
                self.transpose[0] = false;
                if self.assign_rows(c, &a, rows, cols)? {
                    return Ok(());
                }
                self.write_part(c, Part { rows, cols, shape }, |part, mask| {
                    let op = if part.is_all() { Op::Identity } else { Op::Place(rows, cols, shape) };
                    let call = Call::unary(op, a.operand()?);
                    self.machine.run(&match mask {
                        None => call,
                        Some((mask, complement)) => call.mask(mask.operand_of(), complement),
                    })
                })
            }
            Op::AssignScalar(s, rows, cols) => {
                let part = Part { rows, cols, shape };
                if part.is_all() && self.fill(c, s)? {
                    return Ok(());
                }
                self.write_part(c, part, |part, mask| constant(self.machine, s, part, is_vector, mask))
            }
            _ => match c.matrix_mut() {
                Some(c) => self.line(c),
                None => Err(Error::Argument { name: "c", message: "rows and columns are assigned to a matrix".into() }),
            },
        }
    }
    fn transposed(&self, a: &Object) -> Result<Object> {
        self.machine.run(&Call::unary(Op::Transpose, a.operand()?))
    }
    /// Assigns in one pass; false if the engine has no such operation.
    fn assign_rows<X: Collection>(&self, c: &mut X, a: &Object, rows: &IndexList, cols: &IndexList) -> Result<bool> {
        let (Operand::Matrix(a), ty) = (a.operand()?, c.type_of()) else { return Ok(false) };
        if self.accum.is_some() || rows.is_all() && cols.is_all() {
            return Ok(false);
        }
        let Some(c) = c.matrix_mut() else { return Ok(false) };
        same_type(a, ty)?;
        let mask = self.resolved()?.map(Matrix::try_from).transpose()?;
        let allowed = mask.as_ref().map(|mask| (mask, self.complement));
        let Some(done) = self.machine.engine().assign(c, a, (rows, cols), allowed) else { return Ok(false) };
        done?;
        if let Some(mask) = mask.filter(|_| self.replace) {
            let on = On { machine: self.machine, ty, accum: None };
            on.retain(c, MaskSpec::new(&mask, self.complement))?;
        }
        Ok(true)
    }
    /// Assigns a scalar to the positions of a mask in one pass; false if the engine has no such operation.
    fn fill<X: Collection>(&self, c: &mut X, s: &Scalar) -> Result<bool> {
        let ty = c.type_of();
        if self.accum.is_some() || self.complement || s.ty() != ty {
            return Ok(false);
        }
        let Some(c) = c.matrix_mut() else { return Ok(false) };
        let Some(mask) = self.resolved()?.map(Matrix::try_from).transpose()? else { return Ok(false) };
        let Some(done) = self.machine.engine().fill(c, s, &mask) else { return Ok(false) };
        done?;
        if self.replace {
            On { machine: self.machine, ty, accum: None }.retain(c, MaskSpec::new(&mask, false))?;
        }
        Ok(true)
    }
    /// Assigns a row or a column.
    fn line(&self, c: &mut Matrix) -> Result<()> {
        let all = IndexList::all();
        let (take, list, at) = match self.op {
            Op::AssignColumn(rows, j) => (Op::ExtractColumn(&all, j), rows, j),
            Op::AssignRow(i, cols) => (Op::ExtractRow(i, &all), cols, i),
            _ => return Err(no_operand()),
        };
        let mut line: Vector = self.machine.run(&Call::unary(take, &*c))?.try_into()?;
        Operation { op: Op::Assign(list, &all), ..self.clone() }.assign(&mut line)?;
        let one = IndexList::from(at..at + 1);
        let (rows, cols) = if matches!(self.op, Op::AssignRow(..)) { (&one, &all) } else { (&all, &one) };
        let line = matrix_of(self.machine, &line, matches!(self.op, Op::AssignRow(..)))?;
        self.machine.call(Op::Assign(rows, cols), &line).into(c)
    }
    /// Writes T⟨M⟩, computed by `make`, into a part of `c`.
    fn write_part<X: Collection>(
        &self,
        c: &mut X,
        part: Part<'_>,
        make: impl Fn(Part<'_>, Option<(&X, bool)>) -> Result<Object>,
    ) -> Result<()> {
        let Self { machine, accum, complement, replace, .. } = *self;
        let ty = c.type_of();
        let on = On { machine, ty, accum };
        let mask = self.resolved()?.map(X::from_object).transpose()?;
        if let Some(mask) = &mask
            && mask.shape_of() != part.shape
        {
            return Err(Error::Shape { op: "mask", lhs: part.shape, rhs: mask.shape_of() });
        }
        let t = X::from_object(make(part, mask.as_ref().map(|mask| (mask, complement)))?)?;
        same_type(&t, ty)?;
        let write_mask = |mask: X| WriteMask { pattern: mask, complement, replace };
        if accum.is_some() || part.is_all() {
            return write_with(&on, "assign", c, t, mask.map(write_mask), accum.is_some());
        }
        // If T has an entry at every position written, it replaces whatever C has there.
        let fills = matches!(self.op, Op::AssignScalar(..)) || mask.is_none() && t.count_of()? as u128 == part.len();
        if !fills {
            let call = Call::unary(Op::Within(part.rows, part.cols), c.operand_of());
            let replaced = X::from_object(machine.run(&match &mask {
                None => call,
                Some(mask) => call.mask(mask.operand_of(), complement),
            })?)?;
            if replaced.count_of()? > 0 {
                on.retain(c, MaskSpec::new(&replaced, true))?;
            }
        }
        on.put(c, t)?;
        match mask.filter(|_| replace) {
            Some(mask) => on.retain(c, MaskSpec::new(&mask, complement)),
            None => Ok(()),
        }
    }
}

/// The scalar s at the positions of a part that the mask allows.
fn constant<X: Collection>(
    machine: &Machine,
    s: &Scalar,
    part: Part<'_>,
    is_vector: bool,
    mask: Option<(&X, bool)>,
) -> Result<Object> {
    if let Some((mask, false)) = mask {
        let within = Call::unary(Op::Within(part.rows, part.cols), mask.operand_of());
        let all = Call::unary(Op::Identity, mask.operand_of());
        let places = machine.run(if part.is_all() { &all } else { &within })?;
        let f = UnaryOp::between("s", mask.type_of(), s.ty())?.with(s.clone())?;
        return machine.run(&Call::unary(Op::Apply(&f), places.operand()?));
    }
    let full = || part.rows.is_all().then(|| machine.engine().full(s, part.shape.0)).flatten();
    let t: Object = if is_vector {
        full().unwrap_or_else(|| Vector::constant_at(s, part.rows, part.shape.0))?.into()
    } else if let Some(made) = machine.engine().constant(s, (part.rows, part.cols), part.shape) {
        made?.into()
    } else {
        let (rows, cols) = (part.rows.distinct("rows", part.shape.0)?, part.cols.distinct("cols", part.shape.1)?);
        let shape = (rows.len(part.shape.0), cols.len(part.shape.1));
        let full = Matrix::constant(s, shape)?;
        machine.run(&Call::unary(Op::Place(&rows, &cols, part.shape), &full))?
    };
    match mask {
        None => Ok(t),
        Some((mask, complement)) => {
            machine.run(&Call::unary(Op::Identity, t.operand()?).mask(mask.operand_of(), complement))
        }
    }
}

/// A vector as a matrix of one row or one column.
fn matrix_of(machine: &Machine, line: &Vector, is_row: bool) -> Result<Matrix> {
    if let Some(made) = machine.engine().line_matrix(line, is_row) {
        return made;
    }
    let here = line.download()?;
    Matrix::from_row_major(if is_row { (1, here.len()) } else { (here.len(), 1) }, &here)
}

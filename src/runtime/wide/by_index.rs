//! Results that depend on the indices themselves, or on products and sums of dimensions: ranks do not suffice.

use super::labels::{Labels, check_dimension, is_wide};
use super::object::{Inner, Wide, shape_of};
use super::relabel::entries;
use crate::algebra::{Array, Blocks, Input, Number, Slice, SliceMut};
use crate::kernels::with_type;
use crate::ops::diagonal_of;
use crate::par::{Threads, collected, filled, reserved};
use crate::runtime::engine::{Aggregate, Call, Object, Op, Operand, unfit};
use crate::runtime::matrix::not_made;
use crate::runtime::operation::{Operands, no_operand};
use crate::runtime::{BinaryOp, IndexList, Matrix, Operation, Pairing, Semiring, UnaryOp, Vector};
use crate::{Error, Result};

impl Operation<'_> {
    /// T, if it is not the labeled result of the same operation on ranks.
    pub(super) fn by_index(&self) -> Result<Option<Object>> {
        let depends = match self.op {
            Op::Apply(f) | Op::Select(f) => ["i", "j"].map(|index| f.formula().reads(index)),
            Op::Aggregate(Aggregate::ArgMin | Aggregate::ArgMax) => [false, true],
            Op::Diag(_) | Op::Diagonal(_) => [true; 2],
            Op::Pairs(pairing, _) if pairing != Pairing::EwiseMult => [true; 2],
            _ => [false; 2],
        };
        if depends == [false; 2] {
            return Ok(None);
        }
        let mut operands = vec![];
        for (x, flips) in [(&self.operands.0, self.transpose[0]), (&self.operands.1, self.transpose[1])] {
            let Some(x) = x else { continue };
            let x = if flips { self.machine.run(&Call::unary(Op::Transpose, x.operand()?))? } else { x.clone() };
            operands.push(x);
        }
        let x = operands.first().ok_or_else(no_operand)?.operand()?;
        let y = operands.get(1).map(Object::operand).transpose()?;
        self.op.check(x, y)?;
        let a = self.compacted(x, [false; 2])?;
        let on_ranks = (0..2).all(|axis| !depends[axis] || a.labels[axis].is_all());
        match (self.op, y) {
            (Op::Apply(_) | Op::Select(_), None) if on_ranks => {
                a.with(self.machine.run(&Call::unary(self.op, a.inner.operand()))?)
            }
            (Op::Apply(f), None) => self.applied(f, &a),
            (Op::Select(f), None) => self.selected(f, &a),
            (Op::Aggregate(_), None) => self.best_columns(&a),
            (Op::Diag(k), None) => self.diagonal_matrix(x, k),
            (Op::Diagonal(k), None) => self.diagonal(&self.compacted(x, [true; 2])?, k),
            (Op::Pairs(..), Some(y)) => self.products_of_indices(x, y),
            _ => Err(unfit()),
        }
        .map(Some)
    }
    fn compacted(&self, x: Operand<'_>, flagged: [bool; 2]) -> Result<Wide> {
        Wide::compacted(self.machine, x, flagged)
    }
    /// f(A, s, i, j) with the true indices i and j, on the host.
    fn applied(&self, f: &UnaryOp, a: &Wide) -> Result<Object> {
        let (rows, cols, values) = entries(a.inner.operand())?;
        let formula = f.formula();
        let n = values.len();
        let index = |axis: usize, of: &[u32]| -> Result<Vec<u64>> {
            collected(n, of.iter().map(|&rank| a.labels[axis].index(rank as usize) as u64), "indices")
        };
        let (i, j) = (index(0, &rows)?, index(1, &cols)?);
        let blocks = Blocks::new(formula)?;
        let inputs = [
            Input::Values(values.slice()),
            Input::Scalar(f.scalar()?.slice()),
            Input::Values(Slice::of(&i)),
            Input::Values(Slice::of(&j)),
        ];
        let ty = f.ty();
        let made = with_type!(ty, T => {
            let mut made = filled(n, T::ZERO, "values")?;
            blocks.run(&inputs, &mut blocks.scratch()?, &mut SliceMut::of(&mut made))?;
            Array::of(made)
        }, return Err(not_made(ty)));
        let inner = match &a.inner {
            Inner::Vector(x) => Object::from(Vector::new(x.len(), rows, made)?),
            Inner::Matrix(x) => {
                let current = Threads::current();
                let threads = self.machine.engine().threads().unwrap_or(&current);
                Matrix::build(threads, x.shape(), (rows, cols, made), None)?.into()
            }
        };
        a.with(inner)
    }
    /// The entries for which f holds: a mask by the value of f.
    fn selected(&self, f: &UnaryOp, a: &Wide) -> Result<Object> {
        let whole = a.with(a.inner.clone().into())?;
        let holds = self.applied(f, a)?;
        match (whole, holds) {
            (Object::Matrix(a), Object::Matrix(holds)) => {
                self.machine.call(Op::Identity, &a).mask(&holds).eval_object()
            }
            (Object::Vector(x), Object::Vector(holds)) => {
                self.machine.call(Op::Identity, &x).mask(&holds).eval_object()
            }
            _ => Err(no_operand()),
        }
    }
    /// The column of the best value of each row.
    fn best_columns(&self, a: &Wide) -> Result<Object> {
        let ranks = self.machine.run(&Call::unary(self.op, a.inner.operand()))?;
        let ranks: Vector = Vector::try_from(ranks)?.download()?;
        let (rows, columns) = ranks.entries()?;
        let none = || Error::Argument { name: "a", message: "its best columns are not i64".into() };
        let columns = columns.slice().get::<i64>().ok_or_else(none)?;
        let columns = columns.iter().map(|&rank| a.labels[1].index(rank as usize) as i64);
        let inner = Vector::new(ranks.len(), rows, Array::of(collected(columns.len(), columns, "columns")?))?;
        let labels = [a.labels[0].clone(), Labels::default()];
        Wide::labeled(self.machine, (a.shape.0, 1), labels, inner.into())
    }
    /// The square matrix whose diagonal k is a vector.
    fn diagonal_matrix(&self, x: Operand<'_>, k: i64) -> Result<Object> {
        let x = self.compacted(x, [true, false])?;
        let n = check_dimension("rows of a diagonal matrix", x.shape.0 as u128 + u128::from(k.unsigned_abs()))?;
        let first = diagonal_of((n, n), k).0;
        let shifted = |by: usize| {
            let used = x.labels[0].used().unwrap_or_default();
            Labels::of(collected(used.len(), used.iter().map(|&i| i + by), "used indices")?)
        };
        let labels = [shifted(first.0)?, shifted(first.1)?];
        let ranks = self.machine.run(&Call::unary(Op::Diag(0), x.inner.operand()))?;
        Wide::labeled(self.machine, (n, n), labels, ranks)
    }
    /// The diagonal k: that of the rows and columns with j − i = k, in order.
    fn diagonal(&self, a: &Wide, k: i64) -> Result<Object> {
        let (first, len) = diagonal_of(a.shape, k);
        let rows = a.labels[0].used().unwrap_or_default();
        let on = rows.iter().enumerate().filter_map(|(rank, &i)| {
            let p = i.checked_sub(first.0)?;
            Some((rank, a.labels[1].rank(p.checked_add(first.1)?)?, p))
        });
        let on: Vec<(usize, usize, usize)> = collected(rows.len(), on, "indices of a diagonal")?;
        let ranks =
            |of: fn(&(usize, usize, usize)) -> usize| collected(on.len(), on.iter().map(of), "ranks of indices");
        let (rows, cols) = (IndexList::from(ranks(|x| x.0)?), IndexList::from(ranks(|x| x.1)?));
        let part = self.machine.run(&Call::unary(Op::Extract(&rows, &cols), a.inner.operand()))?;
        let ranks_of = self.machine.run(&Call::unary(Op::Diagonal(0), part.operand()?))?;
        Wide::labeled(self.machine, (len, 1), [Labels::of(ranks(|x| x.2)?)?, Labels::default()], ranks_of)
    }
    /// C(i·p + k, j·q + l) = A(i, j) ∘ B(k, l): the used indices of C are those of A and B combined.
    fn products_of_indices(&self, a: Operand<'_>, b: Operand<'_>) -> Result<Object> {
        let (of_a, of_b) = (shape_of(a), shape_of(b));
        let product = |what, m: usize, p: usize| check_dimension(what, m as u128 * p as u128);
        let shape = (product("number of rows", of_a.0, of_b.0)?, product("number of columns", of_a.1, of_b.1)?);
        let labels = |x: Operand<'_>, axis: usize| Wide::of(x).is_some_and(|x| !x.labels[axis].is_all());
        let wide = [(0, shape.0), (1, shape.1)].map(|(axis, n)| is_wide(n) || labels(a, axis) || labels(b, axis));
        let unused = |x: Operand<'_>| self.compacted(x, wide)?.restricted(self.machine, wide);
        let (a, b) = (unused(a)?, unused(b)?);
        let ranks = self.machine.run(&Call::binary(self.op, a.inner.operand(), b.inner.operand()))?;
        let sizes = [of_b.0, of_b.1];
        let mut labels: [Labels; 2] = Default::default();
        for axis in [0, 1] {
            let (Some(x), Some(y)) = (a.labels[axis].used(), b.labels[axis].used()) else { continue };
            let mut used = reserved(x.len().saturating_mul(y.len()), "used indices")?;
            x.iter().for_each(|i| used.extend(y.iter().map(|k| i * sizes[axis] + k)));
            labels[axis] = Labels::of(used)?;
        }
        Wide::labeled(self.machine, shape, labels, ranks)
    }
    /// The product over a semiring that reads no index, and its operands, if ⊗ reads indices alone: they become the
    /// values of A or of B.
    /// # Errors
    /// [`Error::Unsupported`] if ⊗ reads a value or both operands' indices, and one of a dimension stored by its used
    /// indices.
    pub(super) fn by_values(&self) -> Result<Option<(Semiring, Operands)>> {
        let (Some(a), Some(b), Some(ring)) = (&self.operands.0, &self.operands.1, self.positional()) else {
            return Ok(None);
        };
        let f = ring.formula().mul();
        // Rows of A are i, rows of B are k; the other index of a vector is 0.
        let of_a = match self.op {
            Op::Mxm(..) | Op::Mxv(_) if !f.reads("j") => true,
            Op::Mxm(..) | Op::Vxm(_) if !f.reads("i") => false,
            _ => return Ok(None),
        };
        if f.reads("a") || f.reads("b") {
            return Ok(None);
        }
        let (x, flips, row) = if of_a { (a, self.transpose[0], "i") } else { (b, self.transpose[1], "k") };
        let index = |name: &str| if (name == row) == flips { "j" } else { "i" };
        let positions = UnaryOp::of_indices(f, x.operand()?.ty(), index).ok_or_else(unfit)?;
        let made = self.machine.run(&Call::unary(Op::Apply(&positions), x.operand()?))?;
        let [of_left, of_right] = [f.parameters()[0].1, f.parameters()[1].1];
        let (mul, operands) = if of_a {
            (BinaryOp::between("a", f.ty(), of_right)?, Operands(Some(made), Some(b.clone())))
        } else {
            (BinaryOp::between("b", of_left, f.ty())?, Operands(Some(a.clone()), Some(made)))
        };
        Ok(Some((Semiring::of(&ring.add(), &mul)?, operands)))
    }
    /// The semiring of a product, if its ⊗ reads an index.
    pub(super) fn positional(&self) -> Option<&Semiring> {
        let (Op::Mxm(ring, _) | Op::Mxv(ring) | Op::Vxm(ring)) = self.op else { return None };
        let f = ring.formula().mul();
        ["i", "k", "j"].iter().any(|index| f.reads(index)).then_some(ring)
    }
}

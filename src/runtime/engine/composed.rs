//! Operations made of products and of operations entry by entry, for engines that have no kernel of their own for them.
//!
//! With P the matrix that has an entry (p, I(p)) for each index of a list, A(I, :) is P·A over any_second, and the
//! matrix whose rows I are those of A is Pᵀ·A. Columns likewise, from the right, over any_first.

use std::sync::Arc;

use super::{Call, Engine, Object, Op, Operand};
use crate::algebra::Type;

use crate::ops::Pairing;
use crate::ops::by_formula;
use crate::par::{Threads, collected, note, zeros};
use crate::runtime::{BinaryOp, Matrix, Monoid, Scalar, Semiring, UnaryOp, Vector};
use crate::sparse::IndexList;
use crate::sparse::framed::zeros_any;
use crate::spgemm::Options;
use crate::{Error, Index, Pattern, Result};

/// What an operation on one operand gives, or on two; `None` if it is none of those that are composed here.
pub(super) fn composed(
    engine: &dyn Engine,
    op: Op<'_>,
    a: Operand<'_>,
    b: Option<Operand<'_>>,
) -> Option<Result<Object>> {
    let on = On(engine);
    let made = Some(match (op, a, b) {
        (Op::Extract(rows, cols), Operand::Matrix(a), None) => on.extract(a, rows, cols),
        (Op::Extract(list, all), Operand::Vector(u), None) if all.is_all() => on.extract_vector(u, list),
        (Op::ExtractColumn(rows, j), Operand::Matrix(a), None) => on.line(a, (j, a.shape().1), "cols", rows),
        (Op::ExtractRow(i, cols), Operand::Matrix(a), None) => on.line(a, (i, a.shape().0), "rows", cols),
        (Op::Place(rows, cols, shape), Operand::Matrix(a), None) => on.place(a, rows, cols, shape),
        (Op::Place(list, _, (len, _)), Operand::Vector(u), None) => on.place_vector(u, list, len),
        (Op::Within(rows, cols), Operand::Matrix(a), None) => on.within(a, rows, cols),
        (Op::Within(list, _), Operand::Vector(u), None) => on.within_vector(u, list),
        (Op::Scatter(list, len, dup), Operand::Vector(u), None) => on.scatter(u, list, len, dup),
        (Op::Diag(k), Operand::Vector(u), None) => on.diagonal_matrix(u, k),
        (Op::Diagonal(k), Operand::Matrix(a), None) => on.diagonal(a, k),
        (Op::EwiseUnion(op, for_a, for_b), a, Some(b)) => on.union(op, (a, for_a), (b, for_b)),
        _ => return None,
    });
    note(|| "  by products and operations entry by entry: this machine has no kernel of its own for it".into());
    made
}

struct On<'e>(&'e dyn Engine);

impl On<'_> {
    fn mxm(&self, ring: &str, ty: Type, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        let (ring, options) = (Semiring::new(ring, ty)?, Options::default());
        self.0.run(&Call::binary(Op::Mxm(&ring, &options), a, b))?.try_into()
    }
    fn transposed(&self, a: &Matrix) -> Result<Matrix> {
        self.0.run(&Call::unary(Op::Transpose, a))?.try_into()
    }
    /// `left`·A·`right`, each where it exists.
    fn between(&self, left: Option<Matrix>, a: &Matrix, right: Option<Matrix>) -> Result<Object> {
        let mut made = a.clone();
        if let Some(left) = left {
            made = self.mxm("any_second", a.ty(), &left, &made)?;
        }
        if let Some(right) = right {
            made = self.mxm("any_first", a.ty(), &made, &right)?;
        }
        Ok(made.into())
    }
    fn extract(&self, a: &Matrix, rows: &IndexList, cols: &IndexList) -> Result<Object> {
        let (m, n) = a.shape();
        let left = (!rows.is_all()).then(|| selection("rows", rows, m, a.ty())).transpose()?;
        let right = (!cols.is_all()).then(|| self.transposed(&selection("cols", cols, n, a.ty())?)).transpose()?;
        self.between(left, a, right)
    }
    fn place(&self, a: &Matrix, rows: &IndexList, cols: &IndexList, (m, n): (usize, usize)) -> Result<Object> {
        let (of_rows, of_cols) = (rows.check("rows", m)?, cols.check("cols", n)?);
        if (of_rows.len(), of_cols.len()) != a.shape() {
            return Err(Error::Shape { op: "assign", lhs: (of_rows.len(), of_cols.len()), rhs: a.shape() });
        }
        of_rows.no_repeats("rows")?;
        of_cols.no_repeats("cols")?;
        let left = (!rows.is_all()).then(|| self.transposed(&selection("rows", rows, m, a.ty())?)).transpose()?;
        let right = (!cols.is_all()).then(|| selection("cols", cols, n, a.ty())).transpose()?;
        self.between(left, a, right)
    }
    fn within(&self, a: &Matrix, rows: &IndexList, cols: &IndexList) -> Result<Object> {
        let keeps = |name, list: &IndexList, n: usize| -> Result<Option<Matrix>> {
            if list.is_all() {
                return Ok(None);
            }
            list.check(name, n)?;
            let here = Vector::constant_at(&zero(a.ty())?, list, n)?;
            diagonal_matrix(&here, 0).map(Some)
        };
        let (m, n) = a.shape();
        self.between(keeps("rows", rows, m)?, a, keeps("cols", cols, n)?)
    }
    fn extract_vector(&self, u: &Vector, list: &IndexList) -> Result<Object> {
        let (ring, p) = (Semiring::new("any_second", u.ty())?, selection("indices", list, u.len(), u.ty())?);
        self.0.run(&Call::binary(Op::Mxv(&ring), &p, u))
    }
    fn place_vector(&self, u: &Vector, list: &IndexList, len: usize) -> Result<Object> {
        list.check("indices", len)?.no_repeats("indices")?;
        self.folded(u, list, len, &Semiring::new("any_first", u.ty())?)
    }
    fn scatter(&self, u: &Vector, list: &IndexList, len: usize, dup: &BinaryOp) -> Result<Object> {
        self.folded(u, list, len, &Semiring::new(&format!("{dup}, a"), u.ty())?)
    }
    /// uᵀ·P.
    fn folded(&self, u: &Vector, list: &IndexList, len: usize, ring: &Semiring) -> Result<Object> {
        let p = selection("indices", list, len, u.ty())?;
        if p.shape().0 != u.len() {
            return Err(Error::Shape { op: "assign", lhs: (p.shape().0, 1), rhs: (u.len(), 1) });
        }
        self.0.run(&Call::binary(Op::Vxm(ring), u, &p))
    }
    fn within_vector(&self, u: &Vector, list: &IndexList) -> Result<Object> {
        let mask = Vector::constant_at(&Scalar::from(true), list, u.len())?;
        self.0.run(&Call::unary(Op::Identity, u).mask(&mask, false))
    }
    /// The entries at `list` of row or column `at` of the matrix.
    fn line(&self, a: &Matrix, (at, n): (usize, usize), name: &'static str, list: &IndexList) -> Result<Object> {
        let unit = IndexList::from(at..at.saturating_add(1));
        unit.check(name, n)?;
        let unit = Vector::constant_at(&zero(a.ty())?, &unit, n)?;
        let line: Vector = if name == "rows" {
            let ring = Semiring::new("any_second", a.ty())?;
            self.0.run(&Call::binary(Op::Vxm(&ring), &unit, a))?.try_into()?
        } else {
            let ring = Semiring::new("any_first", a.ty())?;
            self.0.run(&Call::binary(Op::Mxv(&ring), a, &unit))?.try_into()?
        };
        if list.is_all() { Ok(line.into()) } else { self.extract_vector(&line, list) }
    }
    fn diagonal_matrix(&self, u: &Vector, k: i64) -> Result<Object> {
        self.0.upload((&diagonal_matrix(&u.download()?, k)?).into())
    }
    fn diagonal(&self, a: &Matrix, k: i64) -> Result<Object> {
        let on_it = UnaryOp::new("diag", a.ty())?.with(k)?;
        let entries: Matrix = self.0.run(&Call::unary(Op::Select(&on_it), a))?.try_into()?;
        let any = Monoid::new("any", a.ty())?;
        let line: Vector = self.0.run(&Call::unary(Op::ReduceRows(&any), &entries))?.try_into()?;
        let ((first, _), len) = crate::ops::diagonal_of(a.shape(), k);
        self.extract_vector(&line, &(first.min(line.len())..first.min(line.len()) + len).into())
    }
    fn union(
        &self,
        op: &BinaryOp,
        (a, for_a): (Operand<'_>, &Scalar),
        (b, for_b): (Operand<'_>, &Scalar),
    ) -> Result<Object> {
        let alone = |x: Operand<'_>, other: Operand<'_>, f: &UnaryOp| {
            let rest = self.0.run(&Call::unary(Op::Identity, x).mask(other, true))?;
            self.0.run(&Call::unary(Op::Apply(f), rest.operand()?))
        };
        let both = self.0.run(&Call::binary(Op::Pairs(Pairing::EwiseMult, op), a, b))?;
        let of_a = alone(a, b, &op.with_second(for_b.clone())?)?;
        let of_b = alone(b, a, &op.with_first(for_a.clone())?)?;
        let first = BinaryOp::new("first", op.ty())?;
        let most = self.0.run(&Call::binary(Op::EwiseAdd(&first), both.operand()?, of_a.operand()?))?;
        self.0.run(&Call::binary(Op::EwiseAdd(&first), most.operand()?, of_b.operand()?))
    }
}

/// A value of a type.
fn zero(ty: Type) -> Result<Scalar> {
    Scalar::only(zeros_any(ty, 1)?.slice())
}

/// P, with an entry (p, I(p)) for each index of a list of a dimension.
fn selection(name: &'static str, list: &IndexList, dimension: usize, ty: Type) -> Result<Matrix> {
    let list = list.check(name, dimension)?;
    let mut row_ptr = zeros(list.len().saturating_add(1), "row pointers")?;
    row_ptr.iter_mut().enumerate().for_each(|(p, at)| *at = p);
    let cols = collected(list.len(), (0..list.len()).map(|p| u32::cast(list.at(p))), "column indices")?;
    let pattern = Pattern::from_parts(list.len(), dimension, row_ptr, cols, true);
    Matrix::new(Arc::new(pattern), zeros_any(ty, list.len())?)
}

/// The square matrix whose diagonal k is a vector of the host.
fn diagonal_matrix(u: &Vector, k: i64) -> Result<Matrix> {
    let (pattern, values) = by_formula::diagonal_matrix(&Threads::current(), u.view()?, k)?;
    Matrix::new(pattern, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;

    /// A matrix with entries at about one place in three.
    fn matrix(m: usize, n: usize, seed: u64) -> Matrix {
        let mut builder = crate::sparse::Builder::<f64>::new(m, n).unwrap();
        for (p, hash) in (0..m * n).map(|p| (p, (p as u64 + 1).wrapping_mul(seed | 1) >> 7)) {
            if hash % 3 == 0 {
                builder.push(p / n, p % n, (hash % 100) as f64).unwrap();
            }
        }
        builder.unique().unwrap().into()
    }

    #[test]
    fn compositions_give_what_kernels_give() {
        let cpu = Cpu::with_threads(2).unwrap();
        let text = |made: &Object| match made {
            Object::Matrix(a) => format!("{:?} {:?}", a.shape(), a.csr::<f64>().unwrap().iter().collect::<Vec<_>>()),
            Object::Vector(x) => format!("{} {:?}", x.len(), x.typed::<f64>().unwrap().iter().collect::<Vec<_>>()),
            Object::Scalar(s) => s.to_string(),
        };
        let check = |op: Op<'_>, a: Operand<'_>, b: Option<Operand<'_>>| {
            let made = composed(&cpu, op, a, b).unwrap().unwrap();
            let want = cpu.run(&Call { op, a, b, mask: None }).unwrap();
            assert_eq!(text(&made), text(&want), "{op:?}");
        };
        let lists = |n: usize| -> [IndexList; 5] {
            let backwards = IndexList::strided(n - 1, -2, n / 2);
            [IndexList::all(), (1..n - 1).into(), backwards, vec![2, 0, 1].into(), vec![].into()]
        };
        let (plus, minus) = (BinaryOp::new("plus", Type::F64).unwrap(), BinaryOp::new("minus", Type::F64).unwrap());
        let (for_a, for_b) = (Scalar::from(1000.0), Scalar::from(7.0));
        for (m, n, seed) in [(5, 9, 0x9e37_79b9), (8, 4, 0x1234_5677), (6, 6, 0xdead_beef)] {
            let (a, b) = (matrix(m, n, seed), matrix(m, n, !seed));
            let line = cpu.run(&Call::unary(Op::ExtractRow(1, &IndexList::all()), &a)).unwrap();
            let other = cpu.run(&Call::unary(Op::ExtractRow(2, &IndexList::all()), &a)).unwrap();
            let (u, v) = (line.operand().unwrap(), other.operand().unwrap());
            let union = Op::EwiseUnion(&minus, &for_a, &for_b);
            check(union, (&a).into(), Some((&b).into()));
            check(union, u, Some(v));
            for k in -10..10 {
                check(Op::Diagonal(k), (&a).into(), None);
                check(Op::Diag(k), u, None);
            }
            for rows in lists(m) {
                for cols in lists(n) {
                    check(Op::Extract(&rows, &cols), (&a).into(), None);
                    check(Op::Within(&rows, &cols), (&a).into(), None);
                    let part = matrix(rows.len(m), cols.len(n), seed);
                    check(Op::Place(&rows, &cols, (m, n)), (&part).into(), None);
                }
                check(Op::ExtractColumn(&rows, n - 1), (&a).into(), None);
            }
            for cols in lists(n) {
                check(Op::ExtractRow(m - 1, &cols), (&a).into(), None);
                check(Op::Extract(&cols, &IndexList::all()), u, None);
                check(Op::Within(&cols, &IndexList::all()), u, None);
                let part = cpu.run(&Call::unary(Op::Extract(&cols, &IndexList::all()), v.vector())).unwrap();
                check(Op::Place(&cols, &IndexList::all(), (n, 1)), part.operand().unwrap(), None);
            }
            let repeats = IndexList::from((0..n).map(|p| p / 2).collect::<Vec<_>>());
            check(Op::Scatter(&repeats, n, &plus), u, None);
        }
    }

    impl<'a> Operand<'a> {
        fn vector(self) -> &'a Vector {
            match self {
                Self::Vector(x) => x,
                Self::Matrix(_) => panic!("a matrix"),
            }
        }
    }
}

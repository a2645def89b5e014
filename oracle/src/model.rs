//! The specification: T of each operation, Z = C ⊙ T, and C⟨M, replace⟩ = Z.
//!
//! Each definition is that of the specification, element by element, without regard to cost. Vectors are tables of one
//! column.
//!
//! Source: GraphBLAS C API 2.1, §2.3.4 (masks), §4.3 (operations); Davis 2019 for eWiseUnion and concat.

use crate::case::{Case, Op, Ring};
use crate::operators::{
    binary, binary_type, fold, identity, index_unary, index_unary_types, multiply, unary, unary_type,
};
use crate::table::{Kind, Table};
use crate::value::{Type, Value};

/// C after the call.
#[must_use]
pub fn expected(case: &Case) -> Table {
    let (c, mask) = (case.table(case.c), mask(case));
    match &case.op {
        // A row or a column of C is written as a vector; mask and replace apply to that vector.
        Op::AssignRow { row, cols } => {
            let old = Table::vector(c.ty, c.ncols, |j| c.get(*row, j));
            let z = assigned(&old, &operand(case, 0), cols, &[0], case.accum);
            let new = written(&old, &z, &mask, case.replace);
            c.like(c.ty, |i, j| if i == *row { new.get(j, 0) } else { c.get(i, j) })
        }
        Op::AssignColumn { rows, col } => {
            let old = Table::vector(c.ty, c.nrows, |i| c.get(i, *col));
            let z = assigned(&old, &operand(case, 0), rows, &[0], case.accum);
            let new = written(&old, &z, &mask, case.replace);
            c.like(c.ty, |i, j| if j == *col { new.get(i, 0) } else { c.get(i, j) })
        }
        Op::Assign { rows, cols } => {
            let z = assigned(c, &operand(case, 0), rows, cols, case.accum);
            written(c, &z, &mask, case.replace)
        }
        Op::AssignScalar { rows, cols, x } => {
            let a = Table::new(c.kind, c.ty, (rows.len(), cols.len()), |_, _| Some(*x));
            written(c, &assigned(c, &a, rows, cols, case.accum), &mask, case.replace)
        }
        _ => written(c, &accumulated(c, &computed(case), case.accum), &mask, case.replace),
    }
}

/// The positions that the mask allows; all without a mask.
fn mask(case: &Case) -> impl Fn(usize, usize) -> bool + '_ {
    |i, j| match case.mask {
        None => true,
        Some(mask) => {
            let entry = case.table(mask.object).get(i, j);
            let allows = if mask.structure { entry.is_some() } else { entry.is_some_and(Value::nonzero) };
            allows != mask.complement
        }
    }
}

/// Z = C ⊙ T: c ⊙ t where both have an entry, else the entry of either. Without ⊙, Z = T.
fn accumulated(c: &Table, t: &Table, accum: Option<&str>) -> Table {
    assert_eq!((c.kind, c.shape(), c.ty), (t.kind, t.shape(), t.ty), "the result has the shape and the type of C");
    match accum {
        None => t.clone(),
        Some(op) => union(op, c, t),
    }
}

/// C⟨M, replace⟩ = Z: Z where the mask allows; elsewhere empty with replace, else C.
fn written(c: &Table, z: &Table, allows: &impl Fn(usize, usize) -> bool, replace: bool) -> Table {
    c.like(c.ty, |i, j| match (allows(i, j), replace) {
        (true, _) => z.get(i, j),
        (false, true) => None,
        (false, false) => c.get(i, j),
    })
}

/// Z of C(rows, cols) ⊙= A: C outside the rows and columns; inside, C ⊙ A, or A without ⊙, including its absent
/// entries.
fn assigned(c: &Table, a: &Table, rows: &[usize], cols: &[usize], accum: Option<&str>) -> Table {
    assert_eq!(a.shape(), (rows.len(), cols.len()), "A has the shape of the index lists");
    c.like(c.ty, |i, j| {
        let position = |list: &[usize], x: usize| list.iter().position(|&y| y == x);
        let (Some(p), Some(q)) = (position(rows, i), position(cols, j)) else { return c.get(i, j) };
        match accum {
            None => a.get(p, q),
            Some(op) => joined(op, c.ty, c.get(i, j), a.get(p, q)),
        }
    })
}

/// x ∘ y where both exist, else the one that does.
fn joined(op: &str, ty: Type, x: Option<Value>, y: Option<Value>) -> Option<Value> {
    match (x, y) {
        (Some(x), Some(y)) => Some(binary(op, ty, x, y)),
        (x, y) => x.or(y),
    }
}

/// A ∘ B over the union of their patterns.
fn union(op: &str, a: &Table, b: &Table) -> Table {
    assert_eq!(a.shape(), b.shape());
    a.like(a.ty, |i, j| joined(op, a.ty, a.get(i, j), b.get(i, j)))
}

/// An operand, transposed if the case says so.
fn operand(case: &Case, n: usize) -> Table {
    let x = case.table(case.operands[n]);
    if n < 2 && case.transpose[n] && x.kind == Kind::Matrix { x.transposed() } else { x.clone() }
}

/// A ⊕.⊗ B: ⊕ over the k for which A(i, k) and B(k, j) exist; no entry if there is no such k.
fn product(ring: Ring, a: &Table, b: &Table) -> Table {
    assert_eq!(a.ncols, b.nrows, "inner dimensions");
    let ty = product_type(ring, a.ty);
    Table::matrix(ty, (a.nrows, b.ncols), |i, j| {
        let products = (0..a.ncols).filter_map(|k| {
            let (x, y) = (a.get(i, k)?, b.get(k, j)?);
            Some(multiply(ring.mul, a.ty, x, y, (i, k, j)))
        });
        fold(ring.add, ty, products)
    })
}

fn product_type(ring: Ring, ty: Type) -> Type {
    binary_type(ring.mul, ty).unwrap_or_else(|| panic!("{ty:?} has no {}", ring.mul))
}
/// Columns and values of row i.
fn row(a: &Table, i: usize) -> impl Iterator<Item = (usize, Value)> + Clone + '_ {
    (0..a.ncols).filter_map(move |j| Some((j, a.get(i, j)?)))
}
/// The vector of f(i) over the rows of A.
fn by_rows(a: &Table, ty: Type, f: impl Fn(usize) -> Option<Value>) -> Table {
    Table::vector(ty, a.nrows, f)
}

/// T: the result of the operation, before mask and accumulator.
fn computed(case: &Case) -> Table {
    let x = |n| operand(case, n);
    let c = case.table(case.c);
    match &case.op {
        Op::Identity => x(0),
        Op::Transpose => x(0).transposed(),

        Op::Mxm { ring } => product(*ring, &x(0), &x(1)),
        Op::Mxv { ring } => product(*ring, &x(0), &x(1)).as_kind(Kind::Vector),
        Op::Spmm { ring } => {
            let y = product(*ring, &x(0), &x(1));
            y.like(y.ty, |i, j| y.get(i, j).or_else(|| identity(ring.add, y.ty)))
        }
        Op::Vxm { ring } => product(*ring, &x(0).transposed(), &x(1)).transposed().as_kind(Kind::Vector),

        Op::EwiseAdd { op } => union(op, &x(0), &x(1)),
        Op::EwiseMult { op } => {
            let (a, b) = (x(0), x(1));
            assert_eq!(a.shape(), b.shape());
            let ty = binary_type(op, a.ty).expect("an operator of the type");
            a.like(ty, |i, j| Some(binary(op, a.ty, a.get(i, j)?, b.get(i, j)?)))
        }
        Op::EwiseUnion { op, alpha, beta } => {
            let (a, b) = (x(0), x(1));
            assert_eq!(a.shape(), b.shape());
            let ty = binary_type(op, a.ty).expect("an operator of the type");
            a.like(ty, |i, j| match (a.get(i, j), b.get(i, j)) {
                (None, None) => None,
                (x, y) => Some(binary(op, a.ty, x.unwrap_or(*alpha), y.unwrap_or(*beta))),
            })
        }
        Op::Kronecker { op } => {
            let (a, b) = (x(0), x(1));
            let ty = binary_type(op, a.ty).expect("an operator of the type");
            let (p, q) = b.shape();
            Table::matrix(ty, (a.nrows * p, a.ncols * q), |i, j| {
                Some(binary(op, a.ty, a.get(i / p, j / q)?, b.get(i % p, j % q)?))
            })
        }

        Op::Apply { op } => {
            let a = x(0);
            let ty = unary_type(op, a.ty).expect("an operator of the type");
            a.like(ty, |i, j| Some(unary(op, a.ty, a.get(i, j)?)))
        }
        Op::ApplyFirst { op, s } => {
            let a = x(0);
            let ty = binary_type(op, a.ty).expect("an operator of the type");
            a.like(ty, |i, j| Some(binary(op, a.ty, *s, a.get(i, j)?)))
        }
        Op::ApplySecond { op, s } => {
            let a = x(0);
            let ty = binary_type(op, a.ty).expect("an operator of the type");
            a.like(ty, |i, j| Some(binary(op, a.ty, a.get(i, j)?, *s)))
        }
        Op::ApplyIndex { op, s } => {
            let a = x(0);
            let (_, ty) = index_unary_types(op, a.ty).expect("an operator of the type");
            a.like(ty, |i, j| Some(index_unary(op, a.ty, a.get(i, j)?, *s, (i, j))))
        }
        Op::Select { op, s } => {
            let a = x(0);
            a.like(a.ty, |i, j| a.get(i, j).filter(|&x| index_unary(op, a.ty, x, *s, (i, j)).nonzero()))
        }

        Op::ReduceRows { monoid } => {
            let a = x(0);
            by_rows(&a, a.ty, |i| fold(monoid, a.ty, row(&a, i).map(|(_, x)| x)))
        }
        Op::Reduce { monoid } => {
            let a = x(0);
            let sum = fold(monoid, a.ty, a.entries().map(|(_, _, x)| x));
            Table::scalar(a.ty, sum.or_else(|| identity(monoid, a.ty)))
        }
        Op::ReduceScalar { monoid } => {
            let a = x(0);
            Table::scalar(a.ty, fold(monoid, a.ty, a.entries().map(|(_, _, x)| x)))
        }
        Op::Count => {
            let a = x(0);
            by_rows(&a, Type::I64, |i| {
                let n = row(&a, i).count();
                (n > 0).then(|| Type::I64.number(n as i128))
            })
        }
        Op::Mean => {
            let a = x(0);
            by_rows(&a, Type::F64, |i| {
                let numbers = row(&a, i).map(|(_, x)| x.real());
                let n = numbers.clone().count();
                (n > 0).then(|| Value::Real(numbers.sum::<f64>() / n as f64))
            })
        }
        Op::ArgMin => by_rows(&x(0), Type::I64, |i| first_best(&x(0), i, "lt")),
        Op::ArgMax => by_rows(&x(0), Type::I64, |i| first_best(&x(0), i, "gt")),

        Op::Extract { rows, cols } => {
            let a = x(0);
            Table::new(a.kind, a.ty, (rows.len(), cols.len()), |p, q| a.get(rows[p], cols[q]))
        }
        Op::ExtractColumn { rows, col } => {
            let a = x(0);
            Table::vector(a.ty, rows.len(), |p| a.get(rows[p], *col))
        }
        Op::Scatter { indices, monoid } => {
            let u = x(0);
            Table::vector(u.ty, c.nrows, |i| {
                fold(monoid, u.ty, (0..u.nrows).filter(|&p| indices[p] == i).filter_map(|p| u.get(p, 0)))
            })
        }
        Op::Diag { k } => {
            let u = x(0);
            let n = u.nrows + k.unsigned_abs() as usize;
            Table::matrix(u.ty, (n, n), |i, j| if j as i64 - i as i64 == *k { u.get(i.min(j), 0) } else { None })
        }
        Op::Diagonal { k } => {
            let a = x(0);
            let on = |i: &usize| usize::try_from(*i as i64 + k).is_ok_and(|j| j < a.ncols);
            let rows: Vec<usize> = (0..a.nrows).filter(on).collect();
            Table::vector(a.ty, rows.len(), |p| a.get(rows[p], (rows[p] as i64 + k) as usize))
        }
        Op::Concat { across } => {
            let tiles: Vec<Table> = (0..case.operands.len()).map(x).collect();
            c.like(tiles[0].ty, |mut i, mut j| {
                let mut tile = 0;
                while i >= tiles[tile].nrows {
                    i -= tiles[tile].nrows;
                    tile += across;
                }
                while j >= tiles[tile].ncols {
                    j -= tiles[tile].ncols;
                    tile += 1;
                }
                tiles[tile].get(i, j)
            })
        }
        Op::Block { rows, cols } => {
            let a = x(0);
            Table::new(a.kind, a.ty, (rows.1 - rows.0, cols.1 - cols.0), |i, j| a.get(rows.0 + i, cols.0 + j))
        }
        Op::Resize { shape } => {
            let a = x(0);
            Table::new(a.kind, a.ty, *shape, |i, j| if i < a.nrows && j < a.ncols { a.get(i, j) } else { None })
        }
        Op::Build { tuples, dup } => {
            c.like(c.ty, |i, j| fold(dup, c.ty, tuples.iter().filter(|t| (t.0, t.1) == (i, j)).map(|t| t.2)))
        }
        Op::Assign { .. } | Op::AssignRow { .. } | Op::AssignColumn { .. } | Op::AssignScalar { .. } => {
            unreachable!("an assignment says what Z is")
        }
    }
}

/// The column of the best value of row i, the first of equal ones.
fn first_best(a: &Table, i: usize, better: &str) -> Option<Value> {
    let best = row(a, i).reduce(|x, y| if binary(better, a.ty, y.1, x.1).nonzero() { y } else { x });
    best.map(|(j, _)| Type::I64.number(j as i128))
}

/// The type of T and of C.
#[must_use]
pub fn result_type(op: &Op, ty: Type) -> Option<Type> {
    match op {
        Op::Mxm { ring } | Op::Mxv { ring } | Op::Vxm { ring } | Op::Spmm { ring } => {
            let of = binary_type(ring.mul, ty)?;
            identity(ring.add, of).map(|_| of)
        }
        Op::EwiseAdd { op } => binary_type(op, ty).filter(|&of| of == ty),
        Op::EwiseMult { op }
        | Op::EwiseUnion { op, .. }
        | Op::Kronecker { op }
        | Op::ApplyFirst { op, .. }
        | Op::ApplySecond { op, .. } => binary_type(op, ty),
        Op::Apply { op } => unary_type(op, ty),
        Op::ApplyIndex { op, .. } => index_unary_types(op, ty).map(|(_, of)| of),
        Op::Select { op, .. } => index_unary_types(op, ty).filter(|(_, of)| *of == Type::Bool).map(|_| ty),
        Op::ReduceRows { monoid }
        | Op::Reduce { monoid }
        | Op::ReduceScalar { monoid }
        | Op::Scatter { monoid, .. } => identity(monoid, ty).map(|_| ty),
        Op::Count => Some(Type::I64),
        // Sums of 64-bit integers are not exact in f64, so the result would depend on the order.
        Op::Mean => (!ty.is_complex() && !matches!(ty, Type::I64 | Type::U64)).then_some(Type::F64),
        Op::ArgMin | Op::ArgMax => (!ty.is_complex()).then_some(Type::I64),
        Op::Build { dup, .. } => binary_type(dup, ty).filter(|&of| of == ty),
        _ => Some(ty),
    }
}

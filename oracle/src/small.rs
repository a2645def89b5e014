//! Exhaustive cases of small shapes.

use crate::case::{Case, Form, Op, Ring};
use crate::operators::binary_type;
use crate::plan::{Alias, Plan, Role, TYPES, Write};
use crate::table::{Kind, Table};
use crate::value::{Type, Value};

/// Masks: none, and every combination of structural or valued, complemented or not.
const MASKS: [Option<(bool, bool)>; 5] =
    [None, Some((false, false)), Some((false, true)), Some((true, false)), Some((true, true))];

/// Calls `visit` with every n-th case of small shapes; with all of them for `every` = 1.
///
/// First, Identity with every state of two elements: T absent, zero or nonzero; C absent or present; M absent, zero or
/// nonzero; under all masks × replace × {no accumulator, −}. Then every operation × mask × replace × {no accumulator,
/// −, second} × transposition × aliases × shapes × operands that are empty, full, mixed with zeros, and mixed without
/// zeros. Types and storage forms cycle.
pub fn exhaustive(every: usize, visit: &mut dyn FnMut(Case)) {
    let mut n = 0;
    let mut chosen = || {
        n += 1;
        (n % every == 0).then_some(n)
    };
    two_elements(&mut chosen, visit);
    shapes(&mut chosen, visit);
}

/// All distinct combinations of mask, accumulator and replace.
fn writes(accums: &[Option<&'static str>]) -> Vec<Write> {
    let mut writes = vec![];
    for mask in MASKS {
        for &accum in accums {
            for replace in [false, true] {
                if mask.is_some() || !replace {
                    writes.push(Write { mask, accum, replace });
                }
            }
        }
    }
    writes
}

fn two_elements(chosen: &mut dyn FnMut() -> Option<usize>, visit: &mut dyn FnMut(Case)) {
    for (kind, shape) in [(Kind::Vector, (2, 1)), (Kind::Matrix, (1, 2)), (Kind::Matrix, (2, 1))] {
        for write in writes(&[None, Some("minus")]) {
            for states in 0..18 * 18 {
                let Some(n) = chosen() else { continue };
                let ty = TYPES[n % TYPES.len()];
                let plan = Plan::new(Op::Identity, ty, kind, (shape.0, 1, shape.1), [false; 2]).expect("identity");
                let scale = if n % 7 == 0 { 70 } else { 1 };
                let case = plan.case(Alias::default(), write, ty, scale, |role, (kind, shape), ty| {
                    let table = Table::new(kind, ty, shape, |i, j| {
                        let state = if i + j == 0 { states % 18 } else { states / 18 };
                        let number = |x: i128| Some(ty.number(x));
                        match role {
                            Role::C => [None, number(5)][state % 2],
                            Role::Mask => [None, number(0), number(1)][state / 2 % 3],
                            Role::Operand(_) => [None, number(0), number(3)][state / 6],
                        }
                    });
                    (table, form(n, role))
                });
                visit(case.expect("nothing is one"));
            }
        }
    }
}

fn form(n: usize, role: Role) -> Form {
    let of_role = match role {
        Role::C => n,
        Role::Operand(k) => n / 3 + k,
        Role::Mask => n / 9,
    };
    Form::ALL[of_role % 3]
}

/// The operations, with parameters for m×n operands.
fn operations(ty: Type, (m, n): (usize, usize)) -> Vec<Op> {
    let ring = Ring { add: "plus", mul: "times" };
    // Reversed, with a duplicate.
    let repeated = |n: usize| (0..n).rev().chain((0..n).take(1)).collect::<Vec<_>>();
    let reversed = |n: usize| (0..n).rev().collect::<Vec<_>>();
    let last = |n: usize| n.saturating_sub(1)..n;
    let zero = Type::I64.zero();
    let mut ops = vec![
        Op::Identity,
        Op::Transpose,
        Op::Mxm { ring },
        Op::Mxm { ring: Ring { add: "plus", mul: "secondi" } },
        Op::Mxv { ring },
        Op::Mxv { ring: Ring { add: "plus", mul: "second" } },
        Op::Vxm { ring },
        Op::Vxm { ring: Ring { add: "plus", mul: "first" } },
        Op::Spmm { ring },
        Op::EwiseAdd { op: "minus" },
        Op::EwiseMult { op: "minus" },
        Op::EwiseUnion { op: "minus", alpha: ty.number(7), beta: ty.number(9) },
        Op::Kronecker { op: "minus" },
        Op::Apply { op: "ainv" },
        Op::ApplyFirst { op: "minus", s: ty.number(2) },
        Op::ApplySecond { op: "minus", s: ty.number(2) },
        Op::ApplyIndex { op: "col_index", s: Type::I64.one() },
        Op::Select { op: "tril", s: zero },
        Op::Select { op: "value_ne", s: ty.zero() },
        Op::ReduceRows { monoid: "plus" },
        Op::Reduce { monoid: "plus" },
        Op::ReduceScalar { monoid: "plus" },
        Op::Count,
        Op::ArgMin,
        Op::ArgMax,
        Op::Mean,
        Op::Extract { rows: repeated(m), cols: repeated(n) },
        Op::Assign { rows: reversed(m), cols: last(n).collect() },
        Op::Assign { rows: last(m).collect(), cols: reversed(n) },
        Op::AssignScalar { rows: last(m).collect(), cols: reversed(n), x: ty.number(6) },
        Op::AssignScalar { rows: (0..m).collect(), cols: (0..n).collect(), x: ty.number(6) },
        Op::Scatter { indices: repeated(m), monoid: "plus" },
        Op::Diag { k: 1 },
        Op::Diag { k: -1 },
        Op::Diagonal { k: 0 },
        Op::Diagonal { k: -1 },
        Op::Concat { across: 2 },
        Op::Block { rows: (m / 2, m), cols: (0, n) },
        Op::Resize { shape: (m + 1, n.saturating_sub(1)) },
    ];
    if n > 0 {
        ops.push(Op::ExtractColumn { rows: repeated(m), col: n - 1 });
        ops.push(Op::AssignColumn { rows: reversed(m), col: n - 1 });
    }
    if m > 0 {
        ops.push(Op::AssignRow { row: m - 1, cols: last(n).collect() });
    }
    if m * n > 0 {
        let tuples = vec![(m - 1, 0, ty.number(3)), (0, 0, ty.one()), (m - 1, 0, ty.one())];
        ops.push(Op::Build { tuples, dup: "minus" });
    }
    ops
}

/// The aliases of a call, without and with a mask.
const ALIASES: [Alias; 9] = {
    const NONE: Alias = Alias { a_is_c: false, b_is_c: false, b_is_a: false, mask_is_c: false, mask_is_a: false };
    [
        NONE,
        Alias { a_is_c: true, ..NONE },
        Alias { b_is_c: true, ..NONE },
        Alias { a_is_c: true, b_is_c: true, ..NONE },
        Alias { b_is_a: true, ..NONE },
        Alias { mask_is_c: true, ..NONE },
        Alias { mask_is_a: true, ..NONE },
        Alias { a_is_c: true, mask_is_c: true, ..NONE },
        Alias { b_is_c: true, mask_is_c: true, ..NONE },
    ]
};

fn shapes(chosen: &mut dyn FnMut() -> Option<usize>, visit: &mut dyn FnMut(Case)) {
    let dims = [(2, 2, 2), (2, 3, 2), (2, 2, 3), (1, 4, 1), (0, 2, 3), (3, 0, 2)];
    let writes = writes(&[None, Some("minus"), Some("second")]);
    let transpositions = [[false, false], [true, false], [false, true], [true, true]];
    for kind in [Kind::Matrix, Kind::Vector] {
        for dims in dims {
            // A vector is a table of one column.
            let width = if kind == Kind::Vector { 1 } else { dims.2 };
            let dims = (dims.0, dims.1, width);
            for op in 0..operations(Type::I64, (dims.0, width)).len() {
                let sample = operations(Type::F64, (dims.0, width))[op].clone();
                let plan = Plan::new(sample, Type::F64, kind, dims, [false; 2]);
                let bare = plan.is_some_and(|plan| plan.mask.is_none());
                for transpose in transpositions {
                    // Contents of C, A, B and the mask: each empty, full, or one of two mixed ones.
                    for contents in 0..4usize.pow(4) {
                        for (alias_number, alias) in ALIASES.into_iter().enumerate() {
                            for &write in &writes {
                                if write.mask.is_none() && contents >= 64 {
                                    continue;
                                }
                                // Operations without a mask have so few cases that none is skipped.
                                let n = match chosen() {
                                    Some(n) => n,
                                    None if bare && alias_number == 0 && write.mask.is_none() => contents,
                                    None => continue,
                                };
                                let ty = TYPES[n % TYPES.len()];
                                let op = operations(ty, (dims.0, width))[op].clone();
                                let Some(plan) = Plan::new(op, ty, kind, dims, transpose) else { continue };
                                let accum = write.accum.filter(|op| binary_type(op, plan.out) == Some(plan.out));
                                let scale = if plan.scales() && n % 11 == 0 { 70 } else { 1 };
                                let case = plan.case(alias, Write { accum, ..write }, ty, scale, |role, spec, ty| {
                                    (content(role, contents, ty, spec), form(n, role))
                                });
                                case.into_iter().for_each(&mut *visit);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Empty, full, mixed with zeros, or mixed without zeros, encoded as base-4 digits for C, A, B, and the mask.
fn content(role: Role, contents: usize, ty: Type, (kind, shape): (Kind, (usize, usize))) -> Table {
    let digit: usize = match role {
        Role::C => 0,
        Role::Operand(n) => 1 + n % 2,
        Role::Mask => 3,
    };
    let mut p = 0;
    Table::new(kind, ty, shape, |i, j| {
        p += 1;
        let number = |x: usize| -> Option<Value> { Some(ty.number(x as i128)) };
        match contents / [1, 4, 16, 64][digit] % 4 {
            0 => None,
            1 => number(1 + (p * 7 + digit * 3) % 5),
            2 => [number(p + 1), None, number(0)][(i * 2 + j + digit) % 3],
            _ => [None, number(p + 2), number(p + 3)][(i + j * 2 + digit) % 3],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expected;

    #[test]
    fn all_have_a_result() {
        let (mut ops, mut n) = (std::collections::BTreeMap::new(), 0);
        exhaustive(101, &mut |case| {
            n += 1;
            *ops.entry(case.op.name()).or_insert(0) += 1;
            let c = expected(&case);
            assert_eq!((c.kind, c.shape(), c.ty), (case.kind(), case.table(case.c).shape(), case.table(case.c).ty));
        });
        assert!(ops.len() == 35 && n > 10_000, "{n}: {ops:?}");
    }
}

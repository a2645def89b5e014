//! Random cases.

use crate::case::{Case, Form, Op, Ring};
use crate::operators::{binary_type, index_unary_types};
use crate::plan::{Alias, Plan, Role, TYPES, Write};
use crate::table::{Kind, Table};
use crate::value::{Type, Value};

/// The generator splitmix64: cases depend only on the seed, on any platform.
#[derive(Clone, Debug)]
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// Uniform in 0..n, n > 0.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    /// Random indices below n, possibly with duplicates; empty if n is 0.
    fn indices(&mut self, n: usize) -> Vec<usize> {
        if n == 0 {
            return vec![];
        }
        let len = self.below(n + 3);
        (0..len).map(|_| self.below(n)).collect()
    }
    /// A random subset of 0..n in random order; sometimes all of it.
    fn subset(&mut self, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        if self.one_in(4) {
            return all;
        }
        for p in (1..n).rev() {
            all.swap(p, self.below(p + 1));
        }
        all.truncate(self.below(n + 1));
        all
    }
    /// A random range within 0..n.
    fn range(&mut self, n: usize) -> (usize, usize) {
        let (x, y) = (self.below(n + 1), self.below(n + 1));
        (x.min(y), x.max(y))
    }
}

const BINARY: [&str; 20] = [
    "plus", "minus", "times", "div", "min", "max", "first", "second", "pair", "eq", "ne", "lt", "gt", "le", "ge",
    "lor", "land", "lxor", "bor", "bxor",
];
const MONOIDS: [&str; 9] = ["plus", "times", "min", "max", "lor", "land", "lxor", "bor", "bxor"];
const MULTIPLY: [&str; 14] = [
    "plus", "minus", "times", "min", "max", "first", "second", "pair", "eq", "lt", "land", "firsti", "secondi",
    "secondj",
];
const UNARY: [&str; 6] = ["identity", "ainv", "abs", "one", "bnot", "lnot"];
const INDEX: [&str; 17] = [
    "row_index",
    "col_index",
    "diag_index",
    "tril",
    "triu",
    "diag",
    "offdiag",
    "row_le",
    "row_gt",
    "col_le",
    "col_gt",
    "value_eq",
    "value_ne",
    "value_lt",
    "value_le",
    "value_gt",
    "value_ge",
];

/// An infinite sequence of random cases: matrices up to 9×9 and vectors up to length 70; all types, operators and
/// operations.
///
/// Float values are small, so that sums and products are exact in any order; integers include their limits.
#[derive(Clone, Debug)]
pub struct Random(Rng);

impl Random {
    /// The cases of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Rng(seed))
    }

    /// A random value that keeps float arithmetic exact; 0 with probability 1/4.
    fn value(&mut self, ty: Type) -> Value {
        let rng = &mut self.0;
        if rng.one_in(4) {
            return ty.zero();
        }
        match ty {
            Type::Bool => Value::Bool(true),
            Type::F32 | Type::F64 => Value::Real(rng.pick(&[-2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0])),
            Type::ComplexF32 | Type::ComplexF64 => {
                Value::Complex(rng.pick(&[-2.0, -1.0, 1.0, 2.0]), rng.pick(&[-1.0, 0.0, 1.0, 2.0]))
            }
            _ => match (rng.below(4), ty.range()) {
                (0, Some((least, most))) => Value::Int(rng.pick(&[least, least + 1, most, most - 1])),
                _ => ty.number(rng.below(12) as i128 - 4),
            },
        }
    }

    /// A random table of varying density, from empty to full.
    fn table(&mut self, kind: Kind, ty: Type, shape: (usize, usize)) -> Table {
        let percent = self.0.pick(&[0, 3, 10, 30, 50, 50, 80, 97, 100, 100]);
        Table::new(kind, ty, shape, |_, _| (self.0.below(100) < percent).then(|| self.value(ty)))
    }

    fn op(&mut self, ty: Type, (m, n): (usize, usize)) -> Op {
        // Favors operators that every library and every type have.
        let op = if self.0.one_in(3) { "minus" } else { self.0.pick(&BINARY) };
        let monoid = if self.0.one_in(3) { "plus" } else { self.0.pick(&MONOIDS) };
        let mul = if self.0.one_in(3) { "times" } else { self.0.pick(&MULTIPLY) };
        let ring = Ring { add: monoid, mul };
        let index = if self.0.one_in(3) { "value_ne" } else { self.0.pick(&INDEX) };
        let s = match index_unary_types(index, ty) {
            Some((of, _)) if of == ty && index.starts_with("value_") => self.value(ty),
            _ => Type::I64.number(self.0.below(9) as i128 - 4),
        };
        let k = self.0.below(7) as i64 - 3;
        // Long products of complex numbers would not be exact.
        let monoid = if monoid == "times" && ty.is_complex() { "plus" } else { monoid };
        match self.0.below(54) {
            0..=3 => Op::Identity,
            4..=5 => Op::Transpose,
            6..=9 => Op::Mxm { ring },
            10..=13 => Op::Mxv { ring },
            14..=17 => Op::Vxm { ring },
            18..=20 => Op::EwiseAdd { op },
            21..=23 => Op::EwiseMult { op },
            24..=25 => Op::EwiseUnion { op, alpha: self.value(ty), beta: self.value(ty) },
            26 => Op::Kronecker { op },
            27 => Op::Apply { op: self.0.pick(&UNARY) },
            28 => Op::ApplyFirst { op, s: self.value(ty) },
            29 => Op::ApplySecond { op, s: self.value(ty) },
            30 => Op::ApplyIndex { op: index, s },
            31..=32 => Op::Select { op: index, s },
            33..=34 => Op::ReduceRows { monoid },
            35 => Op::Reduce { monoid },
            36 => Op::ReduceScalar { monoid },
            37..=38 => Op::Extract { rows: self.0.indices(m), cols: self.0.indices(n) },
            39 if n > 0 => Op::ExtractColumn { rows: self.0.indices(m), col: self.0.below(n) },
            40..=41 => Op::Assign { rows: self.0.subset(m), cols: self.0.subset(n) },
            42 if m > 0 => Op::AssignRow { row: self.0.below(m), cols: self.0.subset(n) },
            43 if n > 0 => Op::AssignColumn { rows: self.0.subset(m), col: self.0.below(n) },
            44 => Op::AssignScalar { rows: self.0.subset(m), cols: self.0.subset(n), x: self.value(ty) },
            45 => Op::Scatter { indices: self.0.indices(m), monoid },
            46 if self.0.one_in(2) => Op::Diag { k },
            46 => Op::Diagonal { k },
            47 => [Op::Count, Op::Mean, Op::ArgMin, Op::ArgMax][self.0.below(4)].clone(),
            48 => Op::Concat { across: 2 },
            49 => Op::Block { rows: self.0.range(m), cols: self.0.range(n) },
            50 => Op::Resize { shape: (self.0.below(m + 4), self.0.below(n + 4)) },
            51..=52 => Op::Spmm { ring },
            _ => {
                let positions: Vec<_> = self.0.indices(m * n).into_iter().map(|p| (p / n, p % n)).collect();
                Op::Build { tuples: positions.into_iter().map(|(i, j)| (i, j, self.value(ty))).collect(), dup: op }
            }
        }
    }

    /// One case; `None` if the random choices are incompatible.
    fn attempt(&mut self) -> Option<Case> {
        let kind = if self.0.one_in(3) { Kind::Vector } else { Kind::Matrix };
        let ty = if self.0.one_in(3) { self.0.pick(&TYPES) } else { self.0.pick(&Type::ALL) };
        let size = |rng: &mut Rng| if rng.one_in(12) { 0 } else { 1 + rng.below(9) };
        let square = self.0.one_in(3);
        let mut dims = (size(&mut self.0), size(&mut self.0), size(&mut self.0));
        if square {
            dims = (dims.0, dims.0, dims.0);
        }
        if kind == Kind::Vector {
            dims.0 = if self.0.one_in(2) { self.0.below(71) } else { dims.0 };
            dims.2 = 1;
        }
        let op = self.op(ty, (dims.0, dims.2));
        let transpose = [self.0.one_in(3), self.0.one_in(3)];
        // Lengths up to 70 are only for operations on vectors.
        if dims.0 > 9 && !matches!(Plan::new(op.clone(), ty, kind, dims, [false; 2]), Some(p) if p.c.0 != Kind::Matrix)
        {
            return None;
        }
        let plan = Plan::new(op, ty, kind, dims, transpose)?;
        let joins = |name: &&&str| binary_type(name, plan.out) == Some(plan.out);
        // − and second detect swapped, missing and duplicate operands.
        let accum = match self.0.below(6) {
            0..=2 => None,
            3 => Some("minus"),
            4 => Some("second"),
            _ => BINARY.get(self.0.below(BINARY.len())).filter(joins).copied(),
        };
        let mask = (!self.0.one_in(4)).then(|| (self.0.one_in(2), self.0.one_in(2)));
        let write = Write {
            mask: mask.filter(|_| plan.mask.is_some()),
            accum: accum.filter(|&op| op != "div" && plan.accumulates()),
            replace: self.0.one_in(2) && mask.is_some() && plan.mask.is_some(),
        };
        let mut bit = |n| self.0.one_in(n);
        let alias = Alias { a_is_c: bit(5), b_is_c: bit(5), b_is_a: bit(8), mask_is_c: bit(6), mask_is_a: bit(8) };
        let mask_type = if self.0.one_in(2) { Type::Bool } else { self.0.pick(&Type::ALL) };
        let scale = match plan.scales() {
            // Large matrices take time without detecting more.
            true if self.0.one_in(250) => 1 << 19,
            true if self.0.one_in(5) => self.0.pick(&[3, 20, 70, 70, 300]),
            _ => 1,
        };
        plan.case(alias, write, mask_type, scale, |role, (kind, shape), ty| {
            let form = self.0.pick(&Form::ALL);
            let table = self.table(kind, ty, shape);
            // Avoids division of floats by 0: with NaN and infinities, min and sums depend on the order.
            let table = match (&plan.op, role) {
                (Op::EwiseMult { op: "div" } | Op::Kronecker { op: "div" }, Role::Operand(1)) => {
                    table.like(ty, |i, j| table.get(i, j).map(|x| if x.nonzero() { x } else { ty.one() }))
                }
                _ => table,
            };
            (table, form)
        })
    }
}

impl Iterator for Random {
    type Item = Case;
    fn next(&mut self) -> Option<Case> {
        loop {
            if let Some(case) = self.attempt() {
                return Some(case);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expected;
    use crate::operators::identity;

    #[test]
    fn every_operation_and_type_is_drawn_and_has_a_result() {
        let mut ops = std::collections::BTreeSet::new();
        let mut types = std::collections::BTreeSet::new();
        for case in Random::new(1).take(20_000) {
            ops.insert(case.op.name());
            types.insert(case.table(case.c).ty);
            let c = expected(&case);
            assert_eq!((c.kind, c.shape(), c.ty), (case.kind(), case.table(case.c).shape(), case.table(case.c).ty));
        }
        assert_eq!((ops.len(), types.len()), (35, 13), "{ops:?}");
        assert_eq!(MONOIDS.iter().filter(|m| identity(m, Type::I8).is_some()).count(), 6);
    }
    #[test]
    fn cases_depend_only_on_the_seed() {
        let cases = |seed| Random::new(seed).take(50).collect::<Vec<_>>();
        assert_eq!(cases(3), cases(3));
        assert_ne!(cases(3), cases(4));
    }
}

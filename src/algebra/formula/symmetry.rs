//! Symmetry of a formula in two parameters, proved on its graph, not tested on samples.

use std::collections::HashMap;

use super::graph::{Kind, Node, Operands};
use super::{Formula, Function};
use crate::algebra::{Constant, Type};

/// Knowledge about a value: an id shared by values that are equal up to sign, and its sign.
#[derive(Clone, Copy)]
struct Known {
    /// Id of the value, up to sign.
    id: usize,
    /// Whether this value is the negated one.
    negative: bool,
    /// Whether the sign of a zero may differ.
    loose: bool,
    /// Finite, and not −0.
    tame: bool,
}

/// Value numbering by structure.
#[derive(Default)]
struct Values {
    known: HashMap<(Kind, Type, Vec<usize>), usize>,
    /// Number of ids assigned so far.
    count: usize,
}

impl Formula {
    /// Whether f(p, q) = f(q, p) is proved for all finite numbers except −0, up to the sign of a zero result.
    ///
    /// The proof covers commutative functions, and differences whose sign cancels: `abs(a - b)`, `(a - b) * (a - b)`.
    /// It is conservative: false for some symmetric formulas.
    pub(crate) fn is_symmetric(&self, p: &str, q: &str) -> bool {
        let place = |name| self.parameters().iter().position(|x| x.0 == name);
        let (Some(p), Some(q)) = (place(p), place(q)) else { return false };
        let mut values = Values::default();
        let mut result = |exchange: bool| {
            let mut known: Vec<Known> = Vec::new();
            for node in self.nodes() {
                let of = values.node(node, &known, |x| match (exchange, x == p, x == q) {
                    (true, true, _) => q,
                    (true, _, true) => p,
                    _ => x,
                });
                known.push(of);
            }
            known[known.len() - 1]
        };
        let (first, second) = (result(false), result(true));
        self.parameters()[p].1 == self.parameters()[q].1 && first.id == second.id && first.negative == second.negative
    }
}

impl Values {
    fn id(&mut self, kind: Kind, ty: Type, operands: Vec<usize>) -> usize {
        *self.known.entry((kind, ty, operands)).or_insert_with(|| {
            self.count += 1;
            self.count
        })
    }
    fn node(&mut self, Node { kind, ty }: &Node, known: &[Known], parameter: impl Fn(usize) -> usize) -> Known {
        let plain = |id, tame| Known { id, negative: false, loose: false, tame };
        match kind {
            Kind::Parameter(x) => plain(self.id(Kind::Parameter(parameter(*x)), *ty, vec![]), true),
            Kind::Constant(c) => plain(self.id(kind.clone(), *ty, vec![]), tame(c)),
            Kind::Host(..) => {
                self.count += 1;
                plain(self.count, false)
            }
            Kind::Call(function, operands) => {
                let operands: Vec<Known> = operands.iter().map(|&x| known[x]).collect();
                self.call(*function, *ty, &operands).unwrap_or_else(|| {
                    self.count += 1;
                    plain(self.count, false)
                })
            }
        }
    }
    /// `None` if nothing is known about the value.
    fn call(&mut self, function: Function, ty: Type, of: &[Known]) -> Option<Known> {
        use Function as F;
        let real = matches!(ty, Type::F32 | Type::F64);
        let ids = |of: &[Known]| of.iter().map(|x| x.id).collect::<Vec<_>>();
        let sorted = |of: &[Known]| {
            let mut ids = ids(of);
            ids.sort_unstable();
            ids
        };
        let call = |function| Kind::Call(function, Operands::new(&[]));
        let positive = of.iter().all(|x| !x.negative);
        let loose = of.iter().any(|x| x.loose);
        let tame = of.iter().all(|x| x.tame);
        Some(match (function, of) {
            (F::Neg, &[x]) if real => Known { negative: !x.negative, tame: false, ..x },
            (F::Abs, &[x]) if real => {
                Known { id: self.id(call(F::Abs), ty, vec![x.id]), negative: false, loose: false, tame: x.tame }
            }
            (F::Sub, &[x, y]) if real && positive => {
                // x − y = −(y − x), but both are +0 for x = y.
                let negative = x.id > y.id;
                let id = self.id(call(F::Sub), ty, sorted(of));
                Known { id, negative, loose: loose || negative, tame: false }
            }
            (F::Mul, &[x, y]) if real => {
                let id = self.id(call(F::Mul), ty, sorted(of));
                Known { id, negative: x.negative != y.negative, loose, tame: false }
            }
            // Division by 0 and by −0 gives different results.
            (F::Div, &[x, y]) if real && !y.loose => {
                let id = self.id(call(F::Div), ty, ids(of));
                Known { id, negative: x.negative != y.negative, loose: x.loose, tame: false }
            }
            (F::Add | F::AbsDiff | F::Eq | F::Ne | F::BitAnd | F::BitOr | F::BitXor, &[x, y]) if positive => {
                // Added to a nonzero number, the sign of a zero is lost.
                let lost = function != F::Add || self.is_nonzero(x) || self.is_nonzero(y);
                Known {
                    id: self.id(call(function), ty, sorted(of)),
                    negative: false,
                    loose: loose && !lost,
                    tame: false,
                }
            }
            // For a number and NaN, the order of operands matters.
            (F::Min | F::Max, _) if positive && tame => {
                Known { id: self.id(call(function), ty, sorted(of)), negative: false, loose: false, tame }
            }
            (F::Sub | F::Sqrt | F::Exp | F::Lt | F::Le | F::Select | F::MulAdd | F::Floor | F::Ceil, _) if positive => {
                Known { id: self.id(call(function), ty, ids(of)), negative: false, loose, tame: false }
            }
            // Any function of equal operands gives equal results.
            _ if positive && !loose => {
                Known { id: self.id(call(function), ty, ids(of)), negative: false, loose: false, tame: false }
            }
            _ => return None,
        })
    }
    /// Whether it is a constant other than 0 and NaN.
    fn is_nonzero(&self, x: Known) -> bool {
        let known = self.known.iter().find(|known| *known.1 == x.id);
        matches!(known, Some(((Kind::Constant(c), _, _), _)) if number(c).is_some_and(|c| c != 0.0 && !c.is_nan()))
    }
}

fn number(c: &Constant) -> Option<f64> {
    c.get::<f64>().or_else(|| c.get::<f32>().map(f64::from))
}

/// Finite, and not −0.
fn tame(c: &Constant) -> bool {
    number(c).is_some_and(|c| c.is_finite() && (c != 0.0 || c.is_sign_positive()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::{Blocks, Input, Slice, SliceMut};

    struct Rng(u64);

    impl Rng {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }
        /// A formula of p and q, some levels deep.
        fn text(&mut self, deep: u64, p: &str, q: &str) -> String {
            if deep == 0 {
                return [p, q, p, q, "f64(0)", "f64(1)", "f64(2.5)", "f64(-1)"][self.below(8) as usize].into();
            }
            let x = self.text(self.0 % deep, p, q);
            let y = self.text(deep - 1, p, q);
            match self.below(16) {
                0 => format!("({x} + {y})"),
                1 => format!("({x} - {y})"),
                2 => format!("({p} - {q}) * ({q} - {p})"),
                3 => format!("({x} * {y})"),
                4 => format!("({x} / {y})"),
                5 => format!("(-{y})"),
                6 => format!("abs({y})"),
                7 => format!("abs_diff({x}, {y})"),
                8 => format!("min({x}, {y})"),
                9 => format!("max({x}, {y})"),
                10 => format!("sqrt({y})"),
                11 => format!("pow({x}, {y})"),
                12 => format!("(if {x} == {y} then {x} else {y})"),
                13 => format!("(if {x} < {y} then {x} else {y})"),
                14 => format!("ln_1p({y})"),
                _ => format!("mul_add({x}, {y}, {p})"),
            }
        }
    }

    const AB: [(&str, Type); 2] = [("a", Type::F64), ("b", Type::F64)];

    /// f(a, b) for each pair of numbers that are finite and not −0, and f(b, a).
    fn both_ways(f: &Formula) -> (Vec<f64>, Vec<f64>) {
        let numbers = [0.0, 1.0, -1.0, 2.5, 0.1, -0.3, 1e-310, 1e300, -1e300, f64::MAX, 7.0, 1.0 / 3.0];
        let pairs = || numbers.iter().flat_map(|&a| numbers.iter().map(move |&b| (a, b)));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs().unzip();
        let blocks = Blocks::new(f).expect("blocks");
        let run = |a: &[f64], b: &[f64]| {
            let mut out = vec![0.0; a.len()];
            let inputs = [Input::Values(Slice::of(a)), Input::Values(Slice::of(b))];
            blocks.run(&inputs, &mut blocks.scratch().expect("memory"), &mut SliceMut::of(&mut out)).expect("a run");
            out
        };
        (run(&a, &b), run(&b, &a))
    }

    #[test]
    fn what_is_seen_as_symmetric_is() {
        let (mut rng, mut seen) = (Rng(1), 0);
        for round in 0..8000 {
            let mut text = rng.text(1 + round % 4, "a", "b");
            if round % 2 == 0 {
                // The same part of both, by something that may be exchangeable.
                let (state, part) = (rng.0, rng.text(1 + round % 3, "a", "b"));
                let other = Rng(state).text(1 + round % 3, "b", "a");
                let joined = match rng.below(6) {
                    0 => format!("(if {part} == {other} then 1 else 0)"),
                    1 => format!("max({part}, {other})"),
                    2 => format!("(a - b) / ({part} - {other})"),
                    join => format!("abs({part} {} {other})", ["+", "-", "*"][join as usize - 3]),
                };
                text = if rng.below(2) == 0 { joined } else { format!("{joined} / {text}") };
            }
            let f = Formula::parse(&text, &AB, Some(Type::F64)).unwrap_or_else(|e| panic!("{e}"));
            if !f.is_symmetric("a", "b") {
                continue;
            }
            let (there, back) = both_ways(&f);
            for (x, y) in there.iter().zip(&back) {
                assert!(x == y || x.is_nan() && y.is_nan(), "{text}: {x} and {y}");
            }
            seen += u32::from(f.reads("a"));
        }
        assert!(seen > 400, "{seen}");
    }

    #[test]
    fn what_only_looks_symmetric_is_not() {
        // Division by 0 and −0; the order of NaN and a number; another order of rounding.
        for text in ["(a - b) / (a*a - b*b)", "max(ln(a), ln(b))", "(0.1 + a) + b"] {
            let f = Formula::parse(text, &AB, Some(Type::F64)).unwrap();
            let (there, back) = both_ways(&f);
            assert!(there.iter().zip(&back).any(|(x, y)| x.to_bits() != y.to_bits() && !(x.is_nan() && y.is_nan())));
            assert!(!f.is_symmetric("a", "b"), "{text}");
        }
    }

    #[test]
    fn parameters_must_be_there_and_of_one_type() {
        let f = Formula::parse("abs(a - b)", &AB, None).unwrap();
        assert!(f.is_symmetric("a", "b") && f.is_symmetric("b", "a") && !f.is_symmetric("a", "c"));
        let mixed = [("a", Type::F64), ("b", Type::F32)];
        assert!(!Formula::parse("a * f64(b)", &mixed, None).unwrap().is_symmetric("a", "b"));
    }
}

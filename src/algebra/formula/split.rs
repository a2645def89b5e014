//! Splits a formula into an expensive part that depends on one parameter alone, to be computed once for many values of
//! the others, and the rest.

use super::graph::Kind;
use super::{Builder, Formula, Function, Parameter};

impl Formula {
    /// The expensive part of the formula (a logarithm, an exponential, a power) that reads no parameter but `name`, and
    /// the formula with that part as its last parameter, called `part`. `None` if there is no such part; of several
    /// parts the last one is taken.
    pub(crate) fn split(&self, name: &str) -> Option<(Self, Self)> {
        use Function::{Exp, Ln, Ln1p, Pow, XLnX};
        let nodes = self.nodes();
        // For each node: whether it reads this parameter alone, or no parameter; and whether it is expensive.
        let (mut alone, mut long): (Vec<Option<bool>>, Vec<bool>) = (vec![], vec![]);
        for node in nodes {
            let (reads, takes_long) = match &node.kind {
                Kind::Parameter(p) => ((self.parameters()[*p].0 == name).then_some(true), false),
                Kind::Constant(_) => (Some(false), false),
                Kind::Host(..) => (None, true),
                Kind::Call(f, operands) => (
                    operands.iter().try_fold(false, |any, &o| Some(any | alone[o]?)),
                    matches!(f, Exp | Ln | Ln1p | Pow | XLnX) || operands.iter().any(|&o| long[o]),
                ),
            };
            alone.push(reads);
            long.push(takes_long);
        }
        let at = (0..nodes.len()).rfind(|&n| alone[n] == Some(true) && long[n] && nodes[n].ty == self.ty())?;
        let own = self.parameters().iter().filter(|p| p.0 == name).cloned().collect();
        let with_part = self.parameters().iter().cloned().chain([("part".into(), nodes[at].ty)]).collect();
        Some((self.copied(own, at, None)?, self.copied(with_part, nodes.len() - 1, Some(at))?))
    }

    /// The formula of these parameters with result `result`, in which `part` replaces node `instead`.
    fn copied(&self, parameters: Vec<Parameter>, result: usize, instead: Option<usize>) -> Option<Self> {
        let mut to = Builder::new(parameters);
        let mut places = vec![None; self.nodes().len()];
        for &n in &self.0.creation_order {
            let node = &self.nodes()[n];
            places[n] = match &node.kind {
                _ if instead == Some(n) => to.parameter("part"),
                Kind::Parameter(p) => to.parameter(&self.parameters()[*p].0),
                Kind::Constant(c) => Some(to.constant(c.clone())),
                Kind::Call(f, operands) => {
                    let operands = operands.iter().map(|&o| places[o]).collect::<Option<Vec<_>>>();
                    operands.map(|operands| to.call(*f, &operands, node.ty))
                }
                Kind::Host(f, operands) => {
                    let operands = operands.iter().map(|&o| places[o]).collect::<Option<Vec<_>>>();
                    operands.map(|operands| to.host(f.clone(), &operands, node.ty))
                }
            };
        }
        Some(to.finish(places[result]?))
    }
}

#[cfg(test)]
mod tests {
    use crate::algebra::{Formula, Type};

    fn split(text: &str) -> Option<(String, String)> {
        let f = Formula::parse(text, &[("a", Type::F64), ("b", Type::F64)], Some(Type::F64)).expect("a formula");
        f.split("a").map(|(part, rest)| (part.to_string(), rest.to_string()))
    }

    #[test]
    fn what_takes_long_is_computed_once() {
        let found = split("a * (ln(if a == 0 then 1 else a) - b)").expect("a logarithm of a alone");
        assert_eq!(found, ("ln(select(a == 0.0, 1.0, a))".into(), "a * (part - b)".into()));
        let (part, rest) = split("ln(a) * a + ln(b) * b - ln(a + b)").expect("a logarithm of a alone");
        assert_eq!((&*part, &*rest), ("ln(a) * a", "part + ln(b) * b - ln(a + b)"));
    }

    #[test]
    fn nothing_else_is() {
        assert_eq!(split("ln(a + b)"), None);
        assert_eq!(split("abs(a) * ln(b) + ln(2)"), None);
        assert_eq!(split("a * a - b"), None);
    }
}

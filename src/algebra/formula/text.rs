//! Formulas as text in the grammar of [`parse`](super::parse); parsing the text yields the same formula.

use std::fmt::{Debug, Display, Formatter, Result};

use super::graph::{Kind, Node};
use super::{Formula, Function};
use crate::algebra::{Constant, Type, for_each_type};

/// Precedence levels, as in the table of `parse`.
const COMPARISON: u8 = 0;
const OR: u8 = 1;
const XOR: u8 = 2;
const AND: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;
const SIGN: u8 = 7;
const ATOM: u8 = 8;

impl Display for Formula {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let nodes = self.nodes();
        let mut uses = vec![0; nodes.len()];
        for node in nodes {
            node.kind.operands().iter().for_each(|&o| uses[o] += 1);
        }
        // The text of each node, and its precedence.
        let mut texts: Vec<(String, u8)> = Vec::new();
        let mut names = (0..).map(|i| format!("t{i}")).filter(|name| self.parameters().iter().all(|p| p.0 != *name));
        for (n, Node { kind, ty }) in nodes.iter().enumerate() {
            let text = match kind {
                Kind::Parameter(p) => (self.parameters()[*p].0.to_string(), ATOM),
                Kind::Constant(c) => (typed(c), ATOM),
                Kind::Call(function, operands) => call(*function, operands, *ty, nodes, &texts),
                Kind::Host(call, operands) => {
                    let operands: Vec<_> = operands.iter().map(|&o| &*texts[o].0).collect();
                    (format!("{}({})", call.name(), operands.join(", ")), ATOM)
                }
            };
            if uses[n] > 1 && !kind.operands().is_empty() {
                let name = names.next().unwrap_or_default();
                write!(f, "let {name} = {}; ", text.0)?;
                texts.push((name, ATOM));
            } else {
                texts.push(text);
            }
        }
        f.write_str(&texts[nodes.len() - 1].0)
    }
}

impl Debug for Formula {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let parameters: Vec<_> = self.parameters().iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        write!(f, "({}) -> {} {{ {self} }}", parameters.join(", "), self.ty())
    }
}

fn call(f: Function, operands: &[usize], out: Type, nodes: &[Node], texts: &[(String, u8)]) -> (String, u8) {
    let constant = |o: usize| match &nodes[o].kind {
        Kind::Constant(c) => Some(c),
        _ => None,
    };
    // A number needs no type beside a typed operand.
    let skip = usize::from(f == Function::Select);
    let known = f == Function::Make || operands.iter().skip(skip).any(|&o| constant(o).is_none());
    let text = |o: usize, least: u8| match constant(o).and_then(bare).filter(|_| known && nodes[o].ty != Type::Bool) {
        Some(number) => number,
        None if texts[o].1 < least => format!("({})", texts[o].0),
        None => texts[o].0.clone(),
    };
    let infix = |sign: &str, level: u8, right: u8| {
        (format!("{} {sign} {}", text(operands[0], level), text(operands[1], right)), level)
    };
    // Comparisons and & | ^ as operands of a comparison need parentheses.
    let compare = |sign: &str| (infix(sign, SUM, SUM).0, COMPARISON);
    let args = || operands.iter().map(|&o| text(o, COMPARISON)).collect::<Vec<_>>().join(", ");
    match f {
        Function::Add => infix("+", SUM, PRODUCT),
        Function::Sub => infix("-", SUM, PRODUCT),
        Function::Mul => infix("*", PRODUCT, SIGN),
        Function::Div => infix("/", PRODUCT, SIGN),
        Function::BitOr => infix("|", OR, XOR),
        Function::BitXor => infix("^", XOR, AND),
        Function::BitAnd => infix("&", AND, SUM),
        Function::Lt => compare("<"),
        Function::Le => compare("<="),
        Function::Eq => compare("=="),
        Function::Ne => compare("!="),
        Function::Neg if constant(operands[0]).is_none() => (format!("-{}", text(operands[0], SIGN)), SIGN),
        Function::BitNot => (format!("!{}", text(operands[0], SIGN)), SIGN),
        Function::Cast => (format!("{out}({})", args()), ATOM),
        Function::Make => (format!("{out}({})", args()), ATOM),
        Function::Field(index) => {
            let Type::Struct(s) = nodes[operands[0]].ty else { return (String::new(), ATOM) };
            (format!("{}.{}", text(operands[0], ATOM), s.fields[index].0), ATOM)
        }
        _ => (format!("{}({})", f.name(), args()), ATOM),
    }
}

/// A constant as a number without its type.
fn bare(c: &Constant) -> Option<String> {
    macro_rules! shown {
        ($($variant:ident $t:ty),*) => {
            match c.ty() {
                $(Type::$variant => c.get::<$t>().map(|x| format!("{x:?}").replace("NaN", "nan")),)*
                _ => None,
            }
        };
    }
    for_each_type!(ordered, shown!())
}

/// A constant with its type.
fn typed(c: &Constant) -> String {
    match c.ty() {
        Type::Bool => bare(c).unwrap_or_default(),
        ty @ (Type::ComplexF32 | Type::ComplexF64 | Type::Struct(_)) => {
            let fields: Vec<_> =
                (0..).map_while(|i| c.field(i)).map(|f| bare(&f).unwrap_or_else(|| typed(&f))).collect();
            format!("{ty}({})", fields.join(", "))
        }
        ty => format!("{ty}({})", bare(c).unwrap_or_default()),
    }
}

//! Type inference and checking: from a syntax tree to a graph.
//!
//! An untyped number takes the type of the other operand: 2 beside an f64 is 2.0, 2.5 beside an integer is an error.
//! Conversions are explicit only: `f64(a)`.

use super::graph::Builder;
use super::parse::{self, Ast, Is};
use super::{Formula, Function, Parameter};
use crate::algebra::{Constant, Number, Type, for_each_type};
use crate::{Error, Result};
use num_complex::Complex;

impl Formula {
    /// Parses a formula of these parameters. Its result has the type `result`, if given; otherwise the type is
    /// inferred.
    ///
    /// ```
    /// use sparring::algebra::{Formula, Type};
    /// let ab = [("a", Type::F64), ("b", Type::F64)];
    /// let canberra = Formula::parse("abs(a - b) / (a + b + 1)", &ab, None)?;
    /// assert_eq!(canberra.to_string(), "abs(a - b) / (a + b + 1.0)");
    /// let error = Formula::parse("a + * b", &ab, None).unwrap_err();
    /// assert_eq!(error.to_string(), "formula: expected a number, a parameter, a function, or (\n  a + * b\n      ^");
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Formula`] with the position of the error.
    pub fn parse(text: &str, parameters: &[(&str, Type)], result: Option<Type>) -> Result<Self> {
        typed(text, &parse::formula(text)?, parameters, result)
    }
}

/// The graph of a tree.
pub(super) fn typed(text: &str, ast: &Ast, parameters: &[(&str, Type)], result: Option<Type>) -> Result<Formula> {
    let parameters: Vec<Parameter> = parameters.iter().map(|(name, ty)| (name.to_string().into(), *ty)).collect();
    let mut typing = Typing { builder: Builder::new(parameters), lets: Vec::new(), result };
    let node = typing
        .lower(ast, result)
        .and_then(|node| match result {
            Some(want) if typing.builder.ty(node) != want => Err(wrong(
                ast,
                format!("this is {}, but {want} is expected: {want}(…) converts", typing.builder.ty(node)),
            )),
            _ => Ok(node),
        })
        .map_err(|Mistake { at, message }| Error::Formula { text: text.to_string(), at, message })?;
    Ok(typing.builder.finish(node))
}

/// The value of a tree that is a constant.
pub(super) fn constant(text: &str, ast: &Ast, ty: Type) -> Result<Constant> {
    typed(text, ast, &[], Some(ty))?.constant().ok_or_else(|| {
        let message = "expected a constant".to_string();
        Error::Formula { text: text.to_string(), at: ast.at.start, message }
    })
}

struct Mistake {
    at: usize,
    message: String,
}
fn wrong(ast: &Ast, message: impl Into<String>) -> Mistake {
    Mistake { at: ast.at.start, message: message.into() }
}

struct Typing {
    builder: Builder,
    /// Names bound by `let`, innermost last, and their nodes.
    lets: Vec<(String, usize)>,
    result: Option<Type>,
}

impl Typing {
    /// The type of an expression, independent of its context; `None` if its numbers take the expected type.
    fn infer(&self, ast: &Ast) -> Option<Type> {
        match &ast.is {
            Is::Number(_) | Is::Let(..) => None,
            Is::Word(name) if name == "true" || name == "false" => Some(Type::Bool),
            Is::Word(name) => self.named(name),
            Is::Paren(a) => self.infer(a),
            Is::Operator(Function::Lt | Function::Le | Function::Eq | Function::Ne, _) => Some(Type::Bool),
            Is::Operator(_, operands) => operands.iter().find_map(|a| self.infer(a)),
            Is::Call(name, operands) => match (self.type_named(name), function(name)) {
                (Some(ty), _) => Some(ty),
                (_, Some(Function::Lt | Function::Le | Function::Eq | Function::Ne)) => Some(Type::Bool),
                (_, Some(Function::Select)) => operands.iter().skip(1).find_map(|a| self.infer(a)),
                _ => operands.iter().find_map(|a| self.infer(a)),
            },
            Is::Field(a, name) => match self.infer(a) {
                Some(Type::Struct(s)) => s.fields.iter().find(|f| f.0 == name).map(|f| f.1),
                _ => None,
            },
            Is::Cast(_, ty) => Some(*ty),
            Is::If(parts) => self.infer(&parts[1]).or_else(|| self.infer(&parts[2])),
        }
    }

    fn named(&self, name: &str) -> Option<Type> {
        let given = self.lets.iter().rev().find(|l| l.0 == name).map(|l| self.builder.ty(l.1));
        given.or_else(|| self.builder.parameters().iter().find(|p| p.0 == name).map(|p| p.1))
    }

    /// A number type, or a struct among the types of parameters and result and their fields.
    fn type_named(&self, name: &str) -> Option<Type> {
        fn within(ty: Type, name: &str) -> Option<Type> {
            let Type::Struct(s) = ty else { return None };
            if s.name == name { Some(ty) } else { s.fields.iter().find_map(|f| within(f.1, name)) }
        }
        let structs = self.builder.parameters().iter().map(|p| p.1).chain(self.result);
        name.parse().ok().or_else(|| structs.filter_map(|ty| within(ty, name)).next())
    }

    /// The node of an expression; `want` is the type of untyped numbers.
    fn lower(&mut self, ast: &Ast, want: Option<Type>) -> Result<usize, Mistake> {
        match &ast.is {
            Is::Number(n) => {
                let ty =
                    want.ok_or_else(|| wrong(ast, format!("the type of {n} is not known here: write f64({n})")))?;
                let constant = number(n, ty).ok_or_else(|| wrong(ast, format!("{n} is no {ty}")))?;
                Ok(self.builder.constant(constant))
            }
            Is::Word(name) => self.word(ast, name),
            Is::Paren(a) => self.lower(a, want),
            Is::Operator(f, operands) => self.call(ast, *f, operands, want),
            Is::If(parts) => self.call(ast, Function::Select, &parts[..], want),
            Is::Cast(a, ty) => self.cast(ast, a, *ty),
            Is::Call(name, operands) => match (function(name), self.type_named(name)) {
                (Some(f), _) => self.call(ast, f, operands, want),
                (_, Some(Type::Struct(s))) => self.make(ast, s, operands),
                (_, Some(ty)) if operands.len() == 1 => self.cast(ast, &operands[0], ty),
                (_, Some(ty @ (Type::ComplexF32 | Type::ComplexF64))) => complex(ty, operands)
                    .map(|c| self.builder.constant(c))
                    .ok_or_else(|| wrong(ast, format!("{name} is made of two numbers"))),
                _ => {
                    let known: Vec<_> = CALLED.iter().map(|f| f.name()).collect();
                    Err(wrong(
                        ast,
                        format!("there is no function {name}; there are {}, and the types", known.join(", ")),
                    ))
                }
            },
            Is::Field(a, name) => {
                let of = self.lower(a, None)?;
                let ty = self.builder.ty(of);
                let Type::Struct(s) = ty else { return Err(wrong(a, format!("{ty} has no fields"))) };
                let index = s.fields.iter().position(|f| f.0 == name).ok_or_else(|| {
                    let known: Vec<_> = s.fields.iter().map(|f| f.0).collect();
                    wrong(ast, format!("{ty} has no field {name}, but {}", known.join(", ")))
                })?;
                Ok(self.builder.call(Function::Field(index), &[of], s.fields[index].1))
            }
            Is::Let(name, parts) => {
                let value = self.lower(&parts[0], want)?;
                self.lets.push((name.clone(), value));
                let body = self.lower(&parts[1], want);
                self.lets.pop();
                body
            }
        }
    }

    fn word(&mut self, ast: &Ast, name: &str) -> Result<usize, Mistake> {
        if let Some((_, node)) = self.lets.iter().rev().find(|l| l.0 == name) {
            return Ok(*node);
        }
        match name {
            "true" | "false" => Ok(self.builder.constant(Constant::of(name == "true"))),
            _ => self.builder.parameter(name).ok_or_else(|| {
                let known: Vec<_> = self.builder.parameters().iter().map(|p| p.0.as_ref()).collect();
                let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
                wrong(ast, format!("there is no parameter {name}; there are {known}"))
            }),
        }
    }

    fn call(&mut self, ast: &Ast, f: Function, operands: &[Ast], want: Option<Type>) -> Result<usize, Mistake> {
        let (fixed, rest) = match f {
            Function::Select if operands.len() == 3 => {
                (Some(self.operand(&operands[0], Some(Type::Bool))?), &operands[1..])
            }
            _ => (None, operands),
        };
        let compares = matches!(f, Function::Lt | Function::Le | Function::Eq | Function::Ne);
        // All other operands have one type: that of the first typed operand.
        let want = rest.iter().find_map(|a| self.infer(a)).or(if compares { None } else { want });
        let mut nodes: Vec<usize> = fixed.into_iter().collect();
        let mut first: Option<Type> = None;
        for a in rest {
            let node = self.operand(a, want)?;
            let ty = self.builder.ty(node);
            if let Some(first) = first.filter(|first| *first != ty) {
                let message = format!("this is {ty}, the other operand is {first}: convert one, {first}(…) or {ty}(…)");
                return Err(wrong(a, message));
            }
            first = Some(ty);
            nodes.push(node);
        }
        let types: Vec<_> = nodes.iter().map(|&n| self.builder.ty(n)).collect();
        let ty = f.result(&types).ok_or_else(|| {
            let types: Vec<_> = types.iter().map(|t| t.name()).collect();
            wrong(ast, format!("{} does not take ({})", spelled(f), types.join(", ")))
        })?;
        Ok(self.builder.call(f, &nodes, ty))
    }

    fn operand(&mut self, ast: &Ast, want: Option<Type>) -> Result<usize, Mistake> {
        let node = self.lower(ast, want)?;
        match want {
            Some(want) if self.builder.ty(node) != want => {
                let ty = self.builder.ty(node);
                Err(wrong(ast, format!("this is {ty}, but {want} is expected here: {want}(…) converts")))
            }
            _ => Ok(node),
        }
    }

    fn cast(&mut self, ast: &Ast, a: &Ast, ty: Type) -> Result<usize, Mistake> {
        // A number literal takes the target type directly.
        if let Is::Number(_) = a.is {
            return self.lower(a, Some(ty));
        }
        let want = self.infer(a).unwrap_or(ty);
        let node = self.lower(a, Some(want))?;
        let from = self.builder.ty(node);
        if !Type::ORDERED.contains(&from) || !Type::ORDERED.contains(&ty) {
            return Err(wrong(ast, format!("{from} does not convert to {ty}")));
        }
        Ok(self.builder.call(Function::Cast, &[node], ty))
    }

    fn make(&mut self, ast: &Ast, s: &'static crate::algebra::StructType, operands: &[Ast]) -> Result<usize, Mistake> {
        if s.fields.len() != operands.len() {
            return Err(wrong(ast, format!("{} has {} fields", s.name, s.fields.len())));
        }
        let fields =
            operands.iter().zip(s.fields).map(|(a, f)| self.operand(a, Some(f.1))).collect::<Result<Vec<_>, _>>()?;
        Ok(self.builder.call(Function::Make, &fields, Type::Struct(s)))
    }
}

/// Functions that can be called by name, including some that have an operator.
const CALLED: [Function; 15] = [
    Function::Select,
    Function::Min,
    Function::Max,
    Function::Abs,
    Function::AbsDiff,
    Function::Sqrt,
    Function::Exp,
    Function::Ln,
    Function::Ln1p,
    Function::XLnX,
    Function::Pow,
    Function::Floor,
    Function::Ceil,
    Function::MulAdd,
    Function::Neg,
];

fn function(name: &str) -> Option<Function> {
    Function::NAMED.into_iter().chain([Function::Select]).find(|f| f.name() == name)
}

/// The operator symbol of a function, or its name.
fn spelled(f: Function) -> &'static str {
    match f {
        Function::Add => "+",
        Function::Sub | Function::Neg => "-",
        Function::Mul => "*",
        Function::Div => "/",
        Function::Eq => "==",
        Function::Ne => "!=",
        Function::Lt => "<",
        Function::Le => "<=",
        Function::BitAnd => "&",
        Function::BitOr => "|",
        Function::BitXor => "^",
        Function::BitNot => "!",
        _ => f.name(),
    }
}

/// A number literal as a value of the type; `None` if the type cannot represent it.
fn number(n: &str, ty: Type) -> Option<Constant> {
    macro_rules! parsed {
        ($($variant:ident $t:ty),*) => {
            match ty {
                $(Type::$variant => n.parse::<$t>().ok().map(Constant::of),)*
                Type::Bool => match n {
                    "0" => Some(Constant::of(false)),
                    "1" => Some(Constant::of(true)),
                    _ => None,
                },
                Type::ComplexF32 => n.parse().ok().map(|re| Constant::of(Complex::<f32>::new(re, f32::ZERO))),
                Type::ComplexF64 => n.parse().ok().map(|re| Constant::of(Complex::<f64>::new(re, f64::ZERO))),
                Type::Struct(_) => None,
            }
        };
    }
    for_each_type!(reals, parsed!())
}

fn complex(ty: Type, parts: &[Ast]) -> Option<Constant> {
    let [Ast { is: Is::Number(re), .. }, Ast { is: Is::Number(im), .. }] = parts else { return None };
    match ty {
        Type::ComplexF32 => Some(Constant::of(Complex::<f32>::new(re.parse().ok()?, im.parse().ok()?))),
        _ => Some(Constant::of(Complex::<f64>::new(re.parse().ok()?, im.parse().ok()?))),
    }
}

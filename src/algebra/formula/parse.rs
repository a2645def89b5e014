//! The parser of formulas, from text to a syntax tree.
//!
//! | binds | operators |
//! | --- | --- |
//! | closest | `f(x, y)` `(x)` `x.field` |
//! | | `-x` `!x` |
//! | | `x as f64` |
//! | | `*` `/` |
//! | | `+` `-` |
//! | | `&`, then `^`, then <code>&#124;</code> |
//! | loosest | `<` `<=` `>` `>=` `==` `!=`, one of them |
//!
//! This is Rust's precedence. Where that of C differs, `a & 1 == 0`, parentheses are required. The grammar also has
//! `if c then x else y`, `let d = a - b; d * d`, numbers, `true`, `false`, `inf`, `nan`.

use std::ops::Range;

use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{Infix, Postfix, Prefix, alt, expression, opt, peek, preceded, separated};
use winnow::error::{ContextError, ErrMode, ParseError, ParserError, StrContext, StrContextValue};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{one_of, take_while};

use super::Function;
use crate::algebra::Type;
use crate::{Error, Result};

/// An expression and its byte range.
#[derive(Clone, Debug)]
pub(super) struct Ast {
    pub(super) at: Range<usize>,
    pub(super) is: Is,
}

#[derive(Clone, Debug)]
pub(super) enum Is {
    /// Digits, with optional sign, point and exponent; `inf`, `nan`.
    Number(String),
    Word(String),
    Paren(Box<Ast>),
    /// A function written as an operator: `a + b`, `-a`. `a > b` is `b < a`.
    Operator(Function, Vec<Ast>),
    Call(String, Vec<Ast>),
    Field(Box<Ast>, String),
    Cast(Box<Ast>, Type),
    If(Box<[Ast; 3]>),
    Let(String, Box<[Ast; 2]>),
}

type Input<'t> = LocatingSlice<&'t str>;
type Parsed<T = Ast> = ModalResult<T>;
type Failure = ErrMode<ContextError>;

/// Maximum length of a formula in bytes; with [`DEEPEST`] it prevents stack overflows.
const LONGEST: usize = 1000;
/// Maximum nesting depth of a formula.
const DEEPEST: usize = 40;

/// Parses the whole text as a formula.
pub(super) fn formula(text: &str) -> Result<Ast> {
    whole(text, block)
}

/// Parses a formula of a and b, optionally followed by `identity` and `terminal` with their values.
pub(super) fn monoid(text: &str) -> Result<(Ast, Option<Ast>, Option<Ast>)> {
    whole(text, |i: &mut Input<'_>| {
        let op = block(i)?;
        let identity = opt(preceded(keyword("identity"), block)).parse_next(i)?;
        let terminal = opt(preceded(keyword("terminal"), block)).parse_next(i)?;
        Ok((op, identity, terminal))
    })
}

fn whole<T>(text: &str, mut inner: impl FnMut(&mut Input<'_>) -> Parsed<T>) -> Result<T> {
    check_size(text)?;
    let end = |i: &mut Input<'_>| {
        multispace0.parse_next(i)?;
        if i.is_empty() { Ok(()) } else { Err(expected("an operator, or the end")) }
    };
    let mut all = |i: &mut Input<'_>| -> Parsed<T> {
        let found = inner(i)?;
        end(i)?;
        Ok(found)
    };
    all.parse(LocatingSlice::new(text)).map_err(|e: ParseError<Input<'_>, ContextError>| {
        let why = e.inner().context().find_map(|c| match c {
            StrContext::Expected(StrContextValue::Description(what)) => Some(*what),
            _ => None,
        });
        let message = format!("expected {}", why.unwrap_or("something else"));
        Error::Formula { text: text.to_string(), at: e.offset(), message }
    })
}

fn check_size(text: &str) -> Result<()> {
    let wrong = |at, message: String| Err(Error::Formula { text: text.to_string(), at, message });
    if text.len() > LONGEST {
        return wrong(LONGEST, format!("it has {} bytes, of at most {LONGEST}", text.len()));
    }
    // Counts everything that nests: brackets, consecutive signs, `if` and `let`.
    let (mut open, mut signs) = (0usize, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        signs = if matches!(c, '-' | '!') {
            signs + 1
        } else if c.is_whitespace() {
            signs
        } else {
            0
        };
        let words = text[..at].matches("if").count() + text[..at].matches("let").count();
        if open + signs + words > DEEPEST {
            return wrong(at, format!("expressions stand more than {DEEPEST} deep within each other"));
        }
    }
    Ok(())
}

/// A final error at the current position: no other alternative is tried.
fn expected(what: &'static str) -> Failure {
    let mut error = ContextError::new();
    error.push(StrContext::Expected(StrContextValue::Description(what)));
    ErrMode::Cut(error)
}

fn backtrack(i: &Input<'_>) -> Failure {
    ErrMode::Backtrack(ContextError::from_input(i))
}

/// An identifier: letters, digits and `_`, not starting with a digit.
fn word<'t>(i: &mut Input<'t>) -> Parsed<&'t str> {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    (one_of(letter), take_while(0.., move |c: char| letter(c) || c.is_ascii_digit())).take().parse_next(i)
}

fn keyword<'t>(name: &'static str) -> impl Parser<Input<'t>, (), Failure> {
    move |i: &mut Input<'t>| {
        multispace0.parse_next(i)?;
        if word(i)? == name { Ok(()) } else { Err(backtrack(i)) }
    }
}

/// A required keyword.
fn must(i: &mut Input<'_>, name: &'static str, or: &'static str) -> Parsed<()> {
    multispace0.parse_next(i)?;
    let here = *i;
    opt(keyword(name)).parse_next(i)?.ok_or_else(|| {
        *i = here;
        expected(or)
    })
}

fn must_symbol(i: &mut Input<'_>, symbol: &'static str, or: &'static str) -> Parsed<()> {
    multispace0.parse_next(i)?;
    opt(symbol).parse_next(i)?.map(drop).ok_or_else(|| expected(or))
}

/// `let d = x;` any number of times, and an expression.
fn block(i: &mut Input<'_>) -> Parsed {
    multispace0.parse_next(i)?;
    let start = i.current_token_start();
    if opt(keyword("let")).parse_next(i)?.is_none() {
        return comparison(i);
    }
    multispace0.parse_next(i)?;
    let name = opt(word).parse_next(i)?.ok_or_else(|| expected("a name"))?.to_string();
    must_symbol(i, "=", "=")?;
    let value = comparison(i)?;
    must_symbol(i, ";", "an operator, or ;")?;
    let body = block(i)?;
    Ok(Ast { at: start..body.at.end, is: Is::Let(name, Box::new([value, body])) })
}

fn comparison(i: &mut Input<'_>) -> Parsed {
    multispace0.parse_next(i)?;
    let start = i.current_token_start();
    if opt(keyword("if")).parse_next(i)?.is_some() {
        let c = comparison(i)?;
        must(i, "then", "an operator, or then")?;
        let x = comparison(i)?;
        must(i, "else", "an operator, or else")?;
        let y = comparison(i)?;
        return Ok(Ast { at: start..y.at.end, is: Is::If(Box::new([c, x, y])) });
    }
    let a = operation(i)?;
    let before = *i;
    let op = preceded(multispace0, alt(("<=", ">=", "==", "!=", "<", ">")));
    let Some(op) = opt(op).parse_next(i)? else { return Ok(a) };
    let bare = |x: &Ast| matches!(x.is, Is::Operator(Function::BitAnd | Function::BitOr | Function::BitXor, _));
    let clear = "parentheses: ( ) around this comparison, or around the & | ^ beside it";
    if bare(&a) {
        *i = before;
        multispace0.parse_next(i)?;
        return Err(expected(clear));
    }
    multispace0.parse_next(i)?;
    let right = *i;
    let b = operation(i)?;
    if bare(&b) {
        *i = right;
        return Err(expected(clear));
    }
    let after = *i;
    if opt(preceded(multispace0, one_of(['<', '>', '=', '!']))).parse_next(i)?.is_some() {
        *i = after;
        multispace0.parse_next(i)?;
        return Err(expected("one comparison: a < b < c is written (a < b) & (b < c)"));
    }
    let at = a.at.start..b.at.end;
    let is = match op {
        "<" => Is::Operator(Function::Lt, vec![a, b]),
        "<=" => Is::Operator(Function::Le, vec![a, b]),
        ">" => Is::Operator(Function::Lt, vec![b, a]),
        ">=" => Is::Operator(Function::Le, vec![b, a]),
        "==" => Is::Operator(Function::Eq, vec![a, b]),
        _ => Is::Operator(Function::Ne, vec![a, b]),
    };
    Ok(Ast { at, is })
}

fn two(function: Function, a: Ast, b: Ast) -> Ast {
    Ast { at: a.at.start..b.at.end, is: Is::Operator(function, vec![a, b]) }
}

/// An operand of a comparison.
fn operation(i: &mut Input<'_>) -> Parsed {
    let infix = |i: &mut Input<'_>| {
        multispace0.parse_next(i)?;
        let op = one_of(['|', '^', '&', '+', '-', '*', '/']).parse_next(i)?;
        Ok(match op {
            '|' => Infix::Left(1, |_: &mut Input<'_>, a, b| Ok(two(Function::BitOr, a, b))),
            '^' => Infix::Left(2, |_: &mut Input<'_>, a, b| Ok(two(Function::BitXor, a, b))),
            '&' => Infix::Left(3, |_: &mut Input<'_>, a, b| Ok(two(Function::BitAnd, a, b))),
            '+' => Infix::Left(4, |_: &mut Input<'_>, a, b| Ok(two(Function::Add, a, b))),
            '-' => Infix::Left(4, |_: &mut Input<'_>, a, b| Ok(two(Function::Sub, a, b))),
            '*' => Infix::Left(5, |_: &mut Input<'_>, a, b| Ok(two(Function::Mul, a, b))),
            _ => Infix::Left(5, |_: &mut Input<'_>, a, b| Ok(two(Function::Div, a, b))),
        })
    };
    let prefix = |i: &mut Input<'_>| {
        multispace0.parse_next(i)?;
        let op = one_of(['-', '!']).parse_next(i)?;
        Ok(match op {
            '-' => Prefix(7, |i: &mut Input<'_>, a| Ok(negative(i, a))),
            _ => Prefix(7, |_: &mut Input<'_>, a: Ast| {
                Ok(Ast { at: a.at.clone(), is: Is::Operator(Function::BitNot, vec![a]) })
            }),
        })
    };
    let postfix = |i: &mut Input<'_>| {
        keyword("as").parse_next(i)?;
        Ok(Postfix(6, |i: &mut Input<'_>, a: Ast| {
            multispace0.parse_next(i)?;
            let here = *i;
            let ty = opt(word).parse_next(i)?.and_then(|name| name.parse().ok());
            let Some(ty) = ty else {
                *i = here;
                return Err(expected("a type: bool, i8 to i64, u8 to u64, f32, f64"));
            };
            Ok(Ast { at: a.at.start..i.previous_token_end(), is: Is::Cast(Box::new(a), ty) })
        }))
    };
    expression(postfixed).prefix(prefix).postfix(postfix).infix(infix).parse_next(i)
}

/// −a; an unsigned number literal becomes negative, so that the smallest integer can be written.
fn negative(_: &mut Input<'_>, a: Ast) -> Ast {
    match a {
        Ast { at, is: Is::Number(n) } if !n.starts_with('-') => Ast { at, is: Is::Number(format!("-{n}")) },
        a => Ast { at: a.at.clone(), is: Is::Operator(Function::Neg, vec![a]) },
    }
}

/// `x.field`.
fn postfixed(i: &mut Input<'_>) -> Parsed {
    let mut a = atom(i)?;
    while opt((multispace0, '.')).parse_next(i)?.is_some() {
        let field = opt(word).parse_next(i)?.ok_or_else(|| expected("the name of a field"))?;
        a = Ast { at: a.at.start..i.previous_token_end(), is: Is::Field(Box::new(a), field.to_string()) };
    }
    Ok(a)
}

fn atom(i: &mut Input<'_>) -> Parsed {
    multispace0.parse_next(i)?;
    // A sign is parsed in operand position only.
    if i.starts_with(['-', '!']) {
        return Err(backtrack(i));
    }
    let start = i.current_token_start();
    if let Some(n) = opt(number).parse_next(i)? {
        return Ok(Ast { at: start..i.previous_token_end(), is: Is::Number(n.to_string()) });
    }
    if opt('(').parse_next(i)?.is_some() {
        let inner = block(i)?;
        must_symbol(i, ")", "an operator, or )")?;
        return Ok(Ast { at: start..i.previous_token_end(), is: Is::Paren(Box::new(inner)) });
    }
    let here = *i;
    let reserved = ["if", "then", "else", "let", "as", "identity", "terminal"];
    let Some(name) = opt(word).parse_next(i)?.filter(|name| !reserved.contains(name)) else {
        *i = here;
        return Err(expected("a number, a parameter, a function, or ("));
    };
    if opt(preceded(multispace0, '(')).parse_next(i)?.is_some() {
        let operands: Vec<Ast> = separated(1.., block, (multispace0, ',')).parse_next(i)?;
        must_symbol(i, ")", "an operator, a comma, or )")?;
        return Ok(Ast { at: start..i.previous_token_end(), is: Is::Call(name.to_string(), operands) });
    }
    let is = match name {
        "inf" | "nan" => Is::Number(name.to_string()),
        _ => Is::Word(name.to_string()),
    };
    Ok(Ast { at: start..i.previous_token_end(), is })
}

/// `12`, `1.5`, `.5`, `1e-3`. A point directly after a number belongs to it.
fn number<'t>(i: &mut Input<'t>) -> Parsed<&'t str> {
    let exponent = (one_of(['e', 'E']), opt(one_of(['+', '-'])), digit1);
    let point = (digit1, opt(('.', opt(digit1)))).take();
    let only = ('.', digit1).take();
    let n = (alt((point, only)), opt(exponent)).take().parse_next(i)?;
    if opt(peek(word)).parse_next(i)?.is_some() {
        return Err(expected("an operator: 2a is written 2 * a"));
    }
    Ok(n)
}

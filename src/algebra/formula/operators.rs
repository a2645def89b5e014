//! Built-in operators by name, as formula texts: the GraphBLAS C API 2.1 tables, and the additional ones of this
//! library.
//!
//! ```
//! use sparring::algebra::{Formula, Times, Type, operators};
//! let times = operators::binary("times", Type::F64)?;
//! assert_eq!(times, Formula::of_binary(Times::<f64>::new()));
//! assert_eq!((times.to_string(), times.name()), ("a * b".to_string(), Some("times")));
//! # Ok::<(), sparring::Error>(())
//! ```

use super::Formula;
use crate::algebra::Type;
use crate::{Error, Result};

/// An operator: its name, its formula, and its operand types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Lower case, words joined by `_`.
    pub name: &'static str,
    /// The formula; `T(…)` converts to the requested type.
    pub formula: &'static str,
    takes: Takes,
    gives: Gives,
}

/// A class of operand or result types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Any,
    Numbers,
    Ordered,
    Bits,
    Integers,
    Reals,
    Truths,
}
impl Takes {
    pub(super) fn has(self, ty: Type) -> bool {
        let types = match self {
            Any => return true,
            Numbers => Type::ALL,
            Ordered => Type::ORDERED,
            Bits => &Type::ORDERED[..9],
            Integers => &Type::ORDERED[1..9],
            Reals => &Type::ORDERED[9..],
            Takes::Truths => &Type::ORDERED[..1],
        };
        types.contains(&ty)
    }
}
use Takes::{Any, Bits, Integers, Numbers, Ordered, Reals};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    Same,
    Truth,
    /// A position, i64.
    Place,
}
use Gives::{Place, Same, Truth};

impl Operator {
    /// Whether the operator exists on operands of this type.
    #[must_use]
    pub fn takes(&self, ty: Type) -> bool {
        self.takes.has(ty)
    }
    /// The formula on these parameters, with numbers of type `ty`.
    fn on(&self, parameters: &[(&str, Type)], ty: Type) -> Result<Formula> {
        let (result, converted) = match self.gives {
            Same => (ty, ty),
            Truth => (Type::Bool, ty),
            Place => (Type::I64, Type::I64),
        };
        Formula::parse(&self.formula.replace("T(", &format!("{converted}(")), parameters, Some(result))
    }
}

macro_rules! table {
    ($(#[$m:meta])* $table:ident: $($name:ident $formula:literal $takes:ident $gives:ident;)*) => {
        $(#[$m])*
        pub const $table: &[Operator] =
            &[$(Operator { name: stringify!($name), formula: $formula, takes: $takes, gives: $gives },)*];
    };
}
table! {
    /// Operators of one value, `a`.
    UNARY:
    identity "a" Any Same;
    abs "abs(a)" Ordered Same;
    ainv "-a" Numbers Same;
    minv "1 / a" Numbers Same;
    lnot "a == 0" Numbers Truth;
    bnot "!a" Bits Same;
    one "1" Numbers Same;
    square "a * a" Numbers Same;
    sqrt "sqrt(a)" Reals Same;
    exp "exp(a)" Reals Same;
    ln "ln(a)" Reals Same;
    ln_1p "ln_1p(a)" Reals Same;
    floor "floor(a)" Reals Same;
    ceil "ceil(a)" Reals Same;
}
table! {
    /// Operators of two values, `a` and `b`.
    BINARY:
    plus "a + b" Numbers Same;
    minus "a - b" Numbers Same;
    reverse_minus "b - a" Numbers Same;
    times "a * b" Numbers Same;
    div "a / b" Numbers Same;
    reverse_div "b / a" Numbers Same;
    min "min(a, b)" Ordered Same;
    max "max(a, b)" Ordered Same;
    first "a" Any Same;
    second "b" Any Same;
    pair "1" Numbers Same;
    pow "pow(a, b)" Reals Same;
    abs_diff "abs_diff(a, b)" Ordered Same;
    squared_diff "let d = abs_diff(a, b); d * d" Ordered Same;
    mismatch "select(a != b, 1, 0)" Numbers Same;
    eq "a == b" Any Truth;
    ne "a != b" Any Truth;
    gt "a > b" Ordered Truth;
    lt "a < b" Ordered Truth;
    ge "a >= b" Ordered Truth;
    le "a <= b" Ordered Truth;
    lor "(a != 0) | (b != 0)" Numbers Truth;
    land "(a != 0) & (b != 0)" Numbers Truth;
    lxor "(a != 0) ^ (b != 0)" Numbers Truth;
    lxnor "(a != 0) == (b != 0)" Numbers Truth;
    bor "a | b" Integers Same;
    band "a & b" Integers Same;
    bxor "a ^ b" Integers Same;
    bxnor "!(a ^ b)" Integers Same;
    and_not "a & !b" Bits Same;
    logaddexp "select(a == b, a + 0.6931471805599453, max(a, b) + ln_1p(exp(-abs(a - b))))" Reals Same;
}
table! {
    /// Positional ⊗ of C(i, j) = Σ A(i, k) ⊗ B(k, j). Those that end in 1 count from 1.
    POSITIONAL:
    firsti "T(i)" Any Place;
    secondi "T(k)" Any Place;
    secondj "T(j)" Any Place;
    firsti1 "T(i) + 1" Any Place;
    secondi1 "T(k) + 1" Any Place;
    secondj1 "T(j) + 1" Any Place;
}
table! {
    /// Operators of an entry `a`, its indices `i`, `j`, and a scalar `s` of type i64.
    PLACE:
    row_index "T(i) + s" Any Place;
    col_index "T(j) + s" Any Place;
    diag_index "T(j) - T(i) + s" Any Place;
    tril "i64(j) - i64(i) <= s" Any Truth;
    triu "i64(j) - i64(i) >= s" Any Truth;
    diag "i64(j) - i64(i) == s" Any Truth;
    offdiag "i64(j) - i64(i) != s" Any Truth;
    col_le "i64(j) <= s" Any Truth;
    col_gt "i64(j) > s" Any Truth;
    row_le "i64(i) <= s" Any Truth;
    row_gt "i64(i) > s" Any Truth;
}
table! {
    /// Operators of an entry `a` and a scalar `s` of its type.
    VALUE:
    value_eq "a == s" Any Truth;
    value_ne "a != s" Any Truth;
    value_lt "a < s" Ordered Truth;
    value_le "a <= s" Ordered Truth;
    value_gt "a > s" Ordered Truth;
    value_ge "a >= s" Ordered Truth;
}

/// Aliases.
const ALIASES: [(&str, &str); 22] = [
    ("oneb", "pair"),
    ("log", "ln"),
    ("log1p", "ln_1p"),
    ("rminus", "reverse_minus"),
    ("rdiv", "reverse_div"),
    ("firstj", "secondi"),
    ("firstj1", "secondi1"),
    ("first_index", "firsti"),
    ("second_index", "secondi"),
    ("rowindex", "row_index"),
    ("colindex", "col_index"),
    ("diagindex", "diag_index"),
    ("colle", "col_le"),
    ("colgt", "col_gt"),
    ("rowle", "row_le"),
    ("rowgt", "row_gt"),
    ("valueeq", "value_eq"),
    ("valuene", "value_ne"),
    ("valuelt", "value_lt"),
    ("valuele", "value_le"),
    ("valuegt", "value_gt"),
    ("valuege", "value_ge"),
];

fn find(what: &str, name: &str, ty: Type, tables: &[&'static [Operator]]) -> Result<&'static Operator> {
    let lower = name.to_lowercase().replace('-', "_");
    let canonical = ALIASES.iter().find(|a| a.0 == lower).map_or(lower.as_str(), |a| a.1);
    let rows = || tables.iter().flat_map(|table| table.iter()).filter(|op| op.takes(ty));
    rows().find(|op| op.name == canonical).ok_or_else(|| {
        let known: Vec<_> = rows().map(|op| op.name).collect();
        Error::Unsupported { what: format!("{what} '{name}' over {ty}"), why: format!("{ty} has {}", known.join(", ")) }
    })
}

/// The unary operator of this name: parameter `a`.
/// # Errors
/// [`Error::Unsupported`] if the type has no such operator; the message lists the available ones.
pub fn unary(name: &str, ty: Type) -> Result<Formula> {
    find("unary operator", name, ty, &[UNARY])?.on(&[("a", ty)], ty)
}

/// The binary operator of this name: parameters `a` and `b`, both of the type.
/// # Errors
/// As [`unary`].
pub fn binary(name: &str, ty: Type) -> Result<Formula> {
    find("binary operator", name, ty, &[BINARY])?.on(&[("a", ty), ("b", ty)], ty)
}

/// ⊗ of this name, a binary or a positional operator: parameters `a`, `b`, `i`, `k`, `j`.
/// # Errors
/// As [`unary`].
pub fn mul(name: &str, ty: Type) -> Result<Formula> {
    find("operator", name, ty, &[BINARY, POSITIONAL])?.on(&multiplied(ty, ty), ty)
}

/// The parameters of a ⊗.
pub(super) fn multiplied(a: Type, b: Type) -> [(&'static str, Type); 5] {
    [("a", a), ("b", b), ("i", Type::U64), ("k", Type::U64), ("j", Type::U64)]
}

/// The index-unary operator of this name: parameters `a`, `s`, `i`, `j`. The scalar is an i64 for comparisons of
/// indices, otherwise it has the type of the entries.
/// # Errors
/// As [`unary`].
pub fn index_unary(name: &str, ty: Type) -> Result<Formula> {
    let op = find("index-unary operator", name, ty, &[PLACE, VALUE])?;
    let s = if VALUE.contains(op) { ty } else { Type::I64 };
    op.on(&[("a", ty), ("s", s), ("i", Type::U64), ("j", Type::U64)], ty)
}

impl Formula {
    /// Its name, if it equals the formula of a built-in operator, as returned by [`binary`] and the related functions,
    /// for any operand types.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        let names: Vec<_> = self.parameters().iter().map(|p| p.0.as_ref()).collect();
        let tables: &[&[Operator]] = match names.as_slice() {
            ["a"] => &[UNARY],
            ["a", "b"] => &[BINARY],
            ["a", "b", "i", "k", "j"] => &[BINARY, POSITIONAL],
            ["a", "s", "i", "j"] => &[PLACE, VALUE],
            _ => return None,
        };
        let parameters: Vec<_> = self.parameters().iter().map(|p| (p.0.as_ref(), p.1)).collect();
        let ty = parameters[0].1;
        let is = |op: &&Operator| match op.gives {
            Truth if self.ty() != Type::Bool => false,
            // For operands of two types, the result has the type of the selected operand.
            Same => op.takes(self.ty()) && op.on(&parameters, self.ty()).is_ok_and(|f| f == *self),
            _ => op.takes(ty) && op.on(&parameters, ty).is_ok_and(|f| f == *self),
        };
        tables.iter().flat_map(|table| table.iter()).find(is).map(|op| op.name)
    }
}

//! Monoids and semirings as data, by name or by formulas.

use std::sync::OnceLock;

use super::graph::{Kind, Node};
use super::operators::{self, Takes, multiplied};
use super::typing::{constant, typed};
use super::{Formula, laws, parse};
use crate::algebra::{Bits, Constant, Contract, Monoid, Num, Number, Type, dynamic, for_each_type};
use crate::{Error, Result};

/// ⊕ with its identity and an optional terminal value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MonoidFormula {
    op: Formula,
    identity: Constant,
    terminal: Option<Constant>,
    /// Determined by the other fields; looked up on construction.
    name: Option<&'static str>,
}

/// A semiring, or NAMM: ⊕ and ⊗.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RingFormula {
    add: MonoidFormula,
    mul: Formula,
}

/// The identity or terminal value of a monoid, for each type.
#[derive(Clone, Copy, PartialEq)]
enum Special {
    Zero,
    One,
    Top,
    Bottom,
    Ones,
}
use Special::{Bottom, One, Ones, Top, Zero};

/// A built-in monoid.
struct Row {
    name: &'static str,
    /// The name of its formula among the binary operators.
    op: &'static str,
    identity: Special,
    terminal: Option<Special>,
    takes: Takes,
}
const fn row(name: &'static str, op: &'static str, identity: Special, terminal: Option<Special>, takes: Takes) -> Row {
    Row { name, op, identity, terminal, takes }
}
const MONOIDS: [Row; 15] = [
    row("plus", "plus", Zero, None, Takes::Numbers),
    row("times", "times", One, None, Takes::Numbers),
    row("min", "min", Top, Some(Bottom), Takes::Ordered),
    row("max", "max", Bottom, Some(Top), Takes::Ordered),
    row("max_from_zero", "max", Zero, Some(Top), Takes::Ordered),
    row("any", "second", Zero, None, Takes::Numbers),
    row("bor", "bor", Zero, Some(Ones), Takes::Integers),
    row("band", "band", Ones, Some(Zero), Takes::Integers),
    row("bxor", "bxor", Zero, None, Takes::Integers),
    row("bxnor", "bxnor", Ones, None, Takes::Integers),
    row("logaddexp", "logaddexp", Bottom, None, Takes::Reals),
    row("lor", "lor", Zero, Some(One), Takes::Truths),
    row("land", "land", One, Some(Zero), Takes::Truths),
    row("lxor", "lxor", Zero, None, Takes::Truths),
    row("lxnor", "lxnor", One, None, Takes::Truths),
];

impl Special {
    fn value(self, ty: Type) -> Option<Constant> {
        fn number<T: Number>(s: Special) -> Option<Constant> {
            match s {
                Zero => Some(Constant::of(T::ZERO)),
                One => Some(Constant::of(T::ONE)),
                _ => None,
            }
        }
        fn ordered<T: Num>(s: Special) -> Option<Constant> {
            match s {
                Top => Some(Constant::of(T::TOP)),
                Bottom => Some(Constant::of(T::BOTTOM)),
                _ => number::<T>(s),
            }
        }
        fn bits<T: Bits>(s: Special) -> Option<Constant> {
            if s == Ones { Some(Constant::of(T::ONES)) } else { ordered::<T>(s) }
        }
        macro_rules! of {
            ($of:ident, $($variant:ident $t:ty),*) => {
                match ty {
                    $(Type::$variant => return $of::<$t>(self),)*
                    _ => {}
                }
            };
        }
        for_each_type!(bits, of!(bits,));
        for_each_type!(floats, of!(ordered,));
        for_each_type!(complex, of!(number,));
        None
    }
}

/// The rows of [`MONOIDS`] for a type, each with its monoid; parsed once per type.
fn builtins(ty: Type) -> &'static [(&'static Row, MonoidFormula)] {
    static TYPES: [OnceLock<Vec<(&'static Row, MonoidFormula)>>; Type::ALL.len()] =
        [const { OnceLock::new() }; Type::ALL.len()];
    let Some(t) = Type::ALL.iter().position(|t| *t == ty) else { return &[] };
    TYPES[t].get_or_init(|| {
        let mut made: Vec<(&Row, MonoidFormula)> = Vec::new();
        for row in MONOIDS.iter().filter(|row| row.takes.has(ty)) {
            let Ok(op) = operators::binary(row.op, ty) else { continue };
            let Some(identity) = row.identity.value(ty) else { continue };
            let terminal = row.terminal.and_then(|t| t.value(ty));
            let mut monoid = MonoidFormula { op, identity, terminal, name: None };
            // One monoid may have two rows: max from zero equals max for unsigned integers.
            let first = made.iter().find(|(_, other)| monoid.is(other)).map_or(row.name, |(row, _)| row.name);
            monoid.name = Some(first);
            made.push((row, monoid));
        }
        made
    })
}

impl MonoidFormula {
    fn new(op: Formula, identity: Constant, terminal: Option<Constant>) -> Self {
        let mut monoid = Self { op, identity, terminal, name: None };
        monoid.name = builtins(monoid.op.ty()).iter().find(|(_, other)| monoid.is(other)).and_then(|(_, m)| m.name);
        monoid
    }
    /// Whether both are the same monoid, ignoring names.
    fn is(&self, other: &Self) -> bool {
        self.op == other.op && self.identity == other.identity && self.terminal == other.terminal
    }
    /// The monoid of an operator type.
    pub fn of<M: Monoid>(op: M) -> Self {
        Self::new(Formula::of_binary(op), Constant::of(M::IDENTITY), M::TERMINAL.map(Constant::of))
    }
    /// The built-in monoid of this name.
    /// # Errors
    /// [`Error::Unsupported`] if the type has no such monoid; the message lists the available ones.
    pub fn named(name: &str, ty: Type) -> Result<Self> {
        let lower = name.to_lowercase().replace('-', "_");
        let canonical = if lower == "log" { "logaddexp" } else { &lower };
        let known = builtins(ty);
        known.iter().find(|(row, _)| row.name == canonical).map(|(_, monoid)| monoid.clone()).ok_or_else(|| {
            let known: Vec<_> = known.iter().map(|(row, _)| row.name).collect();
            let why = format!("{ty} has {}", known.join(", "));
            Error::Unsupported { what: format!("monoid '{name}' over {ty}"), why }
        })
    }
    /// Parses a monoid over `ty`: the name of a built-in one, or a formula of `a` and `b` with its identity and an
    /// optional terminal value: `a + b - a * b identity 0 terminal 1`.
    ///
    /// The monoid laws are tested on sample values: e ⊕ x = x, x ⊕ y = y ⊕ x, (x ⊕ y) ⊕ z = x ⊕ (y ⊕ z), floats up to
    /// rounding; t ⊕ x = t. Structs are not tested.
    /// # Errors
    /// [`Error::Formula`] for a syntax error, [`Error::Argument`] for a violated law, with the values;
    /// [`Error::Unsupported`] for an unknown name.
    pub fn parse(text: &str, ty: Type) -> Result<Self> {
        if let Some(name) = name(text).filter(|name| !["a", "b"].contains(name)) {
            return Self::named(name, ty);
        }
        let (op, identity, terminal) = parse::monoid(text)?;
        let Some(identity) = identity else {
            let message = "⊕ as a formula is followed by its identity: … identity 0".to_string();
            return Err(Error::Formula { text: text.to_string(), at: text.trim_end().len(), message });
        };
        let op = typed(text, &op, &[("a", ty), ("b", ty)], Some(ty))?;
        let identity = constant(text, &identity, ty)?;
        let terminal = terminal.map(|t| constant(text, &t, ty)).transpose()?;
        let monoid = Self::new(op, identity, terminal);
        laws::hold(&monoid.op, &monoid.identity, monoid.terminal.as_ref())?;
        Ok(monoid)
    }
    /// The monoid of an operator and its identity. The laws are tested on sample values as by [`parse`](Self::parse),
    /// except for [custom host functions](super::HostCall), which may be monoids on some values only.
    /// # Errors
    /// [`Error::Argument`] if the types of operands, result and identity differ, or a law is violated.
    pub fn with_identity(op: &Formula, identity: Constant) -> Result<Self> {
        let ty = op.ty();
        let of = [("a".into(), ty), ("b".into(), ty)];
        let Some(op) = op.over(&of) else {
            let found: Vec<_> = op.parameters().iter().map(|p| p.1.name()).collect();
            let message =
                format!("a monoid takes the type that it returns, {ty}, but this one takes {}", found.join(" and "));
            return Err(Error::Argument { name: "operator", message });
        };
        if identity.ty() != ty {
            let message = format!("it is {}, but the operator is on {ty}", identity.ty());
            return Err(Error::Argument { name: "identity", message });
        }
        let known = builtins(ty).iter().filter(|(row, _)| row.name != "any").map(|(_, monoid)| monoid);
        if let Some(known) = known.clone().find(|m| m.op == op && m.identity == identity) {
            return Ok(known.clone());
        }
        let monoid = Self::new(op, identity, None);
        if monoid.op.host_function().is_none() {
            laws::hold(&monoid.op, &monoid.identity, None)?;
        }
        Ok(monoid)
    }
    /// x ⊕ y: parameters `a` and `b`.
    #[must_use]
    pub fn op(&self) -> &Formula {
        &self.op
    }
    /// e with e ⊕ x = x.
    #[must_use]
    pub fn identity(&self) -> &Constant {
        &self.identity
    }
    /// t with t ⊕ x = t, at which a fold may stop.
    #[must_use]
    pub fn terminal(&self) -> Option<&Constant> {
        self.terminal.as_ref()
    }
    /// Its name, if it is a built-in one.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        self.name
    }
    /// Whether x ⊕ y = y for all x and y: a fold is its last value.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self.op.nodes(), [Node { kind: Kind::Parameter(1), .. }])
    }
}

impl RingFormula {
    /// The semiring or NAMM of a type.
    pub fn of<R: Contract>(ring: R) -> Self {
        Self { add: MonoidFormula::of(ring.add()), mul: Formula::of_mul(ring.mul()) }
    }
    /// From ⊕ and ⊗; the parameters of ⊗ are a subset of `a`, `b`, `i`, `k`, `j`.
    /// # Errors
    /// [`Error::Argument`] if the types do not match or ⊗ has other parameters.
    pub fn new(add: MonoidFormula, mul: &Formula) -> Result<Self> {
        let wrong = |message| Error::Argument { name: "semiring", message };
        if mul.ty() != add.op.ty() {
            return Err(wrong(format!("⊗ gives {}, but ⊕ takes {}", mul.ty(), add.op.ty())));
        }
        let ty = |name| mul.parameters().iter().find(|p| p.0 == name).map_or(mul.ty(), |p| p.1);
        let parameters = multiplied(ty("a"), ty("b")).map(|(name, ty)| (name.into(), ty));
        let known = || parameters.iter().map(|p| format!("{}: {}", p.0, p.1)).collect::<Vec<_>>().join(", ");
        let mul = mul.over(&parameters).ok_or_else(|| wrong(format!("⊗ is a formula of {}", known())))?;
        Ok(Self { add, mul })
    }
    /// The semiring of this name over `ty`: the names of a monoid and an operator joined by `_`, such as `min_plus`, or
    /// an alias known to [`dynamic::canonical`]. All pairs are accepted, not only those of the table.
    /// # Errors
    /// [`Error::Unsupported`] if one of them does not exist for the type.
    pub fn named(name: &str, ty: Type) -> Result<Self> {
        let canonical = dynamic::canonical(name);
        let mut first = None;
        // Both names may contain `_`.
        for (at, _) in canonical.match_indices('_') {
            let found = operators::mul(&canonical[at + 1..], ty).and_then(|mul| {
                let add = MonoidFormula::named(&canonical[..at], mul.ty())?;
                Ok(Self { add, mul })
            });
            match found {
                Ok(ring) => return Ok(ring),
                Err(e) => first = first.or(Some(e)),
            }
        }
        let why = first
            .map_or("a name is that of a monoid and of an operator, joined by _: min_plus".into(), |e| e.to_string());
        Err(Error::Unsupported { what: format!("semiring '{name}' over {ty}"), why })
    }
    /// Parses a semiring: ⊕, a comma, ⊗; or a name. ⊕ is parsed by [`MonoidFormula::parse`]; ⊗ is the name of an
    /// operator, or a formula of `a`, `b`, and the indices `i`, `k`, `j` of C(i, j) = ⊕ₖ A(i, k) ⊗ B(k, j).
    ///
    /// ```
    /// use sparring::algebra::{RingFormula, Type};
    /// let ring = RingFormula::parse("min, a + 2*b", Type::F64, Type::F64)?;
    /// assert_eq!(ring.add().name(), Some("min"));
    /// assert_eq!(ring.mul().to_string(), "a + 2.0 * b");
    /// assert_eq!(RingFormula::parse("min, a + b", Type::F64, Type::F64)?, RingFormula::named("min_plus", Type::F64)?);
    /// let error = RingFormula::parse("a - b identity 0, a * b", Type::F64, Type::F64).unwrap_err().to_string();
    /// assert!(error.contains("0 ⊕ x is -1.0, not x, for x = 1.0"), "{error}");
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// As [`MonoidFormula::parse`].
    pub fn parse(text: &str, a: Type, b: Type) -> Result<Self> {
        let Some(comma) = comma(text) else {
            return match name(text) {
                Some(name) if a == b => Self::named(name, a),
                _ => {
                    let message = "expected ⊕, a comma and ⊗, as in: min, a + b".to_string();
                    Err(Error::Formula { text: text.to_string(), at: text.len(), message })
                }
            };
        };
        let (left, right) = (&text[..comma], &text[comma + 1..]);
        let mul = match name(right).filter(|name| multiplied(a, b).iter().all(|p| p.0 != *name)) {
            Some(name) if a == b => operators::mul(name, a),
            _ => Formula::parse(right, &multiplied(a, b), None),
        };
        let mul = mul.map_err(|e| shifted(e, text, comma + 1))?;
        let add = MonoidFormula::parse(left, mul.ty()).map_err(|e| shifted(e, text, 0))?;
        Ok(Self { add, mul })
    }
    /// The semiring of the transposed product, (A ⊕.⊗ B)ᵀ = Bᵀ ⊕.⊗′ Aᵀ: ⊗ with exchanged operands and exchanged row and
    /// column. `None` if it is bitwise the same.
    pub(crate) fn transposed(&self) -> Option<Self> {
        /// Operators that are bitwise commutative.
        const COMMUTATIVE: [&str; 13] =
            ["plus", "times", "pair", "eq", "ne", "lor", "land", "lxor", "lxnor", "bor", "band", "bxor", "bxnor"];
        let [a, b, ..] = self.mul.parameters() else { return None };
        if a.1 == b.1 && self.mul.name().is_some_and(|name| COMMUTATIVE.contains(&name)) {
            return None;
        }
        let parameters = multiplied(b.1, a.1).map(|(name, ty)| (name.into(), ty));
        fn exchanged(name: &str) -> &str {
            match name {
                "a" => "b",
                "b" => "a",
                "i" => "j",
                "j" => "i",
                name => name,
            }
        }
        let mul = self.mul.renamed(&parameters, exchanged)?;
        Some(Self { add: self.add.clone(), mul })
    }
    /// The semiring whose ⊗ receives i + di, k + dk and j + dj for i, k and j: that of blocks of A and B that start at
    /// (di, dk) and (dk, dj).
    #[must_use]
    pub fn shifted(&self, [i, k, j]: [u64; 3]) -> Self {
        Self { add: self.add.clone(), mul: self.mul.shifted(&[("i", i), ("k", k), ("j", j)]) }
    }
    /// ⊕.
    #[must_use]
    pub fn add(&self) -> &MonoidFormula {
        &self.add
    }
    /// ⊗: parameters `a`, `b`, `i`, `k`, `j`.
    #[must_use]
    pub fn mul(&self) -> &Formula {
        &self.mul
    }
    /// Its name, if both are built-in.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        let add = if self.add.name()? == "logaddexp" { "log" } else { self.add.name()? };
        Some(format!("{add}_{}", self.mul.name()?))
    }
}

/// The trimmed text, if it is a single word.
pub(crate) fn name(text: &str) -> Option<&str> {
    let text = text.trim();
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(letter) && !text.contains("--"))
        .then_some(text)
}

/// Position of the comma outside of brackets.
fn comma(text: &str) -> Option<usize> {
    let mut open = 0usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => {}
        }
        (c == ',' && open == 0).then_some(at)
    })
}

/// Maps an error in a part of a text to its position in the whole.
fn shifted(error: Error, whole: &str, by: usize) -> Error {
    match error {
        Error::Formula { at, message, .. } => Error::Formula { text: whole.to_string(), at: at + by, message },
        other => other,
    }
}

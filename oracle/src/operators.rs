//! Operators by lower-case name; each function is a table of the specification.
//!
//! Source: GraphBLAS C API 2.1, §3.5 (unary, binary and index-unary operators), §3.6 (monoids).

use crate::value::Type;
use crate::value::Value::{self, Bool, Complex, Int, Real};

/// The type of z = x ∘ y for x and y of type `ty`; `None` if the type has no such operator.
#[must_use]
pub fn binary_type(name: &str, ty: Type) -> Option<Type> {
    match name {
        "first" | "second" | "pair" | "plus" | "minus" | "times" => Some(ty),
        "div" => (ty.is_real() || ty == Type::Bool).then_some(ty),
        "min" | "max" => (!ty.is_complex()).then_some(ty),
        "eq" | "ne" | "lor" | "land" | "lxor" | "lxnor" => Some(Type::Bool),
        "lt" | "gt" | "le" | "ge" => (!ty.is_complex()).then_some(Type::Bool),
        "bor" | "band" | "bxor" => ty.is_integer().then_some(ty),
        "firsti" | "secondi" | "secondj" => Some(Type::I64),
        _ => None,
    }
}

/// Whether ⊗ is positional.
#[must_use]
pub fn is_positional(name: &str) -> bool {
    matches!(name, "firsti" | "secondi" | "secondj")
}

/// z = x ∘ y, for values of a type that has the operator.
///
/// For bool, + and max are ∨, × and min are ∧, − is ≠, and ÷ returns its first operand.
#[must_use]
pub fn binary(name: &str, ty: Type, x: Value, y: Value) -> Value {
    let z = match (name, x, y) {
        ("first", x, _) => x,
        ("second", _, y) => y,
        ("pair", ..) => ty.one(),

        ("plus", Bool(x), Bool(y)) => Bool(x || y),
        ("plus", Int(x), Int(y)) => Int(x + y),
        ("plus", Real(x), Real(y)) => Real(x + y),
        ("plus", Complex(a, b), Complex(c, d)) => Complex(a + c, b + d),

        ("minus", Bool(x), Bool(y)) => Bool(x != y),
        ("minus", Int(x), Int(y)) => Int(x - y),
        ("minus", Real(x), Real(y)) => Real(x - y),
        ("minus", Complex(a, b), Complex(c, d)) => Complex(a - c, b - d),

        ("times", Bool(x), Bool(y)) => Bool(x && y),
        ("times", Int(x), Int(y)) => Int(x.wrapping_mul(y)),
        ("times", Real(x), Real(y)) => Real(x * y),
        ("times", Complex(a, b), Complex(c, d)) => Complex(a * c - b * d, a * d + b * c),

        ("div", Bool(x), Bool(_)) => Bool(x),
        ("div", Real(x), Real(y)) => Real(x / y),

        ("min", Bool(x), Bool(y)) => Bool(x && y),
        ("min", Int(x), Int(y)) => Int(x.min(y)),
        ("min", Real(x), Real(y)) => Real(x.min(y)),
        ("max", Bool(x), Bool(y)) => Bool(x || y),
        ("max", Int(x), Int(y)) => Int(x.max(y)),
        ("max", Real(x), Real(y)) => Real(x.max(y)),

        ("eq", x, y) => Bool(x == y),
        ("ne", x, y) => Bool(x != y),
        ("lt", x, y) => Bool(less(x, y)),
        ("gt", x, y) => Bool(less(y, x)),
        ("le", x, y) => Bool(less(x, y) || x == y),
        ("ge", x, y) => Bool(less(y, x) || x == y),

        ("lor", x, y) => Bool(x.nonzero() || y.nonzero()),
        ("land", x, y) => Bool(x.nonzero() && y.nonzero()),
        ("lxor", x, y) => Bool(x.nonzero() != y.nonzero()),
        ("lxnor", x, y) => Bool(x.nonzero() == y.nonzero()),

        ("bor", Int(x), Int(y)) => Int(x | y),
        ("band", Int(x), Int(y)) => Int(x & y),
        ("bxor", Int(x), Int(y)) => Int(x ^ y),
        _ => unreachable!("{name} of {x:?} and {y:?}"),
    };
    ty.held(z)
}

fn less(x: Value, y: Value) -> bool {
    match (x, y) {
        (Bool(x), Bool(y)) => !x && y,
        (Int(x), Int(y)) => x < y,
        (Real(x), Real(y)) => x < y,
        _ => unreachable!("{x:?} < {y:?}"),
    }
}

/// A(i, k) ⊗ B(k, j): a binary or positional operator.
#[must_use]
pub fn multiply(name: &str, ty: Type, x: Value, y: Value, (i, k, j): (usize, usize, usize)) -> Value {
    match name {
        "firsti" => Type::I64.number(i as i128),
        "secondi" => Type::I64.number(k as i128),
        "secondj" => Type::I64.number(j as i128),
        _ => binary(name, ty, x, y),
    }
}

/// The identity of ⊕; `None` if the type has no such monoid.
#[must_use]
pub fn identity(name: &str, ty: Type) -> Option<Value> {
    let bool_only = |x: bool| (ty == Type::Bool).then_some(Bool(x));
    match name {
        "plus" => Some(ty.zero()),
        "times" => Some(ty.one()),
        "min" | "max" => {
            let (least, most) = match ty {
                Type::Bool => (Bool(false), Bool(true)),
                Type::F32 | Type::F64 => (Real(f64::NEG_INFINITY), Real(f64::INFINITY)),
                _ => ty.range().map(|(least, most)| (Int(least), Int(most)))?,
            };
            Some(if name == "min" { most } else { least })
        }
        "lor" | "lxor" => bool_only(false),
        "land" | "lxnor" => bool_only(true),
        "bor" | "bxor" => ty.is_integer().then(|| ty.zero()),
        "band" => ty.is_integer().then(|| ty.number(-1)),
        _ => None,
    }
}

/// x₀ ⊕ x₁ ⊕ …; `None` without values.
pub fn fold(monoid: &str, ty: Type, values: impl IntoIterator<Item = Value>) -> Option<Value> {
    values.into_iter().reduce(|x, y| binary(monoid, ty, x, y))
}

/// The type of z = f(x) for x of type `ty`; `None` if the type has no such operator.
#[must_use]
pub fn unary_type(name: &str, ty: Type) -> Option<Type> {
    match name {
        "identity" | "ainv" | "one" => Some(ty),
        "abs" => (!ty.is_complex()).then_some(ty),
        "bnot" => ty.is_integer().then_some(ty),
        "lnot" => Some(Type::Bool),
        _ => None,
    }
}

/// z = f(x), for a value of a type that has the operator.
#[must_use]
pub fn unary(name: &str, ty: Type, x: Value) -> Value {
    let z = match (name, x) {
        ("identity", x) => x,
        ("one", _) => ty.one(),
        ("lnot", x) => return Bool(!x.nonzero()),
        // Booleans are their own additive inverses, as − is ≠.
        ("ainv" | "abs", Bool(x)) => Bool(x),
        ("ainv", Int(x)) => Int(-x),
        ("ainv", Real(x)) => Real(-x),
        ("ainv", Complex(re, im)) => Complex(-re, -im),
        ("abs", Int(x)) => Int(x.abs()),
        ("abs", Real(x)) => Real(x.abs()),
        ("bnot", Int(x)) => Int(!x),
        _ => unreachable!("{name} of {x:?}"),
    };
    ty.held(z)
}

/// The type of the scalar s of f(a, s, i, j), and that of the result; `None` if the type has no such operator.
#[must_use]
pub fn index_unary_types(name: &str, ty: Type) -> Option<(Type, Type)> {
    match name {
        "row_index" | "col_index" | "diag_index" => Some((Type::I64, Type::I64)),
        "tril" | "triu" | "diag" | "offdiag" | "row_le" | "row_gt" | "col_le" | "col_gt" => {
            Some((Type::I64, Type::Bool))
        }
        "value_eq" | "value_ne" => Some((ty, Type::Bool)),
        "value_lt" | "value_le" | "value_gt" | "value_ge" => (!ty.is_complex()).then_some((ty, Type::Bool)),
        _ => None,
    }
}

/// z = f(a, s, i, j) of an entry, a scalar, and the row and column of the entry.
#[must_use]
pub fn index_unary(name: &str, ty: Type, a: Value, s: Value, (i, j): (usize, usize)) -> Value {
    let (i, j) = (i as i128, j as i128);
    if let Some(name) = name.strip_prefix("value_") {
        return binary(name, ty, a, s);
    }
    let Int(s) = s else { unreachable!("{name} of a scalar {s:?}") };
    match name {
        "row_index" => Type::I64.number(i + s),
        "col_index" => Type::I64.number(j + s),
        "diag_index" => Type::I64.number(j - i + s),
        "tril" => Bool(j - i <= s),
        "triu" => Bool(j - i >= s),
        "diag" => Bool(j - i == s),
        "offdiag" => Bool(j - i != s),
        "row_le" => Bool(i <= s),
        "row_gt" => Bool(i > s),
        "col_le" => Bool(j <= s),
        "col_gt" => Bool(j > s),
        _ => unreachable!("{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_identities() {
        for ty in Type::ALL {
            for monoid in ["plus", "times", "min", "max", "lor", "land", "lxor", "lxnor", "bor", "band", "bxor"] {
                let Some(e) = identity(monoid, ty) else { continue };
                for x in [-2, 0, 1, 100].map(|x| ty.number(x)) {
                    assert_eq!(binary(monoid, ty, e, x), x, "{monoid} {ty:?}");
                    assert_eq!(binary(monoid, ty, x, e), x, "{monoid} {ty:?}");
                }
            }
        }
    }
    #[test]
    fn values_of_the_specification() {
        let (t, f) = (Bool(true), Bool(false));
        assert_eq!(binary("plus", Type::Bool, t, t), t);
        assert_eq!(binary("minus", Type::Bool, t, t), f);
        assert_eq!(binary("div", Type::Bool, t, f), t);
        assert_eq!(binary("plus", Type::I8, Int(127), Int(1)), Int(-128));
        assert_eq!(binary("times", Type::U64, Int(u64::MAX.into()), Int(u64::MAX.into())), Int(1));
        assert_eq!(binary("lt", Type::Bool, f, t), t);
        assert_eq!(unary("abs", Type::I8, Int(-128)), Int(-128));
        assert_eq!(unary("bnot", Type::U8, Int(1)), Int(254));
        assert_eq!(index_unary("tril", Type::F64, Real(1.0), Int(-1), (2, 1)), t);
    }
}

//! Matrices of one type, for operations that take one or several.

use sparring::Error;
use sparring::algebra::Type;
use sparring::runtime::Matrix;

use crate::context::Context;
use crate::failure::Result;

/// What an operation is on.
pub(crate) struct Operands {
    pub(crate) all: Vec<Matrix>,
    /// Type of the values of all.
    pub(crate) ty: Type,
    /// All are patterns, whose entries are taken as 1.
    pub(crate) ones: bool,
    /// Milliseconds that reading took.
    pub(crate) read_ms: f64,
}

impl Operands {
    /// Reads them as values of `ty`; if that is not given, as values of the least type that holds those of all. Patterns
    /// are truth values where the operation has `truth` values, else numbers, each entry 1.
    pub(crate) fn load(context: &Context, files: &[&str], ty: Option<Type>, truth: bool) -> Result<Self> {
        let (mut all, mut read_ms) = (Vec::with_capacity(files.len()), 0.0);
        for file in files {
            let (matrix, ms) = context.load_any(file, ty)?;
            all.push(matrix);
            read_ms += ms;
        }
        let ones = ty.is_none() && !truth && all.iter().all(|a| a.ty() == Type::Bool);
        let ty = match ty {
            Some(ty) => ty,
            None if ones => Type::I64,
            None => common(&all)?,
        };
        let all = all.iter().map(|a| a.cast(ty)).collect::<sparring::Result<_>>()?;
        Ok(Self { all, ty, ones, read_ms })
    }
}

/// Kinds of numbers.
#[derive(Clone, Copy)]
enum Kind {
    Integer { signed: bool, bits: u32 },
    Float(u32),
    Complex(u32),
}

fn kind(ty: Type) -> Option<Kind> {
    let bits = 8 * ty.size() as u32;
    match ty {
        Type::F32 | Type::F64 => Some(Kind::Float(bits)),
        Type::ComplexF32 | Type::ComplexF64 => Some(Kind::Complex(bits / 2)),
        _ => ty.is_integer().then_some(Kind::Integer { signed: ty.is_signed(), bits }),
    }
}

/// The least type that holds every value of both types; integers of 64 bits count as floats of 64 bits beside floats.
fn least(a: Type, b: Type) -> Option<Type> {
    if a == b {
        return Some(a);
    }
    // Bits of the least float that holds integers of so many.
    let float = |bits: u32| if bits <= 16 { 32 } else { 64 };
    let integer = |signed: bool, bits: u32| {
        let found = Type::ALL
            .iter()
            .find(|t| matches!(kind(**t), Some(Kind::Integer { signed: s, bits: b }) if (s, b) == (signed, bits)));
        found.copied()
    };
    match (kind(a), kind(b)) {
        (None, Some(_)) if a == Type::Bool => Some(b),
        (Some(_), None) if b == Type::Bool => Some(a),
        (Some(Kind::Integer { signed: s, bits: m }), Some(Kind::Integer { signed: t, bits: n })) => match (s, t) {
            (true, false) => integer(true, m.max(2 * n)),
            (false, true) => integer(true, n.max(2 * m)),
            _ => integer(s, m.max(n)),
        },
        (Some(x), Some(y)) => {
            let bits = |k| match k {
                Kind::Integer { bits, .. } => float(bits),
                Kind::Float(bits) | Kind::Complex(bits) => bits,
            };
            let complex = [x, y].iter().any(|k| matches!(k, Kind::Complex(_)));
            Some(match (complex, bits(x).max(bits(y))) {
                (false, 32) => Type::F32,
                (false, _) => Type::F64,
                (true, 32) => Type::ComplexF32,
                (true, _) => Type::ComplexF64,
            })
        }
        _ => None,
    }
}

/// The least type that holds the values of all; where that could lose digits the user is to say.
fn common(all: &[Matrix]) -> sparring::Result<Type> {
    let ty = all.iter().map(Matrix::ty).try_fold(Type::Bool, least);
    match ty {
        Some(ty) if all.iter().all(|a| ty == a.ty() || is_exact(a, ty)) => Ok(ty),
        _ => {
            let message = match all {
                [a, b] => {
                    let (a, b) = (a.ty(), b.ty());
                    format!(
                        "the left matrix has {a}, the right one {b}, and no type holds the values of both; say --type"
                    )
                }
                all => {
                    let types: Vec<&str> = all.iter().map(|a| a.ty().name()).collect();
                    format!("the matrices have {}, and no type holds the values of all; say --type", types.join(", "))
                }
            };
            Err(Error::Argument { name: "type", message })
        }
    }
}

/// Whether a type holds the matrix's integers of 64 bits; all others are held by the types that [`least`] gives.
fn is_exact(m: &Matrix, ty: Type) -> bool {
    const MOST: u64 = 1 << 53;
    if !matches!(ty, Type::F64 | Type::ComplexF64) {
        return true;
    }
    let Some(values) = m.values() else { return false };
    let signed = values.get::<i64>().is_none_or(|x| x.iter().all(|v| v.unsigned_abs() <= MOST));
    signed && values.get::<u64>().is_none_or(|x| x.iter().all(|v| *v <= MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_type_holds_both() {
        for (a, b, want) in [
            (Type::I32, Type::F32, Some(Type::F64)),
            (Type::I8, Type::F32, Some(Type::F32)),
            (Type::F32, Type::F64, Some(Type::F64)),
            (Type::ComplexF32, Type::F64, Some(Type::ComplexF64)),
            (Type::ComplexF32, Type::I32, Some(Type::ComplexF64)),
            (Type::ComplexF32, Type::U8, Some(Type::ComplexF32)),
            (Type::I8, Type::U8, Some(Type::I16)),
            (Type::I64, Type::U8, Some(Type::I64)),
            (Type::U32, Type::I16, Some(Type::I64)),
            (Type::U64, Type::I8, None),
            (Type::U64, Type::U8, Some(Type::U64)),
            (Type::I64, Type::F64, Some(Type::F64)),
            (Type::Bool, Type::I8, Some(Type::I8)),
            (Type::Bool, Type::Bool, Some(Type::Bool)),
        ] {
            assert_eq!((least(a, b), least(b, a)), (want, want), "{a} and {b}");
        }
    }
}

//! Operands, converted to a common type.

use sparring::Error;
use sparring::algebra::{Slice, Type};
use sparring::runtime::Matrix;

use crate::context::Context;
use crate::failure::Result;

/// The operands of an operation.
pub(crate) struct Operands {
    pub(crate) all: Vec<Matrix>,
    /// Their common type.
    pub(crate) ty: Type,
    /// Whether all operands are patterns, with implicit ones as values.
    pub(crate) ones: bool,
    /// Milliseconds of reading.
    pub(crate) read_ms: f64,
}

/// The matrix called `name` on the machine of the command, and the milliseconds of loading it: in a job, each process
/// has a part of it.
pub(crate) fn load(context: &Context, name: &str, ty: Option<Type>) -> Result<(Matrix, f64)> {
    #[cfg(feature = "cluster")]
    if let Some(cluster) = context.cluster() {
        return crate::cluster::load(context, cluster, name, ty);
    }
    context.load_any(name, ty)
}

impl Operands {
    /// Reads the operands as values of `ty`, by default of their smallest common type. Patterns become bool if the
    /// operation is Boolean (`truth`), else numbers, each entry 1. Those for which `is_vector` holds stay in host memory.
    pub(crate) fn load(
        context: &Context,
        files: &[&str],
        ty: Option<Type>,
        truth: bool,
        is_vector: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        let (mut all, mut read_ms) = (Vec::with_capacity(files.len()), 0.0);
        for (k, file) in files.iter().enumerate() {
            let (matrix, ms) = match is_vector(k) {
                true => context.read_by_all(context.load_any(file, ty))?,
                false => load(context, file, ty)?,
            };
            all.push(matrix);
            read_ms += ms;
        }
        let ones = ty.is_none() && !truth && all.iter().all(|a| a.ty() == Type::Bool);
        let ty = match ty {
            Some(ty) => ty,
            None if ones => Type::I64,
            None => common(context, &all)?,
        };
        let all = all.iter().map(|a| context.cast(a, ty)).collect::<sparring::Result<_>>()?;
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

/// The smallest type that holds every value of both types; 64-bit integers count as f64 when combined with floats.
fn least(a: Type, b: Type) -> Option<Type> {
    if a == b {
        return Some(a);
    }
    // Width of the smallest float that holds integers of `bits` bits.
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

/// The smallest type that holds all values; an error if that could lose digits.
fn common(context: &Context, all: &[Matrix]) -> sparring::Result<Type> {
    let ty = all.iter().map(Matrix::ty).try_fold(Type::Bool, least);
    let lost = |ty| all.iter().map(|a| loses(context, a, ty)).collect::<sparring::Result<Vec<_>>>();
    match ty {
        Some(ty) if !lost(ty)?.contains(&true) => Ok(ty),
        _ => {
            let message = match all {
                [a, b] => {
                    let (a, b) = (a.ty(), b.ty());
                    format!(
                        "the left matrix has {a}, the right one {b}, and no type holds the values of both; use --type"
                    )
                }
                all => {
                    let types: Vec<&str> = all.iter().map(|a| a.ty().name()).collect();
                    format!("the matrices have {}, and no type holds the values of all; use --type", types.join(", "))
                }
            };
            Err(Error::Argument { name: "type", message })
        }
    }
}

/// Whether a type cannot represent some 64-bit integer of the matrix exactly; [`least`] covers all other types.
fn loses(context: &Context, a: &Matrix, ty: Type) -> sparring::Result<bool> {
    const MOST: u64 = 1 << 53;
    if !matches!(ty, Type::F64 | Type::ComplexF64) {
        return Ok(false);
    }
    match a.ty() {
        Type::I64 => {
            let here = |x: &Slice<'_>| x.get::<i64>().is_some_and(|x| x.iter().any(|v| v.unsigned_abs() > MOST));
            context.some(a, here, &format!("(a > {MOST}) | (a < -{MOST})"))
        }
        Type::U64 => {
            let here = |x: &Slice<'_>| x.get::<u64>().is_some_and(|x| x.iter().any(|v| *v > MOST));
            context.some(a, here, &format!("a > {MOST}"))
        }
        _ => Ok(false),
    }
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

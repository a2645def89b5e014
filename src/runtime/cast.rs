//! Conversion of values to another type.

use crate::algebra::{Array, Blocks, Formula, Input, Number, Slice, SliceMut, Type, for_each_type};
use crate::kernels::with_type;
use crate::num_complex::Complex;
use crate::par::{collected, filled};
use crate::{Error, Result};

/// The values converted exactly: floats to the nearest float, integers to the same number, bool to whether nonzero.
/// Complex types take a number as the real part. `locate` names the position of a value in messages.
/// # Errors
/// [`Error::Unsupported`] for the first value that the type cannot hold, and for all types [`wrapping_cast`] rejects.
pub(super) fn cast(values: Slice<'_>, ty: Type, locate: impl FnOnce(usize) -> String) -> Result<Array> {
    check_exact(values, ty, locate)?;
    wrapping_cast(values, ty)
}

/// Rejects the first value that the type cannot hold.
pub(super) fn check_exact(values: Slice<'_>, ty: Type, locate: impl FnOnce(usize) -> String) -> Result<()> {
    match first_inexact(values, ty) {
        None => Ok(()),
        Some((position, value)) => Err(Error::Unsupported {
            what: format!("{}{value} as {ty}", locate(position)),
            why: "the type cannot represent it; a wrapping cast converts like `as` in Rust".into(),
        }),
    }
}

/// The first value that the type cannot hold, and its position: an integer out of range, a float that is no integer in
/// range, a finite float that would become infinite.
fn first_inexact(values: Slice<'_>, ty: Type) -> Option<(usize, String)> {
    macro_rules! integers {
        ($($variant:ident $t:ty),*) => {
            match ty {
                $(Type::$variant => Some((i128::from(<$t>::MIN), i128::from(<$t>::MAX))),)*
                _ => None,
            }
        };
    }
    let bounds = for_each_type!(integers, integers!());
    macro_rules! whole {
        ($($variant:ident $t:ty),*) => {$(
            if let Some(x) = values.get::<$t>() {
                let (least, most) = bounds?;
                return first(x, |&v| (least..=most).contains(&i128::from(v)));
            }
        )*};
    }
    for_each_type!(integers, whole!());
    let narrow = matches!(ty, Type::F32 | Type::ComplexF32);
    let fits = |v: f64| match bounds {
        // The upper bound of 64-bit types is not representable in f64; one more than it is.
        Some((least, most)) => v.trunc() == v && v >= least as f64 && v < (most + 1) as f64,
        None => !narrow || !v.is_finite() || (v as f32).is_finite(),
    };
    if let Some(x) = values.get::<f32>() {
        return first(x, |&v| fits(v.into()));
    }
    if let Some(x) = values.get::<f64>() {
        return first(x, |&v| fits(v));
    }
    first(values.get::<Complex<f64>>()?, |v| bounds.is_some() || fits(v.re) && fits(v.im))
}

fn first<T: std::fmt::Debug>(values: &[T], fits: impl Fn(&T) -> bool) -> Option<(usize, String)> {
    values.iter().position(|v| !fits(v)).map(|p| (p, format!("{:?}", values[p])))
}

/// The values converted by the rules of `as` in Rust: integers wrap, floats saturate and NaN becomes 0; bool is whether
/// nonzero. Complex types take a number as the real part.
pub(super) fn wrapping_cast(values: Slice<'_>, ty: Type) -> Result<Array> {
    let from = values.ty();
    let not_made = || Error::Unsupported {
        what: format!("a conversion of {from} to {ty}"),
        why: "only numbers convert to numbers, real ones also to complex ones".into(),
    };
    let complex = |t| matches!(t, Type::ComplexF32 | Type::ComplexF64);
    if complex(ty) && !complex(from) && !matches!(from, Type::Struct(_)) {
        let reals = if ty == Type::ComplexF32 { Type::F32 } else { Type::F64 };
        let cast = if from == reals { None } else { Some(wrapping_cast(values, reals)?) };
        let reals = cast.as_ref().map_or(values, Array::slice);
        return match (reals.get::<f32>(), reals.get::<f64>()) {
            (Some(x), _) => Ok(Array::of(collected(x.len(), x.iter().map(|&x| Complex::new(x, 0.0)), "values")?)),
            (_, Some(x)) => Ok(Array::of(collected(x.len(), x.iter().map(|&x| Complex::new(x, 0.0)), "values")?)),
            _ => Err(not_made()),
        };
    }
    let convert = Formula::parse(&format!("{ty}(a)"), &[("a", from)], Some(ty)).and_then(|f| Blocks::new(&f));
    let convert = convert.map_err(|_| not_made())?;
    with_type!(ty, T => {
        let mut converted = filled(values.len(), T::ZERO, "values")?;
        convert.run(&[Input::Values(values)], &mut convert.scratch()?, &mut SliceMut::of(&mut converted))?;
        Ok(Array::of(converted))
    }, Err(not_made()))
}

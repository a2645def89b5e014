//! Values as values of another type.

use crate::algebra::{Array, Blocks, Formula, Input, Number, Slice, SliceMut, Type, for_each_type};
use crate::kernels::with_type;
use crate::num_complex::Complex;
use crate::par::{collected, filled};
use crate::{Error, Result};

/// The values as the type holds them: to floats the nearest, to integers the same number, to bool whether it is not 0.
/// A number is the real part of a complex one. `place` says where a value stands.
/// # Errors
/// [`Error::Unsupported`] for the first value that the type does not hold, as for all that [`wrapping_cast`] refuses.
pub(super) fn cast(values: Slice<'_>, ty: Type, place: impl FnOnce(usize) -> String) -> Result<Array> {
    check_held(values, ty, place)?;
    wrapping_cast(values, ty)
}

/// Refuses the first value that the type does not hold.
pub(super) fn check_held(values: Slice<'_>, ty: Type, place: impl FnOnce(usize) -> String) -> Result<()> {
    match unheld(values, ty) {
        None => Ok(()),
        Some((position, value)) => Err(Error::Unsupported {
            what: format!("{}{value} as {ty}", place(position)),
            why: "the type does not hold it; a wrapping cast gives what `as` gives in Rust".into(),
        }),
    }
}

/// The first value that the type does not hold, and its position: an integer beyond it, a float that is no such
/// integer, a finite one that would be infinite.
fn unheld(values: Slice<'_>, ty: Type) -> Option<(usize, String)> {
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
        // The bound above is no f64 of its own for 64 bits; one more than it is.
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

/// The values by the rules of `as` in Rust: integers wrap, floats saturate and NaN becomes 0; to bool, whatever is not
/// 0 is true. A number is the real part of a complex one.
pub(super) fn wrapping_cast(values: Slice<'_>, ty: Type) -> Result<Array> {
    let from = values.ty();
    let not_made = || Error::Unsupported {
        what: format!("a conversion of {from} to {ty}"),
        why: "numbers convert to numbers, and to complex ones".into(),
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
        let mut made = filled(values.len(), T::ZERO, "values")?;
        convert.run(&[Input::Values(values)], &mut convert.scratch()?, &mut SliceMut::of(&mut made))?;
        Ok(Array::of(made))
    }, Err(not_made()))
}

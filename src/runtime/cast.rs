//! Values as values of another type.

use crate::algebra::{Array, Blocks, Formula, Input, Number, Slice, SliceMut, Type};
use crate::kernels::with_type;
use crate::num_complex::Complex;
use crate::par::{collected, filled};
use crate::{Error, Result};

/// The values by the rules of `as` in Rust: integers wrap, floats saturate and NaN becomes 0; to bool, whatever is not 0 is true. A
/// number is the real part of a complex one.
pub(super) fn cast(values: Slice<'_>, ty: Type) -> Result<Array> {
    let from = values.ty();
    let not_made = || Error::Unsupported {
        what: format!("a conversion of {from} to {ty}"),
        why: "numbers convert to numbers, and to complex ones".into(),
    };
    let complex = |t| matches!(t, Type::ComplexF32 | Type::ComplexF64);
    if complex(ty) && !complex(from) && !matches!(from, Type::Struct(_)) {
        let reals = if ty == Type::ComplexF32 { Type::F32 } else { Type::F64 };
        let cast = if from == reals { None } else { Some(cast(values, reals)?) };
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

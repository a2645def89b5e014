//! Tests of the monoid laws of a formula on sample values.

use super::blocks::Blocks;
use super::{Formula, Input};
use crate::algebra::words::Array;
use crate::algebra::{Constant, Slice, Type, for_each_type};
use crate::{Error, Result};
use num_complex::Complex;

/// Tests the laws of the monoid `op` on every sample, pair and triple of samples.
/// # Errors
/// [`Error::Argument`] with the violated law and the values.
pub(super) fn hold(op: &Formula, identity: &Constant, terminal: Option<&Constant>) -> Result<()> {
    let ty = op.ty();
    if matches!(ty, Type::Struct(_)) {
        return Ok(());
    }
    let samples = samples(ty, identity, terminal);
    let s = samples.len();
    let plus = Plus(Blocks::new(op)?, ty);
    let of = |n: usize, f: &dyn Fn(usize) -> usize| gather(&samples, (0..n).map(f), ty);
    let fails = |message: String| Err(Error::Argument { name: "⊕", message });
    let show = |c: &Array, x: usize| one(&c.slice().part(x..x + 1));

    let x = of(s, &|i| i)?;
    let same = of(s, &|_| 0)?;
    let left = plus.run(&same, &x)?;
    if let Some(i) = differ(&left, &x) {
        let e = show(&same, i);
        return fails(format!(
            "it has another identity: {e} ⊕ x is {}, not x, for x = {}",
            show(&left, i),
            show(&x, i)
        ));
    }
    if let Some(t) = terminal {
        let t = gather(std::slice::from_ref(t), (0..s).map(|_| 0), ty)?;
        let stays = plus.run(&t, &x)?;
        if let Some(i) = differ(&stays, &t) {
            let (t, found) = (show(&t, i), show(&stays, i));
            return fails(format!("{t} is not terminal: {t} ⊕ x is {found} for x = {}", show(&x, i)));
        }
    }
    let (x, y) = (of(s * s, &|i| i / s)?, of(s * s, &|i| i % s)?);
    let (xy, yx) = (plus.run(&x, &y)?, plus.run(&y, &x)?);
    if let Some(i) = differ(&xy, &yx) {
        let (a, b) = (show(&xy, i), show(&yx, i));
        return fails(format!(
            "it is not commutative: x ⊕ y is {a}, y ⊕ x is {b} for x = {}, y = {}",
            show(&x, i),
            show(&y, i)
        ));
    }
    let n = s * s * s;
    let (x, y, z) = (of(n, &|i| i / (s * s))?, of(n, &|i| i / s % s)?, of(n, &|i| i % s)?);
    let (left, right) = (plus.run(&plus.run(&x, &y)?, &z)?, plus.run(&x, &plus.run(&y, &z)?)?);
    if let Some(i) = differ(&left, &right) {
        return fails(format!(
            "it is not associative: (x ⊕ y) ⊕ z is {}, x ⊕ (y ⊕ z) is {} for x = {}, y = {}, z = {}",
            show(&left, i),
            show(&right, i),
            show(&x, i),
            show(&y, i),
            show(&z, i)
        ));
    }
    Ok(())
}

/// ⊕ of arrays.
struct Plus(Blocks, Type);
impl Plus {
    fn run(&self, x: &Array, y: &Array) -> Result<Array> {
        let mut out = Array::zeros(self.1, x.len())?;
        let inputs = [Input::Values(x.slice()), Input::Values(y.slice())];
        self.0.run(&inputs, &mut self.0.scratch()?, &mut out.slice_mut())?;
        Ok(out)
    }
}

/// The identity, followed by those numbers of moderate size that the type can represent.
fn samples(ty: Type, identity: &Constant, terminal: Option<&Constant>) -> Vec<Constant> {
    let mut samples = vec![identity.clone()];
    samples.extend(terminal.cloned());
    for n in ["1", "2", "0", "3", "7", "-1", "-4", "0.5", "-2.5", "0.1", "100"] {
        // Numbers that the type cannot represent are skipped.
        let constant = Formula::parse(n, &[], Some(ty)).ok().and_then(|f| f.constant());
        samples.extend(constant.filter(|c| !samples.contains(c)));
    }
    samples
}

fn gather(from: &[Constant], which: impl ExactSizeIterator<Item = usize>, ty: Type) -> Result<Array> {
    let mut to = Array::zeros(ty, which.len())?;
    let mut out = to.slice_mut();
    for (i, x) in which.enumerate() {
        out.part(i..i + 1).copy_from(&from[x].slice());
    }
    Ok(to)
}

/// A value as text.
fn one(x: &Slice<'_>) -> String {
    macro_rules! shown {
        ($($variant:ident $t:ty),*) => {
            match x.ty() {
                $(Type::$variant => x.get::<$t>().map(|x| format!("{:?}", x[0])),)*
                Type::ComplexF32 => x.get::<Complex<f32>>().map(|x| x[0].to_string()),
                Type::ComplexF64 => x.get::<Complex<f64>>().map(|x| x[0].to_string()),
                Type::Struct(_) => None,
            }
        };
    }
    let shown = for_each_type!(ordered, shown!());
    shown.unwrap_or_default()
}

/// The first position at which the arrays differ, floats beyond rounding.
fn differ(a: &Array, b: &Array) -> Option<usize> {
    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
    }
    fn first<T: crate::algebra::Value>(a: &Slice<'_>, b: &Slice<'_>, same: impl Fn(T, T) -> bool) -> Option<usize> {
        a.get::<T>()?.iter().zip(b.get::<T>()?).position(|(&a, &b)| !same(a, b))
    }
    macro_rules! compared {
        ($a:expr, $b:expr, $($variant:ident $t:ty),*) => {
            match $a.ty() {
                $(Type::$variant => first::<$t>($a, $b, |a, b| a == b),)*
                Type::F32 => first::<f32>($a, $b, |a, b| close(a.into(), b.into(), 1e-4)),
                Type::F64 => first::<f64>($a, $b, |a, b| close(a, b, 1e-10)),
                Type::ComplexF32 => first::<Complex<f32>>($a, $b, |a, b| {
                    close(a.re.into(), b.re.into(), 1e-4) && close(a.im.into(), b.im.into(), 1e-4)
                }),
                Type::ComplexF64 => first::<Complex<f64>>($a, $b, |a, b| close(a.re, b.re, 1e-10) && close(a.im, b.im, 1e-10)),
                Type::Struct(_) => None,
            }
        };
    }
    for_each_type!(bits, compared!(&a.slice(), &b.slice(),))
}

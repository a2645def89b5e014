//! The thirteen built-in value types, and their arithmetic.

use serde::{Serialize, Serializer};

/// A built-in value type.
#[allow(missing_docs, reason = "the names are those of the types")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    ComplexF32,
    ComplexF64,
}

impl Type {
    /// All types.
    pub const ALL: [Type; 13] = [
        Type::Bool,
        Type::I8,
        Type::I16,
        Type::I32,
        Type::I64,
        Type::U8,
        Type::U16,
        Type::U32,
        Type::U64,
        Type::F32,
        Type::F64,
        Type::ComplexF32,
        Type::ComplexF64,
    ];

    /// The smallest and the largest value of an integer type.
    #[must_use]
    pub fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Type::I8 => (i8::MIN.into(), i8::MAX.into()),
            Type::I16 => (i16::MIN.into(), i16::MAX.into()),
            Type::I32 => (i32::MIN.into(), i32::MAX.into()),
            Type::I64 => (i64::MIN.into(), i64::MAX.into()),
            Type::U8 => (0, u8::MAX.into()),
            Type::U16 => (0, u16::MAX.into()),
            Type::U32 => (0, u32::MAX.into()),
            Type::U64 => (0, u64::MAX.into()),
            _ => return None,
        })
    }
    /// Whether it is an integer type.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.range().is_some()
    }
    /// Whether it is a real floating-point type.
    #[must_use]
    pub fn is_real(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }
    /// Whether it is a complex type, which has no order.
    #[must_use]
    pub fn is_complex(self) -> bool {
        matches!(self, Type::ComplexF32 | Type::ComplexF64)
    }

    /// An integer as a value of this type: integers wrap, nonzero is true.
    #[must_use]
    pub fn number(self, x: i128) -> Value {
        match self {
            Type::Bool => Value::Bool(x != 0),
            Type::F32 | Type::F64 => self.held(Value::Real(x as f64)),
            Type::ComplexF32 | Type::ComplexF64 => self.held(Value::Complex(x as f64, 0.0)),
            _ => self.held(Value::Int(x)),
        }
    }
    /// 0.
    #[must_use]
    pub fn zero(self) -> Value {
        self.number(0)
    }
    /// 1.
    #[must_use]
    pub fn one(self) -> Value {
        self.number(1)
    }

    /// Converts a value to the range and precision of this type: integers wrap, 32-bit floats are rounded.
    ///
    /// A sum, difference, product or quotient of two `f32` computed in `f64` and rounded equals the `f32` operation,
    /// because 53 ≥ 2·24 + 2 bits.
    #[must_use]
    pub fn held(self, x: Value) -> Value {
        match (self, x) {
            (Type::F32, Value::Real(x)) => Value::Real(f64::from(x as f32)),
            (Type::ComplexF32, Value::Complex(re, im)) => Value::Complex(f64::from(re as f32), f64::from(im as f32)),
            (ty, Value::Int(x)) => match ty.range() {
                Some((least, most)) => Value::Int((x - least).rem_euclid(most - least + 1) + least),
                None => Value::Int(x),
            },
            _ => x,
        }
    }
}

/// A value; its exact type is that of the table.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A Boolean.
    Bool(bool),
    /// A value of an integer type.
    Int(i128),
    /// A value of a floating-point type.
    Real(f64),
    /// A value of a complex type: real and imaginary part.
    Complex(f64, f64),
}
use Value::{Bool, Complex, Int, Real};

/// Numeric equality: 0 equals −0, and NaN equals NaN.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        let same = |x: f64, y: f64| x == y || x.is_nan() && y.is_nan();
        match (*self, *other) {
            (Bool(x), Bool(y)) => x == y,
            (Int(x), Int(y)) => x == y,
            (Real(x), Real(y)) => same(x, y),
            (Complex(x, i), Complex(y, j)) => same(x, y) && same(i, j),
            _ => false,
        }
    }
}

impl Value {
    /// Whether the value is nonzero: the test of a valued mask.
    #[must_use]
    pub fn nonzero(self) -> bool {
        match self {
            Bool(x) => x,
            Int(x) => x != 0,
            Real(x) => x != 0.0,
            Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }
}

impl Value {
    /// The number as f64, for means; true is 1, and a complex number gives its real part.
    #[must_use]
    pub fn real(self) -> f64 {
        match self {
            Bool(x) => f64::from(x),
            Int(x) => x as f64,
            Real(x) | Complex(x, _) => x,
        }
    }
}

/// JSON numbers; complex numbers as `[re, im]`, non-finite ones as `"inf"`, `"-inf"` and `"nan"`.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        struct Float(f64);
        impl Serialize for Float {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    x if x.is_nan() => to.serialize_str("nan"),
                    x if x.is_infinite() => to.serialize_str(if x > 0.0 { "inf" } else { "-inf" }),
                    x => to.serialize_f64(x),
                }
            }
        }
        match *self {
            Bool(x) => to.serialize_bool(x),
            Int(x) => match u64::try_from(x) {
                Ok(x) => to.serialize_u64(x),
                Err(_) => to.serialize_i64(x as i64),
            },
            Real(x) => Float(x).serialize(to),
            Complex(re, im) => [Float(re), Float(im)].serialize(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_floats_round() {
        assert_eq!(Type::I8.number(130), Int(-126));
        assert_eq!(Type::I8.number(-130), Int(126));
        assert_eq!(Type::U8.number(-1), Int(255));
        assert_eq!(Type::U64.number(i128::from(u64::MAX) + 3), Int(2));
        assert_eq!(Type::F32.number(16_777_217), Real(16_777_216.0));
        assert_eq!(Type::Bool.number(-3), Bool(true));
    }
    #[test]
    fn values_are_written_as_json() {
        let text = |x: Value| serde_json::to_string(&x).unwrap();
        let values = [Bool(true), Type::U64.number(-1), Type::I64.number(i64::MIN.into()), Real(0.5)];
        assert_eq!(values.map(text), ["true", "18446744073709551615", "-9223372036854775808", "0.5"]);
        assert_eq!(text(Complex(1.0, f64::NEG_INFINITY)), "[1.0,\"-inf\"]");
    }
}

//! The scalar functions of formulas.

use super::DeviceCall;
use crate::algebra::Type;

/// A scalar function, with the semantics defined by [`Number`](crate::algebra::Number),
/// [`Num`](crate::algebra::Num), [`Bits`](crate::algebra::Bits) and [`Real`](crate::algebra::Real) on CPU and GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Function {
    /// a + b.
    Add,
    /// a − b.
    Sub,
    /// a · b.
    Mul,
    /// a / b.
    Div,
    /// −a.
    Neg,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// |a|.
    Abs,
    /// |a − b|.
    AbsDiff,
    /// a = b.
    Eq,
    /// a ≠ b.
    Ne,
    /// a < b.
    Lt,
    /// a ≤ b.
    Le,
    /// a & b.
    BitAnd,
    /// a | b.
    BitOr,
    /// a ^ b.
    BitXor,
    /// !a.
    BitNot,
    /// √a.
    Sqrt,
    /// eᵃ.
    Exp,
    /// ln a.
    Ln,
    /// ln(1 + a).
    Ln1p,
    /// a ln a, 0 for 0.
    XLnX,
    /// aᵇ.
    Pow,
    /// Largest integer not above a.
    Floor,
    /// Smallest integer not below a.
    Ceil,
    /// a · b + c, rounded once.
    MulAdd,
    /// b if a holds, otherwise c.
    Select,
    /// a converted to the result type.
    Cast,
    /// A field of a struct, by position.
    Field(usize),
    /// A struct constructed from its fields.
    Make,
    /// A custom device function.
    Device(DeviceCall),
}

use Function::{
    Abs, AbsDiff, Add, BitAnd, BitNot, BitOr, BitXor, Cast, Ceil, Div, Exp, Field, Floor, Le, Ln, Ln1p, Lt, Make, Max,
    Min, Mul, MulAdd, Ne, Neg, Pow, Select, Sqrt, Sub, XLnX,
};

impl Function {
    /// The named functions of numbers.
    pub const NAMED: [Function; 26] = [
        Add,
        Sub,
        Mul,
        Div,
        Neg,
        Min,
        Max,
        Abs,
        AbsDiff,
        Function::Eq,
        Ne,
        Lt,
        Le,
        BitAnd,
        BitOr,
        BitXor,
        BitNot,
        Sqrt,
        Exp,
        Ln,
        Ln1p,
        XLnX,
        Pow,
        Floor,
        Ceil,
        MulAdd,
    ];
    /// Its name in the text of formulas and, unless [`cuda`](Self::cuda) differs, on the device.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Add => "add",
            Sub => "sub",
            Mul => "mul",
            Div => "div",
            Neg => "neg",
            Min => "min",
            Max => "max",
            Abs => "abs",
            AbsDiff => "abs_diff",
            Self::Eq => "eq",
            Ne => "ne",
            Lt => "lt",
            Le => "le",
            BitAnd => "bit_and",
            BitOr => "bit_or",
            BitXor => "bit_xor",
            BitNot => "bit_not",
            Sqrt => "sqrt",
            Exp => "exp",
            Ln => "ln",
            Ln1p => "ln_1p",
            XLnX => "x_ln_x",
            Pow => "pow",
            Floor => "floor",
            Ceil => "ceil",
            MulAdd => "mul_add",
            Select => "select",
            Cast => "cast",
            Field(_) => "field",
            Make => "make",
            Function::Device(f) => f.name,
        }
    }
    /// Its name in `cuda/prelude.cuh`, in namespace `sr`.
    #[must_use]
    pub const fn cuda(self) -> &'static str {
        match self {
            Ln => "log",
            Ln1p => "log1p",
            MulAdd => "fma",
            _ => self.name(),
        }
    }
    /// The result type for operands of these types; `None` if it does not accept them. The result types of
    /// [`Cast`](Self::Cast), [`Make`](Self::Make) and custom functions do not follow from their operands.
    #[must_use]
    pub fn result(self, operands: &[Type]) -> Option<Type> {
        let number = |t: Type| !matches!(t, Type::Struct(_));
        let ordered = |t: Type| Type::ORDERED.contains(&t);
        let bits = |t: Type| ordered(t) && !real(t);
        match (self, operands) {
            (Add | Sub | Mul | Div, &[a, b]) => (a == b && number(a)).then_some(a),
            (Neg, &[a]) => number(a).then_some(a),
            (Min | Max | AbsDiff, &[a, b]) => (a == b && ordered(a)).then_some(a),
            (Abs, &[a]) => ordered(a).then_some(a),
            (Self::Eq | Ne, &[a, b]) => (a == b).then_some(Type::Bool),
            (Lt | Le, &[a, b]) => (a == b && ordered(a)).then_some(Type::Bool),
            (BitAnd | BitOr | BitXor, &[a, b]) => (a == b && bits(a)).then_some(a),
            (BitNot, &[a]) => bits(a).then_some(a),
            (Sqrt | Exp | Ln | Ln1p | XLnX | Floor | Ceil, &[a]) => real(a).then_some(a),
            (Pow, &[a, b]) => (a == b && real(a)).then_some(a),
            (MulAdd, &[a, b, c]) => (a == b && b == c && real(a)).then_some(a),
            (Select, &[c, a, b]) => (c == Type::Bool && a == b).then_some(a),
            (Field(index), &[Type::Struct(s)]) => s.fields.get(index).map(|f| f.1),
            _ => None,
        }
    }
}

fn real(t: Type) -> bool {
    matches!(t, Type::F32 | Type::F64)
}

//! The functions that a formula is made of.

use super::DeviceCall;
use crate::algebra::Type;

/// A scalar function. Each has one meaning on every machine, given by [`Number`](crate::algebra::Number),
/// [`Num`](crate::algebra::Num), [`Bits`](crate::algebra::Bits) and [`Real`](crate::algebra::Real).
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
    /// The smaller.
    Min,
    /// The larger.
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
    /// b where a holds, else c.
    Select,
    /// a as a number of the type of the result.
    Cast,
    /// A field of a struct, by its number.
    Field(usize),
    /// A struct, of its fields.
    Make,
    /// A function of the user's own, printed for a GPU.
    Device(DeviceCall),
}

use Function::{
    Abs, AbsDiff, Add, BitAnd, BitNot, BitOr, BitXor, Cast, Ceil, Div, Exp, Field, Floor, Le, Ln, Ln1p, Lt, Make, Max,
    Min, Mul, MulAdd, Ne, Neg, Pow, Select, Sqrt, Sub, XLnX,
};

impl Function {
    /// Those that are functions of numbers and have a name.
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
    /// Its name in formulas as text and, where [`cuda`](Self::cuda) has no other, on the device.
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
    /// The type of its result on operands of these types; none if it does not take them. A [`Cast`](Self::Cast) and a
    /// [`Make`](Self::Make) give the type that is wanted, and a user's own function is known for its name only.
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

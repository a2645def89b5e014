//! Scalars, operators, monoids, semirings and NAMMs, each defined once for CPU and GPU.
//!
//! An operator is a generic Rust function over an interpreter, [`Arith`]: [`Host`] computes it, [`Trace`] records it as
//! a [`Formula`], which is printed as CUDA C++ for a GPU. A *semiring* is [`Ring`]`(⊕, ⊗)`, where ⊗ is visited on the
//! intersection of two patterns; a *NAMM* is [`Union`]`(⊕, ⊗)`, where it is visited on the union.
//!
//! **Folds start at the identity of ⊕.** An entry of a product is `e ⊕ x₁ ⊕ x₂ …` in the order of the
//! contraction index, with identity `e`. So plus never returns −0 for a single −0 product, and min and
//! max skip NaN in any order.
//!
//! | custom | definition |
//! | --- | --- |
//! | operator or monoid | [`op!`](crate::op!) |
//! | semiring | `type MySemiring<T> = Ring<Min<T>, MyOperator<T>>;` |
//! | struct as a value | [`value!`](crate::value!) |
//!
//! [`dynamic`] maps names known at run time to types; [`laws`] checks the laws of an operator.

mod arithmetic;
mod binary;
mod bind;
#[macro_use]
mod builtin;
mod arith;
pub mod dynamic;
mod emit;
mod formula;
mod index_unary;
pub mod laws;
mod log;
mod monoid;
mod operator;
mod positional;
pub(crate) mod precompiled;
#[cfg(feature = "cuda")]
mod printed;
mod record;
mod semiring;
mod trace;
mod types;
mod unary;
mod value;
pub(crate) mod words;

pub use arith::{Arith, Builtin, Host, V};
pub use arithmetic::Arithmetic;
pub use binary::*;
pub(crate) use bind::transposed_ring;
pub use bind::{BindFirst, BindSecond, Flipped, TransposedMul};
#[doc(hidden)]
pub use emit::define_types;
pub use emit::{
    emit_binary, emit_binary_op, emit_contract, emit_index_unary, emit_index_unary_op, emit_monoid, emit_mul,
    emit_unary, emit_unary_op,
};
pub(crate) use emit::{emit_contract_as, emit_functions, emit_split};
pub(crate) use formula::name_in;
pub use formula::operators;
pub use formula::{
    BLOCK, Blocks, DeviceCall, DeviceFunction, Formula, Function, HostCall, Input, MonoidFormula, Parameter,
    RingFormula, Scratch,
};
pub use index_unary::*;
pub use monoid::*;
pub use operator::{At, BinaryOp, IndexUnaryOp, MulOp, Parameterless, Place, UnaryOp};
pub use positional::*;
pub(crate) use precompiled::precompiled;
#[cfg(feature = "cuda")]
pub(crate) use printed::{
    Printable, Printed, print_once, printed_arithmetic, printed_binary, printed_index_unary, printed_monoid,
    printed_ring, printed_unary,
};
pub use semiring::*;
pub use trace::{Recorded, Trace};
#[doc(hidden)]
pub use types::WordOf;
pub(crate) use types::for_each_type;
pub use types::{StructType, Type, Word};
pub use unary::*;
pub use value::{Bits, Int, Num, Number, Real, Value, Wide};
pub use words::{Array, Constant, Slice, SliceMut};

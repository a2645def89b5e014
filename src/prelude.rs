//! The items that most programs use: `use sparring::prelude::*;`.

pub use crate::algebra::{
    AnyFirst, AnyPair, AnySecond, AnySecondI, BinaryOp, IndexUnaryOp, LorLand, Max, MaxPlus, MaxTimes, Min, MinFirst,
    MinPlus, MinSecond, MinSecondI, Monoid, Num, Plus, PlusFirst, PlusPair, PlusSecond, PlusTimes, Real, Ring,
    Semiring, Times, UnaryOp, Union, V, Value,
};
pub use crate::backend::{Backend, Container, DistanceBackend, Kernels};
pub use crate::distance::Metric;
pub use crate::einsum;
pub use crate::factor::CpAls;
#[cfg(feature = "cuda")]
pub use crate::gpu::Cuda;
pub use crate::runtime::Machine;
pub use crate::{Coo, Cpu, Csr, Dense, Error, Pattern, Result, Tensor, Vector};

//! Custom host functions, and the inputs of formulas.

use std::fmt::{Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::algebra::{Slice, SliceMut, Type, Value};

/// The input of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A scalar: a slice of length 1.
    Scalar(Slice<'a>),
    /// One value per result.
    Values(Slice<'a>),
}

impl<'a> Input<'a> {
    /// The values; a single one for a scalar.
    #[inline(always)]
    #[must_use]
    pub fn slice(&self) -> Slice<'a> {
        match self {
            Input::Scalar(s) | Input::Values(s) => *s,
        }
    }
    /// The values of type `T`, and their stride: 0 for a scalar.
    #[inline(always)]
    fn strided<T: Value>(&self) -> (&'a [T], usize) {
        (self.slice().get().unwrap_or_default(), usize::from(matches!(self, Input::Values(_))))
    }
}

type Call = dyn Fn(&[Input<'_>], &mut SliceMut<'_>) + Send + Sync;

/// A custom host function of up to four scalars, called with blocks of values. It runs on the CPU only. Clones of one
/// value are equal.
#[derive(Clone)]
pub struct HostCall {
    name: Arc<str>,
    takes: Arc<[Type]>,
    gives: Type,
    call: Arc<Call>,
}

impl HostCall {
    /// A function with operands of the types `takes` and results of type `gives`. It must write result x for the inputs
    /// at x, for each x, depend on its inputs only, and allow concurrent calls.
    pub fn new(
        name: &str,
        takes: &[Type],
        gives: Type,
        call: impl Fn(&[Input<'_>], &mut SliceMut<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), takes: takes.into(), gives, call: Arc::new(call) }
    }
    /// z = f(x).
    pub fn unary<X: Value, Z: Value>(name: &str, f: impl Fn(X) -> Z + Send + Sync + 'static) -> Self {
        Self::new(name, &[X::TYPE], Z::TYPE, move |inputs, out| {
            let (xs, x) = inputs[0].strided::<X>();
            for (at, z) in out.get().unwrap_or_default().iter_mut().enumerate() {
                *z = f(xs[at * x]);
            }
        })
    }
    /// z = f(x, y).
    pub fn binary<X: Value, Y: Value, Z: Value>(name: &str, f: impl Fn(X, Y) -> Z + Send + Sync + 'static) -> Self {
        Self::new(name, &[X::TYPE, Y::TYPE], Z::TYPE, move |inputs, out| {
            let ((xs, x), (ys, y)) = (inputs[0].strided::<X>(), inputs[1].strided::<Y>());
            for (at, z) in out.get().unwrap_or_default().iter_mut().enumerate() {
                *z = f(xs[at * x], ys[at * y]);
            }
        })
    }
    /// z = f(x, i, j, s).
    pub fn index_unary<X: Value, S: Value, Z: Value>(
        name: &str,
        f: impl Fn(X, u64, u64, S) -> Z + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, &[X::TYPE, Type::U64, Type::U64, S::TYPE], Z::TYPE, move |inputs, out| {
            let ((xs, x), (ss, s)) = (inputs[0].strided::<X>(), inputs[3].strided::<S>());
            let ((is, i), (js, j)) = (inputs[1].strided::<u64>(), inputs[2].strided::<u64>());
            for (at, z) in out.get().unwrap_or_default().iter_mut().enumerate() {
                *z = f(xs[at * x], is[at * i], js[at * j], ss[at * s]);
            }
        })
    }
    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Types of the operands.
    #[must_use]
    pub fn takes(&self) -> &[Type] {
        &self.takes
    }
    /// Type of the results.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.gives
    }
    /// Calls the function; inputs must have its types and the length of the results.
    #[inline]
    pub(crate) fn run(&self, inputs: &[Input<'_>], out: &mut SliceMut<'_>) {
        (self.call)(inputs, out);
    }
}

impl Debug for HostCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HostCall").field(&self.name).finish()
    }
}
impl PartialEq for HostCall {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.call, &other.call)
    }
}
impl Eq for HostCall {}
impl Hash for HostCall {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.call).cast::<u8>().hash(state);
    }
}

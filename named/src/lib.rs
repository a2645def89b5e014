//! Products over semirings known by name.
//!
//! A product is compiled for each of some ninety pairs of semiring and value type. The program, the C library and the
//! tests of either need the same ones, so they are compiled here, in functions that are not generic, once for all.

#[cfg(feature = "cuda")]
mod gpu;

use std::any::Any;

use sparring::algebra::dynamic::{Named, SemiringVisitor};
use sparring::algebra::{MulOp, Num, Out, Semiring, Value};
use sparring::backend::Backend;
use sparring::spgemm::Plan;
use sparring::{Cpu, Csr, Error, Result};

#[cfg(feature = "cuda")]
pub use gpu::{DeviceMatrix, plan_on_device};

/// A matrix whose type is known at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// Truth values.
    Bool(Csr<bool>),
    /// 64-bit integers.
    Int64(Csr<i64>),
    /// Single precision.
    Float(Csr<f32>),
    /// Double precision.
    Double(Csr<f64>),
}

/// A value type whose products are compiled here: bool, i64, f32, f64.
pub trait Scalar: Named {
    /// Values of C = A ⊕.⊗ B for `plan`, over the semiring called `name`. The result's type follows from the semiring:
    /// `lor_land` and its kind give bool, positions i64, all others the type of the operands.
    /// # Errors
    /// [`Error::Argument`] for a name that this type does not have, and those of [`Cpu::numeric`].
    fn numeric(cpu: &Cpu, plan: &Plan, name: &str, a: &Csr<Self>, b: &Csr<Self>) -> Result<Matrix>;
    /// The same into `c`, a `Csr` of the result's type that this plan made before.
    /// # Errors
    /// [`Error::Argument`] for an unknown name or another type, and those of [`Cpu::numeric_into`].
    fn numeric_into(cpu: &Cpu, plan: &Plan, name: &str, a: &Csr<Self>, b: &Csr<Self>, c: &mut dyn Any) -> Result<()>;
}

macro_rules! scalar {
    ($($t:ty => $variant:ident),*) => {
        $(impl Scalar for $t {
            fn numeric(cpu: &Cpu, plan: &Plan, name: &str, a: &Csr<Self>, b: &Csr<Self>) -> Result<Matrix> {
                <$t>::semiring(name, Product { cpu, plan, a, b, into: None })?.map(|c| c.expect("a result of its own"))
            }
            fn numeric_into(cpu: &Cpu, plan: &Plan, name: &str, a: &Csr<Self>, b: &Csr<Self>, c: &mut dyn Any) -> Result<()> {
                <$t>::semiring(name, Product { cpu, plan, a, b, into: Some(c) })?.map(|_| ())
            }
        })*

        impl Matrix {
            /// The matrix as a `Csr` of its type.
            pub fn as_any_mut(&mut self) -> &mut dyn Any {
                match self { $(Self::$variant(c) => c,)* }
            }
            /// Rows and columns.
            pub fn shape(&self) -> (usize, usize) {
                match self { $(Self::$variant(c) => c.shape(),)* }
            }
            /// Entries.
            pub fn nnz(&self) -> usize {
                match self { $(Self::$variant(c) => c.nnz(),)* }
            }
            /// Sum of the values as f64, in the order of the entries.
            pub fn sum(&self) -> f64 {
                match self { $(Self::$variant(c) => c.values().iter().map(|x| x.as_f64()).sum(),)* }
            }
            /// The same with the values as f64.
            /// # Errors
            /// [`Error::OutOfMemory`].
            pub fn to_f64(&self) -> Result<Csr<f64>> {
                match self { $(Self::$variant(c) => c.map(|x| x.as_f64()),)* }
            }
            fn from_any(c: Box<dyn Any>) -> Option<Self> {
                $(let c = match c.downcast::<Csr<$t>>() {
                    Ok(c) => return Some(Self::$variant(*c)),
                    Err(c) => c,
                };)*
                drop(c);
                None
            }
        }
    };
}
scalar! { bool => Bool, i64 => Int64, f32 => Float, f64 => Double }

/// A product of matrices over `T`: its own result, or one that is there already.
struct Product<'a, T> {
    cpu: &'a Cpu,
    plan: &'a Plan,
    a: &'a Csr<T>,
    b: &'a Csr<T>,
    into: Option<&'a mut dyn Any>,
}

impl<T: Num> SemiringVisitor<T> for Product<'_, T> {
    type Output = Result<Option<Matrix>>;

    fn visit<R>(self, ring: R) -> Self::Output
    where
        R: Semiring,
        R::Mul: MulOp<A = T, B = T>,
        Out<R>: Num,
    {
        let Self { cpu, plan, a, b, into } = self;
        let Some(c) = into else {
            let c = Matrix::from_any(Box::new(cpu.mxm(ring, a, b).plan(plan).eval()?));
            return c.map(Some).ok_or_else(|| Error::Unsupported {
                what: format!("a result of type {}", Out::<R>::CUDA),
                why: "results are bool, i64, f32 or f64".into(),
            });
        };
        let Some(c) = c.downcast_mut::<Csr<Out<R>>>() else {
            let message = format!("the semiring gives {}, these values are of another type", Out::<R>::CUDA);
            return Err(Error::Argument { name: "c", message });
        };
        cpu.numeric_into(plan, ring, a, b, c).map(|()| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_type_of_their_semiring() {
        let a = Csr::<i64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1, 2, 3]).unwrap();
        let cpu = Cpu::new();
        let plan = cpu.plan(&a, &a).eval().unwrap();
        let mut c = i64::numeric(&cpu, &plan, "plus_times", &a, &a).unwrap();
        assert_eq!((c.sum(), c.nnz(), c.shape()), (18.0, 4, (2, 2)));
        assert!(matches!(i64::numeric(&cpu, &plan, "lor_land", &a, &a).unwrap(), Matrix::Bool(_)));
        i64::numeric_into(&cpu, &plan, "min_plus", &a, &a, c.as_any_mut()).unwrap();
        assert_eq!(c.to_f64().unwrap().values(), [2.0, 3.0, 4.0, 5.0]);
        let refused = i64::numeric_into(&cpu, &plan, "lor_land", &a, &a, c.as_any_mut()).unwrap_err().to_string();
        assert!(refused.contains("gives bool"), "{refused}");
        assert!(i64::numeric(&cpu, &plan, "log_plus", &a, &a).is_err());
    }
}

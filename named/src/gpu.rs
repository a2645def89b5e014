//! The same products on a GPU, with matrices that stay there.

use std::any::Any;
use std::sync::Arc;

use sparring::algebra::dynamic::{Named, SemiringVisitor};
use sparring::algebra::{Cast, MulOp, Num, Out, Plus, Semiring, Value};
use sparring::backend::Backend;
use sparring::gpu::spgemm::Plan;
use sparring::gpu::{DeviceCsr, DevicePattern};
use sparring::spgemm::Options;
use sparring::{Cuda, Error, Result};

use crate::Matrix;

/// A matrix on the device whose type is known at run time.
#[derive(Clone, Debug)]
pub enum DeviceMatrix {
    /// Truth values.
    Bool(DeviceCsr<bool>),
    /// 64-bit integers.
    Int64(DeviceCsr<i64>),
    /// Single precision.
    Float(DeviceCsr<f32>),
    /// Double precision.
    Double(DeviceCsr<f64>),
}

/// The same for whatever type the matrix has: `each!(matrix, c => expression)`.
macro_rules! each {
    ($matrix:expr, $c:ident => $body:expr) => {
        match $matrix {
            DeviceMatrix::Bool($c) => $body,
            DeviceMatrix::Int64($c) => $body,
            DeviceMatrix::Float($c) => $body,
            DeviceMatrix::Double($c) => $body,
        }
    };
}

macro_rules! variants {
    ($($t:ty => $variant:ident),*) => {
        $(impl From<DeviceCsr<$t>> for DeviceMatrix {
            fn from(c: DeviceCsr<$t>) -> Self {
                Self::$variant(c)
            }
        })*

        impl DeviceMatrix {
            /// A copy on the device.
            /// # Errors
            /// Those of [`Cuda::upload`].
            pub fn upload(cuda: &Cuda, a: &Matrix) -> Result<Self> {
                match a { $(Matrix::$variant(a) => cuda.upload(a).map(Self::$variant),)* }
            }
            /// A copy on the host.
            /// # Errors
            /// Those of [`Cuda::download`].
            pub fn download(&self, cuda: &Cuda) -> Result<Matrix> {
                match self { $(Self::$variant(a) => cuda.download(a).map(Matrix::$variant),)* }
            }
            /// Values of C = A ⊕.⊗ B for `plan`, over the semiring called `name`, in `into` or in a new matrix.
            fn product(cuda: &Cuda, plan: &Plan, name: &str, a: &Self, b: &Self, into: Option<&mut Self>) -> Result<Option<Self>> {
                match (a, b) {
                    $((Self::$variant(a), Self::$variant(b)) => {
                        <$t>::semiring(name, Product { cuda, plan, a, b, into })?
                    })*
                    _ => Err(Error::Argument { name: "b", message: "its values are of another type than those of a".into() }),
                }
            }
            fn from_any(c: Box<dyn Any>) -> Option<Self> {
                $(let c = match c.downcast::<DeviceCsr<$t>>() {
                    Ok(c) => return Some(Self::$variant(*c)),
                    Err(c) => c,
                };)*
                drop(c);
                None
            }
        }
    };
}
variants! { bool => Bool, i64 => Int64, f32 => Float, f64 => Double }

/// Symbolic phase of C = A·B from the patterns of A and B on the device.
/// # Errors
/// Those of [`Backend::plan`].
pub fn plan_on_device(cuda: &Cuda, a: &Arc<DevicePattern>, b: &Arc<DevicePattern>, options: &Options) -> Result<Plan> {
    cuda.symbolic(a, b, None, options)
}

impl DeviceMatrix {
    /// Symbolic phase of C = A·B; values and their types do not matter.
    /// # Errors
    /// Those of [`Backend::plan`].
    pub fn plan(cuda: &Cuda, a: &Self, b: &Self, options: &Options) -> Result<Plan> {
        plan_on_device(cuda, a.pattern(), b.pattern(), options)
    }
    /// Values of C = A ⊕.⊗ B for `plan`, over the semiring called `name`. The result's type follows from the semiring:
    /// `lor_land` and its kind give bool, positions i64, all others the type of the operands.
    /// # Errors
    /// [`Error::Unsupported`] for a name that the type does not have, [`Error::Argument`] if A and B have different types,
    /// and those of [`Backend::numeric`].
    pub fn numeric(cuda: &Cuda, plan: &Plan, name: &str, a: &Self, b: &Self) -> Result<Self> {
        let c = Self::product(cuda, plan, name, a, b, None)?;
        c.ok_or_else(|| Error::Argument { name: "c", message: "a product without a result".into() })
    }
    /// The same into `c`, which this plan made before and of which there is no clone.
    /// # Errors
    /// Those of [`numeric`](Self::numeric) and of [`Backend::numeric_into`]; [`Error::Argument`] if the semiring gives another
    /// type than that of `c`.
    pub fn numeric_into(cuda: &Cuda, plan: &Plan, name: &str, a: &Self, b: &Self, c: &mut Self) -> Result<()> {
        Self::product(cuda, plan, name, a, b, Some(c)).map(|_| ())
    }
    /// Where it has entries.
    #[must_use]
    pub fn pattern(&self) -> &Arc<DevicePattern> {
        each!(self, c => c.pattern())
    }
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        each!(self, c => c.shape())
    }
    /// Entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        each!(self, c => c.nnz())
    }
    /// Bytes of device memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        each!(self, c => c.bytes())
    }
    /// Sum of the values as f64, folded on the device: the same bits in every run, but in another order than that of
    /// [`Matrix::sum`]. Takes 8 bytes of device memory an entry where values are not f64.
    /// # Errors
    /// Those of [`Backend::apply`] and [`Backend::reduce`].
    pub fn sum(&self, cuda: &Cuda) -> Result<f64> {
        fn cast<T: Num>(cuda: &Cuda, c: &DeviceCsr<T>) -> Result<f64> {
            cuda.reduce(Plus::new(), &cuda.apply(Cast::<T, f64>::new(), c).eval()?).eval()
        }
        match self {
            Self::Bool(c) => cast(cuda, c),
            Self::Int64(c) => cast(cuda, c),
            Self::Float(c) => cast(cuda, c),
            Self::Double(c) => cuda.reduce(Plus::new(), c).eval(),
        }
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        each!(self, c => c)
    }
}

/// A product of matrices over `T`: its own result, or one that is there already.
struct Product<'a, T> {
    cuda: &'a Cuda,
    plan: &'a Plan,
    a: &'a DeviceCsr<T>,
    b: &'a DeviceCsr<T>,
    into: Option<&'a mut DeviceMatrix>,
}

impl<T: Num> SemiringVisitor<T> for Product<'_, T> {
    type Output = Result<Option<DeviceMatrix>>;

    fn visit<R>(self, ring: R) -> Self::Output
    where
        R: Semiring,
        R::Mul: MulOp<A = T, B = T>,
        Out<R>: Num,
    {
        let Self { cuda, plan, a, b, into } = self;
        let Some(c) = into else {
            let c = DeviceMatrix::from_any(Box::new(cuda.numeric(plan, ring, a, b)?));
            return c.map(Some).ok_or_else(|| Error::Unsupported {
                what: format!("a result of type {}", Out::<R>::CUDA),
                why: "results are bool, i64, f32 or f64".into(),
            });
        };
        let Some(c) = c.as_any_mut().downcast_mut::<DeviceCsr<Out<R>>>() else {
            let message = format!("the semiring gives {}, these values are of another type", Out::<R>::CUDA);
            return Err(Error::Argument { name: "c", message });
        };
        cuda.numeric_into(plan, ring, a, b, c).map(|()| None)
    }
}

#[cfg(test)]
mod tests {
    use sparring::spgemm::{Accumulator, Policy};
    use sparring::{Cpu, Csr};

    use super::*;
    use crate::Scalar;

    fn same<T: Scalar>(cuda: &Cuda, a: &Csr<T>, wrap: fn(Csr<T>) -> Matrix, options: &Options) {
        let cpu = Cpu::new();
        let host = cpu.plan(a, a).eval().unwrap();
        let there = DeviceMatrix::upload(cuda, &wrap(a.map(|x| *x).unwrap())).unwrap();
        let plan = DeviceMatrix::plan(cuda, &there, &there, options).unwrap();
        for name in T::semirings() {
            let want = T::numeric(&cpu, &host, name, a, a).unwrap();
            let mut c = DeviceMatrix::numeric(cuda, &plan, name, &there, &there).unwrap();
            assert_eq!((c.shape(), c.nnz()), (want.shape(), want.nnz()), "{name}");
            let found = c.download(cuda).unwrap();
            // What logarithms give differs in the last bits.
            let near = |x: f64, y: f64| x == y || (name == "log_plus" && (x - y).abs() <= 1e-3 * (1.0 + y.abs()));
            let all = |found: &Matrix| {
                let (found, want) = (found.to_f64().unwrap(), want.to_f64().unwrap());
                found.pattern() == want.pattern() && found.values().iter().zip(want.values()).all(|(x, y)| near(*x, *y))
            };
            assert!(all(&found), "{name}");
            let sum = c.sum(cuda).unwrap();
            let size: f64 = want.to_f64().unwrap().values().iter().map(|x| 1.0 + x.abs()).sum();
            assert!((sum - want.sum()).abs() <= 1e-3 * size, "{name}: {sum}, not {}", want.sum());
            DeviceMatrix::numeric_into(cuda, &plan, name, &there, &there, &mut c).unwrap();
            assert!(all(&c.download(cuda).unwrap()), "{name}, again");
        }
        let e = DeviceMatrix::numeric(cuda, &plan, "times_plus", &there, &there).unwrap_err().to_string();
        assert!(e.contains("'times_plus'"), "{e}");
    }

    #[test]
    fn every_name_is_as_on_the_cpu() {
        let cuda = match Cuda::new(0) {
            Ok(cuda) => cuda,
            Err(Error::NoDevice { .. }) => return println!("skipped: no GPU"),
            Err(e) => panic!("{e}"),
        };
        let a = sparring::generate::matrix("tc_rmat10").unwrap();
        let small = |x: &f64| (x * 10.0) as i64 % 7;
        let ours = Options::default();
        let theirs = Options { policy: Policy::KkSpGemm, ..Options::default() };
        let probing = Options { accumulator: Accumulator::LinearProbe, ..Options::default() };
        same::<f64>(&cuda, &a, Matrix::Double, &ours);
        same::<f32>(&cuda, &a.map(|x| *x as f32).unwrap(), Matrix::Float, &theirs);
        same::<i64>(&cuda, &a.map(small).unwrap(), Matrix::Int64, &probing);
        same::<bool>(&cuda, &a.map(|x| small(x) != 0).unwrap(), Matrix::Bool, &ours);
    }

    #[test]
    fn types_that_do_not_fit_are_refused() {
        let cuda = match Cuda::new(0) {
            Ok(cuda) => cuda,
            Err(Error::NoDevice { .. }) => return println!("skipped: no GPU"),
            Err(e) => panic!("{e}"),
        };
        let a = Csr::<f64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1.0, 2.0, 3.0]).unwrap();
        let there: DeviceMatrix = cuda.upload(&a).unwrap().into();
        let ints = DeviceMatrix::upload(&cuda, &Matrix::Int64(a.map(|x| *x as i64).unwrap())).unwrap();
        let plan = DeviceMatrix::plan(&cuda, &there, &ints, &Options::default()).unwrap();
        let e = DeviceMatrix::numeric(&cuda, &plan, "plus_times", &there, &ints).unwrap_err().to_string();
        assert_eq!(e, "b: its values are of another type than those of a");
        let mut c = DeviceMatrix::numeric(&cuda, &plan, "plus_times", &there, &there).unwrap();
        let e = DeviceMatrix::numeric_into(&cuda, &plan, "lor_land", &there, &there, &mut c).unwrap_err().to_string();
        assert!(e.contains("gives bool"), "{e}");
    }
}

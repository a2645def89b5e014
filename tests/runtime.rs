//! Products with a semiring and types known only at run time give the bits of the typed products.

mod common;
#[path = "runtime/definition.rs"]
mod definition;
#[path = "runtime/directions.rs"]
mod directions;
#[path = "runtime/entries.rs"]
mod entries;
#[path = "runtime/errors.rs"]
mod errors;
#[path = "runtime/folds.rs"]
mod folds;
#[path = "runtime/formulas.rs"]
mod formulas;
#[path = "runtime/functions.rs"]
mod functions;
#[path = "runtime/kronecker.rs"]
mod kronecker;
#[path = "runtime/masked.rs"]
mod masked;
#[path = "runtime/mxm.rs"]
mod mxm;
#[path = "runtime/names.rs"]
mod names;
#[path = "runtime/operands.rs"]
mod operands;
#[path = "runtime/parts.rs"]
mod parts;
#[path = "runtime/products.rs"]
mod products;
#[path = "runtime/small.rs"]
mod small;
#[path = "runtime/textbook.rs"]
mod textbook;
#[path = "runtime/wide.rs"]
mod wide;
#[path = "runtime/write.rs"]
mod write;

use common::arbitrary::{AnyPattern, Draw, Rng};
use operands::same;
use sparring::algebra::dynamic::{Named, SEMIRINGS, SemiringVisitor};
use sparring::algebra::*;
use sparring::num_complex::Complex;
use sparring::prelude::*;
use sparring::runtime::{self, Machine, Matrix, Scalar, Semiring, Sum};

/// Awkward operands of one type.
fn operands<T: Draw>(seed: u64) -> (Csr<T>, Csr<T>) {
    let mut rng = Rng(seed);
    let (a, b) = (AnyPattern::of_shape(&mut rng, 23, 31), AnyPattern::of_shape(&mut rng, 31, 300));
    (a.matrix(seed), b.matrix(!seed))
}

/// C by the textbook, as the bytes of its values in order.
struct Want<'a, T>(&'a Csr<T>, &'a Csr<T>);
impl<T: Num + Draw> SemiringVisitor<T> for Want<'_, T> {
    type Output = Matrix;
    fn visit<R>(self, ring: R) -> Matrix
    where
        R: Semiring_,
        R::Mul: MulOp<A = T, B = T>,
        Out<R>: Num,
    {
        textbook::erased(ring).mxm(self.0, self.1).into()
    }
}
use sparring::algebra::Semiring as Semiring_;

fn every_name<T: Named + Draw>(machines: &[Machine]) {
    for seed in [1, 2] {
        let (a, b) = operands::<T>(seed);
        let (ra, rb) = (Matrix::from(a.clone()), Matrix::from(b.clone()));
        for row in SEMIRINGS.iter().filter(|row| row.values().contains(&T::TYPE)) {
            let want = T::semiring(row.name, Want(&a, &b)).unwrap();
            let ring = Semiring::new(row.name, T::TYPE).unwrap();
            for m in machines {
                let what = format!("{} over {}", row.name, T::TYPE);
                let plan = m.plan(&ra, &rb, &Default::default()).unwrap();
                let mut c = m.numeric(&plan, &ring, &ra, &rb).unwrap();
                same(&c, &want, &what);
                // Also into itself, and into a shared matrix.
                m.numeric_into(&plan, &ring, &ra, &rb, &mut c).unwrap();
                let held = c.clone();
                m.numeric_into(&plan, &ring, &ra, &rb, &mut c).unwrap();
                same(&c, &want, &what);
                same(&held, &want, &what);
            }
        }
    }
}

#[test]
fn every_name_is_the_product_by_types() {
    let machines = [Cpu::with_threads(1).unwrap().into(), Cpu::with_threads(3).unwrap().into()];
    every_name::<bool>(&machines);
    every_name::<i64>(&machines);
    every_name::<u8>(&machines);
    every_name::<f32>(&machines);
    every_name::<f64>(&machines);
}

sparring::op! {
    /// a + 2 b.
    pub Twice<T: Num> (a, b) -> T { a + b + b }
}
sparring::op! {
    /// a + b − ab.
    pub ProbOr<T: Real> (a, b) -> T { a + b - a * b } identity T::ZERO
}
sparring::op! {
    /// a if the entry is above the diagonal, else b.
    pub Above<T: Num> (a, b) at (i, k, j) -> T { i.lt(j).select(a, b) }
}

#[test]
fn formulas_are_the_operators_that_say_the_same() {
    let m = Machine::from(Cpu::with_threads(2).unwrap());
    let (a, b) = operands::<f64>(5);
    let (ra, rb) = (Matrix::from(a.clone()), Matrix::from(b.clone()));
    fn by_types<R: Semiring_>(ring: R, a: &Csr<Lhs<R>>, b: &Csr<Rhs<R>>) -> Matrix {
        Cpu::new().mxm(ring, a, b).eval().unwrap().into()
    }
    let by_text = |text: &str| m.mxm(&Semiring::new(text, Type::F64).unwrap(), &ra, &rb).unwrap();
    same(&by_text("min, a + b + b"), &by_types(Ring(Min::<f64>::new(), Twice::<f64>::new()), &a, &b), "a + 2 b");
    let want = by_types(Ring(ProbOr::<f64>::new(), Times::<f64>::new()), &a, &b);
    // A user-defined ⊕; the operands include NaN and infinities, for which laws are not checked.
    same(&by_text("a + b - a*b identity 0, a * b"), &want, "a + b - ab");
    let want = by_types(Ring(Plus::<f64>::new(), Above::<f64>::new()), &a, &b);
    same(&by_text("plus, select(i < j, a, b)"), &want, "places");
}

#[test]
fn errors_point_at_the_place_and_name_the_types() {
    let text = Semiring::new("min, a + * b", Type::F64).unwrap_err().to_string();
    assert!(text.contains('^') && text.contains("min, a + * b"), "{text}");
    let text = Semiring::new("plus_tims", Type::F64).unwrap_err().to_string();
    assert!(text.contains("plus_tims"), "{text}");
    let text = Semiring::new("a - b identity 0, a * b", Type::F64).unwrap_err().to_string();
    assert!(text.contains("for x"), "{text}");
    let m = Machine::from(Cpu::new());
    let (a, _) = operands::<f64>(1);
    let a = Matrix::from(Cpu::new().transpose(&a).eval().unwrap());
    let ring = Semiring::new("plus_times", Type::I64).unwrap();
    let text = m.mxm(&ring, &a, &m.mxm(&Semiring::new("plus_times", Type::F64).unwrap(), &a, &a).unwrap_or(a.clone()));
    assert!(text.is_err());
    let mut c = Matrix::from(Csr::<bool>::empty(2, 2).unwrap());
    let e = Matrix::from(Csr::<f64>::empty(2, 2).unwrap());
    let plan = m.plan(&e, &e, &Default::default()).unwrap();
    let text = m.numeric_into(&plan, &Semiring::new("plus_times", Type::F64).unwrap(), &e, &e, &mut c).unwrap_err();
    assert_eq!(text.to_string(), "c: the semiring gives f64, these values are bool");
}

#[test]
fn a_result_of_another_plan_is_refused_whoever_holds_it() {
    let (a, b) = operands::<f64>(4);
    let (a, b) = (Matrix::from(a), Matrix::from(b));
    let machines = std::iter::once(Machine::from(Cpu::with_threads(2).unwrap()));
    #[cfg(feature = "cuda")]
    let machines = machines.chain(Cuda::new(0).ok().map(Machine::from));
    let ring = Semiring::new("plus_times", Type::F64).unwrap();
    for m in machines {
        let plan = m.plan(&a, &b, &Default::default()).unwrap();
        let here = |c: &Matrix| c.download().unwrap();
        let mut foreign = m.upload(&a).unwrap();
        for held in [None, Some(foreign.clone())] {
            let e = m.numeric_into(&plan, &ring, &a, &b, &mut foreign).unwrap_err().to_string();
            assert!(e.contains('C') && e.contains(&a.nnz().to_string()), "{e}");
            same(&here(&foreign), &a, "as it was");
            drop(held);
        }
        // Its own result, shared: the other owner keeps the old values.
        let mut c = m.numeric(&plan, &ring, &a, &b).unwrap();
        let held = c.clone();
        let twice = m.numeric(&plan, &Semiring::new("plus, 2*a*b", Type::F64).unwrap(), &a, &b).unwrap();
        m.numeric_into(&plan, &Semiring::new("plus, 2*a*b", Type::F64).unwrap(), &a, &b, &mut c).unwrap();
        same(&here(&c), &here(&twice), "new values");
        same(&here(&held), &here(&m.numeric(&plan, &ring, &a, &b).unwrap()), "those of another holder");
    }
}

#[test]
fn integers_are_exact_and_numbers_convert() {
    let m = Machine::from(Cpu::new());
    let big = 9_007_199_254_740_993i64;
    let a = Matrix::from(Csr::new(1, 1, vec![0, 1], vec![0], vec![big]).unwrap());
    let one = Matrix::from(Csr::new(1, 1, vec![0, 1], vec![0], vec![1i64]).unwrap());
    let c = m.mxm(&Semiring::new("plus_times", Type::I64).unwrap(), &a, &one).unwrap();
    assert_eq!((c.sum().unwrap(), c.csr::<i64>().unwrap().values()), (Sum::Integer(big.into()), &[big][..]));
    let f = a.cast(Type::F32).unwrap();
    assert_eq!(f.csr::<f32>().unwrap().values(), [big as f32]);
    let small = Matrix::from(Csr::<i64>::new(1, 3, vec![0, 3], vec![0, 1, 2], vec![-1, 0, 255]).unwrap());
    for (ty, says) in [(Type::I8, "entry (0, 2), 255 as i8"), (Type::U64, "entry (0, 0), -1 as u64")] {
        assert!(small.cast(ty).unwrap_err().to_string().contains(says));
    }
    assert_eq!(small.wrapping_cast(Type::I8).unwrap().csr::<i8>().unwrap().values(), [-1, 0, -1]);
    for (x, ty, held) in [
        (2f64.powi(63), Type::I64, false),
        (-(2f64.powi(63)), Type::I64, true),
        (2f64.powi(64), Type::U64, false),
        (2f64.powi(64) - 2048.0, Type::U64, true),
        (0.5, Type::I32, false),
        (-0.0, Type::U8, true),
        (f64::NAN, Type::I8, false),
        (f64::NAN, Type::F32, true),
        (f64::INFINITY, Type::F32, true),
        (1e39, Type::F32, false),
        (1e39, Type::ComplexF32, false),
        (1e39, Type::Bool, true),
    ] {
        assert_eq!(Scalar::from(x).cast(ty).is_ok(), held, "{x} as {ty}");
        let v = runtime::Vector::from(Vector::<f64>::new(3, vec![1], vec![x]).unwrap());
        assert_eq!(v.cast(ty).is_ok(), held, "{x} as {ty}");
        assert!(v.wrapping_cast(ty).is_ok() || ty == Type::ComplexF32);
    }
    // Bitmap values at absent entries are irrelevant.
    let mut v = Vector::<i64>::full(vec![1, 300, 3]).unwrap();
    v.remove(1).unwrap();
    assert_eq!(runtime::Vector::from(v).cast(Type::I8).unwrap().typed::<i8>().unwrap().to_dense(0).unwrap(), [1, 0, 3]);
    assert_eq!(f.cast(Type::Bool).unwrap().csr::<bool>().unwrap().values(), [true]);
    let z = f.cast(Type::ComplexF64).unwrap();
    assert_eq!(z.csr::<Complex<f64>>().unwrap().values(), [Complex::new(f64::from(big as f32), 0.0)]);
    let c = m.mxm(&Semiring::new("plus_times", Type::ComplexF64).unwrap(), &z, &z).unwrap();
    assert_eq!(c.nnz(), 1);
}

#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs a GPU"]
fn a_gpu_gives_the_bits_of_the_processor() {
    let cuda = Machine::from(Cuda::new(0).unwrap());
    let cpu = Machine::from(Cpu::new());
    let (a, b) = operands::<f64>(3);
    let small = |x: &f64| (x.abs() * 10.0) as i64 % 7;
    for (a, b) in [
        (Matrix::from(a.clone()), Matrix::from(b.clone())),
        (Matrix::from(a.map(small).unwrap()), Matrix::from(b.map(small).unwrap())),
        (Matrix::from(a.map(|x| small(x) != 0).unwrap()), Matrix::from(b.map(|x| small(x) != 0).unwrap())),
    ] {
        let (there_a, there_b) = (cuda.upload(&a).unwrap(), cuda.upload(&b).unwrap());
        let names = SEMIRINGS.iter().filter(|row| row.values().contains(&a.ty()) && !row.name.contains("log"));
        for text in names.map(|row| row.name).chain(["plus, select(i < j, a, b)"]) {
            let ring = Semiring::new(text, a.ty()).unwrap();
            if ring.formula().add().name() == Some("any") {
                continue;
            }
            let c = cuda.mxm(&ring, &there_a, &there_b).unwrap().download().unwrap();
            same(&c, &cpu.mxm(&ring, &a, &b).unwrap(), text);
        }
    }
}

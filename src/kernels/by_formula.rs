//! Kernels of semirings that are known at run time: fused loops for those that are met most often, two steps for all others.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::fold_blocks::{Blocks as FoldBlocks, Combine};
use super::runs::Runs;
use super::staged::{BLOCK, Factors, MulRow, Multiplier, Staged};
use super::{Fold, Numeric, Products, builtin};
use crate::algebra::words::{from_words, value, values, values_mut, word, words_mut};
use crate::algebra::*;
use crate::num_complex::Complex;
use crate::{Csr, Error, Pattern, Result};

/// An operand: where it has entries, their values, and the matrix itself, a `Csr` of the values' type.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) pattern: &'a Arc<Pattern>,
    pub(crate) values: Slice<'a>,
    pub(crate) csr: &'a dyn Any,
}

/// Runs the body with `$T` the type of that name; `$other` for a struct.
macro_rules! with_type {
    ($ty:expr, $T:ident => $body:expr, $other:expr) => {
        with_type!(@ $ty, $T, $body, $other, Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F32 f32, F64 f64, ComplexF32 Complex<f32>, ComplexF64 Complex<f64>)
    };
    (@ $ty:expr, $T:ident, $body:expr, $other:expr, $($variant:ident $t:ty),*) => {
        match $ty {
            $($crate::algebra::Type::$variant => {
                type $T = $t;
                $body
            })*
            $crate::algebra::Type::Struct(_) => $other,
        }
    };
}
pub(crate) use with_type;

/// New values over the semiring `ring`.
/// # Errors
/// [`Error::Argument`] if ⊗ takes other types than the operands', [`Error::Unsupported`] for structs; those of the phase.
pub(crate) fn numeric_by_formula<N: Numeric<u32>>(
    ring: &RingFormula,
    a: Operand<'_>,
    b: Operand<'_>,
    phase: &N,
) -> Result<(N::Found, Array)> {
    check(ring, a, b)?;
    if let Some(found) = fused(ring, a, b, &mut New(phase)) {
        return found;
    }
    with_type!(ring.mul().ty(), T => {
        let kernels = TwoSteps::<T>::new(ring)?;
        let (found, made) = phase.make(&kernels.staged(a, b))?;
        // SAFETY: 1. `make` has no other words than copies of those that the kernel gave or wrote (`Numeric`); 2. these are
        // values of type T (`TwoSteps`).
        Ok((found, Array::of(unsafe { from_words::<T>(made) })))
    }, Err(no_structs()))
}

/// Values over the semiring `ring`, written over others of its type.
/// # Errors
/// As for [`numeric_by_formula`].
pub(crate) fn refill_by_formula<N: Numeric<u32>>(
    ring: &RingFormula,
    a: Operand<'_>,
    b: Operand<'_>,
    phase: &N,
    c: &mut SliceMut<'_>,
) -> Result<()> {
    check(ring, a, b)?;
    if c.ty() != ring.mul().ty() {
        let message = format!("the semiring gives {}, these values are {}", ring.mul().ty(), c.ty());
        return Err(Error::Argument { name: "c", message });
    }
    if let Some(done) = fused(ring, a, b, &mut Again(phase, c)) {
        return done;
    }
    with_type!(ring.mul().ty(), T => {
        let kernels = TwoSteps::<T>::new(ring)?;
        let Some(c) = c.get::<T>() else { return Err(no_structs()) };
        // SAFETY: as above; `refill` has no other words than these values' and the kernel's.
        phase.refill(&kernels.staged(a, b), unsafe { words_mut(c) })
    }, Err(no_structs()))
}

fn no_structs() -> Error {
    Error::Unsupported {
        what: "a product of structs by a formula".into(),
        why: "its loops are compiled for numbers; an operator of `op!` has loops of its own".into(),
    }
}

fn check(ring: &RingFormula, a: Operand<'_>, b: Operand<'_>) -> Result<()> {
    let parameters = ring.mul().parameters();
    for (name, found) in [("a", a.values.ty()), ("b", b.values.ty())] {
        let takes = parameters.iter().find(|p| &*p.0 == name).map_or(found, |p| p.1);
        if ring.mul().reads(name) && takes != found {
            let message = format!("its values are {found}, but ⊗ takes {takes}");
            return Err(Error::Argument { name: if name == "a" { "a" } else { "b" }, message });
        }
    }
    Ok(())
}

/// What is done with fused loops.
trait Run {
    type Out;
    fn run<R: Semiring>(&mut self, products: &Products<'_, R, u32>) -> Result<Self::Out>;
}
struct New<'p, N>(&'p N);
impl<N: Numeric<u32>> Run for New<'_, N> {
    type Out = (N::Found, Array);
    fn run<R: Semiring>(&mut self, products: &Products<'_, R, u32>) -> Result<Self::Out> {
        let (found, values) = super::numeric(products, self.0)?;
        Ok((found, Array::of(values)))
    }
}
struct Again<'p, 'c, 's, N>(&'p N, &'c mut SliceMut<'s>);
impl<N: Numeric<u32>> Run for Again<'_, '_, '_, N> {
    type Out = ();
    fn run<R: Semiring>(&mut self, products: &Products<'_, R, u32>) -> Result<()> {
        let Some(c) = self.1.get::<Out<R>>() else { return Err(no_structs()) };
        super::numeric_into(products, self.0, c)
    }
}

/// The semirings with fused loops: those that products are most often asked for.
macro_rules! fused {
    ($($number:literal $ring:ty;)*) => {
        /// Runs with the fused loops of the semiring, if it is one of those that have some.
        fn fused<X: Run>(ring: &RingFormula, a: Operand<'_>, b: Operand<'_>, run: &mut X) -> Option<Result<X::Out>> {
            static TABLE: OnceLock<HashMap<RingFormula, u32>> = OnceLock::new();
            let table = TABLE.get_or_init(|| HashMap::from([$((RingFormula::of(<$ring>::new()), $number)),*]));
            match table.get(ring)? {
                $($number => {
                    let a = a.csr.downcast_ref::<Csr<Lhs<$ring>>>()?;
                    let b = b.csr.downcast_ref::<Csr<Rhs<$ring>>>()?;
                    Some(run.run(&Products::new(<$ring>::new(), a, b)))
                })*
                _ => None,
            }
        }
    };
}
fused! {
    0 PlusTimes<f64>;
    1 PlusTimes<f32>;
    2 PlusTimes<i64>;
    3 PlusTimes<i32>;
    4 PlusTimes<u64>;
    5 MinPlus<f64>;
    6 MinPlus<f32>;
    7 MinPlus<i64>;
    8 MaxPlus<f64>;
    9 MaxTimes<f64>;
    10 PlusPair<f64>;
    11 PlusPair<i64>;
    12 PlusFirst<f64>;
    13 PlusSecond<f64>;
    14 LorLand<bool>;
    15 AnyPair<bool>;
    16 LorLand<f64>;
    17 MinSecondI<f64>;
    18 PlusTimes<Complex<f64>>;
}

/// ⊕ and ⊗ of a semiring whose values are of type T, each as a value.
struct TwoSteps<T: Value> {
    fold: Box<dyn Fold<T::Word>>,
    mul: Rows,
    of: std::marker::PhantomData<T>,
}

impl<T: Value> TwoSteps<T> {
    fn new(ring: &RingFormula) -> Result<Self> {
        let named = ring.add().name().and_then(|name| builtin::builtin::<T::Word>(name, T::TYPE));
        let fold = match named {
            Some(fold) => fold,
            None => by_blocks::<T>(ring.add())?,
        };
        Ok(Self { fold, mul: Rows::new(ring.mul())?, of: std::marker::PhantomData })
    }
    fn staged<'a>(&'a self, a: Operand<'a>, b: Operand<'a>) -> Staged<'a, T::Word> {
        // SAFETY: ⊕ is on T, ⊗ gives T and takes the operands' types (`check`).
        unsafe { Staged::new((a.pattern, a.values), (b.pattern, b.values), &*self.fold, self as &dyn MulRow<T::Word>) }
    }
}

/// ⊗ by a formula of a, b, i, k, j.
struct Rows {
    runs: Runs,
    reads_column: bool,
}

impl Rows {
    fn new(mul: &Formula) -> Result<Self> {
        Ok(Self { runs: Runs::new(mul)?, reads_column: mul.reads("j") })
    }
}

// SAFETY: the words written are those of values of type T, which the formula gives (`TwoSteps::new`).
unsafe impl<T: Value> MulRow<T::Word> for TwoSteps<T> {
    fn with(&self, work: &mut dyn FnMut(&mut Multiplier<'_, T::Word>)) {
        self.mul.runs.with(|blocks, scratch| {
            let mut columns = [0u64; BLOCK];
            work(&mut |Factors { i, k, x, js, ys }, out: &mut [T::Word]| {
                let columns = &mut columns[..js.len()];
                if self.mul.reads_column {
                    columns.iter_mut().zip(js).for_each(|(to, &j)| *to = u64::from(j));
                }
                let (i, k) = ([i as u64], [k as u64]);
                let inputs = [
                    Input::Scalar(x),
                    Input::Values(ys),
                    Input::Scalar(Slice::of(&i)),
                    Input::Scalar(Slice::of(&k)),
                    Input::Values(Slice::of(columns)),
                ];
                // SAFETY: what is written over are words of type T: the buffer is filled with the identity at first.
                let out = unsafe { values_mut::<T>(out) };
                let ran = blocks.run(&inputs, scratch, &mut SliceMut::of(out));
                debug_assert!(ran.is_ok(), "{ran:?}");
            });
        });
    }
}

/// ⊕ that is a formula of a and b.
struct Add<T> {
    runs: Runs,
    of: std::marker::PhantomData<fn() -> T>,
}

// SAFETY: what is written are values of type T, which the formula gives; the words handed over are of it.
unsafe impl<T: Value> Combine<T::Word> for Add<T> {
    fn combine(&self, zs: &mut [T::Word], xs: &[T::Word]) {
        // SAFETY: words of this type.
        let (zs, xs) = unsafe { (values_mut::<T>(zs), values::<T>(xs)) };
        let Some(&first) = zs.first() else { return };
        let mut old = [first; BLOCK];
        old[..zs.len()].copy_from_slice(zs);
        self.runs.with(|blocks, scratch| {
            let inputs = [Input::Values(Slice::of(&old[..xs.len()])), Input::Values(Slice::of(xs))];
            let ran = blocks.run(&inputs, scratch, &mut SliceMut::of(zs));
            debug_assert!(ran.is_ok(), "{ran:?}");
        });
    }
}

fn by_blocks<T: Value>(add: &MonoidFormula) -> Result<Box<dyn Fold<T::Word>>> {
    fn same<T: Value>(x: T::Word, y: T::Word) -> bool {
        // SAFETY: `FoldBlocks::new` is given this function with words of type T.
        unsafe { value::<T>(x) == value::<T>(y) }
    }
    let Some(identity) = add.identity().get::<T>() else { return Err(no_structs()) };
    let terminal = add.terminal().and_then(Constant::get::<T>).map(word);
    let combine = Add::<T> { runs: Runs::new(add.op())?, of: std::marker::PhantomData };
    // SAFETY: all are of type T.
    Ok(Box::new(unsafe { FoldBlocks::new(combine, word(identity), terminal, same::<T>) }))
}

//! ⊕ and ⊗ that are known at run time only, each as a value: ⊕ a built-in loop or blocks of a formula, ⊗ blocks of a formula.

use std::marker::PhantomData;

use super::fold_blocks::{Blocks as FoldBlocks, Combine};
use super::runs::{Pool, Runs};
use super::staged::{BLOCK, Factors, MulRow, Multiplier};
use super::staged_rows::{MulPairs, PairMultiplier, Pairs};
use super::{Fold, builtin};
use crate::algebra::words::{value, values, values_mut, word};
use crate::algebra::*;
use crate::{Error, Result};

/// ⊕ and ⊗ of a semiring whose values are of type T, each as a value.
pub(super) struct TwoSteps<T: Value> {
    fold: Box<dyn Fold<T::Word>>,
    mul: Mul,
    of: PhantomData<T>,
}

impl<T: Value> TwoSteps<T> {
    /// # Errors
    /// [`Error::Unsupported`] if the semiring's values are not of type T, or if its formulas cannot run on the processor.
    pub(super) fn new(ring: &RingFormula) -> Result<Self> {
        if ring.mul().ty() != T::TYPE {
            return Err(no_structs());
        }
        Ok(Self { fold: fold_of::<T>(ring.add())?, mul: Mul::new(ring.mul())?, of: PhantomData })
    }
    /// ⊕, on T.
    pub(super) fn fold(&self) -> &dyn Fold<T::Word> {
        &*self.fold
    }
}

/// ⊕ on values of type T.
/// # Errors
/// [`Error::Unsupported`] if it is on another type, or if its formula cannot run on the processor.
pub(super) fn fold_of<T: Value>(add: &MonoidFormula) -> Result<Box<dyn Fold<T::Word>>> {
    if add.op().ty() != T::TYPE {
        return Err(no_structs());
    }
    match add.name().and_then(|name| builtin::builtin::<T::Word>(name, T::TYPE)) {
        Some(fold) => Ok(fold),
        None => by_blocks::<T>(add),
    }
}

pub(super) fn no_structs() -> Error {
    Error::Unsupported {
        what: "a product of structs by a formula".into(),
        why: "its loops are compiled for numbers; an operator of `op!` has loops of its own".into(),
    }
}

/// ⊗ by a formula of a, b, i, k, j.
struct Mul {
    runs: Runs,
    /// Values of b, gathered.
    ys: Pool<Array>,
    b: Type,
    reads_b: bool,
    reads_k: bool,
    reads_j: bool,
}

impl Mul {
    fn new(mul: &Formula) -> Result<Self> {
        let b = mul.parameters().iter().find(|p| p.0 == "b").map_or(Type::Bool, |p| p.1);
        let reads = |name| mul.reads(name);
        let (reads_b, reads_k, reads_j) = (reads("b"), reads("k"), reads("j"));
        Ok(Self { runs: Runs::new(mul)?, ys: Pool::new(Array::zeros(b, BLOCK)?)?, b, reads_b, reads_k, reads_j })
    }
}

// SAFETY: the words written are those of values of type T, which the formula gives (`TwoSteps::new`).
unsafe impl<T: Value> MulRow<T::Word> for TwoSteps<T> {
    fn with(&self, work: &mut dyn FnMut(&mut Multiplier<'_, T::Word>)) {
        self.mul.runs.with(|blocks, scratch| {
            let mut columns = [0u64; BLOCK];
            work(&mut |Factors { i, k, x, js, ys }, out: &mut [T::Word]| {
                let columns = &mut columns[..js.len()];
                if self.mul.reads_j {
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

// SAFETY: as above.
unsafe impl<T: Value> MulPairs<T::Word> for TwoSteps<T> {
    fn with(&self, work: &mut dyn FnMut(&mut PairMultiplier<'_, T::Word>)) {
        let Mul { runs, ys, b, reads_b, reads_k, .. } = &self.mul;
        ys.with(
            || Array::zeros(*b, BLOCK),
            |ys| {
                runs.with(|blocks, scratch| {
                    let mut places = [0u64; BLOCK];
                    work(&mut |Pairs { i, ks, values, x }, out: &mut [T::Word]| {
                        let places = &mut places[..ks.len()];
                        if *reads_k {
                            places.iter_mut().zip(ks).for_each(|(to, &k)| *to = u64::from(k));
                        }
                        if *reads_b {
                            ys.slice_mut().gather(&x, ks.iter().map(|&k| k as usize));
                        }
                        let (i, j) = ([i as u64], [0u64]);
                        let inputs = [
                            Input::Values(values),
                            Input::Values(ys.slice().part(0..ks.len())),
                            Input::Scalar(Slice::of(&i)),
                            Input::Values(Slice::of(places)),
                            Input::Scalar(Slice::of(&j)),
                        ];
                        // SAFETY: as above.
                        let out = unsafe { values_mut::<T>(out) };
                        let ran = blocks.run(&inputs, scratch, &mut SliceMut::of(out));
                        debug_assert!(ran.is_ok(), "{ran:?}");
                    });
                });
            },
        );
    }
}

/// ⊕ that is a formula of a and b.
struct Add<T> {
    runs: Runs,
    of: PhantomData<fn() -> T>,
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
    fn fold(&self, z: T::Word, xs: &[T::Word]) -> T::Word {
        // SAFETY: words of this type.
        let (mut z, xs) = unsafe { ([value::<T>(z)], values::<T>(xs)) };
        self.runs.with(|blocks, scratch| {
            for x in xs {
                let old = z;
                let inputs = [Input::Scalar(Slice::of(&old)), Input::Values(Slice::of(std::slice::from_ref(x)))];
                let ran = blocks.run(&inputs, scratch, &mut SliceMut::of(&mut z));
                debug_assert!(ran.is_ok(), "{ran:?}");
            }
        });
        word(z[0])
    }
}

fn by_blocks<T: Value>(add: &MonoidFormula) -> Result<Box<dyn Fold<T::Word>>> {
    fn same<T: Value>(x: T::Word, y: T::Word) -> bool {
        // SAFETY: `FoldBlocks::new` is given this function with words of type T.
        unsafe { value::<T>(x) == value::<T>(y) }
    }
    let Some(identity) = add.identity().get::<T>() else { return Err(no_structs()) };
    let terminal = add.terminal().and_then(Constant::get::<T>).map(word);
    let combine = Add::<T> { runs: Runs::new(add.op())?, of: PhantomData };
    // SAFETY: all are of type T.
    Ok(Box::new(unsafe { FoldBlocks::new(combine, word(identity), terminal, same::<T>) }))
}

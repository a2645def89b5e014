//! Unfused kernels: ⊕ and ⊗ known only at run time, each as a value. ⊕ is a built-in loop or a formula on blocks, ⊗ a
//! formula on blocks.

use std::marker::PhantomData;

use super::evaluator::{Evaluator, Workspace};
use super::fold_blocks::{Blocks as FoldBlocks, Combine};
use super::sides::{MulSides, Side, SideMultiplier};
use super::staged::{Factors, MulRow, Multiplier, Piece, Pieces};
use super::staged_rows::{MulPairs, PairMultiplier, Pairs};
use super::{Fold, builtin};
use crate::algebra::words::{value, values, values_mut, word};
use crate::algebra::*;
use crate::sparse::Indices;
use crate::{Error, Result};

/// ⊕ and ⊗ of a semiring whose values are of type T, each as a value.
pub(super) struct Unfused<T: Value> {
    fold: Box<dyn Fold<T::Word>>,
    mul: Mul,
    of: PhantomData<T>,
}

impl<T: Value> Unfused<T> {
    /// # Errors
    /// [`Error::Unsupported`] if the semiring's values are not of type T, or if its formulas cannot run on the
    /// CPU.
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
/// [`Error::Unsupported`] if it is on another type, or if its formula cannot run on the CPU.
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
        why: "only numbers have compiled loops; an operator of `op!` compiles its own".into(),
    }
}

/// ⊗ by a formula of a, b, i, k, j.
struct Mul {
    evaluator: Evaluator,
    reads_a: bool,
    reads_b: bool,
    reads_i: bool,
    reads_k: bool,
    reads_j: bool,
}

impl Mul {
    fn new(mul: &Formula) -> Result<Self> {
        let reads = |name| mul.reads(name);
        let (reads_a, reads_b) = (reads("a"), reads("b"));
        let (reads_i, reads_k, reads_j) = (reads("i"), reads("k"), reads("j"));
        Ok(Self { evaluator: Evaluator::new(mul)?, reads_a, reads_b, reads_i, reads_k, reads_j })
    }
}

/// Copies columns of A or B to the index type of formulas.
fn widen(to: &mut [u64], from: &[u32]) {
    to.iter_mut().zip(from).for_each(|(to, &j)| *to = u64::from(j));
}

/// ⊗ with a thread's scratch memory. Compiled once, for values of any type.
struct Multiplying<'a> {
    mul: &'a Mul,
    blocks: &'a Blocks,
    workspace: &'a mut Workspace,
}

impl Multiplying<'_> {
    fn multiply(&mut self, Factors { i, k, x, js, ys }: Factors<'_>, mut out: SliceMut<'_>) {
        let Workspace { scratch, indices, .. } = &mut *self.workspace;
        let [.., columns] = indices;
        if self.mul.reads_j {
            widen(columns, js);
        }
        let (i, k) = ([i as u64], [k as u64]);
        let inputs = [
            Input::Scalar(x),
            Input::Values(ys),
            Input::Scalar(Slice::of(&i)),
            Input::Scalar(Slice::of(&k)),
            Input::Values(Slice::of(&columns[..js.len()])),
        ];
        self.blocks.run_trusted(&inputs, scratch, &mut out);
    }
    fn multiply_pieces(&mut self, Pieces { xs, ys, pieces, js }: Pieces<'_>, mut out: SliceMut<'_>) {
        let Workspace { scratch, operands: [a, b], indices } = &mut *self.workspace;
        let ([rows, ks, columns], n) = (indices, js.len());
        if self.mul.reads_a {
            a.slice_mut().repeat_each(&xs, pieces.iter().map(|piece| (piece.p, piece.n)));
        }
        if self.mul.reads_b {
            b.slice_mut().copy_parts(pieces.iter().map(|piece| (ys, piece.q..piece.q + piece.n)));
        }
        let spread = |to: &mut [u64], of: &dyn Fn(&Piece) -> usize| {
            let mut at = 0;
            for piece in pieces {
                to[at..at + piece.n].fill(of(piece) as u64);
                at += piece.n;
            }
        };
        if self.mul.reads_i {
            spread(rows, &|piece| piece.i);
        }
        if self.mul.reads_k {
            spread(ks, &|piece| piece.k);
        }
        if self.mul.reads_j {
            widen(columns, js);
        }
        let inputs = [
            Input::Values(a.slice().part(0..n)),
            Input::Values(b.slice().part(0..n)),
            Input::Values(Slice::of(&rows[..n])),
            Input::Values(Slice::of(&ks[..n])),
            Input::Values(Slice::of(&columns[..n])),
        ];
        self.blocks.run_trusted(&inputs, scratch, &mut out);
    }
    fn multiply_pairs(&mut self, pairs: Pairs<'_>, mut out: SliceMut<'_>) {
        let Workspace { scratch, operands: [_, b], indices } = &mut *self.workspace;
        let ([rows, columns, _], ks, n) = (indices, pairs.ks, pairs.ks.len());
        let (first, several) = ([pairs.first_row() as u64], pairs.ends.len() > 1);
        if self.mul.reads_i && several {
            rows.iter_mut().zip(pairs.rows_of_entries()).for_each(|(to, i)| *to = i as u64);
        }
        if self.mul.reads_k {
            widen(columns, ks);
        }
        if self.mul.reads_b {
            match pairs.of_x {
                Indices::List(_) => b.slice_mut().gather(&pairs.x, pairs.positions()),
                _ => b.slice_mut().gather(&pairs.x, ks.iter().map(|&k| k as usize)),
            }
        }
        let inputs = [
            Input::Values(pairs.values),
            Input::Values(b.slice().part(0..n)),
            if several { Input::Values(Slice::of(&rows[..n])) } else { Input::Scalar(Slice::of(&first)) },
            Input::Values(Slice::of(&columns[..n])),
            Input::Scalar(Slice::of(&[0u64])),
        ];
        self.blocks.run_trusted(&inputs, scratch, &mut out);
    }
}

/// [`Multiplying`] with results of type T.
struct MultiplyingTo<'a, T>(Multiplying<'a>, PhantomData<fn() -> T>);

impl<T: Value> Multiplier<T::Word> for MultiplyingTo<'_, T> {
    fn multiply(&mut self, f: Factors<'_>, out: &mut [T::Word]) {
        // SAFETY: words of type T are overwritten: the buffer is initialized with the identity.
        self.0.multiply(f, SliceMut::of(unsafe { values_mut::<T>(out) }));
    }
    fn multiply_pieces(&mut self, pieces: Pieces<'_>, out: &mut [T::Word]) {
        // SAFETY: as above.
        self.0.multiply_pieces(pieces, SliceMut::of(unsafe { values_mut::<T>(out) }));
    }
}

// SAFETY: the words written are those of values of type T, the formula's result type (`Unfused::new`).
unsafe impl<T: Value> MulRow<T::Word> for Unfused<T> {
    fn with(&self, work: &mut dyn FnMut(&mut dyn Multiplier<T::Word>)) {
        let mul = &self.mul;
        mul.evaluator.with(|blocks, workspace| {
            work(&mut MultiplyingTo::<T>(Multiplying { mul, blocks, workspace }, PhantomData))
        });
    }
}

// SAFETY: as above.
unsafe impl<T: Value> MulPairs<T::Word> for Unfused<T> {
    fn with(&self, work: &mut dyn FnMut(&mut PairMultiplier<'_, T::Word>)) {
        let mul = &self.mul;
        mul.evaluator.with(|blocks, workspace| {
            let mut multiplying = Multiplying { mul, blocks, workspace };
            work(&mut |pairs: Pairs<'_>, out: &mut [T::Word]| {
                // SAFETY: as above.
                multiplying.multiply_pairs(pairs, SliceMut::of(unsafe { values_mut::<T>(out) }));
            });
        });
    }
}

// SAFETY: as above; the operands are of type T too, which the caller checks (`check_dense`).
unsafe impl<T: Value> MulSides<T::Word> for Unfused<T> {
    fn with(&self, work: &mut dyn FnMut(&mut SideMultiplier<'_, T::Word>)) {
        fn input<'a, T: Value>(side: Side<'a, T::Word>) -> Input<'a> {
            match side {
                // SAFETY: words of type T, which the caller passed in.
                Side::One(x) => Input::Scalar(Slice::of(unsafe { values::<T>(std::slice::from_ref(x)) })),
                // SAFETY: as above.
                Side::Many(x) => Input::Values(Slice::of(unsafe { values::<T>(x) })),
            }
        }
        self.mul.evaluator.with(|blocks, Workspace { scratch, .. }| {
            work(&mut |a, b, out: &mut [T::Word]| {
                let place = Input::Scalar(Slice::of(&[0u64]));
                let inputs = [input::<T>(a), input::<T>(b), place, place, place];
                // SAFETY: as above.
                blocks.run_trusted(&inputs, scratch, &mut SliceMut::of(unsafe { values_mut::<T>(out) }));
            });
        });
    }
}

/// ⊕ given by a formula of a and b.
struct Add<T> {
    evaluator: Evaluator,
    of: PhantomData<fn() -> T>,
}

// SAFETY: values of type T are written, the formula's result type; the words passed in are of it.
unsafe impl<T: Value> Combine<T::Word> for Add<T> {
    fn combine(&self, zs: &mut [T::Word], xs: &[T::Word]) {
        // SAFETY: words of this type.
        let (zs, xs) = unsafe { (values_mut::<T>(zs), values::<T>(xs)) };
        self.evaluator.with(|blocks, Workspace { scratch, operands: [sums, _], .. }| {
            let mut sums = sums.slice_mut();
            let mut sums = sums.part(0..zs.len());
            let inputs = [Input::Values(Slice::of(zs)), Input::Values(Slice::of(xs))];
            blocks.run_trusted(&inputs, scratch, &mut sums);
            SliceMut::of(zs).copy_from(&sums.as_slice());
        });
    }
    fn fold(&self, z: T::Word, xs: &[T::Word]) -> T::Word {
        // SAFETY: words of this type.
        let (mut z, xs) = unsafe { ([value::<T>(z)], values::<T>(xs)) };
        self.evaluator.with(|blocks, workspace| {
            let call = blocks.host_call();
            for x in xs {
                let old = z;
                // As arrays of one, not as scalars, so that the last step writes directly to the result.
                let inputs = [Input::Values(Slice::of(&old)), Input::Values(Slice::of(std::slice::from_ref(x)))];
                match call {
                    Some(call) => call.run(&inputs, &mut SliceMut::of(&mut z)),
                    None => blocks.run_trusted(&inputs, &mut workspace.scratch, &mut SliceMut::of(&mut z)),
                }
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
    let combine = Add::<T> { evaluator: Evaluator::new(add.op())?, of: PhantomData };
    // SAFETY: all are of type T.
    Ok(Box::new(unsafe { FoldBlocks::new(combine, word(identity), terminal, same::<T>) }))
}

//! Formulas evaluated on entries of one operand, or on pairs of entries of two.

use std::ops::Range;

use crate::algebra::{Array, Constant, Input, Slice, SliceMut};
use crate::kernels::{BLOCK, CompiledOp, Evaluator, fill_any};
use crate::par::Threads;
use crate::{Pattern, Result};

use super::super::blocks::blocks;
use super::super::ewise::{ABSENT, PositionPair, UnionChunk};

/// f(a, s, i, j).
pub(super) struct OfOne<'a> {
    evaluator: &'a Evaluator,
    pub(super) is_positional: bool,
    s: &'a Constant,
}

impl<'a> OfOne<'a> {
    pub(super) fn new(f: &'a CompiledOp, s: &'a Constant) -> Result<Self> {
        Ok(Self { evaluator: f.evaluator()?, is_positional: f.is_positional(), s })
    }
    /// f of each value, for an f that does not read positions.
    pub(super) fn anywhere(&self, values: Slice<'_>, out: &mut SliceMut<'_>) {
        let nowhere = Input::Scalar(Slice::of(&[0u64]));
        self.evaluator.run(&[Input::Values(values), Input::Scalar(self.s.slice()), nowhere, nowhere], out);
    }
    /// f of each value of some rows.
    pub(super) fn of_rows(&self, a: (&Pattern, Slice<'_>), rows: Range<usize>, out: &mut SliceMut<'_>) {
        let (row_ptr, cols) = (a.0.row_ptr(), a.0.col_idx());
        let entries = row_ptr[rows.start]..row_ptr[rows.end];
        let values = a.1.part(entries.clone());
        if !self.is_positional {
            return self.anywhere(values, out);
        }
        let mut i = rows.start;
        self.at(values, out, |p| {
            let p = entries.start + p;
            while row_ptr[i + 1] <= p {
                i += 1;
            }
            (i as u64, u64::from(cols[p]))
        });
    }
    /// f of each value, `place(p)` being the row and column of value p.
    pub(super) fn at(&self, values: Slice<'_>, out: &mut SliceMut<'_>, mut place: impl FnMut(usize) -> (u64, u64)) {
        let (mut is, mut js) = ([0u64; BLOCK], [0u64; BLOCK]);
        for start in (0..values.len()).step_by(BLOCK) {
            let range = start..values.len().min(start + BLOCK);
            let n = range.len();
            for ((i, j), p) in is.iter_mut().zip(&mut js).zip(range.clone()) {
                (*i, *j) = place(p);
            }
            let (i, j) = (Input::Values(Slice::of(&is[..n])), Input::Values(Slice::of(&js[..n])));
            let inputs = [Input::Values(values.part(range.clone())), Input::Scalar(self.s.slice()), i, j];
            self.evaluator.run(&inputs, &mut out.part(range));
        }
    }
}

/// The pattern of C = A ∘ B.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ewise<'a> {
    /// The intersection of the patterns.
    Mult,
    /// The union of the patterns; an entry of one operand alone is copied.
    Add,
    /// The union of the patterns; these values replace an absent entry of A and of B.
    Union(&'a Constant, &'a Constant),
}

impl Ewise<'_> {
    /// The operation's name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mult => "ewise_mult",
            Self::Add => "ewise_add",
            Self::Union(..) => "ewise_union",
        }
    }
    /// Whether an entry of a single operand is an entry of C.
    pub(super) fn is_union(self) -> bool {
        !matches!(self, Self::Mult)
    }
}

/// a ∘ b on entries of two operands.
pub(in crate::ops) struct OfTwo<'a> {
    evaluator: &'a Evaluator,
    a: Slice<'a>,
    b: Slice<'a>,
    /// Values that replace absent entries.
    absent: Option<(&'a Constant, &'a Constant)>,
}

impl<'a> OfTwo<'a> {
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::Unsupported`](crate::Error::Unsupported) for a
    /// formula that the CPU cannot run.
    pub(in crate::ops) fn new(op: &'a CompiledOp, a: Slice<'a>, b: Slice<'a>) -> Result<Self> {
        Ok(Self { evaluator: op.evaluator()?, a, b, absent: None })
    }
    /// [`new`](Self::new) with the values that replace absent entries.
    pub(super) fn ewise(op: &'a CompiledOp, a: Slice<'a>, b: Slice<'a>, ewise: Ewise<'a>) -> Result<Self> {
        let absent = match ewise {
            Ewise::Union(of_a, of_b) => Some((of_a, of_b)),
            _ => None,
        };
        Ok(Self { absent, ..Self::new(op, a, b)? })
    }
    /// a(p) ∘ b(p) for the p of a range.
    pub(super) fn aligned(&self, range: Range<usize>, out: &mut SliceMut<'_>) {
        self.evaluator.run(&[Input::Values(self.a.part(range.clone())), Input::Values(self.b.part(range))], out);
    }
    /// a(p) ∘ b(q) for the q of a range.
    pub(in crate::ops) fn with_each(&self, p: usize, of_b: Range<usize>, out: &mut SliceMut<'_>) {
        self.evaluator.run(&[Input::Scalar(self.a.part(p..p + 1)), Input::Values(self.b.part(of_b))], out);
    }
    /// a(p) ∘ b(q) for the p of a range.
    pub(in crate::ops) fn each_with(&self, of_a: Range<usize>, q: usize, out: &mut SliceMut<'_>) {
        self.evaluator.run(&[Input::Values(self.a.part(of_a)), Input::Scalar(self.b.part(q..q + 1))], out);
    }
    /// The values of the union of entries of A and B, at most [`BLOCK`].
    pub(super) fn union_chunk(&self, UnionChunk { union, of_a, of_b }: &UnionChunk, out: &mut SliceMut<'_>) {
        let n = out.len();
        self.evaluator.with(|blocks, workspace| {
            let [x, y] = &mut workspace.operands;
            if let Some((of_a, of_b)) = self.absent {
                x.slice_mut().part(0..n).fill(&of_a.slice());
                y.slice_mut().part(0..n).fill(&of_b.slice());
            }
            let b = self.b.part(of_b.clone());
            x.slice_mut().scatter(&self.a.part(of_a.clone()), union.of_a());
            y.slice_mut().scatter(&b, union.of_b().map(|(p, _)| p));
            // Computed for unpaired entries too, on filler values; these results are discarded.
            let inputs = [Input::Values(x.slice().part(0..n)), Input::Values(y.slice().part(0..n))];
            blocks.run_trusted(&inputs, &mut workspace.scratch, out);
            if self.absent.is_none() {
                x.slice_mut().scatter_or(&b, &out.as_slice(), union.of_b());
                out.copy_from(&x.slice().part(0..n));
            }
        });
    }
    /// a(p) ∘ b(q) for at most [`BLOCK`] pairs of positions. If one is [`ABSENT`]: the other value, or ∘ of it and the
    /// value that replaces the absent one.
    pub(in crate::ops) fn at_pairs(&self, positions: &[PositionPair], out: &mut SliceMut<'_>) {
        let any_absent = positions.iter().any(|&(p, q)| p == ABSENT || q == ABSENT);
        self.evaluator.with(|blocks, workspace| {
            let [x, y] = &mut workspace.operands;
            if let (true, Some((of_a, of_b))) = (any_absent, self.absent) {
                x.slice_mut().gather(&of_a.slice(), std::iter::repeat(0));
                y.slice_mut().gather(&of_b.slice(), std::iter::repeat(0));
            }
            x.slice_mut().gather(&self.a, positions.iter().map(|p| p.0));
            y.slice_mut().gather(&self.b, positions.iter().map(|p| p.1));
            let n = positions.len();
            // Computed for unpaired entries too, on filler values; these results are overwritten.
            let inputs = [Input::Values(x.slice().part(0..n)), Input::Values(y.slice().part(0..n))];
            blocks.run_trusted(&inputs, &mut workspace.scratch, out);
        });
        if any_absent && self.absent.is_none() {
            out.gather(&self.a, positions.iter().map(|&(p, q)| if q == ABSENT { p } else { ABSENT }));
            out.gather(&self.b, positions.iter().map(|&(p, q)| if p == ABSENT { q } else { ABSENT }));
        }
    }
}

/// The values at these positions.
pub(super) fn gathered(threads: &Threads, op: &'static str, from: Slice<'_>, at: &[usize]) -> Result<Array> {
    fill_any(from.ty(), threads, op, &blocks(at.len(), &|p| p as u64)?, &|p| p, &|block, out| {
        out.gather(&from, at[block].iter().copied());
    })
}

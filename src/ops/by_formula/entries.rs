//! Formulas on entries: of one operand, and of two where they meet.

use std::ops::Range;

use crate::algebra::{Array, Constant, Input, Slice, SliceMut};
use crate::kernels::{BLOCK, CompiledOp, Runs, fill_any};
use crate::par::Threads;
use crate::{Pattern, Result};

use super::super::blocks::blocks;
use super::super::ewise::{ABSENT, Places, Together};

/// f of a, s, i, j.
pub(super) struct OfOne<'a> {
    runs: &'a Runs,
    pub(super) reads_place: bool,
    s: &'a Constant,
}

impl<'a> OfOne<'a> {
    pub(super) fn new(f: &'a CompiledOp, s: &'a Constant) -> Result<Self> {
        Ok(Self { runs: f.runs()?, reads_place: f.reads_place(), s })
    }
    /// f of each value, at places that it does not read.
    pub(super) fn anywhere(&self, values: Slice<'_>, out: &mut SliceMut<'_>) {
        let nowhere = Input::Scalar(Slice::of(&[0u64]));
        self.runs.run(&[Input::Values(values), Input::Scalar(self.s.slice()), nowhere, nowhere], out);
    }
    /// f of each value of some rows.
    pub(super) fn of_rows(&self, a: (&Pattern, Slice<'_>), rows: Range<usize>, out: &mut SliceMut<'_>) {
        let (row_ptr, cols) = (a.0.row_ptr(), a.0.col_idx());
        let entries = row_ptr[rows.start]..row_ptr[rows.end];
        let values = a.1.part(entries.clone());
        if !self.reads_place {
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
    /// f of each value, `place(p)` being where value p stands.
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
            self.runs.run(&inputs, &mut out.part(range));
        }
    }
}

/// Where C = A ∘ B has entries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ewise<'a> {
    /// Where both have one.
    Mult,
    /// Where either has one; an entry of one alone stands as it is.
    Add,
    /// Where either has one; these values stand for an absent one of A and of B.
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
    /// Whether an entry of one operand is one of C.
    pub(super) fn is_union(self) -> bool {
        !matches!(self, Self::Mult)
    }
}

/// a ∘ b of the entries of two operands.
pub(in crate::ops) struct OfTwo<'a> {
    runs: &'a Runs,
    a: Slice<'a>,
    b: Slice<'a>,
    /// Values that stand for an absent one.
    absent: Option<(&'a Constant, &'a Constant)>,
}

impl<'a> OfTwo<'a> {
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::Unsupported`](crate::Error::Unsupported) for a
    /// formula that the processor cannot run.
    pub(in crate::ops) fn new(op: &'a CompiledOp, a: Slice<'a>, b: Slice<'a>) -> Result<Self> {
        Ok(Self { runs: op.runs()?, a, b, absent: None })
    }
    /// The same with the values that stand for an absent entry.
    pub(super) fn ewise(op: &'a CompiledOp, a: Slice<'a>, b: Slice<'a>, ewise: Ewise<'a>) -> Result<Self> {
        let absent = match ewise {
            Ewise::Union(of_a, of_b) => Some((of_a, of_b)),
            _ => None,
        };
        Ok(Self { absent, ..Self::new(op, a, b)? })
    }
    /// a(p) ∘ b(p) for the p of a range.
    pub(super) fn straight(&self, range: Range<usize>, out: &mut SliceMut<'_>) {
        self.runs.run(&[Input::Values(self.a.part(range.clone())), Input::Values(self.b.part(range))], out);
    }
    /// a(p) ∘ b(q) for the q of a range.
    pub(in crate::ops) fn with_each(&self, p: usize, of_b: Range<usize>, out: &mut SliceMut<'_>) {
        self.runs.run(&[Input::Scalar(self.a.part(p..p + 1)), Input::Values(self.b.part(of_b))], out);
    }
    /// a(p) ∘ b(q) for the p of a range.
    pub(in crate::ops) fn each_with(&self, of_a: Range<usize>, q: usize, out: &mut SliceMut<'_>) {
        self.runs.run(&[Input::Values(self.a.part(of_a)), Input::Scalar(self.b.part(q..q + 1))], out);
    }
    /// The values of entries of A and B together, at most [`BLOCK`].
    pub(super) fn together(&self, Together { union, of_a, of_b }: &Together, out: &mut SliceMut<'_>) {
        let n = out.len();
        self.runs.with(|blocks, room| {
            let [x, y] = &mut room.operands;
            if let Some((of_a, of_b)) = self.absent {
                x.slice_mut().part(0..n).fill(&of_a.slice());
                y.slice_mut().part(0..n).fill(&of_b.slice());
            }
            let b = self.b.part(of_b.clone());
            x.slice_mut().scatter(&self.a.part(of_a.clone()), union.of_a());
            y.slice_mut().scatter(&b, union.of_b().map(|(p, _)| p));
            // Also where one is missing, of some value or other: what it gives is not taken.
            let inputs = [Input::Values(x.slice().part(0..n)), Input::Values(y.slice().part(0..n))];
            blocks.run_trusted(&inputs, &mut room.scratch, out);
            if self.absent.is_none() {
                x.slice_mut().scatter_or(&b, &out.as_slice(), union.of_b());
                out.copy_from(&x.slice().part(0..n));
            }
        });
    }
    /// a(p) ∘ b(q) for at most [`BLOCK`] pairs of positions; where one is [`ABSENT`], the value that exists, or ∘ of it
    /// and the value that stands for the other.
    pub(in crate::ops) fn meet(&self, places: &[Places], out: &mut SliceMut<'_>) {
        let any_absent = places.iter().any(|&(p, q)| p == ABSENT || q == ABSENT);
        self.runs.with(|blocks, room| {
            let [x, y] = &mut room.operands;
            if let (true, Some((of_a, of_b))) = (any_absent, self.absent) {
                x.slice_mut().gather(&of_a.slice(), std::iter::repeat(0));
                y.slice_mut().gather(&of_b.slice(), std::iter::repeat(0));
            }
            x.slice_mut().gather(&self.a, places.iter().map(|p| p.0));
            y.slice_mut().gather(&self.b, places.iter().map(|p| p.1));
            let n = places.len();
            // Also where one is missing, of some value or other: what it gives is written over.
            let inputs = [Input::Values(x.slice().part(0..n)), Input::Values(y.slice().part(0..n))];
            blocks.run_trusted(&inputs, &mut room.scratch, out);
        });
        if any_absent && self.absent.is_none() {
            out.gather(&self.a, places.iter().map(|&(p, q)| if q == ABSENT { p } else { ABSENT }));
            out.gather(&self.b, places.iter().map(|&(p, q)| if p == ABSENT { q } else { ABSENT }));
        }
    }
}

/// The values at these positions.
pub(super) fn gathered(threads: &Threads, op: &'static str, from: Slice<'_>, at: &[usize]) -> Result<Array> {
    fill_any(from.ty(), threads, op, &blocks(at.len(), &|p| p as u64)?, &|p| p, &|block, out| {
        out.gather(&from, at[block].iter().copied());
    })
}

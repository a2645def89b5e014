//! The steps of a contraction on a device: one kernel each, with whole intermediate tensors.

use super::axes::{Axis, In};
use crate::contract::{Einsum, INDICES, Layout, Pairs, Set, Shape, Viewed, brings_columns, members, order_of, shapes};
use crate::par::reserved;
use crate::{Error, Result};

/// An input of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    Operand(usize),
    Between(usize),
}

/// `C = ⊕ A ⊗ B`, or `⊕ A`, under the shapes' layouts.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) a: (Source, Shape),
    pub(super) b: Option<(Source, Shape)>,
    pub(super) c: Shape,
    /// The intermediate tensor that it writes; `None` for the result.
    pub(super) target: Option<usize>,
    /// Folded indices, the last fastest.
    folded: Vec<u8>,
}

impl Step {
    fn axis(&self, index: u8, extents: &[usize; INDICES]) -> Axis {
        let has = |s: &Shape| s.set >> index & 1 == 1;
        let (in_a, in_b) = (has(&self.a.1), self.b.as_ref().is_some_and(|b| has(&b.1)));
        let strides = [self.a.1.stride(index), self.b.as_ref().map_or(0, |b| b.1.stride(index)), self.c.stride(index)];
        let of = match (in_a, in_b) {
            (true, true) => In::Both,
            (false, true) => In::B,
            _ => In::A,
        };
        Axis { extent: extents[usize::from(index)], strides, of }
    }
    /// The indices of C by decreasing stride, without those of extent 1.
    pub(super) fn out(&self, extents: &[usize; INDICES]) -> Vec<Axis> {
        let mut axes: Vec<Axis> =
            members(self.c.set).map(|i| self.axis(i, extents)).filter(|axis| axis.extent != 1).collect();
        axes.sort_by_key(|axis| std::cmp::Reverse(axis.strides[2]));
        axes
    }
    /// The folded indices in order, without those of extent 1.
    pub(super) fn folded(&self, extents: &[usize; INDICES]) -> Vec<Axis> {
        self.folded.iter().map(|&i| self.axis(i, extents)).filter(|axis| axis.extent != 1).collect()
    }
    /// Offsets of the first elements of A, B and C.
    pub(super) fn bases(&self) -> [usize; 3] {
        [self.a.1.base, self.b.as_ref().map_or(0, |b| b.1.base), self.c.base]
    }
}

/// All steps.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) list: Vec<Step>,
    /// Elements of each intermediate tensor.
    pub(super) between: Vec<usize>,
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) extents: [usize; INDICES],
    order: Vec<u8>,
    /// The index of the largest stride in the result: it comes first in intermediate tensors.
    first: Option<u8>,
}

impl Steps {
    /// The steps of a contraction into a result of this layout.
    pub(super) fn new<T, V: Viewed>(einsum: &Einsum<'_, T, V>, out: &Layout) -> Result<Self> {
        let (operands, result) = shapes(einsum, out)?;
        let extents = *einsum.extents();
        let longer = |i: &u8| extents[usize::from(*i)] > 1;
        let first = members(result.set).filter(longer).max_by_key(|&i| result.stride(i));
        let order = order_of(einsum);
        let mut steps = Self { list: vec![], between: vec![], pairs: vec![], extents, order, first };
        if members(result.set).all(|i| extents[usize::from(i)] > 0) {
            steps.plan(operands, result)?;
        }
        Ok(steps)
    }

    fn plan(&mut self, operands: Vec<Shape>, result: Shape) -> Result<()> {
        let n = operands.len();
        let sets: Vec<Set> = operands.iter().map(|x| x.set).collect();
        let met = Pairs::new(&sets, result.set, &self.extents)?;
        let mut at = reserved(n + met.order.len(), "steps")?;
        for (k, operand) in operands.into_iter().enumerate() {
            let own = (Source::Operand(k), operand);
            if met.remaining[k] == own.1.set {
                at.push(own);
            } else {
                let shape = self.dense(&[met.remaining[k]], &[&own.1])?;
                at.push(self.step(own, None, shape, false)?);
            }
        }
        for (step, &pair) in met.order.iter().enumerate() {
            let (i, j) = met.rows_first(pair, &self.extents);
            let (a, b) = (at[i].clone(), at[j].clone());
            let last = step + 1 == met.order.len();
            let c = if last {
                result.clone()
            } else {
                let kept = met.remaining[n + step];
                self.dense(&[kept & a.1.set, kept & !a.1.set], &[&a.1, &b.1])?
            };
            let (a, b) = if brings_columns(&a.1, &b.1, &c, &self.extents) { (b, a) } else { (a, b) };
            at.push(self.step(a, Some(b), c, last)?);
        }
        if n == 1 {
            self.step(at.swap_remove(0), None, result, true)?;
        }
        self.pairs = met.order;
        Ok(())
    }

    /// Appends a step; returns its output.
    fn step(
        &mut self,
        a: (Source, Shape),
        b: Option<(Source, Shape)>,
        c: Shape,
        last: bool,
    ) -> Result<(Source, Shape)> {
        let all = a.1.set | b.as_ref().map_or(0, |b| b.1.set);
        let folded = self.order.iter().copied().filter(|&i| (all & !c.set) >> i & 1 == 1).collect();
        let target = self.between.len();
        let made = (Source::Between(target), c.clone());
        if !last {
            self.between.push(self.elements(&c)?);
        }
        self.list.push(Step { a, b, c, target: (!last).then_some(target), folded });
        Ok(made)
    }
    fn elements(&self, shape: &Shape) -> Result<usize> {
        let extents = members(shape.set).map(|i| self.extents[usize::from(i)] as u128);
        let len = extents.fold(1u128, u128::saturating_mul);
        usize::try_from(len).map_err(|_| Error::OutOfMemory { what: "einsum", bytes: len })
    }
    /// A row-major tensor: the index of the largest stride in the result first, then each group's indices in the order
    /// of their tensor.
    fn dense(&self, groups: &[Set], from: &[&Shape]) -> Result<Shape> {
        let all = groups.iter().fold(0, |s, g| s | g);
        let mut order: Vec<u8> = self.first.filter(|i| all >> i & 1 == 1).into_iter().collect();
        for (&group, shape) in groups.iter().zip(from) {
            let mut indices: Vec<u8> = members(group).filter(|i| Some(*i) != self.first).collect();
            indices.sort_by_key(|&i| std::cmp::Reverse(shape.stride(i)));
            order.extend(indices);
        }
        let mut shape = Shape::new(0);
        let mut stride = 1u128;
        for &index in order.iter().rev() {
            let fits = isize::try_from(stride).map_err(|_| Error::OutOfMemory { what: "einsum", bytes: stride })?;
            shape.with(index, fits);
            stride = stride.saturating_mul(self.extents[usize::from(index)] as u128);
        }
        Ok(shape)
    }
}

//! Relabeling: from all indices to used ones, from one list of used indices to another, and back to all.

use super::labels::{Labels, is_expanded};
use super::object::{Inner, Wide, shape_of};
use crate::Result;
use crate::algebra::Array;
use crate::par::{collected, note};
use crate::runtime::engine::{Call, Object, Op, Operand};
use crate::runtime::{IndexList, Machine};

/// A result drops unused indices if it has more of them than this, and more than twice its entries: dropping them costs
/// O(entries), as the operation did.
const UNUSED: usize = 1024;

impl Wide {
    /// The operand with the used indices of the flagged dimensions.
    /// # Errors
    /// Those of the machine; [`Error::Unsupported`](crate::Error::Unsupported) for structs.
    pub(super) fn compacted(machine: &Machine, x: Operand<'_>, flagged: [bool; 2]) -> Result<Self> {
        let plain = || Self { shape: shape_of(x), labels: Default::default(), inner: x.into() };
        let wide = Self::of(x).map_or_else(plain, Clone::clone);
        let missing = [0, 1].map(|axis| flagged[axis] && wide.labels[axis].is_all());
        if missing == [false; 2] { Ok(wide) } else { wide.restricted(machine, missing) }
    }
    /// The object without the unused indices of the flagged dimensions.
    /// # Errors
    /// As for [`compacted`](Self::compacted).
    pub(super) fn restricted(self, machine: &Machine, flagged: [bool; 2]) -> Result<Self> {
        let (rows, cols, _) = entries(self.inner.operand())?;
        let Self { shape, mut labels, inner } = self;
        let mut lists = [IndexList::all(), IndexList::all()];
        for (axis, ranks) in [rows, cols].into_iter().enumerate().filter(|(axis, _)| flagged[*axis]) {
            let ranks = Labels::of(collected(ranks.len(), ranks.iter().map(|&r| r as usize), "used indices")?)?;
            let ranks = ranks.used().unwrap_or_default();
            let used = collected(ranks.len(), ranks.iter().map(|&r| labels[axis].index(r)), "used indices")?;
            labels[axis] = Labels::of(used)?;
            lists[axis] = ranks.into();
        }
        let taken = machine.run(&Call::unary(Op::Extract(&lists[0], &lists[1]), inner.operand()))?;
        Ok(Self { shape, labels, inner: taken.operand()?.into() })
    }
    /// The ordinary object whose indices are ranks among `to`, which has all of this object's used indices.
    /// # Errors
    /// Those of the machine.
    pub(super) fn relabeled(&self, machine: &Machine, to: [&Labels; 2]) -> Result<Object> {
        if self.labels.iter().eq(to) {
            return Ok(self.inner.clone().into());
        }
        let list = |axis: usize| match self.labels[axis].used() {
            Some(used) if &self.labels[axis] != to[axis] => {
                Ok::<_, crate::Error>(to[axis].ranks(used.iter().copied())?.into())
            }
            _ => Ok(IndexList::all()),
        };
        let (rows, cols) = (list(0)?, list(1)?);
        let shape = (to[0].len(self.shape.0), to[1].len(self.shape.1));
        machine.run(&Call::unary(Op::Place(&rows, &cols, shape), self.inner.operand()))
    }
    /// The object of this shape, from its ranks: small dimensions are [expanded](is_expanded), many unused indices dropped.
    /// # Errors
    /// Those of the machine.
    pub(super) fn labeled(
        machine: &Machine,
        shape: (usize, usize),
        labels: [Labels; 2],
        ranks: Object,
    ) -> Result<Object> {
        let Ok(inner) = ranks.operand().map(Inner::from) else { return Ok(ranks) };
        let mut wide = Self { shape, labels, inner };
        let most = 2 * wide.inner.nnz()? + UNUSED;
        let many = [0, 1].map(|axis| wide.labels[axis].used().is_some_and(|used| used.len() > most));
        if many != [false; 2] {
            wide = wide.restricted(machine, many)?;
            note(|| "  unused indices dropped".into());
        }
        let is_matrix = matches!(wide.inner, Inner::Matrix(_));
        let to = [(0, shape.0), (1, shape.1)].map(|(axis, n)| {
            if is_expanded(n, is_matrix && axis == 0) { Labels::default() } else { wide.labels[axis].clone() }
        });
        let inner = wide.relabeled(machine, [&to[0], &to[1]])?;
        Self { shape, labels: to, inner: inner.operand()?.into() }.into_object()
    }
}

/// Rows and columns, and values, of the entries of an ordinary object, row by row; the columns of a vector are 0.
/// # Errors
/// Those of [`Matrix::extract_tuples`](crate::runtime::Matrix::extract_tuples) and of the engine.
pub(super) fn entries(x: Operand<'_>) -> Result<(Vec<u32>, Vec<u32>, Array)> {
    match x {
        Operand::Matrix(a) => a.download()?.extract_tuples(),
        Operand::Vector(x) => {
            let (indices, values) = x.download()?.entries()?;
            let cols = crate::par::filled(indices.len(), 0, "columns")?;
            Ok((indices, cols, values))
        }
    }
}

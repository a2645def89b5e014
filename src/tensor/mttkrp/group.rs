//! A group of modes that share one contraction with all other modes: a two-level dimension tree.
//!
//! A node is a distinct tuple of indices inside the group. The products with the factors outside the group are folded
//! once per node, and the modes of the group are folded from the nodes' rows. A sweep over the modes in order may reuse
//! these rows while it is inside the group. Source: Kaya and Uçar 2018 (dimension trees). It pays where nodes are few.

use super::form::{Form, strided};
use super::lanes::{Factors, Partials, fold};
use super::rows::segments;
use crate::algebra::{Arithmetic, Value};
use crate::par::{Threads, collected, filled, order_by, reserved};
use crate::tensor::Tensor;
use crate::{Index, Result};

#[derive(Debug)]
pub(super) struct Group<T, I> {
    pub(super) modes: Vec<usize>,
    form: Form<T, I>,
    /// Index of each node in each of `modes`.
    nodes: Vec<Vec<I>>,
    /// Row pointers, and nodes sorted by their index, for each of `modes`; the nodes are already sorted by the first.
    by: Vec<(Vec<usize>, Option<Vec<I>>)>,
}

impl<T: Value, I: Index> Group<T, I> {
    pub(super) fn new(threads: &Threads, x: &Tensor<T, I>, modes: Vec<usize>) -> Result<Self> {
        let rest: Vec<usize> = (0..x.order()).filter(|m| !modes.contains(m)).collect();
        let (keys, nodes) = number(threads, x, &modes)?;
        let count = nodes.first().map_or(0, Vec::len);
        let form = Form::new(threads, x, &keys, count, rest)?;
        let mut by = reserved(modes.len(), "orders of nodes")?;
        for (k, (list, &mode)) in nodes.iter().zip(&modes).enumerate() {
            let (ptr, order) = order_by::<I, I>(threads, list, x.dims()[mode])?;
            by.push((ptr, (k > 0).then_some(order)));
        }
        Ok(Self { modes, form, nodes, by })
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.form.ptr.len() - 1
    }

    /// Bytes allocated.
    pub(super) fn bytes(&self) -> u128 {
        let lists: usize = self.nodes.iter().map(|list| size_of_val(&list[..])).sum();
        let orders = self
            .by
            .iter()
            .map(|(ptr, order)| size_of_val(&ptr[..]) + order.as_ref().map_or(0, |order| size_of_val(&order[..])));
        self.form.bytes() + (lists + orders.sum::<usize>()) as u128
    }

    /// Modes outside the group, in increasing order.
    pub(super) fn rest(&self) -> &[usize] {
        &self.form.modes
    }

    /// One row per node: the products with the factors of [`rest`](Self::rest).
    pub(super) fn partials<A: Arithmetic<T>>(
        &self,
        threads: &Threads,
        ring: A,
        factors: Factors<'_, T>,
        rows: &mut [T],
    ) -> Result<()> {
        self.form.fold(threads, ring, factors, rows)
    }

    /// The result for the group's `k`-th mode, from the nodes' rows and the factors of the group's other modes.
    pub(super) fn fold<A: Arithmetic<T>>(
        &self,
        threads: &Threads,
        ring: A,
        k: usize,
        rows: &[T],
        factors: Factors<'_, T>,
        out: &mut [T],
    ) -> Result<()> {
        let (ptr, order) = &self.by[k];
        let others: Vec<&[I]> = (0..self.modes.len()).filter(|&m| m != k).map(|m| &self.nodes[m][..]).collect();
        let entries = Partials { order: order.as_deref(), rows, rank: factors.rank, indices: &others };
        segments(
            threads,
            ptr,
            factors.rank,
            A::ZERO,
            out,
            |a, b| ring.plus(a, b),
            |segment| {
                fold(ring, &entries, factors, segment);
            },
        )
    }
}

/// The node of each entry, nodes being the distinct index tuples in `modes` in sorted order, and the indices of each
/// node.
fn number<T: Value, I: Index>(threads: &Threads, x: &Tensor<T, I>, modes: &[usize]) -> Result<(Vec<I>, Vec<Vec<I>>)> {
    let n = x.nnz();
    let bins = modes.iter().try_fold(1usize, |bins, &m| bins.checked_mul(x.dims()[m])).unwrap_or(usize::MAX);
    if bins > (4 * n).max(1 << 16).min(I::MAX_LEN) {
        return number_sorted(threads, x, modes);
    }
    let lists: Vec<(&[I], usize)> = modes.iter().map(|&m| (x.indices(m), x.dims()[m])).collect();
    let keys =
        strided(threads, n, 1, |e, _| I::cast(lists.iter().fold(0, |key, (list, len)| key * len + list[e].get())))?;
    let mut numbers = filled(bins, I::LAST, "nodes of a tensor")?;
    for key in &keys {
        numbers[key.get()] = I::default();
    }
    let count = numbers.iter().filter(|number| **number != I::LAST).count();
    let mut nodes = Vec::with_capacity(modes.len());
    for _ in modes {
        nodes.push(reserved(count, "nodes of a tensor")?);
    }
    let there = numbers.iter_mut().enumerate().filter(|(_, number)| **number != I::LAST);
    for (found, (key, number)) in there.enumerate() {
        *number = I::cast(found);
        let mut rest = key;
        for (list, (_, len)) in nodes.iter_mut().zip(&lists).rev() {
            list.push(I::cast(rest % len));
            rest /= len;
        }
    }
    let numbered = strided(threads, n, 1, |e, _| numbers[keys[e].get()])?;
    Ok((numbered, nodes))
}

/// As [`number`] by sorting the entries, where there are too many possible tuples for a table.
fn number_sorted<T: Value, I: Index>(
    threads: &Threads,
    x: &Tensor<T, I>,
    modes: &[usize],
) -> Result<(Vec<I>, Vec<Vec<I>>)> {
    let order = match x.is_sorted_by(modes)? {
        true => collected(x.nnz(), 0..x.nnz(), "an order of entries")?,
        false => x.order_by(threads, modes)?,
    };
    let differ = |a: usize, b: usize| modes.iter().any(|&m| x.indices(m)[a] != x.indices(m)[b]);
    let begins = |p: usize| p == 0 || differ(order[p - 1], order[p]);
    let count = (0..order.len()).filter(|&p| begins(p)).count();
    let mut keys = filled(x.nnz(), I::default(), "nodes of a tensor")?;
    let mut starts = reserved(count, "nodes of a tensor")?;
    for (p, &e) in order.iter().enumerate() {
        if begins(p) {
            starts.push(e);
        }
        keys[e] = I::cast(starts.len() - 1);
    }
    let of = |&m: &usize| collected(count, starts.iter().map(|&e| x.indices(m)[e]), "nodes of a tensor");
    Ok((keys, modes.iter().map(of).collect::<Result<_>>()?))
}

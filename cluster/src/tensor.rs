//! Distributed sparse tensors.

use std::sync::Arc;

use sparring::algebra::{Plus, Real, Slice};
use sparring::factor::{CpAls, CpFit, CpMachine, CpState};
use sparring::par::Threads;
use sparring::runtime::engine::bytes_of;
use sparring::tensor::{AnyTensor, Variant};
use sparring::{Dense, Error, Index, Result, with_tensor};

use crate::cluster::{Cluster, Shared};
use crate::deal::TensorGrid;
use crate::factor::{folded, state};
use crate::link::Parts;
use crate::route::grouped;
use crate::wire::{Bytes, broken, buffer, bytes, collected, grow, put_word, reserved, values};

/// A distributed sparse tensor without duplicates; each rank has the entries of one block.
///
/// The ranks form a grid with one dimension per mode, whose parts are balanced by number of entries.
/// [`Cluster::read_frostt`] and [`Cluster::build_tensor`] construct it, [`Cluster::cp_als`] decomposes it.
#[derive(Clone, Debug)]
pub struct Tensor<T = f64> {
    shared: Arc<Shared>,
    dims: Vec<usize>,
    nnz: usize,
    grid: Arc<TensorGrid>,
    block: Block<T>,
}

/// The entries of a block, with indices relative to its start. Shared with plans.
#[derive(Clone, Debug)]
enum Block<T> {
    Narrow(Arc<sparring::Tensor<T, u32>>),
    Wide(Arc<sparring::Tensor<T, u64>>),
}

macro_rules! with_block {
    ($block:expr, $x:ident => $body:expr) => {
        match $block {
            Block::Narrow($x) => $body,
            Block::Wide($x) => $body,
        }
    };
}

impl<T: Real> Tensor<T> {
    /// Size of each mode.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }
    /// Number of modes.
    #[must_use]
    pub fn order(&self) -> usize {
        self.dims.len()
    }
    /// Number of entries over all ranks.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.nnz
    }
    /// Number of entries of this rank.
    #[must_use]
    pub fn block_nnz(&self) -> usize {
        with_block!(&self.block, x => x.nnz())
    }
    /// Gathers the whole tensor on every rank, sorted lexicographically. Collective; O(nnz) memory per rank.
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn download(&self) -> Result<AnyTensor<T>> {
        let (made, _) = self
            .shared
            .together("download of a tensor", || Ok((with_block!(&self.block, x => self.gathered(x)?.any()?), 0)))?;
        Ok(made)
    }
    fn gathered<I: Index>(&self, x: &sparring::Tensor<T, I>) -> Result<sparring::Tensor<T, I>> {
        let (shared, order) = (&self.shared, self.order());
        let starts: Vec<usize> = (0..order).map(|mode| self.grid.layer(mode, shared.world.rank()).start).collect();
        let mine = || {
            let mut to = buffer(8 + x.nnz() * entry_bytes::<T, I>(order, false))?;
            put_word(&mut to, x.nnz());
            for (mode, start) in starts.iter().enumerate() {
                x.indices(mode).iter().for_each(|i| put_index::<I>(&mut to, i.get() + start));
            }
            to.extend_from_slice(&bytes_of(Slice::of(x.values()))?);
            Ok(((), to))
        };
        let ((), all) = shared.world.gather(mine())?;
        let mut made = Lists::<T, I>::new(order);
        all.iter().try_for_each(|message| made.take(message, false))?;
        summed(shared, &made.tensor(self.dims.clone())?.0)
    }
}

/// Sorts the entries and sums duplicates in their order.
fn summed<T: Real, I: Index>(shared: &Shared, x: &sparring::Tensor<T, I>) -> Result<sparring::Tensor<T, I>> {
    let current = Threads::current();
    x.summed(shared.inner.threads().unwrap_or(&current), Plus::new())
}

/// One round of the entries that a rank contributes, with global indices.
pub(crate) struct Round<T> {
    pub(crate) entries: AnyTensor<T>,
    /// Line number of each entry in a file, if duplicates are errors.
    pub(crate) lines: Option<Vec<u64>>,
}

/// Bytes per entry in a message.
fn entry_bytes<T, I>(order: usize, has_lines: bool) -> usize {
    order * size_of::<I>() + size_of::<T>() + if has_lines { 8 } else { 0 }
}

fn put_index<I: Index>(to: &mut Vec<u8>, i: usize) {
    to.extend_from_slice(&(i as u64).to_le_bytes()[..size_of::<I>()]);
}

/// Entries received from all ranks.
struct Lists<T, I> {
    indices: Vec<Vec<I>>,
    values: Vec<T>,
    lines: Vec<u64>,
}

fn append<T>(to: &mut Vec<T>, n: usize, from: impl Iterator<Item = T>) -> Result<()> {
    grow(to, n, "entries of a tensor")?;
    to.extend(from);
    Ok(())
}

impl<T: Real, I: Index> Lists<T, I> {
    fn new(order: usize) -> Self {
        Self { indices: vec![Vec::new(); order], values: Vec::new(), lines: Vec::new() }
    }
    /// Appends the entries of a message.
    fn take(&mut self, message: &[u8], has_lines: bool) -> Result<()> {
        let mut message = Bytes(message);
        let n = message.word()?;
        let mut part = |each: usize| message.take(n.checked_mul(each).ok_or_else(broken)?);
        for list in &mut self.indices {
            let from = part(size_of::<I>())?.chunks_exact(size_of::<I>());
            let index = |b: &[u8]| b.iter().rev().fold(0u64, |x, &b| x << 8 | u64::from(b));
            append(list, n, from.map(|b| I::cast(index(b) as usize)))?;
        }
        append(&mut self.values, n, values::<T>(part(size_of::<T>())?)?.into_iter())?;
        if has_lines {
            append(&mut self.lines, n, part(8)?.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)))?;
        }
        Ok(())
    }
    fn tensor(self, dims: Vec<usize>) -> Result<(sparring::Tensor<T, I>, Vec<u64>)> {
        Ok((sparring::Tensor::new(dims, self.indices, self.values)?, self.lines))
    }
}

/// The messages that send entries to their owners.
fn sent<T: Real, I: Index>(grid: &TensorGrid, round: &Round<T>, ranks: usize) -> Result<Parts> {
    fn of<T: Real, I: Index, J: Index>(
        grid: &TensorGrid,
        x: &sparring::Tensor<T, J>,
        lines: Option<&[u64]>,
        ranks: usize,
    ) -> Result<Parts> {
        let (order, n) = (x.order(), x.nnz());
        let owner = |e: usize| grid.owner((0..order).map(|mode| x.indices(mode)[e].get()));
        let owners = collected(n, (0..n).map(owner), "owners of entries")?;
        let groups = grouped(owners.iter().copied(), ranks)?;
        let values = bytes(x.values());
        let mut made = buffer(8 * ranks + n * entry_bytes::<T, I>(order, lines.is_some()))?;
        let mut lengths = Vec::with_capacity(ranks);
        for (rank, of) in groups.iter().enumerate() {
            let before = made.len();
            put_word(&mut made, of.len());
            for mode in 0..order {
                let start = grid.layer(mode, rank).start;
                of.iter().for_each(|&e| put_index::<I>(&mut made, x.indices(mode)[e].get() - start));
            }
            let size = size_of::<T>();
            of.iter().for_each(|&e| made.extend_from_slice(&values[e * size..(e + 1) * size]));
            if let Some(lines) = lines {
                of.iter().for_each(|&e| made.extend_from_slice(&lines[e].to_le_bytes()));
            }
            lengths.push(made.len() - before);
        }
        Ok(Parts { bytes: made, lengths })
    }
    with_tensor!(&round.entries, x => of::<T, I, _>(grid, x, round.lines.as_deref(), ranks))
}

/// Whether the entries are in lexicographic order, without duplicates.
fn increases<T: Real, I: Index>(x: &sparring::Tensor<T, I>) -> bool {
    let index = |e: usize| x.all_indices().iter().map(move |list| list[e]);
    (1..x.nnz()).all(|e| index(e - 1).lt(index(e)))
}

/// Makes the error of a duplicate from its index tuple, the line of the first occurrence, and its own line.
pub(crate) type Refuse<'a> = &'a dyn Fn(&[usize], u64, u64) -> Error;

impl Cluster {
    /// x(i₁, …) = Σ values at (i₁, …) over the entries contributed by all ranks. Each rank generates its own entries,
    /// and every entry is sent to its owner. Collective.
    ///
    /// Shapes: one index list per mode and the values, all of the same length on a rank, possibly 0, which may differ
    /// between ranks. Duplicates are summed in rank order. Cost: O(nnz / p) memory per rank if contributions are
    /// balanced.
    /// # Errors
    /// Those of [`sparring::Tensor::new`]; [`Error::OutOfMemory`]. An error of one rank is reported on all.
    /// # Example
    /// ```
    /// use sparring::{Cpu, factor::CpAls};
    /// use sparring_cluster::Cluster;
    /// let cluster = Cluster::new(Cpu::new())?;
    /// let (r, p) = (cluster.rank() as u32, cluster.size());
    /// let x = cluster.build_tensor(vec![p, 2, 2], vec![vec![r], vec![0], vec![1]], vec![2.0])?;
    /// assert_eq!((x.dims(), x.nnz()), (&[p, 2, 2][..], p));
    /// let found = cluster.cp_als(&CpAls::new(1), &x)?;
    /// assert!((found.fit - 1.0).abs() < 1e-7);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn build_tensor<T: Real, I: Index>(
        &self,
        dims: Vec<usize>,
        indices: Vec<Vec<I>>,
        values: Vec<T>,
    ) -> Result<Tensor<T>> {
        let what = format!("build a tensor of {dims:?}");
        let brought = sparring::Tensor::new(dims.clone(), indices, values).and_then(sparring::Tensor::any);
        self.distributed(&what, dims, brought.map(|entries| vec![Round { entries, lines: None }]), &|_, _, _| broken())
    }
    /// The tensor assembled from the entries of all ranks, in equally many rounds on each.
    pub(crate) fn distributed<T: Real>(
        &self,
        what: &str,
        dims: Vec<usize>,
        rounds: Result<Vec<Round<T>>>,
        refuse: Refuse<'_>,
    ) -> Result<Tensor<T>> {
        let shared = &self.0;
        let ((grid, block), nnz) = shared.together(what, || {
            let rounds = shared.ready(rounds)?;
            let here: usize = rounds.iter().map(|round| round.entries.nnz()).sum();
            let total = shared.world.all_words([here as u64, 0]).iter().map(|words| words[0] as usize).sum();
            let of_mode = |mode: usize| {
                let mut list = reserved(here, "indices of a mode")?;
                for round in &rounds {
                    with_tensor!(&round.entries, x => list.extend(x.indices(mode).iter().map(|i| i.get())));
                }
                list.sort_unstable();
                Ok(list)
            };
            let sum = |mine: Vec<usize>| {
                let mine: Vec<u64> = mine.into_iter().map(|n| n as u64).collect();
                let all = shared.world.all_gather(bytes(&mine))?;
                let mut sums = vec![0; mine.len()];
                for part in all.iter() {
                    sums.iter_mut().zip(part.as_chunks().0).for_each(|(s, n)| *s += u64::from_le_bytes(*n) as usize);
                }
                Ok(sums)
            };
            let grid = TensorGrid::new(&dims, self.size(), total, |mode| shared.ready(of_mode(mode)), sum)?;
            let block = if dims.iter().all(|&n| n <= u32::MAX_LEN) {
                Block::Narrow(Arc::new(received(shared, &grid, rounds, refuse)?))
            } else {
                Block::Wide(Arc::new(received(shared, &grid, rounds, refuse)?))
            };
            let nnz = with_block!(&block, x => x.nnz());
            Ok(((Arc::new(grid), block), nnz))
        })?;
        Ok(Tensor { shared: Arc::clone(shared), dims, nnz, grid, block })
    }
    /// CP-ALS of a distributed tensor; equals [`CpAls::run`] on the whole tensor up to rounding. Collective; the model
    /// is replicated on every rank.
    ///
    /// Cost: O(nnz / p + R·Σ nₘ) memory per rank, with R factor columns and modes of size nₘ; time and communication as
    /// in the table of the [crate](crate#data-distribution).
    /// # Errors
    /// Those of [`CpAls::run`], reported on all ranks; [`Error::Argument`] for a tensor of another cluster.
    pub fn cp_als<T: Real>(&self, als: &CpAls<'_, T>, x: &Tensor<T>) -> Result<CpFit<T>> {
        if !Arc::ptr_eq(&self.0, &x.shared) {
            return Err(Error::Argument { name: "x", message: "it is on other ranks".into() });
        }
        if self.size() == 1 {
            return with_block!(&x.block, block => als.run(self.cpu()?, &**block));
        }
        let norm = self.norm(x)?;
        als.run(&OnRanks { cluster: self, x, norm: T::from_f64(norm) }, &outline(&x.dims, norm)?)
    }
    /// √ Σ x², up to rounding; not finite if a value is not.
    fn norm<T: Real>(&self, x: &Tensor<T>) -> Result<f64> {
        let shared = &self.0;
        let (norm, _) = shared.together("norm of a tensor", || {
            let values = with_block!(&x.block, block => block.values());
            let mut most = [0.0f64];
            for v in values {
                let v = v.as_f64().abs();
                if v > most[0] || v.is_nan() {
                    most[0] = v;
                }
            }
            folded(shared, &mut most, |most, v| {
                if v > *most || v.is_nan() {
                    *most = v
                }
            })?;
            if most[0] == 0.0 || !most[0].is_finite() {
                return Ok((most[0], 0));
            }
            // Values are divided by a power of two near the largest, so that their squares stay in range.
            let exponent = most[0].log2().floor() as i32;
            let mut sum = [values.iter().fold(0.0, |sum, v| sum + scaled(v.as_f64(), -exponent).powi(2))];
            folded(shared, &mut sum, |sum, x| *sum += x)?;
            Ok((scaled(sum[0].sqrt(), exponent), 0))
        })?;
        Ok(norm)
    }
}

/// x · 2^`exponent`, in two steps, because the power alone may be out of range.
fn scaled(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * 2f64.powi(half) * 2f64.powi(exponent - half)
}

/// A tensor with these dimensions and this norm, of one or two entries. Besides MTTKRP, which runs on the blocks,
/// CP-ALS needs only shape and norm.
fn outline<T: Real>(dims: &[usize], norm: f64) -> Result<sparring::Tensor<T, u64>> {
    let mut values = Vec::new();
    if norm != 0.0 {
        let mut first = T::from_f64(norm);
        if first.as_f64() > norm && first.is_finite() {
            first = T::from_f64(norm * (1.0 - 1e-7));
        }
        values.push(first);
        // The part of the norm lost by rounding to T.
        let rest = (norm - first.as_f64()).max(0.0).sqrt() * (norm + first.as_f64()).sqrt();
        if rest > 0.0 && rest.is_finite() && dims.iter().any(|&n| n > 1) {
            values.push(T::from_f64(rest));
        }
    }
    let last = dims.iter().rposition(|&n| n > 1);
    let list = |mode: usize| (0..values.len() as u64).map(|e| if Some(mode) == last { e } else { 0 }).collect();
    sparring::Tensor::new(dims.to_vec(), (0..dims.len()).map(list).collect(), values)
}

/// A distributed tensor as the CP-ALS backend of its [`outline`].
struct OnRanks<'a, T> {
    cluster: &'a Cluster,
    x: &'a Tensor<T>,
    norm: T,
}

impl<T: Real> CpMachine<T, u64> for OnRanks<'_, T> {
    fn cp_room(&self, outline: &sparring::Tensor<T, u64>, rank: usize) -> Result<()> {
        self.cluster.cp_room(outline, rank)
    }
    fn cp_state<'x>(
        &'x self,
        outline: &'x sparring::Tensor<T, u64>,
        factors: Vec<Dense<T>>,
        variant: Option<Variant>,
    ) -> Result<Box<dyn CpState<T> + 'x>> {
        // The power of two by which the outline was divided.
        let exponent = outline.values().first().map_or(0, |first| {
            let of = |x: &T| x.as_f64().log2();
            (of(&self.norm) - of(first)).round() as i32
        });
        let x = self.x;
        match &x.block {
            Block::Narrow(block) => state(self.cluster, || placed(x, block, exponent), factors, variant),
            Block::Wide(block) => state(self.cluster, || placed(x, block, exponent), factors, variant),
        }
    }
}

/// The distribution, and this rank's block divided by a power of two.
#[expect(clippy::type_complexity, reason = "the arguments of `state`")]
fn placed<T: Real, I: Index>(
    x: &Tensor<T>,
    block: &Arc<sparring::Tensor<T, I>>,
    exponent: i32,
) -> Result<(Arc<TensorGrid>, Arc<sparring::Tensor<T, I>>)> {
    let block = if exponent == 0 {
        Arc::clone(block)
    } else {
        let values = block.values().iter().map(|v| T::from_f64(scaled(v.as_f64(), -exponent)));
        let values = collected(block.nnz(), values, "values")?;
        Arc::new(block.with_values(values)?)
    };
    Ok((Arc::clone(&x.grid), block))
}

/// This rank's block of the entries of all ranks. Collective, within an operation.
fn received<T: Real, I: Index>(
    shared: &Shared,
    grid: &TensorGrid,
    rounds: Vec<Round<T>>,
    refuse: Refuse<'_>,
) -> Result<sparring::Tensor<T, I>> {
    let order = grid.parts.len();
    let mut made = Lists::<T, I>::new(order);
    let has_lines = rounds.iter().any(|round| round.lines.is_some());
    for round in rounds {
        let to = sent::<T, I>(grid, &round, shared.world.size());
        drop(round);
        let ((), got) = shared.world.all_to_all(to.map(|to| ((), to)))?;
        shared.ready(got.iter().try_for_each(|message| made.take(message, has_lines)))?;
    }
    let rank = shared.world.rank();
    let made = made.tensor((0..order).map(|mode| grid.layer(mode, rank).len()).collect());
    let (block, lines) = shared.ready(made)?;
    if has_lines {
        check_repeats(shared, grid, &block, &lines, refuse)?;
    }
    if increases(&block) { Ok(block) } else { summed(shared, &block) }
}

/// The error of the first duplicate in file order, on the rank that owns it.
fn check_repeats<T: Real, I: Index>(
    shared: &Shared,
    grid: &TensorGrid,
    block: &sparring::Tensor<T, I>,
    lines: &[u64],
    refuse: Refuse<'_>,
) -> Result<()> {
    let modes: Vec<usize> = (0..block.order()).collect();
    let current = Threads::current();
    let order = shared.ready(block.order_by(shared.inner.threads().unwrap_or(&current), &modes))?;
    let same = |a: usize, b: usize| block.all_indices().iter().all(|list| list[a] == list[b]);
    let first = order.windows(2).filter(|pair| same(pair[0], pair[1])).min_by_key(|pair| lines[pair[1]]);
    let mine = first.map_or(u64::MAX, |pair| lines[pair[1]]);
    let least = shared.world.all_words([mine, 0]).iter().map(|words| words[0]).min();
    match first {
        Some(&[earlier, later]) if least == Some(mine) => {
            let rank = shared.world.rank();
            let start = |mode: usize| grid.layer(mode, rank).start;
            let index: Vec<usize> = block.coordinates(later).iter().enumerate().map(|(m, i)| i + start(m)).collect();
            Err(refuse(&index, lines[earlier], lines[later]))
        }
        _ => Ok(()),
    }
}

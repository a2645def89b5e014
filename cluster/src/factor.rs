//! CP-ALS on all ranks, medium-grained.
//!
//! The ranks form a grid with a dimension for each mode, and every mode is cut into as many parts as the grid is long
//! there, of about as many entries each. A rank has the entries of its block. Ranks whose blocks have the same part
//! of a mode are a layer of it: each holds some of the part's rows of the factor, and a copy of the others for its
//! products. Rows of V are added up by those who hold them, in the order of ranks; rows of factors are solved where
//! they are held and then told to the layer; Gram matrices and all other sums over rows are added up in the order of
//! ranks.
//!
//! Every step ends with a word from each rank, and ranks agree before messages that all of them have come so far: a
//! step that fails on one rank fails on all.
//!
//! Source: Smith and Karypis 2016, "A medium-grained algorithm for sparse tensor factorization".

use std::ops::Range;
use std::sync::Arc;

use sparring::algebra::{PlusTimes, Real, Slice};
use sparring::factor::{Agreement, CpMachine, CpRows, CpState, Solve, cp_rows};
use sparring::runtime::engine::{bytes_of, unfit, values_of};
use sparring::tensor::{Kept, Kruskal, Mttkrp, Norm, Tensor, Variant};
use sparring::{Cpu, Dense, Error, Index, Result};

use crate::cluster::{Cluster, Shared};
use crate::grid::cut;
use crate::link::{Link, Parts};
use crate::wire::{broken, reserved};

/// Who has which part of each mode.
#[derive(Debug)]
struct Deal {
    /// Parts of each mode; their product is the number of ranks.
    parts: Vec<usize>,
    /// Where the parts of each mode begin, and its end.
    cuts: Vec<Vec<usize>>,
}

impl Deal {
    fn new<T: Real, I: Index>(x: &Tensor<T, I>, ranks: usize) -> Result<Self> {
        let dims = x.dims();
        let mut parts = vec![1; dims.len()];
        for factor in prime_factors(ranks) {
            // The mode whose parts are longest, the first of these.
            let longest = (0..dims.len())
                .rev()
                .max_by(|&m, &n| (dims[m] as u128 * parts[n] as u128).cmp(&(dims[n] as u128 * parts[m] as u128)));
            parts[longest.unwrap_or(0)] *= factor;
        }
        let cuts = (0..dims.len()).map(|mode| cuts(x.indices(mode), dims[mode], parts[mode]));
        Ok(Self { cuts: cuts.collect::<Result<_>>()?, parts })
    }
    /// Ranks of which the next in the mode is so many farther.
    fn stride(&self, mode: usize) -> usize {
        self.parts[mode + 1..].iter().product()
    }
    fn part(&self, mode: usize, rank: usize) -> usize {
        rank / self.stride(mode) % self.parts[mode]
    }
    /// The indices of the mode that the block of a rank has.
    fn layer(&self, mode: usize, rank: usize) -> Range<usize> {
        let part = self.part(mode, rank);
        self.cuts[mode][part]..self.cuts[mode][part + 1]
    }
    /// Of these, those whose rows of the factor the rank holds.
    fn held(&self, mode: usize, rank: usize) -> Range<usize> {
        let (layer, stride) = (self.layer(mode, rank), self.stride(mode));
        let all = self.parts.iter().product::<usize>() / self.parts[mode];
        // Its number in the layer, whose ranks are in order.
        let number = rank / (stride * self.parts[mode]) * stride + rank % stride;
        layer.start + cut(layer.len(), all, number)..layer.start + cut(layer.len(), all, number + 1)
    }
}

/// The largest first.
fn prime_factors(mut n: usize) -> Vec<usize> {
    let (mut found, mut factor) = (Vec::new(), 2);
    while n > 1 {
        while n.is_multiple_of(factor) {
            found.push(factor);
            n /= factor;
        }
        factor += 1;
        if factor * factor > n && n > 1 {
            found.push(n);
            n = 1;
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}

/// Where parts of a mode begin, so that each has about as many entries.
fn cuts<I: Index>(indices: &[I], len: usize, parts: usize) -> Result<Vec<usize>> {
    if parts == 1 {
        return Ok(vec![0, len]);
    }
    if indices.is_empty() {
        return Ok((0..=parts).map(|part| cut(len, parts, part)).collect());
    }
    let mut sorted = reserved(indices.len(), "indices of a mode")?;
    sorted.extend(indices.iter().map(|i| i.get()));
    sorted.sort_unstable();
    let mut cuts = vec![0];
    for part in 1..parts {
        // The index in whose entries the part would end goes where more of it would be.
        let at = cut(sorted.len(), parts, part);
        let index = sorted.get(at).copied().unwrap_or(len);
        let (before, after) = (sorted.partition_point(|&i| i < index), sorted.partition_point(|&i| i <= index));
        let end = if at - before <= after - at { index } else { index + 1 };
        cuts.push(end.max(cuts[part - 1]));
    }
    cuts.push(len);
    Ok(cuts)
}

/// What a rank has of the products.
struct Products<'x, T: Real, I: Index> {
    cpu: &'x Cpu,
    shared: Arc<Shared>,
    deal: Arc<Deal>,
    plan: Mttkrp<'static, T, I>,
    kept: Kept<T>,
    /// Ranks of the same layer of each mode.
    layers: Vec<Arc<dyn Link>>,
    /// Rows of factors that the block has.
    factors: Vec<Dense<T>>,
    partial: Vec<Dense<T>>,
}

fn values<T: Real>(bytes: &[u8]) -> Result<Vec<T>> {
    let array = values_of(T::TYPE, &mut bytes.to_vec())?;
    let from = array.slice().get::<T>().ok_or_else(unfit)?;
    let mut own = reserved(from.len(), "rows of a factor")?;
    own.extend_from_slice(from);
    Ok(own)
}

fn rows_of<T: Real>(a: &Dense<T>, rows: Range<usize>) -> Result<Dense<T>> {
    let part = &a.values()[rows.start * a.ncols()..rows.end * a.ncols()];
    let mut own = reserved(part.len(), "rows of a factor")?;
    own.extend_from_slice(part);
    Dense::new(rows.len(), a.ncols(), own)
}

impl<T: Real, I: Index> Products<'_, T, I> {
    /// Of a mode, the rows that a rank of the layer holds, counted from where the layer begins.
    fn held(&self, mode: usize, number: usize) -> Range<usize> {
        let (rows, all) = (self.partial[mode].nrows(), self.layers[mode].size());
        cut(rows, all, number)..cut(rows, all, number + 1)
    }
}

impl<T: Real, I: Index> CpRows<T> for Products<'_, T, I> {
    fn mttkrp(&mut self, mode: usize, rows: &mut Dense<T>) -> Result<()> {
        let asked = self.cpu.mttkrp(PlusTimes::<T>::new(), self.plan.tensor(), &self.factors, mode);
        let made = asked.plan(&self.plan).sweep(&mut self.kept).into(&mut self.partial[mode]);
        let (layer, partial) = (&self.layers[mode], &self.partial[mode]);
        let to = (0..layer.size()).map(|number| {
            let rows = self.held(mode, number);
            bytes_of(Slice::of(&partial.values()[rows.start * partial.ncols()..rows.end * partial.ncols()]))
        });
        let to = self.shared.ready(made.and_then(|()| to.collect::<Result<Vec<_>>>()))?;
        for (number, bytes) in layer.exchange(&Parts::of(&to))?.iter().enumerate() {
            let part = values::<T>(bytes)?;
            if part.len() != rows.values().len() {
                return Err(broken());
            }
            if number == 0 {
                rows.values_mut().copy_from_slice(&part);
            } else {
                rows.values_mut().iter_mut().zip(part).for_each(|(sum, x)| *sum = *sum + x);
            }
        }
        Ok(())
    }
    fn changed(&mut self, mode: usize, rows: &Dense<T>) -> Result<()> {
        let mine = self.shared.ready(bytes_of(Slice::of(rows.values())))?;
        let all = self.layers[mode].all_gather(&mine)?;
        let to = self.factors[mode].values_mut();
        let mut at = 0;
        for bytes in all.iter() {
            let part = values::<T>(bytes)?;
            to.get_mut(at..at + part.len()).ok_or_else(broken)?.copy_from_slice(&part);
            at += part.len();
        }
        Ok(())
    }
    fn sum(&self, sums: &mut [f64]) -> Result<()> {
        folded(&self.shared, sums, |sum, x| *sum += x)
    }
    fn norms(&self, norm: Norm, norms: &mut [T]) -> Result<()> {
        let mut all: Vec<f64> = norms.iter().map(|n| n.as_f64()).collect();
        folded(&self.shared, &mut all, |sum, x| match norm {
            Norm::Two => *sum = sum.hypot(x),
            Norm::One => *sum += x,
            Norm::MaxAtLeastOne => *sum = if x > *sum || x.is_nan() { x } else { *sum },
        })?;
        norms.iter_mut().zip(all).for_each(|(to, n)| *to = T::from_f64(n));
        Ok(())
    }
    fn explain(&self) -> String {
        let grid: Vec<String> = self.deal.parts.iter().map(ToString::to_string).collect();
        let entries = self.plan.tensor().nnz();
        format!("a grid of {} ranks; here {entries} entries: {}", grid.join("×"), self.plan.explain())
    }
}

/// Numbers of all ranks, folded in the order of ranks into those of the first.
fn folded(shared: &Shared, sums: &mut [f64], fold: impl Fn(&mut f64, f64)) -> Result<()> {
    if shared.world.size() == 1 {
        return Ok(());
    }
    let mine = shared.ready(bytes_of(Slice::of(sums)))?;
    for (rank, bytes) in shared.world.all_gather(&mine)?.iter().enumerate() {
        let part = values::<f64>(bytes)?;
        if part.len() != sums.len() {
            return Err(broken());
        }
        if rank == 0 {
            sums.copy_from_slice(&part);
        } else {
            sums.iter_mut().zip(part).for_each(|(sum, x)| fold(sum, x));
        }
    }
    Ok(())
}

/// The steps of all ranks.
struct Ranks<'x, T: Real> {
    shared: Arc<Shared>,
    deal: Arc<Deal>,
    /// On the rows that this rank holds.
    state: Box<dyn CpState<T> + 'x>,
}

fn held<T: Real>(deal: &Deal, rank: usize, factors: &[Dense<T>]) -> Result<Vec<Dense<T>>> {
    factors.iter().enumerate().map(|(mode, factor)| rows_of(factor, deal.held(mode, rank))).collect()
}

impl<T: Real> Ranks<'_, T> {
    /// A step of all ranks, if it went well on each.
    fn all<R>(&self, made: Result<R>) -> Result<R> {
        Ok(self.shared.finish(made.map(|made| (made, 0)))?.0)
    }
    /// The model of the rows of all ranks.
    fn whole(&self) -> Result<Kruskal<T>> {
        let shared = &self.shared;
        let (weights, mine) = shared.ready(self.state.model())?.into_parts();
        let mut factors = Vec::with_capacity(mine.len());
        for (mode, rows) in mine.iter().enumerate() {
            let mine = shared.ready(bytes_of(Slice::of(rows.values())))?;
            let all = shared.world.all_gather(&mine)?;
            let (n, rank) = (self.deal.cuts[mode].last().copied().unwrap_or(0), rows.ncols());
            let mut whole = Dense::filled(n, rank, T::ZERO)?;
            for (number, bytes) in all.iter().enumerate() {
                let held = self.deal.held(mode, number);
                let to = &mut whole.values_mut()[held.start * rank..held.end * rank];
                let part = values::<T>(bytes)?;
                if part.len() != to.len() {
                    return Err(broken());
                }
                to.copy_from_slice(&part);
            }
            factors.push(whole);
        }
        Kruskal::new(weights, factors)
    }
}

impl<T: Real> CpState<T> for Ranks<'_, T> {
    fn gram(&mut self, mode: usize) -> Result<()> {
        let made = self.state.gram(mode);
        self.all(made)
    }
    fn mttkrp(&mut self, mode: usize) -> Result<()> {
        let made = self.state.mttkrp(mode);
        self.all(made)
    }
    fn solve(&mut self, mode: usize, how: Solve) -> Result<()> {
        let made = self.state.solve(mode, how);
        self.all(made)
    }
    fn normalise(&mut self, mode: usize, norm: Norm) -> Result<()> {
        let made = self.state.normalise(mode, norm);
        self.all(made)
    }
    fn agreement(&mut self, mode: usize) -> Result<Agreement> {
        let made = self.state.agreement(mode);
        self.all(made)
    }
    fn model(&self) -> Result<Kruskal<T>> {
        self.all(self.whole())
    }
    fn restart(&mut self, factors: Vec<Dense<T>>) -> Result<()> {
        let rows = held(&self.deal, self.shared.world.rank(), &factors);
        let made = rows.and_then(|rows| self.state.restart(rows));
        self.all(made)
    }
    fn explain(&self) -> String {
        self.state.explain()
    }
    fn stops(&self, wanted: bool) -> Result<bool> {
        Ok(self.shared.finish(Ok(((), usize::from(wanted))))?.1 > 0)
    }
}

impl Cluster {
    fn cpu(&self) -> Result<&Cpu> {
        self.inner().typed::<Cpu>().ok_or_else(|| Error::Unsupported {
            what: format!("CP on a cluster of {}", self.inner().name()),
            why: "its ranks compute it on processors".into(),
        })
    }
}

/// Every rank has the whole tensor, and keeps the entries of its block; the model is whole on every rank. The same bits
/// on every rank and in every run on as many ranks; on one, those of the processor.
impl<T: Real, I: Index> CpMachine<T, I> for Cluster {
    fn cp_room(&self, x: &Tensor<T, I>, rank: usize) -> Result<()> {
        self.0.together("CP", || Ok((self.cpu()?.cp_room(x, rank)?, 0)))?;
        Ok(())
    }
    fn cp_state<'x>(
        &'x self,
        x: &'x Tensor<T, I>,
        factors: Vec<Dense<T>>,
        variant: Option<Variant>,
    ) -> Result<Box<dyn CpState<T> + 'x>> {
        let (cpu, shared, me) = (self.cpu()?, &self.0, self.rank());
        let columns = factors.first().map_or(0, Dense::ncols);
        let make = || {
            let deal = Arc::new(Deal::new(x, self.size())?);
            let block = Arc::new(block_of(x, &deal, me)?);
            let plan = cpu.mttkrp_plan(block, columns, variant)?;
            let mine = held(&deal, me, &factors)?;
            let of_layer = |mode: usize| rows_of(&factors[mode], deal.layer(mode, me));
            let here = (0..x.order()).map(of_layer).collect::<Result<Vec<_>>>()?;
            let partial =
                here.iter().map(|a| Dense::filled(a.nrows(), columns, T::ZERO)).collect::<Result<Vec<_>>>()?;
            Ok(((deal, plan, mine, here, partial), 0))
        };
        let ((deal, plan, mine, factors, partial), _) = shared.together("CP", make)?;
        let layers = (0..x.order()).map(|mode| shared.world.split(deal.part(mode, me))).collect::<Result<_>>()?;
        let (kept, shared) = (Kept::default(), Arc::clone(shared));
        let of = (Arc::clone(&shared), Arc::clone(&deal));
        let products = Products { cpu, shared: of.0, deal: of.1, plan, kept, layers, factors, partial };
        let (state, _) = shared.finish(cp_rows(cpu, mine, Box::new(products)).map(|state| (state, 0)))?;
        Ok(Box::new(Ranks { shared, deal, state }))
    }
}

/// The entries of a rank's block, counted from where it begins.
fn block_of<T: Real, I: Index>(x: &Tensor<T, I>, deal: &Deal, rank: usize) -> Result<Tensor<T, I>> {
    let layers: Vec<Range<usize>> = (0..x.order()).map(|mode| deal.layer(mode, rank)).collect();
    let is_here = |&e: &usize| layers.iter().enumerate().all(|(mode, rows)| rows.contains(&x.indices(mode)[e].get()));
    let count = (0..x.nnz()).filter(is_here).count();
    let mut entries = reserved(count, "entries of a block")?;
    entries.extend((0..x.nnz()).filter(is_here));
    let mut indices = Vec::with_capacity(layers.len());
    for (mode, rows) in layers.iter().enumerate() {
        let mut of_mode = reserved(count, "entries of a block")?;
        of_mode.extend(entries.iter().map(|&e| I::cast(x.indices(mode)[e].get() - rows.start)));
        indices.push(of_mode);
    }
    let mut values = reserved(count, "entries of a block")?;
    values.extend(entries.iter().map(|&e| x.values()[e]));
    Tensor::new(layers.iter().map(Range::len).collect(), indices, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_take_every_rank() {
        for (ranks, dims, parts) in
            [(1, vec![5, 5], vec![1, 1]), (6, vec![100, 10, 10], vec![6, 1, 1]), (12, vec![4, 4, 4], vec![3, 2, 2])]
        {
            assert_eq!(Deal::new(&Tensor::<f64>::empty(dims).unwrap(), ranks).unwrap().parts, parts);
        }
        assert_eq!(prime_factors(360), [5, 3, 3, 2, 2, 2]);
        assert_eq!((prime_factors(1), prime_factors(7)), (vec![], vec![7]));
    }

    #[test]
    fn every_row_is_held_once_and_every_entry_is_in_one_block() {
        let dims = vec![7, 3, 11];
        let indices: Vec<Vec<u32>> =
            dims.iter().map(|&n| (0..200u32).map(|e| e * e * 31 / (n as u32 + 2) % n as u32).collect()).collect();
        let x = Tensor::new(dims.clone(), indices, (0..200).map(f64::from).collect()).unwrap();
        for ranks in 1..=12 {
            let deal = Deal::new(&x, ranks).unwrap();
            for (mode, &n) in dims.iter().enumerate() {
                let mut held = vec![0; n];
                (0..ranks).flat_map(|rank| deal.held(mode, rank)).for_each(|i| held[i] += 1);
                assert!(held.iter().all(|&x| x == 1), "{ranks} ranks, mode {mode}: {held:?}");
            }
            let blocks: Vec<Tensor<f64>> = (0..ranks).map(|rank| block_of(&x, &deal, rank).unwrap()).collect();
            assert_eq!(blocks.iter().map(Tensor::nnz).sum::<usize>(), x.nnz());
            assert_eq!(blocks.iter().flat_map(Tensor::values).sum::<f64>(), x.values().iter().sum::<f64>());
        }
    }

    #[test]
    fn modes_are_cut_by_their_entries() {
        assert_eq!(cuts(&[0u32, 0, 0, 0, 1, 2, 3, 4], 6, 2).unwrap(), [0, 1, 6]);
        assert_eq!(cuts::<u32>(&[], 6, 3).unwrap(), [0, 2, 4, 6]);
        assert_eq!(cuts(&[5u32; 4], 6, 3).unwrap(), [0, 5, 5, 6]);
    }
}

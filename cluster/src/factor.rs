//! Distributed CP-ALS, medium-grained.
//!
//! The ranks form a grid with one dimension per mode. Each mode is split into as many parts as the grid has ranks along
//! it, balanced by number of entries. A rank has the entries of its block. The ranks whose blocks share a part of a
//! mode form a layer: each owns some of the factor rows of the part, and has a copy of the others for its MTTKRP. The
//! owners sum partial rows of V in rank order, solve for their factor rows, and send them to the layer. Gram matrices
//! and all other sums over rows are accumulated in rank order.
//!
//! Every step ends with a handshake, and so does the preparation of every exchange: a step that fails on one rank fails
//! on all.
//!
//! Source: Smith and Karypis 2016, "A medium-grained algorithm for sparse tensor factorization".

use std::ops::Range;
use std::sync::Arc;

use sparring::algebra::{PlusTimes, Real, Slice};
use sparring::factor::{Agreement, CpMachine, CpRows, CpState, Solve, cp_rows};
use sparring::runtime::engine::bytes_of;
use sparring::tensor::{Kruskal, Mttkrp, MttkrpCache, Norm, Tensor, Variant};
use sparring::{Cpu, Dense, Error, Index, Result};

use crate::cluster::{Cluster, Shared};
use crate::deal::{TensorGrid, sorted};
use crate::grid::cut;
use crate::link::{Link, Parts};
use crate::wire::{broken, collected, values};

/// This rank's part of the MTTKRP.
struct Products<'x, T: Real, I: Index> {
    cpu: &'x Cpu,
    shared: Arc<Shared>,
    grid: Arc<TensorGrid>,
    plan: Mttkrp<'static, T, I>,
    kept: MttkrpCache<T>,
    /// The layer of each mode.
    layers: Vec<Arc<dyn Link>>,
    /// Factor rows of the block's index ranges.
    factors: Vec<Dense<T>>,
    partial: Vec<Dense<T>>,
}

fn rows_of<T: Real>(a: &Dense<T>, rows: Range<usize>) -> Result<Dense<T>> {
    let part = &a.values()[rows.start * a.ncols()..rows.end * a.ncols()];
    Dense::new(rows.len(), a.ncols(), collected(part.len(), part.iter().copied(), "rows of a factor")?)
}

impl<T: Real, I: Index> Products<'_, T, I> {
    /// The factor rows of a mode that a rank of the layer owns, relative to the start of the layer.
    fn owned(&self, mode: usize, number: usize) -> Range<usize> {
        let (rows, all) = (self.partial[mode].nrows(), self.layers[mode].size());
        cut(rows, all, number)..cut(rows, all, number + 1)
    }
}

impl<T: Real, I: Index> CpRows<T> for Products<'_, T, I> {
    fn mttkrp(&mut self, mode: usize, rows: &mut Dense<T>) -> Result<()> {
        let call = self.cpu.mttkrp(PlusTimes::<T>::new(), self.plan.tensor(), &self.factors, mode);
        let made = call.plan(&self.plan).sweep(&mut self.kept).into(&mut self.partial[mode]);
        let (layer, partial) = (&self.layers[mode], &self.partial[mode]);
        let to = (0..layer.size()).map(|number| {
            let rows = self.owned(mode, number);
            bytes_of(Slice::of(&partial.values()[rows.start * partial.ncols()..rows.end * partial.ncols()]))
        });
        let to = self.shared.ready(made.and_then(|()| Parts::of(to)))?;
        for (number, bytes) in layer.exchange(&to)?.iter().enumerate() {
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
        let grid: Vec<String> = self.grid.parts.iter().map(ToString::to_string).collect();
        let entries = self.plan.tensor().nnz();
        format!("a grid of {} ranks; here {entries} entries: {}", grid.join("×"), self.plan.explain())
    }
}

/// All-reduce by `fold`, in rank order.
pub(crate) fn folded(shared: &Shared, sums: &mut [f64], fold: impl Fn(&mut f64, f64)) -> Result<()> {
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

/// CP-ALS state distributed over the ranks.
struct Ranks<'x, T: Real> {
    shared: Arc<Shared>,
    grid: Arc<TensorGrid>,
    /// State of the rows that this rank owns.
    state: Box<dyn CpState<T> + 'x>,
}

fn owned<T: Real>(grid: &TensorGrid, rank: usize, factors: &[Dense<T>]) -> Result<Vec<Dense<T>>> {
    factors.iter().enumerate().map(|(mode, factor)| rows_of(factor, grid.owned(mode, rank))).collect()
}

impl<T: Real> Ranks<'_, T> {
    /// The result of a step, if it succeeded on every rank.
    fn all<R>(&self, made: Result<R>) -> Result<R> {
        Ok(self.shared.finish(made.map(|made| (made, 0)))?.0)
    }
    /// The whole model, gathered from all ranks.
    fn whole(&self) -> Result<Kruskal<T>> {
        let shared = &self.shared;
        let (weights, mine) = shared.ready(self.state.model())?.into_parts();
        let mut factors = Vec::with_capacity(mine.len());
        for (mode, rows) in mine.iter().enumerate() {
            let mine = shared.ready(bytes_of(Slice::of(rows.values())))?;
            let all = shared.world.all_gather(&mine)?;
            let (n, rank) = (self.grid.len(mode), rows.ncols());
            let mut whole = Dense::filled(n, rank, T::ZERO)?;
            for (number, bytes) in all.iter().enumerate() {
                let owned = self.grid.owned(mode, number);
                let to = &mut whole.values_mut()[owned.start * rank..owned.end * rank];
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
    fn normalize(&mut self, mode: usize, norm: Norm) -> Result<()> {
        let made = self.state.normalize(mode, norm);
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
        let rows = owned(&self.grid, self.shared.world.rank(), &factors);
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
    pub(crate) fn cpu(&self) -> Result<&Cpu> {
        self.inner().typed::<Cpu>().ok_or_else(|| Error::Unsupported {
            what: format!("CP on a cluster of {}", self.inner().name()),
            why: "its ranks compute it on processors".into(),
        })
    }
}

/// For a tensor replicated on every rank, each of which uses the entries of its block. The model is whole on every
/// rank. Every rank and every run on the same number of ranks gives the same bits; one rank gives those of [`Cpu`].
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
        if self.size() == 1 {
            return self.cpu()?.cp_state(x, factors, variant);
        }
        let make = || {
            let grid = TensorGrid::new(x.dims(), self.size(), x.nnz(), |mode| sorted(x.indices(mode)), Ok)?;
            let block = block_of(x, &grid, self.rank())?;
            Ok((Arc::new(grid), Arc::new(block)))
        };
        state(self, make, factors, variant)
    }
}

/// The CP-ALS state over the blocks that `make` returns. Collective.
pub(crate) fn state<'x, T: Real, I: Index>(
    cluster: &'x Cluster,
    make: impl FnOnce() -> Result<(Arc<TensorGrid>, Arc<Tensor<T, I>>)>,
    factors: Vec<Dense<T>>,
    variant: Option<Variant>,
) -> Result<Box<dyn CpState<T> + 'x>> {
    let (cpu, shared, me, order) = (cluster.cpu()?, &cluster.0, cluster.rank(), factors.len());
    let columns = factors.first().map_or(0, Dense::ncols);
    let make = || {
        let (grid, block) = make()?;
        let plan = cpu.mttkrp_plan(block, columns, variant)?;
        let mine = owned(&grid, me, &factors)?;
        let of_layer = |mode: usize| rows_of(&factors[mode], grid.layer(mode, me));
        let here = (0..order).map(of_layer).collect::<Result<Vec<_>>>()?;
        let partial = here.iter().map(|a| Dense::filled(a.nrows(), columns, T::ZERO)).collect::<Result<Vec<_>>>()?;
        Ok(((grid, plan, mine, here, partial), 0))
    };
    let ((grid, plan, mine, factors, partial), _) = shared.together("CP", make)?;
    let layers = (0..order).map(|mode| shared.world.split(grid.part(mode, me))).collect::<Result<_>>()?;
    let (kept, shared) = (MttkrpCache::default(), Arc::clone(shared));
    let of = (Arc::clone(&shared), Arc::clone(&grid));
    let products = Products { cpu, shared: of.0, grid: of.1, plan, kept, layers, factors, partial };
    let (state, _) = shared.finish(cp_rows(cpu, mine, Box::new(products)).map(|state| (state, 0)))?;
    Ok(Box::new(Ranks { shared, grid, state }))
}

/// The entries of a rank's block, with indices relative to its start.
fn block_of<T: Real, I: Index>(x: &Tensor<T, I>, grid: &TensorGrid, rank: usize) -> Result<Tensor<T, I>> {
    let layers: Vec<Range<usize>> = (0..x.order()).map(|mode| grid.layer(mode, rank)).collect();
    let is_here = |&e: &usize| layers.iter().enumerate().all(|(mode, rows)| rows.contains(&x.indices(mode)[e].get()));
    let count = (0..x.nnz()).filter(is_here).count();
    let entries = collected(count, (0..x.nnz()).filter(is_here), "entries of a block")?;
    let mut indices = Vec::with_capacity(layers.len());
    for (mode, rows) in layers.iter().enumerate() {
        let of_mode = entries.iter().map(|&e| I::cast(x.indices(mode)[e].get() - rows.start));
        indices.push(collected(count, of_mode, "entries of a block")?);
    }
    let values = collected(count, entries.iter().map(|&e| x.values()[e]), "entries of a block")?;
    Tensor::new(layers.iter().map(Range::len).collect(), indices, values)
}

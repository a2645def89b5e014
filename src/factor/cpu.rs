//! The steps of CP-ALS on the CPU.

use std::ops::Range;

use super::machine::{Agreement, CpMachine, CpRows, CpState, Solve};
use super::rows::{Divide, Dots, Gram, Padded, Times};
use super::solve::pseudo_inverse;
use crate::algebra::{PlusTimes, Real};
use crate::kernels::precompiled;
use crate::par::{Threads, collected, enough, filled, overwrite_blocks};
use crate::simd::dispatch_work;
use crate::tensor::{Kruskal, Mttkrp, MttkrpCache, Norm, Tensor, Variant};
use crate::{Cpu, Dense, Error, Index, Result};

/// Rows per task. The tasks' sums are added in order, so results do not depend on the number of threads.
const ROWS: usize = 512;
/// Upper bound of the R × R matrices in memory while solving a system: the system, its inverse, and intermediates.
const SYSTEM: usize = 8;
/// Maximum number of coordinate-descent rounds for a nonnegative row.
const ROUNDS: usize = 100;

/// A prepared tensor for products with complete factors.
struct Whole<'x, T: Real, I: Index> {
    threads: &'x Threads,
    plan: Mttkrp<'x, T, I>,
    cache: MttkrpCache<T>,
}

/// Factors, the source of their products, and derived quantities.
struct CpuCp<'x, T: Real, I: Index> {
    threads: &'x Threads,
    of: Source<'x, T, I>,
    factors: Vec<Dense<T>>,
    products: Vec<Dense<T>>,
    /// AₙᵀAₙ of each mode, row-major.
    grams: Vec<Vec<f64>>,
    weights: Vec<f64>,
    singular: usize,
}

/// The source of the products.
enum Source<'x, T: Real, I: Index> {
    Whole(Box<Whole<'x, T, I>>),
    Rows(Box<dyn CpRows<T> + 'x>),
}

/// A constructor of [`CpuCp`].
type Make<T, I> =
    for<'x> fn(&'x Cpu, &'x Tensor<T, I>, Vec<Dense<T>>, Option<Variant>) -> Result<Box<dyn CpState<T> + 'x>>;

impl<T: Real, I: Index> CpMachine<T, I> for Cpu {
    fn cp_room(&self, x: &Tensor<T, I>, rank: usize) -> Result<()> {
        room::<T>(self, x.dims(), rank).map(drop)
    }
    fn cp_state<'x>(
        &'x self,
        x: &'x Tensor<T, I>,
        factors: Vec<Dense<T>>,
        variant: Option<Variant>,
    ) -> Result<Box<dyn CpState<T> + 'x>> {
        let make: Make<T, I> = precompiled!(real state: Make<T, I>);
        make(self, x, factors, variant)
    }
}

/// The budget left after the factors of `rank` columns, their products, the Gram matrices, and the workspace for
/// solving one system.
fn room<T>(cpu: &Cpu, dims: &[usize], rank: usize) -> Result<Option<u64>> {
    let rows = dims.iter().map(|&n| n as u128).sum::<u128>();
    let factors = rows.saturating_mul(rank as u128).saturating_mul(2 * size_of::<T>() as u128);
    let squares = (dims.len() + SYSTEM) as u128 * size_of::<f64>() as u128;
    let own = (rank as u128 * rank as u128).saturating_mul(squares).saturating_add(factors);
    let left = match cpu.budget() {
        Some(budget) => match u128::from(budget).checked_sub(own) {
            Some(left) => Some(left as u64),
            None => return Err(Error::Budget { what: "the factors of CP", bytes: own, budget: budget.into() }),
        },
        None => None,
    };
    if enough(own) { Ok(left) } else { Err(Error::OutOfMemory { what: "the factors of CP", bytes: own }) }
}

fn state<'x, T: Real, I: Index>(
    cpu: &'x Cpu,
    x: &'x Tensor<T, I>,
    factors: Vec<Dense<T>>,
    variant: Option<Variant>,
) -> Result<Box<dyn CpState<T> + 'x>> {
    let rank = factors.first().map_or(0, Dense::ncols);
    let budget = room::<T>(cpu, x.dims(), rank)?;
    let plan = Mttkrp::new(cpu.threads(), x.into(), rank, None, variant, budget)?;
    let threads = cpu.threads();
    let whole = Box::new(Whole { threads, plan, cache: MttkrpCache::default() });
    Ok(Box::new(CpuCp::new(threads, factors, Source::Whole(whole))?))
}

/// The steps of CP-ALS on the local rows of factors, a `Dense` for each mode; a distributed machine runs them in each
/// of its processes. [`CpState::model`] has the local rows only.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory); the errors of `products`.
pub fn cp_rows<'x, T: Real>(
    cpu: &'x Cpu,
    factors: Vec<Dense<T>>,
    products: Box<dyn CpRows<T> + 'x>,
) -> Result<Box<dyn CpState<T> + 'x>> {
    let mut made = CpuCp::<T, u32>::new(cpu.threads(), factors, Source::Rows(products))?;
    made.publish_all()?;
    Ok(Box::new(made))
}

impl<'x, T: Real, I: Index> CpuCp<'x, T, I> {
    fn new(threads: &'x Threads, factors: Vec<Dense<T>>, of: Source<'x, T, I>) -> Result<Self> {
        let rank = factors.first().map_or(0, Dense::ncols);
        let (mut products, mut grams) = (Vec::with_capacity(factors.len()), Vec::with_capacity(factors.len()));
        for factor in &factors {
            products.push(Dense::filled(factor.nrows(), rank, T::ZERO)?);
            grams.push(filled(rank * rank, 0.0, "Gram matrices")?);
        }
        let weights = filled(rank, 1.0, "weights")?;
        Ok(Self { threads, of, factors, products, grams, weights, singular: 0 })
    }
    /// Adds the other processes' sums to sums over the local rows.
    fn sum(&self, sums: &mut [f64]) -> Result<()> {
        match &self.of {
            Source::Whole(_) => Ok(()),
            Source::Rows(rows) => rows.sum(sums),
        }
    }
    /// Σᵢ aᵢ Υ aᵢᵀ − 2 vᵢ aᵢᵀ: the part of ‖X − M‖² that depends on the factor.
    fn misfit(&self, a: &Dense<T>, mode: usize, system: &[f64]) -> Result<f64> {
        let mut sum = [misfit(self.threads, a, &self.products[mode], system)?];
        self.sum(&mut sum)?;
        Ok(sum[0])
    }
    fn publish(&mut self, mode: usize) -> Result<()> {
        match &mut self.of {
            Source::Whole(_) => Ok(()),
            Source::Rows(rows) => rows.changed(mode, &self.factors[mode]),
        }
    }
    fn publish_all(&mut self) -> Result<()> {
        (0..self.factors.len()).try_for_each(|mode| self.publish(mode))
    }
}

impl<T: Real, I: Index> CpState<T> for CpuCp<'_, T, I> {
    fn gram(&mut self, mode: usize) -> Result<()> {
        let (a, rank) = (&self.factors[mode], self.weights.len());
        let mut sums = summed(self.threads, a.nrows(), rank * rank, |rows, sums| {
            dispatch_work(Gram { a: &a.values()[rows.start * rank..rows.end * rank], rank, sums });
        })?;
        self.sum(&mut sums)?;
        self.grams[mode] = sums;
        Ok(())
    }

    fn mttkrp(&mut self, mode: usize) -> Result<()> {
        let out = &mut self.products[mode];
        match &mut self.of {
            Source::Whole(whole) => {
                let Whole { threads, plan, cache } = &mut **whole;
                plan.mttkrp_into(threads, PlusTimes::<T>::new(), &self.factors, mode, out, cache)
            }
            Source::Rows(rows) => rows.mttkrp(mode, out),
        }
    }

    fn solve(&mut self, mode: usize, how: Solve) -> Result<()> {
        let rank = self.weights.len();
        let mut system = filled(rank * rank, 1.0, "a system of CP")?;
        for (_, gram) in self.grams.iter().enumerate().filter(|(m, _)| *m != mode) {
            system.iter_mut().zip(gram).for_each(|(x, &g)| *x *= g);
        }
        system.iter_mut().step_by(rank + 1).for_each(|x| *x += how.ridge);
        let (v, a) = (&self.products[mode], &mut self.factors[mode]);
        let weights = &self.weights;
        if how.nonnegative {
            return rows_of(self.threads, a, v, rank, |row, v| descend(&system, weights, row, v));
        }
        let (inverse, singular) = pseudo_inverse(rank, &system)?;
        if !singular {
            return product(self.threads, a, v, &inverse);
        }
        // A direction whose eigenvalue is cut off may carry a part of the previous model. Then the change of minimum
        // norm is taken, which leaves that part unchanged; if rounding spoils even this, the factor stays as it was.
        self.singular += 1;
        let mut before = copied(a)?;
        before.values_mut().chunks_mut(rank).for_each(|row| {
            row.iter_mut().zip(weights).for_each(|(x, &w)| *x = T::from_f64(x.as_f64() * w));
        });
        product(self.threads, a, v, &inverse)?;
        let limit = self.misfit(&before, mode, &system)?;
        // Equal up to rounding of the sums.
        if self.misfit(&self.factors[mode], mode, &system)? <= limit + 1e-14 * limit.abs() {
            return Ok(());
        }
        let (v, a) = (&self.products[mode], &mut self.factors[mode]);
        a.values_mut().copy_from_slice(before.values());
        rows_of(self.threads, a, v, rank, |row, v| {
            let (mut rest, mut change) = (vec![0.0; rank], vec![0.0; rank]);
            times(row, &system, &mut rest);
            rest.iter_mut().zip(v).for_each(|(r, &v)| *r = v - *r);
            times(&rest, &inverse, &mut change);
            row.iter_mut().zip(&change).for_each(|(x, &d)| *x += d);
        })?;
        if self.misfit(&self.factors[mode], mode, &system)? > limit {
            self.factors[mode] = before;
        }
        Ok(())
    }

    fn normalize(&mut self, mode: usize, norm: Norm) -> Result<()> {
        let (a, rank) = (&mut self.factors[mode], self.weights.len());
        let mut norms = crate::tensor::column_norms(a, norm);
        if let Source::Rows(rows) = &self.of {
            rows.norms(norm, &mut norms)?;
        }
        self.weights = norms.iter().map(|n| n.as_f64()).collect();
        let norms = norms.iter().map(|&n| if n == T::ZERO { T::ONE } else { n }).collect::<Vec<_>>();
        let parts = a.values_mut().chunks_mut((ROWS * rank).max(1));
        let parts = collected(parts.len(), parts, "parts of a factor")?;
        crate::par::for_each_part(
            self.threads,
            parts,
            || Ok(()),
            |(), a| {
                dispatch_work(Divide { a, norms: &norms });
                Ok(())
            },
        )?;
        self.publish(mode)
    }

    fn agreement(&mut self, mode: usize) -> Result<Agreement> {
        let (a, v, rank) = (&self.factors[mode], &self.products[mode], self.weights.len());
        let mut inner = summed(self.threads, a.nrows(), rank, |rows, sums| {
            let range = rows.start * rank..rows.end * rank;
            dispatch_work(Dots { a: &a.values()[range.clone()], v: &v.values()[range], sums });
        })?;
        self.sum(&mut inner)?;
        let inner = inner.iter().zip(&self.weights).map(|(x, w)| x * w).sum();
        let mut model = 0.0;
        for (r, w) in self.weights.iter().enumerate() {
            for (s, v) in self.weights.iter().enumerate() {
                model += w * v * self.grams.iter().map(|g| g[r * rank + s]).product::<f64>();
            }
        }
        Ok(Agreement { inner, model, singular: self.singular })
    }

    fn model(&self) -> Result<Kruskal<T>> {
        let factors = self.factors.iter().map(copied).collect::<Result<_>>()?;
        Kruskal::new(self.weights.iter().map(|&w| T::from_f64(w)).collect(), factors)
    }

    fn restart(&mut self, factors: Vec<Dense<T>>) -> Result<()> {
        self.factors = factors;
        self.weights.fill(1.0);
        self.singular = 0;
        if let Source::Whole(whole) = &mut self.of {
            whole.cache = MttkrpCache::default();
        }
        self.publish_all()
    }

    fn explain(&self) -> String {
        match &self.of {
            Source::Whole(whole) => whole.plan.explain(),
            Source::Rows(rows) => rows.explain(),
        }
    }
}

/// Sums of `width` numbers over all rows; `add` accumulates a range of rows.
fn summed(
    threads: &Threads,
    nrows: usize,
    width: usize,
    add: impl Fn(Range<usize>, &mut [f64]) + Sync,
) -> Result<Vec<f64>> {
    // Wide sums over few rows would cost more to write than to compute.
    let rows = ROWS.max(width);
    let tasks = nrows.div_ceil(rows);
    let mut parts = filled(tasks * width, 0.0, "sums over rows")?;
    overwrite_blocks(
        &mut parts,
        threads,
        "cp",
        tasks,
        |t| t * width,
        || Ok(()),
        |(), t, slots| {
            add(t * rows..nrows.min((t + 1) * rows), slots.rest(0.0));
            Ok(())
        },
    )?;
    let mut sums = filled(width, 0.0, "sums over rows")?;
    for part in parts.chunks(width.max(1)) {
        sums.iter_mut().zip(part).for_each(|(sum, &x)| *sum += x);
    }
    Ok(sums)
}

/// A copy of a factor.
pub(super) fn copied<T: Real>(a: &Dense<T>) -> Result<Dense<T>> {
    let values = collected(a.values().len(), a.values().iter().copied(), "factors")?;
    Dense::new(a.nrows(), a.ncols(), values)
}

/// `a` = V M for a square matrix M.
fn product<T: Real>(threads: &Threads, a: &mut Dense<T>, v: &Dense<T>, matrix: &[f64]) -> Result<()> {
    let (rank, matrix) = (a.ncols(), Padded::new(a.ncols(), matrix)?);
    if rank == 0 {
        return Ok(());
    }
    let both = a.values_mut().chunks_mut(ROWS * rank).zip(v.values().chunks(ROWS * rank));
    let parts = collected(both.len(), both, "parts of a factor")?;
    crate::par::for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (a, v)| {
            dispatch_work(Times { a, v, matrix: &matrix });
            Ok(())
        },
    )
}

/// Computes each row of `a` from itself and the row of `v`, in f64.
fn rows_of<T: Real>(
    threads: &Threads,
    a: &mut Dense<T>,
    v: &Dense<T>,
    rank: usize,
    change: impl Fn(&mut [f64], &[f64]) + Sync,
) -> Result<()> {
    if rank == 0 {
        return Ok(());
    }
    let count = a.nrows().div_ceil(ROWS);
    let both = a.values_mut().chunks_mut(ROWS * rank).zip(v.values().chunks(ROWS * rank));
    let parts = collected(count, both, "parts of a factor")?;
    let state = || Ok((vec![0.0; rank], vec![0.0; rank]));
    crate::par::for_each_part(threads, parts, state, |(row, product), (a, v)| {
        for (a, v) in a.chunks_mut(rank).zip(v.chunks(rank)) {
            row.iter_mut().zip(&*a).for_each(|(to, x)| *to = x.as_f64());
            product.iter_mut().zip(v).for_each(|(to, x)| *to = x.as_f64());
            change(row, product);
            a.iter_mut().zip(&*row).for_each(|(to, &x)| *to = T::from_f64(x));
        }
        Ok(())
    })
}

/// `out` = x M.
fn times(x: &[f64], matrix: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (&x, row) in x.iter().zip(matrix.chunks(out.len().max(1))) {
        out.iter_mut().zip(row).for_each(|(out, &m)| *out += x * m);
    }
}

/// Σᵢ aᵢ Υ aᵢᵀ − 2 vᵢ aᵢᵀ: the part of ‖X − M‖² that depends on the factor.
fn misfit<T: Real>(threads: &Threads, a: &Dense<T>, v: &Dense<T>, system: &[f64]) -> Result<f64> {
    let rank = a.ncols();
    let sums = summed(threads, a.nrows(), 1, |rows, sum| {
        let (mut row, mut product) = (vec![0.0; rank], vec![0.0; rank]);
        for i in rows {
            row.iter_mut().zip(a.row(i)).for_each(|(to, x)| *to = x.as_f64());
            times(&row, system, &mut product);
            let terms = row.iter().zip(&product).zip(v.row(i)).map(|((x, y), v)| x * (y - 2.0 * v.as_f64()));
            sum[0] += terms.sum::<f64>();
        }
    })?;
    Ok(sums[0])
}

/// The row a ≥ 0 that minimizes a Υ aᵀ − 2 v aᵀ, by coordinate descent from the previous row, `row` times the weights.
fn descend(system: &[f64], weights: &[f64], row: &mut [f64], v: &[f64]) {
    let rank = row.len();
    row.iter_mut().zip(weights).for_each(|(x, w)| *x = (*x * w).max(0.0));
    for _ in 0..ROUNDS {
        let (mut change, mut size) = (0.0f64, 0.0f64);
        for r in 0..rank {
            let line = &system[r * rank..][..rank];
            let own = line[r];
            if own <= 0.0 {
                row[r] = 0.0;
                continue;
            }
            let slope = v[r] - line.iter().zip(&*row).map(|(s, x)| s * x).sum::<f64>();
            let new = (row[r] + slope / own).max(0.0);
            change = change.max((new - row[r]).abs());
            size = size.max(new);
            row[r] = new;
        }
        if change <= 1e-12 * size {
            break;
        }
    }
}

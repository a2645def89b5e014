//! CP by alternating least squares.

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::cpu::copied;
use super::machine::{CpMachine, Solve};
use crate::algebra::{Plus, Real};
use crate::kernels::precompiled;
use crate::par::{Threads, collected, reserved};
use crate::tensor::{AnyTensor, Kruskal, Norm, Pcg64, Tensor, Variant};
use crate::{Dense, Error, Index, Result};

/// A sweep through all modes, done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// Which start, from 0.
    pub start: usize,
    /// Which sweep of it, from 1.
    pub number: usize,
    /// 1 − ‖X − M‖ / ‖X‖.
    pub fit: f64,
    /// Difference from the fit before; of the first sweep, the fit.
    pub change: f64,
    /// Time since [`CpAls::run`] was called.
    pub elapsed: Duration,
}

type Watch<'a> = Box<dyn Fn(Sweep) -> ControlFlow<()> + 'a>;

/// min ‖X − M‖ over Kruskal tensors M of a given rank: CP by alternating least squares.
///
/// A sweep goes through the modes in their order. For mode n, Aₙ = V Υ⁺ with V = X₍ₙ₎ (⊙_{m ≠ n} Aₘ) and Υ = ⊛_{m ≠ n}
/// AₘᵀAₘ; where components coincide Υ is singular, and the solution of minimum norm is taken. Columns are divided by
/// their 2-norm in the first sweep, later by max(1, max |a|), and the norms are the weights λ. The fit 1 − ‖X − M‖ /
/// ‖X‖ comes from the last V of a sweep; it ends when the fit changes by less than the tolerance. At the end columns
/// have 2-norm 1 and components stand by falling weight. Cost of a sweep: d products of O(d·R·nnz), and O(R²·Σ nₘ).
/// ```
/// use sparring::{Cpu, Tensor, factor::CpAls};
/// // The outer product of (1, 2), (1, 3) and (1, 4).
/// let dense: Vec<f64> =
///     [1.0, 2.0].iter().flat_map(|a| [1.0, 3.0].map(|b| a * b)).flat_map(|ab| [ab, 4.0 * ab]).collect();
/// let x = Tensor::<f64>::from_dense(vec![2, 2, 2], &dense, 0.0)?;
/// let found = CpAls::new(1).run(&Cpu::new(), &x)?;
/// assert!((found.fit - 1.0).abs() < 1e-7);
/// assert!((found.model.weights()[0] - (5.0f64 * 10.0 * 17.0).sqrt()).abs() < 1e-9);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Kolda and Bader 2009, §3.4; Phipps and Kolda 2019, Algorithm 1; norms and stopping as GenTen's.
pub struct CpAls<'a, T = f64> {
    rank: usize,
    sweeps: usize,
    tolerance: f64,
    seed: u64,
    starts: usize,
    solve: Solve,
    variant: Option<Variant>,
    guess: Option<Kruskal<T>>,
    limit: Option<Duration>,
    watch: Option<Watch<'a>>,
}

impl<T: fmt::Debug> fmt::Debug for CpAls<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, sweeps, tolerance, seed, starts, solve, .. } = self;
        write!(
            f,
            "CpAls {{ rank: {rank}, sweeps: {sweeps}, tolerance: {tolerance}, seed: {seed}, starts: {starts}, {solve:?} }}"
        )
    }
}

/// What [`CpAls`] found.
#[derive(Clone, Debug)]
pub struct CpFit<T> {
    /// Columns of 2-norm 1, components by falling weight.
    pub model: Kruskal<T>,
    /// 1 − ‖X − M‖ / ‖X‖.
    pub fit: f64,
    /// Fits after the sweeps of the best start.
    pub fits: Vec<f64>,
    /// Whether the fit changed by less than the tolerance at the end.
    pub converged: bool,
    /// Which start was best, from 0.
    pub start: usize,
    /// Systems of the best start that were singular.
    pub singular: usize,
    /// What was chosen for the products, and why.
    pub explain: String,
    /// Time to prepare the tensor.
    pub setup: Duration,
    /// Time of the products, all starts together.
    pub mttkrp: Duration,
    /// Time in all.
    pub total: Duration,
}

impl<'a, T: Real> CpAls<'a, T> {
    /// `rank` components; at most 100 sweeps, tolerance 10⁻⁴, one start of seed 0.
    #[must_use]
    pub fn new(rank: usize) -> Self {
        Self {
            rank,
            sweeps: 100,
            tolerance: 1e-4,
            seed: 0,
            starts: 1,
            solve: Solve::default(),
            variant: None,
            guess: None,
            limit: None,
            watch: None,
        }
    }
    /// At most so many sweeps of each start.
    #[must_use]
    pub fn sweeps(mut self, sweeps: usize) -> Self {
        self.sweeps = sweeps;
        self
    }
    /// Ends when the fit changes by less; 0 makes all sweeps.
    #[must_use]
    pub fn tol(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }
    /// Starts from factors with elements in \[0, 1), those of NumPy's `Generator(PCG64(seed)).random`, drawn factor
    /// after factor.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// Tries so many starts, of the seeds from [`seed`](Self::seed) on, and keeps the best.
    #[must_use]
    pub fn starts(mut self, starts: usize) -> Self {
        self.starts = starts;
        self
    }
    /// Factors without negative elements: each row by coordinate descent.
    #[must_use]
    pub fn nonnegative(mut self, nonnegative: bool) -> Self {
        self.solve.nonnegative = nonnegative;
        self
    }
    /// Adds ρ ‖Aₙ‖² to what is made least (Tikhonov), ρ ≥ 0.
    #[must_use]
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.solve.ridge = ridge;
        self
    }
    /// Computes the products so.
    #[must_use]
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variant = Some(variant);
        self
    }
    /// Starts from this model, one that was saved for instance, in place of the first random one. Its weights go into
    /// mode 0.
    #[must_use]
    pub fn guess(mut self, model: Kruskal<T>) -> Self {
        self.guess = Some(model);
        self
    }
    /// Ends after the sweep in which so much time has passed.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }
    /// Calls `watch` after each sweep; [`ControlFlow::Break`] ends the run with the model found so far.
    #[must_use]
    pub fn on_sweep(mut self, watch: impl Fn(Sweep) -> ControlFlow<()> + 'a) -> Self {
        self.watch = Some(Box::new(watch));
        self
    }

    /// Runs on `machine`. On the processor the result is the same bits for any number of threads, on processors of one
    /// kind: the R × R systems are solved by faer, which chooses its loops by the processor.
    ///
    /// `x` is a [`Tensor`] or, as [`read_frostt`](crate::io::read_frostt) gives it, an [`AnyTensor`].
    ///
    /// Entries at one place count as their sum. A tensor whose largest entry lies outside 2^±256, of f32 outside 2^±40,
    /// is divided by a power of two first and the weights are multiplied by it: digits are lost only of entries that
    /// are too small beside the largest one to count.
    /// # Errors
    /// [`Error::Argument`] for rank, sweeps or starts of 0, a tolerance or ridge that is negative or NaN, a tensor
    /// whose norm is not finite, and numbers that leave the range on the way; [`Error::Dims`] and [`Error::Shape`] if
    /// the guess does not fit; [`Error::Budget`], [`Error::OutOfMemory`], [`Error::Cancelled`]; what the machine may
    /// fail with.
    pub fn run<M, X: CpTensor<T, M> + ?Sized>(&self, machine: &M, x: &X) -> Result<CpFit<T>> {
        x.decompose(self, machine)
    }

    fn check<I: Index>(&self, x: &Tensor<T, I>) -> Result<()> {
        for (name, count) in [("rank", self.rank), ("sweeps", self.sweeps), ("starts", self.starts)] {
            if count == 0 {
                return Err(Error::Argument { name, message: "0 is not at least 1".to_owned() });
            }
        }
        for (name, number) in [("tolerance", self.tolerance), ("ridge", self.solve.ridge)] {
            if number.is_nan() || number < 0.0 || number.is_infinite() {
                return Err(Error::Argument { name, message: format!("{number} is no number from 0 up") });
            }
        }
        match &self.guess {
            Some(guess) if guess.dims() != x.dims() => {
                Err(Error::Dims { op: "CP", lhs: x.dims().to_vec(), rhs: guess.dims() })
            }
            Some(guess) if guess.rank() != self.rank => {
                Err(Error::Shape { op: "CP", lhs: (1, self.rank), rhs: (1, guess.rank()) })
            }
            _ => Ok(()),
        }
    }

    /// The factors of a start, for a tensor that was divided by 2^`exponent`.
    fn factors<I: Index>(&self, x: &Tensor<T, I>, start: usize, exponent: i32) -> Result<Vec<Dense<T>>> {
        if start == 0
            && let Some(guess) = &self.guess
        {
            let factors = guess.factors().iter().map(copied).collect::<Result<_>>()?;
            let weights = guess.weights().iter().map(|&w| scaled(w, -exponent)).collect();
            let mut guess = Kruskal::new(weights, factors)?;
            guess.distribute(0)?;
            return Ok(guess.into_parts().1);
        }
        random_factors(x.dims(), self.rank, self.seed.wrapping_add(start as u64))
    }
}

/// A sparse tensor that [`CpAls::run`] decomposes on a machine of type M: a [`Tensor`], or an [`AnyTensor`].
///
/// Sealed: the library implements it.
pub trait CpTensor<T: Real, M>: sealed::Sealed {
    /// Runs `als` on `machine`.
    #[doc(hidden)]
    fn decompose(&self, als: &CpAls<'_, T>, machine: &M) -> Result<CpFit<T>>;
}

mod sealed {
    pub trait Sealed {}
    impl<T, I: crate::Index> Sealed for crate::tensor::Tensor<T, I> {}
    impl<T> Sealed for crate::tensor::AnyTensor<T> {}
}

impl<T: Real, I: Index, M: CpMachine<T, I>> CpTensor<T, M> for Tensor<T, I> {
    fn decompose(&self, als: &CpAls<'_, T>, machine: &M) -> Result<CpFit<T>> {
        let run: Run<T, I> = precompiled!(real run: Run<T, I>);
        run(als, machine, self)
    }
}

impl<T: Real, M: CpMachine<T, u32> + CpMachine<T, u64>> CpTensor<T, M> for AnyTensor<T> {
    fn decompose(&self, als: &CpAls<'_, T>, machine: &M) -> Result<CpFit<T>> {
        crate::with_tensor!(self, x => x.decompose(als, machine))
    }
}

/// What runs on any machine.
type Run<T, I> = fn(&CpAls<'_, T>, &dyn CpMachine<T, I>, &Tensor<T, I>) -> Result<CpFit<T>>;

fn run<T: Real, I: Index>(als: &CpAls<'_, T>, machine: &dyn CpMachine<T, I>, x: &Tensor<T, I>) -> Result<CpFit<T>> {
    let began = Instant::now();
    als.check(x)?;
    machine.cp_room(x, als.rank)?;
    let problem = Problem::new(x)?;
    let (x, norm) = (&*problem.x, problem.norm);
    let mut state = machine.cp_state(x, als.factors(x, 0, problem.exponent)?, als.variant)?;
    state.finish()?;
    let (setup, mut mttkrp, mut stopped) = (began.elapsed(), Duration::ZERO, false);
    let mut best: Option<CpFit<T>> = None;
    for start in 0..als.starts {
        if start > 0 {
            state.restart(als.factors(x, start, problem.exponent)?)?;
        }
        let mut fits = Vec::new();
        let (mut converged, mut singular) = (false, 0);
        for mode in 1..x.order() {
            state.gram(mode)?;
        }
        while fits.len() < als.sweeps && !converged && !stopped {
            let norms = if fits.is_empty() { Norm::Two } else { Norm::MaxAtLeastOne };
            for mode in 0..x.order() {
                let product = Instant::now();
                state.mttkrp(mode)?;
                mttkrp += product.elapsed();
                state.solve(mode, als.solve)?;
                state.normalise(mode, norms)?;
                state.gram(mode)?;
            }
            let found = state.agreement(x.order() - 1)?;
            let fit = fit(norm, found.inner, found.model)?;
            let change = fits.last().map_or(fit, |last| fit - last);
            singular = found.singular;
            fits.push(fit);
            converged = fits.len() > 1 && change.abs() < als.tolerance;
            let sweep = Sweep { start, number: fits.len(), fit, change, elapsed: began.elapsed() };
            let wanted = als.watch.as_ref().is_some_and(|watch| watch(sweep).is_break())
                || als.limit.is_some_and(|limit| began.elapsed() >= limit);
            stopped = state.stops(wanted)?;
        }
        let fit = fits.last().copied().unwrap_or(0.0);
        if best.as_ref().is_none_or(|best| fit > best.fit) {
            let (model, explain) = (state.model()?, state.explain());
            let total = Duration::ZERO;
            best = Some(CpFit { model, fit, fits, converged, start, singular, explain, setup, mttkrp, total });
        }
        if stopped {
            break;
        }
    }
    let mut best = best.ok_or(Error::Argument { name: "starts", message: "no start was made".to_owned() })?;
    best.model = problem.scaled_back(best.model)?;
    best.model.arrange();
    let mttkrp = state.products_time()?.unwrap_or(mttkrp);
    (best.mttkrp, best.total) = (mttkrp, began.elapsed());
    Ok(best)
}

/// The tensor as it is computed with: each place once, and no square outside the range of numbers.
struct Problem<'x, T: Clone, I: Index> {
    x: Cow<'x, Tensor<T, I>>,
    /// It is the caller's divided by 2 to this power.
    exponent: i32,
    /// Its norm.
    norm: f64,
}

impl<'x, T: Real, I: Index> Problem<'x, T, I> {
    /// # Errors
    /// [`Error::Argument`] if an entry or the norm is not finite; [`Error::OutOfMemory`].
    fn new(x: &'x Tensor<T, I>) -> Result<Self> {
        let threads = Threads::current();
        let mut x = Cow::Borrowed(x);
        if x.has_repeats(&threads)? {
            x = Cow::Owned(x.summed(&threads, Plus::new())?);
        }
        let largest = x.values().iter().fold(0.0, |most: f64, v| most.max(v.as_f64().abs()));
        let refused = |norm: f64| Error::Argument { name: "x", message: format!("the norm of its entries is {norm}") };
        if let Some(wrong) = x.values().iter().find(|v| !v.is_finite()) {
            return Err(refused(wrong.as_f64().abs()));
        }
        // Where squares, and the model's elements in T, have room, the tensor stays as it is.
        let most = if size_of::<T>() < size_of::<f64>() { 40 } else { 256 };
        let exponent = match exponent_of(largest) {
            e if e.abs() > most => e,
            _ => 0,
        };
        if exponent != 0 {
            let values = x.values().iter().map(|&v| scaled(v, -exponent));
            x = Cow::Owned(x.with_values(collected(x.nnz(), values, "values")?)?);
        }
        let norm = x.values().iter().fold(0.0, |sum, v| sum + v.as_f64() * v.as_f64()).sqrt();
        if !scaled(T::from_f64(norm), exponent).is_finite() {
            return Err(refused(f64::INFINITY));
        }
        Ok(Self { x, exponent, norm })
    }
    /// The model of the caller's tensor.
    /// # Errors
    /// [`Error::Argument`] if a weight leaves the range of T.
    fn scaled_back(&self, model: Kruskal<T>) -> Result<Kruskal<T>> {
        if self.exponent == 0 {
            return Ok(model);
        }
        let (weights, factors) = model.into_parts();
        let weights: Vec<T> = weights.into_iter().map(|w| scaled(w, self.exponent)).collect();
        if weights.iter().all(|w| w.is_finite()) { Kruskal::new(weights, factors) } else { Err(out_of_range()) }
    }
}

/// The power of two at or below a positive number; 0 of 0.
fn exponent_of(x: f64) -> i32 {
    if x > 0.0 && x.is_finite() { x.log2().floor() as i32 } else { 0 }
}

/// x · 2^`exponent`, in two steps, as the power alone may leave the range.
fn scaled<T: Real>(x: T, exponent: i32) -> T {
    let half = exponent / 2;
    T::from_f64(x.as_f64() * 2f64.powi(half) * 2f64.powi(exponent - half))
}

fn out_of_range() -> Error {
    Error::Argument { name: "x", message: "its model leaves the range of numbers: scale the tensor".to_owned() }
}

/// Factors with elements in [0, 1): NumPy's `Generator(PCG64(seed)).random`, factor after factor.
fn random_factors<T: Real>(dims: &[usize], rank: usize, seed: u64) -> Result<Vec<Dense<T>>> {
    let mut rng = Pcg64::new(seed);
    let mut factors = Vec::with_capacity(dims.len());
    for &n in dims {
        let len = n.saturating_mul(rank);
        let mut values = reserved(len, "factors")?;
        values.extend((0..len).map(|_| T::from_f64(rng.unit())));
        factors.push(Dense::new(n, rank, values)?);
    }
    Ok(factors)
}

/// 1 − ‖X − M‖ / ‖X‖, from ‖X‖, ⟨X, M⟩ and ‖M‖². A tensor of zeros is fitted by nothing.
fn fit(norm: f64, inner: f64, model: f64) -> Result<f64> {
    let square = norm * norm + model - 2.0 * inner;
    if !square.is_finite() {
        return Err(out_of_range());
    }
    let residual = square.max(0.0).sqrt();
    Ok(if residual == 0.0 { 1.0 } else { 1.0 - residual / norm })
}

//! CP decomposition by alternating least squares.

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

/// Progress after a sweep through all modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// Number of the start, from 0.
    pub start: usize,
    /// Number of the sweep within the start, from 1.
    pub number: usize,
    /// 1 − ‖X − M‖ / ‖X‖.
    pub fit: f64,
    /// Change of the fit since the previous sweep; for the first sweep the fit itself.
    pub change: f64,
    /// Time since [`CpAls::run`] was called.
    pub elapsed: Duration,
}

type Watch<'a> = Box<dyn Fn(Sweep) -> ControlFlow<()> + 'a>;

/// min ‖X − M‖ over Kruskal tensors M of a given rank: CP by alternating least squares.
///
/// A sweep updates the modes in order. For mode n, Aₙ = V Υ⁺ with V = X₍ₙ₎ (⊙_{m ≠ n} Aₘ) and Υ = ⊛_{m ≠ n} AₘᵀAₘ;
/// where components coincide, Υ is singular and the minimum-norm solution is taken. Columns are divided by their 2-norm
/// in the first sweep, later by max(1, max |a|); these norms are the weights λ. The fit 1 − ‖X − M‖ / ‖X‖ is computed
/// from the last V of a sweep. Iteration ends when the fit changes by less than the tolerance. In the result columns
/// have 2-norm 1 and components are sorted by decreasing weight. Cost of a sweep: d products of O(d·R·nnz), and
/// O(R²·Σ nₘ).
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
/// Source: Kolda and Bader 2009, §3.4; Phipps and Kolda 2019, Algorithm 1; norms and stopping rule as in GenTen.
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

/// The result of [`CpAls`].
#[derive(Clone, Debug)]
pub struct CpFit<T> {
    /// The model, with columns of 2-norm 1 and components by decreasing weight.
    pub model: Kruskal<T>,
    /// 1 − ‖X − M‖ / ‖X‖.
    pub fit: f64,
    /// Fit after each sweep of the best start.
    pub fits: Vec<f64>,
    /// Whether the last change of the fit was below the tolerance.
    pub converged: bool,
    /// Number of the best start, from 0.
    pub start: usize,
    /// Number of singular systems in the best start.
    pub singular: usize,
    /// The method chosen for the products, and the reason.
    pub explain: String,
    /// Time to prepare the tensor.
    pub setup: Duration,
    /// Time of the products, summed over all starts.
    pub mttkrp: Duration,
    /// Total time.
    pub total: Duration,
}

impl<'a, T: Real> CpAls<'a, T> {
    /// `rank` components; at most 100 sweeps, tolerance 10⁻⁴, one start with seed 0.
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
    /// Maximum number of sweeps of each start.
    #[must_use]
    pub fn sweeps(mut self, sweeps: usize) -> Self {
        self.sweeps = sweeps;
        self
    }
    /// Stops when the fit changes by less than `tolerance`; with 0 all sweeps are made.
    #[must_use]
    pub fn tol(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }
    /// Seeds the initial factors, whose elements in \[0, 1) are those of NumPy's `Generator(PCG64(seed)).random`, drawn
    /// factor by factor.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// Runs `starts` starts, with consecutive seeds from [`seed`](Self::seed), and returns the best.
    #[must_use]
    pub fn starts(mut self, starts: usize) -> Self {
        self.starts = starts;
        self
    }
    /// Constrains factors to be nonnegative; each row is solved by coordinate descent.
    #[must_use]
    pub fn nonnegative(mut self, nonnegative: bool) -> Self {
        self.solve.nonnegative = nonnegative;
        self
    }
    /// Adds ρ ‖Aₙ‖² to the objective (Tikhonov regularization), ρ ≥ 0.
    #[must_use]
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.solve.ridge = ridge;
        self
    }
    /// Computes the products with `variant`.
    #[must_use]
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variant = Some(variant);
        self
    }
    /// Starts from this model, e.g. a saved one, instead of the first random guess. Its weights are multiplied into
    /// mode 0.
    #[must_use]
    pub fn guess(mut self, model: Kruskal<T>) -> Self {
        self.guess = Some(model);
        self
    }
    /// Stops after the sweep in which this time has elapsed.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }
    /// Calls `watch` after each sweep; [`ControlFlow::Break`] stops the run and returns the current model.
    #[must_use]
    pub fn on_sweep(mut self, watch: impl Fn(Sweep) -> ControlFlow<()> + 'a) -> Self {
        self.watch = Some(Box::new(watch));
        self
    }

    /// Runs on `machine`. On the CPU the result is bitwise the same for any number of threads on the same CPU model;
    /// across CPU models it may differ, since faer, which solves the R × R systems, selects its kernels by the CPU.
    ///
    /// `x` is a [`Tensor`], or an [`AnyTensor`] as returned by [`read_frostt`](crate::io::read_frostt).
    ///
    /// Duplicate entries count as their sum. A tensor whose largest entry lies outside 2^±256, for f32 outside 2^±40,
    /// is first divided by a power of two, and the weights are multiplied by it. Only entries negligible beside the
    /// largest one lose digits.
    /// # Errors
    /// [`Error::Argument`] if rank, sweeps or starts are 0, if the tolerance or ridge is negative or NaN, if the norm
    /// of the tensor is not finite, or if intermediate numbers overflow; [`Error::Dims`] and [`Error::Shape`] if the
    /// guess does not match; [`Error::Budget`], [`Error::OutOfMemory`], [`Error::Cancelled`]; errors of the machine.
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
                return Err(Error::Argument {
                    name,
                    message: format!("{number} is not a finite number of at least 0"),
                });
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

    /// The initial factors of a start, for a tensor that was divided by 2^`exponent`.
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

/// A sparse tensor that [`CpAls::run`] decomposes on a machine of type M: a [`Tensor`] or an [`AnyTensor`].
///
/// Sealed: implemented by this library only.
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

/// The algorithm, precompiled for common types, on any machine.
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
                state.normalize(mode, norms)?;
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

/// The tensor prepared for the algorithm: without duplicates, scaled so that no square overflows or underflows.
struct Problem<'x, T: Clone, I: Index> {
    x: Cow<'x, Tensor<T, I>>,
    /// `x` is the caller's tensor divided by 2 to this power.
    exponent: i32,
    /// Norm of `x`.
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
        // The tensor stays unscaled where squares, and the model's elements in T, are safely in range.
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
    /// The model scaled back to the caller's tensor.
    /// # Errors
    /// [`Error::Argument`] if a weight exceeds the range of T.
    fn scaled_back(&self, model: Kruskal<T>) -> Result<Kruskal<T>> {
        if self.exponent == 0 {
            return Ok(model);
        }
        let (weights, factors) = model.into_parts();
        let weights: Vec<T> = weights.into_iter().map(|w| scaled(w, self.exponent)).collect();
        if weights.iter().all(|w| w.is_finite()) { Kruskal::new(weights, factors) } else { Err(out_of_range()) }
    }
}

/// Exponent of the greatest power of two that is at most `x`; 0 for `x` = 0.
fn exponent_of(x: f64) -> i32 {
    if x > 0.0 && x.is_finite() { x.log2().floor() as i32 } else { 0 }
}

/// x · 2^`exponent`, in two steps since the power alone may overflow.
fn scaled<T: Real>(x: T, exponent: i32) -> T {
    let half = exponent / 2;
    T::from_f64(x.as_f64() * 2f64.powi(half) * 2f64.powi(exponent - half))
}

fn out_of_range() -> Error {
    Error::Argument { name: "x", message: "the numbers of its model overflow: scale the tensor".to_owned() }
}

/// Random factors with elements in [0, 1): NumPy's `Generator(PCG64(seed)).random`, factor by factor.
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

/// 1 − ‖X − M‖ / ‖X‖, from ‖X‖, ⟨X, M⟩ and ‖M‖². It is 1 where X and M are both zero.
fn fit(norm: f64, inner: f64, model: f64) -> Result<f64> {
    let square = norm * norm + model - 2.0 * inner;
    if !square.is_finite() {
        return Err(out_of_range());
    }
    let residual = square.max(0.0).sqrt();
    Ok(if residual == 0.0 { 1.0 } else { 1.0 - residual / norm })
}

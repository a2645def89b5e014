//! Kruskal tensors: sums of components of rank one.

use super::Tensor;
use super::convert::scaled_norm;
use crate::algebra::Real;
use crate::par::{collected, filled, out_of_memory};
use crate::{Dense, Error, Index, Result};

/// The norm by which the columns of the factors are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// √Σ a².
    Two,
    /// max(1, max |a|): columns whose elements are all within [−1, 1] stay unchanged.
    MaxAtLeastOne,
    /// Σ |a|.
    One,
}

/// M(i₀, …, i_{d−1}) = Σᵣ λᵣ A₀(i₀, r) · … · A_{d−1}(i_{d−1}, r): R components, each a product of one column of every
/// factor.
/// ```
/// use sparring::{Dense, tensor::Kruskal};
/// let m = Kruskal::new(vec![2.0], vec![Dense::new(2, 1, vec![1.0, 3.0])?, Dense::new(2, 1, vec![1.0, 5.0])?])?;
/// assert_eq!(m.to_dense()?, [2.0, 10.0, 6.0, 30.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// With the feature `serde` it is written and read as `{"weights": [λ…], "factors": [[[row…]…]…]}`, factors row by row.
///
/// Source: Kolda and Bader 2009, §3; Phipps and Kolda 2019, §2.
#[derive(Clone, Debug, PartialEq)]
pub struct Kruskal<T> {
    weights: Vec<T>,
    factors: Vec<Dense<T>>,
}

impl<T: Real> Kruskal<T> {
    /// From the weights λ and one factor n × R for each mode.
    /// # Errors
    /// [`Error::Argument`] if there is no factor; [`Error::Shape`] if a factor has another number of columns than there
    /// are weights.
    pub fn new(weights: Vec<T>, factors: Vec<Dense<T>>) -> Result<Self> {
        if factors.is_empty() || factors.len() > super::MAX_ORDER {
            let message = format!("a Kruskal tensor has 1 to {} factors, not {}", super::MAX_ORDER, factors.len());
            return Err(Error::Argument { name: "factors", message });
        }
        if let Some(factor) = factors.iter().find(|f| f.ncols() != weights.len()) {
            return Err(Error::Shape { op: "Kruskal tensor", lhs: (1, weights.len()), rhs: factor.shape() });
        }
        Ok(Self { weights, factors })
    }
    /// Number of modes, d.
    pub fn order(&self) -> usize {
        self.factors.len()
    }
    /// Number of components, R.
    pub fn rank(&self) -> usize {
        self.weights.len()
    }
    /// Size of each mode.
    pub fn dims(&self) -> Vec<usize> {
        self.factors.iter().map(Dense::nrows).collect()
    }
    /// λ.
    pub fn weights(&self) -> &[T] {
        &self.weights
    }
    /// A₀ … A_{d−1}.
    pub fn factors(&self) -> &[Dense<T>] {
        &self.factors
    }
    /// λ and A₀ … A_{d−1}.
    pub fn into_parts(self) -> (Vec<T>, Vec<Dense<T>>) {
        (self.weights, self.factors)
    }

    /// Divides each column of the factors by its norm and multiplies the weight by it; columns of zeros stay unchanged.
    pub fn normalize(&mut self, norm: Norm) {
        for factor in &mut self.factors {
            let norms = column_norms(factor, norm);
            divide_columns(factor, &norms);
            self.weights.iter_mut().zip(&norms).for_each(|(w, &n)| *w = *w * n);
        }
    }

    /// Multiplies the weights into the factor of `mode`: the model stays the same, all weights become 1.
    /// # Errors
    /// [`Error::Argument`] if there is no such mode.
    pub fn distribute(&mut self, mode: usize) -> Result<()> {
        super::order::check_mode(self.order(), "mode", mode)?;
        let (factor, rank) = (&mut self.factors[mode], self.weights.len());
        for row in factor.values_mut().chunks_mut(rank.max(1)) {
            row.iter_mut().zip(&self.weights).for_each(|(a, &w)| *a = *a * w);
        }
        self.weights.fill(T::ONE);
        Ok(())
    }

    /// Normal form: columns of 2-norm 1, weights not negative (the sign goes to the first factor), components by
    /// decreasing weight, NaN last.
    pub fn arrange(&mut self) {
        self.normalize(Norm::Two);
        let rank = self.rank();
        for (r, w) in self.weights.iter_mut().enumerate().filter(|(_, w)| **w < T::ZERO) {
            *w = -*w;
            self.factors[0].values_mut().iter_mut().skip(r).step_by(rank).for_each(|a| *a = -*a);
        }
        let mut order: Vec<usize> = (0..rank).collect();
        let key = |r: usize| if self.weights[r].is_nan() { T::neg_infinity() } else { self.weights[r] };
        order.sort_by(|&a, &b| key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal));
        self.weights = order.iter().map(|&r| self.weights[r]).collect();
        let mut old = vec![T::ZERO; rank];
        for factor in &mut self.factors {
            for row in factor.values_mut().chunks_mut(rank.max(1)) {
                old.copy_from_slice(row);
                row.iter_mut().zip(&order).for_each(|(a, &r)| *a = old[r]);
            }
        }
    }

    /// ⟨M, N⟩ = Σᵣₛ λᵣ μₛ Πₙ (Aₙᵀ Bₙ)(r, s).
    /// # Errors
    /// [`Error::Dims`] if the dimensions differ.
    pub fn inner(&self, other: &Self) -> Result<T> {
        if self.dims() != other.dims() {
            return Err(Error::Dims { op: "inner product", lhs: self.dims(), rhs: other.dims() });
        }
        let mut sums =
            self.weights.iter().map(|&w| other.weights.iter().map(|&v| w * v).collect()).collect::<Vec<Vec<T>>>();
        for (a, b) in self.factors.iter().zip(&other.factors) {
            for (r, row) in sums.iter_mut().enumerate() {
                for (s, sum) in row.iter_mut().enumerate() {
                    *sum = *sum * column_product(a, r, b, s);
                }
            }
        }
        Ok(sums.iter().flatten().fold(T::ZERO, |sum, &x| sum + x))
    }

    /// ‖M‖ = √⟨M, M⟩; 0 where rounding makes the square negative.
    pub fn norm(&self) -> T {
        self.inner(self).map_or(T::ZERO, |square| square.max(T::ZERO).sqrt())
    }

    /// ⟨X, M⟩ = Σ x M(i₀, …), over the entries of X.
    /// # Errors
    /// [`Error::Dims`] if the dimensions differ.
    pub fn inner_with<I: Index>(&self, x: &Tensor<T, I>) -> Result<T> {
        self.check(x, "inner product")?;
        let products = x.values().iter().enumerate().map(|(e, &v)| v * self.at(x, e));
        Ok(products.fold(T::ZERO, |sum, p| sum + p))
    }

    /// M at the indices of the entries of `x`.
    /// # Errors
    /// [`Error::Dims`] if the dimensions differ; [`Error::OutOfMemory`].
    pub fn values_at<I: Index>(&self, x: &Tensor<T, I>) -> Result<Vec<T>> {
        self.check(x, "values of a Kruskal tensor")?;
        collected(x.nnz(), (0..x.nnz()).map(|e| self.at(x, e)), "values of a Kruskal tensor")
    }

    /// All elements, the last mode varying fastest.
    /// # Errors
    /// [`Error::OutOfMemory`] if there are too many elements.
    pub fn to_dense(&self) -> Result<Vec<T>> {
        let len = self.factors.iter().try_fold(1usize, |n, f| n.checked_mul(f.nrows()));
        let len = len.ok_or_else(|| out_of_memory::<T>("a dense tensor", usize::MAX))?;
        let mut dense = filled(len, T::ZERO, "a dense tensor")?;
        let mut index = vec![0; self.order()];
        for x in &mut dense {
            *x = self.element(&index);
            for (i, factor) in index.iter_mut().zip(&self.factors).rev() {
                *i += 1;
                if *i < factor.nrows() {
                    break;
                }
                *i = 0;
            }
        }
        Ok(dense)
    }

    /// Similarity of two models, from 0 to 1: the mean over matched components of
    /// `(1 − |λ − μ| / max(λ, μ)) · Πₙ |aₙᵀ bₙ|` with normalized columns. Components are matched one to one, greedily
    /// by decreasing score.
    ///
    /// Components without a partner score 0. With `weights` false the factor with λ and μ is omitted.
    /// Source: the factor match score of Acar, Dunlavy, Kolda and Mørup 2011, as in Tensor Toolbox's `score`.
    /// # Errors
    /// [`Error::Dims`] if the dimensions differ.
    pub fn match_score(&self, other: &Self, weights: bool) -> Result<f64> {
        if self.dims() != other.dims() {
            return Err(Error::Dims { op: "factor match score", lhs: self.dims(), rhs: other.dims() });
        }
        let (mut a, mut b) = (self.clone(), other.clone());
        a.arrange();
        b.arrange();
        let similarity = |r: usize, s: usize| {
            let (w, v) = (a.weights[r].as_f64(), b.weights[s].as_f64());
            let largest = w.max(v);
            let penalty = if weights && largest > 0.0 { 1.0 - (w - v).abs() / largest } else { 1.0 };
            a.factors.iter().zip(&b.factors).fold(penalty, |p, (x, y)| p * column_product(x, r, y, s).as_f64().abs())
        };
        let mut pairs: Vec<(f64, usize, usize)> = (0..a.rank())
            .flat_map(|r| (0..b.rank()).map(move |s| (r, s)))
            .map(|(r, s)| (similarity(r, s), r, s))
            .collect();
        pairs.sort_by(|x, y| y.0.total_cmp(&x.0));
        let (mut left, mut right) = (vec![true; a.rank()], vec![true; b.rank()]);
        let mut sum = 0.0;
        for (score, r, s) in pairs {
            if left[r] && right[s] {
                (left[r], right[s]) = (false, false);
                sum += score;
            }
        }
        let components = a.rank().max(b.rank());
        Ok(if components == 0 { 1.0 } else { sum / components as f64 })
    }

    fn check<I: Index>(&self, x: &Tensor<T, I>, op: &'static str) -> Result<()> {
        if self.dims() == x.dims() { Ok(()) } else { Err(Error::Dims { op, lhs: x.dims().to_vec(), rhs: self.dims() }) }
    }
    fn at<I: Index>(&self, x: &Tensor<T, I>, e: usize) -> T {
        (0..self.rank()).fold(T::ZERO, |sum, r| {
            let product = |p: T, (f, list): (&Dense<T>, &Vec<I>)| p * f.row(list[e].get())[r];
            sum + self.factors.iter().zip(x.all_indices()).fold(self.weights[r], product)
        })
    }
    fn element(&self, index: &[usize]) -> T {
        (0..self.rank()).fold(T::ZERO, |sum, r| {
            sum + self.factors.iter().zip(index).fold(self.weights[r], |p, (f, &i)| p * f.row(i)[r])
        })
    }
}

/// Σᵢ a(i, r) · b(i, s).
fn column_product<T: Real>(a: &Dense<T>, r: usize, b: &Dense<T>, s: usize) -> T {
    (0..a.nrows()).fold(T::ZERO, |sum, i| sum + a.row(i)[r] * b.row(i)[s])
}

/// The norm of each column.
pub(crate) fn column_norms<T: Real>(a: &Dense<T>, norm: Norm) -> Vec<T> {
    let mut norms = vec![if norm == Norm::MaxAtLeastOne { T::ONE } else { T::ZERO }; a.ncols()];
    for row in a.values().chunks(a.ncols().max(1)) {
        for (n, &x) in norms.iter_mut().zip(row) {
            *n = match norm {
                Norm::Two => *n + x * x,
                Norm::One => *n + x.abs(),
                Norm::MaxAtLeastOne => {
                    if x.abs() > *n || x.is_nan() {
                        x.abs()
                    } else {
                        *n
                    }
                }
            };
        }
    }
    if norm == Norm::Two {
        for (r, n) in norms.iter_mut().enumerate() {
            let plain = n.sqrt();
            *n = if plain.is_normal() { plain } else { column_norm(a, r) };
        }
    }
    norms
}

/// The 2-norm of column `r` from scaled values, for a column whose squares overflow or underflow.
fn column_norm<T: Real>(a: &Dense<T>, r: usize) -> T {
    let column: Vec<T> = a.values().iter().copied().skip(r).step_by(a.ncols()).collect();
    scaled_norm(&column)
}

/// Divides each column by its norm unless the norm is 0.
pub(crate) fn divide_columns<T: Real>(a: &mut Dense<T>, norms: &[T]) {
    let columns = a.ncols().max(1);
    for row in a.values_mut().chunks_mut(columns) {
        row.iter_mut().zip(norms).filter(|(_, n)| **n != T::ZERO).for_each(|(x, &n)| *x = *x / n);
    }
}

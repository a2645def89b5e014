//! Rescaled loops, for rows whose powers overflow or underflow: they run on scaled rows, and return distances in the
//! unit of the original rows.
//!
//! A sum over common columns cannot distinguish two differences that both underflow in it. Where a norm's sum is too
//! small to be trusted, or has cancelled, the pair is therefore recomputed over its union, by `m (Σ (|x−y|/m)^p)^(1/p)`
//! with m the largest difference. Keys are distances, which have a wider range than their powers.

#[cfg(feature = "cuda")]
use std::sync::Arc;

use super::dense::{Dense, QueryRows};
use super::exponents::{Limits, times_two_to};
use super::float::Float;
use super::loops::{Facts, Loops, NormsOf, for_union};
use super::recipe::{DisjointOrder, Invariance, Side};
use super::tile::{Indexed, Query};
use crate::algebra::Num;

/// Differences that are raised to a power and added at a time.
const BLOCK: usize = 64;
const COLUMNS: [u32; BLOCK] = {
    let mut columns = [0; BLOCK];
    let mut n = 0;
    while n < BLOCK {
        columns[n] = n as u32;
        n += 1;
    }
    columns
};

/// The loops of a metric, for rows in units of 2^`exponent`.
pub(super) struct Rescaled<W> {
    pub(super) inner: Box<dyn Loops<W>>,
    pub(super) exponent: i32,
}

impl<W: Float> Rescaled<W> {
    /// The `power` of a norm, whose keys are distances; `None` for other metrics.
    fn norm(&self) -> Option<i32> {
        match self.inner.invariance() {
            Invariance::Norm { power, .. } => Some(power),
            _ => None,
        }
    }
    /// The exponent that converts a distance of scaled rows to the unit of the rows themselves.
    fn unit(&self) -> i32 {
        match self.inner.invariance() {
            Invariance::Norm { power, .. } => power * self.exponent,
            // An integer, because the exponent is even.
            Invariance::Degree(degree) => (degree * f64::from(self.exponent)) as i32,
            _ => 0,
        }
    }
    fn finished(&self, keys: &mut [f64]) {
        self.inner.finish(keys);
        let unit = self.unit();
        keys.iter_mut().for_each(|key| *key = times_two_to(*key, unit));
    }
    /// `m^power (Σ (|x−y|/m)^p)^(power/p)`.
    fn of_differences(&self, x: (&[u32], &[W]), y: (&[u32], &[W]), power: i32) -> f64 {
        let (mut most, mut is_number) = (0.0f64, true);
        for_union(x, y, W::ZERO, |a, b| {
            let d = a.abs_diff(b).as_f64();
            is_number &= !d.is_nan();
            most = most.max(d);
        });
        if !is_number || most == 0.0 || most.is_infinite() {
            return if is_number { most } else { f64::NAN };
        }
        let (mut sum, mut parts, mut n) = (0.0, [W::ZERO; BLOCK], 0);
        let mut add = |parts: &[W]| {
            sum += self.inner.exact((&COLUMNS[..parts.len()], parts), (&[], &[]), [[W::ZERO; 2]; 2]).as_f64();
        };
        for_union(x, y, W::ZERO, |a, b| {
            parts[n] = (a.abs_diff(b).as_f64() / most).cast::<W>();
            n += 1;
            if n == BLOCK {
                add(&parts);
                n = 0;
            }
        });
        add(&parts[..n]);
        let mut root = [sum];
        self.inner.finish(&mut root);
        let most = times_two_to(most, self.exponent);
        if power == 2 { root[0] * most * most } else { root[0] * most }
    }
}

impl<W: Float> Loops<W> for Rescaled<W> {
    fn facts(&self) -> Facts {
        Facts { disjoint_order: DisjointOrder::Unknown, queries_all: false, ..self.inner.facts() }
    }
    fn sums(&self, side: Side, values: &[W], ncols: usize) -> [W; 2] {
        self.inner.sums(side, values, ncols)
    }
    fn entries(&self, side: Side, sums: [W; 2], ncols: usize, values: &mut [W]) {
        self.inner.entries(side, sums, ncols, values);
    }
    fn norms(&self, side: Side, sums: [W; 2], nnz: usize, ncols: usize) -> [W; 2] {
        self.inner.norms(side, sums, nnz, ncols)
    }
    fn add(&self, row: Query<'_, W>, tile: &Indexed<W>, sums: &mut [W], shared: &mut [W]) {
        self.inner.add(row, tile, sums, shared);
    }
    fn add_dense(&self, queries: &QueryRows<'_, W>, tile: &Dense<W>, half: bool, sums: &mut [W]) {
        self.inner.add_dense(queries, tile, half, sums);
    }
    fn keys(&self, x: [W; 2], y: NormsOf<'_, W>, sums: &[W], shared: &[W], keys: &mut [f64]) -> bool {
        let any_near = self.inner.keys(x, y, sums, shared, keys);
        any_near || self.norm().is_some()
    }
    fn refine(
        &self,
        x: [W; 2],
        y: NormsOf<'_, W>,
        keys: &mut [f64],
        skip: Option<usize>,
        exact: &mut dyn FnMut(usize) -> W,
    ) {
        if self.norm().is_none() {
            return self.inner.refine(x, y, keys, skip, exact);
        }
        // Keys that have to be recomputed are NaN until then.
        self.inner.refine(x, y, keys, skip, &mut |_| f64::NAN.cast());
        let trusted = Limits::of::<W>().trusted();
        for (j, key) in keys.iter_mut().enumerate() {
            // A row's own sum may be ∞ − ∞ although its entries are finite.
            let trusted = *key >= trusted && key.is_finite() || skip == Some(j);
            *key = if trusted { *key } else { f64::NAN };
        }
        self.finished(keys);
        for (j, key) in keys.iter_mut().enumerate().filter(|(_, key)| key.is_nan()) {
            *key = exact(j).as_f64();
        }
    }
    fn exact(&self, x: (&[u32], &[W]), y: (&[u32], &[W]), norms: [[W; 2]; 2]) -> W {
        match self.norm() {
            Some(power) => self.of_differences(x, y, power).cast(),
            None => self.inner.exact(x, y, norms),
        }
    }
    fn finish(&self, keys: &mut [f64]) {
        if self.norm().is_none() {
            self.finished(keys);
        }
    }
    #[cfg(feature = "cuda")]
    fn text(&self) -> Option<Arc<str>> {
        None
    }
}

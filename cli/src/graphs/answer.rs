//! What an algorithm found, as it is printed, written and drawn.

use serde_json::Value;
use sparring::runtime::Matrix;

use crate::plot::Curve;

/// What an algorithm found.
pub(crate) struct Answer {
    /// In words.
    pub(crate) text: String,
    pub(crate) figures: Vec<(&'static str, Value)>,
    /// A number for each vertex, by which they are listed.
    pub(crate) scores: Option<Vec<f64>>,
    /// What is written.
    pub(crate) result: Option<Matrix>,
    pub(crate) figure: Curve,
}

/// The vertices of the largest scores, the largest first, the least vertex first among equals; at most `top`.
pub(super) fn highest(scores: &[f64], top: usize) -> Vec<(usize, f64)> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let by = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    if top < order.len() {
        order.select_nth_unstable_by(top, by);
        order.truncate(top);
    }
    order.sort_unstable_by(by);
    order.into_iter().map(|v| (v, scores[v])).collect()
}

/// Scores against their ranks, of those that are positive.
pub(super) fn ranked(axis: &'static str, scores: &[f64]) -> Curve {
    let mut sorted: Vec<f64> = scores.iter().copied().filter(|x| *x > 0.0 && x.is_finite()).collect();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    Curve::logarithmic("rank of the vertex", axis, (1..).zip(sorted).map(|(k, x)| (f64::from(k), x)).collect())
}

/// Sizes of parts that vertices are labelled with, the largest first, and as a curve.
pub(super) fn sizes(what: &'static str, labels: &[u32]) -> (Vec<u64>, Curve) {
    let mut counts = vec![0u64; labels.len()];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    counts.retain(|&count| count > 0);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let points = (1..).zip(&counts).map(|(k, &n)| (f64::from(k), n as f64)).collect();
    (counts, Curve::logarithmic(what, "vertices", points))
}

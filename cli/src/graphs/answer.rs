//! What an algorithm computed, and the table, figure and ranking made of it on request.

use serde_json::Value;
use sparring::algebra::Num;
use sparring::graph::{Graph, UNREACHED};
use sparring::par::filled;
use sparring::prelude::Plus;
use sparring::runtime::Matrix;
use sparring::{Coo, Csr, Error, Result};

use crate::plot::Curve;

/// The result of an algorithm.
pub(crate) struct Answer {
    /// The summary that is printed.
    pub(crate) text: String,
    /// The same as keys of JSON.
    pub(crate) figures: Vec<(&'static str, Value)>,
    pub(crate) values: Values,
    /// Written in place of the values.
    pub(crate) parents: Option<Vec<u32>>,
    pub(crate) figure: Figure,
}

/// The values of a result.
pub(crate) enum Values {
    /// A number for each vertex, [`UNREACHED`] for none.
    Numbers(Vec<u32>),
    /// A score for each vertex, infinite for none.
    Scores(Vec<f64>),
    /// Edges with a number each.
    Edges(Vec<(u32, u32)>, Vec<u32>),
    /// Edges of the graph, whose weights are their values.
    Forest(Vec<(u32, u32)>),
}

/// What a figure shows.
pub(crate) enum Figure {
    /// Values by rank; the name of the values.
    Ranked(&'static str),
    /// Sizes of the sets of vertices with equal numbers, by rank; the name of the rank.
    Sizes(&'static str),
    /// Numbers of vertices by their distance from the source.
    Levels(Vec<u64>),
    /// Degrees by rank, for results that have no distribution.
    Degrees,
}

impl Answer {
    /// The table that `--output` writes: a column with a row for each vertex, or a matrix of edges.
    pub(super) fn table(&self, g: &Graph) -> Result<Matrix> {
        if let Some(parents) = &self.parents {
            return numbers(parents);
        }
        let n = g.vertices();
        Ok(match &self.values {
            Values::Numbers(values) => return numbers(values),
            Values::Scores(scores) => column(scores, |x| x.is_finite())?.into(),
            Values::Edges(edges, values) => matrix(n, edges, values.clone())?.into(),
            Values::Forest(edges) => matrix(n, edges, weights(g, edges)?)?.into(),
        })
    }
    /// The figure that `--plot` draws.
    pub(super) fn curve(&self, g: &Graph) -> Result<Curve> {
        Ok(match (&self.figure, &self.values) {
            (Figure::Levels(counts), _) => {
                let points = numbered(counts.iter().enumerate().map(|(level, &n)| (level as f64, n as f64)))?;
                Curve::linear("edges from the source", "vertices", points)
            }
            (Figure::Sizes(rank), Values::Numbers(labels)) => {
                let sizes = sizes(labels)?;
                let mut counts = filled(sizes.len(), 0.0, "sizes of sets")?;
                counts.iter_mut().zip(sizes).for_each(|(to, n)| *to = n as f64);
                by_rank(rank, "vertices", counts)?
            }
            (Figure::Ranked(what), Values::Forest(edges)) => by_rank("rank of the edge", what, weights(g, edges)?)?,
            (Figure::Ranked(what), values) => by_rank("rank", what, values.scores()?)?,
            (Figure::Degrees | Figure::Sizes(_), _) => {
                let mut degrees = filled(g.vertices(), 0.0, "degrees")?;
                degrees.iter_mut().enumerate().for_each(|(v, degree)| *degree = g.degree(v) as f64);
                by_rank("rank of the vertex", "degree", degrees)?
            }
        })
    }
    /// The vertices of the largest values, the least vertex first among equals; at most `top`.
    pub(super) fn highest(&self, top: usize) -> Result<Vec<(usize, f64)>> {
        if top == 0 {
            return Ok(vec![]);
        }
        let scores = self.values.scores()?;
        let mut order = filled(scores.len(), 0, "a ranking")?;
        order.iter_mut().enumerate().for_each(|(v, place)| *place = v);
        let by = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
        if top < order.len() {
            order.select_nth_unstable_by(top, by);
            order.truncate(top);
        }
        order.sort_unstable_by(by);
        let mut highest = filled(order.len(), (0, 0.0), "a ranking")?;
        highest.iter_mut().zip(order).for_each(|(to, v)| *to = (v, scores[v]));
        highest.retain(|(_, x)| *x > f64::NEG_INFINITY);
        Ok(highest)
    }
}

impl Values {
    /// The values as doubles, −∞ for none.
    fn scores(&self) -> Result<Vec<f64>> {
        let (Self::Numbers(numbers) | Self::Edges(_, numbers)) = self else {
            let Self::Scores(scores) = self else { return Ok(vec![]) };
            let mut known = filled(scores.len(), f64::NEG_INFINITY, "scores")?;
            known.iter_mut().zip(scores).filter(|(_, x)| x.is_finite()).for_each(|(to, x)| *to = *x);
            return Ok(known);
        };
        let mut known = filled(numbers.len(), f64::NEG_INFINITY, "scores")?;
        known.iter_mut().zip(numbers).filter(|(_, x)| **x != UNREACHED).for_each(|(to, x)| *to = f64::from(*x));
        Ok(known)
    }
}

/// Positive values in decreasing order on logarithmic axes.
fn by_rank(rank: &'static str, what: &'static str, mut values: Vec<f64>) -> Result<Curve> {
    values.retain(|x| *x > 0.0 && x.is_finite());
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    let points = numbered(values.into_iter().enumerate().map(|(k, x)| (k as f64 + 1.0, x)))?;
    Ok(Curve::logarithmic(rank, what, points))
}

/// Points that are known to be so many.
fn numbered(of: impl ExactSizeIterator<Item = (f64, f64)>) -> Result<Vec<(f64, f64)>> {
    let mut points = filled(of.len(), (0.0, 0.0), "points")?;
    points.iter_mut().zip(of).for_each(|(to, point)| *to = point);
    Ok(points)
}

/// Sizes of the sets of vertices with equal labels below n, in decreasing order.
pub(super) fn sizes(labels: &[u32]) -> Result<Vec<u64>> {
    let mut counts = filled(labels.len(), 0u64, "sizes of sets")?;
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    counts.retain(|&count| count > 0);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    Ok(counts)
}

fn numbers(values: &[u32]) -> Result<Matrix> {
    Ok(column(values, |x| *x != UNREACHED)?.into())
}

/// A sparse column of the values for which `is_known` holds.
fn column<T: Num>(values: &[T], is_known: impl Fn(&T) -> bool) -> Result<Csr<T>> {
    let n = values.len();
    let mut row_ptr = filled(n + 1, 0, "row pointers")?;
    let mut kept = Vec::new();
    let bytes = n as u128 * size_of::<T>() as u128;
    kept.try_reserve_exact(n).map_err(|_| Error::OutOfMemory { what: "a column", bytes })?;
    for (end, x) in row_ptr[1..].iter_mut().zip(values) {
        if is_known(x) {
            kept.push(*x);
        }
        *end = kept.len();
    }
    Csr::new(n, 1, row_ptr, filled(kept.len(), 0, "column indices")?, kept)
}

/// Each edge with its value, from its lesser to its larger end.
fn matrix<T: Num>(n: usize, edges: &[(u32, u32)], values: Vec<T>) -> Result<Csr<T>> {
    let (mut rows, mut cols) = (filled(edges.len(), 0u32, "edges")?, filled(edges.len(), 0u32, "edges")?);
    rows.iter_mut().zip(&mut cols).zip(edges).for_each(|((row, col), edge)| (*row, *col) = *edge);
    Coo::new(n, n, rows, cols, values)?.to_csr(Plus::new())
}

/// The weights of edges of the graph.
fn weights(g: &Graph, edges: &[(u32, u32)]) -> Result<Vec<f64>> {
    let mut weights = filled(edges.len(), 1.0, "weights")?;
    for (weight, &(u, v)) in weights.iter_mut().zip(edges) {
        if let (Ok(k), Some(all)) = (g.neighbors(u as usize).binary_search(&v), g.weights(u as usize)) {
            *weight = all[k];
        }
    }
    Ok(weights)
}

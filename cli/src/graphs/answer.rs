//! Results of graph algorithms, and their tables, plots and rankings.

use clap::ValueEnum;
use serde_json::Value;
use sparring::algebra::{Num, Slice};
use sparring::graph::{Graph, UNREACHED};
use sparring::io::write_npy_array_to;
use sparring::par::filled;
use sparring::prelude::Plus;
use sparring::runtime::Matrix;
use sparring::{Coo, Csr, Error, Result};

use crate::context::Context;
use crate::formats::{Format, write_dense};
use crate::plot::Curve;
use crate::write::Output;

/// The result of an algorithm.
pub(crate) struct Answer {
    /// The printed summary.
    pub(crate) text: String,
    /// The summary in JSON.
    pub(crate) figures: Vec<(&'static str, Value)>,
    pub(crate) values: Values,
    /// Parents, written instead of the values.
    pub(crate) parents: Option<Vec<u32>>,
    pub(crate) figure: Figure,
}

/// The values of a result.
pub(crate) enum Values {
    /// A number per vertex, [`UNREACHED`] if missing.
    Numbers(Vec<u32>),
    /// 1 for the vertices of a set, 0 for the others.
    Members(Vec<u32>),
    /// A score per vertex, infinite if missing.
    Scores(Vec<f64>),
    /// Levels from several sources, one source after the other, [`UNREACHED`] if missing.
    Levels(Vec<u32>),
    /// All-pairs distances by rows, infinite without a path.
    Pairs(Vec<f64>),
    /// Edges with a number per edge.
    Edges(Vec<(u32, u32)>, Vec<u32>),
    /// Edges of the graph, with their weights as values.
    Forest(Vec<(u32, u32)>),
}

/// Kinds of plots.
pub(crate) enum Figure {
    /// Values by rank, with the name of the values.
    Ranked(&'static str),
    /// Sizes of the sets of vertices with equal numbers, by rank, with the name of the rank.
    Sizes(&'static str),
    /// The graph and its communities, or their sizes by rank.
    Communities,
    /// Numbers of vertices by distance from the source.
    Levels(Vec<u64>),
    /// Degrees by rank, for results without a distribution.
    Degrees,
}

/// Plots of a partition.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum PlotKind {
    /// The graph with a color per part; beyond 2,000 vertices the parts as circles
    Drawing,
    /// Sizes of the parts by rank
    Sizes,
}

impl Answer {
    /// Writes the table: a column with a row per vertex, a column per source, a square, or a matrix of edges.
    pub(super) fn save(&self, context: &Context, output: &Output, g: &Graph) -> Result<()> {
        let format = output.kind.format;
        let dense = if is_dense(format) { self.dense(g) } else { None };
        let Some(((nrows, ncols), by_columns, values)) = dense else { return output.save(context, &self.table(g)?) };
        if format == Format::Npy {
            return output.write(context, |out| Ok(write_npy_array_to(out, &[nrows, ncols], by_columns, values)?));
        }
        if let (true, Values::Levels(levels)) = (by_columns, &self.values) {
            let mut rows = filled(levels.len(), UNREACHED, "levels")?;
            for (j, column) in levels.chunks(nrows.max(1)).enumerate() {
                rows.iter_mut().skip(j).step_by(ncols).zip(column).for_each(|(to, level)| *to = *level);
            }
            return output.write(context, |out| write_dense(out, format, (nrows, ncols), Slice::of(&rows)));
        }
        output.write(context, |out| write_dense(out, format, (nrows, ncols), values))
    }
    /// The elements of a dense table, its shape and whether it is stored by columns. Missing elements are infinity or
    /// [`UNREACHED`].
    fn dense(&self, g: &Graph) -> Option<((usize, usize), bool, Slice<'_>)> {
        let n = g.vertices();
        if let Some(parents) = &self.parents {
            return Some(((n, 1), false, Slice::of(parents)));
        }
        match &self.values {
            Values::Numbers(values) | Values::Members(values) => Some(((values.len(), 1), false, Slice::of(values))),
            Values::Scores(scores) => Some(((n, 1), false, Slice::of(scores))),
            Values::Levels(levels) => Some(((n, levels.len() / n.max(1)), true, Slice::of(levels))),
            Values::Pairs(distances) => Some(((n, n), false, Slice::of(distances))),
            Values::Edges(..) | Values::Forest(_) => None,
        }
    }
    /// The same as a sparse matrix, without the missing elements.
    fn table(&self, g: &Graph) -> Result<Matrix> {
        if let Some(parents) = &self.parents {
            return Ok(known(parents, 1, 1, |x| *x != UNREACHED)?.into());
        }
        let n = g.vertices();
        Ok(match &self.values {
            Values::Numbers(values) => known(values, 1, 1, |x| *x != UNREACHED)?.into(),
            Values::Members(values) => known(values, 1, 1, |x| *x != 0)?.into(),
            Values::Scores(scores) => known(scores, 1, 1, |x| x.is_finite())?.into(),
            Values::Levels(levels) => known(levels, levels.len() / n.max(1), n, |x| *x != UNREACHED)?.into(),
            Values::Pairs(distances) => known(distances, n, 1, |x| x.is_finite())?.into(),
            Values::Edges(edges, values) => matrix(n, edges, values.clone())?.into(),
            Values::Forest(edges) => matrix(n, edges, weights(g, edges)?)?.into(),
        })
    }
    /// The vertex labels, if `--plot` draws the graph.
    pub(super) fn drawn(&self, kind: Option<PlotKind>) -> Option<&[u32]> {
        let drawing = kind.map_or(matches!(self.figure, Figure::Communities), |kind| kind == PlotKind::Drawing);
        match &self.values {
            Values::Numbers(labels) if drawing => Some(labels),
            _ => None,
        }
    }
    /// The curve that `--plot` draws otherwise.
    pub(super) fn curve(&self, g: &Graph) -> Result<Curve> {
        Ok(match (&self.figure, &self.values) {
            (Figure::Levels(counts), _) => {
                let points = numbered(counts.iter().enumerate().map(|(level, &n)| (level as f64, n as f64)))?;
                Curve::linear("edges from the source", "vertices", points)
            }
            (Figure::Sizes(_) | Figure::Communities, Values::Numbers(labels)) => {
                let rank = if let Figure::Sizes(rank) = self.figure { rank } else { "rank of the community" };
                let sizes = sizes(labels)?;
                let mut counts = filled(sizes.len(), 0.0, "sizes of sets")?;
                counts.iter_mut().zip(sizes).for_each(|(to, n)| *to = n as f64);
                by_rank(rank, "vertices", counts)?
            }
            (Figure::Ranked(what), Values::Forest(edges)) => by_rank("rank of the edge", what, weights(g, edges)?)?,
            (Figure::Ranked(what), values) => by_rank("rank", what, values.scores()?)?,
            (Figure::Degrees | Figure::Sizes(_) | Figure::Communities, _) => {
                let mut degrees = filled(g.vertices(), 0.0, "degrees")?;
                degrees.iter_mut().enumerate().for_each(|(v, degree)| *degree = g.degree(v) as f64);
                by_rank("rank of the vertex", "degree", degrees)?
            }
        })
    }
    /// The `top` vertices of the largest values, ties by vertex number.
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
    /// Truncates to the first `n` vertices.
    pub(super) fn truncate(&mut self, n: usize) {
        if let Self::Numbers(numbers) = self {
            numbers.truncate(n);
        }
    }
    /// The values as f64, −∞ if missing.
    fn scores(&self) -> Result<Vec<f64>> {
        let (Self::Numbers(numbers) | Self::Members(numbers) | Self::Levels(numbers) | Self::Edges(_, numbers)) = self
        else {
            let scores = match self {
                Self::Scores(scores) => scores,
                Self::Pairs(distances) => return eccentricities(distances),
                _ => return Ok(vec![]),
            };
            let mut known = filled(scores.len(), f64::NEG_INFINITY, "scores")?;
            known.iter_mut().zip(scores).filter(|(_, x)| x.is_finite()).for_each(|(to, x)| *to = *x);
            return Ok(known);
        };
        let mut known = filled(numbers.len(), f64::NEG_INFINITY, "scores")?;
        known.iter_mut().zip(numbers).filter(|(_, x)| **x != UNREACHED).for_each(|(to, x)| *to = f64::from(*x));
        Ok(known)
    }
}

/// The eccentricity of each vertex, over reachable vertices.
fn eccentricities(distances: &[f64]) -> Result<Vec<f64>> {
    let n = distances.len().isqrt();
    let mut longest = filled(n, 0.0, "eccentricities")?;
    for (to, row) in longest.iter_mut().zip(distances.chunks(n.max(1))) {
        *to = row.iter().copied().filter(|d| d.is_finite()).fold(0.0, f64::max);
    }
    Ok(longest)
}

/// Positive values in decreasing order on logarithmic axes.
fn by_rank(rank: &'static str, what: &'static str, mut values: Vec<f64>) -> Result<Curve> {
    values.retain(|x| *x > 0.0 && x.is_finite());
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    let points = numbered(values.into_iter().enumerate().map(|(k, x)| (k as f64 + 1.0, x)))?;
    Ok(Curve::logarithmic(rank, what, points))
}

/// Collects points of known number.
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

/// Whether a file of this format has every element of a matrix.
fn is_dense(format: Format) -> bool {
    matches!(format, Format::Npy | Format::Csv)
}

/// Bytes of a result of `bytes` bytes, including its conversion for writing.
pub(super) fn bytes_to_write(bytes: u128, format: Option<Format>) -> u128 {
    // A copy of the values, and an index for each.
    if format.is_none_or(|format| format == Format::Npy) { bytes } else { bytes.saturating_mul(3) }
}

/// A sparse matrix of `ncols` columns with the values for which `is_known` holds. The elements of a row are contiguous
/// (`step` 1) or `step` apart.
fn known<T: Num>(values: &[T], ncols: usize, step: usize, is_known: impl Fn(&T) -> bool) -> Result<Csr<T>> {
    let nrows = values.len() / ncols.max(1);
    let count = values.iter().filter(|x| is_known(x)).count();
    let (mut row_ptr, mut cols) = (filled(nrows + 1, 0, "row pointers")?, filled(count, 0, "column indices")?);
    let mut kept = Vec::new();
    let bytes = count as u128 * size_of::<T>() as u128;
    kept.try_reserve_exact(count).map_err(|_| Error::OutOfMemory { what: "a table", bytes })?;
    for i in 0..nrows {
        for j in 0..ncols {
            let x = values[if step == 1 { i * ncols + j } else { i + j * step }];
            if is_known(&x) {
                cols[kept.len()] = j as u32;
                kept.push(x);
            }
        }
        row_ptr[i + 1] = kept.len();
    }
    Csr::new(nrows, ncols, row_ptr, cols, kept)
}

/// The matrix of the edges with their values, from the smaller to the larger vertex.
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

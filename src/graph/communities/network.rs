//! The graph of a level, whose vertices are communities of the level before.

use std::borrow::Cow;

use crate::graph::Graph;
use crate::par::{copied, filled, reserved, zeros};
use crate::{Error, Result};

/// The rounding of sums of weights, with room to spare.
const GAIN: f64 = 1e-12;

/// An undirected graph, both directions of each edge. Self-loops may be listed and count in `inside` and `degrees`
/// alone.
pub(super) struct Network<'a> {
    pub(super) ptr: Cow<'a, [usize]>,
    pub(super) ends: Cow<'a, [u32]>,
    /// 1 if there are none.
    pub(super) weights: Option<Cow<'a, [f64]>>,
    /// Twice the weight of edges inside of each vertex.
    inside: Vec<f64>,
    /// Weighted degrees, with `inside`.
    pub(super) degrees: Vec<f64>,
    /// The expected weight between vertices of degrees x and y is `scale · x · y`.
    pub(super) scale: f64,
    /// What a move must gain at least, as a part of the degree of what moves: sums of weights are rounded.
    pub(super) gain: f64,
    /// Twice the weight of all edges.
    total: f64,
}

impl<'a> Network<'a> {
    /// The first level.
    pub(super) fn of(g: &'a Graph, resolution: f64) -> Result<Self> {
        g.check_undirected("community detection")?;
        check(resolution)?;
        let (n, lists) = (g.vertices(), g.outgoing());
        if let Some(k) = lists.weights.and_then(|w| w.iter().position(|&w| !(0.0..f64::INFINITY).contains(&w))) {
            let v = lists.ptr.partition_point(|&p| p <= k) - 1;
            let (u, w) = (lists.ends[k], lists.weights.map_or(1.0, |w| w[k]));
            let message = format!("edge ({v}, {u}) has {w}; communities need weights of 0 or more");
            return Err(Error::Argument { name: "weight", message });
        }
        let mut degrees = reserved(n, "degrees")?;
        let mut inside = filled(n, 0.0, "weights inside")?;
        for v in 0..n {
            degrees.push(match lists.weights {
                None => lists.degree(v) as f64,
                Some(weights) => weights[lists.ptr[v]..lists.ptr[v + 1]].iter().sum(),
            });
        }
        if g.self_loops() > 0 {
            for v in 0..n {
                let own: f64 = lists.weighted(v).filter(|e| e.0 == v).map(|e| e.1).sum();
                inside[v] = 2.0 * own;
                degrees[v] += own;
            }
        }
        let total: f64 = degrees.iter().sum();
        let scale = if total > 0.0 { resolution / total } else { 0.0 };
        let gain = GAIN * (1.0 + resolution.abs());
        let (ptr, ends, weights) =
            (Cow::Borrowed(lists.ptr), Cow::Borrowed(lists.ends), lists.weights.map(Cow::Borrowed));
        Ok(Self { ptr, ends, weights, inside, degrees, scale, gain, total })
    }

    pub(super) fn vertices(&self) -> usize {
        self.degrees.len()
    }

    /// Calls `f` for each neighbor of `v` other than itself, with the weight of the edge.
    #[inline(always)]
    pub(super) fn each(&self, v: usize, mut f: impl FnMut(usize, f64)) {
        let range = self.ptr[v]..self.ptr[v + 1];
        let ends = &self.ends[range.clone()];
        match &self.weights {
            None => ends.iter().filter(|&&u| u as usize != v).for_each(|&u| f(u as usize, 1.0)),
            Some(weights) => {
                let pairs = ends.iter().zip(&weights[range]);
                pairs.filter(|(u, _)| **u as usize != v).for_each(|(&u, &w)| f(u as usize, w));
            }
        }
    }

    /// The graph whose vertices are the `count` communities of `labels`.
    pub(super) fn aggregated(&self, labels: &[u32], count: usize) -> Result<Network<'static>> {
        const WHAT: &str = "a graph of communities";
        // Vertices by community.
        let mut start = zeros(count + 1, WHAT)?;
        labels.iter().for_each(|&l| start[l as usize + 1] += 1);
        (0..count).for_each(|c| start[c + 1] += start[c]);
        let (mut next, mut members) = (copied(&start, WHAT)?, filled(labels.len(), 0u32, WHAT)?);
        for (v, &l) in labels.iter().enumerate() {
            members[next[l as usize]] = v as u32;
            next[l as usize] += 1;
        }
        let most = self.ends.len();
        let (mut ptr, mut ends, mut weights) =
            (reserved(count + 1, WHAT)?, reserved(most, WHAT)?, reserved(most, WHAT)?);
        let (mut inside, mut degrees) = (filled(count, 0.0, WHAT)?, filled(count, 0.0, WHAT)?);
        let mut sums = filled(count, 0.0, WHAT)?;
        ptr.push(0);
        for c in 0..count {
            let first = ends.len();
            for &v in &members[start[c]..start[c + 1]] {
                let v = v as usize;
                degrees[c] += self.degrees[v];
                inside[c] += self.inside[v];
                self.each(v, |u, w| {
                    let d = labels[u];
                    let sum = &mut sums[d as usize];
                    // Listed again if edges before it had weight 0: the second time for nothing.
                    if *sum == 0.0 && d as usize != c {
                        ends.push(d);
                    }
                    *sum += w;
                });
            }
            inside[c] += std::mem::take(&mut sums[c]);
            let mut kept = first;
            for k in first..ends.len() {
                let d = ends[k];
                let sum = std::mem::take(&mut sums[d as usize]);
                ends[kept] = d;
                if sum > 0.0 {
                    weights.push(sum);
                    kept += 1;
                }
            }
            ends.truncate(kept);
            ptr.push(kept);
        }
        let (scale, gain, total) = (self.scale, self.gain, self.total);
        let weights = Some(Cow::Owned(weights));
        Ok(Network { ptr: Cow::Owned(ptr), ends: Cow::Owned(ends), weights, inside, degrees, scale, gain, total })
    }

    /// That of the vertices as communities.
    pub(super) fn modularity(&self) -> f64 {
        if self.total == 0.0 {
            return 0.0;
        }
        let (inside, expected) = (self.inside.iter().sum::<f64>(), self.degrees.iter().map(|d| d * d).sum::<f64>());
        (inside - self.scale * expected) / self.total
    }
}

/// Labels below their number in the order in which they first occur, and how many there are.
pub(super) fn renumber(mut labels: Vec<u32>) -> Result<(Vec<u32>, usize)> {
    let mut names = filled(labels.len(), u32::MAX, "names of communities")?;
    let mut count = 0;
    for l in &mut labels {
        let name = &mut names[*l as usize];
        if *name == u32::MAX {
            *name = count;
            count += 1;
        }
        *l = *name;
    }
    Ok((labels, count as usize))
}

/// Refuses what is no number.
pub(super) fn check(resolution: f64) -> Result<()> {
    if resolution.is_finite() {
        return Ok(());
    }
    Err(Error::Argument { name: "resolution", message: format!("{resolution} is not a finite number") })
}

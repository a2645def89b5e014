//! The graph of a level, whose vertices are the communities of the previous level.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::graph::Graph;
use crate::par::{Threads, append_both, copied, filled, out_of_memory, prefetch, reserved, try_split, zeros};
use crate::{Error, Result};

/// Bound on the relative rounding error of sums of weights, with a safety margin.
const GAIN: f64 = 1e-12;

/// Minimum edges and vertices per block, and maximum number of blocks.
const WORK: usize = 1 << 14;
const BLOCKS: usize = 64;

/// Entries of a list that are prefetched; beyond, the hardware prefetches.
const LONG: usize = 64;
/// Vertex indices per cache line.
const LINE: usize = 16;

/// An undirected graph with both directions of each edge. Listed self-loops count only in `inside` and `degrees`.
pub(super) struct Network<'a> {
    pub(super) ptr: Cow<'a, [usize]>,
    pub(super) ends: Cow<'a, [u32]>,
    /// `None` means weights of 1.
    pub(super) weights: Option<Cow<'a, [f64]>>,
    /// Twice the weight of the edges inside each vertex.
    inside: Vec<f64>,
    /// Weighted degrees, including `inside`.
    pub(super) degrees: Vec<f64>,
    /// The expected weight between vertices of degrees x and y is `scale · x · y`.
    pub(super) scale: f64,
    /// Minimum gain of a move, relative to the degree of the moved vertex: guards against rounded sums.
    pub(super) gain: f64,
    /// Twice the total edge weight.
    total: f64,
}

impl<'a> Network<'a> {
    /// The network of the first level.
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

    /// Prefetches the list of `v`.
    #[inline(always)]
    pub(super) fn prefetch(&self, v: usize) {
        let range = self.ptr[v]..self.ptr[v + 1].min(self.ptr[v] + LONG);
        range.clone().step_by(LINE).for_each(|k| prefetch(&self.ends, k));
        if let Some(weights) = &self.weights {
            range.step_by(LINE / 2).for_each(|k| prefetch(weights, k));
        }
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

    /// The graph whose vertices are the communities of `labels`.
    pub(super) fn aggregated(
        &self,
        threads: &Threads,
        op: &'static str,
        labels: &[u32],
        groups: &Groups,
    ) -> Result<Network<'static>> {
        const WHAT: &str = "a graph of communities";
        let count = groups.count();
        let mut degrees = filled(count, 0.0, WHAT)?;
        labels.iter().zip(&self.degrees).for_each(|(&l, d)| degrees[l as usize] += d);
        // For each community, the weight inside and the number of adjacent communities, block by block.
        let mut rows = filled(count, (0.0, 0), WHAT)?;
        let blocks = groups.blocks(self)?;
        let (mut parts, mut rest) = (reserved(blocks.len(), WHAT)?, &mut rows[..]);
        for block in &blocks {
            let (part, others) = rest.split_at_mut(block.len());
            parts.push(Mutex::new(part));
            rest = others;
        }
        let room = || Ok((filled(count, 0.0, WHAT)?, filled(count + 1, 0u32, WHAT)?));
        let (ends, weights) = append_both(
            threads,
            op,
            blocks.len(),
            self.ends.len(),
            room,
            |(sums, touched), k, ends: &mut Vec<u32>, weights: &mut Vec<f64>| {
                let mut rows = parts[k].lock().unwrap_or_else(PoisonError::into_inner);
                let (sums, touched) = (&mut sums[..], &mut touched[..]);
                for (c, row) in blocks[k].clone().zip(rows.iter_mut()) {
                    let (members, mut len, first) = (groups.of(c), 0, ends.len());
                    for (k, &v) in members.iter().enumerate() {
                        if let Some(&next) = members.get(k + 2) {
                            self.prefetch(next as usize);
                        }
                        let v = v as usize;
                        row.0 += self.inside[v];
                        self.each(v, |u, w| {
                            let d = labels[u];
                            let sum = &mut sums[d as usize];
                            touched[len] = d;
                            len += usize::from((*sum == 0.0) & (w > 0.0));
                            *sum += w;
                        });
                    }
                    row.0 += std::mem::take(&mut sums[c]);
                    ends.try_reserve(len).map_err(|_| out_of_memory::<u32>(WHAT, len))?;
                    weights.try_reserve(len).map_err(|_| out_of_memory::<f64>(WHAT, len))?;
                    for &d in touched[..len].iter().filter(|&&d| d as usize != c) {
                        ends.push(d);
                        weights.push(std::mem::take(&mut sums[d as usize]));
                    }
                    row.1 = ends.len() - first;
                }
                Ok(())
            },
        )?;
        drop(parts);
        let mut ptr = reserved(count + 1, WHAT)?;
        ptr.push(0);
        let mut inside = reserved(count, WHAT)?;
        for (k, &(weight, len)) in rows.iter().enumerate() {
            inside.push(weight);
            ptr.push(ptr[k] + len);
        }
        let (scale, gain, total) = (self.scale, self.gain, self.total);
        let weights = Some(Cow::Owned(weights));
        Ok(Network { ptr: Cow::Owned(ptr), ends: Cow::Owned(ends), weights, inside, degrees, scale, gain, total })
    }

    /// The modularity with each vertex as a community.
    pub(super) fn modularity(&self) -> f64 {
        if self.total == 0.0 {
            return 0.0;
        }
        let (inside, expected) = (self.inside.iter().sum::<f64>(), self.degrees.iter().map(|d| d * d).sum::<f64>());
        (inside - self.scale * expected) / self.total
    }
}

/// Vertices grouped by community.
pub(super) struct Groups {
    start: Vec<usize>,
    pub(super) members: Vec<u32>,
}

impl Groups {
    /// Groups by `labels` below `count`; stable within a community.
    pub(super) fn new(labels: &[u32], count: usize) -> Result<Self> {
        const WHAT: &str = "vertices by community";
        let mut start = zeros(count + 1, WHAT)?;
        labels.iter().for_each(|&l| start[l as usize + 1] += 1);
        (0..count).for_each(|c| start[c + 1] += start[c]);
        let (mut next, mut members) = (copied(&start, WHAT)?, filled(labels.len(), 0u32, WHAT)?);
        for (v, &l) in labels.iter().enumerate() {
            members[next[l as usize]] = v as u32;
            next[l as usize] += 1;
        }
        Ok(Self { start, members })
    }
    pub(super) fn count(&self) -> usize {
        self.start.len() - 1
    }
    /// The range of the members of community `c`.
    pub(super) fn range(&self, c: usize) -> Range<usize> {
        self.start[c]..self.start[c + 1]
    }
    fn of(&self, c: usize) -> &[u32] {
        &self.members[self.range(c)]
    }
    /// Ranges of communities with about equal numbers of edges.
    pub(super) fn blocks(&self, network: &Network<'_>) -> Result<Vec<Range<usize>>> {
        let mut before = reserved(self.count() + 1, "edges of communities")?;
        before.push(0);
        for c in 0..self.count() {
            let edges = self.of(c).iter().map(|&v| (network.ptr[v as usize + 1] - network.ptr[v as usize] + 1) as u64);
            before.push(before[c] + edges.sum::<u64>());
        }
        let blocks = ((network.ends.len() + network.vertices()) / WORK).clamp(1, BLOCKS);
        try_split(self.count(), blocks, |c| before[c])
    }
}

/// Labels renumbered consecutively in order of first occurrence, and their number.
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

/// Rejects a non-finite resolution.
pub(super) fn check(resolution: f64) -> Result<()> {
    if resolution.is_finite() {
        return Ok(());
    }
    Err(Error::Argument { name: "resolution", message: format!("{resolution} is not a finite number") })
}

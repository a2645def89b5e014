//! Moves of single vertices to the communities of their neighbors.

use super::network::Network;
use crate::Result;
use crate::graph::simple::by_degree;
use crate::par::{filled, reserved};

/// Communities that vertices move between.
pub(super) struct Moving<'a> {
    network: &'a Network<'a>,
    labels: Vec<u32>,
    /// Of each community.
    degrees: Vec<f64>,
    sizes: Vec<u32>,
    /// Communities without vertices.
    empty: Vec<u32>,
    /// Of each community the weight of the edges that lead to it from the vertex considered; 0 in between.
    sums: Vec<f64>,
    touched: Vec<u32>,
    queue: Queue,
}

/// Vertices to consider, each at most once.
struct Queue {
    ring: Vec<u32>,
    first: usize,
    len: usize,
    waits: Vec<bool>,
}

impl Queue {
    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        let v = self.ring[self.first] as usize;
        self.first = if self.first + 1 == self.ring.len() { 0 } else { self.first + 1 };
        self.len -= 1;
        self.waits[v] = false;
        Some(v)
    }
    #[inline(always)]
    fn push(&mut self, v: usize) {
        if !std::mem::replace(&mut self.waits[v], true) {
            let at = self.first + self.len;
            let at = if at >= self.ring.len() { at - self.ring.len() } else { at };
            self.ring[at] = v as u32;
            self.len += 1;
        }
    }
}

impl<'a> Moving<'a> {
    /// Starts with communities `labels`, numbers of vertices.
    pub(super) fn new(network: &'a Network<'a>, labels: Vec<u32>) -> Result<Self> {
        let n = network.vertices();
        let (mut degrees, mut sizes) = (filled(n, 0.0, "degrees of communities")?, filled(n, 0u32, "sizes")?);
        for (v, &l) in labels.iter().enumerate() {
            degrees[l as usize] += network.degrees[v];
            sizes[l as usize] += 1;
        }
        let mut empty = reserved(n, "empty communities")?;
        empty.extend((0..n as u32).rev().filter(|&c| sizes[c as usize] == 0));
        // Of orders tried this one gives the largest modularity by Louvain on email-Enron, 0.6116, and by Leiden with
        // two iterations 0.6216: by number 0.6049 and 0.6101, largest degree first 0.5840 and 0.6140, at random 0.6061
        // and 0.6238. On delaunay_n16 and luxembourg_osm the orders are alike.
        let ring = by_degree(&network.ptr, false)?;
        let queue = Queue { ring, first: 0, len: n, waits: filled(n, true, "vertices to move")? };
        let sums = filled(n, 0.0, "weights to communities")?;
        let longest = network.ptr.windows(2).map(|p| p[1] - p[0]).max().unwrap_or(0);
        let touched = reserved(longest, "communities of neighbors")?;
        Ok(Self { network, labels, degrees, sizes, empty, sums, touched, queue })
    }

    /// Moves vertices until none gains. With `leave` a vertex may also go to a community of its own.
    pub(super) fn run(mut self, leave: bool) -> Result<Vec<u32>> {
        while let Some(v) = self.queue.pop() {
            let own = self.labels[v];
            let to = self.best(v, own, leave);
            if to == own {
                continue;
            }
            let degree = self.network.degrees[v];
            self.degrees[own as usize] -= degree;
            self.degrees[to as usize] += degree;
            self.sizes[to as usize] += 1;
            self.sizes[own as usize] -= 1;
            self.labels[v] = to;
            if self.sizes[own as usize] == 0 {
                // Differences of sums may leave a rest.
                self.degrees[own as usize] = 0.0;
                self.empty.push(own);
            }
            let (labels, queue) = (&self.labels, &mut self.queue);
            self.network.each(v, |u, _| {
                if labels[u] != to {
                    queue.push(u);
                }
            });
        }
        Ok(self.labels)
    }

    /// The community that `v` gains most by, that of least number among equals; its own if it gains by none.
    #[inline(always)]
    fn best(&mut self, v: usize, own: u32, leave: bool) -> u32 {
        let (network, labels, sums, touched) = (self.network, &self.labels, &mut self.sums, &mut self.touched);
        network.each(v, |u, w| {
            let c = labels[u];
            let sum = &mut sums[c as usize];
            if *sum == 0.0 {
                touched.push(c);
            }
            *sum += w;
        });
        let degree = network.degrees[v];
        let expected = network.scale * degree;
        let stay = sums[own as usize] - expected * (self.degrees[own as usize] - degree);
        let mut best = (stay + network.gain * degree, own);
        for c in touched.drain(..) {
            let gain = std::mem::take(&mut sums[c as usize]) - expected * self.degrees[c as usize];
            if c != own && (gain > best.0 || (gain == best.0 && best.1 != own && c < best.1)) {
                best = (gain, c);
            }
        }
        if leave && best.0 < 0.0 && self.sizes[own as usize] > 1 {
            return self.empty.pop().unwrap_or(own);
        }
        best.1
    }
}

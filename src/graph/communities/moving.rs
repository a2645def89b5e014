//! Local moving: single vertices move to the communities of their neighbors.

use super::network::Network;
use crate::Result;
use crate::graph::draws::Draws;
use crate::par::{collected, filled, prefetch, reserved};

/// The state of local moving.
pub(super) struct Moving<'a> {
    network: &'a Network<'a>,
    labels: Vec<u32>,
    /// Weighted degree of each community.
    degrees: Vec<f64>,
    sizes: Vec<u32>,
    /// Empty communities.
    empty: Vec<u32>,
    /// Weight of the edges from the current vertex to each community; 0 between vertices.
    sums: Vec<f64>,
    /// Communities of the neighbors, with one spare element for a branch-free store.
    touched: Vec<u32>,
    queue: Queue,
}

/// A queue of vertices to visit, each at most once.
struct Queue {
    ring: Vec<u32>,
    first: usize,
    len: usize,
    queued: Vec<bool>,
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
        self.queued[v] = false;
        Some(v)
    }
    /// Adds `v` if `wanted` and not queued. Branch-free, since the outcome is unpredictable: the store is discarded
    /// otherwise. A slot is always free, because the current vertex is not in the queue.
    #[inline(always)]
    fn push_if(&mut self, v: usize, wanted: bool) {
        let at = self.place(self.len);
        self.ring[at] = v as u32;
        let queued = &mut self.queued[v];
        self.len += usize::from(wanted & !*queued);
        *queued |= wanted;
    }
    /// The position of the vertex `k` behind the first.
    #[inline(always)]
    fn place(&self, k: usize) -> usize {
        let at = self.first + k;
        if at >= self.ring.len() { at - self.ring.len() } else { at }
    }
    /// Prefetches the data of the next vertices.
    #[inline(always)]
    fn prefetch(&self, network: &Network<'_>) {
        if self.len > AHEAD {
            let [soon, later] = [AHEAD / 4, AHEAD].map(|k| self.ring[self.place(k)] as usize);
            network.prefetch(soon);
            prefetch(&network.ptr, later);
            prefetch(&network.degrees, later);
        }
    }
}

/// Prefetch distance in the queue.
const AHEAD: usize = 8;

impl<'a> Moving<'a> {
    /// Starts with the communities `labels`, vertex indices, and visits the vertices in a random order.
    pub(super) fn new(network: &'a Network<'a>, labels: Vec<u32>, draws: &mut Draws) -> Result<Self> {
        let n = network.vertices();
        let (mut degrees, mut sizes) = (filled(n, 0.0, "degrees of communities")?, filled(n, 0u32, "sizes")?);
        for (v, &l) in labels.iter().enumerate() {
            degrees[l as usize] += network.degrees[v];
            sizes[l as usize] += 1;
        }
        let mut empty = reserved(n, "empty communities")?;
        empty.extend((0..n as u32).rev().filter(|&c| sizes[c as usize] == 0));
        let mut ring = collected(n, 0..n as u32, "vertices to move")?;
        draws.shuffle(&mut ring);
        let queue = Queue { ring, first: 0, len: n, queued: filled(n, true, "vertices to move")? };
        let sums = filled(n, 0.0, "weights to communities")?;
        let longest = network.ptr.windows(2).map(|p| p[1] - p[0]).max().unwrap_or(0);
        let touched = filled(longest + 1, 0u32, "communities of neighbors")?;
        Ok(Self { network, labels, degrees, sizes, empty, sums, touched, queue })
    }

    /// Moves vertices until none gains. With `leave` a vertex may also move to an empty community.
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
                // Clears rounding errors of the differences.
                self.degrees[own as usize] = 0.0;
                self.empty.push(own);
            }
            let (labels, queue) = (&self.labels[..], &mut self.queue);
            self.network.each(v, |u, _| queue.push_if(u, labels[u] != to));
        }
        Ok(self.labels)
    }

    /// The community with the largest gain for `v`, the least on ties; its own if none gains.
    #[inline(always)]
    fn best(&mut self, v: usize, own: u32, leave: bool) -> u32 {
        let (network, labels, sums) = (self.network, &self.labels[..], &mut self.sums[..]);
        let (touched, mut len) = (&mut self.touched[..], 0);
        self.queue.prefetch(network);
        // Branch-free: whether a community is new is unpredictable.
        network.each(v, |u, w| {
            let c = labels[u];
            let sum = &mut sums[c as usize];
            touched[len] = c;
            len += usize::from(*sum == 0.0);
            *sum += w;
        });
        let degree = network.degrees[v];
        let expected = network.scale * degree;
        let stay = sums[own as usize] - expected * (self.degrees[own as usize] - degree);
        let mut best = (stay + network.gain * degree, own);
        for &c in &touched[..len] {
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

//! Moves of single vertices to the communities of their neighbors.

use super::network::Network;
use crate::Result;
use crate::graph::draws::Draws;
use crate::par::{collected, filled, prefetch, reserved};

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
    /// Room for the communities of all neighbors, and for one that is written in vain.
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
    /// Adds `v` if that is wanted and it does not wait. There is always room for a number that is written in vain,
    /// since the vertex considered is not in the queue: whether one waits cannot be foreseen, and no branch hangs on
    /// it.
    #[inline(always)]
    fn push_if(&mut self, v: usize, wanted: bool) {
        let at = self.place(self.len);
        self.ring[at] = v as u32;
        let waits = &mut self.waits[v];
        self.len += usize::from(wanted & !*waits);
        *waits |= wanted;
    }
    /// Where the vertex `k` behind the first stands.
    #[inline(always)]
    fn place(&self, k: usize) -> usize {
        let at = self.first + k;
        if at >= self.ring.len() { at - self.ring.len() } else { at }
    }
    /// Asks for what will be read of the next vertices.
    #[inline(always)]
    fn ask(&self, network: &Network<'_>) {
        if self.len > AHEAD {
            let [soon, later] = [AHEAD / 4, AHEAD].map(|k| self.ring[self.place(k)] as usize);
            network.ask(soon);
            prefetch(&network.ptr, later);
            prefetch(&network.degrees, later);
        }
    }
}

/// Vertices in the queue between one that is considered and the one whose place is asked for.
const AHEAD: usize = 8;

impl<'a> Moving<'a> {
    /// Starts with communities `labels`, numbers of vertices, which are considered in an order that is drawn.
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
        let queue = Queue { ring, first: 0, len: n, waits: filled(n, true, "vertices to move")? };
        let sums = filled(n, 0.0, "weights to communities")?;
        let longest = network.ptr.windows(2).map(|p| p[1] - p[0]).max().unwrap_or(0);
        let touched = filled(longest + 1, 0u32, "communities of neighbors")?;
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
            let (labels, queue) = (&self.labels[..], &mut self.queue);
            self.network.each(v, |u, _| queue.push_if(u, labels[u] != to));
        }
        Ok(self.labels)
    }

    /// The community that `v` gains most by, that of least number among equals; its own if it gains by none.
    #[inline(always)]
    fn best(&mut self, v: usize, own: u32, leave: bool) -> u32 {
        let (network, labels, sums) = (self.network, &self.labels[..], &mut self.sums[..]);
        let (touched, mut len) = (&mut self.touched[..], 0);
        self.queue.ask(network);
        // Whether a community is new cannot be foreseen: no branch hangs on it.
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

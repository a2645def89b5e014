//! Refinement: splits communities into well-connected parts.

use super::network::{Groups, Network};
use crate::Result;
use crate::par::{Threads, filled, for_each_part, reserved};

/// A part of a community.
#[derive(Clone, Copy, Default)]
struct Part {
    degree: f64,
    /// Weight of the edges to the rest of the community.
    out: f64,
    alone: bool,
}

/// Splits communities. Every vertex starts as a singleton part; a vertex that is still a singleton joins the part of
/// its community with the largest gain of modularity, if both are well connected to the rest of the community. Parts
/// are named by vertex indices.
///
/// Communities are independent, so each is a task.
pub(super) fn refined(threads: &Threads, network: &Network<'_>, groups: &Groups) -> Result<Vec<u32>> {
    const WHAT: &str = "parts of communities";
    let (n, members) = (network.vertices(), &groups.members[..]);
    // Position of each vertex among the members of all communities.
    let mut places = filled(n, 0u32, WHAT)?;
    members.iter().enumerate().for_each(|(k, &v)| places[v as usize] = k as u32);
    let mut names = filled(n, 0u32, WHAT)?;
    let blocks = groups.blocks(network)?;
    let (mut tasks, mut rest) = (reserved(blocks.len(), WHAT)?, &mut names[..]);
    for block in blocks {
        let vertices: usize = block.clone().map(|c| groups.range(c).len()).sum();
        let (part, others) = rest.split_at_mut(vertices);
        tasks.push((block, part));
        rest = others;
    }
    // Largest first, so that the last tasks are short.
    tasks.sort_unstable_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let longest = network.ptr.windows(2).map(|p| p[1] - p[0]).max().unwrap_or(0);
    let largest = (0..groups.count()).map(|c| groups.range(c).len()).max().unwrap_or(0);
    let room = || {
        let (touched, weights) = (filled(longest + 1, 0u32, WHAT)?, filled(largest, 0.0, WHAT)?);
        Ok(Refining {
            network,
            members,
            places: &places,
            parts: filled(largest, Part::default(), WHAT)?,
            weights,
            touched,
        })
    };
    for_each_part(threads, tasks, room, |refining, (block, names)| {
        let mut rest = names;
        for c in block {
            let range = groups.range(c);
            let (names, others) = std::mem::take(&mut rest).split_at_mut(range.len());
            refining.split(range.start, names);
            rest = others;
        }
        Ok(())
    })?;
    let mut found = filled(n, 0u32, WHAT)?;
    members.iter().zip(&names).for_each(|(&v, &name)| found[v as usize] = members[name as usize]);
    Ok(found)
}

struct Refining<'a> {
    network: &'a Network<'a>,
    members: &'a [u32],
    places: &'a [u32],
    parts: Vec<Part>,
    /// Weight of the edges from the current vertex to each part; 0 between vertices.
    weights: Vec<f64>,
    /// Parts of the neighbors, with one spare element for a branch-free store.
    touched: Vec<u32>,
}

impl Refining<'_> {
    /// Splits the community of the `names.len()` members from `start` on; writes the positions of their parts to
    /// `names`.
    fn split(&mut self, start: usize, names: &mut [u32]) {
        let (network, places, size) = (self.network, self.places, names.len());
        names.iter_mut().zip(start as u32..).for_each(|(name, k)| *name = k);
        if size == 1 {
            return;
        }
        let (members, parts) = (&self.members[start..start + size], &mut self.parts[..size]);
        let (weights, touched) = (&mut self.weights[..size], &mut self.touched[..]);
        // Vertices outside the community map to `size` or more.
        let local = |u: usize| places[u].wrapping_sub(start as u32) as usize;
        let prefetch_next = |k: usize| {
            if let Some(&next) = members.get(k + 2) {
                network.prefetch(next as usize);
            }
        };
        let mut total = 0.0;
        for (k, (&v, part)) in members.iter().zip(&mut *parts).enumerate() {
            prefetch_next(k);
            let mut out = 0.0;
            network.each(v as usize, |u, w| out += if local(u) < size { w } else { 0.0 });
            *part = Part { degree: network.degrees[v as usize], out, alone: true };
            total += part.degree;
        }
        let connected = |part: Part| part.out >= network.scale * part.degree * (total - part.degree);
        for (k, &v) in members.iter().enumerate() {
            let own = parts[k];
            prefetch_next(k);
            if !own.alone || own.out == 0.0 || !connected(own) {
                continue;
            }
            let mut len = 0;
            network.each(v as usize, |u, w| {
                if let Some(&name) = names.get(local(u)) {
                    let weight = &mut weights[name as usize - start];
                    touched[len] = name;
                    len += usize::from(*weight == 0.0);
                    *weight += w;
                }
            });
            let mut best = (network.gain * own.degree, (start + k) as u32, 0.0);
            for &name in &touched[..len] {
                let weight = std::mem::take(&mut weights[name as usize - start]);
                let part = parts[name as usize - start];
                let gain = weight - network.scale * own.degree * part.degree;
                if (gain > best.0 || (gain == best.0 && name < best.1)) && connected(part) {
                    best = (gain, name, weight);
                }
            }
            let (_, to, weight) = best;
            if to as usize != start + k {
                names[k] = to;
                // The singleton part is now empty, and `to` has at least two vertices.
                parts[k].alone = false;
                let part = &mut parts[to as usize - start];
                *part = Part { degree: part.degree + own.degree, out: part.out + own.out - 2.0 * weight, alone: false };
            }
        }
    }
}

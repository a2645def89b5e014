//! Parts of communities that hang together well.

use super::network::Network;
use crate::Result;
use crate::par::{collected, filled, reserved};

/// Splits the communities `labels`: every vertex starts as a part of its own, and one that is still alone joins the
/// part of its community by which modularity grows most, if both hang together well with the rest of the community.
pub(super) fn refined(network: &Network<'_>, labels: &[u32]) -> Result<Vec<u32>> {
    let n = network.vertices();
    let mut totals = filled(n, 0.0, "degrees of communities")?;
    let mut parts = collected(n, 0..n as u32, "parts of communities")?;
    // Of each part: the degree, and the weight of edges to the rest of its community.
    let mut sums = filled(n, (0.0, 0.0), "parts of communities")?;
    let mut alone = filled(n, true, "parts of communities")?;
    for v in 0..n {
        totals[labels[v] as usize] += network.degrees[v];
        let mut out = 0.0;
        network.each(v, |u, w| out += if labels[u] == labels[v] { w } else { 0.0 });
        sums[v] = (network.degrees[v], out);
    }
    let longest = network.ptr.windows(2).map(|p| p[1] - p[0]).max().unwrap_or(0);
    let mut touched: Vec<u32> = reserved(longest, "parts of neighbors")?;
    let mut weights = filled(n, 0.0, "weights to parts")?;
    for v in 0..n {
        let (degree, out) = sums[v];
        let total = totals[labels[v] as usize];
        let connected = |(degree, out): (f64, f64)| out >= network.scale * degree * (total - degree);
        if !alone[v] || out == 0.0 || !connected((degree, out)) {
            continue;
        }
        network.each(v, |u, w| {
            if labels[u] == labels[v] {
                let part = parts[u];
                let weight = &mut weights[part as usize];
                if *weight == 0.0 {
                    touched.push(part);
                }
                *weight += w;
            }
        });
        let mut best = (network.gain * degree, v as u32, 0.0);
        for part in touched.drain(..) {
            let weight = std::mem::take(&mut weights[part as usize]);
            let of = sums[part as usize];
            let gain = weight - network.scale * degree * of.0;
            if (gain > best.0 || (gain == best.0 && part < best.1)) && connected(of) {
                best = (gain, part, weight);
            }
        }
        let (_, to, weight) = best;
        if to as usize != v {
            parts[v] = to;
            // No vertex is part `v` any more, and `to` has two or more.
            alone[v] = false;
            alone[to as usize] = false;
            let sum = &mut sums[to as usize];
            *sum = (sum.0 + degree, sum.1 + out - 2.0 * weight);
        }
    }
    Ok(parts)
}

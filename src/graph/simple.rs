//! The simple undirected graph underlying a graph, on which many algorithms are defined.

use std::sync::Arc;

use super::{Graph, GraphKind};
use crate::par::{filled, zeros};
use crate::{Cpu, Pattern, Result};

/// The pattern of A + Aᵀ without its diagonal, rows sorted: that of `g` itself if `g` is undirected without self-loops.
pub(super) fn simple(cpu: &Cpu, g: &Graph) -> Result<Arc<Pattern>> {
    let pattern = g.pattern();
    Ok(match g.kind() {
        GraphKind::Undirected if g.self_loops() == 0 => Arc::clone(pattern),
        GraphKind::Undirected => Arc::new(pattern.select(cpu.threads(), |i, j| i != j)?),
        GraphKind::Directed => Arc::new(pattern.symmetrized(cpu.threads())?),
    })
}

/// Vertices by degree, the lengths of the rows at `ptr`, ties by index; in decreasing or increasing order.
pub(super) fn by_degree(ptr: &[usize], largest_first: bool) -> Result<Vec<u32>> {
    let n = ptr.len() - 1;
    let longest = (0..n).map(|v| ptr[v + 1] - ptr[v]).max().unwrap_or(0);
    let key = |v: usize| if largest_first { longest - (ptr[v + 1] - ptr[v]) } else { ptr[v + 1] - ptr[v] };
    let mut next = zeros(longest + 2, "numbers of vertices by degree")?;
    (0..n).for_each(|v| next[key(v) + 1] += 1);
    for d in 0..=longest {
        next[d + 1] += next[d];
    }
    let mut order = filled(n, 0u32, "vertices by degree")?;
    for v in 0..n {
        let place = &mut next[key(v)];
        order[*place] = v as u32;
        *place += 1;
    }
    Ok(order)
}

//! Strongly connected components by one depth-first search.
//!
//! A vertex on the way gets the number of its turn, and then the least number that it leads to. If that is its own, it
//! is the first of its component, and the vertices kept since then are the others. Numbers of finished components are
//! larger than all numbers of turns, so no test tells them apart. Sources: Tarjan 1972, "Depth-First Search and Linear
//! Graph Algorithms"; Pearce 2016, "A space-efficient algorithm for finding strongly connected components".

use super::components::connected_components;
use super::search::UNREACHED;
use super::structure::{Graph, Lists};
use crate::par::{filled, reserved};
use crate::{Cpu, Result};

/// For each vertex the least vertex of its strongly connected component, in which each leads to each.
///
/// Two vertices are in one component if their labels are equal. Those of an undirected graph are its
/// [connected components](connected_components). Cost: O(n + m) time on one thread, at most 32n bytes.
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
/// # Example
/// ```
/// use sparring::prelude::*;
/// use sparring::graph::{Graph, GraphKind, strongly_connected_components};
/// // 0 → 1 → 2 → 1.
/// let a = Csr::<f64>::new(3, 3, vec![0, 1, 2, 3], vec![1, 2, 1], vec![1.0; 3])?;
/// let cpu = Cpu::new();
/// let g = Graph::new(&cpu, &a, GraphKind::Directed)?;
/// assert_eq!(strongly_connected_components(&cpu, &g)?, [0, 1, 1]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Pearce 2016.
pub fn strongly_connected_components(cpu: &Cpu, g: &Graph) -> Result<Vec<u32>> {
    if g.has_both_directions() {
        return connected_components(cpu, g);
    }
    cpu.threads().alone("components", || numbered(g.outgoing()).and_then(labelled))
}

/// A vertex on the way from the root of the search.
#[derive(Clone, Copy)]
struct Frame {
    /// Where its edges that have not been followed begin.
    next: usize,
    vertex: u32,
    /// The least number that it is known to lead to.
    least: u32,
}

/// A number for each component, of each of its vertices: from the number of vertices downwards.
fn numbered(lists: Lists<'_>) -> Result<Vec<u32>> {
    let n = lists.ptr.len() - 1;
    // 0 where the search has not been.
    let mut number = filled(n, 0u32, "components")?;
    let mut way: Vec<Frame> = reserved(n, "a way of vertices")?;
    let mut kept: Vec<u32> = reserved(n, "vertices of components")?;
    let (mut turn, mut component) = (0, n as u32);
    for root in 0..n {
        if number[root] != 0 {
            continue;
        }
        turn += 1;
        number[root] = turn;
        let mut at = Frame { next: lists.ptr[root], vertex: root as u32, least: turn };
        loop {
            let end = lists.ptr[at.vertex as usize + 1];
            let mut below = None;
            for (k, &v) in (at.next..end).zip(&lists.ends[at.next..end]) {
                let there = number[v as usize];
                if there == 0 {
                    below = Some((k + 1, v));
                    break;
                }
                at.least = at.least.min(there);
            }
            if let Some((next, v)) = below {
                way.push(Frame { next, ..at });
                turn += 1;
                number[v as usize] = turn;
                at = Frame { next: lists.ptr[v as usize], vertex: v, least: turn };
                continue;
            }
            let own = &mut number[at.vertex as usize];
            if at.least == *own {
                // The first of its component: those kept since have larger numbers of turns.
                let first = *own;
                *own = component;
                turn -= 1;
                while let Some(&v) = kept.last()
                    && number[v as usize] >= first
                {
                    number[v as usize] = component;
                    turn -= 1;
                    kept.pop();
                }
                component -= 1;
            } else {
                *own = at.least;
                kept.push(at.vertex);
            }
            let least = number[at.vertex as usize];
            let Some(before) = way.pop() else { break };
            at = Frame { least: before.least.min(least), ..before };
        }
    }
    Ok(number)
}

/// The least vertex of each component in place of its number.
fn labelled(mut number: Vec<u32>) -> Result<Vec<u32>> {
    let n = number.len();
    let mut least = filled(n, UNREACHED, "components")?;
    for v in 0..n {
        let first = &mut least[n - number[v] as usize];
        *first = (*first).min(v as u32);
        number[v] = *first;
    }
    Ok(number)
}

//! Strongly connected components by a single depth-first search.
//!
//! A vertex on the search path gets its preorder number, then the least number reachable from it. If that is its own,
//! it is the root of its component, and the vertices stacked since then are the others. Component numbers are larger
//! than all preorder numbers, so no test distinguishes them. Sources: Tarjan 1972, "Depth-First Search and Linear Graph
//! Algorithms"; Pearce 2016, "A space-efficient algorithm for finding strongly connected components".

use super::components::connected_components;
use super::search::UNREACHED;
use super::structure::{Graph, Lists};
use crate::par::{filled, reserved};
use crate::{Cpu, Result};

/// For each vertex the least vertex of its strongly connected component.
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

/// A vertex on the path from the root of the search.
#[derive(Clone, Copy)]
struct Frame {
    /// The position of its next edge to follow.
    next: usize,
    vertex: u32,
    /// The least number known to be reachable from it.
    least: u32,
}

/// A number for each vertex's component, assigned from n downwards.
fn numbered(lists: Lists<'_>) -> Result<Vec<u32>> {
    let n = lists.ptr.len() - 1;
    // 0 marks unvisited vertices.
    let mut number = filled(n, 0u32, "components")?;
    let mut path: Vec<Frame> = reserved(n, "a path of vertices")?;
    let mut stack: Vec<u32> = reserved(n, "vertices of components")?;
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
                path.push(Frame { next, ..at });
                turn += 1;
                number[v as usize] = turn;
                at = Frame { next: lists.ptr[v as usize], vertex: v, least: turn };
                continue;
            }
            let own = &mut number[at.vertex as usize];
            if at.least == *own {
                // The root of its component: vertices stacked since have larger preorder numbers.
                let first = *own;
                *own = component;
                turn -= 1;
                while let Some(&v) = stack.last()
                    && number[v as usize] >= first
                {
                    number[v as usize] = component;
                    turn -= 1;
                    stack.pop();
                }
                component -= 1;
            } else {
                *own = at.least;
                stack.push(at.vertex);
            }
            let least = number[at.vertex as usize];
            let Some(before) = path.pop() else { break };
            at = Frame { least: before.least.min(least), ..before };
        }
    }
    Ok(number)
}

/// Replaces component numbers by the least vertex of each component.
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

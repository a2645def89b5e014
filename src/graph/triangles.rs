//! Triangles of a graph (Wolf et al. 2017).
//!
//! L is the strictly lower triangle of the adjacency matrix after relabeling vertices by decreasing degree. Each
//! triangle a > b > c is found once, at row a of L: b ∈ L(a), and c ∈ L(b) ∩ L(a). No product is formed. L is built if
//! many entries would be looked up per edge. Otherwise each vertex lists its neighbors of higher degree; if no vertex
//! has many neighbors, the original rows are intersected directly.
//!
//! Source: Wolf, Deveci, Berry, Hammond, Rajamanickam 2017, "Fast linear algebra-based triangle counting with
//! KokkosKernels" (sum(L .* (L·L)), the mask as accumulator, compressed rows).

mod adjacency;
mod counts;
#[cfg(feature = "cuda")]
mod device;
mod direct;
mod forward;
mod listed;
mod lower;
mod panels;

use std::sync::Arc;

use adjacency::{Adjacency, Order};
pub(super) use counts::{counts_of_simple, edge_counts_of_simple};
pub(super) use forward::symmetry;
use forward::{Forward, fits};
use lower::Lower;
pub use panels::{PanelRows, masked_pairs};

use crate::algebra::Value;
use crate::par::Threads;
use crate::simd::{counts_bits, register};
use crate::{Cpu, Csr, Error, Index, Pattern, Result};

/// The algorithm for counting triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TriangleMethod {
    /// Chosen from the degrees.
    #[default]
    Auto,
    /// Masked plus-pair product `L⟨L⟩ = L·L`, each edge directed to its end of higher degree.
    Masked,
    /// Compressed rows of L, intersected 64 columns at a time.
    Compressed,
    /// Original rows, without relabeling; symmetry is tested on the fly.
    Direct,
}

/// A count, with the algorithm chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triangles {
    /// Number of triangles.
    pub count: u64,
    /// The algorithm, and why it was chosen.
    pub method: String,
}

/// A backend that counts the triangles of a graph given as `A`: [`Cpu`] takes a [`Csr`]; with the feature `cuda`,
/// `Cuda` takes a [`Csr`], which it uploads, or a `DeviceCsr` or `DevicePattern` on the device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not count triangles of `{A}`",
    note = "a `Cpu` takes a `Csr`, a `Cuda` a `Csr` or a `DeviceCsr`"
)]
pub trait TriangleCounter<A: ?Sized> {
    /// The result of [`triangles`].
    /// # Errors
    /// Those of [`triangles`].
    fn count(&self, a: &A, method: TriangleMethod) -> Result<Triangles>;
    /// The result of [`triangles_per_vertex`].
    /// # Errors
    /// Those of [`triangles_per_vertex`].
    fn per_vertex(&self, a: &A) -> Result<Vec<u64>>;
    /// The matrix type of [`triangles_per_edge`].
    type PerEdge;
    /// The result of [`triangles_per_edge`].
    /// # Errors
    /// Those of [`triangles_per_edge`].
    fn per_edge(&self, a: &A) -> Result<Self::PerEdge>;
}

/// `Σ L ∘ (L·L)`: the number of triangles of the simple undirected graph underlying `a`, whose pattern is that of A +
/// Aᵀ without its diagonal.
///
/// Every entry is an edge, stored zeros too; an edge may be stored in either direction or in both, rows in any order.
/// On the CPU a symmetric, sorted matrix is read in place; any other is transposed first. Cost: O(nnz + n + Σ |L(b)|
/// over the entries (a, b) of L) time, with |L(b)| ≤ 2 √nnz; O(nnz + n) memory, and almost none if the original rows
/// are intersected directly, which is chosen only if its work is proportional to nnz. The same count for any number of
/// threads and on any backend. A GPU has one method, for [`Auto`](TriangleMethod::Auto) and
/// [`Compressed`](TriangleMethod::Compressed); it looks up Σ min(|L(a)|, |L(b)|) neighbors.
/// # Errors
/// [`Error::NotSquare`]; [`Error::OutOfMemory`]; [`Error::IndexOverflow`] if 2³² vertices have two neighbors each.
/// On a GPU also [`Error::Unsupported`] for [`TriangleMethod::Masked`], and the errors of the device.
/// # Example
/// ```
/// use sparring::graph::{TriangleMethod, triangles};
/// use sparring::{Cpu, Csr};
/// // 0 – 1, 0 – 2, 1 – 2, 2 – 3, each stored once.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3], vec![1.0; 4])?;
/// let found = triangles(&Cpu::new(), &a, TriangleMethod::Auto)?;
/// assert_eq!(found.count, 1);
/// println!("{}", found.method);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Wolf et al. 2017, algorithm LL on compressed rows; Schank, Wagner 2005, algorithm *forward*.
pub fn triangles<M: TriangleCounter<A>, A: ?Sized>(machine: &M, a: &A, method: TriangleMethod) -> Result<Triangles> {
    machine.count(a, method)
}

/// `t = ½ S·1`, S of [`triangles_per_edge`]: the number of triangles at each vertex of the simple undirected graph
/// underlying `a`.
///
/// The matrix may be any that [`triangles`] takes; the counts sum to three times its count. Cost: O(nnz + n + Σ |L(b)|)
/// time over the edges (a, b), where L(b) are the neighbors of b of higher degree, at most √nnz; O(nnz + n) memory, and
/// 4n bytes per thread. The same counts for any number of threads.
/// # Errors
/// [`Error::NotSquare`]; [`Error::OutOfMemory`]; on a GPU [`Error::Unsupported`].
/// # Example
/// ```
/// use sparring::graph::triangles_per_vertex;
/// use sparring::{Cpu, Csr};
/// // 0 – 1, 0 – 2, 1 – 2, 2 – 3, each stored once.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3], vec![1.0; 4])?;
/// assert_eq!(triangles_per_vertex(&Cpu::new(), &a)?, [1, 1, 1, 0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Schank, Wagner 2005, algorithm *forward*.
pub fn triangles_per_vertex<M: TriangleCounter<A>, A: ?Sized>(machine: &M, a: &A) -> Result<Vec<u64>> {
    machine.per_vertex(a)
}

/// `S = B ∘ (B·B)`, B the pattern of A + Aᵀ without its diagonal: the number of triangles at each edge.
///
/// The matrix may be any that [`triangles`] takes. The result is n×n, symmetric, with sorted rows and an entry for each
/// edge in both directions, 0 if it is in no triangle. Cost: as [`triangles_per_vertex`], and O(log √nnz) per entry.
/// The same counts for any number of threads.
/// # Errors
/// [`Error::NotSquare`]; [`Error::OutOfMemory`]; on a GPU [`Error::Unsupported`].
/// # Example
/// ```
/// use sparring::graph::triangles_per_edge;
/// use sparring::{Cpu, Csr};
/// // 0 – 1, 0 – 2, 1 – 2, 2 – 3, each stored once.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 2, 3], vec![1.0; 4])?;
/// let s = triangles_per_edge(&Cpu::new(), &a)?;
/// assert_eq!((s.get(2, 0), s.get(0, 2), s.get(3, 2)), (Some(&1), Some(&1), Some(&0)));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Schank, Wagner 2005, algorithm *forward*.
pub fn triangles_per_edge<M: TriangleCounter<A>, A: ?Sized>(machine: &M, a: &A) -> Result<M::PerEdge> {
    machine.per_edge(a)
}

impl<I: Index> TriangleCounter<Pattern<I>> for Cpu {
    fn count(&self, a: &Pattern<I>, method: TriangleMethod) -> Result<Triangles> {
        on_cpu(self.threads(), a, method)
    }
    fn per_vertex(&self, a: &Pattern<I>) -> Result<Vec<u64>> {
        counts::per_vertex(self.threads(), a)
    }
    type PerEdge = Csr<u64, I>;
    fn per_edge(&self, a: &Pattern<I>) -> Result<Csr<u64, I>> {
        counts::per_edge(self.threads(), &Arc::new(a.select(self.threads(), |i, j| i != j)?))
    }
}

impl<I: Index> TriangleCounter<Arc<Pattern<I>>> for Cpu {
    fn count(&self, a: &Arc<Pattern<I>>, method: TriangleMethod) -> Result<Triangles> {
        on_cpu(self.threads(), a, method)
    }
    fn per_vertex(&self, a: &Arc<Pattern<I>>) -> Result<Vec<u64>> {
        counts::per_vertex(self.threads(), a)
    }
    type PerEdge = Csr<u64, I>;
    /// The result shares the pattern, if it is that of the graph.
    fn per_edge(&self, a: &Arc<Pattern<I>>) -> Result<Csr<u64, I>> {
        counts::per_edge(self.threads(), a)
    }
}

impl<T: Value, I: Index> TriangleCounter<Csr<T, I>> for Cpu {
    fn count(&self, a: &Csr<T, I>, method: TriangleMethod) -> Result<Triangles> {
        on_cpu(self.threads(), a.pattern(), method)
    }
    fn per_vertex(&self, a: &Csr<T, I>) -> Result<Vec<u64>> {
        counts::per_vertex(self.threads(), a.pattern())
    }
    type PerEdge = Csr<u64, I>;
    fn per_edge(&self, a: &Csr<T, I>) -> Result<Csr<u64, I>> {
        counts::per_edge(self.threads(), a.pattern())
    }
}

fn on_cpu<I: Index>(threads: &Threads, a: &Pattern<I>, method: TriangleMethod) -> Result<Triangles> {
    if a.nrows() != a.ncols() {
        return Err(Error::NotSquare { op: "triangles", nrows: a.nrows(), ncols: a.ncols() });
    }
    let neighbor_degree = neighbors_of_neighbors(a);
    let direct = match method {
        TriangleMethod::Direct => direct::count(threads, a, u64::MAX)?,
        TriangleMethod::Auto if neighbor_degree as f64 <= MAX_NEIGHBOR_DEGREE * register() as f64 => {
            direct::count(threads, a, MOST)?
        }
        _ => None,
    };
    if let Some(count) = direct {
        let why = if method == TriangleMethod::Direct {
            "requested".into()
        } else {
            format!("the mean degree of a neighbor is {neighbor_degree}")
        };
        return Ok(Triangles { count, method: format!("direct: original rows; {why}; A is symmetric") });
    }
    if method == TriangleMethod::Direct {
        let count = direct::count(threads, &a.symmetrized(threads)?, u64::MAX)?;
        let method = "direct: original rows; requested; A and Aᵀ are merged".into();
        return Ok(Triangles { count: count.unwrap_or_default(), method });
    }
    // Builds the lists as if A were symmetric, falling back if it is not.
    let mut graph = Adjacency::new(threads, a, true)?;
    let (mut form, mut why) = choose(method, lookups(&graph), counts_bits());
    let mut lists = if form == Form::Lists { Forward::of_symmetric(threads, a)? } else { None };
    let symmetric = lists.is_some() || form == Form::Packed && symmetry(threads, a)?.is_some();
    if !symmetric {
        graph = Adjacency::new(threads, a, false)?;
        (form, why) = choose(method, lookups(&graph), counts_bits());
    }
    if form == Form::Lists
        && let Some(t) = graph.transposed()
        && fits(a, graph.before(graph.vertices()))
    {
        let sorted = if a.is_sorted() { None } else { Some(t.transpose(threads)?) };
        lists = Some(Forward::of_both(threads, sorted.as_ref().unwrap_or(a), t)?);
    }
    let matrix = if symmetric { "A is symmetric" } else { "A and Aᵀ are read" };
    if let Some(lists) = lists {
        let method = format!("masked: neighbors of higher degree, as lists; {why}; {matrix}");
        return Ok(Triangles { count: lists.count(threads)?, method });
    }
    let order = Order::by_degree(threads, &graph)?;
    let count = Lower::new(threads, &graph, &order)?.count(threads)?;
    Ok(Triangles { count, method: format!("compressed: rows of L, 64 columns to a word; {why}; {matrix}") })
}

/// Mean degree of a neighbor, over the entries of sample rows: Σ d² / Σ d over their lengths d.
fn neighbors_of_neighbors<I: Index>(a: &Pattern<I>) -> usize {
    let (n, ptr) = (a.nrows(), a.row_ptr());
    let (mut squares, mut sum) = (0u128, 0u128);
    for u in (0..n).step_by(n / ROWS + 1) {
        let degree = (ptr[u + 1] - ptr[u]) as u128;
        (squares, sum) = (squares + degree * degree, sum + degree);
    }
    (squares / sum.max(1)) as usize
}

/// Approximate number of sample rows.
const ROWS: usize = 1 << 13;

/// Maximum mean degree of a neighbor, per byte of a register, for intersecting the original rows. With two threads and
/// AVX2, this takes 0.5 of the time of lists at a mean degree of 6 (delaunay_n16), 0.7 at 12 (p2p-Gnutella31), 1.0 at
/// 16 (er18d8), 1.2 at 27 (cond-mat-2005).
const MAX_NEIGHBOR_DEGREE: f64 = 0.5;

/// Maximum comparisons per entry beyond those of short rows, for intersecting the original rows.
const MOST: u64 = 4;

/// Estimated entries looked up per edge by lists: for sample edges, the number of neighbors of higher degree of the end
/// of higher degree, estimated from some of its entries.
fn lookups<I: Index>(graph: &Adjacency<'_, I>) -> usize {
    let (mut edges, mut sum) = (0, 0);
    for (u, v) in graph.edges(EDGES) {
        let end = graph.rank(u).max(graph.rank(v));
        let step = end.0 / EDGES + 1;
        let neighbors = graph.neighbors(end.1).into_iter().flatten().step_by(step);
        sum += step * neighbors.filter(|w| graph.rank(w.get()) > end).count();
        edges += 1;
    }
    sum / edges.max(1)
}

/// Maximum number of edges in the sample, and of entries sampled per row.
const EDGES: usize = 64;

/// Representation of neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Out-neighbors of each vertex.
    Lists,
    /// Rows of L, 64 columns to a word.
    Packed,
}

/// The form for a method, and why, from the [`lookups`] and whether the processor has a vector popcount.
///
/// Bitmaps, and the relabeling that makes them compact, pay off for many lookups. Time of packed rows relative to
/// lists, with two threads, by AVX2 and by AVX-512, lookups in parentheses: ego-Facebook (29) 2.0, 1.0; wiki-Vote (34)
/// 1.0, 0.8; rmat14 (62) 1.0, 0.7; tc_rmat16 (105) 0.8, 0.5.
fn choose(method: TriangleMethod, lookups: usize, counts_bits: bool) -> (Form, String) {
    let most = if counts_bits { 32 } else { 64 };
    match method {
        TriangleMethod::Masked => (Form::Lists, "requested".into()),
        TriangleMethod::Compressed => (Form::Packed, "requested".into()),
        _ if lookups > most => {
            (Form::Packed, format!("lists would look up {lookups} entries per edge, more than {most}"))
        }
        _ => (Form::Lists, format!("about {lookups} lookups per edge")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_follows_the_lookups() {
        let of = |lookups, counts_bits| choose(TriangleMethod::Auto, lookups, counts_bits);
        assert_eq!(of(64, false), (Form::Lists, "about 64 lookups per edge".into()));
        assert_eq!(of(65, false), (Form::Packed, "lists would look up 65 entries per edge, more than 64".into()));
        assert_eq!((of(32, true).0, of(33, true).0), (Form::Lists, Form::Packed));
        let asked = |method| choose(method, 65, false).0;
        assert_eq!(asked(TriangleMethod::Masked), Form::Lists);
        assert_eq!(asked(TriangleMethod::Compressed), Form::Packed);
    }

    /// A star whose leaves form a path, a complete graph, and an empty one.
    #[test]
    fn means_over_samples() {
        fn alone(a: &Pattern) -> Adjacency<'_, u32> {
            Adjacency::new(&Threads::current(), a, true).unwrap()
        }
        let of = |n: usize, joined: &dyn Fn(usize, usize) -> bool| {
            let (mut ptr, mut cols) = (vec![0], vec![]);
            for i in 0..n {
                cols.extend((0..n).filter(|&j| joined(i, j)).map(|j| j as u32));
                ptr.push(cols.len());
            }
            Pattern::<u32>::new(n, n, ptr, cols).unwrap()
        };
        let star = of(12, &|i, j| (i == 0) != (j == 0) || i.abs_diff(j) == 1);
        assert_eq!((neighbors_of_neighbors(&star), lookups(&alone(&star))), ((121 + 4 + 4 + 9 * 9) / 42, 0));
        // For an edge i, j, the larger end has as neighbors the vertices beyond it: 20 in the mean.
        let whole = of(61, &|i, j| i != j);
        assert_eq!(neighbors_of_neighbors(&whole), 60);
        assert!((15..=25).contains(&lookups(&alone(&whole))), "{}", lookups(&alone(&whole)));
        let none = of(3, &|_, _| false);
        assert_eq!((neighbors_of_neighbors(&none), lookups(&alone(&none))), (0, 0));
    }
}

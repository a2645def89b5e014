//! Triangles of a graph (Wolf et al. 2017).
//!
//! L is the strictly lower triangle of the adjacency matrix after vertices have been relabelled by degree, hubs
//! first. Each triangle a > b > c is found once, at row a of L: b ∈ L(a), and c ∈ L(b) ∩ L(a). No product is formed.
//! L is made where many entries would be looked up for an edge. Else each vertex lists its neighbors of higher degree,
//! and where no vertex has many neighbors, rows are read as they stand.
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

/// How triangles are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TriangleMethod {
    /// Chosen from the degrees.
    #[default]
    Auto,
    /// Masked plus-pair product `L⟨L⟩ = L·L`, each edge directed to its end of higher degree.
    Masked,
    /// Compressed rows of L, intersected 64 columns at a time.
    Compressed,
    /// Rows as they stand, without new names; whether the matrix is symmetric is seen on the way.
    Direct,
}

/// A count and how it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triangles {
    /// Number of triangles.
    pub count: u64,
    /// What ran, and why.
    pub method: String,
}

/// A machine that counts the triangles of a graph in the form `A`: [`Cpu`] takes a [`Csr`]; with the feature `cuda`,
/// `Cuda` takes a [`Csr`], which it sends to the device, or a `DeviceCsr` or `DevicePattern` that is there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not count triangles of `{A}`",
    note = "a `Cpu` takes a `Csr`, a `Cuda` a `Csr` or a `DeviceCsr`"
)]
pub trait TriangleCounter<A: ?Sized> {
    /// What [`triangles`] returns.
    /// # Errors
    /// Those of [`triangles`].
    fn count(&self, a: &A, method: TriangleMethod) -> Result<Triangles>;
    /// What [`triangles_per_vertex`] returns.
    /// # Errors
    /// Those of [`triangles_per_vertex`].
    fn per_vertex(&self, a: &A) -> Result<Vec<u64>>;
    /// The matrix that [`triangles_per_edge`] returns.
    type PerEdge;
    /// What [`triangles_per_edge`] returns.
    /// # Errors
    /// Those of [`triangles_per_edge`].
    fn per_edge(&self, a: &A) -> Result<Self::PerEdge>;
}

/// `Σ L ∘ (L·L)`: triangles of the simple undirected graph under `a`, which is the pattern of A + Aᵀ without its
/// diagonal.
///
/// Entries are edges whatever their values, stored zeros too; an edge may be stored in either direction or in both,
/// rows in any order. On the CPU a matrix that is symmetric and sorted is read as it is; any other is transposed first.
/// Cost: O(nnz + n + Σ |L(b)| over the entries (a, b) of L) time, with |L(b)| ≤ 2 √nnz; O(nnz + n) memory, and next to
/// none where rows are read as they stand, which is seen to be in proportion to nnz. The same count for any number of
/// threads and on any machine. A GPU has one method, for [`Auto`](TriangleMethod::Auto) and
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

/// `t = ½ S·1`, S of [`triangles_per_edge`]: in how many triangles each vertex is, of the simple undirected graph under
/// `a`.
///
/// The matrix may be any that [`triangles`] takes; the counts add up to three times its count. Cost: O(nnz + n + Σ
/// |L(b)|) time over the edges (a, b), where L(b) are the neighbors of b of higher degree, at most √nnz; O(nnz + n)
/// memory, and 4n bytes for each thread. The same counts for any number of threads.
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

/// `S = B ∘ (B·B)`, B the pattern of A + Aᵀ without its diagonal: in how many triangles each edge is.
///
/// The matrix may be any that [`triangles`] takes. The result is n×n, symmetric, rows sorted, with an entry for each
/// edge in both directions, 0 where it is in no triangle. Cost: as [`triangles_per_vertex`], and O(log √nnz) for each
/// entry. The same counts for any number of threads.
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
    /// The result shares the pattern, if that is the graph's.
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
    let alike = neighbors_of_neighbors(a);
    let direct = match method {
        TriangleMethod::Direct => direct::count(threads, a, u64::MAX)?,
        TriangleMethod::Auto if alike as f64 <= ALIKE * register() as f64 => direct::count(threads, a, MOST)?,
        _ => None,
    };
    if let Some(count) = direct {
        let why = if method == TriangleMethod::Direct {
            "asked for".into()
        } else {
            format!("a neighbor has {alike} neighbors")
        };
        return Ok(Triangles { count, method: format!("direct: rows as they stand; {why}; A is symmetric") });
    }
    if method == TriangleMethod::Direct {
        let count = direct::count(threads, &a.symmetrized(threads)?, u64::MAX)?;
        let method = "direct: rows as they stand; asked for; A and Aᵀ are merged".into();
        return Ok(Triangles { count: count.unwrap_or_default(), method });
    }
    // As if A were symmetric; then as it is.
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

/// How many neighbors a neighbor has, in the mean over the entries of some rows: Σ d² / Σ d over their lengths d.
fn neighbors_of_neighbors<I: Index>(a: &Pattern<I>) -> usize {
    let (n, ptr) = (a.nrows(), a.row_ptr());
    let (mut squares, mut sum) = (0u128, 0u128);
    for u in (0..n).step_by(n / ROWS + 1) {
        let degree = (ptr[u + 1] - ptr[u]) as u128;
        (squares, sum) = (squares + degree * degree, sum + degree);
    }
    (squares / sum.max(1)) as usize
}

/// Rows that this mean is taken of, about.
const ROWS: usize = 1 << 13;

/// Neighbors that a neighbor has, for each byte of a register, up to which rows are read as they stand. Two threads
/// with AVX2: direct over lists takes 0.5 of the time at 6 (delaunay_n16), 0.7 at 12 (p2p-Gnutella31), 1.0 at 16
/// (er18d8), 1.2 at 27 (cond-mat-2005).
const ALIKE: f64 = 0.5;

/// Comparisons an entry beyond those of short rows at most, for rows to be read as they stand.
const MOST: u64 = 4;

/// Entries that are looked up for an edge by lists, about: of some edges the neighbors of higher degree that the end of
/// higher degree has, seen at some of its entries.
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

/// Edges, and entries of a row, of this sample at most.
const EDGES: usize = 64;

/// How neighbors are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Out-neighbors of each vertex.
    Lists,
    /// Rows of L, 64 columns to a word.
    Packed,
}

/// The form for a method, and why, by the [`lookups`] and whether bits are counted by registers.
///
/// Bits, and new names that gather them in few words, are worth their price for many lookups. Packed over lists, two
/// threads, with AVX2 and AVX-512: ego-Facebook (29) 2.0, 1.0; wiki-Vote (34) 1.0, 0.8; rmat14 (62) 1.0, 0.7; tc_rmat16
/// (105) 0.8, 0.5.
fn choose(method: TriangleMethod, lookups: usize, counts_bits: bool) -> (Form, String) {
    let most = if counts_bits { 32 } else { 64 };
    match method {
        TriangleMethod::Masked => (Form::Lists, "asked for".into()),
        TriangleMethod::Compressed => (Form::Packed, "asked for".into()),
        _ if lookups > most => {
            (Form::Packed, format!("lists would look up {lookups} entries for an edge, over {most}"))
        }
        _ => (Form::Lists, format!("about {lookups} entries are looked up for an edge")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_follows_the_lookups() {
        let of = |lookups, counts_bits| choose(TriangleMethod::Auto, lookups, counts_bits);
        assert_eq!(of(64, false), (Form::Lists, "about 64 entries are looked up for an edge".into()));
        assert_eq!(of(65, false), (Form::Packed, "lists would look up 65 entries for an edge, over 64".into()));
        assert_eq!((of(32, true).0, of(33, true).0), (Form::Lists, Form::Packed));
        let asked = |method| choose(method, 65, false).0;
        assert_eq!(asked(TriangleMethod::Masked), Form::Lists);
        assert_eq!(asked(TriangleMethod::Compressed), Form::Packed);
    }

    /// A star whose ends are a path, a complete graph, and no entries.
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
        // The larger end of an edge i, j has the vertices beyond it: 20 in the mean, as many as are not less than both.
        let whole = of(61, &|i, j| i != j);
        assert_eq!(neighbors_of_neighbors(&whole), 60);
        assert!((15..=25).contains(&lookups(&alone(&whole))), "{}", lookups(&alone(&whole)));
        let none = of(3, &|_, _| false);
        assert_eq!((neighbors_of_neighbors(&none), lookups(&alone(&none))), (0, 0));
    }
}

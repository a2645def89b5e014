//! Triangles of a graph (Wolf et al. 2017).
//!
//! L is the strictly lower triangle of the adjacency matrix after vertices have been relabelled by degree, hubs
//! first. Each triangle a > b > c is found once, at row a of L: b ∈ L(a), and c ∈ L(b) ∩ L(a). No product is formed.
//! Where no vertex has many neighbors, rows are read as they stand.
//!
//! Source: Wolf, Deveci, Berry, Hammond, Rajamanickam 2017, "Fast linear algebra-based triangle counting with
//! KokkosKernels" (sum(L .* (L·L)), the mask as accumulator, compressed rows).

mod adjacency;
mod counts;
#[cfg(feature = "cuda")]
mod device;
mod direct;
mod listed;
mod lower;

use std::sync::Arc;

pub(super) use adjacency::symmetry;
use adjacency::{Adjacency, Order};
pub(super) use counts::{counts_of_simple, edge_counts_of_simple};
use lower::{Lists, Lower, Packed};

use crate::algebra::Value;
use crate::par::Threads;
use crate::{Cpu, Csr, Error, Index, Pattern, Result};

/// How triangles are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TriangleMethod {
    /// Chosen from the degrees.
    #[default]
    Auto,
    /// Masked plus-pair product `L⟨L⟩ = L·L`, rows ordered by degree.
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
/// Source: Wolf et al. 2017, algorithm LL on compressed rows.
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
    if let Some(found) = direct(threads, a, method)? {
        return Ok(found);
    }
    let graph = Adjacency::new(threads, a)?;
    if method == TriangleMethod::Auto
        && let Some(both) = graph.merged(threads, MERGED)?
        && let Some(count) = direct::count(threads, &both, MOST)?
    {
        let method = format!("direct: rows as they stand; no vertex in over {MERGED} entries; A and Aᵀ are merged");
        return Ok(Triangles { count, method });
    }
    let order = Order::by_degree(threads, &graph)?;
    let degrees = Degrees { vertices: order.named, sum: graph.before(graph.vertices()), longest: order.longest };
    let (form, why) = choose(method, &degrees);
    let (count, form) = match form {
        Form::Lists => (Lower::<Lists>::new(threads, &graph, &order)?.count(threads)?, "masked: rows of L as lists"),
        Form::Packed => (
            Lower::<Packed>::new(threads, &graph, &order)?.count(threads)?,
            "compressed: rows of L, 64 columns to a word",
        ),
    };
    let matrix = if graph.repeats() { "A and Aᵀ are read" } else { "A is symmetric" };
    Ok(Triangles { count, method: format!("{form}; {why}; {matrix}") })
}

/// The count on rows as they stand, where that is asked for, or chosen and possible.
fn direct<I: Index>(threads: &Threads, a: &Pattern<I>, method: TriangleMethod) -> Result<Option<Triangles>> {
    let (most, why) = match method {
        TriangleMethod::Auto => (MOST, "few comparisons of rows, A is symmetric"),
        TriangleMethod::Direct => (u64::MAX, "asked for"),
        TriangleMethod::Masked | TriangleMethod::Compressed => return Ok(None),
    };
    let mut count = direct::count(threads, a, most)?;
    if count.is_none() && method == TriangleMethod::Direct {
        count = direct::count(threads, &a.symmetrized(threads)?, most)?;
    }
    Ok(count.map(|count| Triangles { count, method: format!("direct: rows as they stand; {why}") }))
}

/// Degrees, both directions counted, up to which A and Aᵀ are merged to be read as they stand.
const MERGED: usize = 256;

/// Comparisons an entry beyond those of short rows at most, for rows to be read as they stand: with more, order by
/// degree and L are worth their price. Two threads, benches/triangles.rs: with 4, graphs with hubs go to L after a
/// block or two; with 16 soc-brightkite takes 1.3 times as long as by L, with 64 email-Enron 1.3 times, bcsstk16 2.7
/// times.
const MOST: u64 = 4;

/// What the choice of a method rests on.
#[derive(Clone, Copy, Debug)]
struct Degrees {
    /// Vertices with two neighbors or more.
    vertices: usize,
    /// Of all degrees.
    sum: usize,
    /// The largest degree.
    longest: usize,
}

/// How rows of L are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Lists,
    Packed,
}

/// The form of L for a method, and why.
///
/// Hubs-first labels gather the entries of L in few columns if there are hubs; where all vertices are alike and have
/// few neighbors, nearly every word would hold one bit. Times of masked over compressed, one thread,
/// benches/triangles.rs: lap2d_1000 0.67, er18d8 0.8; stencil27_60 1.05, cnr-2000 1.2, email-Enron 1.6, tc_rmat16 3.
fn choose(method: TriangleMethod, d: &Degrees) -> (Form, String) {
    let mean = d.sum as f64 / d.vertices.max(1) as f64;
    match method {
        TriangleMethod::Masked => (Form::Lists, "asked for".into()),
        TriangleMethod::Compressed => (Form::Packed, "asked for".into()),
        _ if mean >= 20.0 => (Form::Packed, format!("mean degree {mean:.1}, at least 20")),
        _ if d.longest as f64 > 8.0 * mean => {
            (Form::Packed, format!("largest degree {}, over 8 times the mean of {mean:.1}", d.longest))
        }
        _ => (Form::Lists, format!("degrees alike and small: mean {mean:.1}, largest {}", d.longest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_follows_the_degrees() {
        let of = |vertices, sum, longest| choose(TriangleMethod::Auto, &Degrees { vertices, sum, longest });
        assert_eq!(of(10, 200, 20), (Form::Packed, "mean degree 20.0, at least 20".into()));
        assert_eq!(of(10, 40, 33), (Form::Packed, "largest degree 33, over 8 times the mean of 4.0".into()));
        assert_eq!(of(10, 40, 32), (Form::Lists, "degrees alike and small: mean 4.0, largest 32".into()));
        assert_eq!(of(0, 0, 0).0, Form::Lists);
        let asked = |method| choose(method, &Degrees { vertices: 10, sum: 40, longest: 33 }).0;
        assert_eq!(asked(TriangleMethod::Masked), Form::Lists);
        assert_eq!(asked(TriangleMethod::Compressed), Form::Packed);
    }
}

//! Shortest path lengths by Δ-stepping, expressed in GraphBLAS operations.
//!
//! d holds the tentative distances, `left` those of later buckets. A bucket begins with the entries of `left` below its
//! bound. A step relaxes the edges of the vertices q, t = qᵀ min.+ A, retains the entries of t that are less than d,
//! and continues with those below the bound. Sources: Meyer, Sanders 2003, "Δ-stepping: a parallelizable
//! shortest path algorithm"; Sridhar, Blanco, Mayuranath, Spampinato, Low, McMillan 2019, "Delta-stepping SSSP: from
//! vertices and edges to GraphBLAS implementations".

use super::checks::vertices;
use crate::algebra::{Greater, GreaterEqual, Identity, Min, MinPlus, Plus, ValueGe, ValueLt};
use crate::backend::{Backend, Container};
use crate::par::filled;
use crate::{Error, Index, Result, Vector};

/// The length of a shortest path from `source` to each vertex, ∞ where there is no path.
///
/// Entry (i, j) of the adjacency matrix is an edge from i to j of that length, at least 0. `delta` is the bucket width:
/// a wide bucket takes fewer steps, a narrow one fewer products. Without it, the width is 8 times the mean weight over
/// the mean degree. On the CPU [`sssp`](super::sssp()) is faster. Cost: O(nnz) to scan the weights; then O(n + nnz)
/// operations of the backend if each edge is relaxed once, with as many steps per bucket as a shortest path has edges
/// in it.
/// # Errors
/// [`Error::NotSquare`]; [`Error::Argument`] if there is no vertex `source`, a weight is negative or NaN, or
/// `delta` is not a positive number; those of the [`Backend`].
/// # Example
/// ```
/// use sparring::{Cpu, Csr, graph::sssp_distances};
/// // 0 → 1 → 2 is shorter than 0 → 2, and 3 is apart.
/// let a = Csr::<f64>::new(4, 4, vec![0, 2, 3, 3, 3], vec![1, 2, 2], vec![1.0, 5.0, 2.5])?;
/// assert_eq!(sssp_distances(&Cpu::new(), &a, 0, None)?, [0.0, 1.0, 3.5, f64::INFINITY]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn sssp_distances<B: Backend>(on: &B, a: &B::Matrix<f64>, source: usize, delta: Option<f64>) -> Result<Vec<f64>> {
    let n = vertices(on, "sssp_distances", a, &[source])?;
    let delta = width(on, a, n, delta)?;
    let mut d = on.upload_vector(&Vector::new(n, vec![u32::cast(source)], vec![0.0])?)?;
    let none = on.upload_vector(&Vector::<f64>::empty(n)?)?;
    let mut left = d.clone();
    while on.nnz(&left)? > 0 {
        let least = on.reduce(Min::new(), &left).eval()?;
        if least == f64::INFINITY {
            break;
        }
        // A bucket narrower than rounding holds a single length.
        let bound = (((least / delta).floor() + 1.0) * delta).max(least.next_up());
        let mut q = on.select(ValueLt::new(), &left, bound).eval()?;
        on.apply(Identity::new(), &none).mask(q.structure()).into(&mut left)?;
        // Stale entries: vertices whose distance has decreased since have been relaxed.
        let old = on.ewise_mult(Greater::new(), &q, &d).eval()?;
        on.apply(Identity::new(), &none).mask(&old).into(&mut q)?;
        while on.nnz(&q)? > 0 {
            let t = on.vxm(MinPlus::new(), &q, a).eval()?;
            // Without a tentative distance there is no entry here, and t is one.
            let farther = on.ewise_mult(GreaterEqual::new(), &t, &d).eval()?;
            let t = on.apply(Identity::new(), &t).mask(&farther).complement().eval()?;
            on.ewise_add(Min::new(), &d, &t).into(&mut d)?;
            q = on.select(ValueLt::new(), &t, bound).eval()?;
            if on.nnz(&q)? < on.nnz(&t)? {
                let later = on.select(ValueGe::new(), &t, bound).eval()?;
                on.ewise_add(Min::new(), &left, &later).into(&mut left)?;
            }
        }
    }
    let mut lengths = filled(n, f64::INFINITY, "distances")?;
    on.download_vector(&d)?.iter().for_each(|(v, &length)| lengths[v] = length);
    Ok(lengths)
}

/// The bucket width, after checking the weights.
fn width<B: Backend>(on: &B, a: &B::Matrix<f64>, n: usize, delta: Option<f64>) -> Result<f64> {
    let refused = |name, message| Err(Error::Argument { name, message });
    if let Some(delta) = delta.filter(|delta| !(*delta > 0.0 && *delta < f64::INFINITY)) {
        return refused("delta", format!("the width of a bucket is {delta}, not a positive number"));
    }
    let (nnz, least) = (on.nnz(a)?, on.reduce(Min::new(), a).eval()?);
    if least < 0.0 {
        return refused("weights", format!("the least is {least}; bellman_ford takes negative weights"));
    }
    let sum: f64 = on.reduce(Plus::new(), a).eval()?;
    if sum.is_nan() {
        return refused("weights", "a weight is NaN".into());
    }
    let degree = (nnz as f64 / n.max(1) as f64).max(1.0);
    let width = delta.unwrap_or(8.0 * (sum / nnz as f64) / degree);
    // All weights are 0, or their sum overflows.
    Ok(if width.is_normal() { width } else { 1.0 })
}

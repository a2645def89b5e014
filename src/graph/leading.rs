//! The leading eigenvector of a symmetric matrix, by conjugate gradients.
//!
//! Each step takes the best vector of the span of the current x, its residual `r = A x − θ x` and the last change p of
//! x (Rayleigh–Ritz). It costs one product, like a step of the power method, but convergence takes about the square
//! root of the number of steps if the second eigenvalue is near the first. All vectors are in the Krylov space of the
//! first x, so the limit is that of the power method. Source: Knyazev 2001, "Toward the optimal preconditioned
//! eigensolver: locally optimal block preconditioned conjugate gradient method", with one vector and no preconditioner.

use std::sync::{Mutex, PoisonError};

use super::pull::Pull;
use crate::Result;
use crate::par::{Threads, collected, filled, for_each_part, reserved};

/// State of a vertex: x, A x, p, A p.
#[derive(Clone, Copy, Default)]
struct Node {
    x: f64,
    ax: f64,
    p: f64,
    ap: f64,
}

/// Sums over the vertices after a step.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// `Σ |r|`.
    size: f64,
    rr: f64,
    rp: f64,
    xp: f64,
    pp: f64,
    p_ap: f64,
    r_ap: f64,
}

/// The update of x and p: `p ← from_x x + from_r r + from_p p`, `x ← keep x + p`.
#[derive(Clone, Copy)]
struct Combination {
    keep: f64,
    from_x: f64,
    from_r: f64,
    from_p: f64,
    /// The Rayleigh quotient of the updated x.
    theta: f64,
}

/// Vertices per block: sums are taken by block, independently of the number of threads.
const BLOCK: usize = 1 << 12;
/// Steps without a smaller residual before giving up.
const PATIENCE: u32 = 32;

/// Overwrites `x`, of length 1, with an approximation of the leading eigenvector of length 1, within `most` products:
/// until a step of the power method for I + A would change it by less than half of `tolerance`, or progress stops.
/// Returns the number of products. Negative entries are rounding errors, and become 0.
pub(super) fn accelerate(
    threads: &Threads,
    pull: &Pull<'_>,
    op: &'static str,
    x: &mut [f64],
    tolerance: f64,
    most: u32,
) -> Result<u32> {
    let n = x.len();
    if most < 4 {
        return Ok(0);
    }
    let (mut r, mut ar) = (filled(n, 0.0, "residuals")?, filled(n, 0.0, "residuals")?);
    let mut unused = filled(n, 0.0, "residuals")?;
    let mut product = |x: &[f64], ax: &mut [f64]| {
        // x · A x.
        pull.step(op, x, ax, &mut unused, |v, sum, to, _| {
            *to = sum;
            sum * x[v]
        })
    };
    let theta = product(x, &mut ar)?;
    let mut nodes = collected(n, x.iter().zip(&ar).map(|(&x, &ax)| Node { x, ax, p: 0.0, ap: 0.0 }), "vectors")?;
    let mut next = Combination { keep: 1.0, from_x: 0.0, from_r: 0.0, from_p: 0.0, theta };
    let (mut least, mut since) = (f64::INFINITY, 0);
    for k in 1..most {
        let sums = combine(threads, &mut nodes, &mut r, &ar, next)?;
        since = if sums.size < least { 0 } else { since + 1 };
        least = least.min(sums.size);
        let goal = 0.5 * tolerance * (1.0 + next.theta);
        // NaN counts as no progress.
        if sums.size.partial_cmp(&goal) != Some(std::cmp::Ordering::Greater) || since > PATIENCE || k + 1 == most {
            let norm = nodes.iter().map(|node| node.x * node.x).sum::<f64>().sqrt();
            if norm > 0.0 && norm.is_finite() {
                x.iter_mut().zip(&nodes).for_each(|(x, node)| *x = node.x.max(0.0) / norm);
            }
            return Ok(k);
        }
        let r_ar = product(&r, &mut ar)?;
        next = best(next.theta, sums, r_ar);
    }
    Ok(most)
}

/// Updates x, p and their products, then r; `ar` is the product of the last r.
fn combine(threads: &Threads, nodes: &mut [Node], r: &mut [f64], ar: &[f64], by: Combination) -> Result<Sums> {
    let blocks = nodes.len().div_ceil(BLOCK);
    let all = Mutex::new(filled(blocks, Sums::default(), "sums of blocks")?);
    let mut parts = reserved(blocks, "blocks")?;
    parts.extend(nodes.chunks_mut(BLOCK).zip(r.chunks_mut(BLOCK)).zip(ar.chunks(BLOCK)).enumerate());
    for_each_part(
        threads,
        parts,
        || Ok(()),
        |(), (k, ((nodes, r), ar))| {
            let mut sums = Sums::default();
            for ((node, r), ar) in nodes.iter_mut().zip(r).zip(ar) {
                let p = by.from_x * node.x + by.from_r * *r + by.from_p * node.p;
                let ap = by.from_x * node.ax + by.from_r * ar + by.from_p * node.ap;
                let (x, ax) = (by.keep * node.x + p, by.keep * node.ax + ap);
                *node = Node { x, ax, p, ap };
                *r = ax - by.theta * x;
                sums.size += r.abs();
                sums.rr += *r * *r;
                sums.rp += *r * p;
                sums.xp += x * p;
                sums.pp += p * p;
                sums.p_ap += p * ap;
                sums.r_ap += *r * ap;
            }
            all.lock().unwrap_or_else(PoisonError::into_inner)[k] = sums;
            Ok(())
        },
    )?;
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(all.iter().fold(Sums::default(), |a, b| Sums {
        size: a.size + b.size,
        rr: a.rr + b.rr,
        rp: a.rp + b.rp,
        xp: a.xp + b.xp,
        pp: a.pp + b.pp,
        p_ap: a.p_ap + b.p_ap,
        r_ap: a.r_ap + b.r_ap,
    }))
}

/// The best vector of the span of x, r and p. In the orthonormal basis x, r/|r|, q, with q the normalized component of
/// p orthogonal to both, A − θ I is tridiagonal, with diagonal 0, a, b and off-diagonal |r|, c.
fn best(theta: f64, s: Sums, r_ar: f64) -> Combination {
    let (r_norm, p_norm) = (s.rr.sqrt(), s.pp.sqrt());
    let a = r_ar / s.rr - theta;
    let (xp, rp) = if p_norm > 0.0 { (s.xp / p_norm, s.rp / (p_norm * r_norm)) } else { (0.0, 0.0) };
    let square = 1.0 - xp * xp - rp * rp;
    let (mut b, mut c, mut scale) = (0.0, 0.0, 0.0);
    let has_p = p_norm > 0.0 && square > 1e-12;
    if has_p {
        scale = 1.0 / square.sqrt();
        let (r_ap, p_ap) = (s.r_ap / (r_norm * p_norm), s.p_ap / s.pp);
        let (r_ar, x_ap) = (a + theta, r_norm * rp + theta * xp);
        c = (r_ap - xp * r_norm - rp * r_ar) * scale;
        b = (p_ap + xp * xp * theta + rp * rp * r_ar - 2.0 * xp * x_ap - 2.0 * rp * r_ap + 2.0 * xp * rp * r_norm)
            * (scale * scale)
            - theta;
    }
    // The largest root of the characteristic polynomial, by Newton's method from above, where it is convex and
    // increasing.
    let (rr, cc) = (s.rr, c * c);
    let mut root = (r_norm.max(a + r_norm + c.abs())).max(if has_p { b + c.abs() } else { 0.0 });
    for _ in 0..200 {
        let (value, slope) = if has_p {
            let (da, db) = (root - a, root - b);
            (root * (da * db - cc) - rr * db, da * db - cc + root * (da + db) - rr)
        } else {
            (root * (root - a) - rr, 2.0 * root - a)
        };
        let step = value / slope;
        // Also ends on NaN.
        if step.partial_cmp(&(1e-15 * root)) != Some(std::cmp::Ordering::Greater) {
            break;
        }
        root -= step;
    }
    let along_r = root / r_norm;
    let along_q = if has_p && root != b { c * along_r / (root - b) } else { 0.0 };
    let norm = (1.0 + along_r * along_r + along_q * along_q).sqrt();
    let q = along_q * scale / norm;
    Combination {
        keep: 1.0 / norm,
        from_x: -q * xp,
        from_r: (along_r / norm - q * rp) / r_norm,
        from_p: if has_p { q / p_norm } else { 0.0 },
        theta: theta + root,
    }
}

//! The finite element mass operator of order 1 to 8 on squares and cubes: assembled, applied as a matrix, and applied
//! matrix-free.
//!
//! `M = Bᵀ W B` for each element, where B has the values of all products of D = p + 1 Bernstein polynomials at
//! Qᵈ = (p + 2)ᵈ Gauss points, and W the weights of those points. The action U = M V processes one direction after
//! another. In one pass ([`Mass::action`]), intermediates stay in registers and caches; as a chain of batched
//! contractions, one for each direction forward and backward, they go through memory.
//!
//! ```sh
//! cargo run --release --example mass_operator -- --large
//! ```
//! With `--features cuda` and a GPU, the action and the chain run on the GPU as well.

use std::time::Instant;

use sparring::algebra::PlusTimes;
use sparring::contract::{Batch, Einsum, Layout, Mass, View};
use sparring::{Cpu, Result};

fn main() -> Result<()> {
    let large = std::env::args().any(|word| word == "--large");
    // Bytes of weights, V and U together, and of assembled matrices.
    let (bytes, matrices) = if large { (200e6, 64e6) } else { (1e6, 3e6) };
    let cpu = Cpu::new();
    #[cfg(feature = "cuda")]
    let cuda = device::found();
    println!(
        "times of one element in µs, least of five; behind those of the chain and of M·V how many times the action's they are\n"
    );
    println!(" d  p  elements    action  GFLOP/s      chain               M·V           assembly    error");
    for directions in [2, 3] {
        for order in 1..=8 {
            let problem = Problem::new(directions, order, bytes)?;
            row(&cpu, &problem, matrices)?;
            #[cfg(feature = "cuda")]
            if let Some(cuda) = &cuda {
                device::row(cuda, &cpu, &problem)?;
            }
        }
    }
    Ok(())
}

/// Elements that differ only in size, and a vector.
struct Problem {
    directions: usize,
    /// Number of functions and of points per direction.
    dofs: usize,
    points: usize,
    elements: usize,
    basis: Vec<f64>,
    weights: Vec<f64>,
    v: Vec<f64>,
}

impl Problem {
    fn new(directions: usize, order: usize, bytes: f64) -> Result<Self> {
        let (dofs, points) = (order + 1, order + 2);
        let (n, q) = (dofs.pow(directions as u32), points.pow(directions as u32));
        let elements = (bytes / (8 * (q + 2 * n)) as f64).ceil() as usize;
        let rule = gauss(points);
        let basis = rule.iter().flat_map(|&(x, _)| bernstein(order, x)).collect();
        let weight = |e: usize, k: usize| {
            let point = |d: usize| k / points.pow(d as u32) % points;
            (0..directions).fold(size(e), |product, d| product * rule[point(d)].1)
        };
        let weights = (0..elements * q).map(|t| weight(t / q, t % q)).collect();
        let v = (0..elements * n).map(|t| ((t * 37) % 101) as f64 / 50.0 - 1.0).collect();
        Ok(Self { directions, dofs, points, elements, basis, weights, v })
    }
    fn basis(&self) -> Result<View<'_, f64>> {
        View::new(&self.basis, Layout::row_major(&[self.points, self.dofs])?)
    }
    /// The first elements only.
    fn weights(&self, elements: usize) -> Result<View<'_, f64>> {
        View::new(&self.weights, Layout::row_major(&vec![self.points; self.directions])?.batched(elements)?)
    }
    fn v(&self, elements: usize) -> Result<View<'_, f64>> {
        View::new(&self.v, Layout::row_major(&vec![self.dofs; self.directions])?.batched(elements)?)
    }
    /// Expressions of the chain: what each meets, and the extents of its result. The first index is contracted and
    /// comes back as the last.
    fn chain(&self) -> Vec<(String, With, Vec<usize>)> {
        let rest = &"bc"[..self.directions - 1];
        let all = &"abc"[..self.directions];
        let mut extents = vec![self.dofs; self.directions];
        let mut steps = vec![];
        let mut turn = |extents: &mut Vec<usize>, text: String, to| {
            extents.remove(0);
            extents.push(to);
            steps.push((text, With::Basis, extents.clone()));
        };
        for _ in 0..self.directions {
            turn(&mut extents, format!("qa,a{rest}->{rest}q"), self.points);
        }
        for _ in 0..self.directions {
            turn(&mut extents, format!("aq,a{rest}->{rest}q"), self.dofs);
        }
        let weighted = (format!("{all},{all}->{all}"), With::Weights, vec![self.points; self.directions]);
        steps.insert(self.directions, weighted);
        steps
    }
    /// Floating-point operations of one action by sum factorization.
    fn flops(&self) -> f64 {
        let power = |n: usize, e: usize| (n as f64).powi(e as i32);
        let (d, q) = (self.dofs, self.points);
        let pass = |k: usize| power(q, k + 1) * power(d, self.directions - k);
        4.0 * (0..self.directions).map(pass).sum::<f64>() + power(q, self.directions)
    }
}

/// The second operand of a step of the chain.
#[derive(Clone, Copy)]
enum With {
    Basis,
    Weights,
}

/// Length, area or volume of an element.
fn size(e: usize) -> f64 {
    1.0 + (e % 7) as f64
}

fn row(cpu: &Cpu, problem: &Problem, matrices: f64) -> Result<()> {
    let &Problem { directions, dofs, elements, .. } = problem;
    let ring = PlusTimes::<f64>::new();
    let mass = Mass::new(directions, problem.basis()?)?;
    let (w, v) = (problem.weights(elements)?, problem.v(elements)?);

    // One pass.
    let mut u = cpu.einsum(ring, mass.action(&w, &v)?).eval()?;
    let action = least(|| cpu.einsum(ring, mass.action(&w, &v)?).into(&mut u.view_mut()?))?;

    // One contraction per direction, forward and backward, into preallocated arrays.
    let mut between: Vec<Batch<f64>> = vec![];
    for (_, _, extents) in problem.chain() {
        let layout = Layout::row_major(&extents)?.batched(elements)?;
        between.push(Batch::new(vec![0.0; layout.elements()], layout)?);
    }
    let chain = least(|| {
        for (t, (text, with, _)) in problem.chain().into_iter().enumerate() {
            let (before, rest) = between.split_at_mut(t);
            let with = match with {
                With::Basis => problem.basis()?,
                With::Weights => w.clone(),
            };
            let from = before.last().map_or_else(|| v.clone(), Batch::view);
            cpu.einsum(ring, Einsum::new(&text, &[with, from])?).into(&mut rest[0].view_mut()?)?;
        }
        Ok(())
    })?;

    // As many matrices as fit the memory limit.
    let n = dofs.pow(directions as u32);
    let some = ((matrices / (8 * n * n) as f64) as usize).clamp(1, elements);
    let few = problem.weights(some)?;
    let mut m = cpu.einsum(ring, mass.matrix(&few)?).eval()?;
    let assembly = least(|| cpu.einsum(ring, mass.matrix(&few)?).into(&mut m.view_mut()?))?;
    let operands = [m.view().reshape(&[n, n])?, problem.v(some)?.reshape(&[n])?];
    let mut product = cpu.einsum(ring, Einsum::new("ij,j->i", &operands)?).eval()?;
    let times = least(|| cpu.einsum(ring, Einsum::new("ij,j->i", &operands)?).into(&mut product.view_mut()?))?;

    // All three agree. The functions sum to 1, so U of ones sums to the size of each element.
    let error = far(u.values(), product.values()).max(far(u.values(), between[2 * directions].values()));
    let ones = vec![1.0; n * elements];
    let whole = cpu.einsum(ring, mass.action(&w, &View::new(&ones, v.layout().clone())?)?).eval()?;
    let wrong = whole.values().chunks(n).enumerate().map(|(e, u)| (u.iter().sum::<f64>() / size(e) - 1.0).abs());
    assert!(error < 1e-13 && wrong.fold(0.0, f64::max) < 1e-13, "order {}: {error:e}", dofs - 1);

    let each = |seconds: f64, elements: usize| seconds * 1e6 / elements as f64;
    println!(
        "{directions:2} {:2} {elements:9} {:9.4} {:8.1} {:10.4} {:6.1}x {:10.3} {:6.1}x {:10.3} {error:8.0e}",
        dofs - 1,
        each(action, elements),
        problem.flops() * elements as f64 / action / 1e9,
        each(chain, elements),
        chain / action,
        each(times, some),
        each(times, some) / each(action, elements),
        each(assembly, some),
    );
    Ok(())
}

/// Seconds of the fastest of five runs, after a warm-up.
fn least(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    work()?;
    let mut found = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        work()?;
        found = found.min(start.elapsed().as_secs_f64());
    }
    Ok(found)
}

/// The largest difference over the common length, relative to the largest value.
fn far(a: &[f64], b: &[f64]) -> f64 {
    let largest = |list: &mut dyn Iterator<Item = f64>| list.map(f64::abs).fold(0.0, f64::max);
    largest(&mut a.iter().zip(b).map(|(x, y)| x - y)) / largest(&mut a.iter().copied())
}

/// Points and weights of Gauss quadrature on [0, 1]: zeros of the Legendre polynomial, by Newton's method.
fn gauss(n: usize) -> Vec<(f64, f64)> {
    let legendre = |x: f64| {
        let (mut before, mut p) = (1.0, x);
        for k in 2..=n {
            (before, p) = (p, ((2 * k - 1) as f64 * x * p - (k - 1) as f64 * before) / k as f64);
        }
        (p, n as f64 * (x * p - before) / (x * x - 1.0))
    };
    let point = |k: usize| {
        let mut x = (std::f64::consts::PI * (k as f64 + 0.75) / (n as f64 + 0.5)).cos();
        for _ in 0..10 {
            let (p, slope) = legendre(x);
            x -= p / slope;
        }
        let slope = legendre(x).1;
        ((1.0 - x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..n).map(point).collect()
}

/// The Bernstein polynomials of this order at x.
fn bernstein(order: usize, x: f64) -> Vec<f64> {
    let mut values = vec![1.0];
    for _ in 0..order {
        let lower = std::mem::replace(&mut values, vec![0.0]);
        values.resize(lower.len() + 1, 0.0);
        for (j, value) in lower.into_iter().enumerate() {
            values[j] += (1.0 - x) * value;
            values[j + 1] += x * value;
        }
    }
    values
}

/// The action and the chain on a GPU.
#[cfg(feature = "cuda")]
mod device {
    use sparring::Cuda;
    use sparring::gpu::DeviceBatch;

    use super::*;

    pub(super) fn found() -> Option<Cuda> {
        Cuda::new(0).inspect_err(|e| println!("no GPU: {e}\n")).ok()
    }

    /// Number of calls enqueued back to back, so that the device does not wait for the host.
    const CALLS: usize = 10;

    fn several(cuda: &Cuda, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
        let all = least(|| {
            (0..CALLS).try_for_each(|_| work())?;
            cuda.synchronize()
        })?;
        Ok(all / CALLS as f64)
    }

    pub(super) fn row(cuda: &Cuda, cpu: &Cpu, problem: &Problem) -> Result<()> {
        let &Problem { directions, dofs, elements, .. } = problem;
        let ring = PlusTimes::<f64>::new();
        let wanted = cpu.einsum(
            ring,
            Mass::new(directions, problem.basis()?)?.action(&problem.weights(elements)?, &problem.v(elements)?)?,
        );
        let wanted = wanted.eval()?;
        let basis = cuda.upload_batch(&problem.basis()?)?;
        let (w, v) = (cuda.upload_batch(&problem.weights(elements)?)?, cuda.upload_batch(&problem.v(elements)?)?);
        let mass = Mass::new(directions, basis.clone())?;
        let mut u = cuda.einsum(ring, mass.action(&w, &v)?).eval()?;
        let action = several(cuda, || cuda.einsum(ring, mass.action(&w, &v)?).into(&mut u))?;
        let chain = || {
            let mut at: DeviceBatch<f64> = v.clone();
            for (text, with, _) in problem.chain() {
                let with = match with {
                    With::Basis => basis.clone(),
                    With::Weights => w.clone(),
                };
                at = cuda.einsum(ring, Einsum::new(&text, &[with, at])?).eval()?;
            }
            Ok(at)
        };
        let time = several(cuda, || chain().map(drop))?;
        let error = far(wanted.values(), cuda.download_batch(&u)?.values());
        let error = error.max(far(wanted.values(), cuda.download_batch(&chain()?)?.values()));
        assert!(error < 1e-13, "order {}: {error:e}", dofs - 1);
        let each = |seconds: f64| seconds * 1e6 / elements as f64;
        println!(
            "    on the GPU {:9.5} {:8.1} {:10.5} {:6.1}x {error:38.0e}",
            each(action),
            problem.flops() * elements as f64 / action / 1e9,
            each(time),
            time / action,
        );
        Ok(())
    }
}

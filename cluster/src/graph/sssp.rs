//! Lengths of shortest paths.

use sparring::algebra::Type;
use sparring::runtime::{BinaryOp, Machine, Matrix, Op, Scalar, Semiring, UnaryOp, Vector};
use sparring::{Error, Result};

use super::check;

/// The least sum of weights on a path from `source` to each vertex that it reaches: f64. Weights are the values of
/// `a`, as doubles.
///
/// Bellman and Ford's algorithm on the vertices whose distance fell: O(m) on all ranks together for each of at most n
/// steps, and two vectors along the lines of the grid.
/// # Errors
/// [`Error::NotSquare`]; [`Error::Argument`] for a vertex that is not there, and for a cycle of negative weight that
/// `source` reaches; those of [`Matrix::cast`] and of the machine.
/// # Example
/// ```
/// use sparring::{Cpu, Csr, runtime::{Machine, Matrix}};
/// use sparring_cluster::{Cluster, graph::sssp};
/// // 0 → 1 costs 5, by way of 2 it costs 3.
/// let a = Matrix::from(Csr::<f32>::new(3, 3, vec![0, 2, 2, 3], vec![1, 2, 1], vec![5.0, 1.0, 2.0])?);
/// let lengths = sssp(&Machine::from(Cluster::new(Cpu::new())?), &a, 0)?.download()?;
/// assert_eq!(lengths.typed::<f64>().unwrap().as_full(), Some(&[0.0, 3.0, 1.0][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn sssp(machine: &Machine, a: &Matrix, source: usize) -> Result<Vector> {
    let n = check("sssp", a, Some(source))?;
    let a = machine.upload(a)?;
    let a = if a.ty() == Type::F64 { a } else { machine.apply(&UnaryOp::new("f64(a)", a.ty())?, &a)? };
    let (ring, min) = (Semiring::new("min_plus", Type::F64)?, BinaryOp::new("min", Type::F64)?);
    let own = Vector::constant_at(&Scalar::from(0.0), &(source..source + 1).into(), n)?;
    let mut lengths = machine.upload_vector(&own)?;
    let mut q = lengths.clone();
    for _ in 0..=n {
        let found = machine.vxm(&ring, &q, &a)?;
        // Entries of `found` that are new, or less than what is known.
        let less: Vector = machine.ewise_mult(
            &BinaryOp::new("lt", Type::F64).or_else(|_| BinaryOp::new("a < b", Type::F64))?,
            &found,
            &lengths,
        )?;
        let less = machine.select(&UnaryOp::new("a", Type::Bool)?, &less)?;
        let mut fell: Vector = machine.call(Op::Identity, &found).mask(&lengths).structure().complement().eval()?;
        let shorter: Vector = machine.call(Op::Identity, &found).mask(&less).structure().eval()?;
        fell = machine.ewise_add(&min, &fell, &shorter)?;
        if fell.nvals()? == 0 {
            return Ok(lengths);
        }
        lengths = machine.ewise_add(&min, &lengths, &fell)?;
        q = fell;
    }
    Err(Error::Argument { name: "a", message: format!("a cycle of negative weight is reached from vertex {source}") })
}

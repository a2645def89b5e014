//! Graphs of matrices whose type is known at run time.

use super::{Machine, Matrix};
use crate::algebra::Type;
use crate::graph::{Graph, GraphBackend, GraphKind, Place};
use crate::{Cpu, Error, Result};

impl Matrix {
    /// The graph under a square matrix, in the processor's memory: undirected if the matrix is symmetric, values and
    /// all, unless `kind` says what it is; values are weights if it is `weighted`.
    /// # Errors
    /// Those of [`Graph::weighted`]; [`Error::Unsupported`] for weights that are complex numbers or structs.
    /// # Example
    /// ```
    /// use sparring::{Cpu, Csr, graph::GraphKind, runtime::Matrix};
    /// let a = Matrix::from(Csr::<i32>::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![3, 3])?);
    /// let g = a.graph(&Cpu::new(), None, true)?;
    /// assert_eq!((g.kind(), g.edges(), g.weights(0)), (GraphKind::Undirected, 1, Some(&[3.0][..])));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn graph(&self, cpu: &Cpu, kind: Option<GraphKind>, weighted: bool) -> Result<Graph> {
        let here = self.download()?;
        let complex = matches!(here.ty(), Type::ComplexF32 | Type::ComplexF64 | Type::Struct(_));
        if weighted && complex {
            return Err(Error::Unsupported {
                what: format!("weights of {}", here.ty().name()),
                why: "weights of edges are real numbers".into(),
            });
        }
        // Integers of 64 bits may have no double, and the graph looks at each.
        if let Some(a) = here.csr::<u64>() {
            return made(cpu, a, kind, weighted);
        }
        if let Some(a) = here.csr::<i64>() {
            return made(cpu, a, kind, weighted);
        }
        if complex && let Some(pattern) = here.pattern() {
            let kind = kind.ok_or_else(|| Error::Argument {
                name: "kind",
                message: format!("directed or undirected is to be said of a matrix of {}", here.ty().name()),
            })?;
            return Graph::of_pattern(cpu, pattern, kind);
        }
        let doubles = here.cast(Type::F64)?;
        match doubles.csr::<f64>() {
            Some(a) => made(cpu, a, kind, weighted),
            None => Err(Error::Unsupported { what: "graph".into(), why: "the matrix is elsewhere".into() }),
        }
    }
}

impl GraphBackend for Machine {
    fn place(&self) -> Result<Place<'_>> {
        if let Some(cpu) = self.typed::<Cpu>() {
            return Ok(Place::Cpu(cpu));
        }
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.typed::<crate::Cuda>() {
            return Ok(Place::Cuda(cuda));
        }
        Err(Error::Unsupported {
            what: format!("graph algorithms on {}", self.name()),
            why: "they run on processors and GPUs".into(),
        })
    }
}

fn made<T: crate::algebra::Num>(
    cpu: &Cpu,
    a: &crate::Csr<T>,
    kind: Option<GraphKind>,
    weighted: bool,
) -> Result<Graph> {
    let kind = kind.map_or_else(|| GraphKind::of(cpu, a), Ok)?;
    if weighted { Graph::weighted(cpu, a, kind) } else { Graph::new(cpu, a, kind) }
}

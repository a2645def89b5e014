//! Graphs from matrices whose type is known at run time.

use super::{Machine, Matrix};
use crate::algebra::Type;
use crate::graph::{Graph, GraphBackend, GraphKind, Place};
use crate::{Cpu, Error, Result};

impl Matrix {
    /// The graph with this square adjacency matrix, in host memory. It is undirected if the matrix is symmetric in
    /// pattern and values, unless `kind` decides; if `weighted`, values are edge weights.
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
        // 64-bit integers may not be representable as f64; the graph checks each.
        if let Some(a) = here.csr::<u64>() {
            return build_graph(cpu, a, kind, weighted);
        }
        if let Some(a) = here.csr::<i64>() {
            return build_graph(cpu, a, kind, weighted);
        }
        if complex && let Some(pattern) = here.pattern() {
            let kind = kind.ok_or_else(|| Error::Argument {
                name: "kind",
                message: format!("state whether a matrix of {} is directed or undirected", here.ty().name()),
            })?;
            return Graph::of_pattern(cpu, pattern, kind);
        }
        let doubles = here.cast(Type::F64)?;
        match doubles.csr::<f64>() {
            Some(a) => build_graph(cpu, a, kind, weighted),
            None => Err(Error::Unsupported { what: "graph".into(), why: "the matrix is in other memory".into() }),
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
            why: "they run on CPUs and GPUs".into(),
        })
    }
}

fn build_graph<T: crate::algebra::Num>(
    cpu: &Cpu,
    a: &crate::Csr<T>,
    kind: Option<GraphKind>,
    weighted: bool,
) -> Result<Graph> {
    let kind = kind.map_or_else(|| GraphKind::of(cpu, a), Ok)?;
    if weighted { Graph::weighted(cpu, a, kind) } else { Graph::new(cpu, a, kind) }
}

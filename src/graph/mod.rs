//! Graph algorithms on adjacency matrices.

mod triangles;

pub use triangles::{TriangleCounter, TriangleMethod, Triangles, triangles};

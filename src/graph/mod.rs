//! Graph algorithms on adjacency matrices.

mod triangles;

pub use triangles::{TriangleMethod, Triangles, triangles};

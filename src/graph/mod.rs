//! Graph algorithms on adjacency matrices.

mod bfs;
mod triangles;

pub use bfs::bfs_levels;
pub use triangles::{TriangleCounter, TriangleMethod, Triangles, triangles, triangles_per_edge, triangles_per_vertex};

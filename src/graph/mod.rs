//! Graph algorithms on adjacency matrices.

mod bfs;
mod triangles;

pub use bfs::bfs_levels;
pub use triangles::{TriangleMethod, Triangles, triangles};

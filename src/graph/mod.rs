//! Graph algorithms on adjacency matrices.

mod betweenness;
mod bfs;
mod checks;
mod search;
mod structure;
mod triangles;

pub use betweenness::betweenness;
pub use bfs::{bfs_levels, bfs_parents};
pub use search::{BfsTree, UNREACHED, bfs, bfs_tree};
pub use structure::{Graph, GraphKind};
pub use triangles::{TriangleCounter, TriangleMethod, Triangles, triangles, triangles_per_edge, triangles_per_vertex};

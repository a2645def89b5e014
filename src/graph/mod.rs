//! Graph algorithms: on a [`Graph`], with specialized kernels, and on adjacency matrices, expressed in the operations
//! of any [`Backend`](crate::backend::Backend).

mod asynchronous;
mod betweenness;
mod bfs;
mod brandes;
mod checks;
mod clustering;
mod coloring;
mod communities;
mod components;
mod cores;
mod distances;
mod draws;
mod independent;
mod labels;
mod leading;
mod matching;
mod pagerank;
mod place;
mod pull;
mod search;
mod simple;
mod spanning;
mod spectral;
mod sssp;
mod stepping;
mod strong;
mod structure;
mod topological;
pub(crate) mod triangles;
mod truss;

pub use asynchronous::asynchronous_label_propagation;
pub use betweenness::betweenness;
pub use bfs::{bfs_levels, bfs_parents};
pub use brandes::{betweenness_centrality, dependencies, sampled_betweenness};
pub use clustering::{average_clustering, local_clustering, transitivity};
pub use coloring::{Coloring, greedy_coloring};
pub use communities::{Communities, leiden, louvain, modularity};
pub use components::connected_components;
pub use cores::core_numbers;
pub use distances::{
    all_pairs_shortest_paths, all_pairs_shortest_paths_into, closeness_centrality, harmonic_centrality,
    multi_source_bfs,
};
pub use independent::maximal_independent_set;
pub use labels::{LabelPropagation, label_propagation};
pub use matching::{Matching, UNMATCHED, bipartite_matching};
pub use pagerank::{PageRank, PageRankOptions, pagerank};
pub use place::GraphBackend;
#[doc(hidden)]
pub use place::Place;
pub use search::{BfsTree, UNREACHED, bfs, bfs_tree};
pub use spanning::{SpanningForest, minimum_spanning_forest};
pub use spectral::{Hits, Iteration, eigenvector_centrality, hits, katz_centrality};
pub use sssp::{ShortestPaths, bellman_ford, sssp, sssp_tree};
pub use stepping::sssp_distances;
pub use strong::strongly_connected_components;
pub use structure::{Graph, GraphKind};
pub use topological::topological_order;
pub use triangles::{TriangleCounter, TriangleMethod, Triangles, triangles, triangles_per_edge, triangles_per_vertex};
pub use truss::{TrussNumbers, k_truss, truss_numbers};

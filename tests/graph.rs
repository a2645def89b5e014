//! Graph algorithms compared with textbooks, on small graphs of every kind and for any number of threads, and with
//! known results.

#[path = "graph/centrality.rs"]
mod centrality;
#[path = "graph/clustering.rs"]
mod clustering;
#[path = "graph/coloring.rs"]
mod coloring;
#[path = "graph/common.rs"]
mod common;
#[path = "graph/communities.rs"]
mod communities;
#[path = "graph/cores.rs"]
mod cores;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "common/data.rs"]
mod data;
#[path = "graph/goldens.rs"]
mod goldens;
#[path = "graph/independent.rs"]
mod independent;
#[path = "graph/labels.rs"]
mod labels;
#[path = "graph/matching.rs"]
mod matching;
#[path = "graph/paths.rs"]
mod paths;
#[path = "graph/real.rs"]
mod real;
#[path = "graph/spanning.rs"]
mod spanning;
#[path = "graph/topological.rs"]
mod topological;
#[path = "graph/truss.rs"]
mod truss;

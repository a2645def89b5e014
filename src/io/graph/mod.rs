//! Graphs as text: edge lists, DIMACS `.gr`, METIS `.graph`. A graph is read as its adjacency matrix.
//!
//! | | edge list | DIMACS | METIS |
//! | --- | --- | --- | --- |
//! | lines | `u v` or `u v weight`, separated by white space or commas | `p sp n m`, then m lines `a u v weight` | `n m [fmt [ncon]]`, then a line of neighbours per vertex |
//! | comments | lines that begin with `#` or `%` | `c` | `%` |
//! | vertices | zero- or one-based ([`EdgeOptions::zero_based`]); any integers ([`EdgeOptions::renumber`]); words ([`EdgeOptions::named`]) | one-based | one-based |
//! | values | f64, or true without weights | i64 | i64, or true without weights |
//! | duplicate edges | merged; with weights, by [`EdgeOptions::repeated`] | by [`EdgeOptions::repeated`] | refused |
//! | direction | directed; both directions by [`EdgeOptions::undirected`] | directed | both directions are in the file |
//!
//! The first comment of a KONECT file is `% sym`, `% asym` or `% bip`: undirected, directed or bipartite; vertices are
//! one-based.
//!
//! Source: Leskovec, Krevl, *SNAP Datasets*, 2014; Kunegis, *KONECT: the Koblenz network collection*, 2013; Demetrescu,
//! Goldberg, Johnson, *9th DIMACS Implementation Challenge: Shortest Paths*, 2006; Karypis, *METIS 5.1.0: A Software
//! Package for Partitioning Unstructured Graphs*, §4.1.

mod dimacs;
mod edges;
mod metis;
mod names;
mod options;

pub use dimacs::{parse_dimacs_with, read_dimacs_from, read_dimacs_with};
pub use edges::{parse_edges_with, read_edges_from, read_edges_with};
pub use metis::{parse_metis_with, read_metis_from, read_metis_with};
pub use options::{EdgeOptions, Repeated};

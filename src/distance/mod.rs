//! Distances and nearest neighbours between the rows of sparse matrices.

mod options;
mod recipe;
mod recipes;
mod rows;
mod table;

pub use options::{Options, Precision};
pub use recipe::{Norms, Recipe, Row, Side, emit_recipe};
pub use recipes::*;
pub use table::{Domain, Entry, Measure, Metric, Visitor};

//! Graph algorithms against textbooks, on small graphs of every kind and for any number of threads.

#[path = "graph/common.rs"]
mod common;
#[path = "graph/goldens.rs"]
mod goldens;

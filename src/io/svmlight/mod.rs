//! The svmlight format of SVM-light, LIBSVM and scikit-learn: one row per line, a label followed by `column:value`
//! pairs.
//!
//! ```text
//! # a comment
//! +1 1:0.5 7:-2 # another
//! -1 qid:3 2:1e-3
//! ```
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | label | a number, or several separated by commas, stored as text ([`LabeledMatrix::labels`](crate::io::LabeledMatrix::labels)) | a missing label |
//! | columns | one-based integers, in any order; zero-based by [`SvmlightOptions::zero_based`] | 0 without that option; duplicates in a row; out of range of [`SvmlightOptions::columns`] |
//! | number of columns | the largest column, or [`SvmlightOptions::columns`] | |
//! | values | numbers as in Matrix Market, read as the nearest f64; zeros become explicit entries | |
//! | `qid:n` after the label | ignored | |
//! | lines | ends `\n` or `\r\n`; empty lines, comments; a byte-order mark | a file without rows, unless the number of columns is given |
//!
//! Source: Joachims, *Making large-Scale SVM Learning Practical*, 1999; Chang, Lin, *LIBSVM: a library for support
//! vector machines*, 2011.

mod options;
mod read;
mod write;

pub use options::SvmlightOptions;
pub use read::{parse_svmlight_with, read_svmlight_from, read_svmlight_with};
pub use write::{write_svmlight, write_svmlight_to};

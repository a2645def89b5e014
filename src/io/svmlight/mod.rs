//! svmlight: lines of a label and `column:value`, one row each, as SVM-light, LIBSVM and scikit-learn have them.
//!
//! ```text
//! # a comment
//! +1 1:0.5 7:-2 # another
//! -1 qid:3 2:1e-3
//! ```
//!
//! | part | accepted | refused |
//! | --- | --- | --- |
//! | label | a number, or several with commas between, kept as text ([`LabeledMatrix::labels`](crate::io::LabeledMatrix::labels)) | none |
//! | columns | whole numbers from 1, in any order; from 0 by [`SvmlightOptions::zero_based`] | 0 without that option; one twice in a row; beyond [`SvmlightOptions::columns`] |
//! | width | the largest column, or [`SvmlightOptions::columns`] | |
//! | values | numbers as in Matrix Market, read as the nearest f64; zeros become stored entries | |
//! | `qid:n` behind the label | left out | |
//! | lines | ends `\n` or `\r\n`; empty lines, comments; a byte-order mark | a file without rows, unless its width is given |
//!
//! Source: Joachims, *Making large-Scale SVM Learning Practical*, 1999; Chang, Lin, *LIBSVM: a library for support
//! vector machines*, 2011.

mod options;
mod read;
mod write;

pub use options::SvmlightOptions;
pub use read::{parse_svmlight_with, read_svmlight_from, read_svmlight_with};
pub use write::{write_svmlight, write_svmlight_to};

//! A conformance oracle for GraphBLAS: what each operation means, on dense tables of what may be absent, and cases to
//! hold a library to it.
//!
//! | | |
//! | --- | --- |
//! | [`Value`], [`Type`], [`operators`] | the thirteen built-in types, and their operators by name |
//! | [`Table`] | a matrix, a vector or a scalar: at each place a value or none |
//! | [`expected`] | the definitions: T, Z = C ⊙ T, C⟨M, replace⟩ = Z |
//! | [`Case`] | a call as data: operation, objects, mask, accumulator, replace, transposition, and which objects are one |
//! | [`exhaustive`], [`Random`] | cases: all of a small size, and random ones from a seed |
//! | [`Library`], [`Tally`] | what is tested, and how many cases it ran |
//!
//! It knows no library. One that is written in Rust implements [`Library`]; any other is driven by lines of JSON, one
//! for each case with its expected result:
//!
//! ```sh
//! cargo run -p sparring-oracle -- cases --seed 1 --count 1000
//! ```
//!
//! ```
//! use sparring_oracle::{Case, Form, Mask, Object, Op, Table, Type, expected};
//! let vector = |cells: [Option<i128>; 3]| Object {
//!     table: Table::vector(Type::I64, 3, |i| cells[i].map(|x| Type::I64.number(x))),
//!     form: Form::Sparse,
//! };
//! // c⟨m⟩ += t.
//! let case = Case {
//!     op: Op::Identity,
//!     objects: vec![
//!         vector([Some(1), None, Some(3)]),
//!         vector([Some(10), Some(20), Some(30)]),
//!         vector([Some(1), Some(1), Some(0)]),
//!     ],
//!     c: 0,
//!     operands: vec![1],
//!     transpose: [false; 2],
//!     mask: Some(Mask { object: 2, structure: false, complement: false }),
//!     accum: Some("plus"),
//!     replace: false,
//!     scale: 1,
//! };
//! assert_eq!(expected(&case), vector([Some(11), Some(20), Some(3)]).table);
//! ```

mod case;
mod draw;
mod library;
mod model;
pub mod operators;
mod plan;
mod small;
mod table;
mod value;

pub use case::{Case, Form, Mask, Object, Op, Ring};
pub use draw::Random;
pub use library::{Library, Tally, mismatch};
pub use model::{expected, result_type};
pub use small::exhaustive;
pub use table::{Kind, Table};
pub use value::{Type, Value};

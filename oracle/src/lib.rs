//! A conformance oracle for GraphBLAS: the definition of each operation on dense tables of optional values, and test
//! cases to check a library against it.
//!
//! | | |
//! | --- | --- |
//! | [`Value`], [`Type`], [`operators`] | the thirteen built-in types, and their operators by name |
//! | [`Table`] | a matrix, vector or scalar as a dense table of optional values |
//! | [`expected`] | the definitions: T, Z = C ⊙ T, C⟨M, replace⟩ = Z |
//! | [`Case`] | a call as data: operation, objects, mask, accumulator, replace, transposition, aliases |
//! | [`exhaustive`], [`Random`] | cases: all of small shapes, and random ones from a seed |
//! | [`Library`], [`Tally`] | the library under test, and statistics of its cases |
//!
//! The oracle is independent of any library. A Rust library implements [`Library`]; any other is driven by lines of
//! JSON, one per case with its expected result:
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

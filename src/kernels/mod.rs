//! Row kernels: what an operation computes, told to those who only know how large a value is.
//!
//! A driver cuts the work, finds the places of results and walks the rows; it is compiled once for a size of value
//! ([`Word`](crate::algebra::Word)). What a semiring brings is a value behind `dyn` with a few inner loops, each called once
//! for a row of A: [`Multiply`]. [`Products`] are loops that rustc fuses from the types of a semiring.
//!
//! **The rule of words.** A word is the memory of a value and can be copied and nothing else. Who implements a kernel promises
//! that every word it gives or writes is one of its type, if those it was handed are; a driver that is generic in the word
//! has no other words to write. So a computation with a kernel whose type is known gives values of that type: see [`typed`].

mod multiply;
mod products;
mod typed;

pub(crate) use multiply::{Multiply, RowOfA, RowsOfC, columns_of_row};
pub(crate) use products::Products;
pub(crate) use typed::{Numeric, numeric, numeric_into};

//! Positional operators ⊗: they return an index of the first operand's entry A(i, k) or of the second's, B(k, j).
//! Indices count from 0; for the names that end in 1, from 1.

use super::{Num, V, Value};
use crate::op;

op! { /// i, the row of A's entry (GraphBLAS `FIRSTI`).
pub FirstI<A: Value, B: Value, T: Num> (a: A, b: B) at (i, k, j) -> T { i.index_as() } }
op! { /// k, the row of B's entry, and so the column of A's (GraphBLAS `SECONDI` and `FIRSTJ`): BFS parents.
pub SecondI<A: Value, B: Value, T: Num> (a: A, b: B) at (i, k, j) -> T { k.index_as() } }
op! { /// j, the column of B's entry (GraphBLAS `SECONDJ`).
pub SecondJ<A: Value, B: Value, T: Num> (a: A, b: B) at (i, k, j) -> T { j.index_as() } }

op! { /// i + 1 (GraphBLAS `FIRSTI1`).
pub FirstI1<A: Value, B: Value, T: Num> (a: A, b: B) at (i, k, j) -> T { i.index_as() + V::lit(T::ONE) } }
op! { /// k + 1 (GraphBLAS `SECONDI1` and `FIRSTJ1`).
pub SecondI1<A: Value, B: Value, T: Num> (a: A, b: B) at (i, k, j) -> T { k.index_as() + V::lit(T::ONE) } }
op! { /// j + 1 (GraphBLAS `SECONDJ1`).
pub SecondJ1<A: Value, B: Value, T: Num> (a: A, b: B) at (i, k, j) -> T { j.index_as() + V::lit(T::ONE) } }

/// k, the column of A's entry: the same as [`SecondI`].
pub type FirstJ<A, B, T> = SecondI<A, B, T>;
/// k + 1: the same as [`SecondI1`].
pub type FirstJ1<A, B, T> = SecondI1<A, B, T>;
/// Index of the first operand's row, i.
pub type FirstIndex<A, B, T> = FirstI<A, B, T>;
/// Index of the second operand's row, k, the contraction index.
pub type SecondIndex<A, B, T> = SecondI<A, B, T>;

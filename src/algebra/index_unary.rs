//! Built-in index-unary operators: the GraphBLAS C API 2.1 table.
//!
//! Selection operators keep the entries for which they are true. Indices are compared as differences, j − i ≤ s
//! instead of j ≤ i + s, so that no `s` overflows; rows and columns are below 2⁶³.

use super::{Arith, Num, V, Value};
use crate::op;

/// An index as a signed number.
#[inline(always)]
fn signed<M: Arith>(index: V<M, u64>) -> V<M, i64> {
    index.index_as()
}

op! { /// i + s (GraphBLAS `ROWINDEX`).
pub RowIndex<T: Value, S: Num> (a: T, s: S) at (i, j) -> S { i.index_as::<S>() + s } }
op! { /// j + s (GraphBLAS `COLINDEX`).
pub ColIndex<T: Value, S: Num> (a: T, s: S) at (i, j) -> S { j.index_as::<S>() + s } }
op! { /// j − i + s (GraphBLAS `DIAGINDEX`).
pub DiagIndex<T: Value, S: Num> (a: T, s: S) at (i, j) -> S { j.index_as::<S>() - i.index_as::<S>() + s } }

op! { /// j ≤ i + s: on and below diagonal s.
pub Tril<T: Value> (a: T, s: i64) at (i, j) -> bool { (signed(j) - signed(i)).le(s) } }
op! { /// j ≥ i + s: on and above diagonal s.
pub Triu<T: Value> (a: T, s: i64) at (i, j) -> bool { s.le(signed(j) - signed(i)) } }
op! { /// j = i + s: on diagonal s.
pub Diag<T: Value> (a: T, s: i64) at (i, j) -> bool { (signed(j) - signed(i)).eq(s) } }
op! { /// j ≠ i + s: off diagonal s.
pub Offdiag<T: Value> (a: T, s: i64) at (i, j) -> bool { (signed(j) - signed(i)).ne(s) } }
op! { /// j ≤ s.
pub ColLe<T: Value> (a: T, s: i64) at (i, j) -> bool { signed(j).le(s) } }
op! { /// j > s.
pub ColGt<T: Value> (a: T, s: i64) at (i, j) -> bool { s.lt(signed(j)) } }
op! { /// i ≤ s.
pub RowLe<T: Value> (a: T, s: i64) at (i, j) -> bool { signed(i).le(s) } }
op! { /// i > s.
pub RowGt<T: Value> (a: T, s: i64) at (i, j) -> bool { s.lt(signed(i)) } }

op! { /// a = s.
pub ValueEq<T: Value> (a, s) at (i, j) -> bool { a.eq(s) } }
op! { /// a ≠ s.
pub ValueNe<T: Value> (a, s) at (i, j) -> bool { a.ne(s) } }
op! { /// a < s.
pub ValueLt<T: Num> (a, s) at (i, j) -> bool { a.lt(s) } }
op! { /// a ≤ s.
pub ValueLe<T: Num> (a, s) at (i, j) -> bool { a.le(s) } }
op! { /// a > s.
pub ValueGt<T: Num> (a, s) at (i, j) -> bool { s.lt(a) } }
op! { /// a ≥ s.
pub ValueGe<T: Num> (a, s) at (i, j) -> bool { s.le(a) } }

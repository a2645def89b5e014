//! A call of an operation as data.

use serde::Serialize;

use crate::table::{Kind, Table};
use crate::value::Value;

/// ⊕.⊗, each by its name.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ring {
    /// ⊕, a monoid on the values that ⊗ gives.
    pub add: &'static str,
    /// ⊗.
    pub mul: &'static str,
}

/// An operation and its parameters. Operands are A, B and matrices; u and v are vectors.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Op {
    /// T = A.
    Identity,
    /// T = Aᵀ.
    Transpose,
    /// T = A ⊕.⊗ B.
    Mxm {
        /// ⊕.⊗.
        ring: Ring,
    },
    /// t = A ⊕.⊗ u.
    Mxv {
        /// ⊕.⊗.
        ring: Ring,
    },
    /// tᵀ = uᵀ ⊕.⊗ A; operands in this order.
    Vxm {
        /// ⊕.⊗.
        ring: Ring,
    },
    /// T = A ⊕.⊗ X of dense X and C: ⊕ over the entries of A(i, :), its identity where there are none. X and C have a
    /// value at each place, and there is no mask.
    Spmm {
        /// ⊕.⊗.
        ring: Ring,
    },
    /// T = A ∘ B where both have an entry; where one has, that entry.
    EwiseAdd {
        /// ∘.
        op: &'static str,
    },
    /// T = A ∘ B where both have an entry.
    EwiseMult {
        /// ∘.
        op: &'static str,
    },
    /// T = A ∘ B where either has an entry, α or β standing for one that is missing.
    EwiseUnion {
        /// ∘.
        op: &'static str,
        /// For an entry that A lacks.
        alpha: Value,
        /// For one that B lacks.
        beta: Value,
    },
    /// T(i·p + k, j·q + l) = A(i, j) ∘ B(k, l), B of p×q.
    Kronecker {
        /// ∘.
        op: &'static str,
    },
    /// T = f(A).
    Apply {
        /// f.
        op: &'static str,
    },
    /// T = s ∘ A.
    ApplyFirst {
        /// ∘.
        op: &'static str,
        /// Its first operand.
        s: Value,
    },
    /// T = A ∘ s.
    ApplySecond {
        /// ∘.
        op: &'static str,
        /// Its second operand.
        s: Value,
    },
    /// T(i, j) = f(A(i, j), s, i, j).
    ApplyIndex {
        /// f.
        op: &'static str,
        /// s.
        s: Value,
    },
    /// The entries of A for which f(A(i, j), s, i, j) holds.
    Select {
        /// f.
        op: &'static str,
        /// s.
        s: Value,
    },
    /// t(i) = ⊕ of row i, where it has an entry.
    ReduceRows {
        /// ⊕.
        monoid: &'static str,
    },
    /// ⊕ of all entries; the identity of none.
    Reduce {
        /// ⊕.
        monoid: &'static str,
    },
    /// ⊕ of all entries as a scalar that may be empty; it is, of none.
    ReduceScalar {
        /// ⊕.
        monoid: &'static str,
    },
    /// T(p, q) = A(rows(p), cols(q)); of a vector, cols is `[0]`.
    Extract {
        /// Rows, in any order, perhaps repeated.
        rows: Vec<usize>,
        /// Columns, likewise.
        cols: Vec<usize>,
    },
    /// t(p) = A(rows(p), col).
    ExtractColumn {
        /// Rows, in any order, perhaps repeated.
        rows: Vec<usize>,
        /// The column.
        col: usize,
    },
    /// C(rows(p), cols(q)) = A(p, q), under a mask of C's size; of a vector, cols is `[0]`.
    Assign {
        /// Rows of C, none twice.
        rows: Vec<usize>,
        /// Columns of C, none twice.
        cols: Vec<usize>,
    },
    /// C(row, cols(q)) = u(q), under a mask of a row's size, which is for this row alone.
    AssignRow {
        /// The row of C.
        row: usize,
        /// Columns of C, none twice.
        cols: Vec<usize>,
    },
    /// C(rows(p), col) = u(p), under a mask of a column's size, which is for this column alone.
    AssignColumn {
        /// Rows of C, none twice.
        rows: Vec<usize>,
        /// The column of C.
        col: usize,
    },
    /// C(rows(p), cols(q)) = x, under a mask of C's size; no operands.
    AssignScalar {
        /// Rows of C.
        rows: Vec<usize>,
        /// Columns of C.
        cols: Vec<usize>,
        /// x.
        x: Value,
    },
    /// t(i) = ⊕ of u(p) over the p with indices(p) = i, a vector of C's size: `w[indices] ⊙= u` with repeats.
    Scatter {
        /// An index of C for each place of u.
        indices: Vec<usize>,
        /// ⊕.
        monoid: &'static str,
    },
    /// T(i, i + k) = u(i), or T(i − k, i) = u(i) for k < 0: a square matrix of n + |k| rows.
    Diag {
        /// Which diagonal.
        k: i64,
    },
    /// t(p) = the p-th place of the diagonal with j − i = k.
    Diagonal {
        /// Which diagonal.
        k: i64,
    },
    /// t(i) = entries of row i, as i64, where it has any.
    Count,
    /// t(i) = mean of row i as f64, where it has an entry; of bool 1 is true.
    Mean,
    /// t(i) = column of the smallest value of row i, the first of equal ones, as i64; where it has an entry.
    ArgMin,
    /// t(i) = column of the largest value, likewise.
    ArgMax,
    /// The tiles, row by row of a grid, as one matrix.
    Concat {
        /// Tiles in a row of the grid.
        across: usize,
    },
    /// Rows and columns of these ranges.
    Block {
        /// First row, and the one behind the last.
        rows: (usize, usize),
        /// First column, and the one behind the last.
        cols: (usize, usize),
    },
    /// The entries that are within another shape.
    Resize {
        /// Rows and columns.
        shape: (usize, usize),
    },
    /// The matrix of C's shape with these entries, repeated ones folded in their order; no operands.
    Build {
        /// Row, column, value.
        tuples: Vec<(usize, usize, Value)>,
        /// ∘ of repeats.
        dup: &'static str,
    },
}

impl Op {
    /// Its name, as JSON has it.
    #[must_use]
    pub fn name(&self) -> String {
        let json = serde_json::to_value(self).unwrap_or_default();
        json["name"].as_str().unwrap_or_default().to_string()
    }
}

/// How a library is to keep a matrix or a vector, if it has a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Compressed rows; a list.
    Sparse,
    /// Compressed rows whose columns are in any order.
    Unsorted,
    /// A bit and a value for each place, or if all have an entry, a value.
    Dense,
}
impl Form {
    /// All of them.
    pub const ALL: [Form; 3] = [Form::Sparse, Form::Unsorted, Form::Dense];
}

/// A matrix, vector or scalar of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Object {
    /// Its entries.
    pub table: Table,
    /// How it is kept.
    pub form: Form,
}

/// The mask of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mask {
    /// The object that it is.
    pub object: usize,
    /// It allows where there is an entry; else, where the entry is not 0.
    pub structure: bool,
    /// It allows all other places.
    pub complement: bool,
}

/// C⟨M, replace⟩ ⊙= op(operands): a call of an operation.
///
/// The objects are told apart by their number, so C may be an operand, the mask, or both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// The operation.
    pub op: Op,
    /// Every matrix, vector and scalar of the call.
    pub objects: Vec<Object>,
    /// The object that is written.
    pub c: usize,
    /// The operands.
    pub operands: Vec<usize>,
    /// Which of the first two operands are transposed.
    pub transpose: [bool; 2],
    /// The mask.
    pub mask: Option<Mask>,
    /// The accumulator ⊙.
    pub accum: Option<&'static str>,
    /// Whether entries of C outside of the mask are removed.
    pub replace: bool,
    /// A library may be given every place i of every object as i·scale, and every length as n·scale: the result is
    /// then that of the case, likewise. Short lists and matrices of many empty rows come from small tables so.
    pub scale: usize,
}

impl Case {
    /// The table of an object.
    #[must_use]
    pub fn table(&self, object: usize) -> &Table {
        &self.objects[object].table
    }
    /// What C is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.table(self.c).kind
    }
}

//! A call of an operation as data.

use serde::Serialize;

use crate::table::{Kind, Table};
use crate::value::Value;

/// ⊕.⊗, each by its name.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ring {
    /// ⊕, a monoid on the result type of ⊗.
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
    /// T = A ⊕.⊗ X for dense X and C: ⊕ over the entries of A(i, :), the identity of ⊕ for empty rows. X and C are
    /// full, and there is no mask.
    Spmm {
        /// ⊕.⊗.
        ring: Ring,
    },
    /// T = A ∘ B where both have an entry, else the entry of A or B.
    EwiseAdd {
        /// ∘.
        op: &'static str,
    },
    /// T = A ∘ B where both have an entry.
    EwiseMult {
        /// ∘.
        op: &'static str,
    },
    /// T = A ∘ B where either has an entry, with α or β in place of a missing one.
    EwiseUnion {
        /// ∘.
        op: &'static str,
        /// Stands for missing entries of A.
        alpha: Value,
        /// Stands for missing entries of B.
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
    /// t(i) = ⊕ of row i, if it is not empty.
    ReduceRows {
        /// ⊕.
        monoid: &'static str,
    },
    /// ⊕ of all entries; the identity if there are none.
    Reduce {
        /// ⊕.
        monoid: &'static str,
    },
    /// ⊕ of all entries, as a scalar object; empty if there are none.
    ReduceScalar {
        /// ⊕.
        monoid: &'static str,
    },
    /// T(p, q) = A(rows(p), cols(q)); for a vector, cols is `[0]`.
    Extract {
        /// Rows, in any order, possibly with duplicates.
        rows: Vec<usize>,
        /// Columns, likewise.
        cols: Vec<usize>,
    },
    /// t(p) = A(rows(p), col).
    ExtractColumn {
        /// Rows, in any order, possibly with duplicates.
        rows: Vec<usize>,
        /// The column.
        col: usize,
    },
    /// C(rows(p), cols(q)) = A(p, q), under a mask of C's shape; for a vector, cols is `[0]`.
    Assign {
        /// Rows of C, distinct.
        rows: Vec<usize>,
        /// Columns of C, distinct.
        cols: Vec<usize>,
    },
    /// C(row, cols(q)) = u(q), under a vector mask that applies to this row only.
    AssignRow {
        /// The row of C.
        row: usize,
        /// Columns of C, distinct.
        cols: Vec<usize>,
    },
    /// C(rows(p), col) = u(p), under a vector mask that applies to this column only.
    AssignColumn {
        /// Rows of C, distinct.
        rows: Vec<usize>,
        /// The column of C.
        col: usize,
    },
    /// C(rows(p), cols(q)) = x, under a mask of C's shape; no operands.
    AssignScalar {
        /// Rows of C.
        rows: Vec<usize>,
        /// Columns of C.
        cols: Vec<usize>,
        /// x.
        x: Value,
    },
    /// t(i) = ⊕ of u(p) over the p with indices(p) = i, a vector of C's length: `w[indices] ⊙= u` with duplicate
    /// indices.
    Scatter {
        /// An index into C for each element of u.
        indices: Vec<usize>,
        /// ⊕.
        monoid: &'static str,
    },
    /// T(i, i + k) = u(i), or T(i − k, i) = u(i) for k < 0: a square matrix of n + |k| rows.
    Diag {
        /// Which diagonal.
        k: i64,
    },
    /// t(p) = the p-th element of the diagonal j − i = k.
    Diagonal {
        /// Which diagonal.
        k: i64,
    },
    /// t(i) = number of entries of row i, as i64, if it is not empty.
    Count,
    /// t(i) = mean of row i as f64, if it is not empty; true counts as 1.
    Mean,
    /// t(i) = column of the smallest value of row i, the first of equal ones, as i64; if the row is not empty.
    ArgMin,
    /// t(i) = column of the largest value, likewise.
    ArgMax,
    /// Concatenation of a grid of tiles, given row by row.
    Concat {
        /// Number of tiles per row of the grid.
        across: usize,
    },
    /// The submatrix of these ranges.
    Block {
        /// First row, and the one behind the last.
        rows: (usize, usize),
        /// First column, and the one behind the last.
        cols: (usize, usize),
    },
    /// Resizes the matrix; entries out of the new shape are dropped.
    Resize {
        /// Rows and columns.
        shape: (usize, usize),
    },
    /// The matrix of C's shape with these entries, duplicates folded in order; no operands.
    Build {
        /// Row, column, value.
        tuples: Vec<(usize, usize, Value)>,
        /// ∘ that combines duplicates.
        dup: &'static str,
    },
}

impl Op {
    /// The name of the operation in JSON.
    #[must_use]
    pub fn name(&self) -> String {
        let json = serde_json::to_value(self).unwrap_or_default();
        json["name"].as_str().unwrap_or_default().to_string()
    }
}

/// Storage form of a matrix or vector, a hint to libraries that have a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// CSR; a list for vectors.
    Sparse,
    /// CSR with unsorted columns.
    Unsorted,
    /// Bitmap, or full if every element is present.
    Dense,
}
impl Form {
    /// All forms.
    pub const ALL: [Form; 3] = [Form::Sparse, Form::Unsorted, Form::Dense];
}

/// A matrix, vector or scalar of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Object {
    /// Its entries.
    pub table: Table,
    /// Its storage form.
    pub form: Form,
}

/// The mask of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mask {
    /// Index of the mask object.
    pub object: usize,
    /// Structural mask: allows every present entry. If false, only nonzero entries.
    pub structure: bool,
    /// Complements the mask.
    pub complement: bool,
}

/// C⟨M, replace⟩ ⊙= op(operands): a call of an operation.
///
/// Objects are identified by number, so C may alias an operand, the mask, or both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// The operation.
    pub op: Op,
    /// Every matrix, vector and scalar of the call.
    pub objects: Vec<Object>,
    /// The output object.
    pub c: usize,
    /// The operands.
    pub operands: Vec<usize>,
    /// Which of the first two operands are transposed.
    pub transpose: [bool; 2],
    /// The mask.
    pub mask: Option<Mask>,
    /// The accumulator ⊙.
    pub accum: Option<&'static str>,
    /// Whether entries of C outside the mask are removed.
    pub replace: bool,
    /// A library may map every index i of every object to i·scale, and every dimension n to n·scale; the result is then
    /// that of the case, mapped likewise. This turns small tables into sparse lists and hypersparse matrices.
    pub scale: usize,
}

impl Case {
    /// The table of an object.
    #[must_use]
    pub fn table(&self, object: usize) -> &Table {
        &self.objects[object].table
    }
    /// The kind of C.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.table(self.c).kind
    }
}

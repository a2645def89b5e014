//! The objects of an operation, with their kinds and shapes, and construction of cases.

use crate::case::{Case, Form, Mask, Object, Op};
use crate::model::result_type;
use crate::operators::is_positional;
use crate::table::{Kind, Table};
use crate::value::Type;

/// Types with different arithmetic.
pub(crate) const TYPES: [Type; 5] = [Type::I64, Type::F64, Type::Bool, Type::I8, Type::ComplexF64];

/// Kind and shape of an object.
pub(crate) type ObjectShape = (Kind, (usize, usize));

/// The role of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    C,
    Operand(usize),
    Mask,
}

/// Aliased objects.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alias {
    /// The first operand is C.
    pub(crate) a_is_c: bool,
    /// The second operand is C.
    pub(crate) b_is_c: bool,
    /// Both operands are the same object.
    pub(crate) b_is_a: bool,
    /// The mask is C.
    pub(crate) mask_is_c: bool,
    /// The mask is the first operand.
    pub(crate) mask_is_a: bool,
}

/// The optional parts of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Write {
    /// Whether the mask is structural, and whether it is complemented.
    pub(crate) mask: Option<(bool, bool)>,
    pub(crate) accum: Option<&'static str>,
    pub(crate) replace: bool,
}

/// An operation on operands of one type and given shapes.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) op: Op,
    pub(crate) ty: Type,
    pub(crate) out: Type,
    pub(crate) c: ObjectShape,
    pub(crate) operands: Vec<ObjectShape>,
    pub(crate) mask: Option<ObjectShape>,
    pub(crate) transpose: [bool; 2],
}

impl Plan {
    /// For matrices with dimensions `m`, `k` and `n`, or for vectors of length m if the operation supports them. `None`
    /// if the type has no such operator.
    pub(crate) fn new(
        mut op: Op,
        ty: Type,
        kind: Kind,
        (m, k, n): (usize, usize, usize),
        transpose: [bool; 2],
    ) -> Option<Self> {
        use Kind::{Matrix, Scalar, Vector};
        let either = |m: usize, n: usize| if kind == Vector { (Vector, (m, 1)) } else { (Matrix, (m, n)) };
        let vector = |len: usize| (Vector, (len, 1));
        let matrix = |m: usize, n: usize| (Matrix, (m, n));
        if kind == Vector {
            // A vector is a table of one column.
            match &mut op {
                Op::Extract { cols, .. } | Op::Assign { cols, .. } | Op::AssignScalar { cols, .. } => *cols = vec![0],
                Op::Block { cols, .. } => *cols = (0, 1),
                Op::Resize { shape } => shape.1 = 1,
                _ => {}
            }
        }
        let out = result_type(&op, ty)?;
        let (mut operands, c) = match &op {
            Op::Identity
            | Op::Apply { .. }
            | Op::ApplyFirst { .. }
            | Op::ApplySecond { .. }
            | Op::ApplyIndex { .. }
            | Op::Select { .. } => (vec![either(m, n)], either(m, n)),
            Op::Transpose => (vec![matrix(m, n)], matrix(n, m)),
            Op::Mxm { .. } | Op::Spmm { .. } => (vec![matrix(m, k), matrix(k, n)], matrix(m, n)),
            Op::Mxv { .. } => (vec![matrix(m, k), vector(k)], vector(m)),
            Op::Vxm { .. } => (vec![vector(k), matrix(k, n)], vector(n)),
            Op::EwiseAdd { .. } | Op::EwiseMult { .. } | Op::EwiseUnion { .. } => {
                (vec![either(m, n), either(m, n)], either(m, n))
            }
            Op::Kronecker { .. } => (vec![matrix(m, k), matrix(k, n)], matrix(m * k, k * n)),
            Op::ReduceRows { .. } | Op::Count | Op::Mean | Op::ArgMin | Op::ArgMax => (vec![matrix(m, n)], vector(m)),
            Op::Reduce { .. } | Op::ReduceScalar { .. } => (vec![either(m, n)], (Scalar, (1, 1))),
            Op::Extract { rows, cols } => (vec![either(m, n)], either(rows.len(), cols.len())),
            Op::ExtractColumn { rows, .. } => (vec![matrix(m, n)], vector(rows.len())),
            Op::Assign { rows, cols } => (vec![either(rows.len(), cols.len())], either(m, n)),
            Op::AssignRow { cols, .. } => (vec![vector(cols.len())], matrix(m, n)),
            Op::AssignColumn { rows, .. } => (vec![vector(rows.len())], matrix(m, n)),
            Op::AssignScalar { .. } => (vec![], either(m, n)),
            Op::Scatter { indices, .. } => (vec![vector(indices.len())], vector(m)),
            Op::Diag { k } => {
                let n = m + k.unsigned_abs() as usize;
                (vec![vector(m)], matrix(n, n))
            }
            Op::Diagonal { k } => {
                let (m, n, k) = (m as i64, n as i64, *k);
                let len = if k >= 0 { m.min(n - k) } else { (m + k).min(n) };
                (vec![matrix(m as usize, n as usize)], vector(len.max(0) as usize))
            }
            Op::Concat { .. } => (vec![matrix(m, n), matrix(m, k), matrix(k, n), matrix(k, k)], matrix(m + k, n + k)),
            Op::Block { rows, cols } => (vec![either(m, n)], either(rows.1 - rows.0, cols.1 - cols.0)),
            Op::Resize { shape } => (vec![either(m, n)], either(shape.0, shape.1)),
            Op::Build { .. } => (vec![], either(m, n)),
        };
        let mask = match op {
            Op::AssignRow { .. } => Some(vector(n)),
            Op::AssignColumn { .. } => Some(vector(m)),
            _ if Self::is_bare(&op) || matches!(op, Op::ReduceScalar { .. } | Op::Spmm { .. }) => None,
            _ => Some(c),
        };
        for (spec, transposed) in operands.iter_mut().zip(transpose) {
            if transposed && (spec.0 != Matrix || !Self::transposes(&op)) {
                return None;
            }
            if transposed {
                spec.1 = (spec.1.1, spec.1.0);
            }
        }
        let one_side = operands.len() != 2 || matches!(op, Op::Spmm { .. });
        if transpose[1] && one_side || transpose[0] && operands.is_empty() {
            return None;
        }
        Some(Self { op, ty, out, c, operands, mask, transpose })
    }

    /// Whether the operation takes neither mask nor accumulator.
    fn is_bare(op: &Op) -> bool {
        matches!(
            op,
            Op::Reduce { .. }
                | Op::Diag { .. }
                | Op::Diagonal { .. }
                | Op::Concat { .. }
                | Op::Block { .. }
                | Op::Resize { .. }
                | Op::Build { .. }
        )
    }
    fn transposes(op: &Op) -> bool {
        !Self::is_bare(op) && !matches!(op, Op::ReduceScalar { .. })
    }
    /// Whether C and the second operand are dense.
    fn is_dense(&self) -> bool {
        matches!(self.op, Op::Spmm { .. })
    }
    /// Whether the operation takes an accumulator.
    pub(crate) fn accumulates(&self) -> bool {
        !Self::is_bare(&self.op)
    }
    /// Whether the operation commutes with scaling of indices: it neither reads indices nor takes them as parameters.
    pub(crate) fn scales(&self) -> bool {
        match &self.op {
            Op::Mxm { ring } | Op::Mxv { ring } | Op::Vxm { ring } => !is_positional(ring.mul),
            Op::Select { op, .. } => op.starts_with("value_"),
            Op::Identity
            | Op::Transpose
            | Op::EwiseAdd { .. }
            | Op::EwiseMult { .. }
            | Op::EwiseUnion { .. }
            | Op::Apply { .. }
            | Op::ApplyFirst { .. }
            | Op::ApplySecond { .. }
            | Op::ReduceRows { .. }
            | Op::Reduce { .. } => true,
            _ => false,
        }
    }

    /// The case; `None` if aliased objects differ in kind, shape or type, or the operation does not take an option.
    pub(crate) fn case(
        &self,
        alias: Alias,
        write: Write,
        mask_type: Type,
        scale: usize,
        mut draw: impl FnMut(Role, ObjectShape, Type) -> (Table, Form),
    ) -> Option<Case> {
        let same = |x: ObjectShape, y: ObjectShape| x == y;
        let (a, b) = (self.operands.first(), self.operands.get(1));
        let of_c = |x: Option<&ObjectShape>| x.is_some_and(|x| same(*x, self.c)) && self.ty == self.out;
        let possible = (!alias.a_is_c || of_c(a))
            && (!alias.b_is_c || of_c(b))
            && (!alias.b_is_a || a.is_some() && a == b && !alias.a_is_c && !alias.b_is_c)
            && (!(alias.mask_is_c || alias.mask_is_a) || write.mask.is_some())
            && (!alias.mask_is_c || self.mask == Some(self.c))
            && (!alias.mask_is_a || !alias.mask_is_c && !alias.a_is_c && a.is_some() && self.mask == a.copied())
            && (write.mask.is_none() || self.mask.is_some())
            && (write.accum.is_none() || self.accumulates())
            && (!write.replace || write.mask.is_some())
            && (!self.is_dense() || !(alias.a_is_c || alias.b_is_c || alias.b_is_a))
            && (scale == 1 || self.scales());
        if !possible {
            return None;
        }
        let mut objects = Vec::new();
        let mut add = |role, spec, ty| {
            let (table, form) = draw(role, spec, ty);
            let table = match role {
                Role::C | Role::Operand(1) if self.is_dense() => {
                    table.like(ty, |i, j| Some(table.get(i, j).unwrap_or(ty.zero())))
                }
                _ => table,
            };
            objects.push(Object { table, form });
            objects.len() - 1
        };
        let c = add(Role::C, self.c, self.out);
        let mut operands = Vec::new();
        for (n, spec) in self.operands.iter().enumerate() {
            let shared = match n {
                0 if alias.a_is_c => Some(c),
                1 if alias.b_is_c => Some(c),
                1 if alias.b_is_a => Some(operands[0]),
                _ => None,
            };
            operands.push(shared.unwrap_or_else(|| add(Role::Operand(n), *spec, self.ty)));
        }
        let mask = write.mask.zip(self.mask).map(|((structure, complement), spec)| {
            let object = match alias {
                Alias { mask_is_c: true, .. } => c,
                Alias { mask_is_a: true, .. } => operands[0],
                _ => add(Role::Mask, spec, mask_type),
            };
            Mask { object, structure, complement }
        });
        Some(Case {
            op: self.op.clone(),
            objects,
            c,
            operands,
            transpose: self.transpose,
            mask,
            accum: write.accum,
            replace: write.replace,
            scale,
        })
    }
}

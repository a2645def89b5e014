//! C⟨M⟩ ⊙= T: the implementation of every operation, with its checks.

use std::ptr;

use sparring::algebra::Type;
use sparring::runtime::{Aggregate, BinaryOp, Machine, Object as Operand, Op, Operands, Operation, Pairing};

use sparring::Error;

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::handle;
use crate::matrix::SparringMatrix;
use crate::memory::input;
use crate::operators::SparringBinaryOp;
use crate::scalar::SparringScalar;
use crate::sparse::{Held, Sparse, optional};
use crate::status::SparringStatus::{SPARRING_INDEX_RANGE, SPARRING_SHAPE};
use crate::types::named;

/// Options of an operation c⟨mask⟩ ⊙= t, where t is the computed result and ⊙ the operator `accum`. All zero
/// (`SparringDescriptor d = {0};`) and NULL are the defaults. The rules are those of GraphBLAS:
///
///                       without accum                         with accum
///   no mask             c = t                                 c = c ⊙ t
///   mask                c = t where allowed, else c           c = c ⊙ t where allowed, else c
///   mask, replace       c = t where allowed, else empty       c = c ⊙ t where allowed, else empty
///
/// c ⊙ t is an entry of c where t has none, one of t where c has none, and ⊙ of the two where both have one.
/// Every operation takes, in this order, its output c, which has the shape and the type of the result, then mask and
/// accum, each NULL for none. The mask has the shape of c and any type; accum takes and returns the type of c. c may
/// also be an operand or the mask. On failure c is unchanged, unless memory runs out while it is written. On a GPU c
/// stays on the device, and operands in host memory are uploaded for the call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SparringDescriptor {
    /// Not 0: the mask allows every position where it has an entry; else only those whose value is not 0.
    pub structure: u32,
    /// Not 0: complements the mask.
    pub complement: u32,
    /// Not 0: entries of c outside the mask are deleted.
    pub replace: u32,
    /// Not 0: the matrix operand `a` is transposed.
    pub transpose_a: u32,
    /// Not 0: the matrix operand `b` is transposed.
    pub transpose_b: u32,
    /// The precomputed transpose of the matrix of `sparring_vector_mxv` or `sparring_vector_vxm`, or NULL: the product
    /// is then driven by the rows that the mask allows ("pull") or by the entries of the vector ("push"), whichever is
    /// less work. A matrix that is not the transpose gives a wrong result; only its shape and number of entries are
    /// checked. Other operations reject it.
    pub transposed: *const SparringMatrix,
}

impl Default for SparringDescriptor {
    fn default() -> Self {
        Self { structure: 0, complement: 0, replace: 0, transpose_a: 0, transpose_b: 0, transposed: ptr::null() }
    }
}

/// The arguments of every operation besides its operator and its operands. The mask is of another kind than c if a row
/// or a column of a matrix is written.
pub(crate) struct Write<C, M = C> {
    pub(crate) device: *const SparringDevice,
    pub(crate) c: *mut C,
    pub(crate) mask: *const M,
    pub(crate) accum: *const SparringBinaryOp,
    pub(crate) descriptor: *const SparringDescriptor,
}

impl<C: Sparse, M: Sparse> Write<C, M> {
    /// C⟨M⟩ ⊙= T.
    /// # Safety
    /// `descriptor` is NULL or points to a descriptor not written during the call.
    pub(crate) unsafe fn run(self, op: Op<'_>, a: Option<Operand>, b: Option<Operand>) -> Fallible {
        let (device, c) = (handle(self.device, "device")?, handle(self.c, "c")?);
        let mask = optional(self.mask, "mask")?;
        let accum = if self.accum.is_null() { None } else { Some(handle(self.accum, "accum")?) };
        let d = match self.descriptor {
            p if p.is_null() => SparringDescriptor::default(),
            // SAFETY: the caller's promise; every bit pattern is a SparringDescriptor.
            p => unsafe { input(p, 1, "descriptor")?[0] },
        };
        let twin = optional(d.transposed, "transposed")?;
        let transposed = [d.transpose_a != 0, d.transpose_b != 0];
        let made = result(&device, &op, [a.as_ref(), b.as_ref()], transposed)?;
        if let Some(mask) = &mask {
            device.takes("mask", mask)?;
        }
        if let Some(twin) = &twin {
            device.takes("transposed", twin)?;
        }
        let mut c = c.lock();
        device.takes("c", &*c)?;
        assigned(&op, c.shape(), a.as_ref(), transposed[0])?;
        let of_mask = mask.as_ref().map(Held::shape);
        check_written(&op, (c.ty(), c.shape()), made, of_mask, accum.as_ref().map(|f| &f.op))?;
        let mut operation = call(&device.machine, op, a, b)?;
        if let Some(mask) = &mask {
            operation = operation.mask(mask);
        }
        // A clone of the mask would be another owner of a matrix that may be written.
        drop(mask);
        if let Some(twin) = &twin {
            operation = operation.with_transpose(twin);
        }
        if let Some(accum) = &accum {
            operation = operation.accum(&accum.op);
        }
        if d.structure != 0 {
            operation = operation.structure();
        }
        if d.complement != 0 {
            operation = operation.complement();
        }
        if d.replace != 0 {
            operation = operation.replace();
        }
        if d.transpose_a != 0 {
            operation = operation.transpose_a();
        }
        if d.transpose_b != 0 {
            operation = operation.transpose_b();
        }
        let here = c.is_on_host();
        operation.into(&mut *c).map_err(|e| failed(&op, transposed[0], e))?;
        if here && !c.is_on_host() {
            *c = c.download()?;
        }
        Ok(())
    }
}

/// The error of an operation, with the argument names of the C API.
fn failed(op: &Op<'_>, transposed: bool, e: Error) -> Fail {
    if let Error::Argument { name: "transpose", message } = e {
        return Fail::argument("transposed", message);
    }
    let (Error::ListIndex { list, .. } | Error::RepeatedIndex { list, .. }) = e else {
        return Fail::of_operands(e, "a", "b");
    };
    let name = match op {
        Op::ExtractColumn(..) | Op::AssignColumn(..) => "rows",
        Op::ExtractRow(..) | Op::AssignRow(..) => "cols",
        // The library swaps the lists when extracting from Aᵀ.
        Op::Extract(..) if transposed && list == "rows" => "cols",
        Op::Extract(..) if transposed && list == "cols" => "rows",
        _ => list,
    };
    let Fail { status, message } = Fail::from(e);
    let of_list = message.strip_prefix(list).unwrap_or(&message);
    Fail { status, message: format!("{name}{of_list}") }
}

/// The operation, owning its operands.
fn call<'m>(machine: &'m Machine, op: Op<'m>, a: Option<Operand>, b: Option<Operand>) -> Fallible<Operation<'m>> {
    let operands: Operands = match (&a, &b) {
        (None, _) => ().into(),
        (Some(a), Some(b)) => (a, b).into(),
        (Some(Operand::Matrix(a)), None) => a.into(),
        (Some(Operand::Vector(a)), None) => a.into(),
        _ => return Err(Fail::argument("a", "it is a scalar".into())),
    };
    Ok(machine.call(op, operands))
}

/// s ⊙= ⊕ over all entries of `a`: without entries s becomes empty, or is unchanged with ⊙.
pub(crate) fn reduce<A: Sparse>(
    device: *const SparringDevice,
    scalar: *mut SparringScalar,
    accum: *const SparringBinaryOp,
    monoid: *const crate::operators::SparringMonoid,
    a: *const A,
) -> Fallible {
    let (device, scalar) = (handle(device, "device")?, handle(scalar, "scalar")?);
    let accum = if accum.is_null() { None } else { Some(handle(accum, "accum")?) };
    let (monoid, a) = (handle(monoid, "monoid")?, handle(a, "a")?.snapshot());
    device.takes("a", &a)?;
    let op = Op::Reduce(&monoid.monoid);
    let (a, ty) = (Some(a.into()), monoid.monoid.ty());
    result(&device, &op, [a.as_ref(), None], [false; 2])?;
    scalar.is_of("scalar", ty, "the monoid's")?;
    let mut operation = call(&device.machine, op, a, None)?;
    if let Some(f) = &accum {
        accumulates(&f.op, "accum", "scalar", ty)?;
        operation = operation.accum(&f.op);
    }
    Ok(operation.into_scalar(&mut scalar.lock())?)
}

fn type_of(x: &Operand) -> Type {
    match x {
        Operand::Matrix(a) => a.ty(),
        Operand::Vector(x) => x.ty(),
        Operand::Scalar(s) => s.ty(),
    }
}

/// Rows and columns of an operand, transposed if the descriptor says so.
fn shape_of(x: &Operand, name: &str, transposed: bool) -> Fallible<(usize, usize)> {
    match x {
        Operand::Matrix(a) if transposed => Ok((a.shape().1, a.shape().0)),
        Operand::Matrix(a) => Ok(a.shape()),
        Operand::Vector(_) | Operand::Scalar(_) if transposed => {
            Err(Fail::argument("descriptor", format!("transpose_{name} is set, but {name} is not a matrix")))
        }
        Operand::Vector(x) => Ok((x.len(), 1)),
        Operand::Scalar(_) => Ok((1, 1)),
    }
}

/// Type and shape of the result, after checking the types and devices of the operands. No shape: that of c, or a
/// mismatch, which the library reports.
fn result(
    device: &SparringDevice,
    op: &Op<'_>,
    operands: [Option<&Operand>; 2],
    transposed: [bool; 2],
) -> Fallible<(Type, Option<(usize, usize)>)> {
    let mut shapes = [None; 2];
    for (k, name) in ["a", "b"].into_iter().enumerate() {
        let Some(x) = operands[k] else {
            if transposed[k] {
                let message = format!("transpose_{name} is set, but there is no {name}");
                return Err(Fail::argument("descriptor", message));
            }
            continue;
        };
        match x {
            Operand::Matrix(x) => device.takes(name, x)?,
            Operand::Vector(x) => device.takes(name, x)?,
            Operand::Scalar(_) => {}
        }
        shapes[k] = Some(shape_of(x, name, transposed[k])?);
    }
    let gives = gives(op, operands[0].map(type_of), operands[1].map(type_of))?;
    if matches!(op, Op::ExtractColumn(..) | Op::ExtractRow(..)) {
        lines(op, shapes[0])?;
    }
    Ok((gives, shapes[0].and_then(|a| shape(op, a, shapes[1]))))
}

/// Type of the result; rejects operands whose types do not match the operator.
fn gives(op: &Op<'_>, a: Option<Type>, b: Option<Type>) -> Fallible<Type> {
    let of_a = a.unwrap_or(Type::Bool);
    let (takes, gives, words): ([Type; 2], Type, &dyn std::fmt::Display) = match op {
        Op::Mxm(ring, _) | Op::Mxv(ring) | Op::Vxm(ring) => {
            let of = ring.formula().mul().parameters();
            ([of[0].1, of[1].1], ring.ty(), *ring)
        }
        Op::EwiseAdd(f) | Op::Pairs(_, f) | Op::EwiseUnion(f, ..) | Op::Scatter(_, _, f) => {
            ([f.takes().0, f.takes().1], f.ty(), *f)
        }
        Op::Apply(f) => ([f.takes(); 2], f.ty(), *f),
        Op::Select(f) => ([f.takes(); 2], of_a, *f),
        Op::Reduce(monoid) | Op::ReduceRows(monoid) => ([monoid.ty(); 2], monoid.ty(), *monoid),
        Op::AssignScalar(s, ..) => return Ok(s.ty()),
        Op::Aggregate(Aggregate::Mean) => return Ok(Type::F64),
        Op::Aggregate(_) => return Ok(Type::I64),
        // The others move entries unchanged.
        _ => return Ok(of_a),
    };
    for (name, found, takes) in [("a", a, takes[0]), ("b", b, takes[1])] {
        if let Some(found) = found.filter(|found| *found != takes) {
            let message = format!("values are {}, those of {words} {}", named(found), named(takes));
            return Err(Fail::of_type(name, message));
        }
    }
    match op {
        Op::EwiseAdd(f) | Op::Scatter(_, _, f) if takes != [gives; 2] => {
            let [a, b, gives] = [takes[0], takes[1], gives].map(named);
            let why = "an entry without a counterpart is copied unchanged";
            Err(Fail::of_type("op", format!("{f} takes {a} and {b} and returns {gives}, but {why}")))
        }
        Op::Select(f) if f.ty() != Type::Bool => {
            Err(Fail::of_type("op", format!("{f} returns {}, but select needs {}", named(f.ty()), named(Type::Bool))))
        }
        _ => Ok(gives),
    }
}

/// Rejects a row or a column outside of this shape.
fn lines(op: &Op<'_>, shape: Option<(usize, usize)>) -> Fallible {
    let (name, at, bound, what) = match (op, shape) {
        (Op::ExtractColumn(_, j) | Op::AssignColumn(_, j), Some(shape)) => ("j", *j, shape.1, "columns"),
        (Op::ExtractRow(i, _) | Op::AssignRow(i, _), Some(shape)) => ("i", *i, shape.0, "rows"),
        _ => return Ok(()),
    };
    if at < bound {
        return Ok(());
    }
    let message = format!("{name} is {at}, not below the number of {what}, which is {bound}");
    Err(Fail { status: SPARRING_INDEX_RANGE, message })
}

/// Shape of the result for operands of these shapes; `None` for a mismatch, or if it is that of c.
fn shape(op: &Op<'_>, a: (usize, usize), b: Option<(usize, usize)>) -> Option<(usize, usize)> {
    match (op, b) {
        (Op::Mxm(..), Some(b)) => (a.1 == b.0).then_some((a.0, b.1)),
        (Op::Mxv(_), Some(x)) => (a.1 == x.0).then_some((a.0, 1)),
        (Op::Vxm(_), Some(b)) => (a.0 == b.0).then_some((b.1, 1)),
        (Op::EwiseAdd(_) | Op::EwiseUnion(..) | Op::Pairs(Pairing::EwiseMult, _), Some(b)) => (a == b).then_some(a),
        (Op::Pairs(..), Some(b)) => Some((a.0.checked_mul(b.0)?, a.1.checked_mul(b.1)?)),
        (Op::ReduceRows(_) | Op::Aggregate(_), _) => Some((a.0, 1)),
        (Op::Transpose, _) => Some((a.1, a.0)),
        (Op::Extract(rows, cols), _) => Some((rows.len(a.0), cols.len(a.1))),
        (Op::ExtractColumn(rows, _), _) => Some((rows.len(a.0), 1)),
        (Op::ExtractRow(_, cols), _) => Some((cols.len(a.1), 1)),
        (Op::Diag(k), _) => {
            let n = a.0.checked_add(usize::try_from(k.unsigned_abs()).ok()?)?;
            Some((n, n))
        }
        (Op::Diagonal(k), _) => {
            let offset = usize::try_from(k.unsigned_abs()).ok()?;
            let (m, n) = if *k < 0 { (a.0.saturating_sub(offset), a.1) } else { (a.0, a.1.saturating_sub(offset)) };
            Some((m.min(n), 1))
        }
        (Op::Assign(..) | Op::AssignColumn(..) | Op::AssignRow(..) | Op::Scatter(..), _) => None,
        _ => Some(a),
    }
}

/// Rejects an operand whose shape differs from the part of c it is assigned to.
fn assigned(op: &Op<'_>, c: (usize, usize), a: Option<&Operand>, transposed: bool) -> Fallible {
    let expected = match op {
        Op::Assign(rows, cols) => (rows.len(c.0), cols.len(c.1)),
        Op::AssignColumn(rows, _) => (rows.len(c.0), 1),
        Op::AssignRow(_, cols) => (cols.len(c.1), 1),
        Op::Scatter(list, n, _) => (list.len(*n), 1),
        _ => return Ok(()),
    };
    if !matches!(op, Op::Scatter(..)) {
        lines(op, Some(c))?;
    }
    let Some(a) = a else { return Ok(()) };
    let found = shape_of(a, "a", transposed)?;
    if found == expected { Ok(()) } else { Err(of_shape("a", found, "the part of c", expected)) }
}

/// The error of an object of another shape.
fn of_shape(name: &str, found: (usize, usize), what: &str, expected: (usize, usize)) -> Fail {
    Fail {
        status: SPARRING_SHAPE,
        message: format!("{name}: it is {}×{}, {what} is {}×{}", found.0, found.1, expected.0, expected.1),
    }
}

/// Rejects an accumulator, the argument `argument`, that does not take and return the type `ty`.
pub(crate) fn accumulates(op: &BinaryOp, argument: &str, name: &str, ty: Type) -> Fallible {
    let (a, b) = op.takes();
    if [a, b, op.ty()] == [ty; 3] {
        return Ok(());
    }
    let [a, b, gives, ty] = [a, b, op.ty(), ty].map(named);
    Err(Fail::of_type(argument, format!("{op} takes {a} and {b} and returns {gives}, values of {name} are {ty}")))
}

/// Rejects a result that c cannot hold, and a mask of another shape.
fn check_written(
    op: &Op<'_>,
    (ty, shape): (Type, (usize, usize)),
    (gives, made): (Type, Option<(usize, usize)>),
    mask: Option<(usize, usize)>,
    accum: Option<&BinaryOp>,
) -> Fallible {
    if ty != gives {
        return Err(Fail::of_type("c", format!("values are {}, those of the result {}", named(ty), named(gives))));
    }
    if let Some(made) = made.filter(|made| *made != shape) {
        return Err(of_shape("c", shape, "the result", made));
    }
    let (what, expected) = match op {
        Op::AssignColumn(..) => ("a column of c", (shape.0, 1)),
        Op::AssignRow(..) => ("a row of c, as a vector,", (shape.1, 1)),
        _ => ("c", shape),
    };
    if let Some(mask) = mask.filter(|mask| *mask != expected) {
        return Err(of_shape("mask", mask, what, expected));
    }
    accum.map_or(Ok(()), |op| accumulates(op, "accum", "c", ty))
}

//! Operators of a case through the C API: by name, or as equivalent user-defined functions.

use sparring::algebra::{Array, Blocks, Formula, Input, Parameter, Type};
use sparring::runtime::{BinaryOp, Monoid, Semiring, UnaryOp};

use super::super::*;
use super::oracle;
use crate::functions::*;
use crate::semirings::*;
use crate::types::{code, input_values, output_values};

/// An optional operator, monoid or semiring, freed with the value.
pub(super) enum Operators {
    None,
    Binary(*mut SparringBinaryOp),
    Unary(*mut SparringUnaryOp),
    Monoid(*mut SparringMonoid),
    Ring(*mut SparringSemiring),
}

/// A formula as a context, with the positions of its parameters among the operands.
struct Context {
    blocks: Blocks,
    takes: Vec<Type>,
    places: Vec<usize>,
    gives: Type,
}

impl Context {
    fn new(formula: &Formula, order: &[&str]) -> Self {
        let place = |p: &Parameter| order.iter().position(|name| *name == p.0).unwrap_or(0);
        let ty = |name: &&str| formula.parameters().iter().find(|p| p.0 == *name).map_or(Type::U64, |p| p.1);
        Self {
            blocks: Blocks::new(formula).unwrap(),
            takes: order.iter().map(ty).collect(),
            places: formula.parameters().iter().map(place).collect(),
            gives: formula.ty(),
        }
    }
    fn give(self) -> *mut c_void {
        Box::into_raw(Box::new(self)).cast()
    }
    /// Computes a value from addresses, as in C.
    unsafe fn run(context: *mut c_void, z: *mut c_void, operands: &[*const c_void]) {
        let of = unsafe { &*context.cast::<Self>() };
        let value = |(&p, &ty): (&*const c_void, &Type)| unsafe { input_values(ty, p, 1) }.unwrap();
        let values: Vec<Array> = operands.iter().zip(&of.takes).map(value).collect();
        let inputs: Vec<Input<'_>> = of.places.iter().map(|&p| Input::Values(values[p].slice())).collect();
        let mut out = unsafe { input_values(of.gives, [0u64; 2].as_ptr().cast(), 1) }.unwrap();
        of.blocks.run(&inputs, &mut of.blocks.scratch().unwrap(), &mut out.slice_mut()).unwrap();
        unsafe { output_values(out.slice(), z, 1) }.unwrap();
    }
}

unsafe extern "C" fn release(context: *mut c_void) {
    drop(unsafe { Box::from_raw(context.cast::<Context>()) });
}
unsafe extern "C" fn call1(context: *mut c_void, z: *mut c_void, x: *const c_void) {
    unsafe { Context::run(context, z, &[x]) };
}
unsafe extern "C" fn call2(context: *mut c_void, z: *mut c_void, x: *const c_void, y: *const c_void) {
    unsafe { Context::run(context, z, &[x, y]) };
}
unsafe extern "C" fn call4(context: *mut c_void, z: *mut c_void, x: *const c_void, i: u64, j: u64, s: *const c_void) {
    unsafe { Context::run(context, z, &[x, (&raw const i).cast(), (&raw const j).cast(), s]) };
}

/// The operator a ∘ b of a formula as a function.
fn function(formula: &Formula) -> *mut SparringBinaryOp {
    let context = Context::new(formula, &["a", "b"]);
    let (z, x, y) = (code(context.gives), code(context.takes[0]), code(context.takes[1]));
    let mut op = null_mut();
    let (context, name) = (context.give(), c"of two".as_ptr());
    ok(unsafe { sparring_binary_op_from_closure(Some(call2), context, Some(release), name, z, x, y, &mut op) });
    op
}

fn name(text: &str) -> std::ffi::CString {
    std::ffi::CString::new(text).unwrap()
}

impl Operators {
    pub(super) fn binary(op: Option<(&str, Type)>, functions: bool) -> Self {
        let Some((text, ty)) = op else { return Self::None };
        if functions {
            return Self::Binary(function(BinaryOp::new(text, ty).unwrap().formula()));
        }
        let mut op = null_mut();
        ok(unsafe { sparring_binary_op_new(name(text).as_ptr(), code(ty), code(ty), &mut op) });
        Self::Binary(op)
    }
    pub(super) fn unary(text: &str, ty: Type, functions: bool) -> Self {
        let mut op = null_mut();
        if !functions {
            ok(unsafe { sparring_unary_op_new(name(text).as_ptr(), code(ty), 0, &mut op) });
            return Self::Unary(op);
        }
        let of = UnaryOp::new(text, ty).unwrap();
        let f = of.formula();
        let text = c"of one".as_ptr();
        if ["s", "i", "j"].iter().any(|name| f.reads(name)) {
            let context = Context::new(f, &["a", "i", "j", "s"]);
            let (z, x, s) = (code(context.gives), code(context.takes[0]), code(context.takes[3]));
            let to = &mut op;
            let context = context.give();
            ok(unsafe { sparring_unary_op_from_index_closure(Some(call4), context, Some(release), text, z, x, s, to) });
        } else {
            let context = Context::new(f, &["a"]);
            let (z, x, to) = (code(context.gives), code(context.takes[0]), &mut op);
            let context = context.give();
            ok(unsafe { sparring_unary_op_from_closure(Some(call1), context, Some(release), text, z, x, to) });
        }
        Self::Unary(op)
    }
    pub(super) fn monoid(text: &str, ty: Type, functions: bool) -> Self {
        let mut named = null_mut();
        ok(unsafe { sparring_monoid_new(name(text).as_ptr(), code(ty), &mut named) });
        if !functions {
            return Self::Monoid(named);
        }
        let op = Self::Binary(function(Monoid::new(text, ty).unwrap().formula().op()));
        let (mut identity, mut monoid) = (null_mut(), null_mut());
        ok(unsafe { sparring_scalar_new(code(ty), null(), &mut identity) });
        ok(unsafe { sparring_monoid_identity(named, identity) });
        ok(unsafe { sparring_monoid_from_op(op.get_binary(), identity, &mut monoid) });
        ok(sparring_scalar_free(identity));
        ok(sparring_monoid_free(named));
        Self::Monoid(monoid)
    }
    pub(super) fn ring(of: &oracle::Ring, ty: Type, functions: bool) -> Self {
        let text = format!("{}_{}", of.add, of.mul);
        let mut ring = null_mut();
        let semiring = Semiring::new(&text, ty).unwrap();
        let f = semiring.formula().mul();
        if !functions || ["i", "k", "j"].iter().any(|place| f.reads(place)) {
            ok(unsafe { sparring_semiring_new(name(&text).as_ptr(), code(ty), code(ty), &mut ring) });
            return Self::Ring(ring);
        }
        let (add, mul) = (Self::monoid(of.add, f.ty(), true), Self::Binary(function(f)));
        ok(unsafe { sparring_semiring_from_ops(add.get_monoid(), mul.get_binary(), &mut ring) });
        Self::Ring(ring)
    }
    /// s ∘ x, or x ∘ s.
    pub(super) fn bound(&self, s: *const SparringScalar, first: bool) -> Self {
        let mut op = null_mut();
        ok(unsafe {
            if first {
                sparring_binary_op_bind_first(self.get_binary(), s, &mut op)
            } else {
                sparring_binary_op_bind_second(self.get_binary(), s, &mut op)
            }
        });
        Self::Unary(op)
    }
    pub(super) fn with(&self, s: *const SparringScalar) -> Self {
        let mut op = null_mut();
        ok(unsafe { sparring_unary_op_with(self.get_unary(), s, &mut op) });
        Self::Unary(op)
    }
    pub(super) fn get_binary(&self) -> *const SparringBinaryOp {
        if let Self::Binary(op) = self { *op } else { null() }
    }
    pub(super) fn get_unary(&self) -> *const SparringUnaryOp {
        if let Self::Unary(op) = self { *op } else { null() }
    }
    pub(super) fn get_monoid(&self) -> *const SparringMonoid {
        if let Self::Monoid(monoid) = self { *monoid } else { null() }
    }
    pub(super) fn get_ring(&self) -> *const SparringSemiring {
        if let Self::Ring(ring) = self { *ring } else { null() }
    }
}

impl Drop for Operators {
    fn drop(&mut self) {
        ok(match self {
            Self::None => return,
            Self::Binary(op) => sparring_binary_op_free(*op),
            Self::Unary(op) => sparring_unary_op_free(*op),
            Self::Monoid(monoid) => sparring_monoid_free(*monoid),
            Self::Ring(ring) => sparring_semiring_free(*ring),
        });
    }
}

//! Operators as CUDA C++: formulas printed by [`formula::print`](super::formula), wrapped in the structs that kernel
//! templates take as parameters.

use super::formula::print::{definitions, function, literal};
use super::{
    BinaryOp, Constant, Contract, Formula, IndexUnaryOp, Monoid, MulOp, Trace, Type, UnaryOp, V, Value, trace,
};

/// CUDA text of a unary operator: `static __device__ Out name(A a)`.
pub fn emit_unary<O: UnaryOp>(name: &str, op: O) -> String {
    function(name, &Formula::of_unary(op))
}

/// CUDA text of a binary operator: `static __device__ Out name(A a, B b)`.
pub fn emit_binary<O: BinaryOp>(name: &str, op: O) -> String {
    function(name, &Formula::of_binary(op))
}

/// CUDA text of an index-unary operator: `static __device__ Out name(A a, S s, i, j)`.
pub fn emit_index_unary<O: IndexUnaryOp>(name: &str, op: O) -> String {
    function(name, &Formula::of_index_unary(op))
}

/// CUDA text of a multiplicative operator, which may depend on the indices i, k, j.
pub fn emit_mul<O: MulOp>(name: &str, op: O) -> String {
    function(name, &Formula::of_mul(op))
}

/// CUDA text of a semiring or NAMM: `struct Ring`, a parameter of kernel templates, after the definitions of its value
/// structs.
///
/// ```
/// use sparring::algebra::{MinPlus, emit_contract};
/// let text = emit_contract(MinPlus::<f32>::default());
/// assert!(text.contains("zero() { return sr::inf<float>(); }"));
/// assert!(text.contains("sr::min(a, b)"));
/// ```
pub fn emit_contract<R: Contract>(ring: R) -> String {
    emit_contract_as("Ring", ring)
}

/// As [`emit_contract`], with a name other than `Ring`.
pub(crate) fn emit_contract_as<R: Contract>(name: &str, ring: R) -> String {
    let (add, mul) = (Formula::of_binary(ring.add()), Formula::of_mul(ring.mul()));
    contract(name, &add, &Constant::of(<R::Add as Monoid>::IDENTITY), &mul)
}

/// `struct name` of ⊕, its identity, and ⊗.
pub(crate) fn contract(name: &str, add: &Formula, identity: &Constant, mul: &Formula) -> String {
    let (a, b, out) = (mul.parameters()[0].1, mul.parameters()[1].1, add.ty());
    // Operands that ⊗ does not read need not be loaded.
    let (reads_a, reads_b) = (mul.reads("a"), mul.reads("b"));
    let place = mul.reads("i") || mul.reads("k") || mul.reads("j");
    let reads = format!("  static constexpr bool reads_a = {reads_a}, reads_b = {reads_b}, reads_place = {place};\n");
    let functions = format!("{reads}{}{}{}", zero(identity), function("add", add), function("mul", mul));
    structure(name, &[("A", a), ("B", b), ("Out", out)], &functions, &[add, mul])
}

/// `struct Split` and `SPLIT`, if ⊗ has an expensive part that depends on `a` alone: `part(a)` is that part,
/// `mul(a, b, i, k, j, part)` is a ⊗ b.
pub(crate) fn emit_split<O: MulOp>(op: O) -> String {
    Formula::of_mul(op).split("a").map_or_else(String::new, |(part, rest)| {
        format!("#define SPLIT\nstruct Split {{\n{}{}}};\n", function("part", &part), function("mul", &rest))
    })
}

/// `struct name` of ⊕, its identity, ⊗, and `fold`, all of one type.
#[cfg(feature = "cuda")]
pub(crate) fn arithmetic(
    name: &str,
    add: &Formula,
    identity: &Constant,
    mul: &Formula,
    fold: Option<&Formula>,
) -> String {
    let ty = add.ty();
    let folds = fold.map_or_else(
        || "  static __device__ Out fold(Out sum, A a, B b) { return add(sum, mul(a, b, 0, 0, 0)); }\n".into(),
        |fold| function("fold", fold),
    );
    let functions = format!("{}{}{}{folds}", zero(identity), function("add", add), function("mul", mul));
    let formulas: Vec<&Formula> = [add, mul].into_iter().chain(fold).collect();
    structure(name, &[("A", ty), ("B", ty), ("Out", ty)], &functions, &formulas)
}

fn zero(identity: &Constant) -> String {
    format!("  static __device__ Out zero() {{ return {}; }}\n", literal(identity))
}

/// `struct Monoid` of ⊕ and its identity.
pub(crate) fn monoid(add: &Formula, identity: &Constant) -> String {
    structure("Monoid", &[("Out", add.ty())], &format!("{}{}", zero(identity), function("add", add)), &[add])
}

/// `struct Op` of an operator: its function `apply`, and its types; `names` are those of the first parameters' types.
pub(crate) fn operator(names: &[&'static str], f: &Formula) -> String {
    let mut types: Vec<_> = names.iter().zip(f.parameters()).map(|(&name, p)| (name, p.1)).collect();
    types.push(("Out", f.ty()));
    structure("Op", &types, &function("apply", f), &[f])
}

fn structure(name: &str, types: &[(&str, Type)], functions: &str, formulas: &[&Formula]) -> String {
    let needed: Vec<_> = types.iter().map(|t| t.1).collect();
    let types: String = types.iter().map(|(alias, ty)| format!("  using {alias} = {};\n", ty.cuda())).collect();
    format!("{}struct {name} {{\n{types}{functions}}};\n", definitions(&needed, formulas))
}

/// CUDA text of a unary operator for a kernel: `struct Op` with its types `A` and `Out` and the function `apply(a)`,
/// after the definitions of its value structs.
///
/// ```
/// use sparring::algebra::{Abs, emit_unary_op};
/// let text = emit_unary_op(Abs::<f32>::new());
/// assert!(text.starts_with("struct Op {\n  using A = float;\n  using Out = float;\n"));
/// ```
pub fn emit_unary_op<O: UnaryOp>(op: O) -> String {
    operator(&["A"], &Formula::of_unary(op))
}

/// CUDA text of a binary operator for a kernel: `struct Op` with its types `A`, `B`, `Out` and the function
/// `apply(a, b)`, after the definitions of its value structs.
pub fn emit_binary_op<O: BinaryOp>(op: O) -> String {
    operator(&["A", "B"], &Formula::of_binary(op))
}

/// CUDA text of an index-unary operator for a kernel: `struct Op` with its types `A`, `S`, `Out` and the function
/// `apply(a, s, i, j)`, after the definitions of its value structs.
pub fn emit_index_unary_op<O: IndexUnaryOp>(op: O) -> String {
    operator(&["A", "S"], &Formula::of_index_unary(op))
}

/// CUDA text of a monoid for a kernel: `struct Monoid` with its type `Out` and the functions `zero()`, the identity,
/// and `add(a, b)`, after the definitions of its value structs.
pub fn emit_monoid<M: Monoid>(op: M) -> String {
    monoid(&Formula::of_binary(op), &Constant::of(M::IDENTITY))
}

/// CUDA text of the structs among these types and their fields; empty for numbers.
#[doc(hidden)]
#[must_use]
pub fn define_types(types: &[Type]) -> String {
    definitions(types, &[])
}

/// Printer for the functions of a struct; all parameters of a function have one type.
pub(crate) struct Functions {
    text: String,
}

/// An empty printer.
pub(crate) fn emit_functions() -> Functions {
    Functions { text: String::new() }
}

impl Functions {
    /// Adds `static __device__ U name(P p, P q, …)` with the statements of `body`.
    pub(crate) fn add<P: Value, U: Value>(
        &mut self,
        name: &str,
        parameters: &[&'static str],
        body: impl Fn() -> V<Trace, U>,
    ) {
        self.print(name, parameters, P::TYPE, &|| body().0.node());
    }
    #[inline(never)]
    fn print(&mut self, name: &str, parameters: &[&'static str], ty: Type, body: &dyn Fn() -> usize) {
        let parameters = parameters.iter().map(|&name| (name.into(), ty)).collect();
        self.text += &function(name, &trace::record_node(parameters, body));
    }
    pub(crate) fn text(self) -> String {
        self.text
    }
}

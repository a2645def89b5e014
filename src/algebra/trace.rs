//! The machine that prints: an operator's body becomes CUDA C++.
//!
//! Every operation of a formula appends one statement `const T tN = …;` to the tape of the formula being
//! recorded. Formulas are pure, so a statement that is there already is used again. Names cannot collide:
//! parameters are single letters, temporaries are `t` and a number, functions live in namespace `sr`.

use std::cell::RefCell;

use super::{At, BinaryOp, Contract, IndexUnaryOp, Machine, Monoid, MulOp, Num, Place, UnaryOp, V, Value};

/// What a formula has said so far.
#[derive(Default)]
struct Tape {
    /// Type and right-hand side of each statement.
    lines: Vec<(&'static str, String)>,
    /// Text that must stand before the types of this formula are used.
    definitions: Vec<String>,
    /// Parameters that a statement or the result reads.
    read: Vec<&'static str>,
}

thread_local!(static TAPE: RefCell<Tape> = RefCell::new(Tape::default()));

/// Records a formula as CUDA C++ statements.
#[derive(Clone, Copy, Debug)]
pub struct Trace;

/// A scalar of a formula under trace.
#[derive(Clone, Copy, Debug)]
pub enum Node<T> {
    /// A parameter of the function.
    Arg(&'static str),
    /// The result of a statement.
    Tmp(usize),
    /// A constant.
    Lit(T),
}

impl<T: Value> Node<T> {
    fn text(self) -> String {
        match self {
            Node::Arg(name) => {
                TAPE.with_borrow_mut(|tape| tape.read.push(name));
                name.to_string()
            }
            Node::Tmp(i) => format!("t{i}"),
            Node::Lit(x) => x.literal(),
        }
    }
}

fn push<U: Value>(rhs: String) -> Node<U> {
    Node::Tmp(append(U::CUDA, U::define, rhs))
}

/// Number of the statement that gives `rhs`. Not generic: there are hundreds of (operator, type) pairs.
fn append(cuda: &'static str, define: fn(&mut Vec<String>), rhs: String) -> usize {
    TAPE.with_borrow_mut(|tape| {
        define(&mut tape.definitions);
        let same = |(c, text): &(&str, String)| *c == cuda && *text == rhs;
        tape.lines.iter().position(same).unwrap_or_else(|| {
            tape.lines.push((cuda, rhs));
            tape.lines.len() - 1
        })
    })
}

impl Machine for Trace {
    type Repr<T: Value> = Node<T>;
    fn lit<T: Value>(x: T) -> Node<T> {
        TAPE.with_borrow_mut(|tape| T::define(&mut tape.definitions));
        Node::Lit(x)
    }
    fn op1<T: Value, U: Value>(name: &'static str, _: impl Fn(T) -> U, a: Node<T>) -> Node<U> {
        push(format!("sr::{name}({})", a.text()))
    }
    fn op2<T: Value, S: Value, U: Value>(name: &'static str, _: impl Fn(T, S) -> U, a: Node<T>, b: Node<S>) -> Node<U> {
        push(format!("sr::{name}({}, {})", a.text(), b.text()))
    }
    fn op3<T: Value, S: Value, R: Value, U: Value>(
        name: &'static str,
        _: impl Fn(T, S, R) -> U,
        a: Node<T>,
        b: Node<S>,
        c: Node<R>,
    ) -> Node<U> {
        push(format!("sr::{name}({}, {}, {})", a.text(), b.text(), c.text()))
    }
    fn select<T: Value>(c: Node<bool>, a: Node<T>, b: Node<T>) -> Node<T> {
        push(format!("{} ? {} : {}", c.text(), a.text(), b.text()))
    }
    fn cast<T: Num, U: Num>(_: impl Fn(T) -> U, a: Node<T>) -> Node<U> {
        push(format!("sr::cast<{}>({})", U::CUDA, a.text()))
    }
}

/// A printed function and the definitions that its types need.
struct Function {
    text: String,
    definitions: Vec<String>,
    read: Vec<&'static str>,
}

/// `static __device__ U name(parameters)`, with the statements of `body`.
fn function<U: Value>(name: &str, parameters: &[(&str, &str)], body: impl FnOnce() -> V<Trace, U>) -> Function {
    // A formula may itself print another one: its tape is put aside and given back.
    let outer = TAPE.take();
    let result = body().0.text();
    assemble(name, U::CUDA, parameters, &result, TAPE.replace(outer))
}

fn assemble(name: &str, out: &str, parameters: &[(&str, &str)], result: &str, tape: Tape) -> Function {
    let parameters: Vec<_> = parameters.iter().map(|(cuda, name)| format!("{cuda} {name}")).collect();
    let mut text = format!("  static __device__ {out} {name}({}) {{\n", parameters.join(", "));
    for (i, (cuda, rhs)) in tape.lines.iter().enumerate() {
        text += &format!("    const {cuda} t{i} = {rhs};\n");
    }
    text += &format!("    return {result};\n  }}\n");
    Function { text, definitions: tape.definitions, read: tape.read }
}

fn binary<O: BinaryOp>(name: &str, op: O) -> Function {
    function(name, &[(O::A::CUDA, "a"), (O::B::CUDA, "b")], || op.apply::<Trace>(V(Node::Arg("a")), V(Node::Arg("b"))))
}

fn multiply<O: MulOp>(name: &str, op: O) -> Function {
    let parameters = [(O::A::CUDA, "a"), (O::B::CUDA, "b"), (u64::CUDA, "i"), (u64::CUDA, "k"), (u64::CUDA, "j")];
    function(name, &parameters, || {
        let at = At { i: V(Node::Arg("i")), k: V(Node::Arg("k")), j: V(Node::Arg("j")) };
        op.mul::<Trace>(V(Node::Arg("a")), V(Node::Arg("b")), at)
    })
}

fn unary<O: UnaryOp>(name: &str, op: O) -> Function {
    function(name, &[(O::A::CUDA, "a")], || op.apply::<Trace>(V(Node::Arg("a"))))
}

fn index_unary<O: IndexUnaryOp>(name: &str, op: O) -> Function {
    let parameters = [(O::A::CUDA, "a"), (O::S::CUDA, "s"), (u64::CUDA, "i"), (u64::CUDA, "j")];
    function(name, &parameters, || {
        let at = Place { i: V(Node::Arg("i")), j: V(Node::Arg("j")) };
        op.apply::<Trace>(V(Node::Arg("a")), V(Node::Arg("s")), at)
    })
}

/// CUDA text of a unary operator: `static __device__ Out name(A a)`.
pub fn emit_unary<O: UnaryOp>(name: &str, op: O) -> String {
    unary(name, op).text
}

/// CUDA text of a binary operator: `static __device__ Out name(A a, B b)`.
pub fn emit_binary<O: BinaryOp>(name: &str, op: O) -> String {
    binary(name, op).text
}

/// CUDA text of an index-unary operator: `static __device__ Out name(A a, S s, i, j)`.
pub fn emit_index_unary<O: IndexUnaryOp>(name: &str, op: O) -> String {
    index_unary(name, op).text
}

/// CUDA text of a multiplicative operator, which may look at the indices i, k, j.
pub fn emit_mul<O: MulOp>(name: &str, op: O) -> String {
    multiply(name, op).text
}

/// CUDA text of a semiring or NAMM: the `struct Ring` that kernel templates are instantiated with, after the
/// definitions of the structs that it computes with.
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

/// As [`emit_contract`], under another name than `Ring`.
pub(crate) fn emit_contract_as<R: Contract>(name: &str, ring: R) -> String {
    let zero = <R::Add as Monoid>::IDENTITY.literal();
    let out = <R::Add as BinaryOp>::Out::CUDA;
    let (a, b) = (<R::Mul as MulOp>::A::CUDA, <R::Mul as MulOp>::B::CUDA);
    let (add, mul) = (binary("add", ring.add()), multiply("mul", ring.mul()));
    // What ⊗ does not look at need not be loaded.
    let reads = |name| mul.read.contains(&name);
    let reads = format!(
        "  static constexpr bool reads_a = {}, reads_b = {}, reads_place = {};\n",
        reads("a"),
        reads("b"),
        reads("i") || reads("k") || reads("j")
    );

    let types = [<R::Mul as MulOp>::A::define, <R::Mul as MulOp>::B::define, <R::Add as BinaryOp>::Out::define];
    format!(
        "{}struct {name} {{\n  using A = {a};\n  using B = {b};\n  using Out = {out};\n{reads}  static __device__ Out zero() {{ return {zero}; }}\n{}{}}};\n",
        definitions(&types, &[&add, &mul]),
        add.text,
        mul.text
    )
}

/// Functions of one struct, printed one by one, whose parameters have one type each time.
pub(crate) struct Functions {
    text: String,
}

/// No function yet.
pub(crate) fn emit_functions() -> Functions {
    Functions { text: String::new() }
}

impl Functions {
    /// `static __device__ U name(cuda p, cuda q, …)`, with the statements of `body`, which computes with numbers.
    pub(crate) fn add<U: Num>(
        &mut self,
        name: &str,
        cuda: &str,
        parameters: &[&'static str],
        body: impl FnOnce() -> V<Trace, U>,
    ) {
        let parameters: Vec<_> = parameters.iter().map(|&p| (cuda, p)).collect();
        self.text += &function(name, &parameters, body).text;
    }
    pub(crate) fn text(self) -> String {
        self.text
    }
}

impl Trace {
    /// The parameter of that name of the function being recorded.
    pub(crate) fn parameter<T: Value>(name: &'static str) -> V<Self, T> {
        V(Node::Arg(name))
    }
}

/// The definitions that types and functions need, each once.
fn definitions(types: &[fn(&mut Vec<String>)], functions: &[&Function]) -> String {
    let mut all = Vec::new();
    types.iter().for_each(|define| define(&mut all));
    for text in functions.iter().flat_map(|f| &f.definitions) {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    all.concat()
}

/// CUDA text of a unary operator for a kernel: `struct Op` with its types `A` and `Out` and the function `apply(a)`,
/// after the definitions of the structs that it computes with.
///
/// ```
/// use sparring::algebra::{Abs, emit_unary_op};
/// let text = emit_unary_op(Abs::<f32>::new());
/// assert!(text.starts_with("struct Op {\n  using A = float;\n  using Out = float;\n"));
/// ```
pub fn emit_unary_op<O: UnaryOp>(op: O) -> String {
    let f = unary("apply", op);
    let types = [O::A::define, O::Out::define];
    structure("Op", &[("A", O::A::CUDA), ("Out", O::Out::CUDA)], &f.text, &definitions(&types, &[&f]))
}

/// CUDA text of a binary operator for a kernel: `struct Op` with its types `A`, `B`, `Out` and the function
/// `apply(a, b)`, after the definitions of the structs that it computes with.
pub fn emit_binary_op<O: BinaryOp>(op: O) -> String {
    let f = binary("apply", op);
    let types = [O::A::define, O::B::define, O::Out::define];
    let names = [("A", O::A::CUDA), ("B", O::B::CUDA), ("Out", O::Out::CUDA)];
    structure("Op", &names, &f.text, &definitions(&types, &[&f]))
}

/// CUDA text of an index-unary operator for a kernel: `struct Op` with its types `A`, `S`, `Out` and the function
/// `apply(a, s, i, j)`, after the definitions of the structs that it computes with.
pub fn emit_index_unary_op<O: IndexUnaryOp>(op: O) -> String {
    let f = index_unary("apply", op);
    let types = [O::A::define, O::S::define, O::Out::define];
    let names = [("A", O::A::CUDA), ("S", O::S::CUDA), ("Out", O::Out::CUDA)];
    structure("Op", &names, &f.text, &definitions(&types, &[&f]))
}

/// CUDA text of a monoid for a kernel: `struct Monoid` with its type `Out` and the functions `zero()`, the identity,
/// and `add(a, b)`, after the definitions of the structs that it computes with.
pub fn emit_monoid<M: Monoid>(monoid: M) -> String {
    let f = binary("add", monoid);
    let out = M::Out::CUDA;
    let text = format!("  static __device__ Out zero() {{ return {}; }}\n{}", M::IDENTITY.literal(), f.text);
    structure("Monoid", &[("Out", out)], &text, &definitions(&[M::Out::define], &[&f]))
}

fn structure(name: &str, types: &[(&str, &str)], functions: &str, definitions: &str) -> String {
    let types: String = types.iter().map(|(alias, cuda)| format!("  using {alias} = {cuda};\n")).collect();
    format!("{definitions}struct {name} {{\n{types}{functions}}};\n")
}

//! Operators and monoids by name or by formula.

use std::fmt;
use std::sync::Arc;

use super::Scalar;
use super::names::Names;
#[cfg(feature = "cuda")]
use crate::algebra::Printed;
use crate::algebra::{
    Array, Blocks, Constant, Formula, HostCall, Input, MonoidFormula, Parameter, Type, Value, name_in, operators,
};
use crate::kernels::{CompiledMonoid, CompiledOp};
use crate::{Error, Result};

/// The text as a name, if it is a single word and not a parameter.
fn name<'t>(text: &'t str, parameters: &[&str]) -> Option<&'t str> {
    name_in(text).filter(|name| !parameters.contains(name) && !["true", "false", "inf", "nan"].contains(name))
}

/// Rejects values of another type than the operator takes.
pub(super) fn check(name: &'static str, what: &dyn fmt::Display, takes: Type, found: Type) -> Result<()> {
    if takes == found {
        return Ok(());
    }
    Err(Error::Argument { name, message: format!("its values are {found}, but {what} takes {takes}") })
}

/// z = a ∘ b, for values of given types: `plus`, or `a + 2*b`.
///
/// ```
/// use sparring::algebra::Type;
/// use sparring::runtime::BinaryOp;
/// let op = BinaryOp::new("a + 2*b", Type::F64)?;
/// assert_eq!((op.ty(), op.to_string()), (Type::F64, "a + 2*b".to_string()));
/// assert_eq!(BinaryOp::new("less", Type::F64).unwrap_err().to_string().contains("f64 has plus"), true);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Compiled once and cached by its text, like a [`Semiring`](super::Semiring).
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryOp(Arc<CompiledOp>);

impl BinaryOp {
    /// The operator of this name ([`operators::BINARY`] lists them), or of this formula of `a` and `b`, over values of
    /// one type.
    /// # Errors
    /// [`Error::Unsupported`] for a name not defined on the type; [`Error::Formula`], which points at the position.
    pub fn new(text: &str, ty: Type) -> Result<Self> {
        static KNOWN: Names<CompiledOp> = Names::new();
        let make = || {
            Ok(match name(text, &["a", "b"]) {
                Some(name) => CompiledOp::new(name, operators::binary(name, ty)?),
                None => Self::of_formula(text, ty, ty)?,
            })
        };
        KNOWN.get(text, [ty, ty], make).map(Self)
    }
    /// The operator of a formula with operands of different types.
    /// # Errors
    /// [`Error::Formula`].
    pub fn between(text: &str, a: Type, b: Type) -> Result<Self> {
        static KNOWN: Names<CompiledOp> = Names::new();
        KNOWN.get(text, [a, b], || Self::of_formula(text, a, b)).map(Self)
    }
    fn of_formula(text: &str, a: Type, b: Type) -> Result<CompiledOp> {
        Ok(CompiledOp::new(text.trim(), Formula::parse(text, &[("a", a), ("b", b)], None)?))
    }
    /// The operator z = f(a, b) of the caller's function; `name` appears in messages. It runs only on the CPU: a GPU
    /// returns [`Error::Unsupported`], but supports the same operator as a formula.
    ///
    /// The function must be pure; threads call it concurrently. Clones of one operator are equal. Cost: one call per
    /// value, through a pointer.
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{BinaryOp, Machine, Matrix, Monoid, Semiring};
    /// use sparring::{Cpu, Csr};
    /// let gcd = BinaryOp::from_fn("gcd", |mut a: u32, mut b: u32| {
    ///     while b != 0 {
    ///         (a, b) = (b, a % b);
    ///     }
    ///     a
    /// });
    /// let ring = Semiring::of(&Monoid::of(&gcd, 0u32)?, &BinaryOp::new("times", Type::U32)?)?;
    /// let a = Matrix::from(Csr::<u32>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![4, 6, 10])?);
    /// let c = Machine::from(Cpu::new()).mxm(&ring, &a, &a)?;
    /// assert_eq!(c.csr::<u32>().unwrap().values(), [4, 24, 40, 60]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn from_fn<A: Value, B: Value, Z: Value>(name: &str, f: impl Fn(A, B) -> Z + Send + Sync + 'static) -> Self {
        match Self::from_host(HostCall::binary(name, f)) {
            Ok(op) => op,
            Err(e) => unreachable!("the function takes two operands: {e}"),
        }
    }
    /// [`from_fn`](Self::from_fn) for a function on blocks of values, with types known at run time.
    /// # Errors
    /// [`Error::Argument`] if it does not take two operands.
    pub fn from_host(call: HostCall) -> Result<Self> {
        let &[a, b] = call.takes() else { return Err(arity(&call, "two, a and b")) };
        let name: Box<str> = call.name().into();
        Ok(Self(Arc::new(CompiledOp::new(&name, Formula::of_host(call, &pair(a, b), &["a", "b"])?))))
    }
    /// Type of the results.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.0.ty()
    }
    /// Types of the operands.
    #[must_use]
    pub fn takes(&self) -> (Type, Type) {
        let parameters = self.formula().parameters();
        (parameters[0].1, parameters[1].1)
    }
    /// The operator's formula.
    #[must_use]
    pub fn formula(&self) -> &Formula {
        self.0.formula()
    }
    /// The compiled operator.
    pub(super) fn compiled(&self) -> &CompiledOp {
        &self.0
    }
    /// a ∘ b of two values.
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::BinaryOp;
    /// let op = BinaryOp::new("a + 2*b", Type::I32)?;
    /// assert_eq!(op.eval(&3i32.into(), &4i32.into())?, 11i32.into());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Argument`] if one is of another type than the operator takes; the message names both.
    pub fn eval(&self, a: &Scalar, b: &Scalar) -> Result<Scalar> {
        let (of_a, of_b) = self.takes();
        check("a", self, of_a, a.ty())?;
        check("b", self, of_b, b.ty())?;
        let blocks = Blocks::new(self.formula())?;
        let mut result = Array::zeros(self.ty(), 1)?;
        let inputs = [Input::Values(a.slice()), Input::Values(b.slice())];
        blocks.run(&inputs, &mut blocks.scratch()?, &mut result.slice_mut())?;
        Scalar::only(result.slice())
    }
    /// The operator x ↦ s ∘ x.
    /// # Errors
    /// [`Error::Argument`] if the scalar is not of the type of `a`; the message names both.
    pub fn with_first(&self, s: impl Into<Scalar>) -> Result<UnaryOp> {
        let (a, b) = self.takes();
        self.bound(b, a, s.into(), |name| if name == "a" { "s" } else { "a" })
    }
    /// The operator x ↦ x ∘ s.
    ///
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{BinaryOp, Machine, Matrix};
    /// use sparring::{Cpu, Csr};
    /// let a = Matrix::from(Csr::<i32>::new(1, 2, vec![0, 2], vec![0, 1], vec![7, 8])?);
    /// let half = BinaryOp::new("div", Type::I32)?.with_second(2i32)?;
    /// let c = Machine::from(Cpu::new()).apply(&half, &a)?;
    /// assert_eq!(c.csr::<i32>().unwrap().values(), [3, 4]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Argument`] if the scalar is not of the type of `b`; the message names both.
    pub fn with_second(&self, s: impl Into<Scalar>) -> Result<UnaryOp> {
        let (a, b) = self.takes();
        self.bound(a, b, s.into(), |name| if name == "b" { "s" } else { "a" })
    }
    fn bound(&self, a: Type, of_s: Type, s: Scalar, name: impl Fn(&str) -> &str) -> Result<UnaryOp> {
        let op = self
            .formula()
            .renamed(&entry(a, of_s), name)
            .ok_or_else(|| Error::Argument { name: "operator", message: format!("{self} is no formula of a and b") })?;
        UnaryOp { op: Arc::new(CompiledOp::new(self.0.text(), op)), s: None }.with(s)
    }
    /// The operator as device code.
    #[cfg(feature = "cuda")]
    pub(super) fn printed(&self) -> &Arc<Printed> {
        self.0.printed()
    }
}

impl fmt::Display for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text())
    }
}

/// The parameters of a binary operator.
fn pair(a: Type, b: Type) -> [Parameter; 2] {
    [("a".into(), a), ("b".into(), b)]
}

/// The error of a function with the wrong number of operands.
fn arity(call: &HostCall, wanted: &str) -> Error {
    let (name, found) = (call.name(), call.takes().len());
    Error::Argument { name: "call", message: format!("{name} takes {found} operands, the operator has {wanted}") }
}

/// The parameters of an operator on entries.
fn entry(a: Type, s: Type) -> [Parameter; 4] {
    [("a".into(), a), ("s".into(), s), ("i".into(), Type::U64), ("j".into(), Type::U64)]
}

/// z = f(a), or f(a, s, i, j) of an entry, its row i and column j, and a scalar s. It is applied to entries, or, if it
/// gives a truth value, selects entries: `abs`, `a*a`, `a > 2`, `i < j`, `tril` with a scalar.
///
/// ```
/// use sparring::algebra::Type;
/// use sparring::runtime::{Machine, Matrix, UnaryOp};
/// use sparring::{Cpu, Csr};
/// let a = Matrix::from(Csr::<f64>::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, 2.0, 3.0, 4.0])?);
/// let cpu = Machine::from(Cpu::new());
/// let upper = cpu.select(&UnaryOp::new("(i < j) | (a > 3)", Type::F64)?, &a)?;
/// assert_eq!(upper.csr::<f64>().unwrap().values(), [2.0, 4.0]);
/// let lower = cpu.select(&UnaryOp::new("tril", Type::F64)?.with(-1i64)?, &a)?;
/// assert_eq!(lower.csr::<f64>().unwrap().values(), [3.0]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Compiled once and cached by its text, like a [`Semiring`](super::Semiring).
#[derive(Clone, Debug, PartialEq)]
pub struct UnaryOp {
    op: Arc<CompiledOp>,
    s: Option<Scalar>,
}

impl UnaryOp {
    /// The operator of this name ([`operators::UNARY`], or [`operators::PLACE`] and [`operators::VALUE`], which take a
    /// scalar), or of this formula of `a`, `s`, `i` and `j`, over values of a type. In a formula s has that type too.
    /// # Errors
    /// [`Error::Unsupported`] for a name not defined on the type; [`Error::Formula`], which points at the position.
    pub fn new(text: &str, ty: Type) -> Result<Self> {
        static KNOWN: Names<CompiledOp> = Names::new();
        let make = || match name(text, &["a", "s", "i", "j"]) {
            Some(name) => Self::named(name, ty),
            None => Self::of_formula(text, ty, ty),
        };
        Ok(Self { op: KNOWN.get(text, [ty, ty], make)?, s: None })
    }
    fn named(name: &str, ty: Type) -> Result<CompiledOp> {
        let op = match operators::unary(name, ty) {
            Ok(op) => op.over(&entry(ty, ty)),
            Err(Error::Unsupported { what, why }) => match operators::index_unary(name, ty) {
                Ok(op) => Some(op),
                Err(Error::Unsupported { why: of_places, .. }) => {
                    return Err(Error::Unsupported { what, why: format!("{why}; with a scalar {of_places}") });
                }
                Err(e) => return Err(e),
            },
            Err(e) => return Err(e),
        };
        let op =
            op.ok_or_else(|| Error::Argument { name: "operator", message: format!("{name} has other parameters") })?;
        Ok(CompiledOp::new(name, op))
    }
    /// The operator of a formula with a scalar of another type.
    /// # Errors
    /// [`Error::Formula`].
    pub fn between(text: &str, a: Type, s: Type) -> Result<Self> {
        static KNOWN: Names<CompiledOp> = Names::new();
        Ok(Self { op: KNOWN.get(text, [a, s], || Self::of_formula(text, a, s))?, s: None })
    }
    fn of_formula(text: &str, a: Type, s: Type) -> Result<CompiledOp> {
        let parameters = [("a", a), ("s", s), ("i", Type::U64), ("j", Type::U64)];
        Ok(CompiledOp::new(text.trim(), Formula::parse(text, &parameters, None)?))
    }
    /// The operator z = f(a) of the caller's function, as [`BinaryOp::from_fn`].
    ///
    /// ```
    /// use sparring::runtime::{Machine, UnaryOp, Vector};
    /// let op = UnaryOp::from_fn("ones", |a: u64| a.count_ones());
    /// let x = Vector::from(sparring::Vector::<u64>::full(vec![7, 8])?);
    /// let ones = Machine::from(sparring::Cpu::new()).apply(&op, &x)?;
    /// assert_eq!(ones.typed::<u32>().unwrap().as_full(), Some(&[3, 1][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn from_fn<A: Value, Z: Value>(name: &str, f: impl Fn(A) -> Z + Send + Sync + 'static) -> Self {
        Self::of_host(HostCall::unary(name, f))
    }
    /// The operator z = f(a, i, j, s) of an entry, its row, its column (0 in a vector) and a scalar, which is set by
    /// [`with`](Self::with).
    pub fn from_index_fn<A: Value, S: Value, Z: Value>(
        name: &str,
        f: impl Fn(A, u64, u64, S) -> Z + Send + Sync + 'static,
    ) -> Self {
        Self::of_host(HostCall::index_unary(name, f))
    }
    fn of_host(call: HostCall) -> Self {
        match Self::from_host(call) {
            Ok(op) => op,
            Err(e) => unreachable!("the function takes an entry, or also its position and a scalar: {e}"),
        }
    }
    /// [`from_fn`](Self::from_fn) for a function on blocks of values, with types known at run time: of `a`, or of `a`,
    /// `i`, `j` and `s`.
    /// # Errors
    /// [`Error::Argument`] if it takes other operands; i and j are u64.
    pub fn from_host(call: HostCall) -> Result<Self> {
        let (a, s) = match *call.takes() {
            [a] => (a, a),
            [a, Type::U64, Type::U64, s] => (a, s),
            _ => return Err(arity(&call, "one, a, or four, a, i and j of u64 and s")),
        };
        let operands: &[&str] = if call.takes().len() == 1 { &["a"] } else { &["a", "i", "j", "s"] };
        let name: Box<str> = call.name().into();
        let op = CompiledOp::new(&name, Formula::of_host(call, &entry(a, s), operands)?);
        Ok(Self { op: Arc::new(op), s: None })
    }
    /// The operator with this scalar.
    /// # Errors
    /// [`Error::Argument`] if it is of another type than s; the message names both.
    pub fn with(&self, s: impl Into<Scalar>) -> Result<Self> {
        let s = s.into();
        let takes = self.formula().parameters()[1].1;
        if s.ty() != takes {
            let message = format!("the scalar is {}, but {self} takes one of {takes}", s.ty());
            return Err(Error::Argument { name: "s", message });
        }
        Ok(Self { op: Arc::clone(&self.op), s: Some(s) })
    }
    /// Type of the results.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.op.ty()
    }
    /// Type of the entries.
    #[must_use]
    pub fn takes(&self) -> Type {
        self.formula().parameters()[0].1
    }
    /// The operator for a block of a matrix that begins at (i, j): it sees positions in the whole matrix.
    #[must_use]
    pub fn shifted(&self, [i, j]: [u64; 2]) -> Self {
        let formula = self.formula().shifted(&[("i", i), ("j", j)]);
        if formula == *self.formula() {
            return self.clone();
        }
        Self { op: Arc::new(CompiledOp::new(&format!("{self}, at {:?}", [i, j]), formula)), s: self.s.clone() }
    }
    /// The operator of a formula of indices alone, as named by `name`: `i` or `j`. `None` if it has other parameters.
    pub(super) fn of_indices(formula: &Formula, a: Type, name: impl Fn(&str) -> &'static str) -> Option<Self> {
        let formula = formula.renamed(&entry(a, a), |parameter| name(parameter))?;
        Some(Self { op: Arc::new(CompiledOp::new(&formula.to_string(), formula)), s: None })
    }
    /// Type of the scalar, if it reads one.
    #[must_use]
    pub fn takes_scalar(&self) -> Option<Type> {
        self.formula().reads("s").then_some(self.formula().parameters()[1].1)
    }
    /// The operator's formula, with parameters `a`, `s`, `i`, `j`.
    #[must_use]
    pub fn formula(&self) -> &Formula {
        self.op.formula()
    }
    /// The compiled operator.
    pub(super) fn compiled(&self) -> &CompiledOp {
        &self.op
    }
    /// The scalar; a placeholder if it reads none.
    pub(super) fn scalar(&self) -> Result<&Constant> {
        let scalar = self.s.as_ref().map(Scalar::constant).or(self.op.unread_scalar());
        scalar.ok_or_else(|| Error::Argument { name: "s", message: format!("{self} reads a scalar: set it by `with`") })
    }
    /// The operator as device code, a function of an entry alone if it reads nothing else.
    #[cfg(feature = "cuda")]
    pub(super) fn printed(&self) -> (&Arc<Printed>, bool) {
        match self.op.printed_of_entry() {
            Some(op) => (op, false),
            None => (self.op.printed_at(), true),
        }
    }
    /// The operator as device code, a function of an entry, a scalar and a position.
    #[cfg(feature = "cuda")]
    pub(super) fn printed_at(&self) -> &Arc<Printed> {
        self.op.printed_at()
    }
}

impl fmt::Display for UnaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.op.text())
    }
}

/// ⊕ with its identity, for values of a given type: `plus`, or `a + b - a*b identity 0`.
///
/// ```
/// use sparring::algebra::Type;
/// use sparring::runtime::{Monoid, Scalar};
/// let most = Monoid::new("max", Type::I8)?;
/// assert_eq!((most.ty(), most.identity()), (Type::I8, Scalar::from(i8::MIN)));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Compiled once and cached by its text, like a [`Semiring`](super::Semiring).
#[derive(Clone, Debug, PartialEq)]
pub struct Monoid(Arc<CompiledMonoid>);

impl Monoid {
    /// The monoid of this name or formula; see [`MonoidFormula::parse`].
    /// # Errors
    /// [`Error::Unsupported`] for a name not defined on the type; [`Error::Formula`], which points at the position;
    /// [`Error::Argument`] if it is no monoid, with a counterexample.
    pub fn new(text: &str, ty: Type) -> Result<Self> {
        static KNOWN: Names<CompiledMonoid> = Names::new();
        let make = || Ok(CompiledMonoid::new(text.trim(), MonoidFormula::parse(text, ty)?));
        KNOWN.get(text, [ty, ty], make).map(Self)
    }
    /// The monoid of an operator and its identity. The laws of the caller's functions ([`from_fn`](BinaryOp::from_fn))
    /// are not tested.
    ///
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{BinaryOp, Monoid};
    /// let plus = BinaryOp::new("plus", Type::I32)?;
    /// assert_eq!(Monoid::of(&plus, 0)?.formula(), Monoid::new("plus", Type::I32)?.formula());
    /// let error = Monoid::of(&plus, 1).unwrap_err().to_string();
    /// assert!(error.contains("1 ⊕ x is 2, not x, for x = 1"), "{error}");
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Argument`] if the operator takes and gives different types, the identity is of another type, or it is
    /// no monoid, with a counterexample.
    pub fn of(op: &BinaryOp, identity: impl Into<Scalar>) -> Result<Self> {
        let formula = MonoidFormula::with_identity(op.formula(), identity.into().constant().clone())?;
        let text = formula.name().unwrap_or(op.0.text());
        Ok(Self(Arc::new(CompiledMonoid::new(text, formula))))
    }
    /// A monoid whose laws are known to hold.
    pub(super) fn of_formula(formula: MonoidFormula) -> Self {
        let text = formula.name().map_or_else(|| formula.op().to_string(), Into::into);
        Self(Arc::new(CompiledMonoid::new(&text, formula)))
    }
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.0.ty()
    }
    /// e with e ⊕ x = x.
    #[must_use]
    pub fn identity(&self) -> Scalar {
        Scalar::of(self.formula().identity().clone())
    }
    /// The operator ⊕.
    #[must_use]
    pub fn op(&self) -> BinaryOp {
        BinaryOp(Arc::new(CompiledOp::new(self.0.text(), self.formula().op().clone())))
    }
    /// The monoid's formula.
    #[must_use]
    pub fn formula(&self) -> &MonoidFormula {
        self.0.formula()
    }
    /// The compiled monoid.
    pub(super) fn compiled(&self) -> &CompiledMonoid {
        &self.0
    }
    /// The monoid as device code.
    #[cfg(feature = "cuda")]
    pub(super) fn printed(&self) -> &Arc<Printed> {
        self.0.printed()
    }
}

impl fmt::Display for Monoid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text())
    }
}

//! GraphBLAS operations as functions: operators by name or formula, masks, accumulators, `out=`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sparring::algebra::Type;
use sparring::runtime::{
    Aggregate, BinaryOp, Machine, Monoid, Object, Op, Operands, Pairing, Scalar, Semiring, UnaryOp,
};
use sparring::spgemm::Options;

use crate::arrays::{Values, array, promoted};
use crate::errors::Raise;
use crate::machines::machine;
use crate::matrix::PyMatrix;
use crate::operands::{self, Kind, Operand, either, give, give_vector, is_vector};
use crate::scalars::{number, scalar, type_of_number};
use crate::vector::PyVector;

/// Places where a result is written: those of a matrix or vector, by its values or by its structure, or all others.
#[pyclass(name = "Mask", module = "sparring", frozen)]
pub(crate) struct MaskOf {
    of: Py<PyAny>,
    structure: bool,
    complement: bool,
}

impl MaskOf {
    pub(crate) fn new(of: &Bound<'_, PyAny>, structure: bool, complement: bool) -> Self {
        Self { of: of.clone().unbind(), structure, complement }
    }
}

#[pymethods]
impl MaskOf {
    /// All other places.
    fn __invert__(&self, py: Python<'_>) -> Self {
        Self { of: self.of.clone_ref(py), complement: !self.complement, ..*self }
    }
    /// The places of entries, whatever their values.
    #[getter(S)]
    fn by_structure(&self, py: Python<'_>) -> Self {
        Self { of: self.of.clone_ref(py), structure: true, ..*self }
    }
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (not, s) = (if self.complement { "~" } else { "" }, if self.structure { ".S" } else { "" });
        Ok(format!("<sparring.Mask {not}{}{s}>", self.of.bind(py).repr()?))
    }
}

/// How a result is written: what every operation takes.
pub(crate) struct Written<'py> {
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    device: Option<String>,
    transpose: [bool; 2],
}

/// The arguments of [`Written`], in the order of the signatures.
type Arguments<'py> =
    (Option<Bound<'py, PyAny>>, bool, Option<String>, bool, Option<Bound<'py, PyAny>>, Option<String>, [bool; 2]);

impl<'py> Written<'py> {
    fn new((mask, complement, accum, replace, out, device, transpose): Arguments<'py>) -> Self {
        Self { mask, complement, accum, replace, out, device, transpose }
    }
    /// Nothing but the result.
    fn plain() -> Self {
        Self::new((None, false, None, false, None, None, [false; 2]))
    }
    /// Whether the result is handed out as it is, from operands as they are.
    fn is_plain(&self) -> bool {
        self.mask.is_none()
            && !self.complement
            && self.accum.is_none()
            && self.out.is_none()
            && self.transpose == [false; 2]
    }
    /// The machine that was asked for, else that of the first operand which is not in the processor's memory.
    fn machine(&self, operands: &[&Operand]) -> PyResult<Machine> {
        if let Some(device) = &self.device {
            return machine(Some(device));
        }
        let names = operands.iter().map(|of| match of {
            Operand::Matrix(a) => a.is_on_host().then_some(()).map_or_else(|| Some(a.machine()), |()| None),
            Operand::Vector(x) => x.is_on_host().then_some(()).map_or_else(|| Some(x.machine()), |()| None),
        });
        machine(names.flatten().next().as_deref())
    }
    /// Computes the operation and hands out its result, or writes it into `out`.
    fn run(
        &self,
        py: Python<'py>,
        on: &Machine,
        op: Op<'_>,
        operands: Operands,
        kind: &Kind,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mask = match &self.mask {
            None => None,
            Some(of) => {
                let (of, structure, complement) = match of.cast::<MaskOf>() {
                    Ok(mask) => (mask.get().of.bind(py).clone(), mask.get().structure, mask.get().complement),
                    Err(_) => (of.clone(), false, false),
                };
                Some((either(&of)?.0, structure, complement != self.complement))
            }
        };
        if mask.is_none() && self.complement {
            return Err(PyValueError::new_err("mask: there is none, so it has no complement"));
        }
        // What is written is `out`, which is then of a type that the accumulator takes.
        let target = self.out.as_ref().map(Target::new).transpose()?;
        let accum = match (&self.accum, &target) {
            (None, _) => None,
            (Some(name), Some(target)) => Some(BinaryOp::new(name, target.ty(py)).raise()?),
            (Some(_), None) => {
                return Err(PyValueError::new_err("accum: it joins the result to `out`, which was not given"));
            }
        };
        let mut call = on.call(op, operands);
        let by = mask.as_ref().map_or((false, false), |mask| (mask.1, mask.2));
        call = if self.transpose[0] { call.transpose_a() } else { call };
        call = if self.transpose[1] { call.transpose_b() } else { call };
        call = if by.0 { call.structure() } else { call };
        call = if by.1 { call.complement() } else { call };
        call = if self.replace { call.replace() } else { call };
        call = match &mask {
            None => call,
            Some((Operand::Matrix(m), ..)) => call.mask(m),
            Some((Operand::Vector(m), ..)) => call.mask(m),
        };
        if let Some(accum) = &accum {
            call = call.accum(accum);
        }
        match target {
            None => match py.detach(|| call.eval_object()).raise()? {
                Object::Matrix(c) => give(py, c, kind),
                Object::Vector(y) => give_vector(py, y, kind),
                Object::Scalar(s) => number(py, &s),
            },
            Some(Target::Matrix(c)) => {
                let mut held = c.get().held.lock(py);
                let to = &mut *held;
                py.detach(|| call.into(to)).raise()?;
                drop(held);
                Ok(c.into_any())
            }
            Some(Target::Vector(y)) => {
                let mut held = y.get().held.lock(py);
                let to = &mut *held;
                py.detach(|| call.into(to)).raise()?;
                drop(held);
                Ok(y.into_any())
            }
        }
    }
}

/// What `out` is.
enum Target<'py> {
    Matrix(Bound<'py, PyMatrix>),
    Vector(Bound<'py, PyVector>),
}

impl<'py> Target<'py> {
    fn new(out: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(c) = out.cast::<PyMatrix>() {
            Ok(Self::Matrix(c.clone()))
        } else if let Ok(y) = out.cast::<PyVector>() {
            Ok(Self::Vector(y.clone()))
        } else {
            let message = format!("out: a sparring.Matrix or Vector was expected, not {}", out.get_type().name()?);
            Err(PyTypeError::new_err(message))
        }
    }
    fn ty(&self, py: Python<'py>) -> Type {
        match self {
            Self::Matrix(c) => c.get().held.get(py).ty(),
            Self::Vector(y) => y.get().held.get(py).ty(),
        }
    }
}

/// An operand, a matrix of compressed columns as the transpose of what it has in compressed rows.
fn oriented(a: &Bound<'_, PyAny>, flip: &mut bool) -> PyResult<(Operand, Kind)> {
    let found = if is_vector(a) { None } else { operands::columns(a)? };
    match found {
        Some((t, kind)) => {
            *flip = !*flip;
            Ok((Operand::Matrix(t), kind))
        }
        None => either(a),
    }
}

/// Two operands entry by entry: the transposes of both, as the result is, where both have compressed columns.
fn both<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    written: &Written<'py>,
) -> PyResult<((Operand, Kind), (Operand, Kind))> {
    if written.is_plain()
        && let Some((left, kind)) = operands::columns(a)?
        && let Some((right, of_b)) = operands::columns(b)?
        && left.shape() == right.shape()
    {
        return Ok(((Operand::Matrix(left), kind), (Operand::Matrix(right), of_b)));
    }
    Ok((either(a)?, either(b)?))
}

/// Both operands with values of one type, to which NumPy would promote them.
fn common(py: Python<'_>, a: Operand, b: Operand) -> PyResult<(Operand, Operand, Type)> {
    let ty = promoted(py, a.ty(), b.ty())?;
    let cast = |of: Operand| -> PyResult<Operand> {
        Ok(match of {
            Operand::Matrix(a) if a.ty() != ty => Operand::Matrix(py.detach(|| a.cast(ty)).raise()?),
            Operand::Vector(x) if x.ty() != ty => Operand::Vector(x.cast(ty).raise()?),
            same => same,
        })
    };
    Ok((cast(a)?, cast(b)?, ty))
}

/// Operands of an operation; both matrices or both vectors, or one of each.
fn pair(a: &Operand, b: &Operand) -> Operands {
    match (a, b) {
        (Operand::Matrix(a), Operand::Matrix(b)) => (a, b).into(),
        (Operand::Matrix(a), Operand::Vector(b)) => (a, b).into(),
        (Operand::Vector(a), Operand::Matrix(b)) => (a, b).into(),
        (Operand::Vector(a), Operand::Vector(b)) => (a, b).into(),
    }
}

fn one(a: &Operand) -> Operands {
    match a {
        Operand::Matrix(a) => a.into(),
        Operand::Vector(x) => x.into(),
    }
}

/// A·B of compressed columns is (Bᵀ·Aᵀ)ᵀ: A is taken as it is, and so is B if it has compressed columns too.
fn by_columns<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    semiring: &str,
    written: &Written<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = a.py();
    if is_vector(a) || is_vector(b) {
        return Ok(None);
    }
    let Some((left, kind)) = operands::columns(a)? else { return Ok(None) };
    let right = match operands::columns(b)? {
        Some((right, _)) => right,
        None => {
            let (b, on) = (operands::matrix(b)?.0, machine(None)?);
            if !b.is_on_host() {
                return Ok(None);
            }
            py.detach(|| on.transpose(&b)).raise()?
        }
    };
    if right.shape().1 != left.shape().0 {
        // The error tells the shapes as they were given.
        return Ok(None);
    }
    let (left, right, ty) = common(py, Operand::Matrix(left), Operand::Matrix(right))?;
    let (ring, options) = (Semiring::new(semiring, ty).raise()?.transposed(), Options::default());
    let on = written.machine(&[&left, &right])?;
    written.run(py, &on, Op::Mxm(&ring, &options), pair(&right, &left), &kind).map(Some)
}

/// A·x with an array of NumPy's over a semiring whose ⊕ is +, so that rows without entries are 0: neither x nor the
/// result is copied.
fn with_array<'py>(
    a: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    semiring: &str,
    written: &Written<'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = a.py();
    let adds = semiring.strip_prefix("plus").is_some_and(|rest| rest.starts_with(['_', ',']));
    if !adds || is_vector(a) || !is_vector(x) || x.is_instance_of::<PyVector>() || operands::columns(a)?.is_some() {
        return Ok(None);
    }
    let (a, _) = operands::matrix(a)?;
    let (values, shape) = Values::of(x, "x")?;
    let (ty, on) = (values.slice().ty(), written.machine(&[])?);
    if ty != a.ty() || shape != [a.shape().1] || !a.is_on_host() || on.is_gpu() || ty == Type::Bool {
        return Ok(None);
    }
    let ring = Semiring::new(semiring, ty).raise()?;
    array(py, py.detach(|| on.mxv_dense(&ring, &a, values.slice())).raise()?).map(Some)
}

/// A product of two operands.
fn product<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    semiring: &str,
    mut written: Written<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    if written.is_plain() {
        if let Some(found) = by_columns(a, b, semiring, &written)? {
            return Ok(found);
        }
        if let Some(found) = with_array(a, b, semiring, &written)? {
            return Ok(found);
        }
    }
    // The result with a vector is a vector, whichever way the matrix lies.
    let [flip_a, flip_b] = &mut written.transpose;
    let (left, of_a) = if is_vector(b) { oriented(a, flip_a)? } else { either(a)? };
    let (right, of_b) = if is_vector(a) { oriented(b, flip_b)? } else { either(b)? };
    let (left, right, ty) = common(py, left, right)?;
    let ring = Semiring::new(semiring, ty).raise()?;
    let on = written.machine(&[&left, &right])?;
    let (options, operands) = (Options::default(), pair(&left, &right));
    let (op, kind) = match (&left, &right) {
        (Operand::Matrix(_), Operand::Matrix(_)) => (Op::Mxm(&ring, &options), of_a),
        (Operand::Matrix(_), Operand::Vector(_)) => (Op::Mxv(&ring), of_b),
        (Operand::Vector(_), Operand::Matrix(_)) => (Op::Vxm(&ring), of_a),
        (Operand::Vector(x), Operand::Vector(y)) => {
            // x·y = ⊕ xᵢ ⊗ yᵢ.
            let text = semiring.split_once(',').or_else(|| semiring.split_once('_'));
            let (add, mul) = text.ok_or_else(|| PyValueError::new_err(format!("semiring: {semiring:?}")))?;
            let (mul, add) = (BinaryOp::new(mul, ty).raise()?, Monoid::new(add, ty).raise()?);
            let found = py.detach(|| on.reduce(&add, &on.ewise_mult(&mul, x, y)?)).raise()?;
            return number(py, &found);
        }
    };
    written.run(py, &on, op, operands, &kind)
}

/// C = A ⊕.⊗ B, C⟨M⟩ ⊙= A ⊕.⊗ B: the product of two matrices over a semiring.
///
/// Parameters
/// ----------
/// a, b : Matrix, or sparse array or matrix of SciPy or PyData
///     m×k and k×n; the result is of the kind of ``a``.
/// semiring : str
///     A name, ``'min_plus'``, or ⊕ and a formula of ⊗, ``'min, a + 2*b'``.
/// mask : Matrix or Mask, optional
///     Where the result is written: where the mask's value is not 0; ``M.S`` where it has an entry, ``~M`` elsewhere.
/// complement : bool
///     All other places of the mask.
/// accum : str, optional
///     An operator that joins the result to the entries of ``out``.
/// replace : bool
///     Removes entries of ``out`` that the mask does not allow.
/// out : Matrix, optional
///     Written in place, and returned.
/// transpose_a, transpose_b : bool
///     Takes an operand transposed.
/// device : str, optional
///     Where it is computed: by default where the operands are.
///
/// Examples
/// --------
/// >>> import numpy as np, scipy.sparse, sparring as sp
/// >>> a = scipy.sparse.csr_array(np.array([[0., 2.], [3., 0.]]))
/// >>> sp.mxm(a, a, "min_plus").toarray()
/// array([[5., 0.],
///        [0., 5.]])
#[pyfunction]
#[pyo3(signature = (a, b, semiring="plus_times", *, mask=None, complement=false, accum=None, replace=false, out=None,
    transpose_a=false, transpose_b=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn mxm<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    semiring: &str,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    transpose_a: bool,
    transpose_b: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    if is_vector(a) || is_vector(b) {
        return Err(PyTypeError::new_err("mxm multiplies matrices: mxv and vxm take a vector"));
    }
    let written = Written::new((mask, complement, accum, replace, out, device, [transpose_a, transpose_b]));
    product(a, b, semiring, written)
}

/// y = A ⊕.⊗ x, y⟨m⟩ ⊙= A ⊕.⊗ x: the product of a matrix and a vector over a semiring.
///
/// Parameters are those of :func:`mxm`, with ``x`` a Vector or an array of one dimension, whose kind the result has.
///
/// Examples
/// --------
/// >>> import numpy as np, scipy.sparse, sparring as sp
/// >>> a = scipy.sparse.csr_array(np.array([[0., 2.], [3., 0.]]))
/// >>> sp.mxv(a, np.array([1., 10.]))
/// array([20.,  3.])
#[pyfunction]
#[pyo3(signature = (a, x, semiring="plus_times", *, mask=None, complement=false, accum=None, replace=false, out=None,
    transpose_a=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn mxv<'py>(
    a: &Bound<'py, PyAny>,
    x: &Bound<'py, PyAny>,
    semiring: &str,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    transpose_a: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    if is_vector(a) || !is_vector(x) {
        return Err(PyTypeError::new_err("mxv multiplies a matrix and a vector"));
    }
    let written = Written::new((mask, complement, accum, replace, out, device, [transpose_a, false]));
    product(a, x, semiring, written)
}

/// yᵀ = xᵀ ⊕.⊗ A, yᵀ⟨m⟩ ⊙= xᵀ ⊕.⊗ A: the product of a vector and a matrix over a semiring.
///
/// Parameters are those of :func:`mxv`.
#[pyfunction]
#[pyo3(signature = (x, a, semiring="plus_times", *, mask=None, complement=false, accum=None, replace=false, out=None,
    transpose_a=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn vxm<'py>(
    x: &Bound<'py, PyAny>,
    a: &Bound<'py, PyAny>,
    semiring: &str,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    transpose_a: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    if is_vector(a) || !is_vector(x) {
        return Err(PyTypeError::new_err("vxm multiplies a vector and a matrix"));
    }
    let written = Written::new((mask, complement, accum, replace, out, device, [false, transpose_a]));
    product(x, a, semiring, written)
}

macro_rules! elementwise {
    ($($(#[$doc:meta])* $name:ident $op:expr, $default:literal;)*) => {$(
        $(#[$doc])*
        #[pyfunction]
        #[pyo3(signature = (a, b, op=$default, *, mask=None, complement=false, accum=None, replace=false, out=None,
            transpose_a=false, transpose_b=false, device=None))]
        #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
        pub(crate) fn $name<'py>(
            a: &Bound<'py, PyAny>,
            b: &Bound<'py, PyAny>,
            op: &str,
            mask: Option<Bound<'py, PyAny>>,
            complement: bool,
            accum: Option<String>,
            replace: bool,
            out: Option<Bound<'py, PyAny>>,
            transpose_a: bool,
            transpose_b: bool,
            device: Option<String>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let written = Written::new((mask, complement, accum, replace, out, device, [transpose_a, transpose_b]));
            let py = a.py();
            let ((left, kind), (right, _)) = both(a, b, &written)?;
            let (left, right, ty) = common(py, left, right)?;
            let op = BinaryOp::new(op, ty).raise()?;
            let on = written.machine(&[&left, &right])?;
            written.run(py, &on, $op(&op), pair(&left, &right), &kind)
        }
    )*};
}

elementwise! {
    /// C = A ⊕ B entry by entry: where both have an entry it is a ⊕ b, elsewhere the one that exists.
    ///
    /// Parameters are those of :func:`mxm`, with ``op`` an operator by its name or a formula of ``a`` and ``b``.
    ewise_add Op::EwiseAdd, "plus";
    /// C = A ⊗ B entry by entry, where both have an entry.
    ///
    /// Parameters are those of :func:`ewise_add`.
    ewise_mult (|op| Op::Pairs(Pairing::EwiseMult, op)), "times";
    /// The Kronecker product of two matrices: entry (i·p + k, j·q + l) is aᵢⱼ ⊗ bₖₗ, B being p×q.
    ///
    /// Parameters are those of :func:`ewise_add`.
    kronecker (|op| Op::Pairs(Pairing::Kronecker, op)), "times";
}

/// A unary operator, its scalar bound if there is one.
fn unary_op(op: &str, ty: Type, thunk: Option<&Bound<'_, PyAny>>) -> PyResult<UnaryOp> {
    let Some(thunk) = thunk else { return UnaryOp::new(op, ty).raise() };
    let made = UnaryOp::new(op, ty).raise()?;
    let takes = made.takes_scalar().unwrap_or(ty);
    made.with(scalar(thunk, takes)?).raise()
}

macro_rules! of_entries {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {$(
        $(#[$doc])*
        #[pyfunction]
        #[pyo3(signature = (a, op, thunk=None, *, mask=None, complement=false, accum=None, replace=false, out=None,
            transpose_a=false, device=None))]
        #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
        pub(crate) fn $name<'py>(
            a: &Bound<'py, PyAny>,
            op: &str,
            thunk: Option<&Bound<'py, PyAny>>,
            mask: Option<Bound<'py, PyAny>>,
            complement: bool,
            accum: Option<String>,
            replace: bool,
            out: Option<Bound<'py, PyAny>>,
            transpose_a: bool,
            device: Option<String>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let written = Written::new((mask, complement, accum, replace, out, device, [transpose_a, false]));
            let (of, kind) = either(a)?;
            let op = unary_op(op, of.ty(), thunk)?;
            let on = written.machine(&[&of])?;
            written.run(a.py(), &on, Op::$op(&op), one(&of), &kind)
        }
    )*};
}

of_entries! {
    /// C = f(A) entry by entry.
    ///
    /// Parameters
    /// ----------
    /// a : Matrix, Vector, or an array of SciPy or NumPy
    ///     The entries; the result is of its kind.
    /// op : str
    ///     An operator by its name, ``'sqrt'``, or a formula of the entry ``a``, its row ``i``, its column ``j`` and the
    ///     scalar ``s``: ``'a / (1 + s)'``.
    /// thunk : number, optional
    ///     The scalar.
    ///
    /// The other parameters are those of :func:`mxm`.
    apply Apply;
    /// The entries for which an operator gives true: ``'tril'``, ``'valuegt'`` with a scalar, or a formula, ``'i < j'``.
    ///
    /// Parameters are those of :func:`apply`.
    select Select;
}

/// ⊕ of all entries, as a number: ``'plus'``, ``'max'``, any monoid by its name or formula.
#[pyfunction]
#[pyo3(signature = (a, monoid="plus", *, device=None))]
pub(crate) fn reduce<'py>(a: &Bound<'py, PyAny>, monoid: &str, device: Option<String>) -> PyResult<Bound<'py, PyAny>> {
    // All entries are folded, whichever way they lie.
    let (of, kind) = oriented(a, &mut false)?;
    let written = Written { device, ..Written::plain() };
    let (monoid, on) = (Monoid::new(monoid, of.ty()).raise()?, written.machine(&[&of])?);
    written.run(a.py(), &on, Op::Reduce(&monoid), one(&of), &kind)
}

/// ⊕ of the entries of each row, a vector; of columns with ``transpose_a``. Rows without entries have none.
///
/// Parameters are those of :func:`apply`, with a monoid in the place of the operator.
#[pyfunction]
#[pyo3(signature = (a, monoid="plus", *, mask=None, complement=false, accum=None, replace=false, out=None,
    transpose_a=false, device=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn reduce_rows<'py>(
    a: &Bound<'py, PyAny>,
    monoid: &str,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    transpose_a: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut written = Written::new((mask, complement, accum, replace, out, device, [transpose_a, false]));
    let (of, on) = matrix_of(a, &mut written)?;
    let monoid = Monoid::new(monoid, of.ty()).raise()?;
    written.run(a.py(), &on, Op::ReduceRows(&monoid), one(&of), &Kind::Own)
}

/// What is known of the entries of each row: ``'count'``, ``'mean'``, ``'argmin'``, ``'argmax'``; of columns with
/// ``transpose_a``.
///
/// Parameters are those of :func:`reduce_rows`.
#[pyfunction]
#[pyo3(signature = (a, what, *, transpose_a=false, device=None))]
pub(crate) fn aggregate<'py>(
    a: &Bound<'py, PyAny>,
    what: &str,
    transpose_a: bool,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let what = match what {
        "count" => Aggregate::Count,
        "mean" => Aggregate::Mean,
        "argmin" => Aggregate::ArgMin,
        "argmax" => Aggregate::ArgMax,
        _ => return Err(PyValueError::new_err(format!("{what:?} is none of 'count', 'mean', 'argmin', 'argmax'"))),
    };
    let mut written = Written { device, transpose: [transpose_a, false], ..Written::plain() };
    let (of, on) = matrix_of(a, &mut written)?;
    written.run(a.py(), &on, Op::Aggregate(what), one(&of), &Kind::Own)
}

/// The transpose of a matrix.
///
/// Parameters are those of :func:`mxm`.
#[pyfunction]
#[pyo3(signature = (a, *, mask=None, complement=false, accum=None, replace=false, out=None, device=None))]
pub(crate) fn transpose<'py>(
    a: &Bound<'py, PyAny>,
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    device: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let written = Written::new((mask, complement, accum, replace, out, device, [false; 2]));
    let (found, kind) = operands::matrix(a)?;
    let of = Operand::Matrix(found);
    let on = written.machine(&[&of])?;
    written.run(a.py(), &on, Op::Transpose, one(&of), &kind)
}

/// A matrix, and where an operation on it runs.
fn matrix_of<'py>(a: &Bound<'py, PyAny>, written: &mut Written<'py>) -> PyResult<(Operand, Machine)> {
    let of = match operands::columns(a)? {
        Some((t, _)) => {
            written.transpose[0] = !written.transpose[0];
            Operand::Matrix(t)
        }
        None => Operand::Matrix(operands::matrix(a)?.0),
    };
    let on = written.machine(&[&of])?;
    Ok((of, on))
}

/// `a @ b`.
pub(crate) fn matmul<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    product(a, b, "plus_times", Written::plain())
}

/// `a + b` where each has what the other lacks as 0.
pub(crate) fn sum<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>, op: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let ((left, kind), (right, _)) = (either(a)?, either(b)?);
    let (left, right, ty) = common(py, left, right)?;
    let (op, written) = (BinaryOp::new(op, ty).raise()?, Written::plain());
    let on = written.machine(&[&left, &right])?;
    written.run(py, &on, Op::EwiseAdd(&op), pair(&left, &right), &kind)
}

/// `a - b` where each has what the other lacks as 0.
pub(crate) fn difference<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let ((left, kind), (right, _)) = (either(a)?, either(b)?);
    let (left, right, ty) = common(py, left, right)?;
    let zero = Scalar::parse(if ty == Type::Bool { "false" } else { "0" }, ty).raise()?;
    let (op, written) = (BinaryOp::new("minus", ty).raise()?, Written::plain());
    let on = written.machine(&[&left, &right])?;
    written.run(py, &on, Op::EwiseUnion(&op, &zero, &zero), pair(&left, &right), &kind)
}

/// `a * b`: entry by entry, or by a number.
pub(crate) fn times<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>, op: &str) -> PyResult<Bound<'py, PyAny>> {
    let (py, written) = (a.py(), Written::plain());
    let is_number = !b.hasattr("shape")? || b.getattr("shape")?.len().is_ok_and(|n| n == 0);
    if !is_number {
        let ((left, kind), (right, _)) = (either(a)?, either(b)?);
        let (left, right, ty) = common(py, left, right)?;
        let (op, on) = (BinaryOp::new(op, ty).raise()?, written.machine(&[&left, &right])?);
        return written.run(py, &on, Op::Pairs(Pairing::EwiseMult, &op), pair(&left, &right), &kind);
    }
    let (of, kind) = either(a)?;
    // A number of Python has the type of the matrix where that can hold it, as NumPy has it.
    let mut ty = of.ty();
    let of_number = type_of_number(b)?;
    let weak = !b.hasattr("dtype")?;
    let rank = |ty: Type| match ty {
        Type::Bool => 0,
        Type::F32 | Type::F64 => 2,
        Type::ComplexF32 | Type::ComplexF64 => 3,
        _ => 1,
    };
    if !weak || rank(of_number) > rank(ty) {
        ty = promoted(py, ty, of_number)?;
    }
    let of = match of {
        Operand::Matrix(a) if a.ty() != ty => Operand::Matrix(py.detach(|| a.cast(ty)).raise()?),
        Operand::Vector(x) if x.ty() != ty => Operand::Vector(x.cast(ty).raise()?),
        same => same,
    };
    let op = BinaryOp::new(op, ty).raise()?.with_second(scalar(b, ty)?).raise()?;
    let on = written.machine(&[&of])?;
    written.run(py, &on, Op::Apply(&op), one(&of), &kind)
}

/// An operator of one operand, by its name.
pub(crate) fn unary<'py>(a: &Bound<'py, PyAny>, op: &str) -> PyResult<Bound<'py, PyAny>> {
    let (of, kind) = either(a)?;
    let (op, written) = (UnaryOp::new(op, of.ty()).raise()?, Written::plain());
    let on = written.machine(&[&of])?;
    written.run(a.py(), &on, Op::Apply(&op), one(&of), &kind)
}

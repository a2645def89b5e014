//! Output options of operations: masks, accumulators, `out=`, the device; and conversion of their operands.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sparring::algebra::Type;
use sparring::runtime::{BinaryOp, Object, Op, Operands};

use crate::arrays::promoted;
use crate::errors::Raise;
use crate::machines::{On, machine};
use crate::matrix::PyMatrix;
use crate::operands::{Kind, Operand, either, give, give_vector};
use crate::scalars::number;
use crate::vector::PyVector;

/// A mask: the positions of a matrix or vector, by value or structure, or their complement.
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
    /// The complement.
    fn __invert__(&self, py: Python<'_>) -> Self {
        Self { of: self.of.clone_ref(py), complement: !self.complement, ..*self }
    }
    /// The structural mask.
    #[getter(S)]
    fn by_structure(&self, py: Python<'_>) -> Self {
        Self { of: self.of.clone_ref(py), structure: true, ..*self }
    }
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (not, s) = (if self.complement { "~" } else { "" }, if self.structure { ".S" } else { "" });
        Ok(format!("<sparring.Mask {not}{}{s}>", self.of.bind(py).repr()?))
    }
}

/// The output options of every operation.
pub(crate) struct Written<'py> {
    mask: Option<Bound<'py, PyAny>>,
    complement: bool,
    accum: Option<String>,
    replace: bool,
    out: Option<Bound<'py, PyAny>>,
    device: Option<String>,
    pub(crate) transpose: [bool; 2],
}

/// The arguments of [`Written`], in the order of the signatures.
type Arguments<'py> =
    (Option<Bound<'py, PyAny>>, bool, Option<String>, bool, Option<Bound<'py, PyAny>>, Option<String>, [bool; 2]);

impl<'py> Written<'py> {
    pub(crate) fn new((mask, complement, accum, replace, out, device, transpose): Arguments<'py>) -> Self {
        Self { mask, complement, accum, replace, out, device, transpose }
    }
    /// A plain result.
    pub(crate) fn plain() -> Self {
        Self::on(None)
    }
    /// A plain result, on that device.
    pub(crate) fn on(device: Option<String>) -> Self {
        Self::new((None, false, None, false, None, device, [false; 2]))
    }
    /// Whether there is a mask, an accumulator or an output.
    pub(crate) fn writes(&self) -> bool {
        self.mask.is_some() || self.complement || self.accum.is_some() || self.replace || self.out.is_some()
    }
    /// Whether the result is plain, on any device.
    pub(crate) fn goes_anywhere(&self) -> bool {
        !self.writes() && self.device.is_none()
    }
    /// The requested device.
    pub(crate) fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }
    /// Whether the operands are transposed.
    pub(crate) fn transposed(&self) -> [bool; 2] {
        self.transpose
    }
    /// Whether the result is plain and operands are not transposed.
    pub(crate) fn is_plain(&self) -> bool {
        self.mask.is_none()
            && !self.complement
            && self.accum.is_none()
            && self.out.is_none()
            && self.transpose == [false; 2]
    }
    /// The requested machine, else that of the first operand that is not in host memory.
    pub(crate) fn machine(&self, operands: &[&Operand]) -> PyResult<On> {
        if let Some(device) = &self.device {
            return machine(Some(device));
        }
        let names = operands.iter().map(|of| match of {
            Operand::Matrix(a) => a.is_on_host().then_some(()).map_or_else(|| Some(a.machine()), |()| None),
            Operand::Vector(x) => x.is_on_host().then_some(()).map_or_else(|| Some(x.machine()), |()| None),
        });
        machine(names.flatten().next().as_deref())
    }
    /// Computes the operation and returns its result, or writes it to `out`.
    pub(crate) fn run(
        &self,
        py: Python<'py>,
        on: &On,
        op: Op<'_>,
        operands: &[&Operand],
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
            return Err(PyValueError::new_err("complement: it needs a mask"));
        }
        // `out` has a type that the accumulator takes.
        let target = self.out.as_ref().map(Target::new).transpose()?;
        let accum = match (&self.accum, &target) {
            (None, _) => None,
            (Some(name), Some(target)) => Some(BinaryOp::new(name, target.ty(py)).raise()?),
            (Some(_), None) => {
                return Err(PyValueError::new_err("accum: it needs `out`"));
            }
        };
        let entries = operands.iter().map(|of| of.entries()).sum();
        let mut call = on.call(op, together(operands));
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
            None => match on.compute(py, entries, || call.eval_object())? {
                Object::Matrix(c) => give(py, c, kind),
                Object::Vector(y) => give_vector(py, y, kind),
                Object::Scalar(s) => number(py, &s),
            },
            Some(Target::Matrix(c)) => {
                let mut held = c.get().held.lock(py);
                let to = &mut *held;
                on.compute(py, entries, || call.into(to))?;
                drop(held);
                Ok(c.into_any())
            }
            Some(Target::Vector(y)) => {
                let mut held = y.get().held.lock(py);
                let to = &mut *held;
                on.compute(py, entries, || call.into(to))?;
                drop(held);
                Ok(y.into_any())
            }
        }
    }
}

/// The output object.
pub(crate) enum Target<'py> {
    Matrix(Bound<'py, PyMatrix>),
    Vector(Bound<'py, PyVector>),
}

impl<'py> Target<'py> {
    pub(crate) fn new(out: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(c) = out.cast::<PyMatrix>() {
            Ok(Self::Matrix(c.clone()))
        } else if let Ok(y) = out.cast::<PyVector>() {
            Ok(Self::Vector(y.clone()))
        } else {
            let message = format!("out: expected a sparring.Matrix or Vector, not {}", out.get_type().name()?);
            Err(PyTypeError::new_err(message))
        }
    }
    /// Its device, if that is a GPU.
    pub(crate) fn device(&self, py: Python<'py>) -> Option<String> {
        match self {
            Self::Matrix(c) => Some(c.get().held.get(py)).filter(|c| !c.is_on_host()).map(|c| c.machine()),
            Self::Vector(y) => Some(y.get().held.get(py)).filter(|y| !y.is_on_host()).map(|y| y.machine()),
        }
    }
    /// Rows and columns; a vector has one column.
    pub(crate) fn shape(&self, py: Python<'py>) -> (usize, usize) {
        match self {
            Self::Matrix(c) => c.get().held.get(py).shape(),
            Self::Vector(y) => (y.get().held.get(py).len(), 1),
        }
    }
    pub(crate) fn ty(&self, py: Python<'py>) -> Type {
        match self {
            Self::Matrix(c) => c.get().held.get(py).ty(),
            Self::Vector(y) => y.get().held.get(py).ty(),
        }
    }
}

/// Both operands converted to their common type by NumPy's promotion rules.
pub(crate) fn common(py: Python<'_>, a: Operand, b: Operand) -> PyResult<(Operand, Operand, Type)> {
    let ty = promoted(py, a.ty(), b.ty())?;
    Ok((a.cast(py, ty)?, b.cast(py, ty)?, ty))
}

/// Operands of an operation: none, one, or two.
pub(crate) fn together(operands: &[&Operand]) -> Operands {
    match operands {
        [Operand::Matrix(a), Operand::Matrix(b)] => (a, b).into(),
        [Operand::Matrix(a), Operand::Vector(b)] => (a, b).into(),
        [Operand::Vector(a), Operand::Matrix(b)] => (a, b).into(),
        [Operand::Vector(a), Operand::Vector(b)] => (a, b).into(),
        [Operand::Matrix(a), ..] => a.into(),
        [Operand::Vector(x), ..] => x.into(),
        [] => ().into(),
    }
}

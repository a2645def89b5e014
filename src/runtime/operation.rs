//! Operations as builders with optional parts: masks, accumulators, replace, transposed operands.

use super::engine::{Aggregate, Call, MaskSpec, Object, Op, Operand};
use super::operator::check;
use super::write::On;
use super::{BinaryOp, Collection, Machine, Matrix, Scalar, Semiring, UnaryOp, Vector};
use crate::algebra::Type;
use crate::backend::{WriteMask, write_with};
use crate::ops::check_transpose;
use crate::par::explained;
use crate::sparse::IndexList;
use crate::{Error, Result};

/// The operands of an operation: `&a`, `(&a, &b)`, or `()` to assign a scalar. They are shared, not copied.
#[derive(Clone, Debug)]
pub struct Operands(pub(super) Option<Object>, pub(super) Option<Object>);

impl From<()> for Operands {
    fn from((): ()) -> Self {
        Self(None, None)
    }
}

impl From<&Matrix> for Operands {
    fn from(a: &Matrix) -> Self {
        Self(Some(a.clone().into()), None)
    }
}
impl From<&Vector> for Operands {
    fn from(x: &Vector) -> Self {
        Self(Some(x.clone().into()), None)
    }
}
impl<A: Into<Object> + Clone, B: Into<Object> + Clone> From<(&A, &B)> for Operands {
    fn from((a, b): (&A, &B)) -> Self {
        Self(Some(a.clone().into()), Some(b.clone().into()))
    }
}

/// A pending operation with result T, and how T is written: `C⟨M, r⟩ ⊙= T`, with an optional mask and accumulator.
/// [`Machine::call`] creates it; [`eval`](Self::eval) and [`into`](Self::into) run it.
///
/// | | without accumulator | with ⊙ |
/// | --- | --- | --- |
/// | no mask | C = T | C = C ⊙ T |
/// | mask | C = C⟨¬M⟩ ∪ T⟨M⟩ | C = C ⊙ T⟨M⟩ |
/// | mask, replace | C = T⟨M⟩ | C = C⟨M⟩ ⊙ T⟨M⟩ |
///
/// It shares ownership of its operands, so one of them may be the output.
///
/// ```
/// use sparring::algebra::Type;
/// use sparring::runtime::{BinaryOp, Machine, Op, Vector};
/// use sparring::Cpu;
/// let cpu = Machine::from(Cpu::new());
/// let mut c = Vector::from(sparring::Vector::<i32>::full(vec![1, 2, 3])?);
/// let t = Vector::from(sparring::Vector::<i32>::full(vec![10, 20, 30])?);
/// let mask = Vector::from(sparring::Vector::<i32>::new(3, vec![0, 1], vec![5, 0])?);
/// let plus = BinaryOp::new("plus", Type::I32)?;
/// // A mask allows where its value is not 0.
/// cpu.call(Op::Identity, &t).mask(&mask).accum(&plus).into(&mut c)?;
/// assert_eq!(c.typed::<i32>().unwrap().as_full(), Some(&[11, 2, 3][..]));
/// // By its structure it allows where it has an entry.
/// cpu.call(Op::Identity, &t).mask(&mask).structure().complement().replace().into(&mut c)?;
/// assert_eq!(c.typed::<i32>().unwrap().to_dense(0)?, [0, 0, 30]);
/// # Ok::<(), sparring::Error>(())
/// ```
#[must_use = "nothing is computed before eval() or into()"]
#[derive(Clone, Debug)]
pub struct Operation<'m> {
    pub(super) machine: &'m Machine,
    pub(super) op: Op<'m>,
    pub(super) operands: Operands,
    pub(super) transpose: [bool; 2],
    pub(super) mask: Option<Object>,
    pub(super) structure: bool,
    pub(super) complement: bool,
    pub(super) replace: bool,
    pub(super) accum: Option<&'m BinaryOp>,
    pub(super) twin: Option<Matrix>,
}

impl Machine {
    /// An operation on matrices or vectors: every one of [`Op`], with masks, accumulators and transposed operands.
    ///
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{Machine, Matrix, Op, Semiring, Vector};
    /// use sparring::{Cpu, Csr};
    /// // A step of a breadth-first search: the neighbours of the frontier q that are not yet seen.
    /// let a = Matrix::from(Csr::<bool>::new(3, 3, vec![0, 2, 2, 2], vec![1, 2], vec![true; 2])?);
    /// let mut q = Vector::from(sparring::Vector::<bool>::new(3, vec![0], vec![true])?);
    /// let seen = Vector::from(sparring::Vector::<bool>::new(3, vec![0, 1], vec![true; 2])?);
    /// let (cpu, ring) = (Machine::from(Cpu::new()), Semiring::new("lor_land", Type::Bool)?);
    /// cpu.call(Op::Vxm(&ring), (&q, &a)).mask(&seen).structure().complement().replace().into(&mut q)?;
    /// assert_eq!(q.entries()?.0, [2]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn call<'m>(&'m self, op: Op<'m>, operands: impl Into<Operands>) -> Operation<'m> {
        Operation {
            machine: self,
            op,
            operands: operands.into(),
            transpose: [false; 2],
            mask: None,
            structure: false,
            complement: false,
            replace: false,
            accum: None,
            twin: None,
        }
    }
}

impl<'m> Operation<'m> {
    /// Takes the first operand, a matrix, transposed.
    ///
    /// Aᵀ is computed first, at O(m + n + nnz(A)), with two exceptions: Aᵀx runs as [`Op::Vxm`] of x and A, and parts,
    /// diagonals and counts of Aᵀ are read from A.
    pub fn transpose_a(mut self) -> Self {
        self.transpose[0] = !self.transpose[0];
        self
    }
    /// Takes the second operand, a matrix, transposed.
    ///
    /// Bᵀ is computed first, at O(m + n + nnz(B)), except that xᵀBᵀ runs as [`Op::Mxv`] of B and x.
    pub fn transpose_b(mut self) -> Self {
        self.transpose[1] = !self.transpose[1];
        self
    }
    /// Provides the transpose of the matrix of an [`Op::Mxv`] or an [`Op::Vxm`], computed beforehand. The product uses
    /// either the rows that the mask allows ("pull") or the rows of the transpose selected by x ("push"), whichever is
    /// less work.
    ///
    /// Both directions give the same entries, bitwise if ⊕ is exact. The choice depends on counts alone, and costs
    /// O(entries of x) on the CPU. A matrix that is not the transpose gives a wrong result; only its shape and number
    /// of entries are checked. Other operations reject it.
    pub fn with_transpose(mut self, at: &Matrix) -> Self {
        self.twin = Some(at.clone());
        self
    }
    /// Writes only where the mask has nonzero values; entries of C elsewhere are retained, unless
    /// [`replace`](Self::replace) is set. A matrix takes a matrix as its mask, a vector a vector.
    pub fn mask<X: Into<Object> + Clone>(mut self, mask: &X) -> Self {
        self.mask = Some(mask.clone().into());
        self
    }
    /// Makes the mask structural: it allows every position with an entry, whatever its value.
    pub fn structure(mut self) -> Self {
        self.structure = true;
        self
    }
    /// Complements the mask.
    pub fn complement(mut self) -> Self {
        self.complement = true;
        self
    }
    /// Removes the entries of C that the mask does not allow; no effect without a mask.
    pub fn replace(mut self) -> Self {
        self.replace = true;
        self
    }
    /// Accumulates T into C by ⊙: c ⊙ t where both have an entry, otherwise the one that exists.
    pub fn accum(mut self, op: &'m BinaryOp) -> Self {
        self.accum = Some(op);
        self
    }
    /// T⟨M⟩, a new matrix, vector or scalar.
    /// # Errors
    /// [`Error::Argument`] for operands of other types than the operator's, a vector to be transposed, a complement
    /// without a mask, or an accumulator; [`Error::Shape`], [`Error::Length`]; [`Error::Unsupported`] for a value mask
    /// of structs; those of the machine. An assignment needs an existing result: [`Error::Argument`].
    pub fn eval<X: TryFrom<Object, Error = Error>>(self) -> Result<X> {
        self.eval_object()?.try_into()
    }
    /// [`eval`](Self::eval) to an object of any kind.
    /// # Errors
    /// Those of [`eval`](Self::eval).
    pub fn eval_object(self) -> Result<Object> {
        if self.accum.is_some() {
            let message = "an accumulator needs an existing result: call into(&mut c)".into();
            return Err(Error::Argument { name: "accum", message });
        }
        if self.op.assigns() {
            let message = "an assignment needs an existing result: call into(&mut c)".into();
            return Err(Error::Argument { name: "operation", message });
        }
        self.check_transpose()?;
        if self.is_wide(None) {
            return self.eval_wide();
        }
        let mask = self.resolved()?;
        self.compute(mask.as_ref())
    }
    /// The result, and how it was computed, line by line: the storage forms of the operands, the kernel chosen, and
    /// why.
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{Machine, Matrix, Op};
    /// use sparring::{Cpu, Csr};
    /// let a = Matrix::from(Csr::<f64>::new(2, 3, vec![0, 1, 2], vec![1, 2], vec![1.0; 2])?);
    /// let (t, how) = Machine::from(Cpu::new()).call(Op::Transpose, &a).explain::<Matrix>()?;
    /// assert_eq!((t.shape(), &how[..]), ((3, 2), "transpose: 2×3 with 2 entries as compressed rows"));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`eval`](Self::eval).
    pub fn explain<X: TryFrom<Object, Error = Error>>(self) -> Result<(X, String)> {
        let (made, how) = explained(|| self.eval());
        Ok((made?, how))
    }
    /// Writes the result into `c`; returns how it was computed and written, like [`explain`](Self::explain).
    /// # Errors
    /// Those of [`into`](Self::into).
    pub fn explain_into<X: Collection>(self, c: &mut X) -> Result<String> {
        let (done, how) = explained(|| self.into(c));
        done.map(|()| how)
    }
    /// Writes the result into `c`, which may also be an operand or the mask.
    ///
    /// Cost: that of the masked operation, and O(entries of T + entries of the mask) to write a vector, or a bitmap or
    /// full matrix, on the CPU; for other matrices also O(entries of C).
    /// # Errors
    /// Those of [`eval`](Self::eval); [`Error::Argument`] if T or the accumulator is of another type than `c`, naming
    /// both. `c` is unchanged on error, unless memory runs out between removing entries and adding others.
    pub fn into<X: Collection>(self, c: &mut X) -> Result<()> {
        self.check_transpose()?;
        let Self { machine, accum, complement, replace, .. } = self;
        let ty = c.type_of();
        if let Some(op) = accum {
            machine.engine().check_host_function(op.formula().host_function())?;
            let (a, b) = op.takes();
            for found in [a, b, op.ty()] {
                check("c", &format_args!("the accumulator {op}"), found, ty)?;
            }
        }
        if self.is_wide(Some(c.operand_of())) {
            return self.into_wide(c);
        }
        if self.op.assigns() {
            return self.assign(c);
        }
        let name = self.op.name();
        let mask = self.resolved()?;
        let t = X::from_object(self.compute(mask.as_ref())?)?;
        same_type(&t, ty)?;
        let mask = mask.map(X::from_object).transpose()?;
        let mask = mask.map(|pattern| WriteMask { pattern, complement, replace });
        write_with(&On { machine, ty, accum }, name, c, t, mask, accum.is_some())
    }
    /// The mask, converted to a structural one.
    pub(super) fn resolved(&self) -> Result<Option<Object>> {
        let Some(mask) = &self.mask else {
            if self.complement {
                return Err(Error::Argument { name: "mask", message: "there is none, so it has no complement".into() });
            }
            return Ok(None);
        };
        if self.structure {
            return Ok(Some(mask.clone()));
        }
        let mask = mask.operand()?;
        let nonzero = UnaryOp::new("a != 0", mask.ty())?;
        self.machine.run(&Call::unary(Op::Select(&nonzero), mask)).map(Some)
    }
    /// T⟨M⟩; drops the operands, so that the output is no longer shared with them.
    fn compute(self, mask: Option<&Object>) -> Result<Object> {
        // Aᵀ is not computed: Aᵀx goes by the rows of A selected by x, and xᵀAᵀ folds each row of A.
        match (self.op, self.transpose) {
            (Op::Mxv(_), [flip, false]) | (Op::Vxm(_), [false, flip]) if self.twin.is_some() => {
                return self.by_direction(flip, mask);
            }
            (Op::Mxv(ring), [true, of_x]) => {
                self.check_product()?;
                let (ring, operands) = (ring.transposed(), Operands(self.operands.1, self.operands.0));
                return Operation { op: Op::Vxm(&ring), operands, transpose: [of_x, false], ..self }.compute(mask);
            }
            (Op::Vxm(ring), [of_x, true]) => {
                self.check_product()?;
                let (ring, operands) = (ring.transposed(), Operands(self.operands.1, self.operands.0));
                return Operation { op: Op::Mxv(&ring), operands, transpose: [false, of_x], ..self }.compute(mask);
            }
            // Column counts need no transpose.
            (Op::Aggregate(Aggregate::Count), [true, false]) => {
                if let Some(Operand::Matrix(a)) = self.operands.0.as_ref().map(Object::operand).transpose()? {
                    if let Some(counts) = self.machine.engine().column_counts(a) {
                        let counts = Object::from(counts?);
                        let call = Call::unary(Op::Identity, counts.operand()?);
                        return self.machine.run(&match mask {
                            None => call,
                            Some(mask) => call.mask(mask.operand()?, self.complement),
                        });
                    }
                    let ones = Vector::constant_at(&Scalar::from(1i64), &IndexList::all(), a.shape().0)?;
                    let ring = Semiring::between("plus, a", Type::I64, a.ty())?;
                    let operands = Operands(Some(self.machine.upload_vector(&ones)?.into()), self.operands.0);
                    let op = Op::Vxm(&ring);
                    return Operation { op, operands, transpose: [false; 2], ..self }.compute(mask);
                }
            }
            _ => {}
        }
        let Self { machine, mut op, operands: Operands(a, mut b), mut transpose, complement, .. } = self;
        let mut a = a.ok_or_else(no_operand)?;
        // A part of Aᵀ is the transpose of a part of A, so only the part is transposed.
        let mut after = false;
        if transpose[0] {
            match op {
                Op::Extract(rows, cols) => {
                    (op, transpose[0], after) = (Op::Extract(cols, rows), false, true);
                }
                Op::ExtractColumn(rows, j) => (op, transpose[0]) = (Op::ExtractRow(j, rows), false),
                Op::ExtractRow(i, cols) => (op, transpose[0]) = (Op::ExtractColumn(cols, i), false),
                Op::Diagonal(k) => (op, transpose[0]) = (Op::Diagonal(k.wrapping_neg()), false),
                _ => {}
            }
        }
        if let (Op::Transpose, true) = (op, transpose[0]) {
            (op, transpose[0]) = (Op::Identity, false);
        }
        if transpose[0] {
            a = transposed(machine, "a", &a)?;
        }
        if let (true, Some(b)) = (transpose[1], &mut b) {
            *b = transposed(machine, "b", b)?;
        }
        let b = b.as_ref().map(Object::operand).transpose()?;
        let mut call = Call { op, a: a.operand()?, b, mask: None };
        let extracted;
        if after {
            extracted = machine.run(&call)?;
            call = Call::unary(Op::Transpose, extracted.operand()?);
        }
        machine.run(&match mask {
            None => call,
            Some(mask) => call.mask(mask.operand()?, complement),
        })
    }
    /// Rejects a given transpose for operations that do not use it.
    fn check_transpose(&self) -> Result<()> {
        if self.twin.is_none() || matches!(self.op, Op::Mxv(_) | Op::Vxm(_)) {
            return Ok(());
        }
        let message = format!("{} takes none: only products with vectors choose a direction by it", self.op.name());
        Err(Error::Argument { name: "transpose", message })
    }
    /// A product with a vector, given both the matrix and its transpose.
    fn by_direction(mut self, flip: bool, mask: Option<&Object>) -> Result<Object> {
        self.check_product()?;
        let is_mxv = matches!(self.op, Op::Mxv(_));
        let (a, x) = if is_mxv { (&self.operands.0, &self.operands.1) } else { (&self.operands.1, &self.operands.0) };
        let operand = |x: &Option<Object>| x.clone().ok_or_else(no_operand);
        let (a, x) = (Matrix::try_from(operand(a)?)?, Vector::try_from(operand(x)?)?);
        let at = self.twin.take().ok_or_else(no_operand)?;
        check_transpose((a.shape(), a.nnz()), (at.shape(), at.nnz()))?;
        if at.ty() != a.ty() {
            let message = format!("its values are {}, those of the matrix {}", at.ty(), a.ty());
            return Err(Error::Argument { name: "transpose", message });
        }
        // One matrix has the rows of the result, the other a row for each index of x.
        let (rows, named) = if is_mxv != flip { (a, at) } else { (at, a) };
        let ring = match self.op {
            Op::Mxv(ring) | Op::Vxm(ring) => ring,
            _ => return Err(no_operand()),
        };
        let allowed = mask
            .map(|mask| Ok::<_, Error>(MaskSpec { structure: mask.operand()?, complement: self.complement }))
            .transpose()?;
        let by_rows = self.machine.engine().is_by_rows(ring, &named, &x, allowed)?;
        let turned = ring.transposed();
        let ring = if is_mxv == by_rows { ring } else { &turned };
        let (op, operands) = if by_rows {
            (Op::Mxv(ring), Operands(Some(rows.into()), Some(x.into())))
        } else {
            (Op::Vxm(ring), Operands(Some(x.into()), Some(named.into())))
        };
        Operation { op, operands, transpose: [false; 2], ..self }.compute(mask)
    }
    /// Rejects nonconforming operands of a product of a vector and a transposed matrix.
    fn check_product(&self) -> Result<()> {
        let shape = |x: &Option<Object>, flip: bool| match x.as_ref().ok_or_else(no_operand)?.operand()? {
            Operand::Matrix(a) if flip => Ok((a.shape().1, a.shape().0)),
            Operand::Matrix(a) => Ok(a.shape()),
            Operand::Vector(x) if self.op.name() == "vxm" => Ok((1, x.len())),
            Operand::Vector(x) => Ok((x.len(), 1)),
        };
        let (lhs, rhs) = (shape(&self.operands.0, self.transpose[0])?, shape(&self.operands.1, self.transpose[1])?);
        if lhs.1 == rhs.0 { Ok(()) } else { Err(Error::Shape { op: self.op.name(), lhs, rhs }) }
    }
    /// Writes the result of a [reduction](Op::Reduce) into a scalar that may be absent (`GrB_reduce` into a
    /// `GrB_Scalar`). Without entries the scalar becomes absent, or stays unchanged with ⊙; with ⊙ an absent scalar
    /// takes the result.
    ///
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{BinaryOp, Machine, Monoid, Op, Scalar, Vector};
    /// use sparring::Cpu;
    /// let (cpu, max) = (Machine::from(Cpu::new()), Monoid::new("max", Type::I32)?);
    /// let mut s = None;
    /// cpu.call(Op::Reduce(&max), &Vector::empty(Type::I32, 5)?).into_scalar(&mut s)?;
    /// assert_eq!(s, None);
    /// let x = Vector::from(sparring::Vector::<i32>::full(vec![4, 2])?);
    /// cpu.call(Op::Reduce(&max), &x).into_scalar(&mut s)?;
    /// cpu.call(Op::Reduce(&max), &x).accum(&BinaryOp::new("plus", Type::I32)?).into_scalar(&mut s)?;
    /// assert_eq!(s, Some(Scalar::from(8)));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`eval`](Self::eval); [`Error::Argument`] for another operation, a mask, or an accumulator of another
    /// type than the result or the scalar.
    pub fn into_scalar(self, s: &mut Option<Scalar>) -> Result<()> {
        self.check_transpose()?;
        if !matches!(self.op, Op::Reduce(_)) || self.mask.is_some() {
            let message = format!("{} gives no scalar: only a reduction without a mask does", self.op.name());
            return Err(Error::Argument { name: "operation", message });
        }
        let entries = match self.operands.0.as_ref().ok_or_else(no_operand)?.operand()? {
            Operand::Matrix(a) => a.nnz(),
            Operand::Vector(x) => x.nvals()?,
        };
        let accum = self.accum;
        if entries == 0 {
            if accum.is_none() {
                *s = None;
            }
            return Ok(());
        }
        let t: Scalar = self.compute(None)?.try_into()?;
        *s = Some(match (accum, s.take()) {
            (Some(op), Some(before)) => match op.eval(&before, &t) {
                Ok(joined) => joined,
                Err(e) => {
                    *s = Some(before);
                    return Err(e);
                }
            },
            _ => t,
        });
        Ok(())
    }
}

/// Rejects a result of another type than its output.
pub(super) fn same_type<X: Collection>(t: &X, ty: Type) -> Result<()> {
    if t.type_of() == ty {
        return Ok(());
    }
    let message = format!("the result is {}, these values are {ty}", t.type_of());
    Err(Error::Argument { name: "c", message })
}

/// The error of an operation without its operand.
pub(super) fn no_operand() -> Error {
    Error::Argument { name: "operands", message: "the operation takes an operand, not ()".into() }
}

fn transposed(machine: &Machine, name: &'static str, x: &Object) -> Result<Object> {
    match x.operand()? {
        Operand::Matrix(a) => machine.run(&Call::unary(Op::Transpose, a)),
        Operand::Vector(_) => {
            Err(Error::Argument { name, message: "it is a vector, and matrices are transposed".into() })
        }
    }
}

//! Y ⊙= A ⊕.⊗ X, X and Y dense arrays of a type known at run time.

use super::engine::{Call, Engine, Op};
use super::operator::check;
use super::{BinaryOp, Machine, Matrix, Semiring};
use crate::algebra::{Array, Slice, SliceMut};
use crate::ops::by_formula::{join_dense, mxv_dense, mxv_of_entries};
use crate::par::{Storage, Threads, explained, note};
use crate::{Error, Pattern, Result};

/// A ⊕.⊗ X about to be computed: a sparse matrix times a dense one, by name. Its result is dense, so there is no mask.
#[must_use = "nothing is computed before eval() or into()"]
#[derive(Clone, Debug)]
pub struct Spmm<'m> {
    machine: &'m Machine,
    ring: &'m Semiring,
    a: Matrix,
    x: Slice<'m>,
    columns: usize,
    flip: bool,
    accum: Option<&'m BinaryOp>,
}

impl Machine {
    /// `Y(i, j) = e ⊕ A(i, k) ⊗ X(k, j) ⊕ …` over the entries of row i in the order in which they are stored, e the
    /// identity of ⊕: [`Backend::spmm`](crate::backend::Backend::spmm), with the same bits, for types known at run time
    /// only. `x` is row-major and has `columns` columns, as the result.
    ///
    /// Shapes: `a` m×k, `x` k×n, result m×n. A row of A without entries gives a row of e. Cost: O(n·(m + nnz)) time,
    /// nothing beside the result. On a GPU `x` is sent for the call and the result comes back.
    /// ```
    /// use sparring::algebra::{Slice, Type};
    /// use sparring::runtime::{BinaryOp, Machine, Matrix, Semiring};
    /// use sparring::{Cpu, Csr};
    /// let a = Matrix::from(Csr::<i32>::new(2, 3, vec![0, 2, 2], vec![0, 2], vec![1, 2])?);
    /// let (cpu, ring) = (Machine::from(Cpu::new()), Semiring::new("plus_times", Type::I32)?);
    /// let x = [1i32, 10, 2, 20, 3, 30];
    /// let mut y = cpu.spmm(&ring, &a, Slice::of(&x), 2).eval()?;
    /// assert_eq!(y.slice().get::<i32>(), Some(&[7, 70, 0, 0][..]));
    /// let minus = BinaryOp::new("minus", Type::I32)?;
    /// cpu.spmm(&ring, &a, Slice::of(&x), 2).accum(&minus).into(y.slice_mut())?;
    /// assert_eq!(y.slice().get::<i32>(), Some(&[0, 0, 0, 0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn spmm<'m>(&'m self, ring: &'m Semiring, a: &Matrix, x: Slice<'m>, columns: usize) -> Spmm<'m> {
        Spmm { machine: self, ring, a: a.clone(), x, columns, flip: false, accum: None }
    }
    /// `y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ …` over the entries of row i, e the identity of ⊕: [`mxv`](Self::mxv) with its bits,
    /// of dense arrays that are read and made in place. A row without entries gives e.
    ///
    /// Shapes: `a` m×k, `x` of k values, result of m. Cost: O(m + nnz). On the processor.
    /// ```
    /// use sparring::algebra::{Slice, Type};
    /// use sparring::runtime::{Machine, Matrix, Semiring};
    /// use sparring::{Cpu, Csr};
    /// let a = Matrix::from(Csr::<i32>::new(2, 3, vec![0, 2, 2], vec![0, 2], vec![1, 2])?);
    /// let (cpu, ring) = (Machine::from(Cpu::new()), Semiring::new("plus_times", Type::I32)?);
    /// let y = cpu.mxv_dense(&ring, &a, Slice::of(&[1i32, 2, 3]))?;
    /// assert_eq!(y.slice().get::<i32>(), Some(&[7, 0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Length`] if `x` has not as many values as A has columns; [`Error::Argument`] if ⊗ takes other types;
    /// [`Error::Unsupported`] on a GPU; [`Error::OutOfMemory`], [`Error::Cancelled`].
    pub fn mxv_dense(&self, ring: &Semiring, a: &Matrix, x: Slice<'_>) -> Result<Array> {
        let cpu = self.processor("mxv of dense arrays", ring)?;
        let (found, expected) = (x.len(), a.shape().1);
        if found != expected {
            return Err(Error::Length { what: "values of x", found, expected });
        }
        note(|| format!("mxv: {}; {expected} dense", a.described()));
        mxv_dense(cpu.threads(), ring.compiled(), a.operand()?, x)
    }
    /// `y(i) = e ⊕ values(p) ⊗ x(columns(p)) ⊕ …` over `row_ptr[i] ≤ p < row_ptr[i + 1]`: the bits of
    /// [`mxv_dense`](Self::mxv_dense), straight from raw arrays. Duplicates are multiplied each on its own, so only bounds
    /// are checked.
    ///
    /// Shapes: `shape` m×k, m + 1 row pointers, a value for each column, `x` of k values, result of m. Cost: O(m + nnz).
    /// On the processor.
    /// ```
    /// use sparring::Cpu;
    /// use sparring::algebra::{Slice, Type};
    /// use sparring::runtime::{Machine, Semiring};
    /// let (cpu, ring) = (Machine::from(Cpu::new()), Semiring::new("plus_times", Type::I32)?);
    /// let (row_ptr, columns) = (vec![0, 3, 3].into(), vec![2, 0, 2].into());
    /// let values = Slice::of(&[1i32, 2, 4]);
    /// let y = cpu.mxv_of_entries(&ring, (2, 3), (row_ptr, columns, values), Slice::of(&[1i32, 2, 3]))?;
    /// assert_eq!(y.slice().get::<i32>(), Some(&[17, 0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// As for [`mxv_dense`](Self::mxv_dense), [`Error::Length`] also if there is not one value for each column; those of
    /// [`Pattern::from_storage`](crate::Pattern::from_storage) but [`Error::Duplicate`].
    pub fn mxv_of_entries(
        &self,
        ring: &Semiring,
        shape: (usize, usize),
        (row_ptr, columns, values): (Storage<usize>, Storage<u32>, Slice<'_>),
        x: Slice<'_>,
    ) -> Result<Array> {
        let cpu = self.processor("mxv of arrays", ring)?;
        for (what, found, expected) in [("values", values.len(), columns.len()), ("values of x", x.len(), shape.1)] {
            if found != expected {
                return Err(Error::Length { what, found, expected });
            }
        }
        note(|| format!("mxv: {}×{} with {} entries in arrays; {} dense", shape.0, shape.1, values.len(), x.len()));
        let a = Pattern::of_entries(cpu.threads(), shape, row_ptr, columns)?;
        mxv_of_entries(cpu.threads(), ring.compiled(), (&a, values), x)
    }
}

impl<'m> Spmm<'m> {
    /// Takes A transposed. Aᵀ is made first, at O(m + n + nnz(A)).
    pub fn transpose_a(mut self) -> Self {
        self.flip = !self.flip;
        self
    }
    /// Joins the result to what is there by ⊙: y = y ⊙ t at every place.
    pub fn accum(mut self, op: &'m BinaryOp) -> Self {
        self.accum = Some(op);
        self
    }
    /// The result, row-major.
    /// # Errors
    /// [`Error::Length`] if `x` has not as many rows as A has columns; [`Error::Argument`] if ⊗ takes other types, or for
    /// an accumulator; [`Error::IndexOverflow`] if m·n is no size; [`Error::OutOfMemory`], [`Error::Cancelled`] and
    /// those of the machine.
    pub fn eval(self) -> Result<Array> {
        if self.accum.is_some() {
            let message = "it joins a result to one that exists: call into(y)".into();
            return Err(Error::Argument { name: "accum", message });
        }
        self.product()
    }
    /// The result, and how it was computed, as [`Operation::explain`](super::Operation::explain) tells it.
    /// # Errors
    /// Those of [`eval`](Self::eval).
    pub fn explain(self) -> Result<(Array, String)> {
        let (made, how) = explained(|| self.eval());
        Ok((made?, how))
    }
    /// Writes the result over `y`, or joins it to `y` by the accumulator.
    /// # Errors
    /// Those of [`eval`](Self::eval); [`Error::Length`] if `y` has not m·n values; [`Error::Argument`] if the result or
    /// the accumulator is of another type than `y`. `y` is unchanged then, but after [`Error::Cancelled`] without an
    /// accumulator some of its values may be new.
    pub fn into(self, mut y: SliceMut<'_>) -> Result<()> {
        let (machine, accum, ty) = (self.machine, self.accum, self.ring.ty());
        if y.ty() != ty {
            let message = format!("the semiring gives {ty}, these values are {}", y.ty());
            return Err(Error::Argument { name: "y", message });
        }
        if let Some(op) = accum {
            let (a, b) = op.takes();
            for found in [a, b, op.ty()] {
                check("y", &format_args!("the accumulator {op}"), found, ty)?;
            }
        }
        let (found, expected) = (y.len(), self.len()?);
        if found != expected {
            return Err(Error::Length { what: "values of y", found, expected });
        }
        let Some(op) = accum else {
            return self.computed(|engine, ring, a, x| engine.spmm_into(ring, a, x, &mut y));
        };
        let t = self.product()?;
        let current = Threads::current();
        join_dense(machine.threads().unwrap_or(&current), op.compiled(), y, t.slice())?;
        Ok(())
    }
    /// Rows and columns of A as it is taken.
    fn shape(&self) -> (usize, usize) {
        let (m, n) = self.a.shape();
        if self.flip { (n, m) } else { (m, n) }
    }
    /// Values of the result.
    fn len(&self) -> Result<usize> {
        let (m, n) = (self.shape().0, self.columns);
        let (needed, max) = (m as u128 * n as u128, usize::MAX as u128);
        m.checked_mul(n).ok_or(Error::IndexOverflow { what: "values of y", needed, max })
    }
    fn product(self) -> Result<Array> {
        self.computed(|engine, ring, a, (x, n)| engine.spmm(ring, a, x, n))
    }
    /// What `compute` makes of the operands, whose sizes have been checked.
    fn computed<T>(
        self,
        compute: impl FnOnce(&dyn Engine, &Semiring, &Matrix, (Slice<'_>, usize)) -> Result<T>,
    ) -> Result<T> {
        self.len()?;
        let (k, n, found) = (self.shape().1, self.columns, self.x.len());
        if k.checked_mul(n) != Some(found) {
            let expected = k.saturating_mul(n);
            return Err(Error::Length { what: "values of x", found, expected });
        }
        let Self { machine, ring, mut a, x, flip, .. } = self;
        if flip {
            a = machine.run(&Call::unary(Op::Transpose, &a))?.try_into()?;
        }
        note(|| {
            let place =
                if machine.typed::<crate::Cpu>().is_none() { format!(" on {}", machine.name()) } else { String::new() };
            format!("spmm{place}: {}; {k}×{n} dense", a.described())
        });
        compute(machine.engine(), ring, &a, (x, n))
    }
}

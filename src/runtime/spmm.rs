//! Y ⊙= A ⊕.⊗ X for dense arrays X and Y of a type known at run time.

use super::engine::{Call, Engine, Op};
use super::operator::check;
use super::{BinaryOp, Machine, Matrix, Semiring, Vector};
use crate::algebra::{Array, Slice, SliceMut};
use crate::ops::by_formula::{join_dense, mxv_dense, mxv_of_entries};
use crate::par::{Storage, Threads, explained, note};
use crate::{Error, Pattern, Result};

/// A pending product A ⊕.⊗ X of a sparse matrix and a dense one. The result is dense, so it takes no mask.
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
    /// `Y(i, j) = e ⊕ A(i, k) ⊗ X(k, j) ⊕ …` over the entries of row i in storage order, e the identity of ⊕: bitwise
    /// [`Backend::spmm`](crate::backend::Backend::spmm), for types known only at run time. `x` and the result are
    /// row-major with `columns` columns.
    ///
    /// Shapes: `a` m×k, `x` k×n, result m×n. An empty row of A yields a row of e. Cost: O(n·(m + nnz)) time, no memory
    /// beyond the result. On a GPU `x` is uploaded for the call and the result downloaded.
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
    /// [`spmm`](Self::spmm) of a full vector that holds X, row-major, on any machine; Y as a full vector on this one.
    /// On a GPU neither is copied if X is there.
    /// ```
    /// use sparring::algebra::{Array, Type};
    /// use sparring::runtime::{Machine, Matrix, Scalar, Semiring, Vector};
    /// use sparring::{Cpu, Csr};
    /// let a = Matrix::from(Csr::<i32>::new(2, 3, vec![0, 2, 2], vec![0, 2], vec![1, 2])?);
    /// let (cpu, ring) = (Machine::from(Cpu::new()), Semiring::new("plus_times", Type::I32)?);
    /// let x = Vector::full(Array::of(vec![1i32, 10, 2, 20, 3, 30]))?;
    /// let y = cpu.spmm_vector(&ring, &a, &x, 2)?;
    /// assert_eq!((y.len(), y.get(1)?), (4, Some(Scalar::from(70i32))));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`Spmm::eval`]; [`Error::Argument`] if X is of another type than ⊗ takes, or lacks an entry.
    pub fn spmm_vector(&self, ring: &Semiring, a: &Matrix, x: &Vector, columns: usize) -> Result<Vector> {
        let call = self.spmm(ring, a, Slice::of::<u8>(&[]), columns);
        call.check(x.len())?;
        x.check_full()?;
        if let Some(there) = self.engine().spmm_vector(ring, a, x, columns) {
            note(|| format!("spmm on {}: {}; {}×{columns} dense", self.name(), a.described(), a.shape().1));
            return there;
        }
        let x = x.full_values()?;
        Vector::full(Spmm { x: x.slice(), ..call }.eval()?)
    }
    /// `y(i) = e ⊕ A(i, k) ⊗ x(k) ⊕ …` over the entries of row i, e the identity of ⊕: bitwise [`mxv`](Self::mxv), on
    /// dense arrays without copies. An empty row yields e.
    ///
    /// Shapes: `a` m×k, `x` of k values, result of m. Cost: O(m + nnz). CPU only.
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
    /// [`Error::Length`] if `x` does not have one value per column of A; [`Error::Argument`] if ⊗ takes other types;
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
    /// `y(i) = e ⊕ values(p) ⊗ x(columns(p)) ⊕ …` over `row_ptr[i] ≤ p < row_ptr[i + 1]`: bitwise
    /// [`mxv_dense`](Self::mxv_dense), on raw arrays. Duplicates are multiplied separately, so only bounds are checked.
    ///
    /// Shapes: `shape` m×k, m + 1 row pointers, one value per column index, `x` of k values, result of m. Cost: O(m +
    /// nnz). CPU only.
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
    /// As for [`mxv_dense`](Self::mxv_dense); [`Error::Length`] if there is not one value per column index; those of
    /// [`Pattern::from_storage`](crate::Pattern::from_storage) except [`Error::Duplicate`].
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
    /// Takes A transposed. Aᵀ is computed first, at O(m + n + nnz(A)).
    pub fn transpose_a(mut self) -> Self {
        self.flip = !self.flip;
        self
    }
    /// Accumulates into existing values by ⊙: y = y ⊙ t elementwise.
    pub fn accum(mut self, op: &'m BinaryOp) -> Self {
        self.accum = Some(op);
        self
    }
    /// The result, row-major.
    /// # Errors
    /// [`Error::Length`] if `x` does not have one row per column of A; [`Error::Argument`] if ⊗ takes other types, or
    /// for an accumulator; [`Error::IndexOverflow`] if m·n exceeds `usize`; [`Error::OutOfMemory`],
    /// [`Error::Cancelled`] and those of the machine.
    pub fn eval(self) -> Result<Array> {
        if self.accum.is_some() {
            let message = "an accumulator needs an existing result: call into(y)".into();
            return Err(Error::Argument { name: "accum", message });
        }
        self.product()
    }
    /// The result, and how it was computed, as in [`Operation::explain`](super::Operation::explain).
    /// # Errors
    /// Those of [`eval`](Self::eval).
    pub fn explain(self) -> Result<(Array, String)> {
        let (made, how) = explained(|| self.eval());
        Ok((made?, how))
    }
    /// Overwrites `y` with the result, or accumulates it into `y`.
    /// # Errors
    /// Those of [`eval`](Self::eval); [`Error::Length`] if `y` does not have m·n values; [`Error::Argument`] if the
    /// result or the accumulator is of another type than `y`. `y` is unchanged on error, except that after
    /// [`Error::Cancelled`] without an accumulator some of its values may be new.
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
    /// Rows and columns of A, after any transposition.
    fn shape(&self) -> (usize, usize) {
        let (m, n) = self.a.shape();
        if self.flip { (n, m) } else { (m, n) }
    }
    /// Number of values of the result.
    fn len(&self) -> Result<usize> {
        let (m, n) = (self.shape().0, self.columns);
        let (needed, max) = (m as u128 * n as u128, usize::MAX as u128);
        m.checked_mul(n).ok_or(Error::IndexOverflow { what: "values of y", needed, max })
    }
    /// Checks the number of values of X and of the result.
    fn check(&self, found: usize) -> Result<()> {
        self.len()?;
        let (k, n) = (self.shape().1, self.columns);
        if k.checked_mul(n) != Some(found) {
            let expected = k.saturating_mul(n);
            return Err(Error::Length { what: "values of x", found, expected });
        }
        Ok(())
    }
    fn product(self) -> Result<Array> {
        self.computed(|engine, ring, a, (x, n)| engine.spmm(ring, a, x, n))
    }
    /// Runs `compute` on the operands after checking their sizes.
    fn computed<T>(
        self,
        compute: impl FnOnce(&dyn Engine, &Semiring, &Matrix, (Slice<'_>, usize)) -> Result<T>,
    ) -> Result<T> {
        self.check(self.x.len())?;
        let (k, n) = (self.shape().1, self.columns);
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

//! A matrix of any value type, in any memory.

use std::any::Any;
use std::io::Write;
use std::sync::Arc;

use super::remote::{Remote, elsewhere};
use super::vector::Vector;
use crate::algebra::{Array, Slice, SliceMut, Type, Value, for_each_type};
use crate::kernels::{Operand, precompiled, with_type};
use crate::num_complex::Complex;
use crate::ops::by_formula::{Rearrange, assigned, fill_masked, put_over, rearranged};
use crate::par::Threads;
use crate::sparse::{Combine, Described, IndexList, MaskSpec, MatrixPattern};
use crate::{Csr, Error, Pattern, Result};

/// A sparse matrix whose type is known at run time, in the memory of the CPU or of a GPU. Clones share their memory.
///
/// Rows and columns are at most 2⁶⁰. A dimension beyond 2³² − 1 is stored by its used indices, so memory and operations
/// depend on the entries alone: every [`Op`](super::Op) runs on the ranks of the used indices, on any machine. Such a
/// matrix is made by [`build_wide`](Self::build_wide), [`empty`](Self::empty) or an operation, and read by
/// [`extract_tuples_wide`](Self::extract_tuples_wide) and [`get`](Self::get); it has no
/// [`csr`](Self::csr), [`pattern`](Self::pattern) or [`values`](Self::values), and no plan.
#[derive(Clone, Debug)]
pub struct Matrix(Storage);

/// The memory that holds it.
#[derive(Clone, Debug)]
enum Storage {
    Host(Arc<dyn HostMatrix>),
    /// With its number of entries.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "for engines other than the processor"))]
    Remote(Box<dyn Remote>, usize),
}

/// A `Csr` of any type of values.
trait HostMatrix: Any + Send + Sync + std::fmt::Debug {
    fn ty(&self) -> Type;
    fn shape(&self) -> (usize, usize);
    fn nnz(&self) -> usize;
    /// Converts to compressed rows, for the methods below.
    fn compress(&self) -> Result<()>;
    fn pattern(&self) -> &Arc<Pattern>;
    fn values(&self) -> Slice<'_>;
    /// The values for writing, unless a clone of the matrix shares them.
    fn values_mut(&mut self) -> Option<SliceMut<'_>>;
    fn rearranged(&self, threads: &Threads, how: Rearrange<'_>) -> Result<Matrix>;
    /// Another handle of the same matrix.
    fn another(&self) -> Arc<dyn HostMatrix>;
    fn serialize(&self, to: &mut dyn Write) -> Result<()>;
    /// The pattern, in its current form.
    fn structure(&self) -> Result<MatrixPattern>;
    /// Sets the entry at (i, j), within the shape, to a single value of the matrix type, or removes it.
    fn edit(&mut self, i: usize, j: usize, x: Option<Slice<'_>>) -> Result<()>;
    /// Shape, number of entries and storage form, as text.
    fn described(&self) -> String;
    /// Whether it is a bitmap or full.
    fn has_dense_form(&self) -> bool;
    /// The entries as a vector indexed by linear position.
    fn places(&self, threads: &Threads) -> Result<Vector>;
    /// Retains the entries that the mask allows, in place; false if the form cannot be written in place.
    fn retain(&mut self, threads: &Threads, mask: MaskSpec<'_, MatrixPattern>) -> Result<bool>;
    /// Combines t into it in place; false if the form cannot be written in place.
    fn put(&mut self, threads: &Threads, t: &Matrix, combine: &Combine<'_>) -> Result<bool>;
    /// The union with t, of the same type, whose entries take precedence; both are sorted compressed rows.
    fn put_over(&self, threads: &Threads, t: &Matrix) -> Result<Matrix>;
    /// The matrix with the value s, of its type, at each position of the mask; both are sorted compressed rows.
    fn fill_masked(&self, threads: &Threads, s: Slice<'_>, mask: &Pattern) -> Result<Matrix>;
    /// The matrix with `a`, of its type, assigned to a part, where the mask allows; all are sorted compressed rows.
    fn assigned(
        &self,
        threads: &Threads,
        a: &Matrix,
        part: (&IndexList, &IndexList),
        mask: Option<(&Pattern, bool)>,
    ) -> Result<Matrix>;
    /// Adopts the result of a write that was not in place.
    fn replace(&mut self, written: &Matrix);
}
impl<T: Value> HostMatrix for Csr<T> {
    fn ty(&self) -> Type {
        T::TYPE
    }
    fn shape(&self) -> (usize, usize) {
        Csr::shape(self)
    }
    fn nnz(&self) -> usize {
        Csr::nnz(self)
    }
    fn compress(&self) -> Result<()> {
        self.compressed().map(drop)
    }
    fn pattern(&self) -> &Arc<Pattern> {
        Csr::pattern(self)
    }
    fn values(&self) -> Slice<'_> {
        Slice::of(Csr::values(self))
    }
    fn values_mut(&mut self) -> Option<SliceMut<'_>> {
        self.unshared_mut().map(SliceMut::of)
    }
    fn rearranged(&self, threads: &Threads, how: Rearrange<'_>) -> Result<Matrix> {
        Ok(rearranged(threads, self, how)?.into())
    }
    fn another(&self) -> Arc<dyn HostMatrix> {
        Arc::new(self.clone())
    }
    fn serialize(&self, to: &mut dyn Write) -> Result<()> {
        Csr::serialize(self, to)
    }
    fn structure(&self) -> Result<MatrixPattern> {
        Ok(self.settled()?.matrix_pattern())
    }
    fn edit(&mut self, i: usize, j: usize, x: Option<Slice<'_>>) -> Result<()> {
        match x.map(|x| x.get::<T>().and_then(<[T]>::first)) {
            Some(Some(&x)) => self.set(i, j, x).map(drop),
            Some(None) => Err(elsewhere("matrix")),
            None => Csr::remove(self, i, j).map(drop),
        }
    }
    fn described(&self) -> String {
        Described::described(self)
    }
    fn has_dense_form(&self) -> bool {
        self.as_row_major().is_some()
    }
    fn places(&self, threads: &Threads) -> Result<Vector> {
        Ok(self.to_row_major(threads)?.into())
    }
    fn retain(&mut self, threads: &Threads, mask: MaskSpec<'_, MatrixPattern>) -> Result<bool> {
        Csr::retain(self, threads, mask)
    }
    fn put(&mut self, threads: &Threads, t: &Matrix, combine: &Combine<'_>) -> Result<bool> {
        t.csr().map_or(Ok(false), |t| Csr::put(self, threads, t, combine))
    }
    fn put_over(&self, threads: &Threads, t: &Matrix) -> Result<Matrix> {
        Ok(put_over(threads, self, t.csr::<T>().ok_or_else(|| elsewhere("matrix"))?)?.into())
    }
    fn fill_masked(&self, threads: &Threads, s: Slice<'_>, mask: &Pattern) -> Result<Matrix> {
        let s = s.get::<T>().and_then(|s| s.first()).ok_or_else(|| elsewhere("scalar"))?;
        Ok(fill_masked(threads, self, *s, mask)?.into())
    }
    fn assigned(
        &self,
        threads: &Threads,
        a: &Matrix,
        part: (&IndexList, &IndexList),
        mask: Option<(&Pattern, bool)>,
    ) -> Result<Matrix> {
        let a = a.csr::<T>().ok_or_else(|| elsewhere("matrix"))?;
        Ok(assigned(threads, self, a, part, mask)?.into())
    }
    fn replace(&mut self, written: &Matrix) {
        if let Some(written) = written.csr::<T>() {
            Csr::replace(self, written.clone());
        }
    }
}

impl<T: Value> From<Csr<T>> for Matrix {
    fn from(a: Csr<T>) -> Self {
        let hold: Erase<T> = precompiled!(number held: Erase<T>);
        Self(Storage::Host(hold(a)))
    }
}
/// Erases the type of a matrix; instantiated where the type is known.
type Erase<T> = fn(Csr<T>) -> Arc<dyn HostMatrix>;
fn held<T: Value>(a: Csr<T>) -> Arc<dyn HostMatrix> {
    Arc::new(a)
}

impl Matrix {
    /// The matrix of a pattern and its values.
    /// # Errors
    /// [`Error::Length`] if there is not one value per entry; [`Error::Unsupported`] for structs.
    pub fn new(pattern: Arc<Pattern>, values: Array) -> Result<Self> {
        let ty = values.ty();
        with_type!(ty, T => {
            let values = values.into_vec::<T>().map_err(|_| not_made(ty))?;
            Ok(Csr::with_pattern(pattern, values)?.into())
        }, Err(not_made(ty)))
    }
    /// A matrix in the memory of another engine, with this number of entries.
    #[must_use]
    pub fn remote(there: Box<dyn Remote>, nnz: usize) -> Self {
        Self(Storage::Remote(there, nnz))
    }
    /// The object of another engine.
    #[must_use]
    pub fn as_remote(&self) -> Option<&dyn Remote> {
        match &self.0 {
            Storage::Remote(there, _) => Some(&**there),
            Storage::Host(_) => None,
        }
    }
    /// [`as_remote`](Self::as_remote) for writing by that engine, and the number of entries.
    pub(super) fn remote_mut(&mut self) -> Option<(&mut dyn Remote, &mut usize)> {
        match &mut self.0 {
            Storage::Remote(there, nnz) => Some((&mut **there, nnz)),
            Storage::Host(_) => None,
        }
    }
    fn held(&self) -> Result<&Arc<dyn HostMatrix>> {
        match &self.0 {
            Storage::Host(held) => Ok(held),
            Storage::Remote(there, _) => Err(there.unreadable("matrix")),
        }
    }
    /// The matrix in host memory, converted to compressed rows.
    fn rows(&self) -> Result<&Arc<dyn HostMatrix>> {
        let held = self.held()?;
        held.compress()?;
        Ok(held)
    }
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        match &self.0 {
            Storage::Host(held) => held.ty(),
            Storage::Remote(there, _) => there.ty(),
        }
    }
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match &self.0 {
            Storage::Host(held) => held.shape(),
            Storage::Remote(there, _) => there.shape(),
        }
    }
    /// Number of entries, stored zeros included.
    #[must_use]
    pub fn nnz(&self) -> usize {
        match &self.0 {
            Storage::Host(held) => held.nnz(),
            Storage::Remote(_, nnz) => *nnz,
        }
    }
    /// Whether it is in host memory.
    #[must_use]
    pub fn is_on_host(&self) -> bool {
        match &self.0 {
            Storage::Host(_) => true,
            Storage::Remote(there, _) => there.is_on_host(),
        }
    }
    /// The pattern; `None` for a matrix on a GPU.
    #[must_use]
    pub fn pattern(&self) -> Option<&Arc<Pattern>> {
        self.rows().ok().map(|held| held.pattern())
    }
    /// The values, row by row; `None` for a matrix on a GPU.
    #[must_use]
    pub fn values(&self) -> Option<Slice<'_>> {
        self.rows().ok().map(|held| held.values())
    }
    /// The matrix as a `Csr`, if its values are of type `T` and it is in host memory; copies nothing.
    #[must_use]
    pub fn csr<T: Value>(&self) -> Option<&Csr<T>> {
        (&**self.held().ok()? as &dyn Any).downcast_ref()
    }
    /// The matrix in host memory; returned unchanged if it is there already.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Device`].
    pub fn download(&self) -> Result<Self> {
        match &self.0 {
            Storage::Host(_) => Ok(self.clone()),
            Storage::Remote(there, _) => {
                there.download()?.downcast().map(|here| *here).map_err(|_| elsewhere("matrix"))
            }
        }
    }
    /// Whether both share their memory.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Storage::Host(a), Storage::Host(b)) => Arc::ptr_eq(a, b),
            (Storage::Remote(a, _), Storage::Remote(b, _)) => a.is(&**b),
            _ => false,
        }
    }
    /// As an operand of CPU kernels.
    pub(super) fn operand(&self) -> Result<Operand<'_>> {
        let held = self.rows()?;
        Ok(Operand { pattern: held.pattern(), values: held.values(), csr: &**held as &dyn Any })
    }
    /// The matrix with its entries permuted or filtered.
    pub(super) fn rearranged(&self, threads: &Threads, how: Rearrange<'_>) -> Result<Self> {
        self.rows()?.rearranged(threads, how)
    }
    /// The union with t, of the same type, whose entries take precedence.
    pub(super) fn put_over(&self, threads: &Threads, t: &Self) -> Result<Self> {
        self.sorted(threads)?.rows()?.put_over(threads, &t.sorted(threads)?)
    }
    /// The matrix with the value s, of its type, at each position of the mask.
    pub(super) fn fill_masked(&self, threads: &Threads, s: Slice<'_>, mask: &Self) -> Result<Self> {
        self.sorted(threads)?.rows()?.fill_masked(threads, s, mask.sorted(threads)?.rows()?.pattern())
    }
    /// The matrix with `a`, of its type, assigned to the part (I, J), where the mask allows.
    pub(super) fn assigned(
        &self,
        threads: &Threads,
        a: &Self,
        part: (&IndexList, &IndexList),
        mask: Option<(&Self, bool)>,
    ) -> Result<Self> {
        let (c, a) = (self.sorted(threads)?, a.sorted(threads)?);
        let mask = mask.map(|(mask, complement)| Ok::<_, Error>((mask.sorted(threads)?, complement))).transpose()?;
        let mask = match &mask {
            Some((mask, complement)) => Some((&**mask.rows()?.pattern(), *complement)),
            None => None,
        };
        c.rows()?.assigned(threads, &a, part, mask)
    }
    /// The matrix with sorted rows; returned unchanged if they are.
    pub(super) fn sorted(&self, threads: &Threads) -> Result<Self> {
        if self.rows()?.pattern().is_sorted() { Ok(self.clone()) } else { self.rearranged(threads, Rearrange::Sort) }
    }
    /// For writing in place; a write copies shared parts.
    fn held_mut(&mut self) -> Result<&mut dyn HostMatrix> {
        let Storage::Host(held) = &mut self.0 else { return Err(elsewhere("matrix")) };
        if Arc::get_mut(held).is_none() {
            *held = held.another();
        }
        Arc::get_mut(held).ok_or_else(|| elsewhere("matrix"))
    }
    /// Serializes a matrix in host memory.
    pub(super) fn write_to(&self, to: &mut dyn Write) -> Result<()> {
        self.held()?.serialize(to)
    }
    /// The pattern, in its current form.
    pub(super) fn structure(&self) -> Result<MatrixPattern> {
        self.held()?.structure()
    }
    /// Shape, number of entries and storage form: `2×3 with 4 entries as compressed rows`; on a GPU without the form.
    #[must_use]
    pub fn described(&self) -> String {
        let (m, n) = self.shape();
        self.held().map_or_else(|_| format!("{m}×{n} with {} entries", self.nnz()), |held| held.described())
    }
    /// Sets the entry at (i, j), within the shape, to a single value of the matrix type, or removes it.
    pub(super) fn edit(&mut self, i: usize, j: usize, x: Option<Slice<'_>>) -> Result<()> {
        self.held_mut()?.edit(i, j, x)
    }
    /// Whether it is a bitmap or full, and in host memory.
    pub(super) fn has_dense_form(&self) -> bool {
        self.held().is_ok_and(|held| held.has_dense_form())
    }
    /// The entries as a vector indexed by i·n + j for (i, j); copies nothing of a bitmap or a full matrix.
    pub(super) fn places(&self, threads: &Threads) -> Result<Vector> {
        self.held()?.places(threads)
    }
    /// The matrix of a vector of its entries, indexed by linear position.
    pub(super) fn from_row_major(shape: (usize, usize), entries: &Vector) -> Result<Self> {
        let ty = entries.ty();
        with_type!(ty, T => {
            let typed = entries.typed::<T>().ok_or_else(|| elsewhere("vector"))?;
            Ok(Csr::from_row_major(shape, typed.clone())?.into())
        }, Err(not_made(ty)))
    }
    /// Retains the entries that the mask, of the same shape, allows, in place; false if the form cannot be written in
    /// place.
    pub(super) fn retain(&mut self, threads: &Threads, mask: MaskSpec<'_, MatrixPattern>) -> Result<bool> {
        let (lhs, rhs) = (self.shape(), mask.pattern.shape());
        if lhs != rhs {
            return Err(Error::Shape { op: "mask", lhs, rhs });
        }
        self.held_mut()?.retain(threads, mask)
    }
    /// Combines t, of the same type, into it: the union, with `combine` where both have an entry; false if the form
    /// cannot be written in place.
    pub(super) fn put(&mut self, threads: &Threads, t: &Self, combine: &Combine<'_>) -> Result<bool> {
        self.held_mut()?.put(threads, t, combine)
    }
    /// Adopts the result of a write that was not in place; after several of these it switches to a form that can be
    /// written in place.
    pub(super) fn replace(&mut self, written: &Self) -> Result<()> {
        self.held_mut()?.replace(written);
        Ok(())
    }
    /// Pattern and values for writing, if the matrix is not shared.
    pub(super) fn unshared(&mut self) -> Option<(Arc<Pattern>, SliceMut<'_>)> {
        match &mut self.0 {
            Storage::Host(held) => {
                let held = Arc::get_mut(held)?;
                held.compress().ok()?;
                let pattern = Arc::clone(held.pattern());
                Some((pattern, held.values_mut()?))
            }
            Storage::Remote(..) => None,
        }
    }
    /// Name of the machine whose memory holds it, as of [`Machine::name`](super::Machine::name).
    #[must_use]
    pub fn machine(&self) -> String {
        self.as_remote().map_or_else(|| "cpu".into(), Remote::engine)
    }
    /// Sum of the values in storage order, for printing: exact for integers within i128, the number of true values for
    /// bool, `re+imi` for complex numbers.
    /// # Errors
    /// [`Error::Argument`] for a matrix on a GPU.
    pub fn sum(&self) -> Result<Sum> {
        let values = self.rows()?.values();
        macro_rules! integers {
            ($($variant:ident $t:ty),*) => {$(
                if let Some(x) = values.get::<$t>() {
                    return Ok(Sum::Integer(x.iter().map(|&x| i128::from(x)).sum()));
                }
            )*};
        }
        for_each_type!(bits, integers!());
        macro_rules! others {
            ($($t:ty: $variant:ident $one:expr;)*) => {$(
                if let Some(x) = values.get::<$t>() {
                    // `Iterator::sum` of no floats is −0.
                    return Ok(Sum::$variant(x.iter().map($one).fold(Default::default(), |sum, x| sum + x)));
                }
            )*};
        }
        others! {
            f32: Real |&x| f64::from(x);
            f64: Real |&x| x;
            Complex<f32>: Complex |x| Complex::new(f64::from(x.re), f64::from(x.im));
            Complex<f64>: Complex |&x| x;
        }
        Err(not_made(values.ty()))
    }
}

/// A sum of values of any type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// For integers and truth values.
    Integer(i128),
    /// For floats.
    Real(f64),
    /// For complex numbers.
    Complex(Complex<f64>),
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(x) => x.fmt(f),
            Self::Real(x) => x.fmt(f),
            Self::Complex(x) => x.fmt(f),
        }
    }
}

pub(super) fn not_made(ty: Type) -> Error {
    Error::Unsupported { what: format!("a matrix of {ty} made at run time"), why: "only numbers are supported".into() }
}

//! A matrix of any type of values, wherever it is.

use std::any::Any;
use std::io::Write;
use std::sync::Arc;

use super::cast::{cast, wrapping_cast};
use super::remote::{Remote, elsewhere};
use super::vector::Vector;
use crate::algebra::{Array, Slice, SliceMut, Type, Value, for_each_type};
use crate::kernels::{Operand, precompiled, with_type};
use crate::num_complex::Complex;
use crate::ops::by_formula::{Move, assigned, filled_where, moved, put_over};
use crate::par::Threads;
use crate::sparse::{Combine, Described, IndexList, MaskSpec, MatrixPattern};
use crate::{Csr, Error, Pattern, Result};

/// A sparse matrix whose type is known at run time, in the memory of the processor or of a GPU. Cloning it copies
/// nothing.
#[derive(Clone, Debug)]
pub struct Matrix(Place);

/// Where it is.
#[derive(Clone, Debug)]
enum Place {
    Host(Arc<dyn Held>),
    /// With as many entries.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "for engines other than the processor"))]
    Remote(Box<dyn Remote>, usize),
}

/// A `Csr` of any type of values.
trait Held: Any + Send + Sync + std::fmt::Debug {
    fn ty(&self) -> Type;
    fn shape(&self) -> (usize, usize);
    fn nnz(&self) -> usize;
    /// Makes compressed rows of another form, for the methods that follow.
    fn compress(&self) -> Result<()>;
    fn pattern(&self) -> &Arc<Pattern>;
    fn values(&self) -> Slice<'_>;
    /// The values to be written, if no clone of the matrix shares them.
    fn values_mut(&mut self) -> Option<SliceMut<'_>>;
    fn moved(&self, threads: &Threads, how: Move<'_>) -> Result<Matrix>;
    /// Another handle of the same matrix.
    fn another(&self) -> Arc<dyn Held>;
    fn serialize(&self, to: &mut dyn Write) -> Result<()>;
    /// The places of the entries, in the form that they have.
    fn structure(&self) -> Result<MatrixPattern>;
    /// Puts an entry, a single value of its type, at (i, j) within its shape, or takes away the one that is there.
    fn edit(&mut self, i: usize, j: usize, x: Option<Slice<'_>>) -> Result<()>;
    /// Shape, entries and form in words.
    fn described(&self) -> String;
    /// Whether it is a bitmap or full.
    fn has_places(&self) -> bool;
    /// The entries by their places.
    fn places(&self, threads: &Threads) -> Result<Vector>;
    /// Keeps the entries that the mask allows, in place; false if the form is not written in place.
    fn retain(&mut self, threads: &Threads, mask: MaskSpec<'_, MatrixPattern>) -> Result<bool>;
    /// Joins t to it in place; false if the form is not written in place.
    fn put(&mut self, threads: &Threads, t: &Matrix, combine: &Combine<'_>) -> Result<bool>;
    /// The entries of t, of its type, and elsewhere its own; both are compressed rows, sorted.
    fn put_over(&self, threads: &Threads, t: &Matrix) -> Result<Matrix>;
    /// The matrix with the value s, of its type, at each place of the mask; both are compressed rows, sorted.
    fn filled_where(&self, threads: &Threads, s: Slice<'_>, mask: &Pattern) -> Result<Matrix>;
    /// The matrix with `a`, of its type, as a part, where the mask allows; all are compressed rows, sorted.
    fn assigned(
        &self,
        threads: &Threads,
        a: &Matrix,
        part: (&IndexList, &IndexList),
        mask: Option<(&Pattern, bool)>,
    ) -> Result<Matrix>;
    /// Takes what a write that was not in place made of it.
    fn replace(&mut self, written: &Matrix);
}
impl<T: Value> Held for Csr<T> {
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
    fn moved(&self, threads: &Threads, how: Move<'_>) -> Result<Matrix> {
        Ok(moved(threads, self, how)?.into())
    }
    fn another(&self) -> Arc<dyn Held> {
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
    fn has_places(&self) -> bool {
        self.as_places().is_some()
    }
    fn places(&self, threads: &Threads) -> Result<Vector> {
        Ok(self.to_places(threads)?.into())
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
    fn filled_where(&self, threads: &Threads, s: Slice<'_>, mask: &Pattern) -> Result<Matrix> {
        let s = s.get::<T>().and_then(|s| s.first()).ok_or_else(|| elsewhere("scalar"))?;
        Ok(filled_where(threads, self, *s, mask)?.into())
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
        let hold: Hold<T> = precompiled!(number held: Hold<T>);
        Self(Place::Host(hold(a)))
    }
}
/// What forgets the type of a matrix, and brings what is to be known of it.
type Hold<T> = fn(Csr<T>) -> Arc<dyn Held>;
fn held<T: Value>(a: Csr<T>) -> Arc<dyn Held> {
    Arc::new(a)
}

impl Matrix {
    /// These values at the places of a pattern.
    /// # Errors
    /// [`Error::Length`] if there is not one value per entry; [`Error::Unsupported`] for structs.
    pub fn new(pattern: Arc<Pattern>, values: Array) -> Result<Self> {
        let ty = values.ty();
        with_type!(ty, T => {
            let values = values.into_vec::<T>().map_err(|_| not_made(ty))?;
            Ok(Csr::with_pattern(pattern, values)?.into())
        }, Err(not_made(ty)))
    }
    /// A matrix in the memory of another engine, of so many entries.
    #[must_use]
    pub fn remote(there: Box<dyn Remote>, nnz: usize) -> Self {
        Self(Place::Remote(there, nnz))
    }
    /// What another engine holds.
    #[must_use]
    pub fn as_remote(&self) -> Option<&dyn Remote> {
        match &self.0 {
            Place::Remote(there, _) => Some(&**there),
            Place::Host(_) => None,
        }
    }
    /// The same, to be written by it.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "for engines other than the processor"))]
    pub(super) fn remote_mut(&mut self) -> Option<&mut dyn Remote> {
        match &mut self.0 {
            Place::Remote(there, _) => Some(&mut **there),
            Place::Host(_) => None,
        }
    }
    fn held(&self) -> Result<&Arc<dyn Held>> {
        match &self.0 {
            Place::Host(held) => Ok(held),
            Place::Remote(..) => Err(elsewhere("matrix")),
        }
    }
    /// The matrix in this memory, its compressed rows made.
    fn rows(&self) -> Result<&Arc<dyn Held>> {
        let held = self.held()?;
        held.compress()?;
        Ok(held)
    }
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        match &self.0 {
            Place::Host(held) => held.ty(),
            Place::Remote(there, _) => there.ty(),
        }
    }
    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match &self.0 {
            Place::Host(held) => held.shape(),
            Place::Remote(there, _) => there.shape(),
        }
    }
    /// Entries, stored zeros included.
    #[must_use]
    pub fn nnz(&self) -> usize {
        match &self.0 {
            Place::Host(held) => held.nnz(),
            Place::Remote(_, nnz) => *nnz,
        }
    }
    /// Whether it is in the processor's memory.
    #[must_use]
    pub fn is_on_host(&self) -> bool {
        matches!(self.0, Place::Host(_))
    }
    /// Where it has entries; `None` for a matrix on a GPU.
    #[must_use]
    pub fn pattern(&self) -> Option<&Arc<Pattern>> {
        self.rows().ok().map(|held| held.pattern())
    }
    /// The values, row by row; `None` for a matrix on a GPU.
    #[must_use]
    pub fn values(&self) -> Option<Slice<'_>> {
        self.rows().ok().map(|held| held.values())
    }
    /// The matrix as a `Csr`, if its values are of type `T` and it is in the processor's memory; nothing is copied.
    #[must_use]
    pub fn csr<T: Value>(&self) -> Option<&Csr<T>> {
        (&**self.held().ok()? as &dyn Any).downcast_ref()
    }
    /// The matrix in the memory of the processor; itself if it is there.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Device`].
    pub fn download(&self) -> Result<Self> {
        match &self.0 {
            Place::Host(_) => Ok(self.clone()),
            Place::Remote(there, _) => there.download()?.downcast().map(|here| *here).map_err(|_| elsewhere("matrix")),
        }
    }
    /// Whether both are one matrix: they share their memory.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Place::Host(a), Place::Host(b)) => Arc::ptr_eq(a, b),
            (Place::Remote(a, _), Place::Remote(b, _)) => a.is(&**b),
            _ => false,
        }
    }
    /// As the kernels of the processor take it.
    pub(super) fn operand(&self) -> Result<Operand<'_>> {
        let held = self.rows()?;
        Ok(Operand { pattern: held.pattern(), values: held.values(), csr: &**held as &dyn Any })
    }
    /// The matrix with its entries moved.
    pub(super) fn moved(&self, threads: &Threads, how: Move<'_>) -> Result<Self> {
        self.rows()?.moved(threads, how)
    }
    /// The entries of t, of its type, and elsewhere its own.
    pub(super) fn put_over(&self, threads: &Threads, t: &Self) -> Result<Self> {
        self.sorted(threads)?.rows()?.put_over(threads, &t.sorted(threads)?)
    }
    /// The matrix with the value s, of its type, at each place of the mask.
    pub(super) fn filled_where(&self, threads: &Threads, s: Slice<'_>, mask: &Self) -> Result<Self> {
        self.sorted(threads)?.rows()?.filled_where(threads, s, mask.sorted(threads)?.rows()?.pattern())
    }
    /// The matrix with `a`, of its type, as the part (I, J), where the mask allows.
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
    /// The matrix with sorted rows; itself if they are.
    pub(super) fn sorted(&self, threads: &Threads) -> Result<Self> {
        if self.rows()?.pattern().is_sorted() { Ok(self.clone()) } else { self.moved(threads, Move::Sort) }
    }
    /// To be written in place; what is written and another owner shares is copied then.
    fn held_mut(&mut self) -> Result<&mut dyn Held> {
        let Place::Host(held) = &mut self.0 else { return Err(elsewhere("matrix")) };
        if Arc::get_mut(held).is_none() {
            *held = held.another();
        }
        Arc::get_mut(held).ok_or_else(|| elsewhere("matrix"))
    }
    /// Writes a matrix of this memory.
    pub(super) fn write_to(&self, to: &mut dyn Write) -> Result<()> {
        self.held()?.serialize(to)
    }
    /// The places of the entries, in the form that they have.
    pub(super) fn structure(&self) -> Result<MatrixPattern> {
        self.held()?.structure()
    }
    /// Shape, entries and form in words: `2×3 with 4 entries as compressed rows`; on a GPU without the form.
    #[must_use]
    pub fn described(&self) -> String {
        let (m, n) = self.shape();
        self.held().map_or_else(|_| format!("{m}×{n} with {} entries", self.nnz()), |held| held.described())
    }
    /// Puts an entry, a single value of its type, at (i, j) within its shape, or takes away the one that is there.
    pub(super) fn edit(&mut self, i: usize, j: usize, x: Option<Slice<'_>>) -> Result<()> {
        self.held_mut()?.edit(i, j, x)
    }
    /// Whether it is a bitmap or full, and on the host.
    pub(super) fn has_places(&self) -> bool {
        self.held().is_ok_and(|held| held.has_places())
    }
    /// The entries by their places, i·n + j for (i, j); nothing is copied of a bitmap or a full matrix.
    pub(super) fn places(&self, threads: &Threads) -> Result<Vector> {
        self.held()?.places(threads)
    }
    /// Of a vector with an entry for each of the matrix's, by its place.
    pub(super) fn from_places(shape: (usize, usize), entries: &Vector) -> Result<Self> {
        let ty = entries.ty();
        with_type!(ty, T => {
            let typed = entries.typed::<T>().ok_or_else(|| elsewhere("vector"))?;
            Ok(Csr::from_places(shape, typed.clone())?.into())
        }, Err(not_made(ty)))
    }
    /// Keeps the entries that the mask, which has the same shape, allows, in place; false if its form is not written in
    /// place.
    pub(super) fn retain(&mut self, threads: &Threads, mask: MaskSpec<'_, MatrixPattern>) -> Result<bool> {
        let (lhs, rhs) = (self.shape(), mask.pattern.shape());
        if lhs != rhs {
            return Err(Error::Shape { op: "mask", lhs, rhs });
        }
        self.held_mut()?.retain(threads, mask)
    }
    /// The entries of t, of the same type, and elsewhere its own; `combine` of both where both have one; false if its
    /// form is not written in place.
    pub(super) fn put(&mut self, threads: &Threads, t: &Self, combine: &Combine<'_>) -> Result<bool> {
        self.held_mut()?.put(threads, t, combine)
    }
    /// Takes what a write that was not in place made of it; enough of these, and its form becomes one that is written
    /// in place.
    pub(super) fn replace(&mut self, written: &Self) -> Result<()> {
        self.held_mut()?.replace(written);
        Ok(())
    }
    /// Pattern and values to be written, if nobody else holds the matrix.
    pub(super) fn unshared(&mut self) -> Option<(Arc<Pattern>, SliceMut<'_>)> {
        match &mut self.0 {
            Place::Host(held) => {
                let held = Arc::get_mut(held)?;
                held.compress().ok()?;
                let pattern = Arc::clone(held.pattern());
                Some((pattern, held.values_mut()?))
            }
            Place::Remote(..) => None,
        }
    }
    /// Name of the machine in whose memory it is, as of [`Machine::name`](super::Machine::name).
    #[must_use]
    pub fn machine(&self) -> String {
        self.as_remote().map_or_else(|| "cpu".into(), Remote::engine)
    }
    /// The same entries with values of another type: as floats the nearest, as integers the same numbers, as bool
    /// whether they are not 0. A matrix of that type is itself.
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::{Csr, runtime::Matrix};
    /// let a = Matrix::from(Csr::<f64>::new(1, 2, vec![0, 2], vec![0, 1], vec![7.0, 300.0])?);
    /// assert_eq!(a.cast(Type::I16)?.csr::<i16>().unwrap().values(), [7, 300]);
    /// assert!(a.cast(Type::I8).unwrap_err().to_string().contains("entry (0, 1), 300.0 as i8"));
    /// assert_eq!(a.wrapping_cast(Type::I8)?.csr::<i8>().unwrap().values(), [7, 127]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Unsupported`] for an integer beyond the type, a float that is no such integer, a finite one that would
    /// be infinite, each named with its place; for structs, and from complex numbers to others; [`Error::OutOfMemory`].
    pub fn cast(&self, ty: Type) -> Result<Self> {
        self.converted(ty, |pattern, values| cast(values, ty, |p| format!("entry {:?}, ", place_of(pattern, p))))
    }
    /// The same entries with values of another type, by the rules of `as` in Rust: integers wrap, floats saturate and
    /// NaN becomes 0; to bool, whatever is not 0 is true. A matrix of that type is itself.
    /// # Errors
    /// [`Error::Unsupported`] for structs, and from complex numbers to others; [`Error::OutOfMemory`].
    pub fn wrapping_cast(&self, ty: Type) -> Result<Self> {
        self.converted(ty, |_, values| wrapping_cast(values, ty))
    }
    fn converted(&self, ty: Type, cast: impl FnOnce(&Pattern, Slice<'_>) -> Result<Array>) -> Result<Self> {
        if ty == self.ty() {
            return Ok(self.clone());
        }
        let held = self.rows()?;
        Self::new(Arc::clone(held.pattern()), cast(held.pattern(), held.values())?)
    }
    /// Sum of the values in their order, as a number to print: exact for integers within i128, of bool the number of
    /// those that are true, of complex numbers `re+imi`.
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
                    // Not `sum`, which is −0 of no floats.
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

/// Row and column of the entry at a position.
fn place_of(pattern: &Pattern, position: usize) -> (usize, u32) {
    (pattern.row_ptr().partition_point(|&p| p <= position) - 1, pattern.col_idx()[position])
}

/// A sum of values of any type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// Of integers and truth values.
    Integer(i128),
    /// Of floats.
    Real(f64),
    /// Of complex numbers.
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
    Error::Unsupported { what: format!("a matrix of {ty} made at run time"), why: "its values are numbers".into() }
}

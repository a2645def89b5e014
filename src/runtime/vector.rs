//! A vector of any type of values, wherever it is.

use std::any::Any;
use std::io::Write;
use std::sync::Arc;

use super::cast::{check_held, wrapping_cast};
use super::remote::{Remote, elsewhere};
use crate::algebra::{Array, Type, Value};
use crate::kernels::{precompiled, with_type};
use crate::ops::by_formula::{AnyVector, View};
use crate::par::{Threads, collected};
use crate::sparse::{Combine, Described, IndexList, MaskSpec, VectorPattern};
use crate::{Error, Result};

/// A vector whose type is known at run time, with entries at some places or at all, in the memory of the processor or
/// of a GPU. Cloning it copies nothing.
///
/// ```
/// use sparring::algebra::Type;
/// use sparring::runtime::Vector;
/// let x = Vector::from(sparring::Vector::<f64>::new(5, vec![1, 4], vec![2.0, 3.0])?);
/// assert_eq!((x.ty(), x.len(), x.nvals()?), (Type::F64, 5, 2));
/// let x = x.cast(Type::I8)?;
/// assert_eq!(x.typed::<i8>().unwrap().get(1), Some(&2));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Vector(Place);

/// Where it is.
#[derive(Clone, Debug)]
enum Place {
    Host(Arc<dyn Held>),
    Remote(Box<dyn Remote>),
}

/// A [`Vector`](crate::Vector) of any type of values.
trait Held: Any + Send + Sync + std::fmt::Debug {
    fn view(&self) -> View<'_>;
    /// Another handle of the same vector.
    fn another(&self) -> Arc<dyn Held>;
    fn serialize(&self, to: &mut dyn Write) -> Result<()>;
    fn retain(&mut self, mask: MaskSpec<'_, VectorPattern>) -> Result<()>;
    fn put(&mut self, threads: &Threads, t: View<'_>, combine: Option<&Combine<'_>>) -> Result<()>;
}
impl<T: Value> Held for crate::Vector<T> {
    fn view(&self) -> View<'_> {
        View::of(self)
    }
    fn another(&self) -> Arc<dyn Held> {
        Arc::new(self.clone())
    }
    fn serialize(&self, to: &mut dyn Write) -> Result<()> {
        crate::Vector::serialize(self, to)
    }
    fn retain(&mut self, mask: MaskSpec<'_, VectorPattern>) -> Result<()> {
        crate::Vector::retain(self, mask)
    }
    fn put(&mut self, threads: &Threads, t: View<'_>, combine: Option<&Combine<'_>>) -> Result<()> {
        self.put_values(threads, t.pattern(), t.values(), combine)
    }
}

impl<T: Value> From<crate::Vector<T>> for Vector {
    fn from(x: crate::Vector<T>) -> Self {
        let hold: Hold<T> = precompiled!(number held: Hold<T>);
        Self(Place::Host(hold(x)))
    }
}
/// What forgets the type of a vector, and brings what is to be known of it.
type Hold<T> = fn(crate::Vector<T>) -> Arc<dyn Held>;
fn held<T: Value>(x: crate::Vector<T>) -> Arc<dyn Held> {
    Arc::new(x)
}

impl Vector {
    /// Of `len` places, with these values at increasing places.
    /// # Errors
    /// Those of [`SparseVec::new`](crate::sparse::SparseVec::new); [`Error::Unsupported`] for structs.
    pub fn new(len: usize, places: Vec<u32>, values: Array) -> Result<Self> {
        Self::of(AnyVector::list(len, places, values))
    }
    /// What an operation made.
    pub(super) fn of(made: AnyVector) -> Result<Self> {
        let ty = made.values().ty();
        with_type!(ty, T => Ok(made.typed::<T>()?.into()), Err(Error::Unsupported {
            what: format!("a vector of {ty} made at run time"),
            why: "its values are numbers".into(),
        }))
    }
    /// A vector in the memory of another engine.
    #[must_use]
    pub fn remote(there: Box<dyn Remote>) -> Self {
        Self(Place::Remote(there))
    }
    /// What another engine holds.
    #[must_use]
    pub fn as_remote(&self) -> Option<&dyn Remote> {
        match &self.0 {
            Place::Remote(there) => Some(&**there),
            Place::Host(_) => None,
        }
    }
    fn held(&self) -> Result<&Arc<dyn Held>> {
        match &self.0 {
            Place::Host(held) => Ok(held),
            Place::Remote(..) => Err(elsewhere("vector")),
        }
    }
    /// As the operations of the processor take it.
    pub(super) fn view(&self) -> Result<View<'_>> {
        Ok(self.held()?.view())
    }
    /// Writes a vector of this memory.
    pub(super) fn write_to(&self, to: &mut dyn Write) -> Result<()> {
        self.held()?.serialize(to)
    }
    /// To be written in place; what is written and another owner shares is copied then.
    fn held_mut(&mut self) -> Result<&mut dyn Held> {
        let Place::Host(held) = &mut self.0 else { return Err(elsewhere("vector")) };
        if Arc::get_mut(held).is_none() {
            *held = held.another();
        }
        Arc::get_mut(held).ok_or_else(|| elsewhere("vector"))
    }
    /// Keeps the entries that the mask, which has the same length, allows.
    pub(super) fn retain(&mut self, mask: MaskSpec<'_, VectorPattern>) -> Result<()> {
        let (found, expected) = (mask.pattern.len(), self.len());
        if found != expected {
            return Err(Error::Shape { op: "mask", lhs: (expected, 1), rhs: (found, 1) });
        }
        self.held_mut()?.retain(mask)
    }
    /// The entries that the mask allows.
    pub(super) fn retained(&self, mask: MaskSpec<'_, VectorPattern>) -> Result<Self> {
        let mut kept = self.clone();
        kept.retain(mask)?;
        Ok(kept)
    }
    /// The entries of t, and elsewhere its own; with `combine` both where both have one.
    pub(super) fn put(&mut self, threads: &Threads, t: &Self, combine: Option<&Combine<'_>>) -> Result<()> {
        if self.view()?.pattern().nnz() == 0 {
            *self = t.clone();
            return Ok(());
        }
        self.held_mut()?.put(threads, t.view()?, combine)
    }
    /// Length, entries and form in words: `5 places with 2 entries as a list`; on a GPU the length alone.
    #[must_use]
    pub fn described(&self) -> String {
        self.view().map_or_else(|_| format!("{} places", self.len()), |view| view.pattern().described())
    }
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        match &self.0 {
            Place::Host(held) => held.view().values().ty(),
            Place::Remote(there) => there.ty(),
        }
    }
    /// Places, with or without an entry.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Place::Host(held) => held.view().len(),
            Place::Remote(there) => there.shape().0,
        }
    }
    /// Whether there are no places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Entries, stored zeros included. A GPU may have to count them.
    /// # Errors
    /// [`Error::Device`].
    pub fn nvals(&self) -> Result<usize> {
        match &self.0 {
            Place::Host(held) => Ok(held.view().pattern().nnz()),
            Place::Remote(there) => there.nnz(),
        }
    }
    /// The vector in the memory of the processor; itself if it is there.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Device`].
    pub fn download(&self) -> Result<Self> {
        match &self.0 {
            Place::Host(_) => Ok(self.clone()),
            Place::Remote(there) => there.download()?.downcast().map(|here| *here).map_err(|_| elsewhere("vector")),
        }
    }
    /// Whether it is in the processor's memory.
    #[must_use]
    pub fn is_on_host(&self) -> bool {
        matches!(self.0, Place::Host(_))
    }
    /// The vector by its type, if its values are of type `T` and it is in the processor's memory; nothing is copied.
    #[must_use]
    pub fn typed<T: Value>(&self) -> Option<&crate::Vector<T>> {
        (&**self.held().ok()? as &dyn Any).downcast_ref()
    }
    /// Places and values of the entries, places increasing.
    /// # Errors
    /// [`Error::Argument`] for a vector on a GPU; [`Error::OutOfMemory`].
    pub fn entries(&self) -> Result<(Vec<u32>, Array)> {
        self.held()?.view().entries(&Threads::current())
    }
    /// The values of the entries, places increasing, as a list of indices: what `f(f(i)) min= m(i)` reads and writes by.
    ///
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{BinaryOp, Machine, Op, Vector};
    /// use sparring::Cpu;
    /// let cpu = Machine::from(Cpu::new());
    /// let parents = Vector::from(sparring::Vector::<u32>::full(vec![2, 2, 0])?);
    /// let list = parents.to_index_list()?;
    /// let grandparents: Vector = cpu.call(Op::Extract(&list, &sparring::runtime::IndexList::all()), &parents).eval()?;
    /// assert_eq!(grandparents.typed::<u32>().unwrap().as_full(), Some(&[0, 0, 2][..]));
    /// let min = BinaryOp::new("min", Type::U32)?;
    /// let mut f = parents.clone();
    /// cpu.call(Op::Scatter(&list, 3, &min), &grandparents).accum(&min).into(&mut f)?;
    /// assert_eq!(f.typed::<u32>().unwrap().as_full(), Some(&[2, 2, 0][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// Cost: O(entries). The list of a vector on a GPU stays there, for operations of that GPU.
    /// # Errors
    /// [`Error::Argument`] for a value that is no index: a negative one, or no whole number; [`Error::OutOfMemory`].
    pub fn to_index_list(&self) -> Result<IndexList> {
        if let Some(list) = self.as_remote().map(Remote::index_list).transpose()?.flatten() {
            return Ok(list);
        }
        let (_, indices) = self.download()?.cast(Type::U64)?.entries()?;
        let none = || Error::Argument { name: "indices", message: "they are no whole numbers".into() };
        let indices = indices.slice().get::<u64>().ok_or_else(none)?;
        Ok(collected(indices.len(), indices.iter().map(|&i| i as usize), "a list of indices")?.into())
    }
    /// The same entries with values of another type, by the rules of [`Matrix::cast`](super::Matrix::cast). A vector of
    /// that type is itself.
    /// # Errors
    /// As there.
    pub fn cast(&self, ty: Type) -> Result<Self> {
        if ty == self.ty() {
            return Ok(self.clone());
        }
        // A bitmap has values where there is no entry too.
        let (places, values) = self.entries()?;
        check_held(values.slice(), ty, |p| format!("entry {}, ", places[p]))?;
        self.wrapping_cast(ty)
    }
    /// The same entries with values of another type, by the rules of
    /// [`Matrix::wrapping_cast`](super::Matrix::wrapping_cast). A vector of that type is itself.
    /// # Errors
    /// As there.
    pub fn wrapping_cast(&self, ty: Type) -> Result<Self> {
        if ty == self.ty() {
            return Ok(self.clone());
        }
        let view = self.held()?.view();
        Self::of(view.with(wrapping_cast(view.values(), ty)?))
    }
}

//! A vector of any value type, in any memory.

use std::any::Any;
use std::io::Write;
use std::sync::Arc;

use super::remote::{Remote, elsewhere};
use crate::algebra::{Array, Type, Value};
use crate::kernels::{precompiled, with_type};
use crate::ops::by_formula::{AnyVector, View};
use crate::par::{Threads, collected};
use crate::sparse::{Combine, Described, IndexList, MaskSpec, VectorPattern};
use crate::{Error, Result};

/// A sparse or full vector whose type is known at run time, in the memory of the CPU or of a GPU. Clones share their
/// memory.
///
/// The length is at most 2⁶⁰; beyond 2³² − 1 the used indices are stored, as for a [`Matrix`](super::Matrix). Such a
/// vector is made by [`build`](Self::build), [`from_coo_wide`](Self::from_coo_wide), [`empty`](Self::empty) or an
/// operation, and read by [`extract_tuples_wide`](Self::extract_tuples_wide) and [`get`](Self::get).
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
pub struct Vector(Storage);

/// The memory that holds it.
#[derive(Clone, Debug)]
enum Storage {
    Host(Arc<dyn HostVector>),
    Remote(Box<dyn Remote>),
}

/// A [`Vector`](crate::Vector) of any type of values.
trait HostVector: Any + Send + Sync + std::fmt::Debug {
    fn view(&self) -> View<'_>;
    /// Another handle of the same vector.
    fn another(&self) -> Arc<dyn HostVector>;
    fn serialize(&self, to: &mut dyn Write) -> Result<()>;
    fn retain(&mut self, mask: MaskSpec<'_, VectorPattern>) -> Result<()>;
    fn put(&mut self, threads: &Threads, t: View<'_>, combine: Option<&Combine<'_>>) -> Result<()>;
}
impl<T: Value> HostVector for crate::Vector<T> {
    fn view(&self) -> View<'_> {
        View::of(self)
    }
    fn another(&self) -> Arc<dyn HostVector> {
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
        let hold: Erase<T> = precompiled!(number held: Erase<T>);
        Self(Storage::Host(hold(x)))
    }
}
/// Erases the type of a vector; instantiated where the type is known.
type Erase<T> = fn(crate::Vector<T>) -> Arc<dyn HostVector>;
fn held<T: Value>(x: crate::Vector<T>) -> Arc<dyn HostVector> {
    Arc::new(x)
}

impl Vector {
    /// A vector of length `len` with these values at increasing indices.
    /// # Errors
    /// Those of [`SparseVec::new`](crate::sparse::SparseVec::new); [`Error::Unsupported`] for structs.
    pub fn new(len: usize, places: Vec<u32>, values: Array) -> Result<Self> {
        Self::of(AnyVector::list(len, places, values))
    }
    /// The result of an operation.
    pub(super) fn of(made: AnyVector) -> Result<Self> {
        let ty = made.values().ty();
        with_type!(ty, T => Ok(made.typed::<T>()?.into()), Err(Error::Unsupported {
            what: format!("a vector of {ty} made at run time"),
            why: "only numbers are supported".into(),
        }))
    }
    /// A vector in the memory of another engine.
    #[must_use]
    pub fn remote(there: Box<dyn Remote>) -> Self {
        Self(Storage::Remote(there))
    }
    /// The object of another engine.
    #[must_use]
    pub fn as_remote(&self) -> Option<&dyn Remote> {
        match &self.0 {
            Storage::Remote(there) => Some(&**there),
            Storage::Host(_) => None,
        }
    }
    fn held(&self) -> Result<&Arc<dyn HostVector>> {
        match &self.0 {
            Storage::Host(held) => Ok(held),
            Storage::Remote(there) => Err(there.unreadable("vector")),
        }
    }
    /// [`as_remote`](Self::as_remote) for writing by that engine.
    pub(super) fn remote_mut(&mut self) -> Option<&mut dyn Remote> {
        match &mut self.0 {
            Storage::Remote(there) => Some(&mut **there),
            Storage::Host(_) => None,
        }
    }
    /// As an operand of CPU operations.
    pub(super) fn view(&self) -> Result<View<'_>> {
        Ok(self.held()?.view())
    }
    /// Serializes a vector in host memory.
    pub(super) fn write_to(&self, to: &mut dyn Write) -> Result<()> {
        self.held()?.serialize(to)
    }
    /// For writing in place; a write copies shared parts.
    fn held_mut(&mut self) -> Result<&mut dyn HostVector> {
        let Storage::Host(held) = &mut self.0 else { return Err(elsewhere("vector")) };
        if Arc::get_mut(held).is_none() {
            *held = held.another();
        }
        Arc::get_mut(held).ok_or_else(|| elsewhere("vector"))
    }
    /// Retains the entries that the mask, of the same length, allows.
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
    /// Writes the entries of t into it; where both have one, combines them by `combine` if given.
    pub(super) fn put(&mut self, threads: &Threads, t: &Self, combine: Option<&Combine<'_>>) -> Result<()> {
        if self.view()?.pattern().nnz() == 0 {
            *self = t.clone();
            return Ok(());
        }
        self.held_mut()?.put(threads, t.view()?, combine)
    }
    /// Length, number of entries and storage form: `length 5 with 2 entries as a list`; on a GPU the length alone.
    #[must_use]
    pub fn described(&self) -> String {
        self.view().map_or_else(|_| format!("length {}", self.len()), |view| view.pattern().described())
    }
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        match &self.0 {
            Storage::Host(held) => held.view().values().ty(),
            Storage::Remote(there) => there.ty(),
        }
    }
    /// The length, counting absent entries.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Storage::Host(held) => held.view().len(),
            Storage::Remote(there) => there.shape().0,
        }
    }
    /// Whether the length is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Number of entries, stored zeros included. A GPU may have to count them.
    /// # Errors
    /// [`Error::Device`].
    pub fn nvals(&self) -> Result<usize> {
        match &self.0 {
            Storage::Host(held) => Ok(held.view().pattern().nnz()),
            Storage::Remote(there) => there.nnz(),
        }
    }
    /// The vector in host memory; returned unchanged if it is there already.
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Device`].
    pub fn download(&self) -> Result<Self> {
        match &self.0 {
            Storage::Host(_) => Ok(self.clone()),
            Storage::Remote(there) => there.download()?.downcast().map(|here| *here).map_err(|_| elsewhere("vector")),
        }
    }
    /// Whether it is in host memory.
    #[must_use]
    pub fn is_on_host(&self) -> bool {
        match &self.0 {
            Storage::Host(_) => true,
            Storage::Remote(there) => there.is_on_host(),
        }
    }
    /// The typed vector, if its values are of type `T` and it is in host memory; copies nothing.
    #[must_use]
    pub fn typed<T: Value>(&self) -> Option<&crate::Vector<T>> {
        (&**self.held().ok()? as &dyn Any).downcast_ref()
    }
    /// Indices and values of the entries, indices increasing.
    /// # Errors
    /// [`Error::Argument`] for a vector on a GPU; [`Error::OutOfMemory`].
    pub fn entries(&self) -> Result<(Vec<u32>, Array)> {
        self.held()?.view().entries(&Threads::current())
    }
    /// The values of a vector with an entry at each index.
    /// # Errors
    /// [`Error::Argument`] if an entry is missing; [`Error::OutOfMemory`], [`Error::Device`].
    pub(super) fn full_values(&self) -> Result<Array> {
        self.check_full()?;
        Ok(self.download()?.entries()?.1)
    }
    /// Checks that there is an entry at each index.
    pub(super) fn check_full(&self) -> Result<()> {
        let (len, entries) = (self.len(), self.nvals()?);
        if entries < len {
            let message = format!("it has {entries} entries, not one at each of {len} indices");
            return Err(Error::Argument { name: "vector", message });
        }
        Ok(())
    }
    /// The values of the entries, in index order, as a list of indices: `f(f(i)) min= m(i)` reads and writes through
    /// it.
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
    /// Cost: O(entries). The list of a vector on a GPU stays there, for operations on that GPU.
    /// # Errors
    /// [`Error::Argument`] for a value that is no index, being negative or not an integer; [`Error::OutOfMemory`].
    pub fn to_index_list(&self) -> Result<IndexList> {
        if let Some(list) = self.as_remote().map(Remote::index_list).transpose()?.flatten() {
            return Ok(list);
        }
        let (_, indices) = self.download()?.cast(Type::U64)?.entries()?;
        let none = || Error::Argument { name: "indices", message: "they are not integers".into() };
        let indices = indices.slice().get::<u64>().ok_or_else(none)?;
        Ok(collected(indices.len(), indices.iter().map(|&i| i as usize), "a list of indices")?.into())
    }
}

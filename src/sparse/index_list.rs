//! Index lists of rows or columns: all, a strided range, or an arbitrary list with any order and repeats.

#[cfg(feature = "cuda")]
use std::any::Any;
use std::fmt;
use std::ops::{Range, RangeFull};
use std::sync::{Arc, OnceLock};
#[cfg(feature = "cuda")]
use std::sync::{Mutex, PoisonError};

use crate::{Error, Result};

/// An index list I or J of `C = A(I, J)` and `C(I, J) = A`: the selected rows or columns, in order, with repeats.
///
/// Source: GraphBLAS C API 2.1, §4.3.6 (`GrB_ALL`, index arrays); ranges with strides as `GxB_STRIDE`.
///
/// ```
/// use sparring::sparse::IndexList;
/// assert_eq!(IndexList::all().to_vec("rows", 3)?, [0, 1, 2]);
/// assert_eq!(IndexList::from(1..3).to_vec("rows", 3)?, [1, 2]);
/// assert_eq!(IndexList::strided(4, -2, 3).to_vec("rows", 5)?, [4, 2, 0]);
/// assert_eq!(IndexList::from(..), IndexList::all());
/// let error = IndexList::from(vec![0, 7]).to_vec("rows", 5).unwrap_err().to_string();
/// assert_eq!(error, "rows: index 7 at position 1 of the list, of a dimension of 5");
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexList(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    All,
    Strided { start: usize, step: isize, len: usize },
    List(Arc<Listed>),
}

/// The indices of a list, shared by its clones.
struct Listed {
    len: usize,
    /// Set on construction, or fetched by `fetch` at the first read.
    indices: OnceLock<Box<[usize]>>,
    #[cfg(feature = "cuda")]
    fetch: Option<Box<Fetch>>,
    /// Copies in device memory, one for each type and device; they live as long as the list.
    #[cfg(feature = "cuda")]
    copies: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}
/// Copies the indices of a list from device memory.
#[cfg(feature = "cuda")]
type Fetch = dyn Fn() -> Result<Vec<usize>> + Send + Sync;

impl Listed {
    /// The indices in host memory.
    fn indices(&self) -> Result<&[usize]> {
        #[cfg(feature = "cuda")]
        if let (None, Some(fetch)) = (self.indices.get(), &self.fetch) {
            let indices = fetch()?.into();
            return Ok(self.indices.get_or_init(|| indices));
        }
        Ok(self.indices.get().map_or(&[], |indices| indices))
    }
}
impl From<Box<[usize]>> for Listed {
    fn from(indices: Box<[usize]>) -> Self {
        Self {
            len: indices.len(),
            indices: indices.into(),
            #[cfg(feature = "cuda")]
            fetch: None,
            #[cfg(feature = "cuda")]
            copies: Mutex::default(),
        }
    }
}
/// Lists are equal if their indices are. The comparison may copy them from a device; if that fails, lists are unequal.
impl PartialEq for Listed {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && matches!((self.indices(), other.indices()), (Ok(x), Ok(y)) if x == y)
    }
}
impl Eq for Listed {}
impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.indices.get() {
            Some(indices) => indices.fmt(f),
            None => write!(f, "{} indices elsewhere", self.len),
        }
    }
}

/// A list whose indices were checked against a dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Checked<'a> {
    /// `start`, `start + step`, …
    Strided {
        start: usize,
        step: isize,
        len: usize,
    },
    List(&'a [usize]),
}

impl IndexList {
    /// All indices of the dimension, in order.
    #[must_use]
    pub fn all() -> Self {
        Self(Kind::All)
    }
    /// `len` indices `start`, `start + step`, …; the step may be negative, or 0 to repeat one index.
    #[must_use]
    pub fn strided(start: usize, step: isize, len: usize) -> Self {
        Self(Kind::Strided { start, step, len })
    }
    /// Whether the list is [`all`](Self::all).
    #[must_use]
    pub fn is_all(&self) -> bool {
        matches!(self.0, Kind::All)
    }
    /// Number of indices, given the dimension.
    #[must_use]
    pub fn len(&self, dimension: usize) -> usize {
        match &self.0 {
            Kind::All => dimension,
            Kind::Strided { len, .. } => *len,
            Kind::List(list) => list.len,
        }
    }
    /// The list with its indices checked against the dimension; `name` is the name of the argument.
    /// # Errors
    /// [`Error::ListIndex`] for the first index that is not below the dimension.
    pub(crate) fn check(&self, name: &'static str, dimension: usize) -> Result<Checked<'_>> {
        let beyond = |index: i128, position: usize| Error::ListIndex { list: name, index, position, bound: dimension };
        match &self.0 {
            Kind::All => Ok(Checked::Strided { start: 0, step: 1, len: dimension }),
            &Kind::Strided { start, step, len } => {
                let at = |p: usize| start as i128 + p as i128 * step as i128;
                let outside = |p: usize| !(0..dimension as i128).contains(&at(p));
                if len > 0 && outside(0) {
                    return Err(beyond(at(0), 0));
                }
                if len > 0 && outside(len - 1) {
                    // Position of the first index out of range: the distance to the bound over the step.
                    let room = if step > 0 { dimension - 1 - start } else { start };
                    let p = room / step.unsigned_abs() + 1;
                    return Err(beyond(at(p), p));
                }
                Ok(Checked::Strided { start, step, len })
            }
            Kind::List(list) => {
                let indices = list.indices()?;
                match indices.iter().position(|&i| i >= dimension) {
                    None => Ok(Checked::List(indices)),
                    Some(p) => Err(beyond(indices[p] as i128, p)),
                }
            }
        }
    }
    /// A list of `len` indices in device memory, held by `copy`; `fetch` copies them to the host if read there.
    #[cfg(feature = "cuda")]
    pub(crate) fn elsewhere(
        len: usize,
        copy: Arc<dyn Any + Send + Sync>,
        fetch: impl Fn() -> Result<Vec<usize>> + Send + Sync + 'static,
    ) -> Self {
        let copies = Mutex::new(vec![copy]);
        Self(Kind::List(Arc::new(Listed { len, indices: OnceLock::new(), fetch: Some(Box::new(fetch)), copies })))
    }
    /// The device copy for which `fits` holds, created by `make` at the first call; `None` for a range. It lives as
    /// long as the list and its clones.
    /// # Errors
    /// Those of `make`.
    #[cfg(feature = "cuda")]
    pub(crate) fn copy_where<C: Any + Send + Sync>(
        &self,
        fits: impl Fn(&C) -> bool,
        make: impl FnOnce(&[usize]) -> Result<C>,
    ) -> Result<Option<Arc<C>>> {
        let Kind::List(list) = &self.0 else { return Ok(None) };
        let copies = || list.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let known = copies().iter().filter_map(|copy| Arc::clone(copy).downcast().ok()).find(|copy| fits(copy));
        if known.is_some() {
            return Ok(known);
        }
        let made = Arc::new(make(list.indices()?)?);
        copies().push(Arc::clone(&made) as _);
        Ok(Some(made))
    }
    /// The list itself if it has no repeats; otherwise its indices sorted, each once.
    /// # Errors
    /// [`Error::ListIndex`] for an index that is not below the dimension; [`Error::OutOfMemory`].
    pub(crate) fn distinct(&self, name: &'static str, dimension: usize) -> Result<Self> {
        if self.check(name, dimension)?.no_repeats(name).is_ok() {
            return Ok(self.clone());
        }
        let mut list = self.to_vec(name, dimension)?;
        list.sort_unstable();
        list.dedup();
        Ok(list.into())
    }
    /// The indices, given the dimension; `name` appears in errors.
    /// # Errors
    /// [`Error::ListIndex`] for an index that is not below the dimension; [`Error::OutOfMemory`].
    pub fn to_vec(&self, name: &'static str, dimension: usize) -> Result<Vec<usize>> {
        let list = self.check(name, dimension)?;
        crate::par::collected(list.len(), (0..list.len()).map(|p| list.at(p)), "indices")
    }
}

impl Checked<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Strided { len, .. } => *len,
            Self::List(list) => list.len(),
        }
    }
    /// The index at a position.
    #[inline(always)]
    pub(crate) fn at(&self, p: usize) -> usize {
        match self {
            Self::Strided { start, step, .. } => start.wrapping_add_signed(step.wrapping_mul(p as isize)),
            Self::List(list) => list[p],
        }
    }
    /// The list as a range, if its indices are consecutive.
    pub(crate) fn as_range(&self) -> Option<Range<usize>> {
        match *self {
            Self::Strided { start, step, len } if step == 1 || len <= 1 => Some(start..start + len),
            _ => None,
        }
    }
    /// Whether the indices do not decrease.
    pub(crate) fn is_sorted(&self) -> bool {
        match self {
            Self::Strided { step, len, .. } => *step >= 0 || *len <= 1,
            Self::List(list) => list.is_sorted(),
        }
    }
    /// Rejects repeated indices: an assignment to them would be ambiguous.
    /// # Errors
    /// [`Error::RepeatedIndex`]; [`Error::OutOfMemory`].
    pub(crate) fn no_repeats(&self, name: &'static str) -> Result<()> {
        let repeated = match self {
            Self::Strided { start, step, len } => (*step == 0 && *len > 1).then_some(*start),
            Self::List(list) if list.is_sorted_by(|i, j| i < j) => None,
            Self::List(list) => {
                let mut sorted = crate::par::copied(list, "indices")?;
                sorted.sort_unstable();
                sorted.windows(2).find(|w| w[0] == w[1]).map(|w| w[0])
            }
        };
        repeated.map_or(Ok(()), |index| Err(Error::RepeatedIndex { list: name, index }))
    }
}

/// `..` is [`all`](IndexList::all).
impl From<RangeFull> for IndexList {
    fn from(_: RangeFull) -> Self {
        Self::all()
    }
}
impl From<&IndexList> for IndexList {
    fn from(list: &IndexList) -> Self {
        list.clone()
    }
}
impl From<Range<usize>> for IndexList {
    fn from(range: Range<usize>) -> Self {
        Self::strided(range.start, 1, range.len())
    }
}
impl From<Vec<usize>> for IndexList {
    fn from(list: Vec<usize>) -> Self {
        Self(Kind::List(Arc::new(list.into_boxed_slice().into())))
    }
}
impl<const N: usize> From<[usize; N]> for IndexList {
    fn from(list: [usize; N]) -> Self {
        Vec::from(list).into()
    }
}
impl From<&[usize]> for IndexList {
    fn from(list: &[usize]) -> Self {
        list.to_vec().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_index_outside_is_named() {
        let of = |start, step, len| IndexList::strided(start, step, len).to_vec("rows", 10);
        assert_eq!(of(1, 3, 3).unwrap(), [1, 4, 7]);
        assert_eq!(of(9, -3, 4).unwrap(), [9, 6, 3, 0]);
        assert_eq!(of(4, 0, 2).unwrap(), [4, 4]);
        assert_eq!(of(12, 0, 0).unwrap(), [0; 0]);
        for (list, what) in [
            (of(10, 1, 1), "index 10 at position 0"),
            (of(1, 3, 5), "index 10 at position 3"),
            (of(9, -3, 5), "index -3 at position 4"),
            (of(0, isize::MAX, usize::MAX), "index 9223372036854775807 at position 1"),
            (of(5, isize::MIN, 2), "index -9223372036854775803 at position 1"),
        ] {
            let message = list.unwrap_err().to_string();
            assert!(message.contains(what), "{message}");
        }
    }

    #[test]
    fn repeats_are_found() {
        let repeats = |list: IndexList| list.check("rows", 10).unwrap().no_repeats("rows").map_err(|e| e.to_string());
        assert_eq!(repeats(vec![3, 1, 2].into()), Ok(()));
        assert!(repeats(vec![3, 1, 3].into()).unwrap_err().contains("index 3"));
        assert!(repeats(IndexList::strided(4, 0, 2)).unwrap_err().contains("index 4"));
    }
}

//! Arrays of matrices: owned, or borrowed from foreign owners without a copy.

use std::any::Any;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use super::{OutputSlice, Threads, UninitOutput, reserved};
use crate::{Error, Result};

/// An array that is read as a slice: a vector of its own, or memory of a foreign owner (a NumPy array, an Arrow buffer,
/// memory of a C caller), which is kept alive until the last matrix over it is dropped.
///
/// Reading costs the same for both. Foreign memory is never written: changing values copies them first.
/// ```
/// use std::sync::Arc;
/// use sparring::{Csr, par::Storage};
/// // Arrays as SciPy has them: int32 columns, int64 row pointers.
/// let (indptr, indices): (Arc<[i64]>, Arc<[i32]>) = (vec![0, 2, 3].into(), vec![0, 2, 1].into());
/// let values: Arc<[f64]> = vec![1.0, 2.0, 3.0].into();
/// let (row_ptr, col_idx) = (Storage::from(indptr).unsigned()?, Storage::from(indices).unsigned()?);
/// let a = Csr::<f64>::from_storage(2, 3, row_ptr, col_idx, Storage::from(Arc::clone(&values)))?;
/// assert_eq!((a.values().as_ptr(), a.get(1, 1)), (values.as_ptr(), Some(&3.0)));
/// # Ok::<(), sparring::Error>(())
/// ```
pub struct Storage<T> {
    at: NonNull<T>,
    len: usize,
    owner: Owner,
}

/// The owner of the memory.
enum Owner {
    /// Memory of a `Vec<T>` with this capacity.
    Vec { capacity: usize },
    /// Memory that is valid until this value is dropped.
    Foreign { _keep: Box<dyn Any + Send + Sync> },
}

// SAFETY: 1. a vector of `T` may be sent where `T` may; 2. a foreign owner is `Send`, and its memory is only read,
// which `T: Sync` allows from any thread.
unsafe impl<T: Send + Sync> Send for Storage<T> {}
// SAFETY: a shared `Storage` gives out only shared references to `T`.
unsafe impl<T: Send + Sync> Sync for Storage<T> {}

impl<T> Storage<T> {
    /// The `len` values at `at`, which belong to `owner`; dropping `owner` releases them.
    /// # Safety
    /// 1. `at` is aligned and points to `len` values of `T` that can be read until `owner` is dropped (if `len` is 0,
    ///    any address is allowed, including null).
    /// 2. Nobody writes them until then.
    /// 3. Their bytes are at most `isize::MAX`.
    #[must_use]
    pub unsafe fn foreign(at: *const T, len: usize, owner: impl Any + Send + Sync) -> Self
    where
        T: Copy,
    {
        let at = NonNull::new(at.cast_mut()).filter(|_| len > 0).unwrap_or(NonNull::dangling());
        Self { at, len, owner: Owner::Foreign { _keep: Box::new(owner) } }
    }
    /// Whether the memory belongs to a foreign owner.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        matches!(self.owner, Owner::Foreign { .. })
    }
    /// The values, for changes in place; `None` if they belong to a foreign owner.
    #[inline]
    pub fn owned_mut(&mut self) -> Option<&mut [T]> {
        match self.owner {
            // SAFETY: 1. The vector's elements, as for `deref`. 2. `self` is borrowed mutably, so no other reference
            // exists.
            Owner::Vec { .. } => Some(unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) }),
            Owner::Foreign { .. } => None,
        }
    }
    /// The values as a vector; copied if they belong to a foreign owner.
    #[must_use]
    pub fn into_vec(self) -> Vec<T>
    where
        T: Clone,
    {
        match self.owner {
            Owner::Vec { capacity } => {
                let this = ManuallyDrop::new(self);
                // SAFETY: 1. The parts of a vector (`From<Vec<T>>`), whose elements have not moved. 2. `self` is not
                // dropped, so the memory has one owner again. `owner` has nothing to drop.
                unsafe { Vec::from_raw_parts(this.at.as_ptr(), this.len, capacity) }
            }
            Owner::Foreign { .. } => self.to_vec(),
        }
    }
}

impl<T> Deref for Storage<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` values at an aligned address: elements of a vector (`From<Vec<T>>`), or foreign ones that live
        // as long as `self.owner` (the contract of `foreign`); nobody writes them while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl<T> Drop for Storage<T> {
    fn drop(&mut self) {
        if let Owner::Vec { capacity } = self.owner {
            // SAFETY: as for `into_vec`; `self` is not used after this.
            drop(unsafe { Vec::from_raw_parts(self.at.as_ptr(), self.len, capacity) });
        }
    }
}

impl<T> From<Vec<T>> for Storage<T> {
    fn from(values: Vec<T>) -> Self {
        let mut values = ManuallyDrop::new(values);
        let (len, capacity) = (values.len(), values.capacity());
        // SAFETY: the address of a vector is not null. (`Vec::as_non_null` would guarantee it.)
        let at = unsafe { NonNull::new_unchecked(values.as_mut_ptr()) };
        Self { at, len, owner: Owner::Vec { capacity } }
    }
}

impl<T: Copy + Send + Sync + 'static> From<Arc<[T]>> for Storage<T> {
    /// Shares the slice; nothing is copied.
    fn from(values: Arc<[T]>) -> Self {
        let (at, len) = (values.as_ptr(), values.len());
        // SAFETY: 1. The elements do not move until the last `Arc` is dropped, and this one is the owner. 2. `T` has no
        // interior that shared references could write: the `Arc` is moved in here, and another clone could get a `&mut`
        // only if no other clone existed. 3. It is a slice already.
        unsafe { Self::foreign(at, len, values) }
    }
}

impl<T> Default for Storage<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}
impl<T: Clone> Clone for Storage<T> {
    /// An owned copy.
    fn clone(&self) -> Self {
        self.to_vec().into()
    }
}
impl<T: std::fmt::Debug> std::fmt::Debug for Storage<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self[..].fmt(f)
    }
}
impl<T: PartialEq> PartialEq for Storage<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}
impl<T: Eq> Eq for Storage<T> {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

/// A signed integer type that other libraries use for row and column indices: `i32` or `i64`.
pub trait SignedIndex: sealed::Sealed + Copy + Ord + Into<i64> + Send + Sync + 'static {
    /// The unsigned type of the same size, with the same bits for nonnegative numbers.
    type Unsigned: Copy + Send + Sync + 'static;
}
impl SignedIndex for i32 {
    type Unsigned = u32;
}
#[cfg(target_pointer_width = "64")]
impl SignedIndex for i64 {
    type Unsigned = usize;
}

impl<S: SignedIndex> Storage<S> {
    /// The same memory as unsigned numbers: i32 as u32, for columns; i64 as usize, for row pointers. Nothing is copied.
    ///
    /// Cost: O(len), to check for negative numbers.
    /// # Errors
    /// [`Error::Argument`] with the first negative number and its position.
    pub fn unsigned(self) -> Result<Storage<S::Unsigned>> {
        const { assert!(size_of::<S>() == size_of::<S::Unsigned>() && align_of::<S>() == align_of::<S::Unsigned>()) };
        // Branch-free.
        if self.iter().fold(false, |any, &i| any | (i.into() < 0)) {
            let position = self.iter().position(|&i| i.into() < 0).unwrap_or_default();
            let negative: i64 = self[position].into();
            let message = format!("number {position} is {negative}, which is negative");
            return Err(Error::Argument { name: "indices", message });
        }
        let mut this = ManuallyDrop::new(self);
        let owner = std::mem::replace(&mut this.owner, Owner::Vec { capacity: 0 });
        // `this` is forgotten with an owner that holds nothing; the memory moves to the result with its original owner.
        // Integers of one size have one layout, so the allocation of a vector is valid for either type.
        Ok(Storage { at: this.at.cast(), len: this.len, owner })
    }
}

impl Storage<usize> {
    /// Row pointers widened from 32 to the 64 bits that kernels read: a copy of nrows + 1 numbers, by all threads of
    /// the caller's pool.
    /// # Errors
    /// [`Error::Argument`] as for [`unsigned`](Self::unsigned); [`Error::OutOfMemory`].
    pub fn widened(row_ptr: &[i32]) -> Result<Self> {
        /// Numbers per task.
        const BLOCK: usize = 1 << 16;
        // The sign of the bitwise or: branch-free.
        if row_ptr.iter().fold(0, |all, &p| all | p) < 0 {
            let position = row_ptr.iter().position(|&p| p < 0).unwrap_or_default();
            let message = format!("number {position} is {}, which is negative", row_ptr[position]);
            return Err(Error::Argument { name: "row_ptr", message });
        }
        let (len, what) = (row_ptr.len(), "row pointers");
        let blocks = len.div_ceil(BLOCK).max(1);
        let threads = if blocks > 1 { Threads::current() } else { Threads::caller() };
        let at = |block: usize| (block * BLOCK).min(len);
        let copy = |(): &mut (), block: usize, slots: &mut OutputSlice<'_, usize>| {
            let part = &row_ptr[at(block)..at(block + 1)];
            slots.take_with(part.len(), |k| part[k].unsigned_abs() as usize);
            Ok(())
        };
        Ok(UninitOutput::new(len, what)?.fill(&threads, what, blocks, at, || Ok(()), copy)?.into())
    }
}

impl Storage<u32> {
    /// Columns of 64 bits, signed or unsigned, narrowed to the 32 bits that kernels read: a copy of nnz numbers.
    /// # Errors
    /// [`Error::Argument`] with the first number that does not fit 32 bits and its position; [`Error::OutOfMemory`].
    pub fn narrowed<T: Copy + TryInto<u32> + std::fmt::Display>(indices: &[T]) -> Result<Self> {
        let mut narrow = reserved(indices.len(), "columns")?;
        for (position, &i) in indices.iter().enumerate() {
            let Ok(j) = i.try_into() else {
                let message = format!("number {position} is {i}, which is no index of 32 bits");
                return Err(Error::Argument { name: "indices", message });
            };
            narrow.push(j);
        }
        Ok(narrow.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Owns memory, and counts releases.
    struct Lent(Vec<f64>, Arc<AtomicUsize>);
    impl Drop for Lent {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn foreign_memory_is_not_copied_and_is_released_once() {
        let released = Arc::new(AtomicUsize::new(0));
        let lent = Lent(vec![1.0, 2.0, 3.0], Arc::clone(&released));
        let at = lent.0.as_ptr();
        // SAFETY: the vector's elements, which do not move while `lent` lives; nobody writes them.
        let mut s = unsafe { Storage::foreign(at, 3, lent) };
        assert!(s.is_foreign() && s.as_ptr() == at && s.owned_mut().is_none());
        assert_eq!(&s[..], [1.0, 2.0, 3.0]);
        let copy = s.clone();
        assert!(!copy.is_foreign() && copy == s);
        std::thread::scope(|scope| {
            scope.spawn(move || assert_eq!(s.into_vec(), [1.0, 2.0, 3.0]));
        });
        assert_eq!(released.load(Ordering::SeqCst), 1);
        // SAFETY: there are no values.
        let none = unsafe { Storage::<u64>::foreign(std::ptr::null(), 0, ()) };
        assert!(none.is_empty());
    }
    #[test]
    fn vectors_keep_their_memory() {
        let mut v = Vec::with_capacity(10);
        v.extend([3u32, 4, 5]);
        let at = v.as_ptr();
        let mut s = Storage::from(v);
        s.owned_mut().unwrap()[0] = 7;
        let v = s.into_vec();
        assert_eq!((v.as_ptr(), v.capacity(), &v[..]), (at, 10, &[7, 4, 5][..]));
        assert!(Storage::<String>::default().is_empty());
        drop(Storage::from(vec![String::from("dropped once")]));
    }
    #[test]
    fn signed_numbers_become_unsigned_without_a_copy() {
        let v = vec![0i32, 5, i32::MAX];
        let at = v.as_ptr();
        let s = Storage::from(v).unsigned().unwrap();
        assert_eq!((s.as_ptr().cast(), &s[..]), (at, &[0, 5, i32::MAX as u32][..]));
        assert_eq!(s.into_vec().len(), 3);
        let shared: Arc<[i64]> = vec![1, -2].into();
        let e = Storage::from(Arc::clone(&shared)).unsigned().unwrap_err().to_string();
        assert_eq!(e, "indices: number 1 is -2, which is negative");
        assert_eq!(Arc::strong_count(&shared), 1);
        assert_eq!(&Storage::widened(&[0, 2, 3]).unwrap()[..], [0, 2, 3]);
        let long: Vec<i32> = (0..200_000).collect();
        assert!(Storage::widened(&long).unwrap().iter().copied().eq(0..200_000));
        let e = Storage::widened(&[0, -1]).unwrap_err().to_string();
        assert_eq!(e, "row_ptr: number 1 is -1, which is negative");
    }
}

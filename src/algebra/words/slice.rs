//! Borrowed arrays of values of a run-time type, contiguous or at a stride.

use std::marker::PhantomData;
use std::ops::Range;

use super::super::{Type, Value, for_each_type};

/// Short parts are copied as this number of values: a size known to the compiler.
const WINDOW: usize = 8;

/// Instantiates a loop for common value sizes: with a size known to the compiler, each copy is a single move.
macro_rules! by_size {
    ($size:expr, $n:ident => $loop:expr) => {
        match $size {
            1 => {
                let $n = 1;
                $loop
            }
            2 => {
                let $n = 2;
                $loop
            }
            4 => {
                let $n = 4;
                $loop
            }
            8 => {
                let $n = 8;
                $loop
            }
            $n => $loop,
        }
    };
}

/// A borrowed slice of values of a run-time type.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    ty: Type,
    at: *const u8,
    len: usize,
    of: PhantomData<&'a [u8]>,
}
// SAFETY: it is a shared borrow of values, which are `Sync`.
unsafe impl Send for Slice<'_> {}
// SAFETY: as above.
unsafe impl Sync for Slice<'_> {}

impl<'a> Slice<'a> {
    /// `len` values of a type from an address on.
    /// # Safety
    /// They exist, aligned for the type, and are borrowed for `'a`.
    #[inline]
    pub(super) unsafe fn new(ty: Type, at: *const u8, len: usize) -> Self {
        Self { ty, at, len, of: PhantomData }
    }
    /// Erases the type of a slice.
    /// ```
    /// use sparring::algebra::{Slice, Type};
    /// let s = Slice::of(&[1.0, 2.0]);
    /// assert_eq!((s.ty(), s.len(), s.get::<f64>()), (Type::F64, 2, Some(&[1.0, 2.0][..])));
    /// assert_eq!(s.get::<u64>(), None);
    /// ```
    #[must_use]
    pub fn of<T: Value>(x: &'a [T]) -> Self {
        Self { ty: T::TYPE, at: x.as_ptr().cast(), len: x.len(), of: PhantomData }
    }
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.ty
    }
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Whether some value is a negative number.
    #[must_use]
    pub fn has_negative(&self) -> bool {
        macro_rules! some {
            ($($variant:ident $t:ty),*) => {
                $(self.get::<$t>().is_some_and(|x| x.iter().any(|x| *x < <$t>::default())))||*
            };
        }
        for_each_type!(reals, some!())
    }
    /// The values, if they are of type `T`.
    #[inline]
    #[must_use]
    pub fn get<T: Value>(&self) -> Option<&'a [T]> {
        // SAFETY: 1. types that are equal as data have the same layout and meaning: a number is itself, a struct its
        // fields at their offsets (`Value`'s promise); 2. the values are borrowed for 'a.
        (T::TYPE == self.ty).then(|| unsafe { std::slice::from_raw_parts(self.at.cast(), self.len) })
    }
    /// The values of a range.
    /// # Panics
    /// If the range is not within `0..len()`.
    #[inline]
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: within the values, or one past their end.
        let at = unsafe { self.at.add(range.start * self.ty.size()) };
        Self { at, len: range.len(), ..*self }
    }
    /// Pointer to the first value. Padding bytes of structs are uninitialized, so they may only be copied.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        self.at
    }
    /// The bytes of numbers, in native byte order; `None` for structs, which may have padding.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        if matches!(self.ty, Type::Struct(_)) {
            return None;
        }
        // SAFETY: 1. the values are contiguous, and numbers have no padding;
        // 2. they are borrowed as long, and any byte is a u8; 3. a slice of values has at most isize::MAX bytes.
        Some(unsafe { std::slice::from_raw_parts(self.at, self.len * self.ty.size()) })
    }
    /// Copies numbers from position `start` on into `to`, in little-endian byte order.
    /// # Panics
    /// For structs, or if the size of `to` is not that of a range of values from `start` on.
    pub(crate) fn copy_le_bytes(&self, start: usize, to: &mut [u8]) {
        let size = self.ty.size();
        assert!(!matches!(self.ty, Type::Struct(_)) && to.len().is_multiple_of(size));
        let part = self.part(start..start + to.len() / size);
        // SAFETY: 1. the part has the same number of bytes, all initialized, because numbers have no padding; 2. `to`
        // is mutably borrowed, so the two do not overlap.
        unsafe { to.as_mut_ptr().copy_from_nonoverlapping(part.at, to.len()) };
        little_endian(self.ty, to);
    }
    /// Field `index` of the structs, as a strided array.
    /// # Panics
    /// If the values are not structs, or have no such field.
    pub(crate) fn field(&self, index: usize) -> Strided<'a> {
        let Type::Struct(s) = self.ty else { panic!("{} is no struct", self.ty) };
        let (_, ty, offset) = s.fields[index];
        Strided { ty, at: self.at.wrapping_add(offset), step: s.size, len: self.len, of: PhantomData }
    }
    /// The values as a contiguous strided array; a single value may stand for all.
    pub(crate) fn strided(&self) -> Strided<'a> {
        Strided { ty: self.ty, at: self.at, step: self.ty.size(), len: self.len, of: PhantomData }
    }
}

/// Converts the bytes of numbers between native and little-endian byte order.
fn little_endian(ty: Type, bytes: &mut [u8]) {
    let parts = if matches!(ty, Type::ComplexF32 | Type::ComplexF64) { 2 } else { 1 };
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(ty.size() / parts).for_each(<[u8]>::reverse);
    }
}

/// Values at a constant stride.
#[derive(Clone, Copy)]
pub(crate) struct Strided<'a> {
    ty: Type,
    at: *const u8,
    step: usize,
    len: usize,
    of: PhantomData<&'a [u8]>,
}

/// A mutably borrowed slice of values of a run-time type.
#[derive(Debug)]
pub struct SliceMut<'a> {
    ty: Type,
    at: *mut u8,
    len: usize,
    of: PhantomData<&'a mut [u8]>,
}
// SAFETY: it is a unique borrow of values, which are `Send`.
unsafe impl Send for SliceMut<'_> {}
// SAFETY: a shared `SliceMut` gives access to its type and length only.
unsafe impl Sync for SliceMut<'_> {}

impl<'a> SliceMut<'a> {
    /// `len` values of a type from an address on.
    /// # Safety
    /// They exist, aligned for the type, and are mutably borrowed for `'a`.
    #[inline]
    pub(super) unsafe fn new(ty: Type, at: *mut u8, len: usize) -> Self {
        Self { ty, at, len, of: PhantomData }
    }
    /// Erases the type of a slice.
    #[must_use]
    pub fn of<T: Value>(x: &'a mut [T]) -> Self {
        Self { ty: T::TYPE, at: x.as_mut_ptr().cast(), len: x.len(), of: PhantomData }
    }
    /// Type of the values.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.ty
    }
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The values, if they are of type `T`.
    #[inline]
    #[must_use]
    pub fn get<T: Value>(&mut self) -> Option<&mut [T]> {
        // SAFETY: as for `Slice::get`; the borrow is unique as long as `self` is borrowed.
        (T::TYPE == self.ty).then(|| unsafe { std::slice::from_raw_parts_mut(self.at.cast(), self.len) })
    }
    /// Reborrows the values.
    #[inline]
    #[must_use]
    pub fn reborrow(&mut self) -> SliceMut<'_> {
        SliceMut { ty: self.ty, at: self.at, len: self.len, of: PhantomData }
    }
    /// The values of a range.
    /// # Panics
    /// If the range is not within `0..len()`.
    #[inline]
    #[must_use]
    pub fn part(&mut self, range: Range<usize>) -> SliceMut<'_> {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: within the values, or one past their end.
        let at = unsafe { self.at.add(range.start * self.ty.size()) };
        SliceMut { ty: self.ty, at, len: range.len(), of: PhantomData }
    }
    /// Pointer to the first value.
    #[inline]
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.at
    }
    /// The values, immutable.
    #[must_use]
    pub fn as_slice(&self) -> Slice<'_> {
        Slice { ty: self.ty, at: self.at, len: self.len, of: PhantomData }
    }
    /// The values before `mid`, and those from `mid` on.
    /// # Panics
    /// If `mid` exceeds the length.
    pub(crate) fn split_at(self, mid: usize) -> (SliceMut<'a>, SliceMut<'a>) {
        assert!(mid <= self.len);
        // SAFETY: within the values, or one past their end.
        let at = unsafe { self.at.add(mid * self.ty.size()) };
        (Self { len: mid, ..self }, SliceMut { ty: self.ty, at, len: self.len - mid, of: PhantomData })
    }
    /// Overwrites the values by `values`, or all of them by a single value.
    /// # Panics
    /// If the types differ, or the lengths differ and `values` is not a single value.
    pub fn copy_from(&mut self, values: &Slice<'_>) {
        if self.len != values.len {
            return self.strided().copy_from(values.strided());
        }
        assert!(self.ty == values.ty, "{} from {}", self.ty, values.ty);
        // SAFETY: 1. both are contiguous arrays of this number of values of the type; 2. `self` is mutably borrowed, so
        // they do not overlap; 3. values are copied, so the array holds values afterwards.
        unsafe { self.at.copy_from_nonoverlapping(values.at, self.len * self.ty.size()) };
    }
    /// The mutable bytes of numbers, for which any bits are valid, in native byte order; `None` for bools and structs.
    #[must_use]
    pub fn into_bytes(self) -> Option<&'a mut [u8]> {
        if matches!(self.ty, Type::Struct(_) | Type::Bool) {
            return None;
        }
        // SAFETY: 1. the values are contiguous numbers without padding; 2. they are mutably borrowed for 'a, and `self`
        // is consumed; 3. any bytes are valid integers or floats.
        Some(unsafe { std::slice::from_raw_parts_mut(self.at, self.len * self.ty.size()) })
    }
    /// Overwrites numbers by those of these bytes, which are little-endian; the bytes are scratch afterwards.
    /// # Errors
    /// The position of a byte that is not a bool; the values are then unchanged.
    /// # Panics
    /// For structs, or if the number of bytes differs.
    pub(crate) fn set_le_bytes(&mut self, bytes: &mut [u8]) -> Result<(), usize> {
        assert!(!matches!(self.ty, Type::Struct(_)) && bytes.len() == self.len * self.ty.size());
        if self.ty == Type::Bool
            && let Some(at) = bytes.iter().position(|&byte| byte > 1)
        {
            return Err(at);
        }
        little_endian(self.ty, bytes);
        // SAFETY: 1. the sizes are equal; 2. the values are mutably borrowed, so the two do not overlap; 3. any bytes
        // are a valid number, and those of bools were checked.
        unsafe { self.at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }
    /// Copies the values of a range to the positions from `to` on; the two may overlap.
    /// # Panics
    /// If either range is out of bounds.
    pub(crate) fn copy_within(&mut self, from: Range<usize>, to: usize) {
        assert!(from.start <= from.end && from.end <= self.len && to <= self.len - from.len());
        let size = self.ty.size();
        // SAFETY: both ranges are values of this array (checked), which is mutably borrowed; values are copied.
        unsafe { self.at.add(to * size).copy_from(self.at.add(from.start * size), from.len() * size) };
    }
    /// Overwrites value p by `from[at(p)]`, for each p for which that value exists.
    /// # Panics
    /// If the types differ.
    pub(crate) fn gather(&mut self, from: &Slice<'_>, at: impl Iterator<Item = usize>) {
        assert!(self.ty == from.ty, "{} from {}", self.ty, from.ty);
        let places = (0..self.len).zip(at).filter(|&(_, q)| q < from.len);
        by_size!(self.ty.size(), size => for (p, q) in places {
            // SAFETY: 1. p and q are within bounds; 2. `self` is mutably borrowed, so the two do not overlap; 3. both
            // have the same type, so a value is written.
            unsafe { copy_value(from.at.add(q * size), self.at.add(p * size), size) };
        });
    }
    /// Overwrites all values by one.
    /// # Panics
    /// If the types differ, or `value` is not a single value.
    pub(crate) fn fill(&mut self, value: &Slice<'_>) {
        assert!(value.len == 1);
        self.gather(value, std::iter::repeat(0));
    }
    /// Overwrites value `at(p)` by value p of `from`, for each p for which that position exists.
    /// # Panics
    /// If the types differ.
    pub(crate) fn scatter(&mut self, from: &Slice<'_>, at: impl Iterator<Item = usize>) {
        assert!(self.ty == from.ty, "{} from {}", self.ty, from.ty);
        let places = (0..from.len).zip(at).filter(|&(_, q)| q < self.len);
        by_size!(self.ty.size(), size => for (p, q) in places {
            // SAFETY: as for `gather`.
            unsafe { copy_value(from.at.add(p * size), self.at.add(q * size), size) };
        });
    }
    /// Overwrites the first values by the concatenation of parts of other arrays. Values behind them may be overwritten
    /// too, by other values of those arrays.
    /// # Panics
    /// If the types differ, a part is out of bounds, or the parts exceed this array.
    #[inline]
    pub(crate) fn copy_parts<'s>(&mut self, parts: impl Iterator<Item = (Slice<'s>, Range<usize>)>) {
        let mut at = 0;
        by_size!(self.ty.size(), size => parts.for_each(|(from, part)| {
            let (n, room) = (part.len(), self.len - at);
            let is_there = part.start <= part.end && part.end <= from.len;
            assert!(self.ty == from.ty && is_there && n <= room, "values {part:?} of {}", from.len);
            let is_short = n <= WINDOW && WINDOW <= room.min(from.len - part.start);
            // SAFETY: as for `gather`; the part, or the window copied for it, was checked against both arrays.
            unsafe {
                let (from, to) = (from.at.add(part.start * size), self.at.add(at * size));
                if is_short { copy_value(from, to, WINDOW * size) } else { copy_value(from, to, n * size) }
            }
            at += n;
        }));
    }
    /// Overwrites the first values by values of another array, each repeated a number of times. Values behind them may
    /// be overwritten too, by other values of that array.
    /// # Panics
    /// If the types differ, a value is out of bounds, or the repeats exceed this array.
    #[inline]
    pub(crate) fn repeat_each(&mut self, from: &Slice<'_>, times: impl Iterator<Item = (usize, usize)>) {
        assert!(self.ty == from.ty, "{} from {}", self.ty, from.ty);
        let mut at = 0;
        by_size!(self.ty.size(), size => times.for_each(|(q, n)| {
            let room = self.len - at;
            assert!(q < from.len && n <= room, "value {q} of {}, {n} times", from.len);
            let copies = if n <= WINDOW && WINDOW <= room { WINDOW } else { n };
            for p in at..at + copies {
                // SAFETY: as for `gather`; q was checked against `from`, the copies against `self`.
                unsafe { copy_value(from.at.add(q * size), self.at.add(p * size), size) };
            }
            at += n;
        }));
    }
    /// Overwrites value `at(p)` by value p of `from`, or, if its flag is set, by the value of `other` at that position,
    /// for each p for which that position exists.
    /// # Panics
    /// If the types differ.
    pub(crate) fn scatter_or(&mut self, from: &Slice<'_>, other: &Slice<'_>, at: impl Iterator<Item = (usize, bool)>) {
        assert!(self.ty == from.ty && self.ty == other.ty, "{} from {} or {}", self.ty, from.ty, other.ty);
        let most = self.len.min(other.len);
        let places = (0..from.len).zip(at).filter(|(_, (q, _))| *q < most);
        by_size!(self.ty.size(), size => for (p, (q, of_other)) in places {
            // SAFETY: as for `gather`; q is within bounds of both.
            unsafe {
                let value = if of_other { other.at.add(q * size) } else { from.at.add(p * size) };
                copy_value(value, self.at.add(q * size), size);
            }
        });
    }
    /// Writes the values of rows of A ⊗ B. `from` has the products of a block of A by each entry of B, at a stride of
    /// [`Tile::STRIDE`]; `of_b` are the rows of B. Each part of a row of A is scattered to all of its rows of C.
    /// # Panics
    /// If the types differ, or a position is out of bounds.
    #[inline]
    pub(crate) fn spread(&mut self, from: &Slice<'_>, of_b: &[Range<usize>], parts: impl Iterator<Item = Tile>) {
        let (n, stride) = (of_b.last().map_or(0, |row| row.end), Tile::STRIDE);
        assert!(self.ty == from.ty, "{} from {}", self.ty, from.ty);
        assert!(of_b.iter().all(|row| row.start <= row.end && row.end <= n) && n <= from.len / stride);
        by_size!(self.ty.size(), size => for Tile { to, len, start, at, n: count } in parts {
            let is_there = count <= stride && at <= stride - count && count <= len && start <= len - count;
            let fits = len.checked_mul(n).is_some_and(|all| all <= self.len && to <= self.len - all);
            assert!(is_there && fits, "{n} times {len} values from {to} on of {}, {at} + {count} of {stride}", self.len);
            for row in of_b {
                let first = to + len * row.start + start * row.len();
                for m in 0..count {
                    for l in 0..row.len() {
                        let (p, q) = (first + m * row.len() + l, (row.start + l) * stride + at + m);
                        // SAFETY: as for `gather`: 1. p < to + len · (row.start + row.len()) ≤ to + len · n, which is
                        // at most the length, since start + m < len and l < row.len(); 2. q < (row.start + l + 1) ·
                        // stride ≤ n · stride, since at + m < stride.
                        unsafe { copy_value(from.at.add(q * size), self.at.add(p * size), size) };
                    }
                }
            }
        });
    }
    /// Overwrites value `to` by `from[at]`, for each pair (to, at).
    /// # Panics
    /// If the types differ, or a position is out of bounds.
    pub(crate) fn copy_pairs(&mut self, from: &Slice<'_>, pairs: &[(usize, usize)]) {
        assert!(self.ty == from.ty, "{} from {}", self.ty, from.ty);
        let size = self.ty.size();
        for &(to, at) in pairs {
            assert!(to < self.len && at < from.len, "value {to} of {}, {at} of {}", self.len, from.len);
            // SAFETY: as for `gather`; both positions were checked.
            unsafe { copy_value(from.at.add(at * size), self.at.add(to * size), size) };
        }
    }
    /// Field `index` of the structs.
    /// # Panics
    /// If the values are not structs, or have no such field.
    pub(crate) fn field(&mut self, index: usize) -> StridedMut<'_> {
        let f = self.as_slice().field(index);
        StridedMut {
            ty: f.ty,
            at: self.at.wrapping_add(f.at.addr() - self.at.addr()),
            step: f.step,
            len: f.len,
            of: PhantomData,
        }
    }
    pub(crate) fn strided(&mut self) -> StridedMut<'_> {
        StridedMut { ty: self.ty, at: self.at, step: self.ty.size(), len: self.len, of: PhantomData }
    }
}

/// Values `start..start + n` of a row of A with `len` entries, stored from position `at` of a block on, and the
/// position of the first product of the row.
pub(crate) struct Tile {
    pub(crate) to: usize,
    pub(crate) len: usize,
    pub(crate) start: usize,
    pub(crate) at: usize,
    pub(crate) n: usize,
}
impl Tile {
    /// Products of a block of A by one entry of B.
    pub(crate) const STRIDE: usize = 128;
}

/// Mutable values at a constant stride.
pub(crate) struct StridedMut<'a> {
    ty: Type,
    at: *mut u8,
    step: usize,
    len: usize,
    of: PhantomData<&'a mut [u8]>,
}

impl StridedMut<'_> {
    /// Overwrites the values by `values`, or all of them by a single value.
    /// # Panics
    /// If the types differ, or the lengths differ and `values` is not a single value.
    pub(crate) fn copy_from(self, from: Strided<'_>) {
        assert!(self.ty == from.ty, "{} from {}", self.ty, from.ty);
        assert!(self.len == from.len || from.len == 1, "{} values from {}", self.len, from.len);
        let step = if from.len == 1 { 0 } else { from.step };
        for i in 0..self.len {
            // SAFETY: 1. both are values of the type, with i within bounds, or the single value; 2. one is mutably
            // borrowed, so they do not overlap; 3. a value is copied, so a value is stored afterwards.
            unsafe { copy_value(from.at.add(i * step), self.at.add(i * self.step), self.ty.size()) };
        }
    }
    /// Overwrites each value by that of `a` where `c` holds, otherwise by that of `b`; a single value stands for all.
    /// # Panics
    /// If types or lengths differ.
    pub(crate) fn select(self, c: &[bool], a: Strided<'_>, b: Strided<'_>) {
        let fits = |x: &Strided<'_>| x.ty == self.ty && (x.len == self.len || x.len == 1);
        assert!(fits(&a) && fits(&b) && (c.len() == self.len || c.len() == 1));
        for i in 0..self.len {
            let x = if c[if c.len() == 1 { 0 } else { i }] { &a } else { &b };
            let step = if x.len == 1 { 0 } else { x.step };
            // SAFETY: as for `copy_from`.
            unsafe { self.at.add(i * self.step).copy_from_nonoverlapping(x.at.add(i * step), self.ty.size()) };
        }
    }
}

/// Copies the bytes of a value.
/// # Safety
/// Both point to `size` bytes, which do not overlap.
#[inline(always)]
unsafe fn copy_value(from: *const u8, to: *mut u8, size: usize) {
    // SAFETY: the caller's promise.
    unsafe { to.copy_from_nonoverlapping(from, size) };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::value! {
        /// With padding at its end.
        struct Padded {
            /// Eight bytes.
            x: f64,
            /// One.
            y: u8,
        }
    }

    #[test]
    fn numbers_are_bytes_and_others_are_not() {
        let mut x = [0x0102u16, 3];
        assert_eq!(Slice::of(&x).as_bytes(), Some(&[0x0102u16.to_ne_bytes(), 3u16.to_ne_bytes()].concat()[..]));
        SliceMut::of(&mut x).into_bytes().unwrap()[2..].copy_from_slice(&9u16.to_ne_bytes());
        assert_eq!(x, [0x0102, 9]);
        assert_eq!(Slice::of(&[true, false]).as_bytes(), Some(&[1, 0][..]));
        assert!(SliceMut::of(&mut [true]).into_bytes().is_none());
        assert!(Slice::of(&[Padded { x: 1.0, y: 2 }]).as_bytes().is_none());
    }

    #[test]
    fn values_are_gathered_and_scattered() {
        let from = [10u16, 20, 30];
        let mut to = [1u16, 2, 3, 4];
        SliceMut::of(&mut to).gather(&Slice::of(&from), [2, usize::MAX, 0].into_iter());
        assert_eq!(to, [30, 2, 10, 4]);
        SliceMut::of(&mut to).scatter(&Slice::of(&from), [3, 9, 1].into_iter());
        assert_eq!(to, [30, 30, 10, 10]);
        let from = [Padded { x: 1.0, y: 1 }, Padded { x: 2.0, y: 2 }];
        let mut to = [from[0]; 2];
        SliceMut::of(&mut to).gather(&Slice::of(&from), [1, 0].into_iter());
        assert_eq!(to, [from[1], from[0]]);
    }

    /// Parts shorter and longer than a window, at the ends of both arrays.
    #[test]
    fn parts_are_copied_and_values_repeated() {
        let from: Vec<u16> = (0..30).collect();
        let structs: Vec<Padded> = from.iter().map(|&x| Padded { x: f64::from(x), y: 1 }).collect();
        for parts in
            [vec![2..5, 0..0, 29..30, 3..15, 0..8], vec![0..1; 12], vec![0..30, 0..0], vec![22..30, 0..0], vec![]]
        {
            let want: Vec<u16> = parts.iter().cloned().flatten().map(|p| p as u16).collect();
            let mut to = vec![99; want.len()];
            SliceMut::of(&mut to).copy_parts(parts.iter().map(|part| (Slice::of(&from), part.clone())));
            assert_eq!(to, want);
            let mut to = vec![structs[9]; want.len()];
            SliceMut::of(&mut to).copy_parts(parts.iter().map(|part| (Slice::of(&structs), part.clone())));
            assert!(to.iter().map(|s| s.x as u16).eq(want.iter().copied()));
            let each = || parts.iter().map(|part| (part.start.min(29), part.len()));
            let want: Vec<u16> = each().flat_map(|(q, n)| vec![q as u16; n]).collect();
            let mut to = vec![99; want.len()];
            SliceMut::of(&mut to).repeat_each(&Slice::of(&from), each());
            assert_eq!(to, want);
        }
    }

    #[test]
    #[should_panic(expected = "values 1..3 of 2")]
    fn parts_that_are_not_there_are_not_copied() {
        SliceMut::of(&mut [0u8; 9]).copy_parts([(Slice::of(&[1u8, 2]), 1..3)].into_iter());
    }

    #[test]
    #[should_panic(expected = "value 0 of 2, 10 times")]
    fn values_are_not_repeated_beyond_the_end() {
        SliceMut::of(&mut [0u8; 9]).repeat_each(&Slice::of(&[1u8, 2]), [(0, 10)].into_iter());
    }

    /// A row of three values, two of them in the block, and one of one, by rows of two entries, of none and of one.
    #[test]
    fn products_are_spread() {
        let from: Vec<u16> = (0..3).flat_map(|q| (0..Tile::STRIDE as u16).map(move |p| 1000 * q + p)).collect();
        let structs: Vec<Padded> = from.iter().map(|&x| Padded { x: f64::from(x), y: 1 }).collect();
        let (of_b, last) = ([0..2, 2..2, 2..3], Tile::STRIDE - 1);
        let parts = || {
            let rows = [(0, 3, 1, 0, 2), (9, 1, 0, last, 1), (12, 0, 0, 0, 0), (5, 2, 2, 9, 0)];
            rows.into_iter().map(|(to, len, start, at, n)| Tile { to, len, start, at, n })
        };
        let end = last as u16;
        let want = [9, 9, 0, 1000, 1, 1001, 9, 2000, 2001, end, 1000 + end, 2000 + end];
        let mut to = vec![9; 12];
        SliceMut::of(&mut to).spread(&Slice::of(&from), &of_b, parts());
        assert_eq!(to, want);
        let mut to = vec![structs[9]; 12];
        SliceMut::of(&mut to).spread(&Slice::of(&structs), &of_b, parts());
        assert!(to.iter().map(|s| s.x as u16).eq(want));
    }

    #[test]
    #[should_panic(expected = "2 times 3 values from 4 on of 9")]
    fn products_are_not_spread_beyond_the_end() {
        let part = Tile { to: 4, len: 3, start: 0, at: 0, n: 1 };
        SliceMut::of(&mut [0u8; 9]).spread(
            &Slice::of(&[0u8; 2 * Tile::STRIDE]),
            std::slice::from_ref(&(0..2)),
            [part].into_iter(),
        );
    }

    #[test]
    #[should_panic(expected = "1 times 3 values from 0 on of 9")]
    fn products_that_are_not_there_are_not_spread() {
        let part = Tile { to: 0, len: 3, start: 2, at: 0, n: 2 };
        SliceMut::of(&mut [0u8; 9]).spread(
            &Slice::of(&[0u8; Tile::STRIDE]),
            std::slice::from_ref(&(0..1)),
            [part].into_iter(),
        );
    }

    #[test]
    #[should_panic(expected = "u8 from u16")]
    fn only_values_of_the_type_are_gathered() {
        SliceMut::of(&mut [1u8]).gather(&Slice::of(&[1u16]), [0].into_iter());
    }

    #[test]
    #[should_panic(expected = "range.end <= self.len")]
    fn parts_lie_within() {
        let _ = Slice::of(&[1u8]).part(0..2);
    }
}

//! Column index types.

use std::fmt::{Debug, Display};
use std::hash::Hash;

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A column index: `u32` (the default) or `u64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a column index type",
    label = "is not `u32` or `u64`",
    note = "use `u32`, the default, or `u64` for more than 4 294 967 295 columns: `Csr<f64, u64>`"
)]
pub trait Index: sealed::Sealed + Copy + Ord + Hash + Default + Debug + Display + Send + Sync + 'static {
    /// Name of the type in CUDA C++.
    const CUDA: &'static str;
    /// Largest number of columns; the largest column index is one less.
    const MAX_LEN: usize;
    /// The largest value of the type, which is never a valid column index.
    const LAST: Self;
    /// The index as `usize`.
    fn get(self) -> usize;
    /// From `usize`, if it fits.
    fn new(i: usize) -> Option<Self>;
    /// From an index known to fit; checked in debug builds.
    fn cast(i: usize) -> Self;
    /// The sum, modulo the size of the type.
    fn wrapping_add(self, by: Self) -> Self;
    /// The difference, modulo the size of the type.
    fn wrapping_sub(self, by: Self) -> Self;
}

impl Index for u32 {
    const CUDA: &'static str = "unsigned int";
    const MAX_LEN: usize = u32::MAX as usize;
    const LAST: Self = u32::MAX;
    #[inline(always)]
    fn wrapping_add(self, by: Self) -> Self {
        self.wrapping_add(by)
    }
    #[inline(always)]
    fn wrapping_sub(self, by: Self) -> Self {
        self.wrapping_sub(by)
    }
    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
    #[inline(always)]
    fn new(i: usize) -> Option<Self> {
        u32::try_from(i).ok()
    }
    #[inline(always)]
    fn cast(i: usize) -> Self {
        debug_assert!(i <= u32::MAX as usize);
        i as u32
    }
}

impl Index for u64 {
    const CUDA: &'static str = "unsigned long long";
    const MAX_LEN: usize = isize::MAX as usize;
    const LAST: Self = u64::MAX;
    #[inline(always)]
    fn wrapping_add(self, by: Self) -> Self {
        self.wrapping_add(by)
    }
    #[inline(always)]
    fn wrapping_sub(self, by: Self) -> Self {
        self.wrapping_sub(by)
    }
    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
    #[inline(always)]
    fn new(i: usize) -> Option<Self> {
        u64::try_from(i).ok()
    }
    #[inline(always)]
    fn cast(i: usize) -> Self {
        i as u64
    }
}

//! Arguments of kernels, by value.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys;

use super::driver::Device;

/// Arrays in a struct that an argument holds without memory of its own.
const FIELDS: usize = 9;

/// The bytes of an argument.
#[derive(Clone, Debug)]
enum Words {
    Few([u64; FIELDS]),
    Many(Box<[u64]>),
}

impl Words {
    fn as_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Few(words) => words,
            Self::Many(words) => words,
        }
    }
}

/// One argument of a kernel, by value: a number, an array, or a struct of arrays.
#[derive(Clone, Debug)]
pub(crate) struct Arg {
    /// The argument's bytes, the first `size` of them.
    words: Words,
    size: usize,
    /// Of an array, the device that it is on, by its address; else 0.
    owner: usize,
}

/// The owner of a struct whose arrays are on several devices: no device has this address.
const SEVERAL: usize = usize::MAX;

impl Arg {
    /// No array.
    pub(crate) fn null() -> Self {
        0u64.into()
    }
    /// The array of `device` that begins at `at`.
    pub(super) fn array(at: sys::CUdeviceptr, device: &Arc<Device>) -> Self {
        Self { owner: Arc::as_ptr(device).addr(), ..at.into() }
    }
    /// A struct of these arrays.
    pub(crate) fn all<const N: usize>(fields: [Self; N]) -> Self {
        const { assert!(N <= FIELDS) };
        Self::list(&fields)
    }
    /// A struct of these arrays, whose number is known at run time only.
    pub(crate) fn list(fields: &[Self]) -> Self {
        let words = match fields.len() {
            0..=FIELDS => Words::Few([0; FIELDS]),
            more => Words::Many(vec![0; more].into()),
        };
        let mut all = Self { words, size: 8 * fields.len(), owner: 0 };
        for (to, field) in all.words.as_mut().iter_mut().zip(fields) {
            debug_assert_eq!(field.size, 8);
            *to = field.first();
            all.owner = match (all.owner, field.owner) {
                (one, other) if one == other || other == 0 => one,
                (0, other) => other,
                _ => SEVERAL,
            };
        }
        all
    }
    fn first(&self) -> u64 {
        match &self.words {
            Words::Few(words) => words[0],
            Words::Many(words) => words.first().copied().unwrap_or(0),
        }
    }
    /// Bytes that a kernel's parameter must have.
    pub(super) fn size(&self) -> usize {
        self.size
    }
    /// Whether all of its arrays, if any, are on this device.
    pub(super) fn is_on(&self, device: &Arc<Device>) -> bool {
        self.owner == 0 || self.owner == Arc::as_ptr(device).addr()
    }
    /// Where its bytes lie, as the driver takes them.
    pub(super) fn at(&mut self) -> *mut c_void {
        self.words.as_mut().as_mut_ptr().cast()
    }
}
impl From<u64> for Arg {
    fn from(x: u64) -> Self {
        let mut words = [0; FIELDS];
        words[0] = x;
        Self { words: Words::Few(words), size: 8, owner: 0 }
    }
}
impl From<&Arg> for Arg {
    fn from(arg: &Arg) -> Self {
        arg.clone()
    }
}
impl From<u32> for Arg {
    fn from(x: u32) -> Self {
        let [a, b, c, d] = x.to_ne_bytes();
        Self { size: 4, ..u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0]).into() }
    }
}

/// Arguments in the order of the kernel's parameters: buffers by reference, `u32` and `u64` by value.
macro_rules! args {
    ($($x:expr),* $(,)?) => { &[$($crate::gpu::arg::Arg::from($x)),*] };
}
pub(crate) use args;

#[cfg(test)]
mod tests {
    use super::*;

    fn array(at: u64, owner: usize) -> Arg {
        Arg { owner, ..at.into() }
    }

    #[test]
    fn numbers_lie_first() {
        let x: Arg = 7u32.into();
        assert_eq!((x.first().to_ne_bytes()[..4].to_vec(), x.size()), (7u32.to_ne_bytes().to_vec(), 4));
        assert_eq!((Arg::from(9u64).first(), Arg::null().size()), (9, 8));
    }

    #[test]
    fn a_struct_has_its_arrays_one_after_the_other() {
        let mut all = Arg::all([array(1, 5), Arg::null(), array(3, 5)]);
        assert_eq!((all.size(), all.owner, &all.words.as_mut()[..4]), (24, 5, &[1, 0, 3, 0][..]));
        let many: Vec<Arg> = (1..=20).map(|at| array(at, 5)).collect();
        let mut many = Arg::list(&many);
        assert_eq!((many.size(), many.owner, many.words.as_mut().to_vec()), (160, 5, (1..=20).collect()));
        assert_eq!(Arg::all([array(1, 5), array(2, 6)]).owner, SEVERAL);
        assert_eq!(Arg::all([array(1, 5), array(2, 6), array(3, 6)]).owner, SEVERAL);
        assert_eq!(Arg::all([Arg::null(), Arg::null()]).owner, 0);
    }
}

//! Kernel arguments, by value.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys;
use num_complex::Complex;

use super::driver::{Device, Readback};
use crate::algebra::{Slice, Type, for_each_type};

/// Arrays of a struct argument that are stored inline.
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
    /// The argument's bytes: the first `size` count.
    words: Words,
    size: usize,
    /// Of an array, its device, identified by address; else 0.
    owner: usize,
}

/// The owner of a struct whose arrays are on several devices: no device has this address.
const SEVERAL: usize = usize::MAX;

impl Arg {
    /// A null array.
    pub(crate) fn null() -> Self {
        0u64.into()
    }
    /// The array of `device` that begins at `at`.
    pub(super) fn array(at: sys::CUdeviceptr, device: &Arc<Device>) -> Self {
        Self { owner: Arc::as_ptr(device).addr(), ..at.into() }
    }
    /// The numbers of a readback of `device`, for the kernel to write.
    pub(super) fn readback(readback: &Readback<'_>, device: &Arc<Device>) -> Self {
        Self::array(readback.at(), device)
    }
    /// A scalar by value: the first of `x`, if it is a number. For structs, whose padding may be uninitialized, as many
    /// zeros.
    pub(super) fn value(x: Slice<'_>) -> Self {
        let mut bytes = [0u8; 16];
        macro_rules! numbers {
            ($($variant:ident $t:ty),*) => {
                match x.ty() {
                    $(Type::$variant => {
                        if let Some(&[number, ..]) = x.get::<$t>() {
                            bytes[..size_of::<$t>()].copy_from_slice(&number.to_ne_bytes());
                        }
                    })*
                    Type::Bool => bytes[0] = x.get::<bool>().and_then(|x| x.first()).map_or(0, |&x| x.into()),
                    Type::ComplexF32 => {
                        if let Some(&[Complex { re, im }, ..]) = x.get::<Complex<f32>>() {
                            bytes[..4].copy_from_slice(&re.to_ne_bytes());
                            bytes[4..8].copy_from_slice(&im.to_ne_bytes());
                        }
                    }
                    Type::ComplexF64 => {
                        if let Some(&[Complex { re, im }, ..]) = x.get::<Complex<f64>>() {
                            bytes[..8].copy_from_slice(&re.to_ne_bytes());
                            bytes[8..].copy_from_slice(&im.to_ne_bytes());
                        }
                    }
                    Type::Struct(_) => {}
                }
            };
        }
        for_each_type!(reals, numbers!());
        let size = x.ty().size();
        let mut words = match size.div_ceil(8) {
            0..=FIELDS => Words::Few([0; FIELDS]),
            more => Words::Many(vec![0; more].into()),
        };
        for (word, part) in words.as_mut().iter_mut().zip(bytes.chunks(8)) {
            let mut eight = [0; 8];
            eight[..part.len()].copy_from_slice(part);
            *word = u64::from_ne_bytes(eight);
        }
        Self { words, size, owner: 0 }
    }
    /// A struct of these arrays.
    pub(crate) fn all<const N: usize>(fields: [Self; N]) -> Self {
        const { assert!(N <= FIELDS) };
        Self::list(&fields)
    }
    /// A struct of these arrays, their number known at run time.
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
    /// Bytes of the kernel's parameter.
    pub(super) fn size(&self) -> usize {
        self.size
    }
    /// Whether all of its arrays, if any, are on this device.
    pub(super) fn is_on(&self, device: &Arc<Device>) -> bool {
        self.owner == 0 || self.owner == Arc::as_ptr(device).addr()
    }
    /// The address of its bytes, as the driver takes it.
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
    fn numbers_are_at_the_start() {
        let x: Arg = 7u32.into();
        assert_eq!((x.first().to_ne_bytes()[..4].to_vec(), x.size()), (7u32.to_ne_bytes().to_vec(), 4));
        assert_eq!((Arg::from(9u64).first(), Arg::null().size()), (9, 8));
    }

    #[test]
    fn values_are_passed_as_bytes() {
        let bytes = |x: Slice<'_>| {
            let mut arg = Arg::value(x);
            let bytes: Vec<u8> = arg.words.as_mut().iter().flat_map(|word| word.to_ne_bytes()).collect();
            bytes[..arg.size()].to_vec()
        };
        assert_eq!(bytes(Slice::of(&[true])), [1]);
        assert_eq!(bytes(Slice::of(&[-2i16, 7])), (-2i16).to_ne_bytes());
        assert_eq!(bytes(Slice::of(&[0.1f64])), 0.1f64.to_ne_bytes());
        let z = Complex::new(1.5f64, -2.0);
        assert_eq!(bytes(Slice::of(&[z])), [1.5f64.to_ne_bytes(), (-2.0f64).to_ne_bytes()].concat());
        assert_eq!(
            bytes(Slice::of(&[Complex::new(1.5f32, 3.0)])),
            [1.5f32.to_ne_bytes(), 3.0f32.to_ne_bytes()].concat()
        );
        assert_eq!(bytes(Slice::of::<u32>(&[])), [0; 4]);
    }

    #[test]
    fn arrays_of_a_struct_are_contiguous() {
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

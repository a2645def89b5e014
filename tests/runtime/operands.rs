//! Awkward operands, engines, and bitwise equality of results.

use sparring::algebra::{Slice, Value};
use sparring::num_complex::Complex;
use sparring::prelude::*;
use sparring::runtime::{Machine, Matrix, Vector};

use crate::common::arbitrary::{AnyPattern, Draw, Rng, rows};

/// Pairs of matrices of one shape: empty, all kinds of rows, one huge row, a shared pattern, unsorted rows.
pub(crate) fn pairs<T: Draw>(seed: u64) -> Vec<(Csr<T>, Csr<T>)> {
    let mut rng = Rng(seed);
    let mut pairs = vec![];
    for (m, n) in [(0, 5), (5, 0), (1, 700), (40, 33), (33, 40)] {
        let (a, mut b) = (AnyPattern::of_shape(&mut rng, m, n), AnyPattern::of_shape(&mut rng, m, n));
        pairs.push((a.matrix(seed), b.matrix(!seed)));
        b.shuffle = seed | 1;
        pairs.push((a.matrix(seed), b.matrix(!seed)));
    }
    // More entries than a block of 128 and than a part of a fold.
    let (a, b) = (rows(&mut rng, 60, 900, 20, 800), rows(&mut rng, 60, 900, 30, 5));
    let a = a.matrix::<T>(seed);
    let other =
        Csr::with_pattern(std::sync::Arc::clone(a.pattern()), (0..a.nnz()).map(|_| T::draw(&mut rng)).collect());
    pairs.push((a.clone(), other.unwrap()));
    pairs.push((a, b.matrix(!seed)));
    let wide = rows(&mut rng, 19, 5000, 10, 4900);
    pairs.push((wide.matrix(seed), wide.matrix(!seed)));
    pairs
}

/// Vectors of length `len` in every form: empty, list, bitmap, full.
pub(crate) fn vectors<T: Draw>(seed: u64, len: usize) -> Vec<sparring::Vector<T>> {
    let mut rng = Rng(seed);
    let mut of = |one_in: usize| {
        let at: Vec<u32> = (0..len as u32).filter(|_| one_in > 0 && rng.below(one_in) == 0).collect();
        let values = at.iter().map(|_| T::draw(&mut rng)).collect();
        sparring::Vector::new(len, at, values).unwrap()
    };
    vec![of(0), of(50), of(3), of(1)]
}

/// CPUs with 1, 2, 3 and 8 threads, and a GPU if available.
pub(crate) fn machines() -> Vec<Machine> {
    let mut machines: Vec<Machine> = [1, 2, 3, 8].map(|n| Cpu::with_threads(n).unwrap().into()).into();
    machines.extend(gpu());
    machines
}
#[cfg(feature = "cuda")]
pub(crate) fn gpu() -> Option<Machine> {
    match Cuda::new(0) {
        Ok(cuda) => Some(cuda.into()),
        Err(Error::NoDevice { .. }) => None,
        Err(e) => panic!("{e}"),
    }
}
#[cfg(not(feature = "cuda"))]
pub(crate) fn gpu() -> Option<Machine> {
    None
}
/// Whether the engine is a CPU: on a GPU, floating-point sums have another order, and functions differ in their last
/// bits.
pub(crate) fn is_cpu(m: &Machine) -> bool {
    !m.is_gpu()
}

/// Bitwise equality of values; all NaNs are equal.
pub(crate) fn same_values(found: Slice<'_>, want: Slice<'_>, what: &str) {
    assert_eq!((found.ty(), found.len()), (want.ty(), want.len()), "{what}");
    macro_rules! compare {
        ($($t:ty: |$x:ident| $bits:expr;)*) => {$(
            if let (Some(x), Some(y)) = (found.get::<$t>(), want.get::<$t>()) {
                let bits = |$x: &$t| $bits;
                for (p, (a, b)) in x.iter().zip(y).enumerate() {
                    assert!(bits(a) == bits(b), "{what}: value {p} is {a:?}, expected {b:?}");
                }
                return;
            }
        )*};
    }
    fn real(x: f64) -> u64 {
        if x.is_nan() { u64::MAX } else { x.to_bits() }
    }
    compare! {
        bool: |x| *x; i8: |x| *x; i16: |x| *x; i32: |x| *x; i64: |x| *x; u8: |x| *x; u16: |x| *x; u32: |x| *x; u64: |x| *x;
        f32: |x| real(f64::from(*x)); f64: |x| real(*x);
        Complex<f32>: |x| (real(f64::from(x.re)), real(f64::from(x.im))); Complex<f64>: |x| (real(x.re), real(x.im));
    }
    panic!("{what}: of type {}", found.ty());
}

/// Equality of matrices, rows in stored order.
pub(crate) fn same(found: &Matrix, want: &Matrix, what: &str) {
    assert_eq!((found.ty(), found.shape(), found.pattern()), (want.ty(), want.shape(), want.pattern()), "{what}");
    same_values(found.values().unwrap(), want.values().unwrap(), what);
}

/// Equality with a typed matrix; `found` may be on a GPU.
pub(crate) fn same_matrix<T: Value>(found: &Matrix, want: &Csr<T>, what: &str) {
    same(&found.download().unwrap(), &Matrix::from(want.clone()), what);
}

/// Equality of vectors: the same entries.
pub(crate) fn same_vector<T: Value>(found: &Vector, want: &sparring::Vector<T>, what: &str) {
    let found = found.download().unwrap();
    assert_eq!((found.ty(), found.len(), found.nvals().unwrap()), (T::TYPE, want.len(), want.nnz()), "{what}");
    let (places, values) = found.entries().unwrap();
    let want = want.to_sparse().unwrap();
    assert_eq!(places, want.indices(), "{what}");
    same_values(values.slice(), Slice::of(want.values()), what);
}

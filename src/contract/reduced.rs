//! The kernels to which tensor-product finite-element operators reduce, one sum at a time.
//!
//! | function | formula | use |
//! | --- | --- | --- |
//! | [`ijkl`] | `A[i,j,k,l] = Σ_s B[i,s,j] C[k,s,l]` | action, (6) and (7) |
//! | [`iklj`] | `A[i,k,l,j] = Σ_s B[i,s,j] C[k,s,l]` | action, (6) and (7) |
//! | [`kilj`] | `A[k,i,l,j] = Σ_s B[s,i] B[s,j] C[k,s,l]` | assembly, (4) and (5) |
//!
//! They are ordinary expressions, for [`Cpu::einsum`](crate::Cpu::einsum) or `Cuda::einsum`: over any semiring, for
//! batches and groups, in any layout. The order of the result's indices is applied while it is written, without a
//! transposition. [`Mass`](super::Mass) builds whole operators as single expressions instead.
//! ```
//! use sparring::{Cpu, algebra::PlusTimes, contract::{Layout, View, reduced}};
//! // B is 1 × 2 × 1 for each of two elements, C 2 × 2 × 1, one for both.
//! let (b, c) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
//! let b = View::new(&b, Layout::row_major(&[1, 2, 1])?.batched(2)?)?;
//! let c = View::new(&c, Layout::row_major(&[2, 2, 1])?)?;
//! let a = Cpu::new().einsum(PlusTimes::new(), reduced::ijkl(&b, &c)?).eval()?;
//! assert_eq!(a.values(), [17.0, 23.0, 39.0, 53.0]);
//! # Ok::<(), sparring::Error>(())
//! ```
//! Source: Abdelfattah et al. 2016, §5 (reduced kernels).

use super::einsum::Einsum;
use super::view::Viewed;
use crate::Result;

/// `A[i,j,k,l] = Σ_s B[i,s,j] C[k,s,l]`, in as many fold steps as A has elements times the extent of s.
/// # Errors
/// As [`Einsum::new`].
pub fn ijkl<'a, V: Viewed<Value: 'a>>(b: &V, c: &V) -> Result<Einsum<'a, V::Value, V>> {
    Einsum::new("isj,ksl->ijkl", &[b.clone(), c.clone()])
}

/// `A[i,k,l,j] = Σ_s B[i,s,j] C[k,s,l]`: as [`ijkl`], the second index of B last.
/// # Errors
/// As [`Einsum::new`].
pub fn iklj<'a, V: Viewed<Value: 'a>>(b: &V, c: &V) -> Result<Einsum<'a, V::Value, V>> {
    Einsum::new("isj,ksl->iklj", &[b.clone(), c.clone()])
}

/// `A[k,i,l,j] = Σ_s B[s,i] B[s,j] C[k,s,l]`: B on both sides. The first pair contracted is the one that makes the
/// whole cheapest.
/// # Errors
/// As [`Einsum::new`].
pub fn kilj<'a, V: Viewed<Value: 'a>>(b: &V, c: &V) -> Result<Einsum<'a, V::Value, V>> {
    Einsum::new("si,sj,ksl->kilj", &[b.clone(), b.clone(), c.clone()])
}

//! Conversions from and to matrices of other crates, each behind a feature.
//!
//! | feature | in | out |
//! | --- | --- | --- |
//! | `sprs` | [`from_sprs`](crate::Csr::from_sprs) | [`into_sprs`](crate::Csr::into_sprs), [`to_sprs`](crate::Csr::to_sprs), view [`as_sprs`](crate::Csr::as_sprs) |
//! | `nalgebra` | [`from_nalgebra`](crate::Csr::from_nalgebra), [`from_nalgebra_csc`](crate::Csr::from_nalgebra_csc) | [`into_nalgebra`](crate::Csr::into_nalgebra), [`to_nalgebra`](crate::Csr::to_nalgebra) |
//! | `faer` | [`from_faer`](crate::Csr::from_faer), [`from_faer_columns`](crate::Csr::from_faer_columns) | [`to_faer`](crate::Csr::to_faer), view [`as_faer`](crate::Csr::as_faer) |
#![cfg_attr(
    not(all(feature = "sprs", feature = "nalgebra", feature = "faer")),
    allow(rustdoc::broken_intra_doc_links, reason = "of features that are off")
)]

#[cfg(feature = "faer")]
pub mod faer;
#[cfg(feature = "nalgebra")]
pub mod nalgebra;
#[cfg(feature = "sprs")]
pub mod sprs;

use std::any::Any;

use crate::par::reserved;
use crate::{Error, Result};

/// Converts indices to another type; the vector is moved if the types are the same.
fn converted<A: Copy + 'static, B: 'static>(
    x: Vec<A>,
    what: &'static str,
    max: usize,
    from: impl Fn(A) -> Option<usize>,
    to: impl Fn(usize) -> Option<B>,
) -> Result<Vec<B>> {
    let mut x = Some(x);
    if let Some(same) = (&mut x as &mut dyn Any).downcast_mut::<Option<Vec<B>>>() {
        return Ok(same.take().unwrap_or_default());
    }
    let x = x.unwrap_or_default();
    let mut out = reserved(x.len(), what)?;
    for i in x {
        // A negative index is out of range as well.
        let i = from(i).unwrap_or(usize::MAX);
        out.push(to(i).ok_or(Error::IndexOverflow { what, needed: i as u128, max: max as u128 })?);
    }
    Ok(out)
}

//! Conversion of values to bytes and back, for transfers between engines.

use crate::algebra::{Array, Number, Slice, SliceMut, Type};
use crate::kernels::with_type;
use crate::par::filled;
use crate::runtime::Vector;
use crate::sparse::Indices;
use crate::{Error, Result};

/// The bytes of numeric values, little-endian.
/// # Errors
/// [`Error::Unsupported`] for structs; [`Error::OutOfMemory`].
/// # Example
/// ```
/// use sparring::algebra::{Slice, Type};
/// use sparring::runtime::engine::{bytes_of, values_of};
/// let mut bytes = bytes_of(Slice::of(&[258u16, 3]))?;
/// assert_eq!(bytes, [2, 1, 3, 0]);
/// assert_eq!(values_of(Type::U16, &mut bytes)?.slice().get::<u16>(), Some(&[258, 3][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn bytes_of(values: Slice<'_>) -> Result<Vec<u8>> {
    let ty = values.ty();
    if matches!(ty, Type::Struct(_)) {
        return Err(no_number(ty));
    }
    let mut bytes = filled(values.len() * ty.size(), 0, "values as bytes")?;
    values.copy_le_bytes(0, &mut bytes);
    Ok(bytes)
}

/// The values of these bytes; overwrites `bytes`.
/// # Errors
/// [`Error::Unsupported`] for structs; [`Error::Argument`] if the length is not a multiple of the value size, and for a
/// byte that is no bool; [`Error::OutOfMemory`].
pub fn values_of(ty: Type, bytes: &mut [u8]) -> Result<Array> {
    let wrong = |message| Error::Argument { name: "bytes", message };
    with_type!(ty, T => {
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return Err(wrong(format!("{} bytes are not a multiple of the size of {ty}", bytes.len())));
        }
        let mut values = filled(bytes.len() / size_of::<T>(), T::ZERO, "values")?;
        let set = SliceMut::of(&mut values).set_le_bytes(bytes);
        set.map_err(|at| wrong(format!("byte {at} is no bool")))?;
        Ok(Array::of(values))
    }, Err(no_number(ty)))
}

/// The stored entries of a vector in host memory: their increasing indices, `None` if full, and their values. `None`
/// for a bitmap, and for a vector in other memory.
#[must_use]
pub fn raw_entries(x: &Vector) -> Option<(Option<&[u32]>, Slice<'_>)> {
    let view = x.view().ok()?;
    if view.pattern().nnz() == view.len() && view.values().len() == view.len() {
        return Some((None, view.values()));
    }
    match view.pattern().indices() {
        Indices::List(places) => Some((Some(places), view.values())),
        Indices::All => Some((None, view.values())),
        Indices::Bitmap(_) => None,
    }
}

fn no_number(ty: Type) -> Error {
    Error::Unsupported { what: format!("{ty} as bytes"), why: "its values are no numbers".into() }
}

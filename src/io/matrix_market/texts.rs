//! Type-erased formatting of values, for the writers.

use super::banner::Field;
use super::value::MarketValue;
use crate::algebra::{Slice, Type, for_each_type};
use crate::io::WriteOptions;
use crate::{Error, Index, Pattern, Result};

/// A list of values that can be formatted.
pub(in crate::io) trait Texts: Sync {
    /// Number of values.
    fn len(&self) -> usize;
    /// The field that represents all values.
    fn field(&self) -> Field;
    /// Appends the formatted value at a position.
    fn write(&self, at: usize, text: &mut Vec<u8>);
}

/// Values of a type known at compile time.
pub(super) struct Values<'a, T>(pub(super) &'a [T]);
impl<T: MarketValue> Texts for Values<'_, T> {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn field(&self) -> Field {
        T::field(self.0)
    }
    fn write(&self, at: usize, text: &mut Vec<u8>) {
        self.0[at].write(text);
    }
}

/// Calls `f` with values whose type is known at run time.
pub(super) fn with_texts<R>(values: Slice<'_>, f: impl FnOnce(&dyn Texts) -> Result<R>) -> Result<R> {
    macro_rules! first_of {
        ($($variant:ident $t:ty),*) => {$(
            if let Some(x) = values.get::<$t>() {
                return f(&Values(x));
            }
        )*};
    }
    for_each_type!(numbers, first_of!());
    Err(Error::Unsupported {
        what: format!("writing values of the type {}", values.ty()),
        why: "Matrix Market has numbers alone; write each field as a matrix, or implement MarketValue".to_owned(),
    })
}

/// Calls `f` with the values of a matrix, for a format of real numbers; the only options allowed are a comment and
/// threads.
pub(in crate::io) fn real_texts<I: Index, R>(
    pattern: &Pattern<I>,
    values: Slice<'_>,
    format: &str,
    options: &WriteOptions<'_>,
    f: impl FnOnce(&dyn Texts) -> Result<R>,
) -> Result<R> {
    if options.symmetric || options.pattern_only {
        let message = format!("{format} is written with all entries and their values");
        return Err(Error::Argument { name: "options", message });
    }
    let (found, expected) = (values.len(), pattern.nnz());
    if found != expected {
        return Err(Error::Length { what: "values", found, expected });
    }
    let refused = |why: &str| Error::Unsupported { what: format!("{} in {format}", values.ty()), why: why.to_owned() };
    if !pattern.is_sorted() {
        return Err(refused("the columns of a row do not increase; sort the matrix first"));
    }
    if !matches!(values.ty(), Type::ComplexF32 | Type::ComplexF64 | Type::Struct(_)) {
        return with_texts(values, f);
    }
    Err(refused("it holds real numbers"))
}

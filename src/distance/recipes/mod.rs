//! The recipes of distances whose ⊕ is +.

mod counts;
mod differences;
mod logarithms;
mod products;
mod users;

pub use counts::*;
pub use differences::*;
pub use logarithms::*;
pub use products::*;
pub use users::OnePass;

/// Defines `struct Name<W>` without parameters, and its `new`.
macro_rules! plain {
    ($($(#[$m:meta])* $name:ident;)*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, Default, Debug)]
        pub struct $name<W>(std::marker::PhantomData<W>);
        impl<W> $name<W> {
            /// The recipe.
            #[must_use]
            pub const fn new() -> Self {
                Self(std::marker::PhantomData)
            }
        }
    )*};
}
use plain;

/// Defines `struct Name<W>` that may divide rows by their sums, and its `new`.
macro_rules! of_distributions {
    ($($(#[$m:meta])* $name:ident;)*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, Default, Debug)]
        pub struct $name<W> {
            normalize: bool,
            _w: std::marker::PhantomData<W>,
        }
        impl<W> $name<W> {
            /// The recipe; with `normalize` rows are divided by their sums first.
            #[must_use]
            pub const fn new(normalize: bool) -> Self {
                Self { normalize, _w: std::marker::PhantomData }
            }
        }
    )*};
}
use of_distributions;

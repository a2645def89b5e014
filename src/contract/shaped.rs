//! Views with compile-time shapes: the number of indices, and the extents of some.

use std::marker::PhantomData;

use super::view::{View, Viewed};
use crate::{Error, Result};

/// The extent of an index at compile time: [`Fixed`] or [`Any`].
pub trait Extent {
    /// The extent, if known.
    const KNOWN: Option<usize>;
}

/// An index of extent N.
#[derive(Clone, Copy, Debug)]
pub struct Fixed<const N: usize>;

/// An index of any extent.
#[derive(Clone, Copy, Debug)]
pub struct Any;

/// R indices of any extents.
#[derive(Clone, Copy, Debug)]
pub struct Rank<const R: usize>;

impl<const N: usize> Extent for Fixed<N> {
    const KNOWN: Option<usize> = Some(N);
}
impl Extent for Any {
    const KNOWN: Option<usize> = None;
}

/// The extents of a tensor at compile time: tuples of up to eight [`Fixed`] and [`Any`], or a [`Rank`].
pub trait Extents {
    /// One for each index; `None` if only known at run time.
    const KNOWN: &'static [Option<usize>];
}

impl<const R: usize> Extents for Rank<R> {
    const KNOWN: &'static [Option<usize>] = &[None; R];
}
macro_rules! extents {
    ($($e:ident)*) => {
        impl<$($e: Extent),*> Extents for ($($e,)*) {
            const KNOWN: &'static [Option<usize>] = &[$($e::KNOWN),*];
        }
    };
}
extents!();
extents!(A);
extents!(A B);
extents!(A B C);
extents!(A B C D);
extents!(A B C D E);
extents!(A B C D E F);
extents!(A B C D E F G);
extents!(A B C D E F G H);

/// A [`View`] (or another view type) of tensors whose extents match the type S.
#[derive(Clone, Debug)]
pub struct Shaped<'a, T, S, V = View<'a, T>>(V, PhantomData<(&'a T, S)>);

/// A [`View`] (or another view type) of tensors of R indices.
pub type Ranked<'a, T, const R: usize, V = View<'a, T>> = Shaped<'a, T, Rank<R>, V>;

impl<T, S: Extents, V: Viewed<Value = T>> Shaped<'_, T, S, V> {
    /// The view, if it has the shape S.
    pub(crate) fn new(view: V) -> Result<Self> {
        let extents = view.layout().extents();
        if extents.len() != S::KNOWN.len() {
            return Err(Error::Length { what: "indices of a view", found: extents.len(), expected: S::KNOWN.len() });
        }
        for (index, (&found, known)) in extents.iter().zip(S::KNOWN).enumerate() {
            if let Some(expected) = known.filter(|&expected| expected != found) {
                let message = format!("index {index} has {found} values, and {expected} in the type of the view");
                return Err(Error::Argument { name: "shape", message });
            }
        }
        Ok(Self(view, PhantomData))
    }
}

impl<T, S, V> Shaped<'_, T, S, V> {
    /// The view.
    #[must_use]
    pub fn view(&self) -> &V {
        &self.0
    }
}

impl<'a, T: Clone> View<'a, T> {
    /// The view with its shape in its type, for [`einsum!`](crate::einsum!), which checks known extents at compile
    /// time: `x.shaped::<(Fixed<3>, Any)>()?`.
    /// # Errors
    /// [`Error::Length`] if the number of indices differs, [`Error::Argument`] if an extent does.
    /// ```
    /// use sparring::contract::{Any, Fixed, Layout, View};
    /// let x = View::new(&[0.0; 6], Layout::row_major(&[2, 3])?)?;
    /// assert!(x.clone().shaped::<(Any, Fixed<3>)>().is_ok());
    /// let wrong = x.shaped::<(Fixed<4>, Any)>().unwrap_err();
    /// assert_eq!(wrong.to_string(), "shape: index 0 has 2 values, and 4 in the type of the view");
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn shaped<S: Extents>(self) -> Result<Shaped<'a, T, S>> {
        Shaped::new(self)
    }
    /// The view with its number of indices in its type, for [`einsum!`](crate::einsum!).
    /// # Errors
    /// [`Error::Length`] if it does not have R indices.
    pub fn ranked<const R: usize>(self) -> Result<Ranked<'a, T, R>> {
        Shaped::new(self)
    }
}

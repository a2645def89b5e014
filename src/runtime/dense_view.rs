//! Operands of contractions on any machine.

use super::vector::Vector;
use crate::Result;
use crate::algebra::{Slice, Type};
use crate::contract::{Layout, Viewed, fits};

/// A dense array of values of any type, read through a [`Layout`]: in host memory, or the values of a full vector on
/// any machine. Cloning copies no data.
#[derive(Clone, Debug)]
pub struct DenseView<'a> {
    source: DenseSource<'a>,
    layout: Layout,
}

/// Where the values of a [`DenseView`] are.
#[derive(Clone, Debug)]
pub enum DenseSource<'a> {
    /// In host memory.
    Host(Slice<'a>),
    /// In a full vector.
    Vector(&'a Vector),
}

impl<'a> DenseView<'a> {
    /// Views `values` through `layout`.
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if an element of the layout lies past the end of the array.
    pub fn host(values: Slice<'a>, layout: Layout) -> Result<Self> {
        fits(&layout, values.len())?;
        Ok(Self { source: DenseSource::Host(values), layout })
    }
    /// Views the values of `x` through `layout`.
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) if an element of the layout lies past the end of the vector;
    /// [`Error::Argument`](crate::Error::Argument) if the vector lacks an entry.
    pub fn vector(x: &'a Vector, layout: Layout) -> Result<Self> {
        fits(&layout, x.len())?;
        x.check_full()?;
        Ok(Self { source: DenseSource::Vector(x), layout })
    }
    /// Where its values are.
    #[must_use]
    pub fn source(&self) -> &DenseSource<'a> {
        &self.source
    }
    /// Type of its values.
    #[must_use]
    pub fn ty(&self) -> Type {
        match &self.source {
            DenseSource::Host(values) => values.ty(),
            DenseSource::Vector(x) => x.ty(),
        }
    }
    /// The type of all views; an error if there are several.
    #[cfg(feature = "cuda")]
    pub(super) fn common_type(views: &[Self]) -> Result<Type> {
        let ty = views[0].ty();
        match views.iter().map(Self::ty).find(|other| *other != ty) {
            None => Ok(ty),
            Some(other) => {
                let message = format!("operand 0 is of {ty}, another of {other}");
                Err(crate::Error::Argument { name: "operands", message })
            }
        }
    }
}

impl Viewed for DenseView<'_> {
    type Value = ();
    fn layout(&self) -> &Layout {
        &self.layout
    }
}

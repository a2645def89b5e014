//! Arrays with a layout: the operands and results of contractions.

use std::sync::Arc;

use super::layout::Layout;
use crate::{Error, Result};

/// An array read through a [`Layout`]; cloning copies no data.
/// ```
/// use sparring::contract::{Layout, View};
/// let numbers: Vec<f64> = (0..12).map(f64::from).collect();
/// let x = View::new(&numbers, Layout::row_major(&[2, 3])?.batched(2)?)?;
/// assert_eq!(x.get(1, &[0, 2]), Some(&8.0));
/// assert_eq!(x.permute(&[1, 0])?.get(1, &[2, 0]), Some(&8.0));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct View<'a, T> {
    data: Data<'a, T>,
    layout: Layout,
}

/// One array, or one for each tensor of a batch of at least two.
#[derive(Debug)]
enum Data<'a, T> {
    One(&'a [T]),
    Many(Arc<Vec<&'a [T]>>),
}

impl<T> Clone for Data<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Self::One(data) => Self::One(data),
            Self::Many(arrays) => Self::Many(Arc::clone(arrays)),
        }
    }
}

/// Checks that the layout's elements are all in one array of this length.
pub(crate) fn fits(layout: &Layout, len: usize) -> Result<()> {
    if layout.is_group() {
        let message = format!("one of {} tensors, each in an array of its own, for one array", layout.batch());
        return Err(Error::Argument { name: "layout", message });
    }
    match layout.span() {
        Some((_, last)) if last >= len => {
            Err(Error::Length { what: "array under a layout", found: len, expected: last + 1 })
        }
        _ => Ok(()),
    }
}

impl<'a, T> View<'a, T> {
    /// Views `data` through `layout`.
    /// # Errors
    /// [`Error::Length`] if an element of the layout lies past the end of the array.
    pub fn new(data: &'a [T], layout: Layout) -> Result<Self> {
        fits(&layout, data.len())?;
        Ok(Self { data: Data::One(data), layout })
    }
    /// As many arrays as the layout has tensors, each long enough.
    pub(super) fn group(arrays: Arc<Vec<&'a [T]>>, layout: Layout) -> Self {
        let data = match arrays[..] {
            [] => Data::One(&[]),
            [one] => Data::One(one),
            _ => Data::Many(arrays),
        };
        Self { data, layout }
    }
    /// Its layout.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The array, if there is only one: each tensor of a [`Group`](super::Group) has its own.
    #[must_use]
    pub fn data(&self) -> Option<&'a [T]> {
        match self.data {
            Data::One(data) => Some(data),
            Data::Many(_) => None,
        }
    }
    /// The array, or one for each tensor.
    pub(super) fn arrays(&self) -> &[&'a [T]] {
        match &self.data {
            Data::One(data) => std::slice::from_ref(data),
            Data::Many(arrays) => arrays,
        }
    }
    /// Element `index` of tensor `b` of the batch; `None` if there is none.
    #[must_use]
    pub fn get(&self, b: usize, index: &[usize]) -> Option<&'a T> {
        let position = self.layout.position(b, index)?;
        let array = match self.arrays() {
            [one] => one,
            many => many.get(b)?,
        };
        array.get(position)
    }
    /// Reorders the indices, as [`Layout::permute`].
    /// # Errors
    /// [`Error::Argument`].
    pub fn permute(&self, order: &[usize]) -> Result<Self> {
        Ok(Self { data: self.data.clone(), layout: self.layout.permute(order)? })
    }
    /// The same elements under other extents, as [`Layout::reshape`].
    /// # Errors
    /// [`Error::Argument`].
    pub fn reshape(&self, extents: &[usize]) -> Result<Self> {
        Ok(Self { data: self.data.clone(), layout: self.layout.reshape(extents)? })
    }
}

/// An operand of expressions: an array with a layout, in any memory; cloning copies no data.
pub trait Viewed: Clone {
    /// Type of the elements.
    type Value;
    /// Their layout.
    fn layout(&self) -> &Layout;
}

impl<T: Clone> Viewed for View<'_, T> {
    type Value = T;
    fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// An array written through a [`Layout`] without overlapping elements.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    data: &'a mut [T],
    layout: Layout,
}

impl<'a, T> ViewMut<'a, T> {
    /// Views `data` through `layout`.
    /// # Errors
    /// As [`View::new`]; [`Error::Argument`] if a stride is negative, or if elements may overlap: from the least stride
    /// to the largest, each must exceed the reach of all smaller ones.
    pub fn new(data: &'a mut [T], layout: Layout) -> Result<Self> {
        fits(&layout, data.len())?;
        check_disjoint(&layout)?;
        Ok(Self { data, layout })
    }
    /// Its layout.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// Its elements, to read.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View { data: Data::One(self.data), layout: self.layout.clone() }
    }
    /// The array.
    pub(crate) fn data_mut(&mut self) -> &mut [T] {
        self.data
    }
    pub(super) fn into_array(self) -> &'a mut [T] {
        self.data
    }
}

/// Checks that no two elements of the layout overlap.
pub(crate) fn check_disjoint(layout: &Layout) -> Result<()> {
    if layout.elements() == 0 {
        return Ok(());
    }
    // Each tensor of a group has its own array.
    let axes = layout.axes().skip(usize::from(layout.is_group()));
    let mut axes: Vec<(isize, usize)> = axes.filter(|a| a.0 > 1).map(|(extent, stride)| (stride, extent)).collect();
    axes.sort_unstable();
    let mut reach = 0;
    for (stride, extent) in axes {
        if stride <= reach {
            let message = format!(
                "extents {:?}, strides {:?}, {} tensors {} apart: an index of {extent} values by {stride} may overlap elements of others, \
                 which reach {reach}; a result must have positive strides, each larger than that",
                layout.extents(),
                layout.strides(),
                layout.batch(),
                layout.batch_stride()
            );
            return Err(Error::Argument { name: "layout", message });
        }
        // At most the last position, which fits.
        reach += stride * (extent as isize - 1);
    }
    Ok(())
}

/// Tensors that own their elements: the result of [`eval`](crate::backend::EinsumBuilder::eval), row-major, tensors in
/// sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch<T> {
    values: Vec<T>,
    layout: Layout,
}

impl<T> Batch<T> {
    /// Owns `values`, with `layout`.
    /// # Errors
    /// As [`View::new`].
    pub fn new(values: Vec<T>, layout: Layout) -> Result<Self> {
        fits(&layout, values.len())?;
        Ok(Self { values, layout })
    }
    /// The elements.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// The elements, without their layout.
    #[must_use]
    pub fn into_values(self) -> Vec<T> {
        self.values
    }
    /// A read-only view.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View { data: Data::One(&self.values), layout: self.layout.clone() }
    }
    /// A mutable view.
    /// # Errors
    /// As [`ViewMut::new`].
    pub fn view_mut(&mut self) -> Result<ViewMut<'_, T>> {
        ViewMut::new(&mut self.values, self.layout.clone())
    }
}

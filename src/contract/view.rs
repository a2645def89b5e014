//! Arrays under a layout: what contractions read and write.

use std::sync::Arc;

use super::layout::Layout;
use crate::{Error, Result};

/// An array read under a [`Layout`]; copying it copies no data.
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

/// The layout's elements are all in one array of this length.
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
    /// `data` under `layout`.
    /// # Errors
    /// [`Error::Length`] if an element of the layout lies behind the end of the array.
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
    /// Where its elements lie.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The array, if it is one: the tensors of a [`Group`](super::Group) have arrays of their own.
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
        let place = self.layout.place(b, index)?;
        let array = match self.arrays() {
            [one] => one,
            many => many.get(b)?,
        };
        array.get(place)
    }
    /// The indices in another order, as [`Layout::permute`].
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

/// What an expression reads: an array under a layout, wherever it is; copying it copies no data.
pub trait Viewed: Clone {
    /// Type of the elements.
    type Value;
    /// Where they lie.
    fn layout(&self) -> &Layout;
}

impl<T: Clone> Viewed for View<'_, T> {
    type Value = T;
    fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// An array written under a [`Layout`] in which no element is two.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    data: &'a mut [T],
    layout: Layout,
}

impl<'a, T> ViewMut<'a, T> {
    /// `data` under `layout`.
    /// # Errors
    /// As [`View::new`]; [`Error::Argument`] if a stride is negative, or if two indices may name the same element: from
    /// the least stride to the largest, each must reach beyond all that those before it can.
    pub fn new(data: &'a mut [T], layout: Layout) -> Result<Self> {
        fits(&layout, data.len())?;
        apart(&layout)?;
        Ok(Self { data, layout })
    }
    /// Where its elements lie.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// What it holds, to read.
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

/// No two elements of the layout are one.
pub(crate) fn apart(layout: &Layout) -> Result<()> {
    if layout.elements() == 0 {
        return Ok(());
    }
    // The tensors of a group have arrays of their own.
    let axes = layout.axes().skip(usize::from(layout.is_group()));
    let mut axes: Vec<(isize, usize)> = axes.filter(|a| a.0 > 1).map(|(extent, stride)| (stride, extent)).collect();
    axes.sort_unstable();
    let mut reach = 0;
    for (stride, extent) in axes {
        if stride <= reach {
            let message = format!(
                "extents {:?}, strides {:?}, {} tensors {} apart: an index of {extent} values by {stride} may meet elements of others, \
                 which reach {reach}; what is written must have positive strides, each larger than that",
                layout.extents(),
                layout.strides(),
                layout.batch(),
                layout.batch_stride()
            );
            return Err(Error::Argument { name: "layout", message });
        }
        // No more than the last place, which fits.
        reach += stride * (extent as isize - 1);
    }
    Ok(())
}

/// Tensors that own their elements: what [`eval`](crate::backend::AskedEinsum::eval) gives, row-major, one tensor
/// behind the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch<T> {
    values: Vec<T>,
    layout: Layout,
}

impl<T> Batch<T> {
    /// `values` under `layout`.
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
    /// To read them.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View { data: Data::One(&self.values), layout: self.layout.clone() }
    }
    /// To write them.
    /// # Errors
    /// As [`ViewMut::new`].
    pub fn view_mut(&mut self) -> Result<ViewMut<'_, T>> {
        ViewMut::new(&mut self.values, self.layout.clone())
    }
}

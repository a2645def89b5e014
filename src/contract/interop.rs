//! Arrays of the crate ndarray as operands and results (feature `ndarray`).
//!
//! ```
//! use ndarray::{Array2, array};
//! use sparring::{Cpu, algebra::PlusTimes, contract::{Einsum, View, ViewMut}};
//! let (a, b) = (array![[1.0, 2.0], [3.0, 4.0]], array![[5.0, 6.0], [7.0, 8.0]]);
//! let mut c = Array2::<f64>::zeros((2, 2));
//! let product = Einsum::new("ij,jk->ik", &[View::try_from(a.t())?, View::try_from(b.view())?])?;
//! Cpu::new().einsum(PlusTimes::new(), product).into(&mut ViewMut::try_from(c.view_mut())?)?;
//! assert_eq!(c, a.t().dot(&b));
//! # Ok::<(), sparring::Error>(())
//! ```
//! Nothing is copied. An array is accepted if its elements fill its memory without gaps, in any order of its axes and
//! either direction of each: owned arrays, and views such as transposes and blocks of whole leading rows. The elements
//! of other views are interleaved with foreign elements, which no slice may cover; pass their owner instead, with a
//! [`Layout`].

use ndarray::{ArrayView, ArrayViewMut, Dimension};

use super::layout::Layout;
use super::view::{View, ViewMut};
use crate::{Error, Result};

/// The layout of such an array in the slice that it fills.
fn layout(extents: &[usize], strides: &[isize]) -> Result<Layout> {
    if extents.contains(&0) {
        return Layout::row_major(extents);
    }
    // The slice begins at its lowest address. Elements exist, so their offsets do not overflow.
    let before = extents.iter().zip(strides).filter(|(_, stride)| **stride < 0);
    let offset = before.map(|(extent, stride)| (extent - 1) * stride.unsigned_abs()).sum();
    Layout::new(extents, strides, offset)
}

fn gaps(extents: &[usize], strides: &[isize]) -> Error {
    let message = format!("extents {extents:?}, strides {strides:?}: its elements do not fill its memory");
    Error::Argument { name: "array", message }
}

impl<'a, T, D: Dimension> TryFrom<ArrayView<'a, T, D>> for View<'a, T> {
    type Error = Error;
    /// Views the array without copying.
    /// # Errors
    /// [`Error::Argument`] if its elements have gaps between them.
    fn try_from(array: ArrayView<'a, T, D>) -> Result<Self> {
        let data = array.to_slice_memory_order().ok_or_else(|| gaps(array.shape(), array.strides()))?;
        Self::new(data, layout(array.shape(), array.strides())?)
    }
}

impl<'a, T, D: Dimension> TryFrom<ArrayViewMut<'a, T, D>> for ViewMut<'a, T> {
    type Error = Error;
    /// Views the array without copying.
    /// # Errors
    /// [`Error::Argument`] if its elements have gaps between them, or if an index runs backwards.
    fn try_from(array: ArrayViewMut<'a, T, D>) -> Result<Self> {
        let layout = layout(array.shape(), array.strides())?;
        let wrong = gaps(array.shape(), array.strides());
        Self::new(array.into_slice_memory_order().ok_or(wrong)?, layout)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array, Array0, Array3, ArrayD, Axis, Ix3, s};

    use super::*;

    /// Every element has the address that the array gives it.
    fn same(array: ArrayView<'_, f64, Ix3>) {
        let view = View::try_from(array).unwrap();
        assert_eq!(view.layout().extents(), array.shape());
        for ((i, j, k), x) in array.indexed_iter() {
            assert!(std::ptr::eq(view.get(0, &[i, j, k]).unwrap(), x), "{:?}", view.layout());
        }
    }

    #[test]
    fn arrays_of_any_order_lie_as_they_are() {
        let rows = Array::from_iter((0..24).map(f64::from)).into_shape_with_order((2, 3, 4)).unwrap();
        let mut axes = [0, 1, 2];
        for order in [[0, 1, 2], [2, 0, 1], [1, 0, 2], [2, 1, 0]] {
            axes.copy_from_slice(&order);
            let mut turned = rows.view().permuted_axes(axes);
            same(turned.view());
            for axis in 0..3 {
                turned.invert_axis(Axis(axis));
                same(turned.view());
            }
        }
        same(rows.slice(s![1.., .., ..]));
        same(rows.slice(s![..;2, .., ..]).slice(s![..1, .., ..]));
        same(Array3::<f64>::zeros((2, 0, 4)).view());
        let one = Array0::from_elem((), 5.0);
        assert_eq!(View::try_from(one.view()).unwrap().get(0, &[]), Some(&5.0));
        let any = ArrayD::<f64>::zeros(vec![2; 9]);
        assert_eq!(View::try_from(any.view()).unwrap().layout().rank(), 9);
    }

    #[test]
    fn gaps_are_refused_with_their_strides() {
        let mut rows = Array3::<f64>::zeros((2, 3, 4));
        let expected = "array: extents [2, 3, 2], strides [12, 4, 1]: its elements do not fill its memory";
        assert_eq!(View::try_from(rows.slice(s![.., .., 1..3])).unwrap_err().to_string(), expected);
        assert_eq!(ViewMut::try_from(rows.slice_mut(s![.., .., 1..3])).unwrap_err().to_string(), expected);
        let list = [1.0];
        let broadcast = ndarray::aview1(&list);
        assert!(View::try_from(broadcast.broadcast((2, 1)).unwrap()).is_err());
        let backwards = ViewMut::try_from(rows.slice_mut(s![..;-1, .., ..])).unwrap_err().to_string();
        assert!(backwards.contains("positive strides"), "{backwards}");
        let turned = ViewMut::try_from(rows.view_mut().reversed_axes()).unwrap();
        assert_eq!(turned.layout().strides(), [1, 4, 12]);
    }
}

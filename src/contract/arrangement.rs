//! Layout rules for new tensors, predefined and custom.

use super::layout::Layout;
use crate::Result;

/// A layout rule for new tensors: [`RowMajor`], [`ColumnMajor`], [`Interleaved`], or a custom one.
///
/// Contractions allocate results by it ([`eval_in`](crate::backend::EinsumBuilder::eval_in)), and arrays are read by
/// it.
/// ```
/// use sparring::{Cpu, Result, algebra::PlusTimes};
/// use sparring::contract::{Arrangement, Einsum, Interleaved, Layout, View};
/// /// Row-major, each row in cache lines of its own.
/// struct PaddedRows;
/// impl Arrangement for PaddedRows {
///     fn layout(&self, extents: &[usize], batch: usize) -> Result<Layout> {
///         let [m, n] = *extents else { return Layout::row_major(extents)?.batched(batch) };
///         let row = n.next_multiple_of(8) as isize;
///         Layout::new(extents, &[row, 1], 0)?.strided(batch, m as isize * row)
///     }
/// }
/// let x = [1.0, 2.0, 3.0, 4.0];
/// // Two matrices, interleaved element by element.
/// let x = View::new(&x, Interleaved.layout(&[1, 2], 2)?)?;
/// let y = Cpu::new().einsum(PlusTimes::new(), Einsum::new("ij->ji", &[x])?).eval_in(&PaddedRows)?;
/// assert_eq!(y.view().layout().strides(), [8, 1]);
/// assert_eq!((y.view().get(1, &[0, 0]), y.view().get(1, &[1, 0])), (Some(&2.0), Some(&4.0)));
/// # Ok::<(), sparring::Error>(())
/// ```
/// The returned layout is checked like any [`Layout`]: a result of other extents, or one in which two elements overlap,
/// is refused.
///
/// Source: Abdelfattah et al. 2016, §4: layouts that are predefined, and others that users add.
pub trait Arrangement {
    /// The layout of a batch of tensors of these extents.
    /// # Errors
    /// Those of the layout's constructor.
    fn layout(&self, extents: &[usize], batch: usize) -> Result<Layout>;
}

/// Tensors in sequence, the last index fastest: [`Layout::row_major`].
#[derive(Clone, Copy, Debug, Default)]
pub struct RowMajor;

/// Tensors in sequence, the first index fastest: [`Layout::column_major`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ColumnMajor;

/// All tensors interleaved element by element: [`Layout::interleaved`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Interleaved;

impl Arrangement for RowMajor {
    fn layout(&self, extents: &[usize], batch: usize) -> Result<Layout> {
        Layout::row_major(extents)?.batched(batch)
    }
}
impl Arrangement for ColumnMajor {
    fn layout(&self, extents: &[usize], batch: usize) -> Result<Layout> {
        Layout::column_major(extents)?.batched(batch)
    }
}
impl Arrangement for Interleaved {
    fn layout(&self, extents: &[usize], batch: usize) -> Result<Layout> {
        Layout::interleaved(extents, batch)
    }
}

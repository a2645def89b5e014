//! Tensors of one shape, each in its own array.

use std::sync::Arc;

use super::layout::Layout;
use super::view::{View, ViewMut, check_disjoint};
use crate::{Error, Result};

/// Tensors of one shape, each in its own array, that are read like a batch: an operand of contractions beside batches
/// of as many tensors.
///
/// Nothing is copied together. Each tensor of the result is then a block of its own, which costs some 35 ns more than
/// in a batch: five times as much for 4 × 4 matrices of f64, twice for 8 × 8, a tenth more from 16 × 16 on. The action
/// of a mass operator computes one element at a time.
/// ```
/// use sparring::{Cpu, algebra::PlusTimes, contract::{Einsum, Group, GroupMut, Layout, View, ViewMut}};
/// let square = Layout::row_major(&[2, 2])?;
/// let matrices = [vec![1.0, 2.0, 3.0, 4.0], vec![0.0, 1.0, 1.0, 0.0]];
/// let mut a = Group::new(square.clone())?;
/// for matrix in &matrices {
///     a.push(View::new(matrix, square.clone())?)?;
/// }
/// let b = [5.0, 6.0, 7.0, 8.0];
/// let b = View::new(&b, square.clone())?;
/// let products = Einsum::new("ij,jk->ik", &[a.view(), b])?;
/// let cpu = Cpu::new();
/// let all = cpu.einsum(PlusTimes::new(), products.clone()).eval()?;
/// assert_eq!(all.values(), [19.0, 22.0, 43.0, 50.0, 7.0, 8.0, 5.0, 6.0]);
/// // Also into arrays at arbitrary addresses.
/// let (mut first, mut second) = ([0.0; 4], [0.0; 4]);
/// let mut c = GroupMut::new(square.clone())?;
/// c.push(ViewMut::new(&mut first, square.clone())?)?;
/// c.push(ViewMut::new(&mut second, square)?)?;
/// cpu.einsum(PlusTimes::new(), products).into_group(&mut c)?;
/// assert_eq!((first, second), ([19.0, 22.0, 43.0, 50.0], [7.0, 8.0, 5.0, 6.0]));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Abdelfattah et al. 2016, §4.
#[derive(Clone, Debug)]
pub struct Group<'a, T> {
    members: Vec<&'a [T]>,
    layout: Layout,
}

/// The mutable counterpart of [`Group`]: the target of [`into_group`](crate::backend::EinsumBuilder::into_group).
#[derive(Debug)]
pub struct GroupMut<'a, T> {
    members: Vec<&'a mut [T]>,
    layout: Layout,
}

impl<'a, T: Clone> Group<'a, T> {
    /// An empty group, each of whose tensors will have this layout in its array.
    /// # Errors
    /// [`Error::Length`] if the layout is one of a batch.
    pub fn new(layout: Layout) -> Result<Self> {
        Ok(Self { members: vec![], layout: none(layout)? })
    }
    /// Appends a tensor.
    /// # Errors
    /// [`Error::Argument`] if its extents, strides or offset differ; [`Error::Length`] if it is a batch of several;
    /// [`Error::OutOfMemory`].
    pub fn push(&mut self, tensor: View<'a, T>) -> Result<()> {
        same(&self.layout, tensor.layout())?;
        // One tensor has one array.
        push(&mut self.members, &mut self.layout, tensor.arrays()[0])
    }
    /// The layout of each tensor in its array.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The tensors as an operand.
    #[must_use]
    pub fn view(self) -> View<'a, T> {
        View::group(Arc::new(self.members), self.layout)
    }
}

impl<'a, T> GroupMut<'a, T> {
    /// An empty group, each of whose tensors will have this layout in its array.
    /// # Errors
    /// As [`Group::new`]; [`Error::Argument`] as [`ViewMut::new`].
    pub fn new(layout: Layout) -> Result<Self> {
        check_disjoint(&layout)?;
        Ok(Self { members: vec![], layout: none(layout)? })
    }
    /// Appends a tensor.
    /// # Errors
    /// As [`Group::push`].
    pub fn push(&mut self, tensor: ViewMut<'a, T>) -> Result<()> {
        same(&self.layout, tensor.layout())?;
        push(&mut self.members, &mut self.layout, tensor.into_array())
    }
    /// The layout of each tensor in its array.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The array of each tensor.
    pub(crate) fn arrays_mut(&mut self) -> &mut [&'a mut [T]] {
        &mut self.members
    }
}

/// The layout of a group without tensors.
fn none(layout: Layout) -> Result<Layout> {
    match layout.batch() {
        1 => layout.strided(0, 0),
        found => Err(Error::Length { what: "batch of a group's tensor", found, expected: 1 }),
    }
}

/// Checks that a tensor has the layout of the group.
fn same(group: &Layout, tensor: &Layout) -> Result<()> {
    if tensor.batch() != 1 {
        return Err(Error::Length { what: "batch of a group's tensor", found: tensor.batch(), expected: 1 });
    }
    let of = |l: &Layout| format!("extents {:?}, strides {:?}, offset {}", l.extents(), l.strides(), l.offset());
    let equal = tensor.extents() == group.extents() && tensor.strides() == group.strides();
    if !equal || tensor.offset() != group.offset() {
        let message = format!("tensor {} has {}, the group {}", group.batch(), of(tensor), of(group));
        return Err(Error::Argument { name: "group", message });
    }
    Ok(())
}

/// Appends a member; unchanged on error.
fn push<M>(members: &mut Vec<M>, layout: &mut Layout, member: M) -> Result<()> {
    let bytes = (members.len() as u128 + 1) * size_of::<M>() as u128;
    members.try_reserve(1).map_err(|_| Error::OutOfMemory { what: "members of a group", bytes })?;
    layout.push()?;
    members.push(member);
    Ok(())
}

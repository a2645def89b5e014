//! Memory layout of a tensor: extents, strides, an offset, and the stride of the batch.

use crate::{Error, Result};

/// `place(b, i₁ … i_d) = offset + b·batch_stride + Σ iₖ·strideₖ`: the positions of the elements of a batch of equal
/// tensors in an array.
///
/// Strides count elements. They may be negative (an index that runs backwards) or 0 (one element for every value of an
/// index); a batch stride of 0 is one tensor for the whole batch. Extents and batches may be 0: such a tensor has no
/// elements. Each tensor of a [`Group`](super::Group) has its own array and positions in it, so its batch stride is 0
/// too. No operation here moves data.
///
/// | order | element (i, j) of tensor b, extents (m, n), in a batch of B |
/// | --- | --- |
/// | [`row_major`](Self::row_major) | `b·mn + i·n + j` |
/// | [`column_major`](Self::column_major) | `b·mn + i + j·m` |
/// | [`interleaved`](Self::interleaved) | `b + (i·n + j)·B` |
/// ```
/// use sparring::contract::Layout;
/// let rows = Layout::row_major(&[2, 3])?.batched(10)?;
/// assert_eq!(rows.position(4, &[1, 2]), Some(4 * 6 + 5));
/// // The same memory read as its transpose, and as a vector.
/// assert_eq!(rows.permute(&[1, 0])?.position(4, &[2, 1]), Some(29));
/// assert_eq!(rows.reshape(&[6])?.position(4, &[5]), Some(29));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    extents: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
    batch: usize,
    batch_stride: isize,
    /// Each tensor of the batch has its own array.
    group: bool,
}

fn argument(name: &'static str, message: String) -> Error {
    Error::Argument { name, message }
}

impl Layout {
    /// One tensor with the given strides.
    /// # Errors
    /// [`Error::Length`] unless there are as many strides as extents; [`Error::Argument`] if an element would lie
    /// before the array; [`Error::IndexOverflow`] if one would lie beyond the reach of an array, or if the number of
    /// elements overflows.
    pub fn new(extents: &[usize], strides: &[isize], offset: usize) -> Result<Self> {
        if strides.len() != extents.len() {
            return Err(Error::Length { what: "strides", found: strides.len(), expected: extents.len() });
        }
        Self { extents: extents.to_vec(), strides: strides.to_vec(), offset, batch: 1, batch_stride: 0, group: false }
            .checked()
    }
    /// The last index varies fastest.
    /// # Errors
    /// [`Error::IndexOverflow`].
    pub fn row_major(extents: &[usize]) -> Result<Self> {
        Self::new(extents, &dense(extents.iter().rev(), 1)?.into_iter().rev().collect::<Vec<_>>(), 0)
    }
    /// The first index varies fastest.
    /// # Errors
    /// [`Error::IndexOverflow`].
    pub fn column_major(extents: &[usize]) -> Result<Self> {
        Self::new(extents, &dense(extents.iter(), 1)?, 0)
    }
    /// Interleaved batches: the number in the batch varies fastest, then the last index.
    ///
    /// Blocks of a fixed number of lanes, as some libraries use, are expressed by an index of their own:
    /// `"xikv,xkjv->xijv"`.
    /// # Errors
    /// [`Error::IndexOverflow`].
    pub fn interleaved(extents: &[usize], batch: usize) -> Result<Self> {
        let strides: Vec<_> = dense(extents.iter().rev(), batch)?.into_iter().rev().collect();
        Self::new(extents, &strides, 0)?.strided(batch, 1)
    }
    /// A batch of such tensors in sequence.
    /// # Errors
    /// [`Error::IndexOverflow`].
    pub fn batched(self, batch: usize) -> Result<Self> {
        let one = Self { batch: 1, ..self.clone() };
        let span = one.span().map_or(0, |(first, last)| last - first + 1);
        // At most isize::MAX, by `checked`.
        self.strided(batch, span as isize)
    }
    /// A batch of such tensors, `stride` elements apart; 0: all are the same tensor.
    /// # Errors
    /// As [`new`](Self::new).
    pub fn strided(self, batch: usize, stride: isize) -> Result<Self> {
        Self { batch, batch_stride: stride, group: false, ..self }.checked()
    }
    /// One tensor for every member of a batch: [`strided`](Self::strided) by 0.
    /// # Errors
    /// [`Error::IndexOverflow`].
    pub fn broadcast(self, batch: usize) -> Result<Self> {
        self.strided(batch, 0)
    }
    /// Appends a tensor in an array of its own.
    pub(super) fn push(&mut self) -> Result<()> {
        let before = (self.batch, self.group);
        (self.batch, self.batch_stride, self.group) = (before.0 + 1, 0, before.0 > 0);
        self.check().inspect_err(|_| (self.batch, self.group) = before)
    }
    /// The indices in another order: index k of the result is index `order[k]` of this layout.
    /// # Errors
    /// [`Error::Argument`] if `order` does not name every index once.
    pub fn permute(&self, order: &[usize]) -> Result<Self> {
        let mut seen = vec![false; self.rank()];
        let once = order.iter().all(|&k| k < self.rank() && !std::mem::replace(&mut seen[k], true));
        if !once || order.len() != self.rank() {
            return Err(argument("order", format!("{order:?} does not name each of {} indices once", self.rank())));
        }
        let pick = |k: &usize| (self.extents[*k], self.strides[*k]);
        let (extents, strides) = order.iter().map(pick).unzip();
        Ok(Self { extents, strides, ..self.clone() })
    }
    /// The same elements under other extents, enumerated with the last index fastest.
    /// # Errors
    /// [`Error::Argument`] if the number of elements differs, or if the new extents have no strides for these elements,
    /// so that they would have to be copied.
    pub fn reshape(&self, extents: &[usize]) -> Result<Self> {
        let message = |why| format!("{:?} with strides {:?} as {extents:?}: {why}", self.extents, self.strides);
        let count =
            |e: &[usize]| if e.contains(&0) { Some(0) } else { e.iter().try_fold(1usize, |n, &e| n.checked_mul(e)) };
        if count(extents) != count(&self.extents) {
            return Err(argument("reshape", message("the number of elements differs")));
        }
        let strides = if count(extents) == Some(0) {
            vec![0; extents.len()]
        } else {
            resliced(&self.extents, &self.strides, extents)
                .ok_or_else(|| argument("reshape", message("the elements would have to be moved")))?
        };
        Self { extents: extents.to_vec(), strides, ..self.clone() }.checked()
    }
    /// As [`reshape`](Self::reshape), enumerated with the first index fastest: splits and joins the indices of
    /// [`column_major`](Self::column_major).
    /// # Errors
    /// As [`reshape`](Self::reshape).
    pub fn reshape_columns(&self, extents: &[usize]) -> Result<Self> {
        let back = |n: usize| (0..n).rev().collect::<Vec<_>>();
        let reversed: Vec<_> = extents.iter().rev().copied().collect();
        self.permute(&back(self.rank()))?.reshape(&reversed)?.permute(&back(extents.len()))
    }
    /// Number of indices.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.extents.len()
    }
    /// The extent of each index.
    #[must_use]
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }
    /// Elements from one value of each index to the next.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }
    /// The position of the element whose indices are all 0.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }
    /// Tensors in the batch.
    #[must_use]
    pub fn batch(&self) -> usize {
        self.batch
    }
    /// Elements from one tensor of the batch to the next.
    #[must_use]
    pub fn batch_stride(&self) -> isize {
        self.batch_stride
    }
    /// Whether each tensor of the batch has its own array, in which this layout applies: the layout of a
    /// [`Group`](super::Group).
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.group
    }
    /// Whether each tensor of the batch has elements of its own.
    pub(super) fn differs(&self) -> bool {
        self.batch != 1 && (self.batch_stride != 0 || self.group)
    }
    /// Elements of all tensors of the batch; an element shared by several indices counts once for each.
    #[must_use]
    pub fn elements(&self) -> usize {
        // The product of the nonzero extents alone might overflow.
        if self.axes().any(|(extent, _)| extent == 0) { 0 } else { self.axes().map(|(extent, _)| extent).product() }
    }
    /// The position of element `index` of tensor `b` of the batch; `None` if there is none.
    #[must_use]
    pub fn position(&self, b: usize, index: &[usize]) -> Option<usize> {
        let inside =
            index.len() == self.rank() && b < self.batch && index.iter().zip(&self.extents).all(|(i, e)| i < e);
        let step = |at: usize, (&i, &s): (&usize, &isize)| at.wrapping_add((i as isize).wrapping_mul(s) as usize);
        let first = self.offset.wrapping_add((b as isize).wrapping_mul(self.batch_stride) as usize);
        inside.then(|| index.iter().zip(&self.strides).fold(first, step))
    }
    /// Length that an array needs for this layout: one more than the last position.
    #[must_use]
    pub fn array_len(&self) -> usize {
        self.span().map_or(0, |(_, last)| last + 1)
    }
    /// The first and the last position of an element; `None` if there are no elements.
    pub(super) fn span(&self) -> Option<(usize, usize)> {
        // Both fit, by `checked`.
        self.wide_span().map(|(first, last)| (first as usize, last as usize))
    }
    /// Extents and strides, those of the batch first.
    pub(super) fn axes(&self) -> impl Iterator<Item = (usize, isize)> + '_ {
        let inner = self.extents.iter().copied().zip(self.strides.iter().copied());
        std::iter::once((self.batch, self.batch_stride)).chain(inner)
    }
    fn wide_span(&self) -> Option<(i128, i128)> {
        if self.axes().any(|(extent, _)| extent == 0) {
            return None;
        }
        let at = self.offset as i128;
        Some(self.axes().fold((at, at), |(first, last), (extent, stride)| {
            // Below 2¹²⁷: both factors are below 2⁶⁴, and sums saturate.
            let reach = (extent as i128 - 1) * stride as i128;
            (first.saturating_add(reach.min(0)), last.saturating_add(reach.max(0)))
        }))
    }
    /// Checks that elements lie within an array, and that their number does not overflow.
    fn check(&self) -> Result<()> {
        let Some((first, last)) = self.wide_span() else { return Ok(()) };
        if first < 0 {
            let (extents, strides) = (&self.extents, &self.strides);
            let message = format!(
                "extents {extents:?}, strides {strides:?}, {} tensors {} apart, offset {}: an element would lie {} before the array",
                self.batch,
                self.batch_stride,
                self.offset,
                first.unsigned_abs()
            );
            return Err(argument("layout", message));
        }
        let max = isize::MAX as u128;
        let elements = self.axes().try_fold(1u128, |n, (e, _)| n.checked_mul(e as u128)).unwrap_or(u128::MAX);
        for (what, needed) in [("places of a layout", last as u128 + 1), ("elements of a layout", elements)] {
            if needed > max {
                return Err(Error::IndexOverflow { what, needed, max });
            }
        }
        Ok(())
    }
    fn checked(self) -> Result<Self> {
        self.check()?;
        Ok(self)
    }
}

/// Contiguous strides with the first index fastest, beginning with `step`.
fn dense<'a>(extents: impl Iterator<Item = &'a usize>, step: usize) -> Result<Vec<isize>> {
    let max = isize::MAX as u128;
    let mut stride = step as u128;
    extents
        .map(|&extent| {
            let this = isize::try_from(stride);
            // The stride behind an empty index is unused, and must not hide that earlier extents are too large.
            let next = stride.saturating_mul(extent.max(1) as u128);
            let needed = std::mem::replace(&mut stride, next);
            this.map_err(|_| Error::IndexOverflow { what: "strides of a layout", needed, max })
        })
        .collect()
}

/// Strides of the extents `new` that enumerate the same elements, with the last index fastest. No extent is 0, and both
/// have as many elements.
fn resliced(old: &[usize], strides: &[isize], new: &[usize]) -> Option<Vec<isize>> {
    // The strides of indices of extent 1 are irrelevant.
    let old: Vec<(usize, isize)> = old.iter().copied().zip(strides.iter().copied()).filter(|o| o.0 != 1).collect();
    let mut found = vec![0; new.len()];
    let (mut i, mut j) = (0, 0);
    while i < old.len() {
        // The smallest groups of old and new indices, from here on, with equally many elements.
        let (from, first) = (i, j);
        let (mut have, mut want) = (old[i].0, 1);
        i += 1;
        while have != want {
            if want < have {
                want = want.checked_mul(*new.get(j)?)?;
                j += 1;
            } else {
                have = have.checked_mul(old.get(i)?.0)?;
                i += 1;
            }
        }
        // The old indices of a group must be contiguous, as a single index would be.
        let joined =
            |w: &[(usize, isize)]| isize::try_from(w[1].0).ok().and_then(|e| w[1].1.checked_mul(e)) == Some(w[0].1);
        if !old[from..i].windows(2).all(joined) {
            return None;
        }
        let mut stride = old[i - 1].1;
        for k in (first..j).rev() {
            found[k] = stride;
            stride = stride.checked_mul(isize::try_from(new[k]).ok()?)?;
        }
    }
    Some(found)
}

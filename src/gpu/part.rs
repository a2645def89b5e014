//! Extraction from matrices and assignment to them by index lists: see `cuda/part.cu`.

use std::ops::Range;
use std::sync::Arc;

use super::Cuda;
use super::buffer::{Buffer, RawBuffer};
use super::csr::{RawCsr, column_bound};
use super::defines::{Prefix, Setting};
use super::index::{DeviceList, marks, no_offsets, offsets};
use super::jit::{Source, Unit, source};
use super::launch::{Arg, Program, Shape, args};
use super::pattern::{DevicePattern, Offsets};
use super::rows::tiles;
use super::transpose::Sorter;
use crate::algebra::{Slice, Type};
use crate::sparse::IndexList;
use crate::{Error, Result};

const SOURCE: Source = source!("part.cu");

/// A submatrix (I, J) of a matrix.
pub(crate) type Part<'a> = (&'a IndexList, &'a IndexList);

/// A bitmap of selected entries, the number of set bits before each word, and in all.
struct Marked {
    words: Buffer<u32>,
    before: Offsets,
    total: usize,
}

/// The source rows of a result.
struct SourceRows<'a> {
    list: &'a DeviceList,
    /// Row r of the result is the row at the position of r in the list, rather than the row of its r-th index.
    inverse: bool,
    /// The columns to extract, if not all.
    range: Option<Range<usize>>,
}

impl Cuda {
    fn part_program(&self, ty: Type) -> Result<Arc<Program>> {
        self.program_of(SOURCE, Prefix::new("", &[Setting::words(ty)]))
    }

    /// A(I, J): C(p, q) = A(I(p), J(q)), rows sorted.
    ///
    /// Shapes: `a` m×n, result |I|×|J|. Cost: O(|I|) and, if J is a range, a binary search for each entry of the
    /// result; otherwise every entry of the rows I is tested, its column looked up in an array of n or in J. The result
    /// is sorted if J does not increase. 4 bytes for each row, and a bit for each tested entry.
    pub(crate) fn extract_raw(&self, a: &RawCsr, (rows, cols): Part<'_>) -> Result<RawCsr> {
        let (m, n) = a.shape();
        let (rows, cols) = (self.device_list(rows, "rows", m)?, self.device_list(cols, "cols", n)?);
        column_bound(cols.len)?;
        let a = self.sorted_raw(a)?;
        if rows.is_all(m) && cols.is_all(n) {
            return Ok(a);
        }
        let shape = (rows.len, cols.len);
        if let Some(range) = cols.as_range() {
            // Column j becomes j − start.
            let shifted = DeviceList::range(0usize.wrapping_sub(range.start), n);
            let range = (!cols.is_all(n)).then_some(range);
            let from = SourceRows { list: &rows, inverse: false, range };
            return self.whole_rows(&a, &from, &shifted, shape, None);
        }
        if cols.may_repeat() {
            let part = match rows.is_all(m) {
                true => a,
                false => {
                    let from = SourceRows { list: &rows, inverse: false, range: None };
                    self.whole_rows(&a, &from, &DeviceList::range(0, n), (rows.len, n), None)?
                }
            };
            return self.repeated_columns(&part, &cols);
        }
        self.columns_of_rows(&a, &rows, cols)
    }

    /// The rows given by `from`, or a range of their columns; column j becomes `cols`' j-th index. Waits for the number
    /// of entries unless `nnz` gives it.
    fn whole_rows(
        &self,
        a: &RawCsr,
        from: &SourceRows<'_>,
        cols: &DeviceList,
        (nrows, ncols): (usize, usize),
        nnz: Option<usize>,
    ) -> Result<RawCsr> {
        let (p, what, program) = (&*a.pattern, "rows of a part", self.part_program(a.ty())?);
        let (counts, skipped) = self.count_rows_of(p, from, nrows, &program)?;
        let (row_ptr, nnz) = match nnz {
            Some(nnz) => (self.offsets_of_sum(&counts, nnz as u64, what)?, nnz),
            None => {
                let (row_ptr, nnz) = self.offsets(&counts, what)?;
                (row_ptr, nnz as usize)
            }
        };
        let (col_idx, values) = self.entries_of(a.ty(), nnz)?;
        let arguments = args![
            offsets(&p.row_ptr),
            &p.col_idx,
            &a.values,
            from.list,
            u32::from(from.inverse),
            skipped.as_ref(),
            cols,
            offsets(&row_ptr),
            nrows as u64,
            nnz as u64,
            &col_idx,
            &values
        ];
        program.kernel("part_fill")?.launch(tiles(nnz)?, arguments)?;
        let sorted = p.sorted && cols.increases() || nnz == 0;
        self.sorted_raw(&RawCsr::new(DevicePattern::new((nrows, ncols), sorted, row_ptr, col_idx), values))
    }
    /// Entries of each row of a result; for a range of columns, also the entries before the range.
    fn count_rows_of(
        &self,
        p: &DevicePattern,
        from: &SourceRows<'_>,
        nrows: usize,
        program: &Program,
    ) -> Result<(Buffer<u32>, Option<Buffer<u32>>)> {
        let counts = self.alloc::<u32>(nrows, "entries of rows")?;
        let skipped = from.range.as_ref().map(|_| self.alloc::<u32>(nrows, "entries before a range")).transpose()?;
        let range = from.range.clone().unwrap_or_default();
        let arguments = args![
            offsets(&p.row_ptr),
            &p.col_idx,
            from.list,
            u32::from(from.inverse),
            nrows as u64,
            range.start as u32,
            range.end as u32,
            skipped.as_ref(),
            &counts
        ];
        program.kernel("part_counts")?.launch(Shape::for_each(nrows, 256)?, arguments)?;
        Ok((counts, skipped))
    }
    fn entries_of(&self, ty: Type, nnz: usize) -> Result<(Buffer<u32>, Arc<RawBuffer>)> {
        Ok((self.alloc(nnz, "columns of a part")?, self.alloc_raw(ty, nnz, "values of a part")?))
    }

    /// A(I, J) for a list J without repeats that is not a range.
    fn columns_of_rows(&self, a: &RawCsr, rows: &DeviceList, cols: DeviceList) -> Result<RawCsr> {
        let (p, (m, n), program) = (&*a.pattern, a.shape(), self.part_program(a.ty())?);
        let shape = (rows.len, cols.len);
        let gathered;
        let (v_ptr, v_nnz) = if rows.is_all(m) {
            (&p.row_ptr, p.nnz)
        } else {
            let from = SourceRows { list: rows, inverse: false, range: None };
            let found = self.offsets(&self.count_rows_of(p, &from, rows.len, &program)?.0, "rows of a part")?;
            gathered = found.0;
            (&gathered, found.1 as usize)
        };
        let cols = self.inverted(cols, n, v_nnz)?;
        let found = self.marked_by(v_nnz, |words, counts| {
            let arguments = args![
                offsets(&p.row_ptr),
                &p.col_idx,
                rows,
                offsets(v_ptr),
                rows.len as u64,
                v_nnz as u64,
                &cols,
                words,
                counts
            ];
            program.kernel("part_marks")?.launch(tiles(v_nnz)?, arguments)
        })?;
        let made = self.gather_marked(a, (rows, v_ptr, v_nnz), Some(&cols), &found, shape)?;
        self.sorted_raw(&made)
    }
    /// A bitmap set by a kernel, which also counts the bits of each word. Waits for the total.
    fn marked_by(&self, nnz: usize, set: impl FnOnce(&Buffer<u32>, &Buffer<u32>) -> Result<()>) -> Result<Marked> {
        let what = "marks of entries";
        let (words, counts) = (self.alloc(nnz.div_ceil(32), what)?, self.alloc(nnz.div_ceil(32), what)?);
        set(&words, &counts)?;
        let (before, total) = self.offsets(&counts, what)?;
        Ok(Marked { words, before, total: total as usize })
    }
    /// The marked entries of the rows of a list, which begin at `v_ptr`. With `cols`, columns become their positions in
    /// that list.
    fn gather_marked(
        &self,
        a: &RawCsr,
        (rows, v_ptr, v_nnz): (&DeviceList, &Offsets, usize),
        cols: Option<&DeviceList>,
        found: &Marked,
        (nrows, ncols): (usize, usize),
    ) -> Result<RawCsr> {
        let (p, program) = (&*a.pattern, self.part_program(a.ty())?);
        let row_ptr = self.alloc_offsets(found.before.is_large(), nrows + 1, "row pointers of a part")?;
        let (col_idx, values) = self.entries_of(a.ty(), found.total)?;
        let bits = marks(&found.words, &found.before);
        let arguments = args![offsets(v_ptr), &bits, no_offsets(), nrows as u64, offsets(&row_ptr)];
        program.kernel("marked_rows")?.launch(Shape::for_each(nrows + 1, 256)?, arguments)?;
        let all = DeviceList::range(0, ncols);
        let arguments = args![
            offsets(&p.row_ptr),
            &p.col_idx,
            &a.values,
            rows,
            offsets(v_ptr),
            nrows as u64,
            v_nnz as u64,
            cols.unwrap_or(&all),
            u32::from(cols.is_some()),
            &bits,
            &col_idx,
            &values
        ];
        program.kernel("marked_fill")?.launch(tiles(v_nnz)?, arguments)?;
        let sorted = p.sorted && cols.is_none_or(DeviceList::increases) || found.total == 0;
        Ok(RawCsr::new(DevicePattern::new((nrows, ncols), sorted, row_ptr, col_idx), values))
    }
    /// A(:, J) for any J.
    fn repeated_columns(&self, a: &RawCsr, cols: &DeviceList) -> Result<RawCsr> {
        let (p, (m, n), program) = (&*a.pattern, a.shape(), self.part_program(a.ty())?);
        let sorter = Sorter::new(self, a.ty(), cols.len)?;
        let order = sorter.sort(&self.indices_of(cols)?, None, n)?;
        let (keys, len) = (&order.keys, cols.len as u64);
        let counts = self.alloc::<u32>(p.nnz, "entries of repeated columns")?;
        let arguments = args![&p.col_idx, p.nnz as u64, keys, len, &counts];
        program.kernel("repeat_counts")?.launch(Shape::for_each(p.nnz, 256)?, arguments)?;
        let (before, nnz) = self.offsets(&counts, "entries of repeated columns")?;
        let nnz = nnz as usize;
        let row_ptr = self.alloc_offsets(before.is_large(), m + 1, "row pointers of a part")?;
        let arguments = args![offsets(&p.row_ptr), m as u64, offsets(&before), offsets(&row_ptr)];
        program.kernel("repeat_rows")?.launch(Shape::for_each(m + 1, 256)?, arguments)?;
        let (col_idx, values) = self.entries_of(a.ty(), nnz)?;
        let arguments = args![
            &p.col_idx,
            &a.values,
            p.nnz as u64,
            keys,
            len,
            offsets(&order.positions),
            offsets(&before),
            nnz as u64,
            &col_idx,
            &values
        ];
        program.kernel("repeat_fill")?.launch(tiles(nnz)?, arguments)?;
        let pattern = DevicePattern::new((m, cols.len), nnz == 0, row_ptr, col_idx);
        self.sorted_raw(&RawCsr::new(pattern, values))
    }

    /// The m×n matrix whose submatrix (I, J) is A; rows sorted.
    ///
    /// Shapes: `a` |I|×|J|. Cost: O(m), and a binary search for each entry; 4 bytes for each row. The result is sorted
    /// if J does not increase. No wait, except for uploading lists.
    pub(crate) fn place_raw(&self, a: &RawCsr, (rows, cols): Part<'_>, (m, n): (usize, usize)) -> Result<RawCsr> {
        column_bound(n)?;
        let (of_rows, of_cols) = (self.device_list(rows, "rows", m)?, self.device_list(cols, "cols", n)?);
        if (of_rows.len, of_cols.len) != a.shape() {
            return Err(Error::Shape { op: "assign", lhs: (of_rows.len, of_cols.len), rhs: a.shape() });
        }
        self.distinct_list(rows, "rows", m)?;
        self.distinct_list(cols, "cols", n)?;
        if of_rows.is_all(m) && of_cols.is_all(n) {
            return self.sorted_raw(a);
        }
        let list = &self.inverted(of_rows, m, m)?;
        self.whole_rows(a, &SourceRows { list, inverse: true, range: None }, &of_cols, (m, n), Some(a.nnz()))
    }

    /// The entries A(i, j) with i in I and j in J; rows sorted.
    ///
    /// Cost: every entry is tested, and takes a bit; an index is looked up in an array of the dimension, or in the
    /// list.
    pub(crate) fn within_raw(&self, a: &RawCsr, (rows, cols): Part<'_>) -> Result<RawCsr> {
        let shape = a.shape();
        let lists = (self.device_list(rows, "rows", shape.0)?, self.device_list(cols, "cols", shape.1)?);
        let a = self.sorted_raw(a)?;
        if lists.0.is_all(shape.0) && lists.1.is_all(shape.1) {
            return Ok(a);
        }
        let found = self.in_part(&a, lists, None, false)?;
        let all = DeviceList::range(0, shape.0);
        self.gather_marked(&a, (&all, &a.pattern.row_ptr, a.nnz()), None, &found, shape)
    }
    /// Marks the entries in a submatrix that a mask with sorted rows allows, or with `outside` all others.
    fn in_part(
        &self,
        a: &RawCsr,
        (rows, cols): (DeviceList, DeviceList),
        mask: Option<(&DevicePattern, bool)>,
        outside: bool,
    ) -> Result<Marked> {
        let (p, (m, n)) = (&*a.pattern, a.shape());
        let (rows, cols) = (self.members(rows, m, p.nnz)?, self.members(cols, n, p.nnz)?);
        let kernel = self.part_program(a.ty())?.kernel("within_marks")?;
        self.marked_by(p.nnz, |words, counts| {
            let (m_ptr, m_cols, complement) = match mask {
                Some((mask, complement)) => (offsets(&mask.row_ptr), Arg::from(&mask.col_idx), complement),
                None => (no_offsets(), Arg::null(), false),
            };
            let arguments = args![
                offsets(&p.row_ptr),
                &p.col_idx,
                m as u64,
                p.nnz as u64,
                &rows,
                &cols,
                u32::from(outside),
                m_ptr,
                m_cols,
                u32::from(complement),
                words,
                counts
            ];
            kernel.launch(tiles(p.nnz)?, arguments)
        })
    }

    /// C with its submatrix (I, J) replaced by A where the mask allows, absent entries included; rows sorted.
    ///
    /// Shapes: `c` and the mask m×n, `a` |I|×|J|. Cost: that of [`place_raw`](Self::place_raw) and of masking its
    /// result, a test of each entry of C, and a binary search for each entry of the result.
    pub(crate) fn assign_raw(
        &self,
        c: &RawCsr,
        a: &RawCsr,
        (rows, cols): Part<'_>,
        mask: Option<(&Arc<DevicePattern>, bool)>,
    ) -> Result<RawCsr> {
        let shape = c.shape();
        if let Some((mask, _)) = mask
            && mask.shape() != shape
        {
            return Err(Error::Shape { op: "mask", lhs: shape, rhs: mask.shape() });
        }
        a.values.check("the matrix that is assigned", c.ty())?;
        let mut placed = self.place_raw(a, (rows, cols), shape)?;
        let mask = mask.map(|(mask, complement)| Ok::<_, Error>((self.sort_rows(mask)?, complement))).transpose()?;
        let mask = mask.as_ref();
        if let Some((mask, complement)) = mask {
            placed = self.apply_mask_raw(&placed, mask, *complement)?;
        }
        let c = self.sorted_raw(c)?;
        let lists = (self.device_list(rows, "rows", shape.0)?, self.device_list(cols, "cols", shape.1)?);
        let kept = self.in_part(&c, lists, mask.map(|(mask, complement)| (&**mask, *complement)), true)?;
        self.merged(&c, &kept, &placed)
    }
    /// The marked entries of C merged with T. The two sets are disjoint.
    fn merged(&self, c: &RawCsr, kept: &Marked, t: &RawCsr) -> Result<RawCsr> {
        let (program, shape) = (self.part_program(c.ty())?, c.shape());
        let (cp, tp) = (&*c.pattern, &*t.pattern);
        let (nrows, nnz) = (shape.0, kept.total + tp.nnz);
        let row_ptr = self.alloc_offsets(u32::try_from(nnz).is_err(), nrows + 1, "row pointers of an assignment")?;
        let (col_idx, values) = self.entries_of(c.ty(), nnz)?;
        let bits = marks(&kept.words, &kept.before);
        let arguments = args![offsets(&cp.row_ptr), &bits, offsets(&tp.row_ptr), nrows as u64, offsets(&row_ptr)];
        program.kernel("marked_rows")?.launch(Shape::for_each(nrows + 1, 256)?, arguments)?;
        let arguments = args![
            offsets(&cp.row_ptr),
            &cp.col_idx,
            &c.values,
            nrows as u64,
            cp.nnz as u64,
            &bits,
            offsets(&tp.row_ptr),
            &tp.col_idx,
            &col_idx,
            &values
        ];
        program.kernel("merge_kept")?.launch(tiles(cp.nnz)?, arguments)?;
        let arguments = args![
            offsets(&tp.row_ptr),
            &tp.col_idx,
            &t.values,
            nrows as u64,
            tp.nnz as u64,
            offsets(&cp.row_ptr),
            &cp.col_idx,
            &bits,
            &col_idx,
            &values
        ];
        program.kernel("merge_placed")?.launch(tiles(tp.nnz)?, arguments)?;
        Ok(RawCsr::new(DevicePattern::new(shape, true, row_ptr, col_idx), values))
    }

    /// The m×n matrix with one value at every position of its submatrix (I, J), whose lists may repeat indices.
    pub(crate) fn constant_raw(&self, x: Slice<'_>, (rows, cols): Part<'_>, (m, n): (usize, usize)) -> Result<RawCsr> {
        column_bound(n)?;
        let (rows, cols) = (rows.distinct("rows", m)?, cols.distinct("cols", n)?);
        let (nrows, ncols) = (rows.len(m), cols.len(n));
        let nnz = nrows.checked_mul(ncols).ok_or_else(|| Error::IndexOverflow {
            what: "entries of a part",
            needed: nrows as u128 * ncols as u128,
            max: usize::MAX as u128,
        })?;
        let (x, program) = (self.scalar(x, x.ty())?, self.part_program(x.ty())?);
        let row_ptr = self.alloc_offsets(u32::try_from(nnz).is_err(), nrows + 1, "row pointers of a part")?;
        let (col_idx, values) = self.entries_of(x.ty(), nnz)?;
        let arguments = args![nrows as u64, ncols as u64, offsets(&row_ptr)];
        program.kernel("full_rows")?.launch(Shape::for_each(nrows + 1, 256)?, arguments)?;
        let arguments = args![nnz as u64, ncols as u64, &x, &col_idx, &values];
        program.kernel("full_fill")?.launch(Shape::for_each(nnz, 256)?, arguments)?;
        let full = RawCsr::new(DevicePattern::new((nrows, ncols), true, row_ptr, col_idx), values);
        self.place_raw(&full, (&rows, &cols), (m, n))
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    let hot = &["part_fill", "part_marks", "within_marks", "marked_fill", "merge_kept", "merge_placed"];
    [1, 8, 12]
        .map(|size| Unit { source: SOURCE, prefix: Prefix::new("", &[Setting::Words("Value", size)]).text(), hot })
        .into()
}

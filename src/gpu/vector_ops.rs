//! Operations on full, bitmap and sparse device vectors: see `cuda/vector.cu`.
//!
//! Two sparse vectors are merged as matrices of one row. A sparse vector and one of another form are joined at the
//! sparse vector's indices where the result allows it; otherwise the sparse vector is turned into a bitmap.

use std::sync::Arc;

use super::Cuda;
use super::arg::Arg;
use super::buffer::{Buffer, RawBuffer, same_type};
use super::csr::RawCsr;
use super::defines::{Prefix, Setting};
use super::ewise::{Fills, check_union};
use super::jit::Unit;
use super::launch::{Shape, args};
use super::pattern::{DevicePattern, Offsets};
use super::vector_form::{Form, PLACES, RawVector, SOURCE, moves};
use crate::algebra::{Printed, Slice, Type};
use crate::{Error, Result};

/// Most entries of two sparse vectors that one block joins: `MOST_LISTED` in the source.
const MOST_LISTED: usize = 8192;
/// The union of two sparse vectors is stored as a bitmap from 1/DENSE of the indices on. A bitmap is made without a
/// wait, and so is a product with it (`vxm_by_columns`), while at most 16 times the bytes are read.
const DENSE: usize = 16;

const EWISE: [Setting; 1] = [Setting::Switch("EWISE")];
const UNION: [Setting; 1] = [Setting::Switch("UNION")];
const FILLED: [Setting; 2] = [Setting::Switch("UNION"), Setting::Switch("FILLED")];
const APPLY: [Setting; 1] = [Setting::Switch("APPLY")];
const AT: [Setting; 1] = [Setting::Switch("AT")];
const SELECT: [Setting; 2] = [Setting::Switch("AT"), Setting::Switch("SELECT")];

pub(super) fn same_len(op: &'static str, u: &RawVector, v: &RawVector) -> Result<()> {
    if u.len == v.len { Ok(()) } else { Err(Error::Shape { op, lhs: (u.len, 1), rhs: (v.len, 1) }) }
}

/// Settings for the kernels that compare values with 0: the type of a number's components, and their count.
pub(super) fn parts(ty: Type) -> Result<([Setting; 2], u32)> {
    let (part, parts) = match ty {
        Type::ComplexF32 => (Type::F32, 2),
        Type::ComplexF64 => (Type::F64, 2),
        Type::Struct(s) => {
            return Err(Error::Unsupported {
                what: format!("a truth value of {}", s.name),
                why: "only numbers can be compared with 0; apply a function that returns a bool".into(),
            });
        }
        number => (number, 1),
    };
    Ok(([Setting::Switch("NONZERO"), Setting::Type("Part", part.cuda())], parts))
}

impl Cuda {
    /// A vector as a matrix of one row.
    pub(super) fn as_row(&self, v: &RawVector) -> Result<RawCsr> {
        let (indices, values) = self.entries_raw(v)?;
        let row_ptr = self.alloc::<u32>(2, "a vector as a row")?;
        self.each(PLACES, "one_row", 2, args![indices.len() as u32, &row_ptr])?;
        let pattern = DevicePattern::new((1, v.len), true, Offsets::Small(row_ptr), indices);
        Ok(RawCsr::new(pattern, values))
    }

    /// w(i) = u(i) ∘ v(i) where both have an entry.
    ///
    /// Cost: O(n) kernels; of a sparse vector and one of another form, O(nnz) of the sparse one; of two sparse vectors,
    /// a binary search for each entry of u.
    pub(crate) fn vector_ewise_mult_raw(&self, op: &Printed, u: &RawVector, v: &RawVector) -> Result<RawVector> {
        same_len("ewise_mult", u, v)?;
        u.values.check("the left vector", op.a)?;
        v.values.check("the right vector", op.b)?;
        let prefix = Prefix::new(&op.text, &EWISE);
        match (&u.form, &v.form) {
            (Form::List(_), Form::List(_)) => {
                Ok(row_as_list(self.ewise_mult_raw(op, &self.as_row(u)?, &self.as_row(v)?)?))
            }
            (Form::List(_), _) | (_, Form::List(_)) => {
                let (list, with, kernel) =
                    if u.indices().is_some() { (u, v, "list_with") } else { (v, u, "with_list") };
                let list = self.vector_apply_mask_raw(list, with, false)?;
                let n = list.values.len();
                let values = self.alloc_raw(op.out, n, "values of a vector")?;
                let (a, b) = if kernel == "list_with" { (&list, v) } else { (u, &list) };
                let arguments = args![list.indices(), &a.values, &b.values, n as u64, &values];
                self.each(prefix, kernel, n, arguments)?;
                Ok(RawVector { values, ..list })
            }
            _ => {
                let values = self.alloc_raw(op.out, u.len, "values of a vector")?;
                let present = match (u.present(), v.present()) {
                    (None, None) => None,
                    _ => Some(self.alloc::<bool>(u.len, "the bitmap of a vector")?),
                };
                let arguments =
                    args![u.present(), &u.values, v.present(), &v.values, u.len as u64, present.as_ref(), &values];
                self.each(prefix, "both", u.len, arguments)?;
                Ok(with_present(present, values))
            }
        }
    }

    /// w(i) = u(i) ∘ v(i) where both have an entry, else the entry that exists, or with fills that entry ∘ a fill.
    ///
    /// Cost: O(n) kernels; of two sparse vectors, a binary search for each entry, and one wait. Where they have
    /// together a sixteenth of the indices or more, the result is a bitmap. Other fills do not recompile.
    pub(crate) fn vector_ewise_add_raw(
        &self,
        op: &Printed,
        fills: Option<Fills<'_>>,
        u: &RawVector,
        v: &RawVector,
    ) -> Result<RawVector> {
        same_len("ewise_add", u, v)?;
        u.values.check("the left vector", op.a)?;
        v.values.check("the right vector", op.b)?;
        check_union(op, fills)?;
        if let (Form::List(of_u), Form::List(of_v)) = (&u.form, &v.form) {
            let together = of_u.len() + of_v.len();
            if together <= MOST_LISTED && together < u.len / DENSE {
                return self.either_listed(op, fills, (of_u, &u.values), (of_v, &v.values), u.len);
            }
            if together < u.len / DENSE {
                return Ok(row_as_list(self.ewise_add_raw(op, fills, &self.as_row(u)?, &self.as_row(v)?)?));
            }
        }
        if fills.is_none() {
            match (&u.form, &v.form) {
                (Form::Full | Form::Bitmap(_), Form::List(indices)) => {
                    return self.joined(op, u, (indices, &v.values), false);
                }
                (Form::List(indices), Form::Full | Form::Bitmap(_)) => {
                    return self.joined(op, v, (indices, &u.values), true);
                }
                _ => {}
            }
        }
        let least = u.least_entries().max(v.least_entries());
        let (u, v) = (self.to_bitmap_raw(u)?, self.to_bitmap_raw(v)?);
        let values = self.alloc_raw(op.out, u.len, "values of a vector")?;
        let present = match (u.present(), v.present()) {
            (Some(_), Some(_)) => Some(self.alloc::<bool>(u.len, "the bitmap of a vector")?),
            _ => None,
        };
        let prefix = Prefix::new(&op.text, if fills.is_some() { &FILLED } else { &UNION });
        let [u_fill, v_fill] = fills.map_or([None; 2], |fills| fills.map(Some));
        let (n, of_w) = (u.len as u64, present.as_ref());
        let arguments = args![u.present(), &u.values, u_fill, v.present(), &v.values, v_fill, n, of_w, &values];
        self.each(prefix, "either", u.len, arguments)?;
        Ok(with_present(present, values).with_at_least(least))
    }

    /// A copy of w joined with the entries of a sparse vector: w(i) ∘ v(i), or with `flip` v(i) ∘ w(i), where both have
    /// an entry. All values are of one type.
    ///
    /// Cost: a copy of w, and one kernel over the entries of the sparse vector.
    fn joined(
        &self,
        op: &Printed,
        w: &RawVector,
        (indices, v): (&Buffer<u32>, &RawBuffer),
        flip: bool,
    ) -> Result<RawVector> {
        let (mut w, least) = (w.clone(), w.least_entries().max(indices.len()));
        self.make_writable(&mut w)?;
        let (n, prefix) = (indices.len(), Prefix::new(&op.text, &UNION));
        self.each(prefix, "join_listed", n, args![indices, v, n as u64, u32::from(flip), w.present(), &w.values])?;
        Ok(w.with_at_least(least))
    }
    /// The union of two sparse vectors with at most [`MOST_LISTED`] entries together, by one kernel and one wait.
    fn either_listed(
        &self,
        op: &Printed,
        fills: Option<Fills<'_>>,
        (u_indices, u): (&Buffer<u32>, &RawBuffer),
        (v_indices, v): (&Buffer<u32>, &RawBuffer),
        len: usize,
    ) -> Result<RawVector> {
        let together = u.len() + v.len();
        let mut indices = self.alloc::<u32>(together, "indices of a vector")?;
        let mut values = self.alloc_raw(op.out, together, "values of a vector")?;
        let prefix = Prefix::new(&op.text, if fills.is_some() { &FILLED } else { &UNION });
        let [u_fill, v_fill] = fills.map_or([None; 2], |fills| fills.map(Some));
        let readback = self.device().readback()?;
        let arguments = args![
            u_indices,
            u,
            u.len() as u32,
            u_fill,
            v_indices,
            v,
            v.len() as u32,
            v_fill,
            &indices,
            &values,
            Arg::readback(&readback, self.device()),
        ];
        self.program_of(SOURCE, prefix)?.kernel("either_listed")?.launch(Shape::blocks(1, 1024, 0)?, arguments)?;
        let found = readback.read()?[0] as usize;
        RawBuffer::cut(indices.raw_mut(), found)?;
        RawBuffer::cut(&mut values, found)?;
        Ok(RawVector::list(len, indices, values))
    }

    /// w(i) = f(u(i)) at the pattern of u.
    pub(crate) fn vector_apply_raw(&self, op: &Printed, u: &RawVector) -> Result<RawVector> {
        u.values.check("the vector of a function", op.a)?;
        let n = u.values.len();
        let values = self.alloc_raw(op.out, n, "values of a function of a vector")?;
        let arguments = args![u.present(), &u.values, n as u64, &values];
        self.each(Prefix::new(&op.text, &APPLY), "apply_present", n, arguments)?;
        Ok(RawVector { values, ..u.clone() })
    }
    /// w(i) = f(u(i), s, i, 0) at the pattern of u; `s` is one value. Another `s` does not recompile.
    pub(crate) fn vector_apply_at_raw(&self, op: &Printed, u: &RawVector, s: Slice<'_>) -> Result<RawVector> {
        u.values.check("the vector of a function", op.a)?;
        let scalar = self.scalar(s, op.b)?;
        let n = u.values.len();
        let values = self.alloc_raw(op.out, n, "values of a function of a vector")?;
        let arguments = args![u.indices(), u.present(), &u.values, &scalar, n as u64, &values];
        self.each(Prefix::new(&op.text, &AT), "apply_places", n, arguments)?;
        Ok(RawVector { values, ..u.clone() })
    }
    /// The entries of u for which f(u(i), s, i, 0) holds; `s` is one value. Another `s` does not recompile.
    pub(crate) fn vector_select_raw(&self, op: &Printed, u: &RawVector, s: Slice<'_>) -> Result<RawVector> {
        u.values.check("the vector of a selection", op.a)?;
        same_type("the result of a selecting operator", op.out, Type::Bool)?;
        let scalar = self.scalar(s, op.b)?;
        let (prefix, n) = (Prefix::new(&op.text, &SELECT), u.values.len());
        if let Some(indices) = u.indices() {
            let marks = self.alloc::<u32>(n, "marks of a selection")?;
            self.each(prefix, "marks_where", n, args![indices, &u.values, &scalar, n as u64, &marks])?;
            return self.marked(u.len, Some(indices), None, &u.values, &marks);
        }
        let kept = self.alloc::<bool>(n, "the bitmap of a vector")?;
        self.each(prefix, "places_where", n, args![u.present(), &u.values, &scalar, n as u64, &kept])?;
        Ok(RawVector::bitmap(kept, Arc::clone(&u.values)))
    }
    /// The fold of the entries, in the order of [`fold_buffer`](Cuda::fold_buffer), as an array of one value; the
    /// identity if there are none. The order depends on the number of entries alone, not on the vector's form.
    pub(crate) fn vector_reduce_raw(&self, monoid: &Printed, u: &RawVector) -> Result<Arc<RawBuffer>> {
        match u.form {
            Form::Bitmap(_) => self.fold_raw(monoid, &self.to_list_raw(u)?.values),
            Form::Full | Form::List(_) => self.fold_raw(monoid, &u.values),
        }
    }

    /// The entries of v in the pattern of a mask, or with `complement` outside it. The mask's values are not read.
    ///
    /// Cost: O(n) kernels; if v or the mask is sparse, O(nnz) of it.
    pub(crate) fn vector_apply_mask_raw(&self, v: &RawVector, mask: &RawVector, complement: bool) -> Result<RawVector> {
        same_len("a mask", v, mask)?;
        let (n, complement_number) = (v.values.len(), u32::from(complement));
        match (&v.form, &mask.form) {
            (_, Form::Full) if !complement => Ok(v.clone()),
            // A vector derived from the mask, with the same index array.
            (Form::List(indices), Form::List(of_mask)) if !complement && Arc::ptr_eq(indices.raw(), of_mask.raw()) => {
                Ok(v.clone())
            }
            (_, Form::Full) => {
                let values = self.alloc_raw(v.ty(), 0, "values of a vector")?;
                Ok(RawVector::list(v.len, self.alloc(0, "indices of a vector")?, values))
            }
            (Form::List(indices), of_mask) => {
                let marks = self.alloc::<u32>(n, "entries in a mask's pattern")?;
                if let Form::List(of_mask) = of_mask {
                    let arguments = args![indices, n as u64, of_mask, of_mask.len() as u64, complement_number, &marks];
                    self.each(PLACES, "marks_in", n, arguments)?;
                } else {
                    let arguments = args![indices, n as u64, mask.present(), complement_number, &marks];
                    self.each(PLACES, "marks_at", n, arguments)?;
                }
                self.marked(v.len, Some(indices), None, &v.values, &marks)
            }
            // Only the mask's indices are read.
            (_, Form::List(of_mask)) if !complement => {
                let n = of_mask.len();
                let Some(present) = v.present() else {
                    let (settings, values) = (moves(v.ty()), self.alloc_raw(v.ty(), n, "values of a vector")?);
                    let arguments = args![of_mask, n as u64, &v.values, &values];
                    self.each(Prefix::new("", &settings), "gather", n, arguments)?;
                    return Ok(RawVector::list(v.len, of_mask.clone(), values));
                };
                let marks = self.alloc::<u32>(n, "entries in a mask's pattern")?;
                self.each(PLACES, "marks_at", n, args![of_mask, n as u64, present, 0u32, &marks])?;
                self.marked(v.len, Some(of_mask), Some(of_mask), &v.values, &marks)
            }
            (_, Form::List(of_mask)) => {
                let kept = match v.present() {
                    Some(present) => self.duplicate(present, "the bitmap of a vector")?,
                    None => self.filled_bitmap(v.len)?,
                };
                self.each(PLACES, "clear_present", of_mask.len(), args![of_mask, of_mask.len() as u64, &kept])?;
                Ok(RawVector::bitmap(kept, Arc::clone(&v.values)))
            }
            (_, Form::Bitmap(of_mask)) => {
                let kept = self.alloc::<bool>(v.len, "the bitmap of a vector")?;
                let arguments = args![v.present(), &of_mask.flags, complement_number, n as u64, &kept];
                self.each(PLACES, "common_places", n, arguments)?;
                Ok(RawVector::bitmap(kept, Arc::clone(&v.values)))
            }
        }
    }
    /// The entries of v whose value is not 0: a valued mask. NaN is not 0.
    /// # Errors
    /// [`Error::Unsupported`] for structs.
    pub(crate) fn vector_nonzero_raw(&self, v: &RawVector) -> Result<RawVector> {
        let (settings, parts) = parts(v.ty())?;
        let (prefix, n) = (Prefix::new("", &settings), v.values.len());
        if let Some(indices) = v.indices() {
            let marks = self.marks_nonzero(&v.values)?;
            return self.marked(v.len, Some(indices), None, &v.values, &marks);
        }
        let kept = self.alloc::<bool>(n, "the bitmap of a vector")?;
        self.each(prefix, "places_nonzero", n, args![v.present(), &v.values, parts, n as u64, &kept])?;
        Ok(RawVector::bitmap(kept, Arc::clone(&v.values)))
    }
    /// For each value, 1 if it is not 0, else 0.
    pub(super) fn marks_nonzero(&self, values: &RawBuffer) -> Result<Buffer<u32>> {
        let (settings, parts) = parts(values.ty())?;
        let (n, marks) = (values.len(), self.alloc::<u32>(values.len(), "values that are not 0")?);
        let program = self.program_of(SOURCE, Prefix::new("", &settings))?;
        let arguments = args![values, parts, n as u64, &marks];
        program.kernel("marks_nonzero")?.launch(Shape::for_each(n, 256)?, arguments)?;
        Ok(marks)
    }

    /// Indices given by the caller, on the device; each is checked to be below `len`.
    pub(super) fn upload_indices(&self, len: usize, indices: &[u32]) -> Result<Buffer<u32>> {
        if let Some(position) = indices.iter().position(|&p| p as usize >= len) {
            let index = indices[position].into();
            return Err(Error::IndexRange { axis: "vector", position, index, bound: len });
        }
        self.put(indices, "indices of a vector")
    }
    /// w(k) = v(indices(k)), where v has that entry. The indices may be unordered and repeated.
    pub(crate) fn vector_extract_raw(&self, v: &RawVector, indices: &[u32]) -> Result<RawVector> {
        self.vector_gather_raw(v, &self.upload_indices(v.len, indices)?)
    }
    /// The same for indices on the device, each below v's length.
    pub(super) fn vector_gather_raw(&self, v: &RawVector, wanted: &Buffer<u32>) -> Result<RawVector> {
        let n = wanted.len();
        if let Some(of_v) = v.indices() {
            let at = self.alloc::<u32>(n, "positions in a list")?;
            let marks = self.alloc::<u32>(n, "positions in a list")?;
            let arguments = args![wanted, n as u64, of_v, of_v.len() as u64, &at, &marks];
            self.each(PLACES, "find_places", n, arguments)?;
            return self.marked(n, None, Some(&at), &v.values, &marks);
        }
        let gather = |from: &RawBuffer| {
            let (settings, to) = (moves(from.ty()), self.alloc_raw(from.ty(), n, "values of a vector")?);
            self.each(Prefix::new("", &settings), "gather", n, args![wanted, n as u64, from, &to])?;
            Ok::<_, Error>(to)
        };
        let present = v.present().map(|present| Buffer::of(gather(present)?)).transpose()?;
        Ok(with_present(present, gather(&v.values)?))
    }
}

/// A bitmap vector, or a full one without a bitmap.
fn with_present(present: Option<Buffer<bool>>, values: Arc<RawBuffer>) -> RawVector {
    match present {
        Some(present) => RawVector::bitmap(present, values),
        None => RawVector::full(values),
    }
}

/// A matrix of one row as a vector.
pub(super) fn row_as_list(row: RawCsr) -> RawVector {
    if row.nnz() == row.pattern.ncols {
        return RawVector::full(row.values);
    }
    RawVector::list(row.pattern.ncols, row.pattern.col_idx.clone(), row.values)
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::{Exp, Less, Plus, RowIndex, ValueGt, printed_binary, printed_index_unary, printed_unary};
    let unit =
        |op: &str, settings: &[Setting], hot| Unit { source: SOURCE, prefix: Prefix::new(op, settings).text(), hot };
    let (plus, less) = (printed_binary(Plus::<f64>::new()), printed_binary(Less::<f32>::new()));
    let number = |part: Type| [Setting::Switch("NONZERO"), Setting::Type("Part", part.cuda())];
    vec![
        Unit { source: SOURCE, prefix: PLACES.text(), hot: &["marks_at", "marks_in", "set_present", "common_places"] },
        unit("", &moves(Type::F64), &["scatter", "gather", "compact", "assign_at"]),
        unit("", &[Setting::Switch("MOVES"), Setting::Words("Value", 12)], &["scatter", "gather", "compact"]),
        unit("", &number(Type::F64), &["marks_nonzero", "places_nonzero"]),
        unit("", &number(Type::Bool), &["marks_nonzero", "places_nonzero"]),
        unit(&printed_unary(Exp::<f64>::new()).text, &APPLY, &["apply_present"]),
        unit(&printed_index_unary(RowIndex::<f64, i64>::new()).text, &AT, &["apply_places"]),
        unit(&printed_index_unary(ValueGt::<f64>::new()).text, &SELECT, &["marks_where", "places_where"]),
        unit(&plus.text, &EWISE, &["both"]),
        unit(&less.text, &EWISE, &["both", "list_with", "with_list"]),
        unit(&plus.text, &UNION, &["either", "either_listed", "join_listed"]),
        unit(&less.text, &FILLED, &["either", "either_listed"]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::Value;

    crate::value! {
        /// Two numbers.
        pub(super) struct Two {
            /// One.
            pub(super) a: f64,
            /// The other.
            pub(super) b: u8,
        }
    }

    #[test]
    fn only_numbers_are_compared_with_0() {
        assert_eq!(parts(Type::I8).expect("a number").1, 1);
        assert_eq!(
            parts(Type::ComplexF32).expect("a number"),
            ([Setting::Switch("NONZERO"), Setting::Type("Part", "float")], 2)
        );
        let refused = parts(Two::TYPE).expect_err("a struct").to_string();
        assert!(refused.contains("Two") && refused.contains("only numbers"), "{refused}");
    }
}

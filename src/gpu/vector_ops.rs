//! Operations on vectors that are full, a bitmap or a list inside: see `cuda/vector.cu`.
//!
//! Two lists are merged as matrices of one row. A list meets a vector of another form at the list's places where that
//! is all there can be; else it becomes a bitmap.

use std::sync::Arc;

use super::Cuda;
use super::arg::Arg;
use super::buffer::{Buffer, RawBuffer, same_type};
use super::csr::RawCsr;
use super::ewise::{Fills, check_union};
use super::front::{Front, Setting};
use super::jit::Unit;
use super::launch::{Shape, args};
use super::pattern::{DevicePattern, Offsets};
use super::vector_form::{Form, PLACES, RawVector, SOURCE, moves};
use crate::algebra::{Printed, Slice, Type};
use crate::{Error, Result};

/// Most entries of two lists that one block joins: `MOST_LISTED` in the source.
const MOST_LISTED: usize = 8192;
/// The union of two lists that have a DENSE-th of the places is a bitmap: it is made without a wait, and so is a
/// product with it (`vxm_by_columns`), while no more than 16 times the bytes are read.
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

/// What a number is made of, in front of the kernels that tell 0, and how many of these.
pub(super) fn parts(ty: Type) -> Result<([Setting; 2], u32)> {
    let (part, parts) = match ty {
        Type::ComplexF32 => (Type::F32, 2),
        Type::ComplexF64 => (Type::F64, 2),
        Type::Struct(s) => {
            return Err(Error::Unsupported {
                what: format!("a truth value of {}", s.name),
                why: "only numbers are 0 or not; apply a function that gives a truth value".into(),
            });
        }
        number => (number, 1),
    };
    Ok(([Setting::Switch("NONZERO"), Setting::Type("Part", part.cuda())], parts))
}

impl Cuda {
    /// A vector as a matrix of one row.
    pub(super) fn as_row(&self, v: &RawVector) -> Result<RawCsr> {
        let (places, values) = self.entries_raw(v)?;
        let row_ptr = self.alloc::<u32>(2, "a vector as a row")?;
        self.each(PLACES, "one_row", 2, args![places.len() as u32, &row_ptr])?;
        let pattern = DevicePattern::new((1, v.len), true, Offsets::Small(row_ptr), places);
        Ok(RawCsr::new(pattern, values))
    }

    /// w(i) = u(i) ∘ v(i) where both have an entry.
    ///
    /// Cost: O(n) kernels; of a list and a vector of another form, O(nnz) of the list; of two lists, a binary search
    /// for each entry of u.
    pub(crate) fn vector_ewise_mult_raw(&self, op: &Printed, u: &RawVector, v: &RawVector) -> Result<RawVector> {
        same_len("ewise_mult", u, v)?;
        u.values.check("the left vector", op.a)?;
        v.values.check("the right vector", op.b)?;
        let front = Front::new(&op.text, &EWISE);
        match (&u.form, &v.form) {
            (Form::List(_), Form::List(_)) => {
                Ok(row_as_list(self.ewise_mult_raw(op, &self.as_row(u)?, &self.as_row(v)?)?))
            }
            (Form::List(_), _) | (_, Form::List(_)) => {
                let (list, with, kernel) = if u.places().is_some() { (u, v, "list_with") } else { (v, u, "with_list") };
                let list = self.vector_restrict_raw(list, with, false)?;
                let n = list.values.len();
                let values = self.alloc_raw(op.out, n, "values of a vector")?;
                let (a, b) = if kernel == "list_with" { (&list, v) } else { (u, &list) };
                let arguments = args![list.places(), &a.values, &b.values, n as u64, &values];
                self.each(front, kernel, n, arguments)?;
                Ok(RawVector { values, ..list })
            }
            _ => {
                let values = self.alloc_raw(op.out, u.len, "values of a vector")?;
                let present = match (u.present(), v.present()) {
                    (None, None) => None,
                    _ => Some(self.alloc::<bool>(u.len, "places of a vector")?),
                };
                let arguments =
                    args![u.present(), &u.values, v.present(), &v.values, u.len as u64, present.as_ref(), &values];
                self.each(front, "both", u.len, arguments)?;
                Ok(with_present(present, values))
            }
        }
    }

    /// w(i) = u(i) ∘ v(i) where both have an entry, else the one that is there, or with fills that one ∘ a fill.
    ///
    /// Cost: O(n) kernels; of two lists, a binary search for each entry, and one wait. Where they have a sixteenth of
    /// the places or more together, the result is a bitmap. Other fills compile nothing anew.
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
                (Form::Full | Form::Bitmap(_), Form::List(places)) => {
                    return self.joined(op, u, (places, &v.values), false);
                }
                (Form::List(places), Form::Full | Form::Bitmap(_)) => {
                    return self.joined(op, v, (places, &u.values), true);
                }
                _ => {}
            }
        }
        let least = u.least_entries().max(v.least_entries());
        let (u, v) = (self.to_bitmap_raw(u)?, self.to_bitmap_raw(v)?);
        let values = self.alloc_raw(op.out, u.len, "values of a vector")?;
        let present = match (u.present(), v.present()) {
            (Some(_), Some(_)) => Some(self.alloc::<bool>(u.len, "places of a vector")?),
            _ => None,
        };
        let front = Front::new(&op.text, if fills.is_some() { &FILLED } else { &UNION });
        let [u_fill, v_fill] = fills.map_or([None; 2], |fills| fills.map(Some));
        let (n, of_w) = (u.len as u64, present.as_ref());
        let arguments = args![u.present(), &u.values, u_fill, v.present(), &v.values, v_fill, n, of_w, &values];
        self.each(front, "either", u.len, arguments)?;
        Ok(with_present(present, values).with_at_least(least))
    }

    /// A copy of w with the entries of a list joined: w(i) ∘ v(i), or with `flip` v(i) ∘ w(i), where both have an
    /// entry. All are of one type.
    ///
    /// Cost: a copy of w, and one kernel for the entries of the list.
    fn joined(
        &self,
        op: &Printed,
        w: &RawVector,
        (places, v): (&Buffer<u32>, &RawBuffer),
        flip: bool,
    ) -> Result<RawVector> {
        let (mut w, least) = (w.clone(), w.least_entries().max(places.len()));
        self.make_writable(&mut w)?;
        let (n, front) = (places.len(), Front::new(&op.text, &UNION));
        self.each(front, "join_listed", n, args![places, v, n as u64, u32::from(flip), w.present(), &w.values])?;
        Ok(w.with_at_least(least))
    }
    /// The union of two lists with at most [`MOST_LISTED`] entries together, by one kernel and one wait.
    fn either_listed(
        &self,
        op: &Printed,
        fills: Option<Fills<'_>>,
        (u_places, u): (&Buffer<u32>, &RawBuffer),
        (v_places, v): (&Buffer<u32>, &RawBuffer),
        len: usize,
    ) -> Result<RawVector> {
        let together = u.len() + v.len();
        let mut places = self.alloc::<u32>(together, "places of a vector")?;
        let mut values = self.alloc_raw(op.out, together, "values of a vector")?;
        let front = Front::new(&op.text, if fills.is_some() { &FILLED } else { &UNION });
        let [u_fill, v_fill] = fills.map_or([None; 2], |fills| fills.map(Some));
        let letter = self.device().letter()?;
        let arguments = args![
            u_places,
            u,
            u.len() as u32,
            u_fill,
            v_places,
            v,
            v.len() as u32,
            v_fill,
            &places,
            &values,
            Arg::letter(&letter, self.device()),
        ];
        self.program_of(SOURCE, front)?.kernel("either_listed")?.launch(Shape::blocks(1, 1024, 0)?, arguments)?;
        let found = letter.read()?[0] as usize;
        RawBuffer::cut(places.raw_mut(), found)?;
        RawBuffer::cut(&mut values, found)?;
        Ok(RawVector::list(len, places, values))
    }

    /// w(i) = f(u(i)) at the places of u.
    pub(crate) fn vector_apply_raw(&self, op: &Printed, u: &RawVector) -> Result<RawVector> {
        u.values.check("the vector of a function", op.a)?;
        let n = u.values.len();
        let values = self.alloc_raw(op.out, n, "values of a function of a vector")?;
        let arguments = args![u.present(), &u.values, n as u64, &values];
        self.each(Front::new(&op.text, &APPLY), "apply_present", n, arguments)?;
        Ok(RawVector { values, ..u.clone() })
    }
    /// w(i) = f(u(i), s, i, 0) at the places of u; `s` is one value. Another `s` compiles nothing anew.
    pub(crate) fn vector_apply_at_raw(&self, op: &Printed, u: &RawVector, s: Slice<'_>) -> Result<RawVector> {
        u.values.check("the vector of a function", op.a)?;
        let scalar = self.scalar(s, op.b)?;
        let n = u.values.len();
        let values = self.alloc_raw(op.out, n, "values of a function of a vector")?;
        let arguments = args![u.places(), u.present(), &u.values, &scalar, n as u64, &values];
        self.each(Front::new(&op.text, &AT), "apply_places", n, arguments)?;
        Ok(RawVector { values, ..u.clone() })
    }
    /// The entries of u for which f(u(i), s, i, 0) holds; `s` is one value. Another `s` compiles nothing anew.
    pub(crate) fn vector_select_raw(&self, op: &Printed, u: &RawVector, s: Slice<'_>) -> Result<RawVector> {
        u.values.check("the vector of a selection", op.a)?;
        same_type("the result of what selects", op.out, Type::Bool)?;
        let scalar = self.scalar(s, op.b)?;
        let (front, n) = (Front::new(&op.text, &SELECT), u.values.len());
        if let Some(places) = u.places() {
            let marks = self.alloc::<u32>(n, "marks of a selection")?;
            self.each(front, "marks_where", n, args![places, &u.values, &scalar, n as u64, &marks])?;
            return self.marked(u.len, Some(places), None, &u.values, &marks);
        }
        let kept = self.alloc::<bool>(n, "places of a vector")?;
        self.each(front, "places_where", n, args![u.present(), &u.values, &scalar, n as u64, &kept])?;
        Ok(RawVector::bitmap(kept, Arc::clone(&u.values)))
    }
    /// The fold of the entries, in the order of [`fold_buffer`](Cuda::fold_buffer), as an array of one value; the
    /// identity if there are none. It depends on the number of entries alone, not on the vector's form.
    pub(crate) fn vector_reduce_raw(&self, monoid: &Printed, u: &RawVector) -> Result<Arc<RawBuffer>> {
        match u.form {
            Form::Bitmap(_) => self.fold_raw(monoid, &self.to_list_raw(u)?.values),
            Form::Full | Form::List(_) => self.fold_raw(monoid, &u.values),
        }
    }

    /// The entries of v at the places of a mask, or with `complement` at the others. The mask's values do not matter.
    ///
    /// Cost: O(n) kernels; of a list, or of a mask that is one, O(nnz) of it.
    pub(crate) fn vector_restrict_raw(&self, v: &RawVector, mask: &RawVector, complement: bool) -> Result<RawVector> {
        same_len("a mask", v, mask)?;
        let (n, complement_number) = (v.values.len(), u32::from(complement));
        match (&v.form, &mask.form) {
            (_, Form::Full) if !complement => Ok(v.clone()),
            // What was made of a vector, at its places.
            (Form::List(places), Form::List(of_mask)) if !complement && Arc::ptr_eq(places.raw(), of_mask.raw()) => {
                Ok(v.clone())
            }
            (_, Form::Full) => {
                let values = self.alloc_raw(v.ty(), 0, "values of a vector")?;
                Ok(RawVector::list(v.len, self.alloc(0, "places of a vector")?, values))
            }
            (Form::List(places), of_mask) => {
                let marks = self.alloc::<u32>(n, "entries at a mask's places")?;
                if let Form::List(of_mask) = of_mask {
                    let arguments = args![places, n as u64, of_mask, of_mask.len() as u64, complement_number, &marks];
                    self.each(PLACES, "marks_in", n, arguments)?;
                } else {
                    let arguments = args![places, n as u64, mask.present(), complement_number, &marks];
                    self.each(PLACES, "marks_at", n, arguments)?;
                }
                self.marked(v.len, Some(places), None, &v.values, &marks)
            }
            // No more places than the mask's are looked at.
            (_, Form::List(of_mask)) if !complement => {
                let n = of_mask.len();
                let Some(present) = v.present() else {
                    let (front, values) = (moves(v.ty()), self.alloc_raw(v.ty(), n, "values of a vector")?);
                    let arguments = args![of_mask, n as u64, &v.values, &values];
                    self.each(Front::new("", &front), "gather", n, arguments)?;
                    return Ok(RawVector::list(v.len, of_mask.clone(), values));
                };
                let marks = self.alloc::<u32>(n, "entries at a mask's places")?;
                self.each(PLACES, "marks_at", n, args![of_mask, n as u64, present, 0u32, &marks])?;
                self.marked(v.len, Some(of_mask), Some(of_mask), &v.values, &marks)
            }
            (_, Form::List(of_mask)) => {
                let kept = match v.present() {
                    Some(present) => self.duplicate(present, "places of a vector")?,
                    None => self.filled_places(v.len)?,
                };
                self.each(PLACES, "clear_present", of_mask.len(), args![of_mask, of_mask.len() as u64, &kept])?;
                Ok(RawVector::bitmap(kept, Arc::clone(&v.values)))
            }
            (_, Form::Bitmap(of_mask)) => {
                let kept = self.alloc::<bool>(v.len, "places of a vector")?;
                let arguments = args![v.present(), &of_mask.places, complement_number, n as u64, &kept];
                self.each(PLACES, "common_places", n, arguments)?;
                Ok(RawVector::bitmap(kept, Arc::clone(&v.values)))
            }
        }
    }
    /// The entries of v whose value is not 0: what a mask that goes by values means. NaN is not 0.
    /// # Errors
    /// [`Error::Unsupported`] for structs.
    pub(crate) fn vector_nonzero_raw(&self, v: &RawVector) -> Result<RawVector> {
        let (settings, parts) = parts(v.ty())?;
        let (front, n) = (Front::new("", &settings), v.values.len());
        if let Some(places) = v.places() {
            let marks = self.marks_nonzero(&v.values)?;
            return self.marked(v.len, Some(places), None, &v.values, &marks);
        }
        let kept = self.alloc::<bool>(n, "places of a vector")?;
        self.each(front, "places_nonzero", n, args![v.present(), &v.values, parts, n as u64, &kept])?;
        Ok(RawVector::bitmap(kept, Arc::clone(&v.values)))
    }
    /// For each value 1 if it is not 0.
    pub(super) fn marks_nonzero(&self, values: &RawBuffer) -> Result<Buffer<u32>> {
        let (settings, parts) = parts(values.ty())?;
        let (n, marks) = (values.len(), self.alloc::<u32>(values.len(), "values that are not 0")?);
        let program = self.program_of(SOURCE, Front::new("", &settings))?;
        let arguments = args![values, parts, n as u64, &marks];
        program.kernel("marks_nonzero")?.launch(Shape::for_each(n, 256)?, arguments)?;
        Ok(marks)
    }

    /// Places that a caller names, on the device; each below `len`.
    pub(super) fn wanted(&self, len: usize, places: &[u32]) -> Result<Buffer<u32>> {
        if let Some(position) = places.iter().position(|&p| p as usize >= len) {
            let index = places[position].into();
            return Err(Error::IndexRange { axis: "vector", position, index, bound: len });
        }
        self.put(places, "places of a vector")
    }
    /// w(k) = v(places(k)), where v has that entry. Places may come in any order and more than once.
    pub(crate) fn vector_extract_raw(&self, v: &RawVector, places: &[u32]) -> Result<RawVector> {
        self.vector_gather_raw(v, &self.wanted(v.len, places)?)
    }
    /// The same for places on the device, each below v's length.
    pub(super) fn vector_gather_raw(&self, v: &RawVector, wanted: &Buffer<u32>) -> Result<RawVector> {
        let n = wanted.len();
        if let Some(of_v) = v.places() {
            let at = self.alloc::<u32>(n, "places in a list")?;
            let marks = self.alloc::<u32>(n, "places in a list")?;
            let arguments = args![wanted, n as u64, of_v, of_v.len() as u64, &at, &marks];
            self.each(PLACES, "find_places", n, arguments)?;
            return self.marked(n, None, Some(&at), &v.values, &marks);
        }
        let gather = |from: &RawBuffer| {
            let (front, to) = (moves(from.ty()), self.alloc_raw(from.ty(), n, "values of a vector")?);
            self.each(Front::new("", &front), "gather", n, args![wanted, n as u64, from, &to])?;
            Ok::<_, Error>(to)
        };
        let present = v.present().map(|present| Buffer::of(gather(present)?)).transpose()?;
        Ok(with_present(present, gather(&v.values)?))
    }
}

/// A bitmap, or a full vector.
fn with_present(present: Option<Buffer<bool>>, values: Arc<RawBuffer>) -> RawVector {
    match present {
        Some(present) => RawVector::bitmap(present, values),
        None => RawVector::full(values),
    }
}

/// A matrix of one row as a list.
pub(super) fn row_as_list(row: RawCsr) -> RawVector {
    if row.nnz() == row.pattern.ncols {
        return RawVector::full(row.values);
    }
    RawVector::list(row.pattern.ncols, row.pattern.col_idx.clone(), row.values)
}

/// The programs of this file, as they are used.
pub(crate) fn programs() -> Vec<Unit> {
    use crate::algebra::{Exp, Less, Plus, RowIndex, ValueGt, printed_binary, printed_index_unary, printed_unary};
    let unit =
        |op: &str, settings: &[Setting], hot| Unit { source: SOURCE, prefix: Front::new(op, settings).text(), hot };
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
    fn only_numbers_are_0_or_not() {
        assert_eq!(parts(Type::I8).expect("a number").1, 1);
        assert_eq!(
            parts(Type::ComplexF32).expect("a number"),
            ([Setting::Switch("NONZERO"), Setting::Type("Part", "float")], 2)
        );
        let refused = parts(Two::TYPE).expect_err("a struct").to_string();
        assert!(refused.contains("Two") && refused.contains("only numbers"), "{refused}");
    }
}

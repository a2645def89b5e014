//! Serialization of matrices and vectors with serde (feature `serde`); input is validated.
//!
//! | type | fields |
//! | --- | --- |
//! | [`Csr`] | `nrows`, `ncols`, `rows` (indices of the rows that follow, or none for all rows), `row_ptr`, `col_idx`, `values` |
//! | [`Coo`] | `nrows`, `ncols`, `rows`, `cols`, `values` |
//! | [`Vector`] | `len`, `indices` (none for a value at every index), `values` |
//! | [`Dense`] | `nrows`, `ncols`, `values` |

use serde::de::Error as _;
use serde::ser::{Error as _, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::HyperCsr;
use crate::algebra::Value;
use crate::par::collected;
use crate::{Coo, Csr, Dense, Error, Index, Result, Vector};

/// Serializes indices as numbers without a copy.
struct Indices<'a, I>(&'a [I]);
impl<I: Index> Serialize for Indices<'_, I> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|i| i.get() as u64))
    }
}
/// Converts numbers to indices.
fn indices<I: Index>(numbers: &[u64], what: &'static str) -> Result<Vec<I>> {
    let index = |&n: &u64| usize::try_from(n).ok().and_then(I::new);
    if let Some(n) = numbers.iter().find(|n| index(n).is_none()) {
        return Err(Error::IndexOverflow { what, needed: u128::from(*n), max: I::MAX_LEN as u128 });
    }
    collected(numbers.len(), numbers.iter().filter_map(index), what)
}

#[derive(Deserialize)]
struct SavedCsr<T> {
    nrows: usize,
    ncols: usize,
    rows: Option<Vec<u64>>,
    row_ptr: Vec<usize>,
    col_idx: Vec<u64>,
    values: Vec<T>,
}
impl<T: Value + Serialize, I: Index> Serialize for Csr<T, I> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let here = self.settled().map_err(S::Error::custom)?;
        let (rows, row_ptr) = match here.as_hyper() {
            Some(stored) => (Some(Indices(stored.labels())), stored.rows().pattern.row_ptr()),
            None => (None, here.compressed().map_err(S::Error::custom)?.row_ptr()),
        };
        let mut saved = to.serialize_struct("Csr", 6)?;
        saved.serialize_field("nrows", &self.nrows())?;
        saved.serialize_field("ncols", &self.ncols())?;
        saved.serialize_field("rows", &rows)?;
        saved.serialize_field("row_ptr", row_ptr)?;
        saved.serialize_field("col_idx", &Indices(here.col_idx()))?;
        saved.serialize_field("values", here.values())?;
        saved.end()
    }
}
impl<'de, T: Value + Deserialize<'de>, I: Index> Deserialize<'de> for Csr<T, I> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let SavedCsr { nrows, ncols, rows, row_ptr, col_idx, values } = SavedCsr::<T>::deserialize(from)?;
        let made = || {
            let col_idx = indices(&col_idx, "column indices")?;
            let Some(rows) = rows else { return Self::from_unsorted(nrows, ncols, row_ptr, col_idx, values) };
            let compact = Self::from_unsorted(rows.len(), ncols, row_ptr, col_idx, values)?;
            HyperCsr::new(nrows, indices(&rows, "rows")?, compact)?.try_into()
        };
        made().map_err(D::Error::custom)
    }
}

#[derive(Deserialize)]
struct SavedCoo<T> {
    nrows: usize,
    ncols: usize,
    rows: Vec<u64>,
    cols: Vec<u64>,
    values: Vec<T>,
}
impl<T: Value + Serialize, I: Index> Serialize for Coo<T, I> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let (rows, cols, values) = self.parts();
        let mut saved = to.serialize_struct("Coo", 5)?;
        saved.serialize_field("nrows", &self.shape().0)?;
        saved.serialize_field("ncols", &self.shape().1)?;
        saved.serialize_field("rows", &Indices(rows))?;
        saved.serialize_field("cols", &Indices(cols))?;
        saved.serialize_field("values", values)?;
        saved.end()
    }
}
impl<'de, T: Value + Deserialize<'de>, I: Index> Deserialize<'de> for Coo<T, I> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let SavedCoo { nrows, ncols, rows, cols, values } = SavedCoo::<T>::deserialize(from)?;
        let made = || Self::new(nrows, ncols, indices(&rows, "rows")?, indices(&cols, "columns")?, values);
        made().map_err(D::Error::custom)
    }
}

#[derive(Deserialize)]
struct SavedVector<T> {
    len: usize,
    indices: Option<Vec<u64>>,
    values: Vec<T>,
}
impl<T: Value + Serialize, I: Index> Serialize for Vector<T, I> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let mut saved = to.serialize_struct("Vector", 3)?;
        saved.serialize_field("len", &self.len())?;
        if let Some(values) = self.as_full() {
            saved.serialize_field("indices", &None::<Indices<'_, I>>)?;
            saved.serialize_field("values", values)?;
        } else {
            let list = self.to_sparse().map_err(S::Error::custom)?;
            saved.serialize_field("indices", &Some(Indices(list.indices())))?;
            saved.serialize_field("values", list.values())?;
        }
        saved.end()
    }
}
impl<'de, T: Value + Deserialize<'de>, I: Index> Deserialize<'de> for Vector<T, I> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let SavedVector { len, indices: at, values } = SavedVector::<T>::deserialize(from)?;
        let made = || match at {
            Some(at) => Self::new(len, indices(&at, "indices")?, values),
            None if values.len() == len => Self::full(values),
            None => Err(Error::Length { what: "values", found: values.len(), expected: len }),
        };
        made().map_err(D::Error::custom)
    }
}

#[derive(Deserialize)]
struct SavedDense<T> {
    nrows: usize,
    ncols: usize,
    values: Vec<T>,
}
impl<T: Serialize> Serialize for Dense<T> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let mut saved = to.serialize_struct("Dense", 3)?;
        saved.serialize_field("nrows", &self.nrows())?;
        saved.serialize_field("ncols", &self.ncols())?;
        saved.serialize_field("values", self.values())?;
        saved.end()
    }
}
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Dense<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let SavedDense { nrows, ncols, values } = SavedDense::<T>::deserialize(from)?;
        Self::new(nrows, ncols, values).map_err(D::Error::custom)
    }
}

//! Matrices in the value type of the file, known at run time.

use std::sync::Arc;

use num_complex::Complex;

use super::assemble::MatrixFile;
use super::banner::Field;
use super::value::MarketValue;
use crate::algebra::{Array, Type, for_each_type};
use crate::par::Threads;
use crate::{Error, Index, Pattern, Result};

impl MatrixFile {
    /// The type that represents every entry of the file exactly.
    ///
    /// | field | type |
    /// | --- | --- |
    /// | `pattern` | bool, every entry true |
    /// | `integer` | i64; u64 if an entry exceeds i64 |
    /// | `unsigned-integer` | u64 |
    /// | `real`, `double` | f64 |
    /// | `complex` | complex of f64 |
    #[must_use]
    pub fn value_type(&self) -> Type {
        match self.entries.field() {
            Field::Pattern => Type::Bool,
            Field::Integer => Type::I64,
            Field::Unsigned => Type::U64,
            Field::Real => Type::F64,
            Field::Complex => Type::ComplexF64,
        }
    }

    /// Pattern and values of the matrix in its own type, [`value_type`](Self::value_type), with symmetry expanded and
    /// duplicates summed in file order (Booleans: logical or).
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::io::parse_matrix_market;
    /// let text = b"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 9007199254740993\n";
    /// let (pattern, values) = parse_matrix_market(text, "example")?.any()?;
    /// assert_eq!((pattern.nnz(), values.ty()), (1, Type::I64));
    /// assert_eq!(values.slice().get::<i64>(), Some(&[9007199254740993][..]));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// Those of [`coo_with`](Self::coo_with); [`Error::Unsupported`](crate::Error::Unsupported) for −2⁶³ in a
    /// skew-symmetric file, as its mirror image exceeds i64.
    pub fn any(&self) -> Result<(Arc<Pattern>, Array)> {
        self.any_with(&Threads::current())
    }

    /// [`any`](Self::any) with indices of type `I`, on `threads`.
    /// # Errors
    /// As [`any`](Self::any).
    pub fn any_with<I: Index>(&self, threads: &Threads) -> Result<(Arc<Pattern<I>>, Array)> {
        match self.entries.field() {
            Field::Pattern => self.array::<bool, I>(threads),
            Field::Integer => self.array::<i64, I>(threads),
            Field::Unsigned => self.array::<u64, I>(threads),
            Field::Real => self.array::<f64, I>(threads),
            Field::Complex => self.array::<Complex<f64>, I>(threads),
        }
    }

    /// [`any`](Self::any) on `threads`, with each entry converted to `ty` before duplicates are summed, as
    /// [`csr`](Self::csr) does.
    /// # Errors
    /// As [`any`](Self::any), and [`Error::Unsupported`](crate::Error::Unsupported) for structs, or if the type cannot
    /// represent a value, naming the first such entry.
    pub fn of_type(&self, ty: Type, threads: &Threads) -> Result<(Arc<Pattern>, Array)> {
        macro_rules! array {
            ($($variant:ident $t:ty),*) => {
                match ty {
                    $(Type::$variant => self.array::<$t, u32>(threads),)*
                    Type::Struct(of) => Err(Error::Unsupported {
                        what: format!("a matrix of {} from a file", of.name),
                        why: "entries of files are numbers".into(),
                    }),
                }
            };
        }
        for_each_type!(numbers, array!())
    }

    fn array<T: MarketValue, I: Index>(&self, threads: &Threads) -> Result<(Arc<Pattern<I>>, Array)> {
        let (pattern, values) = self.summed::<T, I>(threads)?.into_parts();
        Ok((pattern, Array::of(values)))
    }
}

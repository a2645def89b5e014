//! A value of any type.

use std::fmt;

use super::cast::cast;
use crate::algebra::{Constant, Formula, Type, Value};
use crate::kernels::with_type;
use crate::{Error, Result};

/// A value of a type known at run time. Scalars are equal if they have one type and the same bits: −0 is not 0, and a
/// NaN equals itself.
///
/// ```
/// use sparring::algebra::Type;
/// use sparring::runtime::Scalar;
/// let x = Scalar::from(2.5);
/// assert_eq!((x.ty(), x.get::<f64>(), x.get::<i32>()), (Type::F64, Some(2.5), None));
/// assert_eq!(x.to_string(), "2.5");
/// assert_eq!(x.cast(Type::F32)?, Scalar::from(2.5f32));
/// assert_eq!(Scalar::parse("-7", Type::I8)?.get::<i8>(), Some(-7));
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scalar(Constant);

impl<T: Value> From<T> for Scalar {
    fn from(x: T) -> Self {
        Self(Constant::of(x))
    }
}

impl Scalar {
    /// The value of a literal: a number, `inf`, `nan`, `true`, `false`, `complex_f64(1, 2)`.
    /// # Errors
    /// [`Error::Formula`] if the text is no literal of this type; it points at the position.
    pub fn parse(text: &str, ty: Type) -> Result<Self> {
        let constant = Formula::parse(text, &[], Some(ty))?.constant();
        constant.map(Self).ok_or_else(|| {
            let message = "expected a literal number, not an expression".to_string();
            Error::Formula { text: text.to_string(), at: 0, message }
        })
    }
    /// Its type.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.0.ty()
    }
    /// The value, if it is of type `T`.
    #[must_use]
    pub fn get<T: Value>(&self) -> Option<T> {
        self.0.get()
    }
    /// The value converted to another type, by the rules of [`Matrix::cast`](super::Matrix::cast).
    /// # Errors
    /// [`Error::Unsupported`] for structs, and from complex to other types.
    pub fn cast(&self, ty: Type) -> Result<Self> {
        if ty == self.ty() {
            return Ok(self.clone());
        }
        Self::only(cast(self.0.slice(), ty, |_| String::new())?.slice())
    }
    /// The first of these values.
    /// # Errors
    /// [`Error::Unsupported`] if there is none, and for structs.
    pub fn only(values: crate::algebra::Slice<'_>) -> Result<Self> {
        let ty = values.ty();
        let none =
            || Error::Unsupported { what: format!("a scalar of {ty}"), why: "only numbers are supported".into() };
        with_type!(ty, T => values.get::<T>().and_then(|x| x.first()).map(|&x| Self::from(x)).ok_or_else(none), Err(none()))
    }
    /// The value as an array of one.
    #[must_use]
    pub fn slice(&self) -> crate::algebra::Slice<'_> {
        self.0.slice()
    }
    /// The scalar of a constant.
    pub(super) fn of(value: Constant) -> Self {
        Self(value)
    }
    /// As a constant for engines.
    pub(super) fn constant(&self) -> &Constant {
        &self.0
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_type!(self.ty(), T => match self.get::<T>() {
            Some(x) => x.fmt(f),
            None => Err(fmt::Error),
        }, write!(f, "{:?}", self.0))
    }
}

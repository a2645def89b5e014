//! A semiring by name or by formula.

use std::fmt;

use crate::Result;
#[cfg(feature = "cuda")]
use crate::algebra::{Printable, Printed, printed};
use crate::algebra::{RingFormula, Type};

/// A semiring for matrices of given types: `min_plus`, or `min, a + 2*b`.
#[derive(Clone, Debug, PartialEq)]
pub struct Semiring {
    text: String,
    ring: RingFormula,
}

impl Semiring {
    /// The semiring of this name, or of this formula, over values of one type.
    ///
    /// A name is that of a monoid and of an operator, joined by `_`: all pairs that the type has exist. A formula is ⊕, a comma,
    /// ⊗; see [`RingFormula::parse`].
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a name that the type does not have;
    /// [`Error::Formula`](crate::Error::Formula), which points at the place; [`Error::Argument`](crate::Error::Argument) if ⊕ is
    /// no monoid, with the values that show it.
    pub fn new(text: &str, ty: Type) -> Result<Self> {
        Self::between(text, ty, ty)
    }
    /// The same for A and B of different types, by a formula.
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn between(text: &str, a: Type, b: Type) -> Result<Self> {
        Ok(Self { text: text.trim().to_string(), ring: RingFormula::parse(text, a, b)? })
    }
    /// Type of the results.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.ring.mul().ty()
    }
    /// As data.
    #[must_use]
    pub fn formula(&self) -> &RingFormula {
        &self.ring
    }
    /// As device code.
    #[cfg(feature = "cuda")]
    pub(super) fn printed(&self) -> std::sync::Arc<Printed> {
        let (add, mul) = (self.ring.add(), self.ring.mul());
        printed(Printable::Ring(add.op().clone(), add.identity().clone(), mul.clone()))
    }
}

impl fmt::Display for Semiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

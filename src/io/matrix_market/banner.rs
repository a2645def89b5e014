//! The keywords of the banner: layout, field, symmetry.

use std::fmt;

/// Layout of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One (row, column, value) per line.
    Coordinate,
    /// Every element in column-major order, one per line.
    Array,
}

/// Type of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Real numbers (`real`, `double`), stored as f64.
    Real,
    /// Integers, stored as i64; as u64 if one exceeds i64 and none is negative.
    Integer,
    /// Nonnegative integers (`unsigned-integer`), stored as u64.
    Unsigned,
    /// Pattern only: each entry is true, or 1.
    Pattern,
    /// Complex numbers, stored as two f64.
    Complex,
}

/// Symmetry: which entries are omitted because others determine them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// No symmetry.
    General,
    /// A(j, i) = A(i, j): one triangle is stored, the lower one according to the format.
    Symmetric,
    /// A(j, i) = −A(i, j): the lower triangle without the diagonal is stored.
    SkewSymmetric,
    /// A(j, i) is the conjugate of A(i, j); for real numbers this is [`Symmetric`](Self::Symmetric).
    Hermitian,
}

macro_rules! words {
    ($($kind:ident { $($variant:ident $word:literal)* })*) => {$(
        impl $kind {
            /// The keyword in the banner.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
            pub(super) fn from_word(word: &[u8]) -> Option<Self> {
                $(if word.eq_ignore_ascii_case($word.as_bytes()) {
                    return Some(Self::$variant);
                })*
                None
            }
            pub(super) fn choices() -> String {
                [$($word),*].join(", ")
            }
        }
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    )*};
}
words! {
    Layout { Coordinate "coordinate" Array "array" }
    Field { Real "real" Integer "integer" Unsigned "unsigned-integer" Pattern "pattern" Complex "complex" }
    Symmetry { General "general" Symmetric "symmetric" SkewSymmetric "skew-symmetric" Hermitian "hermitian" }
}

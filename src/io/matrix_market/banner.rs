//! The words of the banner: layout, field, symmetry.

use std::fmt;

/// How the entries of a file are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One (row, column, value) a line.
    Coordinate,
    /// Every element, column by column, one a line.
    Array,
}

/// What the entries of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Real numbers (`real`, `double`), kept as f64.
    Real,
    /// Integers, kept as i64; as u64 where one is beyond i64 and none is negative.
    Integer,
    /// Integers from 0 (`unsigned-integer`), kept as u64.
    Unsigned,
    /// Positions only: each entry is true, or 1.
    Pattern,
    /// Complex numbers, kept as two f64.
    Complex,
}

/// Which entries a file leaves out because others determine them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// None.
    General,
    /// A(j, i) = A(i, j): one triangle is stored, the lower one as the format says.
    Symmetric,
    /// A(j, i) = −A(i, j): the lower triangle without the diagonal is stored.
    SkewSymmetric,
    /// A(j, i) is the conjugate of A(i, j); for real numbers this is [`Symmetric`](Self::Symmetric).
    Hermitian,
}

macro_rules! words {
    ($($kind:ident { $($variant:ident $word:literal)* })*) => {$(
        impl $kind {
            /// The word of the banner.
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

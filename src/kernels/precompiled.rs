//! Functions that the library has compiled for common types: who multiplies matrices of doubles compiles nothing but the loops of a semiring.
//!
//! A generic function is compiled again by each crate that calls it, unless what is called is a value without types of its own. So there are
//! such values for common types, and a constant says which of them is meant; branches that it rules out are not compiled.

use crate::Index;
use crate::algebra::{Real, Type, Word};

/// Which of the words of numbers W is, for drivers of 32-bit columns.
pub(crate) const fn word<W: Word, I: Index>() -> Option<usize> {
    match (align_of::<W>(), size_of::<W>() / align_of::<W>()) {
        _ if size_of::<I>() != 4 => None,
        (1, 1) => Some(0),
        (2, 1) => Some(1),
        (4, 1) => Some(2),
        (8, 1) => Some(3),
        (4, 2) => Some(4),
        (8, 2) => Some(5),
        _ => None,
    }
}

/// Which of f32 and f64 T is, for tensors of 32-bit indices.
pub(crate) const fn real<T: Real, I: Index>() -> Option<usize> {
    match T::TYPE {
        _ if size_of::<I>() != 4 => None,
        Type::F32 => Some(0),
        Type::F64 => Some(1),
        _ => None,
    }
}

/// The function `$make::<$A, $I>`, of type `$F<$A, $I>`: where [`word`] or [`real`] says so, the copy for one of the types given. Each copy is a
/// constant of its own, so that a program has those alone that it uses.
macro_rules! precompiled {
    (word $make:ident: $F:ident<$W:ident, $I:ident>) => {{
        use $crate::algebra::WordOf;
        $crate::kernels::precompiled!(
            word $make: $F<$W, $I>;
            0 WordOf<1, 1>, 1 WordOf<2, 1>, 2 WordOf<4, 1>, 3 WordOf<8, 1>, 4 WordOf<4, 2>, 5 WordOf<8, 2>
        )
    }};
    (real $make:ident: $F:ident<$T:ident, $I:ident>) => {
        $crate::kernels::precompiled!(real $make: $F<$T, $I>; 0 f32, 1 f64)
    };
    ($place:ident $make:ident: $F:ident<$A:ident, $I:ident>; $($number:literal $of:ty),*) => {
        $(if const { matches!($crate::kernels::$place::<$A, $I>(), Some($number)) } {
            static MADE: &(dyn std::any::Any + Send + Sync) = &($make::<$of, u32> as $F<$of, u32>);
            match MADE.downcast_ref::<$F<$A, $I>>() {
                Some(made) => *made,
                None => unreachable!("these are the types of that number"),
            }
        } else)* {
            $make::<$A, $I>
        }
    };
}
pub(crate) use precompiled;

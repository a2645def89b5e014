//! Drivers compiled inside the library for the number types, so that a crate that multiplies matrices of doubles
//! compiles only the loops of its semiring.
//!
//! rustc compiles a generic function again in each crate that calls it. A function pointer to an instance is compiled
//! where it is defined. A constant selects the pointer; rustc does not compile the branches that the constant rules
//! out.

use super::{Real, Type, Word};
use crate::Index;

/// The index of W among the words of number types, if columns have 32 bits.
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

/// The index of T among f32 and f64, with indices of 32 or of 64 bits.
pub(crate) const fn real<T: Real, I: Index>() -> Option<usize> {
    match (T::TYPE, size_of::<I>()) {
        (Type::F32, 4) => Some(0),
        (Type::F64, 4) => Some(1),
        (Type::F32, 8) => Some(2),
        (Type::F64, 8) => Some(3),
        _ => None,
    }
}

/// The function `$make::<$A, $I>`, of type `$F<$A, $I>`: the library's instance for the types that [`word`] or [`real`]
/// names; `$make::<$I>` for indices of 32 bits; `$make::<$T>` for the value types other than structs, or for floats.
/// Each instance is a separate static, so the linker drops those that a program does not use.
macro_rules! precompiled {
    (word $make:ident: $F:ident<$W:ident, $I:ident>) => {{
        use $crate::algebra::WordOf;
        $crate::algebra::precompiled!(
            word $make: $F<$W, $I>;
            0 WordOf<1, 1>, u32; 1 WordOf<2, 1>, u32; 2 WordOf<4, 1>, u32; 3 WordOf<8, 1>, u32; 4 WordOf<4, 2>, u32;
            5 WordOf<8, 2>, u32
        )
    }};
    (index $make:ident: $F:ident<$I:ident>) => {
        if const { size_of::<$I>() == 4 } {
            static INSTANCE: &(dyn std::any::Any + Send + Sync) = &($make::<u32> as $F<u32>);
            match INSTANCE.downcast_ref::<$F<$I>>() {
                Some(instance) => *instance,
                None => unreachable!("the only index of 32 bits"),
            }
        } else {
            $make::<$I>
        }
    };
    (real $make:ident: $F:ident<$T:ident, $I:ident>) => {
        $crate::algebra::precompiled!(real $make: $F<$T, $I>; 0 f32, u32; 1 f64, u32; 2 f32, u64; 3 f64, u64)
    };
    (float $make:ident: $F:ident<$T:ident>) => {
        $crate::algebra::precompiled!(number $make: $F<$T>; F32 f32, F64 f64)
    };
    (number $make:ident: $F:ident<$T:ident>) => {
        $crate::algebra::for_each_type!(numbers, precompiled!(number $make: $F<$T>;))
    };
    (number $make:ident: $F:ident<$T:ident>; $($variant:ident $of:ty),*) => {
        $(if const { matches!(<$T as $crate::algebra::Value>::TYPE, $crate::algebra::Type::$variant) } {
            static INSTANCE: &(dyn std::any::Any + Send + Sync) = &($make::<$of> as $F<$of>);
            match INSTANCE.downcast_ref::<$F<$T>>() {
                Some(instance) => *instance,
                None => unreachable!("the constant names this type"),
            }
        } else)* {
            $make::<$T>
        }
    };
    ($place:ident $make:ident: $F:ident<$A:ident, $I:ident>; $($number:literal $of:ty, $index:ty);*) => {
        $(if const { matches!($crate::algebra::precompiled::$place::<$A, $I>(), Some($number)) } {
            static INSTANCE: &(dyn std::any::Any + Send + Sync) = &($make::<$of, $index> as $F<$of, $index>);
            match INSTANCE.downcast_ref::<$F<$A, $I>>() {
                Some(instance) => *instance,
                None => unreachable!("the index names these types"),
            }
        } else)* {
            $make::<$A, $I>
        }
    };
}
pub(crate) use precompiled;

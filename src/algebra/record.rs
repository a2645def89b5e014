//! `value!`: a struct of scalars as a value type.

/// Defines a struct of one to three scalars, for use as a value type of matrices and operators.
///
/// In operator bodies, `Name::field(a)` reads a field and `Name::of(x, y)` constructs a value, in every interpreter.
/// `Name::definition()` is the CUDA C++ text of the struct; [`emit_contract`](crate::algebra::emit_contract) prepends
/// it to the ring. Fields may be structs defined by this macro. The names `of` and `definition` are reserved.
///
/// # Example: argmin, as a monoid
/// The minimum and its index; of equal values, the smallest index.
/// ```
/// use sparring::algebra::{Host, BinaryOp, V};
/// sparring::value! {
///     /// A value and its index.
///     pub struct Best {
///         /// The value.
///         pub value: f64,
///         /// Its index.
///         pub index: u32,
///     }
/// }
/// sparring::op! {
///     /// The one with the smaller value.
///     pub ArgMin (a: Best, b: Best) -> Best {
///         let (x, y) = (Best::value(a), Best::value(b));
///         let (i, j) = (Best::index(a), Best::index(b));
///         (y.lt(x) | (y.eq(x) & j.lt(i))).select(b, a)
///     } identity Best { value: f64::INFINITY, index: u32::MAX }
/// }
/// let (a, b) = (Best { value: 2.0, index: 7 }, Best { value: 1.0, index: 9 });
/// assert_eq!(ArgMin::new().apply::<Host>(V(a), V(b)).0, b);
/// ```
#[macro_export]
macro_rules! value {
    ($(#[$m:meta])* $vis:vis struct $name:ident { $($(#[$fm:meta])* $fvis:vis $field:ident: $ft:ty),+ $(,)? }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        $vis struct $name { $($(#[$fm])* $fvis $field: $ft),+ }
        // SAFETY: the struct is `repr(C)`, and size, alignment and offsets are those computed by the compiler.
        unsafe impl $crate::algebra::Value for $name {
            const TYPE: $crate::algebra::Type = $crate::algebra::Type::Struct(&$crate::algebra::StructType {
                name: stringify!($name),
                fields: &[$((
                    stringify!($field),
                    <$ft as $crate::algebra::Value>::TYPE,
                    ::core::mem::offset_of!($name, $field),
                )),+],
                size: ::core::mem::size_of::<$name>(),
                align: ::core::mem::align_of::<$name>(),
            });
            type Word = $crate::algebra::WordOf<
                { ::core::mem::align_of::<$name>() },
                { ::core::mem::size_of::<$name>() / ::core::mem::align_of::<$name>() },
            >;
        }
        #[allow(dead_code)]
        impl $name {
            /// CUDA C++ text of the struct, and of the functions that access its fields and construct it.
            #[must_use]
            $vis fn definition() -> String {
                $crate::algebra::define_types(&[<Self as $crate::algebra::Value>::TYPE])
            }
            $crate::value! { @of [$vis] $name $($field: $ft),+ }
        }
        $crate::value! { @fields [$vis] $name [0 1 2] $($field: $ft),+ }
    };
    (@fields [$vis:vis] $name:ident [$($index:literal)*]) => {};
    (@fields [$vis:vis] $name:ident [$index:literal $($more:literal)*] $field:ident: $ft:ty $(, $fields:ident: $fts:ty)*) => {
        #[allow(dead_code)]
        impl $name {
            #[doc = concat!("Field `", stringify!($field), "`.")]
            #[inline(always)]
            $vis fn $field<M: $crate::algebra::Arith>(a: $crate::algebra::V<M, Self>) -> $crate::algebra::V<M, $ft> {
                a.field::<$index, $ft>(|a: Self| a.$field)
            }
        }
        $crate::value! { @fields [$vis] $name [$($more)*] $($fields: $fts),* }
    };
    (@fields [$vis:vis] $name:ident [] $($field:ident: $ft:ty),+) => {};
    (@of [$vis:vis] $name:ident $x:ident: $tx:ty) => {
        /// The value with this field.
        #[inline(always)]
        $vis fn of<M: $crate::algebra::Arith>($x: $crate::algebra::V<M, $tx>) -> $crate::algebra::V<M, Self> {
            $crate::algebra::V::of1(|$x: $tx| Self { $x }, $x)
        }
    };
    (@of [$vis:vis] $name:ident $x:ident: $tx:ty, $y:ident: $ty:ty) => {
        /// The value with these fields.
        #[inline(always)]
        $vis fn of<M: $crate::algebra::Arith>(
            $x: $crate::algebra::V<M, $tx>,
            $y: $crate::algebra::V<M, $ty>,
        ) -> $crate::algebra::V<M, Self> {
            $crate::algebra::V::of2(|$x: $tx, $y: $ty| Self { $x, $y }, $x, $y)
        }
    };
    (@of [$vis:vis] $name:ident $x:ident: $tx:ty, $y:ident: $ty:ty, $z:ident: $tz:ty) => {
        /// The value with these fields.
        #[inline(always)]
        $vis fn of<M: $crate::algebra::Arith>(
            $x: $crate::algebra::V<M, $tx>,
            $y: $crate::algebra::V<M, $ty>,
            $z: $crate::algebra::V<M, $tz>,
        ) -> $crate::algebra::V<M, Self> {
            $crate::algebra::V::of3(|$x: $tx, $y: $ty, $z: $tz| Self { $x, $y, $z }, $x, $y, $z)
        }
    };
    (@of [$vis:vis] $name:ident $($field:ident: $ft:ty),+) => {
        compile_error!("value!: one to three fields; nest structs for more");
    };
}

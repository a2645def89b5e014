//! `value!`: a struct of scalars as the type of a matrix's entries.

/// Defines a struct of one to three scalars that a matrix may hold and operators may take apart.
///
/// For each field there is a function that reads it, `Name::field(a)`, and `Name::of(x, y)` puts a value
/// together; both work on every machine. `Name::definition()` is the CUDA C++ text that the device needs,
/// which [`emit_contract`](crate::algebra::emit_contract) puts in front of the ring by itself. Fields may be structs made by this macro. The
/// names `of` and `definition` are taken.
///
/// # Example: argmin, as a monoid
/// The least value, and where it was met; of equal values the one met at the least place.
/// ```
/// use sparring::algebra::{Host, BinaryOp, V};
/// sparring::value! {
///     /// A value and where it was met.
///     pub struct Best {
///         /// The value.
///         pub value: f64,
///         /// Where it was met.
///         pub index: u32,
///     }
/// }
/// sparring::op! {
///     /// The one with the smaller value.
///     pub ArgMin (a: Best, b: Best) -> Best {{
///         let (x, y) = (Best::value(a), Best::value(b));
///         let (i, j) = (Best::index(a), Best::index(b));
///         (y.lt(x) | (y.eq(x) & j.lt(i))).select(b, a)
///     }} identity Best { value: f64::INFINITY, index: u32::MAX }
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
        // SAFETY: the struct is `repr(C)`, and all is said by the compiler's own figures of it.
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
            fn literal(self) -> String {
                let fields = [$($crate::algebra::Value::literal(self.$field)),+];
                format!("{}{{{}}}", stringify!($name), fields.join(", "))
            }
            fn define(definitions: &mut Vec<String>) {
                $(<$ft as $crate::algebra::Value>::define(definitions);)+
                let fields = [$((<$ft as $crate::algebra::Value>::CUDA, stringify!($field))),+];
                let own = $crate::algebra::define_struct(stringify!($name), &fields);
                if !definitions.contains(&own) {
                    definitions.push(own);
                }
            }
        }
        #[allow(dead_code)]
        impl $name {
            /// CUDA C++ text of the struct and of the functions that read its fields and put it together.
            #[must_use]
            $vis fn definition() -> String {
                let mut definitions = Vec::new();
                <Self as $crate::algebra::Value>::define(&mut definitions);
                definitions.concat()
            }
            $(
                #[doc = concat!("Field `", stringify!($field), "`.")]
                #[inline(always)]
                $vis fn $field<M: $crate::algebra::Machine>(a: $crate::algebra::V<M, Self>) -> $crate::algebra::V<M, $ft> {
                    a.call1(concat!(stringify!($name), "_", stringify!($field)), |a: Self| a.$field)
                }
            )+
            $crate::value! { @of [$vis] $name $($field: $ft),+ }
        }
    };
    (@of [$vis:vis] $name:ident $x:ident: $tx:ty) => {
        /// The value with this field.
        #[inline(always)]
        $vis fn of<M: $crate::algebra::Machine>($x: $crate::algebra::V<M, $tx>) -> $crate::algebra::V<M, Self> {
            $x.call1(concat!(stringify!($name), "_of"), |$x: $tx| Self { $x })
        }
    };
    (@of [$vis:vis] $name:ident $x:ident: $tx:ty, $y:ident: $ty:ty) => {
        /// The value with these fields.
        #[inline(always)]
        $vis fn of<M: $crate::algebra::Machine>(
            $x: $crate::algebra::V<M, $tx>,
            $y: $crate::algebra::V<M, $ty>,
        ) -> $crate::algebra::V<M, Self> {
            $x.call2(concat!(stringify!($name), "_of"), |$x: $tx, $y: $ty| Self { $x, $y }, $y)
        }
    };
    (@of [$vis:vis] $name:ident $x:ident: $tx:ty, $y:ident: $ty:ty, $z:ident: $tz:ty) => {
        /// The value with these fields.
        #[inline(always)]
        $vis fn of<M: $crate::algebra::Machine>(
            $x: $crate::algebra::V<M, $tx>,
            $y: $crate::algebra::V<M, $ty>,
            $z: $crate::algebra::V<M, $tz>,
        ) -> $crate::algebra::V<M, Self> {
            $x.call3(concat!(stringify!($name), "_of"), |$x: $tx, $y: $ty, $z: $tz| Self { $x, $y, $z }, $y, $z)
        }
    };
    (@of [$vis:vis] $name:ident $($field:ident: $ft:ty),+) => {
        compile_error!("value!: one to three fields; nest structs for more");
    };
}

/// CUDA C++ text of a struct, for [`crate::value!`].
#[doc(hidden)]
#[must_use]
pub fn define_struct(name: &str, fields: &[(&str, &str)]) -> String {
    let each = |f: &dyn Fn(&str, &str) -> String| fields.iter().map(|(cuda, field)| f(cuda, field)).collect::<Vec<_>>();
    let members = each(&|cuda, field| format!("  {cuda} {field};\n")).concat();
    let getters =
        each(&|cuda, field| format!("static __device__ {cuda} {name}_{field}({name} a) {{ return a.{field}; }}\n"))
            .concat();
    let parameters = each(&|cuda, field| format!("{cuda} {field}")).join(", ");
    let names = each(&|_, field| field.to_string()).join(", ");
    let equal = each(&|_, field| format!("sr::eq(a.{field}, b.{field})")).join(" && ");
    format!(
        "struct {name} {{\n{members}}};\nnamespace sr {{\n{getters}\
         static __device__ {name} {name}_of({parameters}) {{ return {name}{{{names}}}; }}\n\
         static __device__ bool eq({name} a, {name} b) {{ return {equal}; }}\n\
         static __device__ bool ne({name} a, {name} b) {{ return !sr::eq(a, b); }}\n}}\n"
    )
}

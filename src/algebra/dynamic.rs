//! Built-ins by name, for callers that choose operators at run time, such as the command line and C.
//!
//! A name and a value type select a semiring; a *visitor*, a piece of generic code, is run with it.
//! ```
//! use sparring::algebra::dynamic::{Named, SemiringVisitor};
//! use sparring::algebra::{Contract, MulOp, Num, Out, Semiring, laws};
//!
//! /// a ⊗ b, as text.
//! struct Multiply(f64, f64);
//! impl SemiringVisitor<f64> for Multiply {
//!     type Output = String;
//!     fn visit<R>(self, ring: R) -> String
//!     where
//!         R: Semiring,
//!         R::Mul: MulOp<A = f64, B = f64>,
//!         Out<R>: Num,
//!     {
//!         format!("{:?}", laws::multiply(ring.mul(), self.0, self.1))
//!     }
//! }
//! assert_eq!(f64::semiring("min_plus", Multiply(2.0, 3.0))?, "5.0");
//! assert_eq!(f64::semiring("lor_land", Multiply(2.0, 3.0))?, "true");
//! assert!(f64::semiring("bor_band", Multiply(2.0, 3.0)).is_err());
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! # What is compiled
//! A visitor is compiled once for each name of the value types that it is run with: `f64::semiring` instantiates the 25
//! semirings of f64, and none of i64.
//!
//! | class | names | value types | result |
//! | --- | --- | --- | --- |
//! | any | `any_pair any_first any_second` | all | same |
//! | truth | `lor_land` | all | bool |
//! | place | `any_firsti any_secondi any_secondj min_secondi max_secondi` | all | i64 |
//! | numbers | `plus_times min_plus max_plus min_times max_times min_max max_min plus_min` `{min,max,plus}_{first,second}` `plus_pair` | all but bool | same |
//! | reals | `log_plus` | f32, f64 | same |
//! | integers | `bor_band band_bor bxor_band bxnor_bor` | integers | same |
//! | logic | `land_lor lxor_land lxnor_lor` | bool | bool |
//!
//! `min_times`, `max_times` and `plus_min` are semirings on non-negative values only ([`Row::is_from_zero`]).
//!
//! Positional operators counted from 1 exist as types, without names: names would be compiled for every caller, for a
//! difference of one addition.

use super::*;
use crate::error::{Error, Result};

/// Generic code to run with a semiring over matrices of `T`.
pub trait SemiringVisitor<T: Num>: Sized {
    /// Result of the visit.
    type Output;
    /// Runs with the chosen semiring. Its result type may differ from `T`: `lor_land` yields bool, positional semirings
    /// yield i64.
    fn visit<R>(self, ring: R) -> Self::Output
    where
        R: Semiring,
        R::Mul: MulOp<A = T, B = T>,
        Out<R>: Num;
}

/// Generic code to run with a monoid over `T`.
pub trait MonoidVisitor<T: Num>: Sized {
    /// Result of the visit.
    type Output;
    /// Runs with the chosen monoid.
    fn visit<P: Monoid + BinaryOp<Out = T>>(self, monoid: P) -> Self::Output;
}

/// A number type whose built-ins can be chosen by name.
pub trait Named: Num {
    /// Runs `visitor` with the semiring called `name`, or an alias known to [`canonical`].
    /// # Errors
    /// [`Error::Unsupported`] if the type has no such semiring; the message lists the available ones.
    fn semiring<V: SemiringVisitor<Self>>(name: &str, visitor: V) -> Result<V::Output>;
    /// Runs `visitor` with the monoid called `name`.
    /// # Errors
    /// [`Error::Unsupported`] if the type has no such monoid; the message lists the available ones.
    fn monoid<V: MonoidVisitor<Self>>(name: &str, visitor: V) -> Result<V::Output>;
    /// Names of the semirings, in the order of the table.
    fn semirings() -> Vec<&'static str> {
        SEMIRINGS.iter().filter(|row| row.values().contains(&Self::TYPE)).map(|row| row.name).collect()
    }
    /// Names of the monoids, in the order of the table.
    fn monoids() -> Vec<&'static str> {
        MONOIDS.iter().filter(|row| row.values().contains(&Self::TYPE)).map(|row| row.name).collect()
    }
}

/// A row of the table of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name: ⊕ and ⊗ joined by `_`, or the monoid's.
    pub name: &'static str,
    /// Its typical use; empty for a monoid.
    pub purpose: &'static str,
    class: Class,
    domain: Domain,
}

/// The domain on which the laws hold, as in `builtin.rs`.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Domain {
    every,
    finite,
    small,
    natural,
}

#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    any,
    place,
    place1,
    truth,
    numbers,
    reals,
    integers,
    logic,
}

impl Row {
    /// Whether its laws hold on non-negative values only. On others ⊗ does not distribute over ⊕: −1 times the maximum
    /// of two numbers is the minimum of the products. Results may then depend on rearrangements by that law, such as
    /// the path of a contraction or the variant of an MTTKRP.
    #[must_use]
    pub fn is_from_zero(&self) -> bool {
        self.domain == Domain::natural
    }
    /// The value types that have it.
    #[must_use]
    pub fn values(&self) -> &'static [Type] {
        let all = Type::ORDERED;
        match self.class {
            Class::any | Class::place | Class::truth => all,
            Class::place1 => &[],
            Class::logic => &all[..1],
            Class::numbers => &all[1..],
            Class::integers => &all[1..9],
            Class::reals => &all[9..],
        }
    }
}

/// The canonical name: lower case, `-` replaced by `_`, and aliases resolved.
///
/// | alias | is |
/// | --- | --- |
/// | `…_oneb`, `…_one` | `…_pair` |
/// | `…_firstj`, `…_second_index` | `…_secondi` |
/// | `…_first_index` | `…_firsti` |
/// | `or_and`, `tropical`, `log`, `logaddexp_plus` | `lor_land`, `min_plus`, `log_plus`, `log_plus` |
#[must_use]
pub fn canonical(name: &str) -> String {
    let name = name.to_lowercase().replace('-', "_");
    let whole = match name.as_str() {
        "or_and" => "lor_land",
        "tropical" => "min_plus",
        "log" | "logaddexp_plus" => "log_plus",
        _ => "",
    };
    if !whole.is_empty() {
        return whole.to_string();
    }
    let endings = [
        ("_oneb", "_pair"),
        ("_one", "_pair"),
        ("_firstj", "_secondi"),
        ("_second_index", "_secondi"),
        ("_first_index", "_firsti"),
    ];
    for (from, to) in endings {
        if let Some(add) = name.strip_suffix(from) {
            return format!("{add}{to}");
        }
    }
    name
}

fn unknown<T: Named>(kind: &str, name: &str, known: &[&str]) -> Error {
    Error::Unsupported {
        what: format!("{kind} '{name}' over {}", T::TYPE),
        why: format!("{} has {}", T::TYPE, known.join(", ")),
    }
}

/// One function per class of semirings, generic over its value types; it returns the visitor if the name is not in the
/// class.
macro_rules! semirings {
    ($($class:ident($bound:ident) { $($name:ident $ring:ident $purpose:literal $domain:ident $($law:ident)*;)* })*) => {
        /// All semirings by name.
        pub const SEMIRINGS: &[Row] = &[$($(
            Row { name: stringify!($name), purpose: $purpose, class: Class::$class, domain: Domain::$domain },
        )*)*];
        mod semiring_class {
            use super::*;
            $(
                #[allow(dead_code)]
                pub(super) fn $class<T: $bound, V: SemiringVisitor<T>>(name: &str, visitor: V) -> Result<V::Output, V> {
                    match name {
                        $(stringify!($name) => Ok(visitor.visit($ring::<T>::default())),)*
                        _ => Err(visitor),
                    }
                }
            )*
        }
    };
}
builtin_semirings!(semirings);

/// One function per class of monoids; those of class `logic` exist on bool only.
macro_rules! monoids {
    ($($class:ident($bound:ident) { $($name:ident $op:ident $domain:ident;)* })*) => {
        /// All monoids by name.
        pub const MONOIDS: &[Row] = &[$($(
            Row { name: stringify!($name), purpose: "", class: Class::$class, domain: Domain::$domain },
        )*)*];
        mod monoid_class {
            use super::*;
            $(monoids! { @class $class($bound) { $($name $op;)* } })*
        }
    };
    (@class logic($bound:ident) { $($name:ident $op:ident;)* }) => {
        #[allow(clippy::extra_unused_type_parameters)] // called like its siblings
        pub(super) fn logic<T, V: MonoidVisitor<bool>>(name: &str, visitor: V) -> Result<V::Output, V> {
            match name {
                $(stringify!($name) => Ok(visitor.visit($op::<bool>::default())),)*
                _ => Err(visitor),
            }
        }
    };
    (@class $class:ident($bound:ident) { $($name:ident $op:ident;)* }) => {
        pub(super) fn $class<T: $bound, V: MonoidVisitor<T>>(name: &str, visitor: V) -> Result<V::Output, V> {
            match name {
                $(stringify!($name) => Ok(visitor.visit($op::<T>::default())),)*
                _ => Err(visitor),
            }
        }
    };
}
builtin_monoids!(monoids);

/// The classes of semirings and monoids that are instantiated for each value type.
macro_rules! named {
    ($($t:ident: $($ring:ident)* | $($monoid:ident)*;)*) => {$(
        impl Named for $t {
            fn semiring<V: SemiringVisitor<Self>>(name: &str, visitor: V) -> Result<V::Output> {
                let canonical = canonical(name);
                Err(visitor)
                    $(.or_else(|v| semiring_class::$ring::<Self, _>(&canonical, v)))*
                    .map_err(|_: V| unknown::<Self>("semiring", name, &Self::semirings()))
            }
            fn monoid<V: MonoidVisitor<Self>>(name: &str, visitor: V) -> Result<V::Output> {
                let canonical = canonical(name);
                Err(visitor)
                    $(.or_else(|v| monoid_class::$monoid::<Self, _>(&canonical, v)))*
                    .map_err(|_: V| unknown::<Self>("monoid", name, &Self::monoids()))
            }
        }
    )*};
}
named! {
    bool: any place truth logic | any logic;
    i8: any place truth numbers integers | any numbers integers;
    i16: any place truth numbers integers | any numbers integers;
    i32: any place truth numbers integers | any numbers integers;
    i64: any place truth numbers integers | any numbers integers;
    u8: any place truth numbers integers | any numbers integers;
    u16: any place truth numbers integers | any numbers integers;
    u32: any place truth numbers integers | any numbers integers;
    u64: any place truth numbers integers | any numbers integers;
    f32: any place truth numbers reals | any numbers reals;
    f64: any place truth numbers reals | any numbers reals;
}

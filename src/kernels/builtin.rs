//! Built-in monoids as values: one fold for each monoid and type.

use std::any;

use super::Fold;
use super::fold::Typed;
use crate::algebra::*;

/// The fold of the named built-in monoid on a type; `None` if it is not defined there or `W` is not the type's word.
pub(crate) fn builtin<W: Word>(name: &str, ty: Type) -> Option<Box<dyn Fold<W>>> {
    /// `fold` if its word `V` is `W`.
    fn of<V: Word, W: Word>(fold: Box<dyn Fold<V>>) -> Option<Box<dyn Fold<W>>> {
        (&mut Some(fold) as &mut dyn any::Any).downcast_mut::<Option<Box<dyn Fold<W>>>>()?.take()
    }
    macro_rules! row {
        ($row:ident $op:ident: $($variant:ident $t:ty),*) => {
            match ty {
                $(Type::$variant => return of::<<$t as Value>::Word, W>(Box::new(Typed($op::<$t>::new()))),)*
                _ => {}
            }
        };
    }
    macro_rules! class {
        (numbers $($op:tt)+) => {
            for_each_type!(reals, row!($($op)+:))
        };
        (any $($op:tt)+) => {
            for_each_type!(ordered, row!($($op)+:))
        };
        (integers $($op:tt)+) => {
            for_each_type!(integers, row!($($op)+:))
        };
        (reals $($op:tt)+) => { for_each_type!(floats, row!($($op)+:)) };
        (logic $($op:tt)+) => { row!($($op)+: Bool bool) };
    }
    macro_rules! table {
        ($($class:ident($bound:ident) { $($row:ident $op:ident $domain:ident;)* })*) => {$($(
            if name == stringify!($row) {
                class!($class $row $op);
            }
        )*)*};
    }
    crate::builtin_monoids!(table);
    None
}

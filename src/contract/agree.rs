//! The compile-time checks of [`einsum!`](crate::einsum!), done during type checking, and so in `cargo check` too.
//!
//! Constants of generic functions are only evaluated at code generation, whereas trait bounds are checked earlier, and
//! in every caller. Each index of each operand is therefore one bound: its extent agrees with that of the first
//! occurrence of its letter.

use super::shaped::{Any, Extent, Extents, Fixed, Rank, Shaped};
use super::subscripts::term_letter;
use super::view::Viewed;

/// An extent that may belong to the same index as the extent `With`.
#[diagnostic::on_unimplemented(
    message = "einsum!: the extents of an index differ",
    label = "an index is `{Self}` here, and `{With}` at the first occurrence of its letter",
    note = "indices of one letter need one extent: the same `Fixed<N>`, or `Any`, which is compared when the program runs"
)]
pub trait Agrees<With> {}
impl<E: Extent> Agrees<E> for Any {}
impl<const N: usize> Agrees<Any> for Fixed<N> {}
impl<const N: usize> Agrees<Self> for Fixed<N> {}

/// Index J of a shape; [`Any`] past the last.
pub trait Nth<const J: usize> {
    type Extent;
}
impl<const R: usize, const J: usize> Nth<J> for Rank<R> {
    type Extent = Any;
}

/// A shape of R indices.
#[diagnostic::on_unimplemented(
    message = "einsum!: an operand has another number of indices",
    label = "the operand is of the shape `{Self}`, and the expression has {R} letters for it"
)]
pub trait HasRank<const R: usize> {}
impl<const R: usize> HasRank<R> for Rank<R> {}

/// Operand I of a tuple of views.
pub trait Nested<const I: usize> {
    type Shape: Extents;
}

macro_rules! indices {
    ($rank:literal $($e:ident)*) => {
        impl<$($e: Extent),*> HasRank<$rank> for ($($e,)*) {}
        indices!(@ ($($e)*) ($($e)*) 0 1 2 3 4 5 6 7);
    };
    (@ ($($all:ident)*) ($head:ident $($tail:ident)*) $j:literal $($more:literal)*) => {
        impl<$($all: Extent),*> Nth<$j> for ($($all,)*) {
            type Extent = $head;
        }
        indices!(@ ($($all)*) ($($tail)*) $($more)*);
    };
    (@ ($($all:ident)*) () $j:literal $($more:literal)*) => {
        impl<$($all: Extent),*> Nth<$j> for ($($all,)*) {
            type Extent = Any;
        }
        indices!(@ ($($all)*) () $($more)*);
    };
    (@ ($($all:ident)*) ()) => {};
}
indices!(0);
indices!(1 A);
indices!(2 A B);
indices!(3 A B C);
indices!(4 A B C D);
indices!(5 A B C D E);
indices!(6 A B C D E F);
indices!(7 A B C D E F G);
indices!(8 A B C D E F G H);

macro_rules! operands {
    ($($s:ident)*; $($i:literal $of:ident)*) => {
        operands!(@ ($($s)*) $($i $of)*);
    };
    (@ $all:tt $i:literal $of:ident $($more:tt)*) => {
        operands!(= $all $i $of);
        operands!(@ $all $($more)*);
    };
    (@ $all:tt) => {};
    (= ($($s:ident)*) $i:literal $of:ident) => {
        impl<'a, V: Viewed<Value: 'a>, $($s: Extents),*> Nested<$i> for ($(&Shaped<'a, V::Value, $s, V>,)*) {
            type Shape = $of;
        }
    };
}
operands!(S0; 0 S0);
operands!(S0 S1; 0 S0 1 S1);
operands!(S0 S1 S2; 0 S0 1 S1 2 S2);
operands!(S0 S1 S2 S3; 0 S0 1 S1 2 S2 3 S3);
operands!(S0 S1 S2 S3 S4; 0 S0 1 S1 2 S2 3 S3 4 S4);
operands!(S0 S1 S2 S3 S4 S5; 0 S0 1 S1 2 S2 3 S3 4 S4 5 S5);
operands!(S0 S1 S2 S3 S4 S5 S6; 0 S0 1 S1 2 S2 3 S3 4 S4 5 S5 6 S6);
operands!(S0 S1 S2 S3 S4 S5 S6 S7; 0 S0 1 S1 2 S2 3 S3 4 S4 5 S5 6 S6 7 S7);

/// Compiles if operand I has R indices.
pub const fn assert_rank<const I: usize, const R: usize, O: Nested<I, Shape: HasRank<R>>>(_: &O) {}

/// Compiles if index J of operand I and index FJ of operand FI may be the same.
pub const fn assert_agrees<const I: usize, const J: usize, const FI: usize, const FJ: usize, O>(_: &O)
where
    O: Nested<I, Shape: Nth<J>> + Nested<FI, Shape: Nth<FJ>>,
    <<O as Nested<I>>::Shape as Nth<J>>::Extent: Agrees<<<O as Nested<FI>>::Shape as Nth<FJ>>::Extent>,
{
}

/// Number of letters of operand `i` in the text.
pub const fn rank_of(text: &str, i: usize) -> usize {
    let mut rank = 0;
    while term_letter(text, i, rank).is_some() {
        rank += 1;
    }
    rank
}

/// Operand and position of the first occurrence of letter `j` of operand `i`; (i, j) if there is no such letter.
pub const fn first(text: &str, i: usize, j: usize) -> (usize, usize) {
    let Some(wanted) = term_letter(text, i, j) else { return (i, j) };
    let (mut a, mut b) = (0, 0);
    while a < i || b < j {
        match term_letter(text, a, b) {
            Some(found) if found == wanted => return (a, b),
            Some(_) => b += 1,
            None => (a, b) = (a + 1, 0),
        }
    }
    (i, j)
}

/// Fails compilation unless an expression names as many operands as given.
/// # Panics
/// If the numbers differ; in a constant, so at compile time.
pub const fn assert_operands(text: &str, given: usize) {
    let (bytes, mut named, mut at) = (text.as_bytes(), 1, 0);
    while at < bytes.len() && bytes[at] != b'-' {
        if bytes[at] == b',' {
            named += 1;
        }
        at += 1;
    }
    assert!(named <= given, "the expression names more operands than are given");
    assert!(named >= given, "the expression names fewer operands than are given");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_found_where_they_stand_first() {
        let text = "ij, j k,kik->ik";
        assert_eq!([0, 1, 2, 3].map(|i| rank_of(text, i)), [2, 2, 3, 0]);
        assert_eq!([0, 1].map(|j| first(text, 0, j)), [(0, 0), (0, 1)]);
        assert_eq!([0, 1, 2].map(|j| first(text, 1, j)), [(0, 1), (1, 1), (1, 2)]);
        assert_eq!([0, 1, 2].map(|j| first(text, 2, j)), [(1, 1), (0, 0), (1, 1)]);
        assert_eq!(first("ii->i", 0, 1), (0, 0));
        assert_operands(text, 3);
    }
}

//! Operands of `einsum!` that do not fit their letters.

use sparring::contract::{Any, Fixed, Rank, Shaped};
use sparring::einsum;

type Of<'a, S> = Shaped<'a, f64, S>;

//~ einsum!: the extents of an index differ
//~ an index is `Fixed<4>` here, and `Fixed<3>` at the first occurrence of its letter
fn of_two_operands(a: Of<'_, (Any, Fixed<3>)>, b: Of<'_, (Fixed<4>, Any)>) {
    let _ = einsum!("ij,jk->ik", a, b);
}

//~ an index is `Fixed<6>` here, and `Fixed<5>` at the first occurrence of its letter
fn along_a_diagonal(a: Of<'_, (Fixed<5>, Fixed<6>)>) {
    let _ = einsum!("ii->i", a);
}

//~ an index is `Fixed<8>` here, and `Fixed<7>` at the first occurrence of its letter
fn in_a_generic_function<T: Clone>(a: Shaped<'_, T, (Fixed<7>,)>, b: Shaped<'_, T, (Fixed<8>, Any)>) {
    let _ = einsum!("i,ik->k", a, b);
}

//~ einsum!: an operand has another number of indices
//~ the operand is of the shape `Rank<2>`, and the expression has 3 letters for it
fn letters(a: Of<'_, Rank<2>>) {
    let _ = einsum!("ijk->ik", a);
}

//~ the expression names more operands than are given
fn operands(a: Of<'_, Rank<2>>) {
    let _ = einsum!("ij,jk->ik", a);
}

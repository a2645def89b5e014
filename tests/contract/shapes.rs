//! Shapes that the compiler knows.

use super::*;
use sparring::Result;
use sparring::contract::{Any, Extents, Fixed, Rank};

#[test]
fn shapes_are_those_of_the_array() {
    let numbers: Vec<i64> = (0..24).collect();
    let view = |extents: &[usize]| View::new(&numbers, Layout::row_major(extents).unwrap()).unwrap();
    let b = view(&[2, 3, 4]).shaped::<(Any, Fixed<3>, Fixed<4>)>().unwrap();
    let c = view(&[4, 3]).shaped::<(Fixed<4>, Any)>().unwrap();
    let r = view(&[4, 3]).ranked::<2>().unwrap();
    let cpu = Cpu::new();
    let of = |einsum: Result<Einsum<'_, i64>>| cpu.einsum(PlusTimes::new(), einsum.unwrap()).eval().unwrap();
    let wanted = of(Einsum::new("ijk,kj->i", &[view(&[2, 3, 4]), view(&[4, 3])]));
    assert_eq!(of(einsum!("ijk,kj->i", b, c)), wanted);
    // Beside shapes of which only the rank is known.
    assert_eq!(of(einsum!("ijk,kj->i", b, r)), wanted);
    let s = view(&[]).shaped::<()>().unwrap();
    assert_eq!(of(einsum!(",ijk,kj->i", s, b, r)).values(), [0, 0]);
    says(
        view(&[2, 3]).shaped::<(Fixed<2>, Fixed<4>)>(),
        &["shape: index 1 has 3 values, and 4 in the type of the view"],
    );
    says(view(&[2, 3]).shaped::<(Any,)>(), &["indices of a view", "2", "1"]);
    // What is not known to the compiler is compared when it runs.
    says(einsum!("ij,jk->ik", c, r), &["j has 4 values in operand 1, 3 in operand 0"]);
    assert_eq!(<(Fixed<7>, Any) as Extents>::KNOWN, [Some(7), None]);
    assert_eq!(<Rank<3> as Extents>::KNOWN, [None; 3]);
}

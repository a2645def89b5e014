//! Matrix–vector products with the transpose available as well: the direction is chosen, and the result is the same.

use sparring::algebra::{AnyPair, AnySecondI, LorLand, MinPlus, MulOp, Out, PlusTimes, Semiring as SemiringType, Type};
use sparring::prelude::*;
use sparring::runtime::{self, Machine, Matrix, Op, Semiring};

use super::operands::{is_cpu, machines, same_vector};
use crate::common::arbitrary::{Draw, Rng, rows};

/// One search step with both matrices available, typed and by name, for vectors and masks with one to all entries;
/// counts how often each direction was chosen.
fn steps<T: Draw, R>(ring: R, name: &str, machines: &[Machine], chosen: &mut [usize; 2])
where
    R: SemiringType,
    R::Mul: MulOp<A = T, B = T>,
    Out<R>: Draw,
{
    const N: usize = 300;
    let mut rng = Rng(7);
    // Some rows are long, some are empty.
    let a: Csr<T> = rows(&mut rng, N, N, 3, 120).matrix(5);
    let by_name = Semiring::new(name, T::TYPE).unwrap();
    let cpu = Cpu::new();
    let at = cpu.transpose(&a).eval().unwrap();
    let (ra, rat) = (Matrix::from(a.clone()), Matrix::from(at.clone()));
    for every in [1, 2, 7, 60, 400] {
        let places: Vec<u32> = (0..N as u32).filter(|k| k % every == 0).collect();
        let values = places.iter().map(|_| T::draw(&mut rng)).collect();
        let list = Vector::new(N, places, values).unwrap();
        for x in [list.clone(), list.to_sparse().unwrap().to_bitmap().unwrap().try_into().unwrap()] {
            for allowed in [1, 2, 9, 200] {
                let mask = Vector::new(N, (0..N as u32).step_by(allowed).collect(), vec![true; N.div_ceil(allowed)]);
                let mask = mask.unwrap();
                let want = cpu.vxm(ring, &x, &a).mask(!mask.structure()).eval().unwrap();
                let what = format!("{name}, one in {every}, all but one in {allowed}");
                let both = cpu.vxm(ring, &x, &a).with_transpose(&at).mask(!mask.structure());
                let (found, how) = both.explain().unwrap();
                same_vector(&found.clone().into(), &want, &what);
                chosen[usize::from(how.contains("by rows that the mask allows"))] += 1;
                let turned = cpu.vxm(ring, &x, &at).with_transpose(&a).transpose_b().mask(!mask.structure());
                same_vector(&turned.eval().unwrap().into(), &want, &what);
                let (rx, rm) = (runtime::Vector::from(x.clone()), runtime::Vector::from(mask));
                // On a GPU, `any` may return any of the values.
                for m in machines.iter().filter(|m| is_cpu(m) || name != "any_secondi") {
                    let call = m.call(Op::Vxm(&by_name), (&rx, &ra)).with_transpose(&rat);
                    let found: runtime::Vector = call.mask(&rm).structure().complement().eval().unwrap();
                    same_vector(&found, &want, &format!("{what}, by name"));
                    let call = m.call(Op::Vxm(&by_name), (&rx, &rat)).with_transpose(&ra).transpose_b();
                    let found: runtime::Vector = call.mask(&rm).structure().complement().eval().unwrap();
                    same_vector(&found, &want, &format!("{what}, by name, transposed"));
                }
            }
        }
    }
}

#[test]
fn both_directions_give_the_same_bits() {
    let (mut chosen, machines) = ([0; 2], machines());
    steps(AnyPair::<bool>::new(), "any_pair", &machines, &mut chosen);
    steps(LorLand::<bool>::new(), "lor_land", &machines, &mut chosen);
    steps(AnySecondI::<i64>::new(), "any_secondi", &machines, &mut chosen);
    steps(PlusTimes::<i64>::new(), "plus_times", &machines, &mut chosen);
    steps(MinPlus::<f64>::new(), "min_plus", &machines, &mut chosen);
    assert!(chosen[0] > 20 && chosen[1] > 20, "by entries and by rows: {chosen:?}");
}

#[test]
fn what_cannot_be_the_transpose_is_refused() {
    let a = Csr::<i64>::new(2, 3, vec![0, 1, 2], vec![0, 2], vec![4, 5]).unwrap();
    let (cpu, x) = (Cpu::new(), Vector::full(vec![1, 2, 3]).unwrap());
    let e = cpu.mxv(PlusTimes::<i64>::new(), &a, &x).with_transpose(&a).eval().unwrap_err();
    let said = "transpose: it is 2×3 with 2 entries, the transpose is 3×2 with 2";
    assert_eq!(e.to_string(), said);
    let (m, ring) = (Machine::from(cpu), Semiring::new("plus_times", Type::I64).unwrap());
    let (a, x) = (Matrix::from(a), runtime::Vector::from(x));
    let e = m.call(Op::Mxv(&ring), (&a, &x)).with_transpose(&a).eval::<runtime::Vector>().unwrap_err();
    assert_eq!(e.to_string(), said);
    // Of another type, and where there is only one direction.
    let at = Matrix::from(Csr::<i32>::new(3, 2, vec![0, 1, 1, 2], vec![0, 1], vec![4, 5]).unwrap());
    let e = m.call(Op::Mxv(&ring), (&a, &x)).with_transpose(&at).eval::<runtime::Vector>().unwrap_err();
    assert_eq!(e.to_string(), "transpose: its values are i32, those of the matrix i64");
    let e = m.call(Op::Transpose, &a).with_transpose(&a).eval::<Matrix>().unwrap_err();
    let said = "transpose: transpose takes none: only products with vectors choose a direction by it";
    assert_eq!(e.to_string(), said);
    let e = m.call(Op::Transpose, &a).with_transpose(&a).into(&mut a.clone()).unwrap_err();
    assert_eq!(e.to_string(), said);
}

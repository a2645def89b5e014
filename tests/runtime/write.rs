//! Masks, accumulators and replace give what the chains by types give.

use sparring::Error;
use sparring::algebra::{Identity, Minus, Num, Plus, Type};
use sparring::backend::{Backend, Container};
use sparring::prelude::{Cpu, Csr};
use sparring::runtime::{self, Machine, Matrix, Op, Operation};

use super::operands::{machines, pairs, same_matrix, same_vector, vectors};
use crate::common::arbitrary::Draw;

/// By a chain: `apply` of the identity, written in all ways.
macro_rules! chained {
    ($cpu:expr, $t:expr, $c:expr, $mask:expr, $how:expr, $accum:expr) => {{
        let (structure, complement, replace) = $how;
        let mut c = $c.clone();
        macro_rules! with {
            ($m:expr) => {{
                let chain = || $cpu.apply(Identity::new(), $t).mask($m);
                match ($accum, replace) {
                    (Some(op), true) => chain().accum(op).replace().into(&mut c),
                    (Some(op), false) => chain().accum(op).into(&mut c),
                    (None, true) => chain().replace().into(&mut c),
                    (None, false) => chain().into(&mut c),
                }
                .unwrap()
            }};
        }
        match (structure, complement) {
            (true, true) => with!(!$mask.structure()),
            (true, false) => with!($mask.structure()),
            (false, true) => {
                let chain = || $cpu.apply(Identity::new(), $t).mask($mask).complement();
                match ($accum, replace) {
                    (Some(op), true) => chain().accum(op).replace().into(&mut c),
                    (Some(op), false) => chain().accum(op).into(&mut c),
                    (None, true) => chain().replace().into(&mut c),
                    (None, false) => chain().into(&mut c),
                }
                .unwrap()
            }
            (false, false) => with!($mask),
        }
        c
    }};
}

const WAYS: [(bool, bool, bool); 8] = [
    (false, false, false),
    (false, false, true),
    (false, true, false),
    (false, true, true),
    (true, false, false),
    (true, false, true),
    (true, true, false),
    (true, true, true),
];

fn how<'m>(
    mut write: Operation<'m>,
    (structure, complement, replace): (bool, bool, bool),
    accum: Option<&'m runtime::BinaryOp>,
) -> Operation<'m> {
    if structure {
        write = write.structure();
    }
    if complement {
        write = write.complement();
    }
    if replace {
        write = write.replace();
    }
    accum.map_or(write.clone(), |op| write.accum(op))
}

fn every_way<T: Num + Draw>(machines: &[Machine]) -> usize {
    let cpu = Cpu::with_threads(1).unwrap();
    let minus = runtime::BinaryOp::new("minus", T::TYPE).unwrap();
    let mut ways = 0;
    for (a, b) in pairs::<T>(41) {
        let mask = pairs::<i64>(42).into_iter().map(|p| p.1).find(|m| m.shape() == a.shape()).unwrap();
        let (t, c, rm) = (Matrix::from(a.clone()), Matrix::from(b.clone()), Matrix::from(mask.clone()));
        for (way, accum) in WAYS.into_iter().flat_map(|w| [(w, false), (w, true)]) {
            let want = chained!(cpu, &a, b, &mask, way, accum.then_some(Minus::<T>::new()));
            for m in machines {
                let mut found = c.clone();
                how(m.call(Op::Identity, &t).mask(&rm), way, accum.then_some(&minus)).into(&mut found).unwrap();
                same_matrix(&found, &want, &format!("{way:?}, accumulator {accum}"));
                ways += 1;
            }
        }
    }
    for (x, y) in
        vectors::<T>(43, 300).iter().flat_map(|x| vectors::<T>(44, 300).into_iter().map(move |y| (x.clone(), y)))
    {
        for mask in vectors::<i64>(45, 300) {
            let (t, c) = (runtime::Vector::from(x.clone()), runtime::Vector::from(y.clone()));
            let rm = runtime::Vector::from(mask.clone());
            for (way, accum) in WAYS.into_iter().flat_map(|w| [(w, false), (w, true)]) {
                let want = chained!(cpu, &x, y, &mask, way, accum.then_some(Minus::<T>::new()));
                for m in machines {
                    let mut found = c.clone();
                    how(m.call(Op::Identity, &t).mask(&rm), way, accum.then_some(&minus)).into(&mut found).unwrap();
                    same_vector(&found, &want, &format!("vectors, {way:?}, accumulator {accum}"));
                    ways += 1;
                }
            }
        }
    }
    ways
}

#[test]
fn every_way_of_writing_is_that_of_the_chains() {
    let machines = machines();
    let ways = every_way::<f64>(&machines[2..]) + every_way::<u8>(&machines[1..2]);
    println!("{ways} results written");
    assert!(ways > 2000);
    // Without a mask.
    let (a, b) = pairs::<i64>(46).swap_remove(5);
    let plus = runtime::BinaryOp::new("plus", Type::I64).unwrap();
    for m in &machines {
        let mut c = Matrix::from(b.clone());
        m.call(Op::Identity, &Matrix::from(a.clone())).accum(&plus).into(&mut c).unwrap();
        same_matrix(&c, &Cpu::new().ewise_add(Plus::new(), &b, &a).eval().unwrap(), "no mask");
        m.call(Op::Identity, &Matrix::from(a.clone())).replace().into(&mut c).unwrap();
        same_matrix(&c, &a, "no mask, no accumulator");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let m = Machine::from(Cpu::new());
    let mut c = Matrix::from(Csr::<i64>::new(1, 2, vec![0, 1], vec![1], vec![5]).unwrap());
    let before = c.clone();
    let t = Matrix::from(Csr::<f64>::empty(1, 2).unwrap());
    let e = m.call(Op::Identity, &t).into(&mut c).unwrap_err().to_string();
    assert_eq!(e, "c: the result is f64, these values are i64");
    let t = Matrix::from(Csr::<i64>::empty(2, 2).unwrap());
    assert!(matches!(m.call(Op::Identity, &t).into(&mut c), Err(Error::Shape { op: "write", .. })));
    let plus = runtime::BinaryOp::new("plus", Type::F64).unwrap();
    let same_shape = before.clone();
    let e = m.call(Op::Identity, &same_shape).accum(&plus).into(&mut c).unwrap_err().to_string();
    assert_eq!(e, "c: its values are i64, but the accumulator plus takes f64");
    let e = m.call(Op::Identity, &same_shape).complement().into(&mut c).unwrap_err().to_string();
    assert_eq!(e, "mask: there is none, so it has no complement");
    let e = m.call(Op::Identity, &same_shape).mask(&t).into(&mut c).unwrap_err();
    assert!(matches!(e, Error::Shape { op: "mask", .. }), "{e}");
    assert_eq!(c.csr::<i64>(), before.csr::<i64>());
}

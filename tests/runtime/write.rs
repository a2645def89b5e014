//! Masks, accumulators and replace give the results of the typed chains.

use sparring::Error;
use sparring::algebra::{Ainv, ColLe, Identity, Minus, Num, Plus, RowIndex, Type, ValueGt};
use sparring::backend::{Backend, Container};
use sparring::prelude::{Cpu, Csr};
use sparring::runtime::{self, BinaryOp, Machine, Matrix, Monoid, Op, Operation, Scalar, UnaryOp};
use sparring::sparse::{Builder, MatrixForm};

use super::operands::{machines, pairs, same_matrix, same_vector, vectors};
use crate::common::arbitrary::{Draw, Rng};

/// By a chain: `apply` of the identity, written with every combination of options.
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
    // Unmasked.
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

/// A matrix of few rows that fills up: it becomes a bitmap, which writes update in place, and every write and every
/// operation gives the typed result.
#[test]
fn a_state_that_fills_up_is_written_in_place() {
    let (cpu, machine, n) = (Cpu::new(), Machine::from(Cpu::new()), 500);
    let plus = BinaryOp::new("plus", Type::I64).unwrap();
    let [mut c, mut frontier] = [(); 2].map(|()| Csr::<i64>::empty(4, n).unwrap());
    let mut named = Matrix::from(c.clone());
    let (rng, mut in_place) = (&mut Rng(17), 0);
    for step in 0..300 {
        let mut t = Builder::<i64>::new(4, n).unwrap();
        for _ in 0..rng.below(40) {
            t.push(rng.below(4), rng.below(n), rng.below(9) as i64 - 2).unwrap();
        }
        let t = t.finish(Plus::new()).unwrap();
        let (rt, rm) = (Matrix::from(t.clone()), Matrix::from(frontier.clone()));
        let before = named.csr::<i64>().unwrap().values().as_ptr();
        let call = |op| machine.call(op, &rt);
        match rng.below(6) {
            0 => {
                cpu.apply(Identity::new(), &t).accum(Plus::new()).into(&mut c).unwrap();
                call(Op::Identity).accum(&plus).into(&mut named).unwrap();
            }
            1 => {
                cpu.apply(Identity::new(), &t).mask(&frontier).accum(Plus::new()).into(&mut c).unwrap();
                call(Op::Identity).mask(&rm).accum(&plus).into(&mut named).unwrap();
            }
            2 => {
                cpu.apply(Identity::new(), &t).mask(!c.clone().structure()).into(&mut c).unwrap();
                call(Op::Identity).mask(&named.clone()).structure().complement().into(&mut named).unwrap();
            }
            3 => {
                cpu.apply(Identity::new(), &t).mask(!frontier.structure()).accum(Plus::new()).into(&mut c).unwrap();
                call(Op::Identity).mask(&rm).structure().complement().accum(&plus).into(&mut named).unwrap();
            }
            4 => {
                let kept = named.clone();
                cpu.apply(Identity::new(), &t).mask(frontier.structure()).into(&mut c).unwrap();
                call(Op::Identity).mask(&rm).structure().into(&mut named).unwrap();
                // A clone keeps its values.
                assert!(!kept.is(&named) || kept.nnz() == named.nnz());
            }
            _ => {
                let keep = !frontier.structure();
                cpu.apply(Identity::new(), &c.clone()).mask(keep).replace().into(&mut c).unwrap();
                let call = machine.call(Op::Identity, &named);
                call.mask(&rm).structure().complement().replace().into(&mut named).unwrap();
            }
        }
        let typed = named.csr::<i64>().unwrap();
        assert_eq!(typed.nnz(), c.nnz(), "step {step}");
        in_place += usize::from(typed.form() == MatrixForm::Bitmap && typed.values().as_ptr() == before);
        assert_eq!(typed, &c, "step {step}");
        every_operation(&machine, &named, &c, &rt, &t);
        frontier = t;
    }
    assert!(in_place > 100, "{in_place} writes in place");
}

/// Run-time operations on a matrix give the typed results.
fn every_operation(machine: &Machine, named: &Matrix, c: &Csr<i64>, rt: &Matrix, t: &Csr<i64>) {
    let cpu = Cpu::with_threads(1).unwrap();
    let minus = BinaryOp::new("minus", Type::I64).unwrap();
    for (op, want) in [
        (UnaryOp::new("ainv", Type::I64).unwrap(), cpu.apply(Ainv::new(), c).eval().unwrap()),
        (
            UnaryOp::new("rowindex", Type::I64).unwrap().with(3i64).unwrap(),
            cpu.apply_index(RowIndex::<i64, i64>::new(), c, 3).eval().unwrap(),
        ),
    ] {
        same_matrix(&machine.apply(&op, named).unwrap(), &want, "apply");
    }
    let positive = UnaryOp::new("a > 0", Type::I64).unwrap();
    same_matrix(
        &machine.select(&positive, named).unwrap(),
        &cpu.select(ValueGt::new(), c, 0).eval().unwrap(),
        "select",
    );
    let col = UnaryOp::new("j < 7", Type::I64).unwrap();
    let want = cpu.select(ColLe::new(), c, 6).eval().unwrap();
    same_matrix(&machine.select(&col, named).unwrap(), &want, "select by columns");
    for ((a, b), (x, y)) in [((named, rt), (c, t)), ((rt, named), (t, c)), ((named, named), (c, c))] {
        let want = cpu.ewise_add(Minus::new(), x, y).eval().unwrap();
        same_matrix(&machine.ewise_add(&minus, a, b).unwrap(), &want, "ewise_add");
        let want = cpu.ewise_mult(Minus::new(), x, y).eval().unwrap();
        same_matrix(&machine.ewise_mult(&minus, a, b).unwrap(), &want, "ewise_mult");
    }
    let sum = machine.reduce(&Monoid::new("plus", Type::I64).unwrap(), named).unwrap();
    assert_eq!(sum, Scalar::from(cpu.reduce(Plus::new(), c).eval().unwrap()));
}

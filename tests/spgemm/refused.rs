//! Refused products: mismatched shapes, plans of other patterns, results beyond the budget.

use std::sync::Arc;

use sparring::algebra::PlusTimes;
use sparring::backend::{Backend, Kernels};
use sparring::{Cpu, Csr, Error, Pattern};

use crate::all_options;
use crate::common::identical;

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let cpu = Cpu::new();
    let ring = PlusTimes::<f64>::default();
    let a = Csr::<f64>::empty(3, 4).expect("a");
    let b = Csr::<f64>::empty(5, 6).expect("b");
    let message = cpu.mxm(ring, &a, &b).eval().expect_err("3×4 times 5×6").to_string();
    assert!(message.contains("mxm") && message.contains("3×4") && message.contains("5×6"), "{message}");
    assert!(matches!(cpu.plan(&a, &b).eval(), Err(Error::Shape { lhs: (3, 4), rhs: (5, 6), .. })));

    let square = Csr::<f64>::empty(4, 6).expect("b");
    for mask in [(3, 5), (4, 6), (6, 3)] {
        let mask = Pattern::<u32>::empty(mask.0, mask.1).expect("mask");
        let found = cpu.mxm(ring, &a, &square).mask(mask.clone()).eval();
        assert!(matches!(found, Err(Error::Shape { .. })), "a mask of shape {:?}: {found:?}", mask.shape());
        let found = cpu.mxm(ring, &a, &square).mask(mask.clone()).complement().eval();
        assert!(matches!(found, Err(Error::Shape { .. })), "a mask of shape {:?}: {found:?}", mask.shape());
    }
}

#[test]
fn a_plan_refuses_other_patterns() {
    let cpu = Cpu::new();
    let ring = PlusTimes::<f64>::default();
    let a = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]).expect("a");
    // The same number of entries with other indices; and fewer entries.
    let moved = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 1], vec![1.0, 2.0]).expect("moved");
    let fewer = Csr::<f64>::new(2, 2, vec![0, 1, 1], vec![1], vec![1.0]).expect("fewer");
    let wider = Csr::<f64>::new(2, 3, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]).expect("wider");
    for o in all_options() {
        let plan = cpu.plan(&a, &a).options(&o).eval().expect("a plan");
        for other in [&moved, &fewer, &wider] {
            let found = cpu.mxm(ring, other, &a).plan(&plan).eval();
            assert!(matches!(found, Err(Error::PatternChanged { operand: "A", .. })), "{o:?}: {found:?}");
            let found = cpu.mxm(ring, &a, other).plan(&plan).eval();
            assert!(matches!(found, Err(Error::PatternChanged { operand: "B", .. })), "{o:?}: {found:?}");
        }
        // A refused product leaves the result unchanged, whether it belongs to the plan or not.
        let mut c = cpu.mxm(ring, &a, &a).plan(&plan).eval().expect("c");
        let before = c.clone();
        assert!(cpu.mxm(ring, &moved, &a).plan(&plan).into(&mut c).is_err());
        assert!(identical(&c, &before), "a refused product changed its result");
        let mut foreign = fewer.clone();
        let own = |a: &Csr<f64>| Csr::with_pattern(Arc::clone(a.pattern()), a.values().to_vec()).expect("a copy");
        // Shared values, and unshared ones with fewer entries or as many as the product.
        for c in [&mut foreign, &mut own(&fewer), &mut own(&moved)] {
            let (before, refused) = (own(c), cpu.numeric_into(&plan, ring, &a, &a, c));
            assert!(matches!(refused, Err(Error::PatternChanged { operand: "C", .. })), "{o:?}: {refused:?}");
            assert!(identical(c, &before), "a refused product changed its result");
        }
        assert!(cpu.mxm(ring, &a, &a).plan(&plan).into(&mut wider.clone()).is_err(), "{o:?}: wrote another shape");
        assert!(identical(&foreign, &fewer));
        // A chain replaces the contents of a matrix of the same shape, but not those of a clone.
        let copy = foreign.clone();
        cpu.mxm(ring, &a, &a).plan(&plan).into(&mut foreign).expect("a matrix of the same shape");
        assert!(identical(&foreign, &c) && identical(&copy, &fewer), "{o:?}");
        // An equal pattern in other memory is accepted.
        let again = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]).expect("again");
        let d = cpu.mxm(ring, &again, &again).plan(&plan).eval().expect("an equal pattern");
        assert!(identical(&c, &d));
    }
}

/// A full column times a full row has m·n entries: more than 2³², counted, and refused before any allocation.
#[test]
fn more_entries_than_32_bits_count_are_refused_by_the_budget() {
    let n: u32 = 70_000;
    let column = Csr::<f64>::new(n as usize, 1, (0..=n as usize).collect(), vec![0; n as usize], vec![1.0; n as usize])
        .expect("column");
    let row =
        Csr::<f64>::new(1, n as usize, vec![0, n as usize], (0..n).collect(), vec![1.0; n as usize]).expect("row");
    let budget = 256 << 20;
    let cpu = Cpu::new().memory_budget(budget);
    for found in [
        cpu.plan(&column, &row).eval().map(|_| ()),
        cpu.mxm(PlusTimes::<f64>::default(), &column, &row).eval().map(|_| ()),
    ] {
        match found {
            Err(Error::Budget { bytes, budget: b, .. }) => {
                assert_eq!(b, u128::from(budget));
                let least = u128::from(n) * u128::from(n) * 4;
                assert!(bytes >= least, "{bytes} bytes cannot hold the columns of {least} bytes");
            }
            other => panic!("expected the budget to be exceeded, got {other:?}"),
        }
    }
    // The reverse order gives a single entry, which fits any budget.
    let c = cpu.mxm(PlusTimes::<f64>::default(), &row, &column).eval().expect("1×1");
    assert_eq!(c.values(), &[f64::from(n)]);
}

//! Memory allocated for writing one entry: independent of the vector's length; copies of shared data are made once.

mod common;

use common::counting::{Counting, allocated, alone};
use sparring::algebra::{Any, Identity, Pair, Ring, Type};
use sparring::prelude::*;
use sparring::runtime::{self, Machine, Op};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Entries at every other index.
fn half(n: usize) -> Vector<f64> {
    let even: Vec<u32> = (0..n as u32).step_by(2).collect();
    Vector::new(n, even.clone(), vec![7.0; even.len()]).unwrap()
}

/// Bytes allocated by each way of writing one entry, with operands built and a first call made beforehand.
fn one_entry(n: usize) -> Vec<(&'static str, u64)> {
    let cpu = Cpu::with_threads(1).unwrap();
    let (seen, full) = (half(n), Vector::constant(n, 1.0).unwrap());
    let one = |i: usize| Vector::<f64>::new(n, vec![i as u32], vec![3.0]).unwrap();
    let q: Vec<_> = (0..8).map(|p| one(2 * p + 1)).collect();
    let cols = (0..n).flat_map(|i| [(i ^ 1) as u32]).collect();
    let a = Csr::<f64>::new(n, n, (0..=n).collect(), cols, vec![1.0; n]).unwrap();
    let reaches = Ring(Any::<f64>::new(), Pair::<f64, f64, f64>::default());
    let v = Vector::full(vec![5.0]).unwrap();
    let machine = Machine::from(Cpu::with_threads(1).unwrap());
    let (plus, by_name) = (
        runtime::BinaryOp::new("plus", Type::F64).unwrap(),
        q.clone().into_iter().map(runtime::Vector::from).collect::<Vec<_>>(),
    );
    let mut c = half(n);
    let nothing = Vector::empty(n).unwrap();
    let mut f = full.clone();
    let mut next = one(1);
    let (mut r, mut r1) = (runtime::Vector::from(half(n)), by_name[1].clone());
    let (ra, rseen) = (runtime::Matrix::from(a.clone()), runtime::Vector::from(seen.clone()));
    let ring = runtime::Semiring::new("min_plus", Type::F64).unwrap();
    let sum = runtime::Monoid::new("plus", Type::F64).unwrap();
    let mut found = vec![];
    macro_rules! ways {
        ($($name:literal |$p:ident| $write:expr;)*) => {$(
            let mut write = |$p: usize| $write.unwrap();
            write(0);
            write(1);
            let ((), bytes) = allocated(|| (2..8).for_each(&mut write));
            found.push(($name, bytes / 6));
        )*};
    }
    ways! {
        "a scalar" |p| cpu.assign_scalar(2.0).mask(q[p].structure()).into(&mut c);
        "a scalar by a valued mask" |p| cpu.assign_scalar(2.0).mask(&q[p]).into(&mut c);
        "a scalar into a full vector" |p| cpu.assign_scalar(2.0).mask(q[p].structure()).into(&mut f);
        "a function under a mask" |p| cpu.apply(Identity::new(), &full).mask(q[p].structure()).into(&mut c);
        "an accumulator" |p| cpu.apply(Identity::new(), &q[p]).accum(Min::new()).into(&mut c);
        "a sum with the vector itself" |p| cpu.ewise_add(Plus::new(), &c, &q[p]).into(&mut c);
        "a sum with the vector itself, second" |p| cpu.ewise_add(Plus::new(), &q[p], &c).into(&mut c);
        "an assignment" |p| cpu.assign(&v, &[2 * p as u32 + 1]).into(&mut c);
        "entries that go" |p| cpu.apply(Identity::new(), &nothing).mask(q[p].structure()).into(&mut c);
        "a product" |p| cpu.vxm(reaches, &q[p], &a).mask(!seen.structure()).replace().into(&mut next);
        "a product, its entry outside of the mask" |p| cpu.vxm(reaches, &q[p], &a).mask(seen.structure()).into(&mut next);
        "a product with rows" |p| cpu.mxv(reaches, &a, &seen).mask(q[p].structure()).into(&mut next);
        "a product that accumulates" |p| cpu.vxm(reaches, &q[p], &a).accum(Min::new()).into(&mut c);
        "a sum of a row" |p| cpu.reduce_rows(Plus::new(), &a).mask(q[p].structure()).into(&mut c);
        "the vector as its own mask" |p| cpu.apply(Identity::new(), &q[p]).mask(!c.structure()).into(&mut c);
        "a product by name" |p| machine.call(Op::Vxm(&ring), (&by_name[p], &ra)).mask(&by_name[p ^ 1]).structure().replace().into(&mut r1);
        "a product by name under a complement" |p| machine
            .call(Op::Vxm(&ring), (&by_name[p], &ra)).mask(&rseen).structure().complement().replace().into(&mut r1);
        "a product with rows by name" |p| machine.call(Op::Mxv(&ring), (&ra, &rseen)).mask(&by_name[p]).structure().into(&mut r1);
        "a product with rows and a list by name" |p| machine
            .call(Op::Mxv(&ring), (&ra, &by_name[p ^ 1])).mask(&by_name[p]).structure().into(&mut r1);
        "a sum of a row by name" |p| machine.call(Op::ReduceRows(&sum), &ra).mask(&by_name[p]).structure().into(&mut r1);
        "a product of entries by name" |p| machine.call(Op::Pairs(runtime::Pairing::EwiseMult, &plus), (&rseen, &rseen)).mask(&by_name[p]).structure().into(&mut r1);
        "by name" |p| machine.call(Op::Identity, &by_name[p]).accum(&plus).into(&mut r);
        "by name under a mask" |p| machine.call(Op::Identity, &by_name[p]).mask(&by_name[p]).structure().into(&mut r);
    }
    found
}

/// A single test, so that no other thread allocates meanwhile.
#[test]
fn writes_allocate_what_they_copy() {
    let _alone = alone();
    one_entry_costs_the_same_in_a_vector_of_any_length();
    what_a_clone_shares_is_copied_once();
}

fn one_entry_costs_the_same_in_a_vector_of_any_length() {
    let (short, long) = (one_entry(1 << 12), one_entry(1 << 20));
    for ((what, of_short), (_, of_long)) in short.into_iter().zip(long) {
        println!("{what}: {of_short} bytes of 2¹², {of_long} of 2²⁰");
        assert_eq!(of_short, of_long, "{what}");
        assert!(of_long < 3000, "{what}: {of_long} bytes");
    }
}

fn what_a_clone_shares_is_copied_once() {
    let (cpu, n) = (Cpu::with_threads(1).unwrap(), 1 << 16);
    let (bits, values) = (n as u64 / 8, 8 * n as u64);
    let q = |i: u32| Vector::<f64>::new(n, vec![i], vec![3.0]).unwrap();
    let mut c = half(n);
    let one = |c: &mut Vector<f64>, q: &Vector<f64>| {
        allocated(|| cpu.assign_scalar(2.0).mask(q.structure()).into(c).unwrap()).1
    };
    let (new, old) = (q(5), q(6));
    assert!(one(&mut c, &q(3)) < 3000);
    // A new entry copies bitmap and values.
    let clone = c.clone();
    let bytes = one(&mut c, &new);
    assert!((bits + values..bits + values + 3000).contains(&bytes), "{bytes} bytes");
    assert!(one(&mut c, &new) < 3000, "copied once");
    assert_eq!((clone.get(5), c.get(5)), (None, Some(&2.0)));
    // An existing entry copies only values.
    let clone = c.clone();
    let bytes = one(&mut c, &old);
    assert!((values..values + 3000).contains(&bytes), "{bytes} bytes");
    assert_eq!((clone.get(6), c.get(6)), (Some(&7.0), Some(&2.0)));
    // A removed entry copies only the bitmap.
    let clone = c.clone();
    let ((), bytes) = allocated(|| _ = c.remove(6).unwrap());
    assert!((bits..bits + 3000).contains(&bytes), "{bytes} bytes");
    assert_eq!((clone.get(6), c.get(6)), (Some(&2.0), None));
    // The chain releases its own clone.
    let t = q(8);
    let sum = |c: &mut Vector<f64>| allocated(|| cpu.ewise_add(Plus::new(), c, &t).into(c).unwrap()).1;
    drop(clone);
    sum(&mut c);
    assert!(sum(&mut c) < 3000);
    let kept = c.clone();
    assert!((values..values + 3000).contains(&sum(&mut c)));
    assert_eq!(kept.get(8).map(|x| x + 3.0), c.get(8).copied());
    // By name: a shared handle is copied when it is written.
    let m = Machine::from(Cpu::with_threads(1).unwrap());
    let plus = runtime::BinaryOp::new("plus", Type::F64).unwrap();
    let (mut r, t) = (runtime::Vector::from(half(n)), runtime::Vector::from(q(9)));
    let write = |r: &mut runtime::Vector| allocated(|| m.call(Op::Identity, &t).accum(&plus).into(r).unwrap()).1;
    // The second write combines values, for which a thread's first run of an operator allocates memory.
    write(&mut r);
    write(&mut r);
    assert!(write(&mut r) < 3000);
    let _other = r.clone();
    assert!((values..values + 3000).contains(&write(&mut r)));
    assert!(write(&mut r) < 3000);
}

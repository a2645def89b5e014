//! Run-time operations under masks: the masked textbook result, and equal to the typed chains.

use sparring::algebra::{
    FirstI, Min, MinPlus, Minus, MulOp, Out, Plus, PlusTimes, Ring, Semiring as SemiringType, Type, Value, ValueGt,
};
use sparring::prelude::*;
use sparring::runtime::{self, Machine, Matrix, Op, Pairing, Semiring};
use sparring::spgemm::Options;

use super::operands::{is_cpu, machines, pairs, same_matrix, same_vector, vectors};
use super::textbook::{self, Tabled};
use crate::common::arbitrary::{AnyPattern, Draw, Rng, rows};

/// Masks of every form with few, some and all entries; some of their values are 0.
fn masks(seed: u64, len: usize) -> Vec<sparring::Vector<i8>> {
    let one = len.checked_sub(1).map(|last| sparring::Vector::new(len, vec![last as u32], vec![1]).unwrap());
    vectors(seed, len).into_iter().chain(one).collect()
}

/// Whether the mask allows an index.
fn allows(mask: &sparring::Vector<i8>, structure: bool, complement: bool, i: usize) -> bool {
    mask.get(i).is_some_and(|x| structure || *x != 0) != complement
}

const WAYS: [(bool, bool); 4] = [(true, false), (true, true), (false, false), (false, true)];

/// The typed result under a mask, structural or not, complemented or not.
type ByTypes<'a, T> = dyn Fn(&sparring::Vector<i8>, (bool, bool)) -> Option<sparring::Vector<T>> + 'a;

/// `op` under each mask equals the masked `whole`, and the `typed` result.
fn compare<T: Value, Z: Into<runtime::Operands> + Clone>(
    machine: &Machine,
    op: Op<'_>,
    operands: &Z,
    whole: &sparring::Vector<T>,
    typed: &ByTypes<'_, T>,
    what: &str,
) -> usize {
    let mut cases = 0;
    for (mask, (structure, complement)) in masks(31, whole.len()).into_iter().flat_map(|m| WAYS.map(|w| (m.clone(), w)))
    {
        let what = format!("{what}, a mask of {} in {}, {structure} {complement}", mask.nnz(), mask.len());
        let of = runtime::Vector::from(mask.clone());
        let mut call = machine.call(op, operands.clone()).mask(&of);
        call = if structure { call.structure() } else { call };
        call = if complement { call.complement() } else { call };
        let found: runtime::Vector = call.eval().unwrap();
        let want = textbook::filtered(whole, &|_, (_, i)| allows(&mask, structure, complement, i));
        same_vector(&found, &want, &what);
        if let Some(typed) = typed(&mask, (structure, complement)) {
            same_vector(&found, &typed, &format!("{what}, by types"));
        }
        cases += 1;
    }
    cases
}

/// Matrices with empty rows, short rows, and rows longer than a buffer; with few and with many rows for a mask of
/// density 1/16.
fn matrices<T: Draw>() -> Vec<Csr<T>> {
    let mut rng = Rng(3);
    let mut all: Vec<Csr<T>> = pairs::<T>(17).into_iter().map(|p| p.1).collect();
    all.push(AnyPattern::of_shape(&mut rng, 300, 280).matrix(5));
    all.push(rows(&mut rng, 400, 900, 3, 700).matrix(6));
    all
}

macro_rules! by_types {
    ($chain:expr) => {
        &|mask: &sparring::Vector<i8>, way: (bool, bool)| {
            Some(
                match way {
                    (true, false) => $chain.mask(mask.structure()).eval(),
                    (true, true) => $chain.mask(!mask.structure()).eval(),
                    (false, false) => $chain.mask(mask).eval(),
                    (false, true) => $chain.mask(mask).complement().eval(),
                }
                .unwrap(),
            )
        }
    };
}

fn products<T: Draw, R>(ring: R, name: &str, machines: &[Machine]) -> usize
where
    R: SemiringType,
    R::Mul: MulOp<A = T, B = T>,
{
    let cpu = Cpu::with_threads(1).unwrap();
    let (any, plain) = (Semiring::new(name, T::TYPE).unwrap(), textbook::erased(ring));
    let mut cases = 0;
    for (n, a) in matrices::<T>().into_iter().enumerate() {
        let of = Matrix::from(a.clone());
        for (x, y) in vectors::<T>(n as u64, a.ncols()).into_iter().zip(vectors::<T>(!(n as u64), a.nrows())) {
            let (by_row, by_column) = (plain.mxv(&a, &x), plain.vxm(&y, &a));
            for m in machines.iter().filter(|m| is_cpu(m) || !matches!(<Out<R>>::TYPE, Type::F32 | Type::F64)) {
                let (rx, ry) = (runtime::Vector::from(x.clone()), runtime::Vector::from(y.clone()));
                let (mxv, vxm) = (by_types!(cpu.mxv(ring, &a, &x)), by_types!(cpu.vxm(ring, &y, &a)));
                cases += compare(m, Op::Mxv(&any), &(&of, &rx), &by_row, mxv, &format!("mxv {name}"));
                cases += compare(m, Op::Vxm(&any), &(&ry, &of), &by_column, vxm, &format!("vxm {name}"));
            }
        }
    }
    cases
}

#[test]
fn products_with_vectors_are_masked_by_their_kernels() {
    let machines = machines();
    let few = &[&machines[..1], &machines[2..3], &machines[4..]].concat();
    let mut cases = products(PlusTimes::<f64>::new(), "plus_times", few);
    cases += products(MinPlus::<f64>::new(), "min_plus", few);
    cases += products(PlusTimes::<i64>::new(), "plus_times", few);
    // ⊗ sees the global row index, also where only some rows are computed.
    cases += products(Ring(Min::<i64>::new(), FirstI::<i64, i64, i64>::default()), "min_firsti", few);
    println!("{cases} products under masks");
    assert!(cases > 10_000);
}

#[test]
fn folds_and_operations_entry_by_entry_are_masked_before_they_are_computed() {
    let (cpu, machines) = (Cpu::with_threads(1).unwrap(), machines());
    let plus = runtime::Monoid::new("plus", Type::I64).unwrap();
    let minus = runtime::BinaryOp::new("minus", Type::I64).unwrap();
    let negate = runtime::UnaryOp::new("-a", Type::I64).unwrap();
    let positive = runtime::UnaryOp::new("a > 0", Type::I64).unwrap();
    let mut cases = 0;
    for m in [&machines[0], &machines[2], machines.last().unwrap()] {
        for a in matrices::<i64>() {
            let whole = textbook::folded_rows(0, &|x: i64, y| x.wrapping_add(y), &a);
            let typed = by_types!(cpu.reduce_rows(Plus::<i64>::new(), &a));
            cases += compare(m, Op::ReduceRows(&plus), &&Matrix::from(a.clone()), &whole, typed, "reduce_rows");
        }
        for (x, y) in vectors::<i64>(8, 300)
            .into_iter()
            .flat_map(|x| vectors::<i64>(9, 300).into_iter().map(move |y| (x.clone(), y)))
        {
            let (rx, ry) = (runtime::Vector::from(x.clone()), runtime::Vector::from(y.clone()));
            let f = |x: i64, y: i64| x.wrapping_sub(y);
            let typed = by_types!(cpu.ewise_add(Minus::<i64>::new(), &x, &y));
            cases += compare(m, Op::EwiseAdd(&minus), &(&rx, &ry), &textbook::union(&x, &y, &f), typed, "ewise_add");
            let typed = by_types!(cpu.ewise_mult(Minus::<i64>::new(), &x, &y));
            let whole = textbook::intersection(&x, &y, &f);
            cases += compare(m, Op::Pairs(Pairing::EwiseMult, &minus), &(&rx, &ry), &whole, typed, "ewise_mult");
        }
        for x in vectors::<i64>(10, 300) {
            let rx = runtime::Vector::from(x.clone());
            let whole = x.kept(&|x: i64, _| Some(x.wrapping_neg()));
            cases += compare(m, Op::Apply(&negate), &&rx, &whole, &|_, _| None, "apply");
            let typed = by_types!(cpu.select(ValueGt::<i64>::new(), &x, 0));
            let whole = textbook::filtered(&x, &|x, _| x > 0);
            cases += compare(m, Op::Select(&positive), &&rx, &whole, typed, "select");
        }
    }
    println!("{cases} results under masks");
    assert!(cases > 1000);
}

/// Operands, masks and the result may be one object, and matrices may be transposed: equal to the typed chains.
#[test]
fn aliases_and_transposes_are_those_of_the_chains() {
    let cpu = Cpu::with_threads(2).unwrap();
    let (ring, ring_by_name) = (PlusTimes::<i64>::new(), Semiring::new("plus_times", Type::I64).unwrap());
    let (plus, options) = (runtime::BinaryOp::new("plus", Type::I64).unwrap(), Options::default());
    let minus = runtime::BinaryOp::new("minus", Type::I64).unwrap();
    let (vxm, mxv, mxm) = (Op::Vxm(&ring_by_name), Op::Mxv(&ring_by_name), Op::Mxm(&ring_by_name, &options));
    let mut rng = Rng(8);
    let square = |rng: &mut Rng| AnyPattern::of_shape(rng, 90, 90);
    for m in [Machine::from(Cpu::with_threads(2).unwrap())].into_iter().chain(super::operands::gpu()) {
        for (round, (x, y)) in
            vectors::<i64>(4, 90).into_iter().zip(vectors::<i64>(5, 90).into_iter().rev()).enumerate()
        {
            let a: Csr<i64> = square(&mut rng).matrix(round as u64);
            let b: Csr<i64> = square(&mut rng).matrix(!round as u64);
            let (ra, rb) = (Matrix::from(a.clone()), Matrix::from(b.clone()));
            let of = |x: &sparring::Vector<i64>| runtime::Vector::from(x.clone());
            // The frontier is both operand and result.
            let (mut q, mut rq) = (x.clone(), of(&x));
            cpu.vxm(ring, &q, &a).mask(!y.structure()).replace().into(&mut q).unwrap();
            m.call(vxm, (&rq, &ra)).mask(&of(&y)).structure().complement().replace().into(&mut rq).unwrap();
            same_vector(&rq, &q, "the operand is the result");
            // The result is its own mask.
            let (mut c, mut rc) = (y.clone(), of(&y));
            cpu.mxv(ring, &a, &x).mask(!c.structure()).into(&mut c).unwrap();
            m.call(mxv, (&ra, &of(&x))).mask(&rc).structure().complement().into(&mut rc).unwrap();
            same_vector(&rc, &c, "the result is its own complement's mask");
            cpu.mxv(ring, &a, &x).mask(c.structure()).accum(Plus::new()).replace().into(&mut c).unwrap();
            m.call(mxv, (&ra, &of(&x))).mask(&rc).structure().accum(&plus).replace().into(&mut rc).unwrap();
            same_vector(&rc, &c, "the result is its own mask");
            let (mut s, mut rs) = (x.clone(), of(&x));
            cpu.ewise_add(Minus::new(), &s, &s).mask(&s).accum(Plus::new()).into(&mut s).unwrap();
            m.call(Op::EwiseAdd(&minus), (&rs, &rs)).mask(&rs).accum(&plus).into(&mut rs).unwrap();
            same_vector(&rs, &s, "operands, mask and result are one");
            // Transposed matrices.
            let (mut d, mut rd) = (a.clone(), ra.clone());
            cpu.mxm(ring, &d, &d).transpose_a().mask(d.structure()).accum(Plus::new()).into(&mut d).unwrap();
            m.call(mxm, (&rd, &rd)).transpose_a().mask(&rd).structure().accum(&plus).into(&mut rd).unwrap();
            same_matrix(&rd.download().unwrap(), &d, "matrices that are one");
            let want = cpu.mxm(ring, &a, &b).transpose_b().eval().unwrap();
            let found: Matrix = m.call(mxm, (&ra, &rb)).transpose_b().eval().unwrap();
            same_matrix(&found.download().unwrap(), &want, "mxm, transpose_b");
            let want = cpu.ewise_add(Minus::new(), &a, &b).transpose_a().mask(!b.structure()).eval().unwrap();
            let found: Matrix = m
                .call(Op::EwiseAdd(&minus), (&ra, &rb))
                .transpose_a()
                .mask(&rb)
                .structure()
                .complement()
                .eval()
                .unwrap();
            same_matrix(&found.download().unwrap(), &want, "ewise_add, transpose_a");
            let found: runtime::Vector = m.call(mxv, (&ra, &of(&x))).transpose_a().eval().unwrap();
            same_vector(&found, &cpu.mxv(ring, &a, &x).transpose_a().eval().unwrap(), "mxv, transpose_a");
            let found: runtime::Vector = m.call(vxm, (&of(&x), &ra)).transpose_b().eval().unwrap();
            same_vector(&found, &cpu.vxm(ring, &x, &a).transpose_b().eval().unwrap(), "vxm, transpose_b");
            let found: Matrix = m.call(Op::Transpose, &ra).transpose_a().mask(&rb).eval().unwrap();
            same_matrix(&found.download().unwrap(), &cpu.transpose(&a).transpose_a().mask(&b).eval().unwrap(), "Aᵀᵀ");
        }
    }
}

#[test]
fn calls_that_say_nothing_are_refused() {
    let m = Machine::from(Cpu::new());
    let x = runtime::Vector::from(sparring::Vector::<i64>::full(vec![1, 2]).unwrap());
    let short = runtime::Vector::from(sparring::Vector::<i64>::full(vec![1]).unwrap());
    let a = Matrix::from(Csr::<i64>::new(2, 2, vec![0, 1, 1], vec![0], vec![4]).unwrap());
    let (plus, ring) =
        (runtime::BinaryOp::new("plus", Type::I64).unwrap(), Semiring::new("plus_times", Type::I64).unwrap());
    let message = |e: sparring::Result<runtime::Vector>| e.unwrap_err().to_string();
    assert_eq!(
        message(m.call(Op::Identity, &x).transpose_a().eval()),
        "a: it is a vector, and matrices are transposed"
    );
    let call = || m.call(Op::Vxm(&ring), (&x, &a));
    assert_eq!(
        message(call().accum(&plus).eval()),
        "accum: an accumulator needs an existing result: call into(&mut c)"
    );
    assert_eq!(message(call().complement().eval()), "mask: there is none, so it has no complement");
    assert!(call().mask(&a).eval::<runtime::Vector>().is_err(), "the mask is a matrix");
    for op in [Op::Mxv(&ring), Op::ReduceRows(&runtime::Monoid::new("plus", Type::I64).unwrap())] {
        let operands: runtime::Operands = if matches!(op, Op::Mxv(_)) { (&a, &x).into() } else { (&a).into() };
        let e = m.call(op, operands).mask(&short).structure().eval::<runtime::Vector>().unwrap_err();
        assert!(matches!(e, Error::Length { what: "mask", found: 1, expected: 2 }), "{e}");
    }
    let e = call().mask(&short).structure().eval::<runtime::Vector>().unwrap_err();
    assert!(matches!(e, Error::Length { what: "mask", found: 1, expected: 2 }), "{e}");
    let mut c = short.clone();
    let e = call().into(&mut c).unwrap_err();
    assert!(matches!(e, Error::Shape { op: "vxm", .. }), "{e}");
}

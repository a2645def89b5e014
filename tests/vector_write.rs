//! Vectors written in place: forms × masks × replace × accumulators × aliases × clones, compared with a dense table.
//!
//! One vector is written repeatedly, so that it passes through its forms; clones taken on the way keep their contents.

mod common;

use common::arbitrary::{Draw, Rng};
use common::reference::written;
use sparring::algebra::{Identity, Minus, Num, ValueNe};
use sparring::backend::{Build, Operation, Vectors};
use sparring::prelude::*;
use sparring::runtime::{self, Machine, Op};
use sparring::sparse::VectorPattern;
use sparring::{Csr, Index};

type Table<T> = Vec<Option<T>>;

fn table<T: Num, I: Index>(v: &Vector<T, I>) -> Table<T> {
    let mut table = vec![None; v.len()];
    let mut before = None;
    for (i, x) in v.iter() {
        assert!(before < Some(i), "indices increase");
        (before, table[i]) = (Some(i), Some(*x));
    }
    assert_eq!(table.iter().flatten().count(), v.nnz());
    assert!((0..v.len()).all(|i| v.get(i).copied() == table[i]) && v.get(v.len()).is_none());
    assert_eq!(v.as_full().is_some(), v.nnz() == v.len());
    assert_eq!(v.pattern().iter().collect::<Vec<_>>(), v.iter().map(|e| e.0).collect::<Vec<_>>());
    table
}

/// A vector of length `n` with no entries, one, few, some, nearly all or all; built at once, or entry by entry from
/// another.
fn draw<T: Num + Draw, I: Index>(rng: &mut Rng, n: usize) -> Vector<T, I> {
    let percent = [0, 1, 3, 8, 40, 97, 100][rng.below(7)];
    let mut at: Vec<usize> = (0..n).filter(|_| rng.below(100) < percent).collect();
    if rng.below(6) == 0 && n > 0 {
        at = vec![rng.below(n)];
    }
    // Zeros, for valued masks.
    let mut values: Vec<T> = at.iter().map(|_| if rng.below(3) == 0 { T::ZERO } else { T::draw(rng) }).collect();
    // Finite, so that no sum is NaN, which equals no table entry.
    values.iter_mut().filter(|x| x.wrapping_sub(**x) != T::ZERO).for_each(|x| *x = T::ONE);
    if rng.below(3) > 0 {
        return Vector::new(n, at.into_iter().map(I::cast).collect(), values).unwrap();
    }
    let mut v = if rng.below(2) == 0 { Vector::empty(n).unwrap() } else { Vector::constant(n, T::ONE).unwrap() };
    for i in 0..n {
        match at.binary_search(&i) {
            Ok(p) => _ = v.set(i, values[p]).unwrap(),
            Err(_) => _ = v.remove(i).unwrap(),
        }
    }
    v
}

/// Mask, replace and accumulator of a write.
#[derive(Clone, Copy, Debug)]
struct How {
    /// 0: none, 1: where values are not 0, 2: where there are entries.
    mask: usize,
    complement: bool,
    replace: bool,
    accum: bool,
}

impl How {
    fn draw(rng: &mut Rng) -> Self {
        let mut bit = || rng.below(2) == 0;
        let (complement, replace, accum) = (bit(), bit(), bit());
        Self { mask: rng.below(3), complement, replace, accum }
    }
    fn allows<T: Num>(self, mask: &[Option<T>], i: usize) -> bool {
        match self.mask {
            0 => true,
            1 => mask[i].is_some_and(|x| x != T::ZERO) != self.complement,
            _ => mask[i].is_some() != self.complement,
        }
    }
    fn want<T: Num>(self, c: &[Option<T>], t: &[Option<T>], mask: &[Option<T>]) -> Table<T> {
        let accum: Option<fn(T, T) -> T> = if self.accum { Some(T::wrapping_sub) } else { None };
        written(c, t, |i| self.allows(mask, i), self.mask != 0 && self.replace, accum)
    }
    fn write<T: Num, I: Index, Op>(self, chain: Build<'_, Cpu, I, Op>, mask: &Vector<T, I>, c: &mut Vector<T, I>)
    where
        Op: Operation<Cpu, I, Kind = Vectors, Out = T>,
    {
        macro_rules! end {
            ($chain:expr) => {
                match (self.accum, self.replace) {
                    (false, false) => $chain.into(c),
                    (false, true) => $chain.replace().into(c),
                    (true, false) => $chain.accum(Minus::new()).into(c),
                    (true, true) => $chain.accum(Minus::new()).replace().into(c),
                }
            };
        }
        match (self.mask, self.complement) {
            (0, _) if self.accum => chain.accum(Minus::new()).into(c),
            (0, _) => chain.into(c),
            (1, false) => end!(chain.mask(mask)),
            (1, true) => end!(chain.mask(mask).complement()),
            (_, false) => end!(chain.mask(mask.structure())),
            (_, true) => end!(chain.mask(!mask.structure())),
        }
        .unwrap();
    }
}

fn eye<T: Num, I: Index>(n: usize) -> Csr<T, I> {
    Csr::new(n, n, (0..=n).collect(), (0..n).map(I::cast).collect(), vec![T::ONE; n]).unwrap()
}

/// Writes one vector repeatedly, with every combination of options.
fn written_in_every_way<T: Num + Draw, I: Index>(cpu: &Cpu, n: usize, seed: u64, steps: usize) {
    let rng = &mut Rng(seed);
    let mut c: Vector<T, I> = draw(rng, n);
    let (mut want, eye) = (table(&c), eye::<T, I>(n));
    let mut clones: Vec<(Vector<T, I>, Table<T>)> = vec![];
    let minus = |x: &[Option<T>], y: &[Option<T>]| written(x, y, |_| true, false, Some(T::wrapping_sub));
    for step in 0..steps {
        if rng.below(5) == 0 {
            clones.push((c.clone(), want.clone()));
        }
        let (t, mask): (Vector<T, I>, Vector<T, I>) = (draw(rng, n), draw(rng, n));
        // A mask may be c itself.
        let mask = if rng.below(5) == 0 { c.clone() } else { mask };
        let (of_t, of_mask, how) = (table(&t), table(&mask), How::draw(rng));
        let what = rng.below(14);
        match what {
            0..=3 => {
                how.write(cpu.apply(Identity::new(), &t), &mask, &mut c);
                want = how.want(&want, &of_t, &of_mask);
            }
            4 | 5 => {
                let x = T::ONE;
                how.write(Backend::<I>::assign_scalar(cpu, x), &mask, &mut c);
                want = how.want(&want, &vec![Some(x); n], &of_mask);
            }
            6 => {
                // w(I) = v writes v at I; without an accumulator, other indices are not written.
                let mut at: Vec<usize> = (0..n).filter(|_| rng.below(4) == 0).collect();
                if rng.below(2) == 0 {
                    at.reverse();
                }
                let v: Vector<T, I> = draw(rng, at.len());
                let mut spread = vec![None; n];
                at.iter().enumerate().for_each(|(p, &i)| spread[i] = v.get(p).copied());
                let indices: Vec<I> = at.iter().map(|&i| I::cast(i)).collect();
                if !how.accum {
                    (0..n).filter(|i| !at.contains(i)).for_each(|i| spread[i] = want[i]);
                }
                how.write(cpu.assign(&v, &indices), &mask, &mut c);
                want = how.want(&want, &spread, &of_mask);
            }
            7 => {
                let sum = minus(&want, &of_t);
                how.write(cpu.ewise_add(Minus::new(), &c, &t), &mask, &mut c);
                want = how.want(&want, &sum, &of_mask);
            }
            8 => {
                let sum = minus(&of_t, &want);
                how.write(cpu.ewise_add(Minus::new(), &t, &c), &mask, &mut c);
                want = how.want(&want, &sum, &of_mask);
            }
            9 => {
                let sum = minus(&want, &want);
                how.write(cpu.ewise_add(Minus::new(), &c, &c), &mask, &mut c);
                want = how.want(&want, &sum, &of_mask);
            }
            10 => {
                let kept: Table<T> = want.iter().map(|x| x.filter(|x| *x != T::ZERO)).collect();
                how.write(cpu.select(ValueNe::new(), &c, T::ZERO), &mask, &mut c);
                want = how.want(&want, &kept, &of_mask);
            }
            11 => {
                let x = want.clone();
                how.write(cpu.vxm(PlusFirst::<T>::new(), &c, &eye), &mask, &mut c);
                want = how.want(&want, &x, &of_mask);
            }
            12 => {
                let x = want.clone();
                how.write(cpu.mxv(PlusSecond::<T>::new(), &eye, &c), &mask, &mut c);
                want = how.want(&want, &x, &of_mask);
            }
            _ => {
                for _ in 0..n.min(3) {
                    let i = rng.below(n);
                    if rng.below(2) == 0 {
                        assert_eq!(c.set(i, T::ONE).unwrap(), want[i].replace(T::ONE));
                    } else {
                        assert_eq!(c.remove(i).unwrap(), want[i].take());
                    }
                }
            }
        }
        assert_eq!(table(&c), want, "step {step} from {seed}, {n} places, operation {what}, {how:?}");
    }
    for (clone, want) in clones {
        assert_eq!(table(&clone), want, "a clone, from {seed}");
    }
}

const LENGTHS: [usize; 9] = [0, 1, 2, 15, 63, 64, 65, 200, 700];

#[test]
fn every_way_of_writing_is_the_table() {
    let cpu = [1, 3].map(|n| Cpu::with_threads(n).unwrap());
    for n in LENGTHS {
        for seed in 0..30 {
            written_in_every_way::<i64, u32>(&cpu[seed as usize % 2], n, seed, 40);
        }
        for seed in 100..106 {
            written_in_every_way::<u8, u32>(&cpu[0], n, seed, 40);
            written_in_every_way::<i64, u64>(&cpu[1], n, seed, 40);
        }
    }
}

/// By name: the same rules and the same writes.
#[test]
fn every_way_of_writing_by_name_is_the_table() {
    let minus = runtime::BinaryOp::new("minus", sparring::algebra::Type::I64).unwrap();
    for (n, seed) in LENGTHS.into_iter().flat_map(|n| (0..25).map(move |seed| (n, seed))) {
        let m = Machine::from(Cpu::with_threads(1 + seed as usize % 3).unwrap());
        let rng = &mut Rng(seed);
        let mut clones = vec![];
        let start: Vector<i64> = draw(rng, n);
        let (mut want, mut c) = (table(&start), runtime::Vector::from(start));
        for step in 0..40 {
            if rng.below(5) == 0 {
                clones.push((c.clone(), want.clone()));
            }
            let (t, mask): (Vector<i64>, Vector<i64>) = (draw(rng, n), draw(rng, n));
            let (of_t, of_mask, how) = (table(&t), table(&mask), How::draw(rng));
            let (t, mask) = (runtime::Vector::from(t), runtime::Vector::from(mask));
            let mut write = m.call(Op::Identity, &t);
            if how.mask > 0 {
                write = write.mask(&mask);
                write = if how.mask > 1 { write.structure() } else { write };
                write = if how.complement { write.complement() } else { write };
            }
            write = if how.replace { write.replace() } else { write };
            write = if how.accum { write.accum(&minus) } else { write };
            write.into(&mut c).unwrap();
            want = how.want(&want, &of_t, &of_mask);
            assert_eq!(table(c.typed::<i64>().unwrap()), want, "step {step} from {seed}, {n} places, {how:?}");
        }
        for (clone, want) in clones {
            assert_eq!(table(clone.typed::<i64>().unwrap()), want, "a clone, from {seed}");
        }
    }
}

/// Enough entries for several threads, over vectors of every form.
#[test]
fn long_vectors_are_written_by_all_threads() {
    let (n, cpus) = (150_001, [1, 2, 3, 8].map(|n| Cpu::with_threads(n).unwrap()));
    let of = |seed: u64, keep: fn(usize) -> bool| {
        let at: Vec<u32> = (0..n as u32).filter(|&i| keep(i as usize)).collect();
        let values = at.iter().map(|&i| 1.0 + 1.0 / f64::from(i + seed as u32 + 1)).collect();
        Vector::<f64>::new(n, at, values).unwrap()
    };
    let forms = |seed| {
        [
            of(seed, |_| true),
            of(seed, |i| i % 3 != 1),
            of(seed, |i| i % 4096 < 3000),
            of(seed, |i| i % 17 == 0),
            of(seed, |i| i == 149_000),
        ]
    };
    // A list with more entries than one thread writes alone.
    let mut long = Vector::<f64>::empty(n).unwrap();
    let list = of(9, |i| i % 4 == 0);
    Cpu::new().apply(Identity::new(), &list).accum(Plus::new()).into(&mut long).unwrap();
    let plain = of(5, |i| i % 5 == 0);
    for (c, t) in forms(1).iter().flat_map(|c| forms(2).into_iter().chain([long.clone()]).map(move |t| (c, t))) {
        let (of_c, of_t, of_mask) = (table(c), table(&t), table(&plain));
        for (accum, masked) in [(true, false), (false, true), (true, true)] {
            let f: Option<fn(f64, f64) -> f64> = if accum { Some(|x, y| x - y) } else { None };
            let want = written(&of_c, &of_t, |i| !masked || of_mask[i].is_some(), masked && accum, f);
            for cpu in &cpus {
                let mut found = c.clone();
                let chain = cpu.apply(Identity::new(), &t);
                match (accum, masked) {
                    (true, false) => chain.accum(Minus::new()).into(&mut found),
                    (false, _) => chain.mask(plain.structure()).into(&mut found),
                    (true, true) => chain.mask(plain.structure()).accum(Minus::new()).replace().into(&mut found),
                }
                .unwrap();
                assert!(table(&found) == want, "accumulator {accum}, mask {masked}");
            }
            let (m, minus) = (Machine::from(Cpu::new()), runtime::BinaryOp::new("minus", f64::TYPE).unwrap());
            let mut found = runtime::Vector::from(c.clone());
            let (t, mask) = (runtime::Vector::from(t.clone()), runtime::Vector::from(plain.clone()));
            let mut write = m.call(Op::Identity, &t);
            write = if masked { write.mask(&mask).structure() } else { write };
            write = if accum { write.accum(&minus).replace() } else { write };
            write.into(&mut found).unwrap();
            assert!(table(found.typed::<f64>().unwrap()) == want, "by name: accumulator {accum}, mask {masked}");
        }
        let mut found = c.clone();
        cpus[2].assign_scalar(0.5).mask(t.structure()).accum(Minus::new()).into(&mut found).unwrap();
        let halves: Table<f64> = of_t.iter().map(|x| x.map(|_| 0.5)).collect();
        assert!(table(&found) == written(&of_c, &halves, |_| true, false, Some(|x, y| x - y)), "a scalar");
    }
}

/// An operation under a mask equals the masked result of the operation.
#[test]
fn operations_under_masks_are_their_results_under_masks() {
    let n = 400;
    let rng = &mut Rng(5);
    for round in 0..120 {
        let cpu = Cpu::with_threads(1 + round % 3).unwrap();
        let most = [0, 3, 40][round % 3];
        let (mut row_ptr, mut cols) = (vec![0], vec![]);
        for _ in 0..n {
            let mut row: Vec<u32> = (0..rng.below(most + 1)).map(|_| rng.below(n) as u32).collect();
            row.sort_unstable();
            row.dedup();
            cols.extend(row);
            row_ptr.push(cols.len());
        }
        let values = (0..cols.len()).map(|p| 1.0 + 1.0 / (p + 1) as f64).collect();
        let a = Csr::<f64>::new(n, n, row_ptr, cols, values).unwrap();
        let (x, y, mask): (Vector<f64>, Vector<f64>, Vector<i64>) = (draw(rng, n), draw(rng, n), draw(rng, n));
        let indices: Vec<u32> = (0..n).map(|_| rng.below(n) as u32).collect();
        macro_rules! check {
            ($($name:literal $chain:expr;)*) => {$(
                let whole = table(&$chain.eval().unwrap());
                let has: Vec<bool> = table(&mask).iter().map(Option::is_some).collect();
                for complement in [false, true] {
                    let found = if complement {
                        $chain.mask(!mask.structure()).eval()
                    } else {
                        $chain.mask(mask.structure()).eval()
                    };
                    let want: Table<_> =
                        whole.iter().enumerate().map(|(i, x)| x.filter(|_| has[i] != complement)).collect();
                    assert_eq!(table(&found.unwrap()), want, "{}, round {round}, complement {complement}", $name);
                }
                let valued = table(&$chain.mask(&mask).eval().unwrap());
                let nonzero = |i: usize| mask.get(i).is_some_and(|x| *x != 0);
                let want: Table<_> = whole.iter().enumerate().map(|(i, x)| x.filter(|_| nonzero(i))).collect();
                assert_eq!(valued, want, "{}, round {round}, by values", $name);
            )*};
        }
        check! {
            "mxv" cpu.mxv(PlusTimes::<f64>::new(), &a, &x);
            "mxv min" cpu.mxv(MinPlus::<f64>::new(), &a, &x);
            "vxm" cpu.vxm(PlusTimes::<f64>::new(), &x, &a);
            "reduce_rows" cpu.reduce_rows(Plus::<f64>::new(), &a);
            "apply" cpu.apply(sparring::algebra::One::<f64>::new(), &x);
            "apply_index" cpu.apply_index(sparring::algebra::RowIndex::<f64, i64>::new(), &x, 3);
            "select" cpu.select(sparring::algebra::ValueGt::<f64>::new(), &x, 1.0);
            "ewise_add" cpu.ewise_add(Minus::new(), &x, &y);
            "ewise_mult" cpu.ewise_mult(Minus::new(), &x, &y);
            "ewise_union" cpu.ewise_union(Minus::new(), &x, 7.0, &y, 9.0);
            "extract" cpu.extract(&x, &indices);
        }
    }
}

#[test]
fn a_pattern_is_a_mask() {
    let cpu = Cpu::new();
    let v = Vector::<f64>::constant(100, 2.0).unwrap();
    let p = VectorPattern::new(100, vec![3, 50]).unwrap();
    let mut c = Vector::<f64>::empty(100).unwrap();
    cpu.apply(Identity::new(), &v).mask(p).into(&mut c).unwrap();
    assert_eq!(c, Vector::new(100, vec![3, 50], vec![2.0, 2.0]).unwrap());
    let short = VectorPattern::new(99, vec![]).unwrap();
    let e = cpu.apply(Identity::new(), &v).mask(short).into(&mut c).unwrap_err();
    assert!(matches!(e, Error::Length { what: "mask", found: 99, expected: 100 }), "{e}");
    let short = VectorPattern::<u32>::new(99, vec![]).unwrap();
    let e = cpu.assign_scalar(1.0).mask(short).into(&mut c).unwrap_err();
    assert!(matches!(e, Error::Length { what: "mask", found: 99, expected: 100 }), "{e}");
    assert!(matches!(VectorPattern::<u32>::new(3, vec![1, 1]), Err(Error::Duplicate { column: 1, .. })));
    assert!(matches!(VectorPattern::<u32>::new(3, vec![3]), Err(Error::IndexRange { index: 3, bound: 3, .. })));
}

sparring::value! {
    /// Twelve bytes.
    struct Twelve {
        /// A number.
        a: f32,
        /// Another.
        b: i32,
        /// And another.
        c: u32,
    }
}

/// Struct values are shifted, overwritten and removed like any other.
#[test]
fn structs_are_written_in_place() {
    let (cpu, n) = (Cpu::new(), 1000);
    let of = |i: usize| Twelve { a: i as f32, b: -(i as i32), c: 7 };
    let mut c = Vector::<Twelve>::empty(n).unwrap();
    let mut want = vec![None; n];
    let rng = &mut Rng(3);
    for _ in 0..600 {
        let i = rng.below(n);
        let mask = VectorPattern::new(n, vec![i as u32]).unwrap();
        if rng.below(4) == 0 {
            c.remove(i).unwrap();
            want[i] = None;
        } else {
            cpu.assign_scalar(of(i)).mask(mask).into(&mut c).unwrap();
            want[i] = Some(of(i));
        }
        assert!((0..n).all(|i| c.get(i).copied() == want[i]));
    }
}

//! Matrices of every form, written in place and read: operations × masks × replace × accumulators × aliases × clones,
//! compared with a dense table.
//!
//! One matrix is written repeatedly, so that it passes through its forms; clones taken on the way keep their contents.

mod common;

use common::arbitrary::{Draw, Rng};
use common::reference::written;
use sparring::algebra::{ColIndex, First, Identity, Minus, Num, Second, ValueNe};
use sparring::backend::{Build, Matrices, Operation};
use sparring::prelude::*;
use sparring::sparse::MatrixForm;
use sparring::{Csr, Index};

type Table<T> = Vec<Option<T>>;
type Shape = (usize, usize);

/// The values by position, row by row, after a comparison of all ways to query the pattern.
fn table<T: Num, I: Index>(a: &Csr<T, I>) -> Table<T> {
    let (m, n) = a.shape();
    let found: Table<T> = (0..m * n).map(|p| a.get(p / n, p % n).copied()).collect();
    let nnz = a.nnz();
    assert!(a.get(m, 0).is_none() && a.get(0, n).is_none());
    assert_eq!(found.iter().flatten().count(), nnz);
    match a.form() {
        MatrixForm::Full => assert_eq!(nnz, m * n),
        MatrixForm::Bitmap => assert!(nnz < m * n),
        MatrixForm::Rows | MatrixForm::Hypersparse => {}
    }
    let mut by_rows = vec![None; m * n];
    for (i, j, x) in a.compressed().unwrap().iter() {
        assert!(by_rows[i * n + j].replace(*x).is_none());
    }
    assert_eq!((by_rows, a.nnz(), a.values().len()), (found.clone(), nnz, nnz));
    found
}

/// Some zeros, for valued masks; finite, so that no sum is NaN, which equals no table entry.
fn finite<T: Num + Draw>(rng: &mut Rng) -> T {
    let x = if rng.below(3) == 0 { T::ZERO } else { T::draw(rng) };
    if x.wrapping_sub(x) == T::ZERO { x } else { T::ONE }
}

/// A matrix with no entries, one, few, some, nearly all or all; its rows sorted or not.
fn draw<T: Num + Draw, I: Index>(rng: &mut Rng, (m, n): Shape) -> Csr<T, I> {
    let percent = [0, 1, 3, 8, 40, 97, 100][rng.below(7)];
    let one = (rng.below(5) == 0 && m * n > 0).then(|| rng.below(m * n));
    let (mut row_ptr, mut cols, mut values) = (vec![0], vec![], vec![]);
    for i in 0..m {
        let mut row: Vec<usize> =
            (0..n).filter(|j| one.map_or_else(|| rng.below(100) < percent, |p| p == i * n + j)).collect();
        if rng.below(3) == 0 {
            row.reverse();
        }
        for j in row {
            cols.push(I::cast(j));
            values.push(finite(rng));
        }
        row_ptr.push(cols.len());
    }
    Csr::from_unsorted(m, n, row_ptr, cols, values).unwrap()
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
    fn allows<T: Num>(self, mask: &[Option<T>], p: usize) -> bool {
        match self.mask {
            0 => true,
            1 => mask[p].is_some_and(|x| x != T::ZERO) != self.complement,
            _ => mask[p].is_some() != self.complement,
        }
    }
    fn want<T: Num>(self, c: &[Option<T>], t: &[Option<T>], mask: &[Option<T>]) -> Table<T> {
        let accum: Option<fn(T, T) -> T> = if self.accum { Some(T::wrapping_sub) } else { None };
        written(c, t, |p| self.allows(mask, p), self.mask != 0 && self.replace, accum)
    }
    fn write<T: Num, I: Index, Op>(self, chain: Build<'_, Cpu, I, Op>, mask: &Csr<T, I>, c: &mut Csr<T, I>)
    where
        Op: Operation<Cpu, I, Kind = Matrices, Out = T>,
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

/// Reading a matrix of any form agrees with reading its rows.
fn reads_are_those_of_rows<T: Num, I: Index>(cpu: &Cpu, a: &Csr<T, I>) {
    let (m, n) = a.shape();
    let rows = Csr::with_pattern(a.pattern().clone(), a.values().to_vec()).unwrap();
    assert_eq!(rows.form(), MatrixForm::Rows);
    assert_eq!(*a, rows);
    let x = Vector::<T, I>::constant(n, T::ONE).unwrap();
    let y = Vector::<T, I>::constant(m, T::ONE).unwrap();
    macro_rules! same {
        ($($chain:expr),* $(,)?) => {$(
            let of = |a: &Csr<T, I>| $chain(a).eval().unwrap();
            assert_eq!(of(a), of(&rows));
        )*};
    }
    same!(
        |a: &Csr<T, I>| cpu.transpose(a),
        |a: &Csr<T, I>| cpu.apply(Identity::<T>::new(), a),
        |a: &Csr<T, I>| cpu.apply_index(ColIndex::<T, i64>::new(), a, 3),
        |a: &Csr<T, I>| cpu.select(ValueNe::new(), a, T::ZERO),
        |a: &Csr<T, I>| cpu.reduce(Plus::<T>::new(), a),
        |a: &Csr<T, I>| cpu.reduce_rows(Plus::<T>::new(), a),
        |a: &Csr<T, I>| cpu.reduce_rows(Plus::<T>::new(), a).transpose_a(),
        |a: &Csr<T, I>| cpu.mxv(PlusSecond::<T>::new(), a, &x),
        |a: &Csr<T, I>| cpu.vxm(PlusFirst::<T>::new(), &y, a),
        |a: &Csr<T, I>| cpu.mxm(PlusTimes::<T>::default(), a, a).transpose_b(),
        |a: &Csr<T, I>| cpu.ewise_mult(Minus::new(), a, &rows),
        |a: &Csr<T, I>| cpu.ewise_union(Minus::new(), a, T::ONE, &rows, T::ZERO),
        |a: &Csr<T, I>| cpu.mxm(PlusTimes::<T>::default(), &rows, &eye(n)).mask(a.structure()),
        |a: &Csr<T, I>| cpu.mxm(PlusTimes::<T>::default(), &rows, &eye(n)).mask(!a.structure()),
        |a: &Csr<T, I>| cpu.mxm(PlusTimes::<T>::default(), &rows, &eye(n)).mask(a),
    );
}

/// Writes one matrix repeatedly, with every combination of options; returns the forms that it had.
fn written_in_every_way<T: Num + Draw, I: Index>(cpu: &Cpu, shape: Shape, seed: u64, steps: usize) -> Vec<MatrixForm> {
    let ((m, n), rng) = (shape, &mut Rng(seed));
    let mut c: Csr<T, I> = draw(rng, shape);
    let mut want = table(&c);
    let mut clones: Vec<(Csr<T, I>, Table<T>)> = vec![];
    let mut forms = vec![];
    let minus = |x: &[Option<T>], y: &[Option<T>]| written(x, y, |_| true, false, Some(T::wrapping_sub));
    for step in 0..steps {
        if rng.below(5) == 0 {
            clones.push((c.clone(), want.clone()));
        }
        // Single updates, still buffered when the next operation starts.
        if rng.below(3) == 0 && m * n > 0 {
            for _ in 0..1 + rng.below(6) {
                let (p, x) = (rng.below(m * n), (rng.below(3) > 0).then(|| finite(rng)));
                let before = match x {
                    Some(x) => c.set(p / n, p % n, x).unwrap(),
                    None => c.remove(p / n, p % n).unwrap(),
                };
                assert_eq!(before, want[p], "place {p}, step {step} from {seed}");
                want[p] = x;
                assert_eq!((c.get(p / n, p % n).copied(), c.nnz()), (x, want.iter().flatten().count()));
            }
            if rng.below(3) == 0 {
                clones.push((c.clone(), want.clone()));
            }
        }
        let (mut t, mask): (Csr<T, I>, Csr<T, I>) = (draw(rng, shape), draw(rng, shape));
        if rng.below(4) == 0 {
            // Possibly in another form than rows.
            t = clones.get(rng.below(clones.len().max(1))).map_or(t, |clone| clone.0.clone());
        }
        let mask = if rng.below(5) == 0 { c.clone() } else { mask };
        let (of_t, of_mask, how) = (table(&t), table(&mask), How::draw(rng));
        let both = |f: fn(T, T) -> T, a: &[Option<T>], b: &[Option<T>]| -> Table<T> {
            a.iter().zip(b).map(|(x, y)| Some(f((*x)?, (*y)?))).collect()
        };
        let what = rng.below(12);
        let made: Table<T> = match what {
            0..=3 => {
                how.write(cpu.apply(Identity::new(), &t), &mask, &mut c);
                of_t
            }
            4 => {
                how.write(cpu.ewise_add(Minus::new(), &c, &t), &mask, &mut c);
                minus(&want, &of_t)
            }
            5 => {
                how.write(cpu.ewise_add(Minus::new(), &t, &c), &mask, &mut c);
                minus(&of_t, &want)
            }
            6 => {
                how.write(cpu.ewise_add(Minus::new(), &c, &c), &mask, &mut c);
                minus(&want, &want)
            }
            7 => {
                how.write(cpu.ewise_mult(Minus::new(), &c, &t), &mask, &mut c);
                both(T::wrapping_sub, &want, &of_t)
            }
            8 => {
                how.write(cpu.ewise_union(Minus::new(), &t, T::ONE, &c, T::ONE), &mask, &mut c);
                let at = |x: Option<T>, y: Option<T>| {
                    Some(x.or(y).map(|_| x.unwrap_or(T::ONE))?.wrapping_sub(y.unwrap_or(T::ONE)))
                };
                of_t.iter().zip(&want).map(|(x, y)| at(*x, *y)).collect()
            }
            9 => {
                how.write(cpu.select(ValueNe::new(), &c, T::ZERO), &mask, &mut c);
                want.iter().map(|x| x.filter(|x| *x != T::ZERO)).collect()
            }
            10 => {
                let ring = Ring(Plus::<T>::new(), First::<T, T>::default());
                how.write(cpu.mxm(ring, &c, &eye(n)), &mask, &mut c);
                want.clone()
            }
            _ => {
                let ring = Ring(Plus::<T>::new(), Second::<T, T>::default());
                how.write(cpu.mxm(ring, &eye(m), &c), &mask, &mut c);
                want.clone()
            }
        };
        want = how.want(&want, &made, &of_mask);
        forms.push(c.form());
        assert_eq!(table(&c), want, "step {step} from {seed}, {shape:?}, operation {what}, {how:?}");
        reads_are_those_of_rows(cpu, &c);
    }
    for (clone, want) in clones {
        assert_eq!(table(&clone), want, "a clone, from {seed}");
    }
    forms
}

#[test]
fn every_way_of_writing_is_the_table() {
    let cpu = [1, 3].map(|n| Cpu::with_threads(n).unwrap());
    let mut forms = vec![];
    for shape in [(0, 0), (0, 3), (3, 0), (1, 1), (1, 130), (4, 40), (40, 4), (13, 13), (66, 70)] {
        let steps = if shape.0 > 60 { 25 } else { 40 };
        for seed in 0..12 {
            forms.extend(written_in_every_way::<i64, u32>(&cpu[seed as usize % 2], shape, seed, steps));
        }
        for seed in 100..103 {
            forms.extend(written_in_every_way::<f32, u32>(&cpu[0], shape, seed, steps));
            forms.extend(written_in_every_way::<i64, u64>(&cpu[1], shape, seed, steps));
        }
    }
    for form in [MatrixForm::Rows, MatrixForm::Bitmap, MatrixForm::Full] {
        let times = forms.iter().filter(|found| **found == form).count();
        assert!(times > 100, "{form:?} {times} times of {}", forms.len());
    }
}

/// When a matrix changes its form: to a bitmap from a density of 1/8 on, back to rows at 1/32.
#[test]
fn the_form_follows_the_entries() {
    let (cpu, n) = (Cpu::new(), 4000);
    let one = |i: usize, j: usize| {
        let row_ptr = (0..=4).map(|r| usize::from(r > i)).collect();
        Csr::<f64>::new(4, n, row_ptr, vec![j as u32], vec![1.0]).unwrap()
    };
    // Single insertions, each of which shifts the stored entries: a few shifts, then a bitmap.
    let mut c = Csr::<f64>::empty(4, n).unwrap();
    let mut moved = 0;
    for j in 0..300 {
        cpu.ewise_add(Plus::new(), &c, &one(j % 4, j)).into(&mut c).unwrap();
        let expected = if moved > 4 * n / 16 { MatrixForm::Bitmap } else { MatrixForm::Rows };
        assert_eq!((c.nnz(), c.form()), (j + 1, expected), "{moved} moved");
        moved += if j == 0 { 0 } else { c.nnz() };
    }
    // Clones keep their contents; the copy on write is not reported.
    let clone = c.clone();
    cpu.ewise_add(Plus::new(), &c, &one(0, 3999)).into(&mut c).unwrap();
    assert_eq!((clone.nnz(), clone.get(0, 3999), c.get(0, 3999)), (300, None, Some(&1.0)));
    // A mask that removes most entries.
    let all = Csr::<bool>::new(4, n, vec![0, 50, 50, 50, 50], (0..50).collect(), vec![true; 50]).unwrap();
    cpu.apply(Identity::new(), &c).mask(all.structure()).replace().into(&mut c).unwrap();
    assert_eq!(c.form(), MatrixForm::Rows);
    // A square matrix below a density of 1/8 is written by rows.
    let mut d = Csr::<f64>::new(
        200,
        200,
        (0..=200).map(|i| 20 * i).collect(),
        (0..4000).map(|p| p % 20).collect(),
        vec![1.0; 4000],
    )
    .unwrap();
    let t = Csr::<f64>::new(200, 200, (0..=200).map(|i| usize::from(i > 7)).collect(), vec![199], vec![1.0]).unwrap();
    for _ in 0..20 {
        cpu.ewise_add(Plus::new(), &d, &t).into(&mut d).unwrap();
    }
    assert_eq!((d.form(), d.nnz(), d.get(7, 199)), (MatrixForm::Rows, 4001, Some(&20.0)));
}

/// A sum written into one of its operands may transpose either operand.
#[test]
fn a_sum_into_an_operand_takes_operands_transposed() {
    let (cpu, minus) = (Cpu::new(), Minus::<i64>::new());
    let of = |values: [i64; 4]| Csr::<i64>::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], values.to_vec()).unwrap();
    let b = of([10, 20, 30, 40]);
    let written = |how: fn(&Cpu, Minus<i64>, &Csr<i64>, &mut Csr<i64>)| {
        let mut c = of([1, 2, 3, 4]);
        how(&cpu, minus, &b, &mut c);
        c.values().to_vec()
    };
    assert_eq!(written(|cpu, op, b, c| cpu.ewise_add(op, &*c, b).transpose_b().into(c).unwrap()), [-9, -28, -17, -36]);
    assert_eq!(written(|cpu, op, b, c| cpu.ewise_add(op, &*c, b).transpose_a().into(c).unwrap()), [-9, -17, -28, -36]);
    assert_eq!(written(|cpu, op, b, c| cpu.ewise_add(op, b, &*c).transpose_a().into(c).unwrap()), [9, 28, 17, 36]);
    assert_eq!(written(|cpu, op, b, c| cpu.ewise_add(op, b, &*c).transpose_b().into(c).unwrap()), [9, 17, 28, 36]);
    // A non-square operand has the transposed shape.
    let mut c = Csr::<i64>::new(1, 2, vec![0, 2], vec![0, 1], vec![1, 2]).unwrap();
    let column = Csr::<i64>::new(2, 1, vec![0, 1, 1], vec![0], vec![5]).unwrap();
    cpu.ewise_add(minus, &c.clone(), &column).transpose_b().into(&mut c).unwrap();
    assert_eq!(c.values(), [-4, 2]);
}

/// Explanations name the forms, the kernels, and how the result was written.
#[test]
fn explanations_tell_forms_and_kernels() {
    let (cpu, n) = (Cpu::with_threads(2).unwrap(), 200);
    let a = eye::<f64, u32>(n);
    let full = Csr::<f64>::constant((4, 5), 2.0).unwrap();
    let x = Vector::<f64>::constant(n, 1.0).unwrap();
    let few = Vector::<bool>::new(n, vec![3, 70], vec![true; 2]).unwrap();
    let says = |how: String, lines: &[&str]| {
        lines.iter().for_each(|line| assert!(how.lines().any(|found| found.contains(line)), "{line}, not in:\n{how}"));
    };
    let rows = "200×200 with 200 entries as compressed rows";
    says(cpu.apply(Identity::new(), &a).explain().unwrap().1, &[&format!("apply: {rows}")]);
    says(cpu.transpose(&full).explain().unwrap().1, &["transpose: 4×5 with 20 entries as a full matrix"]);
    let how = cpu.mxv(PlusTimes::new(), &a, &x).mask(few.structure()).explain().unwrap().1;
    says(how, &["mxv: ", "length 200 with 200 entries as a full vector", "the 2 rows that the mask allows, of 200"]);
    let list = Vector::<f64>::new(n, vec![3, 70], vec![1.0; 2]).unwrap();
    says(cpu.vxm(PlusTimes::new(), &list, &a).explain().unwrap().1, &["as a list", "2 products into 200 columns"]);
    says(cpu.mxm(PlusTimes::new(), &a, &a).explain().unwrap().1, &[&format!("mxm: {rows}; {rows}")]);
    let how = cpu.extract_matrix(&a, .., [5, 3, 9]).explain().unwrap().1;
    says(how, &["extract: ", "200 rows of 200 entries; columns are looked up in a table"]);

    let (mut c, mut d) = (a.clone(), full.clone());
    let part = Csr::<f64>::constant((2, 2), 7.0).unwrap();
    let how = cpu.assign_matrix(&part, 0..2, 0..2).explain_into(&mut c).unwrap();
    says(how, &["assign: ", "in one pass over the rows"]);
    let how = cpu.assign_matrix(&part, 0..2, 0..2).explain_into(&mut d).unwrap();
    says(how, &["assign: ", "in place: C is a bitmap or full"]);
    let how =
        cpu.apply(Identity::new(), &full).mask(full.structure()).accum(Minus::new()).explain_into(&mut d).unwrap();
    says(how, &["write: C = C ⊙ T", "in place, by position"]);
    assert_eq!((c.get(0, 1), d.get(0, 0), d.get(3, 3)), (Some(&7.0), Some(&5.0), Some(&0.0)));
}

/// Many single updates, some repeated, some removals: the result equals the matrix built from the remaining entries.
#[test]
fn many_entries_are_merged_once() {
    let (rng, n) = (&mut Rng(12), 700);
    let mut a = Csr::<f64>::from_triplets(n, n, (0..n).map(|i| (i, i * 7 % n, -1.0))).unwrap();
    let mut want: std::collections::BTreeMap<_, _> = a.iter().map(|(i, j, x)| ((i, j), *x)).collect();
    for round in 0..4 {
        for step in 0..20_000 {
            let (i, j) = (rng.below(n), rng.below(n / 2));
            if rng.below(4) == 0 {
                assert_eq!(a.remove(i, j).unwrap(), want.remove(&(i, j)));
            } else {
                let x = f64::from(round * 20_000 + step);
                assert_eq!(a.set(i, j, x).unwrap(), want.insert((i, j), x));
            }
        }
        assert_eq!(a.nnz(), want.len());
        let built = Csr::from_triplets(n, n, want.iter().map(|(at, x)| (at.0, at.1, *x))).unwrap();
        assert_eq!(a, built, "round {round}");
    }
}

//! Operations of the GPU beside products: transpose, row sorting, elementwise operations, functions, selections, folds.
//! Compared bit for bit with the CPU, or with a textbook below.

#![cfg(all(feature = "cuda", feature = "testing"))]

mod common;
#[path = "gpu_ops/folds.rs"]
mod folds;
#[path = "gpu_ops/parts.rs"]
mod parts;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::arbitrary::{AnyPattern, Draw, Rng};
use common::gpu::cuda;
use common::reference::{Table, table};
use common::{Same, check, check_invariants, identical};
use sparring::algebra::*;
use sparring::backend::{Backend, Container, Kernels};
use sparring::par::Threads;
use sparring::{Csr, Cuda, Error, Pattern};

sparring::value! {
    /// A value and its index: 16 bytes, 4 of them padding.
    pub struct Best {
        /// The value.
        pub value: f64,
        /// Its index.
        pub index: u32,
    }
}
sparring::value! {
    /// 12 bytes.
    pub struct Triple {
        /// First.
        pub x: u32,
        /// Second.
        pub y: f32,
        /// Third.
        pub z: i32,
    }
}
sparring::value! {
    /// 24 bytes, with a struct inside.
    pub struct Outer {
        /// A struct.
        pub best: Best,
        /// A flag.
        pub found: bool,
        /// A small number.
        pub count: i8,
    }
}
sparring::op! {
    /// The one with the smaller value; ties go to the smaller index.
    pub ArgMin (a: Best, b: Best) -> Best {{
        let (x, y) = (Best::value(a), Best::value(b));
        (y.lt(x) | (y.eq(x) & Best::index(b).lt(Best::index(a)))).select(b, a)
    }} identity Best { value: f64::INFINITY, index: u32::MAX }
}
sparring::op! {
    /// Counts are added, the better value is kept.
    pub Merge (a: Outer, b: Outer) -> Outer {
        Outer::of(
            ArgMin::new().apply(Outer::best(a), Outer::best(b)),
            Outer::found(a) | Outer::found(b),
            Outer::count(a) + Outer::count(b),
        )
    } identity Outer { best: ArgMin::IDENTITY, found: false, count: 0 }
}
sparring::op! {
    /// A step of length `b` after `a`: two operand types, one of them a struct.
    pub Step (a: Best, b: f64) -> Best { Best::of(Best::value(a) + b, Best::index(a)) }
}
sparring::op! {
    /// The value of a struct, times a parameter.
    pub ValueTimes { p: f64 } (a: Best) -> f64 { Best::value(a) * p }
}
sparring::op! {
    /// A struct of a number.
    pub Found (a: f64) -> Best { Best::of(a, V::lit(7)) }
}
sparring::op! {
    /// Entries with values below s's, on or above the diagonal: the scalar is a struct.
    pub BelowAndUpper (a: f64, s: Best) at (i, j) -> bool { a.lt(Best::value(s)) & i.le(j) }
}

impl Draw for Best {
    fn draw(rng: &mut Rng) -> Self {
        // Few distinct values, so that many are equal.
        let value = if rng.below(2) == 0 { f64::draw(rng) } else { rng.below(5) as f64 };
        Best { value, index: rng.below(9) as u32 }
    }
}
impl Same for Best {
    fn same(&self, other: &Self) -> bool {
        self.value.same(&other.value) && self.index == other.index
    }
}
impl Draw for Triple {
    fn draw(rng: &mut Rng) -> Self {
        Triple { x: rng.next() as u32, y: f32::draw(rng), z: rng.next() as i32 }
    }
}
impl Same for Triple {
    fn same(&self, other: &Self) -> bool {
        self.x == other.x && self.y.same(&other.y) && self.z == other.z
    }
}
impl Draw for Outer {
    fn draw(rng: &mut Rng) -> Self {
        Outer { best: Best::draw(rng), found: bool::draw(rng), count: rng.next() as i8 }
    }
}
impl Same for Outer {
    fn same(&self, other: &Self) -> bool {
        self.best.same(&other.best) && self.found == other.found && self.count == other.count
    }
}

/// Empty shapes, single rows and columns, sizes around a tile, and more rows or columns than 16 bits count.
const SHAPES: [(usize, usize); 17] = [
    (0, 0),
    (0, 7),
    (7, 0),
    (1, 1),
    (1, 300),
    (300, 1),
    (1, 9000),
    (9000, 1),
    (33, 31),
    (64, 255),
    (64, 256),
    (65, 257),
    (300, 129),
    (129, 1100),
    (700, 700),
    (70_000, 3),
    (3, 70_000),
];

/// Many awkward matrices, sorted and not.
fn small() -> Vec<AnyPattern> {
    let mut rng = Rng(1);
    let mut all = vec![];
    for (nrows, ncols) in SHAPES {
        for round in 0..4 {
            let mut p = AnyPattern::of_shape(&mut rng, nrows, ncols);
            p.shuffle = if round % 2 == 0 { 0 } else { rng.next() | 1 };
            all.push(p);
        }
    }
    all
}

/// Matrices of many blocks: scattered entries, one huge row, one huge column, row lengths around the thresholds.
fn large() -> Vec<AnyPattern> {
    let mut rng = Rng(2);
    let mut scattered = vec![vec![]; 20_000];
    for _ in 0..150_000 {
        let row = rng.below(20_000);
        scattered[row].push(rng.below(30_000) as u32);
    }
    let mut huge = scattered.clone();
    huge[12_345] = (0..30_000).filter(|_| rng.below(10) > 0).collect();
    for row in &mut huge {
        row.push(777);
    }
    let mut lengths: Vec<Vec<u32>> = vec![];
    for n in
        [0, 1, 31, 32, 33, 127, 128, 129, 255, 256, 257, 300, 1023, 1025, 4095, 4096, 4097, 4098, 8192, 9000, 20_000]
    {
        // Some empty rows between them, so that a tile begins and ends in empty rows.
        lengths.push((0..n).map(|j| j * 3 % 60_000).collect());
        lengths.resize(lengths.len() + rng.below(3000), vec![]);
    }
    [(30_000, scattered), (30_000, huge), (60_000, lengths)]
        .into_iter()
        .flat_map(|(ncols, mut rows)| {
            for row in &mut rows {
                row.sort_unstable();
                row.dedup();
            }
            let sorted = AnyPattern { ncols, rows, shuffle: 0 };
            let shuffled = AnyPattern { shuffle: 99, ..sorted.clone() };
            [sorted, shuffled]
        })
        .collect()
}

fn down<T: Value>(cuda: &Cuda, a: &sparring::gpu::DeviceCsr<T>) -> Csr<T> {
    cuda.download(a).expect("a result")
}

fn expect_identical<T: Value + Same>(what: &str, found: &Csr<T>, want: &Csr<T>) {
    check_invariants(found).unwrap_or_else(|e| panic!("{what}: {e}"));
    if identical(found, want) {
        return;
    }
    assert_eq!(found.shape(), want.shape(), "{what}");
    assert_eq!(found.nnz(), want.nnz(), "{what}");
    let differs = |i: usize| {
        let (x, y) = (found.row(i), want.row(i));
        x.0 != y.0 || !x.1.iter().zip(y.1).all(|(x, y)| x.same(y))
    };
    let row = (0..want.nrows()).find(|&i| differs(i));
    panic!("{what} of shape {:?} with {} entries: row {row:?} differs", want.shape(), want.nnz());
}

fn transposes_and_sorts<T: Draw + Same>(cuda: &Cuda, patterns: &[AnyPattern]) {
    let threads = Threads::current();
    for (round, p) in patterns.iter().enumerate() {
        let a: Csr<T> = p.matrix(round as u64);
        let on_device = cuda.upload(&a).expect("upload");
        let t = cuda.transpose(&on_device).eval().expect("transpose");
        assert!(t.pattern().is_sorted());
        expect_identical("transpose", &down(cuda, &t), &a.transpose(&threads).expect("memory"));
        let s = cuda.sorted(&on_device).expect("sorted");
        assert!(s.pattern().is_sorted());
        assert_eq!(Arc::ptr_eq(s.pattern(), on_device.pattern()), a.pattern().is_sorted());
        expect_identical("sorted", &down(cuda, &s), &a.sorted(&threads).expect("memory"));

        let t: Pattern = cuda.download_pattern(&cuda.transpose_pattern(on_device.pattern()).unwrap()).unwrap();
        assert_eq!(t, a.pattern().transpose(&threads).unwrap());
        let s: Pattern = cuda.download_pattern(&cuda.sort_rows(on_device.pattern()).unwrap()).unwrap();
        assert_eq!(s, a.pattern().sorted(&threads).unwrap());
        let longest = (0..a.nrows()).map(|i| a.pattern().row(i).len()).max().unwrap_or(0);
        assert_eq!(cuda.longest_row(on_device.pattern()).unwrap(), longest);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn transposes_and_sorted_rows_are_those_of_the_cpu() {
    let cuda = cuda();
    let small = small();
    transposes_and_sorts::<f64>(&cuda, &small);
    transposes_and_sorts::<bool>(&cuda, &small);
    transposes_and_sorts::<f32>(&cuda, &small);
    transposes_and_sorts::<Triple>(&cuda, &small);
    transposes_and_sorts::<Outer>(&cuda, &small);
    let large = large();
    transposes_and_sorts::<f64>(&cuda, &large);
    transposes_and_sorts::<u8>(&cuda, &large);
    transposes_and_sorts::<Best>(&cuda, &large);
}

#[test]
#[ignore = "needs a GPU"]
fn transposes_of_many_columns_take_every_digit() {
    let cuda = cuda();
    // 25 bits: four passes of 7. The last column and the first occur.
    let ncols = (1 << 24) + 5;
    let mut rng = Rng(3);
    let rows = (0..50)
        .map(|i| {
            let mut row: Vec<u32> = (0..400).map(|_| rng.below(ncols) as u32).collect();
            row.extend([0, ncols as u32 - 1, 1 << 24, i]);
            row.sort_unstable();
            row.dedup();
            row
        })
        .collect();
    for shuffle in [0, 5] {
        let p = AnyPattern { ncols, rows: Clone::clone(&rows), shuffle };
        let a: Csr<i64> = p.matrix(4);
        let on_device = cuda.upload(&a).unwrap();
        let t = cuda.transpose(&on_device).eval().unwrap();
        expect_identical("transpose", &down(&cuda, &t), &a.transpose(&Threads::current()).unwrap());
        expect_identical(
            "twice",
            &down(&cuda, &cuda.transpose(&t).eval().unwrap()),
            &a.sorted(&Threads::current()).unwrap(),
        );
        expect_identical(
            "sorted",
            &down(&cuda, &cuda.sorted(&on_device).unwrap()),
            &a.sorted(&Threads::current()).unwrap(),
        );
    }
}

/// A ∘ B where both have an entry.
fn intersection<O: BinaryOp>(op: O, a: &Csr<O::A>, b: &Csr<O::B>) -> Table<O::Out> {
    let b = table(b);
    let both =
        |(i, j, &x): (usize, usize, &O::A)| b.entries.get(&(i, j)).map(|&y| ((i, j), op.apply::<Host>(V(x), V(y)).0));
    Table { shape: a.shape(), entries: a.iter().filter_map(both).collect() }
}

/// A ∘ B where both have an entry, else the single entry.
fn union<T: Value, O: BinaryOp<A = T, B = T, Out = T>>(op: O, a: &Csr<T>, b: &Csr<T>) -> Table<T> {
    let mut entries: BTreeMap<_, _> = table(a).entries;
    entries.extend(table(b).entries);
    entries.extend(intersection(op, a, b).entries);
    Table { shape: a.shape(), entries }
}

/// Pairs of one shape: unrelated, equal, one empty; sorted and not.
fn pairs() -> Vec<(AnyPattern, AnyPattern)> {
    let mut rng = Rng(6);
    let mut all = vec![];
    for a in small() {
        let mut b = AnyPattern::of_shape(&mut rng, a.nrows(), a.ncols);
        b.shuffle = if rng.below(3) == 0 { rng.next() | 1 } else { 0 };
        if rng.below(4) == 0 {
            b.rows = a.rows.clone();
        }
        all.push((a, b));
    }
    let mut of_large = large();
    of_large.truncate(4); // of one shape
    for (x, y) in [(0, 0), (0, 1), (1, 2), (2, 0), (3, 1), (0, 3), (2, 2)] {
        all.push((of_large[x].clone(), of_large[y].clone()));
    }
    let nothing = AnyPattern { rows: vec![vec![]; of_large[0].nrows()], ..of_large[0].clone() };
    all.extend([
        (of_large[2].clone(), nothing.clone()),
        (nothing.clone(), of_large[2].clone()),
        (nothing.clone(), nothing),
    ]);
    all
}

fn intersects<O: BinaryOp<A: Draw, B: Draw, Out: Same>>(cuda: &Cuda, op: O, pairs: &[(AnyPattern, AnyPattern)]) {
    for (a, b) in pairs {
        let (a, b): (Csr<O::A>, Csr<O::B>) = (a.matrix(10), b.matrix(11));
        let (x, y) = (cuda.upload(&a).unwrap(), cuda.upload(&b).unwrap());
        let c = down(cuda, &cuda.ewise_mult(op, &x, &y).eval().expect("intersection"));
        check(&c, &intersection(op, &a, &b), true).unwrap_or_else(|e| panic!("intersection of {:?}: {e}", a.shape()));
    }
}

fn unites<T: Draw + Same, O: BinaryOp<A = T, B = T, Out = T>>(cuda: &Cuda, op: O, pairs: &[(AnyPattern, AnyPattern)]) {
    for (a, b) in pairs {
        let (a, b): (Csr<T>, Csr<T>) = (a.matrix(10), b.matrix(11));
        let (x, y) = (cuda.upload(&a).unwrap(), cuda.upload(&b).unwrap());
        let c = down(cuda, &cuda.ewise_add(op, &x, &y).eval().expect("union"));
        check(&c, &union(op, &a, &b), true).unwrap_or_else(|e| panic!("union of {:?}: {e}", a.shape()));
    }
    intersects(cuda, op, pairs);
}

#[test]
#[ignore = "needs a GPU"]
fn unions_and_intersections_are_the_textbook() {
    let cuda = cuda();
    let pairs = pairs();
    unites(&cuda, Plus::<f64>::new(), &pairs);
    unites(&cuda, Minus::<f32>::new(), &pairs);
    unites(&cuda, Min::<i64>::new(), &pairs);
    unites(&cuda, Lor::<bool>::new(), &pairs);
    unites(&cuda, Second::<u8>::new(), &pairs);
    unites(&cuda, ArgMin::new(), &pairs);
    unites(&cuda, Merge::new(), &pairs[..pairs.len() - 6]);
}

#[test]
#[ignore = "needs a GPU"]
fn intersections_may_mix_types() {
    let cuda = cuda();
    let pairs = pairs();
    intersects(&cuda, Less::<f64>::new(), &pairs);
    intersects(&cuda, Step::new(), &pairs);
    intersects(&cuda, Second::<f64, bool>::default(), &pairs);
    intersects(&cuda, Pair::<u64, bool, f32>::default(), &pairs);
}

#[test]
#[ignore = "needs a GPU"]
fn shapes_of_elementwise_operands_must_agree() {
    let cuda = cuda();
    let a = cuda.upload(&Csr::<f64>::empty(2, 3).unwrap()).unwrap();
    let b = cuda.upload(&Csr::<f64>::empty(3, 2).unwrap()).unwrap();
    let errors = [
        ("ewise_add", cuda.ewise_add(Plus::<f64>::new(), &a, &b).eval()),
        ("ewise_mult", cuda.ewise_mult(Plus::<f64>::new(), &a, &b).eval()),
    ];
    for (name, result) in errors {
        let Err(Error::Shape { op, lhs, rhs }) = result else { panic!("{result:?}") };
        assert_eq!((op, lhs, rhs), (name, (2, 3), (3, 2)));
    }
}

fn applies<O: UnaryOp<A: Draw, Out: Same>>(cuda: &Cuda, op: O, patterns: &[AnyPattern]) {
    for p in patterns {
        let a: Csr<O::A> = p.matrix(20);
        let on_device = cuda.upload(&a).unwrap();
        let c = cuda.apply(op, &on_device).eval().expect("apply");
        assert!(Arc::ptr_eq(c.pattern(), on_device.pattern()));
        let want = a.map(|&x| op.apply::<Host>(V(x)).0).unwrap();
        expect_identical("apply", &down(cuda, &c), &want);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn functions_of_entries_are_those_of_the_host() {
    let cuda = cuda();
    let (small, large) = (small(), large());
    applies(&cuda, Ainv::<f64>::new(), &small);
    applies(&cuda, Square::<i64>::new(), &small);
    applies(&cuda, Sqrt::<f64>::new(), &large);
    applies(&cuda, Minv::<f32>::new(), &large);
    applies(&cuda, Lnot::<f64>::new(), &small);
    applies(&cuda, Cast::<f64, u8>::new(), &large);
    applies(&cuda, Cast::<bool, i64>::new(), &small);
    applies(&cuda, One::<u64>::new(), &small);
    applies(&cuda, Identity::<Outer>::new(), &large);
    applies(&cuda, ValueTimes::new(-1.5), &small);
    applies(&cuda, ValueTimes::new(0.1), &small);
    applies(&cuda, Found::new(), &large);
}

fn selects<O: IndexUnaryOp<A: Draw + Same, Out = bool>>(cuda: &Cuda, op: O, scalars: &[O::S], patterns: &[AnyPattern]) {
    for (round, p) in patterns.iter().enumerate() {
        let a: Csr<O::A> = p.matrix(30);
        let on_device = cuda.upload(&a).unwrap();
        let s = scalars[round % scalars.len()];
        let c = down(cuda, &cuda.select(op, &on_device, s).eval().expect("select"));
        let (mut row_ptr, mut cols, mut values) = (vec![0], vec![], vec![]);
        for i in 0..a.nrows() {
            for (&j, &x) in a.row(i).0.iter().zip(a.row(i).1) {
                if op.apply::<Host>(V(x), V(s), Place { i: V(i as u64), j: V(j.into()) }).0 {
                    cols.push(j);
                    values.push(x);
                }
            }
            row_ptr.push(cols.len());
        }
        let want = Csr::from_unsorted(a.nrows(), a.ncols(), row_ptr, cols, values).unwrap();
        expect_identical("select", &c, &want.sorted(&Threads::current()).unwrap());
    }
}

#[test]
#[ignore = "needs a GPU"]
fn selections_keep_what_the_host_keeps() {
    let cuda = cuda();
    let (small, large) = (small(), large());
    selects(&cuda, Tril::<f64>::new(), &[-1, 0, 3, -70_000, i64::MAX], &small);
    selects(&cuda, Triu::<bool>::new(), &[1, 0, -5], &small);
    selects(&cuda, Tril::<f64>::new(), &[-1, 100], &large);
    selects(&cuda, Diag::<u8>::new(), &[0, 1], &large);
    selects(&cuda, Offdiag::<Outer>::new(), &[0], &small);
    selects(&cuda, RowLe::<f64>::new(), &[0, 40, 12_345], &large);
    selects(&cuda, ColGt::<f64>::new(), &[0, 40, 776], &large);
    selects(&cuda, ValueGt::<f64>::new(), &[0.0, f64::NAN, f64::INFINITY, -1.0], &large);
    selects(&cuda, ValueNe::<f32>::new(), &[0.0, f32::NAN], &small);
    selects(&cuda, ValueLe::<i64>::new(), &[0, i64::MIN, i64::MAX], &small);
    selects(&cuda, ValueEq::<Best>::new(), &[Best { value: 1.0, index: 3 }, Best { value: 2.0, index: 0 }], &large);
    selects(&cuda, BelowAndUpper::new(), &[Best { value: 1.0, index: 0 }], &large);
}

fn unites_filled<O: BinaryOp<A: Draw, B: Draw, Out: Same>>(cuda: &Cuda, op: O, pairs: &[(AnyPattern, AnyPattern)]) {
    let mut rng = Rng(50);
    for (a, b) in pairs {
        let (a, b): (Csr<O::A>, Csr<O::B>) = (a.matrix(51), b.matrix(52));
        let (x, y) = (O::A::draw(&mut rng), O::B::draw(&mut rng));
        let c = cuda.ewise_union(op, &cuda.upload(&a).unwrap(), x, &cuda.upload(&b).unwrap(), y).eval().unwrap();
        let (of_a, of_b) = (table(&a), table(&b));
        let value = |place: &(usize, usize)| {
            let (u, v) = (of_a.entries.get(place).copied(), of_b.entries.get(place).copied());
            op.apply::<Host>(V(u.unwrap_or(x)), V(v.unwrap_or(y))).0
        };
        let places: std::collections::BTreeSet<_> = of_a.entries.keys().chain(of_b.entries.keys()).copied().collect();
        let want = Table { shape: a.shape(), entries: places.iter().map(|p| (*p, value(p))).collect() };
        let c = down(cuda, &c);
        check(&c, &want, true).unwrap_or_else(|e| panic!("a union with fills: {e}"));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn unions_with_fills_are_the_textbook_s() {
    let cuda = cuda();
    let pairs = pairs();
    unites_filled(&cuda, Minus::<f64>::new(), &pairs);
    unites_filled(&cuda, Less::<i64>::new(), &pairs);
    unites_filled(&cuda, Step::new(), &pairs[..40]);
}

fn applies_at<O: IndexUnaryOp<A: Draw, Out: Same>>(cuda: &Cuda, op: O, s: O::S, patterns: &[AnyPattern]) {
    for p in patterns {
        let a: Csr<O::A> = p.matrix(60);
        let on_device = cuda.upload(&a).unwrap();
        let c = cuda.apply_index(op, &on_device, s).eval().unwrap();
        assert!(Arc::ptr_eq(c.pattern(), on_device.pattern()));
        let at = |(i, j, &x): (usize, usize, &O::A)| {
            op.apply::<Host>(V(x), V(s), Place { i: V(i as u64), j: V(j as u64) }).0
        };
        let want = Csr::with_pattern(Arc::clone(a.pattern()), a.iter().map(at).collect()).unwrap();
        expect_identical("apply_index", &down(cuda, &c), &want);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn functions_of_places_are_those_of_the_host() {
    let cuda = cuda();
    let (small, large) = (small(), large());
    applies_at(&cuda, RowIndex::<f64, i64>::new(), 3, &small);
    applies_at(&cuda, DiagIndex::<Outer, i64>::new(), -1, &small);
    applies_at(&cuda, ColIndex::<f64, i64>::new(), 1 << 40, &large);
    applies_at(&cuda, ValueGt::<f64>::new(), 0.5, &large);
}

fn restricts<T: Draw + Same>(cuda: &Cuda, pairs: &[(AnyPattern, AnyPattern)]) {
    for (a, mask) in pairs {
        let (a, mask): (Csr<T>, Csr<bool>) = (a.matrix(70), mask.matrix(71));
        let (on_a, on_mask) = (cuda.upload(&a).unwrap(), cuda.upload(&mask).unwrap());
        let places = table(&mask).entries;
        for complement in [false, true] {
            let (mut row_ptr, mut cols, mut values) = (vec![0], vec![], vec![]);
            for i in 0..a.nrows() {
                for (&j, &x) in a.row(i).0.iter().zip(a.row(i).1) {
                    if places.contains_key(&(i, j as usize)) != complement {
                        cols.push(j);
                        values.push(x);
                    }
                }
                row_ptr.push(cols.len());
            }
            let want = Csr::from_unsorted(a.nrows(), a.ncols(), row_ptr, cols, values).unwrap();
            let found = cuda.apply_mask_matrix(&on_a, on_mask.pattern(), complement).unwrap();
            // Rows of an unsorted matrix keep their order, so both results are sorted before the comparison.
            let found = down(cuda, &cuda.sorted(&found).unwrap());
            expect_identical("restrict", &found, &want.sorted(&Threads::current()).unwrap());
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn entries_at_a_mask_s_places_are_those_of_the_host() {
    let cuda = cuda();
    let pairs = pairs();
    restricts::<f64>(&cuda, &pairs);
    restricts::<Triple>(&cuda, &pairs[..40]);
    for (a, _) in &pairs {
        let a: Csr<u8> = a.matrix(80);
        let found = cuda.upload(&a).unwrap().nonzero(&cuda).unwrap();
        let found: Pattern = cuda.download_pattern(&cuda.sort_rows(&found).unwrap()).unwrap();
        let want: Vec<_> = a.iter().filter(|e| *e.2 != 0).map(|e| (e.0, e.1)).collect();
        let mut got: Vec<_> =
            (0..found.nrows()).flat_map(|i| found.row(i).iter().map(move |&j| (i, j as usize))).collect();
        got.sort_unstable();
        let mut want = want;
        want.sort_unstable();
        assert_eq!(got, want);
    }
    let (a, b) =
        (Csr::<f64>::new(1, 2, vec![0, 0], vec![], vec![]), Csr::<f64>::new(2, 1, vec![0, 0, 0], vec![], vec![]));
    let (a, b) = (cuda.upload(&a.unwrap()).unwrap(), cuda.upload(&b.unwrap()).unwrap());
    assert!(matches!(cuda.apply(Identity::new(), &a).mask(b.structure()).eval(), Err(Error::Shape { .. })));
}

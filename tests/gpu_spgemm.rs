//! Products on the GPU: the same entries and the same bits as on the CPU.
#![cfg(feature = "cuda")]

mod common;

use common::arbitrary::{AnyPair, AnyPattern, Draw, Rng, rows};
use common::gpu::cuda;
use common::rings::{CountPaths, Detour, SumPlaces, SumWhere};
use common::{Same, check, check_invariants, golden, identical};
use sparring::algebra::{Lhs, Min, MinPlus, Out, Plus, PlusPair, PlusTimes, Rhs, Ring, SecondIndex, Semiring};
use sparring::backend::{Backend, Container};
use sparring::gpu::DeviceCsr;
use sparring::{Cpu, Csr, Cuda, Error};

sparring::op! {
    /// The product of two bytes.
    pub(crate) Product (a: u8, b: u8) -> i64 { a.cast::<i64>() * b.cast::<i64>() }
}

type Outcome = Result<(), String>;
/// min over k: the first vertex through which an entry is reached.
type MinSecond = Ring<Min<u64>, SecondIndex<f64, f64, u64>>;

fn text(e: Error) -> String {
    e.to_string()
}

/// Whether the two matrices have identical arrays.
fn equal<T: sparring::algebra::Value + Same>(found: &Csr<T>, want: &Csr<T>) -> Outcome {
    check_invariants(found)?;
    if found.pattern() != want.pattern() {
        return Err(format!("the pattern has {} entries, expected {}", found.nnz(), want.nnz()));
    }
    match found.values().iter().zip(want.values()).position(|(x, y)| !x.same(y)) {
        Some(p) => Err(format!("value {p} is {:?}, expected {:?}", found.values()[p], want.values()[p])),
        None => Ok(()),
    }
}

/// A·B, unmasked, masked, and under the complemented mask, as on the CPU.
fn as_on_the_cpu<R: Semiring>(cuda: &Cuda, ring: R, pair: &AnyPair) -> Outcome
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    let cpu = Cpu::with_threads(2).map_err(text)?;
    let (a, b, mask) = (pair.a::<Lhs<R>>(), pair.b::<Rhs<R>>(), pair.mask.matrix::<bool>(1));
    let want = cpu.mxm(ring, &a, &b).eval().map_err(text)?;
    let (on_a, on_b, on_mask) =
        (cuda.upload(&a).map_err(text)?, cuda.upload(&b).map_err(text)?, cuda.upload(&mask).map_err(text)?);
    let product = || cuda.mxm(ring, &on_a, &on_b);
    let down = |c: Result<DeviceCsr<Out<R>>, Error>| c.and_then(|c| cuda.download(&c)).map_err(text);
    equal(&down(product().eval())?, &want)?;
    // A reused plan caches more of the product.
    let plan = cuda.plan(&on_a, &on_b).eval().map_err(text)?;
    for use_number in 1..=3 {
        let found = down(product().plan(&plan).eval())?;
        equal(&found, &want).map_err(|e| format!("use {use_number} of a plan: {e}"))?;
    }
    let want = cpu.mxm(ring, &a, &b).mask(mask.pattern().clone()).eval().map_err(text)?;
    equal(&down(product().mask(on_mask.structure()).eval())?, &want).map_err(|e| format!("masked: {e}"))?;
    let plan = cuda.plan(&on_a, &on_b).mask(on_mask.structure()).eval().map_err(text)?;
    for use_number in 1..=3 {
        let found = down(product().plan(&plan).eval())?;
        equal(&found, &want).map_err(|e| format!("use {use_number} of a masked plan: {e}"))?;
    }
    let want = cpu.mxm(ring, &a, &b).mask(mask.pattern().clone()).complement().eval().map_err(text)?;
    equal(&down(product().mask(!on_mask.structure()).eval())?, &want).map_err(|e| format!("complement: {e}"))
}

/// Random and awkward operands, `times` of them.
fn many<R: Semiring + Default>(times: u64)
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    let cuda = cuda();
    for seed in 0..times {
        let mut g = quickcheck::Gen::new(60);
        let mut pair: AnyPair = quickcheck::Arbitrary::arbitrary(&mut g);
        pair.mask.shuffle = 0;
        if seed % 3 == 0 {
            pair.a.shuffle = seed | 1;
        }
        as_on_the_cpu(&cuda, R::default(), &pair).unwrap_or_else(|e| panic!("case {seed}: {e}\n{pair:?}"));
    }
}

macro_rules! as_on_cpu {
    ($($name:ident: $ring:ty;)*) => {$(
        #[test]
        #[ignore = "needs a GPU"]
        fn $name() { many::<$ring>(60) }
    )*};
}
as_on_cpu! {
    plus_times_f64: PlusTimes<f64>;
    plus_times_f32: PlusTimes<f32>;
    plus_times_i64: PlusTimes<i64>;
    min_plus: MinPlus<f64>;
    boolean: PlusTimes<bool>;
    plus_pair: PlusPair<i64>;
    positional: MinSecond;
    places: SumPlaces;
    a_users_struct: CountPaths;
    a_wide_struct: Detour;
    three_value_types: SumWhere;
}

fn pair(a: AnyPattern, b: AnyPattern, seed: u64) -> AnyPair {
    let mut rng = Rng(seed);
    let mask = AnyPattern::of_shape(&mut rng, a.nrows(), b.ncols);
    AnyPair { a, b, mask, seed }
}

/// Square matrices of n rows, some with `heavy` entries, over two rings, with sorted and unsorted rows.
fn of_weight(n: usize, mean: usize, heavy: usize) {
    let cuda = cuda();
    let mut rng = Rng(11 + n as u64);
    for shuffle in [0, 9] {
        let mut a = rows(&mut rng, n, n, mean, heavy);
        let mut b = rows(&mut rng, n, n, mean, heavy);
        (a.shuffle, b.shuffle) = (shuffle, shuffle);
        let case = pair(a, b, n as u64);
        as_on_the_cpu(&cuda, PlusTimes::<f64>::default(), &case).unwrap_or_else(|e| panic!("{shuffle}: {e}"));
        as_on_the_cpu(&cuda, Detour::default(), &case).unwrap_or_else(|e| panic!("{shuffle}: {e}"));
    }
}

macro_rules! of_weights {
    ($($name:ident: $n:expr, $mean:expr, $heavy:expr;)*) => {$(
        #[test]
        #[ignore = "needs a GPU"]
        fn $name() { of_weight($n, $mean, $heavy) }
    )*};
}
// Every bin of every kernel: rows with 0 to tens of thousands of multiplications and entries. The last two have more
// than 2²² products, the last one many rows of up to 128 entries: reused plans of this kind store products by rows and
// parts, others by entries.
of_weights! {
    rows_of_weight_5: 50, 1, 5;
    rows_of_weight_40: 200, 2, 40;
    rows_of_weight_60: 400, 5, 60;
    rows_of_weight_200: 700, 12, 200;
    rows_of_weight_900: 2000, 10, 900;
    rows_of_weight_2500: 3000, 40, 2500;
    many_rows_of_weight_120: 60_000, 6, 120;
}

/// Entries with more products than a block holds at a time, before and after others; and entries with none.
#[test]
#[ignore = "needs a GPU"]
fn entries_of_many_products() {
    let cuda = cuda();
    let mut rng = Rng(17);
    let all = |n: usize| (0..n as u32).collect::<Vec<u32>>();
    let few = |rng: &mut Rng, n: usize| (0..3).map(|_| rng.below(n) as u32).max().into_iter().collect::<Vec<u32>>();
    let inner = 5000;
    let a = AnyPattern {
        ncols: inner,
        rows: (0..40).map(|i| if i % 13 == 5 { all(inner) } else { few(&mut rng, inner) }).collect(),
        shuffle: 0,
    };
    let b = AnyPattern {
        ncols: 9,
        rows: (0..inner).map(|k| if k % 3 == 0 { all(7) } else { few(&mut rng, 9) }).collect(),
        shuffle: 0,
    };
    let case = pair(a, b, 17);
    as_on_the_cpu(&cuda, PlusTimes::<f64>::default(), &case).unwrap();
    as_on_the_cpu(&cuda, SumWhere::default(), &case).unwrap();
    as_on_the_cpu(&cuda, Detour::default(), &case).unwrap();
}

/// Rows of C longer than a block's part, and columns beyond one bitmap window.
#[test]
#[ignore = "needs a GPU"]
fn long_rows_and_wide_matrices() {
    let cuda = cuda();
    let mut rng = Rng(12);
    for (nrows, inner, ncols, mean, heavy) in
        [(40, 60, 30_000, 300, 20_000), (40, 50, 3_000_000, 100, 5000), (20, 30, 12_000_000, 500, 4000)]
    {
        let a = rows(&mut rng, nrows, inner, 10, inner);
        let mut b = rows(&mut rng, inner, ncols, mean, heavy);
        b.rows[0].push(ncols as u32 - 1);
        b.rows[0].dedup();
        let case = pair(a, b, 3);
        as_on_the_cpu(&cuda, PlusTimes::<f64>::default(), &case).unwrap_or_else(|e| panic!("{ncols} columns: {e}"));
        as_on_the_cpu(&cuda, CountPaths::default(), &case).unwrap_or_else(|e| panic!("{ncols} columns: {e}"));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn golden_products() {
    let cuda = cuda();
    fn run<R: Semiring>(cuda: &Cuda, ring: R, a: &Csr<Lhs<R>>, b: &Csr<Rhs<R>>) -> Csr<Out<R>> {
        let (a, b) = (cuda.upload(a).expect("a"), cuda.upload(b).expect("b"));
        cuda.download(&cuda.mxm(ring, &a, &b).eval().expect("a product")).expect("c")
    }
    for golden::Case { name, ring, a, b, c: want } in golden::cases() {
        let c = match ring.as_str() {
            "plus_times" => run(&cuda, PlusTimes::<f64>::default(), &a, &b),
            "min_plus" => run(&cuda, MinPlus::<f64>::default(), &a, &b),
            "plus_pair" => run(&cuda, PlusPair::<f64>::default(), &a, &b),
            "lor_land" => {
                let truth = |x: &Csr<f64>| x.map(|&x| x != 0.0).expect("memory");
                let c = run(&cuda, PlusTimes::<bool>::default(), &truth(&a), &truth(&b));
                c.map(|&x| f64::from(u8::from(x))).expect("memory")
            }
            "min_secondi" => run(&cuda, MinSecond::default(), &a, &b).map(|&k| k as f64).expect("memory"),
            other => panic!("{name}: no ring {other}"),
        };
        check(&c, &want, true).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

/// One plan, several products; the results share the plan's pattern, also on the host.
#[test]
#[ignore = "needs a GPU"]
fn reuse_equals_fresh_products() {
    let cuda = cuda();
    let cpu = Cpu::new();
    let mut rng = Rng(13);
    let case = pair(rows(&mut rng, 300, 300, 8, 150), rows(&mut rng, 300, 300, 8, 150), 1);
    let (a, b) = (case.a::<f64>(), case.b::<f64>());
    let (a2, b2) = (a.map(|x| x * 3.0 + 1.0).expect("memory"), b.map(|x| -x).expect("memory"));
    let (da, db) = (cuda.upload(&a).expect("a"), cuda.upload(&b).expect("b"));
    let (da2, db2) = (cuda.upload(&a2).expect("a"), cuda.upload(&b2).expect("b"));
    let (plus, min) = (PlusTimes::<f64>::default(), MinPlus::<f64>::default());
    let down = |c: &DeviceCsr<f64>| cuda.download(c).expect("c");
    let plan = cuda.plan(&da, &db).eval().expect("a plan");
    let first = down(&cuda.mxm(plus, &da, &db).plan(&plan).eval().expect("values"));
    equal(&first, &cpu.mxm(plus, &a, &b).eval().expect("values")).expect("the first");
    let again = down(&cuda.mxm(min, &da2, &db2).plan(&plan).eval().expect("values"));
    equal(&again, &cpu.mxm(min, &a2, &b2).eval().expect("values")).expect("another ring");
    assert!(std::sync::Arc::ptr_eq(first.pattern(), again.pattern()), "two copies of one pattern");

    let mut c = cuda.mxm(plus, &da, &db).plan(&plan).eval().expect("values");
    cuda.mxm(plus, &da2, &db2).plan(&plan).into(&mut c).expect("values");
    let other = cpu.mxm(plus, &a2, &b2).eval().expect("values");
    equal(&down(&c), &other).expect("in place");
    // A shared matrix keeps its values.
    let held = c.clone();
    cuda.mxm(plus, &da, &db).plan(&plan).into(&mut c).expect("values");
    equal(&down(&c), &first).expect("beside a clone");
    equal(&down(&held), &other).expect("the clone");
}

#[test]
#[ignore = "needs a GPU"]
fn a_plan_refuses_other_patterns() {
    let cuda = cuda();
    let ring = PlusTimes::<f64>::default();
    let a = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]).expect("a");
    let moved = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![1, 1], vec![1.0, 2.0]).expect("moved");
    let fewer = Csr::<f64>::new(2, 2, vec![0, 1, 1], vec![1], vec![1.0]).expect("fewer");
    let wider = Csr::<f64>::new(2, 3, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]).expect("wider");
    let up = |a| cuda.upload::<f64, u32>(a).expect("memory");
    let on_a = up(&a);
    let plan = cuda.plan(&on_a, &on_a).eval().expect("a plan");
    let by_plan = |a: &DeviceCsr<f64>, b: &DeviceCsr<f64>| cuda.mxm(ring, a, b).plan(&plan).eval();
    for other in [&moved, &fewer, &wider] {
        assert!(matches!(by_plan(&up(other), &on_a), Err(Error::PatternChanged { operand: "A", .. })));
        assert!(matches!(by_plan(&on_a, &up(other)), Err(Error::PatternChanged { operand: "B", .. })));
    }
    // An equal pattern in other memory is accepted.
    let again = up(&Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0]).expect("again"));
    assert!(!std::sync::Arc::ptr_eq(again.pattern(), on_a.pattern()));
    let down = |c: &DeviceCsr<f64>| cuda.download::<f64, u32>(c).expect("c");
    let c = by_plan(&on_a, &on_a).expect("c");
    assert!(identical(&down(&c), &down(&by_plan(&again, &again).expect("an equal pattern"))));
}

#[test]
#[ignore = "needs a GPU"]
fn shapes_that_do_not_fit_are_refused() {
    let cuda = cuda();
    let empty = |m, n| cuda.upload(&Csr::<f64>::empty(m, n).expect("a matrix")).expect("memory");
    let (a, b) = (empty(3, 4), empty(5, 6));
    let message = cuda.mxm(PlusTimes::<f64>::default(), &a, &b).eval().expect_err("3×4 times 5×6").to_string();
    assert!(message.contains("mxm") && message.contains("3×4") && message.contains("5×6"), "{message}");
    let (b, mask) = (empty(4, 6), empty(3, 5));
    for found in [cuda.plan(&a, &b).mask(mask.structure()).eval(), cuda.plan(&a, &b).mask(!mask.structure()).eval()] {
        assert!(matches!(found, Err(Error::Shape { .. })));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn empty_shapes_multiply() {
    let cuda = cuda();
    for (m, k, n) in [(0, 0, 0), (0, 5, 3), (4, 0, 3), (4, 5, 0), (0, 0, 7), (7, 0, 0), (1, 1, 1), (3, 4, 5)] {
        let empty = |m, n| cuda.upload(&Csr::<f64>::empty(m, n).expect("a matrix")).expect("memory");
        let (a, b, mask) = (empty(m, k), empty(k, n), empty(m, n));
        let ring = PlusTimes::<f64>::default();
        let all = [
            cuda.mxm(ring, &a, &b).eval(),
            cuda.mxm(ring, &a, &b).mask(&mask).eval(),
            cuda.mxm(ring, &a, &b).mask(mask.structure()).eval(),
            cuda.mxm(ring, &a, &b).mask(&mask).complement().eval(),
            cuda.mxm(ring, &a, &b).mask(!mask.structure()).eval(),
        ];
        for c in all {
            let c = c.expect("a product");
            assert_eq!((c.shape(), c.nnz()), ((m, n), 0));
        }
    }
}

/// Stored zeros and zeros by cancellation are entries; a sum starts at +0, so no entry is −0.
#[test]
#[ignore = "needs a GPU"]
fn zeros_stay_entries() {
    let cuda = cuda();
    let a = Csr::<f64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1.0, 1.0, -0.0]).expect("a");
    let b = Csr::<f64>::new(2, 1, vec![0, 1, 2], vec![0, 0], vec![5.0, -5.0]).expect("b");
    let (a, b) = (cuda.upload(&a).expect("a"), cuda.upload(&b).expect("b"));
    let c = cuda.mxm(PlusTimes::<f64>::default(), &a, &b).eval().expect("a product");
    let c: Csr<f64> = cuda.download(&c).expect("c");
    assert_eq!(c.nnz(), 2);
    assert!(c.values().iter().all(|x| x.to_bits() == 0), "{:?}", c.values());
}

/// A full nrows × ncols matrix.
fn full<T: sparring::algebra::Value>(nrows: usize, ncols: usize, x: T) -> Csr<T> {
    let row_ptr = (0..=nrows).map(|i| i * ncols).collect();
    let columns = (0..nrows).flat_map(|_| 0..ncols as u32).collect();
    Csr::new(nrows, ncols, row_ptr, columns, vec![x; nrows * ncols]).expect("a full matrix")
}

/// 3.3 · 10⁹ multiplications: the count exceeds 31 bits.
#[test]
#[ignore = "needs a GPU"]
fn products_are_counted_in_64_bits() {
    let cuda = cuda();
    let up = |a: Csr<i64>| cuda.upload(&a).expect("memory");
    let (a, b) = (up(full(2000, 2000, 1)), up(full(2000, 825, 1)));
    let plan = cuda.plan(&a, &b).eval().expect("a plan");
    assert_eq!(plan.flops(), 2000 * 2000 * 825);
    let c = cuda.mxm(PlusTimes::<i64>::default(), &a, &b).plan(&plan).eval().expect("values");
    let c: Csr<i64> = cuda.download(&c).expect("c");
    assert_eq!(c.nnz(), 2000 * 825);
    assert!(c.values().iter().all(|&x| x == 2000));
}

/// More than 2³² entries, where the device has enough memory; more than any device can hold is refused by the count.
#[test]
#[ignore = "needs a GPU"]
fn results_of_more_than_32_bits() {
    let cuda = cuda();
    let up = |a: Csr<u8>| cuda.upload(&a).expect("memory");
    let outer = |n: usize| (up(full(n, 1, 1)), up(full(1, n, 1)));
    let n = 400_000;
    let (column, row) = outer(n);
    match cuda.plan(&column, &row).eval() {
        Err(Error::DeviceMemory { bytes, .. }) => assert!(bytes >= 4 * n as u128 * n as u128, "{bytes} bytes"),
        other => panic!("expected too little memory, got {other:?}"),
    }
    if cuda.limits().memory < 60 << 30 {
        println!("skipped in part: {} bytes of device memory are too few for 70 000² entries", cuda.limits().memory);
        return;
    }
    let n = 70_000;
    let (column, row) = outer(n);
    let c = cuda.mxm(PlusTimes::<u8>::default(), &column, &row).eval().expect("a product");
    assert_eq!(c.nnz(), n * n);
    // The product with a column of ones gives n in every row.
    let ones = up(full(n, 1, 1));
    let count = Ring(Plus::<i64>::new(), Product::new());
    let sums = cuda.mxm(count, &c, &ones).eval().expect("sums");
    let sums: Csr<i64> = cuda.download(&sums).expect("sums");
    assert!(sums.nnz() == n && sums.values().iter().all(|&x| x as usize == n));
}

/// Streams of two `Cuda` values are not ordered, so their arrays must not mix. Clones share one stream.
#[test]
#[ignore = "needs a GPU"]
fn arrays_of_another_cuda_are_refused() {
    let (one, two) = (cuda(), cuda());
    let ring = PlusTimes::<f64>::default();
    let a = one.upload(&full(3, 3, 1.0)).expect("a");
    let refused = [two.mxm(ring, &a, &a).eval().map(|_| ()), two.download::<f64, u32>(&a).map(|_| ())];
    for found in refused {
        let message = found.expect_err("a stranger's array").to_string();
        assert!(message.contains("another `Cuda`"), "{message}");
    }
    let c = one.clone().mxm(ring, &a, &a).eval().expect("the same device");
    assert_eq!(one.download::<f64, u32>(&c).expect("c").values(), [3.0; 9]);
}

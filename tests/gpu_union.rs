//! Union products on the GPU compared with the CPU and the definition, under every shared-memory layout of rows.

mod common;

use common::arbitrary::{AnyPattern, Draw, Rng};
use common::gpu::cuda;
use common::rings::{CountPaths, SumPlaces};
use common::unions::*;
use common::{Same, reference};
use sparring::algebra::*;
use sparring::gpu::testing::{
    NaiveKind, UnionStrategy, choose_union, naive_union_mxm, row_products_with, union_choice, union_mxm_with,
};
use sparring::sparse::{Dense, SparseVec};
use sparring::{Cpu, Csr, Cuda, Error};

const STRATEGIES: [UnionStrategy; 2] = [UnionStrategy::Dense, UnionStrategy::Hash];
const NAIVE: [NaiveKind; 2] = [NaiveKind::ExpandSortContract, NaiveKind::IterateSorted];

type Pair = (AnyPattern, AnyPattern);

/// The result, or `None` where the requested layout does not fit into shared memory.
fn if_it_fits<T>(kind: UnionStrategy, result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(x) => Some(x),
        Err(Error::Unsupported { .. }) if kind == UnionStrategy::Dense => None,
        Err(e) => panic!("{kind:?}: {e}"),
    }
}

/// Every strategy gives a result that `agree` accepts for `want`.
fn in_every_way<N: Namm + Default>(
    cuda: &Cuda,
    a: &Csr<Lhs<N>>,
    b: &Csr<Rhs<N>>,
    want: &Dense<Out<N>>,
    agree: impl Fn(&str, &Dense<Out<N>>, &Dense<Out<N>>) -> Result<(), String>,
) where
    Lhs<N>: Num,
    Rhs<N>: Num,
{
    let namm = N::default();
    let (on_a, on_b) = (cuda.upload(a).expect("upload"), cuda.upload(b).expect("upload"));
    let what = |way: &dyn std::fmt::Debug| {
        format!("{way:?}, {:?} of {} entries, {:?} of {}", a.shape(), a.nnz(), b.shape(), b.nnz())
    };
    let check = |way: &dyn std::fmt::Debug, c| {
        agree(&what(way), &cuda.download_dense(&c).expect("download"), want).unwrap_or_else(|e| panic!("{e}"));
    };
    check(&"chosen", cuda.union_mxm(namm, &on_a, &on_b).unwrap_or_else(|e| panic!("{}: {e}", what(&"chosen"))));
    for kind in STRATEGIES {
        if let Some(c) = if_it_fits(kind, union_mxm_with(cuda, namm, &on_a, &on_b, kind)) {
            check(&kind, c);
        }
    }
    for kind in NAIVE {
        match naive_union_mxm(cuda, namm, &on_a, &on_b, kind) {
            Ok(c) => check(&kind, c),
            Err(Error::Unsupported { .. }) if kind == NaiveKind::ExpandSortContract => {}
            Err(e) => panic!("{}: {e}", what(&kind)),
        }
    }
}

/// Bitwise equal to the CPU where ⊕ is exact.
fn as_the_cpu<N: Namm + Default>(cuda: &Cuda, pairs: &[Pair])
where
    Lhs<N>: Draw + Num,
    Rhs<N>: Draw + Num,
    Out<N>: Same,
{
    for (round, pair) in pairs.iter().enumerate() {
        let (a, b) = draw::<N>(pair, round as u64);
        let want = Cpu::new().union_mxm(N::default(), &a, &b).expect("memory");
        in_every_way::<N>(cuda, &a, &b, &want, same);
    }
}

fn small() -> Vec<Pair> {
    (0..60).map(any_pair).collect()
}

#[test]
#[ignore = "needs a GPU"]
fn exact_folds_have_the_bits_of_the_cpu() {
    let cuda = cuda();
    let small = small();
    as_the_cpu::<Chebyshev<f64>>(&cuda, &small);
    as_the_cpu::<MaxUneven<f32>>(&cuda, &small);
    as_the_cpu::<Manhattan<i64>>(&cuda, &small);
    as_the_cpu::<SumUneven<i64>>(&cuda, &small);
    as_the_cpu::<LeastDetour>(&cuda, &small);
    as_the_cpu::<WidestGap>(&cuda, &small);
    as_the_cpu::<Manhattan<u8>>(&cuda, &small);
    as_the_cpu::<Hamming<f64>>(&cuda, &small);
}

#[test]
#[ignore = "needs a GPU"]
fn large_ones_have_them_too() {
    let cuda = cuda();
    let large = large_pairs();
    as_the_cpu::<MaxUneven<f64>>(&cuda, &large);
    as_the_cpu::<SumUneven<i64>>(&cuda, &large);
    as_the_cpu::<WidestGap>(&cuda, &large);
}

#[test]
#[ignore = "needs a GPU"]
fn sums_that_are_exact_have_the_bits_of_the_definition() {
    let cuda = cuda();
    for (round, (a, b)) in small().iter().enumerate() {
        let (a, b): (Csr<f64>, Csr<f64>) = (exact(a, round as u64), exact(b, !round as u64));
        let want = definition(Manhattan::<f64>::default(), &a, &b);
        in_every_way::<Manhattan<f64>>(&cuda, &a, &b, &want, same);
        let (a, b) = (with_zeros(&a, 3, round as u64), with_zeros(&b, 4, round as u64 + 100));
        in_every_way::<Manhattan<f64>>(&cuda, &a, &b, &want, same);
        let float = |a: &Csr<f64>| a.map(|&x| x as f32).expect("memory");
        let want = definition(SumUneven::<f32>::default(), &float(&a), &float(&b));
        in_every_way::<SumUneven<f32>>(&cuda, &float(&a), &float(&b), &want, same);
    }
}

/// Values between −1 and 1, whose sums round.
fn rounded(p: &AnyPattern, seed: u64) -> Csr<f64> {
    let (pattern, mut rng) = (p.pattern(), Rng(seed));
    let values = (0..pattern.nnz()).map(|_| (rng.next() >> 11) as f64 * 2f64.powi(-52) - 1.0).collect();
    Csr::with_pattern(pattern, values).expect("one value per entry")
}

#[test]
#[ignore = "needs a GPU"]
fn rounded_sums_are_near_and_the_same_in_every_run() {
    let cuda = cuda();
    for (round, pair) in small().iter().chain(&large_pairs()).enumerate() {
        let (a, b) = (rounded(&pair.0, round as u64), rounded(&pair.1, !round as u64));
        let want = Cpu::new().union_mxm(Manhattan::<f64>::default(), &a, &b).expect("memory");
        // Sums of n numbers of one sign in any order: at most n roundings.
        let bound = 2.0 * (a.ncols() + 2) as f64 * f64::EPSILON;
        let near = |what: &str, found: &Dense<f64>, want: &Dense<f64>| {
            let far = |(x, y): (&f64, &f64)| (x - y).abs() > bound * y.abs();
            match found.values().iter().zip(want.values()).position(far) {
                None => Ok(()),
                Some(p) => Err(format!("{what}: {p} is {}, expected {}", found.values()[p], want.values()[p])),
            }
        };
        in_every_way::<Manhattan<f64>>(&cuda, &a, &b, &want, near);
        let (on_a, on_b) = (cuda.upload(&a).unwrap(), cuda.upload(&b).unwrap());
        for kind in STRATEGIES {
            let run = || {
                let c = if_it_fits(kind, union_mxm_with(&cuda, Manhattan::<f64>::default(), &on_a, &on_b, kind))?;
                Some(cuda.download_dense(&c).expect("download"))
            };
            if let (Some(x), Some(y), Some(z)) = (run(), run(), run()) {
                same("again", &x, &y).unwrap();
                same("again", &x, &z).unwrap();
            }
        }
    }
}

/// A row of 100,000 entries takes some twenty parts; one such row is shuffled, and it is used on either side.
#[test]
#[ignore = "needs a GPU"]
fn rows_longer_than_any_table_come_in_parts() {
    let cuda = cuda();
    let mut rng = Rng(3);
    let ncols = 250_000;
    let mut pattern = |nrows: usize, huge: usize, shuffle: u64| {
        let mut rows: Vec<Vec<u32>> = (0..nrows)
            .map(|i| (0..if i == huge { 160_000 } else { rng.below(300) }).map(|_| rng.below(ncols) as u32).collect())
            .collect();
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
        }
        rows[huge].truncate(100_000);
        // The first and the last column belong to the first and the last part.
        rows[0] = vec![0, ncols as u32 - 1];
        AnyPattern { ncols, rows, shuffle }
    };
    for (shuffle_a, shuffle_b) in [(0, 0), (7, 8)] {
        let pair = (pattern(9, 4, shuffle_a), pattern(35, 30, shuffle_b));
        as_the_cpu::<SumUneven<i64>>(&cuda, std::slice::from_ref(&pair));
        as_the_cpu::<Chebyshev<f64>>(&cuda, std::slice::from_ref(&pair));
        let (a, b) = draw::<SumUneven<i64>>(&pair, 1);
        let (x, y) = (cuda.upload(&a).unwrap(), cuda.upload(&b).unwrap());
        let (stats, kind, why) = union_choice(&cuda, SumUneven::<i64>::default(), &x, &y).unwrap();
        assert_eq!((stats.columns, stats.longest_row, stats.value_bytes), (ncols, 100_000, 8));
        assert_eq!((kind, why), choose_union(&stats));
        assert!(kind == UnionStrategy::Hash && why.contains("parts"), "{why}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn vectors_are_rows() {
    let cuda = cuda();
    let mut rng = Rng(5);
    for (round, (a, b)) in small().iter().chain(&large_pairs()).enumerate() {
        let a: Csr<i64> = a.matrix(round as u64);
        for row in [0, 1, b.nrows().saturating_sub(2)].into_iter().filter(|&j| j < b.nrows()) {
            let columns = b.rows[row].clone();
            let values = columns.iter().map(|_| i64::draw(&mut rng)).collect();
            let x = SparseVec::new(b.ncols, columns, values).unwrap();
            let want = Cpu::new().union_spmv(SumUneven::<i64>::default(), &a, &x.clone().try_into().unwrap()).unwrap();
            let (on_a, on_x) = (cuda.upload(&a).unwrap(), cuda.upload_list(&x).unwrap());
            let y = cuda.union_spmv(SumUneven::<i64>::default(), &on_a, &on_x).unwrap();
            assert_eq!(
                Some(&cuda.download_full(&y, 0).unwrap()[..]),
                want.as_full(),
                "{:?}, x of {} entries",
                a.shape(),
                x.nnz()
            );
        }
    }
}

/// ⊕ over the common columns of both rows; the identity where there are none.
fn common_columns<R: Semiring>(ring: R, a: &Csr<Lhs<R>>, b: &Csr<Rhs<R>>) -> Dense<Out<R>> {
    let mut c = vec![];
    for i in 0..a.nrows() {
        for j in 0..b.nrows() {
            let (columns, values) = a.row(i);
            let products = columns.iter().zip(values).filter_map(|(&k, &x)| {
                let at = At { i: V(i as u64), k: V(u64::from(k)), j: V(j as u64) };
                b.get(j, k as usize).map(|&y| ring.mul().mul::<Host>(V(x), V(y), at).0)
            });
            c.push(reference::fold(ring.add(), products));
        }
    }
    Dense::new(a.nrows(), b.nrows(), c).expect("m·n values")
}

fn in_one_pass<R: Semiring + Default>(cuda: &Cuda, pairs: &[Pair])
where
    Lhs<R>: Draw,
    Rhs<R>: Draw,
    Out<R>: Same,
{
    for (round, pair) in pairs.iter().enumerate() {
        let (a, b): (Csr<Lhs<R>>, Csr<Rhs<R>>) = (pair.0.matrix(round as u64), pair.1.matrix(!round as u64));
        let want = common_columns(R::default(), &a, &b);
        let (x, y) = (cuda.upload(&a).unwrap(), cuda.upload(&b).unwrap());
        for kind in [None, Some(UnionStrategy::Dense), Some(UnionStrategy::Hash)] {
            let c = row_products_with(cuda, R::default(), &x, &y, kind);
            let Some(c) = if_it_fits(kind.unwrap_or(UnionStrategy::Hash), c) else { continue };
            let what = format!("{kind:?}, {:?} and {:?}", a.shape(), b.shape());
            same(&what, &cuda.download_dense(&c).unwrap(), &want).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn one_pass_visits_common_columns_and_stored_zeros() {
    let cuda = cuda();
    let small = small();
    in_one_pass::<PlusTimes<i64>>(&cuda, &small);
    in_one_pass::<MinPlus<i64>>(&cuda, &small);
    in_one_pass::<MostUneven<i64>>(&cuda, &small);
    in_one_pass::<LorLand>(&cuda, &small);
    in_one_pass::<PlusPair<u64>>(&cuda, &small);
    in_one_pass::<SumPlaces>(&cuda, &small);
    in_one_pass::<CountPaths>(&cuda, &small);
    let large = large_pairs();
    in_one_pass::<PlusTimes<i64>>(&cuda, &large[..4]);
    in_one_pass::<CountPaths>(&cuda, &large[6..]);
}

#[test]
#[ignore = "needs a GPU"]
fn matrices_without_rows_or_columns_have_results() {
    let cuda = cuda();
    for (m, n, k) in [(0, 0, 0), (0, 3, 2), (3, 0, 2), (3, 2, 0), (2, 3, 4)] {
        let (a, b) = (Csr::<f64>::empty(m, k).unwrap(), Csr::<f64>::empty(n, k).unwrap());
        let want = Dense::filled(m, n, 0.0).unwrap();
        in_every_way::<Manhattan<f64>>(&cuda, &a, &b, &want, same);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn what_does_not_fit_is_refused_with_the_numbers() {
    let cuda = cuda();
    let namm = Manhattan::<f64>::default();
    let up = |m, n| cuda.upload(&Csr::<f64>::empty(m, n).unwrap()).unwrap();
    let e = cuda.union_mxm(namm, &up(2, 3), &up(4, 5)).unwrap_err().to_string();
    assert_eq!(e, "union_mxm: shapes do not agree: lhs is 2×3, rhs is 4×5");
    let x = cuda.upload_list(&SparseVec::<f64>::new(4, vec![], vec![]).unwrap()).unwrap();
    let e = cuda.union_spmv(namm, &up(2, 3), &x).unwrap_err().to_string();
    assert_eq!(e, "union_spmv: shapes do not agree: lhs is 2×3, rhs is 4×1");
    let wide = up(2, 1 << 20);
    let e = union_mxm_with(&cuda, namm, &wide, &wide, UnionStrategy::Dense).unwrap_err().to_string();
    assert!(e.starts_with("UnionStrategy::Dense is not supported: 1048576 columns need 8388608 bytes"), "{e}");
    // 8 TiB of results.
    let tall = up(1 << 20, 3);
    let e = cuda.union_mxm(namm, &tall, &tall).unwrap_err();
    assert!(matches!(e, Error::DeviceMemory { bytes, .. } if bytes >= 8 << 40), "{e}");
    assert!(e.to_string().contains("are needed for the result of a union product"), "{e}");
}

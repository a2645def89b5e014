//! Sparse matrix–vector and sparse–dense matrix products on the GPU, compared with their definitions.

mod common;

use std::sync::Arc;

use common::arbitrary::{AnyPattern, Draw, Rng};
use common::gpu::cuda;
use common::rings::SumPlaces;
use sparring::algebra::*;
use sparring::backend::{Backend, Container, Kernels};
use sparring::gpu::DeviceVector;
use sparring::gpu::testing::{self, SpmvKind};
use sparring::sparse::{Dense, SparseVec};
use sparring::{Csr, Cuda, Error, Pattern, Vector};

sparring::value! {
    /// A value and its index.
    pub struct Best {
        /// The value.
        pub value: f64,
        /// Its index.
        pub index: u32,
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
    /// a · b, and its contraction index.
    pub TimesAndWhere (a: f64, b: f64) at (i, k, j) -> Best { Best::of(a * b, k.index_as()) }
}
sparring::value! {
    /// 16 bytes.
    pub struct Two {
        /// One.
        pub a: i64,
        /// The other.
        pub b: i64,
    }
}
sparring::value! {
    /// 32 bytes.
    pub struct Four {
        /// Two.
        pub x: Two,
        /// And two.
        pub y: Two,
    }
}
sparring::op! {
    /// Componentwise sums.
    pub SumOfTwo (a: Two, b: Two) -> Two { Two::of(Two::a(a) + Two::a(b), Two::b(a) + Two::b(b)) }
    identity Two { a: 0, b: 0 }
}
sparring::op! {
    /// Componentwise sums.
    pub Sums (a: Four, b: Four) -> Four {
        Four::of(SumOfTwo::new().apply(Four::x(a), Four::x(b)), SumOfTwo::new().apply(Four::y(a), Four::y(b)))
    } identity Four { x: SumOfTwo::IDENTITY, y: SumOfTwo::IDENTITY }
}
sparring::op! {
    /// All components times a small number.
    pub Scaled (a: Four, b: i8) -> Four {{
        let (x, y, b) = (Four::x(a), Four::y(a), b.cast::<i64>());
        Four::of(Two::of(Two::a(x) * b, Two::b(x) * b), Two::of(Two::a(y) * b, Two::b(y) * b))
    }}
}

/// Small integers: their sums are exact in any order.
trait Whole: Value {
    fn whole(rng: &mut Rng) -> Self;
}
macro_rules! whole {
    ($($t:ty)*) => {$(impl Whole for $t {
        fn whole(rng: &mut Rng) -> Self { rng.below(17) as $t - 8 as $t }
    })*};
}
whole! { f32 f64 i64 i8 }
impl Whole for u64 {
    fn whole(rng: &mut Rng) -> Self {
        rng.next()
    }
}
impl Whole for bool {
    fn whole(rng: &mut Rng) -> Self {
        rng.below(3) == 0
    }
}
impl Whole for Four {
    fn whole(rng: &mut Rng) -> Self {
        let mut two = || Two { a: rng.next() as i64, b: rng.next() as i64 };
        Four { x: two(), y: two() }
    }
}

/// All NaNs are equal; all else is compared bitwise, through text that distinguishes all values.
fn same<T: Value>(x: &T, y: &T) -> bool {
    format!("{x:?}") == format!("{y:?}")
}

fn with_values<T: Value>(pattern: &Arc<Pattern>, mut value: impl FnMut() -> T) -> Csr<T> {
    let values = (0..pattern.nnz()).map(|_| value()).collect();
    Csr::with_pattern(Arc::clone(pattern), values).unwrap()
}

fn product<R: Semiring>(ring: R, a: Lhs<R>, b: Rhs<R>, (i, k, j): (usize, usize, usize)) -> Out<R> {
    ring.mul().mul::<Host>(V(a), V(b), At { i: V(i as u64), k: V(k as u64), j: V(j as u64) }).0
}
fn plus<R: Semiring>(ring: R, x: Out<R>, y: Out<R>) -> Out<R> {
    ring.add().apply::<Host>(V(x), V(y)).0
}
fn identity<R: Semiring>() -> Out<R> {
    <R::Add as Monoid>::IDENTITY
}
fn row<T>(a: &Csr<T>, i: usize) -> impl Iterator<Item = (usize, &T)> {
    let range = a.row_ptr()[i]..a.row_ptr()[i + 1];
    a.col_idx()[range.clone()].iter().map(|&k| k as usize).zip(&a.values()[range])
}

fn mxv<R: Semiring>(ring: R, a: &Csr<Lhs<R>>, x: &[Rhs<R>], mask: Option<(&[bool], bool)>) -> Vec<Out<R>> {
    let wanted = |i: usize| mask.is_none_or(|(m, complement)| m[i] != complement);
    let fold = |i| row(a, i).fold(identity::<R>(), |y, (k, &v)| plus(ring, y, product(ring, v, x[k], (i, k, 0))));
    (0..a.nrows()).map(|i| if wanted(i) { fold(i) } else { identity::<R>() }).collect()
}

const KINDS: [SpmvKind; 7] = [
    SpmvKind::Rows { lanes: 1 },
    SpmvKind::Rows { lanes: 2 },
    SpmvKind::Rows { lanes: 4 },
    SpmvKind::Rows { lanes: 8 },
    SpmvKind::Rows { lanes: 16 },
    SpmvKind::Rows { lanes: 32 },
    SpmvKind::Merge,
];

fn put<T: Value>(cuda: &Cuda, values: &[T]) -> DeviceVector<T> {
    cuda.upload_full(values).unwrap()
}

/// Compares `mxv` under each of `kinds`, and the chain with the automatic choice, unmasked and under two masks, with
/// the definition.
fn check_mxv<R: Semiring>(
    cuda: &Cuda,
    ring: R,
    kinds: &[SpmvKind],
    a: &Csr<Lhs<R>>,
    x: &[Rhs<R>],
    same: impl Fn(&Out<R>, &Out<R>) -> bool,
) {
    let mut rng = Rng(a.nnz() as u64);
    let mask: Vec<bool> = (0..a.nrows()).map(|_| rng.below(3) > 0).collect();
    let (da, dx, dm) = (cuda.upload(a).unwrap(), put(cuda, x), put(cuda, &mask));
    for (mask, dmask) in
        [(None, None), (Some((&mask[..], false)), Some((&dm, false))), (Some((&mask[..], true)), Some((&dm, true)))]
    {
        let want = mxv(ring, a, x, mask);
        for &kind in kinds {
            // Old contents of y must not show.
            let stale: Vec<Out<R>> = want.iter().rev().copied().collect();
            let mut y = put(cuda, &stale);
            testing::mxv_into(cuda, Some(kind), ring, &da, &dx, dmask, &mut y).unwrap();
            let found = cuda.download_full(&y, identity::<R>()).unwrap();
            for (i, (f, w)) in found.iter().zip(&want).enumerate() {
                assert!(
                    same(f, w),
                    "{kind:?}, {}, {:?}, {} entries, mask {:?}: y[{i}] is {f:?}, expected {w:?}",
                    std::any::type_name::<R>(),
                    a.shape(),
                    a.nnz(),
                    mask.map(|m| m.1)
                );
            }
            let mut again = put(cuda, &stale);
            testing::mxv_into(cuda, Some(kind), ring, &da, &dx, dmask, &mut again).unwrap();
            let again = cuda.download_full(&again, identity::<R>()).unwrap();
            assert!(found.iter().zip(&again).all(|(f, g)| self::same(f, g)), "{kind:?}: two runs differ");
        }
    }
}

fn pattern(ncols: usize, rows: &[Vec<u32>]) -> Arc<Pattern> {
    AnyPattern { ncols, rows: rows.to_vec(), shuffle: 0 }.pattern()
}

/// Random small patterns, then those critical for merge-based splitting: long rows, runs of empty rows, boundaries at
/// the end of a tile.
fn patterns() -> Vec<Arc<Pattern>> {
    let mut rng = Rng(7);
    let mut all = vec![];
    for _ in 0..40 {
        let (m, n) = (rng.pick(&[0, 1, 5, 31, 33, 100, 300]), rng.pick(&[0, 1, 7, 64, 65, 400]));
        let mut p = AnyPattern::of_shape(&mut rng, m, n);
        if rng.below(3) == 0 {
            p.shuffle = rng.next() | 1;
        }
        all.push(p.pattern());
    }
    let n = 70_000;
    let full = |len: u32| (0..len).collect::<Vec<u32>>();
    // One row over 78 tiles; one over 33, among empty rows; two long rows that share a tile.
    all.push(pattern(n, &[full(n as u32)]));
    let mut rows = vec![vec![]; 5000];
    rows[2500] = full(30_000);
    all.push(pattern(n, &rows));
    all.push(pattern(n, &[full(3000), full(5000), vec![], full(1), full(2000)]));
    // Row ends only; rows that end, with their row end, at or beside a tile boundary (896 items).
    all.push(pattern(n, &vec![vec![]; 3000]));
    for len in [894, 895, 896, 897, 1790, 1791, 1792, 1793] {
        all.push(pattern(n, &[full(len), full(len), full(len), vec![], full(3)]));
    }
    // Rows of every length from 0 to 150.
    all.push(pattern(n, &(0..150).map(full).collect::<Vec<_>>()));
    // A few thousand rows with a heavy tail.
    let mut rows = vec![vec![]; 4000];
    for row in &mut rows {
        let len = rng.pick(&[0, 0, 1, 2, 3, 8, 20]) * rng.pick(&[1, 1, 1, 1, 1, 1, 100]);
        row.extend((0..len).map(|_| rng.below(n) as u32));
        row.sort_unstable();
        row.dedup();
    }
    all.push(pattern(n, &rows));
    all
}

fn whole_mxv<R: Semiring>(cuda: &Cuda, ring: R, patterns: &[Arc<Pattern>])
where
    Lhs<R>: Whole,
    Rhs<R>: Whole,
{
    for p in patterns {
        let mut rng = Rng(p.nnz() as u64 + 1);
        let x: Vec<_> = (0..p.ncols()).map(|_| Whole::whole(&mut rng)).collect();
        // Sums may differ in the sign of zero: leaves of the tree may be −0 or 0.
        check_mxv(cuda, ring, &KINDS, &with_values(p, || Whole::whole(&mut rng)), &x, |f, w| f == w || same(f, w));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn mxv_is_the_definition_where_folds_are_exact() {
    let cuda = cuda();
    let patterns = patterns();
    whole_mxv(&cuda, PlusTimes::<f64>::default(), &patterns);
    whole_mxv(&cuda, PlusTimes::<f32>::default(), &patterns);
    whole_mxv(&cuda, PlusTimes::<i64>::default(), &patterns);
    whole_mxv(&cuda, MinPlus::<f64>::default(), &patterns);
    whole_mxv(&cuda, LorLand::<bool>::default(), &patterns);
    whole_mxv(&cuda, PlusPair::<i64>::default(), &patterns);
    whole_mxv(&cuda, MinSecondI::<f64>::default(), &patterns);
    whole_mxv(&cuda, SumPlaces::default(), &patterns);
    whole_mxv(&cuda, Ring(ArgMin::new(), TimesAndWhere::new()), &patterns);
    whole_mxv(&cuda, Ring(Sums::new(), Scaled::new()), &patterns);
}

#[test]
#[ignore = "needs a GPU"]
fn one_lane_has_the_bits_of_the_fold() {
    let cuda = cuda();
    for p in patterns() {
        let mut rng = Rng(p.nnz() as u64 + 2);
        let x: Vec<f64> = (0..p.ncols()).map(|_| f64::draw(&mut rng)).collect();
        let a = with_values(&p, || f64::draw(&mut rng));
        check_mxv(&cuda, PlusTimes::<f64>::default(), &KINDS[..1], &a, &x, same);
        check_mxv(&cuda, MinPlus::<f64>::default(), &KINDS[..1], &a, &x, same);
        // Min skips NaN in any order; only the sign of a zero depends on the order.
        check_mxv(&cuda, MinPlus::<f64>::default(), &KINDS, &a, &x, |f, w| f == w || same(f, w));
        // The last value folded: parts in order, empty parts skipped.
        let ordered = [KINDS[0], SpmvKind::Merge];
        check_mxv(&cuda, AnySecondI::<f64>::default(), &ordered, &a, &x, same);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn rounded_sums_are_near_and_the_choice_is_one_of_the_kinds() {
    let cuda = cuda();
    for p in patterns() {
        let mut rng = Rng(p.nnz() as u64 + 3);
        let mut unit = || (rng.next() >> 11) as f64 / (1u64 << 53) as f64;
        let x: Vec<f64> = (0..p.ncols()).map(|_| unit()).collect();
        let a = with_values(&p, unit);
        let near = |f: &f64, w: &f64| (f - w).abs() <= 1e-10 * w.abs();
        check_mxv(&cuda, PlusTimes::<f64>::default(), &KINDS, &a, &x, near);
        let device = cuda.upload(&a).unwrap();
        let (stats, kind, _) = testing::mxv_choice(&cuda, device.pattern()).unwrap();
        let longest = (0..a.nrows()).map(|i| row(&a, i).count()).max().unwrap_or(0);
        assert_eq!((stats.nrows, stats.nnz, stats.longest_row), (a.nrows(), a.nnz(), longest));
        assert!(KINDS.contains(&kind));
        let y = cuda.mxv(PlusTimes::<f64>::default(), &device, &put(&cuda, &x)).eval().unwrap();
        let want = mxv(PlusTimes::<f64>::default(), &a, &x, None);
        let found = cuda.download_vector(&y).unwrap();
        for (i, w) in want.iter().enumerate() {
            assert_eq!(found.get(i).is_some(), row(&a, i).count() > 0, "row {i}");
            assert!(found.get(i).is_none_or(|f| near(f, w)), "row {i}");
        }
    }
}

/// The definition: x's entries in order, a dense table of columns.
fn vxm<R: Semiring>(
    ring: R,
    x: &SparseVec<Lhs<R>>,
    a: &Csr<Rhs<R>>,
    mask: Option<(&[bool], bool)>,
) -> (Vec<u32>, Vec<Out<R>>) {
    let mut y = std::collections::BTreeMap::new();
    for (k, &v) in x.iter() {
        for (j, &w) in row(a, k) {
            if mask.is_none_or(|(m, complement)| m[j] != complement) {
                let sum = y.entry(j as u32).or_insert(identity::<R>());
                *sum = plus(ring, *sum, product(ring, v, w, (0, k, j)));
            }
        }
    }
    y.into_iter().unzip()
}

fn check_vxm<R: Semiring>(
    cuda: &Cuda,
    ring: R,
    p: &Arc<Pattern>,
    left: impl Fn(&mut Rng) -> Lhs<R>,
    right: impl Fn(&mut Rng) -> Rhs<R>,
) {
    let mut rng = Rng(p.nnz() as u64 + 4);
    let a = with_values(p, || right(&mut rng));
    let da = cuda.upload(&a).unwrap();
    let mask: Vec<bool> = (0..a.ncols()).map(|_| rng.below(3) > 0).collect();
    let dm = put(cuda, &mask);
    // Every row, half of them, a few, none.
    for keep in [1, 2, 10, usize::MAX] {
        let indices: Vec<u32> = (0..a.nrows() as u32).filter(|_| keep < usize::MAX && rng.below(keep) == 0).collect();
        let values = indices.iter().map(|_| left(&mut rng)).collect();
        let x = SparseVec::new(a.nrows(), indices, values).unwrap();
        let list = cuda.upload_list(&x).unwrap();
        let mut forms = vec![cuda.to_bitmap(&list).unwrap()];
        if let Some(&any) = x.values().first()
            && x.nnz() == x.len()
        {
            forms.push(cuda.to_full(&list, any).unwrap());
        }
        forms.push(list);
        for (mask, dmask) in
            [(None, None), (Some((&mask[..], false)), Some((&dm, false))), (Some((&mask[..], true)), Some((&dm, true)))]
        {
            let want = vxm(ring, &x, &a, mask);
            for dx in &forms {
                let product = cuda.vxm(ring, dx, &da);
                let y = match dmask {
                    None => product.eval(),
                    Some((m, false)) => product.mask(m).eval(),
                    Some((m, true)) => product.mask(m).complement().eval(),
                };
                let y = y.unwrap();
                assert_eq!(y.len(), a.ncols());
                expect_list(cuda, &y, &want, std::any::type_name::<R>());
            }
        }
    }
}

fn expect_list<T: Value>(cuda: &Cuda, y: &DeviceVector<T>, (indices, values): &(Vec<u32>, Vec<T>), what: &str) {
    assert_eq!(cuda.nnz(y).unwrap(), indices.len(), "{what}");
    let y = cuda.download_list::<_, u32>(y).unwrap();
    assert_eq!(y.indices(), indices, "{what}");
    for (j, (f, w)) in indices.iter().zip(y.values().iter().zip(values)) {
        assert!(same(f, w), "{what}: y[{j}] is {f:?}, expected {w:?}");
    }
}

/// Lists of `entries` rows of a pattern with `rows`, under every form of mask, at the limits of one block (2048
/// entries, 16,384 products, 4096 allowed by the mask) and one above each.
#[test]
#[ignore = "needs a GPU"]
fn vxm_is_the_fold_at_the_limits_of_a_block() {
    let cuda = cuda();
    let mut rng = Rng(7);
    // Entries, row length, columns: a row's columns are spread over all, or all rows share the same few.
    let cases = [
        (2048, 8, 300),
        (2049, 8, 300),
        (2048, 2, 4_000_000_000),
        (2049, 2, 4_000_000_000),
        (2048, 2, 2),
        (1, 4096, 5000),
        (1, 4097, 5000),
        (1, 513, 513),
        (4, 4096, 4096),
        (4, 4097, 4097),
        (16, 256, 40_000),
        (17, 241, 40_000),
        (1, 1, 1),
        (700, 0, 9),
    ];
    for (entries, length, ncols) in cases {
        // x omits every second row, and some of its rows are empty.
        let row = |rng: &mut Rng, i: usize| -> Vec<u32> {
            let shift = rng.below(ncols - length + 1);
            let spread = if i.is_multiple_of(4) { 1 } else { (ncols / length.max(1)).max(1) };
            let at = |k: usize| if spread == 1 { shift + k } else { k * spread };
            (0..length).map(|k| at(k) as u32).collect()
        };
        let rows: Vec<Vec<u32>> = (0..2 * entries).map(|i| row(&mut rng, i)).collect();
        let p = pattern(ncols, &rows);
        let a = with_values(&p, || f64::draw(&mut rng));
        let da = cuda.upload(&a).unwrap();
        let indices: Vec<u32> = (0..entries as u32).map(|i| 2 * i + u32::from(rng.below(2) == 0)).collect();
        let values = indices.iter().map(|_| f64::draw(&mut rng)).collect();
        let x = SparseVec::new(2 * entries, indices, values).unwrap();
        let dx = cuda.upload_list(&x).unwrap();
        let ring = PlusTimes::<f64>::default();
        let what = format!("{entries} entries, {length} in a row, {ncols} columns");
        let none = cuda.vxm(ring, &dx, &da).eval().unwrap();
        expect_list(&cuda, &none, &vxm(ring, &x, &a, None), &what);
        if ncols > 1_000_000 {
            continue;
        }
        for of in [1, 2, 4, 50, usize::MAX] {
            let places: Vec<u32> = (0..ncols as u32).filter(|_| of < usize::MAX && rng.below(of) == 0).collect();
            let mut bits = vec![false; ncols];
            places.iter().for_each(|&j| bits[j as usize] = true);
            let count = places.len();
            let list = cuda.upload_list(&SparseVec::new(ncols, places, vec![0u8; count]).unwrap()).unwrap();
            let mut masks = vec![cuda.to_bitmap(&list).unwrap()];
            if count == ncols {
                masks.push(cuda.to_full(&list, 0).unwrap());
            }
            masks.push(list);
            for m in &masks {
                let what = format!("{what}, a mask of {count}");
                let kept = cuda.vxm(ring, &dx, &da).mask(m.structure()).eval().unwrap();
                expect_list(&cuda, &kept, &vxm(ring, &x, &a, Some((&bits, false))), &what);
                let rest = cuda.vxm(ring, &dx, &da).mask(!m.structure()).eval().unwrap();
                expect_list(&cuda, &rest, &vxm(ring, &x, &a, Some((&bits, true))), &what);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn vxm_has_the_bits_of_the_fold() {
    let cuda = cuda();
    let mut rng = Rng(99);
    let mut patterns = patterns();
    // Many rows that share columns: long folds, several tiles of the sort, keys of two and three bytes.
    for ncols in [3, 300, 70_000, 20_000_000] {
        let mut rows = vec![vec![]; 3000];
        for row in &mut rows {
            row.extend(
                (0..rng.below(20)).map(|_| (rng.below(ncols) as u64 * rng.below(3) as u64 % ncols as u64) as u32),
            );
            row.sort_unstable();
            row.dedup();
        }
        patterns.push(pattern(ncols, &rows));
    }
    for p in &patterns {
        check_vxm(&cuda, PlusTimes::<f64>::default(), p, f64::draw, f64::draw);
        check_vxm(&cuda, MinPlus::<f64>::default(), p, f64::draw, f64::draw);
        check_vxm(&cuda, PlusTimes::<f32>::default(), p, f32::whole, f32::whole);
        check_vxm(&cuda, PlusTimes::<i64>::default(), p, i64::draw, i64::draw);
        check_vxm(&cuda, LorLand::<bool>::default(), p, bool::draw, bool::draw);
        check_vxm(&cuda, PlusPair::<i64>::default(), p, i64::draw, i64::draw);
        check_vxm(&cuda, AnySecondI::<f64>::default(), p, f64::draw, f64::draw);
        check_vxm(&cuda, SumPlaces::default(), p, f64::draw, f64::draw);
        check_vxm(&cuda, Ring(ArgMin::new(), TimesAndWhere::new()), p, f64::whole, f64::whole);
        check_vxm(&cuda, Ring(Sums::new(), Scaled::new()), p, Four::whole, i8::whole);
    }
}

fn check_spmm<R: Semiring>(
    cuda: &Cuda,
    ring: R,
    p: &Arc<Pattern>,
    n: usize,
    left: impl Fn(&mut Rng) -> Lhs<R>,
    right: impl Fn(&mut Rng) -> Rhs<R>,
) {
    let mut rng = Rng(p.nnz() as u64 + 5);
    let a = with_values(p, || left(&mut rng));
    let x = Dense::new(a.ncols(), n, (0..a.ncols() * n).map(|_| right(&mut rng)).collect()).unwrap();
    let y = cuda.spmm_product(ring, &cuda.upload(&a).unwrap(), &cuda.upload_dense(&x).unwrap()).unwrap();
    let y = cuda.download_dense(&y).unwrap();
    assert_eq!(y.shape(), (a.nrows(), n));
    let of_one = (n == 1).then(|| {
        let y = cuda.mxv(ring, &cuda.upload(&a).unwrap(), &put(cuda, x.values())).eval().unwrap();
        cuda.download_full(&y, identity::<R>()).unwrap()
    });
    for i in 0..a.nrows() {
        let entries: Vec<_> = row(&a, i).collect();
        for j in 0..n {
            let add = |sum, &(k, &v): &(usize, &Lhs<R>)| plus(ring, sum, product(ring, v, x.row(k)[j], (i, k, j)));
            let parts = entries.chunks(256).map(|part| part.iter().fold(identity::<R>(), add));
            let want = match &of_one {
                Some(y) => y[i],
                None => parts.reduce(|sum, part| plus(ring, sum, part)).unwrap_or(identity::<R>()),
            };
            let found = y.row(i)[j];
            let name = std::any::type_name::<R>();
            assert!(same(&found, &want), "{name}, {n} columns: y[{i}, {j}] is {found:?}, expected {want:?}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn spmm_has_the_bits_of_the_fold() {
    let cuda = cuda();
    let mut rng = Rng(5);
    for n in [0, 1, 2, 3, 8, 12, 16, 31, 32, 33, 48, 64, 65, 130, 200] {
        for t in 0..7 {
            let (m, k) = (rng.pick(&[0, 1, 33, 70]), rng.pick(&[0, 1, 40, 200]));
            let mut p = AnyPattern::of_shape(&mut rng, m, k);
            p.shuffle = rng.pick(&[0, 11]);
            let lens = [0, 255, 3, 256, 257, 0, 511, 512, 513, 1, 1030];
            let row = |len| (0..len).map(|k| k * 1030 / len).collect::<Vec<u32>>();
            let p = if t == 6 { pattern(1030, &lens.map(row)) } else { p.pattern() };
            check_spmm(&cuda, PlusTimes::<f64>::default(), &p, n, f64::draw, f64::draw);
            check_spmm(&cuda, PlusTimes::<f32>::default(), &p, n, f32::whole, f32::whole);
            check_spmm(&cuda, MinPlus::<f64>::default(), &p, n, f64::draw, f64::draw);
            check_spmm(&cuda, PlusTimes::<i64>::default(), &p, n, i64::draw, i64::draw);
            check_spmm(&cuda, LorLand::<bool>::default(), &p, n, bool::draw, bool::draw);
            check_spmm(&cuda, SumPlaces::default(), &p, n, f64::draw, f64::draw);
            check_spmm(&cuda, AnySecondI::<f64>::default(), &p, n, f64::draw, f64::draw);
            check_spmm(&cuda, Ring(ArgMin::new(), TimesAndWhere::new()), &p, n, f64::whole, f64::whole);
            check_spmm(&cuda, Ring(Sums::new(), Scaled::new()), &p, n, Four::whole, i8::whole);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn vectors_come_back_and_wrong_sizes_are_refused() {
    let cuda = cuda();
    let x = SparseVec::<f64>::new(9, vec![2, 5, 8], vec![1.0, -0.0, f64::INFINITY]).unwrap();
    assert_eq!(cuda.download_list::<f64, u32>(&cuda.upload_list(&x).unwrap()).unwrap(), x);
    let y = Dense::new(2, 3, vec![1u8, 2, 3, 4, 5, 6]).unwrap();
    let d = cuda.upload_dense(&y).unwrap();
    assert_eq!((d.shape(), d.bytes(), cuda.download_dense(&d).unwrap()), ((2, 3), 6, y));
    let empty = put::<f64>(&cuda, &[]);
    assert!(empty.is_empty() && cuda.download_full(&empty, 0.0).unwrap().is_empty());

    let a = cuda.upload(&Csr::new(2, 3, vec![0, 1, 2], vec![0u32, 2], vec![1.0, 2.0]).unwrap()).unwrap();
    let ring = PlusTimes::<f64>::default();
    let (two, three) = (put(&cuda, &[1.0, 2.0]), put(&cuda, &[1.0, 2.0, 3.0]));
    assert!(matches!(cuda.mxv(ring, &a, &two).eval(), Err(Error::Shape { op: "mxv", .. })));
    let mask = put(&cuda, &[true]);
    assert!(matches!(cuda.mxv(ring, &a, &three).mask(&mask).eval(), Err(Error::Length { what: "mask", .. })));
    let mut y = put(&cuda, &[0.0]);
    assert!(matches!(testing::mxv_into(&cuda, None, ring, &a, &three, None, &mut y), Err(Error::Length { .. })));
    assert!(matches!(cuda.mxv(ring, &a, &three).into(&mut y), Err(Error::Shape { op: "mxv", .. })));
    let x = cuda.upload_vector(&Vector::<f64>::new(3, vec![0], vec![1.0]).unwrap()).unwrap();
    assert!(matches!(cuda.vxm(ring, &x, &a).eval(), Err(Error::Shape { op: "vxm", .. })));
    let x = cuda.upload_dense(&Dense::new(2, 1, vec![1.0, 2.0]).unwrap()).unwrap();
    assert!(matches!(cuda.spmm_product(ring, &a, &x), Err(Error::Shape { op: "spmm", .. })));
}

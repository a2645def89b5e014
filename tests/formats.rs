//! Formats compared with a plain map of entries, for several numbers of threads.

use std::collections::BTreeMap;

use quickcheck::{Arbitrary, Gen, quickcheck};
use sparring::algebra::{Max, Min, Plus};
use sparring::par::Threads;
use sparring::sparse::{BitCounts, BitRows, BitmapVec, Builder, Dense, HyperCsr, SparseVec, Word};
use sparring::{Coo, Csr, Error, Index, Pattern};

type Map = BTreeMap<(usize, usize), f64>;

/// Entries of a small matrix: stored zeros, duplicates, empty rows, no rows, no columns, one huge row.
#[derive(Clone, Debug)]
struct AnyEntries {
    nrows: usize,
    ncols: usize,
    list: Vec<(usize, usize, f64)>,
}

impl Arbitrary for AnyEntries {
    fn arbitrary(g: &mut Gen) -> Self {
        let (nrows, ncols) = (usize::arbitrary(g) % 40, usize::arbitrary(g) % 70);
        let len = if nrows * ncols == 0 { 0 } else { usize::arbitrary(g) % (4 * g.size()) };
        let one_row = bool::arbitrary(g).then(|| usize::arbitrary(g) % nrows.max(1));
        let list = (0..len)
            .map(|_| {
                let i = one_row.filter(|_| u8::arbitrary(g) % 8 > 0).unwrap_or(usize::arbitrary(g) % nrows);
                // Sums of such values depend on the order of the terms.
                let x = [0.0, -0.0, 1.0, 1e16, -1e16, 0.1][usize::arbitrary(g) % 6];
                (i, usize::arbitrary(g) % ncols, x)
            })
            .collect();
        Self { nrows, ncols, list }
    }
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let (nrows, ncols) = (self.nrows, self.ncols);
        Box::new((0..self.list.len()).map({
            let list = self.list.clone();
            move |skip| {
                let mut list = list.clone();
                list.remove(skip);
                Self { nrows, ncols, list }
            }
        }))
    }
}

impl AnyEntries {
    /// The same entries in a square matrix.
    fn square(mut self) -> Self {
        self.nrows = self.nrows.max(self.ncols);
        self.ncols = self.nrows;
        self
    }
    fn coo<I: Index>(&self) -> Coo<f64, I> {
        let index = |i: usize| I::new(i).unwrap();
        Coo::new(
            self.nrows,
            self.ncols,
            self.list.iter().map(|e| index(e.0)).collect(),
            self.list.iter().map(|e| index(e.1)).collect(),
            self.list.iter().map(|e| e.2).collect(),
        )
        .unwrap()
    }
    fn map(&self, fold: impl Fn(f64, f64) -> f64) -> Map {
        let mut map = Map::new();
        for &(i, j, x) in &self.list {
            map.entry((i, j)).and_modify(|y| *y = fold(*y, x)).or_insert(x);
        }
        map
    }
    /// The matrix with sorted rows; the last duplicate wins.
    fn csr<I: Index>(&self) -> Csr<f64, I> {
        from_map(self.nrows, self.ncols, &self.map(|_, y| y))
    }
    /// The same matrix, each row's entries ordered by their last occurrence, from the back.
    fn unsorted_csr<I: Index>(&self) -> Csr<f64, I> {
        let map = self.map(|_, y| y);
        let (mut row_ptr, mut cols, mut values) = (vec![0], vec![], vec![]);
        for i in 0..self.nrows {
            let mut row: Vec<usize> = vec![];
            for e in self.list.iter().rev().filter(|e| e.0 == i) {
                if !row.contains(&e.1) {
                    row.push(e.1);
                }
            }
            values.extend(row.iter().map(|&j| map[&(i, j)]));
            cols.extend(row.into_iter().map(|j| I::new(j).unwrap()));
            row_ptr.push(cols.len());
        }
        Csr::from_unsorted(self.nrows, self.ncols, row_ptr, cols, values).unwrap()
    }
}

fn from_map<I: Index>(nrows: usize, ncols: usize, map: &Map) -> Csr<f64, I> {
    let mut row_ptr = vec![0; nrows + 1];
    for &(i, _) in map.keys() {
        row_ptr[i + 1..].iter_mut().for_each(|p| *p += 1);
    }
    let cols = map.keys().map(|k| I::new(k.1).unwrap()).collect();
    Csr::new(nrows, ncols, row_ptr, cols, map.values().copied().collect()).unwrap()
}

fn to_map<I: Index>(a: &Csr<f64, I>) -> Map {
    a.iter().map(|(i, j, &x)| ((i, j), x)).collect()
}

/// Equal structure, and equal bits of every value.
fn same<I: Index>(a: &Csr<f64, I>, b: &Csr<f64, I>) -> bool {
    let bits = |c: &Csr<f64, I>| c.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    a.pattern() == b.pattern() && bits(a) == bits(b)
}

fn pools() -> &'static [Threads] {
    static POOLS: std::sync::OnceLock<Vec<Threads>> = std::sync::OnceLock::new();
    POOLS.get_or_init(|| [1, 2, 3, 8].map(|n| Threads::new(n).unwrap()).into())
}

/// A matrix large enough to be split among threads: skewed rows, duplicates, one row with a third of all entries.
fn big(nrows: usize, ncols: usize, len: usize) -> AnyEntries {
    let mut state = 1u64;
    let mut next = |bound: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) as usize * bound) >> 31
    };
    let list = (0..len)
        .map(|e| {
            let i = if e % 3 == 0 { nrows / 3 } else { next(nrows) * next(nrows) / nrows };
            (i, next(ncols), [0.1, 1e16, -1e16, 0.3][next(4)])
        })
        .collect();
    AnyEntries { nrows, ncols, list }
}

quickcheck! {
    fn coordinates_become_rows_by_the_definition(e: AnyEntries) -> bool {
        let coo = e.coo::<u32>();
        let sum = from_map(e.nrows, e.ncols, &e.map(|x, y| x + y));
        pools().iter().all(|t| {
            same(&coo.to_csr_on(t, Plus::new()).unwrap(), &sum)
                && same(&coo.to_csr_on(t, Min::new()).unwrap(), &from_map(e.nrows, e.ncols, &e.map(|x, y| if y < x { y } else { x })))
        }) && same(&e.coo::<u64>().to_csr(Plus::new()).unwrap(), &from_map(e.nrows, e.ncols, &e.map(|x, y| x + y)))
    }

    fn unique_coordinates_are_told_from_repeats(e: AnyEntries) -> bool {
        let mut seen = BTreeMap::new();
        e.list.iter().for_each(|e| *seen.entry((e.0, e.1)).or_insert(0) += 1);
        match (e.coo::<u32>().to_csr_unique(), seen.iter().find(|s| *s.1 > 1)) {
            (Ok(a), None) => same(&a, &from_map(e.nrows, e.ncols, &e.map(|_, y| y))),
            (Err(Error::Duplicate { row, column }), Some((&place, _))) => (row, column) == place,
            _ => false,
        }
    }

    fn transpose_swaps_indices(e: AnyEntries) -> bool {
        let a = e.csr::<u32>();
        let flipped = to_map(&a).into_iter().map(|((i, j), x)| ((j, i), x)).collect();
        let expected = from_map(e.ncols, e.nrows, &flipped);
        pools().iter().all(|t| {
            same(&a.transpose(t).unwrap(), &expected)
                && same(&e.unsorted_csr::<u32>().transpose(t).unwrap(), &expected)
                && a.pattern().transpose(t).unwrap() == **expected.pattern()
                && same(&expected.transpose(t).unwrap(), &a)
        })
    }

    fn selections_keep_what_they_say(e: AnyEntries) -> bool {
        let (a, u) = (e.csr::<u32>(), e.unsorted_csr::<u32>());
        let kept = |keep: fn(usize, usize) -> bool| {
            let map = to_map(&a).into_iter().filter(|&((i, j), _)| keep(i, j)).collect();
            from_map::<u32>(e.nrows, e.ncols, &map)
        };
        let (lower, upper) = (kept(|i, j| j < i), kept(|i, j| j > i));
        let large = from_map::<u32>(e.nrows, e.ncols, &to_map(&a).into_iter().filter(|e| e.1 > 0.5).collect());
        pools().iter().all(|t| {
            same(&u.sorted(t).unwrap(), &a)
                && [&a, &u].iter().all(|a| {
                    same(&a.strict_lower(t).unwrap(), &lower)
                        && same(&a.strict_upper(t).unwrap(), &upper)
                        && a.pattern().strict_lower(t).unwrap() == **lower.pattern()
                        && a.pattern().strict_upper(t).unwrap() == **upper.pattern()
                        && same(&a.select(t, |_, _, x| *x > 0.5).unwrap(), &large)
                })
        })
    }

    fn chosen_rows_come_in_the_order_asked(e: AnyEntries, pick: Vec<usize>) -> bool {
        let pick: Vec<usize> = if e.nrows == 0 { vec![] } else { pick.iter().map(|i| i % e.nrows).collect() };
        let a = e.csr::<u32>();
        pools().iter().all(|t| [&a, &e.unsorted_csr()].iter().all(|b| {
            let c = b.select_rows(t, &pick).unwrap();
            c.shape() == (pick.len(), e.ncols) && c.pattern().is_sorted()
                && pick.iter().enumerate().all(|(r, &i)| c.row(r) == a.row(i))
                && *c.pattern().as_ref() == b.pattern().select_rows(t, &pick).unwrap()
        }))
    }

    fn permutations_rename_rows_and_columns(e: AnyEntries, keys: Vec<u64>) -> bool {
        let e = e.square();
        let n = e.nrows;
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&i| keys.get(i as usize).copied().unwrap_or(u64::from(i)));
        let at = |old: usize| order.iter().position(|&i| i as usize == old).unwrap();
        let map = e.map(|_, y| y).into_iter().map(|((i, j), x)| ((at(i), at(j)), x)).collect();
        let expected = from_map::<u32>(n, n, &map);
        pools().iter().all(|t| {
            same(&e.csr::<u32>().permute(t, &order).unwrap(), &expected)
                && e.unsorted_csr::<u32>().pattern().permute(t, &order).unwrap() == **expected.pattern()
        })
    }

    fn symmetrized_is_both_directions_without_loops(e: AnyEntries) -> bool {
        let e = e.square();
        let map = e.list.iter().filter(|e| e.0 != e.1).flat_map(|e| [((e.0, e.1), 1.0), ((e.1, e.0), 1.0)]).collect();
        let expected = from_map::<u32>(e.nrows, e.nrows, &map);
        pools().iter().all(|t| {
            e.csr().pattern().symmetrized(t).unwrap() == **expected.pattern()
                && e.unsorted_csr().pattern().symmetrized(t).unwrap() == **expected.pattern()
        })
    }

    fn builders_are_lists(e: AnyEntries) -> bool {
        let sum = from_map::<u32>(e.nrows, e.ncols, &e.map(|x, y| x + y));
        let mut b = Builder::new(e.nrows, e.ncols).unwrap();
        e.list.iter().for_each(|&(i, j, x)| b.push(i, j, x).unwrap());
        let hyper = b.clone().finish_hyper(Plus::new()).unwrap();
        let unique = match (b.clone().unique(), e.coo::<u32>().to_csr_unique()) {
            (Ok(a), Ok(b)) => same(&a, &b),
            (Err(a), Err(b)) => a.to_string() == b.to_string(),
            _ => false,
        };
        unique
            && (0..e.nrows).all(|i| hyper.row(i) == sum.row(i))
            && hyper.iter().eq(sum.iter())
            && hyper.rows().iter().all(|&i| !sum.row(i as usize).0.is_empty())
            && (0..e.nrows).all(|i| (0..e.ncols).all(|j| hyper.get(i, j) == sum.get(i, j)))
            && same(&hyper.into_csr().unwrap(), &sum)
            && same(&b.finish(Plus::new()).unwrap(), &sum)
    }

    fn conversions_come_back(e: AnyEntries) -> bool {
        let (a, u) = (e.csr::<u32>(), e.unsorted_csr::<u32>());
        let rows: Vec<_> = (0..e.nrows).map(|i| u.row_vector(i).unwrap()).collect();
        // NaN stands for absence: the entries contain none.
        let back = |t, a: &Csr<f64>| {
            let d = a.to_dense(t, f64::NAN).unwrap();
            let there = (0..e.nrows).all(|i| (0..e.ncols).all(|j| {
                d.get(i, j).filter(|x| !x.is_nan()).map(|x| x.to_bits()) == a.get(i, j).map(|x| x.to_bits())
            }));
            there && d.get(e.nrows, 0).is_none() && d.get(0, e.ncols).is_none()
                && same(&Csr::from_dense(t, &d, |x| !x.is_nan()).unwrap(), &e.csr::<u32>())
        };
        same(&u.to_coo().unwrap().to_csr_unique().unwrap(), &a)
            && same(&Csr::from_row_vectors(e.ncols, &rows).unwrap(), &a)
            && pools().iter().all(|t| back(t, &a) && back(t, &u))
            && same(&a.clone(), &a)
    }

    fn vectors_are_maps(len: u8, list: Vec<(u8, i32)>) -> bool {
        let n = usize::from(len);
        let list: Vec<(usize, i32)> = list.into_iter().filter(|e| e.0 < len).map(|e| (e.0.into(), e.1)).collect();
        let mut map = BTreeMap::new();
        list.iter().for_each(|&(i, x)| *map.entry(i).or_insert(0i32) = map.get(&i).map_or(x, |y: &i32| y.wrapping_add(x)));
        let (indices, values) = list.iter().map(|e| (e.0 as u32, e.1)).unzip();
        let v = SparseVec::from_entries(n, indices, values, Plus::new()).unwrap();
        let mut bits = BitmapVec::empty(n).unwrap();
        let mut shadow = BTreeMap::new();
        for (k, &(i, x)) in list.iter().enumerate() {
            if k % 3 == 2 {
                assert_eq!(bits.remove(i), shadow.remove(&i));
            } else {
                assert_eq!(bits.set(i, x).unwrap(), shadow.insert(i, x));
            }
        }
        v.iter().map(|(i, x)| (i, *x)).eq(map.clone())
            && (0..n + 2).all(|i| v.get(i) == map.get(&i) && bits.get(i) == shadow.get(&i))
            && bits.nnz() == shadow.len() && bits.iter().eq(shadow.iter().map(|(i, x)| (*i, x)))
            && v.to_bitmap().unwrap().to_sparse().unwrap() == v
            && bits.to_sparse::<u64>().unwrap().to_bitmap().unwrap() == bits
            && v.to_dense(7).unwrap().iter().enumerate().all(|(i, x)| *x == map.get(&i).copied().unwrap_or(7))
            && SparseVec::from_dense(&v.to_dense(0).unwrap(), |x| *x != 0).unwrap()
                == SparseVec::<i32, u32>::new(n, v.iter().filter(|e| *e.1 != 0).map(|e| e.0 as u32).collect(), v.values().iter().copied().filter(|x| *x != 0).collect()).unwrap()
    }

    fn bit_rows_hold_the_pattern(e: AnyEntries) -> bool {
        bits_hold::<u32, u32>(&e) && bits_hold::<u64, u32>(&e) && bits_hold::<u32, u64>(&e) && bits_hold::<u64, u64>(&e)
    }
}

fn bits_hold<W: Word, I: Index>(e: &AnyEntries) -> bool {
    let a = e.csr::<I>();
    let a = a.pattern();
    let mut expected: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (i, j) in e.map(|x, _| x).into_keys() {
        expected.entry((i, j / W::COLUMNS)).or_default().push(j % W::COLUMNS);
    }
    let all: Vec<_> = pools().iter().map(|t| BitRows::<W, I>::new(t, a).unwrap()).collect();
    let bits = &all[0];
    let found = (0..a.nrows()).flat_map(|i| {
        let (sets, words) = bits.row(i);
        sets.iter().zip(words).map(move |(s, w)| {
            let mut w = *w;
            let mut columns = vec![];
            while w != W::default() {
                columns.push(w.lowest());
                w = w.without_lowest();
            }
            ((i, s.get()), columns)
        })
    });
    found.eq(expected)
        && all.iter().all(|b| b == bits)
        && pools().iter().all(|t| {
            let counts = BitRows::<W, I>::count(t, a).unwrap();
            counts.row_ptr() == bits.sets().row_ptr()
                && counts.pairs() == bits.pairs()
                && BitRows::<W, I>::new(t, e.unsorted_csr().pattern()).unwrap() == *bits
                && bits.to_pattern(t).unwrap() == **a
        })
        && (0..a.nrows()).all(|i| bits.row_nnz(i) == a.row(i).len())
}

#[test]
fn big_matrices_are_rearranged_alike_on_any_number_of_threads() {
    let e = big(20_000, 20_000, 200_000);
    let a = e.coo::<u32>().to_csr(Plus::new()).unwrap();
    let map = to_map(&a);
    let n = a.nrows();
    // A permutation, because 7 and n are coprime.
    let order: Vec<u32> = (0..n).map(|r| (7 * r % n) as u32).collect();
    let mut at = vec![0; n];
    order.iter().enumerate().for_each(|(r, &i)| at[i as usize] = r);
    let permuted: Map = map.iter().map(|(&(i, j), &x)| ((at[i], at[j]), x)).collect();
    let symmetric: std::collections::BTreeSet<_> =
        map.keys().filter(|k| k.0 != k.1).flat_map(|&(i, j)| [(i, j), (j, i)]).collect();
    for t in pools() {
        assert_eq!(to_map(&a.permute(t, &order).unwrap()), permuted);
        assert!(to_map(&a.strict_lower(t).unwrap()).iter().eq(map.iter().filter(|(k, _)| k.1 < k.0)));
        let s = a.pattern().symmetrized(t).unwrap();
        assert_eq!(s.nnz(), symmetric.len());
        assert!(symmetric.iter().all(|&(i, j)| s.row(i).binary_search(&(j as u32)).is_ok()));
        let bits = BitRows::<u64>::new(t, a.pattern()).unwrap();
        assert_eq!(bits.to_pattern(t).unwrap(), **a.pattern());
        let rows: Vec<usize> = (0..n).rev().collect();
        let reversed = a.select_rows(t, &rows).unwrap();
        assert!(rows.iter().enumerate().all(|(r, &i)| reversed.row(r) == a.row(i)));
    }
}

#[test]
fn rearrangements_refuse_what_is_no_permutation_or_no_row() {
    let t = Threads::current();
    let a = Csr::<f64>::empty(3, 3).unwrap();
    let text = |order: &[u32]| a.permute(&t, order).unwrap_err().to_string();
    assert_eq!(text(&[0, 1]), "order: length is 2, expected 3");
    assert_eq!(text(&[0, 1, 3]), "entry 2: row index 3 is not below 3");
    assert_eq!(text(&[1, 0, 1]), "order: row 1 stands at 0 and at 2, so this is no permutation");
    assert_eq!(a.select_rows(&t, &[2, 3]).unwrap_err().to_string(), "entry 1: row index 3 is not below 3");
    let b = Pattern::<u32>::empty(2, 3).unwrap();
    assert!(matches!(b.permute(&t, &[0, 1]), Err(Error::NotSquare { op: "permute", nrows: 2, ncols: 3 })));
    assert!(matches!(b.symmetrized(&t), Err(Error::NotSquare { op: "symmetrized", .. })));
}

#[test]
fn big_coordinates_give_the_same_rows_on_any_number_of_threads() {
    // (rows, columns): many buckets; fewer rows than buckets; one row; more rows than entries.
    for (nrows, ncols) in [(50_000, 1000), (3, 400_000), (1, 1 << 20), (3_000_000, 7)] {
        let e = big(nrows, ncols, 300_000);
        let (coo, map) = (e.coo::<u32>(), e.map(|x, y| x + y));
        let mut all = pools().iter().map(|t| coo.to_csr_on(t, Plus::new()).unwrap());
        let first = all.next().unwrap();
        assert_eq!(first.nnz(), map.len());
        assert!(first.iter().zip(&map).all(|((i, j, x), (k, y))| (i, j) == *k && x.to_bits() == y.to_bits()));
        assert!(all.all(|a| same(&a, &first)));

        let transposed: Vec<_> = pools().iter().map(|t| first.transpose(t).unwrap()).collect();
        assert!(transposed.iter().all(|t| same(t, &transposed[0])));
        assert!(transposed[0].pattern().is_sorted());
        let mut flipped: Vec<_> = first.iter().map(|(i, j, x)| (j, i, x.to_bits())).collect();
        flipped.sort_unstable();
        assert!(transposed[0].iter().map(|(i, j, x)| (i, j, x.to_bits())).eq(flipped));

        let repeat = coo.to_csr_unique_on(&pools()[1]).unwrap_err().to_string();
        assert_eq!(repeat, coo.to_csr_unique_on(&pools()[0]).unwrap_err().to_string());
    }
}

#[test]
fn sizes_that_do_not_fit_are_errors_not_crashes() {
    let huge = usize::MAX >> 1;
    assert_eq!(
        Coo::<f64, u32>::new(huge, 1, vec![], vec![], vec![]).unwrap_err().to_string(),
        "number of rows: 9223372036854775807 does not fit, the largest possible is 4294967295"
    );
    let coo = Coo::<f64, u64>::new(huge, huge, vec![5], vec![huge as u64 - 1], vec![1.0]).unwrap();
    for a in [coo.to_csr(Plus::new()).unwrap(), coo.to_csr_unique().unwrap()] {
        assert_eq!((a.nnz(), a.get(5, huge - 1)), (1, Some(&1.0)));
        let e = a.compressed().unwrap_err().to_string();
        assert_eq!(e, "out of memory: 73786976294838206464 bytes are needed for row pointers");
    }
    let wide = Pattern::<u64>::new(1, huge, vec![0, 1], vec![huge as u64 - 1]).unwrap();
    assert!(matches!(wide.transpose(&Threads::current()), Err(Error::OutOfMemory { .. })));
    assert!(matches!(Csr::<f64>::empty(2, 1 << 32), Err(Error::IndexOverflow { .. })));
    assert!(matches!(Pattern::<u64>::empty(usize::MAX, 1), Err(Error::OutOfMemory { .. })));
}

#[test]
fn any_value_type_has_rows() {
    let coo = Coo::<bool>::new(1, 2, vec![0, 0], vec![1, 1], vec![false, true]).unwrap();
    assert_eq!(coo.to_csr(Max::new()).unwrap().row(0), (&[1][..], &[true][..]));
}

#[test]
fn constructors_refuse_what_is_not_a_matrix() {
    let text = |e: Result<(), Error>| e.unwrap_err().to_string();
    let v = |len, i: &[u32], x: &[f64]| text(SparseVec::new(len, i.to_vec(), x.to_vec()).map(drop));
    assert_eq!(v(3, &[0, 3], &[1.0, 1.0]), "entry 1: vector index 3 is not below 3");
    assert_eq!(v(3, &[2, 1], &[1.0, 1.0]), "row 0: column 1 at position 1 does not increase");
    assert_eq!(v(3, &[1, 1], &[1.0, 1.0]), "entry (0, 1) is given twice");
    assert_eq!(v(3, &[1], &[]), "values: length is 0, expected 1");
    assert_eq!(v(1 << 32, &[], &[]), "length of a vector: 4294967296 does not fit, the largest possible is 4294967295");

    assert_eq!(text(Dense::new(2, 3, vec![1.0; 5]).map(drop)), "values: length is 5, expected 6");
    assert!(matches!(Dense::<f64>::new(usize::MAX, 2, vec![]), Err(Error::IndexOverflow { .. })));
    assert!(matches!(Dense::filled(usize::MAX, 2, 1.0), Err(Error::OutOfMemory { .. })));
    assert!(matches!(Dense::filled(1 << 40, 1 << 20, 1.0), Err(Error::OutOfMemory { .. })));
    assert!(matches!(BitmapVec::<f64>::empty(usize::MAX), Err(Error::OutOfMemory { .. })));

    let mut b = Builder::<f64>::new(2, 3).unwrap();
    assert_eq!(text(b.push(2, 0, 1.0)), "entry 0: row index 2 is not below 2");
    assert_eq!(text(b.push(0, 3, 1.0)), "entry 0: column index 3 is not below 3");
    assert!(b.is_empty());
    assert!(matches!(Builder::<f64>::new(1, 1 << 32), Err(Error::IndexOverflow { .. })));

    let rows = || Csr::<f64>::empty(2, 3).unwrap();
    assert_eq!(text(HyperCsr::new(9, vec![1], rows()).map(drop)), "rows: length is 1, expected 2");
    assert_eq!(text(HyperCsr::new(9, vec![1, 9], rows()).map(drop)), "entry 1: row index 9 is not below 9");
    assert_eq!(text(HyperCsr::new(9, vec![5, 1], rows()).map(drop)), "rows: 1 follows 5");
    assert_eq!(text(HyperCsr::new(9, vec![5, 5], rows()).map(drop)), "rows: 5 follows 5");
    assert!(HyperCsr::new(9, vec![1, 5], rows()).is_ok());
}

#[test]
fn formats_cross_threads() {
    fn check<T: Send + Sync>() {}
    check::<Pattern<u64>>();
    check::<Csr<f64>>();
    check::<Coo<f64>>();
    check::<Builder<f64>>();
    check::<HyperCsr<f64>>();
    check::<SparseVec<f64>>();
    check::<BitmapVec<f64>>();
    check::<Dense<f64>>();
    check::<BitRows<u32>>();
    check::<BitRows<u64>>();
    check::<BitCounts<'_, u64>>();
}

#[cfg(feature = "sprs")]
mod sprs_interop {
    use super::*;
    use sprs::{CsMat, CsMatI};

    quickcheck! {
        fn a_slice_of_an_sprs_matrix_has_its_rows(e: AnyEntries, from: usize) -> bool {
            let a = e.csr::<u64>();
            let from = from % (e.nrows + 1);
            let part = a.as_sprs().unwrap().slice_outer(from..e.nrows).to_owned();
            let rows = Csr::from_sprs(part).unwrap();
            rows.shape() == (e.nrows - from, e.ncols) && (from..e.nrows).all(|i| rows.row(i - from) == a.row(i))
        }

        fn sprs_matrices_come_back(e: AnyEntries) -> bool {
            let a = e.csr::<u32>();
            let view = a.as_sprs().unwrap();
            let (theirs, columns) = (a.to_sprs::<usize, usize>().unwrap(), view.to_csc());
            view.data().as_ptr() == a.values().as_ptr()
                && same(&Csr::from_sprs(theirs.clone()).unwrap(), &a)
                && same(&Csr::from_sprs(theirs.to_csc()).unwrap(), &a)
                && same(&Csr::from_sprs(columns).unwrap(), &a)
                && same(&Csr::from_sprs(a.clone().into_sprs::<u32, usize>().unwrap()).unwrap(), &a)
                && same(&Csr::from_sprs(a.to_sprs::<i64, u32>().unwrap()).unwrap(), &a)
                && same(&Csr::try_from(CsMat::try_from(a.clone()).unwrap()).unwrap(), &a)
                && same(&Csr::from_sprs(theirs).unwrap(), &e.csr::<u64>())
        }
    }

    #[test]
    fn arrays_of_the_same_types_move() {
        let a = CsMatI::<f64, u32, usize>::new((2, 3), vec![0, 1, 2], vec![0, 2], vec![1.0, 2.0]);
        let arrays = |a: &CsMatI<f64, u32, usize>| (a.indices().as_ptr(), a.data().as_ptr());
        let there = arrays(&a);
        let a = Csr::<f64>::try_from(a).unwrap();
        assert_eq!((a.col_idx().as_ptr(), a.values().as_ptr()), there);
        // A shared pattern is not consumed.
        let held = std::sync::Arc::clone(a.pattern());
        let copied = a.clone().into_sprs().unwrap();
        assert!(arrays(&copied).0 != there.0);
        drop((held, copied));
        assert_eq!(arrays(&a.into_sprs().unwrap()), there);
    }

    #[test]
    fn indices_that_do_not_fit_are_told() {
        let wide = CsMat::<f64>::new((1, 1 << 40), vec![0, 1], vec![1 << 35], vec![1.0]);
        assert_eq!(
            Csr::<f64, u32>::from_sprs(wide.clone()).unwrap_err().to_string(),
            "column indices: 34359738368 does not fit, the largest possible is 4294967295"
        );
        let a = Csr::<f64, u64>::from_sprs(wide.clone()).unwrap();
        assert_eq!(a.get(0, 1 << 35), Some(&1.0));
        assert_eq!(
            a.to_sprs::<u16, u16>().unwrap_err().to_string().split(" does").next(),
            Some("column indices: 34359738368")
        );
        assert_eq!(CsMat::try_from(a).unwrap(), wide);
    }

    #[test]
    fn unsorted_rows_are_refused_by_sprs() {
        let a = Csr::<f64>::from_unsorted(1, 3, vec![0, 2], vec![2, 0], vec![1.0, 2.0]).unwrap();
        assert!(matches!(a.as_sprs(), Err(Error::Unsupported { .. })));
        let refused = a.into_sprs::<usize, usize>().unwrap_err().to_string();
        assert!(refused.starts_with("this matrix in sprs is not supported: "));
    }
}

/// Matrices over foreign arrays: the same results, and nothing is copied before a write.
#[test]
fn foreign_arrays_are_used_where_they_are() {
    use sparring::par::Storage;
    use sparring::{Cpu, algebra::PlusTimes, backend::Backend};
    use std::sync::Arc;
    let entries =
        (0..900u64).map(|p| p.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 33);
    let (rows, cols): (Vec<u32>, Vec<u32>) = entries.map(|r| ((r % 97) as u32, (r / 97 % 97) as u32)).unzip();
    let values = (0..900).map(f64::from).collect();
    let own: Csr<f64> = Coo::new(97, 97, rows, cols, values).expect("entries").to_csr(Plus::new()).expect("a matrix");
    let row_ptr: Arc<[i64]> = own.row_ptr().iter().map(|&p| p as i64).collect();
    let col_idx: Arc<[i32]> = own.col_idx().iter().map(|&j| j as i32).collect();
    let values: Arc<[f64]> = own.values().into();
    let lend = || {
        let p = Storage::from(Arc::clone(&row_ptr)).unsigned().expect("row pointers");
        let j = Storage::from(Arc::clone(&col_idx)).unsigned().expect("columns");
        Csr::<f64>::from_storage(own.nrows(), own.ncols(), p, j, Storage::from(Arc::clone(&values))).expect("a matrix")
    };
    let mut a = lend();
    assert_eq!(a.values().as_ptr(), values.as_ptr());
    assert_eq!(a.col_idx().as_ptr().cast(), col_idx.as_ptr());
    assert_eq!(a.row_ptr().as_ptr().cast(), row_ptr.as_ptr());
    assert!(a.pattern().is_foreign() && a == own);
    let cpu = Cpu::new();
    let ring = PlusTimes::<f64>::new();
    let want = cpu.mxm(ring, &own, &own).eval().expect("a product");
    assert_eq!(cpu.mxm(ring, &a, &a).eval().expect("a product"), want);
    // Foreign values are never written: neither in place by a plan nor by hand.
    assert!(a.unshared_mut().is_none());
    a.values_mut()[0] = 17.0;
    assert!(a.values()[0] == 17.0 && values[0] == own.values()[0] && a.unshared_mut().is_some());
    // Dropping the last matrix over them releases the arrays.
    let b = lend().clone();
    assert!(Arc::strong_count(&values) > 1);
    let (pattern, taken) = b.into_parts();
    assert_eq!((&taken[..], Arc::strong_count(&values)), (own.values(), 1));
    drop((a, pattern));
    assert_eq!((Arc::strong_count(&row_ptr), Arc::strong_count(&col_idx)), (1, 1));
}

/// Collecting and iterating round-trip; `for` loops visit the entries in order.
#[test]
fn entries_are_iterated_and_collected() {
    let entries = [(0, 2, 5), (1, 0, 6), (1, 1, 7), (3, 2, 8)];
    let a = entries.into_iter().collect::<Builder<i32>>().unique().unwrap();
    assert_eq!(a.shape(), (4, 3));
    assert!((&a).into_iter().map(|(i, j, x)| (i, j, *x)).eq(entries));
    assert_eq!(a.iter().len(), 4);
    let coo = a.to_coo().unwrap();
    assert!((&coo).into_iter().map(|(i, j, x)| (i, j, *x)).eq(entries));
    assert_eq!(a.extract_tuples().unwrap(), (vec![0, 1, 1, 3], vec![2, 0, 1, 2], vec![5, 6, 7, 8]));
    for x in [
        sparring::Vector::<i32>::new(40, vec![3, 30], vec![1, 2]).unwrap(),
        sparring::Vector::<i32>::new(3, vec![0, 2], vec![1, 2]).unwrap(),
        sparring::Vector::<i32>::full(vec![1, 2]).unwrap(),
    ] {
        let mut found = vec![];
        for (i, x) in &x {
            found.push((i, *x));
        }
        assert!(found.iter().map(|e| e.1).eq([1, 2]) && x.iter().len() == 2);
        assert!(found.iter().all(|(i, v)| x.get(*i) == Some(v)));
    }
    let mut grown = Builder::<i32, u32>::new(1, 1).unwrap();
    grown.extend([(2, 0, 1), (0, usize::MAX, 2)]);
    assert!(matches!(grown.into_coo(), Err(Error::IndexOverflow { what: "columns", .. })));
}

/// A serde round trip in every form; malformed input is rejected.
#[cfg(feature = "serde")]
#[test]
fn serde_reads_what_it_wrote() {
    fn again<X: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(x: &X) -> String {
        let text = serde_json::to_string(x).unwrap();
        assert_eq!(serde_json::from_str::<X>(&text).unwrap(), *x);
        text
    }
    let a = Csr::<f64>::new(2, 3, vec![0, 1, 3], vec![2, 0, 1], vec![5.0, 6.0, 7.5]).unwrap();
    let text = again(&a);
    assert_eq!(text, r#"{"nrows":2,"ncols":3,"rows":null,"row_ptr":[0,1,3],"col_idx":[2,0,1],"values":[5.0,6.0,7.5]}"#);
    again(&Csr::<i64>::constant((3, 2), 7).unwrap());
    let mut far = Csr::<i64, u64>::empty(1 << 50, 4).unwrap();
    far.set(1 << 49, 3, 8).unwrap();
    assert!(again(&far).contains(r#""rows":[562949953421312],"row_ptr":[0,1]"#));
    again(&a.to_coo().unwrap());
    again(&sparring::Vector::<i32>::new(40, vec![3, 30], vec![1, 2]).unwrap());
    assert_eq!(
        again(&sparring::Vector::<i32>::full(vec![1, 2]).unwrap()),
        r#"{"len":2,"indices":null,"values":[1,2]}"#
    );
    again(&sparring::Dense::new(1, 2, vec![true, false]).unwrap());
    for (from, to, says) in [
        ("[2,0,1]", "[3,0,1]", "3"),
        ("[0,1,3]", "[0,3,1]", ""),
        ("[0,1,3]", "[0,1]", ""),
        ("[5.0,", "[", "2"),
        ("[2,0,1]", "[2,4294967295,1]", "4294967295"),
    ] {
        let e = serde_json::from_str::<Csr<f64>>(&text.replace(from, to)).unwrap_err().to_string();
        assert!(e.contains(says), "{to}: {e}");
    }
    let short = r#"{"len":3,"indices":null,"values":[1,2]}"#;
    assert!(serde_json::from_str::<sparring::Vector<i32>>(short).unwrap_err().to_string().contains("expected 3"));
}

#[cfg(feature = "nalgebra")]
mod nalgebra_interop {
    use nalgebra_sparse::{CscMatrix, CsrMatrix};

    use super::*;

    quickcheck! {
        fn nalgebra_matrices_come_back(e: AnyEntries) -> bool {
            let a = e.csr::<u32>();
            let theirs = a.to_nalgebra().unwrap();
            let columns = CscMatrix::from(&theirs);
            (theirs.nrows(), theirs.ncols(), theirs.nnz()) == (a.nrows(), a.ncols(), a.nnz())
                && same(&Csr::try_from(theirs.clone()).unwrap(), &a)
                && same(&Csr::try_from(columns).unwrap(), &a)
                && same(&Csr::from_nalgebra(CsrMatrix::try_from(a.clone()).unwrap()).unwrap(), &a)
                && same(&Csr::from_nalgebra(theirs).unwrap(), &e.csr::<u64>())
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let wide = CsrMatrix::try_from_csr_data(1, 1 << 40, vec![0, 1], vec![1 << 35], vec![1.0]).unwrap();
        let e = Csr::<f64, u32>::from_nalgebra(wide.clone()).unwrap_err().to_string();
        assert!(e.contains("34359738368 does not fit"), "{e}");
        assert_eq!(Csr::<f64, u64>::from_nalgebra(wide.clone()).unwrap().into_nalgebra().unwrap(), wide);
        let unsorted = Csr::<f64>::from_unsorted(1, 3, vec![0, 2], vec![2, 0], vec![1.0, 2.0]).unwrap();
        assert!(matches!(unsorted.to_nalgebra(), Err(Error::Unsupported { .. })));
    }
}

#[cfg(feature = "faer")]
mod faer_interop {
    use super::*;

    quickcheck! {
        fn faer_matrices_come_back(e: AnyEntries) -> bool {
            let a = e.csr::<u32>();
            let (theirs, view) = (a.to_faer::<usize>().unwrap(), a.as_faer().unwrap());
            let columns = theirs.as_ref().to_col_major().unwrap();
            view.matrix().val().as_ptr() == a.values().as_ptr()
                && same(&Csr::from_faer(theirs.as_ref()).unwrap(), &a)
                && same(&Csr::from_faer(view.matrix()).unwrap(), &a)
                && same(&Csr::from_faer_columns(columns.as_ref()).unwrap(), &a)
                && same(&Csr::from_faer(theirs.as_ref()).unwrap(), &e.csr::<u64>())
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let wide = Csr::<f64, u64>::new(1, 1 << 40, vec![0, 1], vec![1 << 35], vec![1.0]).unwrap();
        let e = wide.to_faer::<u32>().unwrap_err().to_string();
        assert!(e.contains("1099511627776 does not fit"), "{e}");
        let theirs = wide.to_faer::<usize>().unwrap();
        assert!(Csr::<f64, u32>::from_faer(theirs.as_ref()).is_err());
        let unsorted = Csr::<f64>::from_unsorted(1, 3, vec![0, 2], vec![2, 0], vec![1.0, 2.0]).unwrap();
        assert!(matches!(unsorted.as_faer(), Err(Error::Unsupported { .. })));
        assert!(matches!(unsorted.to_faer::<u32>(), Err(Error::Unsupported { .. })));
    }
}

//! Sparse tensors: constructors, sort orders, conversion to and from matrices, slices, norms, Kruskal tensors; compared
//! with dense tables.

mod common;

use std::collections::BTreeMap;

use common::arbitrary::Rng;
use sparring::algebra::{Max, Min, Plus, Value};
use sparring::par::Threads;
use sparring::tensor::{AnyTensor, Kruskal, Norm, Tensor};
use sparring::{Dense, Error, Index};

/// Entries with their indices, in stored order.
type Table<T> = BTreeMap<Vec<usize>, Vec<T>>;

fn table<T: Value, I: Index>(x: &Tensor<T, I>) -> Table<T> {
    let mut table = Table::new();
    for (place, v) in x.iter() {
        table.entry(place).or_insert_with(Vec::new).push(*v);
    }
    table
}

/// A tensor with duplicates, empty slices and stored zeros.
fn random<I: Index>(rng: &mut Rng, dims: &[usize], nnz: usize) -> Tensor<f64, I> {
    let nnz = if dims.contains(&0) { 0 } else { nnz };
    let indices = dims.iter().map(|&n| (0..nnz).map(|_| I::cast(rng.below(n))).collect()).collect();
    let values = (0..nnz).map(|_| rng.below(9) as f64 - 4.0).collect();
    Tensor::new(dims.to_vec(), indices, values).unwrap()
}

const SHAPES: [&[usize]; 9] = [
    &[5],
    &[1],
    &[4, 0, 3],
    &[3, 4],
    &[2, 3, 4],
    &[6, 1, 5],
    &[2, 3, 4, 2],
    &[3, 2, 2, 2, 3],
    &[2, 1, 2, 1, 2, 2, 1, 2],
];

#[test]
fn what_is_wrong_is_named() {
    let new = |dims: &[usize], lists: Vec<Vec<u32>>, values| Tensor::<f64>::new(dims.to_vec(), lists, values);
    assert!(matches!(new(&[], vec![], vec![]), Err(Error::Argument { name: "dims", .. })));
    assert!(new(&[1; 256], vec![vec![]; 256], vec![]).unwrap_err().to_string().contains("256"));
    assert!(new(&[1; 255], vec![vec![]; 255], vec![]).is_ok());
    assert!(matches!(new(&[2, 2], vec![vec![]], vec![]), Err(Error::Length { found: 1, expected: 2, .. })));
    assert!(matches!(new(&[2, 2], vec![vec![0], vec![]], vec![1.0]), Err(Error::Length { found: 0, expected: 1, .. })));
    let beyond = new(&[2, 2, 3], vec![vec![0, 1], vec![1, 0], vec![2, 3]], vec![1.0; 2]).unwrap_err();
    assert!(matches!(beyond, Error::IndexRange { axis: "mode 2", position: 1, index: 3, bound: 3 }), "{beyond}");
    let wide = 1usize << 33;
    assert!(matches!(new(&[2, wide], vec![vec![], vec![]], vec![]), Err(Error::IndexOverflow { what: "mode 1", .. })));
    assert!(Tensor::<f64, u64>::new(vec![2, wide], vec![vec![1], vec![wide as u64 - 1]], vec![1.0]).is_ok());
    let x = Tensor::<f64>::empty(vec![2, 3]).unwrap();
    assert!(x.order_by(&Threads::caller(), &[2]).unwrap_err().to_string().contains("mode 2"));
    assert!(x.order_by(&Threads::caller(), &[1, 1]).unwrap_err().to_string().contains("twice"));
    assert!(x.permuted(&[1]).is_err() && x.slice(0, 2).is_err() && x.slice(2, 0).is_err());
    assert!(x.with_values(vec![1u8]).is_err());
}

#[test]
fn orders_are_stable_sorts_for_any_number_of_threads() {
    let mut rng = Rng(1);
    for dims in SHAPES.into_iter().chain([&[1 << 20, 3][..], &[300, 200, 7]]) {
        let nnz = if dims[0] > 100 { 70_000 } else { 40 };
        let x: Tensor<f64> = random(&mut rng, dims, nnz);
        let modes: Vec<usize> = (0..dims.len()).rev().filter(|m| m % 3 != 1).collect();
        let mut expected: Vec<usize> = (0..x.nnz()).collect();
        expected.sort_by_key(|&e| modes.iter().map(|&m| x.indices(m)[e]).collect::<Vec<_>>());
        for threads in [1, 2, 3, 8].map(|n| Threads::new(n).unwrap()) {
            assert_eq!(x.order_by(&threads, &modes).unwrap(), expected, "{dims:?}");
        }
        let sorted = x.sorted_by(&Threads::current(), &modes).unwrap();
        assert!(sorted.is_sorted_by(&modes).unwrap());
        assert!(sorted.iter().zip(&expected).all(|((place, v), &e)| place == x.coordinates(e) && *v == x.values()[e]));
        assert_eq!(x.is_sorted_by(&modes).unwrap(), expected.is_sorted());
    }
    // Far more indices than entries: a radix sort by digits instead of one bin per index.
    let far = 1u64 << 40;
    let x = Tensor::<f64, u64>::new(vec![far as usize + 1], vec![vec![far, 3, far - 1, 3, 0]], vec![0.0; 5]).unwrap();
    assert_eq!(x.order_by(&Threads::current(), &[0]).unwrap(), [4, 1, 3, 2, 0]);
}

#[test]
fn linearized_entries_are_in_the_order_of_their_bits() {
    let mut rng = Rng(5);
    // c₂ a₁ c₁ a₀ b₀ c₀ above the lowest nine bits: each time a bit of the longest remaining mode, the first among
    // equals.
    let key = |p: &[usize]| {
        let [a, b, c] = [p[0] >> 9, p[1] >> 9, p[2] >> 9];
        (c >> 2) << 5 | (a >> 1) << 4 | (c >> 1 & 1) << 3 | (a & 1) << 2 | b << 1 | c & 1
    };
    for nnz in [0, 1, 300, 100_000] {
        let x: Tensor<f64> = random(&mut rng, &[4 << 9, 2 << 9, 8 << 9], nnz);
        let mut expected: Vec<(Vec<usize>, f64)> = x.iter().map(|(p, v)| (p, *v)).collect();
        expected.sort_by_key(|(p, _)| key(p));
        for threads in [1, 3].map(|n| Threads::new(n).unwrap()) {
            let y = x.linearized(&threads).unwrap();
            assert_eq!((y.dims(), y.iter().map(|(p, v)| (p, *v)).collect::<Vec<_>>()), (x.dims(), expected.clone()));
        }
    }
    // More bits than a key has, no bits, and no entries.
    let x: Tensor<f64, u64> = random(&mut rng, &[1 << 40, 1, 1 << 33, 3], 5_000);
    let y = x.linearized(&Threads::current()).unwrap();
    assert_eq!(table(&y), table(&x));
    let high = |y: &Tensor<f64, u64>, e: usize| y.indices(0)[e] >> 33;
    assert!((1..y.nnz()).all(|e| high(&y, e - 1) <= high(&y, e)));
    for dims in [&[1, 1][..], &[0, 5]] {
        let x: Tensor<f64> = random(&mut rng, dims, 3);
        assert_eq!(x.linearized(&Threads::caller()).unwrap(), x);
    }
}

#[test]
fn repeats_are_folded_in_their_order_or_refused() {
    let mut rng = Rng(2);
    for dims in SHAPES {
        let x: Tensor<f64, u64> = random(&mut rng, dims, 30);
        let y = x.summed(&Threads::current(), Plus::new()).unwrap();
        let expected: Vec<_> = table(&x).into_iter().map(|(p, v)| (p, v.iter().fold(0.0, |s, x| s + x))).collect();
        assert_eq!(y.iter().map(|(p, v)| (p, *v)).collect::<Vec<_>>(), expected);
        assert_eq!(y.distinct(&Threads::current()).unwrap(), y);
        let repeated = table(&x).into_iter().find(|(_, v)| v.len() > 1);
        match (x.distinct(&Threads::current()), repeated) {
            (Ok(z), None) => assert_eq!(z.nnz(), x.nnz()),
            (Err(Error::Repeated { place }), Some((first, _))) => assert_eq!(place, first),
            other => panic!("{other:?}"),
        }
    }
    let x = Tensor::<f64>::new(vec![1, 3], vec![vec![0; 3], vec![2, 1, 2]], vec![1.0; 3]).unwrap();
    assert!(x.distinct(&Threads::current()).unwrap_err().to_string().contains("[0, 2]"));
    assert_eq!(x.summed(&Threads::current(), Max::new()).unwrap().values(), [1.0, 1.0]);
}

#[test]
fn matrices_of_tensors_and_back() {
    let mut rng = Rng(3);
    for dims in SHAPES {
        let x: Tensor<f64> = random(&mut rng, dims, 25);
        let x = x.summed(&Threads::current(), Plus::new()).unwrap();
        for rows in [vec![0], vec![dims.len() - 1], vec![], vec![dims.len() - 1, 0]] {
            if rows.len() > dims.len() || rows.len() == 2 && dims.len() == 1 {
                continue;
            }
            let cols: Vec<usize> = (0..dims.len()).filter(|m| !rows.contains(m)).collect();
            let a = x.matricize::<u32, _>(&rows, &cols, Plus::new()).unwrap();
            let number =
                |place: &[usize], modes: &[usize]| modes.iter().rev().fold(0, |number, &m| number * dims[m] + place[m]);
            assert_eq!(a.nnz(), x.nnz());
            for (place, v) in x.iter() {
                assert_eq!(a.get(number(&place, &rows), number(&place, &cols)), Some(v));
            }
            let back = Tensor::<f64>::from_matrix(&a, dims.to_vec(), &rows, &cols).unwrap();
            assert_eq!(table(&back), table(&x));
        }
        let dense = x.to_dense(Plus::new()).unwrap();
        let again = Tensor::from_dense(dims.to_vec(), &dense, 0.0).unwrap();
        let nonzero: Table<f64> = table(&x).into_iter().filter(|(_, v)| v[0] != 0.0).collect();
        assert_eq!(
            (table::<_, u32>(&again), again.is_sorted_by(&(0..dims.len()).collect::<Vec<_>>()).unwrap()),
            (nonzero, true)
        );
    }
    let x = Tensor::<f64>::empty(vec![1 << 20, 1 << 20, 1 << 20]).unwrap();
    assert!(matches!(x.matricize::<u32, _>(&[0], &[1, 2], Plus::new()), Err(Error::IndexOverflow { .. })));
    assert!(x.to_dense(Plus::new()).is_err() && x.to_dense(Min::new()).is_err());
    let a = x.matricize::<u64, _>(&[0], &[1, 2], Plus::new()).unwrap();
    assert!(Tensor::<f64>::from_matrix(&a, vec![4, 4], &[0], &[1]).is_err());
}

#[test]
fn slices_permutations_and_widths() {
    let mut rng = Rng(4);
    for dims in SHAPES {
        let x: Tensor<f64> = random(&mut rng, dims, 30);
        let modes: Vec<usize> = (0..dims.len()).rev().collect();
        let y = x.permuted(&modes).unwrap();
        assert!(x.iter().zip(y.iter()).all(|((p, v), (q, w))| v == w && p.iter().rev().eq(q.iter())));
        for (mode, &n) in dims.iter().enumerate().filter(|_| dims.len() > 1) {
            let slices: usize = (0..n).map(|i| x.slice(mode, i).unwrap().nnz()).sum();
            assert_eq!(slices, x.nnz());
            for i in 0..n {
                let expected = x.iter().filter(|(p, _)| p[mode] == i).map(|(mut p, v)| {
                    p.remove(mode);
                    (p, *v)
                });
                assert!(x.slice(mode, i).unwrap().iter().map(|(p, v)| (p, *v)).eq(expected));
            }
        }
        let AnyTensor::Narrow(narrow) = x.cast::<u64>().unwrap().any().unwrap() else { panic!("it fits 32 bits") };
        assert_eq!(narrow, x);
    }
    assert!(Tensor::<f64>::empty(vec![3]).unwrap().slice(0, 0).is_err());
    assert!(matches!(Tensor::<f64, u64>::empty(vec![1 << 32]).unwrap().any().unwrap(), AnyTensor::Wide(_)));
}

#[test]
fn norms_leave_no_range() {
    let of = |values: Vec<f64>| {
        let n = values.len();
        Tensor::<f64>::new(vec![n.max(1)], vec![(0..n as u32).collect()], values).unwrap().norm()
    };
    assert_eq!(of(vec![]), 0.0);
    assert_eq!(of(vec![3.0, -4.0, 0.0]), 5.0);
    assert!((of(vec![3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
    assert!((of(vec![3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
    assert!(of(vec![1.0, f64::NAN, 5.0]).is_nan() && of(vec![1.0, f64::NEG_INFINITY]) == f64::INFINITY);
    let many: Vec<f64> = (0..1000).map(f64::from).collect();
    assert_eq!(of(many), (999.0f64 * 1000.0 * 1999.0 / 6.0).sqrt());
}

/// A model with random factors.
fn model(rng: &mut Rng, dims: &[usize], rank: usize) -> Kruskal<f64> {
    let mut real = || (rng.next() >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0;
    let weights = (0..rank).map(|_| real() * 3.0).collect();
    let factors = dims.iter().map(|&n| Dense::new(n, rank, (0..n * rank).map(|_| real()).collect()).unwrap()).collect();
    Kruskal::new(weights, factors).unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn kruskal_tensors_keep_what_they_are() {
    let mut rng = Rng(5);
    for dims in SHAPES {
        for rank in [0, 1, 3] {
            let (m, n) = (model(&mut rng, dims, rank), model(&mut rng, dims, 2));
            let dense = m.to_dense().unwrap();
            let same = |other: &Kruskal<f64>| other.to_dense().unwrap().iter().zip(&dense).all(|(&a, &b)| close(a, b));
            let mut other = m.clone();
            for norm in [Norm::One, Norm::MaxAtLeastOne, Norm::Two] {
                other.normalize(norm);
                assert!(same(&other), "{norm:?}");
            }
            let long = |f: &Dense<f64>, r: usize| (0..f.nrows()).map(|i| f.row(i)[r].powi(2)).sum::<f64>();
            assert!(other.factors().iter().all(|f| (0..rank).all(|r| f.nrows() == 0 || close(long(f, r), 1.0))));
            other.arrange();
            assert!(
                same(&other)
                    && other.weights().is_sorted_by(|a, b| a >= b)
                    && other.weights().iter().all(|w| *w >= 0.0)
            );
            assert!(other.distribute(dims.len()).is_err());
            other.distribute(dims.len() - 1).unwrap();
            assert!(same(&other) && other.weights().iter().all(|&w| w == 1.0));
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            assert!(close(m.inner(&n).unwrap(), product(&dense, &n.to_dense().unwrap())));
            assert!(close(m.norm(), product(&dense, &dense).sqrt()));
            let x: Tensor<f64> = random(&mut rng, dims, 12);
            assert!(close(m.inner_with(&x).unwrap(), product(&x.to_dense(Plus::new()).unwrap(), &dense)));
            let at = |place: &[usize]| dense[place.iter().zip(dims).fold(0, |at, (&i, &n)| at * n + i)];
            assert!(m.values_at(&x).unwrap().iter().zip(x.iter()).all(|(&v, (place, _))| close(v, at(&place))));
            if rank > 0 && !dims.contains(&0) {
                assert!(close(m.match_score(&other, true).unwrap(), 1.0));
            }
        }
    }
    let m = model(&mut rng, &[2, 3], 2);
    assert!(matches!(m.inner(&model(&mut rng, &[2, 4], 2)), Err(Error::Dims { .. })));
    assert!(Kruskal::<f64>::new(vec![], vec![]).is_err());
    assert!(Kruskal::new(vec![1.0], vec![Dense::filled(2, 2, 1.0).unwrap()]).is_err());
}

/// Two components, one of them the other model's at half the weight: (1 + 1/2) / 2; without weights 1.
#[test]
fn match_scores() {
    let unit = |i: usize, j: usize| {
        Dense::new(2, 2, vec![f64::from(i == 0), f64::from(j == 0), f64::from(i == 1), f64::from(j == 1)]).unwrap()
    };
    let a = Kruskal::new(vec![4.0, 1.0], vec![unit(0, 1); 3]).unwrap();
    let b = Kruskal::new(vec![1.0, 2.0], vec![unit(1, 0); 3]).unwrap();
    assert_eq!((a.match_score(&b, true).unwrap(), a.match_score(&b, false).unwrap()), (0.75, 1.0));
    let one = Kruskal::new(vec![4.0], vec![Dense::new(2, 1, vec![1.0, 0.0]).unwrap(); 3]).unwrap();
    assert_eq!(a.match_score(&one, true).unwrap(), 0.5);
}

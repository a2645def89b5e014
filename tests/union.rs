//! Union products against the definition: the fold over every column, an absent entry being 0.

mod common;

use std::ops::ControlFlow;

use common::arbitrary::{AnyPattern, Draw};
use common::unions::*;
use common::{Same, unions};
use quickcheck::quickcheck;
use sparring::algebra::*;
use sparring::ops::{union_mxm, union_mxm_into, union_spmv, union_spmv_dense};
use sparring::par::Threads;
use sparring::sparse::{Dense, SparseVec};
use sparring::{Csr, Error};

const THREADS: [usize; 4] = [1, 2, 3, 8];

type Outcome = Result<(), String>;
type Pair = (AnyPattern, AnyPattern);

fn text(e: Error) -> String {
    e.to_string()
}

fn threads(n: usize) -> Threads {
    Threads::new(n).expect("threads")
}

/// The promised order, bit for bit, on any number of threads; also into memory that is there, and by vectors.
fn promised<N: Namm + Default>(pair: &Pair, seed: u64) -> Outcome
where
    Lhs<N>: Draw + Num,
    Rhs<N>: Draw + Num,
    Out<N>: Same + Value,
{
    let namm = N::default();
    let (a, b) = draw::<N>(pair, seed);
    let want = in_order(namm, &a, &b);
    for n in THREADS {
        let threads = threads(n);
        let c = union_mxm(&threads, namm, &a, &b).map_err(text)?;
        same(&format!("{n} threads"), &c, &want)?;
        let mut into = vec![<N::Add as Monoid>::IDENTITY; a.nrows() * b.nrows()];
        into.reverse();
        union_mxm_into(&threads, namm, &a, &b, &mut into).map_err(text)?;
        same("into", &Dense::new(a.nrows(), b.nrows(), into).map_err(text)?, &want)?;
    }
    let (a, b) = (a.sorted(&threads(1)).map_err(text)?, b.sorted(&threads(1)).map_err(text)?);
    for j in 0..b.nrows().min(3) {
        let (columns, values) = b.row(j);
        let x = SparseVec::new(b.ncols(), columns.to_vec(), values.to_vec()).map_err(text)?;
        let row = Csr::from_row_vectors(x.len(), std::slice::from_ref(&x)).map_err(text)?;
        let want = in_order(namm, &a, &row);
        let column = |y| Dense::new(a.nrows(), 1, y).map_err(text);
        for n in THREADS {
            same("sparse x", &column(union_spmv(&threads(n), namm, &a, &x).map_err(text)?)?, &want)?;
            let full = x.to_dense(Rhs::<N>::ZERO).map_err(text)?;
            same("dense x", &column(union_spmv_dense(&threads(n), namm, &a, &full).map_err(text)?)?, &want)?;
        }
    }
    Ok(())
}

/// Where ⊕ is exact, the fold over all columns in their order.
fn defined<N: Namm + Default>(a: &Csr<Lhs<N>>, b: &Csr<Rhs<N>>) -> Outcome
where
    Lhs<N>: Num,
    Rhs<N>: Num,
    Out<N>: Same + Value,
{
    let c = union_mxm(&threads(2), N::default(), a, b).map_err(text)?;
    same("the definition", &c, &definition(N::default(), a, b))
}

quickcheck! {
    fn sums_have_the_bits_of_the_promised_order(seed: u64) -> Outcome {
        promised::<Manhattan<f64>>(&any_pair(seed), seed)?;
        promised::<SumUneven<f32>>(&any_pair(!seed), seed)?;
        promised::<SumUneven<i64>>(&any_pair(!seed), seed)
    }
    fn other_folds_have_them_too(seed: u64) -> Outcome {
        promised::<Chebyshev<f64>>(&any_pair(seed), seed)?;
        promised::<LeastDetour>(&any_pair(!seed), seed)?;
        promised::<WidestGap>(&any_pair(seed.rotate_left(9)), seed)
    }
    fn exact_folds_are_the_definition(seed: u64) -> Outcome {
        let pair = any_pair(seed);
        let (a, b) = draw::<Chebyshev<f64>>(&pair, seed);
        defined::<Chebyshev<f64>>(&a, &b)?;
        defined::<MaxUneven<f64>>(&a, &b)?;
        defined::<LeastDetour>(&a, &b)?;
        defined::<Hamming<f64>>(&a, &b)?;
        let (a, b) = draw::<Manhattan<i64>>(&pair, seed);
        defined::<Manhattan<i64>>(&a, &b)?;
        defined::<SumUneven<i64>>(&a, &b)?;
        defined::<SquaredEuclidean<i64>>(&a, &b)?;
        let (a, b) = draw::<WidestGap>(&pair, seed);
        defined::<WidestGap>(&a, &b)?;
        defined::<Manhattan<f64>>(&exact(&pair.0, seed), &exact(&pair.1, !seed))
    }
    fn stored_zeros_change_no_bit(seed: u64) -> Outcome {
        let pair = any_pair(seed);
        let (a, b) = draw::<Manhattan<f64>>(&pair, seed);
        let threads = threads(2);
        let want = union_mxm(&threads, Manhattan::<f64>::default(), &a, &b).map_err(text)?;
        let (more_a, more_b) = (with_zeros(&a, 3, seed), with_zeros(&b, 4, !seed));
        for (a, b) in [(&more_a, &b), (&a, &more_b), (&more_a, &more_b)] {
            same("zeros", &union_mxm(&threads, Manhattan::<f64>::default(), a, b).map_err(text)?, &want)?;
        }
        Ok(())
    }
}

#[test]
fn large_ones_are_the_definition() {
    for (round, pair) in large_pairs().iter().enumerate() {
        let (a, b) = draw::<Manhattan<i64>>(pair, round as u64);
        let want =
            in_order(Manhattan::<i64>::default(), &a.sorted(&threads(1)).unwrap(), &b.sorted(&threads(1)).unwrap());
        for n in THREADS {
            let c = union_mxm(&threads(n), Manhattan::<i64>::default(), &a, &b).unwrap();
            unions::same("large", &c, &want).unwrap();
        }
        let (a, b) = draw::<SumUneven<f64>>(pair, round as u64);
        let one = union_mxm(&threads(1), SumUneven::<f64>::default(), &a, &b).unwrap();
        for n in THREADS {
            unions::same("threads", &union_mxm(&threads(n), SumUneven::<f64>::default(), &a, &b).unwrap(), &one)
                .unwrap();
        }
    }
}

#[test]
fn matrices_without_rows_or_columns_have_results() {
    let manhattan = Manhattan::<f64>::default();
    for (m, n, k) in [(0, 0, 0), (0, 3, 2), (3, 0, 2), (3, 2, 0), (2, 3, 4)] {
        let (a, b) = (Csr::<f64>::empty(m, k).unwrap(), Csr::<f64>::empty(n, k).unwrap());
        for threads in THREADS.map(threads) {
            let c = union_mxm(&threads, manhattan, &a, &b).unwrap();
            assert_eq!((c.shape(), c.values()), ((m, n), &vec![0.0; m * n][..]));
        }
    }
}

#[test]
fn columns_are_any_index_type() {
    let a = Csr::<f64, u64>::new(1, 1 << 20, vec![0, 2], vec![0, 1 << 19], vec![1.0, 2.0]).unwrap();
    let b = Csr::<f64, u64>::new(2, 1 << 20, vec![0, 1, 1], vec![1 << 19], vec![5.0]).unwrap();
    let c = union_mxm(&threads(2), Manhattan::<f64>::default(), &a, &b).unwrap();
    assert_eq!(c.values(), [4.0, 3.0]);
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() {
    let threads = threads(1);
    let namm = Manhattan::<f64>::default();
    let (a, b) = (Csr::<f64>::empty(2, 3).unwrap(), Csr::<f64>::empty(4, 5).unwrap());
    let e = union_mxm(&threads, namm, &a, &b).unwrap_err().to_string();
    assert_eq!(e, "union_mxm: shapes do not agree: lhs is 2×3, rhs is 4×5");
    let x = SparseVec::<f64>::new(4, vec![], vec![]).unwrap();
    let e = union_spmv(&threads, namm, &a, &x).unwrap_err().to_string();
    assert_eq!(e, "union_spmv: shapes do not agree: lhs is 2×3, rhs is 4×1");
    let e = union_spmv_dense(&threads, namm, &a, &[0.0; 4]).unwrap_err().to_string();
    assert_eq!(e, "union_spmv_dense: shapes do not agree: lhs is 2×3, rhs is 4×1");
    let b = Csr::<f64>::empty(4, 3).unwrap();
    let e = union_mxm_into(&threads, namm, &a, &b, &mut [0.0; 7]).unwrap_err().to_string();
    assert_eq!(e, "result of union_mxm: length is 7, expected 8");
    let e = union_mxm_into(&threads, namm, &a, &Csr::<f64>::empty(4, 5).unwrap(), &mut [0.0; 8]).unwrap_err();
    assert!(matches!(e, Error::Shape { op: "union_mxm", .. }));

    // More results than memory: asked for, refused, nothing touched.
    let tall = Csr::<f64>::empty(1 << 20, 3).unwrap();
    let e = union_mxm(&threads, namm, &tall, &tall).unwrap_err();
    assert!(matches!(e, Error::OutOfMemory { bytes, .. } if bytes >= 8 << 40), "{e}");
}

#[test]
fn progress_may_stop_it() {
    let watched = |stop: bool| {
        threads(2).on_progress(move |p| {
            assert_eq!(p.op, "union_mxm");
            if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    let (a, b) = draw::<Manhattan<f64>>(&large_pairs()[6], 1);
    let e = union_mxm(&watched(true), Manhattan::<f64>::default(), &a, &b).unwrap_err();
    assert!(matches!(e, Error::Cancelled { op: "union_mxm", .. }), "{e}");
    assert!(union_mxm(&watched(false), Manhattan::<f64>::default(), &a, &b).is_ok());
}

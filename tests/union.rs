//! Union products compared with the definition: the fold over every column, where an absent entry is 0.

mod common;

use std::ops::ControlFlow;

use common::arbitrary::{AnyPattern, Draw};
use common::unions::*;
use common::{Same, unions};
use quickcheck::quickcheck;
use sparring::algebra::*;
use sparring::par::Threads;
use sparring::sparse::{Dense, SparseVec};
use sparring::{Cpu, Csr, Error, Vector};

const THREADS: [usize; 4] = [1, 2, 3, 8];

type Outcome = Result<(), String>;
type Pair = (AnyPattern, AnyPattern);

fn text(e: Error) -> String {
    e.to_string()
}

fn cpu(n: usize) -> Cpu {
    Cpu::with_threads(n).expect("threads")
}

fn sorted<T: Value>(a: &Csr<T>) -> Csr<T> {
    a.sorted(&Threads::current()).expect("memory")
}

/// The guaranteed order, bit for bit, for any number of threads; also for matrix–vector products.
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
        let c = cpu(n).union_mxm(namm, &a, &b).map_err(text)?;
        same(&format!("{n} threads"), &c, &want)?;
    }
    let (a, b) = (sorted(&a), sorted(&b));
    for j in 0..b.nrows().min(3) {
        let (columns, values) = b.row(j);
        let x = SparseVec::new(b.ncols(), columns.to_vec(), values.to_vec()).map_err(text)?;
        let row = Csr::from_row_vectors(x.len(), std::slice::from_ref(&x)).map_err(text)?;
        let want = in_order(namm, &a, &row);
        let full = Vector::full(x.to_dense(Rhs::<N>::ZERO).map_err(text)?).map_err(text)?;
        for x in [x.try_into().map_err(text)?, full] {
            for n in THREADS {
                let y = cpu(n).union_spmv(namm, &a, &x).map_err(text)?;
                let y = Dense::new(a.nrows(), 1, y.as_full().ok_or("a place without a value")?.to_vec());
                same(&format!("x of {} entries", x.nnz()), &y.map_err(text)?, &want)?;
            }
        }
    }
    Ok(())
}

/// Where ⊕ is exact, the fold over all columns in order.
fn defined<N: Namm + Default>(a: &Csr<Lhs<N>>, b: &Csr<Rhs<N>>) -> Outcome
where
    Lhs<N>: Num,
    Rhs<N>: Num,
    Out<N>: Same + Value,
{
    let c = cpu(2).union_mxm(N::default(), a, b).map_err(text)?;
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
        let cpu = cpu(2);
        let want = cpu.union_mxm(Manhattan::<f64>::default(), &a, &b).map_err(text)?;
        let (more_a, more_b) = (with_zeros(&a, 3, seed), with_zeros(&b, 4, !seed));
        for (a, b) in [(&more_a, &b), (&a, &more_b), (&more_a, &more_b)] {
            same("zeros", &cpu.union_mxm(Manhattan::<f64>::default(), a, b).map_err(text)?, &want)?;
        }
        Ok(())
    }
}

#[test]
fn large_ones_are_the_definition() {
    for (round, pair) in large_pairs().iter().enumerate() {
        let (a, b) = draw::<Manhattan<i64>>(pair, round as u64);
        let want = in_order(Manhattan::<i64>::default(), &sorted(&a), &sorted(&b));
        for n in THREADS {
            let c = cpu(n).union_mxm(Manhattan::<i64>::default(), &a, &b).unwrap();
            unions::same("large", &c, &want).unwrap();
        }
        let (a, b) = draw::<SumUneven<f64>>(pair, round as u64);
        let one = cpu(1).union_mxm(SumUneven::<f64>::default(), &a, &b).unwrap();
        for n in THREADS {
            unions::same("threads", &cpu(n).union_mxm(SumUneven::<f64>::default(), &a, &b).unwrap(), &one).unwrap();
        }
    }
}

#[test]
fn matrices_without_rows_or_columns_have_results() {
    let manhattan = Manhattan::<f64>::default();
    for (m, n, k) in [(0, 0, 0), (0, 3, 2), (3, 0, 2), (3, 2, 0), (2, 3, 4)] {
        let (a, b) = (Csr::<f64>::empty(m, k).unwrap(), Csr::<f64>::empty(n, k).unwrap());
        for cpu in THREADS.map(cpu) {
            let c = cpu.union_mxm(manhattan, &a, &b).unwrap();
            assert_eq!((c.shape(), c.values()), ((m, n), &vec![0.0; m * n][..]));
        }
    }
}

#[test]
fn columns_are_any_index_type() {
    let a = Csr::<f64, u64>::new(1, 1 << 20, vec![0, 2], vec![0, 1 << 19], vec![1.0, 2.0]).unwrap();
    let b = Csr::<f64, u64>::new(2, 1 << 20, vec![0, 1, 1], vec![1 << 19], vec![5.0]).unwrap();
    let c = cpu(2).union_mxm(Manhattan::<f64>::default(), &a, &b).unwrap();
    assert_eq!(c.values(), [4.0, 3.0]);
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() {
    let cpu = cpu(1);
    let namm = Manhattan::<f64>::default();
    let (a, b) = (Csr::<f64>::empty(2, 3).unwrap(), Csr::<f64>::empty(4, 5).unwrap());
    let e = cpu.union_mxm(namm, &a, &b).unwrap_err().to_string();
    assert_eq!(e, "union_mxm: shapes do not agree: lhs is 2×3, rhs is 4×5");
    let e = cpu.union_spmv(namm, &a, &Vector::empty(4).unwrap()).unwrap_err().to_string();
    assert_eq!(e, "union_spmv: shapes do not agree: lhs is 2×3, rhs is 4×1");

    // The result exceeds memory: the request is refused, and nothing is touched.
    let tall = Csr::<f64>::empty(1 << 20, 3).unwrap();
    let e = cpu.union_mxm(namm, &tall, &tall).unwrap_err();
    assert!(matches!(e, Error::OutOfMemory { bytes, .. } if bytes >= 8 << 40), "{e}");
}

#[test]
fn progress_may_stop_it() {
    let watched = |stop: bool| {
        cpu(2).on_progress(move |p| {
            assert_eq!(p.op, "union_mxm");
            if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    let (a, b) = draw::<Manhattan<f64>>(&large_pairs()[6], 1);
    let e = watched(true).union_mxm(Manhattan::<f64>::default(), &a, &b).unwrap_err();
    assert!(matches!(e, Error::Cancelled { op: "union_mxm", .. }), "{e}");
    assert!(watched(false).union_mxm(Manhattan::<f64>::default(), &a, &b).is_ok());
}

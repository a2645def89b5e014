//! Folds of rows and of whole matrices, in the documented order.

use sparring::algebra::*;
use sparring::backend::{Backend, Kernels};
use sparring::{Csr, Cuda};

use crate::common::Same;
use crate::common::arbitrary::{AnyPattern, Draw};
use crate::common::gpu::cuda;
use crate::{ArgMin, Merge, down, expect_identical, large, small};

/// The documented order of a chunk: 256 strided parts, folded by halving.
fn fold_chunk<M: Monoid>(m: M, values: &[M::Out]) -> M::Out {
    let add = |x, y| m.apply::<Host>(V(x), V(y)).0;
    let active = values.len().min(256);
    let mut parts: Vec<_> =
        (0..active).map(|t| values[t..].iter().step_by(256).fold(M::IDENTITY, |x, &y| add(x, y))).collect();
    for half in [128, 64, 32, 16, 8, 4, 2, 1] {
        for t in 0..half {
            if t + half < active {
                parts[t] = add(parts[t], parts[t + half]);
            }
        }
    }
    parts[0]
}

fn fold_row<M: Monoid>(m: M, values: &[M::Out]) -> M::Out {
    let fold = |list: &[M::Out]| list.iter().fold(M::IDENTITY, |x, &y| m.apply::<Host>(V(x), V(y)).0);
    if values.len() <= 128 {
        return fold(values);
    }
    fold(&values.chunks(4096).map(|c| fold_chunk(m, c)).collect::<Vec<_>>())
}

fn fold_all<M: Monoid>(m: M, values: &[M::Out]) -> M::Out {
    let mut values = values.to_vec();
    if values.is_empty() {
        return M::IDENTITY;
    }
    loop {
        values = values.chunks(4096).map(|c| fold_chunk(m, c)).collect();
        if values.len() == 1 {
            return values[0];
        }
    }
}

fn folds<M: Monoid<Out: Draw + Same>>(cuda: &Cuda, m: M, patterns: &[AnyPattern]) {
    for p in patterns {
        let a: Csr<M::Out> = p.matrix(40);
        let on_device = cuda.upload(&a).unwrap();
        let rows = cuda.reduce_rows(m, &on_device).eval().and_then(|y| cuda.download_vector(&y)).expect("reduce_rows");
        assert_eq!(rows.len(), a.nrows());
        for i in 0..a.nrows() {
            let (x, values) = (rows.get(i), a.row(i).1);
            let want = (!values.is_empty()).then(|| fold_row(m, values));
            let same = match (x, want) {
                (Some(x), Some(want)) => x.same(&want),
                (x, want) => x.is_none() && want.is_none(),
            };
            assert!(same, "row {i} of {:?}, {} entries: {x:?}, not {want:?}", a.shape(), values.len());
        }
        let (all, want) = (cuda.reduce(m, &on_device).eval().expect("reduce"), fold_all(m, a.values()));
        assert!(all.same(&want), "all of {:?}, {} entries: {all:?}, not {want:?}", a.shape(), a.nnz());
    }
}

#[test]
#[ignore = "needs a GPU"]
fn folds_have_the_documented_order() {
    let cuda = cuda();
    let (small, large) = (small(), large());
    folds(&cuda, Plus::<f64>::new(), &small);
    folds(&cuda, Plus::<f64>::new(), &large);
    folds(&cuda, Plus::<f32>::new(), &large);
    folds(&cuda, Plus::<i64>::new(), &large);
    folds(&cuda, Times::<u8>::new(), &small);
    folds(&cuda, Min::<f64>::new(), &large);
    folds(&cuda, Max::<f32>::new(), &large);
    folds(&cuda, Lor::<bool>::new(), &large);
    folds(&cuda, Lxnor::<bool>::new(), &large);
    folds(&cuda, Any::<u64>::new(), &large);
    folds(&cuda, ArgMin::new(), &small);
    folds(&cuda, ArgMin::new(), &large);
    folds(&cuda, Merge::new(), &large);
}

/// More chunks than a block folds: two rounds of chunks, and a row with thousands of chunks.
#[test]
#[ignore = "needs a GPU"]
fn folds_of_millions() {
    let cuda = cuda();
    let n = 4096 * 4096 + 4097;
    let values: Vec<f32> = (0..n).map(|p| ((p * 7919) % 1_000_003) as f32 * 1e-3).collect();
    let a = Csr::new(1, n, vec![0, n], (0..n as u32).collect(), values).unwrap();
    let on_device = cuda.upload(&a).unwrap();
    let plus = Plus::<f32>::new();
    assert!(cuda.reduce(plus, &on_device).eval().unwrap().same(&fold_all(plus, a.values())));
    let rows = cuda.download_full(&cuda.reduce_rows(plus, &on_device).eval().unwrap(), 0.0).unwrap();
    assert!(rows[0].same(&fold_row(plus, a.values())));
    // One huge row becomes as many rows as it has entries, and back.
    let t = cuda.transpose(&on_device).eval().unwrap();
    assert_eq!((t.shape(), cuda.longest_row(t.pattern()).unwrap()), ((n, 1), 1));
    expect_identical("twice", &down(&cuda, &cuda.transpose(&t).eval().unwrap()), &a);
    let twice = down(&cuda, &cuda.ewise_add(plus, &on_device, &on_device).eval().unwrap());
    expect_identical("A + A", &twice, &a.map(|x| x + x).unwrap());
}

//! Submatrices, single rows and columns, blocks and aggregates, and index lists on the device.

use std::sync::Arc;

use sparring::algebra::*;
use sparring::backend::{Backend, Kernels, Line};
use sparring::gpu::testing;
use sparring::sparse::{IndexList, MaskSpec};
use sparring::{Cpu, Csr, Cuda};

use crate::common::Same;
use crate::common::arbitrary::{AnyPattern, Draw, Rng};
use crate::common::gpu::cuda;
use crate::{Outer, Triple, down, expect_identical, large, small};

/// Index lists of a dimension: all, ranges, strides, increasing, unordered, with duplicates, empty.
fn lists(rng: &mut Rng, n: usize) -> Vec<IndexList> {
    let half: Vec<usize> = (0..n).filter(|_| rng.below(2) == 0).collect();
    let mut order = rng.order(n);
    order.truncate(n / 3);
    let mut repeats: Vec<usize> = (0..n.min(3000)).map(|_| rng.below(n)).collect();
    repeats.extend(repeats.first().copied());
    let backwards = IndexList::strided(n.saturating_sub(1), -2, n.div_ceil(2));
    let one = IndexList::strided(n / 2, 5, n.min(1));
    let steps = IndexList::strided(n.min(1), 3, n.saturating_sub(1).div_ceil(3));
    let same = IndexList::strided(n / 2, 0, n.min(3));
    let all = IndexList::all();
    vec![
        all,
        (n / 4..n - n / 4).into(),
        half.into(),
        backwards,
        order.into(),
        steps,
        one,
        repeats.into(),
        same,
        vec![].into(),
    ]
}
/// The lists of [`lists`] without duplicates.
const DISTINCT: usize = 7;

/// Pairs of lists that use each row list and each column list at least once.
fn both(rng: &mut Rng, most: usize) -> Vec<(usize, usize)> {
    (0..2 * most).map(|k| if k < most { (k, rng.below(most)) } else { (rng.below(most), k - most) }).collect()
}

fn takes_parts<T: Draw + Same>(cuda: &Cuda, patterns: &[AnyPattern]) {
    let (cpu, mut rng) = (&Cpu::new(), Rng(21));
    for (round, p) in patterns.iter().enumerate() {
        let a: Csr<T> = p.matrix(round as u64);
        let there = cuda.upload(&a).expect("upload");
        let there = if round % 2 == 0 { there } else { testing::with_wide_rows(cuda, &there).expect("memory") };
        let (m, n) = a.shape();
        let other: Csr<T> = AnyPattern { rows: p.rows.iter().rev().cloned().collect(), ..p.clone() }.matrix(77);
        let mask: Csr<u8> = AnyPattern { rows: p.rows.iter().rev().cloned().collect(), ..p.clone() }.matrix(78);
        let on_mask = cuda.upload(&mask).expect("upload");
        let (rows, cols) = (lists(&mut rng, m), lists(&mut rng, n));
        for (r, c) in both(&mut rng, rows.len()) {
            let (i, j) = (&rows[r], &cols[c]);
            let what = format!("lists {r} and {c}");
            if i.len(m) as u64 * (a.nnz() as u64 + 1) < 1 << 34 {
                let found = cuda.extract_matrix(&there, i, j).eval().unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(found.pattern().is_sorted());
                expect_identical(
                    &format!("A(I, J), {what}"),
                    &down(cuda, &found),
                    &cpu.extract_part(&a, (i, j)).unwrap(),
                );
            }
            let found = cuda.keep_part(&there, (i, j)).unwrap();
            expect_identical(&format!("within, {what}"), &down(cuda, &found), &cpu.keep_part(&a, (i, j)).unwrap());
        }
        for (r, c) in both(&mut rng, DISTINCT) {
            let (i, j) = (&rows[r], &cols[c]);
            let what = format!("lists {r} and {c}");
            let b = cpu.extract_part(&other, (i, j)).unwrap();
            let on_b = cuda.upload(&b).unwrap();
            let found = cuda.place_part(&on_b, (i, j), (m, n)).unwrap();
            expect_identical(
                &format!("placed, {what}"),
                &down(cuda, &found),
                &cpu.place_part(&b, (i, j), (m, n)).unwrap(),
            );
            for masked in [None, Some(false), Some(true)] {
                let (mut c, mut d) = (a.clone(), there.clone());
                let here = sparring::sparse::MatrixPattern::from(Arc::clone(mask.pattern()));
                let on_host = masked.map(|complement| MaskSpec::new(&here, complement));
                Kernels::<u32>::assign_part(cpu, &mut c, b.clone(), (i, j), on_host).unwrap();
                let on_device = masked.map(|complement| MaskSpec::new(on_mask.pattern(), complement));
                cuda.assign_part(&mut d, on_b.clone(), (i, j), on_device).unwrap();
                expect_identical(&format!("C(I, J) = A, mask {masked:?}, {what}"), &down(cuda, &d), &c);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn parts_are_those_of_the_cpu() {
    let cuda = cuda();
    let (small, large) = (small(), large());
    takes_parts::<f64>(&cuda, &small);
    takes_parts::<u8>(&cuda, &small[..20]);
    takes_parts::<Triple>(&cuda, &small[20..40]);
    takes_parts::<u32>(&cuda, &small[40..]);
    takes_parts::<f64>(&cuda, &large);
    takes_parts::<Outer>(&cuda, &large[..2]);
}

#[test]
#[ignore = "needs a GPU"]
fn lists_of_huge_dimensions_take_as_much_as_they_have() {
    let (cuda, cpu) = (cuda(), &Cpu::new());
    let n = u32::MAX as usize - 1;
    let cols: Vec<u32> = vec![0, 5, 1 << 20, (1 << 31) + 1, n as u32 - 1];
    let a = Csr::<i64>::new(2, n, vec![0, 2, 7], [&cols[..2], &cols[..]].concat(), (0..7).collect()).unwrap();
    let there = cuda.upload(&a).unwrap();
    cuda.reset_peak_memory().unwrap();
    for j in [vec![5, n - 1], vec![n - 1, 5, 1 << 31], vec![5, 5, 0, n - 1], vec![]] {
        let part = (&IndexList::from([1, 0]), &IndexList::from(j));
        expect_identical(
            "a part",
            &down(&cuda, &cuda.extract_part(&there, part).unwrap()),
            &cpu.extract_part(&a, part).unwrap(),
        );
        expect_identical(
            "within",
            &down(&cuda, &cuda.keep_part(&there, part).unwrap()),
            &cpu.keep_part(&a, part).unwrap(),
        );
    }
    let strided = (&IndexList::all(), &IndexList::strided(n - 1, -((n - 6) as isize), 2));
    expect_identical(
        "strides",
        &down(&cuda, &cuda.extract_part(&there, strided).unwrap()),
        &cpu.extract_part(&a, strided).unwrap(),
    );
    assert!(cuda.peak_memory().unwrap() < 1 << 26, "{}", cuda.peak_memory().unwrap());
}

fn same_vector<T: Value + Same>(
    cuda: &Cuda,
    what: &str,
    found: &sparring::gpu::DeviceVector<T>,
    want: &sparring::Vector<T>,
) {
    let (found, want) = (cuda.download_list::<T, u32>(found).expect("a result"), want.to_sparse().expect("memory"));
    assert_eq!((found.len(), found.indices()), (want.len(), want.indices()), "{what}");
    let same = found.values().iter().zip(want.values()).all(|(x, y)| x.same(y));
    assert!(same, "{what}: values differ");
}

fn takes_lines<T: Draw + Same>(cuda: &Cuda, patterns: &[AnyPattern]) {
    let (cpu, mut rng) = (&Cpu::new(), Rng(22));
    for (round, p) in patterns.iter().enumerate() {
        let a: Csr<T> = p.matrix(round as u64);
        let there = cuda.upload(&a).expect("upload");
        let there = if round % 2 == 0 { there } else { testing::with_wide_rows(cuda, &there).expect("memory") };
        let (m, n) = a.shape();
        for k in [0, 1, -1, 7, -40, n as i64, -(m as i64), i64::MAX, i64::MIN] {
            same_vector(
                cuda,
                &format!("diagonal {k}"),
                &cuda.diagonal_of(&there, k).unwrap(),
                &cpu.diagonal_of(&a, k).unwrap(),
            );
        }
        same_vector(cuda, "counts", &cuda.row_counts(&there).unwrap(), &cpu.row_counts(&a).unwrap());
        let (rows, cols) = (lists(&mut rng, m), lists(&mut rng, n));
        if m > 0 && n > 0 {
            for line in rows.into_iter().map(|list| Line::Column(list, rng.below(n))).collect::<Vec<_>>() {
                same_vector(
                    cuda,
                    &format!("{line:?}"),
                    &cuda.extract_line(&there, &line).unwrap(),
                    &cpu.extract_line(&a, &line).unwrap(),
                );
            }
            // Including the longest row.
            let longest = (0..m).max_by_key(|&i| a.pattern().row(i).len()).unwrap_or(0);
            for list in cols {
                for line in [rng.below(m), longest].map(|i| Line::Row(i, list.clone())) {
                    same_vector(
                        cuda,
                        &format!("{line:?}"),
                        &cuda.extract_line(&there, &line).unwrap(),
                        &cpu.extract_line(&a, &line).unwrap(),
                    );
                }
            }
        }
        if a.nnz() < 10_000 {
            for k in [0, 3, -5] {
                let v = cpu.diagonal_of(&a, 0).unwrap();
                for v in [v.clone(), sparring::Vector::full((0..9).map(|_| T::draw(&mut rng)).collect()).unwrap()] {
                    let on_v = cuda.upload_vector(&v).unwrap();
                    let want = cpu.diagonal_matrix(&v, k).unwrap();
                    expect_identical("diag", &down(cuda, &cuda.diagonal_matrix(&on_v, k).unwrap()), &want);
                    let bits = cuda.to_bitmap(&on_v).unwrap();
                    expect_identical("diag", &down(cuda, &cuda.diagonal_matrix(&bits, k).unwrap()), &want);
                }
            }
        }
        let b: Csr<T> = p.matrix(99);
        let on_b = cuda.upload(&b).unwrap();
        let found = cuda.concat(&[&[&there, &on_b, &there], &[&on_b, &there, &there]]).unwrap();
        expect_identical("blocks", &down(cuda, &found), &cpu.concat(&[&[&a, &b, &a], &[&b, &a, &a]]).unwrap());
        for (rows, cols) in [(m + 3, n + 2), (m / 2, n + 1), (m + 1, n / 2), (m / 3, n / 3)] {
            let found = cuda.resize(&there, rows, cols).unwrap();
            expect_identical("resized", &down(cuda, &found), &cpu.resize(&a, rows, cols).unwrap());
        }
    }
}
fn finds_best<T: Draw + Same + Num>(cuda: &Cuda, patterns: &[AnyPattern]) {
    for (round, p) in patterns.iter().enumerate() {
        let a: Csr<T> = p.matrix(round as u64);
        let there = cuda.upload(&a).expect("upload");
        let there = if round % 2 == 0 { there } else { testing::with_wide_rows(cuda, &there).expect("memory") };
        for greatest in [false, true] {
            let want = Cpu::new().row_arg(&a, greatest).unwrap();
            same_vector(cuda, &format!("greatest: {greatest}"), &cuda.row_arg(&there, greatest).unwrap(), &want);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn lines_blocks_and_aggregates_are_those_of_the_cpu() {
    let cuda = cuda();
    let (small, large) = (small(), large());
    takes_lines::<f64>(&cuda, &small);
    takes_lines::<u8>(&cuda, &small[..20]);
    takes_lines::<Triple>(&cuda, &small[20..40]);
    takes_lines::<f64>(&cuda, &large);
    finds_best::<f64>(&cuda, &small);
    finds_best::<u8>(&cuda, &small);
    finds_best::<i64>(&cuda, &large);
    finds_best::<f64>(&cuda, &large);
    finds_best::<bool>(&cuda, &large[2..]);
    // Columns with few distinct indices, where a warp aggregates its counts.
    let machine = sparring::runtime::Machine::from(cuda.clone());
    let here = sparring::runtime::Machine::from(Cpu::new());
    for p in small.iter().chain(&large) {
        let a = sparring::runtime::Matrix::from(p.matrix::<f32>(3));
        let counts = |on: &sparring::runtime::Machine| {
            let op = sparring::runtime::Op::Aggregate(sparring::runtime::Aggregate::Count);
            let made: sparring::runtime::Vector = on.call(op, &a).transpose_a().eval().expect("counts");
            let (columns, counts) = made.download().expect("downloaded").entries().expect("entries");
            (columns.to_vec(), counts.slice().get::<i64>().expect("numbers").to_vec())
        };
        assert_eq!(counts(&machine), counts(&here));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn values_on_the_device_are_index_lists() {
    use sparring::runtime::{BinaryOp, IndexList, Machine, Op, Vector};
    let (cuda, mut rng) = (cuda(), Rng(31));
    let (gpu, here) = (Machine::from(cuda.clone()), Machine::from(Cpu::new()));
    let n = 5000;
    let places: Vec<u64> = (0..n).map(|_| rng.below(n) as u64).collect();
    let increasing: Vec<u64> = (0..n as u64 / 2).map(|i| 2 * i + 1).collect();
    let v = Vector::from(sparring::Vector::<f64>::full((0..n).map(|_| rng.below(1000) as f64).collect()).unwrap());
    let there = gpu.upload_vector(&v).unwrap();
    let all = IndexList::all();
    for (places, ordered) in [(&places, false), (&increasing, true)] {
        let typed: Vec<Vector> = vec![
            sparring::Vector::<u64>::full(places.clone()).unwrap().into(),
            sparring::Vector::<i16>::full(places.iter().map(|&i| i as i16).collect()).unwrap().into(),
            sparring::Vector::<f64>::full(places.iter().map(|&i| i as f64).collect()).unwrap().into(),
        ];
        let want: IndexList = places.iter().map(|&i| i as usize).collect::<Vec<_>>().into();
        for list in typed {
            let list = gpu.upload_vector(&list).unwrap().to_index_list().unwrap();
            let values = |x: &Vector| {
                let (places, values) = x.download().unwrap().entries().unwrap();
                (places, values.slice().get::<f64>().unwrap().iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            };
            let found: Vector = gpu.call(Op::Extract(&list, &all), &there).eval().unwrap();
            let expected: Vector = here.call(Op::Extract(&want, &all), &v).eval().unwrap();
            assert_eq!(values(&found), values(&expected));
            let max = BinaryOp::new("max", Type::F64).unwrap();
            let folded: Vector = gpu.call(Op::Scatter(&list, n, &max), &found).eval().unwrap();
            let expected_folds: Vector = here.call(Op::Scatter(&want, n, &max), &expected).eval().unwrap();
            assert_eq!(values(&folded), values(&expected_folds));
            if ordered {
                let placed = |on: &Machine, list: &IndexList, u: &Vector, w: &Vector| {
                    let mut w = w.clone();
                    on.call(Op::Assign(list, &all), u).into(&mut w).unwrap();
                    values(&w)
                };
                assert_eq!(placed(&gpu, &list, &found, &there), placed(&here, &want, &expected, &v));
            }
            // A list that the CPU reads is downloaded.
            assert!(list == want);
            let beyond =
                gpu.call(Op::Extract(&list, &all), &gpu.upload_vector(&Vector::empty(Type::F64, 9).unwrap()).unwrap());
            let error = beyond.eval::<Vector>().unwrap_err().to_string();
            assert!(error.contains("of a dimension of 9"), "{error}");
        }
    }
    // Entries of bitmaps and lists, in index order.
    let some = Csr::<u32>::new(1, 9, vec![0, 3], vec![1, 4, 8], vec![7, 7, 0]).unwrap();
    let some =
        sparring::Vector::<u32>::from_entries(9, some.col_idx().to_vec(), some.values().to_vec(), Any::<u32>::new());
    let some = cuda.upload_vector(&some.unwrap()).unwrap();
    for form in [cuda.to_bitmap(&some).unwrap(), some] {
        assert_eq!(cuda.index_list(&form).unwrap().to_vec("indices", 8).unwrap(), [7, 7, 0]);
    }
    for wrong in [-1.0, 0.5, f64::NAN, 4_294_967_295.0, f64::INFINITY] {
        let error = cuda.index_list(&cuda.upload_full(&[1.0, wrong]).unwrap()).unwrap_err().to_string();
        assert!(error.contains("f64 is no index"), "{error}");
    }
    let negative = Vector::from(sparring::Vector::<i32>::full(vec![1, -1]).unwrap());
    assert!(gpu.upload_vector(&negative).unwrap().to_index_list().is_err());
}

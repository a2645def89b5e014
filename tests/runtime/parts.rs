//! Submatrices and subvectors by name compared with dense tables: extract, assign, scatter, diagonals, unions.

use crate::common::arbitrary::Rng;
use sparring::algebra::Type;
use sparring::prelude::*;
use sparring::runtime::{self, BinaryOp, IndexList, Machine, Matrix, Op, Scalar};

type Table = Vec<Vec<Option<i64>>>;

fn below(rng: &mut Rng, n: usize) -> usize {
    (rng.next() % n as u64) as usize
}
fn table(rng: &mut Rng, (m, n): (usize, usize), some: u64) -> Table {
    let mut entry = || (rng.next() % 8 < some).then(|| (rng.next() % 5) as i64);
    (0..m).map(|_| (0..n).map(|_| entry()).collect()).collect()
}
fn matrix(t: &Table, n: usize) -> Matrix {
    let mut builder = sparring::sparse::Builder::<i64>::new(t.len(), n).unwrap();
    for (i, row) in t.iter().enumerate() {
        for (j, x) in row.iter().enumerate() {
            if let Some(x) = x {
                builder.push(i, j, *x).unwrap();
            }
        }
    }
    builder.unique().unwrap().into()
}
fn vector(t: &[Option<i64>]) -> runtime::Vector {
    let (is, xs) = t.iter().enumerate().filter_map(|(i, x)| x.map(|x| (i as u32, x))).unzip();
    Vector::<i64>::new(t.len(), is, xs).unwrap().into()
}
fn of_matrix(a: &Matrix) -> Table {
    let (m, n) = a.shape();
    let a = a.csr::<i64>().unwrap();
    (0..m).map(|i| (0..n).map(|j| a.get(i, j).copied()).collect()).collect()
}
fn of_vector(x: &runtime::Vector) -> Vec<Option<i64>> {
    (0..x.len()).map(|i| x.typed::<i64>().unwrap().get(i).copied()).collect()
}

/// An index list with its indices: all, a range, a strided range, or unordered; with `repeats`, possibly with
/// duplicates.
fn list(rng: &mut Rng, n: usize, repeats: bool) -> (IndexList, Vec<usize>) {
    let list = match rng.next() % 4 {
        0 => IndexList::all(),
        1 => {
            let start = below(rng, n);
            (start..start + 1 + below(rng, n - start)).into()
        }
        2 if n > 2 => IndexList::strided(n - 1, -2, n.div_ceil(2)),
        _ if repeats => (0..below(rng, 2 * n)).map(|_| below(rng, n)).collect::<Vec<_>>().into(),
        _ => {
            let mut all: Vec<usize> = (0..n).collect();
            (1..n).for_each(|p| all.swap(p, below(rng, p + 1)));
            all.truncate(1 + below(rng, n));
            all.into()
        }
    };
    let indices = list.to_vec("rows", n).unwrap();
    (list, indices)
}

/// C⟨M, r⟩ = Z, where z is C with the assigned part overwritten.
fn masked(c: &mut Option<i64>, z: Option<i64>, mask: Option<bool>, replace: bool) {
    match mask {
        None | Some(true) => *c = z,
        Some(false) if replace => *c = None,
        Some(false) => {}
    }
}

#[test]
fn parts_are_extracted() {
    let (cpu, mut rng) = (Machine::from(Cpu::with_threads(2).unwrap()), Rng(11));
    for _ in 0..400 {
        let shape @ (m, n) = (1 + below(&mut rng, 9), 1 + below(&mut rng, 40));
        let some = rng.next() % 9;
        let t = table(&mut rng, shape, some);
        let a = matrix(&t, n);
        let ((rows, is), (cols, js)) = (list(&mut rng, m, true), list(&mut rng, n, true));
        let c: Matrix = cpu.call(Op::Extract(&rows, &cols), &a).eval().unwrap();
        let want: Table = is.iter().map(|&i| js.iter().map(|&j| t[i][j]).collect()).collect();
        assert_eq!((c.shape(), of_matrix(&c)), ((is.len(), js.len()), want.clone()), "{rows:?} {cols:?}");
        assert!(c.pattern().unwrap().is_sorted());
        let at = matrix(&(0..n).map(|j| (0..m).map(|i| t[i][j]).collect()).collect(), m);
        let same: Matrix = cpu.call(Op::Extract(&rows, &cols), &at).transpose_a().eval().unwrap();
        assert_eq!(of_matrix(&same), want);
        let (i, j) = (below(&mut rng, m), below(&mut rng, n));
        let column: runtime::Vector = cpu.call(Op::ExtractColumn(&rows, j), &a).eval().unwrap();
        assert_eq!(of_vector(&column), is.iter().map(|&i| t[i][j]).collect::<Vec<_>>());
        let row: runtime::Vector = cpu.call(Op::ExtractColumn(&cols, i), &a).transpose_a().eval().unwrap();
        assert_eq!(of_vector(&row), js.iter().map(|&j| t[i][j]).collect::<Vec<_>>());
        let u = vector(&t[i]);
        let w: runtime::Vector = cpu.call(Op::Extract(&cols, &IndexList::all()), &u).eval().unwrap();
        assert_eq!(of_vector(&w), js.iter().map(|&j| t[i][j]).collect::<Vec<_>>());
        let k = below(&mut rng, m + n) as i64 - m as i64;
        let diagonal: runtime::Vector = cpu.call(Op::Diagonal(k), &a).eval().unwrap();
        let want: Vec<_> = (0..m).filter_map(|i| t[i].get(usize::try_from(i as i64 + k).ok()?).copied()).collect();
        assert_eq!(of_vector(&diagonal), want);
        let d: Matrix = cpu.call(Op::Diag(k), &u).eval().unwrap();
        let size = n + k.unsigned_abs() as usize;
        let mut want = vec![vec![None; size]; size];
        for (p, x) in t[i].iter().enumerate() {
            want[p + (-k).max(0) as usize][p + k.max(0) as usize] = *x;
        }
        assert_eq!(of_matrix(&d), want, "{k}");
    }
}

#[test]
fn parts_are_assigned() {
    let (cpu, mut rng) = (Machine::from(Cpu::with_threads(2).unwrap()), Rng(5));
    let plus = BinaryOp::new("minus", Type::I64).unwrap();
    for round in 0..3000 {
        let shape @ (m, n) = (1 + below(&mut rng, 5), 1 + below(&mut rng, 9));
        let mut dense = |shape: (usize, usize)| {
            let some = rng.next() % 9;
            table(&mut rng, shape, some)
        };
        let (t, mask) = (dense(shape), dense(shape));
        let ((rows, is), (cols, js)) = (list(&mut rng, m, false), list(&mut rng, n, false));
        let some = rng.next() % 9;
        let part = table(&mut rng, (is.len(), js.len()), some);
        let scalar = rng.next() % 3 == 0;
        let (accum, replace) = (rng.next() % 2 == 0, rng.next() % 2 == 0);
        let (use_mask, structure, complement) = (rng.next() % 3 > 0, rng.next() % 2 == 0, rng.next() % 2 == 0);
        let allows = |x: Option<i64>| (if structure { x.is_some() } else { x.is_some_and(|x| x != 0) }) != complement;
        let mut want = t.clone();
        let mut z = t.clone();
        for (p, &i) in is.iter().enumerate() {
            for (q, &j) in js.iter().enumerate() {
                let new = if scalar { Some(7) } else { part[p][q] };
                z[i][j] = match (t[i][j], new) {
                    (Some(c), Some(x)) if accum => Some(c - x),
                    (c, None) if accum => c,
                    (_, x) => x,
                };
            }
        }
        for i in 0..m {
            for j in 0..n {
                masked(&mut want[i][j], z[i][j], use_mask.then(|| allows(mask[i][j])), replace && use_mask);
            }
        }
        let seven = Scalar::from(7i64);
        macro_rules! write {
            ($call:expr, $mask:expr, $c:expr) => {{
                let mut call = $call;
                if use_mask {
                    call = call.mask($mask);
                    call = if structure { call.structure() } else { call };
                    call = if complement { call.complement() } else { call };
                }
                call = if replace { call.replace() } else { call };
                call = if accum { call.accum(&plus) } else { call };
                call.into(&mut $c).unwrap();
            }};
        }
        let mut c = matrix(&t, n);
        let a = matrix(&part, js.len());
        if scalar {
            write!(cpu.call(Op::AssignScalar(&seven, &rows, &cols), ()), &matrix(&mask, n), c);
        } else if round % 2 == 0 {
            write!(cpu.call(Op::Assign(&rows, &cols), &a), &matrix(&mask, n), c);
        } else {
            let at = cpu.transpose(&a).unwrap();
            write!(cpu.call(Op::Assign(&rows, &cols), &at).transpose_a(), &matrix(&mask, n), c);
        }
        assert_eq!(
            of_matrix(&c),
            want,
            "{t:?} {rows:?} {cols:?} {part:?} {mask:?} {accum} {replace} {use_mask} {structure} {complement} {scalar}"
        );
        // A vector, and the first row of a matrix, under the same rules.
        let row = |z: &Table| -> Vec<_> {
            let mut want = t[0].clone();
            for (j, want) in want.iter_mut().enumerate() {
                masked(want, z[0][j], use_mask.then(|| allows(mask[0][j])), replace && use_mask);
            }
            want
        };
        let mut z = t.clone();
        for (q, &j) in js.iter().enumerate() {
            let new = if scalar { Some(7) } else { part[0][q] };
            z[0][j] = match (t[0][j], new) {
                (Some(c), Some(x)) if accum => Some(c - x),
                (c, None) if accum => c,
                (_, x) => x,
            };
        }
        let (mut w, u, all) = (vector(&t[0]), vector(&part[0]), IndexList::all());
        if scalar {
            write!(cpu.call(Op::AssignScalar(&seven, &cols, &all), ()), &vector(&mask[0]), w);
        } else {
            write!(cpu.call(Op::Assign(&cols, &all), &u), &vector(&mask[0]), w);
            let mut c = matrix(&t, n);
            write!(cpu.call(Op::AssignRow(0, &cols), &u), &vector(&mask[0]), c);
            assert_eq!(of_matrix(&c)[0], row(&z));
            assert_eq!(of_matrix(&c)[1..], t[1..]);
            let mut c = cpu.transpose(&matrix(&t, n)).unwrap();
            write!(cpu.call(Op::AssignColumn(&cols, 0), &u), &vector(&mask[0]), c);
            assert_eq!(of_matrix(&cpu.transpose(&c).unwrap())[0], row(&z));
        }
        assert_eq!(
            of_vector(&w),
            row(&z),
            "{t:?} {cols:?} {part:?} {mask:?} {accum} {replace} {structure} {complement}"
        );
    }
}

#[test]
fn repeated_places_are_folded() {
    let (cpu, mut rng) = (Machine::from(Cpu::with_threads(2).unwrap()), Rng(3));
    let plus = BinaryOp::new("plus", Type::I64).unwrap();
    for _ in 0..300 {
        let (n, len) = (1 + below(&mut rng, 30), 1 + below(&mut rng, 20));
        let t = table(&mut rng, (1, n), 6).remove(0);
        let at: Vec<usize> = (0..n).map(|_| below(&mut rng, len)).collect();
        let w: runtime::Vector = cpu.call(Op::Scatter(&at.clone().into(), len, &plus), &vector(&t)).eval().unwrap();
        let mut want = vec![None; len];
        for (x, &i) in t.iter().zip(&at) {
            if let Some(x) = x {
                want[i] = Some(want[i].unwrap_or(0) + x);
            }
        }
        assert_eq!(of_vector(&w), want);
    }
    // f(f(i)) min= m(i), a step of FastSV.
    let min = BinaryOp::new("min", Type::I64).unwrap();
    let mut f = vector(&[Some(3), Some(3), Some(2), Some(3)]);
    let m = vector(&[Some(1), Some(0), Some(9), Some(2)]);
    let parents = IndexList::from(vec![3, 3, 2, 3]);
    cpu.call(Op::Scatter(&parents, 4, &min), &m).accum(&min).into(&mut f).unwrap();
    assert_eq!(of_vector(&f), [Some(3), Some(3), Some(2), Some(0)]);
}

#[test]
fn unions_take_a_value_for_what_is_absent() {
    let (cpu, mut rng) = (Machine::from(Cpu::with_threads(2).unwrap()), Rng(8));
    let op = BinaryOp::new("minus", Type::I64).unwrap();
    let (for_a, for_b) = (Scalar::from(100i64), Scalar::from(1i64));
    for _ in 0..300 {
        let shape @ (_, n) = (1 + below(&mut rng, 6), 1 + below(&mut rng, 300));
        let (x, y) = (rng.next() % 9, rng.next() % 9);
        let (a, b) = (table(&mut rng, shape, x), table(&mut rng, shape, y));
        let c: Matrix = cpu.call(Op::EwiseUnion(&op, &for_a, &for_b), (&matrix(&a, n), &matrix(&b, n))).eval().unwrap();
        let of =
            |x: Option<i64>, y: Option<i64>| (x.is_some() || y.is_some()).then(|| x.unwrap_or(100) - y.unwrap_or(1));
        let want: Table = a.iter().zip(&b).map(|(x, y)| x.iter().zip(y).map(|(&x, &y)| of(x, y)).collect()).collect();
        assert_eq!(of_matrix(&c), want);
        let c: runtime::Vector =
            cpu.call(Op::EwiseUnion(&op, &for_a, &for_b), (&vector(&a[0]), &vector(&b[0]))).eval().unwrap();
        assert_eq!(of_vector(&c), want[0]);
    }
}

#[test]
fn bad_parts_are_named() {
    let cpu = Machine::from(Cpu::new());
    let a = matrix(&vec![vec![Some(1); 4]; 3], 4);
    let (all, far) = (IndexList::all(), IndexList::from(vec![0, 4]));
    let error = |op: Op<'_>| cpu.call(op, &a).eval::<Matrix>().unwrap_err().to_string();
    assert_eq!(error(Op::Extract(&far, &all)), "rows: index 4 at position 1 of the list, of a dimension of 3");
    let mut c = a.clone();
    let twice = IndexList::from(vec![1, 0, 1]);
    let error = cpu.call(Op::Assign(&twice, &all), &a).into(&mut c).unwrap_err().to_string();
    assert!(error.contains("index 1 is in the list twice"), "{error}");
    let error = cpu.call(Op::Assign(&(0..2).into(), &all), &a).into(&mut c).unwrap_err().to_string();
    assert!(error.contains("2×4") && error.contains("3×4"), "{error}");
    let error = cpu.call(Op::Assign(&all, &all), &a).eval::<Matrix>().unwrap_err().to_string();
    assert!(error.contains("into(&mut c)"), "{error}");
    let error = cpu.call(Op::Extract(&all, &all), ()).eval::<Matrix>().unwrap_err().to_string();
    assert!(error.contains("()"), "{error}");
    let mut x = vector(&[Some(1); 4]);
    let error = cpu.call(Op::AssignRow(0, &all), &x.clone()).into(&mut x).unwrap_err().to_string();
    assert!(error.contains("a matrix"), "{error}");
    let some = IndexList::from(0..1);
    let error = cpu.call(Op::Assign(&all, &some), &x.clone()).into(&mut x).unwrap_err().to_string();
    assert!(error.contains("cols: a vector has no columns"), "{error}");
    let one = Scalar::from(1i64);
    let error = cpu.call(Op::AssignScalar(&one, &all, &some), ()).into(&mut x).unwrap_err().to_string();
    assert!(error.contains("cols: a vector has no columns"), "{error}");
    let error = cpu.call(Op::AssignScalar(&one, &all, &all), ()).transpose_a().into(&mut c).unwrap_err().to_string();
    assert!(error.contains("matrices are transposed"), "{error}");
    let half = Scalar::from(0.5);
    let error = cpu.call(Op::AssignScalar(&half, &all, &all), ()).into(&mut x).unwrap_err().to_string();
    assert!(error.contains("f64") && error.contains("i64"), "{error}");
    let huge = IndexList::strided(0, 0, usize::MAX);
    assert!(cpu.call(Op::Extract(&huge, &all), &a).eval::<Matrix>().is_err());
    assert!(cpu.call(Op::Extract(&all, &huge), &a).eval::<Matrix>().is_err());
    assert!(cpu.call(Op::Diag(i64::MIN), &x).eval::<Matrix>().is_err());
}

#[test]
fn rows_are_aggregated() {
    use sparring::runtime::Aggregate;
    let (cpu, mut rng) = (Machine::from(Cpu::with_threads(2).unwrap()), Rng(21));
    for _ in 0..100 {
        let shape @ (m, n) = (1 + below(&mut rng, 6), 1 + below(&mut rng, 12));
        let some = rng.next() % 9;
        let t = table(&mut rng, shape, some);
        let a = matrix(&t, n);
        let of = |aggregate| cpu.call(Op::Aggregate(aggregate), &a).eval::<runtime::Vector>().unwrap();
        let (least, greatest) = (of_vector(&of(Aggregate::ArgMin)), of_vector(&of(Aggregate::ArgMax)));
        let (counts, means) = (of_vector(&of(Aggregate::Count)), of(Aggregate::Mean));
        for i in 0..m {
            let row: Vec<(i64, i64)> = t[i].iter().enumerate().filter_map(|(j, x)| x.map(|x| (x, j as i64))).collect();
            assert_eq!(least[i], row.iter().min().map(|x| x.1));
            assert_eq!(greatest[i], row.iter().max_by_key(|x| (x.0, -x.1)).map(|x| x.1));
            assert_eq!(counts[i], (!row.is_empty()).then_some(row.len() as i64));
            let mean = row.iter().map(|x| x.0 as f64).sum::<f64>() / row.len() as f64;
            assert_eq!(means.typed::<f64>().unwrap().get(i).copied(), (!row.is_empty()).then_some(mean));
        }
        let at = cpu.transpose(&a).unwrap();
        let of_columns: runtime::Vector = cpu.call(Op::Aggregate(Aggregate::Count), &at).transpose_a().eval().unwrap();
        assert_eq!(of_vector(&of_columns), counts);
    }
}

#[test]
fn matrices_are_built_with_any_operator_for_repeats() {
    use sparring::algebra::{Array, First, Minus, Second};
    use sparring::par::Threads;
    let (threads, mut rng) = (Threads::new(3).unwrap(), Rng(77));
    let minus = BinaryOp::new("minus", Type::I64).unwrap();
    for entries in [0, 1, 10, 300, 5000, 100_000] {
        let (m, n) = (1 + below(&mut rng, 20), 1 + below(&mut rng, 30));
        let mut draw = |n: usize| (0..entries).map(|_| below(&mut rng, n) as u32).collect::<Vec<_>>();
        let (rows, cols) = (draw(m), draw(n));
        let values: Vec<i64> = (0..entries as i64).collect();
        let mut want = vec![vec![None; n]; m];
        for ((&i, &j), &x) in rows.iter().zip(&cols).zip(&values) {
            let at: &mut Option<i64> = &mut want[i as usize][j as usize];
            *at = Some(at.map_or(x, |before| before - x));
        }
        let entries_of = || (rows.clone(), cols.clone(), Array::of(values.clone()));
        let a = Matrix::build(&threads, (m, n), entries_of(), Some(&minus)).unwrap();
        assert_eq!(of_matrix(&a), want);
        let repeats = want.iter().flatten().flatten().count() < entries;
        // The typed chains: the same, also with operators that return one of their operands.
        let coo = sparring::Coo::<i64>::new(m, n, rows.clone(), cols.clone(), values.clone()).unwrap();
        let typed = |a: sparring::Csr<i64>| of_matrix(&a.into());
        assert_eq!(typed(coo.to_csr_on(&threads, Minus::new()).unwrap()), want);
        assert_eq!(coo.to_csr_unique_on(&threads).is_err(), repeats);
        let mut builder = sparring::sparse::Builder::<i64>::new(m, n).unwrap();
        rows.iter().zip(&cols).zip(&values).for_each(|((&i, &j), &x)| builder.push(i as usize, j as usize, x).unwrap());
        assert_eq!(typed(builder.clone().finish(Minus::new()).unwrap()), want);
        assert_eq!(typed(builder.clone().finish_hyper(Minus::new()).unwrap().into_csr().unwrap()), want);
        assert_eq!(builder.clone().unique().is_err(), repeats);
        let (mut first, mut last) = (vec![vec![None; n]; m], vec![vec![None; n]; m]);
        for ((&i, &j), &x) in rows.iter().zip(&cols).zip(&values) {
            first[i as usize][j as usize].get_or_insert(x);
            last[i as usize][j as usize] = Some(x);
        }
        assert_eq!(typed(builder.clone().finish(First::new()).unwrap()), first);
        assert_eq!(typed(builder.finish(Second::new()).unwrap()), last);
        assert_eq!(Matrix::build(&threads, (m, n), entries_of(), None).is_err(), repeats);
        let list: Vec<usize> = cols.iter().map(|&j| j as usize).collect();
        let x = runtime::Vector::build(&threads, n, (list.clone(), Array::of(values.clone())), Some(&minus)).unwrap();
        let mut want: Vec<Option<i64>> = vec![None; n];
        for (&j, &x) in list.iter().zip(&values) {
            want[j] = Some(want[j].map_or(x, |before| before - x));
        }
        assert_eq!(of_vector(&x), want);
        let typed = sparring::Vector::<i64>::from_entries(n, cols.clone(), values.clone(), Minus::new()).unwrap();
        assert_eq!(of_vector(&typed.into()), want);
        let repeats = want.iter().flatten().count() < entries;
        match sparring::Vector::<i64>::from_unique(n, cols, values) {
            Ok(x) => assert_eq!((of_vector(&x.into()), repeats), (want, false)),
            Err(e) => assert!(repeats && e.to_string().contains("index"), "{e}"),
        }
    }
    let two = || (vec![0usize, 0], Array::of(vec![1i64, 2]));
    let error = runtime::Vector::build(&threads, 2, two(), None).unwrap_err().to_string();
    assert!(error.contains("index 0"), "{error}");
    let of_f64 = BinaryOp::new("plus", Type::F64).unwrap();
    assert!(runtime::Vector::build(&threads, 2, two(), Some(&of_f64)).is_err());
}

#[test]
fn blocks_sizes_and_single_entries() {
    let (cpu, mut rng) = (Machine::from(Cpu::with_threads(2).unwrap()), Rng(31));
    for _ in 0..100 {
        let (heights, widths): (Vec<usize>, Vec<usize>) = (
            (0..1 + below(&mut rng, 3)).map(|_| below(&mut rng, 4)).collect(),
            (0..1 + below(&mut rng, 3)).map(|_| 1 + below(&mut rng, 4)).collect(),
        );
        let (m, n) = (heights.iter().sum::<usize>(), widths.iter().sum::<usize>());
        let t = table(&mut rng, (m, n), 5);
        let a = matrix(&t, n);
        let blocks = cpu.split(&a, &heights, &widths).unwrap();
        assert_eq!(blocks[0][0].shape(), (heights[0], widths[0]));
        let rows: Vec<Vec<&Matrix>> = blocks.iter().map(|row| row.iter().collect()).collect();
        let rows: Vec<&[&Matrix]> = rows.iter().map(|row| &row[..]).collect();
        assert_eq!(of_matrix(&cpu.concat(&rows).unwrap()), t);
        assert!(cpu.split(&a, &heights, &[n, 1]).is_err());
        let (p, q) = (1 + below(&mut rng, 12), 1 + below(&mut rng, 12));
        let resized = cpu.resize(&a, p, q).unwrap();
        let at = |i: usize, j: usize| t.get(i).and_then(|row| row.get(j).copied().flatten());
        let want: Table = (0..p).map(|i| (0..q).map(|j| at(i, j)).collect()).collect();
        assert_eq!((resized.shape(), of_matrix(&resized)), ((p, q), want));
        if m > 0 {
            let (i, j) = (below(&mut rng, m), below(&mut rng, n));
            assert_eq!(a.get(i, j).unwrap(), t[i][j].map(Scalar::from));
            let mut x = vector(&t[i]);
            let longer = cpu.resize_vector(&x, q).unwrap();
            assert_eq!(of_vector(&longer), (0..q).map(|j| at(i, j)).collect::<Vec<_>>());
            x.set(j, 99i64).unwrap();
            assert_eq!(x.get(j).unwrap(), Some(Scalar::from(99i64)));
            x.remove(j).unwrap();
            assert_eq!((x.get(j).unwrap(), x.get(n).is_err(), x.set(0, 1.0).is_err()), (None, true, true));
        }
        assert!(a.get(m, 0).is_err());
    }
    let error = cpu.concat(&[&[], &[]]).unwrap_err().to_string();
    assert!(error.contains("there are none"), "{error}");
}

//! Matrices and vectors with dimensions up to 2⁶⁰: plain examples, and what is refused.

use sparring::algebra::{Array, Type};
use sparring::par::Threads;
use sparring::runtime::{
    Aggregate, BinaryOp, IndexList, Machine, Matrix, Monoid, Op, Operation, Pairing, Scalar, Semiring, UnaryOp, Vector,
};
use sparring::spgemm::Options;
use sparring::{Cpu, Error};

const N: usize = 1 << 60;
const LAST: usize = N - 1;

type Entries = Vec<(usize, usize, i64)>;

fn threads() -> Threads {
    Threads::new(1).unwrap()
}
fn cpu() -> Machine {
    Cpu::with_threads(2).unwrap().into()
}
fn matrix(entries: &[(usize, usize, i64)], shape: (usize, usize)) -> Matrix {
    let values = Array::of(entries.iter().map(|x| x.2).collect::<Vec<i64>>());
    let (rows, cols) = entries.iter().map(|x| (x.0, x.1)).unzip();
    Matrix::build_wide(&threads(), shape, (rows, cols, values), None).unwrap()
}
fn vector(entries: &[(usize, i64)], len: usize) -> Vector {
    let (indices, values): (Vec<usize>, Vec<i64>) = entries.iter().copied().unzip();
    Vector::build(&threads(), len, (indices, Array::of(values)), None).unwrap()
}
fn entries(a: &Matrix) -> Entries {
    let (rows, cols, values) = a.extract_tuples_wide().unwrap();
    let values = values.slice().get::<i64>().unwrap().to_vec();
    rows.into_iter().zip(cols).zip(values).map(|((i, j), x)| (i, j, x)).collect()
}
fn list(x: &Vector) -> Vec<(usize, i64)> {
    let (indices, values) = x.extract_tuples_wide().unwrap();
    indices.into_iter().zip(values.slice().get::<i64>().unwrap().iter().copied()).collect()
}
fn ring(name: &str) -> Semiring {
    Semiring::new(name, Type::I64).unwrap()
}
fn op(name: &str) -> BinaryOp {
    BinaryOp::new(name, Type::I64).unwrap()
}
/// Ten entries; row 5 and the last row have two each.
fn ten() -> Entries {
    vec![
        (0, LAST, 1),
        (1, 0, 2),
        (5, 5, 3),
        (5, 1 << 40, 4),
        (1 << 40, 5, 5),
        (1 << 50, 1 << 50, 6),
        ((1 << 50) + 1, 7, 7),
        (LAST - 1, 1, 8),
        (LAST, 0, 9),
        (LAST, LAST, 10),
    ]
}
fn of(operation: Operation<'_>) -> Entries {
    entries(&operation.eval::<Matrix>().unwrap())
}
fn message<T: std::fmt::Debug>(made: sparring::Result<T>) -> String {
    made.unwrap_err().to_string()
}

#[test]
fn products() {
    let (m, a, options) = (cpu(), matrix(&ten(), (N, N)), Options::default());
    let plus_times = ring("plus_times");
    let mut expected = std::collections::BTreeMap::new();
    for (i, k, x) in ten() {
        for (_, j, y) in ten().into_iter().filter(|e| e.0 == k) {
            *expected.entry((i, j)).or_insert(0) += x * y;
        }
    }
    let expected: Entries = expected.into_iter().map(|((i, j), x)| (i, j, x)).collect();
    let c = m.mxm(&plus_times, &a, &a).unwrap();
    assert_eq!((c.shape(), c.nnz(), entries(&c)), ((N, N), expected.len(), expected.clone()));
    let inside = of(m.call(Op::Mxm(&plus_times, &options), (&a, &a)).mask(&a).structure());
    let stored = |i, j| ten().iter().any(|x| (x.0, x.1) == (i, j));
    assert_eq!(inside, expected.iter().copied().filter(|x| stored(x.0, x.1)).collect::<Entries>());
    let outside = of(m.call(Op::Mxm(&plus_times, &options), (&a, &a)).mask(&a).structure().complement());
    assert_eq!(outside, expected.iter().copied().filter(|x| !stored(x.0, x.1)).collect::<Entries>());
    let product = m.mxm_with(&plus_times, &a, &a, Some((&a, false)), &options).unwrap();
    assert_eq!((entries(product.matrix()), product.flops()), (inside, 13));

    let x = vector(&[(0, 1), (5, 10), (LAST, 100)], N);
    let y = m.mxv(&plus_times, &a, &x).unwrap();
    assert_eq!(list(&y), [(0, 100), (1, 2), (5, 30), (1 << 40, 50), (LAST, 1009)]);
    let y = m.vxm(&plus_times, &x, &a).unwrap();
    assert_eq!(list(&y), [(0, 900), (5, 30), (1 << 40, 40), (LAST, 1001)]);
    let flipped: Vector = m.call(Op::Mxv(&plus_times), (&a, &x)).transpose_a().eval().unwrap();
    assert_eq!(list(&flipped), list(&y));
    // A product of a wide with an ordinary dimension is ordinary.
    let tall = matrix(&[(0, 1, 3), (LAST, 2, 4)], (N, 3));
    let small: Matrix = m.call(Op::Mxm(&plus_times, &options), (&tall, &tall)).transpose_a().eval().unwrap();
    assert_eq!((small.shape(), small.csr::<i64>().unwrap().values()), ((3, 3), &[9, 16][..]));
}

#[test]
fn elementwise_operations() {
    let (m, a) = (cpu(), matrix(&ten(), (N, N)));
    let b = matrix(&[(0, LAST, 100), (3, 3, 200), (LAST, LAST, 300)], (N, N));
    let sum = m.ewise_add(&op("plus"), &a, &b).unwrap();
    assert_eq!(sum.nnz(), 11);
    assert_eq!((sum.get(3, 3).unwrap(), sum.get(LAST, LAST).unwrap()), (Some(200i64.into()), Some(310i64.into())));
    assert_eq!(entries(&m.ewise_mult(&op("minus"), &b, &a).unwrap()), [(0, LAST, 99), (LAST, LAST, 290)]);
    let (zero, one) = (Scalar::from(0i64), Scalar::from(1i64));
    let union = of(m.call(Op::EwiseUnion(&op("minus"), &zero, &one), (&b, &a)));
    assert!(union.contains(&(3, 3, 199)) && union.contains(&(1, 0, -2)) && union.len() == 11);

    let squares = m.apply(&UnaryOp::new("a*a", Type::I64).unwrap(), &a).unwrap();
    assert_eq!(squares.get(LAST, 0).unwrap(), Some(81i64.into()));
    // Operators see true indices.
    let upper = m.select(&UnaryOp::new("i < j", Type::I64).unwrap(), &a).unwrap();
    assert_eq!(entries(&upper), [(0, LAST, 1), (5, 1 << 40, 4)]);
    let lower = m.select(&UnaryOp::new("tril", Type::I64).unwrap().with(-(1i64 << 41)).unwrap(), &a).unwrap();
    assert_eq!(entries(&lower).len(), 3);
    let columns = m.apply(&UnaryOp::new("col_index", Type::I64).unwrap().with(1i64).unwrap(), &a).unwrap();
    assert_eq!((columns.ty(), columns.get(0, LAST).unwrap()), (Type::I64, Some((1i64 << 60).into())));
    let x = vector(&[(7, 70), (LAST, 1)], N);
    let rows = m.apply(&UnaryOp::new("i + u64(a)", Type::I64).unwrap(), &x).unwrap();
    assert_eq!(rows.get(LAST).unwrap(), Some((1u64 << 60).into()));
    assert_eq!(list(&m.select(&UnaryOp::new("i > 7", Type::I64).unwrap(), &x).unwrap()), [(LAST, 1)]);

    assert_eq!(m.reduce(&Monoid::new("plus", Type::I64).unwrap(), &a).unwrap(), Scalar::from(55i64));
    let sums = m.reduce_rows(&Monoid::new("plus", Type::I64).unwrap(), &a).unwrap();
    assert_eq!((sums.nvals().unwrap(), sums.get(5).unwrap()), (8, Some(7i64.into())));
    let best: Vector = m.call(Op::Aggregate(Aggregate::ArgMax), &a).eval().unwrap();
    assert_eq!(
        (best.get(5).unwrap(), best.get(LAST).unwrap()),
        (Some((1i64 << 40).into()), Some((LAST as i64).into()))
    );
    let counts: Vector = m.call(Op::Aggregate(Aggregate::Count), &a).transpose_a().eval().unwrap();
    assert_eq!((counts.get(0).unwrap(), counts.get(5).unwrap()), (Some(2i64.into()), Some(2i64.into())));
    let mut flipped: Entries = ten().into_iter().map(|(i, j, x)| (j, i, x)).collect();
    flipped.sort_unstable();
    assert_eq!(entries(&m.transpose(&a).unwrap()), flipped);
    assert_eq!(m.sum(&a).unwrap().to_string(), "55");
}

#[test]
fn indices_as_values() {
    // ⊗ reads an index alone: values are true indices.
    let (m, a) = (cpu(), matrix(&[(3, LAST, 1), (LAST, 9, 1)], (N, N)));
    assert_eq!(entries(&m.mxm(&ring("min_firsti"), &a, &a).unwrap()), [(3, 9, 3)]);
    assert_eq!(entries(&m.mxm(&ring("max_firstj"), &a, &a).unwrap()), [(3, 9, LAST as i64)]);
    assert_eq!(entries(&m.mxm(&ring("max_secondi"), &a, &a).unwrap()), [(3, 9, LAST as i64)]);
    assert_eq!(entries(&m.mxm(&ring("plus_secondj"), &a, &a).unwrap()), [(3, 9, 9)]);
    let x = vector(&[(LAST, 1)], N);
    assert_eq!(list(&m.mxv(&ring("max_secondi"), &a, &x).unwrap()), [(3, LAST as i64)]);
    assert_eq!(list(&m.vxm(&ring("max_secondj"), &x, &a).unwrap()), [(9, 9)]);
    let both = Semiring::new("plus, a + i64(k)", Type::I64).unwrap();
    let text = message(m.mxm(&both, &a, &a));
    assert!(text.contains("the semiring plus, a + i64(k) on a dimension beyond 4294967295"), "{text}");
    // In a dimension that is not wide, ranks are indices.
    let tall = matrix(&[(LAST, 2, 5)], (N, 3));
    let y = vector(&[(2, 1)], 3);
    assert_eq!(list(&m.mxv(&both, &tall, &y).unwrap()), [(LAST, 7)]);
}

#[test]
fn parts() {
    let (m, a, all) = (cpu(), matrix(&ten(), (N, N)), IndexList::all());
    let rows = IndexList::from(vec![LAST, 5, LAST]);
    let part: Matrix = m.call(Op::Extract(&rows, &all), &a).eval().unwrap();
    assert_eq!(part.shape(), (3, N));
    assert_eq!(entries(&part), [(0, 0, 9), (0, LAST, 10), (1, 5, 3), (1, 1 << 40, 4), (2, 0, 9), (2, LAST, 10)]);
    let (back, few) = (IndexList::strided(LAST, -1, N), IndexList::from(0..6));
    let part: Matrix = m.call(Op::Extract(&back, &few), &a).eval().unwrap();
    assert_eq!((part.shape(), entries(&part)[0]), ((N, 6), (0, 0, 9)));
    let (even, half) = (IndexList::strided(0, 2, N / 2), IndexList::from(0..N / 2));
    let part: Matrix = m.call(Op::Extract(&even, &half), &a).eval().unwrap();
    assert_eq!(
        (part.shape(), entries(&part)),
        ((N / 2, N / 2), vec![(1 << 39, 5, 5), (1 << 49, 1 << 50, 6), ((LAST - 1) / 2, 1, 8)])
    );
    let column: Vector = m.call(Op::ExtractColumn(&all, 5), &a).eval().unwrap();
    assert_eq!(list(&column), [(5, 3), (1 << 40, 5)]);
    let row: Vector = m.call(Op::ExtractRow(LAST, &all), &a).eval().unwrap();
    assert_eq!(list(&row), [(0, 9), (LAST, 10)]);

    let mut c = a.clone();
    let b = matrix(&[(0, 1, 50)], (2, 2));
    let (i, j) = (IndexList::from(vec![5, LAST]), IndexList::from(vec![5, 0]));
    m.call(Op::Assign(&i, &j), &b).into(&mut c).unwrap();
    assert_eq!((c.get(5, 5).unwrap(), c.get(5, 0).unwrap(), c.get(LAST, 0).unwrap()), (None, Some(50i64.into()), None));
    assert_eq!((c.nnz(), a.nnz()), (9, 10));
    m.call(Op::AssignRow(7, &j), &vector(&[(1, 3)], 2)).into(&mut c).unwrap();
    m.call(Op::AssignColumn(&i, 9), &vector(&[(0, 4)], 2)).into(&mut c).unwrap();
    assert_eq!((c.get(7, 0).unwrap(), c.get(5, 9).unwrap()), (Some(3i64.into()), Some(4i64.into())));
    let s = Scalar::from(-1i64);
    m.call(Op::AssignScalar(&s, &i, &j), ()).into(&mut c).unwrap();
    assert_eq!((c.get(LAST, 5).unwrap(), c.nnz()), (Some((-1i64).into()), 14));
    m.call(Op::AssignScalar(&s, &all, &all), ()).mask(&a).structure().replace().into(&mut c).unwrap();
    assert_eq!(entries(&c), ten().into_iter().map(|(i, j, _)| (i, j, -1)).collect::<Entries>());
    let w: Vector = m
        .call(Op::Scatter(&IndexList::from(vec![LAST, 0, LAST]), N, &op("plus")), &vector(&[(0, 1), (1, 2), (2, 3)], 3))
        .eval()
        .unwrap();
    assert_eq!((w.len(), list(&w)), (N, vec![(0, 2), (LAST, 4)]));

    let x = vector(&[(0, 1), (LAST - 4, 2)], N - 4);
    let d: Matrix = m.call(Op::Diag(4), &vector(&[(0, 1), (LAST - 5, 2)], N - 4)).eval().unwrap();
    assert_eq!((d.shape(), entries(&d)), ((N, N), vec![(0, 4, 1), (LAST - 5, LAST - 1, 2)]));
    assert_eq!(x.len(), N - 4);
    let back: Vector = m.call(Op::Diagonal(4), &d).eval().unwrap();
    assert_eq!((back.len(), list(&back)), (N - 4, vec![(0, 1), (LAST - 5, 2)]));
    let (h, k) = (matrix(&[(1, 2, 3)], (1 << 10, 1 << 20)), matrix(&[(5, (1 << 40) - 1, 7)], (1 << 50, 1 << 40)));
    let product: Matrix = m.call(Op::Pairs(Pairing::Kronecker, &op("times")), (&h, &k)).eval().unwrap();
    assert_eq!((product.shape(), entries(&product)), ((N, N), vec![((1 << 50) + 5, (3 << 40) - 1, 21)]));

    let blocks = m.split(&a, &[5, LAST - 5, 1], &[N]).unwrap();
    assert_eq!(blocks.iter().map(|row| row[0].nnz()).collect::<Vec<_>>(), [2, 6, 2]);
    let rows: Vec<Vec<&Matrix>> = blocks.iter().map(|row| row.iter().collect()).collect();
    let rows: Vec<&[&Matrix]> = rows.iter().map(Vec::as_slice).collect();
    assert_eq!(entries(&m.concat(&rows).unwrap()), ten());
    assert_eq!(entries(&m.resize(&a, 6, 6).unwrap()), [(1, 0, 2), (5, 5, 3)]);
    assert!(m.resize(&a, 6, 6).unwrap().csr::<i64>().is_some());
    assert_eq!(m.resize(&m.resize(&a, 6, 6).unwrap(), N, N).unwrap().nnz(), 2);
    assert_eq!(list(&m.resize_vector(&vector(&[(2, 1)], 3), N).unwrap()), [(2, 1)]);
}

#[test]
fn entries_and_bytes() {
    let mut a = Matrix::empty(Type::I64, N, N).unwrap();
    for (i, j, x) in ten() {
        a.set(i, j, x).unwrap();
    }
    let before = a.clone();
    a.set(LAST, 0, -9i64).unwrap();
    a.remove(0, LAST).unwrap();
    a.remove(2, 2).unwrap();
    assert_eq!((entries(&before), a.nnz()), (ten(), 9));
    assert_eq!((a.get(LAST, 0).unwrap(), a.get(0, LAST).unwrap()), (Some((-9i64).into()), None));
    let mut x = Vector::empty(Type::I64, N).unwrap();
    x.set(LAST, 4i64).unwrap();
    x.set(0, 3i64).unwrap();
    x.remove(LAST).unwrap();
    assert_eq!((list(&x), x.nvals().unwrap()), (vec![(0, 3)], 1));

    let mut bytes = vec![];
    a.serialize(&mut bytes).unwrap();
    let mut rest = &bytes[..];
    let b = Matrix::deserialize(&mut rest).unwrap();
    assert_eq!((entries(&b), b.shape(), rest.len()), (entries(&a), (N, N), 0));
    bytes[40] ^= 1;
    assert!(Matrix::deserialize(&mut &bytes[..]).is_err());
    let mut bytes = vec![];
    x.serialize(&mut bytes).unwrap();
    assert_eq!(list(&Vector::deserialize(&mut &bytes[..]).unwrap()), [(0, 3)]);
    assert!(Matrix::deserialize(&mut &bytes[..]).is_err());

    let dup = op("minus");
    let twice = || (vec![LAST, 0, LAST], vec![1, 2, 1], Array::of(vec![7i64, 1, 5]));
    let built = Matrix::build_wide(&threads(), (N, N), twice(), Some(&dup)).unwrap();
    assert_eq!(entries(&built), [(0, 2, 1), (LAST, 1, 2)]);
    let text = message(Matrix::build_wide(&threads(), (N, N), twice(), None));
    assert_eq!(text, format!("entry ({LAST}, 1) is given twice"));
    let small = a.cast(Type::I8).unwrap();
    assert_eq!((small.ty(), small.get(LAST, 0).unwrap()), (Type::I8, Some((-9i8).into())));
    let text = message(matrix(&[(LAST, 3, 300)], (N, N)).cast(Type::I8));
    assert!(text.contains(&format!("entry ({LAST}, 3), 300 as i8")), "{text}");
    let column = x.to_column().unwrap();
    assert_eq!((column.shape(), list(&column.to_vector().unwrap())), ((N, 1), vec![(0, 3)]));
}

#[test]
fn what_is_refused() {
    let (m, a, all) = (cpu(), matrix(&ten(), (N, N)), IndexList::all());
    assert!(matches!(Matrix::empty(Type::I64, N + 1, 1), Err(Error::IndexOverflow { .. })));
    assert!(matches!(Vector::empty(Type::I64, N + 1), Err(Error::IndexOverflow { .. })));
    assert!(message(a.get(N, 0)).contains(&format!("row index {N} is not below {N}")));
    assert!(Matrix::build_wide(&threads(), (N, N), (vec![N], vec![0], Array::of(vec![1i64])), None).is_err());
    let beyond = IndexList::from(vec![3, N]);
    let text = message(m.call(Op::Extract(&beyond, &all), &a).eval::<Matrix>());
    assert_eq!(text, format!("rows: index {N} at position 1 of the list, of a dimension of {N}"));
    let twice = IndexList::from(vec![LAST, LAST]);
    let mut c = a.clone();
    let text = message(m.call(Op::Assign(&twice, &all), &matrix(&[], (2, N))).into(&mut c));
    assert!(text.contains(&format!("rows: index {LAST} is in the list twice")), "{text}");
    let text = message(m.call(Op::AssignScalar(&Scalar::from(1i64), &all, &all), ()).into(&mut c));
    assert!(text.starts_with(&format!("an assignment of a scalar to {N} indices")), "{text}");
    assert_eq!(entries(&c), ten());
    let text = message(m.mxm(&ring("plus_times"), &a, &matrix(&[], (N - 1, N))));
    assert_eq!(text, format!("mxm: shapes do not agree: lhs is {N}×{N}, rhs is {}×{N}", N - 1));
    let text = message(m.call(Op::Pairs(Pairing::Kronecker, &op("times")), (&a, &a)).eval::<Matrix>());
    assert!(text.contains(&format!("the largest possible is {N}")), "{text}");
    let text = message(m.plan(&a, &a, &Options::default()));
    assert!(text.contains(&format!("this operation on a matrix of dimensions {N}×{N}")), "{text}");
    assert!(message(a.extract_tuples()).contains("a dimension beyond 4294967295"));
}

#[test]
fn spaces_are_explained() {
    let (m, a) = (cpu(), matrix(&ten(), (N, N)));
    let (_, how) = m.call(Op::Mxm(&ring("plus_times"), &Options::default()), (&a, &a)).explain::<Matrix>().unwrap();
    assert!(how.contains(&format!("index spaces compacted: {N} → 8, {N} → 7, {N} → 9")), "{how}");
}

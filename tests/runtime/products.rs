//! Matrix–vector products and folds by name equal the typed ones.

use sparring::algebra::dynamic::{MONOIDS, MonoidVisitor, Named, SEMIRINGS, SemiringVisitor};
use sparring::algebra::{Array, BinaryOp, Host, Monoid, MulOp, Num, Out, Slice, Type, V, Value};
use sparring::algebra::{MaxFirst, MinSecondI, Minus, Plus, PlusTimes, Ring, Semiring as SemiringType};
use sparring::num_complex::Complex;
use sparring::prelude::*;
use sparring::runtime::{self, Machine, Matrix};

use super::operands::{is_cpu, machines, pairs, same, same_values, same_vector, vectors};
use super::textbook;
use crate::common::arbitrary::{AnyPattern, Draw, Rng};

/// Operands: a matrix, and a vector for each of its sides.
fn cases<T: Draw>() -> Vec<(Csr<T>, sparring::Vector<T>, sparring::Vector<T>)> {
    let mut cases = vec![];
    for (n, (a, b)) in pairs::<T>(7).into_iter().enumerate() {
        let (xs, ys) = (vectors(n as u64, a.ncols()), vectors(!(n as u64), a.nrows()));
        // Each matrix with vectors in two forms.
        for f in [n % 4, (n + 2) % 4] {
            cases.push((if f < 2 { a.clone() } else { b.clone() }, xs[f].clone(), ys[f].clone()));
        }
    }
    cases
}

fn compare<T: Draw, R>(ring: R, name: &str, machines: &[Machine])
where
    R: SemiringType,
    R::Mul: MulOp<A = T, B = T>,
{
    compare_with(&textbook::erased(ring), name, machines);
}

fn compare_with<T: Draw, U: Value>(ring: &textbook::Ring<T, U>, name: &str, machines: &[Machine]) {
    let any = runtime::Semiring::new(name, T::TYPE).unwrap();
    assert_eq!(any.to_string(), name);
    for (a, x, y) in cases::<T>() {
        let (by_row, by_column) = (ring.mxv(&a, &x), ring.vxm(&y, &a));
        let (columns, dense) = dense(&a);
        let of_dense = ring.spmm(&a, &dense, columns);
        let (a, x, y) = (Matrix::from(a), runtime::Vector::from(x), runtime::Vector::from(y));
        for m in machines {
            // The product with a dense matrix folds in order on every engine.
            if is_cpu(m) || !name.starts_with("log") {
                let found = m.spmm(&any, &a, Slice::of(&dense), columns).eval().unwrap();
                same_values(found.slice(), Slice::of(&of_dense), &format!("spmm {name} over {}", T::TYPE));
                // X and the result as full vectors, which stay on the machine.
                let full = m.spmm_vector(&any, &a, &on_machine(m, &dense), columns).unwrap();
                let found = full.download().unwrap().entries().unwrap().1;
                same_values(found.slice(), Slice::of(&of_dense), &format!("spmm_vector {name} over {}", T::TYPE));
            }
            // On a GPU, `any` may return any value, and `mxv` folds long rows in another order.
            let exact = is_cpu(m) || !(name.starts_with("any") || name.starts_with("log"));
            let sums = is_cpu(m) || !matches!(any.ty(), Type::F32 | Type::F64);
            if exact && sums {
                same_vector(&m.mxv(&any, &a, &x).unwrap(), &by_row, &format!("mxv {name} over {}", T::TYPE));
            }
            if exact {
                same_vector(&m.vxm(&any, &y, &a).unwrap(), &by_column, &format!("vxm {name} over {}", T::TYPE));
            }
        }
    }
}

fn on_machine<T: Value>(m: &Machine, values: &[T]) -> runtime::Vector {
    m.upload_vector(&runtime::Vector::full(Array::of(values.to_vec())).unwrap()).unwrap()
}

/// A dense matrix with one column, a few, or more than a block of 128.
fn dense<T: Draw>(a: &Csr<T>) -> (usize, Vec<T>) {
    let n = if a.ncols() > 100 { 1 } else { [5, 17, 131][a.nnz() % 3] };
    let mut rng = Rng(a.nnz() as u64 | 1);
    (n, (0..a.ncols() * n).map(|_| T::draw(&mut rng)).collect())
}

struct ByTypes<'a>(&'a str, &'a [Machine]);
impl<T: Num + Draw> SemiringVisitor<T> for ByTypes<'_> {
    type Output = ();
    fn visit<R>(self, ring: R)
    where
        R: SemiringType,
        R::Mul: MulOp<A = T, B = T>,
        Out<R>: Num,
    {
        compare(ring, self.0, self.1);
    }
}

fn every_name<T: Named + Draw>(machines: &[Machine]) -> usize {
    let names = SEMIRINGS.iter().filter(|row| row.values().contains(&T::TYPE)).map(|row| row.name);
    names.map(|name| T::semiring(name, ByTypes(name, machines)).unwrap()).count()
}

#[test]
fn every_semiring_with_vectors_is_the_one_by_types() {
    let machines = machines();
    let mut names = every_name::<f64>(&machines[..2]) + every_name::<i64>(&machines[2..3]);
    names +=
        every_name::<bool>(&machines[1..2]) + every_name::<u8>(&machines[1..2]) + every_name::<f32>(&machines[3..]);
    macro_rules! others {
        ($($t:ty)*) => {$(
            compare(PlusTimes::<$t>::new(), "plus_times", &machines[1..]);
            compare(MaxFirst::<$t>::new(), "max_first", &machines[1..2]);
            compare(MinSecondI::<$t>::new(), "min_secondi", &machines[1..2]);
            names += 3;
        )*};
    }
    others! { i8 i16 i32 u16 u32 u64 f64 }
    compare(PlusTimes::<Complex<f64>>::new(), "plus_times", &machines[..4]);
    compare(PlusTimes::<Complex<f32>>::new(), "plus_times", &machines[..1]);
    println!("{} semirings with vectors on {} machines", names + 2, machines.len());
}

/// Reference results of folds: a matrix with its total fold and its row folds, vectors with their folds.
struct Folded<T> {
    whole: (Csr<T>, T),
    rows: (Csr<T>, sparring::Vector<T>),
    vectors: Vec<(sparring::Vector<T>, T)>,
}

impl<T: Value> Folded<T> {
    fn compare(self, any: &runtime::Monoid, name: &str, machines: &[Machine]) {
        let what = format!("{name} over {}", T::TYPE);
        let real = matches!(T::TYPE, Type::F32 | Type::F64);
        let is = |found: runtime::Scalar, want: T| {
            same_values(Slice::of(&[found.get::<T>().unwrap()]), Slice::of(&[want]), &what);
        };
        let (a, b) = (Matrix::from(self.whole.0), Matrix::from(self.rows.0));
        // A GPU folds in its own order.
        for m in machines.iter().filter(|m| is_cpu(m) || name != "any" && !real) {
            same_vector(&m.reduce_rows(any, &b).unwrap(), &self.rows.1, &what);
            is(m.reduce(any, &a).unwrap(), self.whole.1);
            for (x, want) in &self.vectors {
                is(m.reduce(any, &runtime::Vector::from(x.clone())).unwrap(), *want);
            }
        }
    }
}

/// Floats round, so folds must be split as in the typed ones.
struct FoldsByTypes<'a>(&'a str, &'a [Machine]);
impl<T: Num + Draw> MonoidVisitor<T> for FoldsByTypes<'_> {
    type Output = ();
    fn visit<P: Monoid + BinaryOp<Out = T>>(self, monoid: P) {
        let cpu = Cpu::with_threads(1).unwrap();
        let any = runtime::Monoid::new(self.0, T::TYPE).unwrap();
        assert_eq!((any.ty(), any.identity()), (T::TYPE, P::IDENTITY.into()));
        for (a, b) in pairs::<T>(11) {
            let (whole, rows) = (cpu.reduce(monoid, &a).eval().unwrap(), cpu.reduce_rows(monoid, &b).eval().unwrap());
            let vectors = vectors::<T>(5, a.ncols()).into_iter().map(|x| {
                let folded = cpu.reduce(monoid, &x).eval().unwrap();
                (x, folded)
            });
            let vectors = vectors.collect();
            Folded { whole: (a, whole), rows: (b, rows), vectors }.compare(&any, self.0, self.1);
        }
    }
}

/// Exact folds equal the textbook.
struct ExactFolds<'a>(&'a str, &'a [Machine]);
impl<T: Num + Draw> MonoidVisitor<T> for ExactFolds<'_> {
    type Output = ();
    fn visit<P: Monoid + BinaryOp<Out = T>>(self, monoid: P) {
        exact_folds(P::IDENTITY, &|x, y| monoid.apply::<Host>(V(x), V(y)).0, self.0, self.1);
    }
}

fn exact_folds<T: Num + Draw>(identity: T, add: &dyn Fn(T, T) -> T, name: &str, machines: &[Machine]) {
    let any = runtime::Monoid::new(name, T::TYPE).unwrap();
    assert_eq!((any.ty(), any.identity()), (T::TYPE, identity.into()));
    let fold = |values: &mut dyn Iterator<Item = T>| textbook::folded(identity, add, values);
    for (a, b) in pairs::<T>(11) {
        let (whole, rows) = (fold(&mut a.values().iter().copied()), textbook::folded_rows(identity, add, &b));
        let with_fold = |x: sparring::Vector<T>| {
            let folded = fold(&mut x.iter().map(|(_, x)| *x));
            (x, folded)
        };
        let vectors = vectors::<T>(5, a.ncols()).into_iter().map(with_fold).collect();
        Folded { whole: (a, whole), rows: (b, rows), vectors }.compare(&any, name, machines);
    }
}

/// The monoids of a type.
fn monoids<T: Value>() -> impl Iterator<Item = &'static str> {
    MONOIDS.iter().filter(|row| row.values().contains(&T::TYPE)).map(|row| row.name)
}

#[test]
fn every_fold_is_the_one_by_types() {
    let machines = machines();
    let mut folds = 0;
    macro_rules! types {
        ($visitor:ident: $($t:ty)*) => {$(
            folds += monoids::<$t>().map(|name| <$t>::monoid(name, $visitor(name, &machines)).unwrap()).count();
        )*};
    }
    types! { ExactFolds: bool i8 i16 i32 i64 u8 u16 u32 u64 }
    types! { FoldsByTypes: f32 f64 }
    println!("{folds} monoids on {} machines", machines.len());
    assert!(folds > 80, "{folds}");
}

/// Rounded sums of floats: the fold is split after the same entries as in the typed one, whatever the form of the
/// vector.
#[test]
fn long_folds_are_cut_at_the_same_entries() {
    let n = 50_000;
    let value = |p: usize| 1.0 / (p as f64 + 3.0) - 0.001;
    let row_ptr = vec![0, 3, 3, n];
    let cols = (0..3).chain(0..n as u32 - 3).collect();
    let a = Csr::new(3, n, row_ptr, cols, (0..n).map(value).collect()).unwrap();
    let plus = runtime::Monoid::new("plus", Type::F64).unwrap();
    let by_formula = runtime::Monoid::new("a + b identity 0", Type::F64).unwrap();
    let cpu = Cpu::with_threads(1).unwrap();
    let want = cpu.reduce(Plus::new(), &a).eval().unwrap();
    let rows = cpu.reduce_rows(Plus::new(), &a).eval().unwrap();
    assert_ne!(want, a.values().iter().fold(0.0, |x, y| x + y), "cut or not is the same here");
    let lists = [1, 2, 20].map(|step| {
        let at: Vec<u32> = (0..n as u32).step_by(step).collect();
        let values = at.iter().map(|&p| value(p as usize)).collect();
        sparring::Vector::new(n, at, values).unwrap()
    });
    for m in machines().iter().filter(|m| is_cpu(m)) {
        let ra = Matrix::from(a.clone());
        for op in [&plus, &by_formula] {
            assert_eq!(m.reduce(op, &ra).unwrap(), want.into(), "{op}");
            same_vector(&m.reduce_rows(op, &ra).unwrap(), &rows, &op.to_string());
            for x in &lists {
                let want = cpu.reduce(Plus::new(), x).eval().unwrap();
                assert_eq!(m.reduce(op, &runtime::Vector::from(x.clone())).unwrap(), want.into(), "{op}");
            }
        }
    }
}

/// Column parts of a split row fold their own products, through a window or an index table.
#[test]
fn rows_cut_by_columns_are_those_by_types() {
    let k = 1100;
    for (n, step) in [(1500, 1), (1 << 20, 1048)] {
        let a = AnyPattern { ncols: k, rows: vec![vec![3, 500], (0..k as u32).collect(), vec![0, 1099]], shuffle: 0 };
        let rows = (0..k as u32).map(|k| (0..1000).map(|j| j * step + k % 7 * 71).collect());
        let b = AnyPattern { ncols: n, rows: rows.collect(), shuffle: 0 };
        let (a, b) = (a.matrix::<f64>(7), b.matrix::<f64>(8));
        // Fused loops, unfused loops, and a formula as ⊕.
        let times = Cpu::new().mxm(PlusTimes::<f64>::default(), &a, &b).eval().unwrap();
        let plus = Cpu::new().mxm(Ring(Plus::<f64>::new(), Plus::<f64>::new()), &a, &b).eval().unwrap();
        let (times, plus) = (Matrix::from(times), Matrix::from(plus));
        let (a, b) = (Matrix::from(a), Matrix::from(b));
        for (text, want) in [("plus_times", &times), ("plus, a + b", &plus), ("a + b + 0 identity 0, a + b", &plus)] {
            let ring = runtime::Semiring::new(text, Type::F64).unwrap();
            for threads in [1, 3] {
                let m = Machine::from(Cpu::with_threads(threads).unwrap());
                same(&m.mxm(&ring, &a, &b).unwrap(), want, &format!("{text}, {n} columns, {threads} threads"));
            }
        }
    }
}

/// A one-off product by name equals the typed one: the same pass, hence the same order of columns.
#[test]
fn a_product_for_one_use_is_the_one_by_types() {
    use sparring::spgemm::Options;
    let mut rng = Rng(7);
    // About five entries per row, spread over many columns: rows with few products, whose columns rarely coincide.
    let entries: Vec<(u32, u32)> = (0..20_000).map(|_| (rng.below(4000) as u32, rng.below(4000) as u32)).collect();
    let (rows, cols): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    let values = (0..rows.len()).map(|p| p as f64).collect();
    let a: Csr<f64> = sparring::Coo::new(4000, 4000, rows, cols, values).unwrap().to_csr(Plus::new()).unwrap();
    let any = Matrix::from(a.clone());
    let (cpu, machine) = (Cpu::with_threads(2).unwrap(), Machine::from(Cpu::with_threads(2).unwrap()));
    let named = |name| runtime::Semiring::new(name, Type::F64).unwrap();
    for unsorted in [false, true] {
        let options = Options { unsorted, ..Options::default() };
        let want = cpu.mxm(PlusTimes::<f64>::new(), &a, &a).options(options.clone()).eval().unwrap();
        assert_eq!(want.pattern().is_sorted(), !unsorted);
        let found = machine.mxm_with(&named("plus_times"), &any, &any, None, &options).unwrap().into_matrix();
        assert_eq!(found.csr::<f64>().unwrap(), &want, "unsorted: {unsorted}");
        // A semiring without fused loops takes two phases with sorted rows, which `unsorted` permits.
        let want = cpu.mxm(Ring(Plus::<f64>::new(), Minus::<f64>::default()), &a, &a).eval().unwrap();
        let found = machine.mxm_with(&named("plus_minus"), &any, &any, None, &options).unwrap().into_matrix();
        assert_eq!(found.csr::<f64>().unwrap(), &want);
    }
    for complement in [false, true] {
        let chain = cpu.mxm(PlusTimes::<f64>::new(), &a, &a).mask(a.structure());
        let want = if complement { chain.complement().eval() } else { chain.eval() }.unwrap();
        let mask = Some((&any, complement));
        let found =
            machine.mxm_with(&named("plus_times"), &any, &any, mask, &Options::default()).unwrap().into_matrix();
        assert_eq!(found.csr::<f64>().unwrap(), &want, "complement: {complement}");
    }
}

#[test]
fn dense_arrays_are_multiplied_as_full_vectors() {
    // Short rows, long ones, and empty ones; enough for several threads.
    let (m, n) = (3000usize, 500usize);
    let (mut ptr, mut cols) = (vec![0], Vec::new());
    for i in 0..m {
        let step = if i % 100 == 7 { 2 } else { 90 + i % 50 };
        cols.extend((0..n as u32).filter(|&j| i % 5 != 0 && (j as usize + i).is_multiple_of(step)));
        ptr.push(cols.len());
    }
    let values: Vec<f64> = (0..cols.len()).map(|k| (k * 37 % 1000) as f64 / 7.0 - 50.0).collect();
    let x: Vec<f64> = (0..n).map(|k| (k * 61 % 997) as f64 / 3.0 - 100.0).collect();
    let a = Matrix::from(Csr::<f64>::new(m, n, ptr, cols, values).unwrap());
    let full = runtime::Vector::from(sparring::Vector::<f64>::full(x.clone()).unwrap());
    for threads in [1, 3] {
        let cpu = Machine::from(Cpu::with_threads(threads).unwrap());
        for name in ["plus_times", "plus_first", "min_plus", "max_second", "min, a + 2*b"] {
            let ring = runtime::Semiring::new(name, Type::F64).unwrap();
            let found = cpu.mxv_dense(&ring, &a, Slice::of(&x)).unwrap();
            let found = found.slice().get::<f64>().unwrap().to_vec();
            let (places, values) = cpu.mxv(&ring, &a, &full).unwrap().entries().unwrap();
            let identity = ring.formula().add().identity().slice().get::<f64>().unwrap()[0];
            let mut wanted = vec![identity; m];
            for (&i, &y) in places.iter().zip(values.slice().get::<f64>().unwrap()) {
                wanted[i as usize] = y;
            }
            let bits = |y: &[f64]| y.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&wanted), "{name}, {threads} threads");
        }
        let short = cpu.mxv_dense(&runtime::Semiring::new("plus_times", Type::F64).unwrap(), &a, Slice::of(&x[1..]));
        assert!(short.unwrap_err().to_string().contains("499"));
    }
}

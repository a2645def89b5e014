//! Vectors of the GPU that are full, a bitmap or a list inside: every operation on every form, compared with plain loops over
//! a vector of options, bit for bit.

#![cfg(feature = "cuda")]

mod common;

use common::Same;
use common::arbitrary::{Draw, Rng};
use common::gpu::cuda;
use sparring::algebra::*;
use sparring::gpu::DeviceVector;
use sparring::sparse::SparseVec;
use sparring::{Cuda, Error};

sparring::value! {
    /// A value and where it was met: 16 bytes, 4 of them never written.
    pub struct Best {
        /// The value.
        pub value: f64,
        /// Where it was met.
        pub index: u32,
    }
}
sparring::op! {
    /// The one with the smaller value; of equal ones that of the smaller index.
    pub ArgMin (a: Best, b: Best) -> Best {{
        let (x, y) = (Best::value(a), Best::value(b));
        (y.lt(x) | (y.eq(x) & Best::index(b).lt(Best::index(a)))).select(b, a)
    }} identity Best { value: f64::INFINITY, index: u32::MAX }
}
sparring::op! {
    /// A step of length `b` after `a`: two types of operands.
    pub Step (a: Best, b: f64) -> Best { Best::of(Best::value(a) + b, Best::index(a)) }
}

impl Draw for Best {
    fn draw(rng: &mut Rng) -> Self {
        Best { value: rng.below(5) as f64, index: rng.below(9) as u32 }
    }
}
impl Same for Best {
    fn same(&self, other: &Self) -> bool {
        self.value.same(&other.value) && self.index == other.index
    }
}

/// A vector as the tests see it.
type Plain<T> = Vec<Option<T>>;

/// About one tile, one warp, one block, several; without entries, with few, half of them, all.
fn plain<T: Draw>(seed: u64) -> Vec<Plain<T>> {
    let mut rng = Rng(seed);
    let mut all = vec![];
    for len in [0usize, 1, 31, 33, 256, 257, 5000, 70_001] {
        for (some, of) in [(0, 1), (1, 50), (1, 2), (1, 1)] {
            all.push((0..len).map(|_| (rng.below(of) < some).then(|| T::draw(&mut rng))).collect());
        }
    }
    all
}

fn list<T: Value>(v: &Plain<T>) -> SparseVec<T, u32> {
    let places = (0..v.len() as u32).filter(|&i| v[i as usize].is_some()).collect();
    SparseVec::new(v.len(), places, v.iter().flatten().copied().collect()).expect("a sparse vector")
}

/// The vector in every form that it can have.
fn forms<T: Draw>(cuda: &Cuda, v: &Plain<T>) -> Vec<DeviceVector<T>> {
    let mut rng = Rng(9);
    let present: Vec<bool> = v.iter().map(Option::is_some).collect();
    // What stands at places without an entry must not matter.
    let values: Vec<T> = v.iter().map(|x| x.unwrap_or_else(|| T::draw(&mut rng))).collect();
    let mut all =
        vec![cuda.upload_list(&list(v)).expect("upload"), cuda.upload_bitmap(&present, &values).expect("upload")];
    if present.iter().all(|&x| x) {
        all.push(cuda.upload_full(&values).expect("upload"));
    }
    all
}

fn expect<T: Value + Same>(cuda: &Cuda, what: &str, found: &DeviceVector<T>, want: &Plain<T>) {
    assert_eq!(found.len(), want.len(), "{what}");
    let want = list(want);
    let got: SparseVec<T, u32> = cuda.download_list(found).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(got.indices(), want.indices(), "{what} of {} places", want.len());
    let differs = got.values().iter().zip(want.values()).position(|(x, y)| !x.same(y));
    if let Some(p) = differs {
        panic!("{what}: entry {p}: {:?}, not {:?}", got.values()[p], want.values()[p]);
    }
    assert_eq!(cuda.vector_nnz(found).expect("a count"), want.nnz(), "{what}");
}

fn converts<T: Draw + Same>(cuda: &Cuda) {
    for v in plain::<T>(1) {
        for u in forms(cuda, &v) {
            expect(cuda, "as it is", &u, &v);
            expect(cuda, "as a list", &cuda.to_list(&u).unwrap(), &v);
            expect(cuda, "as a bitmap", &cuda.to_bitmap(&u).unwrap(), &v);
            assert!(cuda.to_list(&u).unwrap().is_list() && !cuda.to_bitmap(&u).unwrap().is_list());
            let fill = T::draw(&mut Rng(5));
            let full = cuda.to_full(&u, fill).unwrap();
            assert!(full.is_full());
            let want: Vec<T> = v.iter().map(|x| x.unwrap_or(fill)).collect();
            expect(cuda, "filled", &full, &want.iter().copied().map(Some).collect());
            let got = cuda.download_full(&u, fill).unwrap();
            assert!(got.len() == want.len() && got.iter().zip(&want).all(|(x, y)| x.same(y)));
        }
    }
}

#[test]
fn forms_turn_into_each_other() {
    let Some(cuda) = cuda() else { return };
    converts::<f64>(&cuda);
    converts::<bool>(&cuda);
    converts::<u8>(&cuda);
    converts::<Best>(&cuda);
    let short = cuda.upload_bitmap(&[true], &[1.0, 2.0]).err().map(|e| e.to_string());
    assert_eq!(short.as_deref(), Some("places of a vector: length is 1, expected 2"));
}

/// Pairs of plain vectors of one length, and all pairs of their forms.
fn pairs<A: Draw, B: Draw>(
    cuda: &Cuda,
    mut check: impl FnMut(&Plain<A>, &Plain<B>, &DeviceVector<A>, &DeviceVector<B>),
) {
    let (all_u, all_v) = (plain::<A>(2), plain::<B>(3));
    for (n, u) in all_u.iter().enumerate() {
        for v in &all_v[n / 4 * 4..n / 4 * 4 + 4] {
            for on_u in forms(cuda, u) {
                for on_v in forms(cuda, v) {
                    check(u, v, &on_u, &on_v);
                }
            }
        }
    }
}

fn multiplies<O: BinaryOp<A: Draw, B: Draw, Out: Same>>(cuda: &Cuda, op: O) {
    pairs::<O::A, O::B>(cuda, |u, v, on_u, on_v| {
        let both = |(x, y): (&Option<O::A>, &Option<O::B>)| Some(op.apply::<Host>(V((*x)?), V((*y)?)).0);
        let want = u.iter().zip(v).map(both).collect();
        expect(cuda, "ewise_mult", &cuda.vector_ewise_mult(op, on_u, on_v).unwrap(), &want);
    });
}

fn adds<T: Draw + Same, O: BinaryOp<A = T, B = T, Out = T>>(cuda: &Cuda, op: O) {
    pairs::<T, T>(cuda, |u, v, on_u, on_v| {
        let either = |(x, y): (&Option<T>, &Option<T>)| match (*x, *y) {
            (Some(x), Some(y)) => Some(op.apply::<Host>(V(x), V(y)).0),
            (x, y) => x.or(y),
        };
        let want = u.iter().zip(v).map(either).collect();
        expect(cuda, "ewise_add", &cuda.vector_ewise_add(op, on_u, on_v).unwrap(), &want);
    });
}

fn unites<O: BinaryOp<A: Draw, B: Draw, Out: Same>>(cuda: &Cuda, op: O) {
    let mut rng = Rng(4);
    pairs::<O::A, O::B>(cuda, |u, v, on_u, on_v| {
        let (a, b) = (O::A::draw(&mut rng), O::B::draw(&mut rng));
        let either = |(x, y): (&Option<O::A>, &Option<O::B>)| {
            (x.is_some() || y.is_some()).then(|| op.apply::<Host>(V(x.unwrap_or(a)), V(y.unwrap_or(b))).0)
        };
        let want = u.iter().zip(v).map(either).collect();
        expect(cuda, "ewise_union", &cuda.vector_ewise_union(op, on_u, a, on_v, b).unwrap(), &want);
    });
}

#[test]
fn entry_by_entry_it_is_the_loop() {
    let Some(cuda) = cuda() else { return };
    multiplies(&cuda, Minus::<f64>::new());
    multiplies(&cuda, Less::<i64>::new());
    multiplies(&cuda, Step::new());
    adds(&cuda, Minus::<f64>::new());
    adds(&cuda, ArgMin::new());
    unites(&cuda, Minus::<f64>::new());
    unites(&cuda, Less::<i64>::new());
    unites(&cuda, Step::new());
    let (u, v) = (cuda.upload_full(&[1.0, 2.0]).unwrap(), cuda.upload_full(&[1.0]).unwrap());
    let plus = Plus::<f64>::new();
    assert!(matches!(cuda.vector_ewise_add(plus, &u, &v), Err(Error::Shape { .. })));
    assert!(matches!(cuda.vector_ewise_mult(plus, &u, &v), Err(Error::Shape { .. })));
}

fn applies<O: UnaryOp<A: Draw, Out: Same>>(cuda: &Cuda, op: O) {
    for u in plain::<O::A>(6) {
        let want = u.iter().map(|x| Some(op.apply::<Host>(V((*x)?)).0)).collect();
        for on_u in forms(cuda, &u) {
            expect(cuda, "apply", &cuda.vector_apply(op, &on_u).unwrap(), &want);
        }
    }
}

fn at<O: IndexUnaryOp>(op: O, x: O::A, s: O::S, i: usize) -> O::Out {
    op.apply::<Host>(V(x), V(s), Place { i: V(i as u64), j: V(0) }).0
}

fn applies_at<O: IndexUnaryOp<A: Draw, Out: Same>>(cuda: &Cuda, op: O, s: O::S) {
    for u in plain::<O::A>(7) {
        let want = u.iter().enumerate().map(|(i, x)| Some(at(op, (*x)?, s, i))).collect();
        for on_u in forms(cuda, &u) {
            expect(cuda, "apply_at", &cuda.vector_apply_at(op, &on_u, s).unwrap(), &want);
        }
    }
}

fn selects<O: IndexUnaryOp<A: Draw + Same, Out = bool>>(cuda: &Cuda, op: O, s: O::S) {
    for u in plain::<O::A>(8) {
        let want = u.iter().enumerate().map(|(i, x)| x.filter(|&x| at(op, x, s, i))).collect();
        for on_u in forms(cuda, &u) {
            expect(cuda, "select", &cuda.vector_select(op, &on_u, s).unwrap(), &want);
        }
    }
}

#[test]
fn functions_and_selections_are_the_loop() {
    let Some(cuda) = cuda() else { return };
    applies(&cuda, Square::<f64>::new());
    applies(&cuda, Cast::<f32, bool>::new());
    applies_at(&cuda, RowIndex::<f64, i64>::new(), 100);
    applies_at(&cuda, ColIndex::<Best, u64>::new(), 7);
    selects(&cuda, RowLe::<f64>::new(), 40);
    selects(&cuda, ValueGt::<f64>::new(), 0.0);
    selects(&cuda, ValueEq::<Best>::new(), Best { value: 1.0, index: 3 });
}

/// A fold has the order of `Cuda::reduce`, whatever the form: that of a matrix of one row with the same entries.
fn folds<M: Monoid<Out: Draw + Same>>(cuda: &Cuda, m: M) {
    for u in plain::<M::Out>(10) {
        let entries: Vec<_> = u.iter().flatten().copied().collect();
        let row = sparring::Csr::new(
            1,
            entries.len(),
            vec![0, entries.len()],
            (0..entries.len() as u32).collect(),
            entries.clone(),
        );
        let want = cuda.reduce(m, &cuda.upload(&row.unwrap()).unwrap()).unwrap();
        for on_u in forms(cuda, &u) {
            let got = cuda.vector_reduce(m, &on_u).unwrap();
            assert!(got.same(&want), "{} of {} entries: {got:?}, not {want:?}", entries.len(), u.len());
        }
        if entries.is_empty() {
            assert!(want.same(&M::IDENTITY));
        }
    }
}

#[test]
fn folds_do_not_depend_on_the_form() {
    let Some(cuda) = cuda() else { return };
    folds(&cuda, Plus::<f64>::new());
    folds(&cuda, Min::<i64>::new());
    folds(&cuda, ArgMin::new());
}

fn restricts<T: Draw + Same, S: Draw>(cuda: &Cuda) {
    pairs::<T, S>(cuda, |v, mask, on_v, on_mask| {
        for complement in [false, true] {
            let want = v.iter().zip(mask).map(|(x, m)| x.filter(|_| m.is_some() != complement)).collect();
            let found = cuda.vector_restrict(on_v, on_mask, complement).unwrap();
            expect(cuda, &format!("restrict, complement {complement}"), &found, &want);
        }
    });
}

fn nonzeros<T: Draw + Same + Num>(cuda: &Cuda) {
    for mut v in plain::<T>(11) {
        for x in v.iter_mut().step_by(3) {
            *x = x.map(|_| T::ZERO);
        }
        let want = v.iter().map(|x| x.filter(|&x| x != T::ZERO)).collect();
        for on_v in forms(cuda, &v) {
            expect(cuda, "nonzero", &cuda.vector_nonzero(&on_v).unwrap(), &want);
        }
    }
}

#[test]
fn masks_are_the_loop() {
    let Some(cuda) = cuda() else { return };
    restricts::<f64, bool>(&cuda);
    restricts::<Best, i64>(&cuda);
    nonzeros::<f64>(&cuda);
    nonzeros::<bool>(&cuda);
    nonzeros::<u8>(&cuda);
    let nan = cuda.vector_nonzero(&cuda.upload_full(&[f64::NAN, -0.0, 0.0]).unwrap()).unwrap();
    assert_eq!(cuda.vector_nnz(&nan).unwrap(), 1, "NaN is not 0");
    let structs = cuda.upload_full(&[ArgMin::IDENTITY]).unwrap();
    assert!(matches!(cuda.vector_nonzero(&structs), Err(Error::Unsupported { .. })));
}

fn extracts_and_assigns<T: Draw + Same>(cuda: &Cuda) {
    let mut rng = Rng(12);
    for v in plain::<T>(13) {
        let places: Vec<u32> = match v.len() {
            0 => vec![],
            n => (0..n / 3 + 2).map(|_| rng.below(n) as u32).collect(),
        };
        let taken: Plain<T> = places.iter().map(|&p| v[p as usize]).collect();
        let new: Plain<T> = places.iter().map(|_| (rng.below(3) > 0).then(|| T::draw(&mut rng))).collect();
        let x = T::draw(&mut rng);
        for on_v in forms(cuda, &v) {
            expect(cuda, "extract", &cuda.vector_extract(&on_v, &places).unwrap(), &taken);
            for on_new in forms(cuda, &new) {
                let (mut w, mut want) = (on_v.clone(), v.clone());
                cuda.vector_assign(&mut w, Some(&places), &on_new).unwrap();
                for (&p, &y) in places.iter().zip(&new) {
                    want[p as usize] = y;
                }
                expect(cuda, "assign", &w, &want);
                expect(cuda, "what was shared", &on_v, &v);
            }
            let (mut w, mut want) = (on_v.clone(), v.clone());
            cuda.vector_assign_scalar(&mut w, Some(&places), x).unwrap();
            for &p in &places {
                want[p as usize] = Some(x);
            }
            expect(cuda, "assign a scalar", &w, &want);
            expect(cuda, "what was shared", &on_v, &v);
            // Once more into a vector that no one shares.
            cuda.vector_assign_scalar(&mut w, Some(&places[..places.len() / 2]), T::draw(&mut Rng(1))).unwrap();
            for &p in &places[..places.len() / 2] {
                want[p as usize] = Some(T::draw(&mut Rng(1)));
            }
            expect(cuda, "assign a scalar again", &w, &want);
            cuda.vector_assign_scalar(&mut w, None, x).unwrap();
            expect(cuda, "assign a scalar everywhere", &w, &vec![Some(x); v.len()]);
            cuda.vector_assign(&mut w, None, &on_v).unwrap();
            expect(cuda, "assign everywhere", &w, &v);
        }
    }
}

fn assigns_where<T: Draw + Same, S: Draw>(cuda: &Cuda) {
    let mut rng = Rng(14);
    pairs::<T, S>(cuda, |v, mask, on_v, on_mask| {
        for complement in [false, true] {
            let x = T::draw(&mut rng);
            let mut w = on_v.clone();
            cuda.vector_assign_where(&mut w, on_mask, complement, x).unwrap();
            let want = v.iter().zip(mask).map(|(&y, m)| if m.is_some() != complement { Some(x) } else { y }).collect();
            expect(cuda, "assign where", &w, &want);
            expect(cuda, "what was shared", on_v, v);
        }
    });
}

#[test]
fn assignments_are_the_loop() {
    let Some(cuda) = cuda() else { return };
    extracts_and_assigns::<f64>(&cuda);
    extracts_and_assigns::<bool>(&cuda);
    extracts_and_assigns::<Best>(&cuda);
    assigns_where::<f64, bool>(&cuda);
    assigns_where::<Best, f32>(&cuda);
    let mut w = cuda.upload_full(&[1, 2, 3]).unwrap();
    let outside = cuda.vector_extract(&w, &[0, 3]).err().map(|e| e.to_string());
    assert_eq!(outside.as_deref(), Some("entry 1: vector index 3 is not below 3"));
    let long = cuda.vector_assign(&mut w, Some(&[0]), &cuda.upload_full(&[1, 2]).unwrap());
    assert_eq!(
        long.err().map(|e| e.to_string()).as_deref(),
        Some("the vector that is assigned: length is 2, expected 1")
    );
}

/// A vector of another form is a vector of the operations with matrices, too.
#[test]
fn vectors_of_products_are_vectors() {
    let Some(cuda) = cuda() else { return };
    let full: DeviceVector<f64> = cuda.upload_vec(&[1.0, 2.0]).unwrap().into();
    expect(&cuda, "a dense vector", &full, &vec![Some(1.0), Some(2.0)]);
    let sparse = SparseVec::<f64>::new(3, vec![1], vec![5.0]).unwrap();
    let list: DeviceVector<f64> = cuda.upload_sparse(&sparse).unwrap().into();
    expect(&cuda, "a sparse vector", &list, &vec![None, Some(5.0), None]);
}

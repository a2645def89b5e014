//! GPU vectors in full, bitmap and list form: every operation on every form, compared bit for bit with plain loops over
//! a vector of options.

mod common;

use common::Same;
use common::arbitrary::{Draw, Rng};
use common::gpu::cuda;
use sparring::algebra::*;
use sparring::backend::{Backend, Container, Kernels};
use sparring::gpu::{DeviceVector, testing};
use sparring::sparse::{MaskSpec, SparseVec};
use sparring::{Cuda, Error, Vector};

sparring::value! {
    /// A value and its index: 16 bytes, 4 of them padding.
    pub struct Best {
        /// The value.
        pub value: f64,
        /// Its index.
        pub index: u32,
    }
}
sparring::op! {
    /// The one with the smaller value; ties go to the smaller index.
    pub ArgMin (a: Best, b: Best) -> Best {{
        let (x, y) = (Best::value(a), Best::value(b));
        (y.lt(x) | (y.eq(x) & Best::index(b).lt(Best::index(a)))).select(b, a)
    }} identity Best { value: f64::INFINITY, index: u32::MAX }
}
sparring::op! {
    /// A step of length `b` after `a`: two operand types.
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

/// A vector as the tests represent it.
type Plain<T> = Vec<Option<T>>;

/// Lengths around one tile, one warp, one block, several blocks; no, few, half or all entries.
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
    // Values at positions without an entry must not matter.
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
    assert_eq!(cuda.nnz(found).expect("a count"), want.nnz(), "{what}");
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
#[ignore = "needs a GPU"]
fn forms_turn_into_each_other() {
    let cuda = cuda();
    converts::<f64>(&cuda);
    converts::<bool>(&cuda);
    converts::<u8>(&cuda);
    converts::<Best>(&cuda);
    let short = cuda.upload_bitmap(&[true], &[1.0, 2.0]).err().map(|e| e.to_string());
    assert_eq!(short.as_deref(), Some("the bitmap of a vector: length is 1, expected 2"));
}

/// Pairs of plain vectors of one length, in all pairs of forms.
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
        expect(cuda, "ewise_mult", &cuda.ewise_mult(op, on_u, on_v).eval().unwrap(), &want);
    });
}

fn adds<T: Draw + Same, O: BinaryOp<A = T, B = T, Out = T>>(cuda: &Cuda, op: O) {
    pairs::<T, T>(cuda, |u, v, on_u, on_v| {
        let either = |(x, y): (&Option<T>, &Option<T>)| match (*x, *y) {
            (Some(x), Some(y)) => Some(op.apply::<Host>(V(x), V(y)).0),
            (x, y) => x.or(y),
        };
        let want = u.iter().zip(v).map(either).collect();
        expect(cuda, "ewise_add", &cuda.ewise_add(op, on_u, on_v).eval().unwrap(), &want);
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
        expect(cuda, "ewise_union", &cuda.ewise_union(op, on_u, a, on_v, b).eval().unwrap(), &want);
    });
}

#[test]
#[ignore = "needs a GPU"]
fn entry_by_entry_it_is_the_loop() {
    let cuda = cuda();
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
    assert!(matches!(cuda.ewise_add(plus, &u, &v).eval(), Err(Error::Shape { .. })));
    assert!(matches!(cuda.ewise_mult(plus, &u, &v).eval(), Err(Error::Shape { .. })));
}

fn applies<O: UnaryOp<A: Draw, Out: Same>>(cuda: &Cuda, op: O) {
    for u in plain::<O::A>(6) {
        let want = u.iter().map(|x| Some(op.apply::<Host>(V((*x)?)).0)).collect();
        for on_u in forms(cuda, &u) {
            expect(cuda, "apply", &cuda.apply(op, &on_u).eval().unwrap(), &want);
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
            expect(cuda, "apply_index", &cuda.apply_index(op, &on_u, s).eval().unwrap(), &want);
        }
    }
}

fn selects<O: IndexUnaryOp<A: Draw + Same, Out = bool>>(cuda: &Cuda, op: O, s: O::S) {
    for u in plain::<O::A>(8) {
        let want = u.iter().enumerate().map(|(i, x)| x.filter(|&x| at(op, x, s, i))).collect();
        for on_u in forms(cuda, &u) {
            expect(cuda, "select", &cuda.select(op, &on_u, s).eval().unwrap(), &want);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn functions_and_selections_are_the_loop() {
    let cuda = cuda();
    applies(&cuda, Square::<f64>::new());
    applies(&cuda, Cast::<f32, bool>::new());
    applies_at(&cuda, RowIndex::<f64, i64>::new(), 100);
    applies_at(&cuda, ColIndex::<Best, u64>::new(), 7);
    selects(&cuda, RowLe::<f64>::new(), 40);
    selects(&cuda, ValueGt::<f64>::new(), 0.0);
    selects(&cuda, ValueEq::<Best>::new(), Best { value: 1.0, index: 3 });
}

/// A fold has the order of the fold of a one-row matrix with the same entries, whatever the form.
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
        let want = cuda.reduce(m, &cuda.upload(&row.unwrap()).unwrap()).eval().unwrap();
        for on_u in forms(cuda, &u) {
            let got = cuda.reduce(m, &on_u).eval().unwrap();
            assert!(got.same(&want), "{} of {} entries: {got:?}, not {want:?}", entries.len(), u.len());
        }
        if entries.is_empty() {
            assert!(want.same(&M::IDENTITY));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn folds_do_not_depend_on_the_form() {
    let cuda = cuda();
    folds(&cuda, Plus::<f64>::new());
    folds(&cuda, Min::<i64>::new());
    folds(&cuda, ArgMin::new());
}

fn restricts<T: Draw + Same, S: Draw>(cuda: &Cuda) {
    pairs::<T, S>(cuda, |v, mask, on_v, on_mask| {
        for complement in [false, true] {
            let want = v.iter().zip(mask).map(|(x, m)| x.filter(|_| m.is_some() != complement)).collect();
            let found =
                cuda.apply_mask_vector(on_v, MaskSpec::new(&on_mask.entry_pattern(cuda).unwrap(), complement)).unwrap();
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
            let found = cuda.apply_mask_vector(&on_v, MaskSpec::new(&on_v.nonzero(cuda).unwrap(), false)).unwrap();
            expect(cuda, "nonzero", &found, &want);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn masks_are_the_loop() {
    let cuda = cuda();
    restricts::<f64, bool>(&cuda);
    restricts::<Best, i64>(&cuda);
    nonzeros::<f64>(&cuda);
    nonzeros::<bool>(&cuda);
    nonzeros::<u8>(&cuda);
    let numbers = cuda.upload_full(&[f64::NAN, -0.0, 0.0]).unwrap();
    let nan = cuda.apply(Identity::new(), &numbers).mask(&numbers).eval().unwrap();
    assert_eq!(cuda.nnz(&nan).unwrap(), 1, "NaN is not 0");
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
            expect(cuda, "extract", &cuda.extract(&on_v, &places).eval().unwrap(), &taken);
            for on_new in forms(cuda, &new) {
                let (mut w, mut want) = (on_v.clone(), v.clone());
                testing::assign(cuda, &mut w, Some(&places), &on_new).unwrap();
                for (&p, &y) in places.iter().zip(&new) {
                    want[p as usize] = y;
                }
                expect(cuda, "assign", &w, &want);
                expect(cuda, "what was shared", &on_v, &v);
            }
            let (mut w, mut want) = (on_v.clone(), v.clone());
            testing::assign_scalar(cuda, &mut w, Some(&places), x).unwrap();
            for &p in &places {
                want[p as usize] = Some(x);
            }
            expect(cuda, "assign a scalar", &w, &want);
            expect(cuda, "what was shared", &on_v, &v);
            // Again into an unshared vector.
            testing::assign_scalar(cuda, &mut w, Some(&places[..places.len() / 2]), T::draw(&mut Rng(1))).unwrap();
            for &p in &places[..places.len() / 2] {
                want[p as usize] = Some(T::draw(&mut Rng(1)));
            }
            expect(cuda, "assign a scalar again", &w, &want);
            cuda.assign_scalar(x).into(&mut w).unwrap();
            expect(cuda, "assign a scalar everywhere", &w, &vec![Some(x); v.len()]);
            testing::assign(cuda, &mut w, None, &on_v).unwrap();
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
            let assign = cuda.assign_scalar(x).mask(on_mask.structure());
            if complement { assign.complement().into(&mut w) } else { assign.into(&mut w) }.unwrap();
            let want = v.iter().zip(mask).map(|(&y, m)| if m.is_some() != complement { Some(x) } else { y }).collect();
            expect(cuda, "assign where", &w, &want);
            expect(cuda, "what was shared", on_v, v);
        }
    });
}

#[test]
#[ignore = "needs a GPU"]
fn assignments_are_the_loop() {
    let cuda = cuda();
    extracts_and_assigns::<f64>(&cuda);
    extracts_and_assigns::<bool>(&cuda);
    extracts_and_assigns::<Best>(&cuda);
    assigns_where::<f64, bool>(&cuda);
    assigns_where::<Best, f32>(&cuda);
    let mut w = cuda.upload_full(&[1, 2, 3]).unwrap();
    let outside = cuda.extract(&w, &[0, 3]).eval().err().map(|e| e.to_string());
    assert_eq!(outside.as_deref(), Some("entry 1: vector index 3 is not below 3"));
    let long = testing::assign(&cuda, &mut w, Some(&[0]), &cuda.upload_full(&[1, 2]).unwrap());
    assert_eq!(
        long.err().map(|e| e.to_string()).as_deref(),
        Some("the vector that is assigned: length is 2, expected 1")
    );
}

/// w(I) = v by its definition, I without duplicates: every form of both, with and without an accumulator.
fn assigns<T: Draw + Same, O: BinaryOp<A = T, B = T, Out = T>>(cuda: &Cuda, op: O) {
    let mut rng = Rng(15);
    for v in plain::<T>(16) {
        let mut places: Vec<u32> = (0..v.len() as u32).filter(|_| rng.below(3) == 0).collect();
        places.reverse();
        let new: Plain<T> = places.iter().map(|_| (rng.below(3) > 0).then(|| T::draw(&mut rng))).collect();
        let (mut plainly, mut joined) = (v.clone(), v.clone());
        for (&p, &y) in places.iter().zip(&new) {
            plainly[p as usize] = y;
            joined[p as usize] = match (v[p as usize], y) {
                (Some(x), Some(y)) => Some(op.apply::<Host>(V(x), V(y)).0),
                (x, y) => x.or(y),
            };
        }
        for on_v in forms(cuda, &v) {
            for on_new in forms(cuda, &new) {
                let mut w = on_v.clone();
                cuda.assign(&on_new, &places).into(&mut w).unwrap();
                expect(cuda, "assign by a chain", &w, &plainly);
                let mut w = on_v.clone();
                cuda.assign(&on_new, &places).accum(op).into(&mut w).unwrap();
                expect(cuda, "assign with an accumulator", &w, &joined);
                expect(cuda, "what was shared", &on_v, &v);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn assignments_by_chains_are_the_loop() {
    let cuda = cuda();
    assigns::<f64, _>(&cuda, Minus::new());
    assigns::<Best, _>(&cuda, ArgMin::new());
    let (mut w, two) = (cuda.upload_full(&[1, 2, 3]).unwrap(), cuda.upload_full(&[4, 5]).unwrap());
    let twice = cuda.assign(&two, &[2, 2]).into(&mut w).unwrap_err();
    assert!(matches!(twice, Error::Duplicate { column: 2, .. }), "{twice}");
    let outside = cuda.assign(&two, &[0, 3]).into(&mut w).unwrap_err();
    assert!(matches!(outside, Error::IndexRange { index: 3, bound: 3, .. }), "{outside}");
    let short = cuda.assign(&two, &[0]).into(&mut w).unwrap_err();
    assert!(matches!(short, Error::Length { found: 1, expected: 2, .. }), "{short}");
    assert_eq!(cuda.download_full(&w, 0).unwrap(), [1, 2, 3]);
}

/// A vector that masks itself, and one with shared values.
#[test]
#[ignore = "needs a GPU"]
fn what_is_written_may_be_the_mask() {
    let cuda = cuda();
    for v in plain::<f64>(17) {
        for on_v in forms(&cuda, &v) {
            let mut w = on_v.clone();
            cuda.assign_scalar(5.0).mask(w.structure()).into(&mut w).unwrap();
            expect(&cuda, "where it has entries", &w, &v.iter().map(|x| x.map(|_| 5.0)).collect());
            let mut w = on_v.clone();
            cuda.assign_scalar(5.0).mask(!w.structure()).into(&mut w).unwrap();
            expect(&cuda, "where it has none", &w, &v.iter().map(|x| Some(x.unwrap_or(5.0))).collect());
            let mut w = on_v.clone();
            cuda.assign_scalar(5.0).mask(&w).replace().into(&mut w).unwrap();
            expect(&cuda, "where it is not 0", &w, &v.iter().map(|x| x.filter(|x| *x != 0.0).map(|_| 5.0)).collect());
            expect(&cuda, "what was shared", &on_v, &v);
        }
    }
}

/// Vectors are uploaded full or as a list, and downloaded in the same form.
#[test]
#[ignore = "needs a GPU"]
fn vectors_of_the_host_go_up_and_come_down() {
    let cuda = cuda();
    let full = Vector::full(vec![1.0, 2.0]).unwrap();
    let there = cuda.upload_vector(&full).unwrap();
    assert!(there.is_full());
    assert_eq!(cuda.download_vector(&there).unwrap(), full);
    let list = Vector::<f64>::new(3, vec![1], vec![5.0]).unwrap();
    let there = cuda.upload_vector(&list).unwrap();
    assert!(there.is_list());
    expect(&cuda, "a sparse vector", &there, &vec![None, Some(5.0), None]);
    assert_eq!(cuda.download_vector(&there).unwrap(), list);
}

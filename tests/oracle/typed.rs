//! The door by types: the chains of `Backend`, for five types that differ in their arithmetic.

use std::marker::PhantomData;

use sparring::Result;
use sparring::algebra::*;
use sparring::backend::{Backend, Build, Container, Mask, Matrices, Operation, Vectors};
use sparring::num_complex::Complex;
use sparring::runtime::Object;
use sparring_oracle::{self as oracle, Case, Kind, Library, Op, Ring, Table};

use super::objects::{Typed, object, table};

/// A type of values, with a semiring of its own beside + and ×.
pub(crate) trait Tested: Typed + Number {
    const OF: oracle::Type;
    const RING: Ring;
    type Add: Monoid + BinaryOp<A = Self, B = Self, Out = Self> + Default;
    type Mul: BinaryOp<A = Self, B = Self, Out = Self> + Default;
    /// Where a matrix is not 0; `None` for numbers that masks do not compare.
    fn nonzero_matrix<B: Backend>(m: &B, a: &B::Matrix<Self>) -> Option<Result<B::Pattern>>;
    /// Where a vector is not 0, likewise.
    fn nonzero_vector<B: Backend>(m: &B, x: &B::Vector<Self>) -> Option<Result<B::Places>>;
}

macro_rules! tested {
    ($($t:ty: $of:ident, $add:ty = $add_name:literal, $mul:ty = $mul_name:literal, |$m:ident, $x:ident| $nonzero:expr;)*) => {$(
        impl Tested for $t {
            const OF: oracle::Type = oracle::Type::$of;
            const RING: Ring = Ring { add: $add_name, mul: $mul_name };
            type Add = $add;
            type Mul = $mul;
            fn nonzero_matrix<B: Backend>($m: &B, $x: &B::Matrix<Self>) -> Option<Result<B::Pattern>> {
                $nonzero
            }
            fn nonzero_vector<B: Backend>($m: &B, $x: &B::Vector<Self>) -> Option<Result<B::Places>> {
                $nonzero
            }
        }
    )*};
}
tested! {
    f64: F64, Min<f64> = "min", Plus<f64> = "plus", |m, x| Some(x.resolve(m).map(|x| x.0));
    i8: I8, Max<i8> = "max", Second<i8> = "second", |m, x| Some(x.resolve(m).map(|x| x.0));
    bool: Bool, Lor<bool> = "lor", Land<bool> = "land", |m, x| Some(x.resolve(m).map(|x| x.0));
    i64: I64, Min<i64> = "min", First<i64> = "first", |m, x| Some(x.resolve(m).map(|x| x.0));
    Complex<f64>: ComplexF64, Plus<Complex<f64>> = "plus", Second<Complex<f64>> = "second", |_m, _x| None;
}

/// Chains on a machine, for values of T.
struct Chains<'m, B, T>(&'m B, PhantomData<T>);

/// Chains on a machine, each case by those for its type.
pub(crate) struct Types<'m, B> {
    f64: Chains<'m, B, f64>,
    i8: Chains<'m, B, i8>,
    bool: Chains<'m, B, bool>,
    i64: Chains<'m, B, i64>,
    complex: Chains<'m, B, Complex<f64>>,
}
impl<'m, B: Backend> Types<'m, B> {
    pub(crate) fn new(m: &'m B) -> Self {
        Self {
            f64: Chains(m, PhantomData),
            i8: Chains(m, PhantomData),
            bool: Chains(m, PhantomData),
            i64: Chains(m, PhantomData),
            complex: Chains(m, PhantomData),
        }
    }
    fn of(&mut self, case: &Case) -> Option<&mut dyn Library> {
        let n = case.operands.first().copied().unwrap_or(case.c);
        let chains: &mut dyn Library = match case.table(n).ty {
            oracle::Type::F64 => &mut self.f64,
            oracle::Type::I8 => &mut self.i8,
            oracle::Type::Bool => &mut self.bool,
            oracle::Type::I64 => &mut self.i64,
            oracle::Type::ComplexF64 => &mut self.complex,
            _ => return None,
        };
        chains.has(case).then_some(chains)
    }
}
impl<B: Backend> Library for Types<'_, B> {
    fn has(&mut self, case: &Case) -> bool {
        self.of(case).is_some()
    }
    fn run(&mut self, case: &Case) -> std::result::Result<Table, String> {
        self.of(case).ok_or("no chain of this type")?.run(case)
    }
}

/// The objects of a case that are of one type, by their numbers.
struct Held<B: Backend, T: Value> {
    matrices: Vec<Option<B::Matrix<T>>>,
    vectors: Vec<Option<B::Vector<T>>>,
}
impl<B: Backend, T: Typed> Held<B, T> {
    fn new(m: &B, objects: &[Option<Object>]) -> Result<Self> {
        let (mut matrices, mut vectors) = (vec![], vec![]);
        for x in objects {
            let (a, x) = match x {
                Some(Object::Matrix(a)) => (a.csr::<T>().map(|a| m.upload(a)).transpose()?, None),
                Some(Object::Vector(x)) => (None, x.typed::<T>().map(|x| m.upload_vector(x)).transpose()?),
                _ => (None, None),
            };
            matrices.push(a);
            vectors.push(x);
        }
        Ok(Self { matrices, vectors })
    }
    fn matrix(&self, n: usize) -> &B::Matrix<T> {
        self.matrices[n].as_ref().expect("a matrix of the type")
    }
    fn vector(&self, n: usize) -> &B::Vector<T> {
        self.vectors[n].as_ref().expect("a vector of the type")
    }
}

/// Mask, accumulator and replace of a case.
struct How<P> {
    mask: Option<(P, bool)>,
    replace: bool,
    accumulates: bool,
}
/// A mask whose places are known.
struct Known<P>(P, bool);
impl<B: Backend> Mask<B, u32, Matrices> for Known<B::Pattern> {
    fn resolve(self, _: &B) -> Result<(B::Pattern, bool)> {
        Ok((self.0, self.1))
    }
}
/// Likewise, of a vector; another type, as patterns of both kinds might be of one.
struct KnownVector<P>(P, bool);
impl<B: Backend> Mask<B, u32, Vectors> for KnownVector<B::Places> {
    fn resolve(self, _: &B) -> Result<(B::Places, bool)> {
        Ok((self.0, self.1))
    }
}

macro_rules! written {
    ($name:ident, $kind:ident, $of:ident, $places:ident, $known:ident) => {
        fn $name<B: Backend, Op>(
            chain: Build<'_, B, u32, Op>,
            how: How<B::$places>,
            c: &mut B::$of<Op::Out>,
        ) -> Result<()>
        where
            Op: Operation<B, u32, Kind = $kind, Out: Number>,
        {
            let minus = Minus::<Op::Out>::new();
            match how.mask {
                None if how.accumulates => chain.accum(minus).into(c),
                None => chain.into(c),
                Some((places, complement)) => {
                    let chain = chain.mask($known(places, complement));
                    let chain = if how.replace { chain.replace() } else { chain };
                    if how.accumulates { chain.accum(minus).into(c) } else { chain.into(c) }
                }
            }
        }
    };
}
written!(write_matrix, Matrices, Matrix, Pattern, Known);
written!(write_vector, Vectors, Vector, Places, KnownVector);

/// The places of a mask, of a matrix or a vector.
struct Places<B: Backend> {
    matrix: Option<(B::Pattern, bool)>,
    vector: Option<(B::Places, bool)>,
}

impl<B: Backend, T: Tested> Held<B, T> {
    /// Where a matrix has an entry, or one that is not 0; `None` if there is no such matrix here.
    fn pattern(&self, m: &B, n: usize, structure: bool) -> Option<Result<B::Pattern>> {
        let a = self.matrices[n].as_ref()?;
        if structure { Some(a.places(m)) } else { T::nonzero_matrix(m, a) }
    }
    /// Likewise, a vector.
    fn places(&self, m: &B, n: usize, structure: bool) -> Option<Result<B::Places>> {
        let x = self.vectors[n].as_ref()?;
        if structure { Some(x.places(m)) } else { T::nonzero_vector(m, x) }
    }
}

impl<B: Backend, T: Tested> Chains<'_, B, T> {
    fn call(&self, case: &Case) -> Result<Object> {
        let m = self.0;
        let made = |x: &oracle::Object| (x.table.kind != Kind::Scalar).then(|| object(x, case.scale));
        let objects: Vec<_> = case.objects.iter().map(made).collect();
        let (held, bools, ints) =
            (Held::<B, T>::new(m, &objects)?, Held::<B, bool>::new(m, &objects)?, Held::<B, i64>::new(m, &objects)?);
        drop(objects);
        let mut mask = Places { matrix: None, vector: None };
        if let Some(oracle::Mask { object: n, structure, complement }) = case.mask {
            macro_rules! known {
                ($of:ident) => {{
                    let of = held.$of(m, n, structure).or_else(|| bools.$of(m, n, structure));
                    of.or_else(|| ints.$of(m, n, structure)).expect("a mask of one of the types")?
                }};
            }
            match case.table(n).kind {
                Kind::Matrix => mask.matrix = Some((known!(pattern), complement)),
                _ => mask.vector = Some((known!(places), complement)),
            }
        }
        // Objects of other types than C's are dropped before it is written, so that nothing shares it.
        match case.table(case.c).ty {
            ty if ty == T::OF => {
                drop((bools, ints));
                self.same(case, held, mask)
            }
            oracle::Type::Bool => {
                drop(ints);
                self.truths(case, &held, bools, mask)
            }
            _ => {
                drop(bools);
                self.positions(case, &held, ints, mask)
            }
        }
    }

    /// Operations whose result is of the type of their operands.
    fn same(&self, case: &Case, mut held: Held<B, T>, mask: Places<B>) -> Result<Object> {
        let m = self.0;
        let [a, b] = [0, 1].map(|n| case.operands.get(n).copied().unwrap_or_default());
        let (Places { matrix, vector }, (replace, accumulates)) = (mask, (case.replace, case.accum.is_some()));
        let is_matrix = case.kind() == Kind::Matrix;
        macro_rules! into {
            (matrix: $chain:expr) => {{
                let chain = $chain;
                let mut c = held.matrices[case.c].take().expect("C");
                drop(held);
                write_matrix(chain, How { mask: matrix, replace, accumulates }, &mut c)?;
                sparring::runtime::Matrix::from(m.download(&c)?).into()
            }};
            (vector: $chain:expr) => {{
                let chain = $chain;
                let mut c = held.vectors[case.c].take().expect("C");
                drop(held);
                write_vector(chain, How { mask: vector, replace, accumulates }, &mut c)?;
                sparring::runtime::Vector::from(m.download_vector(&c)?).into()
            }};
        }
        macro_rules! flipped {
            ($chain:expr $(, $flip:ident $n:literal)*) => {{
                let mut chain = $chain;
                $(if case.transpose[$n] {
                    chain = chain.$flip();
                })*
                chain
            }};
        }
        // Of one operand, or of two, matrices or vectors.
        macro_rules! unary {
            (|$x:ident| $chain:expr) => {
                if is_matrix {
                    into!(matrix: { let $x = held.matrix(a); flipped!($chain, transpose_a 0) })
                } else {
                    into!(vector: { let $x = held.vector(a); $chain })
                }
            };
        }
        macro_rules! binary {
            (|$x:ident, $y:ident| $chain:expr) => {
                if is_matrix {
                    into!(matrix: {
                        let ($x, $y) = (held.matrix(a), held.matrix(b));
                        flipped!($chain, transpose_a 0, transpose_b 1)
                    })
                } else {
                    into!(vector: { let ($x, $y) = (held.vector(a), held.vector(b)); $chain })
                }
            };
        }
        // Of either semiring.
        macro_rules! product {
            ($ring:expr, $kind:ident: |$r:ident| $chain:expr) => {
                if *$ring == T::RING {
                    into!($kind: { let $r = sparring::algebra::Ring(T::Add::default(), T::Mul::default()); $chain })
                } else {
                    into!($kind: { let $r = PlusTimes::<T>::default(); $chain })
                }
            };
        }
        let (minus, indices): (_, Vec<u32>) = (Minus::<T>::new(), indices(&case.op));
        Ok(match &case.op {
            Op::Identity => unary!(|x| m.apply(Identity::<T>::new(), x)),
            Op::Transpose => into!(matrix: flipped!(m.transpose(held.matrix(a)), transpose_a 0)),
            Op::Mxm { ring } => product!(ring, matrix: |r| {
                flipped!(m.mxm(r, held.matrix(a), held.matrix(b)), transpose_a 0, transpose_b 1)
            }),
            Op::Mxv { ring } => product!(ring, vector: |r| {
                flipped!(m.mxv(r, held.matrix(a), held.vector(b)), transpose_a 0)
            }),
            Op::Vxm { ring } => product!(ring, vector: |r| {
                flipped!(m.vxm(r, held.vector(a), held.matrix(b)), transpose_b 1)
            }),
            Op::EwiseAdd { .. } => binary!(|x, y| m.ewise_add(minus, x, y)),
            Op::EwiseMult { .. } => binary!(|x, y| m.ewise_mult(minus, x, y)),
            Op::EwiseUnion { alpha, beta, .. } => {
                let (alpha, beta) = (T::of(*alpha), T::of(*beta));
                binary!(|x, y| m.ewise_union(minus, x, alpha, y, beta))
            }
            Op::Kronecker { .. } => into!(matrix: {
                flipped!(m.kronecker(minus, held.matrix(a), held.matrix(b)), transpose_a 0, transpose_b 1)
            }),
            Op::Apply { .. } => unary!(|x| m.apply(Ainv::<T>::new(), x)),
            Op::ApplyFirst { s, .. } => {
                let s = T::of(*s);
                unary!(|x| m.apply(BindFirst(minus, s), x))
            }
            Op::ApplySecond { s, .. } => {
                let s = T::of(*s);
                unary!(|x| m.apply(BindSecond(minus, s), x))
            }
            Op::Select { op: "tril", s } => {
                let s = i64::of(*s);
                unary!(|x| m.select(Tril::<T>::new(), x, s))
            }
            Op::Select { s, .. } => {
                let s = T::of(*s);
                unary!(|x| m.select(ValueNe::<T>::new(), x, s))
            }
            Op::ReduceRows { .. } => into!(vector: {
                flipped!(m.reduce_rows(Plus::<T>::new(), held.matrix(a)), transpose_a 0)
            }),
            Op::Reduce { .. } => sparring::runtime::Scalar::from(match case.table(a).kind {
                Kind::Matrix => m.reduce(Plus::<T>::new(), held.matrix(a)).eval()?,
                _ => m.reduce(Plus::<T>::new(), held.vector(a)).eval()?,
            })
            .into(),
            Op::Extract { .. } => into!(vector: m.extract(held.vector(a), &indices)),
            Op::Assign { .. } => into!(vector: m.assign(held.vector(a), &indices)),
            Op::AssignScalar { x, .. } => into!(vector: m.assign_scalar(T::of(*x))),
            op => unreachable!("{op:?}"),
        })
    }

    /// A ∘ B that gives truth values.
    fn truths(&self, case: &Case, held: &Held<B, T>, mut bools: Held<B, bool>, mask: Places<B>) -> Result<Object> {
        let (m, a, b) = (self.0, case.operands[0], case.operands[1]);
        let (replace, accumulates) = (case.replace, case.accum.is_some());
        Ok(if case.kind() == Kind::Matrix {
            let mut chain = m.ewise_mult(Equal::<T>::new(), held.matrix(a), held.matrix(b));
            if case.transpose[0] {
                chain = chain.transpose_a();
            }
            if case.transpose[1] {
                chain = chain.transpose_b();
            }
            let mut c = bools.matrices[case.c].take().expect("C");
            write_matrix(chain, How { mask: mask.matrix, replace, accumulates }, &mut c)?;
            sparring::runtime::Matrix::from(m.download(&c)?).into()
        } else {
            let chain = m.ewise_mult(Equal::<T>::new(), held.vector(a), held.vector(b));
            let mut c = bools.vectors[case.c].take().expect("C");
            write_vector(chain, How { mask: mask.vector, replace, accumulates }, &mut c)?;
            sparring::runtime::Vector::from(m.download_vector(&c)?).into()
        })
    }

    /// f(A, s, i, j) that gives a position.
    fn positions(&self, case: &Case, held: &Held<B, T>, mut ints: Held<B, i64>, mask: Places<B>) -> Result<Object> {
        let Op::ApplyIndex { s, .. } = &case.op else { unreachable!("{:?}", case.op) };
        let (m, a, s) = (self.0, case.operands[0], i64::of(*s));
        let (replace, accumulates) = (case.replace, case.accum.is_some());
        Ok(if case.kind() == Kind::Matrix {
            let mut chain = m.apply_index(ColIndex::<T, i64>::new(), held.matrix(a), s);
            if case.transpose[0] {
                chain = chain.transpose_a();
            }
            let mut c = ints.matrices[case.c].take().expect("C");
            write_matrix(chain, How { mask: mask.matrix, replace, accumulates }, &mut c)?;
            sparring::runtime::Matrix::from(m.download(&c)?).into()
        } else {
            let chain = m.apply_index(ColIndex::<T, i64>::new(), held.vector(a), s);
            let mut c = ints.vectors[case.c].take().expect("C");
            write_vector(chain, How { mask: mask.vector, replace, accumulates }, &mut c)?;
            sparring::runtime::Vector::from(m.download_vector(&c)?).into()
        })
    }
}

/// The indices of an operation on vectors.
fn indices(op: &Op) -> Vec<u32> {
    match op {
        Op::Extract { rows, .. } | Op::Assign { rows, .. } => rows.iter().map(|&i| i as u32).collect(),
        _ => vec![],
    }
}

impl<B: Backend, T: Tested> Library for Chains<'_, B, T> {
    fn has(&mut self, case: &Case) -> bool {
        let (out, of_operand) = (case.table(case.c).ty, case.operands.first().map(|&n| case.table(n).ty));
        let ours = |ring: &Ring| *ring == T::RING || *ring == Ring { add: "plus", mul: "times" };
        let is_vector = case.kind() == Kind::Vector;
        let op = match &case.op {
            Op::Identity | Op::Transpose | Op::Select { op: "tril" | "value_ne", .. } => true,
            Op::Mxm { ring } | Op::Mxv { ring } | Op::Vxm { ring } => ours(ring),
            Op::EwiseMult { op } => *op == "minus" || *op == "eq" && (T::OF != oracle::Type::Bool),
            Op::EwiseAdd { op }
            | Op::EwiseUnion { op, .. }
            | Op::Kronecker { op }
            | Op::ApplyFirst { op, .. }
            | Op::ApplySecond { op, .. } => *op == "minus",
            Op::Apply { op } => *op == "ainv",
            Op::ApplyIndex { op, .. } => *op == "col_index" && T::OF != oracle::Type::I64,
            Op::ReduceRows { monoid } | Op::Reduce { monoid } => *monoid == "plus",
            Op::Extract { .. } | Op::Assign { .. } => is_vector,
            Op::AssignScalar { rows, .. } => is_vector && rows.iter().copied().eq(0..case.table(case.c).nrows),
            _ => false,
        };
        let mask = case.mask.is_none_or(|mask| {
            let ty = case.table(mask.object).ty;
            (ty == T::OF || ty == oracle::Type::Bool || ty == out) && (mask.structure || !ty.is_complex())
        });
        op && mask && of_operand.unwrap_or(out) == T::OF && case.accum.is_none_or(|op| op == "minus")
    }
    fn run(&mut self, case: &Case) -> std::result::Result<Table, String> {
        let found = self.call(case).map_err(|e| e.to_string())?;
        table(&found, case.table(case.c), case.scale)
    }
}

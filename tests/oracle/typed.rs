//! The typed interface: the chains of `Backend`, for five types with different arithmetic.

use std::cell::Cell;
use std::marker::PhantomData;

use sparring::algebra::*;
use sparring::backend::{Backend, Build, Container, Indices, Mask, Matrices, Operation, TransposeA, Vectors};
use sparring::num_complex::Complex;
use sparring::runtime::Object;
use sparring::{Dense, Result};
use sparring_oracle::{self as oracle, Case, Kind, Library, Op, Ring, Table};

use super::names::list;
use super::objects::{Typed, dense, object, of_dense, table};

/// A run-time operator on one type, so that chains are compiled once for all operators.
#[derive(Clone, Copy, Debug)]
struct Named<T>(&'static str, PhantomData<T>);
impl<T> Named<T> {
    const NAMES: [&'static str; 6] = ["minus", "second", "plus", "times", "first", "pair"];
    fn new(name: &'static str) -> Self {
        Self(name, PhantomData)
    }
    fn has(name: &str) -> bool {
        Self::NAMES.contains(&name)
    }
}
impl<T: Number> BinaryOp for Named<T> {
    type A = T;
    type B = T;
    type Out = T;
    fn apply<M: sparring::algebra::Arith>(self, a: V<M, T>, b: V<M, T>) -> V<M, T> {
        match self.0 {
            "minus" => a - b,
            "second" => b,
            "plus" => a + b,
            "times" => a * b,
            "first" => a,
            "pair" => V::lit(T::ONE),
            name => unreachable!("{name}"),
        }
    }
}

/// A value type, with a semiring besides + and ×.
pub(crate) trait Tested: Typed + Number {
    const OF: oracle::Type;
    const RING: Ring;
    type Add: Monoid + BinaryOp<A = Self, B = Self, Out = Self> + Default;
    type Mul: BinaryOp<A = Self, B = Self, Out = Self> + Default;
    /// The nonzero pattern of a matrix; `None` for types that cannot be valued masks.
    fn nonzero_matrix<B: Backend>(m: &B, a: &B::Matrix<Self>) -> Option<Result<B::Pattern>>;
    /// The nonzero pattern of a vector, likewise.
    fn nonzero_vector<B: Backend>(m: &B, x: &B::Vector<Self>) -> Option<Result<B::VectorPattern>>;
    /// Whether the type is ordered.
    const ORDERED: bool;
    /// The chain of the row means, for ordered types; `end` completes it.
    fn mean<B: Backend>(m: &B, a: &B::Matrix<Self>, end: impl Ended<B, f64>) -> Result<()>;
    /// Likewise, the index of the least or the greatest value.
    fn arg<B: Backend>(m: &B, a: &B::Matrix<Self>, greatest: bool, end: impl Ended<B, i64>) -> Result<()>;
}
/// Completes a chain whose result is a vector of T.
pub(crate) trait Ended<B: Backend, T: Value> {
    fn end<Op: Operation<B, u32, Kind = Vectors, Out = T> + TransposeA>(
        self,
        chain: Build<'_, B, u32, Op>,
    ) -> Result<()>;
}
/// A chain on rows or columns, written with mask, accumulator and replace.
struct Written<'c, B: Backend, T: Value> {
    flip: bool,
    how: How<B::VectorPattern>,
    c: &'c mut B::Vector<T>,
}
impl<B: Backend, T: Number> Ended<B, T> for Written<'_, B, T> {
    fn end<Op: Operation<B, u32, Kind = Vectors, Out = T> + TransposeA>(
        self,
        chain: Build<'_, B, u32, Op>,
    ) -> Result<()> {
        write_vector(if self.flip { chain.transpose_a() } else { chain }, self.how, self.c)
    }
}

macro_rules! tested {
    (@rows numbers) => {
        const ORDERED: bool = true;
        fn mean<B: Backend>(m: &B, a: &B::Matrix<Self>, end: impl Ended<B, f64>) -> Result<()> {
            end.end(m.mean_rows(a))
        }
        fn arg<B: Backend>(m: &B, a: &B::Matrix<Self>, greatest: bool, end: impl Ended<B, i64>) -> Result<()> {
            if greatest { end.end(m.argmax_rows(a)) } else { end.end(m.argmin_rows(a)) }
        }
    };
    (@rows complex) => {
        const ORDERED: bool = false;
        fn mean<B: Backend>(_: &B, _: &B::Matrix<Self>, _: impl Ended<B, f64>) -> Result<()> {
            unreachable!("they have no order")
        }
        fn arg<B: Backend>(_: &B, _: &B::Matrix<Self>, _: bool, _: impl Ended<B, i64>) -> Result<()> {
            unreachable!("they have no order")
        }
    };
    ($($t:ty: $of:ident $kind:ident, $add:ty = $add_name:literal, $mul:ty = $mul_name:literal, |$m:ident, $x:ident| $nonzero:expr;)*) => {$(
        impl Tested for $t {
            const OF: oracle::Type = oracle::Type::$of;
            const RING: Ring = Ring { add: $add_name, mul: $mul_name };
            type Add = $add;
            type Mul = $mul;
            fn nonzero_matrix<B: Backend>($m: &B, $x: &B::Matrix<Self>) -> Option<Result<B::Pattern>> {
                $nonzero
            }
            fn nonzero_vector<B: Backend>($m: &B, $x: &B::Vector<Self>) -> Option<Result<B::VectorPattern>> {
                $nonzero
            }
            tested! { @rows $kind }
        }
    )*};
}
tested! {
    f64: F64 numbers, Min<f64> = "min", Plus<f64> = "plus", |m, x| Some(x.resolve(m).map(|x| x.0));
    i8: I8 numbers, Max<i8> = "max", Second<i8> = "second", |m, x| Some(x.resolve(m).map(|x| x.0));
    bool: Bool numbers, Lor<bool> = "lor", Land<bool> = "land", |m, x| Some(x.resolve(m).map(|x| x.0));
    i64: I64 numbers, Min<i64> = "min", First<i64> = "first", |m, x| Some(x.resolve(m).map(|x| x.0));
    Complex<f64>: ComplexF64 complex, Plus<Complex<f64>> = "plus", Second<Complex<f64>> = "second", |_m, _x| None;
}

/// Chains on a backend, for values of type T.
struct Chains<'m, B, T>(&'m B, Cell<usize>, PhantomData<T>);

/// Chains on a backend; each case goes to the chains of its type.
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
            f64: Chains(m, Cell::new(0), PhantomData),
            i8: Chains(m, Cell::new(0), PhantomData),
            bool: Chains(m, Cell::new(0), PhantomData),
            i64: Chains(m, Cell::new(0), PhantomData),
            complex: Chains(m, Cell::new(0), PhantomData),
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

/// The objects of a case with one type, by their numbers.
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
    accum: Option<&'static str>,
}
/// A mask given by its pattern.
struct Known<P>(P, bool);
impl<B: Backend> Mask<B, u32, Matrices> for Known<B::Pattern> {
    fn resolve(self, _: &B) -> Result<(B::Pattern, bool)> {
        Ok((self.0, self.1))
    }
}
/// Likewise for a vector; a separate type, because both patterns may have the same type.
struct KnownVector<P>(P, bool);
impl<B: Backend> Mask<B, u32, Vectors> for KnownVector<B::VectorPattern> {
    fn resolve(self, _: &B) -> Result<(B::VectorPattern, bool)> {
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
            match (how.mask, how.accum.map(Named::<Op::Out>::new)) {
                (None, Some(accum)) => chain.accum(accum).into(c),
                (None, None) => chain.into(c),
                (Some((places, complement)), accum) => {
                    let chain = chain.mask($known(places, complement));
                    let chain = if how.replace { chain.replace() } else { chain };
                    match accum {
                        Some(accum) => chain.accum(accum).into(c),
                        None => chain.into(c),
                    }
                }
            }
        }
    };
}
written!(write_matrix, Matrices, Matrix, Pattern, Known);
written!(write_vector, Vectors, Vector, VectorPattern, KnownVector);

/// A vector written into a row or a column of a matrix.
fn write_line<B: Backend, Op>(
    chain: Build<'_, B, u32, Op>,
    how: How<B::VectorPattern>,
    c: &mut B::Matrix<Op::Out>,
    (is_row, at): (bool, usize),
) -> Result<()>
where
    Op: Operation<B, u32, Kind = Vectors, Out: Number>,
{
    macro_rules! into {
        ($chain:expr) => {
            if is_row { $chain.into_row(c, at) } else { $chain.into_column(c, at) }
        };
    }
    match (how.mask, how.accum.map(Named::<Op::Out>::new)) {
        (None, Some(accum)) => into!(chain.accum(accum)),
        (None, None) => into!(chain),
        (Some((places, complement)), accum) => {
            let chain = chain.mask(KnownVector(places, complement));
            let chain = if how.replace { chain.replace() } else { chain };
            match accum {
                Some(accum) => into!(chain.accum(accum)),
                None => into!(chain),
            }
        }
    }
}

/// The pattern of a mask, of a matrix or a vector.
struct Places<B: Backend> {
    matrix: Option<(B::Pattern, bool)>,
    vector: Option<(B::VectorPattern, bool)>,
}

impl<B: Backend, T: Tested> Held<B, T> {
    /// The entry pattern or nonzero pattern of a matrix; `None` if there is no matrix of this type.
    fn pattern(&self, m: &B, n: usize, structure: bool) -> Option<Result<B::Pattern>> {
        let a = self.matrices[n].as_ref()?;
        if structure { Some(a.entry_pattern(m)) } else { T::nonzero_matrix(m, a) }
    }
    /// Likewise, of a vector.
    fn places(&self, m: &B, n: usize, structure: bool) -> Option<Result<B::VectorPattern>> {
        let x = self.vectors[n].as_ref()?;
        if structure { Some(x.entry_pattern(m)) } else { T::nonzero_vector(m, x) }
    }
}

impl<B: Backend, T: Tested> Chains<'_, B, T> {
    fn call(&self, case: &Case) -> Result<Object> {
        let m = self.0;
        let made = |x: &oracle::Object| (x.table.kind != Kind::Scalar).then(|| object(x, case.scale));
        let objects: Vec<_> = case.objects.iter().map(made).collect();
        let (held, bools, ints) =
            (Held::<B, T>::new(m, &objects)?, Held::<B, bool>::new(m, &objects)?, Held::<B, i64>::new(m, &objects)?);
        let reals = Held::<B, f64>::new(m, &objects)?;
        drop(objects);
        self.1.set(self.1.get() + 1);
        let mut mask = Places { matrix: None, vector: None };
        if let Some(oracle::Mask { object: n, structure, complement }) = case.mask {
            macro_rules! known {
                ($of:ident) => {{
                    let of = held.$of(m, n, structure).or_else(|| bools.$of(m, n, structure));
                    let of = of.or_else(|| ints.$of(m, n, structure));
                    of.or_else(|| reals.$of(m, n, structure)).expect("a mask of one of the types")?
                }};
            }
            match case.table(n).kind {
                Kind::Matrix => mask.matrix = Some((known!(pattern), complement)),
                _ => mask.vector = Some((known!(places), complement)),
            }
        }
        // Objects of types other than C's are dropped before the write, so that nothing is shared.
        match (&case.op, case.table(case.c).ty) {
            (Op::Mean, _) => {
                drop((bools, ints));
                self.means(case, held, reals, mask)
            }
            (Op::Count | Op::ArgMin | Op::ArgMax, _) => {
                drop((bools, reals));
                self.numbers(case, held, ints, mask)
            }
            (_, ty) if ty == T::OF => {
                drop((bools, ints, reals));
                self.same(case, held, mask)
            }
            (_, oracle::Type::Bool) => {
                drop((ints, reals));
                self.truths(case, &held, bools, mask)
            }
            _ => {
                drop((bools, reals));
                self.positions(case, &held, ints, mask)
            }
        }
    }

    /// Operations whose result has the type of their operands.
    fn same(&self, case: &Case, mut held: Held<B, T>, mask: Places<B>) -> Result<Object> {
        let m = self.0;
        let [a, b] = [0, 1].map(|n| case.operands.get(n).copied().unwrap_or_default());
        let (Places { matrix, vector }, (replace, accum)) = (mask, (case.replace, case.accum));
        let is_matrix = case.kind() == Kind::Matrix;
        macro_rules! into {
            (matrix: $chain:expr) => {{
                let chain = $chain;
                let mut c = held.matrices[case.c].take().expect("C");
                drop(held);
                write_matrix(chain, How { mask: matrix, replace, accum }, &mut c)?;
                sparring::runtime::Matrix::from(m.download(&c)?).into()
            }};
            (line $at:expr => $chain:expr) => {{
                let chain = $chain;
                let mut c = held.matrices[case.c].take().expect("C");
                drop(held);
                write_line(chain, How { mask: vector, replace, accum }, &mut c, $at)?;
                sparring::runtime::Matrix::from(m.download(&c)?).into()
            }};
            (vector: $chain:expr) => {{
                let chain = $chain;
                let mut c = held.vectors[case.c].take().expect("C");
                drop(held);
                write_vector(chain, How { mask: vector, replace, accum }, &mut c)?;
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
        // With one operand, or two, matrices or vectors.
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
        // With either semiring.
        macro_rules! product {
            ($ring:expr, $kind:ident: |$r:ident| $chain:expr) => {
                if *$ring == T::RING {
                    into!($kind: { let $r = sparring::algebra::Ring(T::Add::default(), T::Mul::default()); $chain })
                } else {
                    into!($kind: { let $r = PlusTimes::<T>::default(); $chain })
                }
            };
        }
        let calls = self.1.get();
        let like = case.table(case.c);
        // Row and column indices of the operand after transposition, or of C.
        let of_operand = case.operands.first().map_or((0, 0), |&a| {
            let (m, n) = case.table(a).shape();
            if case.transpose[0] { (n, m) } else { (m, n) }
        });
        let indices: Vec<u32> = indices(&case.op);
        // Indices of a vector as a slice or as a list.
        let at = |list_of: &[usize], n: usize| -> Indices<'_, u32> {
            if calls.is_multiple_of(2) { (&indices).into() } else { list(list_of, n, calls).into() }
        };
        Ok(match &case.op {
            Op::Identity => unary!(|x| m.apply(Identity::<T>::new(), x)),
            Op::Transpose => into!(matrix: flipped!(m.transpose(held.matrix(a)), transpose_a 0)),
            Op::Mxm { ring } => product!(ring, matrix: |r| {
                flipped!(m.mxm(r, held.matrix(a), held.matrix(b)), transpose_a 0, transpose_b 1)
            }),
            Op::Mxv { ring } => product!(ring, vector: |r| {
                let chain = flipped!(m.mxv(r, held.matrix(a), held.vector(b)), transpose_a 0);
                // Sometimes with the transpose, so that a direction is chosen.
                let at = calls.is_multiple_of(2).then(|| m.transpose(held.matrix(a)).eval()).transpose()?;
                if let Some(at) = at { chain.with_transpose(&at) } else { chain }
            }),
            Op::Vxm { ring } => product!(ring, vector: |r| {
                let chain = flipped!(m.vxm(r, held.vector(a), held.matrix(b)), transpose_b 1);
                let at = calls.is_multiple_of(2).then(|| m.transpose(held.matrix(b)).eval()).transpose()?;
                if let Some(at) = at { chain.with_transpose(&at) } else { chain }
            }),
            Op::Spmm { ring } => {
                let of = |n: usize| {
                    let table = case.table(n);
                    m.upload_dense(&Dense::new(table.nrows, table.ncols, dense::<T>(table))?)
                };
                let (x, mut y) = (of(b)?, of(case.c)?);
                macro_rules! by {
                    ($ring:expr) => {{
                        let chain = m.spmm($ring, held.matrix(a), &x);
                        let chain = if case.transpose[0] { chain.transpose_a() } else { chain };
                        match case.accum {
                            Some(op) => chain.accum(Named::new(op)).into(&mut y)?,
                            None if calls.is_multiple_of(2) => y = chain.eval()?,
                            None => chain.into(&mut y)?,
                        }
                    }};
                }
                if *ring == T::RING {
                    by!(sparring::algebra::Ring(T::Add::default(), T::Mul::default()));
                } else {
                    by!(PlusTimes::<T>::default());
                }
                of_dense(m.download_dense(&y)?.into_values(), like)
            }
            // Entries are given to the builder as a list, or in their stored order.
            Op::Build { tuples, dup } => {
                let values: Vec<T> = tuples.iter().map(|x| T::of(x.2)).collect();
                let (rows, cols): (Vec<u32>, Vec<u32>) = tuples.iter().map(|x| (x.0 as u32, x.1 as u32)).unzip();
                let dup = Named::new(dup);
                if !is_matrix {
                    let made = sparring::Vector::<T>::from_entries(like.nrows, rows, values, dup)?;
                    return Ok(sparring::runtime::Vector::from(made).into());
                }
                let made = if calls.is_multiple_of(2) {
                    sparring::Coo::<T>::new(like.nrows, like.ncols, rows, cols, values)?.to_csr(dup)?
                } else {
                    let mut builder = sparring::sparse::Builder::<T>::new(like.nrows, like.ncols)?;
                    tuples.iter().try_for_each(|x| builder.push(x.0, x.1, T::of(x.2)))?;
                    builder.finish(dup)?
                };
                sparring::runtime::Matrix::from(made).into()
            }
            Op::EwiseAdd { op } => binary!(|x, y| m.ewise_add(Named::new(op), x, y)),
            Op::EwiseMult { op } => binary!(|x, y| m.ewise_mult(Named::new(op), x, y)),
            Op::EwiseUnion { op, alpha, beta } => {
                let (alpha, beta) = (T::of(*alpha), T::of(*beta));
                binary!(|x, y| m.ewise_union(Named::new(op), x, alpha, y, beta))
            }
            Op::Kronecker { op } => into!(matrix: {
                flipped!(m.kronecker(Named::new(op), held.matrix(a), held.matrix(b)), transpose_a 0, transpose_b 1)
            }),
            Op::Apply { .. } => unary!(|x| m.apply(Ainv::<T>::new(), x)),
            Op::ApplyFirst { op, s } => {
                let s = T::of(*s);
                unary!(|x| m.apply(BindFirst(Named::new(op), s), x))
            }
            Op::ApplySecond { op, s } => {
                let s = T::of(*s);
                unary!(|x| m.apply(BindSecond(Named::new(op), s), x))
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
            Op::ReduceScalar { .. } => {
                let mut s = like.get(0, 0).map(T::of);
                macro_rules! write {
                    ($a:expr) => {{
                        let chain = m.reduce(Plus::<T>::new(), $a);
                        match case.accum {
                            Some(op) => chain.accum(Named::new(op)).into(&mut s)?,
                            None => chain.into(&mut s)?,
                        }
                    }};
                }
                match case.table(a).kind {
                    Kind::Matrix => write!(held.matrix(a)),
                    _ => write!(held.vector(a)),
                }
                // Here, an absent scalar is a vector without entries.
                match s {
                    Some(s) => sparring::runtime::Scalar::from(s).into(),
                    None => sparring::runtime::Vector::from(sparring::Vector::<T>::empty(case.scale)?).into(),
                }
            }
            Op::Extract { rows, cols } if is_matrix => {
                let (rows, cols) = (list(rows, of_operand.0, calls), list(cols, of_operand.1, calls));
                into!(matrix: flipped!(m.extract_matrix(held.matrix(a), rows, cols), transpose_a 0))
            }
            Op::Extract { rows, .. } => into!(vector: m.extract(held.vector(a), at(rows, of_operand.0))),
            Op::ExtractColumn { rows, col } => {
                // A column of Aᵀ is a row of A.
                let rows = list(rows, of_operand.0, calls);
                if case.transpose[0] && calls.is_multiple_of(2) {
                    into!(vector: m.extract_row(held.matrix(a), *col, rows))
                } else {
                    into!(vector: flipped!(m.extract_column(held.matrix(a), rows, *col), transpose_a 0))
                }
            }
            Op::Assign { rows, cols } if is_matrix => {
                let (rows, cols) = (list(rows, like.nrows, calls), list(cols, like.ncols, calls));
                into!(matrix: flipped!(m.assign_matrix(held.matrix(a), rows, cols), transpose_a 0))
            }
            Op::Assign { rows, .. } => into!(vector: m.assign(held.vector(a), at(rows, like.nrows))),
            Op::AssignRow { row, cols } => {
                into!(line (true, *row) => m.assign(held.vector(a), at(cols, like.ncols)))
            }
            Op::AssignColumn { rows, col } => {
                into!(line (false, *col) => m.assign(held.vector(a), at(rows, like.nrows)))
            }
            Op::AssignScalar { rows, cols, x } if is_matrix => {
                let (rows, cols) = (list(rows, like.nrows, calls), list(cols, like.ncols, calls));
                into!(matrix: m.assign_scalar_matrix(T::of(*x), rows, cols))
            }
            Op::AssignScalar { rows, x, .. } if rows.iter().copied().eq(0..like.nrows) && calls.is_multiple_of(2) => {
                into!(vector: m.assign_scalar(T::of(*x)))
            }
            Op::AssignScalar { rows, x, .. } => {
                into!(vector: m.assign_scalar_at(T::of(*x), at(rows, like.nrows)))
            }
            Op::Scatter { indices: to, monoid } if *monoid == T::RING.add => {
                into!(vector: m.scatter(T::Add::default(), held.vector(a), at(to, like.nrows), like.nrows))
            }
            Op::Scatter { indices: to, .. } => {
                into!(vector: m.scatter(Plus::<T>::new(), held.vector(a), at(to, like.nrows), like.nrows))
            }
            Op::Diag { k } => into!(matrix: m.diag(held.vector(a), *k)),
            Op::Diagonal { k } => into!(vector: flipped!(m.diagonal(held.matrix(a), *k), transpose_a 0)),
            Op::Concat { across } => {
                let tiles: Vec<_> = case.operands.iter().map(|&n| held.matrix(n)).collect();
                let grid: Vec<&[_]> = tiles.chunks(*across).collect();
                sparring::runtime::Matrix::from(m.download(&m.concat(&grid)?)?).into()
            }
            Op::Block { rows, cols } if is_matrix => {
                let (a, parts) = (held.matrix(a), |of: &(usize, usize), n: usize| [of.0, of.1 - of.0, n - of.1]);
                let blocks = m.split(a, &parts(rows, m.shape(a).0), &parts(cols, m.shape(a).1))?;
                sparring::runtime::Matrix::from(m.download(&blocks[1][1])?).into()
            }
            Op::Block { rows, .. } => into!(vector: m.extract(held.vector(a), rows.0..rows.1)),
            Op::Resize { shape } if is_matrix => {
                let made = m.resize(held.matrix(a), shape.0, shape.1)?;
                sparring::runtime::Matrix::from(m.download(&made)?).into()
            }
            Op::Resize { shape } => {
                let made = m.resize_vector(held.vector(a), shape.0)?;
                sparring::runtime::Vector::from(m.download_vector(&made)?).into()
            }
            op => unreachable!("{op:?}"),
        })
    }

    /// Row means.
    fn means(&self, case: &Case, held: Held<B, T>, mut reals: Held<B, f64>, mask: Places<B>) -> Result<Object> {
        let (m, how) = (self.0, How { mask: mask.vector, replace: case.replace, accum: case.accum });
        let mut c = reals.vectors[case.c].take().expect("C");
        T::mean(m, held.matrix(case.operands[0]), Written { flip: case.transpose[0], how, c: &mut c })?;
        Ok(sparring::runtime::Vector::from(m.download_vector(&c)?).into())
    }
    /// Entry counts of rows, and indices of the least and the greatest value.
    fn numbers(&self, case: &Case, held: Held<B, T>, mut ints: Held<B, i64>, mask: Places<B>) -> Result<Object> {
        let (m, how) = (self.0, How { mask: mask.vector, replace: case.replace, accum: case.accum });
        let mut c = ints.vectors[case.c].take().expect("C");
        let (a, end) = (held.matrix(case.operands[0]), Written { flip: case.transpose[0], how, c: &mut c });
        match case.op {
            Op::Count => end.end(m.count_rows(a))?,
            _ => T::arg(m, a, matches!(case.op, Op::ArgMax), end)?,
        }
        Ok(sparring::runtime::Vector::from(m.download_vector(&c)?).into())
    }

    /// A ∘ B with Boolean results.
    fn truths(&self, case: &Case, held: &Held<B, T>, mut bools: Held<B, bool>, mask: Places<B>) -> Result<Object> {
        let (m, a, b) = (self.0, case.operands[0], case.operands[1]);
        let (replace, accum) = (case.replace, case.accum);
        Ok(if case.kind() == Kind::Matrix {
            let mut chain = m.ewise_mult(Equal::<T>::new(), held.matrix(a), held.matrix(b));
            if case.transpose[0] {
                chain = chain.transpose_a();
            }
            if case.transpose[1] {
                chain = chain.transpose_b();
            }
            let mut c = bools.matrices[case.c].take().expect("C");
            write_matrix(chain, How { mask: mask.matrix, replace, accum }, &mut c)?;
            sparring::runtime::Matrix::from(m.download(&c)?).into()
        } else {
            let chain = m.ewise_mult(Equal::<T>::new(), held.vector(a), held.vector(b));
            let mut c = bools.vectors[case.c].take().expect("C");
            write_vector(chain, How { mask: mask.vector, replace, accum }, &mut c)?;
            sparring::runtime::Vector::from(m.download_vector(&c)?).into()
        })
    }

    /// f(A, s, i, j) with an index as result.
    fn positions(&self, case: &Case, held: &Held<B, T>, mut ints: Held<B, i64>, mask: Places<B>) -> Result<Object> {
        let Op::ApplyIndex { s, .. } = &case.op else { unreachable!("{:?}", case.op) };
        let (m, a, s) = (self.0, case.operands[0], i64::of(*s));
        let (replace, accum) = (case.replace, case.accum);
        Ok(if case.kind() == Kind::Matrix {
            let mut chain = m.apply_index(ColIndex::<T, i64>::new(), held.matrix(a), s);
            if case.transpose[0] {
                chain = chain.transpose_a();
            }
            let mut c = ints.matrices[case.c].take().expect("C");
            write_matrix(chain, How { mask: mask.matrix, replace, accum }, &mut c)?;
            sparring::runtime::Matrix::from(m.download(&c)?).into()
        } else {
            let chain = m.apply_index(ColIndex::<T, i64>::new(), held.vector(a), s);
            let mut c = ints.vectors[case.c].take().expect("C");
            write_vector(chain, How { mask: mask.vector, replace, accum }, &mut c)?;
            sparring::runtime::Vector::from(m.download_vector(&c)?).into()
        })
    }
}

/// The indices of an operation on vectors.
fn indices(op: &Op) -> Vec<u32> {
    match op {
        Op::Extract { rows, .. } | Op::Assign { rows, .. } | Op::AssignColumn { rows, .. } => rows,
        Op::AssignScalar { rows, .. } => rows,
        Op::AssignRow { cols, .. } => cols,
        Op::Scatter { indices, .. } => indices,
        _ => return vec![],
    }
    .iter()
    .map(|&i| i as u32)
    .collect()
}

impl<B: Backend, T: Tested> Library for Chains<'_, B, T> {
    fn has(&mut self, case: &Case) -> bool {
        let (out, of_operand) = (case.table(case.c).ty, case.operands.first().map(|&n| case.table(n).ty));
        let ours = |ring: &Ring| *ring == T::RING || *ring == Ring { add: "plus", mul: "times" };
        let op = match &case.op {
            Op::Identity | Op::Transpose | Op::Select { op: "tril" | "value_ne", .. } => true,
            Op::Mxm { ring } | Op::Mxv { ring } | Op::Vxm { ring } | Op::Spmm { ring } => ours(ring),
            Op::Build { dup, .. } => Named::<T>::has(dup),
            Op::EwiseMult { op } => Named::<T>::has(op) || *op == "eq" && (T::OF != oracle::Type::Bool),
            Op::EwiseAdd { op }
            | Op::EwiseUnion { op, .. }
            | Op::Kronecker { op }
            | Op::ApplyFirst { op, .. }
            | Op::ApplySecond { op, .. } => Named::<T>::has(op),
            Op::Apply { op } => *op == "ainv",
            Op::ApplyIndex { op, .. } => *op == "col_index" && T::OF != oracle::Type::I64,
            Op::ReduceRows { monoid } | Op::Reduce { monoid } | Op::ReduceScalar { monoid } => *monoid == "plus",
            Op::Scatter { monoid, .. } => *monoid == "plus" || *monoid == T::RING.add,
            Op::Extract { .. }
            | Op::ExtractColumn { .. }
            | Op::Assign { .. }
            | Op::AssignRow { .. }
            | Op::AssignColumn { .. }
            | Op::AssignScalar { .. }
            | Op::Diag { .. }
            | Op::Diagonal { .. }
            | Op::Count
            | Op::Concat { .. }
            | Op::Block { .. }
            | Op::Resize { .. } => true,
            Op::Mean | Op::ArgMin | Op::ArgMax => T::ORDERED,
            _ => false,
        };
        let mask = case.mask.is_none_or(|mask| {
            let ty = case.table(mask.object).ty;
            (ty == T::OF || ty == oracle::Type::Bool || ty == out) && (mask.structure || !ty.is_complex())
        });
        op && mask && of_operand.unwrap_or(out) == T::OF && case.accum.is_none_or(Named::<T>::has)
    }
    fn run(&mut self, case: &Case) -> std::result::Result<Table, String> {
        let found = self.call(case).map_err(|e| e.to_string())?;
        table(&found, case.table(case.c), case.scale)
    }
}

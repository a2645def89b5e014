//! Conversions between the oracle's tables and the library's matrices, vectors and scalars.

use sparring::algebra::{self, Value as Held};
use sparring::num_complex::Complex;
use sparring::runtime::{Machine, Matrix, Object, Op, Scalar, Vector};
use sparring::sparse::{HyperCsr, MatrixForm};
use sparring::{Cpu, Csr};
use sparring_oracle::{self as oracle, Form, Kind, Table, Type, Value};

/// Conversion between a library value and an oracle value.
pub(crate) trait Typed: Held + Default {
    fn of(x: Value) -> Self;
    fn value(self) -> Value;
}
macro_rules! typed {
    ($($t:ty: $variant:ident($($x:ident),*) => $from:expr, |$y:ident| $to:expr;)*) => {$(
        impl Typed for $t {
            fn of(x: Value) -> Self {
                let Value::$variant($($x),*) = x else { panic!("{x:?} is not {}", stringify!($t)) };
                $from
            }
            fn value(self) -> Value {
                let $y = self;
                $to
            }
        }
    )*};
}
typed! {
    bool: Bool(x) => x, |x| Value::Bool(x);
    i8: Int(x) => x as i8, |x| Value::Int(x.into());
    i16: Int(x) => x as i16, |x| Value::Int(x.into());
    i32: Int(x) => x as i32, |x| Value::Int(x.into());
    i64: Int(x) => x as i64, |x| Value::Int(x.into());
    u8: Int(x) => x as u8, |x| Value::Int(x.into());
    u16: Int(x) => x as u16, |x| Value::Int(x.into());
    u32: Int(x) => x as u32, |x| Value::Int(x.into());
    u64: Int(x) => x as u64, |x| Value::Int(x.into());
    f32: Real(x) => x as f32, |x| Value::Real(x.into());
    f64: Real(x) => x, |x| Value::Real(x);
    Complex<f32>: Complex(re, im) => Complex::new(re as f32, im as f32),
        |x| Value::Complex(x.re.into(), x.im.into());
    Complex<f64>: Complex(re, im) => Complex::new(re, im), |x| Value::Complex(x.re, x.im);
}

/// Runs `$body` with the library type that corresponds to an oracle type.
macro_rules! with_type {
    ($ty:expr, $t:ident => $body:expr) => {
        with_type!(@ $ty, $t, $body,
            Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64,
            ComplexF32 sparring::num_complex::Complex<f32>, ComplexF64 sparring::num_complex::Complex<f64>)
    };
    (@ $ty:expr, $t:ident, $body:expr, $($variant:ident $of:ty),*) => {
        match $ty {
            $(sparring_oracle::Type::$variant => {
                type $t = $of;
                $body
            })*
        }
    };
}

pub(crate) use with_type;

/// The corresponding run-time type.
pub(crate) fn type_of(ty: Type) -> algebra::Type {
    with_type!(ty, T => T::TYPE)
}
/// The value as a scalar of its type.
pub(crate) fn scalar(ty: Type, x: Value) -> Scalar {
    with_type!(ty, T => Scalar::from(T::of(x)))
}

/// Smallest number of rows from which a matrix may be hypersparse.
const HYPERSPARSE: usize = 1 << 20;

/// Compressed rows with f(i, j) at index (i, j)·scale.
fn rows<T: Typed>(table: &Table, unsorted: bool, scale: usize, f: &dyn Fn(usize, usize) -> Option<Value>) -> Csr<T> {
    let (m, n) = (table.nrows * scale, table.ncols * scale);
    let (mut starts, mut cols, mut values) = (vec![0], vec![], vec![]);
    for i in 0..table.nrows {
        let mut row: Vec<(u32, T)> =
            (0..table.ncols).filter_map(|j| Some(((j * scale) as u32, T::of(f(i, j)?)))).collect();
        if unsorted {
            let half = row.len() / 2;
            row.rotate_left(half);
        }
        cols.extend(row.iter().map(|x| x.0));
        values.extend(row.iter().map(|x| x.1));
        starts.push(cols.len());
    }
    if m >= HYPERSPARSE {
        let labels = (0..table.nrows).map(|i| (i * scale) as u32).collect();
        let compact = Csr::from_unsorted(table.nrows, n, starts, cols, values).expect("rows");
        return HyperCsr::new(m, labels, compact).and_then(Csr::try_from).expect("hypersparse rows");
    }
    let row_ptr = (0..=m).map(|i| starts[i.div_ceil(scale)]).collect();
    Csr::from_unsorted(m, n, row_ptr, cols, values).expect("rows")
}
fn list<T: Typed>(table: &Table, scale: usize, f: &dyn Fn(usize, usize) -> Option<Value>) -> sparring::Vector<T> {
    let entries = (0..table.nrows).filter_map(|i| Some(((i * scale) as u32, T::of(f(i, 0)?))));
    let (indices, values) = entries.unzip();
    sparring::Vector::new(table.nrows * scale, indices, values).expect("a vector")
}
fn made(table: &Table, unsorted: bool, scale: usize, f: &dyn Fn(usize, usize) -> Option<Value>) -> Object {
    with_type!(table.ty, T => match table.kind {
        Kind::Matrix => Matrix::from(rows::<T>(table, unsorted, scale, f)).into(),
        Kind::Vector => Vector::from(list::<T>(table, scale, f)).into(),
        Kind::Scalar => panic!("a scalar is a result"),
    })
}

/// The matrix or vector, in the requested form if the library has it.
pub(crate) fn object(of: &oracle::Object, scale: usize) -> Object {
    let table = &of.table;
    let sparse = made(table, of.form == Form::Unsorted, scale, &|i, j| table.get(i, j));
    // A scaled table has few entries, so it is never dense.
    if of.form != Form::Dense || scale > 1 || table.nvals() == 0 {
        return sparse;
    }
    // A full matrix becomes dense by a write, and a mask then removes the absent entries.
    let cpu = Machine::from(Cpu::with_threads(1).expect("a thread"));
    let full = made(table, false, 1, &|i, j| Some(table.get(i, j).unwrap_or(table.ty.zero())));
    let plus = sparring::runtime::BinaryOp::new("second", type_of(table.ty)).expect("second");
    macro_rules! dense {
        ($full:ident, $none:expr) => {{
            let (mut full, none) = ($full, $none);
            cpu.call(Op::Identity, &none).accum(&plus).into(&mut full).expect("a write");
            cpu.call(Op::Identity, &none).mask(&sparse).structure().complement().into(&mut full).expect("a mask");
            full.into()
        }};
    }
    let none = made(table, false, 1, &|_, _| None);
    match (full, none) {
        (Object::Matrix(full), Object::Matrix(none)) => dense!(full, none),
        (Object::Vector(full), Object::Vector(none)) => dense!(full, none),
        _ => unreachable!("scalars are not made"),
    }
}

/// The values of a table without absent entries, row by row.
pub(crate) fn dense<T: Typed>(table: &Table) -> Vec<T> {
    (0..table.nrows).flat_map(|i| (0..table.ncols).map(move |j| T::of(table.get(i, j).expect("dense")))).collect()
}
/// The matrix with these values, row by row, in the shape of `like`.
pub(crate) fn of_dense<T: Typed>(values: Vec<T>, like: &Table) -> Object {
    let (m, n) = like.shape();
    assert_eq!(values.len(), m * n, "a value at each place");
    let (starts, cols) = ((0..=m).map(|i| i * n).collect(), (0..m).flat_map(|_| 0..n as u32).collect());
    Matrix::from(Csr::<T>::new(m, n, starts, cols, values).expect("rows")).into()
}

/// The table of a result with the indices and the type of `like`. Type and shape are compared first, and all ways to
/// read it must agree.
/// # Errors
/// The mismatch, as text.
pub(crate) fn table(found: &Object, like: &Table, scale: usize) -> Result<Table, String> {
    let says = |e: sparring::Error| e.to_string();
    let (ty, shape, nnz) = match found {
        Object::Matrix(a) => (a.ty(), a.shape(), a.nnz()),
        Object::Vector(x) => (x.ty(), (x.len(), scale), x.nvals().map_err(says)?),
        Object::Scalar(s) => (s.ty(), (scale, scale), 1),
    };
    let expected = (like.nrows * scale, like.ncols * scale);
    if ty != type_of(like.ty) || shape != expected {
        return Err(format!("the result is {ty}, {shape:?}, not {:?}, {expected:?}", like.ty));
    }
    let read = with_type!(like.ty, T => match found {
        Object::Matrix(a) => read_matrix(a.csr::<T>().ok_or("no matrix of its type")?, like, scale)?,
        Object::Vector(x) => {
            let x = x.typed::<T>().ok_or("no vector of its type")?;
            let entries: Vec<_> = x.iter().map(|(i, x)| (i, x.value())).collect();
            let read = like.like(like.ty, |i, _| Some(x.get(i * scale)?.value()));
            if !entries.iter().copied().eq(read.entries().map(|(i, _, x)| (i * scale, x))) {
                return Err(format!("{entries:?} one by one, but by place {read:?}"));
            }
            read
        }
        Object::Scalar(s) => Table::scalar(like.ty, s.get::<T>().map(T::value)),
    });
    if read.nvals() != nnz {
        return Err(format!("{nnz} entries, but {} at the places that have any: {read:?}", read.nvals()));
    }
    Ok(read)
}

fn read_matrix<T: Typed>(a: &Csr<T>, like: &Table, scale: usize) -> Result<Table, String> {
    let read = like.like(like.ty, |i, j| Some(a.get(i * scale, j * scale)?.value()));
    if a.form() != MatrixForm::Hypersparse {
        let rows = a.compressed().map_err(|e| e.to_string())?;
        let mut entries: Vec<_> = rows.iter().map(|(i, j, x)| (i, j, x.value())).collect();
        entries.sort_by_key(|x| (x.0, x.1));
        if !entries.iter().copied().eq(read.entries().map(|(i, j, x)| (i * scale, j * scale, x))) {
            return Err(format!("{entries:?} by rows, but by place {read:?}"));
        }
    }
    Ok(read)
}

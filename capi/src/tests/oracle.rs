//! Every operation of the C API against the specification: the cases of `oracle/`, through the exported functions.

#[path = "../../../tests/oracle/objects.rs"]
#[allow(dead_code, reason = "shared with the library's own doors")]
mod objects;
#[path = "oracle_operators.rs"]
mod operators;
#[path = "../../../tests/oracle/tally.rs"]
mod tally;

use sparring::runtime::Object;
use sparring_oracle::{self as oracle, Case, Form, Kind, Library, Table};

use super::*;
use crate::assign::*;
use crate::operation::SparringDescriptor;
use crate::parts::*;
use crate::sparse::Sparse;
use crate::types::code;
use objects::{Typed, dense, of_dense, table, type_of, with_type};
use operators::Operators;

/// Handles of a case, freed with it.
enum Handle {
    Matrix(*mut SparringMatrix),
    Vector(*mut SparringVector),
    Scalar(*mut SparringScalar),
}

impl Handle {
    fn matrix(&self) -> *mut SparringMatrix {
        if let Self::Matrix(a) = self { *a } else { null_mut() }
    }
    fn vector(&self) -> *mut SparringVector {
        if let Self::Vector(x) = self { *x } else { null_mut() }
    }
    fn scalar(&self) -> *mut SparringScalar {
        if let Self::Scalar(s) = self { *s } else { null_mut() }
    }
}
impl Drop for Handle {
    fn drop(&mut self) {
        ok(match self {
            Self::Matrix(a) => sparring_matrix_free(*a),
            Self::Vector(x) => sparring_vector_free(*x),
            Self::Scalar(s) => sparring_scalar_free(*s),
        });
    }
}

/// The message of a failed call.
fn done(status: SparringStatus) -> Result<(), String> {
    if status == SPARRING_OK { Ok(()) } else { Err(format!("{status:?}: {}", text(sparring_last_error()))) }
}

/// Maximum number of rows of a matrix passed as CSR arrays.
const FEW: usize = 1 << 12;

/// A matrix or vector in the given storage form; lists and compressed rows are made by the C functions.
fn made(of: &oracle::Object, scale: usize) -> Handle {
    let Table { ty, nrows, ncols, kind, .. } = of.table;
    let few = nrows * scale < FEW && of.form == Form::Sparse;
    let code = code(type_of(ty));
    match kind {
        Kind::Scalar => with_type!(ty, T => {
            let (value, mut s) = (of.table.get(0, 0).map(T::of), null_mut());
            let at = value.as_ref().map_or(null(), |x| (&raw const *x).cast());
            ok(unsafe { sparring_scalar_new(code, at, &mut s) });
            Handle::Scalar(s)
        }),
        Kind::Matrix if few => with_type!(ty, T => {
            let entries: Vec<_> = of.table.entries().collect();
            let starts: Vec<u64> =
                (0..=nrows * scale).map(|i| entries.iter().filter(|x| x.0 * scale < i).count() as u64).collect();
            let cols: Vec<u32> = entries.iter().map(|x| (x.1 * scale) as u32).collect();
            let values: Vec<T> = entries.iter().map(|x| T::of(x.2)).collect();
            let (m, n, nnz, mut a) = ((nrows * scale) as u64, (ncols * scale) as u64, cols.len() as u64, null_mut());
            let at = values.as_ptr().cast();
            ok(unsafe { sparring_matrix_from_csr(code, m, n, starts.as_ptr(), cols.as_ptr(), at, nnz, &mut a) });
            Handle::Matrix(a)
        }),
        Kind::Vector if few => with_type!(ty, T => {
            let (indices, values): (Vec<u64>, Vec<T>) =
                of.table.entries().map(|x| ((x.0 * scale) as u64, T::of(x.2))).unzip();
            let (len, nvals, mut x) = ((nrows * scale) as u64, indices.len() as u64, null_mut());
            let at = values.as_ptr().cast();
            ok(unsafe { sparring_vector_from_entries(code, len, indices.as_ptr(), at, nvals, &mut x) });
            Handle::Vector(x)
        }),
        // Forms that occur as results in C.
        Kind::Matrix | Kind::Vector => match objects::object(of, scale) {
            Object::Matrix(a) => Handle::Matrix(crate::handle::give(SparringMatrix::from(a)).expect("a handle")),
            Object::Vector(x) => Handle::Vector(crate::handle::give(SparringVector::from(x)).expect("a handle")),
            Object::Scalar(_) => unreachable!("scalars were above"),
        },
    }
}

/// Aᵀ.
fn transposed(cpu: *mut SparringDevice, a: *mut SparringMatrix) -> Handle {
    let (mut ty, mut m, mut n, mut at) = (0, 0, 0, null_mut());
    ok(unsafe { sparring_matrix_type(a, &mut ty) });
    ok(unsafe { sparring_matrix_shape(a, &mut m, &mut n) });
    ok(unsafe { sparring_matrix_new(ty, n, m, &mut at) });
    ok(unsafe { sparring_matrix_transpose(cpu, at, null(), null(), a, null()) });
    Handle::Matrix(at)
}

/// Reads a result by the C functions, and checks it against the library.
fn read(found: &Handle, like: &Table, scale: usize) -> Result<Table, String> {
    let held: Object = match found {
        Handle::Matrix(a) => crate::handle::handle(*a, "c").expect("a handle").snapshot().into(),
        Handle::Vector(x) => crate::handle::handle(*x, "c").expect("a handle").snapshot().into(),
        Handle::Scalar(s) => {
            let empty = crate::handle::handle(*s, "c").expect("a handle").lock().clone();
            let Some(s) = empty else { return Ok(Table::scalar(like.ty, None)) };
            s.into()
        }
    };
    let whole = table(&held, like, scale)?;
    if like.nrows * scale >= FEW || like.ty == oracle::Type::Bool {
        return Ok(whole);
    }
    let by_c = with_type!(like.ty, T => match found {
        Handle::Matrix(a) => {
            let (p, j, x) = copy::<T>(*a);
            like.like(like.ty, |row, col| {
                let range = p[row * scale] as usize..p[row * scale + 1] as usize;
                let at = range.clone().find(|&at| j[at] as usize == col * scale)?;
                Some(x[at].value())
            })
        }
        Handle::Vector(v) => {
            let (i, x) = entries::<T>(*v);
            like.like(like.ty, |row, _| Some(x[i.iter().position(|&i| i as usize == row * scale)?].value()))
        }
        Handle::Scalar(s) => Table::scalar(like.ty, value::<T>(*s).map(T::value)),
    });
    if by_c == whole { Ok(whole) } else { Err(format!("{whole:?}, but C reads {by_c:?}")) }
}

/// An index list for C: sometimes NULL for all, or a range, if it is one.
struct List {
    /// Storage of a SparringIndices.
    _list: Vec<u64>,
    given: Option<SparringIndices>,
}

impl List {
    fn new(indices: &[usize], n: usize, calls: usize) -> Self {
        let list: Vec<u64> = indices.iter().map(|&i| i as u64).collect();
        if calls.is_multiple_of(3) && indices.iter().copied().eq(0..n) {
            return Self { _list: list, given: None };
        }
        let step = |at: usize| indices[at + 1] as i64 - indices[at] as i64;
        let strided = calls % 3 == 1 && list.len() > 1 && (1..list.len() - 1).all(|at| step(at) == step(0));
        let given = if strided {
            SparringIndices { list: null(), len: list.len() as u64, start: list[0], step: step(0) }
        } else {
            SparringIndices { list: list.as_ptr(), len: list.len() as u64, start: 0, step: 0 }
        };
        Self { _list: list, given: Some(given) }
    }
    fn get(&self) -> *const SparringIndices {
        self.given.as_ref().map_or(null(), |x| &raw const *x)
    }
}

struct Door {
    cpu: *mut SparringDevice,
    calls: usize,
    functions: bool,
}

impl Door {
    fn new(threads: u32, functions: bool) -> Self {
        Self { cpu: cpu(threads, 0), calls: 0, functions }
    }
    fn call(&mut self, case: &Case) -> Result<Table, String> {
        self.calls += 1;
        let (cpu, calls) = (self.cpu, self.calls);
        let mut objects: Vec<Handle> = case.objects.iter().map(|of| made(of, case.scale)).collect();
        let like = case.table(case.c);
        let named = |ty| type_of(ty);
        let ty = case.operands.first().map_or(like.ty, |&n| case.table(n).ty);
        let is_vector = like.kind == Kind::Vector;
        let accum = Operators::binary(case.accum.map(|op| (op, named(like.ty))), self.functions);
        // Calls without mask, accumulator and descriptor.
        if let Some(made) = self.function(case, &objects)? {
            return read(&made, like, case.scale);
        }
        let of_product = match case.op {
            oracle::Op::Mxv { .. } => Some(0),
            oracle::Op::Vxm { .. } => Some(1),
            _ => None,
        };
        // Sometimes with the transpose, so that the direction is chosen.
        let twin = of_product.filter(|_| calls % 3 == 1).map(|n| transposed(cpu, objects[case.operands[n]].matrix()));
        let descriptor = SparringDescriptor {
            structure: case.mask.map_or(0, |m| m.structure.into()),
            complement: case.mask.map_or(0, |m| m.complement.into()),
            replace: case.replace.into(),
            transpose_a: case.transpose[0].into(),
            transpose_b: case.transpose[1].into(),
            transposed: twin.as_ref().map_or(null(), |at| at.matrix().cast_const()),
        };
        let plain = case.mask.is_none() && !case.replace && case.transpose == [false; 2] && calls.is_multiple_of(2);
        let d: *const SparringDescriptor = if plain { null() } else { &descriptor };
        let operand = |n: usize| &objects[case.operands[n]];
        let mask = case.mask.map(|m| &objects[m.object]);
        let (mask_m, mask_v) =
            (mask.map_or(null(), |m| m.matrix().cast_const()), mask.map_or(null(), |m| m.vector().cast_const()));
        let (cm, cv) = (objects[case.c].matrix(), objects[case.c].vector());
        let o = accum.get_binary();
        let binary = |op| Operators::binary(Some((op, named(ty))), self.functions);
        let shape = case.operands.first().map_or((0, 0), |&n| {
            let (m, n) = case.table(n).shape();
            if case.transpose[0] { (n, m) } else { (m, n) }
        });
        let (m, n) = like.shape();
        let made_scalar = |ty: oracle::Type, x: oracle::Value| {
            made(&oracle::Object { table: Table::scalar(ty, Some(x)), form: Form::Sparse }, 1)
        };
        // The same operation into a matrix or into a vector.
        macro_rules! either {
            ($matrix:ident, $vector:ident, |$get:ident, $c:ident, $mask:ident| ($($args:expr),*)) => {
                if is_vector {
                    let ($c, $mask) = (cv, mask_v);
                    let $get = |n: usize| operand(n).vector().cast_const();
                    unsafe { $vector(cpu, $c, $mask, o, $($args),*) }
                } else {
                    let ($c, $mask) = (cm, mask_m);
                    let $get = |n: usize| operand(n).matrix().cast_const();
                    unsafe { $matrix(cpu, $c, $mask, o, $($args),*) }
                }
            };
        }
        let (om, ov) = (|n: usize| operand(n).matrix().cast_const(), |n: usize| operand(n).vector().cast_const());
        let status = match &case.op {
            oracle::Op::Identity => {
                either!(sparring_matrix_update, sparring_vector_update, |x, c, mask| (x(0), d))
            }
            oracle::Op::Transpose => unsafe { sparring_matrix_transpose(cpu, cm, mask_m, o, om(0), d) },
            oracle::Op::Mxm { ring } => {
                let ring = Operators::ring(ring, named(ty), self.functions);
                unsafe { sparring_matrix_mxm(cpu, cm, mask_m, o, ring.get_ring(), om(0), om(1), d) }
            }
            oracle::Op::Mxv { ring } => {
                let ring = Operators::ring(ring, named(ty), self.functions);
                unsafe { sparring_vector_mxv(cpu, cv, mask_v, o, ring.get_ring(), om(0), ov(1), d) }
            }
            oracle::Op::Vxm { ring } => {
                let ring = Operators::ring(ring, named(ty), self.functions);
                unsafe { sparring_vector_vxm(cpu, cv, mask_v, o, ring.get_ring(), ov(0), om(1), d) }
            }
            oracle::Op::EwiseAdd { op } => {
                let op = binary(op);
                let f = op.get_binary();
                either!(sparring_matrix_ewise_add, sparring_vector_ewise_add, |x, c, mask| (f, x(0), x(1), d))
            }
            oracle::Op::EwiseMult { op } => {
                let op = binary(op);
                let f = op.get_binary();
                either!(sparring_matrix_ewise_mult, sparring_vector_ewise_mult, |x, c, mask| (f, x(0), x(1), d))
            }
            oracle::Op::EwiseUnion { op, alpha, beta } => {
                let (op, alpha, beta) = (binary(op), made_scalar(ty, *alpha), made_scalar(ty, *beta));
                let (f, alpha, beta) = (op.get_binary(), alpha.scalar(), beta.scalar());
                either!(sparring_matrix_ewise_union, sparring_vector_ewise_union, |x, c, mask| (
                    f,
                    x(0),
                    alpha,
                    x(1),
                    beta,
                    d
                ))
            }
            oracle::Op::Kronecker { op } => {
                let op = binary(op);
                unsafe { sparring_matrix_kronecker(cpu, cm, mask_m, o, op.get_binary(), om(0), om(1), d) }
            }
            oracle::Op::Apply { op } => {
                let op = Operators::unary(op, named(ty), self.functions);
                let f = op.get_unary();
                either!(sparring_matrix_apply, sparring_vector_apply, |x, c, mask| (f, x(0), d))
            }
            oracle::Op::ApplyFirst { op, s } | oracle::Op::ApplySecond { op, s } => {
                let (op, s) = (binary(op), made_scalar(ty, *s));
                let op = op.bound(s.scalar(), matches!(case.op, oracle::Op::ApplyFirst { .. }));
                let f = op.get_unary();
                either!(sparring_matrix_apply, sparring_vector_apply, |x, c, mask| (f, x(0), d))
            }
            oracle::Op::ApplyIndex { op, s } | oracle::Op::Select { op, s } => {
                let of_s = if op.starts_with("value_") { ty } else { oracle::Type::I64 };
                let s = made_scalar(of_s, *s);
                let op = Operators::unary(op, named(ty), self.functions).with(s.scalar());
                let f = op.get_unary();
                if matches!(case.op, oracle::Op::Select { .. }) {
                    either!(sparring_matrix_select, sparring_vector_select, |x, c, mask| (f, x(0), d))
                } else {
                    either!(sparring_matrix_apply, sparring_vector_apply, |x, c, mask| (f, x(0), d))
                }
            }
            oracle::Op::ReduceRows { monoid } => {
                let monoid = Operators::monoid(monoid, named(ty), self.functions);
                unsafe { sparring_vector_reduce(cpu, cv, mask_v, o, monoid.get_monoid(), om(0), d) }
            }
            oracle::Op::Reduce { monoid } | oracle::Op::ReduceScalar { monoid } => {
                let monoid = Operators::monoid(monoid, named(ty), self.functions);
                let s = objects[case.c].scalar();
                // An empty reduction is an empty scalar in C.
                if matches!(case.op, oracle::Op::Reduce { .. }) {
                    ok(unsafe { sparring_scalar_set(s, null()) });
                }
                let status = match operand(0) {
                    Handle::Matrix(a) => unsafe { sparring_matrix_reduce_scalar(cpu, s, o, monoid.get_monoid(), *a) },
                    Handle::Vector(x) => unsafe { sparring_vector_reduce_scalar(cpu, s, o, monoid.get_monoid(), *x) },
                    Handle::Scalar(_) => unreachable!("a scalar is no operand"),
                };
                let mut nvals = 0;
                ok(unsafe { sparring_scalar_nvals(s, &mut nvals) });
                if nvals == 0 && matches!(case.op, oracle::Op::Reduce { .. }) {
                    ok(unsafe { sparring_monoid_identity(monoid.get_monoid(), s) });
                }
                status
            }
            oracle::Op::Extract { rows, cols } => {
                let (rows, cols) = (List::new(rows, shape.0, calls), List::new(cols, shape.1, calls));
                if is_vector {
                    unsafe { sparring_vector_extract(cpu, cv, mask_v, o, ov(0), rows.get(), d) }
                } else {
                    unsafe { sparring_matrix_extract(cpu, cm, mask_m, o, om(0), rows.get(), cols.get(), d) }
                }
            }
            oracle::Op::ExtractColumn { rows, col } => {
                let rows = List::new(rows, shape.0, calls);
                // A column of Aᵀ is a row of A.
                if case.transpose[0] && calls.is_multiple_of(2) {
                    let d = SparringDescriptor { transpose_a: 0, ..descriptor };
                    unsafe { sparring_vector_extract_row(cpu, cv, mask_v, o, om(0), *col as u64, rows.get(), &d) }
                } else {
                    unsafe { sparring_vector_extract_column(cpu, cv, mask_v, o, om(0), rows.get(), *col as u64, d) }
                }
            }
            oracle::Op::Assign { rows, cols } => {
                let (rows, cols) = (List::new(rows, m, calls), List::new(cols, n, calls));
                if is_vector {
                    unsafe { sparring_vector_assign(cpu, cv, mask_v, o, ov(0), rows.get(), d) }
                } else {
                    unsafe { sparring_matrix_assign(cpu, cm, mask_m, o, om(0), rows.get(), cols.get(), d) }
                }
            }
            oracle::Op::AssignRow { row, cols } => {
                let cols = List::new(cols, n, calls);
                unsafe { sparring_matrix_assign_row(cpu, cm, mask_v, o, ov(0), *row as u64, cols.get(), d) }
            }
            oracle::Op::AssignColumn { rows, col } => {
                let rows = List::new(rows, m, calls);
                unsafe { sparring_matrix_assign_column(cpu, cm, mask_v, o, ov(0), rows.get(), *col as u64, d) }
            }
            oracle::Op::AssignScalar { rows, cols, x } => {
                let (rows, cols, s) = (List::new(rows, m, calls), List::new(cols, n, calls), made_scalar(like.ty, *x));
                if is_vector {
                    unsafe { sparring_vector_assign_scalar(cpu, cv, mask_v, o, s.scalar(), rows.get(), d) }
                } else {
                    unsafe { sparring_matrix_assign_scalar(cpu, cm, mask_m, o, s.scalar(), rows.get(), cols.get(), d) }
                }
            }
            oracle::Op::Scatter { indices, monoid } => {
                let (indices, op) = (List::new(indices, m, calls), binary(monoid));
                unsafe { sparring_vector_scatter(cpu, cv, mask_v, o, op.get_binary(), ov(0), indices.get(), d) }
            }
            oracle::Op::Diag { k } => unsafe { sparring_matrix_diag(cpu, cm, mask_m, o, ov(0), *k, d) },
            oracle::Op::Diagonal { k } => unsafe { sparring_vector_diagonal(cpu, cv, mask_v, o, om(0), *k, d) },
            oracle::Op::Count | oracle::Op::Mean | oracle::Op::ArgMin | oracle::Op::ArgMax => {
                let aggregate = match case.op {
                    oracle::Op::Count => SparringAggregate::SPARRING_COUNT,
                    oracle::Op::Mean => SparringAggregate::SPARRING_MEAN,
                    oracle::Op::ArgMin => SparringAggregate::SPARRING_ARGMIN,
                    _ => SparringAggregate::SPARRING_ARGMAX,
                };
                unsafe { sparring_vector_aggregate(cpu, cv, mask_v, o, aggregate as u32, om(0), d) }
            }
            op => unreachable!("{op:?}"),
        };
        done(status)?;
        read(&objects.swap_remove(case.c), like, case.scale)
    }

    /// Results of functions without mask and accumulator; `None` for other operations.
    fn function(&self, case: &Case, objects: &[Handle]) -> Result<Option<Handle>, String> {
        let (cpu, like) = (self.cpu, case.table(case.c));
        let operand = |n: usize| &objects[case.operands[n]];
        let (mut made, mut made_vector) = (null_mut(), null_mut());
        Ok(Some(match &case.op {
            oracle::Op::Concat { across } => {
                let tiles: Vec<*const SparringMatrix> =
                    case.operands.iter().map(|&n| objects[n].matrix().cast_const()).collect();
                let (down, across) = ((tiles.len() / across) as u64, *across as u64);
                done(unsafe { sparring_matrix_concat(cpu, tiles.as_ptr(), down, across, &mut made) })?;
                Handle::Matrix(made)
            }
            oracle::Op::Block { rows, cols } => match operand(0) {
                Handle::Matrix(a) => {
                    let (m, n) = case.table(case.operands[0]).shape();
                    let parts = |(start, end): (usize, usize), n: usize| {
                        [start, end - start, n - end].map(|x| (x * case.scale) as u64)
                    };
                    let (row_lens, col_lens) = (parts(*rows, m), parts(*cols, n));
                    let mut blocks = [null_mut(); 9];
                    let (r, c, to) = (row_lens.as_ptr(), col_lens.as_ptr(), blocks.as_mut_ptr());
                    done(unsafe { sparring_matrix_split(cpu, *a, r, 3, c, 3, to) })?;
                    for (at, block) in blocks.iter().enumerate().filter(|x| x.0 != 4) {
                        drop((at, Handle::Matrix(*block)));
                    }
                    Handle::Matrix(blocks[4])
                }
                _ => {
                    let (len, start) = ((rows.1 - rows.0) * case.scale, (rows.0 * case.scale) as u64);
                    let code = code(type_of(like.ty));
                    ok(unsafe { sparring_vector_new(code, len as u64, &mut made_vector) });
                    let made = Handle::Vector(made_vector);
                    let range = SparringIndices { list: null(), len: len as u64, start, step: 1 };
                    let x = operand(0).vector();
                    done(unsafe { sparring_vector_extract(cpu, made_vector, null(), null(), x, &range, null()) })?;
                    made
                }
            },
            oracle::Op::Resize { shape } => {
                let (m, n) = ((shape.0 * case.scale) as u64, (shape.1 * case.scale) as u64);
                match operand(0) {
                    Handle::Matrix(a) => {
                        ok(unsafe { sparring_matrix_dup(*a, &mut made) });
                        let made = Handle::Matrix(made);
                        done(unsafe { sparring_matrix_resize(cpu, made.matrix(), m, n) })?;
                        made
                    }
                    _ => {
                        ok(unsafe { sparring_vector_dup(operand(0).vector(), &mut made_vector) });
                        let made = Handle::Vector(made_vector);
                        done(unsafe { sparring_vector_resize(cpu, made_vector, m) })?;
                        made
                    }
                }
            }
            oracle::Op::Build { tuples, dup } => {
                let dup = Operators::binary(Some((dup, type_of(like.ty))), self.functions);
                let (rows, cols): (Vec<u32>, Vec<u32>) = tuples.iter().map(|x| (x.0 as u32, x.1 as u32)).unzip();
                let (code, len) = (code(type_of(like.ty)), tuples.len() as u64);
                with_type!(like.ty, T => {
                    let values: Vec<T> = tuples.iter().map(|x| T::of(x.2)).collect();
                    let (at, f) = (values.as_ptr().cast(), dup.get_binary());
                    if like.kind == Kind::Vector {
                        let indices: Vec<u64> = rows.iter().map(|&i| i.into()).collect();
                        let (n, i) = (like.nrows as u64, indices.as_ptr());
                        done(unsafe { sparring_vector_build(code, n, i, at, len, f, &mut made_vector) })?;
                        Handle::Vector(made_vector)
                    } else {
                        let (m, n, i, j) = (like.nrows as u64, like.ncols as u64, rows.as_ptr(), cols.as_ptr());
                        done(unsafe { sparring_matrix_build(code, m, n, i, j, at, len, f, &mut made) })?;
                        Handle::Matrix(made)
                    }
                })
            }
            oracle::Op::Spmm { ring } => {
                let x = case.table(case.operands[1]);
                let ring = Operators::ring(ring, type_of(x.ty), self.functions);
                let accum = Operators::binary(case.accum.map(|op| (op, type_of(like.ty))), self.functions);
                let d = SparringDescriptor { transpose_a: case.transpose[0].into(), ..Default::default() };
                let (columns, of_x) = (x.ncols as u64, code(type_of(x.ty)));
                let a = operand(0).matrix();
                with_type!(x.ty, X => with_type!(like.ty, Y => {
                    let (x, mut y) = (dense::<X>(x), dense::<Y>(like));
                    let (x, x_len, y_len) = (x.as_ptr().cast(), x.len() as u64, y.len() as u64);
                    let (to, o, r) = (y.as_mut_ptr().cast(), accum.get_binary(), ring.get_ring());
                    done(unsafe { crate::dense::sparring_matrix_spmm(cpu, to, y_len, o, r, a, of_x, x, x_len, columns, &d) })?;
                    let Object::Matrix(y) = of_dense(y, like) else { unreachable!("it is a matrix") };
                    Handle::Matrix(crate::handle::give(SparringMatrix::from(y)).expect("a handle"))
                }))
            }
            _ => return Ok(None),
        }))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        ok(sparring_device_free(self.cpu));
    }
}

impl Library for Door {
    fn has(&mut self, _: &Case) -> bool {
        true
    }
    fn run(&mut self, case: &Case) -> Result<Table, String> {
        self.call(case)
    }
}

#[test]
fn random_calls() {
    tally::random("C, 1 thread", &mut Door::new(1, false), 21, 2);
    tally::random("C, 2 threads", &mut Door::new(2, false), 22, 4);
}

#[test]
fn small_calls() {
    tally::small("C, 1 thread", &mut Door::new(1, false), 2003);
}

#[test]
fn random_calls_by_function() {
    tally::random("C by function, 2 threads", &mut Door::new(2, true), 23, 4);
}

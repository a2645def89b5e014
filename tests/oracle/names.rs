//! The run-time interface: `Machine::call`.

use sparring::algebra::{Array, Type};
use sparring::par::Threads;
use sparring::runtime::{
    Aggregate, BinaryOp, IndexList, Machine, Matrix, Monoid, Object, Op, Operands, Pairing, Scalar, Semiring, UnaryOp,
    Vector,
};
use sparring::spgemm::Options;
use sparring_oracle::{self as oracle, Case, Kind, Library, Table};

use super::objects::{Typed, dense, object, of_dense, scalar, table, type_of, with_type};
use super::wide::Embedding;

/// Run-time operations on an engine.
pub(crate) struct Names {
    machine: Machine,
    calls: usize,
    operators: Operators,
    /// Whether cases are embedded in large dimensions.
    is_wide: bool,
    /// Cases with a large dimension, and of these the refused ones.
    pub(crate) embedded: usize,
    pub(crate) refused: usize,
}

/// Constructors of operators from their names.
#[derive(Clone, Copy)]
struct Operators {
    binary: fn(&str, Type) -> sparring::Result<BinaryOp>,
    unary: fn(&str, Type) -> sparring::Result<UnaryOp>,
    monoid: fn(&str, Type) -> sparring::Result<Monoid>,
    ring: fn(&str, &str, Type) -> sparring::Result<Semiring>,
}

impl Names {
    pub(crate) fn new(machine: impl Into<Machine>) -> Self {
        let ring = |add: &str, mul: &str, ty| Semiring::new(&format!("{add}_{mul}"), ty);
        let operators = Operators { binary: BinaryOp::new, unary: UnaryOp::new, monoid: Monoid::new, ring };
        Self { machine: machine.into(), calls: 0, operators, is_wide: false, embedded: 0, refused: 0 }
    }
    /// The same with user-defined function operators.
    #[allow(dead_code, reason = "not on a GPU")]
    pub(crate) fn of_functions(machine: impl Into<Machine>) -> Self {
        use super::functions::{binary, monoid, semiring, unary};
        Self { operators: Operators { binary, unary, monoid, ring: semiring }, ..Self::new(machine) }
    }
    /// The same in dimensions up to 2⁶⁰.
    #[allow(dead_code, reason = "not on a GPU")]
    pub(crate) fn wide(machine: impl Into<Machine>) -> Self {
        Self { is_wide: true, ..Self::new(machine) }
    }
    /// In the engine's memory.
    fn here(&self, x: Object) -> sparring::Result<Object> {
        Ok(match x {
            Object::Matrix(a) => self.machine.upload(&a)?.into(),
            Object::Vector(x) => self.machine.upload_vector(&x)?.into(),
            scalar => scalar,
        })
    }
    fn call(&mut self, case: &Case) -> sparring::Result<Result<Table, String>> {
        self.calls += 1;
        let wide = if self.is_wide { Embedding::of(case, self.calls) } else { None };
        self.embedded += usize::from(wide.as_ref().is_some_and(Embedding::is_large));
        let made = self.called(case, wide.as_ref());
        match (made, wide.is_some_and(|wide| wide.is_refused)) {
            (Err(e @ sparring::Error::Unsupported { .. }), true) => {
                self.refused += 1;
                let is_documented = e.to_string().contains("an assignment of a scalar to ");
                Ok(if is_documented { Ok(oracle::expected(case)) } else { Err(e.to_string()) })
            }
            (Ok(_), true) => Ok(Err("it is not refused".into())),
            (made, false) | (made @ Err(_), true) => made,
        }
    }
    fn called(&self, case: &Case, wide: Option<&Embedding>) -> sparring::Result<Result<Table, String>> {
        let read = |made: &Object| match wide {
            Some(wide) => wide.table(made, case),
            None => table(made, case.table(case.c), case.scale),
        };
        let mut objects = Vec::with_capacity(case.objects.len());
        for (n, of) in case.objects.iter().enumerate() {
            let made = if of.table.kind == Kind::Scalar {
                // A fold returns a scalar, and has no C to write.
                Scalar::from(false).into()
            } else {
                self.here(wide.map_or_else(|| object(of, case.scale), |wide| wide.object(case, n)))?
            };
            objects.push(made);
        }
        let like = case.table(case.c);
        if let Some(made) = self.function(case, &objects, wide)? {
            return Ok(read(&made));
        }
        let operand = |n: usize| case.operands.get(n).map(|&n| &objects[n]);
        let operands: Operands = match (operand(0), operand(1)) {
            (Some(a), Some(b)) => (a, b).into(),
            (Some(Object::Matrix(a)), None) => a.into(),
            (Some(Object::Vector(x)), None) => x.into(),
            _ => ().into(),
        };

        let ty = case.operands.first().map_or(like.ty, |&n| case.table(n).ty);
        let named = type_of(ty);
        let options = Options::default();
        let Operators { binary: new_binary, unary: new_unary, monoid: new_monoid, ring: new_ring } = self.operators;
        let ring = |ring: &oracle::Ring| new_ring(ring.add, ring.mul, named);
        let (semiring, binary, unary, monoid, rows, cols, alpha, beta);
        let shape = case.operands.first().map_or((0, 0), |_| operand_shape(case));
        let (m, n) = (like.nrows, like.ncols);
        let (calls, is_vector) = (self.calls, like.kind == Kind::Vector);
        // For a vector, the list of its single column means all columns.
        let columns = |j: &[usize], n| match wide {
            Some(wide) => wide.lists[1].clone(),
            None if is_vector => IndexList::all(),
            None => list(j, n, calls),
        };
        let list = |i: &[usize], n, calls| wide.map_or_else(|| list(i, n, calls), |wide| wide.lists[0].clone());
        let point = |at: usize| wide.map_or(at, |wide| wide.point);
        let op = match &case.op {
            oracle::Op::Identity => Op::Identity,
            oracle::Op::Transpose => Op::Transpose,
            oracle::Op::Mxm { ring: of } => {
                semiring = ring(of)?;
                Op::Mxm(&semiring, &options)
            }
            oracle::Op::Mxv { ring: of } => {
                semiring = ring(of)?;
                Op::Mxv(&semiring)
            }
            oracle::Op::Vxm { ring: of } => {
                semiring = ring(of)?;
                Op::Vxm(&semiring)
            }
            oracle::Op::EwiseAdd { op } => {
                binary = new_binary(op, named)?;
                Op::EwiseAdd(&binary)
            }
            oracle::Op::EwiseMult { op } => {
                binary = new_binary(op, named)?;
                Op::Pairs(Pairing::EwiseMult, &binary)
            }
            oracle::Op::Kronecker { op } => {
                binary = new_binary(op, named)?;
                Op::Pairs(Pairing::Kronecker, &binary)
            }
            oracle::Op::Apply { op } => {
                unary = new_unary(op, named)?;
                Op::Apply(&unary)
            }
            oracle::Op::ApplyFirst { op, s } => {
                unary = new_binary(op, named)?.with_first(scalar(ty, *s))?;
                Op::Apply(&unary)
            }
            oracle::Op::ApplySecond { op, s } => {
                unary = new_binary(op, named)?.with_second(scalar(ty, *s))?;
                Op::Apply(&unary)
            }
            oracle::Op::ApplyIndex { op, s } | oracle::Op::Select { op, s } => {
                let of_s = if op.starts_with("value_") { ty } else { oracle::Type::I64 };
                let s = match (wide, *s) {
                    (Some(wide), oracle::Value::Int(s)) if !op.starts_with("value_") => {
                        oracle::Value::Int(s + wide.offset)
                    }
                    (_, s) => s,
                };
                unary = new_unary(op, named)?.with(scalar(of_s, s))?;
                if matches!(case.op, oracle::Op::Select { .. }) { Op::Select(&unary) } else { Op::Apply(&unary) }
            }
            oracle::Op::ReduceRows { monoid: of } => {
                monoid = new_monoid(of, named)?;
                Op::ReduceRows(&monoid)
            }
            oracle::Op::Reduce { monoid: of } => {
                monoid = new_monoid(of, named)?;
                Op::Reduce(&monoid)
            }
            oracle::Op::EwiseUnion { op, alpha: of_a, beta: of_b } => {
                binary = new_binary(op, named)?;
                (alpha, beta) = (scalar(ty, *of_a), scalar(ty, *of_b));
                Op::EwiseUnion(&binary, &alpha, &beta)
            }
            oracle::Op::ReduceScalar { monoid: of } => {
                monoid = new_monoid(of, named)?;
                Op::Reduce(&monoid)
            }
            oracle::Op::Extract { rows: i, cols: j } => {
                (rows, cols) = (list(i, shape.0, calls), columns(j, shape.1));
                Op::Extract(&rows, &cols)
            }
            oracle::Op::ExtractColumn { rows: i, col } => {
                rows = list(i, shape.0, calls);
                Op::ExtractColumn(&rows, point(*col))
            }
            oracle::Op::Assign { rows: i, cols: j } => {
                (rows, cols) = (list(i, m, calls), columns(j, n));
                Op::Assign(&rows, &cols)
            }
            oracle::Op::AssignRow { row, cols: j } => {
                cols = columns(j, n);
                Op::AssignRow(point(*row), &cols)
            }
            oracle::Op::AssignColumn { rows: i, col } => {
                rows = list(i, m, calls);
                Op::AssignColumn(&rows, point(*col))
            }
            oracle::Op::AssignScalar { rows: i, cols: j, x } => {
                (rows, cols, alpha) = (list(i, m, calls), columns(j, n), scalar(like.ty, *x));
                Op::AssignScalar(&alpha, &rows, &cols)
            }
            oracle::Op::Scatter { indices, monoid } => {
                (rows, binary) = (list(indices, m, calls), new_binary(monoid, named)?);
                Op::Scatter(&rows, wide.map_or(m, |wide| wide.shape(case).0), &binary)
            }
            oracle::Op::Diag { k } => Op::Diag(*k),
            oracle::Op::Diagonal { k } => Op::Diagonal(*k),
            oracle::Op::Count => Op::Aggregate(Aggregate::Count),
            oracle::Op::Mean => Op::Aggregate(Aggregate::Mean),
            oracle::Op::ArgMin => Op::Aggregate(Aggregate::ArgMin),
            oracle::Op::ArgMax => Op::Aggregate(Aggregate::ArgMax),
            op => unreachable!("{op:?}"),
        };
        let accum = case.accum.map(|op| new_binary(op, type_of(case.table(case.c).ty))).transpose()?;

        let mut call = self.machine.call(op, operands);
        if case.transpose[0] {
            call = call.transpose_a();
        }
        if case.transpose[1] {
            call = call.transpose_b();
        }
        let matrix = match case.op {
            oracle::Op::Mxv { .. } => operand(0),
            oracle::Op::Vxm { .. } => operand(1),
            _ => None,
        };
        if let Some(Object::Matrix(a)) = matrix.filter(|_| self.calls.is_multiple_of(2)) {
            // So that a direction is chosen.
            call = call.with_transpose(&self.machine.call(Op::Transpose, a).eval()?);
        }
        if let Some(mask) = case.mask {
            call = call.mask(&objects[mask.object]);
            if mask.structure {
                call = call.structure();
            }
            if mask.complement {
                call = call.complement();
            }
        }
        if case.replace {
            call = call.replace();
        }
        if let Some(accum) = &accum {
            call = call.accum(accum);
        }

        if let oracle::Op::ReduceScalar { .. } = case.op {
            let mut c = like.get(0, 0).map(|x| scalar(like.ty, x));
            call.into_scalar(&mut c)?;
            return Ok(match c {
                None => Ok(Table::scalar(like.ty, None)),
                Some(c) => table(&c.into(), like, 1),
            });
        }
        // Every other C has a clone, which must keep its entries; the others are written in place.
        let clone = self.calls.is_multiple_of(2).then(|| objects[case.c].clone());
        // Without a mask, or into an empty matrix, the result may also be a new matrix.
        let assigns = matches!(
            case.op,
            oracle::Op::Assign { .. }
                | oracle::Op::AssignRow { .. }
                | oracle::Op::AssignColumn { .. }
                | oracle::Op::AssignScalar { .. }
        );
        let is_new = !assigns
            && case.accum.is_none()
            && (case.mask.is_none() || like.nvals() == 0)
            && self.calls.is_multiple_of(3);
        let written: Object = match objects.swap_remove(case.c) {
            Object::Matrix(_) if is_new => call.eval::<Matrix>()?.download()?.into(),
            Object::Vector(_) if is_new => call.eval::<Vector>()?.download()?.into(),
            Object::Matrix(mut c) => {
                drop(objects);
                call.into(&mut c)?;
                c.download()?.into()
            }
            Object::Vector(mut c) => {
                drop(objects);
                call.into(&mut c)?;
                c.download()?.into()
            }
            Object::Scalar(_) => call.eval::<Scalar>()?.into(),
        };
        let clone = match clone {
            Some(Object::Matrix(c)) => Some(c.download()?.into()),
            Some(Object::Vector(c)) => Some(c.download()?.into()),
            _ => None,
        };
        if let Some(clone) = clone
            && read(&clone).as_ref() != Ok(like)
        {
            return Ok(Err(format!("a clone of C is now {:?}", read(&clone))));
        }
        Ok(read(&written))
    }

    /// Operations without mask and accumulator, by methods of the engine; `None` for others.
    fn function(&self, case: &Case, objects: &[Object], wide: Option<&Embedding>) -> sparring::Result<Option<Object>> {
        let (m, c) = (&self.machine, case.table(case.c));
        let operand = |n: usize| &objects[case.operands[n]];
        Ok(Some(match &case.op {
            oracle::Op::Concat { across } => {
                let tile = |&n: &usize| if let Object::Matrix(a) = &objects[n] { Some(a) } else { None };
                let tiles: Vec<&Matrix> = case.operands.iter().filter_map(tile).collect();
                let grid: Vec<&[&Matrix]> = tiles.chunks(*across).collect();
                m.concat(&grid)?.download()?.into()
            }
            oracle::Op::Block { rows, cols } => match operand(0) {
                Object::Matrix(a) => {
                    let parts = |(start, end): (usize, usize), n: usize| [start, end - start, n - end];
                    let (rows, cols) = wide.map_or((rows, cols), |wide| (&wide.cuts[0], &wide.cuts[1]));
                    let blocks = m.split(a, &parts(*rows, a.shape().0), &parts(*cols, a.shape().1))?;
                    blocks[1][1].download()?.into()
                }
                Object::Vector(x) => {
                    let rows = wide.map_or(rows, |wide| &wide.cuts[0]);
                    let rows = IndexList::from(rows.0..rows.1);
                    m.call(Op::Extract(&rows, &IndexList::all()), x).eval::<Vector>()?.download()?.into()
                }
                Object::Scalar(_) => unreachable!("a scalar is no operand"),
            },
            oracle::Op::Resize { shape } => {
                let shape = wide.map_or(*shape, |wide| wide.shape(case));
                match operand(0) {
                    Object::Matrix(a) => m.resize(a, shape.0, shape.1)?.download()?.into(),
                    Object::Vector(x) => m.resize_vector(x, shape.0)?.download()?.into(),
                    Object::Scalar(_) => unreachable!("a scalar is no operand"),
                }
            }
            oracle::Op::Build { tuples, dup } => {
                let (threads, dup) = (Threads::current(), (self.operators.binary)(dup, type_of(c.ty))?);
                let (rows, cols) = tuples.iter().map(|x| (x.0 as u32, x.1 as u32)).unzip();
                let values = with_type!(c.ty, T => Array::of(tuples.iter().map(|x| T::of(x.2)).collect::<Vec<T>>()));
                if let Some(wide) = wide {
                    let tuples: Vec<_> = tuples.iter().map(|x| (x.0, x.1)).collect();
                    wide.build(case, &tuples, values, &dup)?
                } else if c.kind == Kind::Vector {
                    let indices = tuples.iter().map(|x| x.0).collect();
                    Vector::build(&threads, c.nrows, (indices, values), Some(&dup))?.into()
                } else {
                    Matrix::build(&threads, c.shape(), (rows, cols, values), Some(&dup))?.into()
                }
            }
            oracle::Op::Spmm { ring } => {
                let (Object::Matrix(a), x) = (operand(0), case.table(case.operands[1])) else {
                    unreachable!("A is a matrix")
                };
                let ring = (self.operators.ring)(ring.add, ring.mul, type_of(x.ty))?;
                let accum = case.accum.map(|op| (self.operators.binary)(op, type_of(c.ty))).transpose()?;
                let x_values = with_type!(x.ty, T => Array::of(dense::<T>(x)));
                let mut call = m.spmm(&ring, a, x_values.slice(), x.ncols);
                if case.transpose[0] {
                    call = call.transpose_a();
                }
                if let Some(accum) = &accum {
                    call = call.accum(accum);
                }
                let is_new = accum.is_none() && self.calls.is_multiple_of(2);
                with_type!(c.ty, T => {
                    let mut y = dense::<T>(c);
                    if is_new {
                        y = call.eval()?.slice().get::<T>().expect("values of the type").to_vec();
                    } else {
                        call.into(sparring::algebra::SliceMut::of(&mut y))?;
                    }
                    of_dense(y, c)
                })
            }
            _ => return Ok(None),
        }))
    }
}

/// Shape of the first operand, after its transposition.
fn operand_shape(case: &Case) -> (usize, usize) {
    let (m, n) = case.table(case.operands[0]).shape();
    if case.transpose[0] { (n, m) } else { (m, n) }
}

/// The indices below n as a list; sometimes as `all`, or as a strided range, where they are equal.
pub(crate) fn list(indices: &[usize], n: usize, calls: usize) -> IndexList {
    if calls.is_multiple_of(3) && indices.iter().copied().eq(0..n) {
        return IndexList::all();
    }
    let step = |at: usize| indices[at + 1] as isize - indices[at] as isize;
    if calls % 3 == 1 && indices.len() > 1 && (1..indices.len() - 1).all(|at| step(at) == step(0)) {
        return IndexList::strided(indices[0], step(0), indices.len());
    }
    indices.to_vec().into()
}

impl Library for Names {
    fn has(&mut self, case: &Case) -> bool {
        // Dense operands have no large dimension.
        !self.is_wide || !matches!(case.op, oracle::Op::Spmm { .. })
    }
    fn run(&mut self, case: &Case) -> Result<Table, String> {
        self.call(case).map_err(|e| e.to_string())?
    }
}

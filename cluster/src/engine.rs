//! A cluster as an [`Engine`]: how each operation is split over the ranks.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use sparring::algebra::{Array, Slice, Type};
use sparring::graph::{TriangleMethod, Triangles};
use sparring::par::Threads;
use sparring::runtime::engine::{Call, Engine, MaskSpec, Object, Operand, TriangleEngine, unfit, values_of};
use sparring::runtime::{
    BinaryOp, IndexList, Machine, Matrix, Monoid, Op, Operation, Pairing, Plan, Scalar, Semiring, Sum, Vector,
};
use sparring::spgemm::Options;
use sparring::{Error, Result};

use crate::blocks::{Block, Piece};
use crate::cluster::{Cluster, Shared};
use crate::fold::Line;
#[cfg(all(feature = "cuda", feature = "mpi"))]
use crate::gpu_move::{Cut, Indices, Ranges};
use crate::link::Parts;
use crate::product::{BlockPlan, mxm, mxv, spmm, vxm};
use crate::route::Triplets;
use crate::wire::{broken, collected, matrix_bytes, matrix_of};

/// A distributed operand.
enum Part<'a> {
    Matrix(Cow<'a, Block>),
    Vector(Cow<'a, Piece>),
}

impl Part<'_> {
    fn object(&self) -> Object {
        match self {
            Self::Matrix(a) => a.block.clone().into(),
            Self::Vector(x) => x.piece.clone().into(),
        }
    }
    /// Global shape; (length, 1) for a vector.
    fn shape(&self) -> (usize, usize) {
        match self {
            Self::Matrix(a) => a.shape,
            Self::Vector(x) => (x.len, 1),
        }
    }
    /// Global index ranges of this rank's part: rows and columns of its block, or the range of its piece.
    fn ranges(&self, shared: &Shared) -> (Range<usize>, Range<usize>) {
        match self {
            Self::Matrix(a) => shared.grid.block(a.shape),
            Self::Vector(x) => (shared.grid.piece(x.len), 0..1),
        }
    }
}

impl Cluster {
    pub(crate) fn block<'a>(&self, a: &'a Matrix) -> Result<Cow<'a, Block>> {
        if let Some(block) = a.as_remote().and_then(|there| there.as_any().downcast_ref::<Block>())
            && Arc::ptr_eq(&block.shared, &self.0)
        {
            return Ok(Cow::Borrowed(block));
        }
        let (shared, here) = (Arc::clone(&self.0), a.download()?);
        let (block, _) = shared.together("upload", || Ok((Block::of(&shared, &here)?, 0)))?;
        Ok(Cow::Owned(Block { shared, shape: a.shape(), nnz: here.nnz(), block }))
    }
    pub(crate) fn piece<'a>(&self, x: &'a Vector) -> Result<Cow<'a, Piece>> {
        if let Some(piece) = x.as_remote().and_then(|there| there.as_any().downcast_ref::<Piece>())
            && Arc::ptr_eq(&piece.shared, &self.0)
        {
            return Ok(Cow::Borrowed(piece));
        }
        let (shared, here) = (Arc::clone(&self.0), x.download()?);
        let ((piece, nnz), _) = shared.together("upload", || Ok(((Piece::of(&shared, &here)?, here.nvals()?), 0)))?;
        Ok(Cow::Owned(Piece { shared, len: x.len(), nnz, piece }))
    }
    /// The same entries converted to another type, as by [`Matrix::cast`]. Collective.
    /// # Errors
    /// Those of [`Matrix::cast`]. An error of one rank is reported on all.
    /// # Example
    /// ```
    /// use sparring::{Cpu, Csr, algebra::Type, runtime::Matrix};
    /// use sparring_cluster::Cluster;
    /// let cluster = Cluster::new(Cpu::new())?;
    /// let a = cluster.machine().upload(&Matrix::from(Csr::<f64>::new(1, 2, vec![0, 2], vec![0, 1], vec![7.0, 0.5])?))?;
    /// assert_eq!(cluster.cast(&a, Type::F32)?.ty(), Type::F32);
    /// assert!(cluster.cast(&a, Type::I8).unwrap_err().to_string().contains("entry (0, 1), 0.5 as i8"));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn cast(&self, a: &Matrix, ty: Type) -> Result<Matrix> {
        let a = self.block(a)?;
        if a.block.ty() == ty {
            return Ok(a.into_owned().into());
        }
        self.matrix("cast", a.shape, || self.0.inner.upload(&a.cast(ty)?))?.try_into()
    }
    fn part<'a>(&self, x: Operand<'a>) -> Result<Part<'a>> {
        Ok(match x {
            Operand::Matrix(a) => Part::Matrix(self.block(a)?),
            Operand::Vector(x) => Part::Vector(self.piece(x)?),
        })
    }
    /// A matrix of which each rank builds its block.
    pub(crate) fn matrix(
        &self,
        name: &str,
        shape: (usize, usize),
        make: impl FnOnce() -> Result<Matrix>,
    ) -> Result<Object> {
        let made = || {
            let block = make()?;
            let nnz = block.nnz();
            Ok((block, nnz))
        };
        let (block, nnz) = self.0.together(name, made)?;
        Ok(Matrix::from(Block { shared: Arc::clone(&self.0), shape, nnz, block }).into())
    }
    /// A vector of which each rank builds its piece.
    fn vector(&self, name: &str, len: usize, make: impl FnOnce() -> Result<Vector>) -> Result<Object> {
        let made = || {
            let piece = make()?;
            let nnz = piece.nvals()?;
            Ok((piece, nnz))
        };
        let (piece, nnz) = self.0.together(name, made)?;
        Ok(Vector::from(Piece { shared: Arc::clone(&self.0), len, nnz, piece }).into())
    }
    /// The operation on a cluster of one rank.
    fn alone_run(&self, call: &Call<'_>) -> Result<Object> {
        let a = self.part(call.a)?;
        let b = call.b.map(|b| self.part(b)).transpose()?;
        let mask = call.mask.map(|mask| Ok::<_, Error>((self.part(mask.structure)?, mask.complement))).transpose()?;
        let mask = mask.as_ref().map(|(mask, complement)| (mask.object(), *complement));
        let made = local(&self.0.inner, call.op, &a, b.as_ref(), mask.as_ref())?;
        Ok(match made {
            Object::Matrix(block) => {
                let (shape, nnz) = (block.shape(), block.nnz());
                Matrix::from(Block { shared: Arc::clone(&self.0), shape, nnz, block }).into()
            }
            Object::Vector(piece) => {
                let (len, nnz) = (piece.len(), piece.nvals()?);
                Vector::from(Piece { shared: Arc::clone(&self.0), len, nnz, piece }).into()
            }
            scalar => scalar,
        })
    }
    /// The operation on operands replicated on every rank, each of which stores its part of the result.
    fn whole_run(&self, call: &Call<'_>) -> Result<Object> {
        let whole = |x: Operand<'_>| -> Result<Object> {
            Ok(match x {
                Operand::Matrix(a) => a.download()?.into(),
                Operand::Vector(x) => x.download()?.into(),
            })
        };
        let (a, b) = (whole(call.a)?, call.b.map(whole).transpose()?);
        let mask = call.mask.map(|mask| Ok::<_, Error>((whole(mask.structure)?, mask.complement))).transpose()?;
        let make = || Ok((called(&self.0.inner, call.op, &a, b.as_ref(), mask.as_ref())?, 0));
        match self.0.together(call.op.name(), make)?.0 {
            Object::Matrix(a) => self.upload((&a).into()),
            Object::Vector(x) => self.upload((&x).into()),
            scalar => Ok(scalar),
        }
    }
    /// An element-wise operation on local parts; operators see global indices.
    fn local_run(
        &self,
        call: &Call<'_>,
        a: &Part<'_>,
        b: Option<&Part<'_>>,
        mask: Option<(&Part<'_>, bool)>,
    ) -> Result<Object> {
        let name = call.op.name();
        let (rows, cols) = a.ranges(&self.0);
        let start = [rows.start as u64, cols.start as u64];
        let mask = mask.map(|(mask, complement)| (mask.object(), complement));
        let (unary, rows_here, cols_here);
        let op = match call.op {
            Op::Apply(f) => {
                unary = f.shifted(start);
                Op::Apply(&unary)
            }
            Op::Select(f) => {
                unary = f.shifted(start);
                Op::Select(&unary)
            }
            Op::Within(of_rows, of_cols) => {
                rows_here = inside(of_rows, "rows", a.shape().0, &rows)?.1;
                cols_here = match a {
                    Part::Matrix(_) => inside(of_cols, "cols", a.shape().1, &cols)?.1,
                    Part::Vector(_) => IndexList::all(),
                };
                Op::Within(&rows_here, &cols_here)
            }
            op => op,
        };
        let make = || local(&self.0.inner, op, a, b, mask.as_ref());
        match a {
            Part::Matrix(block) => self.matrix(name, block.shape, || make()?.try_into()),
            Part::Vector(piece) => self.vector(name, piece.len, || make()?.try_into()),
        }
    }
    /// ⊕ over all entries: local reductions, then a fold in rank order.
    fn reduced(&self, monoid: &Monoid, a: &Part<'_>) -> Result<Object> {
        let make = || {
            let mine = local(&self.0.inner, Op::Reduce(monoid), a, None, None).and_then(|made| {
                let Object::Scalar(mine) = made else { return Err(unfit()) };
                // One extra byte, because a message of one byte is a failure notice.
                Ok((mine.ty(), [&[0], mine.slice().as_bytes().ok_or_else(unfit)?].concat()))
            });
            let (ty, all) = self.0.world.gather(mine)?;
            let op = monoid.op();
            let mut sum = monoid.identity();
            for bytes in all.iter() {
                let value = bytes.get(1..).ok_or_else(broken)?;
                sum = op.eval(&sum, &Scalar::only(values_of(ty, &mut value.to_vec())?.slice())?)?;
            }
            Ok((sum, 0))
        };
        Ok(self.0.together("reduce", make)?.0.into())
    }
    /// Applies a mask to a result computed without it.
    fn allowed(&self, made: Object, mask: Option<MaskSpec<'_>>) -> Result<Object> {
        match mask {
            None => Ok(made),
            Some(mask) => {
                let call = Call::unary(Op::Identity, made.operand()?).mask(mask.structure, mask.complement);
                self.run(&call)
            }
        }
    }
    /// Extract: the entries of A in `rows` and `cols`, at their positions in the lists.
    fn extracted(&self, call: &Call<'_>, a: &Block) -> Result<Object> {
        let (m, n) = a.shape;
        let all = IndexList::all();
        let (one_row, one_col);
        let (rows, cols) = match call.op {
            Op::Extract(rows, cols) => (rows, cols),
            Op::ExtractColumn(rows, j) => {
                one_col = IndexList::from(j..j.saturating_add(1));
                (rows, &one_col)
            }
            Op::ExtractRow(i, cols) => {
                one_row = IndexList::from(i..i.saturating_add(1));
                (&one_row, cols)
            }
            _ => (&all, &all),
        };
        let (of_rows, of_cols) = self.0.grid.block((m, n));
        let shape = (rows.len(m), cols.len(n));
        #[cfg(all(feature = "cuda", feature = "mpi"))]
        if let (true, Op::Extract(..)) = (self.0.by_gpus(), call.op) {
            let grid = self.0.grid;
            let of_rows = Cut::of_list(|n| Ranges::of_rows(grid, n), rows, "rows", m, Indices::Operand)?;
            let of_cols = Cut::of_list(|n| Ranges::of_cols(grid, n), cols, "cols", n, Indices::Operand)?;
            return self.moved("extract", shape, false, (&of_rows, &of_cols), || Ok(a.block.clone()));
        }
        let (i, rows_here) = inside(rows, "rows", m, &of_rows)?;
        let (j, cols_here) = inside(cols, "cols", n, &of_cols)?;
        let entries = |to: &dyn Fn(usize, usize) -> Option<(usize, usize)>| {
            let taken: Matrix = self.0.inner.call(Op::Extract(&rows_here, &cols_here), &a.block).eval()?;
            Triplets::of(&taken, to)
        };
        match call.op {
            Op::Extract(..) => {
                self.matrix("extract", shape, || self.0.routed(shape, entries(&|p, q| Some((i[p], j[q]))), None))
            }
            Op::ExtractColumn(..) => self
                .vector("extract", shape.0, || self.0.routed_vector(shape.0, entries(&|p, _| Some((i[p], 0))), None)),
            _ => self
                .vector("extract", shape.1, || self.0.routed_vector(shape.1, entries(&|_, q| Some((j[q], 0))), None)),
        }
    }
    /// Assign into an empty matrix of another shape: entry (i, j) of A becomes entry (I(i), J(j)).
    fn placed(&self, a: &Block, rows: &IndexList, cols: &IndexList, shape: (usize, usize)) -> Result<Object> {
        let (m, n) = (rows.len(shape.0), cols.len(shape.1));
        if a.shape != (m, n) {
            return Err(Error::Shape { op: "assign", lhs: (m, n), rhs: a.shape });
        }
        let (i, j) = (distinct(rows, "rows", shape.0)?, distinct(cols, "cols", shape.1)?);
        #[cfg(all(feature = "cuda", feature = "mpi"))]
        if self.0.by_gpus() {
            let grid = self.0.grid;
            let of_rows = Cut::of_list(|n| Ranges::of_rows(grid, n), rows, "rows", shape.0, Indices::Result)?;
            let of_cols = Cut::of_list(|n| Ranges::of_cols(grid, n), cols, "cols", shape.1, Indices::Result)?;
            return self.moved("assign", shape, false, (&of_rows, &of_cols), || Ok(a.block.clone()));
        }
        let (of_rows, of_cols) = self.0.grid.block(a.shape);
        self.matrix("assign", shape, || {
            let to = |p: usize, q: usize| Some((i[of_rows.start + p], j[of_cols.start + q]));
            self.0.routed(shape, Triplets::of(&a.block, to), None)
        })
    }
    /// Vector operations that change indices.
    fn moved_vector(&self, op: Op<'_>, x: &Piece) -> Result<Object> {
        let start = self.0.grid.piece(x.len).start;
        match op {
            Op::Extract(list, all) if all.is_all() => {
                let len = list.len(x.len);
                #[cfg(all(feature = "cuda", feature = "mpi"))]
                if self.0.by_gpus() {
                    let grid = self.0.grid;
                    let cut = Cut::of_list(|n| Ranges::of_pieces(grid, n), list, "indices", x.len, Indices::Operand)?;
                    let here = grid.piece(len).len();
                    return self.vector("extract", len, || self.0.moved_vector_by_gpus(&x.piece, &cut, here));
                }
                let (p, here) = inside(list, "indices", x.len, &self.0.grid.piece(x.len))?;
                self.vector("extract", len, || {
                    let taken: Result<Vector> = self.0.inner.call(Op::Extract(&here, all), &x.piece).eval();
                    let entries = taken.and_then(|taken| Triplets::of_vector(&taken, |q| Some((p[q], 0))));
                    self.0.routed_vector(len, entries, None)
                })
            }
            Op::Place(list, _, (len, _)) => {
                if list.len(len) != x.len {
                    return Err(Error::Shape { op: "assign", lhs: (list.len(len), 1), rhs: (x.len, 1) });
                }
                let to = distinct(list, "indices", len)?;
                #[cfg(all(feature = "cuda", feature = "mpi"))]
                if self.0.by_gpus() {
                    let grid = self.0.grid;
                    let cut = Cut::of_list(|n| Ranges::of_pieces(grid, n), list, "indices", len, Indices::Result)?;
                    let here = grid.piece(len).len();
                    return self.vector("assign", len, || self.0.moved_vector_by_gpus(&x.piece, &cut, here));
                }
                self.vector("assign", len, || {
                    self.0.routed_vector(len, Triplets::of_vector(&x.piece, |p| Some((to[start + p], 0))), None)
                })
            }
            Op::Scatter(list, len, dup) => {
                if list.len(len) != x.len {
                    return Err(Error::Shape { op: "scatter", lhs: (list.len(len), 1), rhs: (x.len, 1) });
                }
                let to = list.to_vec("indices", len)?;
                self.vector("scatter", len, || {
                    self.0.routed_vector(len, Triplets::of_vector(&x.piece, |p| Some((to[start + p], 0))), Some(dup))
                })
            }
            Op::Diag(k) => {
                let (down, right) = (k.min(0).unsigned_abs() as usize, k.max(0).unsigned_abs() as usize);
                let n = x.len.checked_add(down.max(right)).filter(|&n| n <= u32::MAX as usize);
                let n = n.ok_or(Error::IndexOverflow {
                    what: "number of columns",
                    needed: x.len as u128 + u128::from(k.unsigned_abs()),
                    max: u128::from(u32::MAX),
                })?;
                self.matrix("diag", (n, n), || {
                    let to = |p: usize| Some((start + p + down, start + p + right));
                    self.0.routed((n, n), Triplets::of_vector(&x.piece, to), None)
                })
            }
            _ => Err(unfit()),
        }
    }
    /// A ⊗ B: each rank multiplies its block of one operand by the whole of the other. The operand with fewer entries
    /// is gathered. `None` if the dimensions of the result exceed 32-bit indices, which messages use.
    fn kronecker(&self, op: Op<'_>, a: Operand<'_>, b: Operand<'_>) -> Result<Option<Object>> {
        let (Operand::Matrix(a), Operand::Matrix(b)) = (a, b) else { return Ok(None) };
        let side = |m: usize, n: usize| m.checked_mul(n).filter(|&n| n <= u32::MAX as usize);
        let (of_a, of_b) = (a.shape(), b.shape());
        let (Some(m), Some(n)) = (side(of_a.0, of_b.0), side(of_a.1, of_b.1)) else { return Ok(None) };
        let gathers_b = b.nnz() <= a.nnz();
        let (divided, whole) = if gathers_b { (self.block(a)?, b) } else { (self.block(b)?, a) };
        let whole = whole.download()?;
        let (rows, cols) = self.0.grid.block(divided.shape);
        let made = self.matrix("kronecker", (m, n), || {
            let (own, other) = (Object::from(divided.block.clone()), Object::from(whole));
            let (left, right) = if gathers_b { (own, other) } else { (other, own) };
            let global = |at: usize, part: &Range<usize>, of_b: usize| match gathers_b {
                // Rows of A on preceding ranks come first, with nrows(B) rows of the result each.
                true => part.start * of_b + at,
                false => at / part.len() * of_b + part.start + at % part.len(),
            };
            let to = |i: usize, j: usize| Some((global(i, &rows, of_b.0), global(j, &cols, of_b.1)));
            let made = called(&self.0.inner, op, &left, Some(&right), None);
            let entries = made.and_then(Matrix::try_from).and_then(|made| Triplets::of(&made, to));
            self.0.routed((m, n), entries, None)
        })?;
        Ok(Some(made))
    }
    fn diagonal(&self, a: &Block, k: i64) -> Result<Object> {
        let (m, n) = a.shape;
        let (down, right) = (k.min(0).unsigned_abs() as usize, k.max(0).unsigned_abs() as usize);
        let len = m.saturating_sub(down).min(n.saturating_sub(right));
        let (rows, cols) = self.0.grid.block(a.shape);
        self.vector("diagonal", len, || {
            let to = |i: usize, j: usize| {
                let (i, j) = (rows.start + i, cols.start + j);
                (i >= down && j >= right && i - down == j - right).then(|| (i - down, 0))
            };
            self.0.routed_vector(len, Triplets::of(&a.block, to), None)
        })
    }
    /// A matrix redistributed from GPU to GPU.
    #[cfg(all(feature = "cuda", feature = "mpi"))]
    fn moved(
        &self,
        name: &str,
        shape: (usize, usize),
        transposed: bool,
        cuts: (&Cut, &Cut),
        operand: impl FnOnce() -> Result<Matrix>,
    ) -> Result<Object> {
        let (rows, cols) = self.0.grid.block(shape);
        self.matrix(name, shape, || self.0.moved_by_gpus(operand(), transposed, cuts, (rows.len(), cols.len())))
    }
    fn transposed(&self, a: &Block) -> Result<Object> {
        let ((m, n), grid) = (a.shape, self.0.grid);
        let (of_rows, of_cols) = grid.block(a.shape);
        let (rows, cols) = grid.block((n, m));
        #[cfg(all(feature = "cuda", feature = "mpi"))]
        if self.0.by_gpus() {
            let of_rows = Cut::of_range(&Ranges::of_cols(grid, n), &Ranges::of_rows(grid, n), 0..n, 0);
            let of_cols = Cut::of_range(&Ranges::of_rows(grid, m), &Ranges::of_cols(grid, m), 0..m, 0);
            let transposed = || self.0.inner.call(Op::Transpose, &a.block).eval();
            return self.moved("transpose", (n, m), true, (&of_rows, &of_cols), transposed);
        }
        self.matrix("transpose", (n, m), || {
            // Sends intersections of blocks of Aᵀ and of the result. In a square grid, each block goes whole to one
            // rank.
            let transposed: Result<Matrix> = self.0.inner.call(Op::Transpose, &a.block).eval();
            let part = |transposed: &Matrix, (k, l): (usize, usize)| -> Result<Vec<u8>> {
                let (i, j) = (shared_part(&of_cols, &grid.rows(n, k)), shared_part(&of_rows, &grid.cols(m, l)));
                if i.is_empty() || j.is_empty() {
                    return Ok(Vec::new());
                }
                if (i.len(), j.len()) == transposed.shape() {
                    return matrix_bytes(transposed);
                }
                let (i, j) = (IndexList::from(i), IndexList::from(j));
                matrix_bytes(&self.0.inner.call(Op::Extract(&i, &j), transposed).eval()?)
            };
            let parts =
                transposed.and_then(|transposed| Ok(((), Parts::of(grid.all().map(|at| part(&transposed, at)))?)));
            let ((), got) = self.0.world.all_to_all(parts)?;
            let got: Vec<&[u8]> = got.iter().collect();
            let (shape, mut made) = (grid.shape(), Vec::new());
            for j in (0..shape.1).filter(|&j| !shared_part(&grid.cols(n, j), &rows).is_empty()) {
                let beside = (0..shape.0).filter(|&i| !shared_part(&grid.rows(m, i), &cols).is_empty());
                let beside = beside.map(|i| matrix_of(a.block.ty(), got[grid.rank((i, j))]));
                made.push(beside.collect::<Result<Vec<_>>>()?);
            }
            if made.iter().all(Vec::is_empty) {
                return self.0.inner.upload(&Matrix::empty(a.block.ty(), rows.len(), cols.len())?);
            }
            let made: Vec<Vec<&Matrix>> = made.iter().map(|row| row.iter().collect()).collect();
            let made: Vec<&[&Matrix]> = made.iter().map(Vec::as_slice).collect();
            let block = if let [[block]] = made[..] { (*block).clone() } else { self.0.inner.concat(&made)? };
            self.0.inner.upload(&block)
        })
    }
}

/// The intersection of two ranges, relative to the start of the first.
pub(crate) fn shared_part(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let (start, end) = (a.start.max(b.start), a.end.min(b.end));
    if start < end { start - a.start..end - a.start } else { 0..0 }
}

/// The operation on this rank's parts.
fn local(
    machine: &Machine,
    op: Op<'_>,
    a: &Part<'_>,
    b: Option<&Part<'_>>,
    mask: Option<&(Object, bool)>,
) -> Result<Object> {
    called(machine, op, &a.object(), b.map(Part::object).as_ref(), mask)
}

fn called(
    machine: &Machine,
    op: Op<'_>,
    a: &Object,
    b: Option<&Object>,
    mask: Option<&(Object, bool)>,
) -> Result<Object> {
    let call: Operation<'_> = match (a, b) {
        (a, Some(b)) => machine.call(op, (a, b)),
        (Object::Matrix(a), None) => machine.call(op, a),
        (Object::Vector(x), None) => machine.call(op, x),
        (Object::Scalar(_), None) => return Err(unfit()),
    };
    match mask {
        None => call,
        Some((mask, complement)) => {
            let call = call.mask(mask).structure();
            if *complement { call.complement() } else { call }
        }
    }
    .eval_object()
}

/// The positions in a list whose indices lie in a range, and those indices relative to its start.
fn inside(
    list: &IndexList,
    name: &'static str,
    dimension: usize,
    range: &Range<usize>,
) -> Result<(Vec<usize>, IndexList)> {
    if list.is_all() {
        return Ok((collected(range.len(), range.clone(), name)?, IndexList::all()));
    }
    let all = list.to_vec(name, dimension)?;
    let found = all.iter().filter(|index| range.contains(index)).count();
    let positions = collected(found, (0..all.len()).filter(|&p| range.contains(&all[p])), name)?;
    let here = collected(found, positions.iter().map(|&p| all[p] - range.start), name)?;
    Ok((positions, here.into()))
}

/// The indices of a list, after a check that they are distinct.
fn distinct(list: &IndexList, name: &'static str, dimension: usize) -> Result<Vec<usize>> {
    let all = list.to_vec(name, dimension)?;
    let mut sorted = collected(all.len(), all.iter().copied(), name)?;
    sorted.sort_unstable();
    match sorted.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => Err(Error::RepeatedIndex { list: name, index: w[0] }),
        None => Ok(all),
    }
}

/// Shape of the result, for operations where the operands' shapes determine it.
fn result_shape(op: Op<'_>, a: (usize, usize), b: Option<(usize, usize)>) -> Result<Option<(usize, usize)>> {
    let name = op.name();
    let same = |b: (usize, usize)| {
        if a == b { Ok(Some(a)) } else { Err(Error::Shape { op: name, lhs: a, rhs: b }) }
    };
    let product = |lhs: (usize, usize), rhs: (usize, usize), made: (usize, usize)| {
        if lhs.1 == rhs.0 { Ok(Some(made)) } else { Err(Error::Shape { op: name, lhs, rhs }) }
    };
    match (op, b) {
        (Op::Mxm(..), Some(b)) => product(a, b, (a.0, b.1)),
        (Op::Mxv(_), Some(b)) => product(a, b, (a.0, 1)),
        (Op::Vxm(_), Some(b)) => product((1, a.0), b, (b.1, 1)),
        (Op::EwiseAdd(_) | Op::EwiseUnion(..) | Op::Pairs(Pairing::EwiseMult, _), Some(b)) => same(b),
        (Op::Apply(_) | Op::Select(_) | Op::Identity | Op::Within(..), None) => Ok(Some(a)),
        (Op::ReduceRows(_), None) => Ok(Some((a.0, 1))),
        (Op::Transpose, None) => Ok(Some((a.1, a.0))),
        _ => Ok(None),
    }
}

impl Engine for Cluster {
    fn name(&self) -> String {
        "cluster".into()
    }
    fn describe(&self) -> String {
        format!("{}; here {}", self.described(), self.0.describe_inner())
    }
    fn wait(&self) -> Result<()> {
        self.0.inner.wait()
    }
    fn check_host_function(&self, name: Option<&str>) -> Result<()> {
        self.0.inner.engine().check_host_function(name)
    }
    fn holds(&self, x: Operand<'_>) -> bool {
        let remote = match x {
            Operand::Matrix(a) => a.as_remote(),
            Operand::Vector(x) => x.as_remote(),
        };
        let any = remote.map(|there| there.as_any());
        let mine = |shared: &Arc<Shared>| Arc::ptr_eq(shared, &self.0);
        any.is_some_and(|any| {
            any.downcast_ref::<Block>().is_some_and(|a| mine(&a.shared))
                || any.downcast_ref::<Piece>().is_some_and(|x| mine(&x.shared))
        })
    }
    fn made(&self, plan: &Plan) -> bool {
        plan.of::<BlockPlan>().is_ok()
    }
    fn upload(&self, x: Operand<'_>) -> Result<Object> {
        Ok(match x {
            Operand::Matrix(a) => Matrix::from(self.block(a)?.into_owned()).into(),
            Operand::Vector(x) => Vector::from(self.piece(x)?.into_owned()).into(),
        })
    }
    fn run(&self, call: &Call<'_>) -> Result<Object> {
        if self.size() == 1 {
            return self.alone_run(call);
        }
        let shared = &self.0;
        let name = call.op.name();
        if let (Op::Pairs(Pairing::Kronecker, _), Some(b)) = (call.op, call.b) {
            return match self.kronecker(call.op, call.a, b)? {
                Some(made) => self.allowed(made, call.mask),
                None => self.whole_run(call),
            };
        }
        let (a, b) = (self.part(call.a)?, call.b.map(|b| self.part(b)).transpose()?);
        let shape = result_shape(call.op, a.shape(), b.as_ref().map(Part::shape))?;
        let mask = call.mask.map(|mask| Ok::<_, Error>((self.part(mask.structure)?, mask.complement))).transpose()?;
        if let (Some(shape), Some((mask, _))) = (shape, &mask)
            && mask.shape() != shape
        {
            return Err(Error::Shape { op: "mask", lhs: shape, rhs: mask.shape() });
        }
        let matrix_mask = || match &mask {
            None => Ok(None),
            Some((Part::Matrix(mask), complement)) => Ok(Some((&mask.block, *complement))),
            Some(_) => Err(unfit()),
        };
        let vector_mask = || match &mask {
            None => Ok(None),
            Some((Part::Vector(mask), complement)) => Ok(Some((&**mask, *complement))),
            Some(_) => Err(unfit()),
        };
        match (call.op, &a, &b) {
            (Op::Mxm(ring, options), Part::Matrix(a), Some(Part::Matrix(b))) => {
                let mask = matrix_mask()?;
                self.matrix(name, (a.shape.0, b.shape.1), || mxm(shared, (ring, options), a, b, mask))
            }
            (Op::Mxv(ring), Part::Matrix(a), Some(Part::Vector(x))) => {
                let mask = vector_mask()?;
                self.vector(name, a.shape.0, || mxv(shared, ring, a, x, mask))
            }
            (Op::Vxm(ring), Part::Vector(x), Some(Part::Matrix(a))) => {
                let mask = vector_mask()?;
                self.vector(name, a.shape.1, || vxm(shared, ring, x, a, mask))
            }
            (Op::ReduceRows(monoid), Part::Matrix(a), None) => {
                let mask = vector_mask()?;
                let m = a.shape.0;
                self.vector(name, m, || {
                    let made = if shared.folds_in_one(monoid) {
                        shared.own_piece(m, &shared.inner.reduce_rows(monoid, &shared.row_panel(a)?)?)?
                    } else {
                        shared.fold(Line::Row, m, &monoid.op(), shared.inner.reduce_rows(monoid, &a.block))?
                    };
                    match mask {
                        None => Ok(made),
                        Some((mask, complement)) => {
                            let mask = (Object::from(mask.piece.clone()), complement);
                            called(&shared.inner, Op::Identity, &made.into(), None, Some(&mask))?.try_into()
                        }
                    }
                })
            }
            (Op::Reduce(monoid), _, None) if shared.folds_in_one(monoid) => self.whole_run(call),
            (Op::Reduce(monoid), a, None) => self.reduced(monoid, a),
            (Op::Transpose, Part::Matrix(a), None) => self.allowed(self.transposed(a)?, call.mask),
            (Op::Extract(..) | Op::ExtractColumn(..) | Op::ExtractRow(..), Part::Matrix(a), None) => {
                self.allowed(self.extracted(call, a)?, call.mask)
            }
            (Op::Place(rows, cols, shape), Part::Matrix(a), None) => {
                self.allowed(self.placed(a, rows, cols, shape)?, call.mask)
            }
            (Op::Diagonal(k), Part::Matrix(a), None) => self.allowed(self.diagonal(a, k)?, call.mask),
            (op @ (Op::Extract(..) | Op::Place(..) | Op::Scatter(..) | Op::Diag(_)), Part::Vector(x), None) => {
                self.allowed(self.moved_vector(op, x)?, call.mask)
            }
            (Op::Apply(_) | Op::Select(_) | Op::Identity | Op::Within(..), a, None) => {
                self.local_run(call, a, None, mask.as_ref().map(|(mask, c)| (mask, *c)))
            }
            (
                Op::EwiseAdd(_) | Op::EwiseUnion(..) | Op::Pairs(Pairing::EwiseMult, _),
                Part::Matrix(_),
                Some(Part::Matrix(_)),
            )
            | (
                Op::EwiseAdd(_) | Op::EwiseUnion(..) | Op::Pairs(Pairing::EwiseMult, _),
                Part::Vector(_),
                Some(Part::Vector(_)),
            ) => self.local_run(call, &a, b.as_ref(), mask.as_ref().map(|(mask, c)| (mask, *c))),
            _ => Err(unfit()),
        }
    }
    fn symbolic(&self, a: &Matrix, b: &Matrix, mask: Option<MaskSpec<'_>>, options: &Options) -> Result<Plan> {
        let (a, b) = (self.block(a)?, self.block(b)?);
        if a.shape.1 != b.shape.0 {
            return Err(Error::Shape { op: "mxm", lhs: a.shape, rhs: b.shape });
        }
        let mask = match mask {
            None => None,
            Some(MaskSpec { structure: Operand::Matrix(m), complement }) => Some((self.block(m)?, complement)),
            Some(_) => return Err(unfit()),
        };
        let shape = (a.shape.0, b.shape.1);
        if let Some((mask, _)) = &mask
            && mask.shape != shape
        {
            return Err(Error::Shape { op: "mask", lhs: shape, rhs: mask.shape });
        }
        let (plan, nnz) = self.0.together("symbolic", || {
            let (left, right) = (self.0.row_panel(&a), self.0.column_panel(&b));
            let (left, right) = (left?, right?);
            let mask = mask.as_ref().map(|(mask, complement)| (&mask.block, *complement));
            let plan = self.0.inner.plan_masked(&left, &right, mask, options)?;
            let nnz = plan.nnz();
            Ok((plan, nnz))
        })?;
        let (_, flops) = self.0.finish(Ok(((), plan.flops() as usize)))?;
        let mut stats = plan.stats();
        stats.nnz = nnz;
        stats.flops = flops as u64;
        stats.max_row_nnz = None;
        Ok(Plan::new(BlockPlan { plan, shape, stats, grid: self.0.grid.shape() }))
    }
    fn numeric(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        let planned = plan.of::<BlockPlan>()?;
        let (a, b) = (self.block(a)?, self.block(b)?);
        if a.shape.1 != b.shape.0 {
            return Err(Error::Shape { op: "mxm", lhs: a.shape, rhs: b.shape });
        }
        let shape = (a.shape.0, b.shape.1);
        let made = self.matrix("numeric", shape, || {
            let (left, right) = (self.0.row_panel(&a), self.0.column_panel(&b));
            let (left, right) = (left?, right?);
            let (rows, cols) = self.0.grid.block(shape);
            let ring = ring.shifted([rows.start as u64, 0, cols.start as u64]);
            self.0.inner.numeric(&planned.plan, &ring, &left, &right)
        })?;
        made.try_into()
    }
    fn numeric_into(&self, plan: &Plan, ring: &Semiring, a: &Matrix, b: &Matrix, c: &mut Matrix) -> Result<()> {
        *c = self.numeric(plan, ring, a, b)?;
        Ok(())
    }
    fn spmm(&self, ring: &Semiring, a: &Matrix, x: Slice<'_>, columns: usize) -> Result<Array> {
        let a = self.block(a)?;
        let (mut bytes, _) = self.0.together("spmm", || Ok((spmm(&self.0, ring, &a, x, columns)?, 0)))?;
        values_of(ring.ty(), &mut bytes)
    }
    fn sum(&self, a: &Matrix) -> Result<Sum> {
        let a = self.block(a)?;
        let (sum, _) = self.0.together("sum", || {
            let mine = self.0.inner.sum(&a.block).map(|mine| {
                let (kind, words) = match mine {
                    Sum::Integer(x) => (0u8, x.to_le_bytes()),
                    Sum::Real(x) => (1, u128::from(x.to_bits()).to_le_bytes()),
                    Sum::Complex(x) => {
                        (2, (u128::from(x.re.to_bits()) | u128::from(x.im.to_bits()) << 64).to_le_bytes())
                    }
                };
                ((), [&[kind][..], &words].concat())
            });
            let ((), all) = self.0.world.gather(mine)?;
            let real = |bits: u128| f64::from_bits(bits as u64);
            let mut sum: Option<Sum> = None;
            for bytes in all.iter() {
                let bits = u128::from_le_bytes(bytes[1..].try_into().map_err(|_| broken())?);
                sum = Some(match (sum, bytes[0]) {
                    (None, 0) => Sum::Integer(bits as i128),
                    (None, 1) => Sum::Real(real(bits)),
                    (None, _) => Sum::Complex(sparring::num_complex::Complex::new(real(bits), real(bits >> 64))),
                    (Some(Sum::Integer(x)), _) => Sum::Integer(x + bits as i128),
                    (Some(Sum::Real(x)), _) => Sum::Real(x + real(bits)),
                    (Some(Sum::Complex(x)), _) => {
                        Sum::Complex(x + sparring::num_complex::Complex::new(real(bits), real(bits >> 64)))
                    }
                });
            }
            Ok((sum.ok_or_else(broken)?, 0))
        })?;
        Ok(sum)
    }
    fn row_counts(&self, a: &Matrix) -> Result<Vector> {
        let a = self.block(a)?;
        let m = a.shape.0;
        let made = self.vector("row_counts", m, || {
            let part = self.0.inner.engine().row_counts(&a.block);
            self.0.fold(Line::Row, m, &BinaryOp::new("plus", Type::I64)?, part)
        })?;
        made.try_into()
    }
    fn best_of_rows(&self, a: &Matrix, greatest: bool) -> Result<Vector> {
        let a = self.block(a)?;
        let m = a.shape.0;
        let made = self.vector("best_of_rows", m, || {
            let best = self.0.inner.engine().best_of_rows(&self.0.row_panel(&a)?, greatest)?;
            self.0.own_piece(m, &best)
        })?;
        made.try_into()
    }
    fn threads(&self) -> Option<&Threads> {
        self.0.inner.engine().threads()
    }
    fn triangles(&self) -> Option<&dyn TriangleEngine> {
        Some(self)
    }
    fn cp(&self) -> Option<sparring::runtime::engine::CpMachines<'_>> {
        Some((self, self))
    }
    fn distances(&self) -> Option<&dyn sparring::runtime::engine::DistanceEngine> {
        Some(self)
    }
}

impl TriangleEngine for Cluster {
    fn count(&self, a: &Matrix, _: TriangleMethod) -> Result<Triangles> {
        crate::graph::triangles::count(&self.clone().into(), a)
    }
    fn per_vertex(&self, a: &Matrix) -> Result<Vec<u64>> {
        crate::graph::triangles::per_vertex(&self.clone().into(), a)
    }
    fn per_edge(&self, a: &Matrix) -> Result<Matrix> {
        crate::graph::triangles::per_edge(&self.clone().into(), a)
    }
}

//! Rows that are compared on all ranks: a ring of tiles.
//!
//! Rank r of p has the rows from ⌊n·r / p⌋ on of X and of Y. It compares its rows of X with the rows of Y of one rank
//! after the other, which go round: in each of p steps a rank sends the tile that it has to the rank before it. What it
//! finds in tiles is merged in the order of the whole, so that results have the bits of one rank.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use sparring::algebra::{Slice, SliceMut, Type};
use sparring::distance::{self, Float, Measure, Options, Precision};
use sparring::runtime::engine::{DistanceEngine, EngineIndex, bytes_of, unfit, values_of};
use sparring::runtime::{Comparison, IndexList, Machine, Matrix, Neighbours, Op, RowIndex};
use sparring::{Cpu, Csr, Error, Result};

use crate::blocks::Block;
use crate::cluster::{Cluster, Shared};
use crate::grid::cut;
use crate::link::{Link, Parts};
use crate::route::Triplets;
use crate::wire::{Bytes, broken, buffer, matrix_bytes, matrix_of, put_indices, reserved};

/// Runs the body with `$T` the type of that name, of those that have distances.
macro_rules! with_float {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            Type::F32 => {
                type $T = f32;
                $body
            }
            Type::F64 => {
                type $T = f64;
                $body
            }
            _ => Err(unfit()),
        }
    };
}

fn host() -> Machine {
    Machine::from(Cpu::new())
}

/// Of a dimension of `n`, the part that a rank has in the order of ranks.
fn dealt(link: &dyn Link, n: usize, rank: usize) -> Range<usize> {
    cut(n, link.size(), rank)..cut(n, link.size(), rank + 1)
}

fn between(a: &Matrix, rows: Range<usize>, cols: Range<usize>) -> Result<Matrix> {
    host().call(Op::Extract(&IndexList::from(rows), &IndexList::from(cols)), a).eval()
}

impl Shared {
    /// The rows that are dealt to this rank, in the processor's memory. They lie in its row of the grid.
    fn rows_of(self: &Arc<Self>, a: &Matrix) -> Result<Matrix> {
        let (m, n) = a.shape();
        let mine = dealt(&*self.world, m, self.world.rank());
        let block = a.as_remote().and_then(|there| there.as_any().downcast_ref::<Block>());
        let Some(block) = block.filter(|block| Arc::ptr_eq(&block.shared, self)) else {
            return between(&a.download()?, mine, 0..n);
        };
        let (of_rows, of_cols) = self.grid.block((m, n));
        let first = self.grid.at().0 * self.row.size();
        let to = block.block.download().and_then(|here| {
            let to = (0..self.row.size()).map(|j| {
                let rows = dealt(&*self.world, m, first + j);
                matrix_bytes(&between(&here, rows.start - of_rows.start..rows.end - of_rows.start, 0..of_cols.len())?)
            });
            Ok(((), Parts::of(&to.collect::<Result<Vec<_>>>()?)))
        });
        let ((), from) = self.row.deal(to)?;
        let parts = from.iter().map(|bytes| matrix_of(a.ty(), bytes)).collect::<Result<Vec<_>>>()?;
        host().concat(&[&parts.iter().collect::<Vec<_>>()])
    }
    /// This rank's block of the matrix of which it has the rows that are dealt to it.
    fn block_of_rows(&self, n: usize, rows: Result<Matrix>) -> Result<Matrix> {
        let to = rows.and_then(|rows| {
            let to = (0..self.row.size()).map(|j| {
                let cols = self.grid.cols(n, j);
                matrix_bytes(&between(&rows, 0..rows.shape().0, cols)?)
            });
            Ok((rows.ty(), Parts::of(&to.collect::<Result<Vec<_>>>()?)))
        });
        let (ty, from) = self.row.deal(to)?;
        let parts = from.iter().map(|bytes| matrix_of(ty, bytes)).collect::<Result<Vec<_>>>()?;
        let parts: Vec<[&Matrix; 1]> = parts.iter().map(|part| [part]).collect();
        let parts: Vec<&[&Matrix]> = parts.iter().map(|row| &row[..]).collect();
        self.inner.upload(&host().concat(&parts)?)
    }
    /// Whether an argument of some rank was refused: then the whole is asked, so that the error is that of the whole.
    fn any_refused<T>(&self, made: &Result<T>) -> bool {
        let refused = matches!(made, Err(Error::Argument { .. }));
        self.world.all_words([u64::from(refused), 0]).iter().any(|words| words[0] != 0)
    }
    /// Whether the entries that all ranks have are so near to 1 that no measure scales rows by what others hold.
    fn all_ordinary(&self, question: &Comparison, sides: &[&Matrix]) -> Result<bool> {
        let mine =
            sides.iter().try_fold((0, 0), |(most, count), side| Ok((exponent_of(side)?.max(most), count + side.nnz())));
        let (most, count) = self.ready(mine)?;
        let all = self.world.all_words([most, count as u64]);
        let most = all.iter().map(|words| words[0]).max().unwrap_or(0);
        let count: u64 = all.iter().map(|words| words[1]).sum();
        let is_narrow = question.x.ty() == Type::F32 && question.options.precision == Precision::Entries;
        // Powers of entries, and sums of so many, have room; no logarithm hides a digit.
        let (least, digits) = if is_narrow { (100.0, 23.0) } else { (980.0, 52.0) };
        let power = question.measure.named().and_then(|named| named.1).unwrap_or(2.0).max(2.0);
        let most = most as f64;
        Ok(most < 2.0 * digits && power * (most + digits + 3.0) + f64::from(64 - count.leading_zeros()) + 3.0 <= least)
    }
}

/// The largest exponent of two of an entry that is not 0, its sign left out.
fn exponent_of(a: &Matrix) -> Result<u64> {
    fn most<T: Float>(values: &[T]) -> u64 {
        let exponent = |x: &T| {
            let x = x.as_f64();
            let field = (x.to_bits() >> 52 & 0x7ff) as i64;
            if x == 0.0 || !x.is_finite() { 0 } else { (field - 1023).unsigned_abs() }
        };
        values.iter().map(exponent).max().unwrap_or(0)
    }
    let values = a.values().ok_or_else(unfit)?;
    with_float!(a.ty(), T => Ok(most(values.get::<T>().ok_or_else(unfit)?)))
}

/// The question without rows: what is refused whatever they hold.
fn without_rows(question: &Comparison) -> Result<Comparison> {
    let none =
        |a: &Matrix| with_float!(a.ty(), T => Ok(Csr::<T>::new(0, a.shape().1, vec![0], vec![], vec![])?.into()));
    Ok(Comparison {
        measure: Arc::clone(&question.measure),
        x: none(&question.x)?,
        y: question.y.as_ref().map(none).transpose()?,
        options: question.options,
    })
}

impl Cluster {
    /// What every rank finds on its own machine for the same question of rows that it has whole.
    fn asked_whole<R>(&self, question: &Comparison, ask: impl FnOnce(&Comparison) -> Result<R>) -> Result<R> {
        let inner = &self.0.inner;
        let x = question.x.download()?;
        let y = question.y.as_ref().map(Matrix::download).transpose()?;
        let (found, _) = self.0.together("the whole on every rank", || {
            let found = ask(&Comparison {
                measure: Arc::clone(&question.measure),
                x: inner.upload(&x)?,
                y: y.map(|y| inner.upload(&y)).transpose()?,
                options: question.options,
            })?;
            Ok((found, 0))
        })?;
        Ok(found)
    }
    /// Asks the rows of X that this rank has about the tiles of all ranks: `each` gets questions, the numbers of the
    /// rows of Y in them, and whose tile it is. Not done if the whole has to be asked.
    fn ring(
        &self,
        name: &str,
        question: &Comparison,
        mut each: impl FnMut(&Comparison, Range<usize>, usize) -> Result<()>,
    ) -> Result<bool> {
        let shared = &self.0;
        let (world, inner) = (&*shared.world, &shared.inner);
        let (rank, size) = (world.rank(), world.size());
        let m = question.shape().1;
        let ((x, y, mut bytes), _) = shared.together(name, || {
            // Both, whatever became of the first: the other ranks send theirs.
            let (x, y) = (shared.rows_of(&question.x), question.y.as_ref().map(|y| shared.rows_of(y)).transpose());
            let (x, y) = (x?, y?);
            let bytes = matrix_bytes(y.as_ref().unwrap_or(&x))?;
            Ok(((x, y, bytes), 0))
        })?;
        if !shared.all_ordinary(question, &Vec::from_iter([Some(&x), y.as_ref()].into_iter().flatten()))? {
            return Ok(false);
        }
        let mut asked = inner.upload(&x).map(|x| {
            let (measure, options) = (Arc::clone(&question.measure), question.options);
            Comparison { measure, x, y: None, options }
        });
        // A rank that fails passes tiles on all the same.
        for step in 0..size {
            let whose = (rank + step) % size;
            asked = asked.and_then(|mut asked| {
                let alone = whose == rank && question.y.is_none();
                asked.y = if alone { None } else { Some(inner.upload(&matrix_of(question.x.ty(), &bytes)?)?) };
                asked.options.exclude_self = alone && question.options.exclude_self;
                each(&asked, dealt(world, m, whose), whose)?;
                Ok(asked)
            });
            if step + 1 < size {
                let mut lengths = vec![0; size];
                lengths[(rank + size - 1) % size] = bytes.len();
                bytes = world.exchange(&Parts { bytes, lengths })?.bytes;
            }
        }
        let made = asked.map(drop);
        if shared.any_refused(&made) {
            return Ok(false);
        }
        shared.finish(made.map(|()| ((), 0)))?;
        Ok(true)
    }
    fn nearest_as<T: Float>(&self, question: &Comparison, k: usize) -> Result<Option<Neighbours>>
    where
        Neighbours: From<distance::Neighbours<T>>,
    {
        let ((n, m), k) = (question.shape(), question.neighbours(k));
        let mine = dealt(&*self.0.world, n, self.rank()).len();
        let (mut near, mut how) = (Near::<T>::new(mine, k, question.measure.is_similarity()), String::new());
        let done = self.ring("neighbours", question, |asked, rows, _| {
            let found = self.0.inner.neighbours(asked, k)?;
            how = found.explain().to_owned();
            near.take(&found, rows.start)
        })?;
        if !done {
            return Ok(None);
        }
        self.gathered_neighbours((n, m), &near, &how).map(Some)
    }
    /// Of lists that ranks have for the rows that are dealt to them, all, on every rank.
    fn gathered_neighbours<T: Float>(&self, (n, m): (usize, usize), near: &Near<T>, how: &str) -> Result<Neighbours>
    where
        Neighbours: From<distance::Neighbours<T>>,
    {
        let (k, ranks) = (near.k, self.size());
        let (mut near, _) = self.0.together("neighbours of all rows", || {
            let mine = list_bytes(&near.indices, &near.distances);
            let ((), parts) = self.0.world.gather(mine.map(|mine| ((), mine)))?;
            let (mut indices, mut distances) = (reserved(n * k, "neighbours")?, reserved(n * k, "distances")?);
            for bytes in parts.iter() {
                let (part, of) = list_of::<T>(bytes)?;
                indices.extend_from_slice(&part);
                distances.extend_from_slice(&of);
            }
            Ok((distance::Neighbours::from_parts((n, m), k, indices, distances)?, 0))
        })?;
        near.explain = format!("tiles of {ranks} ranks; the last here: {how}");
        Ok(near.into())
    }
}

fn typed<T: Float>(bytes: &mut [u8]) -> Result<Vec<T>> {
    let array = values_of(T::TYPE, bytes)?;
    let values = array.slice().get::<T>().ok_or_else(unfit)?;
    let mut own = reserved(values.len(), "distances")?;
    own.extend_from_slice(values);
    Ok(own)
}

/// The nearest so far of some rows, k each as soon as so many were met.
struct Near<T> {
    rows: usize,
    k: usize,
    similarity: bool,
    /// Of each row.
    width: usize,
    indices: Vec<u32>,
    distances: Vec<T>,
}

impl<T: Float> Near<T> {
    fn new(rows: usize, k: usize, similarity: bool) -> Self {
        Self { rows, k, similarity, width: 0, indices: Vec::new(), distances: Vec::new() }
    }
    /// What rows are ordered by: how far, what is no number farthest, and which.
    fn code(&self, distance: T, j: u32) -> u128 {
        let x = distance.as_f64();
        let far = if self.similarity { 0.0 - x } else { x + 0.0 };
        let bits = if far.is_nan() { f64::NAN } else { far }.to_bits();
        let bits = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
        u128::from(bits) << 32 | u128::from(j)
    }
    /// Takes what was found in a tile, whose rows are counted from `first` on.
    fn take(&mut self, found: &Neighbours, first: usize) -> Result<()> {
        let distances = found.distances().get::<T>().ok_or_else(unfit)?;
        self.merge(found.k(), found.indices(), distances, first)
    }
    fn merge(&mut self, k: usize, indices: &[u32], distances: &[T], first: usize) -> Result<()> {
        let width = self.k.min(self.width + k);
        let places = self.rows * width;
        let (mut to, mut far) = (reserved(places, "neighbours")?, reserved(places, "distances")?);
        for i in 0..self.rows {
            let (mut a, mut b) = (i * self.width..(i + 1) * self.width, i * k..(i + 1) * k);
            for _ in 0..width {
                let mine = a.clone().next().map(|p| (self.indices[p], self.distances[p]));
                let theirs = b.clone().next().map(|p| (first as u32 + indices[p], distances[p]));
                let taken = match (mine, theirs) {
                    (Some(x), Some(y)) if self.code(x.1, x.0) <= self.code(y.1, y.0) => (x, &mut a),
                    (Some(x), None) => (x, &mut a),
                    (_, Some(y)) => (y, &mut b),
                    (None, None) => return Err(unfit()),
                };
                to.push(taken.0.0);
                far.push(taken.0.1);
                taken.1.next();
            }
        }
        (self.width, self.indices, self.distances) = (width, to, far);
        Ok(())
    }
}

/// Numbers, then distances.
fn list_bytes<T: Float>(indices: &[u32], distances: &[T]) -> Result<Vec<u8>> {
    let mut to = buffer(indices.len() * (4 + size_of::<T>()))?;
    put_indices(&mut to, indices.iter().copied());
    to.extend_from_slice(&bytes_of(Slice::of(distances))?);
    Ok(to)
}

fn list_of<T: Float>(bytes: &[u8]) -> Result<(Vec<u32>, Vec<T>)> {
    let n = bytes.len() / (4 + size_of::<T>());
    let (mut from, mut indices) = (Bytes(bytes), reserved(n, "neighbours")?);
    indices.extend(from.indices(n)?);
    let mut rest = buffer(from.0.len())?;
    rest.extend_from_slice(from.0);
    Ok((indices, typed(&mut rest)?))
}

/// Rows of Y of this rank, indexed on its machine.
struct Rows {
    shared: Arc<Shared>,
    measure: Arc<dyn Measure>,
    options: Options,
    shape: (usize, usize),
    ty: Type,
    /// The rows of this rank, in the processor's memory.
    rows: Matrix,
    index: RowIndex,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rows of {:?} by {}, here {:?}", self.shape, self.measure.name(), self.index)
    }
}

fn no_file() -> Error {
    Error::Unsupported {
        what: "an index of a cluster in a file".into(),
        why: "each rank has the index of its own rows; make it from the matrix".into(),
    }
}

impl EngineIndex for Rows {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }
    fn ty(&self) -> Type {
        self.ty
    }
    fn save(&self, _: &Path) -> Result<()> {
        Err(no_file())
    }
}

impl Rows {
    /// The question that an index was made to answer.
    fn question(&self, x: &Matrix) -> Result<Comparison> {
        let measure = Arc::clone(&self.measure);
        let (block, nnz) = self.shared.together("rows of an index", || {
            let block = self.shared.block_of_rows(self.shape.1, Ok(self.rows.clone()))?;
            let nnz = block.nnz();
            Ok((block, nnz))
        })?;
        let y = Matrix::from(Block { shared: Arc::clone(&self.shared), shape: self.shape, nnz, block });
        Ok(Comparison { measure, x: x.clone(), y: Some(y), options: self.options })
    }
}

impl Cluster {
    /// What the rows of this rank answer to all rows of X; nothing if the whole has to be asked.
    fn asked_of<R>(
        &self,
        name: &str,
        rows: &Rows,
        x: &Matrix,
        ask: impl FnOnce(&Matrix) -> Result<R>,
    ) -> Result<Option<R>> {
        let shared = &self.0;
        if x.ty() != rows.ty {
            let message = format!("its values are {}, those of the index {}", x.ty(), rows.ty);
            return Err(Error::Argument { name: "x", message });
        }
        if x.shape().1 != rows.shape.1 {
            return Err(Error::Shape { op: "neighbours", lhs: x.shape(), rhs: rows.shape });
        }
        shared.begin(name)?;
        let x = x.download()?;
        let question = Comparison { measure: Arc::clone(&rows.measure), x, y: None, options: rows.options };
        if self.size() > 1 && !shared.all_ordinary(&question, &[&question.x, &rows.rows])? {
            return Ok(None);
        }
        let made = shared.inner.upload(&question.x).and_then(|x| ask(&x));
        if shared.any_refused(&made) {
            return Ok(None);
        }
        Ok(Some(shared.finish(made.map(|made| (made, 0)))?.0))
    }
    fn nearest_of_as<T: Float>(&self, rows: &Rows, x: &Matrix, k: usize) -> Result<Option<Neighbours>>
    where
        Neighbours: From<distance::Neighbours<T>>,
    {
        let (shared, world) = (&self.0, &*self.0.world);
        let ((n, m), ranks) = ((x.shape().0, rows.shape.0), self.size());
        let ask = |x: &Matrix| shared.inner.knn_of_index(&rows.index, x, k);
        let Some(found) = self.asked_of("neighbours in an index", rows, x, ask)? else { return Ok(None) };
        let mine = dealt(world, n, self.rank()).len();
        let mut near = Near::<T>::new(mine, k.min(m), rows.measure.is_similarity());
        shared.together("neighbours of all indexes", || {
            let k = found.k();
            let to = found.distances().get::<T>().ok_or_else(unfit).and_then(|distances| {
                let to = (0..ranks).map(|rank| {
                    let of = dealt(world, n, rank);
                    list_bytes(&found.indices()[of.start * k..of.end * k], &distances[of.start * k..of.end * k])
                });
                Ok(((), Parts::of(&to.collect::<Result<Vec<_>>>()?)))
            });
            for (rank, bytes) in world.deal(to)?.1.iter().enumerate() {
                let of = dealt(world, m, rank);
                let (indices, distances) = list_of::<T>(bytes)?;
                near.merge(near.k.min(of.len()), &indices, &distances, of.start)?;
            }
            Ok(((), 0))
        })?;
        self.gathered_neighbours((n, m), &near, found.explain()).map(Some)
    }
}

impl DistanceEngine for Cluster {
    fn all(&self, question: &Comparison, out: &mut SliceMut<'_>) -> Result<String> {
        fn by_tiles<T: Float>(
            cluster: &Cluster,
            question: &Comparison,
            out: &mut SliceMut<'_>,
        ) -> Result<Option<String>> {
            let (n, m) = question.shape();
            let (mine, ranks) = (dealt(&*cluster.0.world, n, cluster.rank()).len(), cluster.size());
            let mut rows: Vec<T> = Vec::new();
            let mut how = String::new();
            let done = cluster.ring("distances", question, |asked, cols, _| {
                if rows.is_empty() {
                    rows = reserved(mine * m, "distances")?;
                    rows.resize(mine * m, T::ZERO);
                }
                let mut tile: Vec<T> = reserved(mine * cols.len(), "distances")?;
                tile.resize(mine * cols.len(), T::ZERO);
                how = cluster.0.inner.distances_into(asked, &mut SliceMut::of(&mut tile))?;
                for (to, from) in rows.chunks_mut(m.max(1)).zip(tile.chunks(cols.len().max(1))) {
                    to[cols.clone()].copy_from_slice(&from[..cols.len()]);
                }
                Ok(())
            })?;
            if !done {
                return Ok(None);
            }
            cluster.0.together("distances of all rows", || {
                let mine = bytes_of(Slice::of(&rows)).map(|mine| ((), mine));
                let ((), parts) = cluster.0.world.gather(mine)?;
                let out = out.get::<T>().ok_or_else(unfit)?;
                let mut at = 0;
                for bytes in parts.iter() {
                    let part = typed::<T>(&mut bytes.to_vec())?;
                    out.get_mut(at..at + part.len()).ok_or_else(broken)?.copy_from_slice(&part);
                    at += part.len();
                }
                Ok(((), 0))
            })?;
            Ok(Some(format!("tiles of {ranks} ranks; the last here: {how}")))
        }
        if self.size() > 1 {
            with_float!(question.x.ty(), T => {
                host().distances_into(&without_rows(question)?, &mut SliceMut::of::<T>(&mut []))
            })?;
            let done = with_float!(question.x.ty(), T => by_tiles::<T>(self, question, out))?;
            if let Some(how) = done {
                return Ok(how);
            }
        }
        self.asked_whole(question, |question| self.0.inner.distances_into(question, out))
    }
    fn nearest(&self, question: &Comparison, k: usize) -> Result<Neighbours> {
        if self.size() > 1 {
            host().neighbours(&without_rows(question)?, k)?;
            if let Some(near) = with_float!(question.x.ty(), T => self.nearest_as::<T>(question, k))? {
                return Ok(near);
            }
        }
        self.asked_whole(question, |question| self.0.inner.neighbours(question, k))
    }
    fn within(&self, question: &Comparison, radius: f64) -> Result<Matrix> {
        let shared = &self.0;
        let shape = question.shape();
        let made = |block: Matrix, nnz| Matrix::from(Block { shared: Arc::clone(shared), shape, nnz, block });
        if self.size() == 1 {
            let block = self.asked_whole(question, |question| shared.inner.within(question, radius))?;
            let nnz = block.nnz();
            return Ok(made(block, nnz));
        }
        host().within(&without_rows(question)?, radius)?;
        let mut tiles: Vec<Option<Matrix>> = vec![None; self.size()];
        let done = self.ring("radius", question, |asked, _, whose| {
            tiles[whose] = Some(shared.inner.within(asked, radius)?.download()?);
            Ok(())
        })?;
        if !done {
            let (block, nnz) = self.asked_whole(question, |question| {
                let whole = shared.inner.within(question, radius)?;
                Ok((Block::of(shared, &whole)?, whole.nnz()))
            })?;
            return Ok(made(block, nnz));
        }
        let (block, nnz) = shared.together("entries within a radius", || {
            let tiles: Vec<&Matrix> = tiles.iter().flatten().collect();
            let block = shared.block_of_rows(shape.1, host().concat(&[&tiles]))?;
            let nnz = block.nnz();
            Ok((block, nnz))
        })?;
        Ok(made(block, nnz))
    }
    fn index(&self, measure: Arc<dyn Measure>, y: &Matrix, options: Options) -> Result<RowIndex> {
        let shared = &self.0;
        let make = || {
            let rows = shared.rows_of(y)?;
            let index = shared.inner.index(Arc::clone(&measure), &shared.inner.upload(&rows)?, options);
            Ok(((rows, index), 0))
        };
        let ((rows, index), _) = shared.together("index", make)?;
        if shared.any_refused(&index) {
            let whole = y.download()?;
            shared.together("the whole on every rank", || {
                Ok((shared.inner.index(Arc::clone(&measure), &shared.inner.upload(&whole)?, options)?, 0))
            })?;
        }
        let (index, _) = shared.finish(index.map(|index| (index, 0)))?;
        let shared = Arc::clone(shared);
        Ok(RowIndex::new(Rows { shared, measure, options, shape: y.shape(), ty: y.ty(), rows, index }))
    }
    fn load_index(&self, _: &Path, _: Type) -> Result<RowIndex> {
        Err(no_file())
    }
    fn nearest_of(&self, index: &RowIndex, x: &Matrix, k: usize) -> Result<Neighbours> {
        let rows = index.on::<Rows>()?;
        match with_float!(rows.ty, T => self.nearest_of_as::<T>(rows, x, k))? {
            Some(near) => Ok(near),
            None => self.asked_whole(&rows.question(x)?, |question| self.0.inner.neighbours(question, k)),
        }
    }
    fn within_of(&self, index: &RowIndex, x: &Matrix, radius: f64) -> Result<Matrix> {
        let (rows, shared) = (index.on::<Rows>()?, &self.0);
        let ask = |x: &Matrix| shared.inner.radius_of_index(&rows.index, x, radius);
        let Some(near) = self.asked_of("entries of an index within a radius", rows, x, ask)? else {
            return self.within(&rows.question(x)?, radius);
        };
        let shape = (x.shape().0, rows.shape.0);
        let first = dealt(&*shared.world, shape.1, self.rank()).start;
        let (block, nnz) = shared.together("entries of all within a radius", || {
            let block = shared.routed(shape, Triplets::of(&near, |i, j| Some((i, first + j))), None)?;
            let nnz = block.nnz();
            Ok((block, nnz))
        })?;
        Ok(Matrix::from(Block { shared: Arc::clone(shared), shape, nnz, block }))
    }
}

//! Distributed pairwise distances, kNN and radius search, by a ring of tiles.
//!
//! Rank r of p owns the rows of X and of Y from ⌊n·r / p⌋ on. The tiles of Y circulate: in each of p steps a rank
//! compares its rows of X with its current tile, and passes the tile to the previous rank. Results of the tiles are
//! merged in global row order, so that they are bitwise identical to those of one rank.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use sparring::algebra::{Slice, SliceMut, Type};
use sparring::distance::{self, Float, Measure, Options, Precision};
use sparring::runtime::engine::{DistanceEngine, EngineIndex, bytes_of, unfit};
use sparring::runtime::{Comparison, IndexList, Machine, Matrix, Neighbours, Op, RowIndex};
use sparring::{Cpu, Csr, Error, Result};

use crate::blocks::Block;
use crate::cluster::{Cluster, Shared};
use crate::grid::cut;
use crate::link::{Link, Parts};
use crate::route::Triplets;
use crate::wire::{Bytes, broken, buffer, collected, matrix_bytes, matrix_of, put_indices, reserved, values};

/// Runs the body with `$T` bound to the type, which must be one that distances support.
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

/// The rank's part of a dimension of `n`, in rank order.
fn share_of(link: &dyn Link, n: usize, rank: usize) -> Range<usize> {
    cut(n, link.size(), rank)..cut(n, link.size(), rank + 1)
}

fn between(a: &Matrix, rows: Range<usize>, cols: Range<usize>) -> Result<Matrix> {
    host().call(Op::Extract(&IndexList::from(rows), &IndexList::from(cols)), a).eval()
}

impl Shared {
    /// The rows of A assigned to this rank, in host memory. All of them belong to its grid row.
    fn rows_of(self: &Arc<Self>, a: &Matrix) -> Result<Matrix> {
        let (m, n) = a.shape();
        let mine = share_of(&*self.world, m, self.world.rank());
        let block = a.as_remote().and_then(|there| there.as_any().downcast_ref::<Block>());
        let Some(block) = block.filter(|block| Arc::ptr_eq(&block.shared, self)) else {
            return between(&a.download()?, mine, 0..n);
        };
        let (of_rows, of_cols) = self.grid.block((m, n));
        let first = self.grid.at().0 * self.row.size();
        let to = block.block.download().and_then(|here| {
            let to = (0..self.row.size()).map(|j| {
                let rows = share_of(&*self.world, m, first + j);
                matrix_bytes(&between(&here, rows.start - of_rows.start..rows.end - of_rows.start, 0..of_cols.len())?)
            });
            Ok(((), Parts::of(to)?))
        });
        let ((), from) = self.row.all_to_all(to)?;
        let parts = from.iter().map(|bytes| matrix_of(a.ty(), bytes)).collect::<Result<Vec<_>>>()?;
        host().concat(&[&parts.iter().collect::<Vec<_>>()])
    }
    /// Redistributes a matrix from rows per rank to blocks.
    fn block_of_rows(&self, n: usize, rows: Result<Matrix>) -> Result<Matrix> {
        let to = rows.and_then(|rows| {
            let to = (0..self.row.size()).map(|j| {
                let cols = self.grid.cols(n, j);
                matrix_bytes(&between(&rows, 0..rows.shape().0, cols)?)
            });
            Ok((rows.ty(), Parts::of(to)?))
        });
        let (ty, from) = self.row.all_to_all(to)?;
        let parts = from.iter().map(|bytes| matrix_of(ty, bytes)).collect::<Result<Vec<_>>>()?;
        let parts: Vec<[&Matrix; 1]> = parts.iter().map(|part| [part]).collect();
        let parts: Vec<&[&Matrix]> = parts.iter().map(|row| &row[..]).collect();
        self.inner.upload(&host().concat(&parts)?)
    }
    /// Whether some rank reported an invalid argument. The query then runs on replicated operands, so that the error
    /// refers to them.
    fn any_refused<T>(&self, made: &Result<T>) -> bool {
        let refused = matches!(made, Err(Error::Argument { .. }));
        self.world.all_words([u64::from(refused), 0]).iter().any(|words| words[0] != 0)
    }
    /// Whether the entries of all ranks are close enough to 1 that no measure needs global range scaling.
    fn all_ordinary(&self, query: &Comparison, sides: &[&Matrix]) -> Result<bool> {
        let mine =
            sides.iter().try_fold((0, 0), |(most, count), side| Ok((exponent_of(side)?.max(most), count + side.nnz())));
        let (most, count) = self.ready(mine)?;
        let all = self.world.all_words([most, count as u64]);
        let most = all.iter().map(|words| words[0]).max().unwrap_or(0);
        let count: u64 = all.iter().map(|words| words[1]).sum();
        let is_narrow = query.x.ty() == Type::F32 && query.options.precision == Precision::Entries;
        // Powers of entries and their sums stay in range, and logarithms lose no digit.
        let (least, digits) = if is_narrow { (100.0, 23.0) } else { (980.0, 52.0) };
        let power = query.measure.named().and_then(|named| named.1).unwrap_or(2.0).max(2.0);
        let most = most as f64;
        Ok(most < 2.0 * digits && power * (most + digits + 3.0) + f64::from(64 - count.leading_zeros()) + 3.0 <= least)
    }
}

/// The largest absolute binary exponent of a nonzero entry.
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

/// The query with empty operands: validates its arguments.
fn without_rows(query: &Comparison) -> Result<Comparison> {
    let none =
        |a: &Matrix| with_float!(a.ty(), T => Ok(Csr::<T>::new(0, a.shape().1, vec![0], vec![], vec![])?.into()));
    Ok(Comparison {
        measure: Arc::clone(&query.measure),
        x: none(&query.x)?,
        y: query.y.as_ref().map(none).transpose()?,
        options: query.options,
    })
}

impl Cluster {
    /// Runs the query on every rank, with replicated operands.
    fn query_replicated<R>(&self, query: &Comparison, run: impl FnOnce(&Comparison) -> Result<R>) -> Result<R> {
        let inner = &self.0.inner;
        let x = query.x.download()?;
        let y = query.y.as_ref().map(Matrix::download).transpose()?;
        let (found, _) = self.0.together("the whole on every rank", || {
            let found = run(&Comparison {
                measure: Arc::clone(&query.measure),
                x: inner.upload(&x)?,
                y: y.map(|y| inner.upload(&y)).transpose()?,
                options: query.options,
            })?;
            Ok((found, 0))
        })?;
        Ok(found)
    }
    /// Runs this rank's rows of X against the tiles of all ranks. `each` receives the local query, the row range of Y,
    /// and the rank that owns the tile. Returns false if the query must run on replicated operands instead.
    fn ring(
        &self,
        name: &str,
        query: &Comparison,
        mut each: impl FnMut(&Comparison, Range<usize>, usize) -> Result<()>,
    ) -> Result<bool> {
        let shared = &self.0;
        let (world, inner) = (&*shared.world, &shared.inner);
        let (rank, size) = (world.rank(), world.size());
        let m = query.shape().1;
        let ((x, y, mut bytes), _) = shared.together(name, || {
            // Both calls are collective, so the second runs even if the first fails.
            let (x, y) = (shared.rows_of(&query.x), query.y.as_ref().map(|y| shared.rows_of(y)).transpose());
            let (x, y) = (x?, y?);
            let bytes = matrix_bytes(y.as_ref().unwrap_or(&x))?;
            Ok(((x, y, bytes), 0))
        })?;
        if !shared.all_ordinary(query, &Vec::from_iter([Some(&x), y.as_ref()].into_iter().flatten()))? {
            return Ok(false);
        }
        let mut local = inner.upload(&x).map(|x| {
            let (measure, options) = (Arc::clone(&query.measure), query.options);
            Comparison { measure, x, y: None, options }
        });
        // A failed rank keeps passing tiles on.
        for step in 0..size {
            let whose = (rank + step) % size;
            local = local.and_then(|mut local| {
                let alone = whose == rank && query.y.is_none();
                local.y = if alone { None } else { Some(inner.upload(&matrix_of(query.x.ty(), &bytes)?)?) };
                local.options.exclude_self = alone && query.options.exclude_self;
                each(&local, share_of(world, m, whose), whose)?;
                Ok(local)
            });
            if step + 1 < size {
                let mut lengths = vec![0; size];
                lengths[(rank + size - 1) % size] = bytes.len();
                bytes = world.exchange(&Parts { bytes, lengths })?.bytes;
            }
        }
        let made = local.map(drop);
        if shared.any_refused(&made) {
            return Ok(false);
        }
        shared.finish(made.map(|()| ((), 0)))?;
        Ok(true)
    }
    fn nearest_as<T: Float>(&self, query: &Comparison, k: usize) -> Result<Option<Neighbours>>
    where
        Neighbours: From<distance::Neighbours<T>>,
    {
        let ((n, m), k) = (query.shape(), query.neighbours(k));
        let mine = share_of(&*self.0.world, n, self.rank()).len();
        let (mut nearest, mut how) = (NearestRows::<T>::new(mine, k, query.measure.is_similarity()), String::new());
        let done = self.ring("neighbours", query, |local, rows, _| {
            let found = self.0.inner.neighbours(local, k)?;
            how = found.explain().to_owned();
            nearest.take(&found, rows.start)
        })?;
        if !done {
            return Ok(None);
        }
        self.gathered_neighbours((n, m), &nearest, &how).map(Some)
    }
    /// Gathers the neighbour lists of all rows on every rank.
    fn gathered_neighbours<T: Float>(
        &self,
        (n, m): (usize, usize),
        nearest: &NearestRows<T>,
        how: &str,
    ) -> Result<Neighbours>
    where
        Neighbours: From<distance::Neighbours<T>>,
    {
        let (k, ranks) = (nearest.k, self.size());
        let (mut nearest, _) = self.0.together("neighbours of all rows", || {
            let mine = list_bytes(&nearest.indices, &nearest.distances);
            let ((), parts) = self.0.world.gather(mine.map(|mine| ((), mine)))?;
            let (mut indices, mut distances) = (reserved(n * k, "neighbours")?, reserved(n * k, "distances")?);
            for bytes in parts.iter() {
                let (part, of) = list_of::<T>(bytes)?;
                indices.extend_from_slice(&part);
                distances.extend_from_slice(&of);
            }
            Ok((distance::Neighbours::from_parts((n, m), k, indices, distances)?, 0))
        })?;
        nearest.explain = format!("tiles of {ranks} ranks; the last here: {how}");
        Ok(nearest.into())
    }
}

/// The nearest rows found so far, up to k per row of this rank.
struct NearestRows<T> {
    rows: usize,
    k: usize,
    similarity: bool,
    /// Current length of each row's list.
    width: usize,
    indices: Vec<u32>,
    distances: Vec<T>,
}

impl<T: Float> NearestRows<T> {
    fn new(rows: usize, k: usize, similarity: bool) -> Self {
        Self { rows, k, similarity, width: 0, indices: Vec::new(), distances: Vec::new() }
    }
    /// Ranking key: distance, NaN last, then row number.
    fn code(&self, distance: T, j: u32) -> u128 {
        let x = distance.as_f64();
        let far = if self.similarity { 0.0 - x } else { x + 0.0 };
        let bits = if far.is_nan() { f64::NAN } else { far }.to_bits();
        let bits = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
        u128::from(bits) << 32 | u128::from(j)
    }
    /// Merges the neighbours found in a tile whose rows start at `first`.
    fn take(&mut self, found: &Neighbours, first: usize) -> Result<()> {
        let distances = found.distances().get::<T>().ok_or_else(unfit)?;
        self.merge(found.k(), found.indices(), distances, first)
    }
    fn merge(&mut self, k: usize, indices: &[u32], distances: &[T], first: usize) -> Result<()> {
        let width = self.k.min(self.width + k);
        let total = self.rows * width;
        let (mut to, mut far) = (reserved(total, "neighbours")?, reserved(total, "distances")?);
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

/// Serialized neighbour lists: indices, then distances.
fn list_bytes<T: Float>(indices: &[u32], distances: &[T]) -> Result<Vec<u8>> {
    let mut to = buffer(indices.len() * (4 + size_of::<T>()))?;
    put_indices(&mut to, indices.iter().copied());
    to.extend_from_slice(&bytes_of(Slice::of(distances))?);
    Ok(to)
}

fn list_of<T: Float>(bytes: &[u8]) -> Result<(Vec<u32>, Vec<T>)> {
    let n = bytes.len() / (4 + size_of::<T>());
    let mut from = Bytes(bytes);
    let indices = collected(n, from.indices(n)?, "neighbours")?;
    Ok((indices, values(from.0)?))
}

/// A distributed index of the rows of Y: one local index per rank.
struct DistributedIndex {
    shared: Arc<Shared>,
    measure: Arc<dyn Measure>,
    options: Options,
    shape: (usize, usize),
    ty: Type,
    /// This rank's rows, in host memory.
    rows: Matrix,
    index: RowIndex,
}

impl fmt::Debug for DistributedIndex {
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

impl EngineIndex for DistributedIndex {
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

impl DistributedIndex {
    /// The query of X against the indexed rows, without the index.
    fn query(&self, x: &Matrix) -> Result<Comparison> {
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
    /// Queries this rank's index with all rows of X; `None` if the query must run on replicated operands.
    fn query_index<R>(
        &self,
        name: &str,
        rows: &DistributedIndex,
        x: &Matrix,
        run: impl FnOnce(&Matrix) -> Result<R>,
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
        let query = Comparison { measure: Arc::clone(&rows.measure), x, y: None, options: rows.options };
        if self.size() > 1 && !shared.all_ordinary(&query, &[&query.x, &rows.rows])? {
            return Ok(None);
        }
        let made = shared.inner.upload(&query.x).and_then(|x| run(&x));
        if shared.any_refused(&made) {
            return Ok(None);
        }
        Ok(Some(shared.finish(made.map(|made| (made, 0)))?.0))
    }
    fn nearest_of_as<T: Float>(&self, rows: &DistributedIndex, x: &Matrix, k: usize) -> Result<Option<Neighbours>>
    where
        Neighbours: From<distance::Neighbours<T>>,
    {
        let (shared, world) = (&self.0, &*self.0.world);
        let ((n, m), ranks) = ((x.shape().0, rows.shape.0), self.size());
        let run = |x: &Matrix| shared.inner.knn_of_index(&rows.index, x, k);
        let Some(found) = self.query_index("neighbours in an index", rows, x, run)? else { return Ok(None) };
        let mine = share_of(world, n, self.rank()).len();
        let mut nearest = NearestRows::<T>::new(mine, k.min(m), rows.measure.is_similarity());
        shared.together("neighbours of all indexes", || {
            let k = found.k();
            let to = found.distances().get::<T>().ok_or_else(unfit).and_then(|distances| {
                let to = (0..ranks).map(|rank| {
                    let of = share_of(world, n, rank);
                    list_bytes(&found.indices()[of.start * k..of.end * k], &distances[of.start * k..of.end * k])
                });
                Ok(((), Parts::of(to)?))
            });
            for (rank, bytes) in world.all_to_all(to)?.1.iter().enumerate() {
                let of = share_of(world, m, rank);
                let (indices, distances) = list_of::<T>(bytes)?;
                nearest.merge(nearest.k.min(of.len()), &indices, &distances, of.start)?;
            }
            Ok(((), 0))
        })?;
        self.gathered_neighbours((n, m), &nearest, found.explain()).map(Some)
    }
}

impl DistanceEngine for Cluster {
    fn all(&self, query: &Comparison, out: &mut SliceMut<'_>) -> Result<String> {
        fn by_tiles<T: Float>(cluster: &Cluster, query: &Comparison, out: &mut SliceMut<'_>) -> Result<Option<String>> {
            let (n, m) = query.shape();
            let (mine, ranks) = (share_of(&*cluster.0.world, n, cluster.rank()).len(), cluster.size());
            let mut rows: Vec<T> = Vec::new();
            let mut how = String::new();
            let done = cluster.ring("distances", query, |local, cols, _| {
                if rows.is_empty() {
                    rows = reserved(mine * m, "distances")?;
                    rows.resize(mine * m, T::ZERO);
                }
                let mut tile: Vec<T> = reserved(mine * cols.len(), "distances")?;
                tile.resize(mine * cols.len(), T::ZERO);
                how = cluster.0.inner.distances_into(local, &mut SliceMut::of(&mut tile))?;
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
                    let part = values::<T>(bytes)?;
                    out.get_mut(at..at + part.len()).ok_or_else(broken)?.copy_from_slice(&part);
                    at += part.len();
                }
                Ok(((), 0))
            })?;
            Ok(Some(format!("tiles of {ranks} ranks; the last here: {how}")))
        }
        if self.size() > 1 {
            with_float!(query.x.ty(), T => {
                host().distances_into(&without_rows(query)?, &mut SliceMut::of::<T>(&mut []))
            })?;
            let done = with_float!(query.x.ty(), T => by_tiles::<T>(self, query, out))?;
            if let Some(how) = done {
                return Ok(how);
            }
        }
        self.query_replicated(query, |query| self.0.inner.distances_into(query, out))
    }
    fn nearest(&self, query: &Comparison, k: usize) -> Result<Neighbours> {
        if self.size() > 1 {
            host().neighbours(&without_rows(query)?, k)?;
            if let Some(nearest) = with_float!(query.x.ty(), T => self.nearest_as::<T>(query, k))? {
                return Ok(nearest);
            }
        }
        self.query_replicated(query, |query| self.0.inner.neighbours(query, k))
    }
    fn within(&self, query: &Comparison, radius: f64) -> Result<Matrix> {
        let shared = &self.0;
        let shape = query.shape();
        let made = |block: Matrix, nnz| Matrix::from(Block { shared: Arc::clone(shared), shape, nnz, block });
        if self.size() == 1 {
            let block = self.query_replicated(query, |query| shared.inner.within(query, radius))?;
            let nnz = block.nnz();
            return Ok(made(block, nnz));
        }
        host().within(&without_rows(query)?, radius)?;
        let mut tiles: Vec<Option<Matrix>> = vec![None; self.size()];
        let done = self.ring("radius", query, |local, _, whose| {
            tiles[whose] = Some(shared.inner.within(local, radius)?.download()?);
            Ok(())
        })?;
        if !done {
            let (block, nnz) = self.query_replicated(query, |query| {
                let whole = shared.inner.within(query, radius)?;
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
        Ok(RowIndex::new(DistributedIndex { shared, measure, options, shape: y.shape(), ty: y.ty(), rows, index }))
    }
    fn load_index(&self, _: &Path, _: Type) -> Result<RowIndex> {
        Err(no_file())
    }
    fn nearest_of(&self, index: &RowIndex, x: &Matrix, k: usize) -> Result<Neighbours> {
        let rows = index.on::<DistributedIndex>()?;
        match with_float!(rows.ty, T => self.nearest_of_as::<T>(rows, x, k))? {
            Some(nearest) => Ok(nearest),
            None => self.query_replicated(&rows.query(x)?, |query| self.0.inner.neighbours(query, k)),
        }
    }
    fn within_of(&self, index: &RowIndex, x: &Matrix, radius: f64) -> Result<Matrix> {
        let (rows, shared) = (index.on::<DistributedIndex>()?, &self.0);
        let run = |x: &Matrix| shared.inner.radius_of_index(&rows.index, x, radius);
        let Some(entries) = self.query_index("entries of an index within a radius", rows, x, run)? else {
            return self.within(&rows.query(x)?, radius);
        };
        let shape = (x.shape().0, rows.shape.0);
        let first = share_of(&*shared.world, shape.1, self.rank()).start;
        let (block, nnz) = shared.together("entries of all within a radius", || {
            let block = shared.routed(shape, Triplets::of(&entries, |i, j| Some((i, first + j))), None)?;
            let nnz = block.nnz();
            Ok((block, nnz))
        })?;
        Ok(Matrix::from(Block { shared: Arc::clone(shared), shape, nnz, block }))
    }
}

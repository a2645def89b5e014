//! Routing of entries to the ranks that own them.

use std::sync::Arc;

use sparring::algebra::{Array, Type};
use sparring::par::Threads;
use sparring::runtime::engine::{bytes_of, values_of};
use sparring::runtime::{BinaryOp, IndexList, Machine, Matrix, Op, Vector};
use sparring::{Cpu, Error, Result};

use crate::cluster::Shared;
use crate::link::Parts;
use crate::wire::{Bytes, broken, buffer, put_indices, put_word, reserved};

/// Triples of a matrix with global indices, in the order in which duplicates are combined.
pub(crate) struct Triplets {
    pub(crate) ty: Type,
    pub(crate) rows: Vec<usize>,
    pub(crate) cols: Vec<usize>,
    pub(crate) values: Vec<u8>,
}

impl Triplets {
    /// No entries.
    pub(crate) fn none(ty: Type) -> Self {
        Self { ty, rows: Vec::new(), cols: Vec::new(), values: Vec::new() }
    }
    /// The entries of a matrix, each at the position `to` maps it to; entries mapped to `None` are dropped.
    pub(crate) fn of(a: &Matrix, to: impl Fn(usize, usize) -> Option<(usize, usize)>) -> Result<Self> {
        let here = a.download()?;
        let (pattern, values) = (here.pattern().ok_or_else(broken)?, here.values().ok_or_else(broken)?);
        let (ty, size, bytes) = (values.ty(), values.ty().size(), bytes_of(values)?);
        let n = pattern.nnz();
        let mut made =
            Self { ty, rows: reserved(n, "rows")?, cols: reserved(n, "columns")?, values: buffer(bytes.len())? };
        for i in 0..pattern.nrows() {
            for p in pattern.row_ptr()[i]..pattern.row_ptr()[i + 1] {
                if let Some((row, col)) = to(i, pattern.col_idx()[p] as usize) {
                    made.rows.push(row);
                    made.cols.push(col);
                    made.values.extend_from_slice(&bytes[p * size..(p + 1) * size]);
                }
            }
        }
        Ok(made)
    }
    /// Converts i64 values to u64 if `ty` is u64.
    pub(crate) fn widen(&mut self, ty: Type) -> Result<()> {
        if ty != Type::U64 || self.ty == ty {
            return Ok(());
        }
        // Nonnegative numbers have the same bytes in both types.
        if let Some(number) = self.values.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).find(|x| *x < 0) {
            let what = format!("the value {number} beside values beyond i64");
            return Err(Error::Unsupported { what, why: "no type of whole numbers has both".into() });
        }
        self.ty = ty;
        Ok(())
    }
    /// The entries of a vector, mapped likewise.
    pub(crate) fn of_vector(x: &Vector, to: impl Fn(usize) -> Option<(usize, usize)>) -> Result<Self> {
        let (indices, values) = x.download()?.entries()?;
        let (ty, size, bytes) = (values.ty(), values.ty().size(), bytes_of(values.slice())?);
        let n = indices.len();
        let mut made =
            Self { ty, rows: reserved(n, "rows")?, cols: reserved(n, "columns")?, values: buffer(bytes.len())? };
        for (p, &index) in indices.iter().enumerate() {
            if let Some((row, col)) = to(index as usize) {
                made.rows.push(row);
                made.cols.push(col);
                made.values.extend_from_slice(&bytes[p * size..(p + 1) * size]);
            }
        }
        Ok(made)
    }
    /// A message for each rank. `owner` maps global indices to the owning rank and the local indices there.
    fn sent(&self, ranks: usize, owner: impl Fn(usize, usize) -> (usize, u32, u32)) -> Result<Vec<Vec<u8>>> {
        let size = self.ty.size();
        let at: Vec<(usize, u32, u32)> = self.rows.iter().zip(&self.cols).map(|(&i, &j)| owner(i, j)).collect();
        let mut counts = vec![0; ranks];
        at.iter().for_each(|to| counts[to.0] += 1);
        let mut by_rank =
            counts.iter().map(|&n| reserved::<usize>(n, "entries to send")).collect::<Result<Vec<_>>>()?;
        at.iter().enumerate().for_each(|(p, to)| by_rank[to.0].push(p));
        let message = |entries: &Vec<usize>| {
            let mut to = buffer(8 + entries.len() * (8 + size))?;
            put_word(&mut to, entries.len());
            put_indices(&mut to, entries.iter().map(|&p| at[p].1));
            put_indices(&mut to, entries.iter().map(|&p| at[p].2));
            entries.iter().for_each(|&p| to.extend_from_slice(&self.values[p * size..(p + 1) * size]));
            Ok(to)
        };
        by_rank.iter().map(message).collect()
    }
}

/// Entries received from all ranks, concatenated.
#[derive(Default)]
struct Arrived {
    rows: Vec<u32>,
    cols: Vec<u32>,
    values: Vec<u8>,
}

impl Arrived {
    /// Appends received messages with values of type `ty`.
    fn take(&mut self, ty: Type, from: &Parts) -> Result<()> {
        let each = 8 + ty.size();
        let total = from.bytes.len() / each;
        let wrong = |_| Error::OutOfMemory { bytes: total as u128 * each as u128, what: "entries" };
        self.rows.try_reserve(total).map_err(wrong)?;
        self.cols.try_reserve(total).map_err(wrong)?;
        self.values.try_reserve(total * ty.size()).map_err(wrong)?;
        for bytes in from.iter() {
            let mut bytes = Bytes(bytes);
            let n = bytes.word()?;
            self.rows.extend(bytes.indices(n)?);
            self.cols.extend(bytes.indices(n)?);
            self.values.extend_from_slice(bytes.take(n * ty.size())?);
        }
        Ok(())
    }
    fn entries(mut self, ty: Type) -> Result<(Vec<u32>, Vec<u32>, Array)> {
        let values = values_of(ty, &mut self.values)?;
        Ok((self.rows, self.cols, values))
    }
}

impl Shared {
    /// The matrix of these entries, built by the threads of this rank.
    fn built(
        &self,
        shape: (usize, usize),
        entries: (Vec<u32>, Vec<u32>, Array),
        dup: Option<&BinaryOp>,
    ) -> Result<Matrix> {
        let current = Threads::current();
        Matrix::build(self.inner.threads().unwrap_or(&current), shape, entries, dup)
    }
    /// This rank's block of the matrix assembled from the entries of all ranks. Duplicates are combined by `dup` in
    /// rank order, or are an error without it.
    ///
    /// Collective; a rank that has an error instead of entries must also call it.
    pub(crate) fn routed(
        self: &Arc<Self>,
        shape: (usize, usize),
        entries: Result<Triplets>,
        dup: Option<&BinaryOp>,
    ) -> Result<Matrix> {
        let mut arrived = Arrived::default();
        let ty = self.arrive(shape, entries, &mut arrived)?;
        self.block_of_arrived(shape, arrived.entries(ty)?, dup)
    }
    /// [`routed`](Self::routed) in several rounds, at least one and equally many on all ranks; duplicates are combined
    /// in round order.
    pub(crate) fn routed_in_rounds(
        self: &Arc<Self>,
        shape: (usize, usize),
        rounds: impl Iterator<Item = Result<Triplets>>,
        dup: Option<&BinaryOp>,
    ) -> Result<Matrix> {
        let (mut arrived, mut ty) = (Arrived::default(), Type::Bool);
        for round in rounds {
            let made = self.arrive(shape, round, &mut arrived);
            ty = self.ready(made)?;
        }
        self.block_of_arrived(shape, arrived.entries(ty)?, dup)
    }
    /// Sends entries to their owners and appends those received; returns their type.
    fn arrive(&self, shape: (usize, usize), entries: Result<Triplets>, arrived: &mut Arrived) -> Result<Type> {
        let ((m, n), grid) = (shape, self.grid);
        let to = entries.and_then(|entries| {
            let to = entries.sent(self.world.size(), |row, col| {
                let at = (grid.row_of(m, row), grid.col_of(n, col));
                let (rows, cols) = (grid.rows(m, at.0), grid.cols(n, at.1));
                (grid.rank(at), (row - rows.start) as u32, (col - cols.start) as u32)
            });
            Ok((entries.ty, Parts::of(&to?)))
        });
        let (ty, got) = self.world.all_to_all(to)?;
        arrived.take(ty, &got)?;
        Ok(ty)
    }
    fn block_of_arrived(
        &self,
        shape: (usize, usize),
        entries: (Vec<u32>, Vec<u32>, Array),
        dup: Option<&BinaryOp>,
    ) -> Result<Matrix> {
        let (rows, cols) = self.grid.block(shape);
        let block = self.built((rows.len(), cols.len()), entries, dup)?;
        self.inner.upload(&block)
    }
    /// This rank's piece of the vector assembled from the entries of all ranks, indexed by their rows.
    pub(crate) fn routed_vector(
        self: &Arc<Self>,
        len: usize,
        entries: Result<Triplets>,
        dup: Option<&BinaryOp>,
    ) -> Result<Vector> {
        let grid = self.grid;
        let to = entries.and_then(|entries| {
            let to = entries.sent(self.world.size(), |index, _| {
                let rank = grid.rank_of(len, index);
                (rank, 0, (index - grid.piece_of(len, grid.coords_of(rank)).start) as u32)
            });
            Ok((entries.ty, Parts::of(&to?)))
        });
        let (ty, got) = self.world.all_to_all(to)?;
        let mut arrived = Arrived::default();
        arrived.take(ty, &got)?;
        let row = self.built((1, grid.piece(len).len()), arrived.entries(ty)?, dup)?;
        let piece: Vector = Machine::from(Cpu::new()).call(Op::ExtractRow(0, &IndexList::all()), &row).eval()?;
        self.inner.upload_vector(&piece)
    }
}

//! Routing of entries to the ranks that own them.

use std::sync::Arc;

use sparring::algebra::{Array, Type};
use sparring::par::Threads;
use sparring::runtime::engine::{bytes_of, values_of};
use sparring::runtime::{BinaryOp, IndexList, Machine, Matrix, Op, Vector};
use sparring::{Cpu, Error, Result};

use crate::cluster::Shared;
use crate::link::Parts;
use crate::wire::{Bytes, broken, buffer, collected, grow, put_indices, put_word, reserved};

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
    /// No entries, with capacity for `n`.
    fn reserved(ty: Type, n: usize) -> Result<Self> {
        let (rows, cols) = (reserved(n, "rows")?, reserved(n, "columns")?);
        Ok(Self { ty, rows, cols, values: buffer(n * ty.size())? })
    }
    /// Appends an entry, given by the bytes of its value, if it has a position.
    fn put(&mut self, to: Option<(usize, usize)>, value: &[u8]) {
        if let Some((row, col)) = to {
            self.rows.push(row);
            self.cols.push(col);
            self.values.extend_from_slice(value);
        }
    }
    /// The entries of a matrix, each at the position `to` maps it to; entries mapped to `None` are dropped.
    pub(crate) fn of(a: &Matrix, to: impl Fn(usize, usize) -> Option<(usize, usize)>) -> Result<Self> {
        let here = a.download()?;
        let (pattern, values) = (here.pattern().ok_or_else(broken)?, here.values().ok_or_else(broken)?);
        let (size, bytes) = (values.ty().size(), bytes_of(values)?);
        let mut made = Self::reserved(values.ty(), pattern.nnz())?;
        for i in 0..pattern.nrows() {
            for p in pattern.row_ptr()[i]..pattern.row_ptr()[i + 1] {
                made.put(to(i, pattern.col_idx()[p] as usize), &bytes[p * size..(p + 1) * size]);
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
        let (size, bytes) = (values.ty().size(), bytes_of(values.slice())?);
        let mut made = Self::reserved(values.ty(), indices.len())?;
        for (p, &index) in indices.iter().enumerate() {
            made.put(to(index as usize), &bytes[p * size..(p + 1) * size]);
        }
        Ok(made)
    }
    /// A message for each rank. `owner` maps global indices to the owning rank and the local indices there.
    fn sent(&self, ranks: usize, owner: impl Fn(usize, usize) -> (usize, u32, u32)) -> Result<Parts> {
        let (n, size) = (self.rows.len(), self.ty.size());
        let at = self.rows.iter().zip(&self.cols).map(|(&i, &j)| owner(i, j));
        let at = collected(n, at, "owners of entries")?;
        let groups = grouped(at.iter().map(|to| to.0), ranks)?;
        let mut made = Parts { bytes: buffer(8 * ranks + n * (8 + size))?, lengths: reserved(ranks, "ranks")? };
        for of in groups {
            put_word(&mut made.bytes, of.len());
            put_indices(&mut made.bytes, of.iter().map(|&p| at[p].1));
            put_indices(&mut made.bytes, of.iter().map(|&p| at[p].2));
            of.iter().for_each(|&p| made.bytes.extend_from_slice(&self.values[p * size..(p + 1) * size]));
            made.lengths.push(8 + of.len() * (8 + size));
        }
        Ok(made)
    }
}

/// The increasing positions of each rank in a list of owners.
pub(crate) fn grouped(owners: impl Iterator<Item = usize> + Clone, ranks: usize) -> Result<Vec<Vec<usize>>> {
    let mut counts = vec![0; ranks];
    owners.clone().for_each(|rank| counts[rank] += 1);
    let mut groups = counts.iter().map(|&n| reserved(n, "entries to send")).collect::<Result<Vec<_>>>()?;
    owners.enumerate().for_each(|(position, rank)| groups[rank].push(position));
    Ok(groups)
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
        let total = from.bytes.len() / (8 + ty.size());
        grow(&mut self.rows, total, "entries")?;
        grow(&mut self.cols, total, "entries")?;
        grow(&mut self.values, total * ty.size(), "entries")?;
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
        let ty = self.arrive(entries, &mut arrived, |row, col| self.owner(shape, (row, col)))?;
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
            let made = self.arrive(round, &mut arrived, |row, col| self.owner(shape, (row, col)));
            ty = self.ready(made)?;
        }
        self.block_of_arrived(shape, arrived.entries(ty)?, dup)
    }
    /// The rank that owns an entry of a matrix, and its indices in the block there.
    fn owner(&self, (m, n): (usize, usize), (row, col): (usize, usize)) -> (usize, u32, u32) {
        let grid = self.grid;
        let at = (grid.row_of(m, row), grid.col_of(n, col));
        let (rows, cols) = (grid.rows(m, at.0), grid.cols(n, at.1));
        (grid.rank(at), (row - rows.start) as u32, (col - cols.start) as u32)
    }
    /// Sends entries to their owners and appends those received; returns their type.
    fn arrive(
        &self,
        entries: Result<Triplets>,
        arrived: &mut Arrived,
        owner: impl Fn(usize, usize) -> (usize, u32, u32),
    ) -> Result<Type> {
        let to = entries.and_then(|entries| Ok((entries.ty, entries.sent(self.world.size(), owner)?)));
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
        let (grid, mut arrived) = (self.grid, Arrived::default());
        let ty = self.arrive(entries, &mut arrived, |index, _| {
            let rank = grid.rank_of(len, index);
            (rank, 0, (index - grid.piece_of(len, grid.coords_of(rank)).start) as u32)
        })?;
        let row = self.built((1, grid.piece(len).len()), arrived.entries(ty)?, dup)?;
        let piece: Vector = Machine::from(Cpu::new()).call(Op::ExtractRow(0, &IndexList::all()), &row).eval()?;
        self.inner.upload_vector(&piece)
    }
}

//! Entries to the ranks that hold their places.

use std::sync::Arc;

use sparring::algebra::{Array, Type};
use sparring::par::Threads;
use sparring::runtime::engine::{bytes_of, values_of};
use sparring::runtime::{BinaryOp, IndexList, Machine, Matrix, Op, Vector};
use sparring::{Cpu, Error, Result};

use crate::cluster::Shared;
use crate::link::Parts;
use crate::wire::{Bytes, broken, buffer, put_indices, put_word, reserved};

/// Entries of a matrix at places of the whole, in the order in which they are to be joined.
pub(crate) struct Triplets {
    pub(crate) ty: Type,
    pub(crate) rows: Vec<usize>,
    pub(crate) cols: Vec<usize>,
    pub(crate) values: Vec<u8>,
}

impl Triplets {
    /// The entries of a matrix, each moved: those for which `to` gives no place are left out.
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
    /// The entries of a vector, likewise.
    pub(crate) fn of_vector(x: &Vector, to: impl Fn(usize) -> Option<(usize, usize)>) -> Result<Self> {
        let (places, values) = x.download()?.entries()?;
        let (ty, size, bytes) = (values.ty(), values.ty().size(), bytes_of(values.slice())?);
        let n = places.len();
        let mut made =
            Self { ty, rows: reserved(n, "rows")?, cols: reserved(n, "columns")?, values: buffer(bytes.len())? };
        for (p, &place) in places.iter().enumerate() {
            if let Some((row, col)) = to(place as usize) {
                made.rows.push(row);
                made.cols.push(col);
                made.values.extend_from_slice(&bytes[p * size..(p + 1) * size]);
            }
        }
        Ok(made)
    }
    /// Those for each rank, by `holder`, which gives its number and the place within what it holds.
    fn sent(&self, ranks: usize, holder: impl Fn(usize, usize) -> (usize, u32, u32)) -> Result<Vec<Vec<u8>>> {
        let size = self.ty.size();
        let at: Vec<(usize, u32, u32)> = self.rows.iter().zip(&self.cols).map(|(&i, &j)| holder(i, j)).collect();
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

/// What came from all ranks, one behind the other.
fn received(ty: Type, from: &Parts) -> Result<(Vec<u32>, Vec<u32>, Array)> {
    let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let total = from.bytes.len();
    values.try_reserve(total).map_err(|_| Error::OutOfMemory { bytes: total as u128, what: "entries" })?;
    for bytes in from.iter() {
        let mut bytes = Bytes(bytes);
        let n = bytes.word()?;
        rows.extend(bytes.indices(n)?);
        cols.extend(bytes.indices(n)?);
        values.extend_from_slice(bytes.take(n * ty.size())?);
    }
    Ok((rows, cols, values_of(ty, &mut values)?))
}

impl Shared {
    /// The matrix of these entries, made by the threads of this rank.
    fn built(
        &self,
        shape: (usize, usize),
        entries: (Vec<u32>, Vec<u32>, Array),
        dup: Option<&BinaryOp>,
    ) -> Result<Matrix> {
        let current = Threads::current();
        Matrix::build(self.inner.threads().unwrap_or(&current), shape, entries, dup)
    }
    /// The block of this rank, of the matrix of the entries that all ranks bring; repeats are joined by `dup` in the order
    /// of ranks, or are an error.
    ///
    /// Collective also where a rank has no entries to bring but an error.
    pub(crate) fn routed(
        self: &Arc<Self>,
        shape: (usize, usize),
        entries: Result<Triplets>,
        dup: Option<&BinaryOp>,
    ) -> Result<Matrix> {
        let (m, n) = shape;
        let grid = self.grid;
        let to = entries.and_then(|entries| {
            let to = entries.sent(self.world.size(), |row, col| {
                let at = (grid.row_of(m, row), grid.col_of(n, col));
                let (rows, cols) = (grid.rows(m, at.0), grid.cols(n, at.1));
                (grid.rank(at), (row - rows.start) as u32, (col - cols.start) as u32)
            });
            Ok((entries.ty, Parts::of(&to?)))
        });
        let (ty, got) = self.world.deal(to)?;
        let parts = received(ty, &got)?;
        let (rows, cols) = grid.block(shape);
        let block = self.built((rows.len(), cols.len()), parts, dup)?;
        self.inner.upload(&block)
    }
    /// The piece of this rank, of the vector of the entries that all ranks bring, their places being their rows.
    pub(crate) fn routed_vector(
        self: &Arc<Self>,
        len: usize,
        entries: Result<Triplets>,
        dup: Option<&BinaryOp>,
    ) -> Result<Vector> {
        let grid = self.grid;
        let to = entries.and_then(|entries| {
            let to = entries.sent(self.world.size(), |place, _| {
                let rank = grid.rank_of(len, place);
                (rank, 0, (place - grid.piece_of(len, grid.place_of(rank)).start) as u32)
            });
            Ok((entries.ty, Parts::of(&to?)))
        });
        let (ty, got) = self.world.deal(to)?;
        let parts = received(ty, &got)?;
        let row = self.built((1, grid.piece(len).len()), parts, dup)?;
        let piece: Vector = Machine::from(Cpu::new()).call(Op::ExtractRow(0, &IndexList::all()), &row).eval()?;
        self.inner.upload_vector(&piece)
    }
}

//! Matrix products: operands are gathered along lines of the grid, partial results folded along the other lines.

use sparring::algebra::Slice;
use sparring::runtime::engine::{EnginePlan, raw_entries, values_of};
use sparring::runtime::{IndexList, Machine, Matrix, Op, Operation, Plan, Semiring, Stats, Vector};
use sparring::spgemm::Options;
use sparring::{Cpu, Error, Result};

use crate::blocks::{Block, Piece};
use crate::cluster::Shared;
use crate::fold::{Line, added};
use crate::link::Parts;
use crate::wire::{broken, buffer, collected, raw};

/// Maximum number of column strips of a product.
const MOST_STAGES: u64 = 64;

/// This rank's part of a mask, and whether it is complemented.
pub(crate) type Mask<'a, X> = Option<(&'a X, bool)>;

/// This rank's block of C⟨M⟩ = A ⊕.⊗ B. All products of an entry are computed on one rank, in the order of a single
/// rank.
pub(crate) fn mxm(
    shared: &Shared,
    (ring, options): (&Semiring, &Options),
    a: &Block,
    b: &Block,
    mask: Mask<'_, Matrix>,
) -> Result<Matrix> {
    let (left, stages) = (shared.row_panel(a), shared.stages(b));
    let (rows, cols) = shared.grid.block((a.shape.0, b.shape.1));
    if stages == 1 {
        // Both gathers are collective, so the second runs even if the first fails.
        let right = shared.column_panel(b);
        let (left, right) = (left?, right?);
        let ring = ring.shifted([rows.start as u64, 0, cols.start as u64]);
        return Ok(shared.inner.mxm_with(&ring, &left, &right, mask, options)?.into_matrix());
    }
    let n = cols.len();
    let strip = |k: usize| n * k / stages..n * (k + 1) / stages;
    let multiply = |k: usize, right: Result<Matrix>| -> Result<Matrix> {
        let (left, right) = (left.as_ref().map_err(other)?, right?);
        let ring = ring.shifted([rows.start as u64, 0, (cols.start + strip(k).start) as u64]);
        let of_mask = match mask {
            None => None,
            Some((mask, complement)) => {
                let range = IndexList::from(strip(k));
                let all = IndexList::all();
                let call = shared.inner.call(Op::Extract(&all, &range), mask);
                Some((call.eval::<Matrix>()?, complement))
            }
        };
        let of_mask = of_mask.as_ref().map(|(mask, complement)| (mask, *complement));
        Ok(shared.inner.mxm_with(&ring, left, &right, of_mask, options)?.into_matrix())
    };
    // The next strip is gathered while the current one is multiplied. All strips are gathered even after an error,
    // because the gathers are collective.
    let mut next = shared.column_strip(b, strip(0));
    let mut made = Vec::with_capacity(stages);
    for k in 0..stages {
        std::thread::scope(|scope| {
            let coming = (k + 1 < stages).then(|| scope.spawn(|| shared.column_strip(b, strip(k + 1))));
            made.push(multiply(k, std::mem::replace(&mut next, Err(broken()))));
            if let Some(coming) = coming {
                next = coming.join().unwrap_or_else(|_| Err(broken()));
            }
        });
    }
    let made = made.into_iter().collect::<Result<Vec<_>>>()?;
    let made: Vec<&Matrix> = made.iter().collect();
    shared.inner.upload(&shared.inner.concat(&[&made])?)
}

/// A copy of an error, for each of several strips.
fn other(error: &Error) -> Error {
    Error::Device { what: "operand".into(), message: error.to_string() }
}

impl Shared {
    /// Number of column strips of B, so that about [`set_stage_bytes`](crate::Cluster::set_stage_bytes) bytes of it are
    /// gathered per stage; the same on all ranks.
    fn stages(&self, b: &Block) -> usize {
        let bytes = b.block.nnz() * (4 + b.block.ty().size()) + 4 * b.block.shape().0;
        let all = self.world.all_words([bytes as u64, self.stage_bytes()]);
        let (largest, stage) = all.iter().fold((0, u64::MAX), |(a, b), w| (a.max(w[0]), b.min(w[1])));
        let panel = largest.saturating_mul(self.col.size() as u64);
        if self.col.size() == 1 { 1 } else { panel.div_ceil(stage.max(1)).clamp(1, MOST_STAGES) as usize }
    }
}

/// The semiring whose ⊗ sees global indices, for blocks with these start indices.
fn shifted_k(ring: &Semiring, row: usize, k: usize, col: usize) -> Semiring {
    ring.shifted([row as u64, k as u64, col as u64])
}

/// This rank's piece of y = A ⊕.⊗ x.
pub(crate) fn mxv(shared: &Shared, ring: &Semiring, a: &Block, x: &Piece, mask: Mask<'_, Piece>) -> Result<Vector> {
    let (m, n) = a.shape;
    if shared.folds_in_one(&ring.add()) {
        // Both gathers are collective, so the second runs even if the first fails.
        let (panel, x) = (shared.row_panel(a), shared.gathered_whole(n, &x.piece));
        let (panel, x) = (panel?, x?);
        let ring = shifted_k(ring, shared.span(Line::Row, m).start, 0, 0);
        let y: Vector = shared.inner.call(Op::Mxv(&ring), (&panel, &x)).eval()?;
        return shared.allowed(shared.own_piece(m, &y)?, mask);
    }
    let x = shared.gathered(Line::Column, n, &x.piece);
    let mask = mask.map(|(mask, c)| shared.gathered(Line::Row, m, &mask.piece).map(|mask| (mask, c))).transpose();
    let (rows, cols) = shared.grid.block((m, n));
    let local = shifted_k(ring, rows.start, cols.start, 0);
    let multiply = |x: Vector, mask: Option<(Vector, bool)>| -> Result<Vector> {
        masked(shared.inner.call(Op::Mxv(&local), (&a.block, &x)), mask.as_ref()).eval()
    };
    let part = x.and_then(|x| multiply(x, mask?));
    shared.fold(Line::Row, m, &ring.add().op(), part)
}

/// This rank's piece of y = xᵀ ⊕.⊗ A.
pub(crate) fn vxm(shared: &Shared, ring: &Semiring, x: &Piece, a: &Block, mask: Mask<'_, Piece>) -> Result<Vector> {
    let (m, n) = a.shape;
    if shared.folds_in_one(&ring.add()) {
        let (panel, x) = (shared.column_panel(a), shared.gathered_whole(m, &x.piece));
        let ring = shifted_k(ring, 0, 0, shared.span(Line::Column, n).start);
        let y = panel.and_then(|panel| shared.inner.call(Op::Vxm(&ring), (&x?, &panel)).eval());
        return shared.allowed(shared.own_piece_of_column(n, y)?, mask);
    }
    let x = shared.gathered(Line::Row, m, &x.piece);
    let mask = mask.map(|(mask, c)| shared.gathered(Line::Column, n, &mask.piece).map(|mask| (mask, c))).transpose();
    let (rows, cols) = shared.grid.block((m, n));
    let local = shifted_k(ring, 0, rows.start, cols.start);
    let multiply = |x: Vector, mask: Option<(Vector, bool)>| -> Result<Vector> {
        masked(shared.inner.call(Op::Vxm(&local), (&x, &a.block)), mask.as_ref()).eval()
    };
    let part = x.and_then(|x| multiply(x, mask?));
    shared.fold(Line::Column, n, &ring.add().op(), part)
}

impl Shared {
    /// Applies a mask to a piece.
    fn allowed(&self, piece: Vector, mask: Mask<'_, Piece>) -> Result<Vector> {
        let mask = mask.map(|(mask, complement)| (mask.piece.clone(), complement));
        masked(self.inner.call(Op::Identity, &piece), mask.as_ref()).eval()
    }
}

fn masked<'m>(call: Operation<'m>, mask: Option<&(Vector, bool)>) -> Operation<'m> {
    match mask {
        None => call,
        Some((mask, complement)) => {
            let call = call.mask(mask).structure();
            if *complement { call.complement() } else { call }
        }
    }
}

/// Y = A ⊕.⊗ X for a dense X replicated on every rank; so is the result.
pub(crate) fn spmm(shared: &Shared, ring: &Semiring, a: &Block, x: Slice<'_>, columns: usize) -> Result<Vec<u8>> {
    let (rows, cols) = shared.grid.block(a.shape);
    let part = x.part(cols.start * columns..cols.end * columns);
    let ring_here = ring.shifted([rows.start as u64, cols.start as u64, 0]);
    // A prefix of two bytes, because a message of one byte is a failure notice.
    let message = |y: Slice<'_>| {
        let mut made = buffer(2 + raw(y)?.len())?;
        made.extend_from_slice(&[0; 2]);
        made.extend_from_slice(raw(y)?);
        Ok(((), made))
    };
    let y = shared.inner.spmm(&ring_here, &a.block, part, columns).eval();
    let sum_of = |parts: Parts| -> Result<Vector> {
        let host = Machine::from(Cpu::new());
        let parts = parts.iter().map(|bytes| {
            let mut own = collected(bytes.len(), bytes.iter().skip(2).copied(), "a message")?;
            Vector::full(values_of(ring.ty(), &mut own)?)
        });
        added(&host, &ring.add().op(), parts)?.ok_or_else(broken)
    };
    let sums = shared.row.gather(y.and_then(|y| message(y.slice()))).and_then(|(_, parts)| sum_of(parts));
    let sums = sums.and_then(|sums| message(raw_entries(&sums).ok_or_else(broken)?.1));
    let (_, parts) = shared.col.gather(sums)?;
    let mut all = buffer(parts.bytes.len())?;
    parts.iter().for_each(|bytes| all.extend_from_slice(&bytes[2..]));
    Ok(all)
}

/// The symbolic phase of a product: the plan of this rank's block, on its local device.
#[derive(Clone, Debug)]
pub(crate) struct BlockPlan {
    pub(crate) plan: Plan,
    pub(crate) shape: (usize, usize),
    pub(crate) stats: Stats,
    pub(crate) grid: (usize, usize),
}

impl EnginePlan for BlockPlan {
    fn engine(&self) -> String {
        "cluster".into()
    }
    fn shape(&self) -> (usize, usize) {
        self.shape
    }
    fn explain(&self) -> String {
        let (rows, cols) = self.grid;
        format!(
            "blocks of {rows}×{cols} ranks, operands gathered along rows and columns; here: {}",
            self.plan.explain()
        )
    }
    fn stats(&self) -> Stats {
        self.stats
    }
}

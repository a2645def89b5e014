//! Distances over a NAMM whose ⊕ is not +: the union product of a block of rows at a time, and what becomes of it, see
//! `cuda/distance_block.cu`.

use std::ops::Range;
use std::sync::Arc;

use super::engine::{Lists, Part, Radius, Ready, Sizes, Way, counts};
use super::pairs::bytes_within;
use crate::Result;
use crate::algebra::{Cast, Monoid, MulOp, Real, Union};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Program, Shape, args};
use crate::gpu::memory::Buffer;
use crate::gpu::{Cuda, DeviceCsr, DevicePattern};

const SOURCE: Source = source!("distance_block.cu");
/// Bytes of a block of keys, unless one row has more or a budget is smaller.
const BLOCK: u64 = 512 << 20;
/// Keys of a row that a warp takes at most, where rows are few.
const PART: usize = 4096;

fn prefix<T: Real, W: Real>(task: &str) -> String {
    format!("typedef {} W;\ntypedef {} T;\n{task}", W::CUDA, T::CUDA)
}

/// Keys of a block of rows that are compared with `width` rows; an eighth of a budget.
fn block_keys<W>(width: usize, most: Option<u64>) -> u64 {
    let bytes = most.map_or(BLOCK, |most| BLOCK.min(most / 8));
    (bytes / size_of::<W>() as u64).max(width as u64)
}

impl<T: Real, W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>> Way<T> for Union<P, X> {
    fn bytes(&self, sizes: &Sizes, most: Option<u64>) -> [u128; 2] {
        let Sizes { nrows: (n, m), nnz, .. } = *sizes;
        let entry = 4 + size_of::<T>() as u128 + size_of::<W>() as u128;
        // Entries as they were and as they are computed with; the row of each; a block.
        let side = |nnz: usize, rows: usize| nnz as u128 * (entry + 4) + 16 * rows as u128;
        let block = u128::from(block_keys::<W>(m, most)).min(n as u128 * m as u128) * size_of::<W>() as u128;
        [side(nnz.0, n), side(nnz.1, m) + block]
    }
    fn ready(
        &self,
        cuda: &Cuda,
        x: &Part<T>,
        y: Option<&Part<T>>,
        _: bool,
        most: Option<u64>,
    ) -> Result<Box<dyn Ready<T>>> {
        let rows = |part: &Part<T>| cuda.apply(Cast::<T, W>::new(), &part.rows.matrix);
        let firsts = [x.first, y.unwrap_or(x).first];
        let x = rows(x)?;
        let y = y.map_or_else(|| Ok(x.clone()), rows)?;
        Ok(Box::new(TwoPass { namm: *self, x, y, firsts, most }))
    }
}

/// Rows of X and Y, without zeros.
struct TwoPass<W, P, X> {
    namm: Union<P, X>,
    x: DeviceCsr<W>,
    y: DeviceCsr<W>,
    /// Numbers of the first rows.
    firsts: [usize; 2],
    /// The budget.
    most: Option<u64>,
}

impl<W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>> TwoPass<W, P, X> {
    /// Rows of X and of Y.
    fn shape(&self) -> (usize, usize) {
        (self.x.shape().0, self.y.shape().0)
    }
    /// Calls `each` with the keys of some of the rows at a time, and these rows.
    fn blocks(
        &self,
        cuda: &Cuda,
        rows: Range<usize>,
        mut each: impl FnMut(&Buffer<W>, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let (_, m) = self.shape();
        if m == 0 {
            return Ok(());
        }
        let at_once = (block_keys::<W>(m, self.most) / m as u64).clamp(1, usize::MAX as u64) as usize;
        for start in rows.clone().step_by(at_once) {
            let block = start..rows.end.min(start.saturating_add(at_once));
            let x = cuda.some_rows(&self.x, block.clone())?;
            let firsts = [self.firsts[0] + start, self.firsts[1]];
            let keys = cuda.union_mxm_from(self.namm, &x, &self.y, firsts)?;
            each(&keys.values, block)?;
        }
        Ok(())
    }
    /// Parts that the rows of a block come in, and keys of each: so many that the device is busy.
    fn parts(&self, cuda: &Cuda, rows: usize) -> (usize, usize) {
        let (_, m) = self.shape();
        let warps = 32 * cuda.limits().multiprocessors as usize;
        let parts = warps.div_ceil(rows.max(1)).min(m.div_ceil(PART)).max(1);
        (parts, m.div_ceil(parts))
    }
    fn program<T: Real>(&self, cuda: &Cuda, task: &str) -> Result<Arc<Program>> {
        cuda.program(SOURCE, &prefix::<T, W>(task))
    }
}

impl<T: Real, W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>> Ready<T> for TwoPass<W, P, X> {
    fn explain(&self) -> String {
        format!("two passes over the union, for ⊕ is not +, in {}; blocks of rows as dense matrices", W::CUDA)
    }

    fn pairs(&self, cuda: &Cuda, rows: Range<usize>, out: &Buffer<T>) -> Result<()> {
        let (_, m) = self.shape();
        let write = self.program::<T>(cuda, "#define PAIRS\n")?.kernel("write_pairs")?;
        self.blocks(cuda, rows.clone(), |keys, block| {
            let blocks = keys.len().div_ceil(256).min(32 * cuda.limits().multiprocessors as usize);
            let to = out.from((block.start - rows.start) * m);
            write.launch(Shape::blocks(blocks, 256, 0)?, &[args![keys, keys.len() as u64], &[to][..]].concat())
        })
    }

    fn nearest_program(&self, cuda: &Cuda, k: usize) -> Result<Arc<Program>> {
        self.program::<T>(cuda, &Lists::text(k))
    }

    fn nearest(&self, cuda: &Cuda, k: usize, exclude_self: bool) -> Result<Lists> {
        let (n, m) = self.shape();
        let program = Ready::<T>::nearest_program(self, cuda, k)?;
        let all = Lists::new(cuda, n, k)?;
        self.blocks(cuda, 0..n, |keys, block| {
            let rows = block.len();
            let (parts, part_size) = self.parts(cuda, rows);
            // Row r of the block is row r + shift of Y here.
            let shift = ((self.firsts[0] + block.start) as u64).wrapping_sub(self.firsts[1] as u64);
            let own = if parts > 1 { Some(Lists::new(cuda, counts(rows, parts)?, k)?) } else { None };
            let to = match &own {
                Some(lists) => [(&lists.codes).into(), (&lists.ids).into()],
                None => [all.codes.from(block.start * k), all.ids.from(block.start * k)],
            };
            let sizes = args![keys, m as u64, part_size as u64, parts as u32, shift, self.firsts[1] as u32];
            let more = args![k as u32, u32::from(exclude_self)];
            let shape = Shape::blocks(rows.saturating_mul(parts), 32, Lists::shared(k))?;
            program.kernel("nearest_in_block")?.launch(shape, &[&sizes[..], more, &to].concat())?;
            match own {
                Some(lists) => lists.merge_into(&program, [rows, k, parts], &all, block.start),
                None => Ok(()),
            }
        })?;
        Ok(all)
    }

    fn within(&self, cuda: &Cuda, wanted: &Radius, allows: &dyn Fn(u128) -> Result<()>) -> Result<DeviceCsr<T>> {
        let (n, m) = self.shape();
        let (parts, part_size) = self.parts(cuda, n);
        let program = |large| self.program::<T>(cuda, &Radius::text(wanted.similarity, large));
        let (radius, exclude_self) = (wanted.radius.to_bits(), u32::from(wanted.exclude_self));
        // What both passes over the keys are given.
        let given = |keys: &Buffer<W>, block: &Range<usize>| -> Result<_> {
            let sizes = args![keys, m as u64, part_size as u64, parts as u32, block.start as u64, exclude_self, radius];
            Ok((Shape::blocks(block.len().saturating_mul(parts), 32, 0)?, sizes.to_vec()))
        };
        let counts = cuda.zeroed::<u32>(counts(n, parts)?, "counts of neighbours")?;
        let count = program(false)?.kernel("count_within")?;
        self.blocks(cuda, 0..n, |keys, block| {
            let (shape, given) = given(keys, &block)?;
            count.launch(shape, &[&given[..], args![&counts]].concat())
        })?;
        let (offsets, nnz) = cuda.offsets(&counts, "places of neighbours")?;
        allows(u128::from(counts.bytes() + offsets.bytes()) + bytes_within::<T>(n, nnz))?;
        drop(counts);

        let program = program(offsets.is_large())?;
        let row_ptr = cuda.alloc_offsets(offsets.is_large(), n + 1, "row pointers of neighbours")?;
        let col_idx = cuda.alloc::<u32>(nnz as usize, "neighbours")?;
        let values = cuda.alloc::<T>(nnz as usize, "distances of neighbours")?;
        let rows = Shape::for_each(n + 1, 256)?;
        program.kernel("rows_within")?.launch(rows, args![&offsets, n as u64, parts as u64, &row_ptr])?;
        let write = program.kernel("write_within")?;
        self.blocks(cuda, 0..n, |keys, block| {
            let (shape, given) = given(keys, &block)?;
            write.launch(shape, &[&given[..], args![&offsets, &col_idx, &values]].concat())
        })?;
        let pattern = DevicePattern::new((n, m), true, row_ptr, col_idx);
        Ok(DeviceCsr::new(pattern, values))
    }
}

/// The programs of this file, as they are used.
pub(super) fn programs() -> Vec<Unit> {
    let unit = |prefix, hot| Unit { source: SOURCE, prefix, hot };
    vec![
        unit(prefix::<f64, f64>("#define PAIRS\n"), &["write_pairs"][..]),
        unit(prefix::<f32, f64>(&Lists::text(10)), &["nearest_in_block", "nearest_of_parts", "join_lists"]),
        unit(prefix::<f64, f32>(&Lists::text(100)), &["nearest_in_block", "nearest_of_parts", "join_lists"]),
        unit(prefix::<f64, f64>(&Lists::text(5000)), &["nearest_in_block", "nearest_of_parts", "join_lists"]),
        unit(prefix::<f32, f32>(&Radius::text(false, true)), &["count_within", "write_within"]),
    ]
}

//! Distances over a NAMM whose ⊕ is not +: the union product for one block of rows at a time, then the task on its
//! keys; see `cuda/distance_block.cu`.

use std::ops::Range;
use std::sync::Arc;

use super::engine::{Lists, Part, Radius, Ready, Sizes, counts};
use super::pairs::bytes_within;
use crate::Result;
use crate::algebra::{Printed, Type};
use crate::gpu::Cuda;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::csr::{DevicePattern, RawCsr};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Program, Shape, args};

const SOURCE: Source = source!("distance_block.cu");
/// Bytes per block of keys, unless one row has more or a budget is smaller.
const BLOCK: u64 = 512 << 20;
/// Upper bound on the keys of a row per warp, where rows are few.
const PART: usize = 4096;

/// Program prefix for entries of type `of`, computed in `w`.
fn prefix(of: Type, w: Type, task: &str) -> String {
    format!("typedef {} W;\ntypedef {} T;\n{task}", w.cuda(), of.cuda())
}

/// Keys per block, for rows that are compared with `width` rows each; at most an eighth of a budget.
fn block_keys(w: Type, width: usize, most: Option<u64>) -> u64 {
    let bytes = most.map_or(BLOCK, |most| BLOCK.min(most / 8));
    (bytes / w.size() as u64).max(width as u64)
}

/// Bytes for the rows of X, and for those of Y with everything else, during a comparison.
pub(super) fn bytes(namm: &Printed, sizes: &Sizes, entries: Type, most: Option<u64>) -> [u128; 2] {
    let Sizes { nrows: (n, m), nnz, .. } = *sizes;
    let w = namm.out;
    let entry = 4 + entries.size() as u128 + w.size() as u128;
    // Entries before and after conversion, their row indices, and a block.
    let side = |nnz: usize, rows: usize| nnz as u128 * (entry + 4) + 16 * rows as u128;
    let block = u128::from(block_keys(w, m, most)).min(n as u128 * m as u128) * w.size() as u128;
    [side(nnz.0, n), side(nnz.1, m) + block]
}

/// Rows of X and Y, without stored zeros.
pub(super) struct TwoPass {
    namm: Arc<Printed>,
    /// Type of the entries and of the distances.
    of: Type,
    x: RawCsr,
    y: RawCsr,
    /// Global indices of the first rows.
    firsts: [usize; 2],
    /// The budget.
    most: Option<u64>,
}

impl TwoPass {
    pub(super) fn new(cuda: &Cuda, namm: &Arc<Printed>, x: &Part, y: Option<&Part>, most: Option<u64>) -> Result<Self> {
        let rows = |part: &Part| cuda.cast_rows(&part.rows.matrix, namm.out);
        let (of, firsts) = (x.rows.matrix.ty(), [x.first, y.unwrap_or(x).first]);
        let x = rows(x)?;
        let y = y.map_or_else(|| Ok(x.clone()), rows)?;
        Ok(Self { namm: Arc::clone(namm), of, x, y, firsts, most })
    }
    /// Numbers of rows of X and of Y.
    fn shape(&self) -> (usize, usize) {
        (self.x.shape().0, self.y.shape().0)
    }
    /// Calls `each` with blocks of keys and the ranges of their rows.
    fn blocks(
        &self,
        cuda: &Cuda,
        rows: Range<usize>,
        mut each: impl FnMut(&RawBuffer, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let (_, m) = self.shape();
        if m == 0 {
            return Ok(());
        }
        let at_once = (block_keys(self.namm.out, m, self.most) / m as u64).clamp(1, usize::MAX as u64) as usize;
        for start in rows.clone().step_by(at_once) {
            let block = start..rows.end.min(start.saturating_add(at_once));
            let x = cuda.some_rows_raw(&self.x, block.clone())?;
            let firsts = [self.firsts[0] + start, self.firsts[1]];
            let keys = cuda.union_mxm_from(&self.namm, &x, &self.y, firsts)?;
            each(&keys, block)?;
        }
        Ok(())
    }
    /// Parts per row of a block, and keys per part, such that the device is busy.
    fn parts(&self, cuda: &Cuda, rows: usize) -> (usize, usize) {
        let (_, m) = self.shape();
        let warps = 32 * cuda.limits().multiprocessors as usize;
        let parts = warps.div_ceil(rows.max(1)).min(m.div_ceil(PART)).max(1);
        (parts, m.div_ceil(parts))
    }
    fn program(&self, cuda: &Cuda, task: &str) -> Result<Arc<Program>> {
        cuda.program(SOURCE, &prefix(self.of, self.namm.out, task))
    }
}

impl Ready for TwoPass {
    fn explain(&self) -> String {
        format!(
            "two passes over the union, because ⊕ is not +, in {}; blocks of rows as dense matrices",
            self.namm.out.cuda()
        )
    }

    fn pairs(&self, cuda: &Cuda, rows: Range<usize>, out: &RawBuffer) -> Result<()> {
        let (_, m) = self.shape();
        let write = self.program(cuda, "#define PAIRS\n")?.kernel("write_pairs")?;
        self.blocks(cuda, rows.clone(), |keys, block| {
            let blocks = keys.len().div_ceil(256).min(32 * cuda.limits().multiprocessors as usize);
            let to = out.from((block.start - rows.start) * m);
            write.launch(Shape::blocks(blocks, 256, 0)?, &[args![keys, keys.len() as u64], &[to][..]].concat())
        })
    }

    fn nearest_program(&self, cuda: &Cuda, k: usize) -> Result<Arc<Program>> {
        self.program(cuda, &Lists::text(k, false))
    }

    fn nearest(&self, cuda: &Cuda, k: usize, exclude_self: bool) -> Result<Lists> {
        let (n, m) = self.shape();
        let program = self.nearest_program(cuda, k)?;
        let all = Lists::new(cuda, n, k)?;
        self.blocks(cuda, 0..n, |keys, block| {
            let rows = block.len();
            let (parts, part_size) = self.parts(cuda, rows);
            // Row r of the block is row r + shift of this Y.
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

    fn within(&self, cuda: &Cuda, wanted: &Radius, allows: &dyn Fn(u128) -> Result<()>) -> Result<RawCsr> {
        let (n, m) = self.shape();
        let (parts, part_size) = self.parts(cuda, n);
        let program = |large| self.program(cuda, &Radius::text(wanted.similarity, large));
        let (radius, exclude_self) = (wanted.radius.to_bits(), u32::from(wanted.exclude_self));
        // Arguments of both passes over the keys.
        let given = |keys: &RawBuffer, block: &Range<usize>| -> Result<_> {
            let sizes = args![keys, m as u64, part_size as u64, parts as u32, block.start as u64, exclude_self, radius];
            Ok((Shape::blocks(block.len().saturating_mul(parts), 32, 0)?, sizes.to_vec()))
        };
        let counts = cuda.zeroed::<u32>(counts(n, parts)?, "counts of neighbours")?;
        let count = program(false)?.kernel("count_within")?;
        self.blocks(cuda, 0..n, |keys, block| {
            let (shape, given) = given(keys, &block)?;
            count.launch(shape, &[&given[..], args![&counts]].concat())
        })?;
        let (offsets, nnz) = cuda.offsets(&counts, "offsets of neighbours")?;
        allows(u128::from(counts.bytes() + offsets.bytes()) + bytes_within(self.of, n, nnz))?;
        drop(counts);

        let program = program(offsets.is_large())?;
        let row_ptr = cuda.alloc_offsets(offsets.is_large(), n + 1, "row pointers of neighbours")?;
        let col_idx = cuda.alloc::<u32>(nnz as usize, "neighbours")?;
        let values = cuda.alloc_raw(self.of, nnz as usize, "distances of neighbours")?;
        let rows = Shape::for_each(n + 1, 256)?;
        program.kernel("rows_within")?.launch(rows, args![&offsets, n as u64, parts as u64, &row_ptr])?;
        let write = program.kernel("write_within")?;
        self.blocks(cuda, 0..n, |keys, block| {
            let (shape, given) = given(keys, &block)?;
            write.launch(shape, &[&given[..], args![&offsets, &col_idx, &values]].concat())
        })?;
        let pattern = DevicePattern::new((n, m), true, row_ptr, col_idx);
        Ok(RawCsr::new(pattern, values))
    }
}

/// The programs of this file with representative settings, for the test that compiles all.
pub(super) fn programs() -> Vec<Unit> {
    let unit = |prefix, hot| Unit { source: SOURCE, prefix, hot };
    vec![
        unit(prefix(Type::F64, Type::F64, "#define PAIRS\n"), &["write_pairs"][..]),
        unit(
            prefix(Type::F32, Type::F64, &Lists::text(10, false)),
            &["nearest_in_block", "nearest_of_parts", "join_lists"],
        ),
        unit(
            prefix(Type::F64, Type::F32, &Lists::text(100, false)),
            &["nearest_in_block", "nearest_of_parts", "join_lists"],
        ),
        unit(
            prefix(Type::F64, Type::F64, &Lists::text(5000, false)),
            &["nearest_in_block", "nearest_of_parts", "join_lists"],
        ),
        unit(prefix(Type::F32, Type::F32, &Radius::text(false, true)), &["count_within", "write_within"]),
    ]
}

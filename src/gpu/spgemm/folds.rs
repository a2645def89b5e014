//! The products of each entry of C in the order of its fold: the host side of `cuda/spgemm_folds.cu`, and arguments of
//! `cuda/values_folds.cu`.

use super::map::MapInputs;
use crate::Result;
use crate::algebra::Type;
use crate::gpu::Cuda;
use crate::gpu::buffer::Buffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Shape, args};
use crate::gpu::pattern::Offsets;
use crate::gpu::scan::Scan;
use crate::gpu::transpose::Sorter;

const SOURCE: Source = source!("spgemm_folds.cu");
/// A block handles the entries whose products begin within one tile of this many products.
const TILE: u32 = 1024;

/// The products of C, grouped by entry: for each product, its entries of A and B.
#[derive(Debug)]
pub(super) struct Folds {
    /// Blocks of the value kernel.
    pub(super) tiles: usize,
    nrows: u32,
    /// The first entry of each block, and its first product.
    first: Buffer<u64>,
    /// The first product of each entry.
    at: Offsets,
    left: Buffer<u32>,
    right: Buffer<u32>,
}

impl Folds {
    /// The products of a plan of `flops` multiplications; `None` if positions do not fit 32 bits. Memory: eight bytes a
    /// product, four an entry of C; more than twice that while they are sorted.
    pub(super) fn make(cuda: &Cuda, from: &MapInputs<'_>, flops: u64) -> Result<Option<Self>> {
        let MapInputs { patterns: [a, b, c], .. } = *from;
        let few = [a.nnz, b.nnz, c.nnz].iter().all(|&n| n < u32::MAX as usize);
        let (true, Ok(flops)) = (few, u32::try_from(flops)) else { return Ok(None) };
        let settings = settings([&a.row_ptr, &b.row_ptr, &c.row_ptr].map(Offsets::cuda));
        let program = cuda.program_of(SOURCE, Prefix::new("", &settings))?;
        let (entries_of_a, nnz) = (a.nnz as u32, c.nnz as u32);
        let lengths = cuda.alloc::<u32>(a.nnz, "products of entries")?;
        let shape = Shape::for_each(a.nnz, 256)?;
        program.kernel("fold_lengths")?.launch(shape, args![entries_of_a, &a.col_idx, &b.row_ptr, &lengths])?;
        let place =
            Scan::begin(cuda, &lengths, flops.into(), 0)?.offsets(cuda, &lengths, false, "products of entries")?;
        let array = || cuda.alloc::<u32>(flops as usize, "products");
        let (entries, left, right) = (array()?, array()?, array()?);
        let patterns = args![&a.row_ptr, &a.col_idx, &b.row_ptr, &b.col_idx, &c.row_ptr, &c.col_idx];
        let rest = args![nnz, &place, &entries, &left, &right];
        let all = [&args![a.nrows as u32, entries_of_a][..], patterns, rest].concat();
        program.kernel("fold_products")?.launch(Shape::for_each(a.nnz * 32, 256)?, &all)?;

        let sorter = Sorter::new(cuda, Type::U32, flops as usize)?;
        let sorted = sorter.sort(&entries, None, c.nnz + 1)?;
        // Products without an entry in C sort behind the last entry's.
        let at = sorter.row_starts(&sorted.keys, c.nnz + 1)?;
        let (from_left, from_right) = (left, right);
        let (left, right) = (entries, sorted.keys);
        for (from, to) in [(from_left, &left), (from_right, &right)] {
            sorter.gather("gather_indices", &sorted.positions, &from, to)?;
        }
        let tiles = (flops as usize).div_ceil(TILE as usize).max(1);
        let first = cuda.alloc::<u64>(tiles + 1, "products of entries")?;
        let all = args![nnz, &at, TILE, tiles as u32, &first];
        program.kernel("fold_tiles")?.launch(Shape::for_each(tiles + 1, 256)?, all)?;
        Ok(Some(Self { tiles, nrows: a.nrows as u32, first, at, left, right }))
    }
    /// The arguments of the value kernel before A, B and C.
    pub(super) fn args(&self) -> [Arg; 5] {
        let Self { nrows, first, at, left, right, .. } = self;
        [(*nrows).into(), first.into(), at.into(), left.into(), right.into()]
    }
}

fn settings([a, b, c]: [&'static str; 3]) -> [Setting; 3] {
    [("OffsetA", a), ("OffsetB", b), ("OffsetC", c)].map(|(name, of)| Setting::Type(name, of))
}

pub(super) fn programs() -> Vec<Unit> {
    ["unsigned int", "unsigned long long"]
        .map(|t| Unit { source: SOURCE, prefix: Prefix::new("", &settings([t; 3])).text(), hot: &["fold_products"] })
        .into()
}

//! Product maps: the entry of C of each product of a short row. The host side of `cuda/spgemm_map.cu`.

use super::bins::Bins;
use crate::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Shape, args};
use crate::gpu::pattern::Offsets;
use crate::gpu::{Cuda, DevicePattern};

const SOURCE: Source = source!("spgemm_map.cu");
/// The bin of the rows that are mapped here; shorter rows get their map along with their columns.
const BIN: usize = 3;

/// For every product of C's short rows, in fold order, its entry within the row.
#[derive(Debug)]
pub(super) struct Map {
    /// The first product of each row.
    pub(super) place: Offsets,
    pub(super) ranks: Buffer<u8>,
}

/// Inputs of a map: the patterns of A, B and C, C's binned rows, their lengths, and the multiplications of each row.
pub(super) struct MapInputs<'a> {
    pub(super) patterns: [&'a DevicePattern; 3],
    pub(super) bins: &'a Bins,
    pub(super) lengths: &'a Buffer<u32>,
    pub(super) work: &'a Buffer<u32>,
}

impl Map {
    /// The map, if it takes no more than twice C's pattern and half of the free memory.
    pub(super) fn make(cuda: &Cuda, from: &MapInputs<'_>, lanes: u32) -> Result<Option<Self>> {
        let MapInputs { patterns: [a, b, c], bins, lengths, work } = *from;
        let count = bins.len(BIN);
        if count == 0 {
            return Ok(None);
        }
        let n = a.nrows as u32;
        let program = |place: &Offsets| {
            let settings = settings([&a.row_ptr, &b.row_ptr, &c.row_ptr, place].map(Offsets::cuda), lanes);
            cuda.program_of(SOURCE, Prefix::new("", &settings))
        };
        let few = cuda.alloc::<u32>(a.nrows, "products of short rows")?;
        let shape = Shape::for_each(a.nrows, 256)?;
        program(&c.row_ptr)?.kernel("mapped_work")?.launch(shape, args![n, work, lengths, &few])?;
        let (place, total) = cuda.offsets(&few, "products of short rows")?;
        if total > (c.bytes() * 2).min(cuda.free_memory()? / 2) {
            return Ok(None);
        }
        let ranks = cuda.alloc::<u8>(usize::try_from(total).unwrap_or(usize::MAX), "ranks of products")?;
        let all = args![
            count as u32,
            bins.list(BIN),
            &a.row_ptr,
            &a.col_idx,
            &b.row_ptr,
            &b.col_idx,
            &c.row_ptr,
            &c.col_idx,
            &place,
            &ranks
        ];
        let groups = 256 / lanes.max(8) as usize;
        program(&place)?.kernel("map_128")?.launch(Shape::blocks(count.div_ceil(groups), 256, 0)?, all)?;
        Ok(Some(Self { place, ranks }))
    }
}

fn settings([a, b, c, p]: [&'static str; 4], lanes: u32) -> [Setting; 5] {
    [
        Setting::Type("OffsetA", a),
        Setting::Type("OffsetB", b),
        Setting::Type("OffsetC", c),
        Setting::Type("OffsetP", p),
        Setting::Number("GROUP", lanes),
    ]
}

pub(super) fn programs() -> Vec<Unit> {
    ["unsigned int", "unsigned long long"]
        .map(|t| Unit { source: SOURCE, prefix: Prefix::new("", &settings([t; 4], 8)).text(), hot: &["map_128"] })
        .into()
}

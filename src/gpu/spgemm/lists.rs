//! Product lists of C's longer rows: the host side of `cuda/spgemm_lists.cu`, and arguments of `cuda/values_listed.cu`.

use super::map::MapInputs;
use crate::Result;
use crate::gpu::Cuda;
use crate::gpu::buffer::Buffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Shape, args};
use crate::gpu::pattern::Offsets;

const SOURCE: Source = source!("spgemm_lists.cu");
/// The first of the two bins whose rows are listed.
const BIN: usize = 4;
/// Lists may take 1/FREE of the free memory even if C's pattern is small.
const FREE: u64 = 32;
/// Warps of a block, each processing one part: `LIST_WARPS` of the kernel.
const WARPS: u32 = 4;
/// Most entries of a part: `MOST_ENTRIES` of the kernels.
pub(super) const ENTRIES: u32 = 1024;

/// Most pairs of an entry of A and one of C in a part, given the multiplications of the product. A warp processes all
/// pairs of a part, and where products are few the heaviest part sets the time (`benches/gpu_spgemm.rs`: ego-Facebook
/// 0.159 to 0.113 ms; ca-HepPh, with twice as many, 0.151 to 0.160).
fn pairs(flops: u64) -> u32 {
    match flops {
        0..0x100_0000 => 1 << 15,
        0x100_0000..0x400_0000 => 1 << 16,
        _ => 1 << 17,
    }
}

/// Parts of rows with their products: for each product its factors and its entry of C.
#[derive(Debug)]
pub(super) struct Lists {
    pub(super) count: usize,
    /// Three numbers per part.
    parts: Buffer<u32>,
    /// The first word and the first record of each part.
    pub(super) word_at: Offsets,
    record_at: Offsets,
    words: Buffer<u16>,
    /// Two numbers per record.
    records: Buffer<u32>,
}

impl Lists {
    /// The lists of a product of `flops` multiplications, if positions fit 32 bits and the lists take no more than
    /// twice C's pattern or 1/[`FREE`] of the free memory, whichever is more, and no more than half of it.
    pub(super) fn make(cuda: &Cuda, from: &MapInputs<'_>, flops: u64) -> Result<Option<Self>> {
        let MapInputs { patterns: [a, b, c], bins, .. } = *from;
        let n = bins.len(BIN) + bins.len(BIN + 1);
        if n == 0 || !b.sorted || a.row_ptr.is_large() || b.row_ptr.is_large() {
            return Ok(None);
        }
        let program = |place: &Offsets| {
            let settings = settings([&a.row_ptr, &b.row_ptr, &c.row_ptr, place].map(Offsets::cuda));
            cuda.program_of(SOURCE, Prefix::new("", &settings))
        };
        let free = cuda.free_memory()?;
        let most = (c.bytes() * 2).max(free / FREE).min(free / 2);
        let few = program(&c.row_ptr)?;
        let given = args![n as u32, bins.list(BIN), &a.row_ptr, &c.row_ptr, pairs(flops)];
        let counts = cuda.alloc::<u32>(n, "parts of lists")?;
        let all = [&given[..], args![&counts]].concat();
        few.kernel("list_parts_count")?.launch(Shape::for_each(n, 256)?, &all)?;
        let (_, count) = cuda.offsets(&counts, "parts of lists")?;
        let Ok(of_parts) = u32::try_from(count) else { return Ok(None) };
        let count = of_parts as usize;
        let parts = cuda.alloc::<u32>(3 * count, "parts of lists")?;
        let ends = cuda.zeroed::<u32>(2, "parts of lists")?;
        let all = [&given[..], args![of_parts, &ends, &parts]].concat();
        few.kernel("list_parts_fill")?.launch(Shape::for_each(n, 256)?, &all)?;
        let (words, records) =
            (cuda.alloc::<u32>(count, "words of lists")?, cuda.alloc::<u32>(count, "records of lists")?);
        let patterns =
            args![count as u32, &parts, &a.row_ptr, &a.col_idx, &b.row_ptr, &b.col_idx, &c.row_ptr, &c.col_idx];
        let all = [&patterns[..], args![&words, &records]].concat();
        few.kernel("list_count")?.launch(Shape::for_each(count * 32, 256)?, &all)?;
        let (word_at, of_words) = cuda.offsets(&words, "words of lists")?;
        let (record_at, of_records) = cuda.offsets(&records, "records of lists")?;
        let bytes = of_words.saturating_mul(2).saturating_add(of_records.saturating_mul(8));
        if record_at.is_large() || bytes.saturating_add(count as u64 * 20) > most {
            return Ok(None);
        }
        let words = cuda.alloc::<u16>(of_words as usize, "words of lists")?;
        let records = cuda.alloc::<u32>(of_records as usize * 2, "records of lists")?;
        let all = [&patterns[..], args![&word_at, &record_at, &words, &records]].concat();
        let shape = Shape::blocks(count.div_ceil(WARPS as usize), 32 * WARPS, 0)?;
        program(&word_at)?.kernel("list_fill")?.launch(shape, &all)?;
        Ok(Some(Self { count, parts, word_at, record_at, words, records }))
    }
    /// The arguments of the value kernel before A, B and C.
    pub(super) fn args(&self) -> [Arg; 5] {
        let Self { parts, word_at, record_at, words, records, .. } = self;
        [parts.into(), word_at.into(), record_at.into(), words.into(), records.into()]
    }
}

fn settings([a, b, c, p]: [&'static str; 4]) -> [Setting; 4] {
    [("OffsetA", a), ("OffsetB", b), ("OffsetC", c), ("OffsetP", p)].map(|(name, of)| Setting::Type(name, of))
}

pub(super) fn programs() -> Vec<Unit> {
    ["unsigned int", "unsigned long long"]
        .map(|t| Unit {
            source: SOURCE,
            prefix: Prefix::new("", &settings([t; 4])).text(),
            hot: &["list_count", "list_fill"],
        })
        .into()
}

//! C's columns: the host side of `cuda/spgemm_columns.cu`.

use std::sync::Arc;

use super::bins::{self, Bins, RowArrays, Work, group};
use super::map::Map;
use crate::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Arg, Launch, Program, Shape, args};
use crate::gpu::pattern::Offsets;
use crate::gpu::scan::Scan;
use crate::gpu::{Cuda, DevicePattern};

pub(super) const SOURCE: Source = source!("spgemm_columns.cu");

/// The variant of the program: offset types and features.
#[derive(Clone, Copy)]
struct Kind {
    a: &'static str,
    b: &'static str,
    c: &'static str,
    mask: &'static str,
    stored: &'static str,
    group: u32,
    complement: bool,
    packed: bool,
    mapped: bool,
}

const SMALL: &str = "unsigned int";
const ANY: Kind = Kind {
    a: SMALL,
    b: SMALL,
    c: SMALL,
    mask: SMALL,
    stored: SMALL,
    group: 32,
    complement: false,
    packed: false,
    mapped: false,
};

/// The prefix of the program.
fn settings(kind: Kind) -> [Setting; 9] {
    let Kind { a, b, c, mask, stored, group, complement, packed, mapped } = kind;
    [
        Setting::Type("OffsetA", a),
        Setting::Type("OffsetB", b),
        Setting::Type("OffsetC", c),
        Setting::Type("OffsetM", mask),
        Setting::Type("OffsetK", stored),
        Setting::Number("GROUP", group),
        Setting::Number("COMPLEMENT", complement.into()),
        Setting::Number("PACKED", packed.into()),
        Setting::Number("MAPPED", mapped.into()),
    ]
}

/// The prefix that A·B is likely to need, before its multiplications are counted.
pub(super) fn likely(a: &DevicePattern, b: &DevicePattern, mask: Option<&DevicePattern>) -> [Setting; 9] {
    settings(Kind {
        a: a.row_ptr.cuda(),
        b: b.row_ptr.cuda(),
        mask: mask.map_or(SMALL, |m| m.row_ptr.cuda()),
        group: group(b.nnz as f64 / b.nrows.max(1) as f64),
        complement: mask.is_some(),
        mapped: mask.is_none() && has_room_for_ranks(b),
        ..ANY
    })
}

/// Whether the number of a product of a short row fits below its column in one word.
fn has_room_for_ranks(b: &DevicePattern) -> bool {
    b.ncols < 1 << 26
}

/// B compressed, 32 columns to a word.
struct Packed {
    ptr: Offsets,
    words: Buffer<u32>,
    masks: Buffer<u32>,
}

/// The ratio of word products to products above which B is not compressed. The R-MAT matrices of
/// `benches/gpu_spgemm.rs` (about 0.6) and the stencils (0.36) are compressed, random matrices (1.0) are not; ratios in
/// between were not tried.
const PACKS: f64 = 0.7;

/// Multiplications below which B is not compressed: counting its words costs more than it saves.
const PACKED_FROM: u64 = 1 << 22;

/// B compressed, with the word products of every row, if that saves enough.
fn pack(cuda: &Cuda, a: &DevicePattern, b: &DevicePattern, work: &Work) -> Result<Option<(Packed, Work)>> {
    if work.flops < PACKED_FROM || b.row_ptr.is_large() {
        return Ok(None);
    }
    let program = bins::program(cuda, [SMALL, b.row_ptr.cuda(), SMALL, SMALL])?;
    let counts = cuda.alloc::<u32>(b.nrows, "words of B")?;
    let shape = Shape::for_each(b.nrows * 32, 256)?;
    program.kernel("pack_count")?.launch(shape, args![b.nrows as u32, &b.row_ptr, &b.col_idx, &counts])?;
    let (words_of, ptr, total) = work.of_words(cuda, a, &counts, b.nnz)?;
    if words_of.flops as f64 > PACKS * work.flops as f64 {
        return Ok(None);
    }
    let n = usize::try_from(total).unwrap_or(usize::MAX);
    let (words, masks) = (cuda.alloc::<u32>(n, "words of B")?, cuda.alloc::<u32>(n, "words of B")?);
    program.kernel("pack_fill")?.launch(shape, args![b.nrows as u32, &b.row_ptr, &b.col_idx, &ptr, &words, &masks])?;
    Ok(Some((Packed { ptr, words, masks }, words_of)))
}

/// Columns of short rows, computed while counting, and the ranks of their products.
struct ShortColumns {
    ptr: Offsets,
    columns: Buffer<u32>,
    map: Option<Buffer<u8>>,
}

/// C's structure.
pub(super) struct Structure {
    pub(super) row_ptr: Offsets,
    pub(super) lengths: Buffer<u32>,
    pub(super) columns: Buffer<u32>,
    /// The ranks of the products of short rows.
    pub(super) map: Option<Map>,
    /// Rows binned for values.
    pub(super) bins: Bins,
}

/// The patterns of a product, and what is known of its rows.
pub(super) struct Columns<'a> {
    cuda: &'a Cuda,
    a: &'a DevicePattern,
    b: &'a DevicePattern,
    complement: Option<&'a DevicePattern>,
    work: &'a Work,
    packed: Option<(Packed, Work)>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(
        cuda: &'a Cuda,
        a: &'a DevicePattern,
        b: &'a DevicePattern,
        complement: Option<&'a DevicePattern>,
        work: &'a Work,
    ) -> Result<Self> {
        // Short rows are sorted uncompressed; compression is for the others.
        let worth = b.sorted && complement.is_none() && work.most > 64;
        let packed = if worth { pack(cuda, a, b, work)? } else { None };
        Ok(Self { cuda, a, b, complement, work, packed })
    }

    /// Whether the ranks of short rows' products are computed with their columns.
    fn mapped(&self) -> bool {
        self.complement.is_none() && has_room_for_ranks(self.b)
    }
    /// The reason for the choice, for `explain`.
    pub(super) fn explain(&self) -> String {
        match &self.packed {
            Some((_, words)) => {
                let share = words.flops as f64 / self.work.flops.max(1) as f64;
                format!("B packed 32 columns to a word, leaving {share:.2} of the products (limit {PACKS})")
            }
            None => "B not packed".into(),
        }
    }

    fn program(&self, c: &'static str, stored: &'static str) -> Result<Arc<Program>> {
        let work = self.packed.as_ref().map_or(self.work, |(_, words)| words);
        let kind = Kind {
            a: self.a.row_ptr.cuda(),
            b: self.b.row_ptr.cuda(),
            c,
            mask: self.complement.map_or(SMALL, |m| m.row_ptr.cuda()),
            stored,
            group: group(work.flops as f64 / self.a.nnz.max(1) as f64),
            complement: self.complement.is_some(),
            packed: self.packed.is_some(),
            mapped: self.mapped(),
        };
        self.cuda.program_of(SOURCE, Prefix::new("", &settings(kind)))
    }

    /// A, B, the mask and B's words, as kernel arguments.
    fn operands(&self) -> Vec<Arg> {
        let (a, b, none) = (self.a, self.b, Arg::null());
        let mut all = args![&a.row_ptr, &a.col_idx, &b.row_ptr, &b.col_idx].to_vec();
        all.extend(
            self.complement.map_or([&none, &none].map(Arg::from), |m| [(&m.row_ptr).into(), (&m.col_idx).into()]),
        );
        let packed = self.packed.as_ref();
        all.extend(
            packed.map_or([&none; 3].map(Arg::from), |(p, _)| [(&p.ptr).into(), (&p.words).into(), (&p.masks).into()]),
        );
        all
    }

    /// Launches of these bins' kernels on their rows.
    fn launches(&self, program: &Program, bins: &Bins, kernels: &[(usize, &str)], out: &[Arg]) -> Result<Vec<Launch>> {
        let some = kernels.iter().filter(|(bin, _)| bins.len(*bin) > 0);
        some.map(|&(bin, name)| {
            let (n, list, kernel) = (bins.len(bin), bins.list(bin), program.kernel(name)?);
            if name.ends_with("bits") {
                let block = if bin == 6 { 1024 } else { 256 };
                let window = self.window(block);
                let rest = args![self.b.ncols as u32, u32::from(self.b.sorted), window];
                let args = [&[list], &self.operands()[..], rest, out].concat();
                return Ok(Launch { kernel, shape: Shape::blocks(n, block, window * 4)?, args });
            }
            let shape = Shape::for_each(n * 32, if bin <= 2 { 256 } else { 128 })?;
            Ok(Launch { kernel, shape, args: [&[Arg::from(n as u32), list], &self.operands()[..], out].concat() })
        })
        .collect()
    }

    /// Width, in words, of the bitmap of columns that a block of `block` threads holds in shared memory: all columns if
    /// they fit, but no more than lets the multiprocessor fill up with threads, provided that covers a million columns.
    fn window(&self, block: u32) -> u32 {
        // Bytes of shared memory that the kernel uses besides the window.
        const OTHER: u32 = 10 << 10;
        let limits = self.cuda.limits();
        let all = (self.b.ncols as u64).div_ceil(32).max(1);
        let even = u64::from((limits.shared_per_multiprocessor / (2048 / block)).saturating_sub(OTHER)) / 4;
        let most = u64::from(limits.shared_per_block.saturating_sub(OTHER)) / 4;
        u32::try_from(all.min(even.max(32_768)).min(most)).unwrap_or(32_768)
    }

    /// Computes C's structure.
    pub(super) fn structure(&self, fresh: RowArrays) -> Result<Structure> {
        let cuda = self.cuda;
        let of_words = self.packed.as_ref().map_or(self.work, |(_, words)| words);
        let counted = self.work.to_count(cuda, self.a, of_words)?;
        let RowArrays { few, lengths, words: c_words } = fresh;
        let program = self.program(SMALL, short_offsets(self.work))?;
        let none = Arg::null();
        let out = args![&lengths, &c_words, &none, &none, &none];
        let kernels = [(6, "count_bits"), (5, "count_bits"), (4, "count_768"), (3, "count_384")];
        let long = self.launches(&program, &counted, &kernels, out)?;
        let stored = cuda.launch_concurrently(&long, || {
            let stored = self.room_for_few(&few)?;
            let out = args![&lengths, &c_words, &stored.ptr, &stored.columns, stored.map.as_ref()];
            for short in self.launches(&program, &counted, &[(2, "count_64"), (1, "count_32")], out)? {
                short.kernel.launch(short.shape, &short.args)?;
            }
            Ok(stored)
        })?;

        let (row_ptr, nnz, to_fill, bins) = bins::row_pointers(cuda, self.a, self.work, &c_words, &lengths)?;
        // An entry is a column and a value of at least one byte; columns without values would be useless.
        cuda.device().check_fits(u128::from(nnz) * (size_of::<u32>() as u128 + 1), "columns and values of C")?;
        let columns = cuda.alloc::<u32>(usize::try_from(nnz).unwrap_or(usize::MAX), "columns of C")?;
        let mut long = vec![];
        if let Some(to_fill) = &to_fill {
            let kernels = [(6, "fill_bits"), (5, "fill_bits"), (3, "fill_words")];
            let program = self.program(row_ptr.cuda(), stored.ptr.cuda())?;
            long = self.launches(&program, to_fill, &kernels, args![&row_ptr, &columns])?;
        }
        // Bins 1 and 2 are contiguous.
        let few = counted.len(1) + counted.len(2);
        // If there are few rows, they are spread over more warps.
        let rounds: u32 = if few < 1 << 16 { 1 } else { 8 };
        let all = args![few as u32, rounds, counted.list(1), &stored.ptr, &stored.columns, &row_ptr, &columns];
        let rows = bins::program(cuda, [SMALL, SMALL, row_ptr.cuda(), stored.ptr.cuda()])?;
        let shape = Shape::blocks(few.div_ceil(32 * rounds as usize), 256, 0)?;
        cuda.launch_concurrently(&long, || rows.kernel("move_kept")?.launch(shape, all))?;
        let map = stored.map.map(|ranks| Map { place: stored.ptr, ranks });
        Ok(Structure { row_ptr, lengths, columns, map, bins })
    }

    /// Arrays for the columns of short rows and for the ranks of their products.
    fn room_for_few(&self, few: &Buffer<u32>) -> Result<ShortColumns> {
        let (cuda, total) = (self.cuda, self.work.of_few);
        let scan = Scan::begin(cuda, few, total, 0)?;
        let ptr = scan.offsets(cuda, few, u32::try_from(total).is_err(), "columns of short rows")?;
        let total = usize::try_from(total).unwrap_or(usize::MAX);
        let columns = cuda.alloc::<u32>(total, "columns of short rows")?;
        let map = if self.mapped() { Some(cuda.alloc::<u8>(total, "ranks of products")?) } else { None };
        Ok(ShortColumns { ptr, columns, map })
    }
}

/// The type of the offsets of short rows' columns.
fn short_offsets(work: &Work) -> &'static str {
    if u32::try_from(work.of_few).is_ok() { SMALL } else { "unsigned long long" }
}

pub(super) fn programs() -> Vec<Unit> {
    let large = "unsigned long long";
    let unit = |kind, hot| Unit { source: SOURCE, prefix: Prefix::new("", &settings(kind)).text(), hot };
    vec![
        unit(Kind { packed: true, mapped: true, ..ANY }, HOT),
        unit(Kind { c: large, group: 8, ..ANY }, HOT),
        unit(Kind { a: large, b: large, c: large, mask: large, stored: large, complement: true, ..ANY }, &[]),
    ]
}

const HOT: &[&str] = &["count_32", "count_64", "count_384", "count_768", "count_bits", "fill_words", "fill_bits"];

//! Compression of B, 32 columns to a word: the host side of `cuda/kk_compress.cu`.

use super::select;
use crate::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Shape, args};
use crate::gpu::pattern::Offsets;
use crate::gpu::{Cuda, DevicePattern};

const SOURCE: Source = source!("kk_compress.cu");

/// The number of words of each row of B, and intermediate results.
pub(super) struct Counted<'a> {
    cuda: &'a Cuda,
    b: &'a DevicePattern,
    lanes: u32,
    /// Row pointers of the words; the words themselves are not set yet.
    pub(super) words: DevicePattern,
    /// Hash tables of the rows, if they are unsorted.
    tables: Option<Buffer<u32>>,
}

/// Rows of words: word indices in place of columns, and the bits of each word.
pub(super) struct Words {
    pub(super) pattern: DevicePattern,
    pub(super) bits: Buffer<u32>,
}

fn settings(b: &'static str, c: &'static str, lanes: u32) -> [Setting; 3] {
    [Setting::Type("OffsetB", b), Setting::Type("OffsetC", c), Setting::Number("LANES", lanes)]
}

/// Counts the words of B's rows. Cost: O(nnz(B)); 8 bytes an entry beside the result for unsorted rows.
pub(super) fn count<'a>(cuda: &'a Cuda, b: &'a DevicePattern) -> Result<Counted<'a>> {
    let lanes = select::vector_length(b.nnz as f64 / b.nrows.max(1) as f64);
    let counts = cuda.alloc::<u32>(b.nrows, "lengths of B's rows in words")?;
    let program = cuda.program_of(SOURCE, Prefix::new("", &settings(b.row_ptr.cuda(), "unsigned int", lanes)))?;
    let shape = Shape::for_each(b.nrows * lanes as usize, 256)?;
    let nrows = b.nrows as u32;
    let tables = if b.sorted {
        program.kernel("count_words")?.launch(shape, args![nrows, &b.row_ptr, &b.col_idx, &counts])?;
        None
    } else {
        let tables = cuda.alloc::<u32>(2 * b.nnz, "hash tables of B's rows")?;
        cuda.fill_bytes(&tables, 0xff)?;
        program.kernel("hash_count")?.launch(shape, args![nrows, &b.row_ptr, &b.col_idx, &tables, &counts])?;
        Some(tables)
    };
    let (row_ptr, nnz) = cuda.offsets(&counts, "row pointers of words")?;
    let none = cuda.alloc(0, "numbers of words")?;
    let mut words = DevicePattern::new((b.nrows, b.ncols.div_ceil(32)), b.sorted, row_ptr, none);
    words.nnz = usize::try_from(nnz).unwrap_or(usize::MAX);
    Ok(Counted { cuda, b, lanes, words, tables })
}

impl Counted<'_> {
    /// Fills the words in. Cost: O(nnz(B)); 8 bytes an entry more for unsorted rows.
    pub(super) fn fill(self) -> Result<Words> {
        let Self { cuda, b, lanes, mut words, tables } = self;
        words.col_idx = cuda.alloc(words.nnz, "numbers of words")?;
        let bits = cuda.alloc::<u32>(words.nnz, "bits of words")?;
        let program =
            cuda.program_of(SOURCE, Prefix::new("", &settings(b.row_ptr.cuda(), words.row_ptr.cuda(), lanes)))?;
        let shape = Shape::for_each(b.nrows * lanes as usize, 256)?;
        let (nrows, row_ptr): (u32, &Offsets) = (b.nrows as u32, &words.row_ptr);
        match tables {
            None => program
                .kernel("fill_words")?
                .launch(shape, args![nrows, &b.row_ptr, &b.col_idx, row_ptr, &words.col_idx, &bits])?,
            Some(tables) => {
                let found = cuda.zeroed::<u32>(2 * b.nnz, "hash tables of B's rows")?;
                let all = args![nrows, &b.row_ptr, &b.col_idx, &tables, &found, row_ptr, &words.col_idx, &bits];
                program.kernel("hash_fill")?.launch(shape, all)?;
            }
        }
        Ok(Words { pattern: words, bits })
    }
}

pub(super) fn programs() -> Vec<Unit> {
    let (small, large) = ("unsigned int", "unsigned long long");
    [(small, small, 8), (large, small, 2), (large, large, 32)]
        .map(|(b, c, lanes)| Unit { source: SOURCE, prefix: Prefix::new("", &settings(b, c, lanes)).text(), hot: HOT })
        .into()
}

const HOT: &[&str] = &["count_words", "fill_words", "hash_count", "hash_fill"];

//! Offsets from counts: see `cuda/scan.cu`.

use super::Cuda;
use super::buffer::Buffer;
use super::front::{Front, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Arg, Shape, args};
use super::pattern::Offsets;
use crate::Result;

const SOURCE: Source = source!("scan.cu");
/// Counts that one block takes.
const TILE: usize = 2048;
/// Counts that one block takes alone: it does so about as fast as three kernels start.
const FEW: usize = 16 << 10;

const SMALL: Front<'_> = Front { operator: "", settings: &[Setting::Type("Offset", "unsigned int")] };
const LARGE: Front<'_> = Front { operator: "", settings: &[Setting::Type("Offset", "unsigned long long")] };

/// The program of sums that fit 32 bits.
pub(crate) const PROGRAM: (Source, Front<'_>) = (SOURCE, SMALL);

/// What CI compiles.
pub(crate) fn programs() -> Vec<Unit> {
    let unit = |front: Front<'_>| Unit {
        source: SOURCE,
        prefix: front.text(),
        hot: &["scan_few", "scan_tiles", "scan_sums", "scan_offsets"],
    };
    vec![unit(SMALL), unit(LARGE)]
}

/// A scan that was started: sums of tiles are on their way.
pub(crate) struct Scan {
    /// The sum before each tile, then the sum of all, then numbers beside it.
    sums: Buffer<u64>,
    tiles: usize,
    /// The offsets, where they are on their way as well.
    made: Option<Buffer<u32>>,
}

impl Scan {
    /// Starts adding up the counts, whose sum is at most `most`. Beside it there is room for so many other numbers,
    /// which are 0.
    pub(crate) fn begin(cuda: &Cuda, counts: &Buffer<u32>, most: u64, beside: usize) -> Result<Self> {
        let n = counts.len();
        if n < FEW && u32::try_from(most).is_ok() {
            let sums = cuda.alloc::<u64>(1 + beside, "sums of a scan")?;
            if beside > 0 {
                cuda.fill_bytes(&sums, 0)?;
            }
            let offsets = cuda.alloc::<u32>(n + 1, "offsets")?;
            let all = args![counts, n as u64, &sums, &offsets];
            cuda.program_of(SOURCE, SMALL)?.kernel("scan_few")?.launch(Shape::blocks(1, 1024, 0)?, all)?;
            return Ok(Self { sums, tiles: 0, made: Some(offsets) });
        }
        // The last offset is one past the counts, so there is one item more than counts.
        let tiles = (n + 1).div_ceil(TILE);
        let sums = cuda.alloc::<u64>(tiles + 1 + beside, "sums of a scan")?;
        if beside > 0 {
            cuda.fill_bytes(&sums, 0)?;
        }
        let program = cuda.program_of(SOURCE, SMALL)?;
        program.kernel("scan_tiles")?.launch(Shape::blocks(tiles, 256, 0)?, args![counts, n as u64, &sums])?;
        program.kernel("scan_sums")?.launch(Shape::blocks(1, 1024, 0)?, args![&sums, tiles as u64])?;
        Ok(Self { sums, tiles, made: None })
    }
    /// The numbers beside the sum, from number `i` on.
    pub(crate) fn beside(&self, i: usize) -> Arg {
        self.sums.from(self.tiles + 1 + i)
    }
    /// The sum, and the numbers beside it; waits for them.
    pub(crate) fn get(&self, cuda: &Cuda) -> Result<(u64, Vec<u64>)> {
        let mut found = cuda.get_from(&self.sums, self.tiles, "the sum of a scan")?;
        let total = found.remove(0);
        Ok((total, found))
    }
    /// The array of the numbers beside the sum, and where number `i` stands in it.
    pub(crate) fn into_beside(self, i: usize) -> (Buffer<u64>, usize) {
        (self.sums, self.tiles + 1 + i)
    }
    /// The offsets, 64-bit if the sum needs it; these are the counts that it was begun with.
    pub(crate) fn offsets(
        &self,
        cuda: &Cuda,
        counts: &Buffer<u32>,
        large: bool,
        what: &'static str,
    ) -> Result<Offsets> {
        if let Some(offsets) = &self.made {
            return Ok(Offsets::Small(offsets.clone()));
        }
        let n = counts.len();
        let offsets = cuda.alloc_offsets(large, n + 1, what)?;
        let program = cuda.program_of(SOURCE, if large { LARGE } else { SMALL })?;
        let all = args![counts, n as u64, &self.sums, &offsets];
        program.kernel("scan_offsets")?.launch(Shape::blocks(self.tiles, 256, 0)?, all)?;
        Ok(offsets)
    }
}

impl Cuda {
    /// `offsets[i]` = sum of the counts before i, for i up to and including n, where the sum of all is known: nothing
    /// is waited for.
    pub(crate) fn offsets_of_sum(&self, counts: &Buffer<u32>, sum: u64, what: &'static str) -> Result<Offsets> {
        Scan::begin(self, counts, sum, 0)?.offsets(self, counts, u32::try_from(sum).is_err(), what)
    }
    /// `offsets[i]` = sum of the counts before i, for i up to and including n; 64-bit where the sum needs it, and the
    /// sum. Waits for the sum.
    pub(crate) fn offsets(&self, counts: &Buffer<u32>, what: &'static str) -> Result<(Offsets, u64)> {
        let scan = Scan::begin(self, counts, u64::MAX, 0)?;
        let (total, _) = scan.get(self)?;
        Ok((scan.offsets(self, counts, u32::try_from(total).is_err(), what)?, total))
    }
}

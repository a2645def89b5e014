//! Prefix sums: offsets from counts. See `cuda/scan.cu`.

use super::Cuda;
use super::buffer::Buffer;
use super::defines::{Prefix, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Arg, Shape, args};
use super::pattern::Offsets;
use crate::Result;

const SOURCE: Source = source!("scan.cu");
/// Counts per block.
const TILE: usize = 2048;
/// Counts up to which a single block does the whole scan: it takes about as long as launching three kernels.
const FEW: usize = 16 << 10;

const SMALL: Prefix<'_> = Prefix { operator: "", settings: &[Setting::Type("Offset", "unsigned int")] };
const LARGE: Prefix<'_> = Prefix { operator: "", settings: &[Setting::Type("Offset", "unsigned long long")] };

/// The program for sums that fit 32 bits.
pub(crate) const PROGRAM: (Source, Prefix<'_>) = (SOURCE, SMALL);

/// The programs of this file with representative settings, for the test that compiles all.
pub(crate) fn programs() -> Vec<Unit> {
    let unit = |prefix: Prefix<'_>| Unit {
        source: SOURCE,
        prefix: prefix.text(),
        hot: &["scan_few", "scan_tiles", "scan_sums", "scan_offsets"],
    };
    vec![unit(SMALL), unit(LARGE)]
}

/// A scan in progress: the sums of tiles are being computed.
pub(crate) struct Scan {
    /// The sum before each tile, then the total, then the caller's extra numbers.
    sums: Buffer<u64>,
    tiles: usize,
    /// The offsets, if a single block computes them too.
    made: Option<Buffer<u32>>,
}

impl Scan {
    /// Starts a scan of the counts, whose sum is at most `most`. `beside` extra numbers, initialized to 0, are
    /// allocated behind the sum and downloaded with it.
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
    /// The extra numbers, from number `i` on.
    pub(crate) fn beside(&self, i: usize) -> Arg {
        self.sums.from(self.tiles + 1 + i)
    }
    /// The total and the extra numbers; waits for them.
    pub(crate) fn get(&self, cuda: &Cuda) -> Result<(u64, Vec<u64>)> {
        let mut found = cuda.get_from(&self.sums, self.tiles, "the sum of a scan")?;
        let total = found.remove(0);
        Ok((total, found))
    }
    /// The array of the extra numbers, and the position of number `i` in it.
    pub(crate) fn into_beside(self, i: usize) -> (Buffer<u64>, usize) {
        (self.sums, self.tiles + 1 + i)
    }
    /// The offsets, 64-bit if `large`; `counts` must be those passed to `begin`.
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
    /// `offsets[i]` = sum of the counts before i, for i up to and including n. The total is known, so there is no wait.
    pub(crate) fn offsets_of_sum(&self, counts: &Buffer<u32>, sum: u64, what: &'static str) -> Result<Offsets> {
        Scan::begin(self, counts, sum, 0)?.offsets(self, counts, u32::try_from(sum).is_err(), what)
    }
    /// `offsets[i]` = sum of the counts before i, for i up to and including n, 64-bit if the total needs it; and the
    /// total. Waits for the total.
    pub(crate) fn offsets(&self, counts: &Buffer<u32>, what: &'static str) -> Result<(Offsets, u64)> {
        let scan = Scan::begin(self, counts, u64::MAX, 0)?;
        let (total, _) = scan.get(self)?;
        Ok((scan.offsets(self, counts, u32::try_from(total).is_err(), what)?, total))
    }
}

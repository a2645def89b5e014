//! Offsets from counts: see `cuda/scan.cu`.

use super::Cuda;
use super::buffer::Buffer;
use super::front::{Front, Setting};
use super::jit::{Source, Unit, source};
use super::launch::{Shape, args};
use super::pattern::Offsets;
use crate::Result;

const SOURCE: Source = source!("scan.cu");
/// Counts that one block takes.
const TILE: usize = 2048;

const SMALL: Front<'_> = Front { operator: "", settings: &[Setting::Type("Offset", "unsigned int")] };
const LARGE: Front<'_> = Front { operator: "", settings: &[Setting::Type("Offset", "unsigned long long")] };

/// What CI compiles.
pub(crate) fn programs() -> Vec<Unit> {
    let unit = |front: Front<'_>| Unit {
        source: SOURCE,
        prefix: front.text(),
        hot: &["scan_tiles", "scan_sums", "scan_offsets"],
    };
    vec![unit(SMALL), unit(LARGE)]
}

impl Cuda {
    /// `offsets[i]` = sum of the counts before i, for i up to and including n; 64-bit where the sum needs it, and the
    /// sum. Waits for the sum.
    pub(crate) fn offsets(&self, counts: &Buffer<u32>, what: &'static str) -> Result<(Offsets, u64)> {
        let n = counts.len();
        // The last offset is one past the counts, so there is one item more than counts.
        let tiles = (n + 1).div_ceil(TILE);
        let sums = self.alloc::<u64>(tiles + 1, "sums of a scan")?;
        let program = self.program_of(SOURCE, SMALL)?;
        let shape = Shape::blocks(tiles, 256, 0)?;
        program.kernel("scan_tiles")?.launch(shape, args![counts, n as u64, &sums])?;
        program.kernel("scan_sums")?.launch(Shape::blocks(1, 1024, 0)?, args![&sums, tiles as u64])?;
        let total = self.get_at(&sums, tiles)?;
        if u32::try_from(total).is_ok() {
            let offsets = self.alloc::<u32>(n + 1, what)?;
            program.kernel("scan_offsets")?.launch(shape, args![counts, n as u64, &sums, &offsets])?;
            return Ok((Offsets::Small(offsets), total));
        }
        let offsets = self.alloc::<u64>(n + 1, what)?;
        let program = self.program_of(SOURCE, LARGE)?;
        program.kernel("scan_offsets")?.launch(shape, args![counts, n as u64, &sums, &offsets])?;
        Ok((Offsets::Large(offsets), total))
    }
}

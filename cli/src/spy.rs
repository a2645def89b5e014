//! Spy plots: the sparsity pattern as a picture.

use std::path::Path;

use sparring::par::filled;
use sparring::{Csr, Error, Result};

use crate::plot::Pixels;

/// Approximate number of pixels along the longer side.
const SIDE: usize = 800;

/// Draws `a` to the PNG file `path`: one pixel per block, darker for more entries; in a small matrix an entry is a
/// square of pixels.
pub(crate) fn draw(a: &Csr<f64>, path: &Path) -> Result<()> {
    if path.extension().is_none_or(|e| !e.eq_ignore_ascii_case("png")) {
        let message = format!("'{}' does not end in .png", path.display());
        return Err(Error::Argument { name: "spy", message });
    }
    let failed = |source| Error::Io { path: path.display().to_string(), source };
    let longer = a.nrows().max(a.ncols()).max(1);
    let (per_pixel, pixels) = (longer.div_ceil(SIDE), (SIDE / longer).max(1));
    let blocks = |n: usize| n.div_ceil(per_pixel).max(1);
    let (width, height) = (blocks(a.ncols()), blocks(a.nrows()));
    let mut counts = filled(width * height, 0u32, "a picture")?;
    for (i, j, _) in a.iter() {
        let count = &mut counts[i / per_pixel * width + j / per_pixel];
        *count = count.saturating_add(1);
    }
    let most = f64::from(counts.iter().copied().max().unwrap_or(0)).ln_1p();
    let mut pixel = filled(width * pixels * height * pixels, [u8::MAX; 3], "a picture")?;
    for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        // From light to dark blue; even a single entry must be visible.
        let light = 150.0 * (1.0 - f64::from(count).ln_1p() / most);
        let (x, y) = (at % width * pixels, at / width * pixels);
        for line in pixel[y * width * pixels..].chunks_mut(width * pixels).take(pixels) {
            line[x..x + pixels].fill([light as u8, light as u8, 110 + (light / 2.0) as u8]);
        }
    }
    let size = ((width * pixels) as u32, (height * pixels) as u32);
    Pixels::of(size, pixel).write(path).map_err(failed)
}

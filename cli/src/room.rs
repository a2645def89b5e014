//! Whether a result fits on the disk that it is to be written to, before it is computed.

use std::path::Path;

use sparring::{Error, Result};

use crate::formats::{Format, STANDARD};
use crate::output::thousands;
use crate::write::Output;

/// Bytes at least of a matrix of this shape with so many entries; 0 for what is compressed.
fn least(format: Format, (nrows, ncols): (usize, usize), entries: u128) -> u128 {
    let elements = nrows as u128 * ncols as u128;
    match format {
        // Doubles behind a header.
        Format::Npy => 128 + 8 * elements,
        // A digit, and a comma or the end of the line.
        Format::Csv => 2 * elements,
        Format::MatrixMarket if entries == elements => 2 * elements,
        // A row, a column and a value of a digit each.
        Format::MatrixMarket | Format::Tsv => 6 * entries,
        // A column, a colon, a value, a space.
        Format::Svmlight => 4 * entries,
        _ => 0,
    }
}

/// Refuses a file that is larger than the free space where it is to be, with both numbers.
/// # Errors
/// [`Error::Argument`].
pub(crate) fn check(output: &Output, shape: (usize, usize), entries: u128) -> Result<()> {
    if output.name == STANDARD || output.kind.packed.is_some() {
        return Ok(());
    }
    let bytes = least(output.kind.format, shape, entries);
    match free(Path::new(&output.name)) {
        Some(free) if bytes > free.into() => {
            let (name, bytes, free) =
                (&output.name, thousands(u64::try_from(bytes).unwrap_or(u64::MAX)), thousands(free));
            let message = format!("'{name}' takes {bytes} bytes at least, and its disk has {free} bytes free");
            Err(Error::Argument { name: "output", message })
        }
        _ => Ok(()),
    }
}

/// Bytes that a new file in the place of `path` may have; `None` for a pipe or a device, or where the system does not
/// say.
#[cfg(target_os = "linux")]
fn free(path: &Path) -> Option<u64> {
    let there = std::fs::metadata(path).ok();
    if there.as_ref().is_some_and(|about| !about.is_file()) {
        return None;
    }
    // A link is followed, as writing does.
    let target = if there.is_some() { std::fs::canonicalize(path).ok()? } else { path.to_owned() };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let about = rustix::fs::statvfs(folder).ok()?;
    about.f_bavail.checked_mul(about.f_frsize)
}
#[cfg(not(target_os = "linux"))]
fn free(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_smaller_than_said() {
        assert_eq!(least(Format::Npy, (3, 4), 5), 128 + 96);
        // "0,0\n" and "0\n0\n"; "1 1 0\n"; "1:0 ".
        assert_eq!([least(Format::Csv, (1, 2), 1), least(Format::MatrixMarket, (1, 2), 2)], [4, 4]);
        assert_eq!([Format::MatrixMarket, Format::Tsv, Format::Svmlight].map(|f| least(f, (9, 9), 1)), [6, 6, 4]);
        assert_eq!(least(Format::Npz, (9, 9), 81), 0);
        assert_eq!(least(Format::Npy, (usize::MAX, 2), 0), 128 + 16 * u128::from(u64::MAX));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn free_space_is_that_of_the_folder() {
        let folder = std::env::temp_dir();
        assert!(free(&folder.join("a file that is not there")).is_some_and(|free| free > 0));
        assert_eq!(free(Path::new("/dev/null")), None);
        assert_eq!(free(Path::new("/no such folder/a")), None);
    }
}

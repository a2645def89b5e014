//! Checks, before computing a result, that its file fits into the free disk space.

use std::path::Path;

use sparring::{Error, Result};

use crate::formats::{Format, STANDARD};
use crate::output::thousands;
use crate::write::Output;

/// Lower bound on the file size in bytes of a matrix of this shape with `entries` entries; 0 for compressed formats.
fn least(format: Format, (nrows, ncols): (usize, usize), entries: u128) -> u128 {
    let elements = nrows as u128 * ncols as u128;
    match format {
        // A header, then doubles.
        Format::Npy => 128 + 8 * elements,
        // One digit, and a comma or a line end.
        Format::Csv => 2 * elements,
        Format::MatrixMarket if entries == elements => 2 * elements,
        // A row, a column and a value of one digit each.
        Format::MatrixMarket | Format::Tsv => 6 * entries,
        // A column, a colon, a value and a space.
        Format::Svmlight => 4 * entries,
        _ => 0,
    }
}

/// Rejects a file that exceeds the free disk space; the message has both numbers.
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

/// Free bytes for a new file at `path`; `None` for a pipe or a device, or if the system does not report it.
#[cfg(target_os = "linux")]
fn free(path: &Path) -> Option<u64> {
    let there = std::fs::metadata(path).ok();
    if there.as_ref().is_some_and(|about| !about.is_file()) {
        return None;
    }
    // Symbolic links are followed, as when writing.
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

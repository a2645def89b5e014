//! Atomic replacement of files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file atomically: `body` writes a temporary file in the same folder, which is renamed to `path` once it is
/// complete. After an error, a signal or a full disk, the previous content of `path` is unchanged.
///
/// Symbolic links are followed, and a replaced file keeps its permissions. Anything but a regular file (a pipe, a
/// terminal, `/dev/null`) cannot be replaced and is written directly.
/// ```
/// use std::io::Write;
/// use sparring::io::write_file;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.txt");
/// write_file(&path, |out| out.write_all(b"complete"))?;
/// let broken = write_file(&path, |out| {
///     out.write_all(b"half")?;
///     Err(std::io::Error::other("no more"))
/// });
/// assert!(broken.is_err());
/// assert_eq!(std::fs::read(&path)?, b"complete");
/// # Ok::<(), std::io::Error>(())
/// ```
/// # Errors
/// Errors of the file system and of `body`.
pub fn write_file<E: From<io::Error>>(
    path: impl AsRef<Path>,
    body: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let path = path.as_ref();
    let there = fs::metadata(path).ok();
    if there.as_ref().is_some_and(|about| !about.is_file()) {
        return buffered(&File::create(path)?, body);
    }
    let target = if there.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let Some(name) = target.file_name() else {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let unfinished = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(".part")
        .make_in(folder, |path| OpenOptions::new().write(true).create_new(true).open(path))?;
    if let Some(about) = there {
        unfinished.as_file().set_permissions(about.permissions())?;
    }
    buffered(unfinished.as_file(), body)?;
    unfinished.persist(&target).map_err(|e| e.error)?;
    Ok(())
}

fn buffered<E: From<io::Error>>(file: &File, body: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<(), E> {
    let mut out = BufWriter::new(file);
    body(&mut out)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        write_file(path, |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn a_file_is_replaced_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        let names = || Vec::from_iter(fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()));
        write(&path, "one").unwrap();
        let broken = write_file(&path, |out| {
            out.write_all(&[b'x'; 100_000])?;
            assert_eq!((names().len(), fs::read(&path)?), (2, b"one".to_vec()));
            Err(io::Error::other("stop"))
        });
        assert_eq!((broken.unwrap_err().to_string().as_str(), fs::read(&path).unwrap()), ("stop", b"one".to_vec()));
        assert_eq!(names(), ["out.txt"]);
        write(&path, "two").unwrap();
        assert_eq!((names().len(), fs::read(&path).unwrap()), (1, b"two".to_vec()));
        let error = write(&folder.path().join("gone").join("a"), "").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(write(folder.path(), "").is_err());
        assert!(write(Path::new(""), "").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_pipes_stay() {
        use std::io::Read;
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a", &link).unwrap();
        write(&link, "two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // Opened for reading and writing, so that neither end blocks until the other is opened.
        let mut reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        write(&pipe, "through").unwrap();
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        let mut text = [0; 7];
        reader.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"through");
    }
}

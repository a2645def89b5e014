//! Compiled programs cached on disk, so that the compiler runs once for a program rather than once for a process.
//!
//! A file holds a magic number, the key, the length and the checksum of the image, then the image. A file that does not
//! check out is treated as missing: the program is compiled and the file replaced. Files are written under a temporary
//! name in the same folder and renamed, so that processes may share a folder. Since the driver runs what is stored
//! here, the folder must belong to the user and must not be writable by others; a folder that violates this, or that
//! cannot be created, is not used.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Once, OnceLock};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

/// The variable that names the folder; empty disables the cache.
const VARIABLE: &str = "SPARRING_CACHE";
/// First bytes of a file: its kind and the version of its layout.
const MARK: &[u8; 16] = b"sparring image 1";
/// Magic number, key, length, checksum.
const HEAD: usize = 16 + 32 + 8 + 32;
/// Upper bound of the length of an image.
const LONGEST: u64 = 1 << 28;
/// Size of the folder above which the oldest files are removed, down to half of it.
const MOST: u64 = 1 << 29;
/// Prefix of files being written, and the age from which one counts as abandoned.
const UNFINISHED: &str = "unfinished-";
const LEFT_OVER: Duration = Duration::from_secs(24 * 60 * 60);

/// A hash of everything that an image depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key([u8; 32]);

impl Key {
    /// The key of these texts, in this order.
    pub(super) fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut sum = Sha256::new();
        for part in parts {
            // The length goes first, so that no two lists of texts hash alike.
            sum.update((part.len() as u64).to_le_bytes());
            sum.update(part);
        }
        Self(sum.finalize().into())
    }
    /// In hexadecimal.
    pub(super) fn digits(&self) -> String {
        self.0.iter().map(|b| format!("{b:02x}")).collect()
    }
    fn file(&self) -> String {
        self.digits() + ".image"
    }
}

/// A folder of images, or none.
pub(super) struct Cache {
    wanted: Result<PathBuf, String>,
    /// The folder once it was checked, or the reason why it is not used.
    opened: OnceLock<Result<PathBuf, String>>,
    tidied: Once,
}

impl Default for Cache {
    /// The user's default folder.
    fn default() -> Self {
        Self::at(usual(|name| std::env::var_os(name)))
    }
}

impl Cache {
    pub(super) fn at(folder: Option<PathBuf>) -> Self {
        let wanted = folder.ok_or_else(|| "no folder was given".to_string());
        Self { wanted, opened: OnceLock::new(), tidied: Once::new() }
    }
    /// The folder, or the reason why there is none.
    pub(super) fn folder(&self) -> Result<&Path, &str> {
        let opened = self.opened.get_or_init(|| self.wanted.clone().and_then(open));
        opened.as_deref().map_err(String::as_str)
    }
    /// The image of that key, if it exists and is intact.
    pub(super) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let bytes = self.read(&key.file(), LONGEST)?;
        let (found, image) = bytes.split_at_checked(HEAD)?;
        (found == head(key, image)).then(|| image.to_vec())
    }
    /// Stores the image. Failure is not an error: the program will be compiled again.
    pub(super) fn put(&self, key: &Key, image: &[u8]) {
        let Ok(folder) = self.folder() else { return };
        self.tidied.call_once(|| tidy(folder, MOST));
        let _ = self.write(&key.file(), &[&head(key, image), image]);
    }
    /// The content of a file of the folder, if it is a regular file of at most `longest` bytes.
    pub(super) fn read(&self, name: &str, longest: u64) -> Option<Vec<u8>> {
        let file = self.folder().ok()?.join(name);
        let about = std::fs::symlink_metadata(&file).ok()?;
        if !about.is_file() || about.len() > longest {
            return None;
        }
        std::fs::read(&file).ok()
    }
    /// Writes a file of the folder atomically: others see all of it or nothing.
    pub(super) fn write(&self, name: &str, parts: &[&[u8]]) -> std::io::Result<()> {
        let folder = self.folder().map_err(std::io::Error::other)?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.persist(folder.join(name))?;
        Ok(())
    }
}

fn head(key: &Key, image: &[u8]) -> Vec<u8> {
    let mut head = Vec::with_capacity(HEAD);
    head.extend(MARK);
    head.extend(key.0);
    head.extend((image.len() as u64).to_le_bytes());
    head.extend(Sha256::digest(image));
    head
}

/// The folder of this user: `SPARRING_CACHE`, else the one given by the XDG Base Directory Specification.
fn usual(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    if let Some(named) = variable(VARIABLE) {
        return (!named.is_empty()).then(|| named.into());
    }
    // The specification requires relative paths to be ignored.
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")));
    caches.map(|c| c.join("sparring"))
}

/// Creates the folder if it is missing, and checks that only the user may write to it.
fn open(folder: PathBuf) -> Result<PathBuf, String> {
    let refuse = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder).map_err(refuse)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let about = std::fs::metadata(&folder).map_err(refuse)?;
        if about.uid() != rustix::process::geteuid().as_raw() {
            return Err(format!("{}: it belongs to another user", folder.display()));
        }
        if about.mode() & 0o022 != 0 {
            return Err(format!("{}: others may write to it (chmod go-w)", folder.display()));
        }
    }
    Ok(folder)
}

/// Removes abandoned files and, above `most` bytes, the oldest images down to half of that.
fn tidy(folder: &Path, most: u64) {
    let now = SystemTime::now();
    let mut images = vec![];
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let (Some(name), Ok(about)) = (name.to_str(), entry.metadata()) else { continue };
        let written = about.modified().unwrap_or(now);
        if name.starts_with(UNFINISHED) {
            if now.duration_since(written).is_ok_and(|age| age > LEFT_OVER) {
                let _ = std::fs::remove_file(path);
            }
        } else if name.ends_with(".image") {
            images.push((written, about.len(), path));
        }
    }
    let mut bytes: u64 = images.iter().map(|i| i.1).sum();
    if bytes <= most {
        return;
    }
    images.sort();
    for (_, len, path) in images {
        if bytes <= most / 2 {
            break;
        }
        if std::fs::remove_file(path).is_ok() {
            bytes -= len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let top = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(Some(top.path().join("a/b")));
        (top, cache)
    }
    fn file(cache: &Cache, key: &Key) -> PathBuf {
        cache.folder().expect("a folder").join(key.file())
    }

    #[test]
    fn stored_files_are_found_by_another_process() {
        let (top, cache) = cache();
        let key = Key::of(["text", "options"]);
        assert_eq!(cache.get(&key), None);
        cache.put(&key, b"an image");
        assert_eq!(cache.get(&key).as_deref(), Some(&b"an image"[..]));
        let other = Cache::at(Some(top.path().join("a/b")));
        assert_eq!(other.get(&key).as_deref(), Some(&b"an image"[..]));
        assert_eq!(std::fs::read_dir(top.path().join("a/b")).expect("a folder").count(), 1, "nothing unfinished");
        cache.put(&key, b"");
        assert_eq!(cache.get(&key).as_deref(), Some(&b""[..]), "replaced");
    }

    #[test]
    fn keys_distinguish_lists() {
        let keys = [Key::of(["ab", "c"]), Key::of(["a", "bc"]), Key::of(["abc"]), Key::of(["abc", ""]), Key::of([])];
        for (i, a) in keys.iter().enumerate() {
            assert!(keys.iter().skip(i + 1).all(|b| a != b), "{i}");
        }
        // Stable: another build must find the files that this one wrote.
        assert!(Key::of(["a"]).file().starts_with("ae6121c8"), "{}", Key::of(["a"]).file());
    }

    #[test]
    fn invalid_files_are_ignored_and_replaced() {
        let (_top, cache) = cache();
        let (key, other) = (Key::of(["one"]), Key::of(["two"]));
        cache.put(&key, b"the image");
        let at = file(&cache, &key);
        let whole = std::fs::read(&at).expect("a file");
        for i in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[i] ^= 1;
            std::fs::write(&at, damaged).expect("written");
            assert_eq!(cache.get(&key), None, "byte {i} changed");
            std::fs::write(&at, &whole[..i]).expect("written");
            assert_eq!(cache.get(&key), None, "cut at {i}");
        }
        std::fs::write(&at, [&whole[..], b"x"].concat()).expect("written");
        assert_eq!(cache.get(&key), None, "longer");
        std::fs::write(file(&cache, &other), &whole).expect("written");
        assert_eq!(cache.get(&other), None, "under another's name");
        cache.put(&key, b"the image");
        assert!(cache.get(&key).is_some(), "replaced");
    }

    #[test]
    #[cfg(unix)]
    fn the_folder_must_be_writable_by_its_owner_alone() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let (top, cache) = cache();
        let folder = cache.folder().expect("a folder").to_path_buf();
        assert_eq!(std::fs::metadata(&folder).expect("it is there").mode() & 0o777, 0o700);
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).expect("changed");
        let open = Cache::at(Some(folder));
        assert!(open.folder().expect_err("refused").contains("others may write"));
        let key = Key::of(["x"]);
        open.put(&key, b"image");
        assert_eq!(open.get(&key), None, "not used at all");
        // A file stands in the way of the folder: no cache, no error.
        let blocked = top.path().join("file");
        std::fs::write(&blocked, "").expect("written");
        let none = Cache::at(Some(blocked.join("below")));
        none.put(&key, b"image");
        assert!(none.get(&key).is_none() && none.folder().is_err());
        assert!(Cache::at(None).get(&key).is_none());
    }

    #[test]
    fn the_default_folder() {
        let with = |list: &[(&str, &str)]| usual(|n| list.iter().find(|(k, _)| *k == n).map(|(_, v)| v.into()));
        assert_eq!(with(&[("SPARRING_CACHE", "/x"), ("HOME", "/h")]), Some("/x".into()));
        assert_eq!(with(&[("SPARRING_CACHE", ""), ("HOME", "/h")]), None);
        assert_eq!(with(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]), Some("/c/sparring".into()));
        assert_eq!(with(&[("XDG_CACHE_HOME", "c"), ("HOME", "/h")]), Some("/h/.cache/sparring".into()));
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn the_oldest_files_are_removed_when_full() {
        let (_top, cache) = cache();
        let keys: Vec<_> = (0..4).map(|i| Key::of([format!("{i}").as_str()])).collect();
        for (i, key) in keys.iter().enumerate() {
            cache.put(key, &[0; 1000]);
            let age = SystemTime::now() - Duration::from_secs(3600 * (10 - i as u64));
            let written = std::fs::File::options().append(true).open(file(&cache, key)).expect("a file");
            written.set_modified(age).expect("set");
        }
        let folder = cache.folder().expect("a folder");
        let left = folder.join(format!("{UNFINISHED}x"));
        std::fs::write(&left, "").expect("written");
        let old = std::fs::File::options().append(true).open(&left).expect("a file");
        old.set_modified(SystemTime::now() - 2 * LEFT_OVER).expect("set");
        tidy(folder, 10_000);
        assert!(keys.iter().all(|k| cache.get(k).is_some()), "room for all");
        assert!(!left.exists());
        tidy(folder, 3000);
        let here: Vec<_> = keys.iter().map(|k| cache.get(k).is_some()).collect();
        assert_eq!(here, [false, false, false, true], "half of 3000 holds one");
    }

    #[test]
    fn concurrent_writers_of_one_key_leave_a_complete_file() {
        let (top, _) = cache();
        let key = Key::of(["shared"]);
        std::thread::scope(|s| {
            for t in 0..8u8 {
                let folder = top.path().join("shared");
                s.spawn(move || {
                    let cache = Cache::at(Some(folder));
                    for _ in 0..50 {
                        cache.put(&key, &[t; 5000]);
                        let image = cache.get(&key).expect("always whole");
                        assert!(image.len() == 5000 && image.iter().all(|b| *b == image[0]));
                    }
                });
            }
        });
    }
}

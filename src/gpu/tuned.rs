//! Tuned tilings, stored beside the compiled programs, one file per case.
//!
//! A file is JSON: the key that the choice depends on, and the choice. Its name is a hash of the key, and it holds the
//! key once more: a file whose key differs, that cannot be read, or that is of another version is treated as missing.
//! Files are written under a temporary name and renamed, so that processes may share the folder; if two tune the same
//! case, the later result stays.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Cuda;
use super::cache::{self, Cache};
use super::driver::driver_version;
use super::nvrtc::Nvrtc;
use super::tiling::Tiling;
use crate::{Error, Result};

/// Version of the layout and the meaning of a file.
const FORMAT: u32 = 1;
/// Suffix of file names.
const ENDING: &str = ".tuning";
/// Upper bounds of the size of a file, and of an exported list.
const LONGEST: u64 = 1 << 16;
const LONGEST_LIST: u64 = 1 << 26;

/// The platform that runs a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Platform {
    device: String,
    capability: (u32, u32),
    multiprocessors: u32,
    /// The CUDA version of the driver, and the version of the compiler.
    driver: (u32, u32),
    nvrtc: (u32, u32),
}

impl Platform {
    /// The device with its driver and the compiler, if there is one.
    pub(super) fn of(cuda: &Cuda) -> Option<Self> {
        let limits = cuda.limits();
        Some(Self {
            device: limits.name.clone(),
            capability: limits.capability,
            multiprocessors: limits.multiprocessors,
            driver: driver_version().ok()?,
            nvrtc: Nvrtc::get().ok()?.version(),
        })
    }
}

/// The key that a choice depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Key {
    pub(super) machine: Platform,
    /// Hashes of the kernel's file and of the printed operator.
    pub(super) kernel: String,
    pub(super) operator: String,
    pub(super) r#type: String,
    pub(super) update: String,
    /// Extents and layouts, as far as the time depends on them.
    pub(super) layout: String,
    /// Bit length of the number of members.
    pub(super) batch_bits: u32,
}

impl Key {
    fn file(&self) -> String {
        // The key consists of text and numbers, so serialization does not fail.
        let text = serde_json::to_string(self).unwrap_or_default();
        cache::Key::of([text.as_str(), &FORMAT.to_string()]).digits() + ENDING
    }
}

/// A case and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    format: u32,
    key: Key,
    pub(super) tiling: Tiling,
    /// Milliseconds with the rule's tiling and with this one, when it was tuned.
    rule_ms: f64,
    best_ms: f64,
}

impl Entry {
    pub(super) fn new(key: Key, tiling: Tiling, rule_ms: f64, best_ms: f64) -> Self {
        Self { format: FORMAT, key, tiling, rule_ms, best_ms }
    }
}

/// The result stored for that case.
pub(super) fn get(cache: &Cache, key: &Key) -> Option<Entry> {
    let entry: Entry = serde_json::from_slice(&cache.read(&key.file(), LONGEST)?).ok()?;
    (entry.format == FORMAT && entry.key == *key).then_some(entry)
}

/// Stores a result.
pub(super) fn put(cache: &Cache, entry: &Entry) -> std::io::Result<()> {
    let text = serde_json::to_vec_pretty(entry).map_err(std::io::Error::from)?;
    cache.write(&entry.key.file(), &[&text])
}

/// All intact results, in the order of file names.
fn all(cache: &Cache) -> Vec<Entry> {
    let Ok(folder) = cache.folder() else { return vec![] };
    let names =
        std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|f| f.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(ENDING)).collect();
    names.sort_unstable();
    let read = |name: &String| {
        let entry: Entry = serde_json::from_slice(&cache.read(name, LONGEST)?).ok()?;
        (entry.format == FORMAT && entry.key.file() == *name).then_some(entry)
    };
    names.iter().filter_map(read).collect()
}

/// Converts an I/O error of a file.
fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::Io { path, source }
}

fn export(cache: &Cache, path: &Path) -> Result<usize> {
    let entries = all(cache);
    let text = serde_json::to_vec_pretty(&entries).map_err(|e| failed(path)(e.into()))?;
    std::fs::write(path, [&text[..], b"\n"].concat()).map_err(failed(path))?;
    Ok(entries.len())
}

fn import(cache: &Cache, path: &Path) -> Result<usize> {
    if std::fs::metadata(path).map_err(failed(path))?.len() > LONGEST_LIST {
        let message = format!("{}: it is longer than {LONGEST_LIST} bytes", path.display());
        return Err(Error::Argument { name: "tuning", message });
    }
    let text = std::fs::read(path).map_err(failed(path))?;
    let entries: Vec<Entry> = serde_json::from_slice(&text).map_err(|e| Error::Parse {
        file: path.display().to_string(),
        line: e.line() as u64,
        column: e.column() as u64,
        message: e.to_string(),
    })?;
    let folder = cache.folder().map_err(|why| Error::Argument { name: "cache folder", message: why.into() })?;
    let known = entries.iter().filter(|entry| entry.format == FORMAT);
    known.map(|entry| put(cache, entry).map_err(failed(folder)).map(|()| 1)).sum()
}

impl Cuda {
    /// Writes all tuning results, including those of other devices, into one JSON file; returns the number of cases.
    /// # Errors
    /// [`Error::Io`].
    pub fn export_tuning(&self, path: impl AsRef<Path>) -> Result<usize> {
        export(self.programs().cache(), path.as_ref())
    }
    /// Stores the results of such a file in the folder of compiled programs, replacing those of the same cases; returns
    /// the number of cases. Results of another version of this library are skipped.
    ///
    /// Kernels that this value has already chosen stay as they are.
    /// # Errors
    /// [`Error::Io`], [`Error::Parse`] if it is not such a file, [`Error::Argument`] if there is no folder.
    pub fn import_tuning(&self, path: impl AsRef<Path>) -> Result<usize> {
        import(self.programs().cache(), path.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(layout: &str, rows: usize) -> Entry {
        let machine = Platform {
            device: "a device".into(),
            capability: (9, 0),
            multiprocessors: 132,
            driver: (13, 0),
            nvrtc: (13, 0),
        };
        let key = Key {
            machine,
            kernel: "k".into(),
            operator: "o".into(),
            r#type: "f64".into(),
            update: "C = A B".into(),
            layout: layout.into(),
            batch_bits: 20,
        };
        let tiling = Tiling { rows, columns: 2, times: 1, group: 4, turns: 2, prefetch: true, resident: 0 };
        Entry::new(key, tiling, 0.25, 0.125)
    }
    fn cache() -> (tempfile::TempDir, Cache) {
        let top = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(Some(top.path().join("cache")));
        (top, cache)
    }

    #[test]
    fn entries_are_found_by_equal_keys_only() {
        let (top, cache) = cache();
        let found = entry("a", 3);
        assert_eq!(get(&cache, &found.key), None);
        put(&cache, &found).expect("written");
        put(&cache, &entry("b", 4)).expect("written");
        let other = Cache::at(Some(top.path().join("cache")));
        assert_eq!(get(&other, &found.key), Some(found.clone()));
        let changed = |change: fn(&mut Key)| {
            let mut key = found.key.clone();
            change(&mut key);
            get(&cache, &key)
        };
        let changes: [fn(&mut Key); 10] = [
            |key| key.machine.device.push('x'),
            |key| key.machine.capability.1 = 1,
            |key| key.machine.multiprocessors = 1,
            |key| key.machine.driver.0 = 14,
            |key| key.machine.nvrtc.0 = 12,
            |key| key.kernel.push('x'),
            |key| key.operator.push('x'),
            |key| key.r#type = "f32".into(),
            |key| key.update.push('x'),
            |key| key.batch_bits = 21,
        ];
        assert!(changes.into_iter().all(|change| changed(change).is_none()));
        put(&cache, &entry("a", 1)).expect("written");
        assert_eq!(get(&cache, &found.key).map(|e| e.tiling.rows), Some(1), "replaced");
    }

    #[test]
    fn invalid_files_are_ignored() {
        let (_top, cache) = cache();
        let (found, other) = (entry("a", 3), entry("b", 4));
        put(&cache, &found).expect("written");
        let name = found.key.file();
        let whole = cache.read(&name, LONGEST).expect("a file");
        for cut in 0..whole.len() {
            cache.write(&name, &[&whole[..cut]]).expect("written");
            assert_eq!(get(&cache, &found.key), None, "cut at {cut}");
        }
        for text in ["", "[]", "{}", "null", "\u{0}", r#"{"format": 1}"#] {
            cache.write(&name, &[text.as_bytes()]).expect("written");
            assert_eq!(get(&cache, &found.key), None, "{text}");
        }
        let another = String::from_utf8(whole.clone()).expect("text");
        for (from, to) in
            [("\"format\": 1", "\"format\": 2"), ("a device", "b device"), ("\"rows\": 3", "\"rows\": -3")]
        {
            cache.write(&name, &[another.replace(from, to).as_bytes()]).expect("written");
            assert_eq!(get(&cache, &found.key), None, "{to}");
        }
        cache.write(&other.key.file(), &[&whole]).expect("written");
        assert_eq!(get(&cache, &other.key), None, "under another's name");
        assert!(all(&cache).is_empty());
        put(&cache, &found).expect("written");
        assert_eq!(all(&cache), [found]);
        assert!(get(&Cache::at(None), &other.key).is_none() && put(&Cache::at(None), &other).is_err());
    }

    #[test]
    fn exported_entries_are_imported() {
        let ((top, here), (_other, there)) = (cache(), cache());
        let path = top.path().join("all.json");
        assert_eq!(export(&here, &path).expect("none"), 0);
        let entries = [entry("a", 1), entry("b", 2), entry("c", 3)];
        entries.iter().for_each(|e| put(&here, e).expect("written"));
        assert_eq!(export(&here, &path).expect("three"), 3);
        put(&there, &entry("b", 5)).expect("written");
        assert_eq!(import(&there, &path).expect("three"), 3);
        assert!(entries.iter().all(|e| get(&there, &e.key).as_ref() == Some(e)));
        // Results of another version are skipped.
        let text = std::fs::read_to_string(&path).expect("text").replace("\"format\": 1", "\"format\": 2");
        std::fs::write(&path, text).expect("written");
        assert_eq!(import(&there, &path).expect("none"), 0);
        std::fs::write(&path, "[\n  {\"format\": 1},\n]").expect("written");
        let said = import(&there, &path).expect_err("no list of cases").to_string();
        assert!(said.contains("all.json:2:") && said.contains("missing field"), "{said}");
        assert!(matches!(import(&there, &top.path().join("none")), Err(Error::Io { .. })));
        std::fs::write(&path, "[]").expect("written");
        assert!(matches!(import(&Cache::at(None), &path), Err(Error::Argument { .. })));
    }

    #[test]
    fn concurrent_writers_leave_a_complete_file() {
        let (top, _) = cache();
        std::thread::scope(|s| {
            for rows in 1..5 {
                let folder = top.path().join("shared");
                s.spawn(move || {
                    let (cache, mine) = (Cache::at(Some(folder)), entry("a", rows));
                    for _ in 0..50 {
                        put(&cache, &mine).expect("written");
                        assert!(get(&cache, &mine.key).is_some(), "always whole");
                    }
                });
            }
        });
    }
}

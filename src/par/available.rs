//! Memory that the system has left for this process.
//!
//! Two limits apply: what the host can still back with memory, and what the control groups leave, the process's own
//! group and all its ancestors. A group's usage includes the page cache of files it has read; that is reclaimed on
//! demand, so it is not counted here.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes that the system can still back with memory: free or reclaimable, swap included, but no more than the control
/// groups leave. If the system gives no answer, there is no limit.
pub(super) fn available() -> u128 {
    let machine = with_text(Path::new("/proc/meminfo"), meminfo).unwrap_or(u128::MAX);
    let groups = with_text(Path::new("/proc/self/cgroup"), |own| groups(own, Path::new("/sys/fs/cgroup")));
    machine.min(groups.unwrap_or(u128::MAX))
}

/// Applies `f` to the text of a file, which is read to the stack: this must work when memory is exhausted.
fn with_text<T>(path: &Path, f: impl FnOnce(&str) -> T) -> Option<T> {
    let mut buffer = [0; 8192];
    let mut file = File::open(path).ok()?;
    let mut n = 0;
    loop {
        match file.read(&mut buffer[n..]).ok()? {
            0 => break,
            read => n += read,
        }
    }
    Some(f(std::str::from_utf8(&buffer[..n]).ok()?))
}

/// Available memory plus free swap, from the lines of `/proc/meminfo`.
fn meminfo(text: &str) -> u128 {
    let bytes = |name: &str| Some(number(text, name)? * 1024);
    bytes("MemAvailable:").map_or(u128::MAX, |free| free + bytes("SwapFree:").unwrap_or(0))
}

/// The number after `name` in the line that begins with it.
fn number(text: &str, name: &str) -> Option<u128> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()?.parse().ok())?)
}

/// The memory left by the groups in `/proc/self/cgroup` and their ancestors; `root` is the mount point.
fn groups(own: &str, root: &Path) -> u128 {
    let left = own.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        match (parts.next()?, parts.next()?) {
            ("", group) => Some(left_of(root, group, &V2)),
            (kinds, group) if kinds.split(',').any(|k| k == "memory") => {
                Some(left_of(&root.join("memory"), group, &V1))
            }
            _ => None,
        }
    });
    left.min().unwrap_or(u128::MAX)
}

/// Files of a group, and the names of its reclaimable page cache in `memory.stat`.
struct Names {
    limit: &'static str,
    used: &'static str,
    files: [&'static str; 2],
}
const V2: Names = Names { limit: "memory.max", used: "memory.current", files: ["inactive_file", "active_file"] };
const V1: Names = Names {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    files: ["total_inactive_file", "total_active_file"],
};

/// The least that `group` and its ancestors leave. In a container some or all of them are invisible, and the root
/// stands for them.
fn left_of(root: &Path, group: &str, names: &Names) -> u128 {
    let mut left = u128::MAX;
    for group in Path::new(group.trim_start_matches('/')).ancestors() {
        let folder = root.join(group);
        let read = |name: &str| with_text(&folder.join(name), |text| text.trim().parse().ok()).flatten();
        // `max` means no limit.
        let Some(limit): Option<u128> = read(names.limit) else { continue };
        let files = |text: &str| names.files.iter().filter_map(|name| number(text, name)).sum();
        let files = with_text(&folder.join("memory.stat"), files).unwrap_or(0);
        left = left.min(limit.saturating_sub(read(names.used).unwrap_or(0).saturating_sub(files)));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_from_the_system() {
        let text = "MemTotal:  9 kB\nMemFree:  1 kB\nMemAvailable:     5 kB\nSwapTotal: 4 kB\nSwapFree:        2 kB\n";
        assert_eq!(meminfo(text), 7 * 1024);
        assert_eq!(meminfo("MemAvailable: 5 kB"), 5 * 1024);
        assert_eq!(meminfo("MemTotal: 5 kB"), u128::MAX);
        assert!(available() > 1 << 20);
    }

    /// A tree of groups as the system presents it: (folder, file, text).
    fn tree(name: &str, files: &[(&str, &str, &str)]) -> std::path::PathBuf {
        let root = std::env::temp_dir().join(format!("sparring-{name}-{}", std::process::id()));
        for (folder, file, text) in files {
            std::fs::create_dir_all(root.join(folder)).unwrap();
            std::fs::write(root.join(folder).join(file), text).unwrap();
        }
        root
    }

    #[test]
    fn the_tightest_cgroup_above_the_process_applies() {
        let root = tree(
            "v2",
            &[
                ("", "memory.max", "max\n"),
                ("user", "memory.max", "1000\n"),
                ("user", "memory.current", "900\n"),
                ("user", "memory.stat", "anon 500\nfile 400\ninactive_file 100\nactive_file 50\n"),
                ("user/job", "memory.max", "600\n"),
                ("user/job", "memory.current", "100\n"),
                ("other", "memory.max", "1\n"),
            ],
        );
        assert_eq!(groups("0::/user/job\n", &root), 250);
        assert_eq!(groups("0::/user\n", &root), 250);
        assert_eq!(groups("0::/\n", &root), u128::MAX);
        assert_eq!(groups("0::/job/that/is/not/seen\n", &root), u128::MAX);
        assert_eq!(groups("", &root), u128::MAX);
        std::fs::write(root.join("user/job/memory.current"), "590").unwrap();
        assert_eq!(groups("0::/user/job\n", &root), 10);
        std::fs::write(root.join("user/job/memory.current"), "700").unwrap();
        assert_eq!(groups("0::/user/job\n", &root), 0);
        std::fs::remove_dir_all(root).unwrap();
    }

    /// Version 1 has a folder for each kind of limit; a container sees its own group as the root.
    #[test]
    fn cgroup_version_1_is_read() {
        let root = tree(
            "v1",
            &[
                ("memory", "memory.limit_in_bytes", "9223372036854771712\n"),
                ("memory", "memory.usage_in_bytes", "5000\n"),
                ("memory/docker/x", "memory.limit_in_bytes", "3000\n"),
                ("memory/docker/x", "memory.usage_in_bytes", "2000\n"),
                ("memory/docker/x", "memory.stat", "inactive_file 7\ntotal_inactive_file 300\n"),
            ],
        );
        assert_eq!(groups("3:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n", &root), 1300);
        assert!(groups("4:memory:/not/seen\n", &root) > 1 << 62);
        std::fs::remove_dir_all(root).unwrap();
    }
}

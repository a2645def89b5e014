//! How much memory the process has held at most, as the system counts it.

/// Forgets the peak so far, so that [`peak`] speaks of what follows; whether the system does that.
pub(crate) fn forget_peak() -> bool {
    cfg!(target_os = "linux") && std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Most bytes resident at once since the start or since [`forget_peak`]; `None` where the system does not say.
pub(crate) fn peak() -> Option<u64> {
    bytes(&status()?, "VmHWM:")
}

/// What the process grows by beyond what it held at the start.
pub(crate) struct Growth(Option<u64>);

impl Growth {
    /// From here on.
    pub(crate) fn start() -> Self {
        // Without a peak of its own the part would be charged for what came before it.
        Self(if forget_peak() { status().and_then(|status| bytes(&status, "VmRSS:")) } else { None })
    }
    /// At its peak so far; `None` where the system does not say.
    pub(crate) fn bytes(&self) -> Option<u64> {
        Some(peak()?.saturating_sub(self.0?))
    }
}

fn status() -> Option<String> {
    std::fs::read_to_string("/proc/self/status").ok()
}

fn bytes(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_its_line() {
        let status = "VmPeak:\t 9 kB\nVmHWM:\t   12 kB\nVmRSS:\t 3 kB\n";
        assert_eq!([bytes(status, "VmHWM:"), bytes(status, "VmRSS:")], [Some(12 << 10), Some(3 << 10)]);
        assert_eq!(bytes("VmPeak:\t 9 kB\n", "VmHWM:"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_touched_shows() {
        let growth = Growth::start();
        let touched = std::hint::black_box(vec![1u8; 50 << 20]);
        assert!(peak().is_none_or(|bytes| bytes > 50 << 20));
        // Other tests may give memory back meanwhile.
        assert!(growth.bytes().is_none_or(|bytes| bytes > 20 << 20));
        drop(touched);
    }
}

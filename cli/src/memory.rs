//! How much memory the process has held at most, as the system counts it.

/// Forgets the peak so far, so that [`peak`] speaks of what follows; whether the system does that.
pub(crate) fn forget_peak() -> bool {
    cfg!(target_os = "linux") && std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Most bytes resident at once since the start or since [`forget_peak`]; `None` where the system does not say.
pub(crate) fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    high_water(&status)
}

fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_its_line() {
        assert_eq!(high_water("VmPeak:\t 9 kB\nVmHWM:\t   12 kB\nVmRSS:\t 3 kB\n"), Some(12 << 10));
        assert_eq!(high_water("VmPeak:\t 9 kB\n"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_touched_shows() {
        let touched = std::hint::black_box(vec![1u8; 50 << 20]);
        assert!(peak().is_none_or(|bytes| bytes > 50 << 20));
        drop(touched);
    }
}

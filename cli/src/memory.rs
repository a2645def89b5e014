//! Peak memory of the process or of a GPU.

use sparring::{Cuda, Error};

/// Fails if `bytes` exceed the budget or, without a budget, the available memory.
/// # Errors
/// [`Error::Budget`], [`Error::OutOfMemory`].
pub(crate) fn allow(what: &'static str, bytes: u128, budget: Option<u64>) -> sparring::Result<()> {
    match budget {
        Some(budget) if bytes > budget.into() => Err(Error::Budget { what, bytes, budget: budget.into() }),
        None if available().is_some_and(|left| bytes > left.into()) => Err(Error::OutOfMemory { what, bytes }),
        _ => Ok(()),
    }
}

/// Bytes available without swapping; `None` if the system does not report it.
fn available() -> Option<u64> {
    bytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// Resets the peak measured by [`peak`]. Returns whether the system supports it.
pub(crate) fn forget_peak() -> bool {
    cfg!(target_os = "linux") && std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Peak resident bytes since the start or [`forget_peak`]; `None` if the system does not report it.
pub(crate) fn peak() -> Option<u64> {
    bytes(&status()?, "VmHWM:")
}

/// Growth of memory since the start: resident memory of the process, or memory in use on a GPU.
pub(crate) enum Growth<'a> {
    Process(Option<u64>),
    Device(&'a Cuda, Option<u64>),
}

impl<'a> Growth<'a> {
    /// Starts measuring, on the GPU if there is one.
    pub(crate) fn start(cuda: Option<&'a Cuda>) -> Self {
        match cuda {
            // Without a reset, the peak would include earlier allocations.
            None => {
                Self::Process(if forget_peak() { status().and_then(|status| bytes(&status, "VmRSS:")) } else { None })
            }
            Some(cuda) => Self::Device(cuda, cuda.reset_peak_memory().and_then(|()| cuda.used_memory()).ok()),
        }
    }
    /// Growth at its peak so far; `None` if the system does not report it.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let (peak, before) = match self {
            Self::Process(before) => (peak()?, *before),
            Self::Device(cuda, before) => (cuda.peak_memory().ok()?, *before),
        };
        Some(peak.saturating_sub(before?))
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
    fn what_is_too_large_is_refused() {
        assert!(allow("a table", 8, Some(8)).is_ok() && allow("a table", 8, None).is_ok());
        let said = allow("a table", 9, Some(8)).unwrap_err().to_string();
        assert_eq!(said, "memory budget: a table needs 9 bytes, the budget is 8 bytes");
        assert!(available().is_none() || allow("a table", u128::MAX, None).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_touched_shows() {
        let growth = Growth::start(None);
        let touched = std::hint::black_box(vec![1u8; 50 << 20]);
        assert!(peak().is_none_or(|bytes| bytes > 50 << 20));
        // Concurrent tests may free memory.
        assert!(growth.bytes().is_none_or(|bytes| bytes > 20 << 20));
        drop(touched);
    }
}

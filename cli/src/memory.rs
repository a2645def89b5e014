//! How much memory the process, or a GPU, has held at most.

use sparring::{Cuda, Error};

/// Refuses what needs more than the budget, or without one more than the system has left.
/// # Errors
/// [`Error::Budget`], [`Error::OutOfMemory`].
pub(crate) fn allow(what: &'static str, bytes: u128, budget: Option<u64>) -> sparring::Result<()> {
    match budget {
        Some(budget) if bytes > budget.into() => Err(Error::Budget { what, bytes, budget: budget.into() }),
        None if available().is_some_and(|left| bytes > left.into()) => Err(Error::OutOfMemory { what, bytes }),
        _ => Ok(()),
    }
}

/// Bytes that a process may take without driving others out; `None` where the system does not say.
fn available() -> Option<u64> {
    bytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// Forgets the peak so far, so that [`peak`] speaks of what follows; whether the system does that.
pub(crate) fn forget_peak() -> bool {
    cfg!(target_os = "linux") && std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Most bytes resident at once since the start or since [`forget_peak`]; `None` where the system does not say.
pub(crate) fn peak() -> Option<u64> {
    bytes(&status()?, "VmHWM:")
}

/// What is held beyond what was held at the start: by the process as the system counts it, or of a GPU's memory.
pub(crate) enum Growth<'a> {
    Process(Option<u64>),
    Device(&'a Cuda, Option<u64>),
}

impl<'a> Growth<'a> {
    /// From here on, on the GPU if there is one.
    pub(crate) fn start(cuda: Option<&'a Cuda>) -> Self {
        match cuda {
            // Without a peak of its own the part would be charged for what came before it.
            None => {
                Self::Process(if forget_peak() { status().and_then(|status| bytes(&status, "VmRSS:")) } else { None })
            }
            Some(cuda) => Self::Device(cuda, cuda.reset_peak_memory().and_then(|()| cuda.used_memory()).ok()),
        }
    }
    /// At its peak so far; `None` where the system does not say.
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
        // Other tests may give memory back meanwhile.
        assert!(growth.bytes().is_none_or(|bytes| bytes > 20 << 20));
        drop(touched);
    }
}

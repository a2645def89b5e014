//! How much memory the process, or a GPU, has held at most.

use sparring::Cuda;

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

/// Bytes as people write them: a number, or one with K, M, G or T, which are powers of 1024.
pub(crate) fn bytes_of(text: &str) -> Result<u64, String> {
    let number = text.trim_end_matches(['K', 'M', 'G', 'T', 'k', 'm', 'g', 't']);
    let power = match text[number.len()..].to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        unit => return Err(format!("'{unit}' is none of K, M, G, T")),
    };
    let unit = 1u64 << (10 * power);
    if let Ok(n) = number.parse::<u64>() {
        return n.checked_mul(unit).ok_or_else(|| "more bytes than 64 bits count".into());
    }
    // 1.5G, too.
    match number.parse::<f64>().map(|x| x * unit as f64) {
        Ok(bytes) if power > 0 && (0.0..u64::MAX as f64).contains(&bytes) => Ok(bytes as u64),
        _ => Err("not a number of bytes: 2G, 500M, 1000000".into()),
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
    fn bytes_are_read_as_people_write_them() {
        for (text, bytes) in
            [("0", 0), ("1000", 1000), ("2G", 2 << 30), ("500m", 500 << 20), ("1.5K", 1536), ("1T", 1 << 40)]
        {
            assert_eq!(bytes_of(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "2GB", "2 G", "-1", "1.5", "nanG", "infG", "99999999999T", "2KK", "é"] {
            assert!(bytes_of(text).is_err(), "{text}");
        }
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

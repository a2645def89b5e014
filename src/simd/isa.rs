//! The instruction set that inner loops run with: the processor's best, or a lower one on request.
//!
//! Every choice between vector loops and their scalar counterparts is made here, so one environment variable tests them
//! all.

use std::fmt;
use std::sync::OnceLock;
#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicU8, Ordering};

use crate::{Error, Result};

/// An instruction set that inner loops are compiled for, in increasing order.
///
/// A process runs with the best set of its processor. The environment variable `SPARRING_ISA`, read once when the first
/// loop runs, lowers it to `scalar`, `avx2` or `avx512`: for tests, for measurements, and to get the same choices of
/// algorithms on different processors. Results are bitwise the same under every set.
///
/// The variable never raises the set. The library uses the best available set at or below the request, and ignores an
/// unknown name; [`requested`](Self::requested) reports both as errors. The program `sparring` refuses them.
/// ```
/// use sparring::Isa;
///
/// Isa::requested()?; // an error if SPARRING_ISA requests an unavailable set
/// assert!(Isa::running() <= Isa::best());
/// println!("loops for {}, registers of {} bytes", Isa::running(), Isa::running().register_bytes());
/// # Ok::<(), sparring::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// The baseline of the build: SSE2 on x86-64, NEON on AArch64, as the compiler uses them.
    Scalar,
    /// x86-64-v3: AVX2, BMI, FMA.
    Avx2,
    /// x86-64-v4: AVX-512 F, BW, CD, DQ and VL.
    Avx512,
}

impl Isa {
    /// All sets, in increasing order.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Avx2, Self::Avx512];
    /// The environment variable that lowers the set.
    pub const VARIABLE: &'static str = "SPARRING_ISA";

    /// The set that this process runs with.
    pub fn running() -> Self {
        #[cfg(target_arch = "x86_64")]
        return match features() {
            found if found & V4 != 0 => Self::Avx512,
            found if found & V3 != 0 => Self::Avx2,
            _ => Self::Scalar,
        };
        #[cfg(not(target_arch = "x86_64"))]
        Self::Scalar
    }
    /// The best set of this processor.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let v3 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("fma");
            let v4 = v3
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if v4 {
                return Self::Avx512;
            }
            if v3 {
                return Self::Avx2;
            }
        }
        Self::Scalar
    }
    /// The set requested by `SPARRING_ISA`; `None` if the variable is unset or empty.
    /// # Errors
    /// [`Error::Argument`] if the variable names no set, or one that this processor lacks.
    pub fn requested() -> Result<Option<Self>> {
        read(Self::VARIABLE, request(), Self::best())
    }
    /// Lowers the set of this process, overriding `SPARRING_ISA`: for programs with a corresponding option.
    ///
    /// The set of a process is fixed by its first loop or its first query.
    /// # Errors
    /// [`Error::Argument`] if this processor lacks the set, or another one is already fixed.
    pub fn limit(self) -> Result<()> {
        read("isa", self.name(), Self::best())?;
        let fixed = TEXT.get_or_init(|| self.name().into());
        if fixed == self.name() || Self::running() == self {
            return Ok(());
        }
        let message = format!("{self} comes too late: loops run with {} in this process", Self::running());
        Err(Error::Argument { name: "isa", message })
    }
    /// The name of the set in `SPARRING_ISA`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
    /// Bytes of a vector register: 64, 32, or 16 for [`Scalar`](Self::Scalar).
    pub fn register_bytes(self) -> usize {
        match self {
            Self::Scalar => 16,
            Self::Avx2 => 32,
            Self::Avx512 => 64,
        }
    }
    /// The set with this name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|isa| isa.name() == word)
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The request, fixed at its first use.
static TEXT: OnceLock<String> = OnceLock::new();

/// The value of the variable at the first call; empty if unset.
fn request() -> &'static str {
    TEXT.get_or_init(|| std::env::var_os(Isa::VARIABLE).unwrap_or_default().to_string_lossy().into_owned())
}

/// Parses the request `text`, given as `name`, for a processor whose best set is `best`.
fn read(name: &'static str, text: &str, best: Isa) -> Result<Option<Isa>> {
    let refused = |message| Err(Error::Argument { name, message });
    match Isa::named(text) {
        _ if text.is_empty() => Ok(None),
        None => refused(format!("'{text}' is none of {}", list(Isa::Avx512))),
        Some(isa) if isa > best => refused(format!("this processor does not have {isa}, only {}", list(best))),
        isa => Ok(isa),
    }
}

/// The sets up to `best`.
fn list(best: Isa) -> String {
    let names: Vec<_> = Isa::ALL.iter().filter(|&&isa| isa <= best).map(|isa| isa.name()).collect();
    names.join(", ")
}

/// The set that runs for the request `text`: the best at or below it.
fn lowered(text: &str, best: Isa) -> Isa {
    Isa::named(text).map_or(best, |isa| isa.min(best))
}

/// Feature bits: x86-64-v3, x86-64-v4, and extensions that not every v4 processor has.
#[cfg(target_arch = "x86_64")]
const V3: u8 = 1;
#[cfg(target_arch = "x86_64")]
const V4: u8 = 2;
#[cfg(target_arch = "x86_64")]
const VBMI2: u8 = 4;
#[cfg(target_arch = "x86_64")]
const VPOPCNTDQ: u8 = 8;
/// Set once the other bits have been determined.
#[cfg(target_arch = "x86_64")]
const FOUND: u8 = 128;

/// The bits of this process: one load and one comparison, which is the cost of `is_x86_feature_detected!` per feature.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn features() -> u8 {
    /// Only results of [`find`] are ever stored, so a set bit proves that the instructions exist.
    static FEATURES: AtomicU8 = AtomicU8::new(0);
    #[cold]
    #[inline(never)]
    fn first() -> u8 {
        let found = find(lowered(request(), Isa::best()));
        FEATURES.store(found, Ordering::Relaxed);
        found
    }
    match FEATURES.load(Ordering::Relaxed) {
        0 => first(),
        found => found,
    }
}

/// The feature bits under `isa`, which the processor must have.
#[cfg(target_arch = "x86_64")]
fn find(isa: Isa) -> u8 {
    assert!(isa <= Isa::best());
    let mut found = FOUND;
    if isa >= Isa::Avx2 {
        found |= V3;
    }
    if isa >= Isa::Avx512 {
        found |= V4;
        if is_x86_feature_detected!("avx512vbmi2") {
            found |= VBMI2;
        }
        if is_x86_feature_detected!("avx512vpopcntdq") {
            found |= VPOPCNTDQ;
        }
    }
    found
}

/// Whether loops for x86-64-v3 (AVX2, BMI, FMA) may run; the processor then has the instructions.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn has_v3() -> bool {
    features() & V3 != 0
}
/// Whether loops for x86-64-v4 (AVX-512) may run; the processor then has the instructions, and all of v3.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn has_v4() -> bool {
    features() & V4 != 0
}
/// Whether loops for x86-64-v4 with AVX-512 VBMI2 may run.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn has_vbmi2() -> bool {
    features() & VBMI2 != 0
}
/// Whether loops for x86-64-v4 with AVX-512 VPOPCNTDQ may run.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn has_vpopcntdq() -> bool {
    features() & VPOPCNTDQ != 0
}

/// Register bytes of the version that [`dispatch_work`](super::dispatch_work) chooses.
pub(crate) fn register() -> usize {
    Isa::running().register_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_only_lowers() {
        for best in Isa::ALL {
            assert_eq!((read(Isa::VARIABLE, "", best).unwrap(), lowered("", best)), (None, best));
            for isa in Isa::ALL {
                let asked = read(Isa::VARIABLE, isa.name(), best);
                assert_eq!(lowered(isa.name(), best), isa.min(best));
                if isa <= best {
                    assert_eq!(asked.unwrap(), Some(isa));
                } else {
                    let text = asked.unwrap_err().to_string();
                    let has = format!("does not have {isa}, only {}", list(best));
                    assert!(text.starts_with("SPARRING_ISA: ") && text.ends_with(&has), "{text}");
                }
            }
            for word in ["sse2", "AVX2", " avx2", "avx2,scalar"] {
                assert_eq!(lowered(word, best), best);
                let text = read(Isa::VARIABLE, word, best).unwrap_err().to_string();
                assert_eq!(text, format!("SPARRING_ISA: '{word}' is none of scalar, avx2, avx512"));
            }
        }
        assert_eq!(list(Isa::Avx2), "scalar, avx2");
    }

    /// Tests that run under a requested set fail if they would run under another.
    #[test]
    fn the_requested_set_is_used() {
        let asked = Isa::requested().expect("SPARRING_ISA");
        assert_eq!(Isa::running(), asked.unwrap_or(Isa::best()));
        assert_eq!(asked.map(Isa::name), std::env::var(Isa::VARIABLE).ok().as_deref().filter(|word| !word.is_empty()));
        assert_eq!(register(), Isa::running().register_bytes());
        // The running set may be requested again; another one comes too late.
        for isa in Isa::ALL {
            let asked = isa.limit().map_err(|e| e.to_string());
            match isa {
                _ if isa == Isa::running() => assert_eq!(asked, Ok(())),
                _ if isa > Isa::best() => assert!(asked.unwrap_err().contains("does not have")),
                _ => assert!(asked.unwrap_err().contains("comes too late")),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_lower_set_has_no_instructions_of_a_higher_one() {
        let bits = |isa| find(isa) & !FOUND;
        for isa in Isa::ALL.into_iter().filter(|&isa| isa <= Isa::best()) {
            assert_eq!(bits(isa) & V3 != 0, isa >= Isa::Avx2);
            assert_eq!(bits(isa) & V4 != 0, isa == Isa::Avx512);
            assert!(isa == Isa::Avx512 || bits(isa) & (VBMI2 | VPOPCNTDQ) == 0);
        }
        let running = Isa::running();
        assert_eq!((has_v3(), has_v4()), (running >= Isa::Avx2, running == Isa::Avx512));
        assert!(has_v4() || !has_vbmi2() && !has_vpopcntdq());
    }
}

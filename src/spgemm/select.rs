//! Selection of algorithms by pure functions, each choice with its reason.
//!
//! Source of kkSpGEMM's rules: Deveci, Trott, Rajamanickam 2018, §3.2 (compression), §3.3 (accumulators). Its
//! Table 1 swaps the two CPU variants; the text of §3.3 is followed.

use crate::{Error, Result};

/// The rules that choose the algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The library's own.
    #[default]
    Auto,
    /// kkSpGEMM's (Deveci, Trott, Rajamanickam 2018, §3.3). B is compressed where that saves enough work; the plan
    /// finds the row lengths of C, and the first numeric phase its columns. On the CPU, accumulators are dense below
    /// 250,000 columns and hash maps above; there, rows whose columns span at most 65,536 still go through a dense
    /// window.
    KkSpGemm,
}

/// The data structure that gathers the products of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accumulator {
    /// The policy's choice.
    #[default]
    Auto,
    /// Hash map with linked lists, two levels.
    LinkedList,
    /// Hash map with linear probing, two levels.
    LinearProbe,
    /// One slot a column.
    Dense,
}

/// Whether the symbolic phase reads B with 32 columns to a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compress {
    /// If it saves enough work (15 % under kkSpGEMM's policy).
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// Assignment of kkSpGEMM's memory-pool chunks to threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoolMode {
    /// The chunk with the thread's own number: near to it in memory, and reused for its next rows.
    #[default]
    One2One,
    /// The first free chunk, starting from the thread's own number; the thread waits if there is none.
    Many2Many,
}

/// Settings of kkSpGEMM and its accumulators; the defaults are the paper's.
#[derive(Clone, Debug, PartialEq)]
pub struct KkSettings {
    /// Slots of the first level of a hash map; keys that do not fit go to a second level from the memory pool. `None`:
    /// on a CPU the first level is large enough for every row, so there is no second; on a GPU its size follows from
    /// the paper's rules for shared memory.
    pub first_level: Option<usize>,
    /// Maximum load of a linear-probing table, above 0 and at most 1.
    pub max_occupancy: f64,
    /// B is compressed if at most this fraction of the multiplications remains.
    pub compress_cutoff: f64,
    /// The accumulator is dense below this many columns (words of 32 columns, if B is compressed). Ignored on a GPU.
    pub dense_columns: usize,
    /// Above `dense_columns` too, the accumulator is dense unless lists take less than half of its bytes. A rule of
    /// KokkosKernels 4.7 that the paper lacks; ignored on a GPU.
    pub lists_must_save: bool,
    /// Assignment of memory-pool chunks to threads; always `Many2Many` on a GPU.
    pub pool: PoolMode,
    /// Chunks of the memory pool. `None`: one per thread (on a GPU, one per resident warp or block, if memory allows).
    /// With fewer, threads wait for each other.
    pub chunks: Option<usize>,
}

impl Default for KkSettings {
    fn default() -> Self {
        Self {
            first_level: None,
            max_occupancy: 0.5,     // §3.1.2: slower above
            compress_cutoff: 0.85,  // §3.2: 15 % saved
            dense_columns: 250_000, // §3.3
            lists_must_save: false,
            pool: PoolMode::One2One, // §3.1.2
            chunks: None,
        }
    }
}

impl KkSettings {
    /// # Errors
    /// [`Error::Argument`] naming the first setting that is out of range.
    pub(crate) fn check(&self) -> Result<()> {
        let argument = |name, message| Err(Error::Argument { name, message });
        if !(self.max_occupancy > 0.0 && self.max_occupancy <= 1.0) {
            return argument("max_occupancy", format!("{} is not in (0, 1]", self.max_occupancy));
        }
        if self.compress_cutoff.is_nan() || self.compress_cutoff < 0.0 {
            return argument("compress_cutoff", format!("{} is not 0 or more", self.compress_cutoff));
        }
        if self.chunks == Some(0) {
            return argument("chunks", "a memory pool needs at least 1 chunk".into());
        }
        Ok(())
    }
}

/// How a product is computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The rules that choose the algorithm.
    pub policy: Policy,
    /// Forces an accumulator.
    pub accumulator: Accumulator,
    /// Forces or forbids compression.
    pub compress: Compress,
    /// Allows unsorted rows of C where that is faster. kkSpGEMM skips the sort. Under our own policy, a product for one
    /// use may have its columns in the order of their first products; a plan sorts its rows regardless, which `explain`
    /// reports.
    pub unsorted: bool,
    /// Settings of kkSpGEMM, for its policy and for forced accumulators.
    pub kk: KkSettings,
}

impl Options {
    /// Refuses the options that do not apply to a masked product.
    /// # Errors
    /// [`Error::Argument`] naming the first such option.
    pub(crate) fn check_masked(&self, complement: bool) -> Result<()> {
        let argument = |name, message: &str| Err(Error::Argument { name, message: message.into() });
        if self.policy == Policy::KkSpGemm {
            return argument("policy", "kkSpGEMM has no masks; a masked product needs the automatic policy");
        }
        if self.accumulator != Accumulator::Auto {
            return argument("accumulator", "a masked product takes its columns from the mask");
        }
        if self.compress == Compress::On && !complement {
            return argument("compress", "a masked product reads B column by column, so B is not compressed");
        }
        Ok(())
    }
}

/// The accumulator chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    LinkedList,
    LinearProbe,
    Dense,
}

/// A phase of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Keys are columns, or words of 32 columns.
    Symbolic {
        compressed: bool,
    },
    Numeric,
}

/// Whether B is compressed; `cf` is the fraction of the multiplications that would remain, if counted.
pub(crate) fn compresses(forced: Compress, cf: Option<f64>, cutoff: f64) -> (bool, String) {
    match (forced, cf) {
        (Compress::On, _) => (true, "compressed (forced)".into()),
        (Compress::Off, _) => (false, "not compressed (forced)".into()),
        (Compress::Auto, Some(cf)) if cf <= cutoff => (true, format!("compressed (CF {cf:.2} <= {cutoff})")),
        (Compress::Auto, Some(cf)) => (false, format!("not compressed (CF {cf:.2} > {cutoff})")),
        (Compress::Auto, None) => (false, "not compressed (not counted)".into()),
    }
}

/// The accumulator of one phase, for rows of at most `longest` distinct keys below `keys`.
pub(super) fn accumulator(
    forced: Accumulator,
    phase: Phase,
    keys: usize,
    longest: usize,
    settings: &KkSettings,
) -> (Kind, String) {
    let dense_columns = settings.dense_columns;
    let (name, k) = match phase {
        Phase::Symbolic { compressed: true } => ("symbolic", "k/32"),
        Phase::Symbolic { compressed: false } => ("symbolic", "k"),
        Phase::Numeric => ("numeric", "k"),
    };
    match forced {
        Accumulator::LinkedList => return (Kind::LinkedList, format!("LL {name} (forced)")),
        Accumulator::LinearProbe => return (Kind::LinearProbe, format!("LP {name} (forced)")),
        Accumulator::Dense => return (Kind::Dense, format!("dense {name} (forced)")),
        Accumulator::Auto => {}
    }
    let (n, limit) = (grouped(keys), grouped(dense_columns));
    if keys < dense_columns {
        return (Kind::Dense, format!("dense {name} ({k} {n} < {limit})"));
    }
    let (lists, dense) = chunk_bytes(phase, keys, longest);
    if settings.lists_must_save && 2 * lists >= dense {
        return (Kind::Dense, format!("dense {name} ({k} {n}, but rows of up to {})", grouped(longest)));
    }
    (Kind::LinkedList, format!("LL {name} ({k} {n} >= {limit})"))
}

/// Bytes of a chunk with linked lists and with a dense accumulator. Indices count 4 and values 8 bytes whatever their
/// types are, because the rule looks at patterns alone.
fn chunk_bytes(phase: Phase, keys: usize, longest: usize) -> (u128, u128) {
    let (k, longest) = (keys as u128, longest as u128);
    let power_of = |base: u128| {
        let mut power = 1;
        while power < longest {
            power *= base;
        }
        power
    };
    match phase {
        // Begins and used, Nexts, Ids and words. KokkosKernels mistypes its k/32 as 2k + 1; here it is k/32.
        Phase::Symbolic { .. } => ((2 * power_of(2) + 3 * longest) * 4, (k + k / 4 + 1) * 4),
        // Begins and used, Nexts; Ids and values are the row of C.
        Phase::Numeric => ((2 * power_of(4) + longest) * 4, (k + k / 8 + 1) * 8),
    }
}

/// 1234567 as 1,234,567.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (p, d) in digits.chars().enumerate() {
        if p > 0 && (digits.len() - p).is_multiple_of(3) {
            text.push(',');
        }
        text.push(d);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMERIC: Phase = Phase::Numeric;
    const COLUMNS: Phase = Phase::Symbolic { compressed: false };
    const WORDS: Phase = Phase::Symbolic { compressed: true };

    fn auto(phase: Phase, keys: usize, longest: usize) -> (Kind, String) {
        accumulator(Accumulator::Auto, phase, keys, longest, &KkSettings::default())
    }

    #[test]
    fn dense_below_250_000_columns_and_lists_above() {
        assert_eq!(auto(NUMERIC, 249_999, 9), (Kind::Dense, "dense numeric (k 249,999 < 250,000)".into()));
        assert_eq!(auto(NUMERIC, 250_000, 9), (Kind::LinkedList, "LL numeric (k 250,000 >= 250,000)".into()));
        assert_eq!(auto(COLUMNS, 249_999, 9), (Kind::Dense, "dense symbolic (k 249,999 < 250,000)".into()));
        assert_eq!(auto(COLUMNS, 250_000, 9), (Kind::LinkedList, "LL symbolic (k 250,000 >= 250,000)".into()));
        assert_eq!(auto(WORDS, 12_008, 9), (Kind::Dense, "dense symbolic (k/32 12,008 < 250,000)".into()));
        assert_eq!(auto(WORDS, 250_000, 9).0, Kind::LinkedList);
        assert_eq!(auto(NUMERIC, 0, 0), (Kind::Dense, "dense numeric (k 0 < 250,000)".into()));
    }

    #[test]
    fn rows_that_fill_c_are_dense_at_any_width_if_lists_must_save() {
        let settings = KkSettings { lists_must_save: true, ..KkSettings::default() };
        let auto = |phase, keys, longest| accumulator(Accumulator::Auto, phase, keys, longest, &settings);
        assert_eq!(super::tests::auto(NUMERIC, 2_796_201, 1 << 20).0, Kind::LinkedList, "not in the paper");
        // (2·4^10 + 4^10)·4 = 12,582,912 bytes of lists against half of (k + k/8 + 1)·8 bytes.
        let (row, at) = (1 << 20, 2_796_201);
        assert_eq!(auto(NUMERIC, at, row).0, Kind::Dense);
        assert_eq!(auto(NUMERIC, at, row).1, "dense numeric (k 2,796,201, but rows of up to 1,048,576)");
        assert_eq!(auto(NUMERIC, at + 2, row).0, Kind::LinkedList);
        // One entry less needs a little less; one more takes the next power of 4.
        assert_eq!(auto(NUMERIC, at + 2, row + 1).0, Kind::Dense);
        // (2·2^20 + 3·2^20)·4 bytes of lists against half of (k + k/4 + 1)·4 bytes.
        assert_eq!(auto(WORDS, 8_388_607, row).0, Kind::Dense);
        assert_eq!(auto(WORDS, 8_388_609, row).0, Kind::LinkedList);
        assert_eq!(auto(NUMERIC, usize::MAX, usize::MAX).0, Kind::Dense);
    }

    #[test]
    fn forced_accumulators_are_taken() {
        for (forced, kind, text) in [
            (Accumulator::LinkedList, Kind::LinkedList, "LL numeric (forced)"),
            (Accumulator::LinearProbe, Kind::LinearProbe, "LP numeric (forced)"),
            (Accumulator::Dense, Kind::Dense, "dense numeric (forced)"),
        ] {
            for keys in [10, 1_000_000] {
                assert_eq!(accumulator(forced, NUMERIC, keys, 5, &KkSettings::default()), (kind, text.to_string()));
            }
        }
        assert_eq!(
            accumulator(Accumulator::LinearProbe, WORDS, 9, 5, &KkSettings::default()).1,
            "LP symbolic (forced)"
        );
    }

    #[test]
    fn compression_must_save_15_percent() {
        assert_eq!(compresses(Compress::Auto, Some(0.85), 0.85), (true, "compressed (CF 0.85 <= 0.85)".into()));
        assert_eq!(compresses(Compress::Auto, Some(0.9), 0.85), (false, "not compressed (CF 0.90 > 0.85)".into()));
        assert!(!compresses(Compress::Auto, None, 0.85).0);
        assert_eq!(compresses(Compress::On, Some(1.0), 0.85), (true, "compressed (forced)".into()));
        assert_eq!(compresses(Compress::Off, Some(0.1), 0.85), (false, "not compressed (forced)".into()));
    }

    #[test]
    fn settings_without_sense_are_named() {
        let refused = |s: KkSettings| s.check().unwrap_err().to_string();
        let good = KkSettings::default;
        assert!(good().check().is_ok());
        for max_occupancy in [0.0, -1.0, 1.5, f64::NAN] {
            let text = refused(KkSettings { max_occupancy, ..good() });
            assert_eq!(text, format!("max_occupancy: {max_occupancy} is not in (0, 1]"));
        }
        assert_eq!(refused(KkSettings { compress_cutoff: -0.5, ..good() }), "compress_cutoff: -0.5 is not 0 or more");
        assert!(refused(KkSettings { compress_cutoff: f64::NAN, ..good() }).starts_with("compress_cutoff: NaN"));
        assert_eq!(refused(KkSettings { chunks: Some(0), ..good() }), "chunks: a memory pool needs at least 1 chunk");
    }

    #[test]
    fn digits_are_grouped() {
        let text = |n| grouped(n);
        assert_eq!([text(0), text(999), text(1000), text(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
    }
}

//! Storage forms of a tensor's entries on a device, their memory, and the choice among them.

/// Storage form of a tensor on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorForm {
    /// For each mode, all entries in its order: the other modes' indices and the values. Fastest, and deterministic.
    Copies,
    /// One record per entry, and one permutation per mode. Results have the bits of [`Copies`](Self::Copies). Source:
    /// Phipps, Kolda 2019, MTTKRP-C.
    Permuted,
    /// Two records per entry: while one mode is multiplied, the records are remapped to the order of the next, whose
    /// rows are partitioned by work. Modes are meant to be used cyclically; any other mode waits for the remappings in
    /// between. Source: Wijeratne, Kannan, Prasanna 2024 (FLYCOO), whose records carry their positions in all orders;
    /// here the positions are separate arrays that stay in place.
    Remapped,
    /// Nothing is stored: the entries are uploaded for each product, in the largest parts that fit.
    Parts,
}

impl TensorForm {
    /// All forms.
    pub const ALL: [Self; 4] = [Self::Copies, Self::Permuted, Self::Remapped, Self::Parts];
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copies => "copies",
            Self::Permuted => "permuted",
            Self::Remapped => "remapped",
            Self::Parts => "parts",
        }
    }
}

/// The figures of a tensor that determine its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorStats {
    /// Size of each mode.
    pub dims: Vec<usize>,
    /// Entries.
    pub nnz: usize,
    /// Bytes per value.
    pub value_bytes: usize,
    /// Available bytes of device memory.
    pub room: u64,
}

/// Device memory of a form, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorBytes {
    /// While in use.
    pub kept: u128,
    /// Peak during construction, including the original entries.
    pub made: u128,
}

/// Least bytes per part: smaller parts would be uploaded a few entries at a time.
const SMALLEST_PART: u128 = 1 << 16;

/// Entries per block, for `nnz` in all: fewer where a device would not be filled. It depends on `nnz` alone, so that
/// the fold order is reproducible. 4096 entries are as fast for large tensors, but a share of them is folded
/// sequentially, with twice the error (benches/gpu_mttkrp.rs: 8e-7 instead of 5e-7 in f32).
pub(super) fn tile(nnz: usize) -> usize {
    let mut tile = 2048;
    while tile > 256 && nnz / tile < 2048 {
        tile /= 2;
    }
    tile
}

/// Words per value.
pub(super) fn value_words(bytes: usize) -> usize {
    bytes.div_ceil(4).max(1)
}
/// Words per record: stationary, and remapped.
pub(super) fn strides(order: usize, value_bytes: usize) -> (usize, usize) {
    let words = order + value_words(value_bytes);
    // Even, so that two words are read at once. Remapped records fill whole 32-byte sectors: a partial sector is read
    // before it is written (benches/gpu_mttkrp.rs, unif3 and nell2: 1.26 and 1.35 times the time with records of 16
    // bytes).
    (if words > 2 { words.next_multiple_of(2) } else { words }, words.next_multiple_of(8))
}

impl TensorStats {
    /// Bytes of `form`.
    #[must_use]
    pub fn bytes(&self, form: TensorForm) -> TensorBytes {
        let (order, value, n) = (self.dims.len() as u128, self.value_bytes as u128, self.nnz as u128);
        let (stride, long_stride) = strides(self.dims.len(), self.value_bytes);
        let (records, long_records) = (4 * stride as u128 * n, 4 * long_stride as u128 * n);
        let base = (4 * order + value) * n;
        // Double-buffered keys and positions, and digit counts.
        let sort = 17 * n;
        let blocks = self.nnz.div_ceil(tile(self.nnz).max(1)) as u128;
        let rows = |mode: usize| (self.dims[mode] as u128).min(n);
        // Start and target of each run; for each block its bounds, and a row that continues in the next.
        let runs: u128 = (0..self.dims.len()).map(|mode| 8 * rows(mode) + 28 * blocks + 32).sum();
        let longest = self.dims.iter().copied().max().unwrap_or(0) as u128;
        match form {
            TensorForm::Copies => {
                // Arrays are zero-padded to a multiple of 16.
                let kept = order * (4 * (order - 1) + value) * n.next_multiple_of(16) + runs;
                TensorBytes { kept, made: base + records + sort + kept }
            }
            TensorForm::Permuted => {
                let kept = records + 4 * order * n + runs;
                TensorBytes { kept, made: base + sort + kept }
            }
            TensorForm::Remapped => {
                let kept = 2 * long_records + 4 * order * n + runs;
                // An order, its keys and three position arrays beside the sort.
                let orders = 4 * order * n + 20 * n + sort + 60 * longest + runs;
                TensorBytes { kept, made: base + orders.max(kept + 8 * n) }
            }
            TensorForm::Parts => {
                let part = (base + records + sort + 4 * order * n + runs).min(u128::from(self.room));
                TensorBytes { kept: 0, made: part.max(SMALLEST_PART) }
            }
        }
    }
    /// The entries of a part that fit.
    pub(super) fn part(&self) -> usize {
        let (order, value) = (self.dims.len(), self.value_bytes);
        let an_entry = (4 * order + value + 4 * strides(order, value).0 + 17 + 4 + 8 + 1) as u128;
        let most = u128::from(self.room).max(SMALLEST_PART) / an_entry;
        usize::try_from(most).unwrap_or(usize::MAX).min(MOST)
    }
}

/// Most entries on a device at once: positions are 32 bits wide, and arrays are read up to the next block.
pub(super) const MOST: usize = (u32::MAX - (1 << 16)) as usize;

/// The default form, and the reason.
///
/// | rule | from |
/// | --- | --- |
/// | more than 2³² − 2¹⁶ entries: parts | positions are 32 bits wide |
/// | a copy per mode, if these can be built | fastest on all tensors measured (benches/results, `gpu_mttkrp`) |
/// | records and permutations, if they can be built | 0.4 to 0.8 of the bytes, 1.1 to 1.4 times as long |
/// | otherwise parts | |
///
/// [`Remapped`](TensorForm::Remapped) is used only on request: it takes 1.8 to 2.2 times as long as copies, and more
/// memory than records and permutations.
#[must_use]
pub(super) fn choose(s: &TensorStats) -> (TensorForm, &'static str) {
    let fits = |form| s.bytes(form).made <= u128::from(s.room);
    if s.nnz > MOST {
        return (TensorForm::Parts, "more entries than 32-bit positions can address");
    }
    if fits(TensorForm::Copies) {
        return (TensorForm::Copies, "a copy per mode fits");
    }
    if fits(TensorForm::Permuted) {
        return (TensorForm::Permuted, "a copy per mode does not fit, but one copy and a permutation per mode do");
    }
    (TensorForm::Parts, "the entries and their permutations do not fit")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(dims: &[usize], nnz: usize, room: u64) -> TensorStats {
        TensorStats { dims: dims.to_vec(), nnz, value_bytes: 4, room }
    }

    #[test]
    fn each_rule_fires() {
        let dims = [30_000, 40_000, 50_000];
        let of = |nnz, room| choose(&stats(&dims, nnz, room)).0;
        assert_eq!(of(10_000_000, 140_000_000_000), TensorForm::Copies);
        let copies = stats(&dims, 10_000_000, 0).bytes(TensorForm::Copies).made as u64;
        assert_eq!(of(10_000_000, copies), TensorForm::Copies);
        assert_eq!(of(10_000_000, copies - 1), TensorForm::Permuted);
        let permuted = stats(&dims, 10_000_000, 0).bytes(TensorForm::Permuted).made as u64;
        assert_eq!(of(10_000_000, permuted), TensorForm::Permuted);
        assert_eq!(of(10_000_000, permuted - 1), TensorForm::Parts);
        assert_eq!(of(MOST + 1, u64::MAX), TensorForm::Parts);
        assert_eq!(of(0, 0), TensorForm::Parts);
        assert_eq!(of(0, 1000), TensorForm::Copies);
    }

    #[test]
    fn bytes_are_those_of_the_arrays() {
        // An original entry has 16 bytes, a copy 12, a record 16, a position 4.
        let s = stats(&[1, 1, 1], 1 << 20, 1 << 40);
        let n = 1u128 << 20;
        let near =
            |bytes: u128, expected: u128| assert!(bytes >= expected && bytes < expected + n / 4, "{bytes} {expected}");
        near(s.bytes(TensorForm::Copies).kept, 36 * n);
        near(s.bytes(TensorForm::Copies).made, (16 + 16 + 17 + 36) * n);
        near(s.bytes(TensorForm::Permuted).kept, 28 * n);
        near(s.bytes(TensorForm::Remapped).kept, 76 * n);
        assert_eq!(s.bytes(TensorForm::Parts).kept, 0);
        // A row per entry: 8 more bytes each.
        let wide = stats(&[1 << 30, 1 << 30, 1 << 30], 1 << 20, 1 << 40);
        near(wide.bytes(TensorForm::Copies).kept, (36 + 24) * n);
    }

    #[test]
    fn blocks_are_many() {
        assert_eq!(tile(26_000_000), 2048);
        assert_eq!(tile(2048 * 2048), 2048);
        assert_eq!(tile(2048 * 2048 - 1), 1024);
        assert_eq!(tile(1_000_000), 256);
        assert_eq!(tile(0), 256);
    }

    #[test]
    fn records_are_read_in_pieces() {
        assert_eq!(strides(3, 4), (4, 8));
        assert_eq!(strides(4, 4), (6, 8));
        assert_eq!(strides(5, 4), (6, 8));
        assert_eq!(strides(3, 8), (6, 8));
        assert_eq!(strides(1, 1), (2, 8));
        assert_eq!(strides(8, 16), (12, 16));
    }

    #[test]
    fn a_part_fits_the_room() {
        for room in [1 << 16, 1 << 20, 1 << 30] {
            let s = stats(&[30, 40, 50], 1 << 30, room);
            let part = s.part();
            assert!(part > 100);
            let whole = TensorStats { nnz: part, room: u64::MAX, ..s.clone() };
            let base = 16 * part as u128;
            assert!(base + whole.bytes(TensorForm::Permuted).kept / 2 <= room.into(), "{room}");
        }
    }
}

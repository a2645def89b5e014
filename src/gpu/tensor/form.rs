//! The forms in which a tensor's entries are kept on a device, what they take, and which is taken.

/// How a tensor lies on a device while it is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorForm {
    /// For each mode all entries in its order: the other modes' indices and the values. Fastest, and deterministic.
    Copies,
    /// One record for each entry, and for each mode the order in which they are read. Results have the bits of
    /// [`Copies`](Self::Copies). Source: Phipps, Kolda 2019, MTTKRP-C.
    Permuted,
    /// Two records for each entry: while one mode is multiplied, they move on to the order of the next, whose rows are
    /// in partitions of equal work. Modes are meant to come in turn; one out of turn waits for the moves between.
    /// Source: Wijeratne, Kannan, Prasanna 2024 (FLYCOO), whose records carry their places in all orders with them;
    /// here these stay where they are.
    Remapped,
    /// Nothing: entries are sent anew for each product, as many at a time as fit.
    Parts,
}

impl TensorForm {
    /// All of them.
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

/// Figures of a tensor that decide about its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorStats {
    /// Size of each mode.
    pub dims: Vec<usize>,
    /// Entries.
    pub nnz: usize,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Bytes of device memory that may be taken.
    pub room: u64,
}

/// Bytes of device memory of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorBytes {
    /// While it is used.
    pub kept: u128,
    /// At most, while it is made, the entries as they came included.
    pub made: u128,
}

/// Bytes that the entries of a part are to have at least: fewer would be sent a few at a time.
const SMALLEST_PART: u128 = 1 << 16;

/// Entries of a block, for `nnz` in all: fewer where a device would not be filled. It depends on nothing else, so that
/// the order of folds does not either. 4096 are as fast for large tensors, but a share of them is folded one by one,
/// with twice the error (benches/gpu_mttkrp.rs: 8e-7 instead of 5e-7 in f32).
pub(super) fn tile(nnz: usize) -> usize {
    let mut tile = 2048;
    while tile > 256 && nnz / tile < 2048 {
        tile /= 2;
    }
    tile
}

/// Words of a value.
pub(super) fn value_words(bytes: usize) -> usize {
    bytes.div_ceil(4).max(1)
}
/// Words of a record: of one that stays, and of one that moves.
pub(super) fn strides(order: usize, value_bytes: usize) -> (usize, usize) {
    let words = order + value_words(value_bytes);
    // Even, so that two are read at once. What moves is written in whole sectors of 32 bytes: a part of one would be
    // read before it is written (benches/gpu_mttkrp.rs, unif3 and nell2: 1.26 and 1.35 times the time with records of
    // 16 bytes).
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
        // Keys and positions twice, and counts of digits.
        let sort = 17 * n;
        let blocks = self.nnz.div_ceil(tile(self.nnz).max(1)) as u128;
        let rows = |mode: usize| (self.dims[mode] as u128).min(n);
        // Start and target of each run; of each block its bounds, and a row that goes on in the next.
        let runs: u128 = (0..self.dims.len()).map(|mode| 8 * rows(mode) + 28 * blocks + 32).sum();
        let longest = self.dims.iter().copied().max().unwrap_or(0) as u128;
        match form {
            TensorForm::Copies => {
                // Arrays end in zeros up to a multiple of 16.
                let kept = order * (4 * (order - 1) + value) * n.next_multiple_of(16) + runs;
                TensorBytes { kept, made: base + records + sort + kept }
            }
            TensorForm::Permuted => {
                let kept = records + 4 * order * n + runs;
                TensorBytes { kept, made: base + sort + kept }
            }
            TensorForm::Remapped => {
                let kept = 2 * long_records + 4 * order * n + runs;
                // An order, its keys and three arrays of places beside the sort.
                let orders = 4 * order * n + 20 * n + sort + 60 * longest + runs;
                TensorBytes { kept, made: base + orders.max(kept + 8 * n) }
            }
            TensorForm::Parts => {
                let part = (base + records + sort + 4 * order * n + runs).min(u128::from(self.room));
                TensorBytes { kept: 0, made: part.max(SMALLEST_PART) }
            }
        }
    }
    /// Entries of a part for which there is room.
    pub(super) fn part(&self) -> usize {
        let (order, value) = (self.dims.len(), self.value_bytes);
        let an_entry = (4 * order + value + 4 * strides(order, value).0 + 17 + 4 + 8 + 1) as u128;
        let most = u128::from(self.room).max(SMALLEST_PART) / an_entry;
        usize::try_from(most).unwrap_or(usize::MAX).min(MOST)
    }
}

/// Most entries that are on a device at once: positions are 32 bits wide, and arrays are read up to the next block.
pub(super) const MOST: usize = (u32::MAX - (1 << 16)) as usize;

/// The form that is taken where none is asked for, and why.
///
/// | rule | from |
/// | --- | --- |
/// | more than 2³² − 2¹⁶ entries: parts | positions are 32 bits wide |
/// | a copy for each mode, if they can be made in the room | the fastest on all tensors measured (benches/results, `gpu_mttkrp`) |
/// | records and their orders, if they can be made | 0.4 to 0.8 of the bytes, 1.1 to 1.4 times as long |
/// | else parts | |
///
/// [`Remapped`](TensorForm::Remapped) is taken by name only: 1.8 to 2.2 times as long as copies, and more bytes than
/// records and their orders have.
#[must_use]
pub(super) fn choose(s: &TensorStats) -> (TensorForm, &'static str) {
    let fits = |form| s.bytes(form).made <= u128::from(s.room);
    if s.nnz > MOST {
        return (TensorForm::Parts, "more entries than 32 bits number");
    }
    if fits(TensorForm::Copies) {
        return (TensorForm::Copies, "there is room for a copy in the order of each mode");
    }
    if fits(TensorForm::Permuted) {
        return (TensorForm::Permuted, "no room for a copy for each mode, but for one and the order of each mode");
    }
    (TensorForm::Parts, "no room for all entries and their orders")
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
        // 16 bytes an entry as it comes; a copy has 12, a record 16, a place 4.
        let s = stats(&[1, 1, 1], 1 << 20, 1 << 40);
        let n = 1u128 << 20;
        let near =
            |bytes: u128, expected: u128| assert!(bytes >= expected && bytes < expected + n / 4, "{bytes} {expected}");
        near(s.bytes(TensorForm::Copies).kept, 36 * n);
        near(s.bytes(TensorForm::Copies).made, (16 + 16 + 17 + 36) * n);
        near(s.bytes(TensorForm::Permuted).kept, 28 * n);
        near(s.bytes(TensorForm::Remapped).kept, 76 * n);
        assert_eq!(s.bytes(TensorForm::Parts).kept, 0);
        // A row for each entry: 8 bytes more for each.
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

//! Threads per row of the factors, and columns per thread.

use crate::algebra::Type;

/// Threads per row and columns per pass, for `rank` columns: `vector_size` and FBS.
///
/// Source: Phipps, Kolda 2019, Table 4.
pub(super) fn table(rank: usize) -> (u32, u32) {
    match rank {
        0 | 1 => (1, 1),
        2 => (2, 2),
        3 => (2, 4),
        4 => (4, 4),
        5..=7 => (4, 8),
        8 => (8, 8),
        9..=16 => (8, 16),
        17..=24 => (8, 24),
        25..=47 => (8, 32),
        48 => (16, 48),
        49..=95 => (16, 64),
        96 => (32, 96),
        _ => (32, 128),
    }
}

/// Compile-time widths of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Widths {
    /// Threads per group, which handles a row: `LANES`.
    pub(super) lanes: u32,
    /// Columns per thread: `EACH`.
    pub(super) each: u32,
    /// Columns per vector read: `VEC`.
    pub(super) vec: u32,
    /// Threads per block: `THREADS`.
    pub(super) threads: u32,
    /// Entries in flight: `DEEP`.
    pub(super) deep: u32,
}

impl Widths {
    /// Widths for factors of `rank` columns with values of these types, and results of the second.
    pub(super) fn new(rank: usize, factor: Type, result: Type) -> Self {
        let bytes = factor.size().max(result.size()).max(1);
        let (lanes, columns) = table(rank);
        // Values of more than 8 bytes would not fit a thread's registers several times.
        let (lanes, each) = match bytes {
            0..=8 => (lanes, columns / lanes),
            _ => ((rank.clamp(1, 32) as u32).next_power_of_two(), 1),
        };
        let reads = |vec: &u32| {
            let fits = |ty: Type| ty.size().is_power_of_two() && ty.size() * *vec as usize <= 16;
            each.is_multiple_of(*vec) && rank.is_multiple_of(*vec as usize) && fits(factor) && fits(result)
        };
        let vec = [4, 2].into_iter().find(reads).unwrap_or(1);
        let deep = match each as usize * bytes {
            0..=16 => 4,
            17..=32 => 2,
            _ => 1,
        };
        Self { lanes, each, vec, threads: (32 * lanes).clamp(64, 256), deep }
    }
    /// Columns per block.
    pub(super) fn columns(self) -> usize {
        (self.lanes * self.each) as usize
    }
    /// Groups per block.
    pub(super) fn groups(self) -> usize {
        (self.threads / self.lanes) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_table() {
        let of = |rank| {
            let w = Widths::new(rank, Type::F32, Type::F32);
            (w.lanes, w.each, w.vec)
        };
        let expected = [
            (1, (1, 1, 1)),
            (2, (2, 1, 1)),
            (3, (2, 2, 1)),
            (4, (4, 1, 1)),
            (5, (4, 2, 1)),
            (8, (8, 1, 1)),
            (15, (8, 2, 1)),
            (16, (8, 2, 2)),
            (24, (8, 3, 1)),
            (31, (8, 4, 1)),
            (32, (8, 4, 4)),
            (33, (8, 4, 1)),
            (34, (8, 4, 2)),
            (48, (16, 3, 1)),
            (64, (16, 4, 4)),
            (96, (32, 3, 1)),
            (100, (32, 4, 4)),
            (1000, (32, 4, 4)),
        ];
        for (rank, widths) in expected {
            assert_eq!(of(rank), widths, "{rank}");
        }
    }

    #[test]
    fn reads_are_of_16_bytes_at_most_and_large_values_stand_alone() {
        let w = Widths::new(32, Type::F64, Type::F64);
        assert_eq!((w.lanes, w.each, w.vec, w.deep), (8, 4, 2, 2));
        let w = Widths::new(32, Type::ComplexF64, Type::ComplexF64);
        assert_eq!((w.lanes, w.each, w.vec, w.deep), (32, 1, 1, 4));
        for rank in 1..300 {
            for ty in Type::ALL {
                let w = Widths::new(rank, *ty, *ty);
                assert!(w.lanes.is_power_of_two() && w.lanes <= 32 && w.groups() <= 64, "{w:?}");
                assert!(w.vec as usize * ty.size() <= 16 && rank % w.vec as usize == 0, "{w:?}");
            }
        }
    }
}

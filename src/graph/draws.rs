//! Reproducible random orders.

/// Random numbers: SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators").
pub(super) struct Draws(u64);

/// Consecutive vertices that are shuffled with each other: their data stays in a cache.
const BLOCK: usize = 1 << 14;

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// A random number below `n`, `n` > 0.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
    /// Shuffles each block of [`BLOCK`] elements (Fisher, Yates).
    pub(super) fn shuffle(&mut self, order: &mut [u32]) {
        for block in order.chunks_mut(BLOCK) {
            for i in (1..block.len()).rev() {
                block.swap(i, self.below(i + 1));
            }
        }
    }
}

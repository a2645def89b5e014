//! numpy's `Generator(PCG64(seed))`, bit for bit.
//!
//! Sources: Lemire, *Fast Random Integer Generation in an Interval*, 2019 (integers below a bound); numpy's
//! documentation for the conversion of words to numbers.

use super::memory::collected;
use sparring::Result;
use sparring::tensor::Pcg64;

/// `Generator(PCG64(seed))`.
pub(super) struct Generator {
    words: Pcg64,
    /// The unused upper half of the last word split into 32-bit halves.
    half: Option<u32>,
}

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self { words: Pcg64::new(seed), half: None }
    }
    /// The lower half of a word, then its upper half.
    #[inline(always)]
    fn next32(&mut self) -> u32 {
        if let Some(upper) = self.half.take() {
            return upper;
        }
        let word = self.words.next_u64();
        self.half = Some((word >> 32) as u32);
        word as u32
    }
    /// `random()`: the upper 53 bits as a number in [0, 1).
    #[inline(always)]
    pub(super) fn random(&mut self) -> f64 {
        self.words.unit()
    }
    /// `random(dtype=float32)`: the upper 24 of 32 bits.
    #[inline(always)]
    pub(super) fn random32(&mut self) -> f32 {
        (self.next32() >> 8) as f32 * (1.0 / (1u32 << 24) as f32)
    }
    /// `random(n)`.
    pub(super) fn randoms(&mut self, n: usize) -> Result<Vec<f64>> {
        collected(n, std::iter::repeat_with(|| self.random()), "random numbers")
    }
    /// `integers(0, bound)`, bound ≥ 1: the upper half of a product, with rejection to remove bias.
    #[inline(always)]
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        if bound == 1 {
            return 0;
        }
        let mut product = u64::from(self.next32()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.next32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }
    /// `permutation(n)`: Fisher–Yates shuffle from the last position down.
    pub(super) fn permutation(&mut self, n: u32) -> Result<Vec<u32>> {
        let mut list = collected(n as usize, 0..n, "a permutation")?;
        for i in (1..n).rev() {
            list.swap(i as usize, self.at_most(i) as usize);
        }
        Ok(list)
    }
    /// Uniform in 0..=`last`, last > 0: masked bits, with rejection.
    #[inline(always)]
    fn at_most(&mut self, last: u32) -> u32 {
        let mask = u32::MAX >> last.leading_zeros();
        loop {
            let found = self.next32() & mask;
            if found <= last {
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws of numpy 2.4.6: `rng = np.random.Generator(np.random.PCG64(101))`, then the named calls.
    #[test]
    fn draws_are_those_of_numpy() {
        let mut rng = Generator::new(101);
        let first = rng.randoms(3).unwrap();
        let bits = [0x3fee_316b_14c9_edb2, 0x3fd7_00c1_13ec_94ce, 0x3fe9_1d20_3d44_50c3];
        assert_eq!(first, bits.map(f64::from_bits));
        let mut below = |bound, n: usize| Vec::from_iter(std::iter::repeat_with(|| rng.below(bound)).take(n));
        assert_eq!(below(10, 7), [3, 5, 6, 2, 3, 9, 7]);
        assert_eq!(below(3_000_000_000, 3), [2_607_994_633, 404_107_025, 1_092_415_278]);
        // A half word is retained while whole words are drawn.
        assert_eq!(rng.random().to_bits(), 0x3fef_2443_b402_5c07);
        assert_eq!(rng.permutation(9).unwrap(), [3, 2, 0, 6, 8, 5, 7, 1, 4]);
        assert_eq!([rng.below(1), rng.below(1)], [0, 0]);
        assert_eq!(rng.permutation(5).unwrap(), [3, 0, 1, 4, 2]);
        assert_eq!((rng.random().to_bits(), rng.below(10)), (0x3fd6_b30f_b45a_8bae, 3));
        // Bounds with many rejections.
        assert_eq!([rng.below(u32::MAX), rng.below(u32::MAX)], [1_961_991_557, 2_800_202_795]);
        let refusing = [1_060_523_969, 72_103_311, 1_805_954_373, 1_919_571_221, 1_014_295_096, 1_010_579_156];
        assert_eq!(refusing.map(|_| rng.below((1 << 31) + 1)), refusing);
    }

    /// `rng = np.random.default_rng(12345)`: three f32, two f64 and two f32 draws; a half word is retained between f32
    /// draws.
    #[test]
    fn single_numbers_are_halves_of_words() {
        let mut rng = Generator::new(12345);
        let single = |rng: &mut Generator| rng.random32().to_bits();
        assert_eq!([(); 3].map(|()| single(&mut rng)), [0x3f32_ffc1, 0x3e68_cac4, 0x3f49_e4c4]);
        let double = [(); 2].map(|()| rng.random().to_bits());
        assert_eq!(double, [0x3fe9_8404_9046_889d, 0x3fe5_a3e0_d5d4_90dd]);
        assert_eq!([(); 2].map(|()| single(&mut rng)), [0x3ea2_2e26, 0x3f7d_0b7b]);
    }
}

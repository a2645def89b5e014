//! The random numbers of numpy's `Generator(PCG64(seed))`, bit for bit.
//!
//! Sources: O'Neill, *PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation*,
//! 2014 (XSL-RR 128/64), and *Developing a seed_seq Alternative*, 2015 (the seed); Lemire, *Fast Random Integer Generation in an
//! Interval*, 2019 (integers below a bound); numpy's documentation for how they are put together.

use crate::Result;
use crate::par::collected;

/// A permuted congruential generator of 128 bits, as numpy seeds and reads it.
pub(super) struct Pcg64 {
    state: u128,
    increment: u128,
    /// The upper half of the last word of which 32 bits were wanted.
    half: Option<u32>,
}

impl Pcg64 {
    /// `Generator(PCG64(seed))`.
    pub(super) fn new(seed: u32) -> Self {
        let words = seed_words(seed);
        let wide = |high: usize| u128::from(words[high]) << 64 | u128::from(words[high + 1]);
        let mut generator = Self { state: 0, increment: wide(2) << 1 | 1, half: None };
        generator.step();
        generator.state = generator.state.wrapping_add(wide(0));
        generator.step();
        generator
    }
    #[inline(always)]
    fn step(&mut self) {
        const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }
    #[inline(always)]
    fn next64(&mut self) -> u64 {
        self.step();
        ((self.state >> 64) as u64 ^ self.state as u64).rotate_right((self.state >> 122) as u32)
    }
    /// The lower half of a word, then its upper half.
    #[inline(always)]
    fn next32(&mut self) -> u32 {
        if let Some(upper) = self.half.take() {
            return upper;
        }
        let word = self.next64();
        self.half = Some((word >> 32) as u32);
        word as u32
    }
    /// `random()`: the upper 53 bits as a number in [0, 1).
    #[inline(always)]
    pub(super) fn random(&mut self) -> f64 {
        super::unit(self.next64())
    }
    /// `random(n)`.
    pub(super) fn randoms(&mut self, n: usize) -> Result<Vec<f64>> {
        collected(n, std::iter::repeat_with(|| self.random()), "random numbers")
    }
    /// `integers(0, bound)`, bound at least 1: the upper half of a product, drawn again where that would favour some.
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
    /// `permutation(n)`: from the last position on each is swapped with one at or before it.
    pub(super) fn permutation(&mut self, n: u32) -> Result<Vec<u32>> {
        let mut list = collected(n as usize, 0..n, "a permutation")?;
        for i in (1..n).rev() {
            list.swap(i as usize, self.at_most(i) as usize);
        }
        Ok(list)
    }
    /// Uniform in 0..=`last`, which is above 0: as many bits as that has, drawn again while they are more.
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

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_words(seed: u32) -> [u64; 4] {
    let (mut pool, mut constant) = ([0u32; 4], 0x43B0_D7E5_u32);
    let mut hashed = |x: u32| {
        let x = x ^ constant;
        constant = constant.wrapping_mul(0x931E_8875);
        let x = x.wrapping_mul(constant);
        x ^ x >> 16
    };
    for (i, word) in pool.iter_mut().enumerate() {
        *word = hashed(if i == 0 { seed } else { 0 });
    }
    for from in 0..4 {
        for to in (0..4).filter(|&to| to != from) {
            let (a, b) = (pool[to].wrapping_mul(0xCA01_F9DD), hashed(pool[from]).wrapping_mul(0x4973_F715));
            let mixed = a.wrapping_sub(b);
            pool[to] = mixed ^ mixed >> 16;
        }
    }
    let mut constant = 0x8B51_F9DD_u32;
    let mut word = |i: usize| {
        let x = pool[i % 4] ^ constant;
        constant = constant.wrapping_mul(0x58F3_8DED);
        let x = x.wrapping_mul(constant);
        u64::from(x ^ x >> 16)
    };
    std::array::from_fn(|i| {
        let low = word(2 * i);
        low | word(2 * i + 1) << 32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What numpy 2.4.6 gives: `rng = np.random.Generator(np.random.PCG64(101))`, then the calls that are named.
    #[test]
    fn draws_are_those_of_numpy() {
        let words = |seed| seed_words(seed).map(|word| word >> 32);
        assert_eq!(words(0), [0xdb2c_d7e7, 0xabf4_641a, 0x20c6_ed6d, 0x2c40_99de]);
        assert_eq!(words(1 << 31), [0xd980_6b5c, 0x13f0_783e, 0x1412_2dde, 0x4db0_24ce]);
        let mut rng = Pcg64::new(101);
        assert_eq!(rng.state, 0x9928_7615_32c2_ee65_86e2_60c3_a29e_ea25);
        assert_eq!(rng.increment, 0xd896_d2e4_d544_b55e_534d_8f00_7f4b_1751);
        let first = rng.randoms(3).unwrap();
        let bits = [0x3fee_316b_14c9_edb2, 0x3fd7_00c1_13ec_94ce, 0x3fe9_1d20_3d44_50c3];
        assert_eq!(first, bits.map(f64::from_bits));
        let mut below = |bound, n: usize| Vec::from_iter(std::iter::repeat_with(|| rng.below(bound)).take(n));
        assert_eq!(below(10, 7), [3, 5, 6, 2, 3, 9, 7]);
        assert_eq!(below(3_000_000_000, 3), [2_607_994_633, 404_107_025, 1_092_415_278]);
        // Half a word is kept while whole ones are drawn.
        assert_eq!(rng.random().to_bits(), 0x3fef_2443_b402_5c07);
        assert_eq!(rng.permutation(9).unwrap(), [3, 2, 0, 6, 8, 5, 7, 1, 4]);
        assert_eq!([rng.below(1), rng.below(1)], [0, 0]);
        assert_eq!(rng.permutation(5).unwrap(), [3, 0, 1, 4, 2]);
        assert_eq!((rng.random().to_bits(), rng.below(10)), (0x3fd6_b30f_b45a_8bae, 3));
        // Bounds that refuse many draws.
        assert_eq!([rng.below(u32::MAX), rng.below(u32::MAX)], [1_961_991_557, 2_800_202_795]);
        let refusing = [1_060_523_969, 72_103_311, 1_805_954_373, 1_919_571_221, 1_014_295_096, 1_010_579_156];
        assert_eq!(refusing.map(|_| rng.below((1 << 31) + 1)), refusing);
    }
}

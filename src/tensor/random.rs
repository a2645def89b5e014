//! Random numbers identical to those of NumPy's `Generator(PCG64(seed)).random()`, so that initial guesses agree with
//! those of other programs.
//!
//! Sources: O'Neill 2014 (PCG XSL RR 128/64); NumPy's `SeedSequence` for the seeding.

/// A seeded random stream, from which CP draws its initial guess.
/// ```
/// use sparring::tensor::Pcg64;
/// // numpy.random.Generator(numpy.random.PCG64(7)).random()
/// assert_eq!(Pcg64::new(7).unit(), 0.625095466604667);
/// ```
#[derive(Clone, Debug)]
pub struct Pcg64 {
    state: u128,
    increment: u128,
}

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

impl Pcg64 {
    /// The stream seeded with `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let [a, b, c, d] = seed_words(seed);
        let (state, stream) = ((u128::from(a) << 64) | u128::from(b), (u128::from(c) << 64) | u128::from(d));
        let mut rng = Self { state: 0, increment: (stream << 1) | 1 };
        rng.step();
        rng.state = rng.state.wrapping_add(state);
        rng.step();
        rng
    }
    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }
    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }
    /// The next number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// A hash whose constant changes with every call.
struct Hash {
    constant: u32,
    multiplier: u32,
}
impl Hash {
    fn of(&mut self, value: u32) -> u32 {
        let value = value ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let value = value.wrapping_mul(self.constant);
        value ^ (value >> 16)
    }
}

/// Four words of state from a seed.
fn seed_words(seed: u64) -> [u64; 4] {
    let mut hash = Hash { constant: 0x43B0_D7E5, multiplier: 0x931E_8875 };
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(|word| hash.of(word));
    for from in 0..4 {
        for to in (0..4).filter(|&to| to != from) {
            let mixed = pool[to].wrapping_mul(0xCA01_F9DD).wrapping_sub(hash.of(pool[from]).wrapping_mul(0x4973_F715));
            pool[to] = mixed ^ (mixed >> 16);
        }
    }
    let mut hash = Hash { constant: 0x8B51_F9DD, multiplier: 0x58F3_8DED };
    let words: [u32; 8] = std::array::from_fn(|k| hash.of(pool[k % 4]));
    std::array::from_fn(|k| u64::from(words[2 * k]) | (u64::from(words[2 * k + 1]) << 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.random.Generator(numpy.random.PCG64(seed))`: NumPy 2.4.6.
    #[test]
    fn numbers_are_numpys() {
        let first = |seed: u64| {
            let mut rng = Pcg64::new(seed);
            [rng.unit(), rng.unit(), rng.unit()]
        };
        assert_eq!(first(0), [0.6369616873214543, 0.2697867137638703, 0.04097352393619469]);
        assert_eq!(first(7), [0.625095466604667, 0.8972138009695755, 0.7756856902451935]);
        assert_eq!(first(1099511627781), [0.004739459374490829, 0.3725845824112115, 0.5872294266977701]);
    }
}

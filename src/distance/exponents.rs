//! Binary exponents: of numbers, and those that a type can represent.

use super::float::Float;

/// The range of binary exponents of a floating-point type.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Above all numbers.
    pub(super) most: i32,
    /// Of the smallest numbers beside which an underflow is negligible.
    pub(super) least: i32,
    /// Binary digits after the first.
    pub(super) digits: i32,
}

impl Limits {
    pub(super) fn of<W: Float>() -> Self {
        match size_of::<W>() {
            4 => Self { most: 127, least: -100, digits: 23 },
            _ => Self { most: 1023, least: -980, digits: 52 },
        }
    }
    /// The smallest sum that is accurate to its last digits.
    pub(super) fn trusted(self) -> f64 {
        times_two_to(1.0, self.least)
    }
}

/// x · 2^e, also where 2^e is not representable.
pub(super) fn times_two_to(mut x: f64, mut e: i32) -> f64 {
    let two_to = |e: i32| f64::from_bits(((e + 1023) as u64) << 52);
    while e.abs() > 1000 && x != 0.0 && x.is_finite() {
        let step = 1000 * e.signum();
        x *= two_to(step);
        e -= step;
    }
    x * two_to(e.clamp(-1000, 1000))
}

/// The e for which 2^e ≤ x < 2^(e+1), of a number above 0.
pub(super) fn exponent(x: f64) -> i32 {
    let (bits, field) = (x.to_bits(), (x.to_bits() >> 52 & 0x7ff) as i32);
    if field == 0 { -1011 - bits.leading_zeros() as i32 } else { field - 1023 }
}

/// The largest e for which x is a multiple of 2^e, of a nonzero number.
pub(super) fn grid(x: f64) -> i32 {
    let (bits, field) = (x.to_bits() & ((1 << 52) - 1), (x.to_bits() >> 52 & 0x7ff) as i32);
    match field {
        0 => bits.trailing_zeros() as i32 - 1074,
        _ => (bits | 1 << 52).trailing_zeros() as i32 + field - 1075,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_the_number() {
        for (x, e, of_grid) in [
            (1.0, 0, 0),
            (1.5, 0, -1),
            (0.75, -1, -2),
            (6.0, 2, 1),
            (f64::MAX, 1023, 971),
            (f64::MIN_POSITIVE, -1022, -1022),
            (f64::from_bits(1), -1074, -1074),
            (f64::from_bits(0b1100), -1071, -1072),
            (0.1, -4, -55),
        ] {
            assert_eq!((exponent(x), grid(x)), (e, of_grid), "{x:e}");
        }
        for e in [-2100, -1500, -1074, -1000, 0, 3, 1000, 1023] {
            assert_eq!(times_two_to(times_two_to(0.75, -e.clamp(-1000, 1000)), e.clamp(-1000, 1000)), 0.75);
            assert_eq!(times_two_to(0.0, e), 0.0);
        }
        assert_eq!(times_two_to(f64::from_bits(1), 2097), 2f64.powi(1023));
        assert_eq!(times_two_to(2f64.powi(1023), -2097), f64::from_bits(1));
        assert_eq!((times_two_to(1.0, 3000), times_two_to(1.0, -3000)), (f64::INFINITY, 0.0));
    }
}

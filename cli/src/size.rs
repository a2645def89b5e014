//! Byte sizes with units: `2G`.

/// Parses a number of bytes, optionally with the unit K, M, G or T (2¹⁰, 2²⁰, 2³⁰ or 2⁴⁰).
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let upper = upper.strip_suffix("IB").or(upper.strip_suffix('B')).unwrap_or(&upper);
    let (digits, shift) = match upper.chars().last().and_then(|unit| "KMGT".find(unit)) {
        Some(unit) => (&upper[..upper.len() - 1], 10 * (unit + 1)),
        None => (upper, 0),
    };
    let digits = digits.trim_end();
    let number = digits.parse::<u64>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    let bytes = number.and_then(|n| n.checked_mul(1 << shift));
    bytes.ok_or_else(|| "it is a number of bytes, such as 500000, 64K, 500M or 2G".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024() {
        for (text, bytes) in [
            ("0", 0),
            ("12", 12),
            ("64K", 65_536),
            ("3m", 3 << 20),
            ("2G", 2 << 30),
            ("2GiB", 2 << 30),
            ("1 TB", 1 << 40),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "-1", "1.5G", "1X", "99999999999T", "1 2"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

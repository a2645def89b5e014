//! Formatting of numbers in text and JSON.

use serde_json::{Value, json};
use sparring::runtime::Sum;

/// 1234567 as `1,234,567`.
pub(crate) fn thousands(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `12,008 × 12,008`.
pub(crate) fn shape(nrows: usize, ncols: usize) -> String {
    format!("{} × {}", thousands(nrows as u64), thousands(ncols as u64))
}

/// Milliseconds as seconds, two digits or more: `0.02 s`, `0.0013 s`.
pub(crate) fn seconds(ms: f64) -> String {
    let s = ms / 1e3;
    match s {
        _ if s >= 0.01 => format!("{s:.2} s"),
        _ if s >= 0.0001 => format!("{s:.4} s"),
        _ => format!("{s:.6} s"),
    }
}

/// Milliseconds in JSON, rounded to nanoseconds.
pub(crate) fn ms(ms: f64) -> Value {
    json!((ms * 1e6).round() / 1e6)
}

/// A sum in JSON: a number if that is exact, else text.
pub(crate) fn number(sum: Sum) -> Value {
    match sum {
        Sum::Real(x) => json!(x),
        Sum::Integer(x) => match (i64::try_from(x), u64::try_from(x)) {
            (Ok(x), _) => json!(x),
            (_, Ok(x)) => json!(x),
            _ => json!(x.to_string()),
        },
        Sum::Complex(x) => json!(x.to_string()),
    }
}

/// A value that may be missing: `-`, else four digits.
pub(crate) fn ratio(x: Option<f64>) -> String {
    x.map_or_else(|| "-".into(), |x| format!("{x:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (3_358_499, "3,358,499"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(thousands(n), text);
        }
    }

    #[test]
    fn seconds_keep_digits_that_matter() {
        assert_eq!(
            [seconds(1234.5), seconds(20.0), seconds(1.3), seconds(0.012)],
            ["1.23 s", "0.02 s", "0.0013 s", "0.000012 s"]
        );
    }
}

//! Timing in milliseconds.

use std::time::Instant;

use serde_json::{Map, Value};

use crate::output::ms;

/// The result of `f` and its time in milliseconds.
pub(crate) fn timed<R>(f: impl FnOnce() -> R) -> (R, f64) {
    let start = Instant::now();
    let result = f();
    (result, start.elapsed().as_secs_f64() * 1e3)
}

/// Repeated measurements.
#[derive(Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    pub(crate) fn push(&mut self, ms: f64) {
        self.0.push(ms);
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The median; 0 without measurements.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        if n == 0 { 0.0 } else { (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0 }
    }
    /// The minimum; 0 without measurements.
    pub(crate) fn minimum(&self) -> f64 {
        self.0.iter().copied().reduce(f64::min).unwrap_or(0.0)
    }
}

/// Inserts the median and the minimum into a JSON object.
pub(crate) fn insert(line: &mut Map<String, Value>, prefix: &str, times: &Times) {
    let named = if prefix.is_empty() { "compute_" } else { prefix };
    line.insert(format!("{named}ms"), ms(times.median()));
    line.insert(format!("{named}min_ms"), ms(times.minimum()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let times = |ms: &[f64]| Times(ms.to_vec());
        assert_eq!((times(&[3.0, 1.0, 2.0]).median(), times(&[3.0, 1.0, 2.0]).minimum()), (2.0, 1.0));
        assert_eq!(times(&[4.0, 1.0, 2.0, 3.0]).median(), 2.5);
        assert_eq!((times(&[]).median(), times(&[]).minimum()), (0.0, 0.0));
    }
}

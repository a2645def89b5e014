//! Histograms of streams: the range of the bins grows with the values.

use plotters::prelude::*;

use super::{Area, CAPTION, COLOURS, Drawing, Drawn, GRID, LABEL, tick_of, whole_tick};

/// Maximum number of bins; at least half of them are shown.
const BINS: usize = 128;

/// Counts of finite values in bins of equal width. The bins depend on the order of the values, but not on how they are
/// split into calls.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    title: String,
    axis: &'static str,
    /// Lower end of the bins, and their width; 0 until set by two different values.
    low: f64,
    width: f64,
    counts: [u64; BINS],
    /// The first value and its count, until a different value arrives.
    first: Option<f64>,
    same: u64,
    left_out: u64,
}

impl Histogram {
    /// An empty histogram with a title and the name of its axis.
    pub(crate) fn new(title: String, axis: &'static str) -> Self {
        Self { title, axis, low: 0.0, width: 0.0, counts: [0; BINS], first: None, same: 0, left_out: 0 }
    }
    /// Counts these values.
    pub(crate) fn add(&mut self, values: &[f64]) {
        values.iter().for_each(|&x| self.count(x, 1));
    }
    fn count(&mut self, x: f64, times: u64) {
        if !x.is_finite() {
            self.left_out += times;
            return;
        }
        match self.first {
            None => (self.first, self.same) = (Some(x), times),
            Some(first) if self.width == 0.0 && x == first => self.same += times,
            Some(first) => {
                if self.width == 0.0 {
                    let (low, high) = (first.min(x), first.max(x));
                    // Keeps the larger value inside the last bin, off its edge.
                    (self.low, self.width) = (low, (high - low) / (BINS as f64 - 0.5));
                    if self.width == 0.0 || !self.width.is_finite() {
                        // Adjacent floats, or a range that overflows: a single bin.
                        self.width = 0.0;
                        self.same += times;
                        return;
                    }
                    let same = self.same;
                    self.put(first, same);
                }
                self.put(x, times);
            }
        }
    }
    fn put(&mut self, x: f64, times: u64) {
        loop {
            let at = ((x - self.low) / self.width).floor();
            if (0.0..BINS as f64).contains(&at) {
                self.counts[at as usize] += times;
                return;
            }
            // Doubles the range, towards the new value.
            let mut wider = [0; BINS];
            let first = if at < 0.0 { BINS / 2 } else { 0 };
            self.counts.chunks(2).enumerate().for_each(|(k, pair)| wider[first + k] = pair.iter().sum());
            self.counts = wider;
            if at < 0.0 {
                self.low -= BINS as f64 * self.width;
            }
            self.width *= 2.0;
        }
    }
    /// The bins from the first to the last nonempty one: lower end, width, counts.
    pub(crate) fn bins(&self) -> (f64, f64, Vec<u64>) {
        if self.width == 0.0 {
            let x = self.first.unwrap_or(0.0);
            let width = if x == 0.0 { 1.0 } else { x.abs() / 8.0 };
            return (x - width / 2.0, width, vec![self.same]);
        }
        let first = self.counts.iter().position(|&n| n > 0).unwrap_or(0);
        let last = self.counts.iter().rposition(|&n| n > 0).unwrap_or(0);
        (self.low + first as f64 * self.width, self.width, self.counts[first..=last].to_vec())
    }
}

impl Drawing for Histogram {
    fn size(&self) -> (u32, u32) {
        (860, 480)
    }
    fn marks(&self) -> usize {
        2 * BINS
    }
    fn draw<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        area.fill(&WHITE)?;
        let (low, width, counts) = self.bins();
        let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let high = low + width * counts.len() as f64;
        let title = match self.left_out {
            0 => self.title.clone(),
            n => format!("{} ({} not finite, left out)", self.title, crate::output::thousands(n)),
        };
        let mut chart = ChartBuilder::on(area)
            .caption(title, CAPTION)
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(110)
            .build_cartesian_2d(low..high, 0.0..1.05 * most)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .x_desc(self.axis)
            .y_desc("pairs")
            .x_label_formatter(&|x| tick_of(*x, high - low))
            .y_label_formatter(&|y| whole_tick(*y))
            .label_style(LABEL)
            .axis_desc_style(LABEL)
            .draw()?;
        let bar = |(k, &n): (usize, &u64)| {
            let left = low + k as f64 * width;
            Rectangle::new([(left, 0.0), (left + width, n as f64)], COLOURS[0].filled())
        };
        chart.draw_series(counts.iter().enumerate().filter(|(_, n)| **n > 0).map(bar))?;
        area.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_value_is_in_a_bin_of_its_range() {
        let values: Vec<f64> = (0..10_000).map(|i| f64::from(i * 7919 % 10_007) / 100.0 - 20.0).collect();
        let mut all = Histogram::new(String::new(), "x");
        all.add(&values);
        all.add(&[f64::NAN, f64::INFINITY]);
        let (low, width, counts) = all.bins();
        assert_eq!((counts.iter().sum::<u64>(), all.left_out), (10_000, 2));
        assert!((32..=BINS).contains(&counts.len()), "{}", counts.len());
        for (k, &n) in counts.iter().enumerate() {
            let (from, to) = (low + k as f64 * width, low + (k + 1) as f64 * width);
            let within = values.iter().filter(|x| (from..to).contains(x)).count() as u64;
            // Bin edges are rounded.
            assert!(n.abs_diff(within) <= 1, "bin {k}: {n}, not {within}");
        }
        let mut parts = Histogram::new(String::new(), "x");
        values.chunks(77).for_each(|part| parts.add(part));
        assert_eq!(parts.bins(), all.bins());
    }

    #[test]
    fn one_value_is_one_bin() {
        let mut one = Histogram::new(String::new(), "x");
        one.add(&[3.0; 5]);
        assert_eq!(one.bins().2, [5]);
        assert_eq!(Histogram::new(String::new(), "x").bins().2, [0]);
    }
}

//! `cp --plot`: convergence of the fit, and the columns of the factors.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use sparring::factor::CpFit;

use crate::plot::{Area, CAPTION, COLOURS, Drawing, Drawn, LABEL, labels_of, tick, tick_of, whole_tick};

/// Maximum number of points of a curve; longer columns are thinned.
const POINTS: usize = 1000;
/// Largest extent of a mode that is drawn as bars.
const BARS: usize = 12;
/// Height of a chart.
const HEIGHT: u32 = 300;
/// Width of a chart, and of the legend.
const WIDTHS: [u32; 2] = [800, 220];
/// Color of grid lines.
const GRID: RGBColor = RGBColor(225, 225, 225);

/// The plot of a decomposition.
pub(super) struct Decomposition<'a>(pub(super) &'a CpFit<f64>);

impl Decomposition<'_> {
    /// Number of components shown, by decreasing weight.
    fn components(&self) -> usize {
        self.0.model.rank().min(COLOURS.len())
    }

    fn convergence<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        // An exact fit has no position on a logarithmic axis.
        let missing: Vec<f64> = self.0.fits.iter().map(|fit| (1.0 - fit).max(1e-16)).collect();
        let finite = || missing.iter().copied().filter(|x| x.is_finite());
        let (low, high) = (finite().fold(1.0, f64::min), finite().fold(1e-16, f64::max));
        // Whole decades, so that at least two ticks are labelled.
        let (low, high) = (10f64.powf(low.log10().floor()), 10f64.powf(high.log10().ceil()));
        let high = high.max(10.0 * low);
        let sweeps = missing.len();
        let mut chart = ChartBuilder::on(area)
            .caption(format!("1 - fit by sweep; fit {:.6}", self.0.fit), CAPTION)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(90)
            .build_cartesian_2d(0.5..sweeps as f64 + 0.5, (low * 0.999..high * 1.001).log_scale())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .x_desc("sweep")
            .y_desc("1 - fit")
            .x_labels(labels_of(sweeps))
            .y_labels(6)
            .x_label_formatter(&|x| whole_tick(*x))
            .y_label_formatter(&|y| tick(*y))
            .label_style(LABEL)
            .axis_desc_style(LABEL)
            .draw()?;
        let points = || thinned(missing.iter().copied().enumerate().map(|(k, x)| ((k + 1) as f64, x)), sweeps);
        chart.draw_series(LineSeries::new(points(), COLOURS[0].stroke_width(2)))?;
        if sweeps <= 60 {
            chart.draw_series(points().map(|at| Circle::new(at, 3, COLOURS[0].filled())))?;
        }
        Ok(())
    }

    fn mode<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>, mode: usize) -> Drawn {
        let (factor, components) = (&self.0.model.factors()[mode], self.components());
        let n = factor.nrows();
        let shown = || (0..n).flat_map(|i| factor.row(i)[..components].iter().copied()).filter(|x| x.is_finite());
        let (low, high) = (shown().fold(0.0, f64::min), shown().fold(0.0, f64::max));
        let room = if high > low { 0.06 * (high - low) } else { 1.0 };
        let (bottom, top) =
            (if low < 0.0 { low - room } else { 0.0 }, if high > 0.0 || low == 0.0 { high + room } else { 0.0 });
        let mut chart = ChartBuilder::on(area)
            .caption(format!("mode {mode}: elements of the components"), CAPTION)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(90)
            .build_cartesian_2d(-0.5..n.max(1) as f64 - 0.5, bottom..top)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .x_desc("index")
            .y_desc("element")
            .x_labels(if n <= BARS { n.max(2) } else { labels_of(n) })
            .y_labels(6)
            .x_label_formatter(&|x| whole_tick(*x))
            .y_label_formatter(&|y| tick_of(*y, top - bottom))
            .label_style(LABEL)
            .axis_desc_style(LABEL)
            .draw()?;
        let zero = [(-0.5, 0.0), (n.max(1) as f64 - 0.5, 0.0)];
        for (r, colour) in COLOURS.into_iter().enumerate().take(components) {
            if n <= BARS {
                let width = 0.8 / components as f64;
                chart.draw_series((0..n).map(|i| {
                    let left = i as f64 - 0.4 + r as f64 * width;
                    let x = Some(factor.row(i)[r]).filter(|x| x.is_finite()).unwrap_or(0.0);
                    Rectangle::new([(left, 0.0), (left + width, x)], colour.filled())
                }))?;
            } else {
                let points = thinned((0..n).map(|i| (i as f64, factor.row(i)[r])), n);
                chart.draw_series(LineSeries::new(points.filter(|at| at.1.is_finite()), colour.stroke_width(2)))?;
            }
        }
        if low < 0.0 {
            chart.draw_series(LineSeries::new(zero, BLACK.mix(0.5).stroke_width(1)))?;
        }
        Ok(())
    }

    fn legend<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        let style =
            |size: (&'static str, i32)| TextStyle::from(size.into_font()).pos(Pos::new(HPos::Left, VPos::Center));
        let weights = self.0.model.weights();
        let (mut y, step) = (24, 24);
        area.draw(&Text::new("component, weight", (8, y), style(LABEL)))?;
        for (r, weight) in weights.iter().take(self.components()).enumerate() {
            y += step;
            area.draw(&Rectangle::new([(8, y - 6), (30, y + 6)], COLOURS[r].filled()))?;
            area.draw(&Text::new(format!("{r}  {}", digits(*weight)), (40, y), style(LABEL)))?;
        }
        if weights.len() > self.components() {
            y += step;
            let more = format!("and {} of less weight", weights.len() - self.components());
            area.draw(&Text::new(more, (8, y), style(LABEL)))?;
        }
        Ok(())
    }
}

/// Formats with four digits.
fn digits(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) {
        let places = (3 - x.abs().max(1e-3).log10().floor() as i32).clamp(0, 6) as usize;
        format!("{x:.places$}")
    } else {
        format!("{x:.3e}")
    }
}

/// Thins `n` points, always including the last.
fn thinned<P>(points: impl Iterator<Item = P>, n: usize) -> impl Iterator<Item = P> {
    let step = n.div_ceil(POINTS).max(1);
    points.enumerate().filter(move |(k, _)| k % step == 0 || k + 1 == n).map(|(_, point)| point)
}

impl Drawing for Decomposition<'_> {
    fn size(&self) -> (u32, u32) {
        (WIDTHS[0] + WIDTHS[1], HEIGHT * (1 + self.0.model.factors().len() as u32))
    }
    fn marks(&self) -> usize {
        let lengths = self.0.model.factors().iter().map(|f| f.nrows().min(POINTS + 1));
        self.components() * lengths.sum::<usize>() + 2 * self.0.fits.len().min(POINTS + 1)
    }
    fn draw<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        area.fill(&WHITE)?;
        let (charts, legend) = area.split_horizontally(WIDTHS[0]);
        let areas = charts.split_evenly((1 + self.0.model.factors().len(), 1));
        self.convergence(&areas[0])?;
        for (mode, area) in areas[1..].iter().enumerate() {
            self.mode(area, mode)?;
        }
        // Next to the first factor.
        self.legend(&legend.margin(HEIGHT, 0, 0, 0))?;
        area.present()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_four_digits() {
        assert_eq!(
            [33.123_45, 0.5, 123_456.0, 2.5e-9, 0.0].map(digits),
            ["33.12", "0.5000", "123456", "2.500e-9", "0.000000"]
        );
    }

    #[test]
    fn a_long_column_is_thinned_to_its_last_element() {
        let kept: Vec<usize> = thinned(0..2500, 2500).collect();
        assert_eq!((kept.len(), kept.first(), kept.last()), (834, Some(&0), Some(&2499)));
        assert_eq!(thinned(0..3, 3).count(), 3);
    }
}

//! Curves: distributions by rank, counts by level.

use plotters::prelude::*;

use super::{Area, CAPTION, COLOURS, Drawing, Drawn, GRID, LABEL, tick};

/// Maximum number of points; more are thinned out evenly along a logarithmic axis.
const MOST: usize = 4000;

/// Points, on linear or on logarithmic axes.
#[derive(Clone)]
pub(crate) struct Curve {
    title: String,
    axes: [&'static str; 2],
    points: Vec<(f64, f64)>,
    logarithmic: bool,
}

impl Curve {
    pub(crate) fn linear(x: &'static str, y: &'static str, points: Vec<(f64, f64)>) -> Self {
        Self { title: String::new(), axes: [x, y], points, logarithmic: false }
    }
    /// Both coordinates are positive.
    pub(crate) fn logarithmic(x: &'static str, y: &'static str, points: Vec<(f64, f64)>) -> Self {
        Self { logarithmic: true, ..Self::linear(x, y, points) }
    }
    /// Sets the title.
    pub(crate) fn on(mut self, title: &str) -> Self {
        self.title = title.into();
        self
    }
    /// The sorted points, thinned out for drawing.
    fn shown(&self) -> Vec<(f64, f64)> {
        let n = self.points.len();
        if n <= MOST {
            return self.points.clone();
        }
        let mut at = 0;
        let mut shown = vec![];
        while at < n {
            shown.push(self.points[at]);
            at += if self.logarithmic { (at / (MOST / 8)).max(1) } else { n.div_ceil(MOST) };
        }
        shown
    }
}

impl Drawing for Curve {
    fn size(&self) -> (u32, u32) {
        (860, 480)
    }
    fn marks(&self) -> usize {
        self.points.len().min(MOST)
    }
    fn draw<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        area.fill(&WHITE)?;
        let points = self.shown();
        let over = |of: fn(&(f64, f64)) -> f64| {
            let values = || points.iter().map(of);
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        let ((left, right), (low, high)) =
            if points.is_empty() { ((1.0, 1.0), (1.0, 1.0)) } else { (over(|p| p.0), over(|p| p.1)) };
        let mut builder = ChartBuilder::on(area);
        builder.caption(&self.title, CAPTION).margin(16).x_label_area_size(44).y_label_area_size(110);
        // An axis needs a positive length.
        let wide = |low: f64, high: f64, more: f64| if high > low { high } else { more };
        macro_rules! drawn {
            ($chart:expr) => {{
                let mut chart = $chart;
                chart
                    .configure_mesh()
                    .bold_line_style(GRID)
                    .light_line_style(TRANSPARENT)
                    .x_desc(self.axes[0])
                    .y_desc(self.axes[1])
                    .x_label_formatter(&|x| tick(*x))
                    .y_label_formatter(&|y| tick(*y))
                    .label_style(LABEL)
                    .axis_desc_style(LABEL)
                    .draw()?;
                if !self.logarithmic {
                    chart.draw_series(LineSeries::new(points.iter().copied(), COLOURS[0]))?;
                }
                chart.draw_series(points.iter().map(|&at| Circle::new(at, 2, COLOURS[0].filled())))?;
            }};
        }
        if self.logarithmic {
            let (x, y) = (left..wide(left, right, 10.0 * left), low..wide(low, high, 10.0 * low));
            drawn!(builder.build_cartesian_2d(x.log_scale(), y.log_scale())?);
        } else {
            drawn!(builder.build_cartesian_2d(left..wide(left, right, left + 1.0), 0.0..1.05 * wide(0.0, high, 1.0))?);
        }
        area.present()?;
        Ok(())
    }
}

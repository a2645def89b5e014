//! `info --plot`: the sparsity pattern of a matrix, and its row lengths.

use plotters::prelude::*;
use sparring::par::filled;
use sparring::{Csr, Result};

use super::{Area, CAPTION, COLOURS, Drawing, Drawn, GRID, LABEL, tick, whole_tick};

/// Squares along the longer side.
const SIDE: usize = 160;
/// Shades of a square.
const SHADES: usize = 6;

/// The data of the plot.
pub(crate) struct Figures {
    title: String,
    shape: (usize, usize),
    /// Rows and columns per square, and squares along each side.
    block: usize,
    squares: (usize, usize),
    /// The shade of each square, 0 for none.
    shades: Vec<u8>,
    /// Row lengths and their numbers of rows, without length 0.
    degrees: Vec<(usize, usize)>,
    empty: usize,
}

impl Figures {
    pub(crate) fn of(title: String, a: &Csr<f64>) -> Result<Self> {
        let shape = (a.nrows(), a.ncols());
        let block = shape.0.max(shape.1).div_ceil(SIDE).max(1);
        let squares = (shape.0.div_ceil(block), shape.1.div_ceil(block));
        let mut counts = filled(squares.0 * squares.1, 0u32, "a picture")?;
        for (i, j, _) in a.iter() {
            let count = &mut counts[i / block * squares.1 + j / block];
            *count = count.saturating_add(1);
        }
        let most = f64::from(counts.iter().copied().max().unwrap_or(0)).ln_1p();
        let shade = |n: u32| match n {
            0 => 0,
            n => (f64::from(n).ln_1p() / most * SHADES as f64).ceil().clamp(1.0, SHADES as f64) as u8,
        };
        let mut lengths = filled(shape.0, 0usize, "a picture")?;
        lengths.iter_mut().zip(a.row_ptr().windows(2)).for_each(|(to, row)| *to = row[1] - row[0]);
        lengths.sort_unstable();
        let of_each = lengths.chunk_by(|x, y| x == y).map(|same| (same[0], same.len()));
        let empty = lengths.iter().take_while(|&&n| n == 0).count();
        let degrees = of_each.filter(|(degree, _)| *degree > 0).collect();
        Ok(Self { title, shape, block, squares, shades: counts.into_iter().map(shade).collect(), degrees, empty })
    }

    fn spy<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        let (nrows, ncols) = (self.shape.0.max(1) as f64, self.shape.1.max(1) as f64);
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, CAPTION)
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(84)
            .build_cartesian_2d(0.0..ncols, nrows..0.0)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_desc("column")
            .y_desc("row")
            .x_labels(6)
            .y_labels(6)
            .x_label_formatter(&|x| whole_tick(*x))
            .y_label_formatter(&|y| whole_tick(*y))
            .label_style(LABEL)
            .axis_desc_style(LABEL)
            .draw()?;
        let RGBColor(r, g, b) = COLOURS[0];
        let squares = self.shades.chunks(self.squares.1.max(1)).enumerate().flat_map(|(row, shades)| {
            let mut column = 0;
            shades.chunk_by(|x, y| x == y).filter_map(move |run| {
                let (first, last) = (column, column + run.len());
                column = last;
                if run[0] == 0 {
                    return None;
                }
                // From light to the full colour; even a single entry must be visible.
                let light = 0.62 * (1.0 - f64::from(run[0]) / SHADES as f64);
                let [r, g, b] = [r, g, b].map(|c| (f64::from(c) + (255.0 - f64::from(c)) * light) as u8);
                let [left, right] = [first, last].map(|c| ((c * self.block) as f64).min(ncols));
                let [top, bottom] = [row, row + 1].map(|i| ((i * self.block) as f64).min(nrows));
                Some(Rectangle::new([(left, top), (right, bottom)], RGBColor(r, g, b).filled()))
            })
        });
        chart.draw_series(squares)?;
        // The frame is drawn over the squares at its edge.
        chart.draw_series([Rectangle::new([(0.0, 0.0), (ncols, nrows)], BLACK.stroke_width(1))])?;
        Ok(())
    }

    fn distribution<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        let most = |of: fn(&(usize, usize)) -> usize| self.degrees.iter().map(of).max().unwrap_or(1).max(2) as f64;
        let caption = match self.empty {
            0 => "entries of a row".into(),
            1 => "entries of a row; 1 row is empty".into(),
            n => format!("entries of a row; {} rows are empty", crate::output::thousands(n as u64)),
        };
        let mut chart = ChartBuilder::on(area)
            .caption(caption, CAPTION)
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(84)
            .build_cartesian_2d((0.8..1.5 * most(|d| d.0)).log_scale(), (0.8..1.5 * most(|d| d.1)).log_scale())?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .x_desc("entries")
            .y_desc("rows")
            .x_label_formatter(&|x| tick(*x))
            .y_label_formatter(&|y| tick(*y))
            .label_style(LABEL)
            .axis_desc_style(LABEL)
            .draw()?;
        let point =
            |&(degree, rows): &(usize, usize)| Circle::new((degree as f64, rows as f64), 3, COLOURS[0].filled());
        chart.draw_series(self.degrees.iter().map(point))?;
        Ok(())
    }
}

impl Drawing for Figures {
    fn size(&self) -> (u32, u32) {
        (1240, 620)
    }
    fn marks(&self) -> usize {
        self.shades.len() + self.degrees.len()
    }
    fn draw<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        area.fill(&WHITE)?;
        let (spy, distribution) = area.split_horizontally(620);
        // Keeps the aspect ratio: the shorter side of the matrix takes less of the panel.
        let (height, width) = (self.shape.0.max(1) as f64, self.shape.1.max(1) as f64);
        let longer = height.max(width);
        let cut = |side: f64| (460.0 * (1.0 - (side / longer).max(0.1))) as i32;
        self.spy(&spy.margin(0, cut(height), 0, cut(width)))?;
        self.distribution(&distribution)?;
        area.present()?;
        Ok(())
    }
}

//! `--plot FILE.svg`: the fit by sweep, and the columns of the factors.

use std::io;

use plotters::prelude::*;
use sparring::factor::CpFit;
use sparring::io::write_file;
use sparring::{Error, Result};

/// Points of a curve, at most: longer columns are thinned.
const POINTS: usize = 2000;

/// Draws and writes it.
pub(super) fn plot(name: &str, found: &CpFit<f64>) -> Result<()> {
    let mut svg = String::new();
    let io = |source| Error::Io { path: name.to_owned(), source };
    draw(&mut svg, found).map_err(|e| io(io::Error::other(e.to_string())))?;
    write_file(name, |out| out.write_all(svg.as_bytes())).map_err(io)
}

fn draw(svg: &mut String, found: &CpFit<f64>) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let factors = found.model.factors();
    let height = 260 * (1 + factors.len() as u32);
    let area = SVGBackend::with_string(svg, (860, height)).into_drawing_area();
    area.fill(&WHITE)?;
    let areas = area.split_evenly((1 + factors.len(), 1));
    let curve = |values: Vec<f64>, first: usize| -> Vec<(f64, f64)> {
        let step = values.len().div_ceil(POINTS).max(1);
        values.into_iter().enumerate().step_by(step).map(|(i, v)| ((i + first) as f64, v)).collect()
    };
    let fit = format!("fit by sweep: {:.6}", found.fit);
    chart(&areas[0], &fit, &[curve(found.fits.clone(), 1)])?;
    for (mode, (factor, area)) in factors.iter().zip(&areas[1..]).enumerate() {
        let column = |r: usize| curve((0..factor.nrows()).map(|i| factor.row(i)[r]).collect(), 0);
        let columns: Vec<_> = (0..factor.ncols().min(8)).map(column).collect();
        let shown = if factor.ncols() > 8 { ", the 8 of largest weight" } else { "" };
        chart(area, &format!("components of mode {mode}{shown}"), &columns)?;
    }
    area.present()?;
    Ok(())
}

fn chart<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    title: &str,
    curves: &[Vec<(f64, f64)>],
) -> std::result::Result<(), Box<dyn std::error::Error>>
where
    B::ErrorType: 'static,
{
    let points = || curves.iter().flatten().filter(|p| p.1.is_finite());
    let (low, high) = points().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p.1), h.max(p.1)));
    let (low, high) = if low < high { (low, high) } else { (low.min(0.0), high.max(1.0)) };
    let (low, high) = if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
    let first = points().map(|p| p.0).fold(f64::INFINITY, f64::min).min(1.0);
    let last = points().map(|p| p.0).fold(first + 1.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(8)
        .x_label_area_size(24)
        .y_label_area_size(64)
        .build_cartesian_2d(first..last, low..high)?;
    chart.configure_mesh().light_line_style(WHITE).draw()?;
    for (k, curve) in curves.iter().enumerate() {
        chart.draw_series(LineSeries::new(curve.iter().copied(), &Palette99::pick(k)))?;
    }
    Ok(())
}

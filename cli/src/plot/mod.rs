//! Plots as SVG or PNG, by the ending of the file name.

mod curve;
mod histogram;
mod matrix;
mod network;
mod png;

use std::error::Error as StdError;
use std::io;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use sparring::{Error, Result};

use crate::context::Context;
use crate::formats::{STANDARD, to_file};

pub(crate) use curve::Curve;
pub(crate) use histogram::Histogram;
pub(crate) use matrix::Figures;
pub(crate) use network::Network;
pub(crate) use png::Pixels;

/// A palette for color blindness, with equal contrast on white.
///
/// Source: Okabe and Ito 2008, Color Universal Design, without the yellow.
pub(crate) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];
/// Color of grid lines.
const GRID: RGBColor = RGBColor(225, 225, 225);
/// Font of captions, and of axes.
pub(crate) const CAPTION: (&str, i32) = ("sans-serif", 18);
pub(crate) const LABEL: (&str, i32) = ("sans-serif", 14);

pub(crate) type Drawn<T = ()> = std::result::Result<T, Box<dyn StdError>>;
pub(crate) type Area<B> = DrawingArea<B, Shift>;

/// A plot.
pub(crate) trait Drawing {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);
    /// Approximate number of points, bars and squares, for a memory estimate.
    fn marks(&self) -> usize;
    fn draw<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn;
}

/// The output file of a plot, or standard output.
#[derive(Clone)]
pub(crate) struct Picture {
    name: String,
    svg: bool,
}

impl Picture {
    /// The plot of `option`, if a name is given. Standard output then holds nothing else.
    pub(crate) fn new(context: &Context, option: &'static str, name: Option<&str>) -> Result<Option<Self>> {
        let picture = name.map(|name| Self::of(option, name)).transpose()?;
        if picture.is_some() && name == Some(STANDARD) {
            context.give_up_stdout()?;
        }
        Ok(picture)
    }
    /// The file `name`, given by `option`. Rejected up front if it ends in neither .svg nor .png.
    fn of(option: &'static str, name: &str) -> Result<Self> {
        if name == STANDARD {
            return Ok(Self { name: name.into(), svg: true });
        }
        let end = Path::new(name).extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match end.as_deref() {
            Some("svg") => Ok(Self { name: name.into(), svg: true }),
            Some("png") => Ok(Self { name: name.into(), svg: false }),
            _ => Err(Error::Argument { name: option, message: format!("'{name}' ends in neither .svg nor .png") }),
        }
    }
    /// Draws and writes it.
    pub(crate) fn draw(&self, drawing: &impl Drawing) -> Result<()> {
        let failed = |e: Box<dyn StdError>| self.io(io::Error::other(e.to_string()));
        if !self.svg {
            let mut pixels = Pixels::new(drawing.size())?;
            drawing.draw(&png::Backend::new(&mut pixels).into_drawing_area()).map_err(failed)?;
            return pixels.write(Path::new(&self.name)).map_err(|e| self.io(e));
        }
        // The SVG backend grows the text by infallible allocation, so memory is reserved here.
        let (mut svg, bytes) = (String::new(), (256 << 10) + 256 * drawing.marks());
        svg.try_reserve(bytes).map_err(|_| Error::OutOfMemory { what: "a picture", bytes: bytes as u128 })?;
        drawing.draw(&SVGBackend::with_string(&mut svg, drawing.size()).into_drawing_area()).map_err(failed)?;
        to_file(&self.name, None, |out| Ok(out.write_all(svg.as_bytes())?))
    }
    fn io(&self, source: io::Error) -> Error {
        Error::Io { path: self.name.clone(), source }
    }
}

/// A tick label: short, with an exponent if that is shorter.
pub(crate) fn tick(x: f64) -> String {
    let x = if x.abs() < 1e-300 { 0.0 } else { x };
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) {
        // Drops the digits of rounding errors in axis steps.
        let text = format!("{x:.6}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        return if text == "-0" { "0".into() } else { text.into() };
    }
    let text = format!("{x:.3e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// [`tick`] on an axis of this length, where rounding may shift a step away from 0.
pub(crate) fn tick_of(x: f64, length: f64) -> String {
    tick(if x.abs() < 1e-9 * length { 0.0 } else { x })
}

/// A tick label for integers; empty for fractions.
pub(crate) fn whole_tick(x: f64) -> String {
    if (x - x.round()).abs() < 1e-6 { crate::output::thousands(x.round().max(0.0) as u64) } else { String::new() }
}

/// Number of tick labels on an axis of integers.
pub(crate) fn labels_of(len: usize) -> usize {
    len.clamp(2, 9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        assert_eq!([0.0, 0.5, -0.0, 30000.0, 1e-4, 2.5e7].map(tick), ["0", "0.5", "0", "30000", "1e-4", "2.5e7"]);
        assert_eq!((tick_of(-2.776e-17, 0.5), tick_of(1e-20, 1e-19)), ("0".into(), "1e-20".into()));
        assert_eq!([2.0, 2.5, 12345.0].map(whole_tick), ["2", "", "12,345"]);
    }

    #[test]
    fn the_end_of_a_name_says_what_the_picture_is() {
        assert!(
            Picture::of("--plot", "a.SVG").is_ok_and(|p| p.svg) && Picture::of("--plot", "a.png").is_ok_and(|p| !p.svg)
        );
        assert!(Picture::of("--plot", "-").is_ok_and(|p| p.svg));
        assert!(Picture::of("--plot", "a.gif").is_err() && Picture::of("--plot", "svg").is_err());
    }
}

//! A raster backend for plotters, with a built-in font.

use std::convert::Infallible;
use std::io::{self, Write};
use std::path::Path;

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};
use sparring::Result;
use sparring::io::write_file;
use sparring::par::filled;

use crate::formats::packing;

type Failed = DrawingErrorKind<Infallible>;

/// An RGB picture.
pub(crate) struct Pixels {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 3]>,
}

impl Pixels {
    /// A white picture.
    pub(crate) fn new((width, height): (u32, u32)) -> Result<Self> {
        Ok(Self { width, height, pixels: filled(width as usize * height as usize, [u8::MAX; 3], "a picture")? })
    }
    /// A picture from rows of pixels, top first.
    pub(crate) fn of((width, height): (u32, u32), pixels: Vec<[u8; 3]>) -> Self {
        Self { width, height, pixels }
    }
    /// Writes the picture as PNG.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let out_of_memory = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        write_file(path, |out: &mut dyn Write| packing(|| self.encode(out)).map_err(out_of_memory)?)
    }
    fn encode(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut picture = png::Encoder::new(out, self.width, self.height);
        picture.set_color(png::ColorType::Rgb);
        // Compressed in chunks, without holding the whole output in memory.
        let written = picture.write_header().and_then(|mut writer| {
            let mut pieces = writer.stream_writer_with_size(1 << 14)?;
            pieces.write_all(self.pixels.as_flattened())?;
            pieces.finish()?;
            writer.finish()
        });
        written.map_err(|e| match e {
            png::EncodingError::IoError(e) => e,
            e => io::Error::other(e),
        })
    }
}

/// The drawing backend.
pub(super) struct Backend<'a>(&'a mut Pixels);

impl<'a> Backend<'a> {
    pub(super) fn new(pixels: &'a mut Pixels) -> Self {
        Self(pixels)
    }
}

/// The font raster closest to a size.
fn raster(size: f64) -> RasterHeight {
    if size < 17.0 { RasterHeight::Size16 } else { RasterHeight::Size20 }
}

/// Width and height of a text.
fn extent(text: &str, size: RasterHeight) -> (i32, i32) {
    let width = get_raster_width(FontWeight::Regular, size) * text.chars().count();
    (width as i32, size.val() as i32)
}

impl DrawingBackend for Backend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.0.width, self.0.height)
    }
    fn ensure_prepared(&mut self) -> std::result::Result<(), Failed> {
        Ok(())
    }
    fn present(&mut self) -> std::result::Result<(), Failed> {
        Ok(())
    }
    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> std::result::Result<(), Failed> {
        let Pixels { width, height, pixels } = &mut *self.0;
        let inside = |at: i32, end: u32| u32::try_from(at).ok().filter(|at| *at < end);
        if let (Some(x), Some(y)) = (inside(x, *width), inside(y, *height)) {
            let pixel = &mut pixels[y as usize * *width as usize + x as usize];
            let (r, g, b) = color.rgb;
            for (old, new) in pixel.iter_mut().zip([r, g, b]) {
                *old = (f64::from(*old) + (f64::from(new) - f64::from(*old)) * color.alpha).round() as u8;
            }
        }
        Ok(())
    }
    /// A line of any width, antialiased, without allocation.
    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> std::result::Result<(), Failed> {
        let half = f64::from(style.stroke_width().max(1)) / 2.0;
        let reach = half.ceil() as i32 + 1;
        let around = |a: i32, b: i32, end: u32| {
            let end = i32::try_from(end).unwrap_or(i32::MAX) - 1;
            (a.min(b).saturating_sub(reach)).max(0)..=(a.max(b).saturating_add(reach)).min(end)
        };
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let square = dx * dx + dy * dy;
        for y in around(from.1, to.1, self.0.height) {
            for x in around(from.0, to.0, self.0.width) {
                let (px, py) = (f64::from(x - from.0), f64::from(y - from.1));
                let along = if square > 0.0 { ((px * dx + py * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
                let away = (px - along * dx).hypot(py - along * dy);
                let cover = (half + 0.5 - away).clamp(0.0, 1.0);
                if cover > 0.0 {
                    self.draw_pixel((x, y), style.color().mix(cover))?;
                }
            }
        }
        Ok(())
    }
    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> std::result::Result<(), Failed> {
        let mut before = None;
        for to in path {
            if let Some(from) = before {
                self.draw_line(from, to, style)?;
            }
            before = Some(to);
        }
        Ok(())
    }
    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> std::result::Result<(u32, u32), Failed> {
        let (width, height) = extent(text, raster(style.size()));
        Ok((width as u32, height as u32))
    }
    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> std::result::Result<(), Failed> {
        let size = raster(style.size());
        let (width, height) = extent(text, size);
        let left = match style.anchor().h_pos {
            HPos::Left => 0,
            HPos::Center => -width / 2,
            HPos::Right => -width,
        };
        let top = match style.anchor().v_pos {
            VPos::Top => 0,
            VPos::Center => -height / 2,
            VPos::Bottom => -height,
        };
        let color = style.color();
        for (k, c) in text.chars().enumerate() {
            // The font only has ASCII characters.
            let c = if c == '×' { 'x' } else { c };
            let known = |c| get_raster(c, FontWeight::Regular, size);
            let Some(glyph) = known(c).or_else(|| known('?')) else { continue };
            for (row, line) in glyph.rows().enumerate() {
                for (column, &intensity) in line.iter().enumerate().filter(|(_, intensity)| **intensity > 0) {
                    let (dx, dy) = (left + (k * glyph.width() + column) as i32, top + row as i32);
                    let (dx, dy) = match style.transform() {
                        FontTransform::None => (dx, dy),
                        FontTransform::Rotate90 => (-dy, dx),
                        FontTransform::Rotate180 => (-dx, -dy),
                        FontTransform::Rotate270 => (dy, -dx),
                    };
                    self.draw_pixel((x + dx, y + dy), color.mix(f64::from(intensity) / 255.0))?;
                }
            }
        }
        Ok(())
    }
}

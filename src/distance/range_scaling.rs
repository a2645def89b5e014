//! Range scaling, where the distance allows it: rows are scaled by powers of two, so that no power of an entry
//! overflows or underflows, and centred where the mean is so large relative to the spread that it would cancel.
//!
//! Ordinary rows pass through unchanged. The test reads their largest and smallest magnitudes, and for correlation also
//! mean and spread.

use std::sync::atomic::{AtomicU64, Ordering};

use super::entries::{Entries, in_parts};
use super::exponents::{Limits, exponent, grid, times_two_to};
use super::float::Float;
use super::loops::Loops;
use super::recipe::Invariance;
use super::rescaled::Rescaled;
#[cfg(feature = "cuda")]
use crate::Csr;
use crate::algebra::Num;
#[cfg(feature = "cuda")]
use crate::algebra::Type;
use crate::par::{Threads, UninitOutput, reserved, split};
use crate::simd::{Work, dispatch_work};
use crate::{Pattern, Result};

/// Rows are centred where the squared mean exceeds this multiple of the variance; below it, at most six bits are lost.
pub(crate) const CENTRE_RATIO: f64 = 64.0;

/// The range of magnitudes.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// All magnitudes are below 2^above; nonzero ones are at least 2^least.
    above: i32,
    least: i32,
    /// There are at most 2^count entries.
    count: i32,
}

impl Span {
    fn of<T: Float>(threads: &Threads, sides: &[&Entries<'_, T>]) -> Result<Option<Self>> {
        // Nonnegative floats compare like their bits.
        let (most, least) = (AtomicU64::new(0), AtomicU64::new(f64::INFINITY.to_bits()));
        for side in sides {
            let look = |values: &[T]| {
                let found = dispatch_work(Magnitudes(values));
                most.fetch_max(found.0.to_bits(), Ordering::Relaxed);
                least.fetch_min(found.1.to_bits(), Ordering::Relaxed);
            };
            in_parts(threads, &side.values, &look)?;
        }
        let [most, least] = [most, least].map(|bits| f64::from_bits(bits.into_inner()));
        let count: usize = sides.iter().map(|side| side.values.len()).sum();
        Ok((most > 0.0).then(|| Self::between(least, most, count)))
    }
    fn between(least: f64, most: f64, count: usize) -> Self {
        let count = (usize::BITS - count.leading_zeros()) as i32;
        Self { above: exponent(most) + 1, least: exponent(least), count }
    }
}

/// The largest finite magnitude, and the smallest nonzero one; 0 and ∞ if there is none.
struct Magnitudes<'a, T>(&'a [T]);

impl<T: Float> Work for Magnitudes<'_, T> {
    type Out = (f64, f64);
    #[inline(always)]
    fn run(self) -> (f64, f64) {
        const LANES: usize = 8;
        let (mut most, mut least) = ([0.0f64; LANES], [f64::INFINITY; LANES]);
        let mut look = |values: &[T]| {
            for ((most, least), x) in most.iter_mut().zip(&mut least).zip(values) {
                let x = x.wrapping_abs().as_f64();
                *most = if (x < f64::INFINITY) & (x > *most) { x } else { *most };
                *least = if (x > 0.0) & (x < *least) { x } else { *least };
            }
        };
        let (whole, rest) = self.0.as_chunks::<LANES>();
        for values in whole {
            look(values);
        }
        look(rest);
        (most.into_iter().fold(0.0, f64::max), least.into_iter().fold(f64::INFINITY, f64::min))
    }
}

/// The scaling of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// Nothing.
    None,
    /// All rows are expressed in units of 2^e.
    All(i32),
    /// Each row is expressed in units of its own largest magnitude.
    Rows,
}

/// The scaling that rows of that span need; `grid` computes the exponent of a power of two that divides all entries.
fn scale(limits: Limits, invariance: Invariance, span: Span, grid: impl FnOnce() -> i32) -> Scale {
    let Limits { most, least, digits } = limits;
    let room = most - span.count - 3;
    // Whether the smallest entries keep their digits in units of 2^e.
    let stay = |e: i32| span.least - e > -most;
    match invariance {
        Invariance::None => Scale::None,
        Invariance::Rows | Invariance::RowsAndMeans => {
            let fits = 2 * span.above <= room && 2 * span.least >= least;
            if fits { Scale::None } else { Scale::Rows }
        }
        Invariance::Degree(_) => {
            // Logarithms of numbers far from one hide small differences. The exponent is even, because some metrics
            // take a root.
            let e = match span.above {
                above if above.abs() > 2 * digits && stay(above) => above,
                above => (above - room).max(0),
            };
            if e == 0 { Scale::None } else { Scale::All(e + (e & 1)) }
        }
        Invariance::Norm { p, .. } => {
            // A difference may be twice as large as an entry, and as small as the spacing of adjacent numbers.
            let top = (f64::from(room) / p).floor() as i32 - 1;
            let shows = |e: i32| p * f64::from(e) >= f64::from(least);
            let fits = span.above <= top && (shows(span.least - digits) || shows(grid()));
            let e = span.above - top;
            // Without a common unit, sums that overflow are recomputed.
            if fits { Scale::None } else { Scale::All(if stay(e) { e } else { 0 }) }
        }
    }
}

/// Whether `entries` entries with the given least and largest magnitudes can be compared in that type without scaling.
#[cfg(feature = "cuda")]
pub(crate) fn fits(of: Type, invariance: Invariance, [least, most]: [f64; 2], entries: usize) -> bool {
    let limits = if of == Type::F32 { Limits::of::<f32>() } else { Limits::of::<f64>() };
    let span = Span::between(least, most, entries);
    // Differences of nearly equal numbers may vanish.
    scale(limits, invariance, span, || span.least) == Scale::None
}

/// The rows as numbers of type `W`, centred where the mean is large relative to the spread.
#[cfg(feature = "cuda")]
pub(crate) fn centred_rows<T: Float, W: Float>(a: &Csr<T>) -> Result<Csr<W>> {
    let rows = centred(Entries::borrowed(a).cast::<W>()?)?;
    Csr::with_pattern(rows.pattern, rows.values.into_owned())
}

/// The transformation that two matrices, or one, need before they are compared.
pub(super) struct RangeScaling {
    scale: Scale,
    centre: bool,
}

/// Rows of X and Y.
pub(super) type Sides<'a, W> = (Entries<'a, W>, Option<Entries<'a, W>>);

impl RangeScaling {
    /// The transformation that these rows need to be compared in numbers of type `W`; usually none.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new<T: Float, W: Float>(
        threads: &Threads,
        loops: &dyn Loops<W>,
        x: &Entries<'_, T>,
        y: Option<&Entries<'_, T>>,
    ) -> Result<Option<Self>> {
        let invariance = loops.invariance();
        if invariance == Invariance::None {
            return Ok(None);
        }
        let sides: &[&Entries<'_, T>] = &[Some(x), y].into_iter().flatten().collect::<Vec<_>>();
        let Some(span) = Span::of(threads, sides)? else { return Ok(None) };
        let finest = || {
            let values = sides.iter().flat_map(|side| &*side.values);
            values.map(|x| x.as_f64()).filter(|x| x.is_finite() && *x != 0.0).map(grid).min().unwrap_or(0)
        };
        let scale = scale(Limits::of::<W>(), invariance, span, finest);
        let mut centre = invariance == Invariance::RowsAndMeans && scale != Scale::None;
        if invariance == Invariance::RowsAndMeans && !centre {
            for side in sides {
                centre |= any_needs_centring(threads, side)?;
            }
        }
        Ok((scale != Scale::None || centre).then_some(Self { scale, centre }))
    }
    /// The transformed rows, and the loops that compare them.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn apply<'a, W: Float>(
        &self,
        loops: Box<dyn Loops<W>>,
        (x, y): Sides<'a, W>,
    ) -> Result<(Box<dyn Loops<W>>, Sides<'a, W>)> {
        let transformed = |a: Entries<'a, W>| -> Result<Entries<'a, W>> {
            let a = match self.scale {
                Scale::None => a,
                Scale::All(e) => scaled(a, |_| e)?,
                Scale::Rows => scaled(a, |row| {
                    let magnitude = |x: &W| x.wrapping_abs().as_f64();
                    let most = row.iter().map(magnitude).filter(|x| x.is_finite()).fold(0.0, f64::max);
                    if most > 0.0 { exponent(most) } else { 0 }
                })?,
            };
            if self.centre { centred(a) } else { Ok(a) }
        };
        let rows = (transformed(x)?, y.map(transformed).transpose()?);
        let loops = match self.scale {
            Scale::All(exponent) => Box::new(Rescaled { inner: loops, exponent }),
            _ => loops,
        };
        Ok((loops, rows))
    }
}

/// Statistics of the rows of one matrix that need no transformation by themselves, for rows that are compared with them
/// later.
#[derive(Debug)]
pub(super) struct SideRange {
    span: Option<Span>,
    entries: usize,
    grid: Option<i32>,
}

/// The exponent of a power of two that divides all entries.
fn finest<T: Float>(a: &Entries<'_, T>) -> Option<i32> {
    a.values.iter().map(|x| x.as_f64()).filter(|x| x.is_finite() && *x != 0.0).map(grid).min()
}

impl SideRange {
    /// `None` if these rows need a transformation.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new<T: Float, W: Float>(
        threads: &Threads,
        loops: &dyn Loops<W>,
        y: &Entries<'_, T>,
    ) -> Result<Option<Self>> {
        if RangeScaling::new(threads, loops, y, None)?.is_some() {
            return Ok(None);
        }
        let invariance = loops.invariance();
        let span = if invariance == Invariance::None { None } else { Span::of(threads, &[y])? };
        let grid = if matches!(invariance, Invariance::Norm { .. }) { finest(y) } else { None };
        Ok(Some(Self { span, entries: y.values.len(), grid }))
    }
    /// Whether both sides need a transformation when rows of X are compared with these.
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn needs_more<T: Float, W: Float>(
        &self,
        threads: &Threads,
        loops: &dyn Loops<W>,
        x: &Entries<'_, T>,
    ) -> Result<bool> {
        let invariance = loops.invariance();
        if invariance == Invariance::None {
            return Ok(false);
        }
        let (of_x, of_y) = (Span::of(threads, &[x])?, self.span);
        let count = x.values.len() + self.entries;
        let count = (usize::BITS - count.leading_zeros()) as i32;
        let span = match (of_x, of_y) {
            (Some(a), Some(b)) => Span { above: a.above.max(b.above), least: a.least.min(b.least), count },
            (Some(one), None) | (None, Some(one)) => Span { count, ..one },
            (None, None) => return Ok(false),
        };
        let grid = || [finest(x), self.grid].into_iter().flatten().min().unwrap_or(0);
        if scale(Limits::of::<W>(), invariance, span, grid) != Scale::None {
            return Ok(true);
        }
        Ok(invariance == Invariance::RowsAndMeans && any_needs_centring(threads, x)?)
    }
}

/// Expresses each row in units of 2^e, e computed from its entries.
fn scaled<'a, W: Float>(a: Entries<'a, W>, e: impl Fn(&[W]) -> i32) -> Result<Entries<'a, W>> {
    let mut values = reserved(a.values.len(), "scaled entries")?;
    for i in 0..a.nrows() {
        let row = a.row(i).1;
        let e = e(row);
        values.extend(row.iter().map(|x| times_two_to(x.as_f64(), -e).cast::<W>()));
    }
    Ok(a.with_values(values))
}

/// The mean of a row over all its columns, as a number and its rounding error, and the sum of squared deviations from
/// it.
struct Spread {
    mean: [f64; 2],
    squares: f64,
}

impl Spread {
    fn of<W: Float>(row: &[W], ncols: usize) -> Self {
        let (n, absent) = (ncols as f64, (ncols - row.len()) as f64);
        let mean = row.iter().map(|x| x.as_f64()).sum::<f64>() / n;
        // The residuals are small, and so is the rounding error of their mean.
        let rest = (row.iter().map(|x| x.as_f64() - mean).sum::<f64>() - absent * mean) / n;
        let spread = Self { mean: [mean, rest], squares: 0.0 };
        let squares = row.iter().map(|x| spread.centred(x.as_f64()).powi(2)).sum::<f64>();
        Self { squares: squares + absent * spread.centred(0.0).powi(2), ..spread }
    }
    /// x − x̄.
    fn centred(&self, x: f64) -> f64 {
        (x - self.mean[0]) - self.mean[1]
    }
    fn squared_mean(&self, ncols: usize) -> f64 {
        ncols as f64 * self.mean[0] * self.mean[0]
    }
    /// Whether the mean is large relative to the spread.
    fn needs_centring(&self, ncols: usize) -> bool {
        CENTRE_RATIO * self.squares < self.squared_mean(ncols)
    }
    /// Whether the row is constant up to rounding of its entries.
    fn is_constant<W: Float>(&self, ncols: usize) -> bool {
        let round_off = times_two_to(4.0, -Limits::of::<W>().digits);
        self.squares <= round_off * round_off * self.squared_mean(ncols)
    }
}

/// The spread of row `i` if the row is to be centred. Such a row has nearly all columns, because each missing one adds
/// the squared mean to the spread.
fn centring<T: Float>(a: &Entries<'_, T>, i: usize) -> Option<Spread> {
    let (row, ncols) = (a.row(i).1, a.ncols());
    if row.is_empty() || ((ncols - row.len()) as f64) * CENTRE_RATIO > ncols as f64 {
        return None;
    }
    Some(Spread::of(row, ncols)).filter(|spread| spread.needs_centring(ncols))
}

fn any_needs_centring<T: Float>(threads: &Threads, a: &Entries<'_, T>) -> Result<bool> {
    let row_ptr = a.pattern.row_ptr();
    let blocks = split(a.nrows(), (a.values.len() >> 14).clamp(1, 1024), |i| (row_ptr[i] + i) as u64);
    let found = UninitOutput::new(blocks.len(), "blocks of rows")?.fill(
        threads,
        "means of rows",
        blocks.len(),
        |b| b,
        || Ok(()),
        |(), b, slots| {
            let any = blocks[b].clone().any(|i| centring(a, i).is_some());
            slots.take(1, false)[0] = any;
            Ok(())
        },
    )?;
    Ok(found.contains(&true))
}

/// Centres the rows whose mean is large relative to their spread: x − x̄ in every column, and no entries for a constant
/// row.
fn centred<'a, W: Float>(a: Entries<'a, W>) -> Result<Entries<'a, W>> {
    let ncols = a.ncols();
    let room = |i: usize| if centring(&a, i).is_some() { ncols } else { a.row(i).0.len() };
    let nnz = (0..a.nrows()).map(room).sum();
    let (mut row_ptr, mut columns) = (reserved(a.nrows() + 1, "row pointers")?, reserved(nnz, "columns")?);
    let mut values: Vec<W> = reserved(nnz, "centred entries")?;
    row_ptr.push(0usize);
    for i in 0..a.nrows() {
        let (of_row, entries) = a.row(i);
        match centring(&a, i) {
            None => {
                columns.extend_from_slice(of_row);
                values.extend_from_slice(entries);
            }
            Some(spread) if spread.is_constant::<W>(ncols) => {}
            Some(spread) => {
                let first = values.len();
                columns.extend(0..ncols as u32);
                values.resize(first + ncols, spread.centred(0.0).cast());
                for (&c, x) in of_row.iter().zip(entries) {
                    values[first + c as usize] = spread.centred(x.as_f64()).cast();
                }
            }
        }
        row_ptr.push(columns.len());
    }
    let pattern = Pattern::new(a.nrows(), ncols, row_ptr, columns)?;
    Ok(a.with_entries(pattern, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_as_they_usually_are_stay_as_they_are() {
        let (double, single) = (Limits::of::<f64>(), Limits::of::<f32>());
        let span = |above, least| Span { above, least, count: 20 };
        let norm = |p| Invariance::Norm { p, power: 1 };
        let never = || panic!("not requested");
        for invariance in [Invariance::Rows, Invariance::Degree(0.5), norm(1.0), norm(2.0), norm(3.0), norm(10.0)] {
            assert_eq!(scale(double, invariance, span(30, -30), never), Scale::None);
        }
        for invariance in [Invariance::Rows, Invariance::Degree(0.5), norm(1.0), norm(2.0)] {
            assert_eq!(scale(single, invariance, span(30, -20), never), Scale::None);
        }
        // Ratings: multiples of 1/2.
        assert_eq!(scale(double, norm(64.0), span(3, -1), || -1), Scale::None);
        assert_eq!(scale(double, norm(64.0), span(3, -1), || -52), Scale::All(3 - 14));
        assert_eq!(scale(double, norm(64.0), span(17, 0), never), Scale::All(3));
        assert_eq!(scale(double, norm(2.0), span(665, 660), never), Scale::All(665 - 499));
        assert_eq!(scale(double, Invariance::Rows, span(-600, -665), never), Scale::Rows);
        assert_eq!(scale(double, norm(2.0), span(1000, -1000), never), Scale::All(0));
        assert_eq!(scale(double, Invariance::Degree(0.5), span(1023, 100), never), Scale::All(1024));
        assert_eq!(scale(double, Invariance::Degree(0.5), span(1024, -100), never), Scale::All(24));
        assert_eq!(scale(double, Invariance::None, span(1024, -1074), never), Scale::None);
    }
}

//! The progress bar, on standard error if that is a terminal.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use sparring::Cpu;

/// The units of a stage, and their number.
#[derive(Clone, Copy, PartialEq)]
struct Units {
    name: &'static str,
    count: u64,
}

/// The displayed state: the stage, and the library's operation within it.
#[derive(Default)]
struct Shown {
    stage: String,
    units: Option<Units>,
    /// The range of units that the current library operations process: first and count.
    part: Option<(u64, u64)>,
    op: Option<(&'static str, u64)>,
}

/// A progress bar.
pub(crate) struct Progress {
    bar: ProgressBar,
    shown: Arc<Mutex<Shown>>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(ProgressStyle::default_spinner());
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, shown: Arc::default() }
    }
    /// Begins a stage, whose progress is shown as a percentage.
    pub(crate) fn stage(&self, message: String) {
        self.begin(message, None);
    }
    /// Begins a stage over `count` units, for example rows.
    pub(crate) fn stage_of(&self, message: &str, count: usize, name: &'static str) {
        self.begin(message.into(), Some(Units { name, count: count as u64 }));
    }
    fn begin(&self, stage: String, units: Option<Units>) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_style(ProgressStyle::default_spinner());
        self.bar.unset_length();
        self.bar.set_message(stage.clone());
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Shown { stage, units, part: None, op: None };
    }
    /// Sets the range of units that the following operations process.
    pub(crate) fn part(&self, first: usize, count: usize) {
        if !self.bar.is_hidden() {
            let part = Some((first as u64, count as u64));
            self.shown.lock().unwrap_or_else(PoisonError::into_inner).part = part;
        }
    }
    /// `cpu`, reporting its long operations here.
    pub(crate) fn follow(&self, cpu: Cpu) -> Cpu {
        if self.bar.is_hidden() {
            return cpu;
        }
        let (bar, shown) = (self.bar.clone(), Arc::clone(&self.shown));
        cpu.on_progress(move |p| {
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            // Once per operation; the other calls only move the bar.
            if shown.op != Some((p.op, p.total)) {
                shown.op = Some((p.op, p.total));
                bar.set_style(measured(shown.units));
                bar.set_message(message(&shown.stage, p.op));
                bar.set_length(shown.units.map_or(p.total, |units| units.count));
                // For a part, the bar shows the whole stage.
                if shown.part.is_none() {
                    bar.set_position(0);
                    bar.reset_eta();
                }
            }
            bar.set_position(match (shown.part, shown.units) {
                (Some((first, count)), Some(units)) => (first + share(count, p.done, p.total)).min(units.count),
                (None, Some(units)) => share(units.count, p.done, p.total),
                (_, None) => p.done,
            });
            ControlFlow::Continue(())
        })
    }
    /// Counts the bytes written to `out`.
    pub(crate) fn counted<'a>(&'a self, out: &'a mut dyn Write) -> Counted<'a> {
        if !self.bar.is_hidden() {
            // Falls back to the default if the template is invalid.
            let style = ProgressStyle::with_template("{spinner} {msg}   {written}, {speed}");
            self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()).with_key(
                "speed",
                |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let _ = write!(out, "{}", rate(state.per_sec(), "B"));
                },
            ));
            self.bar.set_position(0);
            self.bar.reset_eta();
        }
        Counted { out, bar: &self.bar }
    }
    /// Hides the bar while `f` writes to the terminal.
    pub(crate) fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        self.bar.suspend(f)
    }
}

/// The stage, and its current phase.
fn message(stage: &str, op: &str) -> String {
    let phase = match op {
        "symbolic" => "finding columns",
        "numeric" => "computing values",
        op => op,
    };
    if stage.is_empty() || stage.contains(phase) { phase.into() } else { format!("{stage}: {phase}") }
}

/// Units done when `done` of `total` tasks are, assuming equal work per task.
fn share(count: u64, done: u64, total: u64) -> u64 {
    let part = u128::from(count) * u128::from(done) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(count).min(count)
}

/// Three digits and a unit: `12.3 k rows/s`, `1.20 GB/s`.
fn rate(per_second: f64, unit: &str) -> String {
    if !per_second.is_finite() || per_second <= 0.0 {
        return format!("- {unit}/s");
    }
    amount(per_second, unit) + "/s"
}

/// Three digits and a unit: `12.3 k rows`, `182 MB`.
fn amount(x: f64, unit: &str) -> String {
    let (mut x, mut prefix) = (x, "");
    for larger in ["k", "M", "G", "T"] {
        // Rounded to three digits, 999.6 belongs to the next unit.
        if x < 999.5 {
            break;
        }
        (x, prefix) = (x / 1e3, larger);
    }
    let decimals = if x < 9.995 { 2 } else { usize::from(x < 99.95) };
    let between = if prefix.is_empty() || unit == "B" { "" } else { " " };
    format!("{x:.decimals$} {prefix}{between}{unit}")
}

/// Style with progress, unit, rate and remaining time.
fn measured(units: Option<Units>) -> ProgressStyle {
    let template = match units {
        Some(Units { name, .. }) => {
            format!("{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {name}, {{speed}}, {{eta}} left")
        }
        None => "{msg} {wide_bar} {percent} %, {eta} left".into(),
    };
    // Falls back to the default if the template is invalid.
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let name = units.map_or("", |units| units.name);
    style
        .with_key("written", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "{}", amount(state.pos() as f64, "B"));
        })
        .with_key("speed", move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "{}", rate(state.per_sec(), name));
        })
}

/// A writer that counts bytes.
pub(crate) struct Counted<'a> {
    out: &'a mut dyn Write,
    bar: &'a ProgressBar,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bar.inc(written as u64);
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_three_digits_and_a_unit() {
        for (x, unit, text) in [
            (0.5, "rows", "0.50 rows/s"),
            (12.34, "rows", "12.3 rows/s"),
            (999.4, "rows", "999 rows/s"),
            (999.6, "rows", "1.00 k rows/s"),
            (12_345.0, "vertices", "12.3 k vertices/s"),
            (1.234e9, "B", "1.23 GB/s"),
            (512.0, "B", "512 B/s"),
            (f64::INFINITY, "B", "- B/s"),
            (f64::NAN, "rows", "- rows/s"),
        ] {
            assert_eq!(rate(x, unit), text);
        }
    }

    #[test]
    fn tasks_are_shown_as_what_they_go_through() {
        assert_eq!((share(325_557, 12, 2544), share(325_557, 2544, 2544), share(10, 3, 0)), (1535, 325_557, 10));
        assert_eq!(message("multiplying", "numeric"), "multiplying: computing values");
        assert_eq!(
            (message("counting triangles", "triangles"), message("", "mxm")),
            ("triangles".into(), "mxm".into())
        );
    }
}

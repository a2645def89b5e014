//! The progress bar: on standard error, and only if that is a terminal.

use std::ops::ControlFlow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sparring::Cpu;

/// A bar that shows what is going on and how far it is.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(ProgressStyle::default_spinner());
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self(bar)
    }
    /// Says what begins; it has no known length yet.
    pub(crate) fn stage(&self, message: String) {
        self.0.set_style(ProgressStyle::default_spinner());
        self.0.unset_length();
        self.0.set_message(message);
    }
    /// `cpu`, reporting its long operations here.
    pub(crate) fn follow(&self, cpu: Cpu) -> Cpu {
        if self.0.is_hidden() {
            return cpu;
        }
        let bar = self.0.clone();
        cpu.on_progress(move |p| {
            // Once an operation; the rest of the calls only move the bar.
            if bar.length() != Some(p.total) {
                bar.set_style(measured(p.op));
                bar.set_message(p.op);
                bar.set_length(p.total);
            }
            bar.set_position(p.done);
            ControlFlow::Continue(())
        })
    }
    /// Takes the bar off the screen while `f` writes to it.
    pub(crate) fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        self.0.suspend(f)
    }
}

/// How far it is, in what, how fast, and how long it will take.
fn measured(op: &str) -> ProgressStyle {
    let unit = if op.contains("triangles") { "vertices" } else { "rows" };
    let template = format!("{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit}, {{per_sec}}, {{eta}} left");
    // The default is for a template that is no template.
    ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

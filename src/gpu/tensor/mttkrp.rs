//! V = X₍ₙ₎ (⊙ Aₘ) on a device: see `cuda/mttkrp.cu`.

use std::sync::Arc;

use super::entries::settings;
use super::form::{TensorForm, value_words};
use super::schedule::Schedule;
use super::widths::Widths;
use crate::algebra::{PlusTimes, Printed, Type, printed_ring};
use crate::gpu::Cuda;
use crate::gpu::arg::Arg;
use crate::gpu::buffer::RawBuffer;
use crate::gpu::defines::{Prefix, Setting};
use crate::gpu::jit::{Source, Unit, source};
use crate::gpu::launch::{Program, Shape, args};
use crate::{Error, Result};

const SOURCE: Source = source!("mttkrp.cu");

/// The compile-time switch of a form.
fn switch(form: TensorForm) -> Setting {
    Setting::Switch(match form {
        TensorForm::Copies => "COPIES",
        TensorForm::Permuted | TensorForm::Parts => "PERMUTED",
        TensorForm::Remapped => "REMAPPED",
    })
}

/// The settings of a program.
fn program_settings(form: TensorForm, order: usize, value: Type, widths: Widths) -> Vec<Setting> {
    let mut all = settings(order, value, form == TensorForm::Remapped).to_vec();
    let mut deep = widths.deep;
    // The words of in-flight entries are in registers where the loop over modes is unrolled.
    while order <= 8 && deep > 1 && deep as usize * (order + value_words(value.size())) > 24 {
        deep /= 2;
    }
    all.extend([
        Setting::Constant("LANES", widths.lanes),
        Setting::Constant("EACH", widths.each),
        Setting::Constant("VEC", widths.vec),
        Setting::Constant("THREADS", widths.threads),
        Setting::Constant("DEEP", deep),
        // Resident blocks: with 768 threads, each has 80 registers. With 1024 threads, orders from 4 up spill; with
        // 512, latency is exposed: 1.03 and 1.25 times as long for order 4.
        Setting::Constant("AT_A_TIME", 768 / widths.threads),
        switch(form),
    ]);
    if form == TensorForm::Parts {
        all.push(Setting::Switch("ACCUMULATE"));
    }
    all
}

/// One validated product: operands and result.
pub(super) struct Product<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) ring: &'a Printed,
    pub(super) dims: &'a [usize],
    pub(super) mode: usize,
    /// A factor per mode; that of `mode` is not read.
    pub(super) factors: &'a [&'a RawBuffer],
    pub(super) rank: usize,
    pub(super) out: &'a RawBuffer,
}

impl Product<'_> {
    fn widths(&self) -> Widths {
        Widths::new(self.rank, self.ring.b, self.ring.out)
    }
    fn program(&self, form: TensorForm) -> Result<Arc<Program>> {
        let settings = program_settings(form, self.dims.len(), self.ring.a, self.widths());
        self.cuda.program_of(SOURCE, Prefix::new(&self.ring.text, &settings))
    }
    /// Fills the result with the identity, for entries that arrive in parts.
    pub(super) fn clear(&self) -> Result<()> {
        self.clear_by(&*self.program(TensorForm::Parts)?)
    }
    fn clear_by(&self, program: &Program) -> Result<()> {
        let n = self.size(self.dims[self.mode])?;
        program.kernel("clear_result")?.launch(Shape::for_each(n, 256)?, args![self.out, n as u64])
    }
    /// Runs the entries of a schedule. Parts are accumulated into the result; other forms overwrite it.
    pub(super) fn run(&self, form: TensorForm, entries: Arg, schedule: &Schedule) -> Result<()> {
        let (cuda, widths, program) = (self.cuda, self.widths(), self.program(form)?);
        if form != TensorForm::Parts && schedule.rows < self.dims[self.mode] {
            self.clear_by(&program)?;
        }
        let column_blocks = self.rank.div_ceil(widths.columns());
        let grid = |blocks: usize| {
            let all = blocks.saturating_mul(column_blocks);
            Shape::blocks(all, widths.threads, 0)
        };
        let (rank, column_blocks) = (self.rank as u32, column_blocks as u32);
        let slots = cuda.alloc_raw(self.ring.out, self.size(schedule.slots)?, "rows of several blocks")?;
        let others: Vec<Arg> =
            (0..self.dims.len()).filter(|&m| m != self.mode).map(|m| self.factors[m].into()).collect();
        let factors = if others.is_empty() { Arg::null() } else { Arg::list(&others) };
        let arguments =
            args![entries, self.mode as u32, factors, schedule.runs(), rank, column_blocks, self.out, &slots];
        program.kernel("mttkrp")?.launch(grid(schedule.blocks)?, arguments)?;
        let split = &schedule.split;
        let blocks = split.small.div_ceil(widths.groups()) + split.all - split.small;
        let small = split.small as u32;
        let arguments = args![&split.rows, &split.firsts, &split.counts, small, rank, column_blocks, &slots, self.out];
        program.kernel("merge_runs")?.launch(grid(blocks)?, arguments)
    }
    fn size(&self, rows: usize) -> Result<usize> {
        let (needed, max) = (rows as u128 * self.rank as u128, usize::MAX as u128);
        rows.checked_mul(self.rank).ok_or(Error::IndexOverflow { what: "number of values", needed, max })
    }
}

/// Programs to compile without a device.
pub(super) fn programs() -> Vec<Unit> {
    use crate::algebra::MinPlus;
    let unit = |ring: &Printed, form, order, rank| {
        let settings = program_settings(form, order, ring.a, Widths::new(rank, ring.b, ring.out));
        // Remapped records of many modes: on some architectures a word or two spill, which costs less than fewer
        // blocks.
        let hot: &[_] =
            if form == TensorForm::Remapped && order > 4 { &["merge_runs"] } else { &["mttkrp", "merge_runs"] };
        Unit { source: SOURCE, prefix: Prefix::new(&ring.text, &settings).text(), hot }
    };
    let (f32, f64) = (printed_ring(PlusTimes::<f32>::default()), printed_ring(PlusTimes::<f64>::default()));
    let least = printed_ring(MinPlus::<f32>::default());
    let mut all = vec![
        unit(&least, TensorForm::Copies, 3, 32),
        unit(&f32, TensorForm::Copies, 1, 1),
        unit(&f64, TensorForm::Parts, 2, 15),
        unit(&f32, TensorForm::Copies, 3, 100),
        unit(&f32, TensorForm::Permuted, 12, 64),
    ];
    for form in [TensorForm::Copies, TensorForm::Permuted, TensorForm::Remapped] {
        for order in [3, 4, 5, 8] {
            all.extend([unit(&f32, form, order, 32), unit(&f64, form, order, 32), unit(&f32, form, order, 16)]);
        }
    }
    all
}

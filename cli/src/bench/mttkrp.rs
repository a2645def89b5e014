//! `sparring bench mttkrp`: sweeps over all modes of generated tensors, or of files. Checksums match the script that
//! generates the same tensors for other libraries.

use clap::Args;
use rayon::prelude::*;
use serde_json::json;
use sparring::algebra::PlusTimes;
use sparring::tensor::{AnyTensor, MttkrpCache, Tensor, Variant};
use sparring::{Dense, Error, Index};
use sparring_generate::bench_tensor::factors;

use crate::context::Context;
use crate::failure::Result;
use crate::output::ms;
use crate::timing::{Times, timed};

/// Default cases.
pub(super) const CASES: &[&str] = &["random3m", "uber", "nell2", "enron", "lbnl", "vast"];
/// Seed of the factors, shared by all programs.
const SEED: u64 = 7;

#[derive(Args)]
#[group(id = "mttkrp")]
pub(super) struct Settings {
    /// Columns of the factors
    #[arg(long, value_name = "R", value_delimiter = ',', help_heading = "Bench mttkrp")]
    rank: Vec<usize>,
    /// Variants: a, b, c, copies, tree, single [default: automatic]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Bench mttkrp")]
    variant: Vec<String>,
}

/// Rejects its options in other benchmarks.
pub(super) fn refuse(settings: &Settings) -> sparring::Result<()> {
    for (given, name) in [(!settings.rank.is_empty(), "--rank"), (!settings.variant.is_empty(), "--variant")] {
        if given {
            return Err(Error::Argument { name, message: "it is an option of bench mttkrp".into() });
        }
    }
    Ok(())
}

pub(super) fn heading() -> String {
    format!(
        "{:10} {:>4} {:7} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8}  kept",
        "case", "rank", "variant", "sweep ms", "minimum", "setup ms", "B/entry", "eq.3", "traffic", "triad"
    )
}

pub(super) fn run(context: &Context, settings: &Settings, name: &str, repeat: u32) -> Result {
    let file = name.ends_with(".tns") || name.ends_with(".gz") || name.starts_with("gen:");
    let (x, _) = context.load_tensor(&if file { name.to_owned() } else { format!("gen:{name}") })?;
    let x = match &x {
        AnyTensor::Narrow(x) => x,
        AnyTensor::Wide(_) => {
            let why = "64-bit indices are not measured".into();
            return Err(Error::Unsupported { what: name.into(), why }.into());
        }
    };
    let ranks = if settings.rank.is_empty() { &[16, 32][..] } else { &settings.rank };
    let variants = match &settings.variant[..] {
        [] => vec![None],
        names => names.iter().map(|v| Variant::from_name(v).map(Some)).collect::<sparring::Result<_>>()?,
    };
    for &rank in ranks {
        for &variant in &variants {
            measure(context, name, x, rank, variant, repeat)?;
        }
    }
    Ok(())
}

fn measure<I: Index>(
    context: &Context,
    name: &str,
    x: &Tensor<f64, I>,
    rank: usize,
    variant: Option<Variant>,
    repeat: u32,
) -> Result {
    context.progress.stage(format!("measuring {name}, rank {rank}"));
    let cpu = &context.quiet;
    let triad = cpu.threads().install(triad)?;
    let factors = factors(x.dims(), rank, SEED)?;
    let mut outs = Vec::new();
    for &n in x.dims() {
        outs.push(Dense::filled(n, rank, 0.0)?);
    }
    let [mut setup, mut sweeps] = [Times::default(), Times::default()];
    let mut modes = vec![f64::INFINITY; x.order()];
    let mut plan = None;
    for _ in 0..repeat.min(3) {
        drop(plan.take());
        let (made, ms) = timed(|| cpu.mttkrp_plan(x, rank, variant));
        plan = Some(made?);
        setup.push(ms);
    }
    let Some(plan) = plan else { unreachable!("there is at least one round") };
    // Round 0 is the warm-up.
    for round in 0..=repeat {
        let (mut kept, mut sweep) = (MttkrpCache::default(), 0.0);
        for (mode, out) in outs.iter_mut().enumerate() {
            let request = cpu.mttkrp(PlusTimes::new(), x, &factors, mode).plan(&plan).sweep(&mut kept);
            let (done, ms) = timed(|| request.into(out));
            done?;
            sweep += ms;
            modes[mode] = modes[mode].min(ms);
        }
        if round > 0 {
            sweeps.push(sweep);
        }
    }
    let checksums: Vec<f64> = outs.iter().map(|v| v.values().iter().sum()).collect();
    let (d, n, best) = (x.order() as f64, x.nnz() as f64, sweeps.minimum());
    // Bytes of a sweep: by eq. 3 of Phipps and Kolda, which ignores caches; and the compulsory traffic.
    let eq3 = d * n * ((d * rank as f64 + 3.0) * 8.0 + d * size_of::<I>() as f64);
    let rows: usize = x.dims().iter().sum();
    let least = d * (n * ((d - 1.0) * size_of::<I>() as f64 + 8.0) + (rows * rank * 8) as f64);
    let rate = |bytes: f64| bytes / best / 1e6;
    let per_entry = plan.bytes() as f64 / n;
    let chosen = plan.choice().variant;
    let json = json!({
        "op": "mttkrp", "case": name, "dims": x.dims(), "nnz": x.nnz(), "rank": rank, "variant": chosen.name(),
        "threads": context.threads(), "compute_ms": ms(sweeps.median()), "compute_min_ms": ms(best), "setup_ms": ms(setup.median()),
        "setup_min_ms": ms(setup.minimum()), "mode_min_ms": modes, "bytes_per_entry": per_entry,
        "tensor_bytes_per_entry": x.bytes() as f64 / n, "eq3_gb_s": rate(eq3), "least_gb_s": rate(least), "triad_gb_s": triad,
        "mttkrp_sums": checksums, "chosen": plan.explain().trim_end(),
    });
    context.result(json, || {
        format!(
            "{name:10} {rank:>4} {:7} {:>10.2} {best:>10.2} {:>10.2} {per_entry:>8.1} {:>8.1} {:>8.1} {triad:>8.1}  {}",
            chosen.name(),
            sweeps.median(),
            setup.minimum(),
            rate(eq3),
            rate(least),
            plan.choice().why
        )
    })
}

/// GB/s of a(i) = b(i) + s·c(i), 24 bytes per element, arrays larger than any cache.
fn triad() -> sparring::Result<f64> {
    const LEN: usize = 1 << 24;
    const PART: usize = 1 << 16;
    let (mut a, b, c) = (
        sparring::par::filled(LEN, 0.0f64, "a triad")?,
        sparring::par::filled(LEN, 1.0f64, "a triad")?,
        sparring::par::filled(LEN, 2.0f64, "a triad")?,
    );
    let mut best = Times::default();
    for _ in 0..4 {
        let ((), ms) = timed(|| {
            a.par_chunks_mut(PART).zip(b.par_chunks(PART)).zip(c.par_chunks(PART)).for_each(|((a, b), c)| {
                a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = b + 3.0 * c);
            });
        });
        best.push(ms);
    }
    Ok(24.0 * LEN as f64 / best.minimum() / 1e6)
}

//! `sparring tensor-info FILE`.

use clap::Args;
use serde_json::json;
use sparring::Index;
use sparring::tensor::{AnyTensor, Shape, Tensor, choose};

use crate::context::Context;
use crate::failure::Result;
use crate::output::{ms, seconds, thousands};

#[derive(Args)]
pub(crate) struct Arguments {
    /// FROSTT file (.tns, .tns.gz), - for standard input, or gen:NAME
    pub(crate) file: String,
    /// Columns of the factors, for the choice of the algorithm
    #[arg(long, default_value_t = 16, value_name = "R", value_parser = clap::value_parser!(u32).range(1..))]
    rank: u32,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result {
    let (x, read_ms) = context.load_tensor(&arguments.file)?;
    context.progress.stage("counting fibres".into());
    match &x {
        AnyTensor::Narrow(x) => tell(context, arguments, x, read_ms),
        AnyTensor::Wide(x) => tell(context, arguments, x, read_ms),
    }
}

fn tell<I: Index>(context: &Context, arguments: &Arguments, x: &Tensor<f64, I>, read_ms: f64) -> Result {
    let threads = context.cpu.threads();
    let unique = x.summed(threads, sparring::algebra::Plus::new())?;
    let repeats = x.nnz() - unique.nnz();
    let (mut slices, mut fibres) = (vec![], vec![]);
    for mode in 0..x.order() {
        slices.push(distinct(&unique, &[mode], context)?);
        let others: Vec<usize> = (0..x.order()).filter(|&m| m != mode).collect();
        fibres.push(distinct(&unique, &others, context)?);
    }
    let shape = Shape::of(x, arguments.rank as usize);
    let choice = choose(&shape, None, context.memory_budget)?;
    let zeros = x.values().iter().filter(|&&v| v == 0.0).count();
    let norm2: f64 = unique.values().iter().map(|v| v * v).sum();
    let json = json!({
        "file": arguments.file, "order": x.order(), "dims": x.dims(), "nnz": x.nnz(), "repeats": repeats, "zeros": zeros,
        "norm2": norm2, "index_bits": 8 * size_of::<I>(), "bytes": x.bytes() as u64, "slices": slices, "fibres": fibres,
        "rank": arguments.rank, "variant": choice.variant.name(), "variant_bytes": choice.bytes as u64, "why": choice.why,
        "read_ms": ms(read_ms),
    });
    context.result(json, || {
        let elements = x.dims().iter().map(|&n| n as f64).product::<f64>();
        let mut text = format!(
            "{}   {} entries, density {:.2e}   {} duplicates, {} zeros   norm² {:.12e}   {}-bit indices, {} bytes   read {}\n",
            super::dims(x.dims()),
            thousands(x.nnz() as u64),
            x.nnz() as f64 / elements,
            thousands(repeats as u64),
            thousands(zeros as u64),
            norm2,
            8 * size_of::<I>(),
            thousands(x.bytes() as u64),
            seconds(read_ms)
        );
        for mode in 0..x.order() {
            let per = unique.nnz() as f64 / (fibres[mode] as f64).max(1.0);
            text += &format!(
                "  mode {mode}: {} of {} slices, {} fibres of {per:.2} entries\n",
                thousands(slices[mode] as u64),
                thousands(x.dims()[mode] as u64),
                thousands(fibres[mode] as u64)
            );
        }
        let bytes = thousands(choice.bytes as u64);
        text + &format!("  mttkrp of rank {}: {}, at most {bytes} bytes: {}", arguments.rank, choice.variant, choice.why)
    })
}

/// Number of distinct index tuples in `modes`.
fn distinct<I: Index>(x: &Tensor<f64, I>, modes: &[usize], context: &Context) -> sparring::Result<usize> {
    if modes.is_empty() {
        return Ok(usize::from(x.nnz() > 0));
    }
    let order = x.order_by(context.cpu.threads(), modes)?;
    let differ = |a: usize, b: usize| modes.iter().any(|&m| x.indices(m)[a] != x.indices(m)[b]);
    Ok(order.windows(2).filter(|w| differ(w[0], w[1])).count() + usize::from(x.nnz() > 0))
}

//! Commands on sparse tensors, and where tensors come from: FROSTT files, and names of generated ones.

pub(crate) mod cp;
pub(crate) mod info;
mod plot;
mod save;

use sparring::Result;
use sparring::generate::{bench_tensor, gen_py};
use sparring::tensor::AnyTensor;

use crate::{near, read};

/// Tensors of the same bits in any language, and those that GPUs are measured with.
pub(crate) const GENERATED: [&str; 8] = ["random10m", "random3m", "uber", "nell2", "enron", "lbnl", "vast", "planted"];
/// Dimensions, draws, seed and skew.
const LARGE: [(&str, &[u64], usize, u64, f64); 4] = [
    ("unif3", &[30_000, 40_000, 50_000], 10_000_000, 61, 0.0),
    ("nell2-36m", &[12_092, 9_184, 28_818], 36_000_000, 62, 1.0),
    ("enron-54m", &[6_066, 5_699, 244_268, 1_176], 54_000_000, 63, 1.0),
    ("vast5", &[165_427, 11_374, 2, 100, 89], 26_000_000, 64, 0.6),
];

/// The generated tensor called `name`; with `-small` behind it, one of a tenth of the entries.
fn generated(name: &str) -> Result<AnyTensor<f64>> {
    if let Some((_, dims, draws, seed, skew)) = LARGE.iter().find(|(known, ..)| *known == name) {
        return Ok(AnyTensor::Narrow(gen_py::tensor(dims, *draws, *seed, *skew)?));
    }
    let (base, small) = name.strip_suffix("-small").map_or((name, false), |base| (base, true));
    let made = bench_tensor::named(base, small);
    Ok(AnyTensor::Narrow(near::suggested(made, base, GENERATED)?))
}

/// The tensor of a file, or the generated one if it begins with `gen:`.
pub(crate) fn load(argument: &str, how: &read::Reading) -> Result<AnyTensor<f64>> {
    match read::generated(argument) {
        Some(name) => generated(name),
        None => how.frostt(argument),
    }
}

/// `5 × 201 × 61`.
pub(crate) fn dims(dims: &[usize]) -> String {
    dims.iter().map(|&n| crate::output::thousands(n as u64)).collect::<Vec<_>>().join(" × ")
}

//! Commands on sparse tensors, and where tensors come from: FROSTT files, and names of generated ones.

pub(crate) mod cp;
pub(crate) mod info;
pub(crate) mod mttkrp;
mod plot;
mod save;

use sparring::Result;
use sparring::tensor::AnyTensor;
use sparring_generate as generate;

use crate::{near, read};

/// The tensor of a file, or the generated one if it begins with `gen:`.
pub(crate) fn load(argument: &str, how: &read::Reading) -> Result<AnyTensor<f64>> {
    match read::generated(argument) {
        Some(name) => {
            let made = near::suggested(generate::tensor(name), name, generate::TENSORS.iter().copied())?;
            Ok(AnyTensor::Narrow(made))
        }
        None => how.frostt(argument),
    }
}

/// `5 × 201 × 61`.
pub(crate) fn dims(dims: &[usize]) -> String {
    dims.iter().map(|&n| crate::output::thousands(n as u64)).collect::<Vec<_>>().join(" × ")
}

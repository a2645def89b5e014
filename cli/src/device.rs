//! Where a command computes: `--device`; and the command `devices`.

use std::fmt;

use serde_json::{Map, Value, json};
use sparring::{Cuda, Error};

use crate::context::Context;
use crate::failure::Result;
use crate::output::thousands;
use crate::timing::timed;

/// The processor, or a GPU by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Device {
    #[default]
    Cpu,
    Cuda(usize),
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

/// What `--device` takes.
pub(crate) fn parse(text: &str) -> Result<Device, String> {
    let number = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    match text.strip_prefix("cuda:").and_then(number) {
        Some(ordinal) => Ok(Device::Cuda(ordinal)),
        None if text == "cpu" => Ok(Device::Cpu),
        None => Err("it is 'cpu', or 'cuda:N' for GPU number N, counted from 0".into()),
    }
}

/// The error for an option that has no meaning on a GPU.
pub(crate) fn refused(option: &str, why: &str) -> Error {
    Error::Unsupported { what: format!("{option} on a GPU"), why: why.into() }
}

/// Refuses the first option that was given, each with its name and why a GPU does not have it.
pub(crate) fn refuse(options: &[(bool, &str, &str)]) -> sparring::Result<()> {
    match options.iter().find(|(given, ..)| *given) {
        Some((_, option, why)) => Err(refused(option, why)),
        None => Ok(()),
    }
}

/// The result of `f` and the milliseconds that it took, the device idle before and after.
pub(crate) fn timed_on<T>(cuda: &Cuda, f: impl FnOnce() -> sparring::Result<T>) -> sparring::Result<(T, f64)> {
    cuda.synchronize()?;
    let (result, ms) = timed(|| f().and_then(|x| cuda.synchronize().map(|()| x)));
    Ok((result?, ms))
}

/// The command `devices`: the GPUs, and what is missing to use them.
pub(crate) fn list(context: &Context) -> Result {
    let devices: Vec<_> = (0..Cuda::count()).map(|ordinal| (ordinal, Cuda::new(ordinal))).collect();
    let missing = if devices.is_empty() { Cuda::new(0).err().map(|e| e.to_string()) } else { None };
    let compiler = Cuda::compiler().map_err(|e| e.to_string());
    let json = json!({
        "devices": devices.iter().map(|(ordinal, cuda)| describe(*ordinal, cuda)).collect::<Vec<_>>(),
        "missing": missing,
        "compiler": compiler.as_ref().ok(), "compiler_missing": compiler.as_ref().err(),
    });
    context.result(json, || {
        let mut text = String::new();
        for (ordinal, cuda) in &devices {
            text += &match cuda {
                Ok(cuda) => {
                    let l = cuda.limits();
                    let (major, minor) = l.capability;
                    let memory = thousands(l.memory);
                    let free = cuda.free_memory().map_or_else(|_| "?".into(), thousands);
                    format!(
                        "cuda:{ordinal}   {}   capability {major}.{minor}   {} multiprocessors   {memory} bytes, {free} free\n",
                        l.name, l.multiprocessors
                    )
                }
                Err(e) => format!("cuda:{ordinal}   {e}\n"),
            };
        }
        if let Some(missing) = &missing {
            text += &format!("{missing}\n");
        }
        match &compiler {
            Ok(found) => text + "compiler: " + found,
            Err(why) => text + why,
        }
    })
}

fn describe(ordinal: usize, cuda: &sparring::Result<Cuda>) -> Value {
    let mut row = Map::new();
    row.insert("device".into(), json!(Device::Cuda(ordinal).to_string()));
    match cuda {
        Ok(cuda) => {
            let l = cuda.limits();
            for (key, value) in [
                ("name", json!(l.name)),
                ("capability", json!(format!("{}.{}", l.capability.0, l.capability.1))),
                ("multiprocessors", json!(l.multiprocessors)),
                ("memory_bytes", json!(l.memory)),
                ("free_bytes", json!(cuda.free_memory().ok())),
                ("l2_bytes", json!(l.l2)),
                ("shared_per_block_bytes", json!(l.shared_per_block)),
                ("cache_folder", json!(cuda.cached_in().ok())),
                ("no_cache_because", json!(cuda.cached_in().err())),
            ] {
                row.insert(key.into(), value);
            }
        }
        Err(e) => {
            row.insert("missing".into(), json!(e.to_string()));
        }
    }
    Value::Object(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_cpu_and_cuda_n() {
        assert_eq!(
            (parse("cpu"), parse("cuda:0"), parse("cuda:12")),
            (Ok(Device::Cpu), Ok(Device::Cuda(0)), Ok(Device::Cuda(12)))
        );
        for wrong in ["", "gpu", "cuda", "cuda:", "cuda:-1", "cuda:+1", "cuda:1x", "CPU", "cuda:99999999999999999999"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        for device in [Device::Cpu, Device::Cuda(3)] {
            assert_eq!(parse(&device.to_string()), Ok(device));
        }
    }
}

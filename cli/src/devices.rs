//! The command `devices`: the processor, the GPUs, and missing drivers or compilers.

use serde_json::{Map, Value, json};
use sparring::{Cuda, Isa};

use crate::context::Context;
use crate::device::Device;
use crate::failure::Result;
use crate::output::thousands;

/// Lists the devices.
pub(crate) fn list(context: &Context) -> Result {
    let devices: Vec<_> = (0..Cuda::count()).map(|ordinal| (ordinal, Cuda::new(ordinal))).collect();
    let missing = if devices.is_empty() { Cuda::new(0).err().map(|e| e.to_string()) } else { None };
    let compiler = Cuda::compiler().map_err(|e| e.to_string());
    let (isa, best, threads) = (Isa::running(), Isa::best(), context.cpu.threads().count());
    let json = json!({
        "processor": { "isa": isa.name(), "isa_best": best.name(), "threads": threads },
        "devices": devices.iter().map(|(ordinal, cuda)| describe(*ordinal, cuda)).collect::<Vec<_>>(),
        "missing": missing,
        "compiler": compiler.as_ref().ok(), "compiler_missing": compiler.as_ref().err(),
    });
    context.result(json, || {
        let lowered = if isa < best { format!(", lowered from {best}") } else { String::new() };
        let mut text = format!("cpu      {isa}{lowered}   {threads} threads\n");
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

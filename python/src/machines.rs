//! Machines by name, threads, and how a computation is run: without the interpreter, to be stopped by Ctrl-C.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparring::runtime::Machine;

use crate::errors::Raise;

/// What new machines get.
#[derive(Default)]
struct Settings {
    threads: usize,
    memory_budget: Option<u64>,
    /// The processor, which most calls want.
    cpu: Option<Machine>,
    others: Option<HashMap<String, Machine>>,
}

static SETTINGS: Mutex<Settings> = Mutex::new(Settings { threads: 0, memory_budget: None, cpu: None, others: None });

/// The machine of that name, the processor without one.
pub(crate) fn machine(device: Option<&str>) -> PyResult<Machine> {
    let name = device.unwrap_or("cpu");
    let mut settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let known =
        if name == "cpu" { settings.cpu.as_ref() } else { settings.others.as_ref().and_then(|all| all.get(name)) };
    if let Some(known) = known {
        return Ok(known.clone());
    }
    let budget = settings.memory_budget;
    let made = match name.split_once(':') {
        None if name == "cpu" => Machine::cpu(settings.threads, budget),
        None if name == "cuda" => Machine::cuda(0, budget),
        Some(("cuda", number)) => match number.parse() {
            Ok(number) => Machine::cuda(number, budget),
            Err(_) => return Err(unknown(name)),
        },
        _ => return Err(unknown(name)),
    };
    let made = made.raise()?;
    if name == "cpu" {
        settings.cpu = Some(made.clone());
    } else {
        settings.others.get_or_insert_default().insert(name.into(), made.clone());
    }
    Ok(made)
}

fn unknown(name: &str) -> PyErr {
    PyValueError::new_err(format!("device: {name:?} is none of 'cpu', 'cuda', 'cuda:0', 'cuda:1', …"))
}

/// Number of threads of the processor's operations; 0 means all processors that the process may use.
#[pyfunction]
pub(crate) fn set_threads(threads: usize) -> PyResult<()> {
    let mut settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let made = Machine::cpu(threads, settings.memory_budget).raise()?;
    settings.threads = threads;
    settings.cpu = Some(made);
    Ok(())
}

/// Number of threads of the processor's operations.
#[pyfunction]
pub(crate) fn get_threads() -> PyResult<usize> {
    Ok(machine(None)?.threads().map_or(1, sparring::par::Threads::count))
}

/// Bytes that an operation may take beside its operands, on any device; None for no limit.
#[pyfunction]
#[pyo3(signature = (bytes))]
pub(crate) fn set_memory_budget(bytes: Option<u64>) {
    let mut settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    settings.memory_budget = bytes;
    (settings.cpu, settings.others) = (None, None);
}

/// Names of the devices: 'cpu', and 'cuda:0' and so on for each GPU that the driver has.
#[pyfunction]
pub(crate) fn devices() -> Vec<String> {
    let gpus = (0..Machine::gpus()).map(|number| format!("cuda:{number}"));
    std::iter::once("cpu".into()).chain(gpus).collect()
}

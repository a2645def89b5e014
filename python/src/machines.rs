//! Devices by name, threads, and running a computation without the GIL, so that Ctrl-C can stop it.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparring::Cpu;
use sparring::runtime::Machine;

use crate::errors::Raise;

/// Settings of new machines.
#[derive(Default)]
struct Settings {
    threads: usize,
    memory_budget: Option<u64>,
    /// The processor, cached for most calls.
    cpu: Option<Machine>,
    others: Option<HashMap<String, Machine>>,
}

static SETTINGS: Mutex<Settings> = Mutex::new(Settings { threads: 0, memory_budget: None, cpu: None, others: None });

/// A machine for one call, interruptible by Ctrl-C.
#[derive(Debug)]
pub(crate) struct On {
    machine: Machine,
    stop: Arc<AtomicBool>,
}

impl Deref for On {
    type Target = Machine;
    fn deref(&self) -> &Machine {
        &self.machine
    }
}

/// Number of entries below which an operation is too short to interrupt.
const FEW: usize = 4096;
/// Interval between checks for signals.
const LOOK: Duration = Duration::from_millis(20);

impl On {
    /// Runs `f` without the GIL. Python's signal handlers run meanwhile, unless there are few `entries`; an exception
    /// in a handler cancels the operation. An operation on a GPU is not cancelled; the exception is raised after it.
    pub(crate) fn compute<T: Send>(
        &self,
        py: Python<'_>,
        entries: usize,
        f: impl FnOnce() -> sparring::Result<T> + Send,
    ) -> PyResult<T> {
        let (mut found, mut f) = (None, Some(f));
        self.watch(py, entries, &mut || found = f.take().map(|f| f()))?;
        let Some(found) = found else { unreachable!("the work was done, or unwinds") };
        found.raise()
    }
    /// The non-generic part, compiled once.
    fn watch(&self, py: Python<'_>, entries: usize, work: &mut (dyn FnMut() + Send)) -> PyResult<()> {
        let threads = match self.threads() {
            Some(threads) if entries > FEW => threads,
            _ => {
                py.detach(work);
                return Ok(());
            }
        };
        let mut thrown = None;
        let look = || {
            if let Err(e) = Python::attach(|py| py.check_signals()) {
                thrown.get_or_insert(e);
                self.stop.store(true, Ordering::Relaxed);
            }
        };
        py.detach(|| threads.watched(LOOK, look, work));
        thrown.map_or(Ok(()), Err)
    }
}

/// The machine of that name for one call, by default the processor.
pub(crate) fn machine(device: Option<&str>) -> PyResult<On> {
    let (machine, stop) = (shared(device)?, Arc::default());
    let watched = machine.typed::<Cpu>().map(|cpu| cpu.stopped_by(Arc::clone(&stop)).into());
    Ok(On { machine: watched.unwrap_or(machine), stop })
}

/// The machine `there`, which has the operands in its memory; an error if `device` is another one.
pub(crate) fn machine_of_arrays(there: &str, device: Option<&str>) -> PyResult<On> {
    match device {
        Some(device) if full_name(device) != there => {
            Err(PyValueError::new_err(format!("device: {device:?}, but the operands are on {there:?}")))
        }
        _ => machine(Some(there)),
    }
}

/// The processes of an MPI job.
pub(crate) const CLUSTER: &str = "cluster";

/// Forgets the machine of that name, which operands may still hold.
#[cfg(feature = "mpi")]
pub(crate) fn take(name: &str) -> Option<Machine> {
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner).others.as_mut()?.remove(name)
}

/// The cluster around processors, or around GPUs for `"cluster:cuda"`.
#[cfg(feature = "mpi")]
fn cluster(name: &str, threads: usize, budget: Option<u64>) -> PyResult<Machine> {
    let settings = || SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(job) = settings().others.as_ref().and_then(|all| all.get(CLUSTER)) {
        return if crate::cluster::is_on_gpus(job) {
            Ok(job.clone())
        } else {
            Err(PyValueError::new_err(format!("device: {name:?}, but the job runs on processors")))
        };
    }
    // It ends MPI when the interpreter exits.
    Python::attach(|py| py.import("sparring.cluster").map(drop))?;
    crate::cluster::start(name != CLUSTER, budget, || Machine::cpu(threads, budget).raise())
}
#[cfg(not(feature = "mpi"))]
fn cluster(name: &str, _: usize, _: Option<u64>) -> PyResult<Machine> {
    let message = format!("device: {name:?} needs a build with MPI: see sparring.cluster");
    Err(PyValueError::new_err(message))
}

fn full_name(device: &str) -> &str {
    if device == "cuda" { "cuda:0" } else { device }
}

/// The machine of that name.
fn shared(device: Option<&str>) -> PyResult<Machine> {
    let name = device.map_or("cpu", full_name);
    let settings = || SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let (threads, budget) = {
        let settings = settings();
        let others = || settings.others.as_ref().and_then(|all| all.get(name));
        if let Some(known) = if name == "cpu" { settings.cpu.as_ref() } else { others() } {
            return Ok(known.clone());
        }
        (settings.threads, settings.memory_budget)
    };
    // Without the lock: Python may switch to a thread that waits for the lock.
    let gpu = |number| {
        if Machine::gpus() > 0 {
            Python::attach(|py| py.import("sparring._foreign")?.call_method0("find_cuda").map(drop))?;
        }
        Machine::cuda(number, budget).raise()
    };
    let made = match name.split_once(':') {
        None if name == "cpu" => Machine::cpu(threads, budget).raise(),
        None if name == CLUSTER => cluster(name, threads, budget),
        Some((CLUSTER, "cuda")) => cluster(name, threads, budget),
        Some(("cuda", number)) => gpu(number.parse().map_err(|_| unknown(name))?),
        _ => Err(unknown(name)),
    }?;
    // If two threads created a machine, the first one is used.
    let mut settings = settings();
    Ok(match name {
        "cpu" => settings.cpu.get_or_insert(made).clone(),
        // Both kinds of cluster have the name of their objects.
        _ => {
            let key = if name.starts_with(CLUSTER) { CLUSTER } else { name };
            settings.others.get_or_insert_default().entry(key.into()).or_insert(made).clone()
        }
    })
}

fn unknown(name: &str) -> PyErr {
    PyValueError::new_err(format!("device: {name:?} is none of 'cpu', 'cuda', 'cuda:0', 'cuda:1', …"))
}

/// Sets the number of CPU threads; 0 means all processors available to the process.
#[pyfunction]
pub(crate) fn set_threads(threads: usize) -> PyResult<()> {
    let mut settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let made = Machine::cpu(threads, settings.memory_budget).raise()?;
    settings.threads = threads;
    settings.cpu = Some(made);
    Ok(())
}

/// Number of CPU threads.
#[pyfunction]
pub(crate) fn get_threads() -> PyResult<usize> {
    Ok(shared(None)?.threads().map_or(1, sparring::par::Threads::count))
}

/// Limits the memory of an operation in bytes, besides its operands, on any device; None for no limit.
#[pyfunction]
#[pyo3(signature = (bytes))]
pub(crate) fn set_memory_budget(bytes: Option<u64>) {
    let mut settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    settings.memory_budget = bytes;
    settings.cpu = None;
    // A job keeps the budget that it was started with: MPI starts once.
    if let Some(others) = &mut settings.others {
        others.retain(|name, _| name.starts_with(CLUSTER));
    }
}

/// Names of the devices: 'cpu', and 'cuda:0' and so on for each GPU.
#[pyfunction]
pub(crate) fn devices() -> Vec<String> {
    let gpus = (0..Machine::gpus()).map(|number| format!("cuda:{number}"));
    std::iter::once("cpu".into()).chain(gpus).collect()
}

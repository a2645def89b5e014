//! Tests on MPI ranks: the program launches itself with 1, 2, 4, 6 and 9 ranks, each job under a time limit.
//!
//! `cargo test -p sparring-cluster --features mpi --test ranks` requires `mpirun`. `SPARRING_RANKS=4,16` sets other
//! rank counts, `SPARRING_MPIRUN` another launcher, and arguments after `--` select scenarios. With the feature `cuda`,
//! the scenario `gpus` is run by hand with one GPU per rank.

#[path = "ranks/algorithms.rs"]
mod algorithms;
#[path = "ranks/entries.rs"]
mod entries;
#[path = "ranks/factor.rs"]
mod factor;
#[path = "ranks/failures.rs"]
mod failures;
#[path = "ranks/faults.rs"]
mod faults;
#[path = "ranks/files.rs"]
mod files;
#[path = "../../tests/oracle/functions.rs"]
mod functions;
#[cfg(feature = "cuda")]
#[path = "ranks/gpus.rs"]
mod gpus;
#[path = "../../tests/oracle/names.rs"]
mod names;
#[path = "ranks/neighbours.rs"]
mod neighbours;
#[path = "../../tests/oracle/objects.rs"]
mod objects;
#[path = "ranks/products.rs"]
mod products;
#[path = "ranks/program.rs"]
mod program;
#[path = "../../tests/oracle/tally.rs"]
mod tally;
#[path = "ranks/tensors.rs"]
mod tensors;
#[path = "../../tests/oracle/wide.rs"]
#[allow(dead_code, reason = "the ranks take cases as they are")]
mod wide;

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use sparring::Cpu;
use sparring_cluster::Cluster;

/// The scenario of this name.
const SCENARIO: &str = "SPARRING_RANKS_SCENARIO";

fn cluster() -> Cluster {
    Cluster::new(Cpu::with_threads(1).expect("a thread")).expect("MPI")
}

fn main() {
    match std::env::var(SCENARIO) {
        Ok(scenario) => rank(&scenario),
        Err(_) => job(),
    }
}

/// One rank of a job.
fn rank(scenario: &str) {
    // The GPU ordinal must be known before any computation.
    let on_node = Cluster::local_rank().expect("MPI");
    #[cfg(feature = "cuda")]
    if scenario == "gpus" {
        let gpu = sparring::Cuda::new(on_node).expect("a GPU for each rank");
        return gpus::all(&Cluster::new(gpu.clone()).expect("MPI"), &gpu);
    }
    let cluster = cluster();
    assert!(cluster.rank() == on_node, "all ranks are on this machine");
    match scenario {
        "oracle" => {
            let door = format!("rank {} of {}", cluster.rank(), cluster.size());
            tally::random(&door, &mut names::Names::new(cluster.clone()), 11, 10);
            tally::small(&door, &mut names::Names::new(cluster), 40_009);
        }
        "products" => products::all(&cluster),
        "algorithms" => algorithms::all(&cluster),
        "neighbours" => neighbours::all(&cluster),
        "factor" => factor::all(&cluster),
        "faults" => faults::all(&cluster),
        "files" => files::all(&cluster),
        "entries" => entries::all(&cluster),
        "tensors" => tensors::all(&cluster),
        other => failures::rank(other, &cluster),
    }
}

/// Launches ranks and waits for them.
fn start(ranks: usize, scenario: &str, limit: Duration) -> Output {
    let mut command = mpirun(ranks, &std::env::current_exe().expect("this program"));
    command.env(SCENARIO, scenario);
    waited(command, &format!("{scenario}, {ranks} ranks"), limit)
}

/// The launcher of the MPI that this program was built with.
fn launcher() -> String {
    std::env::var("SPARRING_MPIRUN").unwrap_or_else(|_| "mpirun".into())
}

/// An `mpirun` command for a program; its arguments are appended by the caller.
fn mpirun(ranks: usize, program: &std::path::Path) -> Command {
    let mut command = Command::new(launcher());
    let version = Command::new(launcher()).arg("--version").output();
    if version.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).contains("Open MPI")) {
        let shared =
            ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"];
        command.args(shared);
    }
    command.args(["-n", &ranks.to_string()]).arg(program).env("RAYON_NUM_THREADS", "1");
    command
}

/// Output of a job, which must end within the time limit.
fn waited(mut command: Command, what: &str, limit: Duration) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mpirun");
    let id = child.id();
    let began = Instant::now();
    let (done, finished) = std::sync::mpsc::channel();
    let watch = std::thread::spawn(move || {
        if finished.recv_timeout(limit).is_err() {
            // A hung job may ignore the first signal.
            _ = Command::new("kill").arg(id.to_string()).status();
            std::thread::sleep(Duration::from_secs(2));
            _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        }
    });
    let out = child.wait_with_output().expect("output");
    _ = done.send(());
    watch.join().expect("the watch");
    let took = began.elapsed();
    assert!(took < limit, "{what} hung:\n{}", String::from_utf8_lossy(&out.stderr));
    println!("{what}: {:.1} s", took.as_secs_f64());
    out
}

/// All scenarios, each in a job of its own.
const SCENARIOS: [&str; 8] =
    ["products", "algorithms", "neighbours", "factor", "files", "entries", "tensors", "oracle"];

fn job() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let named = |scenario: &str| words.iter().any(|word| word == scenario);
    if words.iter().any(|word| word == "--list") {
        return SCENARIOS.iter().filter(|scenario| named(scenario)).for_each(|scenario| println!("{scenario}: test"));
    }
    if Command::new(launcher()).arg("--version").output().is_err() {
        println!("skipped: no {}", launcher());
        return;
    }
    let asked = std::env::var("SPARRING_RANKS").unwrap_or_else(|_| "1,2,4,6,9".into());
    let asked: Vec<usize> = asked.split(',').map(|n| n.trim().parse().expect("a number of ranks")).collect();
    let all = !SCENARIOS.iter().any(|scenario| named(scenario));
    for &ranks in &asked {
        for scenario in SCENARIOS.iter().filter(|scenario| all || named(scenario)) {
            let out = start(ranks, scenario, Duration::from_secs(480));
            let (said, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
            assert!(out.status.success(), "{scenario} on {ranks} ranks:\n{said}\n{errors}");
            said.lines().filter(|line| line.starts_with("rank 0")).for_each(|line| println!("  {line}"));
        }
    }
    if all {
        failures::job(asked.iter().copied().max().unwrap_or(1));
        program::job();
    }
    println!("all ranks agree");
}

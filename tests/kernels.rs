//! Every kernel of the library compiles for every promised architecture, and hot kernels do not spill registers.
//!
//! Needs NVRTC and no GPU. Without NVRTC the test prints a note and ends; with `SPARRING_REQUIRE_NVRTC=1` it fails.

use sparring::Error;
use sparring::gpu::testing;

/// Ampere, Hopper, and Blackwell for data centres and desktops.
const PROMISED: [u32; 4] = [80, 90, 100, 120];

/// The architectures to compile for, or none without a compiler.
fn architectures() -> Vec<u32> {
    match testing::architectures() {
        Ok(known) => PROMISED.into_iter().filter(|sm| known.contains(sm)).collect(),
        Err(Error::NoCompiler { why }) if std::env::var_os("SPARRING_REQUIRE_NVRTC").is_none_or(|x| x != "1") => {
            eprintln!("skipped: no NVRTC: {why}");
            vec![]
        }
        Err(e) => panic!("{e}"),
    }
}

/// Known spills: architecture, kernel, bytes. One pointer of the product of 32 × 32 matrices of f32, once per thread,
/// on an architecture that has not been benchmarked.
const KNOWN: [(u32, &str, u64); 1] = [(100, "contract", 8)];

/// Bytes spilled by each kernel, parsed from the log of `ptxas -v`:
/// "Function properties for NAME", then "… N bytes spill stores, M bytes spill loads".
fn spills(log: &str) -> Vec<(String, u64)> {
    let (mut found, mut kernel) = (vec![], String::new());
    for line in log.lines() {
        if let Some((_, name)) = line.split_once("Function properties for ") {
            kernel = name.trim().to_string();
        } else if let Some((before, _)) = line.split_once(" bytes spill stores") {
            let bytes = before.rsplit(' ').next().and_then(|n| n.parse().ok());
            found.push((kernel.clone(), bytes.unwrap_or_else(|| panic!("no number in {line:?}"))));
        }
    }
    found
}

/// The kernels among the functions: "Compiling entry function 'NAME' for …".
fn entries(log: &str) -> impl Iterator<Item = &str> {
    log.lines().filter_map(|line| line.split_once("entry function '")?.1.split('\'').next())
}

fn check(sm: u32) {
    if !architectures().contains(&sm) {
        eprintln!("skipped: sm_{sm} cannot be compiled for here");
        return;
    }
    let all = testing::compile_all(sm).unwrap_or_else(|e| panic!("sm_{sm}: {e}"));
    assert!(!all.is_empty());
    let mut wrong = vec![];
    for (p, program) in all.iter().enumerate() {
        // A repeated compilation, for a ring with the same instructions, may come from the compiler's own cache, which
        // has no log.
        let again = all[..p].iter().any(|other| other.image == program.image);
        if again && entries(&program.log).count() == 0 {
            continue;
        }
        let spills = spills(&program.log);
        println!("sm_{sm} {}: {} kernels, {} bytes", program.name, entries(&program.log).count(), program.image.len());
        assert!(entries(&program.log).count() > 0, "{}", program.name);
        for kernel in entries(&program.log) {
            // Names are stored in the image, each terminated by a zero byte.
            let count = format!("{kernel}_parameters\0");
            if !program.image.windows(count.len()).any(|w| w == count.as_bytes()) {
                wrong.push(format!("{}: {kernel} is not declared by KERNEL of kernel.cuh", program.name));
            }
        }
        for hot in program.hot {
            match spills.iter().find(|(kernel, _)| kernel == hot) {
                Some((_, 0)) => {}
                Some((kernel, bytes)) if KNOWN.contains(&(sm, kernel, *bytes)) => {}
                Some((_, bytes)) => wrong.push(format!("{} (number {p}): {hot} spills {bytes} bytes", program.name)),
                None => wrong.push(format!("{}: there is no kernel {hot} in {}", program.name, program.log)),
            }
        }
    }
    assert!(wrong.is_empty(), "sm_{sm}:\n{}", wrong.join("\n"));
}

#[test]
fn for_sm_80() {
    check(80);
}
#[test]
fn for_sm_90() {
    check(90);
}
#[test]
fn for_sm_100() {
    check(100);
}
#[test]
fn for_sm_120() {
    check(120);
}

#[test]
fn the_reader_of_spills_reads() {
    let log = "ptxas info    : Compiling entry function 'a' for 'sm_90'\nptxas info    : Function properties for a\n    \
               8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\nptxas info    : Used 25 registers\n";
    assert_eq!(spills(log), [("a".to_string(), 12)]);
    assert_eq!(entries(log).collect::<Vec<_>>(), ["a"]);
}

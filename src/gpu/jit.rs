//! Programs compiled by NVRTC at run time, for exactly the device in use.
//!
//! A program is one file of `cuda/` behind a prefix: the printed `struct Ring`, types, constants. The headers of
//! `cuda/` are passed from memory, so neither a toolkit nor a file is needed.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;

use super::cache::{Cache, Key};
use super::defines::{OwnedPrefix, Prefix};
use super::driver::{Device, Unloadable};
use super::launch::Program;
use super::nvrtc::{Failure, Input, Nvrtc, Output};
use crate::par::Threads;
use crate::{Error, Result};

/// A file of `cuda/`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its text.
    pub(crate) text: &'static str,
}

impl Source {
    /// A hash of its text and of the headers, in hexadecimal.
    pub(super) fn sum(self) -> String {
        Key::of([self.name, self.text].into_iter().chain(HEADERS.iter().flat_map(|h| [h.name, h.text]))).digits()
    }
}

/// The file of `cuda/` called `$name`.
macro_rules! source {
    ($name:literal) => {
        $crate::gpu::jit::Source {
            name: $name,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/cuda/", $name)),
        }
    };
}
pub(crate) use source;

/// Headers that every program may include.
const HEADERS: [Source; 15] = [
    source!("prelude.cuh"),
    source!("kernel.cuh"),
    source!("parts.cuh"),
    source!("ranks.cuh"),
    source!("kk.cuh"),
    source!("values.cuh"),
    source!("lists.cuh"),
    source!("index.cuh"),
    source!("union_tables.cuh"),
    source!("distance.cuh"),
    source!("nearest.cuh"),
    source!("neighbours.cuh"),
    source!("entries.cuh"),
    source!("slab.cuh"),
    source!("graph.cuh"),
];

/// A compiled program.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    /// Machine code, or PTX that ends with a zero byte.
    pub(crate) image: Vec<u8>,
    /// The compiler's log: registers and spills of each kernel.
    pub(crate) log: String,
}

/// A program for the tests that compile all of them.
#[derive(Clone)]
pub(crate) struct Unit {
    pub(crate) source: Source,
    /// A representative prefix.
    pub(crate) prefix: String,
    /// Kernels that must not spill.
    pub(crate) hot: &'static [&'static str],
}

/// A target of compilation: an architecture, say 90.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Its machine code.
    Code(u32),
    /// PTX, which the driver compiles for this architecture or any newer one.
    Ptx(u32),
}

impl Target {
    /// Machine code where the compiler knows the architecture; otherwise PTX for the newest one that it knows and the
    /// device can run.
    fn of(sm: u32, known: &[u32]) -> Option<Self> {
        if known.contains(&sm) {
            return Some(Self::Code(sm));
        }
        known.iter().copied().filter(|&k| k <= sm).max().map(Self::Ptx)
    }
    fn options(self) -> Vec<String> {
        let mut options = vec![match self {
            Self::Code(sm) => format!("--gpu-architecture=sm_{sm}"),
            Self::Ptx(sm) => format!("--gpu-architecture=compute_{sm}"),
        }];
        options.extend(["--std=c++17".into(), "--device-as-default-execution-space".into()]);
        // Sums and products are rounded separately, as on the host.
        options.push("--fmad=false".into());
        if matches!(self, Self::Code(_)) {
            options.push("--ptxas-options=-v".into());
            // The kernels of a program are compiled in parallel, on all processors.
            options.push("--split-compile=0".into());
        }
        options
    }
}

/// Compiles `prefix` and `source` for the architecture `sm`, bypassing the cache. Needs no device.
/// # Errors
/// [`Error::Compile`] with the compiler's log and the program with line numbers; [`Error::NoCompiler`].
pub(crate) fn compile(source: Source, prefix: &str, sm: u32) -> Result<Compiled> {
    let nvrtc = Nvrtc::get()?;
    let target = target(nvrtc, sm)?;
    let mut options = options(target);
    // A result from NVRTC's own cache has no log.
    if nvrtc.version() >= (13, 0) {
        options.push("--no-cache".into());
    }
    compile_with(nvrtc, source, &text(source, prefix), target, &options)
}

fn target(nvrtc: &Nvrtc, sm: u32) -> Result<Target> {
    Target::of(sm, nvrtc.archs()).ok_or_else(|| Error::NoCompiler {
        why: format!("NVRTC {:?} compiles for {:?}, not for sm_{sm}", nvrtc.version(), nvrtc.archs()),
    })
}

/// The whole text of a program.
fn text(source: Source, prefix: &str) -> String {
    format!("#include \"prelude.cuh\"\n#include \"kernel.cuh\"\n{prefix}{}", source.text)
}

/// The variable with further compiler options, separated by blanks: `-lineinfo`, for checkers and profilers.
const OPTIONS: &str = "SPARRING_NVRTC_OPTIONS";

/// The options of the target, then those of the environment.
fn options(target: Target) -> Vec<String> {
    let more = std::env::var(OPTIONS).unwrap_or_default();
    target.options().into_iter().chain(more.split_whitespace().map(String::from)).collect()
}

fn compile_for(nvrtc: &Nvrtc, source: Source, text: &str, target: Target) -> Result<Compiled> {
    compile_with(nvrtc, source, text, target, &options(target))
}

fn compile_with(nvrtc: &Nvrtc, source: Source, text: &str, target: Target, options: &[String]) -> Result<Compiled> {
    let input = Input {
        name: source.name,
        text,
        headers: &HEADERS.map(|h| (h.name, h.text)),
        options,
        ptx: matches!(target, Target::Ptx(_)),
    };
    match nvrtc.compile(&input) {
        Ok(Output { image, log }) => Ok(Compiled { image, log }),
        Err(Failure::Program(log)) => {
            Err(Error::Compile { program: source.name.into(), log, source_text: numbered(text) })
        }
        Err(Failure::Library(why)) => Err(Error::NoCompiler { why }),
    }
}

/// The text with its lines numbered, as the compiler counts them.
fn numbered(text: &str) -> String {
    text.lines().enumerate().map(|(i, line)| format!("{:4} {line}\n", i + 1)).collect()
}

/// The key of a program for the architecture `sm`. It does not depend on the compiler: a cached program runs without
/// one.
fn key(text: &str, sm: u32) -> Key {
    let options = options(Target::Code(sm));
    let headers = HEADERS.iter().flat_map(|h| [h.name, h.text]);
    Key::of([text].into_iter().chain(headers).chain(options.iter().map(String::as_str)))
}

/// A program loaded from the cache, or else compiled, loaded and cached.
fn load_or_compile<M>(
    cache: &Cache,
    key: &Key,
    load: impl Fn(&[u8]) -> std::result::Result<M, Unloadable>,
    compile: impl FnOnce() -> Result<Vec<u8>>,
) -> Result<M> {
    if let Some(image) = cache.get(key) {
        match load(&image) {
            Ok(loaded) => return Ok(loaded),
            // Intact, but not accepted by this driver: compiled and replaced below.
            Err(Unloadable::Image(_)) => {}
            Err(Unloadable::Other(e)) => return Err(e),
        }
    }
    let image = compile()?;
    let loaded = load(&image).map_err(|(Unloadable::Image(e) | Unloadable::Other(e))| e)?;
    cache.put(key, &image);
    Ok(loaded)
}

/// A program, once loaded. The thread that compiles it holds the lock, and others wait.
type ProgramSlot = Arc<Mutex<Option<Arc<Program>>>>;

/// Programs of one file, by their prefix.
type FilePrograms = HashMap<OwnedPrefix, ProgramSlot>;

/// Programs compiled and loaded so far, by the name of their file.
#[derive(Default)]
pub(crate) struct Programs {
    loaded: Mutex<HashMap<&'static str, FilePrograms>>,
    cache: Cache,
}

impl Programs {
    pub(super) fn with(cache: Cache) -> Self {
        Self { cache, ..Self::default() }
    }
    pub(super) fn cache(&self) -> &Cache {
        &self.cache
    }
    fn slot(&self, source: Source, prefix: Prefix<'_>) -> ProgramSlot {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let of_file = loaded.entry(source.name).or_default();
        if let Some(slot) = of_file.get(&prefix) {
            return Arc::clone(slot);
        }
        Arc::clone(of_file.entry(OwnedPrefix::from(&prefix)).or_default())
    }
    /// Loads or compiles the missing programs in parallel. A failure is retried, and reported, at the program's first
    /// use.
    pub(crate) fn precompile(&self, device: &Arc<Device>, wanted: &[(Source, Prefix<'_>)]) {
        let is_missing = |&(source, prefix): &(Source, Prefix<'_>)| {
            self.slot(source, prefix).lock().unwrap_or_else(PoisonError::into_inner).is_none()
        };
        let missing: Vec<_> = wanted.iter().copied().filter(is_missing).collect();
        if missing.len() < 2 {
            return;
        }
        let load = |&mut (): &mut (), i: usize| {
            let (source, prefix) = missing[i];
            let _ = self.get(device, source, prefix);
            Ok(())
        };
        let _ = Threads::current().for_each(missing.len(), || Ok(()), load);
    }
    /// The program, loaded from the cache or compiled if it is missing.
    pub(crate) fn get(&self, device: &Arc<Device>, source: Source, prefix: Prefix<'_>) -> Result<Arc<Program>> {
        let slot = self.slot(source, prefix);
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = &*slot {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(program(&self.cache, device, source, prefix)?);
        *slot = Some(Arc::clone(&program));
        Ok(program)
    }
}

/// A program that is not cached, for a trial.
pub(super) fn trial(device: &Arc<Device>, source: Source, prefix: Prefix<'_>) -> Result<Program> {
    program(&Cache::at(None), device, source, prefix)
}

/// The program, loaded from the cache or compiled. The compiler is searched for only when it is needed.
fn program(cache: &Cache, device: &Arc<Device>, source: Source, prefix: Prefix<'_>) -> Result<Program> {
    let (major, minor) = device.limits().capability;
    let (text, sm) = (text(source, &prefix.text()), major * 10 + minor);
    let module = load_or_compile(
        cache,
        &key(&text, sm),
        |image| device.load(image, source.name, &|| Nvrtc::get().ok().map(Nvrtc::version)),
        || {
            let nvrtc = Nvrtc::get()?;
            compile_for(nvrtc, source, &text, target(nvrtc, sm)?).map(|c| c.image)
        },
    )?;
    Ok(Program::new(module))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_newer_than_the_compiler_gets_ptx() {
        let known = [75, 80, 90, 100];
        assert_eq!(Target::of(90, &known), Some(Target::Code(90)));
        assert_eq!(Target::of(86, &known), Some(Target::Ptx(80)));
        assert_eq!(Target::of(130, &known), Some(Target::Ptx(100)));
        assert_eq!(Target::of(70, &known), None, "older than all that it knows");
        assert_eq!(Target::Ptx(100).options()[0], "--gpu-architecture=compute_100");
    }

    #[test]
    fn an_image_refused_by_the_driver_is_recompiled_and_replaced() {
        let top = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(Some(top.path().join("cache")));
        let key = Key::of(["a program"]);
        let refused = || Error::Device { what: "loading".into(), message: "no".into() };
        let load = |image: &[u8]| match image {
            b"good" => Ok(image.to_vec()),
            b"old" => Err(Unloadable::Image(refused())),
            _ => Err(Unloadable::Other(refused())),
        };
        let get = |made: &'static [u8]| load_or_compile(&cache, &key, load, || Ok(made.to_vec()));
        let never = || load_or_compile(&cache, &key, load, || panic!("compiled"));

        assert_eq!(get(b"good").expect("loaded"), b"good");
        assert_eq!(never().expect("from the cache"), b"good");
        cache.put(&key, b"old");
        assert_eq!(get(b"good").expect("compiled anew"), b"good");
        assert_eq!(never().expect("replaced"), b"good");
        cache.put(&key, b"old");
        assert!(get(b"old").is_err(), "refused twice: the driver's word");
        cache.put(&key, b"device lost");
        assert!(never().is_err(), "another error is no reason to compile");
        let fails = load_or_compile(&Cache::at(None), &key, load, || Err::<Vec<u8>, _>(refused()));
        assert!(fails.is_err());
    }

    #[test]
    fn the_key_covers_all_inputs_of_an_image() {
        let keys = [("a", 80), ("b", 80), ("a", 90)];
        for (i, x) in keys.iter().enumerate() {
            for (j, y) in keys.iter().enumerate() {
                assert_eq!(key(x.0, x.1) == key(y.0, y.1), i == j);
            }
        }
    }
}

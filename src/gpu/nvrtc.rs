//! NVRTC, NVIDIA's run-time compiler of CUDA C++: opened at run time, behind safe functions.
//!
//! It is opened here rather than by cudarc, which would use the loader's library even if the caller names another one,
//! and panics if none exists.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Library;

use super::nvrtc_lookup::{Candidate, Search, VARIABLE};
use crate::{Error, Result};

/// The oldest version with the C++17 features and the architectures that are needed.
const OLDEST: (u32, u32) = (12, 0);
/// NVRTC's code for "the library of built-in functions could not be used".
const BUILTINS_FAILED: c_int = 7;

type Program = *mut c_void;

/// The functions in use, each under its name in the library.
macro_rules! functions {
    ($($name:ident $symbol:literal ($($argument:ty),*) -> $result:ty;)*) => {
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }
        impl Functions {
            fn of(library: &Library) -> std::result::Result<Self, libloading::Error> {
                // SAFETY: each name and type is that of NVRTC's header; `Nvrtc` keeps the library open.
                Ok(Self { $($name: *unsafe { library.get($symbol) }?,)* })
            }
        }
    };
}
functions! {
    error_text b"nvrtcGetErrorString" (c_int) -> *const c_char;
    version b"nvrtcVersion" (*mut c_int, *mut c_int) -> c_int;
    count_archs b"nvrtcGetNumSupportedArchs" (*mut c_int) -> c_int;
    list_archs b"nvrtcGetSupportedArchs" (*mut c_int) -> c_int;
    create b"nvrtcCreateProgram" (*mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> c_int;
    destroy b"nvrtcDestroyProgram" (*mut Program) -> c_int;
    compile b"nvrtcCompileProgram" (Program, c_int, *const *const c_char) -> c_int;
    log_size b"nvrtcGetProgramLogSize" (Program, *mut usize) -> c_int;
    log b"nvrtcGetProgramLog" (Program, *mut c_char) -> c_int;
    cubin_size b"nvrtcGetCUBINSize" (Program, *mut usize) -> c_int;
    cubin b"nvrtcGetCUBIN" (Program, *mut c_char) -> c_int;
    ptx_size b"nvrtcGetPTXSize" (Program, *mut usize) -> c_int;
    ptx b"nvrtcGetPTX" (Program, *mut c_char) -> c_int;
}

/// The opened library.
pub(super) struct Nvrtc {
    functions: Functions,
    version: (u32, u32),
    archs: Vec<u32>,
    name: String,
    /// The library and its dependencies: never closed, since the functions are used until the process ends.
    _open: Vec<Library>,
}

/// A program to compile.
pub(super) struct Input<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    /// Names and texts of headers.
    pub(super) headers: &'a [(&'a str, &'a str)],
    pub(super) options: &'a [String],
    /// Emit PTX, for the driver to compile further, instead of machine code.
    pub(super) ptx: bool,
}

/// A compiled program.
pub(super) struct Output {
    pub(super) image: Vec<u8>,
    pub(super) log: String,
}

/// Why compilation failed.
pub(super) enum Failure {
    /// The program is wrong: the compiler's log.
    Program(String),
    /// The library is broken or incomplete.
    Library(String),
}

/// The loader's message, which the error holds as its source.
fn loader(e: libloading::Error) -> String {
    std::error::Error::source(&e).map_or_else(|| e.to_string(), ToString::to_string)
}

impl Nvrtc {
    /// The library, opened by the first successful call.
    /// # Errors
    /// [`Error::NoCompiler`], which lists where it was searched for.
    pub(super) fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Nvrtc> = OnceLock::new();
        static LOOKING: Mutex<()> = Mutex::new(());
        if let Some(nvrtc) = FOUND.get() {
            return Ok(nvrtc);
        }
        let _one = LOOKING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nvrtc) = FOUND.get() {
            return Ok(nvrtc);
        }
        let nvrtc = Self::search(Search::new(|name| std::env::var_os(name)))?;
        Ok(FOUND.get_or_init(|| nvrtc))
    }

    /// The first candidate that opens and is usable.
    pub(super) fn search(search: Search) -> Result<Self> {
        let mut tried = vec![];
        for candidate in &search.candidates {
            match Self::open(candidate) {
                Ok(nvrtc) => return Ok(nvrtc),
                Err(why) => tried.push(format!("{}: {why}", candidate.library.display())),
            }
        }
        tried.extend(search.without.iter().map(|folder| format!("{}: contains no libnvrtc", folder.display())));
        Err(Error::NoCompiler {
            why: format!(
                "NVRTC was not found. It comes with CUDA and with `pip install nvidia-cuda-nvrtc`; {VARIABLE} can be set \
                 to its file or folder. Tried:\n  {}",
                tried.join("\n  ")
            ),
        })
    }

    fn open(candidate: &Candidate) -> std::result::Result<Self, String> {
        let mut open = vec![];
        for builtins in &candidate.builtins {
            // SAFETY: it holds data and no code that runs on opening.
            open.extend(unsafe { Library::new(builtins) }.ok());
        }
        // SAFETY: opening NVRTC runs only its own initialization, which requires nothing of the caller.
        let library = unsafe { Library::new(&candidate.library) }.map_err(loader)?;
        let functions = Functions::of(&library).map_err(loader)?;
        open.push(library);

        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: both pointers are to locals.
        unsafe { (functions.version)(&raw mut major, &raw mut minor) };
        let version = (u32::try_from(major).unwrap_or(0), u32::try_from(minor).unwrap_or(0));
        if version < OLDEST {
            return Err(format!("version {major}.{minor}, but at least {}.{} is required", OLDEST.0, OLDEST.1));
        }
        // SAFETY: the pointer is to a local.
        unsafe { (functions.count_archs)(&raw mut count) };
        let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the array has room for one number per architecture.
        let status = unsafe { (functions.list_archs)(archs.as_mut_ptr()) };
        if status != 0 || archs.is_empty() {
            return Err("its list of architectures cannot be read".into());
        }
        let mut archs: Vec<u32> = archs.into_iter().filter_map(|a| u32::try_from(a).ok()).collect();
        archs.sort_unstable();
        Ok(Self { functions, version, archs, name: candidate.library.display().to_string(), _open: open })
    }

    /// Major and minor version.
    pub(super) fn version(&self) -> (u32, u32) {
        self.version
    }
    /// The file name that the loader was given.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
    /// Supported architectures, such as 90 for `sm_90`, increasing.
    pub(super) fn archs(&self) -> &[u32] {
        &self.archs
    }

    fn error_text(&self, status: c_int) -> String {
        // SAFETY: for any number the library returns a text that is never freed, or null.
        unsafe {
            let text = (self.functions.error_text)(status);
            if text.is_null() {
                format!("NVRTC's error {status}")
            } else {
                CStr::from_ptr(text).to_string_lossy().into()
            }
        }
    }

    /// Compiles a program.
    pub(super) fn compile(&self, input: &Input<'_>) -> std::result::Result<Output, Failure> {
        let c = |s: &str| CString::new(s).map_err(|e| Failure::Program(e.to_string()));
        let pointers = |list: &[CString]| list.iter().map(|s| s.as_ptr()).collect::<Vec<_>>();
        let (text, name) = (c(input.text)?, c(input.name)?);
        let names = input.headers.iter().map(|h| c(h.0)).collect::<std::result::Result<Vec<_>, _>>()?;
        let texts = input.headers.iter().map(|h| c(h.1)).collect::<std::result::Result<Vec<_>, _>>()?;
        let options = input.options.iter().map(|o| c(o)).collect::<std::result::Result<Vec<_>, _>>()?;
        let length = |n: usize| c_int::try_from(n).unwrap_or(c_int::MAX);

        let mut handle: Program = std::ptr::null_mut();
        let (header_texts, header_names, option_texts) = (pointers(&texts), pointers(&names), pointers(&options));
        // SAFETY: the strings end with a zero byte and outlive the program, which `OwnedProgram` destroys at the end of
        // this function; both lists have the given length.
        let status = unsafe {
            (self.functions.create)(
                &raw mut handle,
                text.as_ptr(),
                name.as_ptr(),
                length(names.len()),
                header_texts.as_ptr(),
                header_names.as_ptr(),
            )
        };
        if status != 0 {
            return Err(Failure::Program(self.error_text(status)));
        }
        let program = OwnedProgram { nvrtc: self, handle };
        // SAFETY: the program is alive; the list has the given length.
        let status =
            unsafe { (self.functions.compile)(program.handle, length(option_texts.len()), option_texts.as_ptr()) };
        let log = program.bytes(self.functions.log_size, self.functions.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).trim_end_matches('\0').to_string();
        match status {
            0 => {}
            BUILTINS_FAILED => return Err(Failure::Library(format!("{}: {log}", self.name))),
            _ => return Err(Failure::Program(format!("{}: {log}", self.error_text(status)))),
        }
        let image = match input.ptx {
            true => program.bytes(self.functions.ptx_size, self.functions.ptx),
            false => program.bytes(self.functions.cubin_size, self.functions.cubin),
        };
        Ok(Output { image: image.map_err(Failure::Program)?, log })
    }
}

/// An NVRTC program, destroyed on drop.
struct OwnedProgram<'a> {
    nvrtc: &'a Nvrtc,
    handle: Program,
}

impl OwnedProgram<'_> {
    /// The bytes that `read` writes; their number comes from `size`.
    fn bytes(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        read: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> std::result::Result<Vec<u8>, String> {
        let mut len = 0;
        // SAFETY: the program is alive; the pointer is to a local.
        let mut status = unsafe { size(self.handle, &raw mut len) };
        let mut bytes = vec![0u8; len];
        if status == 0 && len > 0 {
            // SAFETY: the program is alive; the buffer has the size that the library reported.
            status = unsafe { read(self.handle, bytes.as_mut_ptr().cast()) };
        }
        if status == 0 { Ok(bytes) } else { Err(self.nvrtc.error_text(status)) }
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: it was created once and is destroyed once.
        let _ = unsafe { (self.nvrtc.functions.destroy)(&raw mut self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_missing_library_lists_all_paths() {
        let search = Search {
            candidates: vec![Candidate { library: "/nowhere/libnvrtc.so.13".into(), builtins: vec![] }],
            without: vec!["/also/nowhere".into()],
        };
        let error = Nvrtc::search(search).err().expect("no library").to_string();
        for word in [VARIABLE, "/nowhere/libnvrtc.so.13", "/also/nowhere", "pip install nvidia-cuda-nvrtc"] {
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn another_library_is_rejected() {
        let candidate = Candidate { library: "libc.so.6".into(), builtins: vec![] };
        let why = Nvrtc::open(&candidate).err().expect("not NVRTC");
        assert!(why.contains("nvrtc"), "{why}");
    }
}

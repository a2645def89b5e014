//! Where NVRTC and cuBLAS are searched for, in this order.
//!
//! 1. `SPARRING_NVRTC`, a file or a folder: if it is set, nothing else is searched.
//! 2. The system's loader: its cache, `LD_LIBRARY_PATH`.
//! 3. CUDA toolkits: `CUDA_HOME`, `CUDA_PATH`, `/usr/local/cuda`.
//! 4. Python's packages `nvidia-cuda-nvrtc` and `nvidia-cuda-nvrtc-cu12`: in `VIRTUAL_ENV`, in `CONDA_PREFIX`, next to
//!    the `python3` of the `PATH`, in `~/.local`, in `/usr/local/lib` and `/usr/lib`. Python itself is not started.
//!
//! cuBLAS likewise: `SPARRING_CUBLAS`, `nvidia-cublas` and `nvidia-cublas-cu12`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variable that names the library or its folder.
pub(super) const VARIABLE: &str = "SPARRING_NVRTC";
/// Names of the library, best first.
const NAMES: [&str; 2] = ["libnvrtc.so.13", "libnvrtc.so.12"];
/// Where Python's packages have it, below `site-packages`.
const IN_PACKAGES: [&str; 2] = ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"];

/// A library to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Its path, or a bare name for the loader.
    pub(super) library: PathBuf,
    /// Files to open first: NVRTC opens them by name through the loader, which does not search NVRTC's own folder.
    pub(super) builtins: Vec<PathBuf>,
}

/// The candidates, and the searched folders that do not have the library.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) candidates: Vec<Candidate>,
    pub(super) without: Vec<PathBuf>,
}

impl Search {
    /// The search on this host; `variable` reads the environment.
    pub(super) fn new(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let variable = |name: &str| variable(name).filter(|x| !x.is_empty()).map(PathBuf::from);
        let mut search = Self::default();
        if let Some(named) = variable(VARIABLE) {
            if named.is_dir() {
                search.folder(named);
            } else {
                search.file(named);
            }
            return search;
        }
        for name in NAMES.iter().chain(&["libnvrtc.so"]) {
            search.candidates.push(Candidate { library: name.into(), builtins: vec![] });
        }
        for toolkit in
            ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(|v| variable(v)).chain([PathBuf::from("/usr/local/cuda")])
        {
            search.folder(toolkit.join("lib64"));
        }
        if let Some(conda) = variable("CONDA_PREFIX") {
            search.folder(conda.join("lib"));
        }
        for site in site_packages(&variable) {
            for folder in IN_PACKAGES {
                search.folder(site.join(folder));
            }
        }
        search
    }

    /// Candidates for cuBLAS, including bare names for the loader.
    pub(super) fn cublas(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
        const NAMES: [&str; 2] = ["libcublas.so.13", "libcublas.so.12"];
        let variable = |name: &str| variable(name).filter(|x| !x.is_empty()).map(PathBuf::from);
        let in_folder = |folder: PathBuf| NAMES.map(|name| folder.join(name)).into_iter().filter(|file| file.is_file());
        if let Some(named) = variable("SPARRING_CUBLAS") {
            return if named.is_dir() { in_folder(named).collect() } else { vec![named] };
        }
        let mut found: Vec<PathBuf> = NAMES.iter().chain(&["libcublas.so"]).map(PathBuf::from).collect();
        let toolkits = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(|v| variable(v));
        found.extend(toolkits.chain(["/usr/local/cuda".into()]).flat_map(|toolkit| in_folder(toolkit.join("lib64"))));
        found.extend(variable("CONDA_PREFIX").into_iter().flat_map(|conda| in_folder(conda.join("lib"))));
        let folders = ["nvidia/cu13/lib", "nvidia/cublas/lib"];
        let sites = site_packages(&variable);
        found.extend(sites.iter().flat_map(|site| folders.map(|f| site.join(f))).flat_map(in_folder));
        found
    }

    fn folder(&mut self, folder: PathBuf) {
        match NAMES.iter().map(|n| folder.join(n)).find(|f| f.is_file()) {
            Some(file) => self.file(file),
            None if self.without.contains(&folder) => {}
            None => self.without.push(folder),
        }
    }
    fn file(&mut self, library: PathBuf) {
        let builtins = library.parent().map(builtins).unwrap_or_default();
        let candidate = Candidate { library, builtins };
        if !self.candidates.contains(&candidate) {
            self.candidates.push(candidate);
        }
    }
}

/// Files of the folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        std::fs::read_dir(folder).map(|list| list.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    found.sort();
    found
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|n| n.to_str()).unwrap_or_default()
}

/// NVRTC's libraries of built-in functions in a folder.
fn builtins(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|f| name_of(f).starts_with("libnvrtc-builtins.so")).collect()
}

/// Folders of Python packages, best first, without duplicates.
fn site_packages(variable: &impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|v| variable(v)).collect();
    let path = variable("PATH").map(PathBuf::into_os_string).unwrap_or_default();
    if let Some(python) = std::env::split_paths(&path).map(|p| p.join("python3")).find(|p| p.is_file()) {
        // The `python3` of a virtual environment is a link to another Python, whose packages may be visible as well.
        let home = |python: &Path| python.parent().and_then(Path::parent).map(Path::to_path_buf);
        prefixes.extend(home(&python));
        prefixes.extend(python.canonicalize().ok().as_deref().and_then(home));
    }
    prefixes.extend(variable("HOME").map(|h| h.join(".local")));
    prefixes.extend(["/usr/local", "/usr"].map(PathBuf::from));

    let mut found: Vec<PathBuf> = vec![];
    for lib in prefixes.iter().flat_map(|p| [p.join("lib"), p.join("lib64")]) {
        for python in entries(&lib).into_iter().filter(|p| name_of(p).starts_with("python3")) {
            for site in ["site-packages", "dist-packages"].map(|s| python.join(s)) {
                if site.is_dir() && !found.contains(&site) {
                    found.push(site);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(file: &Path) {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::write(file, "").expect("a file");
    }
    fn search(variables: &[(&str, &Path)]) -> Search {
        Search::new(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, p)| p.as_os_str().to_owned()))
    }

    #[test]
    fn cublas_candidates_are_the_loaders_and_those_of_packages() {
        let home = std::env::temp_dir().join(format!("sparring-find-cublas-{}", std::process::id()));
        let file = home.join("lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12");
        touch(&file);
        let named =
            |name: &'static str, value: PathBuf| move |v: &str| (v == name).then(|| value.clone().into_os_string());
        let found = Search::cublas(named("VIRTUAL_ENV", home.clone()));
        assert_eq!(found[0], Path::new("libcublas.so.13"));
        assert!(found.contains(&file), "{found:?}");
        let folder = file.parent().expect("a folder").to_path_buf();
        assert_eq!(Search::cublas(named("SPARRING_CUBLAS", folder)), [file]);
        assert_eq!(Search::cublas(named("SPARRING_CUBLAS", "/nowhere/x.so".into())), [PathBuf::from("/nowhere/x.so")]);
        std::fs::remove_dir_all(home).expect("it is ours");
    }

    #[test]
    fn the_variable_names_a_file_or_folder_and_excludes_others() {
        let top = tempfile::tempdir().expect("a folder");
        let (library, builtins) = (top.path().join("libnvrtc.so.13"), top.path().join("libnvrtc-builtins.so.13.0"));
        touch(&library);
        touch(&builtins);
        let expected = [Candidate { library: library.clone(), builtins: vec![builtins] }];
        assert_eq!(search(&[(VARIABLE, top.path())]).candidates, expected);
        assert_eq!(search(&[(VARIABLE, &library)]).candidates, expected);
        let missing = top.path().join("elsewhere/none");
        let found = search(&[(VARIABLE, &missing)]);
        assert_eq!(found.candidates, [Candidate { library: missing, builtins: vec![] }], "reported when it is opened");
        let empty = tempfile::tempdir().expect("a folder");
        let found = search(&[(VARIABLE, empty.path())]);
        assert!(found.candidates.is_empty() && found.without == [empty.path()]);
    }

    #[test]
    fn the_loader_precedes_python_packages() {
        let top = tempfile::tempdir().expect("a folder");
        let inside = "lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13";
        let (active, on_path) = (top.path().join("active"), top.path().join("other"));
        touch(&active.join(inside));
        touch(&on_path.join(inside));
        touch(&on_path.join("bin/python3"));
        let found = search(&[("VIRTUAL_ENV", &active), ("PATH", &on_path.join("bin"))]).candidates;
        assert_eq!(found[0].library, Path::new("libnvrtc.so.13"));
        let ours: Vec<_> = found.iter().map(|c| &c.library).filter(|p| p.starts_with(top.path())).collect();
        assert_eq!(ours, [&active.join(inside), &on_path.join(inside)]);
    }

    #[test]
    fn older_packages_and_toolkits_are_found() {
        let top = tempfile::tempdir().expect("a folder");
        let wheel = top.path().join("conda/lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
        let toolkit = top.path().join("cuda/lib64/libnvrtc.so.12");
        touch(&wheel);
        touch(&toolkit);
        let found = search(&[("CONDA_PREFIX", &top.path().join("conda")), ("CUDA_HOME", &top.path().join("cuda"))]);
        for file in [&wheel, &toolkit] {
            assert!(found.candidates.iter().any(|c| c.library == *file), "{file:?} in {found:?}");
        }
        assert!(found.without.contains(&top.path().join("conda/lib")));
    }
}

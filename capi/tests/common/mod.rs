//! The library as cargo builds it for C, and programs built against it.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Folder of this package.
pub(crate) fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A built library and its folder.
pub(crate) struct Libraries {
    pub(crate) shared: PathBuf,
    pub(crate) archive: PathBuf,
}

impl Libraries {
    /// Builds them beside this test, because a test cannot depend on a library that is not a Rust library.
    pub(crate) fn build() -> Self {
        let exe = std::env::current_exe().expect("path of this test");
        // target/[triple/]profile/deps/this-test
        let profile_dir = exe.parent().and_then(Path::parent).expect("folder of the profile");
        let profile = match profile_dir.file_name().and_then(|p| p.to_str()).expect("name of the profile") {
            "debug" => "dev",
            other => other,
        };
        let above = profile_dir.parent().expect("target folder");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--lib", "--offline", "--message-format=json", "--profile", profile, "--manifest-path"]);
        cargo.arg(here().join("Cargo.toml"));
        // The options of the workspace build, so that the library is not rebuilt with the features of this package
        // alone.
        cargo.args(std::env::var("SPARRING_TEST_BUILD").unwrap_or_default().split_whitespace());
        if above.join("CACHEDIR.TAG").exists() {
            cargo.arg("--target-dir").arg(above);
        } else {
            cargo.arg("--target").arg(above.file_name().expect("triple"));
            cargo.arg("--target-dir").arg(above.parent().expect("target folder"));
        }
        let output = succeed(&mut cargo);
        let mut found = Vec::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let message: serde_json::Value = serde_json::from_str(line).expect("cargo's messages");
            let is_library = message["target"]["kind"][0] == "cdylib" && message["target"]["name"] == "sparring";
            if message["reason"] == "compiler-artifact" && is_library {
                let files = message["filenames"].as_array().expect("files");
                found.extend(files.iter().filter_map(|f| f.as_str()).map(PathBuf::from));
            }
        }
        let with = |extensions: &[&str]| {
            let of = |f: &&PathBuf| f.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.contains(&e));
            found.iter().find(of).cloned().unwrap_or_else(|| panic!("no {extensions:?} among {found:?}"))
        };
        Self { shared: with(&["so", "dylib"]), archive: with(&["a"]) }
    }

    /// A folder where the shared library has the names that the linker and the loader search, as installed by
    /// `scripts/install`.
    fn named(&self) -> PathBuf {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lib");
        std::fs::create_dir_all(&dir).expect("a folder");
        for name in ["libsparring.so", "libsparring.so.0", "libsparring.dylib", "libsparring.0.dylib"] {
            // Tests run in parallel: each replaces the link atomically.
            let own = dir.join(format!("{name}.{}.{:?}", std::process::id(), std::thread::current().id()));
            let _ = std::fs::remove_file(&own);
            std::os::unix::fs::symlink(&self.shared, &own).expect("a link");
            std::fs::rename(&own, dir.join(name)).expect("a link in its place");
        }
        dir
    }

    /// Arguments that link the library.
    pub(crate) fn linked(&self, statically: bool) -> Vec<String> {
        if statically {
            let system = ["-lpthread", "-ldl", "-lm"].map(String::from);
            return [self.archive.display().to_string()].into_iter().chain(system).collect();
        }
        let dir = self.named().display().to_string();
        vec![format!("-L{dir}"), "-lsparring".into(), format!("-Wl,-rpath,{dir}")]
    }
}

/// Runs the command, and panics with its output if it fails.
#[track_caller]
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    output
}

/// A compiler with all warnings enabled as errors.
pub(crate) fn compiler(variable: &str, default: &str, standard: &str, include: &Path) -> Command {
    let mut cc = Command::new(std::env::var_os(variable).unwrap_or_else(|| default.into()));
    cc.args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]).arg(include);
    cc
}

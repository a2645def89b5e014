//! The C programs of `examples/c` and `tests/c`, built with the system's compiler against the library that cargo
//! builds in this profile, linked both ways, and run.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Folder of this package.
fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A built library, and the folder that it lies in.
struct Libraries {
    shared: PathBuf,
    archive: PathBuf,
}

impl Libraries {
    /// Builds them where this test was built: a test cannot depend on a library that is no Rust library.
    fn build() -> Self {
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
            if message["reason"] == "compiler-artifact" && message["target"]["kind"][0] == "cdylib" {
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

    /// Arguments that link the library in.
    fn linked(&self, statically: bool) -> Vec<String> {
        if statically {
            let system = ["-lpthread", "-ldl", "-lm"].map(String::from);
            return [self.archive.display().to_string()].into_iter().chain(system).collect();
        }
        let dir = self.shared.parent().expect("folder of the library").display();
        vec![format!("-L{dir}"), "-lsparring".into(), format!("-Wl,-rpath,{dir}")]
    }
}

/// Runs it, and tells what it said if it fails.
#[track_caller]
fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    output
}

/// A compiler with all warnings as errors.
fn compiler(variable: &str, default: &str, standard: &str) -> Command {
    let mut cc = Command::new(std::env::var_os(variable).unwrap_or_else(|| default.into()));
    cc.args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]).arg(here().join("../include"));
    cc
}

/// Builds a program against both kinds of library: the paths of the two.
fn programs(source: &str, test: &str) -> [PathBuf; 2] {
    let libraries = Libraries::build();
    [("shared", false), ("static", true)].map(|(kind, statically)| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{kind}"));
        let mut cc = compiler("CC", "cc", "-std=c11");
        succeed(cc.arg(here().join(source)).arg("-o").arg(&program).args(libraries.linked(statically)));
        program
    })
}

#[test]
fn triangles_of_the_karate_club() {
    for program in programs("../examples/c/triangles.c", "triangles") {
        let output = succeed(&mut Command::new(&program));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.starts_with("34 x 34, 78 entries\n45 triangles ("), "{text}");
    }
}

#[test]
fn a_missing_file_is_said_and_counts_as_failure() {
    for program in programs("../examples/c/triangles.c", "missing") {
        let output = Command::new(&program).arg("no/such/file.mtx").output().expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(text.starts_with("triangles: ") && text.contains("no/such/file.mtx"), "{text}");
    }
}

#[test]
fn triangles_of_a_file() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("k4.mtx");
    let text = "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 6\n2 1\n3 1\n4 1\n3 2\n4 2\n4 3\n";
    std::fs::write(&file, text).expect("a file");
    for program in programs("../examples/c/triangles.c", "file") {
        let output = succeed(Command::new(&program).arg(&file));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.starts_with("4 x 4, 12 entries\n4 triangles ("), "{text}");
    }
}

#[test]
fn ways_and_shortest_ways() {
    for program in programs("../examples/c/mxm.c", "mxm") {
        let text = String::from_utf8(succeed(&mut Command::new(&program)).stdout).expect("UTF-8");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "ways: (0,3)=2 (1,0)=1 (2,0)=1 (3,1)=1 (3,2)=1");
        assert!(lines[1].starts_with("plan: 6 multiplications, 5 entries ("), "{text}");
        assert_eq!(lines[2], "km: (0,3)=5 (1,0)=7 (2,0)=9 (3,1)=12 (3,2)=6");
        assert_eq!(lines[3], "minutes: (0,3)=4 (1,0)=3 (2,0)=4 (3,1)=5 (3,2)=8");
        assert_eq!(lines.len(), 4);
    }
}

#[test]
fn nearest_texts() {
    for program in programs("../examples/c/neighbours.c", "neighbours") {
        let text = String::from_utf8(succeed(&mut Command::new(&program)).stdout).expect("UTF-8");
        let expected = "0: 1 at 0.36, 2 at 1\n1: 0 at 0.36, 3 at 0.64\n2: 3 at 0.36, 0 at 1\n3: 2 at 0.36, 1 at 0.64\n\
                        closer than 0.5: (0,1) (1,0) (2,3) (3,2)\n";
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(text.lines().count(), 6, "{text}");
    }
}

#[test]
fn distances_as_c_sees_them() {
    for program in programs("tests/c/distances.c", "distances") {
        assert_eq!(succeed(&mut Command::new(&program)).stdout, b"ok\n");
    }
}

#[test]
fn errors_as_c_sees_them() {
    for program in programs("tests/c/errors.c", "errors") {
        assert_eq!(succeed(&mut Command::new(&program)).stdout, b"ok\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn threads_as_c_sees_them() {
    for program in programs("tests/c/fork.c", "fork") {
        assert_eq!(succeed(&mut Command::new(&program)).stdout, b"ok\n");
    }
}

#[test]
fn a_gpu_as_c_sees_it() {
    for program in programs("tests/c/device.c", "device") {
        let said = String::from_utf8(succeed(&mut Command::new(&program)).stdout).expect("UTF-8");
        assert!(said == "ok\n" || said.starts_with("skipped: no GPU (no GPU 0: "), "{said}");
        print!("{said}");
    }
}

/// A program that holds the address of every function of the header.
fn every_function() -> String {
    let header = std::fs::read_to_string(here().join("../include/sparring.h")).expect("the header");
    let mut names: Vec<_> = header
        .lines()
        .filter(|line| !line.trim_start().starts_with("//") && !line.starts_with(" *"))
        .flat_map(|line| line.match_indices("sparring_").map(move |(at, _)| &line[at..]))
        .filter_map(|rest| rest.split_once('(').map(|(name, _)| name))
        .collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 25, "{names:?}");
    let table: String = names.iter().map(|name| format!("    (function){name},\n")).collect();
    format!(
        "#include \"sparring.h\"\n#include <stdio.h>\ntypedef void (*function)(void);\nstatic function all[] = {{\n{table}}};\n\
         int main(void) {{ for (size_t i = 0; i < sizeof all / sizeof *all; i++) if (!all[i]) return 1;\n\
         puts(sparring_version()); return 0; }}\n"
    )
}

#[test]
fn every_function_of_the_header_links_in_c11() {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("every.c");
    std::fs::write(&source, every_function()).expect("a file");
    for program in programs(source.to_str().expect("UTF-8"), "every") {
        assert_eq!(succeed(&mut Command::new(&program)).stdout, format!("{}\n", env!("CARGO_PKG_VERSION")).as_bytes());
    }
}

#[test]
fn every_function_of_the_header_links_in_cpp17() {
    let mut probe = compiler("CXX", "c++", "-std=c++17");
    if probe.arg("--version").output().is_err() {
        eprintln!("skipped: there is no C++ compiler");
        return;
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (dir.join("every.cpp"), dir.join("every-cpp"));
    std::fs::write(&source, every_function()).expect("a file");
    let mut cxx = compiler("CXX", "c++", "-std=c++17");
    succeed(cxx.arg(&source).arg("-o").arg(&program).args(Libraries::build().linked(false)));
    succeed(&mut Command::new(&program));
}

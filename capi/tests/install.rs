//! `scripts/install` into a folder, and C programs that find the installed library through pkg-config and CMake.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Libraries, compiler, here, succeed};

/// An empty folder, removed after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn install() -> Command {
    let mut install = Command::new(here().join("../scripts/install"));
    install.env_remove("DESTDIR");
    install
}

/// Whether the program exists; prints a note if not.
fn there_is(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        eprintln!("skipped: there is no {program}");
    }
    found
}

const PROGRAM: &str = r#"#include <sparring.h>
#include <stdio.h>
#if SPARRING_VERSION != SPARRING_VERSION_MAJOR * 1000000 + SPARRING_VERSION_MINOR * 1000 + SPARRING_VERSION_PATCH
#error "the version is not its parts"
#endif
int main(void)
{
    SparringDevice *cpu = NULL;
    if (sparring_version_number() != SPARRING_VERSION || sparring_device_new("cpu", 1, 0, &cpu) != SPARRING_OK) return 1;
    if (sparring_device_free(cpu) != SPARRING_OK || sparring_handles_alive() != 0) return 1;
    puts(sparring_version());
    return 0;
}
"#;

/// The expected output of the program.
fn said() -> String {
    format!("{}\n", env!("CARGO_PKG_VERSION"))
}

#[test]
fn programs_find_what_is_installed() {
    let (libraries, folder) = (Libraries::build(), Folder::new("installed"));
    let prefix = folder.0.join("prefix");
    // An unusual depth, so that nothing assumes the prefix.
    let libdir = prefix.join("lib/here");
    let from = libraries.shared.parent().expect("folder of the library");
    assert_eq!(Some(from), libraries.archive.parent());
    succeed(install().arg("--prefix").arg(&prefix).args(["--libdir", "lib/here", "--from"]).arg(from));
    if there_is("strip") {
        let size = |path: &Path| fs::metadata(path).expect("a library").len();
        let installed = libdir.join(libraries.shared.file_name().expect("a name"));
        assert!(size(&installed) < size(&libraries.shared), "the shared library is not stripped");
        assert!(size(&libdir.join("libsparring.a")) < size(&libraries.archive), "the archive is not stripped");
    }
    let owning = fs::read(here().join("../include/sparring.hpp")).expect("the C++ header");
    assert_eq!(fs::read(prefix.join("include/sparring.hpp")).expect("it is installed"), owning);
    let source = folder.0.join("program.c");
    fs::write(&source, PROGRAM).expect("a file");
    by_pkg_config(&folder.0, &source, &libdir);
    // The tree is relocatable; CMake finds it at its new place.
    let moved = folder.0.join("moved");
    fs::rename(&prefix, &moved).expect("the prefix moves");
    by_cmake(&folder.0, &moved);
}

fn by_pkg_config(folder: &Path, source: &Path, libdir: &Path) {
    if !there_is("pkg-config") {
        return;
    }
    let asked = |arguments: &[&str]| {
        let mut pkg_config = Command::new("pkg-config");
        let output =
            succeed(pkg_config.env("PKG_CONFIG_PATH", libdir.join("pkgconfig")).args(arguments).arg("sparring"));
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    };
    assert_eq!(asked(&["--modversion"]), env!("CARGO_PKG_VERSION"));
    let include = asked(&["--cflags-only-I"]);
    let include = Path::new(include.strip_prefix("-I").expect("one folder"));
    let link = |program: &Path, flags: &str| {
        let mut cc = compiler("CC", "cc", "-std=c11", include);
        succeed(cc.arg(source).arg("-o").arg(program).args(flags.split_whitespace()));
    };
    let (shared, alone) = (folder.join("shared"), folder.join("alone"));
    let rpath = format!("-Wl,-rpath,{}", libdir.display());
    link(&shared, &format!("{} {rpath}", asked(&["--libs"])));
    // Without the linker's names, programs still load the library by its soname, and -lsparring finds the static
    // library.
    for name in ["libsparring.so", "libsparring.dylib"] {
        let _ = fs::remove_file(libdir.join(name));
    }
    assert_eq!(succeed(&mut Command::new(&shared)).stdout, said().as_bytes());
    link(&alone, &asked(&["--static", "--libs"]));
    let hidden = libdir.with_file_name("hidden");
    fs::rename(libdir, &hidden).expect("the libraries move");
    assert!(!Command::new(&shared).output().expect("it starts").status.success(), "it needs no shared library");
    assert_eq!(succeed(&mut Command::new(&alone)).stdout, said().as_bytes());
    fs::rename(&hidden, libdir).expect("and back");
}

fn by_cmake(folder: &Path, prefix: &Path) {
    if !there_is("cmake") {
        return;
    }
    let lists = format!(
        "cmake_minimum_required(VERSION 3.10)\nproject(program C)\n\
         find_package(sparring {}.{} REQUIRED)\nfind_package(sparring 99 QUIET)\n\
         if(sparring_FOUND)\n  message(FATAL_ERROR \"99 is found\")\nendif()\n\
         add_executable(shared program.c)\ntarget_link_libraries(shared sparring::sparring)\n\
         add_executable(alone program.c)\ntarget_link_libraries(alone sparring::static)\n",
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR")
    );
    fs::write(folder.join("CMakeLists.txt"), lists).expect("a file");
    let build = folder.join("build");
    let mut cmake = Command::new("cmake");
    // The library folder is unusual, so it is given explicitly.
    let config = prefix.join("lib/here/cmake/sparring");
    succeed(cmake.arg("-S").arg(folder).arg("-B").arg(&build).arg(format!("-Dsparring_DIR={}", config.display())));
    succeed(Command::new("cmake").arg("--build").arg(&build));
    for program in ["shared", "alone"] {
        assert_eq!(succeed(&mut Command::new(build.join(program))).stdout, said().as_bytes(), "{program}");
    }
}

#[test]
fn packages_are_staged_below_destdir() {
    let folder = Folder::new("staged");
    let (built, stage) = (folder.0.join("built"), folder.0.join("stage"));
    fs::create_dir(&built).expect("a folder");
    let shared = if cfg!(target_os = "macos") { "libsparring.dylib" } else { "libsparring.so" };
    for name in [shared, "libsparring.a"] {
        fs::write(built.join(name), name).expect("a file");
    }
    let libdir = "/usr/lib/some-linux";
    let mut staged = install();
    staged.env("DESTDIR", &stage).args(["--prefix", "/usr", "--libdir", libdir, "--from"]).arg(&built);
    succeed(&mut staged);
    // Again, over an existing installation.
    succeed(&mut staged);
    let below = |path: &str| stage.join(path.trim_start_matches('/'));
    assert!(below("/usr/include/sparring.h").is_file());
    assert_eq!(fs::read(below(libdir).join("libsparring.a")).expect("the archive"), b"libsparring.a");
    if cfg!(target_os = "linux") {
        let link = |name: &str| fs::read_link(below(libdir).join(name)).expect("a link");
        assert_eq!(link("libsparring.so"), Path::new("libsparring.so.0"));
        assert_eq!(link("libsparring.so.0"), Path::new(concat!("libsparring.so.", env!("CARGO_PKG_VERSION"))));
    }
    for entry in fs::read_dir(below(libdir)).expect("the libraries") {
        let path = entry.expect("a file").path();
        assert!(path.exists(), "{} points nowhere", path.display());
    }
    let pc = fs::read_to_string(below(libdir).join("pkgconfig/sparring.pc")).expect("the file of pkg-config");
    assert!(pc.starts_with("prefix=/usr\nlibdir=/usr/lib/some-linux\nincludedir=/usr/include\n"), "{pc}");
    let cmake = below(libdir).join("cmake/sparring/sparring-config.cmake");
    let cmake = fs::read_to_string(cmake).expect("the file of CMake");
    assert!(cmake.contains("\"../../include\""), "{cmake}");
    for text in [pc, cmake] {
        assert!(!text.contains('@') && !text.contains(stage.to_str().expect("UTF-8")), "{text}");
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = Folder::new("refused");
    let refused = |arguments: &[&str], code| {
        let output = install().args(arguments).output().expect("it starts");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    assert!(refused(&["--prefx", "/tmp"], 2).starts_with("scripts/install: what is '--prefx'?"));
    assert_eq!(refused(&["--prefix"], 2), "scripts/install: --prefix wants a folder\n");
    let empty = folder.0.to_str().expect("UTF-8");
    assert!(refused(&["--prefix", empty, "--from", empty], 1).starts_with("scripts/install: there is no "));
    assert_eq!(fs::read_dir(&folder.0).expect("the folder").count(), 0, "nothing is installed");
}

//! The C programs of `examples/c` and `tests/c`, built with the system's compiler against the library that cargo
//! builds in this profile, linked both ways, and run.
#![cfg(unix)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Libraries, compiler, here, succeed};

/// Builds a program against both kinds of library: the paths of the two.
fn programs(source: &str, test: &str) -> [PathBuf; 2] {
    let libraries = Libraries::build();
    [("shared", false), ("static", true)].map(|(kind, statically)| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{kind}"));
        let mut cc = compiler("CC", "cc", "-std=c11", &here().join("../include"));
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
fn tensors_as_c_sees_them() {
    for program in programs("tests/c/tensors.c", "tensors") {
        let file = program.with_extension("tns.gz");
        assert_eq!(succeed(Command::new(&program).arg(&file)).stdout, b"ok\n");
    }
}

#[test]
fn contractions_as_c_sees_them() {
    for program in programs("tests/c/einsum.c", "einsum") {
        assert_eq!(succeed(&mut Command::new(&program)).stdout, b"ok\n");
    }
}

#[test]
fn matrices_as_c_sees_them() {
    for program in programs("tests/c/matrices.c", "matrices") {
        let file = program.with_extension("mtx.gz");
        assert_eq!(succeed(Command::new(&program).arg(&file)).stdout, b"ok\n");
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
    assert!(names.len() >= 40, "{names:?}");
    let table: String = names.iter().map(|name| format!("    (function){name},\n")).collect();
    format!(
        "#include \"sparring.h\"\n#include <stdio.h>\ntypedef void (*function)(void);\nstatic function all[] = {{\n{table}}};\n\
         int main(void) {{ for (size_t i = 0; i < sizeof all / sizeof *all; i++) if (!all[i]) return 1;\n\
         puts(sparring_version()); return 0; }}\n"
    )
}

/// The functions of the header that give a status, with their arguments: type and name.
fn prototypes() -> Vec<(String, Vec<(String, String)>)> {
    let header = std::fs::read_to_string(here().join("../include/sparring.h")).expect("the header");
    let code: Vec<_> = header.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join(" ");
    let functions = code.split("SparringStatus sparring_").skip(1).filter_map(|rest| rest.split_once(')'));
    let argument = |text: &str| {
        let text = text.trim();
        let (ty, name) = text.split_at(text.rfind([' ', '*']).expect("a type and a name") + 1);
        (ty.to_owned(), name.to_owned())
    };
    functions
        .filter_map(|(function, _)| function.split_once('('))
        .map(|(name, arguments)| (name.to_owned(), arguments.split(',').map(argument).collect()))
        .collect()
}

/// An argument that is as it should be, or room for what a function writes.
fn good((ty, name): &(String, String), at: usize) -> String {
    match (ty.matches('*').count(), name.as_str()) {
        (1, "device") => "cpu".into(),
        (1, "plan") => "plan".into(),
        (1, "ring") => "ring".into(),
        (1, "index") => "rows".into(),
        (1, "arrays") => "arrays".into(),
        (1, "tensor") => "t".into(),
        (1, "mttkrp") => "products".into(),
        (1, "einsum") => "einsum".into(),
        (1, "expression") => "\"->\"".into(),
        (1, "dims") => "dims".into(),
        (2, "indices") => "(void *)lists".into(),
        (2, "factors") => "(void *)factors".into(),
        (1, "matrix" | "a" | "b" | "c" | "x") => "m".into(),
        (1, "name") => "\"cpu\"".into(),
        (1, "semiring") => "\"plus_times\"".into(),
        (1, "metric") => "\"manhattan\"".into(),
        (1, "path") => "\"no/such/file\"".into(),
        (1, "options" | "y") => "NULL".into(),
        (1 | 2, _) => format!("(void *)room[{at}]"),
        (_, "type" | "a_type" | "b_type") => "SPARRING_F64".into(),
        (_, "method" | "memory_budget" | "mode" | "variant") => "0".into(),
        (_, "row_ptr_len") => "2".into(),
        _ => "1".into(),
    }
}

/// Whether a function takes NULL for this argument.
fn may_be_null(function: &str, argument: &str) -> bool {
    matches!(argument, "options" | "length" | "alpha" | "beta")
        || argument == "y" && function != "index_new"
        || function.ends_with("_free")
        || matches!(function, "matrix_copy" | "matrix_borrow") && argument != "matrix"
        || matches!(function, "knn" | "index_knn") && matches!(argument, "ids" | "distances")
        || function == "tensor_copy" && argument != "tensor"
}

#[test]
fn every_function_names_the_argument_that_is_null() {
    let prototypes = prototypes();
    assert!(prototypes.len() >= 32, "{prototypes:?}");
    let (mut calls, mut expected) = (String::new(), String::new());
    // A function among the arguments has commas and brackets of its own; `src/tests/foreign.rs` passes NULL to that
    // one.
    for (function, arguments) in prototypes.iter().filter(|(function, _)| function != "matrix_from_foreign") {
        for (at, (ty, name)) in arguments.iter().enumerate() {
            if !ty.contains('*') || may_be_null(function, name) {
                continue;
            }
            let value = |(i, a)| if i == at { "NULL".into() } else { good(a, i) };
            let values: Vec<String> = arguments.iter().enumerate().map(value).collect();
            calls += &format!("    SAY({function}, {});\n", values.join(", "));
            expected += &format!("{function}: SPARRING_NULL_POINTER, {name} is NULL\n");
        }
    }
    let text = format!(
        "#include \"sparring.h\"\n#include <stdio.h>\n#include <string.h>\n\
         static uint64_t room[16][16];\n\
         #define SAY(f, ...) memset(room, 0, sizeof room); \\\n    \
         printf(#f \": %s, %s\\n\", sparring_status_name(sparring_##f(__VA_ARGS__)), sparring_last_error())\n\
         int main(void) {{\n    SparringDevice *cpu;\n    SparringMatrix *m;\n    SparringPlan *plan;\n    SparringSemiring *ring;\n    \
         SparringArrays *arrays;\n    const uint32_t i[1] = {{0}};\n    const double x[1] = {{1}};\n    \
         SparringTensor *t;\n    SparringMttkrp *products;\n    static uint64_t dims[1] = {{1}}, list[1];\n    uint64_t *lists[1] = {{list}};\n    \
         static double ones[1] = {{1}};\n    double *factors[1] = {{ones}};\n    \
         SparringEinsumPlan *einsum;\n    SparringIndex *rows;\n    const SparringLayout none = {{0}};\n    \
         if (sparring_device_new(\"cpu\", 1, 0, &cpu) || sparring_matrix_from_coo(SPARRING_F64, 1, 1, i, i, x, 1, &m)\n        \
         || sparring_plan_new(cpu, m, m, NULL, &plan)\n        \
         || sparring_semiring_new(\"min_plus\", SPARRING_F64, SPARRING_F64, &ring)\n        \
         || sparring_index_new(cpu, \"manhattan\", m, NULL, &rows)\n        \
         || sparring_arrays_new(SPARRING_F64, 1, 1, 1, (void *)room[0], (void *)room[1], (void *)room[2], &arrays)\n        \
         || sparring_tensor_from_coo(1, dims, (const uint64_t *const *)lists, x, 1, &t)\n        \
         || sparring_mttkrp_new(cpu, t, 1, SPARRING_MTTKRP_AUTO, &products)\n        \
         || sparring_einsum_plan_new(cpu, \"->\", \"plus_times\", SPARRING_F64, &none, 1, &none, &einsum)) return 1;\n\
         {calls}    return 0;\n}}\n"
    );
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nulls.c");
    std::fs::write(&source, text).expect("a file");
    let [program, _] = programs(source.to_str().expect("UTF-8"), "nulls");
    let said = String::from_utf8(succeed(&mut Command::new(&program)).stdout).expect("UTF-8");
    for (said, expected) in said.lines().zip(expected.lines()) {
        assert_eq!(said, expected);
    }
    assert_eq!(said.lines().count(), expected.lines().count());
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
    let mut probe = compiler("CXX", "c++", "-std=c++17", &here().join("../include"));
    if probe.arg("--version").output().is_err() {
        eprintln!("skipped: there is no C++ compiler");
        return;
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (dir.join("every.cpp"), dir.join("every-cpp"));
    std::fs::write(&source, every_function()).expect("a file");
    let mut cxx = compiler("CXX", "c++", "-std=c++17", &here().join("../include"));
    succeed(cxx.arg(&source).arg("-o").arg(&program).args(Libraries::build().linked(false)));
    succeed(&mut Command::new(&program));
}

//! The C programs of `examples/c` and `tests/c`: built with the system's compiler, linked against both the shared and
//! the static library that cargo builds in this profile, and run.
#![cfg(unix)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Libraries, compiler, here, succeed};

/// Builds a program against both libraries and returns both paths.
fn programs(source: &str, test: &str) -> [PathBuf; 2] {
    built(source, test, || compiler("CC", "cc", "-std=c11", &here().join("../include")))
}

/// The same for C++; none without a C++ compiler.
fn cpp_programs(source: &str, test: &str) -> Vec<PathBuf> {
    let compiler = || compiler("CXX", "c++", "-std=c++17", &here().join("../include"));
    if compiler().arg("--version").output().is_err() {
        eprintln!("skipped: there is no C++ compiler");
        return Vec::new();
    }
    built(source, test, compiler).into()
}

fn built(source: &str, test: &str, compiler: impl Fn() -> Command) -> [PathBuf; 2] {
    let libraries = Libraries::build();
    [("shared", false), ("static", true)].map(|(kind, statically)| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{kind}"));
        let mut cc = compiler();
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
fn levels_and_ranks_of_a_web() {
    for program in programs("../examples/c/graph.c", "graph") {
        let text = String::from_utf8(succeed(&mut Command::new(&program)).stdout).expect("UTF-8");
        assert_eq!(text, "393 of 500 pages within 9 links of page 498\npage 0 ranks first\n");
    }
}

#[test]
fn shortest_paths_in_cpp() {
    for program in cpp_programs("../examples/cpp/graph.cpp", "graph-cpp") {
        let text = String::from_utf8(succeed(&mut Command::new(&program)).stdout).expect("UTF-8");
        let expected = "km: 0=0 1=7 2=1 3=5.5\nroads: 0=0 1=1 2=1 3=2\nlongest road: 7\nfrom 0 to 3: no road\n\
                        SPARRING_SHAPE: mxv: shapes do not agree: a is 5×5, b is 4×1\n";
        assert_eq!(text, expected);
    }
}

#[test]
fn groups_and_paths_of_a_network_in_cpp() {
    for program in cpp_programs("../examples/cpp/network.cpp", "network-cpp") {
        let text = String::from_utf8(succeed(&mut Command::new(&program)).stdout).expect("UTF-8");
        let expected = "2 groups: 0 0 0 0 1 1 1 1, of modularity 0.395\nbetween the most others: 3, 12.5 pairs\n\
                        from 0 to 7 in 18 minutes: 0 2 3 4 5 7\n\
                        SPARRING_ARGUMENT: graph: a topological order is defined on directed graphs\n";
        assert_eq!(text, expected);
    }
}

#[test]
fn owning_classes_as_cpp_sees_them() {
    for program in cpp_programs("tests/cpp/owning.cpp", "owning") {
        assert_eq!(succeed(&mut Command::new(&program)).stdout, b"ok\n");
    }
}

/// Valgrind detects leaks and reads of freed memory; `.ci/run valgrind` runs this test with valgrind required.
#[test]
fn programs_have_no_memory_errors() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        assert!(std::env::var_os("SPARRING_REQUIRE_VALGRIND").is_none(), "there is no valgrind");
        eprintln!("skipped: there is no valgrind");
        return;
    }
    let [graph, _] = programs("../examples/c/graph.c", "graph-checked");
    let owning = cpp_programs("tests/cpp/owning.cpp", "owning-checked").into_iter().next();
    for program in [Some(graph), owning].into_iter().flatten() {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--error-exitcode=99", "--errors-for-leak-kinds=definite", "--leak-check=full"]);
        valgrind.arg(format!("--suppressions={}", here().join("../.ci/valgrind.supp").display()));
        succeed(valgrind.arg("--show-leak-kinds=definite").arg(program));
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
fn functions_as_operators_as_c_sees_them() {
    for program in programs("tests/c/functions.c", "functions") {
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

/// A program that takes the address of every function of the header.
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

/// The functions of the header that return a status, with the type and name of each argument.
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

/// A valid argument, or space for an output.
fn good(function: &str, (ty, name): &(String, String), at: usize) -> String {
    match (ty.matches('*').count(), name.as_str()) {
        (1, "a" | "b" | "c" | "vector" | "mask") if ty.contains("Vector") => "v".into(),
        (1, "scalar" | "alpha" | "beta") if ty.contains("Scalar") => "s".into(),
        (_, "aggregate") => "SPARRING_COUNT".into(),
        (1, "accum" | "op" | "dup") if ty.contains("BinaryOp") => "plus".into(),
        (1, "op") if function == "unary_op_with" => "above".into(),
        (1, "op") if function.ends_with("_select") => "holds".into(),
        (1, "op") => "twice".into(),
        (1, "monoid") => "sum".into(),
        (1, "text") => "\"plus\"".into(),
        (1, "device") => "cpu".into(),
        (1, "plan") => "plan".into(),
        (1, "graph") => "graph".into(),
        (1, "ring") => "ring".into(),
        (1, "index") => "rows".into(),
        (1, "arrays") => "arrays".into(),
        (1, "bytes") if ty.contains("Bytes") => "bytes".into(),
        (1, "tensor") => "t".into(),
        (1, "mttkrp") => "products".into(),
        (1, "einsum") => "einsum".into(),
        (1, "expression") => "\"->\"".into(),
        (1, "dims") => "dims".into(),
        (2, "indices") => "(void *)lists".into(),
        (2, "factors") => "(void *)factors".into(),
        (1, "matrix" | "a" | "b" | "c" | "x" | "mask") => "m".into(),
        (1, "name") => "\"cpu\"".into(),
        (1, "semiring") => "\"plus_times\"".into(),
        (1, "metric") => "\"manhattan\"".into(),
        (1, "labels") => "labels".into(),
        (1, "numbers") if ty.contains("double") => "ones".into(),
        (1, "add") => "sum".into(),
        (1, "mul") => "plus".into(),
        (1, "identity") => "zero".into(),
        (1, "path") => "\"no/such/file\"".into(),
        (1, "y") if function == "matrix_spmm" => format!("room[{at}]"),
        (1, "options" | "y") => "NULL".into(),
        (1 | 2, _) => format!("(void *)room[{at}]"),
        (_, "format") => "SPARRING_SVMLIGHT".into(),
        (_, "at") => "0".into(),
        (_, "type" | "a_type" | "b_type" | "x_type") => "SPARRING_F64".into(),
        (_, "method" | "memory_budget" | "mode" | "variant") => "0".into(),
        (_, "row_ptr_len") => "2".into(),
        _ => "1".into(),
    }
}

/// Whether a function accepts NULL for this argument.
fn may_be_null(function: &str, argument: &str) -> bool {
    matches!(argument, "options" | "length" | "mask" | "accum" | "descriptor" | "dup")
        || matches!(argument, "alpha" | "beta") && !function.ends_with("_ewise_union")
        || matches!(argument, "rows" | "cols" | "indices")
            && ["_extract", "_assign", "_scatter"].iter().any(|part| function.contains(part))
        || matches!(function, "scalar_new" | "scalar_set") && argument == "value"
        || function == "vector_entries" && argument != "vector"
        || argument == "y" && !matches!(function, "index_new" | "matrix_spmm")
        || function.ends_with("_free")
        || matches!(function, "matrix_copy" | "matrix_borrow" | "matrix_entries") && argument != "matrix"
        || matches!(function, "knn" | "index_knn") && matches!(argument, "ids" | "distances")
        || function == "tensor_copy" && argument != "tensor"
        || matches!(function, "matrix_read_file" | "matrix_write_file") && argument == "labels"
        || function.starts_with("graph_")
            && !matches!((function, argument), ("graph_multi_source_bfs", "levels") | ("graph_modularity", "modularity"))
            && matches!(
                argument,
                "levels" | "parents" | "iterations" | "change" | "local" | "average" | "transitivity" | "count"
                    | "taken" | "weight" | "modularity" | "hubs" | "authorities"
            )
        || matches!(function, "graph_truss" | "graph_truss_numbers") && matches!(argument, "sources" | "targets" | "numbers")
        || function == "matching" && matches!(argument, "rows" | "columns" | "count")
        || function == "labels_counts" && argument != "labels"
        // NULL where the text is not wanted.
        || function.starts_with("labels_") && argument == "buffer"
}

#[test]
fn every_function_names_the_argument_that_is_null() {
    let prototypes = prototypes();
    assert!(prototypes.len() >= 32, "{prototypes:?}");
    let (mut calls, mut expected) = (String::new(), String::new());
    // Function pointers among the arguments contain commas and brackets; `src/tests/foreign.rs` and `functions.rs` pass
    // NULL to these functions.
    let of_functions =
        |name: &str| name == "matrix_from_foreign" || name.ends_with("_function") || name.ends_with("_closure");
    for (function, arguments) in prototypes.iter().filter(|(function, _)| !of_functions(function)) {
        for (at, (ty, name)) in arguments.iter().enumerate() {
            if !ty.contains('*') || may_be_null(function, name) {
                continue;
            }
            let value = |(i, a)| if i == at { "NULL".into() } else { good(function, a, i) };
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
         SparringGraph *graph;\n    SparringVector *v;\n    SparringScalar *s, *zero;\n    SparringLabels *labels;\n    SparringBytes *bytes;\n    SparringBinaryOp *plus;\n    SparringUnaryOp *twice, *above, *holds;\n    \
         SparringMonoid *sum;\n    \
         if (sparring_device_new(\"cpu\", 1, 0, &cpu) || sparring_matrix_from_coo(SPARRING_F64, 1, 1, i, i, x, 1, &m)\n        \
         || sparring_plan_new(cpu, m, m, NULL, &plan) || sparring_graph_new(cpu, m, SPARRING_GRAPH_UNDIRECTED, 0, &graph)\n        \
         || sparring_vector_from_dense(SPARRING_F64, x, 1, &v) || sparring_scalar_new(SPARRING_F64, x, &s)\n        \
         || sparring_binary_op_new(\"plus\", SPARRING_F64, SPARRING_F64, &plus)\n        \
         || sparring_unary_op_new(\"a + a\", SPARRING_F64, 0, &twice)\n        \
         || sparring_unary_op_new(\"a > s\", SPARRING_F64, 0, &above)\n        \
         || sparring_unary_op_new(\"a > 1\", SPARRING_F64, 0, &holds)\n        \
         || sparring_monoid_new(\"plus\", SPARRING_F64, &sum) || sparring_scalar_new(SPARRING_F64, NULL, &zero) || sparring_monoid_identity(sum, zero)\n        \
         || sparring_labels_from_numbers(x, 1, &labels) || sparring_matrix_serialize(m, &bytes)\n        \
         || sparring_semiring_new(\"min_plus\", SPARRING_F64, SPARRING_F64, &ring)\n        \
         || sparring_index_new(cpu, \"manhattan\", m, NULL, &rows)\n        \
         || sparring_arrays_new(SPARRING_F64, 1, 1, 1, (void *)room[0], (void *)room[1], (void *)room[2], &arrays)\n        \
         || sparring_tensor_from_coo(SPARRING_F64, 1, dims, (const uint64_t *const *)lists, x, 1, &t)\n        \
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
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("every.cpp");
    std::fs::write(&source, every_function()).expect("a file");
    for program in cpp_programs(source.to_str().expect("UTF-8"), "every-cpp") {
        succeed(&mut Command::new(&program));
    }
}

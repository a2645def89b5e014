//! The layers of ARCHITECTURE.md: the imports allowed to each module, checked on the source text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[path = "layers/files.rs"]
mod files;

use files::{Graph, Package, cycle, path};

/// Modules from the bottom up; each may import from its own row and the rows below.
const LAYERS: [&[&str]; 11] = [
    &["error", "algebra", "replace", "index"],
    &["par"],
    &["pattern"],
    &["simd"],
    &["sparse"],
    &["kernels"],
    &["spgemm", "spmv", "tensor", "contract"],
    &["ops", "distance"],
    &["backend", "gpu"],
    &["factor", "graph", "runtime"],
    &["prelude", "guide"],
];
/// Modules beside the layers, and everything that they may import.
const BESIDE: [(&str, &[&str]); 1] =
    [("io", &["error", "algebra", "replace", "index", "pattern", "sparse", "par", "simd", "tensor"])];
/// Items re-exported at the root of the crate, and their modules.
const ROOT: [(&str, &str); 16] = [
    ("Error", "error"),
    ("Result", "error"),
    ("Coo", "sparse"),
    ("Csr", "sparse"),
    ("Index", "index"),
    ("Pattern", "pattern"),
    ("Dense", "sparse"),
    ("Vector", "sparse"),
    ("Tensor", "tensor"),
    ("SparseVec", "sparse"),
    ("Cpu", "backend"),
    ("Cuda", "backend"),
    ("Isa", "simd"),
    ("op", "algebra"),
    ("einsum", "contract"),
    ("num_complex", "algebra"),
];

/// Source files without separate test files; tests may import anything.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_stem().is_none_or(|name| name != "tests") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Source text without comments, and without everything after `#[cfg(test)]`, because tests may import anything.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The first path segments after every `crate::` in the text: `crate::par::x`, `crate::{Csr, par::y}`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate::` is a macro's path to its own crate, and counts too.
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let (mut depth, mut word) = (0, String::new());
            for c in list.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        found.insert(first_name(&word));
                        word.clear();
                        continue;
                    }
                    _ => {}
                }
                word.push(c);
            }
            found.insert(first_name(&word));
        } else {
            let name = first_name(rest);
            // A macro is exported at the root wherever it is defined; its own text shows its dependencies.
            if !rest[name.len()..].starts_with('!') {
                found.insert(name);
            }
        }
    }
    found.remove("");
    found
}

/// Empty for a macro: `#[macro_export]` exports it at the root, whatever module defines it.
fn first_name(path: &str) -> String {
    let name: String = path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if path.trim_start()[name.len()..].starts_with('!') { String::new() } else { name }
}

/// Whether a chain of `super`, as long as the depth of the file below the root, leaves its top module.
fn escapes(code: &str, depth: usize) -> bool {
    let chain = "super::".repeat(depth);
    !chain.is_empty() && code.contains(&chain)
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

fn may_import(from: &str, to: &str) -> bool {
    if from == to {
        return true;
    }
    if let Some((_, allowed)) = BESIDE.iter().find(|(m, _)| *m == from) {
        return allowed.contains(&to);
    }
    match (layer(from), layer(to)) {
        (Some(f), Some(t)) => t <= f,
        _ => false,
    }
}

/// Table cells are short: longer text belongs in a list or a paragraph.
#[test]
fn tables_of_the_map_are_short() {
    let text = include_str!("../ARCHITECTURE.md");
    let cells = text.lines().filter(|line| line.starts_with('|')).flat_map(|line| line.split('|'));
    let long: Vec<_> = cells.filter(|cell| cell.split_whitespace().count() > 25).collect();
    assert!(text.contains("| layer | room |") && long.is_empty(), "more than 25 words: {long:#?}");
}

#[test]
fn modules_import_only_from_below() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root: BTreeMap<_, _> = ROOT.into_iter().collect();
    let mut wrong = vec![];
    let mut seen = BTreeSet::new();
    for file in sources(&src) {
        let inside = file.strip_prefix(&src).expect("inside src").to_path_buf();
        let parts: Vec<String> =
            inside.components().map(|c| c.as_os_str().to_string_lossy().trim_end_matches(".rs").to_string()).collect();
        let module = parts[0].clone();
        if module == "lib" {
            continue;
        }
        if layer(&module).is_none() && !BESIDE.iter().any(|(m, _)| *m == module) {
            wrong.push(format!("{}: module {module} has no layer; give it one in tests/layers.rs", inside.display()));
            continue;
        }
        seen.insert(module.clone());
        // Separate test files may import anything, like inline tests.
        if parts.last().is_some_and(|p| p == "tests") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("source text");
        let code = code(&text);
        for name in imports(&code) {
            let target = root.get(name.as_str()).copied().unwrap_or(&name);
            if !may_import(&module, target) {
                wrong.push(format!("{}: {module} must not import {name} (of {target})", inside.display()));
            }
        }
        // A `super::` chain that leaves the top module reaches other modules without naming the crate.
        let depth = if parts.last().is_some_and(|p| p == "mod") { parts.len() - 1 } else { parts.len() };
        if escapes(&code, depth) {
            wrong.push(format!(
                "{}: `super` leads out of {module}; write `crate::`, so that the layer shows",
                inside.display()
            ));
        }
    }
    assert!(
        ["algebra", "sparse", "spgemm", "backend", "graph"].iter().all(|m| seen.contains(*m)),
        "read only {seen:?}"
    );
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Pairs of modules in one row that may import each other, and the reason.
const MUTUAL: &[(&str, &str, &str)] = &[];

/// Modules within a row depend on each other in one direction, except for the pairs of `MUTUAL`.
#[test]
fn modules_have_no_cyclic_dependencies() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root: BTreeMap<_, _> = ROOT.into_iter().collect();
    let mut graph = Graph::new();
    for file in sources(&src) {
        let inside = file.strip_prefix(&src).expect("inside src");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_string();
        if module == "lib" || inside.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("source text");
        let targets = graph.entry(module.clone()).or_default();
        for name in imports(&code(&text)) {
            let target = root.get(name.as_str()).map_or(name.clone(), |t| (*t).to_string());
            if target != module {
                targets.insert(target);
            }
        }
    }
    assert!(graph["sparse"].contains("par") && graph["backend"].contains("ops"), "read {graph:?}");
    for (a, b, _) in MUTUAL {
        assert!(graph[*a].contains(*b) && graph[*b].contains(*a), "{a} and {b} are apart; take the pair out of MUTUAL");
        graph.get_mut(*b).map(|to| to.remove(*a));
    }
    assert_eq!(cycle(&graph), None, "cyclic dependencies between modules");
}

/// `unsafe` is confined to a list of files.
#[test]
fn unsafe_lives_where_proofs_are_collected() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // In `algebra`: values of a type known at run time, and the traits that guarantee memory layouts.
    let homes = [
        "algebra/value.rs",
        "algebra/record.rs",
        "algebra/words",
        "par",
        "simd",
        "kernels",
        // A guarantee required of the caller; nothing is dereferenced there.
        "pattern/unchecked.rs",
        "gpu/launch.rs",
        "gpu/driver",
        "gpu/cublas.rs",
        "gpu/nvrtc.rs",
        "gpu/staging.rs",
    ];
    let wrong: Vec<_> = sources(&src)
        .into_iter()
        .filter(|f| !homes.iter().any(|h| f.strip_prefix(&src).expect("inside src").starts_with(h)))
        .filter(|f| {
            let text = std::fs::read_to_string(f).expect("source text");
            code(&text).split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe")
        })
        .collect();
    assert!(wrong.is_empty(), "unsafe outside its homes: {wrong:?}");
}

/// `unsafe` in the Python package is confined to NumPy's memory, and in the cluster package to the calls of MPI and
/// NCCL.
#[test]
fn unsafe_of_packages_around_has_few_homes() {
    for (folder, homes) in [("python/src", &["arrays.rs"][..]), ("cluster/src", &["mpi_link.rs", "nccl.rs"])] {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let has = |f: &std::path::PathBuf| {
            let text = std::fs::read_to_string(f).expect("source text");
            code(&text).split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe")
        };
        let found: BTreeSet<_> = sources(&src).into_iter().filter(has).collect();
        assert_eq!(found, homes.iter().map(|home| src.join(home)).collect());
    }
}

/// Only `simd/isa.rs` detects processor features, so `SPARRING_ISA` controls every choice of loops, and tests follow
/// it.
#[test]
fn one_file_asks_the_processor() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let asks: BTreeSet<_> = ["src", "tests", "cli", "capi", "cluster", "generate", "oracle", "examples", "benches"]
        .iter()
        .flat_map(|folder| sources(&top.join(folder)))
        .filter(|file| {
            std::fs::read_to_string(file).expect("source text").contains(concat!("is_x86_feature", "_detected!("))
        })
        .collect();
    assert_eq!(asks, BTreeSet::from([top.join("src/simd/isa.rs")]));
}

/// A new operation touches few files in all interfaces: the files that name one added in this way.
#[test]
fn an_operation_touches_six_files_and_a_gpu_four() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = "kronecker";
    let says = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        text.to_lowercase().contains(name)
    };
    let here = |path: PathBuf| path.strip_prefix(root).expect("in the package").display().to_string();
    // Tests and benches are not interfaces.
    let is_beside = |path: &PathBuf| {
        path.components().any(|part| ["tests", "bench"].map(Some).contains(&part.as_os_str().to_str()))
    };
    let folders = ["src", "capi/src", "cli/src"].map(|folder| sources(&root.join(folder)));
    let files = folders.concat().into_iter().filter(|path| !is_beside(path) && says(path)).map(here);
    let (gpu, every): (Vec<_>, Vec<_>) = files.partition(|path| path.starts_with("src/gpu/"));
    let expected = [
        "src/backend/mod.rs",
        "src/ops/kronecker.rs",
        "src/ops/mod.rs",
        "src/runtime/operations.rs",
        "capi/src/operations.rs",
        "cli/src/steps/products.rs",
    ];
    assert_eq!(every, expected);
    assert_eq!(gpu, ["src/gpu/kronecker.rs", "src/gpu/mod.rs", "src/gpu/testing.rs"]);
    assert!(root.join("cuda/kronecker.cu").is_file(), "the fourth file of a GPU");
}

/// A new value type is defined in few files: the files that name a type without special cases.
#[test]
fn a_value_type_touches_few_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let says = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let names = ["I16", "i16", "SPARRING_I16"];
        code(&text).split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| names.contains(&word))
    };
    let folders = ["src", "capi/src", "cli/src"].map(|folder| sources(&root.join(folder)));
    let is_test = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "tests");
    let files = folders.concat().into_iter().filter(|path| !is_test(path) && says(path));
    let files: Vec<_> =
        files.map(|path| path.strip_prefix(root).expect("in the package").display().to_string()).collect();
    let rust = ["src/algebra/dynamic.rs", "src/algebra/types.rs", "src/algebra/value.rs"];
    assert_eq!(
        files,
        [
            &rust[..],
            &["src/io/matlab/elements.rs", "src/io/numpy/array.rs", "src/io/numpy/element.rs", "capi/src/types.rs"]
        ]
        .concat()
    );
}

/// The surrounding programs use only the public API: no path into the library's sources, no private feature.
#[test]
fn the_programs_around_use_the_public_api() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for package in ["cli", "capi", "generate", "oracle"] {
        let folder = top.join(package);
        if !folder.join("Cargo.toml").exists() {
            eprintln!("skipped: no {package}/ yet");
            continue;
        }
        for file in sources(&folder) {
            let text = std::fs::read_to_string(&file).expect("source text");
            let reaches = text.lines().any(|l| {
                let l = l.trim_start();
                !l.starts_with("//") && (l.contains("#[path") || l.contains("include!(\"../")) && l.contains("/src/")
            });
            assert!(!reaches, "{} includes the library's sources", file.display());
        }
    }
    let lib = std::fs::read_to_string(top.join("src/lib.rs")).expect("lib.rs");
    assert!(!lib.contains("doc(hidden)"), "a hidden module would be a private door");
}

/// Known dependencies that close a cycle between files: package, file, dependency, and the reason to keep it.
const KNOWN: &[(&str, &str, &str, &str)] = &[(
    "src",
    "backend/container.rs",
    "backend/kernels.rs",
    "a container names its backend, and `Kernels` requires that a backend's matrices are containers",
)];

/// Removes the known dependencies of a package from its graph, and returns those that are stale.
fn without_known(package: &str, graph: &mut Graph, known: &[(&str, &str, &str, &str)]) -> Vec<String> {
    let mut wrong = vec![];
    for (_, from, to, _) in known.iter().filter(|(p, ..)| *p == package) {
        if !graph.get(*from).is_some_and(|files| files.contains(*to)) || path(graph, to, from).is_none() {
            wrong.push(format!("{package}: {from} → {to} is in no cycle; remove it from KNOWN"));
        }
    }
    for (_, from, to, _) in known.iter().filter(|(p, ..)| *p == package) {
        graph.get_mut(*from).map(|files| files.remove(*to));
    }
    wrong
}

/// Files of a package have no cyclic dependencies.
#[test]
fn files_have_no_cyclic_dependencies() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = vec![];
    for package in ["src", "cli/src", "capi/src", "generate/src", "oracle/src"] {
        let folder = top.join(package);
        if !folder.exists() {
            continue;
        }
        let mut graph = Package::read(&folder).graph();
        let dependencies: usize = graph.values().map(BTreeSet::len).sum();
        assert!(dependencies > 0, "{package}: read {dependencies} dependencies");
        wrong.extend(without_known(package, &mut graph, KNOWN));
        while let Some(round) = cycle(&graph) {
            wrong.push(format!("{package}: {}", round.join(" → ")));
            graph.get_mut(&round[0]).map(|files| files.remove(&round[1]));
        }
    }
    assert!(wrong.is_empty(), "cyclic dependencies between files:\n{}", wrong.join("\n"));
}

/// The dependency parser: its results on a sample, and detection of a planted cycle.
#[test]
fn the_reader_of_files_reads() {
    let lib =
        "mod a;\nmod b;\nmod error;\npub use a::{One, two as deux};\npub use error::Error;\npub use num::complex;\n";
    let package = [
        ("lib.rs", lib),
        ("error.rs", "pub enum Error { A }"),
        ("a/mod.rs", "mod x;\nmod y;\npub use x::*;\npub(crate) use y::{Z, two};\npub fn own() {}\n"),
        (
            "a/x.rs",
            "use crate::Error;\nop! { pub One<T: Num> (a) }\npub struct Other;\nfn f() -> Result<(), Error> { \"crate::b\" }",
        ),
        ("a/y.rs", "use super::{One, own};\npub(super) struct Z;\npub fn two() { crate::complex::x(); }"),
        (
            "b.rs",
            "// crate::Error\nuse crate::a::{self, *};\nfn g(o: Other) { a::two(); $crate::Error }\n\
            #[cfg(test)]\nmod tests { use crate::Error; }",
        ),
    ];
    let graph = Package::of(package).graph();
    let of = |file: &str| graph[file].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("lib.rs"), [""; 0]);
    assert_eq!(of("a/mod.rs"), [""; 0]);
    assert_eq!(of("a/x.rs"), ["error.rs"]);
    assert_eq!(of("a/y.rs"), ["a/mod.rs", "a/x.rs"]);
    assert_eq!(of("b.rs"), ["a/x.rs", "a/y.rs"]);
    assert_eq!(cycle(&graph), None);

    // The error type refers to an item that returns errors, through two re-exports and outside an import.
    let planted =
        package.map(|(file, text)| (file, if file == "error.rs" { "pub enum Error { A(super::deux) }" } else { text }));
    let mut graph = Package::of(planted).graph();
    let found = cycle(&graph).expect("the planted cycle");
    assert_eq!(found.join(" → "), "a/x.rs → error.rs → a/y.rs → a/x.rs");
    let known = [("p", "error.rs", "a/y.rs", "planted")];
    assert_eq!(without_known("p", &mut graph, &known), [""; 0]);
    assert_eq!(cycle(&graph), None);
    // Stale entries must not be listed.
    assert_eq!(without_known("p", &mut graph, &known), ["p: error.rs → a/y.rs is in no cycle; remove it from KNOWN"]);
}

/// The rule itself: it detects what it should.
#[test]
fn the_reader_of_imports_reads() {
    let text = "use crate::{Csr, sparse::{a, b}, par::x};\n/// crate::graph::y\npub fn f() { crate::algebra::g(); }";
    let found = imports(&code(text));
    assert_eq!(found, ["Csr", "algebra", "par", "sparse"].map(String::from).into());
    assert!(may_import("graph", "backend") && may_import("sparse", "par") && may_import("io", "sparse"));
    assert!(!may_import("sparse", "spgemm") && !may_import("io", "spgemm") && !may_import("algebra", "sparse"));
    assert!(!may_import("spgemm", "graph") && !may_import("spgemm", "io") && !may_import("nowhere", "error"));
    assert!(escapes("use super::super::sparse;", 2) && !escapes("use super::x;", 2));
    assert!(!code("let a = 1;\n#[cfg(test)]\nmod tests { use crate::graph::x; }").contains("graph"));
}

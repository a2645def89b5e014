//! The layers of ARCHITECTURE.md: what a module may import, read off its source.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules from the ground up; each imports from its own row and the rows below, its row being free among itself.
const LAYERS: [&[&str]; 8] = [
    &["error", "algebra"],
    &["sparse", "par", "simd"],
    &["kernels"],
    &["spgemm", "spmv", "tensor", "contract"],
    &["ops", "distance"],
    &["backend", "gpu"],
    &["graph"],
    &["prelude"],
];
/// Modules beside the ladder, and all that they may import.
const BESIDE: [(&str, &[&str]); 2] = [
    ("io", &["error", "algebra", "sparse", "par", "simd", "tensor"]),
    ("generate", &["error", "algebra", "sparse", "par"]),
];
/// What stands at the root of the crate, and the module it comes from.
const ROOT: [(&str, &str); 12] = [
    ("Error", "error"),
    ("Result", "error"),
    ("Coo", "sparse"),
    ("Csr", "sparse"),
    ("Index", "sparse"),
    ("Pattern", "sparse"),
    ("Dense", "sparse"),
    ("Vector", "sparse"),
    ("SparseVec", "sparse"),
    ("Cpu", "backend"),
    ("Cuda", "backend"),
    ("op", "algebra"),
];

/// Files of source text; tests in files of their own may use what they like, like those after `#[cfg(test)]`.
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

/// Source text without comments, and without what follows `#[cfg(test)]`: tests may use what they like.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The first names after every `crate::` in the text: `crate::par::x`, `crate::{Csr, par::y}`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate::` is a macro's way to its own crate, and counts all the same.
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
            // A macro stands at the root whatever its home is; where it leads is seen in its own text.
            if !rest[name.len()..].starts_with('!') {
                found.insert(name);
            }
        }
    }
    found.remove("");
    found
}

/// Nothing for a macro: `#[macro_export]` puts it at the root, whatever module wrote it.
fn first_name(path: &str) -> String {
    let name: String = path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if path.trim_start()[name.len()..].starts_with('!') { String::new() } else { name }
}

/// Number of modules between a file and the root: how many `super` lead out of its top module.
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
        let text = std::fs::read_to_string(&file).expect("source text");
        let code = code(&text);
        for name in imports(&code) {
            let target = root.get(name.as_str()).copied().unwrap_or(&name);
            if !may_import(&module, target) {
                wrong.push(format!("{}: {module} must not import {name} (of {target})", inside.display()));
            }
        }
        // `super::` that leaves the top module reaches its neighbours without naming the crate.
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

/// `unsafe` has homes; elsewhere there is none.
#[test]
fn unsafe_lives_where_proofs_are_collected() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // In `algebra`: what makes a value of a type known at run time, and what promises how values lie in memory.
    let homes = [
        "algebra/value.rs",
        "algebra/record.rs",
        "algebra/words.rs",
        "par",
        "simd",
        "kernels",
        "gpu/launch.rs",
        "gpu/driver.rs",
        "gpu/driver",
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

/// The programs around the library see what any user sees: no path into its sources, no private feature.
#[test]
fn the_programs_around_use_the_public_api() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for package in ["cli", "capi"] {
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

/// The rule itself: that it sees what it should.
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

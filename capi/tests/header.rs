//! `include/sparring.h` is up to date with the output of cbindgen.
//!
//! `SPARRING_UPDATE_HEADER=1 cargo test -p sparring-capi --test header` rewrites it.

use std::path::Path;

/// The sources with C items, in the order of the header.
const SOURCES: [&str; 33] = [
    "status",
    "guard",
    "handle",
    "device",
    "explain",
    "types",
    "matrix",
    "vector",
    "scalar",
    "arrays",
    "foreign",
    "matrix_market",
    "files",
    "serialize",
    "semirings",
    "operators",
    "functions",
    "mxm",
    "mxm_with",
    "operation",
    "operations",
    "assign",
    "parts",
    "dense",
    "triangles",
    "graph",
    "graph_structure",
    "distances",
    "index",
    "tensor",
    "mttkrp",
    "cp",
    "einsum",
];

/// The version of Cargo.toml as macros.
fn version() -> String {
    let (major, minor, patch) =
        (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH"));
    format!(
        "\n/* Version of this header; sparring_version_number() is that of the library that runs. */\n\
         #define SPARRING_VERSION_MAJOR {major}\n#define SPARRING_VERSION_MINOR {minor}\n\
         #define SPARRING_VERSION_PATCH {patch}\n/* A number to compare: #if SPARRING_VERSION >= 1002003, for 1.2.3. */\n\
         #define SPARRING_VERSION (SPARRING_VERSION_MAJOR * 1000000 + SPARRING_VERSION_MINOR * 1000 + SPARRING_VERSION_PATCH)"
    )
}

fn generated() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(here.join("cbindgen.toml")).expect("cbindgen.toml");
    config.after_includes = Some(version());
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = SOURCES.iter().fold(builder, |b, s| b.with_src(here.join("src").join(s).with_extension("rs")));
    let mut text = Vec::new();
    builder.generate().expect("the sources parse").write(&mut text);
    String::from_utf8(text).expect("UTF-8")
}

#[test]
fn the_header_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../include/sparring.h");
    let text = generated();
    if std::env::var_os("SPARRING_UPDATE_HEADER").is_some() {
        std::fs::write(&path, &text).expect("include/sparring.h can be written");
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(text == checked_in, "include/sparring.h is old: run this test with SPARRING_UPDATE_HEADER=1");
}

#[test]
fn every_exported_function_is_in_the_header() {
    let text = generated();
    let mut found = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("src") {
        let path = entry.expect("src").path();
        if path.is_dir() {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("a source");
        let exported = source.matches("#[unsafe(no_mangle)]").count();
        let names = source.split("extern \"C\" fn ").skip(1).filter_map(|s| s.split('(').next());
        let in_header =
            names.filter(|name| text.contains(&format!(" {name}(")) || text.contains(&format!("*{name}("))).count();
        assert_eq!(in_header, exported, "{}: not all functions are in the header", path.display());
        found += exported;
    }
    assert!(found >= 40, "only {found} functions");
}
